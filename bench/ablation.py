#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many channels a scorer needs: coverage and AUC of people's things (../shared/data/boxes/coco_panoptic) and words
(../shared/data/text/icdar2015) on photos that were held out, with 1 channel to all 27 that a photo alone fills; and the processor
time and the memory that these take.

    bench/ablation.py [--plot FILE.png] [--from FILE.json] [--json FILE.json] [--folds N] [--steps N]

Method. Photos are parted into folds (4). In each, channels are read once, at the centre of each cell of 16 pixels at level 4, as
scorers read them, and a forward selection adds to none, one after the other, the channel with which the loss of `tvlm-lab fit` on the
other photos becomes least: logistic regression with l2 = 1 on standardised channels, each photo weighing the same, by Newton's
method, in NumPy. The scorer of each number of channels is then tried on the photos that were held out: the share of the objects'
area that its 64 best cells cover, and the AUC of cells of which half (of words a quarter) is object. Photos of more than 50 %
foreground are learned from, without figures. For 8, 13, 18, 24 and all channels the library's own fit (`texturevlm.fit`, which is
that of `tvlm-lab fit`) learns the same scorer, whose scores on the device must give the same coverage; the table has both, and what its
own choice of channels (TVLM_FIT_CHANNELS) gives.

One of the channels, learned_0, is the output of a network (texturevlm.train) that has not seen the photo: of photos that are held
out it was learned from the other folds, and of photos that are learned from in a fold, from all folds but their own and that one.

--json, --from: writes the figures; makes tables and the plot of what was written. It needs the package texturevlm, PyTorch and OpenCV;
--plot needs matplotlib. Exit: 0; 1 where the library's fit differs by more than 1 % of the objects' area; 77 without them or the data.
"""
import argparse
import itertools
import json
import os
import sys
import time

import learned as learning  # exits with 77 where something is not there
import cv2
import numpy as np
import texturevlm as tv
from images import labels
from shared import replacing, write_json
from texturevlm import train

CELL, BEST, L2 = 16, 64, 1.0
CHANNELS = ("r,g,b,edges,edges_inv,high,low,saliency,x,y,eccentricity,cluster_distance,cluster_size,distance,boundary,text,laplacian,"
            "entropy,edge_x,edge_y,rgb_var,rgb_mean,saliency_fine,saliency_mid,saliency_coarse,sharpness,learned_0").split(",")
SIZES = [8, 13, 18, 24, len(CHANNELS)]
NETWORKS = {"things": {"inputs": learning.DESIGNED, "level": 3, "hidden": 16},
            "words": {"inputs": learning.STROKES, "level": 2, "hidden": 16}}
TRUE = {"things": 0.5, "words": 0.25}  # the share of a cell from which on it counts as object, for the AUC


# ---- Photos ----

class Photo:
    """Pixels, a mask of 1, 0 and NaN, and by cells the share of what is known that is object, and both in pixels."""

    def __init__(self, name, pixels, mask):
        self.name, self.pixels, self.mask = name, pixels, mask
        rows, columns = -(-mask.shape[0] // CELL), -(-mask.shape[1] // CELL)
        padded = np.full((rows * CELL, columns * CELL), np.nan, np.float32)
        padded[:mask.shape[0], :mask.shape[1]] = mask
        cells = padded.reshape(rows, CELL, columns, CELL).transpose(0, 2, 1, 3).reshape(rows * columns, -1)
        self.known, self.objects = np.isfinite(cells).sum(1), np.nansum(cells, 1)
        self.share = np.where(self.known > 0, self.objects / np.maximum(self.known, 1), np.nan)
        self.shape = rows, columns
        self.counts = 0 < np.nansum(mask) <= 0.5 * mask.size
        # The centres of cells, of which the last ones are clipped by the border.
        self.centres = np.stack(np.meshgrid(*[(np.arange(n) * CELL + np.minimum((np.arange(n) + 1) * CELL, side)) / 2
                                              for n, side in ((columns, mask.shape[1]), (rows, mask.shape[0]))]), -1).reshape(-1, 2)

    def figures(self, scores, true):
        """The share of the objects' area in the best cells, and the AUC."""
        best = np.argsort(-scores, kind="stable")[:BEST]
        known = self.known > 0
        return self.objects[best].sum() / self.objects.sum(), train.auc(scores[known], self.share[known] >= true)


