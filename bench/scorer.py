#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tvlm-lab fit --hidden` and `--query-weights` learn beside weights that are linear and fixed, and how the time of such scores grows.

    bench/scorer.py [--tvlm TVLM] [--device NAME] [--only hidden|query|time]

hidden: things of ../shared/data/boxes/coco_panoptic, each photo held out of what the scorer was learned from (--leave-one-out); mean
share of their area that 64 cells cover, for hidden layers of several widths, 1 and 3 x 3 taps, and strengths of regularisation.
query: the classes of the photos with painted features (../shared/data/clip/painted), each class held out as a question; weights that
the query gives beside weights that no query changes, the same channels, for several strengths.
time (it needs the package texturevlm): scores by weights of nine taps, two outputs and a query of 64 numbers, by a network, and by linear
weights, on 1024 x 768 pixels and on four times as many: processor time of all threads, the least of many; more than 4.4 times the
time, of what takes a millisecond or more, fails.

Exit: 0; 1 where four times the pixels take more than that; 77 without the tool or the data.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from shared import DATA

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import np  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COCO = os.path.join(DATA, "boxes", "coco_panoptic")
PAINTED = os.path.join(DATA, "clip", "painted")
WIDTHS, STRENGTHS, LINEAR = {"1": [4, 8, 16], "3x3": [8]}, [0.001, 0.01, 0.1, 0.3, 1], [0.1, 1, 10]
GROWTH = 4.4


def fit(options, photos, *words):
    command = [options.tvlm + "-lab", "fit", *photos, "--coco", os.path.join(COCO, "panoptic_val2017.json"), "--leave-one-out", "--json", *words]
    if options.device:
        command += ["--device", options.device]
    begin = time.perf_counter()
    mean = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["mean"]
    return {name: found["coverage"] for name, found in mean.items()}, time.perf_counter() - begin


def print_row(title, strengths, run):
    cells = []
    for strength in strengths:
        mean, seconds = run(strength)
        cells.append(f"{100 * mean['fitted']:5.1f} % ({seconds:3.0f} s)")
    print(title.ljust(24) + "  ".join(cells), flush=True)


# ---- Hidden layers ----

def hidden(options):
    photos = sorted(glob.glob(os.path.join(COCO, "*.jpg")))
    plain, _ = fit(options, photos)
    print("object area covered by 64 cells, each photo held out (time of all fits)")
    print(f"random {100 * plain['random']:.1f} %, default score {100 * plain['default']:.1f} %\n")
    for taps, widths in WIDTHS.items():
        print(f"taps {taps}, l2 =".ljust(24) + "  ".join(f"{strength:<15g}" for strength in LINEAR))
        print_row("linear", LINEAR, lambda l2: fit(options, photos, "--taps", taps, "--l2", str(l2)))
        print("".ljust(24) + "  ".join(f"{strength:<15g}" for strength in STRENGTHS))
        for width in widths:
            print_row(f"{width} hidden values", STRENGTHS,
                      lambda l2: fit(options, photos, "--taps", taps, "--hidden", str(width), "--l2", str(l2)))


# ---- Weights that a query gives ----

