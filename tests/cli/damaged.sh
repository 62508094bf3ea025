#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/damaged.sh TVLM TVLM_SCENE [DEVICE]: inputs that are cut or damaged: one line that names what is wrong and exit 3, with
# --skip-errors a line of JSON; what was answered before the damage stays, and --resume goes on. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
lines=("$tvlm" select ${device:+"$device"} -k 4 --jsonl)
resuming=("$tvlm" select ${device:+"$device"} -k 4)

# ends EXIT LINES COMMAND...: exits so, with so many lines on stdout, and with one on stderr where the exit is not 0.
ends() {
    local code=$1 count=$2 rc=0
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq "$code" ] || complain "exit $rc, not $code: $*"
    [ "$(wc -l <"$work/stdout")" -eq "$count" ] || complain "not $count lines: $*"
    [ "$(grep -vc '^tvlm: warning: ' "$work/stderr")" -eq $((code > 0)) ] || complain "not $((code > 0)) lines on stderr: $*"
}

# cut FILE BYTES NAME: without its last so many bytes.
cut_off() { head -c -"$2" "$1" >"$3"; }

# flip FILE PLACE: another byte there, counted from the end where it is negative.
flip() {
    python3 - "$1" "$2" <<'END'
import sys
bytes = bytearray(open(sys.argv[1], "rb").read())
bytes[int(sys.argv[2])] ^= 0x55
open(sys.argv[1], "wb").write(bytes)
END
}

