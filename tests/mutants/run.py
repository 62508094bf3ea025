#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the kernels in known places (kernels.py), one at a time, and asks whether a test notices.

    tests/mutants/run.py BUILD [--only WORD] [--jobs N] [--cache FOLDER] [--seconds N [--turn N]]
    tests/mutants/run.py random ...     breaks lib, tools and cl in places that a seed draws: random_part.py

A mutant is a copy of cl/ in which one text is replaced; TVLM_CL_DIR hands it to the programs of BUILD, so nothing is built
anew. Its text must be there exactly once: where the kernels have changed, kernels.py is to follow. A constant of
lib/core/constants.h is replaced in the kernels' copy of it; what judges that is a check that does not ask the reference
(CHECKS), and whose answer is therefore the same as if the reference had the mutant too.

Before that each test must pass with the kernels as they are. Noticed is a mutant whose test then fails, or by which the storage
does not pass the self-test; a kernel that does not
build, and a test that ends in nothing, are errors here. Tests run with TVLM_TEST_SMALL and TVLM_TEST_QUICK on the first CPU
device. Compiled kernels are kept (--cache, out/mutants): a second time takes less.

With --seconds it ends when they are over. The mutants begin with another one in each --turn, so that some runs try all.

Exit: 0; 1 where one is not noticed, or something is wrong with a mutant or its test; 77 where all are skipped, or of those that are drawn none was judged in the time. Skipped are mutants of a storage that the
device does not have, and of constants where ../shared/data or a package is missing.
"""
import argparse
import concurrent.futures
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing of ours is left in the folder
import random_part  # noqa: E402
import trial  # noqa: E402
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
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name)) as file:
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
    """As trial.run, without the seconds of processors."""
    return trial.run(command, ROOT, environment_of(options, kernels, storage), limit, stops=bool(storage))[:2]


def try_plain(options, mutant, limit):
    """As run does, and the seconds that it took."""
    began = time.monotonic()
    return *run(options, mutant.command, os.path.join(ROOT, "cl"), mutant.storage, limit), time.monotonic() - began


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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--only", default="", help="mutants whose line has this word")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", default=os.path.join(ROOT, "out", "mutants"))
    parser.add_argument("--seconds", type=float, default=None, help="it ends when they are over")
    parser.add_argument("--turn", type=int, default=0, help="with --seconds: which mutants come first")
    options = parser.parse_args()
    options.build, options.cache = os.path.abspath(options.build), os.path.abspath(options.cache)
    os.makedirs(os.path.join(options.cache, "pocl"), exist_ok=True)
    return options


def tried_together(options, mutants):
    """The mutants by their tests: what is tried before the time is over needs few runs without a mutant."""
    groups = {}
    for mutant in mutants:
        groups.setdefault((mutant.test, mutant.storage), []).append(mutant)
    ordered = list(groups.values())
    if options.seconds is not None:
        random.Random(options.turn).shuffle(ordered)
    return ordered


def try_group(options, mutants, started):
    """Yields (mutant, result, lines) for the mutants of one test, first of which it is run without any."""
    def left():
        return LIMIT if options.seconds is None else options.seconds - (time.monotonic() - started)
    if left() <= 0:
        return
    result, lines, seconds = try_plain(options, mutants[0], min(LIMIT, left()))
    if result == "late" and left() <= 0:
        return
    if result not in ("passed", "skipped"):
        print(f"without a mutant {' '.join(filter(None, (mutants[0].test, mutants[0].storage)))}: {result}\n" + "\n".join(lines[-20:]), flush=True)
    for mutant in mutants:
        if left() <= seconds:  # it could not end
            return
        if result == "passed":
            outcome = try_mutant(options, mutant, min(left(), max(120, 20 * seconds)))
            if left() <= 0 and outcome[0] == "failed" and not any("FAILED" in line for line in outcome[1]):
                return
            yield mutant, *outcome
        else:
            yield mutant, "skipped" if result == "skipped" else "no test", []


def main():
    if sys.argv[1:2] == ["random"]:
        return random_part.main(sys.argv[2:])
    options = arguments()
    mutants = [Mutant(options, *row) for row in KERNELS] + list(constants_of(options))
    mutants = [m for m in mutants if options.only in f"{m} {m.test}"]
    wrong, skipped, noticed, missed, started = [], [], [], [], time.monotonic()

    def try_all_of(group):
        for mutant, result, lines in try_group(options, group, started):
            {"failed": noticed, "passed": missed, "skipped": skipped}.get(result, wrong).append(mutant)
            words = {"failed": "noticed", "passed": "NOT NOTICED", "skipped": "skipped"}.get(result, "WRONG: " + result)
            report(words, mutant, started, lines, 0 if result in ("failed", "skipped") else 8)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(try_all_of, group) for group in tried_together(options, mutants)]:
            done.result()

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(noticed) + len(missed) + len(wrong) + len(skipped)} of {len(mutants)} mutants: "
          f"{len(noticed)} noticed, {len(missed)} not noticed, {len(wrong)} wrong, {len(skipped)} skipped; "
          f"{time.monotonic() - started:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processors")
    # As ci/ctest counts.
    print(f"{len(noticed)} passed, {len(missed) + len(wrong)} failed, {len(skipped)} skipped")
    if not noticed and not missed and not wrong and skipped:
        return 77
    return 0 if noticed and not missed and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
