# SPDX-License-Identifier: Apache-2.0
"""Which pictures a model is given whose pictures have all one size: a small one of the whole, and parts of a larger one.

Its own processor cuts an image into parts, and adds a small picture of the whole. Here the numbers of parts that the processor's rule
can give are compared, and which parts, or which of their tokens, are worth it: all by one loss (texturevlm.predict) on the full
picture. Each is shown as a picture of its own, after the small one.
"""
from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable

import numpy as np

from .._core import ArgumentError
from .._functions import predict
from .._ways import Candidate, Spending, check_budget, divided, shared
from ._looks import parts_of
from ._showing import Plan, Tiled


@dataclasses.dataclass(frozen=True)
class Choice:
    """Pictures of an image.

    grid: the number of the grid of parts among those that were measured. 0: there is the small picture alone.
    overview, kept: which tokens of the small picture and of the larger one are kept: bool [rows, columns].
    """

    candidate: Candidate
    grid: int
    overview: Any
    kept: Any


class MeasuredTiles:
    """One image, and what fewer parts of it lose.

    around: how many tokens of the prompt each further picture takes beside its own.
    several: there are other images in its prompt.
    alone: there is no other image at all. Then it can be shown as it is without us.
    """

    def __init__(self, image: Any, showing: Tiled, around: int, several: bool, alone: bool, resample: Any, device: Any) -> None:
        self._only = alone
        self.image, self._showing, self._around, self._resample = image, showing, around, resample
        self.grids, self.every = showing.grids(image.width, image.height, several)
        self.along, self._small = showing.along, showing.along**2
        side = showing.side
        self._full = self._resized(len(self.grids) - 1)
        pixels = np.asarray(self._full)
        self._sizes = [(columns * self.along, rows * self.along) for columns, rows in self.grids]
        columns, rows = self._sizes[-1]
        self._prediction = predict(pixels[:rows * side, :columns * side], self._sizes, patch=side, device=device)

    @property
    def all(self) -> int:
        """How many tokens all parts take, as pictures of their own."""
        last = len(self.grids) - 1
        return self._cost(last, self._all_of(last))

    def whole(self) -> Choice:
        """What is shown without us."""
        last = len(self.grids) - 1
        self._prediction.set_overview(None)
        columns, rows = self._sizes[last]
        return Choice(Candidate("full", columns, rows, self.every, self._prediction.loss(last)), last, self._all_of(0), self._all_of(last))

    def _all_of(self, grid: int) -> Any:
        return np.ones(self._sizes[grid][::-1], bool)

    def _resized(self, grid: int) -> Any:
        columns, rows = self.grids[grid]
        beyond, step = self._showing.beyond, self.along * self._showing.side
        return self.image.resize((columns * step + beyond, rows * step + beyond), self._resample)

    # ---- What pictures cost ----

    def _parts(self, mask: Any) -> Any:
        """Which parts have a token of a mask: bool [rows, columns]."""
        rows, columns = (extent // self.along for extent in mask.shape)
        return mask.reshape(rows, self.along, columns, self.along).any(axis=(1, 3))

    def _cost(self, grid: int, kept: Any, overview: int | None = None) -> int:
        """How many tokens the prompt has with so many of the small picture (None: all), and those that are kept of the larger one."""
        own = (self._small if overview is None else overview) + self._showing.pairs
        return own if grid == 0 else own + int(kept.sum()) + self._around * int(self._parts(kept).sum())

    def _beside(self, grid: int, kept: Any, way: str) -> Choice:
        """The whole small picture, and what is kept of a larger one."""
        columns, rows = self._sizes[grid]
        self._prediction.set_overview(0)
        loss = self._prediction.loss(grid, kept)
        return Choice(Candidate(way, columns, rows, self._cost(grid, kept), loss), grid, self._all_of(0), kept)

    def _alone(self, count: int) -> Choice:
        """So many tokens of the small picture."""
        self._prediction.set_overview(None)
        kept, loss = self._prediction.keep(0, count)
        way = "smaller" if count == self._small else "pruned"
        return Choice(Candidate(way, self.along, self.along, self._cost(0, kept, count), loss), 0, kept, kept)

    # ---- The ways ----

    @functools.cached_property
    def _smaller(self) -> list[Choice]:
        """Whole pictures of the sizes of the processor's rule, and what is shown without us where that can be."""
        made = [*([self.whole()] if self._only else []), self._alone(self._small)]
        return made + [self._beside(grid, self._all_of(grid), "smaller") for grid in range(1, len(self.grids))]

    def _pruned(self, tokens: int | None, tolerance: float | None) -> list[Choice]:
        """The small picture, or that and the tokens of a larger one where it loses most."""
        if tokens is not None:
            alone: int | None = tokens - self._showing.pairs
        else:
            few = self._least(0, tolerance, None)
            alone = None if few is None else max(few, 1)
        made = [] if alone is None or not 1 <= alone < self._small else [self._alone(alone)]
        for grid in range(1, len(self.grids)):
            count = self._most(grid, tokens) if tokens is not None else self._least(grid, tolerance, 0)
            columns, rows = self._sizes[grid]
            if count is not None and 0 < count < columns * rows:
                self._prediction.set_overview(0)
                made.append(self._beside(grid, self._prediction.keep(grid, count)[0], "pruned"))
        return made

    def _least(self, grid: int, tolerance: float | None, overview: int | None) -> int | None:
        """How few tokens lose no more than a tolerance; None: all of them lose more."""
        assert tolerance is not None
        self._prediction.set_overview(overview)
        return self._prediction.least(grid, tolerance)

    def _most(self, grid: int, tokens: int) -> int:
        """How many tokens of a larger picture there can be beside the small one."""
        self._prediction.set_overview(0)
        low, high = 0, min(max(tokens - self._cost(0, None), 0), self._sizes[grid][0] * self._sizes[grid][1])
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._cost(grid, self._prediction.keep(grid, middle)[0]) <= tokens else (low, middle - 1)
        return low

    def _pictures(self, tokens: int | None, tolerance: float | None) -> list[Choice]:
        """The small picture, and whole parts of a larger one where it loses most: as many as there can be, or as few as are needed."""
        found = []
        for grid in range(1, len(self.grids)):
            kept, order = np.zeros(self._sizes[grid][::-1], bool), self._order(grid)
            if tolerance is not None and self._prediction.loss(grid, kept) <= tolerance:
                continue  # the small picture is enough
            for part in order[:-1]:  # all parts are the way smaller
                more = kept | self._part(grid, part)
                if tokens is not None and self._cost(grid, more) > tokens:
                    break
                kept = more
                if tolerance is not None and self._prediction.loss(grid, kept) <= tolerance:
                    break
            if kept.any():
                found.append(self._beside(grid, kept, "pictures"))
        return [one for one in found if tolerance is None or one.candidate.loss <= tolerance]

    def _part(self, grid: int, part: tuple[int, int]) -> Any:
        """The tokens of a part, (row, column), of a grid."""
        row, column = (place * self.along for place in part)
        mask = np.zeros(self._sizes[grid][::-1], bool)
        mask[row:row + self.along, column:column + self.along] = True
        return mask

    def _order(self, grid: int) -> list[tuple[int, int]]:
        """The parts of a grid, (row, column), that one first without which most is lost."""
        self._prediction.set_overview(0)
        columns, rows = self.grids[grid]
        parts = [(row, column) for row in range(rows) for column in range(columns)]
        return sorted(parts, key=lambda part: self._prediction.loss(grid, self._part(grid, part)))

    # ---- The choice ----

    def with_tokens(self, tokens: int, way: str) -> tuple[Choice, list[Choice]]:
        """The choice of least loss among those of at most so many tokens, and all that were looked at."""
        made = [one for one in self._smaller if one.candidate.tokens <= tokens] + self._pruned(tokens, None)
        if way in ("auto", "pictures"):
            made += self._pictures(tokens, None)
        if way == "smaller" and all(one.candidate.way == "pruned" for one in made):
            width, height = self.image.size
            raise ArgumentError(f"the processor makes no picture of at most {tokens} tokens of an image of {width} x {height} pixels: its least "
                                f"one has {self._small + self._showing.pairs}")
        made = made or [self._alone(1)]  # a share of less than one token
        return _best(made, way, lambda one: (one.candidate.loss, one.candidate.tokens))

    def within(self, tolerance: float, way: str) -> tuple[Choice, list[Choice]]:
        """The choice of fewest tokens among those that lose no more than the tolerance."""
        fitting = [one for one in self._smaller if one.candidate.loss <= tolerance]
        made = sorted(fitting, key=lambda one: one.candidate.tokens)[:1] + self._pruned(None, tolerance)
        if way in ("auto", "pictures"):
            made += self._pictures(None, tolerance)
        return _best(made, way, lambda one: (one.candidate.tokens, one.candidate.loss))

    def shown(self, choice: Choice) -> list[tuple[Any, Any]]:
        """The pictures of a choice, and of each the tokens that the model gets."""
        edge = self._showing.edge
        small = (self.image.resize((edge, edge), self._resample), choice.overview)
        if choice.grid == 0:
            return [small]
        one = (self.along, self.along)
        plan = Plan(one, self._sizes[choice.grid], one, 0, self._around, self.every)
        larger = self._full if choice.grid == len(self.grids) - 1 else self._resized(choice.grid)
        return [small, *parts_of(larger, choice.kept, plan, self._showing.side, self._showing.beyond)]


def _best(made: list[Choice], way: str, key: Callable[[Choice], tuple[float, float]]) -> tuple[Choice, list[Choice]]:
    """The best of a way, or what is shown without us; where there is neither, as where no part is worth its tokens, the best of all."""
    named = [one for one in made if way == "auto" or one.candidate.way in (way, "full")]
    return min(named or made, key=key), made


def decide_tiles(conversations: list[list[Any]], showing: Tiled, around: int, spending: Spending, resample: Any,
                 device: Any) -> tuple[list[list[MeasuredTiles]], list[list[Choice]], list[list[Choice]]]:
    """Decides for the images of each conversation: what was measured of each, the choices, and of each image what it was chosen from.

    If all choices are "full", then the processor shows all images as it does without us. Else none is, but a single one.
    """
    alone = sum(map(len, conversations)) == 1
    for images in conversations:
        _check_budget(spending, len(images), showing)
    pictures = [[MeasuredTiles(image, showing, around, len(images) > 1, alone, resample, device) for image in images] for images in conversations]
    found = []
    if not all(_enough(several, spending) for several in pictures):
        found = [one for several in pictures for one in _decided(several, spending, showing)]
    every = sum(one.every for several in pictures for one in several)
    # With a tolerance, pictures of their own may take more than what is shown without us, which loses nothing.
    if not found or (spending.tolerance is not None and sum(choice.candidate.tokens for choice, _ in found) >= every):
        wholes = [one.whole() for several in pictures for one in several]
        found = [(one, [one]) for one in wholes]
    rest = iter([choice for choice, _ in found])
    return pictures, [[next(rest) for _ in several] for several in pictures], [among for _, among in found]


def _least(showing: Tiled, way: str) -> int:
    """How few tokens an image can have."""
    return (showing.along**2 if way == "smaller" else 1) + showing.pairs


def _check_budget(spending: Spending, images: int, showing: Tiled) -> None:
    check_budget(spending, images)
    least = images * _least(showing, spending.way)
    if spending.budget is not None and spending.budget < least:
        ends = " with the ends of their lines" if showing.pairs else ""
        raise ArgumentError(f"a budget of {spending.budget} tokens for {images} pictures; these need at least {least}{ends}")


def _counts(pictures: list[MeasuredTiles], spending: Spending) -> list[int]:
    return [shared(spending.share or 1.0, one.every) for one in pictures] if spending.budget is None else [spending.budget]


def _enough(pictures: list[MeasuredTiles], spending: Spending) -> bool:
    """Whether the tokens are enough for what is shown without us of the images of a conversation."""
    return spending.tolerance is None and sum(_counts(pictures, spending)) >= sum(one.every for one in pictures)


def _decided(pictures: list[MeasuredTiles], spending: Spending, showing: Tiled) -> list[tuple[Choice, list[Choice]]]:
    if spending.tolerance is not None:
        return [one.within(spending.tolerance, spending.way) for one in pictures]
    counts = _counts(pictures, spending)
    if spending.budget is not None and len(pictures) > 1:
        plain = "smaller" if spending.way == "smaller" else "pruned"
        counts = divided(lambda tolerance: [one.within(tolerance, plain)[0].candidate.tokens for one in pictures],
                         [one.all for one in pictures], spending.budget, [_least(showing, spending.way)] * len(pictures))
    return [one.with_tokens(count, spending.way) for one, count in zip(pictures, counts)]


__all__ = ["Choice", "MeasuredTiles", "decide_tiles"]
