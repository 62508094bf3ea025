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
# A minimal Debian has no make, which CMake would ask for.
command -v make >/dev/null || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
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

# A component that there is not fails, one that there is does not.
for component in io nonsense; do
    mkdir -p "$work/$component"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(component LANGUAGES C)' \
        "find_package(texturevlm 0.3 REQUIRED COMPONENTS texturevlm $component)" >"$work/$component/CMakeLists.txt"
    rc=0
    cmake -S "$work/$component" -B "$work/$component/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 || rc=$?
    [ $((rc == 0)) = $([ $component = io ] && echo 1 || echo 0) ] || { cat "$work/log"; exit 1; }
done
echo "components: io is there, nonsense is refused"

# As a part of another project: nothing of the parent changes, and neither tool nor tests are built.
mkdir -p "$work/parent"
cat >"$work/parent/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C)
add_subdirectory("$(cd "$here/../.." && pwd)" texturevlm)
if(CMAKE_BUILD_TYPE OR TARGET tvlm OR TARGET tvlm-bench OR TARGET test_select OR TARGET uninstall)
  message(FATAL_ERROR "the parent has a build type '\${CMAKE_BUILD_TYPE}', or targets that nobody asked for")
endif()
get_target_property(kind texturevlm::io ALIASED_TARGET)
get_target_property(kind \${kind} TYPE)
message(STATUS "kind=\${kind}")
END
for shared in OFF ON; do
    rm -rf "$work/parent/build"
    cmake -S "$work/parent" -B "$work/parent/build" -DBUILD_SHARED_LIBS=$shared >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    grep -q "kind=$([ $shared = ON ] && echo SHARED || echo STATIC)_LIBRARY" "$work/log" ||
        { echo "BUILD_SHARED_LIBS=$shared is not obeyed"; cat "$work/log"; exit 1; }
done
echo "as a subproject: the parent stays as it is, BUILD_SHARED_LIBS is obeyed"

# What an install wrote, uninstall removes (on a copy of the list: this test's own install went elsewhere).
printf '%s\n' "$work/installed" "$work/never" >"$work/manifest"
: >"$work/installed"
cmake -DMANIFEST="$work/manifest" -P "$here/../../cmake/Uninstall.cmake" >"$work/log"
[ ! -e "$work/installed" ] && grep -q "Removed $work/installed" "$work/log" || { echo "uninstall leaves files"; exit 1; }
if cmake -DMANIFEST="$work/nothing" -P "$here/../../cmake/Uninstall.cmake" >"$work/log" 2>&1; then
    echo "uninstall without an install succeeds"
    exit 1
fi

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
{ LD_LIBRARY_PATH=$lib TVLM_DEVICE=reference "$work/look" /nonexistent.jpg 2>&1 || true; } |
    grep -q 'texturevlm: error: .*nonexistent' ||
    { echo "the README's example fails in silence"; exit 1; }

# The same program, and one with parameters of every kind, as C++: the parameter macros take other ways there.
echo "C++:"
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
    for standard in 17 20; do
        $compiler -std=c++$standard "${flags[@]}" -x c++ "$work/look.c" -o "$work/look_cpp" -x none "${shared[@]}"
        LD_LIBRARY_PATH=$lib TVLM_DEVICE=reference "$work/look_cpp" "$work/picture.ppm" | wc -l | grep -qx 12 ||
            { echo "the README's example as C++$standard does not work"; exit 1; }
        $compiler -std=c++$standard "${flags[@]}" "$here/params.cpp" -o "$work/params" "${shared[@]}"
        LD_LIBRARY_PATH=$lib "$work/params" || { echo "params.cpp fails as C++$standard of $compiler"; exit 1; }
        echo "$compiler -std=c++$standard: ok"
    done
done

