# SPDX-License-Identifier: Apache-2.0
"""texturevlm.ray on a local cluster of two workers: the rows of a single process, whatever is read and whatever fails, where a worker
is killed. Only by ci/python --index, since a cluster takes a while to start."""
import io
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tarfile

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.environ.get("TVLM_TEST_INDEX") != "all", reason="TVLM_TEST_INDEX=all runs it")
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_worker_niceness="0")  # the first as in examples/ray_index.py
pytest.importorskip("lance")
ray = pytest.importorskip("ray")
import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402

import texturevlm as tv  # noqa: E402
from conftest import draw  # noqa: E402
from texturevlm import index, ray as tvr  # noqa: E402
from texturevlm._image import write_png  # noqa: E402

D = 16
BASIS = tv.Basis(np.eye(4, D))
SLOW = "timed out during startup"  # Ray gives its own processes 30 s to start, which they miss where a machine is busy


def vectors(name):
    return np.random.default_rng(list(name.encode())).normal(size=(3, 4, D)).astype(np.float32)


def png(folder, seed):
    path = folder / "drawn.png"
    write_png(str(path), draw(80, 64, seed))
    data = path.read_bytes()
    path.unlink()
    return data


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def write_tar(path, members):
    with tarfile.open(path, "w") as tar:
        for name, data in members:
            about = tarfile.TarInfo(name)
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folders, tars and tables, with everything in them that can be wrong; the second: as a single process is given them."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "photos").mkdir()
    for i in range(7):
        (folder / "photos" / f"{i}.png").write_bytes(png(folder, i))
    (folder / "photos" / "3 broken.png").write_bytes(b"no picture")
    (folder / "photos" / os.fsdecode(b"no\xfftext.png")).write_bytes(png(folder, 8))
    members = [(f"s/{i}.{suffix}", data) for i in range(5) for suffix, data in (("png", png(folder, 10 + i)), ("npy", npy(vectors(f"tar {i}"))))]
    members[5] = ("s/2.npy", b"no array")
    members[6] = ("s/3.png", b"no picture")
    write_tar(folder / "whole.tar", members)
    write_tar(folder / "cut.tar", members[:2] + members[8:])
    (folder / "cut.tar").write_bytes((folder / "cut.tar").read_bytes()[:3 * 512 + len(members[0][1])])
    (folder / "tables.parquet").mkdir()
    rows = [(f"t{i}", png(folder, 20 + i), npy(vectors(f"table {i}"))) for i in range(4)]
    rows += [("t broken", b"no picture", None), ("t null", None, None), ("t0", rows[0][1], None)]  # the last: a key for the second time
    names = ["key", "bytes", "features"]
    pa.parquet.write_table(pa.table(list(zip(*rows[:3])), names), folder / "tables.parquet" / "a.parquet")
    pa.parquet.write_table(pa.table(list(zip(*(row[:2] for row in [*rows[3:], (None, rows[1][1])]))), names[:2]), folder / "tables.parquet" / "b.parquet",
                           row_group_size=2)
    (folder / "tables.parquet" / "c broken.parquet").write_bytes(b"PAR1 and nothing")
    pa.parquet.write_table(pa.table([[1]], ["number"]), folder / "tables.parquet" / "d other.parquet")
    first = [folder / "photos", folder / "whole.tar", folder / "cut.tar", folder / "missing.tar"]
    last = [folder / "photos" / "0.png", folder / "missing.png"]
    rows[3] = rows[3][:2] + (None,)
    return ([*first, folder / "tables.parquet", *last],
            [*first, *(index.Source(key, data=data, features=features) for key, data, features in rows), *last])


@pytest.fixture(scope="module")
def alone(inputs, tmp_path_factory):
    """The index of a single process, and what failed."""
    made = index.Index.create(tmp_path_factory.mktemp("alone") / "archive", k=20, basis=BASIS)
    return made, made.add(inputs[1], skip_errors=True)


@pytest.fixture(scope="module")
def cluster():
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import it
    for left in (2, 1, 0):
        try:
            ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
            break
        except Exception as error:
            ray.shutdown()
            if not left or SLOW not in str(error):
                raise
    logging.getLogger("ray.data").setLevel(logging.WARNING)  # thousands of lines where a test fails
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    yield
    ray.shutdown()


def killer(flag):
    """Features that kill their worker once, at its third image; the images have their own, if any."""
    seen = []

    def of(source):
        seen.append(source.key)
        if len(seen) == 3 and not os.path.exists(flag):
            open(flag, "x").close()
            os.kill(os.getpid(), signal.SIGKILL)
    return of


@pytest.fixture(scope="module")
def rows(cluster, inputs, tmp_path_factory):
    """The rows of two workers of which one was killed."""
    flag = str(tmp_path_factory.mktemp("flag") / "killed")
    read = tvr.read_images(inputs[0], rows_a_block=3)
    made = tvr.describe(read, k=20, basis=save(tmp_path_factory.mktemp("basis")), features=killer(flag), workers=2, batch=2).materialize()
    assert os.path.exists(flag)
    return made


def save(folder):
    BASIS.save(folder / "basis.safetensors")
    return folder / "basis.safetensors"


def everything(made, order, drop=()):
    """All rows of both tables."""
    tables = [made.table(name).to_table().to_pylist() for name in ("images", "regions")]
    keys = {row["id"]: row["key"] for row in tables[0]}
    tables[1] = [{**row, "key": keys[row["image"]]} for row in tables[1]]
    return [[{name: value for name, value in row.items() if name not in drop} for row in sorted(table, key=order)] for table in tables]


