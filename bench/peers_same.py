# SPDX-License-Identifier: Apache-2.0
"""peers_same.py: the peers of peers.py where they do all that the tool does, on what the tool has, and are spared nothing.

`same_work(p)` has a function for each such row; p is the module with the peers. All of them take channels out of texels of four
floats and write into arrays that exist. Beyond that:

    saliency          L*a*b* by powers and cube roots in place of a table, and the two cues of the border
    distance          the mask of edge pixels is found
    temporal          the flow is brought to the cells and becomes a map; what left the image, or is not sure, is 0
    score, pack       positions and eccentricity are computed
    sample 273        a point in pixels, and two levels of each texture
    select, uploaded  whole families with the levels that the score reads, all as above
    select, again     a cell's place in pixels

What is not here, and why. Copy, upload, source, the levels and both top K do the same work in peers.py already, and one ratio says
all. Nobody's regions are the tool's: cluster has the peers' own rules for what is joined. And two things the peers are still spared,
since neither library has them: `temporal` reads its flow between two levels, where a flow of one value has only one, and a point of
`sample 273` may have a level of its own, where all points of the peer's are halfway between the first two.
"""
import numpy as np

try:
    import cv2
except ImportError:
    cv2 = None

WHO = "same work"
CONFIDENCE = 0.5  # the least that the tool takes, unless it is told otherwise

# As in lib/core/constants.h.
KNEE, SLOPE, OFFSET, GAMMA = (np.float32(v) for v in (0.04045, 12.92, 0.055, 2.4))
EPSILON, LAB_SLOPE, LAB_OFFSET = (np.float32(v) for v in (0.008856452, 7.787037, 4 / 29))
TO_XYZ = np.array([[0.43395292, 0.37621942, 0.18982783], [0.2126729, 0.7151522, 0.0721750],
                   [0.01775632, 0.10946796, 0.87277572]], np.float32)
TO_LAB = np.array([[0, 116, 0, -16], [500, -500, 0, 0], [0, 200, -200, 0]], np.float32)
PRIOR_SIDE, STRIP, SPREAD, FREE, ROUNDS = 80, 10, 2.5, 2.0, 2
UNREACHED, PATH_FLOOR, BORDER_FLOOR, CONTRAST_WEIGHT = 1e30, 10.0, 1.0, np.float32(0.25)


def plane(*shape):
    return np.zeros(shape, np.float32)


def taker(texels, channel):
    """A function that takes a channel out of texels into a plane of its own."""
    into = plane(*texels.shape[:2])
    return lambda: cv2.extractChannel(texels, channel, dst=into)


def splitter(texels):
    into = [plane(*texels.shape[:2]) for _ in range(texels.shape[2])]
    return lambda: cv2.split(texels, into)


# ---- Families ----

def laplacian(p):
    luma = taker(p.rgba, 3)
    return lambda: p.cv_laplacian(luma())


def entropy(p):
    luma = taker(p.rgba, 3)
    return lambda: p.numpy_entropy(luma())


def visual(p):
    luma = taker(p.rgba, 3)
    return lambda: p.cv_visual(luma())


def gradient(p):
    channels = splitter(p.rgba)

    def work():
        *colours, luma = channels()
        return p.cv_gradient(luma, colours)
    return work


def distance(p):
    """Edge pixels are what tests/python/common.py says: `edges` above 0.25, and the largest across the direction in which it falls off."""
    side = p.SIDE
    padded, across, down = plane(side + 2, side + 2), plane(side, side), plane(side, side)
    masks = [np.zeros((side, side), np.uint8) for _ in range(4)]
    here, left, right = padded[1:-1, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]
    up, below = padded[:-2, 1:-1], padded[2:, 1:-1]
    edges = taker(p.visual, 0)

    def ridge(before, behind, into, other):
        return cv2.bitwise_and(cv2.compare(here, before, cv2.CMP_GE, dst=into), cv2.compare(here, behind, cv2.CMP_GT, dst=other), dst=into)

    def work():
        cv2.copyMakeBorder(edges(), 1, 1, 1, 1, p.EDGE, dst=padded)
        is_across = cv2.compare(cv2.add(left, right, dst=across), cv2.add(up, below, dst=down), cv2.CMP_LE, dst=masks[0])
        found = ridge(up, below, masks[1], masks[3])
        cv2.copyTo(ridge(left, right, masks[2], masks[3]), is_across, found)
        cv2.bitwise_and(found, cv2.compare(here, 0.25, cv2.CMP_GT, dst=masks[3]), dst=found)
        return p.cv_distance(cv2.bitwise_not(found, dst=found))
    return work


