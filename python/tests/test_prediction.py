# SPDX-License-Identifier: Apache-2.0
"""Predictions of what pictures lose."""
import copy
import pickle

import numpy as np
import pytest

import texturevlm as tv

SIZES = [(1, 1), (6, 4), (12, 8), (20, 14)]


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(1).integers(0, 256, (224, 320, 3), np.uint8)


@pytest.fixture(scope="module")
def prediction(noise):
    return tv.predict(noise, SIZES, patch=16)


def test_losses_fall_with_the_size(prediction):
    losses = [prediction.loss(i) for i in range(4)]
    assert losses[0] == pytest.approx(1, abs=1e-5) and losses[3] < 1e-6 and losses == sorted(losses, reverse=True)
    assert prediction.pictures == SIZES and "6 x 4" in repr(prediction)


def test_an_overview_lies_under_what_is_not_kept(noise):
    prediction = tv.predict(noise, SIZES, patch=16)
    kept, alone = prediction.keep(3, 60)
    prediction.set_overview(2)
    beside, loss = prediction.keep(3, 60)
    assert loss < min(alone, prediction.loss(2)) and beside.sum() == 60
    assert prediction.keep(3, 0)[1] == pytest.approx(prediction.loss(2), abs=1e-5)
    prediction.set_overview(None)
    assert prediction.keep(3, 60)[1] == alone and (prediction.keep(3, 60)[0] == kept).all()
    for wrong in (4, -1, 0.5, "1"):
        with pytest.raises(tv.Error, match="index"):
            prediction.set_overview(wrong)


def test_what_is_kept(prediction):
    kept, loss = prediction.keep(2, 30)
    assert kept.shape == (8, 12) and kept.dtype == bool and kept.sum() == 30
    assert prediction.loss(2, kept) == loss and prediction.loss(2, kept.tolist()) == loss
    assert prediction.loss(2, np.roll(~kept, 1)) != loss
    assert prediction.keep(2, 96)[1] == prediction.loss(2)
    few = prediction.least(3, 0.5)
    assert prediction.keep(3, few)[1] <= 0.5 < prediction.keep(3, few - 1)[1]
    assert prediction.least(1, 0.0) is None


def test_sizes_cannot_be_changed(prediction):
    prediction.pictures[0] = (4000, 4000)
    assert prediction.pictures == SIZES and prediction.keep(0, 1)[0].shape == (1, 1)
    with pytest.raises(AttributeError):
        prediction.pictures = [(4000, 4000)]


def test_faint_text_is_no_paper():
    page = np.full((224, 320, 3), 255, np.uint8)
    page[4:12, 40:120:3] = 0
    page[36:220:5, 40:200:3] = 239
    prediction = tv.predict(page, [(20, 14)], patch=16)
    few = prediction.least(0, 0.03)
    assert few > 60 and prediction.keep(0, few)[0][2:, 3:12].mean() > 0.5


def test_paper_is_left_out():
    page = np.full((224, 320, 3), 255, np.uint8)
    page[36:44, 40:120:3] = 0
    prediction = tv.predict(page, [(20, 14)], patch=16)
    inked = int(np.ceil(120 / 16) - 40 // 16)
    kept, loss = prediction.keep(0, inked)
    assert loss == prediction.loss(0) and np.argwhere(kept)[:, 0].tolist() == [2] * inked


def test_a_line_is_its_first_token():
    page = np.full((224, 320, 3), 255, np.uint8)
    page[:, 69:71] = 0
    prediction = tv.predict(page, [(20, 14)], patch=16)
    assert prediction.least(0, 1e-5) == 1
    kept, loss = prediction.keep(0, 1)
    assert loss < 1e-5 and np.argwhere(kept).tolist() == [[0, 4]]
    expected = np.full((14, 20), 2)
    expected[:, 4] = 4
    expected[0, 4] = 1
    assert (prediction.shown(0, kept) == expected).all() and (prediction.shown(0) == 1).all()
    expected[:, 4] = 0
    assert (prediction.shown(0, np.zeros_like(kept)) == expected).all()


def test_a_stack_predicts_the_same_and_what_matters_counts(noise, prediction):
    scores = np.zeros((14, 20), np.float32)
    scores[:, 10:] = 1
    with tv.Stack(noise) as stack:
        assert stack.predict(SIZES, patch=16).loss(1) == prediction.loss(1)
        right = stack.predict(SIZES, patch=16, scores=scores).keep(3, 140)[0]
    assert right[:, 10:].mean() > 0.95


def test_it_outlives_its_stack_and_is_a_value(noise):
    with tv.Device("reference") as device:
        prediction = tv.predict(noise, [(6, 4)], device=device)
    assert 0 < prediction.loss(0) < 1 and copy.copy(prediction) is prediction
    with pytest.raises(tv.ArgumentTypeError, match="cannot be pickled"):
        pickle.dumps(prediction)


@pytest.mark.parametrize("call, line", [
    (lambda image: tv.predict(image, []), "there are 0 pictures; it must be 1 .. 32"),
    (lambda image: tv.predict(image, [(1, 1)] * 33), "there are 33 pictures"),
    (lambda image: tv.predict(image, [(0, 1)]), "columns is 0"),
    (lambda image: tv.predict(image, (1, 1)), "not a list of"),
    (lambda image: tv.predict(image, [(5000, 1)]), "picture 0 is 5000 x 1 tokens"),
    (lambda image: tv.predict(image, [(2, 2)], patch=3), "a patch of 3 pixels"),
    (lambda image: tv.predict(image, [(2, 2)], k=3), "k"),
    (lambda image: tv.predict(image, [(2, 2)]).loss(1), "index is 1"),
    (lambda image: tv.predict(image, [(3, 2)]).loss(0, np.ones((3, 2))), r"kept has the shape \(3, 2\), not \(2, 3\)"),
    (lambda image: tv.predict(image, [(3, 2)]).shown(0, np.ones((3, 2))), r"kept has the shape \(3, 2\), not \(2, 3\)"),
    (lambda image: tv.predict(image, [(3, 2)]).shown(1), "index is 1"),
    (lambda image: tv.predict(image, [(3, 2)]).keep(0, 7), "n is 7"),
    (lambda image: tv.predict(image, [(3, 2)]).least(0, 2), "a tolerance of 2"),
])
def test_refusals(noise, call, line):
    with pytest.raises(tv.Error, match=line):
        call(noise)
