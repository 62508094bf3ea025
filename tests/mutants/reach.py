# SPDX-License-Identifier: Apache-2.0
"""reach.py: which tests reach a line of lib/, tools/ and bench/, or a kernel of cl/.

All quick tests run once on a build with gcc's --coverage, without OpenCL, and then on a device, under the layer of tests/layer that
notes kernels. What was found is kept in reach.jsonl, a line for each test and device, and holds while no file that is built or tests
changes; what an interrupted run lacks, the next one adds. An older map is good enough for a few minutes (`old`): where a file has
changed since, all tests that reached any of it count, and only tests that are new or have changed themselves are run."""
import concurrent.futures
import hashlib
import json
import os
import subprocess
import tempfile
import time

from tree import Tree, digests, environment_of
from trial import run

LIMIT = 600  # seconds that a test may take
DEVICES = ("reference", "default")
FLAGS = ["-DCMAKE_C_FLAGS_RELEASE=-O1 --coverage -fprofile-update=atomic"]


def ranges_of(lines):
    """Numbers as [first, last] pairs."""
    found = []
    for line in sorted(lines):
        if found and found[-1][1] == line - 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return found


def numbers_of(ranges):
    return {line for first, last in ranges for line in range(first, last + 1)}


def read_coverage(tree, folder):
    """The lines that were run, and those that could be, of the files whose counts the test left in `folder`."""
    counts = []
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".gcda"):
                counts.append(os.path.join(path, name))
                notes = counts[-1][:-len("gcda")] + "gcno"
                os.symlink(counts[-1][len(folder):-len("gcda")] + "gcno", notes)
    reached, all_lines = {}, {}
    if not counts:
        return reached, all_lines
    told = subprocess.run(["gcov", "--json-format", "--stdout", *counts], cwd=folder, capture_output=True, text=True).stdout
    for line in told.splitlines():
        for file in json.loads(line)["files"]:
            path = os.path.relpath(file["file"], tree.folder)
            if path.startswith(("lib/", "tools/", "bench/")) and path.endswith(".c"):
                reached.setdefault(path, set()).update(entry["line_number"] for entry in file["lines"] if entry["count"])
                all_lines.setdefault(path, set()).update(entry["line_number"] for entry in file["lines"])
    return {path: lines for path, lines in reached.items() if lines}, all_lines


