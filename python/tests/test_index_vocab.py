# SPDX-License-Identifier: Apache-2.0
"""An index with a vocabulary: what it keeps of a cell, questions to all images by a table, and what does not fit."""
import json
import os
import pathlib
import shutil

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("lance")
import texturevlm as tv  # noqa: E402
from texturevlm import index  # noqa: E402
from texturevlm._image import write_png  # noqa: E402
from texturevlm.index import __main__ as program, _rows  # noqa: E402
from conftest import draw  # noqa: E402
from test_index import BASIS, COLUMNS, D, QUESTION, ROWS, everything, of, pictures, vectors  # noqa: E402

KEYS = [f"p{i:03}" for i in range(9)]
VOCAB = tv.Vocab.train([vectors(key).reshape(-1, D) for key in KEYS], 40)


def device():
    return tv.Device("reference")


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """Nine images of two sizes of grids, and a tenth without features."""
    made = index.Index.create(tmp_path_factory.mktemp("vocab") / "archive", k=5, basis=BASIS, vocab=VOCAB)
    made.add([*pictures(9), *pictures(1, 20)], features=features, flush=4, device=device())
    return made.folder


def features(source):
    return of(source)[:, :4] if source.key == "p004" else of(source) if source.key in KEYS else None


@pytest.fixture
def archive(tmp_path, made_once):
    return index.Index(shutil.copytree(made_once, tmp_path / "archive"))


def answers(keys, top, places, question=QUESTION):
    """The definition: of each cell the product of the question with the centre that is the nearest."""
    products = VOCAB.centres.astype(np.float64) @ (question / np.linalg.norm(question))
    scores = {}
    for key in keys:
        cells = features(index.Source(key, path=key)).reshape(-1, D)
        cells = cells / np.linalg.norm(cells, axis=1, keepdims=True)
        nearest = np.linalg.norm(cells[:, None] - VOCAB.centres, axis=2).argmin(1)
        scores[key] = np.sort(products[nearest])[::-1][:places]
    best = sorted(scores, key=lambda key: -scores[key].mean())[:top]
    return best, [scores[key] for key in best]


def test_numbers_of_the_nearest_centres_are_kept(archive):
    rows = archive.table("images").to_table().to_pylist()
    for row in rows[:9]:
        np.testing.assert_array_equal(row["vocab_ids"], VOCAB.assign(features(index.Source(row["key"], path="x")).reshape(-1, D))[0])
    assert rows[9]["vocab_ids"] is None and archive.vocab.count == archive.info()["vocab"] == 40
    assert archive.get("p003")["vocab_ids"] == rows[3]["vocab_ids"] and archive.info()["basis"] == 8


@pytest.mark.parametrize("top, places", [(3, 1), (4, 4), (20, 16), (5, 500)])
def test_questions_are_looked_up_for_all_images(archive, top, places):
    keys, scores = answers(KEYS, top, places)
    found = archive.query(QUESTION, top, places, by="vocab")
    assert [one.key for one in found] == keys
    for one, wanted in zip(found, scores):
        np.testing.assert_allclose(one.scores, wanted, atol=1e-6)
    exact = archive.query(QUESTION, 3, 4, by="vocab", features=lambda key: features(index.Source(key, path=key)), device=device())
    regions = archive.query(QUESTION, 3, 4, features=lambda key: features(index.Source(key, path=key)), device=device())
    assert [(one.key, one.score) for one in exact] == [(one.key, one.score) for one in regions]


def test_candidates_by_the_vocabulary_are_its_best(archive):
    asked = []
    archive.query(QUESTION, 2, 4, by="vocab", candidates=3, device=device(),
                  features=lambda key: asked.append(key) or features(index.Source(key, path=key)))
    assert sorted(asked) == sorted(answers(KEYS, 3, 4)[0])


def test_an_index_without_regions_is_small_and_asked_by_its_vocabulary(tmp_path, archive):
    made = index.Index.create(tmp_path / "small", k=5, regions=0, vocab=VOCAB)
    assert made.add(pictures(9), features=features, device=device()) == [] and made.table("regions") is None
    assert made.dimension == D and index.Index(made.folder).dimension == D and made.info()["regions"] == 0
    for one in (made, index.Shards([made])):
        assert [found.key for found in one.query(QUESTION, 4, 4)] == answers(KEYS, 4, 4)[0]
    assert made.info()["bytes_per_image"] < archive.info()["bytes_per_image"] / 2
    with pytest.raises(tv.ArgumentError, match="keeps no regions"):
        made.query(QUESTION, by="regions")
    made.delete(["p001", "p005"])
    made.compact()
    assert [found.key for found in made.query(QUESTION, 4, 4)] == answers(sorted({*KEYS} - {"p001", "p005"}), 4, 4)[0]
    with pytest.raises(tv.ArgumentError, match="p030: features have 5 components, the index' vocabulary 32"):
        made.add(pictures(1, 30), features=lambda source: np.ones((2, 2, 5)), device=device())


def test_several_indexes_answer_as_one(archive, tmp_path):
    parts = []
    for i in range(3):
        parts.append(index.Index.create(tmp_path / f"part{i}", k=5, basis=BASIS, vocab=VOCAB))
        parts[-1].add(pictures(3, 3 * i), features=features, device=device())
    for seed in range(4):
        question = np.random.default_rng(seed).normal(size=D)
        one, several = (it.query(question, 4, 3, by="vocab") for it in (archive, index.Shards(parts)))
        assert [(found.key, found.score) for found in one] == [(found.key, found.score) for found in several]
        assert [found.key for found in one] == answers(KEYS, 4, 3, question)[0]
    other = index.Index.create(tmp_path / "other", basis=BASIS, vocab=tv.Vocab(np.eye(40, D)))
    other.add(pictures(1, 40), features=of, device=device())
    with pytest.raises(tv.ArgumentError, match="different vocabularies"):
        index.Shards([archive, other])


