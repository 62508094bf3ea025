# SPDX-License-Identifier: Apache-2.0
"""Indexing on many machines, by Ray Data: images are read and described by a pool of actors, each with its device.

    import ray
    from texturevlm import ray as tvr

    ray.init()
    images = tvr.read_images(["photos", "shards/0001.tar", "bytes.parquet"])
    rows = tvr.describe(images, basis="basis.safetensors", features=encode, workers=8)
    rows.write_parquet("described")                  # or
    tvr.write_index(rows, "archive", basis="basis.safetensors")

Each row says of an image what `texturevlm.index` keeps of it, to the bit; of one that failed its `error`, and nothing else. Ray holds
back readers where actors are busy, and starts an actor again that died, with the images that it had; one that several died of is a row with its error. It needs ray[data], pyarrow and
pylance: ``pip install 'texturevlm[ray]'``. doc/scale.md in the project's repository has more; examples/ray_index.py is a whole program.
"""
from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Optional

from ._core import ArgumentError, ArgumentTypeError, Error, missing

try:
    import pyarrow as pa
    import pyarrow.parquet
    import ray
    import ray.data
except ImportError as _missing:
    raise missing("ray", "ray[data], pyarrow and pylance", "texturevlm[ray]", _missing) from None

from ._arguments import choice, file_name, integer, short
from ._basis import Basis
from ._device import Device
from ._names import STRATEGIES
from ._vocab import Vocab
from .index._build import FLUSH
from .index._index import Index
from .index._rows import CELLS, ROWS, Row, Settings, describe as describe_one, described, rows_of
from .index._sources import Source, is_text, load, sources
from .index._store import told

__all__ = ["describe", "read_images", "write_index"]
_TARS = (".tar", ".tar.gz", ".tgz")
_LIGHT = {"num_cpus": 0.1}
"""What a task takes that only reads: where every CPU has an actor, which takes 0.9, readers find room beside it."""
_SENT = 64_000_000
"""So many bytes of images are sent on at once."""


class Read(NamedTuple):
    """An image on its way to an actor: its path, or its file's bytes; or why it is neither."""

    key: str
    path: Optional[str] = None
    data: Optional[bytes] = None
    features: Optional[bytes] = None
    """Those that lie beside it, as an .npy file's bytes."""
    error: Optional[str] = None


READ = pa.schema([("key", pa.string()), ("path", pa.string()), ("data", pa.large_binary()), ("features", pa.large_binary()),
                  ("error", pa.string())])


def read_images(inputs: Any, *, rows_a_block: int = 64) -> Any:
    """A ray.data.Dataset of images in the order of the inputs, with the columns ``key``, ``path``, ``data`` (a file's bytes),
    ``features`` (an .npy file's) and ``error``.

    Parameters:
        inputs: paths, which all machines must see: of pictures, and of folders of them, which the actors open by themselves; of
            tars in WebDataset layout, each one task, whose members are keyed TAR/NAME, with their STEM.npy as features; and of
            .parquet files (or folders of them, named \\*.parquet), each one task, with the columns ``key`` and ``bytes``, and
            ``features`` where there are some.
        rows_a_block: how many files are one task.

    Errors: `ArgumentError` (no inputs, folders without pictures). What cannot be read is a row with its error.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if not isinstance(inputs, Iterable):
        raise ArgumentTypeError(f"inputs are {short(inputs)}, not a list of paths")
    paths = [file_name("an input", one) for one in inputs]
    if not paths:
        raise ArgumentError("there are no inputs")
    tasks = list(_tasks(paths, integer("rows_a_block", rows_a_block, 1)))
    if not tasks:
        raise ArgumentError(f"{paths[0]}: there are no pictures in the folder")
    return ray.data.from_items(tasks, override_num_blocks=len(tasks)).map_batches(_read, batch_format="pyarrow", batch_size=1, **_LIGHT)


def _tasks(paths: list[str], block: int) -> Iterator[dict[str, Any]]:
    """What is read at once: some files, a tar, or a table. Names are bytes, since not every file's is text."""
    for kind, group in itertools.groupby(_named(paths), lambda one: one[0]):
        names = [os.fsencode(name) for _, name in group]
        size = block if kind == "files" else 1
        yield from ({"kind": kind, "names": names[i:i + size]} for i in range(0, len(names), size))


def _named(paths: list[str]) -> Iterator[tuple[str, str]]:
    """All files of inputs, and how they are read."""
    for path in paths:
        if path.lower().endswith(".parquet"):
            yield from (("table", table) for table in (_tables(path) if os.path.isdir(path) else [path]))
        elif path.lower().endswith(_TARS) and not os.path.isdir(path):
            yield "tar", path
        else:
            yield from (("files", str(source.path)) for source in sources([path]))


