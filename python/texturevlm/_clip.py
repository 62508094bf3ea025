# SPDX-License-Identifier: Apache-2.0
"""A budget of tokens for a whole video, in which each token is shown until another one takes its place."""
from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np

from ._arguments import Array, flag, integer, real, short
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, Bound, Error, FileError, Handle, MissingFileError, MissingPackageError, call, warn
from ._device import Device, device_of
from ._image import image_of
from ._options import StackParams


class VideoTokens:
    """The tokens of a video, in the order of slots, and within a slot from coarse to fine. `texturevlm.video` makes it.

    A slot is `slot` frames, which the model takes at a time. What comes later is shown on top.

    slot: int32 [n]: the slot in which each token is bought.
    until: int32 [n]: the first slot in which all of its square shows something newer, or in which it was held for too long; the
        number of slots if there is none, and 0 in a stream, where nobody knows yet.
    xy: float32 [n, 2]: x and y of the middle of its square, in pixels of the frames.
    size: float32 [n, 2]: width and height of the square, whose right and lower part may lie beyond the frame.
    thumbnail: int32 [n, 2]: columns and rows of the picture of the whole whose cell it is; 0, 0 of a tile.
    slots, frames, tokens_of_slot: how many there are; of the last, how many tokens a slot has in full. decided: how many slots
        are decided, which of a whole video are all.
    loss, downsampled: what is predicted to be lost, as a share of what one token in each slot would lose, and what the best
        downsampling in time and size to as many tokens loses.
    motion: float32 [2, 3], of a stream in which what is held moves along: what the slot that was decided last shows at (x, y) was
        at motion @ (x, y, 1) in the slot before, in pixels of the frames.
    """

    def __init__(self, rows: Array, info: Any, stream: bool = False) -> None:
        self._stream = stream
        self.slot: Array = np.ascontiguousarray(rows["slot"])
        self.until: Array = np.ascontiguousarray(rows["until"])
        self.xy: Array = np.stack([rows["x"], rows["y"]], axis=1)
        self.size: Array = np.stack([rows["width"], rows["height"]], axis=1)
        self.thumbnail: Array = np.stack([rows["columns"], rows["rows"]], axis=1)
        self.slots, self.frames, self.tokens_of_slot = int(info.slots), int(info.frames), int(info.tokens_of_slot)
        self.decided = int(info.decided)
        self.loss, self.downsampled = float(info.lost), float(info.lost_downsampled)
        self.motion: Array = np.array(list(info.motion), "float32").reshape(2, 3)

    def __len__(self) -> int:
        return len(self.slot)

    def __repr__(self) -> str:
        return (f"VideoTokens({len(self)} of {self.slots * self.tokens_of_slot} tokens, {self.slots} slots of {self.frames} frames, "
                f"loss {self.loss:.4f}, downsampling {self.downsampled:.4f})")

    def of(self, slot: int) -> Array:
        """The numbers of the tokens that a slot buys."""
        return np.flatnonzero(self.slot == integer("slot", slot, 0, self.slots - 1))

    def held(self, slot: int) -> Array:
        """The numbers of the tokens of earlier slots of which something is still shown in a slot. Not of a stream, of which each answer
        has the tokens of its own slots alone, and nobody knows yet until when they are shown."""
        if self._stream:
            raise ArgumentError("held is not known of a stream, whose tokens come slot by slot: keep those of earlier slots")
        number = integer("slot", slot, 0, self.slots - 1)
        return np.flatnonzero((self.slot < number) & (self.until > number))


