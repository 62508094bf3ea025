#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/main.sh TVLM TVLM_SCENE [DEVICE]: the README's main job, and what a build without the lab says of the lab.
# DEVICE as in common.sh; without it the reference, which is there everywhere.
set -- "$1" "$2" "${3:-reference}"
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

photo=$work/in/photo.png
"$scene" "$photo" 320 208 || exit 1

echo "== the main job"
succeeds "$tvlm" select "$device" "$photo" -k 40 -o look.json --overlay look.png
counts "forty positions, or what they leave" 1 look.json '"thumbnail"'
succeeds "$tvlm" select "$device" "$photo" --tolerance auto -o least.json
succeeds "$tvlm" channels "$device" "$photo" --channels edges,saliency -o channels.npy
succeeds "$tvlm" tensors "$device" "$photo" --for qwen2-vl -o tokens.safetensors
rm -f ./*

if [ ! -e "$lab" ]; then
    echo "== without the lab"
    for command in fit pca vocab compress logpolar attend; do
        refused 2 "$command is of the lab, which this build leaves out" "$tvlm" $command "$photo"
    done
    refused 2 "explain is of the lab" "$tvlm" select "$device" "$photo" --explain e.json
    refused 2 "anisotropic is of the lab" "$tvlm" select "$device" "$photo" --set anisotropic
    refused 2 "projection is of the lab" "$tvlm" tensors "$device" "$photo" --for qwen2-vl --projection "$photo" -o p.safetensors
    refused 2 "network is of the lab" "$tvlm" channels "$device" "$photo" --network "$photo" -o n.npy
    refused 2 "strategy foveated is of the lab" "$tvlm" select "$device" "$photo" --strategy foveated
    refused 2 "coco is of the lab" "$tvlm" select "$device" "$photo" --coco "$photo"
    refused 2 "masks is of the lab" "$tvlm" tensors "$device" "$photo" --for qwen2-vl --masks "$work/in" -o p.safetensors
    refused 2 "codec is of the lab" "$tvlm" select "$device" "$photo" --codec c --scorer s
    printf '0' >"$work/in/f.npy"
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }" >"$work/in/v.npy"
    head -c 24 /dev/zero | tr '\0' '\77' >>"$work/in/v.npy"
    refused 2 "an embedding without --basis FILE is of the lab" "$tvlm" channels "$device" "$photo" --features "$work/in/v.npy" \
        --channels embedding_0 -o e.npy
    refused 2 "basis of an image or a query is of the lab" "$tvlm" select "$device" "$photo" --features "$work/in/f.npy" --query "$work/in/f.npy" --basis image
fi
finish
