# SPDX-License-Identifier: Apache-2.0
"""random_part.py: breaks lib, tools and cl in places that a seed draws, and asks whether a test notices.

    tests/mutants/run.py random [--seed N] [--count 200] [--seconds 3600] [--only WORD] [--replay NAME] [--small] [--old-map]
                                [--jobs N] [--cache FOLDER]

places.py says what a mutant is. Only the tests that reach its line are run (reach.py; of kernels, those that make the kernel), those
named like the file first, then the fastest, with small pictures, until one fails; then the others again with pictures of their
usual size, where that makes a difference; and what none of them noticed is run under the address and the undefined-behaviour
sanitizer for a minute, as ci/full runs all tests. Where a lock is left out, what several threads do is run under the thread sanitizer
(ci/full, row threads), since without it a missing lock shows in one run of many. A mutant that does not compile, or becomes the same machine code, is drawn again. One
that equivalent.py lists is left aside. What no test reaches counts as not noticed, and a test that does not end as one that
noticed. A test that fails must have passed on what is not broken, too.

It ends with the share that was noticed and the diff of each mutant that was not. Exit: 0; 1 below 90 %, or where equivalent.py lists what
is not there; 2 bad options. When the seconds are over it stops, and the share is that of what was run. Where the map is not whole, as its
tests had no time yet, those without OpenCL judge alone, the mutants of OpenCL are left aside, and the share is the least that it may be.
"""
import argparse
import collections
import concurrent.futures
import difflib
import os
import queue
import random
import re
import shutil
import sys
import tempfile
import threading
import time

from equivalent import EQUIVALENT
from places import KINDS, File, applied, name_of
from reach import Reach
from tree import ROOT, Tree, environment_of, read, write
from trial import run

ENOUGH = 0.9
NOTHING = 77  # the exit where no mutant was judged
MUTANT_SECONDS = 300  # of processors, of tests for one mutant
SANITIZERS, SANITIZED_SECONDS = "address,undefined", 60  # the same, under these
THREADS = ("test_batch_room", "test_threads_stress", "test_pool", "test_pool_lost", "test_pool_select", "test_threads", "cli_batch_reference")  # ci/full, row threads


def sources(tree):
    """The files that are broken, of those that are compiled here: path and File."""
    compiled = tree.objects()
    found = {}
    for folder, ending in (("lib", ".c"), ("tools", ".c"), ("cl", (".cl", ".clh"))):
        for path, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            for name in sorted(names):
                file = os.path.relpath(os.path.join(path, name), ROOT)
                if name.endswith(ending) and (folder == "cl" or file in compiled):
                    found[file] = File(file, read(os.path.join(ROOT, file)))
    return found


def fits(row, mutant, file):
    """Whether a row of EQUIVALENT is about a mutant."""
    path, function, line, operation, _ = row
    return path == mutant.file and function in (None, mutant.function or "") and line in (None, file.line_text(mutant.line)) and \
        operation in (None, mutant.kind, mutant.operation, f"{mutant.column}:{mutant.operation}")


def listed(mutant, file):
    """Whether a mutant is equivalent to what is there."""
    return any(fits(row, mutant, file) for row in EQUIVALENT)


def not_there(files):
    """The rows of EQUIVALENT that fit no mutant."""
    for row in EQUIVALENT:
        file = files.get(row[0])
        if file is None:
            if not os.path.exists(os.path.join(ROOT, row[0])):
                yield row  # else it is not compiled here
        elif not any(fits(row, mutant, file) for mutant in file.mutants()):
            yield row


def drawn(files, seed, only):
    """Mutants without end, or until there are no more: first a kind, by its weight, then one of that kind."""
    rng = random.Random(seed)
    kinds = {kind: [] for kind in KINDS}
    for path in sorted(files):
        for mutant in files[path].mutants():
            if only in name_of(mutant):
                kinds[mutant.kind].append(mutant)
    for mutants in kinds.values():
        rng.shuffle(mutants)
    while any(kinds.values()):
        there = [kind for kind in KINDS if kinds[kind]]
        yield kinds[rng.choices(there, [KINDS[kind] for kind in there])[0]].pop()


