#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weights.py LIBRARY [--device NAME] [--stride N]: which weights of information and perspective find things, without a query.

The truth: the photos of ../shared/data/boxes/coco_panoptic; foreground is what COCO calls a thing. A cell is foreground
when half of its labelled pixels are; cells without a label do not count. Photos with more than half of their area in the
foreground are left out: there, any choice is right.

For each weight: precision and recall of the best 273 cells (or as many as a quarter of the cells), of as many cells as
the foreground has (there precision = recall), and the AUC of the scores; mean and standard deviation over photos; and, for
an honest figure, each photo scored with the weights that are best on the others.

Last, with a question: the three weights on ../shared/data/clip/painted, where the question is the vector of a class name.

Then the same weights on ../shared/data/text/icdar2015, where what matters are the outlined words (a cell counts with a
quarter of its area in one): things and words want different weights, so neither table alone decides.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import Library, SKIPPED, need, np  # noqa: E402

cv2 = need("cv2")
from images import COCO, PAINTED, labels  # noqa: E402
from measures import auc  # noqa: E402
from shared import DATA  # noqa: E402

WORDS = os.path.join(DATA, "text", "icdar2015")
WEIGHTS = [round(0.1 * i, 2) for i in range(11)]  # of information; perspective has the rest
MEASURES = ["precision at 273", "recall at 273", "precision at a quarter", "recall at a quarter", "at own share", "AUC"]


def thing_map(photo_name, annotations, things):
    """1 thing, 0 stuff, NaN unlabelled."""
    ids = labels(photo_name)
    result = np.full(ids.shape, np.nan)
    for segment in annotations[photo_name]["segments_info"]:
        result[ids == segment["id"]] = float(things[segment["category_id"]])
    return result


