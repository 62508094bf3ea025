#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model reads of a video that was encoded with more bits where it looks (`tvlm video --encode`), beside an even one of as many bits.

    bench/encode.py [--tvlm TVLM] [--clips terminal,slides] [--sizes 20,40,80] [--shares 5,10] [--quality 0.2]

Frames are encoded by x264 twice to as many bytes, which the bits a second are searched for: with the regions that `tvlm video --roi`
writes, and without. Of what comes back a model is shown the tokens of `tvlm video --share`. Figures are the sizes of both files in KB,
the PSNR in dB of what is shown beside the frames as they were, and the share of words that Tesseract reads, of those that it reads
in the full frames.
"""
import argparse
import ctypes
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402

cv2, _ = need("cv2", "PIL.Image")
import clips  # noqa: E402
import video  # noqa: E402


class Region(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("left", "top", "right", "bottom")] + [("quality", ctypes.c_float)]


class Params(ctypes.Structure):
    _fields_ = [("rate", ctypes.c_double), ("log", ctypes.c_void_p), ("bit_rate", ctypes.c_double), ("reserved", ctypes.c_uint64 * 3)]


class Image(ctypes.Structure):
    _fields_ = [("pixels", ctypes.c_void_p), ("width", ctypes.c_int32), ("height", ctypes.c_int32), ("channels", ctypes.c_int32),
                ("type", ctypes.c_int32), ("row_stride", ctypes.c_size_t), ("of_width", ctypes.c_int32), ("of_height", ctypes.c_int32),
                ("reserved", ctypes.c_uint64 * 3)]


def encode(library, frames, path, bits, regions, quality):
    """Writes a video. regions: for each frame (left, top, right, bottom, share of the quality)."""
    writer, params = ctypes.c_void_p(), Params(25.0, None, 1000.0 * bits)
    height, width = frames.shape[1:3]

    def called(name, *arguments):
        if getattr(library, "tvlm_video_writer_" + name)(*arguments) != 0:
            sys.exit(f"encode.py: {name} fails")
    called("open", path.encode(), width, height, ctypes.byref(params), ctypes.byref(writer))
    for number, frame in enumerate(np.ascontiguousarray(frames, np.uint8)):
        parts = (Region * max(1, len(regions[number])))(*(Region(*region[:4], region[4] * quality) for region in regions[number]))
        called("set_regions", writer, parts, len(regions[number]))
        image = Image(frame.ctypes.data, width, height, 3)
        called("add", writer, ctypes.byref(image), ctypes.c_double(number / 25))
    called("finish", writer)
    library.tvlm_video_writer_destroy(ctypes.byref(writer))
    return os.path.getsize(path) / 1000


def encode_to(library, frames, path, size, regions, quality):
    """The same, at the bits a second by which the file comes nearest to a size in KB."""
    low, high = 2.0, 20000.0
    for _ in range(14):
        middle = (low * high) ** .5
        made = encode(library, frames, path, middle, regions, quality)
        if abs(made - size) < .01 * size:
            break
        low, high = (middle, high) if made < size else (low, middle)
    return made


def decoded(path):
    reader, frames = cv2.VideoCapture(path), []
    while True:
        there, frame = reader.read()
        if not there:
            return np.stack(frames)
        frames.append(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))


def chosen(film, folder, options, share):
    """The tokens of each slot, and the regions of each frame."""
    roi = os.path.join(folder, "roi.jsonl")
    lines = video.slots_of(film, folder, options, "--share", str(share / 100), "--roi", roi)
    with open(roi, encoding="utf-8") as file:
        regions = [[(*(region[side] for side in ("left", "top", "right", "bottom")), -region["qoffset"] / .2)
                    for region in json.loads(line)["regions"]] for line in file]
    return lines, regions


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tvlm", default=os.path.join(HERE, "..", "build", "tools", "tvlm"))
    parser.add_argument("--library", default=os.path.join(HERE, "..", "build", "lib", "libtexturevlm-video.so"))
    parser.add_argument("--clips", default="terminal,slides")
    parser.add_argument("--sizes", default="20,40,80", help="of the files, in KB")
    parser.add_argument("--shares", default="5,10")
    parser.add_argument("--quality", default="0.2", help="how much better regions are (default: 0.2, what the tool takes)")
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    print("| clip | % of tokens | KB | even | with regions |\n|---|---|---|---|---|")
    for name in options.clips.split(","):
        film = video.Film(clips.DRAWN[name]() if name in clips.DRAWN else clips.of_file(name))
        for share in (int(share) for share in options.shares.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                lines, regions = chosen(film, folder, options, share)
                for wanted in (float(size) for size in options.sizes.split(",")):
                    cells = []
                    for parts, quality in (([[]] * len(regions), 0.0), *((regions, float(one)) for one in options.quality.split(","))):
                        path = os.path.join(folder, "clip.mp4")
                        size = encode_to(library, film.clip.frames, path, wanted, parts, quality)
                        back = video.Film(clips.Clip(name, list(decoded(path)[:len(film.clip.frames)]), film.clip.words, film.clip.inside))
                        found = video.figures(film, video.shown(back, lines))
                        cells.append(f"{size:.0f} KB, {found['psnr']:.2f} dB" + (f", words {found['words']:.2f}" if "words" in found else ""))
                    print(f"| {film.clip.name} | {share} | {wanted:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
