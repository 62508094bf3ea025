# SPDX-License-Identifier: Apache-2.0
"""Projections, which are linear maps from channels to an encoder's tokens; and how they are learned."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._arguments import Array, channel_names, channels as channel_numbers, chars, file_name, floats, integer, real, short, values
from ._basis import Basis
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, LOG, Value, call, owned
from ._device import Device, device_of
from ._stack import Stack


class Projection(Value):
    """A linear map from C channels to N numbers.

    `tvlm tensors --projection` and `texturevlm.export` apply it to the chosen tokens.

    Parameters:
        weight: [N, C], in the order of `torch.nn.Linear`.
        bias: [N]. None: 0.
        channels: the names of the C channels.
        basis: the `Basis` in which features are embedded before the channels ``embedding_0`` and on are read. None: there is
            none.
    """

    def __init__(self, weight: Any, bias: Any = None, *, channels: Any, basis: Basis | None = None) -> None:
        rows, numbers = values("weight", weight, (2,)), channel_numbers(channels)
        if rows.shape[1] != len(numbers):
            raise ArgumentError(f"weight has {rows.shape[1]} columns, and there are {len(numbers)} channels")
        if basis is not None and not isinstance(basis, Basis):
            raise ArgumentTypeError(f"basis is {short(basis)}, not a texturevlm.Basis")
        keep = [rows, ffi.new("int32_t[]", numbers)]
        fields = {"channels": keep[1], "channel_count": len(numbers), "outputs": rows.shape[0], "weights": floats(rows),
                  "basis": basis._pointer if basis is not None else ffi.NULL}
        if bias is not None:
            keep.append(values("bias", bias, (1,)))
            if keep[2].shape[0] != rows.shape[0]:
                raise ArgumentError(f"bias has {keep[2].shape[0]} values, not {rows.shape[0]}")
            fields["bias"] = floats(keep[2])
        box = ffi.new("tvlm_projection **")
        call(lib.tvlm_projection_create, ffi.new("struct tvlm_projection_params *", fields), LOG, box)
        self._take(box)

    def _take(self, box: Any) -> None:
        self._pointer = owned(box[0], "projection")
        self._params = ffi.new("struct tvlm_projection_params *")
        call(lib.tvlm_projection_get_params, self._pointer, self._params)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Projection:
        """Reads the file of a projection (.safetensors). texturevlm/lab/io_projection.h says what such a file holds."""
        box, name = ffi.new("tvlm_projection **"), file_name("path", path)
        call(lib.tvlm_projection_load, chars("path", name), LOG, box, path=name)
        projection = cls.__new__(cls)
        projection._take(box)
        return projection

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the projection to a file. The file appears whole or not at all."""
        call(lib.tvlm_projection_save, chars("path", file_name("path", path)), self._pointer, LOG)

    @classmethod
    def train(cls, examples: Sequence[Any], components: int = 16, *, channels: Any = (), l2: float = 1.0, basis: Basis | None = None,
              device: Device | str | None = None) -> Projection:
        """Learns a projection from an embedding of an encoder's features to the tokens that the encoder finally makes.

        The method is ridge regression.

        Parameters:
            examples: a tuple (image, features, tokens) for each photo. The image may have any form that `select` takes. The
                features are the encoder's vectors [rows, columns, D]. The tokens are the targets [rows, columns, N], on a grid of
                any size over the whole image.
            components: how many numbers the embedding of the features has, 1 .. 64.
            channels: the names of other channels that are read beside the embedding. Each is read at the middle of a token, at
                the level whose texels are as large as the token.
            l2: the weight of the squared weights relative to the squared errors.
            basis: the basis of the embedding. None: it is trained from the features of the examples (`Basis.train`).

        Errors: `ArgumentError` for no examples, vectors of different lengths, or NaN.
        """
        photos = _checked(examples)
        count = integer("components", components, 1, 64)
        own = channel_names(channel_numbers(channels)) if not isinstance(channels, (str, list, tuple)) or len(channels) else []
        if basis is None:
            basis = Basis.train([photo.features.reshape(-1, photo.features.shape[2]) for photo in photos], count, device=device)
        elif not isinstance(basis, Basis) or basis.k < count:
            raise ArgumentError(f"basis is {short(basis)}, not a texturevlm.Basis of {count} components or more")
        names = [f"embedding_{i}" for i in range(count)] + own
        x = np.concatenate([_sampled(photo, names, basis, device) for photo in photos])
        y = np.concatenate([photo.tokens.reshape(-1, photo.tokens.shape[2]) for photo in photos])
        weight, bias = ridge(x, y, l2, device=device)
        return cls(weight, bias, channels=names, basis=basis)

    def r_squared(self, examples: Sequence[Any], *, device: Device | str | None = None) -> float:
        """The share of the tokens' variance that the projection explains: 1 - |y - y'|^2 / |y - mean|^2, over all examples.

        1 means that it explains all of the variance. Below 0, the mean of the tokens would be a better guess.
        """
        missed, seen = 0.0, []
        for photo in _checked(examples):
            with Stack(photo.image, layout="r", format="f32", device=device) as stack:
                stack.set_features(photo.features)
                at, level = _middles(stack, *photo.tokens.shape[:2])
                seen.append(photo.tokens.reshape(-1, photo.tokens.shape[2]).astype(np.float64))
                missed += float(((seen[-1] - self.apply(stack, at, level=level)) ** 2).sum())
        tokens = np.concatenate(seen)
        return 1.0 - missed / max(float(((tokens - tokens.mean(0)) ** 2).sum()), 1e-30)

    @property
    def channels(self) -> list[str]:
        """The names of the channels that the projection reads."""
        return channel_names(self._params.channels[0:self._params.channel_count])

    @property
    def weight(self) -> Array:
        """float32 [N, C]: the matrix of the map."""
        shape = (int(self._params.outputs), int(self._params.channel_count))
        return np.frombuffer(ffi.buffer(self._params.weights, 4 * shape[0] * shape[1]), np.float32).reshape(shape).copy()

    @property
    def bias(self) -> Array:
        """float32 [N]: the numbers that are added to the result."""
        return np.frombuffer(ffi.buffer(self._params.bias, 4 * int(self._params.outputs)), np.float32).copy()

    def apply(self, stack: Stack, points: Any, *, level: Any = 0) -> Array:
        """Applies the projection at points of a stack. Gives float32 [n, N].

        `points` [n, 2] are in pixels of the working image. `level` is one level for all points, or [n]. If the projection has a
        basis, this call also embeds the stack's features in it, and that embedding becomes the stack's embedding.
        """
        if not isinstance(stack, Stack):
            raise ArgumentTypeError(f"stack is {short(stack)}, not a texturevlm.Stack")
        at = values("points", points, (2,))
        levels = values("level", level, (0, 1))
        if at.shape[1] != 2 or (levels.ndim == 1 and levels.shape != at.shape[:1]):
            raise ArgumentError(f"points have the shape {at.shape}, and levels {levels.shape}")
        rows = np.zeros((at.shape[0], 4), np.float32)
        rows[:, :2], rows[:, 2] = at, levels
        out = np.empty((at.shape[0], int(self._params.outputs)), np.float32)
        with stack._handle as pointer:
            stack._device._call(lib.tvlm_projection_apply, self._pointer, pointer, ffi.cast("tvlm_sample_point *", floats(rows)),
                                at.shape[0], out.size, floats(out))
        return out

    def __repr__(self) -> str:
        return f"<texturevlm.Projection of {self._params.channel_count} channels to {self._params.outputs} numbers>"


