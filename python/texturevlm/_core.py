# SPDX-License-Identifier: Apache-2.0
"""How the C library is called: its errors and warnings become Python's, and what it makes is released."""
from __future__ import annotations

import itertools
import os
import sys
import threading
import warnings
import weakref
from types import FrameType
from typing import Any, Callable

from ._binding import ffi, lib


# ---- Errors ----

class Error(Exception):
    """What the library refuses or fails at. Its text is the library's own line, which names what is wrong.

    `status` is the C library's word for it (``"argument"``, ``"device_memory"``, ...). Where Python has a class for
    what happened, the error is of that class, too: catch `ValueError`, `MemoryError`, `FileNotFoundError` or
    `texturevlm.Error`, as you like.
    """

    status: str = "argument"


class ArgumentError(Error, ValueError):
    """An argument is outside its range, of the wrong shape, or does not fit the others."""


class ArgumentTypeError(Error, TypeError):
    """An argument is of a type that is not taken, or has an unknown name."""


class OutOfMemoryError(Error, MemoryError):
    """The host (status ``memory``) or the device (``device_memory``) has no memory left for it."""

    status = "memory"


class NoDeviceError(Error, LookupError):
    """There is no OpenCL device, or none of that name."""

    status = "no_device"


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    status = "io"


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class DeviceLostError(Error, RuntimeError):
    """The device is gone (unplugged, reset, its driver crashed), and with it all that was made from it: open another."""

    status = "lost"


class DeviceError(Error, RuntimeError):
    """A call of the driver failed, or the device cannot do what was asked."""

    status = "device"


class TexturevlmWarning(UserWarning):
    """The call succeeded, but not exactly as asked: scaled down, replaced by 0, on another device."""


_KINDS = {
    lib.TVLM_ERROR_ARGUMENT: (ArgumentError, "argument"),
    lib.TVLM_ERROR_MEMORY: (OutOfMemoryError, "memory"),
    lib.TVLM_ERROR_DEVICE_MEMORY: (OutOfMemoryError, "device_memory"),
    lib.TVLM_ERROR_NO_DEVICE: (NoDeviceError, "no_device"),
    lib.TVLM_ERROR_DEVICE: (DeviceError, "device"),
    lib.TVLM_ERROR_UNSUPPORTED: (DeviceError, "unsupported"),
    lib.TVLM_ERROR_IO: (FileError, "io"),
    lib.TVLM_ERROR_FORMAT: (ArgumentError, "format"),
    lib.TVLM_ERROR_LOST: (DeviceLostError, "lost"),
}

LOG = lib.tvlm_python_log()
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def text(chars: Any) -> str:
    """A string of the library's."""
    return str(ffi.string(chars).decode("utf-8", "replace"))


def warn(line: str) -> None:
    """Warns, as seen from the line outside this package that called it."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(line, TexturevlmWarning, stacklevel=level)


def error_of(status: int, path: str | None = None) -> Error:
    """The exception for a status, with the line that the calling thread was told."""
    kind, word = _KINDS.get(status, (Error, "unknown"))
    if kind is FileError and path is not None and not os.path.exists(path):
        kind = MissingFileError
    error = kind(text(lib.tvlm_python_error()) or text(lib.tvlm_status_string(status)))
    error.status = word
    return error


def call(function: Callable[..., int], *arguments: Any, path: str | None = None,
         made: Callable[[], Any] | None = None, told: Callable[[str], None] | None = None) -> Any:
    """Calls a function of the library that returns a status. `made` takes what it made, before warnings are shown,
    which may raise; `told` takes each warning in place of Python."""
    lib.tvlm_python_forget()
    status = function(*arguments)
    if status != lib.TVLM_OK:
        raise error_of(status, path)
    result = made() if made is not None else None
    lines = lib.tvlm_python_warnings()
    if lines[0] != b"\0":
        for line in text(lines).splitlines():
            (told or warn)(line)
    return result


# ---- What the library made ----

def owned(pointer: Any, kind: str) -> Any:
    """A handle that belongs to no device, released with its last reference."""
    return ffi.gc(pointer, getattr(lib, f"tvlm_python_free_{kind}"))


class Owner:
    """A device's lock, and what was made from the device: used by one thread at a time, and released before it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.process = os.getpid()
        self.pointer: Any = None
        self.alive: dict[int, tuple[Any, Callable[[Any], None]]] = {}
        self.dead: list[int] = []

    def check(self) -> None:
        """Refuses a device that is closed, or that another process opened. The caller has the lock."""
        if self.process != os.getpid():
            raise DeviceError(
                "this process was forked from one that had opened the device, which no OpenCL driver survives: start "
                "workers by spawn (multiprocessing.get_context(\"spawn\")), or use texturevlm in the workers only")
        if self.pointer is None:
            raise ArgumentError("the device is closed")
        if self.dead:
            self.bury()

    def bury(self) -> None:
        """Releases what nobody refers to any more. The caller has the lock."""
        while self.dead:
            entry = self.alive.pop(self.dead.pop(), None)
            if entry is not None:
                entry[1](entry[0])

    def close(self) -> None:
        """Releases all that was made from the device, the youngest first, and the device."""
        if self.process != os.getpid():
            return
        with self.lock:
            for pointer, release in reversed(list(self.alive.values())):
                release(pointer)
            self.alive.clear()
            self.dead.clear()
            if self.pointer is not None:
                box = ffi.new("tvlm_device **", self.pointer)
                self.pointer = None
                lib.tvlm_device_destroy(box)


_keys = itertools.count(1)


class Handle:
    """What was made from a device. It is released when its last reference goes, at once or, where another thread is in
    a call on the device, with the device's next call."""

    def __init__(self, owner: Owner, kind: str) -> None:
        self.owner = owner
        self.what = kind
        self.box = ffi.new(f"tvlm_{kind} **")
        self.key = 0

    def take(self) -> Handle:
        """Notes what the library has put into `box`."""
        self.key = next(_keys)
        self.owner.alive[self.key] = (self.box[0], getattr(lib, f"tvlm_python_free_{self.what}"))
        return self

    @property
    def pointer(self) -> Any:
        if self.key not in self.owner.alive:
            self.owner.check()
            raise ArgumentError(f"the {self.what} is closed")
        return self.box[0]

    def close(self) -> None:
        key, self.key = self.key, 0
        if not key or self.owner.process != os.getpid():
            return
        self.owner.dead.append(key)
        if self.owner.lock.acquire(blocking=False):
            try:
                self.owner.bury()
            finally:
                self.owner.lock.release()

    def __del__(self) -> None:
        self.close()


owners: weakref.WeakSet[Owner] = weakref.WeakSet()


def close_all() -> None:
    """Closes all devices, before the interpreter and the drivers end."""
    for owner in list(owners):
        owner.close()
