#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py FOLDER: what ci/gpu found, in brief: the device, what went well and what did not, the times, PyTorch beside them.

It reads what there is in FOLDER, so that it can be asked after each phase. Python's own library is enough.
"""
import json
import os
import re
import sys

folder = sys.argv[1]
OUT_OF_TIME = ("Timeout", "Not Run")  # ctest stops at the phase's limit
RESULTS = {0: "ok", 77: "skipped", 124: "no time left", 137: "no time left"}


def text(name):
    try:
        with open(os.path.join(folder, name), errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def data(name):
    try:
        return json.loads(text(name))
    except ValueError:
        return None


def last_line(name, pattern=""):
    lines = [line for line in text(name).splitlines() if line.strip() and re.search(pattern, line)]
    return lines[-1].strip() if lines else ""


def show_device():
    where, found = text("where.txt").splitlines(), data("devices.json")
    if len(where) > 2:
        print(f"commit {where[0]}; {where[1]}; {where[2]} cores")
    for device in found["devices"] if found else []:
        tests = device.get("self_tests", [])
        bad = [test for test in tests if not test["passed"]]
        if device["type"] == "reference":
            continue
        print(f"{device['name']}, {device['platform']}, driver {device['driver']} ({device['version']}), {device['type']}")
        if device.get("usable", True):
            print(f"  storage {device['storage']}: {device['storage_reason']}; self-test: {len(tests) - len(bad)} of {len(tests)} passed")
        else:
            print("  cannot be used")
        for test in bad:
            print(f"  FAILED {test['name']}: {test['detail']}")
    for line in text("devices.log").splitlines()[:10]:
        print(f"  says: {line}")


def failures(log):
    """The tests that did not pass, by ctest's list: their names, and how they ended."""
    return re.findall(r"^\s*\d+ - (\S+) \((?!Skipped|Disabled)(.*)\)", text(log + ".log"), re.M)


def show_phases():
    notes = {"positions": last_line("positions.log", "worst|SKIPPED|Error"), "pytorch": last_line("pytorch.log", "SKIPPED|gpu.py:")}
    notes.update({name: last_line(name + ".log", "passed, .* failed") for name in ("tests-small", "tests")})
    print(f"\n{'phase':14s}{'result':>14s}{'seconds':>9s}")
    for line in text("phases.tsv").splitlines():
        name, rc, seconds = line.split("\t")
        result = RESULTS.get(int(rc), "FAILED")
        ends = {how for _, how in failures(name)} if name.startswith("tests") else set()
        if result == "FAILED" and ends and ends <= set(OUT_OF_TIME):
            result = "no time left"
        note = notes.get(name) or (last_line(name + ".log") if result == "FAILED" else "")
        print(f"{name:14s}{result:>14s}{seconds:>9s}  {note}".rstrip())
    for log in ("tests-small", "tests"):
        for name, how in failures(log):
            print(f"  {log}: {how}: {name}")


def show_missing():
    needed = {"PyTorch": "No module" not in text("pytorch.log"), "nvidia-smi or rocm-smi": text("smi.txt").strip(),
              "clinfo": text("clinfo.txt").strip(), "photographs (../shared/data/photos)": "chelsea" in text("positions.log")}
    names = [name for name, there in needed.items() if not there]
    if names:
        print("\nmissing: " + "; ".join(names))


def number(value, width=9):
    return f"{value:{width}.4f}" if value is not None else f"{'-':>{width}s}"


def rows_of(name):
    report = data(name)
    return {row["name"]: row["median_ms"] for row in report["stages"]} if report else {}


def show_times():
    report, buffers, large, pytorch = data("bench.json"), rows_of("bench-buffer.json"), rows_of("bench-4096.json"), data("pytorch.json")
    if not report:
        return
    peers = {row["stage"]: row["pytorch_ms"] for row in pytorch["stages"]} if pytorch else {}
    modes = sorted({mode for times in peers.values() for mode in times})
    print(f"\n{report['device']}: {report['width']}x{report['height']}, {report['storage']}, {report['format']}; medians in ms"
          + (f"; PyTorch {pytorch['pytorch']} beside them, and its fastest by ours" if pytorch else ""))
    tuned = rows_of("bench-tuned.json")
    print(f"{'stage':26s}{'ms':>9s}{'event':>9s}{'bound':>9s}{'of copy':>9s}{'tuned':>9s}{'buffers':>9s}{'4096':>9s}" + "".join(f"{mode:>10s}" for mode in modes)
          + (f"{'ratio':>8s}" if modes else ""))
    for row in report["stages"]:
        name, times = row["name"], peers.get(row["name"], {})
        line = (f"{name:26s}{number(row['median_ms'])}{number(row.get('event_ms'))}{number(row.get('bound_ms'))}"
                f"{row['share_of_copy']:9.2f}{number(tuned.get(name))}{number(buffers.get(name))}{number(large.get(name))}")
        if modes:
            line += "".join(number(times.get(mode), 10) for mode in modes)
        if times and row["median_ms"] > 0:
            line += f"{min(times.values()) / row['median_ms']:8.2f}"
        print(line)
    if data("bench-video.json"):
        print("\nvideo: " + json.dumps(data("bench-video.json")))


def show_tuning():
    report = data("tune.json")
    if not report:
        return
    gained = [stage for stage in report["stages"] if stage["settings"]]
    print(f"\ntuned: {len(gained)} of {len(report['stages'])} stages are faster, {report['tried']} settings in {report['seconds']:.0f} s"
          + ("" if report["complete"] else ", not all of them"))
    for stage in gained:
        print(f"  {stage['name']:12s}{stage['side']:6d}{stage['before_ms']:10.4f} ms{stage['gain']:7.2f}  {stage['settings']}")


def show_layouts():
    report = data("bench-layouts.json")
    for row in report["layouts"] if report else []:
        print(f"  {row['layout']:12s}{row['channels']:4d} channels, {row['width']}x{row['height']}: {row['median_ms']:9.3f} ms, "
              f"{row.get('kernels', 0)} kernels, {row['texture_bytes'] / 2 ** 20:.1f} MiB of textures, at most {row['peak_bytes'] / 2 ** 20:.1f}")


show_device()
show_phases()
show_missing()
show_times()
show_layouts()
show_tuning()
