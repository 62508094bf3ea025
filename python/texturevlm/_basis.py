# SPDX-License-Identifier: Apache-2.0
"""Bases, which make a few numbers of an encoder's vectors; and the fitting of scorers."""
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._arguments import Array, channels as channel_numbers, chars, choice, file_name, flag, floats, integer, real, short, values
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, Handle, LOG, Value, call, owned
from ._device import Device, device_of
from ._options import Scorer, query_of
from ._stack import Stack

METHODS = ["auto", "covariance", "range_finder"]


class Basis(Value):
    """k orthonormal directions of D components, and a mean if the basis is centred. A basis belongs to no device.

        basis = tv.Basis.of_image(stack)           # 16 directions of the image's own features
        stack.embed(basis)
        stack.select(query=tv.Query(text, basis=basis))

    Parameters:
        components: float [k, D], the directions, orthonormal to 1e-3.
        mean: [D], which is subtracted from every vector. None: the basis is not centred.
        variance: [k], the share of the variance along each direction. None: it is not known.
    """

    def __init__(self, components: Any, *, mean: Any = None, variance: Any = None) -> None:
        rows = values("components", components, (2,))
        fields = {"k": rows.shape[0], "dimension": rows.shape[1], "components": floats(rows), "centred": mean is not None}
        keep = [rows]
        for name, value, size in (("mean", mean, rows.shape[1]), ("variance", variance, rows.shape[0])):
            if value is not None:
                array = values(name, value, (1,))
                if array.shape[0] != size:
                    raise ArgumentError(f"{name} has {array.shape[0]} values, not {size}")
                keep.append(array)
                fields[name] = floats(array)
        box = ffi.new("tvlm_basis **")
        call(lib.tvlm_basis_create, ffi.new("struct tvlm_basis_params *", fields), LOG, box)
        self._take(box)

    def _take(self, box: Any) -> None:
        self._pointer = owned(box[0], "basis")
        self._params = ffi.new("struct tvlm_basis_params *")
        call(lib.tvlm_basis_get_params, self._pointer, self._params)

    @classmethod
    def _of(cls, box: Any) -> Basis:
        basis = cls.__new__(cls)
        basis._take(box)
        return basis

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Basis:
        """Reads the file of a basis (.safetensors), written by `save`, by `tvlm-lab pca train`, or from scikit-learn's PCA."""
        box, name = ffi.new("tvlm_basis **"), file_name("path", path)
        call(lib.tvlm_basis_load, chars("path", name), LOG, box, path=name)
        return cls._of(box)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the basis to a file. The file appears whole or not at all."""
        call(lib.tvlm_basis_save, chars("path", file_name("path", path)), self._pointer, LOG)

    @classmethod
    def of_image(cls, stack: Stack, k: int | None = None, *, queries: Any = None) -> Basis:
        """Computes the best basis for one image: the first k directions of the features of a stack's image, not centred.

        Parameters:
            k: how many directions, at most 64. None: 16.
            queries: [N, D], vectors that the basis answers exactly.
        """
        if not isinstance(stack, Stack):
            raise ArgumentTypeError(f"stack is {short(stack)}, not a texturevlm.Stack")
        params = ffi.new("struct tvlm_image_basis_params *")
        if k is not None:
            params.k = integer("k", k, 1, 64)
        rows = None
        if queries is not None:
            rows = values("queries", queries, (1, 2))
            rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
            params.queries, params.query_count, params.query_dimension = floats(rows), rows.shape[0], rows.shape[1]
        box = ffi.new("tvlm_basis **")
        stack._call(lib.tvlm_basis_of_image, 0, params, box)
        return cls._of(box)

    @classmethod
    def train(cls, blocks: Iterable[Any], k: int = 16, *, centred: bool = False, method: str = "auto",
              device: Device | str | None = None) -> Basis:
        """Computes the first k directions of many vectors, which come in blocks.

        Parameters:
            blocks: arrays, float [n, D] each, in a list or in anything that can be iterated over as often as `method` needs.
            centred: True gives the PCA, False the truncated SVD.
            method: ``"covariance"`` reads the blocks once, ``"range_finder"`` three times. ``"auto"`` takes ``"range_finder"``
                beyond 1536 components.
        """
        target = device_of(device)
        if isinstance(blocks, np.ndarray):
            blocks = [blocks]
        if not isinstance(blocks, Iterable) or isinstance(blocks, (str, bytes, dict)):
            raise ArgumentTypeError(f"blocks are {short(blocks)}, not arrays of vectors")
        params = ffi.new("struct tvlm_trainer_params *", {
            "k": integer("k", k, 1), "centred": flag("centred", centred), "method": choice("method", method, METHODS)})
        box, handle = ffi.new("tvlm_basis **"), None
        passes, done = 1, 0
        while done < passes:
            if handle is not None:
                handle.call(lib.tvlm_trainer_next_pass)
            for block in blocks:
                array = values("vectors", block, (2,))
                if handle is None:
                    params.dimension = array.shape[1]
                    handle = Handle(target._owner, "trainer").make(lib.tvlm_trainer_create, target._owner.pointer, params)
                    with handle as trainer:
                        passes = lib.tvlm_trainer_passes(trainer)
                if array.shape[1] != params.dimension:
                    raise ArgumentError(f"vectors have {array.shape[1]} components, those before {params.dimension}")
                if array.shape[0]:
                    handle.call(lib.tvlm_trainer_add, floats(array), array.shape[0])
            if handle is None:
                raise ArgumentError("there are no vectors to train with")
            done += 1
        assert handle is not None
        handle.call(lib.tvlm_trainer_finish, box)
        handle.close()
        return cls._of(box)

    def _array(self, name: str, shape: tuple[int, ...]) -> Array:
        size = int(np.prod(shape)) * 4
        return np.frombuffer(ffi.buffer(getattr(self._params, name), size), np.float32).reshape(shape).copy()

    @property
    def k(self) -> int:
        """How many directions it has."""
        return int(self._params.k)

    @property
    def dimension(self) -> int:
        """How many components a vector has."""
        return int(self._params.dimension)

    @property
    def centred(self) -> bool:
        """Whether a mean is subtracted from the vectors first."""
        return bool(self._params.centred)

    @property
    def components(self) -> Array:
        """float32 [k, D]: the directions."""
        return self._array("components", (self.k, self.dimension))

    @property
    def mean(self) -> Array:
        """float32 [D]: the mean that is subtracted; zeros if the basis is not centred."""
        return self._array("mean", (self.dimension,))

    @property
    def variance(self) -> Array:
        """float32 [k]: the share of the variance along each direction; of the sum of squares if the basis is not centred."""
        return self._array("variance", (self.k,))

    def project(self, vectors: Any) -> Array:
        """Gives the coordinates of vectors [n, D] along the directions: float32 [n, k]."""
        array = values("vectors", vectors, (2,))
        if array.shape[1] != self.dimension:
            raise ArgumentError(f"vectors have {array.shape[1]} components, the basis {self.dimension}")
        out = np.empty((array.shape[0], self.k), np.float32)
        lib.tvlm_basis_project(self._pointer, floats(array), array.shape[0], floats(out))
        return out

    def __repr__(self) -> str:
        return f"<texturevlm.Basis of {self.k} x {self.dimension}{', centred' if self.centred else ''}>"


def fit(images: Sequence[Any], shares: Sequence[Any], *, queries: Sequence[Any] | None = None, channels: Any = None, taps: int = 1,
        hidden: int | None = None, stride: float | None = None, l2: float | None = None, device: Device | str | None = None,
        copy: bool = False) -> Scorer:
    """Learns a `Scorer` from images in which somebody has said what matters.

    Parameters:
        images: a list of images as in `select`, or of `Stack` objects, which are read with all that was handed in to them.
        shares: for each image an array that says how much of it is object. It has one of two shapes:

            - float [rows, columns], the share of each cell in a grid of cells of `stride` pixels: 0 .. 1, or NaN where it is
              unknown.
            - an array of the image's size, bool or 0 .. 1, which is averaged over the cells.
        queries: for each image the `Query`, or its vector, whose answer the share is. The weights of the scorer then depend on
            the query (`Scorer.query_weights`). The images must be `Stack` objects with features, or with what answers the query.
        channels: the names of the channels that the scorer reads. None: those that measured best on photographs.
        taps: 1 reads each cell alone, 9 the 3 x 3 cells around it.
        hidden: the number of values in the hidden layer of a network. None: the scorer is linear.
        stride: the side of a cell in pixels. None: 16.
        l2: the penalty on the squares of the weights. None: 1; for a network 0.01, and with queries 0.01.
        device, copy: as in `select`, for images that are not `Stack` objects.

    Errors: `ArgumentError` for a grid of another size, and for shares that are nothing but object, or have no object at all.
    """
    params = ffi.new("struct tvlm_fit_params *", {"taps": integer("taps", taps, 1, 9), "query_weights": queries is not None})
    if hidden is not None:
        params.hidden = integer("hidden", hidden, 1)
    numbers = channel_numbers(channels) if channels is not None else []
    if numbers:
        keep = ffi.new("int32_t[]", numbers)
        params.channels, params.channel_count = keep, len(numbers)
    if stride is not None:
        params.stride = real("stride", stride, 0.0, above=True)
    box = ffi.new("tvlm_fit **")
    call(lib.tvlm_fit_create, params, LOG, box)
    fitted = owned(box[0], "fit")
    columns, rows = ffi.new("int32_t *"), ffi.new("int32_t *")
    score = ffi.new("struct tvlm_score_params *", {"stride": params.stride})
    if not isinstance(images, (list, tuple)) or not isinstance(shares, (list, tuple)):
        raise ArgumentTypeError("images and shares must be lists, an entry for each image")
    pictures, answers = list(images), list(shares)
    if len(pictures) != len(answers):
        raise ArgumentError(f"there are {len(pictures)} images and {len(answers)} shares")
    if queries is not None and not isinstance(queries, (list, tuple)):
        raise ArgumentTypeError("queries must be a list, an entry for each image")
    asked = list(queries) if queries is not None else [None] * len(pictures)
    if len(asked) != len(pictures) or (queries is not None and any(query is None for query in asked)):
        raise ArgumentError(f"there are {len(pictures)} images, and a query for {sum(query is not None for query in asked)} of them")
    for image, share, query in zip(pictures, answers, asked):
        stack = image if isinstance(image, Stack) else Stack(image, device=device, copy=copy)
        stack._call(lib.tvlm_score_size, score, columns, rows)
        array = values("a share", share, (2,))
        if array.shape == stack.image_size[::-1] and array.shape != (rows[0], columns[0]):
            array = _averaged(array, rows[0], columns[0], (params.stride or 16.0) * stack.image_size[0] / stack.size[0])
        if array.shape != (rows[0], columns[0]):
            raise ArgumentError(f"a share has the shape {array.shape}; the image has {rows[0]} x {columns[0]} cells")
        with stack._handle as pointer:
            if queries is None:
                call(lib.tvlm_fit_add, fitted, pointer, 0, floats(array), columns[0], rows[0])
            else:
                asked_of, _keep = query_of(query)
                call(lib.tvlm_fit_add_query, fitted, pointer, 0, asked_of, floats(array), columns[0], rows[0])
        if not isinstance(image, Stack):
            stack.close()
    solve = ffi.new("struct tvlm_fit_solve_params *")
    if l2 is not None:
        solve.l2 = real("l2", l2, 0.0, above=True)
    found = ffi.new("const tvlm_scorer **")
    call(lib.tvlm_fit_solve, fitted, solve, found)
    return Scorer._of(found[0], fitted)


def _averaged(mask: Array, rows: int, columns: int, step: float) -> Array:
    """The mean of a mask over each cell. The last cell of a row or column is clipped at the border."""
    down = np.minimum(np.round(np.arange(rows) * step).astype(int), mask.shape[0] - 1)
    across = np.minimum(np.round(np.arange(columns) * step).astype(int), mask.shape[1] - 1)
    sums = np.add.reduceat(np.add.reduceat(mask.astype(np.float64), down, axis=0), across, axis=1)
    sizes = np.outer(np.diff(np.append(down, mask.shape[0])), np.diff(np.append(across, mask.shape[1])))
    return np.asarray(sums / sizes, dtype=np.float32, order="C")
