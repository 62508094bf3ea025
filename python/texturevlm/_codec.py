# SPDX-License-Identifier: Apache-2.0
"""Codecs, which put few codes in place of many channels."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arguments import (Array, channel, channel_names, channels as channel_numbers, chars, file_name, flag, floats, integer, real,
                         short, values)
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, LOG, Value, call, owned
from ._device import Device
from ._network import Network
from ._options import Scorer
from ._stack import Stack


class Codec(Value):
    """A linear codec of n channels and k codes: ``code = encode (x - mean)``, and x is about ``decode code + mean``.

        codec = tv.Codec.train(photos, 8, scorers=[scorer])
        stack = tv.Stack("photo.jpg", network=codec.network)      # code_0 .. code_7 are channels of it
        stack.select(scorer=codec.fold(scorer), strategy="grid")  # reads 8 codes where `scorer` reads n channels

    Parameters:
        channels: the names of the n channels. Not allowed are identifiers, positions, query_similarity and the outputs of
            networks.
        encode: float [k, n].
        decode: float [n, k].
        mean: float [n]. None: 0.
        level: the level of the image at which the channels are read.
    """

    def __init__(self, channels: Any, encode: Any, decode: Any, *, mean: Any = None, level: int = 0) -> None:
        numbers = channel_numbers(channels)
        rows = values("encode", encode, (2,))
        columns = values("decode", decode, (2,))
        if rows.shape != columns.shape[::-1] or rows.shape[1] != len(numbers):
            raise ArgumentError(f"encode has the shape {rows.shape} and decode {columns.shape}; of {len(numbers)} channels they "
                                f"are (k, {len(numbers)}) and ({len(numbers)}, k)")
        keep = ffi.new("int32_t[]", numbers)
        fields = {"channels": keep, "channel_count": len(numbers), "k": rows.shape[0], "level": integer("level", level),
                  "encode": floats(rows), "decode": floats(columns)}
        if mean is not None:
            middle = values("mean", mean, (1,))
            if middle.shape[0] != len(numbers):
                raise ArgumentError(f"mean has {middle.shape[0]} values, not {len(numbers)}")
            fields["mean"] = floats(middle)
        box = ffi.new("tvlm_codec **")
        call(lib.tvlm_codec_create, ffi.new("struct tvlm_codec_params *", fields), LOG, box)
        self._take(box)

    def _take(self, box: Any) -> None:
        self._pointer = owned(box[0], "codec")
        self._params = ffi.new("struct tvlm_codec_params *")
        call(lib.tvlm_codec_get_params, self._pointer, self._params)

    @classmethod
    def _of(cls, box: Any) -> Codec:
        codec = cls.__new__(cls)
        codec._take(box)
        return codec

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codec:
        """Reads the file of a codec (.safetensors), written by `save` or by `tvlm-lab compress train`."""
        box, name = ffi.new("tvlm_codec **"), file_name("path", path)
        call(lib.tvlm_codec_load, chars("path", name), LOG, box, path=name)
        return cls._of(box)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the codec to a file, for `load` and for ``tvlm select --codec``. The file appears whole or not at all."""
        call(lib.tvlm_codec_save, chars("path", file_name("path", path)), self._pointer, LOG)

    @classmethod
    def train(cls, images: Sequence[Any], k: int | None = None, *, channels: Any = None, level: int = 0,
              weights: dict[str, float] | None = None, scorers: Sequence[Scorer] = (), device: Device | str | None = None,
              copy: bool = False) -> Codec:
        """Computes a codec from the principal components of channels over images. Every image counts the same.

        Parameters:
            images: a list of images as in `select`, or of `Stack` objects, which are read with all that was handed in to them.
            k: how many codes there are. None: 8, or as many as there are channels if these are fewer.
            channels: the names of the channels. None: those that a photograph alone gives, and whose levels are means.
            level: the level of the image at which the channels are read.
            weights: a dict from a channel's name to its weight; a channel without one has the weight 1. The weight says how much
                an error of that channel counts, measured in standard deviations of the channel.
            scorers: scorers whose scores the codes keep exactly. Each takes one code.
            device, copy: as in `select`, for images that are not `Stack` objects.
        """
        if not isinstance(images, (list, tuple)) or not images:
            raise ArgumentTypeError("images must be a list of at least one")
        params = ffi.new("struct tvlm_codec_trainer_params *", {"level": integer("level", level)})
        if k is not None:
            params.k = integer("k", k, 1)
        numbers = channel_numbers(channels) if channels is not None else _default_channels()
        names = ffi.new("int32_t[]", numbers)
        params.channels, params.channel_count = names, len(numbers)
        counts = _weights(weights, numbers)
        params.weights = floats(counts)
        kept = _scorers(scorers)
        params.scorers, params.scorer_count = kept, len(kept)
        box = ffi.new("tvlm_codec_trainer **")
        call(lib.tvlm_codec_trainer_create, params, LOG, box)
        trainer = owned(box[0], "codec_trainer")
        for image in images:
            stack = image if isinstance(image, Stack) else Stack(image, device=device, copy=flag("copy", copy))
            with stack._handle as pointer:
                call(lib.tvlm_codec_trainer_add, trainer, pointer, 0)
            if not isinstance(image, Stack):
                stack.close()
        made = ffi.new("tvlm_codec **")
        call(lib.tvlm_codec_trainer_finish, trainer, made)
        return cls._of(made)

    @property
    def channels(self) -> list[str]:
        """The names of the n channels."""
        return channel_names(list(self._params.channels[0:self._params.channel_count]))

    @property
    def k(self) -> int:
        """How many codes there are."""
        return int(self._params.k)

    @property
    def level(self) -> int:
        """The level of the image at which the channels are read."""
        return int(self._params.level)

    def _array(self, name: str, *shape: int) -> Array:
        size = int(np.prod(shape)) * 4
        return np.frombuffer(ffi.buffer(getattr(self._params, name), size), np.float32).reshape(shape).copy()

    @property
    def encode(self) -> Array:
        """float32 [k, n]: the matrix that makes codes of channels."""
        return self._array("encode", self.k, self._params.channel_count)

    @property
    def decode(self) -> Array:
        """float32 [n, k]: the matrix that makes channels of codes."""
        return self._array("decode", self._params.channel_count, self.k)

    @property
    def mean(self) -> Array:
        """float32 [n]: the mean of each channel, which is subtracted before the encoding."""
        return self._array("mean", self._params.channel_count)

    @property
    def variance(self) -> Array:
        """float32 [k]: the share of the variance of the weighted channels that each code keeps; 0 if it is not known."""
        return self._array("variance", self.k)

    @property
    def network(self) -> Network:
        """The network that makes the codes, for a stack's parameter `network`. Its outputs learned_0 .. are code_0 .. there."""
        network = Network.__new__(Network)
        network._pointer, network._keep = lib.tvlm_codec_network(self._pointer), [self._pointer]
        return network

    def apply(self, given: Any) -> Array:
        """Encodes values of the channels [m, n]: gives the codes, float32 [m, k]."""
        return self._each("values", given, self._params.channel_count, self.k, lib.tvlm_codec_encode)

    def restore(self, codes: Any) -> Array:
        """Decodes codes [m, k]: gives values of the channels, float32 [m, n]."""
        return self._each("codes", codes, self.k, self._params.channel_count, lib.tvlm_codec_decode)

    def _each(self, name: str, given: Any, size: int, made: int, function: Any) -> Array:
        array = values(name, given, (2,))
        if array.shape[1] != size:
            raise ArgumentError(f"{name} have {array.shape[1]} components, the codec {size}")
        out = np.empty((array.shape[0], made), np.float32)
        function(self._pointer, floats(array), array.shape[0], floats(out))
        return out

    def fold(self, scorer: Scorer, first: str = "learned_0") -> Scorer:
        """Makes the scorer that reads codes in place of the codec's channels.

        `first` is the channel of the first code. Codes that were kept and are handed in as features begin at ``"feature_0"``.
        """
        if not isinstance(scorer, Scorer):
            raise ArgumentTypeError(f"scorer is {short(scorer)}, not a texturevlm.Scorer")
        box = ffi.new("tvlm_scorer **")
        call(lib.tvlm_codec_fold, self._pointer, scorer._pointer, channel(first), LOG, box)
        return Scorer._of(owned(box[0], "folded_scorer"))

    def __repr__(self) -> str:
        return f"<texturevlm.Codec of {self._params.channel_count} channels, {self.k} codes>"


