# SPDX-License-Identifier: Apache-2.0
"""The calls that need no object: one image, one answer."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ._arguments import Array, channels as numbers_of, flag, floats, integer, known, values
from ._batch import channels_of_all
from ._binding import ffi, lib
from ._core import ArgumentError, Error, Handle
from ._device import Device, device_of
from ._each import Progress, checked, each, on_error
from ._image import is_list, listed
from ._network import network_of
from ._options import SELECT, STACK, Choosing, StackParams, scorer_of
from ._selection import Selection
from ._stack import SCORED, Stack
from ._types import Border, ImageLike, OnError, Strategy

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ._options import ChannelOptions, MoreOptions, SelectOptions, StackOptions

    class _Options(MoreOptions, StackOptions, total=False):
        pass

    class _Asked(SelectOptions, StackOptions, total=False):
        features: Any
        feature_patch: float | None
        device: Device | str | None
        copy: bool


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the choice, and those of the stack."""
    known(options, SELECT + STACK)
    stack = {name: value for name, value in options.items() if name in STACK and value is not None}
    return {name: value for name, value in options.items() if name in SELECT}, stack


@overload
def select(image: list[Any] | tuple[Any, ...], k: int | None = None, *, errors: Literal["raise"] = "raise", progress: Progress = None,
           **options: Unpack[_Asked]) -> list[Selection]: ...


@overload
def select(image: list[Any] | tuple[Any, ...], k: int | None = None, *, errors: Literal["skip"], progress: Progress = None,
           **options: Unpack[_Asked]) -> list[Selection | Error]: ...


@overload
def select(image: ImageLike, k: int | None = None, *, errors: Literal["skip"], progress: Progress = None,
           **options: Unpack[_Asked]) -> list[Selection | Error]: ...  # of a batch, whose dimensions no type tells


@overload
def select(image: ImageLike, k: int | None = None, *, errors: Literal["raise"] = "raise", progress: Progress = None,
           **options: Unpack[_Asked]) -> Selection: ...


def select(image: Any, k: int | None = None, *, share: float | None = None, tolerance: float | Literal["auto"] | None = None,
           query: Any = None, features: Any = None, overview: float | None = None, strategy: Strategy | None = None,
           feature_patch: float | None = None, device: Device | str | None = None, copy: bool = False,
           errors: OnError = "raise", progress: Progress = None, **options: Unpack[_Options]) -> Selection | Sequence[Selection | Error]:
    """Selects the positions of an image that matter.

        selection = texturevlm.select("photo.jpg")
        selection.xy, selection.scores       # 273 centres in pixels: a thumbnail's cells, then tiles, the best first

    Parameters:
        image: a NumPy array (H, W), (H, W, C) or (C, H, W) of uint8, uint16 or float (0 .. 1), with C = 1 gray, 2 gray + alpha, 3
            RGB, 4 RGBA (a shape that fits both is taken for (H, W, C)); a PIL image; a path (JPEG, PNG, BMP, PPM, PGM, turned
            by its EXIF orientation, which PIL leaves to you: PIL.ImageOps.exif_transpose); such a file's bytes, or the file, open
            in binary mode; a tensor on the CPU (DLPack), of bfloat16 too; or a list of these, or a batch (N, C, H, W) or
            (N, H, W, C), which gives a list of selections. Floats outside 0 .. 1 are refused, or where they hardly are, cut off with a
            warning; uint16 that is nearly black (bytes, 12 bits) is warned of. (H, W, C) of uint8, uint16 or float32 is not copied before its
            upload, whatever the distance of its rows; all else is copied once. Alpha is composited on white, NaN is 0.
        k: how many positions; None: 273, or as many as there are cells.
        share, tolerance: in place of k, for ``budget``: the share of all patches (0 .. 1]; or the fewest patches that lose at
            most that share (0 .. 1) of what a thumbnail of one patch loses; ``"auto"``: as few as keep readable what can be read; 0:
            nothing is lost.
        query: what is looked for: vectors [D] or [N, D] of an encoder's text side, or a `Query`.
        features: the encoder's own vectors [rows, columns, D], of a list of images a list; `feature_patch`: pixels a cell
            covers, where the grid does not cover the image exactly.
        overview: the share of k, 0 .. 1, that shows the whole image coarsely and comes first.
        strategy: ``"grid"``, ``"foveated"``, ``"quadtree"``, ``"exhaustive"``, ``"cascade"`` or ``"budget"``; None: the library's default,
            as in ``tvlm select``.
        device: a `Device`, or its name, as ``"reference"``, which is opened once a process; None: the one that all calls share.
        errors: of a list: ``"raise"``, or ``"skip"``: an image that fails has its `Error` in the place of its selection, and the
            logger ``texturevlm`` is told. Options that no image could fit are refused before the first one is read.
        progress: of a list: True shows how far it is (by tqdm, where that is installed), None does so on a terminal after two
            seconds; or a function of how many are done, and of all.
        copy: brings a tensor that is not on the CPU there; it is refused otherwise. Where `size` or `max_side` say that less is
            enough, it is shrunk on its own device before.

    Further options, by keyword, of the choice (include/texturevlm/select.h says more of each):
        stride: side of a cell in pixels (16). patch: side of the encoder's patch (16), for ``budget`` a whole number
            from 4 to 64. min_distance: between positions.
        fixations: [n, 2], for ``foveated``: x, y in the image's pixels; e0, arrangement: how squares grow, and start.
        level: for ``exhaustive``. keep_regions, cull_distance, cover: for ``cascade``. diversity: 0 .. 1.
        emphasis, emphasis_channel: for ``budget``: how much a channel counts.
        weights: 3 numbers: information, perspective, participation. scorer: a `Scorer`, or its file.
        scores: numbers of your own to choose by, one for each candidate: [rows, columns].
        keep_scores: keeps `Selection.score_map`.
    and of the image's stack: layout, size, max_side, format, fixation, clusters, compactness, memory_max (see `Stack`).

    The result is that of ``tvlm select`` with the same options, to the bit.

    Errors: `Error`, which is also `ValueError` (a number outside its range, a shape, NaN where none may be), `TypeError` (a type or
    an unknown option), `FileNotFoundError` or `MemoryError`. It names what is wrong; nothing is left behind.
    """
    given = {"k": k, "share": share, "tolerance": tolerance, "query": query, "overview": overview, "strategy": strategy, **options}
    choice, stack = _split(given)
    flag("copy", copy)
    checked(progress)
    images = listed(image)
    if images is not None:
        on_error(errors)
        _check_for_all(choice, stack)
        if images:
            device = device_of(device)
            with device._owner:
                pass  # refuses one that is closed
        if features is not None and (not is_list(features) or len(features) != len(images)):
            raise ArgumentError(f"there are {len(images)} images: features must be a list of as many arrays")
        own = features if features is not None else [None] * len(images)
        return each(images, lambda place, one: _select_one(one, choice, stack, own[place], feature_patch, device, copy), errors, progress)
    if errors != "raise":
        raise ArgumentError("errors is for a list of images")
    return _select_one(image, choice, stack, features, feature_patch, device, copy)


