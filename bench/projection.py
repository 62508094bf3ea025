#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/projection.py: how much of an encoder's tokens few numbers a cell explain. It is run by a Python that has the package texturevlm
(`pip install .`).

The tokens are the vectors of the four painted grids of ../shared/data/clip/painted (CLIP, 512 numbers a cell), which stand for an
encoder's projected tokens; the features are the same vectors. Of these an embedding keeps 16, 32 or 64 numbers, scaled to length 1,
in a basis of the other three photos; ridge regression (texturevlm.Projection.train) from them, with or without eight channels of
the photo, is learned from the other three photos, and held against the fourth: R^2, the share of the variance that is explained.

    unscaled   the same numbers before they are scaled to length 1 (NumPy's lstsq): what the length of a vector is worth
    in sample  learned from the photo itself: what so many numbers could explain at most

Exit: 77 without the package or the data.
"""
import os
import sys

from shared import DATA

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import need, np  # noqa: E402

tv = need("texturevlm")

CHANNELS = "r,g,b,edges,saliency,entropy,x,y"


def photos():
    painted = os.path.join(DATA, "clip", "painted")
    for name in sorted(file[:-4] for file in os.listdir(painted) if file.endswith(".npy")):
        vectors = np.load(os.path.join(painted, name + ".npy")).astype(np.float32)
        image = os.path.join(DATA, "boxes", "coco_panoptic", name + ".jpg")
        if vectors.ndim == 3 and os.path.exists(image):
            yield image, vectors, vectors


def unscaled(rest, held_out, components):
    """R^2 of ridge regression from the coordinates as they are."""
    basis = tv.Basis.train([photo[1].reshape(-1, photo[1].shape[2]) for photo in rest], components)
    def inputs(photo):
        rows = basis.project(photo[1].reshape(-1, photo[1].shape[2])).astype(np.float64)
        return np.hstack([rows, np.ones((len(rows), 1))]), photo[2].reshape(-1, photo[2].shape[2]).astype(np.float64)
    x, y = (np.concatenate(parts) for parts in zip(*map(inputs, rest)))
    penalty = np.hstack([np.eye(components), np.zeros((components, 1))])
    weights = np.linalg.lstsq(np.vstack([x, penalty]), np.vstack([y, np.zeros((components, y.shape[1]))]), rcond=None)[0]
    x, y = inputs(held_out)
    return 1 - ((y - x @ weights) ** 2).sum() / ((y - y.mean(0)) ** 2).sum()


def main():
    if not os.path.isdir(os.path.join(DATA, "clip", "painted")):
        print("projection.py: skipped: there is no", DATA)
        return 77
    examples = list(photos())
    print(f"{len(examples)} photos, each held out in turn\n")
    print("| components | R^2 | with channels | unscaled | in sample |\n|---|---|---|---|---|")
    for components in (16, 32, 64):
        columns = [[], [], [], []]
        for i, held_out in enumerate(examples):
            rest = examples[:i] + examples[i + 1:]
            columns[0].append(tv.Projection.train(rest, components).r_squared([held_out]))
            columns[1].append(tv.Projection.train(rest, components, channels=CHANNELS).r_squared([held_out]))
            columns[2].append(unscaled(rest, held_out, components))
            columns[3].append(tv.Projection.train([held_out], components).r_squared([held_out]))
        print(f"| {components} | " + " | ".join(f"{np.mean(column):.2f} ({min(column):.2f} .. {max(column):.2f})" for column in columns) + " |")
    return 0


sys.exit(main())
