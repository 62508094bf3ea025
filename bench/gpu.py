#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu.py BENCH.json [--json FILE] [--modes eager,graph,compiled] [--seconds S] | gpu.py --check TVLM

The stages of `tvlm bench --json` beside the same jobs in PyTorch on the same GPU: eager, as a CUDA graph, and compiled by
torch.compile. Times are those of `tvlm bench`: runs one after the other and one wait, the median of the samples, in
milliseconds. Texels have the format of BENCH.json. A job that ends on the host for `tvlm bench` does so here. What differs:

  - a saliency without its border prior, a quarter of the work of ours; samples at one level instead of two; one plane, where
    a family of ours has four components; no sum of three texels at odd sides, of which 1024 has none.

Exit 77 where PyTorch is not there or sees no GPU: a CPU is not compared with a GPU. Exit 1 where BENCH.json is of another
device than PyTorch's, where no job has a time in any mode, or where --check finds that a job makes something else than the tool does
(on any device).
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

from shared import sampled, torch_levels, write_json

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
SKIPPED, CELL, K = 77, 16, 273
LUMA = (0.299, 0.587, 0.114)

parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
parser.add_argument("bench", nargs="?")
parser.add_argument("--check", metavar="TVLM")
parser.add_argument("--json")
parser.add_argument("--modes", default="eager,graph,compiled")
parser.add_argument("--seconds", type=float, default=1e9, help="begin no further job after so many")
options = parser.parse_args()
if (options.bench is None) == (options.check is None):
    parser.error("either BENCH.json or --check TVLM")

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(SKIPPED)
torch.set_grad_enabled(False)


# ---- The jobs: each is a function of tensors ----

def plane(values, device, dtype):
    return torch.tensor(values, device=device, dtype=dtype)


class Kernels:
    """The constants of the filters, in the format of the texels."""

    def __init__(self, device, dtype):
        self.sobel = plane([[[[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]]]], device, dtype) / 4
        self.laplace = plane([[[[0, 1, 0], [1, -4, 1], [0, 1, 0]]]], device, dtype) / 4
        self.row = plane([[[[1, 4, 6, 4, 1]]]], device, dtype) / 16
        self.column = self.row.transpose(2, 3).contiguous()
        self.luma = plane(LUMA, device, dtype).view(1, 3, 1, 1)
        self.xyz = plane([[0.43395292, 0.37621942, 0.18982783], [0.2126729, 0.7151522, 0.0721750],
                          [0.01775632, 0.10946796, 0.87277572]], device, torch.float32)


def padded(x, n):
    return F.pad(x, (n, n, n, n), mode="replicate")


def source(pixels, k, dtype):
    rgb = pixels.permute(2, 0, 1)[None].to(dtype) * (1 / 255)
    return torch.cat([rgb, (rgb * k.luma).sum(1, True)], 1)


def visual(luma, k):
    g = F.conv2d(padded(luma, 1), k.sobel)
    edges = (g * g).sum(1, True).sqrt().clamp(max=1)
    low = F.conv2d(F.conv2d(padded(luma, 2), k.row), k.column)
    return torch.cat([edges, 1 - edges, 0.5 + 0.5 * (luma - low), low], 1)


def laplacian(luma, k):
    return F.conv2d(padded(luma, 1), k.laplace)


def gradient(rgba, k):
    rgb, g = rgba[:, :3], F.conv2d(padded(rgba[:, 3:], 1), k.sobel)
    both = torch.cat([rgb.mean(1, True), (rgb * rgb).mean(1, True)], 1)
    means = F.avg_pool2d(padded(both, 1), 3, 1)
    mean, square = means[:, :1], means[:, 1:]
    return torch.cat([g, (4 * (square - mean * mean)).clamp(0, 1), mean], 1)


