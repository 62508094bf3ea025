#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py TVLM [--rounds N] [--threads N] [--side N] [--device NAME] [--json FILE]: each stage beside the same done by OpenCV and PyTorch.

One square image (1024x1024, or another power of two by --side), the same cores, one session: `tvlm bench` of one family, then the
peers' versions of it, then again, N rounds; the median of all rounds counts (machines are noisy, and drift). Both sides start from data in memory and the peers
write into arrays that exist already where their interface can. What is compared is the time of the same result: first of
all each peer's result is compared with the tool's own (peers_check.py). The fastest peer counts. What is another result, and why:

    copy, upload      bytes that are moved; there is nothing to compare
    saliency          OpenCV's first map is the mean of the other three: the tool's also looks at the border, which costs it more
    select, uploaded  therefore other positions (how many are the same is told); the score, its weights and the top K are the tool's
    cluster           the same number of regions and compactness, other rules for what is joined; no tables, no borders of regions
    sample 273        one level of each texture, at which it is compared; the tool reads two, and what lies between

Scores, samples and packs read the tool's own saliency and entropy, which "select, uploaded" makes itself.

"same work" is the fastest peer's time where it does what the tool does on what the tool has: channels taken out of texels
of four floats, the position by its formula, two levels at a point. It explains, and counts for nothing. "of copy" is the
share of the device's own copy bandwidth that the stage's bytes are moved at.

A stage "loses" when it is slower than the fastest peer both by the median and by the smallest of the rounds; no family may lose, and no stage of more than 5 ms.
Exit 1 when one loses that must not, 77 where neither OpenCV nor PyTorch is there.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("tool")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--side", type=int, default=1024, help="of the image, a power of two from 512 on")
parser.add_argument("--device")
parser.add_argument("--json")
parser.add_argument("--only", action="append", help="stages with this in their name; several times: with one of them")
options = parser.parse_args()
os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", str(options.threads))  # the tool's

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import SKIPPED, generate, np, random_pixels, run, save_ppm  # noqa: E402
import peers_check  # noqa: E402
from shared import write_json  # noqa: E402

try:
    import cv2
    cv2.setNumThreads(options.threads)
except ImportError:
    cv2 = None
try:
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
except ImportError:
    torch = None
try:
    from scipy import ndimage
except ImportError:
    ndimage = None
try:
    from skimage.segmentation import slic
except ImportError:
    slic = None
if cv2 is None or torch is None:
    print("note: OpenCV and PyTorch are both needed for a full table; missing:",
          ", ".join(name for name, module in (("OpenCV", cv2), ("PyTorch", torch)) if module is None))
if cv2 is None:
    sys.exit(SKIPPED)  # it prepares the data, too

SIDE, CELL, K = options.side, 16, 273
if SIDE < 512 or SIDE & (SIDE - 1):  # 273 cells are chosen
    sys.exit(f"--side is {SIDE}, not a power of two from 512 on")
FAMILIES = ("source", "visual", "saliency", "laplacian", "entropy", "gradient", "distance", "cluster")
SLOW_MS = 5.0
LUMA = np.array([[0.299, 0.587, 0.114]], np.float32)
BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32) / 16
EDGE = cv2.BORDER_REPLICATE


def plane(*shape):
    return np.zeros(shape, np.float32)


def of_tool(names, level):
    """[y][x][channel] of the image, as the tool makes it."""
    with tempfile.TemporaryDirectory() as folder:
        save_ppm(os.path.join(folder, "image.ppm"), pixels)
        made = generate(options.tool, os.path.join(folder, "image.ppm"), names, options.device, level=level)
    return np.ascontiguousarray(made.transpose(1, 2, 0))


# ---- What the peers work on and into ----

pixels = random_pixels(SIDE, SIDE, 1)
rgba = plane(SIDE, SIDE, 4)
rgba[..., :3] = pixels / np.float32(255)
rgba[..., 3] = rgba[..., :3] @ LUMA[0]
luma = np.ascontiguousarray(rgba[..., 3])
rgb = np.ascontiguousarray(rgba[..., :3])
ys, xs = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) + 0.5
x_map, y_map = xs / SIDE, ys / SIDE
eccentricity = np.hypot(xs - SIDE / 2, ys - SIDE / 2).astype(np.float32) / np.float32(np.hypot(SIDE / 2, SIDE / 2))


