# SPDX-License-Identifier: Apache-2.0
"""Chooses the tokens of images and videos that are kept, by the settings of engine and request, and restores the full prompt."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .._arguments import known, short
from .._core import ArgumentError, ArgumentTypeError
from ..hf._held import held_tokens
from ..hf._tokens import checked, older, selected
from ..hf._ways import refuse_size, share_of, shared

NAME = "texturevlm"  # the name of the settings in mm_processor_kwargs
_SETTINGS = ("budget", "share", "tolerance", "way", "k", "strategy")
_OF_VIDEOS = "video_share"


def settings_of(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in mm_processor_kwargs that are not None. Raises an `ArgumentError` for one that does not fit."""
    given = kwargs.get(NAME)
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentTypeError(f"{NAME} in mm_processor_kwargs is {short(given)}, not a mapping")
    found = {name: value for name, value in sorted((given or {}).items()) if value is not None}
    if "looks" in found:
        raise ArgumentError("vLLM hands no attention out, by which a second look would be chosen: looks is for texturevlm.hf alone")
    if isinstance(found.get("way"), str):
        refuse_size(found["way"])
    preset = found.pop("preset", None)
    _warn_once("k" in found, preset is not None)
    if preset is not None:
        found.setdefault("strategy", "budget")
    known(found, (*_SETTINGS, _OF_VIDEOS))
    if _OF_VIDEOS in found:
        share_of(_OF_VIDEOS, found[_OF_VIDEOS])
    checked(**of_images(found))
    return found


@functools.lru_cache(maxsize=None)
def _warn_once(has_k: bool, has_preset: bool) -> None:
    """Warns of settings that go, but not for each request again."""
    older(f"{NAME} in mm_processor_kwargs", has_k or None, has_preset or None, None, "share")


def of_images(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are options of select_tokens."""
    return {name: value for name, value in settings.items() if name != _OF_VIDEOS}


def share_of_videos(settings: Mapping[str, Any]) -> float | None:
    """The share of each video's tokens that is kept; None: videos are left to vLLM."""
    share = settings.get(_OF_VIDEOS)
    return None if share is None else float(share)


def kept_tokens(pixels: torch.Tensor, grid: torch.Tensor, merge: int, settings: Mapping[str, Any], **options: Any) -> torch.Tensor:
    """For one image a bool for each of its tokens, on the CPU: whether the token is kept.

    `grid` is int [3]. `options` are mean, std and temporal of select_tokens.
    """
    tokens, longest = int(grid.prod()) // merge**2, _longest(grid, merge)
    chosen = selected(pixels, grid[None], merge, **settings, **options)[0]
    if len(chosen) < longest:
        wanted = {**settings, "k": longest} if "k" in settings else {**settings, "share": longest / tokens, "tolerance": None}
        chosen = selected(pixels, grid[None], merge, **wanted, **options)[0]
    return _flags(chosen, tokens)


def kept_together(pixels: torch.Tensor, grids: torch.Tensor, merge: int, settings: Mapping[str, Any], **options: Any) -> list[torch.Tensor]:
    """What kept_tokens gives, for all images of a request, which share the budget that the settings have.

    `pixels` has the patches of all, and `grids` is int [images, 3].
    """
    least = [_longest(grid, merge) for grid in grids]
    if settings["budget"] < sum(least):
        raise ArgumentError(f"a budget of {settings['budget']} tokens for {len(least)} image{'s' if len(least) > 1 else ''}; with as many of "
                            f"each as its longer side has, these need at least {sum(least)}")
    chosen = selected(pixels, grids, merge, least=least, **settings, **options)
    return [_flags(own, int(grid.prod()) // merge**2) for own, grid in zip(chosen, grids)]


def _longest(grid: torch.Tensor, merge: int) -> int:
    """How many tokens the longer side of an image has. With fewer kept tokens the text after the image would have positions beyond the
    prompt's length."""
    return int(grid[1:].max()) // merge


def _flags(chosen: torch.Tensor, tokens: int) -> torch.Tensor:
    kept = torch.zeros(tokens, dtype=torch.bool)
    kept[chosen.cpu()] = True
    return kept


def kept_of_video(pixels: torch.Tensor, grid: torch.Tensor, merge: int, temporal: int, share: float) -> torch.Tensor:
    """For one video a bool for each of its tokens, on the CPU: whether the token is kept.

    Kept are at least `least_of_video`.
    """
    return held_tokens(pixels, grid, merge, temporal, max(asked_of_video(grid, merge, share), least_of_video(grid, merge)))


def asked_of_video(grid: torch.Tensor, merge: int, share: float) -> int:
    """How many tokens a share of a video's is."""
    return shared(share, int(grid.prod()) // merge**2)


def least_of_video(grid: torch.Tensor, merge: int) -> int:
    """How many tokens a video keeps at least: all of the first slot, and so many that the text after the video has no position beyond the
    prompt's length. Each slot takes as many positions as its longer side has tokens."""
    tall, wide = (int(side) // merge for side in grid[1:])
    return max(tall * wide, int(grid[0]) * max(tall, wide))


def full_prompt(tokens: list[int], features: Sequence[Any], image_token: int, video_tokens: tuple[int, int] | None = None,
                merge: int = 2) -> tuple[list[int], list[Any], list[bool]]:
    """The prompt with all tokens of its images and videos, vLLM's features at their places in it, and for each place whether it is kept.

    `video_tokens` are the token of each of a video's places, and the one before the places of each slot.
    """
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
        elif video_tokens is not None and feature.data is not None and "video_keep" in feature.data:
            part, stays = _full_video(part, feature.data, video_tokens, merge)
            position = dataclasses.replace(position, length=len(part), is_embed=None)
        moved.append(dataclasses.replace(feature, mm_position=position))
        full += part
        kept += stays
    return full + tokens[end:], moved, kept + [True] * (len(tokens) - end)


def _full_video(tokens: list[int], item: Any, video_tokens: tuple[int, int], merge: int) -> tuple[list[int], list[bool]]:
    """A video's part of the prompt with all of its tokens, and for each place whether it is kept."""
    place, before = video_tokens
    slots = slots_of(item, merge)
    if tokens.count(before) != len(slots) or tokens.count(place) != sum(map(sum, slots)):
        raise ArgumentError(f"a video has {tokens.count(place)} places in {tokens.count(before)} slots of the prompt, "
                            f"video_keep has {sum(map(sum, slots))} in {len(slots)}")
    part: list[int] = []
    stays: list[bool] = []
    following = iter(slots)
    for token in tokens:
        if token == place:
            continue
        part.append(token)
        stays.append(True)
        if token == before:
            flags = next(following)
            part += [place] * len(flags)
            stays += flags
    return part, stays


def slots_of(item: Any, merge: int) -> list[list[bool]]:
    """For each slot of a video and each of its tokens whether it is kept, read from the processor's output for the video."""
    t, h, w = item["video_grid_thw"].data.tolist()
    flags: list[list[bool]] = item["video_keep"].data.reshape(t, h * w // merge**2).tolist()
    return flags


def flags_of(item: Any) -> list[bool]:
    """For each token of an image whether it is kept, read from the processor's output for the image."""
    if item is None or "image_keep" not in item:
        raise ArgumentError("an image has no image_keep: it did not come through texturevlm's processor")
    flags: list[bool] = item["image_keep"].data.tolist()
    return flags
