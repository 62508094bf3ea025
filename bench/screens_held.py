# SPDX-License-Identifier: Apache-2.0
"""screens_held.py: screens and photos with words for ways.py, by which nothing is chosen.

screens     an editor with dark ground, a table of numbers, an article beside a photo, a chat on a telephone
signs       photos of nature, each with eight signs: a word or two of 12 to 30 points on a plate, at places of their own

Fonts, words and the sheet are those of the held pages (pages_held.py). The photos are among those of the set `further`.
"""
import os
import random

import numpy as np
import text_held as text
from images_further import HALVED, NATURE, there
from PIL import Image
from sheet_held import WHITE, Sheet

DPI, WIDE = 150, 1400
PALE = (200, 205, 215)


def draw_editor(rng, photo):
    """Lines of a program in five colours, their numbers, a list of files, a line below."""
    page = Sheet("editor", DPI, (768, 470), (30, 32, 40))
    page.box(0, 0, 130, 470, fill=(22, 24, 30))
    for n in range(20):
        page.line(12, 24 + 20 * n, f"{rng.choice(text.NOUNS)}.c", "inconsolata", 8.5, PALE)
    inks = ((220, 220, 220), (130, 190, 250), (240, 180, 110), (150, 215, 140), (140, 145, 160))
    for n in range(30):
        y = 20 + 14.6 * n
        page.line(158, y, str(n + 101), "inconsolata", 8.5, (110, 115, 130), "right")
        x = 170 + 14 * rng.choice((0, 1, 1, 2))
        for _ in range(0 if n % 7 == 6 else rng.randint(2, 7)):
            x = page.line(x, y, rng.choice(text.NOUNS + text.VERBS), "inconsolata", 9, rng.choice(inks)) + 8
            if x > 690:
                break
    page.box(0, 452, 768, 470, fill=(40, 100, 180))
    page.line(12, 464, text.title(rng, 4), "carlito", 8.5, WHITE)
    return page


def draw_table(rng, photo):
    """A sheet of numbers with names of rows and columns, one row in colour."""
    page = Sheet("table", DPI, (768, 470), WHITE)
    page.box(0, 0, 768, 26, fill=(32, 110, 70))
    page.line(14, 17, text.title(rng, 5), "carlito bold", 11, WHITE)
    for column in range(7):
        page.line(140 + 104 * column + 84, 46, rng.choice(text.NOUNS).capitalize(), "carlito bold", 9, (60, 60, 60), "right")
    for row in range(22):
        y = 64 + 18 * row
        if row == 8:
            page.box(0, y - 12, 768, y + 5, fill=(226, 240, 230))
        page.line(14, y, rng.choice(text.PLACES), "carlito", 9)
        for column in range(7):
            page.line(140 + 104 * column + 84, y, f"{rng.randint(10, 99999) / 100:.2f}", "carlito", 9, (30, 30, 30), "right")
        page.rule(0, y + 5.5, 768, y + 5.5, (225, 225, 225))
    return page


def draw_article(rng, photo):
    page = Sheet("article", DPI, (768, 470), WHITE)
    page.line(30, 52, text.title(rng, 5), "lato bold", 22, (20, 20, 30))
    picture = photo.resize((round(page.px(300)), round(page.px(225))), Image.LANCZOS)
    page.picture.paste(picture, (round(page.px(438)), round(page.px(80))))
    page.flow((438, 310, 738, 350), text.sentence(rng).split(), "lato", 8, 1.3, (100, 100, 100))
    y = 72
    for _ in range(3):
        y, _ = page.flow((30, y, 414, 450), text.paragraph(rng, 50), "lato", 10.5, 1.4, (35, 35, 40))
        y += 12
    page.box(438, 372, 560, 404, fill=(190, 40, 60))
    page.line(499, 392, text.title(rng, 2), "lato bold", 10.5, WHITE, "centre")
    return page


def draw_chat(rng, photo):
    page = Sheet("chat", DPI, (330, 690), (236, 229, 221))
    page.box(0, 0, 330, 40, fill=(7, 94, 84))
    page.line(48, 25, rng.choice(text.PEOPLE), "open bold", 12, WHITE)
    y = 56
    for n in range(9):
        words, left = text.sentence(rng).split(), 12 if n % 2 else 70
        lines = -(-len(" ".join(words)) // 40)
        page.box(left, y, left + 248, y + 14 * lines + 22, fill=WHITE if n % 2 else (220, 248, 198))
        y, _ = page.flow((left + 8, y + 4, left + 240, y + 14 * lines + 20), words, "open", 9.5, 1.35, (20, 20, 20))
        page.line(left + 240, y + 12, f"{rng.randint(8, 22)}:{rng.randint(10, 59)}", "open", 6.5, (120, 120, 120), "right")
        y += 26
        if y > 600:
            break
    return page


PLATES = ((WHITE, (20, 20, 20)), ((250, 210, 40), (20, 20, 20)), ((20, 70, 150), WHITE), ((30, 120, 60), WHITE), ((170, 30, 40), WHITE))


def draw_signs(rng, name, photo):
    """A photo with plates that do not touch each other."""
    page = Sheet(name, DPI, tuple(side * 72 / DPI for side in photo.size))
    page.picture.paste(photo, (0, 0))
    taken, faces = [], ("lato bold", "open bold", "carlito bold", "cantarell bold", "caladea bold", "gentium bold")
    for n in range(8):
        words, points, face = text.title(rng, rng.choice((1, 2))), 12 + 18 * n / 7, rng.choice(faces)
        wide, high = page.length(words, page.font(face, points)) + points, 1.9 * points
        for _ in range(100):
            x, y = rng.uniform(4, page.width - wide - 4), rng.uniform(4, page.height - high - 4)
            if all(x > right + 6 or x + wide < left - 6 or y > below + 6 or y + high < top - 6 for left, top, right, below in taken):
                break
        else:
            continue
        taken.append((x, y, x + wide, y + high))
        ground, ink = rng.choice(PLATES)
        page.box(x, y, x + wide, y + high, fill=ground, outline=ink, width=0.9)
        page.line(x + points / 2, y + 1.32 * points, words, face, points, ink)
    return page


def photos():
    """Those that are there, of one width."""
    for path in there([os.path.join(NATURE, name) for name in HALVED]):
        with Image.open(path) as photo:
            yield os.path.basename(path)[:-4].lower(), photo.convert("RGB").resize((WIDE, round(WIDE * photo.height / photo.width)), Image.LANCZOS)


def draw_screens(seed=0):
    photo = next((photo for _, photo in photos()), Image.fromarray(np.full((3, 4, 3), 128, np.uint8)))
    for draw in (draw_editor, draw_table, draw_article, draw_chat):
        yield draw(random.Random(f"held {seed} {draw.__name__}"), photo)


def draw_photos(seed=0):
    for name, photo in photos():
        yield draw_signs(random.Random(f"held {seed} signs {name}"), name, photo)
