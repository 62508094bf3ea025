#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/questions.sh TVLM TVLM_SCENE [DEVICE]: features and queries as files: `tvlm select` and `tvlm channels` with
# --features, --query, --words; one clear line for whatever is wrong with them. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

generate=("$tvlm" channels ${device:+"$device"})
photo=$work/in/photo.png in=$work/in
"$scene" "$photo" 64 48 && "$scene" "$in/other.png" 95 130 || exit 1
zero='\0\0\0\0' half='\0\0\0\077' one='\0\0\200\077' two='\0\0\0\100' nan='\0\0\300\177'

select=("$tvlm" select ${device:+"$device"} "$photo" --strategy grid --weights 0,0,1 -k 1 --stride 16)
minus='\0\0\200\277' three='\0\0\100\100'

# reads WHAT PATTERN...: the JSON on stdout has these, in their order.
reads() {
    local what=$1 found
    shift
    checks=$((checks + 1))
    found=$(grep -oE '"query": [0-9]+|"cell": \[[0-9]+, ?[0-9]+\]' "$work/stdout" | tr -d ' ' | tr '\n' ' ')
    [ "$found" = "$*${*:+ }" ] || complain "$what: $found"
}

# 4 x 3 cells of 16 pixels: a 1 in the second component at (2, 1), in the third at (0, 2); all others (1, 0, 0).
cells() { for i in {0..11}; do
    case $i in 6) printf '%s' "$1$2$1" ;; 8) printf '%s' "$1$1$3" ;; *) printf '%s' "$2$1$1" ;; esac
done; }
npy "$in/features.npy" '<f4' '(3, 4, 3)' "$(cells "$zero" "$one" "$two")"
npy "$in/halves.npy" '<f2' '(3, 4, 3)' "$(cells '\0\0' '\0\074' '\0\100')"
npy "$in/second.npy" '<f4' '(3,)' "$zero$three$zero"
npy "$in/both.npy" '<f4' '(2, 3)' "$zero$one$zero$zero$zero$one"
npy "$in/both16.npy" '<f2' '(2, 3)' '\0\0\0\074\0\0\0\0\0\0\0\074'
npy "$in/mean.npy" '<f4' '(3,)' "$zero$three$minus"

echo "== queries"
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/second.npy"
reads "one query" '"cell":[2,1]'
for features in features halves; do
    for query in both both16; do
        succeeds "${select[@]}" --features "$in/$features.npy" --query "$in/$query.npy"
        reads "two queries, $features, $query" '"query":0' '"cell":[2,1]' '"query":1' '"cell":[0,2]'
    done
done
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/both.npy" -k 2 --combine max
reads "either" '"cell":[2,1]' '"cell":[0,2]'
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/both.npy" --combine mean
reads "both" '"cell":[2,1]'
# (0, 3, 0) less (0, 3, -1) is (0, 0, 1).
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/second.npy" --set query-mean="$in/mean.npy"
reads "less the mean" '"cell":[0,2]'
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/second.npy" --feature-patch 16
reads "patches of 16" '"cell":[2,1]'
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/second.npy" --feature-patch 20
reads "patches of 20" '"cell":[3,1]'
succeeds "${select[@]}" --features "$in/features.npy" --query "$in/both.npy" --overlay o.png --heatmap h.png -o two.json
checks=$((checks + 1))
[ "$(ls | tr '\n' ' ')" = "h-q0.png h-q1.png o-q0.png o-q1.png two.json " ] || complain "files: $(ls | tr '\n' ' ')"
cmp -s h-q0.png h-q1.png && complain "two queries, one heat map"
rm -f -- *

echo "== several images"
succeeds "${select[@]}" "$in/other.png" --features "$in/features.npy" --features "$in/halves.npy" \
    --query "$in/second.npy" --heatmap h.png
checks=$((checks + 1))
[ "$(ls | tr '\n' ' ')" = "h-other.png h-photo.png " ] || complain "files: $(ls | tr '\n' ' ')"
grep -q '"query": 0' "$work/stdout" || complain "no query of several images"
rm -f -- *
succeeds "${select[@]}" "$in/other.png" --features "$in/features.npy" --features "$in/halves.npy" \
    --query "$in/both.npy" --overlay o.png -o all.json
checks=$((checks + 1))
[ "$(ls | tr '\n' ' ')" = "all.json o-other-q0.png o-other-q1.png o-photo-q0.png o-photo-q1.png " ] ||
    complain "files: $(ls | tr '\n' ' ')"
rm -f -- *

echo "== channels"
succeeds "${generate[@]}" "$photo" -o f.npy --channels feature_0,feature_2,word_0,word_1,word_2 --size 4x3 --level 0 \
    --features "$in/features.npy" --words "$in/both.npy"
