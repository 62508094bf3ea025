#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""footprint.py [--build BUILD] [--device NAME] [-o out/footprint.png]: what a long, narrow footprint sees, as a picture.

A page of printed lines, drawn here. One footprint of 5 : 1 along a line stands in place of five round samples, and one round
sample as long as it sees nothing but gray: how dark each says the page is, from top to bottom; and the axes that the page
itself gives (tvlm_stack_structure). Beside it the root mean square error against the ellipse's area integral (a sum over 8x8
points a pixel, in NumPy), 1 : 1 to 16 : 1, mean and worst of 12 angles, on noise of all sizes. Exit 1 where the footprint is
not nearer to the integral than the better round sample, or does not tell lines from gaps at least as well as the five.
"""
import argparse
import ctypes
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import Library, need, np  # noqa: E402
from shared import replacing  # noqa: E402

cv2 = need("cv2")
SIDE, LINE, TALL, FIRST = 256, 20, 10, 20  # of the page: a line every 20 pixels, 10 of which are letters
RATIOS, SHORTER, ANGLES, PLACES = [1, 2, 4, 8, 16], 4.0, 12, 24
FOOTPRINT = [("x", "f4"), ("y", "f4"), ("u", "f4", 2), ("v", "f4", 2), ("index", "i4")]
POINT = [("x", "f4"), ("y", "f4"), ("level", "f4"), ("index", "i4")]


def page(rng):
    """Upright strokes of random width, height and gap, words between blanks."""
    pixels = np.full((SIDE, SIDE), 250, np.uint8)
    for top in range(FIRST, SIDE - 8 - TALL, LINE):
        x = 8
        while x < SIDE - 8:
            wide, high = rng.integers(1, 4), TALL - rng.integers(0, 4)
            pixels[top + TALL - high:top + TALL, x:x + wide] = 20
            x += wide + rng.integers(1, 4) + (5 if rng.integers(0, 6) == 0 else 0)
    return pixels


def noise(rng):
    """Steps of 1, 2, 4 ... 32 pixels, in equal parts."""
    octaves = [np.kron(rng.random((SIDE >> o, SIDE >> o)), np.ones((1 << o, 1 << o))) for o in range(6)]
    return (255 * np.mean(octaves, 0)).astype(np.uint8)


class Sampler:
    """An image's stack, and the three ways of reading it."""

    def __init__(self, library, device, pixels):
        self.library = library
        self.channel = np.array([library.channel("r")], np.int32)
        self.stack = library.stack(device, np.repeat(pixels[..., None], 3, 2), ["r", "g", "b"])

    def round(self, x, y, diameter):
        points = np.stack([x, y, np.broadcast_to(np.log2(diameter), np.shape(x))], 1)
        return self.library.sample(self.stack, points, ["r"])[:, 0]

    def ellipses(self, x, y, angle, longer, shorter):
        out = np.zeros(len(x), FOOTPRINT)
        out["x"], out["y"] = x, y
        out["u"] = np.stack([longer * np.cos(angle), longer * np.sin(angle)], -1)
        out["v"] = np.stack([-shorter * np.sin(angle), shorter * np.cos(angle)], -1)
        return out

    def footprint(self, ellipses):
        out = np.zeros(len(ellipses), np.float32)
        self.library.call("tvlm_stack_sample_footprint", self.stack, ellipses.ctypes.data_as(ctypes.c_void_p), len(ellipses),
                          self.channel.ctypes.data_as(ctypes.c_void_p), 1, out.ctypes.data_as(ctypes.c_void_p))
        return out

    def structure(self, x, y, size):
        points, out = np.zeros(len(x), POINT), np.zeros(len(x), FOOTPRINT)
        points["x"], points["y"] = x, y
        sizes = np.full(len(x), size, np.float32)
        self.library.call("tvlm_stack_structure", self.stack, points.ctypes.data_as(ctypes.c_void_p),
                          sizes.ctypes.data_as(ctypes.c_void_p), len(x), out.ctypes.data_as(ctypes.c_void_p))
        return out


