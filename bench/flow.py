#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good `tvlm channels --flow` is: mean endpoint error in pixels on the pairs of ../shared/data/flow, at half and full size,
beside OpenCV's DIS (fast, medium) and Farneback; and what each takes on the first pair, at its own size and at 1024x1024.

    bench/flow.py [--tvlm TVLM] [--data FOLDER] [--device NAME] [--no-times | --floors]

--floors: the tool alone at half size, and whether its mean error has grown (ci/full).

Times: OpenCV's calls, the least of several; tvlm's from `tvlm bench` (stage flow), on the same cores.
Exit: 0; 1 when the mean error is above OpenCV's DIS medium, or above what it was; 77 without the data or OpenCV.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from shared import DATA

MOST = 0.39  # of the mean endpoint error at half size: it was 0.382 (PoCL 3.1)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read_flo(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == b"PIEH", path
    width, height = np.frombuffer(data, "<i4", 2, 4)
    return np.frombuffer(data, "<f4", 2 * width * height, 12).reshape(height, width, 2)


def endpoint_error(flow, truth):
    known = (np.abs(truth) < 1e9).all(2)
    return float(np.linalg.norm(flow - truth, axis=2)[known].mean())


def dis(preset):
    return lambda a, b: cv2.DISOpticalFlow_create(preset).calc(a, b, None)


def farneback(a, b):
    return cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 5, 15, 3, 5, 1.2, 0)


PEERS = {"DIS fast": dis(cv2.DISOPTICAL_FLOW_PRESET_FAST), "DIS medium": dis(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM),
         "Farneback": farneback}


def least_time(call, runs=5):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def run_tvlm(tvlm, device, pair, *options):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "f.flo")
        command = [tvlm, "channels", "--flow", *pair, "-o", out, *options]
        subprocess.run(command + (["--device", device] if device else []), check=True, timeout=600)
        return read_flo(out)


def bench_tvlm(tvlm, device, image):
    command = [tvlm, "bench", "--json", "--stage", "flow", "--image", image] + (["--device", device] if device else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        return float("nan")
    stages = json.loads(done.stdout)["stages"]
    return next((s["minimum_ms"] for s in stages if s["name"] == "flow"), float("nan"))


def print_times(options, paths):
    own = [cv2.imread(path) for path in paths]
    big = [cv2.resize(image, (1024, 1024), interpolation=cv2.INTER_CUBIC) for image in own]
    times = {}
    with tempfile.TemporaryDirectory() as temporary:
        for pair in (own, big):
            gray = [cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) for image in pair]
            for peer, call in PEERS.items():
                times.setdefault(peer, []).append(least_time(lambda: call(*gray)))
            image = os.path.join(temporary, "a.png")
            cv2.imwrite(image, pair[0])
            times.setdefault("tvlm", []).append(bench_tvlm(options.tvlm, options.device, image))
    print(f"\nmilliseconds, {cv2.getNumThreads()} threads")
    print(f"{'':14}" + "".join(f"{f'{pair[0].shape[1]}x{pair[0].shape[0]}':>14}" for pair in (own, big)))
    for who, values in times.items():
        print(f"{who:14}" + "".join(f"{value:14.1f}" for value in values))


def read_pair(folder, name):
    """The paths of the two frames, and the true flow."""
    return [os.path.join(folder, name, f"frame1{i}.png") for i in (0, 1)], read_flo(os.path.join(folder, name, "flow10.flo"))


def check_most(options, folder, names):
    errors = []
    for name in names:
        pair, truth = read_pair(folder, name)
        errors.append(endpoint_error(run_tvlm(options.tvlm, options.device, pair), truth))
    print(f"flow: mean endpoint error {np.mean(errors):.4f} pixels over {len(errors)} pairs (at most {MOST})")
    return 0 if np.mean(errors) <= MOST else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tvlm", default=os.path.join(ROOT, "build/tools/tvlm"))
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--device")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--floors", action="store_true", help="only whether the tool is as good as it was")
    options = parser.parse_args()
    folder = os.path.join(options.data, "flow")
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is not there", file=sys.stderr)
        return 77
    names = sorted(name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, "flow10.flo")))
    if not names:
        print(f"skipped: no pairs in {folder}", file=sys.stderr)
        return 77
    if options.floors:
        return check_most(options, folder, names)
    errors = {}
    for name in names:
        pair, truth = read_pair(folder, name)
        gray = [cv2.imread(path, cv2.IMREAD_GRAYSCALE) for path in pair]
        for peer, call in PEERS.items():
            errors.setdefault(peer, []).append(endpoint_error(call(*gray), truth))
        errors.setdefault("tvlm", []).append(endpoint_error(run_tvlm(options.tvlm, options.device, pair), truth))
        errors.setdefault("tvlm --full", []).append(
            endpoint_error(run_tvlm(options.tvlm, options.device, pair, "--full"), truth))
    print("endpoint error, pixels")
    print(f"{'':14}" + "".join(f"{name:>14}" for name in names) + f"{'mean':>10}")
    for who, values in errors.items():
        print(f"{who:14}" + "".join(f"{value:14.3f}" for value in values) + f"{np.mean(values):10.3f}")
    if not options.no_times:
        print_times(options, [os.path.join(folder, names[0], f"frame1{i}.png") for i in (0, 1)])
    return 0 if np.mean(errors["tvlm"]) <= np.mean(errors["DIS medium"]) else 1


if __name__ == "__main__":
    sys.exit(main())
