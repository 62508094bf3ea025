# SPDX-License-Identifier: Apache-2.0
"""What the tests share: pictures of their own, and the installed package as a user has it."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import texturevlm as tv

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


def draw(width, height, seed=0):
    """Things of random places and colours on smooth ground, with some noise: what a photo is to the score."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    picture = np.stack([128 + 60 * np.sin(x / 40 + i) + 40 * np.cos(y / 55 - i) for i in range(3)], axis=2)
    for _ in range(6):
        cx, cy, r = random.uniform(0, width), random.uniform(0, height), random.uniform(8, 40)
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = random.uniform(0, 255, 3)
    return np.clip(picture + random.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)


def randomised(model):
    """The model with larger weights than initial ones, which are so small that little would show."""
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.data.normal_(0, 0.15)
    return model.eval()


def left_padded(rows, pad):
    """A batch of prompts, from the numbers of each."""
    import torch
    length = max(map(len, rows))
    return {"input_ids": torch.tensor([[pad] * (length - len(row)) + row for row in rows]),
            "attention_mask": torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in rows])}


@pytest.fixture
def no_gradients():
    import torch
    with torch.no_grad():
        yield


@pytest.fixture(scope="session")
def photo():
    picture = draw(320, 240)
    picture.flags.writeable = False
    return picture


@pytest.fixture(scope="session")
def ten_photos(tmp_path_factory):
    """Ten files: photographs, where they are, else drawn ones."""
    photos = sorted(path for path in (DATA / "photos").glob("*.*") if path.stat().st_size < 1_000_000)[:10]
    folder = tmp_path_factory.mktemp("photos")
    for seed in range(10 - len(photos)):
        from texturevlm._image import write_png
        photos.append(folder / f"drawn{seed}.png")
        write_png(str(photos[-1]), np.ascontiguousarray(draw(200 + 37 * seed, 310 - 13 * seed, seed)))
    return photos


@pytest.fixture
def run():
    """Runs a Python program of its own, and gives its output."""
    def run_program(program, **environment):
        import os
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
                               env={**os.environ, **environment})
        assert found.returncode == 0, found.stderr
        return found.stdout + found.stderr
    return run_program


@pytest.fixture(scope="session")
def reference():
    with tv.Device("reference") as device:
        yield device
