# SPDX-License-Identifier: Apache-2.0
"""Chooses the tokens of images that are kept, by the settings of engine and request, and restores the full prompt."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .._arguments import known, short
from .._core import ArgumentError, ArgumentTypeError
from ..hf import select_tokens
from ..hf._tokens import checked
from ..hf._ways import refuse_size

NAME = "texturevlm"  # the name of the settings in mm_processor_kwargs
_SETTINGS = ("share", "tolerance", "way", "k", "strategy")


def settings_of(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in mm_processor_kwargs that are not None. Raises an `ArgumentError` for one that does not fit."""
    given = kwargs.get(NAME)
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentTypeError(f"{NAME} in mm_processor_kwargs is {short(given)}, not a mapping")
    found = {name: value for name, value in sorted((given or {}).items()) if value is not None}
    if "budget" in found:
        raise ArgumentError("vLLM processes each image by itself, so that a budget for all cannot be divided: give share or tolerance")
    if "looks" in found:
        raise ArgumentError("vLLM hands no attention out, by which a second look would be chosen: looks is for texturevlm.hf alone")
    if isinstance(found.get("way"), str):
        refuse_size(found["way"])
    known(found, _SETTINGS)
    checked(**found)
    return found


def kept_tokens(pixels: torch.Tensor, grid: torch.Tensor, merge: int, settings: Mapping[str, Any], **options: Any) -> torch.Tensor:
    """For one image a bool for each of its tokens, on the CPU: whether the token is kept.

    `grid` is int [3]. `options` are mean, std and temporal of select_tokens.
    """
    tokens = int(grid.prod()) // merge**2
    longest = int(grid[1:].max()) // merge
    chosen = select_tokens(pixels, grid[None], merge, **settings, **options)[0]
    if len(chosen) < longest:  # the text after the image would have positions beyond the prompt's length
        wanted = {**settings, "k": longest} if "k" in settings else {**settings, "share": longest / tokens, "tolerance": None}
        chosen = select_tokens(pixels, grid[None], merge, **wanted, **options)[0]
    kept = torch.zeros(tokens, dtype=torch.bool)
    kept[chosen.cpu()] = True
    return kept


def full_prompt(tokens: list[int], features: Sequence[Any], image_token: int) -> tuple[list[int], list[Any], list[bool]]:
    """The prompt with all tokens of its images, vLLM's features at their places in it, and for each place whether it is kept."""
    full: list[int] = []
    kept: list[bool] = []
    moved, end = [], 0
    for feature in sorted(features, key=lambda feature: feature.mm_position.offset):
        place = feature.mm_position
        full += tokens[end:place.offset]
        kept += [True] * (place.offset - end)
        end = place.offset + place.length
        part, stays = tokens[place.offset:end], [True] * place.length
        position = dataclasses.replace(place, offset=len(full))
        if feature.modality == "image":
            stays = flags_of(feature.data)
            if sum(stays) != place.length:
                raise ArgumentError(f"an image has {place.length} places in the prompt, image_keep has {sum(stays)}")
            part = [image_token] * len(stays)
            position = dataclasses.replace(position, length=len(stays))
        moved.append(dataclasses.replace(feature, mm_position=position))
        full += part
        kept += stays
    return full + tokens[end:], moved, kept + [True] * (len(tokens) - end)


def flags_of(item: Any) -> list[bool]:
    """For each token of an image whether it is kept, read from the processor's output for the image."""
    if item is None or "image_keep" not in item:
        raise ArgumentError("an image has no image_keep: it did not come through texturevlm's processor")
    flags: list[bool] = item["image_keep"].data.tolist()
    return flags
