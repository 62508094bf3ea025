#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# results.sh TVLM SCENE [write]: what comes out of the tool, number by number, on the reference: each case's lines, and of each
# file that it writes a digest, are what results.txt keeps. So no result changes unseen: who means to change one has this script
# write the file anew (`write`), and reads in the diff what else he changed. That a result is right is shown elsewhere.
#
# Numbers may differ by NEAR of the larger one: compilers round in other ways.
write=
[ "${3:-}" != write ] || write=1
set -- "$1" "$2" reference
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export LC_ALL=C
in=$work/in got=$work/got

# ---- What the cases read ----

# Colours that change slowly, fine noise, strokes as of text, a red disc and an even strip: by whole numbers alone.
picture() { # FILE SHIFT WIDTH HEIGHT
    awk -v s="$2" -v w="$3" -v h="$4" 'BEGIN {
        print "P3", w, h, 255
        for (y = 0; y < h; ++y) for (x = 0; x < w; ++x) {
            v = (x * x * 3 + y * y * 5 + x * y * 7) % 97
            r = 60 + x % 190 + v % 5; g = 90 + y % 150 + v % 11; b = 120 + v % 50
            if (x >= 8 + s && x < 40 + s && y >= 6 && y < 22) r = g = b = (x % 5 < 2 && y % 6 < 4) ? 20 : 250
            if ((x - 66 - s) * (x - 66 - s) + (y - 40) * (y - 40) < 150) { r = 230; g = 40 + v % 9; b = 30 }
            if (y >= h - 10) r = g = b = 200
            print r, g, b } }' >"$1"
}
# FLOATS COUNT SEED: numbers from -1 to 1 in eighths, as the bytes that npy() takes.
floats() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        split("\\x00\\x00\\x00\\x00 \\x00\\x00\\x00\\x3e \\x00\\x00\\x80\\x3e \\x00\\x00\\xc0\\x3e \\x00\\x00\\x00\\x3f \\x00\\x00\\x20\\x3f \\x00\\x00\\x40\\x3f \\x00\\x00\\x60\\x3f \\x00\\x00\\x80\\x3f", eighths, " ")
        for (i = 0; i < n; ++i) {
            seed = (seed * 75 + 74) % 65537
            text = eighths[seed % 9 + 1]
            if (seed % 2) sub(/3e$/, "be", text) || sub(/3f$/, "bf", text)
            printf "%s", text } }'
}
# Paper, strokes as of text, a line down and one across.
awk 'BEGIN { print "P2", 160, 120, 255
    for (y = 0; y < 120; ++y) for (x = 0; x < 160; ++x) {
        v = (x >= 12 && x < 100 && y >= 10 && y < 50 && (x + y * 3) % 5 < 2 && y % 9 < 5) ? 30 : 250
        print x == 130 || (y == 100 && x > 20) ? 90 : v } }' >"$in/page.ppm"
picture "$in/a.ppm" 0 96 64
picture "$in/b.ppm" 3 96 64
picture "$in/c.ppm" 9 96 64
picture "$in/wide.ppm" 0 150 70
npy "$in/features.npy" '<f4' '(4, 6, 5)' "$(floats 120 1)"
npy "$in/query.npy" '<f4' '(5,)' "$(floats 5 2)"
npy "$in/queries.npy" '<f4' '(3, 5)' "$(floats 15 3)"
npy "$in/asked.npy" '<f4' '(2, 5)' "$(floats 10 10)"
npy "$in/mean.npy" '<f4' '(5,)' "$(floats 5 6)"
npy "$in/scores.npy" '<f4' '(4, 6)' "$(floats 24 4)"
npy "$in/plane.npy" '<f4' '(8, 12)' "$(floats 96 5)"
scorer "$in/scorer.safetensors" '"format":"texturevlm.scorer","channels":"edges,saliency,text,entropy"' '[4]' "$(floats 4 7)"
scorer "$in/known.safetensors" '"format":"texturevlm.scorer","channels":"attention,attention_prev,gaze,depth"' '[4]' "$(floats 4 8)"
npy "$in/other.npy" '<f4' '(4, 6)' "$(floats 24 9)"
mkdir "$in/masks" "$in/frames"
for name in a b c; do
    awk -v s=$([ $name = a ] && echo 0 || echo 3) 'BEGIN { print "P2 96 64 255"; for (i = 0; i < 6144; ++i) { x = i % 96 - 66 - s; y = int(i / 96) - 40; print x * x + y * y < 150 ? 255 : 0 } }' >"$in/masks/$name.png"
    cp "$in/features.npy" "$in/frames/$name.npy"
