#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/codecs.sh TVLM TVLM_SCENE [DEVICE]: `tvlm-lab compress` and `select --codec`: codecs are trained, applied and folded; one
# clear line for whatever is wrong with a file. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
half='\0\0\0\077' one='\0\0\200\077' two='\0\0\0\100' zero='\0\0\0\0' nan='\0\0\300\177'
for i in a b; do "$scene" "$in/$i.png" 96 64 || exit 1; done
photo=$in/a.png
meta='\"format\":\"texturevlm.scorer\",\"channels\":\"%s\"'
scorer "$in/edges.safetensors" "$(printf "$meta" edges,saliency,eccentricity)" '[3]' "$one$half$two"
scorer "$in/other.safetensors" "$(printf "$meta" text,x)" '[2]' "$one$one"
compress() { "$lab" compress "$@" ${device:+"$device"}; }

# codec FILE CHANNELS ENCODE_SHAPE DECODE_SHAPE BYTES: both tensors hold the same bytes.
codec() {
    local header length
    length=$(printf "$5" | wc -c)
    header="{\"__metadata__\":{\"format\":\"texturevlm.codec\",\"channels\":\"$2\"},"
    header+="\"encode\":{\"dtype\":\"F32\",\"shape\":$3,\"data_offsets\":[0,$length]},"
    header+="\"decode\":{\"dtype\":\"F32\",\"shape\":$4,\"data_offsets\":[$length,$((2 * length))]}}"
    printf "\\x$(printf %02x $((${#header} & 255)))\\x$(printf %02x $((${#header} >> 8)))\0\0\0\0\0\0%s$5$5" "$header" >"$1"
}

echo "== train"
succeeds compress train "$photo" "$in/b.png" -o c.safetensors
has "$work/stdout" 'c.safetensors: 20 channels as 8 codes at level 0, from 2 images'
has "$work/stdout" 'variance kept: [0-9.]+ % \(each channel counts the same\)'
succeeds compress train "$photo" "$in/b.png" -o again.safetensors --json
same "trained twice" c.safetensors again.safetensors
has "$work/stdout" '"k": 8'
succeeds compress train "$photo" -o kept.safetensors -k 3 --channels edges,saliency,r,g,b,low --scorer "$in/edges.safetensors" \
    --weigh visual:2,saliency:0.5 --level 2
has "$work/stdout" '6 channels as 3 codes at level 2, from 1 images'
has "$work/stdout" 'as --weigh says'

echo "== apply"
codec "$in/swap.safetensors" r,g '[2,2]' '[2,2]' "$zero$two$two$zero"
printf 'P6\n2 1\n255\n\377\000\000\000\063\377' >"$in/dots.ppm"
succeeds compress apply "$in/dots.ppm" --codec "$in/swap.safetensors" -o f.npy
# Of half floats, as images are, .4 is .39990.
codes=$(values f.npy 0 4 | awk '{printf "%.3g ", $1}')
is "codes, row after row: $codes" test "$codes" = "0 2 0.4 0 "
has "$work/stdout" 'f.npy: 1 x 2 x 2, 100 % of what the 2 channels take at that size'
has "$work/stdout" '  r  *-6.5 dB' # decoded four times as large: off by 3, and by 0
succeeds compress apply "$photo" --codec kept.safetensors -o f.npy --json
has "$work/stdout" '"shape": \[16, 24, 3\]'
has "$work/stdout" '\{"name": "saliency", "psnr": [0-9.]+\}'

echo "== select"
select=("$tvlm" select ${device:+"$device"} "$photo" --strategy grid -k 6)
places() { grep -o '"x": [0-9.]*, "y": [0-9.]*' "$1"; }
succeeds compress train "$photo" "$in/b.png" -o kept.safetensors --scorer "$in/edges.safetensors" --channels edges,saliency,r,g,b,low,high -k 3
succeeds "${select[@]}" --scorer "$in/edges.safetensors" -o channels.json
succeeds "${select[@]}" --scorer "$in/edges.safetensors" --codec kept.safetensors -o codes.json
same "positions of a scorer that was kept" <(places channels.json | sort) <(places codes.json | sort)
succeeds "$tvlm" select ${device:+"$device"} "$photo" -k 20 --emphasis 3 --scorer "$in/edges.safetensors" --codec kept.safetensors -o budget.json
succeeds "${select[@]}" --scorer "$in/edges.safetensors" --codec c.safetensors --explain why.json -o explained.json
has why.json code_7

