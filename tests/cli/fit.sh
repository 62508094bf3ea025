#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/fit.sh TVLM TVLM_SCENE [DEVICE]: `tvlm-lab fit` as a user meets it: each kind of truth, what it learns from it, and
# one clear line for whatever is wrong with it. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir "$work/in/masks" "$work/in/yolo" "$work/in/bad"

# prints PATTERN: the last command's stdout has it.
prints() {
    checks=$((checks + 1))
    grep -qE "$1" "$work/stdout" || complain "stdout lacks '$1': $(head -5 "$work/stdout")"
}

# Three photos of 64x48, 4 x 3 cells of 16: the object is the box of x 32..64, y 0..16.
in=$work/in
photos=()
for name in a b c; do
    "$scene" "$in/$name.png" 64 48 || exit 1
    photos+=("$in/$name.png")
    { printf 'P5\n64 48\n255\n'; for y in {0..47}; do
        head -c 32 /dev/zero
        if [ $y -lt 16 ]; then head -c 32 /dev/zero | tr '\0' '\377'; else head -c 32 /dev/zero; fi; done; } >"$in/masks/$name.png"
    echo "7 0.75 0.166666667 0.5 0.333333333" >"$in/yolo/${name}_yolo.txt"
done
rm "$in/yolo/c_yolo.txt"
echo "1 0.5 0.0 1.0 0.0 1.0 0.333333333 0.5 0.333333333" >"$in/yolo/c.txt"
coco() { # ANNOTATIONS
    echo '{"images": [{"id": 1, "file_name": "a.png", "width": 64, "height": 48}, {"id": 2, "file_name": "b.png"},
        {"id": 3, "file_name": "x/c.png"}], "categories": [{"id": 5, "name": "cat"}, {"id": 6, "name": "dog"}],
        "annotations": ['"$1"']}'
}
box='"bbox": [32, 0, 32, 16]' polygon='"segmentation": [[32, 0, 64, 0, 64, 16, 32, 16]]'
runs=1536; for x in {1..31}; do runs+=",16,32"; done; runs+=",16,32"
coco '{"image_id": 1, "category_id": 5, '"$box"'}, {"image_id": 2, "category_id": 5, '"$polygon"'},
    {"image_id": 3, "category_id": 5, "segmentation": {"size": [48, 64], "counts": ['"$runs"']}},
    {"image_id": 3, "category_id": 6, "bbox": [0, 32, 64, 16]}' >"$in/coco.json"

fit=("$lab" fit ${device:+"$device"} "${photos[@]}")
common=(--channels x,y,edges --held-out 0 -k 2 --l2 0.001)

echo "== a default score that covers nothing"
mkdir "$in/flat" && { printf 'P5\n64 48\n255\n'; head -c 3072 /dev/zero; } >"$in/flat.pgm"
echo "0 0.9 0.85 0.1 0.1" >"$in/flat/flat.txt"
succeeds "$lab" fit ${device:+"$device"} "$in/flat.pgm" --yolo "$in/flat" --channels x,y --held-out 0 -k 1
prints 'times the coverage of a random choice, the default score covers nothing$'

echo "== each kind of truth"
succeeds "${fit[@]}" "${common[@]}" --masks "$in/masks" -o masks.safetensors
prints '^3 images, 3 in the figures \(learnt\), 2 cells'
prints '^mean +16.67 %  0.091 .* 100.00 %  1.000$'
succeeds "${fit[@]}" "${common[@]}" --yolo "$in/yolo" -o yolo.safetensors
same "masks and YOLO" masks.safetensors yolo.safetensors
succeeds "${fit[@]}" "${common[@]}" --coco "$in/coco.json" --classes cat -o coco.safetensors
same "masks and COCO: a box, a polygon, run lengths" masks.safetensors coco.safetensors
succeeds "${fit[@]}" "${common[@]}" --coco "$in/coco.json" --classes 5 -o coco5.safetensors
same "a class by name and by number" coco.safetensors coco5.safetensors
succeeds "${fit[@]}" "${common[@]}" --coco "$in/coco.json" -o both.safetensors
checks=$((checks + 1))
! cmp -s both.safetensors coco.safetensors || complain "the other class makes no difference"
succeeds "$tvlm" select ${device:+"$device"} "${photos[0]}" -k 2 --strategy grid --scorer masks.safetensors
checks=$((checks + 1))
[ "$(grep -c '"cell": \[[23], *0\]' "$work/stdout")" -eq 2 ] || complain "select does not choose the object's cells"

# A panoptic map of 64x48: segment 1 + 256 * 2 = 513 is the object, 3 is stuff, 0 at the bottom is not labelled.
pixel() { printf "$1%.0s" $(seq "$2"); }
{ printf 'P6\n64 48\n255\n'; for y in {0..47}; do
    if [ $y -lt 16 ]; then pixel '\003\0\0' 32; pixel '\001\002\0' 32; elif [ $y -lt 32 ]; then pixel '\003\0\0' 64
    else pixel '\0\0\0' 64; fi; done; } >"$in/a_panoptic.png"
