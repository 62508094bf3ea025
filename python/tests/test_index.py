# SPDX-License-Identifier: Apache-2.0
"""An index: what it keeps of an image, what it answers, and that a change happens wholly or not at all."""
import gzip
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tarfile

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

pytest.importorskip("pyarrow")
lance = pytest.importorskip("lance")
from texturevlm import index  # noqa: E402
from texturevlm.index import __main__ as program, _index, _query, _rows, _store  # noqa: E402
from texturevlm._image import write_png  # noqa: E402

ALL = os.environ.get("TVLM_TEST_INDEX") == "all"  # ci/python --index
D, ROWS, COLUMNS = 32, 4, 6
BASIS = tv.Basis(np.linalg.qr(np.random.default_rng(5).normal(size=(D, D)))[0][:8])
QUESTION = np.random.default_rng(6).normal(size=D)


def vectors(key):
    """Of each key other ones; of a few directions, as things in photos are."""
    name = os.path.splitext(os.path.basename(key))[0]
    own = np.random.default_rng(sum(name.encode()) * 31 + len(name))
    directions = np.random.default_rng(0).normal(size=(5, D))
    return (directions[own.integers(0, 5, (ROWS, COLUMNS))] + own.normal(size=(ROWS, COLUMNS, D))).astype(np.float32)


def of(source):
    return vectors(source.key)


def pictures(count, first=0):
    return [index.Source(f"p{i:03}", image=draw(96, 64, i)) for i in range(first, first + count)]


@pytest.fixture(scope="module")
def drawn():
    return pictures(12)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory, drawn):
    made = index.Index.create(tmp_path_factory.mktemp("once") / "archive", k=20, basis=BASIS, cells="half")
    assert made.add(drawn, features=of, flush=5) == []
    return made.folder


@pytest.fixture
def archive(tmp_path, made_once):
    """A copy of an index of twelve images: it may lie anywhere."""
    return index.Index(shutil.copytree(made_once, tmp_path / "archive"))


def everything(one):
    """All rows of both tables, but for what says when and where."""
    tables = []
    for name, order in (("images", "id"), ("regions", "image")):
        table = one.table(name).to_table().sort_by([(order, "ascending")] + ([("region", "ascending")] if name == "regions" else []))
        tables.append(table.to_pylist())
    return tables


def brute(keys, top, places):
    """The definition: cosines with all cells of all images, the mean of the best."""
    question = QUESTION / np.linalg.norm(QUESTION)
    scores = {}
    for key in keys:
        cells = vectors(key).reshape(-1, D)
        cosines = np.sort(cells @ question / np.linalg.norm(cells, axis=1))[::-1][:places]
        scores[key] = cosines
    best = sorted(scores, key=lambda key: -scores[key].mean())[:top]
    return best, [scores[key] for key in best]


# ---- What is kept ----

def test_positions_are_those_of_select(archive, drawn):
    for source in drawn[:3]:
        selection = tv.select(source.image, 20, max_side=1024, strategy="budget")
        row = archive.get(source.key)
        np.testing.assert_array_equal(row["positions"][:, :2], selection.xy)
        np.testing.assert_array_equal(row["positions"][:, 5], selection.scores)
        np.testing.assert_array_equal(row["positions"][:, 2], selection.size)
        assert (row["thumbnail_columns"], row["thumbnail_rows"]) == selection.thumbnail
        assert (row["width"], row["height"], row["rows"], row["columns"]) == (96, 64, ROWS, COLUMNS)
    assert archive.get("no such") is None and archive.get("it's") is None


