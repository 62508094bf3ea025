#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/run.sh TVLM TVLM_SCENE [DEVICE]: the tool as a user meets it: what it writes, and for all bad input one clear
# line on stderr, exit 1 (wrong usage: 2), nothing on stdout and no file. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"


# json FILE PYTHON_EXPRESSION: is JSON (as `d`) of which this is true. Without python3: it has braces.
json() {
    checks=$((checks + 1))
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; d = json.load(open(sys.argv[1], encoding="utf-8")); sys.exit(not eval(sys.argv[2]))' \
            "$1" "$2" 2>"$work/stderr" || complain "$1: not so: $2"
    else
        grep -q '^{' "$1" && grep -q '^}' "$1" || complain "$1 is no JSON object"
    fi
}

is_png() { [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }

select=("$tvlm" select ${device:+"$device"} --strategy grid) # what the default is, budget.sh tells
generate=("$tvlm" channels ${device:+"$device"})
photo=$work/in/photo.png
"$scene" "$photo" 320 200 && "$scene" "$work/in/other.png" 95 130 || exit 1

echo "== help and versions"
succeeds "$tvlm" --help
succeeds "$tvlm" --version
is "the version" grep -qE '^tvlm [0-9]+\.[0-9]+\.[0-9]+$' "$work/stdout"
is "what decodes pictures" grep -qE '^pictures: JPEG by (libjpeg-turbo [0-9.]+|stb_image), PNG by ' "$work/stdout"
is "what archives are read" grep -qE '^archives: (tar, plain and by gzip, bzip2, xz and zstd|none)$' "$work/stdout"
is "what videos are read" grep -qE "^videos: (by FFmpeg's libraries, in texturevlm-video|none, but frames as pictures)\$" "$work/stdout"
is "whether OpenCL is there" grep -qE '^OpenCL: (loaded when a device is opened|none, but the reference device)$' "$work/stdout"
is "whether the lab is there" grep -qE '^lab: (yes|no)$' "$work/stdout"
cp "$work/stdout" "$work/version"
for command in -V "select -V"; do
    succeeds "$tvlm" $command
    same "the version by $command" "$work/stdout" "$work/version"
done
for command in devices channels select; do
    succeeds "$tvlm" help $command
    cp "$work/stdout" "$work/help"
    succeeds "$tvlm" $command --help
    is "'help $command' and '$command --help' are the same" cmp -s "$work/stdout" "$work/help"
done

succeeds "$lab" fit --version
is "the version of the lab" grep -qE '^tvlm-lab [0-9]+\.[0-9]+\.[0-9]+$' "$work/stdout"
succeeds "$tvlm" select --help
is "the help of select has at most 70 lines" test "$(wc -l <"$work/stdout")" -le 70
is "the help of select lacks a rare option" test "$(grep -c -- --set "$work/stdout")" -eq 0
succeeds "$tvlm" select --help all
cp "$work/stdout" "$work/help"
has "$work/help" '^      --set keep-regions=N'
succeeds "$tvlm" help select all
same "two ways to all of the help" "$work/stdout" "$work/help"
for command in select tensors video channels devices; do succeeds "$tvlm" $command --help; done # a brief names options only
for command in fit pca vocab compress attend logpolar; do succeeds "$lab" help $command; done

echo "== old names"
# renamed OLD NEW PROGRAM ARGUMENTS...: the old name does the same, and one line says what to write.
renamed() {
    local old=$1 new=$2 program=$3
    shift 3
    succeeds "$program" $new "$@"
    cp "$work/stdout" "$work/new"
    succeeds "$tvlm" $old "$@"
    same "what $old prints" "$work/stdout" "$work/new"
    is "$old says its new name in one line" test "$(cat "$work/stderr")" = \
        "tvlm: warning: 'tvlm $old' is '${program##*/} $new' now; the old name goes with version 0.4"
}
renamed generate channels "$tvlm" ${device:+"$device"} "$photo" --channels r -o o.npy --json
renamed flow 'channels --flow' "$tvlm" ${device:+"$device"} "$photo" "$photo" --json
renamed export tensors "$tvlm" ${device:+"$device"} "$photo" --for siglip --json -o o.safetensors
renamed tune 'devices --tune' "$tvlm" --help
for command in fit pca vocab compress logpolar attend; do renamed $command $command "$lab" --help; done
"$tvlm" help fit >"$work/stdout" 2>/dev/null
"$lab" fit --help >"$work/new"
same "help of an old name" "$work/stdout" "$work/new"
cp "$photo" "$work/in/words.png"
succeeds "$tvlm" export -q "$work/in/words.png" ${device:+"$device"} --for siglip -o o.safetensors
is "an old name says nothing with -q" test ! -s "$work/stderr"
"$tvlm" help export all >"$work/stdout" 2>/dev/null
is "'help export all' has everything" grep -q -- '--pillow' "$work/stdout"
refused 2 "'more' is one argument too many" "$tvlm" help select all more
refused 2 '--str: may be --strategy or --stride' "$tvlm" select "$photo" --str grid
refused 2 'only one input can come from stdin' "$tvlm" channels - --give depth=- -o o.npy
refused 2 '--attention: write --give attention=FILE' "$tvlm" select "$photo" --attention a.npy
refused 2 '--patch-size: write --set patch-size=P' "$tvlm" select "$photo" --patch-size=14
for reduce in mean gaussian; do # also the one that is the default
    refused 2 '--reduce is not for --flow' "$tvlm" channels --flow "$photo" "$photo" --reduce $reduce -o o.flo
done
refused 2 '--layout is not for --flow' "$tvlm" channels --flow "$photo" "$photo" --layout r -o o.flo
refused 2 '--picture is for --flow' "$tvlm" channels "$photo" --picture p.png -o o.npy
refused 2 '--flow takes two images, not 1' "$tvlm" channels --flow "$photo" -o o.flo
refused 2 '--seconds is for --tune' "$tvlm" devices --seconds 3
rm -f ./*

echo "== devices"
succeeds "$tvlm" devices
is "devices says what decodes pictures" test "$(tail -n 1 "$work/stdout")" = "$(grep '^pictures:' "$work/version")"
succeeds "$tvlm" devices --json
json "$work/stdout" 'd["devices"][-1]["type"] == "reference" and all(e["index"] == i for i, e in enumerate(d["devices"]))'
json "$work/stdout" 'd["decoders"]["BMP"] == "stb_image" and d["decoders"]["JPEG"]'

echo "== select"
succeeds "${select[@]}" "$photo"
json "$work/stdout" 'd["k"] == 260 == len(d["positions"]) and d["image"]["width"] == 320 and d["strategy"] == "grid"'
succeeds "${select[@]}" "$photo" -k 20 -o selection.json --overlay overlay.png --heatmap heatmap.png
is "stdout is empty with -o" test ! -s "$work/stdout"
json selection.json 'len(d["positions"]) == 20 and set(d["positions"][0]) == {"x", "y", "level", "score", "size", "cell"}'
json selection.json 'd["layout"] == "edges,saliency,eccentricity,entropy" and d["image"]["path"].endswith("photo.png")'
json selection.json 'all(a["score"] >= b["score"] for a, b in zip(d["positions"], d["positions"][1:]))'
json selection.json 'all(p["cell"][0] * 16 < p["x"] < p["cell"][0] * 16 + 16 for p in d["positions"])'
is "the overlay" is_png overlay.png
is "the heat map" is_png heatmap.png
succeeds "${select[@]}" "$photo" "$work/in/other.png" -k 5 --overlay two.png --json
json "$work/stdout" '[len(s["positions"]) for s in d["selections"]] == [5, 5]'
is "one overlay" is_png two-photo.png
is "the other overlay" is_png two-other.png
succeeds "${select[@]}" "$photo" -k 260 --set min-distance=40
json "$work/stdout" '0 < len(d["positions"]) < 60 and d["k"] == 260'
succeeds "${select[@]}" "$photo" --format u8 -k 20
json "$work/stdout" 'len(d["positions"]) == 20'
succeeds "${select[@]}" "$photo" --stride 32.5 --patch 14 --weights 1,0,0 --format f16 -k 3
json "$work/stdout" 'd["layout"] == "edges,entropy" and abs(d["positions"][0]["size"] - 32.5) < 0.001'
printf 'P5\n1 1\n255\n\200' >"$work/in/dot.pgm"
succeeds "${select[@]}" "$work/in/dot.pgm" --overlay dot.png --heatmap dot-heat.png
json "$work/stdout" 'd["k"] == 1 and d["positions"][0]["x"] == 0.5'
cp "$photo" "$work/in/a \"quoted\" näme.png"
succeeds "${select[@]}" "$work/in/a \"quoted\" näme.png" -k 1
json "$work/stdout" 'd["image"]["path"].endswith("a \"quoted\" n\u00e4me.png")'

echo "== channels"
succeeds "${generate[@]}" "$photo" -o stack.npy --sheet sheet.png --json
json "$work/stdout" 'd["shape"] == [40, 200, 320] and d["channels"][3] == "edges" and len(d["channels"]) == 40'
is "the array's size" test "$(wc -c <stack.npy)" -eq $((128 + 40 * 200 * 320 * 4))
is "the sheet" is_png sheet.png
succeeds "${generate[@]}" "$photo" -o bytes.npy --layout visual12 --format u8
is "the array's size in bytes" test "$(wc -c <bytes.npy)" -eq $((128 + 12 * 200 * 320 * 4))
refused 1 "'depth' has the range -inf .. inf: format u8" "${generate[@]}" "$photo" -o none.npy --layout scene18 --format u8
succeeds "${generate[@]}" "$photo" -o small.npy --channels r,edges,entropy --level 2
is "the size of level 2" test "$(wc -c <small.npy)" -eq $((128 + 3 * 50 * 80 * 4))
succeeds "${generate[@]}" "$photo" -o sized.npy --layout visual12 --size 33x17 --json
json "$work/stdout" 'd["shape"] == [12, 17, 33]'
succeeds "${generate[@]}" "$photo" -o patch.npy --layout patch13 --json
json "$work/stdout" 'd["shape"] == [13, 32, 32]'

succeeds "${generate[@]}" "$photo" "$photo" -o two.npy --channels r --json
json "$work/stdout" 'len(d["images"]) == 2 and len(set(d["images"])) == 1 and d["shape"][:2] == [2, 1]'
succeeds "${generate[@]}" "$photo" -o turned.npy --channels rope_x_cos_0 --rope 100,16,8 --reduce gaussian --level 1
for reduce in mean gaussian; do
    succeeds "${generate[@]}" "$photo" -o $reduce.npy --channels edges --reduce $reduce --level 2
done
differ "--reduce gaussian" mean.npy gaussian.npy
refused 1 'base 1;' "${generate[@]}" "$photo" -o none.npy --channels rope_x_cos_0 --rope 1,16,8
mkdir -p ragged
succeeds "${generate[@]}" --ragged -o ragged "$photo" "$work/in/dot.pgm" --channels r,edges,entropy --json
json "$work/stdout" '[i["width"] for i in d["images"]] == [320, 1] and d["channels"] == ["r", "edges", "entropy"]'
stem=$(basename "${photo%.*}")
succeeds "${generate[@]}" "$photo" -o alone.npy --channels r,edges,entropy
is "an image of a ragged batch as alone" cmp "ragged/$stem.npy" alone.npy
is "one of 1 x 1" test "$(wc -c <ragged/dot.npy)" -eq $((128 + 3 * 4))
succeeds "${generate[@]}" --ragged -o ragged "$work/in/dot.pgm"
mkdir -p many "$work/in/many"
for i in {10..44}; do cp "$work/in/dot.pgm" "$work/in/many/$i.pgm"; done
succeeds "${generate[@]}" --ragged -o many "$work/in/many/"*.pgm --channels r
is "many of a ragged batch: $(ls -A many | wc -l)" test "$(ls -A many | tr -d '\n')" = "$(printf '%s.npy' {10..44})"
rm many/*
# Where one cannot be written, those that were long before are there, and no temporary file. (PoCL could not keep its kernels so.)
if [ "$device" = --device=reference ]; then
    { printf 'P5\n40 40\n255\n' && head -c 1600 /dev/zero; } >"$work/in/many/43.pgm"
    (ulimit -f 1; "${generate[@]}" --ragged -o many "$work/in/many/"*.pgm --channels r 2>"$work/stderr")
    has "$work/stderr" '^tvlm: cannot write many/43.npy: File too large'
    is "what was written before: $(ls -A many | wc -l)" test "$(ls -A many | tr -d '\n')" = "$(printf '%s.npy' {10..41})"
fi
rm -r many
refused 1 "has no 'saliency'" "${generate[@]}" --ragged -o ragged "$photo" --channels r,saliency
refused 1 'there is no folder none' "${generate[@]}" --ragged -o none "$photo"
refused 2 'needs -o DIR' "${generate[@]}" --ragged "$photo" --channels r
refused 2 'is not for --ragged' "${generate[@]}" --ragged -o ragged "$photo" --sheet none.png
refused 2 'would be written for two images' "${generate[@]}" --ragged -o ragged "$photo" "$photo"

if [ -x "${tvlm%/*}/tvlm-bench" ]; then
    echo "== bench"
    succeeds "$tvlm" bench ${device:+"$device"} --size 100x60 --repeat 1
    succeeds "$tvlm" bench ${device:+"$device"} --image "$photo" --stage select --repeat 2 --json
    json "$work/stdout" 'd["width"] == 320 and d["stages"][0]["name"] == "copy" and all(s["median_ms"] > 0 for s in d["stages"])'
    refused 1 'none.png' "$tvlm" bench --image none.png
    refused 2 'not in' "$tvlm" bench --repeat 0
fi

echo "== scorers"
zero='\0\0\0\0' one='\0\0\200\077' nan='\0\0\300\177'
format='"format":"texturevlm.scorer"'
scorer "$work/in/good.safetensors" "$format,\"channels\":\"edges,entropy\"" '[2]' "$one$one"
succeeds "${select[@]}" "$photo" -k 4 --scorer "$work/in/good.safetensors"
json "$work/stdout" 'd["layout"] == "edges,entropy" and len(d["positions"]) == 4'
scorer "$work/in/deep.safetensors" "$format,\"channels\":\"edges,feature_3\"" '[2]' "$one$one"
refused 2 'weighs feature_3: hand in --features' "${select[@]}" "$photo" --scorer "$work/in/deep.safetensors"
scorer "$work/in/deep.safetensors" "$format,\"channels\":\"edges,embedding_2\"" '[2]' "$one$zero" # no weight, no need
succeeds "${select[@]}" "$photo" -k 4 --scorer "$work/in/deep.safetensors"
with() { refused 1 "$1" "${select[@]}" "$photo" --scorer "$work/in/bad.safetensors" -o bad.json; }
scorer "$work/in/bad.safetensors" "$format,\"channels\":\"edges,entropy\"" '[2]' "$one$nan"
with 'bad.safetensors.*finite'
most='\377\377\177\177' # 3.4e38
scorer "$work/in/bad.safetensors" "$format,\"channels\":\"r,g,b\"" '[3]' "$most$most$most"
with "bad.safetensors: number 0 of 'weights' is beyond 1e15"
scorer "$work/in/bad.safetensors" "$format,\"channels\":\"edges,nothing\"" '[2]' "$one$one"
with "bad.safetensors.*'nothing'"
scorer "$work/in/bad.safetensors" "$format,\"channels\":\"edges\"" '[2]' "$one$one"
with 'bad.safetensors.*1 channel'
scorer "$work/in/bad.safetensors" '"channels":"edges,entropy"' '[2]' "$one$one"
with 'bad.safetensors.*not a scorer'
scorer "$work/in/bad.safetensors" "$format,\"channels\":\"edges,entropy\"" '[1,2]' "$one$one"
with 'bad.safetensors.*shape'
cp "$photo" "$work/in/bad.safetensors"
with 'bad.safetensors'
refused 1 'none.safetensors' "${select[@]}" "$photo" --scorer none.safetensors

echo "== no OpenCL"
# No driver of any kind, for each of the two common loaders.
bare() { OCL_ICD_VENDORS=/nonexistent OCL_ICD_FILENAMES='' "$@"; }
if ! bare "$tvlm" devices --json 2>/dev/null | grep '"type": "[^r]' >/dev/null; then
    bare "$tvlm" devices >"$work/stdout" 2>"$work/stderr"
    is "devices without OpenCL ends well" test $? -eq 0
    is "it names what to install" grep -q 'no OpenCL device: install' "$work/stderr"
    is "it has the reference device" grep -q '^0: reference' "$work/stdout"
    refused 1 'install' bare "$tvlm" select "$photo"
    succeeds bare "$tvlm" select "$photo" --device reference
    bare "$tvlm" select "$photo" --fallback >"$work/fallback.json" 2>"$work/stderr"
    is "--fallback works on the reference" test $? -eq 0
    is "it says so in one line" test "$(grep -c 'reference device works instead' "$work/stderr")" -eq 1
    "$tvlm" select "$photo" --device reference >"$work/reference.json"
    is "with the results of the reference" cmp -s "$work/fallback.json" "$work/reference.json"
fi
# Where OpenCL itself is not installed: what the loader of drivers is called is no library.
mkdir "$work/without"
echo "no library" | tee "$work/without/libOpenCL.so.1" >"$work/without/libOpenCL.so"
without() { LD_LIBRARY_PATH="$work/without" "$@"; }
succeeds without "$tvlm" select "$photo" --device reference
refused 1 'libOpenCL.so.1' without "$tvlm" select "$photo"
without "$tvlm" devices >"$work/stdout" 2>"$work/stderr"
is "devices without libOpenCL ends well" test $? -eq 0
is "it names libOpenCL" grep -q 'libOpenCL.so.1 cannot be loaded' "$work/stderr"
# The library that is named is the one that is taken, though it is no other one's name, and nothing else in its place.
named() { TVLM_OPENCL=$1 "${@:2}"; }
refused 1 'TVLM_OPENCL is .*no/such.so, which cannot be loaded' named "$work/no/such.so" "$tvlm" select "$photo"
refused 1 'TVLM_OPENCL is .*which cannot be loaded or is no OpenCL' named "$work/without/libOpenCL.so" "$tvlm" select "$photo"
succeeds named "$work/no/such.so" "$tvlm" select "$photo" --device reference
loader=$(ldconfig -p | awk '/libOpenCL\.so\.1 / { print $NF; exit }')
if [ -n "$loader" ] && "$tvlm" select "$photo" >"$work/usual.json" 2>/dev/null; then
    ln -s "$loader" "$work/loader.dll" && named "$work/loader.dll" "$tvlm" select "$photo" >"$work/named.json"
    is "a loader of another name gives what the usual one does" cmp -s "$work/usual.json" "$work/named.json"
fi

echo "== bad input"
: >"$work/in/empty.png"
echo "this is a text" >"$work/in/text.png"
base64 -d >"$work/in/whole.jpg" <<'JPEG'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqm
x5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAgACAD
ASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJx
FDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWW
l5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAEC
AwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2
Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU
1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDBSKpki9qmjiqzHFSguYKdUrpD7VOkHtU4QLxjJqVI2Pt9KqSpxdt2ejSqsrxR
VZCbQMdTT4YqnWPL/pWMKjjT03Z89TqakMcNTKhPC9KmEeTtHSpVj7DrWbmkrLb8z0aVQ//Z
JPEG
head -c 680 "$work/in/whole.jpg" >"$work/in/cut.jpg"
succeeds "${select[@]}" "$work/in/whole.jpg" -k 4
for name in select generate; do
    declare -n command=$name
    outputs=(-o out.file)
    [ $name = generate ] && outputs+=(--sheet out.png) || outputs+=(--overlay out.png --heatmap out-heat.png)
    for input in missing.jpg in/empty.png in/cut.jpg in/text.png in; do
        refused 1 "$input" "${command[@]}" "$work/$input" "${outputs[@]}"
    done
    refused 1 'nowhere/out.file: .*folder' "${command[@]}" "$work/missing.jpg" -o nowhere/out.file # before anything else
    refused 1 "out: .*folder" "${command[@]}" "$photo" -o "$work/out"
    refused 1 'photo.png: is the input' "${command[@]}" "$photo" -o "$photo"
    refused 1 'none such|no OpenCL device' "${command[@]}" "$photo" "${outputs[@]}" --device 'none such'
    refused 2 'unknown option .--nonsense' "${command[@]}" "$photo" --nonsense
    refused 2 "unknown option '-Z'" "${command[@]}" "$photo" -Z
    refused 2 "none of auto, image" "${command[@]}" "$photo" "${outputs[@]}" --storage paper
    refused 2 'takes no argument' "${command[@]}" "$photo" --json=yes
    refused 2 'IMAGE.* is missing' "${command[@]}" "${outputs[@]}"
    refused 2 'is missing' "${command[@]}" "$photo" -o
    refused 2 'empty' "${command[@]}" ''
done
unset -n command
echo "old" >kept.json
refused 1 'photo.png: .*100000' "${select[@]}" "$photo" -k 100000 -o kept.json
is "what was there before is kept" grep -qx old kept.json
refused 2 'k: 0 is not in 1 ' "${select[@]}" "$photo" -k 0
refused 2 'k: -5 is not in 1 ' "${select[@]}" "$photo" -k -5
refused 2 "-k: 'abc' is not a whole number" "${select[@]}" "$photo" -k abc
refused 2 "-k: '7.5' is not a whole number" "${select[@]}" "$photo" -k 7.5
refused 2 "-k: 99999999999 is not in" "${select[@]}" "$photo" -k 99999999999
refused 2 'weights: nan is not in' "${select[@]}" "$photo" --weights nan,0,0
refused 2 'weights: inf is not in' "${select[@]}" "$photo" --weights 1,inf,0
refused 1 'photo.png: weight 0 is 3e\+38; weights are from 0 to 1e15' "${select[@]}" "$photo" --weights 3e38,3e38,3e38
refused 2 'weights: -1 is not in' "${select[@]}" "$photo" --weights 1,-1,0
refused 2 'three numbers' "${select[@]}" "$photo" --weights 1,1
refused 2 'three numbers' "${select[@]}" "$photo" --weights 1,1,1,1
refused 2 "'x' is not a number" "${select[@]}" "$photo" --weights 1,x,1
refused 2 "--stride: 'abc' is not a number" "${select[@]}" "$photo" --stride abc
refused 2 '--stride: 0.5 is not in' "${select[@]}" "$photo" --stride 0.5
refused 2 '--stride: nan is not in' "${select[@]}" "$photo" --stride nan
refused 2 "--stride: '0x10' is not a number" "${select[@]}" "$photo" --stride 0x10
refused 2 'none of grid' "${select[@]}" "$photo" --strategy magic
refused 2 'exclude' "${select[@]}" "$photo" --weights 1,1,0 --scorer "$work/in/good.safetensors"
refused 2 'same file' "${select[@]}" "$photo" --overlay a.png --heatmap a.png
refused 2 'two images' "${select[@]}" "$photo" "$photo" --overlay a.png
refused 1 'text.png' "${select[@]}" "$work/in/text.png" "$photo" -o both.json --overlay both.png
refused 2 'nothing to write' "${generate[@]}" "$photo"
refused 2 'same file' "${generate[@]}" "$photo" -o a --sheet a
refused 2 'exclude' "${generate[@]}" "$photo" -o a.npy --layout visual12 --channels r
refused 2 'visual13' "${generate[@]}" "$photo" -o a.npy --layout visual13
refused 2 'edgse' "${generate[@]}" "$photo" -o a.npy --channels r,edgse
refused 1 'level' "${generate[@]}" "$photo" -o a.npy --level 20
refused 2 'level: 99' "${generate[@]}" "$photo" -o a.npy --level 99
refused 2 'size such as' "${generate[@]}" "$photo" -o a.npy --size 5,5
refused 2 'not in' "${generate[@]}" "$photo" -o a.npy --size 0x7
refused 2 'no command' "$tvlm"
refused 2 'exclude each other' "${select[@]}" "$photo" -q -v
refused 2 "no command 'paint'" "$tvlm" paint
refused 2 "no command 'paint'" "$tvlm" help paint
refused 2 'too many' "$tvlm" devices here

echo "== squares and patches"
squares=("${select[@]}" "$photo" --strategy)
succeeds "${squares[@]}" foveated -k 100 --fixation 30,40 --fixation 300,150 -o fov.json --overlay fov.png
json fov.json 'len(d["positions"]) == d["k"] == 100 and d["strategy"] == "foveated"'
json fov.json 'all("cell" not in p and "axes" not in p and p["size"] >= 16 for p in d["positions"])'
json fov.json 'min(abs(p["x"] - 30) + abs(p["y"] - 40) for p in d["positions"]) < 40'
is "fov.png is a PNG" is_png fov.png
succeeds "${squares[@]}" foveated -k 64 --set arrangement=log-polar --e0 0.5 -o polar.json
json polar.json 'len(d["positions"]) == 64'
succeeds "${squares[@]}" quadtree -k 50 -o quad.json --overlay quad.png --set anisotropic
json quad.json '20 < len(d["positions"]) <= 50 and all(len(p["axes"]) == 2 and len(p["axes"][1]) == 2 for p in d["positions"])'
succeeds "${select[@]}" "$photo" -k 20 -o grid.json --patches p.npy --set patch-size=14 --patch-scores s.npy
is "p.npy has 20 patches" grep -aq "(20, 3, 14, 14)" p.npy
is "s.npy has a score a cell" grep -aq "(260,)" s.npy
echo "== scores of one's own"
own=("${select[@]}" "$photo" -k 20)
succeeds "${own[@]}" -o own.json --scores s.npy --patch-scores again.npy
json own.json 'd["layout"] == "r,g,b" and d["positions"] == json.load(open("grid.json"))["positions"]'
same "scores that went in and out" s.npy again.npy
fours() { local i; for ((i = 0; i < $1; ++i)); do printf '%s' "$2"; done; }
npy "$work/in/peak.npy" '<f4' '(13, 20)' "$(fours 127 "$zero")$one$(fours 132 "$zero")"
npy "$work/in/half.npy" '<f2' '(13, 20)' "$(fours 127 '\0\0')\0\074$(fours 132 '\0\0')"
npy "$work/in/turned.npy" '<f4' '(20, 13)' "$(fours 260 "$zero")"
npy "$work/in/holed.npy" '<f4' '(13, 20)' "$(fours 127 "$zero")$nan$(fours 132 "$zero")"
succeeds "${select[@]}" "$photo" -k 60 --strategy budget -o own.json --scores "$work/in/peak.npy"
json own.json '(lambda p: "height" not in p and p["x"] == 120 and p["y"] == 104 and p["size"] == 16)(next(p for p in d["positions"] if "height" not in p))'
for strategy in grid foveated quadtree cascade; do
    succeeds "${own[@]}" --strategy $strategy -o own.json --scores "$work/in/peak.npy"
    json own.json 'abs(d["positions"][0]["x"] - 120) <= d["positions"][0]["size"] and abs(d["positions"][0]["y"] - 104) <= d["positions"][0]["size"]'
done
succeeds "${own[@]}" -o half.json --scores "$work/in/half.npy"
json half.json 'd["positions"][0]["cell"] == [7, 6] and d["positions"][0]["score"] == 1'
refused 1 'turned.npy: --scores takes 13 x 20 numbers.* has 20 x 13' "${own[@]}" -o no.json --scores "$work/in/turned.npy"
refused 1 'holed.npy: --scores: value 127 is not finite' "${own[@]}" -o no.json --scores "$work/in/holed.npy"
refused 1 'none.npy' "${own[@]}" -o no.json --scores none.npy
refused 1 'takes 200 x 320 numbers' "${own[@]}" --strategy exhaustive -o no.json --scores "$work/in/peak.npy"
refused 2 'given for 1 of 2 images' "${own[@]}" "$photo" -o no.json --scores s.npy
refused 2 '--scores and --weights exclude' "${own[@]}" --weights 1,0,0 --scores s.npy
refused 2 '--scores and --query exclude' "${own[@]}" --query s.npy --scores s.npy
rm -f own.json half.json again.npy
patches=("${select[@]}" "$photo" -k 2 -o no.json --patches p.npy)
for norm in clip siglip; do
    succeeds "${patches[@]}" --patch-norm $norm
    cp p.npy "$norm.npy"
done
checks=$((checks + 1))
cmp -s clip.npy siglip.npy && complain "clip and siglip are normed alike"
succeeds "${patches[@]}" --set patch-mean=0.5,0.5,0.5 --set patch-std=0.5,0.5,0.5
same "siglip in numbers" p.npy siglip.npy
for border in clamp reflect; do
    succeeds "${patches[@]}" -k 20 --strategy foveated --set patch-border=$border
    cp p.npy "$border.npy"
done
checks=$((checks + 1))
cmp -s clamp.npy reflect.npy && complain "squares beyond the image: clamped as reflected"
succeeds "${patches[@]}" --set patch-format=f16 --set patch-channels=edges,r,x,low --set patch-size=8
is "p.npy has 4 channels of halves" grep -aqE "<f2.*\(2, 4, 8, 8\)" p.npy
succeeds "${patches[@]}" --set patch-channels=x,g --set patch-size=1
succeeds "${select[@]}" "$photo" -k 12 -o cover.json --strategy cascade --set cover --overlay cover.png
json cover.json 'len(d["positions"]) == 12 and len(d["stages"]) == 2 and len({p["size"] for p in d["positions"]}) > 1'
refused 2 'patch-norm excludes' "${patches[@]}" --patch-norm clip --set patch-mean=0,0,0
refused 2 'mean takes a number for each of the 3' "${patches[@]}" --set patch-mean=0.5
refused 2 'std takes a number for each of the 3' "${patches[@]}" --set patch-std=1,2,3,4
refused 2 "std: '0' is no number" "${patches[@]}" --set patch-std=1,0,1
refused 2 "mean: 'x' is no number" "${patches[@]}" --set patch-mean=x,0,1
refused 2 "format: 'f64' is none of" "${patches[@]}" --set patch-format=f64
refused 2 'egdes' "${patches[@]}" --set patch-channels=r,egdes
refused 2 'are for --patches' "${select[@]}" "$photo" --set patch-border=reflect
refused 2 'are for --patches' "${select[@]}" "$photo" --set patch-border=clamp
refused 2 'for --strategy cascade' "${select[@]}" "$photo" --set cover
rm -f cover.* clip.npy siglip.npy clamp.npy reflect.npy no.json
refused 1 'room for 250 patches' "${squares[@]}" foveated -k 251 -o no.json
refused 1 'outside' "${squares[@]}" foveated --fixation 321,5 -o no.json
refused 1 'outside' "${squares[@]}" foveated --fixation nan,5 -o no.json
refused 2 'not a point' "${squares[@]}" foveated --fixation 12 -o no.json
refused 2 'for --strategy foveated' "${squares[@]}" grid --fixation 1,2 -o no.json
refused 2 'none of sunflower' "${squares[@]}" foveated --set arrangement=rose -o no.json
refused 2 'are for --patches' "${select[@]}" "$photo" --set patch-size=8
refused 2 'same file' "${select[@]}" "$photo" --patches a.npy --patch-scores a.npy
refused 2 '--set min-distance is for --strategy grid' "${squares[@]}" quadtree --set min-distance=5 -o no.json
rm -f fov.* polar.json quad.* grid.json p.npy s.npy

echo "== stdin, stdout, and silence"
"${select[@]}" "$photo" -k 4 >one.json && "${select[@]}" - -k 4 <"$photo" >two.json 2>"$work/stderr"
sed -i 's|"/dev/stdin"|"'"$photo"'"|' two.json
same "an image from stdin" one.json two.json
cat "$photo" | "${select[@]}" - -k 4 -o - 2>"$work/stderr" | sed 's|"/dev/stdin"|"'"$photo"'"|' >two.json
same "an image from a pipe, to stdout" one.json two.json
# Pictures of all formats: by name, which does not matter, and from a pipe. What this build does not read it refuses in one line.
for picture in webp_rgb:9:7 webp_animated:9:7 heif_avif:38:26 heif_heic:38:26 jpeg_progressive:19:13 png_palette:3:1; do
    IFS=: read -r name width height <<<"$picture"
    case $name in webp*) format=WebP ;; heif*) format='HEIF and AVIF' ;; *) format=${name%%_*} ;; esac
    cp "$here/../fuzz/corpus/image/seed_$name" "$work/in/any.picture"
    if grep -q "no $format" "$work/version"; then
        refused 1 "is $format, which is not supported" "${select[@]}" "$work/in/any.picture"
        continue
    fi
    succeeds "${select[@]}" "$work/in/any.picture" -k 1
    json "$work/stdout" 'd["image"]["width"] == '"$width"' and d["image"]["height"] == '"$height"
    cp "$work/stdout" named.json
    "${select[@]}" - -k 1 <"$work/in/any.picture" 2>"$work/stderr" | sed 's|"/dev/stdin"|"'"$work/in/any.picture"'"|' >piped.json
    same "$name from stdin" named.json piped.json
    head -c $(($(wc -c <"$work/in/any.picture") / 2)) "$work/in/any.picture" >"$work/in/cut.picture"
    refused 1 'cut.picture is a' "${select[@]}" "$work/in/cut.picture"
done
rm -f named.json piped.json
"${select[@]}" "$photo" -k 4 -o /dev/null --overlay - >out.png 2>"$work/stderr"
"${select[@]}" "$photo" -k 4 --overlay out2.png >/dev/null
same "an overlay to stdout" out.png out2.png
"${select[@]}" "$photo" -k 4 --overlay - 2>two.json | cmp -s - out.png || complain "an overlay to stdout, the JSON to stderr"
same "the JSON on stderr" one.json two.json
refused 2 'only one' "${select[@]}" "$photo" "$work/in/other.png" --overlay -
refused 2 'only one' "${select[@]}" "$photo" --overlay - --heatmap -
"${generate[@]}" "$photo" --channels r -o - --json >out.npy 2>"$work/stderr"
"${generate[@]}" "$photo" --channels r -o out2.npy
same "an array to stdout" out.npy out2.npy
mv "$work/stderr" said.json
json said.json 'd["shape"] == [1, 200, 320]'
rm -f one.json two.json said.json out.png out2.png out.npy out2.npy
printf 'P6\n2 2\n255\n############' >"$work/in/tiny.ppm"
warns=("$tvlm" video "$photo" "$work/in/tiny.ppm" ${device:+"$device"} -k 1)
"${warns[@]}" 2>&1 >/dev/null | grep -q warning || complain "no warning to be silent about"
says '"frame": 0' "${warns[@]}" -q

echo "== full disks"
if [ -w /dev/full ]; then
    echo old >kept.png
    refused 1 '/dev/full' "${select[@]}" "$photo" -o /dev/full --overlay kept.png --heatmap new.png
    refused 1 'stdout' sh -c 'exec "$@" >/dev/full' - "${select[@]}" "$photo" --overlay kept.png
    refused 1 '/dev/full' "${generate[@]}" "$photo" --channels r -o kept.png --sheet /dev/full
    refused 1 '/dev/full' "$tvlm" channels --flow ${device:+"$device"} "$photo" "$photo" -o new.flo --picture kept.png --confidence /dev/full
    is "where a second output fails the first is as it was" grep -qx old kept.png
    refused 1 '/dev/full' "${select[@]}" "$photo" -o /dev/full
    refused 1 '/dev/full' "${select[@]}" "$photo" -o json --overlay /dev/full
    refused 1 '/dev/full' "${select[@]}" "$photo" -o json --heatmap /dev/full
    refused 1 '/dev/full' "${generate[@]}" "$photo" -o /dev/full
    refused 1 '/dev/full' "${generate[@]}" "$photo" --sheet /dev/full -o a.npy
    refused 1 'stdout' sh -c 'exec "$@" >/dev/full' - "${select[@]}" "$photo"
    refused 1 'stdout' sh -c 'exec "$@" >/dev/full' - "$tvlm" devices --json -q # of no OpenCL it warns
fi

finish
