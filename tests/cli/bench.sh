#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/bench.sh TVLM TVLM_SCENE [DEVICE]: `tvlm bench`: what its rows say, and that it adds up; --layouts, --peaks. DEVICE as in
# common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ ! -x "${tvlm%/*}/tvlm-bench" ]; then echo "SKIPPED: no tvlm-bench"; exit 77; fi
bench=("$tvlm" bench ${device:+"$device"})

# holds_true WHAT PYTHON_EXPRESSION: of `d`, the JSON in $work/json, of its `rows` by name, and of `opencl`: whether the device
# is none of the reference's.
holds_true() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {r.get("name", r.get("layout")): r for r in d.get("stages") or d.get("layouts") or d["peaks"]}
opencl = sys.argv[3] == ""
sys.exit(not eval(sys.argv[2]))' "$work/json" "$2" "$device" 2>"$work/stderr" || complain "$1: not so: $2"
}

succeeds "${bench[@]}" --size 160x96 --repeat 5 --stage visual,select --json
cp "$work/stdout" "$work/json"
succeeds "${bench[@]}" --size 160x96 --repeat 2 --stage visual
counts "rows" 1 "$work/stdout" '^visual +[0-9.]+ +[0-9.]+ +[0-9.]+ +([0-9.]+|-) +([0-9]+|-) +([0-9]+|-) .*%[* ] +[0-9.]+ +[0-9.]+$'
counts "cold rows of a part" 0 "$work/stdout" '^cold'
if command -v python3 >/dev/null; then
    holds_true "the roof comes first" '[r["name"] for r in d["stages"]][:2] == ["copy", "launch"]'
    holds_true "times are in order" 'all(0 < r["minimum_ms"] <= r["median_ms"] <= r["p90_ms"] for r in d["stages"])'
    holds_true "commands" 'all(("kernels" in r) == opencl for r in d["stages"])'
    holds_true "a launch is one kernel, a copy one transfer" 'not opencl or (rows["launch"]["kernels"], rows["launch"]["transfers"], rows["copy"]["kernels"], rows["copy"]["transfers"]) == (1, 0, 0, 1)'
    holds_true "a selection waits once, the kernels of a family never" 'not opencl or (rows["select, uploaded"]["waits"], rows["visual"]["waits"]) == (1, 0)'
    holds_true "more commands the first time" 'not opencl or rows["select, uploaded"]["kernels"] > rows["select, again"]["kernels"]'
    holds_true "events take time" 'not opencl or all(r["event_ms"] > 0 for r in d["stages"] if "event_ms" in r)'
    holds_true "no event without a device" 'opencl or not any("event_ms" in r for r in d["stages"])'
    holds_true "the bound" 'all(abs(r["bound_ms"] * r["over_bound"] / r["median_ms"] - 1) < 1e-3 for r in d["stages"] if "bound_ms" in r)'
    holds_true "the bound is bytes and launches" 'all(abs(r["bound_ms"] - (r["bytes"] / rows["copy"]["bytes"] * rows["copy"]["median_ms"] + (r.get("kernels", 0) + r.get("transfers", 0)) * rows["launch"]["minimum_ms"])) < 0.01 * r["bound_ms"] + 1e-6 for r in d["stages"] if "bound_ms" in r and r["name"] not in ("copy", "launch"))'
    holds_true "the copy is larger than the cache" 'not rows["copy"]["fits_cache"] and d.get("cache_bytes", 0) < rows["copy"]["bytes"]'
    succeeds "${bench[@]}" --size 96x64 --repeat 1 --json
    cp "$work/stdout" "$work/json"
    holds_true "the first selection" 'min(d["cold_open_ms"], d["cold_select_ms"], d["warm_select_ms"]) > 0'
    succeeds "${bench[@]}" --layouts --size 160x96 --repeat 3 --json
    cp "$work/stdout" "$work/json"
    holds_true "layouts" '{"mvp13", "visual12", "cluster15", "embed31", "temporal34", "full40"} <= set(rows)'
    holds_true "channels" 'rows["full40"]["channels"] == 40 and rows["visual12"]["channels"] == 12'
    holds_true "memory" 'all(0 < r["texture_bytes"] <= r["peak_bytes"] for r in rows.values())'
    holds_true "more channels take more" 'rows["full40"]["texture_bytes"] > rows["visual12"]["texture_bytes"]'
    holds_true "times" 'all(0 < r["median_ms"] <= r["p90_ms"] and r["first_ms"] > 0 for r in rows.values())'
    holds_true "commands of layouts" 'all(("kernels" in r) == opencl for r in rows.values()) and (not opencl or rows["full40"]["kernels"] > rows["visual12"]["kernels"] > 0)'
    succeeds "${bench[@]}" --peaks --size 512x384 --json
    cp "$work/stdout" "$work/json"
    holds_true "peaks" '[r["format"] for r in d["peaks"]] == ["u8", "f16", "f32"] and all(r["pixel_bytes"] == 3 * 512 * 384 and r["times"] < 100 for r in d["peaks"])'
    holds_true "the picture's own memory is among it" 'all(r["peak_bytes"] > r["pixel_bytes"] for r in d["peaks"])'
else
    echo "SKIPPED: no python3 to read the JSON"
fi
succeeds "${bench[@]}" --layouts --size 96x64 --repeat 1
counts "layouts" 1 "$work/stdout" '^full40 +40 +96x64 '
refused 2 'exclude each other' "${bench[@]}" --layouts --video
refused 2 'exclude each other' "${bench[@]}" --peaks --layouts
refused 2 'takes --size, and none of' "${bench[@]}" --peaks --repeat 3
[ -z "$(listing)" ] || complain "files are left: $(listing)"
# A word that names no stage, alone, among others, longer than any name, and none at all.
refused 2 '--stage nosuch: no stage has that' "${bench[@]}" --size 96x64 --stage nosuch
refused 2 '--stage nosuch: no stage has that' "${bench[@]}" --size 96x64 --stage visual,nosuch --json
refused 2 '--stage vvvv*: no stage has that' "${bench[@]}" --size 96x64 --stage "$(printf 'v%.0s' {1..60})"
refused 2 '--stage names no stage' "${bench[@]}" --size 96x64 --stage ,
refused 2 'is not for --layouts' "${bench[@]}" --layouts --stage visual
finish
