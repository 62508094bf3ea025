#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_corpus.py [TVLM]: writes the seeds of every fuzz target into corpus/NAME, in files called seed_*.

Files of other names are left alone: they are findings, inputs that once broke something. With TVLM, the tool, the seeds of
videos that need an encoder are written as well. What one seed shows is its name; they are small on purpose.
"""
import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))


def put(target, name, content):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    if isinstance(content, str):
        content = content.encode()
    with open(os.path.join(folder, "seed_" + name), "wb") as file:
        file.write(content)


def samples():
    """The pictures of tests/io_samples.h by name."""
    with open(os.path.join(HERE, "..", "io_samples.h")) as file:
        text = file.read()
    arrays = re.findall(r"unsigned char (\w+)\[\] = \{([^}]*)\}", text)
    return {name: bytes(int(byte, 16) for byte in re.findall(r"0x([0-9A-Fa-f]{2})", body)) for name, body in arrays}


# ---- Pictures ----

def chunk(letters, content):
    return struct.pack(">I", len(content)) + letters + content + struct.pack(">I", zlib.crc32(letters + content))


def png(width, height, depth, color, raw, more=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(raw, 9)) +
            chunk(b"IEND", b""))


def tiff(order, tags):
    """An EXIF block with these (tag, type, count, value) in its first directory."""
    sign = "<" if order == b"II" else ">"
    block = order + struct.pack(sign + "HI", 42, 8) + struct.pack(sign + "H", len(tags))
    for tag, kind, count, value in tags:
        block += struct.pack(sign + "HHIHH", tag, kind, count, value, 0)
    return block + b"\0\0\0\0"


def bmp(width, height, bits, body, header=40):
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIIIII", 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 14 + header + len(body), 0, 0, 14 + header) + info + body


def images(pictures):
    for name, content in pictures.items():
        if name.startswith(("png", "jpeg", "bmp", "webp", "heif")):
            put("image", name, content)
    jpeg = pictures["jpeg_rgb"]
    exif = tiff(b"MM", [(0x0112, 3, 1, 6)])
    app1 = b"\xff\xe1" + struct.pack(">H", len(exif) + 8) + b"Exif\0\0" + exif
    put("image", "jpeg_exif", jpeg[:2] + app1 + jpeg[2:])
    put("image", "jpeg_ends_early", jpeg[:-30] + b"\xff\xd9")
    scan = jpeg.rindex(b"\xff\xda")
    put("image", "jpeg_scans", jpeg[:scan] + jpeg[scan:-2] * 4 + b"\xff\xd9")
    put("image", "png_bomb", png(8, 8, 8, 0, bytes(100000)))
    put("image", "png_gray_1", png(3, 2, 1, 0, b"\0\xa0\0\x40"))
    put("image", "png_transparent", png(2, 1, 8, 2, b"\0abcdef", chunk(b"tRNS", b"\0a\0b\0c")))
    put("image", "png_exif", png(2, 1, 8, 0, b"\0ab", chunk(b"eXIf", tiff(b"II", [(0x0112, 3, 1, 8)]))))
    put("image", "png_large", png(1 << 24, 1 << 20, 8, 0, b""))
    put("image", "bmp_24", bmp(2, 1, 24, b"abcdef\0\0"))
    put("image", "bmp_down", bmp(2, -1, 24, b"abcdef\0\0"))
    put("image", "bmp_core", bmp(2, 1, 24, b"abcdef\0\0", 12))
    put("image", "bmp_32", bmp(1, 1, 32, b"abcd"))
    for name, text in {"p2": "P2 2 1 15 # text\n 15\n 3", "p3": "P3 2 1 255 1 2 3 4 5 6", "p5": "P5 2 1 255\nAB",
                       "p5_wide": "P5 2 1 1023\n\x03~\x02!", "p6": "P6\n# a\n2 # b\n1\n255\nABCDEF",
                       "p5_large": "P5 99999999 99999999 255\n"}.items():
        put("image", name, text)
    put("image", "webp_cut", b"RIFF\x10\0\0\0WEBPVP8 ")


def exifs():
    put("exif", "little", tiff(b"II", [(0x010f, 2, 3, 0), (0x0112, 3, 1, 6)]))
    put("exif", "big", tiff(b"MM", [(0x0112, 3, 1, 3)]))
    put("exif", "wrong_type", tiff(b"II", [(0x0112, 4, 1, 6)]))
    put("exif", "out_of_range", tiff(b"II", [(0x0112, 3, 1, 9)]))
    put("exif", "no_directory", b"II*\0\xff\xff\xff\xff")


# ---- Arrays and tensors ----

def npy(text, data, version=1):
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + data


def npys():
    def header(descr, shape, order="False"):
        return "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)
    for descr, size in [("<f4", 4), ("<f2", 2), ("<f8", 8), ("|u1", 1), ("|i1", 1), ("<u2", 2), ("<i4", 4), ("<i8", 8),
                        ("|b1", 1)]:
        put("npy", descr[1:], npy(header(descr, "(2, 3)"), bytes(6 * size)))
    put("npy", "version_2", npy(header("<f4", "(3,)"), bytes(12), 2))
    put("npy", "version_3", npy(header("<f4", "()"), bytes(4), 3))
    put("npy", "python_2", npy("{'shape': (2L, 3L), 'fortran_order': False, 'descr': \"<i2\"}", bytes(12)))
    put("npy", "empty", npy(header("<f4", "(0, 7)"), b""))
    put("npy", "fortran", npy(header("<f4", "(2, 3)", "True"), bytes(24)))
    put("npy", "big_endian", npy(header(">f4", "(1,)"), bytes(4)))
    put("npy", "records", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", bytes(4)))
    put("npy", "rank_9", npy(header("|u1", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), b"a"))
    put("npy", "too_large", npy(header("<f8", "(9223372036854775807, 2)"), b""))
    put("npy", "short", npy(header("<f4", "(4,)"), bytes(15)))


def safetensors(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors(names, metadata=None):
    """A file of (name, type, shape, data)."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, kind, shape, content in names:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return safetensors(header, data)


