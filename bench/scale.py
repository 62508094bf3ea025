#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What larger images cost, and more of them: milliseconds over pixels, and seconds over images, beside peers.

    bench/scale.py TVLM [--device NAME] [--format f16|f32] [--sides 256,...] [--images 1,...] [--rounds N] [--peers SIDE]
                        [--json FILE] [--plot FILE]

Pixels: every family of full40 and its levels (`tvlm bench --json`) of square images of these sides, the smallest of the rounds; and up
to the side of --peers the fastest peer of the families that have one (peers.py). Images: `tvlm select --jsonl` of so many
photos, by the grid and by the budget, from start to exit, beside reading the same files with OpenCV, a thread for each core.

Each row is fitted by a line, a + b times pixels (or images), neither below zero, of which the squares of what rows are off, as a share of
the line, are least. "above" is the most by which a row is above it. --plot: both as a picture (Matplotlib).

Exit: 0; 1 where a family that takes more than a millisecond, or the tool on images, is more than 1.1 times its line; 77 without OpenCV,
or without photos for --images.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from shared import replacing, write_json

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import SKIPPED, need, np, run  # noqa: E402

FULL40 = ["source", "visual", "saliency", "distance", "cluster", "text"]  # what a still image makes
PEERED = ["source", "visual", "saliency", "distance", "cluster"]
READING = "reading alone, OpenCV"
MOST, SHORT_MS = 1.1, 1.0
CORES = len(os.sched_getaffinity(0))


def numbers(text):
    return sorted({int(word) for word in text.split(",") if word})


def line_of(amounts, times):
    """a and b of the line a + b n."""
    n, t = np.array(amounts, float), np.array(times, float)
    best = None
    for columns in ([np.ones_like(n), n], [n], [np.ones_like(n)]):  # either may have to be zero
        system = np.stack(columns, 1) / t[:, None]
        found, *_ = np.linalg.lstsq(system, np.ones_like(t), rcond=None)
        off = float(np.square(system @ found - 1).sum())
        if found.min() >= 0 and (best is None or off < best[0]):
            a, b = found if len(columns) == 2 else (0, found[0]) if columns[0] is n else (found[0], 0)
            best = off, float(a), float(b)
    return best[1:]


def above(amounts, times):
    """The most by which a time is above the line of all, as a ratio."""
    a, b = line_of(amounts, times)
    return max(time / (a + b * amount) for amount, time in zip(amounts, times))


def measure_pixels(options):
    """What the tool says of the device, and the milliseconds of each stage: {name: [side's, ...]}."""
    least, report = {}, {}
    words = ["--device", options.device] if options.device else []
    words += ["--format", options.format] if options.format != "auto" else []
    for _ in range(options.rounds):
        for at, side in enumerate(options.sides):
            for family in FULL40:  # one by one: a stack of all is larger than a buffer of PoCL may be at 8192x8192
                report = json.loads(run(options.tool, "bench", "--json", "--size", f"{side}x{side}", "--repeat", "5" if side < 4096 else "2",
                                        "--stage", family, *words))
                for row in report["stages"]:
                    times = least.setdefault(row["name"], [1e30] * len(options.sides))
                    times[at] = min(times[at], row["minimum_ms"])
    return report, {name: least[name] for family in FULL40 for name in (family, f"{family} levels")}


def measure_peers(options):
    """{family: {side: milliseconds of its fastest peer}}."""
    found = {}
    only = [word for family in PEERED for word in ("--only", family)]
    for side in options.sides:
        if not 512 <= side <= options.peers:  # peers.py takes no smaller ones
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "peers.json")
            words = [sys.executable, os.path.join(HERE, "peers.py"), options.tool, "--side", str(side), "--rounds", str(options.rounds),
                     "--threads", str(CORES), "--json", path, *only]
            result = subprocess.run(words + (["--device", options.device] if options.device else []), stdout=subprocess.DEVNULL)
            if not os.path.exists(path):  # it ends with 1 where a stage is slower than a peer, too
                sys.exit(f"{' '.join(words)}: exit {result.returncode}")
            with open(path, encoding="utf-8") as file:
                for row in json.load(file)["stages"]:
                    if row["stage"] in PEERED:
                        found.setdefault(row["stage"], {})[side] = min(row["peers_ms"].values())
    return found


