# SPDX-License-Identifier: Apache-2.0
"""peers_check.py: whether the peers of peers.py make what the tool makes, row by row, before anybody's time counts.

What is compared is what both write: channels and their levels, scores, positions, samples. The functions of peers_same.py are
compared as peers are. peers.py says which rows are another result.
"""
import json
import os
import sys

from common import Library, edge_pixels, generate, np, run
from peers_same import WHO as SAME

LEVELS = {"source": ("r,g,b", 0), "visual": ("edges,edges_inv,high,low", 0), "laplacian": ("laplacian", 0),
          "gradient": ("edge_x,edge_y,rgb_var,rgb_mean", 0), "entropy": ("entropy", 4),
          "saliency": ("saliency,saliency_fine,saliency_mid,saliency_coarse", 2)}
PACKED = ("r,g,b,edges,edges_inv,high,low,saliency,x,y,eccentricity,laplacian,entropy,edge_x,edge_y,rgb_var,rgb_mean,saliency_fine,"
          "saliency_mid,saliency_coarse").split(",")
TORCH_PACKED = ("r,g,b,edges,edges_inv,high,low,saliency,saliency_fine,saliency_mid,saliency_coarse,x,y,eccentricity,laplacian,entropy,"
                "edge_x,edge_y,rgb_var,rgb_mean").split(",")
# The largest differences, of a row or of one of its peers; 1e-5 where nothing is said.
LIMITS = {
    ("saliency", "OpenCV"): 2e-2,  # cube root and gamma are tables and splines
    ("saliency", SAME): 1e-4,  # they are powers here; paths add up to eighty steps
    "entropy": 0.1,  # a value on a bin's border may fall into the other bin
    "entropy levels": 0.1,
    ("sample 273", "OpenCV, 1/32"): 1 / 32,  # off by up to a 64th along each axis, between texels up to 1 apart
    ("select, uploaded", SAME): 0.02, "select, again": 0.01,  # the share of positions that are others: two cells of one score
}
# Cells move by these, in pixels, and so sure: as timed; out of the image; not sure enough. OpenCV's weights are whole in steps of half a pixel.
FLOWS = ((24.0, -40.0, 1.0), (3.0, -2.0, 0.25))


def works(p, stage):
    """All who do a row: its peers, and who does the same work."""
    return p.PEERS[stage] + ([(SAME, p.SAME_WORK[stage])] if stage in p.SAME_WORK else [])


def limit(stage, who):
    return LIMITS.get((stage, who), LIMITS.get(stage, 1e-5))


def planes(array):
    """[channel][y][x] of what a peer makes."""
    array = np.asarray(array)
    if array.ndim == 4:
        return array[0]
    return array.transpose(2, 0, 1) if array.ndim == 3 else array[None]


def families(p, tool, path, words):
    for stage, (names, level) in LEVELS.items():
        expected = generate(tool, path, names.split(","), level=level, **words)
        for who, work in works(p, stage):
            got = planes(work())
            first = 1 if stage == "saliency" and who != SAME else 0  # whose first map is another one
            yield stage, who, got[first:len(expected)], expected[first:]
    for who, work in works(p, "distance"):
        yield "distance", who, planes(work()), generate(tool, path, ["distance"], **words)


def levels(p, tool, path, words):
    for stage, (names, first) in LEVELS.items():
        for who, work in p.PEERS[f"{stage} levels"]:
            made = work()
            for step in {1, 2, len(made)}:
                expected = generate(tool, path, names.split(","), level=first + step, **words)
                yield f"{stage} levels", who, planes(made[step - 1])[:len(expected)], expected


def scores(p, library, stack):
    for stage, dense in (("score of cells", False), ("score of pixels", True)):
        expected = library.score(stack, p.WEIGHTS, dense=dense)
        for who, work in works(p, stage):
            yield stage, who, np.asarray(work()), expected


def order(made):
    """The indices that a peer's top K are."""
    return np.asarray(made if isinstance(made, np.ndarray) else made.indices)


def top(p, library, device):
    for stage, values in (("top 273 of 4096", p.few), ("top 273 of 1048576", p.many)):
        indices, _ = library.topk(device, values, p.K)
        for who, work in p.PEERS[stage]:
            yield stage, who, values[order(work())], values[indices]  # of equal ones each has its own order


def packs(p, tool, path, words):
    for who, work in works(p, "pack"):
        names, made = (TORCH_PACKED, work().reshape(p.PACKED, p.SIDE, p.SIDE)) if who == "PyTorch" else (
            PACKED, np.concatenate([planes(array) for array in work()]))
        yield "pack", who, np.asarray(made), generate(tool, path, names, **words)


def sampled(part):
    """[point][channel] of a texture: PyTorch has channels first, OpenCV last."""
    part = np.asarray(part)
    return part[0, :, 0].T if part.ndim == 4 else part.reshape(part.shape[1], -1)


