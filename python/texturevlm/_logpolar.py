# SPDX-License-Identifier: Apache-2.0
"""Images as an eye sees them: samples on rings around a place, cut into sectors; and images made of such samples."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arguments import Array, channels, flag, floats, integer, pairs, real, values
from ._binding import ffi, lib
from ._core import ArgumentError, Value, call
from ._device import Device
from ._stack import Stack

if TYPE_CHECKING:
    import os
    from ._types import Format, ImageLike
    from ._network import Network

_PIXELS_MAX = 2**28  # the most numbers in an image that `back` makes; the same as for samples (lib/lab/logpolar.c)


class LogPolar(Value):
    """The result of `logpolar`. Lengths and places are in pixels of the image."""

    def __init__(self, samples: Array, info: Any, working: tuple[int, int], image: tuple[int, int]) -> None:
        self.samples = samples
        """float32 [sectors, rings, C]"""
        self._info, self._working, self._image = info, working, image
        self._scale = image[0] / working[0], image[1] / working[1]

    @property
    def fixation(self) -> tuple[float, float]:
        """x and y of the middle of the rings."""
        return self._info.x * self._scale[0], self._info.y * self._scale[1]

    @property
    def inner(self) -> float:
        """The parameter `inner`: the step from a ring of radius r to the next grows in proportion to r + inner."""
        return float(self._info.inner * self._scale[0])

    @property
    def outer(self) -> float:
        """The parameter `outer`: the ring after the last one would have the radius outer - inner."""
        return float(self._info.outer * self._scale[0])

    @property
    def radii(self) -> Array:
        """float64 [rings]: the distance of each ring from the fixation; that of the first is 0."""
        rings = int(self._info.rings)
        growth = math.log(self._info.outer / self._info.inner)
        return np.asarray(self.inner * np.expm1(growth / rings * np.arange(rings)))

    def back(self, samples: Any = None, *, size: tuple[int, int] | None = None) -> Array:
        """Makes an image of the samples, to be looked at. Gives float32 [height, width, C].

        Between the samples the image is bilinear. Beyond the last ring it repeats that ring.

        Parameters:
            samples: other samples in place of this object's own: [sectors, rings, C], with as many sectors and rings, and any C.
            size: width and height of the result. None: those of the original image.
        """
        array = self.samples if samples is None else values("samples", samples, (3,))
        if array.shape[:2] != self.samples.shape[:2] or not array.size:
            raise ArgumentError(f"samples have the shape {array.shape}; they are {self.samples.shape[:2]} and a channel or more")
        if size is not None and (not isinstance(size, (list, tuple)) or len(size) != 2):
            raise ArgumentError("size is not width and height")
        width, height = (integer("size", side, 1) for side in (self._image if size is None else size))
        if width * height * array.shape[2] > _PIXELS_MAX:
            raise ArgumentError(f"an image of {width} x {height} pixels and {array.shape[2]} channels is too large")
        info = ffi.new("tvlm_logpolar_info *", self._info[0])
        info.channel_count = array.shape[2]
        out = np.empty((height, width, array.shape[2]), np.float32)
        call(lib.tvlm_logpolar_back, info, floats(array), *self._working, width, height, floats(out))
        return out

    def __repr__(self) -> str:
        sectors, rings, count = self.samples.shape
        return f"<texturevlm.LogPolar of {sectors} sectors, {rings} rings, {count} channels>"


def logpolar(image: ImageLike | Stack, names: Any = "r,g,b", *, fixation: Any = None, inner: float | None = None, outer: float | None = None,
             rings: int | None = None, sectors: int | None = None, plain: bool = False, max_side: int | None = None,
             format: Format | None = None, network: Network | str | os.PathLike[str] | None = None, device: Device | str | None = None,
             copy: bool = False) -> LogPolar:
    """Samples an image as an eye sees it: on rings around a fixation, farther and farther apart, cut into sectors of one angle.

        seen = texturevlm.logpolar("photo.jpg", fixation=(640, 360))
        seen.samples                          # float32 [sectors, rings, 3]
        seen.back()                           # float32 [height, width, 3]: what is left of the photo

    Ring i has the radius inner ((outer / inner)^(i / rings) - 1). Sector j has the angle 2 pi j / sectors, from the x axis
    towards the y axis, which points down. Each sample is the average of what lies between it and its neighbours, so that far
    rings, which are coarse, do not alias.

    With `inner` = 1 and `outer` = maxRadius, the places are those of OpenCV's warpPolar with WARP_POLAR_LOG. There is one
    difference: the centres of pixels are at whole numbers in OpenCV, and at + 0.5 here (include/texturevlm/lab/logpolar.h).

    Parameters:
        image: an image as in `select`; or a `Stack`, which is read with all that was handed in to it.
        names: the channels, as in `channels`.
        fixation: x and y in pixels of the image. It may lie outside the image. None: the middle of the image.
        inner, outer: lengths in pixels of the image, 0 < inner < outer. None: `inner` is 1, and `outer` is such that the rings
            reach the farthest corner.
        rings: how many rings there are, at least 1. None: 128.
        sectors: how many sectors there are, at least 3. None: as many as make samples about as long as they are wide.
        plain: samples are single points, bilinear, as warpPolar takes them. They alias.
        max_side, format, network: options of the `Stack` that is made of the image.

    Errors: `ArgumentError` for lengths that do not grow, more than 2^28 numbers, or an unknown channel.
    """
    if isinstance(image, Stack):
        if any(value is not None for value in (max_side, format, network, device)) or flag("copy", copy):
            raise ArgumentError("the image is a Stack, which has its max_side, format, network and device already")
        return _of(image, names, fixation, inner, outer, rings, sectors, plain)
    options: Any = {"layout": "r,g,b", "max_side": max_side, "format": format, "network": network}
    with Stack(image, device=device, copy=copy, **options) as stack:
        return _of(stack, names, fixation, inner, outer, rings, sectors, plain)


def _of(stack: Stack, names: Any, fixation: Any, inner: Any, outer: Any, rings: Any, sectors: Any, plain: Any) -> LogPolar:
    params, info = ffi.new("struct tvlm_logpolar_params *", {"plain": flag("plain", plain)}), ffi.new("tvlm_logpolar_info *")
    at = None if fixation is None else pairs("fixation", fixation)
    if at is not None and at.shape[0] != 1:
        raise ArgumentError("fixation is one x and one y")
    lengths = {name: real(name, value, 0.0, above=True) for name, value in (("inner", inner), ("outer", outer)) if value is not None}
    for name, count, least in (("rings", rings, 1), ("sectors", sectors, 3)):
        if count is not None:
            setattr(params, name, integer(name, count, least))
    with stack._handle as pointer:
        working, image = stack.size, stack.image_size
        scale = np.array([working[0] / image[0], working[1] / image[1]], np.float32)
        if at is not None:
            at = at * scale
            params.fixation = floats(at)
        for name, length in lengths.items():  # never 0, which stands for the default
            setattr(params, name, max(length * working[0] / image[0], 1e-30))
        numbers = channels(names, pointer)
        array = ffi.new("int32_t[]", numbers)
        params.channels, params.channel_count = array, len(numbers)
        stack._call(lib.tvlm_logpolar_get_info, params, info)
        out = np.empty((info.sectors, info.rings, info.channel_count), np.float32)
        stack._call(lib.tvlm_logpolar, params, out.size, floats(out))
    return LogPolar(out, info, working, image)