def cells_of(mask, stride):
    """The share of things in each cell's labelled pixels, NaN where there are none."""
    rows, columns = -(-mask.shape[0] // stride), -(-mask.shape[1] // stride)
    padded = np.full((rows * stride, columns * stride), np.nan)
    padded[:mask.shape[0], :mask.shape[1]] = mask
    cells = padded.reshape(rows, stride, columns, stride).transpose(0, 2, 1, 3).reshape(rows, columns, -1)
    count = np.isfinite(cells).sum(2)
    return np.where(count > 0, np.nansum(cells, 2) / np.maximum(count, 1), np.nan)


def figures(scores, truth):
    """MEASURES of one photo."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(truth[order])
    total = truth.sum()
    many, quarter = min(273, len(order)), max(1, len(order) // 4)
    return [hits[many - 1] / many, hits[many - 1] / total, hits[quarter - 1] / quarter, hits[quarter - 1] / total,
            hits[total - 1] / total, auc(scores, truth)]


def load(library, device, stride):
    """Per photo: (name, both parts of the score, foreground, share), only cells with a label."""
    with open(os.path.join(COCO, "panoptic_val2017.json")) as file:
        described = json.load(file)
    things = {category["id"]: category["isthing"] for category in described["categories"]}
    annotations = {os.path.splitext(entry["file_name"])[0]: entry for entry in described["annotations"]}
    c = Library(library)
    handle = c.open(device)
    for name in sorted(os.path.splitext(entry)[0] for entry in os.listdir(COCO) if entry.endswith(".jpg")):
        mask = thing_map(name, annotations, things)
        share = (mask == 1).mean()
        if share > 0.5:
            print(f"left out: {name}, {100 * share:.0f} % foreground")
            continue
        pixels = np.ascontiguousarray(cv2.imread(os.path.join(COCO, name + ".jpg"))[..., ::-1])
        stack = c.stack(handle, pixels, ["edges", "entropy", "saliency", "eccentricity"])
        parts = [c.score(stack, weights, stride) for weights in ((1, 0, 0), (0, 1, 0))]
        c.destroy_stack(stack)
        cells = cells_of(mask, stride)
        known = np.isfinite(cells)
        truth = cells[known] >= 0.5
        if truth.any() and not truth.all():
            yield name, [part[known].astype(np.float64) for part in parts], truth, share
    c.close(handle)


def load_words(library, device, stride):
    """As load, for photos with outlined words; illegible ones do not count."""
    c = Library(library)
    handle = c.open(device)
    for path in sorted(entry for entry in os.listdir(WORDS) if entry.startswith("gt_")):
        name = path[len("gt_"):-len(".txt")]
        pixels = cv2.imread(os.path.join(WORDS, name + ".jpg"))
        mask = np.zeros(pixels.shape[:2])
        with open(os.path.join(WORDS, path), encoding="utf-8-sig") as file:
            for fields in (line.strip().split(",", 8) for line in file if line.strip()):
                outline = np.array(fields[:8], np.int32).reshape(4, 2)
                inside = cv2.fillPoly(np.zeros(mask.shape, np.uint8), [outline], 1) > 0
                mask[inside] = np.nan if fields[8] == "###" else 1
        cells = cells_of(mask, stride)
        known = np.isfinite(cells)
        truth = cells[known] >= 0.25
        if not truth.any():
            continue
        stack = c.stack(handle, np.ascontiguousarray(pixels[..., ::-1]), ["edges", "entropy", "saliency", "eccentricity"])
        parts = [c.score(stack, weights, stride)[known].astype(np.float64) for weights in ((1, 0, 0), (0, 1, 0))]
        c.destroy_stack(stack)
        yield parts, truth
    c.close(handle)


def print_words(options):
    photos = list(load_words(options.library, options.device, options.stride))
    table = np.array([[figures(w * i + (1 - w) * p, truth) for w in WEIGHTS] for (i, p), truth in photos])
    print(f"\nwords in {len(photos)} street photos; mean (standard deviation over photos)")
    for n, w in enumerate(WEIGHTS):
        print(f"{w:5.2f}{1 - w:5.2f}" + "".join(
            f"  {MEASURES[m]} {table[:, n, m].mean():.3f} ({table[:, n, m].std(ddof=1):.3f})" for m in (1, 3, 5)))


def load_questions(library, device, stride):
    """Per class in each photo of ../shared/data/clip/painted, where it has at least 3 cells: (photo, class, the three parts of
    the score, true cells). A cell is true when half of it is of that class; the question is the class name's vector."""
    with open(os.path.join(COCO, "panoptic_val2017.json")) as file:
        described = json.load(file)
    with open(os.path.join(PAINTED, "coco_rows.json")) as file:
        rows = json.load(file)["rows"]
    words = np.load(os.path.join(PAINTED, "..", "detic_coco_clip_a+cname.npy")).astype(np.float64)
    annotations = {os.path.splitext(entry["file_name"])[0]: entry for entry in described["annotations"]}
    names = {category["id"]: category["name"] for category in described["categories"]}
    c = Library(library)
    handle = c.open(device)
    for photo in sorted(entry[:-4] for entry in os.listdir(PAINTED) if entry.endswith(".npy")):
        features = np.load(os.path.join(PAINTED, photo + ".npy")).astype(np.float64)
        features /= np.maximum(np.linalg.norm(features, axis=2, keepdims=True), 1e-12)
        ids = labels(photo)
        pixels = np.ascontiguousarray(cv2.imread(os.path.join(COCO, photo + ".jpg"))[..., ::-1])
        height, width = pixels.shape[:2]
        # The features' patches are of 16 pixels; what they leave out at the far edges is their last row and column again.
        features = np.pad(features, [(0, -(-height // 16) - features.shape[0]), (0, -(-width // 16) - features.shape[1]),
                                     (0, 0)], mode="edge")
        stack = c.stack(handle, pixels, ["edges", "entropy", "saliency", "eccentricity"])
        for category in sorted({segment["category_id"] for segment in annotations[photo]["segments_info"]}):
            if names[category] not in rows:
                continue
            segments = [s["id"] for s in annotations[photo]["segments_info"] if s["category_id"] == category]
            truth = cells_of(np.isin(ids, segments).astype(float), stride).ravel() >= 0.5
            if truth.sum() < 3:
                continue
            word = words[rows.index(names[category])]
            similarity = features @ (word / np.linalg.norm(word))
            parts = [c.score(stack, weights, stride, similarity).ravel().astype(np.float64)
                     for weights in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
            yield photo, names[category], parts, truth
        c.destroy_stack(stack)
    c.close(handle)


def print_questions(options):
    questions = list(load_questions(options.library, options.device, options.stride))
    photos = sorted({photo for photo, _, _, _ in questions})
    triples = [(i / 10, p / 10, (10 - i - p) / 10) for i in range(11) for p in range(11 - i)] + [(0.33, 0.33, 0.34),
                                                                                             (0.05, 0.05, 0.9)]
    # [question][weights][precision at the object's own number of cells, AUC]
    table = np.array([[figures(sum(w * part for w, part in zip(triple, parts)), truth)[4:] for triple in triples]
                      for _, _, parts, truth in questions])
    of = np.array([photo for photo, _, _, _ in questions])
    # Photos count the same, whatever the number of classes in them.
    mean = np.mean([table[of == photo].mean(0) for photo in photos], 0)
    print(f"\nquestions: {len(questions)} classes in {len(photos)} photos of painted; precision at the object's own number of "
          "cells, AUC; means over photos")
    order = sorted(range(len(triples)), key=lambda n: -mean[n].mean())
    shown = order[:5] + [n for n, triple in enumerate(triples) if triple in
                         [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.33, 0.33, 0.34)] and n not in order[:5]]
    for n in shown:
        print("  %.2f %.2f %.2f" % triples[n] + "   %.3f   %.3f" % tuple(mean[n]))
    honest = []
    for photo in photos:
        others = np.mean([table[of == other].mean(0).mean(1) for other in photos if other != photo], 0)
        best = int(np.argmax(others))
        honest.append(table[of == photo].mean(0)[best])
        print(f"  chosen without {photo}: %.2f %.2f %.2f" % triples[best] + ", measured on it: %.3f   %.3f" % tuple(honest[-1]))
    seeds = mean[triples.index((0.33, 0.33, 0.34))]
    print("  chosen on the others: %.3f   %.3f" % tuple(np.mean(honest, 0)) + "; the seeds 0.33 0.33 0.34: %.3f   %.3f" % tuple(seeds))
    for (photo, name, _, truth), row in zip(questions, table):
        print(f"  {photo} {name:16s} {truth.sum():4d} cells: seeds %.2f %.2f; similarity alone %.2f %.2f; best %.2f %.2f" % (
            *row[triples.index((0.33, 0.33, 0.34))], *row[triples.index((0, 0, 1))], *row[order[0]]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--device", default="reference")
    parser.add_argument("--stride", type=int, default=16)
    options = parser.parse_args()
    if not os.path.isdir(COCO):
        print(f"SKIPPED: no {COCO}")
        sys.exit(SKIPPED)
    photos = list(load(options.library, options.device, options.stride))
    # [photo][weight][measure]
    table = np.array([[figures(w * i + (1 - w) * p, truth) for w in WEIGHTS] for _, (i, p), truth, _ in photos])
    chance = np.array([[truth.mean(), min(1, 273 / len(truth)), truth.mean(), 0.25, truth.mean(), 0.5]
                       for _, _, truth, _ in photos])

    print(f"{len(photos)} photos, cells of {options.stride} px; mean (standard deviation over photos)")
    print(f"{'i':>5s}{'p':>5s}" + "".join(f"{name:>24s}" for name in MEASURES))
    for n, w in enumerate(WEIGHTS):
        print(f"{w:5.2f}{1 - w:5.2f}" + "".join(
            f"{table[:, n, m].mean():15.3f} ({table[:, n, m].std(ddof=1):.3f})" + " " for m in range(len(MEASURES))))
    print(f"{'chance':>10s}" + "".join(f"{chance[:, m].mean():24.3f}" for m in range(len(MEASURES))))

    print("\nchosen on the other photos, measured on each:")
    best = {}
    for m, name in enumerate(MEASURES):
        chosen = [int(np.argmax(np.delete(table, k, 0)[:, :, m].mean(0))) for k in range(len(photos))]
        honest = np.array([table[k, n, m] for k, n in enumerate(chosen)])
        equal = table[:, WEIGHTS.index(0.5), m]
        gain = honest - equal
        best[name] = int(np.argmax(table[:, :, m].mean(0)))
        print(f"  {name:24s} {honest.mean():.3f}; i = 0.33, p = 0.33: {equal.mean():.3f}; difference {gain.mean():+.3f} "
              f"+- {gain.std(ddof=1) / np.sqrt(len(gain)):.3f}; i chosen {min(WEIGHTS[n] for n in chosen):.1f} .. "
              f"{max(WEIGHTS[n] for n in chosen):.1f}, on all {WEIGHTS[best[name]]:.1f}")

    print("\nAUC of each photo:")
    for (name, _, truth, share), rows in zip(photos, table):
        print(f"  {name}  {100 * share:5.1f} % foreground, {truth.sum():4d} of {len(truth)} cells:  " +
              "  ".join(f"{w:.1f}:{row[-1]:.2f}" for w, row in zip(WEIGHTS, rows)))

    # One number: the mean of the AUC and of the precision at the foreground's own share, both of them free of K.
    both = table[:, :, [4, 5]].mean((0, 2))
    w = WEIGHTS[int(np.argmax(both))]
    print(f"\nbest for things: {{{w:.1f}f, {1 - w:.1f}f, 0.0f}} (AUC and precision at own share, averaged: {both.max():.3f}; equal "
          f"weights {both[WEIGHTS.index(0.5)]:.3f}); chosen and measured on the same photos")
    if os.path.isdir(WORDS):
        print_words(options)
    if os.path.isdir(PAINTED):
        print_questions(options)


main()
