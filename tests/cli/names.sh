#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# names.sh TVLM SCENE LAYER: a driver with long names, as a layer makes one of PoCL (layer/pose.c): as much of them is told as there is
# room for, the device is found by their beginning, and it works.
source "$(dirname "${BASH_SOURCE[0]}")/layered.sh"

"$scene" "$work/in/scene.png" 64 48
for length in 20 127 128 1023; do
    export TVLM_LAYER_NAMES=$length
    told=$((length < 127 ? length : 127))
    name=pocl$(printf "%$((told - 4))s" | tr ' ' n)
    succeeds "$tvlm" devices --json
    for member in name driver platform; do
        checks=$((checks + 1))
        grep -q "\"$member\": \"$name\"" "$work/stdout" || complain "of a $member of $length bytes it does not tell $told"
    done
    is "a device with names of $length bytes works" "$tvlm" select "$work/in/scene.png" -k 3 --strategy grid >/dev/null
done
finish
