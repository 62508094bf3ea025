# SPDX-License-Identifier: Apache-2.0
"""Which families of models are known, how each is pruned, and with which versions of transformers."""
from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable

import transformers
import transformers.modeling_outputs

from .._core import ArgumentError, DeviceError

# The versions of transformers that were run; those after the last one are taken to be like it.
SUPPORTED = ("4.47", "4.57", "5.23")


@dataclasses.dataclass(frozen=True)
class Family:
    """How a family is pruned.

    kind: ``"qwen"``: patches in a grid, before the encoder (_qwen.py); ``"encoder"``: an image encoder with a table of positions
    (_encoder.py); ``"prompt"``: such an encoder with a language model behind it, before it; ``"after"``: the encoder runs on all
    patches, the language model has the chosen tokens (both in _prompt.py); ``"features"``: the model takes what the encoder gave
    (_features.py).
    since: the first of `SUPPORTED` that has it. generates: the first with which generate runs.
    merge: from the configuration, how many patches along a side make a token.
    first_position: the position of the first token of a prompt.
    """

    kind: str
    since: int = 1
    merge: Callable[[Any], int] = lambda config: 1
    first_position: int = 0


def _gemma3(config: Any) -> int:
    vision = config.vision_config
    return int(vision.image_size // vision.patch_size // round(config.mm_tokens_per_image**0.5))


# By `config.model_type`.
FAMILIES = {
    "qwen2_vl": Family("qwen", 0),
    "qwen2_5_vl": Family("qwen"),
    "qwen3_vl": Family("qwen"),
    "qwen3_vl_moe": Family("qwen", 2),
    "qwen3_5": Family("qwen", 2),
    "qwen3_5_moe": Family("qwen", 2),
    "glm4v": Family("qwen", 2),
    "glm4v_moe": Family("qwen", 2),
    "clip": Family("encoder", 0),
    "clip_vision_model": Family("encoder", 0),
    "siglip": Family("encoder", 0),
    "siglip_vision_model": Family("encoder", 0),
    "siglip2": Family("encoder"),
    "siglip2_vision_model": Family("encoder"),
    "llava": Family("prompt"),
    "gemma3": Family("after", merge=_gemma3),
    "paligemma": Family("after", first_position=1),
    "internvl": Family("after", merge=lambda config: round(1 / config.downsample_ratio)),
    "smolvlm": Family("after", merge=lambda config: int(config.scale_factor)),
    "gemma3n": Family("features", 2),
    "gemma4": Family("features", 2),
    "idefics3": Family("features", 2),
    "llama4": Family("features", 2),
    "llava_next": Family("features", 2),
    "llava_onevision": Family("features", 2),
    "mistral3": Family("features", 2),
}


def model_type_of(model: Any) -> Any:
    """The `model_type` of a model's configuration: that of its class, since 4.57's Qwen2-VL answers with its language model's once it
    was saved and loaded again."""
    return getattr(type(getattr(model, "config", None)), "model_type", None)


def family_of(model: Any) -> Family:
    """The family of a model, if this module knows it with this transformers."""
    name = model_type_of(model)
    if name not in FAMILIES:
        raise ArgumentError(f"the model is of the family {name!r}; known are {', '.join(FAMILIES)}")
    family = FAMILIES[name]
    version = ".".join(transformers.__version__.split(".")[:2])
    if version not in SUPPORTED[family.since:] and not takes_places():
        raise DeviceError(f"not supported: {name} needs transformers {', '.join(SUPPORTED[family.since:])} or later, this is "
                          f"{transformers.__version__}")
    if name == "llama4":
        _check_llama4(model)
    return family


def _check_llama4(model: Any) -> None:
    """Of 5.24 no Llama 4 answers anything, pruned or not: it asks for a part of its language model's answer that there is not."""
    answer = getattr(transformers.modeling_outputs, "MoeCausalLMOutputWithPast", None)
    if "image_outputs" in inspect.unwrap(type(model).forward).__code__.co_names and not hasattr(answer, "image_outputs"):
        raise DeviceError(f"not supported: in transformers {transformers.__version__} a {type(model).__name__} fails on every prompt "
                          "(no image_outputs in its language model's output), pruned or not")


def takes_places() -> bool:
    """Whether the models take the places of patches from the caller, and what their encoders gave."""
    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    return (major, minor) >= (5, 23)
