# SPDX-License-Identifier: Apache-2.0
"""Projections: ridge regression beside NumPy's lstsq, what is learned from photos, files, exports, and what is refused."""
import numpy as np
import pytest

import texturevlm as tv
from conftest import draw
from texturevlm import _projection as learning
from test_fuzz import SETTINGS, anything, tried
from hypothesis import given


def augmented(x, y, l2):
    """The solution of the rows (x, 1) with rows sqrt(l2) e_j of target 0 below them, in double."""
    n, c = x.shape
    left = np.vstack([np.hstack([x, np.ones((n, 1))]), np.hstack([np.sqrt(l2) * np.eye(c), np.zeros((c, 1))])]).astype(np.float64)
    right = np.vstack([y, np.zeros((c, y.shape[1]))]).astype(np.float64)
    found = np.linalg.lstsq(left, right, rcond=None)[0]
    return found[:-1].T, found[-1]


@pytest.mark.parametrize("n, c, outputs, l2, decay", [
    (300, 16, 24, 1.0, 1.0), (300, 16, 24, 0.0, 1.0), (2500, 64, 40, 1.0, 0.9), (2500, 64, 40, 0.01, 0.9), (30, 64, 8, 0.5, 1.0)])
@pytest.mark.parametrize("device", [None, "reference"])
def test_ridge_is_lstsq_of_the_augmented_system(n, c, outputs, l2, decay, device):
    rng = np.random.default_rng(n + c)
    x = (rng.normal(size=(n, c)) * decay ** np.arange(c) + 0.3).astype("f4")
    y = (x @ rng.normal(size=(c, outputs)) + rng.normal(size=(n, outputs)) + 2).astype("f4")
    weight, bias = learning.ridge(x, y, l2, device=tv.Device(device) if device else None)
    expected, offset = augmented(x, y, l2)
    size = np.abs(expected).max()
    assert np.abs(weight - expected).max() < 1e-4 * size and np.abs(bias - offset).max() < 1e-4 * max(size, np.abs(offset).max())


@pytest.fixture(scope="module")
def examples():
    """Tokens that are a linear function of two of eight numbers of the features, and of red."""
    rng, found = np.random.default_rng(1), []
    mixing = np.linalg.qr(rng.normal(size=(8, 2)))[0].T  # so that lengths, which an embedding has not, stay 1
    for seed in range(3):
        image = draw(192, 128, seed)
        latent = rng.normal(size=(8, 12, 2))
        latent /= np.linalg.norm(latent, axis=-1, keepdims=True)
        red = image[..., 0].reshape(8, 16, 12, 16).mean((1, 3)) / 255
        tokens = latent @ np.arange(10).reshape(2, 5) + red[..., None] * np.array([3, 0, 0, -2, 1])
        found.append((image, (latent @ mixing).astype("f4"), tokens.astype("f4")))
    return found


def test_what_is_linear_is_learned(examples):
    few = tv.Projection.train(examples[:2], 2, l2=0.01)
    all_of_it = tv.Projection.train(examples[:2], 2, channels="r", l2=0.01)
    assert few.channels == ["embedding_0", "embedding_1"] and all_of_it.channels == few.channels + ["r"]
    missed, without = (1 - found.r_squared(examples[2:]) for found in (all_of_it, few))
    assert missed < 0.2 * without and without < 0.1
    other = tv.Projection.train(examples[:2], 2, channels=["r"], l2=0.01, basis=tv.Basis(np.eye(2, 8)))
    assert other.r_squared(examples[2:]) < all_of_it.r_squared(examples[2:]) + 1e-3


def test_train_has_it_too():
    pytest.importorskip("torch")
    from texturevlm import train
    assert train.projection == tv.Projection.train


