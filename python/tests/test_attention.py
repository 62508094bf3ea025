# SPDX-License-Identifier: Apache-2.0
"""Textures, attention over them, and merged tokens: against NumPy in double, and what is refused."""
import gc

import numpy as np
import pytest

import texturevlm as tv


def softmax(queries, keys, values, scale):
    scores = scale * queries.astype(np.float64) @ keys.reshape(-1, keys.shape[-1]).astype(np.float64).T
    parts = np.exp(scores - scores.max(1, keepdims=True))
    parts /= parts.sum(1, keepdims=True)
    return parts @ values.reshape(-1, values.shape[-1]), parts.mean(0).reshape(keys.shape[:2])


@pytest.fixture
def arrays():
    rng = np.random.default_rng(4)
    return (rng.normal(size=(5, 12)).astype(np.float32), rng.normal(size=(6, 10, 12)).astype(np.float32),
            rng.normal(size=(6, 10, 7)).astype(np.float32))


def test_exact_attention_is_the_softmax(arrays):
    queries, keys, values = arrays
    expected, spread = softmax(*arrays, 12 ** -0.5)
    k, v = tv.Texture(keys, format="f32"), tv.Texture(values, layout="spatial", format="f32")
    for level, ratio in ((0, 0.2), (1, 1.0), (2, 1)):
        found = tv.hierarchical_attention(queries, k, v, level, ratio, details=True)
        assert np.abs(found.out - expected).max() < 1e-5
        assert np.abs(found.map - spread).max() < 1e-5
    assert tv.hierarchical_attention(queries, k, v, 0, details=True).bytes == 1
    found = tv.hierarchical_attention(queries, k, v, coarse_mip=1, fine_ratio=0.2, details=True)
    assert (found.keys, found.values) == (15 + 12, 12 + 12)
    assert abs(found.bytes - (27 * 12 + 24 * 7) / (60 * 19)) < 1e-9
    assert np.abs(found.out - expected).max() > 1e-3


def test_options_of_an_attention(arrays):
    queries, keys, values = arrays
    k, v = tv.Texture(keys, format="f32"), tv.Texture(np.moveaxis(values, -1, 0), layout="channels", format="f32")
    assert v.shape == values.shape and "6 x 10 x 7" in repr(v)
    plain = tv.hierarchical_attention(queries, k, v, 2, 0.5)
    assert plain.shape == (5, 7) and plain.dtype == np.float32
    np.testing.assert_array_equal(tv.hierarchical_attention(queries, k, v, 2, 0.5), plain)
    single = tv.hierarchical_attention(queries[1], k, v, 2, 0.5)
    assert single.shape == (7,)
    np.testing.assert_allclose(single, plain[1], atol=1e-6)
    other = softmax(*arrays, 2.0)[0]
    assert np.abs(tv.hierarchical_attention(queries, k, v, 0, scale=2.0) - other).max() < 1e-5
    for options in ({"steps": True}, {"mix": 0.7}, {"scale": 1.0}):
        assert np.abs(tv.hierarchical_attention(queries, k, v, 2, 0.5, **options) - plain).max() > 1e-4
    halves = [softmax(queries[:, 6 * i:6 * i + 6], keys[..., 6 * i:6 * i + 6], keys[..., 6 * i:6 * i + 6], 6 ** -0.5)[0] for i in (0, 1)]
    assert np.abs(tv.hierarchical_attention(queries, k, coarse_mip=0, heads=2) - np.concatenate(halves, 1)).max() < 1e-5


def test_levels_of_a_texture_are_means():
    array = np.random.default_rng(1).normal(size=(6, 8, 3)).astype(np.float32)
    with tv.Texture(array, format="f32") as texture:
        np.testing.assert_array_equal(texture.read(), array)
        np.testing.assert_allclose(texture.read(1), array.reshape(3, 2, 4, 2, 3).mean((1, 3)), atol=1e-6)
        with pytest.raises(tv.ArgumentError):
            texture.read(4)
    with pytest.raises(tv.ArgumentError, match="closed"):
        texture.read()


def test_a_stack_has_keys_too_and_keeps_the_map(arrays):
    queries, keys, _ = arrays
    stack = tv.Stack(np.zeros((96, 160, 3), np.uint8), format="f32")
    with pytest.raises(tv.ArgumentError, match="has no features"):
        stack.features_shape
    stack.set_features(keys)
    assert stack.features_shape == (6, 10, 12)
    found = tv.hierarchical_attention(queries, stack, coarse_mip=1, keep=True, details=True)
    np.testing.assert_allclose(stack.read("attention"), found.map / found.map.max(), atol=1e-6)


