#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queries.py TVLM [--rounds N] [--threads N] [--device NAME] [--json FILE]: questions to an image beside the same in PyTorch.

Features of 64 x 64 x 768 of an image of 1024 x 1024: upload, one exact similarity, 100 queries, the image's own basis of 16,
projection onto it, and a further query to its 273 positions, exact and from the 16 channels. `tvlm bench` and PyTorch in
turn, in several rounds. Both are sampled alike: a sample is the mean of as many runs as take 5 ms, one after the other, with one wait
at the end; a round's time is the least of its seven samples; the table has the median and the least of the rounds, and PyTorch's time
over ours. First the two are compared: the same positions from the same files. On a GPU that PyTorch sees, it works there.

Exit: 0; 1 where fewer than 99 % of the positions are the same, or a further query takes 5 ms (on a GPU 0.06) or more in the best round;
77 without NumPy or PyTorch.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from shared import sampled, write_json

parser = argparse.ArgumentParser()
parser.add_argument("tool", metavar="TVLM")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--device", help="of tvlm; PyTorch takes a CUDA device where this names no CPU")
parser.add_argument("--json", metavar="FILE")
options = parser.parse_args()
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", str(options.threads))
try:
    import numpy as np
    import torch
    from torch.nn.functional import grid_sample, normalize
except ImportError as missing:
    print("SKIPPED:", missing)
    sys.exit(77)
torch.set_num_threads(options.threads)
torch.set_grad_enabled(False)

SAMPLES, SAMPLE = 7, 0.005  # seconds
SIDE, CELLS, DIMENSION, K, BASIS, QUERIES = 1024, 64, 768, 273, 16, 100
random = np.random.default_rng(1)
common = random.normal(size=DIMENSION)
features = (random.normal(size=(CELLS, CELLS, DIMENSION)) + 0.5 * common).astype(np.float16)
questions = random.normal(size=(QUERIES, DIMENSION)).astype(np.float32)


