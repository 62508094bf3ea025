# SPDX-License-Identifier: Apache-2.0
"""The folder of an index: two Lance tables, and the one file that says which version of each counts.

    index.json          what the index is, and the versions; replaced by rename, which is the moment at which a change happens
    images.lance        a row an image
    regions.lance       a row a region, once there are features
    basis.safetensors   the basis of the cells, where there is one
    vocab.safetensors   the vocabulary of the cells, where there is one
    lock                held by who writes

A change writes to the tables, whose older versions stay, and then replaces index.json. Who is killed before that leaves versions
that nobody reads; the next writer goes back to those that count. Nothing is written in place.
"""
from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

import lance

from .._arguments import file_name, integer, short
from .._core import ArgumentError, Error, FileError, MissingFileError
from ._rows import CELLS, Settings

FORMAT, VERSION = "texturevlm.index", 1
TABLES = ("images", "regions")
APPROXIMATE_FROM = 100_000
"""From so many regions on they are found by Lance's approximate index."""
ROUNDS = 10
"""How often Lance goes through its sample when it trains an index; its own 50 take four times as long, and what is found is the same
to a hundredth (bench/README.md)."""
_DEFAULTS = Settings()


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Lance's and Arrow's errors as one line of the package's own."""
    try:
        yield
    except (Error, KeyboardInterrupt, GeneratorExit, SystemExit, AssertionError):
        raise
    except MemoryError:
        raise
    except BaseException as error:  # a panic of Lance's is no Exception
        line = " ".join(str(error).split())
        if isinstance(error, OSError) and error.strerror:
            line = error.strerror
        for number, words in ((28, "no space is left on the disk"), (27, "a file would be larger than is allowed")):
            if f"os error {number}" in line or (isinstance(error, OSError) and error.errno == number):
                raise FileError(f"{what}: {words}; what was there is as it was") from None
        raise FileError(f"{what}: {line[:300] or type(error).__name__}") from None


class Store:
    """The tables of an index at the versions that count. One process writes at a time; any number read."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = file_name("folder", folder)
        self._read()

    # ---- What it is ----

    @property
    def json(self) -> str:
        """The path of index.json."""
        return os.path.join(self.folder, "index.json")

    @property
    def basis(self) -> str:
        """The path of the basis."""
        return os.path.join(self.folder, "basis.safetensors")

    @property
    def vocab(self) -> str:
        """The path of the vocabulary."""
        return os.path.join(self.folder, "vocab.safetensors")

    def _uri(self, table: str) -> str:
        return os.path.join(self.folder, f"{table}.lance")

    def _read(self) -> None:
        state = _state(self.json, self.folder)
        try:
            fields = {name: state["settings"][name] for name in Settings._fields}
            if not all(type(value) is type(getattr(_DEFAULTS, name)) for name, value in fields.items()):
                raise TypeError
            self.settings = Settings(**fields)
            if self.settings.cells not in CELLS:
                raise ValueError
            self.versions = {name: integer(name, state["versions"][name]) for name in TABLES}
            self.next = integer("next", state["next"], 0, 2**62)
            self.dimension = integer("dimension", state["dimension"])
            self.basis_k = integer("basis", state["basis"], 0, 64)
            self.vocab_n = integer("vocab", state.get("vocab", 0))  # indexes were made before there were vocabularies
        except (KeyError, TypeError, ValueError):
            raise ArgumentError(f"{self.json}: the index is broken: a field is missing or wrong") from None

    def open(self, table: str) -> Any:
        """A table at its version, or None where it has none. Errors: `FileError` (broken: a file is missing or is not as long as it
        was), after which nothing has changed."""
        for again in (True, False):  # a writer may have cleaned up what an older index.json named
            if not self.versions[table]:
                return None
            try:
                with told(f"{self._uri(table)}: the index is broken"):
                    dataset = lance.dataset(self._uri(table), version=self.versions[table])
                    self._check_files(dataset, table)
                return dataset
            except FileError:
                if not again:
                    raise
                self._read()
        return None

    def _check_files(self, dataset: Any, table: str) -> None:
        for fragment in dataset.get_fragments():
            for file in fragment.data_files():
                path = os.path.join(self._uri(table), "data", file.path)
                if file.file_size_bytes and os.path.getsize(path) != file.file_size_bytes:
                    raise FileError(f"{path}: the index is broken: {os.path.getsize(path)} bytes, not {file.file_size_bytes}")

    # ---- Changes ----

    @classmethod
    def create(cls, folder: str | os.PathLike[str], settings: Settings, basis: Any = None, vocab: Any = None) -> Store:
        """An empty index in a folder that is not there, or has nothing in it. `basis`: a `Basis`; `vocab`: a `Vocab`."""
        name = file_name("folder", folder)
        with told(name):
            os.makedirs(name, exist_ok=True)
            if os.path.exists(os.path.join(name, "index.json")):
                raise ArgumentError(f"{name}: there is an index already")
            foreign = sorted(set(os.listdir(name)) - {"lock", "index.json.tmp", "basis.safetensors", "vocab.safetensors"})
            if foreign:
                raise ArgumentError(f"{name}: the folder is no index, and has other files in it, such as {short(foreign[0])}")
            with _lock(name):
                if basis is not None:
                    basis.save(os.path.join(name, "basis.safetensors"))
                if vocab is not None:
                    vocab.save(os.path.join(name, "vocab.safetensors"))
                _publish(name, settings, dict.fromkeys(TABLES, 0), 0, 0, basis.k if basis is not None else 0,
                         vocab.count if vocab is not None else 0)
        return cls(name)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Holds the lock; goes back to the versions that count first. Errors: `FileError` (another process writes)."""
        with _lock(self.folder):
            self._read()
            try:
                with told(self.folder):
                    self._roll_back()
                yield
            except BaseException:
                self._read()  # what a change that failed had noted is not what counts
                raise

    def _roll_back(self) -> None:
        """Lance appends to a table's latest version: makes that the one that counts, where a writer was killed."""
        for table in TABLES:
            uri, counted = self._uri(table), self.versions[table]
            if not counted:
                if os.path.isdir(uri):
                    _remove(uri)
                continue
            latest = lance.dataset(uri)
            if latest.version != counted:
                latest.checkout_version(counted).restore()
                self.versions[table] = lance.dataset(uri).version
                self._publish()
                self._clean(table)

    def commit(self, images: Any = None, regions: Any = None, dropped: Sequence[int] = ()) -> None:
        """Takes images away by their numbers, appends tables, and lets both happen at once. The caller is `writing`."""
        with told(self.folder):
            for table, column in (("images", "id"), ("regions", "image")):
                for begin in range(0, len(dropped) if self.versions[table] else 0, 5000):
                    words = ",".join(map(str, dropped[begin:begin + 5000]))
                    lance.dataset(self._uri(table)).delete(f"{column} IN ({words})")
            for table, rows in (("images", images), ("regions", regions)):
                if rows is not None:
                    lance.write_dataset(rows, self._uri(table), mode="append" if self.versions[table] else "create")
            for table, rows in (("images", images), ("regions", regions)):
                if self.versions[table] or rows is not None:
                    self.versions[table] = lance.dataset(self._uri(table)).version
            if images is not None:
                self.next = max(self.next, max(images.column("id").to_pylist(), default=-1) + 1)
            if regions is not None:
                self.dimension = regions.schema.field("vector").type.list_size
            self._publish()
            # Each version's manifest names all files: kept for ever, they would take the square of the appends.
            for table in TABLES:
                if self.versions[table] and self.versions[table] % 16 == 0:
                    self._clean(table)

    def _publish(self) -> None:
        _publish(self.folder, self.settings, self.versions, self.next, self.dimension, self.basis_k, self.vocab_n)

    def _clean(self, table: str) -> None:
        lance.dataset(self._uri(table)).cleanup_old_versions(
            older_than=datetime.timedelta(0), retain_versions=1, delete_unverified=True)

    def compact(self, approximate_from: int = APPROXIMATE_FROM) -> None:
        """Joins small files, drops what was deleted, indexes what has grown, and removes all older versions. The caller is
        `writing`."""
        with told(self.folder):
            for table in TABLES:
                if not self.versions[table]:
                    continue
                dataset = lance.dataset(self._uri(table))
                dataset.optimize.compact_files(materialize_deletions_threshold=0.0, num_threads=os.cpu_count())
                _index(lance.dataset(self._uri(table)), table, approximate_from)
                self.versions[table] = lance.dataset(self._uri(table)).version
            self._publish()
            for table in TABLES:
                if self.versions[table]:
                    self._clean(table)


