# SPDX-License-Identifier: Apache-2.0
"""Fills an index. Threads read and decode images ahead of the device, which describes one after the other.

The results are written in batches.
"""
from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Union

from .._arguments import short
from .._basis import Basis
from .._core import ArgumentError, ArgumentTypeError, Error
from .._device import Device
from .._vocab import Vocab
from ._rows import Row, describe, image_table, made_with, region_table
from ._sources import Loaded, Source, load, sources, stamp, vectors_of
from ._store import Store

FLUSH = 256
"""After so many images what was added is kept, whatever happens then."""
Read = Union[Loaded, Error, None]
"""An image; what reading it fails with; None: the index has it already."""


class Builder:
    """One call of `Index.add`, which documents the parameters. `failed` lists the images that failed, with their errors."""

    def __init__(self, store: Store, basis: Basis | None, vocab: Vocab | None, *, features: Any = None, skip_errors: bool = False, replace: bool = False,
                 device: Device | None = None, flush: int = FLUSH, told_of: Callable[[int], Any] | None = None) -> None:
        self.store, self.basis, self.vocab, self.device = store, basis, vocab, device
        self.features = features_by(features)
        self.skip, self.replace, self.flush = skip_errors, replace, flush
        self.told_of = told_of or (lambda count: None)
        self.failed: list[tuple[str, str]] = []
        self.rows: list[Row] = []
        self.dropped: list[int] = []
        self.have: dict[str, tuple[int, int, int, str]] = {}
        self.made = made_with(store.settings, basis, vocab)
        self.keeping = False

    def run(self, images: Any, have: dict[str, tuple[int, int, int, str]], threads: int) -> None:
        """Adds images to an index, which has the images of `have` already.

        If there is an error or an interruption, the images that came before it are kept.
        """
        self.have = have
        with ThreadPoolExecutor(threads) as pool:
            try:
                for key, read in ahead(pool, self.jobs(images), 2 * threads):
                    if read is not None:
                        self.take(key, read)
                    if len(self.rows) >= self.flush:
                        self.keep()
            finally:
                if not self.keeping:
                    self.keep()

    def run_described(self, items: Iterable[tuple[str, Row | str]], have: dict[str, tuple[int, int, int, str]]) -> None:
        """Adds rows that were made elsewhere, and notes the errors of images that failed there."""
        try:
            for key, row in items:
                if isinstance(row, str):
                    self.failed.append((key, row))
                elif key not in have:
                    have[key] = (-1, -1, 0, row.hash)
                    self.append(row)
                elif have[key][0] < 0:
                    self.failed.append((key, f"two images of one key: {key!r}"))
                if len(self.rows) >= self.flush:
                    self.keep()
        finally:
            if not self.keeping:
                self.keep()

    def append(self, row: Row) -> None:
        """Takes a row. Refuses a row that does not fit the index."""
        made = json.loads(row.made) if row.made else self.made
        for name, wanted in self.made.items():
            # What has no features was described without a basis and a vocabulary, perhaps.
            if made.get(name) != wanted and (row.grid[0] or name not in ("basis", "vocabulary", "cells", "regions")):
                raise ArgumentError(f"{row.key}: it was described with another {name} than the index has" if name in ("basis", "vocabulary") else
                                    f"{row.key}: it was described with {name} {made.get(name)}, the index has {wanted}")
        if row.grid[0]:
            dimension = row.vectors.shape[1] if row.vectors is not None else self.vocab.dimension if self.vocab is not None else 0
            if self.store.dimension not in (0, dimension):
                raise ArgumentError(f"{row.key}: features have {dimension} components, the index {self.store.dimension}")
            for name, there, wanted in (("basis", row.cells, self.basis), ("vocabulary", row.vocab_ids, self.vocab)):
                if (there is None) != (wanted is None):
                    raise ArgumentError(f"{row.key}: its cells are of another {name} than the index has")
            if self.vocab is not None and int(row.vocab_ids.max()) >= self.vocab.count:  # type: ignore[union-attr]
                raise ArgumentError(f"{row.key}: its cells are of another vocabulary than the index has")
            self.store.dimension = dimension
        self.rows.append(row)

    def jobs(self, images: Any) -> Iterator[tuple[str, Callable[[], Read]]]:
        """Yields for each image its key and a job that reads it. For an input that cannot be read, the job gives the error."""
        seen: set[str] = set()
        one_path = isinstance(images, (str, bytes, os.PathLike, Source)) or not isinstance(images, Iterable)
        for item in [images] if one_path else images:
            try:
                for source in sources([item]):
                    if source.key in seen:
                        raise ArgumentError(f"two images of one key: {source.key!r}")
                    seen.add(source.key)
                    yield source.key, lambda source=source: self.read(source)  # type: ignore[misc]
            except Error as error:
                yield (_name(item),
                       lambda error=error: error)  # type: ignore[misc]

    def read(self, source: Source) -> Read:
        """Reads an image, on a thread of the pool. Gives None if the index has it already."""
        try:
            there = self.have.get(source.key)
            if there is not None and stamp(source) == there[1:3]:
                return None
            found = load(source)
            if there is not None and found.hash == there[3]:
                return None
            if there is not None and not self.replace:
                return ArgumentError(f"two images of one key: {source.key!r} is in the index, and was another one then")
            return found
        except Error as error:
            return error

    def take(self, key: str, read: Loaded | Error) -> None:
        """Describes an image that was read, and takes its row. A failed image is noted, or its error is raised."""
        try:
            if isinstance(read, Error):
                raise read
            row = describe(read, self.store.settings, features=self.features(read.source), basis=self.basis, vocab=self.vocab,
                           device=self.device)
            self.append(row)
            if key in self.have:
                self.dropped.append(self.have[key][0])
        except Error as error:
            if key not in str(error):
                error.args = (f"{key}: {error}",)
            if not self.skip:
                raise error
            self.failed.append((key, str(error)))

    def keep(self) -> None:
        """Writes the rows that were taken so far into the index."""
        if self.rows:
            self.keeping = True
            rows, dropped = self.rows, self.dropped
            self.rows, self.dropped = [], []
            first = self.store.next
            self.store.commit(image_table(rows, first, self.store.settings.cells, self.vocab is not None), region_table(rows, first, self.store.dimension),
                              dropped)
            self.keeping = False
            self.told_of(len(rows))


