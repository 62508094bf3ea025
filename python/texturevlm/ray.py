# SPDX-License-Identifier: Apache-2.0
"""Indexing on many machines, by Ray Data: a pool of actors, each with a device of its own, reads and describes images.

    import ray
    from texturevlm import ray as tvr

    ray.init()
    images = tvr.read_images(["photos", "shards/0001.tar", "bytes.parquet"])
    rows = tvr.describe(images, basis="basis.safetensors", features=encode, workers=8)
    rows.write_parquet("described")                  # or
    tvr.write_index(rows, "archive", basis="basis.safetensors")

Each row is about one image. It has what `texturevlm.index` keeps of the image, to the bit. The row of an image that failed has
its `error`, and nothing else.

While actors are busy, Ray holds back the readers. If an actor dies, Ray starts another one with the same images. An image of
which several actors died becomes a row with its error.

The module needs ray[data], pyarrow and pylance: ``pip install 'texturevlm[ray]'``. doc/scale.md in the project's repository has
more, and examples/ray_index.py is a whole program.
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
    """An image on its way to an actor: its path, or the bytes of its file, or the error that it has instead."""

    key: str
    path: Optional[str] = None
    data: Optional[bytes] = None
    features: Optional[bytes] = None
    """Those that lie beside it, as an .npy file's bytes."""
    error: Optional[str] = None


READ = pa.schema([("key", pa.string()), ("path", pa.string()), ("data", pa.large_binary()), ("features", pa.large_binary()),
                  ("error", pa.string())])


def read_images(inputs: Any, *, rows_a_block: int = 64) -> Any:
    """Lists images as a ray.data.Dataset, in the order of the inputs.

    Its columns are ``key``, ``path``, ``data`` (the bytes of a file), ``features`` (the bytes of an .npy file) and ``error``.

    Parameters:
        inputs: a path or a list of paths, which all machines must see. A path is one of these:

            - A picture, or a folder of pictures. The actors open these files by themselves.
            - A tar in WebDataset layout, which is one task. The key of a member is TAR/NAME, and its features are in STEM.npy.
            - A .parquet file, which is one task, or a folder of such files that is named \\*.parquet. The columns are ``key`` and
              ``bytes``, and ``features`` if there are any.
        rows_a_block: how many files are one task.

    Errors: `ArgumentError` for no inputs, and for folders without pictures. An input that cannot be read becomes a row with its
    error.
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
    """The tasks, each read at once: some files, a tar, or a table. Names are bytes, since not every file name is valid text."""
    for kind, group in itertools.groupby(_named(paths), lambda one: one[0]):
        names = [os.fsencode(name) for _, name in group]
        size = block if kind == "files" else 1
        yield from ({"kind": kind, "names": names[i:i + size]} for i in range(0, len(names), size))


def _named(paths: list[str]) -> Iterator[tuple[str, str]]:
    """All files of the inputs, each with the way in which it is read."""
    for path in paths:
        if path.lower().endswith(".parquet"):
            yield from (("table", table) for table in (_tables(path) if os.path.isdir(path) else [path]))
        elif path.lower().endswith(_TARS) and not os.path.isdir(path):
            yield "tar", path
        else:
            yield from (("files", str(source.path)) for source in sources([path]))


def _tables(folder: str) -> list[str]:
    """The Parquet files in a folder and in all folders below it, sorted by name."""
    return sorted(os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names if name.lower().endswith(".parquet"))


def _read(table: Any) -> Iterator[Any]:
    """The images of tasks, as tables.

    A table is sent on as soon as its images have many bytes, so that actors can begin before a whole tar is read.
    """
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
    """The pictures of a tar. If reading fails within it, the last one is a row with the error."""
    try:
        for source in sources(paths):
            yield Read(source.key, data=source.data, features=source.features)
    except Error as error:
        yield Read(paths[0], error=str(error))


def _of_table(paths: list[str]) -> Iterator[Read]:
    """The rows of a Parquet file. If reading fails within it, the last one is a row with the error."""
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
    """A row with an error, in place of an image whose name is not valid text, so that no table can keep it."""
    return Read(key.encode(errors="backslashreplace").decode(), error=f"a key is {short(key)}, which is no text")


def _read_table(some: list[Read]) -> Any:
    columns = list(zip(*some)) or [()] * len(READ)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, READ)], schema=READ)


# ---- Describing ----

_DEATHS = 2
"""An image that so many actors died of, when it was known which one they had, is given up."""


class _Journal:
    """Counts how often work on a batch or an image was begun without an end.

    It is an actor of its own. By its counts, actors learn what other actors worked on when they died.
    """

    def __init__(self) -> None:
        self.begun: dict[str, int] = {}

    def begin(self, name: str) -> int:
        """Notes a beginning, and gives how often the same work was begun before without an end. Counts up to _DEATHS."""
        before = self.begun.get(name, 0)
        self.begun[name] = min(before + 1, _DEATHS)
        return before

    def end(self, name: str) -> None:
        """Notes that the work has ended, so that no actor died of it."""
        self.begun.pop(name, None)


class _Describer:
    """The object of an actor: it has a device, a basis, a vocabulary, and the application's function for features."""

    def __init__(self, settings: Settings, basis: str | None, vocab: str | None, features: Callable[[Source], Any] | None,
                 device: str | None, journal: Any) -> None:
        self.settings, self.features, self.journal = settings, features, journal
        self.basis = Basis.load(basis) if basis is not None else None
        self.vocab = Vocab.load(vocab) if vocab is not None else None
        self.device = Device(device) if device is not None else Device(fallback=True)

    def __call__(self, table: Any) -> Any:
        found: list[tuple[str, Row | str]] = []
        columns = [table.column(name).to_pylist() if name in table.column_names else [None] * len(table) for name in READ.names]
        # Ray gives the images of an actor that died to another actor, in a task of another number, so a batch is known by the
        # keys of its images. (If the same image came four times at once, the fourth would wrongly be told that actors had died of
        # it. That does not happen, as an index takes no key twice.)
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
        if not given_up:  # else it stays noted: Ray may run this batch again, to recover one that came after it
            self.journal.end.remote(batch)
        return described(found, self.settings.cells)

    def _row(self, key: str, path: str | None, data: bytes | None, beside: bytes | None) -> Row | str:
        """The row of an image, or the text of its error."""
        try:
            source = Source(key, path, data, features=beside)
            return describe_one(load(source), self.settings, basis=self.basis, vocab=self.vocab, device=self.device,
                                features=self.features(source) if self.features is not None else None)
        except Error as failed:
            return str(failed)
        except Exception as failed:  # the application's function may raise anything, and one image must not end the whole run
            return f"{type(failed).__name__}: {' '.join(str(failed).split())}"


