#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cascade.py TVLM [--device NAME] [--large] [-k 64]: what the strategy cascade finds of what the grid finds, and what it reads for it.

The photos of ../shared/data/clip/painted with their features; the questions are all classes that cover 3 cells or more.
Overlap: the share of the grid's 64 best cells (the grid scores them all) that the cascade chooses too. And of the exhaustive
strategy's 64 best texels of level 4, those in a square of the cascade's (sides that 16 does not divide shift texels against
cells). Bytes: those that the cascade reads for the question beside the grid's, counted alike (texturevlm/select.h).

--large: the photos of 2048 x 2048 pixels and more, with made-up features of 64 x 64 x 768 (smooth, and noise), with a
question and without one, and the painted photos enlarged fivefold with their own features.
"""
import argparse
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import PHOTOS, SKIPPED, need, np, run  # noqa: E402
from shared import DATA  # noqa: E402

cv2 = need("cv2")
PAINTED = os.path.join(DATA, "clip", "painted")
BOXES = os.path.join(DATA, "boxes", "coco_panoptic")


def classes_of(name, rows):
    """Classes with an area of 3 cells or more, and that area in cells."""
    with open(os.path.join(BOXES, "panoptic_val2017.json")) as file:
        described = json.load(file)
    names = {c["id"]: c["name"] for c in described["categories"]}
    areas = {}
    for annotation in described["annotations"]:
        if annotation["file_name"].startswith(name):
            for segment in annotation["segments_info"]:
                label = names[segment["category_id"]]
                areas[label] = areas.get(label, 0) + segment["area"] / 256
    return {label: area for label, area in sorted(areas.items()) if label in rows and area >= 3}


def select(tool, device, image, folder, *words):
    """The selections of one image, a query each."""
    out = os.path.join(folder, "s.json")
    run(tool, "select", image, "--strategy", "grid", "-k", str(select.k), "-o", out, *words, *(["--device", device] if device else []))
    with open(out) as file:
        data = json.load(file)
    return data.get("selections", [data])


def cells(selection):
    return {tuple(p["cell"]) for p in selection["positions"]}


def covered(texels, selection):
    """The share of positions whose centre lies in a square of the selection."""
    at = np.array([[p["x"], p["y"]] for p in selection["positions"]])
    half = selection["positions"][0]["size"] / 2
    return np.mean([np.any(np.all(np.abs(at - (p["x"], p["y"])) <= half, axis=1)) for p in texels["positions"]])


def total(selection):
    return sum(stage["bytes"] for stage in selection["stages"])


def row(name, what, grid, cascade, texels=None):
    overlap = len(cells(grid) & cells(cascade)) / len(cells(grid))
    regions, inside = cascade["stages"]
    exhaustive = "" if texels is None else f"{covered(texels, cascade):8.2f}"
    print(f"{name:>18} {what:>16} {overlap:8.2f} {exhaustive:>8} {regions['kept']:4d} of {regions['candidates']:4d} "
          f"{inside['candidates']:6d} of {grid['stages'][0]['candidates']:6d} {total(cascade) / total(grid):7.3f}", flush=True)
    return overlap, total(cascade) / total(grid)


def ask(tool, device, image, folder, extra, features=None, queries=None, names=("no question",), level=None, clusters=()):
    words = list(extra)
    if features is not None:
        f, q = os.path.join(folder, "f.npy"), os.path.join(folder, "q.npy")
        np.save(f, features)
        np.save(q, queries)
        words += ["--features", f, "--query", q]
    grid = select(tool, device, image, folder, *words)
    cascade = select(tool, device, image, folder, *words, "--strategy", "cascade", *clusters)
    texels = [None] * len(grid)
    if level is not None:
        texels = select(tool, device, image, folder, *words, "--strategy", "exhaustive", "--level", str(level))
    label = os.path.splitext(os.path.basename(image))[0][-18:]
    return [row(label, name, *three) for name, *three in zip(names, grid, cascade, texels)]


def painted(options, folder, rows, vectors, scale=1):
    found, by_image = [], []
    for file in sorted(os.listdir(PAINTED)):
        if not file.endswith(".npy"):
            continue
        name = file[:-4]
        areas = classes_of(name, rows)
        image = os.path.join(BOXES, name + ".jpg")
        if scale > 1:
            picture = cv2.imread(image)
            image = os.path.join(folder, f"{name}x{scale}.png")
            cv2.imwrite(image, cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC))
        one = ask(options.tool, options.device, image, folder, ["--feature-patch", str(16 * scale), *options.words],
                  np.load(os.path.join(PAINTED, file)), vectors[[rows.index(label) for label in areas]], list(areas),
                  4 if scale == 1 else None)
        found += [(*both, area) for both, area in zip(one, areas.values())]
        by_image.append(np.mean([overlap for overlap, _ in one]))
    a = np.array(found)
    print(f"overlap: mean {a[:, 0].mean():.3f}, smallest {a[:, 0].min():.2f}; by image {[round(float(v), 2) for v in by_image]}; "
          f"classes of {options.k} cells or more {a[a[:, 2] >= options.k, 0].mean():.3f}; bytes: mean {a[:, 1].mean():.3f}, most {a[:, 1].max():.3f}")


def made_up(random, dimension=768, side=64):
    """Vectors that change smoothly over the image, with noise; and three questions, one for each of its directions."""
    base = random.normal(size=(6, 6, 12))
    smooth = cv2.resize(base, (side, side), interpolation=cv2.INTER_CUBIC)
    directions = random.normal(size=(12, dimension))
    features = smooth @ directions + random.normal(size=(side, side, dimension))
    return features.astype(np.float16), directions[:3].astype(np.float32)


def large(options, folder):
    random = np.random.default_rng(1)
    ratios = []
    for name in sorted(os.listdir(PHOTOS)):
        path = os.path.join(PHOTOS, name)
        picture = cv2.imread(path) if os.path.isfile(path) else None
        if picture is None or min(picture.shape[:2]) < 2048:
            continue
        ratios += ask(options.tool, options.device, path, folder, options.words)
        features, queries = made_up(random)
        ratios += ask(options.tool, options.device, path, folder, options.words, features, queries, ["a", "b", "c"])
    a = np.array(ratios)
    print(f"overlap: mean {a[:, 0].mean():.3f}; bytes: mean {a[:, 1].mean():.3f}, most {a[:, 1].max():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--device")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("-k", type=int, default=64)
    options, options.words = parser.parse_known_args()
    select.k = options.k
    if not os.path.isdir(PAINTED):
        print(f"SKIPPED: no {PAINTED}")
        return SKIPPED
    with open(os.path.join(PAINTED, "coco_rows.json")) as file:
        rows = json.load(file)["rows"]
    folder = os.path.join(DATA, "clip")
    vectors = np.load(next(os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.startswith("detic_coco")))
    print(f"{'photo':>18} {'question':>16} {'overlap':>8} {'texels':>8}    regions            cells      bytes")
    with tempfile.TemporaryDirectory() as temporary:
        if options.large:
            large(options, temporary)
            painted(options, temporary, rows, vectors.astype(np.float32), 5)
        else:
            painted(options, temporary, rows, vectors.astype(np.float32))
    return 0


if __name__ == "__main__":
    sys.exit(main())
