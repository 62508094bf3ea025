#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/inputs.sh TVLM TVLM_SCENE [DEVICE]: what `tvlm channels`, `select` and `export` take beside an image: grids, masks,
# maps and objects, and several images at once; one clear line for whatever is wrong with them. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

generate=("$tvlm" channels ${device:+"$device"})
photo=$work/in/photo.png in=$work/in
"$scene" "$photo" 64 48 && "$scene" "$in/other.png" 95 130 || exit 1
zero='\0\0\0\0' half='\0\0\0\077' one='\0\0\200\077' two='\0\0\0\100' nan='\0\0\300\177'

echo "== grids"
npy "$in/map.npy" '<f4' '(2, 2)' "$zero$half$one$two"
npy "$in/half.npy" '<f2' '(2, 2)' '\0\0\0\070\0\074\0\100'
for name in attention attention_prev gaze; do
    succeeds "${generate[@]}" "$photo" -o $name.npy --channels $name --size 2x2 --give $name="$in/map.npy"
    holds "--give $name, clamped" $name.npy 0 0 0.5 1 1
    succeeds "${generate[@]}" "$photo" -o half-$name.npy --channels $name --size 2x2 --give $name="$in/half.npy"
    same "half and float" $name.npy half-$name.npy
    succeeds "${generate[@]}" "$photo" -o none-$name.npy --channels $name --size 2x2
    holds "without --give $name" none-$name.npy 0 0 0 0 0
done
npy "$in/depth.npy" '<f4' '(1, 2)' "$one$two"
succeeds "${generate[@]}" "$photo" -o depth.npy --channels depth,occlusion,normal_z,normal_x --size 2x1 --give depth="$in/depth.npy"
holds "depth and occlusion" depth.npy 0 1 2 0 1
npy "$in/vectors.npy" '<f4' '(1, 2, 2)' "$two$zero$zero$one"
succeeds "${generate[@]}" "$photo" -o vectors.npy --channels embedding_0,embedding_1,embedding_2 --size 2x1 --give embedding="$in/vectors.npy"
holds "unit vectors" vectors.npy 0 1 0 0 1 0 0
succeeds "${generate[@]}" "$photo" -o saliency.npy --channels saliency --size 2x2 --give saliency="$in/map.npy"
holds "a saliency map" saliency.npy 0 0 0.5 1 1
printf 'P5\n2 2\n255\n\000\177\200\377' >"$in/mask.pgm"
succeeds "${generate[@]}" "$photo" -o piped.npy --channels text --size 2x2 --give text=<(cat "$in/mask.pgm")
holds "a text mask through a pipe" piped.npy 0 0 0 1 1
npy "$in/mask.npy" '|b1' '(2, 2)' '\0\0\1\1'
succeeds "${generate[@]}" "$photo" -o text.npy --channels text --size 2x2 --give text="$in/mask.pgm"
holds "a text mask" text.npy 0 0 0 1 1
succeeds "${generate[@]}" "$photo" -o text-npy.npy --channels text --size 2x2 --give text="$in/mask.npy"
same "a mask as a picture and as bool" text.npy text-npy.npy
succeeds "${generate[@]}" "$photo" -o all.npy --sheet all.png --channels attention,gaze,depth,embedding_0,saliency,text --give attention="$in/map.npy" --give gaze="$in/half.npy" \
    --give depth="$in/depth.npy" --give embedding="$in/vectors.npy" --give saliency="$in/mask.pgm" --give text="$in/mask.npy"

