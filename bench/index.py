#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""index.py [--images 10000] [--questions 50] [--folder DIR]: what texturevlm.index finds of an archive, beside scans of everything.

The archive is that of painted.py, with 16 x 16 cells a picture. Questions are names of classes.

Beside its coordinates in a basis, trained on 40 other pictures, each cell is kept as the nearest of --vocab centres, trained on 200, and questions are
asked by these, too. With --regions 0 the index has nothing but the centres' numbers.

Recall at the top 20: of the images that a scan of all features of all images finds best (the mean of an image's best 16 cosines),
how many the index answers. Bytes an image, and milliseconds a question: on the clock, and of processor time, which says more where a
machine does other things, too (then with OPENBLAS_NUM_THREADS=1 and POCL_MAX_PTHREAD_COUNT=1: threads that wait for each other take
several times as long). With --folder the index stays there, and is asked again the next time. It runs by a Python that has the package, Pillow, and what
ci/index-environment prints on its PYTHONPATH. Exit 77 where ../shared/data or a package is missing.
"""
import argparse
import glob
import json
import os
import shutil
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--images", type=int, default=10000)
parser.add_argument("--questions", type=int, default=50)
parser.add_argument("--basis", type=int, default=32, help="components of the cells' basis")
parser.add_argument("--cells", default="int8", choices=["half", "int8"])
parser.add_argument("--vocab", type=int, default=1024, help="centres of the cells' vocabulary; 0: none")
parser.add_argument("--regions", type=int, default=50, help="regions an image; 0: a vocabulary alone")
parser.add_argument("--folder", help="keeps the index there, or asks the one that is there")
options = parser.parse_args()
try:
    import numpy as np
    import texturevlm as tv
    from texturevlm import index
except ImportError as missing:
    print("SKIPPED:", missing)
    sys.exit(77)
from shared import DATA

PHOTOS = sorted(glob.glob(os.path.join(DATA, "boxes", "coco_panoptic", "*.jpg")))
if not PHOTOS:
    print("SKIPPED: ../shared/data is not there")
    sys.exit(77)
from painted import CELLS, Archive

TOP, POSITIONS = 20, 16
ARCHIVE = Archive(DATA)
CLASSES, D, composed = ARCHIVE.classes, ARCHIVE.dimension, ARCHIVE.composed


def key(number):
    return f"{number:07}"


asked = np.random.default_rng(-1 % 2**32).choice(len(CLASSES), options.questions, replace=False)
questions = CLASSES[asked]
truth = np.zeros((options.images, len(questions)), np.float32)  # the exact scores of all images
spent = {"making": 0.0, "scan of everything": 0.0}


def sources():
    for number in range(options.images):
        started = time.perf_counter()
        picture, features = composed(number)
        spent["making"] += time.perf_counter() - started
        started = time.perf_counter()
        flat = features.reshape(-1, D).astype(np.float32)
        cosines = (flat @ questions.T) / np.linalg.norm(flat, axis=1, keepdims=True)
        truth[number] = np.sort(cosines, 0)[-POSITIONS:].mean(0)
        spent["scan of everything"] += time.perf_counter() - started
        yield index.Source(key(number), image=picture, features=features)


def recall(found, best):
    return np.mean([len({one.key for one in some} & {key(i) for i in order}) / len(order) for some, order in zip(found, best)])


def measured(name, ask, best, most=10**9):
    """Asks all questions, or the first so many, and one twice, since the first of all opens what the others find open."""
    ask(questions[0])
    times, spent_here, found = [], [], []
    for question in questions[:most]:
        started, worked = time.perf_counter(), time.process_time()
        found.append(ask(question))
        times.append(1000 * (time.perf_counter() - started))
        spent_here.append(1000 * (time.process_time() - worked))
    print(f"{name:56} recall {recall(found, best):.3f}   {np.median(times):7.1f} ms, least {min(times):.1f}; "
          f"processor time {np.median(spent_here):.1f}", flush=True)


class One:
    def __init__(self, number):
        self.key = key(number)


def best_of(cells):
    """The images whose best cells have the largest mean."""
    scores = np.partition(cells, -POSITIONS, axis=1)[:, -POSITIONS:].mean(1)
    return [One(number) for number in np.argsort(-scores, kind="stable")[:TOP]]


def build(folder):
    held_out = [composed(number)[1].reshape(-1, D).astype(np.float32) for number in range(10**8, 10**8 + (200 if options.vocab else 40))]
    basis = tv.Basis.train(held_out[:40], options.basis) if options.regions else None  # of pictures that are not in the archive
    started, worked = time.perf_counter(), time.process_time()
    vocab = tv.Vocab.train(held_out, options.vocab) if options.vocab else None
    print(f"vocabulary: {time.perf_counter() - started:.0f} s, processor time {time.process_time() - worked:.0f}", flush=True)
    archive = index.Index.create(folder, basis=basis, cells=options.cells, vocab=vocab, regions=options.regions)
    started, worked = time.perf_counter(), time.process_time()
    archive.add(sources(), compact=False)
    seconds, work = time.perf_counter() - started, time.process_time() - worked
    own = seconds - sum(spent.values())
    print(f"{options.images} images on {tv.Device().name}: {own:.0f} s, {1000 * own / options.images:.1f} ms each, beside "
          f"{sum(spent.values()):.0f} s for making them; processor time of both {work:.0f} s", flush=True)
    started, worked = time.perf_counter(), time.process_time()
    archive.compact()
    print(f"compacted and indexed: {time.perf_counter() - started:.0f} s, processor time {time.process_time() - worked:.0f}", flush=True)
    return archive


def asked_again(folder):
    """The index of an earlier run, and what is true of its images."""
    archive = index.Index(folder)
    if len(archive) != options.images:
        sys.exit(f"{folder} has {len(archive)} images: --images {len(archive)}")
    for _ in sources():
        pass
    return archive


folder = os.path.join(options.folder or tempfile.mkdtemp(prefix="index-"), "archive")
try:
    archive = asked_again(folder) if os.path.isdir(folder) else build(folder)
    print(json.dumps(archive.info()), flush=True)
    for table in ("images", "regions"):
        size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, table + ".lance", "**"), recursive=True) if os.path.isfile(path))
        print(f"{table}.lance: {size / options.images:.0f} bytes an image")
    best = np.argsort(-truth, 0, kind="stable")[:TOP].T
    ties = np.mean([truth[order[0], i] - truth[order[-1], i] for i, order in enumerate(best)])
    print(f"scores of the first and of the twentieth image differ by {ties:.3f}, in the mean")
    features = lambda name: composed(int(name))[1]  # noqa: E731
    if archive.basis is not None:
        for candidates in (80, 200, 400):
            measured(f"index, {candidates} candidates", lambda q: archive.query(q, TOP, POSITIONS, candidates=candidates), best)
        measured("every region scanned (--exact), 100 candidates", lambda q: archive.query(q, TOP, POSITIONS, exact=True), best)
        measured("index, 200 candidates, exact cosines (with painting them)",
                 lambda q: archive.query(q, TOP, POSITIONS, candidates=200, features=features), best, 10)
    if archive.vocab is not None:
        measured("by the vocabulary", lambda q: archive.query(q, TOP, POSITIONS, by="vocab"), best)
        for candidates in (80, 200):
            measured(f"by the vocabulary, {candidates} candidates, exact cosines (painted)",
                     lambda q: archive.query(q, TOP, POSITIONS, by="vocab", candidates=candidates, features=features), best, 10)
        ids = archive.table("images").to_table(columns=["vocab_ids"]).column(0).combine_chunks()
        ids = ids.values.to_numpy(zero_copy_only=False).reshape(options.images, CELLS * CELLS)
        measured("simplest: all cells' centres in memory, NumPy",
                 lambda q: best_of(np.concatenate([archive.vocab.ask(q)[block] for block in np.array_split(ids, 20)])), best)
    if archive.basis is None:
        sys.exit()
    by_basis = archive.table("images").to_table(columns=["cells", "scale"])
    cells = by_basis.column("cells").combine_chunks().values.to_numpy(zero_copy_only=False).reshape(options.images, CELLS * CELLS, -1)
    scale = by_basis.column("scale").to_numpy()[:, None]

    def scan(question):
        projected = archive.basis.project((question / np.linalg.norm(question))[None])[0]
        products = np.concatenate([block.astype(np.float32) @ projected for block in np.array_split(cells, 20)]) * scale
        return best_of(products)
    measured("simplest: all cells' coordinates in memory, NumPy", scan, best)
finally:
    if not options.folder:
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
