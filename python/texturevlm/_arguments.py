# SPDX-License-Identifier: Apache-2.0
"""Turns Python's arguments into numbers, arrays and parameters of the library.

An argument that does not fit raises an error of one line, which names it.
"""
from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, Callable

import numpy as np

from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, LOG, call, text
from ._types import Array as Array  # all modules import it from here


# ---- Single values ----

def integer(name: str, value: Any, low: int = 0, high: int = 2**31 - 1) -> int:
    """A whole number of low .. high."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except Exception:  # the __index__ of a foreign class may raise anything
        raise ArgumentTypeError(f"{name} is {short(value)}, not a whole number") from None
    if not low <= number <= high:
        raise ArgumentError(f"{name} is {short(number)}; it must be {low} .. {high}")
    return number


def real(name: str, value: Any, low: float = -math.inf, above: bool = False) -> float:
    """A number that a float can hold: at least `low`, or above `low` if `above` is set."""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        number = float(value)
    except OverflowError:
        raise ArgumentError(f"{name} is too large") from None
    except Exception:  # the __float__ of a foreign class may raise anything
        raise ArgumentTypeError(f"{name} is {short(value)}, not a number") from None
    if not abs(number) <= 3.4028234e38:
        raise ArgumentError(f"{name} is {number}; it must be a finite number")
    if number < low or (above and number <= low):
        raise ArgumentError(f"{name} is {number}; it must be {'above' if above else 'at least'} {low:g}")
    return number


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{name} is {short(value)}, neither True nor False")
    return bool(value)


def _nearest(name: str, names: Sequence[str]) -> str | None:
    """The one of `names` that is most like `name`, if any is."""
    import difflib  # only an error needs it
    return next(iter(difflib.get_close_matches(name, names, 1)), None)


def choice(name: str, value: Any, names: Sequence[str]) -> int:
    """The index of the name `value` in `names`."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} is {short(value)}, not one of {', '.join(names)}")
    if value not in names:
        near = _nearest(value, names)
        raise ArgumentError(f"there is no {name} {short(value)}; it is one of {', '.join(names)}"
                            + (f" (do you mean {near}?)" if near else ""))
    return names.index(value)


def chars(name: str, value: Any) -> bytes:
    """A string as the library takes it: the bytes of its UTF-8, without a zero."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} is {short(value)}, not a string")
    if "\0" in value:
        raise ArgumentError(f"{name} has a zero character in it")
    try:
        return value.encode("utf-8", "surrogateescape")  # Python decodes names of files in the same way
    except UnicodeEncodeError:
        raise ArgumentError(f"{name} is {short(value)}, which is no text") from None


def file_name(name: str, value: Any) -> str:
    """A path."""
    if not isinstance(value, (str, os.PathLike)):
        raise ArgumentTypeError(f"{name} is {short(value)}, not a path")
    path = os.fspath(value)
    chars(name, path if isinstance(path, str) else os.fsdecode(path))
    return path if isinstance(path, str) else os.fsdecode(path)


def short(value: Any) -> str:
    """A value as it stands in the line of an error: its repr without newlines, or its type if the repr is too long."""
    try:
        line = " ".join(repr(value).split())
    except Exception:  # the __repr__ of a foreign class may raise anything
        line = ""
    return line if 0 < len(line) <= 60 else f"of type {type(value).__name__}"


def reason(error: BaseException) -> str:
    """The text of a foreign exception as one line, shortened where it is long."""
    line = " ".join(str(error).split())
    return f"{line[:200]} ..." if len(line) > 200 else line or type(error).__name__


def known(options: dict[str, Any], names: Iterable[str]) -> None:
    """Refuses an option whose name is not in `names`."""
    allowed = sorted(names)
    for name in options:
        if name not in allowed:
            near = _nearest(name, allowed)
            raise ArgumentTypeError(f"there is no option {name!r}" + (f" (do you mean {near!r}?)" if near else
                                                                      f"; there are {', '.join(allowed)}"))


# ---- Arrays ----

def host(name: str, value: Any) -> Array:
    """Any array-like on the host as a NumPy array; without a copy if it has one of NumPy's protocols or DLPack."""
    # NumPy has no bfloat16. Its values are float32 without the lower half of the bits, so the conversion is exact.
    if str(getattr(value, "dtype", "")) in ("torch.bfloat16", "bfloat16"):
        value = value.float() if hasattr(value, "float") else np.asarray(value).astype(np.float32)
    if isinstance(value, np.ndarray):
        return value
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
            return np.from_dlpack(value.detach() if hasattr(value, "detach") else value)
        return np.asarray(value)
    except Exception as error:  # another library may raise anything
        raise ArgumentTypeError(f"{name}: {short(value)} cannot be read as an array: {reason(error)}") from None


