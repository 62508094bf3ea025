# SPDX-License-Identifier: Apache-2.0
"""measures.py: how much of an image a picture of it still shows: error, structure, words, faces and people.

Needs OpenCV; words need Debian's tesseract-ocr and tesseract-ocr-eng.
"""
import math
import os
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


# ---- Words ----

def can_read():
    return shutil.which("tesseract") is not None


def read_words(picture):
    """What Tesseract reads: (word, x, y of its centre), punctuation at the ends left out."""
    _, png = cv2.imencode(".png", np.ascontiguousarray(np.uint8(np.clip(picture, 0, 255))[..., ::-1]))
    words = ["tesseract", "-", "-", "--psm", "3", "--dpi", "150", "-l", "eng", "tsv"]
    text = subprocess.run(words, input=png.tobytes(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          env=dict(os.environ, OMP_THREAD_LIMIT="1")).stdout.decode()
    fields = [line.split("\t") for line in text.splitlines()[1:]]
    return [(bare(f[11]), int(f[6]) + int(f[8]) / 2, int(f[7]) + int(f[9]) / 2)
            for f in fields if len(f) == 12 and f[0] == "5" and bare(f[11])]


def bare(word):
    return word.strip().strip(".,:;!?|'\"")


def words_read(known, picture):
    """For each known word (text, left, top, right, bottom) whether it is read in its place."""
    places = {}
    for text, x, y in read_words(picture):
        places.setdefault(text, []).append((x, y))
    return np.array([any(left - 4 <= x <= right + 4 and top - 4 <= y <= bottom + 4 for x, y in places.get(bare(text), []))
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
