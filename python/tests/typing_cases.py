# SPDX-License-Identifier: Apache-2.0
"""What type checkers know of the package (ci/python-types): nothing here runs. A comment that ignores what is no error is one."""
from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import texturevlm as tv

Array = npt.NDArray[Any]
pixels = np.zeros((32, 32, 3), np.uint8)

# One image, one answer; a list, a list.
assert_type(tv.select("photo.jpg"), tv.Selection)
assert_type(tv.select(pixels, 40, strategy="grid", device=None, max_side=64), tv.Selection)
assert_type(tv.select([pathlib.Path("photo.jpg"), pixels], share=0.5), "list[tv.Selection]")
assert_type(tv.select(["photo.jpg"], errors="skip", progress=True), "list[tv.Selection | tv.Error]")
assert_type(tv.select(b"bytes", device="reference"), tv.Selection)
with open("photo.jpg", "rb") as file:
    assert_type(tv.select(file), tv.Selection)
assert_type(tv.channels(pixels, "r"), Array)
assert_type(tv.channels([pixels], "r"), "list[Array]")
assert_type(tv.channels(["photo.jpg", pixels], "r", errors="skip"), "list[Array | tv.Error]")
with tv.Stack(pixels, layout="r,g,b") as stack, tv.Session() as session, tv.VideoStream("screen") as stream:
    assert_type(stack.select(20, strategy="quadtree"), tv.Selection)
    assert_type(session.select(pixels, 20), tv.Selection)
    assert_type(stream.select(20), tv.Selection)
    assert_type(stack.channels("r"), Array)

# A sequence, and its values.
selection = tv.select("photo.jpg")
assert_type(selection[0], tv.Position)
assert_type(selection[:10], tv.Selection)
assert_type([position.score for position in selection], "list[float]")
assert_type(selection.xy, Array)
assert_type(selection.cells((24, 24)), "list[Array]")
assert_type(selection.to_dict(), "dict[str, Any]")
assert_type(selection.grid, "tuple[int, int]")

keys = tv.Texture(np.ones((4, 4, 8)))
assert_type(tv.hierarchical_attention(np.ones(8), keys), Array)
tv.hierarchical_attention(np.ones(8), keys, details=True).map.sum()
assert_type(tv.patches(pixels, selection), Array)
assert_type(tv.export(pixels, "llava"), "dict[str, Array]")
assert_type(tv.pictures("photo.jpg", budget=256), tv.Pictures)
assert_type(tv.pictures(pixels)[0], "dict[str, Any]")
assert_type(tv.pictures(pixels).tokens, int)

# Names are the library's, and nothing else.
tv.select("photo.jpg", strategy="best")  # type: ignore
tv.pictures("photo.jpg", way="pruned")  # type: ignore
tv.select("photo.jpg", preset="document")  # type: ignore
tv.select("photo.jpg", strategey="grid")  # type: ignore
tv.select(3)  # type: ignore
tv.export(pixels, "no such model")  # type: ignore
tv.Stack(pixels, format="f64")  # type: ignore
tv.VideoStream("film")  # type: ignore
tv.nothing  # type: ignore
