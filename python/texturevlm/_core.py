# SPDX-License-Identifier: Apache-2.0
"""How the C library is called: its errors and warnings become those of Python, and the objects that it makes are released."""
from __future__ import annotations

import itertools
import logging
import os
import sys
import threading
import warnings
from types import FrameType
from typing import Any, Callable, NoReturn

from ._binding import ffi, lib


logger = logging.getLogger("texturevlm")
"""What the package has to say. Whoever listens attaches a handler; without one it is silent."""
logger.addHandler(logging.NullHandler())


# ---- Errors ----

class Error(Exception):
    """The class of all errors of this package. Its text is the line of the C library, which names what is wrong.

    `status` is the C library's word for the error (``"argument"``, ``"device_memory"``, ...). Where Python has a class for
    the error, the error is of that class, too: catch `ValueError`, `MemoryError`, `FileNotFoundError` or
    `texturevlm.Error`, as you like.
    """

    status: str = "argument"


class ArgumentError(Error, ValueError):
    """An argument is outside its range, has the wrong shape, or does not fit the other arguments."""


class ArgumentTypeError(Error, TypeError):
    """An argument has a type that is not accepted, or an unknown name."""


class OutOfMemoryError(Error, MemoryError):
    """The host (status ``memory``) or the device (status ``device_memory``) has no memory left for the call."""

    status = "memory"


class NoDeviceError(Error, LookupError):
    """There is no OpenCL device, or none of the given name."""

    status = "no_device"


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    status = "io"


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class MissingPackageError(Error, ImportError):
    """The call needs a Python package that is not installed. The error's text names the package."""

    status = "unsupported"


def missing(module: str, needs: str, extra: str, error: ImportError) -> MissingPackageError:
    """The error of a module of this package that needs another package, which cannot be imported."""
    said = " ".join(str(error).split())
    return MissingPackageError(f"texturevlm.{module} needs {needs} (pip install '{extra}'): {said}")


def refuse(module: str, needs: str, extra: str, error: ImportError) -> NoReturn:
    """Raises the error of `missing`. For ``python -m texturevlm.MODULE`` one line is enough, without a traceback."""
    refused = missing(module, needs, extra, error)
    if sys.argv[:1] == ["-m"] and f"texturevlm.{module}" in getattr(sys, "orig_argv", ()):
        sys.exit(str(refused))
    raise refused from None


class DeviceLostError(Error, RuntimeError):
    """The device is gone (unplugged, reset, its driver crashed), and so is all that was made from it. Open another one."""

    status = "lost"


class DeviceError(Error, RuntimeError):
    """A call of the driver failed, or the device cannot do what was asked."""

    status = "device"


class TexturevlmWarning(UserWarning):
    """The call succeeded, but not exactly as asked: an image was scaled down, a value replaced by 0, another device taken."""


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
    """A C string of the library as a string of Python."""
    return str(ffi.string(chars).decode("utf-8", "replace"))


def warn(line: str) -> None:
    """Shows a warning, at the line outside this package that called it, and writes it to the logger.

    The logger gets it every time: Python's warning filters do not silence the logger.
    """
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    logger.warning("%s", line)
    warnings.warn(line, TexturevlmWarning, stacklevel=level)


def error_of(status: int, path: str | None = None) -> Error:
    """The exception for a status, with the error line that the library left for the calling thread."""
    kind, word = _KINDS.get(status, (Error, "unknown"))
    if kind is FileError and path is not None and not os.path.exists(path):
        kind = MissingFileError
    error = kind(text(lib.tvlm_python_error()) or text(lib.tvlm_status_string(status)))
    error.status = word
    return error


def call(function: Callable[..., int], *arguments: Any, path: str | None = None,
         made: Callable[[], Any] | None = None, told: Callable[[str], None] | None = None) -> Any:
    """Calls a function of the library that returns a status.

    Parameters:
        made: takes what the function made. It runs before warnings are shown, since a warning may raise an exception.
        told: gets each warning, in place of Python's warnings.
    """
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
    """An object of the library that belongs to no device. It is released with its last reference."""
    return ffi.gc(pointer, getattr(lib, f"tvlm_python_free_{kind}"))