class Judge:
    """Tries mutants in trees of its own, one for each thread."""

    def __init__(self, options, reach, files, trees, deadline):
        self.options, self.reach, self.files, self.deadline = options, reach, files, deadline
        self.trees, self.objects = trees, trees[0].objects()
        self.free = queue.Queue()
        for tree in trees:
            self.free.put(tree)
        self.sound, self.unsound = set(), set()
        self.sanitized, self.one_sanitized = {}, threading.Lock()  # trees by sanitizer, which one mutant at a time has
        names = {f for file in files.values() if file.path.startswith("cl/") for f in file.functions if f}
        self.kernels = names & {k for row in reach.tests.values() for k in row["kernels"]}
        self.users = self.users_of_kernel_files()

    # ---- Which tests ----

    def users_of_kernel_files(self):
        """For each file of cl/ the kernels of all files that it is part of."""
        include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
        kernel_files = {path: file for path, file in self.files.items() if path.startswith("cl/")}
        users = collections.defaultdict(set)
        for path, file in kernel_files.items():
            seen, open_files = set(), [path]
            while open_files:
                at = open_files.pop()
                if at in seen or at not in kernel_files:
                    continue
                seen.add(at)
                open_files += ["cl/" + name for name in include.findall(kernel_files[at].text)]
            for at in seen:
                users[at] |= set(file.functions) & self.kernels
        return users

    def lines_of(self, file, mutant):
        """The first and last line of the function that a mutant is in."""
        places = [file.tokens[i].start for i, name in enumerate(file.functions) if name == mutant.function]
        return file.line_of(places[0]), file.line_of(places[-1])

    def tests_of(self, mutant):
        """The tests that may notice, in the order in which they are run."""
        file = self.files[mutant.file]
        if mutant.file.startswith("cl/"):
            names = {mutant.function} if mutant.function in self.kernels else self.users[mutant.file]
            rows = self.reach.tests_of_kernels(names)
        elif mutant.function is not None:
            lines = self.lines_of(file, mutant)
            rows = self.reach.tests_of_line(mutant.file, lines, mutant.line)
            if not rows:  # pictures of the usual size may reach it: the map is of small ones
                rows = self.reach.tests_of_file(mutant.file, range(lines[0], lines[1] + 1))
        else:
            rows = self.reach.tests_of_file(mutant.file, self.users_of_name(file, mutant))
        # What failed where coverage was measured may pass here: that writes files of its own. is_sound() tries.
        words = [word for word in re.split(r"[_.]", os.path.basename(mutant.file))[:-1] if len(word) > 2]
        rows = [row for row in rows if row["result"] in ("passed", "failed") and row["test"] in self.trees[0].tests and row["device"] in self.reach.complete]
        return sorted(rows, key=lambda row: (not any(word in row["test"] for word in words) or row["seconds"] > 60, row["seconds"]))

    def users_of_name(self, file, mutant):
        """The lines of functions that name the constant or table which a mutant outside of functions is in; none: not known."""
        before = [i for i, token in enumerate(file.tokens) if token.start <= mutant.start]
        token = file.tokens[before[-1]]
        if token.kind == "directive":
            name = re.match(r"\s*#\s*define\s+(\w+)", token.text)[1]
        else:
            words = [i for i in before if file.tokens[i].text == "=" and file.functions[i] is None]
            name = next((file.tokens[i].text for i in range(words[-1], -1, -1) if file.tokens[i].kind == "word"), None) if words else None
        return {file.line_of(t.start) for i, t in enumerate(file.tokens) if t.text == name and file.functions[i] is not None}

    # ---- One mutant ----

    def judge(self, mutant):
        """(result, what noticed it or what is wrong, tests that were run). Results: noticed, missed, no test, discarded, unfinished."""
        tests = self.tests_of(mutant)
        if mutant.kind == "lock":
            return self.judge_lock(mutant)
        if not tests:
            return "no test", "", 0
        is_kernel = mutant.file.startswith("cl/")
        tree = self.free.get()
        try:
            if time.monotonic() > self.deadline:
                return "unfinished", "", 0
            plain = (self.judge_kernel if is_kernel else self.judge_file)(tree, mutant, tests)
        finally:
            self.free.put(tree)
        if plain[0] != "missed" or is_kernel:
            return plain
        rows = sorted((row for row in tests if row["device"] == "reference"), key=lambda row: row["seconds"])
        watched = self.judge_sanitized(SANITIZERS, mutant, rows, SANITIZED_SECONDS)
        return (*watched[:2], plain[2] + watched[2]) if watched[0] == "noticed" else plain

    def judge_lock(self, mutant):
        rows = [{"test": name, "seconds": 6} for name in THREADS]
        return self.judge_sanitized("thread", mutant, rows, 600)

    def sanitized_tree(self, sanitizer):
        """The tree of a sanitizer, made when it is first needed."""
        if sanitizer not in self.sanitized:
            tree = Tree(self.options.cache, "tree-" + sanitizer.split(",")[0],
                        ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DTVLM_SANITIZE={sanitizer}"])
            wrong = tree.make()  # all of it: ctest does not say the command of a test whose program is not built
            if wrong:
                raise RuntimeError(f"the tree of the {sanitizer} sanitizer: {wrong}")
            self.sanitized[sanitizer] = tree
        return self.sanitized[sanitizer]

    def judge_sanitized(self, sanitizer, mutant, rows, seconds):
        """The same as judge(), of tests on the reference that a sanitizer watches, until their processors took `seconds`."""
        with self.one_sanitized:
            if time.monotonic() > self.deadline:
                return "unfinished", "", 0
            tree = self.sanitized_tree(sanitizer)
            path, text = os.path.join(tree.folder, mutant.file), self.files[mutant.file].text
            try:
                write(path, applied(text, mutant))
                spent, count, under = 0.0, 0, f"under the sanitizer {sanitizer}"
                for test, limit in ((tree.tests[row["test"]], 60 + 20 * row["seconds"]) for row in rows if row["test"] in tree.tests):
                    if spent > seconds:
                        break
                    if not test.command or (test.name, sanitizer) in self.unsound:
                        continue
                    result, took = self.run_sanitized(tree, test, limit)
                    spent, count = spent + took, count + 1
                    if result in ("discarded", "unfinished"):
                        return result, "does not link", count
                    if result == "failed" and self.is_sound_sanitized(tree, test, sanitizer, mutant, limit):
                        return "noticed", f"{test.name}, {under}", count
                return "missed", f"by {count} tests {under}", count
            finally:
                write(path, text)

    def run_sanitized(self, tree, test, limit):
        """How a test ends on what is in the tree now: passed, failed, discarded, unfinished; and its seconds."""
        if tree.build_for(test):
            return "discarded", 0.0
        limit = min(limit, self.deadline - time.monotonic())
        if limit < 1:
            return "unfinished", 0.0
        with tempfile.TemporaryDirectory(prefix="tvlm-trial-") as folder:
            environment = environment_of(test, "reference", self.options.cache, TMPDIR=folder)
            result, _, seconds = run(test.command, test.folder, environment, limit, bounded=False)
        if result == "late" and time.monotonic() > self.deadline:
            return "unfinished", seconds
        return "passed" if result in ("passed", "skipped") else "failed", seconds

    def is_sound_sanitized(self, tree, test, sanitizer, mutant, limit):
        """The same as is_sound(), under a sanitizer, in the same time."""
        key, path = (test.name, sanitizer), os.path.join(tree.folder, mutant.file)
        if key not in self.sound:
            write(path, self.files[mutant.file].text)
            passed = self.run_sanitized(tree, test, limit)[0] == "passed"
            write(path, applied(self.files[mutant.file].text, mutant))
            (self.sound if passed else self.unsound).add(key)
        return key in self.sound

    def judge_kernel(self, tree, mutant, tests):
        with tempfile.TemporaryDirectory(prefix="tvlm-mutant-") as folder:
            kernels = os.path.join(folder, "cl")
            shutil.copytree(os.path.join(ROOT, "cl"), kernels)
            write(os.path.join(folder, mutant.file), applied(self.files[mutant.file].text, mutant))
            return self.run_tests(tree, mutant, tests, {"TVLM_CL_DIR": kernels})

    def judge_file(self, tree, mutant, tests):
        path = os.path.join(tree.folder, mutant.file)
        text, objects = self.files[mutant.file].text, self.objects[mutant.file]
        if tree.build_targets(*objects):
            return "discarded", "does not compile as it is", 0
        plain = [self.bytes_of(tree, name) for name in objects]
        try:
            write(path, applied(text, mutant))
            if tree.build_targets(*objects):
                return "discarded", "does not compile", 0
            if [self.bytes_of(tree, name) for name in objects] == plain:
                return "discarded", "the same machine code", 0
            return self.run_tests(tree, mutant, tests, {})
        finally:
            write(path, text)

    def bytes_of(self, tree, name):
        with open(os.path.join(tree.build, name), "rb") as file:
            return file.read()

    def run_tests(self, tree, mutant, rows, changed):
        spent, count = 0.0, 0
        usual = [] if self.options.small else [row for row in rows if self.has_sizes(row["test"])]
        for small, row in [("1", row) for row in rows] + [("", row) for row in usual]:
            if time.monotonic() > self.deadline:
                return "unfinished", "", count
            if spent > MUTANT_SECONDS:
                return "missed", f"by {count} of {len(rows)} tests in {MUTANT_SECONDS} s", count
            test, key = tree.tests[row["test"]], (row["test"], row["device"], small)
            if key in self.unsound:
                continue
            wrong = tree.build_for(test)
            if wrong:
                return "discarded", "does not link", count
            limit = max(60, 20 * row["seconds"]) if small else 600
            result, seconds = self.run_test(tree, key, max(1, min(limit, self.deadline - time.monotonic())), changed)
            if result == "late" and time.monotonic() > self.deadline:
                return "unfinished", "", count
            spent += seconds
            count += 1
            if result == "the kernel does not build" and changed:
                return "discarded", "does not build", count
            if result in ("passed", "skipped"):
                self.sound.add(key)
                continue
            if self.is_sound(tree, mutant, key):
                return "noticed", test.name + ("" if row["device"] == "default" else ", on the reference") + \
                    (" (does not end)" if result == "late" else ""), count
        return "missed", f"by {count} tests", count

    def run_test(self, tree, key, limit, changed):
        name, device, small = key
        test = tree.tests[name]
        with tempfile.TemporaryDirectory(prefix="tvlm-trial-") as folder:
            environment = environment_of(test, device, self.options.cache, TMPDIR=folder, TVLM_TEST_SMALL=small, **changed)
            result, _, seconds = run(test.command, test.folder, environment, limit)
            return result, seconds

    def has_sizes(self, name):
        """Whether a test knows small pictures from others."""
        path = os.path.join(ROOT, "tests", name + ".c")
        return os.path.exists(path) and bool(re.search(r"test_small|support_stage\.h", read(path)))

    def is_sound(self, tree, mutant, key):
        """Whether a test that failed passes on what is not broken, which is tried once."""
        if key in self.sound:
            return True
        path, text = os.path.join(tree.folder, mutant.file), self.files[mutant.file].text
        is_kernel = mutant.file.startswith("cl/")
        if not is_kernel:
            write(path, text)
        passed = tree.build_for(tree.tests[key[0]]) is None and self.run_test(tree, key, 600, {})[0] in ("passed", "skipped")
        if not is_kernel:
            write(path, applied(text, mutant))
        (self.sound if passed else self.unsound).add(key)
        if not passed:
            print(f"with no mutant {' '.join(key[:2])} does not pass; it judges none", flush=True)
        return passed


def diff_of(file, mutant):
    changed = applied(file.text, mutant)
    lines = difflib.unified_diff(file.text.splitlines(), changed.splitlines(), mutant.file, mutant.file, n=1, lineterm="")
    return "\n".join("    " + line for line in list(lines)[2:16])


def report(results, files, aside, wanted):
    """Prints what came of it; returns the share that was noticed, and how many mutants it is of."""
    judged = [row for row in results if row[1] in ("noticed", "missed", "no test")]
    noticed = [row for row in judged if row[1] == "noticed"]
    for mutant, result, words in judged:
        if result != "noticed":
            print(f"\nNOT NOTICED {name_of(mutant)} ({mutant.kind}{', in ' + mutant.function if mutant.function else ''}): "
                  f"{'no test reaches it' if result == 'no test' else words}\n{diff_of(files[mutant.file], mutant)}")
    print(f"\n{'':12}{'noticed':>9}{'not':>6}{'share':>8}")
    groups = [(kind, lambda m, kind=kind: m.kind == kind) for kind in KINDS]
    groups += [(folder, lambda m, folder=folder: m.file.startswith(folder + "/")) for folder in ("lib", "tools", "cl")]
    for name, belongs in groups:
        yes, all_of = sum(belongs(row[0]) for row in noticed), sum(belongs(row[0]) for row in judged)
        if all_of:
            print(f"{name:12}{yes:9}{all_of - yes:6}{100 * yes / all_of:7.1f}%")
    share = len(noticed) / len(judged) if judged else 1.0
    print(f"{len(judged)} of {wanted} mutants run: {len(noticed)} noticed ({100 * share:.1f} %), {len(judged) - len(noticed)} not; left aside: " +
          (", ".join(f"{count} {why}" for why, count in aside.items()) or "none"))
    print(f"{len(noticed)} of {len(judged)} drawn mutants noticed")
    if 0 < len(judged) < wanted / 2:
        print("*** WARNING: the time was over before half of them had run ***")
    return share, len(judged)


def arguments(words):
    parser = argparse.ArgumentParser(prog="run.py random", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="what is drawn (default: the day's second)")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=3600.0, help="it ends when they are over")
    parser.add_argument("--only", default="", help="mutants whose name has this word, as lib/select/budget")
    parser.add_argument("--replay", default=None, metavar="NAME", help="one mutant, FILE:LINE:COLUMN:OPERATION")
    parser.add_argument("--small", action="store_true", help="small pictures only: quicker, and notices a little less")
    parser.add_argument("--old-map", action="store_true", help="a map of an older state of the code will do; only what is new or changed among the tests is measured")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", default=os.path.join(ROOT, "out", "mutants"))
    options = parser.parse_args(words)
    if options.count < 1 or options.seconds <= 0 or options.jobs < 1:
        parser.error("--count, --seconds and --jobs must be positive")
    options.seed = int(time.time()) % 86400 if options.seed is None else options.seed
    options.cache = os.path.abspath(options.cache)
    os.makedirs(os.path.join(options.cache, "pocl"), exist_ok=True)
    return options


