#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vocab.py [--tool TVLM] [--images 200] [--centres 256,1024,4096] [--peers 1024]: what is lost when a cell is kept as the number of its nearest centre.

The archive of painted.py: pictures that are composed of eight of the COCO photos to train on, and of the other four to ask about, 16 x 16 cells of
512 numbers each. Questions are names of classes: for each picture those that it shows the most of, and as many that it does not show.
Beside the vocabularies (`tvlm-lab vocab`): 16 and 32 components of the same vectors (`tvlm-lab pca`), answered as `--basis` does. Per question and picture,
against the exact cosines: Spearman's rank correlation, and the share of the 64 best cells that stay. Bytes of a cell; the mean squared residual of the vectors that
were trained with and of those held out; processor seconds of
training (threads that wait for each other spin: OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 for those of the others); milliseconds that a question takes for all cells held out, in NumPy.

The same centres by scikit-learn's MiniBatchKMeans (batches of 1024, k-means++ once) and by FAISS (25 iterations of all vectors), for at most --peers
centres, where they are installed (pip install scikit-learn faiss-cpu). Exit 77 where ../shared/data is missing.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
here = os.path.dirname(os.path.abspath(__file__))
parser.add_argument("--tool", default=os.path.join(here, "..", "build", "tools", "tvlm"))
parser.add_argument("--images", type=int, default=200, help="pictures to train on; a fifth as many are asked about")
parser.add_argument("--centres", default="256,1024,4096")
parser.add_argument("--peers", type=int, default=1024, help="the most centres that the others are asked for")
parser.add_argument("--device", default=None)
options = parser.parse_args()
try:
    import numpy as np
    from scipy.stats import rankdata
    from painted import CELLS, Archive
    from shared import DATA
except ImportError as missing:
    print("SKIPPED:", missing)
    sys.exit(77)
if not os.path.isdir(os.path.join(DATA, "boxes", "coco_panoptic")):
    print("SKIPPED: ../shared/data is not there")
    sys.exit(77)
TOP, EACH = 64, 4
device = ["--device", options.device] if options.device else []
train_on, ask_about = Archive(DATA, range(8)), Archive(DATA, range(8, 12))
temporary = tempfile.TemporaryDirectory(prefix="vocab-")  # until the process ends
folder = temporary.name


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def features(archive, numbers):
    return np.concatenate([archive.composed(number)[1].reshape(-1, archive.dimension) for number in numbers])


