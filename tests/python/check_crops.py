#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_crops.py TVLM: what `tvlm select --crops` writes, against the image and the positions of the same selection."""
import json
import os
import tempfile

from common import Checks, Pictures, arguments, need, np, run

cv2, Image = need("cv2", "PIL.Image")
tool = arguments("TVLM")[0]
checks = Checks()
PATCH = 16


def read(folder, crop):
    return np.asarray(Image.open(os.path.join(folder, crop["file"])).convert("RGB"))


def reduced(pixels, width, height):
    """By area, as OpenCV does it."""
    return np.rint(cv2.resize(pixels.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA))


def squares_of(positions, level, shape):
    """How many tiles of a level each pixel has."""
    side, count = PATCH << level, np.zeros(shape, int)
    for p in positions:
        if p["level"] == level:
            x, y = int(p["x"] // side) * side, int(p["y"] // side) * side
            count[y:y + side, x:x + side] += 1
    return count


def joined(a, b):
    """Whether two rectangles are one rectangle together."""
    for along, size, across, other in (("x", "width", "y", "height"), ("y", "height", "x", "width")):
        if a[across] == b[across] and a[other] == b[other] and b[along] in (a[along] + a[size], a[along] - b[size]):
            return True
    return False


def check(what, pixels, places, folder, answer):
    height, width = pixels.shape[:2]
    columns, rows = answer.get("thumbnail", (0, 0))
    positions, crops = answer["positions"][columns * rows:], places["crops"]
    checks.true(f"{what}: the size", (places["width"], places["height"]) == (width, height))
    checks.true(f"{what}: a thumbnail as in the selection", ("thumbnail" in places) == (columns > 0))
    if columns:
        seen = read(folder, places["thumbnail"])
        size = min(columns * PATCH, width), min(rows * PATCH, height)
        checks.close(f"{what}: the thumbnail", seen, reduced(pixels, *size), 1, "rounding", 1)
    for level in range(3):
        mine = [crop for crop in crops if crop["level"] == level]
        count = np.zeros((height, width), int)
        for crop in mine:
            area = np.s_[crop["y"]:crop["y"] + crop["height"], crop["x"]:crop["x"] + crop["width"]]
            count[area] += 1
            seen, part = read(folder, crop), pixels[area]
            sides = tuple(-(-crop[side] // (1 << level)) for side in ("width", "height"))
            checks.close(f"{what}: {crop['file']}", seen, reduced(part, *sides), min(level, 1), "rounding", min(level, 1))
        checks.true(f"{what}: level {level}: each tile's pixels once, and no others",
                    (count == squares_of(positions, level, (height, width))).all())
        checks.true(f"{what}: level {level}: tiles that touch are one",
                    not any(joined(a, b) for i, a in enumerate(mine) for b in mine[:i]))
    files = sorted(name for name in os.listdir(folder) if name.endswith(".png"))
    named = [crop["file"] for crop in crops] + ([places["thumbnail"]["file"]] if columns else [])
    checks.true(f"{what}: no file is without an entry", files == sorted(named))


for name, path, pixels in Pictures([(16, 16), (97, 61), (330, 203)], ["chelsea.png"]):
    for words in (["--share", "0.3"], ["--share", "0.7"], ["--tolerance", "0"], ["--share", "1"]):
        if pixels.shape[0] == PATCH and words[1] in ("0.3", "0.7"):
            continue  # less than its one patch
        with tempfile.TemporaryDirectory() as folder:
            answer = json.loads(run(tool, "select", path, *words, "--crops", folder))
            stem = os.path.splitext(os.path.basename(path))[0]
            with open(os.path.join(folder, stem + ".json"), encoding="utf-8") as file:
                check(f"{name} {' '.join(words)}", pixels, json.load(file), folder, answer)
checks.done()