def values(name: str, value: Any, ranks: tuple[int, ...], halves: bool = False) -> Array:
    """Numbers as a C-contiguous array of float32 of one of the `ranks`; with `halves`, float16 stays float16."""
    array = host(name, value)
    if array.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"{name} has the dtype {array.dtype}, not one of numbers")
    if array.ndim not in ranks:
        wanted = " or ".join(str(rank) for rank in ranks)
        raise ArgumentError(f"{name} has {array.ndim} dimensions, not {wanted}")
    if array.size > 2**31 - 1:
        raise ArgumentError(f"{name} has {array.size} values, more than 2^31 - 1")
    kind = np.float16 if halves and array.dtype == np.float16 else np.float32
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=kind, order="C")


def floats(array: Array) -> Any:
    """A pointer to the data of an array that values() or numpy.empty made. It is valid while the array lives."""
    return ffi.cast("float *", array.__array_interface__["data"][0])


def pairs(name: str, value: Any) -> Array:
    """Points as an array [n, 2]; a single point is taken for a list of one."""
    array = values(name, value, (1, 2))
    if array.shape[-1] != 2:
        raise ArgumentError(f"{name} has the shape {array.shape}, not (n, 2): x and y of each")
    return array.reshape(-1, 2)


# ---- Channels ----

def channels(value: Any, stack: Any = None) -> list[int]:
    """The numbers of channels, given as a list of names or as one string like the tool's ("r,g,b", or a layout)."""
    if not isinstance(value, (str, list, tuple)):
        raise ArgumentTypeError(f"channels are {short(value)}, not names: \"edges\", or [\"r\", \"g\", \"b\"]")
    names = value if isinstance(value, str) else ",".join(_name(item) for item in value)
    count = ffi.new("int32_t *")
    line = chars("channels", names)

    def parse(capacity: int, numbers: Any) -> None:
        if stack is None:
            call(lib.tvlm_layout_parse, line, LOG, capacity, numbers, count)
        else:
            call(lib.tvlm_stack_parse, stack, line, capacity, numbers, count)

    parse(0, ffi.NULL)
    numbers = ffi.new("int32_t[]", max(count[0], 1))
    parse(count[0], numbers)
    return list(numbers[0:count[0]])


def _name(item: Any) -> str:
    if not isinstance(item, str) or "," in item:
        raise ArgumentTypeError(f"a channel is {short(item)}, not a name")
    return item


def channel(value: Any, stack: Any = None) -> int:
    """The number of one channel."""
    numbers = channels([value], stack)
    if len(numbers) != 1:
        raise ArgumentError(f"{value!r} is a layout; one channel is wanted")
    return numbers[0]


def channel_names(numbers: Iterable[int], stack: Any = None) -> list[str]:
    info = ffi.new("tvlm_channel_info *")
    names = []
    for number in numbers:
        if stack is None:
            call(lib.tvlm_channel_get_info, number, info)
        else:
            call(lib.tvlm_stack_get_channel_info, stack, number, info)
        names.append(text(info.name))
    return names


# ---- Names of enumerations ----

def names_of(name: Callable[[int], Any], first: int = 0) -> list[str]:
    """All names of an enumeration, by the function of the library that names its values.

    Beyond the last value that function answers with the first name, or with "unknown".
    """
    names: list[str] = []
    for i in range(first, first + 64):
        pointer = name(i)
        word = text(pointer) if pointer != ffi.NULL else "unknown"
        if word == "unknown" or word in names:
            break
        names.append(word)
    return names