def _check_for_all(choice: dict[str, Any], stack: dict[str, Any]) -> None:
    """Refuses what no image of a list could fit, before the first one is read, and reads the files that all of them need."""
    for options, name, read in ((choice, "scorer", scorer_of), (stack, "network", network_of)):
        if options.get(name) is not None:
            options[name] = read(options[name])
    Choosing(choice).check()
    StackParams(stack)
    if "network" not in stack and "layout" in stack:
        numbers_of(stack["layout"])


def _select_one(image: Any, choice: dict[str, Any], stack_options: dict[str, Any], features: Any, feature_patch: Any,
                device: Any, copy: bool) -> Selection:
    chosen = Choosing(choice).check()
    if features is not None:
        features = values("features", features, (3,), halves=True)
    with Stack(image, device=device, copy=copy, **{"layout": SCORED, **stack_options}) as stack:
        if features is not None:
            stack.set_features(features, patch=feature_patch)
        return stack._select(chosen)


@overload
def channels(image: list[Any] | tuple[Any, ...], names: Any = None, *, level: float = 0, size: None = None,
             device: Device | str | None = None, copy: bool = False, **options: Unpack[ChannelOptions]) -> list[Array]: ...


@overload
def channels(image: ImageLike, names: Any = None, *, level: float = 0, size: tuple[int, int] | None = None,
             device: Device | str | None = None, copy: bool = False, **options: Unpack[ChannelOptions]) -> Array: ...


def channels(image: Any, names: Any = None, *, level: float = 0, size: tuple[int, int] | None = None,
             device: Device | str | None = None, copy: bool = False, **options: Unpack[ChannelOptions]) -> Array | list[Array]:
    """float32 [C, height, width]: channels of an image, at the size of a level (0 is full size), or at `size`.

        edges, saliency = texturevlm.channels("photo.jpg", ["edges", "saliency"], level=2)

    Parameters:
        image: as in `select`. Of a list of images, of any sizes, it makes all in one batch, each to the bit as if it were alone,
            and gives a list of arrays. The options are layout, format and memory_max then, and the families those that such
            a batch can have (None: all of them).
        names: names of channels, or one string: ``"r,g,b"``, or a layout's name, such as ``"full40"`` (None). doc/channels.md
            defines each channel, its range and unit.
        level: 0 .. the coarsest; a fraction lies between two. `size`: (width, height) in place of a level's.
        options: those of `Stack`.

    Errors: `ArgumentError` (no such channel, with the nearest name; a level beyond the last).
    """
    images = listed(image)
    if images is not None:
        if size is not None:
            raise ArgumentError("size is for one image; those of a list keep their own")
        return channels_of_all(images, names, level, device, copy, dict(options))
    with Stack(image, device=device, copy=copy, **options) as stack:
        return stack.channels(names, level=level, size=size)