def prepare(options, started, deadline):
    """The map and the trees; or None where the time was over, or something does not build."""
    def say(words):
        print(f"{time.monotonic() - started:6.0f} s  {words}", flush=True)
    reach = Reach(options.cache)
    if not reach.load():
        if options.old_map:
            reach.forget_changed_tests()
        wrong = reach.measure(options.cache, options.jobs, started + 0.6 * options.seconds, options.old_map, say)
        if wrong:
            say(wrong)
            return None, None, True
    if "reference" not in reach.complete:
        say("no mutants: not all tests have run once yet; the next run goes on there")
        return None, None, False
    say(f"{len(reach.tests)} tests" + (f", which ran before {len(reach.changed)} files changed" if reach.changed else ""))
    trees = [Tree(options.cache, f"tree-{n}") for n in range(1 if options.replay else options.jobs)]
    for tree in trees:
        wrong = tree.make()  # all of it: ctest does not say the command of a test whose program is not built
        if wrong:
            say(wrong)
            return None, None, True
    say("built")
    return reach, trees, False


def main(words):
    options = arguments(words)
    started = time.monotonic()
    deadline = started + options.seconds
    reach, trees, wrong = prepare(options, started, deadline)
    if reach is None:
        return 1 if wrong else NOTHING
    files = sources(trees[0])
    gone = list(not_there(files))
    for row in gone:
        print(f"equivalent.py: there is no such mutant any more: {row[:4]}")
    judge = Judge(options, reach, files, trees, deadline)
    if options.replay:
        named = [m for m in files[options.replay.split(":")[0]].mutants() if name_of(m) == options.replay] \
            if options.replay.split(":")[0] in files else []
        if not named:
            print(f"there is no mutant {options.replay}", file=sys.stderr)
            return 2
        print(diff_of(files[named[0].file], named[0]))
        print("tests: " + ", ".join(row["test"] for row in judge.tests_of(named[0])))
        print(*judge.judge(named[0]))
        return 0
    print(f"seed {options.seed}, {options.count} mutants, at most {options.seconds:.0f} s", flush=True)
    share, judged = try_all(options, judge, files, started, deadline)
    if not judged:
        return NOTHING
    is_whole = "default" in reach.complete
    if not is_whole:
        print("*** WARNING: the tests on a device have not all run once; they may notice more ***")
    return 1 if gone or is_whole and share < ENOUGH else 0


