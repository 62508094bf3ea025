#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/sizes.sh TVLM TVLM_SCENE [DEVICE]: the size at which images are worked on: --size and --max-side, and less
# memory than an image needs. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

photo=$work/in/photo.png
"$scene" "$photo" 640 480 || exit 1
select=("$tvlm" select ${device:+"$device"} "$photo" --strategy grid)
generate=("$tvlm" channels ${device:+"$device"} "$photo")

# cells COLUMNS ROWS: so many cells of 16 pixels were looked at, and the image has its own size and positions.
cells() {
    checks=$((checks + 1))
    grep -q "\"candidates\": $(($1 * $2))," "$work/stdout" || complain "not $1 x $2 cells"
    grep -q '"width": 640, "height": 480' "$work/stdout" || complain "the image has another size"
}
# reaches X: the position that is farthest right lies beyond X, and within the image.
reaches() {
    checks=$((checks + 1))
    grep -o '"x": [0-9.]*' "$work/stdout" | tr -d '":x ' |
        awk -v least="$1" '$1 > most { most = $1 } END { exit !(most > least && most < 640) }' || complain "no x beyond $1"
}

echo "== --size and --max-side"
succeeds "${select[@]}"
cells 40 30
succeeds "${select[@]}" --max-side 320
cells 20 15
reaches 320
succeeds "${select[@]}" --max-side 4000
cells 40 30
succeeds "${select[@]}" --size 160x320
cells 10 20
reaches 160
succeeds "${select[@]}" "$photo" "$photo" --max-side 320 # a session's stacks, too
cells 20 15
succeeds "${generate[@]}" --channels edges,entropy -o small.npy --max-side 320
checks=$((checks + 1))
[ "$(wc -c <small.npy)" -eq $((128 + 2 * 240 * 320 * 4)) ] || complain "generate at 320x240: $(wc -c <small.npy) bytes"
rm small.npy
refused 2 '--size and --max-side exclude each other' "${select[@]}" --size 8x8 --max-side 8
refused 2 '--size' "${select[@]}" --size 0x8
refused 2 '--max-side' "${select[@]}" --max-side 0
refused 2 '--max-side is not for --layout patch13' "${generate[@]}" --layout patch13 --max-side 8 -o small.npy

echo "== a JPEG, which may be decoded smaller"
jpeg=$here/../../doc/look.jpg # 768 x 622 pixels
select=("$tvlm" select ${device:+"$device"} "$jpeg" --strategy grid -k 50)
succeeds "${select[@]}" --max-side 192
checks=$((checks + 1))
grep -q '"width": 768, "height": 622' "$work/stdout" || complain "the JPEG has another size"
grep -q '"candidates": 120,' "$work/stdout" || complain "not 12 x 10 cells"
awk -F'[:,]' '/"x":/ { if ($2 > x) x = $2; if ($4 > y) y = $4 } END { exit !(x > 500 && x < 768 && y > 400 && y < 622) }' \
    "$work/stdout" || complain "positions are not in the file's pixels"
cp "$work/stdout" small.json
succeeds "${select[@]}" --max-side 192 --overlay small.png
same "what is chosen with an overlay" "$work/stdout" small.json
succeeds "${select[@]}" --overlay whole.png
checks=$((checks + 1))
[ "$(head -c 24 small.png | od -An -tx1)" = "$(head -c 24 whole.png | od -An -tx1)" ] || complain "the overlay has another size"
"$tvlm" select ${device:+"$device"} - --strategy grid -k 50 --max-side 192 --overlay piped.png <"$jpeg" >/dev/null 2>"$work/stderr" ||
    complain "an overlay of what comes from stdin"
[ "$(head -c 24 piped.png | od -An -tx1)" = "$(head -c 24 whole.png | od -An -tx1)" ] || complain "stdin's overlay has another size"
rm -f small.json small.png whole.png piped.png
select=("$tvlm" select ${device:+"$device"} "$photo" --strategy grid)

# limited KIBIBYTES COMMAND...: within that much address space; its status in $rc.
limited() {
    local most=$1
    shift
    rc=0
    (ulimit -v "$most" && exec "$@") >"$work/stdout" 2>"$work/stderr" || rc=$?
}

# Whatever the limit, there is an answer or one line that says why not; somewhere in between smaller images are the answer.
answers() {
    local what=$1 pattern=$2 seen=0 most
    shift 2
    for most in $(seq $least 4000 $((least + 24000))); do
        limited "$most" "$@"
        checks=$((checks + 1))
        if [ $rc -eq 1 ]; then
            [ "$(grep -vc ' warning: ' "$work/stderr")" -eq 1 ] || complain "$what in $most KiB: not one line of error"
        elif [ $rc -ne 0 ]; then
            complain "$what in $most KiB: exit $rc"
        elif grep -qE "^tvlm: warning: $pattern" "$work/stderr"; then
            seen=$((seen + 1))
            reaches 200
        fi
    done
    checks=$((checks + 1))
    [ $seen -gt 0 ] || complain "$what: no image was worked on smaller"
}

if [ "$device" = --device=reference ]; then
    echo "== too little memory"
    # With the libraries that it is linked to it takes some address space to begin at all.
    least=16000 rc=1
    while [ $rc -ne 0 ] && [ $least -lt 150000 ]; do
        least=$((least + 4000))
        limited $least "$tvlm" --version
    done
    if [ $rc -eq 0 ]; then
        answers select 'scaled down from 640x480 to [0-9]+x[0-9]+, the largest of its shape for which [0-9]+ MiB of' \
            "${select[@]}" -k 200
        # To be drawn on, the picture's own pixels stay: without them the stack is all that takes memory, and it was made to fit.
        answers exhaustive '.*photo.png: no memory for [0-9]+x[0-9]+; worked on at [0-9]+x[0-9]+$' \
            "${select[@]}" -k 20 --strategy exhaustive --overlay look.png
        rm -f look.png
        answers --size '--size 640x480 is more than this device can hold: [0-9]+x[0-9]+ is the largest of its shape$' \
            "${select[@]}" -k 200 --size 640x480
    else
        echo "not with this build: it needs more address space than that by itself"
    fi
fi

finish
