#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `saliency` finds what people outlined: mean AUC over the photos of ../shared/data/boxes/coco_panoptic
(things are foreground; photos of up to 50 % foreground), beside OpenCV's saliencies, the distance from the centre, and
plain centre-surround; then the constants by leave-one-out, with a third writing of the definition in NumPy that the
tool must agree with.

    bench/saliency.py [--tvlm TVLM] [--data FOLDER] [--device NAME] [--no-search | --floors]

--floors: the tool alone, and whether its mean AUC has fallen (ci/full).

Exit: 0; 1 when the tool is not above all the others, or is below the floor, or differs from the definition; 77 without the data
or OpenCV.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from images import labels
from measures import auc
from shared import DATA

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHANNELS = ["saliency", "saliency_fine", "saliency_mid", "saliency_coarse"]

# lib/core/constants.h
FIRST, STEP, SIDE, STRIP, ROUNDS = 2, 3, 80, 10, 2
COST_FLOOR, BORDER_FLOOR = 10.0, 1.0
SHIPPED = {"clip": 2.0, "spread": 2.5, "border": 1.0, "contrast": 0.25}
FLOOR = 0.87  # of the mean AUC: it was 0.879 (PoCL 3.1)
SEARCH = {"clip": (1.0, 2.0, 3.0), "spread": (1.25, 2.5, 5.0, 10.0), "border": (0.5, 1.0, 2.0),
          "contrast": (0.0, 0.25, 0.5, 1.0)}


def photos(folder):
    with open(os.path.join(folder, "panoptic_val2017.json")) as f:
        panoptic = json.load(f)
    thing = {c["id"]: c["isthing"] for c in panoptic["categories"]}
    for note in panoptic["annotations"]:
        name = note["file_name"][:-4]
        if not os.path.exists(os.path.join(folder, name + ".jpg")):
            continue
        mask = np.isin(labels(name, folder), [s["id"] for s in note["segments_info"] if thing[s["category_id"]]])
        if 0 < mask.mean() <= 0.5:
            yield name, cv2.imread(os.path.join(folder, name + ".jpg")), mask


# ---- The definition (doc/channels.md) once more ----

def resize(image, width, height, how=cv2.INTER_LINEAR):
    return cv2.resize(image.astype(np.float32), (width, height), interpolation=how)


