#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/video.sh TVLM TVLM_SCENE [DEVICE]: `tvlm video`: a line of JSON a frame, pictures and videos of them, what is left out
# with a line, what is refused with one, and what is there after Ctrl-C. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

video=("$tvlm" video ${device:+"$device"})

# runs LINES WARNINGS ARGUMENTS...: exit 0, that many lines of JSON (into $work/stdout) and of warnings.
runs() {
    local lines=$1 warnings=$2 rc=0
    shift 2
    "${video[@]}" "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq 0 ] || complain "exit $rc: $*"
    [ "$(wc -l <"$work/stdout")" -eq "$lines" ] || complain "not $lines lines: $*"
    [ "$(grep -c '^tvlm: warning: ' "$work/stderr")" -eq "$warnings" ] || complain "not $warnings warnings: $*"
    ! grep -vq '^tvlm: warning: ' "$work/stderr" || complain "something on stderr: $*"
}

# lines PYTHON_EXPRESSION: of `d`, the objects of $work/stdout, this is true. Without python3: they have braces.
lines() {
    checks=$((checks + 1))
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys
d = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
sys.exit(not eval(sys.argv[2]))' "$work/stdout" "$1" 2>"$work/stderr" || complain "not so: $1"
    else
        ! grep -vq '^{.*}$' "$work/stdout" || complain "a line is no JSON object"
    fi
}

# Blobs and a square that goes to the right by 3 pixels a frame.
frame() { # FILE NUMBER WIDTH HEIGHT
    awk -v n="$2" -v w="$3" -v h="$4" 'BEGIN { print "P2"; print w, h; print 255
        for (y = 0; y < h; ++y) for (x = 0; x < w; ++x) {
            s = x - 3 * n
            print (s >= 10 && s < 26 && y >= 20 && y < 36) ? ((s + y) % 4 < 2 ? 250 : 20) \
                : int(110 + 20 * sin(x / 9) * cos(y / 7)) } }' >"$1"
}
frames=()
for n in 0 1 2 3 4 5; do
    frame "$work/in/f$n.pgm" $n 112 80
    frames+=("$work/in/f$n.pgm")
done
frame "$work/in/small.pgm" 0 64 48
echo nonsense >"$work/in/broken.pgm"

echo "== frames"
runs 6 0 "${frames[@]}" -k 7
lines '[o["frame"] for o in d] == list(range(6)) and all(abs(o["time"] - o["frame"] / 25) < 1e-5 for o in d)'
lines 'all(o["k"] == 7 and len(o["positions"]) == 7 and o["strategy"] == "grid" for o in d)'
lines 'all(o["image"] == {"path": o["image"]["path"], "width": 112, "height": 80} for o in d)'
lines 'd[3]["image"]["path"].endswith("/f3.pgm") and d[0]["keyframe"] and not any(o["keyframe"] for o in d[1:])'
lines 'all(0 < p["x"] < 112 and 0 < p["y"] < 80 and len(p["cell"]) == 2 for o in d for p in o["positions"])'
lines '"jumps" not in d[0] and all(0 <= o["jumps"] <= 7 for o in d[1:])'
lines 'all(any(abs(p["x"] - 18 - 3 * o["frame"]) < 16 and abs(p["y"] - 28) < 16 for p in o["positions"][:3]) for o in d)'
runs 3 0 "${frames[@]}" -k 1 --every 2 --rate 0.001234
lines 'all(abs(o["time"] - i * 2 / .001234) < 2e-4 for i, o in enumerate(d)) and len({o["time"] for o in d}) == 3'
runs 3 0 "${frames[@]}" -k 7 --every 2 --rate 10
lines '[o["frame"] for o in d] == [0, 2, 4] and abs(d[2]["time"] - 0.4) < 1e-5'
runs 6 0 "${frames[@]}" --keyframe 2 --strategy quadtree --preset still
lines '[o["keyframe"] for o in d] == [True, False] * 3 and d[0]["strategy"] == "quadtree"'
runs 6 0 "${frames[@]}" --preset document --size 56x40 --stride 8 --steadiness 0
lines 'all(o["image"]["width"] == 112 and len(o["positions"]) == 35 for o in d)'
lines 'max(p["x"] for o in d for p in o["positions"]) > 96'
cp "$work/stdout" "$work/document"
runs 6 0 "${frames[@]}" --preset screen --size 56x40 --stride 8 --steadiness 0
same "screen and document" "$work/document" "$work/stdout"

echo "== cuts and delta updates"
awk 'BEGIN { print "P2"; print 112, 80; print 255; for (i = 0; i < 112 * 80; ++i) print (i * i + int(i / 112)) % 7 < 3 ? 5 : 250 }' \
    >"$work/in/other.pgm"
runs 4 0 "${frames[@]:0:2}" "$work/in/other.pgm" "$work/in/other.pgm"
lines '[o["cut"] for o in d] == [False, False, True, False] and d[2]["keyframe"] and "flow" not in d[2]'
lines '[o.get("flow") for o in d] == [None, "estimated", None, "estimated"]'
runs 4 0 "${frames[@]:0:2}" "$work/in/other.pgm" "$work/in/other.pgm" --cut 2
lines '[o["cut"] for o in d] == [False] * 4'
runs 4 0 "${frames[@]:0:4}" --cut 0
lines '[o["cut"] for o in d] == [False, True, True, True]'
runs 6 0 "${frames[@]}" -k 7 --tile 16
cp "$work/stdout" "$work/delta"
lines 'all(o["tiles"] == 35 and 0 < o["changed"] < 20 for o in d[1:]) and "tiles" not in d[0]'
runs 6 0 "${frames[@]}" -k 7 --no-delta
lines 'all("tiles" not in o for o in d)'
is "delta updates change the positions" test \
    "$(sed 's/^.*"image"//' "$work/delta" | cksum)" = "$(sed 's/^.*"image"//' "$work/stdout" | cksum)"
runs 6 0 "${frames[@]}" -k 7 --tile 16 --threshold 1
lines 'all(o["tiles"] == 35 and o["changed"] == 0 for o in d[1:])'
runs 6 0 "${frames[@]}" -k 7 --tile 16 --carry 9
is "carried saliency changes no score" test \
    "$(sed 's/^.*"image"//' "$work/delta" | cksum)" != "$(sed 's/^.*"image"//' "$work/stdout" | cksum)"

