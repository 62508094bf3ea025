#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit.py [--tvlm TVLM] [--device NAME]: what `tvlm-lab fit` learns from a dozen COCO photos.

`tvlm-lab fit --leave-one-out` on ../shared/data/boxes/coco_panoptic: each photo's 64 cells are chosen by a scorer that learnt from
the other photos. Mean share of the area of things that they cover, beside a random choice and the default score; photos that
are more than half foreground are learnt from, but there are no figures of them. Exit 1 unless the default channels, one tap
and the default regularisation cover at least twice what a random choice covers.
"""
import argparse
import glob
import json
import os
import subprocess
import sys

from shared import DATA

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(DATA, "boxes", "coco_panoptic")
RUNS = [
    ("default", []),
    ("default, 3x3", ["--taps", "3x3"]),
    ("saliency, eccentricity", ["--channels", "saliency,eccentricity"]),
    ("the default score's four", ["--channels", "saliency,eccentricity,entropy,edges"]),
    ("cluster15", ["--layout", "cluster15"]),
    ("full40", ["--layout", "full40"]),
]
STRENGTHS = [0.01, 0.1, 1, 10]


def fit(options, words):
    command = [options.tvlm + "-lab", "fit", *sorted(glob.glob(os.path.join(FOLDER, "*.jpg"))), "--coco",
               os.path.join(FOLDER, "panoptic_val2017.json"), "--leave-one-out", "--json", *words]
    if options.device:
        command += ["--device", options.device]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["mean"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tvlm", default=os.path.join(HERE, "..", "build", "tools", "tvlm"))
    parser.add_argument("--device")
    options = parser.parse_args()
    if not os.path.isdir(FOLDER):
        print(f"SKIPPED: no {FOLDER}")
        sys.exit(77)
    plain = fit(options, [])
    chance = plain["random"]["coverage"]
    print("object area covered by 64 cells (IoU), mean over photos")
    print(f"  random         {100 * chance:5.1f} % ({plain['random']['iou']:.3f})")
    print(f"  default score  {100 * plain['default']['coverage']:5.1f} % ({plain['default']['iou']:.3f})\n")
    print(f"{'leave-one-out, l2 =':26s}" + "".join(f"{strength:>18g}" for strength in STRENGTHS))
    for name, words in RUNS:
        row = [fit(options, [*words, "--l2", str(strength)])["fitted"] for strength in STRENGTHS]
        print(f"{name:26s}" + "".join(f"{100 * cell['coverage']:9.1f} % ({cell['iou']:.3f})" for cell in row), flush=True)
    times = plain["fitted"]["coverage"] / chance
    print(f"\ndefault: {times:.2f} times a random choice (asked for: 2), "
          f"{plain['fitted']['coverage'] / plain['default']['coverage']:.2f} times the default score")
    sys.exit(0 if times >= 2 else 1)


main()