def video(frames: Any, *, budget: int | None = None, share: float | None = None, tolerance: float | Literal["auto"] | None = None, patch: int = 16,
          slot: int = 2, fps: float | None = None, hold: int | None = None, emphasis: float | None = None,
          size: tuple[int, int] | None = None, count: int | None = None, memory: int | None = None,
          device: Device | str | None = None, copy: bool = False) -> VideoTokens:
    """Spends a budget of tokens on a whole video: where they lose least, and for as long as they are shown.

        tokens = tv.video(frames, share=0.1, patch=28)
        tokens.of(3), tokens.held(3)        # what slot 3 buys, and what it still shows of earlier slots

    It is predicted to lose no more than the best downsampling in time and size. A video of more than 64 slots is decided in
    windows, of each of which that is so. `VideoTokenStream` decides slot by slot.

    Parameters:
        frames: frames of one size, in their order: an array or a tensor [n, ...], a list, or any iterable of what `select` takes, of
            frames of PyAV, decord or torchcodec. OpenCV's have their colours the other way round. Or the path of a video,
            which needs OpenCV.
        budget, share, tolerance: at most one of the three.

            - `budget`: so many tokens for the whole video.
            - `share`: this share, above 0 and at most 1, of all tokens of the video in full.
            - `tolerance`: as few tokens as lose at most this share, 0 .. 1, of what one token in each slot would lose. "auto" or none, if
              nothing else is given: 0.03.
        patch: the side of a token in pixels, 4 .. 64.
        slot: how many frames the model takes at a time.
        fps: take so many frames for each second: those that are shown at these times, one that is shown for long several times.
            For a path, and for frames that tell their time, as PyAV's and torchcodec's do. None: take all.
        hold: in how many slots a token may be shown at most. None: no limit. Where the budget has no other token for a place, it then
            shows nothing.
        emphasis: how much more what moves counts where most is still, 0 .. 1000. None: 3, that is up to four times as much.
        size: (width, height) of the working frames. None: the size of the first frame.
        count: how many frames come, which a `budget` must know. None: as many as `frames` says. Where another number comes,
            never more is spent than the budget, and a warning says so.
        memory: how many bytes may be taken, of the host and the device together. None: 1 GiB.
        device: a `Device`, or a device's name. None: the device that all calls share.
        copy: copy tensors that are not on the CPU to the CPU.
    """
    params = _params(patch, slot, hold, emphasis, memory)
    _spend(params, share, tolerance, budget)
    if budget is not None:
        params.k, params.frames = integer("budget", budget, 1), _count_of(frames, count, fps)
    clip = _Clip(params, size, device, copy)
    try:
        for frame in _frames_of(frames, fps):
            clip.push(frame)
        tokens = clip.end()
    finally:
        clip.handle.close()
    if budget is not None and tokens.frames != params.frames:
        warn(f"{tokens.frames} frames came, and the budget was spread over {params.frames}: "
             + ("fewer tokens are spent" if tokens.frames < params.frames else "the last ones may lack tokens"))
    return tokens


class VideoTokenStream(Bound):
    """Spends tokens on the frames of a stream, slot by slot, with what is known when each slot is there.

        with tv.VideoTokenStream(share=0.1, patch=28) as stream:
            for frame in frames:
                tokens = stream.push(frame)     # those of the slots that are decided now; often none

    No slot is given more than has been granted so far. Memory is constant.

    Parameters:
        share, tolerance: at most one of the two, as in `video`.
        latency: a slot is decided when so many further ones, 0 .. 8, are there.
        motion: what is held moves along with the camera, and the `motion` of each slot tells how. For a model that is told of it, and
            without a latency.
        patch, slot, hold, emphasis, size, memory, device, copy: as in `video`.
    """

    def __init__(self, *, share: float | None = None, tolerance: float | Literal["auto"] | None = None, latency: int = 0, motion: bool = False,
                 patch: int = 16, slot: int = 2, hold: int | None = None, emphasis: float | None = None,
                 size: tuple[int, int] | None = None, memory: int | None = None, device: Device | str | None = None,
                 copy: bool = False) -> None:
        params = _params(patch, slot, hold, emphasis, memory)
        _spend(params, share, tolerance)
        params.causal, params.latency, params.motion = True, integer("latency", latency, 0, 8), flag("motion", motion)
        if params.motion and params.latency:
            raise ArgumentError("motion and latency exclude each other")
        self._clip = _Clip(params, size, device, copy)

    def push(self, frame: Any) -> VideoTokens:
        """Takes in the next frame. Gives the tokens of the slots that are decided by it, whose `until` is not known yet: 0."""
        return self._clip.push_and_tell(frame)

    def end(self) -> VideoTokens:
        """Ends the stream. Gives the tokens of the slots that were not decided yet."""
        return self._clip.end()

    def close(self) -> None:
        """Releases what the stream has. What it gave stays valid."""
        self._clip.handle.close()

    def __enter__(self) -> VideoTokenStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _params(patch: Any, slot: Any, hold: Any, emphasis: Any, memory: Any) -> Any:
    params = ffi.new("struct tvlm_clip_params *", {"patch": integer("patch", patch, 4, 64), "temporal": integer("slot", slot, 1, 16)})
    params.hold = 0 if hold is None else integer("hold", hold, 1)
    params.memory = 0 if memory is None else integer("memory", memory, 1, 2**62)
    if emphasis is not None:
        params.emphasis = real("emphasis", emphasis, 0.0) or -1.0  # TVLM_EXPLICIT_ZERO stands for 0
    return params