def test_rows_that_others_have_made(archive, tmp_path):
    from texturevlm.index._sources import load
    made = [(source.key, _rows.describe(load(source), archive.settings, features=features(source), basis=BASIS, vocab=VOCAB, device=device()))
            for source in pictures(9)]
    other = index.Index.create(tmp_path / "other", k=5, basis=BASIS, vocab=VOCAB)
    assert other.add_described(_rows.rows_of(_rows.described(made, "int8"))) == []
    assert everything(other)[0] == everything(archive)[0][:9]
    key, row = made[0]
    for wrong in (row._replace(vocab_ids=None), row._replace(vocab_ids=row.vocab_ids + 40)):
        with pytest.raises(tv.ArgumentError, match="p900: its cells are of another vocabulary"):
            other.add_described([("p900", wrong._replace(key="p900"))])
    with pytest.raises(tv.ArgumentError, match="p900: it was described with another vocabulary"):
        index.Index.create(tmp_path / "none", k=5, basis=BASIS).add_described([("p900", row._replace(key="p900"))])


def test_a_vocabulary_that_does_not_fit(archive, tmp_path):
    other = tv.Vocab(np.eye(4, D))
    for call, words in (
            (lambda: index.Index.open_or_create(archive.folder, vocab=other), "the vocabulary does not fit the index, which was made with another"),
            (lambda: index.Index.create(tmp_path / "a", basis=BASIS, vocab=tv.Vocab(np.eye(3))), "does not fit the basis: it has 3 components"),
            (lambda: index.Index.create(tmp_path / "a", regions=0), "regions is 0"),
            (lambda: index.Index.create(tmp_path / "a", regions=0, vocab=VOCAB, basis=BASIS), "regions is 0, and there is a basis"),
            (lambda: archive.query(QUESTION, by="cells"), "there is no by 'cells'"),
            (lambda: archive.query(QUESTION, by="vocab", exact=True), "takes no exact"),
            (lambda: archive.query(QUESTION, by="vocab", candidates=5), "candidates only with features"),
            (lambda: index.Index.create(tmp_path / "a", vocab=tmp_path / "none"), "none")):
        with pytest.raises(tv.Error, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "a").exists()
    assert index.Index.open_or_create(archive.folder, vocab=VOCAB, basis=BASIS).vocab.count == 40
    plain = index.Index.create(tmp_path / "plain", k=5)
    plain.add(pictures(1), features=of, device=device())
    with pytest.raises(tv.ArgumentError, match="which was made with none"):
        index.Index.open_or_create(plain.folder, vocab=VOCAB)
    with pytest.raises(tv.ArgumentError, match="has no vocabulary: build it with one"):
        plain.query(QUESTION, by="vocab")


def test_a_broken_vocabulary_is_refused(archive):
    folder = pathlib.Path(archive.folder)
    for harm, words in ((lambda: tv.Vocab(np.eye(4, D)).save(folder / "vocab.safetensors"), "the vocabulary does not fit the index"),
                        (lambda: (folder / "vocab.safetensors").write_bytes(b"x"), "vocab.safetensors"),
                        (lambda: (folder / "vocab.safetensors").unlink(), "vocab.safetensors")):
        harm()
        with pytest.raises(tv.Error, match=words):
            index.Index(folder)
    # Numbers that are none of the vocabulary's, as of a folder that was put together by hand.
    tv.Vocab(np.eye(10, D)).save(folder / "vocab.safetensors")
    state = json.loads((folder / "index.json").read_text())
    del state["checksum"], state["files"]
    (folder / "index.json").write_text(json.dumps({**state, "vocab": 10}))
    with pytest.raises(tv.FileError, match="the index is broken: a cell is of centre [0-9]+, of 10"):
        index.Index(folder).query(QUESTION, by="vocab")


def test_the_program(tmp_path, capsys):
    def run(*words):
        status = program.main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, [json.loads(line) for line in out.splitlines()], err

    (tmp_path / "photos").mkdir(), (tmp_path / "features").mkdir()
    for key in KEYS[:4]:
        write_png(str(tmp_path / "photos" / f"{key}.png"), draw(80, 64, 1))
        np.save(tmp_path / "features" / f"{key}.npy", of(index.Source(key, path=key)))
    VOCAB.save(tmp_path / "vocab.safetensors")
    np.save(tmp_path / "q.npy", QUESTION)
    add = ("add", tmp_path / "archive", tmp_path / "photos", "--features", tmp_path / "features", "--device", "reference", "-k", 5,
           "--vocab", tmp_path / "vocab.safetensors", "--regions", 0)
    assert run(*add)[0] == 0 and run(*add)[1][-1]["added"] == 0
    assert run("info", tmp_path / "archive")[1][0]["vocab"] == 40
    status, lines, _ = run("query", tmp_path / "archive", "--vector", tmp_path / "q.npy", "--top-images", 2, "--positions", 3)
    assert status == 0
    assert [os.path.basename(image["key"])[:4] for image in lines[0]["images"]] == answers(KEYS[:4], 2, 3)[0]
    assert run("query", tmp_path / "archive", "--vector", tmp_path / "q.npy", "--by", "vocab", "--top-images", 2, "--positions", 3)[1] == lines
    tv.Vocab(np.eye(4, D)).save(tmp_path / "vocab.safetensors")
    for words in (add, ("query", tmp_path / "archive", "--vector", tmp_path / "q.npy", "--by", "regions")):
        status, _, err = run(*words)
        assert status == 1 and err.startswith("texturevlm.index: ") and err.count("\n") == 1


assert ROWS * COLUMNS > 20  # so that 16 cells are not all of them
