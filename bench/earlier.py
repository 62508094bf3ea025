#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""earlier.py BUILD [--commit COMMIT...] [--device NAME...] [--rounds 2] [--repeat 3] [--limit 1.08] [--stages NAME...] [--json FILE]

Whether a stage has become slower than in earlier builds of this project: that of 5df4ce8, and that of the newest release (a tag vN.N.N in
HEAD's history). The `tvlm bench` of all builds run on the same machine in turn, in two phases of which neither depends on who is ahead:

- A few rounds of all stages. A stage is suspected where the ratio of medians is above half of what is allowed (1.04).
- AGAIN rounds of the suspects alone. Each is judged once, by the ratio of the medians of these rounds. (Who asks again until a stage passes
  lets one that is 1.10 times as slow pass in a third of all cases.)

The number of rounds is by simulation, 8000 cases each, noise that only makes longer (exponential, 10 %), the least of three samples: with 15
rounds a stage that is as fast as it was fails in none (of 120 stages that may be one in 1000), one that takes 1.15 times as long is found in
99.7 %, and one of 1.10 in 90 %. Where the noise lasts as long as a process does, so that the least of three is no better than one, these
are 0.4, 85 and 54 %: no number of rounds of a few minutes is enough on such a machine, and it has to be idle.

Where the clock cannot tell, instructions are counted (callgrind): of the stages that are suspected on the reference, and of those that take
less than 0.05 ms, where a command of the driver takes as long. They are counted on the reference, at 64x64: PoCL would compile each kernel anew
under Valgrind, which takes longer than the row may. So what a short stage does on the host is known, and what PoCL adds is the number of
its commands and waits, which may not grow. `perf stat` counts whole processes, and nothing in most virtual machines.

Earlier commits are built once, as a release, and kept in the cache (ci/cache-folder). Copies and launches are the device's own, and fail
nothing. A stage that is no longer there fails, since nobody knows what became of it; one that is new is told. KNOWN has those that became
slower, or went, for a reason.

Exit: 0; 1 where a stage takes more than --limit times what it took, or is gone, or an earlier commit cannot be built; 77 where a commit is
not in the history (a clone that is too shallow), or a package is missing that its build names.
"""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from shared import write_json

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRST, SKIPPED, SHORT_MS = "5df4ce8", 77, 0.05
# Rounds of suspects. Where these take too long, there are fewer: which of them depends on the time, and not on who is ahead.
AGAIN, AGAIN_LEAST, AGAIN_SECONDS = 15, 5, 100
COUNT_SECONDS, COUNT_SIDE, FEW = 200, 64, 200  # FEW: instructions that no ratio is made of
REFERENCE, REFERENCE_SIDE = "reference", 256
DEVICES_OWN = ("copy", "launch", "wait", "upload", "download")  # what the device takes, whoever asks
OPENCLS_OWN = ("handles",)  # stages that the reference does not have
# What became slower than in a commit, or is gone, and why.
KNOWN = {FIRST: {}}


class Skip(Exception):
    """Why a commit cannot be compared with."""


# ---- Builds ----

def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)


def commits():
    """The first commit that is compared with, and the newest release that HEAD comes from."""
    tags = [tag for tag in git("tag", "--sort=-v:refname", "--merged", "HEAD").stdout.split() if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
    return [FIRST, *tags[:1]]


def earlier_build(commit):
    """The build folder of an earlier commit, made where it is missing."""
    found = git("rev-parse", "--verify", "-q", commit + "^{commit}")
    if found.returncode:
        raise Skip(f"the commit {commit} is not in the history: is the clone too shallow?")
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
    for tool in ("cmake", "ninja"):
        if not shutil.which(tool):
            raise Skip(f"{commit} cannot be built: there is no {tool}")
    os.mkdir(folder)
    with subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE) as archive:
        unpacked = subprocess.run(["tar", "x", "-C", folder], stdin=archive.stdout)
    if archive.returncode or unpacked.returncode:
        raise SystemExit(f"{commit} cannot be unpacked: git archive: exit {archive.returncode}, tar: exit {unpacked.returncode}")
    with open(log_path, "w", encoding="utf-8") as log:
        for command in (["cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON"],
                        ["ninja", "-C", build, "tvlm"], ["ninja", "-C", build, "tvlm-bench"]):
            if subprocess.run(command, stdout=log, stderr=log).returncode:
                why_not_built(commit, log_path)


def why_not_built(commit, log_path):
    """Fails, but where the log names what is missing, or says that this early a commit has no program of its own for the benchmark."""
    with open(log_path, encoding="utf-8", errors="replace") as log:
        text = log.read()
    if "unknown target 'tvlm-bench'" in text:
        return
    if missing := re.search(r"CMake Error[^\n]*\n\s*Could NOT find (\w+)", text):
        raise Skip(f"{commit} cannot be built: there is no {missing[1]} ({log_path})")
    raise SystemExit(f"{commit} cannot be built: {log_path}")


def bench_of(build):
    """The command that measures stages in a build; None: it is not built."""
    apart, tool = (os.path.join(build, "tools", name) for name in ("tvlm-bench", "tvlm"))
    if os.path.exists(apart):
        return [apart]
    return [tool, "bench"] if os.path.exists(tool) else None


# ---- What is measured ----

def command_of(build, device, side, repeat, stages):
    return [*bench_of(build), "--json", "--repeat", str(repeat), "--device", device, *(["--size", str(side)] if side else []),
            *(["--stage", ",".join(sorted({stage.split(",")[0] for stage in stages}))] if stages else [])]


def environment(folder):
    """Where nothing was tuned."""
    return {**os.environ, "TVLM_UNTUNED": "1", "TMPDIR": folder}


def measure(build, device, repeat, stages=()):
    """By stage, the least milliseconds of a run, and its commands and waits (None: the device has none)."""
    command = command_of(build, device, REFERENCE_SIDE if device == REFERENCE else 0, repeat, stages)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(folder))
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return {stage["name"]: (stage["minimum_ms"], sum(stage[what] for what in ("kernels", "transfers", "waits")) if "kernels" in stage else None)
            for stage in json.loads(done.stdout)["stages"]}


def counts_of(rows, parts):
    """Instructions of a run by stage. The parts are those of each call of the benchmark's time_runs: of a stage one run, then 1, 2, 4 .. runs,
    then its samples. The last but one is taken: what follows the last belongs to nobody. Where a compiler has put the call for the very first
    run into its caller, as GCC 12 did in 5df4ce8, that run is in the part before."""
    counts, at = {}, 0
    calls = [row["runs"].bit_length() + row["samples"] for row in rows]
    first = len(parts) - sum(calls)
    if first not in (0, len(rows)):
        raise ValueError(f"{len(parts)} parts of {len(rows)} stages")
    for row, count in zip(rows, calls):
        at += count + (first > 0)
        counts[row["name"]] = parts[at - 2] / row["runs"]
    return counts


def instructions(builds, stages):
    """Instructions of a run by build and stage; None, and a line that says why, where there are none."""
    if not shutil.which("valgrind"):
        return print("instructions are not counted (there is no valgrind): the clock alone decides")
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        running = {name: (os.path.join(folder, str(i)), subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/{i}", "--dump-before=time_runs*",
             *command_of(build, REFERENCE, COUNT_SIDE, 2, stages)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(folder))) for i, (name, build) in enumerate(builds.items())}
        end = time.monotonic() + COUNT_SECONDS
        try:
            for name, (path, process) in running.items():
                out = process.communicate(timeout=max(1, end - time.monotonic()))[0]
                parts = sorted(glob.glob(path + ".*"), key=lambda part: int(part.rpartition(".")[2]))[1:] + [path]
                counts[name] = counts_of(json.loads(out)["stages"], [total_of(part) for part in parts])
        except (subprocess.TimeoutExpired, ValueError, IndexError, OSError) as error:
            return print(f"instructions are not counted ({type(error).__name__}: {error}): the clock alone decides")
        finally:
            for _, process in running.values():
                process.kill()
                process.wait()
    return counts


def total_of(path):
    with open(path, encoding="utf-8") as file:
        return int(re.findall(r"^totals: (\d+)", file.read(), re.M)[-1])


# ---- Who is slower ----

class Times:
    """What rounds found of a device, by build and stage."""

    def __init__(self, builds):
        self.ms, self.commands = {name: {} for name in builds}, {name: {} for name in builds}

    def add(self, builds, device, repeat, stages=()):
        for name, build in builds.items():
            for stage, (ms, commands) in measure(build, device, repeat, stages).items():
                self.ms[name].setdefault(stage, []).append(ms)
                self.commands[name][stage] = commands

    def medians(self, name):
        return {stage: statistics.median(ms) for stage, ms in self.ms[name].items()}


def is_judged(stage, commit):
    return stage not in DEVICES_OWN and stage not in KNOWN.get(commit, {})


def slower(before, now, limit, commit=FIRST):
    """The stages of both whose times the clock can tell, and that take more than `limit` times as long."""
    return [name for name in before if name in now and is_judged(name, commit) and before[name] >= SHORT_MS and now[name] > limit * before[name]]


def short(before, now, commit=FIRST):
    return [name for name in before if name in now and is_judged(name, commit) and before[name] < SHORT_MS]


def heavier(before, now, stage, limit):
    """Whether a stage takes more instructions; None: they were not counted."""
    if before is None or now is None or stage not in before or stage not in now:
        return None
    return now[stage] > limit * before[stage] and now[stage] - before[stage] > FEW


def gone(before, now, commit=FIRST):
    """The stages that are no longer there."""
    return sorted(set(before) - set(now) - set(KNOWN.get(commit, {})))


def suspects_of(times, names, limit):
    now = times.medians("now")
    return sorted({stage for name in names for stage in slower(times.medians(name), now, limit, name)})


def look_at(device, builds, options):
    """Both phases of a device: the times of all stages, and those of suspects. On the reference instructions take the place of the second
    phase, where they can be counted."""
    names = [name for name in builds if name != "now"]
    first, second = Times(builds), Times(builds)
    for _ in range(1 if device == REFERENCE else options.rounds):
        first.add(builds, device, options.repeat if device != REFERENCE else 1, options.stages)
    suspects = suspects_of(first, names, 1 + (options.limit - 1) / 2)
    little = sorted({stage for name in names for stage in short(first.medians(name), first.medians("now"), name)})
    counted = None
    if device == REFERENCE and suspects or device != REFERENCE and little:
        counted = instructions(builds, [stage for stage in (suspects if device == REFERENCE else little) if stage not in OPENCLS_OWN])
    if suspects and (device != REFERENCE or counted is None):
        print(f"{device}: {len(suspects)} stages are measured again")
        began, done = time.monotonic(), 0
        while done < AGAIN and (done < AGAIN_LEAST or time.monotonic() - began < AGAIN_SECONDS):
            second.add(builds, device, options.repeat, suspects)
            done += 1
    return first, second, suspects, counted


def judge(commit, first, second, suspects, counted, limit):
    """Why each stage fails, by its name."""
    before, now = first.medians(commit), first.medians("now")
    again, again_now = second.medians(commit), second.medians("now")
    counts, counts_now = (counted or {}).get(commit), (counted or {}).get("now")
    why = {stage: "GONE" for stage in gone(before, now, commit)}
    for stage in slower({**before, **again}, {**now, **again_now}, limit, commit):
        if stage in suspects and stage in again:
            why[stage] = "SLOWER"
    for stage in {*suspects, *short(before, now, commit)}:
        if stage in before and stage in now and is_judged(stage, commit) and heavier(counts, counts_now, stage, limit):
            why[stage] = "SLOWER, by instructions"
    for stage in short(before, now, commit):
        if (first.commands["now"][stage] or 0) > (first.commands[commit][stage] or 0):
            why[stage] = "SLOWER, by commands"
    return why


def report(device, commit, looked, limit):
    """Prints a table; how many stages passed and failed. What nothing judged has not passed."""
    first, second, _, counted = looked
    why = judge(commit, *looked, limit)
    before, now = ({**first.medians(name), **second.medians(name)} for name in (commit, "now"))
    counts, counts_now = (counted or {}).get(commit, {}), (counted or {}).get("now", {})
    both = set(before) & set(now)
    print(f"{device:28} {commit[:9]:>10} {'now':>10} {'ratio':>7} {'instr.':>7}   ms, medians")
    for name in sorted(both, key=lambda name: -now[name] / max(before[name], 1e-9)):
        counted_ratio = f"{counts_now[name] / max(counts[name], 1):7.2f}" if name in counts and name in counts_now else f"{'':7}"
        told = "too short to tell" if before[name] < SHORT_MS and name not in counts else KNOWN.get(commit, {}).get(name, "")
        print(f"{name:28} {before[name]:10.3f} {now[name]:10.3f} {now[name] / max(before[name], 1e-9):7.2f} {counted_ratio}   "
              f"{why.get(name, told)}".rstrip())
    for name in sorted(set(why) - both):
        print(f"{name:28} {before[name]:10.3f} {'':10} {'':7} {'':7}   {why[name]}")
    if new := sorted(set(now) - set(before)):
        print(f"new, with nothing to compare: {', '.join(new)}")
    if not both:
        raise SystemExit("the two builds have no stage in common")
    judged = {name for name in both - set(DEVICES_OWN) if before[name] >= SHORT_MS or name in counts and name in counts_now}
    return len(judged - set(why)), len(why)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--commit", nargs="+")
    parser.add_argument("--device", nargs="+", default=["pocl", REFERENCE])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=1.08)
    parser.add_argument("--stages", nargs="+", default=())
    parser.add_argument("--json")
    options = parser.parse_args()
    if bench_of(options.build) is None:
        parser.error(f"{options.build} has no tools/tvlm-bench")
    builds, skipped = {}, False
    for commit in options.commit or commits():
        try:
            build = earlier_build(commit)
        except Skip as why:
            skipped = True
            print(f"SKIPPED: {why}")
        else:
            if build not in builds.values():  # a release may be the first commit
                builds[commit] = build
    if not builds:
        sys.exit(SKIPPED)
    names, builds["now"] = list(builds), options.build
    results, passed, failed = {}, 0, 0
    for device in options.device:
        looked = look_at(device, builds, options)
        results[device] = {"first": looked[0].ms, "again": looked[1].ms, "instructions": looked[3]}
        for name in names:
            good, bad = report(device, name, looked, options.limit)
            passed, failed = passed + good, failed + bad
    if options.json:
        write_json(options.json, {"commits": names, "devices": results}, indent=1)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else SKIPPED if skipped else 0)


if __name__ == "__main__":
    main()
