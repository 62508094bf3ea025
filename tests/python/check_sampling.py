#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_sampling.py TVLM LIBRARY: tvlm_stack_sample and `tvlm channels --size` against PyTorch's grid_sample."""
from common import Checks, Library, Pictures, arguments, device_name, devices, generate, need, np

torch = need("torch")
tool, library = arguments("TVLM LIBRARY")[:2]
checks = Checks()
c = Library(library)
CHANNELS = ["r", "edges", "low", "laplacian", "edge_y", "saliency"]
# A coordinate of some hundreds has 2^-15 of a pixel in float, PyTorch's normalised one as much again; the largest step
# between neighbours is 1.
REASON = "coordinates in float"
TOLERANCE = 1e-4


def grid_sample(planes, x, y, width, height):
    """planes [c][h][w] at points in pixels of a width x height image; PyTorch's -1..1 are the image's borders."""
    grid = np.stack([2 * x / width - 1, 2 * y / height - 1], -1)[None, None]
    out = torch.nn.functional.grid_sample(torch.from_numpy(planes.astype(np.float64))[None], torch.from_numpy(grid),
                                          mode="bilinear", padding_mode="border", align_corners=False)
    return out[0, :, 0].numpy().T


def expected_at(stack, channel, x, y, level, width, height):
    """Linear between the two levels around the channel's own one (doc/design.md: level - log2(E / W_f))."""
    own = c.read(stack, channel, 0)
    last = int(np.floor(np.log2(max(own.shape))))
    level -= max(0.0, np.log2(width / own.shape[1]), np.log2(height / own.shape[0]))
    level = min(max(level, 0.0), last)
    lower, fraction = int(level), level - int(level)
    value = grid_sample(c.read(stack, channel, lower)[None], x, y, width, height)
    if fraction > 0:
        value = (1 - fraction) * value + fraction * grid_sample(c.read(stack, channel, lower + 1)[None], x, y, width, height)
    return value[:, 0]


def check(name, pixels, device):
    height, width = pixels.shape[:2]
    rng = np.random.default_rng(5)
    count = 500
    x, y = rng.uniform(-3, width + 3, count), rng.uniform(-3, height + 3, count)
    x[:50], y[:50] = np.floor(x[:50]) + 0.5, np.floor(y[:50]) + 0.5  # texel centres
    x[50:60], y[50:60] = rng.choice([0, width], 10), rng.choice([0, height], 10)  # corners
    x, y = x.astype(np.float32).astype(np.float64), y.astype(np.float32).astype(np.float64)
    handle = c.open(device)
    stack = c.stack(handle, pixels, CHANNELS)
    last = int(np.floor(np.log2(max(width, height))))
    for level in [0.0, 1.0, 0.25, 2.75, float(last)]:
        if level > last:
            continue
        points = np.stack([x, y, np.full(count, level)], 1)
        got = c.sample(stack, points, CHANNELS)
        expected = np.stack([expected_at(stack, channel, x, y, level, width, height) for channel in CHANNELS], 1)
        checks.close(f"{name}, {device_name(device)}: {count} points at level {level:g}", got, expected, TOLERANCE, REASON)
    c.destroy_stack(stack)
    c.close(handle)


def check_size(name, path, pixels, device):
    """A larger image is sampled at level 0, at the centres of its pixels."""
    height, width = pixels.shape[:2]
    w, h = 2 * width + 1, height + 3
    planes = generate(tool, path, CHANNELS[:-1], device)
    x, y = ((np.arange(w) + 0.5) * width / w), ((np.arange(h) + 0.5) * height / h)
    columns, rows = np.meshgrid(x, y)
    got = generate(tool, path, CHANNELS[:-1], device, size=f"{w}x{h}")
    expected = grid_sample(planes, columns.ravel(), rows.ravel(), width, height).T.reshape(got.shape)
    checks.close(f"{name}, {device_name(device)}: --size {w}x{h}", got, expected, TOLERANCE, REASON)


def check_interpolate(name, path, pixels, device):
    """The same once more: torch.nn.functional.interpolate, which has its own idea of centres."""
    height, width = pixels.shape[:2]
    planes = generate(tool, path, CHANNELS[:-1], device)
    expected = torch.nn.functional.interpolate(torch.from_numpy(planes)[None], size=(3 * height, 2 * width),
                                               mode="bilinear", align_corners=False)[0].numpy()
    got = generate(tool, path, CHANNELS[:-1], device, size=f"{2 * width}x{3 * height}")
    checks.close(f"{name}, {device_name(device)}: --size {2 * width}x{3 * height}: interpolate", got, expected, TOLERANCE,
                 REASON)


for picture in Pictures([(1, 1), (7, 1), (64, 64), (53, 37), (130, 201)], ["chelsea.png"]):
    for device in devices(tool):
        if picture[0].endswith("png") and device == "reference":
            continue
        check(picture[0], picture[2], device)
        check_size(*picture, device)
        check_interpolate(*picture, device)
checks.done()