done
mkdir "$in/yolo"
for name in a b c; do printf '0 0.69 0.63 0.2 0.3\n1 0.2 0.2 0.3 0.25\n1 0.5 0.1 0.6 0.3 0.9 0.25 0.7 0.05\n' >"$in/yolo/$name.txt"; done
cat >"$in/coco.json" <<'JSON'
{"images": [{"id": 1, "file_name": "a.ppm", "width": 96, "height": 64}, {"id": 2, "file_name": "b.ppm", "width": 96, "height": 64},
            {"id": 3, "file_name": "c.ppm", "width": 96, "height": 64}],
 "categories": [{"id": 1, "name": "disc"}, {"id": 2, "name": "text"}],
 "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [54, 28, 25, 25]},
  {"id": 2, "image_id": 1, "category_id": 2, "segmentation": [[8, 6, 40, 6, 40, 22, 20, 14, 8, 22]], "bbox": [8, 6, 32, 16]},
  {"id": 3, "image_id": 2, "category_id": 1, "segmentation": [[57, 40, 69, 28, 81, 40, 69, 52]], "bbox": [57, 28, 24, 24]},
  {"id": 4, "image_id": 2, "category_id": 2, "bbox": [11, 6, 32, 16]},
  {"id": 5, "image_id": 3, "category_id": 1, "bbox": [63.4, 28.7, 24.2, 24.6]},
  {"id": 6, "image_id": 3, "category_id": 2, "segmentation": {"size": [64, 96], "counts": [1094, 16, 48, 16, 48, 16, 48, 16, 4842]}, "bbox": [17, 6, 4, 16]}]}
JSON
printf '0,20,30\n0.04,70,40\n0.08,nan,nan\n' >"$in/gaze.csv"

# ---- What comes out ----

# Of each of so many parts of the numbers (of one, if there were more than 64) how many they are, their mean, their mean square, and
# a mean that hangs on their order. Few numbers are told as they are.
digest() { # PARTS
    awk -v parts="$1" '{ for (i = 1; i <= NF; ++i) value[n++] = $i }
        END { if (n <= 16) { for (i = 0; i < n; ++i) printf "%s%.6g", i ? "," : "", value[i]; print ""; exit }
              if (parts > 64 || parts > n) parts = 1
              each = int(n / parts)
              for (p = 0; p < parts; ++p) {
                  sum = square = order = 0
                  for (i = 0; i < each; ++i) { v = value[p * each + i]; sum += v; square += v * v; order += v * ((i * 37 + 11) % 101) / 50 }
                  printf "%d:%.5g,%.5g,%.5g\n", each, sum / each, square / each, order / each } }'
}
numbers() { # FILE FROM BYTES TYPE
    case $4 in
    f4 | F32) od -An -v -tf4 -w64 -j"$2" -N"$3" "$1" ;;
    i8 | I64) od -An -v -td8 -w64 -j"$2" -N"$3" "$1" ;;
    i4 | I32) od -An -v -td4 -w64 -j"$2" -N"$3" "$1" ;;
    f2 | u2 | F16 | U16) od -An -v -tu2 -w64 -j"$2" -N"$3" "$1" ;;
    *) od -An -v -tu1 -w64 -j"$2" -N"$3" "$1" ;;
    esac
}
tell_npy() {
    local head shape type
    head=$(head -c 128 "$1" | tail -c 118)
    shape=$(grep -oE '\([0-9, ]*\)' <<<"$head") type=$(grep -oE "[<|][fiu][0-9]" <<<"$head")
    echo "$(basename "$1") ${type#?} $shape"
    numbers "$1" 128 $(($(stat -c %s "$1") - 128)) "${type#?}" | digest "$(grep -oE '[0-9]+' <<<"${shape:-1}" | head -1)"
}
tell_safetensors() {
    local length tensor from to
    length=$(od -An -tu4 -N4 "$1")
    echo "$(basename "$1") $(dd if="$1" bs=1 skip=8 count=$((length)) status=none | grep -oE '"__metadata__":\{[^}]*\}')"
    dd if="$1" bs=1 skip=8 count=$((length)) status=none | grep -oE '"[a-z_0-9]+":\{"dtype":"[A-Z0-9]+","shape":\[[0-9,]*\],"data_offsets":\[[0-9]+,[0-9]+\]' |
        sed -E 's/"([a-z_0-9]+)":\{"dtype":"([A-Z0-9]+)","shape":\[([0-9,]*)\],"data_offsets":\[([0-9]+),([0-9]+)\]/\1 \2 \3 \4 \5/' |
        while read -r tensor type shape from to; do
            echo "$tensor $type [$shape]"
            [ "$to" = "$from" ] || numbers "$1" $((8 + length + from)) $((to - from)) "$type" | digest 4
        done
}
# A picture is told by its colours, which the tool itself reads.
tell_png() {
    "$tvlm" channels "$1" --channels r,g,b --size 64x48 --device reference -o "$work/colours.npy" 2>&1
    tell_npy "$work/colours.npy" | sed "1s/.*/$(basename "$1")/"
}
tell() {
    case $1 in
    *.npy) tell_npy "$1" ;;
    *.safetensors) tell_safetensors "$1" ;;
    *.png) tell_png "$1" ;;
    */tvlm*.1 | */tvlm | */tvlm-lab | */_tvlm*) echo "$(basename "$1"): $(wc -l <"$1") lines, $(cksum <"$1")" ;; # a manual
    *.flo) echo "$(basename "$1")" && numbers "$1" 12 $(($(stat -c %s "$1") - 12)) f4 | digest 4 ;;
    *) cat "$1" ;;
    esac
}

