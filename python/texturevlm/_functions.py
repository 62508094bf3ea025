# SPDX-License-Identifier: Apache-2.0
"""The functions that need no object: each takes an image and gives an answer."""
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
from ._options import PREDICT, SELECT, STACK, StackParams, early, scorer_of
from ._prediction import Prediction
from ._selection import Selection
from ._stack import SCORED, Stack
from ._types import Border, ImageLike, OnError, Strategy

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ._options import ChannelOptions, PredictOptions, SelectOptions, StackOptions
    from ._parameters import MoreParameters

    class _Options(MoreParameters, StackOptions, total=False):
        pass

    class _Predicted(PredictOptions, StackOptions, total=False):
        pass

    class _Asked(SelectOptions, StackOptions, total=False):
        features: Any
        feature_patch: float | None
        device: Device | str | None
        copy: bool


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divides options into those of the choice and those of the stack."""
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
           **options: Unpack[_Asked]) -> list[Selection | Error]: ...  # a batch: no type tells how many dimensions an array has


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
        image: one image, or several: a list of images, or a batch (N, C, H, W) or (N, H, W, C). Several images give a list of
            selections. The forms that an image may have are listed below.
        k: how many positions there are to be. None: 273, or as many as there are cells.
        share: in place of k, for the strategy ``budget``: the share of all patches of the image, above 0 and at most 1.
        tolerance: in place of k, for the strategy ``budget``: take about the fewest patches that lose at most this share, 0 .. 1,
            of what a thumbnail of one patch loses. ``"auto"`` takes as few as keep readable what can be read in the image. With
            0, nothing is lost.
        query: what is looked for: vectors [D] or [N, D] of an encoder's text side, or a `Query`.
        features: the encoder's own vectors [rows, columns, D]; for a list of images a list of such arrays.
        feature_patch: how many pixels a cell of the features covers, if their grid does not cover the image exactly.
        overview: the share of k, 0 .. 1, that shows the whole image coarsely. These positions come first.
        strategy: ``"grid"``, ``"foveated"``, ``"quadtree"``, ``"exhaustive"``, ``"cascade"`` or ``"budget"``. None: the library's
            default, as in ``tvlm select``.
        device: a `Device`, or a device's name, such as ``"reference"``. A device that is named is opened once in a process. None:
            the device that all calls share.
        errors: for a list. ``"raise"`` raises the error of the first image that fails. ``"skip"`` puts the `Error` of an image
            that fails in the place of its selection, and writes it to the logger ``texturevlm``. In both cases, options that no
            image could fit are refused before the first image is read.
        progress: for a list. True shows the progress, by tqdm if it is installed. None shows it only on a terminal, and only
            after two seconds. A function is called with the number of images that are done, and the number of all images.
        copy: copy a tensor that is not on the CPU to the CPU. Without it, such a tensor is refused. If `size` or `max_side` says
            that a smaller image is enough, the tensor is shrunk on its own device before it is copied.

    An image has one of these forms:

    - A NumPy array (H, W), (H, W, C) or (C, H, W) of uint8, uint16 or float (0 .. 1). C is 1 for gray, 2 for gray and alpha, 3
      for RGB, 4 for RGBA. A shape that could be both is taken for (H, W, C).
    - A PIL image. PIL does not turn an image by its EXIF orientation; PIL.ImageOps.exif_transpose does.
    - A path to a JPEG, PNG, BMP, PPM or PGM file. The image is turned by its EXIF orientation.
    - The bytes of such a file, or such a file that is open in binary mode.
    - A tensor on the CPU (DLPack), also of bfloat16.

    Pixels are read like this:

    - Floats that are far outside 0 .. 1 are refused. Floats that are a little outside are cut off, with a warning.
    - An image of uint16 that is nearly black causes a warning: its values are probably bytes, or of 12 bits.
    - Alpha is composited on white, and NaN is 0.
    - An array (H, W, C) of uint8, uint16 or float32 is not copied before its upload; its rows may be any distance apart. All else
      is copied once.

    Further options of the choice are given by keyword (include/texturevlm/select.h says more about each):

        patch: side of the encoder's patch; for budget a whole number from 4 to 64; of the other strategies the level of a
            position is log2(stride / patch), at least 0; default: 16.
        emphasis: for ``budget``: how much more the loss counts where a channel, the query or the scorer say; losses count 1 + L
            m times, m being the channel, or what the query or the scorer say; only as much of it counts as leaves the whole
            image in view; default: 0; with a query 300, with a scorer or scores 32.
        emphasis_channel: for ``budget``: the channel that says how much a tile matters; default: saliency.
        stride: for ``grid``, ``foveated``, ``quadtree`` and ``cascade``: side of a cell; default: 16.
        diversity: for ``grid``, ``exhaustive`` and ``cascade``: 0 to 1; each position's score counts less D times its largest
            likeness to those before it, by the features, else by colour; default: 0.
        level: for ``exhaustive``: the level whose texels are chosen from; default: 0, every pixel.
        e0: for ``foveated``: squares grow as e + E0 with the distance e from the fixation, in half diagonals; default: 0.2.
        fixations: for ``foveated``: where to look, in the image's pixels; there may be several; [n, 2]; default: where the
            score has its peak.
        min_distance: for ``grid``, ``exhaustive`` and ``cascade``: the least distance between positions, greedy by rank; there
            may be fewer than k then; default: 0.
        arrangement: for ``foveated``: how the squares are arranged at the start: sunflower or log-polar; default: sunflower.
        keep_regions: for ``cascade``: the regions that are looked into, at least; default: 10; more where they hold fewer than
            8 k cells.
        cull_distance: for ``cascade``: regions and cells at least that far from every edge are left out; default: 1; above 1:
            none are.
        cover: for ``cascade``: squares that cover the image, as the quadtree's, small only in those regions.
        weights: for ``grid``, ``foveated``, ``quadtree``, ``exhaustive`` and ``cascade``: the weights of information,
            perspective and participation in the score; [3]; default: 0.3, 0.7 and 0; with a query 0.1, 0.1 and 0.8.
        scorer: weights of channels, or a network, that say what matters; they take the place of the three parts of the score; a
            `Scorer`, or the path of its file.
        scores: scores of your own, one for each candidate; for budget they say what matters; [rows, columns].
        keep_pass: for ``grid``, ``foveated``, ``quadtree``, ``exhaustive`` and ``cascade``: keep the scores as the channel
            previous_pass, for a scorer of the next pass.
        keep_scores: keep the scores of all candidates with the selection; as `Selection.score_map`.

    Options of the image's stack are given by keyword, too: layout, size, max_side, format, fixation, clusters, compactness and
    memory_max (see `Stack`).

    The result is the same as that of ``tvlm select`` with the same options, to the bit.

    Errors: an `Error`, whose text names what is wrong. After an error nothing is left behind. The error is also

    - a `ValueError` for a number outside its range, a wrong shape, or NaN where it is not allowed;
    - a `TypeError` for a wrong type or an unknown option;
    - a `FileNotFoundError` or a `MemoryError`.
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
                pass  # entering it refuses a device that is closed
        if features is not None and (not is_list(features) or len(features) != len(images)):
            raise ArgumentError(f"there are {len(images)} images: features must be a list of as many arrays")
        own = features if features is not None else [None] * len(images)
        return each(images, lambda place, one: _select_one(one, choice, stack, own[place], feature_patch, device, copy), errors, progress)
    if errors != "raise":
        raise ArgumentError("errors is for a list of images")
    return _select_one(image, choice, stack, features, feature_patch, device, copy)


def _check_for_all(choice: dict[str, Any], stack: dict[str, Any]) -> None:
    """Refuses options that no image of a list could fit, before the first image is read. Reads files that all images need."""
    for options, name, read in ((choice, "scorer", scorer_of), (stack, "network", network_of)):
        if options.get(name) is not None:
            options[name] = read(options[name])
    early(choice, stack).check()
    StackParams(stack)
    if "network" not in stack and "layout" in stack:
        numbers_of(stack["layout"])


def _select_one(image: Any, choice: dict[str, Any], stack_options: dict[str, Any], features: Any, feature_patch: Any,
                device: Any, copy: bool) -> Selection:
    chosen = early(choice, stack_options).check()
    if features is not None:
        features = values("features", features, (3,), halves=True)
    with Stack(image, device=device, copy=copy, **{"layout": SCORED, **stack_options}) as stack:
        if features is not None:
            stack.set_features(features, patch=feature_patch)
        return stack._select(chosen)


@overload
def channels(image: list[Any] | tuple[Any, ...], names: Any = None, *, level: float = 0, size: None = None,
             device: Device | str | None = None, copy: bool = False, errors: Literal["raise"] = "raise",
             **options: Unpack[ChannelOptions]) -> list[Array]: ...


@overload
def channels(image: ImageLike | list[Any] | tuple[Any, ...], names: Any = None, *, level: float = 0, size: None = None,
             device: Device | str | None = None, copy: bool = False, errors: Literal["skip"],
             **options: Unpack[ChannelOptions]) -> list[Array | Error]: ...


@overload
def channels(image: ImageLike, names: Any = None, *, level: float = 0, size: tuple[int, int] | None = None,
             device: Device | str | None = None, copy: bool = False, errors: Literal["raise"] = "raise",
             **options: Unpack[ChannelOptions]) -> Array: ...


def channels(image: Any, names: Any = None, *, level: float = 0, size: tuple[int, int] | None = None,
             device: Device | str | None = None, copy: bool = False, errors: OnError = "raise",
             **options: Unpack[ChannelOptions]) -> Array | Sequence[Array | Error]:
    """Computes channels of an image, at the size of a level (0 is full size) or at `size`. Gives float32 [C, height, width].

        edges, saliency = texturevlm.channels("photo.jpg", ["edges", "saliency"], level=2)

    Parameters:
        image: an image as in `select`, or a list of images.
        names: a list of channels' names, or one string: names as in ``"r,g,b"``, or the name of a layout. None: the layout
            ``"full40"``. doc/channels.md defines each channel, its range and its unit.
        level: from 0 to the coarsest level. A fraction lies between two levels.
        size: (width, height) of the result, in place of the size of `level`.
        errors: for a list. ``"skip"`` puts the `Error` of an image that cannot be read in the place of its array, as in `select`.
        options: those of `Stack`.

    A list of images, which may have different sizes, is made in one batch and gives a list of arrays. Each array is to the bit
    what the image alone would give. The only options are then layout, format and memory_max. Not every family of channels can be
    made in such a batch; `names` of None means all that can.

    Errors: `ArgumentError` for an unknown channel (the text names the nearest one), and for a level beyond the last.
    """
    images = listed(image)
    if images is not None:
        if size is not None:
            raise ArgumentError("size is for one image; those of a list keep their own")
        return channels_of_all(images, names, level, device, copy, dict(options), errors)
    if errors != "raise":
        raise ArgumentError("errors is for a list of images")
    with Stack(image, device=device, copy=copy, **options) as stack:
        return stack.channels(names, level=level, size=size)


def patches(image: ImageLike, positions: Any, *, side: int = 16, channels: Any = None, mean: Any = None, deviation: Any = None,
            dtype: Any = np.float32, border: Border = "clamp", device: Device | str | None = None, copy: bool = False,
            **options: Unpack[StackOptions]) -> Array:
    """Cuts squares out around positions, ready for an encoder. Gives an array [n, C, side, side].

    Parameters:
        image: as in `select`.
        positions: a `Selection` of the image, or float [n, 3]: x, y and size of each position in pixels of the image. The
            thumbnail of a budget is reduced by Lanczos' filter, the same by which its loss was measured.
        side: the side of the result in texels, 1 .. 1024. If it equals a position's size, the texels are the image's pixels to
            the bit.
        channels: the names of the channels. None: r, g and b, in 0 .. 1.
        mean, deviation: [C], numbers that are subtracted from each channel, and by which it is then divided.
        dtype: float32 or float16.
        border: what lies beyond the image: ``"clamp"`` or ``"reflect"``.

    Errors: `ArgumentError` for a position that is not finite, a size of 0, or a deviation of 0.
    """
    asked: Any = {"layout": "r,g,b", **options}
    with Stack(image, device=device, copy=copy, **asked) as stack:
        return stack.patches(positions, side=side, channels=channels, mean=mean, deviation=deviation, dtype=dtype, border=border)


def predict(image: ImageLike, pictures: Sequence[tuple[int, int]], *, features: Any = None, device: Device | str | None = None,
            copy: bool = False, **options: Unpack[_Predicted]) -> Prediction:
    """Predicts what pictures of an image would lose, before any of them is made.

        prediction = tv.predict("photo.jpg", [(20, 15), (40, 30)], patch=28)
        prediction.loss(0), prediction.keep(1, 300)[1]     # a smaller picture; as many tokens of a finer one

    Parameters:
        image: as in `select`.
        pictures: the sizes, (columns, rows) in tokens, of at most 32 pictures. Each is the whole image, resized.
        features: as in `select`, for a query.
        patch: the side of a token in pixels, a whole number of 4 .. 64. None: 16.
        query, emphasis, emphasis_channel, weights, scorer, scores: which parts of the image matter, as in `select` with the
            strategy ``budget``.

    Options of `Stack` (max_side, size, ...) may be given, too. Gives a `Prediction`. Errors are those of `select`.
    """
    own = {name: value for name, value in options.items() if name in PREDICT}
    stack = {name: value for name, value in options.items() if name not in PREDICT}
    known(stack, STACK)
    asked: Any = {"layout": SCORED, **stack}
    with Stack(image, device=device, copy=copy, **asked) as made:
        if features is not None:
            made.set_features(features)
        return made.predict(pictures, **own)  # type: ignore[arg-type]


def scores(image: ImageLike, query: Any = None, *, features: Any = None, stride: float | None = None, weights: Any = None,
           scorer: Any = None, level: int | None = None, device: Device | str | None = None, copy: bool = False,
           **options: Unpack[StackOptions]) -> Array:
    """Scores each cell of an image: how much it matters. Gives float32 [rows, columns].

    A cell has a side of `stride` pixels (None: 16). With `level`, each texel of that level is scored instead. The default score
    lies in 0 .. 1; the score of a scorer may have any range. Parameters and errors are those of `select`.
    """
    asked: Any = {"layout": SCORED, **options}
    with Stack(image, device=device, copy=copy, **asked) as stack:
        if features is not None:
            stack.set_features(features)
        return stack.scores(query, stride=stride, weights=weights, scorer=scorer, level=level)


def flow(image: ImageLike, other: ImageLike, *, full: bool = False, device: Device | str | None = None, copy: bool = False) -> Array:
    """Computes dense optical flow from `image` to `other`, which have the same size. Gives float32 [rows, columns, 3].

    Each texel has three numbers: u and v are the step, to the right and down in pixels of the images, to where the texel's place
    is in `other`. The third is a confidence of 0 .. 1. The grid covers the whole image. It has half the images' size, or with
    ``full=True`` their full size. texturevlm/stream.h says how large a motion can be. To find what moved in a video, give the
    present frame as `image` and the frame before as `other`.

    Errors: `ArgumentError` for images of different sizes.
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
    """Finds the k largest of any numbers, the largest first.

    Gives two arrays: int32 [k], the indices in the flattened array, and float32 [k], the values. Equal numbers keep their order,
    and NaN comes last. Errors: `ArgumentError` if k is more than there are numbers.
    """
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
    """Numbers of any shape as a flat array of float32."""
    return values("scores", scores, tuple(range(33))).reshape(-1)


def layouts() -> dict[str, list[str]]:
    """A dict of all layouts: from a layout's name to the names of its channels."""
    from . import _names
    from ._arguments import channel_names
    return {name: channel_names(numbers_of(name)) for name in _names.LAYOUTS}