def _tables(folder: str) -> list[str]:
    """The Parquet files in and under a folder, by name."""
    return sorted(os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names if name.lower().endswith(".parquet"))


def _read(table: Any) -> Iterator[Any]:
    """The images of tasks, sent on whenever they are many bytes, so that actors begin before a tar is read."""
    readers = {"files": _of_files, "tar": _of_tar, "table": _of_table}
    for kind, names in zip(table.column("kind").to_pylist(), table.column("names").to_pylist()):
        some: list[Read] = []
        held = 0
        for one in readers[kind]([os.fsdecode(name) for name in names]):
            some.append(one if is_text(one.key) else _without_name(one.key))
            held += len(one.data or b"") + len(one.features or b"")
            if held > _SENT:
                yield _read_table(some)
                some, held = [], 0
        yield _read_table(some)


def _of_files(paths: list[str]) -> Iterator[Read]:
    yield from (Read(path, path) for path in paths)


def _of_tar(paths: list[str]) -> Iterator[Read]:
    """The pictures of a tar; what ends it before its end is a row with the error."""
    try:
        for source in sources(paths):
            yield Read(source.key, data=source.data, features=source.features)
    except Error as error:
        yield Read(paths[0], error=str(error))


def _of_table(paths: list[str]) -> Iterator[Read]:
    """The rows of a Parquet file; what ends it before its end is a row with the error."""
    path, number = paths[0], 0
    try:
        with told(path), pyarrow.parquet.ParquetFile(path) as file:
            columns = [name for name in ("key", "bytes", "features") if name in file.schema_arrow.names]
            if columns[:2] != ["key", "bytes"]:
                raise ArgumentError(f"{path}: there are no columns key and bytes")
            for batch in file.iter_batches(batch_size=64, columns=columns):
                keys = batch.column("key").cast(pa.string()).to_pylist()
                data, features = (batch.column(name).cast(pa.large_binary()).to_pylist() if name in columns else [None] * len(keys)
                                  for name in ("bytes", "features"))
                for key, *rest in zip(keys, data, features):
                    name = f"{path}: row {number}"
                    number += 1
                    yield Read(key, None, *rest) if key else Read(name, error=f"{name}: the image has no key")
    except Error as error:
        yield Read(path, error=str(error))


def _without_name(key: str) -> Read:
    """In place of an image whose name no table can keep."""
    return Read(key.encode(errors="backslashreplace").decode(), error=f"a key is {short(key)}, which is no text")


def _read_table(some: list[Read]) -> Any:
    columns = list(zip(*some)) or [()] * len(READ)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, READ)], schema=READ)


# ---- Describing ----

_DEATHS = 2
"""An image that so many actors died of, when it was known which one they had, is given up."""


class _Journal:
    """What was begun and has not ended, and how often: an actor of its own, which tells others what those had that died."""

    def __init__(self) -> None:
        self.begun: dict[str, int] = {}

    def begin(self, name: str) -> int:
        """How often it was begun before, and did not end; more than _DEATHS are not counted."""
        before = self.begun.get(name, 0)
        self.begun[name] = min(before + 1, _DEATHS)
        return before

    def end(self, name: str) -> None:
        """It has ended, so that nobody died of it."""
        self.begun.pop(name, None)


class _Describer:
    """What an actor is: a device, a basis, a vocabulary, and the application's features."""

    def __init__(self, settings: Settings, basis: str | None, vocab: str | None, features: Callable[[Source], Any] | None,
                 device: str | None, journal: Any) -> None:
        self.settings, self.features, self.journal = settings, features, journal
        self.basis = Basis.load(basis) if basis is not None else None
        self.vocab = Vocab.load(vocab) if vocab is not None else None
        self.device = Device(device) if device is not None else Device(fallback=True)

    def __call__(self, table: Any) -> Any:
        found: list[tuple[str, Row | str]] = []
        columns = [table.column(name).to_pylist() if name in table.column_names else [None] * len(table) for name in READ.names]
        # Ray gives the images of an actor that died to another, in a task of another number: they are known by their keys. (Of one that
        # is there for the fourth time, while three have it in hand, it would be said that they died of it; an index takes no key twice.)
        batch = hashlib.sha256(repr(columns[0]).encode()).hexdigest()
        again, given_up = ray.get(self.journal.begin.remote(batch)) > 0, False
        for number, (key, path, data, beside, error) in enumerate(zip(*columns)):
            image = f"{batch} {number}"
            deaths = ray.get(self.journal.begin.remote(image)) if again else 0
            if deaths >= _DEATHS:
                error, given_up = f"{deaths} workers died of the image", True
            row = error if error is not None else self._row(key, path, data, beside)
            found.append((key, f"{key}: {row}" if isinstance(row, str) and key not in row else row))
            if again and deaths < _DEATHS:
                self.journal.end.remote(image)
        if not given_up:  # else it is known the next time: Ray may want this batch again for the sake of one that came after it
            self.journal.end.remote(batch)
        return described(found, self.settings.cells)

    def _row(self, key: str, path: str | None, data: bytes | None, beside: bytes | None) -> Row | str:
        """An image's row, or its error."""
        try:
            source = Source(key, path, data, features=beside)
            return describe_one(load(source), self.settings, basis=self.basis, vocab=self.vocab, device=self.device,
                                features=self.features(source) if self.features is not None else None)
        except Error as failed:
            return str(failed)
        except Exception as failed:  # whatever the application's function raises: one image is no reason to end
            return f"{type(failed).__name__}: {' '.join(str(failed).split())}"


