# SPDX-License-Identifier: Apache-2.0
"""How the C library is called: its errors and warnings become Python's, and what it makes is released."""
from __future__ import annotations

import itertools
import logging
import os
import sys
import threading
import warnings
from types import FrameType
from typing import Any, Callable

from ._binding import ffi, lib


logger = logging.getLogger("texturevlm")
"""What the package has to say. Whoever listens attaches a handler; without one it is silent."""
logger.addHandler(logging.NullHandler())


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


class MissingPackageError(Error, ImportError):
    """A package is not installed that the call needs. The line names it."""

    status = "unsupported"


def missing(module: str, needs: str, extra: str, error: ImportError) -> MissingPackageError:
    """What a module of this package says where another package cannot be imported."""
    said = " ".join(str(error).split())
    return MissingPackageError(f"texturevlm.{module} needs {needs} (pip install '{extra}'): {said}")


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
    """Warns, as seen from the line outside this package that called it; and each time to the logger, which Python's filters do not
    silence."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    logger.warning("%s", line)
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
    """A device, and what was made from it. Every call on either enters the owner (`with owner:`), which

    - lets one thread in at a time, and that one as often as it likes, since calls are made of calls;
    - refuses a device that is closed, or that another process opened;
    - releases what was closed when the outermost call ends, never within: no call loses what it works on.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0  # how many calls the thread inside is in
        self.process = os.getpid()
        self.closed = False
        self.pointer: Any = None
        self.alive: dict[int, tuple[Any, Callable[[Any], None]]] = {}
        self.dead: list[int] = []

    def __enter__(self) -> Owner:
        if self.process != os.getpid():  # before the lock, which a thread may have had that was not forked
            raise DeviceError(
                "this process was forked from one that had opened the device, which no OpenCL driver survives: start "
                "workers by spawn (multiprocessing.get_context(\"spawn\")), or use texturevlm in the workers only")
        self._begin()
        if self.pointer is None or self.ending(self.closed):
            self._end()
            raise ArgumentError("the device is closed")
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> None:
        self.lock.acquire()
        self.depth += 1

    def _end(self) -> None:
        try:
            if self.depth == 1:
                self._release()
        finally:
            self.depth -= 1
            self.lock.release()

    def ending(self, closed: bool) -> bool:
        """Whether a call ends at what is closed by another thread, which waits: one that begins does, one that runs does not. The
        caller is inside."""
        return closed and self.depth == 1

    def open(self, function: Callable[[], Any]) -> Any:
        """Calls what opens the device, and sets `pointer`; the end of the interpreter waits for it."""
        owners[id(self)] = self
        self._begin()
        try:
            if _ended:
                raise DeviceError("the interpreter is ending: no device is opened any more")
            return function()
        finally:
            self._end()
            if self.pointer is None:
                owners.pop(id(self), None)

    def close(self) -> None:
        """Releases all that was made from the device, the youngest first, and the device; waits for another thread's call."""
        self.closed = True
        if self.process == os.getpid():
            self._begin()
            self._end()

    def discard(self, key: int) -> None:
        """Releases what nobody refers to any more, at once or with the end of the call that another thread is in. Never waits:
        it is called by the collector of garbage, at any place."""
        self.dead.append(key)
        if self.lock.acquire(blocking=False):
            try:
                if self.depth == 0:
                    self._begin()
                    self._end()
            finally:
                self.lock.release()

    def _release(self) -> None:
        """Releases what is closed. The caller is inside, in one call."""
        if self.closed:
            self.dead.extend(self.alive)  # released from the end, the youngest first
        while self.dead:
            entry = self.alive.pop(self.dead.pop(), None)
            if entry is not None:
                entry[1](entry[0])
        if self.closed and self.pointer is not None:
            box = ffi.new("tvlm_device **", self.pointer)
            self.pointer = None
            owners.pop(id(self), None)
            lib.tvlm_device_destroy(box)


_keys = itertools.count(1)


class Bound:
    """What hangs on a device: it is neither pickled nor copied."""

    def __reduce_ex__(self, _: Any) -> Any:
        raise ArgumentTypeError(f"a {type(self).__name__} cannot be pickled or copied, as it hangs on its device: make one in each process")


class Value:
    """What never changes, so that a copy is the same object; in memory of the library, so that it is not pickled."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self

    def __reduce_ex__(self, _: Any) -> Any:
        way = "save it, and load it where it is needed" if hasattr(self, "save") else "make it where it is needed"
        raise ArgumentTypeError(f"a {type(self).__name__} cannot be pickled: {way}")


class Entered:
    """What a call enters (`with handle as pointer:`), and so its device; the pointer is good inside."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    def call(self, function: Callable[..., int], *arguments: Any, made: Callable[[], Any] | None = None) -> Any:
        """Calls a function of the library with its pointer before the other arguments."""
        with self as pointer:
            return call(function, pointer, *arguments, made=made)


class Handle(Entered):
    """What was made from a device. `close` waits for the call that another thread is in; without it, it is released when its last
    reference goes.
    """

    def __init__(self, owner: Owner, kind: str, missing: str = "") -> None:
        """`missing`: what a call is told as long as nothing was taken."""
        self.key = 0
        self.owner = owner
        self.what = kind
        self.missing = missing
        self.closed = False
        self.box = ffi.new(f"tvlm_{kind} **")

    def make(self, function: Callable[..., int], *arguments: Any) -> Handle:
        """Calls the function of the library that makes it, and that puts it into its last argument."""
        def take() -> None:
            self.key = next(_keys)
            self.owner.alive[self.key] = (self.box[0], getattr(lib, f"tvlm_python_free_{self.what}"))

        with self.owner:
            call(function, *arguments, self.box, made=take)
        return self

    def __enter__(self) -> Any:
        self.owner.__enter__()
        try:
            self.check()
            if self.key not in self.owner.alive:
                raise ArgumentError(self.missing)
            return self.box[0]
        except BaseException:
            self.owner.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        self.owner.__exit__()

    def check(self) -> None:
        """Refuses what is closed. The caller is inside."""
        if self.owner.ending(self.closed) or (self.closed and self.key not in self.owner.alive):
            raise ArgumentError(f"the {self.what} is closed")

    def close(self) -> None:
        self.closed = True
        if self.owner.process == os.getpid():
            self.owner._begin()
            try:
                self._drop()
            finally:
                self.owner._end()

    def _drop(self) -> None:
        key, self.key = self.key, 0
        if key:
            self.owner.dead.append(key)

    def __del__(self) -> None:
        if self.key and self.owner.process == os.getpid():
            self.owner.discard(self.key)


class Lent(Entered):
    """A handle to what another one owns, which a call on it enters."""

    def __init__(self, handle: Handle, pointer: Any) -> None:
        self.handle, self.pointer = handle, pointer

    def __enter__(self) -> Any:
        self.handle.__enter__()
        return self.pointer

    def __exit__(self, *_: object) -> None:
        self.handle.__exit__()

    def close(self) -> None:
        """Nothing: its owner releases it."""


owners: dict[int, Owner] = {}  # those whose device is open, or is being opened
_ended = False


def close_all() -> None:
    """Closes all devices, before the interpreter and the drivers end. A daemon's thread, which goes on, finds them closed."""
    global _ended
    _ended = True
    for owner in list(owners.values()):
        owner.close()