def _spend(params: Any, share: Any, tolerance: Any, *others: Any) -> None:
    if sum(one is not None for one in (share, tolerance, *others)) > 1:
        raise ArgumentError(f"{'budget, ' if others else ''}share and tolerance exclude each other")
    if share is not None:
        params.share = real("share", share, 0.0, above=True)
    if tolerance is not None and not (isinstance(tolerance, str) and tolerance == "auto"):  # which zero stands for
        params.tolerance = real("tolerance", tolerance, 0.0) or -1.0  # TVLM_EXPLICIT_ZERO stands for 0


class _Clip:
    """A clip of the library, which is made when the first frame comes."""

    def __init__(self, params: Any, size: Any, device: Any, copy: Any) -> None:
        self._params, self._copy, self._frames = params, flag("copy", copy), 0
        sides = StackParams({"size": size}).c if size is not None else None
        self._size = (sides.width, sides.height) if sides is not None else None
        self._device = device_of(device)
        self.handle = Handle(self._device._owner, "clip", missing="there is no frame")

    def push(self, frame: Any) -> None:
        self._push(_picture_of(frame, self._frames, self._copy))

    def _push(self, picture: Any) -> None:
        with self._device._owner:
            self.handle.check()
            if self._frames == 0:
                width, height = self._size or (picture.width, picture.height)
                self.handle.make(lib.tvlm_clip_create, self._device._owner.pointer, width, height, self._params)
            self._frames += 1
            self.handle.call(lib.tvlm_clip_push, picture.c)

    def push_and_tell(self, frame: Any) -> VideoTokens:
        picture = _picture_of(frame, self._frames, self._copy)
        with self._device._owner:  # another thread's frame must not come in between
            self._push(picture)
            return _tokens_of(self.handle, bool(self._params.causal))

    def end(self) -> VideoTokens:
        with self._device._owner:
            self.handle.call(lib.tvlm_clip_end)
            return _tokens_of(self.handle, bool(self._params.causal))


def _tokens_of(clip: Handle, stream: bool) -> VideoTokens:
    info, count = ffi.new("tvlm_clip_info *"), ffi.new("int32_t *")
    kinds = [("slot", "i4"), ("until", "i4"), ("x", "f4"), ("y", "f4"), ("width", "f4"), ("height", "f4"), ("columns", "i4"), ("rows", "i4")]
    with clip as pointer:
        call(lib.tvlm_clip_get_info, pointer, info)
        tokens = lib.tvlm_clip_tokens(pointer, count)
        rows = np.frombuffer(ffi.buffer(tokens, count[0] * ffi.sizeof("tvlm_clip_token")), dtype=kinds).copy()
    return VideoTokens(rows, info, stream)


# ---- Frames ----