def describe(images: Any, *, k: int = 273, strategy: str = "budget", max_side: int = 1024, regions: int = 50, cells: str = "int8",
             basis: Any = None, vocab: Any = None, features: Callable[[Source], Any] | None = None, workers: int = 2, batch: int = 16,
             device: str | None = None, num_cpus: float = 0.9, num_gpus: float = 0) -> Any:
    """A ray.data.Dataset with a row an image: what texturevlm.index keeps of it, or its ``error``.

    Parameters:
        images: of `read_images`, or any dataset with its columns.
        k, strategy, max_side, regions, cells: as of `Index.create`. basis, vocab: the paths of a basis and of a
            vocabulary, which all machines see.
        features: a function that Ray can send, of a `texturevlm.index.Source`, that gives an image's vectors [rows, columns, D]; it runs in the
            actors, once for each image.
        workers: how many actors. batch: how many images are sent to one at once.
        device: as `tvlm --device`; None: the best that an actor sees. num_cpus, num_gpus: what Ray gives to each: with a GPU each, an
            actor sees its own alone. Tasks that read take 0.1 CPUs, and wait for ever where the actors leave none.
    """
    if not isinstance(images, ray.data.Dataset):
        raise ArgumentTypeError(f"images are {short(images)}, not a dataset of Ray's")
    choice("strategy", strategy, STRATEGIES), choice("cells", cells, CELLS)
    settings = Settings(integer("k", k, 1), strategy, integer("max_side", max_side), integer("regions", regions, 0 if vocab is not None else 1, 255), cells)
    paths = [os.path.abspath(file_name(name, path)) if path is not None else None for name, path in (("basis", basis), ("vocab", vocab))]
    for path, load_it in zip(paths, (Basis.load, Vocab.load)):
        if path is not None:
            load_it(path)  # a path that is none is an error here, and not in every actor
    threads = max(1, round(num_cpus))
    journal = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Journal).remote()
    return images.map_batches(
        _Describer, fn_constructor_args=(settings, *paths, features, device, journal),
        batch_format="pyarrow", batch_size=integer("batch", batch, 1), concurrency=integer("workers", workers, 1), num_cpus=num_cpus,
        num_gpus=num_gpus or None, runtime_env={"env_vars": {"POCL_MAX_PTHREAD_COUNT": str(threads)}})


# ---- Writing ----

def write_index(rows: Any, folder: str | os.PathLike[str], *, flush: int = FLUSH, **settings: Any) -> list[tuple[str, str]]:
    """Writes what `describe` gives into an index, in the order of the dataset: with ray.data.DataContext's
    ``execution_options.preserve_order`` that of the inputs, and the index is that of `Index.add`, row for row. Images that it has already, by their key,
    are passed over. It gives what failed, as pairs of a key and the error's line.

    Parameters:
        rows: of `describe`, or a dataset of the Parquet files that were written of it.
        settings: those of `Index.create` (and of `describe`) for an index that is not there yet; of one that is there, they must be the same.
    """
    if not isinstance(rows, ray.data.Dataset):
        raise ArgumentTypeError(f"rows are {short(rows)}, not a dataset of Ray's")
    index = Index.open_or_create(folder, **settings)
    return index.add_described(_each(rows, integer("flush", flush, 1)), flush=flush)


def _each(rows: Any, size: int) -> Iterator[Any]:
    for table in rows.iter_batches(batch_size=size, batch_format="pyarrow", prefetch_batches=1):
        if not set(ROWS) <= set(table.column_names):
            raise ArgumentError("the rows are not those of describe: a column is missing")
        yield from rows_of(table)
