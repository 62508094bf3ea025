#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/crops.sh TVLM TVLM_SCENE [DEVICE]: `tvlm select --crops`: each picture is the part of the image that its place says,
# pixel by pixel where it is resampled by area, and near to that where tiles of another filter are copied; and there is one of each
# kind. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Paper with coloured strokes as of text at two sizes, and much of it blank: cells of the thumbnail are empty there.
page() { # FILE WIDTH HEIGHT PERIOD
    awk -v w="$2" -v h="$3" -v p="$4" 'BEGIN {
        print "P3", w, h, 255
        for (y = 0; y < h; ++y) for (x = 0; x < w; ++x) {
            r = 250; g = 248; b = 240
            if (x >= 9 && x < w * 0.5 && y >= 7 && y < h * 0.4 && (x + y * 3) % p < 2 && y % 9 < 5) { r = 20 + x % 90; g = 30; b = 90 - y % 60 }
            if (x >= w * 0.7 && y >= h * 0.75 && (int(x / 7) + int(y / 5)) % 3 == 0) { r = 200; g = 60 + x % 40; b = 20 }
            if (y > h * 0.9) { r = 120 + x % 17; b = 70 + y % 5 }
            print r, g, b } }' >"$1"
}
# bytes FILE: the colours of a picture as the tool reads them, one a line: all of red, then green, then blue, 0 to 255.
bytes() {
    "$tvlm" channels "$1" --channels r,g,b --device reference -o "$work/colours.npy" >"$work/stdout" 2>"$work/stderr" || complain "$1 cannot be read"
    od -An -v -tf4 -w4 -j128 "$work/colours.npy" | awk '{ print $1 * 255 }'
}
# crops NAME WIDTH HEIGHT PATCH K: chooses, and compares all pictures that come of it.
crops() {
    local file x y width height level
    rm -f -- *
    succeeds "$tvlm" select ${device:+"$device"} "$work/in/$1.ppm" -k "$5" --patch "$4" --crops . -o o.json
    bytes "$work/in/$1.ppm" >"$work/image"
    sed -nE 's/.*"file": "([^"]*)", "x": ([0-9]+), "y": ([0-9]+), "width": ([0-9]+), "height": ([0-9]+)(, "level": ([0-9.]+))?.*/\1 \2 \3 \4 \5 \7/p' \
        "$1.json" >"$work/places"
    is "$1: the pictures are those that the places name" test "$(ls ./*.png | wc -l)" -eq "$(wc -l <"$work/places")"
    while read -r file x y width height level; do
        # The thumbnail is told by its grid; a crop has a texel for so many pixels as its level says, and what is begun is whole.
        { echo "#"; cat "$work/image"; echo "#"; bytes "$file"; } | awk -v w="$2" -v h="$3" -v x0="$x" -v y0="$y" -v cw="$width" -v ch="$height" \
            -v level="$level" -v patch="$4" -v grid="$(tr -d '\n' <o.json | grep -oE '"thumbnail": \[[0-9]+, [0-9]+\]')" '
            function shrunk(side) { return level == "" ? side : int((side * texels + pixels - 1) / pixels) }
            # The mean of the pixels of channel c below place (x, y) of the picture.
            function mean_of(c, x, y,   sum, i, j, across, down, left, right, top, bottom, weight, all) {
                left = x * cw / width; right = (x + 1) * cw / width; top = y * ch / height; bottom = (y + 1) * ch / height
                for (j = int(top); j < bottom - 1e-9; ++j) for (i = int(left); i < right - 1e-9; ++i) {
                    across = (right < i + 1 ? right : i + 1) - (left > i ? left : i)
                    down = (bottom < j + 1 ? bottom : j + 1) - (top > j ? top : j)
                    weight = across * down; all += weight
                    sum += weight * image[c * w * h + (y0 + j) * w + x0 + i]
                }
                return sum / all
            }
            BEGIN { n = 0 }
            /#/ { ++part; n = 0; next }
            part == 1 { image[n++] = $1 }
            part == 2 { picture[n++] = $1 }
            END {
                texels = pixels = 1
                if (level > 1.9) pixels = 4; else if (level > 1.5) pixels = 3; else if (level > 0.9) pixels = 2; else if (level > 0.3) { texels = 3; pixels = 4 }
                if (level == "") { split(grid, sides, /[^0-9]+/); width = sides[2] * patch; height = sides[3] * patch }
                else { width = shrunk(cw); height = shrunk(ch) }
                if (n != 3 * width * height) { print n " values, not 3 x " width " x " height; exit 1 }
                by_area = level != "" && (pixels == 1 || pixels == 2 || texels == 1 && pixels == 4)
                for (c = 0; c < 3; ++c) for (y = 0; y < height; ++y) for (x = 0; x < width; ++x) {
                    off = picture[c * width * height + y * width + x] - mean_of(c, x, y)
                    if (off < 0) off = -off
                    if (by_area && off > 1.01) { print "channel " c ", x " x ", y " y ": off by " off; exit 1 }
                    sum += off
                }
                print (by_area ? "exact" : level == "" ? "thumbnail" : "between"), level, sum / n
                exit sum / n > (level == "" ? 6 : 15)
            }' >"$work/stdout" || complain "$1: $file is not the image from $x,$y on"
        checks=$((checks + 1))
        cat "$work/stdout" >>"$work/kinds"
    done <"$work/places"
}
page "$work/in/text.ppm" 230 170 5
page "$work/in/wide.ppm" 305 97 6
crops text 230 170 8 60
crops text 230 170 5 200
crops wide 305 97 8 100
crops text 230 170 14 30
crops text 230 170 14 50
# scaled OPTIONS...: the same of an image that is scaled down: the crops show what the answer's tiles cover, in pixels of the image.
scaled() {
    rm -f -- *
    succeeds "$tvlm" select ${device:+"$device"} "$work/in/large.ppm" -k 60 --patch 8 --crops . -o o.json "$@"
    python3 - <<'END' >"$work/stdout" 2>&1 || complain "crops with $*"
import json
answer, crops = json.load(open("o.json")), json.load(open("large.json"))
assert (crops["width"], crops["height"]) == (460, 340), crops
tiles = [p for p in answer["positions"] if "height" not in p]
def boxes(parts): return [(p["x"], p["y"], p["x"] + p["width"], p["y"] + p["height"]) for p in parts]
shown = boxes(crops["crops"])
assert tiles and shown
for tile in tiles:  # the middle of each tile lies in a crop of its level
    assert any(x0 <= tile["x"] <= x1 and y0 <= tile["y"] <= y1 and abs(crop["level"] - tile["level"]) < .01
               for crop, (x0, y0, x1, y1) in zip(crops["crops"], shown)), tile
area = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in shown)
assert .8 < area / sum(tile["size"] ** 2 for tile in tiles) < 1.05, area  # the border clips some of them
END
}
page "$work/in/large.ppm" 460 340 9
if command -v python3 >/dev/null; then
    scaled --max-side 230
    scaled --size 115x85
    scaled --size 460x340
fi
# Elsewhere scores that round in another way may choose other tiles.
[ "$device" != --device=reference ] || for kind in "exact 0" "exact 1" "exact 2" "between 0.4150375" "between 1.5849625" "thumbnail "; do
    has "$work/kinds" "^$kind"
done
[ -z "${TVLM_TEST_FIGURES:-}" ] || grep -v exact "$work/kinds"
finish