def test_regions_are_means_that_keep_their_length(archive, drawn):
    rows = [row for row in archive.table("regions").to_table().to_pylist() if row["image"] == 2]
    with tv.Stack(drawn[2].image, layout="edges,saliency,eccentricity,entropy", clusters=50, max_side=1024) as stack:
        labels = stack.labels()
    cells = vectors(drawn[2].key).reshape(-1, D)
    cells = cells / np.linalg.norm(cells, axis=1, keepdims=True)
    y, x = np.mgrid[0:64, 0:96]
    cell = (y * ROWS // 64) * COLUMNS + x * COLUMNS // 96
    assert 1 < len(rows) == len(np.unique(labels)) <= 50
    for row, label in zip(rows, np.unique(labels)):
        mean = cells[cell[labels == label]].mean(0)
        assert np.linalg.norm(mean) <= 1 + 1e-6
        np.testing.assert_allclose(np.array(row["vector"], np.float32), mean, atol=5e-4)  # in half
        np.testing.assert_allclose([row["share"], row["x"], row["y"]], [(labels == label).mean(), (x[labels == label] + 0.5).mean(),
                                                                        (y[labels == label] + 0.5).mean()], atol=1e-4)
    assert abs(sum(row["share"] for row in rows) - 1) < 1e-5
    coherent = [np.linalg.norm(row["vector"]) for row in rows]
    assert min(coherent) < 0.95 and max(coherent) > min(coherent)


def test_the_largest_regions_are_kept():
    features = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    labels = np.zeros((8, 12), np.int32)
    labels[:, 5:] = 7
    found, places, _ = _rows.regions(features, labels, (24, 16), 50)
    cells = features.reshape(-1, 4) / np.linalg.norm(features.reshape(-1, 4), axis=1, keepdims=True)
    y, x = np.mgrid[0:8, 0:12]
    cell = (y // 4) * 3 + x // 4
    for i, label in enumerate((0, 7)):
        np.testing.assert_allclose(found[i], cells[cell[labels == label]].mean(0), atol=1e-6)
        np.testing.assert_allclose(places[i], [(labels == label).mean(), 2 * (x[labels == label] + .5).mean(), 8], atol=1e-5)
    found, places, cell_regions = _rows.regions(features, labels, (24, 16), 1)
    assert len(found) == 1 and places[0, 0] > 0.5
    np.testing.assert_array_equal(cell_regions, [_rows.NO_REGION, 0, 0] * 2)


@pytest.mark.parametrize("kind", ["half", "int8"])
def test_cells_are_coordinates_in_the_basis(kind, tmp_path, drawn):
    made = index.Index.create(tmp_path / "one", basis=BASIS, cells=kind)
    made.add(drawn[:2], features=of)
    row = made.table("images").to_table().to_pylist()[1]
    cells = vectors(row["key"]).reshape(-1, D)
    wanted = BASIS.project(cells / np.linalg.norm(cells, axis=1, keepdims=True))
    found = np.array(row["cells"], np.float32).reshape(-1, 8) * row["scale"]
    assert np.abs(found - wanted).max() <= (5e-4 if kind == "half" else row["scale"] / 2 + 1e-6)
    assert made.info()["bytes_per_image"] > 0 and made.info()["cells"] == kind


def test_images_without_features_have_positions_and_no_regions(tmp_path, drawn):
    made = index.Index.create(tmp_path / "one", k=5)
    assert made.table("images") is None and len(made) == 0 and made.get("p000") is None
    made.add(drawn[:3])
    assert len(made) == 3 and made.table("regions") is None and made.get("p001")["rows"] == 0
    with pytest.raises(tv.ArgumentError, match="no image of the index came with features"):
        made.query(QUESTION)
    made.add(drawn[:5], features=lambda source: vectors(source.key) if source.key == "p004" else None)
    assert [found.key for found in made.query(QUESTION, features=vectors)] == ["p004"]  # the only one with regions


# ---- Answers ----

@pytest.mark.parametrize("top, places", [(1, 1), (3, 4), (20, 16), (12, 100)])
def test_exact_answers_are_those_of_a_scan_of_everything(archive, drawn, top, places):
    keys, scores = brute([source.key for source in drawn], top, places)
    found = archive.query(QUESTION * 7, top, places, features=vectors)
    assert [one.key for one in found] == keys
    for one, wanted in zip(found, scores):
        np.testing.assert_allclose(one.scores, wanted, atol=2e-6)
        assert abs(one.score - wanted.mean()) < 2e-6 and one.path is None and one.folder == archive.folder
        cells = vectors(one.key) @ QUESTION / np.linalg.norm(vectors(one.key), axis=2) / np.linalg.norm(QUESTION)
        row, column = np.unravel_index(cells.argmax(), cells.shape)
        np.testing.assert_allclose(one.squares[0], [(column + .5) * 16, (row + .5) * 16, 16, 16])


def test_answers_are_the_basis_products_and_what_regions_say_of_the_rest(archive, drawn):
    question = (QUESTION / np.linalg.norm(QUESTION)).astype(np.float32)
    inside = BASIS.components.T @ BASIS.components  # of a vector, the part in the basis
    regions = {(row["image"], row["region"]): np.array(row["vector"], np.float32) for row in archive.table("regions").to_table().to_pylist()}
    wanted = {}
    for row in archive.table("images").to_table().to_pylist():
        cells = np.array(row["cells"], np.float32).reshape(-1, 8) @ BASIS.components
        means = np.stack([regions[row["id"], region] for region in row["cell_regions"]])
        wanted[row["key"]] = np.sort(cells @ question + (means - means @ inside) @ question)[::-1][:4]
    keys = sorted(wanted, key=lambda key: -wanted[key].mean())
    found = archive.query(QUESTION, 5, 4)
    assert [one.key for one in found] == keys[:5]
    for one in found:
        np.testing.assert_allclose(one.scores, wanted[one.key], atol=1e-5)


def test_the_region_of_a_cell_has_most_of_it(archive, drawn):
    with tv.Stack(drawn[1].image, layout="edges,saliency,eccentricity,entropy", clusters=50, max_side=1024) as stack:
        labels = stack.labels()
    cells = archive.table("images").to_table().to_pylist()[1]["cell_regions"]
    for number, region in enumerate(cells):
        row, column = divmod(number, COLUMNS)
        counts = np.bincount(labels[16 * row:16 * row + 16, 16 * column:16 * column + 16].ravel(), minlength=50)
        assert counts[np.unique(labels)[region]] == counts.max()


def test_a_basis_of_all_directions_answers_exactly(tmp_path, drawn):
    made = index.Index.create(tmp_path / "one", basis=tv.Basis(np.eye(D)), cells="half")
    made.add(drawn, features=of)
    keys, scores = brute([source.key for source in drawn], 4, 4)
    found = made.query(QUESTION, 4, 4)
    assert [one.key for one in found] == keys
    np.testing.assert_allclose([one.score for one in found], [score.mean() for score in scores], atol=2e-3)


def test_few_candidates_are_those_with_the_best_regions(archive):
    regions = archive.table("regions").to_table().to_pylist()
    question = QUESTION / np.linalg.norm(QUESTION)
    best = {}
    for row in regions:
        best[row["image"]] = max(best.get(row["image"], -2), float(np.array(row["vector"]) @ question))
    order = sorted(best, key=lambda image: -best[image])
    near = _query.nearest(archive.table("regions"), question.astype(np.float32), 3, False)
    assert [one.id for one in near] == order[:3]
    np.testing.assert_allclose([one.score for one in near], [best[image] for image in order[:3]], atol=1e-3)
    found = archive.query(QUESTION, 2, 4, candidates=3, features=vectors)
    assert {one.key for one in found} <= {f"p{image:03}" for image in order[:3]}


@pytest.mark.parametrize("vector, words", [
    (np.zeros(D), "length 0"), (np.ones(D + 1), "33 components, the index 32"), ([], "no values"), (np.full(D, np.nan), "not finite"),
    (np.ones((2, D)), "2 dimensions")])
def test_questions_that_are_none(archive, vector, words):
    with pytest.raises(tv.ArgumentError, match=words):
        archive.query(vector)


# ---- Changes ----

def test_each_image_once_deleted_replaced_and_compacted(tmp_path):
    paths = [tmp_path / f"p{i}.png" for i in range(5)]
    for i, path in enumerate(paths):
        write_png(str(path), draw(80, 64, i))
    made = index.Index.create(tmp_path / "one", k=10, basis=BASIS)
    counts = []
    assert made.add(paths, features=of, flush=2, told_of=counts.append) == [] and counts == [2, 2, 1]
    first = everything(made)
    assert made.add([tmp_path], features=of) == [] and everything(made) == first  # the folder has the same files
    os.utime(paths[1])
    made.add(paths, features=of)  # another time of change, the same bytes
    assert everything(made) == first

    write_png(str(paths[1]), draw(80, 64, 77))
    with pytest.raises(tv.ArgumentError, match="two images of one key: .*p1.png.* was another one then"):
        made.add(paths, features=of)
    assert made.add(paths, features=of, skip_errors=True)[0][0] == str(paths[1])
    assert everything(made) == first
    made.add(paths, features=of, replace=True)
    assert len(made) == 5 and made.get(str(paths[1]))["hash"] != first[0][1]["hash"]
    assert sorted({row["image"] for row in everything(made)[1]}) == sorted(row["id"] for row in everything(made)[0])

    assert made.delete([str(paths[0]), str(paths[3])]) == 2 and len(made) == 3
    with pytest.raises(tv.ArgumentError, match="has no image 'p9'"):
        made.delete([str(paths[2]), "p9"])
    before = everything(made)
    made.compact()
    assert everything(made) == before and made.info()["files"] == 2
    assert made.info()["images"] == 3 and made.info()["regions"] == len(before[1])
    assert len(made.query(QUESTION, 20, 2)) == 3
    made.add(paths[:1], features=of)
    assert made.get(str(paths[0]))["id"] == 6  # no number is given twice


def test_who_reads_sees_a_change_after_refresh(archive, drawn):
    reader = index.Index(archive.folder)
    before = everything(reader)
    archive.delete(["p003"])
    assert everything(reader) == before
    reader.refresh()
    assert len(reader) == 11 and reader.get("p003") is None


def test_a_half_written_shard_is_not_seen(archive, drawn):
    before = everything(archive)
    uri = os.path.join(archive.folder, "images.lance")
    lance.write_dataset(lance.dataset(uri).to_table().slice(0, 3), uri, mode="append")  # and killed before index.json
    lance.dataset(os.path.join(archive.folder, "regions.lance")).delete("image < 5")
    pathlib.Path(archive.folder, "index.json.tmp").write_text("{")
    assert everything(index.Index(archive.folder)) == before
    archive.add(pictures(1, 50), features=of)
    assert len(archive) == 13 and everything(archive)[0][:12] == before[0]
    assert [row for row in everything(archive)[1] if row["image"] < 12] == before[1]


def test_a_first_table_that_was_not_kept_is_made_again(tmp_path, drawn):
    made = index.Index.create(tmp_path / "one", k=3)
    other = index.Index.create(tmp_path / "two", k=3)
    other.add(drawn[:2])
    os.rename(tmp_path / "two" / "images.lance", tmp_path / "one" / "images.lance")
    assert len(index.Index(tmp_path / "one")) == 0
    made.add(drawn[:3])
    assert len(made) == 3


def test_only_one_writes(archive, drawn):
    with archive._store.writing():
        with pytest.raises(tv.FileError, match="another process is writing"):
            index.Index(archive.folder).add(drawn)
        assert len(index.Index(archive.folder).query(QUESTION, 3)) == 3
    archive.add(drawn)


BUILDER = """
import random, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import texturevlm as tv
from texturevlm import index
from test_index import BASIS, of, pictures
device = tv.Device("reference")
archive = index.Index.open_or_create(sys.argv[2], k=5, basis=BASIS)
print("ready", flush=True)
archive.add(pictures(int(sys.argv[3])), features=of, flush=2, device=device, told_of=lambda count: print("kept", flush=True))
"""


def test_a_builder_that_is_killed_at_any_moment_goes_on(tmp_path):
    kills, count = (20, 60) if ALL else (2, 14)
    moment = random.Random(7)
    command = [sys.executable, "-c", BUILDER, str(pathlib.Path(__file__).parent), str(tmp_path / "killed"), str(count)]
    happened = 0
    for _ in range(kills):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(moment.randint(1, 3)):
            child.stdout.readline()
        try:
            child.wait(moment.random() * 0.06)
        except subprocess.TimeoutExpired:
            happened += 1
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
        child.wait()
        there = index.Index(tmp_path / "killed")
        rows, regions = everything(there) if there.table("regions") is not None else ([], [])
        assert [row["key"] for row in rows] == [f"p{i:03}" for i in range(len(rows))]
        assert sorted({row["image"] for row in regions}) == [row["id"] for row in rows]
    assert happened >= kills / 2
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    plain = index.Index.create(tmp_path / "plain", k=5, basis=BASIS)
    plain.add(pictures(count), features=of, device=tv.Device("reference"))
    assert everything(index.Index(tmp_path / "killed")) == everything(plain)


def test_rows_that_others_have_made_are_those_of_add(archive, tmp_path, drawn):
    from texturevlm.index._sources import load
    made = [(source.key, _rows.describe(load(source), archive.settings, features=of(source), basis=BASIS)) for source in drawn[:6]]
    made += [("bare", _rows.describe(load(index.Source("bare", image=drawn[0].image)), archive.settings)), ("bad", "bad: no picture")]
    sent = list(_rows.rows_of(_rows.described(made, "half")))  # as they travel between processes
    assert [key for key, _ in sent] == [key for key, _ in made]
    other = index.Index.create(tmp_path / "other", k=20, basis=BASIS, cells="half")
    assert other.add_described(sent, flush=4) == [("bad", "bad: no picture")]
    assert everything(other)[0][:6] == everything(archive)[0][:6] and len(other) == 7
    assert everything(other)[1] == [row for row in everything(archive)[1] if row["image"] < 6]
    assert other.add_described(sent[:7]) == [] and len(other) == 7
    again = _rows.describe(load(index.Source("q", image=drawn[0].image)), archive.settings)
    assert other.add_described([("q", again), ("q", again)]) == [("q", "two images of one key: 'q'")]
    with pytest.raises(tv.ArgumentError, match="another basis"):
        other.add_described([("p900", made[0][1]._replace(key="p900", cells=None))])


# ---- What is refused ----

def test_two_images_of_one_key(archive, drawn):
    with pytest.raises(tv.ArgumentError, match="two images of one key: 'p050'"):
        archive.add([*pictures(2, 50), *pictures(1, 50)], features=of)
    assert len(archive) == 14  # what came before is kept
    assert archive.add([*pictures(1, 60), *pictures(1, 60)], features=of, skip_errors=True) == [
        ("p060", "two images of one key: 'p060'")]


def test_what_fails_is_named_and_what_came_before_is_kept(tmp_path, drawn):
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    made = index.Index.create(tmp_path / "one", k=3)
    with pytest.raises(tv.Error, match="broken.jpg") as caught:
        made.add([*drawn[:2], tmp_path / "broken.jpg", drawn[3]])
    assert "\n" not in str(caught.value) and len(made) == 2
    failed = made.add([*drawn[:2], tmp_path / "broken.jpg", tmp_path / "missing.png", drawn[3]], skip_errors=True)
    assert [pathlib.Path(key).name for key, _ in failed] == ["broken.jpg", "missing.png"] and len(made) == 3
    assert all(key in error for key, error in failed)


@pytest.mark.parametrize("features, words", [
    (np.ones((2, 3, D + 1)), "33 components, the index' basis 32"), (np.full((2, 3, D), np.nan), "not finite"),
    (np.ones((2, D)), "2 dimensions"), (np.ones((0, 3, D)), "shape"), ("vectors", "such folder")])
def test_features_that_do_not_fit(archive, features, words):
    with pytest.raises(tv.ArgumentError, match=words):
        archive.add(pictures(1, 90), features=(lambda source: features) if not isinstance(features, str) else features)
    assert len(archive) == 12


def test_features_of_another_dimension_than_those_before(tmp_path, drawn):
    made = index.Index.create(tmp_path / "one", k=3)
    made.add(drawn[:1], features=of)
    with pytest.raises(tv.ArgumentError, match="p001: features have 5 components, the index 32"):
        made.add(drawn[:2], features=lambda source: np.ones((2, 2, 5)))
    with pytest.raises(tv.ArgumentError, match="keeps no cells"):
        made.query(QUESTION)
    assert made.query(QUESTION, features=vectors)[0].key == "p000"


def test_a_basis_that_does_not_fit(archive, tmp_path):
    other = tv.Basis(np.eye(4, D))
    with pytest.raises(tv.ArgumentError, match="the basis does not fit the index"):
        index.Index.open_or_create(archive.folder, basis=other)
    with pytest.raises(tv.ArgumentError, match="made with k 20, not 21"):
        index.Index.open_or_create(archive.folder, k=21)
    assert index.Index.open_or_create(archive.folder, basis=BASIS, k=20).basis.k == 8
    with pytest.raises(tv.ArgumentError, match="centred"):
        index.Index.create(tmp_path / "centred", basis=tv.Basis(np.eye(4, D), mean=np.ones(D)))
    other.save(os.path.join(archive.folder, "basis.safetensors"))
    with pytest.raises(tv.ArgumentError, match="does not fit the index"):
        index.Index(archive.folder)


def largest(folder):
    return max((path for path in pathlib.Path(folder).rglob("data/*.lance")), key=lambda path: path.stat().st_size)


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize("harm, words", [
    (lambda folder: (folder / "index.json").write_text("{"), "no JSON"),
    (lambda folder: (folder / "index.json").write_text("[1]"), "not of an index"),
    (lambda folder: (folder / "index.json").write_text('{"format": "other"}'), "not of an index"),
    (lambda folder: (folder / "index.json").write_text(json.dumps({"format": _store.FORMAT, "version": 2})), "version 2; .* reads 1"),
    (lambda folder: (folder / "index.json").write_text(json.dumps({"format": _store.FORMAT, "version": 1})), "a field is missing"),
    (lambda folder: (folder / "index.json").unlink(), "there is no index"),
    (lambda folder: cut(largest(folder)), "broken: [0-9]+ bytes, not"),
    (lambda folder: largest(folder).unlink(), "broken"),
    (lambda folder: (folder / "basis.safetensors").unlink(), "basis"),
    (lambda folder: [path.write_bytes(b"x") for path in folder.rglob("*.manifest")], "broken")])
def test_a_broken_or_foreign_file_is_refused(archive, harm, words):
    folder = pathlib.Path(archive.folder)
    harm(folder)
    with pytest.raises(tv.Error, match=words) as caught:
        index.Index(folder)
    assert "\n" not in str(caught.value) and type(caught.value) is not tv.Error
    assert program.main(["info", str(folder)]) == 1


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"x")
    with pytest.raises(tv.ArgumentError, match="no index, and has other files"):
        index.Index.create(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["photo.jpg"]
    index.Index.create(tmp_path / "one")
    with pytest.raises(tv.ArgumentError, match="there is an index already"):
        index.Index.create(tmp_path / "one")


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import texturevlm as tv
from texturevlm import index
from test_index import of, pictures
archive, device = index.Index(sys.argv[2]), tv.Device("reference")
resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000))  # as a disk that fills up: writes fail
try:
    archive.add(pictures(4, 100), features=of, device=device)
