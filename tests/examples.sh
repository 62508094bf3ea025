#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/examples.sh FOLDER: runs the programs of examples/, built in FOLDER, on small pictures of which the answers are known.
set -euo pipefail
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "examples: $1" >&2; exit 1; }
export TVLM_DEVICE=reference
# The programs run in the locale that there is. What reads their numbers here does not: it would look for commas in them.
awk() { LC_ALL=C command awk "$@"; }

# picture LEFT RIGHT: 64 x 48 pixels, the left half of one colour, the right half of another; three letters, one a byte.
picture() {
    printf 'P6 64 48 255\n'
    for ((row = 0; row < 48; ++row)); do
        printf "$1%.0s" {1..32}
        printf "$2%.0s" {1..32}
    done
}
picture '\000\000\377' '\377\000\000' >"$work/red.ppm"
picture '\377\000\000' '\377\000\000' >"$work/all.ppm"

"$programs/example_question" "$work/red.ppm" >"$work/out"
[ "$(wc -l <"$work/out")" -eq 12 ] || fail "question: a picture of 12 cells has 12 positions, not $(wc -l <"$work/out")"
[ "$(head -n 6 "$work/out" | awk '$1 > 32' | wc -l)" -eq 6 ] || fail "question: the six red cells do not come first: $(cat "$work/out")"

"$programs/example_own_plane" "$work/red.ppm" >"$work/out"
[ "$(awk '$1 > 32 && $4 > 0.5' "$work/out" | wc -l)" -ge 6 ] || fail "own_plane: the right is not preferred: $(cat "$work/out")"
grep -qx '24576 bytes of patches' "$work/out" || fail "own_plane: 8 patches of 3 x 16 x 16 floats: $(cat "$work/out")"

"$programs/example_frames" "$work/red.ppm" "$work/red.ppm" "$work/all.ppm" >"$work/out"
grep -q '^frame 0 (keyframe), 0 of 0 tiles changed: ' "$work/out" || fail "frames: the first one: $(cat "$work/out")"
grep -q '^frame 1, 0 of [1-9][0-9]* tiles changed: ' "$work/out" || fail "frames: the same again: $(cat "$work/out")"
grep -q '^frame 2 (keyframe) (cut), ' "$work/out" || fail "frames: another picture: $(cat "$work/out")"
! "$programs/example_frames" "$work/none.ppm" 2>"$work/said" || fail "frames: a file that is not there"
grep -q none.ppm "$work/said" || fail "frames: the log does not name the file"

# Two devices; the third photo is not there.
TVLM_DEVICE=reference,reference "$programs/example_all_devices" "$work"/{red,all,none,red}.ppm >"$work/out" 2>"$work/said" ||
    fail "all_devices: $(cat "$work/said")"
[ "$(cut -d: -f1 <"$work/out" | tr '\n' ' ')" = "$work/red.ppm $work/all.ppm $work/red.ppm " ] ||
    fail "all_devices: not in order: $(cat "$work/out")"
[ "$(sed -n 1p "$work/out")" = "$(sed -n 3p "$work/out")" ] || fail "all_devices: equal photos differ: $(cat "$work/out")"
grep -q none.ppm "$work/said" || fail "all_devices: the log does not name the file"

rc=0
"$programs/example_own_context" "$work/red.ppm" >"$work/out" || rc=$?
case $rc in
    77) echo "examples: own_context skipped, there is no OpenCL device" ;;
    0) grep -qxE '(image|buffer|mipmapped): 32 x 24 texels, 2 slices of four channels' "$work/out" || fail "own_context: $(cat "$work/out")" ;;
    *) fail "own_context ends with $rc" ;;
esac

# Eight of the twelve cells, as patches: each is red or blue all over, so that its first pixel tells which.
rc=0
"$programs/example_camera_to_patches" "$work/red.ppm" >"$work/out" || rc=$?
case $rc in
    77) echo "examples: camera_to_patches skipped, there is no OpenCL device" ;;
    0) [ "$(grep -cxE '[0-7]: r (1.00 g 0.00 b 0.00|0.00 g 0.00 b 1.00)' "$work/out")" -eq 8 ] ||
        fail "camera_to_patches: $(cat "$work/out")" ;;
    *) fail "camera_to_patches ends with $rc" ;;
esac
echo "examples: passed"
