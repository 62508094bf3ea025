#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_pictures.py LIBRARY: the pixels of tvlm_image_load_for (libtexturevlm-io) against Pillow's, bit for bit.

Pillow decodes by the same libraries, with the same choices: JPEG by libjpeg-turbo, also at 1/2, 1/4 and 1/8 of the size (its
`draft`), and what is stored without loss. A build whose JPEG is stb_image's is only checked where that does not matter.
"""
import ctypes
import io
import os
import struct
import tempfile

from common import Checks, PHOTOS, _Log, arguments, need, np, random_pixels

Image, ImageOps = need("PIL.Image", "PIL.ImageOps")
checks = Checks()


class Loaded(ctypes.Structure):
    _fields_ = [("pixels", ctypes.c_void_p), ("width", ctypes.c_int32), ("height", ctypes.c_int32),
                ("channels", ctypes.c_int32), ("type", ctypes.c_int), ("row_stride", ctypes.c_size_t),
                ("of_width", ctypes.c_int32), ("of_height", ctypes.c_int32), ("reserved", ctypes.c_uint64 * 3)]


class LoadParams(ctypes.Structure):
    _fields_ = [("max_side", ctypes.c_int32), ("log", ctypes.POINTER(_Log)), ("reserved", ctypes.c_uint64 * 4)]


class Decoder(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("library", ctypes.c_char_p), ("reserved", ctypes.c_uint64 * 4)]


library = ctypes.CDLL(arguments("LIBRARY")[0])
lines = []
write = _Log.CALLBACK(lambda _, level, text: lines.append(text.decode()))
log = _Log(write, None)


def decoders():
    """The name of the library that decodes each format."""
    count, found = ctypes.c_int32(), (Decoder * 16)()
    assert library.tvlm_image_decoder_list(16, found, ctypes.byref(count)) == 0
    return {d.format.decode(): (d.library or b"").decode() for d in found[:count.value]}


def load(path, max_side=0):
    """(height, width, channels) and the size that positions are in, (width, height)."""
    image = ctypes.POINTER(Loaded)()
    params = LoadParams(max_side, ctypes.pointer(log))
    status = library.tvlm_image_load_for(os.fsencode(path), ctypes.byref(params), ctypes.byref(image))
    assert status == 0, (path, lines[-1:])
    i = image.contents
    kind = {0: ctypes.c_uint8, 1: ctypes.c_uint16}[i.type]
    count = i.width * i.height * i.channels
    pixels = np.ctypeslib.as_array(ctypes.cast(i.pixels, ctypes.POINTER(kind)), (count,)).copy()
    size = i.of_width or i.width, i.of_height or i.height
    shape = i.height, i.width, i.channels
    library.tvlm_image_destroy(ctypes.byref(image))
    return pixels.reshape(shape), size


def of_pillow(image):
    """The same from Pillow, upright; CMYK as RGB."""
    image = ImageOps.exif_transpose(image)
    if image.mode in ("CMYK", "P") or (image.mode == "1"):
        image = image.convert("RGBA" if "transparency" in image.info else "L" if image.mode == "1" else "RGB")
    pixels = np.asarray(image)
    return pixels[..., None] if pixels.ndim == 2 else pixels


def equal(what, got, expected):
    if got.shape != expected.shape:
        return checks.true(f"{what}: shape {got.shape}, Pillow's {expected.shape}", False)
    differing = np.count_nonzero((got != expected).any(2))
    checks.true(f"{what}: {got.shape[1]}x{got.shape[0]}x{got.shape[2]}, {differing} pixels differ from Pillow's", differing == 0)


def check_file(name, path):
    equal(name, load(path)[0], of_pillow(Image.open(path)))


def check_fractions(name, path):
    """Decoding at a fraction of the size, and which fraction is chosen: the least that is no shorter than what is asked."""
    full = load(path)[0]
    longer = max(full.shape[:2])
    for side in [longer, longer // 2, longer // 2 + 1, longer // 4, longer // 8, longer // 8 + 1, 1, 10 * longer]:
        fraction = max([f for f in (1, 2, 4, 8) if longer // f >= side] or [1])
        image = Image.open(path)
        if fraction > 1:
            image.draft(image.mode, (image.width // fraction, image.height // fraction))
            expected = tuple(-(-s // fraction) for s in Image.open(path).size)
            checks.true(f"{name}: Pillow's draft is 1/{fraction}", image.size == expected)
        got, size = load(path, side)
        equal(f"{name} for a side of {side}, 1/{fraction}", got, of_pillow(image))
        checks.true(f"{name}: positions are in {size[0]}x{size[1]}", size == (full.shape[1], full.shape[0]))


def jpegs(folder):
    """Smooth and rough pictures of odd sizes, in all the ways that JPEGs are stored."""
    rough = random_pixels(317, 211, 4)
    smooth = np.asarray(Image.fromarray(random_pixels(40, 27, 5)).resize((317, 211), Image.BICUBIC))
    for name, pixels in {"rough": rough, "smooth": smooth}.items():
        image = Image.fromarray(pixels)
        ways = {"444": (image, {"subsampling": 0}), "422": (image, {"subsampling": 1}), "420": (image, {"subsampling": 2}),
                "gray": (image.convert("L"), {}), "progressive": (image, {"progressive": True}),
                "progressive_444": (image, {"progressive": True, "subsampling": 0, "quality": 95}),
                "optimised": (image, {"optimize": True, "quality": 30}), "inks": (image.convert("CMYK"), {"quality": 90})}
        for way, (made, options) in ways.items():
            path = os.path.join(folder, f"{name}_{way}.jpg")
            made.save(path, **options)
            yield f"{name}_{way}.jpg", path
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            path = os.path.join(folder, f"{name}_{orientation}.jpg")
            image.save(path, exif=exif)
            yield f"{name}_{orientation}.jpg", path


def pngs(folder):
    base = random_pixels(61, 43, 9)
    image = Image.fromarray(base)
    alpha = Image.fromarray(np.dstack([base, random_pixels(61, 43, 10)[..., :1]]))
    gray = image.convert("L")
    images = {"rgb": image, "rgba": alpha, "gray": gray, "gray_alpha": alpha.convert("LA"), "palette": image.convert("P"),
              "bits": gray.convert("1"), "few": image.quantize(4), "deep_gray": None}
    for name, made in images.items():
        path = os.path.join(folder, f"{name}.png")
        if made is None:
            made = Image.fromarray(np.arange(61 * 43, dtype=np.uint16).reshape(43, 61) * 24)
        made.save(path)
        yield f"{name}.png", path


def offset_animation():
    """An animation whose first frame covers a part of the canvas only: 9 x 7 pixels at 4, 2 of 20 x 12."""
    stored = io.BytesIO()
    Image.fromarray(random_pixels(9, 7, 3)).save(stored, "WEBP", lossless=True)
    pixels = stored.getvalue()[12:]

    def chunk(name, content):
        return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)

    def three(number):
        return struct.pack("<I", number)[:3]
    frame = three(4 // 2) + three(2 // 2) + three(9 - 1) + three(7 - 1) + three(100) + b"\0" + pixels
    body = b"WEBP" + chunk(b"VP8X", b"\x12\0\0\0" + three(20 - 1) + three(12 - 1)) + chunk(b"ANIM", b"\xff" * 4 + b"\0\0")
    return b"RIFF" + struct.pack("<I", len(body) + 8 + len(frame)) + body + chunk(b"ANMF", frame)


def webps(folder):
    rough, smooth = random_pixels(317, 211, 4), Image.fromarray(random_pixels(40, 27, 5)).resize((317, 211), Image.BICUBIC)
    alpha = Image.fromarray(np.dstack([np.asarray(smooth), random_pixels(317, 211, 6)[..., :1]]))
    exif = Image.Exif()
    exif[0x0112] = 8
    ways = {"lossless": (Image.fromarray(rough), {"lossless": True}), "q80": (smooth, {"quality": 80}),
            "q20": (Image.fromarray(rough), {"quality": 20}), "alpha": (alpha, {"quality": 70}),
            "alpha_lossless": (alpha, {"lossless": True, "exact": True}), "turned": (smooth, {"exif": exif}),
            "animated": (smooth, {"save_all": True, "append_images": [Image.fromarray(rough)]}),
            "animated_alpha": (alpha, {"save_all": True, "append_images": [alpha.rotate(180)], "lossless": True})}
    for name, (image, options) in ways.items():
        path = os.path.join(folder, f"{name}.webp")
        image.save(path, **options)
        yield f"{name}.webp", path
    for name, path in photos(".png"):
        image = Image.open(path).convert("RGB")
        path = os.path.join(folder, os.path.basename(name) + ".webp")
        image.save(path, quality=75)
        yield os.path.basename(path), path
    path = os.path.join(folder, "offset.webp")
    with open(path, "wb") as file:
        file.write(offset_animation())
    yield "offset.webp", path


def photos(ending):
    if not os.path.isdir(PHOTOS):
        print(f"note   no photos in {PHOTOS}")
        return
    names = sorted(os.listdir(PHOTOS)) + sorted("edge/" + name for name in os.listdir(os.path.join(PHOTOS, "edge")))
    for name in names:
        if name.endswith(ending) and "16bit" not in name: # Pillow makes 8 bits of colour with 16
            yield name, os.path.join(PHOTOS, name)


who = decoders()
print("note   " + ", ".join(f"{form}: {name or 'none'}" for form, name in who.items()))
with tempfile.TemporaryDirectory() as folder:
    for name, path in [*pngs(folder), *photos(".png")]:
        check_file(name, path)
    if who["JPEG"].startswith("libjpeg-turbo"):
        made = list(jpegs(folder))
        for name, path in [*made, *photos(".jpg")]:
            check_file(name, path)
        for name, path in [*made, *photos(".jpg")]:
            check_fractions(name, path)
    if who["WebP"]:
        for name, path in webps(folder):
            check_file(name, path)
checks.done()