def projection_of(projection: Any) -> Projection:
    """Refuses an argument that is not a `Projection`."""
    if not isinstance(projection, Projection):
        raise ArgumentTypeError(f"projection is {short(projection)}, not a texturevlm.Projection")
    return projection


def ridge(x: Any, y: Any, l2: float = 1.0, *, device: Device | str | None = None) -> tuple[Array, Array]:
    """Finds weight [N, C] and bias [N] for which |y - x weight' - bias|^2 + l2 |weight|^2 is least, with x [n, C] and y [n, N].

    The products are computed on the device (tvlm_ridge, texturevlm/lab/ridge.h).
    """
    rows, targets = values("x", x, (2,)), values("y", y, (2,))
    if rows.shape[0] != targets.shape[0]:
        raise ArgumentError(f"x has {rows.shape[0]} rows, and y {targets.shape[0]}")
    number = real("l2", l2, 0.0)
    weight, bias = np.empty((targets.shape[1], rows.shape[1]), np.float32), np.empty(targets.shape[1], np.float32)
    target = device_of(device)
    target._call(lib.tvlm_ridge, target._owner.pointer, ffi.new("struct tvlm_ridge_params *", {
        "count": rows.shape[0], "inputs": rows.shape[1], "outputs": targets.shape[1], "x": floats(rows), "y": floats(targets),
        "l2": number or -1.0}), floats(weight), floats(bias))  # TVLM_EXPLICIT_ZERO stands for 0
    return weight, bias


class _Example(NamedTuple):
    image: Any
    features: Array
    tokens: Array


def _middles(stack: Stack, rows: int, columns: int) -> tuple[Array, float]:
    """The middles of the tokens of a grid over the whole image, and the level whose texels are as large as the tokens."""
    width, height = stack.size
    x, y = (np.arange(columns) + 0.5) * width / columns, (np.arange(rows) + 0.5) * height / rows
    return np.stack(np.meshgrid(x, y), -1).reshape(-1, 2), max(float(np.log2(max(width / columns, height / rows))), 0.0)


def _checked(examples: Any) -> list[_Example]:
    if not isinstance(examples, (list, tuple)) or not examples:
        raise ArgumentError("there are no examples")
    if not all(isinstance(example, (list, tuple)) and len(example) == 3 for example in examples):
        raise ArgumentTypeError("an example is (image, features, tokens)")
    found = [_Example(example[0], values("features", example[1], (3,), halves=True), values("tokens", example[2], (3,)))
             for example in examples]
    for which, name in ((1, "features"), (2, "tokens")):
        sizes = {example[which].shape[2] for example in found}
        if len(sizes) > 1 or not min(example[which].size for example in found):
            raise ArgumentError(f"{name} have {sorted(sizes)} numbers; all examples have as many, and some")
    return found


def _sampled(example: _Example, names: list[str], basis: Basis, device: Device | str | None) -> Array:
    """float32 [rows * columns, C]: the channels at the middle of each token."""
    with Stack(example.image, layout="r", format="f32", device=device) as stack:
        stack.set_features(example.features)
        stack.embed(basis)
        at, level = _middles(stack, *example.tokens.shape[:2])
        return stack.sample(at, names, level=level)
