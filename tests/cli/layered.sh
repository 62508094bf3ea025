# SPDX-License-Identifier: Apache-2.0
# layered.sh: what scripts share that run the tool on PoCL behind a layer (tests/layer). They source it with their own arguments,
# TVLM SCENE LAYER, in place of common.sh. $work/gpu has what `tvlm devices` says of PoCL as a GPU; where a layer cannot be put
# before it, the test is skipped.
layer=$(realpath -e "$3") || exit 1
set -- "$1" "$2"
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

unset RUSTICL_ENABLE
OPENCL_LAYERS=$layer TVLM_LAYER_GPU=1 "$tvlm" devices --device pocl >"$work/gpu" 2>/dev/null || { echo "SKIPPED: no PoCL"; exit 77; }
grep -q '(gpu)' "$work/gpu" || { echo "SKIPPED: the loader of OpenCL takes no layer"; exit 77; }
export OPENCL_LAYERS=$layer TVLM_DEVICE=pocl
