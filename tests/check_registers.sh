#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_registers.sh: ci/registers must refuse a kernel that has scratch where its table has none, and one that does not compile;
# it must pass what the table says. One target is enough to see it. Exit 77 where that does not compile here.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "check_registers.sh: $1" >&2; cat "$folder/said" >&2; exit 1; }
check() { "$root/ci/registers" --only gfx1030 --table "$folder/table.md" "$@" "$folder/spills.cl" >"$folder/said" 2>&1; }
kernel() { printf 'kernel void spills(global float *out, int n) {\n%s\nout[n] = n;\n}\n' "$1" >"$folder/spills.cl"; }

kernel ''
check --keep || { rc=$?; [ $rc -ne 77 ] || exit 77; fail "a table cannot be made"; }
grep -q '`spills.cl` spills' "$folder/table.md" || fail "the table lacks the kernel"
check || fail "a kernel is refused that is as the table says"

# An array that is indexed by what is known at run time only cannot be in registers.
kernel 'float a[64]; for (int i = 0; i < 64; ++i) a[i] = out[i]; for (int i = 0; i < n; ++i) { out[i] = a[(int)out[i] & 63]; a[i & 63] = n; }'
if check; then fail "a kernel that newly has scratch is not refused"; fi
grep -q '^SPILLS: spills.cl spills: gfx1030' "$folder/said" || fail "what spills is not named"
check --keep || fail "scratch cannot be kept"
if check; then fail "scratch without a reason is not refused"; fi
grep -q '^NO REASON: spills.cl spills is not under .### Arrays' "$folder/said" || fail "what has no reason is not named"
reason() { printf '%s\n' "### $1" '' '- `spills.cl` spills: a test.' '' | cat - "$folder/table.md" >"$folder/new" && mv "$folder/new" "$folder/table.md"; }
reason Arrays
check || fail "scratch that is in the table, with a reason, is refused"

# More values than there are registers.
kernel() { printf 'kernel __attribute__((amdgpu_num_vgpr(24))) void spills(global float *out, int n) {\n%s\nout[n] = n;\n}\n' "$1" >"$folder/spills.cl"; }
kernel 'int i = get_global_id(0); float16 a = vload16(i, out), b = vload16(i + 7, out); barrier(CLK_GLOBAL_MEM_FENCE); vstore16(a * b.s0 + b, 3 * i, out); vstore16(b - a.s3, i, out);'
if check; then fail "a kernel that newly spills is not refused"; fi
grep -q '^SPILLS: spills.cl spills: gfx1030.*[0-9] spilled' "$folder/said" || fail "what spills registers is not named"
check --keep || fail "spills cannot be kept"
if check; then fail "a spill with the reason of an array is not refused"; fi
reason Spills
check || fail "a spill that is in the table, with a reason, is refused"

# A kernel that no line `gpu:` compiles.
printf '#ifdef NEVER\nkernel void left_out(global float *out) { *out = 1; }\n#endif\n' >>"$folder/spills.cl"
if check; then fail "a kernel that is not compiled is not refused"; fi
grep -q '^NO REASON: spills.cl left_out is not under .### Elsewhere' "$folder/said" || fail "what is not compiled is not named"

kernel 'this is no statement'
if check; then fail "a kernel that does not compile is not refused"; fi
grep -q 'spills.cl.*does not compile' "$folder/said" || fail "what does not compile is not named"
if "$root/ci/registers" --only gfx0 >"$folder/said" 2>&1; then fail "an unknown target is not refused"; fi
