#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/batch.sh TVLM TVLM_SCENE [DEVICE]: `tvlm select` on many images: a line each, in order, whatever the threads do; images
# that fail; runs that are cut short and resumed; names from lists and folders; a program that asks for one image after
# the other; memory. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
photos=()
for i in 0 1 2 3 4 5 6 7; do
    "$scene" "$in/p$i.png" $((90 + 20 * (i % 3))) $((70 + 6 * (i % 2))) || exit 1
    photos+=("$in/p$i.png")
done
echo no photo >"$in/bad.png"
lines=("$tvlm" select ${device:+"$device"} -k 4 --jsonl)
resuming=("$tvlm" select ${device:+"$device"} -k 4)

# ends EXIT COMMAND...: exits so, with one line on stderr where that is not 0.
ends() {
    local code=$1 rc=0
    shift
    "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq "$code" ] || complain "exit $rc, not $code: $*"
    [ "$(wc -l <"$work/stderr")" -eq $((code > 0)) ] || complain "not $((code > 0)) lines on stderr: $*"
}

echo "== a line an image"
tried=("" "--strategy grid")
[ "$device" != --device=reference ] || tried+=("--strategy cascade" "--max-side 64")
for options in "${tried[@]}"; do
    read -r -a more <<<"$options"
    for photo in "${photos[@]}"; do "${lines[@]}" "${more[@]}" "$photo"; done >"$in/alone.jsonl" 2>"$work/stderr"
    ends 0 "${lines[@]}" "${more[@]}" "${photos[@]}"
    same "in a batch and alone: $options" "$work/stdout" "$in/alone.jsonl"
    for jobs in 1 7; do
        ends 0 "${lines[@]}" "${more[@]}" "${photos[@]}" --jobs $jobs -o out.jsonl
        same "--jobs $jobs: $options" out.jsonl "$in/alone.jsonl"
    done
done
"${lines[@]}" "${photos[@]}" >"$in/all.jsonl" 2>/dev/null
counts "lines" 8 "$in/all.jsonl" '^\{"image": \{"path": ".*\]\}$'
is "no JSON" python3 -c 'import json, sys; [json.loads(line)["positions"][0] for line in open(sys.argv[1])]' "$in/all.jsonl"
one='\0\0\200\077' zero='\0\0\0\0'
npy "$in/f.npy" '<f4' '(1, 2, 2)' "$one$zero$zero$one"
npy "$in/q.npy" '<f4' '(2, 2)' "$one$zero$one$one"
ends 0 "${lines[@]}" "${photos[@]:0:2}" --features "$in/f.npy" --features "$in/f.npy" --query "$in/q.npy" --overlay o.png
counts "two queries" 2 "$work/stdout" '^\{"selections": \[\{"image": .*"query": 0, .*"query": 1, .*\}\]\}$'
is "the pictures of two queries" test "$(ls o-p*-q*.png | wc -l)" -eq 4
rm -f -- *

echo "== outputs"
ends 0 "${lines[@]}" "${photos[0]}" -o -
same "lines to stdout, by name" "$work/stdout" <(head -1 "$in/all.jsonl")
mkdir "$in/own"
cp "${photos[0]}" "$in/own/a.png"
echo "$in/own/a.png" >"$in/own.txt"
refused 1 'a.png: is there, and its first line is none of --jsonl; it is not overwritten' "${lines[@]}" --list "$in/own.txt" -o "$in/own/a.png"
refused 1 'a.png: is there, and its first line is none of --jsonl' "${lines[@]}" --recursive "$in/own" -o "$in/own/a.png"
same "an input that was named as the output" "$in/own/a.png" "${photos[0]}"
ends 0 "${lines[@]}" "${photos[0]}" -o old.jsonl
ends 0 "${lines[@]}" "${photos[1]}" -o old.jsonl
counts "lines in place of older ones" 1 old.jsonl .
rm -rf -- *

