# SPDX-License-Identifier: Apache-2.0
"""peers_check.py: whether the peers of peers.py make what the tool makes, row by row, before anybody's time counts.

What is compared is what both write: channels and their levels, scores, positions, samples. peers.py says which rows are another result.
"""
import json
import os
import sys

from common import Library, edge_pixels, generate, np, run

LEVELS = {"source": ("r,g,b", 0), "visual": ("edges,edges_inv,high,low", 0), "laplacian": ("laplacian", 0),
          "gradient": ("edge_x,edge_y,rgb_var,rgb_mean", 0), "entropy": ("entropy", 4),
          "saliency": ("saliency,saliency_fine,saliency_mid,saliency_coarse", 2)}
PACKED = ("r,g,b,edges,edges_inv,high,low,saliency,x,y,eccentricity,laplacian,entropy,edge_x,edge_y,rgb_var,rgb_mean,saliency_fine,"
          "saliency_mid,saliency_coarse").split(",")
TORCH_PACKED = ("r,g,b,edges,edges_inv,high,low,saliency,saliency_fine,saliency_mid,saliency_coarse,x,y,eccentricity,laplacian,entropy,"
                "edge_x,edge_y,rgb_var,rgb_mean").split(",")
# The largest differences; 1e-5 where nothing is said. OpenCV's cube root and gamma are tables and splines; a value on a bin's border may
# fall into the other bin.
LIMITS = {"saliency": 2e-2, "entropy": 0.1,}


def planes(array):
    """[channel][y][x] of what a peer makes."""
    array = np.asarray(array)
    if array.ndim == 4:
        return array[0]
    return array.transpose(2, 0, 1) if array.ndim == 3 else array[None]


def families(p, tool, path, words):
    for stage, (names, level) in LEVELS.items():
        expected = generate(tool, path, names.split(","), level=level, **words)
        for who, work in p.PEERS[stage]:
            got = planes(work())
            first = 1 if stage == "saliency" else 0  # whose first map is another one
            yield stage, who, got[first:len(expected)], expected[first:]
    for who, work in p.PEERS["distance"]:
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
        for who, work in p.PEERS[stage]:
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
    for who, work in p.PEERS["pack"]:
        names, made = (TORCH_PACKED, work().reshape(p.PACKED, p.SIDE, p.SIDE)) if who == "PyTorch" else (
            PACKED, np.concatenate([planes(array) for array in work()]))
        yield "pack", who, np.asarray(made), generate(tool, path, names, **words)


def samples(p, library, stack):
    """Of the first levels alone, as PyTorch has them."""
    names = [*LEVELS["source"][0].split(","), *LEVELS["visual"][0].split(","), *LEVELS["saliency"][0].split(","), "laplacian", "entropy",
             *LEVELS["gradient"][0].split(",")]
    for who, work in p.PEERS["sample 273"]:
        at = (p.points_t[0, 0].numpy() + 1) * p.SIDE / 2
        expected = library.sample(stack, np.concatenate([at, np.zeros((len(at), 1), np.float32)], 1), names)
        made = [np.asarray(part)[0, :, 0] for part in work()]
        yield "sample 273", who, np.concatenate([made[0][:3], *made[1:]]).T, expected


def followed(p, library, device):
    """The saliency of a frame, at the same frame moved."""
    stack = library.stack(device, p.pixels, ["saliency", "prev_saliency"])
    library.call("tvlm_stack_advance", stack, 0, None)
    library.set_image(stack, p.pixels)
    library.set_grid(stack, "flow_u", np.array([[p.FLOW]], np.float32))
    expected = library.read(stack, "prev_saliency", 0)
    library.destroy_stack(stack)
    for who, work in p.PEERS["temporal"]:
        yield "temporal", who, planes(work())[0], expected


def differed(p, library, device):
    """A frame, and what the peers take for the one before."""
    stack = library.stack(device, np.roll(p.pixels, 6, 1), ["motion"])
    library.call("tvlm_stack_advance", stack, 0, None)
    library.set_image(stack, p.pixels)
    expected = library.read(stack, "motion", 0)
    library.destroy_stack(stack)
    for who, work in p.PEERS["motion"]:
        yield "motion", who, np.asarray(work()), expected


def chosen(p, tool, path, words):
    """The share of the tool's 273 best cells that a peer chooses too."""
    device = ["--device", words["device"]] if words["device"] else []
    found = json.loads(run(tool, "select", path, "--strategy", "grid", "-k", str(p.K), *device))["positions"]
    best = {position["cell"][1] * p.CELLS + position["cell"][0] for position in found}
    for stage in ("select, again", "select, uploaded"):
        for who, work in p.PEERS[stage]:
            yield stage, who, len(best & set(np.asarray(work()).tolist())) / len(best)


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
        limit = LIMITS.get("entropy" if stage == "entropy levels" else stage, 1e-5)
        if not apart <= limit:
            sys.exit(f"{stage}, {who}: not the same result ({apart:.1e}, at most {limit:.0e})")
    print("peers' results against the tool's, largest difference:  " +
          "  ".join(f"{stage} {who} {apart:.0e}" for (stage, who), apart in worst.items()))
    for stage, who, share in chosen(p, tool, path, words):
        print(f"{stage}, {who}: {100 * share:.1f} % of the tool's {p.K} positions")
        if stage == "select, again" and share < 0.99:
            sys.exit(f"{stage}, {who}: not the same positions")
    for who, work in p.PEERS["cluster"]:
        print(f"cluster, {who}: {len(np.unique(work()))} regions")
