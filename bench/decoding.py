#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""decoding.py LIBRARY [OTHER]: the processor time of decoding photos by tvlm_image_load_for (libtexturevlm-io.so), beside
Pillow and beside another build of the library, such as one with -DTVLM_JPEG=OFF -DTVLM_PNG=OFF, whose decoder is stb_image.

Each file of ../shared/data/photos, its JPEGs also for a longer side of 1024 pixels, and one as WebP: the least of --rounds
repetitions in milliseconds, each decoder in turn. The first line says what decodes what.
"""
import argparse
import ctypes
import os
import sys
import tempfile
import time

try:
    from PIL import Image
except ImportError:
    print("SKIPPED: no Pillow")
    sys.exit(77)

from shared import DATA

PHOTOS = os.path.join(DATA, "photos")


class LoadParams(ctypes.Structure):
    _fields_ = [("max_side", ctypes.c_int32), ("log", ctypes.c_void_p), ("reserved", ctypes.c_uint64 * 4)]


class Decoder(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("library", ctypes.c_char_p), ("reserved", ctypes.c_uint64 * 4)]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)

    def decoders(self):
        count, found = ctypes.c_int32(), (Decoder * 16)()
        self.c.tvlm_image_decoder_list(16, found, ctypes.byref(count))
        return ", ".join(f"{d.format.decode()}: {(d.library or b'none').decode()}" for d in found[:count.value])

    def load(self, path, side):
        image = ctypes.c_void_p()
        status = self.c.tvlm_image_load_for(os.fsencode(path), ctypes.byref(LoadParams(side)), ctypes.byref(image))
        self.c.tvlm_image_destroy(ctypes.byref(image))
        return status == 0


def pillow(path, side):
    image = Image.open(path)
    if side:  # the least of its fractions that is no smaller
        image.draft(image.mode, tuple(max(1, s * side // max(image.size)) for s in image.size))
    image.load()
    return True


def least(rounds, decoders, path, side):
    """The least milliseconds of each decoder; None where it does not read the file."""
    best = [None] * len(decoders)
    for _ in range(rounds):
        for i, decode in enumerate(decoders):
            begin = time.process_time()
            done = decode(path, side)
            took = 1000 * (time.process_time() - begin)
            if done:
                best[i] = took if best[i] is None else min(best[i], took)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("other", nargs="?")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if not os.path.isdir(PHOTOS):
        print(f"SKIPPED: no photos in {PHOTOS}")
        sys.exit(77)
    libraries = [Library(path) for path in (options.library, options.other) if path]
    for name, library in zip(("this", "other"), libraries):
        print(f"{name}: {library.decoders()}")
    decoders = [library.load for library in libraries] + [pillow]
    names = sorted(name for name in os.listdir(PHOTOS) if name.endswith((".jpg", ".png")))
    with tempfile.TemporaryDirectory() as folder:
        webp = os.path.join(folder, "photo.webp")
        jpegs = [name for name in names if name.endswith(".jpg")]
        Image.open(os.path.join(PHOTOS, jpegs[0])).convert("RGB").resize((2048, 1024)).save(webp, quality=80)
        jobs = [(os.path.join(PHOTOS, name), 0) for name in names] + [(os.path.join(PHOTOS, name), 1024) for name in jpegs] + [(webp, 0)]
        print("| file | for a side of | " + " | ".join([*("this", "other")[:len(libraries)], "Pillow"]) + " |")
        for path, side in jobs:
            times = least(options.rounds, decoders, path, side)
            print(f"| {os.path.basename(path)} | {side or 'all'} | " + " | ".join("-" if t is None else f"{t:.1f}" for t in times) + " |")


if __name__ == "__main__":
    main()
