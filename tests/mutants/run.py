#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the kernels in known places (kernels.py), one at a time, and asks whether a test notices.

    tests/mutants/run.py BUILD [--only WORD] [--jobs N] [--cache FOLDER]

A mutant is a copy of cl/ in which one text is replaced; TVLM_CL_DIR hands it to the programs of BUILD, so nothing is built
anew. Its text must be there exactly once: where the kernels have changed, kernels.py is to follow. A constant of
lib/core/constants.h is replaced in the kernels' copy of it; what judges that is a check that does not ask the reference
(CHECKS), and whose answer is therefore the same as if the reference had the mutant too.

Before that each test must pass with the kernels as they are. Noticed is a mutant whose test then fails, or by which the storage
does not pass the self-test; a kernel that does not
build, and a test that ends in nothing, are errors here. Tests run with TVLM_TEST_SMALL and TVLM_TEST_QUICK on the first CPU
device. Compiled kernels are kept (--cache, out/mutants): a second time takes less.

Exit: 0; 1 where one is not noticed, or something is wrong with a mutant or its test; 77 where all are skipped. Skipped are mutants of a storage that the
device does not have, and of constants where ../shared/data or a package is missing.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing of ours is left in the folder
from kernels import CONSTANTS, KERNELS  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT = 900  # seconds that a test may take
CHECKS = {name: [os.path.join("bench", name + ".py"), "--floors"] for name in ("saliency", "cluster", "text", "flow")}
CHECKS["distance"] = [os.path.join("tests", "python", "check_distance.py")]


class Mutant:
    """One text of one file in place of another, and the command that must notice."""

    def __init__(self, options, file, test, storage, what, text, instead):
        self.file, self.storage, self.what = file, storage, what
        self.text, self.instead, self.test = text, instead, test
        if storage:
            self.command = [os.path.join(options.build, "tests", "test_" + test)]
        else:
            self.command = [sys.executable] + CHECKS[test]
            tool, library = (os.path.join(options.build, *path) for path in (("tools", "tvlm"), ("lib", "libtexturevlm.so")))
            self.command += [tool, library] if test == "distance" else ["--tvlm", tool]

    def source(self):
        return os.path.join(ROOT, "lib", "core", self.file) if self.file == "constants.h" else os.path.join(ROOT, "cl", self.file)

    def write(self, folder):
        """Makes the kernels with the mutant in `folder`; returns what is wrong with it."""
        with open(self.source()) as file:
            text = file.read()
        if text.count(self.text) != 1:
            return f"its text is there {text.count(self.text)} times"
        if self.file == "constants.h" and not used_by_kernels(self.text.split()[1]):
            return "no kernel uses it"
        shutil.copytree(os.path.join(ROOT, "cl"), folder)
        with open(os.path.join(folder, self.file), "w") as file:
            file.write(text.replace(self.text, self.instead))
        return None

    def __str__(self):
        return f"{self.file}: {self.what}" + (f" ({self.storage})" if self.storage not in (None, "buffer") else "")


def used_by_kernels(constant):
    folder = os.path.join(ROOT, "cl")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            if re.search(rf"\b{constant}\b", file.read()):
                return True
    return False


def constants_of(options):
    for name, check, value, instead in CONSTANTS:
        yield Mutant(options, "constants.h", check, None, f"{name} {instead}", *pair_of(name, value, instead))


def pair_of(name, value, instead):
    """The text of a constant's definition, with the spaces that it has there."""
    with open(os.path.join(ROOT, "lib", "core", "constants.h")) as file:
        found = re.findall(rf"^#define {name} +{re.escape(value)}\b", file.read(), re.MULTILINE)
    text = found[0] if found else f"#define {name} {value}"
    return text, text[:-len(value)] + instead


def environment_of(options, kernels, storage):
    changed = {"TVLM_CL_DIR": kernels, "TVLM_TEST_SMALL": "1", "TVLM_TEST_QUICK": "1", "TVLM_TEST_VERBOSE": "1",
               "TVLM_TEST_STORAGE": storage or "", "POCL_MAX_PTHREAD_COUNT": "1", "OPENBLAS_NUM_THREADS": "1",
               "XDG_CACHE_HOME": options.cache, "POCL_CACHE_DIR": os.path.join(options.cache, "pocl")}
    if storage == "mipmapped":  # which no driver at hand has
        changed.update(OPENCL_LAYERS=os.path.join(options.build, "tests", "layer", "libtvlm_layer.so"), TVLM_LAYER_MIPMAPS="1")
    return {**os.environ, **changed}


