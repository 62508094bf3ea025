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
NINE, THIRD = np.log2(4 / 3), np.log2(3)


def read(folder, crop):
    return np.asarray(Image.open(os.path.join(folder, crop["file"])).convert("RGB"))


def reduced(pixels, width, height):
    """By area, as OpenCV does it."""
    return np.rint(cv2.resize(pixels.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA))


def by_lanczos(pixels, width, height):
    planes = [Image.fromarray(pixels[..., c].astype(np.float32)).resize((width, height), Image.LANCZOS) for c in range(3)]
    return np.clip(np.rint(np.stack(planes, -1)), 0, 255)


def thumbnails(pixels, width, height):
    """What a thumbnail may be: the image by Lanczos, or one of its levels, of which the first that is fine enough is taken."""
    level = pixels.astype(np.float32)
    yield by_lanczos(level, width, height)
    while min(level.shape[:2]) > 1:
        level = cv2.resize(level, (level.shape[1] // 2, level.shape[0] // 2), interpolation=cv2.INTER_AREA)
        yield by_lanczos(level, width, height)


def is_nine(level):
    """Whether a position or a crop is shown at three quarters, in squares of nine patches: of level log2(4 / 3)."""
    return 0 < level < 1


def filled(picture, columns, rows, empty):
    """A thumbnail's picture with its empty cells as select.h has them filled: from those that are there, ring after ring."""
    cells = picture.astype(float).reshape(rows, PATCH, columns, PATCH, 3).transpose(0, 2, 1, 3, 4).copy()
    left = {(y, x) for x, y in empty}
    lines = {(0, -1): np.s_[:, -1], (0, 1): np.s_[:, 0], (-1, 0): np.s_[-1], (1, 0): np.s_[0]}  # those that face the cell
    while left:
        done = {}
        for y, x in left:
            around = [(y + down, x + right, line) for (down, right), line in lines.items()
                      if 0 <= y + down < rows and 0 <= x + right < columns and (y + down, x + right) not in left]
            if around:
                done[y, x] = np.mean([cells[row, column][line].mean(0) for row, column, line in around], 0)
        for place, color in done.items():
            cells[place] = color
        left -= set(done)
    return cells.transpose(0, 2, 1, 3, 4).reshape(picture.shape)


def squares_of(positions, level, shape):
    """How many tiles of a level each pixel has; a square of nine patches is a tile."""
    side, share, count = round(PATCH * 2**level), 1.0, np.zeros(shape)
    if is_nine(level):
        side, share = 4 * PATCH, 1 / 9
    for p in positions:
        if abs(p["level"] - level) < 1e-3:
            x, y = int(p["x"] // side) * side, int(p["y"] // side) * side
            count[y:y + side, x:x + side] += share
    return np.rint(count)


def joined(a, b):
    """Whether two rectangles are one rectangle together."""
    for along, size, across, other in (("x", "width", "y", "height"), ("y", "height", "x", "width")):
        if a[across] == b[across] and a[other] == b[other] and b[along] in (a[along] + a[size], a[along] - b[size]):
            return True
    return False


def check(what, pixels, places, folder, answer):
    height, width = pixels.shape[:2]
    columns, rows = answer.get("thumbnail", (0, 0))
    empty = answer.get("empty", [])
    positions, crops = answer["positions"][columns * rows - len(empty):], places["crops"]
    checks.true(f"{what}: the size", (places["width"], places["height"]) == (width, height))
    checks.true(f"{what}: a thumbnail as in the selection", ("thumbnail" in places) == (columns > 0))
    if columns:
        seen = read(folder, places["thumbnail"])
        checks.true(f"{what}: the thumbnail's size", seen.shape == (rows * PATCH, columns * PATCH, 3))
        kept = np.ones((rows, columns), bool)
        for x, y in empty:
            kept[y, x] = False
        there = kept.repeat(PATCH, 0).repeat(PATCH, 1)
        nearest = min(thumbnails(pixels, columns * PATCH, rows * PATCH), key=lambda made: np.abs(seen - made)[there].mean())
        checks.close(f"{what}: the thumbnail", seen[there], nearest[there], 1, "rounding", .5)
        checks.close(f"{what}: its {len(empty)} empty cells", seen, filled(seen, columns, rows, empty), 1, "rounding, twice beside filled cells", 1)
    for level in (0, NINE, 1, THIRD, 2):
        mine = [crop for crop in crops if abs(crop["level"] - level) < 1e-3]
        count = np.zeros((height, width), int)
        for crop in mine:
            area = np.s_[crop["y"]:crop["y"] + crop["height"], crop["x"]:crop["x"] + crop["width"]]
            count[area] += 1
            seen, part = read(folder, crop), pixels[area]
            if is_nine(level):
                expected = by_lanczos(pixels, width * 3 // 4, height * 3 // 4)
                left, top, wide, high = (crop[key] * 3 // 4 for key in ("x", "y", "width", "height"))
                if width % 4 == height % 4 == 0:
                    checks.close(f"{what}: {crop['file']}", seen, expected[top:top + high, left:left + wide], 1, "rounding", 1)
                checks.true(f"{what}: {crop['file']}: three quarters", seen.shape == (high, wide, 3))
                continue
            if level == THIRD:
                left, top, wide, high = (crop[key] // 3 for key in ("x", "y", "width", "height"))
                if width % 3 == height % 3 == 0:
                    expected = by_lanczos(pixels, width // 3, height // 3)
                    checks.close(f"{what}: {crop['file']}", seen, expected[top:top + high, left:left + wide], 1, "rounding", 1)
                checks.true(f"{what}: {crop['file']}: a third", seen.shape == (high, wide, 3))
                continue
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

# Waves that are lost at half of the size, and not at three quarters.
y, x = np.mgrid[0:128, 0:192]
waves = np.uint8(128 + np.where(x < 128, 100, 1) * np.sin(1.6 * x) * np.sin(1.6 * y))
waves = np.stack([waves, 255 - waves, waves], -1)
with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as folder:
    path = os.path.join(place, "waves.png")
    Image.fromarray(waves).save(path)
    answer = json.loads(run(tool, "select", path, "-k", "45", "--crops", folder))
    with open(os.path.join(folder, "waves.json"), encoding="utf-8") as file:
        check("waves", waves, json.load(file), folder, answer)
    checks.true("waves: some at three quarters", any(is_nine(p["level"]) for p in answer["positions"]))
checks.done()
