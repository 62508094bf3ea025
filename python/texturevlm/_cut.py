# SPDX-License-Identifier: Apache-2.0
"""An image as several pictures: a small one of the whole, and crops where that loses most."""
from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from ._selection import Selection
from ._stack import SCORED, Stack

EXTRA = 2
"""Tokens of a prompt that each further picture takes in models of transformers: those before and after it."""

TRIES = 4
"""Numbers of patches without crops after which a picture counts as having none worth their tokens."""

SHARES = (0.25, 0.35, 0.42, 0.5, 0.6, 0.7, 0.85, 0.95)
"""The shares of the tokens that are tried as numbers of patches, where what crops take beside their own is known only afterwards."""
PARTS = (1.0, 0.6, 0.3, 0.1)
"""The parts of a tolerance that are tried for the same reason."""


@dataclasses.dataclass(frozen=True)
class Crop:
    """A part of an image, and the size in tokens at which it is shown. Left, top, right and bottom are pixels of the image."""

    box: tuple[int, int, int, int]
    columns: int
    rows: int


@dataclasses.dataclass(frozen=True)
class Prompt:
    """What a prompt does with several pictures.

    whole: it shows all tokens of a picture: none can be left out of a thumbnail.
    around: how many tokens of the prompt crops take beside their own, by the size of the image in pixels.
    join: so many tokens does one crop more take at most. Crops become one where that takes fewer tokens.
    """

    whole: bool = False
    around: Callable[[tuple[int, int], Sequence[Crop]], int] = lambda size, crops: EXTRA * len(crops)
    join: int = 0


@dataclasses.dataclass(frozen=True)
class Cut:
    """A thumbnail of columns x rows tokens, and crops.

    kept: bool [rows, columns], False for the thumbnail's tokens in which nothing is seen.
    around: how many tokens of the prompt the crops take beside their own.
    loss: what is predicted to be lost.
    """

    columns: int
    rows: int
    kept: Any
    crops: tuple[Crop, ...]
    around: int
    loss: float

    @property
    def tokens(self) -> int:
        """All tokens that they take, with those around each further picture."""
        return int(self.kept.sum()) + sum(crop.columns * crop.rows for crop in self.crops) + self.around


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


def _joined(boxes: list[tuple[int, int, int, int]], join: int) -> list[tuple[int, int, int, int]]:
    """The rectangles, of which two become the one around both, as long as that takes fewer cells than both and `join` cells."""
    found = np.array(boxes)
    while join and len(found) > 1:
        around = np.concatenate([np.minimum(found[:, None, :2], found[None, :, :2]), np.maximum(found[:, None, 2:], found[None, :, 2:])], -1)
        own = (found[:, 2:] - found[:, :2]).prod(1)
        saved = own[:, None] + own[None, :] + join - (around[..., 2:] - around[..., :2]).prod(-1)
        np.fill_diagonal(saved, 0)
        first, second = (int(place) for place in np.unravel_index(saved.argmax(), saved.shape))
        if saved[first, second] <= 0:
            break
        found = np.concatenate([np.delete(found, (first, second), 0), around[first, second][None]])
    return [(int(left), int(top), int(right), int(bottom)) for left, top, right, bottom in found]


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


def _cut_of(selection: Selection, side: int, least: int, prompt: Prompt) -> Cut | None:
    """The pictures of a selection; None: it has no tiles, or they cannot be pictures of at least so many tokens."""
    columns, rows = selection.thumbnail
    kept = np.ones((rows, columns), bool)
    if not prompt.whole:
        kept[tuple(selection.empty[:, ::-1].T)] = False
    crops = []
    for third, cells in sorted(_tiles_of(selection, side).items()):
        across, down = (-(-3 * extent // third) for extent in selection.image_size)
        for box in _joined(_rectangles(cells), prompt.join):
            grown = _grown(box, least, across, down)
            if grown is None:
                return None
            pixels = tuple(round(edge * third / 3) for edge in grown)
            crops.append(Crop(pixels, grown[2] - grown[0], grown[3] - grown[1]))  # type: ignore[arg-type]
    if not crops or columns * rows < least:
        return None
    crops.sort(key=lambda crop: (crop.box[1], crop.box[0]))
    return Cut(columns, rows, kept, tuple(crops), prompt.around(selection.image_size, crops), selection.loss)


def cut(pixels: Any, side: int, least: int, device: Any, *, tokens: int | None = None, tolerance: float | None = None,
        prompt: Prompt = Prompt()) -> Cut | None:
    """A thumbnail and crops of at most so many tokens, or that lose no more than a tolerance; None: there are none.

    `least` is the number of tokens that a picture has at least.
    """
    with Stack(pixels, device=device, layout=SCORED) as stack:
        if tolerance is not None or tokens is None:
            # Less may be lost with fewer tokens, where blank tokens of a thumbnail count: the thumbnail may be smaller.
            parts = PARTS if prompt.whole and tolerance is not None else (1.0,)
            found = [_cut_of(stack.select(strategy="budget", patch=side, tolerance=None if tolerance is None else part * tolerance), side, least, prompt)
                     for part in parts]
            return min((one for one in found if one is not None), key=lambda one: one.tokens, default=None)

        def made(patches: int) -> Cut | None:
            return _cut_of(stack.select(patches, strategy="budget", patch=side), side, least, prompt)

        return _best(made, tokens) if prompt.whole else _fitting(made, tokens)


def _best(made: Callable[[int], Cut | None], tokens: int) -> Cut | None:
    """Of the pictures of at most so many tokens those that lose least, where fewer patches may lose less, as above."""
    found = [made(patches) for patches in sorted({max(round(tokens * share), 2) for share in SHARES})]
    return min((one for one in found if one is not None and one.tokens <= tokens), key=lambda one: one.loss, default=None)


def _fitting(made: Callable[[int], Cut | None], tokens: int) -> Cut | None:
    """The pictures of the most patches that take at most so many tokens."""
    wanted, without = tokens, 0
    while wanted >= 2 and without < TRIES:
        found = made(wanted)
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