def entropy(luma, base):
    bins = (luma[0, 0].float() * 16).long().clamp(max=15) + base
    rows, columns = base.shape[0] // CELL, base.shape[1] // CELL
    counts = torch.zeros(rows * columns * 16, device=luma.device)
    counts = counts.scatter_add(0, bins.flatten(), torch.ones_like(bins, dtype=torch.float32).flatten())
    p = counts.view(rows, columns, 16) / (CELL * CELL)
    return (-(p * p.clamp(min=1e-30).log2()).sum(2) / 4).to(luma.dtype)[None, None]


def lab(rgb, k):
    c = rgb[0].float()
    c = torch.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055).clamp(min=1e-9) ** 2.4)
    xyz = (k.xyz @ c.reshape(3, -1)).reshape(c.shape)
    f = torch.where(xyz > 0.008856452, xyz.clamp(min=1e-9) ** (1 / 3), 7.787037 * xyz + 16 / 116)
    return torch.stack([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])[None]


def saliency(source_levels, k):
    """Level n of the image is source_levels[n - 1]. The contrasts of centres against surrounds three levels coarser."""
    made = {n: lab(source_levels[n - 1][:, :3], k) for n in range(2, 8)}
    size = made[2].shape[-2:]
    maps = []
    for n in (2, 3, 4):
        up = dict(size=size, mode="bilinear", align_corners=False)
        centre = made[n] if n == 2 else F.interpolate(made[n], **up)
        apart = centre - F.interpolate(made[n + 3], **up)
        maps.append(((apart * apart).sum(1, True).sqrt() * 0.01).clamp(max=1))
    maps.insert(0, (maps[0] + maps[1] + maps[2]) / 3)
    return torch.cat([m / m.max().clamp(min=1e-6) for m in maps], 1).to(source_levels[0].dtype)


def combine(edges, disorder, salient, eccentricity):
    """The default score without a question: two parts, each by its smallest and largest."""
    i = 0.5 * (4 * edges).clamp(max=1) + 0.5 * disorder
    p = 0.7 * salient + 0.3 * (1 - eccentricity)
    (low_i, high_i), (low_p, high_p) = torch.aminmax(i), torch.aminmax(p)
    return 0.3 * (i - low_i) / (high_i - low_i) + 0.7 * (p - low_p) / (high_p - low_p)


def score_cells(visual_4, disorder, saliency_2, eccentricity):
    return combine(visual_4[0, 0], disorder[0, 0], saliency_2[0, 0], eccentricity)


def score_pixels(visual_0, disorder, saliency_0, eccentricity):
    up = dict(size=visual_0.shape[-2:], mode="bilinear", align_corners=False)
    return combine(visual_0[0, 0], F.interpolate(disorder, **up)[0, 0], F.interpolate(saliency_0[:, :1], **up)[0, 0], eccentricity)


def select(pixels, k, dtype, base, eccentricity):
    rgba = source(pixels, k, dtype)
    v, s = visual(rgba[:, 3:], k), saliency(torch_levels(rgba), k)
    v4 = F.avg_pool2d(F.avg_pool2d(F.avg_pool2d(F.avg_pool2d(v, 2), 2), 2), 2)
    scores = score_cells(v4, entropy(rgba[:, 3:], base), F.avg_pool2d(F.avg_pool2d(s, 2), 2), eccentricity)
    return torch.topk(scores.flatten(), min(K, scores.numel()))


def further_query(features, inverse, query, edges, disorder, salient, eccentricity):
    query = query.to(features.device)
    similarity = (features @ (query / query.norm()).to(features.dtype)).float() * inverse
    low, high = torch.aminmax(similarity)
    scores = 0.2 * score_cells(edges, disorder, salient, eccentricity).flatten() + 0.8 * (similarity - low) / (high - low)
    return torch.topk(scores, min(K, scores.numel()))


def resize(pixels, height, width):
    image = pixels.permute(2, 0, 1)[None].float()
    return F.interpolate(image, (height, width), mode="bicubic", antialias=True, align_corners=False).round().clamp(0, 255)