def lab_maker(shape):
    """A function that makes L*a*b* of colours, as cl/colour.clh has it, to a float's last bits."""
    linear, curve, line = (plane(*shape, 3) for _ in range(3))
    low = np.zeros((*shape, 3), bool)

    def work(rgb):
        np.add(np.multiply(rgb, 1 / (1 + OFFSET), out=linear), OFFSET / (1 + OFFSET), out=linear)
        np.power(linear, GAMMA, out=linear)
        np.copyto(linear, np.multiply(rgb, 1 / SLOPE, out=line), where=np.less_equal(rgb, KNEE, out=low))
        xyz = cv2.transform(linear, TO_XYZ, dst=curve)
        np.add(np.multiply(xyz, LAB_SLOPE, out=line), LAB_OFFSET, out=line)
        np.less_equal(xyz, EPSILON, out=low)
        np.copyto(np.cbrt(xyz, out=linear), line, where=low)
        return cv2.transform(linear, TO_LAB, dst=curve)
    return work


def border_distances(lab):
    """How far colours are from those along the side that is nearest to them, by its covariance."""
    deep = tuple(max(side // STRIP, 1) for side in lab.shape[:2])
    nearest = None
    for strip in (lab[:deep[0]], lab[-deep[0]:], lab[:, :deep[1]], lab[:, -deep[1]:]):
        colours = strip.reshape(-1, 3).astype(np.float64)
        mean = colours.mean(0)
        colours -= mean
        whiten = np.linalg.inv(np.linalg.cholesky(colours.T @ colours / len(colours) + SPREAD * np.eye(3)))
        apart = cv2.transform(lab, np.column_stack([whiten, -whiten @ mean]).astype(np.float32))
        squares = np.multiply(apart, apart, out=apart) @ np.ones(3, np.float32)
        nearest = squares if nearest is None else np.minimum(nearest, squares, out=nearest)
    return np.sqrt(nearest, out=nearest)


def path_costs(lab):
    """What the cheapest path from the border costs, by two rounds of sweeps. Along a line path[i] is the least path[j] + c[i] - c[j] of all j
    before i, where c are the sums of the steps: no loop over texels."""
    path = np.full(lab.shape[:2], UNREACHED)
    path[[0, -1]] = path[:, [0, -1]] = 0
    sums = []
    for axis in (0, 1):
        apart = np.diff(lab, axis=axis)
        steps = np.maximum(np.sqrt(np.multiply(apart, apart, out=apart) @ np.ones(3, np.float32)) - FREE, 0)
        c = np.zeros(path.shape)
        np.cumsum(steps, axis, out=c[1:] if axis == 0 else c[:, 1:])
        sums.append(c)
    for _ in range(ROUNDS):
        for axis, c in enumerate(sums):
            path = np.minimum.accumulate(path - c, axis) + c
            path = np.flip(np.minimum.accumulate(np.flip(path + c, axis), axis), axis) - c
    return path


def border_cues(lab):
    far, paths = border_distances(lab), path_costs(lab)
    return (paths / max(paths.max(), PATH_FLOOR) + far / max(float(far.max()), BORDER_FLOOR)).astype(np.float32)


def saliency(p, source_levels=None):
    levels = {n: (p.source_levels if source_levels is None else source_levels)[n - 1] for n in range(2, 8)}
    colours = {n: plane(*texels.shape[:2], 3) for n, texels in levels.items()}
    makers = {n: lab_maker(texels.shape[:2]) for n, texels in levels.items()}
    prior = next(n for n, texels in levels.items() if max(texels.shape[:2]) <= PRIOR_SIDE)
    enlarged, into = plane(p.QUARTER, p.QUARTER), plane(p.QUARTER, p.QUARTER, 4)

    def work():
        lab = {n: makers[n](cv2.cvtColor(texels, cv2.COLOR_RGBA2RGB, dst=colours[n])) for n, texels in levels.items()}
        mean, *maps = p.contrasts({n: cv2.split(values, p.lab_planes[n]) for n, values in lab.items()})
        border = cv2.resize(border_cues(lab[prior]), (p.QUARTER, p.QUARTER), dst=enlarged)
        np.add(np.multiply(mean, CONTRAST_WEIGHT, out=mean), border, out=mean)
        return cv2.merge([p.to_largest(m) for m in (mean, *maps)], dst=into)
    return work


# ---- From frame to frame ----

def motion(p):
    luma = taker(np.ascontiguousarray(p.source_levels[0]), 3)

    def work():
        apart = cv2.absdiff(luma(), p.half_before, dst=p.half_out)
        return cv2.min(apart, 1.0, dst=apart)
    return work


def temporal(p):
    """State and flow are texels of four floats, as the tool's."""
    cells, cell = p.CELLS, p.CELL
    state = np.dstack([p.cells_state, plane(cells, cells)])
    flow = plane(1, 1, 4)
    steps, u, v, sure = plane(cells, cells, 4), plane(cells, cells), plane(cells, cells), plane(cells, cells)
    columns, rows = np.meshgrid(np.arange(cells, dtype=np.float32), np.arange(cells, dtype=np.float32))
    valid, inside, moved = np.zeros((cells, cells), np.uint8), np.zeros((cells, cells), np.uint8), np.zeros_like(state)
    parts = [u, v, sure, plane(cells, cells)]
    first, last = -0.5, cells - 0.5  # the image's borders, in cells from the middle of the first

    def work():
        flow[0, 0, :3] = p.flow_now
        cv2.split(cv2.resize(flow, (cells, cells), dst=steps), parts)
        cv2.scaleAdd(u, 1 / cell, columns, dst=u)
        cv2.scaleAdd(v, 1 / cell, rows, dst=v)
        cv2.compare(sure, CONFIDENCE, cv2.CMP_LT, dst=valid)
        for where in (u, v):
            cv2.bitwise_or(valid, cv2.bitwise_not(cv2.inRange(where, first, last, dst=inside), dst=inside), dst=valid)
        cv2.remap(state, u, v, cv2.INTER_LINEAR, dst=moved, borderMode=p.EDGE)
        moved[valid.view(bool)] = 0
        return moved
    return work


# ---- Scores, samples, packs ----

def eccentricities(p, centres, farthest):
    """A function that computes the eccentricity of points in columns and rows at these distances from the middle."""
    squares = plane(len(centres), len(centres))

    def work():
        np.add(centres[None] * centres[None], (centres * centres)[:, None], out=squares)
        return np.multiply(cv2.sqrt(squares, dst=squares), farthest, out=squares)
    return work


def eccentricity_of_pixels(p):
    return eccentricities(p, p.xs[0] - np.float32(p.SIDE / 2), np.float32(1 / np.hypot(p.SIDE / 2, p.SIDE / 2)))


def score_of_pixels(p):
    edges, salient, away = taker(p.visual, 0), taker(p.saliency, 0), eccentricity_of_pixels(p)
    return lambda: p.cv_score_pixels(edges(), salient(), away())


def score_of_cells(p, edge_texels=None, salient_texels=None):
    edges = taker(p.visual_levels[3] if edge_texels is None else edge_texels, 0)
    salient = taker(p.saliency_levels[1] if salient_texels is None else salient_texels, 0)
    away = eccentricities(p, p.cell_centres, np.float32(1 / np.hypot(p.SIDE / 2, p.SIDE / 2)))

    def work(entropy=p.entropy):
        return p.cv_score_cells(edges(), entropy, salient(), away())
    return work


def pack(p):
    channels, away = splitter(p.rgba), eccentricity_of_pixels(p)
    families = {name: splitter(getattr(p, name)) for name in ("visual", "saliency", "gradient")}
    x, y = plane(p.SIDE, p.SIDE), plane(p.SIDE, p.SIDE)

    def work():
        np.multiply(p.xs, np.float32(1 / p.SIDE), out=x)
        np.multiply(p.ys, np.float32(1 / p.SIDE), out=y)
        return p.cv_pack(channels()[:3], {name: split() for name, split in families.items()}, (x, y, away()))
    return work


def sample(p):
    """Each texture at two of its levels, and what lies between them, exactly: weights in steps of 1/32 will not do."""
    torch, grid_sample = p.torch, p.F.grid_sample
    halves = [p.F.avg_pool2d(t, 2) for t in p.family_t]
    at, points = torch.from_numpy(p.sample_at), torch.zeros(p.points_t.shape)
    how = dict(mode="bilinear", padding_mode="border", align_corners=False)

    def work():
        torch.mul(at, 2 / p.SIDE, out=points[0, 0]).sub_(1)
        return [torch.lerp(grid_sample(fine, points, **how), grid_sample(coarse, points, **how), 0.5)
                for fine, coarse in zip(p.family_t, halves)]
    return work


# ---- Selections ----

def places(p, best):
    """The middles of cells, in pixels."""
    rows, columns = np.divmod(best, p.CELLS)
    return np.multiply(np.stack([columns, rows], 1) + np.float32(0.5), np.float32(p.CELL))


def select_again(p):
    return lambda: places(p, p.numpy_topk(p.cell_scores))


def select(p):
    sources, edges, salient = p.buffers_for(p.SIDE, 4), p.buffers_for(p.SIDE, 4)[:4], p.buffers_for(p.QUARTER, 4)[:2]
    luma, make_saliency, score = taker(p.out4["a"], 3), saliency(p, sources), score_of_cells(p, edges[3], salient[1])

    def work():
        p.cv_levels(p.cv_source(), sources)
        grey = luma()
        busy = p.numpy_entropy(grey)
        p.cv_levels(p.cv_visual(grey), edges)  # in the place of the source, of which the levels are there
        p.cv_levels(make_saliency(), salient)
        return places(p, p.numpy_topk(score(busy).ravel()))
    return work


def same_work(p):
    made = {
        "visual": visual(p),
        "saliency": saliency(p),
        "laplacian": laplacian(p),
        "entropy": entropy(p),
        "gradient": gradient(p),
        "distance": distance(p),
        "motion": motion(p),
        "temporal": temporal(p),
        "score of cells": score_of_cells(p),
        "score of pixels": score_of_pixels(p),
        "pack": pack(p),
        "select, uploaded": select(p),
        "select, again": select_again(p),
    }
    if p.torch is not None:
        made["sample 273"] = sample(p)
    return made