except tv.FileError as error:
    print(error)
print(len(archive), len(archive.query(tv.Basis.load(archive.folder + "/basis.safetensors").components[0], 3, device=device)))
"""


def test_a_disk_that_fills_up(archive):
    before = everything(archive)
    found = subprocess.run([sys.executable, "-c", FULL, str(pathlib.Path(__file__).parent), archive.folder], capture_output=True,
                           text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    assert "larger than is allowed; what was there is as it was" in lines[0] and lines[1:] == ["12 3"], found.stdout
    archive.refresh()
    assert everything(archive) == before
    archive.add(pictures(4, 100), features=of)
    assert len(archive) == 16


# ---- Tars ----

def tar_of(path, count):
    with tarfile.open(path, "w") as tar:
        for i in range(count):
            write_png(str(path) + ".png", draw(80, 64, i))
            files = [(f"s/{i:03}.png", pathlib.Path(str(path) + ".png").read_bytes()), (f"s/{i:03}.txt", b"caption")]
            file = io.BytesIO()
            np.save(file, vectors(f"{i:03}"))
            for name, data in [*files, (f"s/{i:03}.npy", file.getvalue())]:
                about = tarfile.TarInfo(name)
                about.size = len(data)
                tar.addfile(about, io.BytesIO(data))


def test_tars_in_webdataset_layout(tmp_path):
    tar_of(tmp_path / "a.tar", 4)
    made = index.Index.create(tmp_path / "one", k=5, basis=BASIS)
    assert made.add([tmp_path / "a.tar"]) == []
    keys = [f"{tmp_path}/a.tar/s/{i:03}.png" for i in range(4)]
    assert [row["key"] for row in everything(made)[0]] == keys
    np.testing.assert_array_equal(made.get(keys[2])["positions"][:, :2], tv.select(draw(80, 64, 2), 5, max_side=1024).xy)
    assert [found.key for found in made.query(QUESTION, 2, 4, features=vectors)] == brute(keys, 2, 4)[0]
    first = everything(made)
    made.add([tmp_path / "a.tar"])
    assert everything(made) == first


def test_a_member_that_is_broken_fails_its_image_alone(tmp_path):
    tar_of(tmp_path / "whole.tar", 4)
    with tarfile.open(tmp_path / "whole.tar") as whole, tarfile.open(tmp_path / "a.tar", "w") as tar:
        for member in whole:
            data = b"nothing" if member.name in ("s/001.npy", "s/002.png") else whole.extractfile(member).read()
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    made = index.Index.create(tmp_path / "one", k=5, basis=BASIS)
    failed = made.add([tmp_path / "a.tar", *pictures(1)], skip_errors=True)
    assert [pathlib.Path(key).name for key, _ in failed] == ["001.png", "002.png"]
    assert "001.png: features: no .npy of numbers" in failed[0][1]
    assert [pathlib.Path(row["key"]).name for row in everything(made)[0]] == ["000.png", "003.png", "p000"]


def test_a_name_that_is_no_text_fails_its_image_alone(tmp_path):
    for name in (b"a.png", b"no\xfftext.png"):
        write_png(str(tmp_path / os.fsdecode(name)), draw(80, 64, 1))
    made = index.Index.create(tmp_path / "one", k=5)
    failed = made.add([tmp_path], skip_errors=True)
    assert len(failed) == 1 and "which is no text" in failed[0][1] and len(made) == 1


@pytest.mark.parametrize("where", ["in a picture", "between two members", "in a header"])
def test_a_tar_that_is_cut(tmp_path, where):
    path = tmp_path / "a.tar"
    tar_of(path, 4)
    with tarfile.open(path) as tar:
        member = [member for member in tar if member.name == "s/002.png"][0]
    at = {"in a picture": member.offset_data + 700, "between two members": member.offset, "in a header": member.offset + 100}[where]
    path.write_bytes(path.read_bytes()[:at])
    made = index.Index.create(tmp_path / "one", k=5, basis=BASIS)
    with pytest.raises(tv.ArgumentError, match="a.tar: .*cut"):
        made.add([path])
    assert len(made) == 2 and len(index.Index(tmp_path / "one").query(QUESTION)) == 2
    failed = made.add([path, *pictures(1)], features=lambda source: None if source.features is not None else of(source), skip_errors=True)
    assert len(failed) == 1 and len(made) == 3


def test_a_compressed_tar_whose_checksum_is_wrong(tmp_path):
    path = tmp_path / "a.tar.gz"
    tar_of(tmp_path / "a.tar", 2)
    packed = bytearray(gzip.compress((tmp_path / "a.tar").read_bytes() + bytes(1 << 20)))  # the end is behind what is read ahead
    packed[-6] ^= 0x55
    path.write_bytes(packed)
    made = index.Index.create(tmp_path / "one", k=5, basis=BASIS)
    with pytest.raises(tv.ArgumentError, match="a.tar.gz: .*CRC"):
        made.add([path])
    assert len(made) == 2


# ---- Several indexes ----

def test_several_indexes_answer_as_one(archive, tmp_path, drawn):
    parts = []
    for i in range(3):
        parts.append(index.Index.create(tmp_path / f"part{i}", k=20, basis=BASIS, cells="half"))
        parts[-1].add(drawn[4 * i:4 * i + 4], features=of)
    empty = index.Index.create(tmp_path / "empty", basis=BASIS)
    shards = index.Shards([*parts, empty.folder])
    for options in ({}, {"features": vectors}, {"candidates": 3}, {"exact": True}):
        for seed in range(4):
            question = np.random.default_rng(seed).normal(size=D)
            one, several = archive.query(question, 3, 4, **options), shards.query(question, 3, 4, **options)
            assert [found.key for found in several] == [found.key for found in one]
            for a, b in zip(one, several):
                np.testing.assert_allclose(b.scores, a.scores, atol=1e-6)
                np.testing.assert_array_equal(b.squares, a.squares)
    assert {found.folder for found in shards.query(QUESTION, 12)} == {part.folder for part in parts}
    assert [info["images"] for info in shards.info()] == [4, 4, 4, 0]


def test_indexes_that_do_not_fit_each_other(archive, tmp_path, drawn):
    other = index.Index.create(tmp_path / "other")
    other.add(drawn[:1], features=lambda source: np.ones((2, 2, 5)))
    basis = index.Index.create(tmp_path / "basis", basis=tv.Basis(np.eye(8, D)))
    basis.add(drawn[:1], features=of)
    double = index.Index.create(tmp_path / "double", basis=BASIS)
    double.add(drawn[:1], features=of)
    for folders, words in (([archive, other], "5 components"), ([archive, basis], "different bases"), ([], "no indexes"),
                           ([archive.folder, archive], "named twice")):
        with pytest.raises(tv.ArgumentError, match=words):
            index.Shards(folders)
    with pytest.raises(tv.ArgumentError, match="have two images of one key: 'p000'"):
        index.Shards([archive, double]).query(QUESTION, 20)


# ---- What a row was described with ----

@pytest.mark.parametrize("options, line", [
    ({"cells": "half"}, "with cells half, the index has int8"), ({"k": 5}, "with k 5, the index has 20"), ({"max_side": 512}, "with max_side 512"),
    ({"basis": 2}, "with another basis than the index has")], ids=lambda value: next(iter(value)) if isinstance(value, dict) else "")
def test_rows_that_were_described_otherwise_are_refused(tmp_path, options, line):
    from texturevlm.index._sources import load
    made = index.Index.create(tmp_path / "one", k=20, basis=BASIS)
    other = tv.Basis(BASIS.components[::-1]) if options.pop("basis", None) else BASIS
    settings = made.settings._replace(**options)
    (source,) = pictures(1)
    row = _rows.describe(load(source), settings, features=of(source), basis=other)
    sent = list(_rows.rows_of(_rows.described([("p000", row)], settings.cells)))
    for rows in ([("p000", row)], sent):
        with pytest.raises(tv.ArgumentError, match=f"^p000: it was described {line}"):
            made.add_described(rows)
    assert len(made) == 0


# ---- Sources ----

def test_a_picture_that_a_source_brings_as_a_file_is_known_by_its_bytes(tmp_path):
    made = index.Index.create(tmp_path / "one", k=20)
    for number in range(2):
        write_png(str(tmp_path / f"{number}.png"), draw(64, 48, number))
        os.utime(tmp_path / f"{number}.png", (number + 1e9, number + 1e9))  # they may be of one length, and of one tick of the clock
    forms = [lambda path: str(path), lambda path: path.read_bytes(), lambda path: path.open("rb")]
    for place, form in enumerate(forms):
        key = f"k{place}"
        assert made.add([index.Source(key, image=form(tmp_path / "0.png"))]) == []
        first = made.get(key)["hash"]
        assert made.add([index.Source(key, image=form(tmp_path / "0.png"))]) == [] and len(made) == place + 1
        with pytest.raises(tv.ArgumentError, match="was another one then"):
            made.add([index.Source(key, image=form(tmp_path / "1.png"))])
        made.add([index.Source(key, image=form(tmp_path / "1.png"))], replace=True)
        assert made.get(key)["hash"] != first


def test_features_before_their_picture_in_a_tar(tmp_path, caplog):
    names = ["a.npy", "a.png", "b.png", "b.npy", "c.npy", "d.npy", "d.png"]  # c has no picture
    with tarfile.open(tmp_path / "all.tar", "w") as tar:
        for name in names:
            data = io.BytesIO()
            if name.endswith(".npy"):
                np.save(data, vectors(name))
            else:
                write_png(str(tmp_path / "one.png"), draw(64, 48, ord(name[0])))
                data.write((tmp_path / "one.png").read_bytes())
            member = tarfile.TarInfo(name)
            member.size = data.tell()
            data.seek(0)
            tar.addfile(member, data)
    made = index.Index.create(tmp_path / "one", k=20, basis=BASIS)
    with caplog.at_level("WARNING", "texturevlm"):
        assert made.add([tmp_path / "all.tar"]) == []
    assert sorted(made.known()) == [f"{tmp_path}/all.tar/{name}.png" for name in "abd"]
    assert all(made.get(key)["rows"] == ROWS for key in made.known())
    assert [record.message for record in caplog.records] == [f"{tmp_path}/all.tar/c.npy: features of no picture that stands beside them"]


def test_features_of_a_folder_are_of_one_picture(tmp_path):
    (tmp_path / "features").mkdir()
    np.save(tmp_path / "features" / "i.npy", vectors("i"))
    for folder in "xy":
        (tmp_path / folder).mkdir()
        write_png(str(tmp_path / folder / "i.png"), draw(64, 48, ord(folder)))
    made = index.Index.create(tmp_path / "one", k=20, basis=BASIS)
    failed = made.add([tmp_path / "x", tmp_path / "y"], features=str(tmp_path / "features"), skip_errors=True)
    assert len(failed) == 1 and "which are those of" in failed[0][1] and len(made) == 1


def test_shards_of_which_one_keeps_no_regions(tmp_path):
    vocab = tv.Vocab(np.eye(16, D))
    for name, regions in (("a", 5), ("b", 0)):
        made = index.Index.create(tmp_path / name, k=20, regions=regions, vocab=vocab)
        made.add([index.Source(f"{name}{i}", image=draw(64, 48, i), features=vectors(f"{name}{i}")) for i in range(3)])
    answers = [sorted((one.key, round(one.score, 5)) for one in index.Shards([tmp_path / first, tmp_path / second]).query(QUESTION))
               for first, second in ("ab", "ba")]
    assert answers[0] == answers[1] and len(answers[0]) == 6


def test_a_reader_that_was_left_behind_says_so(archive):
    reader = index.Index(archive.folder)
    reader.query(QUESTION)
    for key in list(archive.known())[:11]:
        archive.delete([key])
    archive.compact()
    with pytest.raises(tv.FileError, match=r"what was opened is there no more \(refresh\(\) opens what is there now\)"):
        reader.query(QUESTION)
    reader.refresh()
    assert len(reader.query(QUESTION)) == 1


# ---- The approximate index ----

def approximate(folder, drawn, monkeypatch):
    """An index that is asked by Lance's approximate one, which there is from 400 regions on."""
    for module in (_index, _query):
        monkeypatch.setattr(module, "APPROXIMATE_FROM", 400)
    made = index.Index.create(folder, k=3, basis=BASIS)
    made.add(drawn, features=of, compact=False)
    compact = _store.Store.compact
    monkeypatch.setattr(_store.Store, "compact", lambda self: compact(self, 400))
    made.compact()
    return made


