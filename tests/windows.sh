#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/windows.sh COMPILER: that a compiler for Windows takes the library without a warning, with the lab, which is not built there yet, and
# without decoders and videos. Nothing is linked or run. Exit 77 where the compiler is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
compiler=${1:-x86_64-w64-mingw32-gcc-posix}
command -v "$compiler" >/dev/null || { echo "SKIPPED: no $compiler"; exit 77; }

# The headers of other libraries that say nothing of a system. Those of this system's C library must not be found.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for header in CL clblast_c.h uthash.h sha2.h lapacke.h lapack.h lapacke_config.h lapacke_mangling.h lapacke_utils.h; do
    [ ! -e "/usr/include/$header" ] || ln -s "/usr/include/$header" "$work/$header"
done
ln -s /usr/include/cjson/* /usr/include/stb/* "$work/"

# Its own printf is another one than that of which the attribute `printf` warns, and its isnan and others take doubles alone.
refused() { "$compiler" -std=c11 -fsyntax-only -D_POSIX_C_SOURCE=200809L -D__USE_MINGW_ANSI_STDIO=1 -DTVLM_WITH_LAB -DCL_TARGET_OPENCL_VERSION=300 \
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-format -Wno-float-conversion -Werror -Iinclude -Ilib -isystem "$work" "$1" >"$work/said.$2" 2>&1 && return 1; return 0; }
check() {
    local file=$1
    if refused "$file" $$; then echo "FAILED: $file: $(grep -m 1 -E 'error' "$work/said.$$")"; fi
}
count=0 failed=0
for file in lib/*/*.c lib/lab/*/*.c lib/platform/*.c lib/platform/windows/*.c; do
    case $file in lib/io_video/* | lib/io/image_heif_* | lib/io/image_jpeg_* | lib/io/image_png_* | lib/io/image_webp_*) continue ;; esac
    count=$((count + 1))
    said=$(check "$file")
    [ -z "$said" ] || { echo "$said"; failed=$((failed + 1)); }
done
echo "$((count - failed)) files of $count compile for Windows, $failed failed"
[ $failed -eq 0 ]