if [ -n "$(ldd "$tvlm" | grep libarchive)" ] && command -v python3 >/dev/null; then
    mkdir "$in/shard"
    for i in 0 1 2 3; do "$scene" "$in/shard/p$i.png" $((90 + 20 * i)) 70 || exit 1; done
    echo text >"$in/shard/p4.txt"
    (cd "$in/shard" && tar -cf ../whole.tar p0.png p1.png p2.png p3.png p4.txt)
    size=$(stat -c %s "$in/whole.tar")
    ends 0 4 "${lines[@]}" "$in/whole.tar"
    cp "$work/stdout" "$in/right"

    # broken ARCHIVE LINES PATTERN: so many of its members are answered before the damage, which a line names.
    broken() {
        local name=$1 count=$2 pattern=$3
        ends 3 "$count" "${lines[@]}" "$in/$name"
        has "$work/stderr" "^tvlm: .*/$name.*$pattern"
        same "$name: what comes before the damage" <(sed "s|/$name/|/whole.tar/|" "$work/stdout") <(head -n "$count" "$in/right")
        ends 3 $((count + 2)) "${lines[@]}" "$in/$name" "$in/shard/p0.png" --skip-errors
        counts "$name: lines about the damage" 1 "$work/stdout" "\"$in/$name.*\"error\": \".*$pattern"
        cp "$work/stdout" "$in/all"
        for begun in 0 1 $((count + 1)); do
            head -n $begun "$in/all" >resumed.jsonl
            ends 3 0 "${resuming[@]}" "$in/$name" "$in/shard/p0.png" --skip-errors --resume resumed.jsonl
            same "$name: resumed after $begun lines" resumed.jsonl "$in/all"
        done
        rm -f resumed.jsonl
    }

    echo "== a tar that is cut"
    third=$(grep -abo p2.png "$in/whole.tar" | head -1 | cut -d: -f1)
    head -c $((third + 700)) "$in/whole.tar" >"$in/in-data.tar" && broken in-data.tar 2 'p2.png: [Tt]runcated'
    head -c $((third + 100)) "$in/whole.tar" >"$in/in-header.tar" && broken in-header.tar 2 '[Tt]runcated'
    cp "$in/whole.tar" "$in/header.tar" && flip "$in/header.tar" $((third + 3)) && broken header.tar 2 '[Dd]amaged|checksum'
    text=$(grep -abo p4.txt "$in/whole.tar" | head -1 | cut -d: -f1)
    head -c $((text + 514)) "$in/whole.tar" >"$in/text.tar" && broken text.tar 4 '[Tt]runcated'
    cat "$in/whole.tar" "$in/whole.tar" >"$in/twice.tar" && broken twice.tar 4 'neither a member nor the end of a tar'
    # Between two members, or behind the last one: it may be all.
    for bytes in $third $((text + 1024)); do
        head -c "$bytes" "$in/whole.tar" >"$in/unmarked.tar"
        ends 0 $((bytes == third ? 2 : 4)) "${lines[@]}" "$in/unmarked.tar"
        counts "warnings" 1 "$work/stderr" '^tvlm: warning: .*unmarked.tar: ends without the blocks that mark'
    done

    echo "== what is compressed"
    for kind in gz bz2 xz zst; do
        case $kind in
        gz) gzip -kn <"$in/whole.tar" ;;
        bz2) bzip2 <"$in/whole.tar" ;;
        xz) xz <"$in/whole.tar" ;;
        zst) zstd -qc "$in/whole.tar" ;;
        esac >"$in/whole.tar.$kind" 2>/dev/null || { echo "SKIPPED: no program for $kind"; continue; }
        ends 0 4 "${lines[@]}" "$in/whole.tar.$kind"
        is "$kind: a warning" test ! -s "$work/stderr"
        same "$kind" <(sed "s|/whole.tar.$kind/|/whole.tar/|" "$work/stdout") "$in/right"
        # Two of its streams, one behind the other, are one; what does not belong to it is left aside.
        cp "$in/whole.tar.$kind" "$in/two.tar.$kind"
        case $kind in
        gz) head -c 999 "$in/whole.tar" | gzip -n && tail -c +1000 "$in/whole.tar" | gzip -n && head -c 40 /dev/zero ;;
        bz2) head -c 999 "$in/whole.tar" | bzip2 && tail -c +1000 "$in/whole.tar" | bzip2 ;;
        xz) head -c 999 "$in/whole.tar" | xz && head -c 8 /dev/zero && tail -c +1000 "$in/whole.tar" | xz ;;
        zst) head -c 999 "$in/whole.tar" | zstd -q && tail -c +1000 "$in/whole.tar" | zstd -q ;;
        esac >"$in/two.tar.$kind"
        ends 0 4 "${lines[@]}" "$in/two.tar.$kind"
        is "$kind: a warning about two streams" test ! -s "$work/stderr"
        # The checksum at its end, which comes behind all members.
        cp "$in/whole.tar.$kind" "$in/sum.tar.$kind"
        case $kind in
        gz) flip "$in/sum.tar.gz" -6 ;;
        bz2) flip "$in/sum.tar.bz2" -2 ;;
        xz) flip "$in/sum.tar.xz" -30 ;;
        zst) flip "$in/sum.tar.zst" -2 ;;
        esac
        if [ $kind = zst ]; then # libzstd keeps the last block to itself where the checksum of all is wrong
            broken sum.tar.zst 3 "p3.png: .*doesn't match checksum"
        else
            broken "sum.tar.$kind" 4 'what was read of it may be damaged'
        fi
        # Cut in its last bytes, and in the midst of it, between any two blocks of the tar.
        cut_off "$in/whole.tar.$kind" 3 "$in/end.tar.$kind" && broken "end.tar.$kind" 4 'cut off'
        head -c $(($(stat -c %s "$in/whole.tar.$kind") * 6 / 10)) "$in/whole.tar.$kind" >"$in/half.tar.$kind"
        rc=0
        "${lines[@]}" "$in/half.tar.$kind" >"$work/stdout" 2>"$work/stderr" || rc=$?
        is "$kind, cut in the midst: exit $rc" test $rc -eq 3 -o \( $rc -eq 1 -a ! -s "$work/stdout" \)
        is "$kind, cut in the midst: not one line" test "$(wc -l <"$work/stderr")" -eq 1
        same "$kind: what comes before the cut" <(sed "s|/half.tar.$kind/|/whole.tar/|" "$work/stdout") <(head -n "$(wc -l <"$work/stdout")" "$in/right")
    done
    # Cut between two members, the data of which had an end of their own, as pigz and others make.
    { head -c $((third)) "$in/whole.tar" | gzip -n; } >"$in/unmarked.tar.gz"
    ends 0 2 "${lines[@]}" "$in/unmarked.tar.gz"
    counts "warnings" 1 "$work/stderr" 'unmarked.tar.gz: ends without the blocks that mark'

    # What begins no stream behind the first: the rest of the tar is lost, but behind its end it is left aside.
    { head -c $((third)) "$in/whole.tar" | gzip -n; tail -c +$((third + 1)) "$in/whole.tar" | gzip -n >"$in/rest.gz"; printf X; tail -c +2 "$in/rest.gz"; } >"$in/second.tar.gz"
    broken second.tar.gz 2 'it has no end, and what follows its gzip data is no gzip data'
    { cat "$in/whole.tar.gz" && echo text; } >"$in/behind.tar.gz"
    ends 0 4 "${lines[@]}" "$in/behind.tar.gz"

    echo "== a file of each"
    mkdir each
    ends 3 0 "$tvlm" channels ${device:+"$device"} --channels r --each -o each "$in/sum.tar.gz"
    has "$work/stderr" 'sum.tar.gz: .*may be damaged'
    is "files of members: $(ls each | tr '\n' ' ')" test "$(ls each | wc -l)" -eq 4
    rm -r each

    echo "== other archives"
    (cd "$in/shard" && python3 -c 'import zipfile; zipfile.ZipFile("../p.zip", "w").write("p0.png")')
    refused 1 'p.zip is not an image' "${lines[@]}" "$in/p.zip"
    head -c 20000 /dev/urandom >"$in/noise.tar.gz"
    refused 1 'noise.tar.gz: ' "${lines[@]}" "$in/noise.tar.gz"
    for kind in gz bz2 xz zst; do
        [ ! -s "$in/whole.tar.$kind" ] || { head -c 9 "$in/whole.tar.$kind" >"$in/stub.tar.$kind" && refused 1 "stub.tar.$kind: .*cut off" "${lines[@]}" "$in/stub.tar.$kind"; }
    done
else
    echo "SKIPPED: archives"
fi

finish
