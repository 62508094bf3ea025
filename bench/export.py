#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a Qwen2-VL export of a 1024x1024 image takes, beside the same tensors from transformers' processors.

    bench/export.py [--tvlm TVLM] [--device NAME] [--side N]

Needs Pillow, NumPy and transformers (tests/python/requirements.txt). torch's own antialiased bicubic where torch is there,
on the GPU where it has one; the fast processor from transformers 4.49 on, with torchvision (not the version that
requirements.txt pins: a line says so). All without files: pixels in memory to
tensors in memory, the tool's on its device (`tvlm bench`, stages of export; 'export qwen' also uploads, scores and selects).
Times: the least of several, in milliseconds. Nothing is asked for. Exit: 77 without the packages.
"""
import argparse
import json
import os
import subprocess
import sys
import time

try:
    import numpy as np
    import transformers
    from PIL import Image
    from transformers import Qwen2VLImageProcessor
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

import shared  # noqa: E402, F401 (a device as nobody tuned it)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 12845056


def least(call, seconds=2.0):
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return 1e3 * best


def peers(side):
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)
    image = Image.fromarray(pixels)
    slow = Qwen2VLImageProcessor(max_pixels=MOST)
    _, height, width = slow(images=image, return_tensors="np")["image_grid_thw"][0] * 14
    yield "Pillow, resize only", least(lambda: image.resize((width, height), Image.BICUBIC))
    yield "transformers, processor on Pillow", least(lambda: slow(images=image, return_tensors="np"))
    try:
        import torch
    except ImportError:
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    tensor = torch.from_numpy(pixels).permute(2, 0, 1)[None].to(device)

    def resize():
        torch.nn.functional.interpolate(tensor.float(), (int(height), int(width)), mode="bicubic", antialias=True)
        wait()

    yield f"torch on {device}, resize only (floats)", least(resize)
    try:
        import torchvision  # noqa: F401
        from transformers import Qwen2VLImageProcessorFast
        fast = Qwen2VLImageProcessorFast(max_pixels=MOST)
    except (ImportError, RuntimeError):
        print("note: no row of the fast processor: it needs transformers >= 4.49 and torchvision "
              f"(transformers is {transformers.__version__})", file=sys.stderr)
        return

    def run():
        fast(images=torch.from_numpy(pixels).permute(2, 0, 1), return_tensors="pt", device=device)
        wait()

    yield f"transformers, fast processor on {device}", least(run)


def ours(tool, device, side):
    words = [tool, "bench", "--json", "--stage", "export", "--size", f"{side}x{side}"] + (["--device", device] if device else [])
    report = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    for stage in report["stages"]:
        if stage["name"].startswith("export"):
            yield f"tvlm, {stage['name']} ({report['device'][:24]})", stage["minimum_ms"]


parser = argparse.ArgumentParser()
parser.add_argument("--tvlm", default=os.path.join(ROOT, "build", "tools", "tvlm"))
parser.add_argument("--device")
parser.add_argument("--side", type=int, default=1024)
options = parser.parse_args()
print(f"Qwen2-VL tensors of {options.side} x {options.side} pixels, least of several, ms")
for source in (ours(options.tvlm, options.device, options.side), peers(options.side)):
    for name, milliseconds in source:
        print(f"  {name:52s} {milliseconds:9.3f}")
