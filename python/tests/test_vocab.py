# SPDX-License-Identifier: Apache-2.0
"""Vocabularies: nearest centres beside NumPy's, what is trained, files, questions, and what is refused."""
import numpy as np
import pytest

import texturevlm as tv


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def clumps():
    """600 vectors of lengths 1 .. 9 about ten directions that are far apart, in turn."""
    rng = np.random.default_rng(3)
    vectors = np.eye(10, 24)[np.arange(600) % 10] + 0.02 * rng.normal(size=(600, 24))
    return (vectors * rng.uniform(1, 9, (600, 1))).astype("f4")


@pytest.mark.parametrize("device", [None, "reference"])
def test_the_nearest_centres_are_numpys(device):
    rng = np.random.default_rng(1)
    centres = (0.8 * unit(rng.normal(size=(300, 32)))).astype("f4")
    vectors = rng.normal(size=(7, 11, 32)).astype("f4")
    vocab = tv.Vocab(centres)
    ids, residuals = vocab.assign(vectors, device=tv.Device(device) if device else None)
    away = np.linalg.norm(unit(vectors.astype("f8"))[:, :, None] - centres.astype("f8"), axis=-1)
    assert ids.dtype == np.uint16 and ids.shape == (7, 11) and residuals.dtype == np.float32
    assert np.array_equal(ids, away.argmin(-1))
    assert np.abs(residuals - away.min(-1)).max() < 1e-6
    assert vocab.assign(vectors[0, 0])[0].shape == ()


def test_clumps_are_found_the_same_on_every_device(clumps):
    vocab = tv.Vocab.train([clumps[:250], clumps[250:251], clumps[251:]], 10, rounds=8)
    ids, residuals = vocab.assign(clumps)
    assert (vocab.count, vocab.dimension, vocab.vectors) == (10, 24, 600)
    assert len(set(ids[:10])) == 10 and np.array_equal(ids, np.tile(ids[:10], 60))
    assert abs((residuals.astype("f8") ** 2).mean() - vocab.error) < 1e-6
    means = np.stack([unit(clumps[i::10].astype("f8")).mean(0) for i in range(10)])
    assert np.abs(vocab.centres[ids[:10]] - means).max() < 1e-5
    again = tv.Vocab.train(clumps, 10, rounds=8, device=tv.Device("reference"))
    assert np.array_equal(vocab.centres, again.centres)
    assert not np.array_equal(vocab.centres, tv.Vocab.train(clumps, 10, rounds=8, seed=1).centres)
    assert tv.Vocab.train(clumps, 10, sample=2, rounds=1).vectors == 600


def test_questions_are_products_that_are_looked_up(clumps):
    vocab = tv.Vocab.train(clumps, 10, rounds=8)
    questions = np.random.default_rng(2).normal(size=(3, 24)).astype("f4")
    answers = vocab.ask(questions)
    assert answers.shape == (3, 10) and np.abs(answers - unit(questions) @ vocab.centres.T).max() < 1e-6
    ids, _ = vocab.assign(clumps.reshape(20, 30, 24))
    scores = vocab.score(ids, questions[1])
    assert scores.dtype == np.float32 and np.array_equal(scores, answers[1][ids])
    # A centre's answer is the mean of its vectors' cosines.
    cosines = unit(clumps.astype("f8")) @ unit(questions[1].astype("f8"))
    for number in range(10):
        assert abs(cosines[ids.ravel() == number].mean() - answers[1][number]) < 1e-5


def test_scores_are_a_similarity_to_select_by():
    rng = np.random.default_rng(5)
    image = rng.integers(0, 256, (64, 96, 3), np.uint8)
    vocab = tv.Vocab(np.eye(3))
    features = np.eye(3)[rng.permutation(np.repeat([0, 1, 2], 8)).reshape(4, 6)]
    ids, _ = vocab.assign(features)
    found = tv.select(image, 8, strategy="grid", query=tv.Query(similarity=vocab.score(ids, [0, 1, 0])), weights=(0, 0, 1))
    cells = (found.xy // 16).astype(int)
    assert all(ids[y, x] == 1 for x, y in cells)


def test_files(tmp_path, clumps):
    path = tmp_path / "vocab.safetensors"
    vocab = tv.Vocab.train(clumps, 10)
    vocab.save(path)
    again = tv.Vocab.load(path)
    assert np.array_equal(again.centres, vocab.centres) and (again.vectors, again.error) == (600, vocab.error)
    assert repr(again) == "<texturevlm.Vocab of 10 x 24>"
    with pytest.raises(FileNotFoundError):
        tv.Vocab.load(tmp_path / "nothere")
    tv.Basis(np.eye(2, 3)).save(path)
    with pytest.raises(tv.ArgumentError, match="is not a vocabulary"):
        tv.Vocab.load(path)


def test_refusals(clumps):
    vocab = tv.Vocab(np.eye(3))
    bad = clumps.copy()
    bad[300, 5] = np.nan
    for call, line in [
            (lambda: tv.Vocab(2 * np.eye(3)), "centre 0 has a length of 2"),
            (lambda: tv.Vocab(np.full((2, 2), np.nan)), "centre 0: component 0 is not finite"),
            (lambda: tv.Vocab(np.zeros((0, 3))), "0 centres of 3 dimensions"),
            (lambda: tv.Vocab.train(bad, 10), "vector 300: component 5 is not finite"),
            (lambda: tv.Vocab.train(clumps[:9], 10), "9 vectors with a length are too few for 10 centres"),
            (lambda: tv.Vocab.train([clumps, np.eye(3)], 10), "3 components, those before 24"),
            (lambda: tv.Vocab.train([], 10), "no vectors"),
            (lambda: tv.Vocab.train(clumps, 0), "n is 0"),
            (lambda: vocab.assign(clumps), "24 components, the vocabulary 3"),
            (lambda: vocab.assign([[1, np.inf, 0]]), "vector 0: component 1 is not finite"),
            (lambda: vocab.ask([0, 0, 0]), "question 0 is a zero vector"),
            (lambda: vocab.ask([1, 0]), "2 components, the vocabulary 3"),
            (lambda: vocab.score([0, 3], [1, 0, 0]), "the vocabulary has 3 centres"),
            (lambda: vocab.score([0, 1], np.eye(3)), "3 vectors, not one")]:
        with pytest.raises(tv.ArgumentError, match=line):
            call()
    with pytest.raises(TypeError, match="not whole numbers"):
        vocab.score([0.5], [1, 0, 0])
    with pytest.raises(TypeError, match="not arrays"):
        tv.Vocab.train("features", 3)