class Reach:
    def __init__(self, folder):
        self.folder, self.path = folder, os.path.join(folder, "reach.jsonl")
        self.files = digests()
        self.wanted_key = hashlib.sha256(json.dumps(sorted(self.files.items())).encode()).hexdigest()
        self.forget()

    def load(self):
        """Reads the map that is there. Returns whether it is complete and of these files."""
        try:
            with open(self.path) as file:
                head = json.loads(file.readline())
                for line in file:
                    try:
                        row = json.loads(line)
                    except ValueError:
                        continue  # a run was interrupted
                    if "complete" in row:
                        self.complete.add(row["complete"])
                        continue
                    for path, ranges in row.pop("all").items():
                        self.lines.setdefault(path, set()).update(numbers_of(ranges))
                    row["lines"] = {path: numbers_of(ranges) for path, ranges in row["lines"].items()}
                    self.tests[row["test"], row["device"]] = row
        except (OSError, ValueError, KeyError):
            self.forget()
            return False
        self.key = head["key"]
        self.changed = {path for path in self.files if head["files"].get(path) != self.files[path]}
        return self.complete == set(DEVICES) and self.key == self.wanted_key

    def forget_changed_tests(self):
        """Leaves out of an older map the tests whose own file has changed since."""
        def source_of(name):
            script = name.removeprefix("cli_").removesuffix("_reference").removesuffix("_default")
            return {f"tests/{name}.c", f"tests/fuzz/{name}.c", f"tests/cli/{script}.sh"}

        self.tests = {key: row for key, row in self.tests.items() if not source_of(key[0]) & self.changed}

    def forget(self):
        self.tests, self.lines, self.changed, self.complete, self.key = {}, {}, set(), set(), None

    def measure(self, cache, jobs, deadline, old, say):
        """Builds, runs what is missing until the deadline (time.monotonic()), and says in self.complete for which devices all is there.
        Goes on with a map of older files where `old`. Returns what is wrong, or None."""
        if self.key != self.wanted_key and not old:
            self.forget()
        tree = Tree(self.folder, "reach", FLAGS)
        wrong = tree.make()
        if wrong:
            return wrong
        with open(self.path, "a" if self.tests else "w") as file, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            if self.tests:
                file.write("\n")
            else:
                file.write(json.dumps({"key": self.wanted_key, "files": self.files}) + "\n")
                self.key = self.wanted_key
            for device in DEVICES:
                missing = [t for t in tree.tests.values() if t.is_quick() and device in t.devices() and (t.name, device) not in self.tests]
                say(f"which tests reach what: {len(missing)} tests to run on the device {device}")
                runs = [pool.submit(self.run_one, tree, test, device, cache, deadline) for test in missing]
                for done in concurrent.futures.as_completed(runs):
                    self.take(file, *done.result(), say)
                if all((t.name, device) in self.tests for t in missing):
                    self.complete.add(device)
                    file.write(json.dumps({"complete": device}) + "\n")
        return None

    def take(self, file, row, all_lines, say):
        """Notes what a test reached, here and in the file."""
        if row is None:
            return
        new = {p: v - self.lines.get(p, set()) for p, v in all_lines.items()}
        file.write(json.dumps({**row, "lines": {p: ranges_of(v) for p, v in row["lines"].items()},
                               "all": {p: ranges_of(v) for p, v in new.items() if v}}) + "\n")
        file.flush()
        for path, lines in new.items():
            self.lines.setdefault(path, set()).update(lines)
        self.tests[row["test"], row["device"]] = row
        if row["result"] not in ("passed", "skipped"):
            say(f"with no mutant {row['test']} on the device {row['device']}: {row['result']}")

    def run_one(self, tree, test, device, cache, deadline):
        if time.monotonic() > deadline:
            return None, {}
        with tempfile.TemporaryDirectory(prefix="tvlm-reach-") as folder:
            kernels = os.path.join(folder, "kernels.txt")
            environment = environment_of(test, device, cache, GCOV_PREFIX=os.path.join(folder, "counts"), TVLM_LAYER_KERNELS=kernels,
                                         OPENCL_LAYERS=os.path.join(tree.build, "tests", "layer", "libtvlm_layer.so"), TMPDIR=folder)
            began = time.monotonic()
            result, _, seconds = run(test.command, test.folder, environment, min(LIMIT, max(1, deadline - began)), stops=False)
            if result == "late" and time.monotonic() > deadline:
                return None, {}
            lines, all_lines = read_coverage(tree, os.path.join(folder, "counts"))
            called = []
            if os.path.exists(kernels):
                with open(kernels, errors="replace") as file:
                    called = sorted(set(file.read().split()))
            return {"test": test.name, "device": device, "result": result, "seconds": round(seconds, 2), "lines": lines, "kernels": called}, all_lines

    # ---- Questions ----

    def tests_of_line(self, path, function_lines, line):
        """The tests that reach a line: `function_lines` are the first and last of its function, since a statement of several lines
        counts at one of them, and a first one that the compiler moves at the next. Where the file has changed since the map was made, those that reach any of it."""
        if path in self.changed:
            return [t for t in self.tests.values() if path in t["lines"]]
        first, last = function_lines
        there = [n for n in self.lines.get(path, ()) if first <= n <= last]
        before = [n for n in there if n <= line]
        at = max(before) if before else min(there, default=line)
        return [t for t in self.tests.values() if at in t["lines"].get(path, ())]

    def tests_of_file(self, path, lines=None):
        """The tests that reach any of these lines of a file, or of all."""
        if path in self.changed or not lines:
            return [t for t in self.tests.values() if path in t["lines"]]
        return [t for t in self.tests.values() if any(n in t["lines"].get(path, ()) for n in lines)]

    def tests_of_kernels(self, names):
        names = set(names)
        return [t for t in self.tests.values() if names & set(t["kernels"])]
