#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a tolerance keeps of pages: how many of their words can be read in how many patches, and how many patches downsampling
needs for as many words.

    bench/readable.py [--tvlm TVLM] [--set held] [--tolerance auto]

Words are those that Tesseract reads in the full page. Pictures are drawn as budget.py draws them (drawing.py); a tile that is equal
to one of level 0 is shown, too. Downsampling needs as many patches as the least of a ladder (each step a fifteenth less) at which at most
one word in two hundred fewer is read. Needs OpenCV, Pillow and Debian's tesseract-ocr; exit 77 without.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402

need("cv2", "PIL")
import measures  # noqa: E402
from drawing import PATCH, Drawing  # noqa: E402
from images import DRAWN, Images  # noqa: E402

STEP, STEPS = 14 / 15, 60
FEWER = 0.005


def chosen(tvlm, path, tolerance):
    """The answer of the tool, and its patches."""
    line = [tvlm, "select", path, "--strategy", "budget", "--tolerance", tolerance]
    found = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)
    return found, len(found["positions"])


def shown(drawing, found):
    """The picture that an answer shows."""
    grid, empty = tuple(found.get("thumbnail", (1, 1))), [tuple(cell) for cell in found.get("empty", ())]
    cells = grid[0] * grid[1] - len(empty) if "thumbnail" in found else 0
    squares = [(p["x"], p["y"], p["size"]) for p in found["positions"][cells:]]
    for column, row, *_ in found.get("duplicates", ()):
        right, below = min((column + 1) * PATCH, drawing.width), min((row + 1) * PATCH, drawing.height)
        squares.append((0.5 * (column * PATCH + right), 0.5 * (row * PATCH + below), PATCH))
    return drawing.shown(grid, squares, empty)[0]


def needed(drawing, words, enough):
    """The least number of patches on the ladder at which downsampling shows so many words."""
    low, high = 0, STEPS  # of steps down from all patches
    while high - low > 1:
        middle = (low + high) // 2
        picture = np.rint(drawing.downsampled(round(drawing.columns * drawing.rows * STEP ** middle))[0])
        if int(measures.words_read(words, picture).sum()) >= enough:
            low = middle
        else:
            high = middle
    return round(drawing.columns * drawing.rows * STEP ** low)


def measure(options, item):
    drawing = Drawing(item.pixels)
    words = [word for word, there in zip(item.words, measures.words_read(item.words, item.pixels)) if there]
    found, patches = chosen(options.tvlm, item.path, options.tolerance)
    read = int(measures.words_read(words, shown(drawing, found)).sum())
    beside = needed(drawing, words, read - FEWER * len(words))
    return read, len(words), patches, drawing.columns * drawing.rows, beside


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tvlm", default=os.path.join(HERE, "..", "build", "tools", "tvlm"))
    parser.add_argument("--set", default="held", choices=DRAWN)
    parser.add_argument("--tolerance", default="auto")
    options = parser.parse_args()
    if not measures.can_read():
        print("SKIPPED: no tesseract")
        return 77
    sums = np.zeros(5, int)
    print(f"{'page':12} {'words read':>12} {'patches':>8} {'of all':>7} {'downsampling':>13} {'share':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for item in Images(folder).of(options.set):
            found = np.array(measure(options, item))
            sums += found
            print_row(item.name, found)
    print_row("all", sums)
    return 0


def print_row(name, found):
    read, known, patches, tiles, beside = found
    print(f"{name:12} {read:5d}/{known:<6d} {patches:8d} {patches / tiles:7.2f} {beside:13d} {patches / beside:6.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
