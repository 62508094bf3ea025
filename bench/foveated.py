#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""foveated.py LIBTEXTUREVLM.SO: how much of the image the squares of foveated positions cover, and how much twice; and how long
placing them takes. Over the sizes and shapes of photographs, K, e0, arrangements, one fixation and several. Exit 1
where any covers less than 95 % or more than 25 % twice.

    --law   also: the density of the positions against M(e)^2, and what is left of photos (../shared/data, or
            TVLM_SHARED) near several fixations and over all, for both arrangements and some e0
"""
import ctypes
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import np  # noqa: E402

COVERED, TWICE = 0.95, 0.25
SIZES = [(1024, 1024), (384, 303), (640, 480), (1600, 900), (768, 1152), (4096, 2048), (2400, 800), (5568, 2784), (4096, 256)]
FIXATIONS = {"centre": [(.5, .5)], "third": [(1 / 3, .6)], "corner": [(.02, .03)], "two": [(.25, .4), (.8, .6)],
             "five": [(.1, .1), (.9, .2), (.5, .5), (.2, .85), (.7, .8)]}
ARRANGEMENTS = ["sunflower", "log-polar"]


class Params(ctypes.Structure):
    _fields_ = [("fixations", ctypes.POINTER(ctypes.c_float)), ("fixation_count", ctypes.c_int32), ("e0", ctypes.c_float),
                ("arrangement", ctypes.c_int), ("reserved", ctypes.c_uint64 * 2)]


class Position(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float), ("level", ctypes.c_float), ("score", ctypes.c_float),
                ("size", ctypes.c_float), ("column", ctypes.c_int32), ("row", ctypes.c_int32),
                ("reserved", ctypes.c_uint32 * 5)]


def placer(path):
    place = ctypes.CDLL(path).tvlm_foveated_place

    def run(width, height, k, fixations, e0, arrangement=0, patch=16.0, times=0):
        flat = [value for x, y in fixations for value in (x * width, y * height)]
        params = Params((ctypes.c_float * len(flat))(*flat), len(fixations), e0, arrangement)
        room = max(k, 273)
        out, count = (Position * room)(), ctypes.c_int32()
        status = place(width, height, k, ctypes.c_float(patch), ctypes.byref(params), None, room, out, ctypes.byref(count))
        if status != 0:
            return None
        best = 0.0
        if times:
            spent = []
            for _ in range(times):
                start = time.perf_counter()
                place(width, height, k, ctypes.c_float(patch), ctypes.byref(params), None, room, out, ctypes.byref(count))
                spent.append(time.perf_counter() - start)
            best = min(spent)
        table = np.frombuffer(out, np.dtype([(n, "f4") for n in ("x", "y", "level", "score", "size")] +
                                            [("column", "i4"), ("row", "i4"), ("reserved", "u4", 5)]))[:count.value].copy()
        return table, best
    return run


def cover(width, height, table, side=1024):
    """Shares of the image that squares cover at all, and more than once: exact but for edges rounded to 1 / 1024."""
    scale = side / max(width, height)
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    count = np.zeros((h + 1, w + 1), np.int32)
    half = table["size"] / 2
    x0, x1 = (np.clip(np.round((table["x"] + d) * scale), 0, w).astype(int) for d in (-half, half))
    y0, y1 = (np.clip(np.round((table["y"] + d) * scale), 0, h).astype(int) for d in (-half, half))
    for a, b, sign in ((y0, x0, 1), (y0, x1, -1), (y1, x0, -1), (y1, x1, 1)):
        np.add.at(count, (a, b), sign)
    count = count.cumsum(0).cumsum(1)[:h, :w]
    return float((count > 0).mean()), float((count > 1).mean())


def table_of(place, k, e0, arrangement, sizes=SIZES, fixations=FIXATIONS):
    rows = []
    for width, height in sizes:
        for name, at in fixations.items():
            got = place(width, height, k, at, e0, arrangement)
            if got is None:
                continue
            assert len(got[0]) == k
            rows.append((*cover(width, height, got[0]), f"{width}x{height} {name}"))
    return rows


def law(place):
    """Positions in bands of eccentricity, over what M(e)^2 expects there (solved so that the sum is right)."""
    width = height = 2048
    print("\ndensity over M(e)^2, 2048x2048, fixation at the centre, K = 1000, in bands of e (half diagonals):")
    for e0 in (.1, .2, .4):
        table, _ = place(width, height, 1000, [(.5, .5)], e0)
        hd = np.hypot(width, height) / 2
        y, x = np.mgrid[0:512, 0:512] * 4 + 2.
        e = np.hypot(x - 1024, y - 1024) / hd
        want = 1 / (e + e0) ** 2
        got = np.hypot(table["x"] - 1024, table["y"] - 1024) / hd
        bands = [0, .1, .2, .35, .5, .7, 1]
        shares = [np.count_nonzero((got >= a) & (got < b)) / 1000 / (want[(e >= a) & (e < b)].sum() / want.sum())
                  for a, b in zip(bands, bands[1:])]
        print(f"  e0 {e0}:  " + "  ".join(f"{a:.2f}-{b:.2f} {s:.2f}" for a, b, s in zip(bands, bands[1:], shares)))


PHOTOS = ["astronaut.png", "camera.png", "chelsea.png", "coffee.png", "kodim05.png", "kodim19.png", "kodim23.png",
          "motorcycle_left.png"]
LOOKED_AT = [(.5, .5), (.33, .4), (.66, .6), (.25, .75), (.75, .3)]
BANDS = {"within 0.1": (0, .1), "0.1 to 0.3": (.1, .3), "all": (0, 9)}
E0S = (.05, .1, .15, .2, .3, .5)
E0_DEFAULT = .2


def rebuild(cv2, image, table, patch):
    """The photo from its squares alone, patch x patch averages each, the finest on top."""
    height, width = image.shape
    out = np.full_like(image, image.mean())
    for p in sorted(table, key=lambda p: -p["size"]):
        x0, y0 = int(round(p["x"] - p["size"] / 2)), int(round(p["y"] - p["size"] / 2))
        x1, y1 = int(round(x0 + p["size"])), int(round(y0 + p["size"]))
        cx0, cy0, cx1, cy1 = max(x0, 0), max(y0, 0), min(x1, width), min(y1, height)
        if cx1 <= cx0 or cy1 <= cy0:
            continue
        size = max(1, round((cx1 - cx0) / (x1 - x0) * patch)), max(1, round((cy1 - cy0) / (y1 - y0) * patch))
        small = cv2.resize(image[cy0:cy1, cx0:cx1], size, interpolation=cv2.INTER_AREA)
        out[cy0:cy1, cx0:cx1] = cv2.resize(small, (cx1 - cx0, cy1 - cy0), interpolation=cv2.INTER_LINEAR)
    return out


def psnr_of(cv2, place, image, e0, arrangement, patch):
    """PSNR in each band of e, [fixation][band]."""
    height, width = image.shape
    y, x = np.mgrid[0:height, 0:width]
    rows = []
    for at in LOOKED_AT:
        square = (rebuild(cv2, image, place(width, height, 273, [at], e0, arrangement, patch)[0], patch) - image) ** 2
        e = np.hypot(x - at[0] * width, y - at[1] * height) / (np.hypot(width, height) / 2)
        rows.append([10 * np.log10(255 ** 2 / max(square[(e >= a) & (e < b)].mean(), 1e-6)) for a, b in BANDS.values()])
    return np.array(rows)


def print_difference(name, to, found, base):
    """Means, and paired differences from `base` with their standard error over photos (a photo's fixations are no
    independent cases)."""
    mean, apart = found.mean((0, 1)), (found - base).mean(1)
    error = apart.std(0, ddof=1) / len(apart) ** .5 if len(apart) > 1 else np.full(3, np.nan)
    print(f"  {name:20} " + " | ".join(f"{m:5.1f} dB {d:+5.2f} +- {s:4.2f}" for m, d, s in zip(mean, apart.mean(0), error)) +
          f"   (from {to})")


def reconstruct(place):
    """What of photos is left, looked at in several places."""
    import common
    paths = [path for path in map(common.photo, PHOTOS) if path is not None]
    if not paths:
        print(f"photos: skipped: no photos in {common.PHOTOS} (TVLM_SHARED)")
        return
    cv2 = common.need("cv2")
    images = []
    for path in paths:
        image = cv2.imread(path, 0)
        scale = 1024 / max(image.shape)
        images.append(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else
                                 cv2.INTER_CUBIC).astype(np.float32))
    for patch in (16, 8):
        compare(cv2, place, images, patch)


def compare(cv2, place, images, patch):
    found = {(arrangement, e0): np.array([psnr_of(cv2, place, image, e0, arrangement, patch) for image in images])
             for arrangement in range(2) for e0 in E0S}
    print(f"\nPSNR of {len(images)} photos of 1024 pixels rebuilt from 273 squares of {patch}x{patch} texels, {len(LOOKED_AT)} fixations on each: "
          + " | ".join(BANDS))
    sides = [place(1024, 683, 273, [(.5, .5)], e0, 0, patch)[0]["size"].min() for e0 in E0S]
    print("  the smallest square's side: " + ", ".join(f"e0 {e0}: {side:.1f}" for e0, side in zip(E0S, sides)) +
          " (e0 is raised until it is a patch)")
    for arrangement, name in enumerate(ARRANGEMENTS):
        for e0 in E0S:
            print_difference(f"{name} e0 {e0}", f"e0 {E0_DEFAULT}", found[arrangement, e0], found[arrangement, E0_DEFAULT])
    for e0 in E0S:
        print_difference(f"log-polar e0 {e0}", f"the sunflower, e0 {e0}", found[1, e0], found[0, e0])


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    place = placer(sys.argv[1])
    bad = 0
    print(f"{'arrangement':11} {'K':>5} {'e0':>5} {'cases':>5} | covered: mean  least | twice: mean  most | the worst case")
    for arrangement, name in enumerate(ARRANGEMENTS):
        for k in (5, 8, 16, 25, 64, 273, 1000, 4000):
            for e0 in (.1, .2, .4):
                rows = table_of(place, k, e0, arrangement)
                if not rows:
                    continue
                covered, twice = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
                worst = rows[int(np.argmin(covered))][2]
                wrong = (covered.min() < COVERED or twice.max() > TWICE)
                bad += wrong
                print(f"{name:11} {k:5} {e0:5} {len(rows):5} | {covered.mean():13.3f} {covered.min():6.3f} | {twice.mean():11.3f} "
                      f"{twice.max():5.3f} | {worst}{'   OUTSIDE' if wrong else ''}")
    print("\ntime on the host, 1600x900, e0 0.2, best of 200, microseconds (sunflower, log-polar):")
    for k in (64, 273, 1000):
        times = [place(1600, 900, k, [(.5, .5)], .2, a, times=200)[1] * 1e6 for a in (0, 1)]
        print(f"  K {k:5}: {times[0]:8.1f} {times[1]:8.1f}")
    if "--law" in sys.argv:
        law(place)
        reconstruct(place)
    print("all within 95 % and 25 %" if bad == 0 else f"{bad} lines outside 95 % and 25 %")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
