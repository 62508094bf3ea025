# SPDX-License-Identifier: Apache-2.0
"""An index: made, filled, asked, shrunk."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._arguments import choice, file_name, flag, integer, known, short
from .._basis import Basis
from .._core import ArgumentError, ArgumentTypeError, MissingFileError
from .._device import Device
from .._names import STRATEGIES
from .._vocab import Vocab
from . import _repair
from ._build import FLUSH, Builder
from ._query import Found, Shards, same as _same
from ._rows import CELLS, NO_REGION, POSITIONS, Settings
from ._store import APPROXIMATE_FROM, TABLES, Store, has_index, told


class Index:
    """An index in a folder.

    `Index(folder)` opens one, `Index.create` makes one. Any number of processes may ask while one writes: who asks sees what was
    there when it opened the index, or called `refresh`.

    Errors: `FileError` (there is none, it is broken, a disk is full, another process is writing), `ArgumentError` (a foreign file,
    an index of another version). What was there stays readable.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._store = Store(folder)
        self._basis, self._vocab = _basis_of(self._store), _vocab_of(self._store)
        self._tables: dict[str, Any] = {}
        for table in ("images", "regions"):
            self.table(table)

    @classmethod
    def create(cls, folder: str | os.PathLike[str], *, k: int = 273, strategy: str = "budget", max_side: int = 1024, regions: int = 50,
               cells: str = "int8", basis: Any = None, vocab: Any = None) -> Index:
        """Makes an empty one.

        Parameters:
            folder: one that is not there, or is empty.
            k, strategy: how many positions of each image are kept, and how they are chosen (see texturevlm.select).
            max_side: how long the sides of an image may be while it is worked on; 0: its own size.
            regions: of how many regions of an image with features the mean vectors are kept, 1 .. 255; with a vocabulary and no basis
                also 0, which makes a small index that is asked by its vocabulary alone.
            basis: a `Basis`, or its file, that is not centred: of an image with features each cell's coordinates in it are kept, as
                `cells` says: ``"int8"`` or ``"half"``. None: no coordinates are kept.
            vocab: a `Vocab`, or its file: of an image with features the number of each cell's nearest centre is kept.

        Without a basis and a vocabulary questions are answered with features only.
        """
        if choice("strategy", strategy, STRATEGIES) < 0 or choice("cells", cells, CELLS) < 0:
            raise AssertionError
        taken, words = _basis(basis), _vocab(vocab)
        settings = Settings(integer("k", k, 1, 1_000_000), strategy, integer("max_side", max_side, 0, 1 << 20),
                            integer("regions", regions, 0 if words is not None else 1, NO_REGION), cells)
        if taken is not None and not settings.regions:
            raise ArgumentError("regions is 0, and there is a basis, whose cells are asked by their regions")
        if taken is not None and words is not None and taken.dimension != words.dimension:
            raise ArgumentError(f"the vocabulary does not fit the basis: it has {words.dimension} components, the basis {taken.dimension}")
        Store.create(folder, settings, taken, words)
        return cls(folder)

    @classmethod
    def open_or_create(cls, folder: str | os.PathLike[str], **given: Any) -> Index:
        """Opens one, or makes it where there is none, with the options of `create`. Errors: `ArgumentError` (it is there and was made
        with another value of an option that is given, or with another basis or vocabulary)."""
        known(given, ["basis", "vocab", *Settings._fields])
        try:
            found = cls(folder)
        except MissingFileError:
            return cls.create(folder, **given)
        for name, value in given.items():
            if name in Settings._fields and (type(value) is not type(getattr(found.settings, name)) or value != getattr(found.settings, name)):
                raise ArgumentError(f"{found.folder}: the index was made with {name} {getattr(found.settings, name)}, not {short(value)}")
        for name, one, there in (("basis", _basis(given.get("basis")), found.basis), ("vocabulary", _vocab(given.get("vocab")), found.vocab)):
            if one is not None and not _same(one, there):
                raise ArgumentError(f"{found.folder}: the {name} does not fit the index, which was made with "
                                    f"{'another one' if there is not None else 'none'}")
        return found

    # ---- What it is ----

    @property
    def folder(self) -> str:
        """Where it is."""
        return self._store.folder

    @property
    def settings(self) -> Settings:
        """What all its images have in common: ``k``, ``strategy``, ``max_side``, ``regions``, ``cells``."""
        return self._store.settings

    @property
    def dimension(self) -> int:
        """How many components the features have; 0 while there are none."""
        return self._store.dimension

    @property
    def basis(self) -> Basis | None:
        """The basis of the cells' coordinates, or None."""
        return self._basis

    @property
    def vocab(self) -> Vocab | None:
        """The vocabulary whose centres' numbers are kept of the cells, or None."""
        return self._vocab

    def table(self, name: str) -> Any:
        """A table as a lance.LanceDataset, for SQL and data frames: ``"images"`` or ``"regions"``; None while it is empty."""
        if not isinstance(name, str) or name not in TABLES:
            raise ArgumentError(f"there is no table {short(name)}; there are images and regions")
        if name not in self._tables:
            self._tables[name] = self._store.open(name)
        return self._tables[name]

    def refresh(self) -> None:
        """Sees what was added, deleted or compacted since it was opened."""
        compared = self._store.compared
        self._store = Store(self.folder)
        self._store.compared |= compared  # files never change
        self._tables.clear()

    def __len__(self) -> int:
        images = self.table("images")
        return int(images.count_rows()) if images is not None else 0

    def info(self) -> dict[str, Any]:
        """How many ``images`` and ``regions`` it has, its ``bytes`` on the disk and ``bytes_per_image``, ``k``, ``strategy``,
        ``max_side``, ``dimension``, ``basis`` (components; 0: none), ``cells`` and ``vocab`` (centres; 0: none); ``scan``: whether a question scans all regions
        (``"exact"``) or Lance's index (``"approximate"``), and the ``files`` of both tables, which `compact` makes few."""
        regions, images = self.table("regions"), len(self)
        with told(self.folder):
            count = regions.count_rows() if regions is not None else 0
            indexed = regions is not None and has_index(regions) and count >= APPROXIMATE_FROM
            files = sum(len(table.get_fragments()) for table in (self.table("images"), regions) if table is not None)
            size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.folder) for name in names)
        settings = self.settings
        return {"folder": self.folder, "images": images, "regions": count, "bytes": size,
                "bytes_per_image": round(size / images) if images else 0, "k": settings.k, "strategy": settings.strategy,
                "max_side": settings.max_side, "dimension": self.dimension, "basis": self._store.basis_k, "cells": settings.cells,
                "vocab": self._store.vocab_n, "scan": "approximate" if indexed else "exact", "files": files}

    def get(self, key: str) -> dict[str, Any] | None:
        """What is kept of an image: the columns of its row, and in place of those of the positions
        ``positions``, float32 [n, 6]: x, y, size, height, level, score. None where it has no image of that key."""
        if not isinstance(key, str):
            raise ArgumentTypeError(f"key is {short(key)}, not a name")
        images = self.table("images")
        if images is None:
            return None
        with told(self.folder):
            rows = images.to_table(filter=f"key = {_quoted(key)}").to_pylist()
        if not rows:
            return None
        positions = np.array([rows[0].pop(name) for name in POSITIONS], np.float32).T
        return {**rows[0], "positions": positions}

    # ---- Changes ----

    def add(self, images: Iterable[Any], *, features: Any = None, skip_errors: bool = False, replace: bool = False, jobs: int = 2,
            flush: int = FLUSH, compact: bool = True, device: Device | None = None, told_of: Callable[[int], Any] | None = None
            ) -> list[tuple[str, str]]:
        """Adds images, each once: those that it has already, by key, bytes and time of change or hash, are passed over, so that the same call goes on
        after a kill at any moment.

        Parameters:
            images: paths of pictures, of folders (all pictures under them) and of tars in WebDataset layout, or `Source` objects. The
                key of a file is its path, of a tar's member TAR/NAME.
            features: the encoder's vectors of each, [rows, columns, D] over the whole image: a function of the `Source`, a dict by
                key, or a folder of STEM.npy; None where there is none for an image. A source may bring its own.
            skip_errors: goes on after an image that fails; else what was added until then is kept, and the error raised.
            replace: an image whose file has changed takes the place of the one of its key; it is an error otherwise.
            jobs: threads that decode ahead of the device. flush: after how many images they are kept.
            compact: calls `compact` at the end where there are many small files.
            told_of: is called with the number of images that are kept, whenever some are.

        Gives what failed, as pairs of a key and the error's line.

        Errors: those of texturevlm.select; `ArgumentError` (two images of one key, a tar that is cut, features of another dimension,
        a basis or a vocabulary that does not fit); `FileError`.
        """
        flag("skip_errors", skip_errors), flag("replace", replace), flag("compact", compact)
        builder = Builder(self._store, self._basis, self._vocab, features=features, skip_errors=skip_errors, replace=replace, device=device,
                          flush=integer("flush", flush, 1), told_of=told_of)
        threads = integer("jobs", jobs, 1, 256)
        return self._built(builder, lambda have: builder.run(images, have, threads), compact)

    def add_described(self, rows: Iterable[tuple[str, Any]], *, flush: int = FLUSH, compact: bool = True) -> list[tuple[str, str]]:
        """Adds rows that other processes have made (`texturevlm.index._rows.describe`), as pairs of a key and a row, or the error of one that failed. Gives the
        latter. Images that it has already, by their key, are passed over."""
        builder = Builder(self._store, self._basis, self._vocab, flush=integer("flush", flush, 1))
        return self._built(builder, lambda have: builder.run_described(rows, have), compact)

    def _built(self, builder: Builder, run: Callable[[dict[str, tuple[int, int, int, str]]], None], compact: bool
               ) -> list[tuple[str, str]]:
        with self._store.writing():
            try:
                self._tables.clear()
                run(self.known())
                self._tables.clear()
                if compact and self._grown():
                    self._store.compact()
            finally:
                self._tables.clear()
        return builder.failed

    def _grown(self) -> bool:
        """Whether it has many small files, or many regions that no approximate index has."""
        images, regions = self.table("images"), self.table("regions")
        if images is not None and len(images.get_fragments()) > 64:
            return True
        return regions is not None and regions.count_rows() >= APPROXIMATE_FROM and not has_index(regions)

    def delete(self, keys: Sequence[str]) -> int:
        """Deletes images, and gives how many. Errors: `ArgumentError` (it has no image of a key; then nothing is deleted)."""
        keys = list(keys) if isinstance(keys, Iterable) and not isinstance(keys, str) else keys
        if isinstance(keys, str) or not isinstance(keys, Iterable) or not all(isinstance(key, str) for key in keys):
            raise ArgumentTypeError(f"keys are {short(keys)}, not a list of names")
        with self._store.writing():
            self._tables.clear()
            there = self.known()
            for key in keys:
                if key not in there:
                    raise ArgumentError(f"{self.folder}: the index has no image {key!r}")
            numbers = sorted({there[key][0] for key in keys})
            if numbers:
                self._store.commit(dropped=numbers)
            self._tables.clear()
        return len(numbers)

    def compact(self) -> None:
        """Joins small files, drops what was deleted, and brings Lance's approximate index up to date, which is made from 100,000 regions
        on. What another process has open may then be gone: it calls `refresh`."""
        with self._store.writing():
            self._store.compact()
        self._tables.clear()

    @staticmethod
    def check(folder: str | os.PathLike[str], *, repair: bool = False) -> dict[str, Any]:
        """Reads every file of an index and compares it with its checksum; tables of up to 4 GiB are compared whenever they are opened,
        larger ones here alone.

        With `repair`, takes out what is broken: index.json comes back from its copy, a table from the newest version that can be read, and
        images of which something is lost are taken out whole, so that the next `add` of the same call brings them back.

        Gives ``folder``, ``files`` and ``bytes`` that were read, ``problems``, a line each; and where something was repaired,
        ``repaired``, the problems that there were, and ``lost``, how many images were taken out.

        Errors: `MissingFileError` (no index), `FileError` (nothing to repair it from; another process is writing).
        """
        return _repair.check(file_name("folder", folder), flag("repair", repair))

    def known(self) -> dict[str, tuple[int, int, int, str]]:
        """Number, bytes, time of change and hash of each image, by its key."""
        images = self.table("images")
        if images is None:
            return {}
        with told(self.folder):
            columns = images.to_table(columns=["key", "id", "bytes", "modified", "hash"])
        rows = zip(*(columns.column(name).to_pylist() for name in ("id", "bytes", "modified", "hash")))
        return dict(zip(columns.column("key").to_pylist(), rows))

    # ---- Questions ----

    def query(self, vector: Any, top_images: int = 20, positions: int = 16, *, by: str | None = None, candidates: int | None = None,
              features: Callable[[str], Any] | None = None, exact: bool = False, device: Device | None = None) -> list[Found]:
        """The images that answer a question best, and where in them.

            for found in archive.query(text_vector): print(found.key, found.score, found.squares[0])

        First the regions: `candidates` images whose best region has the largest mean cosine with the question, by Lance's index, or
        by a scan of all regions where they are fewer than 100,000. Then the cells of these images: what of a cosine lies in the basis is
        the cell's own, and what lies outside is its region's. An image's score is the mean of its best `positions` cells.

        By the vocabulary: the products of the question with its centres, which are looked up for every cell of every image.

        Parameters:
            vector: [D], of the encoder's text side, of any length but 0.
            top_images, positions: how many images, and how many squares of each.
            by: ``"regions"`` or ``"vocab"``; None: by the regions, but where there is a vocabulary and nothing else that tells of cells.
            candidates: how many images are looked into (four times top_images, at least 100); by the vocabulary only with features.
            features: a function that gives an image's vectors [rows, columns, D] by its key (None: it is left out), whose exact
                cosines then take the place of those in the basis.
            exact: scans all regions, however many they are.

        Errors: `ArgumentError` (another dimension; no features in the index; no basis or vocabulary, and no features handed in).
        """
        return Shards([self]).query(vector, top_images, positions, by=by, candidates=candidates, features=features,
                                    exact=flag("exact", exact), device=device)

    def __repr__(self) -> str:
        return f"<texturevlm.index.Index of {len(self)} images in {self.folder!r}>"


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _basis(basis: Any) -> Basis | None:
    """A basis, or that of a file; one that is centred does not serve questions."""
    if basis is None:
        return None
    taken = basis if isinstance(basis, Basis) else Basis.load(basis)
    if taken.centred:
        raise ArgumentError("the basis is centred: an index takes one that is not, which answers questions better (tvlm pca train)")
    return taken


def _vocab(vocab: Any) -> Vocab | None:
    """A vocabulary, or that of a file."""
    return vocab if vocab is None or isinstance(vocab, Vocab) else Vocab.load(vocab)


def _vocab_of(store: Store) -> Vocab | None:
    vocab = _vocab(store.vocab if store.vocab_n else None)
    if vocab is not None and (vocab.count != store.vocab_n or store.dimension not in (0, vocab.dimension)):
        raise ArgumentError(f"{store.vocab}: the vocabulary does not fit the index: it is {vocab}")
    return vocab


def _basis_of(store: Store) -> Basis | None:
    if not store.basis_k:
        return None
    basis = _basis(store.basis)
    if basis is None or basis.k != store.basis_k or (store.dimension and basis.dimension != store.dimension):
        raise ArgumentError(f"{store.basis}: the basis does not fit the index: it is of {basis}")
    return basis
