#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/platform_jobs.sh TVLM SCENE OTHER...: the tool's main jobs on another system or processor: what OTHER writes, with what runs it
# (wine64 tvlm.exe, qemu-aarch64 tvlm), is byte for byte what TVLM of this system writes, on the reference device. SCENE draws the pictures.
# Exit: 0 all is equal; 1 something is not.
set -euo pipefail
here=$(realpath "$1") scene=$(realpath "$2")
shift 2
other=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p a b frames folder/below
"$scene" "photo with a blank.png" 640 401
"$scene" "ä.png" 95 130
cp "ä.png" folder/below/one.png
# Frames that move: PPMs, each of which begins 35 pixels later in the same bytes than the one before.
seq 100000 140000 >bytes
for i in 1 2 3 4; do
    { printf 'P6\n320 240\n255\n' && dd if=bytes bs=15 skip=$((7 * i)) count=$((320 * 240 * 3 / 15)) status=none; } >"frames/$i.ppm"
done
printf '%s\r\n' "photo with a blank.png" "ä.png" >list.txt # as Windows ends lines
failed=0 count=0

# both CODE COMMAND...: both end with that code, and write the same to stdout, and to the files a/... and b/..., which stand as OUT/....
both() {
    local code=$1 got=0 wanted=0
    shift
    count=$((count + 1))
    "$here" "${@//OUT/a}" >a/stdout 2>a/stderr || wanted=$?
    "${other[@]}" "${@//OUT/b}" >b/stdout 2>b/stderr || got=$?
    if [ $got -ne "$code" ] || [ $wanted -ne "$code" ]; then
        echo "FAILED: exit $got there and $wanted here, not $code: $*: $(head -n 1 b/stderr)"
        failed=1
    elif [ "$code" -ne 0 ] && [ "$(wc -l <b/stderr)" -ne 1 ]; then
        echo "FAILED: not one line: $*"
        failed=1
    elif ! diff -rq a b -x stderr; then
        echo "FAILED: not the same: $*"
        failed=1
    fi
    rm -rf a b
    mkdir a b
}
reference=(--device reference)
both 0 select "photo with a blank.png" "${reference[@]}"
both 0 select "ä.png" -k 20 --strategy grid "${reference[@]}"
both 0 select "photo with a blank.png" --share .3 "${reference[@]}"
both 0 select --list list.txt --jsonl -k 30 "${reference[@]}"
both 0 select folder --recursive --jsonl -k 30 "${reference[@]}"
both 0 select "ä.png" -k 20 --overlay OUT/overlay.png "${reference[@]}"
both 0 channels "ä.png" -o OUT/channels.npy "${reference[@]}"
both 0 channels "ä.png" "photo with a blank.png" --each -o OUT "${reference[@]}"
both 0 tensors "photo with a blank.png" --for qwen2-vl --budget 40 -o OUT/tensors.safetensors "${reference[@]}"
both 0 video frames/1.ppm frames/2.ppm frames/3.ppm frames/4.ppm -k 20 "${reference[@]}"
both 0 video frames/1.ppm frames/2.ppm frames/3.ppm frames/4.ppm --budget 60 "${reference[@]}"
both 1 select none.png "${reference[@]}"
both 1 select folder "${reference[@]}"
both 1 select "ä.png" -o OUT/none/x.json "${reference[@]}"
both 2 select "ä.png" --no-such-option
echo "$((count - failed)) jobs of $count, $failed failed"
[ $failed -eq 0 ]
