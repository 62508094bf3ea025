# SPDX-License-Identifier: Apache-2.0
"""Stacks, which hold everything that is known about an image; and sessions, which keep stacks."""
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _names
from ._arguments import (Array, channel, channel_names, channels, chars, choice, flag, floats, host, integer, known, pairs, real,
                         short, values)
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, Bound, Handle, Lent
from ._device import Device, device_of
from ._image import Fit, Image, image_of
from ._options import PREDICT, STACK, Choosing, StackParams, choosing, early, query_of, scorer_of
from ._prediction import Prediction, predict
from ._selection import Origin, Selection, origin_of
from ._types import Border, ImageLike, Reduction

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ._basis import Basis
    from ._vocab import Vocab
    from ._options import PredictOptions, SelectOptions, StackOptions

# The channels that the default score reads. If something else is read, its channel is made then.
SCORED = "edges,saliency,eccentricity,entropy"


class Merged(NamedTuple):
    """Tokens that were merged along the positions of a selection."""

    tokens: Array
    """float32 [K, D]: the mean of the tokens that each position stands for; 0 where it stands for none."""
    xy: Array
    """float32 [K, 2]: their mean place, in columns and rows of the tokens' grid; the first token is at 0, 0."""
    counts: Array
    """int32 [K]: how many they are."""


