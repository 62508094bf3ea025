#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/near.py ONE OTHER: whether two files of JSON say the same but for the name of the device, and for how sums were rounded: numbers
with a fraction may differ by 1e-5 of them. Exit 1 with the first place that differs."""
import json
import math
import sys


def differ(one, other, place=""):
    """Yields the places where they differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            if key != "device":
                yield from differ(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (a, b) in enumerate(zip(one, other)):
            yield from differ(a, b, f"{place}[{i}]")
    elif {type(one), type(other)} in ({float}, {float, int}):  # a score of 1 has no fraction
        if not math.isclose(one, other, rel_tol=1e-5):
            yield f"{place}: {one} and {other}"
    elif one != other:
        yield f"{place}: {one} and {other}"


with open(sys.argv[1], encoding="utf-8") as one, open(sys.argv[2], encoding="utf-8") as other:
    place = next(differ(json.load(one), json.load(other)), None)
if place is not None:
    sys.exit(f"{sys.argv[2]} differs: {place}")
