# SPDX-License-Identifier: Apache-2.0
"""What texturevlm._ways needs of transformers: the sizes of pictures that a processor makes, and pictures that it has made already."""
from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
import time
from collections.abc import Iterable
from typing import Any, Callable

import numpy as np
import transformers

from .._core import ArgumentError
from .._functions import predict
from .._prediction import Prediction
from .._ways import (QUARTER, WAYS, Candidate, Measured, Report, Rule, Spending, check_budget, decide, divided, measured, share_of, shared, spending_of,
                     uncompared)

__all__ = ["Candidate", "Measured", "QUARTER", "Report", "Rule", "Spending", "WAYS", "decide", "given_as", "measured", "own_function", "picture_of",
           "pixtral_rule", "refuse_size", "rule_of", "share_of", "shared", "since", "spending_of", "uncompared", "without_least"]

TOKEN = 64
"""The largest side of a token, in pixels, that can be measured."""


# ---- The processor's rule ----

def own_function(images: Any, name: str) -> Any:
    """A function by which a processor of images finds sizes, from the module of its class; None: it has none, or does not resize."""
    return None if getattr(images, "do_resize", True) is False else _function_of(images, name)


def _function_of(images: Any, name: str) -> Any:
    """A function from the module of a processor's class, or of the classes that it is made of; None: they have none."""
    modules = (sys.modules.get(base.__module__) for base in type(images).__mro__)
    return next((getattr(module, name) for module in modules if hasattr(module, name)), None)


