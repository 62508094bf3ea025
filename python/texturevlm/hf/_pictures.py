# SPDX-License-Identifier: Apache-2.0
"""An image as several pictures: a small one of the whole, and crops where that loses most."""
from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np

from .._selection import Selection
from .._stack import SCORED, Stack

EXTRA = 2
"""Tokens of a prompt that each further picture takes: those before and after it."""

TRIES = 4
"""Numbers of patches without crops after which a picture counts as having none worth their tokens."""


@dataclasses.dataclass(frozen=True)
class Crop:
    """A part of an image, and the size in tokens at which it is shown. Left, top, right and bottom are pixels of the image."""

    box: tuple[int, int, int, int]
    columns: int
    rows: int


@dataclasses.dataclass(frozen=True)
class Cut:
    """A thumbnail of columns x rows tokens, and crops.

    kept: bool [rows, columns], False for the thumbnail's tokens in which nothing is seen.
    loss: what is predicted to be lost.
    """

    columns: int
    rows: int
    kept: Any
    crops: tuple[Crop, ...]
    loss: float

    @property
    def tokens(self) -> int:
        """All tokens that they take, with those around each further picture."""
        return int(self.kept.sum()) + sum(crop.columns * crop.rows + EXTRA for crop in self.crops)


def _tiles_of(selection: Selection, side: int) -> dict[int, set[tuple[int, int]]]:
    """The tiles of a budget: for each size, in thirds of a pixel, their columns and rows in a grid of that size.

    Among them are the tiles that a tolerance left out, since they equal others: in a picture they take their places.
    """
    found: dict[int, set[tuple[int, int]]] = {}
    for position in selection[selection.first:]:
        third = int(round(3 * position.size))
        found.setdefault(third, set()).add((int(3 * position.x // third), int(3 * position.y // third)))
    for column, row in selection.duplicates[:, :2].tolist():
        found.setdefault(3 * side, set()).add((column, row))
    return found


def _rectangles(cells: set[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Covers cells by rectangles (left, top, right, bottom) that do not overlap, each as wide and then as high as it goes."""
    left, found = set(cells), []
    for column, row in sorted(cells, key=lambda cell: (cell[1], cell[0])):
        if (column, row) not in left:
            continue
        right, bottom = column + 1, row + 1
        while (right, row) in left:
            right += 1
        while all((x, bottom) in left for x in range(column, right)):
            bottom += 1
        left -= {(x, y) for x in range(column, right) for y in range(row, bottom)}
        found.append((column, row, right, bottom))
    return found


def _grown(box: tuple[int, int, int, int], least: int, columns: int, rows: int) -> tuple[int, int, int, int] | None:
    """The rectangle with at least so many cells, grown within a grid of columns x rows; None: the grid has not so many."""
    left, top, right, bottom = box
    while (right - left) * (bottom - top) < least:
        wide, high = right - left, bottom - top
        if wide <= high and wide < columns or high >= rows:
            if wide >= columns:
                return None
            left, right = (left, right + 1) if right < columns else (left - 1, right)
        else:
            top, bottom = (top, bottom + 1) if bottom < rows else (top - 1, bottom)
    return left, top, right, bottom


def _cut_of(selection: Selection, side: int, least: int) -> Cut | None:
    """The pictures of a selection; None: it has no tiles, or they cannot be pictures of at least so many tokens."""
    columns, rows = selection.thumbnail
    kept = np.ones((rows, columns), bool)
    kept[tuple(selection.empty[:, ::-1].T)] = False
    crops = []
    for third, cells in sorted(_tiles_of(selection, side).items()):
        across, down = (-(-3 * extent // third) for extent in selection.image_size)
        for box in _rectangles(cells):
            grown = _grown(box, least, across, down)
            if grown is None:
                return None
            pixels = tuple(round(edge * third / 3) for edge in grown)
            crops.append(Crop(pixels, grown[2] - grown[0], grown[3] - grown[1]))  # type: ignore[arg-type]
    if not crops or columns * rows < least:
        return None
    crops.sort(key=lambda crop: (crop.box[1], crop.box[0]))
    return Cut(columns, rows, kept, tuple(crops), selection.loss)


def cut(pixels: Any, side: int, least: int, device: Any, *, tokens: int | None = None, tolerance: float | None = None) -> Cut | None:
    """A thumbnail and crops of at most so many tokens, or that lose no more than a tolerance; None: there are none.

    `least` is the number of tokens that a picture has at least.
    """
    with Stack(pixels, device=device, layout=SCORED) as stack:
        if tolerance is not None or tokens is None:
            return _cut_of(stack.select(strategy="budget", patch=side, tolerance=tolerance), side, least)
        wanted, without = tokens, 0
        while wanted >= 2 and without < TRIES:
            found = _cut_of(stack.select(wanted, strategy="budget", patch=side), side, least)
            if found is not None and found.tokens <= tokens:
                return found
            if found is None and wanted == tokens:
                return None
            if found is None:  # with fewer patches there may be crops again
                without += 1
                wanted -= max(1, wanted // 8)
            else:
                wanted -= max(1, (found.tokens - tokens + 1) // 2)  # with fewer patches there are fewer crops, too
    return None


def crop_of(image: Any, crop: Crop, side: int, resample: Any) -> Any:
    """The picture of a crop, of an image of PIL. What lies beyond the image repeats its border."""
    left, top, right, bottom = crop.box
    inside = image.crop((left, top, min(right, image.width), min(bottom, image.height)))
    if inside.size != (right - left, bottom - top):
        beyond = ((0, bottom - top - inside.height), (0, right - left - inside.width), (0, 0))
        inside = _from_array(np.pad(np.asarray(inside), beyond, mode="edge"))
    wanted = (crop.columns * side, crop.rows * side)
    return inside if inside.size == wanted else inside.resize(wanted, resample)


def _from_array(pixels: Any) -> Any:
    return importlib.import_module("PIL.Image").fromarray(pixels)
