#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/attention.py [--time]: what hierarchical attention loses, and what it reads. It is run by a Python that has the package
texturevlm (`pip install .`).

Keys and values are the four painted grids of ../shared/data/clip/painted (CLIP vectors, 512 numbers a cell), queries the text
vectors of the 80 COCO classes; then vectors without any neighbourhood. texturevlm.hierarchical_attention at levels 1 to 3 with fine
shares of 2 to 50 %, against a softmax in double: the mean over queries of |o - o_exact| / |o_exact|, in percent, and in brackets the
bytes that were read, in percent of what exact attention reads.

    unit, scale 100   unit vectors, 100 q . k: CLIP's own temperature, at which a query looks at some cells
    raw, 1/sqrt(d)    the vectors as they lie there: the softmax is nearly flat
    random            normal numbers, 1/sqrt(d), and 3/sqrt(d), which is peaked

Below the table is the error of the mean of all values in place of any attention: so much there is to lose.

--time: the processor time of a call beside that of PyTorch's scaled_dot_product_attention, each on one thread, so that a busy
machine disturbs neither much. On a GPU it says nothing.

Exit: 77 without the package, the data, or, for --time, PyTorch.
"""
import argparse
import os
import sys
import time

os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")  # for --time; before the library is loaded

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import need, np  # noqa: E402
from shared import DATA  # noqa: E402

tv = need("texturevlm")

CLIP = os.path.join(DATA, "clip")
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
WAYS = {"one softmax": {}, "step by step": {"steps": True}, "mix .7/.3": {"mix": 0.7}}


def exact(queries, keys, values, scale):
    scores = scale * queries.astype(np.float64) @ keys.reshape(-1, keys.shape[2]).astype(np.float64).T
    parts = np.exp(scores - scores.max(1, keepdims=True))
    return parts / parts.sum(1, keepdims=True) @ values.reshape(-1, values.shape[2]).astype(np.float64)


def error(out, expected):
    return float(np.mean(np.linalg.norm(out - expected, axis=1) / np.linalg.norm(expected, axis=1)))


def units(vectors):
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def problems():
    """Name and (queries, keys, values, scale) of each."""
    painted = os.path.join(CLIP, "painted")
    text = np.load(os.path.join(CLIP, "detic_coco_clip_a+cname.npy")).astype(np.float32)
    grids = [np.load(os.path.join(painted, file)).astype(np.float32) for file in sorted(os.listdir(painted)) if file.endswith(".npy")]
    d = text.shape[1]
    yield "unit, scale 100", [(units(text), units(grid), units(grid), 100.0) for grid in grids]
    yield "raw, 1/sqrt(d)", [(text, grid, grid, d ** -0.5) for grid in grids]
    rng = np.random.default_rng(1)
    for factor in (1, 3):
        draws = [[rng.normal(size=shape).astype(np.float32) for shape in ((80, d), (32, 40, d), (32, 40, d))] for _ in range(2)]
        yield f"random, {factor}/sqrt(d)", [(*draw, factor * d ** -0.5) for draw in draws]


def measure():
    table = {}
    for name, cases in problems():
        for queries, keys, values, scale in cases:
            expected = exact(queries, keys, values, scale)
            mean = np.broadcast_to(values.reshape(-1, values.shape[2]).mean(0), expected.shape)
            table.setdefault((name, "mean of the values", 0, 0.0), []).append((error(mean, expected), 0.0))
            with tv.Texture(keys, format="f32") as k, tv.Texture(values, format="f32") as v:
                for way, options in WAYS.items():
                    for level in (1, 2, 3):
                        if way == "step by step" and level == 1:
                            continue  # which has one step
                        for share in SHARES:
                            found = tv.hierarchical_attention(queries, k, v, level, share, scale=scale, details=True, **options)
                            table.setdefault((name, way, level, share), []).append((error(found.out, expected), found.bytes))
    return {key: np.mean(rows, axis=0) for key, rows in table.items()}


def show(table):
    print("| vectors | way | level | " + " | ".join(f"{100 * share:.0f} %" for share in SHARES) + " |")
    print("|---|---|---|" + "---|" * len(SHARES))
    for name, way, level in dict.fromkeys(key[:3] for key in table):
        if level == 0:
            continue
        cells = [table[name, way, level, share] for share in SHARES]
        print(f"| {name} | {way} | {level} | " + " | ".join(f"{100 * lost:.2g} ({100 * read:.0f})" for lost, read in cells) + " |")
    for (name, way, level, _), (lost, _) in table.items():
        if level == 0:
            print(f"\n{name}, {way}: {100 * lost:.2g} %", end="")
    print()


# ---- Time ----

def fastest(run, seconds=1.0):
    run()
    times, end = [], time.process_time() + seconds
    while len(times) < 5 or time.process_time() < end:
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def times():
    """Our call and PyTorch's, one after the other, on one thread each."""
    torch = need("torch")
    torch.set_num_threads(1)
    print(f"{tv.Device().name}; PyTorch {torch.__version__}; processor time, least of a second, ms")
    print("| queries | keys | sdpa | exact | level 1, 0.2 | level 2, 0.2 | level 2, 0.05 | level 3, 0.05 |")
    print("|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(2)
    for count, side, d in ((1, 64, 768), (16, 64, 768), (100, 64, 768), (1, 128, 768)):
        queries, keys, values = (rng.normal(size=shape).astype(np.float32) for shape in ((count, d), (side, side, d), (side, side, d)))
        a, b, c = (torch.from_numpy(array.reshape(1, 1, -1, d)) for array in (queries, keys, values))
        row = [fastest(lambda: torch.nn.functional.scaled_dot_product_attention(a, b, c))]
        with tv.Texture(keys) as k, tv.Texture(values) as v:
            for level, share in ((0, 1.0), (1, 0.2), (2, 0.2), (2, 0.05), (3, 0.05)):
                row.append(fastest(lambda: tv.hierarchical_attention(queries, k, v, coarse_mip=level, fine_ratio=share)))
        print(f"| {count} | {side} x {side} x {d} | " + " | ".join(f"{ms:.2f}" for ms in row) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", action="store_true")
    if parser.parse_args().time:
        times()
        return 0
    if not os.path.isdir(os.path.join(CLIP, "painted")):
        print("attention.py: skipped: there is no", CLIP)
        return 77
    show(measure())
    return 0


sys.exit(main())
