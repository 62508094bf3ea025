# SPDX-License-Identifier: Apache-2.0
"""peers_work.py: what the peers of peers.py do, and the data that they do it with. PEERS has those of each row, SAME_WORK who does all
that the tool does (peers_same.py)."""
import os
import sys
import tempfile

from peers_options import BINOMIAL, CELL, EDGE, F, K, LUMA, SIDE, cv2, ndimage, options, slic, torch  # first: it sets the number of threads
from common import generate, np, random_pixels, save_ppm
import peers_same
from shared import torch_levels


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
colour_planes = [np.ascontiguousarray(rgba[..., c]) for c in range(3)]
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


def levels_of(first):
    buffers = buffers_for(first.shape[0], first.shape[2] if first.ndim == 3 else 1)
    cv_levels(first, buffers)
    return buffers


source_levels = levels_of(rgba)
tensor = None if torch is None else (lambda array: torch.from_numpy(np.ascontiguousarray(array)))
bytes_rgba = np.zeros((SIDE, SIDE, 4), np.uint8)
out = {name: plane(SIDE, SIDE) for name in "abcdefgh"}
out4 = {name: plane(SIDE, SIDE, 4) for name in "ab"}
out3 = {name: plane(SIDE, SIDE, 3) for name in "ab"}


def cv_source():
    """Luma and its place in the texels by OpenCV; of bytes and a factor NumPy's product is the faster one."""
    cv2.cvtColor(pixels, cv2.COLOR_RGB2RGBA, dst=bytes_rgba)
    np.multiply(bytes_rgba, np.float32(1 / 255), out=out4["a"])
    cv2.cvtColor(out4["a"], cv2.COLOR_RGBA2GRAY, dst=out["a"])
    return cv2.insertChannel(out["a"], out4["a"], 3)


def cv_source_of_three():
    np.multiply(pixels, np.float32(1 / 255), out=out3["a"])
    cv2.cvtColor(out3["a"], cv2.COLOR_RGB2GRAY, dst=out["a"])
    cv2.cvtColor(out3["a"], cv2.COLOR_RGB2RGBA, dst=out4["b"])
    return cv2.insertChannel(out["a"], out4["b"], 3)


def torch_source():
    torch.mul(pixels_t, 1 / 255.0, out=source_t[..., :3])
    torch.matmul(source_t[..., :3], luma_weights_t, out=source_t[..., 3])
    return source_t.numpy()


def cv_edges(luma):
    gx = cv2.Sobel(luma, cv2.CV_32F, 1, 0, dst=out["a"], ksize=3, scale=0.25, borderType=EDGE)
    gy = cv2.Sobel(luma, cv2.CV_32F, 0, 1, dst=out["b"], ksize=3, scale=0.25, borderType=EDGE)
    edges = cv2.magnitude(gx, gy, magnitude=out["c"])
    return cv2.min(edges, 1.0, dst=edges)


def cv_visual(luma=luma):
    edges = cv_edges(luma)
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
    pixels_t, source_t = tensor(pixels), torch.zeros(SIDE, SIDE, 4)
    luma_weights_t = tensor(LUMA[0])


def torch_visual():
    g = F.conv2d(F.pad(luma_t, (1, 1, 1, 1), mode="replicate"), sobel)
    edges = (g * g).sum(1, True).sqrt_().clamp_(max=1)
    low = F.conv2d(F.conv2d(F.pad(luma_t, (2, 2, 2, 2), mode="replicate"), row_t), column_t)
    return torch.cat([edges, 1 - edges, 0.5 + 0.5 * (luma_t - low), low], 1)[0].permute(1, 2, 0).numpy()


def cv_laplacian(luma=luma):
    return cv2.Laplacian(luma, cv2.CV_32F, dst=out["a"], ksize=1, scale=0.25, borderType=EDGE)


def torch_laplacian():
    return F.conv2d(F.pad(luma_t, (1, 1, 1, 1), mode="replicate"), laplace_t)[0, 0].numpy()


