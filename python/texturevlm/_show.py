# SPDX-License-Identifier: Apache-2.0
"""Pictures of selections, drawn as the tool draws them; and the tensors of vision-language models."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal, Protocol, overload

import numpy as np

from . import _names
from ._arguments import Array, chars, choice, file_name, flag, floats, integer, real, short, values
from ._binding import ffi, lib
from ._core import LOG, ArgumentError, ArgumentTypeError, Handle, call, text
from ._device import FORMATS, Device, device_of
from ._each import each, on_error
from ._image import Image, image_of, is_list, write_png
from ._network import network_of
from ._options import Choosing, Query, scorer_of, strategy_number
from ._projection import projection_of
from ._selection import Selection
from ._stack import _grid_input, positions_of
from ._types import Format, ImageLike, Model, OnError, Strategy


class Picture:
    """A picture, which a notebook shows and `save` writes.

    `array` has the pixels: uint8 [height, width, 3]. NumPy takes a picture as an array, by `np.asarray(picture)`; so do
    PIL.Image.fromarray and texturevlm.select.
    """

    def __init__(self, array: Array) -> None:
        self.array = array

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), in the order of PIL."""
        return int(self.array.shape[1]), int(self.array.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False and dtype is not None and np.dtype(dtype) != self.array.dtype:
            raise ValueError(f"a picture of {self.array.dtype} cannot be {np.dtype(dtype)} without a copy")
        found = self.array if dtype is None else self.array.astype(dtype, copy=False)
        return found.copy() if copy else found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture as a PNG. The file appears whole or not at all."""
        write_png(file_name("path", path), self.array)

    def _repr_png_(self) -> bytes:
        import tempfile  # which takes a third of the time that importing this package would
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "picture.png")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __repr__(self) -> str:
        return f"<texturevlm.Picture of {self.array.shape[1]} x {self.array.shape[0]}>"


class Drawable(Protocol):
    """What draws itself: a pruned batch of `texturevlm.hf`."""

    @property
    def report(self) -> Any: ...


@overload
def show(image: ImageLike, selection: Selection, *, title: str = "", copy: bool = False) -> Picture: ...


@overload
def show(image: Drawable) -> Picture: ...


def show(image: Any, selection: Selection | None = None, *, title: str = "", copy: bool = False) -> Picture:
    """Draws a selection over its image, as ``tvlm select --overlay`` does; or, of a pruned batch alone, what the model sees.

    What is drawn depends on the strategy: cells with frames in the colours of their ranks, squares of different sizes, or the
    thumbnail and the tiles of a budget. `copy` copies a tensor that is not on the CPU to the CPU, in full size.

    Errors: `ArgumentError` if the image has another size than the selection's; `OutOfMemoryError` if there is no memory for the
    picture, or if a side of it is above 32767 pixels.
    """
    if selection is None and hasattr(image, "report"):
        if image.report is None:
            raise ArgumentError("nothing was decided for this batch: it has no report to draw")
        drawn: Picture = image.report.draw()
        return drawn
    if not isinstance(selection, Selection):
        raise ArgumentTypeError(f"selection is {short(selection)}, not a texturevlm.Selection")
    picture = image_of(image, flag("copy", copy))
    if (picture.width, picture.height) != selection.image_size:
        raise ArgumentError(f"the image has {picture.width} x {picture.height} pixels, the selection's "
                            f"{selection.image_size[0]} x {selection.image_size[1]}")
    info = ffi.new("tvlm_selection_info *", {
        "width": picture.width, "height": picture.height, "strategy": selection._number, "thumbnail_cells": selection.first})
    info.overview_columns, info.overview_rows = selection.overview
    info.thumbnail_columns, info.thumbnail_rows = selection.thumbnail
    words = ffi.new("char[]", chars("title", title) or chars("title", _title(selection)))
    params = ffi.new("struct tvlm_draw_params *", {"title": words})
    params.columns, params.rows = selection.grid
    params.cell_width, params.cell_height = (
        stride * there / here for stride, there, here in zip(selection._stride, selection.image_size, selection.working_size))
    box = ffi.new("tvlm_image **")
    call(lib.tvlm_draw_selection, picture.c, info, positions_of(selection), len(selection), params, LOG, box)
    try:
        made = box[0]
        shape = (made.height, made.width, 3)
        return Picture(np.frombuffer(ffi.buffer(made.pixels, int(np.prod(shape))), np.uint8).reshape(shape).copy())
    finally:
        lib.tvlm_image_destroy(box)


def _title(selection: Selection) -> str:
    if selection.strategy == "budget":
        columns, rows = selection.thumbnail
        empty = f" {len(selection.empty)} empty," if len(selection.empty) else ""
        return f"{columns} x {rows} thumbnail,{empty} {len(selection) - selection.first} tiles"
    if not len(selection) or selection.cell[0, 0] < 0:
        return f"{len(selection)} squares"
    return f"{len(selection)} of {selection.grid[0] * selection.grid[1]} cells"


def export(images: ImageLike | list[Any] | tuple[Any, ...], model: Model = "qwen3-vl", *, budget: int | None = None, all: bool = False, video: bool = False,  # noqa: A002
           strategy: Strategy | None = None, share: float | None = None, tolerance: float | Literal["auto"] | None = None, emphasis: float | None = None,
           emphasis_channel: str | None = None, min_pixels: int | None = None, max_pixels: int | None = None, side: int | None = None,
           patch: int | None = None, pillow: int | None = None, selected_only: bool = False, overview: float | None = None,
           projection: Any = None, network: Any = None,
           features: Any = None, queries: Any = None, weights: Any = None, scorer: Any = None, format: Format = "auto",  # noqa: A002
           device: Device | str | None = None, copy: bool = False, errors: OnError = "raise") -> dict[str, Array]:
    """Makes the tensors that a vision-language model's own processor makes of images, and selects the tokens that matter.

    Parameters:
        images: an image as in `select`, or a list of images. With `video`, the frames of one video.
        model: ``"qwen3-vl"``, ``"qwen2.5-vl"``, ``"qwen2-vl"``, ``"llava"``, ``"siglip"``, ``"clip"``, ``"llava-onevision"`` or
            ``"internvl"``.
        budget: how many tokens are selected at most, over all images. None: a quarter of them.
        all: select every token.
        video: the images are the frames of one video.
        strategy: ``"grid"`` selects the best tokens. ``"budget"`` makes several pictures of each image for Qwen-VL, and selects
            crops for ``"llava-onevision"`` and ``"internvl"``, which take no other strategy. None: budget for these two, with a
            tolerance or an emphasis, and with a share of pictures of Qwen-VL; else grid.
        share, tolerance: in place of `budget`. `share` is one of the tokens or crops of each image, with any strategy. With
            `tolerance`, each image gets as few tokens or crops as lose at most this share, as in `select`. It is for the strategy
            budget, which it chooses if none is named; for models of one square, for videos and for the strategy grid it is refused.
        emphasis, emphasis_channel: for the strategy budget, as in `select`.
        min_pixels, max_pixels: for Qwen-VL: the limits of a picture's size.
        side, patch: for the other models: the side of the processed picture and of a patch.
        features: for each image an array [rows, columns, D]; for a single image one array.
        queries: for each image a vector or a `Query`; for a single image one of these.
        pillow: the version of Pillow whose resize is reproduced; from 13 on, Pillow does its two passes in another order. None:
            the versions before 13.
        overview: for the strategy grid of Qwen-VL: the share of the tokens, 0 to 1, that are a small picture of the whole image.
            That picture comes first.
        selected_only: leave out pixel_values, which take most of the memory.
        projection: a `Projection`. It adds the array ``visual_tokens``: the result of the projection for each chosen token. A
            projection with a basis needs features.
        network: a `Network`, or the path of its file. Its outputs are channels, which a scorer, an emphasis or a projection may
            read.
        weights, scorer, format: as in `select`.
        errors: for a list. ``"raise"`` raises the error of the first image that cannot be read. ``"skip"`` leaves such an image
            out, with its features and its query, and writes the error to the logger ``texturevlm``. What numbers images then
            counts those that are left, and the array ``images`` says which places of the list they have.

    Gives a dict of NumPy arrays by name: ``pixel_values`` (float32), ``image_grid_thw``, ``selected_indices``,
    ``selected_pixel_values``, ``selected_positions``, ``selected_images``, ``selected_scores`` and ``scores``. With the strategy
    budget or an overview there are also ``picture_source`` and ``picture_scale``. include/texturevlm/export.h has the shapes.
    """
    several, selected_only = is_list(images), flag("selected_only", selected_only)
    skip, copy, given = on_error(errors), flag("copy", copy), list(images) if isinstance(images, (list, tuple)) else [images]
    if skip and (not several or video):
        raise ArgumentError("errors is for a list of images" + (", not for the frames of a video" if video else ""))
    if not given:
        raise ArgumentError("there are no images")
    grids = _each("features", features, several, len(given))
    asked = _each("queries", queries, several, len(given))
    params = ffi.new("struct tvlm_export_params *", {
        "model": choice("model", model, _names.MODELS), "all": flag("all", all), "video": flag("video", video),
        "format": choice("format", format, FORMATS), "strategy": strategy_number(strategy)})
    for name, value in (("budget", budget), ("min_pixels", min_pixels), ("max_pixels", max_pixels), ("side", side), ("patch", patch),
                        ("pillow", pillow)):
        if value is not None:
            setattr(params, name, integer(name, value, 1))
    spending = Choosing({"share": share, "tolerance": tolerance, "emphasis": emphasis, "emphasis_channel": emphasis_channel}).c
    params.spending = spending.budget
    keep: list[Any] = []
    if weights is not None:
        keep.append(values("weights", weights, (1,)))
        if keep[-1].shape[0] != 3:
            raise ArgumentError(f"weights are {keep[-1].shape[0]} numbers, not 3")
        params.score.weights = floats(keep[-1])
    if scorer is not None:
        keep.append(scorer_of(scorer))
        params.score.scorer = keep[-1]._pointer
    read = each(given, lambda _, one: image_of(one, copy), errors, False)
    pictures = [one for one in read if isinstance(one, Image)]
    left = [place for place, one in enumerate(read) if isinstance(one, Image)]
    if not left:
        raise ArgumentError(f"none of the {len(given)} images can be read; {read[0]}")
    array = ffi.new("tvlm_image[]", [picture.c[0] for picture in pictures])
    grid_array = query_array = ffi.NULL
    if grids is not None:
        grid_array = ffi.new("struct tvlm_grid_input[]", len(pictures))
        for i, grid in enumerate(grids[place] for place in left):
            if grid is not None:
                keep.append(values("features", grid, (3,), halves=True))
                grid_array[i] = _grid_input(keep[-1])[0]
    if asked is not None:
        query_array = ffi.new("struct tvlm_query[]", len(pictures))
        for i, query in enumerate(asked[place] for place in left):
            if query is not None:
                keep.append(query if isinstance(query, Query) else Query(query))
                query_array[i] = keep[-1]._pointer[0]
    target = device_of(device)
    handle = Handle(target._owner, "export").make(lib.tvlm_export_create, target._owner.pointer, params)
    try:
        if overview is not None:
            handle.call(lib.tvlm_export_set_overview, real("overview", overview))
        if projection is not None:
            handle.call(lib.tvlm_export_set_projection, projection_of(projection)._pointer)
        if network is not None:
            keep.append(network_of(network))
            handle.call(lib.tvlm_export_set_inputs, ffi.new("struct tvlm_export_inputs *", {"network": keep[-1]._pointer}))
        handle.call(lib.tvlm_export_run, array, len(pictures), grid_array, query_array)
        tensors = dict(_tensors(handle, selected_only))
        return {**tensors, "images": np.array(left, np.int64)} if skip else tensors
    finally:
        handle.close()


def _each(name: str, value: Any, several: bool, count: int) -> list[Any] | None:
    """The values of an argument that has one for each image, as a list; None if nothing was given."""
    if value is None:
        return None
    if not several:
        return [value]
    if not is_list(value) or len(value) != count:
        raise ArgumentError(f"there are {count} images: {name} must be a list of as many")
    return list(value)


def _tensors(handle: Handle, selected_only: bool) -> Iterator[tuple[str, Array]]:
    about = ffi.new("tvlm_export_tensor *")
    with handle as exported:
        count = lib.tvlm_export_tensor_count(exported)
    for index in range(count):
        handle.call(lib.tvlm_export_get_tensor, index, about)
        if selected_only and text(about.name).startswith("pixel_values"):
            continue
        out = np.empty(tuple(about.shape[0:about.rank]), np.int64 if about.integer else np.float32)
        handle.call(lib.tvlm_export_read, index, out.nbytes, ffi.cast("void *", out.__array_interface__["data"][0]))
        yield text(about.name), out