# of COMMAND...: runs the tool, and keeps what it says and writes; the files are there for the next case.
of() {
    local program file before=$work/before
    program=$(program "$1")
    [ -z "${TVLM_TEST_TIMES:-}" ] || echo "$(date +%s.%N) $*" >&2
    touch "$before" && sleep 0.01
    { echo "== $*" | sed "s|$in/||g"
      "$program" "$@" --device reference 2>&1 || echo "exit $?"
      for file in $(find . -type f -newer "$before" | sort); do tell "$file"; done
    } | sed "s|$in/||g" | tr -d '"' >>"$got"
    checks=$((checks + 1))
}

# ---- The cases ----

# Choosing: each strategy and what it reads.
of select "$in/a.ppm" -k 9
of select "$in/a.ppm" -k 20 --patch 8
of select "$in/page.ppm" -k 30 --patch 8 --overlay overlay.png --patch-scores scores.npy
of select "$in/page.ppm" -k 90 --patch 8
of select "$in/page.ppm" --tolerance 0.05 --patch 8
of tensors "$in/page.ppm" --for qwen2-vl --strategy budget --budget 9 --min-pixels 40000 -o out.safetensors
of select "$in/wide.ppm" -k 30 --patch 8 --overlay overlay.png --heatmap heat.png --patch-scores scores.npy
of select "$in/a.ppm" --share 0.4 --patch 8 --explain explained.json
of select "$in/a.ppm" --tolerance 0.1 --patch 8
of select "$in/a.ppm" --tolerance auto --patch 8
of select "$in/a.ppm" --tolerance 0 --patch 8
of select "$in/a.ppm" -k 20 --patch 8 --emphasis 8:saliency
of select "$in/a.ppm" -k 20 --patch 8 --emphasis 30 --scorer "$in/scorer.safetensors"
of select "$in/a.ppm" -k 20 --patch 8 --features "$in/features.npy" --query "$in/query.npy"
of select "$in/a.ppm" -k 9 --scores "$in/scores.npy"
of select "$in/wide.ppm" -k 24 --patch 8 --crops .
of select "$in/wide.ppm" -k 100 --patch 8 --overlay overlay.png
of select "$in/a.ppm" -k 8 --strategy grid --explain explained.json --overlay overlay.png --heatmap heat.png --patch-scores scores.npy
of select "$in/a.ppm" -k 8 --strategy grid --stride 8 --weights 1,0.5,0 --set min-distance=12
of select "$in/a.ppm" -k 8 --strategy grid --stride 8 --diversity 0.7
of select "$in/a.ppm" -k 8 --strategy grid --overview 0.4
of select "$in/a.ppm" -k 8 --strategy grid --scorer "$in/scorer.safetensors" --explain explained.json
of select "$in/a.ppm" -k 6 --strategy grid --features "$in/features.npy" --query "$in/queries.npy"
of select "$in/a.ppm" -k 6 --strategy grid --features "$in/features.npy" --query "$in/queries.npy" --combine mean
of select "$in/a.ppm" -k 6 --strategy grid --features "$in/features.npy" --query "$in/queries.npy" --combine max --basis image --components 3
of select "$in/a.ppm" -k 6 --strategy grid --features "$in/features.npy" --query "$in/query.npy" --basis query --components 2 --feature-patch 16
of select "$in/a.ppm" -k 6 --strategy grid --features "$in/features.npy" --query "$in/query.npy" --set query-mean="$in/mean.npy" --diversity 0.5
of select "$in/a.ppm" -k 8 --strategy exhaustive
of select "$in/a.ppm" -k 8 --strategy exhaustive --level 2 --set min-distance=9 --set anisotropic
of select "$in/a.ppm" -k 14 --strategy quadtree --stride 8
of select "$in/a.ppm" -k 16 --strategy foveated --stride 8
of select "$in/a.ppm" -k 16 --strategy foveated --stride 8 --fixation 20,14 --fixation 66,40 --e0 0.4
of select "$in/a.ppm" -k 16 --strategy foveated --stride 8 --set arrangement=log-polar
of select "$in/a.ppm" -k 6 --strategy cascade --stride 8 --clusters 12 --set keep-regions=4
of select "$in/a.ppm" -k 8 --strategy cascade --stride 8 --clusters 12 --set cover --set cull-distance=0.8
of select "$in/a.ppm" -k 6 --strategy cascade --stride 8 --labels "$in/masks/a.png" --features "$in/features.npy" --query "$in/query.npy"
of select "$in/a.ppm" -k 4 --strategy grid --scorer "$in/known.safetensors" --give attention="$in/plane.npy" --give attention_prev="$in/other.npy" \
    --give gaze="$in/plane.npy" --give depth="$in/other.npy" --explain explained.json
