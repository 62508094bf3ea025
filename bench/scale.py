#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scale.py TVLM [--device NAME] [--format f16|f32] [--small N] [--large N] [--rounds N]: what a larger image costs.

Every family of full40 with its levels, at 1024x1024 and at 4096x4096 (`tvlm bench --json`), the smallest of the rounds, and how
many times longer the larger one takes. Sixteen times as many pixels: at most 18 in total are accepted (else exit 1).
"""
import argparse
import json
import subprocess
import sys

import shared  # noqa: F401 (a device as nobody tuned it)

FULL40 = ["source", "visual", "saliency", "distance", "cluster", "text"]  # what a still image makes
MOST = 18.0

parser = argparse.ArgumentParser()
parser.add_argument("tool")
parser.add_argument("--device")
parser.add_argument("--format", default="auto")
parser.add_argument("--small", type=int, default=1024)
parser.add_argument("--large", type=int, default=4096)
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()


def measure(side):
    """Milliseconds of each stage: the smallest of all samples of all rounds."""
    least, report = {}, {}
    for _ in range(options.rounds):
        words = [options.tool, "bench", "--json", "--size", f"{side}x{side}", "--repeat", "5", "--stage", ",".join(FULL40)]
        words += ["--device", options.device] if options.device else []
        words += ["--format", options.format] if options.format != "auto" else []
        result = subprocess.run(words, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit {result.returncode}: {result.stderr.strip()}")
        report = json.loads(result.stdout)
        for row in report["stages"]:
            least[row["name"]] = min(row["minimum_ms"], least.get(row["name"], 1e30))
    return report, least


report, small = measure(options.small)
_, large = measure(options.large)
print(f"{report['device']}, {report['storage']} storage, {report['format']}; milliseconds, the smallest of {options.rounds} rounds")
print(f"{'family':20s}{options.small:>10d}{options.large:>12d}{'times':>9s}")
total = [0.0, 0.0]
for family in FULL40:
    for name in (family, f"{family} levels"):
        total = [total[0] + small[name], total[1] + large[name]]
        print(f"{name:20s}{small[name]:10.3f}{large[name]:12.3f}{large[name] / small[name]:9.1f}")
ratio = total[1] / total[0]
print(f"{'full40':20s}{total[0]:10.3f}{total[1]:12.3f}{ratio:9.1f}   (at most {MOST:g} for 16 times the pixels)")
sys.exit(ratio > MOST * (options.large / options.small) ** 2 / 16)