echo '{"categories": [{"id": 5, "name": "cat", "isthing": 1}, {"id": 9, "name": "grass", "isthing": 0}],
    "annotations": [{"file_name": "a.png", "segments_info": [{"id": 513, "category_id": 5}, {"id": 3, "category_id": 9}]}]}' \
    >"$in/panoptic.json"
one=("$lab" fit ${device:+"$device"} "$in/a.png" --channels x,y -k 2)
succeeds "${one[@]}" --coco "$in/panoptic.json" --json
prints '"object": 0.25,'
prints '"fitted": \{"coverage": 1, "iou": 1\}'
succeeds "${one[@]}" --coco "$in/panoptic.json" --classes grass --json --largest 1
prints '"object": 0.75,'
succeeds "${one[@]}" --coco "$in/panoptic.json" --classes grass --largest 0.4
prints 'none for figures'

echo "== splits"
succeeds "${fit[@]}" --channels x,y --masks "$in/masks" -k 2 --leave-one-out --taps 3x3 --json -o nine.safetensors
prints '"figures_of": "leave-one-out"'
prints '"taps": 9'
succeeds "${fit[@]}" --channels x,y --masks "$in/masks" --held-out 0.4 --seed 5
prints '^3 images, 1 in the figures \(held-out\)'
succeeds "${fit[@]}" --layout cluster15 --masks "$in/masks" --json
prints '"channels": "r,g,b,.*cluster_size"'

echo "== a hidden layer"
# The middle third is object: neither more nor less of x says so.
mkdir "$in/thirds"
for name in a b c; do
    { printf 'P5\n64 48\n255\n'; for y in {0..47}; do head -c 16 /dev/zero; head -c 32 /dev/zero | tr '\0' '\377'; head -c 16 /dev/zero; done; } \
        >"$in/thirds/$name.png"
done
succeeds "${fit[@]}" --channels x --masks "$in/thirds" --held-out 0 --largest 1 -k 6 --json
checks=$((checks + 1))
! grep -q '"coverage": 1, "iou": 1' "$work/stdout" || complain "weights alone find the middle third"
succeeds "${fit[@]}" --channels x --masks "$in/thirds" --held-out 0 --largest 1 -k 6 --json --hidden 4 -o hidden.safetensors
prints '"hidden": 4'
prints '"fitted": \{"coverage": 1, "iou": 1\}'
has hidden.safetensors 'texturevlm.network'
succeeds "$tvlm" select ${device:+"$device"} "${photos[0]}" -k 6 --strategy grid --scorer hidden.safetensors
checks=$((checks + 1))
[ "$(grep -c '"cell": \[[12], *[012]\]' "$work/stdout")" -eq 6 ] || complain "select does not choose the middle third"

echo "== questions"
# Features of 2 x 2 cells, and two directions; the object is at the top on the right, and the other class at the bottom.
on='\0\0\200\077' off='\0\0\0\0'
npy "$in/f.npy" '<f4' '(2, 2, 2)' "$off$on$on$off$off$on$off$on"
npy "$in/q.npy" '<f4' '(2, 2)' "$on$off$off$on"
asked=("${fit[@]}" --coco "$in/coco.json" -k 2 --largest 1)
for name in a b c; do asked+=(--features "$in/f.npy"); done
succeeds "${asked[@]}" --classes cat,dog --query-weights "$in/q.npy" --channels x,y,query_similarity --held-out 0 --json -o asked.safetensors
prints '"questions": 4'
prints '"class": "dog"'
prints '"fixed": \{"coverage"'
prints '"dimension": 2'
has asked.safetensors 'query_weights'
npy "$in/q0.npy" '<f4' '(2,)' "$on$off"
succeeds "$tvlm" select ${device:+"$device"} "${photos[0]}" -k 2 --strategy grid --scorer asked.safetensors --features "$in/f.npy" \
    --query "$in/q0.npy"
checks=$((checks + 1))
[ "$(grep -c '"cell": \[[23], *0\]' "$work/stdout")" -eq 2 ] || complain "the question does not find the object's cells"
succeeds "${asked[@]}" --classes cat,dog --query-weights "$in/q.npy" --leave-one-out
prints '^4 questions, 4 in the figures \(leave-one-out\)'
prints '^c: dog '
prints 'times that of fixed weights$'
refused 2 'needs --classes' "${asked[@]}" --query-weights "$in/q.npy"
refused 2 'needs --features' "${fit[@]}" --coco "$in/coco.json" --classes cat,dog --query-weights "$in/q.npy"
refused 2 'exclude each other' "${asked[@]}" --classes cat,dog --query-weights "$in/q.npy" --hidden 3
refused 1 'q.npy: 2 vectors, for 1 --classes' "${asked[@]}" --classes cat --query-weights "$in/q.npy"
refused 1 'none of the --classes' "${asked[@]}" --classes cow,ape --query-weights "$in/q.npy"
refused 2 'two --classes or more' "${asked[@]}" --classes cat --query-weights "$in/q0.npy" --leave-one-out
refused 2 '3 images, but --features was given 1 times' "${fit[@]}" --masks "$in/masks" --features "$in/f.npy"
refused 2 'feature-patch goes with --features' "${fit[@]}" --masks "$in/masks" --feature-patch 16