echo "== bad grids"
all=attention,attention_prev,gaze,depth,embedding_0,saliency,text
try() { refused 1 "$1" "${generate[@]}" "$photo" -o bad.npy --channels $all "${@:2}"; }
npy "$in/rank3.npy" '<f4' '(1, 2, 2)' "$one$one$one$one"
npy "$in/rank1.npy" '<f4' '(4,)' "$one$one$one$one"
npy "$in/double.npy" '<f8' '(1, 1)' "$one$one"
npy "$in/bytes.npy" '|u1' '(2, 2)' '\0\0\1\1'
npy "$in/big.npy" '>f4' '(2, 2)' "$one$one$one$one"
npy "$in/fortran.npy" '<f4' '(2, 2)' "$one$one$one$one" True
npy "$in/short.npy" '<f4' '(2, 2)' "$one$one$one"
npy "$in/long.npy" '<f4' '(2, 2)' "$one$one$one$one$one"
npy "$in/empty.npy" '<f4' '(0, 2)' ''
npy "$in/nan.npy" '<f4' '(2, 2)' "$one$one$nan$one"
npy "$in/wide.npy" '<f4' '(1, 1, 65)' "$(for i in {1..65}; do printf '%s' "$one"; done)"
echo "no array" >"$in/text.npy"
for name in attention attention_prev gaze depth saliency text; do
    try "rank3.npy: --give $name takes rows x columns, an array of 2 dimensions; this one has 3" --give $name="$in/rank3.npy"
    try "rank1.npy: --give $name .* has 1" --give $name="$in/rank1.npy"
    try "double.npy: --give $name takes float32 or float16.*; this is float64" --give $name="$in/double.npy"
    try "bytes.npy: --give $name takes float32 or float16.*; this is uint8" --give $name="$in/bytes.npy"
    try 'big.npy .*big-endian' --give $name="$in/big.npy"
    try 'fortran.npy .*Fortran' --give $name="$in/fortran.npy"
    try 'short.npy .*12 bytes of data where its shape needs 16' --give $name="$in/short.npy"
    try 'long.npy .*20 bytes' --give $name="$in/long.npy"
    try "empty.npy: --give $name: a side of 0" --give $name="$in/empty.npy"
    try 'nan.npy: .*value 2 \(row 1, column 0, channel 0\) is not finite' --give $name="$in/nan.npy"
    try 'text.npy' --give $name="$in/text.npy"
    try 'none.npy' --give $name="$in/none.npy"
done
try 'map.npy: --give embedding takes rows x columns x C, an array of 3 dimensions; this one has 2' --give embedding="$in/map.npy"
try 'wide.npy: embedding: a grid of 65 channels; it has 1 to 64' --give embedding="$in/wide.npy"
refused 1 'map.npy: is the input' "${generate[@]}" "$photo" -o "$in/map.npy" --give gaze="$in/map.npy"
refused 2 'the file of gaze is missing' "${generate[@]}" "$photo" -o bad.npy --give gaze=''

echo "== labels"
regions() { succeeds "${generate[@]}" "$photo" -o "$1.npy" --channels cluster_id,cluster_size,boundary --labels "$2"; }
printf 'P5\n3 2\n65535\n\377\377\0\7\0\7\1\0\0\7\377\377' >"$in/labels16.pgm"
npy "$in/u2.npy" '<u2' '(2, 3)' '\377\377\7\0\7\0\0\1\7\0\377\377'
npy "$in/i4.npy" '<i4' '(2, 3)' '\377\377\0\0\7\0\0\0\7\0\0\0\0\1\0\0\7\0\0\0\377\377\0\0'
npy "$in/i8.npy" '<i8' '(2, 3)' "$(printf '\\%s\\%s\\0\\0\\0\\0\\0\\0' 377 377 7 0 7 0 0 1 7 0 377 377)"
printf 'P6\n3 2\n255\n\377\377\0\7\0\0\7\0\0\0\1\0\7\0\0\377\377\0' >"$in/labels.ppm"
printf 'P5\n3 2\n255\n\3\1\1\2\1\3' >"$in/labels8.pgm"
npy "$in/bool.npy" '|b1' '(2, 1)' '\1\0'
regions expected "$in/i4.npy"
# The cells of 3 x 2 are 21, 22 and 21 pixels wide and 24 high.
holds "labels in ascending order, at a step" expected.npy 19 2 2 0
holds "the region below" expected.npy $((24 * 64)) 1
holds "shares" expected.npy $((64 * 48 + 20)) 0.328125 0.5078125
holds "boundary" expected.npy $((2 * 64 * 48 + 19)) 0 1 0
holds "boundary, going down" expected.npy $((2 * 64 * 48 + 22 * 64)) 0
holds "boundary, going down" expected.npy $((2 * 64 * 48 + 23 * 64)) 1
for map in u2.npy i8.npy labels16.pgm labels8.pgm labels.ppm; do
    regions got "$in/$map"
    same "labels as $map" expected.npy got.npy
