# SPDX-License-Identifier: Apache-2.0
"""texturevlm decides where a vision-language model should look, before its encoder runs.

    import texturevlm as tv

    selection = tv.select("photo.jpg", k=273)        # a thumbnail's cells, then the tiles that matter, the best first
    selection.xy, selection.size, selection.scores   # NumPy views: centres and sides in pixels
    tv.show("photo.jpg", selection)                  # a picture of them, in a notebook

These functions take an image and give an answer: `select`, `predict`, `scores`, `channels`, `patches`, `flow`, `logpolar`, `topk`, `export`,
`fit`, `show`, `pictures`. `video` takes the frames of a whole video. `devices` lists the devices.

These objects are kept from call to call:

- `Stack`: all that is known about an image.
- `Session`: many questions about many images.
- `VideoStream`: a video, frame after frame.
- `VideoTokenStream`: a budget of tokens for a video, slot after slot.
- `Texture`: the keys or the values of a `hierarchical_attention`.
- `Device`: an open device.

These objects say what is asked, or hold the answer: `Query`, `Scorer`, `Network`, `Basis`, `Codec`, `Projection`, `Vocab`,
`Selection`, `Prediction`, `Pictures`, `VideoTokens`.

Every error is an `Error`. Where it fits, the error is also a `ValueError`, `TypeError`, `MemoryError` or `FileNotFoundError`.

An image is an array of NumPy, a PIL image, a path, or a tensor (DLPack); the manual of `select` has the details. The C library
inside this package does all computing. It runs on OpenCL if there is a device, and otherwise on the reference, which is plain C.
The GIL is released meanwhile.

These modules are imported when they are first asked for. Each has a manual of its own, for example `help(texturevlm.hf)`.

- `texturevlm.hf` prunes the input of a loaded model of transformers, before the model's encoder.
- `texturevlm.torch` has `sample`, by which PyTorch learns through textures.
- `texturevlm.index` finds images in an archive, and where to look in them.
- `texturevlm.proxy` is a proxy before a server: what it is sent has fewer tokens (``python -m texturevlm.proxy``).
- `texturevlm.lmms_eval` has models for lmms-eval, which finds them by itself.

`python -m texturevlm` is the tool `tvlm`. The document about this package is doc/python.md in the project's repository.
"""
from typing import TYPE_CHECKING

from . import _libraries as _libraries  # first: the other modules need what it loads
from ._attention import Texture, hierarchical_attention
from ._basis import Basis, fit
from ._clip import VideoTokens, VideoTokenStream, video
from ._codec import Codec
from ._core import (ArgumentError, ArgumentTypeError, DeviceError, DeviceLostError, Error, FileError, MissingFileError, MissingPackageError,
                    NoDeviceError, OutOfMemoryError, TexturevlmWarning)
from ._device import Device, devices
from ._functions import channels, flow, layouts, patches, predict, scores, select, topk
from ._logpolar import logpolar
from ._network import Network
from ._options import Query, Scorer
from ._pictures import Pictures, pictures
from ._prediction import Prediction
from ._projection import Projection
from ._selection import Position, Selection
from ._show import Picture, export, show
from ._stack import Session, Stack
from ._video import VideoStream
from ._vocab import Vocab
from ._binding import ffi as _ffi, lib as _lib


if TYPE_CHECKING:
    from . import hf as hf, index as index, lmms_eval as lmms_eval, proxy as proxy, ray as ray, torch as torch, train as train, vllm as vllm
else:
    def __getattr__(name: str) -> object:
        """Imports a module of this package, such as `tv.hf`, when it is first asked for.

        They need packages that this one does not depend on: `hf` needs PyTorch and transformers, `torch` and `train` need PyTorch,
        `index` needs pyarrow and pylance, `ray` needs these two and ray, `proxy` needs aiohttp and Pillow, `lmms_eval` needs
        lmms-eval, and `vllm` needs vLLM.
        """
        if name in ("hf", "index", "lmms_eval", "proxy", "ray", "torch", "train", "vllm"):
            import importlib
            return importlib.import_module(f"texturevlm.{name}")
        raise AttributeError(f"module 'texturevlm' has no attribute {name!r}")


__version__: str = _ffi.string(_lib.tvlm_version()).decode()
__all__ = [
    "ArgumentError", "ArgumentTypeError", "Basis", "Codec", "Device", "DeviceError", "DeviceLostError", "Error", "FileError",
    "MissingFileError", "MissingPackageError", "Network", "NoDeviceError", "OutOfMemoryError", "Picture", "Pictures", "Position", "Prediction", "Projection", "Query", "Scorer", "Selection", "Session", "Stack",
    "Texture", "TexturevlmWarning", "VideoStream", "VideoTokenStream", "VideoTokens", "Vocab", "channels", "devices", "export", "fit", "flow", "hierarchical_attention", "layouts",
    "logpolar", "patches", "pictures", "predict", "scores", "select", "show", "topk", "video",
]