def measure_images(options):
    """Seconds of each way of going through so many photos: {way: [count's, ...]}."""
    cv2 = need("cv2")
    import images
    from batch import Tool
    photos = sorted(glob.glob(os.path.join(images.COCO, "*.jpg")))
    if not photos:
        print("skipped: no photos in ../shared/data", file=sys.stderr)
        sys.exit(SKIPPED)

    def read(files):
        with concurrent.futures.ThreadPoolExecutor(CORES) as threads:
            list(threads.map(lambda file: cv2.imread(file).shape, files))

    cv2.setNumThreads(1)
    ways = {"grid": Tool(options.tool, options.device, "--strategy", "grid"), "budget": Tool(options.tool, options.device), READING: read}
    least = {name: [1e30] * len(options.images) for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i in range(max(options.images)):
            files.append(os.path.join(folder, f"{i:05d}.jpg"))
            os.symlink(os.path.realpath(photos[i % len(photos)]), files[-1])
        for _ in range(options.rounds):
            for at, count in enumerate(options.images):
                for name, work in ways.items():
                    began = time.perf_counter()
                    work(files[:count])
                    least[name][at] = min(least[name][at], time.perf_counter() - began)
    return least


def show(head, unit, amounts, labels, rows, each):
    """A table, a row each, in time for `each`; and the rows' names with how far they are above their lines."""
    print(f"{head:24s}" + "".join(f"{label:>10}" for label in labels) + f"{'above':>9s}   {unit}")
    most = {}
    for name, times in rows.items():
        most[name] = above(amounts, times) if len(amounts) > 2 else 1.0
        print(f"{name:24s}" + "".join(f"{each(value, amount):10.3f}" for value, amount in zip(times, amounts)) + f"{most[name]:9.2f}")
    return most


def plot(path, options, made, peers, counted, title):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, 1 + bool(counted), figsize=(5.2 * (1 + bool(counted)), 4.4), squeeze=False)
    sides = options.sides
    for at, family in enumerate(FULL40):
        axes[0, 0].loglog([side**2 for side in sides], made[family], "o-", ms=3, color=f"C{at}", label=family)
        if family in peers:
            axes[0, 0].loglog([side**2 for side in peers[family]], list(peers[family].values()), "x:", ms=4, color=f"C{at}")
    axes[0, 0].set(xlabel="pixels", ylabel="ms", title="a family of channels (dotted: its fastest peer)")
    for at, (name, times) in enumerate(counted.items()):
        axes[0, 1].loglog(options.images, times, "x:" if name == READING else "o-", ms=4, color=f"C{at}", label=name)
    if counted:
        axes[0, 1].set(xlabel="photos of 640x480", ylabel="s", title="a batch, from start to exit")
    for one in axes[0]:
        one.grid(alpha=.3)
        one.legend(fontsize=8)
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    with replacing(path) as part:
        figure.savefig(part, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--device")
    parser.add_argument("--format", default="auto")
    parser.add_argument("--sides", type=numbers, default="256,512,1024,2048,4096", help="8192 takes 24 GB")
    parser.add_argument("--images", type=numbers, default="1,10,100,1000,10000", help="'' for none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=int, default=4096, help="the largest side at which peers are measured; 0: none")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args()
    report, made = measure_pixels(options)
    title = f"{report['device']}, {report['storage']} storage, {report['format']}, {CORES} cores, least of {options.rounds} rounds"
    print(title)
    pixels = [side**2 for side in options.sides]
    most = show("family", "ns a pixel", pixels, options.sides, made, lambda ms, n: 1e6 * ms / n)
    peers = measure_peers(options)
    for family, times in peers.items():
        print(f"{f'peer of {family}':24s}" + "".join(f"{1e6 * times[side] / side**2:10.3f}" if side in times else f"{'-':>10s}"
                                                     for side in options.sides))
    counted = measure_images(options) if options.images else {}
    most_images = show("photos", "ms an image", options.images, options.images, counted, lambda s, n: 1e3 * s / n) if counted else {}
    if options.json:
        write_json(options.json, {"title": title, "sides": options.sides, "ms": made, "peers_ms": peers, "images": options.images, "s": counted})
    if options.plot:
        plot(options.plot, options, made, peers, counted, title)
    bent = [name for name, ratio in most.items() if ratio > MOST and made[name][-1] > SHORT_MS]
    bent += [name for name, ratio in most_images.items() if ratio > MOST and name != READING]
    print(f"more than {MOST} times their line: {', '.join(bent) or 'none'}")
    return 1 if bent else 0


if __name__ == "__main__":
    sys.exit(main())
