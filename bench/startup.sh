#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/startup.sh TVLM [PHOTO [RUNS]]: `tvlm select` from start to exit on a 1024x1024 photo, in milliseconds, where the
# default device is a CPU:
#   reference   the reference, named as the device
#   first       the first answer on a machine that never ran it: empty caches, the reference answers (tools/first.h)
#   next        when the kernels are built: the OpenCL device answers
#   cold        the OpenCL device with empty caches, which is what the first answer would take without the reference
# It exits with 1 where the first answer takes more than 1.2 times the reference's time, or the next more than the cold one, or where a
# run fails.
# Without a PHOTO it takes the project's own scene, drawn by tvlm-scene beside TVLM.
set -euo pipefail
tvlm=$(realpath -e "${1:?usage: bench/startup.sh TVLM [PHOTO [RUNS]]}")
photo=${2:-}
runs=${3:-11}
unset TVLM_UNTUNED TVLM_DEVICE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! "$photo" ]; then
    photo=$work/scene.ppm
    "$(dirname "$tvlm")/tvlm-scene" "$photo" 1024 1024
fi
size=$("$tvlm" select "$photo" -k 1 --device reference | sed -n 's/.*"width": *\([0-9]*\), *"height": *\([0-9]*\).*/\1x\2/p' | head -n 1)
[ "$size" = 1024x1024 ] || echo "note: $photo is $size, not 1024x1024"

# run FOLDER OPTION...: milliseconds of an answer with the caches in that folder, none of the user's. Fails where tvlm does.
run() {
    local folder=$1 start
    shift
    mkdir -p "$folder/xdg" "$folder/pocl"
    export XDG_CACHE_HOME=$folder/xdg POCL_CACHE_DIR=$folder/pocl HOME=$folder
    start=${EPOCHREALTIME/[.,]/}
    "$tvlm" select "$photo" -o "$folder/out.json" "$@" 2>"$folder/stderr" || { cat "$folder/stderr" >&2; return 1; }
    echo $(((${EPOCHREALTIME/[.,]/} - start) / 1000))
    while pgrep -f "^$tvlm --build-kernels" >/dev/null; do sleep .1; done
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'; }
# several RUNS COMMAND...: the median, least and most of some runs, none of which may fail; %i is the number of the run.
several() {
    local i times='' time count=$1
    shift
    for ((i = 0; i < count; ++i)); do
        time=$("${@//%i/$i}") || { echo "startup.sh: run $((i + 1)) of $count failed: ${*//%i/$i}" >&2; return 1; }
        times+=$time$'\n'
    done
    median <<<"${times%$'\n'}"
}

# What a process substitution ends with nobody learns: so these are variables first.
figures=$(several "$runs" run "$work/none" --device reference)
read -r reference reference_low reference_high <<<"$figures"
figures=$(several 5 run "$work/first%i")
read -r first first_low first_high <<<"$figures"
figures=$(several "$runs" run "$work/first0")
read -r next next_low next_high <<<"$figures"
figures=$(TVLM_UNTUNED=1 several 3 run "$work/cold%i")
read -r cold cold_low cold_high <<<"$figures"
"$tvlm" devices | head -n 1
printf 'reference  %6d ms (%d .. %d, %d runs)\n' "$reference" "$reference_low" "$reference_high" "$runs"
printf 'first      %6d ms (%d .. %d, 5 runs), %d %% of the reference\n' "$first" "$first_low" "$first_high" $((100 * first / reference))
printf 'next       %6d ms (%d .. %d, %d runs)\n' "$next" "$next_low" "$next_high" "$runs"
printf 'cold       %6d ms (%d .. %d, 3 runs)\n' "$cold" "$cold_low" "$cold_high"
[ $((10 * first)) -le $((12 * reference)) ] && [ "$next" -le "$cold" ]
