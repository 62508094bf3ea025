# SPDX-License-Identifier: Apache-2.0
"""Which picture a model is given: a smaller one, a finer one without some of its tokens, crops, or the best cells of the full one.

All are measured by one loss (texturevlm.predict) on what the model would see without us: the full picture of its processor. A
smaller picture is always among them, so that a choice is never predicted to be worse than that.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np

from ._arguments import choice, integer, real
from ._core import ArgumentError, Error
from ._cut import Crop, Cut, Prompt, crop_of, cut
from ._functions import predict, scores, topk
from ._prediction import PICTURES, Prediction
from ._show import Picture

WAYS = ("auto", "smaller", "pruned", "pictures", "cells")
READABLE = 0.03
"""The tolerance that keeps what can be read: TVLM_TOLERANCE_READABLE."""
QUARTER = 0.25
"""The share of tokens that is chosen by their score where nothing is asked for."""


# ---- What may be spent ----

@dataclasses.dataclass(frozen=True)
class Spending:
    """How many tokens there may be: exactly one of the first three. `way` is one of `WAYS`."""

    budget: int | None
    share: float | None
    tolerance: float | None
    way: str
    default: bool = False
    """Nothing was asked for, or the tolerance "auto"."""


def spending_of(budget: Any, share: Any, tolerance: Any, way: Any) -> Spending:
    """Checks what a caller asks for. If nothing is asked for, it is the tolerance that keeps what can be read."""
    given = {name: value for name, value in (("budget", budget), ("share", share), ("tolerance", tolerance)) if value is not None}
    if len(given) > 1:
        raise ArgumentError(f"{' and '.join(given)} exclude each other")
    way = WAYS[choice("way", "auto" if way is None else way, WAYS)]
    if budget is not None:
        return Spending(integer("budget", budget, 1), None, None, way)
    if share is not None:
        return Spending(None, share_of("share", share), None, way)
    default = tolerance is None or (isinstance(tolerance, str) and tolerance == "auto")
    if way == "cells" and default:
        return Spending(None, QUARTER, None, way)  # a tolerance is not for it
    if default:
        tolerance = READABLE
    if real("tolerance", tolerance, 0.0) > 1:
        raise ArgumentError(f"tolerance is {tolerance}; it must be at most 1")
    if way == "cells":
        raise ArgumentError("a tolerance is for pictures, not for the way cells, which is worse than a smaller picture at any number of "
                            "tokens: give budget or share")
    return Spending(None, None, float(tolerance), way, default)


def share_of(name: str, value: Any) -> float:
    """A share, above 0 and at most 1."""
    if real(name, value, 0.0, above=True) > 1:
        raise ArgumentError(f"{name} is {value}; it must be at most 1")
    return float(value)


def shared(share: float, tokens: int) -> int:
    """How many of the tokens of a picture a share of them is: at least one."""
    return max(1, round(share * tokens))


def check_budget(spending: Spending, pictures: int) -> None:
    if spending.budget is not None and spending.budget < pictures:
        raise ArgumentError(f"a budget of {spending.budget} tokens for {pictures} pictures; each needs at least one")


# ---- What was decided ----

@dataclasses.dataclass(frozen=True)
class Candidate:
    """A picture that a model may be given.

    way: ``"full"``, ``"smaller"``, ``"pruned"``, ``"pictures"``, ``"cells"``, of two looks ``"looks"``, or of a video ``"frames"``.
    columns, rows: the size of the picture in tokens, before any is left out; of several the first, which shows the whole. Of two
        looks the full picture, and of pictures of one size that of which they show parts.
    tokens: how many tokens the model gets, with those of the prompt around each further picture.
    loss: what is predicted to be lost, as a share of what a picture of one token loses. NaN for two looks, as the question decides what is
        lost. Of a video, its squared error as a share of that of slots of one colour each.
    """

    way: str
    columns: int
    rows: int
    tokens: int
    loss: float


@dataclasses.dataclass(frozen=True)
class Report:
    """What was decided for the pictures of a batch, and for its videos, which come after them.

    pictures: the choice for each picture.
    candidates: for each picture, all that it was chosen from. Of two looks there are none: what they lose is not predicted. Nor is
        what one look would lose, as that takes a quarter to a half of the time in which a small model's two looks are decided.
    full: for each picture, how many tokens the model would get without us.
    milliseconds: how long it took to decide.
    without: why a smaller picture was not among the candidates; None: it was. Then no choice is predicted to be worse than it.
    seen: all pictures that the model gets, one after the other: uint8 [height, width, 3], and bool [rows, columns], which of their
        tokens it gets. `texturevlm.show` draws them.
    """

    pictures: list[Candidate]
    candidates: list[list[Candidate]]
    full: list[int]
    milliseconds: float
    without: str | None = None
    seen: list[tuple[Any, Any]] = dataclasses.field(default_factory=list, repr=False)
    look: Any = dataclasses.field(default=None, repr=False)
    """Of two looks: float32 [rows, columns], where the first one looked: the share of the attention that each token of the small
    picture has. It can be given as the channel ``attention``, or for the next frame of a video as ``attention_prev``."""

    layer: str | None = dataclasses.field(default=None, repr=False)
    """Of two looks: which layer of the language model `look` was read from, counted from 0, and which of its heads."""

    once: str | None = None
    """Why there was one look where two were asked for."""

    images: list[int] = dataclasses.field(default_factory=list, repr=False)
    """For each picture of an image, the number of that image among all that were given. Empty where an image becomes several
    pictures, and for those of a batch: pictures are then counted from 0."""

    skipped: Mapping[int, Error] = dataclasses.field(default_factory=dict, repr=False)
    """The images that were left out, by their number, with the error of each. They have no picture."""

    def draw(self) -> Picture:
        """A picture of what the model sees: its pictures side by side, in which tokens that are left out are nearly white.

        Of two looks it begins with the small picture once more, dark where nothing was looked at.
        """
        drawn = [_faded(np.asarray(pixels), np.asarray(kept)) for pixels, kept in self.seen]
        if self.look is not None:
            drawn.insert(0, _lit(np.asarray(self.seen[0][0]), self.look))
        if not drawn:
            raise ArgumentError("the report has no pictures")
        gap, high = 8, max(one.shape[0] for one in drawn)
        whole = np.full((high, sum(one.shape[1] + gap for one in drawn) - gap, 3), 255, np.uint8)
        left = 0
        for one in drawn:
            whole[:one.shape[0], left:left + one.shape[1]] = one
            left += one.shape[1] + gap
        return Picture(whole)

    def of_images(self, images: list[int], videos: int, skipped: Mapping[int, Error]) -> Report:
        """With the numbers of the images that there are, and of how many videos. skipped: the images that are not there."""
        one_each = len(self.pictures) in (len(images), len(images) + videos)
        return dataclasses.replace(self, images=images if one_each else [], skipped=skipped)

    def with_videos(self, videos: Report) -> Report:
        """With what was decided for videos behind it."""
        return dataclasses.replace(self, pictures=self.pictures + videos.pictures, candidates=self.candidates + videos.candidates,
                                   full=self.full + videos.full, milliseconds=self.milliseconds + videos.milliseconds)

    @property
    def tokens(self) -> int:
        """How many tokens of pictures the model gets."""
        return sum(one.tokens for one in self.pictures)

    def __repr__(self) -> str:
        beside = "" if self.without is None else f"; not compared with a smaller picture: {self.without}"
        beside += "" if self.layer is None else f"; looked by {self.layer}"
        beside += "" if self.once is None else f"; one look: {self.once}"
        lines = [f"{self.tokens} of {sum(self.full)} tokens, decided in {self.milliseconds:.0f} ms{beside}"]
        for place, (chosen, among, full) in enumerate(zip(self.pictures, self.candidates, self.full)):
            number = self.images[place] if place < len(self.images) else place + (len(self.skipped) if self.images else 0)
            others = ", ".join(f"{one.way} {one.loss:.3f}" for one in among if one is not chosen)
            loss = "" if math.isnan(chosen.loss) else f", loss {chosen.loss:.3f}"
            lines.append(f"  picture {number}: {chosen.way}, {chosen.tokens} tokens of {chosen.columns} x {chosen.rows} "
                         f"(full: {full}){loss}{f' ({others})' if others else ''}")
        lines += [f"  left out: {error}" for error in self.skipped.values()]
        return "\n".join(lines)


def _faded(pixels: Any, kept: Any) -> Any:
    """The pixels, of which those under tokens that are not kept are nearly white."""
    if kept.all():
        return pixels
    rows, columns = kept.shape
    side = (pixels.shape[0] // rows, pixels.shape[1] // columns)
    shown = np.repeat(np.repeat(kept, side[0], 0), side[1], 1)[:, :, None]
    return np.where(shown, pixels, 255 - (255 - pixels) // 8)


def _lit(pixels: Any, attention: Any) -> Any:
    """The pixels, each as bright as the attention of its token, and a quarter where there is none."""
    share = 0.25 + 0.75 * attention / max(float(attention.max()), 1e-30)
    side = (pixels.shape[0] // share.shape[0], pixels.shape[1] // share.shape[1])
    return np.rint(pixels * np.repeat(np.repeat(share, side[0], 0), side[1], 1)[:, :, None]).astype(np.uint8)


# ---- The rule of sizes ----

class Rule:
    """The sizes, in tokens, of the pictures that a processor makes of an image.

    side: the side of a token in pixels.
    several: whether an image may become several pictures, whose tokens in the prompt are then known.
    prompt: what the prompt does with these.
    """

    def __init__(self, side: int, least: int, most: int, resize: Callable[[int, int, int, int], tuple[int, int]],
                 several: bool = True, prompt: Prompt = Prompt()) -> None:
        self.side, self.least, self.most, self._resize, self.several, self.prompt = side, least, most, resize, several, prompt

    def size(self, width: int, height: int, tokens: int | None = None) -> tuple[int, int]:
        """Columns and rows of the picture of at most so many tokens; None: as many as the processor allows.

        The processor makes none of fewer than `least` pixels, and so there may be more tokens.
        """
        most = self.most if tokens is None else min(self.most, max(tokens * self.side**2, self.least))
        high, wide = self._resize(height, width, self.least, most)
        # A picture that was rounded down below the least is made larger when the processor gets it.
        for _ in range(4):
            again = self._resize(high, wide, self.least, self.most)
            if again == (high, wide):
                break
            high, wide = again
        return wide // self.side, high // self.side


# ---- One picture ----

class Measured:
    """One image, what its processor would make of it, and what smaller pictures of it lose.

    image: an image of PIL in RGB.
    """

    def __init__(self, image: Any, rule: Rule, tokens: Sequence[int], resample: Any, device: Any) -> None:
        self.image, self.rule, self._resample, self._device = image, rule, resample, device
        self.full = rule.size(*image.size)
        shown = self.resized(self.full)
        self._pixels = np.asarray(shown)
        self.sizes = self._listed(tokens)
        self._cut: Cut | None = None
        self._cells: Any = None
        self.prediction: Prediction = self._predicted(self.sizes)

    def _predicted(self, sizes: list[tuple[int, int]]) -> Prediction:
        return predict(self._pixels, sizes, patch=self.rule.side, device=self._device)

    def _listed(self, tokens: Sequence[int]) -> list[tuple[int, int]]:
        """The sizes of pictures of so many tokens, from few to many, each once, and the full one as the last."""
        width, height = self.image.size
        sizes = {self.rule.size(width, height, count) for count in tokens}
        smaller = sorted((size for size in sizes if size[0] * size[1] < self.all), key=lambda size: size[0] * size[1])
        return [*smaller[:PICTURES - 1], self.full]

    @property
    def all(self) -> int:
        return self.full[0] * self.full[1]

    def resized(self, size: tuple[int, int]) -> Any:
        """The image at a size in tokens, by the processor's own filter."""
        wanted = (size[0] * self.rule.side, size[1] * self.rule.side)
        return self.image if self.image.size == wanted else self.image.resize(wanted, self._resample)

    def _candidate(self, way: str, index: int, tokens: int, loss: float) -> Candidate:
        return Candidate(way, *self.sizes[index], tokens, loss)

    def whole(self) -> Candidate:
        return self._candidate("full", len(self.sizes) - 1, self.all, self.prediction.loss(len(self.sizes) - 1))

    def smaller(self, tokens: int) -> Candidate | None:
        """The largest picture of at most so many tokens; None: the processor makes none so small."""
        fits = [i for i, (columns, rows) in enumerate(self.sizes) if columns * rows <= tokens]
        if not fits:
            return None
        columns, rows = self.sizes[fits[-1]]
        return self._candidate("smaller", fits[-1], columns * rows, self.prediction.loss(fits[-1]))

    def pruned(self, tokens: int) -> Candidate | None:
        """So many tokens of the picture of which they lose least; None: none has more, or the prompt shows all of them."""
        if self.rule.prompt.whole:
            return None
        found = [self._candidate("pruned", i, tokens, self.prediction.keep(i, tokens)[1])
                 for i, (columns, rows) in enumerate(self.sizes) if columns * rows > tokens]
        return min(found, key=lambda one: one.loss, default=None)

    def cells(self, tokens: int) -> Candidate:
        """The best cells of the full picture by their score."""
        index = len(self.sizes) - 1
        return self._candidate("cells", index, tokens, self.prediction.loss(index, self._best(tokens)))

    def _best(self, tokens: int) -> Any:
        if self._cells is not None and int(self._cells.sum()) == tokens:
            return self._cells
        found = scores(self._pixels, stride=self.rule.side, device=self._device)
        flags = np.zeros(self.all, bool)
        flags[topk(found, tokens, device=self._device)[0]] = True
        self._cells = flags.reshape(self.full[1], self.full[0])
        return self._cells

    def pictures(self, tokens: int | None = None, tolerance: float | None = None) -> Candidate | None:
        """A small picture of the whole and crops; None: there are none worth it, or the family takes no several."""
        if not self.rule.several:
            return None
        least = -(-self.rule.least // self.rule.side**2)
        self._cut = cut(self._pixels, self.rule.side, least, self._device, tokens=tokens, tolerance=tolerance, prompt=self.rule.prompt)
        found = self._cut
        return None if found is None else Candidate("pictures", found.columns, found.rows, found.tokens, found.loss)

    @property
    def crops(self) -> tuple[Crop, ...]:
        """The crops of the candidate of the way ``"pictures"``."""
        return () if self._cut is None else self._cut.crops

    def shown(self, chosen: Candidate) -> list[tuple[Any, Any]]:
        """The pictures of a candidate, and of each the tokens that the model gets: bool [rows, columns]."""
        picture = self.resized((chosen.columns, chosen.rows))
        if chosen.way == "full":  # the processor resizes it, as it does without us
            return [(self.image, np.ones((chosen.rows, chosen.columns), bool))]
        if chosen.way == "pictures" and self._cut is not None:
            full, side = self.resized(self.full), self.rule.side
            crops = [(crop_of(full, crop, side, self._resample), np.ones((crop.rows, crop.columns), bool)) for crop in self._cut.crops]
            return [(picture, self._cut.kept), *crops]
        if chosen.way == "cells":
            return [(picture, self._best(chosen.tokens))]
        if chosen.way == "pruned":
            return [(picture, self.prediction.keep(self.sizes.index((chosen.columns, chosen.rows)), chosen.tokens)[0])]
        return [(picture, np.ones((chosen.rows, chosen.columns), bool))]

    def with_tokens(self, tokens: int, way: str) -> tuple[Candidate, list[Candidate]]:
        """The candidate of least loss among those of at most so many tokens, and all that were looked at."""
        if tokens >= self.all:
            whole = self.whole()
            return whole, [whole]
        made: dict[str, Candidate | None] = {"smaller": self.smaller(tokens), "pruned": self.pruned(tokens)}
        if way in ("auto", "pictures"):
            made["pictures"] = self.pictures(tokens)
        if way == "cells":
            made["cells"] = self.cells(tokens)
        candidates = [one for one in made.values() if one is not None]
        if way == "auto":
            return min(candidates, key=_preferred), candidates
        chosen = made[way]
        if chosen is None and way == "pictures":
            return min(candidates, key=lambda one: one.loss), candidates  # no crop is worth its tokens
        if chosen is None:
            raise ArgumentError(f"the processor makes no picture of at most {tokens} tokens of an image of {self.image.size[0]} x "
                                f"{self.image.size[1]} pixels: its least one has {self.sizes[0][0] * self.sizes[0][1]}")
        return chosen, candidates

    def within(self, tolerance: float, way: str, ahead: int = 4) -> tuple[Candidate, list[Candidate]]:
        """The candidate of fewest tokens among those that lose no more than the tolerance."""
        first = next((i for i in range(len(self.sizes)) if self.prediction.loss(i) <= tolerance), len(self.sizes) - 1)
        columns, rows = self.sizes[first]
        way_of = "full" if first == len(self.sizes) - 1 else "smaller"
        candidates = [self._candidate(way_of, first, columns * rows, self.prediction.loss(first))]
        for i in range(first, first if self.rule.prompt.whole else min(first + ahead, len(self.sizes))):
            least = self.prediction.least(i, tolerance)
            few = None if least is None else max(least, 1)
            if few is not None and few < self.sizes[i][0] * self.sizes[i][1]:
                candidates.append(self._candidate("pruned", i, few, self.prediction.keep(i, few)[1]))
        if way in ("auto", "pictures"):
            cut_out = self.pictures(tolerance=tolerance)
            candidates += [] if cut_out is None else [cut_out]
        named = [one for one in candidates if way == "auto" or one.way == way]
        return min(named or candidates[:1], key=lambda one: (one.tokens, one.loss)), candidates


DOUBT = 0.01
"""By how much the loss of several pictures must be the least: it is predicted by another measurement than that of the others."""


def _preferred(one: Candidate) -> float:
    return one.loss + (DOUBT if one.way == "pictures" else 0.0)


def _geometric(low: int, high: int, count: int) -> list[int]:
    return sorted({int(round(value)) for value in np.geomspace(max(low, 1), max(high, 1), count)})


def measured(image: Any, rule: Rule, tokens: int | None, resample: Any, device: Any) -> Measured:
    """Measures pictures of an image: of so many tokens and of more, or where `tokens` is None all from the least on."""
    columns, rows = rule.size(*image.size)
    most = columns * rows
    least = max(rule.least // rule.side**2, 1) if tokens is None else min(tokens, most)
    return Measured(image, rule, _geometric(least, most, PICTURES - 1), resample, device)


def refined(picture: Measured, tolerance: float, device: Any) -> Measured:
    """Measures the same image at the sizes around the least that loses no more than the tolerance."""
    losses = [picture.prediction.loss(i) for i in range(len(picture.sizes))]
    first = next((i for i, loss in enumerate(losses) if loss <= tolerance), len(losses) - 1)
    low, high = (picture.sizes[i][0] * picture.sizes[i][1] for i in (max(first - 1, 0), first))
    coarse = [columns * rows for columns, rows in picture.sizes[first:first + 5]]
    fine = np.linspace(low, high, PICTURES - 1 - len(coarse)).round().astype(int).tolist()
    return Measured(picture.image, picture.rule, [*fine, *coarse], picture._resample, device)


# ---- All pictures of a conversation ----

def decide(images: list[Any], rule: Rule, spending: Spending, resample: Any,
           device: Any) -> tuple[list[Measured], list[Candidate], list[list[Candidate]]]:
    """Decides for the images of one conversation: what was measured of each, the choice, and what it was chosen from."""
    pictures, chosen, among = [], [], []
    check_budget(spending, len(images))
    if spending.budget is not None and len(images) > 1:
        pictures = [measured(image, rule, None, resample, device) for image in images]
        plain = "smaller" if spending.way == "smaller" else "pruned"
        counts = [picture.all for picture in pictures]
        if sum(counts) > spending.budget:
            counts = divided(lambda tolerance: [one.within(tolerance, plain)[0].tokens for one in pictures], counts, spending.budget)
        pictures = [measured(image, rule, count, resample, device) for image, count in zip(images, counts)]
    elif spending.tolerance is None:
        counts = []
        for image in images:
            columns, rows = rule.size(*image.size)
            counts.append(spending.budget if spending.budget is not None else shared(spending.share or 1.0, columns * rows))
        pictures = [measured(image, rule, count, resample, device) for image, count in zip(images, counts)]
    else:
        pictures = [refined(measured(image, rule, None, resample, device), spending.tolerance, device) for image in images]
        counts = [0] * len(images)
    for picture, count in zip(pictures, counts):
        found, candidates = (picture.within(spending.tolerance, spending.way) if spending.tolerance is not None
                             else picture.with_tokens(count, spending.way))
        chosen.append(found)
        among.append(candidates)
    return pictures, chosen, among


def uncompared(among: list[list[Candidate]], numbers: Sequence[int]) -> str | None:
    """Why a smaller picture is not among the candidates of some picture; None: it is among those of all. numbers: those of the images."""
    lacking = [str(number) for number, one in zip(numbers, among) if not {"smaller", "full"} & {candidate.way for candidate in one}]
    if not lacking:
        return None
    return f"the processor makes none of so few tokens of picture{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"


def divided(needed: Callable[[float], list[int]], most: Sequence[int], budget: int, least: Sequence[int] | None = None) -> list[int]:
    """Divides tokens so that each picture loses about the same: of all tolerances the least that they are enough for.

    `needed` says how many tokens each picture needs for a tolerance. What is then left goes to those that need most. `least`: so many
    each picture has at least; None: 1.
    """
    low, high, found = 0.0, 1.0, [1] * len(most) if least is None else list(least)
    for _ in range(12):
        middle = (low + high) / 2
        counts = needed(middle)
        if sum(counts) <= budget:
            high, found = middle, counts
        else:
            low = middle
    rest, total = budget - sum(found), sum(found)
    found = [min(count + rest * count // total, size) for count, size in zip(found, most)]
    for i in sorted(range(len(found)), key=lambda i: -found[i]):
        found[i] += min(max(budget - sum(found), 0), most[i] - found[i])
    return found
