#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/first.sh TVLM TVLM_SCENE LAYER: on a machine without a GPU the reference answers about one image until the kernels are
# built, which a program does beside it (tools/first.h). LAYER lets the device say that it is a GPU.
layer=$(realpath -e "$3") || exit 1
. "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$1" "$2"
if ! "$tvlm" devices --json | grep -q '"type": "cpu"' || "$tvlm" devices --json | grep -q '"type": "gpu"'; then
    echo "SKIPPED: the default device is no CPU"
    exit 77
fi
# The driver has what other tests have filled its cache with, so that building takes a moment; what lies beside it is its own.
filled=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache}
mkdir "$work/cache" "$work/pocl"
for programs in "$filled"/??; do [ ! -d "$programs" ] || ln -s "$programs" "$work/pocl/"; done
export POCL_CACHE_DIR=$work/pocl XDG_CACHE_HOME=$work/cache
notes=("$work/pocl" "$work/cache") # of PoCL, and of other drivers
unset TVLM_UNTUNED
"$scene" "$work/in/small.png" 96 64 && "$scene" "$work/in/other.png" 64 96 || exit 1
# ppm FILE WIDTH HEIGHT: an image of stripes.
ppm() { { printf 'P6\n%d %d\n255\n' "$2" "$3" && yes 'two words of a text' | head -c $((3 * $2 * $3)); } >"$1"; }
ppm "$work/in/photo.ppm" 960 640
ppm "$work/in/large.ppm" 2100 2000
{ printf 'P5\n960 640\n255\n' && yes 'two words of a text' | head -c $((960 * 640)); } >"$work/in/gray.pgm"

# answers DEVICE WHAT OPTION...: the reference or another device answers, as DEVICE says: "reference" or "opencl".
answers() {
    local wanted=$1 what=$2 found=opencl
    shift 2
    succeeds "$tvlm" "$@"
    ! grep -q '"device": "reference"' "$work/stdout" || found=reference
    is "$what: $found answers" test $found = "$wanted"
}
count_notes() { find "${notes[@]}" -name 'built-*' ! -name '*.building' 2>/dev/null | wc -l; }
builders() { pgrep -f "^$tvlm --build-kernels" || true; }
# ends: until nothing is being built.
ends() {
    local i
    for ((i = 0; i < 1200 && $(builders | wc -l) > 0; ++i)); do sleep .1; done
}
# waits NUMBER: until so many notes are there and nothing is being built.
waits() {
    local i
    for ((i = 0; i < 1200 && ($(count_notes) < $1 || $(builders | wc -l) > 0); ++i)); do sleep .1; done
    is "there are $1 notes" test "$(count_notes)" -eq "$1"
}

echo "== a small image"
for i in 1 2; do answers reference 'a small image' select "$work/in/small.png" --strategy grid -k 3; done
is 'nothing is built for it' test "$(count_notes) $(builders | wc -l)" = '0 0'

echo "== the first answer, and the next"
photo=(select "$work/in/photo.ppm" --strategy grid)
answers reference 'the first answer' "${photo[@]}" -k 3 --overlay look.png
before=$(stat -c '%i %Y' look.png)
grep -o '"x".*"level"' "$work/stdout" >"$work/first.json"
waits 1
is 'what builds kernels writes no file' test "$(stat -c '%i %Y' look.png) $(ls)" = "$before look.png"
answers opencl 'when the kernels are built' "${photo[@]}" -k 3
grep -o '"x".*"level"' "$work/stdout" >"$work/second.json"
same 'both answers' "$work/first.json" "$work/second.json"
answers opencl 'numbers, outputs and messages do not count' "${photo[@]}" -k 5 --json -q --heatmap heat.png

echo "== a driver that has forgotten what it compiled"
mkdir "$work/empty"
POCL_CACHE_DIR=$work/empty answers reference 'a folder without kernels' "${photo[@]}" -k 3
ends
POCL_CACHE_DIR=$work/empty answers opencl 'when they are built' "${photo[@]}" -k 3
find "$work/empty" -mindepth 1 -delete
POCL_CACHE_DIR=$work/empty answers reference 'a folder that was emptied' "${photo[@]}" -k 3
ends
answers opencl 'in the other folder they are there' "${photo[@]}" -k 3