echo "== errors"
ends 1 "${lines[@]}" "${photos[0]}" "$in/bad.png" "${photos[1]}" -o out.jsonl
has "$work/stderr" '^tvlm: .*bad.png is not an image'
same "what was done before an error" out.jsonl <(head -1 "$in/all.jsonl")
ends 1 "${resuming[@]}" "${photos[0]}" "$in/bad.png" --overlay o.png
is "the picture that was drawn before an error" test -s o-p0.png -a "$(ls | grep -c png)" -eq 1
rm o-p0.png
ends 3 "${lines[@]}" "$in/bad.png" "${photos[0]}" "$in/none.png" "${photos[1]}" --skip-errors -o out.jsonl
has "$work/stderr" '^tvlm: 2 of 4 images failed$'
counts "lines about errors" 2 out.jsonl '^\{"image": \{"path": ".*/(bad|none).png"\}, "error": ".*(is not an image|cannot open).*"\}$'
grep -v '"error"' out.jsonl >good.jsonl
same "the others" good.jsonl <(head -2 "$in/all.jsonl")
ends 3 "${lines[@]}" "$in/bad.png" --skip-errors
rm -f -- *
refused 2 'needs --jsonl' "${resuming[@]}" "${photos[0]}" --skip-errors
refused 2 'jobs needs --jsonl' "${resuming[@]}" "${photos[0]}" --jobs 2
refused 2 '\-\-list needs --jsonl' "${resuming[@]}" --list "$in/list"
refused 2 '\-\-recursive needs --jsonl' "${resuming[@]}" "$in" --recursive
refused 2 'IMAGE... is missing' "${lines[@]}"
refused 2 '\-\-null is for --list' "${lines[@]}" "${photos[0]}" --null
refused 2 '\-\-resume and --output exclude' "${resuming[@]}" "${photos[0]}" --resume a -o b
refused 2 '\-\-overlay needs each image as an argument' "${lines[@]}" "$in" --recursive --overlay o.png
refused 1 'cannot read .*/no.txt' "${lines[@]}" --list "$in/no.txt"
refused 1 'is a folder \(--recursive' "${lines[@]}" "$in"
ends 1 "${lines[@]}" "${photos[@]}" -o /dev/full
has "$work/stderr" 'cannot write to /dev/full: No space left'
rc=0
"${lines[@]}" "${photos[@]}" >/dev/full 2>"$work/stderr" || rc=$?
is "a full disk behind stdout: exit $rc" test $rc -eq 1
# A file that may grow to a few lines only: what was written stays, in whole lines. (PoCL could not keep its kernels so.)
if [ "$device" = --device=reference ]; then
    (ulimit -f 2; "${lines[@]}" "${photos[@]}" "${photos[@]}" -o out.jsonl 2>"$work/stderr"; echo $? >"$work/rc")
    is "a full disk: exit $(cat "$work/rc")" test "$(cat "$work/rc")" -eq 1
    has "$work/stderr" 'cannot write to out.jsonl: File too large'
    is "a full disk: no line is left" test -s out.jsonl
    same "a full disk: whole lines" out.jsonl <(head -"$(wc -l <out.jsonl)" "$in/all.jsonl")
    ends 0 "${resuming[@]}" "${photos[@]}" --resume out.jsonl
    same "resumed after a full disk" out.jsonl "$in/all.jsonl"
fi
rm -f -- *

echo "== resume"
for bytes in 0 1 100 "$(($(wc -c <"$in/all.jsonl") - 1))" "$(head -3 "$in/all.jsonl" | wc -c)" "$(($(head -5 "$in/all.jsonl" | wc -c) + 7))"; do
    head -c "$bytes" "$in/all.jsonl" >out.jsonl
    ends 0 "${resuming[@]}" "${photos[@]}" --resume out.jsonl
    same "resumed after $bytes bytes" out.jsonl "$in/all.jsonl"
done
ends 0 "${resuming[@]}" "${photos[@]}" --resume out.jsonl
same "resumed when all is done" out.jsonl "$in/all.jsonl"
rm out.jsonl
ends 0 "${resuming[@]}" "${photos[@]}" --resume out.jsonl
same "resumed where nothing is" out.jsonl "$in/all.jsonl"
# Of an image that is named twice each line counts once, and an error is not tried again but told.
ends 3 "${lines[@]}" "${photos[0]}" "$in/bad.png" "${photos[0]}" "${photos[1]}" --skip-errors -o twice.jsonl
head -2 twice.jsonl >out.jsonl
ends 3 "${resuming[@]}" "${photos[0]}" "$in/bad.png" "${photos[0]}" "${photos[1]}" --skip-errors --resume out.jsonl
has "$work/stderr" '^tvlm: 1 of 4 images failed$'
same "resumed with an error and a name that comes twice" out.jsonl twice.jsonl
# What another device has answered is not mixed with this one's; errors are of none.
if [ "$device" ]; then
    sed '2,$d; s/"device": "[^"]*"/"device": "an \\"other\\" one"/' "$in/all.jsonl" >out.jsonl
    cp out.jsonl before.jsonl
    ends 1 "${resuming[@]}" "${photos[@]}" --resume out.jsonl
    has "$work/stderr" 'out.jsonl: its lines are of the device "an \\"other\\" one", not of "'
    same "lines of another device" out.jsonl before.jsonl
    sed -n 2p twice.jsonl >out.jsonl
    ends 3 "${resuming[@]}" "${photos[0]}" "$in/bad.png" "${photos[0]}" "${photos[1]}" --skip-errors --resume out.jsonl
