# SPDX-License-Identifier: Apache-2.0
"""Spends tokens on the videos of a batch: smaller frames, fewer of them, or what has changed of finer ones.

What is best differs from video to video: a screen recording is worth its finest size, of which little changes; where everything
moves, smaller frames are. So all are tried on the frames that the processor has made, and the one with the least squared error is
taken. A frame that a model does not get is the one before it, and so is a token (conditional replenishment). Smaller frames and
fewer frames are always among them: a choice is never predicted to be worse than these.

A Qwen3-VL writes each slot's time before its tokens. This text counts, as it fills the prompt like any token; a slot of which nothing
is kept goes without it (QwenBatch).
"""
from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from .._core import ArgumentError
from ._held import held_of, shown_by
from ._ways import QUARTER, Candidate, Report, Spending, shared

_TRIES = 8  # numbers of tokens that are tried where the text of slots counts, too
_BETWEEN = 3  # sizes that are tried between the smaller one, all of whose tokens fit, and the full one


@dataclasses.dataclass(frozen=True)
class _Shape:
    """How a processor of Qwen-VL's kind lays out patches: of `side` pixels, `temporal` frames each, `merge` along a token's sides."""

    side: int
    temporal: int
    merge: int

    def frames(self, pixels: torch.Tensor, grid: tuple[int, int, int]) -> torch.Tensor:
        """Frames [slots, temporal, channels, height, width] of the patches of a video."""
        t, h, w = grid
        m, side = self.merge, self.side
        parts = pixels.reshape(t, h // m, w // m, m, m, -1, self.temporal, side, side)
        return parts.permute(0, 6, 5, 1, 3, 7, 2, 4, 8).reshape(t, self.temporal, -1, h * side, w * side)

    def patches(self, frames: torch.Tensor) -> torch.Tensor:
        """The other way round."""
        t, temporal, channels, height, width = frames.shape
        m, side = self.merge, self.side
        parts = frames.reshape(t, temporal, channels, height // (m * side), m, side, width // (m * side), m, side)
        return parts.permute(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(-1, channels * temporal * side * side)

    def resized(self, pixels: torch.Tensor, grid: tuple[int, int, int], size: tuple[int, int]) -> torch.Tensor:
        """The patches of the video at a smaller size, in patches, one slot after the other."""
        if size == grid[1:]:
            return pixels
        unit = grid[1] * grid[2]
        return torch.cat([self.patches(_resize(self.frames(part, (1, *grid[1:]))[0], size, self.side)[None]) for part in pixels.split(unit)])


def _resize(frames: torch.Tensor, size: tuple[int, int], side: int) -> torch.Tensor:
    """Frames [n, channels, height, width] at a size in patches."""
    found = torch.nn.functional.interpolate(frames.float(), (size[0] * side, size[1] * side), mode="bicubic", antialias=True)
    return found.clamp(frames.amin(), frames.amax()).to(frames.dtype)


class _Film:
    """One video as the processor has made it, and what is lost by the candidates."""

    def __init__(self, pixels: torch.Tensor, grid: tuple[int, int, int], shape: _Shape, texts: list[int] | None = None) -> None:
        """texts: how many tokens of text each slot has in the prompt; None: none."""
        self.pixels, self.grid, self.shape = pixels, grid, shape
        self.slots, self.places = grid[0], math.prod(grid) // shape.merge**2
        self.texts = torch.tensor([0] * self.slots if texts is None else texts)
        self.first, self.text = int(self.texts[0]), int(self.texts.sum())
        self.all = self.places + self.text
        # What is compared is the last frame of each slot, which is the one that is held.
        self.grey = torch.cat([shape.frames(part, (1, *grid[1:]))[0, -1:].float().mean(1, keepdim=True)
                               for part in pixels.split(grid[1] * grid[2])])
        means = self.grey.mean((1, 2, 3), keepdim=True)
        self.whole = max(float((self.grey - means).square().mean(dtype=torch.float64)), 1e-12)
        self._enlarged = (self.grid[1:], self.grey)

    def size_of(self, tokens: int) -> tuple[int, int]:
        """The largest size, in patches, of the video's shape with so many tokens a slot, but at least one."""
        merge, (_, h, w) = self.shape.merge, self.grid
        best = (merge, merge)
        for columns in range(1, w // merge + 1):
            rows = max(1, round(columns * h / w))
            if rows * columns <= tokens and rows <= h // merge:
                best = (rows * merge, columns * merge)
        return best

    def sizes(self, count: int) -> list[tuple[int, int]]:
        """The sizes that are tried for so many tokens."""
        _, h, w = self.grid
        least, most = self.size_of(max(1, (count - self.text) // self.slots)), (h, w)
        steps = [(least[0] * least[1]) ** (1 - i / (_BETWEEN + 1)) * (h * w) ** (i / (_BETWEEN + 1)) for i in range(1, _BETWEEN + 1)]
        found = [least, *(self.size_of(int(step) // self.shape.merge**2) for step in steps), most]
        return list(dict.fromkeys(found))

    def tokens(self, size: tuple[int, int]) -> int:
        return size[0] * size[1] // self.shape.merge**2

    def candidates(self, count: int, way: str) -> Iterator[tuple[str, tuple[int, int], torch.Tensor]]:
        """Ways, sizes, and bools [slots, tokens]: which tokens are kept."""
        sizes = self.sizes(count)
        fitting = [size for size in sizes if self.tokens(size) * self.slots + self.text <= count]
        larger = any(count >= self.tokens(size) + self.first for size in sizes if size not in fitting)
        for size in sizes:
            each = self.tokens(size)
            if size in fitting:
                # Nothing of it has to be left out. It is the answer for "pruned" where no slot of a larger size has so few tokens.
                if way == "pruned" and size != self.grid[1:] and (larger or size != max(fitting, key=self.tokens)):
                    continue
                yield "smaller" if size != self.grid[1:] else "full", size, torch.ones(self.slots, each, dtype=torch.bool)
                continue
            if each + self.first > count:
                continue
            if way != "pruned":
                yield "frames", size, self._spaced(each, count)
            if way != "smaller":
                yield "pruned", size, self._held(size, count)

    def cost(self, kept: torch.Tensor) -> int:
        """The tokens that are kept, of bools [slots, tokens], and the text of slots that have any."""
        return int(kept.sum()) + int(self.texts[kept.any(1)].sum())

    def _spaced(self, each: int, count: int) -> torch.Tensor:
        """All of each second slot, or each third, ...: the first of these that is no more than `count`, which the first slot is not."""
        every = next(every for every in range(1, self.slots + 1)
                     if -(-self.slots // every) * each + int(self.texts[::every].sum()) <= count)
        return (torch.arange(self.slots) % every == 0)[:, None].expand(-1, each).clone()

    def _held(self, size: tuple[int, int], count: int) -> torch.Tensor:
        """What has changed, as much as costs no more than `count`, which the first slot does not."""
        small, each = self.shape.resized(self.pixels, self.grid, size), self.tokens(size)
        shown = shown_by(small, (self.slots, *size), self.shape.merge, self.shape.temporal)

        def kept(tokens: int) -> torch.Tensor:
            return held_of(shown, tokens).reshape(self.slots, each)

        few, many = each, count - self.first
        best = kept(many)
        if self.cost(best) <= count:
            return best
        best = kept(few)
        for _ in range(_TRIES):
            middle = (few + many) // 2
            if middle == few:
                break
            tried = kept(middle)
            if self.cost(tried) <= count:
                few, best = middle, tried
            else:
                many = middle
        return best

    def enlarged(self, size: tuple[int, int]) -> torch.Tensor:
        """The frames as they are seen at a size. Those of the last size are kept: two candidates have each."""
        if self._enlarged[0] != size:
            height, width = self.grey.shape[2:]
            self._enlarged = (size, self.grey if size == self.grid[1:] else torch.cat(
                [_resize(_resize(grey[None], size, self.shape.side), (height, width), 1) for grey in self.grey]))
        return self._enlarged[1]

    def loss(self, size: tuple[int, int], kept: torch.Tensor) -> float:
        """The squared error of what is shown, as a share of what is lost if each slot is one colour."""
        _, _, height, width = self.grey.shape
        merge = self.shape.merge
        rows, columns = size[0] // merge, size[1] // merge
        across = (torch.arange(width) * columns // width).to(self.grey.device)
        down = (torch.arange(height) * rows // height).to(self.grey.device)
        shown, lost = torch.zeros_like(self.grey[0, 0]), 0.0
        for grey, now, flags in zip(self.grey, self.enlarged(size), kept.to(self.grey.device)):
            if bool(flags.any()):
                shown = torch.where(flags.reshape(rows, columns)[down][:, across], now[0], shown)
            lost += float((shown - grey[0]).square().mean())
        return lost / self.slots / self.whole


def chosen_here(spending: Spending | None, model_type: str) -> bool:
    """Whether the sizes of videos are chosen. Those of a GLM are not: it writes the places of their tokens in another way."""
    return spending is not None and spending.way in ("auto", "smaller", "pruned") and not model_type.startswith("glm4v")


@dataclasses.dataclass(frozen=True)
class _Tried:
    """A candidate, its size in patches, and which of its tokens are kept, [slots, tokens]."""

    candidate: Candidate
    size: tuple[int, int]
    kept: torch.Tensor


def _of_count(film: _Film, way: str, count: int) -> tuple[_Tried, list[_Tried]]:
    """The candidate of so many tokens that loses least, and all of them."""
    merge = film.shape.merge
    tried = [_Tried(Candidate(found, size[1] // merge, size[0] // merge, film.cost(kept), film.loss(size, kept)), size, kept)
             for found, size, kept in film.candidates(count, way)]
    return min(tried, key=lambda one: (one.candidate.loss, one.candidate.tokens)), tried


def _of_tolerance(film: _Film, way: str, tolerance: float) -> tuple[_Tried, list[_Tried]]:
    """The same of about the fewest tokens, to a fiftieth, whose best candidate loses no more than the tolerance."""
    few, enough = film.first, film.all
    found = _of_count(film, way, enough)  # the full video is among these
    while enough - few > max(1, enough // 50):
        count = max(few + 1, round((max(few, 1) * enough) ** 0.5))
        best, among = _of_count(film, way, count)
        if best.candidate.loss <= tolerance:
            found, enough = (best, among), min(count, best.candidate.tokens)
        else:
            few = count
    return found


def spend(batch: Mapping[str, Any], video_token: int, padding: int, spending: Spending, vision: Any) -> tuple[dict[str, Any], list[torch.Tensor], Report]:
    """The batch with its videos at the sizes that were chosen, for each video the numbers of the tokens that are kept, and what was decided.

    A budget is that of all videos of a conversation, each of which gets its share of it. A tolerance is the squared error that each
    video may have, as a share of that of slots of one colour each. padding: the token that fills up rows.
    """
    began = time.perf_counter()
    shape = _Shape(int(vision.patch_size), int(vision.temporal_patch_size), int(vision.spatial_merge_size))
    grids = [(int(t), int(h), int(w)) for t, h, w in batch["video_grid_thw"]]
    pixels = batch["pixel_values_videos"].split([math.prod(grid) for grid in grids])
    texts = _texts(batch["input_ids"] == video_token, [(grid[0], math.prod(grid) // shape.merge**2) for grid in grids])
    films = [_Film(part, grid, shape, own) for part, grid, own in zip(pixels, grids, texts)]
    if spending.tolerance is not None and not spending.default:
        decided = [_of_tolerance(film, spending.way, spending.tolerance) for film in films]
    else:
        counts = _counts(spending, _by_row(batch["input_ids"] == video_token, films))
        decided = [_of_count(film, spending.way, count) for film, count in zip(films, counts)]
    made = _smaller(batch, video_token, padding, films, [best.size for best, _ in decided])
    report = Report([best.candidate for best, _ in decided], [[one.candidate for one in among] for _, among in decided],
                    [film.all for film in films], 1000 * (time.perf_counter() - began))
    return made, [best.kept.reshape(-1).nonzero()[:, 0] for best, _ in decided], report


def _texts(places: torch.Tensor, films: list[tuple[int, int]]) -> list[list[int]]:
    """How many tokens of text each slot of videos has, which have so many slots and tokens: those between it and the one before.

    The first one, before which anything may stand, is taken to have as many as the second one.
    """
    columns, found, first = places.nonzero()[:, 1].cpu(), [], 0
    if len(columns) != sum(tokens for _, tokens in films):
        raise ArgumentError(f"the prompts have {len(columns)} places for tokens, pixel_values_videos has {sum(tokens for _, tokens in films)}")
    for slots, tokens in films:
        own = columns[first:first + tokens].reshape(slots, -1)
        between = (own[1:, 0] - own[:-1, -1] - 1).tolist()
        found.append([*between[:1], *between] if slots > 1 else [0])
        first += tokens
    return found


def _by_row(places: torch.Tensor, films: list[_Film]) -> list[list[_Film]]:
    """The videos, row by row: those of a row have as many tokens as it has places."""
    rows, rest = [], list(films)
    for count in places.sum(1).tolist():
        own: list[_Film] = []
        while sum(film.places for film in own) < count and rest:
            own.append(rest.pop(0))
        rows.append(own)
    return rows


def _counts(spending: Spending, rows: list[list[_Film]]) -> list[int]:
    """How many tokens each video of the rows gets."""
    if spending.budget is None:
        share = spending.share or QUARTER
        return [max(1 + film.first, shared(share, film.all)) for films in rows for film in films]
    counts = []
    for films in rows:
        least = [1 + film.first for film in films]
        if spending.budget < sum(least):
            needed = "each needs at least one" if sum(least) == len(films) else f"one of each and the text before it are {sum(least)}"
            raise ArgumentError(f"a budget of {spending.budget} tokens for {len(films)} videos; {needed}")
        counts += _divided(spending.budget, [film.all for film in films], least)
    return counts


def _divided(budget: int, tokens: list[int], least: list[int]) -> list[int]:
    """A budget, of at least the sum of the least, divided by how many tokens there are, to the last one (the largest remainders)."""
    if budget >= sum(tokens):
        return tokens
    exact = [(budget - sum(least)) * count / sum(tokens) for count in tokens]
    own = [few + int(part) for few, part in zip(least, exact)]
    order = sorted(range(len(tokens)), key=lambda i: int(exact[i]) - exact[i])
    for i in order[:budget - sum(own)]:
        own[i] += 1
    return [min(count, part) for count, part in zip(tokens, own)]


def _smaller(batch: Mapping[str, Any], token: int, filling: int, films: list[_Film], sizes: list[tuple[int, int]]) -> dict[str, Any]:
    """The batch in which videos have these sizes, and the prompt as many places for their tokens."""
    ids = batch["input_ids"]
    stays = torch.ones_like(ids, dtype=torch.bool)
    stays[ids == token] = torch.cat([torch.arange(film.places) % film.tokens(film.grid[1:]) < film.tokens(size)
                                     for film, size in zip(films, sizes)]).to(ids.device)
    padding = batch.get("attention_mask", torch.ones_like(ids)) == 0
    length = int((stays & ~padding).sum(1).max())
    made = {name: _without(value, stays, length, filling if value is ids else 0)
            if isinstance(value, torch.Tensor) and value.shape == ids.shape else value for name, value in batch.items()}
    made["pixel_values_videos"] = torch.cat([film.shape.resized(film.pixels, film.grid, size) for film, size in zip(films, sizes)])
    grid = batch["video_grid_thw"]
    made["video_grid_thw"] = torch.tensor([(film.slots, *size) for film, size in zip(films, sizes)], dtype=grid.dtype, device=grid.device)
    return made


def _without(values: torch.Tensor, stays: torch.Tensor, length: int, filling: int) -> torch.Tensor:
    """Rows without some of their places, filled up on the left."""
    rows = []
    for row, flags in zip(values, stays):
        kept = row[flags][-length:]
        rows.append(torch.cat([kept.new_full((length - len(kept),), filling), kept]))
    return torch.stack(rows)
