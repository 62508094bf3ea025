# SPDX-License-Identifier: Apache-2.0
"""What all pruned batches of prompts share: which places of the full prompt are left, and the shorter prompt."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .._arguments import short
from .._core import ArgumentError, ArgumentTypeError
from ._tokens import Bound


class PrunedBatch(Bound):
    """A batch of which the dropped tokens are gone: what `prune_batch` makes of prompts with pictures.

    Attributes:
        input_ids, attention_mask: [rows, length], padded on the left. position_ids: [rows, length], of Qwen-VL [3, rows, length];
            they are those of the full prompt.
        kept: bool [rows, length of the full prompt], the places of the full prompt that are left.
        tokens, all_tokens: how many tokens of pictures are left, and how many there were.
    """

    position_ids: torch.Tensor

    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        ids, mask = batch["input_ids"], batch.get("attention_mask")
        for name, value in (("input_ids", ids), ("attention_mask", ids if mask is None else mask)):
            if not isinstance(value, torch.Tensor) or value.ndim != 2 or value.is_floating_point() or not value.numel():
                raise ArgumentTypeError(f"{name} is {short(value)[:60]}, not a tensor of whole numbers [rows, length]")
        if mask is not None and mask.shape != ids.shape:
            raise ArgumentError(f"input_ids have the shape {tuple(ids.shape)}, attention_mask {tuple(mask.shape)}")
        self._model = model
        self._full = ids
        self._full_mask = torch.ones_like(ids) if mask is None else mask
        self.kept = self._full_mask.bool().clone()
        self.tokens = self.all_tokens = 0

    def _drop(self, token: int, kept: torch.Tensor, name: str) -> None:
        """Drops places of that token, of which `kept` tells, one after the other."""
        places = (self._full == token) & self._full_mask.bool()
        if int(places.sum()) != len(kept):
            raise ArgumentError(f"the prompts have {int(places.sum())} places for tokens, {name} has {len(kept)}")
        self.kept[places] = kept
        self.tokens += int(kept.sum())
        self.all_tokens += len(kept)

    def _left(self, values: torch.Tensor, padding: Any = 0) -> torch.Tensor:
        """Of [..., rows, length of the full prompt] what is left, behind padding."""
        length = int(self.kept.sum(dim=1).max())
        found = torch.full((*values.shape[:-1], length), padding, dtype=values.dtype, device=values.device)
        for row, stays in enumerate(self.kept):
            part = values[..., row, stays]
            found[..., row, length - part.shape[-1]:] = part
        return found

    def _shorten(self, positions: torch.Tensor) -> None:
        self.input_ids = self._left(self._full, self._padding())
        self.attention_mask = self._left(self.kept.long())
        self.position_ids = self._left(positions, 1)

    def _padding(self) -> int:
        """A token that stands for nothing: never one of a picture's."""
        config = self._model.config
        for source in (getattr(self._model, "generation_config", None), config, getattr(config, "text_config", None)):
            token = getattr(source, "pad_token_id", None)
            if token is not None:
                return int(token)
        return 0

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Refuses what generate cannot be asked of a pruned batch."""
        for name in ("num_beams", "num_return_sequences"):
            if options.get(name) not in (None, 1):
                raise ArgumentError(f"{name}={options[name]} is not for a pruned batch")

    def forward(self, **options: Any) -> Any:
        """What the model answers: its own output, with logits [rows, length, words]."""
        raise NotImplementedError

    def generate(self, **options: Any) -> torch.Tensor:
        """As model.generate: the full prompts, and what is generated. Its options are generate's, but for beams and several
        answers to a prompt."""
        raise NotImplementedError
