#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tvlm-lab pca train` against numpy's SVD (and scikit-learn's PCA where it is installed): the angle between the subspaces,
the mean, the shares; and a file that a Python user writes. Usage: check_pca.py TVLM [DEVICE]"""
import json, os, struct, subprocess, sys, tempfile
import numpy as np

tool, device = sys.argv[1], sys.argv[2:3]
folder = tempfile.mkdtemp()
option = ["--device", device[0]] if device else []


def read(file):
    raw = open(file, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    take = lambda t: np.frombuffer(raw[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]], np.float32).reshape(t["shape"])
    return {n: take(t) for n, t in header.items() if n != "__metadata__"}, header["__metadata__"]


def write(file, tensors, metadata):
    """The format's own layout, by hand."""
    header, at = {"__metadata__": metadata}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": {"float32": "F32", "float64": "F64"}[str(t.dtype)], "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header).encode()
    with open(file, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def angle(a, b):
    s = np.linalg.svd(np.linalg.qr(a.T.astype(np.float64))[0].T @ b.T, compute_uv=False)
    return np.sqrt(max(0.0, 1 - min(1.0, s.min()) ** 2))


random = np.random.default_rng(1)
k, dimension = 12, 96
x = (random.normal(size=(3000, dimension)) * np.r_[np.linspace(6, 2, k), np.full(dimension - k, 0.5)]) @ np.linalg.qr(random.normal(size=(dimension, dimension)))[0] + 20 * random.normal(size=dimension)
files = []
for i, part in enumerate(np.split(x.astype(np.float32), [700, 1900])):
    files.append(os.path.join(folder, "%d.npy" % i))
    np.save(files[-1], part.reshape(-1, 2, dimension) if i == 1 else part)
x = x.astype(np.float32).astype(np.float64)
failed = 0
for centred in (False, True):
    for method in ("covariance", "range-finder"):
        out = os.path.join(folder, "basis.safetensors")
        subprocess.check_call([tool + "-lab", "pca", "train", *files, "-k", str(k), "-o", out, "--method", method, *option, *(["--centred"] if centred else [])], stdout=subprocess.DEVNULL)
        got, metadata = read(out)
        mean = x.mean(0) if centred else np.zeros(dimension)
        u, s, v = np.linalg.svd(x - mean, full_matrices=False)
        errors = (angle(got["components"], v[:k]), np.abs(got["mean"] - mean).max(), np.abs(got["explained_variance_ratio"] - (s ** 2 / (s ** 2).sum())[:k]).max())
        # Of the range finder's 28 directions each pass leaves (0.5 / 2)^2 of what is beyond k: a few 1e-4 after three.
        good = errors[0] < (1e-4 if method == "covariance" else 2e-3) and errors[1] < 1e-4 and errors[2] < 1e-5 and metadata["centred"] == ("true" if centred else "false") and metadata["vectors"] == "3000"
        failed += not good
        print("%-4s %-12s %-11s angle %.1e mean %.1e shares %.1e" % ("ok" if good else "FAIL", method, "centred" if centred else "not centred", *errors))
        if centred:
            try:
                from sklearn.decomposition import PCA
                pca = PCA(k, svd_solver="full").fit(x)
                off = angle(got["components"], pca.components_), np.abs(np.abs((pca.components_ * got["components"]).sum(1)) - 1).max(), np.abs(pca.explained_variance_ratio_ - got["explained_variance_ratio"]).max()
                failed += method == "covariance" and not (off[0] < 1e-4 and off[1] < 1e-6 and off[2] < 1e-5)
                print("     scikit-learn: angle %.1e, each up to sign %.1e, shares %.1e" % off)
            except ImportError:
                print("     scikit-learn: not installed")

mine = os.path.join(folder, "mine.safetensors")
write(mine, {"mean": x.mean(0), "components": v[:k], "explained_variance_ratio": (s ** 2 / (s ** 2).sum())[:k]}, {"format": "texturevlm.basis", "centred": "true"})
about = json.loads(subprocess.check_output([tool + "-lab", "pca", "info", mine, "--json"]))
report = json.loads(subprocess.run([tool + "-lab", "pca", "validate", mine, files[0], "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
part = x[:700] - x.mean(0)
kept = ((part @ v[:k].T) ** 2).sum() / (part ** 2).sum()
good = about["k"] == k and about["centred"] and abs(report["table"][-1]["variance"] - kept) < 1e-5
failed += not good
print("%-4s a file by hand: variance kept %.5f, numpy %.5f" % ("ok" if good else "FAIL", report["table"][-1]["variance"], kept))
sys.exit(1 if failed else 0)