class Stack(Bound):
    """Everything that is known about one image, made once and read by every question.

    Parameters:
        image: an image in any form that texturevlm.select takes.
        device: a `Device`, or a device's name. None: the device that all calls share.
        copy: as in texturevlm.select.
        layout: the channels that the method `channels` gives: the name of a layout, or names of channels. Any other channel is
            made when it is read.
        size: (width, height) of the working image. None: the image's own size, or, with a warning, the largest that the device
            holds.
        max_side: the longest side that the working image may have, in place of `size`.
        format: how texels are stored. ``"f16"`` is half and ``"f32"`` float. ``"auto"`` is half on a GPU and float on a CPU.
            ``"u8"`` is bytes, which take half the memory of half, for layouts whose channels lie within 0 .. 1 or -1 .. 1;
            identifiers are then stored as half.
        fixation: x and y of the place from which eccentricity is measured, in pixels of the working image. None: the centre.
        clusters: how many regions there are to be. None: 50.
        compactness: how compact the regions are. None: 10.
        memory_max: how many bytes of the device's memory the stack may take.
        network: a `Network`, or the path of its file. Its outputs are channels, which also have the names that the network gives
            them.

    There are three ways to read channels: `channels` gives several at one size, `read` gives one at its own size, and `sample`
    gives several at points.
    """

    def __init__(self, image: ImageLike | Image, *, device: Device | str | None = None, copy: bool = False,
                 **options: Unpack[StackOptions]) -> None:
        known(dict(options), STACK)
        params = StackParams(dict(options))
        self._device = device_of(device)

        picture = image_of(image, flag("copy", copy), _fit(self._device, params))
        self._handle: Handle | Lent = Handle(self._device._owner, "stack")
        self._handle.make(lib.tvlm_stack_create_for_image, self._device._owner.pointer, picture.c, params.c)
        self._note(origin_of(image, picture))

    def _note(self, origin: Origin) -> None:
        """Keeps what questions need to know about the picture that was put in.

        If other threads can see the stack, the caller must have entered it before it put the picture in.
        """
        self._image_size, self._origin = origin.size, origin
        info = ffi.new("tvlm_stack_info *")
        self._call(lib.tvlm_stack_get_info, info)
        self._working = (info.width, info.height)
        self._levels = info.levels

    @classmethod
    def _wrap(cls, device: Device, handle: Any, origin: Origin) -> Stack:
        """A stack that belongs to a session or a stream."""
        stack = cls.__new__(cls)
        stack._device, stack._handle = device, handle
        stack._note(origin)
        return stack

    def _call(self, function: Any, *arguments: Any, made: Any = None) -> Any:
        return self._handle.call(function, *arguments, made=made)

    # ---- What it is ----

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the working image."""
        return self._working

    @property
    def image_size(self) -> tuple[int, int]:
        """Width and height of the image as it was handed in."""
        return self._image_size

    @property
    def levels(self) -> int:
        """How many levels the image has. Level 0 is the working image, and each further level has half the sides."""
        return int(self._levels)

    @property
    def bytes(self) -> int:
        """All device memory that the stack takes now, in bytes."""
        with self._handle as stack:
            return int(lib.tvlm_stack_bytes(stack))

    @property
    def layout(self) -> list[str]:
        """The names of the layout's channels."""
        with self._handle as stack:
            count = ffi.new("int32_t *")
            numbers = lib.tvlm_stack_channels(stack, count)
            return channel_names(list(numbers[0:count[0]]), stack)

    def has(self, name: str) -> bool:
        """Whether a channel has an input: pixels, or something that was handed in. A channel without one is 0 everywhere."""
        answer = ffi.new("bool *")
        with self._handle:
            self._call(lib.tvlm_stack_has_channel, 0, self._channel(name), answer)
        return bool(answer[0])

    def _channel(self, name: str) -> int:
        with self._handle as stack:
            return channel(name, stack)

    # ---- Pixels ----

    def set_image(self, image: ImageLike, *, copy: bool = False) -> None:
        """Puts another image into the stack. If it has another size, it is resampled to the working size."""
        picture = image_of(image, flag("copy", copy), lambda width, height: self._working)
        with self._handle:
            self._call(lib.tvlm_stack_set_image, 0, picture.c)
            self._note(origin_of(image, picture))

    def set_fixation(self, x: float, y: float) -> None:
        """Moves the place from which eccentricity is measured, in pixels of the working image."""
        self._call(lib.tvlm_stack_set_fixation, real("x", x), real("y", y))

    def set_reduce(self, reduce: Literal["mean", "gaussian"]) -> None:
        """Chooses how levels are made, for channels whose levels are means.

        ``"mean"`` is what a stack begins with. ``"gaussian"`` aliases less and blurs more.
        """
        self._call(lib.tvlm_stack_set_reduce, choice("reduce", reduce, _names.REDUCTIONS))

    def set_rope(self, theta: float = 10000.0, dimension: int = 64, patch: float = 16.0) -> None:
        """Sets the numbers of the channels ``rope_x_cos_k``, ``rope_x_sin_k``, ``rope_y_cos_k`` and ``rope_y_sin_k``.

        ``rope_x_cos_k`` is 0.5 + 0.5 cos(p theta^(-2k / dimension)), where p is x / `patch`, the position in patches. `patch` is
        in pixels of the working image. The channels with sin have the sine in place of the cosine, and those of y have y in place
        of x.
        """
        params = ffi.new("struct tvlm_rope_params *", {
            "theta": real("theta", theta, 1.0, above=True), "dimension": integer("dimension", dimension, 2, 128),
            "patch": real("patch", patch, 0.0, above=True)})
        self._call(lib.tvlm_stack_set_rope, params)

    # ---- What is handed in ----

    def set_grid(self, name: str, grid: Any, *, cell: float | None = None, camera: tuple[float, float, float, float] | None = None,
                 replace_nonfinite: bool = False) -> None:
        """Hands in a channel or a family: attention, gaze, depth, masks, embeddings, features, flow (texturevlm/input.h).

        Parameters:
            name: ``"attention"``, ``"depth"``, ``"embedding_0"``, ``"feature_0"``, ``"flow_u"``, ``"saliency"``, ...
            grid: an array [rows, columns] or [rows, columns, channels] over the whole image. float32 and float16 are taken as
                they are; all other numbers become float32.
            cell: how many pixels of the working image a cell covers, if the grid does not cover the image exactly.
            camera: for depth: fx, fy, cx and cy in pixels of the working image.
            replace_nonfinite: NaN and infinite values become 0. Otherwise they are refused.
        """
        array = values(name if isinstance(name, str) else "a grid", grid, (2, 3), halves=True)
        with self._handle:
            self._call(lib.tvlm_stack_set_grid, 0, self._channel(name), _grid_input(array, cell, camera, replace_nonfinite))

    def set_plane(self, name: str, grid: Any, *, low: float = 0.0, high: float = 0.0, reduce: Reduction = "mean",
                  cell: float | None = None) -> None:
        """Hands in a channel of your own, float [rows, columns]. From then on `name` stands for it wherever channels are named.

        Parameters:
            low, high: values are clamped to low .. high. If both are 0, they are not clamped.
            reduce: how coarser levels are made: ``"mean"``, ``"max"``, ``"min"``, ``"mode"`` or ``"gaussian"``.
            cell: as in `set_grid`.
        """
        array = values("a plane", grid, (2,), halves=True)
        self._call(lib.tvlm_stack_set_user, 0, chars("name", name), real("low", low), real("high", high),
                   choice("reduce", reduce, _names.REDUCTIONS), _grid_input(array, cell), ffi.NULL)

    def set_features(self, features: Any, *, patch: float | None = None) -> None:
        """Hands in an encoder's own vectors, float [rows, columns, D]: one for each cell of a grid over the image.

        `patch` is needed if the grid does not cover the image exactly. It says how many pixels a cell covers, in pixels of the
        image as it was handed in.
        """
        pixels = None if patch is None else real("feature_patch", patch, 0.0, above=True)
        array = values("features", features, (3,), halves=True)
        with self._handle:
            cell = None if pixels is None else pixels * self._working[0] / self._image_size[0]
            self._call(lib.tvlm_stack_set_grid, 0, lib.TVLM_CHANNEL_FEATURE_0, _grid_input(array, cell))

    def set_labels(self, labels: Any | None) -> None:
        """Divides the image into given regions, in place of those of SLIC. None brings back SLIC.

        `labels` is an int array [rows, columns], from SAM or any other segmenter.
        """
        if labels is None:
            self._call(lib.tvlm_stack_set_labels, 0, ffi.NULL, 0, 0, 0)
            return
        array = host("labels", labels)
        if array.dtype.kind not in "iub" or array.ndim != 2:
            raise ArgumentError(f"labels have the dtype {array.dtype} and {array.ndim} dimensions; they must be whole numbers in 2")
        if array.size and (int(array.min()) < -2**31 or int(array.max()) >= 2**31):
            raise ArgumentError("labels do not fit into 32 bits")
        array = np.ascontiguousarray(array, dtype=np.int32)
        self._call(lib.tvlm_stack_set_labels, 0, ffi.cast("int32_t *", array.__array_interface__["data"][0]), array.shape[1],
                   array.shape[0], 0)

    def clear(self, name: str) -> None:
        """Takes back what was handed in for a channel."""
        with self._handle:
            self._call(lib.tvlm_stack_clear_grid, 0, self._channel(name))

    def embed(self, basis: Basis) -> None:
        """Makes the coordinates of the features in `basis` the image's embedding, for queries with ``basis=``."""
        from ._basis import Basis
        if not isinstance(basis, Basis):
            raise ArgumentTypeError(f"basis is {short(basis)}, not a texturevlm.Basis")
        self._call(lib.tvlm_stack_embed, 0, basis._pointer)

    def assign(self, vocab: Vocab) -> None:
        """Finds the nearest centre of a vocabulary for each vector of the features.

        The number of that centre becomes the channel ``vocab_id``, and the distance to it the channel ``vocab_residual``. More
        than 2049 centres need a stack of ``format="f32"``.
        """
        from ._vocab import Vocab
        if not isinstance(vocab, Vocab):
            raise ArgumentTypeError(f"vocab is {short(vocab)}, not a texturevlm.Vocab")
        self._call(lib.tvlm_stack_assign, 0, vocab._pointer)

    # ---- What it answers ----

    def select(self, k: int | None = None, **options: Unpack[SelectOptions]) -> Selection:
        """Selects the positions that matter. `texturevlm.select` documents the options."""
        with self._handle as stack:
            return answer(self._device, stack, choosing({"k": k, **options}, stack), self._origin, self._working)

    def _select(self, chosen: Choosing) -> Selection:
        with self._handle as stack:
            return answer(self._device, stack, chosen.finish(stack), self._origin, self._working)

    def predict(self, pictures: Sequence[tuple[int, int]], **options: Unpack[PredictOptions]) -> Prediction:
        """Predicts what pictures of the image would lose. `texturevlm.predict` documents the parameters."""
        known(dict(options), PREDICT)
        with self._handle as stack:
            chosen = choosing({"strategy": "budget", **options}, stack)
            hand_in(self._device, stack, chosen, self._origin, self._working)
            return predict(stack, chosen, pictures)

    def scores(self, query: Any = None, *, stride: float | None = None, weights: Any = None, scorer: Any = None,
               level: int | None = None, keep_pass: bool = False) -> Array:
        """Scores each cell: how much it matters. Gives float32 [rows, columns].

        A cell has a side of `stride` pixels (None: 16). With `level`, each texel of that level is scored instead.
        """
        options = {"query": query, "stride": stride, "weights": weights, "scorer": scorer, "keep_pass": keep_pass, "level": level}
        if level is not None:
            options["strategy"] = "exhaustive"
        chosen = choosing({name: value for name, value in options.items() if value is not None})
        columns, rows = ffi.new("int32_t *"), ffi.new("int32_t *")
        params = ffi.addressof(chosen.c, "score")
        with self._handle:
            self._call(lib.tvlm_score_size, params, columns, rows)
            out = np.empty((rows[0], columns[0]), np.float32)
            self._call(lib.tvlm_score, chosen.query, params, out.size, floats(out))
        return out

    def channels(self, names: Any = None, *, level: float = 0, size: tuple[int, int] | None = None) -> Array:
        """Gives channels, all at the size of a level of the image, or at `size` (width, height): float32 [C, height, width].

        `names` is a list of names, or one string: names as in ``"r,g,b"``, or the name of a layout. None: the stack's layout.
        """
        with self._handle as stack:
            numbers = channels(names, stack) if names is not None else []
            array = ffi.new("int32_t[]", numbers) if numbers else ffi.NULL
            params = ffi.new("struct tvlm_pack_params *", {
                "channels": array, "channel_count": len(numbers), "level": real("level", level, 0.0)})
            if size is not None:
                sides = StackParams({"size": size}).c
                params.width, params.height = sides.width, sides.height
            packed = Handle(self._device._owner, "packed").make(lib.tvlm_stack_pack, stack, params)
            width, height, count = (ffi.new("int32_t *") for _ in range(3))
            packed.call(lib.tvlm_packed_size, width, height, count)
            out = np.empty((count[0], height[0], width[0]), np.float32)
            packed.call(lib.tvlm_packed_read, 0, out.size, floats(out))
            packed.close()
        return out

    def read(self, name: str, level: int = 0) -> Array:
        """Reads one channel at its own size: float32 [height, width]. `level` counts the channel's own levels."""
        depth = integer("level", level)
        width, height = ffi.new("int32_t *"), ffi.new("int32_t *")
        with self._handle:
            number = self._channel(name)
            self._call(lib.tvlm_stack_channel_size, number, depth, width, height)
            out = np.empty((height[0], width[0]), np.float32)
            self._call(lib.tvlm_stack_read, 0, number, depth, out.size, floats(out))
        return out

    def sample(self, points: Any, names: Any = None, *, level: Any = 0) -> Array:
        """Samples channels at points: float32 [n, C].

        `points` [n, 2] are in pixels of the working image. `level` is one level for all points, or [n]. `names` of None are the
        channels of the stack's layout.
        """
        at = pairs("points", points)
        levels = values("level", level, (0, 1))
        if levels.ndim == 1 and levels.shape != at.shape[:1]:
            raise ArgumentError(f"there are {levels.shape[0]} levels and {at.shape[0]} points")
        rows = np.zeros((at.shape[0], 4), np.float32)
        rows[:, :2], rows[:, 2] = at, levels
        with self._handle as stack:
            numbers = channels(names if names is not None else self.layout, stack)
            out = np.empty((at.shape[0], len(numbers)), np.float32)
            if out.size:
                self._call(lib.tvlm_stack_sample, ffi.cast("tvlm_sample_point *", floats(rows)), at.shape[0],
                           ffi.new("int32_t[]", numbers), len(numbers), floats(out))
        return out

    def patches(self, positions: Any, *, side: int = 16, channels: Any = None, mean: Any = None, deviation: Any = None,
                dtype: Any = np.float32, border: Border = "clamp") -> Array:
        """Cuts squares out around positions, ready for an encoder. `texturevlm.patches` documents the parameters."""
        numbers, keep = [], []
        half = dtype_of(dtype) == np.float16
        params = ffi.new("struct tvlm_patches_params *", {
            "side": integer("side", side, 1, 1024), "border": choice("border", border, _names.BORDERS),
            "format": lib.TVLM_FORMAT_F16 if half else lib.TVLM_FORMAT_F32})
        pointer, count, kept = _positions(positions)
        with self._handle as stack:
            numbers = _numbers(channels, stack)
            if numbers:
                keep.append(ffi.new("int32_t[]", numbers))
                params.channels, params.channel_count = keep[-1], len(numbers)
            for name, value in (("mean", mean), ("deviation", deviation)):
                if value is not None:
                    array = values(name, value, (1,))
                    if array.shape[0] != (len(numbers) or 3):
                        raise ArgumentError(f"{name} has {array.shape[0]} values; there are {len(numbers) or 3} channels")
                    keep.append(array)
                    setattr(params, name, floats(array))
            out = np.empty((count, len(numbers) or 3, params.side, params.side), np.float16 if half else np.float32)
            if count:
                self._call(lib.tvlm_patches_extract, pointer, count, params, out.nbytes,
                           ffi.cast("void *", out.__array_interface__["data"][0]))
        return out

    def similarity(self, vectors: Any) -> Array:
        """Computes the cosines of the features with vectors [N, D]: float32 [N, rows, columns]."""
        array = values("vectors", vectors, (1, 2))
        array = array.reshape(-1, array.shape[-1]) if array.size else array.reshape(0, 1)
        if not array.size:
            raise ArgumentError("vectors have no values")
        width, height = ffi.new("int32_t *"), ffi.new("int32_t *")
        with self._handle:
            self._call(lib.tvlm_stack_channel_size, lib.TVLM_CHANNEL_FEATURE_0, 0, width, height)
            out = np.empty((array.shape[0], height[0], width[0]), np.float32)
            self._call(lib.tvlm_similarity, 0, floats(array), array.shape[0], array.shape[1], out.size, floats(out))
        return out

    @property
    def features_shape(self) -> tuple[int, int, int]:
        """Rows, columns and dimension of the features that were handed in."""
        columns, rows, dimension = (ffi.new("int32_t *") for _ in range(3))
        self._call(lib.tvlm_stack_get_features, 0, columns, rows, dimension)
        return rows[0], columns[0], dimension[0]

    def merge_tokens(self, selection: Selection, *, whole: bool = False) -> Merged:
        """Takes the features for an encoder's tokens, and merges them along the squares of a selection of this image.

            stack.set_features(tokens)                                   # [rows, columns, D], what the encoder gives
            merged = stack.merge_tokens(stack.select(64, strategy="quadtree"))

        Each token belongs to one position: the smallest in whose square the centre of the token lies. Each position gets the mean
        of its tokens. With `whole`, each position gets all tokens of its square, also those that lie in other squares. Tokens
        that lie in no square, as with the strategy ``"grid"``, are left out (include/texturevlm/lab/merge.h).
        """
        if not isinstance(selection, Selection):
            raise ArgumentTypeError(f"selection is {short(selection)}, not a texturevlm.Selection")
        if selection._pointer is None:
            raise ArgumentError("the selection is a part of another one, or was pickled: tokens are merged by one that a stack made")
        params = ffi.new("struct tvlm_merge_params *", {"whole": flag("whole", whole)})
        count = len(selection)
        with self._handle:
            out = np.empty((count, self.features_shape[2]), np.float32)
            merged = ffi.new("tvlm_merged_token[]", max(count, 1))
            self._call(lib.tvlm_merge_tokens, selection._pointer, params, out.size, floats(out), merged)
        rows = [(token.x, token.y, token.count) for token in merged[0:count]]
        return Merged(out, np.array([row[:2] for row in rows], np.float32).reshape(-1, 2), np.array([row[2] for row in rows], np.int32))

    def labels(self) -> Array:
        """int32 [height, width]: the region of every pixel of the working image."""
        out = np.empty((self._working[1], self._working[0]), np.int32)
        self._call(lib.tvlm_stack_labels, 0, out.size, ffi.cast("int32_t *", out.__array_interface__["data"][0]))
        return out

    # ---- From frame to frame ----

    def update_image(self, image: ImageLike, *, threshold: float = 0.0, copy: bool = False) -> dict[str, Any]:
        """Puts in the next frame of a video. Only what changed is uploaded and made again.

        A tile has changed if it differs by more than `threshold` (0 .. 1). `VideoStream` calls this by itself. Gives a dict:

        - ``tiles``: how many tiles were compared;
        - ``changed``: how many of them changed;
        - ``whole``: whether the frame was taken whole, without a comparison;
        - ``bytes_uploaded``: how many bytes of pixels were uploaded.
        """
        picture = image_of(image, flag("copy", copy), lambda width, height: self._working)
        params = ffi.new("struct tvlm_update_params *", {"threshold": real("threshold", threshold, 0.0)})
        report = ffi.new("tvlm_delta_report *")
        with self._handle:
            self._call(lib.tvlm_stack_update_image, 0, picture.c, params, report)
            self._note(origin_of(image, picture))
        return {"tiles": report.tiles, "changed": report.changed, "whole": bool(report.whole),
                "bytes_uploaded": report.bytes_uploaded}

    def advance(self) -> None:
        """Makes the present image the previous one. Motion, and what was looked at, then refer to it."""
        self._call(lib.tvlm_stack_advance, 0, ffi.NULL)

    def forget(self) -> None:
        """Forgets the previous image, as after a cut."""
        self._call(lib.tvlm_stack_forget, 0)

    def close(self) -> None:
        """Releases the stack. Selections that were made from it stay.

        If another thread is in a call on the stack, waits for the end of that call.
        """
        self._handle.close()

    def __enter__(self) -> Stack:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<texturevlm.Stack of {self._working[0]} x {self._working[1]} on {self._device.name!r}>"