def things():
    folder = os.path.join(learning.DATA, "boxes", "coco_panoptic")
    with open(os.path.join(folder, "panoptic_val2017.json"), encoding="utf-8") as file:
        panoptic = json.load(file)
    thing = {c["id"]: c["isthing"] for c in panoptic["categories"]}
    for note in panoptic["annotations"]:
        path = os.path.join(folder, note["file_name"][:-4])
        if not os.path.exists(path + ".jpg"):
            continue
        ids = labels(note["file_name"][:-4], folder)
        mask = np.isin(ids, [s["id"] for s in note["segments_info"] if thing[s["category_id"]]]).astype(np.float32)
        mask[ids == 0] = np.nan
        yield Photo(note["file_name"][:-4], np.ascontiguousarray(cv2.imread(path + ".jpg")[..., ::-1]), mask)


def words():
    folder = os.path.join(learning.DATA, "text", "icdar2015")
    for name in sorted(entry[:-4] for entry in os.listdir(folder) if entry.endswith(".jpg")):
        pixels = np.ascontiguousarray(cv2.imread(os.path.join(folder, name + ".jpg"))[..., ::-1])
        yield Photo(name, pixels, learning.words_of(os.path.join(folder, f"gt_{name}.txt"), pixels.shape[:2]))


# ---- Networks that have not seen a photo ----

def learn_networks(task, photos, folds, steps):
    """By the folds that were left out, one or two of them."""
    examples = [train.Example(photo.pixels, photo.mask) for photo in photos]
    made = {}
    for out in itertools.chain(itertools.combinations(range(folds), 1), itertools.combinations(range(folds), 2)):
        rest = [example for i, example in enumerate(examples) if i % folds not in out]
        made[frozenset(out)] = train.learn(rest, outputs=["learned"], steps=steps, **NETWORKS[task])
    return made


# ---- The loss of tvlm-lab fit ----

def solve(x, share, weight, start):
    """Least mean cross entropy + l2 / 2 |w|^2 of standardised values x [n, k]: the weights with the bias behind them, and the loss."""
    x = np.concatenate([x, np.ones((len(x), 1))], 1)
    w, ridge = start, np.append(np.full(x.shape[1] - 1, L2), 1e-12)
    for _ in range(50):
        z = x @ w
        p = 1 / (1 + np.exp(-z))
        gradient = x.T @ (weight * (p - share)) + ridge * w
        hessian = x.T @ ((weight * p * (1 - p))[:, None] * x) + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        w = w - step
        if np.abs(step).max() < 1e-7:
            break
    z = x @ w
    loss = weight @ (np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))) - share * z) + 0.5 * L2 * (w[:-1] @ w[:-1])
    return w, loss


class Lesson:
    """The cells of some photos, standardised; each photo weighs the same."""

    def __init__(self, photos, values):
        known = [photo.known > 0 for photo in photos]
        x = np.concatenate([v[k] for v, k in zip(values, known)]).astype(np.float64)
        self.share = np.concatenate([photo.share[k] for photo, k in zip(photos, known)])
        self.weight = np.concatenate([np.full(k.sum(), 1 / k.sum() / len(photos)) for k in known])
        self.mean = self.weight @ x
        deviation = np.sqrt(self.weight @ (x - self.mean)**2)
        self.scale = np.where(deviation > 1e-6, 1 / np.maximum(deviation, 1e-6), 0)
        self.x = (x - self.mean) * self.scale

    def forward(self):
        """The channels in the order in which they are taken, and the weights after each."""
        order, found, last = [], [], np.zeros(1)
        while len(order) < self.x.shape[1]:
            tried = {}
            for c in (c for c in range(self.x.shape[1]) if c not in order):
                tried[c] = solve(self.x[:, [*order, c]], self.share, self.weight, np.insert(last, -1, 0.0))
            best = min(tried, key=lambda c: tried[c][1])
            order.append(best)
            last = tried[best][0]
            found.append(last)
        return order, found

    def scores(self, values, order, weights):
        return ((values[:, order] - self.mean[order]) * self.scale[order]) @ weights[:-1] + weights[-1]


