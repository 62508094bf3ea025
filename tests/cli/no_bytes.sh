#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# no_bytes.sh TVLM SCENE LAYER: a GPU without images of signed bytes, as a layer makes one of PoCL (layer/pose.c): its images are
# taken all the same, and buffers where bytes are asked for, which are those of any buffers; images that were asked for by
# their name are refused then.
source "$(dirname "${BASH_SOURCE[0]}")/layered.sh"

export TVLM_LAYER_GPU=1
"$scene" "$work/in/scene.png" 64 48
generate=("$tvlm" channels "$work/in/scene.png" --layout visual12)

has "$work/gpu" 'pass +bytes_image'
succeeds "${generate[@]}" --format u8 --storage buffer -o expected.npy
export TVLM_LAYER_NO_BYTES=1
says 'FAIL +bytes_image +not listed by the driver' "$tvlm" devices --device pocl
says 'storage +image:' "$tvlm" devices --device pocl
is "half in images" "${generate[@]}" -v -o half.npy 2>"$work/half"
has "$work/half" 'image storage \(a GPU filters images in hardware\)'
is "bytes in buffers" "${generate[@]}" --format u8 -v -o bytes.npy 2>"$work/bytes"
has "$work/bytes" 'buffer storage \(images of bytes fail the self-test\)'
same "bytes" bytes.npy expected.npy
refused 1 'format u8 needs storage buffer here' "${generate[@]}" --format u8 --storage image -o none.npy
finish