# Structs grow (params.h). An older program: tvlm_stack_params.compactness is still a reserved word in its headers. A
# newer one: tvlm_stack_params has a member that this library does not know; it is refused once that is not 0.
echo "Growth:"
header=$prefix/include/texturevlm/stack.h
[ -e "$header" ] || header=$(find "$prefix" -name stack.h)
for age in older newer; do
    mkdir -p "$work/$age"
    cp -r "$(dirname "$header")" "$work/$age/texturevlm"
done
sed -i 's/^    float compactness;.*/    uint32_t reserved_then;/' "$work/older/texturevlm/stack.h"
awk '/^struct tvlm_stack_params {/ { inside = 1 } inside && match($0, /^    uint[0-9]+_t reserved\[[0-9]+\];/) {
    inside = 0
    split($0, part, /[][]/)
    print "    " $1 " newest;"
    if (part[2] > 1) print "    " $1 " reserved[" part[2] - 1 "];"
    next
} { print }' "$header" >\
    "$work/newer/texturevlm/stack.h"
size=$("$cc" -std=c11 "${flags[@]}" "$here/growth.c" -o "$work/growth" "${shared[@]}" && LD_LIBRARY_PATH=$lib "$work/growth")
for age in older newer; do
    cmp -s "$header" "$work/$age/texturevlm/stack.h" && { echo "the $age header is as it was"; exit 1; }
    "$cc" -std=c11 -I"$work/$age" "${flags[@]}" $([ $age = older ] || echo -DNEWEST=0) "$here/growth.c" -o "$work/growth" "${shared[@]}"
    [ "$(LD_LIBRARY_PATH=$lib "$work/growth")" = "$size" ] || { echo "a program of $age headers does not run"; exit 1; }
done
"$cc" -std=c11 -I"$work/newer" "${flags[@]}" -DNEWEST=1 "$here/growth.c" -o "$work/growth" "${shared[@]}"
said=$(LD_LIBRARY_PATH=$lib "$work/growth" 2>&1 || true)
[[ $said == *"tvlm_stack_params: its reserved words are not 0"* ]] ||
    { echo "a newer program is not refused, but: $said"; exit 1; }
echo "older programs run, newer ones are refused where they ask for what is not there"
if [ -x "$prefix/bin/tvlm" ]; then
    "$prefix/bin/tvlm" --help >/dev/null # finds its libraries by itself
    used=$(ldd "$prefix/bin/tvlm" | sed -nE 's/^.*libtexturevlm\.so[^ ]* => ([^ ]+).*$/\1/p')
    [ "$used" ] && [ "$(realpath "$used")" = "$(realpath "$lib/libtexturevlm.so")" ] ||
        { echo "bin/tvlm does not use the shared library that was installed with it, but '$used'"; exit 1; }
    echo "bin/tvlm runs, on the shared library beside it"
    for page in tvlm tvlm-select; do
        [ -s "$prefix/share/man/man1/$page.1" ] || { echo "there is no page of $page for man"; exit 1; }
    done
    [ -s "$prefix/share/bash-completion/completions/tvlm" ] && [ -s "$prefix/share/zsh/site-functions/_tvlm" ] ||
        { echo "completion for bash or zsh is not installed"; exit 1; }
    echo "pages for man, and completion, are installed"
    if [ -x "$prefix/bin/tvlm-lab" ]; then
        "$prefix/bin/tvlm" fit --help 2>&1 | grep 'usage: tvlm-lab fit' >/dev/null || { echo "bin/tvlm does not start tvlm-lab"; exit 1; }
        [ -s "$prefix/share/bash-completion/completions/tvlm-lab" ] && [ -s "$prefix/share/man/man1/tvlm-lab-fit.1" ] ||
            { echo "tvlm-lab has no completion, or no page for man"; exit 1; }
        echo "bin/tvlm starts tvlm-lab"
    fi
    if [ -x "$prefix/bin/tvlm-bench" ]; then
        "$prefix/bin/tvlm" bench --device reference --size 32x32 --repeat 1 --stage copy | grep '^copy ' >/dev/null ||
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