echo "== refusals"
bad() { refused "$1" "$2" "${fit[@]}" -o bad.safetensors "${@:3}"; }
bad 2 'one of --masks, --coco and --yolo'
bad 2 'one of --masks, --coco and --yolo' --masks "$in/masks" --yolo "$in/yolo"
bad 2 'panoptic goes with --coco' --masks "$in/masks" --set panoptic="$in"
bad 2 'masks have no classes' --masks "$in/masks" --classes 1
bad 2 'exclude each other' --masks "$in/masks" --channels x --layout full40
bad 2 'exclude each other' --masks "$in/masks" --leave-one-out --held-out 0.5
bad 2 'l2: 0 is not in' --masks "$in/masks" --l2 0
bad 2 'hidden: 257 is not in' --masks "$in/masks" --hidden 257
bad 2 'taps: .5x5. is none of' --masks "$in/masks" --taps 5x5
bad 1 'a.png: there is neither a.png nor a_mask.png in' --masks "$in/bad"
bad 1 'a.png: there is neither a.txt nor a_yolo.txt in' --yolo "$in/bad"
bad 1 'cluster_id is an identifier' --masks "$in/masks" --channels cluster_id,x
bad 2 "nosuch" --masks "$in/masks" --channels nosuch
bad 1 'none.json' --coco "$in/none.json"
echo '[1, 2' >"$in/bad.json"; bad 1 'bad.json: is no COCO json' --coco "$in/bad.json"
bad 1 'b.png.*panoptic.json says nothing about this image' --coco "$in/panoptic.json" --set panoptic="$in"
bad 1 'coco.json: is not panoptic' --coco "$in/coco.json" --set panoptic="$in"
bad 1 'hold no object' --coco "$in/coco.json" --classes bird
for wrong in '"segmentation": [[1, 2, 3]]' '"segmentation": {"size": [48, 64], "counts": [5]}' \
    '"segmentation": {"size": [1, 64], "counts": [64]}' '"segmentation": {"size": [48, 64], "counts": [3072, 1]}' \
    '"segmentation": {"size": [48, 64], "counts": "~~"}' '"bbox": [1, 2]' '"bbox": [1, 2, "a", 3]' '"area": 4' \
    '"bbox": [8, 8, -4, 4]' '"bbox": [8, 8, 4, -4]' '"bbox": [0, 0, 1e30, 4]' '"bbox": [129, 0, 4, 4]' '"bbox": [0, -49, 4, 4]' \
    '"segmentation": [[32, 0, 64, 0, 64, 97]]' '"segmentation": [[-65, 0, 64, 0, 64, 16]]'; do
    coco '{"image_id": 1, "category_id": 5, '"$wrong"'}' >"$in/wrong.json"
    bad 1 'a.png: .*wrong.json: annotation 0 has no outline or box' --coco "$in/wrong.json"
done
for edge in '[[-64, 0, 64, 0, 64, 16]]' '[[0, 0, 128, 0, 128, 16]]' '[[0, -48, 64, 0, 64, 96]]'; do # an image beside it, and no more
    coco '{"image_id": 1, "category_id": 5, "segmentation": '"$edge"'}, {"image_id": 2, "category_id": 5, '"$box"'},
        {"image_id": 3, "category_id": 5, '"$box"'}' >"$in/edge.json"
    succeeds "${fit[@]}" "${common[@]}" --coco "$in/edge.json" -o edge.safetensors
done
coco '' | sed 's/64, "height"/65, "height"/' >"$in/size.json"
bad 1 'the image has 65x48 there, but is 64x48' --coco "$in/size.json"
for wrong in '1 2 3' '1 2 3 4 x' '1 0 0 1 1 0' '1 0 0 nan 1' '1 32 24 16 16' '1 0.5 0.5 -0.1 0.1' '1 0.5 0.5 0.1 -0.1' \
    '1 0.5 0.5 1e30 0.1' '1 0 0 1 0 64 48'; do
    for name in a b c; do echo "$wrong" >"$in/bad/$name.txt"; done
    bad 1 'a.txt: object 1 is neither' --yolo "$in/bad"
done
rm "$in"/bad/*
printf 'P5\n2 2\n255\n\0\0\0\0' >"$in/bad/a.png"
bad 1 'bad/a.png: 2x2, the image is 64x48' --masks "$in/bad"
refused 1 'a.png: is the input' "${fit[@]}" --masks "$in/masks" -o "$in/a.png"
refused 2 'IMAGE... is missing' "$lab" fit
refused 2 'two images or more' "${one[@]}" --masks "$in/masks" --leave-one-out

finish