def _fit(device: Device, params: StackParams) -> Fit:
    """A function from the size of an image to the working size of a stack with these parameters."""
    def fit(width: int, height: int) -> tuple[int, int]:
        if params.c.width > 0:
            return params.c.width, params.c.height
        sides = ffi.new("int32_t[2]", [width, height])
        device._call(lib.tvlm_stack_largest_size, device._owner.pointer, params.c, sides, sides + 1)
        return sides[0], sides[1]
    return fit


def dtype_of(dtype: Any) -> Any:
    """float32 or float16, given by any of NumPy's names for them."""
    try:
        found = np.dtype(dtype)
    except Exception:  # a foreign object may raise anything when NumPy asks it
        found = None
    if found not in (np.float32, np.float16):
        raise ArgumentTypeError(f"dtype is {short(dtype)}; it must be float32 or float16")
    return found


def _numbers(names: Any, stack: Any) -> list[int]:
    return channels(names, stack) if names is not None else []


def _grid_input(array: Array, cell: float | None = None, camera: Any = None, replace: bool = False) -> Any:
    fields: dict[str, Any] = {
        "data": ffi.cast("void *", array.__array_interface__["data"][0]), "rows": array.shape[0], "columns": array.shape[1],
        "channels": array.shape[2] if array.ndim == 3 else 1,
        "type": lib.TVLM_VALUE_F16 if array.dtype == np.float16 else lib.TVLM_VALUE_F32,
        "replace_nonfinite": flag("replace_nonfinite", replace)}
    if 0 in array.shape:
        raise ArgumentError(f"a grid has the shape {array.shape}: there is nothing in it")
    if cell is not None:
        fields["cell"] = real("cell", cell, 0.0, above=True)
    if camera is not None:
        numbers = values("camera", camera, (1,))
        if numbers.shape[0] != 4:
            raise ArgumentError("camera is fx, fy, cx, cy")
        fields.update(zip(("fx", "fy", "cx", "cy"), map(float, numbers)))
    return ffi.new("struct tvlm_grid_input *", fields)


