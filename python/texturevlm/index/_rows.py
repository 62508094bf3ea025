# SPDX-License-Identifier: Apache-2.0
"""What an index keeps of an image: its row and the rows of its regions, as Arrow tables."""
from __future__ import annotations

import functools
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, cast

import numpy as np
import pyarrow as pa

from .._arguments import Array, short, values
from .._basis import Basis
from .._core import ArgumentError
from .._device import Device
from .._image import Image
from .._stack import SCORED, Stack
from .._vocab import Vocab
from ._sources import Loaded, vectors_of

if TYPE_CHECKING:
    from .._types import Strategy

CELLS = ["half", "int8"]
NO_REGION = 255
POSITIONS = ("position_x", "position_y", "position_size", "position_height", "position_level", "position_score")


class Settings(NamedTuple):
    """The settings of an index, which hold for all its images."""

    k: int = 273
    strategy: str = "budget"
    max_side: int = 1024
    regions: int = 50
    cells: str = "int8"


class Row(NamedTuple):
    """An image as the index keeps it. Arrays have the form in which they are stored."""

    key: str
    path: Optional[str]
    bytes: int
    modified: int
    hash: str
    width: int
    height: int
    thumbnail: tuple[int, int]
    positions: Array
    """float32 [n, 6]: x, y, size, height, level, score, as of a Selection. Those with a height are the thumbnail's cells, some of
    which may be empty."""
    vectors: Optional[Array] = None
    """float16 [regions, D]: of each the mean of its cells' unit vectors."""
    places: Optional[Array] = None
    """float32 [regions, 3]: share of the image, and the centre, x and y in the image's pixels."""
    grid: tuple[int, int] = (0, 0)
    """Rows and columns of the features."""
    cells: Optional[Array] = None
    """float16 or int8, of all cells: their coordinates in the basis, of which `scale` is the unit."""
    scale: float = 1.0
    cell_regions: Optional[Array] = None
    """uint8 [rows * columns]: the region that has most of each cell; NO_REGION where it was left out."""
    vocab_ids: Optional[Array] = None
    """uint16 [rows * columns]: the number of each cell's nearest centre in the vocabulary."""
    made: str = ""
    """JSON of `made_with`: what the row was described with. It is not kept."""


def made_with(settings: Settings, basis: Basis | None, vocab: Vocab | None) -> dict[str, Any]:
    """What rows are described with. Rows of one index agree in it: its settings, and checksums of its basis and its vocabulary."""
    return {**settings._asdict(), "basis": _sum(basis), "vocabulary": _sum(vocab)}


@functools.lru_cache(maxsize=8)
def _sum(of: Basis | Vocab | None) -> int:
    """A checksum of all numbers that the rows depend on, once for each object: a vocabulary has millions."""
    arrays = () if of is None else (of.components, of.mean) if isinstance(of, Basis) else (of.centres,)
    return zlib.crc32(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))


def describe(loaded: Loaded, settings: Settings, *, features: Any = None, basis: Basis | None = None, vocab: Vocab | None = None,
             device: Device | None = None) -> Row:
    """Makes the row of an image.

    `features` are the encoder's vectors [rows, columns, D] over the whole image, or the bytes of an .npy file of them. None: the
    features of the image's source.

    Errors: those of texturevlm.select; `ArgumentError` for features of another shape or with values that are not finite, and for
    a basis or a vocabulary of another dimension. The text of an `ArgumentError` begins with the image's key.
    """
    source = loaded.source
    given = source.features if features is None else features
    if isinstance(given, bytes):
        given = vectors_of(io.BytesIO(given), f"{source.key}: features")
    array = None
    if given is not None:
        array = values(f"{source.key}: features", given, (3,))
        if 0 in array.shape or not np.isfinite(array).all():
            raise ArgumentError(f"{source.key}: features have the shape {array.shape}" if 0 in array.shape else
                                f"{source.key}: features have values that are not finite")
        for name, given_by in (("basis", basis), ("vocabulary", vocab)):
            if given_by is not None and array.shape[2] != given_by.dimension:
                raise ArgumentError(f"{source.key}: features have {array.shape[2]} components, the index' {name} {given_by.dimension}")
    options: dict[str, Any] = {"max_side": settings.max_side} if settings.max_side else {}
    if settings.regions:
        options["clusters"] = settings.regions
    with Stack(loaded.image, device=device, layout=SCORED, **options) as stack:
        selection = stack.select(settings.k, strategy=cast("Strategy", settings.strategy))
        labels = stack.labels() if array is not None and settings.regions else None
    positions = np.stack([selection.xy[:, 0], selection.xy[:, 1], selection.size, selection.height, selection.level,
                          selection.scores], 1)
    row = Row(source.key, source.path, loaded.bytes, loaded.modified, loaded.hash, *_size(loaded.image), selection.thumbnail, positions,
              made=json.dumps(made_with(settings, basis, vocab)))
    if array is None:
        return row
    row = row._replace(grid=(array.shape[0], array.shape[1]))
    if vocab is not None:
        row = row._replace(vocab_ids=vocab.assign(array.reshape(-1, vocab.dimension), device=device)[0])
    if labels is None:
        return row
    vectors, places, cell_regions = regions(array, labels, _size(loaded.image), settings.regions)
    row = row._replace(vectors=vectors.astype(np.float16), places=places)
    if basis is not None:
        cells, scale = compressed(basis.project(units(array)), settings.cells)
        row = row._replace(cells=cells, scale=scale, cell_regions=cell_regions)
    return row