def rule_of(processor: Any, side: int) -> Rule | None:
    """The rule of a processor of Qwen-VL's kind, by its own function; None: it has none, or does not resize."""
    images = getattr(processor, "image_processor", None) or processor
    function = own_function(images, "smart_resize")
    limits = _limits(images)
    if function is None or limits is None:
        return None
    names = inspect.signature(function).parameters
    own: dict[str, Any] = {"factor": side}
    if "num_frames" in names:  # GLM counts the pixels of all frames of a token
        frames = int(getattr(images, "temporal_patch_size", 2))
        own.update(num_frames=frames, temporal_factor=frames)

    def resize(height: int, width: int, least: int, most: int) -> tuple[int, int]:
        try:
            found = function(height=height, width=width, min_pixels=least * frames_of, max_pixels=most * frames_of, **own)
        except ValueError as error:  # a picture that is far longer than wide
            raise ArgumentError(f"the processor refuses a picture of {width} x {height} pixels: {error}") from error
        return int(found[0]), int(found[1])

    frames_of = own.get("num_frames", 1)
    return Rule(side, limits[0] // frames_of, limits[1] // frames_of, resize)


def pixtral_rule(processor: Any, side: int) -> Rule | None:
    """The rule of a processor of Pixtral's kind (Mistral 3), by its own function; None: it has none, or does not resize.

    It makes an image smaller whose longer side has more than `longest_edge` pixels, and no image larger. A picture of fewer tokens is
    what it would make with a smaller `longest_edge`. Between the rows of a picture stand tokens, which differ with its shape: an
    image does not become several pictures.
    """
    images = getattr(processor, "image_processor", None) or processor
    function = own_function(images, "get_resize_output_image_size")
    try:
        longest = int(images.size["longest_edge"])
    except (AttributeError, KeyError, TypeError):
        return None
    if function is None:
        return None

    def with_edge(height: int, width: int, edge: int) -> tuple[int, int]:
        image = np.broadcast_to(np.zeros(1, np.uint8), (height, width, 3))  # the function asks for its shape alone
        found = function(image, size=(edge, edge), patch_size=(side, side), input_data_format="channels_last")
        return int(found[0]), int(found[1])

    def resize(height: int, width: int, least: int, most: int) -> tuple[int, int]:
        low, high = 1, min(longest, max(height, width))
        while low < high:  # the largest edge with so few pixels; with the least one there may be more
            middle = (low + high + 1) // 2
            high_pixels, wide_pixels = with_edge(height, width, middle)
            low, high = (middle, high) if high_pixels * wide_pixels <= most else (low, middle - 1)
        return with_edge(height, width, low)

    return Rule(side, side**2, 2**31, resize, several=False)


def _limits(images: Any) -> tuple[int, int] | None:
    """The fewest and the most pixels of a picture.

    Attributes come first: versions of transformers that have them resize by them, whatever `size` says.
    """
    size = getattr(images, "size", None)

    def entry(name: str) -> Any:
        try:
            return size[name]  # type: ignore[index]
        except (KeyError, TypeError, AttributeError):
            return None

    attributes = (getattr(images, "min_pixels", None), getattr(images, "max_pixels", None))
    entries = [(entry(low), entry(high)) for low, high in (("shortest_edge", "longest_edge"), ("min_pixels", "max_pixels"))]
    return next(((low, high) for low, high in [attributes, *entries] if isinstance(low, int) and isinstance(high, int)), None)


def picture_of(image: Any, images: Any, where: str = "an image") -> Any:
    """An image as an image of PIL in RGB, as a processor of images reads it.

    Versions of transformers differ in what becomes of transparent places, and of gray arrays: the processor's own function decides.
    """
    if getattr(image, "mode", None) == "RGB" and "transparency" not in image.info:
        return image
    try:
        values = _read(image, images)
    except (TypeError, ValueError, OSError, RuntimeError) as error:
        raise ArgumentError(f"{where} is no picture: {error}") from error
    if values.ndim != 3 or values.shape[-1] != 3:
        raise ArgumentError(f"{where} is no picture: the processor, a {type(images).__name__}, makes no RGB of its shape {values.shape}")
    if values.dtype != np.uint8:
        values = np.rint(values * (255.0 if _is_scaled(values, images) else 1.0)).clip(0, 255).astype(np.uint8)
    return importlib.import_module("PIL.Image").fromarray(np.ascontiguousarray(values))


def _read(image: Any, images: Any) -> Any:
    """The values of an image [height, width, colours], read by a processor's own function."""
    read = getattr(images, "process_image", None) or getattr(images, "_process_image", None)
    converts = getattr(images, "do_convert_rgb", None)
    if read is not None:
        return np.moveaxis(np.asarray(read(image, do_convert_rgb=converts)), 0, -1)
    convert = _function_of(images, "convert_to_rgb")
    if convert is not None and converts:
        image = convert(image)
    elif hasattr(image, "convert"):
        image = image.convert("RGB")
    return transformers.image_transforms.to_channel_dimension_format(np.asarray(image), "channels_last")


def _is_scaled(values: Any, images: Any) -> bool:
    """Whether values are taken for 0 .. 1: floats, of a processor that does not divide them by 255."""
    return bool(getattr(images, "do_rescale", None) is False and values.dtype.kind == "f" and values.max() <= 1)


def given_as(picture: Any, image: Any, images: Any) -> Any:
    """A picture that was made of an image, in the range in which a processor takes that image."""
    if hasattr(image, "convert") or not _is_scaled(np.asarray(image), images):
        return picture
    return np.asarray(picture, np.float32) / 255


# ---- Pictures that are made already ----

def refuse_size(way: str | None) -> None:
    """Refuses the ways that choose the size of a picture, where it is made already."""
    if way in ("smaller", "pictures"):
        raise ArgumentError(f"a batch has its pictures at one size already: give the images, not their tensors, for the way {way}")


Best = Callable[[int, int], Any]
"""A function from the number of a picture, and a number of tokens, to its best tokens by score: bool [rows, columns]."""


class _Made:
    """A picture whose size cannot be chosen any more.

    lines: how many tokens of the prompt stand beside those of the whole picture, and count: 1 stays where any token is kept; several
        are the ends of its rows, each of which stays where a token of that row is kept.
    best: which tokens are kept, by score; None: those of which most would be lost.
    floor: so many tokens are kept at least; more than one only of pictures without lines.
    all: how many tokens the picture has, with these.
    """

    def __init__(self, pixels: Any, side: int, lines: int, best: Callable[[int], Any] | None, device: Any, floor: int = 1) -> None:
        if side > TOKEN and best is None:
            raise ArgumentError(f"a token of {side} x {side} pixels cannot be measured, which is more than {TOKEN}: give way=\"cells\"")
        self.pixels, self._lines, self._best, self._floor = pixels, lines, best, floor
        self.columns, self.rows = int(pixels.shape[1]) // side, int(pixels.shape[0]) // side
        self.count = self.columns * self.rows
        self.all, self.least = self.count + lines, floor + min(lines, 1)
        size = [(self.columns, self.rows)]
        self._prediction: Prediction | None = None if side > TOKEN else predict(pixels, size, patch=side, device=device)

    def kept(self, count: int) -> Any:
        """Which tokens are kept if there are so many: bool [rows, columns]."""
        if count == self.count:
            return np.ones((self.rows, self.columns), bool)
        if self._best is not None:
            return self._best(count)
        assert self._prediction is not None
        return self._prediction.keep(0, count)[0]

    def cost(self, count: int) -> int:
        """How many tokens the prompt has if so many of the picture are kept."""
        if self._lines <= 1:
            return count + self._lines
        return count + int(self.kept(count).any(axis=1).sum())

    def within(self, tokens: int) -> int:
        """How many of the picture's tokens are kept if the prompt may have so many."""
        high = min(max(tokens - min(self._lines, 1), self._floor), self.count)
        low = min(max(tokens - self._lines, self._floor), high)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.cost(middle) <= tokens else (low, middle - 1)
        return low

    def needed(self, tolerance: float) -> int:
        """How many of the picture's tokens lose no more than a tolerance. Of a picture that cannot be measured, a share of all."""
        few = round((1 - tolerance) * self.count) if self._prediction is None else self._prediction.least(0, tolerance)
        return self.count if few is None else max(few, self._floor)

    def candidate(self, count: int) -> Candidate:
        way = "full" if count == self.count else "pruned" if self._best is None else "cells"
        loss = math.nan if self._prediction is None else self._prediction.loss(0, self.kept(count))
        return Candidate(way, self.columns, self.rows, self.cost(count), loss)


def without_least(pictures: Iterable[tuple[Any, int]], spending: Spending, groups: list[int] | None, device: Any,
                  lines: list[int] | None = None, best: Best | None = None, least: list[int] | None = None) -> tuple[list[Any], Report]:
    """Which tokens of pictures are kept whose size cannot be chosen any more: for each bool [rows, columns]; and the report.

    `pictures` yields pixels [height, width, 3] and the side of a token. `groups`, `lines` and `least` are as in `chosen_tokens`. `best`
    is for the way cells.
    """
    began = time.perf_counter()
    refuse_size(spending.way)
    found = [_Made(pixels, side, 0 if lines is None else lines[number], None if best is None else functools.partial(best, number), device,
                   1 if least is None else least[number]) for number, (pixels, side) in enumerate(pictures)]
    counts, first = [], 0
    for length in [len(found)] if groups is None else groups:
        counts += _counts_of(found[first:first + length], spending)
        first += length
    kept = [one.kept(count) for one, count in zip(found, counts)]
    chosen = [one.candidate(count) for one, count in zip(found, counts)]
    return kept, Report(chosen, [[one] for one in chosen], [one.all for one in found], since(began),
                        "the size of these pictures cannot be chosen any more", [(one.pixels, flags) for one, flags in zip(found, kept)])


def _counts_of(group: list[_Made], spending: Spending) -> list[int]:
    """How many tokens of each picture of a group are kept."""
    if spending.tolerance is not None:
        return [one.needed(spending.tolerance) for one in group]
    if spending.budget is None:
        return [one.within(shared(spending.share or 1.0, one.all)) for one in group]
    least = [one.least for one in group]
    if sum(least) == len(group):
        check_budget(spending, len(group))
    elif spending.budget < sum(least):
        raise ArgumentError(f"a budget of {spending.budget} tokens for {len(group)} pictures; with the ends of their lines these need at "
                            f"least {sum(least)}")
    every = [one.all for one in group]
    if spending.budget >= sum(every):
        return [one.count for one in group]
    parts = divided(lambda tolerance: [one.cost(one.needed(tolerance)) for one in group], every, spending.budget, least)
    counts = [one.within(part) for one, part in zip(group, parts)]
    rest = spending.budget - sum(one.cost(count) for one, count in zip(group, counts))
    for i, one in enumerate(group):  # a token in a new row takes two, and so some of a part may be left
        more = one.within(one.cost(counts[i]) + rest)
        rest -= one.cost(more) - one.cost(counts[i])
        counts[i] = more
    return counts


def since(began: float) -> float:
    return 1000 * (time.perf_counter() - began)
