#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_decoding.py TVLM: PNG, JPEG, PPM and BMP as `tvlm channels` reads them against OpenCV's decoders (and PIL's)."""
import os
import tempfile

from common import Checks, PHOTOS, arguments, generate, need, np, random_pixels

cv2 = need("cv2")
try:
    from PIL import Image, ImageOps
except ImportError:
    Image = None
tool = arguments("TVLM")[0]
checks = Checks()
RGB = ["r", "g", "b"]


def over_white(pixels):
    """What OpenCV's IMREAD_UNCHANGED gives, as RGB in [0, 1] on white."""
    most = {"uint8": 255.0, "uint16": 65535.0}[pixels.dtype.name]
    pixels = pixels / most
    if pixels.ndim == 2:
        return np.repeat(pixels[..., None], 3, 2)
    rgb = pixels[..., 2::-1]
    return rgb if pixels.shape[2] == 3 else rgb * pixels[..., 3:] + (1 - pixels[..., 3:])


def got_of(path):
    return generate(tool, path, RGB, "reference").transpose(1, 2, 0)


def check_lossless(name, path):
    expected = over_white(cv2.imread(path, cv2.IMREAD_UNCHANGED))
    checks.close(f"{name}: OpenCV", got_of(path), expected, 2e-7, "a quotient and the composition in float")


def check_jpeg(name, path):
    """Two inverse DCTs and two ways to bring colour to full size: what matters is that they are close on the whole."""
    got = got_of(path)
    readers = [("OpenCV (libjpeg)", cv2.imread(path, cv2.IMREAD_COLOR)[..., ::-1] / 255.0)]
    if Image is not None:
        readers.append(("PIL", np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB")) / 255.0))
    for who, expected in readers:
        if got.shape != expected.shape:
            checks.true(f"{name}: {who}: {got.shape[1]}x{got.shape[0]}, expected {expected.shape[1]}x{expected.shape[0]}",
                        False)
            continue
        steps = np.round(np.abs(got - expected) * 255)
        far = (steps > 2).any(2).mean()
        checks.true(f"{name}: {who}: mean {steps.mean():.3f} steps (<= 0.5), largest {steps.max():.0f}, more than 2 in "
                    f"{100 * far:.2f} % of pixels (<= 3 %: chroma of subsampled files)", steps.mean() <= 0.5 and far <= 0.03)


def made_here(folder):
    rng = np.random.default_rng(3)
    base = random_pixels(61, 43, 9)
    alpha = rng.integers(0, 256, (43, 61, 1), np.uint8)
    deep = rng.integers(0, 65536, (43, 61, 3), np.uint16)
    kinds = {"rgb.png": base, "gray.png": base[..., 0], "rgba.png": np.concatenate([base, alpha], 2), "deep.png": deep,
             "deep_gray.png": deep[..., 0], "rgb.ppm": base, "deep.ppm": deep, "gray.pgm": base[..., 0],
             "rgb.bmp": base, "one.png": base[:1, :1]}
    for name, pixels in kinds.items():
        path = os.path.join(folder, name)
        assert cv2.imwrite(path, pixels)
        yield name, path
    smooth = cv2.GaussianBlur(random_pixels(317, 211, 4), (0, 0), 3)
    for name, options in {"q95.jpg": [cv2.IMWRITE_JPEG_QUALITY, 95], "q60.jpg": [cv2.IMWRITE_JPEG_QUALITY, 60],
                          "progressive.jpg": [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]}.items():
        path = os.path.join(folder, name)
        assert cv2.imwrite(path, smooth, options)
        yield name, path


def photos():
    if not os.path.isdir(PHOTOS):
        print(f"note   no photos in {PHOTOS}")
        return
    # OpenCV cannot know a CMYK file's inks, and drops the alpha of gray + alpha: these are left to the library's tests.
    edge = ["edge/" + name for name in os.listdir(os.path.join(PHOTOS, "edge")) if "cmyk" not in name and "gray_alpha" not in name]
    for name in sorted(os.listdir(PHOTOS)) + sorted(edge):
        path = os.path.join(PHOTOS, name)
        if os.path.isfile(path) and os.path.getsize(path) < 3 << 20:
            yield name, path


with tempfile.TemporaryDirectory() as folder:
    for name, path in [*made_here(folder), *photos()]:
        (check_jpeg if name.endswith(".jpg") else check_lossless)(name, path)
checks.done()
