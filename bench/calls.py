#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calls.py LIBRARY: what texturevlm.select of a NumPy image costs beside the same calls of the C library (libtexturevlm.so),
and what importing the package takes. It needs a Python that has the package.

One image of 1024x1024, 273 positions by the budget, each from an image to positions: a stack is made, asked and released. Both
take turns in one process. Processor time, in milliseconds: the least and the median of --rounds; the ratio is that of medians.
Exit 1 if that is above 1.05, or an import takes more than 100 ms.
"""
import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

SIDE = 1024


class Image(ctypes.Structure):
    """tvlm_image of include/texturevlm/image.h."""
    _fields_ = [("pixels", ctypes.c_void_p), ("width", ctypes.c_int32), ("height", ctypes.c_int32), ("channels", ctypes.c_int32),
                ("type", ctypes.c_int), ("row_stride", ctypes.c_size_t), ("of_width", ctypes.c_int32), ("of_height", ctypes.c_int32),
                ("reserved", ctypes.c_uint64 * 3)]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name in ("tvlm_stack_destroy", "tvlm_selection_destroy"):
            getattr(self.c, name).restype = None
        self.device = ctypes.c_void_p()
        self.check(self.c.tvlm_device_open(None, ctypes.byref(self.device)))

    @staticmethod
    def check(status):
        if status != 0:
            sys.exit(f"calls.py: the library's status is {status}")

    def select(self, image):
        stack, selection = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.c.tvlm_stack_create_for_image(self.device, ctypes.byref(image), None, ctypes.byref(stack)))
        self.check(self.c.tvlm_select(stack, None, None, ctypes.byref(selection)))
        self.c.tvlm_selection_destroy(ctypes.byref(selection))
        self.c.tvlm_stack_destroy(ctypes.byref(stack))


def picture():
    """Values that differ from place to place: shapes of several sizes, and noise."""
    y, x = np.mgrid[:SIDE, :SIDE]
    planes = [127 + 60 * np.sin(x / a) * np.sin(y / b) for a, b in ((9, 31), (40, 17), (90, 70))]
    noise = np.random.default_rng(1).normal(0, 12, (SIDE, SIDE, 3))
    return np.clip(np.dstack(planes) + noise, 0, 255).astype(np.uint8)


def spent(call):
    begun = time.process_time()
    call()
    return 1e3 * (time.process_time() - begun)


def importing(module):
    """The processor time of a process that imports the module, less that of one that imports nothing: the least of seven."""
    def least(code):
        times = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        return min(times)
    return least(f"import {module}") - least("pass")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=40)
    asked = parser.parse_args()
    import texturevlm as tv
    library, pixels = Library(os.path.abspath(asked.library)), picture()
    image = Image(pixels.ctypes.data, SIDE, SIDE, 3, 0, 0, 0, 0)
    ways = {"C": lambda: library.select(image), "Python": lambda: tv.select(pixels)}
    times = {name: [] for name in ways}
    for _ in range(3):
        for call in ways.values():
            call()
    for number in range(asked.rounds):
        for name in (ways if number % 2 else reversed(ways)):
            times[name].append(spent(ways[name]))
    for name, all_times in times.items():
        print(f"{name:8} least {min(all_times):6.2f} ms   median {statistics.median(all_times):6.2f} ms")
    ratio = statistics.median(times["Python"]) / statistics.median(times["C"])
    print(f"Python over C: {ratio:.3f} (asked: at most 1.05)")
    package, of_numpy = importing("texturevlm"), importing("numpy")
    print(f"import texturevlm: {package:.0f} ms, of which NumPy {of_numpy:.0f} (asked: at most 100)")
    return 1 if ratio > 1.05 or package > 100 else 0


if __name__ == "__main__":
    sys.exit(main())
