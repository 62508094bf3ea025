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


@pytest.mark.parametrize("change, line", [
    ({"examples": []}, "no examples"),
    ({"mask": np.zeros((64, 96))}, "nothing is marked"),
    ({"mask": np.ones((64, 96))}, "everything is marked"),
    ({"mask": np.ones((2, 64, 96))}, "there are 1 outputs"),
    ({"mask": np.ones(5)}, "a mask has 1 dimensions"),
    ({"mask": np.full((64, 96), 255)}, "a mask has the value 255; it must be 0 .. 1"),
    ({"mask": -np.eye(5)}, "a mask has the value -1"),
    ({"mask": np.zeros((0, 3))}, "there is nothing in it"),
    ({"mask": "marks"}, "a mask has the dtype"),
    ({"hidden": 0}, "hidden is 0; it must be 1 .. 256"),
    ({"hidden": 257}, "hidden is 257"),
    ({"level": 99}, "a network at level 99; 0 to 15 are possible"),
    ({"level": -1}, "level is -1"),
    ({"outputs": ["edges"]}, "output 'edges' has a name that is the library's own"),
    ({"outputs": ["one", "one"]}, "two outputs of the network are named 'one'"),
    ({"outputs": []}, "the number of outputs is 0"),
    ({"outputs": "red"}, "not a list of names"),
    ({"inputs": "r,motion"}, "the channel motion has no input in a still image"),
    ({"inputs": "r,embedding_0"}, "the channel embedding_0 has no input"),
    ({"inputs": "r,r"}, "'r' stands twice"),
    ({"inputs": "r,edge"}, "unknown channel 'edge'; did you mean 'edges'"),
    ({"inputs": ""}, "an empty layout"),
    ({"steps": 0}, "steps is 0"),
    ({"steps": -5}, "steps is -5"),
    ({"rate": 0}, "rate is 0"),
    ({"decay": -1}, "decay is -1"),
    ({"seed": -1}, "seed is -1"),
    ({"seed": 2**64}, "seed is 18446744073709551616"),
    ({"deep": 1}, "deep is 1"),
])
def test_what_is_wrong_is_said_before_anything_is_learned(examples, monkeypatch, change, line):
    monkeypatch.setattr(train, "_optimise", lambda *_: pytest.fail("it learns"))
    options = {"examples": examples, **HOW, **change}
    if "mask" in change:
        options["examples"] = [examples[0]._replace(mask=options.pop("mask"))]
    with pytest.raises(tv.Error, match=line):
        train.learn(**options)
    with pytest.raises(tv.ArgumentError, match="5 folds of 4 examples"):
        next(train.folds(examples, 5, **HOW))


def test_folds_in_which_nothing_is_marked_are_refused_first(examples, monkeypatch):
    monkeypatch.setattr(train, "_optimise", lambda *_: pytest.fail("it learns"))
    unmarked = [e if i == 1 else e._replace(mask=0 * e.mask) for i, e in enumerate(examples)]
    with pytest.raises(tv.ArgumentError, match="nothing is marked"):
        next(train.folds(unmarked, 2, **HOW))  # the second fold holds out what the first one learns from


def test_inputs_may_be_a_layout(examples):
    name = next(name for name, channels in tv.layouts().items() if "motion" in channels)
    with pytest.raises(tv.ArgumentError, match="the channel motion has no input"):  # by its channels, which are counted
        train.learn(examples, **HOW, inputs=name)


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


@pytest.fixture
def program(examples, tmp_path, monkeypatch, capsys):
    """Photos and masks in files, and what the program says where it refuses, without having learned."""
    from texturevlm._image import write_png
    monkeypatch.setattr(train, "_optimise", lambda *_: pytest.fail("it learns"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "masks").mkdir()
    for i, example in enumerate(examples):
        write_png(f"{i}.png", example.image)
        np.save(tmp_path / "masks" / f"{i}.npy", example.mask)

    def refuses(*options, output="red.safetensors"):
        before = sorted((path, path.stat().st_size) for path in tmp_path.rglob("*"))
        assert train.main([*(f"{i}.png" for i in range(4)), "--masks", "masks", "-o", output, "--hidden", "8", *options]) == 1
        assert before == sorted((path, path.stat().st_size) for path in tmp_path.rglob("*"))
        line = capsys.readouterr().err
        assert line.startswith("texturevlm.train: ") and line.count("\n") == 1, line
        return line
    return refuses


@pytest.mark.parametrize("options, line", [
    (["--hidden", "0"], "hidden is 0"),
    (["--hidden", "400"], "hidden is 400; it must be 1 .. 256"),
    (["--level", "99"], "a network at level 99"),
    (["--output", "edges"], "output 'edges' has a name that is the library's own"),
    (["--inputs", "r,motion"], "the channel motion has no input in a still image"),
    (["--steps", "-5"], "steps is -5"),
    (["--folds", "9"], "9 folds of 4 examples"),
    (["--folds", "-1"], "-1 folds of 4 examples"),
    (["--sheet", "no/where.png"], "no/where.png: cannot be written"),
    (["--sheet", "1.png"], "1.png: is an input"),
    (["--sheet", "red.safetensors"], "red.safetensors: is the network's file, too"),
])
def test_options_that_the_program_refuses(program, options, line):
    assert line in program(*options)


@pytest.mark.parametrize("output, line", [
    ("no/where.safetensors", "no/where.safetensors: cannot be written: No such file or directory"),
    ("0.png/red.safetensors", "0.png/red.safetensors: cannot be written: Not a directory"),
    ("masks", "masks: is a folder"),
    ("2.png", "2.png: is an input"),
    ("masks/0.npy", "masks/0.npy: is an input"),
])
def test_files_that_the_program_does_not_write(program, output, line):
    assert line in program(output=output)


@pytest.mark.parametrize("content, line", [
    (b"", "is no .npy of numbers"),
    (b"garbage", "is no .npy of numbers"),
    (b"PK\3\4 garbage", "is no .npy of numbers"),
    (b"\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999), }".ljust(127) + b"\n",
     "is no .npy of numbers"),
    (np.array([["a"]]), "has the dtype <U1"),
    (np.zeros((2, 3, 4)), "has 3 dimensions, not 2"),
    (np.full((4, 4), -1.0), "is no mask, whose numbers are 0 and more, or NaN"),
    (np.full((4, 4), np.inf), "is no mask"),
    (np.array([[1, 2j]]), "has the dtype complex128"),
    (None, "there is no mask for 3.png"),
])
def test_masks_that_are_none(program, tmp_path, content, line):
    path = tmp_path / "masks" / "3.npy"
    if content is None:
        path.unlink()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    assert line in program()


def test_a_photo_that_is_none_is_found_before_folds(program, tmp_path):
    (tmp_path / "0.png").write_bytes(b"no picture")
    assert "0.png" in program("--folds", "2")


def test_a_mask_of_which_nothing_is_known_is_left_out(examples, tmp_path):
    np.save(tmp_path / "m.npy", np.full((4, 4), np.nan))
    assert np.isnan(train._mask_of(tmp_path / "m.npy")).all()
    unknown = [*examples, examples[0]._replace(mask=np.full((4, 4), np.nan))]
    assert train.learn(unknown, **{**HOW, "steps": 1}).outputs == ["red"]
