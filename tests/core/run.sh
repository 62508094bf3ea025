#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/core/run.sh SOURCE BUILD: builds the library and the tool without the lab (TVLM_WITH_LAB=OFF) in BUILD-core, and
# runs the main job with it: the answer is that of the build with the lab, to the byte, and the lab's commands are refused.
set -euo pipefail
source=$(realpath -e "$1") build=$(realpath -e "$2")
core=$build-core
for program in cmake ninja nm; do command -v $program >/dev/null || { echo "SKIPPED: no $program"; exit 77; }; done
cmake -S "$source" -B "$core" -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=NOTICE -DTVLM_WITH_LAB=OFF -DTVLM_BUILD_TESTS=OFF \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
cmake --build "$core"
# They export what the core's headers declare, and no more.
"$source/ci/check-symbols" --core "$core"/lib/libtexturevlm.so "$core"/lib/libtexturevlm-io.so
[ ! -e "$core/tools/tvlm-bench" ] || { echo "FAILED: the benchmark, which measures the lab, is in it"; exit 1; }
for folder in "$core" "$build"; do bash "$source/tests/cli/main.sh" "$folder/tools/tvlm" "$folder/tools/tvlm-scene"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/tools/tvlm-scene" "$work/photo.png" 320 208
for folder in "$core" "$build"; do "$folder/tools/tvlm" select --device reference "$work/photo.png" -k 40 >"$work/$(basename "$folder").json"; done
cmp "$work/$(basename "$core").json" "$work/$(basename "$build").json"
echo "the core answers as the whole"
