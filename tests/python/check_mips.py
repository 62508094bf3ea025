#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_mips.py TVLM LIBRARY: levels of mean channels: PyTorch's avg_pool2d where sides are even, exact area averages
anywhere; as tvlm_stack_read and as `tvlm channels --level` give them."""
from common import Checks, Library, Pictures, arguments, device_name, devices, generate, level_size, np

try:
    import torch
except ImportError:
    torch = None
tool, library = arguments("TVLM LIBRARY")[:2]
c = Library(library)
checks = Checks()
CHANNELS = ["r", "g", "b", "edges", "low", "high", "laplacian", "edge_x", "rgb_var"]
REASON = "float averages, one rounding a level"


def overlap(old, new):
    """[new][old]: the share of each old texel in each new one, by the definition of an area average."""
    edges = np.arange(new + 1) * (old / new)
    low = np.maximum(edges[:-1, None], np.arange(old)[None, :])
    high = np.minimum(edges[1:, None], np.arange(old)[None, :] + 1)
    return np.maximum(0, high - low) * (new / old)


def reduce_once(planes, width, height):
    rows, columns = overlap(planes.shape[1], height), overlap(planes.shape[2], width)
    return np.einsum("ij,cjk,lk->cil", rows, planes, columns, optimize=True)


def check(what, path, pixels, device):
    height, width = pixels.shape[:2]
    handle = c.open(device)
    stack = c.stack(handle, pixels, CHANNELS)
    levels = range(int(np.floor(np.log2(max(width, height)))) + 1)
    planes = [np.stack([c.read(stack, channel, level) for channel in CHANNELS]) for level in levels]
    c.destroy_stack(stack)
    c.close(handle)
    # The tool resamples at the texels' centres, and coordinates are floats: half a unit in the last place, two roundings,
    # times a step of at most 1 between neighbours.
    centre = 1e-6 + max(width, height) * 2.0 ** -23
    even = width & (width - 1) == 0 and height & (height - 1) == 0
    exact = planes[0].astype(np.float64)
    kept = exact.mean((1, 2))
    for level in levels:
        if level > 0:
            exact = reduce_once(exact, *level_size(width, height, level))
        got = planes[level]
        checks.close(f"{what} level {level} {got.shape[2]}x{got.shape[1]}: area average", got, exact, 1e-6, REASON)
        checks.close(f"{what} level {level}: the image's mean", got.astype(np.float64).mean((1, 2)), kept, 1e-6,
                     "a property of every level")
        written = generate(tool, path, CHANNELS, device, level=level)
        checks.close(f"{what} level {level}: tvlm channels", written, exact, centre, "coordinates in float")
        if even and torch is not None and level > 0 and min(width, height) >> level > 0:
            # In double: PyTorch adds up thousands of floats one by one, and is off by 1e-5 itself.
            pooled = torch.nn.functional.avg_pool2d(torch.from_numpy(planes[0]).double()[None], 1 << level)[0].numpy()
            checks.close(f"{what} level {level}: torch avg_pool2d({1 << level})", got, pooled, 1e-6, REASON)


if torch is None:
    print("note   no PyTorch: avg_pool2d is not compared")
sizes = [(1, 1), (1, 9), (13, 1), (3, 5), (64, 64), (256, 128), (97, 61), (127, 200), (101, 40)]
for name, path, pixels in Pictures(sizes, ["chelsea.png"]):
    for device in devices(tool):
        if name.endswith("png") and device == "reference":
            continue  # the same code as at the small sizes, and slow
        check(f"{name}, {device_name(device)}:", path, pixels, device)
checks.done()