done
succeeds "${generate[@]}" "$photo" -o bool-labels.npy --channels cluster_id --labels "$in/bool.npy"
holds "two labels" bool-labels.npy $((24 * 64 - 1)) 1 0
# 2049 and 2048 labels: 0, 1, 2, ... as 16 bits.
many() { for ((i = 0; i < $1; ++i)); do printf '\\%03o\\%03o' $((i & 255)) $((i >> 8)); done; }
npy "$in/2049.npy" '<u2' '(3, 683)' "$(many 2049)"
npy "$in/2048.npy" '<u2' '(32, 64)' "$(many 2048)"
succeeds "${generate[@]}" "$photo" -o 2048.npy --channels cluster_id --labels "$in/2048.npy"
checks=$((checks + 1))
[ "$(tail -c 4 2048.npy | od -An -tf4 | tr -d ' ')" = 2047 ] || complain "the last of 2048 labels"
npy "$in/wide-id.npy" '<i8' '(1, 2)' '\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0'
npy "$in/wide-u4.npy" '<u4' '(1, 1)' '\0\0\0\200'
npy "$in/floats.npy" '<f4' '(1, 2)' "$zero$one"
npy "$in/volume.npy" '<u2' '(1, 1, 2)' '\1\0\2\0'
npy "$in/none.npy" '<u2' '(0, 2)' ''
npy "$in/back.npy" '>u2' '(1, 2)' '\0\1\0\2'
npy "$in/turned.npy" '<u2' '(1, 2)' '\1\0\2\0' True
npy "$in/cut.npy" '<u2' '(2, 2)' '\1\0\2\0\3\0'
printf 'P6\n1 1\n65535\n\0\1\0\2\0\3' >"$in/deep.ppm"
labels() { refused 1 "$1" "${generate[@]}" "$photo" -o bad.npy --labels "$2"; }
labels '2049.npy: more than 2048 distinct labels' "$in/2049.npy"
labels 'wide-id.npy: --labels: the label in row 0, column 1 does not fit in 32 bits' "$in/wide-id.npy"
labels 'wide-u4.npy: .*does not fit' "$in/wide-u4.npy"
labels 'floats.npy: --labels takes integers; this is float32' "$in/floats.npy"
labels 'volume.npy: --labels takes rows x columns, .* has 3' "$in/volume.npy"
labels 'none.npy: --labels: a side of 0' "$in/none.npy"
labels 'back.npy .*big-endian' "$in/back.npy"
labels 'turned.npy .*Fortran' "$in/turned.npy"
labels 'cut.npy .*6 bytes of data where its shape needs 8' "$in/cut.npy"
labels 'deep.ppm: --labels takes gray .* these have 16' "$in/deep.ppm"
labels 'text.npy' "$in/text.npy"
labels 'absent.png' "$in/absent.png"
refused 1 'u2.npy: is the input' "${generate[@]}" "$photo" -o "$in/u2.npy" --labels "$in/u2.npy"
refused 2 '--clusters and --labels exclude' "${generate[@]}" "$photo" -o bad.npy --labels "$in/u2.npy" --clusters 9
refused 2 '--labels has no effect: nothing reads cluster_id; another --layout' "${generate[@]}" "$photo" -o bad.npy --channels r --labels "$in/u2.npy"
refused 2 '--clusters has no effect' "${generate[@]}" "$photo" -o bad.npy --layout visual12 --clusters 9
refused 2 '--give depth has no effect: nothing reads depth' "${generate[@]}" "$photo" -o bad.npy --give depth="$in/depth.npy"
refused 2 '--labels is of one image' "${generate[@]}" "$photo" "$photo" -o bad.npy --labels "$in/u2.npy"

