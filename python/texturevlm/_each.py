# SPDX-License-Identifier: Apache-2.0
"""Lists of images: one after the other, what fails, and how far it is."""
from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable, TypeVar, Union

from ._arguments import choice, short
from ._core import ArgumentTypeError, Error, logger
from ._image import numbered

T = TypeVar("T")
Progress = Union[bool, None, Callable[[int, int], Any]]

ERRORS = ["raise", "skip"]
_PATIENCE = 2.0  # seconds after which a person wants to know how far it is


def each(images: Sequence[Any], answer: Callable[[int, Any], T], errors: str, progress: Progress) -> list[T | Error]:
    """What `answer` gives of each image, by its place and itself. See texturevlm.select for `errors` and `progress`."""
    skip = on_error(errors)
    found: list[T | Error] = []
    count = len(images)
    for place in _shown(count, progress):
        try:
            found.append(answer(place, images[place]))
        except Error as error:
            numbered(error, place, count)
            if not skip:
                raise
            logger.warning("%s", error)
            found.append(error.with_traceback(None))  # whose frames hold the image
    return found


def on_error(errors: Any) -> bool:
    """Whether what fails is skipped."""
    return choice("errors", errors, ERRORS) == 1


def checked(progress: Any) -> Progress:
    """An argument that says who is told how far it is."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise ArgumentTypeError(f"progress is {short(progress)}; it must be True, False, None or a function of two numbers")
    found: Progress = progress
    return found


def _shown(count: int, progress: Progress) -> Iterator[int]:
    """The numbers 0 .. count - 1, while somebody is told."""
    told = checked(progress)
    if callable(told):
        for place in range(count):
            yield place
            told(place + 1, count)
    elif told or (told is None and sys.stderr is not None and sys.stderr.isatty()):
        yield from _bar(count, 0.0 if told else _PATIENCE)
    else:
        yield from range(count)


def _bar(count: int, patience: float) -> Iterator[int]:
    """By tqdm, where that is installed, else by a line that is written anew; not before so many seconds."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        yield from _line(count, patience)
    else:
        yield from tqdm(range(count), desc="texturevlm", unit="image", delay=patience, leave=False)


def _line(count: int, patience: float) -> Iterator[int]:
    began = last = time.monotonic()
    shown = False
    try:
        for place in range(count):
            yield place
            now = time.monotonic()
            if now - began >= patience and (now - last > 0.2 or place + 1 == count):
                print(f"\rtexturevlm: {place + 1} of {count} images", end="", file=sys.stderr, flush=True)
                last, shown = now, True
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
