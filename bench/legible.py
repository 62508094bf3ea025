#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""At which correlation of detail words are read: what the constants of the budget's loss were fitted by (doc/ideas.md).

    bench/legible.py [--sheets N] [--noise SIGMA]... [--seed N]

Sheets of paragraphs are drawn in the fonts of pages.py, at 13 to 60 pixels, dark on light and light on dark, some of them as scans
(a little blur, noise, JPEG). Each is reduced by Lanczos to twelve scales, enlarged again and read by Tesseract. Of each word that is read
in full, at each scale, several measures are taken over its letters; a logistic regression then tells at which value t a word is read
half of the time, how far from there (s) the odds are e to 1, and how well that predicts (the mean log loss; less is better). Once more
for words whose variance is 5000 and more: those of full contrast.

Measures, all of luma: the correlation of detail in windows of 2 to 32 pixels, as lib/core/operations.h has it, and after a Gaussian of sigma 5 was taken
away; SSIM in windows of 8; the covariance over the variance; the root of 1 - error / variance. Nothing drawn here is in a table
of budget.py but for `pages`. Needs OpenCV, Pillow and Debian's tesseract-ocr; exit 77 without.
"""
import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402

need("cv2", "PIL")
import cv2  # noqa: E402
import measures  # noqa: E402
import pages  # noqa: E402
from drawing import enlarge, reduce  # noqa: E402
from PIL import ImageFont  # noqa: E402

SCALES = (.7, .58, .5, .44, .39, .345, .31, .275, .245, .215, .19, .16)
SIZES = (13, 15, 17, 19, 21, 23, 25, 28, 32, 38, 46, 60)
FACES = (pages.SERIF, pages.SANS, pages.DEJAVU, pages.MONO)
STYLES = (((255, 255, 255), (0, 0, 0)), ((255, 255, 255), (0, 0, 0)), ((250, 246, 235), (40, 40, 60)),
          ((255, 255, 255), (110, 110, 110)), ((24, 30, 48), (230, 230, 240)))
FLOOR = 2.0


def draw_sheet(seed):
    """A page of paragraphs, each in a font, a size and colours of its own."""
    rng, page, y = random.Random(f"legible {seed}"), pages.Page(f"sheet {seed}"), 60
    while y < 1600:
        size, (paper, ink) = rng.choice(SIZES), rng.choice(STYLES)
        font = ImageFont.truetype(os.path.join(pages.FONTS, rng.choice(FACES)), size)
        high = int(size * 1.35 * rng.choice([2, 3, 4])) + 20
        page.draw.rectangle((60, y - 6, 1180, y + high), fill=paper)
        page.paragraph((80, y, 1160, y + high - 10), pages.sentences(rng, 90), font, rng.choice([1.1, 1.25, 1.5]), ink)
        y += high + 24
    return page


def scanned(pixels, sigma, seed):
    """As a scanner gives it: a little blur, noise, and JPEG of quality 60."""
    noise = np.random.default_rng(seed).normal(0, sigma, pixels.shape[:2])[..., None]
    seen = np.clip(cv2.GaussianBlur(pixels, (0, 0), .7) + noise, 0, 255)
    return cv2.imdecode(cv2.imencode(".jpg", np.uint8(seen), [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR).astype(np.float32)


# ---- Measures: (value, weight) of each pixel ----

def boxes(values, side):
    """The mean over the window that each pixel lies in."""
    high, wide = values.shape[0] // side * side, values.shape[1] // side * side
    means = values[:high, :wide].reshape(high // side, side, wide // side, side).mean((1, 3))
    return cv2.copyMakeBorder(np.kron(means, np.ones((side, side), np.float32)), 0, values.shape[0] - high, 0, values.shape[1] - wide,
                              cv2.BORDER_REPLICATE)


def moments(x, y, mean):
    mx, my = mean(x), mean(y)
    return mx, my, np.maximum(mean(x * x) - mx * mx, 0), np.maximum(mean(y * y) - my * my, 0), mean(x * y) - mx * my


def correlation(x, y, mean):
    _, _, vx, vy, both = moments(x, y, mean)
    return (both + FLOOR) / np.sqrt((vx + FLOOR) * (vy + FLOOR)), vx


def beyond_gaussian(x, y, _):
    blurred = lambda values: cv2.GaussianBlur(values, (0, 0), 5)
    return correlation(x - blurred(x), y - blurred(y), blurred)


def similarity(x, y, mean):
    mx, my, vx, vy, both = moments(x, y, mean)
    c1, c2 = (.01 * 255) ** 2, (.03 * 255) ** 2
    return (2 * mx * my + c1) * (2 * both + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2)), vx


def slope(x, y, mean):
    _, _, vx, _, both = moments(x, y, mean)
    return (both + FLOOR) / (vx + FLOOR), vx


def explained(x, y, mean):
    vx = moments(x, y, mean)[2]
    return np.sqrt(np.maximum(1 - mean((x - y) ** 2) / (vx + FLOOR), 0)), vx


MEASURES = {**{f"correlation, windows of {side}": (correlation, side) for side in (2, 4, 8, 16, 32)},
            "correlation, Gaussians of 5": (beyond_gaussian, 8), "SSIM, windows of 8": (similarity, 8),
            "covariance over variance, 16": (slope, 16), "1 - error over variance, 16": (explained, 16)}
EIGHT = 2  # windows of 8
STRONG = 5000


# ---- Readings ----

def readings(page, pixels):
    """For each word that is read in full and each scale: the measures over the word, its variance, and whether it is read."""
    height, width = pixels.shape[:2]
    inside = [(int(max(left, 0)), int(max(top, 0)), int(min(right, width)), int(min(below, height)))
              for _, left, top, right, below in page.words]
    known = [n for n, there in enumerate(measures.words_read(page.words, pixels)) if there]
    x = measures.luma(pixels)
    for scale in SCALES:
        small = reduce(pixels, (round(width * scale), round(height * scale)), "lanczos")
        picture = np.rint(enlarge(np.clip(small, 0, 255), (width, height)))
        read, y = measures.words_read(page.words, picture), measures.luma(picture)
        maps = [measure(x, y, lambda values, side=side: boxes(values, side)) for measure, side in MEASURES.values()]
        for n in known:
            left, top, right, below = inside[n]
            weights = [weight[top:below, left:right] + 1e-3 for _, weight in maps]
            yield ([float((value[top:below, left:right] * w).sum() / w.sum()) for (value, _), w in zip(maps, weights)],
                   float(maps[EIGHT][1][top:below, left:right].mean()), bool(read[n]))


def regression(values, read):
    """t, s and the mean log loss of a logistic regression, by Newton's method."""
    known, weights = np.stack([np.ones_like(values), values], 1), np.zeros(2)
    for _ in range(60):
        p = 1 / (1 + np.exp(-known @ weights))
        weights = weights + np.linalg.solve((known * (p * (1 - p))[:, None]).T @ known + 1e-6 * np.eye(2), known.T @ (read - p))
    p = np.clip(1 / (1 + np.exp(-known @ weights)), 1e-9, 1 - 1e-9)
    return -weights[0] / weights[1], 1 / weights[1], -(read * np.log(p) + (1 - read) * np.log(1 - p)).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheets", type=int, default=5)
    parser.add_argument("--noise", type=float, action="append", help="deviation in bytes of scans; default: none are")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not measures.can_read():
        print("SKIPPED: there is no tesseract")
        return 77
    found = []
    for seed in range(options.seed, options.seed + options.sheets):
        page = draw_sheet(seed)
        pixels = np.asarray(page.picture).astype(np.float32)
        for sigma in options.noise or [0.0]:
            found += list(readings(page, scanned(pixels, sigma, seed) if sigma else pixels))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    values, variance, read = (np.array(column, float) for column in zip(*found))
    for name, chosen in (("all words", variance >= 0), ("words of full contrast", variance >= STRONG)):
        print(f"{name}: {chosen.sum()} readings, {100 * read[chosen].mean():.0f} % of them right")
        for n, measure in enumerate(MEASURES):
            t, s, loss = regression(values[chosen, n], read[chosen])
            print(f"    {measure:30s} t {t:.3f}  s {s:.3f}  log loss {loss:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
