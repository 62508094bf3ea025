#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# flow.sh TVLM: what `tvlm channels --flow` writes, and what it refuses, each with one line and no file left. On the reference device.
set -euo pipefail
tvlm=$(realpath -e "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TVLM_DEVICE=reference

# The tool runs in the locale that there is. What reads its numbers here does not: it would look for commas in them.
awk() { LC_ALL=C command awk "$@"; }
od() { LC_ALL=C command od "$@"; }

fail() { echo "flow.sh: $*" >&2; exit 1; }

# pgm NAME WIDTH HEIGHT SHIFT: a picture of blobs, moved to the right.
pgm() {
    awk -v w="$2" -v h="$3" -v s="$4" 'BEGIN { print "P2"; print w, h; print 255
        for (y = 0; y < h; ++y) for (x = 0; x < w; ++x)
            print int(127 + 60 * sin((x - s) / 5) * cos(y / 6) + 60 * sin((x - s + 2 * y) / 13)) }' >"$1"
}
pgm a.pgm 64 48 0
pgm b.pgm 64 48 2
pgm c.pgm 50 48 0

"$tvlm" channels --flow a.pgm b.pgm -o f.flo --picture p.png --confidence c.npy --json >f.json 2>err
[ ! -s err ] || fail "says: $(cat err)"
[ "$(wc -c <f.flo)" = $((12 + 64 * 48 * 8)) ] || fail "f.flo has $(wc -c <f.flo) bytes"
[ "$(head -c 4 f.flo)" = PIEH ] || fail "f.flo does not begin with PIEH"
[ -s p.png ] && [ -s c.npy ] || fail "no picture or no confidence"
grep -q '"grid": \[32, 24\]' f.json || fail "the summary: $(cat f.json)"
# u of the pixel in the middle is 2 within a tenth
u=$(od -A n -t f4 -j $((12 + 8 * (24 * 64 + 32))) -N 4 f.flo | tr -d ' ')
awk -v u="$u" 'BEGIN { exit !(u > 1.9 && u < 2.1) }' || fail "u is $u, not 2"
"$tvlm" channels --flow a.pgm a.pgm -o still.flo
[ "$(tail -c +13 still.flo | tr -d '\0' | wc -c)" = 0 ] || fail "identical images move"
"$tvlm" channels --flow a.pgm b.pgm --full --json | grep -q '"grid": \[64, 48\]' || fail "--full is not full"

# refused CODE WORDS ARGUMENTS...: that exit code, one line with the words in it, nothing written
refused() {
    local code=$1 words=$2 rc=0
    shift 2
    "$tvlm" channels --flow "$@" >out 2>err || rc=$?
    [ $rc = "$code" ] || fail "$*: exit $rc, not $code: $(cat err)"
    [ "$(wc -l <err)" = 1 ] || fail "$*: $(wc -l <err) lines: $(cat err)"
    grep -qF -- "$words" err || fail "$*: '$words' is not in: $(cat err)"
    [ ! -e new.flo ] && [ ! -e new.png ] || fail "$*: something was written"
}
head -c 40 a.pgm >short.pgm
refused 1 "they must have one size" a.pgm c.pgm -o new.flo
refused 1 "missing.pgm" a.pgm missing.pgm -o new.flo
refused 1 "short.pgm" short.pgm b.pgm -o new.flo
refused 1 "nowhere" a.pgm b.pgm -o nowhere/new.flo
refused 2 "nothing to write" a.pgm b.pgm
refused 2 "same file" a.pgm b.pgm -o new.flo --picture new.flo
refused 2 "takes two images, not 1" a.pgm -o new.flo
refused 2 "takes two images, not 3" a.pgm b.pgm c.pgm -o new.flo
[ -z "$(find . -name '.tvlm-*')" ] || fail "temporary files are left"