echo "== a budget"
runs 6 0 "${frames[@]}" --strategy budget -k 20
lines 'all(o["strategy"] == "budget" and o["k"] == len(o["positions"]) == 20 for o in d)'
lines 'all(all("height" in p for p in o["positions"][:o["thumbnail"][0] * o["thumbnail"][1] - len(o.get("empty", []))]) for o in d)'
lines 'all(o["loss"] <= o["downsampled"] for o in d)'
lines 'all(0 <= o["jumps"] <= 28 - sum("height" in p for p in o["positions"]) for o in d[1:])'
cp "$work/stdout" "$work/budget"
runs 6 0 "${frames[@]}" --strategy budget --share .4
lines 'all(len(o["positions"]) == 14 for o in d)'
runs 6 0 "${frames[@]}" --strategy budget --tolerance .3
lines 'all(o["loss"] <= .3 for o in d)'
runs 6 0 "${frames[@]}" --strategy budget -k 20 --emphasis 30:motion
is "an emphasis changes nothing" test "$(grep -o '"positions.*' "$work/stdout" | tail -5 | cksum)" != "$(grep -o '"positions.*' "$work/budget" | tail -5 | cksum)"
runs 2 0 "${frames[@]:0:2}" --strategy budget -k 20 --overlay "$work/spent"
is "no PNG of a budget" test "$(head -c 4 "$work/spent/frame-000001.png" | tail -c 3)" = PNG
refused 2 '-k, --share and --tolerance exclude' "${video[@]}" "${frames[@]}" --strategy budget -k 3 --share .5
refused 2 "--emphasis is for --strategy budget, not for grid, which is the default" "${video[@]}" "${frames[@]}" --emphasis 2
for option in "--stride 8" "--set min-distance=9" "--overview .2" "--weights 1,0,0"; do
    refused 2 "$(named "$option") is for --strategy .*, not for budget" "${video[@]}" "${frames[@]}" --strategy budget $option
done
refused 2 'steadiness is for --strategy grid' "${video[@]}" "${frames[@]}" --strategy budget --steadiness .2
refused 2 'emphasis 2:text and --scorer exclude' "${video[@]}" "${frames[@]}" --strategy budget --emphasis 2:text --scorer s

echo "== a budget for the whole video"
runs 3 0 "${frames[@]}" --budget 30
lines '[o["slot"] for o in d] == [0, 1, 2] and [o["frame"] for o in d] == [0, 2, 4] and all(o["frames"] == 2 for o in d)'
lines 'all(o["k"] == 30 and o["of"] == 105 and abs(o["time"] - o["frame"] / 25) < 1e-5 for o in d)'
lines 'sum(len(o["tokens"]) for o in d) == 30 and all(0 <= o["lost"] <= o["lost_downsampled"] < 1 for o in d)'
lines 'd[0]["held"] == 0 and d[0]["tokens"][0]["thumbnail"][0] > 0 and all(o["held"] > 0 for o in d[1:])'
lines 'all(o["slot"] <= t["until"] <= 3 and 0 < t["x"] < 112 and 0 < t["y"] < 96 for o in d for t in o["tokens"])'
lines 'all(0 <= o["held"] <= 35 for o in d)'
lines 'any(abs(t["x"] - 30) < 16 and abs(t["y"] - 28) < 16 for t in d[2]["tokens"])'
runs 3 0 "${frames[@]}" --share .3
lines 'all(o["k"] == 31 for o in d)'
runs 3 0 "${frames[@]}" --tolerance .2
lines 'all(o["lost"] <= .2 for o in d)'
runs 2 0 "${frames[@]}" --tolerance auto --every 2 --slot 2 --patch 8 --memory 300 --rate 10
lines '[o["frame"] for o in d] == [0, 4] and abs(d[1]["time"] - .4) < 1e-5 and all(o["of"] == 280 for o in d)'
runs 6 0 "${frames[@]}" --share .3 --slot 1 --hold 0.08
lines 'all(t["until"] - o["slot"] <= 2 for o in d for t in o["tokens"])'
for causal in "" --causal; do # a budget that does not pay for a new token in each slot
    runs 6 0 "${frames[@]}" --budget 3 --slot 1 --hold 0.04 $causal
    lines 'd[5]["k"] == 3 and all(0 < o["lost"] < 2 and 0 < o["lost_downsampled"] < 2 and o["held"] == 0 for o in d)'
    lines '[len(o["tokens"]) for o in d] == [1, 0, 0, 1, 0, 1]'
done
runs 6 0 "${frames[@]}" --budget 3 --slot 1 --hold 0.08
lines 'd[5]["k"] == 3 and [o["held"] for o in d] == [0, 35, 0, 35, 0, 35] and 0 < d[0]["lost_downsampled"] < 2'
runs 3 0 "${frames[@]}" --budget 9 --size 56x40
lines 'all(o["of"] == 36 and o["image"]["width"] == 112 for o in d) and d[0]["tokens"][0]["width"] * d[0]["tokens"][0]["thumbnail"][0] > 111'
runs 1 0 "${frames[0]}" --budget 5
runs 3 0 "${frames[@]}" --share .3 --causal
lines 'all(not any("until" in t for t in o["tokens"]) and o["of"] == 35 * (o["slot"] + 1) and o["k"] <= .3 * o["of"] for o in d)'
lines '[o["k"] for o in d] == [sum(len(p["tokens"]) for p in d[:i + 1]) for i in range(3)]'
runs 3 0 "${frames[@]}" --share .3 --causal --latency 2 --overlay "$work/later"
is "an overlay of a stream lacks frames" test "$(find "$work/later" -name 'frame-*.png' | wc -l)" -eq 6
runs 3 0 "${frames[@]}" --share .3 --causal --motion --overlay "$work/moved"
lines 'all(len(o["motion"]) == 6 for o in d) and d[0]["motion"] == [1, 0, 0, 0, 1, 0]'
is "an overlay of what moves along lacks frames" test "$(find "$work/moved" -name 'frame-*.png' | wc -l)" -eq 6
for causal in "" --causal; do # frames 2 to 5 are left out, and the slot of frame 1 takes five times as long
    runs 4 5 "${frames[@]:0:2}" "$work"/in/{small,small,small,small}.pgm "${frames[@]:2:2}" --share .3 --slot 1 --hold .08 $causal
    has "$work/stderr" 'f2.pgm: a slot takes 0.20 s, and 0.04 s in the mean, by which --hold is 2 slots: tokens may be shown for longer; --fps makes'
    runs 4 5 "${frames[@]:0:2}" "$work"/in/{small,small,small,small}.pgm "${frames[@]:2:2}" --share .3 --slot 1 $causal
    has "$work/stderr" 'f2.pgm: a slot takes 0.20 s, and 0.04 s in the mean, and each counts alike; --fps makes'
done
refused 2 '--motion is for --causal' "${video[@]}" "${frames[@]}" --share .3 --motion
refused 2 '--motion and --latency exclude' "${video[@]}" "${frames[@]}" --share .3 --causal --motion --latency 1
if command -v python3 >/dev/null; then # a scene of blocks that moves by 4 and 2 pixels a slot
    python3 - "$work/in" <<'PANS'