def _size(image: Image) -> tuple[int, int]:
    return image.width, image.height


def units(features: Array) -> Array:
    """float32 [rows * columns, D]: the vectors, scaled to length 1. Vectors of length 0 stay 0."""
    flat = np.asarray(features, np.float32).reshape(-1, features.shape[-1])
    return np.asarray(flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-15))


def regions(features: Array, labels: Array, size: tuple[int, int], most: int) -> tuple[Array, Array, Array]:
    """The mean vectors, the shares and centres, and the cells of the largest `most` regions, in the order of their labels.

    Gives three arrays:

    - float32 [n, D]: for each region the mean of its cells' unit vectors, each weighted by how many pixels of the region the cell
      has. The length of a mean, at most 1, says how much the cells are alike.
    - float32 [n, 3]: for each region its share of the image, and its centre.
    - uint8 [rows * columns]: for each cell the region that has most of it, or NO_REGION.
    """
    rows, columns = features.shape[:2]
    height, width = labels.shape
    y, x = np.arange(height), np.arange(width)
    cell = (y * rows // height)[:, None] * columns + (x * columns // width)[None, :]
    count = int(labels.max()) + 1
    counts = np.bincount((labels.astype(np.int64) * (rows * columns) + cell).ravel(), minlength=count * rows * columns)
    counts = counts.reshape(count, rows * columns).astype(np.float32)
    total = counts.sum(1)
    kept = np.sort(np.argsort(-total, kind="stable")[:min(most, int((total > 0).sum()))])
    centres = [np.bincount(labels.ravel(), np.broadcast_to(at, labels.shape).ravel(), minlength=count)[kept] / total[kept]
               for at in ((x[None, :] + 0.5) * size[0] / width, (y[:, None] + 0.5) * size[1] / height)]
    places = np.stack([total[kept] / total.sum(), *centres], 1).astype(np.float32)
    cell_regions = np.where(counts[kept].max(0) > 0, counts[kept].argmax(0), NO_REGION).astype(np.uint8)
    return (counts[kept] / total[kept, None]) @ units(features), places, cell_regions


def compressed(coordinates: Array, kind: str) -> tuple[Array, float]:
    """Coordinates as half or as int8, and the number by which each must be multiplied again."""
    if kind == "half":
        return coordinates.astype(np.float16), 1.0
    scale = float(max(np.abs(coordinates).max(initial=0.0), 1e-12)) / 127
    return np.rint(coordinates / scale).astype(np.int8), scale


# ---- As tables ----

def image_schema(cells: str, vocab: bool) -> Any:
    """The columns of images.lance. `vocab` says whether the index has a vocabulary."""
    floats = pa.list_(pa.float32())
    return pa.schema([
        ("id", pa.int64()), ("key", pa.string()), ("path", pa.string()), ("bytes", pa.int64()), ("modified", pa.int64()),
        ("hash", pa.string()), ("width", pa.int32()), ("height", pa.int32()), ("thumbnail_columns", pa.int32()),
        ("thumbnail_rows", pa.int32()), *((name, floats) for name in POSITIONS), ("rows", pa.int32()), ("columns", pa.int32()),
        ("scale", pa.float32()), ("cells", pa.list_(pa.float16() if cells == "half" else pa.int8())), ("cell_regions", pa.list_(pa.uint8())),
        *([("vocab_ids", pa.list_(pa.uint16()))] if vocab else [])])


def region_schema(dimension: int) -> Any:
    """The columns of regions.lance."""
    return pa.schema([("image", pa.int64()), ("region", pa.int16()), ("share", pa.float32()), ("x", pa.float32()),
                      ("y", pa.float32()), ("vector", pa.list_(pa.float16(), dimension))])


def _columns(rows: list[Optional[Row]]) -> dict[str, Any]:
    """The columns of rows. A row that is None has null in all columns."""
    def of(value: Callable[[Row], Any]) -> list[Any]:
        return [None if row is None else value(row) for row in rows]
    return {
        **{name: of(lambda row, name=name: getattr(row, name))  # type: ignore[misc]
           for name in ("key", "path", "bytes", "modified", "hash", "width", "height", "scale", "cell_regions", "vocab_ids")},
        "thumbnail_columns": of(lambda row: row.thumbnail[0]), "thumbnail_rows": of(lambda row: row.thumbnail[1]),
        **{name: of(lambda row, i=i: row.positions[:, i]) for i, name in enumerate(POSITIONS)},  # type: ignore[misc]
        "rows": of(lambda row: row.grid[0]), "columns": of(lambda row: row.grid[1]),
        "cells": of(lambda row: None if row.cells is None else row.cells.reshape(-1))}


def _table(columns: dict[str, Any], schema: Any) -> Any:
    try:
        return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a key is {short(error.object)}, which is no text") from None


def image_table(rows: list[Row], first: int, cells: str, vocab: bool) -> Any:
    """Rows as an Arrow table. They are numbered from `first` on."""
    return _table({"id": list(range(first, first + len(rows))), **_columns(list(rows))}, image_schema(cells, vocab))


def region_table(rows: list[Row], first: int, dimension: int) -> Any:
    """The regions of rows as an Arrow table; None if there are no regions."""
    kept = [(first + i, row.vectors, row.places) for i, row in enumerate(rows) if row.vectors is not None and row.places is not None]
    if not kept:
        return None
    vectors, places = (np.concatenate([one[column] for one in kept]) for column in (1, 2))
    return pa.table([
        pa.array(np.concatenate([np.full(len(some), number) for number, some, _ in kept]), pa.int64()),
        pa.array(np.concatenate([np.arange(len(some)) for _, some, _ in kept]), pa.int16()),
        *(pa.array(places[:, i], pa.float32()) for i in range(3)),
        pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1), pa.float16()), dimension)], schema=region_schema(dimension))


