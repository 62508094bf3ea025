# SPDX-License-Identifier: Apache-2.0
"""Attention over grids of vectors."""
from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np

from ._arguments import Array, choice, flag, floats, integer, real, short, values
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, Bound, Handle
from ._device import FORMATS, Device, device_of
from ._options import StackParams
from ._stack import Stack, _grid_input
from ._types import Format

LAYOUTS = ("spatial", "channels")


class Texture(Bound):
    """A grid of vectors on a device, such as the keys or values of an attention, with levels of their means.

        keys = texturevlm.Texture(array)     # [rows, columns, D]

    Parameters:
        array: the vectors, all finite. float32 and float16 are taken as they are; all other numbers become float32.
        layout: ``"spatial"`` for an array [rows, columns, D], ``"channels"`` for an array [D, rows, columns].
        device: a `Device`, or a device's name. None: the device that all calls share.
        format: how the vectors are stored: ``"f16"``, ``"f32"`` or ``"auto"``, which is half on a GPU and float on a CPU.
    """

    def __init__(self, array: Any, layout: Literal["spatial", "channels"] = "spatial", *, device: Device | str | None = None,
                 format: Format = "auto") -> None:
        vectors = values("a texture", array, (3,), halves=True)
        if choice("layout", layout, LAYOUTS) == 1:
            vectors = np.ascontiguousarray(np.moveaxis(vectors, 0, -1))
        if not vectors.size:
            raise ArgumentError(f"a texture has the shape {vectors.shape}: there is nothing in it")
        self._shape = tuple(int(side) for side in vectors.shape)
        self._device = device_of(device)
        choice("format", format, FORMATS[:3])  # bytes hold no vectors
        params = StackParams({"layout": "x", "size": (self._shape[1], self._shape[0]), "format": format})
        self._handle = Handle(self._device._owner, "stack").make(lib.tvlm_stack_create, self._device._owner.pointer, params.c)
        self._call(lib.tvlm_stack_set_grid, 0, lib.TVLM_CHANNEL_FEATURE_0, _grid_input(vectors))

    def _call(self, function: Any, *arguments: Any) -> None:
        self._handle.call(function, *arguments)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and D, in this order for both layouts."""
        return self._shape  # type: ignore[return-value]

    def read(self, level: int = 0) -> Array:
        """float32 [rows, columns, D]: the vectors of a level. Each is the mean of the vectors that its cell covers."""
        depth = integer("level", level)
        width, height = ffi.new("int32_t *"), ffi.new("int32_t *")
        planes = []
        with self._handle:
            for number in range(lib.TVLM_CHANNEL_FEATURE_0, lib.TVLM_CHANNEL_FEATURE_0 + self._shape[2]):
                self._call(lib.tvlm_stack_channel_size, number, depth, width, height)
                planes.append(np.empty((height[0], width[0]), np.float32))
                self._call(lib.tvlm_stack_read, 0, number, depth, planes[-1].size, floats(planes[-1]))
        return np.stack(planes, axis=-1)

    def close(self) -> None:
        """Releases the texture. If another thread is in a call on it, waits for the end of that call."""
        self._handle.close()

    def __enter__(self) -> Texture:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<texturevlm.Texture of {self._shape[0]} x {self._shape[1]} x {self._shape[2]} on {self._device.name!r}>"


class Attention(NamedTuple):
    """The result of an attention, and how much it has read."""

    out: Array
    """float32 [N, D of the values]; [D] of a single query."""
    map: Array
    """float32 [rows, columns]: how much of the attention of all queries and heads goes to each cell; its sum is 1."""
    keys: float
    """How many keys a head of a query has read on average."""
    values: float
    """How many values."""
    bytes: float
    """What that is in bytes, as a share of what exact attention reads."""


def _texture(name: str, texture: Any) -> Texture | Stack:
    """Refuses what has no vectors: anything but a `Texture` or a `Stack`."""
    if not isinstance(texture, (Stack, Texture)):
        raise ArgumentTypeError(f"{name} is {short(texture)}, neither a texturevlm.Texture nor a Stack with features")
    return texture


def _shape(texture: Texture | Stack) -> tuple[int, int, int]:
    """Rows, columns and dimension of the vectors. They cannot change as long as the caller has entered the handle."""
    return texture.features_shape if isinstance(texture, Stack) else texture.shape


@overload
def hierarchical_attention(queries: Any, key_texture: Texture | Stack, value_texture: Texture | Stack | None = None, coarse_mip: int = 2,
                           fine_ratio: float = 0.2, *, heads: int = 1, scale: float | None = None, steps: bool = False,
                           mix: float | None = None, keep: bool = False, details: Literal[False] = False) -> Array: ...


@overload
def hierarchical_attention(queries: Any, key_texture: Texture | Stack, value_texture: Texture | Stack | None = None, coarse_mip: int = 2,
                           fine_ratio: float = 0.2, *, heads: int = 1, scale: float | None = None, steps: bool = False,
                           mix: float | None = None, keep: bool = False, details: Literal[True]) -> Attention: ...


def hierarchical_attention(queries: Any, key_texture: Texture | Stack, value_texture: Texture | Stack | None = None, coarse_mip: int = 2,
                           fine_ratio: float = 0.2, *, heads: int = 1, scale: float | None = None, steps: bool = False,
                           mix: float | None = None, keep: bool = False, details: bool = False) -> Array | Attention:
    """Computes attention that reads keys and values coarsely first, and in detail only where it counts. Gives float32 [N, Dv].

        keys, values = texturevlm.Texture(k), texturevlm.Texture(v)
        out = texturevlm.hierarchical_attention(queries, keys, values, coarse_mip=2, fine_ratio=0.2)

    Each head of each query works for itself, in three steps:

    1. It compares itself with all cells of level `coarse_mip`.
    2. The best cells, a share of `fine_ratio`, are replaced by their cells of level 0.
    3. One softmax goes over the coarse cells that are left and the fine cells. A coarse cell counts as often as the number of
       cells of level 0 that it covers.

    If neighbouring vectors are alike, little is lost; if the vectors are random, much is (include/texturevlm/lab/attend.h).

    Parameters:
        queries: [N, D] or [D], where D is the dimension of the keys.
        key_texture, value_texture: each a `Texture`, or a `Stack` with features. Both have as many rows and columns, and are on
            one device. A `value_texture` of None means that the keys are the values, too.
        coarse_mip: the coarse level, from 0, which makes all exact, to the last level of the grid.
        fine_ratio: above 0 and at most 1; 1 makes all exact.
        heads: into how many parts the vectors are divided. Each part attends for itself.
        scale: the factor of the products of queries and keys. None: 1 / the square root of a head's dimension.
        steps: go down level by level to level 0, and replace at each level the best `fine_ratio` of the cells that came last.
        mix: in place of the one softmax, `mix` times the result of all coarse cells plus `1 - mix` times the result of the fine
            ones.
        keep: makes the map, divided by its largest value, the channel ``"attention"`` of the keys' `Stack`.
        details: gives an `Attention`, which also has the map and how much was read.

    Errors: `ArgumentError` for a level that the grid does not have, a ratio outside its range, NaN, or shapes that do not fit.
    """
    keys = _texture("key_texture", key_texture)
    others = keys if value_texture is None else _texture("value_texture", value_texture)
    if keys._device is not others._device:
        raise ArgumentError("key_texture and value_texture are on two devices")
    array = values("queries", queries, (1, 2))
    rows = array.reshape(-1, array.shape[-1]) if array.size else array.reshape(0, 1)
    if not rows.size:
        raise ArgumentError("queries have no values")
    ratio = real("fine_ratio", fine_ratio, 0.0, above=True)
    params = ffi.new("struct tvlm_attend_params *", {
        "queries": floats(rows), "count": rows.shape[0], "dimension": rows.shape[1], "heads": integer("heads", heads, 1),
        "level": integer("coarse_mip", coarse_mip), "fine": max(ratio, 1e-30), "steps": flag("steps", steps),
        "keep": flag("keep", keep)})
    if scale is not None:
        params.scale = real("scale", scale, 1e-30)
    if mix is not None:
        params.mix = real("mix", mix, 1e-30)
    info = ffi.new("tvlm_attend_info *")
    wanted = flag("details", details)
    with keys._handle, others._handle as of_values:
        out, spread = np.empty((rows.shape[0], _shape(others)[2]), np.float32), np.empty(_shape(keys)[:2], np.float32)
        keys._call(lib.tvlm_attend, of_values, params, out.size, floats(out), floats(spread) if wanted else ffi.NULL, info)
    answer = out[0] if array.ndim == 1 else out
    return Attention(answer, spread, info.keys, info.values, info.bytes) if wanted else answer
