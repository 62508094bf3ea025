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
check --keep && check || fail "scratch that is in the table is refused"

kernel 'this is no statement'
if check; then fail "a kernel that does not compile is not refused"; fi
grep -q 'spills.cl.*does not compile' "$folder/said" || fail "what does not compile is not named"
if "$root/ci/registers" --only gfx0 >"$folder/said" 2>&1; then fail "an unknown target is not refused"; fi