def test_the_rows_are_those_of_a_single_process(rows, alone, inputs, tmp_path):
    made = index.Index.create(tmp_path / "archive", k=20, basis=BASIS)
    failed = tvr.write_index(rows, made.folder, flush=5)
    made.refresh()
    assert everything(made, lambda row: 0) == everything(alone[0], lambda row: 0)
    assert len(made) == len(alone[0]) == 7 + 3 + 1 + 4 and made.table("regions").count_rows() > 0
    by_ray = [(key, line) for key, line in failed if ".parquet" not in key]
    assert len(by_ray) == 11 and sorted(by_ray) == sorted(told(alone[1]))
    folder = inputs[0][4]
    lines = [line for key, line in failed if ".parquet" in key]
    assert len(lines) == 3 and f"{folder}/b.parquet: row 4: the image has no key" in lines[0], lines
    assert f"{folder}/c broken.parquet: " in lines[1] and lines[2] == f"{folder}/d other.parquet: there are no columns key and bytes"
    assert all("\n" not in line for _, line in failed)
    assert tvr.write_index(rows, made.folder)[-1] == failed[-1] and len(made) == 15  # what it has is passed over


def told(failed):
    """Names that are no text, as they travel."""
    return [tuple(word.encode(errors="backslashreplace").decode() for word in pair) for pair in failed]


def test_rows_that_were_parquet_in_between(rows, alone, tmp_path):
    rows.write_parquet(str(tmp_path / "described"))
    made = index.Index.create(tmp_path / "archive", k=20, basis=BASIS)
    tvr.write_index(ray.data.read_parquet(str(tmp_path / "described")), made.folder)
    made.refresh()
    order = (lambda row: (row["key"], row.get("region", 0)))
    assert everything(made, order, ("id", "image")) == everything(alone[0], order, ("id", "image"))


def test_the_applications_features_go_before_those_that_lie_beside(cluster, inputs, tmp_path):
    rows = tvr.describe(tvr.read_images(inputs[0][1]), k=5, features=lambda source: np.ones((2, 2, 3)), workers=1).take_all()
    assert [row["dimension"] for row in rows] == [3, 3, 3, None, 3] and "s/3.png" in rows[3]["error"]


def test_a_function_that_raises_fails_its_image_alone(cluster, inputs):
    def of(source):
        if source.key.endswith("1.png"):
            raise KeyError("two\nlines")
    rows = tvr.describe(tvr.read_images(inputs[0][0]), k=5, features=of, workers=1).take_all()
    errors = [row["error"] for row in rows if row["error"] and "KeyError" in row["error"]]
    assert len(rows) == 9 and len(errors) == 1 and "1.png: KeyError: " in errors[0] and "\n" not in errors[0]


def test_an_image_that_kills_every_actor_is_a_row_with_its_error(cluster, inputs, tmp_path):
    def of(source):
        with open(tmp_path / "begun", "a") as file:
            file.write(os.path.basename(source.key) + "\n")
        if source.key.endswith(("2.png", "5.png")):
            os.kill(os.getpid(), signal.SIGKILL)
    rows = tvr.describe(tvr.read_images(inputs[0][0]), k=5, features=of, workers=2, batch=4).take_all()
    errors = {os.path.basename(row["key"]): row["error"] for row in rows if row["error"]}
    names = (tmp_path / "begun").read_text().split()
    assert len(rows) == 9 and len(errors) == 4, errors  # and one is no picture, and one's name no text
    for name in ("2.png", "5.png"):
        assert errors[name].endswith(f"/{name}: 2 workers died of the image") and 2 <= names.count(name) <= 3
    assert sum(row["width"] == 80 for row in rows) == 5


def test_nothing_listens_to_the_network(cluster):
    """Neither this process nor those that it started."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    sockets = set()
    for process in ours:
        for link in pathlib.Path(f"/proc/{process}/fd").glob("*"):
            try:
                sockets.add(os.readlink(link))
            except OSError:
                continue
    lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]
    addresses = [fields[1].split(":")[0] for fields in lines if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets]
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert len(addresses) >= 4 and set(addresses) <= loopback, addresses


@pytest.mark.parametrize("call, words", [
    (lambda folder: tvr.read_images([]), "no inputs"), (lambda folder: tvr.read_images(3), "not a list of paths"),
    (lambda folder: tvr.read_images([3]), "an input"), (lambda folder: tvr.read_images(folder), "no pictures in the folder"),
    (lambda folder: tvr.read_images(folder, rows_a_block=0), "rows_a_block"), (lambda folder: tvr.describe(3), "not a dataset"),
    (lambda folder: tvr.write_index(3, folder), "not a dataset")])
def test_wrong_arguments_are_named(tmp_path, call, words):
    with pytest.raises((tv.ArgumentError, tv.ArgumentTypeError), match=words):
        call(tmp_path)


def test_the_example_survives_a_killed_worker():
    program = pathlib.Path(__file__).resolve().parents[2] / "examples" / "ray_index.py"
    for _ in range(3):
        found = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=550)
        if SLOW not in found.stderr:
            break
    assert found.returncode == 0, found.stdout + found.stderr
    assert "24 images; 1 failed, as 1 did; a worker was killed: True; the same rows: True" in found.stdout


def test_the_block_of_the_document_runs(tmp_path, monkeypatch):
    """As a program of its own, which starts its cluster."""
    import test_document
    monkeypatch.chdir(tmp_path)
    test_document.archive_files()
    pa.parquet.write_table(pa.table([["table"], [png(tmp_path, 9)]], ["key", "bytes"]), tmp_path / "bytes.parquet")
    (tmp_path / "block.py").write_text(test_document.blocks_of("doc/scale.md"))
    for _ in range(3):
        done = subprocess.run([sys.executable, "block.py"], capture_output=True, text=True, timeout=600)
        if SLOW not in done.stderr:
            break
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(index.Index("archive")) == 5
