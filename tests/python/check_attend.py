# SPDX-License-Identifier: Apache-2.0
"""check_attend.py TVLM: `tvlm-lab attend` against NumPy in double: exact attention as it is in the book, with and without heads,
coarse levels by the definition (include/texturevlm/lab/attend.h), written here with matrices that say how much of each cell
another one covers; and PyTorch's scaled_dot_product_attention, where there is one that has it.
"""
import json
import os
import sys
import tempfile

import common
from common import Checks, device_name, devices, np, run


def cover(cells, others):
    """[cells, others]: how much of each of `cells` in a row lies in each of `others` that cover the same."""
    begin = np.maximum.outer(np.arange(cells) / cells, np.arange(others) / others)
    end = np.minimum.outer(np.arange(1, cells + 1) / cells, np.arange(1, others + 1) / others)
    return np.maximum(end - begin, 0) * cells


def halved(grid):
    """The next level: exact averages over area along both axes."""
    rows, columns = (max(1, side // 2) for side in grid.shape[:2])
    return np.einsum("yr,xc,rcd->yxd", cover(rows, grid.shape[0]), cover(columns, grid.shape[1]), grid)


def levels(grid, count):
    found = [grid.astype(np.float64)]
    while len(found) < count:
        found.append(halved(found[-1]))
    return found


def attention(queries, keys, values, level, fine, scale, mix=0.0, steps=False):
    """One head: what comes out, and the map."""
    read = list(range(level, -1, -1)) if steps else [level, 0] if level else [0]
    all_keys, all_values = levels(keys, level + 1), levels(values, level + 1)
    rows, columns = keys.shape[:2]
    outs, spread = [], np.zeros(rows * columns)
    for query in queries.astype(np.float64):
        scores = [scale * all_keys[n].reshape(-1, keys.shape[2]) @ query for n in read]
        areas = [np.full(scores[0].size, rows * columns / scores[0].size)]
        for i in range(len(read) - 1):
            present = np.flatnonzero(areas[i] > 0)
            chosen = present[np.argsort(-scores[i][present], kind="stable")[:max(1, int(np.floor(fine * len(present) + 0.5)))]]
            gives = np.zeros_like(areas[i])
            gives[chosen] = areas[i][chosen]
            if not mix:
                areas[i][chosen] = 0
            here, there = all_keys[read[i]].shape, all_keys[read[i + 1]].shape
            over = np.einsum("yr,xc->yxrc", cover(here[0], there[0]), cover(here[1], there[1])).reshape(here[0] * here[1], -1)
            areas.append(gives @ over)
        parts = []
        for group, share in [(range(len(read)), 1.0)] if not mix else [((0,), mix), ((1,), 1 - mix)]:
            most = max(scores[i][areas[i] > 0].max(initial=-np.inf) for i in group)
            terms = [areas[i] * np.exp(np.where(areas[i] > 0, scores[i] - most, -np.inf)) for i in group]
            parts += [share * term / sum(term.sum() for term in terms) for term in terms]
        outs.append(sum(part @ all_values[n].reshape(-1, values.shape[2]) for part, n in zip(parts, read)))
        for part, n in zip(parts, read):
            here = all_keys[n].shape
            spread += part @ np.einsum("yr,xc->yxrc", cover(here[0], rows), cover(here[1], columns)).reshape(here[0] * here[1], -1)
    return np.array(outs), spread.reshape(rows, columns)


def many(queries, keys, values, heads, scale, **how):
    """All heads."""
    d = keys.shape[2] // heads
    found = [attention(q, k, v, scale=scale or 1 / np.sqrt(d), **how) for q, k, v in
             zip(np.split(queries, heads, -1), np.split(keys, heads, -1), np.split(values, heads, -1))]
    spread = sum(one for _, one in found)
    return np.concatenate([out for out, _ in found], -1), spread / spread.max()


def check(checks, tool, folder, device, shape, heads, scale, how, rng):
    rows, columns, d, dv, count = shape
    place = np.stack(np.meshgrid(np.linspace(0, 3, rows), np.linspace(0, 2, columns), indexing="ij"), -1)
    files = {name: os.path.join(folder, name + ".npy") for name in ("keys", "values", "queries", "out", "map")}
    arrays = {"keys": np.sin(place @ rng.normal(size=(2, d)) + rng.normal(size=d)), "values": rng.normal(size=(rows, columns, dv)),
              "queries": rng.normal(size=(count, d))}
    for name, array in arrays.items():
        arrays[name] = array.astype(np.float32)
        np.save(files[name], arrays[name])
    words = ["attend", files["keys"], "--queries", files["queries"], "--values", files["values"], "-o", files["out"], "--map", files["map"],
             "--heads", str(heads), *(["--scale", str(scale)] if scale else []), *(["--device", device] if device else []),
             "--format", "f32"]
    if how["level"]:
        words += ["--level", str(how["level"]), "--fine", str(how["fine"]), *(["--mix", str(how["mix"])] if how.get("mix") else []),
                  *(["--steps"] if how.get("steps") else [])]
    json.loads(run(tool + "-lab", *words, "--json"))
    expected, spread = many(arrays["queries"], arrays["keys"], arrays["values"], heads, scale, **how)
    what = f"{shape}, {heads} heads, {how}, {device_name(device)}"
    checks.close("out " + what, np.load(files["out"]), expected, 1e-5, "sums of floats")
    checks.close("map " + what, np.load(files["map"]), spread, 1e-5, "sums of floats")
    return arrays, np.load(files["out"])


def check_torch(checks, arrays, got, heads):
    try:
        import torch
        attend = torch.nn.functional.scaled_dot_product_attention
    except (ImportError, AttributeError):
        print("skipped: no PyTorch with scaled_dot_product_attention")
        return
    split = [torch.from_numpy(arrays[name].reshape(-1, heads, arrays[name].shape[-1] // heads)).transpose(0, 1)[None]
             for name in ("queries", "keys", "values")]
    out = attend(*split)[0].transpose(0, 1).reshape(got.shape)
    checks.close("scaled_dot_product_attention", got, out.numpy(), 1e-5, "sums of floats")


def main():
    tool, checks, rng = sys.argv[1], Checks(), np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        for device in devices(tool):
            for shape, heads, scale in (((1, 1, 2, 3, 1), 1, None), ((7, 12, 12, 8, 3), 4, None), ((16, 8, 20, 20, 5), 1, 0.7)):
                arrays, got = check(checks, tool, folder, device, shape, heads, scale, {"level": 0, "fine": 1}, rng)
                if not scale:
                    check_torch(checks, arrays, got, heads)
                if shape[0] == 1:
                    continue
                for how in ({"level": 1, "fine": 0.25}, {"level": 2, "fine": 0.5}, {"level": 2, "fine": 1.0},
                            {"level": 2, "fine": 0.5, "steps": True}, {"level": 1, "fine": 0.3, "mix": 0.7}):
                    check(checks, tool, folder, device, shape, heads, scale, how, rng)
    checks.done()


main()
