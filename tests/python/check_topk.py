#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_topk.py TVLM LIBRARY: tvlm_topk against NumPy's stable argsort: ties, infinities, NaN last."""
from common import Checks, Library, arguments, device_name, devices, np

tool, library = arguments("TVLM LIBRARY")[:2]
checks = Checks()
c = Library(library)


def expected_of(scores, k):
    """argsort is stable and puts NaN last; negated, so ties stay in order. -0 and +0 are equal."""
    return np.argsort(-scores, kind="stable")[:k]


def cases():
    rng = np.random.default_rng(11)
    for n, k in [(1, 1), (2, 1), (2, 2), (7, 5), (64, 64), (255, 17), (256, 256), (257, 256), (1000, 273), (4096, 273),
                 (4097, 1), (5000, 5000), (65536, 273), (100003, 1000), (1 << 20, 273)]:
        yield f"random, {k} of {n}", rng.standard_normal(n).astype(np.float32), k
        yield f"ties, {k} of {n}", rng.integers(-3, 4, n).astype(np.float32), k
        yield f"all equal, {k} of {n}", np.full(n, 0.25, np.float32), k
        odd = rng.standard_normal(n).astype(np.float32)
        odd[rng.random(n) < 0.6] = np.nan
        odd[rng.random(n) < 0.05] = np.inf
        odd[rng.random(n) < 0.05] = -np.inf
        odd[rng.random(n) < 0.05] = -0.0
        odd[rng.random(n) < 0.05] = 0.0
        odd[rng.random(n) < 0.02] = np.float32(1e-41)  # below the normal numbers
        odd[rng.random(n) < 0.02] = -np.float32(1e-41)
        yield f"NaN, infinities, zeros, {k} of {n}", odd, k
        yield f"all NaN, {k} of {n}", np.full(n, np.nan, np.float32), k
        yield f"sorted, {k} of {n}", np.arange(n, dtype=np.float32), k
        yield f"reversed, {k} of {n}", -np.arange(n, dtype=np.float32), k


for device in devices(tool):
    handle = c.open(device)
    for what, scores, k in cases():
        indices, values = c.topk(handle, scores, k)
        expected = expected_of(scores, k)
        wrong = int((indices != expected).sum())
        same = np.array_equal(values, scores[expected], equal_nan=True)
        checks.true(f"{device_name(device)}: {what}: {wrong} indices differ{'' if same else ', and values'}",
                    wrong == 0 and same)
    c.close(handle)
checks.done()