CELLS = SIDE // CELL
cell_base = (np.arange(SIDE) // CELL)[:, None] * CELLS + (np.arange(SIDE) // CELL)[None]
cell_base = np.ascontiguousarray(16 * cell_base, np.int32)
# -p log2(p) / 4 of so many of a cell's pixels: counts are whole numbers, so that nobody has to take logarithms.
entropy_of_count = np.arange(CELL * CELL + 1) / (CELL * CELL)
entropy_of_count = (-entropy_of_count * np.log2(np.maximum(entropy_of_count, 1e-30)) / 4).astype(np.float32)
bin_entropies, bins_there = plane(CELLS * CELLS, 16), np.ones(16, np.float32)
bins_byte, bins_numbered = np.zeros((SIDE, SIDE), np.uint8), np.zeros((SIDE, SIDE), np.int32)


def bins_of(luma):
    """The bin of each pixel, a byte."""
    scaled = np.multiply(luma, np.float32(16), out=out["a"])
    np.copyto(bins_byte, scaled, casting="unsafe")
    return cv2.min(bins_byte, 15, dst=bins_byte)


def numpy_entropy(luma=luma):
    np.add(bins_of(luma), cell_base, out=bins_numbered)
    counts = np.bincount(bins_numbered.ravel(), minlength=16 * CELLS * CELLS)
    np.take(entropy_of_count, counts.reshape(-1, 16), out=bin_entropies, mode="clip")
    return (bin_entropies @ bins_there).reshape(CELLS, CELLS)


is_bin = [(np.arange(256) == b).astype(np.float32) for b in range(16)]
bin_shares = [plane(CELLS, CELLS) for _ in range(16)]


def cv_entropy():
    """OpenCV has no histogram a cell: a plane of 0 and 1 for each bin, averaged over the cells by resize's INTER_AREA."""
    bins, total = bins_of(luma), plane(CELLS, CELLS)
    for here, share in zip(is_bin, bin_shares):
        cv2.resize(cv2.LUT(bins, here, dst=out["b"]), (CELLS, CELLS), dst=share, interpolation=cv2.INTER_AREA)
        total -= share * np.log2(np.maximum(share, np.float32(1e-30)))
    return total / 4


if torch is not None:
    cell_base_t, entropy_of_count_t = tensor(cell_base).long(), tensor(entropy_of_count)
    bins_t, scaled_t = torch.zeros(SIDE, SIDE, dtype=torch.long), torch.zeros(SIDE, SIDE)


def torch_entropy():
    bins_t.copy_(torch.mul(luma_t[0, 0], 16, out=scaled_t)).clamp_(max=15).add_(cell_base_t)
    counts = torch.bincount(bins_t.view(-1), minlength=16 * CELLS * CELLS)
    return entropy_of_count_t[counts].view(CELLS, CELLS, 16).sum(2).numpy()


THIRDS = np.full(3, 1 / 3, np.float32)


def cv_gradient(luma=luma, colours=colour_planes):
    """Boxes of floats are slower by blur than as a filter of rows and columns, and channels by transform than plane by plane."""
    gx = cv2.Sobel(luma, cv2.CV_32F, 1, 0, dst=out["a"], ksize=3, scale=0.25, borderType=EDGE)
    gy = cv2.Sobel(luma, cv2.CV_32F, 0, 1, dst=out["b"], ksize=3, scale=0.25, borderType=EDGE)
    total = cv2.add(cv2.add(colours[0], colours[1], dst=out["c"]), colours[2], dst=out["c"])
    squares = np.multiply(colours[0], colours[0], out=out["d"])
    for colour in colours[1:]:
        cv2.add(squares, np.multiply(colour, colour, out=out["e"]), dst=squares)
    mean = cv2.sepFilter2D(total, cv2.CV_32F, THIRDS, THIRDS / 3, dst=out["e"], borderType=EDGE)
    square = cv2.sepFilter2D(squares, cv2.CV_32F, THIRDS, THIRDS / 3, dst=out["f"], borderType=EDGE)
    np.multiply(mean, mean, out=out["g"])
    variance = cv2.addWeighted(square, 4.0, out["g"], -4.0, 0.0, dst=out["h"])
    cv2.min(cv2.max(variance, 0.0, dst=variance), 1.0, dst=variance)
    return cv2.merge([gx, gy, variance, mean], dst=out4["a"])


def torch_gradient():
    g = F.conv2d(F.pad(luma_t, (1, 1, 1, 1), mode="replicate"), sobel)
    both = torch.cat([rgb_t.mean(1, True), (rgb_t * rgb_t).mean(1, True)], 1)
    means = F.avg_pool2d(F.pad(both, (1, 1, 1, 1), mode="replicate"), 3, 1)
    mean, square = means[:, :1], means[:, 1:]
    variance = (4 * (square - mean * mean)).clamp_(0, 1)
    return torch.cat([g, variance, mean], 1)[0].permute(1, 2, 0).numpy()


QUARTER = SIDE // 4
quarter = [plane(QUARTER, QUARTER) for _ in range(2)]
contrast_maps = [plane(QUARTER, QUARTER) for _ in range(4)]
saliency_out = plane(QUARTER, QUARTER, 4)
colour_levels = {n: np.ascontiguousarray(source_levels[n - 1][..., :3]) for n in range(2, 8)}
lab_levels = {n: np.zeros_like(colours) for n, colours in colour_levels.items()}
lab_planes = {n: [np.zeros(colours.shape[:2], np.float32) for _ in range(3)] for n, colours in colour_levels.items()}


def contrast(centres, surrounds, into):
    """How far colours are from those three levels coarser, from a hundred on 1."""
    for c, (centre, surround) in enumerate(zip(centres, surrounds)):
        if centre.shape != into.shape:
            centre = cv2.resize(centre, (QUARTER, QUARTER), dst=quarter[0])
        apart = np.subtract(centre, cv2.resize(surround, (QUARTER, QUARTER), dst=quarter[1]), out=quarter[1])
        square = np.multiply(apart, apart, out=apart if c else into)
        if c:
            np.add(into, square, out=into)
    np.multiply(cv2.sqrt(into, dst=into), np.float32(0.01), out=into)
    return np.minimum(into, np.float32(1), out=into)


def contrasts(lab):
    """The mean of the three maps, and those, as cl/saliency.cl has them: centres are levels 2, 3, 4."""
    maps = [contrast(lab[n], lab[n + 3], into) for n, into in zip((2, 3, 4), contrast_maps[1:])]
    mean = np.add(np.add(maps[0], maps[1], out=contrast_maps[0]), maps[2], out=contrast_maps[0])
    return [np.multiply(mean, np.float32(1 / 3), out=mean), *maps]


def to_largest(values):
    """A map over its largest value."""
    return np.multiply(values, np.float32(1 / values.max()), out=values)


def cv_lab(colour_levels):
    """L*a*b* by OpenCV's table, which is off by up to 0.02 of a scaled map."""
    return {n: cv2.split(cv2.cvtColor(colours, cv2.COLOR_RGB2Lab, dst=lab_levels[n]), lab_planes[n])
            for n, colours in colour_levels.items()}


lab_makers = {n: peers_same.lab_maker(colours.shape[:2]) for n, colours in colour_levels.items()}


def numpy_lab(colour_levels):
    """By powers and cube roots, for which NumPy has vectors of the processor: exact, and no slower than the table."""
    return {n: cv2.split(lab_makers[n](colours), lab_planes[n]) for n, colours in colour_levels.items()}


def numpy_saliency():
    return cv2.merge([to_largest(m) for m in contrasts(numpy_lab(colour_levels))], dst=saliency_out)


def cv_saliency():
    """Its first map is the mean of the others only: the tool's also looks at the border, which costs it more (bench/saliency.py)."""
    return cv2.merge([to_largest(m) for m in contrasts(cv_lab(colour_levels))], dst=saliency_out)


# ---- Distance: the peers get the mask of edge pixels as they like it; the tool finds them itself ----

RANGE = np.float32(SIDE / 8)
not_edge = np.ones((SIDE, SIDE), np.uint8)  # 0 at edge pixels; filled in by peers_check


def cv_distance(not_edge=not_edge):
    away = cv2.distanceTransform(not_edge, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, dst=out["a"])
    return cv2.min(np.multiply(away, 1 / RANGE, out=away), 1.0, dst=away)


scipy_away = np.zeros((SIDE, SIDE))


def scipy_distance():
    ndimage.distance_transform_edt(not_edge, distances=scipy_away)
    away = np.multiply(scipy_away, 1 / float(RANGE), out=out["a"], casting="same_kind")
    return np.minimum(away, np.float32(1), out=away)


# ---- Regions: the same number and compactness, ten iterations, connected; without our region tables and borders ----

REGIONS, COMPACTNESS = 50, 10.0


lab_bytes = np.zeros_like(pixels)


def cv_cluster():
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2Lab, dst=lab_bytes)
    work = cv2.ximgproc.createSuperpixelSLIC(lab, cv2.ximgproc.SLIC, int(round((SIDE * SIDE / REGIONS) ** 0.5)), COMPACTNESS)
    work.iterate(10)
    work.enforceLabelConnectivity()
    return work.getLabels()


