#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/memory.sh TVLM TVLM_SCENE [DEVICE]: --memory, one limit for all threads that decode: it is kept, whatever archives hold and
# however many threads there are, and changes no answer. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
[ -n "$(ldd "$tvlm" | grep libarchive)" ] || { echo "SKIPPED: this tvlm reads no archives"; exit 77; }

in=$work/in
lines=(timeout 300 "$tvlm" select ${device:+"$device"} -k 4 --max-side 64 --jsonl)

# Members of zeros behind a head, the same block of compressed zeros again and again, as somebody would who wants to do harm.
python3 - "$in" <<'END'
import os, sys, tarfile, zlib
MIB = 1 << 20
def pack(name, members):
    zeros = {}
    def block(count):  # raw deflate that ends at a byte, so that it can be repeated
        if count not in zeros:
            z = zlib.compressobj(9, zlib.DEFLATED, -15)
            zeros[count] = z.compress(bytes(count)) + z.flush(zlib.Z_FULL_FLUSH)
        return zeros[count]
    crc = length = 0
    with open(os.path.join(sys.argv[1], name), "wb") as out:
        out.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
        def put(content):
            nonlocal crc, length
            z = zlib.compressobj(9, zlib.DEFLATED, -15)
            out.write(z.compress(content) + z.flush(zlib.Z_FULL_FLUSH))
            crc, length = zlib.crc32(content, crc), length + len(content)
        for member, head, size in members:
            info = tarfile.TarInfo(member)
            info.size = size
            put(info.tobuf() + head)
            left = size - len(head)
            while left >= MIB:
                out.write(block(MIB))
                crc, length, left = zlib.crc32(bytes(MIB), crc), length + MIB, left - MIB
            put(bytes(left + -size % 512))
        put(bytes(1024))
        out.write(b"\x03\0" + crc.to_bytes(4, "little") + (length & 0xffffffff).to_bytes(4, "little"))
side = 2800
head = b"P6\n%d %d\n255\n" % (side, side)
size = len(head) + 3 * side * side
pack("large.tar.gz", [("a.png", b"", 384 * MIB)])
pack("eight.tar.gz", [("%d.ppm" % i, head, size) for i in range(8)])
with open(os.path.join(sys.argv[1], "alone.ppm"), "wb") as out:
    out.write(head + bytes(3 * side * side))
END
for i in 0 1 2 3; do "$scene" "$in/p$i.png" $((90 + 20 * i)) 70 || exit 1; done
small=("$in"/p?.png)

