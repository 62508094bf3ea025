# SPDX-License-Identifier: Apache-2.0
"""The families of models that are known: how each is pruned, and with which versions of transformers."""
from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable

import transformers
import transformers.modeling_outputs

from .._core import ArgumentError, DeviceError

# The versions of transformers with which this was run. Later versions are taken to be like the last one.
SUPPORTED = ("4.47", "4.57", "5.23")


@dataclasses.dataclass(frozen=True)
class Family:
    """How a family is pruned.

    kind: the way of pruning, one of these:

        - ``"qwen"``: patches in a grid are pruned before the encoder (_qwen.py).
        - ``"encoder"``: the model is an image encoder with a table of positions (_encoder.py).
        - ``"prompt"``: the model is such an encoder with a language model after it, and is pruned before the encoder
          (_prompt.py).
        - ``"after"``: the encoder runs on all patches, and the language model gets the chosen tokens (_prompt.py).
        - ``"features"``: the model takes the encoder's output as an argument (_features.py).
    since: the index in `SUPPORTED` of the first version that has the family.
    merge: a function from the configuration to the number of patches along a side of a token.
    first_position: the position of the first token of a prompt.
    """

    kind: str
    since: int = 1
    merge: Callable[[Any], int] = lambda config: 1
    first_position: int = 0


def _gemma3(config: Any) -> int:
    vision = config.vision_config
    return int(vision.image_size // vision.patch_size // round(config.mm_tokens_per_image**0.5))


# The families by their `config.model_type`.
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
    """The `model_type` of the class of a model's configuration.

    The configuration itself may have another one: in transformers 4.57, that of a Qwen2-VL that was saved and loaded again has
    the `model_type` of its language model.
    """
    return getattr(type(getattr(model, "config", None)), "model_type", None)


def family_of(model: Any) -> Family:
    """The family of a model. Refuses a model that is not known, or not with the installed version of transformers."""
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
    """Refuses a Llama 4 of transformers 5.24, which fails on every prompt, pruned or not.

    It reads `image_outputs` from the output of its language model, which has no such field.
    """
    answer = getattr(transformers.modeling_outputs, "MoeCausalLMOutputWithPast", None)
    if "image_outputs" in inspect.unwrap(type(model).forward).__code__.co_names and not hasattr(answer, "image_outputs"):
        raise DeviceError(f"not supported: in transformers {transformers.__version__} a {type(model).__name__} fails on every prompt "
                          "(no image_outputs in its language model's output), pruned or not")


def at_least(major: int, minor: int) -> bool:
    """Whether the installed transformers is of this version or a later one."""
    return tuple(int(part) for part in transformers.__version__.split(".")[:2]) >= (major, minor)


def takes_places() -> bool:
    """Whether models of the installed transformers take places of patches, and the output of their encoder, from the caller."""
    return at_least(5, 23)