def classes_in(photos):
    """The things in the photos whose names have a vector, and these."""
    with open(os.path.join(COCO, "panoptic_val2017.json"), encoding="utf-8") as file:
        described = json.load(file)
    with open(os.path.join(PAINTED, "coco_rows.json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    names = {c["id"]: c["name"] for c in described["categories"] if c["isthing"]}
    stems = {os.path.basename(photo)[:-4] for photo in photos}
    there = {names[s["category_id"]] for note in described["annotations"] if note["file_name"][:-4] in stems
             for s in note["segments_info"] if s["category_id"] in names}
    found = sorted(there & set(rows))
    vectors = np.load(os.path.join(PAINTED, "..", "detic_coco_clip_a+cname.npy")).astype(np.float32)
    return found, vectors[[rows.index(name) for name in found]]


def query(options):
    files = sorted(glob.glob(os.path.join(PAINTED, "*.npy")))
    photos = [os.path.join(COCO, os.path.basename(file)[:-4] + ".jpg") for file in files]
    names, vectors = classes_in(photos)
    features = [word for file in files for word in ("--features", file)]
    print(f"\nquestions: {len(names)} classes in {len(photos)} photos with painted features, each class held out")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "q.npy")
        np.save(path, vectors)
        for strength in (0.001, 0.01, 0.1, 1):
            mean, seconds = fit(options, photos, *features, "--feature-patch", "16", "--classes", ",".join(names), "--query-weights", path,
                                "--l2", str(strength))
            print(f"l2 {strength:<6g} query weights {100 * mean['fitted']:5.1f} %, fixed {100 * mean['fixed']:5.1f} %, ratio "
                  f"{mean['fitted'] / mean['fixed']:.3f}; default score {100 * mean['default']:.1f} %, random {100 * mean['random']:.1f} % "
                  f"({seconds:.0f} s)", flush=True)


# ---- Time ----

def scorers(tv, random):
    """Two of each, since scores of the same scorer are kept."""
    channels = ["edges", "saliency", "entropy", "distance", "rgb_var", "high", "text", "low"]

    def weights(*shape):
        return {name: random.normal(size=shape) for name in channels}

    def network():
        layers = [{"weight": random.normal(size=(8, len(channels), 3, 3)), "activation": "relu"}, {"weight": random.normal(size=(1, 8, 1, 1))}]
        return tv.Network(layers, inputs=channels, outputs=["score"])

    ways = {"linear, one tap": lambda: tv.Scorer(weights()), "linear, nine taps": lambda: tv.Scorer(weights(3, 3)),
            "nine taps, 2 outputs, of a query": lambda: tv.Scorer(
                weights(2, 3, 3), query_weights=random.normal(size=(2, len(channels), 3, 3, 64))),
            "a network, 8 hidden values": lambda: tv.Scorer(network=network())}
    return {title: (make(), make()) for title, make in ways.items()}


def stack_of(tv, options, random, width, height):
    stack = tv.Stack(random.integers(0, 255, (height, width, 3), np.uint8), device=tv.Device(options.device) if options.device else None)
    stack.set_features(random.normal(size=(height // 16, width // 16, 64)).astype(np.float32))
    return stack


def times(options, width=1024, height=768, rounds=12, level=2):
    """The candidates are texels of a level, so that there is enough work for its time to be that of the work."""
    try:
        import texturevlm as tv
    except ImportError as missing:
        print(f"\nno times: {missing}")
        return 0
    random = np.random.default_rng(7)
    vector = random.normal(size=64).astype(np.float32)
    sizes = ((width, height), (2 * width, 2 * height))
    worst = 0.0
    print(f"\nms of the scores of {width // 2**level * (height // 2**level)} candidates and of four times as many, the least of {rounds * 4}")
    stacks = [stack_of(tv, options, random, *size) for size in sizes]
    for title, pair in scorers(tv, random).items():
        asked = {"query": vector} if "query" in title else {}
        found = [[], []]
        for _ in range(rounds):  # by turns, so that a machine that slows down does so for both
            for stack, row in zip(stacks, found):
                for scorer in pair * 2:
                    begin = time.process_time()
                    stack.scores(scorer=scorer, level=level, **asked)
                    row.append(1e3 * (time.process_time() - begin))
        small, large = min(found[0]), min(found[1])
        worst = max(worst, large / small if small >= 1 else 0)
        print(f"{title:36}{small:8.2f}{large:9.2f}   ratio {large / small:.2f}", flush=True)
    return int(worst > GROWTH)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tvlm", default=os.path.join(ROOT, "build", "tools", "tvlm"))
    parser.add_argument("--device")
    parser.add_argument("--only", choices=["hidden", "query", "time"])
    options = parser.parse_args()
    if not os.path.isdir(COCO) or not os.path.isdir(PAINTED) or not os.path.exists(options.tvlm):
        print("skipped: no data or no tvlm", file=sys.stderr)
        return 77
    if options.only in (None, "hidden"):
        hidden(options)
    if options.only in (None, "query"):
        query(options)
    return times(options) if options.only in (None, "time") else 0


if __name__ == "__main__":
    sys.exit(main())
