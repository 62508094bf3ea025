#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_filters.py TVLM: visual, detail and gradient against OpenCV, SciPy and NumPy."""
from common import Checks, Pictures, arguments, device_name, devices, generate, luma, need, np

cv2, ndimage = need("cv2", "scipy.ndimage")
tool = arguments("TVLM")[0]
checks = Checks()
SUM = "float sums of up to 25 terms below 1"
CHANNELS = ["r", "g", "b", "edges", "edges_inv", "high", "low", "laplacian", "edge_x", "edge_y", "rgb_var", "rgb_mean"]


def expected_of(pixels):
    """Each channel in float64."""
    rgb = pixels / 255.0
    y = luma(rgb)
    gx, gy = (cv2.Sobel(y, cv2.CV_64F, dx, 1 - dx, ksize=3, borderType=cv2.BORDER_REPLICATE) for dx in (1, 0))
    kernel = np.array([1, 4, 6, 4, 1]) / 16.0
    low = cv2.sepFilter2D(y, cv2.CV_64F, kernel, kernel, borderType=cv2.BORDER_REPLICATE)
    edges = np.minimum(1, np.hypot(gx, gy) / 4)
    # The 27 values under each pixel, themselves: no formula for the variance in between.
    padded = np.pad(rgb, ((1, 1), (1, 1), (0, 0)), mode="edge")
    under = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (0, 1)).reshape(*y.shape, 27)
    return {"r": rgb[..., 0], "g": rgb[..., 1], "b": rgb[..., 2], "edges": edges, "edges_inv": 1 - edges,
            "high": 0.5 + 0.5 * (y - low), "low": low, "laplacian": ndimage.laplace(y, mode="nearest") / 4,
            "edge_x": gx / 4, "edge_y": gy / 4, "rgb_var": np.minimum(1, 4 * under.var(2)), "rgb_mean": under.mean(2)}


def entropy_of(y):
    """Per cell: numpy's histogram and the definition. y: the library's own, so that no value changes its bin."""
    columns, rows = -(-y.shape[1] // 16), -(-y.shape[0] // 16)
    cells = np.zeros((rows, columns))
    for j in range(rows):
        for i in range(columns):
            counts = np.histogram(y[16 * j:16 * j + 16, 16 * i:16 * i + 16], bins=16, range=(0.0, 1.0))[0]
            p = counts[counts > 0] / counts.sum()
            cells[j, i] = -(p * np.log2(p)).sum() / 4
    return cells


def check_scipy(what, pixels, got):
    """Sobel a second time, by SciPy, which counts its axes and signs in its own way."""
    y = luma(pixels / 255.0)
    for axis, name in ((1, "edge_x"), (0, "edge_y")):
        checks.close(f"{what} {name}: scipy.ndimage.sobel", got[name], ndimage.sobel(y, axis, mode="nearest") / 4, 1e-6,
                     SUM)


def check_entropy(what, path, pixels, device):
    height, width = pixels.shape[:2]
    if width % 16 or height % 16:
        return  # another size than the grid's is interpolated: sampling is checked elsewhere
    size = f"{width // 16}x{height // 16}"
    got = generate(tool, path, ["entropy"], device, level=4, size=size)[0]
    y = luma(pixels.astype(np.float32) / np.float32(255)).astype(np.float32)
    # The bin of a value on the very border is the rounding's; pictures here have few of them.
    edge = np.abs(y * 16 - np.round(y * 16)) < 1e-5
    clean = ~edge.reshape(height // 16, 16, width // 16, 16).any((1, 3))
    expected = entropy_of(y)
    if clean.any():
        checks.close(f"{what} entropy: numpy.histogram ({clean.sum()} of {clean.size} cells have no value on a bin's border)",
                     got[clean], expected[clean], 1e-5, "log2 to 3 ulp, 16 terms")
    checks.close(f"{what} entropy, all cells", got, expected, 0.1, "values on a bin's border may fall either way", 2e-3)


sizes = [(1, 1), (1, 7), (9, 1), (2, 2), (37, 53), (64, 48), (131, 97), (256, 256)]
for name, path, pixels in Pictures(sizes, ["chelsea.png", "kodim23.png"]):
    reference = expected_of(pixels)
    for device in devices(tool):
        what = f"{name}, {device_name(device)}:"
        got = dict(zip(CHANNELS, generate(tool, path, CHANNELS, device)))
        for channel in CHANNELS:
            exact = channel in ("r", "g", "b")
            # Variance loses by cancellation: 4 (E[x^2] - E[x]^2), each good to about 1e-7.
            limit = 1e-7 if exact else 2e-6 if channel == "rgb_var" else 1e-6
            checks.close(f"{what} {channel}", got[channel], reference[channel], limit,
                         "a byte / 255" if exact else "cancellation of squares" if channel == "rgb_var" else SUM)
        check_scipy(what, pixels, got)
        check_entropy(what, path, pixels, device)
checks.done()
