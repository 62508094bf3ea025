# SPDX-License-Identifier: Apache-2.0
"""How the tokens of an image are divided between two looks, and in which pictures a family of models sees them.

The small picture comes first. What is then seen of the full one is a picture of its own, without most of its tokens (`Sized`), or
several, where a family's pictures have all one size (`Tiled`).
"""
from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any, Callable

from .._cut import EXTRA
from ._families import Family, model_type_of
from ._messages import for_processor
from ._prompt import class_tokens, token_of
from ._ways import Rule, Spending, own_function, shared

FIRST = 0.65
"""The share of the tokens that the first look takes."""
SHOWS = 8
"""So many pixels of the first look, at least, show what must be found. With fewer it is not."""
OBJECT = 28
"""The side in pixels of what must be found on the full picture. Where a family's tokens are larger, it is a token's side."""
MOST = 0.8
"""The share of the tokens above which a first look leaves too few for the second."""

_ENOUGH_PIXELS = 0.83
"""Parts of LLaVA-OneVision that have this share of an image's pixels, as 2 x 2 have of 800 x 800, count as having all."""

_ENOUGH = "the tokens are enough for the full picture"
_RESTS = "a first look leaves too few tokens for a second one"


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

    def plan(self, size: tuple[int, int], spending: Spending, length_of: Callable[[Any, int], int]) -> Plan | str:
        """A text says why there is one look: too few tokens for a first one that shows anything, or enough for the full picture."""
        full = self.rule.size(*size)
        every = full[0] * full[1]
        wanted = _wanted(spending, every)
        first = max(FIRST * wanted, _least(self.side, every))
        if wanted >= every:
            return _ENOUGH
        if first > MOST * wanted:
            return f"a first look needs {math.ceil(first)} tokens to show anything, which is more than {MOST:.0%} of {wanted}"
        small = self.rule.size(*size, round(first))
        rest = wanted - small[0] * small[1]
        return Plan(small, full, full, rest, EXTRA, every) if rest > EXTRA else _RESTS


class Tiled:
    """A family whose pictures have all one size: a small picture is one of them, and the full one is cut into several.

    side: the side of a token in pixels.
    along: how many tokens a picture has along a side.
    edge: the side of a picture in pixels. Where tokens do not reach its end, pictures that lie side by side overlap by the rest.
    tiles: a function from the width and height of an image to the columns and rows of pictures that the processor cuts it into, and
        to the number of tokens that it makes of it.
    options: those of `batch_of` with which the processor shows each image that it gets as one picture.
    pairs: whether the processor does so only for a prompt with several images, each of which is followed by a token for its end.
    fewer: a function from the width and height of an image to all columns and rows that the processor's rule gives, where it is
        allowed fewer pictures. None: the processor cuts none, and parts are more than it would show.
    """

    rule = None

    def __init__(self, side: int, along: int, edge: int, tiles: Callable[[int, int], tuple[int, int, int]], options: dict[str, Any],
                 pairs: bool = False, fewer: _Fewer | None = None) -> None:
        self.side, self.along, self.edge, self.beyond = side, along, edge, edge - side * along
        self._tiles, self._fewer, self.options, self.pairs = tiles, fewer, for_processor(options), pairs
        self.cuts = fewer is not None

    def grids(self, width: int, height: int, several: bool) -> tuple[list[tuple[int, int]], int]:
        """The columns and rows of pictures that an image may be cut into, from one on to the full one; and how many tokens that has.

        several: there are other images in its prompt. LLaVA-OneVision's processor cuts none of them.
        """
        if several and self.pairs:
            return [(1, 1)], self.along**2 + 1
        columns, rows, every = self._tiles(width, height)
        found = {(1, 1), (columns, rows), *(() if self._fewer is None else self._fewer(width, height))}
        full = columns * rows
        return sorted((one for one in found if one[0] * one[1] < full or one == (columns, rows)), key=lambda one: (one[0] * one[1], one)), every

    def around(self, length_of: Callable[[Any, int], int]) -> int:
        """How many tokens of the prompt each further picture takes beside its own.

        `length_of` says how long a prompt is in which a picture stands so many times.
        """
        blank = importlib.import_module("PIL.Image").new("RGB", (self.edge, self.edge))
        return length_of(blank, 2 + self.pairs) - length_of(blank, 1 + self.pairs) - self.along**2

    def plan(self, size: tuple[int, int], spending: Spending, length_of: Callable[[Any, int], int]) -> Plan | str:
        """A text: as above, or the small picture is all that there is, or too small for the parts. `length_of` is as in `around`."""
        columns, rows, every = self._tiles(*size)
        wanted, small = _wanted(spending, every), self.along**2
        if self.cuts and wanted >= every:
            return _ENOUGH
        if columns * rows == 1:
            return "the processor makes one part of the image, which a first look would show already"
        if small > MOST * wanted:
            return f"a first look takes {small} tokens, which is more than {MOST:.0%} of {wanted}"
        if small < _least(self.side, columns * rows * small):
            return f"a first look of {small} tokens is too small for {columns} x {rows} parts"
        around = self.around(length_of)
        one, full = (self.along, self.along), (columns * self.along, rows * self.along)
        rest = min(wanted - small - self.pairs, columns * rows * (small + around))
        return Plan(one, full, one, rest, around, every) if rest > around else _RESTS


def _wanted(spending: Spending, every: int) -> int:
    return spending.budget if spending.budget is not None else shared(spending.share or 1.0, every)


