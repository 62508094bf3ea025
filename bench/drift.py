#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far what a stream carries drifts: a table and a picture.

    bench/drift.py [--build build] [-o drift.png]

Runs tests/test_stream_drift of the build: a generated scene with known motion and known features, whose relevance to
a question is carried over 30 frames along the library's own flow and compared with fresh relevance, by rank, in the
cells that still have features; and the luma of bedroom's first frame (../shared/data), carried likewise.

Exit: 0; 1 where that test fails; 77 without OpenCV, or where the test is skipped.
"""
import argparse
import os
import subprocess
import sys

from shared import replacing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import SKIPPED, need, np  # noqa: E402

cv2 = need("cv2")


def measure(build):
    program = os.path.join(build, "tests", "test_stream_drift")
    if not os.path.exists(program):
        sys.exit(f"there is no {program}: cmake --build {build} --target test_stream_drift")
    out = subprocess.run([program], env={**os.environ, "TVLM_DRIFT": "1"}, stdout=subprocess.PIPE, text=True)
    if out.returncode:
        print(f"{program}: exit {out.returncode}", file=sys.stderr)
        sys.exit(SKIPPED if out.returncode == SKIPPED else 1)
    rows = {}
    for line in out.stdout.splitlines():
        if line.startswith("drift "):
            _, what, frame, rank, share = line.split()
            rows.setdefault(what, []).append((int(frame), float(rank), float(share)))
    return rows


def plot(rows, path):
    width, height, left, top = 640, 400, 60, 30
    picture = np.full((height + top + 50, width + left + 30, 3), 255, np.uint8)
    point = lambda frame, value: (left + round(frame / 30 * width), top + round((1 - value) * height))
    for value in np.arange(0, 1.01, 0.1):
        cv2.line(picture, point(0, value), point(30, value), (225, 225, 225), 1)
        cv2.putText(picture, f"{value:.1f}", (15, point(0, value)[1] + 5), cv2.FONT_HERSHEY_SIMPLEX, 0.45, 0, 1, cv2.LINE_AA)
    for frame in range(0, 31, 5):
        cv2.putText(picture, str(frame), (point(frame, 0)[0] - 6, top + height + 20), cv2.FONT_HERSHEY_SIMPLEX, 0.45, 0, 1, cv2.LINE_AA)
    colours = {"features": (180, 80, 0), "luma": (0, 110, 220)}
    for i, (what, values) in enumerate(sorted(rows.items())):
        for column, name, thickness in ((1, "rank correlation", 2), (2, "share of cells carried", 1)):
            line = np.array([point(v[0], max(v[column], 0)) for v in values], np.int32)
            cv2.polylines(picture, [line], False, colours[what], thickness, cv2.LINE_AA)
            y = top + height - 90 + 20 * (2 * i + column - 1)
            cv2.line(picture, (left + 15, y - 4), (left + 45, y - 4), colours[what], thickness, cv2.LINE_AA)
            cv2.putText(picture, f"{what}: {name}", (left + 55, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, 0, 1, cv2.LINE_AA)
    cv2.putText(picture, "frame", (left + width // 2 - 20, top + height + 42), cv2.FONT_HERSHEY_SIMPLEX, 0.45, 0, 1, cv2.LINE_AA)
    with replacing(path) as part:
        cv2.imwrite(part, picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("-o", default="drift.png", metavar="PNG")
    arguments = parser.parse_args()
    rows = measure(arguments.build)
    if not rows:
        print("SKIPPED: the test was, for want of a device")
        sys.exit(SKIPPED)
    print("| what | frame | rank correlation | share of cells carried |\n|---|---|---|---|")
    for what, values in sorted(rows.items()):
        for frame, rank, share in values:
            if frame % 5 == 0 and frame > 0:
                print(f"| {what} | {frame} | {rank:.3f} | {share:.2f} |")
    plot(rows, arguments.o)


if __name__ == "__main__":
    main()
