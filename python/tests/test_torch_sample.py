# SPDX-License-Identifier: Apache-2.0
"""tv.torch.sample: gradcheck of its doubles, each device as the transpose of its own samples, PyTorch's grid_sample, refusals."""
import gc
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given

import texturevlm as tv
from conftest import draw
from test_document import ROOT, examples
from test_fuzz import SETTINGS, anything, tried
from texturevlm._image import write_png

torch = pytest.importorskip("torch")
DEVICES = ["reference"] + [device["name"] for device in tv.devices() if device["type"] != "reference"][:1]


def numbers(*shape, seed=0, kind=torch.float32):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(kind)


def places(n, height, width, seed=1, kind=torch.float64):
    """Away from centres and whole levels, where two slopes meet: of level l the side is floor(side / 2^l)."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < n:
        x, y, level = rng.uniform(-1, width + 1), rng.uniform(-1, height + 1), rng.uniform(-0.7, 4.2)
        own = [position * max(side >> l, 1) / side - 0.5 for position, side in ((x, width), (y, height)) for l in range(5)] + [level]
        if min(abs(value - round(value)) for value in own) > 1e-3:
            found.append((x, y, level))
    return torch.tensor(found, dtype=kind)


@pytest.mark.parametrize("height, width, depth", [(6, 8, 2), (5, 9, 1), (1, 7, 3), (1, 1, 1)])
def test_gradcheck_in_double(height, width, depth):
    texture = numbers(height, width, depth, kind=torch.float64).requires_grad_()
    points = places(9, height, width).requires_grad_()
    assert torch.autograd.gradcheck(tv.torch.sample, (texture, points), eps=1e-6, atol=1e-7)
    flat = points.detach()[:, :2].clone().requires_grad_()
    assert torch.autograd.gradcheck(tv.torch.sample, (texture, flat), eps=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", DEVICES)
def test_floats_are_doubles_but_for_rounding(name):
    texture, points = numbers(37, 53, 6, kind=torch.float64), places(200, 37, 53)
    found = []
    for kind in (torch.float64, torch.float32):
        t, p = texture.float().to(kind).requires_grad_(), points.float().to(kind).requires_grad_()
        out = tv.torch.sample(t, p, device=tv.Device(name))
        out.backward(numbers(200, 6, seed=5, kind=torch.float32).to(kind))
        found.append([out.detach(), t.grad, p.grad])
    for exact, rounded in zip(*found):
        assert rounded.dtype == torch.float32
        torch.testing.assert_close(rounded.double(), exact, atol=3e-4, rtol=1e-4)


@pytest.mark.parametrize("name", DEVICES)
def test_the_transpose_and_the_same_bits(name):
    device = tv.Device(name)
    texture, points, weights = numbers(40, 24, 5, seed=2), places(300, 40, 24, kind=torch.float32), numbers(300, 5, seed=3)
    grads = []
    for _ in range(2):
        t = texture.clone().requires_grad_()
        out = tv.torch.sample(t, points, device=device)
        out.backward(weights)
        grads.append(t.grad)
    assert torch.equal(*grads)
    left, right = (out.detach().double() * weights).sum(), (texture.double() * grads[0]).sum()
    assert abs(left - right) < 1e-5 * (out.detach() * weights).abs().sum()


def test_level_0_is_grid_sample():
    texture, points = numbers(7, 11, 3, kind=torch.float64).requires_grad_(), places(50, 7, 11)[:, :2].requires_grad_()
    ours = tv.torch.sample(texture, points)
    grid = (points / torch.tensor([11.0, 7.0], dtype=torch.float64) * 2 - 1)[None, :, None]
    theirs = torch.nn.functional.grid_sample(texture.permute(2, 0, 1)[None], grid, padding_mode="border", align_corners=False)[0, :, :, 0].T
    torch.testing.assert_close(ours, theirs)
    weights = numbers(50, 3, seed=9, kind=torch.float64)
    for a, b in zip(torch.autograd.grad(ours, (texture, points), weights), torch.autograd.grad(theirs, (texture, points), weights)):
        torch.testing.assert_close(a, b)


def test_shapes_a_kept_texture_and_what_is_not_asked_for():
    array = numbers(12, 16, 4)
    points = places(6, 12, 16, kind=torch.float32).reshape(2, 3, 3).requires_grad_()
    out = tv.torch.sample(array, points)
    assert out.shape == (2, 3, 4) and out.requires_grad
    out.sum().backward()
    kept, points_again = tv.Texture(array.numpy(), format="f32"), points.detach().clone().requires_grad_()
    again = tv.torch.sample(kept, points_again)
    again.sum().backward()
    assert torch.equal(again, out) and torch.equal(points.grad, points_again.grad)
    texture = array.clone().requires_grad_()
    tv.torch.sample(texture.transpose(0, 1), points.detach()).sum().backward()  # not contiguous
    assert texture.grad.shape == texture.shape
    assert not tv.torch.sample(array, points.detach()).requires_grad
    assert tv.torch.sample(array, torch.zeros(0, 3)).shape == (0, 4)
    changed = array.clone().requires_grad_()
    found = tv.torch.sample(changed, points.detach())
    with torch.no_grad():
        changed += 1
    with pytest.raises(RuntimeError, match="inplace"):
        found.sum().backward()
    gc.collect()


def test_a_coarse_level_moves_all_texels_below():
    texture = torch.zeros(8, 8, 1, requires_grad=True)
    tv.torch.sample(texture, torch.tensor([[4.0, 4.0, 3.0]])).sum().backward()
    assert torch.equal(texture.grad, torch.full((8, 8, 1), 1 / 64))


@pytest.mark.parametrize("texture, points, line", [
    (np.zeros((4, 4, 1)), torch.zeros(1, 3), "texture is .*not a tensor"),
    (torch.zeros(4, 4, 1), [[1, 1, 0]], "points is .*not a tensor"),
    (torch.zeros(4, 4), torch.zeros(1, 3), "texture has the shape \\(4, 4\\), not \\(rows, columns, channels\\)"),
    (torch.zeros(0, 4, 1), torch.zeros(1, 3), "texture has the shape \\(0, 4, 1\\)"),
    (torch.zeros(4, 4, 1), torch.zeros(1, 4), "points have the shape \\(1, 4\\)"),
    (torch.zeros(4, 4, 1), torch.zeros(()), "points have the shape \\(\\)"),
    (torch.zeros(4, 4, 1).half(), torch.zeros(1, 3), "texture is torch.float16, neither float32 nor float64"),
    (torch.zeros(4, 4, 1).double(), torch.zeros(1, 3), "points are torch.float32, and the texture is torch.float64"),
    (torch.full((4, 4, 1), float("nan")), torch.zeros(1, 3), "not finite"),
    (torch.full((4, 4, 1), float("nan")).double(), torch.zeros(1, 3).double(), "texel value 0 is nan"),
    (torch.zeros(4, 4, 1), torch.tensor([[1.0, float("nan"), 0.0]]), "point 0 is not a number"),
    (torch.zeros(4, 4, 1).double(), torch.tensor([[1.0, 1.0, float("nan")]]).double(), "point 0 is not a number"),
    (torch.zeros(4, 4, 1).to_sparse(), torch.zeros(1, 3), "texture is on cpu \\(torch.sparse_coo\\)"),
])
def test_refusals(texture, points, line):
    with pytest.raises(tv.Error, match=line):
        tv.torch.sample(texture, points)


def test_refusals_of_textures_and_gradients():
    kept = tv.Texture(np.zeros((4, 4, 1), "f4"))
    with pytest.raises(tv.Error, match="is sampled at float32"):
        tv.torch.sample(kept, torch.zeros(1, 3).double())
    with pytest.raises(tv.Error, match="on another device"):
        tv.torch.sample(kept, torch.zeros(1, 3), device=tv.Device("reference"))
    texture = torch.zeros(4, 4, 1, requires_grad=True)
    out = tv.torch.sample(texture, torch.zeros(2, 3))
    with pytest.raises(tv.Error, match="the gradient of point 1, channel 0, is inf"):
        out.backward(torch.tensor([[1.0], [float("inf")]]))
    kept.close()
    with pytest.raises(tv.Error, match="closed"):
        tv.torch.sample(kept, torch.zeros(1, 3))


def test_pytorch_is_imported_when_it_is_asked_for():
    script = "import sys, texturevlm as tv; assert 'torch' not in sys.modules; tv.torch.sample; assert 'torch' in sys.modules"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@SETTINGS
@given(anything, anything)
def test_wrong_arguments_of_every_kind(a, b):
    tried(tv.torch.sample, a, b)
    tried(tv.torch.sample, torch.ones(3, 4, 2), a, device=b)
    tried(tv.torch.sample, a, torch.ones(2, 3))
    for array in (a, b):
        if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.dtype.isnative:
            tensor = torch.from_numpy(array.copy())
            tried(tv.torch.sample, tensor, torch.ones(2, 3, dtype=tensor.dtype))
            tried(tv.torch.sample, torch.ones(3, 4, 2, dtype=tensor.dtype), tensor)


def test_the_example_goes_further_through_the_levels(tmp_path):
    pytest.importorskip("PIL")
    write_png(str(tmp_path / "photo.png"), draw(480, 320))
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "fixation.py"), "photo.png", "out.png"], check=True, cwd=tmp_path,
                          capture_output=True, text=True)
    through, alone, largest = map(float, re.findall(r"\d\.\d+", done.stdout))
    assert through > 0.6 * largest and through > alone + 0.2
    assert (tmp_path / "out.png").stat().st_size > 1000


def test_the_blocks_of_the_document_run(photo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_png("photo.jpg", photo)
    blocks = [block for block in examples(ROOT / "doc" / "python.md") if "tv.torch" in block]
    assert blocks
    for block in blocks:
        exec(compile(block, "doc/python.md", "exec"), {"tv": tv, "np": np})