holds "feature_0" f.npy 0 1 1 1 1 1 1 0 1 0 1 1 1
holds "feature_2" f.npy 12 0 0 0 0 0 0 0 0 2 0 0 0
holds "word_0" f.npy 24 0 0 0 0 0 0 1 0 0 0 0 0
holds "word_1" f.npy 36 0 0 0 0 0 0 0 0 1 0 0 0
holds "word_2" f.npy 48 0 0 0 0 0 0 0 0 0 0 0 0
rm -f -- *

echo "== refused"
npy "$in/zero.npy" '<f4' '(2, 3)' "$one$zero$zero$zero$zero$zero"
npy "$in/nothing.npy" '<f4' '(1, 2, 3)' "$zero$zero$zero$zero$zero$zero"
npy "$in/nan.npy" '<f4' '(2, 3)' "$one$zero$zero$zero$nan$zero"
npy "$in/wide.npy" '<f4' '(4,)' "$one$one$one$one"
npy "$in/rank3.npy" '<f4' '(1, 1, 3)' "$one$one$one"
npy "$in/whole.npy" '<i4' '(3,)' "$one$one$one"
npy "$in/none.npy" '<f4' '(0, 3)' ''
npy "$in/broken.npy" '<f4' '(1, 2, 3)' "$one$one$one$one$nan$one"
npy "$in/bytes.npy" '|u1' '(1, 1, 3)' '\1\2\3'
npy "$in/means.npy" '<f4' '(2, 3)' "$one$one$one$one$one$one"
ask() { refused "$1" "$2" "${select[@]}" "${@:3}"; }
q="$in/second.npy" f="$in/features.npy"
ask 2 '--query needs --features' --query "$q"
ask 2 '--features needs --query' --features "$f"
ask 2 '--feature-patch needs --features' --feature-patch 16
ask 2 '--set query-mean needs --query' --set query-mean="$q"
ask 2 '--features is given for 2 of 1 images' --features "$f" --features "$f" --query "$q"
ask 2 '--features is given for 1 of 2 images' "$in/other.png" --features "$f" --query "$q"
ask 2 "combine: 'sum' is none of" --features "$f" --query "$q" --combine sum
ask 1 'zero.npy: query 1 is a zero vector$' --features "$f" --query "$in/zero.npy"
ask 1 'second.npy: query 0 is a zero vector, less the mean' --features "$f" --query "$q" --set query-mean="$q"
ask 1 'nan.npy: --query: value 4 is not finite' --features "$f" --query "$in/nan.npy"
ask 1 'features.npy: vectors of 3 dimensions; those of .*wide.npy have 4' --features "$f" --query "$in/wide.npy"
ask 1 'rank3.npy: --query takes D or N x D numbers; this array has 3' --features "$f" --query "$in/rank3.npy"
ask 1 'whole.npy: --query takes float32 or float16; this is int32' --features "$f" --query "$in/whole.npy"
ask 1 'none.npy: --query: a side of 0' --features "$f" --query "$in/none.npy"
ask 1 'both.npy: vectors of cells are h x w x D, .* has 2' --features "$in/both.npy" --query "$q"
ask 1 'bytes.npy: --features takes float32 or float16; this is uint8' --features "$in/bytes.npy" --query "$q"
ask 1 'broken.npy: .*value 4 .row 0, column 1, channel 1. is not finite' --features "$in/broken.npy" --query "$q"
ask 1 'nothing.npy: all features are 0' --features "$in/nothing.npy" --query "$q"
ask 1 'features.npy: .*more than a cell off' --features "$f" --query "$q" --feature-patch 30
ask 1 'means.npy: 2 vectors; the mean is one' --features "$f" --query "$q" --set query-mean="$in/means.npy"
ask 1 'wide.npy: 4 dimensions; the vectors of .*second.npy have 3' --features "$f" --query "$q" --set query-mean="$in/wide.npy"
ask 1 'absent.npy' --features "$in/absent.npy" --query "$q"
refused 1 "cannot open .*absent.safetensors" "$tvlm" select ${device:+"$device"} "$photo" --features "$f" --query "$q" --scorer "$in/absent.safetensors"
counts "names of another file" 0 "$work/stderr" 'second.npy'
ask 1 'absent.npy' --features "$f" --query "$in/absent.npy"
ask 1 'is the input' --features "$f" --query "$q" -o "$f"
ask 1 'is the input' --features "$f" --query "$q" --overlay "$q"
make() { refused "$1" "$2" "${generate[@]}" "$photo" -o bad.npy "${@:3}"; }
make 2 '--words needs --features' --words "$q"
make 2 '--feature-patch needs --features' --feature-patch 16
make 1 'features.npy: vectors of 3 dimensions; those of .*wide.npy have 4' --channels word_0 --features "$f" --words "$in/wide.npy"
make 1 'zero.npy: query 1 is a zero vector' --channels word_0 --features "$f" --words "$in/zero.npy"
refused 2 '--features is of one image' "${generate[@]}" "$photo" "$photo" -o bad.npy --features "$f"
refused 1 'is the input' "${generate[@]}" "$photo" -o "$f" --features "$f"

finish
