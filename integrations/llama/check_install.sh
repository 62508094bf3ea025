#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_install.sh BUILD MODEL FOLDER: installs BUILD, which has texturevlm-mtmd, into FOLDER/installed, and lets a user's program with the C
# of doc/llama.md (use.c) look at an image by MODEL (a folder of models.py): found by pkg-config and by find_package, with shared and
# with static libraries. All answer the same. Then the installed program answers, too.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: check_install.sh BUILD MODEL FOLDER" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
model=$(realpath "$2") folder=$(realpath "$3")
prefix=$folder/installed used=$folder/used
rm -rf "$prefix" "$used"
mkdir -p "$used/cmake"
fail() { echo "FAILED: installed: $*"; exit 1; }
cmake --install "$1" --prefix "$prefix" >"$folder/install.log" 2>&1 || { cat "$folder/install.log"; fail "cmake --install"; }
lib=$(dirname "$(find "$prefix" -name libtexturevlm-mtmd.so)")
sed -n '/^## In C$/,/^## /p' "$here/../../doc/llama.md" | sed -n '/^```c$/,/^```$/p' | sed '1d;$d' >"$used/snippet.inc"
[ -s "$used/snippet.inc" ] || fail "doc/llama.md has no C"
cp "$here/use.c" "$used/use.c"
llama=$(sed -n 's/^TVLM_LLAMA:PATH=//p' "$1/CMakeCache.txt")
theirs=$(dirname "$(find -L "$llama/build/bin" "$llama/lib" "$llama/lib64" -name 'libmtmd.so' 2>/dev/null | head -n 1)")

# answers WHAT PROGRAM: it looks at the image, and says what the first program said.
answers() {
    local said
    said=$("$2" "$model/model.gguf" "$model/mmproj.gguf" 2>"$folder/said") || fail "$1: $(cat "$folder/said")"
    [[ $said = *" cells, then token "* ]] && [ "$said" = "${first:=$said}" ] || fail "$1: $said, where the first said ${first:-nothing}"
    echo "$1: $said"
}

export PKG_CONFIG_PATH=$lib/pkgconfig
read -r -a flags < <(pkg-config --cflags texturevlm-mtmd)
read -r -a shared < <(pkg-config --libs texturevlm-mtmd)
# The linker prefers .so under the same name, so that static linking names the archives.
read -r -a static < <(pkg-config --static --libs texturevlm-mtmd | sed -E 's/-l(texturevlm[a-z-]*)/-l:lib\1.a/g')
flags+=(-Wall -Wextra -Wno-maybe-uninitialized -Werror -I"$used")
"${CC:-cc}" -std=c11 "${flags[@]}" "$used/use.c" -o "$used/pc_shared" "${shared[@]}" -Wl,-rpath,"$lib:$theirs"
"${CC:-cc}" -std=c11 "${flags[@]}" "$used/use.c" -o "$used/pc_static" "${static[@]}" -Wl,-rpath,"$theirs"
answers "pkg-config, shared" "$used/pc_shared"
answers "pkg-config, static" "$used/pc_static"
ldd "$used/pc_static" | grep -q libtexturevlm && fail "the static program loads a library of texturevlm"

cat >"$used/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20...3.25)
project(use_mtmd LANGUAGES C)
find_package(texturevlm 0.3 REQUIRED COMPONENTS mtmd mtmd_static)
foreach(kind mtmd mtmd_static)
  add_executable(\${kind} ../use.c)
  target_link_libraries(\${kind} PRIVATE texturevlm::\${kind})
endforeach()
END
cmake -S "$used/cmake" -B "$used/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/install.log" 2>&1 &&
    cmake --build "$used/build" >>"$folder/install.log" 2>&1 || { cat "$folder/install.log"; fail "find_package"; }
answers "find_package, shared" "$used/build/mtmd"
answers "find_package, static" "$used/build/mtmd_static"
# Without llama.cpp the component is not there, and a line says why; the others are.
sed -i "s#$theirs/libmtmd#$theirs/none#" "$lib/cmake/texturevlm/texturevlmMtmd.cmake"
cmake -S "$used/cmake" -B "$used/without" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/install.log" 2>&1 && fail "mtmd is found without llama.cpp"
tr -s ' \n' ' ' <"$folder/install.log" | grep -q 'which is not there' || { cat "$folder/install.log"; fail "not why mtmd is not found"; }
sed -i 's/ mtmd mtmd_static)$/ texturevlm)/; /^foreach/,/^endforeach/d' "$used/cmake/CMakeLists.txt"
cmake -S "$used/cmake" -B "$used/without" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/install.log" 2>&1 ||
    { cat "$folder/install.log"; fail "texturevlm is not found without llama.cpp"; }

"$prefix/bin/tvlm-mtmd" -m "$model/model.gguf" --mmproj "$model/mmproj.gguf" -p what -n 3 --device reference -t 1 >"$folder/ours" 2>"$folder/said" &&
    [ -s "$folder/ours" ] || fail "bin/tvlm-mtmd: $(cat "$folder/said")"
echo "bin/tvlm-mtmd answers"