def _positions(positions: Any) -> tuple[Any, int, Any]:
    """Positions as the library takes them, from a `Selection` or from an array [n, 3] of x, y and size."""
    if isinstance(positions, Selection):
        return positions_of(positions), len(positions), positions
    array = values("positions", positions, (2,))
    if array.shape[1] != 3:
        raise ArgumentError(f"positions have the shape {array.shape}; they are a Selection, or (n, 3): x, y and size of each")
    rows = ffi.new("tvlm_position[]", max(array.shape[0], 1))
    for row, (x, y, size) in zip(rows, array):
        row.x, row.y, row.size = x, y, size
    return rows, array.shape[0], rows


def positions_of(selection: Selection) -> Any:
    """The positions of a selection as the library takes them. They are valid while the selection lives."""
    return ffi.cast("tvlm_position *", selection._rows.__array_interface__["data"][0])


def cells(device: Device, stack: Any, chosen: Choosing, budget: bool) -> tuple[int, int]:
    """The rows and columns of the candidates: for a budget its tiles of level 0."""
    columns, rows = ffi.new("int32_t *"), ffi.new("int32_t *")
    score = ffi.new("struct tvlm_score_params *", chosen.c.score)
    if budget:
        score.stride, score.dense, score.keep_pass = chosen.c.patch, False, False
        score.weights = score.scorer = ffi.NULL
    device._call(lib.tvlm_score_size, stack, score, columns, rows)
    return rows[0], columns[0]


