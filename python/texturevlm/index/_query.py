# SPDX-License-Identifier: Apache-2.0
"""Answers questions from one index, or from several as if they were one: which images, and where in them."""
from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from .._arguments import Array, choice, flag, integer, short, values
from .._basis import Basis
from .._core import ArgumentError, ArgumentTypeError, FileError
from .._device import Device
from .._stack import Stack
from .._vocab import Vocab
from ._rows import NO_REGION, units
from ._store import APPROXIMATE_FROM, has_index, told

if TYPE_CHECKING:
    from ._index import Index

WAYS = ["regions", "vocab"]
_WIDE = 1024  # how many cells a row has, when the cells of many images are joined to one grid


class Found(NamedTuple):
    """An image that answers a question."""

    key: str
    path: str | None
    width: int
    height: int
    score: float
    """The mean of `scores`."""
    squares: Array
    """float32 [n, 4]: the cells of the features that answer best: centre x, y, width, height in the image's pixels."""
    scores: Array
    """float32 [n]: their cosines with the question, the best first."""
    folder: str
    """The folder of its index."""


class Candidate(NamedTuple):
    """An image that may answer the question: the score of its best region or its cells, its number, and its shard."""

    score: float
    id: int
    shard: int


class Shards:
    """Several indexes that are asked as if they were one. They are scanned at the same time, and the best of all are kept.

        archive = index.Shards(["2023", "2024", "2025"])
        archive.query(vector)

    Parameters:
        folders: a list of indexes, or of their folders. Their features must have the same dimension. If they have a basis or a
            vocabulary, it must be the same one in all.

    Errors: `ArgumentError` for an empty list, the same index twice, and indexes that do not fit each other. If several indexes
    have an image of the same key, a question that finds this key raises an error.
    """

    def __init__(self, folders: Sequence[Any]) -> None:
        from ._index import Index
        if isinstance(folders, (str, os.PathLike)) or not isinstance(folders, Iterable):
            raise ArgumentTypeError(f"folders are {short(folders)}, not a list")
        self.indexes: list[Index] = [one if isinstance(one, Index) else Index(one) for one in folders]
        if not self.indexes:
            raise ArgumentError("there are no indexes")
        paths = [os.path.realpath(one.folder) for one in self.indexes]
        for i, path in enumerate(paths):
            if path in paths[:i]:
                raise ArgumentError(f"{self.indexes[i].folder}: the index is named twice")
        first = next((one for one in self.indexes if one.dimension), self.indexes[0])
        for one in self.indexes:
            if one.dimension and one.dimension != first.dimension:
                raise ArgumentError(f"{one.folder} has features of {one.dimension} components, {first.folder} of {first.dimension}")
            if one.dimension and not same(one.basis, first.basis):
                raise ArgumentError(f"{one.folder} and {first.folder} have different bases")
            if one.dimension and not same(one.vocab, first.vocab):
                raise ArgumentError(f"{one.folder} and {first.folder} have different vocabularies")

    def query(self, vector: Any, top_images: int = 20, positions: int = 16, *, by: str | None = None, candidates: int | None = None,
              features: Callable[[str], Any] | None = None, exact: bool = False, device: Device | None = None) -> list[Found]:
        """Finds the images that answer a question best, and the squares of each. `Index.query` documents the parameters."""
        count = integer("top_images", top_images, 1)
        places = integer("positions", positions, 1)
        wanted = max(count, integer("candidates", candidates, 1)) if candidates is not None else max(4 * count, 100)
        question = _unit(vector)
        asked = [i for i, one in enumerate(self.indexes) if one.dimension]
        if not asked:
            raise ArgumentError(f"{self.indexes[0].folder}: no image of the index came with features")
        first = self.indexes[asked[0]]
        if len(question) != first.dimension:
            raise ArgumentError(f"the question has {len(question)} components, the index {first.dimension}")
        answers = None
        # The way must be that of all: where one keeps no regions, all are asked by the vocabulary, which they share.
        ways = {_way(self.indexes[i], by, features is not None) for i in asked}
        if (ways.pop() if len(ways) == 1 else "vocab") == "vocab":
            if flag("exact", exact) or (candidates is not None and features is None):
                raise ArgumentError("a question by the vocabulary looks at all cells: it takes no exact, and candidates only with features")
            assert first.vocab is not None
            answers = first.vocab.ask(question)
            near = self._each(asked, lambda shard: looked_up(self.indexes[shard], answers, places, count if features is None else wanted, shard),
                              count if features is None else wanted)
        else:
            near = self._each(asked, lambda shard: nearest(self.indexes[shard].table("regions"), question, wanted, exact, shard), wanted)
        with told(f"{first.folder}: the index is broken"):  # damage that no checksum was asked about
            rows = self._rows(near)
        if features is not None:
            return _best(rows, _exact(rows, question, features, device), count, places)
        with told(f"{first.folder}: the index is broken"), np.errstate(invalid="raise", over="raise"):
            if answers is not None:
                scores = [None if row["vocab_ids"] is None else answers[row["vocab_ids"]] for row in rows]
            else:
                assert first.basis is not None
                scores = _embedded(rows, question, first.basis, self._outside(rows, question, first.basis), device)
        return _best(rows, scores, count, places)

    def _each(self, asked: list[int], scan: Callable[[int], list[Candidate]], wanted: int) -> list[Candidate]:
        """The best candidates of all shards. The shards are scanned on threads."""
        if len(asked) == 1:
            found = scan(asked[0])
        else:
            with ThreadPoolExecutor(min(len(asked), 16)) as pool:
                found = [one for some in pool.map(scan, asked) for one in some]
        # The best of all are among the best of each shard. Of equal candidates the older comes first, as in a single index.
        return sorted(found, key=lambda one: (-one.score, one.shard, one.id))[:wanted]

    def _rows(self, near: list[Candidate]) -> list[dict[str, Any]]:
        """The rows of the candidates, sorted by shard and number."""
        rows: list[dict[str, Any]] = []
        for shard in sorted({one.shard for one in near}):
            index = self.indexes[shard]
            words = ",".join(str(one.id) for one in near if one.shard == shard)
            lists = ["cells", "cell_regions"] + (["vocab_ids"] if index.vocab is not None else [])
            with told(index.folder):
                table = index.table("images").to_table(
                    columns=["id", "key", "path", "width", "height", "rows", "columns", "scale", *lists], filter=f"id IN ({words})")
            columns = {name: table.column(name) for name in table.column_names}
            some = [{name: columns[name][i].as_py() for name in columns if name not in lists} for i in range(table.num_rows)]
            for i, row in enumerate(some):
                for name in lists:
                    row[name] = columns[name][i].values.to_numpy(zero_copy_only=False) if columns[name][i].is_valid else None
                row["index"], row["shard"] = index.folder, shard
            rows += sorted(some, key=lambda row: int(row["id"]))
        seen: dict[str, str] = {}
        for row in rows:
            if row["key"] in seen:
                raise ArgumentError(f"{seen[row['key']]} and {row['index']} have two images of one key: {row['key']!r}")
            seen[row["key"]] = row["index"]
        return rows

    def _outside(self, rows: list[dict[str, Any]], question: Array, basis: Basis) -> list[Array]:
        """For each cell of the candidates, the product of the question with the part of its region's mean outside the basis."""
        # The product is v.q - Cv.Cq = v.(q - C'Cq), with the basis C. The bracket does not depend on v, so it is computed once.
        beyond = question - basis.components.T @ basis.project(question[None])[0]
        products: list[Array] = []
        for shard, some in itertools.groupby(rows, lambda row: int(row["shard"])):
            of_shard = list(some)
            numbers = np.array([row["id"] for row in of_shard])  # in ascending order, as _rows sorts them
            with told(self.indexes[shard].folder):
                table = self.indexes[shard].table("regions").to_table(columns=["image", "region", "vector"],
                                                                      filter=f"image IN ({','.join(map(str, numbers))})")
            vectors = table.column("vector").combine_chunks().values.to_numpy(zero_copy_only=False).astype(np.float32)
            by_region = np.zeros((len(numbers), NO_REGION + 1), np.float32)
            by_region[np.searchsorted(numbers, table.column("image").to_numpy()), table.column("region").to_numpy()] = \
                vectors.reshape(-1, len(question)) @ beyond
            products += [np.zeros(0, np.float32) if row["cell_regions"] is None else of_image[row["cell_regions"]]
                         for row, of_image in zip(of_shard, by_region)]
        return products

    def info(self) -> list[dict[str, Any]]:
        """A list of what `Index.info` gives for each index."""
        return [one.info() for one in self.indexes]

    def __repr__(self) -> str:
        return f"<texturevlm.index.Shards of {len(self.indexes)}>"


