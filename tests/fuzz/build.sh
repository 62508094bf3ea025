#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# build.sh: builds the fuzz targets as OSS-Fuzz runs them. Its environment gives $SRC (the checkout is $SRC/texturevlm), $WORK,
# $OUT, $CC, $CFLAGS with the sanitizer, and $LIB_FUZZING_ENGINE. In $OUT there are then, for each target, the program, its
# seeds and a dictionary where it has one, and in $OUT/lib the shared libraries that the programs need.
set -eu
cmake -S "$SRC/texturevlm" -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF \
    -DTVLM_BUILD_TOOLS=OFF -DTVLM_BUILD_BENCH=OFF -DTVLM_BUILD_TESTS=ON -DTVLM_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    '-DCMAKE_BUILD_RPATH=$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
mkdir -p "$OUT/lib"
for source in "$SRC"/texturevlm/tests/fuzz/fuzz_*.c; do
    target=$(basename "$source" .c) name=$(basename "$source" .c | sed 's/^fuzz_//')
    cmake --build "$WORK/build" --target "$target"
    program=$WORK/build/tests/fuzz/$target
    cp "$program" "$OUT/"
    ldd "$program" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|dl|rt|pthread|gcc_s|resolv)\.so/ { print $3 }' | xargs -r cp -n -L -t "$OUT/lib"
    dictionary=$SRC/texturevlm/tests/fuzz/dict/$name.dict
    [ ! -e "$dictionary" ] || cp "$dictionary" "$OUT/$target.dict"
    (cd "$SRC/texturevlm/tests/fuzz/corpus/$name" && zip -q "$OUT/${target}_seed_corpus.zip" ./*)
done