echo "== misspelt channels"
refused 2 "unknown channel 'edgs'; did you mean 'edges'" "${generate[@]}" "$photo" -o bad.npy --channels r,edgs
refused 2 "unknown channel 'clusterid'; did you mean 'cluster_id'" "${generate[@]}" "$photo" -o bad.npy --channels clusterid
refused 2 "did you mean 'full40'" "${generate[@]}" "$photo" -o bad.npy --layout fulll40

echo "== several images"
succeeds "${generate[@]}" "$photo" "$in/other.png" "$photo" -o three.npy --layout patch13 --json
checks=$((checks + 1))
grep -qE '"shape": \[3, ?13, ?32, ?32\]' "$work/stdout" || complain "the shape: $(grep shape "$work/stdout")"
succeeds "${generate[@]}" "$photo" -o one.npy --layout patch13
succeeds "${generate[@]}" "$in/other.png" -o two.npy --layout patch13
tail -c +129 one.npy >expected && tail -c +129 two.npy >>expected && tail -c +129 one.npy >>expected
tail -c +129 three.npy >got
same "three and one by one" expected got
succeeds "${generate[@]}" "$photo" "$in/other.png" -o sized.npy --layout scene18 --size 21x9
checks=$((checks + 1))
[ "$(wc -c <sized.npy)" -eq $((128 + 2 * 18 * 9 * 21 * 4)) ] || complain "the size of scene18 at 21x9"
succeeds "${generate[@]}" "$photo" "$in/other.png" -o full.npy --channels r,edges
checks=$((checks + 1))
[ "$(wc -c <full.npy)" -eq $((128 + 2 * 2 * 48 * 64 * 4)) ] || complain "two images have the size of the first"
refused 2 '--sheet is of one image' "${generate[@]}" "$photo" "$photo" --sheet two.png
refused 2 '--give gaze is of one image' "${generate[@]}" "$photo" "$photo" -o two-gaze.npy --give gaze="$in/map.npy"
refused 1 'text.npy is not an image' "${generate[@]}" "$photo" "$in/text.npy" -o second.npy
refused 1 'other.png: is the input' "${generate[@]}" "$photo" "$in/other.png" -o "$in/other.png"

echo "== select"
select=("$tvlm" select ${device:+"$device"} "$photo" --stride 8 -k 12)
npy "$in/corner.npy" '<f4' '(2, 2)' "$zero$zero$zero$one"
printf '0 .75 .75 .5 .5\n\n' >"$in/photo_yolo.txt"
scorer "$in/gazed.safetensors" '"format":"texturevlm.scorer","channels":"gaze,x"' '[2]' "$one$zero"
scorer "$in/normals.safetensors" '"format":"texturevlm.scorer","channels":"normal_z"' '[1]' "$one"
scorer "$in/sized.safetensors" '"format":"texturevlm.scorer","channels":"cluster_size"' '[1]' "$one"
# corner FILE: the positions are in the lower right quarter.
corner() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
p = json.load(open(sys.argv[1]))["positions"]
sys.exit(not (len(p) == 12 and all(q["x"] >= 28 and q["y"] >= 20 for q in p)))' "$1" || complain "$1: not the lower right quarter"
}
for way in "--strategy grid --weights 0,1,0 --give saliency=$in/corner.npy" "--strategy grid --scorer $in/gazed.safetensors --give gaze=$in/corner.npy" \
    "--strategy grid --weights 0,1,0 --yolo $in"; do
    succeeds "${select[@]}" $way -o corner.json
    corner corner.json
