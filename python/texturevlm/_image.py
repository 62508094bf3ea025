# SPDX-License-Identifier: Apache-2.0
"""Turns images of all the forms that Python has into a tvlm_image of the library."""
from __future__ import annotations

import os
from typing import Any, Callable, Optional

import numpy as np

from ._arguments import Array, chars, host, reason, short
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, DeviceError, Error, FileError, LOG, OutOfMemoryError, call, error_of, owned, warn

_TYPES = {"uint8": lib.TVLM_PIXEL_U8, "uint16": lib.TVLM_PIXEL_U16, "float32": lib.TVLM_PIXEL_F32}
_ON_HOST = (1, 3)  # DLPack's kinds of memory that the CPU can read: its own, and pinned memory of CUDA
Fit = Optional[Callable[[int, int], "tuple[int, int]"]]  # from the width and height of an image to the size that is enough
_PLANAR = ("L", "LA", "RGB", "RGBA", "F", "I", "I;16")
"""Modes of PIL that need no conversion."""


class Image:
    """An image as the library takes it.

    - `c` is the tvlm_image. It is valid while this object lives.
    - `array` is the NumPy array that holds the pixels, or None if they come from a file.
    - `copied` says whether `array` is a copy of what was handed in.
    - `source` is the tensor that was handed in, if it was one. Answers can then go to its device.
    """

    __slots__ = ("c", "array", "copied", "source")

    def __init__(self, c: Any, array: Array | None, copied: bool, source: Any = None) -> None:
        self.c, self.array, self.copied, self.source = c, array, copied, source

    @property
    def width(self) -> int:
        """The width of the image as it was handed in. `c` may be a smaller version of that image."""
        return int(self.c.of_width or self.c.width)

    @property
    def height(self) -> int:
        return int(self.c.of_height or self.c.height)


# How far floats may lie outside 0 .. 1. Filters that sharpen overshoot up to the first number: such values are cut off, with a
# warning. Up to the second number it is rounding, and there is no warning.
_OVERSHOOT, _ROUNDING = 0.25, 1e-3


def is_list(value: Any) -> bool:
    """Whether the value is a list of images."""
    return isinstance(value, (list, tuple))


def listed(value: Any) -> Any:
    """The images of a list, or of an array or tensor (N, C, H, W) or (N, H, W, C); None if the value is a single image."""
    if is_list(value):
        return value
    if getattr(value, "ndim", None) == 4:
        return [value[i] for i in range(value.shape[0])]
    return None


