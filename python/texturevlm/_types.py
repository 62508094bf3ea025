# SPDX-License-Identifier: Apache-2.0
"""Types for signatures. They are not checked when the package runs.

`_names` has the library's own lists of these names.
"""
from __future__ import annotations

import os
from typing import Any, Literal, Protocol, Union

import numpy.typing as npt

from ._parameters import Strategy as Strategy

Array = npt.NDArray[Any]


class HasArray(Protocol):
    """An object that NumPy can make an array of, such as a tensor of PyTorch or a `Picture`."""

    @property
    def __array__(self) -> Any: ...


class HasInterface(Protocol):
    """An object that NumPy can make an array of by another protocol, such as an image of PIL."""

    @property
    def __array_interface__(self) -> Any: ...


class HasDlpack(Protocol):
    """A tensor of any library that knows DLPack."""

    @property
    def __dlpack__(self) -> Any: ...


class HasRead(Protocol):
    """A file that is open in binary mode."""

    def read(self) -> Any: ...


ImageLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, HasRead, HasArray, HasInterface, HasDlpack]
"""One image, in any form that texturevlm.select takes."""

Reduction = Literal["mean", "max", "min", "mode", "gaussian"]
Border = Literal["clamp", "reflect"]
OnError = Literal["raise", "skip"]
Use = Literal["moving", "still", "screen", "gaze"]
Model = Literal["qwen3-vl", "qwen2.5-vl", "qwen2-vl", "llava", "siglip", "clip", "llava-onevision", "internvl"]
Format = Literal["auto", "f16", "f32", "u8"]
Storage = Literal["auto", "image", "buffer", "mipmapped"]
DeviceType = Literal["gpu", "cpu", "other", "reference"]
