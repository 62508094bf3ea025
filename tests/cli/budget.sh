#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/budget.sh TVLM TVLM_SCENE [DEVICE]: `tvlm select --strategy budget`: that it is the default, what the JSON says,
# pictures, crops, what is refused. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

photo=$work/in/photo.png
"$scene" "$photo" 320 208 || exit 1
printf 'P5 64 48 255\n' >"$work/in/white.pgm" && head -c 3072 /dev/zero | tr '\0' '\377' >>"$work/in/white.pgm"
usual=("$tvlm" select ${device:+"$device"})
select=("${usual[@]}" --strategy budget)

echo "== the default"
succeeds "${select[@]}" "$photo" -k 40 -o named.json
succeeds "${usual[@]}" "$photo" -k 40 -o usual.json
same "budget is the default" named.json usual.json
succeeds "${usual[@]}" "$photo"
counts "the default count is 273, or all" 260 "$work/stdout" '"x"'
succeeds "${usual[@]}" "$photo" -k 40 --overview .2
has "$work/stdout" '"strategy": "grid"'
succeeds "${usual[@]}" "$photo" -k 40 --overview 0
has "$work/stdout" '"strategy": "grid"'
for option in "--stride 8" "--set min-distance=3" "--weights 1,1,0" "--diversity .5"; do
    refused 2 "$(named "$option") is for --strategy grid.*, not for budget, which is the default" "${usual[@]}" "$photo" $option
