#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_distance.py TVLM LIBRARY: distance against SciPy's exact Euclidean transform of the same edge pixels.

The edge pixels are rebuilt from the library's own `edges` by the rule: a ridge above 0.25 (common.py, edge_pixels).
"""

from common import Checks, Library, Pictures, arguments, device_name, devices, edge_pixels, need, np

cv2, ndimage = need("cv2", "scipy.ndimage")
tool, library_path = arguments("TVLM LIBRARY")
library, checks = Library(library_path), Checks()
SHARE = 8
PHOTOS = ["astronaut.png", "camera.png", "chelsea.png", "coffee.png", "coins.png", "kodim05.png", "kodim19.png", "kodim23.png",
          "rocket.jpg", "tulips_rgba.png"]


def expected_of(mask):
    """In pixels, clamped to max(W, H) / 8; without an edge pixel it is that everywhere."""
    most = max(mask.shape) / SHARE
    if not mask.any():
        return np.full(mask.shape, most)
    return np.minimum(ndimage.distance_transform_edt(~mask), most)


def compare(what, pixels, device):
    handle = library.open(device)
    stack = library.stack(handle, pixels, ["edges", "distance"])
    edges, distance = library.read(stack, "edges", 0), library.read(stack, "distance", 0)
    library.destroy_stack(stack)
    library.close(handle)
    mask = edge_pixels(edges)
    most = max(mask.shape) / SHARE
    share = f"{100 * mask.mean():.2g} % edge pixels"
    checks.close(f"{what}, {device_name(device)}: pixels from scipy.ndimage.distance_transform_edt ({share})",
                 distance * np.float64(most), expected_of(mask), 1e-3, "float, times max(W, H) / 8 of at most 128", 1e-4)
    return mask


def drawn(size, draw):
    """White on black: the edges of what is drawn are known shapes."""
    picture = np.zeros((size, size, 3), np.uint8)
    draw(picture)
    return picture


size = 320
SHAPES = {
    "nothing": drawn(size, lambda p: None),
    "one pixel": drawn(size, lambda p: p.__setitem__((160, 160), 255)),
    "a corner": drawn(size, lambda p: p.__setitem__((slice(0, 2), slice(0, 2)), 255)),
    "a checkerboard": drawn(size, lambda p: p.__setitem__(slice(None), 255 * (np.indices((size, size)).sum(0) // 4 % 2)[..., None])),
    "a ring": drawn(size, lambda p: cv2.circle(p, (160, 160), 120, (255,) * 3, 2)),
    "a line": drawn(size, lambda p: cv2.line(p, (20, 300), (300, 20), (255,) * 3, 3)),
}
random_sizes = [(1, 1), (1, 200), (333, 1), (97, 131), (640, 200), (1024, 1024)]

for device in devices(tool):
    for name, pixels in SHAPES.items():
        mask = compare(name, pixels, device)
        checks.true(f"{name}: edge pixels are {'not ' if name == 'nothing' else ''}there", mask.any() == (name != "nothing"))
    # The reference counts every distance: large pictures are too slow there.
    few = device is not None
    for name, _, pixels in Pictures([s for s in random_sizes if not few or s[0] * s[1] < 1e5], PHOTOS[:2] if few else PHOTOS):
        compare(name, pixels, device)
checks.done()