fi
odd="$in/a \"q\"\\ß"$'\n\x01'.png
cp "${photos[0]}" "$odd"
ends 0 "${lines[@]}" "$odd" "${photos[1]}" -o odd.jsonl
head -1 odd.jsonl >out.jsonl
ends 0 "${resuming[@]}" "$odd" "${photos[1]}" --resume out.jsonl
same "resumed behind a name that JSON escapes" out.jsonl odd.jsonl
rm "$odd"
echo '{"x": 1}' >foreign.jsonl
cp foreign.jsonl before.jsonl
ends 1 "${resuming[@]}" "${photos[@]}" --resume foreign.jsonl
has "$work/stderr" 'foreign.jsonl: line 1 is none of --jsonl'
same "a foreign file" foreign.jsonl before.jsonl
# What has no line's end is cut off only where it is the rest of such a line.
for lines_before in 0 2; do
    { head -$lines_before "$in/all.jsonl"; printf '{"x": 1}'; } >foreign.jsonl
    cp foreign.jsonl before.jsonl
    ends 1 "${resuming[@]}" "${photos[@]}" --resume foreign.jsonl
    has "$work/stderr" "foreign.jsonl: line $((lines_before + 1)) is none of --jsonl"
    same "a foreign file without a line's end, behind $lines_before lines" foreign.jsonl before.jsonl
done
ends 1 "${resuming[@]}" "${photos[@]}" --resume /dev/null
has "$work/stderr" '/dev/null: is no file to resume'
flock out.jsonl "${resuming[@]}" "${photos[@]}" --resume out.jsonl 2>"$work/stderr"
has "$work/stderr" 'another process writes to it'
# Killed when so many lines are there, and resumed until it is done.
many=()
for _ in {1..20}; do many+=("${photos[@]}"); done
ends 0 "${lines[@]}" "${many[@]}" -o many.jsonl
rm -f out.jsonl
killed=0
for count in 1 4 9 15 22; do
    "${resuming[@]}" "${many[@]}" --resume out.jsonl 2>/dev/null &
    while kill -0 $! 2>/dev/null && { [ ! -e out.jsonl ] || [ "$(wc -l <out.jsonl)" -lt $count ]; }; do sleep 0.002; done
    ! kill -9 $! 2>/dev/null || killed=$((killed + 1))
    wait $! 2>/dev/null
done
ends 0 "${resuming[@]}" "${many[@]}" --resume out.jsonl
same "killed $killed times" out.jsonl many.jsonl
is "nothing was killed" test $killed -gt 0
rm -f -- *