class Owner:
    """A device, and the objects that were made from it.

    Every call on the device or on one of these objects enters the owner (`with owner:`). The owner has three tasks:

    - It lets one thread in at a time. That thread may enter several times, since calls are made of calls.
    - It refuses a device that is closed, or that another process opened.
    - It releases closed objects when the outermost call ends, never earlier, so that no call loses what it works on.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0  # how many nested calls the thread that is inside has entered
        self.process = os.getpid()
        self.closed = False
        self.pointer: Any = None
        self.alive: dict[int, tuple[Any, Callable[[Any], None]]] = {}
        self.dead: list[int] = []

    def __enter__(self) -> Owner:
        if self.process != os.getpid():  # before the lock: a thread of the other process may have held it at the fork
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
        """Whether a call must be refused because an object is closed (`closed`). The caller is inside.

        Another thread may close the object, and wait, while a call on it runs. A call that only begins is refused; a call that
        runs goes on.
        """
        return closed and self.depth == 1

    def open(self, function: Callable[[], Any]) -> Any:
        """Calls a function that opens the device and sets `pointer`. The end of the interpreter waits for that call."""
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
        """Releases all that was made from the device, the youngest first, then the device. Waits for another thread's call."""
        self.closed = True
        if self.process == os.getpid():
            self._begin()
            self._end()

    def discard(self, key: int) -> None:
        """Releases an object that nobody refers to any more. Never waits: the garbage collector calls this, at any point.

        The object is released at once, or, if a call is running, when that call ends.
        """
        self.dead.append(key)
        if self.lock.acquire(blocking=False):
            try:
                if self.depth == 0:
                    self._begin()
                    self._end()
            finally:
                self.lock.release()

    def _release(self) -> None:
        """Releases what is closed. The caller is inside, in the outermost call."""
        if self.closed:
            self.dead.extend(self.alive)  # the loop below takes them from the end: the youngest first
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
    """The base of objects that depend on a device. They can be neither pickled nor copied."""

    def __reduce_ex__(self, _: Any) -> Any:
        raise ArgumentTypeError(f"a {type(self).__name__} cannot be pickled or copied, as it hangs on its device: make one in each process")


class Value:
    """The base of objects that never change and belong to no device.

    A copy is the same object. They cannot be pickled, as they are in memory of the library.
    """

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self

    def __reduce_ex__(self, _: Any) -> Any:
        way = "save it, and load it where it is needed" if hasattr(self, "save") else "make it where it is needed"
        raise ArgumentTypeError(f"a {type(self).__name__} cannot be pickled: {way}")


class Entered:
    """The base of handles. A call enters a handle (`with handle as pointer:`), and thereby its device.

    The pointer is valid inside the block.
    """

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    def call(self, function: Callable[..., int], *arguments: Any, made: Callable[[], Any] | None = None) -> Any:
        """Calls a function of the library with the handle's pointer as the first argument."""
        with self as pointer:
            return call(function, pointer, *arguments, made=made)


class Handle(Entered):
    """A handle to an object that was made from a device.

    `close` releases the object, and waits for a call that another thread has on the device. Without `close`, the object is
    released with the last reference to the handle.
    """

    def __init__(self, owner: Owner, kind: str, missing: str = "") -> None:
        """`missing` is the text of the error for a call before the object was made."""
        self.key = 0
        self.owner = owner
        self.what = kind
        self.missing = missing
        self.closed = False
        self.box = ffi.new(f"tvlm_{kind} **")

    def make(self, function: Callable[..., int], *arguments: Any) -> Handle:
        """Calls the function of the library that makes the object. The function stores the object through its last argument."""
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
        """Refuses a handle that is closed. The caller is inside."""
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
    """A handle to an object that another handle owns. A call on it enters that other handle."""

    def __init__(self, handle: Handle, pointer: Any) -> None:
        self.handle, self.pointer = handle, pointer

    def __enter__(self) -> Any:
        self.handle.__enter__()
        return self.pointer

    def __exit__(self, *_: object) -> None:
        self.handle.__exit__()

    def close(self) -> None:
        """Does nothing: the handle that owns the object releases it."""


owners: dict[int, Owner] = {}  # all owners whose device is open or is being opened
_ended = False


def close_all() -> None:
    """Closes all devices before the interpreter and the drivers end. Daemon threads, which go on, find them closed."""
    global _ended
    _ended = True
    for owner in list(owners.values()):
        owner.close()
