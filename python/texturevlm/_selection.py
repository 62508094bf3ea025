# SPDX-License-Identifier: Apache-2.0
"""Selections: the positions that were chosen, and what can be made of them."""
from __future__ import annotations

import importlib
import math
import os
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, cast, overload

import numpy as np

from ._arguments import Array, channel_names, floats, integer, short, values
from ._binding import ffi, lib
from ._core import LOG, ArgumentError, ArgumentTypeError, MissingPackageError, call, owned, text

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import torch
    from ._image import Image
    from ._types import Strategy

_FIELDS = {"x": "<f4", "y": "<f4", "level": "<f4", "score": "<f4", "size": "<f4", "column": "<i4", "row": "<i4", "height": "<f4",
           "lost_before": "<f4", "lost_after": "<f4"}
_POSITION = np.dtype({"names": list(_FIELDS), "formats": list(_FIELDS.values()),
                      "offsets": [ffi.offsetof("tvlm_position", name) for name in _FIELDS], "itemsize": ffi.sizeof("tvlm_position")})
# Squares of these strategies lie anywhere. Those of the other strategies begin at multiples of their side, and may be clipped at
# the right and lower border of the image.
_NOT_ALIGNED = ("foveated", "exhaustive")
_CELLS_MAX = 2**22  # the most cells of a grid that a caller may ask for: lists of so many take some hundred megabytes


class _Memory:
    """The memory of a selection, in the form in which NumPy asks for it.

    Every view of NumPy keeps this object alive, and this object keeps the selection of the library alive.
    """

    def __init__(self, handle: Any, address: int, shape: tuple[int, ...], kind: str) -> None:
        self.handle = handle
        self.__array_interface__ = {"data": (address, True), "shape": shape, "typestr": kind, "version": 3}


def _of_library(handle: Any, pointer: Any, shape: tuple[int, ...], kind: str) -> Array:
    return np.asarray(_Memory(handle, int(ffi.cast("uintptr_t", pointer)), shape, kind))


class Origin(NamedTuple):
    """What is known about the image that was handed in. It does not keep the image alive."""

    size: tuple[int, int]
    """(width, height)"""
    device: str
    """Where its tensor was, as PyTorch says it."""
    path: str | None
    """Of a file."""
    again: Callable[[], Any] | None
    """Gives the image while the caller has it, or while its file is the same; else None."""


def origin_of(value: Any, picture: Image) -> Origin:
    """The origin of an image, from the image in any form (`value`) and the image as it was read (`picture`)."""
    of_torch = type(picture.source).__module__.split(".")[0] == "torch" or hasattr(picture.source, "detach")
    device = str(getattr(picture.source, "device", "cpu")) if of_torch else "cpu"
    again: Callable[[], Any] | None = None
    path = os.fsdecode(value) if isinstance(value, (str, os.PathLike)) else None
    if path is not None:
        seen = _stamp(path)

        def again() -> Any:
            return path if seen is not None and _stamp(path) == seen else None
    else:
        try:
            again = weakref.ref(value)
        except TypeError:  # some objects cannot be referred to weakly
            pass
    return Origin((picture.width, picture.height), device, path, again)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class Position(NamedTuple):
    """One position of a selection. Its fields have the meanings of the arrays of `Selection`."""

    x: float
    y: float
    """The centre, in pixels of the image."""
    size: float
    """The side of the square, of a rectangle the width, in the same pixels."""
    height: float
    """Of a rectangle; 0: a square."""
    level: float
    score: float
    cell: tuple[int, int] | None
    """Column and row; None where it stands for no cell."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the square or rectangle around the centre (x, y).

        A tile that the image's border clips has as centre the middle of its part in the image; its box then reaches beyond that
        part.
        """
        height = self.height or self.size
        return self.x - self.size / 2, self.y - height / 2, self.x + self.size / 2, self.y + height / 2