def tvlm(*words):
    """Runs the tool of the lab, and returns the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([options.tool + "-lab", *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tensor(path, name):
    raw = open(path, "rb").read()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    begin, end = header[name]["data_offsets"]
    return np.frombuffer(raw[8 + size + begin:8 + size + end], np.float32).reshape(header[name]["shape"])


trained = features(train_on, range(options.images))
asked_count = max(2, options.images // 5)
held_out = features(ask_about, range(10 ** 6, 10 ** 6 + asked_count))
np.save(os.path.join(folder, "train.npy"), trained)
np.save(os.path.join(folder, "ask.npy"), held_out.reshape(-1, CELLS, train_on.dimension))
X, Y = unit(trained.astype(np.float32)), unit(held_out.astype(np.float32))
every = Y @ train_on.classes.T
pictures = every.reshape(asked_count, CELLS * CELLS, -1)
questions = []  # of each picture: classes whose best cells are the best of all, and classes by chance
for number, picture in enumerate(pictures):
    best = np.argsort(-np.sort(picture, 0)[-16:].mean(0), kind="stable")
    random = np.random.default_rng(number).choice(best[100:], EACH, replace=False)
    questions.append((best[:EACH], random))
print(f"{len(X)} vectors to train on, {len(Y)} held out in {asked_count} pictures, {2 * EACH} questions each")
print("%-28s %6s %9s %9s %9s %9s %9s %9s %9s %9s" % (
    "", "bytes", "residual", "held out", "rank", "top 64", "absent", "top 64", "train, s", "ask, ms"))


def least(ask, question, times=7):
    found = []
    for _ in range(times):
        started = time.perf_counter()
        ask(question)
        found.append(time.perf_counter() - started)
    return 1000 * min(found)


def report(name, size, residuals, seconds, ask):
    """`ask` answers a question for all cells that are held out."""
    lines = [[], []]
    answers = {}
    for number, kinds in enumerate(questions):
        for kind, classes in enumerate(kinds):
            for c in classes:
                if c not in answers:
                    answers[c] = ask(train_on.classes[c]).reshape(asked_count, -1)
                exact, close = pictures[number][:, c], answers[c][number]
                rank = np.corrcoef(rankdata(exact), rankdata(close))[0, 1] if np.ptp(close) > 0 else 0.0
                tops = [set(np.argsort(-x, kind="stable")[:TOP]) for x in (exact, close)]
                lines[kind].append((rank, len(tops[0] & tops[1]) / TOP))
    shown, absent = np.mean(lines[0], 0), np.mean(lines[1], 0)
    text = ["%9.4f" % r if r is not None else "%9s" % "" for r in residuals]
    print("%-28s %6d %s %s %9.3f %9.3f %9.3f %9.3f %9s %9.3f" % (
        name, size, *text, *shown, *absent, "%.1f" % seconds if seconds is not None else "", least(ask, train_on.classes[0])), flush=True)


def squared(centres, vectors):
    halves, sums = 0.5 * (centres.astype(np.float64) ** 2).sum(1).astype(np.float32), 0.0
    ids = np.empty(len(vectors), np.int64)
    for first in range(0, len(vectors), 4096):
        part = vectors[first:first + 4096]
        ids[first:first + 4096] = (part @ centres.T - halves).argmax(1)
        sums += ((part.astype(np.float64) - centres[ids[first:first + 4096]]) ** 2).sum()
    return ids, sums / len(vectors)


def by_centres(name, centres, seconds, ids=None):
    found, held = squared(centres, Y)
    ids = found if ids is None else ids
    kept = ids.astype(np.uint8 if len(centres) <= 256 else np.uint16)
    report(name, kept.itemsize, (squared(centres, X)[1], held), seconds, lambda question: (centres @ question)[kept])


report("exact, half", 2 * train_on.dimension, (None, None), None, lambda question: Y @ question)
for k in (16, 32):
    path = os.path.join(folder, f"basis{k}.safetensors")
    seconds = tvlm("pca", "train", os.path.join(folder, "train.npy"), "-k", str(k), "-o", path, *device)
    rows = tensor(path, "components")
    # Coordinates as bytes, by the largest of them, as an index keeps them.
    numbers = Y @ rows.T
    scale = np.abs(numbers).max() / 127
    kept = np.round(numbers / scale).astype(np.int8).astype(np.float32)
    rest = [1 - ((vectors @ rows.T).astype(np.float64) ** 2).sum(1).mean() for vectors in (X, Y)]
    report(f"{k} components, int8", k, rest, seconds, lambda question, kept=kept, rows=rows, scale=scale: kept @ (rows @ question) * scale)
for n in [int(word) for word in options.centres.split(",")]:
    if n > len(X):
        print(f"{n} centres: there are {len(X)} vectors")
        continue
    path, ids = os.path.join(folder, f"vocab{n}.safetensors"), os.path.join(folder, f"ids{n}.npy")
    seconds = tvlm("vocab", "train", os.path.join(folder, "train.npy"), "-n", str(n), "-o", path, *device)
    tvlm("vocab", "apply", path, os.path.join(folder, "ask.npy"), "-o", ids, *device)
    by_centres(f"{n} centres", tensor(path, "centres"), seconds, np.load(ids).ravel())
    if n > options.peers:
        continue
    try:
        from sklearn.cluster import MiniBatchKMeans
        started = time.process_time()
        made = MiniBatchKMeans(n, batch_size=1024, n_init=1, random_state=0).fit(X)
        by_centres(f"{n}, scikit-learn", made.cluster_centers_, time.process_time() - started)
    except ImportError:
        print("scikit-learn: not installed")
    try:
        import faiss
        started = time.process_time()
        made = faiss.Kmeans(train_on.dimension, n, niter=25, seed=1, max_points_per_centroid=10 ** 9)
        made.train(X)
        by_centres(f"{n}, FAISS", made.centroids, time.process_time() - started)
    except ImportError:
        print("FAISS: not installed")