def patchify(image, mean, deviation, patch=14, merge=2):
    x = ((image / 255 - mean) / deviation)[0]
    rows, columns = x.shape[1] // patch, x.shape[2] // patch
    x = x.expand(2, *x.shape).reshape(2, 3, rows // merge, merge, patch, columns // merge, merge, patch)
    return x.permute(2, 5, 3, 6, 1, 0, 4, 7).reshape(rows * columns, -1)


def extract(rgba, rows, columns):
    return rgba[0, :3][:, rows, columns].permute(1, 0, 2, 3)


class Job:
    def __init__(self, name, work, *inputs, host=False):
        self.name, self.work, self.inputs, self.host = name, work, inputs, host


def cell_base(height, width, device):
    columns = width // CELL
    y, x = torch.arange(height, device=device) // CELL, torch.arange(width, device=device) // CELL
    return (16 * (y[:, None] * columns + x[None])).contiguous()


def all_jobs(pixels, device, dtype, copied=1 << 20):
    """`copied`: how many floats the job `copy` reads."""
    height, width = pixels.shape[:2]
    k, base = Kernels(device, dtype), cell_base(height, width, device)
    generator = torch.Generator().manual_seed(1)
    rand = lambda *shape: torch.rand(*shape, generator=generator).to(device)
    y, x = torch.meshgrid(torch.arange(height) + 0.5 - height / 2, torch.arange(width) + 0.5 - width / 2, indexing="ij")
    far = (torch.hypot(x, y) / torch.hypot(torch.tensor(width / 2), torch.tensor(height / 2))).to(device, dtype)
    far_cells = F.avg_pool2d(far[None, None], CELL)[0, 0]
    rgba = source(pixels, k, dtype)
    chain = torch_levels(rgba)
    v, s, e = visual(rgba[:, 3:], k), saliency(chain, k), entropy(rgba[:, 3:], base)
    luma, g, l1 = rgba[:, 3:].contiguous(), gradient(rgba, k), laplacian(rgba[:, 3:], k)
    v4, s2 = torch_levels(v)[3], torch_levels(s)[1]
    half, before = chain[0][:, 3:].contiguous(), torch.roll(chain[0][:, 3:], 3, 3).contiguous()
    few, many = rand(4096), rand(1 << 20)
    points = (rand(1, 1, K, 2) * 2 - 1).to(dtype)
    corner_y = (rand(K) * (height - 16)).long()[:, None, None] + torch.arange(16, device=device)[:, None]
    corner_x = (rand(K) * (width - 16)).long()[:, None, None] + torch.arange(16, device=device)[None]
    features, query, queries = rand(4096, 768) - 0.5, rand(768) - 0.5, rand(100, 768) - 0.5
    inverse, basis, stored = 1 / features.norm(dim=1), rand(768, 16), features.to(dtype)
    tall, wide = max(28, round(height / 28) * 28), max(28, round(width / 28) * 28)
    mean = plane((0.48145466, 0.4578275, 0.40821073), device, torch.float32).view(1, 3, 1, 1)
    deviation = plane((0.26862954, 0.26130258, 0.27577711), device, torch.float32).view(1, 3, 1, 1)
    resized = resize(pixels, tall, wide)
    old, new = torch.rand(copied, device=device), torch.zeros(copied, device=device)
    # In the memory of any application, as for tvlm bench. A CUDA graph cannot copy from there.
    on_host, asked, sent = pixels.cpu(), queries.cpu(), basis.cpu()
    jobs = [
        Job("copy", new.copy_, old),
        Job("upload", lambda: pixels.copy_(on_host)),
        Job("source", lambda p: source(p, k, dtype), pixels),
        Job("source levels", torch_levels, rgba),
        Job("visual", lambda t: visual(t, k), luma),
        Job("visual levels", torch_levels, v),
        Job("saliency", lambda *t: saliency(t, k), *chain),
        Job("saliency levels", torch_levels, s),
        Job("laplacian", lambda t: laplacian(t, k), luma),
        Job("laplacian levels", torch_levels, l1),
        Job("entropy", lambda t: entropy(t, base), luma),
        Job("entropy levels", torch_levels, e),
        Job("gradient", lambda t: gradient(t, k), rgba),
        Job("gradient levels", torch_levels, g),
        Job("motion", lambda a, b: (a - b).abs(), half, before),
        Job("score of cells", score_cells, v4, e, s2, far_cells),
        Job("score of pixels", score_pixels, v, e, s, far),
        Job("top 273 of 4096", lambda t: torch.topk(t, K), few),
        Job("top 273 of 1048576", lambda t: torch.topk(t, K), many),
        Job("sample 273", lambda p, *t: [F.grid_sample(i, p, padding_mode="border", align_corners=False) for i in t],
            points, rgba, v, s, l1, e, g),
        Job("patches 273, device", extract, rgba, corner_y, corner_x),
        Job("select, uploaded", lambda p: select(p, k, dtype, base, far_cells), pixels, host=True),
        Job("select, again", lambda *t: torch.topk(score_cells(*t).flatten(), min(K, e.numel())), v4, e, s2, far_cells, host=True),
        Job("features lengths", lambda t: 1 / t.norm(dim=1), stored),
        Job("similarity", lambda t, q, i: (t @ q.to(t.dtype)).float() * i, stored, query, inverse),
        Job("100 queries", lambda t, i: (asked.to(device) @ t.T) * i, features, inverse),
        Job("projection", lambda t: t @ sent.to(device), features),
        Job("export resize", lambda p: resize(p, tall, wide), pixels),
        Job("export patchify", lambda t: patchify(t, mean, deviation), resized),
        Job("export qwen", lambda: patchify(resize(on_host.to(device), tall, wide), mean, deviation)),
    ]
    if e.numel() == len(features):  # as in an image of 1024x1024
        jobs.append(Job("a further query", further_query, stored, inverse, query.cpu(), v4, e, s2, far_cells, host=True))
    return jobs


# ---- Whether they make what the tool makes ----

def check(tool):
    from common import Checks, generate, random_pixels, save_ppm
    checks, device, side = Checks(), torch.device("cuda" if torch.cuda.is_available() else "cpu"), 256
    pixels = random_pixels(side, side, 1)
    jobs = {job.name: job for job in all_jobs(torch.from_numpy(pixels.copy()).to(device), device, torch.float32)}
    rows = (("source", ["r", "g", "b"], 0, 1e-5), ("visual", ["edges", "edges_inv", "high", "low"], 0, 1e-5),
            ("laplacian", ["laplacian"], 0, 1e-5), ("gradient", ["edge_x", "edge_y", "rgb_var", "rgb_mean"], 0, 1e-5),
            ("entropy", ["entropy"], 4, 0.1), ("saliency", ["saliency_fine", "saliency_mid", "saliency_coarse"], 2, 1e-4))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "image.ppm")
        save_ppm(path, pixels)
        for name, channels, level, most in rows:
            expected = generate(tool, path, channels, device="reference", level=level)
            got = jobs[name].work(*jobs[name].inputs)[0].float().cpu().numpy()
            got = got[1:] if name == "saliency" else got[:len(channels)]
            checks.close(f"{name} by PyTorch ({device})", got, expected, most, "a value on a bin's border" if most == 0.1 else "the same sums",
                         mean=most)
    for job in jobs.values():
        made = job.work(*job.inputs)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        checks.true(f"{job.name}: finite", all(bool(torch.isfinite(t.float()).all()) for t in made))
    checks.done()


