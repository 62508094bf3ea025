# SPDX-License-Identifier: Apache-2.0
"""Reads from a processor how it makes values of pixels, and whether it fits the model."""
from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .._arguments import real, short, values as numbers
from .._core import ArgumentError, ArgumentTypeError
from ._families import Family, model_type_of

# The attributes by which a processor says how it makes values of pixels.
VALUES = ("do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std")
BEYOND = 0.25
"""So far beyond black and white pixels may lie, 0 .. 1 being the range: a resizer that computes in floats overshoots."""


def colours(name: str, value: Any) -> list[float]:
    """Three numbers, for red, green and blue. A single number stands for all three."""
    found = numbers(name, value, (0, 1)).reshape(-1)
    if found.shape not in ((3,), (1,)):
        raise ArgumentError(f"{name} are {found.shape[0]} numbers, not 3")
    return [float(number) for number in (found.tolist() * 3)[:3]]


def normalisation_of(source: Any) -> tuple[list[float], list[float]]:
    """The mean and std of a processor, for which value * std + mean is the pixel, 0 .. 1.

    `source` is a processor, whose image processor is read, or an image or video processor, or any object with the attributes in
    `VALUES`. If it does not rescale, pixels are taken to be bytes.
    """
    images = getattr(source, "image_processor", None) or source
    normalises, rescales = (getattr(images, name, None) for name in ("do_normalize", "do_rescale"))
    if normalises is None and getattr(images, "image_mean", None) is None:
        raise ArgumentTypeError(f"processor is {short(source)}, which has no image processor that says its image_mean")
    factor = getattr(images, "rescale_factor", None)
    white = 255.0 * (1.0 if rescales is False else real("rescale_factor", 1 / 255 if factor is None else factor, 0.0, above=True))
    mean, std = [0.0] * 3, [1.0] * 3
    if normalises is not False:
        mean, std = (colours(name, getattr(images, name, None)) for name in ("image_mean", "image_std"))
    return [value / white for value in mean], [value / white for value in std]


def bytes_or_floats(source: Any, mean: Sequence[float], std: Sequence[float], highest: float) -> tuple[list[float], list[float]]:
    """Corrects mean and std for a processor that does not rescale, and whose pixels were 0 .. 1 already.

    The highest value tells that: if the pixels were bytes, they would all be black. In all other cases mean and std stay as they
    are.
    """
    images = getattr(source, "image_processor", None) or source
    scale = 255.0 if getattr(images, "do_rescale", None) is False and 255 * (highest * min(std) + min(mean)) <= 1.5 else 1.0
    return [value * scale for value in mean], [value * scale for value in std]


# ---- Whether it is the model's ----

def check_processor(model: Any, family: Family, processor: Any) -> None:
    """Refuses an object that is no processor, and a processor that makes other patches or other tokens than the model takes."""
    normalisation_of(processor)
    config, name = model.config, type(processor).__name__
    kind = model_type_of(model)
    wanted = _wanted(kind)
    module = type(processor).__module__
    if wanted and module.startswith("transformers.models.") and hasattr(processor, "tokenizer"):
        # The processors of the Qwen families differ only in the times of videos. Patches and tokens are compared below.
        qwen = family.kind == "qwen" and "Qwen" in name
        if not qwen and wanted not in [base.__name__ for base in type(processor).__mro__]:
            raise ArgumentError(f"the processor is a {name}; a {kind} has a {wanted}")
    images = getattr(processor, "image_processor", None) or processor
    vision = getattr(config, "vision_config", config)
    for own, other in (("patch_size", "patch_size"), ("temporal_patch_size", "temporal_patch_size"), ("merge_size", "spatial_merge_size")):
        for source in (images, processor):
            _check_equal(name, own, getattr(source, own, None), getattr(vision, other, None))
    # In a model, the token of this name stands for a token of a picture. In Llama 4's processor it stands before the whole of an
    # image, and in Gemma 3's of transformers 5.24 before each picture.
    source = {"llama4": None, "gemma3": getattr(processor, "tokenizer", None)}.get(kind, processor)
    for own in ("image_token_id", "video_token_id"):
        _check_equal(name, own, getattr(source, own, None), getattr(config, own, None))


def _check_equal(name: str, what: str, own: Any, wanted: Any) -> None:
    if isinstance(own, int) and isinstance(wanted, int) and own != wanted:
        raise ArgumentError(f"the processor, a {name}, is not the model's: its {what} is {own}, the model's {wanted}")


def _wanted(model_type: str) -> str | None:
    """The name of the class of processors that transformers has for a family."""
    # Imported only here: when it is imported, transformers 4 replaces itself in sys.modules by a copy, while other modules may
    # already hold the original.
    names = importlib.import_module("transformers.models.auto.processing_auto").PROCESSOR_MAPPING_NAMES
    found = names.get(model_type) or names.get(model_type.removesuffix("_vision_model"))
    return found if isinstance(found, str) else None