def skimage_cluster():
    return slic(pixels, n_segments=REGIONS, compactness=COMPACTNESS, max_num_iter=10, start_label=0)


# ---- From frame to frame ----

FLOW = (3.0, -2.0, 1.0)  # pixels, and how sure, as `tvlm bench` has it
flow_now = FLOW
cells_state = np.repeat(of_tool(["saliency"], 4), 3, 2)
flow_x, flow_y = (np.float32(step / CELL) for step in FLOW[:2])
warp_x, warp_y = np.meshgrid(np.arange(SIDE // CELL, dtype=np.float32) + flow_x, np.arange(SIDE // CELL, dtype=np.float32) + flow_y)


warped = np.zeros_like(cells_state)


def cv_temporal():
    return cv2.remap(cells_state, warp_x, warp_y, cv2.INTER_LINEAR, dst=warped, borderMode=EDGE)


if torch is not None:
    state_t = tensor(cells_state.transpose(2, 0, 1))[None]
    step_t = tensor(np.stack([warp_x, warp_y], 2))[None]
    steps_t = torch.zeros_like(step_t)


def torch_temporal():
    """With the step from cells to grid_sample's coordinates, which is part of warping by a flow."""
    grid = torch.mul(step_t, 2 / CELLS, out=steps_t).add_(1 / CELLS - 1)
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
edges_cells = np.ascontiguousarray(visual_levels[3][..., 0])
saliency_cells = np.ascontiguousarray(saliency_levels[1][..., 0])


WEIGHTS = (0.3, 0.7, 0.0)  # the tool's without a question (doc/channels.md)


def combine(edges, entropy_map, saliency_map, distance, into):
    """The score without a question: both parts by their smallest and largest. It works in the two planes of `into`, and returns the first."""
    information = cv2.addWeighted(cv2.min(edges, 0.25, dst=into[0]), 2.0, entropy_map, 0.5, 0, dst=into[0])
    perspective = cv2.addWeighted(saliency_map, 0.7, distance, -0.3, 0.3, dst=into[1])
    low_i, high_i, low_p, high_p = (float(v) for part in (information, perspective) for v in (part.min(), part.max()))
    a, b = WEIGHTS[0] / (high_i - low_i), WEIGHTS[1] / (high_p - low_p)
    return cv2.addWeighted(information, a, perspective, b, -a * low_i - b * low_p, dst=into[0])


def enlarged(cells, into):
    return cv2.resize(cells, (SIDE, SIDE), dst=into)


def cv_score_pixels(edges=edges_plane, saliency=saliency_plane, eccentricity=eccentricity):
    return combine(edges, enlarged(entropy, out["a"]), enlarged(saliency, out["b"]), eccentricity, (out["c"], out["d"]))


if torch is not None:
    entropy_t, saliency_t, edges_t, eccentricity_t = (tensor(values) for values in (entropy, saliency_plane, edges_plane, eccentricity))
    information_t = torch.zeros_like(edges_t)


def torch_score_pixels():
    up = dict(size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    e = F.interpolate(entropy_t[None, None], **up)[0, 0]
    p = F.interpolate(saliency_t[None, None], **up)[0, 0].mul_(0.7).add_(eccentricity_t, alpha=-0.3).add_(0.3)
    i = torch.clamp(edges_t, max=0.25, out=information_t).mul_(2).add_(e, alpha=0.5)
    (low_i, high_i), (low_p, high_p) = torch.aminmax(i), torch.aminmax(p)
    a, b = float(WEIGHTS[0] / (high_i - low_i)), float(WEIGHTS[1] / (high_p - low_p))
    return i.mul_(a).add_(p, alpha=b).sub_(float(a * low_i + b * low_p))


cell_centres = (np.arange(CELLS, dtype=np.float32) + np.float32(0.5)) * np.float32(CELL) - np.float32(SIDE / 2)
cell_eccentricity = np.hypot(cell_centres[:, None], cell_centres[None]) / np.float32(np.hypot(SIDE / 2, SIDE / 2))
cells_between = plane(CELLS, CELLS), plane(CELLS, CELLS)


def cv_score_cells(edges=edges_cells, entropy=entropy, saliency=saliency_cells, eccentricity=cell_eccentricity):
    return combine(edges, entropy, saliency, eccentricity, cells_between)


cell_scores = cv_score_cells().ravel().copy()
rng = np.random.default_rng(1)
few, many = rng.random(4096, np.float32), rng.random(1 << 20, np.float32)


def numpy_topk(scores):
    best = np.argpartition(scores, len(scores) - K)[-K:]
    return best[np.argsort(-scores[best], kind="stable")]


def numpy_topk_by_sample(scores):
    """Looks only at what is above a bound that a sample gives; at all, where those are too few."""
    sample = scores[::64]
    bound = np.partition(sample, len(sample) - 40)[-40]
    above = np.flatnonzero(scores >= bound)
    return above[numpy_topk(scores[above])] if len(above) >= K else numpy_topk(scores)


def torch_topk(scores):
    return torch.topk(tensor(scores), K)


sample_at = rng.random((K, 2), np.float32) * SIDE  # in pixels
# One row of points: remap goes through rows.
sampled_maps = {side: [np.ascontiguousarray(sample_at[None, :, c] * np.float32(side / SIDE) - np.float32(0.5)) for c in range(2)]
                for side in (SIDE, QUARTER, CELLS)}
families = [rgba, visual, saliency, laplacian, entropy, gradient]
sampled = [plane(1, K, *family.shape[2:]) for family in families]
if torch is not None:
    family_t = [tensor(array.transpose(2, 0, 1) if array.ndim == 3 else array[None])[None] for array in families]
    points_t = tensor(sample_at / np.float32(SIDE / 2) - np.float32(1))[None, None]


def torch_sample():
    """Level 0 only: half of what the tool does, which reads two levels."""
    return [F.grid_sample(t, points_t, mode="bilinear", padding_mode="border", align_corners=False) for t in family_t]


def cv_sample():
    """The same with weights in steps of 1/32."""
    for family, into in zip(families, sampled):
        cv2.remap(family, *sampled_maps[family.shape[0]], cv2.INTER_LINEAR, dst=into, borderMode=EDGE)
    return sampled


PACKED = 20
packed = [plane(SIDE, SIDE, 4) for _ in range(PACKED // 4)]
planes_of_pack = {name: [np.ascontiguousarray(family[..., c]) for c in range(4)]
                  for name, family in (("visual", visual), ("saliency", saliency), ("gradient", gradient))}
packed_saliency = [plane(SIDE, SIDE) for _ in range(4)]


def cv_pack(colours=colour_planes, planes=planes_of_pack, at=(x_map, y_map, eccentricity)):
    """20 channels, four to an array, from planes; what is of another size is brought to this one."""
    s = [enlarged(part, into) for part, into in zip(planes["saliency"], packed_saliency)]
    listed = [*colours, *planes["visual"], s[0], *at, laplacian, enlarged(entropy, out["a"]), *planes["gradient"], *s[1:]]
    for i, into in enumerate(packed):
        cv2.merge(listed[4 * i:4 * i + 4], dst=into)
    return packed


def levels_down(first, buffers):
    """The last of as many levels."""
    return cv_levels(first, buffers)[-1]


def cv_select():
    """From pixels to the 273 best cells by what the score reads, and nothing else: a plane of edges, colours, one map of saliency."""
    rgb = np.multiply(pixels, np.float32(1 / 255), out=out3["a"])
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY, dst=out["h"])
    cv_levels(rgb, select_buffers["colours"])
    lab = numpy_lab({n: select_buffers["colours"][n - 1] for n in colour_levels})
    s = levels_down(to_largest(contrasts(lab)[0]), select_buffers["saliency"])
    edges = levels_down(cv_edges(grey), select_buffers["edges"])
    return numpy_topk(cv_score_cells(edges, numpy_entropy(grey), s).ravel())


select_buffers = {"colours": buffers_for(SIDE, 3)[:7], "edges": buffers_for(SIDE, 1)[:4], "saliency": buffers_for(QUARTER, 1)[:2]}
buffers = {4: buffers_for(SIDE, 4), 1: buffers_for(SIDE, 1), "quarter": buffers_for(QUARTER, 4),
           "cells": buffers_for(CELLS, 1)}


def torch_pack():
    """Each channel to the image's size, four to an array."""
    up = dict(size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    colours, edges, salient, detail, busy, slopes = family_t
    planes = torch.cat([colours[:, :3], edges, F.interpolate(salient, **up), position_t, detail, F.interpolate(busy, **up), slopes], 1,
                       out=packed_t)
    return planes[:, :PACKED].reshape(PACKED // 4, 4, SIDE, SIDE)


if torch is not None:
    position_t, packed_t = tensor(np.stack([x_map, y_map, eccentricity]))[None], torch.zeros(1, PACKED, SIDE, SIDE)


def torch_chain(array):
    planes = tensor(array.transpose(2, 0, 1) if array.ndim == 3 else array[None])[None]
    return lambda: torch_levels(planes)


upload_to = np.empty_like(pixels)
copy_from, copy_to = np.ones(64 << 18, np.float32), np.zeros(64 << 18, np.float32)  # 64 MB, as the tool's
PEERS = {
    "copy": [("numpy", lambda: np.copyto(copy_to, copy_from))],
    "upload": [("numpy", lambda: np.copyto(upload_to, pixels))],
    "source": [("OpenCV, NumPy", cv_source), ("OpenCV, of three", cv_source_of_three), ("PyTorch", torch_source)],
    "source levels": [("OpenCV", lambda: cv_levels(rgba, buffers[4])), ("PyTorch", torch and torch_chain(rgba))],
    "visual": [("OpenCV", cv_visual), ("PyTorch", torch_visual)],
    "visual levels": [("OpenCV", lambda: cv_levels(visual, buffers[4])), ("PyTorch", torch and torch_chain(visual))],
    "saliency": [("OpenCV", cv_saliency), ("OpenCV, NumPy", numpy_saliency)],
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
    "top 273 of 1048576": [("NumPy", lambda: numpy_topk(many)), ("NumPy, a sample", lambda: numpy_topk_by_sample(many)),
                           ("PyTorch", lambda: torch_topk(many))],
    "sample 273": [("OpenCV, 1/32", cv_sample), ("PyTorch, 1 level", torch and torch_sample)],
    "pack": [("OpenCV", cv_pack), ("PyTorch", torch and torch_pack)],
    "select, uploaded": [("OpenCV, NumPy", cv_select)],
    "select, again": [("NumPy", lambda: numpy_topk(cell_scores)), ("PyTorch", lambda: torch_topk(cell_scores))],
}
PEERS = {stage: [(who, work) for who, work in peers if work is not None and (torch is not None or "Torch" not in who)]
         for stage, peers in PEERS.items()}
SAME_WORK = peers_same.same_work(sys.modules[__name__])