def halves(side):
    while side > 1:
        side //= 2
        yield side


def buffers_for(side, channels):
    return [plane(n, n, channels) if channels > 1 else plane(n, n) for n in halves(side)]


def cv_levels(first, buffers):
    for buffer in buffers:
        n = buffer.shape[0]
        cv2.resize(first, (n, n), dst=buffer, interpolation=cv2.INTER_AREA)
        first = buffer
    return buffers


def torch_levels(first):
    made = []
    while first.shape[-1] > 1:
        first = F.avg_pool2d(first, 2)
        made.append(first)
    return made


def levels_of(first):
    buffers = buffers_for(first.shape[0], first.shape[2] if first.ndim == 3 else 1)
    cv_levels(first, buffers)
    return buffers


source_levels = levels_of(rgba)
tensor = None if torch is None else (lambda array: torch.from_numpy(np.ascontiguousarray(array)))
out = {name: plane(SIDE, SIDE) for name in "abcdefgh"}
out4 = {name: plane(SIDE, SIDE, 4) for name in "ab"}
out3 = {name: plane(SIDE, SIDE, 3) for name in "ab"}


def cv_source():
    cv2.multiply(pixels, (1 / 255.0,) * 4, dst=out3["a"], dtype=cv2.CV_32F)
    cv2.transform(out3["a"], LUMA, dst=out["a"])
    cv2.mixChannels([out3["a"], out["a"]], [out4["a"]], [0, 0, 1, 1, 2, 2, 3, 3])
    return out4["a"]


to_rgba = np.concatenate([np.eye(3), LUMA.astype(np.float64)]).astype(np.float32) / 255


def cv_source_in_one():
    cv2.transform(pixels.astype(np.float32), to_rgba, dst=out4["b"])
    return out4["b"]


def torch_source():
    f = tensor(pixels).float().mul_(1 / 255.0)
    y = f[..., 0:1] * 0.299 + f[..., 1:2] * 0.587 + f[..., 2:3] * 0.114
    return torch.cat([f, y], -1).numpy()


def cv_visual():
    gx = cv2.Sobel(luma, cv2.CV_32F, 1, 0, dst=out["a"], ksize=3, scale=0.25, borderType=EDGE)
    gy = cv2.Sobel(luma, cv2.CV_32F, 0, 1, dst=out["b"], ksize=3, scale=0.25, borderType=EDGE)
    edges = cv2.magnitude(gx, gy, magnitude=out["c"])
    cv2.min(edges, 1.0, dst=edges)
    inverse = cv2.subtract(1.0, edges, dst=out["d"])
    low = cv2.sepFilter2D(luma, cv2.CV_32F, BINOMIAL, BINOMIAL, dst=out["e"], borderType=EDGE)
    high = cv2.addWeighted(luma, 0.5, low, -0.5, 0.5, dst=out["f"])
    return cv2.merge([edges, inverse, high, low], dst=out4["a"])


if torch is not None:
    luma_t = tensor(luma)[None, None]
    sobel = torch.tensor([[[-1., 0, 1], [-2, 0, 2], [-1, 0, 1]], [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]])[:, None] / 4
    row_t, column_t = tensor(BINOMIAL).view(1, 1, 1, 5), tensor(BINOMIAL).view(1, 1, 5, 1)
    laplace_t = torch.tensor([[0., 1, 0], [1, -4, 1], [0, 1, 0]]).view(1, 1, 3, 3) / 4
    rgb_t = tensor(rgb.transpose(2, 0, 1))[None]


def torch_visual():
    g = F.conv2d(F.pad(luma_t, (1, 1, 1, 1), mode="replicate"), sobel)
    edges = (g * g).sum(1, True).sqrt_().clamp_(max=1)
    low = F.conv2d(F.conv2d(F.pad(luma_t, (2, 2, 2, 2), mode="replicate"), row_t), column_t)
    return torch.cat([edges, 1 - edges, 0.5 + 0.5 * (luma_t - low), low], 1)[0].permute(1, 2, 0).numpy()


