# SPDX-License-Identifier: Apache-2.0
"""clips.py: short videos for video.py: drawn ones, frames of ../shared/data, and files.

    terminal   lines that scroll and are typed into (DejaVu Sans Mono)
    mover      a photo that stands still, with a small thing that crosses it, and a little noise
    slides     three slides with a pointer
    walker     a person that somebody outlined in a photo of COCO, who crosses another photo
    player     another one, smaller
    pan        a photo as a hand-held camera sees it
    bedroom    two children on a bed, a camera that moves: ../shared/data/video

Frames are uint8 RGB of whole tokens: 24 along the longer side.
"""
import glob
import os

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from images import labels
from shared import DATA

SIDE, LONGEST, COUNT = 28, 24, 48  # pixels of a token, tokens along the longer side, frames
MONO, SANS = (f"/usr/share/fonts/truetype/dejavu/{name}.ttf" for name in ("DejaVuSansMono", "DejaVuSans"))


class Clip:
    """frames: [n, h, w, 3]. words: for some frames the words on them, (text, left, top, right, bottom). inside: for some clips
    the place (left, top, right, bottom) of what moves in each frame."""

    def __init__(self, name, frames, words=None, inside=None):
        self.name, self.words, self.inside = name, words or {}, inside
        self.frames = np.stack(frames)


def fit(frame):
    """A frame at the size of whole tokens."""
    height, width = frame.shape[:2]
    scale = LONGEST / max(width, height)
    size = max(1, round(width * scale)) * SIDE, max(1, round(height * scale)) * SIDE
    return cv2.resize(frame, size, interpolation=cv2.INTER_AREA if size[0] < width else cv2.INTER_CUBIC)


def photo(name):
    return cv2.cvtColor(cv2.imread(os.path.join(DATA, "photos", name)), cv2.COLOR_BGR2RGB)


def draw_words(draw, x, y, line, font):
    """Writes a line, and lists its words with their places."""
    found = []
    for word in line.split():
        draw.text((x, y), word, fill=(20, 20, 20), font=font)
        found.append((word, *draw.textbbox((x, y), word, font=font)))
        x += font.getlength(word + " ")
    return found


VOCABULARY = ("system reads each line file writes what finds table below where every row has name two numbers when process ends "
              "memory returned others waiting same place before after window signal driver buffer first second value").split()


