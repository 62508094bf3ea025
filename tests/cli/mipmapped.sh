#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mipmapped.sh TVLM SCENE LAYER: the storage with native levels, which no driver at hand has, on a layer that adds
# cl_khr_mipmap_image to PoCL (layer/mipmaps.c): its self-test passes, a GPU takes that storage by itself, and chooses what the
# reference does. Where the driver's reads ignore the lod, the self-test fails and the storage is refused.
source "$(dirname "${BASH_SOURCE[0]}")/layered.sh"

"$scene" "$work/in/scene.png" 160 120

export TVLM_LAYER_MIPMAPS=1
says 'pass +levels' "$tvlm" devices --device pocl
says 'storage +mipmapped: the hardware filters between levels' env TVLM_LAYER_GPU=1 "$tvlm" devices --device pocl
for strategy in grid budget; do
    choice=(select "$work/in/scene.png" --strategy $strategy -k 40 --format f32)
    succeeds "$tvlm" "${choice[@]}" --storage mipmapped -o $strategy.json
    succeeds "$tvlm" "${choice[@]}" --device reference -o reference.json
    grep '"x"' $strategy.json | sed 's/"score".*//' >"$work/ours"
    grep '"x"' reference.json | sed 's/"score".*//' >"$work/expected"
    same "positions by $strategy" "$work/ours" "$work/expected"
done

export TVLM_LAYER_MIPMAPS=flat
says 'FAIL +levels' "$tvlm" devices --device pocl
refused 1 'mipmapped storage does not pass the self-test' "$tvlm" select "$work/in/scene.png" --storage mipmapped
# A GPU whose levels fail takes images.
says 'storage +image:' env TVLM_LAYER_GPU=1 "$tvlm" devices --device pocl
finish