echo "== names"
printf '%s\n' "${photos[@]}" >"$in/list.txt"
ends 0 "${lines[@]}" --list "$in/list.txt"
same "a list" "$work/stdout" "$in/all.jsonl"
printf '%s\n\n' "${photos[@]:1:7}" | head -c -2 >"$in/list.txt"
"${lines[@]}" "${photos[0]}" --list - <"$in/list.txt" >"$work/stdout" 2>"$work/stderr"
same "a list on stdin, after an argument, with empty lines and no last end" "$work/stdout" "$in/all.jsonl"
{ printf '\xEF\xBB\xBF' && printf '%s\r\n' "${photos[@]}"; } >"$in/list.txt" # as editors of Windows write it
ends 0 "${lines[@]}" --list "$in/list.txt"
same "a list of Windows" "$work/stdout" "$in/all.jsonl"
printf '\xEF\xBB\xBF\n' >"$in/list.txt"
ends 0 "${lines[@]}" --list "$in/list.txt"
is "a list of nothing but a mark has lines" test ! -s "$work/stdout"
printf '%s\0' "${photos[@]}" >"$in/list.bin"
ends 0 "${lines[@]}" --list "$in/list.bin" --null
same "a list with zero bytes" "$work/stdout" "$in/all.jsonl"
refused 1 'names that end so need --null' "${lines[@]}" --list "$in/list.bin"
printf '%s\n' "${photos[0]}" "$in/none.png" "${photos[1]}" >"$in/list.txt"
ends 3 "${lines[@]}" --list "$in/list.txt" --skip-errors
counts "a list with a file that is missing" 3 "$work/stdout" .
head -c 100000 /dev/zero | tr '\0' x >"$in/list.txt"
refused 1 'this is no list of names' "${lines[@]}" --list "$in/list.txt"
: >"$in/list.txt"
ends 0 "${lines[@]}" --list "$in/list.txt"
is "an empty list has lines" test ! -s "$work/stdout"
mkdir -p "$in/tree/b/.hidden" "$in/tree/empty"
cp "${photos[0]}" "$in/tree/a.PNG"
cp "${photos[1]}" "$in/tree/b/z.png"
cp "${photos[2]}" "$in/tree/c.png"
cp "${photos[2]}" "$in/tree/b/.hidden/h.png"
cp "${photos[2]}" "$in/tree/.h.png"
ln -s ../../p3.png "$in/tree/b/link.png"
ln -s .. "$in/tree/b/up"
echo text >"$in/tree/notes.txt"
ends 0 "${lines[@]}" --recursive "$in/tree" "${photos[4]}"
is "the order of a folder: $(grep -oE '[a-z0-9]+\.(png|PNG)"' "$work/stdout" | tr '\n' ' ')" \
    test "$(grep -oE '[a-zA-Z0-9]+\.(png|PNG)"' "$work/stdout" | tr -d '\n')" = 'a.PNG"link.png"z.png"c.png"p4.png"'
ends 3 "${lines[@]}" --recursive "$in/tree/empty" "$in/tree/c.png" --skip-errors
has "$work/stdout" 'tree/empty"}, "error": ".*: there is no picture in this folder"'

