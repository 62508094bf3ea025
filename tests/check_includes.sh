#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/check-includes: in a copy of the project it passes, and each kind of offence put there is named with its line.
set -euo pipefail
cd "$(dirname "$0")/.."
check=$PWD/ci/check-includes
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
fail() { echo "check_includes: $1" >&2; exit 1; }

cp -r lib include tools cl python integrations "$project"
"$check" "$project" >"$project/out" || fail "the project itself is refused: $(cat "$project/out")"

# One file at a time, with one line put before all others; what is said of it.
offence() {
    local path=$1 line=$2 said=$3
    cp "$project/$path" "$project/kept"
    { echo "$line"; cat "$project/kept"; } >"$project/$path"
    ! "$check" "$project" >"$project/out" || fail "$path may say: $line"
    grep -qxF -- "$said" "$project/out" || fail "of $path it said: $(cat "$project/out")"
    cp "$project/kept" "$project/$path"
}
: >"$project/include/texturevlm/more.h"
! "$check" "$project" >"$project/out" || fail "a further header of the core is allowed"
grep -qxF "include/texturevlm: 17 headers of the core, at most 16" "$project/out" || fail "of a further header it said: $(cat "$project/out")"
rm "$project/include/texturevlm/more.h"
for i in {1..20}; do echo "TVLM_API void tvlm_more_$i(void);"; done >>"$project/include/texturevlm/version.h"
! "$check" "$project" >"$project/out" || fail "any number of functions is allowed"
grep -qE "functions of the core, at most 150$" "$project/out" || fail "of many functions it said: $(cat "$project/out")"
cp include/texturevlm/version.h "$project/include/texturevlm/"

up() { offence "$1" "#include \"$2\"" "$1:1: includes $2: $3"; }

up lib/core/half.c stack/stack.h "lib/core may not look at lib/stack"
up lib/reference/gemm.c opencl/backend.h "lib/reference may not look at lib/opencl"
up lib/opencl/gemm.c reference/reference.h "lib/opencl may not look at lib/reference"
up lib/stack/grids.c select/select.h "lib/stack may not look at lib/select"
up lib/stack/grids.c opencl/backend.h "lib/stack may not look at lib/opencl"
up lib/features/embed.c select/select.h "lib/features may not look at lib/select"
up lib/session/session.c select/select.h "lib/session may not look at lib/select"
up lib/select/select.c video/inside.h "lib/select may not look at lib/video"
up lib/video/stream.c export/inside.h "lib/video may not look at lib/export"
up lib/select/select.c stack/inside.h "what a stack is made of is for lib/stack"
up lib/select/select.c lab/fit.h "lib/select may not look at lib/lab"
up lib/select/select.c texturevlm/lab/fit.h "nobody looks at the lab"
up include/texturevlm/stack.h texturevlm/lab/fit.h "nobody looks at the lab"
up lib/lab/fit.c video/inside.h "lib/lab may not look at lib/video"
up lib/lab/fit.c opencl/backend.h "lib/lab may not look at lib/opencl"
up lib/lab/opencl/attend.c reference/reference.h "lib/lab/opencl may not look at lib/reference"
up lib/lab/fit.c parts/core.h "lib/lab may not look at lib/parts"
up lib/export/export.c pool/inside.h "lib/export may not look at lib/pool"
up lib/io/npy_read.c core/backend.h "lib/io uses public headers"
up lib/io_video/reader.c stack/stack.h "lib/io_video uses public headers"
up include/texturevlm/stack.h core/backend.h "public headers include public headers"
up tools/main.c core/backend.h "tools use public headers, and lib/platform"
up lib/platform/posix/memory.c core/memory.h "lib/platform may not look at lib/core"
offence lib/core/half.c "#ifdef _WIN32" "lib/core/half.c:1: asks for _WIN32: what systems do differently is in lib/platform"
system="what systems do differently is in lib/platform"
for word in _WIN64 __linux__ __unix__ __FreeBSD__; do
    offence tools/main.c "#if defined($word)" "tools/main.c:1: asks for $word: $system"
done
offence integrations/web/module.c "#ifdef __APPLE__" "integrations/web/module.c:1: asks for __APPLE__: $system"
offence python/glue.h "#ifndef _WIN32" "python/glue.h:1: asks for _WIN32: $system"
offence python/texturevlm/__init__.py "if sys.platform == 'win32': pass" "python/texturevlm/__init__.py:1: asks for sys.platform: $system"
offence include/texturevlm/stack.h "#ifdef __linux__" "include/texturevlm/stack.h:1: asks for __linux__: $system"
opencl="OpenCL is for lib/opencl and the files named interop.c"
offence lib/video/stream.c "#include <CL/cl.h>" "lib/video/stream.c:1: includes CL/cl.h: $opencl"
up lib/select/select.c texturevlm/opencl.h "$opencl"
storage="storage is the concern of texture.clh and levels.clh"
offence cl/visual.cl "#if TVLM_STORAGE == 1" "cl/visual.cl:1: says TVLM_STORAGE: $storage"
offence cl/mips.cl "kernel void f(read_only image2d_array_t a) {}" "cl/mips.cl:1: says image2d_array_t: $storage"
offence lib/stack/given.h '#include "stack/inside.h"' "headers in a circle: lib/stack/given.h, lib/stack/inside.h"
offence lib/stack/grids.c '#include "stack/given.h"' \
    "files in a circle: lib/stack/bundle.c, lib/stack/features.c, lib/stack/given.c, lib/stack/grids.c"
# What a comment says is no offence.
sed -i '1i /* TVLM_STORAGE */' "$project/cl/visual.cl"
"$check" "$project" >/dev/null || fail "a comment is refused"
# Where nothing is included, nothing was checked.
mkdir "$project/empty"
! "$check" "$project/empty" >/dev/null || fail "an empty folder passes"
echo "check_includes: passed"
