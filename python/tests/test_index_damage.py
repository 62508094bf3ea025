# SPDX-License-Identifier: Apache-2.0
"""An index of which files are damaged: each damage is an error of one line or changes nothing, and `check` mends what can be mended."""
import json
import os
import pathlib
import random
import shutil

import numpy as np
import pytest

import texturevlm as tv

pytest.importorskip("pyarrow")
pytest.importorskip("lance")
from texturevlm import index  # noqa: E402
from texturevlm.index import __main__ as program, _check, _repair  # noqa: E402
from test_index import ALL, QUESTION, approximate, archive, drawn, everything, made_once, of, pictures  # noqa: E402, F401

FLIPS = 200 if ALL else 40


def files_of(folder):
    return sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file() and path.name != "lock")


def flip(path, generator):
    content = bytearray(path.read_bytes())
    if content:
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(content)


def answers(folder):
    """All that can be read of an index, or the error's line."""
    try:
        one = index.Index(folder)
        found = one.query(QUESTION, top_images=12, positions=4)
        return everything(one), [(each.key, each.score, each.scores.tolist()) for each in found], one.known()
    except tv.Error as error:
        assert "\n" not in str(error) and str(error)
        return str(error)


def test_a_flipped_bit_is_an_error_or_changes_nothing(archive, tmp_path, capfd):  # noqa: F811
    right = answers(archive.folder)
    assert not isinstance(right, str)
    generator = random.Random(29)
    named = [path.relative_to(archive.folder) for path in files_of(archive.folder)]
    refused = set()
    for number in range(FLIPS):
        folder = shutil.copytree(archive.folder, tmp_path / str(number))
        name = named[number % len(named)]
        flip(folder / name, generator)
        found = answers(str(folder))
        assert isinstance(found, str) or found == right, (number, name)
        if isinstance(found, str):
            refused.add(name)
            assert name.name in found or "index.json" in found, (name, found)
        shutil.rmtree(folder)
    counted = {pathlib.Path(name) for name in index.Index(archive.folder)._store.sums}
    assert counted <= refused  # every file that counts was hit, and found
    assert "panicked" not in capfd.readouterr().err


def manifests(folder, table="images"):
    return [os.path.join(folder, _check.manifest_of(folder, table, version)) for version in _check.versions_of(folder, table)]


def test_an_emptied_old_manifest_stops_no_change(archive):  # noqa: F811
    old = manifests(archive.folder)[1:] + manifests(archive.folder, "regions")[1:]
    assert old  # it was added in several changes
    for path in old:
        open(path, "w", encoding="utf-8").close()
    assert index.Index.check(archive.folder)["problems"] == []
    assert archive.add(pictures(3, first=20), features=of, flush=1) == []
    archive.compact()
    assert len(archive) == 15 and len(index.Index(archive.folder)) == 15


def test_a_manifest_that_a_killed_writer_left_half_is_passed_over(archive):  # noqa: F811
    before = everything(archive)
    version = archive._store.versions["images"] + 1
    path = os.path.join(archive.folder, "images.lance", "_versions", f"{2**64 - 1 - version:020d}.manifest")
    open(path, "w", encoding="utf-8").close()
    again = index.Index(archive.folder)
    assert everything(again) == before
    assert again.add(pictures(2, first=20), features=of) == [] and len(again) == 14


def kept_after(folder, whole):
    """What is left of an index once it is mended: each image as it was, and those that were lost come back by `add`."""
    report = index.Index.check(folder, repair=True)
    assert report["repaired"] and report["problems"] == [], report
    mended = index.Index(folder)
    rows = {row["key"]: row for row in everything(mended)[0]}
    assert report["lost"] == len(whole) - len(rows)
    for key, row in rows.items():
        assert row == whole[key]
    assert {row["image"] for row in everything(mended)[1]} == {row["id"] for row in rows.values()}
    assert mended.add(pictures(12), features=of) == [] and len(mended) == 12
    assert index.Index.check(folder)["problems"] == []
    found = [each.key for each in mended.query(QUESTION, top_images=12, positions=4)]
    return len(rows), found


