#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/bench_video.sh TVLM TVLM_SCENE [DEVICE]: `tvlm bench --video`: its rows, their times, its ratios. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bench=("$tvlm" bench --video ${device:+"$device"})

# holds_true WHAT PYTHON_EXPRESSION: of `d`, the JSON in $work/json, and `rows`, by scene and mode.
holds_true() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
rows = {(r["scene"], r["mode"]): r for r in d["rows"]}
scenes = sorted({r["scene"] for r in d["rows"]})
sys.exit(not eval(sys.argv[2]))' "$work/json" "$2" 2>"$work/stderr" || complain "$1: not so: $2"
}

# A folder of four frames; the second one is another picture of the same size.
mkdir "$work/in/frames"
for n in 0 2 3; do
    "$scene" "$work/in/frames/$n.png" 160 96 || exit 1
done
awk 'BEGIN { print "P2"; print 160, 96; print 255; for (i = 0; i < 160 * 96; ++i) print int(127 + 120 * sin(i / 7)) }' \
    >"$work/in/frames/1.ppm"

succeeds "${bench[@]}" --size 200x136 --repeat 2 --frames-from "$work/in/frames" --json
cp "$work/stdout" "$work/json"
if command -v python3 >/dev/null; then
    holds_true "scenes and modes" 'len(d["rows"]) == len(rows) == 24 and len(scenes) == 4'
    holds_true "modes" '{m for s, m in rows} == {"full", "delta", "carried", "stream", "sent", "flow"}'
    holds_true "a frame takes time" 'all(0 < r["frame_ms"] <= r["frame_largest_ms"] for r in d["rows"])'
    holds_true "the mean lies between" 'all(0 < r["frame_mean_ms"] <= r["frame_largest_ms"] + 1e-6 for r in d["rows"])'
    holds_true "the mean and the median of two are the same" 'all(abs(r["frame_mean_ms"] / r["frame_ms"] - 1) < 1e-3 for r in d["rows"])'
    holds_true "stages" 'all(min(r["update_ms"], r["families_ms"], r["select_ms"]) > 0 for (s, m), r in rows.items() if m in ("full", "delta", "carried"))'
    holds_true "stages of a stream" 'all(min(r["push_ms"], r["select_ms"]) > 0 for (s, m), r in rows.items() if m == "stream")'
    holds_true "full compares nothing" 'all("changed" not in r for (s, m), r in rows.items() if m in ("full", "flow"))'
    # 200x136 are 4 x 3 tiles of 64: 1 % and 10 % of them are one, 100 % all.
    holds_true "1 %" 'abs(rows["200x136, 1 %", "delta"]["changed"] - 1 / 12) < 1e-4'
    holds_true "10 %" 'abs(rows["200x136, 10 %", "carried"]["changed"] - 1 / 12) < 1e-4'
    holds_true "100 %" 'rows["200x136, 100 %", "delta"]["changed"] == 1'
    holds_true "a stream compares as the stack does" 'all(abs(rows["200x136, 10 %", m]["changed"] - 1 / 12) < 1e-4 for m in ("stream", "sent"))'
    holds_true "ratios" 'd["speedup_10_percent"] > 0 and d["speedup_10_percent_carried"] > 0'
    holds_true "the ratio is that of the rows" 'abs(d["speedup_10_percent"] * rows["200x136, 10 %", "delta"]["frame_ms"] / rows["200x136, 10 %", "full"]["frame_ms"] - 1) < 1e-3'
    holds_true "where something is carried it is that of the means" 'abs(d["speedup_10_percent_carried"] * rows["200x136, 10 %", "carried"]["frame_mean_ms"] / rows["200x136, 10 %", "full"]["frame_mean_ms"] - 1) < 1e-3'
else
    echo "SKIPPED: no python3 to read the JSON"
fi
succeeds "${bench[@]}" --size 96x64 --repeat 1
checks=$((checks + 1))
[ "$(grep -cE '^96x64, (1|10|100) % +(full|delta|carried|stream|sent|flow) .* +[0-9.]+ +[0-9.]+ +[0-9.]+$' "$work/stdout")" -eq 18 ] || complain "not 18 rows"
checks=$((checks + 1))
[ "$(grep -cE '^10 % change, .*: [0-9.]+ times as fast as full, by the me(di)?an$' "$work/stdout")" -eq 2 ] || complain "not two ratios"

mkdir "$work/in/empty"
refused 1 'fewer than' "${bench[@]}" --size 96x64 --repeat 1 --frames-from "$work/in/empty" --json
refused 1 'gone' "${bench[@]}" --size 96x64 --repeat 1 --frames-from "$work/in/gone" --json
"$scene" "$work/in/frames/4.png" 96 64
refused 1 '4.png: has another size' "${bench[@]}" --size 96x64 --repeat 1 --frames-from "$work/in/frames" --json
refused 2 'not for --video' "${bench[@]}" --stage select
refused 2 'is for --video' "$tvlm" bench --frames-from "$work/in/frames"
finish
