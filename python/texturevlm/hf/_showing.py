# SPDX-License-Identifier: Apache-2.0
"""How the tokens of an image are divided between two looks, and in which pictures a family of models sees them.

The small picture comes first. What is then seen of the full one is a picture of its own, without most of its tokens (`Sized`), or
several, where a family's pictures have all one size (`Tiled`).
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable

from ._families import Family, model_type_of
from ._messages import for_processor
from ._pictures import EXTRA
from ._prompt import token_of
from ._ways import Rule, Spending, own_function, shared

FIRST = 0.65
"""The share of the tokens that the first look takes."""
SHOWS = 8
"""So many pixels of the first look, at least, show what is as large as one token of the full picture: with fewer nothing is found."""
OBJECT = 28
"""That token's side in pixels, where the tokens of a family are smaller."""
MOST = 0.8
"""The share of the tokens above which a first look leaves too few for the second."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How the tokens of an image are spent.

    small, full: columns and rows of tokens of the small picture, and of the full one.
    part: columns and rows of tokens of the pictures into which the full one is cut; the full one itself where it is not cut.
    tokens: how many there are for the second look, with those of the prompt around each picture.
    around: how many these are for one picture.
    every: how many tokens the image has without us.
    """

    small: tuple[int, int]
    full: tuple[int, int]
    part: tuple[int, int]
    tokens: int
    around: int
    every: int


class Sized:
    """A family whose pictures have the size that a rule gives them: the full one is a single picture."""

    options: dict[str, Any] = {}
    beyond = 0
    pairs = False

    def __init__(self, rule: Rule) -> None:
        self.rule, self.side = rule, rule.side

    def around(self, length_of: Callable[[int], int]) -> int:
        return EXTRA

    def plan(self, size: tuple[int, int], spending: Spending, around: int) -> Plan | None:
        """None: there are too few tokens for a first look that shows anything, or enough for the full picture."""
        full = self.rule.size(*size)
        every = full[0] * full[1]
        wanted = _wanted(spending, every)
        first = max(FIRST * wanted, _least(self.side, every))
        if wanted >= every or first > MOST * wanted:
            return None
        small = self.rule.size(*size, round(first))
        rest = wanted - small[0] * small[1]
        return Plan(small, full, full, rest, around, every) if rest > around else None


class Tiled:
    """A family whose pictures have all one size: a small picture is one of them, and the full one is cut into several.

    side: the side of a token in pixels.
    along: how many tokens a picture has along a side.
    edge: the side of a picture in pixels. Where tokens do not reach its end, pictures that lie side by side overlap by the rest.
    tiles: a function from the width and height of an image to the columns and rows of pictures that the processor cuts it into.
    options: those of `batch_of` with which the processor shows each image that it gets as one picture.
    pairs: whether the processor does so only for a prompt with several images, each of which is followed by a token for its end.
    """

    def __init__(self, side: int, along: int, edge: int, tiles: Callable[[int, int], tuple[int, int]], options: dict[str, Any],
                 pairs: bool = False) -> None:
        self.side, self.along, self.beyond = side, along, edge - side * along
        self._tiles, self.options, self.pairs = tiles, for_processor(options), pairs
        self._around: int | None = None

    def around(self, length_of: Callable[[int], int]) -> int:
        """How many tokens of the prompt each further picture takes, by the length of prompts with so many pictures."""
        if self._around is None:
            self._around = length_of(3) - length_of(2) - self.along**2
        return self._around

    def plan(self, size: tuple[int, int], spending: Spending, around: int) -> Plan | None:
        """None: as above, or the small picture is all that there is."""
        columns, rows = self._tiles(*size)
        if columns * rows == 1:
            return None
        one, full = (self.along, self.along), (columns * self.along, rows * self.along)
        every = (columns * rows + 1) * self.along**2
        wanted = _wanted(spending, every)
        if wanted >= every or not _least(self.side, every) <= self.along**2 <= MOST * wanted:
            return None
        rest = wanted - self.along**2 - self.pairs
        return Plan(one, full, one, rest, around, every) if rest > around else None


def _wanted(spending: Spending, every: int) -> int:
    return spending.budget if spending.budget is not None else shared(spending.share or 1.0, every)


def _least(side: int, every: int) -> float:
    """How many tokens a small picture has at least, so that something is found on it."""
    return (SHOWS / max(side, OBJECT))**2 * every


def showing_of(model: Any, processor: Any, family: Family, rule: Rule | None) -> Sized | Tiled | None:
    """How a family shows two looks. None: the sizes of the processor's pictures are not known."""
    if rule is not None:
        return Sized(rule)
    images, name = getattr(processor, "image_processor", processor), model_type_of(model)
    if name not in _TILED:
        return None
    patch, merge = token_of(model, family)
    size = model.config.vision_config.image_size
    edge = int(size[0] if isinstance(size, (list, tuple)) else size)
    function, tiles, options = _TILED[name]
    found = own_function(images, function)
    if found is None:
        return None
    side = patch * merge
    return Tiled(side, edge // side, edge, lambda width, height: tiles(images, found, (height, width), edge), options(edge),
                 name == "llava_onevision")


def _internvl(images: Any, canvas: Any, size: tuple[int, int], edge: int) -> tuple[int, int]:
    columns, rows = canvas(size, (edge, edge), images.min_patches, images.max_patches)
    return int(columns), int(rows)


def _smolvlm(images: Any, _: Any, size: tuple[int, int], edge: int) -> tuple[int, int]:
    _, rows, columns = images.get_number_of_image_patches(*size, {})
    return int(columns), int(rows)


def _onevision(images: Any, resolution: Any, size: tuple[int, int], edge: int) -> tuple[int, int]:
    height, width = resolution(size, images.image_grid_pinpoints)
    return int(width) // edge, int(height) // edge


_TILED: dict[str, tuple[str, Callable[[Any, Any, tuple[int, int], int], tuple[int, int]], Callable[[int], dict[str, Any]]]] = {
    "internvl": ("get_optimal_tiled_canvas", _internvl, lambda edge: {"crop_to_patches": False}),
    "smolvlm": ("get_resize_output_image_size", _smolvlm, lambda edge: {"size": {"longest_edge": edge}}),
    "llava_onevision": ("select_best_resolution", _onevision, lambda edge: {})}
"""Of families whose pictures have all one size: a function of the processor's module that finds how an image is cut, how it is asked for
columns and rows, and the options with which an image is one picture."""


__all__ = ["Plan", "Sized", "Tiled", "showing_of"]
