#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/home.sh TVLM TVLM_SCENE [DEVICE]: a home that is not there is not made, and one that cannot be written stops
# nothing: caches go without. A full disk is told in one line. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mkdir "$work/temporary"
: >"$work/file"
"$scene" "$work/in/photo.png" 32 32 || exit 1
# home FOLDER COMMAND...: with that home, and no other place for caches.
home() {
    env -u XDG_CACHE_HOME -u POCL_CACHE_DIR TMPDIR="$work/temporary" HOME="$1" "${@:2}"
}
for folder in "$work/none" "$work/file" "$work/file/below"; do
    succeeds home "$folder" "$tvlm" select "$work/in/photo.png" --strategy grid -k 2 ${device:+"$device"}
    is "$folder is not made" test ! -d "$folder"
    is "nothing temporary is left" test -z "$(ls -A "$work/temporary")"
done

succeeds home "$work/none" env TMPDIR="$work/nowhere" "$tvlm" select "$work/in/photo.png" --strategy grid -k 2 ${device:+"$device"}
is "without a folder for temporary files the home is not made" test ! -e "$work/none" -a ! -e "$work/nowhere"

echo "== temporary folders"
# is_left: something is in the folder for temporary files, also after a while.
is_left() {
    for _ in $(seq 100); do
        [ "$(ls -A "$work/temporary")" ] || return 1
        sleep 0.1
    done
}
succeeds home "$work/none" "$tvlm" bench --help
is "a program that became another one left its folder" test -z "$(ls -A "$work/temporary")"
mkfifo "$work/in/wait.png"
# It waits for an image that nobody sends.
for signal in INT TERM KILL; do
    env -u XDG_CACHE_HOME -u POCL_CACHE_DIR --default-signal=INT,TERM TMPDIR="$work/temporary" HOME="$work/none" "$tvlm" channels \
        "$work/in/photo.png" "$work/in/wait.png" --channels r -o "$work/stack.npy" --device reference >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 300); do
        compgen -G "$work/.tvlm-*.tmp" >/dev/null && break
        sleep 0.1
    done
    is "no folder beside what is written" test "$(ls -A "$work/temporary")"
    kill -$signal $pid
    wait $pid 2>/dev/null
    is "SIG$signal left its folder" eval '! is_left'
    rm -rf "$work/temporary/"* "$work"/.tvlm-*.tmp
done

echo "== a folder for temporary files that is full"
# full COMMAND...: with such a folder, and no home, so that a driver's cache is there too. The reference device needs none, and a
# driver that compiles to files is told in one line.
full() {
    unshare --map-root-user --mount sh -c 'mount -t tmpfs -o size=16k tmpfs "$0" && { cat /dev/zero >"$0/filler" 2>/dev/null; "$@"; }' \
        "$work/temporary" env -u XDG_CACHE_HOME -u POCL_CACHE_DIR TMPDIR="$work/temporary" HOME="$work/none" "$@"
}
if ! full true 2>/dev/null; then
    echo "skipped: no folder can be mounted here"
elif full "$tvlm" select "$work/in/photo.png" --strategy grid -k 2 --device reference >/dev/null 2>&1 &&
    [ "${device:-}" != --device=reference ] && ! full "$tvlm" select "$work/in/photo.png" --strategy grid -k 2 >/dev/null 2>&1; then
    refused 1 'self-test .*full' full "$tvlm" select "$work/in/photo.png" --strategy grid -k 2
else
    succeeds full "$tvlm" select "$work/in/photo.png" --strategy grid -k 2 --device reference
fi
finish
