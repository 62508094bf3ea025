#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/left_out.sh TVLM MODULE...: a tool that was built without these optional libraries (pkg-config's names) refuses in one line what
# needs them, and `tvlm --version` says so; OpenCL is one of them. It goes by the first bytes of a file, so that those here have no more than these.
# Exit: 0; 1 something else happens.
set -euo pipefail
tvlm=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf 'RIFF\020\000\000\000WEBPVP8 not a picture, in fact' >picture.webp
printf '\000\000\000\030ftypheic\000\000\000\000mif1heicnot a picture' >picture.heic
printf '\000\000\000\030ftypisom\000\000\000\000isomiso2not a clip' >clip.mp4
printf 'P6\n1 1\n255\nabc' >pixel.ppm
touch member.png && tar cf archive.tar member.png
failed=0

# refuses WORDS COMMAND...: an error of one line in which the words are.
refuses() {
    local words=$1 got=0
    shift
    "$tvlm" "$@" >stdout 2>stderr || got=$?
    if [ $got -eq 0 ] || [ $got -gt 3 ] || [ "$(wc -l <stderr)" -ne 1 ] || ! grep -q -- "$words" stderr; then
        echo "FAILED: exit $got, no line with '$words': $*: $(head -n 2 stderr)"
        failed=1
    fi
}
says() { "$tvlm" --version | grep -q -- "$1" || { echo "FAILED: --version does not say '$1'" && failed=1; }; }
for module in "$@"; do
    case $module in
    libjpeg) says 'JPEG by stb_image' ;;
    libpng) says 'PNG by stb_image' ;;
    libwebp) says 'no WebP' && refuses 'is WebP, which is not supported' select picture.webp --device reference ;;
    libheif) says 'no HEIF' && refuses 'which is not supported' select picture.heic --device reference ;;
    libarchive) says 'archives: none' && refuses 'libarchive' select archive.tar --jsonl --device reference ;;
    libavformat) says 'videos: none' && refuses 'knows no videos' video clip.mp4 --device reference ;;
    lapacke) says 'lab: no' && refuses 'is of the lab' fit x ;;
    OpenCL) says 'OpenCL: none' && refuses 'without OpenCL' select pixel.ppm --device pocl ;;
    gstreamer-1.0) ;; # an element of its own, which is then not there
    *) echo "FAILED: nothing is known of $module" && failed=1 ;;
    esac
done
[ $failed -eq 0 ]