echo "== archives"
if [ -n "$(ldd "$tvlm" | grep libarchive)" ]; then
    mkdir "$in/shard"
    for i in 0 1 2 3; do
        cp "${photos[i]}" "$in/shard/000$i.png"
        echo '{"caption": "a photo"}' >"$in/shard/000$i.json"
    done
    (cd "$in/shard" && tar -cf ../shard.tar ./0000.json ./0000.png ./0001.json 0001.png 0002.png 0002.json 0003.png && tar -czf ../shard.tar.gz .)
    # named FILE: its lines with the names of the photos, as in all.jsonl.
    named() { sed -E "s|\"[^\"]*/000([0-9]).png\"|\"$in/p\1.png\"|" "$1"; }
    ends 0 "${lines[@]}" "$in/shard.tar"
    is "names of members" grep -q "\"path\": \"$in/shard.tar/0000.png\"" "$work/stdout"
    same "an archive" <(named "$work/stdout") <(head -4 "$in/all.jsonl")
    cp "$work/stdout" "$in/shard.jsonl"
    ends 0 "${lines[@]}" "$in/shard.tar.gz" -o out.jsonl
    same "a compressed archive" <(named out.jsonl | sort) <(head -4 "$in/all.jsonl")
    for n in 1 3; do
        head -$n "$in/shard.jsonl" >out.jsonl
        ends 0 "${resuming[@]}" "$in/shard.tar" --resume out.jsonl
        same "an archive, resumed after $n" out.jsonl "$in/shard.jsonl"
    done
    mkdir "$in/shards"
    cp "$in/shard.tar" "$in/shards/b.tar"
    cp "${photos[4]}" "$in/shards/c.png"
    ends 0 "${lines[@]}" --recursive "$in/shards"
    counts "an archive in a folder" 5 "$work/stdout" .
    mkdir each
    ends 0 "$tvlm" channels ${device:+"$device"} --channels r --each -o each "$in/shard.tar" --list <(echo "$in/shards/b.tar")
    is "files of members: $(ls each | tr '\n' ' ')" test "$(ls each | wc -l)" -eq 8
    rm -r each
    # One that cannot be opened, and was told of before.
    mkdir "$in/broken"
    : >"$in/broken/a.tar"
    { printf '\x1f\x8b'; head -c 300 /dev/zero; } >"$in/broken/b.tar.gz"
    cp "${photos[4]}" "$in/broken/c.png"
    ends 3 "${lines[@]}" --recursive "$in/broken" --skip-errors -o out.jsonl
    cp out.jsonl "$in/broken.jsonl"
    for n in 1 2 3; do
        head -$n "$in/broken.jsonl" >out.jsonl
        ends 3 "${resuming[@]}" --recursive "$in/broken" --skip-errors --resume out.jsonl
        same "archives that cannot be opened, resumed after $n" out.jsonl "$in/broken.jsonl"
    done
    rm -rf out.jsonl
    # Cut in its first picture, so that nothing of it is answered.
    head -c 700 "$in/shard.tar" >"$in/none.tar"
    ends 1 "${lines[@]}" "$in/none.tar"
    mkdir each
    ends 1 "$tvlm" channels ${device:+"$device"} --channels r --each -o each "$in/none.tar"
    rm -r each
    # Cut in the third picture: those before it are there, and one line says what is wrong.
    head -c "$(($(grep -abo 0002.png "$in/shard.tar" | head -1 | cut -d: -f1) + 700))" "$in/shard.tar" >"$in/cut.tar"
    ends 3 "${lines[@]}" "$in/cut.tar" -o out.jsonl
    has "$work/stderr" 'cut.tar/0002.png: [Tt]runcated'
    same "an archive that is cut" <(named out.jsonl) <(head -2 "$in/all.jsonl")
    ends 3 "${lines[@]}" "$in/cut.tar" "${photos[4]}" --skip-errors
    counts "behind an archive that is cut" 4 "$work/stdout" .
    counts "an archive that is cut" 1 "$work/stdout" '"error"'
    # A sparse file, of a picture's name, has fewer data than bytes: the members behind it are read all the same.
    (cd "$in" && truncate -s 1M hole.png && tar -Scf sparse.tar hole.png p4.png && rm hole.png)
    ends 3 "${lines[@]}" "$in/sparse.tar" --skip-errors
    has "$work/stdout" 'sparse.tar/hole.png"}, "error": ".*: its data end before the size that it says'
    counts "behind a sparse file" 1 "$work/stdout" 'sparse.tar/p4.png", "width"'
    # What libarchive warns of, as of a name that is not of the locale, is read like the others.
    cp "${photos[1]}" "$in/bäume.png"
    (cd "$in" && LC_ALL=C.UTF-8 tar --format=pax -cf names.tar bäume.png p4.png && rm bäume.png)
    ends 0 "${lines[@]}" "$in/names.tar"
    counts "a member with a warning" 1 "$work/stdout" 'names.tar/bäume.png", "width"'
    counts "behind a member with a warning" 2 "$work/stdout" '"width"'
    head -c 20000 /dev/urandom >"$in/noise.tar"
    ends 1 "${lines[@]}" "$in/noise.tar"
    has "$work/stderr" 'noise.tar: '
    (cd "$in" && tar -cf texts.tar list.txt && tar -cf bad.tar bad.png)
    ends 1 "${lines[@]}" "$in/texts.tar"
    has "$work/stderr" 'texts.tar: there is no picture in this archive'
    ends 1 "${lines[@]}" "$in/bad.tar"
    has "$work/stderr" '^tvlm: .*bad.tar/bad.png is not an image'
    refused 2 'an archive needs --jsonl' "${resuming[@]}" "$in/shard.tar"
    rm -f -- *
fi

echo "== one after the other"
# A program writes a name, and waits for its line before it writes the next.
coproc asked { "${lines[@]}" --list - --skip-errors 2>"$work/stderr"; }
pid=$!
for photo in "${photos[@]:0:3}" "$in/bad.png" "${photos[@]:3}"; do
    echo "$photo" >&"${asked[1]}"
    IFS= read -r -t 60 line <&"${asked[0]}" || { complain "no answer to $photo"; break; }
    echo "$line"
done >"$work/stdout"
exec {asked[1]}>&-
rc=0
wait $pid || rc=$?
is "a co-process: exit $rc" test $rc -eq 3
same "a co-process" <(grep -v '"error"' "$work/stdout") "$in/all.jsonl"
# It ends with the first error, although more could come.
coproc asked { "${lines[@]}" --list - 2>"$work/stderr"; }
pid=$!
echo "$in/none.png" >&"${asked[1]}"
rc=0
wait $pid || rc=$?
is "an error while the list is open: exit $rc" test $rc -eq 1