def image_of(value: Any, copy: bool = False, fit: Fit = None) -> Image:
    """Reads an image of any form that `select` lists. A tensor that must be copied is shrunk to the size that `fit` gives."""
    if isinstance(value, Image):
        return value
    if isinstance(value, (str, os.PathLike)):
        return _load(os.fspath(value))
    if isinstance(value, (bytes, bytearray)) or (isinstance(value, memoryview) and value.ndim == 1):
        return decoded(value, "an image in memory")
    if callable(getattr(value, "read", None)) and not _is_own(value):
        return decoded(*read_of(value))
    if hasattr(value, "mode") and hasattr(value, "getbands") and not isinstance(value, type):
        return _of_array(_of_pil(value), None, True)
    source, of = None, None
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__"):
        source = value
        value, of = _to_host(value, copy, fit)
    if getattr(value, "ndim", None) == 4:
        raise ArgumentError(f"an image has the shape {tuple(value.shape)}: this call takes one, such as image[0]")
    if is_list(value) or not (isinstance(value, np.ndarray) or hasattr(value, "__array_interface__")
                              or hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
        raise ArgumentTypeError(f"an image is {short(value)}: it must be an array (H, W), (H, W, C) or (C, H, W), a PIL image, "
                                "a path, a file, its bytes, or a tensor")
    image = _of_array(host("an image", value), source, False)
    if of is not None:
        image.c.of_width, image.c.of_height = of
    return image


def numbered(error: Error, place: int, count: int) -> Error:
    """Adds to an error's text which image of several it is about."""
    if count > 1:
        error.args = (f"image {place} of {count}: {error}",)
    return error


def _is_own(value: Any) -> bool:
    """Whether the value is an object of this package. Stacks and textures have a method `read`, but are no files."""
    return type(value).__module__.split(".")[0] == __name__.split(".")[0]


def _load(path: Any) -> Image:
    if not isinstance(path, str):
        path = os.fsdecode(path)
    name = chars("a path", path)
    box = ffi.new("tvlm_image **")
    try:
        call(lib.tvlm_image_load, name, LOG, box, path=path)
    except DeviceError as error:
        if error.status != "unsupported":
            raise
        refused = ArgumentError(str(error))  # the format of the file is not supported, which is not an error of a device
        refused.status = error.status
        raise refused from None
    return Image(owned(box[0], "image"), None, False)


def decoded(data: Any, name: str) -> Image:
    """Decodes the bytes of an image file. They go into a file in memory, which the library reads like any other.

    `name` stands for the file in errors.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError(f"{name}: {short(data)} are no bytes")
    handle = os.memfd_create("image")
    try:
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(data.tobytes() if isinstance(data, memoryview) else data)  # a memoryview may have any stride
        path = f"/proc/self/fd/{handle}"
        try:
            return _load(path)
        except Error as error:
            error.args = (str(error).replace(path, name),)
            raise
    finally:
        os.close(handle)


def read_of(file: Any) -> tuple[bytes, str]:
    """What an open file has from its present position to its end, and how errors call it."""
    name = getattr(file, "name", None)
    label = name if isinstance(name, str) else f"an open file ({type(file).__name__})"
    try:
        data = file.read()
    except Exception as error:  # the object's `read` may raise anything
        raise FileError(f"{label}: it cannot be read: {reason(error)}") from None
    if not isinstance(data, (bytes, bytearray)):
        raise ArgumentTypeError(f"{label}: what it reads is of type {type(data).__name__}, not bytes: is it open in the mode 'rb'?")
    return bytes(data), label


def _of_pil(image: Any) -> Any:
    """The pixels of a PIL image. PIL reads the file only now, and may find it damaged or closed."""
    try:
        return _pixels_of_pil(image)
    except Error:
        raise
    except MemoryError:
        raise OutOfMemoryError(f"no memory for a PIL image of {image.size[0]} x {image.size[1]} pixels") from None
    except Exception as error:  # each of PIL's formats raises its own kind: OSError, ValueError, SyntaxError, struct.error
        name = getattr(image, "filename", None)
        said = f"{os.fsdecode(name)}: " if isinstance(name, (str, bytes)) and name else ""
        refused = ArgumentError(f"{said}a PIL image cannot be read: {reason(error)}")
        refused.status = "format"
        raise refused from None


def _pixels_of_pil(image: Any) -> Any:
    if 0 in image.size:
        raise ArgumentError(f"an image has {image.size[0]} x {image.size[1]} pixels")
    if image.mode.startswith("I;16") and image.mode != "I;16":
        image = image.convert("I")  # such as big-endian; their conversion to RGB would cut values off
    has_alpha = image.mode in ("PA", "La", "RGBa") or "transparency" in getattr(image, "info", {})
    if image.mode in _PLANAR and not (has_alpha and image.mode in ("L", "RGB")):
        array = np.asarray(image)
        if image.mode != "I":
            return array
        least, most = int(array.min()), int(array.max())
        if least < 0 or most > 65535:
            raise ArgumentError(f"a PIL image of the mode I has values of {least} .. {most}; they are taken from 0 to 65535, which is white")
        return array.astype(np.uint16)
    return np.asarray(image.convert("RGBA" if has_alpha else "RGB"))


def _to_host(tensor: Any, copy: bool, fit: Fit) -> tuple[Any, tuple[int, int] | None]:
    """A tensor in memory that the CPU can read; and, if it was shrunk on the way, its original width and height, else None."""
    device = tensor.__dlpack_device__()
    if int(device[0]) in _ON_HOST:
        return tensor, None
    where = getattr(tensor, "device", f"device {device}")
    if not copy:
        raise ArgumentError(f"the image is on {where}, whose memory OpenCL does not share: it must come to the CPU first. "
                            "copy=True does that, as image.cpu() does")
    if not hasattr(tensor, "cpu"):
        return np.from_dlpack(tensor, device="cpu", copy=True), None
    small, of = _smaller(tensor.detach(), fit)
    return small.cpu(), of


def _smaller(tensor: Any, fit: Fit) -> tuple[Any, tuple[int, int] | None]:
    """Shrinks a tensor of PyTorch on its own device, by PyTorch's area average, to the size that `fit` gives.

    Gives the tensor and its original width and height, or None in their place if the tensor was not shrunk. A tensor with alpha
    is not shrunk, since the library composites before it shrinks.
    """
    shape = tuple(getattr(tensor, "shape", ()))
    if fit is None or len(shape) != 3 or 0 in shape or 3 not in (shape[0], shape[2]):
        return tensor, None
    import torch
    if not (tensor.dtype == torch.uint8 or tensor.is_floating_point()):
        return tensor, None
    planes = tensor.permute(2, 0, 1) if shape[2] == 3 else tensor
    height, width = int(planes.shape[1]), int(planes.shape[2])
    needed = fit(width, height)
    if needed[0] > width or needed[1] > height or needed == (width, height):
        return tensor, None
    if tensor.is_floating_point():  # the range is checked before clamp() hides it; NaN counts as 0, as it does for other images
        least, most = (float(end) for end in torch.nan_to_num(planes.float(), posinf=torch.inf, neginf=-torch.inf).aminmax())
        _check_floats(least, most)
    values = torch.nan_to_num(planes.float() / (255 if tensor.dtype == torch.uint8 else 1)).clamp(0, 1)
    return torch.nn.functional.interpolate(values[None], size=needed[::-1], mode="area")[0].permute(1, 2, 0), (width, height)


def _of_array(array: Any, source: Any, copied: bool) -> Image:
    given = array
    if array.dtype.hasobject or array.dtype.kind not in "uf":
        raise ArgumentTypeError(f"an image has the dtype {array.dtype}; it must be uint8, uint16 or a float of 0 to 1")
    if array.dtype.name not in ("uint8", "uint16", "float16", "float32", "float64", "longdouble", "float128"):
        raise ArgumentTypeError(f"an image has the dtype {array.dtype}; it must be uint8, uint16 or a float of 0 to 1")
    if array.ndim == 2:
        array = array[:, :, None]
    elif array.ndim == 3 and not 1 <= array.shape[2] <= 4 and 1 <= array.shape[0] <= 4:
        array = np.moveaxis(array, 0, 2)
    elif array.ndim == 4 and array.shape[0] == 1:
        raise ArgumentError(f"an image has the shape {array.shape}: a batch of one is image[0]; several are a list")
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4:
        raise ArgumentError(f"an image has the shape {given.shape}; it must be (H, W), (H, W, C) or (C, H, W), with C = 1 .. 4")
    height, width, channels = array.shape
    if not (1 <= height < 2**31 and 1 <= width < 2**31):
        raise ArgumentError(f"an image has {width} x {height} pixels")
    _check_range(array)
    if not _is_taken(array):
        kind = np.float32 if array.dtype.kind == "f" else array.dtype.newbyteorder("=")
        try:
            with np.errstate(over="ignore"):
                array = np.ascontiguousarray(array, dtype=kind)
        except MemoryError:
            raise OutOfMemoryError(f"no memory for a copy of an image of {width} x {height} pixels") from None
        copied = True
    c = ffi.new("tvlm_image *", {
        "pixels": ffi.cast("void *", array.__array_interface__["data"][0]),
        "width": width, "height": height, "channels": channels, "type": _TYPES[array.dtype.name],
        "row_stride": array.strides[0] if height > 1 else 0,
    })
    return Image(c, array, copied, source)


def _check_range(array: Any) -> None:
    """Refuses values that are out of range, or warns of them: their answers would be wrong. NaN is not counted."""
    if array.dtype.kind == "f":
        least, most = array.min(), array.max()
        if least != least:  # there is a NaN; NumPy would warn if there were nothing but NaN
            there = array[~np.isnan(array)]
            least, most = (there.min(), there.max()) if there.size else (0, 0)
        _check_floats(float(least), float(most))
    elif array.dtype.itemsize == 2:
        most = int(array.max())
        if 0 < most < 4096:
            warn(f"an image of uint16 has no value above {most}, and is nearly black: 65535 is white (bytes: astype(numpy.uint8); 12 bits: "
                 "times 16)")


def _check_floats(least: float, most: float) -> None:
    seen = f"floats of {least:.4g} .. {most:.4g}"
    if least < -_OVERSHOOT or most > 1 + _OVERSHOOT:
        raise ArgumentError(f"an image has {seen}; floats are taken from 0 to 1, which is white: divide those of 0 .. 255 by 255, and "
                            "undo a normalisation (times the deviation, plus the mean)")
    if least < -_ROUNDING or most > 1 + _ROUNDING:
        warn(f"an image has {seen}; what lies outside 0 .. 1 is cut off")


def _is_taken(array: Any) -> bool:
    """Whether the library can read these pixels without a copy: rows may have any stride, but pixels and channels no gaps."""
    height, width, channels = array.shape
    size = array.itemsize
    return (array.dtype.name in _TYPES and array.dtype.isnative and array.flags.aligned
            and (channels == 1 or array.strides[2] == size)
            and (width == 1 or array.strides[1] == channels * size)
            and (height == 1 or array.strides[0] >= width * channels * size))


def write_png(path: str, array: Array) -> None:
    """Writes RGB bytes [H, W, 3], C-contiguous, as a PNG."""
    height, width, channels = array.shape
    status = lib.tvlm_png_write(chars("path", path), width, height, channels,
                                ffi.cast("uint8_t *", array.__array_interface__["data"][0]), LOG)
    if status != lib.TVLM_OK:
        raise error_of(status)