def same(one: Basis | Vocab | None, other: Basis | Vocab | None) -> bool:
    """Whether two bases have the same directions, or two vocabularies the same centres."""
    if one is None or other is None:
        return one is other
    first, second = (it.components if isinstance(it, Basis) else it.centres for it in (one, other))
    return np.array_equal(first, second)


def _way(index: Index, by: str | None, with_features: bool) -> str:
    """The way in which an index is asked: ``"regions"`` or ``"vocab"``."""
    if by is not None:
        choice("by", by, WAYS)
    elif index.vocab is not None and (not index.settings.regions or (index.basis is None and not with_features)):
        by = "vocab"
    if by == "vocab" and index.vocab is None:
        raise ArgumentError(f"{index.folder}: the index has no vocabulary: build it with one")
    if by == "regions" and not index.settings.regions:
        raise ArgumentError(f"{index.folder}: the index keeps no regions: it is asked by its vocabulary")
    if by != "vocab" and not with_features and index.basis is None:
        raise ArgumentError(f"{index.folder}: the index keeps no cells{' in a basis' if index.vocab is not None else ''}: build it with a "
                            "basis, or hand in features")
    return by or "regions"


def _unit(vector: Any) -> Array:
    array = values("a question", vector, (1,))
    length = float(np.linalg.norm(array.astype(np.float64))) if array.size else 0.0
    if not 0 < length < np.inf:
        raise ArgumentError("the question has no values" if not array.size else "the question is a vector of length 0" if length == 0
                            else "the question has values that are not finite")
    return np.asarray(array / length, np.float32)