def samples(p, library, stack):
    """Of the first levels alone, as the peers have them, and of what is halfway between the first two."""
    names = [*LEVELS["source"][0].split(","), *LEVELS["visual"][0].split(","), *LEVELS["saliency"][0].split(","), "laplacian", "entropy",
             *LEVELS["gradient"][0].split(",")]
    for who, work in works(p, "sample 273"):
        made = [sampled(part) for part in work()]
        got = np.concatenate([made[0][:, :3], *made[1:]], 1)
        # A texture's first level is that at which its texels are as large as pixels are there.
        expected = np.empty_like(got)
        for n, first in ((slice(0, 7), 0), (slice(7, 11), 2), (slice(11, 12), 0), (slice(12, 13), 4), (slice(13, 17), 0)):
            level = np.full((p.K, 1), first + 0.5 if who == SAME else 0, np.float32)
            expected[:, n] = library.sample(stack, np.concatenate([p.sample_at, level], 1), names[n])
        yield "sample 273", who, got, expected


def followed(p, library, device):
    """The saliency of a frame, at the same frame moved. With other flows only who does the same work knows what the tool does."""
    stack = library.stack(device, p.pixels, ["saliency", "prev_saliency"])
    for flow in (p.FLOW, *FLOWS):
        library.call("tvlm_stack_advance", stack, 0, None)
        library.set_image(stack, p.pixels)
        library.set_grid(stack, "flow_u", np.array([[flow]], np.float32))
        expected = library.read(stack, "prev_saliency", 0)
        p.flow_now = flow
        for who, work in works(p, "temporal"):
            if flow == p.FLOW or who == SAME:
                yield "temporal", who, planes(work())[0] if who != SAME else work()[..., 0], expected
    p.flow_now = p.FLOW
    library.destroy_stack(stack)


def differed(p, library, device):
    """A frame, and what the peers take for the one before."""
    stack = library.stack(device, np.roll(p.pixels, 6, 1), ["motion"])
    library.call("tvlm_stack_advance", stack, 0, None)
    library.set_image(stack, p.pixels)
    expected = library.read(stack, "motion", 0)
    library.destroy_stack(stack)
    for who, work in works(p, "motion"):
        yield "motion", who, np.asarray(work()), expected


def cells_of(p, made):
    """The cells that a peer chose, by their numbers: it has those, or the middles of cells in pixels."""
    made = order(made)
    if made.ndim == 2:
        columns, rows = (made // p.CELL).astype(int).T
        made = rows * p.CELLS + columns
    return set(made.tolist())


def chosen(p, tool, path, words):
    """The share of the tool's 273 best cells that a peer chooses too."""
    device = ["--device", words["device"]] if words["device"] else []
    found = json.loads(run(tool, "select", path, "--strategy", "grid", "-k", str(p.K), *device))["positions"]
    best = {position["cell"][1] * p.CELLS + position["cell"][0] for position in found}
    for stage in ("select, again", "select, uploaded"):
        for who, work in works(p, stage):
            yield stage, who, len(best & cells_of(p, work())) / len(best)


def compared(p, tool, path, words):
    """(row, peer, what it makes, what the tool makes) of all rows that are the same by definition."""
    p.not_edge[...] = ~edge_pixels(generate(tool, path, ["edges"], **words)[0])
    yield from families(p, tool, path, words)
    yield from levels(p, tool, path, words)
    yield from packs(p, tool, path, words)
    file = os.path.join(os.path.dirname(os.path.realpath(tool)), "..", "lib", "libtexturevlm.so")
    if not os.path.exists(file):
        print(f"note: no {file}: scores, the top K, samples, motion and temporal are not compared")
        return
    library = Library(file)
    device = library.open(words["device"])
    stack = library.stack(device, p.pixels, PACKED)
    yield from scores(p, library, stack)
    yield from top(p, library, device)
    yield from samples(p, library, stack)
    library.destroy_stack(stack)
    yield from differed(p, library, device)
    yield from followed(p, library, device)
    library.close(device)


def check(p, tool, path, device):
    """`p`: the module with the peers. Ends the program where one makes something else."""
    words, worst = {"device": device}, {}
    for stage, who, got, expected in compared(p, tool, path, words):
        if got.shape != expected.shape:
            sys.exit(f"{stage}, {who}: {got.shape}, not {expected.shape}")
        apart = float(np.abs(got - expected).max())
        worst[stage, who] = max(apart, worst.get((stage, who), 0.0))
        if not apart <= limit(stage, who):
            sys.exit(f"{stage}, {who}: not the same result ({apart:.1e}, at most {limit(stage, who):.0e})")
    print("peers' results against the tool's, largest difference:  " +
          "  ".join(f"{stage} {who} {apart:.0e}" for (stage, who), apart in worst.items()))
    for stage, who, share in chosen(p, tool, path, words):
        print(f"{stage}, {who}: {100 * share:.1f} % of the tool's {p.K} positions")
        others = limit(stage, who) if who == SAME or stage == "select, again" else 1
        if 1 - share > others:
            sys.exit(f"{stage}, {who}: not the same positions (at least {100 * (1 - others):.0f} %)")
    for who, work in p.PEERS["cluster"]:
        print(f"cluster, {who}: {len(np.unique(work()))} regions")
