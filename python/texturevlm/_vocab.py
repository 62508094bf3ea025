# SPDX-License-Identifier: Apache-2.0
"""Vocabularies, which put the number of the nearest of n centres in place of an encoder's vector."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arguments import Array, chars, file_name, floats, host, integer, short, values
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, Handle, LOG, Value, call, owned
from ._device import Device, device_of


class Vocab(Value):
    """n k-means centres of D components, made of vectors that are scaled to length 1. A vocabulary belongs to no device.

        vocab = tv.Vocab.train(blocks, 1024)
        ids, residuals = vocab.assign(features)      # once for each image; ids are two bytes each
        scores = vocab.score(ids, question)          # without the features

    Parameters:
        centres: float [n, D], from `train` or from any other k-means. They are means of vectors of length 1, so none is longer
            than 1.
    """

    def __init__(self, centres: Any) -> None:
        rows = values("centres", centres, (2,))
        fields = {"count": rows.shape[0], "dimension": rows.shape[1], "centres": floats(rows)}
        box = ffi.new("tvlm_vocab **")
        call(lib.tvlm_vocab_create, ffi.new("struct tvlm_vocab_params *", fields), LOG, box)
        self._take(box)

    def _take(self, box: Any) -> None:
        self._pointer = owned(box[0], "vocab")
        self._params = ffi.new("struct tvlm_vocab_params *")
        call(lib.tvlm_vocab_get_params, self._pointer, self._params)

    @classmethod
    def _of(cls, box: Any) -> Vocab:
        vocab = cls.__new__(cls)
        vocab._take(box)
        return vocab

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocab:
        """Reads the file of a vocabulary (.safetensors), written by `save` or by `tvlm-lab vocab train` (texturevlm/lab/io_vocab.h)."""
        box, name = ffi.new("tvlm_vocab **"), file_name("path", path)
        call(lib.tvlm_vocab_load, chars("path", name), LOG, box, path=name)
        return cls._of(box)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the vocabulary to a file. The file appears whole or not at all."""
        call(lib.tvlm_vocab_save, chars("path", file_name("path", path)), self._pointer, LOG)

    @classmethod
    def train(cls, blocks: Iterable[Any], n: int = 1024, *, seed: int = 0, rounds: int = 5, sample: int = 64,
              device: Device | str | None = None) -> Vocab:
        """Finds the centres of many vectors, which come in blocks.

        The blocks are read once, and a sample of the vectors is kept. The same blocks and seed give the same centres on every
        device.

        Parameters:
            blocks: arrays, float [m, D] each.
            n: how many centres there are.
            seed: the seed of the random numbers.
            rounds: how often the method goes through the sample.
            sample: how many vectors are kept for each centre.

        Errors: `ArgumentError` for a vector that is not finite, and for fewer vectors other than 0 than there are centres.
        """
        target = device_of(device)
        if isinstance(blocks, np.ndarray):
            blocks = [blocks]
        if not isinstance(blocks, Iterable) or isinstance(blocks, (str, bytes, dict)):
            raise ArgumentTypeError(f"blocks are {short(blocks)}, not arrays of vectors")
        params = ffi.new("struct tvlm_vocab_trainer_params *", {
            "count": integer("n", n, 1, lib.TVLM_VOCAB_COUNT_MAX), "seed": integer("seed", seed, 0, 2**63 - 1),
            "rounds": integer("rounds", rounds, 1, lib.TVLM_VOCAB_ROUNDS_MAX), "sample": integer("sample", sample, 1, 65536)})
        box, handle = ffi.new("tvlm_vocab **"), None
        for block in blocks:
            array = values("vectors", block, (2,))
            if handle is None:
                params.dimension = array.shape[1]
                handle = Handle(target._owner, "vocab_trainer").make(lib.tvlm_vocab_trainer_create, target._owner.pointer, params)
            if array.shape[1] != params.dimension:
                raise ArgumentError(f"vectors have {array.shape[1]} components, those before {params.dimension}")
            if array.shape[0]:
                handle.call(lib.tvlm_vocab_trainer_add, floats(array), array.shape[0])
        if handle is None:
            raise ArgumentError("there are no vectors to train with")
        handle.call(lib.tvlm_vocab_trainer_finish, box)
        handle.close()
        return cls._of(box)

    @property
    def count(self) -> int:
        """n: how many centres there are."""
        return int(self._params.count)

    @property
    def dimension(self) -> int:
        """How many components a vector has."""
        return int(self._params.dimension)

    @property
    def vectors(self) -> int:
        """How many vectors the vocabulary was made from; 0 if that is unknown."""
        return int(self._params.vectors)

    @property
    def error(self) -> float:
        """The mean of the squared residuals of the vectors that it was trained with; 0 if that is unknown."""
        return float(self._params.error)

    @property
    def centres(self) -> Array:
        """float32 [n, D]: the centres."""
        size = self.count * self.dimension * 4
        return np.frombuffer(ffi.buffer(self._params.centres, size), np.float32).reshape(self.count, self.dimension).copy()

    def assign(self, vectors: Any, *, device: Device | str | None = None) -> tuple[Array, Array]:
        """Finds the nearest centre of each of the vectors [..., D].

        Gives two arrays: uint16 [...], the numbers of the centres, and float32 [...], the distance of each vector, scaled to
        length 1, from its centre. The results are the same on every device.
        """
        target, array = device_of(device), values("vectors", vectors, (1, 2, 3, 4))
        if array.shape[-1] != self.dimension:
            raise ArgumentError(f"vectors have {array.shape[-1]} components, the vocabulary {self.dimension}")
        ids, residuals = np.empty(array.shape[:-1], np.int32), np.empty(array.shape[:-1], np.float32)
        target._call(lib.tvlm_vocab_assign, target._owner.pointer, self._pointer, floats(array), ids.size,
                     ffi.cast("int32_t *", ids.ctypes.data), floats(residuals))
        return ids.astype(np.uint16), residuals

    def ask(self, questions: Any) -> Array:
        """Multiplies questions, scaled to length 1, with the centres.

        A question [D] gives float32 [n], and questions [N, D] give float32 [N, n].
        """
        array = values("questions", questions, (1, 2))
        if array.shape[-1] != self.dimension:
            raise ArgumentError(f"questions have {array.shape[-1]} components, the vocabulary {self.dimension}")
        answers = np.empty((*array.shape[:-1], self.count), np.float32)
        call(lib.tvlm_vocab_ask, self._pointer, LOG, floats(array), array.size // self.dimension, floats(answers))
        return answers

    def score(self, ids: Any, question: Any) -> Array:
        """Scores cells by a question [D]: gives float32 of the shape of `ids`, the centres of the cells, from `assign`."""
        numbers = host("ids", ids)
        if numbers.dtype.kind not in "ui":
            raise ArgumentTypeError(f"ids are {short(ids)}, not whole numbers")
        if numbers.size and (int(numbers.min()) < 0 or int(numbers.max()) >= self.count):
            raise ArgumentError(f"ids are {numbers.min()} .. {numbers.max()}; the vocabulary has {self.count} centres")
        answers = self.ask(question)
        if answers.ndim != 1:
            raise ArgumentError(f"question has {answers.shape[0]} vectors, not one")
        return np.asarray(answers[numbers], dtype=np.float32)

    def __repr__(self) -> str:
        return f"<texturevlm.Vocab of {self.count} x {self.dimension}>"