def _name(item: Any) -> str:
    """The name of an item that cannot be read."""
    name = item.key if isinstance(item, Source) else os.fspath(item) if isinstance(item, os.PathLike) else item
    return name if isinstance(name, str) else short(name)


def ahead(pool: ThreadPoolExecutor, jobs: Iterator[tuple[str, Callable[[], Any]]], depth: int) -> Iterator[tuple[str, Any]]:
    """Runs jobs on threads, and yields their results in order. At most `depth` jobs run ahead of the caller."""
    running: deque[tuple[str, Future[Any]]] = deque()
    try:
        for key, job in jobs:
            running.append((key, pool.submit(job)))
            if len(running) >= depth:
                yield running[0][0], running.popleft()[1].result()
        while running:
            yield running[0][0], running.popleft()[1].result()
    finally:
        for _, future in running:
            future.cancel()


def features_by(given: Any) -> Callable[[Source], Any]:
    """A function from an image's source to its features, from any of the forms in which the caller may give them."""
    if given is None:
        return lambda source: None
    if callable(given):
        return given  # type: ignore[no-any-return]
    if isinstance(given, dict):
        return lambda source: given.get(source.key)
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentTypeError(f"features are {short(given)}, not a function, a dict or a folder")
    folder = os.fspath(given)
    if not os.path.isdir(folder):
        raise ArgumentError(f"{short(folder)}: there is no such folder of features")

    taken: dict[str, str] = {}  # which image has a file's features

    def of_folder(source: Source) -> Any:
        if source.features is not None:
            return None  # the source brings its own
        path = os.path.join(os.fsdecode(folder), os.path.splitext(os.path.basename(source.key))[0] + ".npy")
        if taken.setdefault(path, source.key) != source.key:
            raise ArgumentError(f"{source.key}: its features would be {path}, which are those of {taken[path]}")
        return vectors_of(path, path)
    return of_folder