@pytest.mark.parametrize("table", ["images", "regions"])
@pytest.mark.parametrize("harm", ["flipped", "missing", "cut", "empty"])
def test_broken_data_is_taken_out_and_comes_back(archive, table, harm):  # noqa: F811
    whole = {row["key"]: row for row in everything(archive)[0]}
    right = [each.key for each in archive.query(QUESTION, top_images=12, positions=4)]
    path = sorted((pathlib.Path(archive.folder) / f"{table}.lance" / "data").iterdir())[0]
    if harm == "flipped":
        flip(path, random.Random(1))
    elif harm == "missing":
        path.unlink()
    else:
        with open(path, "r+b") as file:
            file.truncate(0 if harm == "empty" else path.stat().st_size // 2)
    assert isinstance(answers(archive.folder), str)
    report = index.Index.check(archive.folder)
    assert len(report["problems"]) == 1 and path.name in report["problems"][0]
    rows, found = kept_after(archive.folder, whole)
    assert 0 < rows < 12 and found == right


@pytest.mark.parametrize("table", ["images", "regions"])
def test_a_manifest_that_counts_is_replaced_by_the_one_before(archive, table):  # noqa: F811
    whole = {row["key"]: row for row in everything(archive)[0]}
    open(manifests(archive.folder, table)[0], "w", encoding="utf-8").close()
    rows, _ = kept_after(archive.folder, whole)
    assert 0 < rows < 12  # of the change before


@pytest.mark.parametrize("harm", ["flipped", "missing", "cut", "empty"])
def test_an_approximate_index_that_is_broken_is_dropped(tmp_path, drawn, monkeypatch, harm):  # noqa: F811
    """Each file of it. No image is lost, and questions scan all regions until the index is made again."""
    made = approximate(tmp_path / "made", drawn, monkeypatch)
    assert made.info()["scan"] == "approximate"
    whole, scans, generator = everything(made), set(), random.Random(7)
    names = [path.relative_to(made.folder) for path in files_of(made.folder) if "_indices" in path.parts]
    assert len({name.parts[0] for name in names}) == 2  # of both tables
    for number, name in enumerate(names):
        folder = shutil.copytree(made.folder, tmp_path / str(number))
        path = folder / name
        if harm == "flipped":
            flip(path, generator)
        elif harm == "missing":
            path.unlink()
        else:
            with open(path, "r+b") as file:
                file.truncate(0 if harm == "empty" else path.stat().st_size // 2)
        found = answers(str(folder))
        assert isinstance(found, str) and name.name in found, (name, found)
        report = index.Index.check(folder, repair=True)
        assert report["repaired"] and report["lost"] == 0 and report["problems"] == [], (name, report)
        mended = index.Index(folder)
        assert everything(mended) == whole
        scans.add(mended.info()["scan"])
        mended.compact()
        assert mended.info()["scan"] == "approximate" and not isinstance(answers(str(folder)), str)
        shutil.rmtree(folder)
    assert scans == {"exact", "approximate"}  # that of vectors was dropped, or one of numbers


def test_no_version_that_can_be_read_is_said(archive):  # noqa: F811
    archive.compact()
    (path,) = manifests(archive.folder)
    open(path, "w", encoding="utf-8").close()
    with pytest.raises(tv.FileError, match="no version of the table can be read; make the index anew"):
        index.Index.check(archive.folder, repair=True)


@pytest.mark.parametrize("harm", ["flipped", "empty", "missing"])
def test_index_json_comes_back_from_its_copy(archive, harm):  # noqa: F811
    right, path = answers(archive.folder), pathlib.Path(archive.folder) / "index.json"
    if harm == "flipped":
        path.write_text(path.read_text().replace('"k": 20', '"k": 21'))
    elif harm == "empty":
        path.write_text("")
    else:
        path.unlink()
    assert "index" in answers(archive.folder)
    report = index.Index.check(archive.folder, repair=True)
    assert report["lost"] == 0 and report["problems"] == [] and len(report["repaired"]) == 1
    assert answers(archive.folder) == right


@pytest.mark.parametrize("harm", ["older", "empty", "missing"])
def test_a_copy_that_is_none_is_said(archive, harm):  # noqa: F811
    path = pathlib.Path(archive.folder) / "index.json.copy"
    old = path.read_bytes()
    archive.delete(list(archive.known())[:1])
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes(old if harm == "older" else b"")
    problems = index.Index.check(archive.folder)["problems"]
    assert len(problems) == 1 and problems[0].startswith(f"{path}: ")
    report = index.Index.check(archive.folder, repair=True)
    assert report["problems"] == [] and report["lost"] == 0 and len(index.Index(archive.folder)) == 11


def test_a_change_that_came_before_the_lock_is_kept_by_a_repair(archive, monkeypatch):  # noqa: F811
    (pathlib.Path(archive.folder) / "index.json.copy").unlink()
    lock = _repair.locked

    def late(folder):
        monkeypatch.setattr(_repair, "locked", lock)
        index.Index(folder).delete(["p011"])  # of another process, just before
        return lock(folder)

    monkeypatch.setattr(_repair, "locked", late)
    report = index.Index.check(archive.folder, repair=True)
    assert report["repaired"] and "p011" not in index.Index(archive.folder).known()


def test_a_basis_is_to_be_copied_back(archive):  # noqa: F811
    path = pathlib.Path(archive.folder) / "basis.safetensors"
    content = path.read_bytes()
    flip(path, random.Random(3))
    assert "basis.safetensors" in answers(archive.folder)
    with pytest.raises(tv.FileError, match="basis.safetensors: .* copy the file that the index was made with"):
        index.Index.check(archive.folder, repair=True)
    path.write_bytes(content)
    assert not isinstance(answers(archive.folder), str)


def test_an_index_without_checksums_is_read_and_gets_them(archive):  # noqa: F811
    path = pathlib.Path(archive.folder) / "index.json"
    state = json.loads(path.read_text())
    del state["files"], state["checksum"]
    path.write_text(json.dumps(state))
    older = index.Index(archive.folder)
    assert len(older) == 12 and "before there were checksums" in index.Index.check(archive.folder)["problems"][0]
    older.add(pictures(1, first=20), features=of)
    assert index.Index.check(archive.folder)["problems"] == [] and older._store.sums


def test_a_large_table_is_compared_when_that_is_asked_for(archive, monkeypatch, caplog, tmp_path):  # noqa: F811
    flip(sorted((pathlib.Path(archive.folder) / "regions.lance" / "data").iterdir())[0], random.Random(1))
    monkeypatch.setattr(_check, "AT_ONCE", 100)
    index.Index(archive.folder)  # its lengths are right
    assert [record.message.split(": ")[0].rpartition("/")[2] for record in caplog.records] == ["images.lance", "regions.lance"]
    assert "are not compared with their checksums" in caplog.text
    caplog.clear()
    index.Index(archive.folder, verify=False)
    assert not caplog.records
    with pytest.raises(tv.FileError, match="regions.lance/data/.* its bytes are not those that were written"):
        index.Index(archive.folder, verify=True)
    np.save(tmp_path / "question.npy", QUESTION)
    assert program.main(["query", archive.folder, "--vector", str(tmp_path / "question.npy"), "--verify"]) == 1
    assert len(index.Index.check(archive.folder)["problems"]) == 1


def test_damage_that_nobody_looked_for_is_told_in_one_line(archive, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(_check, "AT_ONCE", 100)
    named = [path.relative_to(archive.folder) for path in files_of(archive.folder) if "data" in path.parts]
    generator, told = random.Random(29), 0
    for number in range(36):
        folder = shutil.copytree(archive.folder, tmp_path / str(number))
        flip(folder / named[number % len(named)], generator)
        try:
            one = index.Index(folder)
            found = one.query(QUESTION, top_images=12, positions=4)
            one.known()
            assert np.isfinite([each.score for each in found]).all()
        except tv.Error as error:  # no other
            assert "\n" not in str(error)
            told += 1
        shutil.rmtree(folder)
    assert told > 0


def test_the_program_checks(archive, capsys, tmp_path):  # noqa: F811
    assert program.main(["check", archive.folder]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] == [] and report["files"] > 5 and report["bytes"] > 1000
    flip(sorted((pathlib.Path(archive.folder) / "images.lance" / "data").iterdir())[0], random.Random(1))
    assert program.main(["check", archive.folder]) == 3
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 1
    assert program.main(["check", archive.folder, "--repair"]) == 0
    assert json.loads(capsys.readouterr().out)["lost"] > 0
    assert program.main(["check", str(tmp_path)]) == 1
    assert "there is no index" in capsys.readouterr().err