done
succeeds "${select[@]}" --strategy grid --scorer "$in/normals.safetensors" --give depth="$in/depth.npy" -o depth.json
succeeds "${select[@]}" --strategy grid --scorer "$in/sized.safetensors" --labels "$in/labels8.pgm" -o labels.json
succeeds "${select[@]}" --strategy grid --scorer "$in/sized.safetensors" --clusters 3 -o three.json
succeeds "${select[@]}" --strategy grid --scorer "$in/sized.safetensors" --clusters 20 -o twenty.json
is "another number of regions changes nothing" test "$(cksum <three.json)" != "$(cksum <twenty.json)"
budget=("$tvlm" select ${device:+"$device"} "$photo" -k 6)
succeeds "${budget[@]}" --emphasis 50:attention --give attention="$in/corner.npy" -o emphasis.json
succeeds "${budget[@]}" --emphasis 50 --yolo "$in" -o objects.json
succeeds "${budget[@]}" -o plain.json
is "attention has no effect" test "$(cksum <emphasis.json)" != "$(cksum <plain.json)"
# places FILE: where its positions are, whatever their scores and their order.
places() { grep -oE '"x": [^,]*, "y": [^,]*, "size": [^,]*' "$1" | sort; }
foveated=("$tvlm" select ${device:+"$device"} "$photo" --strategy foveated --patch 4 -k 20)
succeeds "${foveated[@]}" --yolo "$in" -o looked.json
succeeds "${foveated[@]}" --fixation 48,36 -o given.json
is "not so: the middle of a box is looked at" test "$(places looked.json)" = "$(places given.json)"
printf '0 .25 .25 .5 .5\n1 .75 .75 .5 .5\n' >"$in/other_yolo.txt"
cp "$photo" "$in/other_photo.png" && cp "$in/other_yolo.txt" "$in/other_photo_yolo.txt"
succeeds "$tvlm" select ${device:+"$device"} "$in/other_photo.png" --strategy foveated --patch 4 -k 20 --yolo "$in" -o two.json
succeeds "$tvlm" select ${device:+"$device"} "$in/other_photo.png" --strategy foveated --patch 4 -k 20 --fixation 16,12 --fixation 48,36 -o given.json
is "not so: both middles are looked at" test "$(places two.json)" = "$(places given.json)"
succeeds "$tvlm" select ${device:+"$device"} "$in/other_photo.png" --strategy foveated --patch 4 -k 20 --yolo "$in" --classes 1 -o one.json
succeeds "$tvlm" select ${device:+"$device"} "$in/other_photo.png" --strategy foveated --patch 4 -k 20 --fixation 48,36 -o given.json
is "not so: one class is looked at" test "$(places one.json)" = "$(places given.json)"
scorer "$in/meaning.safetensors" '"format":"texturevlm.scorer","channels":"embedding_1"' '[1]' "$one"
scorer "$in/pass.safetensors" '"format":"texturevlm.scorer","channels":"previous_pass"' '[1]' "$one"
succeeds "${select[@]}" --strategy grid --scorer "$in/meaning.safetensors" --give embedding="$in/vectors.npy" -o meaning.json
is "not where the embedding points" python3 -c 'import json, sys
sys.exit(not all(p["x"] >= 28 for p in json.load(open(sys.argv[1]))["positions"]))' meaning.json
npy "$in/features.npy" '<f4' '(1, 2, 2)' "$two$zero$zero$one"
npy "$in/words.npy" '<f4' '(2, 2)' "$one$zero$zero$one"
npy "$in/deep.npy" '<f4' '(1, 3)' "$one$zero$zero"
scorer "$in/second.safetensors" '"format":"texturevlm.scorer","channels":"word_1"' '[1]' "$one"
succeeds "${select[@]}" --strategy grid --scorer "$in/second.safetensors" --features "$in/features.npy" --set words="$in/words.npy" -o word.json
is "not where the second word is" python3 -c 'import json, sys
sys.exit(not all(p["x"] >= 28 for p in json.load(open(sys.argv[1]))["positions"]))' word.json
refused 1 'the scorer weighs word_1' "${select[@]}" --strategy grid --scorer "$in/second.safetensors" --features "$in/features.npy"
refused 2 '--set words needs --features' "${select[@]}" --strategy grid --scorer "$in/second.safetensors" --set words="$in/words.npy"
refused 2 '--words has no effect: nothing reads word_0' "${generate[@]}" "$photo" -o bad.npy --channels feature_0 \
    --features "$in/features.npy" --words "$in/words.npy"
refused 2 '--features has no effect: nothing reads feature_0' "${generate[@]}" "$photo" -o bad.npy --channels r --features "$in/features.npy"
refused 2 '--set words has no effect: nothing reads word_0' "${select[@]}" --strategy grid --scorer "$in/meaning.safetensors" \
    --features "$in/features.npy" --basis pca --set words="$in/words.npy"
