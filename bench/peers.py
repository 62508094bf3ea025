#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py TVLM [--rounds N] [--threads N] [--side N] [--device NAME] [--json FILE]: each stage beside the same done by OpenCV and PyTorch.

One square image (1024x1024, or another power of two by --side), the same cores, one session: `tvlm bench` of one family, then the
peers' versions of it, then again, N rounds; the median of all rounds counts (machines are noisy, and drift), and the lowest and the
highest are told. Both sides start from data in memory, and the peers write into arrays that exist already where their interface can.
What is compared is the time of the same result: first of all each peer's result is compared with the tool's own (peers_check.py).
The fastest peer counts. What is another result, and why:

    copy, upload      bytes that are moved; there is nothing to compare
    saliency          OpenCV's first map is the mean of the other three: the tool's also looks at the border, which costs it more
    select, uploaded  therefore other positions (how many are the same is told); the score, its weights and the top K are the tool's
    cluster           the same number of regions and compactness, other rules for what is joined; no tables, no borders of regions
    sample 273        one level of each texture, at which it is compared; the tool reads two, and what lies between

Scores, samples and packs read the tool's own saliency and entropy, which "select, uploaded" makes itself. Peers get what they like
best: one plane in place of texels of four floats, positions from memory, a mask.

"same work" is the time of a peer that is spared none of this (peers_same.py), with its ratio; it is compared with the tool, too.
"limit" is what a stage's bytes take at the speed of the copy that the same run of the tool measured, "over" how many times as long
ours takes; below 1 the bytes were in a cache.

A row is judged by the ratio on the same work, where it has one, and else by that to the fastest peer: it fails below 1. A row of
less than 0.2 ms is mostly what commands cost: it fails nothing, but says how many it has; "launch" and "wait", above the table, are
what one costs. The copy is no stage, but what the limits are measured by.

Exit: 0; 1 where a row fails, or a peer's result is not the tool's; 77 where there is no OpenCV.
"""
import json
import os
import statistics
import sys
import tempfile
import time

from peers_options import SIDE, cv2, options, torch  # first: it finds the tests' common.py
from common import np, run, save_ppm
import peers_check
import peers_table
import peers_work
from peers_work import PEERS, SAME_WORK
from shared import write_json


def time_work(work, seconds=0.25):
    """Milliseconds of one call, the median over `seconds`; at least three."""
    work()
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        work()
        times.append(time.perf_counter() - before)
    return 1e3 * statistics.median(times)


def time_tool(path, stage):
    """The tool's report of the stages with this in their name, and of what a command costs."""
    words = ["bench", "--json", "--image", path, "--stage", f"{stage},{peers_table.WAIT}", "--repeat", "7"]
    if options.device:
        words += ["--device", options.device]
    report = json.loads(run(options.tool, *words))
    return report, {row["name"]: row for row in report["stages"]}


def groups():
    """One run of the tool measures a family and its levels."""
    names = [name for name in PEERS if not options.only or any(part in name for part in options.only)]
    while names:
        text = names[0].split(",")[0] if names[0].startswith("select") else names[0]
        mine = [name for name in names if text in name]
        names = [name for name in names if name not in mine]
        yield text, mine


def measure(path):
    """The tool's last report, rows of all stages, and what commands cost."""
    ours, limits, theirs, same, commands, report = {}, {}, {}, {}, {}, {}
    for done in range(options.rounds):
        for text, names in groups():
            report, rows = time_tool(path, text)
            for name in (peers_table.LAUNCH, peers_table.WAIT):
                if name in rows:
                    commands.setdefault(name, []).append(rows[name]["median_ms"])
            for name in names:
                if name not in rows:
                    sys.exit(f"`tvlm bench` has no stage '{name}'")
                ours.setdefault(name, []).append(rows[name])
                limits.setdefault(name, []).append(peers_table.limit_ms(report, rows[name]))
                for who, work in PEERS[name]:
                    theirs.setdefault(name, {}).setdefault(who, []).append(time_work(work))
                if name in SAME_WORK:
                    same.setdefault(name, []).append(time_work(SAME_WORK[name]))
        if sys.stderr.isatty():
            print(f"\rround {done + 1} of {options.rounds}", end="", file=sys.stderr)
    rows = [peers_table.row_of(name, stages, limits[name], theirs[name], same.get(name)) for name, stages in ours.items()]
    return report, rows, {name: peers_table.Spread(times) for name, times in commands.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "image.ppm")
        save_ppm(path, peers_work.pixels)
        peers_check.check(peers_work, options.tool, path, options.device)
        report, rows, commands = measure(path)
    print(f"{report['device']}, {report['storage']} storage, {report['format']}; {SIDE}x{SIDE}; peers with {options.threads} threads: "
          f"OpenCV {cv2.__version__}, PyTorch {torch.__version__ if torch else '-'}, NumPy {np.__version__}; "
          f"{options.rounds} rounds, milliseconds: median (lowest .. highest of the rounds)")
    peers_table.print_table(rows, commands)
    if options.json:
        write_json(options.json, {**{key: report[key] for key in ("device", "driver", "storage", "format")},
                                  "commands_ms": {name: times.median for name, times in commands.items()},
                                  "stages": [peers_table.as_json(row) for row in rows]}, indent=1)
    load = os.getloadavg()[0]
    if load > options.threads + 1:
        print(f"note: the machine was busy with other things (load {load:.1f} for {os.cpu_count()} cores): not figures to keep")
    failed = [row["stage"] for row in rows if peers_table.fails(row)]
    print(f"slower than its best peer on the same work: {'; '.join(failed) or 'nothing'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
