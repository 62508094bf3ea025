# SPDX-License-Identifier: Apache-2.0
"""Where OpenCL comes from: the machine's own loader of drivers, else the one that the extra [pocl] brings from PyPI."""
from __future__ import annotations

import ctypes
import glob
import importlib.util
import os

_found = False


def _folders(package: str) -> list[str]:
    """Where a package lies, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    return list(spec.submodule_search_locations or []) if spec is not None else []


def find() -> None:
    """Makes the wheels' PoCL known to the loader, and loads the wheels' loader where the machine has none."""
    global _found
    if _found:
        return
    _found = True
    folders = _folders("pyopencl")
    drivers = [path for folder in folders for path in glob.glob(os.path.join(folder, ".libs", "libpocl*.so*"))]
    if drivers and "OCL_ICD_FILENAMES" not in os.environ and "OCL_ICD_VENDORS" not in os.environ:
        os.environ["OCL_ICD_FILENAMES"] = drivers[0]
    try:
        ctypes.CDLL("libOpenCL.so.1")
        return
    except OSError:
        pass
    for folder in folders:
        for pattern in ("../pyopencl.libs/libOpenCL*", ".libs/libOpenCL*"):
            for path in glob.glob(os.path.join(folder, pattern)):
                try:
                    ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)  # where lib/opencl/loader.c looks first
                    return
                except OSError:
                    continue
