# SPDX-License-Identifier: Apache-2.0
"""measures.py: how much of an image a picture of it still shows: error, structure, words, faces and people.

Needs OpenCV; words need Debian's tesseract-ocr with its languages, and ocrad where that reads.
"""
import functools
import math
import os
import re
import shutil
import subprocess

import cv2
import numpy as np

CASCADES = "/usr/share/opencv4/haarcascades"  # libopencv-objdetect's, in opencv-data
FACES = ("haarcascade_frontalface_default.xml", "haarcascade_profileface.xml")


def decibels(error):
    """PSNR of a mean squared error of 8-bit values. Rounding to 8 bits alone errs by 1/12, which is the best that counts."""
    return 10 * math.log10(255 ** 2 / max(error, 1 / 12))


def luma(picture):
    return picture.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)


def ssim(picture, image):
    """Mean structural similarity of lumas (Wang, Bovik, Sheikh & Simoncelli 2004): Gaussian windows of sigma 1.5."""
    mean = lambda values: cv2.GaussianBlur(values, (11, 11), 1.5)
    x, y = luma(picture), luma(image)
    mx, my = mean(x), mean(y)
    vx, vy, both = mean(x * x) - mx * mx, mean(y * y) - my * my, mean(x * y) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float((((2 * mx * my + c1) * (2 * both + c2)) / ((mx * mx + my * my + c1) * (vx + vy + c2))).mean())


def auc(values, mask):
    """The share of (foreground, background) pairs in the right order; ties count half. NaN where one of them is missing."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse.ravel()]
    mask = np.asarray(mask, bool).ravel()
    n = int(mask.sum())
    return float((ranks[mask].sum() - n * (n + 1) / 2) / (n * (mask.size - n))) if 0 < n < mask.size else math.nan


# ---- Words ----

READERS = ("tesseract", "twice", "ocrad")  # Tesseract; the same on the picture enlarged twice; ocrad, which reads English only
BY_GLYPH = ("chi_sim",)  # languages whose words are single characters
OCRAD_DPI = 300  # that it is given at least


def can_read(readers=("tesseract",), language="eng"):
    """Whether all of these readers are there, and Tesseract knows the language."""
    programs = {"ocrad" if reader == "ocrad" else "tesseract" for reader in readers}
    if not all(map(shutil.which, programs)):
        return False
    return "tesseract" not in programs or language in languages()


@functools.lru_cache(None)
def languages():
    return subprocess.run(["tesseract", "--list-langs"], stdout=subprocess.PIPE, check=True).stdout.decode().split()


def read_words(picture, language="eng", dpi=150, reader="tesseract"):
    """What a reader reads: (word, x, y of its centre), punctuation at the ends left out."""
    scale = 2 if reader == "twice" else max(1, -(-OCRAD_DPI // dpi)) if reader == "ocrad" else 1
    pixels = np.ascontiguousarray(np.uint8(np.clip(picture, 0, 255))[..., ::-1])
    if scale > 1:
        pixels = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    found = read_by_ocrad(pixels) if reader == "ocrad" else read_by_tesseract(pixels, language, dpi * scale)
    return [(bare(word), (x + 0.5) / scale - 0.5, (y + 0.5) / scale - 0.5) for word, x, y in found if bare(word)]


def read_by_tesseract(pixels, language, dpi):
    _, png = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    words = ["tesseract", "-", "-", "--psm", "3", "--dpi", str(dpi), "-l", language, "tsv"]
    text = subprocess.run(words, input=png.tobytes(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          env=dict(os.environ, OMP_THREAD_LIMIT="1")).stdout.decode()
    fields = [line.split("\t") for line in text.splitlines()[1:]]
    for f in (f for f in fields if len(f) == 12 and f[0] == "5"):
        left, top, width, height = map(int, f[6:10])
        parts = list(f[11]) if language in BY_GLYPH else [f[11]]
        for n, part in enumerate(parts):
            yield part, left + width * (n + 0.5) / len(parts), top + height / 2


def read_by_ocrad(pixels):
    """From the boxes of characters that ocrad writes. It takes ink for dark: where most is dark it gets the negative."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    _, pgm = cv2.imencode(".pgm", 255 - gray if np.median(gray) < 128 else gray)
    text = subprocess.run(["ocrad", "--layout", "--export=-", "-"], input=pgm.tobytes(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout.decode("latin-1")
    word, boxes = "", []
    for line in text.splitlines() + ["line"]:
        glyph = re.match(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+);\s*\d+(?:, '(.)')?", line)
        if glyph and glyph[5] != " ":
            word, boxes = word + (glyph[5] or "_"), boxes + [[int(glyph[n]) for n in range(1, 5)]]
        elif word and (glyph or line.startswith("line")):
            left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
            right, below = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
            yield word, (left + right) / 2, (top + below) / 2
            word, boxes = "", []


def bare(word):
    return word.strip().strip(".,:;!?|'\"" "\u3001\u3002\uff0c")


def words_read(known, picture, language="eng", dpi=150, readers=("tesseract",)):
    """For each known word (text, left, top, right, bottom) whether any of the readers reads it in its place."""
    places, slack = {}, 4 * dpi / 150
    for reader in readers:
        for text, x, y in read_words(picture, language, dpi, reader) if reader != "ocrad" or language == "eng" else ():
            places.setdefault(text, []).append((x, y))
    return np.array([any(left - slack <= x <= right + slack and top - slack <= y <= bottom + slack for x, y in places.get(bare(text), []))
                     for text, left, top, right, bottom in known], bool)


# ---- Faces and people ----

def find_faces(picture):
    gray = np.uint8(np.clip(luma(picture), 0, 255))
    found = []
    for name in FACES:
        cascade = cv2.CascadeClassifier(os.path.join(CASCADES, name))
        if not cascade.empty():
            found += [tuple(box) for box in cascade.detectMultiScale(gray, 1.1, 5)]
    return found


def find_people(picture):
    detector = cv2.HOGDescriptor()
    detector.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    if picture.shape[0] < 128 or picture.shape[1] < 64:
        return []
    boxes, _ = detector.detectMultiScale(np.uint8(np.clip(picture, 0, 255))[..., ::-1], winStride=(8, 8), scale=1.05)
    return [tuple(box) for box in boxes]


def found_again(before, now):
    """How many of the boxes are found again: overlapping one of those found now by 40 % of their union."""
    def overlap(a, b):
        width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
        height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
        both = max(0, width) * max(0, height)
        return both / (a[2] * a[3] + b[2] * b[3] - both)
    return sum(any(overlap(box, other) >= 0.4 for other in now) for box in before)