# ---- Regions ----

def nearest(regions: Any, question: Array, wanted: int, exact: bool, shard: int = 0) -> list[Candidate]:
    """The `wanted` images whose best region has the largest product with the question. It is the mean cosine over the region."""
    if regions is None:
        return []
    with told("regions"):
        total = regions.count_rows()
        approximate = not exact and total >= APPROXIMATE_FROM and has_index(regions)
        rows = min(8 * wanted, total)
        while True:
            how: dict[str, Any] = {"column": "vector", "q": question, "k": rows, "metric": "dot"}
            # With the approximate index, a twentieth of its lists is searched, and three times as many vectors as are wanted are
            # compared exactly.
            how.update({"nprobes": max(20, _lists(regions) // 20), "refine_factor": 3} if approximate else {"use_index": False})
            found = regions.to_table(columns=["image", "_distance"], nearest=how)
            best: dict[int, float] = {}
            for image, distance in zip(found.column("image").to_pylist(), found.column("_distance").to_pylist()):
                best[image] = max(best.get(image, -np.inf), 1.0 - distance)
            if len(best) >= wanted or rows >= total or (approximate and found.num_rows < rows):
                order = sorted(best.items(), key=lambda one: (-one[1], one[0]))[:wanted]
                return [Candidate(score, image, shard) for image, score in order]
            rows = min(4 * rows, total)


def _lists(regions: Any) -> int:
    """How many lists the approximate index has. Each version is asked once, since Lance takes tens of milliseconds to say it."""
    which = (str(regions.uri), int(regions.version))
    if which not in _known_lists:
        _known_lists[which] = int(regions.stats.index_stats("vector")["indices"][0]["num_partitions"])
    return _known_lists[which]


_known_lists: dict[tuple[str, int], int] = {}


# ---- Cells ----

def looked_up(index: Index, answers: Array, places: int, wanted: int, shard: int = 0) -> list[Candidate]:
    """The `wanted` images whose best `places` cells have the largest mean score.

    The score of a cell is that of its centre in the vocabulary, from `answers`.
    """
    images = index.table("images")
    if images is None:
        return []
    numbers, scores = [np.zeros(0, np.int64)], [np.zeros(0)]
    with told(index.folder):
        for some in images.to_batches(columns=["id", "vocab_ids"], batch_size=1024):
            ids, sizes = some.column("vocab_ids"), some.column("vocab_ids").value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            kept = ids.flatten().to_numpy(zero_copy_only=False)
            if kept.size and int(kept.max()) >= len(answers):
                raise FileError(f"{index.folder}: the index is broken: a cell is of centre {kept.max()}, of {len(answers)}")
            cells, ends, keys = answers[kept], np.cumsum(sizes), some.column("id").to_numpy()
            for size in np.unique(sizes[sizes > 0]):  # images with the same number of cells are computed together
                which = np.flatnonzero(sizes == size)
                block = cells[(ends[which] - size)[:, None] + np.arange(size)]
                best = np.partition(block, size - places, axis=1)[:, -places:] if places < size else block
                numbers.append(keys[which])
                scores.append(best.mean(1, dtype=np.float64))
    every, means = np.concatenate(numbers), np.concatenate(scores)
    order = np.lexsort((every, -means))[:wanted]
    return [Candidate(float(means[i]), int(every[i]), shard) for i in order]


def _embedded(rows: list[dict[str, Any]], question: Array, basis: Basis, outside: list[Array], device: Device | None) -> list[Array | None]:
    """Approximate cosines of the question with the cells: the product of the coordinates in the basis, plus `outside`.

    `outside` is the part of the product that lies outside the basis, estimated from the cells' regions.

    The stack gives cosines, where products are wanted. So each cell gets one more component, by which all cells have the same
    length; the question has 0 there. The cells of all images are joined to one grid, and are asked at once.
    """
    sizes = [len(some) for some in outside]
    total = sum(sizes)
    if not total:
        return [np.zeros(0, np.float32) for _ in rows]
    wide = min(_WIDE, total)
    grid = np.zeros((-(-total // wide) * wide, basis.k + 2), np.float32)
    grid[:total, :basis.k] = np.concatenate([row["cells"].astype(np.float32).reshape(-1, basis.k) * np.float32(row["scale"])
                                             for row, size in zip(rows, sizes) if size])
    grid[:total, basis.k] = np.concatenate(outside)
    reach = np.float32(2)  # more than the length of a cell: its coordinates and its part outside are each at most about 1 long
    grid /= reach
    grid[:, -1] = np.sqrt(1 - (grid * grid).sum(1))
    asked = np.concatenate([basis.project(question[None])[0], [1, 0]]).astype(np.float32)
    cosines = _similarity(grid.reshape(-1, wide, basis.k + 2), asked, device)[:total]
    return list(np.split(cosines * (reach * np.float32(np.linalg.norm(asked))), np.cumsum(sizes)[:-1]))


def _exact(rows: list[dict[str, Any]], question: Array, features: Callable[[str], Any], device: Device | None) -> list[Array | None]:
    """The exact cosines of the question with the encoder's own vectors, which the application hands in again."""
    if not callable(features):
        raise ArgumentTypeError(f"features are {short(features)}, not a function of a key")
    scores: list[Array | None] = []
    for row in rows:
        array = features(row["key"])
        if array is None:
            scores.append(None)
            continue
        array = values(f"{row['key']}: features", array, (3,))
        if array.shape[2] != len(question) or 0 in array.shape:
            raise ArgumentError(f"{row['key']}: features have the shape {array.shape}, the question {len(question)} components")
        row["rows"], row["columns"] = array.shape[:2]
        scores.append(_similarity(units(array).reshape(array.shape), question, device))
    return scores


def _similarity(grid: Array, question: Array, device: Device | None) -> Array:
    """float32 [cells]: cosines, computed by a stack. Its picture is as small as the grid, since only the grid is asked."""
    with Stack(np.zeros(grid.shape[:2], np.uint8), device=device, layout="r", format="f32") as stack:
        stack.set_features(np.ascontiguousarray(grid, np.float32))
        return stack.similarity(question).reshape(-1)


def _best(rows: list[dict[str, Any]], scores: list[Array | None], count: int, places: int) -> list[Found]:
    found = []
    for row, cells in zip(rows, scores):
        if cells is None or not len(cells):
            continue
        best = np.argsort(-cells, kind="stable")[:places]
        found.append((float(cells[best].mean(dtype=np.float64)), row, best, cells[best]))
    found.sort(key=lambda one: -one[0])  # the sort is stable, so that of equal images the older comes first
    return [Found(row["key"], row["path"], row["width"], row["height"], score, _squares(row, best), np.asarray(values_, np.float32),
                  row["index"]) for score, row, best, values_ in found[:count]]


def _squares(row: dict[str, Any], cells: Array) -> Array:
    wide, high = row["width"] / row["columns"], row["height"] / row["rows"]
    column, line = cells % row["columns"], cells // row["columns"]
    return np.stack([(column + 0.5) * wide, (line + 0.5) * high, np.full(len(cells), wide), np.full(len(cells), high)],
                    1).astype(np.float32)