echo "== a file of each"
mkdir "$in/other" files alone
cp "${photos[1]}" "$in/other/p0.png"
cp "${photos[2]}" "$in/p0-2.png"
five=("${photos[0]}" "$in/p0-2.png" "$in/other/p0.png" "$in/bad.png" "${photos[1]}")
made=(p0 p0-2 p0-3 bad p1)
each() { ends "$1" "$tvlm" "$2" ${device:+"$device"} "${@:3}"; }
# each_of COMMAND END OPTION...: files are those of runs of their own, whatever their order, and go on where a line says so.
each_of() {
    local command=$1 end=$2 i
    shift 2
    rm -rf -- files/* alone/*
    each 3 "$command" "$@" --each -o files "${five[@]}" --jsonl --skip-errors
    cp "$work/stdout" lines
    is "$command: the files are $(ls files | tr '\n' ' ')" test "$(ls files | tr '\n' ' ')" = "p0-2$end p0-3$end p0$end p1$end "
    for i in 0 1 2 4; do
        each 0 "$command" "$@" "${five[i]}" -o "alone/${made[i]}$end"
        same "$command: ${made[i]}" "files/${made[i]}$end" "alone/${made[i]}$end"
    done
    head -2 lines >out.jsonl
    rm -rf -- files/*
    each 3 "$command" "$@" --each -o files "${five[@]}" --resume out.jsonl --skip-errors
    same "$command: resumed" out.jsonl lines
    is "$command: resumed, the files are $(ls files | tr '\n' ' ')" test "$(ls files | tr '\n' ' ')" = "p0-3$end p1$end "
    rm -rf -- files/* out.jsonl lines
    each 1 "$command" "$@" --each -o files "${five[@]}"
    is "$command: what is there before an error: $(ls files | tr '\n' ' ')" test "$(ls files | wc -l)" -eq 3
    rm -rf -- files/*
    refused 2 'each needs -o' "$tvlm" "$command" "$@" --each "${photos[0]}"
    refused 1 'there is no folder nowhere' "$tvlm" "$command" "$@" --each -o nowhere "${photos[0]}"
    refused 2 'list needs --each' "$tvlm" "$command" "$@" -o x "${photos[0]}" --list "$in/list.txt"
    refused 2 'jobs needs --each' "$tvlm" "$command" "$@" -o x "${photos[0]}" --jobs 2
}
each_of channels .npy --channels r,edges
each_of tensors .safetensors --for siglip --budget 4
each 0 channels --channels r --each -o files --recursive "$in/tree/b"
is "of a folder: $(ls files | tr '\n' ' ')" test "$(ls files | tr '\n' ' ')" = "link.npy z.npy "
each 0 tensors --for siglip --each -o files "${photos[0]}" "${photos[1]}" --features "$in/f.npy" --features "$in/f.npy" --query "$in/q.npy" --combine max
refused 2 'sheet is not for --each' "$tvlm" channels --each -o files "${photos[0]}" --sheet x.png
refused 2 'json is not for --each' "$tvlm" tensors --for siglip --each -o files "${photos[0]}" --json
refused 2 'video is not for --each' "$tvlm" tensors --for qwen2-vl --each -o files "${photos[0]}" --video
refused 1 'is an input; it is not overwritten' "$tvlm" tensors --for siglip --each -o "$in" "${photos[0]}" --features "$in/p0.safetensors" --query "$in/q.npy"
rm -rf -- *

echo "== memory"
# Its peak does not grow with the number of images. (A sanitizer keeps what was freed.)
peak() {
    python3 - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdin=open(sys.argv[1]), stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
if [ "${TVLM_TEST_SMALL:-0}" != 1 ] && ! grep -qaE '__[at]san_init' "$tvlm" && command -v python3 >/dev/null; then
    for _ in {1..4}; do printf '%s\n' "${photos[@]}"; done >"$in/few.txt"
    for _ in {1..40}; do printf '%s\n' "${photos[@]}"; done >"$in/many.txt"
    few=$(peak "$in/few.txt" "${lines[@]}" --list -) most=$(peak "$in/many.txt" "${lines[@]}" --list -)
    echo "32 images: $few KiB, 320: $most KiB"
    is "memory grows from $few to $most KiB" test "$most" -le $((few + 6144))
fi

finish
