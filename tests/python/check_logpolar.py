#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_logpolar.py TVLM: `tvlm-lab logpolar` against OpenCV's warpPolar, point by point, and how much less it aliases."""
import os
import tempfile

from common import Checks, arguments, device_name, devices, need, np, random_pixels, run, save_ppm

cv2 = need("cv2")
(tool,) = arguments("TVLM")[:1]
checks = Checks()
WIDTH, HEIGHT, RINGS, SECTORS = 300, 220, 96, 128
RADIUS = 100.0


def samples(path, device, folder, *options):
    out = os.path.join(folder, "out.npy")
    where = ["--device", device] if device else []
    run(tool + "-lab", "logpolar", path, *where, "--format", "f32", "-o", out, "--rings", str(RINGS), "--sectors", str(SECTORS),
        "--outer", str(RADIUS), "--fixation", "151.25,107.5", *options)
    return np.load(out)


def warped(pixels):
    return cv2.warpPolar(pixels.astype(np.float32) / 255, (RINGS, SECTORS), (150.75, 107.0), RADIUS, cv2.INTER_LINEAR | cv2.WARP_POLAR_LOG)


def main():
    smooth = cv2.GaussianBlur(random_pixels(WIDTH, HEIGHT, 3), (0, 0), 6)
    board = np.repeat((np.indices((HEIGHT, WIDTH)).sum(0) % 2 * 255).astype(np.uint8)[..., None], 3, 2)
    with tempfile.TemporaryDirectory() as folder:
        for name, pixels in (("smooth", smooth), ("noise", random_pixels(WIDTH, HEIGHT, 5)), ("board", board)):
            path = os.path.join(folder, name + ".ppm")
            save_ppm(path, pixels)
            for device in devices(tool):
                expected = warped(pixels)
                # OpenCV rounds coordinates to a 32nd of a pixel in each direction; neighbours differ by at most `steepest`.
                steepest = max(np.abs(np.diff(pixels.astype(np.float64) / 255, axis=axis)).max() for axis in (0, 1))
                checks.close(f"{name}, {device_name(device)}: points", samples(path, device, folder, "--plain"), expected,
                             2 * steepest / 64 + 1e-4, "coordinates in 32nds")
                if name == "board":
                    far = slice(RINGS * 3 // 4, None)
                    ours = np.abs(samples(path, device, folder)[:, far] - .5).mean()
                    theirs = np.abs(expected[:, far] - .5).mean()
                    checks.true(f"a board of single pixels is gray to far rings: off by {ours:.4f}, OpenCV's by {theirs:.4f}",
                                ours < .25 * theirs)
    return checks.done()


raise SystemExit(main())