echo "== other kernels"
answers reference 'gray' select "$work/in/gray.pgm" --strategy grid -k 3
waits 2
answers opencl 'gray, built' select "$work/in/gray.pgm" --strategy grid -k 3
answers reference 'many positions' "${photo[@]}" -k 2000
waits 3
answers opencl 'many positions, built' "${photo[@]}" -k 1500
find "${notes[@]}" -name 'built-*' -delete
answers reference 'the first answer once more' "${photo[@]}" -k 3
waits 1

echo "== other jobs"
answers reference 'another strategy' select "$work/in/photo.ppm" -k 9
waits 2
answers opencl 'two images' select "$work/in/photo.ppm" "$work/in/other.png" --strategy cascade -k 3
answers opencl 'lines' select "$work/in/photo.ppm" --strategy cascade -k 3 --jsonl
answers opencl 'a large image' select "$work/in/large.ppm" --strategy grid --weights .1,.2,.3 -k 3
answers opencl 'a format' "${photo[@]}" --format f32 --weights .1,.2,.3 -k 3
answers opencl 'a device' "${photo[@]}" --device 0 --weights .1,.2,.3 -k 3
TVLM_DEVICE=0 answers opencl 'a device of the environment' "${photo[@]}" --weights .1,.2,.3 -k 3
TVLM_UNTUNED=1 answers opencl 'a machine of which nothing is known' "${photo[@]}" --weights .1,.2,.3 -k 3
OPENCL_LAYERS=$layer TVLM_LAYER_GPU=1 answers opencl 'a GPU' "${photo[@]}" --weights .1,.2,.3 -k 3
"$tvlm" select - --strategy quadtree -k 3 <"$work/in/photo.ppm" >"$work/stdout" 2>"$work/stderr"
is 'an image that can be read once' grep -q '"device": "[^r]' "$work/stdout"
is 'nothing is built for them' test "$(count_notes) $(builders | wc -l)" = '2 0'

echo "== what ends early"
refused 1 'none.png' "$tvlm" select none.png --strategy quadtree
refused 2 'needs a command' "$tvlm" --build-kernels
refused 2 'given twice' "$tvlm" --build-kernels --build-kernels select "$work/in/photo.ppm"
refused 1 'nothing is built beside' "$tvlm" --build-kernels select "$work/in/photo.ppm" --device reference
is 'what fails builds nothing' test "$(count_notes) $(builders | wc -l)" = '2 0'
quadtree=(select "$work/in/photo.ppm" --strategy quadtree -k 3)
answers reference 'a job that is new' "${quadtree[@]}"
pkill -KILL -f "^$tvlm --build-kernels"
while [ "$(builders)" ]; do sleep .1; done
if [ "$(count_notes)" -eq 2 ]; then # it was ended in time
    answers reference 'after a program that built kernels was ended' "${quadtree[@]}"
fi
waits 3
answers opencl 'in the end they are built' "${quadtree[@]}"

echo "== what cannot be built"
npy "$work/in/scores.npy" '<f4' '(1, 2)' '\0\0\200\077\0\0\200\077'
refused 1 'none.png' "$tvlm" --build-kernels select none.png
refused 1 'scores' "$tvlm" --build-kernels select "$work/in/photo.ppm" --strategy grid --scores "$work/in/scores.npy" -k 1
is 'nothing is noted' test "$(count_notes)" -eq 3

echo "== two at once"
find "${notes[@]}" -name 'built-*' -delete
answers reference 'without notes' "${photo[@]}" -k 3
waits 1
note=$(find "${notes[@]}" -name 'built-*' ! -name '*.building')
rm "$note"
exec 9>"$note.building"
flock -n 9 || complain 'there is no flock'
answers reference 'while another program builds' "${photo[@]}" -k 3
is 'none is started' test -z "$(builders)"
refused 1 'another program builds these kernels' "$tvlm" --build-kernels "${photo[@]}" -k 3
exec 9>&-
answers reference 'when that has ended' "${photo[@]}" -k 3
waits 1

echo "== without a cache"
XDG_CACHE_HOME=$work/in/photo.ppm answers reference 'without a folder for notes' "${photo[@]}" -k 3
is 'nothing is built in vain' test -z "$(builders)"
finish
