#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `text` finds words: of the words of ../shared/data/text/icdar2015 (not `###`, short side at least 12 pixels)
those covered by half or more, and the share of each image that is marked; the same share of photos without words;
beside the threshold on a plain two-polarity gradient density that finds the most words within the same limits. Then
the constants by leave-one-out, with a third writing of the definition in NumPy that the tool must agree with.

    bench/text.py [--tvlm TVLM] [--data FOLDER] [--device NAME] [--no-search | --floors]

--floors: the tool alone, without the two largest photos, and whether it finds as much as it did (ci/full).

Exit: 0; 1 when the tool misses the aim (80 % of the words, 15 % and 6 % marked) or what it reached before, or differs from the
definition; 77 without the data or OpenCV.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from shared import DATA

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PHOTOS = ["camera.png", "chelsea.png", "coffee.png", "examplepano_4096x2048.jpg", "hubble_deep_field.jpg",
          "kodim19.png", "kodim23.png", "puffins_5568x2784.jpg", "tulips_rgba.png"]
SHORT, COVERED, TEXT_LIMIT, PHOTO_LIMIT = 12, 0.5, 0.15, 0.06

# lib/core/constants.h
LEVELS, STEPS, BLOCK, THIN, RX, RY, CONTRAST = 4, 1023, 4, 4, 3, 1, 0.01
AREA = (2 * RX + 1) * (2 * RY + 1) * BLOCK * BLOCK
GAPS, ROWS = (2, 3), 2 * RY + 1
SHIPPED = {"floor": 25, "apart": 6, "gap": 1.5, "quiet": 0.008}
STRENGTH = 713.0
SEARCH = {"floor": (20, 25, 30), "apart": (5, 6, 7), "gap": (1.0, 1.5, 2.5), "quiet": (0.006, 0.008)}
FLOORS = (85.0, 11.5, 6.0)  # % of words covered, of texels marked, of texels marked without words: they were 88.1, 10.5, 5.6
LARGE = ("examplepano_4096x2048", "puffins_5568x2784")
MARGIN = 0.85  # of the limits, when the threshold is chosen


# ---- Data ----

def read_words(path):
    for line in open(path, encoding="utf-8-sig"):
        fields = line.strip().split(",", 8)
        if len(fields) < 9 or fields[8] == "###":
            continue
        corners = np.array(fields[:8], float).reshape(4, 2)
        sides = np.linalg.norm(corners - np.roll(corners, -1, 0), axis=1)
        if min(sides[0] + sides[2], sides[1] + sides[3]) / 2 >= SHORT:
            yield np.round(corners).astype(np.int32)


def read_luma(path):
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if image.ndim == 2:
        image = image[..., None].repeat(3, 2)
    colour = image[..., :3].astype(np.float32) / 255
    if image.shape[2] == 4:
        alpha = image[..., 3:].astype(np.float32) / 255
        colour = colour * alpha + 1 - alpha
    return colour @ np.array([0.114, 0.587, 0.299], np.float32)


def find_images(data):
    folder = os.path.join(data, "text", "icdar2015")
    for name in sorted(os.listdir(folder)):
        if name.startswith("img_") and name.endswith(".jpg"):
            words = list(read_words(os.path.join(folder, "gt_" + name[:-4] + ".txt")))
            yield name[:-4], os.path.join(folder, name), words
    for name in PHOTOS:
        yield name.split(".")[0], os.path.join(data, "photos", name), None


