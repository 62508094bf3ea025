# SPDX-License-Identifier: Apache-2.0
"""Codecs: few codes in place of many channels."""
import numpy as np
import pytest

import texturevlm as tv

PLAIN = ["r", "g", "b", "edges", "low", "laplacian", "edge_x", "edge_y", "rgb_var", "rgb_mean"]


def principal(planes, k):
    """encode, decode, mean and shares of the principal components of channels [n, ...], each over its deviation."""
    vectors = planes.reshape(len(planes), -1).T.astype(np.float64)
    mean = vectors.mean(0)
    scale = 1 / vectors.std(0)
    values, rows = np.linalg.eigh(np.cov((vectors - mean).T * scale[:, None], bias=True))
    rows = rows[:, ::-1][:, :k].T
    rows *= np.sign(rows[np.arange(k), np.abs(rows).argmax(1)])[:, None]
    return rows * scale, (rows / scale).T, mean, values[::-1][:k] / values.sum()


def test_it_is_the_principal_components(photo):
    small = np.ascontiguousarray(photo[:120, :160])  # of larger ones not all texels count
    codec = tv.Codec.train([small], 5, channels=PLAIN)
    with tv.Stack(small, format="f32") as stack:
        encode, decode, mean, shares = principal(stack.channels(PLAIN), 5)
    assert (codec.channels, codec.k, codec.level) == (PLAIN, 5, 0) and "10 channels, 5 codes" in repr(codec)
    np.testing.assert_allclose(codec.mean, mean, atol=1e-4)
    np.testing.assert_allclose(codec.variance, shares, atol=1e-4)
    np.testing.assert_allclose(codec.encode @ decode, np.eye(5), atol=1e-2)
    np.testing.assert_allclose(codec.encode @ codec.decode, np.eye(5), atol=1e-4)


def test_codes_are_channels_and_scorers_read_them(photo):
    codec = tv.Codec.train([photo], 10, channels=PLAIN)
    scorer = tv.Scorer({"edges": 1.0, "rgb_mean": -0.5, "eccentricity": 0.25}, bias=2.0)
    folded = codec.fold(scorer)
    assert list(folded.weights) == [f"learned_{i}" for i in range(10)] + ["eccentricity"]
    with tv.Stack(photo, format="f32") as stack, tv.Stack(photo, network=codec.network, format="f32") as coded:
        planes = stack.channels(PLAIN)
        codes = codec.apply(planes.reshape(10, -1).T).T.reshape(planes.shape)
        np.testing.assert_allclose(coded.channels([f"code_{i}" for i in range(10)]), codes, atol=2e-4)
        np.testing.assert_allclose(coded.scores(scorer=folded), stack.scores(scorer=scorer), atol=1e-5)
        np.testing.assert_allclose(codec.restore(codes.reshape(10, -1).T), planes.reshape(10, -1).T, atol=1e-5)


def test_a_scorer_is_kept(photo):
    scorer = tv.Scorer({"edges": 1.0, "saliency": 2.0, "entropy": 0.5})
    codec = tv.Codec.train([photo], 2, channels=["edges", "saliency", "entropy", "r", "low"], scorers=[scorer], weights={"r": 3.0})
    with tv.Stack(photo, format="f32") as stack, tv.Stack(photo, network=codec.network, format="f32") as coded:
        whole, few = (one.select(40, strategy="grid", scorer=by) for one, by in ((stack, scorer), (coded, codec.fold(scorer))))
    assert len(set(map(tuple, whole.xy)) & set(map(tuple, few.xy))) >= 38


def test_codes_that_are_kept_take_a_quarter():
    random = np.random.default_rng(3)
    features = (random.random((24, 32, 8)) @ random.normal(size=(8, 32))).astype("f4")
    names = [f"feature_{i}" for i in range(32)]
    scorer = tv.Scorer(dict(zip(names, random.normal(size=32))))
    image = np.zeros((48, 64, 3), np.uint8)
    with tv.Stack(image, format="f32") as stack, tv.Stack(image, format="f32") as kept:
        before = stack.bytes
        stack.set_features(features)
        codec = tv.Codec.train([stack], 8, channels=names)
        whole = stack.bytes - before
        kept.set_features(codec.apply(features.reshape(-1, 32)).reshape(24, 32, 8))
        assert (kept.bytes - before) * 3.9 < whole
        np.testing.assert_allclose(kept.scores(scorer=codec.fold(scorer, "feature_0")), stack.scores(scorer=scorer), atol=1e-4)


