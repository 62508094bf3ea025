#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model can read in the picture that `texturevlm.hf` gives it: words of held pages, screens and photos, by each way of spending
tokens.

    bench/ways.py [--sets held,screens,signs] [--tokens 64,128,256,512,1024] [--pages NAME,...] [--json FILE]

Tokens have 28 x 28 pixels, and pictures are made by the rule of Qwen-VL's processor. Words are those that Tesseract reads in the
full page. Where no token is kept the picture shows what its neighbour does if it repeats that one, and else is filled from around
it, which is the best that a reader could make of it. `auto` is
the way of the least predicted loss. `equal` and `alike` are PixelPrune's rule (arXiv 2604.00886) at the largest size that has so few
tokens left: a token is left out whose pixels equal, or differ by at most .02 from, those of the one to the left or above, and shows
these. Needs the package (PYTHONPATH), OpenCV, Pillow and Debian's tesseract-ocr; exit 77 without.
"""
import argparse
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402

need("cv2", "PIL", "texturevlm")
import PIL.Image  # noqa: E402
import measures  # noqa: E402
import texturevlm  # noqa: E402
from drawing import fill_empty, repeated  # noqa: E402
from images import Images  # noqa: E402
from shared import write_json  # noqa: E402
import texturevlm._ways as sizes  # noqa: E402

SIDE, LEAST = 28, 4
WAYS = ("smaller", "pruned", "pictures", "cells")
RULES = {"equal": 0, "alike": 0.02}  # PixelPrune's, and its threshold


def resize(height, width, least, most):
    """The size that the processor of Qwen2-VL makes of an image."""
    high, wide = (round(side / SIDE) * SIDE for side in (height, width))
    if high * wide > most:
        scale = math.sqrt(height * width / most)
        high, wide = (max(SIDE, math.floor(side / scale / SIDE) * SIDE) for side in (height, width))
    elif high * wide < least:
        scale = math.sqrt(least / (height * width))
        high, wide = (math.ceil(side * scale / SIDE) * SIDE for side in (height, width))
    return high, wide


LOST, BLANK, LEFT = 0, 2, 3  # texturevlm.Prediction.shown; from LEFT on a token repeats another


def enlarged(picture, how, size):
    """A picture as large as the page, what is not kept repeated from its neighbours, or filled from around it."""
    pixels = np.asarray(picture).astype(np.float32)

    def of(row, column):
        return pixels[row * SIDE:(row + 1) * SIDE, column * SIDE:(column + 1) * SIDE]
    for row, column in np.argwhere(how >= LEFT):
        of(row, column)[:] = of(row, column - 1) if how[row, column] == LEFT else of(row - 1, column)
    fill_empty(pixels, [(int(column), int(row)) for row, column in np.argwhere((how == LOST) | (how == BLANK))], SIDE)
    return np.asarray(PIL.Image.fromarray(np.uint8(np.clip(np.rint(pixels), 0, 255))).resize(size, PIL.Image.BICUBIC))


def coarseness(crop):
    """How many pixels of the page a token of a crop has."""
    left, top, right, bottom = crop.box
    return (right - left) * (bottom - top) / (crop.columns * crop.rows)


def shown(measured, one, size):
    """What a candidate shows of the page."""
    (whole, kept), *crops = measured.shown(one)
    how = kept.astype(np.uint8)  # of a picture that has crops no more is known
    if not crops and (one.columns, one.rows) in measured.sizes:
        how = measured.prediction.shown(measured.sizes.index((one.columns, one.rows)), kept)
    page = enlarged(whole, how, size).copy()
    scale = size[0] / (measured.full[0] * SIDE), size[1] / (measured.full[1] * SIDE)
    several = [(crop, picture) for (picture, _), crop in zip(crops, measured._cut.crops if crops else ())]
    for crop, picture in sorted(several, key=lambda pair: -coarseness(pair[0])):  # the finest is drawn last
        left, top, right, bottom = (round(edge * scale[i % 2]) for i, edge in enumerate(crop.box))
        part = picture.resize((max(right - left, 1), max(bottom - top, 1)), PIL.Image.BICUBIC)
        page[top:bottom, left:right] = np.asarray(part)[:page.shape[0] - top, :page.shape[1] - left]
    return page


def by_rule(measured, threshold, tokens, size):
    """What PixelPrune shows of the page with at most so many tokens."""
    for grid in measured.sizes[::-1]:
        kept, picture = repeated(np.asarray(measured.resized(grid)), SIDE, threshold)
        if kept.sum() <= tokens:
            return np.asarray(PIL.Image.fromarray(picture).resize(size, PIL.Image.BICUBIC))
    return np.zeros((size[1], size[0], 3), np.uint8)


def candidates(measured, tokens):
    found = {"smaller": measured.smaller(tokens), "pruned": measured.pruned(tokens), "cells": measured.cells(tokens),
             "pictures": measured.pictures(tokens)}
    return {way: one for way, one in found.items() if one is not None}


def on_a_sheet(picture, words):
    """Each word with a little around it, one under the other on white, and the words at their new places.

    Tesseract finds hardly any word on a photo. So it is told where they are, as a question would tell a model.
    """
    gap, top, parts, moved = 24, 24, [], []
    for word, left, above, right, below in words:
        beside = round(0.3 * (below - above))
        box = [max(round(edge), 0) for edge in (left - beside, above - beside, right + beside, below + beside)]
        part = np.asarray(PIL.Image.fromarray(picture[box[1]:box[3], box[0]:box[2]]).convert("L"))
        ground = float(np.median(part))
        part = np.clip(255 - np.abs(part - ground) * 255 / max(float(np.abs(part - ground).max()), 64), 0, 255)  # dark on white
        moved.append((word, left - box[0] + gap, above - box[1] + top, right - box[0] + gap, below - box[1] + top))
        parts.append((top, part))
        top += part.shape[0] + gap
    sheet = np.full((top, max((part.shape[1] for _, part in parts), default=0) + 2 * gap, 3), 255, np.uint8)
    for first, part in parts:
        sheet[first:first + part.shape[0], gap:gap + part.shape[1]] = part[..., None]
    return sheet, moved


def words_read(item, words, picture):
    if item.group == "signs" and words:
        picture, words = on_a_sheet(picture, words)
    return measures.words_read(words, picture)


def measure(item, words, tokens):
    """For each way how many words are read; and the way of least predicted loss."""
    rule = sizes.Rule(SIDE, LEAST * SIDE ** 2, 2 ** 31, resize)
    image = PIL.Image.fromarray(item.pixels)
    measured = sizes.measured(image, rule, tokens, PIL.Image.BICUBIC, None)
    found = candidates(measured, tokens)
    read = {way: int(words_read(item, words, shown(measured, one, image.size)).sum()) for way, one in found.items()}
    for way, threshold in RULES.items():
        read[way] = int(words_read(item, words, by_rule(measured, threshold, tokens, image.size)).sum())
    among = {way: found[way] for way in WAYS[:3] if way in found}
    return read, min(among, key=lambda way: among[way].loss)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="held,screens,signs")
    parser.add_argument("--tokens", default="64,128,256,512,1024")
    parser.add_argument("--pages", default="")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    if not measures.can_read():
        print("SKIPPED: no tesseract")
        return 77
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        images = Images(folder)
        for item in (item for group in options.sets.split(",") for item in images.of(group)):
            if options.pages and item.name not in options.pages.split(","):
                continue
            words = [word for word, there in zip(item.words, words_read(item, item.words, item.pixels)) if there]
            for tokens in map(int, options.tokens.split(",")):
                read, auto = measure(item, words, tokens)
                rows.append({"set": item.group, "page": item.name, "tokens": tokens, "words": len(words), "auto": auto, **read})
                print(f"{item.name:12} {tokens:5d} tokens, {len(words):4d} words: " +
                      ", ".join(f"{way} {read[way]}" for way in (*WAYS, *RULES) if way in read) + f"; auto: {auto}", flush=True)
    for group in dict.fromkeys(row["set"] for row in rows):
        print_table(group, [row for row in rows if row["set"] == group])
    if options.json:
        write_json(options.json, rows)
    return 0


def print_table(group, rows):
    pages, cases = len({row["page"] for row in rows}), sum(row["words"] for row in rows) // len({row["tokens"] for row in rows})
    below = sum(row[row["auto"]] < row["smaller"] for row in rows)
    print(f"\n{group}: {pages} pictures, {cases} words; auto reads fewer than smaller in {below} of {len(rows)} cases")
    print(f"{'tokens':>7} " + " ".join(f"{way:>9}" for way in (*WAYS, *RULES, "auto")) + "   words read, % of those read in the full page")
    for tokens in sorted({row["tokens"] for row in rows}):
        own = [row for row in rows if row["tokens"] == tokens]
        words = sum(row["words"] for row in own)
        shares = [sum(row.get(way, row["smaller"]) for row in own) / words for way in (*WAYS, *RULES)]
        shares.append(sum(row[row["auto"]] for row in own) / words)
        print(f"{tokens:7d} " + " ".join(f"{100 * share:9.0f}" for share in shares))


if __name__ == "__main__":
    sys.exit(main())
