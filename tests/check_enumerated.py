#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_enumerated.py [FOLDER]: tests/test_enumerated.c of FOLDER (default: the project) has a row for every enumerated number that a public function takes, and none for what is not
there: an argument, or a member of a struct that an argument leads to through any number of structs and pointers. Names each that is missing or left over.

What a function fills in (a pointer without const, or a pointer to a pointer) is no such argument, nor what only the library
makes (MADE). Videos are a library of their own, which another test is linked to (ELSEWHERE: with what it has to say)."""
import re
import sys
from pathlib import Path

MADE = {"tvlm_safetensors"}
ELSEWHERE = {"tvlm_video_writer_add image.type": ("tests/test_io_video.c", "image.type = (tvlm_pixel_type)wrong_types[i]")}


def plain(path):
    """A header without comments and directives."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)


def members(body):
    """The type and the name of each member of a struct that is no function."""
    for declaration in body.split(";"):
        found = re.match(r"\s*(?:const\s+)?(?:struct\s+)?(\w+)\s+(.*)$", declaration, flags=re.DOTALL)
        if found is None or "(" in declaration:
            continue
        for name in found[2].split(","):
            yield found[1], re.search(r"(\w+)\s*(?:\[.*)?$", name.strip(), flags=re.DOTALL)[1]


def ways(kind, way, enums, structs, seen=()):
    """The ways from an argument of a type to the enumerated numbers in it."""
    if kind in enums:
        yield way
    elif kind in structs and kind not in seen and kind not in MADE:
        for of, name in members(structs[kind]):
            yield from ways(of, f"{way}.{name}", enums, structs, (*seen, kind))


def taken(folder):
    """"FUNCTION WAY" of each enumerated number that the headers' functions take."""
    text = "\n".join(plain(header) for header in sorted((folder / "include/texturevlm").rglob("*.h")))
    enums = set(re.findall(r"typedef enum (\w+)", text))
    structs = dict(re.findall(r"struct (\w+) \{(.*?)\n\}", text, flags=re.DOTALL))
    functions = re.findall(r"TVLM_API [^;{(]*?(\w+)\(([^;]*?)\)\s*(?:TVLM_PRINTF\([^)]*\)\s*)?;", text)
    if len(functions) < 200 or len(enums) < 20 or len(structs) < 70:
        sys.exit(f"check_enumerated: only {len(functions)} functions, {len(enums)} enumerations and {len(structs)} "
                 "structs were found in the headers, which it does not know how to read any more")
    for function, arguments in functions:
        for argument in arguments.split(","):
            found = re.match(r"\s*(const )?(?:struct )?(\w+) (\**)(\w+)(?:\[.*)?$", argument)
            if found and (found[3] == "" or (found[1] and found[3] == "*")):
                yield from (f"{function} {way}" for way in ways(found[2], found[4], enums, structs))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    test = (folder / "tests/test_enumerated.c").read_text()
    rows = re.findall(r'"(tvlm_\w+ [\w.]*\w)"', test)
    # Rows whose last member is the argument of a macro.
    for stem, macro in re.findall(r'"(tvlm_\w+ [\w.]+\.)" #(\w+)', test):
        rows += [stem + member for member in re.findall(r"FRAMES\(([\w.]+), tvlm", test)]
    rows += [row for row, (path, line) in ELSEWHERE.items() if line in (folder / path).read_text()]
    expected = sorted(taken(folder))
    wrong = [f"{way}: no row in tests/test_enumerated.c" for way in expected if way not in rows]
    wrong += [f"{row}: a row for what no header has" for row in rows if row not in expected]
    print("\n".join(wrong) or f"{len(expected)} enumerated numbers, a row for each")
    sys.exit(bool(wrong))


main()