def integral(pixels, e):
    """The mean over an ellipse, at 8 x 8 points in each pixel."""
    reach = 0.5 * (np.hypot(*e["u"]) + np.hypot(*e["v"])) + 1
    x0, x1 = max(0, int(e["x"] - reach)), min(SIDE, int(np.ceil(e["x"] + reach)))
    y0, y1 = max(0, int(e["y"] - reach)), min(SIDE, int(np.ceil(e["y"] + reach)))
    y, x = np.mgrid[y0:y1:0.125, x0:x1:0.125] + 0.0625
    dx, dy = x - e["x"], y - e["y"]
    det = e["u"][0] * e["v"][1] - e["u"][1] * e["v"][0]
    inside = ((dx * e["v"][1] - dy * e["v"][0]) / det) ** 2 + ((dy * e["u"][0] - dx * e["u"][1]) / det) ** 2 <= 0.25
    return pixels[y[inside].astype(int), x[inside].astype(int)].mean() / 255


def errors(sampler, pixels, rng):
    """[ratio][angle][round at the longer axis, round at the shorter, footprint]."""
    table = np.zeros((len(RATIOS), ANGLES, 3))
    for r, ratio in enumerate(RATIOS):
        longer = ratio * SHORTER
        for a in range(ANGLES):
            x, y = 1 + longer / 2 + (SIDE - longer - 2) * rng.random((2, PLACES))
            e = sampler.ellipses(x, y, np.full(PLACES, a * np.pi / ANGLES + 0.1), longer, SHORTER)
            exact = np.array([integral(pixels, one) for one in e])
            for n, got in enumerate((sampler.round(x, y, longer), sampler.round(x, y, SHORTER), sampler.footprint(e))):
                table[r, a, n] = np.sqrt(np.mean((got - exact) ** 2))
    return table


def look(sampler):
    """Down the middle of the page: y, and what five round samples, one footprint and one round sample say."""
    y = np.arange(30.0, 226.0, 0.5)
    x = np.full(len(y), SIDE / 2.0)
    five = np.mean([sampler.round(x + (i - 2) * TALL, y, float(TALL)) for i in range(5)], 0)
    one = sampler.footprint(sampler.ellipses(x, y, np.zeros(len(y)), 5.0 * TALL, float(TALL)))
    return y, five, one, sampler.round(x, y, 5.0 * TALL)


def contrast(y, values):
    """How much lighter the gaps' middles are than the lines'."""
    at = lambda offset: np.interp(np.arange(FIRST + LINE, SIDE - 60, LINE) + offset, y, values).mean()
    return at(TALL * 1.5) - at(TALL / 2)


def outline(e):
    turn = np.linspace(0, 2 * np.pi, 60)
    return (e["x"] + 0.5 * (np.cos(turn) * e["u"][0] + np.sin(turn) * e["v"][0]),
            e["y"] + 0.5 * (np.cos(turn) * e["u"][1] + np.sin(turn) * e["v"][1]))


