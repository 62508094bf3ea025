#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what mutants are made of, without building any: that places.py breaks nothing but code, that all of kernels.py's texts stand in
the kernels, and that equivalent.py lists mutants that are there."""
import os
import sys

sys.dont_write_bytecode = True
from equivalent import EQUIVALENT  # noqa: E402
from kernels import CONSTANTS, KERNELS  # noqa: E402
from places import TOKEN, File, applied, name_of  # noqa: E402
from random_part import not_there  # noqa: E402
from run import pair_of  # noqa: E402
from tree import ROOT, read  # noqa: E402

SAMPLE = r'''/* a < b */
#include <stdio.h> // x + 1
#define WIDTH 3
#define AT(x, y) ((x) + 2 * (y))
enum { COUNT = 4 };
static const float table[] = {1.5f, 0x10, 1e-3};
static float *sum(const struct pair *p, int y) {
    char text[64];
    const char *words = "a < b; i = 0;", mark = '"';
    for (int x = 0; x < y && !mark; ++x) text[x] = (char)(x * y - -y);
    if (y > 1) {
        pthread_mutex_lock(&p->mutex);
        p->total += WIDTH;
        pthread_mutex_unlock(&p->mutex);
    }
    free(words);
    switch (y) {
    case 2: call(p, (int)y); break;
    default: *p->q = y ? p->a : p->b;
    }
    return p->width > y ? &table[0] : NULL;
}
'''
# LINE:WHAT IS THERE:OPERATION, in the order of the text.
EXPECTED = """3:3:+1 3:3:-1 5:4:+1 5:4:-1 6:1.5f:*1.1 6:1.5f:*2.0 6:0x10:+1 6:0x10:-1 6:1e-3:*1.1 6:1e-3:*2.0
10:0:+1 10:x:y 10:<:<= 10:y:x 10:&&:|| 10:!:without_! 10:x:y 10:text[x] = (char)(x * y - -y):remove 10:x:y 10:x:y 10:*:/ 10:y:x 10:-:+ 10:-:without_- 10:y:x
11:y:x 11:>:>= 11:1:+1 11:1:-1 12:lock:remove 13:p->total += WIDTH:remove 13:+=:-= 17:y:x 18:2:+1 18:2:-1 18:call(p, (int)y):remove 18:y:x
18:break:remove 19:y:x 21:width:height 21:>:>= 21:y:x 21:0:+1"""


def found_in_sample():
    file = File("sample.c", SAMPLE)
    for mutant in file.mutants():
        text = "lock" if mutant.kind == "lock" else SAMPLE[mutant.start:mutant.end]
        yield f"{mutant.line}:{text}:{mutant.operation}".replace("without ", "without_")


def wrong_in_sample():
    expected, found = " ".join(EXPECTED.split()), " ".join(found_in_sample())
    if found != expected:
        yield f"places.py finds\n{found}\nand not\n{expected}"
    lock = next(m for m in File("sample.c", SAMPLE).mutants() if m.kind == "lock")
    if "pthread_mutex" in applied(SAMPLE, lock) or "p->total += WIDTH;" not in applied(SAMPLE, lock):
        yield "the lock's mutant is not the function without it"


def wrong_in_files(files):
    """Each file is cut into tokens without a rest, and no mutant moves a line or is named like another."""
    for path, file in files.items():
        rest = TOKEN.sub("", file.text)
        if rest.strip():
            yield f"{path}: no token: {rest.split()[0]}"
        names = [name_of(mutant) for mutant in file.mutants()]
        if len(names) != len(set(names)):
            yield f"{path}: two mutants have one name"
        for mutant in file.mutants()[::50]:
            if applied(file.text, mutant).count("\n") != file.text.count("\n"):
                yield f"{name_of(mutant)} moves lines"


def wrong_in_lists(files):
    for file, _, _, what, text, _ in KERNELS:
        if files["cl/" + file].text.count(text) != 1:
            yield f"kernels.py: {file}: {what}: its text is there {files['cl/' + file].text.count(text)} times"
    constants = read(os.path.join(ROOT, "lib", "core", "constants.h"))
    for name, _, value, instead in CONSTANTS:
        if constants.count(pair_of(name, value, instead)[0]) != 1:
            yield f"kernels.py: constants.h does not define {name} as {value}"
    for row in not_there(files):
        yield f"equivalent.py: there is no such mutant: {row[:4]}"
    for row in EQUIVALENT:
        if len(row) != 5 or len(row[4]) < 10:
            yield f"equivalent.py: no reason: {row}"


def main():
    files = {}
    for folder in ("lib", "tools", "bench", "cl"):
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".cl", ".clh")):
                    file = os.path.relpath(os.path.join(path, name), ROOT)
                    files[file] = File(file, read(os.path.join(ROOT, file)))
    wrong = [*wrong_in_sample(), *wrong_in_files(files), *wrong_in_lists(files)]
    for line in wrong:
        print(line)
    print(f"{len(files)} files, {len(KERNELS) + len(CONSTANTS)} known mutants, {len(EQUIVALENT)} that change nothing: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