def to_lab(bgr):
    """CIE L*a*b* (D65) of encoded sRGB; OpenCV's own is a table, good to half a unit."""
    linear = np.where(bgr <= 0.04045, bgr / 12.92, ((bgr + 0.055) / 1.055)**2.4)[..., ::-1]
    xyz = linear @ (np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                              [0.0193339, 0.1191920, 0.9503041]]).T / [0.95047, 1.0, 1.08883])
    f = np.where(xyz > (6 / 29)**3, np.cbrt(xyz), xyz * (29 / 6)**2 / 3 + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def lab_levels(image):
    levels = [image.astype(np.float32) / 255]
    while max(levels[-1].shape[:2]) > 1:
        h, w = levels[-1].shape[:2]
        levels.append(resize(levels[-1], max(w // 2, 1), max(h // 2, 1), cv2.INTER_AREA))
    return [to_lab(level.astype(np.float64)) for level in levels]


def contrasts(levels):
    """fine, mid, coarse: centre against a surround STEP levels coarser, at level FIRST, over 100."""
    h, w = levels[FIRST].shape[:2]
    end = len(levels) - 1
    made = []
    for centre in range(FIRST, FIRST + 3):
        apart = resize(levels[min(centre, end)], w, h) - resize(levels[min(centre + STEP, end)], w, h)
        made.append(np.minimum(np.sqrt((apart**2).sum(-1)) / 100, 1))
    return made


def work_level(levels):
    return next(n for n in range(FIRST, len(levels)) if max(levels[n].shape[:2]) <= SIDE)


def path_costs(colours, clip):
    """The cheapest 4-connected path from the border: a step costs what its colour difference exceeds `clip` by."""
    across = np.maximum(np.sqrt(((colours[:, 1:] - colours[:, :-1])**2).sum(-1)) - clip, 0)
    down = np.maximum(np.sqrt(((colours[1:] - colours[:-1])**2).sum(-1)) - clip, 0)
    h, w = colours.shape[:2]
    cost = np.full((h, w), 1e30)
    cost[[0, -1]] = 0
    cost[:, [0, -1]] = 0
    for _ in range(ROUNDS):
        for y in range(1, h):
            cost[y] = np.minimum(cost[y], cost[y - 1] + down[y - 1])
        for y in range(h - 2, -1, -1):
            cost[y] = np.minimum(cost[y], cost[y + 1] + down[y])
        for x in range(1, w):
            cost[:, x] = np.minimum(cost[:, x], cost[:, x - 1] + across[:, x - 1])
        for x in range(w - 2, -1, -1):
            cost[:, x] = np.minimum(cost[:, x], cost[:, x + 1] + across[:, x])
    return cost


def border_distance(colours, spread):
    """The Mahalanobis distance from the colours along a side of the image: of the nearest of the four."""
    strip = max(1, max(colours.shape[:2]) // STRIP)
    distances = []
    for side in (colours[:strip], colours[-strip:], colours[:, :strip], colours[:, -strip:]):
        side = side.reshape(-1, 3).astype(np.float64)
        inverse = np.linalg.inv(np.cov(side.T, bias=True) + spread * np.eye(3))
        apart = colours - side.mean(0)
        distances.append(np.sqrt(np.einsum("hwi,ij,hwj->hw", apart, inverse, apart)))
    return np.min(distances, 0)


class Parts:
    """What the constants combine, each made once for all settings."""

    def __init__(self, image):
        self.levels = lab_levels(image)
        h, w = self.levels[FIRST].shape[:2]
        self.size = (w, h)
        self.contrasts = contrasts(self.levels)
        self.colours = self.levels[work_level(self.levels)]
        self.made = {}

    def scaled(self, make, setting, floor):
        if (make, setting) not in self.made:
            values = make(self.colours, setting)
            self.made[make, setting] = resize(values / max(values.max(), floor), *self.size)
        return self.made[make, setting]

    def saliency(self, clip, spread, border, contrast):
        total = (self.scaled(path_costs, clip, COST_FLOOR)
                 + border * self.scaled(border_distance, spread, BORDER_FLOOR) + contrast * sum(self.contrasts) / 3)
        return total / total.max()


# ---- The others, and the tool ----

def from_centre(image):
    h, w = image.shape[:2]
    y, x = np.mgrid[:h, :w]
    return -np.hypot((x + 0.5) / w - 0.5, (y + 0.5) / h - 0.5)


def from_opencv(name):
    make = getattr(getattr(cv2, "saliency", None), f"StaticSaliency{name}_create", None)
    if make is None:
        print(f"skipped: this OpenCV has no {name} (contrib)", file=sys.stderr)
    return (lambda image: make().computeSaliency(image)[1]) if make else None


def from_tool(tvlm, device, image):
    """The tool's four channels at the family's own size. A PNG, since decoders of JPEG differ."""
    with tempfile.TemporaryDirectory() as folder:
        picture, stack = os.path.join(folder, "p.png"), os.path.join(folder, "s.npy")
        cv2.imwrite(picture, image)
        command = [tvlm, "channels", picture, "-o", stack, "--channels", ",".join(CHANNELS), "--format", "f32",
                   "--level", str(FIRST)]
        subprocess.run(command + (["--device", device] if device else []), check=True)
        return np.load(stack)


def search(parts, masks):
    """Leave-one-out: the setting that is best on the others, judged on the one left out."""
    settings = [dict(zip(SEARCH, values)) for values in itertools.product(*SEARCH.values())]
    score = np.zeros((len(settings), len(masks)))
    for j, (part, mask) in enumerate(zip(parts, masks)):
        small = resize(mask, *part.size, cv2.INTER_NEAREST) > 0.5
        for i, setting in enumerate(settings):
            score[i, j] = auc(part.saliency(**setting), small)
    held_out, chosen = [], []
    for j in range(len(masks)):
        best = int(np.argmax(np.delete(score, j, 1).mean(1)))
        chosen.append(settings[best])
        held_out.append(score[best, j])
    means = score.mean(1)
    print(f"\nleave-one-out over {len(settings)} settings: {np.mean(held_out):.3f}"
          f"  (each setting on all photos: {means.min():.3f} to {means.max():.3f};"
          f" as built: {means[settings.index(SHIPPED)]:.3f})")
    for name in SEARCH:
        print(f"  {name:9s} chosen: {sorted(c[name] for c in chosen)}  as built: {SHIPPED[name]}")
    print(f"  best on all: {settings[int(np.argmax(means))]}")


def check_floor(options, all_photos):
    """Whether the tool alone is as good as it was, and still what the definition says."""
    values, worst = [], 0.0
    for _, image, mask in all_photos:
        plane = from_tool(options.tvlm, options.device, image)[0]
        values.append(auc(resize(plane, mask.shape[1], mask.shape[0]), mask))
        worst = max(worst, float(np.abs(plane - Parts(image).saliency(**SHIPPED)).max()))
    print(f"saliency: mean AUC {np.mean(values):.4f} over {len(values)} photos (at least {FLOOR}); differs from the definition in "
          f"NumPy by at most {worst:.1e} (at most 1e-4)")
    return 0 if np.mean(values) >= FLOOR and worst < 1e-4 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tvlm", default=os.path.join(ROOT, "build", "tools", "tvlm"))
    parser.add_argument("--data", default=os.path.join(DATA, "boxes", "coco_panoptic"))
    parser.add_argument("--device", help="as the tool takes it")
    parser.add_argument("--no-search", action="store_true", help="leave out the search for constants")
    parser.add_argument("--floors", action="store_true", help="only whether the tool is as good as it was")
    options = parser.parse_args()
    if not os.path.isdir(options.data) or not os.access(options.tvlm, os.X_OK):
        print(f"skipped: no {options.data} or no {options.tvlm}", file=sys.stderr)
        return 77

    all_photos = list(photos(options.data))
    if not all_photos:
        print(f"skipped: no photos in {options.data}", file=sys.stderr)
        return 77
    if options.floors:
        return check_floor(options, all_photos)
    peers = {"spectral residual (OpenCV)": from_opencv("SpectralResidual"),
             "fine grained (OpenCV)": from_opencv("FineGrained"), "distance from centre": from_centre}
    table, parts, worst = {}, [], 0.0
    for _, image, mask in all_photos:
        h, w = mask.shape
        for label, function in peers.items():
            if function:
                table.setdefault(label, []).append(auc(function(image), mask))
        part = Parts(image)
        parts.append(part)
        table.setdefault("centre-surround", []).append(auc(resize(sum(part.contrasts), w, h), mask))
        planes = from_tool(options.tvlm, options.device, image)
        for label, plane in zip(CHANNELS, planes):
            table.setdefault("tvlm " + label, []).append(auc(resize(plane, w, h), mask))
        worst = max(worst, float(np.abs(planes[0] - part.saliency(**SHIPPED)).max()))

    ours = table.pop("tvlm saliency")
    print("AUC".ljust(30) + "  ".join(name[-5:] for name, _, _ in all_photos) + "   mean")
    for label, row in sorted(table.items(), key=lambda item: np.mean(item[1])) + [("tvlm saliency", ours)]:
        print(label.ljust(30) + "  ".join(f"{value:.3f}" for value in row) + f"  {np.mean(row):.3f}")
    print(f"tvlm saliency differs from the definition in NumPy by at most {worst:.1e}")
    if not options.no_search:
        search(parts, [mask for _, _, mask in all_photos])
    above = np.mean(ours) > max(np.mean(row) for row in table.values())
    return 0 if above and worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