of select "$in/a.ppm" -k 12 --patch 8 --give gaze="$in/plane.npy" --emphasis 9:gaze
of select "$in/a.ppm" -k 12 --patch 8 --masks "$in/masks" --emphasis 9:saliency
of select "$in/a.ppm" "$in/c.ppm" -k 12 --patch 8 --coco "$in/coco.json" --classes text --emphasis 9:saliency
of select "$in/a.ppm" -k 5 --strategy foveated --yolo "$in/yolo" --classes 1
of select "$in/a.ppm" "$in/b.ppm" -k 3 --strategy grid --masks "$in/masks" --explain explained.json
of select "$in/a.ppm" "$in/b.ppm" "$in/wide.ppm" -k 3 --jsonl --size 64x48
of select "$in/wide.ppm" -k 5 --max-side 80
of select "$in/a.ppm" -k 5 --strategy grid --patches patches.npy --patch-norm clip
of select "$in/a.ppm" -k 12 --patch 8 --patches patches.npy --set patch-size=6 --set patch-border=reflect
of select "$in/a.ppm" -k 5 --strategy grid --patches patches.npy --set patch-channels=edges,low,saliency --set patch-mean=0.1,0.2,0.3 --set patch-std=1,2,0.5 --set patch-format=f16
of select "$in/a.ppm" -k 5 --strategy grid --format f16
of select "$in/a.ppm" -k 5 --format u8 --patch 8