def cv_laplacian():
    return cv2.Laplacian(luma, cv2.CV_32F, dst=out["a"], ksize=1, scale=0.25, borderType=EDGE)


def torch_laplacian():
    return F.conv2d(F.pad(luma_t, (1, 1, 1, 1), mode="replicate"), laplace_t)[0, 0].numpy()


CELLS = SIDE // CELL
cell_base = (np.arange(SIDE) // CELL)[:, None] * CELLS + (np.arange(SIDE) // CELL)[None]
cell_base = np.ascontiguousarray(16 * cell_base, np.int32)


def entropy_from(counts):
    p = counts.reshape(CELLS, CELLS, 16) * np.float32(1 / (CELL * CELL))
    return -(p * np.log2(np.maximum(p, 1e-30))).sum(2) / 4


def numpy_entropy():
    bins = np.minimum((luma * 16).astype(np.int32), 15)
    return entropy_from(np.bincount((bins + cell_base).ravel(), minlength=16 * CELLS * CELLS).astype(np.float32))


def cv_entropy():
    """OpenCV has no histogram a cell: one mask a bin, averaged over the cells by resize's INTER_AREA."""
    bins = cv2.multiply(luma, 16.0, dst=out["a"])
    counts = np.empty((16, CELLS, CELLS), np.float32)
    quantised = np.minimum(bins, 15).astype(np.uint8)
    for b in range(16):
        mask = cv2.compare(quantised, b, cv2.CMP_EQ)
        # boxFilter would do; INTER_AREA of bytes rounds to 1/255 of 256 pixels, so in float
        counts[b] = cv2.resize(mask.astype(np.float32), (CELLS, CELLS), interpolation=cv2.INTER_AREA)
    p = counts.transpose(1, 2, 0) / np.float32(255)
    return -(p * np.log2(np.maximum(p, 1e-30))).sum(2) / 4


cell_base_t = None if torch is None else tensor(cell_base).long()


def torch_entropy():
    bins = (luma_t[0, 0] * 16).int().clamp_(max=15)
    counts = torch.bincount((bins + cell_base_t).flatten(), minlength=16 * CELLS * CELLS)
    p = counts.view(CELLS, CELLS, 16).float() / (CELL * CELL)
    return (-(p * p.clamp(min=1e-30).log2()).sum(2) / 4).numpy()


def cv_gradient():
    gx = cv2.Sobel(luma, cv2.CV_32F, 1, 0, dst=out["a"], ksize=3, scale=0.25, borderType=EDGE)
    gy = cv2.Sobel(luma, cv2.CV_32F, 0, 1, dst=out["b"], ksize=3, scale=0.25, borderType=EDGE)
    total = cv2.transform(rgb, np.full((1, 3), 1 / 3, np.float32), dst=out["c"])
    squares = cv2.transform(cv2.multiply(rgb, rgb, dst=out3["a"]), np.full((1, 3), 1 / 3, np.float32), dst=out["d"])
    mean = cv2.blur(total, (3, 3), dst=out["e"], borderType=EDGE)
    square = cv2.blur(squares, (3, 3), dst=out["f"], borderType=EDGE)
    cv2.multiply(mean, mean, dst=out["g"])
    variance = cv2.addWeighted(square, 4.0, out["g"], -4.0, 0.0, dst=out["h"])
    cv2.max(variance, 0.0, dst=variance)
    cv2.min(variance, 1.0, dst=variance)
    return cv2.merge([gx, gy, variance, mean], dst=out4["a"])


def torch_gradient():
    g = F.conv2d(F.pad(luma_t, (1, 1, 1, 1), mode="replicate"), sobel)
    both = torch.cat([rgb_t.mean(1, True), (rgb_t * rgb_t).mean(1, True)], 1)
    means = F.avg_pool2d(F.pad(both, (1, 1, 1, 1), mode="replicate"), 3, 1)
    mean, square = means[:, :1], means[:, 1:]
    variance = (4 * (square - mean * mean)).clamp_(0, 1)
    return torch.cat([g, variance, mean], 1)[0].permute(1, 2, 0).numpy()


QUARTER = SIDE // 4
quarter = [plane(QUARTER, QUARTER, 3) for _ in range(3)]


def cv_saliency():
    """As cl/saliency.cl: L*a*b* of levels 2..7, centres 2, 3, 4 against surrounds three levels coarser.
    Its first map is their mean only: the tool's also looks at the border, which costs it more (bench/saliency.py)."""
    lab = {n: cv2.cvtColor(np.ascontiguousarray(source_levels[n - 1][..., :3]), cv2.COLOR_RGB2Lab) for n in range(2, 8)}
    maps = []
    for n in (2, 3, 4):
        centre = lab[n] if n == 2 else cv2.resize(lab[n], (QUARTER, QUARTER), dst=quarter[0])
        surround = cv2.resize(lab[n + 3], (QUARTER, QUARTER), dst=quarter[1])
        apart = cv2.subtract(centre, surround, dst=quarter[2])
        square = cv2.transform(cv2.multiply(apart, apart, dst=apart), np.ones((1, 3), np.float32))
        distance = cv2.sqrt(square)
        maps.append(cv2.min(cv2.multiply(distance, 0.01, dst=distance), 1.0, dst=distance))
    maps.insert(0, (maps[0] + maps[1] + maps[2]) * np.float32(1 / 3))
    return cv2.merge([m * np.float32(1 / cv2.minMaxLoc(m)[1]) for m in maps])


# ---- Distance: the peers get the mask of edge pixels as they like it; the tool finds them itself ----

RANGE = np.float32(SIDE / 8)
not_edge = np.ones((SIDE, SIDE), np.uint8)  # 0 at edge pixels; filled in by peers_check


def cv_distance():
    pixels_away = cv2.distanceTransform(not_edge, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, dst=out["a"])
    return cv2.min(cv2.multiply(pixels_away, 1 / float(RANGE), dst=pixels_away), 1.0, dst=pixels_away)


def scipy_distance():
    return np.minimum(ndimage.distance_transform_edt(not_edge).astype(np.float32) / RANGE, np.float32(1))


# ---- Regions: the same number and compactness, ten iterations, connected; without our region tables and borders ----

REGIONS, COMPACTNESS = 50, 10.0


def cv_cluster():
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2Lab)
    work = cv2.ximgproc.createSuperpixelSLIC(lab, cv2.ximgproc.SLIC, int(round((SIDE * SIDE / REGIONS) ** 0.5)), COMPACTNESS)
    work.iterate(10)
    work.enforceLabelConnectivity()
    return work.getLabels()