def _count_of(frames: Any, count: int | None, fps: float | None) -> int:
    """How many frames there will be."""
    if count is not None:
        return integer("count", count, 1)
    if isinstance(frames, (str, os.PathLike)) or (fps is not None and isinstance(frames, (list, tuple))):
        return sum(1 for _ in _frames_of(frames, fps))  # what the file says of itself may be wrong
    try:
        if fps is None:
            return integer("count", len(frames), 0)
    except TypeError:
        pass
    raise ArgumentError("frames have no length, which a budget must know: give the count, or a share")


def _frames_of(frames: Any, fps: float | None) -> Iterator[Any]:
    if isinstance(frames, (str, os.PathLike)):
        timed = _decoded(os.fspath(frames))
        return (frame for _, frame in timed) if fps is None else _shown_at(timed, fps)
    if isinstance(frames, (bytes, bytearray)) or getattr(frames, "ndim", 4) < 3 or not isinstance(frames, Iterable):
        raise ArgumentTypeError(f"frames are {short(frames)}: they must be an array [n, ...], a list, any iterable, or a path")
    return iter(frames) if fps is None else _shown_at(((_time_of(frame, n), frame) for n, frame in enumerate(frames)), fps)


def _time_of(frame: Any, number: int) -> float:
    """When a frame is shown, in seconds."""
    time = getattr(frame, "time", None)  # PyAV
    if time is None:
        time = getattr(frame, "pts_seconds", None)  # torchcodec
    if time is None:
        raise ArgumentError(f"frames: number {number} does not tell its time, which fps must know: give a path, or PyAV's or torchcodec's frames")
    if not math.isfinite(time):
        raise ArgumentError(f"frames: number {number} has a time of {time}")
    return float(time)


def _shown_at(timed: Iterator[tuple[float, Any]], fps: float) -> Iterator[Any]:
    """Of frames with their times those that are shown at times 1 / fps seconds apart, from the first one on. The last one is
    shown at its time, and no longer."""
    fps = real("fps", fps, 0, above=True)
    early = 1e-3  # files round their times
    try:
        begin, shown = next(timed)
    except StopIteration:
        return
    last, number, shift, usual = begin, 0, 0.0, 1 / fps
    for told, frame in timed:
        time = told + shift
        if time < last - early:  # the clock begins anew
            time, shift = last + usual, shift + last + usual - time
        usual = time - last or usual
        while begin + number / fps < time - early:
            yield shown
            number += 1
        shown, last = frame, time
    while begin + number / fps <= last + early:
        yield shown
        number += 1


def _picture_of(frame: Any, number: int, copy: bool) -> Any:
    """Reads one frame of any form. An error names its number."""
    try:
        if hasattr(frame, "to_ndarray"):  # PyAV
            frame = frame.to_ndarray(format="rgb24")
        elif hasattr(frame, "asnumpy"):  # decord
            frame = frame.asnumpy()
        elif hasattr(frame, "pts_seconds"):  # torchcodec
            frame = frame.data
        return image_of(frame, copy)
    except Error as error:
        error.args = (f"frame {number}: {error}",)
        raise


def _decoded(path: str) -> Iterator[tuple[float, Any]]:
    """The frames of a video file, as it is shown, and their times in seconds."""
    try:
        import cv2
    except ImportError as error:
        raise MissingPackageError("texturevlm.video needs OpenCV for the path of a video (pip install opencv-python-headless): "
                                  f"{' '.join(str(error).split())}") from None
    if not os.path.exists(path):
        raise MissingFileError(f"{path}: there is no such file")
    reader = cv2.VideoCapture(path)
    try:
        if not reader.isOpened():
            raise FileError(f"{path}: is no video that OpenCV can read")
        while True:
            there, frame = reader.read()
            if not there:
                return
            yield reader.get(cv2.CAP_PROP_POS_MSEC) / 1000, cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
    finally:
        reader.release()


__all__ = ["VideoTokenStream", "VideoTokens", "video"]