def hand_in(device: Device, stack: Any, chosen: Choosing, origin: Origin, working: tuple[int, int], usual: bool = True) -> None:
    """Puts what the choice says of places of the image, and its scores, into the stack's terms.

    `usual`: the default strategy is the budget. It is the grid with an overview, and in a stream.
    """
    chosen.place(origin.size, working)
    if chosen.scores is not None:
        strategy = chosen.c.strategy
        default = strategy == lib.TVLM_STRATEGY_DEFAULT and usual and chosen.c.best.overview == 0
        chosen.hand_in(*cells(device, stack, chosen, default or strategy == lib.TVLM_STRATEGY_BUDGET))


def answer(device: Device, stack: Any, chosen: Choosing, origin: Origin, working: tuple[int, int], choose: Any = None) -> Selection:
    """Selects by `choose` (None: tvlm_select). The caller holds the device's lock."""
    hand_in(device, stack, chosen, origin, working, choose is None)
    box = ffi.new("tvlm_selection **")
    made: list[Selection] = []

    def take() -> None:
        count = ffi.new("int32_t *")
        layout = lib.tvlm_stack_channels(stack, count)
        made.append(Selection(box[0], working, origin, device.name, list(layout[0:count[0]])))

    if choose is None:
        device._call(lib.tvlm_select, stack, chosen.query, chosen.c, box, made=take)
    else:
        choose(chosen, box, take)
    selection = made[0]
    selection.grid = cells(device, stack, chosen, selection._number == lib.TVLM_STRATEGY_BUDGET)[::-1]
    if chosen.c.score.dense:
        selection._stride = (working[0] / selection.grid[0], working[1] / selection.grid[1])
    else:
        side = (chosen.c.patch if selection._number == lib.TVLM_STRATEGY_BUDGET else chosen.c.score.stride) or 16.0
        selection._stride = (side, side)
    return selection._freeze()


