#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_kernels.sh: ci/check-kernels must refuse what Apple's compiler was met to refuse (doc/drivers.md), so that no kernel has it:
# a vector and a scalar of a higher rank in one operation, a cast from one vector to another, and an array in an address space as a
# parameter. It must pass what stands in their place. Exit 77 where SPIR-V's compiler is not here.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TVLM_TEST_QUICK=1 TVLM_CHECK_CACHE=$folder/cache
unset TVLM_CHECK_PART # in ci/full it would leave out the one file that there is
mkdir "$folder/cl"
: >"$folder/cl/none.clh"
fail() { echo "check_kernels.sh: $1" >&2; cat "$folder/said" >&2; exit 1; }
# check PARAMETERS STATEMENT
check() {
    printf 'kernel void tried(global float4 *v, global uint4 *u, global int4 *w%s) {\n    %s\n}\n' "$1" "$2" >"$folder/cl/tried.cl"
    "$root/ci/check-kernels" --only spirv "$folder/cl" >"$folder/said" 2>&1
}
passes() { check "$1" "$2" || { rc=$?; [ $rc -ne 77 ] || exit 77; fail "refused: $2"; }; }
refuses() {
    if check "$2" "$3"; then fail "not refused: $3"; fi
    grep -q "$1" "$folder/said" || fail "refused, but not for '$1': $3"
}

passes '' 'v[0] *= 0.5f;'
refuses 'scalar operand type has greater rank' '' 'v[0] *= 0.5;'
passes ', uint n' 'u[0] += n;'
refuses 'scalar operand type has greater rank' ', ulong n' 'u[0] += n;'
refuses 'scalar operand type has greater rank' '' 'w[0] = w[0] * get_global_id(0);'
passes '' 'v[0] = convert_float4(w[0]) + as_float4(u[0]);'
refuses 'invalid conversion between' '' 'v[0] = (float4)(w[0]);'
passes ', constant float *m' 'v[0] *= m[0];'
refuses 'array in an address space' ', constant float m[9]' 'v[0] *= m[0];'
passes '' 'local float m[9]; m[0] = v[0].x; v[1] = m[0];'
