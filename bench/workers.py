#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workers.py [--images 2000] [--side 512]: images described for an index by 1 and 2 workers: one process, a plain loop of
multiprocessing, and texturevlm.ray on a local cluster; and where the time goes, stage by stage.

The images are JPEGs, crops of COCO photos (../shared/data/boxes) enlarged to --side. Each worker has one thread (PoCL's
POCL_MAX_PTHREAD_COUNT, OPENBLAS_NUM_THREADS). Times are from the first image to the last, workers being started and
warm. It runs by a Python that has the
package, Pillow and what ci/index-environment prints, with `ray` too. Exit 77 where something is missing.
"""
import argparse
import glob
import multiprocessing
import os
import sys
import tempfile
import time

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray's processes listen on 127.0.0.1, not on all addresses (doc/scale.md)
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--images", type=int, default=2000)
parser.add_argument("--side", type=int, default=512)
parser.add_argument("--no-ray", action="store_true")
try:
    import numpy as np
    import texturevlm as tv
    from PIL import Image
    from texturevlm.index._rows import SCORED, Settings, describe, regions
    from texturevlm.index._sources import Source, load
except ImportError as missing:
    print("SKIPPED:", missing)
    sys.exit(77)
from shared import DATA


def one(path):
    return len(describe(load(Source(path, path)), Settings()).positions)


def made(folder, count, side):
    photos = [Image.open(path).convert("RGB") for path in sorted(glob.glob(os.path.join(DATA, "boxes", "coco_panoptic", "*.jpg")))]
    for number in range(count):
        random = np.random.default_rng(number)
        photo = photos[number % len(photos)]
        size = int(random.uniform(0.5, 1) * min(photo.size))
        left, top = (int(random.uniform(0, total - size)) for total in photo.size)
        photo.resize((side, side), Image.BICUBIC, (left, top, left + size, top + size)).save(f"{folder}/{number:05}.jpg", quality=90)
    return sorted(glob.glob(f"{folder}/*.jpg"))


def told(name, count, seconds, one_worker=None):
    beside = f"   {one_worker / seconds:.2f} times as fast as one worker" if one_worker else ""
    print(f"{name:34} {seconds:7.1f} s   {1000 * seconds / count:6.1f} ms an image{beside}", flush=True)
    return seconds


def stages(paths):
    """The least of some runs of each stage: what a machine that does other things disturbs least."""
    features = np.random.default_rng(0).normal(size=(24, 24, 512)).astype(np.float32)
    times = {name: [] for name in ("read and hash", "decode", "stack and select", "regions' labels", "regions' means")}
    for path in paths:
        marks = [time.perf_counter()]
        with open(path, "rb") as file:
            import hashlib
            hashlib.sha256(file.read()).digest()
        marks.append(time.perf_counter())
        image = tv._image.image_of(path)
        marks.append(time.perf_counter())
        with tv.Stack(image, layout=SCORED, max_side=1024) as stack:
            stack.select(273, strategy="budget")
            marks.append(time.perf_counter())
            labels = stack.labels()
        marks.append(time.perf_counter())
        regions(features, labels, stack.image_size, 50)
        marks.append(time.perf_counter())
        for name, before, after in zip(times, marks, marks[1:]):
            times[name].append(1000 * (after - before))
    for name, some in times.items():
        print(f"    {name:30} least {min(some):6.2f} ms, median {np.median(some):6.2f}")


def main():
    options = parser.parse_args()
    if not os.path.isdir(os.path.join(DATA, "boxes")):
        print("SKIPPED: ../shared/data is not there")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        paths = made(folder, options.images, options.side)
        size = np.mean([os.path.getsize(path) for path in paths])
        print(f"{len(paths)} JPEGs of {options.side}x{options.side}, {size:.0f} bytes, on {tv.Device().name}, {os.cpu_count()} cores")
        warm = paths[:4]
        [one(path) for path in warm]
        stages(paths[:60])
        started = time.perf_counter()
        [one(path) for path in paths]
        told("one process", len(paths), time.perf_counter() - started)
        alone = None
        for workers in (1, 2):
            with multiprocessing.get_context("spawn").Pool(workers) as pool:
                pool.map(one, warm * workers, 1)
                started = time.perf_counter()
                pool.map(one, paths, 16)
                alone = told(f"multiprocessing, workers: {workers}", len(paths), time.perf_counter() - started, alone)
        if not options.no_ray:
            by_ray(paths)
    return 0


def by_ray(paths):
    try:
        import ray
        from texturevlm import ray as tvr
    except ImportError as missing:
        print("SKIPPED:", missing)
        return
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
             object_store_memory=200_000_000)
    alone = None
    for workers in (1, 2):
        tvr.describe(tvr.read_images(paths[:4]), workers=workers).count()  # the cluster's processes are started
        started = time.perf_counter()
        rows = tvr.describe(tvr.read_images(paths), workers=workers).count()
        alone = told(f"Ray, with their start, workers: {workers}", rows, time.perf_counter() - started, alone)
    ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