echo "== fold"
scorer "$in/plain.safetensors" "$(printf "$meta" edges,r)" '[2]' "$one$half"
succeeds compress train "$photo" -o plain.safetensors --channels edges,r,g,b,low --scorer "$in/plain.safetensors" -k 2
succeeds compress apply "$photo" --codec plain.safetensors -o f.npy
succeeds compress fold "$in/plain.safetensors" --codec plain.safetensors -o folded.safetensors
has folded.safetensors 'feature_0,feature_1'
succeeds "${select[@]}" --scorer "$in/plain.safetensors" -o channels.json
succeeds "${select[@]}" --scorer folded.safetensors --features f.npy -o codes.json
same "positions of codes that were kept" <(places channels.json | sort) <(places codes.json | sort)

echo "== wrong usage"
refused 2 'is none of train, apply, fold' compress squeeze "$photo" -o x
refused 2 'apply takes one IMAGE' compress apply "$photo" "$photo" --codec c.safetensors -o x.npy
refused 2 '-o FILE is missing' compress train "$photo"
refused 2 'codec C.safetensors is missing' compress apply "$photo" -o x.npy
refused 2 'codec is of apply and fold' compress train "$photo" --codec c.safetensors -o x.safetensors
refused 2 'and --scorer are of train' compress apply "$photo" --codec c.safetensors -k 3 -o x.npy
refused 2 'are of train and apply' compress fold "$in/plain.safetensors" --codec c.safetensors --feature-patch 16 --features f.npy -o x.safetensors
refused 2 'feature-patch needs --features' compress train "$photo" --feature-patch 16 -o x.safetensors
refused 2 'features is given for 1 of 2' compress train "$photo" "$in/b.png" --features f.npy -o x.safetensors
refused 2 "'edges=2' is not NAME:W" compress train "$photo" --weigh edges=2 -o x.safetensors
refused 2 "'edges:0' is not NAME:W" compress train "$photo" --weigh edges:0 -o x.safetensors
refused 2 "'text' is none of the codec's channels" compress train "$photo" --weigh text:2 -o x.safetensors
refused 2 "edgy" compress train "$photo" --channels edgy -o x.safetensors
refused 2 'codec needs a --scorer' "${select[@]}" --codec c.safetensors
refused 2 'exclude each other: an image has one of them' "${select[@]}" --scorer "$in/edges.safetensors" --codec c.safetensors \
    --network c.safetensors
refused 1 'a codec of x: it is a formula' compress train "$photo" --channels r,x -o x.safetensors
refused 1 'a codec of cluster_id: it is an identifier' compress train "$photo" --channels r,cluster_id -o x.safetensors
refused 1 'a.png: the codec is of motion, for which the image has no input' compress train "$photo" --channels r,motion -o x.safetensors
refused 1 '9 codes for 2 channels' compress train "$photo" --channels r,g -k 9 -o x.safetensors
refused 1 'a codec of other channels: the scorer reads text' compress train "$photo" --scorer "$in/other.safetensors" -o x.safetensors

echo "== bad files"
codec "$in/felt.safetensors" edges,feature_0 '[2,2]' '[2,2]' "$one$zero$zero$one"
refused 1 'a.png: the codec is of feature_0, for which the image has no input' "${select[@]}" --scorer "$in/plain.safetensors" \
    --codec "$in/felt.safetensors"
refused 1 'a.png: the codec is of feature_0, for which' compress apply "$photo" --codec "$in/felt.safetensors" -o x.npy
refused 1 'swap.safetensors: a codec of other channels: the scorer reads text and others' "${select[@]}" \
    --scorer "$in/other.safetensors" --codec "$in/swap.safetensors"
refused 1 'swap.safetensors: a codec of other channels' compress fold "$in/other.safetensors" --codec "$in/swap.safetensors" -o x.safetensors
try() {
    codec "$in/bad.safetensors" "${@:2}"
    refused 1 "bad.safetensors: $1" compress apply "$photo" --codec "$in/bad.safetensors" -o x.npy
}
try "there is no channel 'green'" r,green '[2,2]' '[2,2]' "$one$zero$zero$one"
try "it names 1 channels, and 'encode' is for 2" r '[2,2]' '[2,2]' "$one$zero$zero$one"
try "'decode' has not the shape that 'encode' asks for" r,g '[2,2]' '[4,1]' "$one$zero$zero$one"
try "there is no tensor 'encode' of shape" r '[2,1]' '[2,1]' "$one$one"
try 'a codec: number 1 of its encode is not finite' r,g '[2,2]' '[2,2]' "$one$nan$zero$one"
refused 1 'is not a codec' compress apply "$photo" --codec "$in/edges.safetensors" -o x.npy
refused 1 'none.safetensors' compress apply "$photo" --codec "$in/none.safetensors" -o x.npy
finish