# ---- A task ----

def run_fold(task, photos, networks, fold, folds, rows):
    """Adds the figures of the photos that are held out to `rows`; returns the order of the channels."""
    stacks, values = [], []
    for i, photo in enumerate(photos):
        network = networks[frozenset((fold, i % folds))]
        stacks.append(tv.Stack(photo.pixels, layout=",".join(CHANNELS[:-1]), network=network))
        values.append(stacks[-1].sample(photo.centres, CHANNELS, level=np.log2(CELL)))
    rest = [i for i in range(len(photos)) if i % folds != fold]
    lesson = Lesson([photos[i] for i in rest], [values[i] for i in rest])
    order, found = lesson.forward()
    for i in range(fold, len(photos), folds):
        if photos[i].counts:
            rows["curve"].append([photos[i].figures(lesson.scores(values[i], order[:n + 1], found[n]), TRUE[task])
                                  for n in range(len(order))])
            rows["default"].append(photos[i].figures(stacks[i].scores().ravel(), TRUE[task]))
            rows["chance"].append(min(1.0, BEST / len(photos[i].share)))
            rows["library"].append([])
    counted = [i for i in range(fold, len(photos), folds) if photos[i].counts]
    shares = [photos[i].share.reshape(photos[i].shape).astype(np.float32) for i in rest]
    for names in [*([CHANNELS[c] for c in order[:size]] for size in SIZES), None]:
        scorer = tv.fit([stacks[i] for i in rest], shares, channels=names)
        for row, i in zip(rows["library"][len(rows["library"]) - len(counted):], counted):
            row.append(photos[i].figures(stacks[i].scores(scorer=scorer).ravel(), TRUE[task]))
    for stack in stacks:
        stack.close()
    return [CHANNELS[c] for c in order]


def cost(photo, network, names):
    """Milliseconds of processor time, of all threads, from a new image to scores by these channels, the least of nine; and bytes."""
    scorer = tv.Scorer({name: 1.0 for name in names})
    with tv.Stack(photo.pixels, layout=",".join(names), network=network if "learned_0" in names else None) as stack:
        found = []
        for _ in range(9):
            stack.set_image(photo.pixels)
            begin = time.process_time()
            stack.scores(scorer=scorer)
            found.append(1e3 * (time.process_time() - begin))
        return min(found), stack.bytes


def run(task, photos, options):
    begin = time.perf_counter()
    networks = learn_networks(task, photos, options.folds, options.steps)
    rows = {"curve": [], "default": [], "chance": [], "library": []}
    orders = [run_fold(task, photos, networks, fold, options.folds, rows) for fold in range(options.folds)]
    # One order of all: by the mean place in those of the folds.
    order = sorted(CHANNELS, key=lambda name: np.mean([o.index(name) for o in orders]))
    costs = [cost(photos[0], networks[frozenset((0,))], order[:n]) for n in range(1, len(order) + 1)]
    print(f"{task}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return {"photos": len(rows["curve"]), "curve": np.array(rows["curve"]).tolist(), "library": np.array(rows["library"]).tolist(),
            "default": np.mean(rows["default"], 0).tolist(), "chance": float(np.mean(rows["chance"])), "order": order, "orders": orders,
            "costs": costs}


# ---- What is told ----