def terminal():
    font, rng, frames, words, gone = ImageFont.truetype(MONO, 14), np.random.default_rng(3), [], {}, 0
    lines = [" ".join(rng.choice(VOCABULARY, 9)) for _ in range(60)]
    for number in range(COUNT):
        gone += 3 if number % 12 == 11 else 0
        page = Image.new("RGB", (24 * SIDE, 14 * SIDE), (250, 250, 248))
        rows = lines[gone:gone + 20]
        rows[-1] = rows[-1][:len(rows[-1]) * (number % 12 + 1) // 12]
        words[number] = [word for row, line in enumerate(rows) for word in draw_words(ImageDraw.Draw(page), 8, 6 + 19 * row, line, font)]
        frames.append(np.asarray(page))
    return Clip("terminal", frames, {number: words[number] for number in range(5, COUNT, 12)})


def slides():
    rng, frames, words, pages = np.random.default_rng(8), [], {}, []
    for _ in range(3):
        page = Image.new("RGB", (24 * SIDE, 14 * SIDE), (255, 255, 255))
        draw = ImageDraw.Draw(page)
        found = draw_words(draw, 40, 24, " ".join(rng.choice(VOCABULARY, 4)), ImageFont.truetype(SANS, 34))
        for row in range(5):
            found += draw_words(draw, 60, 100 + 54 * row, " ".join(rng.choice(VOCABULARY, 6)), ImageFont.truetype(SANS, 20))
        pages.append((page, found))
    for number in range(COUNT):
        page, found = pages[number * 3 // COUNT]
        page, x, y = page.copy(), 100 + number * 9, 200 + 60 * np.sin(number / 5)
        ImageDraw.Draw(page).polygon([(x, y), (x, y + 18), (x + 12, y + 13)], fill=(200, 30, 30))
        frames.append(np.asarray(page))
        if number % 16 == 8:
            words[number] = [word for word in found if not (word[1] - 14 < x < word[3] and word[2] - 20 < y < word[4])]
    return Clip("slides", frames, words)


def mover():
    ground, rng, frames, inside = fit(photo("kodim23.png")), np.random.default_rng(1), [], []
    thing = cv2.resize(rng.integers(0, 255, (10, 6, 3)).astype(np.uint8), (20, 36), interpolation=cv2.INTER_CUBIC)
    for number in range(COUNT):
        frame, left, top = ground.copy(), 40 + 10 * number, 300 + int(6 * np.sin(number))
        frame[top:top + 36, left:left + 20] = thing
        frames.append(np.clip(frame + rng.normal(0, 1.5, frame.shape), 0, 255).astype(np.uint8))
        inside.append((left, top, left + 20, top + 36))
    return Clip("mover", frames, inside=inside)


def outlined(name, segment):
    """A thing that somebody outlined in a photo of COCO, and its mask, 0 .. 1."""
    path = os.path.join(DATA, "boxes", "coco_panoptic", name)
    mask = labels(name) == segment
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    part = np.s_[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]
    return cv2.cvtColor(cv2.imread(path + ".jpg"), cv2.COLOR_BGR2RGB)[part], mask[part].astype(np.float32)


def crossing(name, ground, thing, height):
    """A photo that stands still, which a thing of that height crosses, and a little noise."""
    ground, rng, frames, inside = fit(photo(ground)).astype(np.float32), np.random.default_rng(7), [], []
    size = round(thing[0].shape[1] * height / thing[0].shape[0]), height
    picture, mask = (cv2.resize(one, size, interpolation=cv2.INTER_AREA) for one in thing)
    for number in range(COUNT):
        frame, left, top = ground.copy(), 30 + 12 * number, 250 + int(5 * np.sin(number * .8))
        part = frame[top:top + size[1], left:left + size[0]]
        part += mask[..., None] * (picture - part)
        frames.append(np.clip(frame + rng.normal(0, 1.5, frame.shape), 0, 255).astype(np.uint8))
        inside.append((left, top, left + size[0], top + size[1]))
    return Clip(name, frames, inside=inside)


def walker():
    return crossing("walker", "kodim05.png", outlined("000000001268", 1116963), 56)


def player():
    return crossing("player", "coffee.png", outlined("000000000885", 6775400), 40)


def pan():
    ground, frames = cv2.resize(photo("kodim19.png"), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), []
    for number in range(COUNT):
        x, y = 60 + 5 * number + 4 * np.sin(number * .9), 300 + 5 * np.sin(number * 1.3)
        turn = cv2.getRotationMatrix2D((x + 336, y + 196), .6 * np.sin(number * .7), 1)
        turn[:, 2] -= (x, y)
        frames.append(cv2.warpAffine(ground, turn, (24 * SIDE, 14 * SIDE), borderMode=cv2.BORDER_REFLECT))
    return Clip("pan", frames)


def bedroom():
    paths = sorted(glob.glob(os.path.join(DATA, "video", "bedroom", "*.jpg")))
    return Clip("bedroom", [fit(cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)) for path in paths])


def of_file(path):
    """The first frames of a video file."""
    reader, frames = cv2.VideoCapture(path), []
    while len(frames) < COUNT:
        there, frame = reader.read()
        if not there:
            break
        frames.append(fit(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)))
    return Clip(os.path.splitext(os.path.basename(path))[0], frames)


DRAWN = {clip.__name__: clip for clip in (terminal, slides, mover, walker, player, pan, bedroom)}
MADE_OF = {"terminal": MONO, "slides": SANS, "mover": "photos/kodim23.png", "walker": "photos/kodim05.png", "player": "photos/coffee.png",
           "pan": "photos/kodim19.png", "bedroom": "video/bedroom"}


def missing(name):
    """The path of what a clip is made of, where it is not there."""
    path = os.path.join(DATA, MADE_OF.get(name, os.path.abspath(name)))
    return None if os.path.exists(path) else path
