# SPDX-License-Identifier: Apache-2.0
"""Language models that have a picture's tokens in the places of a token of their prompt, at positions of one dimension.

LLaVA is pruned before its encoder (CLIP's or SigLIP's: _encoder.py). Gemma 3, PaliGemma, InternVL and SmolVLM put several patches
together behind their encoder, or have no other way in: they are pruned *after* it. There the encoder takes as long as ever, and only
the language model has less to do. Either way the tokens stay at the positions of the full prompt.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import transformers

from .._core import ArgumentError, DeviceError
from ._batch import PrunedBatch
from ._encoder import chosen_rows, rows_of
from ._families import Family
from ._tokens import check_pictures, kept_of, select_tokens


def _pictures(pixel_values: Any) -> Any:
    """[pictures, 3, height, width]: SmolVLM has a row of pictures for each prompt, filled up with black ones."""
    if isinstance(pixel_values, torch.Tensor) and pixel_values.ndim == 5:
        flat = pixel_values.flatten(0, 1)
        return flat[flat.flatten(1).any(dim=1)]
    return pixel_values


def _side(model: Any, family: Family) -> tuple[int, int]:
    """The side of a patch in pixels, and how many of them a token has along a side."""
    patch = model.config.vision_config.patch_size
    return int(patch[0] if isinstance(patch, (list, tuple)) else patch), family.merge(model.config)


def _flat(features: Any) -> torch.Tensor:
    """[tokens, width]: what get_image_features gives, in all versions."""
    features = getattr(features, "pooler_output", features)
    if isinstance(features, (list, tuple)):
        features = torch.cat([part.flatten(0, -2) for part in features])
    flat: torch.Tensor = features.flatten(0, -2)
    return flat


class PromptBatch(PrunedBatch):
    """Prompts with images of one of these models."""

    def __init__(self, model: Any, batch: Mapping[str, Any], keep: Any, family: Family) -> None:
        super().__init__(model, batch)
        self._before = family.kind == "prompt"
        self._images = {name: batch[name] for name in ("pixel_values", "pixel_attention_mask") if batch.get(name) is not None}
        self._chosen: list[torch.Tensor] = []  # of each picture, which of its tokens
        if "pixel_values" in self._images:
            patch, merge = _side(model, family)
            pictures = _pictures(self._images["pixel_values"])
            rows, columns = check_pictures(pictures, patch * merge)
            self._chosen = kept_of(keep, [rows * columns] * len(pictures), self._full.device)
            # LLaVA may show the encoder's class token, too: it stays.
            shown = int(self._before and model.config.vision_feature_select_strategy == "full"
                        and model.config.vision_config.model_type == "clip_vision_model")
            self._drop(model.config.image_token_id,
                       torch.cat([torch.nn.functional.pad(flags, (shown, 0), value=True) for flags in self._chosen]), "pixel_values")
        self._shorten((self._full_mask.cumsum(dim=1) - 1).clamp(min=0) + family.first_position)
        types = batch.get("token_type_ids")
        self._types = {} if types is None else {"token_type_ids": self._left(types)}

    def _features(self) -> torch.Tensor:
        """[kept tokens, width]: what the language model gets of the pictures."""
        features = self._model.model.get_image_features
        if not self._before:
            return _flat(features(**self._images))[torch.cat(self._chosen)]
        found: dict[int, torch.Tensor] = {}
        counts = [int(flags.sum()) for flags in self._chosen]
        for count in set(counts):  # together those of which as many are kept
            group = [i for i, own in enumerate(counts) if own == count]
            with chosen_rows(self._model.model.vision_tower, rows_of([self._chosen[i] for i in group])[0]):
                answers = _flat(features(pixel_values=self._images["pixel_values"][group]))
            found.update(zip(group, answers.chunk(len(group))))
        return torch.cat([found[i] for i in range(len(counts))])

    def _embedded(self) -> torch.Tensor:
        """[rows, length, width]: the shorter prompts, with the pictures in their places."""
        places = (self.input_ids == self._model.config.image_token_id) & self.attention_mask.bool()
        words = self.input_ids.masked_fill(places, self._padding())  # a picture's token may be none of the vocabulary
        embedded: torch.Tensor = self._model.get_input_embeddings()(words)
        if self._chosen:
            features = self._features().to(embedded.device, embedded.dtype)
            embedded = embedded.masked_scatter(places[:, :, None].expand_as(embedded), features)
        return embedded

    def forward(self, **options: Any) -> Any:
        return self._model(inputs_embeds=self._embedded(), attention_mask=self.attention_mask, position_ids=self.position_ids,
                           **self._types, **options)

    @contextlib.contextmanager
    def _given(self) -> Iterator[None]:
        """Within it the model takes the prompts with the pictures in their places, at the positions of the full prompt, when it is
        first called; and what is generated behind them."""
        dropped = self._full_mask.sum(dim=1, keepdim=True) - self.attention_mask.sum(dim=1, keepdim=True)
        started = False

        def give(module: Any, arguments: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            nonlocal started
            own = options.get("position_ids")
            if own is None or arguments:
                raise DeviceError(f"not supported: generate of transformers {transformers.__version__} gives the model no positions")
            if started:
                return arguments, {**options, "position_ids": own + dropped}
            if options["input_ids"].shape != self.input_ids.shape:
                raise ArgumentError("a pruned batch is not for prompts that are computed in parts")
            started = True
            return arguments, {**options, "input_ids": None, "inputs_embeds": self._embedded(), "position_ids": self.position_ids}

        handle = self._model.register_forward_pre_hook(give, with_kwargs=True)
        try:
            yield
        finally:
            handle.remove()

    def generate(self, **options: Any) -> torch.Tensor:
        self._check_options(options)
        if options.get("use_cache") is False:
            raise ArgumentError("use_cache=False is not for a pruned batch")
        with torch.no_grad(), self._given():
            answer = self._model.generate(input_ids=self.input_ids, attention_mask=self.attention_mask, **self._types, **options)
        return torch.cat([self._full, answer[:, self.input_ids.shape[1]:]], dim=1)


def choose(model: Any, processor: Any, batch: Mapping[str, Any], asked: Mapping[str, Any], options: Mapping[str, Any],
           family: Family) -> dict[str, Any]:
    """prune_batch's keep, by the scores of the pictures."""
    if batch.get("pixel_values") is None:
        return {}
    patch, merge = _side(model, family)
    return {"keep": select_tokens(_pictures(batch["pixel_values"]), merge=merge, patch=patch, processor=processor,
                                  **asked, **options)}
