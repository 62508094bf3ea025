#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/pool.sh TVLM TVLM_SCENE LAYER: `tvlm select` with several devices: two of the reference, and two that PoCL makes of
# one CPU. The same text and files as of one device, in the same order; errors; a device that is lost.
layer=$(realpath -e "$3") || exit 1
set -- "$1" "$2" reference
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

photos=()
for i in 0 1 2 3 4 5 6; do
    "$scene" "$work/in/p$i.png" $((90 + 20 * (i % 3))) $((70 + 6 * i)) || exit 1
    photos+=("$work/in/p$i.png")
done
one='\0\0\200\077' zero='\0\0\0\0'
npy "$work/in/f.npy" '<f4' '(1, 2, 2)' "$one$zero$zero$one"
npy "$work/in/q.npy" '<f4' '(2, 2)' "$one$zero$one$one"
npy "$work/in/wide.npy" '<f4' '(1, 1, 3)' "$one$one$one"
features=()
for _ in "${photos[@]}"; do features+=(--features "$work/in/f.npy"); done

# both DEVICES ALONE OPTION...: the same with several devices as with one of them.
both() {
    local devices=$1 alone=$2
    shift 2
    rm -rf "${work:?}/out/"* "$work/alone" && mkdir "$work/alone"
    succeeds "$tvlm" select --device "$alone" "${photos[@]}" "$@"
    cp "$work/stdout" "$work/in/alone.json"
    [ -z "$(ls)" ] || mv -- * "$work/alone"
    succeeds "$tvlm" select --device "$devices" "${photos[@]}" "$@"
    same "$devices: $*" "$work/stdout" "$work/in/alone.json"
    checks=$((checks + 1))
    diff -r "$work/out" "$work/alone" >/dev/null || complain "$devices: other files: $*"
}

echo "== the same as one device"
both reference,reference reference -k 9
both reference,reference reference -k 9 --strategy grid --overlay o.png --heatmap h.png --explain e.json --patches p.npy
both reference,reference reference -k 9 --jsonl
both reference,reference reference -k 9 --strategy grid --jsonl --jobs 3 --patches p.npy
both reference,reference,reference reference -k 5 --strategy grid "${features[@]}" --query "$work/in/q.npy"
both reference,reference reference -k 5 "${features[@]}" --query "$work/in/q.npy" --basis image --components 2
photos+=("$work/in/p1.png" "$work/in/p1.png")
both reference,reference reference -k 5 --strategy cascade
photos=("${photos[@]:0:7}")
rm -f -- *
succeeds env TVLM_DEVICE=reference,reference "$tvlm" select "${photos[0]}" -k 3
has "$work/stdout" '"device": "reference"'

echo "== errors"
echo no photo >"$work/in/broken.png"
several=("$tvlm" select --device reference,reference -k 4)
refused 1 'broken.png' "${several[@]}" "$work/in/broken.png" "${photos[@]}"
refused 1 'broken.png' "${several[@]}" "${photos[@]}" "$work/in/broken.png" "$work/in/none.png"
refused 1 'p0.png: .*--fixation 500,5 lies outside' "${several[@]}" --strategy foveated --fixation 500,5 "${photos[@]}"
refused 1 'wide.npy: ' "${several[@]}" "${photos[0]}" "${photos[1]}" --features "$work/in/f.npy" --features "$work/in/wide.npy" \
    --query "$work/in/q.npy"
# Of lines what was done stays, and what fails is a line among those of two devices.
rc=0
"${several[@]}" "${photos[@]:0:3}" "$work/in/broken.png" "${photos[@]:3}" --jsonl --skip-errors >"$work/stdout" 2>"$work/stderr" || rc=$?
is "exit $rc with a line about an error" test $rc -eq 3
"$tvlm" select --device reference -k 4 "${photos[@]}" --jsonl >"$work/in/lines.jsonl"
same "lines beside one about an error" <(grep -v '"error"' "$work/stdout") "$work/in/lines.jsonl"
is "the line about an error" test "$(sed -n 4p "$work/stdout" | grep -c '"error"')" -eq 1
refused 1 "no device 'nobody'|no OpenCL device" "$tvlm" select --device reference,nobody "${photos[0]}"
refused 1 'a name of 0 bytes' "$tvlm" select --device reference, "${photos[0]}"
# Of a batch what was written before the error stays, as with one device.
"${several[@]}" "${photos[0]}" "$work/in/broken.png" --overlay o.png >/dev/null 2>&1
checks=$((checks + 1))
[ "$(ls)" = o-p0.png ] || complain "after an error there is '$(ls | tr '\n' ' ')'"
rm -f -- *

echo "== two devices of PoCL"
export POCL_DEVICES="pthread pthread" RUSTICL_ENABLE=
if [ "$("$tvlm" devices --json 2>/dev/null | grep -c '"type": "cpu"')" -ne 2 ]; then
    echo "no two devices of PoCL"
    finish
    exit
fi
both all 0 -k 9 --strategy grid
cp "$work/in/alone.json" "$work/in/expected.json"
both all 0 -k 9 --strategy grid --jsonl
cp "$work/in/alone.json" "$work/in/expected.jsonl"
lost=0
for n in 700 1500 2500; do
    rc=0
    env OPENCL_LAYERS="$layer" TVLM_LAYER_LOSE=$n "$tvlm" select --device 0,1 "${photos[@]}" -k 9 --strategy grid \
        >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq 0 ] || complain "exit $rc where the device of call $n is lost"
    same "device lost at call $n" "$work/stdout" "$work/in/expected.json"
    env OPENCL_LAYERS="$layer" TVLM_LAYER_LOSE=$n "$tvlm" select --device 0,1 "${photos[@]}" -k 9 --strategy grid --jsonl \
        >"$work/out.jsonl" 2>/dev/null || complain "exit $? with --jsonl where the device of call $n is lost"
    same "device lost at call $n, --jsonl" "$work/out.jsonl" "$work/in/expected.jsonl"
    lost=$((lost + $(grep -c '^tvlm: warning: .*jobs go to the 1 other device' "$work/stderr")))
done
checks=$((checks + 1))
[ $lost -gt 0 ] || complain "no device was lost"
finish
