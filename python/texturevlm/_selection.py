# SPDX-License-Identifier: Apache-2.0
"""What was selected."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import Array
from ._binding import ffi, lib
from ._core import call, owned, text
from ._names import PRESETS

_FIELDS = {name: ffi.offsetof("tvlm_position", name) for name in
           ("x", "level", "score", "size", "column", "height", "lost_before")}
_STRIDE = ffi.sizeof("tvlm_position")


class _Memory:
    """The memory of a selection, as NumPy asks for it: every view holds it, and so the selection."""

    def __init__(self, handle: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, kind: str) -> None:
        self.handle = handle
        self.__array_interface__ = {"data": (address, True), "shape": shape, "strides": strides, "typestr": kind, "version": 3}


class Selection:
    """Positions of an image, the best first (behind those of an overview or a thumbnail, which come first).

    Its arrays are views of the library's memory, read-only, and hold it. It needs neither the stack nor the device any more.

    Attributes:
        xy: float32 [n, 2], the centres, in pixels of the image as it was handed in; the centre of its first pixel is 0.5, 0.5.
        size: float32 [n], the side of the square that each stands for, in the same pixels; of a rectangle its width.
        height: float32 [n], the height of a rectangle, which a cell of a thumbnail is; 0: a square.
        level: float32 [n], the level of detail at which one patch covers it: 0 is full resolution, 0.415 three quarters, 1 half, ...
        scores: float32 [n].
        cell: int32 [n, 2], column and row of the cell that each stands for; -1 where it stands for none.
        strategy: the strategy that chose.
        width, height_of_image, working_size: the image as it was handed in, and as it was worked on (width, height).
        grid: rows and columns of the cells of the image.
        overview, thumbnail: columns and rows of the squares that come first; (0, 0) where there are none.
        preset, loss, loss_downsampled: of the strategy ``budget``: what was taken, the predicted loss, and that of downsampling
            to as many patches, both as shares of what a thumbnail of one patch loses.
    """

    def __init__(self, pointer: Any, working: tuple[int, int], stride: tuple[float, float], grid: tuple[int, int],
                 source: Any = None) -> None:
        self._pointer = owned(pointer, "selection")
        count = ffi.new("int32_t *")
        positions = lib.tvlm_selection_positions(self._pointer, count)
        self._address = int(ffi.cast("uintptr_t", positions))
        self._count = count[0]
        self._source = source
        self._stride = stride
        self._cells: Array | None = None
        info = ffi.new("tvlm_selection_info *")
        call(lib.tvlm_selection_get_info, self._pointer, info)
        self._info = info
        self.working_size = working
        self.width, self.height_of_image = info.width, info.height
        self.grid = grid
        self.overview = (info.overview_columns, info.overview_rows)
        self.thumbnail = (info.thumbnail_columns, info.thumbnail_rows)
        self.strategy = text(lib.tvlm_strategy_name(info.strategy))
        self.preset = PRESETS[info.preset] if self.strategy == "budget" else None
        self.loss, self.loss_downsampled = info.loss, info.loss_downsampled

    def _view(self, field: str, kind: str = "<f4", columns: int = 0) -> Array:
        shape = (self._count, columns) if columns else (self._count,)
        strides = (_STRIDE, 4) if columns else (_STRIDE,)
        return np.asarray(_Memory(self._pointer, self._address + _FIELDS[field], shape, strides, kind))

    @property
    def xy(self) -> Array:
        """float32 [n, 2]: the centres, x and y in pixels of the image."""
        return self._view("x", columns=2)

    @property
    def size(self) -> Array:
        """float32 [n]: the sides in pixels of the image; of rectangles the widths."""
        return self._view("size")

    @property
    def height(self) -> Array:
        """float32 [n]: the heights of rectangles in pixels of the image; 0 of squares."""
        return self._view("height")

    @property
    def level(self) -> Array:
        """float32 [n]: the levels of detail; 0 is full resolution, 1 half."""
        return self._view("level")

    @property
    def scores(self) -> Array:
        """float32 [n]: what was chosen by."""
        return self._view("score")

    @property
    def cell(self) -> Array:
        """int32 [n, 2]: columns and rows of the cells; -1 where there is none."""
        return self._view("column", "<i4", 2)

    @property
    def lost(self) -> Array:
        """float32 [n, 2]: of a budget's tile, what its square loses without it, and what with it, as shares of what the
        thumbnail loses; 0 of all else."""
        return self._view("lost_before", columns=2)

    @property
    def first(self) -> int:
        """How many positions show the whole image coarsely, and come before the chosen ones."""
        return int(self.overview[0] * self.overview[1] + self.thumbnail[0] * self.thumbnail[1])

    @property
    def indices(self) -> Array:
        """int64 [n]: the number of the cell that each stands for, row * columns + column of `grid`; -1 where it is larger than
        one, as a coarse square and the cells of an overview and a thumbnail are."""
        if self._cells is None:
            rows, columns = self.grid
            xy, size = self.xy, self.size
            across, down = self._stride
            column = np.clip((xy[:, 0] / across).astype(np.int64), 0, columns - 1)
            row = np.clip((xy[:, 1] / down).astype(np.int64), 0, rows - 1)
            one = size <= max(across, down) * 1.001
            cell = self.cell
            given = cell[:, 0] >= 0
            column, row = np.where(given, cell[:, 0], column), np.where(given, cell[:, 1], row)
            numbers = np.where(one | given, row * columns + column, -1)
            numbers[:self.first] = -1
            numbers.flags.writeable = False
            self._cells = numbers
        return self._cells

    @property
    def mask(self) -> Array:
        """bool [rows, columns]: the cells of `grid` whose centre lies in a chosen square. An overview's and a thumbnail's
        squares, which cover all of it, do not count."""
        rows, columns = self.grid
        mask = np.zeros((rows, columns), bool)
        indices = self.indices
        mask.reshape(-1)[indices[indices >= 0]] = True
        xy, size = self.xy, self.size
        across, down = self._stride
        for i in np.flatnonzero(indices[self.first:] < 0) + self.first:
            left, right = (xy[i, 0] + side * size[i] / 2 for side in (-1, 1))
            top, bottom = (xy[i, 1] + side * size[i] / 2 for side in (-1, 1))
            mask[max(0, int(np.ceil(top / down - 0.5))):max(0, int(np.ceil(bottom / down - 0.5))),
                 max(0, int(np.ceil(left / across - 0.5))):max(0, int(np.ceil(right / across - 0.5)))] = True
        return mask

    @property
    def score_map(self) -> Array | None:
        """float32 [rows, columns]: the score of every cell, where ``keep_scores=True`` asked for it; else None."""
        columns, rows = ffi.new("int32_t *"), ffi.new("int32_t *")
        scores = lib.tvlm_selection_scores(self._pointer, columns, rows)
        if scores == ffi.NULL:
            return None
        return np.asarray(_Memory(self._pointer, int(ffi.cast("uintptr_t", scores)), (rows[0], columns[0]), None, "<f4"))

    @property
    def duplicates(self) -> Array:
        """int32 [m, 4]: the tiles that ``tolerance=0`` left out: column and row of each, and of the tile that equals it."""
        count = ffi.new("int32_t *")
        found = lib.tvlm_selection_duplicates(self._pointer, count)
        if found == ffi.NULL:
            return np.zeros((0, 4), np.int32)
        return np.asarray(_Memory(self._pointer, int(ffi.cast("uintptr_t", found)), (count[0], 4), None, "<i4"))

    @property
    def stages(self) -> list[dict[str, Any]]:
        """What was looked at, stage by stage: ``name``, ``candidates``, ``kept`` and ``bytes`` of each."""
        report = ffi.new("tvlm_selection_report *")
        call(lib.tvlm_selection_get_report, self._pointer, report)
        return [{"name": text(stage.name), "candidates": stage.candidates, "kept": stage.kept, "bytes": stage.bytes}
                for stage in report.stages[0:report.stage_count]]

    def tensor(self, device: Any = None) -> Any:
        """`indices` as a torch.int64 tensor on `device`; None: where the image's tensor was, else the CPU. Needs PyTorch."""
        import torch
        if device is None:
            device = getattr(self._source, "device", "cpu")
        return torch.from_numpy(self.indices.copy()).to(device)

    def __len__(self) -> int:
        return int(self._count)

    def __repr__(self) -> str:
        return f"<texturevlm.Selection of {len(self)} by {self.strategy} in {self.width} x {self.height_of_image}>"
