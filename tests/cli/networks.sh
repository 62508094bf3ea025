#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/networks.sh TVLM TVLM_SCENE [DEVICE]: networks as files: their outputs as channels, on a sheet and in JSON; one
# clear line for whatever is wrong with a file. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

generate=("$tvlm" channels ${device:+"$device"})
photo=$work/in/photo.ppm in=$work/in
printf 'P6\n2 1\n255\n\377\000\000\000\000\377' >"$photo" # red, blue
half='\0\0\0\077' one='\0\0\200\077' two='\0\0\0\100' zero='\0\0\0\0' nan='\0\0\300\177'

# network FILE LAYERS OUTPUTS SHAPE BYTES [INPUTS]: a .safetensors with the tensor "0.weight".
network() {
    local header length layers=${2//\"/\\\"}
    length=$(printf "$5" | wc -c)
    header="{\"__metadata__\":{\"format\":\"texturevlm.network\",\"inputs\":\"${6-r,g,b}\",\"outputs\":\"$3\",\"layers\":\"$layers\"},"
    header+="\"0.weight\":{\"dtype\":\"F32\",\"shape\":$4,\"data_offsets\":[0,$length]}}"
    printf "\\x$(printf %02x $((${#header} & 255)))\\x$(printf %02x $((${#header} >> 8)))\0\0\0\0\0\0%s$5" "$header" >"$1"
}
layer='[{"type":"conv","name":"0"}]'

echo "== channels"
network "$in/mix.safetensors" "$layer" warm,cold '[2,3,1,1]' "$two$zero$half$zero$zero$one"
succeeds "${generate[@]}" "$photo" -o all.npy --sheet sheet.png --network "$in/mix.safetensors" --json
holds "all outputs, where no channels are named" all.npy 0 2 0.5 0 1
has "$work/stdout" '"channels": \["warm", "cold"\]'
network "$in/names.safetensors" "$layer" hot,chilly '[2,3,1,1]' "$two$zero$half$zero$zero$one"
succeeds "${generate[@]}" "$photo" -o names.npy --sheet names.png --network "$in/names.safetensors"
same "the same channels" all.npy names.npy
checks=$((checks + 1))
! cmp -s sheet.png names.png || complain "the sheet has not the network's names"
succeeds "${generate[@]}" "$photo" -o named.npy --network "$in/mix.safetensors" --channels cold,r,learned_0
holds "by name and by number" named.npy 0 0 1 1 0 2 0.5
succeeds "${generate[@]}" "$photo" -o other.npy --network "$in/mix.safetensors" --channels learned_1
network "$in/square.safetensors" "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1}]" beside '[1,1,3,3]' \
    "$zero$zero$zero$one$zero$zero$zero$zero$zero" r
succeeds "${generate[@]}" "$photo" -o beside.npy --network "$in/square.safetensors"
holds "0 beyond the border" beside.npy 0 0 1
mkdir -p ragged
printf 'P5\n2 3\n255\nabcdef' >"$work/in/small.pgm"
succeeds "${generate[@]}" "$photo" "$work/in/small.pgm" --ragged -o ragged --network "$in/mix.safetensors" --channels cold,r,learned_0
stem=$(basename "$photo")
same "a network of a ragged batch" "ragged/${stem%.*}.npy" named.npy
is "all outputs of one of 2 x 3" "${generate[@]}" "$work/in/small.pgm" --ragged -o ragged --network "$in/mix.safetensors"
succeeds "${generate[@]}" "$photo" "$photo" -o two.npy --network "$in/mix.safetensors" --channels warm
holds "several images" two.npy 0 2 0.5 2 0.5

echo "== what weighs them"
"$scene" "$in/scene.png" 64 48 || exit 1
select=("$tvlm" select ${device:+"$device"} "$in/scene.png" --strategy grid -k 6)
meta='\"format\":\"texturevlm.scorer\",\"channels\":\"%s\"'
scorer "$in/learned.safetensors" "$(printf "$meta" learned_1,learned_0)" '[2]' "$one$zero"
scorer "$in/blue.safetensors" "$(printf "$meta" b)" '[1]' "$one"
succeeds "${select[@]}" --scorer "$in/learned.safetensors" --network "$in/mix.safetensors" -o learned.json
succeeds "${select[@]}" --scorer "$in/blue.safetensors" -o blue.json
same "the score of an output that is blue" <(grep '"score"' learned.json) <(grep '"score"' blue.json)
succeeds "$tvlm" select ${device:+"$device"} "$in/scene.png" -k 20 --emphasis 3:learned_0 --network "$in/mix.safetensors" -o emphasis.json
refused 2 'learned_1 is read, which is an output of a --network' "${select[@]}" --scorer "$in/learned.safetensors"
refused 2 'network has no effect' "${select[@]}" --network "$in/mix.safetensors"
refused 1 'square.safetensors: learned_1 is read, but it has 1 outputs' "${select[@]}" --scorer "$in/learned.safetensors" \
    --network "$in/square.safetensors"
network "$in/scores.safetensors" "$layer" s '[1,3,1,1]' "$zero$zero$one"
succeeds "${select[@]}" --scorer "$in/scores.safetensors" -o scores.json
same "the score of a network that is blue" <(grep '"score"' scores.json) <(grep '"score"' blue.json)
network "$in/far.safetensors" "$layer" s '[1,3,1,1]' "$zero$zero$nan"
refused 1 'far.safetensors: layer 0 of the network: number 2 of its weights is not finite' "${select[@]}" --scorer "$in/far.safetensors"
network "$in/pool.safetensors" '[{"type":"maxpool"}]' s '[1,3,1,1]' "$zero$zero$one"
refused 1 "pool.safetensors: item 0 of its layers is a 'maxpool'; conv, relu and sigmoid are known" "${select[@]}" --scorer "$in/pool.safetensors"
network "$in/chain.safetensors" "$layer" s '[1,2,1,1]' "$zero$one"
refused 1 'chain.safetensors: layer 0 of the network reads 2 channels, but there are 3' "${select[@]}" --scorer "$in/chain.safetensors"
refused 1 'a scorer that is a network' "${select[@]}" --scorer "$in/scores.safetensors" --explain why.png
network "$in/wants.safetensors" "$layer" s '[1,1,1,1]' "$one" feature_0
refused 2 'wants.safetensors weighs feature_0: hand in --features' "${select[@]}" --scorer "$in/wants.safetensors"

scorer "$in/first.safetensors" "$(printf "$meta" learned_0)" '[1]' "$one"
network "$in/moved.safetensors" "$layer" moved '[1,1,1,1]' "$one" motion
refused 1 'the scorer weighs moved \(.*, for which the image has no input' "${select[@]}" --scorer "$in/first.safetensors" \
    --network "$in/moved.safetensors"

echo "== exports and videos"
export_=("$tvlm" tensors ${device:+"$device"} "$in/scene.png" --for qwen2-vl --json)
tokens() { succeeds "${export_[@]}" -o "$1" "${@:2}"; }
tokens learned.safetensors --scorer "$in/learned.safetensors" --network "$in/mix.safetensors"
tokens blue.safetensors --scorer "$in/blue.safetensors"
same "the tokens of an output that is blue" learned.safetensors blue.safetensors
tokens emphasis.safetensors --strategy budget --budget 3 --emphasis 3:learned_0 --network "$in/mix.safetensors"
weights='"weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}'
header="{\"__metadata__\":{\"format\":\"texturevlm.projection\",\"channels\":\"learned_1\"},$weights}"
{ printf "\\x$(printf %02x ${#header})\0\0\0\0\0\0\0%s" "$header" && printf "$one"; } >"$in/p.safetensors"
tokens projected.safetensors --projection "$in/p.safetensors" --network "$in/mix.safetensors"
has projected.safetensors visual_tokens
sed 's/learned_1/feature_0/' "$in/p.safetensors" >"$in/still.safetensors"
refused 1 'the projection reads feature_0, for which image 0 has no input' "${export_[@]}" -o bad.safetensors --projection "$in/still.safetensors"
refused 2 'learned_1 is read, which is an output of a --network' "${export_[@]}" -o bad.safetensors --projection "$in/p.safetensors"
refused 2 'learned_1 is read, which is an output of a --network' "${export_[@]}" -o bad.safetensors --scorer "$in/learned.safetensors"
refused 2 'network has no effect' "${export_[@]}" -o bad.safetensors --network "$in/mix.safetensors"
refused 1 'square.safetensors: learned_1 is read, but it has 1 outputs' "${export_[@]}" -o bad.safetensors \
    --scorer "$in/learned.safetensors" --network "$in/square.safetensors"
refused 1 'far.safetensors: layer 0 of the network: number 2' "${export_[@]}" -o bad.safetensors --scorer "$in/learned.safetensors" \
    --network "$in/far.safetensors"
"$scene" "$in/next.png" 64 48 || exit 1
video=("$tvlm" video ${device:+"$device"} "$in/scene.png" "$in/next.png" -k 6)
lines() { succeeds "${video[@]}" "${@:2}" && cp "$work/stdout" "$1"; }
lines learned.json --scorer "$in/learned.safetensors" --network "$in/mix.safetensors"
lines blue.json --scorer "$in/blue.safetensors"
same "the frames of an output that is blue" learned.json blue.json
lines moved.json --scorer "$in/first.safetensors" --network "$in/moved.safetensors"
lines emphasis.json --strategy budget --emphasis 3:learned_0 --network "$in/mix.safetensors"
scorer "$in/before.safetensors" "$(printf "$meta" learned_1@-1,r)" '[2]' "$one$zero"
lines before.json --scorer "$in/before.safetensors" --frames 2 --network "$in/mix.safetensors"
refused 2 'learned_1 is read, which is an output of a --network' "${video[@]}" --scorer "$in/before.safetensors" --frames 2
refused 2 'learned_1 is read, which is an output of a --network' "${video[@]}" --scorer "$in/learned.safetensors"
refused 2 'network has no effect' "${video[@]}" --network "$in/mix.safetensors"
refused 1 'square.safetensors: learned_1 is read, but it has 1 outputs' "${video[@]}" --scorer "$in/learned.safetensors" \
    --network "$in/square.safetensors"

echo "== what learns"
printf '0 0.5 0.5 0.4 0.4\n' >"$in/scene.txt"
succeeds "$lab" fit ${device:+"$device"} "$in/scene.png" --yolo "$in" --channels learned_0,r --network "$in/mix.safetensors" \
    -o fitted.safetensors
has fitted.safetensors 'learned_0,r'
refused 2 'network has no effect' "$lab" fit ${device:+"$device"} "$in/scene.png" --yolo "$in" --channels r \
    --network "$in/mix.safetensors" -o none.safetensors

echo "== bad files"
try() {
    network "$in/bad.safetensors" "${@:2}"
    refused 1 "bad.safetensors: $1" "${generate[@]}" "$photo" -o bad.npy --network "$in/bad.safetensors"
}
try "item 0 of its layers is a 'pool'" '[{"type":"pool"}]' a '[1,3,1,1]' "$one$one$one"
try 'layer 0 of the network reads 2 channels, but there are 3' "$layer" a '[1,2,1,1]' "$one$one"
try 'layer 0 of the network: number 1 of its weights is not finite' "$layer" a '[1,3,1,1]' "$one$nan$one"
try "two outputs of the network are named 'a'" "$layer" a,a '[2,3,1,1]' "$one$one$one$one$one$one"
try "there is no channel 'blue'" "$layer" a '[1,3,1,1]' "$one$one$one" r,g,blue
refused 1 "none.safetensors" "${generate[@]}" "$photo" -o bad.npy --network "$in/none.safetensors"
refused 1 "unknown channel 'worm'" "${generate[@]}" "$photo" -o bad.npy --network "$in/mix.safetensors" --channels worm
refused 2 "unknown channel 'warm'" "${generate[@]}" "$photo" -o bad.npy --channels warm
finish
