# SPDX-License-Identifier: Apache-2.0
"""texturevlm.train: what it learns from masks, and how it says what is wrong."""
import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

pytest.importorskip("torch")
from texturevlm import train  # noqa: E402


def red_things(seed, width=96, height=64):
    """A picture with a red square, whose place is marked."""
    picture = draw(width, height, seed) // 2 + np.array([0, 60, 60], np.uint8)
    x, y = 8 + 13 * seed % (width - 40), 5 + 7 * seed % (height - 30)
    mask = np.zeros((height, width), np.float32)
    picture[y:y + 24, x:x + 28], mask[y:y + 24, x:x + 28] = (250, 20, 20), 1
    return train.Example(picture, mask)


@pytest.fixture(scope="module")
def examples():
    return [red_things(seed) for seed in range(4)]


HOW = {"outputs": ["red"], "level": 1, "hidden": 8, "steps": 60}


def test_auc():
    assert train.auc(np.array([0.1, 0.4, 0.4, 0.9]), [0, 0, 1, 1]) == 0.875
    assert train.auc(np.arange(10), np.arange(10) < 5) == 0.0


@pytest.mark.parametrize("deep", [False, True])
def test_it_learns_what_is_marked(examples, deep):
    found = []
    for network, held_out in train.folds(examples, 2, deep=deep, **HOW):
        assert network.outputs == ["red"] and network.level == 1
        for i in held_out:
            plane = train.apply(network, examples[i].image, (96, 64))[0]
            assert 0 <= plane.min() and plane.max() <= 1
            found.append(train.auc(plane, examples[i].mask))
    assert len(found) == 4 and min(found) > 0.9


def test_the_same_again(examples, tmp_path):
    first, again, other = (train.learn(examples, seed=seed, **HOW).weight(0) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_what_is_unknown_teaches_nothing(examples):
    """Marks that are wrong in two thirds of each picture spoil what is learned; the same places as unknown do not."""
    def with_strip(factor):
        return [e._replace(mask=np.where(np.arange(96) < 64, np.float32(factor) * (1 - e.mask), e.mask)) for e in examples]

    def found(learned):
        network = train.learn(learned, **HOW)
        return np.mean([train.auc(train.apply(network, e.image, (96, 64))[0], e.mask) for e in examples])

    assert found(with_strip(np.nan)) > 0.95 > found(with_strip(1))
    with pytest.raises(tv.ArgumentError, match="nothing is marked"):
        train.learn([examples[0]._replace(mask=np.full((64, 96), np.nan))], **HOW)


def test_errors(examples):
    with pytest.raises(tv.ArgumentError, match="no examples"):
        train.learn([], **HOW)
    with pytest.raises(tv.ArgumentError, match="nothing is marked"):
        train.learn([examples[0]._replace(mask=np.zeros((64, 96)))], **HOW)
    with pytest.raises(tv.ArgumentError, match="everything is marked"):
        train.learn([examples[0]._replace(mask=np.ones((64, 96)))], **HOW)
    with pytest.raises(tv.ArgumentError, match="there are 1 outputs"):
        train.learn([examples[0]._replace(mask=np.ones((2, 64, 96)))], **HOW)
    with pytest.raises(tv.ArgumentError, match="5 folds of 4 examples"):
        list(train.folds(examples, 5, **HOW))


def test_the_program(examples, tmp_path, capsys):
    from texturevlm._image import write_png
    (tmp_path / "masks").mkdir()
    for i, example in enumerate(examples):
        write_png(str(tmp_path / f"{i}.png"), example.image)
        np.save(tmp_path / "masks" / f"{i}.npy", example.mask)
    photos = [str(tmp_path / f"{i}.png") for i in range(4)]
    file, sheet = tmp_path / "red.safetensors", tmp_path / "kernels.png"
    words = [*photos, "--masks", str(tmp_path / "masks"), "-o", str(file), "--output", "red", "--level", "1", "--hidden", "8",
             "--steps", "60", "--folds", "2", "--sheet", str(sheet)]
    assert train.main(words) == 0
    said = capsys.readouterr().out
    assert said.count("held out") == 5 and ("mean AUC 0.9" in said or "mean AUC 1.0" in said)
    assert tv.Network.load(file).outputs == ["red"] and sheet.stat().st_size > 100
    # 3 x 8 kernels, and below them the first photo, the output, and 8 maps, which are what the kernels make of it.
    shown = tv.channels(sheet, "r,g,b", format="f32")
    tile, side = 3 * 12 + 2, (76 - 2, round(74 * 64 / 96))
    assert shown.shape == (3, 3 * tile + 2 + 3 * (side[1] + 2), 8 * tile + 2)
    below = shown[:, 3 * tile + 2:]
    photo = below[:, :side[1], 2:2 + side[0]]
    np.testing.assert_allclose(photo, tv.channels(photos[0], "r,g,b", size=side, format="f32"), atol=0.003)
    output = below[:, :side[1], 2 + side[0] + 2:2 * side[0] + 4]
    np.testing.assert_allclose(output[1], train.apply(tv.Network.load(file), photos[0], side)[0], atol=0.003)
    assert below[:, side[1] + 2:].max() == 1
    (tmp_path / "masks" / "3.npy").unlink()
    assert train.main(words) == 1
    assert capsys.readouterr().err.startswith("texturevlm.train: ") and not (tmp_path / "other.safetensors").exists()
