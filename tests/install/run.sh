#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/install/run.sh BUILD_FOLDER: installs into a temporary prefix, moves it, builds a C and a C++ program against
# it as a user would (find_package and pkg-config, shared and static), and runs them and the tool.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc} cxx=${CXX:-c++}
for tool in "$cc" "$cxx" cmake pkg-config; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/first" >/dev/null
prefix=$work/moved
mv "$work/first" "$prefix" # nothing installed may know where it was installed
lib=$(dirname "$(find "$prefix" -name libtexturevlm.so)")
if grep -rIl -e "$work/first" -e "$(realpath "$1")" "$prefix"; then
    echo "these installed files hold a path of the build"
    exit 1
fi
expect() { # PROGRAM: it opens the reference device and says so
    local said
    said=$("$@") || { echo "failed ($said): $*"; exit 1; }
    echo "${1##*/}: $said"
}

echo "find_package:"
CC=$cc CXX=$cxx cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DCMAKE_C_FLAGS="-Wall -Wextra" -DCMAKE_CXX_FLAGS="-Wall -Wextra" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/cmake" -j "$(nproc)" >"$work/log" || { cat "$work/log"; exit 1; }
for program in c_shared c_static cpp_shared cpp_static; do expect "$work/cmake/$program"; done

echo "pkg-config:"
export PKG_CONFIG_PATH=$lib/pkgconfig
read -r -a cflags < <(pkg-config --cflags texturevlm-io)
read -r -a shared < <(pkg-config --libs texturevlm-io)
# The linker prefers .so under the same name, so static linking names the archives.
read -r -a static < <(pkg-config --static --libs texturevlm-io | sed -E 's/-l(texturevlm[a-z-]*)/-l:lib\1.a/g')
flags=(-Wall -Wextra -Wpedantic -Werror "${cflags[@]}")
"$cc" -std=c11 "${flags[@]}" "$here/use.c" -o "$work/pc_c_shared" "${shared[@]}"
"$cc" -std=c11 "${flags[@]}" "$here/use.c" -o "$work/pc_c_static" "${static[@]}"
"$cxx" -std=c++17 "${flags[@]}" "$here/use.cpp" -o "$work/pc_cpp_shared" "${shared[@]}"
"$cxx" -std=c++17 "${flags[@]}" "$here/use.cpp" -o "$work/pc_cpp_static" "${static[@]}"
for language in c cpp; do
    LD_LIBRARY_PATH=$lib expect "$work/pc_${language}_shared"
    expect "$work/pc_${language}_static"
done
echo "README:"
sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '1d;$d' >"$work/look.c"
"$cc" -std=c11 "${flags[@]}" "$work/look.c" -o "$work/look" "${shared[@]}"
{ printf 'P6 64 48 255\n'; printf '%9216s' '' | tr ' ' 'x'; } >"$work/picture.ppm"
LD_LIBRARY_PATH=$lib TVLM_DEVICE=reference "$work/look" "$work/picture.ppm" | wc -l | grep -qx 12 ||
    { echo "the README's example did not print the 12 positions of a picture of 12 cells"; exit 1; }
echo "its example prints its positions"
if [ -x "$prefix/bin/tvlm" ]; then
    "$prefix/bin/tvlm" --help >/dev/null # finds its libraries by itself
    used=$(ldd "$prefix/bin/tvlm" | sed -nE 's/^.*libtexturevlm\.so[^ ]* => ([^ ]+).*$/\1/p')
    [ "$used" ] && [ "$(realpath "$used")" = "$(realpath "$lib/libtexturevlm.so")" ] ||
        { echo "bin/tvlm does not use the shared library that was installed with it, but '$used'"; exit 1; }
    echo "bin/tvlm runs, on the shared library beside it"
    if [ -x "$prefix/bin/tvlm-bench" ]; then
        "$prefix/bin/tvlm" bench --device reference --size 32x32 --repeat 1 --stage copy | grep -q '^copy ' ||
            { echo "the installed tvlm does not start tvlm-bench"; exit 1; }
        mv "$prefix/bin/tvlm-bench" "$work/"
        { PATH=/nowhere "$prefix/bin/tvlm" bench 2>&1 || true; } | grep -qx 'tvlm: tvlm-bench is not installed: .*' ||
            { echo "the installed tvlm does not say that tvlm-bench is missing"; exit 1; }
        mv "$work/tvlm-bench" "$prefix/bin/"
        echo "bin/tvlm starts tvlm-bench, and says when it is not there"
    fi
    # It finds texturevlm-video beside the others, though it is not linked to it: this is no video, and it knows.
    if [ -e "$lib/libtexturevlm-video.so" ]; then
        { "$prefix/bin/tvlm" video "$here/use.c" 2>&1 || true; } | grep -q 'no image and no video' ||
            { echo "the installed tvlm does not load texturevlm-video"; exit 1; }
        echo "bin/tvlm loads texturevlm-video"
    fi
fi
