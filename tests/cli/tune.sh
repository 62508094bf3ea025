#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/tune.sh TVLM TVLM_SCENE [DEVICE]: `tvlm devices --tune`: its report, its file, and that selections stay as they are; a
# file that is damaged. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# A file of the user's own has no say here. PoCL keeps its programs where it had them.
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache}
mkdir -p "$POCL_CACHE_DIR"
export XDG_CACHE_HOME=$work/cache
unset TVLM_UNTUNED
photo=$work/in/photo.png
"$scene" "$photo" 320 240 || exit 1
refused 2 'seconds' "$tvlm" devices --tune --seconds 0 ${device:+"$device"}
refused 2 'photo.png' "$tvlm" devices --tune "$photo" ${device:+"$device"}
refused 1 'the reference device has nothing to tune' "$tvlm" devices --tune --device reference
if [ "$device" = --device=reference ]; then finish; exit; fi

# selects FILE: what is selected, for the grid and for the budget, without the device's words.
selects() {
    for strategy in grid budget; do
        succeeds "$tvlm" select "$photo" -k 40 --strategy $strategy --storage buffer ${device:+"$device"}
        cat "$work/stdout"
    done >"$1"
}

selects "$work/before"
cp "$work/stderr" "$work/silent"
is "a selection without a file warns" test ! -s "$work/silent"
succeeds "$tvlm" devices --tune --seconds 3 --storage buffer --json ${device:+"$device"}
cp "$work/stdout" "$work/json"
if command -v python3 >/dev/null; then
    checks=$((checks + 1))
    python3 - "$work/json" <<'END' || complain "the report"
import json, os, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
assert d["stages"] and d["seconds"] > 0 and (d["tried"] > 0 or not d["complete"]), d
assert all(s["before_ms"] > 0 and s["gain"] >= 1 and (s["gain"] > 1) == (s["settings"] != "") for s in d["stages"]), d
assert all(abs(s["gain"] - s["before_ms"] / s["after_ms"]) < 1e-3 * s["gain"] for s in d["stages"]), d
assert all(s["side"] in (512, 1024, 2560) and s["name"] for s in d["stages"]) and d["storage"] == "buffer" and d["device"] and d["driver"], d
assert os.path.isfile(d["path"]) and os.stat(d["path"]).st_mode & 0o777 == 0o600, d["path"]
END
fi
file=$(find "$work/cache" -name '*.tuning')
is "not one file: $file" test "$(wc -w <<<"$file")" = 1
is "temporary files are left" test "$(find "$work/cache" -name '*.??????' | grep -vc tuning)" = 0
selects "$work/after"
same "a tuned selection" "$work/before" "$work/after"
is "a tuned selection warns" test ! -s "$work/stderr"
printf x >>"$file"
for strategy in grid budget; do
    succeeds "$tvlm" select "$photo" -k 40 --strategy $strategy --storage buffer ${device:+"$device"}
    has "$work/stderr" '\.tuning is not used: it is damaged'
    cat "$work/stdout"
done >"$work/damaged"
same "a selection with a damaged file" "$work/before" "$work/damaged"
succeeds env TVLM_UNTUNED=1 "$tvlm" select "$photo" -k 40 --strategy grid --storage buffer ${device:+"$device"}
is "a file that is not looked at warns" test ! -s "$work/stderr"

# As text, and in a folder where nothing can be written.
says 'stages are faster by more than the noise; [0-9]+ settings were tried' \
    "$tvlm" devices --tune --seconds 0.5 --storage buffer ${device:+"$device"}
: >"$work/in/file"
succeeds env XDG_CACHE_HOME="$work/in/file" "$tvlm" devices --tune --seconds 0.5 --storage buffer ${device:+"$device"}
has "$work/stderr" 'what was tuned is kept in no file'
finish