def has_index(regions: Any) -> bool:
    """Whether Lance has an approximate index of the regions' vectors."""
    return any(index.name == "vector" for index in regions.describe_indices())


def _index(dataset: Any, table: str, approximate_from: int) -> None:
    """Makes Lance's indexes where a table is large, and takes in what is new; drops those of one that has become small."""
    rows, named = dataset.count_rows(), [index.name for index in dataset.describe_indices()]
    least = max(approximate_from, 256)
    if rows < (least if table == "regions" else least // 50):  # as many images as have so many regions
        for name in named:
            dataset.drop_index(name)
    elif named:
        dataset.optimize.optimize_indices()
    elif table == "images":
        dataset.create_scalar_index("id", "BTREE", name="id")
    else:
        dataset.create_scalar_index("image", "BTREE", name="image")
        dimension = dataset.schema.field("vector").type.list_size
        # A code of a byte for each eight components; the best are compared again by their own vectors (refine_factor).
        parts = next(dimension // size for size in (8, 4, 2, 1) if dimension % size == 0)
        dataset.create_index("vector", "IVF_PQ", name="vector", metric="dot", num_sub_vectors=parts,
                             num_partitions=max(1, min(4096, int(rows ** 0.5) // 2)), max_iters=ROUNDS)


def _remove(folder: str) -> None:
    import shutil
    shutil.rmtree(folder)


# ---- index.json ----

def _state(path: str, folder: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            state = json.load(file)
    except FileNotFoundError:
        raise MissingFileError(f"{folder}: there is no index") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ArgumentError(f"{path}: the index is broken: no JSON") from None
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ArgumentError(f"{path}: the file is not of an index of texturevlm")
    if state.get("version") != VERSION:
        raise ArgumentError(f"{path}: the index has the version {short(state.get('version'))}; this texturevlm reads {VERSION}")
    return state


def _publish(folder: str, settings: Settings, versions: dict[str, int], following: int, dimension: int, basis_k: int, vocab_n: int) -> None:
    path = os.path.join(folder, "index.json")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump({"format": FORMAT, "version": VERSION, "settings": settings._asdict(), "versions": versions, "next": following,
                   "dimension": dimension, "basis": basis_k, "vocab": vocab_n}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".tmp", path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _lock(folder: str) -> Iterator[None]:
    with told(folder):
        file = open(os.path.join(folder, "lock"), "a", encoding="utf-8")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FileError(f"{folder}: another process is writing to the index") from None
        yield