def test_the_approximate_index_finds_what_a_scan_finds(tmp_path, drawn, monkeypatch):
    made = approximate(tmp_path / "one", drawn, monkeypatch)
    assert made.info()["scan"] == "approximate" and made.info()["regions"] >= 400
    made.add(pictures(3, 40), features=of)  # found beside the index
    hits = 0
    for seed in range(20):
        question = np.random.default_rng(seed).normal(size=D)
        exact = {found.key for found in made.query(question, 3, 4, candidates=4, exact=True)}
        hits += len(exact & {found.key for found in made.query(question, 3, 4, candidates=4)})
    assert hits >= 54, hits  # of 60
    before = everything(made)
    made.compact()
    assert everything(made) == before and made.info()["scan"] == "approximate"
    made.delete([f"p{i:03}" for i in range(10)])
    made.compact()
    assert made.info()["scan"] == "exact"


# ---- The program ----

def test_the_program(tmp_path, capsys):
    def run(*words):
        status = program.main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, [json.loads(line) for line in out.splitlines()], err

    photos, features = tmp_path / "photos", tmp_path / "features"
    photos.mkdir(), features.mkdir()
    for i in range(4):
        write_png(str(photos / f"{i}.png"), draw(80, 64, i))
        np.save(features / f"{i}.npy", vectors(f"{i}"))
    BASIS.save(tmp_path / "basis.safetensors")
    np.save(tmp_path / "q.npy", np.stack([QUESTION, -QUESTION]))
    np.save(tmp_path / "q1.npy", QUESTION)
    archive = tmp_path / "archive"
    add = ("add", archive, photos, "--features", features, "--basis", tmp_path / "basis.safetensors", "-k", 7, "--flush", 3)
    status, lines, err = run(*add)
    assert status == 0 and lines == [{"added": 3}, {"added": 4}, {"images": 4, "added": 4, "before": 0, "failed": 0}] and not err
    assert run(*add)[1] == [{"images": 4, "added": 0, "before": 4, "failed": 0}]
    (photos / "bad.png").write_bytes(b"no")
    status, lines, err = run(*add)
    assert status == 1 and err.count("\n") == 1 and "bad.png" in err
    status, lines, err = run(*add, "--skip-errors")
    assert status == 3 and lines[-1]["failed"] == 1 and "bad.png" in lines[0]["key"]
    (tmp_path / "list").write_text(f"{photos}/1.png\n{photos}/2.png\n")
    assert run("add", archive, "--list", tmp_path / "list")[1][-1]["added"] == 0

    status, lines, _ = run("info", archive)
    assert status == 0 and (lines[0]["images"], lines[0]["k"], lines[0]["basis"], lines[0]["dimension"]) == (4, 7, 8, D)
    status, lines, _ = run("query", archive, "--vector", tmp_path / "q.npy", "--top-images", 2, "--positions", 3, "--features", features)
    keys = [f"{photos}/{i}.png" for i in range(4)]
    assert [image["key"] for image in lines[0]["images"]] == brute(keys, 2, 3)[0] and len(lines) == 2
    assert len(lines[0]["images"][0]["squares"]) == 3
    status, lines, err = run("query", archive, "--vector", tmp_path / "q1.npy", "--overlay-sheet", tmp_path / "sheet.png")
    assert status == 0 and not err
    picture = tv.channels(tmp_path / "sheet.png", "r,g,b")
    assert picture.shape == (3, 240 + 12 + 16, 4 * 248 + 8) and picture.std() > 0.1
    for words in (("query", archive, "--vector", tmp_path / "q.npy", "--overlay-sheet", tmp_path / "s.png"), ("info", tmp_path / "none"),
                  ("query", archive, "--vector", tmp_path / "none.npy"), ("query", archive, "--vector", tmp_path / "list"),
                  ("add", archive), ("add", archive, photos, "-k", 8), ("delete", archive, "none"), ("compact", photos),
                  ("add", archive, "--list", tmp_path / "none"), ("add", archive, photos, "--features", tmp_path / "none")):
        status, lines, err = run(*words)
        assert status == 1 and err.startswith("texturevlm.index: ") and err.count("\n") == 1, (words, err)
    assert run("delete", archive, keys[0])[1] == [{"deleted": 1, "images": 3}]
    assert run("compact", archive)[1][0]["images"] == 3
    with pytest.raises(SystemExit) as stopped:
        program.main(["add"])
    assert stopped.value.code == 2