def draw(path, pixels, sampler, profile, table, axes):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: python3-matplotlib is not installed")
        return
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(19, 6.5))
    left.imshow(pixels, cmap="gray", extent=(0, SIDE, SIDE, 0))
    for e in axes:
        left.plot(*outline(e), color="tab:green", linewidth=1)
    y = FIRST + 5 * LINE + TALL / 2
    circles = [sampler.ellipses([SIDE / 2 + (i - 2) * TALL], [y], np.zeros(1), TALL, TALL)[0] for i in range(5)]
    for e in circles:
        left.plot(*outline(e), color="tab:blue", linewidth=2)
    left.plot(*outline(sampler.ellipses([SIDE / 2], [y], np.zeros(1), 5 * TALL, TALL)[0]), color="tab:red", linewidth=2.5)
    left.plot(*outline(sampler.ellipses([SIDE / 2], [y], np.zeros(1), 5 * TALL, 5 * TALL)[0]), color="tab:gray", linewidth=2)
    left.set_title("five round samples (blue), one footprint of 5 : 1 (red), one round\nsample of that length (gray); green: the "
                   "page's own axes", fontsize=10)
    left.axis("off")
    at = profile[0]
    for values, color, name in zip(profile[1:], ("tab:blue", "tab:red", "tab:gray"), ("five round", "one footprint", "one round")):
        middle.plot(at, values, color=color, label=f"{name}: gaps lighter by {contrast(at, values):.3f}")
    for top in range(FIRST, SIDE - 8 - TALL, LINE):
        middle.axvspan(top, top + TALL, color="black", alpha=0.06)
    middle.set(xlim=(at[0], at[-1]), xlabel="from top to bottom of the page, pixels (shaded: lines)", ylabel="brightness read")
    middle.legend(fontsize=9, loc="lower right")
    for n, (color, name) in enumerate((("tab:gray", "one round sample, longer axis"), ("tab:blue", "one round sample, shorter axis"),
                                       ("tab:red", "footprint"))):
        right.plot(RATIOS, table[:, :, n].mean(1), color=color, marker="o", label=name)
        right.fill_between(RATIOS, table[:, :, n].min(1), table[:, :, n].max(1), color=color, alpha=0.15)
    right.set_xscale("log", base=2)
    right.set_xticks(RATIOS, [f"{r} : 1" for r in RATIOS])
    right.set(ylabel="rms error against the ellipse's integral", ylim=(0, None))
    right.set_title(f"shorter axis {SHORTER:.0f} pixels; bands: {ANGLES} angles", fontsize=10)
    right.legend(fontsize=9)
    right.grid(alpha=0.3)
    figure.tight_layout()
    with replacing(path) as part:
        figure.savefig(part, dpi=80)
    print(f"picture: {path}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--device")
    parser.add_argument("-o", "--output", default=os.path.join(HERE, "..", "out", "footprint.png"))
    options = parser.parse_args()
    os.makedirs(os.path.dirname(os.path.abspath(options.output)), exist_ok=True)
    library, rng = Library(os.path.join(options.build, "lib", "libtexturevlm.so")), np.random.default_rng(9)
    device = library.open(options.device)
    printed, random = page(rng), noise(rng)
    on_page, on_noise = Sampler(library, device, printed), Sampler(library, device, random)
    table = errors(on_noise, random, rng)
    print("rms error against the ellipse's integral, mean (worst) of 12 angles")
    print("            round, longer axis   round, shorter axis            footprint")
    for ratio, row in zip(RATIOS, table):
        print(f"  {ratio:2d} : 1 " + "".join(f"{row[:, n].mean():13.4f} ({row[:, n].max():.4f})" for n in range(3)))
    profile = look(on_page)
    contrasts = [contrast(profile[0], values) for values in profile[1:]]
    print("the page: gaps are lighter than lines by %.3f as five round samples see it, %.3f one footprint of 5 : 1, %.3f one round "
          "sample of that length" % tuple(contrasts))
    x, y = (at.ravel() for at in np.meshgrid(np.arange(38.0, 230.0, 60.0), FIRST + TALL / 2 + np.array([1.0, 4.0, 7.0, 10.0]) * LINE))
    axes = on_page.structure(x, y, 2.5 * LINE)
    off = np.degrees(np.abs(np.arctan2(axes["u"][:, 1], axes["u"][:, 0])))
    print(f"the page's own axes at {len(axes)} points: {off.mean():.1f} degrees off the lines on average, "
          f"{np.mean(np.hypot(*axes['u'].T) / np.hypot(*axes['v'].T)):.1f} : 1")
    draw(options.output, printed, on_page, profile, table, axes)
    wrong = (table[:, :, 2].mean(1) >= table[:, :, :2].mean(1).min(1)).any() or contrasts[1] < contrasts[0]
    for sampler in (on_page, on_noise):
        library.destroy_stack(sampler.stack)
    library.close(device)
    sys.exit(1 if wrong else 0)


main()