def all_safetensors():
    def floats(*values):
        return struct.pack("<%df" % len(values), *values)
    put("safetensors", "types", tensors([(kind, kind, [2], bytes(2 * size)) for kind, size in
                                         [("F64", 8), ("I64", 8), ("U64", 8), ("F32", 4), ("I32", 4), ("U32", 4), ("F16", 2),
                                          ("BF16", 2), ("I16", 2), ("U16", 2), ("I8", 1), ("U8", 1), ("BOOL", 1)]]))
    put("safetensors", "not_aligned", tensors([("a", "U8", [1], b"a"), ("b", "F64", [1], bytes(8))]))
    put("safetensors", "metadata", tensors([("s", "I32", [], bytes(4))], {"k": "v", "ü": "a \"b\"\n"}))
    put("safetensors", "empty", tensors([]))
    put("safetensors", "scorer", tensors(
        [("weights", "F32", [3], floats(1, -1, .5)), ("bias", "F32", [1], floats(.1)),
         ("similarity", "F32", [1], floats(.2)), ("query_weights", "F32", [2, 3], floats(1, 2, 3, 4, 5, 6))],
        {"format": "texturevlm.scorer", "channels": "r,edges,saliency"}))
    network = [("0.weight", "F32", [2, 1, 3, 3], floats(*range(18))), ("0.bias", "F32", [2], floats(1, 2)),
               ("2.weight", "F32", [1, 2, 1, 1], floats(1, -1))]
    layers = ('[{"type":"conv","name":"0","stride":2,"padding":1},{"type":"relu"},{"type":"conv","name":"2"},'
              '{"type":"sigmoid"}]')
    put("safetensors", "network", tensors(network, {"format": "texturevlm.network", "inputs": "r", "outputs": "thing",
                                                    "level": "1", "layers": layers}))
    put("safetensors", "network_chain", tensors(network, {
        "format": "texturevlm.network", "inputs": "r", "outputs": "thing",
        "layers": '[{"type":"conv","name":"2"},{"type":"conv","name":"0","padding":1,"dilation":2}]'}))
    put("safetensors", "projection", tensors(
        [("weight", "F32", [2, 3], floats(1, 2, 3, 4, 5, 6)), ("bias", "F32", [2], floats(1, 2)),
         ("components", "F32", [2, 3], floats(1, 0, 0, 0, 1, 0)), ("mean", "F32", [3], floats(.1, .2, .3))],
        {"format": "texturevlm.projection", "channels": "embedding_0,r,embedding_1"}))
    put("safetensors", "scorer_3x3", tensors([("weights", "F32", [1, 3, 3], floats(*range(9)))],
                                             {"format": "texturevlm.scorer", "channels": "x"}))
    put("safetensors", "basis", tensors(
        [("mean", "F32", [3], floats(.1, .2, .3)), ("components", "F32", [2, 3], floats(1, 0, 0, 0, 1, 0)),
         ("explained_variance_ratio", "F32", [2], floats(.6, .4))],
        {"format": "texturevlm.basis", "D": "3", "k": "2", "centred": "true", "vectors": "100", "method": "covariance"}))
    put("safetensors", "basis_doubles", tensors([("components", "F64", [1, 2], struct.pack("<dd", 0, 1))],
                                                {"format": "texturevlm.basis", "centred": "false"}))
    put("safetensors", "vocab", tensors([("centres", "F32", [2, 3], floats(.6, 0, .8, 0, .5, 0)), ("error", "F32", [1], floats(.1))],
                                        {"format": "texturevlm.vocab", "D": "3", "n": "2", "vectors": "100"}))
    codec = [("encode", "F32", [1, 2], floats(1, 2)), ("decode", "F32", [2, 1], floats(.2, .4))]
    put("safetensors", "codec", tensors(codec + [("mean", "F32", [2], floats(.1, .2))], {
        "format": "texturevlm.codec", "channels": "r,edges", "level": "1"}))
    put("safetensors", "codec_names", tensors(codec, {"format": "texturevlm.codec", "channels": "r,x,edges"}))
    entry = b'{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    put("safetensors", "key_twice", safetensors(b'{"__metadata__":{"k":"1","k":"2"},"a":' + entry + b"}", b"a"))
    put("safetensors", "name_twice", safetensors(b'{"a":' + entry + b',"a":' + entry + b"}", b"a"))
    put("safetensors", "no_utf8", safetensors(b'{"\xff":' + entry + b"}", b"a"))
    put("safetensors", "escapes", safetensors(b'{"\\u001b[2J\\n\\u009b\\ud83d\\ude00":' + entry + b"}", b"ab"))
    put("safetensors", "zero", safetensors(b'{"a\\u0000b":' + entry + b"}", b"a"))
    put("safetensors", "deep", safetensors(b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", b""))


def flos():
    put("flo", "2x1", b"PIEH" + struct.pack("<ii4f", 2, 1, .5, -1, 1e10, float("nan")))
    put("flo", "short", b"PIEH" + struct.pack("<ii3f", 2, 1, 0, 0, 0))
    put("flo", "large", b"PIEH" + struct.pack("<ii", 99999, 99999))
    put("flo", "negative", b"PIEH" + struct.pack("<ii", -1, 1))


# ---- What people write down about photos ----

def boxes():
    def coco(*annotations, **image):
        return "c016012" + json.dumps({
            "images": [{"id": 1, "file_name": "a.png", **image}], "categories": [{"id": 5, "name": "cat"}],
            "annotations": [{"image_id": 1, "category_id": 5, **annotation} for annotation in annotations]})
    put("boxes", "coco_box", coco({"bbox": [2, 3, 5, 4]}, width=16, height=12))
    put("boxes", "coco_polygons", coco({"segmentation": [[1, 1, 9, 1, 9, 9], [2, 2, 3, 2, 3, 3, 2, 3]]}))
    put("boxes", "coco_runs", coco({"segmentation": {"size": [12, 16], "counts": [10, 20, 162]}}))
    put("boxes", "coco_packed", coco({"segmentation": {"size": [12, 16], "counts": ":d0R5"}}))
    put("boxes", "coco_huge", coco({"segmentation": [[-1e308, 1, 1e308, 5, 1.7e308, -1.7e308]]}, {"bbox": [-1e308, 0, 1.7e308, 9]}))
    put("boxes", "coco_wrong", coco({"bbox": [1, 2]}))
    put("boxes", "coco_panoptic", "c004004" + json.dumps({"annotations": [{"file_name": "a.png", "segments_info": []}]}))
    put("boxes", "coco_no_json", "c004004{")
    put("boxes", "yolo", "y016012" "7 0.5 0.5 0.25 0.5\n\n1 0.1 0.1 0.9 0.1 0.9 0.9\n")
    put("boxes", "yolo_huge", "y016012" "0 1e308 -1e308 1e308 1e308\n0 1e308 0 -1e308 1 1e308 1e308\n")
    put("boxes", "yolo_wrong", "y016012" "0 0.5 x 0.5 0.5\n")


def channels():
    for name, text in {"one": "r", "list": "r, g,b ,edges", "layout": "full40", "numbers": "feature_0,word_12,motion@-2",
                       "unknown": "edgse", "empty": "r,,g", "blank": " ", "long": "a" * 200}.items():
        put("channels", name, text)


# ---- Compiled programs ----

def caches():
    """'f' and a file: the hash of its name and of the program, then the program (opencl/cache.c). 'p' and a program."""
    key = b"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\0"  # fuzz_cache.c

    def file(program, name=key):
        return b"f" + hashlib.sha256(name + program).digest() + program
    elf = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHI", 3, 62, 1) + bytes(range(40))
    put("cache", "right", file(elf))
    put("cache", "one_byte", file(b"a"))
    put("cache", "other_name", file(elf, key.replace(b"00", b"ff")))
    put("cache", "damaged", file(elf)[:-1] + b"x")
    put("cache", "no_program", file(b""))
    put("cache", "half_a_hash", file(elf)[:17])
    put("cache", "stored", b"p" + elf)
    put("cache", "stored_text", b"p" + b"; ModuleID = 'x'\n" * 9)


def tunings():
    """'f' and a file; 'c', 'g' (a GPU) or 'l' (short loops) and a text (opencl/tuning_file.c)."""
    first = "texturevlm tuning 2\n"
    put("tuning", "file", b"f" + bytes(32) + first.encode())
    put("tuning", "empty", b"c" + first.encode())
    put("tuning", "several", "c" + first + "saliency 1 group 64 1\nlevels 0 levels 16 0\nvisual 2 tile 1 1 128 8\n")
    put("tuning", "good_then_bad", "c" + first + "saliency 1 group 64 1\nlevels 0 levels 17 0\n")
    put("tuning", "gpu", "g" + first + "visual 1 tile 32 8 32 8\ntopk 1 ranked 0\nproducts 2 products 8\n")
    put("tuning", "short_loops", "l" + first + "saliency 1 run 2\n")
    put("tuning", "long_loops", "l" + first + "saliency 1 run 32\n")
    put("tuning", "out_of_range", "c" + first + "saliency 1 run 7\n")
    put("tuning", "other_version", "ctexturevlm tuning 2\n")
    put("tuning", "cut_short", "c" + first + "saliency 1 gro")
    put("tuning", "binary", b"c" + first.encode() + b"saliency 1 run 8\n\0more")


# ---- Whole selections: the bytes of fuzz_select.c ----

def selections():
    pixels = bytes((x * 5 + y * 9) % 256 for y in range(32) for x in range(32) for c in range(3))
    image = bytes([0, 8, 0, 31, 31, 2, 0]) + pixels  # full40, 8 clusters, the default compactness, 32 x 32 RGB of 8 bits
    numbers = bytes([3, 3, 2, 2, 1, 1, 0, 3, 1, 0, 3])  # fixations, weights, similarities
    cells = bytes(7)  # no least distance, overview or e0, a sunflower, the cascade's defaults
    for strategy, name in enumerate(["default", "grid", "foveated", "quadtree", "exhaustive", "cascade", "none"]):
        for flags, more in [(0, ""), (1 + 16 + 128, "_query")]:
            dense = 4 if name == "exhaustive" else 0
            fixations = 32 if name == "foveated" and more else 0
            put("select", name + more, bytes([flags | dense | fixations]) + numbers + bytes([strategy, 3, 0, 1]) + cells +
                bytes([0 if dense else 15, 0, 0]) + image)
    put("select", "overview", bytes([0]) + numbers + bytes([1, 4, 0, 1, 0, 3]) + bytes(5) + bytes([15, 0, 0]) + image)
    put("select", "cover", bytes([2]) + numbers + bytes([5, 9, 0, 1]) + cells + bytes([15, 0, 0]) + image)
    put("select", "pixel", bytes([0]) + numbers + bytes([1, 1, 0, 0]) + cells + bytes([0, 0, 0]) + bytes(7) + b"abc")


# ---- Videos ----

def gif():
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 2, 2, 0) + b"\x02\x03\x44\x02\x05\x00"
    return (b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" +
            (b"\x21\xf9\x04\0\x0a\0\0\0" + frame) * 2 + b"\x3b")


def videos(pictures, tvlm):
    put("video", "y4m", b"YUV4MPEG2 W4 H4 F25:1 Ip A1:1 C420jpeg\n" + (b"FRAME\n" + bytes(range(24))) * 3)
    put("video", "gif", gif())
    put("video", "mjpeg", pictures["jpeg_rgb"] * 3)
    put("video", "wave", b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\x08\0\0\0" + bytes(8))
    put("video", "playlist", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/dev/null\n")
    put("video", "parts", "ffconcat version 1.0\nfile /dev/null\n")
    put("video", "ivf", b"DKIF\0\0\x20\0VP80" + struct.pack("<HHIIII", 16, 16, 25, 1, 1, 0) + struct.pack("<IQ", 4, 0) + b"\x30\1\0\x9d")
    if tvlm is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        photos = []
        for i in range(2):
            photos.append(os.path.join(folder, "%d.png" % i))
            with open(photos[-1], "wb") as file:
                raw = b"".join(b"\0" + bytes((x * 8 + y * 3 + i * 40 + c * 20) % 256 for x in range(32) for c in range(3))
                               for y in range(32))
                file.write(png(32, 32, 8, 2, raw))
        for ending in ["mp4", "mkv", "avi"]:
            path = os.path.join(folder, "a." + ending)
            subprocess.run([tvlm, "video", "--device", "reference", "-k", "2", "--overlay", path] + photos, check=True,
                           stdout=subprocess.DEVNULL)
            with open(path, "rb") as file:
                put("video", ending, file.read())


def archives(pictures):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in ["a.png", "b/" + 120 * "c" + ".png", "d.txt"]:
            info = tarfile.TarInfo(name)
            info.size = len(pictures["png_rgb"])
            tar.addfile(info, io.BytesIO(pictures["png_rgb"]))
    whole = file.getvalue()
    end = len(whole.rstrip(b"\0")) + 511 & -512
    put("archive", "tar", whole[:end + 1024])
    put("archive", "tar_unmarked", whole[:end])
    put("archive", "tar_cut", whole[:1300])
    put("archive", "tar_more", whole[:end + 1024] + b"more")
    packed = gzip.compress(whole, mtime=0)
    put("archive", "gzip", packed)
    put("archive", "gzip_two", gzip.compress(whole[:700], mtime=0) + gzip.compress(whole[700:], mtime=0) + bytes(9))
    put("archive", "gzip_sum", packed[:-6] + b"\x55" + packed[-5:])
    put("archive", "gzip_cut", packed[:-9])
    put("archive", "bzip2", bz2.compress(whole))
    put("archive", "xz", lzma.compress(whole))
    put("archive", "xz_large", lzma.compress(whole, preset=9)) # takes more memory than the target allows
    put("archive", "zstd", b"\x28\xb5\x2f\xfd\x04\x58" + struct.pack("<I", 700 << 3 | 1)[:3] + whole[:700] + bytes(4))
    put("archive", "zstd_window", b"\x28\xb5\x2f\xfd\0\xf8" + struct.pack("<I", 700 << 3 | 1)[:3] + whole[:700])


def calls():
    """Sequences of calls: a stack of an image, then whatever comes; most numbers are small, which is to say valid."""
    for number in range(48):
        dice = random.Random(number)
        small = bytes(dice.getrandbits(8) if dice.getrandbits(2) == 0 else dice.getrandbits(5) for _ in range(400))
        put("calls", f"{number}", bytes([0, 1, number % 2, number % 11]) + bytes(3) + bytes([15, 11, 2, 0, 0]) + small)


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        sys.exit(__doc__)
    pictures = samples()
    images(pictures)
    exifs()
    npys()
    all_safetensors()
    flos()
    boxes()
    channels()
    caches()
    tunings()
    selections()
    calls()
    archives(pictures)
    videos(pictures, sys.argv[1] if len(sys.argv) == 2 else None)


if __name__ == "__main__":
    main()
