#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/bytes.py [--build build] [--device NAME] [--photos N] [--repeat N] [--times]: what stacks of bytes (--format u8) cost, and what they save.

Of photos of ../shared/data, 512 pixels wide at most: each channel in bytes and in half beside float, as the largest and the mean
error at level 0 and the mean at level 4, at which cells of 16 pixels are read; how many of the 273 best cells (or a third of those
that there are) `tvlm select` chooses alike; the memory that layouts need at 1024x1024; and of a picture of that size how long all
channels and a selection take: the least of --repeat rounds, in each of which every format has its turn, by the clock and in
seconds of all processors together, which other programs on the machine disturb less.

Exit: 0; 77 without OpenCV, the data or a build.
"""
import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
try:
    import cv2
    import numpy as np
    from common import Library, _Image, random_pixels
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from shared import DATA

CHANNELS = ("r,edges,edges_inv,high,low,laplacian,edge_x,edge_y,rgb_var,rgb_mean,entropy,sharpness,saliency,saliency_fine,distance,text,"
            "cluster_distance,cluster_size,boundary").split(",")
LAYOUTS = ["visual12", "mvp13", "patch13", "full40"]
SELECTIONS = {"the default, by the grid": ["--strategy", "grid"], "information alone": ["--strategy", "grid", "--weights", "1,0,0"],
              "the budget": ["--strategy", "budget"]}


def photos_of(count, folder):
    """Photos, made smaller where they are large, as files."""
    paths = sorted(glob.glob(os.path.join(DATA, "photos", "*.png")) + glob.glob(os.path.join(DATA, "boxes", "coco_panoptic", "*.jpg")))
    photos = []
    for path in paths[:: max(1, len(paths) // count)][:count]:
        image = cv2.imread(path, cv2.IMREAD_COLOR)
        scale = min(1.0, 512 / image.shape[1])
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1.0 else image
        photos.append((os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".png"), image[..., ::-1]))
        cv2.imwrite(photos[-1][0], image)
    return photos


def channels_of(library, device, pixels, form):
    """The channels at levels 0 and 4, where they have these."""
    stack, found = library.stack(device, pixels, CHANNELS, form), {}
    for name in CHANNELS:
        found[name] = [library.read(stack, name, 0)]
        try:
            found[name].append(library.read(stack, name, 4))
        except RuntimeError:
            found[name].append(found[name][0])
    library.destroy_stack(stack)
    return found


def errors(library, device, photos):
    rows = {(name, form): [] for name in CHANNELS for form in ("u8", "f16")}
    for _, pixels in photos:
        exact = channels_of(library, device, pixels, "f32")
        for form in ("u8", "f16"):
            for name, levels in channels_of(library, device, pixels, form).items():
                off = [np.abs(level - wanted) for level, wanted in zip(levels, exact[name])]
                rows[name, form].append((off[0].max(), off[0].mean(), off[1].mean()))
    print("\n| channel | u8: largest | mean | mean at level 4 | f16: largest | mean | mean at level 4 |\n|---|---|---|---|---|---|---|")
    for name in CHANNELS:
        cells = []
        for form in ("u8", "f16"):
            found = np.array(rows[name, form])
            cells += [found[:, 0].max(), found[:, 1].mean(), found[:, 2].mean()]
        print(f"| `{name}` | " + " | ".join(f"{cell:.2g}" for cell in cells) + " |")


def chosen(tool, device, path, form, options):
    command = [tool, "select", path, "--format", form, *options]
    answer = json.loads(subprocess.run(command + (["--device", device] if device else []), check=True, capture_output=True).stdout)
    return [(p["x"], p["y"], p["size"]) for p in answer["positions"]]


def agreement(tool, device, photos):
    print("\n| selection | u8: the same | at worst | f16: the same | at worst |\n|---|---|---|---|---|")
    for name, options in SELECTIONS.items():
        shares = {form: [] for form in ("u8", "f16")}
        for path, pixels in photos:
            cells = -(-pixels.shape[0] // 16) * -(-pixels.shape[1] // 16)
            exact = set(chosen(tool, device, path, "f32", options + ["-k", str(min(273, cells // 3))]))
            for form, found in shares.items():
                found.append(len(exact & set(chosen(tool, device, path, form, options + ["-k", str(min(273, cells // 3))]))) / len(exact))
        print(f"| {name} | " + " | ".join(f"{100 * np.mean(found):.1f} % | {100 * min(found):.1f} %" for found in shares.values()) + " |")


def timed(work):
    """Seconds by the clock, and of all processors."""
    clock, processors = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processors


def times(library, device, repeat):
    """All channels of an image that is new, and a selection from those that are there."""
    pixels = random_pixels(1024, 1024, 1)
    image = _Image(pixels.ctypes.data, 1024, 1024, 3, 0, 0)
    forms = ("f32", "f16", "u8")
    stacks = {form: library.stack(device, pixels, ["full40"], form) for form in forms}

    def make(stack):
        library.call("tvlm_stack_set_image", stack, 0, ctypes.byref(image))
        library.call("tvlm_stack_make_all", stack)
        library.call("tvlm_device_finish", device)

    def select(stack):
        selection = ctypes.c_void_p()
        library.call("tvlm_select", stack, None, None, ctypes.byref(selection))
        library.c.tvlm_selection_destroy(ctypes.byref(selection))

    least = {}
    for turn in range(repeat + 1):
        for what, work in (("all channels", make), ("a selection", select)):
            for form in forms:
                found = timed(lambda: work(stacks[form]))  # noqa: B023 (called at once)
                if turn > 0:  # kernels are compiled in the first
                    least[what, form] = np.minimum(least.get((what, form), np.inf), found)
    print("\n| of `full40` | " + " | ".join(f"{form}: ms | of processors" for form in forms) + " | u8 of f16 | of processors |\n" + "|---" * 9 + "|")
    for what in ("all channels", "a selection"):
        cells = [f"{1e3 * value:.1f}" for form in forms for value in least[what, form]]
        cells += [f"{value:.2f}" for value in least[what, "u8"] / least[what, "f16"]]
        print(f"| {what} | " + " | ".join(cells) + " |", flush=True)
    for stack in stacks.values():
        library.destroy_stack(stack)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--device")
    parser.add_argument("--photos", type=int, default=12)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--times", action="store_true", help="nothing but these")
    options = parser.parse_args()
    tool, path = (os.path.join(options.build, *name) for name in (("tools", "tvlm"), ("lib", "libtexturevlm.so")))
    if not (os.path.exists(tool) and os.path.exists(path) and os.path.isdir(DATA)):
        print("skipped: no build, or no data", file=sys.stderr)
        return 77
    library = Library(path)
    device = library.open(options.device)
    if options.times:
        times(library, device, options.repeat)
        library.close(device)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        photos = photos_of(options.photos, folder)
        print(f"{len(photos)} photos")
        print("\n| layout | f32 | f16 | u8 | u8 of f16 |\n|---|---|---|---|---|")
        for layout in LAYOUTS:
            sizes = [library.need(device, layout, 1024, 1024, form) / 2**20 for form in ("f32", "f16", "u8")]
            print(f"| `{layout}` | " + " | ".join(f"{size:.1f} MiB" for size in sizes) + f" | {sizes[2] / sizes[1]:.2f} |", flush=True)
        errors(library, device, photos)
        sys.stdout.flush()
        agreement(tool, options.device, photos)
    times(library, device, options.repeat)
    library.close(device)
    return 0


if __name__ == "__main__":
    sys.exit(main())
