#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C11 and as C++17, without a warning: one that forgets an include, or uses a
# C++ keyword, fails here and not at a user's. And every struct can grow: it ends in reserved words, unless params.h
# names it as one that is complete, or that only the library makes.
set -euo pipefail
include=$(cd "$(dirname "$0")/../../include" && pwd)
cc=${CC:-cc} cxx=${CXX:-c++}
command -v "$cxx" >/dev/null || { echo "SKIPPED: no C++ compiler"; exit 77; }
failed=0
for header in "$include"/texturevlm/*.h "$include"/texturevlm/lab/*.h; do
    line="#include <${header#"$include"/}>"
    flags=(-I"$include" -DCL_TARGET_OPENCL_VERSION=300 -Wall -Wextra -Wpedantic -Werror -fsyntax-only)
    "$cc" -std=c11 "${flags[@]}" -x c - <<<"$line" || { echo "as C: ${header#"$include"/}"; failed=1; }
    "$cxx" -std=c++17 "${flags[@]}" -x c++ - <<<"$line" || { echo "as C++: ${header#"$include"/}"; failed=1; }
done
fixed=$(awk '/^(typedef )?struct tvlm_[a-z0-9_]+ \{/ { name = $1 == "typedef" ? $3 : $2; last = ""; next }
    name && /^\}/ { if (last !~ /^    uint(32|64)_t reserved\[[0-9]+\];/) print name; name = "" }
    name && /;/ { last = $0 }' "$include"/texturevlm/*.h "$include"/texturevlm/lab/*.h)
[ "$fixed" ] || { echo "no struct was found that does not grow, but params.h names some"; failed=1; }
for name in $fixed; do
    grep -qw "$name" "$include/texturevlm/params.h" && continue
    echo "$name does not end in reserved words, and params.h does not say that it never grows"
    failed=1
done
exit $failed
