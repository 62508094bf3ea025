#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Photos of 1 to 12 megapixels in a batch: `tvlm select --jsonl` beside fully decoding the same files on all cores.

    bench/batch.py TVLM [--library FILE] [--files N] [--rounds N] [--device NAME] [--json FILE]

The photos are those of ../shared/data, enlarged to sizes in between and written as JPEG of quality 90 into a temporary
folder. A round runs every row once, one after the other, so that a machine that slows down does so for all; the figure
is the least of the rounds, in milliseconds an image. Rows:

    decode           tvlm_image_load of every file, a thread for each core: the same library, and nothing else
    grid 1024        tvlm select --jsonl --max-side 1024 --strategy grid, start to exit, as of all rows of the tool
    grid, budget     the same at full size, and by the budget
    budget 1024      the budget with --max-side 1024
    processor        Pillow and transformers' Qwen2VLImageProcessor to at most 1024 x 1024 pixels, a process for each core; where
                     this Python has them (tests/python/requirements.txt)

Exit: 1 where grid 1024 takes more than 1.3 times what decode does, 77 without the photos, OpenCV or NumPy.
"""
import argparse
import concurrent.futures
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import cv2
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)
import images

MEGAPIXELS = [1, 2, 3, 5, 8, 12]
AIM = 1.3
CORES = len(os.sched_getaffinity(0))


def make_files(folder, count):
    """JPEGs of all sizes, from all photos, upright and lying in turn."""
    paths = sorted(glob.glob(os.path.join(images.COCO, "*.jpg")) + glob.glob(os.path.join(images.DATA, "photos", "*.jpg")) +
                   glob.glob(os.path.join(images.DATA, "photos", "kodim*.png")))
    if not paths:
        print("skipped: no photos in ../shared/data", file=sys.stderr)
        sys.exit(77)
    files = []
    for i in range(count):
        pixels = cv2.imread(paths[i % len(paths)], cv2.IMREAD_COLOR)
        scale = (1e6 * MEGAPIXELS[i % len(MEGAPIXELS)] / (pixels.shape[0] * pixels.shape[1])) ** 0.5
        pixels = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
        files.append(os.path.join(folder, f"{i:04d}.jpg"))
        cv2.imwrite(files[-1], pixels, [cv2.IMWRITE_JPEG_QUALITY, 90])
    return files


class Decoder:
    """tvlm_image_load of texturevlm-io. ctypes lets go of Python's lock during the calls."""

    def __init__(self, path):
        self.io = ctypes.CDLL(path)
        self.io.tvlm_image_load.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
        self.io.tvlm_image_destroy.argtypes = [ctypes.c_void_p]

    def load(self, path):
        image = ctypes.c_void_p()
        if self.io.tvlm_image_load(path.encode(), None, ctypes.byref(image)) != 0:
            raise RuntimeError(f"{path} cannot be decoded")
        self.io.tvlm_image_destroy(ctypes.byref(image))

    def __call__(self, files):
        with concurrent.futures.ThreadPoolExecutor(CORES) as threads:
            list(threads.map(self.load, files))


class Tool:
    """The tool on a list of names; the lines are counted."""

    def __init__(self, tvlm, device, *options):
        self.command = [tvlm, "select", "--jsonl", "--list", "-", *options] + (["--device", device] if device else [])

    def __call__(self, files):
        run = subprocess.run(self.command, input="\n".join(files), text=True, check=True, capture_output=True)
        if run.stdout.count("\n") != len(files):
            raise RuntimeError(f"{run.stdout.count(chr(10))} lines of {len(files)} images")


def process(path):
    """One image, in a process of its own pool."""
    from PIL import Image
    from transformers import Qwen2VLImageProcessor

    if not hasattr(process, "made"):
        process.made = Qwen2VLImageProcessor(max_pixels=1024 * 1024)
    return process.made(images=Image.open(path).convert("RGB"), return_tensors="np")["image_grid_thw"].shape


class Processor:
    """The pool stays from round to round: what it takes to start is not counted."""

    def __init__(self, files):
        self.pool = concurrent.futures.ProcessPoolExecutor(CORES)
        list(self.pool.map(process, files[:CORES]))

    def __call__(self, files):
        list(self.pool.map(process, files))


def rows(options, files):
    yield "decode", Decoder(options.library)
    for name, more in (("grid 1024", ["--max-side", "1024", "--strategy", "grid"]), ("grid", ["--strategy", "grid"]),
                       ("budget", []), ("budget 1024", ["--max-side", "1024"])):
        yield name, Tool(options.tvlm, options.device, *more)
    try:
        import transformers
        from PIL import Image  # noqa: F401
    except ImportError as missing:
        print(f"no row processor: {missing}", file=sys.stderr)
        return
    yield f"processor {transformers.__version__}", Processor(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tvlm")
    parser.add_argument("--library", help="libtexturevlm-io.so (default: the one of TVLM's build)")
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.library = options.library or os.path.join(os.path.dirname(options.tvlm), "..", "lib", "libtexturevlm-io.so")
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(folder, options.files)
        bytes_each = sum(map(os.path.getsize, files)) / len(files)
        table, least = list(rows(options, files)), {}
        for _ in range(options.rounds):
            for name, run in table:
                begin = time.perf_counter()
                run(files)
                taken = 1e3 * (time.perf_counter() - begin) / len(files)
                least[name] = min(taken, least.get(name, taken))
    print(f"{len(files)} JPEGs of 1 to 12 megapixels, {bytes_each / 1e6:.1f} MB each, {CORES} cores, least of {options.rounds} rounds")
    for name, taken in least.items():
        print(f"{name:20} {taken:8.1f} ms an image   {taken / least['decode']:5.2f} times decoding")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"files": len(files), "cores": CORES, "ms": least}, file)
    ratio = least["grid 1024"] / least["decode"]
    print(f"grid 1024: {ratio:.2f} times decoding, {'at most' if ratio <= AIM else 'above'} {AIM}")
    return 0 if ratio <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
