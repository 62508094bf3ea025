#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_channels.py LIBTEXTUREVLM.so: doc/channels.md has every channel with its number, name, family and range, and every
layout with its channels, as the library has them; and none that the library does not have."""
import ctypes
import math
import re
import sys
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "doc/channels.md"
FIRST_USER = 65536


class Info(ctypes.Structure):
    """tvlm_channel_info, and room for what it may grow by."""
    _fields_ = [("name", ctypes.c_char * 32), ("family", ctypes.c_char_p), ("channel", ctypes.c_int32),
                ("low", ctypes.c_float), ("high", ctypes.c_float), ("identifier", ctypes.c_bool),
                ("available", ctypes.c_bool), ("room", ctypes.c_uint64 * 16)]


def table(text, first_column):
    """The rows of the table whose first column has that name, as lists of cells."""
    lines = text.split(f"\n| {first_column} | ")[1].split("\n\n")[0].split("\n")[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def spread(cell, names):
    """Numbers and names of a row: "9, 10" and `x`, `y`; or "18 .. 33" and `embedding_0` .. `embedding_15`."""
    ends = [int(number) for number in re.findall(r"\d+", cell)]
    names = re.findall(r"`(\w+)`", names)
    if ".." not in cell or len(ends) == 1:
        return list(zip(ends, names, strict=True))
    stem, first = names[0].rsplit("_", 1)
    listed = [(number, f"{stem}_{int(first) + number - ends[0]}") for number in range(ends[0], ends[1] + 1)]
    return listed if listed[-1][1] == names[1] else []


def bounds(cell):
    numbers = re.match(r"[\[{]?(-?\d+)(?:, | \.\. )(-?\d+)", cell)
    return (float(numbers[1]), float(numbers[2])) if numbers else (-math.inf, math.inf)


def check_row(library, row, seen):
    wrong, channels = [], spread(row[0], row[1])
    if not channels:
        return [f"{row[0]}: its names do not go with its numbers"]
    for number, name in channels:
        info = Info()
        if library.tvlm_channel_get_info(number, ctypes.byref(info)) != 0:
            wrong.append(f"{number}: the library has no such channel")
            continue
        seen.add(number)
        said = (name, row[2], bounds(row[3]), "identifier" in row[3])
        has = (info.name.decode(), info.family.decode(), (info.low, info.high), info.identifier)
        if said != has:
            wrong.append(f"{number}: {said}; the library has {has}")
    return wrong


def check_layouts(library, text):
    wrong, documented = [], {row[0].strip("`"): row[1] for row in table(text, "name")}
    library.tvlm_layout_name.restype = ctypes.c_char_p
    names = [name.decode() for name in iter((library.tvlm_layout_name(i) for i in range(100)).__next__, None)]
    if sorted(names) != sorted(documented):
        wrong.append(f"layouts {sorted(documented)}; the library has {sorted(names)}")
    for name, said in documented.items():
        said = said.replace("those of patch13, then", documented["patch13"])
        channels = []
        for word in said.replace(",", "").replace(" - ", "-").split():
            ends = [int(end) for end in word.split("-")] if word[0].isdigit() else [library.tvlm_channel_find(word.encode())] * 2
            channels += range(ends[0], ends[1] + 1)
        has, count = (ctypes.c_int32 * 8192)(), ctypes.c_int32()
        library.tvlm_layout_parse(name.encode(), None, 8192, has, ctypes.byref(count))
        if channels != has[:count.value]:
            wrong.append(f"layout {name}: {channels}; the library has {has[:count.value]}")
    return wrong


def main():
    library = ctypes.CDLL(sys.argv[1])
    text = DOCUMENT.read_text(encoding="utf-8")
    wrong, seen, info = [], set(), Info()
    for row in table(text, "number"):
        if int(re.match(r"\d+", row[0])[0]) < FIRST_USER:
            wrong += check_row(library, row, seen)
    for number in range(FIRST_USER):
        if number not in seen and library.tvlm_channel_get_info(number, ctypes.byref(info)) == 0:
            wrong.append(f"{number}: {info.name.decode()} is not in the table")
    wrong += check_layouts(library, text)
    print("\n".join(wrong[:20]) if wrong else f"{len(seen)} channels, all as documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