def test_files_and_exports(examples, tmp_path):
    found = tv.Projection.train(examples, 2, channels="r")
    found.save(tmp_path / "p.safetensors")
    again = tv.Projection.load(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(again.weight, found.weight)
    np.testing.assert_array_equal(again.bias, found.bias)
    assert again.channels == found.channels and "3 channels to 5 numbers" in repr(again)
    image, features, _ = examples[0]
    options = {"budget": 9, "features": features, "selected_only": True, "format": "f32"}
    tensors = tv.export(image, "qwen2-vl", projection=again, **options)
    assert tensors["visual_tokens"].shape == (9, 5) and "visual_tokens" not in tv.export(image, "qwen2-vl", **options)
    with tv.Stack(tv.channels(image, "r,g,b", size=(196, 140)).transpose(1, 2, 0), format="f32") as stack:
        stack.set_features(features)
        at = tensors["selected_positions"][:, :0:-1] * 28 + 14
        np.testing.assert_allclose(again.apply(stack, at, level=np.log2(28)), tensors["visual_tokens"], atol=0.1)
    overview = tv.export(image, "qwen2-vl", projection=again, overview=0.5, **options)
    assert overview["visual_tokens"].shape == (len(overview["selected_indices"]), 5) and np.isfinite(overview["visual_tokens"]).all()
    with pytest.raises(tv.Error, match="has no features"):
        tv.export(image, "qwen2-vl", projection=again)


def test_refusals(examples, tmp_path):
    weight = np.ones((4, 2), "f4")
    with pytest.raises(tv.Error, match="weight has 2 columns, and there are 3 channels"):
        tv.Projection(weight, channels="r,g,b")
    with pytest.raises(tv.Error, match="bias has 3 values, not 4"):
        tv.Projection(weight, np.ones(3), channels="r,g")
    with pytest.raises(tv.Error, match="weight 3 of a projection is not finite"):
        tv.Projection(np.where(np.arange(8).reshape(4, 2) == 3, np.nan, weight), channels="r,g")
    with pytest.raises(tv.Error, match="basis is 3"):
        tv.Projection(weight, channels="r,g", basis=3)
    with pytest.raises(tv.Error, match="there are no examples"):
        tv.Projection.train([])
    with pytest.raises(tv.Error, match="an example is \\(image, features, tokens\\)"):
        tv.Projection.train([examples[0][:2]])
    with pytest.raises(tv.Error, match="tokens have \\[4, 5\\] numbers"):
        tv.Projection.train([examples[0], (*examples[1][:2], examples[1][2][..., :4])])
    with pytest.raises(tv.Error, match="x has 3 rows, and y 4"):
        learning.ridge(np.ones((3, 2)), np.ones((4, 2)))
    with pytest.raises(tv.Error, match="x of row 1, number 0, is nan"):
        learning.ridge([[1.0], [np.nan]], np.ones((2, 2)))
    with pytest.raises(tv.Error, match="no one solution"):
        learning.ridge(np.ones((5, 2)), np.ones((5, 1)), 0)
    with pytest.raises(tv.Error, match="projection is 3"):
        tv.export(draw(64, 64), "clip", projection=3)
    (tmp_path / "no.safetensors").write_bytes(b"no")
    with pytest.raises(tv.Error, match="no.safetensors"):
        tv.Projection.load(tmp_path / "no.safetensors")
    tv.Basis(np.eye(2, 4)).save(tmp_path / "basis.safetensors")
    with pytest.raises(tv.Error, match="is not a projection"):
        tv.Projection.load(tmp_path / "basis.safetensors")


@SETTINGS
@given(anything, anything)
def test_wrong_arguments_of_every_kind(a, b):
    tried(tv.Projection, a, b, channels="r,g")
    tried(tv.Projection, np.ones((4, 2)), a, channels=b)
    tried(learning.ridge, a, b)
    tried(learning.ridge, np.ones((4, 2)), a, b)
    tried(tv.Projection.train, a, b)
    with tv.Stack(draw(32, 32), format="f32") as stack:
        tried(tv.Projection(np.ones((4, 2)), channels="r,g").apply, stack, a, level=b)


def test_it_is_learned_without_pytorch(run):
    assert "(5, 2) ImportError" in run("""
import sys
sys.modules["torch"] = None  # as where it is not installed
import numpy as np
from texturevlm import train
random = np.random.default_rng(0)
photo, features = random.integers(0, 255, (64, 64, 3), np.uint8), random.normal(size=(8, 8, 6)).astype("f4")
learned = train.projection([(photo, features, features[..., :5])], 2)
try:
    train.learn([train.Example(photo, np.eye(64))], outputs=["thing"])
except ImportError as error:
    print(learned.weight.shape, type(error).__name__.replace("ModuleNotFoundError", "ImportError"))
""")