class Session(Bound):
    """Keeps stacks from question to question: for many questions about many images.

        session = tv.Session()
        for image, query in questions:
            selection = session.select(image, query=query, features=features_of(image))

    A session finds a stack again by the content of its image. All that was made for that stack, or handed in to it, is then still
    there. If the stacks take more than `cache_bytes` of the device's memory (None: half of it), the stack that was asked for
    longest ago is released first.
    """

    def __init__(self, *, device: Device | str | None = None, cache_bytes: int | None = None) -> None:
        params = ffi.new("struct tvlm_session_params *")
        if cache_bytes is not None:
            params.cache_bytes = integer("cache_bytes", cache_bytes, 1, 2**63)
        self._device = device_of(device)
        self._handle = Handle(self._device._owner, "session").make(lib.tvlm_session_create, self._device._owner.pointer, params)

    def select(self, image: ImageLike, k: int | None = None, *, features: Any = None, feature_patch: float | None = None,
               copy: bool = False, stack: StackOptions | None = None, **options: Unpack[SelectOptions]) -> Selection:
        """Selects the positions of an image that matter, as texturevlm.select does. `stack` is a dict of options of `Stack`."""
        if stack is not None and not isinstance(stack, dict):
            raise ArgumentTypeError(f"stack is {short(stack)}, not a dict of options of texturevlm.Stack")
        stack_options: dict[str, Any] = {"layout": SCORED, **(stack or {})}
        known(stack_options, STACK)
        chosen = early({"k": k, **options}, stack_options)
        params = StackParams(stack_options)
        picture = image_of(image, flag("copy", copy), _fit(self._device, params))
        array = None if features is None else values("features", features, (3,), halves=True)
        key = b"" if array is None else hashlib.sha256(repr((array.shape, array.dtype, feature_patch)).encode()
                                                       + array.tobytes()).digest()
        box = ffi.new("tvlm_stack **")
        with self._handle as session:
            self._handle.call(lib.tvlm_session_stack, picture.c, params.c, key or ffi.NULL, len(key), box, ffi.NULL)
            found = Stack._wrap(self._device, Lent(self._handle, box[0]), origin_of(image, picture))
            if array is not None and not found.has("feature_0"):
                found.set_features(array, patch=feature_patch)
            try:
                return found._select(chosen)
            finally:
                lib.tvlm_session_trim(session)

    @property
    def info(self) -> dict[str, int]:
        """Numbers about the session: ``hits``, ``misses``, ``evictions``, ``stacks``, ``bytes`` and ``cache_bytes``.

        The first three count how often a stack was found, made and released so far. ``stacks`` are kept now; they take ``bytes``
        of at most ``cache_bytes``.
        """
        info = ffi.new("tvlm_session_info *")
        self._handle.call(lib.tvlm_session_get_info, info)
        return {name: int(getattr(info, name)) for name in ("hits", "misses", "evictions", "stacks", "bytes", "cache_bytes")}

    def close(self) -> None:
        """Releases the session and all its stacks. If another thread is in a call on it, waits for the end of that call."""
        self._handle.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
