#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/attend.sh TVLM TVLM_SCENE [DEVICE]: `tvlm-lab attend`: what it writes, that each option does something, and one clear
# line for whatever is wrong. What comes out is compared with NumPy in tests/python/check_attend.py. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
zero='\0\0\0\0' half='\0\0\0\077' one='\0\0\200\077' two='\0\0\0\100' nan='\0\0\300\177'

# 4 x 4 keys of 2 numbers, the first of which grows from the left to the right, and 4 x 4 values of 4.
keys='' values=''
for i in {0..3}; do
    keys+="$zero$one$half$zero$one$half$two$two"
    values+="$one$zero$zero$one$two$one$zero$one$zero$two$one$one$two$two$two$half"
done
npy "$in/keys.npy" '<f4' '(4, 4, 2)' "$keys"
npy "$in/values.npy" '<f4' '(4, 4, 4)' "$values"
npy "$in/queries.npy" '<f4' '(2, 2)' "$two$one$one$zero"
npy "$in/one.npy" '<f4' '(2,)' "$two$one"
npy "$in/three.npy" '<f4' '(3,)' "$two$one$one"
npy "$in/nan.npy" '<f4' '(2,)' "$two$nan"
npy "$in/flat.npy" '<f4' '(16, 2)' "$keys"
npy "$in/few.npy" '<f4' '(2, 4, 2)' "${keys:0:0}$zero$one$half$zero$one$half$two$two$zero$one$half$zero$one$half$two$two"
attend=("$lab" attend ${device:+"$device"} "$in/keys.npy" --queries "$in/queries.npy")

echo "== what is written"
succeeds "${attend[@]}" -o out.npy --map map.npy --picture map.png
is "not 2 x 2 numbers" test "$(wc -c <out.npy)" -eq $((128 + 2 * 2 * 4))
is "not a map of 4 x 4" test "$(wc -c <map.npy)" -eq $((128 + 4 * 4 * 4))
is "no picture" grep -q PNG map.png
succeeds "${attend[@]}" --values "$in/values.npy" -o values.npy
is "not 2 x 4 numbers" test "$(wc -c <values.npy)" -eq $((128 + 2 * 4 * 4))
succeeds "$lab" attend ${device:+"$device"} "$in/keys.npy" --queries "$in/one.npy" -o single.npy
is "not 1 x 2 numbers" test "$(wc -c <single.npy)" -eq $((128 + 2 * 4))
says '"bytes": 1[,}]*' "${attend[@]}" --json
says '"keys_read": 8' "${attend[@]}" --level 1 --fine 0.25 --json
says '"values_read": 7' "${attend[@]}" --level 1 --fine 0.25 --json
# The map is what --give attention takes.
"$scene" "$in/photo.png" 64 64 || exit 1
succeeds "$tvlm" channels ${device:+"$device"} "$in/photo.png" --give attention=map.npy --channels attention -o seen.npy

echo "== each option does something"
succeeds "${attend[@]}" --level 1 --fine 0.25 -o coarse.npy
differ "--level has no effect" out.npy coarse.npy
succeeds "${attend[@]}" --level 1 --fine 0.75 -o fine.npy
differ "--fine has no effect" coarse.npy fine.npy
succeeds "${attend[@]}" --level 1 -o default.npy
same "the share is a fifth, of four cells one" coarse.npy default.npy
succeeds "${attend[@]}" --level 1 --fine 0.25 --mix 0.7 -o mix.npy
differ "--mix has no effect" coarse.npy mix.npy
succeeds "${attend[@]}" --level 2 --fine 0.5 -o direct.npy
succeeds "${attend[@]}" --level 2 --fine 0.5 --steps -o steps.npy
differ "--steps has no effect" direct.npy steps.npy
succeeds "${attend[@]}" --heads 2 -o heads.npy
differ "--heads has no effect" out.npy heads.npy
succeeds "${attend[@]}" --scale 3 -o scale.npy
differ "--scale has no effect" out.npy scale.npy

echo "== what is refused"
refused 2 '--queries is missing' "$lab" attend ${device:+"$device"} "$in/keys.npy" -o bad.npy
refused 2 'nothing to write' "${attend[@]}"
refused 2 '--format u8 holds no vectors' "${attend[@]}" --format u8 -o bad.npy
refused 2 '--fine needs --level' "${attend[@]}" --fine 0.5 -o bad.npy
refused 2 '--mix needs --level' "${attend[@]}" --mix 0.5 -o bad.npy
refused 2 '--steps needs --level' "${attend[@]}" --steps -o bad.npy
refused 2 '--mix and --steps exclude each other' "${attend[@]}" --level 1 --mix 0.5 --steps -o bad.npy
refused 2 '--fine' "${attend[@]}" --level 1 --fine 0 -o bad.npy
refused 2 '--fine' "${attend[@]}" --level 1 --fine 1.5 -o bad.npy
refused 2 '--fine' "${attend[@]}" --level 1 --fine nan -o bad.npy
refused 2 '--mix' "${attend[@]}" --level 1 --mix 1 -o bad.npy
refused 2 '--level' "${attend[@]}" --level -1 -o bad.npy
refused 1 'level 3 of keys of 4 x 4 cells, which have 0 to 2' "${attend[@]}" --level 3 -o bad.npy
refused 1 '3 heads of keys of 2 dimensions' "${attend[@]}" --heads 3 -o bad.npy
refused 1 'keys of 4 x 4 cells and values of 4 x 2' "${attend[@]}" --values "$in/few.npy" -o bad.npy
refused 1 'keys.npy: .*vectors of 2 dimensions; those of .*three.npy have 3' "$lab" attend ${device:+"$device"} "$in/keys.npy" --queries "$in/three.npy" -o bad.npy
refused 1 'nan.npy' "$lab" attend ${device:+"$device"} "$in/keys.npy" --queries "$in/nan.npy" -o bad.npy
refused 1 'flat.npy: .*h x w x D.*2' "$lab" attend ${device:+"$device"} "$in/flat.npy" --queries "$in/one.npy" -o bad.npy
refused 1 'missing.npy' "$lab" attend ${device:+"$device"} "$in/missing.npy" --queries "$in/one.npy" -o bad.npy
refused 1 'keys.npy: is the input' "${attend[@]}" -o "$in/keys.npy"

finish