done
refused 2 "share is for --strategy budget, not for grid \(" "${usual[@]}" "$photo" --overview .2 --share .5
rm -f ./*

echo "== what comes out"
succeeds "${select[@]}" "$photo" -k 40 -o o.json --overlay o.png --heatmap h.png --patches p.npy --patch-scores s.npy
has o.json '"strategy": "budget"'
has o.json '"thumbnail": \[[0-9]+, [0-9]+\]'
counts "positions" 40 o.json '"x"'
columns=$(sed -nE 's/.*"thumbnail": \[([0-9]+), .*/\1/p' o.json) rows=$(sed -nE 's/.*"thumbnail": \[[0-9]+, ([0-9]+).*/\1/p' o.json)
cells=$((columns * rows - $(grep -cE '^ *\[[0-9]+, [0-9]+\],?$' o.json || true)))  # without those that are empty
counts "cells of the thumbnail" $cells o.json '"x".*"height": [0-9.]+}'
checks=$((checks + 1))
[ "$(grep '"x"' o.json | head -$cells | grep -c '"height"')" -eq $cells ] ||
    complain "the thumbnail does not come first"
checks=$((checks + 1))
grep -aq '(40, 3, 16, 16)' p.npy || complain "no 40 patches"
checks=$((checks + 1))
grep -aq '(260,)' s.npy || complain "no score for each of 20 x 13 tiles"
succeeds "${select[@]}" "$photo" --share .1 -o share.json
counts "a tenth of 260 patches" 26 share.json '"x"'
succeeds "${select[@]}" "$photo" --tolerance .2 -o tolerance.json
has tolerance.json '"loss": 0\.[01]'
succeeds "${select[@]}" "$photo" --tolerance auto -o auto.json
succeeds "${select[@]}" "$photo" --tolerance .03 -o named.json
same "auto is the tolerance that keeps what can be read" auto.json named.json
succeeds "${select[@]}" "$photo" --tolerance 0 -o none.json
before=$(grep -c '"x"' none.json)
for tolerance in .000001 .001 .01 .05 .3 1; do
    succeeds "${select[@]}" "$photo" --tolerance $tolerance -o more.json
    checks=$((checks + 1))
    [ "$(grep -c '"x"' more.json)" -le "$before" ] || complain "a tolerance of $tolerance takes more than one before it"
    before=$(grep -c '"x"' more.json)
done
refused 2 "--tolerance: 'much' is not a number" "${select[@]}" "$photo" --tolerance much
succeeds "${select[@]}" "$photo" -k 1000 -o all.json
counts "all patches" 260 all.json '"level": 0, .*"size": 16}'
succeeds "${select[@]}" "$photo" -k 60 -o plain.json
succeeds "${select[@]}" "$photo" -k 60 --emphasis 50 -o saliency.json
succeeds "${select[@]}" "$photo" -k 60 --emphasis 50:edges -o edges.json
for other in saliency edges; do
    checks=$((checks + 1))
    cmp -s <(grep '"x"' plain.json) <(grep '"x"' $other.json) && complain "an emphasis on $other changes nothing"
done
succeeds "${select[@]}" "$photo" -k 60 --emphasis 0 -o none.json
same "an emphasis of 0 is none" plain.json none.json
one='\0\0\200\077'
scorer "$work/in/edges.safetensors" '"format":"texturevlm.scorer","channels":"edges"' '[1]' "$one"
succeeds "${select[@]}" "$photo" -k 60 --scorer "$work/in/edges.safetensors" -o scored.json
has scored.json '"layout": "edges"'
checks=$((checks + 1))
cmp -s <(grep '"x"' plain.json) <(grep '"x"' scored.json) && complain "a scorer changes nothing"
has plain.json '"layout": "r,g,b"'
has saliency.json '"layout": "saliency"'
rm -f ./*

succeeds "${select[@]}" "$photo" -k 60 --explain why.json -o o.json
counts "reasons" 60 why.json '"before": [0-9.e-]+, "after": [0-9.e-]+'
succeeds "${select[@]}" "$photo" -k 60 --explain why.png --overlay o.png -o o.json
is "the pictures are the same" test "$(cksum <why.png)" != "$(cksum <o.png)"
rm -f ./*

echo "== sides of tokens"
for side in 4 7 14 28 42 63; do
    all=$((((320 + side - 1) / side) * ((208 + side - 1) / side)))
    succeeds "${select[@]}" "$photo" -k $((all / 2)) --patch $side -o o.json --overlay o.png --crops . --patches p.npy \
        --set patch-size=$side --patch-scores s.npy
    counts "positions of side $side" $((all / 2)) o.json '"x"'
    is "a patch has $side pixels a side" grep -aqF "($((all / 2)), 3, $side, $side)" p.npy
    is "a score for each of $all tiles" grep -aqF "($all,)" s.npy
    checks=$((checks + 1))
    awk -v RS='[{},]' '/"loss":/ {loss = $2} /"downsampled":/ {other = $2} END {exit !(loss > 0 && loss <= other)}' o.json ||
        complain "side $side loses more than downsampling"
    rm -f ./*
done

echo "== nothing lost"
succeeds "${select[@]}" "$work/in/white.pgm" --tolerance 0 -o white.json
counts "tokens of a white page" 1 white.json '"x"'
counts "duplicates" 11 white.json '^ *\[[0-9]+, [0-9]+, 0, 0\]'
rm -f ./*

echo "== crops"
mkdir crops
succeeds "${select[@]}" "$photo" -k 60 --crops crops -o o.json
has crops/photo.json '"thumbnail": {"file": "photo-thumbnail.png", "x": 0, "y": 0, "width": 320, "height": 208}'
counts "crops" "$(($(find crops -name 'photo-[0-9]*.png' | wc -l)))" crops/photo.json '"level"'
has crops/photo.json '"file": "photo-0.png"'
rm -rf ./*
# Two images of one name would have the same files: none is computed, and no name is an input's.
mkdir crops other && cp "$photo" other/photo.png && cp "$photo" crops/photo-0.png && before=$(cksum <crops/photo-0.png)
refused 2 'crops/photo.json would be written for two images' "${select[@]}" "$photo" other/photo.png -k 60 --crops crops -o o.json
is "nothing is written of them" test "$(ls crops)" = photo-0.png
refused 2 '--output and --crops name the same file' "${select[@]}" "$photo" -k 60 --crops crops -o crops/photo.json
refused 1 'photo-0.png: is the input' "${select[@]}" "$photo" crops/photo-0.png -k 60 --crops crops -o o.json
is "the input is what it was" test "$(cksum <crops/photo-0.png)" = "$before"
refused 1 'there is no folder nowhere' "${select[@]}" "$photo" -k 60 --crops nowhere -o o.json
rm -rf ./*

echo "== what is refused"
zero='\0\0\0\0'
npy "$work/in/f.npy" '<f4' '(1, 1, 2)' "$one$zero" && npy "$work/in/two.npy" '<f4' '(2, 2)' "$one$zero$zero$one"
refused 2 '-k, --share and --tolerance exclude' "${select[@]}" "$photo" -k 4 --share .5
refused 2 '-k, --share and --tolerance exclude' "${select[@]}" "$photo" --tolerance .1 --share .5
refused 2 '--share: 0 is not in' "${select[@]}" "$photo" --share 0
refused 2 '--share: 1.5 is not in' "${select[@]}" "$photo" --share 1.5
refused 1 'photo.png: .*less than one patch' "${select[@]}" "$photo" --share .001
refused 2 '-k: 0 is not in' "${select[@]}" "$photo" -k 0
refused 2 '--tolerance: -1 is not in' "${select[@]}" "$photo" --tolerance -1
refused 2 '--emphasis x: a number' "${select[@]}" "$photo" --emphasis x
refused 2 '--emphasis -1: a number' "${select[@]}" "$photo" --emphasis -1
refused 2 '--emphasis 1e30: a number from 0 to 1e9' "${select[@]}" "$photo" --emphasis 1e30
refused 2 "there is no channel 'nothing'" "${select[@]}" "$photo" --emphasis 2:nothing
refused 2 "there is no channel ''" "${select[@]}" "$photo" --emphasis 2:
refused 1 'photo.png: .*depth.*has no input' "${select[@]}" "$photo" --emphasis 2:depth -o o.json
refused 2 "unknown option '--preset'" "${select[@]}" "$photo" --preset document
refused 2 'emphasis 2:text and --scorer exclude each other' "${select[@]}" "$photo" --emphasis 2:text --scorer "$work/in/edges.safetensors"
refused 2 'emphasis 2:text and --scores exclude each other' "${select[@]}" "$photo" --emphasis 2:text --scores s.npy
refused 2 'emphasis 2:text and --query exclude each other' "${select[@]}" "$photo" --emphasis 2:text --features f.npy --query q.npy
refused 2 'crops takes one query' "${select[@]}" "$photo" --features "$work/in/f.npy" --query "$work/in/two.npy" --crops .
for side in 3 65 14.5; do
    refused 1 "photo.png: a patch of $side pixels; for budget it is a whole number from 4 to 64" "${select[@]}" "$photo" --patch $side
done
for option in "--stride 8" "--set min-distance=3" "--overview .2" "--weights 1,1,0" "--fixation 3,3" "--e0 .3" "--level 1" \
    "--set keep-regions=3" "--set cull-distance=.5" "--set cover" "--set arrangement=log-polar" "--set arrangement=sunflower"; do
    refused 2 "$(named "$option") is for --strategy .*, not for budget" "${select[@]}" "$photo" $option
done
for option in "--share .5" "--tolerance .1" "--emphasis 2" "--crops ."; do
    refused 2 "${option%% *} is for --strategy budget" "$tvlm" select ${device:+"$device"} "$photo" --strategy grid $option
done

finish