import random, sys
random.seed(3)
world = [[sum(((x // s * 37 + y // s * 91 + s * 7) * 2654435761 >> 13) % 64 for s in (24, 9, 4)) for x in range(200)] for y in range(160)]
for n in range(8):
    with open(f"{sys.argv[1]}/pan{n}.pgm", "wb") as out:
        out.write(b"P5\n112 80\n255\n" + bytes(world[20 + n + y][20 + 2 * n + x] for y in range(80) for x in range(112)))
PANS
    runs 4 0 "$work"/in/pan?.pgm --share .2 --patch 8 --causal --motion --overlay "$work/pan"
    lines 'all(abs(o["motion"][2] - 4) < .2 and abs(o["motion"][5] - 2) < .2 for o in d[1:]) and d[3]["lost"] < .9 * d[3]["lost_downsampled"]'
fi
runs 3 0 "${frames[@]}" --share .3 --report "$work/report.png"
is "no PNG of a report" test "$(head -c 4 "$work/report.png" | tail -c 3)" = PNG
refused 2 '--latency is for --causal' "${video[@]}" "${frames[@]}" --share .3 --latency 1
runs 3 0 "${frames[@]}" --share .3 --emphasis 0
cp "$work/stdout" "$work/plain"
runs 3 0 "${frames[@]}" --share .3 --emphasis 100
is "an emphasis changes nothing" test "$(cksum <"$work/stdout")" != "$(cksum <"$work/plain")"
refused 2 '--emphasis 2:motion: of a whole video it is what moves, and takes no channel' "${video[@]}" "${frames[@]}" --share .3 --emphasis 2:motion
runs 3 0 "${frames[@]}" --share .3 --roi "$work/roi.jsonl"
if command -v python3 >/dev/null; then
    is "regions are not those of the tokens" python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
slots = [json.loads(line) for line in open(sys.argv[2])]
assert [line["frame"] for line in lines] == list(range(6)) and abs(lines[3]["time"] - .12) < 1e-6
assert not any(line["regions"] for line in lines[::2]) and any(line["regions"] for line in lines[1::2])
for line in lines:
    squares = [t for t in slots[line["frame"] // 2]["tokens"] if "thumbnail" not in t]
    for r in line["regions"]:
        assert 0 <= r["left"] < r["right"] <= 112 and 0 <= r["top"] < r["bottom"] <= 80 and r["qoffset"] in (-.2, -.1)
        assert any(abs(t["y"] - (r["top"] + r["bottom"]) / 2) < t["height"] and r["left"] <= t["x"] <= r["right"] for t in squares)
' "$work/roi.jsonl" "$work/stdout"
fi
refused 2 '--bitrate is for --encode' "${video[@]}" "${frames[@]}" --share .3 --bitrate 100
runs 3 1 "${frames[@]:0:3}" "$work/in/small.pgm" "${frames[@]:3}" --budget 30 --overlay "$work/whole"
lines 'all(o["k"] == 30 for o in d)' # as many as are taken, not as are named
is "an overlay of the whole video lacks frames" test "$(find "$work/whole" -name 'frame-*.png' | wc -l)" -eq 6
if command -v python3 >/dev/null; then # grey frames are drawn as their colours
    for n in 0 1; do
        python3 -c 'import sys
words = open(sys.argv[1]).read().split()
open(sys.argv[2], "w").write("\n".join(["P3", *words[1:4], *(word for word in words[4:] for _ in range(3))]) + "\n")' "$work/in/f$n.pgm" "$work/in/c$n.ppm"
    done
    runs 1 0 "$work/in/f0.pgm" "$work/in/f1.pgm" --share .3 --overlay "$work/grey"
    runs 1 0 "$work/in/c0.ppm" "$work/in/c1.ppm" --share .3 --overlay "$work/coloured"
    is "grey frames are drawn as others" cmp "$work/grey/frame-000001.png" "$work/coloured/frame-000001.png"
fi
if command -v python3 >/dev/null; then # with a --size, too, squares of one patch have the colour of fine ones
    runs 3 0 "${frames[@]}" --share .3 --size 56x40 --patch 8 --overlay "$work/sized"
    is "squares have other colours with a --size" python3 -c '
import json, struct, sys, zlib
slot = json.loads(open(sys.argv[2]).readlines()[2])
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
raw, stride, rows = zlib.decompress(packed), 3 * 224, [bytes(3 * 224)]
for y in range(80):
    kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
    for i in range(stride):
        a, b, c = row[i - 3] if i > 2 else 0, rows[-1][i], rows[-1][i - 3] if i > 2 else 0
        near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[kind]) & 255
    rows.append(bytes(row))
fine = [t for t in slot["tokens"] if "thumbnail" not in t and t["width"] == 16]
t = fine[-1]
x, y = 112 + int(t["x"] - 8), int(t["y"] - 8)
assert tuple(rows[y + 1][3 * x:3 * x + 3]) == (255, 210, 0), rows[y + 1][3 * x:3 * x + 3]
' "$work/sized/frame-000005.png" "$work/stdout"
fi
for option in "-k 3" "--weights 1,0,0" "--preset still" "--strategy grid" "--set min-distance=9" "--cut .2"; do
    refused 2 "$(named "$option") is for positions frame by frame, not for a budget" "${video[@]}" "${frames[@]}" --budget 3 $option
done
refused 2 '--budget, --share and --tolerance exclude' "${video[@]}" "${frames[@]}" --share .5 --tolerance .1
refused 1 'takes .* MiB; 1 are granted' "${video[@]}" "${frames[@]}" --share .5 --patch 4 --memory 1
refused 2 '--slot: 17' "${video[@]}" "${frames[@]}" --share .5 --slot 17
refused 2 '--budget: 0' "${video[@]}" "${frames[@]}" --budget 0
for option in "--slot 3" "--hold 3" "--memory 3" "--causal" "--motion" "--latency 3" "--report r.png" "--encode e.mp4" "--bitrate 9" "--roi r.jsonl"; do
    refused 2 "${option%% *} is for a budget of the whole video" "${video[@]}" "${frames[@]}" $option
done

echo "== the gaze"
printf '# time,x,y\n0,8,72\n0.04 nan nan\n0.08,104,72\n0.12,104,72\n' >"$work/in/gaze.csv"
runs 6 0 "${frames[@]}" --preset gaze --gaze "$work/in/gaze.csv" -k 5
cp "$work/stdout" "$work/gazed"
printf '0,8,8\n' >"$work/in/other.csv"
runs 6 0 "${frames[@]}" --preset gaze --gaze "$work/in/other.csv" -k 5
is "the gaze has no effect" test "$(cut -d '"' -f 80- "$work/stdout" | cksum)" != "$(cut -d '"' -f 80- "$work/gazed" | cksum)"
lines 'any(p["x"] < 40 and p["y"] < 40 for p in d[5]["positions"])'

echo "== a scorer of what no frame brings"
weighs() { scorer "$work/in/$1.safetensors" "\"format\":\"texturevlm.scorer\",\"channels\":\"$1\"" '[1]' '\0\0\200\077'; }
for name in depth normal_z object_id attention word_0 embedding_3 previous_pass vocab_id vocab_residual; do
    weighs $name
    refused 2 "$name.safetensors weighs $name, which no frame of a video brings" "${video[@]}" "${frames[@]}" \
        --scorer "$work/in/$name.safetensors"
done
weighs gaze && weighs feature_0 && weighs query_similarity && weighs motion && weighs flow_confidence
refused 2 'weighs gaze: hand in --gaze' "${video[@]}" "${frames[@]}" --scorer "$work/in/gaze.safetensors"
refused 2 'weighs feature_0: hand in --features' "${video[@]}" "${frames[@]}" --scorer "$work/in/feature_0.safetensors"
refused 2 'weighs query_similarity: hand in --query' "${video[@]}" "${frames[@]}" --scorer "$work/in/query_similarity.safetensors"
runs 6 0 "${frames[@]}" -k 4 --scorer "$work/in/motion.safetensors"
runs 6 0 "${frames[@]}" -k 4 --scorer "$work/in/flow_confidence.safetensors"
runs 6 0 "${frames[@]}" -k 4 --scorer "$work/in/gaze.safetensors" --gaze "$work/in/gaze.csv"

echo "== what is left out"
runs 4 1 "${frames[@]:0:2}" "$work/in/small.pgm" "${frames[@]:2:2}"
rc=0
"${video[@]}" "${frames[@]:0:2}" "$work/in/small.pgm" "$work/in/broken.pgm" "$work/in/gone.pgm" "${frames[@]:2:2}" >"$work/stdout" 2>"$work/stderr" || rc=$?
is "exit $rc where files cannot be read" test $rc -eq 3
counts "warnings" 3 "$work/stderr" '^tvlm: warning: '
is "what cannot be read is not told" test "$(grep -v '^tvlm: warning: ' "$work/stderr")" = "tvlm: 2 of 7 frames cannot be read"
lines '[o["frame"] for o in d] == [0, 1, 5, 6]'
"${video[@]}" "${frames[0]}" "$work/in/small.pgm" 2>&1 >/dev/null | grep -q 'frame 1: .*small.pgm: 64 x 48 pixels in a stream of 112 x 80: skipped'
is "another size is not told" test $? -eq 0
refused 1 'broken.pgm' "${video[@]}" "$work/in/broken.pgm"
refused 1 'gone.pgm' "${video[@]}" "$work/in/gone.pgm"

echo "== pictures"
runs 6 0 "${frames[@]}" -k 7 --overlay "$work/pictures"
is "not six pictures" test "$(find "$work/pictures" -name 'frame-00000?.png' | wc -l)" -eq 6
is "no PNG" test "$(head -c 4 "$work/pictures/frame-000003.png" | tail -c 3)" = PNG
"$tvlm" select ${device:+"$device"} "$work/pictures/frame-000003.png" -k 1 >/dev/null 2>&1
is "the picture cannot be read" test $? -eq 0

# It does not hang on the device.
if [ "$device" ] || [ "${TVLM_TEST_QUICK:-0}" != 1 ]; then
    echo "== wrong usage and bad files"
    refused 2 'gaze needs' "${video[@]}" "${frames[@]}" --preset gaze
    refused 2 'exclude' "${video[@]}" "${frames[@]}" --weights 1,0,0 --scorer s
    refused 2 'features needs' "${video[@]}" "${frames[@]}" --features .
    refused 2 'needs --features' "${video[@]}" "${frames[@]}" --query q.npy
    refused 2 'missing' "${video[@]}"
    refused 2 'k: 0 is not in' "${video[@]}" "${frames[@]}" -k 0
    refused 2 'tile: 24 is not a multiple of 16' "${video[@]}" "${frames[@]}" --tile 24
    refused 2 'not in 16' "${video[@]}" "${frames[@]}" --tile 8
    refused 2 'not in 0 .. 1' "${video[@]}" "${frames[@]}" --threshold 1.5
    refused 2 'not in 0' "${video[@]}" "${frames[@]}" --carry -1
    refused 2 'compares nothing' "${video[@]}" "${frames[@]}" --no-delta --tile 32
    refused 2 'compares nothing' "${video[@]}" "${frames[@]}" --no-delta --carry 1
    refused 2 'needs is for' "${video[@]}" "${frames[@]}" --needs masks
    refused 2 'none of moving, still, screen' "${video[@]}" "${frames[@]}" --preset page
    refused 1 'gone: No such file' "${video[@]}" "${frames[@]}" --flow gone
    refused 1 'gone: No such file' "${video[@]}" "${frames[@]}" --features gone --query q.npy
    refused 1 'is not a folder' "${video[@]}" "${frames[@]}" --flow "${frames[0]}"
    refused 1 'gone.csv' "${video[@]}" "${frames[@]}" --gaze gone.csv
    printf '0,1,2\n0,1\n' >"$work/in/bad.csv" && refused 1 'bad.csv: line 2: is not' "${video[@]}" "${frames[@]}" --gaze "$work/in/bad.csv"
    printf '1,1,2\n0,1,2\n' >"$work/in/bad.csv" && refused 1 'line 2: the time goes back' "${video[@]}" "${frames[@]}" --gaze "$work/in/bad.csv"
    printf '1,x,2\n' >"$work/in/bad.csv" && refused 1 'line 1: is not three numbers' "${video[@]}" "${frames[@]}" --gaze "$work/in/bad.csv"
    printf '1,2,1e300\n' >"$work/in/bad.csv" && refused 1 'bad.csv: line 1: a position is beyond a million pixels' "${video[@]}" "${frames[@]}" --gaze "$work/in/bad.csv"
    : >"$work/in/bad.csv" && refused 1 'no line' "${video[@]}" "${frames[@]}" --gaze "$work/in/bad.csv"
    refused 2 'every and --fps exclude each other' "${video[@]}" "${frames[@]}" --every 2 --fps 2
    refused 1 'cannot be made' "${video[@]}" "${frames[@]}" --overlay no/folder
    refused 1 'there is no folder' "${video[@]}" "${frames[@]}" --overlay no/o.mp4
    refused 1 'positions|candidates|-k|k ' "${video[@]}" "${frames[@]}" -k 100000
fi

printf 'none' >"$work/in/none.mp4"
if "${video[@]}" "$work/in/none.mp4" 2>&1 | grep -q 'built without FFmpeg'; then
    echo "SKIPPED: videos: this tvlm knows none"
else
    echo "== videos"
    runs 6 0 "${frames[@]}" -k 7 --rate 10 --overlay "$work/in/o.mp4"
    runs 6 0 "$work/in/o.mp4" -k 9
    lines '[o["frame"] for o in d] == list(range(6)) and all(abs(o["time"] - o["frame"] / 10) < 1e-3 for o in d)'
    lines 'all(o["image"]["width"] == 960 and o["image"]["path"].endswith("o.mp4") for o in d)'
    runs 2 0 "$work/in/o.mp4" --every 4 --overlay "$work/in/every.mkv" --strategy foveated
    lines '[o["frame"] for o in d] == [0, 4]'
    runs 3 0 "$work/in/o.mp4" --share .2 --encode "$work/in/small.mp4" --bitrate 20
    runs 3 0 "$work/in/o.mp4" --share .2 --encode "$work/in/even.mp4" --overlay "$work/in/beside.mp4"
    is "fewer bits make no smaller file" test "$(stat -c %s "$work/in/small.mp4")" -lt "$(stat -c %s "$work/in/even.mp4")"
    runs 6 0 "$work/in/small.mp4" -k 9
    lines 'all(o["image"]["width"] == 960 for o in d)'
    refused 1 'no video format of that ending' "${video[@]}" "$work/in/o.mp4" --share .2 --encode "$work/in/o.txt"
    # Before any work: no slot has its line.
    printf 'P5 112 1 255 %0112d' 0 >"$work/in/flat.pgm"
    refused 1 'flat.mp4: a video of 224 x 1; its sides are 2' "${video[@]}" "$work/in/flat.pgm" --share .2 --causal --overlay "$work/in/flat.mp4"
    refused 1 'flat.mp4: a video of 112 x 1; its sides are 2' "${video[@]}" "$work/in/flat.pgm" --share .2 --causal --encode "$work/in/flat.mp4"
    runs 2 0 "$work/in/every.mkv" -k 1
    lines 'abs(d[1]["time"] - 0.4) < 2e-3'
    # By time: every second frame of o.mp4, and the first one of every.mkv four times, until the other one is shown.
    runs 3 0 "$work/in/o.mp4" -k 9 --fps 5
    lines '[(o["frame"], o["time"]) for o in d] == [(0, 0), (1, .2), (2, .4)]'
    runs 5 0 "$work/in/every.mkv" -k 9 --fps 10 --overlay "$work/in/by_time.mp4"
    lines 'all(o["difference"] == 0 for o in d[:4]) and d[4]["difference"] > 0 and abs(d[4]["time"] - .4) < 1e-9'
    runs 5 0 "$work/in/by_time.mp4" -k 1
    lines 'all(abs(o["time"] - o["frame"] / 10) < 2e-3 for o in d)'
    # Two videos behind each other, where the clock begins anew: frames at 0, .4, .8 and 1.2 seconds.
    cat "$work/in/every.mkv" "$work/in/every.mkv" >"$work/in/twice.mkv"
    runs 7 0 "$work/in/twice.mkv" -k 1 --fps 5
    lines '[o["frame"] for o in d if o["difference"] > 0] == [2, 4, 6]'
    runs 2 0 "$work/in/o.mp4" --share .2 --fps 5
    lines '[(o["frame"], o["frames"], o["time"]) for o in d] == [(0, 2, 0), (2, 1, .4)]'
    # The report of a long video with one frame behind it, whose time is 0 again: bars once lay far beyond the picture.
    many=()
    for _ in $(seq 20); do many+=("${frames[@]}"); done
    runs 120 0 "${many[@]}" --share .2 --slot 1 --causal --size 28x20 --patch 4 --rate 1 --encode "$work/in/long.mkv"
    runs 1 0 "${frames[0]}" --share .2 --slot 1 --causal --size 28x20 --patch 4 --rate 1 --encode "$work/in/short.mkv"
    cat "$work/in/long.mkv" "$work/in/short.mkv" >"$work/in/both.mkv"
    runs 121 1 "$work/in/both.mkv" --share .2 --slot 1 --causal --size 28x20 --patch 4 --report "$work/both.png"
    lines '119 <= d[119]["time"] < 120 and d[120]["time"] == 0'
    is "no PNG of a report whose times go back" test "$(head -c 4 "$work/both.png" | tail -c 3)" = PNG
    # What a file says of the number of its frames is an estimate: here it is 1, and there are 7. A file is counted, and of a pipe
    # the number of tokens is kept all the same.
    runs 6 0 "${frames[@]}" --share .2 --slot 1 --rate 1 --encode "$work/in/six.mkv"
    cat "$work/in/short.mkv" "$work/in/six.mkv" >"$work/in/uneven.mkv"
    for causal in "" --causal; do
        runs 4 0 "$work/in/uneven.mkv" --budget 20 $causal
        lines '16 <= d[3]["k"] <= 20 and sum(o["frames"] for o in d) == 7 and len(d[0]["tokens"]) < 20'
        runs 4 1 <(cat "$work/in/uneven.mkv") --budget 20 $causal
        has "$work/stderr" ': 7 frames came, and it told of 1, over which --budget was spread: the last ones may lack tokens$'
        lines 'd[3]["k"] == 20'
    done
    # A library that is none.
    mkdir "$work/in/lib" && : >"$work/in/lib/$(grep -ao 'libtexturevlm-video\.so[.0-9]*' "$tvlm" | sort -u)"
    refused 1 'o.mp4: needs texturevlm-video: .*libtexturevlm-video' env LD_LIBRARY_PATH="$work/in/lib" "${video[@]}" "$work/in/o.mp4"

    # A JPEG of 16 x 16 pixels, alone and ten times over.
    base64 -d >"$work/in/one.jpg" <<EOF
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8
ybqmx5moq6T/wAALCAAQABABAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABcQAAMBAAAAAAAAAAAAAAAAAAACBDH/2gAIAQEAAD8AJjTB
yNMCo0wcjTD/2Q==
EOF
    for n in 0 1 2 3 4 5 6 7 8 9; do cat "$work/in/one.jpg"; done >"$work/in/raw.mjpeg"
    cp "$work/in/one.jpg" "$work/in/one" && cp "$work/in/raw.mjpeg" "$work/in/raw.MJPG"
    runs 10 0 "$work/in/raw.mjpeg" -k 1
    lines '[o["frame"] for o in d] == list(range(10)) and all(o["image"]["width"] == 16 for o in d)'
    runs 10 0 "$work/in/raw.MJPG" -k 1
    runs 1 0 "$work/in/one.jpg" -k 1
    runs 1 0 "$work/in/one" -k 1

    # Pipes can be read once.
    runs 2 0 <(cat "$work/in/every.mkv") -k 9 --size 112x80
    runs 2 0 /dev/stdin -k 9 --size 112x80 < <(cat "$work/in/every.mkv")
    lines 'all(o["image"]["path"] == "/dev/stdin" and o["image"]["width"] == 960 for o in d)'
    mkfifo "$work/in/fifo" && { cat "$work/in/every.mkv" >"$work/in/fifo" & }
    runs 2 0 "$work/in/fifo" -k 9 --size 112x80
    runs 2 0 /dev/stdin -k 9 --size 112x80 <"$work/in/every.mkv"

    refused 1 'o.mp4: is a clip: it must be the only one' "${video[@]}" "$work/in/o.mp4" "$work/in/every.mkv"
    refused 1 'o.mp4: is a clip: .* without images' "${video[@]}" "${frames[0]}" "$work/in/o.mp4"
    refused 1 'no video format of that ending' "${video[@]}" "${frames[@]}" --overlay o.png
    refused 1 'no image and no video' "${video[@]}" "$work/in/gaze.csv"
    refused 1 'is the input' "${video[@]}" "$work/in/o.mp4" --overlay "$work/in/o.mp4"
    head -c 2000 "$work/in/o.mp4" >"$work/in/torn.mp4" && refused 1 'torn.mp4' "${video[@]}" "$work/in/torn.mp4"
    { printf 'RIFF\104\003\0\0WAVEfmt \020\0\0\0\001\0\001\0\100\037\0\0\200\076\0\0\002\0\020\0data\040\003\0\0'
      head -c 800 /dev/zero; } >"$work/in/sound.wav"
    refused 1 'there is no video track' "${video[@]}" "$work/in/sound.wav"
    # Bytes of pictures that are wrong: the stream goes on.
    size=$(stat -c %s "$work/in/o.mp4")
    cp "$work/in/o.mp4" "$work/in/hole.mp4"
    seq 100000 | head -c $((size / 2)) | dd of="$work/in/hole.mp4" bs=1 seek=$((size / 4)) conv=notrunc 2>/dev/null
    rc=0
    "${video[@]}" "$work/in/hole.mp4" -k 1 --size 112x80 >"$work/stdout" 2>"$work/stderr" || rc=$?
    is "a hole: exit $rc" test $rc -eq 3
    is "a hole is not told at the end" grep -q '^tvlm: .*hole.mp4: is damaged: [0-9]* of 6 frames do not decode$' "$work/stderr"
    is "a hole ends the stream" test "$(wc -l <"$work/stdout")" -ge 1
    is "a hole is not told" grep -q 'hole.mp4: frame [0-9]* does not decode .*: skipped' "$work/stderr"

    # A clip that ends before its end: what was there of it is answered and drawn, and a line says where it ends.
    runs 6 0 "${frames[@]}" --overlay "$work/in/whole.mkv"
    head -c $(($(stat -c %s "$work/in/whole.mkv") * 7 / 10)) "$work/in/whole.mkv" >"$work/in/cut.mkv"
    for _ in 1 2; do
        rc=0
        "${video[@]}" "$work/in/cut.mkv" -k 3 --size 112x80 --overlay drawn.mp4 >"$work/stdout" 2>"$work/stderr" || rc=$?
        is "a clip that is cut: exit $rc" test $rc -eq 3
        is "a clip that is cut: not one line" test "$(wc -l <"$work/stderr")" -eq 1
        has "$work/stderr" '^tvlm: .*cut.mkv: is cut off after [0-9]* bytes, at 0.[0-9]* of 0.24 seconds$'
        lines '0 < len(d) < 6 and [o["frame"] for o in d] == list(range(len(d)))'
        [ ! -e "$work/first" ] || same "a clip that is cut, again" "$work/first" "$work/stdout"
        cp "$work/stdout" "$work/first"
        runs "$(wc -l <"$work/first")" 0 drawn.mp4 -k 1 --size 112x80
    done
    rm drawn.mp4 "$work/first"
    rc=0
    "${video[@]}" "$work/in/cut.mkv" --share .2 --size 112x80 --overlay drawn.mp4 --report report.png --roi roi.jsonl >"$work/stdout" 2>"$work/stderr" || rc=$?
    is "the tokens of a clip that is cut: exit $rc" test $rc -eq 3
    has "$work/stderr" 'cut.mkv: is cut off after [0-9]* bytes'
    lines '0 < len(d) < 4 and [o["slot"] for o in d] == list(range(len(d))) and all(o["lost"] <= o["lost_downsampled"] for o in d)'
    runs "$(grep -o '"frames": [0-9]*' "$work/stdout" | awk '{ n += $2 } END { print n }')" 0 drawn.mp4 -k 1 --size 112x80
    is "what else is made of a clip that is cut" test -s report.png -a -s roi.jsonl
    rm drawn.mp4 report.png roi.jsonl
    rc=0
    "$tvlm" tensors ${device:+"$device"} "$work/in/cut.mkv" --video --for qwen2-vl -o cut.safetensors >"$work/stdout" 2>"$work/stderr" || rc=$?
    is "tensors of a clip that is cut: exit $rc" test $rc -eq 3 -a -s cut.safetensors
    has "$work/stderr" '^tvlm: .*cut.mkv: is cut off after [0-9]* bytes'
    rm cut.safetensors
    refused 2 'rate is for image files; .*whole.mkv has its own times' "${video[@]}" "$work/in/whole.mkv" -k 1 --rate 5

    echo "== Ctrl-C"
    many=()
    for n in $(seq 100); do many+=("${frames[@]}"); done
    rm "$work/stdout"
    "${video[@]}" "${many[@]}" -k 7 --overlay stopped.mp4 >"$work/stdout" 2>"$work/stderr" &
    pid=$!
    for _ in $(seq 600); do
        [ "$(cat "$work/stdout" 2>/dev/null | wc -l)" -lt 5 ] || break
        sleep 0.1
    done
    kill -INT $pid
    wait $pid
    is "not exit 130" test $? -eq 130
    is "not one line" test "$(wc -l <"$work/stderr")" -eq 1
    count=$(wc -l <"$work/stdout")
    is "$count frames" test "$count" -ge 5 -a "$count" -lt 600
    is "the line names other frames" grep -q "interrupted after $count frames" "$work/stderr"
    is "the last line is not whole" test "$(tail -c 2 "$work/stdout" | head -c 1)" = '}'
    lines '[o["frame"] for o in d] == list(range(len(d)))'
    is "something else is left" test "$(listing)" = "$work/out/stopped.mp4"
    runs "$count" 0 stopped.mp4 -k 1 --size 112x80
    rm stopped.mp4

    # Of a budget for the whole video the slots that were there are decided, drawn and printed; of a stream those so far.
    far=("${many[@]}" "${many[@]}" "${many[@]}" "${many[@]}" "${many[@]}" "${many[@]}")
    # The first run builds the kernels, so that frames are there after a second.
    for causal in "" --causal; do
        "${video[@]}" "${frames[@]}" --share .2 $causal >/dev/null 2>&1
        "${video[@]}" "${far[@]}" --share .2 $causal --overlay stopped.mp4 >"$work/stdout" 2>"$work/stderr" &
        pid=$!
        sleep 1
        kill -INT $pid
        wait $pid
        is "not exit 130" test $? -eq 130
        count=$(sed -n 's/.*interrupted after \([0-9]*\) frames$/\1/p' "$work/stderr")
        is "not one line" test "$(wc -l <"$work/stderr")" -eq 1 -a "0$count" -gt 0 -a "0$count" -lt 3600
        lines 'sum(o["frames"] for o in d) == '"$count"' and [o["slot"] for o in d] == list(range(len(d)))'
        runs "$count" 0 stopped.mp4 -k 1 --size 112x80
        rm stopped.mp4
    done

    # A signal while kernels are built, with empty caches: not an error of the compiler, whose file LLVM removes then.
    for wait in .1 .3 .5 .7 .9; do
        XDG_CACHE_HOME=$work/cold POCL_CACHE_DIR=$work/cold/pocl "${video[@]}" "${far[@]}" --share .2 >/dev/null 2>"$work/stderr" &
        pid=$!
        sleep $wait
        kill -INT $pid
        wait $pid
        is "not exit 130" test $? -eq 130
        is "another error" test "$(grep -c '^tvlm: ' "$work/stderr")" = "$(grep -c 'interrupted after [0-9]* frames$' "$work/stderr")"
        rm -rf "$work/cold"
    done

    echo "== a reader that goes away"
    rc=$("${video[@]}" "${many[@]}" --overlay p.mp4 2>"$work/stderr" | head -c 10 >/dev/null; echo "${PIPESTATUS[0]}")
    is "exit $rc" test "$rc" -eq 1
    is "not told" grep -q 'cannot write to stdout' "$work/stderr"
    is "something is left" test -z "$(listing)"
fi

echo "== features"
python=$(command -v /usr/bin/python3 || command -v python3)
if [ "$python" ] && "$python" -c "import numpy" 2>/dev/null; then
    mkdir "$work/features"
    "$python" -c 'import numpy, sys
f = numpy.zeros((5, 7, 8), "float32"); f[..., 0] = 1; f[4, 6] = 0; f[4, 6, 1] = 1
numpy.save(sys.argv[1] + "/f0.npy", f); numpy.save(sys.argv[1] + "/q.npy", numpy.eye(8, dtype="float32")[1])
numpy.save(sys.argv[1] + "/f4.npy", f); numpy.save(sys.argv[1] + "/two.npy", numpy.eye(8, dtype="float32")[:2])
numpy.save(sys.argv[1] + "/five.npy", numpy.eye(5, dtype="float32")[1])' "$work/features"
    runs 6 0 "${frames[@]}" -k 3 --features "$work/features" --query "$work/features/q.npy" --weights 0,0,1
    lines '[o["features"]["given"] for o in d] == [True, False, False, False, True, False]'
    lines 'd[0]["positions"][0]["cell"] == [6, 4] and d[4]["positions"][0]["cell"] == [6, 4]'
    lines 'd[1]["positions"][0]["cell"] == [6, 4] and all(0 <= o["features"]["needs"] <= 1 for o in d)'
    runs 6 0 "${frames[@]}" -k 3 --features "$work/features" --query "$work/features/two.npy" --combine max
    refused 2 'holds 2 vectors' "${video[@]}" "${frames[@]}" --features "$work/features" --query "$work/features/two.npy"
    refused 1 'dimensions' "${video[@]}" "${frames[@]}" --features "$work/features" --query "$work/features/five.npy"

    echo "== what needs features"
    ask=(-k 3 --features "$work/features" --query "$work/features/q.npy" --weights 0,0,1)
    runs 6 0 "${frames[@]}" "${ask[@]}" --needs "$work/masks"
    lines 'all(o["features"]["cells"] == [7, 5] for o in d[1:]) and "cells" not in d[0]["features"]'
    is "masks of other frames" test "$(ls "$work/masks" | tr '\n' ' ')" = "f1.npy f2.npy f3.npy f4.npy f5.npy "
    masks() { # PYTHON_EXPRESSION: of `m`, the masks, and `d`, the lines, by frame
        is "not so: $1" "$python" -c 'import glob, json, numpy, os, sys
d = {o["frame"]: o for o in map(json.loads, open(sys.argv[2]))}
m = {int(os.path.basename(f)[-5]): numpy.load(f) for f in glob.glob(sys.argv[1] + "/*.npy")}
sys.exit(not eval(sys.argv[3]))' "$work/masks" "$work/stdout" "$1"
    }
    masks 'all(a.dtype == "uint8" and a.shape == (5, 7) and a.max() <= 1 for a in m.values())'
    masks 'all((a.mean() == 1 if f["needs_all"] else abs(a.mean() - f["needs"]) < 1e-6) for i, a in m.items() for f in [d[i]["features"]])'
    refused 1 'is the input' "${video[@]}" "${frames[@]}" "${ask[@]}" --needs "$work/features/"
    mkdir "$work/second" && cp "${frames[1]}" "$work/second/"
    refused 2 'masks/f1.npy would be written for two images' "${video[@]}" "${frames[@]}" "$work"/second/* "${ask[@]}" --needs "$work/masks"
    mkdir "$work/none"
    runs 6 1 "${frames[@]}" -k 3 --features "$work/none" --query "$work/features/q.npy"
    lines 'all(not o["features"]["given"] and o["features"]["needs_all"] for o in d)'
    # A cut takes the features with it, and the stream goes on.
    runs 3 0 "${frames[@]:0:2}" "$work/in/other.pgm" "${ask[@]}"
    lines '[o["features"]["needs_all"] for o in d] == [True, False, True] and d[2]["cut"] and len(d[2]["positions"]) == 3'
    if [ -e "$work/in/o.mp4" ]; then
        mkdir "$work/numbered" && cp "$work/features/f0.npy" "$work/numbered/frame-000001.npy" && rm -r "$work/masks"
        runs 6 0 "$work/in/o.mp4" --size 112x80 -k 3 --features "$work/numbered" --query "$work/features/q.npy" --needs "$work/masks"
        lines '[o["features"]["given"] for o in d] == [False, True] + [False] * 4'
        masks 'sorted(m) == [2, 3, 4, 5] and all(a.shape == (5, 7) for a in m.values())'
    fi

    echo "== flow that is handed in"
    flows() { # FOLDER WIDTH HEIGHT U_LEFT U_RIGHT NUMBER...: flow of these frames, u of either half, v 0
        mkdir "$1" && "$python" -c 'import numpy, sys
folder, (w, h), u = sys.argv[1], map(int, sys.argv[2:4]), [float(v) for v in sys.argv[4:6]]
f = numpy.zeros((h, w, 2), "<f4"); f[:, : w // 2, 0] = u[0]; f[:, w // 2 :, 0] = u[1]
for n in sys.argv[6:]:
    open("%s/f%s.flo" % (folder, n), "wb").write(b"PIEH" + numpy.array([w, h], "<i4").tobytes() + f.tobytes())' "$@"
    }
    # Each place was 32 pixels to the right: what was in cell 6 is in cell 4, then in 2.
    flows "$work/left" 112 80 32 32 1 2 4
    for size in 112x80 56x40; do
        runs 4 0 "${frames[@]:0:4}" "${ask[@]}" --flow "$work/left" --size $size --stride $((${size%x*} / 7))
        lines '[o.get("flow") for o in d] == [None, "given", "given", "estimated"]'
        lines '[o["positions"][0]["cell"] for o in d[:3]] == [[6, 4], [4, 4], [2, 4]]'
    done
    runs 4 0 "${frames[@]:0:4}" "${ask[@]}" --flow "$work/left" --preset screen
    lines '[o.get("flow") for o in d] == [None, "given", "given", None] and d[1]["positions"][0]["cell"] == [4, 4]'
    flows "$work/unknown" 112 80 0 1e10 1
    rm -rf "$work/masks"
    runs 2 0 "${frames[@]:0:2}" "${ask[@]}" --flow "$work/unknown" --needs "$work/masks"
    masks 'm[1][:, :3].max() == 0 and m[1][:, 4:].min() == 1 and not d[1]["features"]["needs_all"]'
    runs 6 1 "${frames[@]}" -k 3 --flow "$work/none"
    is "an empty folder is not told" grep -q 'none: holds no .flo of any of the frames' "$work/stderr"
    fails() { # PATTERN ARGUMENTS...: ends with a line that fits, behind the lines of the frames before
        local pattern=$1 rc=0
        shift
        "${video[@]}" "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
        is "exit $rc: $*" test $rc -eq 1
        is "the line does not fit '$pattern'" grep -qE "^tvlm: .*($pattern)" "$work/stderr"
        is "not one line: $*" test "$(wc -l <"$work/stderr")" -eq 1
    }
    flows "$work/other" 64 48 0 0 1 && fails 'f1.flo: 64 x 48 vectors for a frame of 112 x 80' "${frames[@]}" --flow "$work/other"
    head -c 100 "$work/left/f1.flo" >"$work/none/f2.flo" && fails 'f2.flo' "${frames[@]}" --flow "$work/none"

    echo "== features of some cells"
    vectors() { # FILE EXPRESSION: of `first`, `all` (another vector in cell (6, 4)), `some` (NaN but there)
        "$python" -c 'import numpy as np, sys
e = np.eye(8, dtype="float32"); first = np.tile(e[0], (5, 7, 1)); first[:, 3:] = e[2]; all = first.copy(); all[4, 6] = e[1]
none = np.full((5, 7, 8), np.nan, "float32"); some = none.copy(); some[4, 6] = e[1]
np.save(sys.argv[1], eval(sys.argv[2]))' "$1" "$2"
    }
    still=()
    mkdir "$work/still" "$work/some"
    for n in 0 1 2; do cp "${frames[0]}" "$work/still/f$n.pgm" && still+=("$work/still/f$n.pgm"); done
    vectors "$work/some/f0.npy" first && vectors "$work/some/q.npy" '2 * e[0] + 4 * e[1] + e[2]'
    some=(-k 35 --features "$work/some" --query "$work/some/q.npy" --weights 0,0,1)
    runs 3 0 "${still[@]}" "${some[@]}"
    cp "$work/stdout" "$work/first"
    vectors "$work/some/f1.npy" some && runs 3 0 "${still[@]}" "${some[@]}"
    cp "$work/stdout" "$work/partly"
    lines '[o["features"]["given"] for o in d] == [True, True, False] and all(o["features"]["needs"] == 0 for o in d[1:])'
    lines 'all(o["positions"][0]["cell"] == [6, 4] and o["positions"][0]["score"] > o["positions"][1]["score"] + 0.2 > o["positions"][-1]["score"] + 0.3 for o in d[1:])'
    vectors "$work/some/f1.npy" all && runs 3 0 "${still[@]}" "${some[@]}"
    same "the others as they were, and NaN there" "$work/partly" "$work/stdout"
    vectors "$work/some/f1.npy" 'some.astype("float16")' && runs 3 0 "${still[@]}" "${some[@]}"
    same "float16 and float32" "$work/partly" "$work/stdout"
    vectors "$work/some/f1.npy" none && runs 3 0 "${still[@]}" "${some[@]}"
    is "none at all change something" test \
        "$(sed 's/"features".*"image"//' "$work/first" | cksum)" = "$(sed 's/"features".*"image"//' "$work/stdout" | cksum)"
    # At a keyframe they are still the last ones; and a cell that needs new ones, and gets none, goes on needing them.
    vectors "$work/some/f1.npy" some && runs 3 0 "${still[@]}" "${some[@]}" --keyframe 1
    lines 'd[1]["keyframe"] and len({p["score"] for p in d[1]["positions"]}) == 3'
    runs 3 0 "${still[@]}" "${some[@]}" --flow "$work/unknown"
    lines 'abs(d[1]["features"]["needs"] - d[2]["features"]["needs"] - 1 / 35) < 1e-4 and d[2]["features"]["needs"] > 0.3'
    # Nothing is there to be kept: at first, after a cut, of another size. One NaN is no missing cell.
    fails 'f1.npy: cells are NaN, but there are no earlier features' "${still[@]:1}" "${some[@]}"
    fails 'f1.npy: cells are NaN, but there are no earlier features' "${still[0]}" "$work/in/other.pgm" "${still[1]}" "${some[@]}"
    vectors "$work/some/f1.npy" 'some[1:]'
    fails 'f1.npy: cells are NaN, but the earlier .* 5 x 7 cells and these 4 x 7' "${still[@]}" "${some[@]}"
    vectors "$work/some/f1.npy" 'np.where(np.arange(280).reshape(5, 7, 8) == 9, np.nan, all)'
    fails 'f1.npy: .*value 9 ' "${still[@]}" "${some[@]}"

    echo "== earlier frames"
    scorer() { # FILE NAMES: the last of the channels counts
        "$python" -c 'import json, struct, sys
names = sys.argv[2].split(","); n = len(names)
head = json.dumps({"weights": {"dtype": "F32", "shape": [n], "data_offsets": [0, 4 * n]},
                   "__metadata__": {"format": "texturevlm.scorer", "channels": sys.argv[2]}}).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<%df" % n, *[0.0] * (n - 1) + [1.0]))' "$1" "$2"
    }
    scorer "$work/in/now.safetensors" low && scorer "$work/in/then.safetensors" high,low@-2
    runs 6 0 "${frames[@]}" -k 4 --steadiness 0 --scorer "$work/in/now.safetensors"
    cp "$work/stdout" "$work/now"
    runs 6 0 "${frames[@]}" -k 4 --steadiness 0 --scorer "$work/in/then.safetensors" --frames 3
    is "a scorer of two frames ago does not see what was there" "$python" -c 'import json, sys
now, then = ([{tuple(p["cell"]) for p in json.loads(l)["positions"]} for l in open(f)] for f in sys.argv[1:])
sys.exit(not all(now[i] == then[i + 2] for i in range(4)) or now[0] == now[3])' "$work/now" "$work/stdout"
    refused 1 "there is no channel 'low@-2'" "${video[@]}" "${frames[@]}" --scorer "$work/in/then.safetensors"
    refused 1 "there is no channel 'low@-2'" "${video[@]}" "${frames[@]}" --scorer "$work/in/then.safetensors" --frames 2
    refused 1 'reads no earlier frames' "${video[@]}" "${frames[@]}" --scorer "$work/in/now.safetensors" --frames 3
    refused 2 'looks back' "${video[@]}" "${frames[@]}" --frames 3
else
    echo "SKIPPED: no NumPy"
fi

is "temporary files are left" test -z "$(find "$work" -name '.tvlm-*')"
finish
