#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/home.sh TVLM TVLM_SCENE [DEVICE]: a home that is not there is not made, and one that cannot be written stops
# nothing: caches go without. DEVICE as in common.sh.
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
finish
