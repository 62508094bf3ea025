#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/foveated.sh TVLM TVLM_SCENE [DEVICE]: `tvlm select --strategy foveated` with a query looks where the query's
# relevance has its peak: the answer is to the byte that of the same command with the peak given as the fixation. And
# `tvlm-lab logpolar`. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

photo=$work/in/photo.png in=$work/in
"$scene" "$photo" 320 240 2>/dev/null || { echo "FAILED: no scene"; exit 1; }
zero='\0\0\0\0' one='\0\0\200\077' two='\0\0\0\100'

# 16 x 12 cells of 20 pixels, as the coarse map has them: all (1, 0, 0), but for (0, 1, 0) in cell 11 of row 3, whose middle is
# at 230,70, and (1, 0, 2) in cell 2 of row 9, at 50,190: nearest to the second query, with a cosine of 0.89.
cells() { for i in {0..191}; do
    case $i in 59) printf '%s' "$zero$one$zero" ;; 146) printf '%s' "$one$zero$two" ;; *) printf '%s' "$one$zero$zero" ;; esac
done; }
npy "$in/features.npy" '<f4' '(12, 16, 3)' "$(cells)"
npy "$in/query.npy" '<f4' '(3,)' "$zero$one$zero"
npy "$in/other.npy" '<f4' '(3,)' "$zero$zero$one"
npy "$in/both.npy" '<f4' '(2, 3)' "$zero$one$zero$zero$zero$one"

select=("$tvlm" select ${device:+"$device"} "$photo" --strategy foveated -k 60 --features "$in/features.npy")

for arrangement in sunflower log-polar; do
    looking=("${select[@]}" --set arrangement=$arrangement)
    succeeds "${looking[@]}" --query "$in/query.npy" -o peak.json
    succeeds "${looking[@]}" --query "$in/query.npy" --fixation 230,70 -o given.json
    same "$arrangement, the query's peak is at 230,70" peak.json given.json
    succeeds "${looking[@]}" --query "$in/query.npy" --fixation 210,70 -o beside.json
    differ "$arrangement, a cell further" peak.json beside.json
    succeeds "${looking[@]}" --query "$in/other.npy" -o peak.json
    succeeds "${looking[@]}" --query "$in/other.npy" --fixation 50,190 -o given.json
    same "$arrangement, the other query's is at 50,190" peak.json given.json
done

# The score's other parts have no say in it; a fixation that is given has the last word.
succeeds "${select[@]}" --query "$in/query.npy" --weights 1,1,0 -o peak.json
succeeds "${select[@]}" --query "$in/query.npy" --weights 1,1,0 --fixation 230,70 -o given.json
same "weights without the query" peak.json given.json
# Each of two queries has its own peak; the larger of both is at 230,70.
succeeds "${select[@]}" --query "$in/both.npy" -o each.json
succeeds "${select[@]}" --query "$in/both.npy" --combine max -o max.json
succeeds "${select[@]}" --query "$in/both.npy" --combine max --fixation 230,70 -o given.json
same "the larger of two" max.json given.json
# The smallest square of either query's selection is where it looks.
checks=$((checks + 1))
finest=$(grep -oE '"query": [0-9]+|"x": [0-9.]+|"y": [0-9.]+|"size": [0-9.]+' each.json | awk '
    $1 == "\"query\":" { q = $2; best = 1e9 } $1 == "\"x\":" { x = $2 } $1 == "\"y\":" { y = $2 }
    $1 == "\"size\":" && $2 < best { best = $2; at[q] = x " " y }
    END { print at[0], at[1] }')
awk '{ exit !(($1 - 230)^2 + ($2 - 70)^2 < 400 && ($3 - 50)^2 + ($4 - 190)^2 < 400) }' <<<"$finest" ||
    complain "the finest squares of two queries are at $finest"

echo "== rings and sectors"
rings=("$lab" logpolar ${device:+"$device"} "$photo")
succeeds "${rings[@]}" -o rings.npy --rings 20 --sectors 36 --fixation 100,80 --picture rings.png --inverse back.png
is "not 36 x 20 x 3 numbers" test "$(wc -c <rings.npy)" -eq $((128 + 36 * 20 * 3 * 4))
succeeds "${rings[@]}" -o plain.npy --rings 20 --sectors 36 --fixation 100,80 --plain
differ "--plain has no effect" rings.npy plain.npy
succeeds "${rings[@]}" -o other.npy --rings 20 --sectors 36 --fixation 101,80
differ "--fixation has no effect" rings.npy other.npy
succeeds "${rings[@]}" -o inner.npy --rings 20 --sectors 36 --fixation 100,80 --inner 4
differ "--inner has no effect" rings.npy inner.npy
succeeds "${rings[@]}" -o outer.npy --rings 20 --sectors 36 --fixation 100,80 --outer 60
differ "--outer has no effect" rings.npy outer.npy
# The picture has the size of the array, and what comes back that of the image.
says '"sectors": 36' "${rings[@]}" -o again.npy --rings 20 --sectors 36 --fixation 100,80 --json
same "the same samples" rings.npy again.npy
succeeds "$tvlm" channels ${device:+"$device"} back.png -o back.npy --channels r
is "what came back has another size" test "$(wc -c <back.npy)" -eq $((128 + 320 * 240 * 4))
succeeds "$tvlm" channels ${device:+"$device"} rings.png -o seen.npy --channels r
is "the picture has another size" test "$(wc -c <seen.npy)" -eq $((128 + 36 * 20 * 4))
refused 2 'nothing to write' "${rings[@]}"
refused 2 '--fixation is given more than once' "${rings[@]}" -o bad.npy --fixation 1,2 --fixation 3,4
refused 2 'an inner length of 9 and an outer one of 3' "${rings[@]}" -o bad.npy --inner 9 --outer 3
refused 2 'rings' "${rings[@]}" -o bad.npy --rings 0
refused 1 'photo.png: is the input' "${rings[@]}" -o "$photo"
refused 1 'features.npy is not an image' "$lab" logpolar ${device:+"$device"} "$in/features.npy" -o bad.npy

finish