def test_it_is_saved_and_loaded(photo, tmp_path):
    codec = tv.Codec.train([photo], level=2)
    assert codec.k == 8 and len(codec.channels) == 20
    codec.save(tmp_path / "c.safetensors")
    again = tv.Codec.load(tmp_path / "c.safetensors")
    assert (again.channels, again.k, again.level) == (codec.channels, codec.k, 2)
    for name in ("encode", "decode", "mean", "variance"):
        np.testing.assert_array_equal(getattr(again, name), getattr(codec, name))
    given = tv.Codec(codec.channels, codec.encode, codec.decode, mean=codec.mean, level=2)
    np.testing.assert_array_equal(given.decode, codec.decode)
    codec.network.save(tmp_path / "n.safetensors")
    names = ["code_0", "code_7"]
    np.testing.assert_array_equal(tv.channels(photo, names, network=tmp_path / "n.safetensors"),
                                  tv.channels(photo, names, network=codec.network))


def test_a_network_outlives_its_codec(photo):
    network = tv.Codec(["r", "g"], np.eye(2), np.eye(2)).network
    np.testing.assert_allclose(tv.channels(photo, ["code_1"], network=network), tv.channels(photo, "g"), atol=1e-3)


def test_what_is_wrong_is_named(photo):
    eye = np.eye(2)
    codec = tv.Codec(["r", "g"], eye, eye)
    for make, line in ((lambda: tv.Codec(["r", "g"], eye, np.ones((2, 3))), "encode has the shape"),
                       (lambda: tv.Codec(["r", "g", "b"], eye, eye), "of 3 channels they are"),
                       (lambda: tv.Codec(["r", "g"], eye, eye, mean=[1]), "mean has 1 values, not 2"),
                       (lambda: tv.Codec(["r", "g"], [[1, np.nan], [0, 1]], eye), "number 1 of its encode is not finite"),
                       (lambda: tv.Codec(["r", "cluster_id"], eye, eye), "cluster_id: it is an identifier"),
                       (lambda: tv.Codec(["r", "x"], eye, eye), "x: it is a formula"),
                       (lambda: codec.fold(tv.Scorer({"text": 1.0, "x": 1.0})), "a codec of other channels: the scorer reads text"),
                       (lambda: codec.apply(np.ones((3, 5))), "values have 5 components, the codec 2"),
                       (lambda: codec.restore(np.ones((3, 5))), "codes have 5 components, the codec 2"),
                       (lambda: tv.Codec.train([photo], channels=["r", "motion"]), "motion, for which the image has no input"),
                       (lambda: tv.Codec.train([photo], 3, channels=["r", "g"]), "3 codes for 2 channels"),
                       (lambda: tv.Codec.train([photo], channels=["r", "g"], weights={"b": 1}), "which is no channel of the codec"),
                       (lambda: tv.Codec.train([photo], channels=["r", "g"], weights={"r": 0}), "it must be above 0")):
        with pytest.raises(tv.ArgumentError, match="(?s)" + __import__("re").escape(line)):
            make()
    for make, line in ((lambda: codec.fold("s.safetensors"), "not a texturevlm.Scorer"),
                       (lambda: tv.Codec.train([]), "a list of at least one"), (lambda: tv.Codec.train(photo), "a list of at least one"),
                       (lambda: tv.Codec.train([photo], scorers=[1]), "not a list of texturevlm.Scorer"),
                       (lambda: tv.Codec.train([photo], weights=[1]), "not a dict")):
        with pytest.raises(tv.ArgumentTypeError, match=line):
            make()
