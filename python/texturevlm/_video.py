# SPDX-License-Identifier: Apache-2.0
"""Video: streams of frames. Each frame keeps what it can from the frame before."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _names
from ._arguments import Array, choice, flag, floats, host, integer, pairs, real, values
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, Bound, Handle, Lent
from ._device import Device, device_of
from ._image import Image, image_of
from ._network import network_of
from ._options import StackParams, choosing, scorer_of
from ._selection import Origin, Selection, origin_of
from ._stack import Stack, _grid_input, answer
from ._types import ImageLike, Use

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from ._options import SelectOptions


class VideoStream(Bound):
    """Takes in a video frame by frame. Only what changed is uploaded and made again.

        stream = tv.VideoStream()
        for frame in frames:
            report = stream.update(frame)
            selection = stream.select(64)

    Parameters:
        use: a preset. None: no preset.

            - ``"moving"``: a moving camera.
            - ``"still"``: a still camera. What changes counts most.
            - ``"screen"``: documents and screens. Text counts most, and nothing moves.
            - ``"gaze"``: what was looked at counts most.
        size: (width, height) of the working images. None: the size of the first frame.
        device: a `Device`, or a device's name. None: the device that all calls share.
        keyframe_interval: how many frames there are from one keyframe, which is made anew, to the next. None: 30.
        cut: a frame that differs from the last one by at least this begins another scene. None: 0.3. Above 1, no frame does.
        flow: False: no flow is estimated, and nothing is moved along.
        threshold: 0 .. 1. A tile of the frame has changed if a value in it differs by more than this. None: 0.
        saliency_share, cluster_share: saliency, and the regions, are kept until this share of the frame has changed.
        steadiness: a number that is added to the score of what was selected in the last frame. None: 0.15.
        scorer: a `Scorer`, or the path of its file, for selections that bring none.
        network: a `Network`, or the path of its file. Its outputs are channels of each frame.
    """

    def __init__(self, use: Use | None = None, *, size: tuple[int, int] | None = None, device: Device | str | None = None,
                 keyframe_interval: int | None = None, cut: float | None = None, flow: bool = True,
                 threshold: float | None = None, saliency_share: float | None = None, cluster_share: float | None = None,
                 steadiness: float | None = None, scorer: Any = None, network: Any = None) -> None:
        params = ffi.new("struct tvlm_stream_params *")
        if use is not None:
            lib.tvlm_stream_preset(choice("use", use, _names.USES), params)
        if not flag("flow", flow):
            params.no_flow = True
        if keyframe_interval is not None:
            params.keyframe_interval = integer("keyframe_interval", keyframe_interval, 1)
        for name, value in (("cut", cut), ("steadiness", steadiness)):
            if value is not None:
                setattr(params, name, real(name, value, 0.0) or -1.0)  # TVLM_EXPLICIT_ZERO stands for 0
        for name, value in (("threshold", threshold), ("saliency_share", saliency_share), ("cluster_share", cluster_share)):
            if value is not None:
                setattr(params.update, name, real(name, value, 0.0))
        self._scorer = scorer_of(scorer) if scorer is not None else None
        if self._scorer is not None:
            params.scorer = self._scorer._pointer
        self._network = network_of(network) if network is not None else None
        if self._network is not None:
            params.network = self._network._pointer
        self._params = params
        self._device = device_of(device)
        self._handle = Handle(self._device._owner, "stream", missing="no frame was taken in yet: update() comes first")
        self._size: tuple[int, int] | None = None
        if size is not None:
            sides = StackParams({"size": size}).c
            self._size = (sides.width, sides.height)
        self._origin: Origin | None = None
        self._working: tuple[int, int] | None = None
        self._grid = (0, 0)

    def _frame(self) -> Origin:
        """The origin of the present frame. The caller is inside the handle."""
        if self._origin is None:
            raise ArgumentError(self._handle.missing)
        return self._origin

    def update(self, frame: ImageLike, *, keyframe: bool = False, fixations: Any = None, flow: Any = None,
               copy: bool = False) -> dict[str, Any]:
        """Takes in the next frame, in any form that texturevlm.select takes. All frames have the same size.

        Parameters:
            keyframe: make everything anew.
            fixations: [n, 2], the places that were looked at since the last frame, in pixels of the last frame. None: the
                positions that were selected.
            flow: float [rows, columns, 2 or 3], the flow from this frame to the last one, in place of the library's.
            copy: copy a tensor that is not on the CPU to the CPU, in full size, since changes are found in its own pixels.

        Gives a dict:

        - ``frame``: the number of the frame, from 0.
        - ``keyframe``: whether the frame is a keyframe.
        - ``cut``: whether it begins another scene.
        - ``flow``: whether there is a flow to the last frame.
        - ``tiles``, ``changed``: how many tiles were compared, and how many of them changed.
        - ``difference``: how much the frame differs from the last one, 0 .. 1.
        - ``needs``: the share of the cells whose features should come from the encoder again. The method `needs` has the mask.
        - ``needs_all``: whether the features of all cells should come from the encoder.

        Errors: `ArgumentError` for another size, and for fixations that are not finite. It is then as if the frame never came.
        """
        picture = image_of(frame, flag("copy", copy))
        push = ffi.new("struct tvlm_push_params *", {"keyframe": flag("keyframe", keyframe)})
        keep: list[Any] = []
        if fixations is not None:
            keep.append(pairs("fixations", fixations))
            push.fixations, push.fixation_count = floats(keep[-1]), keep[-1].shape[0]
        if flow is not None:
            array = values("flow", flow, (3,), halves=True)
            keep += [array, _grid_input(array)]
            push.flow = keep[-1]
        report = ffi.new("tvlm_stream_report *")
        with self._device._owner:
            self._handle.check()
            if self._working is None:
                width, height = self._size or self._fit(picture)
                self._handle.make(lib.tvlm_stream_create, self._device._owner.pointer, width, height, self._params)
                self._working = (width, height)
            self._handle.call(lib.tvlm_stream_push, 0, picture.c, push, report)
            self._origin = origin_of(frame, picture)
            self._grid = (report.rows, report.columns)
        return {"frame": report.frame, "keyframe": bool(report.keyframe), "cut": bool(report.cut), "flow": bool(report.flow),
                "tiles": report.tiles, "changed": report.changed, "difference": report.difference, "needs": report.needs,
                "needs_all": bool(report.needs_all)}

    def _fit(self, picture: Image) -> tuple[int, int]:
        width, height = ffi.new("int32_t *", picture.width), ffi.new("int32_t *", picture.height)
        self._device._call(lib.tvlm_stack_largest_size, self._device._owner.pointer, ffi.NULL, width, height)
        return width[0], height[0]

    def select(self, k: int | None = None, **options: Unpack[SelectOptions]) -> Selection:
        """Selects the positions of the present frame that matter, with the options of texturevlm.select.

        With the strategy ``grid``, positions that were selected in the last frame stay selected where they are still good.
        """
        with self._handle as stream:
            origin, working = self._frame(), self._working
            assert working is not None
            stack = lib.tvlm_stream_stack(stream, 0)

            def choose(asked: Any, box: Any, take: Any) -> None:
                self._handle.call(lib.tvlm_stream_select, 0, asked.query, asked.c, box, made=take)

            return answer(self._device, stack, choosing({"k": k, **options}, stack), origin, working, choose)

    def set_features(self, features: Any, mask: Any = None) -> None:
        """Hands in the encoder's vectors of the present frame, float [rows, columns, D].

        `mask` [rows, columns] says which cells have new vectors. None: all cells. The others keep the vectors that were carried
        along.
        """
        array = values("features", features, (3,), halves=True)
        cells = None
        if mask is not None:
            given = host("mask", mask)
            if given.dtype.kind not in "biuf":
                raise ArgumentTypeError(f"mask has the dtype {given.dtype}, not one of numbers")
            if given.shape != array.shape[:2]:
                raise ArgumentError(f"mask has the shape {given.shape}, features {array.shape}")
            cells = np.ascontiguousarray(given, dtype=bool)
        with self._handle:
            self._frame()
            self._handle.call(lib.tvlm_stream_set_features, 0, lib.TVLM_CHANNEL_FEATURE_0, _grid_input(array),
                              ffi.NULL if cells is None else ffi.cast("uint8_t *", cells.__array_interface__["data"][0]))
            self._grid = array.shape[:2]

    def needs(self) -> Array:
        """bool [rows, columns]: True for the cells whose features should come from the encoder again.

        If there never were features, the array has no cells.
        """
        with self._handle:
            self._frame()
            out = np.zeros(self._grid, np.uint8)
            if out.size:
                self._handle.call(lib.tvlm_stream_needs, 0, out.size, ffi.cast("uint8_t *", out.__array_interface__["data"][0]))
        return out.astype(bool)

    def channels(self, names: Any = None, *, level: float = 0) -> Array:
        """Gives channels of the present frame, like texturevlm.channels: float32 [C, height, width]."""
        with self._handle as stream:
            lent = Lent(self._handle, lib.tvlm_stream_stack(stream, 0))
            return Stack._wrap(self._device, lent, self._frame()).channels(names, level=level)

    def close(self) -> None:
        """Releases the stream. If another thread is in a call on it, waits for the end of that call."""
        self._handle.close()

    def __enter__(self) -> VideoStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