# ---- Times ----

def to_host(made):
    for tensor in made if isinstance(made, (list, tuple)) else [made]:
        tensor.cpu()


def milliseconds(run):
    """The median of 20 samples of one run each, or of so many that a sample takes 2 ms."""
    return statistics.median(sampled(run, torch.cuda.synchronize, 20, 2e-3, 4096))


def as_graph(job):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            job.work(*job.inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = job.work(*job.inputs)
    return lambda: (graph.replay(), to_host(made) if job.host else None)


def prepared(job, mode):
    if mode == "graph":
        return as_graph(job)
    work = torch.compile(job.work, dynamic=False) if mode == "compiled" else job.work
    return lambda: to_host(work(*job.inputs)) if job.host else work(*job.inputs)


def same_device(a, b):
    return a.lower() in b.lower() or b.lower() in a.lower()


def table(report, rows, modes):
    print(f"{report['device']}, {report['width']}x{report['height']}, {report['storage']}, {report['format']}; PyTorch {torch.__version__}; ms")
    print(f"{'stage':22s}{'tvlm':>9s}" + "".join(f"{mode:>10s}" for mode in modes) + f"{'fastest / tvlm':>16s}")
    for row in rows:
        times = [row["pytorch_ms"].get(mode) for mode in modes]
        known = [t for t in times if t is not None]
        ratio = f"{min(known) / row['tvlm_ms']:16.2f}" if known and row["tvlm_ms"] > 0 else f"{'':16s}"
        print(f"{row['stage']:22s}{row['tvlm_ms']:9.4f}" + "".join(f"{t:10.4f}" if t is not None else f"{'-':>10s}" for t in times) + ratio)


def save(name, rows):
    if options.json:
        write_json(options.json, {"device": name, "pytorch": torch.__version__, "stages": rows}, indent=1)


def compare():
    try:
        with open(options.bench) as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"gpu.py: {options.bench}: not a report of `tvlm bench --json`: {error}")
    if not torch.cuda.is_available():
        print(f"SKIPPED: PyTorch {torch.__version__} sees no GPU; a CPU is not compared with one")
        sys.exit(SKIPPED)
    name = torch.cuda.get_device_name()
    if not same_device(name, report["device"]):
        sys.exit(f"gpu.py: {options.bench} is of '{report['device']}', and PyTorch's GPU is '{name}': not the same device")
    if report["width"] % CELL != 0 or report["height"] % CELL != 0:
        sys.exit(f"gpu.py: {report['width']}x{report['height']}: the jobs take sides of whole cells of {CELL} pixels")
    start, modes = time.perf_counter(), options.modes.split(",")
    ours = {row["name"]: row["median_ms"] for row in report["stages"]}
    copied = next((row["bytes"] for row in report["stages"] if row["name"] == "copy"), 8 << 20) // 8
    dtype = torch.float16 if report["format"] == "f16" else torch.float32
    generator = torch.Generator().manual_seed(2)
    pixels = torch.randint(0, 256, (report["height"], report["width"], 3), generator=generator, dtype=torch.uint8).cuda()
    jobs = [job for job in all_jobs(pixels, torch.device("cuda"), dtype, copied) if job.name in ours]
    rows = [{"stage": job.name, "tvlm_ms": ours[job.name], "pytorch_ms": {}, "why_not": {}} for job in jobs]
    for mode in modes:
        for job, row in zip(jobs, rows):
            if time.perf_counter() - start > options.seconds:
                row["why_not"][mode] = "no time left"
                continue
            try:
                row["pytorch_ms"][mode] = milliseconds(prepared(job, mode))
            except Exception as error:  # whatever PyTorch cannot do is told, and the next job goes on
                row["why_not"][mode] = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        save(name, rows)  # compiling may take longer than there is time: what is known by then is kept
    table(report, rows, modes)
    for row in rows:
        for mode, why in row["why_not"].items():
            print(f"note: {row['stage']}, {mode}: {why}")
    if not any(row["pytorch_ms"] for row in rows):
        sys.exit("gpu.py: PyTorch has no time of any stage: nothing was compared")


if options.check:
    check(options.check)
else:
    compare()
