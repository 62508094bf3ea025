#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C11 and as C++17, without a warning: one that forgets an include, or uses a
# C++ keyword, fails here and not at a user's.
set -euo pipefail
include=$(cd "$(dirname "$0")/../../include" && pwd)
cc=${CC:-cc} cxx=${CXX:-c++}
command -v "$cxx" >/dev/null || { echo "SKIPPED: no C++ compiler"; exit 77; }
failed=0
for header in "$include"/texturevlm/*.h; do
    line="#include <texturevlm/${header##*/}>"
    flags=(-I"$include" -DCL_TARGET_OPENCL_VERSION=300 -Wall -Wextra -Wpedantic -Werror -fsyntax-only)
    "$cc" -std=c11 "${flags[@]}" -x c - <<<"$line" || { echo "as C: ${header##*/}"; failed=1; }
    "$cxx" -std=c++17 "${flags[@]}" -x c++ - <<<"$line" || { echo "as C++: ${header##*/}"; failed=1; }
done
exit $failed