def test_a_sheet_of_what_cannot_be_read(archive, drawn):
    found = archive.query(QUESTION, 7, 2)
    images = {source.key: source.image for source in drawn}
    full = index.sheet(found, images=lambda one: images[one.key], columns=3)
    assert full.array.shape == (3 * 260 + 8, 3 * 248 + 8, 3)
    assert index.sheet(found, columns=3).array.std() < full.array.std()
    for wrong, kind in (([], tv.ArgumentError), (3, tv.ArgumentTypeError), ([1], tv.ArgumentTypeError), ("x", tv.ArgumentTypeError)):
        with pytest.raises(kind):
            index.sheet(wrong)


# ---- Wrong arguments ----

WRONG = [None, 3, -1, 2**70, 1.5, float("nan"), True, "", "no such", "a\0b", b"x", [], [[1], [1, 2]], {}, np.zeros((2, 2)), object(), tv]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_wrong_arguments_are_named(archive, tmp_path, wrong):
    def tried(function, *arguments, **keywords):
        try:
            return function(*arguments, **keywords)
        except tv.Error as error:
            line = str(error)
            assert line and "\n" not in line and type(error) is not tv.Error, line

    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        tried(index.Index, wrong), tried(index.Shards, wrong), tried(index.Index.create, wrong)
        for name in ("k", "strategy", "max_side", "regions", "cells", "basis"):
            tried(index.Index.create, tmp_path / f"new {name}", **{name: wrong})
            tried(index.Index.open_or_create, archive.folder, **{name: wrong})
        tried(archive.add, wrong), tried(archive.add, [wrong]), tried(archive.delete, wrong), tried(archive.get, wrong)
        tried(archive.add, [index.Source("p900", image=wrong)]), tried(archive.add, [index.Source(wrong, path="x")])
        tried(archive.add, [index.Source("p901", data=wrong)])
        for name in ("features", "skip_errors", "replace", "jobs", "flush", "compact", "device"):
            tried(archive.add, pictures(1, 70), **{name: wrong})
        tried(archive.query, wrong), tried(archive.table, wrong), tried(index.sheet, wrong, columns=wrong)
        for name in ("top_images", "positions", "candidates", "features", "exact", "device"):
            tried(archive.query, QUESTION, **{name: wrong if not isinstance(wrong, int) or wrong < 100 else 5})
        assert len(archive.query(QUESTION, 3)) == 3
    finally:
        os.chdir(here)


# ---- The document ----

def test_the_block_of_the_document_runs(tmp_path, monkeypatch):
    import test_document
    monkeypatch.chdir(tmp_path)
    test_document.archive_files()
    names = test_document.run_blocks("doc/archive.md")
    assert len(names["archive"]) == 4 and names["found"].key and os.path.getsize("best.png") > 1000