def print_task(task, figures):
    curve, library = np.array(figures["curve"]), np.array(figures["library"])
    print(f"\n{task}, {figures['photos']} photos, each held out; chance {100 * figures['chance']:.1f} %, default score "
          f"{100 * figures['default'][0]:.1f} % and {figures['default'][1]:.3f}, tvlm-lab fit with its own nine channels "
          f"{100 * library[:, -1].mean(0)[0]:.1f} % and {library[:, -1].mean(0)[1]:.3f}")
    print("channels  coverage +- error   AUC +- error     the library's fit      ms     KiB")
    for n in sorted({1, 2, 3, 4, 5, 6, *SIZES}):
        mean, error = curve[:, n - 1].mean(0), curve[:, n - 1].std(0, ddof=1) / np.sqrt(len(curve))
        own = library[:, SIZES.index(n)].mean(0) if n in SIZES else None
        ms, size = figures["costs"][n - 1]
        print(f"{n:8}  {100 * mean[0]:6.1f} +- {100 * error[0]:3.1f} %   {mean[1]:.3f} +- {error[1]:.3f}   " +
              (f"{100 * own[0]:6.1f} %, {own[1]:.3f}" if own is not None else " " * 15) + f"  {ms:8.1f}  {size / 1024:6.0f}")
    print("in the order of the mean places: " + ", ".join(figures["order"]))


def plot(figures, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, panels = plt.subplots(1, 3, figsize=(13, 3.8))
    for colour, (task, found) in zip(("C0", "C3"), figures.items()):
        curve = np.array(found["curve"]).mean(0)
        places = np.arange(1, len(curve) + 1)
        for panel, column in zip(panels, (0, 1)):
            panel.plot(places, curve[:, column] * (100 if column == 0 else 1), color=colour, label=task, marker=".")
            panel.axhline(found["default"][column] * (100 if column == 0 else 1), color=colour, linestyle=":", linewidth=1)
        panels[2].plot(places, [ms for ms, _ in found["costs"]], color=colour, label=f"{task}, ms", marker=".")
        panels[2].plot(places, [size / 2**20 for _, size in found["costs"]], color=colour, linestyle="--", label=f"{task}, MiB")
    for panel, title in zip(panels, ("% of the objects' area in the 64 best cells", "AUC of cells", "processor time of scores of a new photo; memory")):
        panel.set_title(title + (", held out" if panel is not panels[2] else ""), fontsize=10)
        panel.set_xlabel("channels")
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, loc="center right" if panel is panels[1] else "best")
    panels[0].annotate("dotted: the default score", (0.5, 0.03), xycoords="axes fraction", ha="center", fontsize=8)
    figure.tight_layout()
    with replacing(path) as part:
        figure.savefig(part, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--plot", metavar="FILE.png")
    parser.add_argument("--json", metavar="FILE.json")
    parser.add_argument("--from", dest="figures", metavar="FILE.json", help="no measurement: tables and a plot of these figures")
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=200, help="of learning a network")
    options = parser.parse_args()
    if options.figures:
        with open(options.figures, encoding="utf-8") as file:
            figures = json.load(file)
    elif not os.path.isdir(os.path.join(learning.DATA, "boxes")):
        print(f"skipped: no {learning.DATA}", file=sys.stderr)
        return 77
    else:
        figures = {task: run(task, list(photos()), options) for task, photos in (("things", things), ("words", words))}
    if options.json:
        write_json(options.json, figures)
    worst = 0.0
    for task, found in figures.items():
        print_task(task, found)
        ours = np.array(found["curve"]).mean(0)[[n - 1 for n in SIZES], 0]
        worst = max(worst, np.abs(ours - np.array(found["library"]).mean(0)[:-1, 0]).max())
    print(f"\nthe library's fit differs by {100 * worst:.2f} % of the objects' area at most, means over photos")
    if options.plot:
        plot(figures, options.plot)
    return int(worst > 0.01)


if __name__ == "__main__":
    sys.exit(main())