# Channels: all of them, and how they are made.
of channels "$in/a.ppm" -o stack.npy --sheet sheet.png
of channels "$in/wide.ppm" --layout visual12 --level 1 -o stack.npy
of channels "$in/a.ppm" --reduce gaussian --level 2 --channels r,g,b,edges,low,high,entropy -o stack.npy
of channels "$in/a.ppm" --clusters 9 --channels cluster_id,boundary,distance -o stack.npy
of channels "$in/a.ppm" --labels "$in/masks/a.png" --channels cluster_id,boundary,distance -o stack.npy
of channels "$in/a.ppm" --layout scene18 --size 20x14 -o stack.npy
of channels "$in/a.ppm" --layout patch13 --size 24x16 -o stack.npy
of channels "$in/a.ppm" --features "$in/features.npy" --words "$in/queries.npy" --channels word_0,word_1,word_2,feature_0,feature_4 -o stack.npy
of channels "$in/a.ppm" --rope 100,8,16 --channels rope_x_cos_0,rope_x_sin_1,rope_y_cos_0,rope_y_sin_1 -o stack.npy
of channels "$in/a.ppm" --give depth="$in/plane.npy" --give attention="$in/plane.npy" --channels depth,attention -o stack.npy
of channels "$in/a.ppm" --format u8 --channels r,edges,saliency -o stack.npy
of channels --ragged "$in/a.ppm" "$in/wide.ppm" -o .
of channels --each "$in/a.ppm" "$in/wide.ppm" --channels r,saliency -o . --jsonl
of channels --flow "$in/b.ppm" "$in/a.ppm" -o flow.flo --picture flow.png --confidence confidence.npy
of channels --flow "$in/c.ppm" "$in/a.ppm" --full -o flow.flo
of channels --flow "$in/b.ppm" "$in/a.ppm" -o flow.flo --json
of channels "$in/a.ppm" --channels r,edges --level 2 -o stack.npy --sheet sheet.png --json
of channels "$in/a.ppm" "$in/b.ppm" "$in/wide.ppm" --channels r,edges --size 20x14 -o stack.npy --json
of channels "$in/wide.ppm" --channels r,edges,low --max-side 100 -o stack.npy --sheet sheet.png
of channels --ragged "$in/a.ppm" "$in/wide.ppm" --channels r,edges --level 1 --reduce gaussian -o . --json
of channels --each "$in/a.ppm" "$in/wide.ppm" "$in/a.ppm" --layout patch13 -o . --jsonl

# Tensors: each model, and each way to choose.
for model in qwen3-vl qwen2.5-vl qwen2-vl; do of tensors "$in/a.ppm" --for $model --min-pixels 3136 --budget 4 -o out.safetensors; done
of tensors "$in/wide.ppm" --for qwen2-vl --strategy budget --budget 7 --min-pixels 40000 -o out.safetensors
of tensors "$in/wide.ppm" --for qwen2-vl --tolerance 0.2 --min-pixels 40000 -o out.safetensors --selected-only
of tensors "$in/wide.ppm" --for qwen2-vl --overview 0.4 --budget 9 --min-pixels 40000 -o out.safetensors --selected-only
of tensors "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --for qwen2-vl --video --budget 5 -o out.safetensors
of tensors "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --for qwen3-vl --video --all -o out.safetensors
of tensors "$in/a.ppm" --for llava --size 56 --budget 5 -o out.safetensors
of tensors "$in/a.ppm" --for siglip --size 64 --budget 5 --pillow 13 -o out.safetensors
of tensors "$in/a.ppm" --for clip --size 56 --patch 7 --budget 5 -o out.safetensors
of tensors "$in/wide.ppm" --for llava-onevision --size 56 --budget 40 -o out.safetensors
of tensors "$in/wide.ppm" --for internvl --size 28 --budget 3 -o out.safetensors
of tensors "$in/wide.ppm" --for internvl --size 28 --budget 3 -o out.safetensors --json
of tensors "$in/wide.ppm" "$in/a.ppm" --for qwen2-vl --min-pixels 20000 --budget 9 -o out.safetensors --json
of tensors "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --for qwen2-vl --video --budget 5 -o out.safetensors --json
of tensors "$in/a.ppm" --for siglip --size 64 --strategy grid --budget 5 -o out.safetensors --json
of tensors "$in/wide.ppm" --for qwen2-vl --strategy budget --budget 12 --min-pixels 40000 -o out.safetensors --json
of tensors "$in/a.ppm" --for qwen2-vl --budget 4 --features "$in/features.npy" --query "$in/queries.npy" --combine mean --min-pixels 20000 -o out.safetensors --selected-only

# Videos.
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" -k 4
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" -k 8 --strategy budget --patch 8
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --budget 9 --slot 1
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --share .2 --patch 8
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --tolerance .1
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --share .3 --slot 1 --causal --latency 1
for preset in still screen document; do of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" -k 4 --preset $preset; done
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" -k 4 --preset gaze --gaze "$in/gaze.csv"
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" -k 4 --tile 16 --threshold 0.05 --carry 0.5 --steadiness 0.5 --keyframe 2
of video "$in/a.ppm" "$in/c.ppm" "$in/wide.ppm" -k 4 --no-delta --cut 0.05 --rate 10
of video "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" -k 4 --features "$in/frames" --query "$in/query.npy" --needs needs