def run(options, command, kernels, storage, limit=LIMIT):
    """How a command ends within `limit` seconds: "passed", "failed", "skipped", "late", or what is wrong with that; and the last
    lines that it wrote."""
    running = subprocess.Popen(command, cwd=ROOT, env=environment_of(options, kernels, storage), text=True, errors="replace",
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    late = threading.Timer(limit, running.kill)
    late.start()
    lines, failed = [], False
    for line in running.stdout:
        lines.append(line.rstrip())
        if storage and re.match(r"\[  FAILED  \] test|\[  FAILED  \] \w", line):  # the rest of the program adds nothing
            failed = True
            running.kill()
            break
    running.stdout.close()
    code = running.wait()
    in_time = late.is_alive()
    late.cancel()
    if any("does not build" in line for line in lines):
        return "the kernel does not build", lines
    if failed:
        return "failed", lines
    if not in_time:
        return "late", lines
    return {0: "passed", 77: "skipped"}.get(code, "failed"), lines


def try_plain(options, mutant):
    """As run does, and the seconds that it took."""
    began = time.monotonic()
    return *run(options, mutant.command, os.path.join(ROOT, "cl"), mutant.storage), time.monotonic() - began


def try_mutant(options, mutant, limit):
    """A test that does not end in many times the time that it takes otherwise has failed, too: what writes where it may not can
    leave the process waiting in its own allocator."""
    with tempfile.TemporaryDirectory(prefix="tvlm-mutant-") as folder:
        kernels = os.path.join(folder, "cl")
        wrong = mutant.write(kernels)
        if wrong:
            return wrong, []
        result, lines = run(options, mutant.command, kernels, mutant.storage, limit)
        if result == "late":
            return "failed", lines
        if result == "skipped" and any("does not pass the self-test" in line for line in lines):
            return "failed", lines  # with the kernels as they are it passes
        return result, lines


def report(result, mutant, started, lines, shown):
    print(f"{result:12} {mutant}, {mutant.test}, {time.monotonic() - started:.0f} s", flush=True)
    for line in lines[-shown:] if shown else []:
        print(f"             | {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--only", default="", help="mutants whose line has this word")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", default=os.path.join(ROOT, "out", "mutants"))
    options = parser.parse_args()
    options.build, options.cache = os.path.abspath(options.build), os.path.abspath(options.cache)
    os.makedirs(os.path.join(options.cache, "pocl"), exist_ok=True)
    mutants = [Mutant(options, *row) for row in KERNELS] + list(constants_of(options))
    mutants = [m for m in mutants if options.only in f"{m} {m.test}"]
    wrong, skipped, noticed, missed, started = [], [], [], [], time.monotonic()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tests = {(m.test, m.storage): m for m in mutants}
        plain = dict(zip(tests, pool.map(lambda m: try_plain(options, m), tests.values())))
        for key, (result, lines, _) in plain.items():
            if result not in ("passed", "skipped"):
                print(f"without a mutant {' '.join(filter(None, key))}: {result}\n" + "\n".join(lines[-20:]))
        print(f"without mutants: {sum(row[0] == 'passed' for row in plain.values())} of {len(plain)} tests pass, "
              f"{time.monotonic() - started:.0f} s", flush=True)
        running = {}
        for mutant in mutants:
            result, _, seconds = plain[mutant.test, mutant.storage]
            if result == "passed":
                running[pool.submit(try_mutant, options, mutant, max(120, 20 * seconds))] = mutant
            elif result == "skipped":
                skipped.append(mutant)
                report("skipped", mutant, started, [], 0)
            else:
                wrong.append(mutant)
                report("no test", mutant, started, [], 0)
        for done in concurrent.futures.as_completed(running):
            mutant, (result, lines) = running[done], done.result()
            {"failed": noticed, "passed": missed}.get(result, wrong).append(mutant)
            words = {"failed": "noticed", "passed": "NOT NOTICED"}.get(result, "WRONG: " + result)
            report(words, mutant, started, lines, 0 if result == "failed" else 8)

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(mutants)} mutants: {len(noticed)} noticed, {len(missed)} not noticed, {len(wrong)} wrong, {len(skipped)} skipped; "
          f"{time.monotonic() - started:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processors")
    # As ci/ctest counts.
    print(f"{len(noticed)} passed, {len(missed) + len(wrong)} failed, {len(skipped)} skipped")
    if not noticed and not missed and not wrong and skipped:
        return 77
    return 0 if noticed and not missed and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