def _default_channels() -> list[int]:
    """The channels that a codec has if none are named."""
    box, count = ffi.new("tvlm_codec_trainer **"), ffi.new("int32_t *")
    call(lib.tvlm_codec_trainer_create, ffi.NULL, LOG, box)
    trainer = owned(box[0], "codec_trainer")
    return list(lib.tvlm_codec_trainer_channels(trainer, count)[0:count[0]])


def _weights(weights: Any, numbers: list[int]) -> Array:
    counts = np.ones(len(numbers), np.float32)
    if weights is None:
        return counts
    if not isinstance(weights, dict):
        raise ArgumentTypeError(f"weights are {short(weights)}, not a dict of channels and their weights")
    for name, weight in weights.items():
        if channel(name) not in numbers:
            raise ArgumentError(f"weights name {short(name)}, which is no channel of the codec")
        counts[numbers.index(channel(name))] = real(f"the weight of {name}", weight, 0.0, above=True)
    return counts


def _scorers(scorers: Any) -> Any:
    if not isinstance(scorers, (list, tuple)) or not all(isinstance(scorer, Scorer) for scorer in scorers):
        raise ArgumentTypeError(f"scorers are {short(scorers)}, not a list of texturevlm.Scorer")
    return ffi.new("tvlm_scorer *[]", [scorer._pointer for scorer in scorers])
