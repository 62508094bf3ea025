#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/bases.py [TVLM]: what is lost when questions are answered from an embedding instead of the features.

On the four photos of ../shared/data/clip/painted, for each class that covers at least three cells: the answer of
`tvlm select --strategy grid --weights 0,0,1` for every cell, exact and from bases. Spearman's rank correlation with the exact answer and
the share of its 64 best cells that stay; the AUC of the answer against the true mask; and, of as many cells as the object
has, how many lie on it (precision and recall are the same then). "unit": the plain cosine with the unit vectors of the
embedding, without the part of a vector's length that lies in the basis (computed here, from the same basis).

Exit: 77 without OpenCV, SciPy or the data.
"""
import json
import os
import subprocess
import sys
import tempfile

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(root, "tests", "python"))
from common import need, np  # noqa: E402

cv2, stats = need("cv2", "scipy.stats")
from images import labels  # noqa: E402
from measures import auc  # noqa: E402
from shared import DATA as data  # noqa: E402

rankdata = stats.rankdata
tool = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "build", "tools", "tvlm")
if not os.path.isdir(os.path.join(data, "clip", "painted")):
    print("bases.py: skipped: there is no", data)
    sys.exit(77)

names = json.load(open(os.path.join(data, "clip/painted/coco_rows.json")))["rows"]
text = np.load(os.path.join(data, "clip/detic_coco_clip_a+cname.npy")).astype(np.float32)
photos = ["000000000785", "000000000872", "000000001268", "000000002473"]
path = {i: os.path.join(data, "clip/painted", i + ".npy") for i in photos}
features = {i: np.load(path[i]).astype(np.float64) for i in photos}
temporary = tempfile.TemporaryDirectory()  # until the process ends
folder = temporary.name


def masks(photo):
    """The coverage of each class, cell by cell; classes that are the larger part of three cells or more."""
    panoptic = json.load(open(os.path.join(data, "boxes/coco_panoptic/panoptic_val2017.json")))
    category = {c["id"]: c["name"] for c in panoptic["categories"]}
    segment = labels(photo)
    rows, columns = features[photo].shape[:2]
    coverage = {}
    for s in next(a for a in panoptic["annotations"] if a["image_id"] == int(photo))["segments_info"]:
        name = category[s["category_id"]]
        if name in names:
            mask = np.zeros((rows * 16, columns * 16))
            part = (segment == s["id"])[:rows * 16, :columns * 16]
            mask[:part.shape[0], :part.shape[1]] = part
            coverage[name] = coverage.get(name, 0) + mask.reshape(rows, 16, columns, 16).mean((1, 3))
    return {n: c >= 0.5 for n, c in coverage.items() if (c >= 0.5).sum() >= 3}


def ask(photo, query, *options):
    """The score of every cell of the features' grid."""
    file = os.path.join(folder, "query.npy")
    np.save(file, query)
    image = os.path.join(data, "boxes/coco_panoptic", photo + ".jpg")
    rows, columns = features[photo].shape[:2]
    height, width = cv2.imread(image).shape[:2]
    cells = -(-height // 16) * -(-width // 16)
    out = subprocess.check_output([tool, "select", image, "--strategy", "grid", "-k", str(cells), "--features", path[photo], "--feature-patch",
                                   "16", "--query", file, *(options or ("--weights", "0,0,1"))])
    score = np.full((rows, columns), -np.inf)
    for p in json.loads(out)["positions"]:
        column, row = p["cell"]
        if row < rows and column < columns:
            score[row, column] = p["score"]
    return score.ravel()


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def best(score, k):
    return set(np.argsort(-score, kind="stable")[:k])


def train(name, files, k, centred):
    file = os.path.join(folder, name + ".safetensors")
    subprocess.check_output([tool + "-lab", "pca", "train", *files, "-k", str(k), "-o", file, *(["--centred"] if centred else [])])
    return file


def unit_answer(file, photo, query):
    """Without the lengths, from the file that the tool wrote."""
    raw = open(file, "rb").read()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    part = lambda n: np.frombuffer(raw[8 + size + header[n]["data_offsets"][0]:8 + size + header[n]["data_offsets"][1]],
                                   np.float32).reshape(header[n]["shape"]).astype(np.float64)
    v, x = part("components"), features[photo].reshape(-1, features[photo].shape[2])
    return unit((x - part("mean")) @ v.T) @ (v @ query)


lvis = os.path.join(data, "clip/detic_lvis_v1_clip_a+cname.npy")
found = {}
for photo in photos:
    others = [path[i] for i in photos if i != photo]
    own = train("own", [path[photo]], 16, False)
    bases = {"image 16": "image", "others 32": train("others", others, 32, False), "text 32": train("text", [lvis], 32, False),
             "others 32, centred": train("others-c", others, 32, True), "text 32, centred": train("text-c", [lvis], 32, True),
             "own 16, centred": train("own-c", [path[photo]], 16, True)}
    for name, mask in masks(photo).items():
        query, mask, count = text[names.index(name)], mask.ravel(), int(mask.sum())
        exact = ask(photo, query)
        answers = {"exact": exact}
        for basis, what in bases.items():
            answers[basis] = ask(photo, query, "--weights", "0,0,1", "--basis", what)
        answers["image 16, unit"] = unit_answer(own, photo, query)
        answers["others 32, unit"] = unit_answer(bases["others 32"], photo, query)
        answers["exact, default score"] = ask(photo, query, "--stride", "16")
        answers["saliency only"] = ask(photo, query, "--weights", "0,1,0")
        for basis, answer in answers.items():
            found.setdefault(basis, []).append((
                photo, name, count, np.corrcoef(rankdata(exact), rankdata(answer))[0, 1],
                len(best(exact, 64) & best(answer, 64)) / 64, auc(answer, mask), len(best(answer, count) & set(np.flatnonzero(mask))) / count))
        found.setdefault("random", []).append((photo, name, count, 0.0, 64 / mask.size, 0.5, count / mask.size))

print("%-22s %8s %8s %8s %10s" % ("mean over classes", "rank", "top 64", "AUC", "precision"))
for basis, lines in found.items():
    print("%-22s %8.3f %8.3f %8.3f %10.3f" % (basis, *np.nanmean([[*line[3:]] for line in lines], axis=0)))
print("\n%-14s %-16s %6s %s" % ("photo", "class", "cells", "AUC: exact, image 16, others 32, text 32; precision: the same, default score, saliency, random"))
for i, line in enumerate(found["exact"]):
    show = ["exact", "image 16", "others 32", "text 32"]
    print("%-14s %-16s %6d  %s   %s" % (*line[:3], " ".join("%.3f" % found[b][i][5] for b in show),
                                       " ".join("%.3f" % found[b][i][6] for b in show + ["exact, default score", "saliency only", "random"])))
for least in (3, 5, 10):
    lines = [line for line in found["image 16"] if line[2] >= least]
    print("%simage basis of 16, the %d classes of %d cells or more: rank %.3f (aim 0.95), top 64 %.3f (aim 0.85)" % (
        "\n" if least == 3 else "", len(lines), least, np.mean([line[3] for line in lines]), np.mean([line[4] for line in lines])))