def try_all(options, judge, files, started, deadline):
    results, aside = [], collections.Counter()
    supply, waiting = drawn(files, options.seed, options.only), {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while True:
            judged = sum(row[1] in ("noticed", "missed", "no test") for row in results)
            while judged + len(waiting) < options.count and len(waiting) < options.jobs and time.monotonic() < deadline:
                mutant = next(supply, None)
                if mutant is None:
                    break
                if listed(mutant, files[mutant.file]):
                    aside["listed as equivalent"] += 1
                    continue
                if "default" not in judge.reach.complete and mutant.file.startswith(("cl/", "lib/opencl/")):
                    aside["on OpenCL, where not all tests have run once yet"] += 1
                    continue
                waiting[pool.submit(judge.judge, mutant)] = mutant, time.monotonic()
            if not waiting:
                break
            for done in concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done:
                (mutant, began), (result, words, count) = waiting.pop(done), done.result()
                if result == "discarded":
                    aside[words] += 1
                elif result == "unfinished":
                    aside["unfinished"] += 1
                print(f"{time.monotonic() - started:6.0f} s  {result:10} {name_of(mutant)}  {words}, {count} tests, "
                      f"{time.monotonic() - began:.0f} s", flush=True)
                results.append((mutant, result, words))
    return report(results, files, aside, options.count)