def patches(image: ImageLike, positions: Any, *, side: int = 16, channels: Any = None, mean: Any = None, deviation: Any = None,
            dtype: Any = np.float32, border: Border = "clamp", device: Device | str | None = None, copy: bool = False,
            **options: Unpack[StackOptions]) -> Array:
    """[n, C, side, side]: squares cut out around positions, ready for an encoder.

    Parameters:
        image: as in `select`.
        positions: a `Selection` of the image, or float [n, 3]: x, y and size of each, in the image's pixels. A budget's
            thumbnail is reduced by Lanczos' filter, as it is priced.
        side: texels, 1 .. 1024. Where a position's size is `side`, they are the image's pixels to the bit.
        channels: None: r, g, b, 0 .. 1. mean, deviation: [C], taken off, and divided by.
        dtype: float32 or float16. border: ``"clamp"`` or ``"reflect"``, beyond the image.

    Errors: `ArgumentError` (a position that is not finite, a size of 0, a deviation of 0).
    """
    asked: Any = {"layout": "r,g,b", **options}
    with Stack(image, device=device, copy=copy, **asked) as stack:
        return stack.patches(positions, side=side, channels=channels, mean=mean, deviation=deviation, dtype=dtype, border=border)


def scores(image: ImageLike, query: Any = None, *, features: Any = None, stride: float | None = None, weights: Any = None,
           scorer: Any = None, level: int | None = None, device: Device | str | None = None, copy: bool = False,
           **options: Unpack[StackOptions]) -> Array:
    """float32 [rows, columns]: how much each cell of `stride` (16) pixels of an image matters; with `level`, each texel of that
    level. The default score lies in 0 .. 1; a scorer's has any range. Parameters and errors as in `select`."""
    asked: Any = {"layout": SCORED, **options}
    with Stack(image, device=device, copy=copy, **asked) as stack:
        if features is not None:
            stack.set_features(features)
        return stack.scores(query, stride=stride, weights=weights, scorer=scorer, level=level)


def flow(image: ImageLike, other: ImageLike, *, full: bool = False, device: Device | str | None = None, copy: bool = False) -> Array:
    """float32 [rows, columns, 3]: dense optical flow from `image` to `other`, which have one size.

    Of each texel: u (to the right) and v (down), in pixels of the images, to where its place is in `other`; and a confidence of
    0 .. 1. The grid has half the images' size, with ``full=True`` all of it, and covers the whole image (texturevlm/flow.h says how
    far motion is found). For what moved in a video, `image` is the present frame and `other` the one before.

    Errors: `ArgumentError` (images of different sizes).
    """
    target = device_of(device)
    with Stack(image, device=target, copy=copy, layout="r,g,b") as a, Stack(other, device=target, copy=copy, layout="r,g,b") as b:
        params = ffi.new("struct tvlm_flow_params *", {"full": flag("full", full)})
        with a._handle as one, b._handle as two:
            handle = Handle(target._owner, "flow").make(lib.tvlm_flow_compute, one, 0, two, 0, params)
        info = ffi.new("tvlm_flow_info *")
        handle.call(lib.tvlm_flow_get_info, info)
        out = np.empty((info.height, info.width, 3), np.float32)
        handle.call(lib.tvlm_flow_read, out.size, floats(out))
        handle.close()
    return out


def topk(scores: Any, k: int, *, device: Device | str | None = None) -> tuple[Array, Array]:
    """The k largest of any numbers, the best first: their places in the flattened array (int32 [k]), and their values (float32).
    Of equal ones the first comes first; NaN comes last. Errors: `ArgumentError` (k of more than there are)."""
    array = host_flat(scores)
    count = integer("k", k, 1, max(array.size, 1))
    if not array.size:
        raise ArgumentError("scores have no values")
    target = device_of(device)
    indices, found = np.empty(count, np.int32), np.empty(count, np.float32)
    target._call(lib.tvlm_topk, target._owner.pointer, floats(array), array.size, count,
                 ffi.cast("int32_t *", indices.__array_interface__["data"][0]), floats(found))
    return indices, found


def host_flat(scores: Any) -> Array:
    """Numbers of any shape as float32, one after the other."""
    return values("scores", scores, tuple(range(33))).reshape(-1)


def layouts() -> dict[str, list[str]]:
    """The layouts by name, each with the names of its channels."""
    from . import _names
    from ._arguments import channel_names
    return {name: channel_names(numbers_of(name)) for name in _names.LAYOUTS}
