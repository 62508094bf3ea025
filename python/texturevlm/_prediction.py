# SPDX-License-Identifier: Apache-2.0
"""Predictions: what pictures of an image would lose, before any of them is made."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arguments import Array, host, integer, real, short
from ._binding import ffi, lib
from ._core import LOG, ArgumentError, ArgumentTypeError, Value, call, owned

PICTURES = int(lib.TVLM_PICTURES_MAX)


def pictures_of(pictures: Any) -> list[tuple[int, int]]:
    """The sizes of pictures as a list of (columns, rows)."""
    if not isinstance(pictures, (list, tuple)) or not all(isinstance(one, (list, tuple)) and len(one) == 2 for one in pictures):
        raise ArgumentTypeError(f"pictures are {short(pictures)}, not a list of (columns, rows)")
    return [(integer("columns", columns, 1), integer("rows", rows, 1)) for columns, rows in pictures]


class Prediction(Value):
    """What pictures of one image would lose, whole or without some of their tokens. `texturevlm.predict` makes it.

        prediction = tv.predict("photo.jpg", [(20, 15), (40, 30)], patch=28)
        prediction.loss(0)                  # all 300 tokens of a picture of 560 x 420 pixels
        kept, loss = prediction.keep(1, 300)   # the 300 of the 1200 tokens of one of 1120 x 840 of which most would be lost

    A loss is 0 where nothing is lost, and 1 where a picture of one token would be shown. Compare losses within one prediction. It
    is about pixels, and knows nothing of what a model can do with tokens that have holes between them.
    """

    def __init__(self, pointer: Any, pictures: list[tuple[int, int]]) -> None:
        self._pointer = owned(pointer, "prediction")
        self._lock = threading.Lock()
        self._sizes = tuple(pictures)  # of its own: the buffers that the library fills have these sizes

    @property
    def pictures(self) -> list[tuple[int, int]]:
        """A list of (columns, rows), in tokens."""
        return list(self._sizes)

    def _size(self, index: Any) -> tuple[int, int, int]:
        number = integer("index", index, 0, len(self._sizes) - 1)
        return (number, *self._sizes[number])

    @staticmethod
    def _flags(kept: Any, columns: int, rows: int) -> Any:
        """The mask that the library reads: its owner lives as long as what is returned."""
        if kept is None:
            return ffi.NULL
        array = host("kept", kept)
        if array.shape != (rows, columns):
            raise ArgumentError(f"kept has the shape {array.shape}, not {(rows, columns)}: the picture's rows and columns")
        return ffi.from_buffer("uint8_t[]", np.ascontiguousarray(array != 0).view(np.uint8))

    def set_overview(self, index: int | None) -> None:
        """Says what is seen where a token is not shown: the picture `index`, which the model gets beside the others, whole, as an overview.

        None: a picture of one token, as at first. What the other methods say is then about a picture with that overview beside it. It
        applies to all threads that use this prediction.
        """
        number = -1 if index is None else self._size(index)[0]
        with self._lock:
            call(lib.tvlm_prediction_set_overview, self._pointer, number)

    def loss(self, index: int, kept: Any = None) -> float:
        """What a picture loses. `kept` is [rows, columns], true for the tokens that are kept; None: all are.

        What is lost under a dropped token is what a picture of one token loses there. Hardly anything is lost where it is blank, or
        repeats a neighbour that is shown, as along a line.
        """
        number, columns, rows = self._size(index)
        flags, found = self._flags(kept, columns, rows), ffi.new("float *")
        with self._lock:
            call(lib.tvlm_prediction_loss, self._pointer, number, flags, found)
        return float(found[0])

    def shown(self, index: int, kept: Any = None) -> Array:
        """How each token of a picture is shown, uint8 [rows, columns], where those of `kept` are kept (None: all).

        - 0: not at all.
        - 1: it is kept.
        - 2: it is blank, and what is around it shows its colour.
        - 3: it repeats the token to the left, which is kept or repeats another.
        - 4: the same, of the token above.
        """
        number, columns, rows = self._size(index)
        flags, found = self._flags(kept, columns, rows), np.empty((rows, columns), np.uint8)
        with self._lock:
            call(lib.tvlm_prediction_shown, self._pointer, number, flags, ffi.from_buffer("uint8_t[]", found))
        return found

    def keep(self, index: int, n: int) -> tuple[Array, float]:
        """The n tokens of a picture of which most would be lost, and what the picture then loses.

        Gives bool [rows, columns] and the loss. Blank tokens, and those that repeat a neighbour, are kept last; of equal tokens the
        first.
        """
        number, columns, rows = self._size(index)
        count = integer("n", n, 0, columns * rows)
        mask, found = np.empty((rows, columns), np.uint8), ffi.new("float *")
        with self._lock:
            call(lib.tvlm_prediction_keep, self._pointer, number, count, ffi.from_buffer("uint8_t[]", mask), found)
        return mask.view(np.bool_), float(found[0])

    def least(self, index: int, tolerance: float) -> int | None:
        """How few tokens of a picture lose no more than `tolerance`, 0 .. 1. None: even all of them lose more."""
        number = self._size(index)[0]
        most, found = real("tolerance", tolerance, 0.0), ffi.new("int32_t *")
        with self._lock:
            call(lib.tvlm_prediction_least, self._pointer, number, most, found)
        return None if found[0] < 0 else int(found[0])

    def __repr__(self) -> str:
        sizes = ", ".join(f"{columns} x {rows}" for columns, rows in self._sizes[:4])
        return f"<texturevlm.Prediction of {len(self._sizes)} pictures: {sizes}{' ...' if len(self._sizes) > 4 else ''} tokens>"


def predict(stack: Any, chosen: Any, pictures: Sequence[tuple[int, int]]) -> Prediction:
    """Asks the library. The caller holds the device's lock, and has put the choice's own numbers in their places."""
    sizes = pictures_of(pictures)
    if not 1 <= len(sizes) <= PICTURES:
        raise ArgumentError(f"there are {len(sizes)} pictures; it must be 1 .. {PICTURES}")
    box = ffi.new("tvlm_prediction **")
    call(lib.tvlm_predict, stack, chosen.query, chosen.c, ffi.new("tvlm_picture[]", sizes), len(sizes), box)
    return Prediction(box[0], sizes)
