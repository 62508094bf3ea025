# SPDX-License-Identifier: Apache-2.0
"""Devices: listing them, and opening one."""
from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from ._arguments import chars, choice, file_name, flag, short
from ._binding import ffi, lib
from ._core import ArgumentTypeError, Bound, DeviceError, LOG, Owner, call, close_all, text, warn
from ._types import Format, Storage

TYPES = ["gpu", "cpu", "other", "reference"]
STORAGES = ["auto", "image", "buffer", "mipmapped"]
FORMATS = ["auto", "f16", "f32", "u8"]

_SLOW = ("no OpenCL device answers, so the reference does: plain C, exact and slow. For a faster one, "
         "install an OpenCL driver (Debian: pocl-opencl-icd for any CPU, intel-opencl-icd, mesa-opencl-icd or nvidia-opencl-icd "
         "for a GPU)")

_used_in = 0  # the id of the process that was the first to use a driver; 0 before that
_default: Device | None = None
_by_name: dict[tuple[int, str], Device] = {}  # by the id of the process and the name
_default_lock = threading.Lock()


def _ask_drivers() -> None:
    """Notes that this process uses drivers. Refuses a process that was forked after that, where the drivers' threads are gone."""
    global _used_in
    if _used_in not in (0, os.getpid()):
        raise DeviceError("this process was forked from one that had used OpenCL, which no driver survives: start workers "
                          "by spawn (multiprocessing.get_context(\"spawn\")), or use texturevlm in the workers only")
    _used_in = os.getpid()


def _described(info: Any) -> dict[str, Any]:
    return {
        "index": info.index,
        "type": TYPES[info.type],
        "name": text(info.name),
        "platform": text(info.platform),
        "driver": text(info.driver),
        "version": text(info.version),
        "memory_bytes": info.memory_bytes,
        "allocation_max": info.allocation_max,
        "local_bytes": info.local_bytes,
        "compute_units": info.compute_units,
        "images": bool(info.images),
        "storage": STORAGES[info.storage],
        "storage_reason": text(info.storage_reason),
        "self_tests": [{"name": text(test.name), "passed": bool(test.passed), "detail": text(test.detail)}
                       for test in info.self_tests[0:info.self_test_count]],
    }


def devices() -> list[dict[str, Any]]:
    """Lists the devices of this machine. The last one is the reference: plain C on the CPU, which is always there.

    No device is opened. Each entry is a dict with ``index``, ``type`` (``"gpu"``, ``"cpu"``, ``"other"`` or ``"reference"``),
    ``name``, ``platform``, ``driver``, ``memory_bytes`` and more. The command ``tvlm devices`` also runs the self-tests.
    """
    _ask_drivers()

    def listed() -> list[dict[str, Any]]:
        count = ffi.new("int32_t *")
        call(lib.tvlm_device_list, 0, ffi.NULL, count)
        infos = ffi.new("tvlm_device_info[]", count[0])
        call(lib.tvlm_device_list, count[0], infos, count)
        return [_described(info) for info in infos]

    return list(Owner().open(listed))


