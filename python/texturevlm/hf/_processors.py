# SPDX-License-Identifier: Apache-2.0
"""What is read from a processor: how it made values of pixels, and whether it is the model's."""
from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .._arguments import real, short, values as numbers
from .._core import ArgumentError, ArgumentTypeError
from ._families import Family, model_type_of

# What a processor has that says how it makes values of pixels.
VALUES = ("do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std")


def colours(name: str, value: Any) -> list[float]:
    """Three numbers, of red, green and blue; one stands for all three."""
    found = numbers(name, value, (0, 1)).reshape(-1)
    if found.shape not in ((3,), (1,)):
        raise ArgumentError(f"{name} are {found.shape[0]} numbers, not 3")
    return [float(number) for number in (found.tolist() * 3)[:3]]


def normalisation_of(source: Any) -> tuple[list[float], list[float]]:
    """mean and std of which value * std + mean is the pixel, 0 .. 1; of a processor (its image processor's), of an image or a video
    processor, or of anything with the attributes in `VALUES`. Where it does not rescale, pixels are taken to be bytes."""
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
    """The same mean and std where the processor's pixels were bytes; where it does not rescale, and the highest value says that they
    were 0 .. 1 already (as bytes they would all be black), those of such pixels."""
    images = getattr(source, "image_processor", None) or source
    scale = 255.0 if getattr(images, "do_rescale", None) is False and 255 * (highest * min(std) + min(mean)) <= 1.5 else 1.0
    return [value * scale for value in mean], [value * scale for value in std]


# ---- Whether it is the model's ----

def check_processor(model: Any, family: Family, processor: Any) -> None:
    """Refuses what is no processor, or another family's: one that makes other patches, or other tokens, than the model takes."""
    normalisation_of(processor)
    config, name = model.config, type(processor).__name__
    kind = model_type_of(model)
    wanted = _wanted(kind)
    module = type(processor).__module__
    if wanted and module.startswith("transformers.models.") and hasattr(processor, "tokenizer"):
        qwen = family.kind == "qwen" and "Qwen" in name  # they differ in their videos' times; patches and tokens are compared below
        if not qwen and wanted not in [base.__name__ for base in type(processor).__mro__]:
            raise ArgumentError(f"the processor is a {name}; a {kind} has a {wanted}")
    images = getattr(processor, "image_processor", None) or processor
    vision = getattr(config, "vision_config", config)
    for own, other in (("patch_size", "patch_size"), ("temporal_patch_size", "temporal_patch_size"), ("merge_size", "spatial_merge_size")):
        for source in (images, processor):
            _check_equal(name, own, getattr(source, own, None), getattr(vision, other, None))
    # Llama 4's processor calls so what stands before the whole of an image, and Gemma 3's in 5.24 what stands before each picture; the
    # models, what stands for a token of a picture.
    source = {"llama4": None, "gemma3": getattr(processor, "tokenizer", None)}.get(kind, processor)
    for own in ("image_token_id", "video_token_id"):
        _check_equal(name, own, getattr(source, own, None), getattr(config, own, None))


def _check_equal(name: str, what: str, own: Any, wanted: Any) -> None:
    if isinstance(own, int) and isinstance(wanted, int) and own != wanted:
        raise ArgumentError(f"the processor, a {name}, is not the model's: its {what} is {own}, the model's {wanted}")


def _wanted(model_type: str) -> str | None:
    """The name of the class of processors that transformers has for a family."""
    # Imported late: importing it, transformers 4 replaces itself in sys.modules by a copy, from which others took it before.
    names = importlib.import_module("transformers.models.auto.processing_auto").PROCESSOR_MAPPING_NAMES
    found = names.get(model_type) or names.get(model_type.removesuffix("_vision_model"))
    return found if isinstance(found, str) else None
