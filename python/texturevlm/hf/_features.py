# SPDX-License-Identifier: Apache-2.0
"""Models that take the output of their encoder from the caller: those of transformers 5.23 and later.

A layout (_layouts.py, _crops.py) says where a family's tokens stand, and computes the encoder's output for the kept tokens. Here
that output goes to the model as the model's own argument `mm_encoder_outputs`, with the shorter prompt and the positions of the
full prompt. Nothing in the model is changed, so other threads may call it meanwhile.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import torch

from .._core import ArgumentError
from ._batch import PrunedBatch
from ._crops import CropLayout
from ._layouts import Gemma3nLayout, Gemma4Layout, Idefics3Layout, Layout, Llama4Layout, Mistral3Layout
from ._qwen import handed
from ._tokens import check_unused, chosen_tokens, groups_of, kept_of

_LAYOUTS: dict[str, type[Layout]] = {
    "gemma3n": Gemma3nLayout, "gemma4": Gemma4Layout, "idefics3": Idefics3Layout, "llama4": Llama4Layout, "llava_next": CropLayout,
    "llava_onevision": CropLayout, "mistral3": Mistral3Layout}


def _layout_of(model: Any, batch: Mapping[str, Any]) -> Layout | None:
    """The layout of a batch; None if its prompts have no pictures."""
    return None if batch.get("pixel_values") is None else _LAYOUTS[model.config.model_type](model, batch)


class FeatureBatch(PrunedBatch):
    """Prompts with images, for one of these models. `least`: of each picture so many tokens are kept at least."""

    def __init__(self, model: Any, batch: Mapping[str, Any], keep: Any, least: int = 1) -> None:
        super().__init__(model, batch)
        self._layout = _layout_of(model, batch)
        self._chosen: list[torch.Tensor] = []  # for each picture, which of its tokens are kept
        if self._layout is not None:
            self._chosen = kept_of(keep, [rows * columns for rows, columns in self._layout.grids], self._full.device, least)
            self._drop(model.config.image_token_id, self._layout.places(self._chosen), "pixel_values")
        else:
            check_unused("keep", keep, "pixel_values")
            self._check_without(model.config.image_token_id, "pixel_values")
        self._shorten((self._full_mask.cumsum(dim=1) - 1).clamp(min=0))
        for name in ("token_type_ids", "mm_token_type_ids"):
            if batch.get(name) is not None:
                self._types[name] = self._left(batch[name])

    def _features(self) -> torch.Tensor:
        """[places of pictures that are left, width]: the vectors of the pictures that the language model gets."""
        assert self._layout is not None
        return self._layout.embedded(self._layout.features(self._chosen))

    def _first(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        return self._given(self._chosen)

    def _rest(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        return self._given([torch.zeros_like(self._chosen[0]), *self._chosen[1:]])

    def _given(self, chosen: list[torch.Tensor]) -> tuple[dict[str, Any], Callable[[], bool]]:
        if self._layout is None:
            return {}, lambda: True
        return handed({"image": self._layout.output(self._layout.features(chosen))})


def choose(model: Any, processor: Any, batch: Mapping[str, Any], asked: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The argument `keep` of prune_batch, by the scores of each picture by itself, since pictures differ in size."""
    layout = _layout_of(model, batch)
    if layout is None:
        return {}
    pictures = layout.pictures()
    for name, value in asked.items():
        if value is not None and (not isinstance(value, (list, tuple)) or len(value) != len(pictures)):
            raise ArgumentError(f"there are {len(pictures)} pictures: {name} must be a list of as many")
    lines, groups = layout.lines(), None
    if options["spending"] is not None and options["spending"].budget is not None:
        groups = groups_of(batch, model.config.image_token_id, [rows * columns + more for (rows, columns), more in zip(layout.grids, lines)])
    return chosen_tokens(pictures, processor=processor, groups=groups, lines=lines, **asked, **options)
