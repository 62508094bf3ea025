#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""earlier.py BUILD [--commit 5df4ce8] [--device NAME] [--rounds 2] [--repeat 5] [--limit 1.08] [--stages NAME...] [--json FILE]

Whether a stage has become slower than in an earlier build of this project. Both builds' `tvlm bench` run on the same machine in
turn; what counts is the least time of each stage. Where a stage seems slower than it may be, it alone is measured again, in turn,
up to twenty times more: noise makes a time longer, never shorter, so that the least of both sides come nearer to the truth. (After six
times, of 120 stages one or two still seemed 1.09 to 1.10 times as slow, other ones in each run.)

The earlier commit is built once, as a release, and kept in the cache (ci/cache-folder). Stages that take less than 0.05 ms are told, and
fail nothing: a command of the driver takes as long; nor do copies and launches that are the device's own. A stage that is no longer
there fails, since nobody knows what became of it; one that is new is told. KNOWN has those that became slower, or went, for a reason.

Exit: 0; 1 where a stage takes more than --limit times what it took, or is gone; 77 where the commit is not in the history, or cannot be
built.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from shared import write_json

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED, SHORT_MS, AGAIN = 77, 0.05, 20
DEVICES_OWN = ("copy", "launch", "wait", "upload", "download")  # what the device takes, whoever asks
# What became slower than in 5df4ce8, or is gone, and why.
KNOWN = {}


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def earlier_build(commit):
    """The build folder of an earlier commit, made where it is missing."""
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", "-q", commit + "^{commit}"], capture_output=True, text=True)
    if found.returncode:
        skip(f"the commit {commit} is not in the history")
    cache = subprocess.run([os.path.join(ROOT, "ci", "cache-folder")], capture_output=True, text=True, check=True).stdout.strip()
    folder = os.path.join(cache, f"earlier-{found.stdout.strip()[:12]}")
    build = os.path.join(folder, "build")
    if bench_of(build) is None:
        os.makedirs(cache, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="earlier-") as beside:  # a run that is stopped leaves no half of a build
            make(commit, os.path.join(beside, "tree"), folder + ".log")
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(os.path.join(beside, "tree"), folder)
    return build


def make(commit, folder, log_path):
    """Builds a commit in a folder that can be renamed: its programs find the library from where they are."""
    build = os.path.join(folder, "build")
    os.mkdir(folder)
    with subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE) as archive:
        unpacked = subprocess.run(["tar", "x", "-C", folder], stdin=archive.stdout)
    if archive.returncode or unpacked.returncode:
        raise SystemExit(f"{commit} cannot be unpacked: git archive: exit {archive.returncode}, tar: exit {unpacked.returncode}")
    with open(log_path, "w", encoding="utf-8") as log:
        for command in (["cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON"],
                        ["ninja", "-C", build, "tvlm"], ["ninja", "-C", build, "tvlm-bench"]):
            done = subprocess.run(command, stdout=log, stderr=log)
            if done.returncode and command[-1] != "tvlm-bench":  # early commits have none
                skip(f"{commit} cannot be built: {log_path}")


def bench_of(build):
    """The command that measures stages in a build; None: it is not built."""
    apart, tool = (os.path.join(build, "tools", name) for name in ("tvlm-bench", "tvlm"))
    if os.path.exists(apart):
        return [apart]
    return [tool, "bench"] if os.path.exists(tool) else None


def measure(build, options, stages=()):
    """The least milliseconds of each stage."""
    command = [*bench_of(build), "--json", "--repeat", str(options.repeat), *(["--device", options.device] if options.device else [])]
    if stages:
        command += ["--stage", ",".join(sorted({stage.split(",")[0] for stage in stages}))]
    with tempfile.TemporaryDirectory() as folder:  # where nothing was tuned
        environment = {**os.environ, "TVLM_UNTUNED": "1", "TMPDIR": folder}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return {stage["name"]: stage["minimum_ms"] for stage in json.loads(done.stdout)["stages"]}


def keep_least(least, found):
    for name, ms in found.items():
        least[name] = min(ms, least.get(name, ms))


def slower(before, now, limit):
    """The stages of both that seem slower than they may be."""
    return [name for name in before if name in now and name not in (*KNOWN, *DEVICES_OWN) and before[name] >= SHORT_MS and now[name] > limit * before[name]]


def gone(before, now):
    """The stages that are no longer there."""
    return sorted(set(before) - set(now) - set(KNOWN))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--commit", default="5df4ce8")
    parser.add_argument("--device")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.08)
    parser.add_argument("--stages", nargs="+", default=())
    parser.add_argument("--json")
    options = parser.parse_args()
    if bench_of(options.build) is None:
        parser.error(f"{options.build} has no tools/tvlm-bench")
    builds = {"earlier": earlier_build(options.commit), "now": options.build}
    least = {name: {} for name in builds}
    for _ in range(options.rounds):
        for name, build in builds.items():
            keep_least(least[name], measure(build, options, options.stages))
    for _ in range(AGAIN):
        suspects = slower(least["earlier"], least["now"], options.limit)
        if not suspects:
            break
        for name, build in builds.items():
            keep_least(least[name], measure(build, options, suspects))
    report(least["earlier"], least["now"], options)


def report(before, now, options):
    failed, lost, new = slower(before, now, options.limit), gone(before, now), sorted(set(now) - set(before))
    print(f"{'':28} {options.commit[:9]:>10} {'now':>10} {'ratio':>7}   ms, the least")
    for name in sorted(set(before) & set(now), key=lambda name: -now[name] / max(before[name], 1e-9)):
        why = "SLOWER" if name in failed else KNOWN.get(name, "") if now[name] > options.limit * before[name] else ""
        print(f"{name:28} {before[name]:10.3f} {now[name]:10.3f} {now[name] / max(before[name], 1e-9):7.2f}   "
              f"{why or ('too short to tell' if before[name] < SHORT_MS else '')}")
    for name in lost:
        print(f"{name:28} {before[name]:10.3f} {'':10} {'':7}   GONE")
    if new:
        print(f"new, with nothing to compare: {', '.join(new)}")
    if options.json:
        write_json(options.json, {"commit": options.commit, "earlier": before, "now": now}, indent=1)
    if not set(before) & set(now):
        raise SystemExit("the two builds have no stage in common")
    print(f"{len(set(before) & set(now)) - len(failed)} passed, {len(failed) + len(lost)} failed")
    sys.exit(1 if failed or lost else 0)


if __name__ == "__main__":
    main()