refused 1 'deep.npy' "${select[@]}" --strategy grid --scorer "$in/second.safetensors" --features "$in/features.npy" --set words="$in/deep.npy"
refused 2 'meaning.safetensors weighs embedding_1: hand in --give embedding=FILE or --features' "${select[@]}" --strategy grid \
    --scorer "$in/meaning.safetensors"
refused 2 'pass.safetensors weighs previous_pass' "${select[@]}" --strategy grid --scorer "$in/pass.safetensors"
refused 1 'the scorer weighs gaze \(.*, for which the image has no input' "${select[@]}" --strategy grid --scorer "$in/gazed.safetensors"
refused 2 '--give gaze has no effect: nothing reads gaze' "${select[@]}" --strategy grid --give gaze="$in/map.npy"
refused 2 '--give saliency has no effect' "${budget[@]}" --give saliency="$in/map.npy"
refused 2 '--yolo has no effect: nothing reads saliency' "${budget[@]}" --yolo "$in"
refused 2 '--labels has no effect: nothing reads cluster_id' "${select[@]}" --strategy grid --labels "$in/labels8.pgm"
refused 2 '--clusters has no effect' "${select[@]}" --strategy grid --clusters 9
refused 2 '--clusters and --labels exclude' "${select[@]}" --strategy cascade --clusters 9 --labels "$in/labels8.pgm"
refused 2 '--yolo and --give saliency exclude' "${select[@]}" --strategy grid --yolo "$in" --give saliency="$in/map.npy"
refused 2 '--give saliency is of one image' "${select[@]}" "$in/other.png" --strategy grid --give saliency="$in/map.npy"
refused 2 'one of --masks, --coco and --yolo' "${select[@]}" --strategy grid --classes 1
refused 1 'photo.png: there is neither photo.png' "${select[@]}" --strategy grid --masks "$work/out"
refused 1 'photo_yolo.txt: is the input' "${select[@]}" --strategy grid --yolo "$in" -o "$in/photo_yolo.txt"

echo "== export"
export=("$tvlm" tensors ${device:+"$device"} "$photo" --for qwen2-vl --budget 1)
for way in "--weights 0,1,0 --give saliency=$in/corner.npy" "--scorer $in/gazed.safetensors --give gaze=$in/corner.npy" "--weights 0,1,0 --yolo $in"; do
    "${export[@]}" $way -o corner.safetensors --json >"$work/stdout" 2>"$work/stderr"
    is "no export with $way" test $? -eq 0
    is "not the last token with $way" python3 -c '
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
size, = struct.unpack("<Q", raw[:8])
header = json.loads(raw[8:8 + size])
begin, end = header["selected_indices"]["data_offsets"]
tokens = header["scores"]["shape"][0]
sys.exit(struct.unpack("<q", raw[8 + size + begin:8 + size + end])[0] != tokens - 1)' corner.safetensors
done
"${export[@]}" --scorer "$in/meaning.safetensors" --give embedding="$in/vectors.npy" -o meaning.safetensors >"$work/stdout" 2>"$work/stderr"
is "no export by an embedding" test $? -eq 0
refused 2 'weighs embedding_1: hand in --give embedding=FILE or' "${export[@]}" -o bad.safetensors --scorer "$in/meaning.safetensors"
refused 2 'pass.safetensors weighs previous_pass' "${export[@]}" -o bad.safetensors --scorer "$in/pass.safetensors"
refused 2 '--give gaze has no effect' "${export[@]}" -o bad.safetensors --give gaze="$in/map.npy"
refused 2 '--give gaze is of one image' "${export[@]}" "$in/other.png" -o bad.safetensors --scorer "$in/gazed.safetensors" --give gaze="$in/map.npy"
refused 1 'nan.npy: .*not finite' "${export[@]}" -o bad.safetensors --scorer "$in/gazed.safetensors" --give gaze="$in/nan.npy"
refused 1 'photo.png: there is neither' "${export[@]}" -o bad.safetensors --masks "$work/out"

finish