def run(*words):
    result = subprocess.run([options.tool, *words, *(["--device", options.device] if options.device else [])], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("tvlm %s: %s" % (" ".join(words), result.stderr.strip()))
    return json.loads(result.stdout)


listed = json.loads(subprocess.run([options.tool, "devices", "--json"], capture_output=True, text=True).stdout)["devices"]
ours_on_gpu = any(d["type"] == "gpu" and (not options.device or options.device in d["name"]) for d in listed)
where = torch.device("cuda" if ours_on_gpu and torch.cuda.is_available() else "cpu")
kind = torch.float16 if where.type == "cuda" else torch.float32  # as tvlm stores features there


def blas():
    """Which BLAS PyTorch's products run on: Debian's reference BLAS is no peer; libopenblas0-pthread is."""
    with open("/proc/self/maps") as maps:
        names = {os.path.realpath(line.split()[-1]) for line in maps if "blas" in line}
    return ", ".join(sorted(os.path.basename(name) for name in names)) or "its own BLAS"


def finish():
    if where.type == "cuda":
        torch.cuda.synchronize()


# ---- The same in PyTorch ----

host_features, host_questions = torch.from_numpy(features).reshape(-1, DIMENSION), torch.from_numpy(questions)
x = host_features.to(where, kind)
x32 = x.float()
inverse = 1.0 / x32.norm(dim=1)
centres = (torch.arange(CELLS, device=where) + 0.5) * 2.0 / CELLS - 1.0
grid = torch.stack(torch.meshgrid(centres, centres, indexing="xy"), 2)[None]
parts = torch.rand(2, CELLS * CELLS, device=where)  # what the image itself says, from the first question
weights = (0.2, 0.3, 0.5)
basis = torch.linalg.svd(x32, full_matrices=False)[2][:BASIS]
projected = normalize(x32 @ basis.T, dim=1)
shares = (x32 @ basis.T).norm(dim=1) * inverse


def upload():
    return host_features.to(where, kind, copy=True)


def lengths():
    return 1.0 / x.float().norm(dim=1)


def similarity():
    return (x @ normalize(host_questions[0].to(where, kind), dim=0)).float() * inverse


def many():
    return (x32 @ normalize(host_questions.to(where), dim=1).T) * inverse[:, None]


def image_basis():
    """A randomized range finder, the same number of passes: torch's own."""
    return torch.svd_lowrank(x32, q=BASIS + 8, niter=3)[2][:, :BASIS]


def project():
    made = x32 @ basis.T
    return normalize(made, dim=1), made.norm(dim=1) * inverse


def to_range(part):
    low, high = torch.aminmax(part)
    return (part - low) / (high - low)


def positions(cosine):
    """Read at the candidates, brought to [0, 1], weighed against what the image says, the best 273."""
    at = grid_sample(cosine.reshape(1, 1, CELLS, CELLS), grid, align_corners=False, padding_mode="border").reshape(-1)
    score = weights[0] * to_range(parts[0]) + weights[1] * to_range(parts[1]) + weights[2] * to_range(at)
    best = torch.topk(score, K)
    return best.indices.tolist(), best.values.tolist()


def further():
    return positions(similarity())


def further_embedded():
    query = basis @ normalize(host_questions[0].to(where), dim=0)
    return positions((projected @ query) * shares)


STAGES = [("features upload", upload), ("features lengths", lengths), ("similarity", similarity), ("100 queries", many), ("image basis", image_basis),
          ("projection", project), ("a further query", further), ("a query to the embedding", further_embedded)]


# ---- Comparison and times ----

def compare():
    """The best 273 cells by the question alone, of both."""
    with tempfile.TemporaryDirectory() as folder:
        image, f, q = (os.path.join(folder, name) for name in ("image.ppm", "F.npy", "Q.npy"))
        with open(image, "wb") as file:
            file.write(b"P6 %d %d 255\n" % (SIDE, SIDE) + random.integers(0, 256, SIDE * SIDE * 3, np.uint8).tobytes())
        np.save(f, features)
        np.save(q, questions[0])
        got = {p["cell"][1] * CELLS + p["cell"][0] for p in run("select", image, "--strategy", "grid", "--features", f, "--query", q, "--weights", "0,0,1", "-k", str(K))["positions"]}
    return len(got & set(torch.topk(similarity(), K).indices.tolist())) / K


def time_work(work):
    """Milliseconds, sampled as `tvlm bench` samples (bench/program/bench.c)."""
    return min(sampled(work, finish, SAMPLES, SAMPLE, 2048))


same = compare()
print("the same positions from both: %.1f %%" % (100 * same))
ours, theirs = {name: [] for name, _ in STAGES}, {name: [] for name, _ in STAGES}
for _ in range(options.rounds):
    report = run("bench", "--json", "--repeat", str(SAMPLES), "--stage", ",".join([*(name for name, _ in STAGES), "a query by cascade"]))
    found = {stage["name"]: stage["minimum_ms"] for stage in report["stages"]}
    for name, work in STAGES:
        if name not in found:
            sys.exit("`tvlm bench` has no stage '%s'" % name)
        ours[name].append(found[name])
        theirs[name].append(time_work(work))
print("tvlm on %s, %s storage, %s; PyTorch %s on %s, %s; ms" % (report["device"], report["storage"], report["format"], torch.__version__, where,
                                                            "%d threads, %s" % (options.threads, blas()) if where.type == "cpu" else str(kind)))
print("%-26s %10s %10s %10s %10s %16s" % ("", "tvlm", "least", "PyTorch", "least", "PyTorch / tvlm"))
table = []
for name, _ in STAGES:
    a, b = ours[name], theirs[name]
    table.append({"stage": name, "tvlm_ms": float(np.median(a)), "tvlm_least_ms": min(a), "torch_ms": float(np.median(b)), "torch_least_ms": min(b),
                  "ratio": float(np.median(b) / np.median(a)), "ratio_of_least": min(b) / min(a)})
    row = table[-1]
    print("%-26s %10.3f %10.3f %10.3f %10.3f %8.2f (%5.2f)" % (name, *list(row.values())[1:]))
if options.json:
    write_json(options.json, {"device": report["device"], "torch": torch.__version__, "torch_on": str(where), "same_positions": same,
                              "stages": table}, indent=1)
limit = 0.06 if ours_on_gpu else 5.0
good = min(ours["a further query"]) < limit
print("a further query under %g ms: %s" % (limit, "yes" if good else "no"))
sys.exit(0 if good and same >= 0.99 else 1)