@pytest.mark.parametrize("change, line", [
    ({"coarse_mip": 4}, "level 4 of keys of 10 x 6 cells, which have 0 to 3"),
    ({"coarse_mip": -1}, "coarse_mip is -1"),
    ({"fine_ratio": 0}, "fine_ratio is 0"),
    ({"fine_ratio": 1.5}, "a fine share of 1.5; it is above 0 and at most 1"),
    ({"fine_ratio": float("nan")}, "fine_ratio is nan"),
    ({"heads": 5}, "5 heads of keys of 12 dimensions and values of 7"),
    ({"heads": 0}, "heads is 0"),
    ({"mix": 1.0}, "a mix of 1"),
    ({"mix": 0.5, "steps": True}, "a mix of steps"),
    ({"scale": 0}, "scale is 0"),
    ({"queries": np.zeros((2, 5))}, "queries of 5 dimensions, but the keys have 12"),
    ({"queries": np.full((2, 12), np.nan)}, "query 0: value 0 is"),
    ({"queries": np.zeros((0, 12))}, "queries have no values"),
    ({"queries": np.zeros((1, 2, 12))}, "queries has 3 dimensions"),
    ({"key_texture": np.zeros((6, 10, 12))}, "neither a texturevlm.Texture nor a Stack"),
    ({"value_texture": 3}, "value_texture is 3"),
    ({"details": 1}, "details is 1"),
])
def test_refusals_of_an_attention(arrays, change, line):
    queries, keys, values = arrays
    given = {"queries": queries, "key_texture": tv.Texture(keys), "value_texture": tv.Texture(values), **change}
    with pytest.raises(tv.Error, match=line):
        tv.hierarchical_attention(**given)


@pytest.mark.parametrize("array, layout, line", [
    (np.zeros((3, 4)), "spatial", "a texture has 2 dimensions"),
    (np.zeros((0, 4, 2)), "spatial", "there is nothing in it"),
    (np.full((2, 2, 2), np.inf), "spatial", "not finite"),
    (np.zeros((2, 2, 2)), "spatal", "do you mean spatial"),
    (np.zeros((2, 2, 2)), None, "layout is None"),
    ([["a"]], "spatial", "dtype"),
])
def test_refusals_of_a_texture(array, layout, line):
    with pytest.raises(tv.Error, match=line):
        tv.Texture(array, layout=layout)


def test_two_sizes_are_refused(arrays):
    _, keys, values = arrays
    with pytest.raises(tv.ArgumentError, match="keys of 10 x 6 cells and values of 9 x 6"):
        tv.hierarchical_attention(np.ones(12), tv.Texture(keys), tv.Texture(values[:, :9]))


def test_merged_tokens_are_a_scatter_mean():
    rng = np.random.default_rng(8)
    image, tokens = rng.integers(0, 255, (128, 192, 3), dtype=np.uint8), rng.normal(size=(8, 12, 5)).astype(np.float32)
    with tv.Stack(image, format="f32") as stack:
        stack.set_features(tokens)
        selection = stack.select(10, strategy="quadtree")
        merged = stack.merge_tokens(selection)
        whole = stack.merge_tokens(stack.select(20, overview=0.4), whole=True)
    assert merged.counts.sum() == 96 and whole.counts.sum() > 96
    for row, (x, y), side, (u, v), count in zip(merged.tokens, selection.xy, selection.size, merged.xy, merged.counts):
        left, top = (int(place // side * side) // 16 for place in (x, y))
        square = tokens[top:top + int(side) // 16, left:left + int(side) // 16]
        assert count == square.shape[0] * square.shape[1]
        np.testing.assert_allclose(row, square.mean((0, 1)), atol=1e-6)
        assert abs(u - (left + (square.shape[1] - 1) / 2)) < 1e-5 and abs(v - (top + (square.shape[0] - 1) / 2)) < 1e-5


def test_refusals_of_merged_tokens():
    with tv.Stack(np.zeros((64, 64, 3), np.uint8)) as stack, tv.Stack(np.zeros((32, 64, 3), np.uint8)) as other:
        selection = other.select(4, strategy="grid")
        with pytest.raises(tv.ArgumentError, match="has no features"):
            stack.merge_tokens(selection)
        stack.set_features(np.ones((4, 4, 3)))
        with pytest.raises(tv.ArgumentError, match="a selection of 64 x 32 pixels of an image of 64 x 64"):
            stack.merge_tokens(selection)
        with pytest.raises(tv.ArgumentTypeError, match="not a texturevlm.Selection"):
            stack.merge_tokens([1, 2])


def test_textures_outlive_nothing(arrays):
    _, keys, _ = arrays
    device = tv.Device()
    texture = tv.Texture(keys, device=device)
    device.close()
    with pytest.raises(tv.Error):
        tv.hierarchical_attention(np.ones(12), texture)
    del texture
    gc.collect()
