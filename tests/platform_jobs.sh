#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/platform_jobs.sh TVLM SCENE OTHER...: the tool's main jobs on another system or processor: what OTHER writes, with what runs it
# (wine64 tvlm.exe, qemu-aarch64 tvlm), is byte for byte what TVLM of this system writes, on the reference device. SCENE draws the pictures.
# A program that ends in .exe also refuses names that Windows takes for others, each in one line, and makes nothing of that name.
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
failed=0 count=0 input=/dev/null

# both CODE COMMAND...: both end with that code, and write the same to stdout, and to the files a/... and b/..., which stand as OUT/....
both() {
    local code=$1 got=0 wanted=0
    shift
    count=$((count + 1))
    "$here" "${@//OUT/a}" <"$input" >a/stdout 2>a/stderr || wanted=$?
    "${other[@]}" "${@//OUT/b}" <"$input" >b/stdout 2>b/stderr || got=$?
    if [ $got -ne "$code" ] || [ $wanted -ne "$code" ]; then
        echo "FAILED: exit $got there and $wanted here, not $code: $*: $(head -n 1 b/stderr)"
        failed=$((failed + 1))
    elif [ "$code" -ne 0 ] && [ "$(wc -l <b/stderr)" -ne 1 ]; then
        echo "FAILED: not one line: $*: $(cat b/stderr)"
        failed=$((failed + 1))
    elif ! diff -rq a b -x stderr; then
        echo "FAILED: not the same: $*"
        failed=$((failed + 1))
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
input=ä.png
both 0 select - -k 20 --strategy grid "${reference[@]}"
both 0 select - --jsonl -k 20 "${reference[@]}"
input=/dev/null
both 1 select - "${reference[@]}"
both 2 select "ä.png" --json=yes "${reference[@]}"
both 1 select none.png "${reference[@]}"
both 1 select folder "${reference[@]}"
both 1 select "ä.png" -o OUT/none/x.json "${reference[@]}"
both 2 select "ä.png" --no-such-option
# A path of more than the 260 characters that Windows once had.
long=$(printf 'folder of hundred characters %070d/' 1 2 3)
mkdir -p "$long" "a/$long" "b/$long"
cp "ä.png" "$long"
both 0 select "$long/ä.png" -k 20 --strategy grid -o "OUT/$long/x.json" "${reference[@]}"

# refused NAME COMMAND...: an error of one line that has the name; nothing is written, and nothing new is in the folder.
refused() {
    local name=$1 got=0 before
    shift
    count=$((count + 1))
    before=$(find . -path ./a -prune -o -print | sort)
    "${other[@]}" "$@" "${reference[@]}" >a/stdout 2>a/stderr || got=$?
    if [ $got -ne 1 ] || [ -s a/stdout ] || [ "$(wc -l <a/stderr)" -ne 1 ] || ! grep -qF -- "$name" a/stderr; then
        echo "FAILED: exit $got, not 1 with one line about '$name': $*: $(head -n 2 a/stderr)"
        failed=$((failed + 1))
    elif [ "$before" != "$(find . -path ./a -prune -o -print | sort)" ]; then
        echo "FAILED: something was made: $*"
        failed=$((failed + 1))
    fi
}
if [[ ${other[-1]} == *.exe ]]; then
    mkdir names names/folder
    for name in COM1 "a.png." COM1.json NUL.png CON "ends in a space " frame_12:30.png; do
        cp "ä.png" "names/$name" # a picture here, for who does not refuse it
        refused "$name" select "names/$name" -k 20 --strategy grid
        rm "names/$name"
        refused "$name" select "ä.png" -k 20 --strategy grid -o "names/$name"
    done
    refused folder select names/folder -k 20 --strategy grid
    refused folder select "ä.png" -k 20 --strategy grid -o names/folder
fi
echo "$((count - failed)) jobs of $count, $failed failed"
[ $failed -eq 0 ]
