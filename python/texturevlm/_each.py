# SPDX-License-Identifier: Apache-2.0
"""Works through a list of images, handles the images that fail, and shows the progress."""
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
_PATIENCE = 2.0  # seconds after which progress is shown unless the caller said whether to show it


def each(images: Sequence[Any], answer: Callable[[int, Any], T], errors: str, progress: Progress) -> list[T | Error]:
    """Calls `answer(place, image)` for each image, and gives the answers. `select` documents `errors` and `progress`."""
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
            found.append(error.with_traceback(None))  # a traceback would keep the image alive
    return found


def on_error(errors: Any) -> bool:
    """Whether images that fail are skipped."""
    return choice("errors", errors, ERRORS) == 1


def checked(progress: Any) -> Progress:
    """Checks the argument `progress`, which says who is told about the progress."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise ArgumentTypeError(f"progress is {short(progress)}; it must be True, False, None or a function of two numbers")
    found: Progress = progress
    return found


def _shown(count: int, progress: Progress) -> Iterator[int]:
    """Yields 0 .. count - 1, and reports the progress meanwhile."""
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
    """Yields 0 .. count - 1 and shows a bar: by tqdm if it is installed, else as a line that is rewritten.

    Nothing is shown before `patience` seconds have passed.
    """
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