# ---- On their way ----

ROWS = [field.name for field in image_schema("half", True)][1:] + ["made", "dimension", "vectors", "places", "error"]


def described(found: Sequence[tuple[str, Row | str]], cells: str) -> Any:
    """Images as an Arrow table, for `rows_of`. Each has a row, with the error of an image that failed."""
    schema = pa.schema([*list(image_schema(cells, True))[1:], ("made", pa.string()), ("dimension", pa.int32()), ("vectors", pa.list_(pa.float16())),
                        ("places", pa.list_(pa.float32())), ("error", pa.string())])
    rows = [row if isinstance(row, Row) else None for _, row in found]
    given = [row if row is not None and row.vectors is not None else None for row in rows]
    columns = _columns(rows)
    columns.update(
        made=[None if row is None else row.made for row in rows],
        key=[key for key, _ in found], error=[row if isinstance(row, str) else None for _, row in found],
        dimension=[None if row is None or row.vectors is None else row.vectors.shape[1] for row in given],
        vectors=[None if row is None or row.vectors is None else row.vectors.reshape(-1) for row in given],
        places=[None if row is None or row.places is None else row.places.reshape(-1) for row in given])
    return _table(columns, schema)


def rows_of(table: Any) -> Iterator[tuple[str, Row | str]]:
    """Yields the pairs that `described` was given, from its table."""
    for some in table.to_batches(max_chunksize=64):
        for i in range(some.num_rows):
            one = {name: some.column(name)[i] for name in ROWS}
            key = one["key"].as_py()
            if one["error"].is_valid:
                yield key, one["error"].as_py()
                continue

            def array(name: str, one: dict[str, Any] = one) -> Any:
                return one[name].values.to_numpy(zero_copy_only=False) if one[name].is_valid else None
            plain = {name: one[name].as_py() for name in ("key", "path", "bytes", "modified", "hash", "width", "height", "scale", "made")}
            vectors, places, cells = array("vectors"), array("places"), array("cells")
            grid = (one["rows"].as_py(), one["columns"].as_py())
            yield key, Row(**plain, thumbnail=(one["thumbnail_columns"].as_py(), one["thumbnail_rows"].as_py()), grid=grid,
                           positions=np.stack([array(name) for name in POSITIONS], 1), cell_regions=array("cell_regions"), cells=cells,
                           vocab_ids=array("vocab_ids"), vectors=None if vectors is None else vectors.reshape(-1, one["dimension"].as_py()),
                           places=None if places is None else places.reshape(-1, 3))
