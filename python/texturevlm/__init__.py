# SPDX-License-Identifier: Apache-2.0
"""texturevlm decides where a vision-language model should look, before its encoder runs.

    import texturevlm as tv

    selection = tv.select("photo.jpg", k=273)        # a thumbnail's cells, then the tiles that matter, the best first
    selection.xy, selection.size, selection.scores   # NumPy views: centres and sides in pixels
    tv.show("photo.jpg", selection)                  # a picture of them, in a notebook

One call, one answer: `select`, `scores`, `channels`, `patches`, `flow`, `logpolar`, `topk`, `export`, `fit`, `show`, `devices`. What is
kept from call to call: `Stack` (all that is known of an image), `Session` (many questions about many images), `VideoStream` (frame
after frame), `Texture` (keys and values of a `hierarchical_attention`), `Device`. What is asked and answered: `Query`, `Scorer`,
`Network`, `Basis`, `Codec`, `Projection`, `Vocab`, `Selection`. Errors are `Error`, which is a
`ValueError`, `TypeError`, `MemoryError` or `FileNotFoundError` too where that fits.

Images are arrays of NumPy, PIL images, paths, or tensors (DLPack); `select` says which. All computing is done by the C library
inside this package, on OpenCL where there is any, else by its reference in plain C; the GIL is released meanwhile.
`texturevlm.hf` prunes a loaded model of transformers before its encoder, and `texturevlm.torch.sample` lets PyTorch learn through
textures; `texturevlm.index` finds images of an archive, and where to look in them. They are imported when they are first asked for, and have manuals of their own: `help(texturevlm.hf)`. `python -m texturevlm` is the tool, `tvlm`. The document: doc/python.md in the project's
repository.
"""
from typing import TYPE_CHECKING

from . import _libraries as _libraries  # before all others, which need them
from ._attention import Texture, hierarchical_attention
from ._basis import Basis, fit
from ._codec import Codec
from ._core import (ArgumentError, ArgumentTypeError, DeviceError, DeviceLostError, Error, FileError, MissingFileError, MissingPackageError,
                    NoDeviceError, OutOfMemoryError, TexturevlmWarning)
from ._device import Device, devices
from ._functions import channels, flow, layouts, patches, scores, select, topk
from ._logpolar import logpolar
from ._network import Network
from ._options import Query, Scorer
from ._projection import Projection
from ._selection import Position, Selection
from ._show import Picture, export, show
from ._stack import Session, Stack
from ._video import VideoStream
from ._vocab import Vocab
from ._binding import ffi as _ffi, lib as _lib


if TYPE_CHECKING:
    from . import hf as hf, index as index, ray as ray, torch as torch
else:
    def __getattr__(name: str) -> object:
        """`tv.hf`, which needs PyTorch and transformers, `tv.torch`, which needs PyTorch, `tv.index`, which needs pyarrow and pylance, and
        `tv.ray`, which needs ray, too, are imported when they are first asked for."""
        if name in ("hf", "index", "ray", "torch"):
            import importlib
            return importlib.import_module(f"texturevlm.{name}")
        raise AttributeError(f"module 'texturevlm' has no attribute {name!r}")


__version__: str = _ffi.string(_lib.tvlm_version()).decode()
__all__ = [
    "ArgumentError", "ArgumentTypeError", "Basis", "Codec", "Device", "DeviceError", "DeviceLostError", "Error", "FileError",
    "MissingFileError", "MissingPackageError", "Network", "NoDeviceError", "OutOfMemoryError", "Picture", "Position", "Projection", "Query", "Scorer", "Selection", "Session", "Stack",
    "Texture", "TexturevlmWarning", "VideoStream", "Vocab", "channels", "devices", "export", "fit", "flow", "hierarchical_attention", "layouts",
    "logpolar", "patches", "scores", "select", "show", "topk",
]
