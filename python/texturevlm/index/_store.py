# SPDX-License-Identifier: Apache-2.0
"""The folder of an index: two Lance tables, and one file that says which version of each table is valid.

    index.json          what the index is, the valid versions, and the checksums of their files; it is replaced by rename, which
    is the
                        moment at which a change happens
    index.json.copy     the same, written after it; `Index.check` restores index.json from it
    images.lance        a row for each image
    regions.lance       a row for each region, once there are features
    basis.safetensors   the basis of the cells, if there is one
    vocab.safetensors   the vocabulary of the cells, if there is one
    lock                held by the process that writes

A change writes new versions of the tables, whose older versions stay, and then replaces index.json. Nothing is written in place.
A process that is killed before the replacement leaves versions that nobody reads. The next writer goes back to the valid
versions.
"""
from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import lance

try:
    import fcntl
except ImportError:
    raise ImportError("texturevlm.index needs the locks of files that POSIX has, and Windows has not") from None

from .._arguments import file_name, integer, short
from .._core import ArgumentError, Error, FileError, MissingFileError
from . import _check
from ._rows import CELLS, Settings

FORMAT, VERSION = "texturevlm.index", 1
TABLES = ("images", "regions")
APPROXIMATE_FROM = 100_000
"""From so many regions on they are found by Lance's approximate index."""
ROUNDS = 10
"""How often Lance goes through its sample when it trains an index; its own 50 take four times as long, and what is found is the same
to a hundredth (bench/README.md)."""
NETWORKS = ("basis.safetensors", "vocab.safetensors")
"""What the cells are kept by, where there is one."""
_DEFAULTS = Settings()
_log = logging.getLogger("texturevlm")


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Turns errors of Lance and Arrow into a `FileError` of one line."""
    try:
        yield
    except (Error, KeyboardInterrupt, GeneratorExit, SystemExit, AssertionError):
        raise
    except MemoryError:
        raise
    except BaseException as error:  # a panic of Lance is not an Exception
        line = " ".join(str(error).split())
        if isinstance(error, OSError) and error.strerror:
            line = error.strerror
        for number, words in ((28, "no space is left on the disk"), (27, "a file would be larger than is allowed")):
            if f"os error {number}" in line or (isinstance(error, OSError) and error.errno == number):
                raise FileError(f"{what}: {words}; what was there is as it was") from None
        if "Not found" in line:  # a change since then has removed it
            line = f"what was opened is there no more (refresh() opens what is there now): {line}"
        raise FileError(f"{what}: {line[:300] or type(error).__name__}") from None


class Store:
    """The tables of an index at their valid versions. One process writes at a time, and any number may read."""

    def __init__(self, folder: str | os.PathLike[str], compare: bool = True, verify: bool | None = None) -> None:
        self.folder, self.verify = file_name("folder", folder), verify
        self.compared: set[str] = set()  # files that this process has compared with their checksums, and found right
        self._read()
        for name, what in zip(NETWORKS, ("basis", "vocabulary")):
            if compare and name in self.sums and (words := _check.wrong(self.folder, name, self.sums[name], whole=True)):
                raise ArgumentError(f"{os.path.join(self.folder, name)}: the {what} does not fit the index, which was made with another "
                                    f"file: {words}")

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
        state = read_state(self.json, self.folder)
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
            self.vocab_n = integer("vocab", state.get("vocab", 0))  # older indexes do not have this field
            self.count = integer("images", state.get("images", 0), 0)  # nor this one
            self.sums = _check.sums_in(state)
        except (KeyError, TypeError, ValueError):
            raise ArgumentError(f"{self.json}: the index is broken: a field is missing or wrong") from None

    def open(self, table: str, whole: bool | None = None) -> Any:
        """Opens a table at its valid version; gives None if it has none. The table's files are compared with their checksums.

        For a table of more than `_check.AT_ONCE` bytes, only the manifest and the lengths of the files are compared, and a warning
        says so. `whole` decides this for a table of any size: True compares all files, False only the manifest and the lengths.
        None: what the store was opened with.

        Errors: `FileError` if a file is missing, or is not what was written. Nothing has changed then.
        """
        for again in (True, False):  # a writer may have removed files that an older index.json named
            if not self.versions[table]:
                return None
            try:
                return self._opened(table, self.verify if whole is None else whole)
            except FileError:
                if not again:
                    raise
                self._read()
        return None

    def _opened(self, table: str, whole: bool | None) -> Any:
        manifest = _check.manifest_of(self.folder, table, self.versions[table])
        if manifest in self.sums:
            self._compare([manifest])
        with told(f"{self._uri(table)}: the index is broken"):
            dataset = lance.dataset(self._uri(table), version=self.versions[table])
            names = _check.files_of(self.folder, table, dataset)
        for fragment in dataset.get_fragments():
            for file in fragment.data_files():
                if file.file_size_bytes:  # for an older index, without checksums: Lance knows at least the lengths
                    _check.refuse(self.folder, {f"{table}.lance/data/{file.path}": (file.file_size_bytes, 0)}, whole=False)
        known = {name: self.sums[name] for name in names if name in self.sums}
        _check.refuse(self.folder, known, whole=False)
        size = sum(size for size, _ in known.values())
        if whole or (whole is None and size <= _check.AT_ONCE):
            self._compare(known)
        elif whole is None and not self.compared.issuperset(known):
            _log.warning("%s: its %.1f GiB are not compared with their checksums, so that damage may go unseen: open it with "
                         "verify=True, or run python -m texturevlm.index check", self._uri(table), size / 2**30)
        return dataset

    def _compare(self, names: Iterable[str]) -> None:
        """Compares files with their checksums that this process has not compared yet. Errors: `FileError`."""
        new = {name: self.sums[name] for name in names if name not in self.compared}
        _check.refuse(self.folder, new, whole=True)
        self.compared.update(new)

    # ---- Changes ----

    @classmethod
    def create(cls, folder: str | os.PathLike[str], settings: Settings, basis: Any = None, vocab: Any = None) -> Store:
        """Makes an empty index in a folder that is not there, or is empty. `basis` is a `Basis`, `vocab` a `Vocab`, or None."""
        name = file_name("folder", folder)
        with told(name):
            os.makedirs(name, exist_ok=True)
            if os.path.exists(os.path.join(name, "index.json")):
                raise ArgumentError(f"{name}: there is an index already")
            foreign = sorted(set(os.listdir(name)) - {"lock", "index.json.tmp", "index.json.copy", *NETWORKS})
            if foreign:
                raise ArgumentError(f"{name}: the folder is no index, and has other files in it, such as {short(foreign[0])}")
            with locked(name):
                if basis is not None:
                    basis.save(os.path.join(name, NETWORKS[0]))
                if vocab is not None:
                    vocab.save(os.path.join(name, NETWORKS[1]))
                kept = [file for file, one in zip(NETWORKS, (basis, vocab)) if one is not None]
                _publish(name, {"settings": settings._asdict(), "versions": dict.fromkeys(TABLES, 0), "next": 0, "dimension": 0,
                                "basis": basis.k if basis is not None else 0, "vocab": vocab.count if vocab is not None else 0, "images": 0,
                                "files": _check.sums_of(name, kept, {})})
        return cls(name)

    def drop(self, table: str, images: Sequence[int]) -> None:
        """Deletes the rows of images, by the images' numbers. The caller must publish the change."""
        column = "id" if table == "images" else "image"
        for begin in range(0, len(images) if self.versions[table] else 0, 5000):
            words = ",".join(map(str, images[begin:begin + 5000]))
            lance.dataset(self._uri(table)).delete(f"{column} IN ({words})")
        if self.versions[table] and images:
            self.versions[table] = lance.dataset(self._uri(table)).version

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Holds the lock, and first goes back to the valid versions. Errors: `FileError` if another process is writing."""
        with locked(self.folder):
            self._read()
            try:
                with told(self.folder):
                    self._roll_back()
                yield
            except BaseException:
                self._read()  # forgets what the failed change had noted here
                raise

    def _roll_back(self) -> None:
        """Makes the latest version of each table the valid one again, if a writer was killed.

        This is necessary since Lance appends to the latest version.
        """
        for table in TABLES:
            uri, counted = self._uri(table), self.versions[table]
            if not counted:
                if os.path.isdir(uri):
                    _remove(uri)
                continue
            latest = self._latest(table)
            if latest.version != counted:
                latest.checkout_version(counted).restore()
                self.versions[table] = lance.dataset(uri).version
                self.publish()
                self._clean(table)

    def _latest(self, table: str) -> Any:
        """A table at its latest version, to which Lance appends. Removes unreadable manifests, which are of no valid version."""
        try:
            return lance.dataset(self._uri(table))
        except BaseException:  # a panic of Lance is not an Exception
            self.drop_unreadable(table)
            return lance.dataset(self._uri(table))

    def drop_unreadable(self, table: str) -> None:
        """Removes unreadable manifests of versions that are not valid. Each would stop any call that looks at all versions."""
        for version in _check.versions_of(self.folder, table):
            if version == self.versions[table]:
                continue
            try:
                lance.dataset(self._uri(table), version=version)
            except BaseException:
                name = _check.manifest_of(self.folder, table, version)
                if name:
                    os.remove(os.path.join(self.folder, name))

    def commit(self, images: Any = None, regions: Any = None, dropped: Sequence[int] = ()) -> None:
        """Deletes images by their numbers, and appends tables. Both become valid at the same moment.

        The caller is in `writing`.
        """
        with told(self.folder):
            for table in TABLES:
                self.drop(table, dropped)
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
            self.publish()
            # The manifest of each version names all files. If all manifests were kept, their size would grow with the square of
            # the number of appends.
            for table in TABLES:
                if self.versions[table] and self.versions[table] % 16 == 0:
                    self._clean(table)

    def publish(self) -> None:
        """Makes the present versions valid. New files are read for their checksums, just after they were written."""
        names = [name for name in NETWORKS if os.path.exists(os.path.join(self.folder, name))]
        self.count = 0
        for table in TABLES:
            if self.versions[table]:
                dataset = lance.dataset(self._uri(table), version=self.versions[table])
                names += _check.files_of(self.folder, table, dataset)
                self.count += dataset.count_rows() if table == "images" else 0
        self.sums = _check.sums_of(self.folder, names, self.sums)
        _publish(self.folder, {"settings": self.settings._asdict(), "versions": self.versions, "next": self.next,
                               "dimension": self.dimension, "basis": self.basis_k, "vocab": self.vocab_n, "images": self.count,
                               "files": self.sums})
        self.compared.update(self.sums)

    def _clean(self, table: str) -> None:
        """Removes all versions but the latest. A failure is only logged, since the change before it has happened already."""
        for again in (True, False):
            try:
                lance.dataset(self._uri(table)).cleanup_old_versions(
                    older_than=datetime.timedelta(0), retain_versions=1, delete_unverified=True)
                return
            except (KeyboardInterrupt, SystemExit, MemoryError):
                raise
            except BaseException as error:
                if again:
                    self.drop_unreadable(table)
                else:
                    _log.warning("%s: older versions stay: %s", self._uri(table), " ".join(str(error).split())[:200])

    def compact(self, approximate_from: int = APPROXIMATE_FROM) -> None:
        """Joins small files, drops what was deleted, indexes tables that have grown, and removes all older versions.

        The caller is in `writing`.
        """
        with told(self.folder):
            for table in TABLES:
                if not self.versions[table]:
                    continue
                dataset = lance.dataset(self._uri(table))
                dataset.optimize.compact_files(materialize_deletions_threshold=0.0, num_threads=os.cpu_count())
                _index(lance.dataset(self._uri(table)), table, approximate_from)
                self.versions[table] = lance.dataset(self._uri(table)).version
            self.publish()
            for table in TABLES:
                if self.versions[table]:
                    self._clean(table)


def has_index(regions: Any) -> bool:
    """Whether Lance has an approximate index of the regions' vectors."""
    return any(index.name == "vector" for index in regions.describe_indices())


