# SPDX-License-Identifier: Apache-2.0
"""Draws contact sheets: the images that answer a question, the best first, with their squares."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._arguments import Array, chars, floats, integer, short
from .._binding import ffi, lib
from .._core import LOG, ArgumentError, ArgumentTypeError, Error, OutOfMemoryError, call
from .._image import image_of
from .._show import Picture
from ._query import Found

_SIDE, _GAP, _LINE, _MOST = 240, 8, 12, 400
_BACKGROUND, _FAINT, _INK = (24, 24, 28), (120, 120, 120), (230, 230, 230)


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
    width, height = across * (_SIDE + _GAP) + _GAP, down * (_SIDE + _LINE + _GAP) + _GAP
    if max(width, height) > 32767:
        raise OutOfMemoryError(f"a sheet of {width} x {height} pixels; a side has at most 32767")
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = _BACKGROUND
    for i, one in enumerate(found):
        _draw(picture, i, one, (i % across) * (_SIDE + _GAP) + _GAP, (i // across) * (_SIDE + _LINE + _GAP) + _GAP, images)
    return Picture(picture)


def _draw(picture: Array, place: int, one: Found, x: int, y: int, images: Callable[[Found], Any] | None) -> None:
    scale = _SIDE / max(one.width, one.height)
    wide, high = max(1, round(one.width * scale)), max(1, round(one.height * scale))
    left, top = x + (_SIDE - wide) // 2, y + (_SIDE - high) // 2
    line = f"{place + 1}  {one.score:.3f}  {one.key.rsplit('/', 1)[-1]}"
    try:
        given = images(one) if images is not None else one.path
        if given is None:
            raise ArgumentError("no path")
        small = np.empty((high, wide, 3), np.uint8)
        call(lib.tvlm_draw_image, image_of(given).c, LOG, wide, high, _bytes(small))
        picture[top:top + high, left:left + wide] = small
    except OutOfMemoryError:
        raise
    except Error:
        _frame(picture, left, top, left + wide, top + high, 1, _FAINT)
        line += "  (cannot be read)"
    for rank in reversed(range(len(one.squares))):  # the best is drawn last, on top of the others
        cx, cy, sx, sy = (float(value) * scale for value in one.squares[rank])
        _frame(picture, left + round(cx - sx / 2), top + round(cy - sy / 2), left + round(cx + sx / 2), top + round(cy + sy / 2), 2,
               _colour(rank, len(one.squares)))
    params = ffi.new("struct tvlm_draw_text_params *", {"x": x, "y": y + _SIDE + 2, "room": _SIDE})
    params.red, params.green, params.blue = _INK
    call(lib.tvlm_draw_text, chars("a line", line.encode("ascii", "replace").decode().replace("\0", "?")), params, LOG,
         picture.shape[1], picture.shape[0], _bytes(picture), ffi.NULL)


def _frame(picture: Array, x0: int, y0: int, x1: int, y1: int, thickness: int, colour: Any) -> None:
    """Draws a frame along the inner side of the edges of an area, as far as it lies in the picture."""
    for left, top, right, bottom in ((x0, y0, x1, min(y0 + thickness, y1)), (x0, max(y1 - thickness, y0), x1, y1),
                                     (x0, y0, min(x0 + thickness, x1), y1), (max(x1 - thickness, x0), y0, x1, y1)):
        picture[max(0, top):max(0, bottom), max(0, left):max(0, right)] = colour


def _colour(rank: int, count: int) -> Array:
    """The colour that tvlm_draw_selection gives to a rank."""
    value = np.array([1 - np.float32(rank) / np.float32(count - 1) if count > 1 else 1], np.float32)
    rgb = np.empty(3, np.uint8)
    call(lib.tvlm_draw_colours, lib.TVLM_COLOURS_RANK, floats(value), 1, LOG, _bytes(rgb))
    return rgb


def _bytes(array: Array) -> Any:
    return ffi.cast("uint8_t *", array.__array_interface__["data"][0])
