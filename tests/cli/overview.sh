#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/overview.sh TVLM TVLM_SCENE [DEVICE]: `tvlm select --overview`: what the JSON says, that the rest is what it would
# be alone, patches and pictures of it, what is refused. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

photo=$work/in/photo.png
"$scene" "$photo" 320 208 && printf 'P5 1 1 255\n\x7f' >"$work/in/dot.pgm" || exit 1
select=("$tvlm" select ${device:+"$device"} "$photo")
cells() { grep -o '"score.*"cell": \[[^]]*\]' "$1"; }

echo "== what comes out"
succeeds "${select[@]}" -k 40 --overview .25 -o o.json --overlay o.png --patches p.npy --set anisotropic
has o.json '"overview": \[3, *2\]' # no more than 10; 4 x 2 would be hardly finer
counts "positions" 40 o.json '"level"'
counts "squares of the overview" 6 o.json '"level": 2.7[0-9]*, .*"size": 106'
counts "cells" 34 o.json '"level": 0, .*"size": 16, "cell"'
counts "axes" 40 o.json '"axes"'
has o.json '"kept": 34'
checks=$((checks + 1))
grep -m1 '"level"' o.json | grep -q '"size": 106' || complain "the overview does not come first"
checks=$((checks + 1))
grep -aq '(40, 3, 16, 16)' p.npy || complain "no 40 patches"
succeeds "${select[@]}" --strategy grid -k 34 -o alone.json --overlay alone.png
cells o.json | sed 's/, "axes.*//' >"$work/rest"
cells alone.json >"$work/alone"
same "the rest is what it is alone" "$work/rest" "$work/alone"
has "$work/alone" cell
checks=$((checks + 1))
cmp -s o.png alone.png && complain "the picture does not show the overview"
succeeds "${select[@]}" -k 40 --overview 0 -o zero.json
succeeds "${select[@]}" --strategy grid -k 40 -o none.json
same "a share of 0 is none" zero.json none.json
for strategy in "cascade" "exhaustive --level 3"; do
    succeeds "${select[@]}" -k 40 --overview .25 --strategy $strategy -o o.json --overlay o.png
    has o.json '"overview": \[3, *2\]'
    counts "positions of $strategy" 40 o.json '"level"'
done
succeeds "$tvlm" select ${device:+"$device"} "$work/in/dot.pgm" --overview 1 -o o.json
counts "positions of one pixel" 1 o.json '"level": 0, .*"size": 16'
succeeds "$tvlm" select ${device:+"$device"} "$photo" "$work/in/dot.pgm" -k 1 --overview 1 -o o.json
counts "squares of two images" 2 o.json '"level"'
rm -f ./*

echo "== what is refused"
refused 2 '--overview: 1.5 is not in' "${select[@]}" --overview 1.5
refused 2 '--overview: -1 is not in' "${select[@]}" --overview -1
refused 2 '--overview: nan is not in' "${select[@]}" --overview nan
refused 2 "--overview: 'half' is not a number" "${select[@]}" --overview half
refused 1 'photo.png: .*0.25 of k = 3 is no position' "${select[@]}" -k 3 --overview .25 -o o.json --overlay o.png
refused 2 'for --strategy grid' "${select[@]}" --overview .25 --strategy foveated
refused 2 'for --strategy grid' "${select[@]}" --overview .25 --strategy quadtree
refused 2 'overview is not for --set cover' "${select[@]}" --overview .25 --strategy cascade --set cover

finish