# The lab, and the manuals and completions of both, which it has a say in.
if [ -x "$lab" ]; then
    for program in "$tvlm" "$lab"; do
        mkdir manual
        echo "== manual of $(basename "$program")" >>"$got"
        "$program" --manual manual >>"$got" 2>&1 || echo "exit $?" >>"$got"
        for file in manual/*; do tell "$file" >>"$got"; done
        for command in $("$program" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vxE 'bench|lab'); do
            for which in "" all; do
                "$program" "$command" --help $which >"$work/help" 2>&1
                echo "help $command $which: $(wc -l <"$work/help") lines, $(cksum <"$work/help")" >>"$got"
            done
        done
        checks=$((checks + 1))
        rm -r manual
    done
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --masks "$in/masks" -k 4 --held-out 0 -o scorer.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --masks "$in/masks" -k 4 --leave-one-out --taps 3x3 --channels r,saliency,edges -o scorer.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --masks "$in/masks" -k 4 --held-out 0.34 --seed 3 --stride 8 --l2 2 -o scorer.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --coco "$in/coco.json" -k 5 --held-out 0 --json -o boxes.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --coco "$in/coco.json" --classes text -k 5 --leave-one-out --json -o words.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --yolo "$in/yolo" --classes 1 -k 5 --held-out 0 --largest 1 --channels r,x,y,edges -o shapes.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --yolo "$in/yolo" -k 5 --held-out 0 --hidden 2 --channels r,x,saliency -o hidden.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --coco "$in/coco.json" --classes disc,text --query-weights "$in/asked.npy" \
        --features "$in/features.npy" --features "$in/features.npy" --features "$in/features.npy" --channels x,edges,query_similarity --held-out 0 -k 5 -o asked.safetensors
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --coco "$in/coco.json" --classes disc,text --query-weights "$in/asked.npy" \
        --features "$in/features.npy" --features "$in/features.npy" --features "$in/features.npy" --channels x,edges,query_similarity --leave-one-out -k 5 --json
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --masks "$in/masks" -k 4 --held-out 0 --hidden 3 --channels r,x,y --json
    of fit "$in/a.ppm" "$in/b.ppm" "$in/c.ppm" --masks "$in/masks" -k 4 --held-out 0.5 --seed 7 --taps 3x3 --channels x,y --json
    of select "$in/a.ppm" -k 5 --strategy grid --scorer asked.safetensors --features "$in/features.npy" --query "$in/query.npy" --explain explained.json
    of select "$in/a.ppm" -k 5 --strategy grid --scorer hidden.safetensors
    of select "$in/a.ppm" -k 5 --strategy cascade --stride 8 --clusters 12 --scorer scorer.safetensors
    of pca train "$in/features.npy" -k 3 -o basis.safetensors
    of pca train "$in/features.npy" -k 2 --centred -o centred.safetensors
    of pca info basis.safetensors
    of pca info basis.safetensors --json
    of pca train "$in/features.npy" "$in/features.npy" -k 2 --method range-finder -o found.safetensors --json
    of pca validate basis.safetensors "$in/features.npy" --queries "$in/queries.npy" --min-variance 0 --min-neighbours 0 --min-rank 0 --min-top 0 --max-error 1 --max-largest 1
    of select "$in/a.ppm" -k 4 --strategy grid --features "$in/features.npy" --query "$in/query.npy" --basis basis.safetensors
    of pca validate centred.safetensors "$in/features.npy" --queries "$in/queries.npy" --min-variance 0 --min-neighbours 0 --min-rank 0 --min-top 0 --max-error 1 --max-largest 1 --json
    of vocab train "$in/features.npy" "$in/features.npy" -n 3 --seed 5 --rounds 2 --sample 9 -o few.safetensors --json
    of vocab train "$in/features.npy" -n 4 -o vocab.safetensors
    of vocab apply vocab.safetensors "$in/features.npy" -o ids.npy --residuals residuals.npy
    of vocab score vocab.safetensors ids.npy --query "$in/queries.npy" -o scores.npy
    of vocab apply vocab.safetensors "$in/features.npy" -o ids.npy --json
    of vocab score vocab.safetensors ids.npy --query "$in/query.npy" -o scores.npy --json
    of vocab info vocab.safetensors
    of vocab info vocab.safetensors --json
    of compress train "$in/a.ppm" "$in/b.ppm" --channels r,g,edges,low,laplacian,saliency -k 3 -o codec.safetensors
    of compress train "$in/a.ppm" "$in/b.ppm" --channels edges,low,saliency,text,entropy -k 2 --weigh edges:3 --level 1 --scorer "$in/scorer.safetensors" -o kept.safetensors
    of compress train "$in/a.ppm" "$in/b.ppm" --channels r,g,edges,low --weigh low:2,edges:0.5 -k 2 -o weighed.safetensors --json
    of compress apply "$in/a.ppm" --codec codec.safetensors -o codes.npy
    of compress apply "$in/wide.ppm" --codec kept.safetensors -o codes.npy --json
    of select "$in/a.ppm" -k 4 --strategy grid --scorer "$in/scorer.safetensors" --codec kept.safetensors
    of compress fold "$in/scorer.safetensors" --codec kept.safetensors -o folded.safetensors
    of attend "$in/features.npy" --queries "$in/queries.npy" -o out.npy --map map.npy --picture map.png
    of attend "$in/features.npy" --queries "$in/query.npy" --level 1 --fine 0.5 --heads 5 -o out.npy --json
    of attend "$in/features.npy" --queries "$in/query.npy" --values "$in/features.npy" --level 1 --fine 0.3 --mix 0.4 --scale 2 -o out.npy
    of attend "$in/features.npy" --queries "$in/query.npy" --level 2 --fine 0.5 --steps -o out.npy
    of attend "$in/features.npy" --queries "$in/queries.npy" --values "$in/features.npy" --level 1 --mix 0.3 --map map.npy --json
    of logpolar "$in/a.ppm" --rings 12 -o rings.npy --picture rings.png --inverse seen.png
    of logpolar "$in/wide.ppm" --rings 10 --fixation 100,20 --inner 3 --outer 60 -o rings.npy --json
    of logpolar "$in/a.ppm" --rings 9 --sectors 14 --fixation 20,14 --inner 2 --outer 50 --plain -o rings.npy
fi

# ---- Against what is kept ----

if [ "$write" ]; then
    { echo "# SPDX-License-Identifier: Apache-2.0" && cat "$got"; } >"$here/results.txt"
    ! grep -nE '^(tvlm(-lab)?:|exit)' "$got" || echo "*** these cases are refused, or warn ***"
    echo "$here/results.txt: $(wc -l <"$here/results.txt") lines of $checks cases"
    exit
fi
# Words must be equal, and numbers near. Without the lab its cases are not there: those are compared that are; with it, all are there.
awk -v near=2e-3 -v all="$([ ! -x "$lab" ] || echo 1)" '
    function differ(a, b,   x, y) {
        if (a == b) return 0
        if (a !~ /^-?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/) return 1
        x = a - b; y = a < 0 ? -a : a + 0; if ((b < 0 ? -b : b + 0) > y) y = b < 0 ? -b : b + 0
        return (x < 0 ? -x : x) > near * y + 2e-5
    }
    function unlike(a, b,   n, m, i, p, q) {
        n = split(a, p, /[][{}:,() ]/); m = split(b, q, /[][{}:,() ]/)
        if (n != m) return 1
        for (i = 1; i <= n; ++i) if (differ(p[i], q[i])) return 1
        return 0
    }
    function compare(   i) {
        for (i = 1; i <= kept_lines[name] || i <= lines; ++i)
            if (unlike(kept[name, i], is[i])) {
                printf "FAILED: %s, line %d\n  kept %s\n  is   %s\n", name, i, substr(kept[name, i], 1, 300), substr(is[i], 1, 300)
                ++wrong
                return
            }
    }
    FNR == NR { if (/^==/) { at = $0; ++missing[at] } else kept[at, ++kept_lines[at]] = $0; next }
    /^==/ { if (name) compare(); name = $0; lines = 0; delete missing[name]; next }
    { is[++lines] = $0; delete is[lines + 1] }
    END {
        compare()
        for (name in missing) if (all) { print "FAILED: not there: " name; ++wrong }
        exit wrong > 0
    }' "$here/results.txt" "$got" || failures=$((failures + 1))
finish