class Image:
    """Its luma, and for each word the texels of the quarter-size grid that its pixels fall into."""

    def __init__(self, name, path, words):
        self.name, self.path, self.words = name, path, None
        self.luma = read_luma(path)
        h, w = self.luma.shape
        self.size = (max(h // 4, 1), max(w // 4, 1))
        if words is None:
            return
        self.words = []
        for corners in words:
            mask = np.zeros((h, w), np.uint8)
            cv2.fillPoly(mask, [corners], 1)
            y, x = np.nonzero(mask)
            self.words.append((y * self.size[0] // h) * self.size[1] + x * self.size[1] // w)

    def covered(self, marked):
        """Of each word, whether half of it is marked."""
        return np.array([marked.ravel()[texels].mean() >= COVERED for texels in self.words])


# ---- The definition (doc/channels.md) once more ----

def luma_levels(luma):
    levels = [luma]
    while len(levels) < LEVELS and max(levels[-1].shape) > 1:
        h, w = levels[-1].shape
        levels.append(cv2.resize(levels[-1], (max(w // 2, 1), max(h // 2, 1)), interpolation=cv2.INTER_AREA))
    return levels


def strokes(level, floor):
    """Sums over blocks: bright, dark, rise, fall, luma, its square."""
    y = np.floor(level * np.float32(STEPS) + np.float32(0.5)).astype(np.int32)
    h, w = y.shape
    wide = w + -w % BLOCK
    y = np.pad(y, ((0, -h % BLOCK), (1, wide - w + THIN + 1)), mode="edge")
    g = y[:, 2:] - y[:, :-2]
    rise, fall = np.maximum(g - floor, 0), np.maximum(-g - floor, 0)
    ahead = [np.max([side[:, d:d + wide] for d in range(1, THIN + 1)], 0) for side in (fall, rise)]
    g, y = g[:, :wide], y[:, 1:wide + 1]
    values = (np.minimum(rise[:, :wide], ahead[0]), np.minimum(fall[:, :wide], ahead[1]), np.maximum(g, 0),
              np.maximum(-g, 0), y, y.astype(np.int64)**2)
    rows, columns = len(y) // BLOCK, wide // BLOCK
    return [v.reshape(rows, BLOCK, columns, BLOCK).sum((1, 3)).astype(np.float64) for v in values]


def windows(sums, rows=ROWS):
    return cv2.blur(sums, (2 * RX + 1, rows), borderType=cv2.BORDER_REPLICATE) / BLOCK**2


def shift(rows, by):
    return rows[np.clip(np.arange(len(rows)) + by, 0, len(rows) - 1)]


def regions(ratio):
    """Thresholds commute with erosion and growth: what is true of the ratio is true of the marks."""
    kept = cv2.erode(ratio.astype(np.float32), np.ones((1, 3), np.uint8))
    return cv2.dilate(kept, np.ones((3, 5), np.uint8))


def to_grid(levels, luma, size):
    """The largest over the levels, at each texel of the quarter-size grid."""
    result = np.zeros(size, np.float32)
    for n, level in enumerate(levels):
        h, w = max(luma.shape[0] >> n, 1), max(luma.shape[1] >> n, 1)
        y = (2 * np.arange(size[0]) + 1) * h // (2 * BLOCK * size[0])
        x = (2 * np.arange(size[1]) + 1) * w // (2 * BLOCK * size[1])
        result = np.maximum(result, level[y[:, None], x[None]])
    return result


def quieter(sums, rows, away):
    active = np.minimum(windows(sums[2], rows), windows(sums[3], rows)) / (2 * STEPS)
    return np.minimum(shift(active, away), shift(active, -away))


def stroke_ratio(sums, apart, gap, quiet):
    bright, dark, luma, square = (windows(sums[n]) for n in (0, 1, 4, 5))
    thin = np.minimum(bright, dark) / (2 * STEPS)
    least = np.minimum(quieter(sums, ROWS, apart), gap * np.min([quieter(sums, 1, away) for away in GAPS], 0))
    variance = np.maximum(square - luma * luma, 0) / STEPS**2
    return regions(thin / ((least + quiet)**2 * np.sqrt(variance + CONTRAST**2)))


def plain_density(sums):
    return cv2.dilate(np.minimum(windows(sums[2]), windows(sums[3])).astype(np.float32), np.ones((3, 3), np.uint8))


# ---- Choosing ----

class Scores:
    """One method's values on all images: at which threshold each word is covered, and what is marked."""

    def __init__(self, images, values):
        self.words = {i.name: np.array([np.sort(v.ravel()[t])[len(t) // 2] for t in i.words])
                      for i, v in zip(images, values) if i.words is not None}
        self.sorted = {i.name: np.sort(v.ravel()[::max(1, v.size // 40000)]) for i, v in zip(images, values)}
        grid = np.concatenate([s[::50] for s in self.sorted.values()])
        self.thresholds = np.unique(np.quantile(grid[grid > 0], np.linspace(0.2, 0.999, 400)))
        self.marked = {n: 1 - np.searchsorted(s, self.thresholds, side="right") / len(s)
                       for n, s in self.sorted.items()}

    def choose(self, names, margin):
        """The lowest threshold within the limits on `names`, and the share of their words that it finds."""
        text = np.mean([self.marked[n] for n in names if n in self.words], 0)
        photo = np.mean([self.marked[n] for n in names if n not in self.words], 0)
        within = (text <= margin * TEXT_LIMIT) & (photo <= margin * PHOTO_LIMIT)
        at = int(np.argmax(within)) if within.any() else len(within) - 1
        # How much of the budget words cost, smoothly, so that a choice does not hang on single words.
        words = np.concatenate([self.words[n] for n in names if n in self.words])
        cost = np.maximum(np.interp(words, self.thresholds, text) / TEXT_LIMIT,
                          np.interp(words, self.thresholds, photo) / PHOTO_LIMIT)
        return at, np.mean(words > self.thresholds[at]), np.mean(1 / (1 + cost**2))


def leave_one_out(images, levels):
    names = [i.name for i in images]
    runs = []
    for floor in SEARCH["floor"]:
        sums = [[strokes(level, floor) for level in l] for l in levels]
        for rest in itertools.product(SEARCH["apart"], SEARCH["gap"], SEARCH["quiet"]):
            values = [to_grid([stroke_ratio(s, *rest) for s in each], i.luma, i.size)
                      for each, i in zip(sums, images)]
            runs.append((dict(zip(SEARCH, (floor, *rest))), Scores(images, values)))
    found = [scores.choose(names, MARGIN)[1] for _, scores in runs]
    print(f"\nall {len(runs)} settings, each at {100 * MARGIN:.0f} % of the limits: "
          f"{100 * min(found):.0f} to {100 * max(found):.0f} % of the words, mean {100 * np.mean(found):.0f} %")
    words, text, photo = [], [], []
    for left in names:
        others = [n for n in names if n != left]
        setting, scores = max(runs, key=lambda run: run[1].choose(others, MARGIN)[2])
        at = scores.choose(others, MARGIN)[0]
        (text if left in scores.words else photo).append(scores.marked[left][at])
        hits = scores.words[left] > scores.thresholds[at] if left in scores.words else np.array([])
        words.extend(hits)
        print(f"    without {left:22} {str(setting):58} threshold {scores.thresholds[at]:5.0f}")
    print(f"leave-one-out: {100 * np.mean(words):.1f} % of the words, {100 * np.mean(text):.1f} % (photos: "
          f"{100 * np.mean(photo):.1f} %) marked")


# ---- The tool ----

def generate(arguments, path):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "text.npy")
        command = [arguments.tvlm, "channels", path, "--channels", "text", "--level", "2", "-o", out]
        subprocess.run(command + (["--device", arguments.device] if arguments.device else []), check=True)
        return np.load(out)[0] >= 0.5


def print_table(images, marks):
    hits, shares, photos = [], [], []
    print(f"{'image':24}{'words':>6}{'covered':>9}{'marked %':>10}")
    for image, marked in zip(images, marks):
        share = 100 * marked.mean()
        if image.words is None:
            photos.append(share)
            print(f"{image.name:24}{'':15}{share:10.1f}")
        else:
            covered = image.covered(marked)
            hits.extend(covered)
            shares.append(share)
            print(f"{image.name:24}{len(covered):6}{covered.sum():9}{share:10.1f}")
    result = 100 * np.mean(hits), np.mean(shares), np.mean(photos)
    print(f"{len(hits)} words: {result[0]:.1f} % covered (aim: 80), {result[1]:.1f} % marked (at most 15), photos without "
          f"words {result[2]:.1f} % (under 6)")
    return result


def compare_plain(images, levels):
    values = [to_grid([plain_density(strokes(level, 0)) for level in l], i.luma, i.size)
              for l, i in zip(levels, images)]
    scores = Scores(images, values)
    names = [i.name for i in images]
    text_only = np.mean([scores.marked[n] for n in scores.words], 0) <= TEXT_LIMIT
    at, words, _ = scores.choose(names, 1.0)
    free = scores.thresholds[int(np.argmax(text_only))]
    unbound = np.mean(np.concatenate(list(scores.words.values())) > free)
    print(f"plain two-polarity density, its best threshold: {100 * words:.1f} % of the words; without the limit on photos "
          f"{100 * unbound:.1f} %")


def worst_difference(images, levels, marks):
    """The largest share of an image's texels that differ from the definition."""
    differ = []
    for image, each, marked in zip(images, levels, marks):
        ratios = [stroke_ratio(strokes(level, SHIPPED["floor"]), *list(SHIPPED.values())[1:]) for level in each]
        differ.append(np.mean((to_grid(ratios, image.luma, image.size) > STRENGTH) != marked))
    print(f"texels that differ from the definition in NumPy: {100 * max(differ):.3f} % at most (luma and levels are "
          "OpenCV's: some values fall to another step)")
    return max(differ)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tvlm", default=os.path.join(ROOT, "build", "tools", "tvlm"))
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--device", default="")
    parser.add_argument("--no-search", action="store_true", help="without leave-one-out (some minutes)")
    parser.add_argument("--floors", action="store_true", help="only whether the tool is as good as it was")
    arguments = parser.parse_args()
    if not os.path.isdir(os.path.join(arguments.data, "text", "icdar2015")) or not os.path.exists(arguments.tvlm):
        print("skipped: no data or no tvlm", file=sys.stderr)
        return 77
    wanted = [found for found in find_images(arguments.data) if not (arguments.floors and found[0] in LARGE)]
    missing = [path for _, path, _ in wanted if not os.path.exists(path)]
    if missing or not any(words for *_, words in wanted):
        print(f"skipped: no {missing[0] if missing else 'photos with words'}", file=sys.stderr)
        return 77
    images = [Image(*found) for found in wanted]
    levels = [luma_levels(i.luma) for i in images]
    marks = [generate(arguments, i.path) for i in images]
    result = print_table(images, marks)
    differ = worst_difference(images, levels, marks)
    if arguments.floors:
        print(f"text: at least {FLOORS[0]} % of the words, at most {FLOORS[1]} % marked, and {FLOORS[2]} % without words")
        return int(not (result[0] >= FLOORS[0] and result[1] <= FLOORS[1] and result[2] <= FLOORS[2] and differ <= 0.01))
    compare_plain(images, levels)
    if not arguments.no_search:
        leave_one_out(images, levels)
    missed = result[0] < 80 or result[1] > 100 * TEXT_LIMIT or result[2] >= 100 * PHOTO_LIMIT
    return 1 if missed or differ > 0.01 else 0


if __name__ == "__main__":
    sys.exit(main())