class Selection:
    """Positions of an image, the best first. Positions of an overview or a thumbnail come before all others.

    A selection is a sequence. ``len(selection)`` is the number of positions; ``selection[0]`` and ``for position in selection``
    give a `Position` each. ``selection[:100]`` is a selection, too; if it has only some of the cells of a thumbnail, it has no
    thumbnail.

    The arrays of a selection are read-only views of the library's memory, which they keep alive. A selection needs neither the
    stack nor the device any more. It never changes, and can be copied, pickled and compared.

    Attributes:
        xy: float32 [n, 2], the centres in pixels of the image as it was handed in. The centre of the first pixel is 0.5, 0.5.
        size: float32 [n], the side of the square that each position stands for, in the same pixels; for a rectangle its width.
        height: float32 [n], the height of a rectangle, in the same pixels; 0 for a square. The cells of a thumbnail are
            rectangles.
        level: float32 [n], the level of detail at which one patch covers the position: 0 is full resolution, 0.415 three quarters
            of it, 1 half, and so on.
        scores: float32 [n], the score of each position.
        cell: int32 [n, 2], column and row of the cell that each position stands for; -1 if it stands for none.
        strategy: the name of the strategy that chose the positions.
        image_size: (width, height) of the image as it was handed in.
        working_size: (width, height) of the working image.
        width, height_of_image: the two numbers of `image_size`.
        grid: (columns, rows) of the cells of the image.
        overview, thumbnail: (columns, rows) of the squares that come first; (0, 0) if there are none. The cells of a thumbnail
            that are listed in `empty` are no positions.
        loss: the loss that the strategy ``budget`` predicts, as a share of the loss of a thumbnail of one patch. NaN for a part
            of a selection.
        loss_downsampled: the same for an image that is downsampled to as many patches.

    For an encoder's patches: `mask`, `covered`, `cells` and `tensor` say which patches lie under the positions. If each position
    is one patch, `indices` gives the patch of each.
    """

    def __init__(self, pointer: Any, working: tuple[int, int], origin: Origin, device: str, layout: list[int]) -> None:
        handle = owned(pointer, "selection")
        count, columns, rows = (ffi.new("int32_t *") for _ in range(3))
        positions = lib.tvlm_selection_positions(handle, count)
        self._pointer: Any = handle  # None if the selection was not made by the library: a part, or unpickled
        self._rows = _of_library(handle, positions, (count[0] * _POSITION.itemsize,), "|u1").view(_POSITION)
        info = ffi.new("tvlm_selection_info *")
        call(lib.tvlm_selection_get_info, handle, info)
        self.strategy: Strategy = cast("Strategy", text(lib.tvlm_strategy_name(info.strategy)))
        self.image_size: tuple[int, int] = (info.width, info.height)
        self.working_size = working
        self.overview: tuple[int, int] = (info.overview_columns, info.overview_rows)
        self.thumbnail: tuple[int, int] = (info.thumbnail_columns, info.thumbnail_rows)
        self.loss, self.loss_downsampled = float(info.loss), float(info.loss_downsampled)
        self._squares: tuple[tuple[int, int], Array] | None = None  # of a part: of which overview each position is which square
        self.grid: tuple[int, int] = (0, 0)
        self._stride = (1.0, 1.0)  # the sides of a cell, in pixels of the working image
        self._number = int(info.strategy)
        self._origin: Origin | None = origin
        self._where, self._path, self._device, self._layout = origin.device, origin.path, device, layout
        scores = lib.tvlm_selection_scores(handle, columns, rows)
        self._scores = None if scores == ffi.NULL else _of_library(handle, scores, (rows[0], columns[0]), "<f4")
        found = lib.tvlm_selection_duplicates(handle, count)
        self._duplicates = np.zeros((0, 4), np.int32) if found == ffi.NULL else _of_library(handle, found, (count[0], 4), "<i4")
        found = lib.tvlm_selection_empty(handle, count)
        self._empty = np.zeros((0, 2), np.int32) if found == ffi.NULL else _of_library(handle, found, (count[0], 2), "<i4")

    _frozen = False

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen:
            raise AttributeError(f"a selection does not change: {name} cannot be set")
        super().__setattr__(name, value)

    def _freeze(self) -> Selection:
        """Ends the making of the selection: from now on no attribute can be set."""
        self._frozen = True
        return self

    @property
    def width(self) -> int:
        """The width of the image as it was handed in."""
        return self.image_size[0]

    @property
    def height_of_image(self) -> int:
        """The height of the image as it was handed in."""
        return self.image_size[1]

    # ---- Arrays ----

    def _pairs(self, first: str, kind: str) -> Array:
        """A field of all positions together with the next field in memory, as an array [n, 2]."""
        whole = self._rows.view(np.uint8).reshape(len(self), _POSITION.itemsize)
        begin = ffi.offsetof("tvlm_position", first)
        return whole[:, begin:begin + 8].view(kind)

    @property
    def xy(self) -> Array:
        """float32 [n, 2]: the centres, x and y in pixels of the image."""
        return self._pairs("x", "<f4")

    @property
    def size(self) -> Array:
        """float32 [n]: the sides of squares, and the widths of rectangles, in pixels of the image."""
        return self._rows["size"]

    @property
    def height(self) -> Array:
        """float32 [n]: the heights of rectangles in pixels of the image; 0 for squares."""
        return self._rows["height"]

    @property
    def level(self) -> Array:
        """float32 [n]: the levels of detail; 0 is full resolution, 1 half."""
        return self._rows["level"]

    @property
    def scores(self) -> Array:
        """float32 [n]: the score of each position."""
        return self._rows["score"]

    @property
    def cell(self) -> Array:
        """int32 [n, 2]: column and row of each position's cell; -1 if it has none."""
        return self._pairs("column", "<i4")

    @property
    def lost(self) -> Array:
        """float32 [n, 2]: for each tile of a budget, the loss of its square without the tile and with it.

        Both are shares of what the thumbnail loses. They are 0 for all other positions.
        """
        return self._pairs("lost_before", "<f4")

    @property
    def first(self) -> int:
        """How many positions show the whole image coarsely. They come before the chosen positions."""
        return self.overview[0] * self.overview[1] + self.thumbnail[0] * self.thumbnail[1] - len(self._empty)

    @property
    def score_map(self) -> Array | None:
        """float32 [rows, columns]: the score of every cell, if ``keep_scores=True`` asked for it; else None."""
        return self._scores

    @property
    def duplicates(self) -> Array:
        """int32 [m, 4]: the tiles that a tolerance left out: column and row of each, and those of the tile that equals it."""
        return self._duplicates

    @property
    def empty(self) -> Array:
        """int32 [m, 2]: column and row of the thumbnail's cells in which nothing is seen. These cells are no positions."""
        return self._empty

    def draw_thumbnail(self, patches: Any) -> Array:
        """Draws the thumbnail as a picture. Gives float32 [C, rows * side, columns * side].

            picture = selection.draw_thumbnail(tv.patches("photo.jpg", selection))

        `patches` [n, C, side, side] are what `texturevlm.patches` cuts out at the positions. Patches after those of the thumbnail
        are not read. An empty cell gets the mean colour of the texels beside it; if it has no neighbour that is kept, it gets the
        mean colour of the cells that were filled before it.

        Errors: `ArgumentError` if there is no thumbnail, and for patches of another shape, or too few of them.
        """
        columns, rows = self.thumbnail
        given = values("patches", patches, (4,))
        count, channels, side = given.shape[:3]
        if not columns or count < self.first or given.shape[3] != side or min(channels, side) < 1:
            raise ArgumentError(f"patches have the shape {given.shape}: a thumbnail of {columns} x {rows} cells, {len(self._empty)} of "
                                f"them empty, needs {self.first} or more squares")
        cell = np.floor(self.xy[:self.first].astype(np.float64) * self.thumbnail / self.image_size).astype(np.int64)
        picture = np.zeros((rows, side, columns, side, channels), np.float32)
        picture[cell[:, 1], :, cell[:, 0]] = given[:self.first].transpose(0, 2, 3, 1)
        empty = np.ascontiguousarray(self._empty)
        grid = ffi.new("tvlm_thumbnail_grid *", {
            "columns": columns, "rows": rows, "side": side, "empty_count": len(empty),
            "empty": ffi.cast("tvlm_cell *", empty.__array_interface__["data"][0])})
        call(lib.tvlm_thumbnail_fill, grid, channels, floats(picture), LOG)
        return np.ascontiguousarray(picture.reshape(rows * side, columns * side, channels).transpose(2, 0, 1))

    @property
    def stages(self) -> list[dict[str, Any]]:
        """The stages of the choice: for each a dict with ``name``, and its numbers of ``candidates``, ``kept`` and ``bytes``."""
        if self._pointer is None:
            return [dict(stage) for stage in self._stages]
        report = ffi.new("tvlm_selection_report *")
        call(lib.tvlm_selection_get_report, self._pointer, report)
        return [{"name": text(stage.name), "candidates": stage.candidates, "kept": stage.kept, "bytes": stage.bytes}
                for stage in report.stages[0:report.stage_count]]

    # ---- The patches of an encoder ----

    def cells(self, grid: tuple[int, int] | None = None) -> list[Array]:
        """For each position, the cells whose centres lie in its square: an array int64 [m] of their numbers.

            tokens = [features.reshape(-1, D)[cells].mean(0) for cells in selection.cells()]

        The number of a cell is row * columns + column. The numbers come row after row. A square in which no centre lies has one
        cell: the one in which the centre of the position lies.

        `grid` is (columns, rows) of an encoder's patches over the whole image, such as (24, 24). None: `selection.grid`.
        """
        columns, rows = self._grid_of(grid)
        if grid is None and len(self) and int(self._rows["column"].min()) >= 0:
            return list((self._rows["row"].astype(np.int64) * columns + self._rows["column"])[:, None])
        left, right = self._spans(0, columns, None if grid is None else self.working_size[0] / columns)
        top, bottom = self._spans(1, rows, None if grid is None else self.working_size[1] / rows)
        return [(np.arange(t, b, dtype=np.int64)[:, None] * columns + np.arange(l, r)).reshape(-1)
                for l, r, t, b in zip(left, right, top, bottom)]

    def _grid_of(self, grid: Any) -> tuple[int, int]:
        if grid is None:
            return self.grid
        if not isinstance(grid, (list, tuple)) or len(grid) != 2:
            raise ArgumentTypeError(f"grid is {short(grid)}, not columns and rows")
        columns, rows = (integer("grid", side, 1, _CELLS_MAX) for side in grid)
        if columns * rows > _CELLS_MAX:
            raise ArgumentError(f"grid is {columns} x {rows}, more than {_CELLS_MAX} patches")
        return columns, rows

    def _spans(self, axis: int, count: int, stride: float | None) -> tuple[list[int], list[int]]:
        """The first cell of each position along an axis, and the cell after the last one.

        The squares are the same as those of tvlm_merge_tokens.
        """
        across, down = (there / here for there, here in zip(self.image_size, self.working_size))
        at = self.xy[:, axis].astype(np.float64) / (across, down)[axis]
        side = self.size.astype(np.float64) / math.sqrt(across * down)
        aligned = self.strategy not in _NOT_ALIGNED
        begin = side * np.floor(at / side) if aligned else at - side / 2
        end = begin + side
        flat = self.height > 0  # rectangles: their centres lie in the middle, also at the border
        length = (self.size if axis == 0 else self.height)[flat].astype(np.float64) / (across, down)[axis]
        begin[flat], end[flat] = at[flat] - length / 2, at[flat] + length / 2
        shown, places = self._squares or (self.overview, self._overview_places())
        if shown[0]:  # the squares of an overview stand for the cells of a grid over the whole image
            place = np.where(places < 0, 0, places % shown[0] if axis == 0 else places // shown[0])
            extent = self.working_size[axis] / shown[axis]
            begin, end = np.where(places < 0, begin, place * extent), np.where(places < 0, end, (place + 1) * extent)
        step = self._stride[axis] if stride is None else stride
        edges = np.arange(count + 1) * step
        centres = (edges[:-1] + np.minimum(edges[1:], self.working_size[axis])) / 2 / step

        def from_on(places: Array) -> Array:  # rounded to 1 / 4096 of a cell, so that errors of rounding do not count
            return np.searchsorted(np.round(centres * 4096), np.round(places / step * 4096), "left")

        first, last = from_on(begin), from_on(end)
        own = np.clip(np.floor(at / step), 0, count - 1).astype(np.int64)
        none = first >= last
        first, last = np.where(none, own, first), np.where(none, own + 1, last)
        return first.tolist(), last.tolist()

    def _overview_places(self) -> Array:
        """For each position its number among the squares of the overview, or -1."""
        places, count = np.full(len(self), -1), self.overview[0] * self.overview[1]
        places[:count] = np.arange(count)
        return places

    def covered(self, grid: tuple[int, int] | None = None) -> Array:
        """int64 [m]: the numbers of the cells under the positions, each once, the cells of the best position first.

            kept = features.reshape(-1, D)[selection.covered()]

        The squares of an overview or a thumbnail cover the whole image, and do not count. `grid` is as in `cells`.
        """
        cells = self.cells(grid)[self.first:]
        if not cells:
            return np.zeros(0, np.int64)
        numbers = np.concatenate(cells)
        return numbers[np.sort(np.unique(numbers, return_index=True)[1])]

    @property
    def indices(self) -> Array:
        """int64 [n]: the number of the cell that each position stands for: row * columns + column in `grid`.

        Errors: `ArgumentError` if a position covers several cells, as most positions of a budget do, or if it belongs to a
        thumbnail or an overview. Then `cells` gives all cells of each position, and `covered` those under the tiles.
        """
        cells = self.cells()
        several = max(sum(len(one) != 1 for one in cells), self.first)
        if several:
            raise ArgumentError(f"{several} of {len(self)} positions stand for several cells each (the strategy is {self.strategy}): "
                                "there is no index for each; cells() has all of each position, covered() those under the tiles")
        return np.concatenate(cells) if cells else np.zeros(0, np.int64)

    @property
    def mask(self) -> Array:
        """bool [rows, columns]: True for the cells of `covered`."""
        columns, rows = self.grid
        mask = np.zeros(rows * columns, bool)
        mask[self.covered()] = True
        return mask.reshape(rows, columns)

    def tensor(self, device: Any = None, *, grid: tuple[int, int] | None = None) -> torch.Tensor:
        """`covered` as a torch.int64 tensor on `device`. Needs PyTorch.

            kept = encoder(pixels)[0, selection.tensor(grid=(24, 24))]     # the patches under the tiles

        A `device` of None is the device of the image's tensor, or the CPU if the image was no tensor.
        """
        found: torch.Tensor = package("torch", "PyTorch").from_numpy(self.covered(grid))
        return found.to(self._where if device is None else device)

    # ---- A sequence ----

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    @overload
    def __getitem__(self, index: int) -> Position: ...

    @overload
    def __getitem__(self, index: slice) -> Selection: ...

    def __getitem__(self, index: int | slice) -> Position | Selection:
        if isinstance(index, slice):
            return self._part(index)
        try:
            row = self._rows[integer("an index", index, -len(self), len(self) - 1)]
        except ArgumentTypeError:
            raise
        except ArgumentError as error:
            raise IndexError(str(error)) from None  # an IndexError ends a loop over a sequence
        cell = (int(row["column"]), int(row["row"])) if row["column"] >= 0 else None
        x, y, size, height, level, score = (float(row[name]) for name in ("x", "y", "size", "height", "level", "score"))
        return Position(x, y, size, height, level, score, cell)

    def __iter__(self) -> Iterator[Position]:
        return (self[i] for i in range(len(self)))

    def _part(self, index: slice) -> Selection:
        """Some of the positions. The overview or thumbnail is kept only if all of its positions are kept, at the beginning."""
        try:
            begin, _, step = index.indices(len(self))
        except (TypeError, ValueError) as error:
            kind = ArgumentTypeError if isinstance(error, TypeError) else ArgumentError
            raise kind(f"a slice of a selection: {error}") from None
        rows = self._rows[index]
        whole = begin == 0 and step == 1 and len(rows) >= self.first
        state = self.__getstate__()
        state.update(rows=rows.tobytes(), loss=math.nan, loss_downsampled=math.nan)
        shown, places = self._squares or (self.overview, self._overview_places())
        if not whole:
            state.update(_squares=(shown, places[index]), overview=(0, 0), thumbnail=(0, 0), _empty=np.zeros((0, 2), np.int32))
        part = Selection.__new__(Selection)
        part._take(state)
        part._origin = self._origin
        return part._freeze()

    # ---- Values ----

    _KEPT = ("strategy", "image_size", "working_size", "overview", "thumbnail", "loss", "loss_downsampled", "grid", "_stride",
             "_number", "_where", "_path", "_device", "_layout", "_scores", "_duplicates", "_empty", "_squares")

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in self._KEPT}
        for name in ("_scores", "_duplicates", "_empty"):
            state[name] = None if state[name] is None else state[name].copy()
        return {**state, "rows": self._rows.tobytes(), "stages": self.stages}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._take(state)
        self._freeze()

    def _take(self, state: dict[str, Any]) -> None:
        for name in self._KEPT:
            setattr(self, name, state[name])
        for array in (self._scores, self._duplicates, self._empty):
            if array is not None:
                array.flags.writeable = False
        self._pointer, self._origin, self._stages = None, None, state["stages"]
        self._rows = np.frombuffer(state["rows"], np.uint8).view(_POSITION)  # an array over bytes is read-only

    def __copy__(self) -> Selection:
        return self  # it never changes

    def __deepcopy__(self, _: Any) -> Selection:
        return self

    def __eq__(self, other: object) -> bool:
        """Whether both have the same positions, chosen by the same strategy in images of the same size."""
        if not isinstance(other, Selection):
            return NotImplemented
        same = ("strategy", "image_size", "working_size", "overview", "thumbnail", "grid")
        return (all(getattr(self, name) == getattr(other, name) for name in same) and len(self) == len(other)
                and all(np.array_equal(self._rows[name], other._rows[name]) for name in _FIELDS))

    def __hash__(self) -> int:
        return hash((self.strategy, self.image_size, self.grid, len(self)))

    # ---- Other forms ----

    def to_dict(self) -> dict[str, Any]:
        """The selection as a dict with the keys of the JSON that ``tvlm select`` writes.

        They are ``image``, ``layout``, ``strategy``, ``device``, ``k``, ``positions``, and further keys of the strategy. All
        values have Python's own types, so that `json.dumps` takes them.
        """
        image: dict[str, Any] = {} if self._path is None else {"path": self._path}
        found: dict[str, Any] = {
            "image": {**image, "width": self.image_size[0], "height": self.image_size[1]},
            "layout": ",".join(channel_names(self._layout)), "strategy": self.strategy, "device": self._device, "k": len(self)}
        if self.overview[0]:
            found["overview"] = list(self.overview)
        if self.thumbnail[0]:
            if not math.isnan(self.loss):
                found["loss"] = self.loss
            if self.loss_downsampled > 0:
                found["downsampled"] = self.loss_downsampled
            found["thumbnail"] = list(self.thumbnail)
            if len(self._empty):
                found["empty"] = self._empty.tolist()
        if len(self.duplicates):
            found["duplicates"] = self.duplicates.tolist()
        if self.stages:
            found["stages"] = self.stages
        found["positions"] = [
            {"x": one.x, "y": one.y, "level": one.level, "score": one.score, "size": one.size,
             **({"height": one.height} if one.height > 0 else {}), **({"cell": list(one.cell)} if one.cell else {})} for one in self]
        return found

    def _columns(self) -> dict[str, Array]:
        return {name: np.array(self._rows[name]) for name in ("x", "y", "level", "score", "size", "height", "column", "row")}

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each position: x, y, level, score, size, height, column, row. Needs pandas."""
        return package("pandas").DataFrame(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow.Table with the columns of `to_pandas`. Needs pyarrow."""
        return package("pyarrow").table(self._columns())

    def image(self) -> Any:
        """The image, if it is still available, else None. A selection does not keep its image.

        An array, tensor or PIL image is available as long as the caller keeps it. Of a file, this is the path, as long as the
        file has not changed.
        """
        again = None if self._origin is None else self._origin.again
        return None if again is None else again()

    def _repr_png_(self) -> bytes | None:
        from ._notebook import png
        return png(self)

    def _repr_html_(self) -> str | None:
        from ._notebook import html
        return html(self)

    def __repr__(self) -> str:
        return f"<texturevlm.Selection of {len(self)} by {self.strategy} in {self.image_size[0]} x {self.image_size[1]}>"


def package(name: str, called: str = "") -> Any:
    """Imports a package that may not be installed. `called` is its name in the error."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != name:
            raise
        raise MissingPackageError(f"this needs {called or name}, which is not installed: pip install {name}") from None
