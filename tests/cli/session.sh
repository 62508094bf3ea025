#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/session.sh TVLM TVLM_SCENE [DEVICE]: `tvlm select` with --strategy cascade and exhaustive, and with photos that
# it has seen: what the JSON says of both, what -v counts, what is refused;
# positions that differ, and why they were chosen. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

a=$work/in/a.png b=$work/in/b.png
"$scene" "$a" 160 120 && "$scene" "$b" 96 130 && cp "$a" "$work/in/again.png" || exit 1
select=("$tvlm" select ${device:+"$device"} --strategy grid -k 5)
zero='\0\0\0\0' one='\0\0\200\077'
cells=; for i in {0..11}; do
    if [ "$i" = 6 ]; then cells=$cells$zero$one$zero; else cells=$cells$one$zero$zero; fi
done
npy "$work/in/f.npy" '<f4' '(3, 4, 3)' "$cells"
npy "$work/in/g.npy" '<f4' '(1, 1, 3)' "$zero$one$zero"
npy "$work/in/q.npy" '<f4' '(2, 3)' "$zero$one$zero$one$zero$zero"

# keeps PATTERN COMMAND...: exit 0, and with -v a line on stderr that fits.
keeps() {
    local pattern=$1 rc=0
    shift
    "$@" -v >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq 0 ] || complain "exit $rc: $*"
    grep -qE "$pattern" "$work/stderr" || complain "no '$pattern': $*"
}

echo "== strategies"
succeeds "${select[@]}" "$a" --strategy cascade
has "$work/stdout" '"strategy": "cascade"'
has "$work/stdout" '"name": "regions", "candidates": [0-9]+, "kept": [0-9]+, "bytes": [1-9]'
has "$work/stdout" '"name": "cells", "candidates": [0-9]+, "kept": 5, "bytes": [1-9]'
has "$work/stdout" '"cell": \[[0-9]+, ?[0-9]+\]'
succeeds "${select[@]}" "$a" --strategy cascade --set keep-regions=1 --set cull-distance=2 --overlay o.png --heatmap h.png
checks=$((checks + 1))
[ "$(ls | tr '\n' ' ')" = "h.png o.png " ] || complain "files: $(ls | tr '\n' ' ')"
rm -f -- *
succeeds "${select[@]}" "$a" --strategy cascade --features "$work/in/f.npy" --query "$work/in/q.npy" --weights 0,0,1
has "$work/stdout" '"query": 0'
has "$work/stdout" '"query": 1'
checks=$((checks + 1))
[ "$(grep -c '"name": "regions"' "$work/stdout")" = 2 ] || complain "stages of two questions"
succeeds "${select[@]}" "$a" --strategy exhaustive --level 3 --overlay o.png --patch-scores s.npy
has "$work/stdout" '"name": "cells", "candidates": 300, "kept": 5'
rm -f -- *
succeeds "${select[@]}" "$a" --strategy exhaustive
has "$work/stdout" '"name": "cells", "candidates": 19200, "kept": 5'
succeeds "${select[@]}" "$a" --strategy quadtree
checks=$((checks + 1))
grep -q '"stages"' "$work/stdout" && complain "stages of a quadtree"

echo "== positions that differ, and why they were chosen"
succeeds "${select[@]}" "$a"
cp "$work/stdout" "$work/in/plain.json"
succeeds "${select[@]}" "$a" --diversity 0
same "no diversity" "$work/stdout" "$work/in/plain.json"
for strategy in grid cascade "exhaustive --level 2"; do
    succeeds "${select[@]}" "$a" --strategy $strategy --diversity 0.8
    grep -o '"x": [^l]*' "$work/stdout" >"$work/in/apart"
    succeeds "${select[@]}" "$a" --strategy $strategy
    checks=$((checks + 1))
    grep -o '"x": [^l]*' "$work/stdout" | cmp -s - "$work/in/apart" && complain "$strategy: diversity changes nothing"
done
succeeds "${select[@]}" "$a" "$b" --explain why.json
checks=$((checks + 1))
[ "$(ls | tr '\n' ' ')" = "why-a.json why-b.json " ] || complain "files: $(ls | tr '\n' ' ')"
cp why-a.json "$work/stdout"
has "$work/stdout" '"score": 0\.[0-9]+, "channels": \[\{"name": "entropy", "value": [-0-9.e]+, "weight": [-0-9.e]+, "share": [-0-9.e]+\}, \{"name": "edges"'
checks=$((checks + 1))
# The shares and the constant are the score.
grep '"channels"' why-a.json | sed 's/"share": /\nS /g; s/"constant": /\nS /; s/"score": /\nT /' | awk '
    $1 == "T" { check(); score = $2 + 0; sum = 0; n++ }
    $1 == "S" { sum += $2 + 0 }
    function check() { if (n && (sum - score) ^ 2 > 1e-10) bad = 1 }
    END { check(); exit bad || n != 5 }' || complain "shares do not add up to the scores"
rm -f -- *
succeeds "${select[@]}" "$a" --explain why.png --strategy quadtree
checks=$((checks + 1))
[ "$(head -c 4 why.png | tail -c 3)" = PNG ] || complain "why.png is no picture"
rm -f -- *

echo "== sessions"
ln "$a" "$work/in/link.png"
keeps 'session: 2 hits, 1 misses, 0 evictions; 1 stacks of [1-9][0-9]* bytes' \
    "${select[@]}" "$a" "$b" "$a" "$work/in/again.png" "$work/in/link.png" # only what is named twice is kept
keeps 'session: 0 hits, 2 misses, 2 evictions; 0 stacks of 0 bytes kept, at most 1$' \
    "${select[@]}" "$a" "$b" "$a" --set cache-bytes=1
cp "$work/stdout" "$work/in/without.json"
succeeds "${select[@]}" "$a" "$b" "$a"
checks=$((checks + 1))
cmp -s "$work/stdout" "$work/in/without.json" || complain "kept or not, answers are the same"
features=(--query "$work/in/q.npy" --features "$work/in/f.npy" --features "$work/in/f.npy" --features "$work/in/g.npy")
keeps 'session: 1 hits, 2 misses' "${select[@]}" "$a" "$a" "$a" "${features[@]}" # other features, another stack

"${select[@]}" "$a" "$b" "$work/in/again.png" -v >"$work/stdout" 2>"$work/stderr"
checks=$((checks + 1))
grep -q 'session:' "$work/stderr" && complain "a stack is kept of a file that is named once"

echo "== refused"
ask() { refused "$1" "$2" "${select[@]}" "$a" "${@:3}"; }
ask 2 '--level is for --strategy exhaustive' --level 2
ask 2 '--stride is for --strategy grid or foveated or quadtree or cascade, not for exhaustive' --strategy exhaustive --stride 8
ask 2 '--set keep-regions is for --strategy cascade' --set keep-regions=3
ask 2 '--set cull-distance is for --strategy cascade' --set cull-distance=0.5
ask 2 'keep-regions' --strategy cascade --set keep-regions=0
ask 2 'cache-bytes' --set cache-bytes=0
ask 2 '--diversity' --diversity 1.5
ask 2 '--diversity is for --strategy grid or exhaustive or cascade, not for quadtree' --strategy quadtree --diversity 0.5
ask 2 '--diversity is not for --set cover' --strategy cascade --set cover --diversity 0.5
ask 2 'a name that ends in .json or .png' --explain why.txt
ask 1 'a.png: is the input' --explain "$a"
ask 1 'level 8 of an image of 8 levels' --strategy exhaustive --level 8
ask 1 'only 80 candidates' --strategy cascade -k 81

finish
