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
back readers where actors are busy, and starts an actor again that died, with the images that it had. It needs ray[data], pyarrow and
pylance: ``pip install 'texturevlm[ray]'``. doc/scale.md in the project's repository has more; examples/ray_index.py is a whole program.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

try:
    import pyarrow as pa
    import ray
    import ray.data
except ImportError as _missing:
    raise ImportError(f"texturevlm.ray needs ray[data], pyarrow and pylance (pip install 'texturevlm[ray]'): {_missing}") from None

from ._arguments import choice, file_name, integer, short
from ._basis import Basis
from ._core import ArgumentError, ArgumentTypeError, Error
from ._device import Device
from ._names import STRATEGIES
from .index._build import FLUSH
from .index._index import Index
from .index._rows import CELLS, ROWS, Row, Settings, describe as describe_one, described, rows_of
from .index._sources import Source, load, sources

__all__ = ["describe", "read_images", "write_index"]
_TARS = (".tar", ".tar.gz", ".tgz")
_LIGHT = {"num_cpus": 0.1}
"""What a task takes that only reads: where every CPU has an actor, which takes 0.9, readers find room beside it."""
READ = pa.schema([("key", pa.string()), ("path", pa.string()), ("data", pa.large_binary()), ("error", pa.string())])


def read_images(inputs: Any, *, rows_a_block: int = 64) -> Any:
    """A ray.data.Dataset of images, with the columns ``key``, ``path``, ``data`` (a file's bytes) and ``error``.

    Parameters:
        inputs: paths of pictures and folders, which the actors open by themselves, so that all machines must see them; of tars in
            WebDataset layout, of which each is one task; and of .parquet files (or folders of them, named \\*.parquet) with the
            columns ``key`` and ``bytes``.
        rows_a_block: how many files are one task.

    Errors: `ArgumentError` (no inputs). What cannot be read is a row with its error.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if not isinstance(inputs, Iterable):
        raise ArgumentTypeError(f"inputs are {short(inputs)}, not a list of paths")
    paths = [file_name("an input", one) for one in inputs]
    if not paths:
        raise ArgumentError("there are no inputs")
    block = integer("rows_a_block", rows_a_block, 1)
    tars = [path for path in paths if path.lower().endswith(_TARS)]
    tables = [path for path in paths if path.lower().endswith(".parquet")]
    files = [path for path in paths if path not in tars and path not in tables]
    parts = []
    if files:
        named = [{"key": source.key, "path": source.path} for source in sources(files)]
        if not named:
            raise ArgumentError(f"{files[0]}: there are no pictures in the folder")
        parts.append(ray.data.from_items(named, override_num_blocks=-(-len(named) // block))
                     .map_batches(_with_columns, batch_format="pyarrow", batch_size=None, **_LIGHT))
    if tars:
        parts.append(ray.data.from_items([{"tar": path} for path in tars], override_num_blocks=len(tars))
                     .map_batches(_members, batch_format="pyarrow", batch_size=1, **_LIGHT))
    for path in tables:
        parts.append(ray.data.read_parquet(path, columns=["key", "bytes"], ray_remote_args=_LIGHT)
                     .map_batches(_of_bytes, batch_format="pyarrow", batch_size=None, **_LIGHT))
    return parts[0].union(*parts[1:]) if len(parts) > 1 else parts[0]


def _with_columns(table: Any) -> Any:
    empty = len(table)
    return pa.table([table.column("key").cast(pa.string()), table.column("path").cast(pa.string()), pa.nulls(empty, pa.large_binary()),
                     pa.nulls(empty, pa.string())], schema=READ)


def _of_bytes(table: Any) -> Any:
    return pa.table([table.column("key").cast(pa.string()), pa.nulls(len(table), pa.string()),
                     table.column("bytes").cast(pa.large_binary()), pa.nulls(len(table), pa.string())], schema=READ)


def _members(table: Any) -> Iterator[Any]:
    """The pictures of a tar, some at a time; what ends it before its end is a row with the error."""
    for path in table.column("tar").to_pylist():
        some: list[tuple[str, None, bytes | None, str | None]] = []
        try:
            for source in sources([path]):
                some.append((source.key, None, source.data, None))
                if sum(len(one[2] or b"") for one in some) > 64_000_000:
                    yield _read_table(some)
                    some = []
        except Error as error:
            some.append((path, None, None, str(error)))
        yield _read_table(some)


def _read_table(some: list[tuple[str, None, bytes | None, str | None]]) -> Any:
    columns = list(zip(*some)) or [()] * 4
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, READ)], schema=READ)


# ---- Describing ----

class _Describer:
    """What an actor is: a device, a basis, and the application's features."""

    def __init__(self, settings: Settings, basis: Any, features: Callable[[Source], Any] | None, device: str | None) -> None:
        self.settings, self.features = settings, features
        self.basis = Basis.load(basis) if basis is not None else None
        self.device = Device(device) if device is not None else Device(fallback=True)

    def __call__(self, table: Any) -> Any:
        found: list[tuple[str, Row | str]] = []
        for key, path, data, error in zip(*(table.column(name).to_pylist() for name in ("key", "path", "data", "error"))):
            if error is None:
                try:
                    source = Source(key, path, data)
                    found.append((key, describe_one(load(source), self.settings, basis=self.basis, device=self.device,
                                                    features=self.features(source) if self.features is not None else None)))
                    continue
                except Error as failed:
                    error = str(failed)
                except Exception as failed:  # whatever the application's function raises: one image is no reason to end
                    error = f"{type(failed).__name__}: {' '.join(str(failed).split())}"
            found.append((key, error if key in error else f"{key}: {error}"))
        return described(found, self.settings.cells)


def describe(images: Any, *, k: int = 273, strategy: str = "budget", max_side: int = 1024, regions: int = 50, cells: str = "int8",
             basis: Any = None, features: Callable[[Source], Any] | None = None, workers: int = 2, batch: int = 16,
             device: str | None = None, num_cpus: float = 0.9, num_gpus: float = 0) -> Any:
    """A ray.data.Dataset with a row an image: what texturevlm.index keeps of it, or its ``error``.

    Parameters:
        images: of `read_images`, or any dataset with its columns.
        k, strategy, max_side, regions, cells: as of `Index.create`. basis: the path of a basis, which all machines see.
        features: a function that Ray can send, of a `texturevlm.index.Source`, that gives an image's vectors [rows, columns, D]; it runs in the
            actors, once for each image.
        workers: how many actors. batch: how many images are sent to one at once.
        device: as `tvlm --device`; None: the best that an actor sees. num_cpus, num_gpus: what Ray gives to each: with a GPU each, an
            actor sees its own alone. Tasks that read take 0.1 CPUs, and wait for ever where the actors leave none.
    """
    if not isinstance(images, ray.data.Dataset):
        raise ArgumentTypeError(f"images are {short(images)}, not a dataset of Ray's")
    choice("strategy", strategy, STRATEGIES), choice("cells", cells, CELLS)
    settings = Settings(integer("k", k, 1), strategy, integer("max_side", max_side), integer("regions", regions, 1, 255), cells)
    if basis is not None:
        Basis.load(basis)  # a path that is none is an error here, and not in every actor
    threads = max(1, round(num_cpus))
    return images.map_batches(
        _Describer, fn_constructor_args=(settings, os.path.abspath(file_name("basis", basis)) if basis is not None else None, features, device),
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
