#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_photos.py TVLM [--photos N] [--least PERCENT] [--device N] [--image FILE...]: the selection on real photographs is the same on every device.

Each OpenCL device in each storage that it can do, in both formats, against the reference device in the same format: the
share of the 273 positions that both chose, by the budget, whose thumbnails then are the same too, and by the grid. It must be at
least 99 %: scores that are equal but for rounding change places.
"""
import argparse
import json
import os
import sys

from common import SKIPPED, require_photos, run

parser = argparse.ArgumentParser()
parser.add_argument("tool")
parser.add_argument("--photos", type=int, default=10 ** 9, help="the first N by size (default: all)")
parser.add_argument("--least", type=float, default=99.0, help="percent of positions that must agree")
parser.add_argument("--device", type=int, help="only the device of this number")
parser.add_argument("--image", action="append", help="these pictures instead")
options = parser.parse_args()
paths = options.image
if not paths:
    folder = require_photos()
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name))]
    paths = sorted(paths, key=os.path.getsize)[:options.photos]


def targets():
    for device in json.loads(run(options.tool, "devices", "--json"))["devices"]:
        if device["type"] == "reference" or options.device not in (None, device["index"]):
            continue
        for storage in ("buffer", "image", "mipmapped"):
            try:
                run(options.tool, "select", paths[0], "--device", str(device["index"]), "--storage", storage)
            except RuntimeError as error:
                print(f"note   {device['name']}, {storage}: not here ({str(error)[-90:]})")
                continue
            yield device, storage


def places(path, strategy, device, storage, form):
    """What was chosen, in order."""
    out = json.loads(run(options.tool, "select", path, "--strategy", strategy, "--device", device, "--storage", storage, "--format", form))
    return [(position["x"], position["y"], position["size"]) for position in out["positions"]]


found = list(targets())
if not found:
    print("SKIPPED: no OpenCL device")
    sys.exit(SKIPPED)
names = [f"{device['name'][:18]} {storage} {form}" for device, storage in found for form in ("f32", "f16")]
print("share of the positions chosen by the reference too, in percent; in brackets: at the same rank")
for i, name in enumerate(names):
    print(f"  {chr(65 + i)}: {name}")
print(f"{'photo':31s} {'k':>4s}" + "".join(f"{chr(65 + i):>14s}" for i in range(len(names))))
failed = 0
worst = 100.0
for path, strategy in [(path, strategy) for path in paths for strategy in ("budget", "grid")]:
    reference = {form: places(path, strategy, "reference", "auto", form) for form in ("f32", "f16")}
    row = []
    for device, storage in found:
        for form in ("f32", "f16"):
            got, expected = places(path, strategy, str(device["index"]), storage, form), reference[form]
            share = 100.0 * len(set(got) & set(expected)) / len(expected)
            order = 100.0 * sum(a == b for a, b in zip(got, expected)) / len(expected)
            bad = share < options.least or len(got) != len(expected)
            failed += bad
            worst = min(worst, share)
            row.append(f"{'!' if bad else ''}{share:.2f} ({order:.0f})")
    print(f"{os.path.basename(path):24s} {strategy:6s} {len(reference['f32']):4d}" + "".join(f"{cell:>14s}" for cell in row),
          flush=True)
print(f"worst {worst:.2f} %, at least {options.least:g} % asked; {failed} below")
sys.exit(1 if failed else 0)