def describe(images: Any, *, k: int = 273, strategy: str = "budget", max_side: int = 1024, regions: int = 50, cells: str = "int8",
             basis: Any = None, vocab: Any = None, features: Callable[[Source], Any] | None = None, workers: int = 2, batch: int = 16,
             device: str | None = None, num_cpus: float = 0.9, num_gpus: float = 0) -> Any:
    """Describes images: gives a ray.data.Dataset with a row for each image.

    A row has what texturevlm.index keeps of its image, or the image's ``error``.

    Parameters:
        images: a dataset of `read_images`, or any dataset with the same columns.
        k, strategy, max_side, regions, cells: as for `Index.create`.
        basis, vocab: the paths of a basis and of a vocabulary, which all machines must see.
        features: a function that takes a `texturevlm.index.Source` and gives the image's vectors [rows, columns, D]. Ray must be
            able to send it. It runs in the actors, once for each image.
        workers: how many actors there are.
        batch: how many images are sent to an actor at once.
        device: a device as for `tvlm --device`. None: the best device that an actor sees.
        num_cpus, num_gpus: how many CPUs and GPUs Ray gives to each actor. An actor with a GPU sees that GPU alone. A task that
            reads takes 0.1 CPUs; if the actors leave no CPU free, it waits for ever.
    """
    if not isinstance(images, ray.data.Dataset):
        raise ArgumentTypeError(f"images are {short(images)}, not a dataset of Ray's")
    choice("strategy", strategy, STRATEGIES), choice("cells", cells, CELLS)
    settings = Settings(integer("k", k, 1), strategy, integer("max_side", max_side), integer("regions", regions, 0 if vocab is not None else 1, 255), cells)
    paths = [os.path.abspath(file_name(name, path)) if path is not None else None for name, path in (("basis", basis), ("vocab", vocab))]
    for path, load_it in zip(paths, (Basis.load, Vocab.load)):
        if path is not None:
            load_it(path)  # so that a wrong path is an error here, and not in every actor
    threads = max(1, round(num_cpus))
    journal = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Journal).remote()
    return images.map_batches(
        _Describer, fn_constructor_args=(settings, *paths, features, device, journal),
        batch_format="pyarrow", batch_size=integer("batch", batch, 1), concurrency=integer("workers", workers, 1), num_cpus=num_cpus,
        num_gpus=num_gpus or None, runtime_env={"env_vars": {"POCL_MAX_PTHREAD_COUNT": str(threads)}})


# ---- Writing ----

def write_index(rows: Any, folder: str | os.PathLike[str], *, flush: int = FLUSH, **settings: Any) -> list[tuple[str, str]]:
    """Writes the rows of `describe` into an index, in the order of the dataset.

    With ``execution_options.preserve_order`` of ray.data.DataContext, that is the order of the inputs, and the index is, row for
    row, the one that `Index.add` makes. Images whose key the index has already are passed over. Gives the images that failed, as
    a list of pairs of a key and the text of its error.

    Parameters:
        rows: a dataset of `describe`, or a dataset of the Parquet files that were written from one.
        settings: the settings of `Index.create` (and of `describe`) for a new index. For an index that exists, they must be the
            same.
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