def _index(dataset: Any, table: str, approximate_from: int) -> None:
    """Gives a large table Lance's indexes, or adds new rows to them. Drops the indexes of a table that has become small.

    One index may be missing beside another: a repair drops those that are broken.
    """
    rows, named = dataset.count_rows(), {index.name for index in dataset.describe_indices()}
    least = max(approximate_from, 256)
    if rows < (least if table == "regions" else least // 50):  # an image has 50 regions by default
        for name in named:
            dataset.drop_index(name)
        return
    if named:
        dataset.optimize.optimize_indices()
    number = "id" if table == "images" else "image"
    if number not in named:
        dataset.create_scalar_index(number, "BTREE", name=number)
    if table == "regions" and "vector" not in named:
        dimension = dataset.schema.field("vector").type.list_size
        # A code of one byte stands for eight components. The best are compared again by their own vectors (refine_factor).
        parts = next(dimension // size for size in (8, 4, 2, 1) if dimension % size == 0)
        dataset.create_index("vector", "IVF_PQ", name="vector", metric="dot", num_sub_vectors=parts,
                             num_partitions=max(1, min(4096, int(rows ** 0.5) // 2)), max_iters=ROUNDS)


def _remove(folder: str) -> None:
    import shutil
    shutil.rmtree(folder)


# ---- index.json ----

def read_state(path: str, folder: str) -> dict[str, Any]:
    """Reads an index.json. Errors: `MissingFileError`, `FileError`, and `ArgumentError` for a broken or foreign file."""
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
    return _check.unsealed(state, path)


def _publish(folder: str, state: dict[str, Any]) -> None:
    sealed = _check.sealed({"format": FORMAT, "version": VERSION, **state})
    path = os.path.join(folder, "index.json")
    _replace(path, sealed)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        _replace(path + ".copy", sealed)
    except OSError as error:  # no reason to fail: the change has happened already
        _log.warning("%s.copy: %s", path, error.strerror)


def _replace(path: str, state: dict[str, Any]) -> None:
    temporary = os.path.join(os.path.dirname(path), "index.json.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(state, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Holds the lock of an index, without a look at its tables. Errors: `FileError` if another process is writing."""
    with told(folder):
        file = open(os.path.join(folder, "lock"), "a", encoding="utf-8")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FileError(f"{folder}: another process is writing to the index") from None
        yield

