# SPDX-License-Identifier: Apache-2.0
"""Draws contact sheets: the images that answer a question, the best first, with their squares."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._arguments import chars, integer, short
from .._binding import ffi, lib
from .._core import ArgumentError, ArgumentTypeError, Error, OutOfMemoryError
from .._image import image_of
from .._show import Picture
from ._query import Found

_SIDE, _GAP, _LINE, _MOST = 240, 8, 12, 400


def sheet(found: Sequence[Found], *, columns: int = 5, images: Callable[[Found], Any] | None = None) -> Picture:
    """Draws the images that `Index.query` found, as a contact sheet.

    Below each image stand its rank, its score and its name. Its squares have the colours that the tool gives to ranks.

    Parameters:
        found: the result of a query, at most 400 images.
        columns: how many images stand side by side.
        images: a function that gives the image of an entry of `found`, for images whose path is not valid any more. An image that
            cannot be read is drawn as an empty frame, and its line says so.
    """
    if not isinstance(found, (list, tuple)) or not all(isinstance(one, Found) for one in found):
        raise ArgumentTypeError(f"found is {short(found)}, not what a query gives")
    if not 1 <= len(found) <= _MOST:
        raise ArgumentError(f"{len(found)} images were found; a sheet shows 1 .. {_MOST}")
    across = min(integer("columns", columns, 1, 100), len(found))
    down = -(-len(found) // across)
    canvas = ffi.new("struct canvas *")
    width, height = across * (_SIDE + _GAP) + _GAP, down * (_SIDE + _LINE + _GAP) + _GAP
    if not lib.canvas_create(width, height, _color(24, 24, 28), canvas):
        raise OutOfMemoryError("no memory for the sheet, or a side above 32767 pixels")
    try:
        for i, one in enumerate(found):
            _draw(canvas, i, one, (i % across) * (_SIDE + _GAP) + _GAP, (i // across) * (_SIDE + _LINE + _GAP) + _GAP, images)
        shape = (canvas.height, canvas.width, 3)
        return Picture(np.frombuffer(ffi.buffer(canvas.rgb, int(np.prod(shape))), np.uint8).reshape(shape).copy())
    finally:
        lib.canvas_release(canvas)


def _draw(canvas: Any, place: int, one: Found, x: int, y: int, images: Callable[[Found], Any] | None) -> None:
    scale = _SIDE / max(one.width, one.height)
    wide, high = max(1, round(one.width * scale)), max(1, round(one.height * scale))
    left, top = x + (_SIDE - wide) // 2, y + (_SIDE - high) // 2
    line = f"{place + 1}  {one.score:.3f}  {one.key.rsplit('/', 1)[-1]}"
    try:
        given = images(one) if images is not None else one.path
        if given is None:
            raise ArgumentError("no path")
        picture = image_of(given)
        if not lib.canvas_image(canvas, _rect(left, top, left + wide, top + high), picture.c):
            raise OutOfMemoryError("no memory for the sheet")
    except OutOfMemoryError:
        raise
    except Error:
        lib.canvas_frame(canvas, _rect(left, top, left + wide, top + high), 1, _color(120, 120, 120), 1.0)
        line += "  (cannot be read)"
    for rank in reversed(range(len(one.squares))):  # the best is drawn last, on top of the others
        cx, cy, sx, sy = (float(value) * scale for value in one.squares[rank])
        area = _rect(left + round(cx - sx / 2), top + round(cy - sy / 2), left + round(cx + sx / 2), top + round(cy + sy / 2))
        lib.canvas_frame(canvas, area, 2, lib.draw_rank_color(rank, len(one.squares)), 1.0)
    text = ffi.new("char[128]")
    lib.canvas_fit_text(chars("a line", line.encode("ascii", "replace").decode().replace("\0", "?")), 1, _SIDE, text, 128)
    lib.canvas_text(canvas, x, y + _SIDE + 2, 1, _color(230, 230, 230), text)


def _rect(x0: int, y0: int, x1: int, y1: int) -> Any:
    return ffi.new("rect *", {"x0": x0, "y0": y0, "x1": x1, "y1": y1})[0]


def _color(r: int, g: int, b: int) -> Any:
    return ffi.new("color *", {"r": r, "g": g, "b": b})[0]