# Runs a command and prints its peak, in KiB.
peak() {
    python3 - "$work/stdout" "$work/stderr" "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[3:], stdout=open(sys.argv[1], "w"), stderr=open(sys.argv[2], "w"))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
# within WHAT MIB COMMAND...: takes no more than that above what a small picture takes. (A sanitizer keeps what was freed.)
within() {
    local what=$1 limit=$2 kib
    shift 2
    kib=$(peak "$@")
    echo "$what: $((kib / 1024)) MiB, $((base / 1024)) of them anyway"
    grep -qaE '__[at]san_init' "$tvlm" || is "$what: $kib KiB beside $base" test "$kib" -le $((base + 1024 * limit))
}
base=$(peak "${lines[@]}" "${small[0]}")

echo "== the limit is kept"
within "a member of 384 MiB that is no picture" 8 "${lines[@]}" --skip-errors "$in/large.tar.gz"
counts "its error" 1 "$work/stdout" 'large.tar.gz/a.png is not an image'
"${lines[@]}" --jobs 1 "$in/eight.tar.gz" >"$in/right" 2>"$work/stderr"
is "eight pictures: $(wc -l <"$in/right") lines" test "$(wc -l <"$in/right")" -eq 8
for memory in 46 64 120; do
    within "eight of 23 MB, 8 threads, --memory $memory" $((memory + 12)) "${lines[@]}" --jobs 8 --memory $memory "$in/eight.tar.gz"
    same "--memory $memory" "$work/stdout" "$in/right"
done

echo "== what alone is too large"
within "--memory 40" 16 "${lines[@]}" --skip-errors --jobs 8 --memory 40 "${small[@]:0:2}" "$in/eight.tar.gz" "$in/alone.ppm" "${small[@]:2:2}"
counts "refused" 9 "$work/stdout" '\.ppm"}, "error": ".*\.ppm: takes 44.9 MiB of memory to read and decode, and --memory allows 40.0 MiB for all"'
counts "the others" 4 "$work/stdout" '"positions"'
cp "$work/stdout" "$in/refused"
head -4 "$in/refused" >out.jsonl
"$tvlm" select ${device:+"$device"} -k 4 --max-side 64 --skip-errors --jobs 3 --memory 40 "${small[@]:0:2}" "$in/eight.tar.gz" "$in/alone.ppm" "${small[@]:2:2}" --resume out.jsonl 2>"$work/stderr"
same "resumed" out.jsonl "$in/refused"
rm out.jsonl
refused 1 'alone.ppm: takes 44.9 MiB' "${lines[@]}" --memory 40 "$in/alone.ppm"
refused 1 'alone.ppm takes 44.9 MiB .* the limit is 40.0 MiB' "$tvlm" select ${device:+"$device"} --memory 40 "$in/alone.ppm"
# The default is 1 GiB, of which the header of a picture that is mostly not there asks for more.
printf 'P6\n20000 20000\n255\n' >"$in/huge.ppm" && truncate -s 1200000016 "$in/huge.ppm"
refused 1 'huge.ppm takes .* the limit is 1024.0 MiB' "$tvlm" select ${device:+"$device"} "$in/huge.ppm"
refused 2 'memory: 0 is not in' "${lines[@]}" --memory 0 "${small[0]}"
refused 2 'memory needs --each' "$tvlm" channels --memory 40 -o x "${small[0]}"

echo "== files and pipes"
is "a file" test "$("${lines[@]}" --memory 46 "$in/alone.ppm" | grep -c positions)" -eq 1
is "a pipe" test "$("${lines[@]}" --memory 80 <(cat "$in/alone.ppm") | grep -c positions)" -eq 1
refused 1 'MiB of memory' "${lines[@]}" --memory 20 <(cat "$in/alone.ppm")
# All at once, many times more than there is room for: it ends, in order.
many=()
for _ in {1..5}; do many+=("${small[@]}" "$in/alone.ppm"); done
"${lines[@]}" --jobs 1 "${many[@]}" >"$in/right" 2>"$work/stderr"
for jobs in 2 8 30; do
    within "25 images, $jobs threads" 62 "${lines[@]}" --jobs $jobs --memory 50 "${many[@]}"
    same "$jobs threads" "$work/stdout" "$in/right"
done

echo "== what unpacking takes"
if command -v xz >/dev/null; then
    (cd "$in" && tar -cf small.tar p0.png p1.png && xz -9 -k small.tar) # which takes 65 MiB to unpack
    is "xz" test "$("${lines[@]}" "$in/small.tar.xz" | wc -l)" -eq 2
    refused 1 'small.tar.xz: takes more than [0-9]* bytes of memory to unpack' "${lines[@]}" --memory 100 "$in/small.tar.xz"
fi

echo "== a stream of frames"
# It keeps as many frames as its latency asks for, whose tokens are made slot by slot. PoCL takes some 50 MiB of its own for frames
# of this size.
printf 'P5\n1280 720\n255\n' >"$in/wide.pgm" && head -c 921600 /dev/zero | tr '\0' x >>"$in/wide.pgm"
wide=()
for _ in {1..24}; do wide+=("$in/wide.pgm"); done
stream=("$tvlm" video ${device:+"$device"} --share .1 --patch 64 --format f32 --causal)
[ "$device" = --device=reference ] && own=12 || own=70
"${stream[@]}" "${wide[@]}" >/dev/null 2>&1 # builds kernels, which takes memory, too
within "a stream, --memory 100" $((100 + own)) "${stream[@]}" --memory 100 "${wide[@]}"
is "a stream: $(wc -l <"$work/stdout") lines" test "$(wc -l <"$work/stdout")" -eq 12
within "a stream with a latency, --memory 130" $((130 + own)) "${stream[@]}" --memory 130 --latency 8 "${wide[@]}"
is "a stream with a latency: $(wc -l <"$work/stdout") lines" test "$(wc -l <"$work/stdout")" -eq 12
refused 1 'a clip of 1280x720 takes 12[0-9] MiB; 100 are granted' "${stream[@]}" --memory 100 --latency 8 "${wide[@]}"

finish
