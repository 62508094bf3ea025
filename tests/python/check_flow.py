# SPDX-License-Identifier: Apache-2.0
"""check_flow.py TVLM: the colours of `tvlm channels --flow --picture` against the wheel of Baker et al. 2011, written after their colorcode.cpp."""
import os
import tempfile

import common
from common import np

cv2 = common.need("cv2")

WIDTH, HEIGHT = 240, 180
# Red to yellow, to green, cyan, blue, magenta and red again: steps, and the components at the beginning and the end.
RUNS = ((15, (255, 0, 0), (255, 255, 0)), (6, (255, 255, 0), (0, 255, 0)), (4, (0, 255, 0), (0, 255, 255)),
        (11, (0, 255, 255), (0, 0, 255)), (13, (0, 0, 255), (255, 0, 255)), (6, (255, 0, 255), (255, 0, 0)))


def wheel():
    return np.array([[a + (b - a) * i / steps for a, b in zip(first, last)] for steps, first, last in RUNS for i in range(steps)])


def colours(flow):
    """RGB of u, v over the longest vector: computeColor of colorcode.cpp, not rounded."""
    flow = flow / max(np.linalg.norm(flow, axis=2).max(), 0.01)
    length = np.linalg.norm(flow, axis=2)[..., None]
    colors = wheel()
    place = (np.arctan2(-flow[..., 1], -flow[..., 0]) / np.pi + 1) / 2 * (len(colors) - 1)
    first = np.floor(place).astype(int)
    part = (place - first)[..., None]
    hue = (1 - part) * colors[first] + part * colors[(first + 1) % len(colors)]
    return 255 - length * (255 - hue)


def read_flo(path):
    data = open(path, "rb").read()
    width, height = np.frombuffer(data, "<i4", 2, 4)
    return np.frombuffer(data, "<f4", 2 * width * height, 12).reshape(height, width, 2).astype(np.float64)


def pictures():
    """A scene, and the same turned and enlarged about its centre: it moves in every direction, from not at all to far."""
    noise = np.random.default_rng(5).integers(0, 256, (HEIGHT // 4, WIDTH // 4), np.uint8)
    scene = cv2.resize(noise, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    turned = cv2.warpAffine(scene, cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 3, 1.06), (WIDTH, HEIGHT),
                            flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return [np.repeat(image[..., None], 3, axis=2) for image in (scene, turned)]


tool = common.arguments("TVLM")[0]
checks = common.Checks()
with tempfile.TemporaryDirectory() as folder:
    path = lambda name: os.path.join(folder, name)
    for name, pixels in zip(("a.ppm", "b.ppm"), pictures()):
        common.save_ppm(path(name), pixels)
    for device in common.devices(tool):
        what = common.device_name(device)
        words = ["-o", path("f.flo"), "--picture", path("p.png"), *(["--device", device] if device else [])]
        common.run(tool, "channels", "--flow", path("a.ppm"), path("b.ppm"), *words)
        flow, picture = read_flo(path("f.flo")), cv2.imread(path("p.png"))[..., ::-1]
        length = np.linalg.norm(flow, axis=2)
        octant = np.floor((np.arctan2(flow[..., 1], flow[..., 0]) / np.pi + 1) * 4).astype(int) % 8
        checks.true(f"{what}: every eighth of the wheel is in the flow", np.bincount(octant.ravel(), minlength=8).min() > flow.size / 80)
        checks.true(f"{what}: short and long vectors are", (length < length.max() / 4).mean() > 0.02 and (length > length.max() / 2).mean() > 0.2)
        checks.close(f"{what}: colours", picture, colours(flow), 1, "rounding is a half; float", mean=0.5)
        common.run(tool, "channels", "--flow", path("a.ppm"), path("a.ppm"), *words)
        checks.true(f"{what}: what stands still is white", (cv2.imread(path("p.png")) == 255).all())
checks.done()
