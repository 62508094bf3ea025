# SPDX-License-Identifier: Apache-2.0
"""The class `Index`, which makes, fills, asks and shrinks an index."""
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

    `Index(folder)` opens an index, and `Index.create` makes one. Any number of processes may ask an index while one process
    writes. A process that asks sees what was there when it opened the index, or when it last called `refresh`.

    Parameters:
        folder: its folder.
        verify: whether all files are compared with their checksums, which takes a second for some 4 GiB. False: only their lengths
            are. None: all files of a table of at most 4 GiB. For a larger one a warning says that they were not.

    Errors: `FileError` if there is no index, if it is broken, if a disk is full, or if another process is writing;
    `ArgumentError` for a foreign file, and for an index of another version. After an error, the index stays readable as it was.
    """

    def __init__(self, folder: str | os.PathLike[str], *, verify: bool | None = None) -> None:
        self._store = Store(folder, verify=None if verify is None else flag("verify", verify))
        self._basis, self._vocab = _basis_of(self._store), _vocab_of(self._store)
        self._tables: dict[str, Any] = {}
        for table in ("images", "regions"):
            self.table(table)

    @classmethod
    def create(cls, folder: str | os.PathLike[str], *, k: int = 273, strategy: str = "budget", max_side: int = 1024, regions: int = 50,
               cells: str = "int8", basis: Any = None, vocab: Any = None) -> Index:
        """Makes an empty index.

        Parameters:
            folder: a folder that is not there yet, or is empty.
            k: how many positions of each image are kept.
            strategy: how these positions are chosen (see texturevlm.select).
            max_side: the longest side of the working image. 0: the image's own size.
            regions: for an image with features, the mean vectors of so many regions are kept, 1 .. 255. With a vocabulary and
                without a basis it may be 0. That makes a small index, which is asked by its vocabulary alone.
            cells: how the coordinates of cells are stored: ``"int8"`` or ``"half"``.
            basis: a `Basis`, or the path of its file. It must not be centred. For an image with features, the coordinates of each
                cell in it are kept. None: no coordinates are kept.
            vocab: a `Vocab`, or the path of its file. For an image with features, the number of each cell's nearest centre is
                kept.

        Without a basis and a vocabulary, the index answers questions only if features are handed in with them.
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
        """Opens an index, or makes it if there is none. The options are those of `create`.

        Errors: `ArgumentError` if the index is there, and was made with another value of a given option, or with another basis or
        vocabulary.
        """
        known(given, ["basis", "vocab", *Settings._fields])
        try:
            found = cls(folder)
        except MissingFileError:
            return cls.create(folder, **given)
        for name, value in given.items():
            value = int(value) if isinstance(value, np.integer) else value
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
        """The folder of the index."""
        return self._store.folder

    @property
    def settings(self) -> Settings:
        """The settings of `create` that hold for all images: ``k``, ``strategy``, ``max_side``, ``regions`` and ``cells``."""
        return self._store.settings

    @property
    def dimension(self) -> int:
        """How many components the features have; 0 as long as there are no features."""
        return self._store.dimension

    @property
    def basis(self) -> Basis | None:
        """The basis of the cells' coordinates, or None."""
        return self._basis

    @property
    def vocab(self) -> Vocab | None:
        """The vocabulary of the centres whose numbers are kept for the cells, or None."""
        return self._vocab

    def table(self, name: str) -> Any:
        """The table ``"images"`` or ``"regions"`` as a lance.LanceDataset, for SQL and data frames. None if it is empty."""
        if not isinstance(name, str) or name not in TABLES:
            raise ArgumentError(f"there is no table {short(name)}; there are images and regions")
        if name not in self._tables:
            self._tables[name] = self._store.open(name)
        return self._tables[name]

    def refresh(self) -> None:
        """Opens the index again, so that later calls see what was added, deleted or compacted meanwhile."""
        compared = self._store.compared
        self._store = Store(self.folder, verify=self._store.verify)
        self._store.compared |= compared  # a file need not be compared again, since files never change
        self._tables.clear()

    def __len__(self) -> int:
        images = self.table("images")
        return int(images.count_rows()) if images is not None else 0

    def info(self) -> dict[str, Any]:
        """Numbers and settings of the index, as a dict:

        - ``folder``: the folder of the index.
        - ``images``, ``regions``: how many there are.
        - ``bytes``, ``bytes_per_image``: the size on the disk.
        - ``k``, ``strategy``, ``max_side``, ``dimension``, ``cells``: the settings.
        - ``basis``: how many components the basis has; 0: there is none.
        - ``vocab``: how many centres the vocabulary has; 0: there is none.
        - ``scan``: ``"exact"`` if a question scans all regions, ``"approximate"`` if it uses Lance's index.
        - ``files``: how many files both tables have. `compact` joins them.
        """
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
        """What the index keeps of an image: a dict with the columns of its row, or None if there is no image of that key.

        The columns of the positions are joined to ``positions``, float32 [n, 6]: x, y, size, height, level and score.
        """
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
        """Adds images, each once. Gives the images that failed, as a list of pairs of a key and the text of its error.

        Images that the index has already are passed over. So the same call goes on where it was killed, at whatever moment that
        was. An image is known by its key together with its length and time of change, or with its hash.

        Parameters:
            images: paths of pictures, of folders (all pictures below them) and of tars in WebDataset layout, or `Source` objects.
                The key of a file is its path. The key of a tar's member is TAR/NAME.
            features: the encoder's vectors of each image, [rows, columns, D] over the whole image. They are given by a function
                of the `Source`, a dict by key, or a folder of files STEM.npy. An image without features has None. A source may
                bring its own features.
            skip_errors: go on after an image that fails. Without it, the error is raised, and what was added before is kept.
            replace: an image whose file has changed replaces the image of its key. Without it, such an image is an error.
            jobs: how many threads decode ahead of the device.
            flush: after how many images they are written into the index.
            compact: call `compact` at the end if there are many small files.
            told_of: a function that is called with a number of images whenever so many were written.

        Errors: those of texturevlm.select; `ArgumentError` for two images of one key, a tar that is cut, features of another
        dimension, and a basis or a vocabulary that does not fit; `FileError`.
        """
        flag("skip_errors", skip_errors), flag("replace", replace), flag("compact", compact)
        builder = Builder(self._store, self._basis, self._vocab, features=features, skip_errors=skip_errors, replace=replace, device=device,
                          flush=integer("flush", flush, 1), told_of=told_of)
        threads = integer("jobs", jobs, 1, 256)
        return self._built(builder, lambda have: builder.run(images, have, threads), compact)

    def add_described(self, rows: Iterable[tuple[str, Any]], *, flush: int = FLUSH, compact: bool = True) -> list[tuple[str, str]]:
        """Adds rows that other processes have made by `texturevlm.index._rows.describe`. Gives the images that failed.

        `rows` are pairs of a key and a row, or of a key and the text of an error. Images whose key the index has already are
        passed over.
        """
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
        """Whether the index has many small files, or many regions without an approximate index."""
        images, regions = self.table("images"), self.table("regions")
        if images is not None and len(images.get_fragments()) > 64:
            return True
        return regions is not None and regions.count_rows() >= APPROXIMATE_FROM and not has_index(regions)

    def delete(self, keys: Sequence[str]) -> int:
        """Deletes images, and gives how many. Errors: `ArgumentError` for an unknown key; nothing is deleted then."""
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
        """Joins small files, drops what was deleted, and brings Lance's approximate index up to date.

        There is an approximate index from 100,000 regions on. Files that another process has open may be gone afterwards; that
        process must call `refresh`.
        """
        with self._store.writing():
            self._store.compact()
        self._tables.clear()

    @staticmethod
    def check(folder: str | os.PathLike[str], *, repair: bool = False) -> dict[str, Any]:
        """Reads every file of an index, and compares it with its checksum.

        Tables of up to 4 GiB are compared whenever they are opened. Larger tables are compared only here.

        With `repair`, what is broken is taken out. index.json is restored from its copy, and a table from its newest readable
        version. An image that has lost anything is taken out as a whole. The next `add` with the same arguments brings these
        images back.

        Gives a dict with ``folder``, with ``files`` and ``bytes``, how many were read, and with ``problems``, a list of lines. If
        something was repaired, it also has ``repaired``, the problems that there were, and ``lost``, how many images were taken
        out.

        Errors: `MissingFileError` if there is no index; `FileError` if there is nothing to repair it from, or if another process
        is writing.
        """
        return _repair.check(file_name("folder", folder), flag("repair", repair))

    def known(self) -> dict[str, tuple[int, int, int, str]]:
        """A dict from the key of each image to its number, length in bytes, time of change and hash."""
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
        """Finds the images that answer a question best, and where in them.

            for found in archive.query(text_vector): print(found.key, found.score, found.squares[0])

        By the regions, a question is answered in two steps:

        1. Candidates are the images whose best region has the largest mean cosine with the question. They are found by Lance's
           index, or, if there are fewer than 100,000 regions, by a scan of all regions.
        2. The cells of the candidates are scored. The part of a cosine that lies in the basis is the cell's own; the part outside
           the basis is that of the cell's region. The score of an image is the mean of its best `positions` cells.

        By the vocabulary, the question is multiplied with the centres, and these products are looked up for every cell of every
        image.

        Parameters:
            vector: [D], a vector of the encoder's text side, of any length but 0.
            top_images: how many images are found.
            positions: how many squares of each image are found.
            by: ``"regions"`` or ``"vocab"``. None: ``"vocab"`` if there is a vocabulary and nothing else that scores cells, else
                ``"regions"``.
            candidates: how many images are looked into. None: four times `top_images`, but at least 100. By the vocabulary it is
                allowed only with features.
            features: a function from an image's key to its vectors [rows, columns, D], or to None, which leaves the image out.
                The exact cosines of these vectors take the place of those in the basis.
            exact: scan all regions, however many there are.

        Errors: `ArgumentError` for a vector of another dimension, for an index without features, and for an index without a basis
        or a vocabulary if no features are handed in.
        """
        return Shards([self]).query(vector, top_images, positions, by=by, candidates=candidates, features=features,
                                    exact=flag("exact", exact), device=device)

    def __repr__(self) -> str:
        return f"<texturevlm.index.Index of {len(self)} images in {self.folder!r}>"


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _basis(basis: Any) -> Basis | None:
    """The basis that an argument names: a `Basis`, or the path of its file. Refuses a centred one: it answers questions worse."""
    if basis is None:
        return None
    taken = basis if isinstance(basis, Basis) else Basis.load(basis)
    if taken.centred:
        raise ArgumentError("the basis is centred: an index takes one that is not, which answers questions better (tvlm-lab pca train)")
    return taken


def _vocab(vocab: Any) -> Vocab | None:
    """The vocabulary that an argument names: a `Vocab`, or the path of its file."""
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
