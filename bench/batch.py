#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Photos of 1 to 12 megapixels in a batch: `tvlm select --jsonl` beside fully decoding the same files on all cores.

    bench/batch.py TVLM [--library FILE] [--files N] [--enlarged] [--rounds N] [--device NAME] [--json FILE]

The photos are parts of the large ones of ../shared/data, in their own resolution, written as JPEG of quality 90 into a temporary
folder. --enlarged: all of its photos, enlarged to these sizes, which have two thirds of a camera's bytes a pixel and are decoded
in less than half of the time. A round runs every row once, one after the other, so that a machine that slows down does so for
all; the figure is the least of the rounds, in milliseconds an image, and beside it the processor's time, which a machine
that does other things changes less. Rows:

    decode           tvlm_image_load of every file, a thread for each core: the same library, and nothing else
    grid 1024        tvlm select --jsonl --max-side 1024 --strategy grid, start to exit, as of all rows of the tool
    grid, budget     the same at full size, and by the budget
    budget 1024      the budget with --max-side 1024
    processor        Pillow and transformers' Qwen2VLImageProcessor to at most 1024 x 1024 pixels, a process for each core; where
                     this Python has them (tests/python/requirements.txt)

Exit: 1 where grid 1024 takes more than 1.3 times the processor's time of decode, 77 without the photos, OpenCV or NumPy.
"""
import argparse
import concurrent.futures
import ctypes
import glob
import os
import random
import resource
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
from shared import write_json

MEGAPIXELS = [1, 2, 3, 5, 8, 12]
AIM = 1.3
CORES = len(os.sched_getaffinity(0))


def write_jpeg(folder, i, pixels):
    path = os.path.join(folder, f"{i:04d}.jpg")
    cv2.imwrite(path, pixels, [cv2.IMWRITE_JPEG_QUALITY, 90])
    return path


def enlarged(folder, count):
    """JPEGs of all sizes, from all photos, upright and lying in turn."""
    paths = sorted(glob.glob(os.path.join(images.COCO, "*.jpg")) + glob.glob(os.path.join(images.DATA, "photos", "*.jpg")) +
                   glob.glob(os.path.join(images.DATA, "photos", "kodim*.png")))
    for i in range(count if paths else 0):
        pixels = cv2.imread(paths[i % len(paths)], cv2.IMREAD_COLOR)
        scale = (1e6 * MEGAPIXELS[i % len(MEGAPIXELS)] / (pixels.shape[0] * pixels.shape[1])) ** 0.5
        yield write_jpeg(folder, i, cv2.resize(pixels, None, fx=scale, fy=scale,
                                               interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC))


def parts(folder, count):
    """JPEGs of all sizes, parts of those photos that are large enough, in their shape; every other one is turned."""
    photos = [cv2.imread(path, cv2.IMREAD_COLOR) for path in sorted(glob.glob(os.path.join(images.DATA, "photos", "*.jpg")))]
    chance = random.Random(1)
    for i in range(count if photos else 0):
        wanted = 1e6 * MEGAPIXELS[i % len(MEGAPIXELS)]
        able = [photo for photo in photos if photo.shape[0] * photo.shape[1] >= wanted] or photos
        photo = chance.choice(able)
        share = min(1.0, (wanted / (photo.shape[0] * photo.shape[1])) ** 0.5)
        height, width = int(share * photo.shape[0]), int(share * photo.shape[1])
        top, left = chance.randint(0, photo.shape[0] - height), chance.randint(0, photo.shape[1] - width)
        pixels = photo[top:top + height, left:left + width]
        yield write_jpeg(folder, i, pixels if i % 2 == 0 else cv2.rotate(pixels, cv2.ROTATE_90_CLOCKWISE))


def make_files(folder, count, make=parts):
    files = list(make(folder, count))
    if not files:
        print("skipped: no photos in ../shared/data", file=sys.stderr)
        sys.exit(77)
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


def processor_time():
    """Seconds of this process and of those that it has waited for."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


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
    parser.add_argument("--enlarged", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.library = options.library or os.path.join(os.path.dirname(options.tvlm), "..", "lib", "libtexturevlm-io.so")
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(folder, options.files, enlarged if options.enlarged else parts)
        bytes_each = sum(map(os.path.getsize, files)) / len(files)
        table, least, work = list(rows(options, files)), {}, {}
        for _ in range(options.rounds):
            for name, run in table:
                begin, before = time.perf_counter(), processor_time()
                run(files)
                taken, worked = (1e3 * (after - past) / len(files)
                                 for after, past in ((time.perf_counter(), begin), (processor_time(), before)))
                least[name] = min(taken, least.get(name, taken))
                work[name] = min(worked, work.get(name, worked))
    print(f"{len(files)} JPEGs of 1 to 12 megapixels, {bytes_each / 1e6:.1f} MB each, {CORES} cores, least of {options.rounds} rounds")
    for name, taken in least.items():
        # Processes that stay have not told their time yet.
        worked = f"{work[name]:8.1f} ms of work   {work[name] / work['decode']:5.2f} times" if not name.startswith("processor") else ""
        print(f"{name:20} {taken:8.1f} ms an image   {taken / least['decode']:5.2f} times decoding   {worked}")
    if options.json:
        write_json(options.json, {"files": len(files), "cores": CORES, "ms": least, "work_ms": work})
    ratio = work["grid 1024"] / work["decode"]
    print(f"grid 1024: {ratio:.2f} times the work of decoding, {'at most' if ratio <= AIM else 'above'} {AIM}")
    return 0 if ratio <= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