def _least(side: int, full: int) -> float:
    """How many tokens a small picture has at least, where the full one has so many."""
    return (SHOWS / max(side, OBJECT))**2 * full


# ---- Families ----

_Tiles = Callable[[int, int], tuple[int, int, int]]
_Fewer = Callable[[int, int], list[tuple[int, int]]]


def showing_of(model: Any, processor: Any, family: Family, rule: Rule | None) -> Sized | Tiled | None:
    """How a family shows two looks. None: the sizes of the processor's pictures are not known."""
    if rule is not None:
        return Sized(rule)
    name = model_type_of(model)
    if name not in _TILED or class_tokens(model, family):
        return None
    patch, merge = token_of(model, family)
    size = model.config.vision_config.image_size
    edge, side = int(size[0] if isinstance(size, (list, tuple)) else size), patch * merge
    along = edge // side
    found, options = _TILED[name]
    rules = found(processor, edge, along**2)
    return None if rules is None else Tiled(side, along, edge, rules[0], options(edge), name == "llava_onevision", rules[1])


def _internvl(processor: Any, edge: int, tokens: int) -> tuple[_Tiles, _Fewer] | None:
    images = processor.image_processor
    canvas = own_function(images, "get_optimal_tiled_canvas")
    if canvas is None:
        return None

    def cut(width: int, height: int, most: int) -> tuple[int, int]:
        columns, rows = canvas((height, width), (edge, edge), images.min_patches, most)
        return int(columns), int(rows)

    def tiles(width: int, height: int) -> tuple[int, int, int]:
        columns, rows = cut(width, height, images.max_patches)
        return columns, rows, (columns * rows + (columns * rows > 1)) * tokens

    def fewer(width: int, height: int) -> list[tuple[int, int]]:
        return [cut(width, height, most) for most in range(images.min_patches, images.max_patches)]
    return tiles, fewer


def _llava(processor: Any, edge: int, tokens: int) -> tuple[_Tiles, None]:
    """The processor makes one picture of any image. What is larger than that picture is shown in parts of its size."""
    def tiles(width: int, height: int) -> tuple[int, int, int]:
        return max(round(width / edge), 1), max(round(height / edge), 1), tokens
    return tiles, None


def _smolvlm(processor: Any, edge: int, tokens: int) -> tuple[_Tiles, _Fewer] | None:
    images = processor.image_processor
    if getattr(images, "do_resize", True) is False:  # then parts have the image's own size
        return None

    def tiles(width: int, height: int) -> tuple[int, int, int]:
        parts, rows, columns = images.get_number_of_image_patches(height, width, {})
        return max(int(columns), 1), max(int(rows), 1), max(int(parts), 1) * tokens  # of an image that is not cut, versions differ

    def fewer(width: int, height: int) -> list[tuple[int, int]]:
        most = int(images.size["longest_edge"]) // edge
        cut = [images.get_number_of_image_patches(height, width, {"size": {"longest_edge": edge * count}}) for count in range(1, most)]
        return [(max(int(columns), 1), max(int(rows), 1)) for _, rows, columns in cut]
    return tiles, fewer


def _onevision(processor: Any, edge: int, tokens: int) -> tuple[_Tiles, _Fewer] | None:
    """Of the processor's numbers of parts, that which distorts an image least, and then the fewest that have its pixels.

    The processor itself adds a border, in place of distorting. More than `most` parts are none: of what is larger, the model itself
    makes fewer tokens.
    """
    tokens_of = getattr(processor, "_get_num_multimodal_tokens", None)
    if tokens_of is None:
        return None
    most = int(str(processor.vision_aspect_ratio).rpartition("_")[2])
    sizes = {(int(width) // edge, int(height) // edge) for height, width in processor.image_processor.image_grid_pinpoints}
    sizes = {size for size in sizes if size[0] * size[1] <= most} | {(1, 1)}

    def cut(width: int, height: int, parts: int) -> tuple[int, int]:
        def cost(size: tuple[int, int]) -> tuple[float, float]:
            across, down = size[0] * edge / width, size[1] * edge / height
            area = across * down
            return round(abs(math.log(across / down)), 2), area if area >= _ENOUGH_PIXELS else 1e9 - area
        return min((size for size in sorted(sizes) if size[0] * size[1] <= parts), key=cost)

    def tiles(width: int, height: int) -> tuple[int, int, int]:
        columns, rows = cut(width, height, most)
        return columns, rows, int(tokens_of(image_sizes=[(height, width)])["num_image_tokens"][0])

    def fewer(width: int, height: int) -> list[tuple[int, int]]:
        return [cut(width, height, parts) for parts in range(1, most)]
    return tiles, fewer


_TILED: dict[str, tuple[Callable[[Any, int, int], tuple[_Tiles, _Fewer | None] | None], Callable[[int], dict[str, Any]]]] = {
    "internvl": (_internvl, lambda edge: {"crop_to_patches": False}),
    "smolvlm": (_smolvlm, lambda edge: {"size": {"longest_edge": edge}}),
    "llava_onevision": (_onevision, lambda edge: {}),
    "llava": (_llava, lambda edge: {})}
"""Of families whose pictures have all one size: how columns and rows of parts are found, and the number of tokens that the processor
makes, and those of fewer parts; and the options with which an image is one picture."""


__all__ = ["Plan", "Sized", "Tiled", "showing_of"]
