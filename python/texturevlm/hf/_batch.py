# SPDX-License-Identifier: Apache-2.0
"""The base of all pruned batches of prompts: it knows which places of the full prompt are left, and makes the shorter prompt."""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Callable

import torch

from .._arguments import short
from .._core import ArgumentError, ArgumentTypeError, Error
from ._generate import check_own, generate
from ._tokens import Bound
from ._ways import Report
from ._wrapped import check_gradients, check_taken, view_of


class PrunedBatch(Bound):
    """A batch of prompts with pictures, without the dropped tokens. `prune_batch` makes it.

    Attributes:
        input_ids, attention_mask: [rows, length], padded on the left.
        position_ids: [rows, length], for Qwen-VL [3, rows, length]. They are the positions of the tokens in the full prompt.
        kept: bool [rows, length of the full prompt], True for the places of the full prompt that are left.
        tokens: how many tokens of pictures are left.
        all_tokens: how many tokens of pictures there were, in the pictures that the model gets.
        report: what was decided for the pictures, where a `Pruner` decided by what they lose; else None.
        skipped: the images that a `Pruner` left out, by their number over all messages from 0, with the error of each.
        conversations: which of the conversations that a `Pruner` was given each row is; None: it was given a batch.
    """

    report: Report | None = None
    skipped: Mapping[int, Error] = MappingProxyType({})
    conversations: list[int] | None = None

    _prefix: tuple[Any, int] | None = None  # the cache of an earlier prompt that begins alike, and for how many tokens it does
    position_ids: torch.Tensor
    _path = ""  # from the model to the module on which a call sets something
    _sets_to_run = False  # whether forward sets something, too, and not only generate
    _sums_gradients = False  # whether the model was wrapped in DistributedDataParallel

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
        self._labels = batch.get("labels")
        self._types: dict[str, torch.Tensor] = {}
        self.kept = self._full_mask.bool().clone()
        self.tokens = self.all_tokens = 0

    def __repr__(self) -> str:
        said = f"<texturevlm.hf.PrunedBatch of {len(self._full)} prompts: {self.tokens} of {self.all_tokens} tokens of pictures"
        return f"{said}>" if self.report is None else f"{said}; {self.report!r}>"

    def _drop(self, token: int, kept: torch.Tensor, name: str) -> None:
        """Drops places of a token. `kept` says for each place of it, in order, whether the place is kept."""
        places = (self._full == token) & self._full_mask.bool()
        if int(places.sum()) != len(kept):
            raise ArgumentError(f"the prompts have {int(places.sum())} places for tokens, {name} has {len(kept)}")
        self.kept[places] = kept
        self.tokens += int(kept.sum())
        self.all_tokens += len(kept)

    def _check_without(self, token: int, name: str) -> None:
        """Refuses prompts with places of a token for which the batch has no pictures: they would be answered without pictures."""
        places = (self._full == token) & self._full_mask.bool()
        if bool(places.any()):
            raise ArgumentError(f"the prompts have {int(places.sum())} places for tokens, and the batch has no {name}")

    def _left(self, values: torch.Tensor, padding: Any = 0) -> torch.Tensor:
        """The values [..., rows, length of the full prompt] at the places that are left, padded on the left."""
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
        """The token for padding, which never stands for a picture."""
        config = self._model.config
        for source in (getattr(self._model, "generation_config", None), config, getattr(config, "text_config", None)):
            token = getattr(source, "pad_token_id", None)
            if token is not None:
                return int(token)
        return 0

    def _placed(self) -> torch.Tensor:
        """The positions in the form in which the model takes them."""
        return self.position_ids

    def _first(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        """What the model is given beside prompts and positions, and a function that says afterwards whether it took that.

        `views` are the views of the modules on `_path` (view_of). They belong to this call alone.
        """
        raise NotImplementedError

    def _resume(self, batch: Mapping[str, Any], cache: Any, places: int, tokens: int) -> None:
        """Lets generate begin behind the first `places` of the prompt, of which the cache has keys and values.

        They have the first picture of the batch, which has so many tokens, all kept.
        """
        self._prefix = (cache, places)

    def _begin_later(self, views: list[Any]) -> None:
        """Sets on the views what generate asks for where it begins behind `_prefix`."""

    def _rest(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        """The same for a call that begins behind `_prefix`."""
        raise NotImplementedError

    def forward(self, **options: Any) -> Any:
        """Calls the model's forward. Gives the model's own output, with logits [rows, length, words].

        The options are those of the model's forward. Gradients reach everything that is kept.

        `labels` are [rows, length of the full prompt], and -100 for a place without a label. By default they are the labels of
        the batch, if it has any. The loss is that of the full prompt with the dropped tokens masked, over the places that are
        kept. A label directly after a dropped token is left out, since the token that would have predicted it is gone.
        """
        check_own(options)
        check_gradients(self._sums_gradients)
        labels = options.pop("labels", self._labels)
        if labels is not None:
            options["labels"] = self._short_labels(labels)
        # What this batch must set on modules is set on a view, since other threads may call the model meanwhile.
        views = view_of(self._model, self._path) if self._sets_to_run else [self._model]
        own, taken = self._first(views)
        given = {"input_ids": self.input_ids, "attention_mask": self.attention_mask, "position_ids": self._placed(), **self._types, **own}
        answer = views[0](**given, **options)
        check_taken(taken(), "the pictures")
        return answer

    def _short_labels(self, labels: Any) -> torch.Tensor:
        if not isinstance(labels, torch.Tensor) or labels.shape != self._full.shape or labels.is_floating_point():
            raise ArgumentError(f"labels are {short(labels)[:60]}, not whole numbers of the full prompt's shape {list(self._full.shape)}")
        said = torch.nn.functional.pad(self.kept[:, :-1], (1, 0)).to(labels.device)
        return self._left(labels.masked_fill(~said, -100), -100)

    def generate(self, **options: Any) -> Any:
        """Generates like model.generate: gives the full prompts, followed by what is generated.

        With return_dict_in_generate it gives the output of generate. The sequences in it are those of the full prompts; its
        cache, hidden states and attentions are those of the shorter prompts.

        The options are those of generate. max_length and min_length count the full prompt. Streamers, logits processors and
        stopping criteria are called with the full prompt. Refused are beams, several answers to a prompt, and options that need
        another model or the prompt in parts.
        """
        return generate(self, options)