def skimage_cluster():
    return slic(pixels, n_segments=REGIONS, compactness=COMPACTNESS, max_num_iter=10, start_label=0)


# ---- From frame to frame ----

FLOW = (3.0, -2.0, 1.0)  # pixels, and how sure, as `tvlm bench` has it
cells_state = np.repeat(of_tool(["saliency"], 4), 3, 2)
flow_x, flow_y = (np.float32(step / CELL) for step in FLOW[:2])
warp_x, warp_y = np.meshgrid(np.arange(SIDE // CELL, dtype=np.float32) + flow_x, np.arange(SIDE // CELL, dtype=np.float32) + flow_y)


def cv_temporal():
    return cv2.remap(cells_state, warp_x, warp_y, cv2.INTER_LINEAR, borderMode=EDGE)


if torch is not None:
    state_t = tensor(cells_state.transpose(2, 0, 1))[None]
    step_t = tensor(np.stack([warp_x, warp_y], 2))[None]


def torch_temporal():
    """With the step from cells to grid_sample's coordinates, which is part of warping by a flow."""
    grid = (step_t * 2 + 1) / (SIDE // CELL) - 1
    return F.grid_sample(state_t, grid, mode="bilinear", padding_mode="border", align_corners=False)


half_luma = np.ascontiguousarray(source_levels[0][..., 3])
half_before = np.roll(half_luma, 3, 1)


def cv_motion():
    return cv2.absdiff(half_luma, half_before, dst=half_out)


half_out = np.zeros_like(half_luma)
visual = cv_visual().copy()
gradient = cv_gradient().copy()
laplacian = cv_laplacian().copy()
# What scores, samples and packs read is the tool's own where the peers' differs: saliency's first map, and entropy on a bin's border.
entropy = of_tool(["entropy"], 4)[..., 0]
saliency = of_tool(["saliency", "saliency_fine", "saliency_mid", "saliency_coarse"], 2)
visual_levels, saliency_levels = levels_of(visual), levels_of(saliency)
edges_plane = np.ascontiguousarray(visual[..., 0])
saliency_plane = np.ascontiguousarray(saliency[..., 0])


WEIGHTS = (0.3, 0.7, 0.0)  # the tool's without a question (doc/channels.md)


def combine(edges, entropy_map, saliency_map, distance):
    """The score without a question: both parts by their smallest and largest."""
    information = cv2.addWeighted(cv2.min(cv2.multiply(edges, 4.0), 1.0), 0.5, entropy_map, 0.5, 0)
    perspective = cv2.addWeighted(saliency_map, 0.7, distance, -0.3, 0.3)
    (low_i, high_i), (low_p, high_p) = cv2.minMaxLoc(information)[:2], cv2.minMaxLoc(perspective)[:2]
    a, b = WEIGHTS[0] / (high_i - low_i), WEIGHTS[1] / (high_p - low_p)
    return cv2.addWeighted(information, a, perspective, b, -a * low_i - b * low_p)


def cv_score_pixels():
    return combine(edges_plane, cv2.resize(entropy, (SIDE, SIDE)), cv2.resize(saliency_plane, (SIDE, SIDE)), eccentricity)


def torch_score_pixels():
    up = dict(size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    e = F.interpolate(tensor(entropy)[None, None], **up)[0, 0]
    s = F.interpolate(tensor(saliency_plane)[None, None], **up)[0, 0]
    i = 0.5 * (4 * tensor(edges_plane)).clamp(max=1) + 0.5 * e
    p = 0.7 * s + 0.3 * (1 - tensor(eccentricity))
    (low_i, high_i), (low_p, high_p) = torch.aminmax(i), torch.aminmax(p)
    return WEIGHTS[0] * (i - low_i) / (high_i - low_i) + WEIGHTS[1] * (p - low_p) / (high_p - low_p)


cell_centres = (np.arange(CELLS, dtype=np.float32) + np.float32(0.5)) * np.float32(CELL) - np.float32(SIDE / 2)
cell_eccentricity = np.hypot(cell_centres[:, None], cell_centres[None]) / np.float32(np.hypot(SIDE / 2, SIDE / 2))


def cv_score_cells(visual_levels=visual_levels, entropy=entropy, saliency_levels=saliency_levels):
    return combine(np.ascontiguousarray(visual_levels[3][..., 0]), entropy,
                   np.ascontiguousarray(saliency_levels[1][..., 0]), cell_eccentricity)


rng = np.random.default_rng(1)
few, many = rng.random(4096, np.float32), rng.random(1 << 20, np.float32)


def numpy_topk(scores):
    best = np.argpartition(scores, len(scores) - K)[-K:]
    return best[np.argsort(-scores[best], kind="stable")]


def torch_topk(scores):
    return torch.topk(tensor(scores), K)


if torch is not None:
    family_t = [tensor(array.transpose(2, 0, 1) if array.ndim == 3 else array[None])[None]
                for array in (rgba, visual, saliency, laplacian, entropy, gradient)]
    points_t = torch.rand(1, 1, K, 2) * 2 - 1


def torch_sample():
    """Level 0 only: half of what the tool does, which reads two levels."""
    return [F.grid_sample(t, points_t, mode="bilinear", padding_mode="border", align_corners=False) for t in family_t]


PACKED = 20
packed = [plane(SIDE, SIDE, 4) for _ in range(PACKED // 4)]


def cv_pack():
    """20 channels, four to an array; what is of another size is brought to this one; position comes from memory."""
    s = cv2.resize(saliency, (SIDE, SIDE), dst=out4["b"])
    e = cv2.resize(entropy, (SIDE, SIDE), dst=out["a"])
    # inputs' channels: rgba 0-3, visual 4-7, saliency 8-11, gradient 12-15, laplacian 16, entropy 17, x 18, y 19, e. 20
    take = [0, 1, 2, 4, 5, 6, 7, 8, 18, 19, 20, 16, 17, 12, 13, 14, 15, 9, 10, 11]
    cv2.mixChannels([rgba, visual, s, gradient, laplacian, e, x_map, y_map, eccentricity], packed,
                    [n for i, channel in enumerate(take) for n in (channel, i)])
    return packed


def cv_select():
    """From pixels to the 273 best cells: what the default score reads."""
    global rgb, luma
    source = cv_source()
    levels = buffers_select["source"]
    cv_levels(source, levels)
    v = cv_visual()
    cv_levels(v, buffers_select["visual"][:4])
    s = cv_saliency()
    cv_levels(s, buffers_select["saliency"][:2])
    e = numpy_entropy().astype(np.float32)
    return numpy_topk(cv_score_cells(buffers_select["visual"], e, buffers_select["saliency"]).ravel())


def cv_select_again():
    return numpy_topk(cv_score_cells().ravel())


buffers_select = {"source": buffers_for(SIDE, 4), "visual": buffers_for(SIDE, 4), "saliency": buffers_for(QUARTER, 4)}
buffers = {4: buffers_for(SIDE, 4), 1: buffers_for(SIDE, 1), "quarter": buffers_for(QUARTER, 4),
           "cells": buffers_for(CELLS, 1)}


def torch_pack():
    """Each channel to the image's size, four to an array."""
    up = dict(size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    source_t, visual_t, saliency_t, laplacian_t, entropy_t, gradient_t = family_t
    planes = torch.cat([source_t[:, :3], visual_t, F.interpolate(saliency_t, **up), position_t, laplacian_t,
                        F.interpolate(entropy_t, **up), gradient_t], 1)
    return planes[:, :PACKED].reshape(PACKED // 4, 4, SIDE, SIDE)


position_t = None if torch is None else tensor(np.stack([x_map, y_map, eccentricity]))[None]


# ---- What the tool does beyond its peers, done by the peers, too ----

half_rgba = np.ascontiguousarray(source_levels[0])
edges_out, saliency_out, half_luma_out = plane(SIDE, SIDE), plane(QUARTER, QUARTER), plane(SIDE // 2, SIDE // 2)
dx_row, dy_column = xs[:1] - SIDE / 2, ys[:, :1] - SIDE / 2
farthest = float(np.hypot(SIDE / 2, SIDE / 2))


def cv_laplacian_of_texels():
    cv2.extractChannel(rgba, 3, dst=out["h"])
    return cv2.Laplacian(out["h"], cv2.CV_32F, dst=out["a"], ksize=1, scale=0.25, borderType=EDGE)


def cv_visual_of_texels():
    cv2.extractChannel(rgba, 3, dst=out["h"])
    return cv_visual()


def cv_motion_of_texels():
    cv2.extractChannel(half_rgba, 3, dst=half_luma_out)
    apart = cv2.absdiff(half_luma_out, half_before, dst=half_out)
    return cv2.min(apart, 1.0, dst=apart)


def eccentricities():
    squares = np.add(dx_row * dx_row, dy_column * dy_column, out=out["g"])
    return cv2.multiply(cv2.sqrt(squares, dst=squares), 1 / farthest, dst=squares)


def cv_score_of_texels():
    cv2.extractChannel(visual, 0, dst=edges_out)
    cv2.extractChannel(saliency, 0, dst=saliency_out)
    return combine(edges_out, cv2.resize(entropy, (SIDE, SIDE)), cv2.resize(saliency_out, (SIDE, SIDE)), eccentricities())


def cv_pack_of_texels():
    np.multiply(xs, np.float32(1 / SIDE), out=x_map)
    np.multiply(ys, np.float32(1 / SIDE), out=y_map)
    np.copyto(eccentricity, eccentricities())
    return cv_pack()


def torch_sample_two_levels():
    """Each texture at two of its levels, and what lies between them."""
    both = zip(torch_sample(), [F.grid_sample(t, points_t, mode="bilinear", padding_mode="border", align_corners=False)
                                for t in family_halves])
    return [torch.lerp(fine, coarse, 0.5) for fine, coarse in both]


if torch is not None:
    family_halves = [F.avg_pool2d(t, 2) for t in family_t]
SAME_WORK = {
    "laplacian": cv_laplacian_of_texels,
    "visual": cv_visual_of_texels,
    "motion": cv_motion_of_texels,
    "score of pixels": cv_score_of_texels,
    "pack": cv_pack_of_texels,
    "sample 273": torch and torch_sample_two_levels,
}


def torch_chain(array):
    planes = tensor(array.transpose(2, 0, 1) if array.ndim == 3 else array[None])[None]
    return lambda: torch_levels(planes)


upload_to = np.empty_like(pixels)
copy_from, copy_to = np.ones(64 << 18, np.float32), np.zeros(64 << 18, np.float32)  # 64 MB, as the tool's
PEERS = {
    "copy": [("numpy", lambda: np.copyto(copy_to, copy_from))],
    "upload": [("numpy", lambda: np.copyto(upload_to, pixels))],
    "source": [("OpenCV", cv_source), ("OpenCV, one", cv_source_in_one), ("PyTorch", torch_source)],
    "source levels": [("OpenCV", lambda: cv_levels(rgba, buffers[4])), ("PyTorch", torch and torch_chain(rgba))],
    "visual": [("OpenCV", cv_visual), ("PyTorch", torch_visual)],
    "visual levels": [("OpenCV", lambda: cv_levels(visual, buffers[4])), ("PyTorch", torch and torch_chain(visual))],
    "saliency": [("OpenCV", cv_saliency)],
    "saliency levels": [("OpenCV", lambda: cv_levels(saliency, buffers["quarter"])),
                        ("PyTorch", torch and torch_chain(saliency))],
    "laplacian": [("OpenCV", cv_laplacian), ("PyTorch", torch_laplacian)],
    "laplacian levels": [("OpenCV", lambda: cv_levels(laplacian, buffers[1])),
                         ("PyTorch", torch and torch_chain(laplacian))],
    "entropy": [("NumPy", numpy_entropy), ("OpenCV", cv_entropy), ("PyTorch", torch_entropy)],
    "entropy levels": [("OpenCV", lambda: cv_levels(entropy, buffers["cells"])), ("PyTorch", torch and torch_chain(entropy))],
    "gradient": [("OpenCV", cv_gradient), ("PyTorch", torch_gradient)],
    "gradient levels": [("OpenCV", lambda: cv_levels(gradient, buffers[4])), ("PyTorch", torch and torch_chain(gradient))],
    "distance": [("OpenCV", cv_distance), ("SciPy", ndimage and scipy_distance)],
    "cluster": [("OpenCV", cv_cluster if hasattr(cv2, "ximgproc") else None), ("scikit-image", slic and skimage_cluster)],
    "motion": [("OpenCV", cv_motion)],
    "temporal": [("OpenCV", cv_temporal), ("PyTorch", torch and torch_temporal)],
    "score of cells": [("OpenCV", cv_score_cells)],
    "score of pixels": [("OpenCV", cv_score_pixels), ("PyTorch", torch_score_pixels)],
    "top 273 of 4096": [("NumPy", lambda: numpy_topk(few)), ("PyTorch", lambda: torch_topk(few))],
    "top 273 of 1048576": [("NumPy", lambda: numpy_topk(many)), ("PyTorch", lambda: torch_topk(many))],
    "sample 273": [("PyTorch, 1 level", torch_sample)],
    "pack": [("OpenCV", cv_pack), ("PyTorch", torch and torch_pack)],
    "select, uploaded": [("OpenCV, NumPy", cv_select)],
    "select, again": [("OpenCV, NumPy", cv_select_again)],
}
PEERS = {stage: [(who, work) for who, work in peers if work is not None and (torch is not None or "Torch" not in who)]
         for stage, peers in PEERS.items()}


def time_work(work, seconds=0.25):
    """Milliseconds of one call, the median over `seconds`; at least three."""
    work()
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        work()
        times.append(time.perf_counter() - before)
    return 1e3 * statistics.median(times)


def time_tool(path, stage):
    words = ["bench", "--json", "--image", path, "--stage", stage, "--repeat", "7"]
    if options.device:
        words += ["--device", options.device]
    report = json.loads(run(options.tool, *words))
    return report, {row["name"]: (row["median_ms"], row["share_of_copy"]) for row in report["stages"]}


def groups():
    """One run of the tool measures a family and its levels."""
    names = [name for name in PEERS if not options.only or any(part in name for part in options.only)]
    while names:
        text = names[0].split(",")[0] if names[0].startswith("select") else names[0]
        mine = [name for name in names if text in name]
        names = [name for name in names if name not in mine]
        yield text, mine


ours, theirs, same, shares, report = {}, {}, {}, {}, {}
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "image.ppm")
    save_ppm(path, pixels)
    peers_check.check(sys.modules[__name__], options.tool, path, options.device)
    for done in range(options.rounds):
        for text, names in groups():
            report, rows = time_tool(path, text)
            for name in names:
                if name not in rows:
                    sys.exit(f"`tvlm bench` has no stage '{name}'")
                ours.setdefault(name, []).append(rows[name][0])
                shares.setdefault(name, []).append(rows[name][1])
                for who, work in PEERS[name]:
                    theirs.setdefault((name, who), []).append(time_work(work))
                if SAME_WORK.get(name) is not None:
                    same.setdefault(name, []).append(time_work(SAME_WORK[name]))
        if sys.stderr.isatty():
            print(f"\rround {done + 1} of {options.rounds}", end="", file=sys.stderr)

print(f"{report['device']}, {report['storage']} storage, {report['format']}; {SIDE}x{SIDE}; peers with {options.threads} threads: "
      f"OpenCV {cv2.__version__}, PyTorch {torch.__version__ if torch else '-'}, NumPy {np.__version__}; "
      f"{options.rounds} rounds, milliseconds: median (smallest .. largest of the rounds)")
print(f"{'stage':20s}{'ours':>24s}  {'fastest peer':>34s}{'peer / ours, of the smallest':>30s}{'of copy':>9s}{'same work':>16s}")
failed, table = [], []
for name, times in ours.items():
    mine = statistics.median(times)
    medians = {who: statistics.median(theirs[name, who]) for who, _ in PEERS[name]}
    who = min(medians, key=medians.get)
    spread = theirs[name, who]
    ratio, best = medians[who] / mine, min(spread) / min(times)
    loses = ratio < 1 and best < 1
    must = (name in FAMILIES or mine > SLOW_MS) and name != "copy"
    if loses and must:
        failed.append(name)
    mark = "  LOSES" if loses and must else "  loses (less than 5 ms)" if loses else ""
    others = ", ".join(f"{other} {value:.2f}" for other, value in medians.items() if other != who)
    print(f"{name:20s}{mine:9.3f} ({min(times):.2f} .. {max(times):.2f})".ljust(46) +
          f"{who:>16s} {medians[who]:8.3f} ({min(spread):.2f} .. {max(spread):.2f})".ljust(44) + f"{ratio:6.2f}{best:8.2f}{max(shares[name]):11.2f}" +
          (f"{min(same[name]):10.3f} ({min(same[name]) / min(times):.2f})" if name in same else "") + mark +
          (f"   [{others}]" if others else ""))
    table.append({"stage": name, "ours_ms": mine, "ours_min_ms": min(times), "peers_ms": medians, "ratio": ratio,
                  "ratio_of_minima": best, "share_of_copy": max(shares[name]),
                  **({"same_work_ms": min(same[name])} if name in same else {})})
if options.json:
    write_json(options.json, {**{key: report[key] for key in ("device", "driver", "storage", "format")}, "stages": table}, indent=1)
load = os.getloadavg()[0]
if load > options.threads + 1:
    print(f"note: the machine was busy with other things (load {load:.1f} for {os.cpu_count()} cores): not figures to keep")
print("loses where it must not: " + (", ".join(failed) or "nothing"))
sys.exit(1 if failed else 0)
