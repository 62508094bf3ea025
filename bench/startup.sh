#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/startup.sh TVLM [PHOTO [RUNS]]: `tvlm select` from start to exit on a 1024x1024 photo, in milliseconds: cold (no
# cache of ours, none of PoCL's: every kernel compiles) and warm. It exits with 1 beyond 10 s cold or 1 s warm, which is
# what PoCL on two cores must reach. Without a PHOTO it takes the project's own scene, drawn by tvlm-scene beside TVLM.
set -euo pipefail
tvlm=$(realpath -e "${1:?usage: bench/startup.sh TVLM [PHOTO [RUNS]]}")
photo=${2:-}
runs=${3:-11}
cold_max=10000 warm_max=1000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! "$photo" ]; then
    photo=$work/scene.png
    "$(dirname "$tvlm")/tvlm-scene" "$photo" 1024 1024
fi
size=$("$tvlm" select "$photo" -k 1 --device reference | sed -n 's/.*"width": *\([0-9]*\), *"height": *\([0-9]*\).*/\1x\2/p' | head -n 1)
[ "$size" = 1024x1024 ] || echo "note: $photo is $size, not 1024x1024"

# Each in empty caches, and none of the user's touched.
run() {
    local start=${EPOCHREALTIME/[.,]/}
    XDG_CACHE_HOME=$1/xdg POCL_CACHE_DIR=$1/pocl HOME=$1 "$tvlm" select "$photo" -o "$1/out.json"
    echo $(((${EPOCHREALTIME/[.,]/} - start) / 1000))
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'; }
cold() {
    local i folder
    for i in 1 2 3; do
        folder=$work/cold$i
        mkdir -p "$folder/xdg" "$folder/pocl"
        run "$folder"
    done
}
warm() { for ((i = 0; i < runs; i++)); do run "$work/cold1"; done; }

read -r cold cold_low cold_high < <(cold | median)
read -r warm warm_low warm_high < <(warm | median)
"$tvlm" devices | head -n 1
printf 'cold  %6d ms (%d .. %d, 3 runs; at most %d)\n' "$cold" "$cold_low" "$cold_high" $cold_max
printf 'warm  %6d ms (%d .. %d, %d runs; at most %d)\n' "$warm" "$warm_low" "$warm_high" "$runs" $warm_max
[ "$cold" -le $cold_max ] && [ "$warm" -le $warm_max ]
