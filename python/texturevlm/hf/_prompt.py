# SPDX-License-Identifier: Apache-2.0
"""Models whose prompt has an image token for each token of a picture, and positions of one dimension.

LLaVA is pruned before its encoder, which is CLIP's or SigLIP's (_encoder.py). Gemma 3, PaliGemma, InternVL and SmolVLM merge
several patches after their encoder, or allow no other way: they are pruned *after* it. Their encoder takes as long as without
pruning, and only the language model has less to do. In both cases the tokens keep the positions of the full prompt.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import torch

from ._batch import PrunedBatch
from ._encoder import rows_of, show_rows
from ._families import Family
from ._tokens import check_pictures, check_unused, chosen_tokens, groups_of, kept_of
from ._wrapped import check_taken, view_of


def pictures_of(pixel_values: Any) -> Any:
    """The pictures [pictures, 3, height, width]. SmolVLM has a row of pictures for each prompt, filled up with black pictures."""
    if isinstance(pixel_values, torch.Tensor) and pixel_values.ndim == 5:
        flat = pixel_values.flatten(0, 1)
        return flat[flat.flatten(1).any(dim=1)]
    return pixel_values


def token_of(model: Any, family: Family) -> tuple[int, int]:
    """The side of a patch in pixels, and how many patches a token has along a side."""
    patch = model.config.vision_config.patch_size
    return int(patch[0] if isinstance(patch, (list, tuple)) else patch), family.merge(model.config)


def _flat(features: Any) -> torch.Tensor:
    """[tokens, width]: the result of get_image_features, which has another form in each version of transformers."""
    features = getattr(features, "pooler_output", features)
    if isinstance(features, (list, tuple)):
        features = torch.cat([part.flatten(0, -2) for part in features])
    flat: torch.Tensor = features.flatten(0, -2)
    return flat


class PromptBatch(PrunedBatch):
    """Prompts with images, for one of these models."""

    def __init__(self, model: Any, batch: Mapping[str, Any], keep: Any, family: Family) -> None:
        super().__init__(model, batch)
        self._before = family.kind == "prompt"
        self._images = {name: batch[name] for name in ("pixel_values", "pixel_attention_mask") if batch.get(name) is not None}
        self._chosen: list[torch.Tensor] = []  # for each picture, which of its tokens are kept
        if "pixel_values" in self._images:
            patch, merge = token_of(model, family)
            pictures = pictures_of(self._images["pixel_values"])
            rows, columns = check_pictures(pictures, patch * merge)
            self._chosen = kept_of(keep, [rows * columns] * len(pictures), self._full.device)
            self._class_tokens = class_tokens(model, family)
            shown = [torch.nn.functional.pad(flags, (self._class_tokens, 0), value=True) for flags in self._chosen]
            self._drop(model.config.image_token_id, torch.cat(shown), "pixel_values")
        else:
            check_unused("keep", keep, "pixel_values")
            self._check_without(model.config.image_token_id, "pixel_values")
        self._shorten((self._full_mask.cumsum(dim=1) - 1).clamp(min=0) + family.first_position)
        types = batch.get("token_type_ids")
        if types is not None:
            self._types["token_type_ids"] = self._left(types)

    def _features(self, first: int = 0) -> torch.Tensor:
        """[kept tokens, width]: the vectors that the language model gets of the pictures, from this one on."""
        if not self._before:
            found = _flat(self._model.model.get_image_features(**self._later_images(first)))
            chosen = torch.cat(self._chosen[first:]).to(found.device)
            check_taken(len(found) == len(chosen), f"the pictures' {len(chosen)} tokens")
            return found[chosen]
        answers: dict[int, torch.Tensor] = {}
        counts = [int(flags.sum()) for flags in self._chosen]
        for count in set(counts[first:]):  # pictures of which as many tokens are kept make one batch
            group = [i for i, own in enumerate(counts) if own == count and i >= first]
            view, _, tower = view_of(self._model, "model.vision_tower", below=-1)  # LLaVA reads the hidden states of its layers
            shown = show_rows(tower, rows_of([self._chosen[i] for i in group])[0])
            features = _flat(view.model.get_image_features(pixel_values=self._images["pixel_values"][group]))
            check_taken(shown() and len(features) == len(group) * (count + self._class_tokens), "the chosen patches")
            answers.update(zip(group, features.chunk(len(group))))
        return torch.cat([answers[i] for i in range(first, len(counts))])

    def _later_images(self, first: int) -> dict[str, torch.Tensor]:
        """The pictures of the batch from this one on. If it is not the first, the batch must have one prompt."""
        across = int(self._images["pixel_values"].ndim == 5)  # SmolVLM has a row of pictures for each prompt
        return {name: value.narrow(across, first, value.shape[across] - first) for name, value in self._images.items()}

    def _embedded(self, begin: int = 0, first: int = 0) -> torch.Tensor:
        """[rows, length, width]: the embeddings of the shorter prompts, with the vectors of pictures in their places.

        Those of the first `begin` places are left out. The pictures that stand in them are those before `first`.
        """
        ids = self.input_ids[:, begin:]
        places = (ids == self._model.config.image_token_id) & self.attention_mask[:, begin:].bool()
        words = ids.masked_fill(places, self._padding())  # the image token may lie outside the vocabulary
        embedded: torch.Tensor = self._model.get_input_embeddings()(words)
        if self._chosen:
            features = self._features(first).to(embedded.device, embedded.dtype)
            embedded = embedded.masked_scatter(places[:, :, None].expand_as(embedded), features)
        return embedded

    def _first(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        return {"input_ids": None, "inputs_embeds": self._embedded()}, lambda: True  # _features has checked it already

    def _rest(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        assert self._prefix is not None
        return {"input_ids": None, "inputs_embeds": self._embedded(self._prefix[1], 1)}, lambda: True


def class_tokens(model: Any, family: Family) -> int:
    """How many class tokens of the encoder LLaVA shows, too. They are always kept."""
    return int(family.kind == "prompt" and model.config.vision_feature_select_strategy == "full"
               and model.config.vision_config.model_type == "clip_vision_model")


def choose(model: Any, processor: Any, batch: Mapping[str, Any], asked: Mapping[str, Any], options: Mapping[str, Any],
           family: Family) -> dict[str, Any]:
    """The argument `keep` of prune_batch, chosen by the scores of the pictures."""
    if batch.get("pixel_values") is None:
        return {}
    patch, merge = token_of(model, family)
    pictures = pictures_of(batch["pixel_values"])
    rows, columns = check_pictures(pictures, patch * merge)
    groups, beside = None, class_tokens(model, family)
    if options["spending"] is not None and options["spending"].budget is not None:
        groups = groups_of(batch, model.config.image_token_id, [rows * columns + beside] * len(pictures))
    return chosen_tokens(pictures, merge=merge, patch=patch, processor=processor, groups=groups, lines=[beside] * len(pictures), **asked,
                         **options)