class Device(Bound):
    """A device that is open.

    Parameters:
        name: the device's index, or a part of its name, of its platform's name or of its driver's name (``"pocl"``), or
            ``"reference"``. None: ``$TVLM_DEVICE``, else the first GPU, else the first CPU, else any OpenCL device.
        storage: how texels are stored: ``"auto"``, ``"image"``, ``"buffer"`` or ``"mipmapped"``.
        fallback: open another device, with a warning, if there is no OpenCL device, or if the driver fails or does not pass the
            self-test. The last choice is the reference.
        cache_dir: the folder in which compiled programs are kept. None: the user's cache. ``""``: they are not kept.
        format: the format that the device's stacks will have, if it is known. With ``"u8"``, a storage that cannot hold bytes is
            not chosen.
        keep_memory: keep the memory of stacks that are gone, for the next stacks. It is for images of ever new sizes. Kept memory
            and memory in use together are never more than was in use at one time.

    A call that is given no device uses the default device, which all such calls share. It is opened when it is first needed, as
    by ``Device(fallback=True)``.

    Threads: a device works for one thread at a time. A lock sees to that, and the GIL is released while the device works. So
    threads may share a device and all that was made from it. Threads with devices of their own work at the same time.

    Closing: if another thread is in a call on what is closed, the release waits for the end of that call. Later calls are
    refused.

    Processes: a process that was forked after a device was opened cannot use any device. Start workers by ``spawn``, or use
    texturevlm in the workers only.

    Errors, each an `Error` with one of these statuses:

    - ``no_device``: there is no device of that name. The text lists those that there are.
    - ``device``: a kernel does not build.
    - ``unsupported``: the storage does not pass the self-test.
    """

    def __init__(self, name: str | int | None = None, *, storage: Storage = "auto", fallback: bool = False,
                 cache_dir: str | os.PathLike[str] | None = None, format: Format = "auto",
                 keep_memory: bool = False) -> None:
        self._owner = Owner()
        word = str(name) if isinstance(name, int) and not isinstance(name, bool) else name
        keep = [chars("name", word) if word is not None else b"",
                chars("cache_dir", file_name("cache_dir", cache_dir)) if cache_dir is not None else b""]
        boxes = [ffi.new("char[]", item) for item in keep]
        params = ffi.new("struct tvlm_device_params *", {
            "name": boxes[0] if word is not None else ffi.NULL,
            "storage": choice("storage", storage, STORAGES),
            "cache_dir": boxes[1] if cache_dir is not None else ffi.NULL,
            "fallback": flag("fallback", fallback),
            "format": choice("format", format, FORMATS),
            "keep_memory": flag("keep_memory", keep_memory),
            "log": LOG,
        })
        if word != "reference":
            _ask_drivers()
        box, info = ffi.new("tvlm_device **"), ffi.new("tvlm_device_info *")
        lines: list[str] = []

        def take() -> None:
            self._owner.pointer = box[0]

        def opened() -> None:
            call(lib.tvlm_device_open, params, box, made=take, told=lines.append)
            call(lib.tvlm_device_get_info, box[0], info)

        self._owner.open(opened)
        self.info: dict[str, Any] = _described(info)
        if lines and self.type == "reference":
            why = "" if lines[0].startswith("no OpenCL") else f" ({lines[0]})"
            lines = [_SLOW + why]
        for line in lines:
            warn(line)

    @property
    def name(self) -> str:
        """The device's name, as its driver gives it."""
        return str(self.info["name"])

    @property
    def type(self) -> str:
        """``"gpu"``, ``"cpu"``, ``"other"`` or ``"reference"``."""
        return str(self.info["type"])

    def _call(self, function: Any, *arguments: Any, made: Any = None) -> Any:
        """Calls a function that needs the device, or an object that was made from it."""
        with self._owner:
            return call(function, *arguments, made=made)

    def finish(self) -> None:
        """Waits until all work of the device is done."""
        self._call(lib.tvlm_device_finish, self._owner.pointer)

    def close(self) -> None:
        """Releases the device and all that was made from it.

        If another thread is in a call on the device, waits for the end of that call. The device's stacks cannot be used any more;
        selections stay.
        """
        self._owner.close()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner is not None:
            owner.close()

    def __repr__(self) -> str:
        return f"<texturevlm.Device {self.name!r} ({self.type})>"


def open_default() -> Device:
    """The default device of this process. All calls that are given no device share it."""
    global _default
    with _default_lock:
        if _default is None or _default._owner.closed or _default._owner.process != os.getpid():
            _default = Device(fallback=True)
        return _default


def _renew() -> None:
    """Makes a new lock in a process that was just forked. The thread that held the old one may not exist in this process."""
    global _default_lock
    _default_lock = threading.Lock()


def device_of(device: Any) -> Device:
    """The device that an argument names: a `Device`, a name, or None for the default device."""
    if device is None:
        return open_default()
    if isinstance(device, Device):
        return device
    if isinstance(device, str):
        return _named(device)
    raise ArgumentTypeError(f"device is {short(device)}, neither a texturevlm.Device nor a device's name")


def _named(name: str) -> Device:
    """The device of that name, which all calls of this process share. It is opened again if somebody closed it."""
    with _default_lock:
        found = _by_name.get((os.getpid(), name))
        if found is None or found._owner.closed:
            found = _by_name[os.getpid(), name] = Device(name)
        return found


if hasattr(os, "register_at_fork"):  # Windows forks nothing
    os.register_at_fork(after_in_child=_renew)
atexit.register(close_all)
