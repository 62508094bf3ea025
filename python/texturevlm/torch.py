# SPDX-License-Identifier: Apache-2.0
"""texturevlm.torch: samples textures in a way through which PyTorch learns. `tv.torch` imports it when it is first asked for.

    texture = torch.rand(64, 96, 3, requires_grad=True)                # rows, columns, channels
    points = torch.tensor([[40.5, 20.25, 1.5]], requires_grad=True)    # x, y, level
    tv.torch.sample(texture, points).sum().backward()
    texture.grad, points.grad

include/texturevlm/lab/backward.h defines what a sample is, and what its gradients are.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._core import LOG, ArgumentError, ArgumentTypeError, call, missing

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as _missing:
    raise missing("torch", "PyTorch", "torch", _missing) from None

from ._arguments import Array, floats, short
from ._attention import Texture
from ._binding import ffi, lib
from ._device import Device, device_of

__all__ = ["sample"]

_TYPES = (torch.float32, torch.float64)


def sample(texture: torch.Tensor | Texture, points: torch.Tensor, *, device: Device | str | None = None) -> torch.Tensor:
    """Samples a texture at points, whose levels may be fractions. Gives a tensor [..., C].

    Gradients go back to the texture, to the places and to the levels. The same call gives the same bits on every run, also for
    the gradients.

    Levels from 1 on are means of level 0. So the gradient of one point at a coarse level reaches all texels below it. Coordinates
    and levels are clamped to the texture, and have no gradient where they are clamped. This is what nvdiffrast documents for its
    `texture` with a trilinear filter and a given level, with two differences: places are in texels, and sides may have any
    length.

    Parameters:
        texture: a tensor [rows, columns, C] of float32 or float64, on the CPU; or a `Texture`, which stays on the device from
            call to call and gets no gradient. float64 is computed in double by the definition, without a device. That is slow,
            and meant for `torch.autograd.gradcheck`.
        points: a tensor [..., 3] of x, y and level, or [..., 2] for level 0, of the texture's type. The centre of the first texel
            is at (0.5, 0.5).
        device: a `Device`, or a device's name. None: the device that all calls share. A `Texture` has its own.

    Errors: `ArgumentError` or `ArgumentTypeError` for shapes and types that do not fit, tensors on another device, and NaN.
    """
    places = _tensor("points", points)
    if places.ndim < 1 or places.shape[-1] not in (2, 3):
        raise ArgumentError(f"points have the shape {tuple(places.shape)}, not (..., 3): x, y and level of each, nor (..., 2)")
    if isinstance(texture, Texture):
        if places.dtype != torch.float32:
            raise ArgumentTypeError(f"points are {places.dtype}; a texturevlm.Texture is sampled at float32")
        if device is not None and device_of(device) is not texture._device:
            raise ArgumentError("the texture is on another device")
        return _Sample.apply(places, texture)
    texels = _tensor("texture", texture)
    if texels.ndim != 3 or not texels.numel():
        raise ArgumentError(f"texture has the shape {tuple(texels.shape)}, not (rows, columns, channels)")
    if places.dtype != texels.dtype:
        raise ArgumentTypeError(f"points are {places.dtype}, and the texture is {texels.dtype}")
    if texels.dtype == torch.float64:
        return _SampleDouble.apply(texels, places)
    return _SampleTensor.apply(texels, places, device)


def _tensor(name: str, value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise ArgumentTypeError(f"{name} is {short(value)}, not a tensor")
    if value.device.type != "cpu" or value.layout != torch.strided:
        raise ArgumentTypeError(f"{name} is on {value.device} ({value.layout}); what is sampled is dense, and on the CPU")
    if value.dtype not in _TYPES:
        raise ArgumentTypeError(f"{name} is {value.dtype}, neither float32 nor float64")
    return value


# ---- On a device ----

def _rows(points: torch.Tensor) -> Array:
    """The points as tvlm_sample_point: x, y and level as floats, and four zero bytes, the number of the image."""
    flat = points.detach().numpy().reshape(-1, points.shape[-1])
    rows = np.zeros((flat.shape[0], 4), np.float32)
    rows[:, :flat.shape[1]] = flat
    return rows


def _places(rows: Array) -> Any:
    return ffi.cast("tvlm_sample_point *", rows.__array_interface__["data"][0])


def _channels(texture: Texture) -> Array:
    return np.arange(lib.TVLM_CHANNEL_FEATURE_0, lib.TVLM_CHANNEL_FEATURE_0 + texture.shape[2], dtype=np.int32)


def _numbers(array: Array) -> Any:
    return ffi.cast("int32_t *", array.__array_interface__["data"][0])


def _forward(texture: Texture, points: torch.Tensor) -> torch.Tensor:
    rows, channels = _rows(points), _channels(texture)
    out = np.zeros((len(rows), len(channels)), np.float32)
    texture._call(lib.tvlm_stack_sample, _places(rows), len(rows), _numbers(channels), len(channels), floats(out))
    return torch.from_numpy(out).reshape(points.shape[:-1] + (len(channels),))


def _backward(texture: Texture, points: torch.Tensor, given: torch.Tensor, wanted: tuple[bool, bool]) -> list[torch.Tensor | None]:
    """The gradients of the texels and of the points; None in place of one that is not wanted."""
    rows, channels = _rows(points), _channels(texture)
    height, width, depth = texture.shape
    gradients = np.ascontiguousarray(given.detach().numpy().reshape(len(rows), depth))
    texels = np.zeros((depth, height, width), np.float32) if wanted[0] else None
    steps = np.zeros((len(rows), 3), np.float32) if wanted[1] else None
    params = ffi.new("struct tvlm_sample_backward_params *", {
        "points": _places(rows), "count": len(rows), "channels": _numbers(channels), "channel_count": len(channels),
        "gradients": floats(gradients)})
    texture._call(lib.tvlm_sample_backward, params, texels.size if texels is not None else 0,
                  floats(texels) if texels is not None else ffi.NULL, floats(steps) if steps is not None else ffi.NULL)
    return [torch.from_numpy(np.ascontiguousarray(np.moveaxis(texels, 0, -1))) if texels is not None else None,
            _as_points(steps, points) if steps is not None else None]


def _as_points(steps: Array, points: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(steps[:, :points.shape[-1]])).reshape(points.shape)


class _Sample(torch.autograd.Function):  # type: ignore[misc]
    """Sampling of a Texture, which gets no gradient itself."""

    @staticmethod
    def forward(ctx: Any, points: torch.Tensor, texture: Texture) -> torch.Tensor:
        ctx.texture = texture
        ctx.save_for_backward(points)
        return _forward(texture, points)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        points, = ctx.saved_tensors
        return _backward(ctx.texture, points, given, (False, True))[1], None


class _SampleTensor(torch.autograd.Function):  # type: ignore[misc]
    """Sampling of a tensor. The device keeps the tensor until its gradients are computed, or until nobody can ask for them."""

    @staticmethod
    def forward(ctx: Any, texels: torch.Tensor, points: torch.Tensor, device: Device | str | None) -> torch.Tensor:
        ctx.texture = Texture(texels.detach().numpy(), device=device, format="f32")
        ctx.save_for_backward(texels, points)  # so that PyTorch notices if they are changed before backward()
        return _forward(ctx.texture, points)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        _, points = ctx.saved_tensors
        return *_backward(ctx.texture, points, given, ctx.needs_input_grad[:2]), None


# ---- In double ----

def _doubles(array: Array) -> Any:
    return ffi.cast("double *", array.__array_interface__["data"][0])


def _task(texels: torch.Tensor, points: torch.Tensor) -> tuple[Any, list[Array]]:
    """The parameters of the library's function, and the arrays that these point into."""
    array = np.ascontiguousarray(texels.detach().numpy())
    flat = points.detach().numpy().reshape(-1, points.shape[-1])
    rows = np.zeros((flat.shape[0], 3))
    rows[:, :flat.shape[1]] = flat
    height, width, depth = array.shape
    return ffi.new("struct tvlm_sample_double_params *", {
        "texels": _doubles(array), "width": width, "height": height, "channels": depth, "count": len(rows), "points": _doubles(rows),
        "log": LOG}), [array, rows]


class _SampleDouble(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, texels: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(texels, points)
        params, kept = _task(texels, points)
        out = np.zeros((len(kept[1]), texels.shape[2]))
        call(lib.tvlm_sample_double, params, _doubles(out))
        return torch.from_numpy(out).reshape(points.shape[:-1] + texels.shape[2:])

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        texels, points = ctx.saved_tensors
        params, kept = _task(texels, points)
        gradients = np.ascontiguousarray(given.detach().numpy().reshape(len(kept[1]), texels.shape[2]))
        of_texels, steps = np.zeros(kept[0].shape), np.zeros(kept[1].shape)
        call(lib.tvlm_sample_double_backward, params, _doubles(gradients), _doubles(of_texels), _doubles(steps))
        return torch.from_numpy(of_texels), _as_points(steps, points)
