# SPDX-License-Identifier: Apache-2.0
"""wheel_jobs.py [EXPECTED]: what an installed wheel does, in so few lines that an emulator can run it, on the reference alone.

Squares that are chosen in a picture that is drawn here; the same by the tool; and what the lab calls of LAPACK beside NumPy: directions of
largest variance, ridge regression, a fitted scorer. Writes the squares to standard output. With EXPECTED, the file of such lines from another
system, they must be the same.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import texturevlm as tv
from texturevlm import _projection

SIZE = 96, 128


def drawn():
    y, x = np.mgrid[0:SIZE[0], 0:SIZE[1]]
    waves = (x * x + 3 * y * y) // 7 % 256  # whole numbers, the same everywhere
    return np.repeat(np.where((x > 70) & (y > 40), waves, 120)[..., None], 3, 2).astype("uint8")


def squares_by_tool(picture):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "drawn.ppm")
        with open(path, "wb") as file:
            file.write(b"P6\n%d %d\n255\n" % (SIZE[1], SIZE[0]) + picture.tobytes())
        # In an emulator a program is not started by its name alone; and TVLM_WHEEL_TOOL may be of a wheel that no Python here can load.
        runner = os.environ.get("TVLM_WHEEL_RUNNER", "").split()
        program = os.environ.get("TVLM_WHEEL_TOOL", os.path.join(os.path.dirname(tv.__file__), "tvlm"))
        tool = [*runner, program] if runner else [sys.executable, "-m", "texturevlm"]
        said = subprocess.run([*tool, "select", path, "-k", "20", "--device", "reference"],
                              check=True, stdout=subprocess.PIPE)
    return [(p["x"], p["y"], p["size"]) for p in json.loads(said.stdout)["positions"]]


def lab(picture):
    random = np.random.default_rng(3)
    vectors = (random.normal(size=(200, 24)) * np.linspace(3, 0.1, 24)).astype("float32")
    basis = tv.Basis.train([vectors], 4, device="reference")
    directions = np.linalg.svd(np.asarray(vectors, "float64"), full_matrices=False)[2][:4]
    spanned = np.linalg.norm(np.asarray(basis.components, "float64") @ directions.T, axis=0) # each within what was found
    assert spanned.min() > 0.9, spanned
    weight, bias = _projection.ridge(vectors, vectors[:, :3] * 2 + 1, 1e-3, device=tv.Device("reference"))
    assert np.abs(weight - 2 * np.eye(3, 24)).max() < 1e-2 and np.abs(bias - 1).max() < 1e-2
    share = np.zeros((SIZE[0] // 16, SIZE[1] // 16), "float32")
    share[3:, 5:] = 1
    scorer = tv.fit([picture], [share], channels=["x", "y"], device="reference")
    assert scorer.weights["x"] > 0 and scorer.weights["y"] > 0, scorer.weights


def main():
    picture = drawn()
    positions = [(p.x, p.y, p.size) for p in tv.select(picture, k=20, device="reference")]
    assert len(positions) > 5 and np.abs(np.array(positions) - np.array(squares_by_tool(picture))).max() < 1e-3
    lab(picture)
    lines = ["%.3f %.3f %.3f" % place for place in positions]
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            assert file.read().split("\n")[:-1] == lines, "other squares than elsewhere"
    print("\n".join(lines))


main()
