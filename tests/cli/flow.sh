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
# wheel PICTURE FLO LEAST: each pixel of the picture has the colour of its vector on the wheel of Baker et al., within
# one of 255 steps; the longest vector, or one of LEAST pixels where that is longer, is fully saturated.
wheel() {
    "$tvlm" channels "$1" --channels r,g,b -o colours.npy
    { od -A n -v -t f4 -w8 -j 12 "$2"; od -A n -v -t f4 -w4 -j 128 colours.npy; } | awk -v least="$3" '
        BEGIN { n = count = colours = 0 }
        function run(steps, full, moving, falls,   i, c) {
            for (i = 0; i < steps; ++i) {
                for (c = 0; c < 3; ++c) wheel[n, c] = c == full ? 1 : c != moving ? 0 : falls ? 1 - i / steps : i / steps
                ++n
            }
        }
        NF == 2 { u[count] = $1; v[count++] = $2; if (sqrt($1 * $1 + $2 * $2) > longest) longest = sqrt($1 * $1 + $2 * $2) }
        NF == 1 { colour[colours++] = $1 }
        END {
            run(15, 0, 1, 0); run(6, 1, 0, 1); run(4, 1, 2, 0); run(11, 2, 1, 1); run(13, 2, 0, 0); run(6, 0, 2, 1)
            if (longest < least) longest = least
            if (count < 1000 || colours != 3 * count || n != 55) { print count " vectors, " colours " values, " n " hues"; exit 1 }
            for (i = 0; i < count; ++i) {
                length_ = sqrt(u[i] * u[i] + v[i] * v[i]) / longest
                turn = (atan2(-v[i], -u[i]) / 3.14159265 + 1) * 27
                first = int(turn) % 55
                for (c = 0; c < 3; ++c) {
                    hue = wheel[first, c] + (wheel[(first + 1) % 55, c] - wheel[first, c]) * (turn - int(turn))
                    off = colour[c * count + i] - (1 - length_ * (1 - hue))
                    if (off > 1.01 / 255 || off < -1.01 / 255) { print "pixel " i ", colour " c ": off by " off; exit 1 }
                }
            }
        }' || fail "the picture $1"
}
wheel p.png f.flo 0.01
# A sheet that turns: vectors of all directions.
turned() { # NAME DEGREES
    awk -v a="$2" 'BEGIN { print "P2"; print 64; print 48; print 255; a *= 3.14159265 / 180
        for (y = 0; y < 48; ++y) for (x = 0; x < 64; ++x) {
            p = (x - 32) * cos(a) - (y - 24) * sin(a); q = (x - 32) * sin(a) + (y - 24) * cos(a)
            print int(127 + 60 * sin(p / 4) * cos(q / 5) + 60 * sin((p + 2 * q) / 9)) } }' >"$1"
}
turned upright.pgm 0
turned turned.pgm 5
"$tvlm" channels --flow upright.pgm turned.pgm -o turned.flo --picture turned.png --confidence sure.npy --json >turned.json
wheel turned.png turned.flo 0.01
# The figures of the summary are those of the files.
{ od -A n -v -t f4 -w8 -j 12 turned.flo; od -A n -v -t f4 -w4 -j 128 sure.npy; cat turned.json; } | awk '
    NF == 2 && !/"/ { length_ = sqrt($1 * $1 + $2 * $2); sum += length_; ++count; if (length_ > most) most = length_ }
    NF == 1 && !/[]{}"[]/ { confidence += $1; ++values; sure += $1 >= 0.5 }
    /"/ { gsub(/[",:]/, " "); figure[$1] = $2 }
    function differ(a, b) { return (a > b ? a - b : b - a) > 1e-4 * b }
    END {
        if (count != 3072 || values != count || figure["width"] != 64 || figure["height"] != 48) exit 1
        exit differ(figure["length_mean"], sum / count) || differ(figure["length_max"], most) ||
            differ(figure["confidence_mean"], confidence / count) || differ(figure["confident_share"], sure / count) ||
            !(most > 1) || !(sure > 0 && sure < count)
    }' || fail "the figures of the summary: $(cat turned.json)"
"$tvlm" channels --flow a.pgm a.pgm -o still.flo --picture still.png
wheel still.png still.flo 0.01
# Of vectors that are shorter than a hundredth of a pixel all colours stay near white.
slope() { # NAME PIXEL
    awk -v at="$2" 'BEGIN { print "P2"; print 64, 48; print 255; for (i = 0; i < 3072; ++i) print 90 + i % 64 * 2 + (i == at) }' >"$1"
}
slope slope.pgm 1500
slope slight.pgm 1502
"$tvlm" channels --flow slope.pgm slight.pgm -o slight.flo --picture slight.png
od -A n -v -t f4 -w8 -j 12 slight.flo | awk '{ length_ = sqrt($1 * $1 + $2 * $2); if (length_ > most) most = length_ }
    END { exit !(most > 0.0005 && most < 0.005) }' || fail "the longest step of a slope is not that of a thousandth of a pixel"
wheel slight.png slight.flo 0.01
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
