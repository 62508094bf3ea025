# SPDX-License-Identifier: Apache-2.0
"""Encoders whose layers see only the chosen patches, while everything around the layers sees every patch.

Steps that work on one patch, or on the patches of one token, run as before. A patch that the layers did not see has zeros after
them, which nobody uses. The model is not changed: a view of it (_wrapped.py) has another module in the place of its layers.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers

from .._core import DeviceError
from ._wrapped import check_taken


class _Stand(torch.nn.Module):  # type: ignore[misc]
    """Stands in the place of a module. A call of it calls a function, with that module as the first argument."""

    def __init__(self, own: Any, answer: Callable[..., Any]) -> None:
        super().__init__()
        self.own, self.answer, self.called = own, answer, False

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__["_modules"]["own"]
        return own if name == "own" else getattr(own, name)

    def forward(self, *arguments: Any, **options: Any) -> Any:
        self.called = True
        return self.answer(self.own, *arguments, **options)


def stand_in(view: Any, name: str, answer: Callable[..., Any]) -> Callable[[], bool]:
    """Puts a function in the place of a module of a view. The function gets the module as its first argument.

    Returns a function that says whether the module was called.
    """
    own = view._modules.get(name)
    if own is None:
        raise DeviceError(f"not supported: a {type(view).__name__} of transformers {transformers.__version__} has no {name}")
    stand = view._modules[name] = _Stand(own, answer)
    return lambda: stand.called


def gathered(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The chosen patches of [pictures, patches, ...]. `rows` are their numbers, int64 [pictures, chosen]."""
    rows = rows.to(values.device)
    index = rows.reshape(*rows.shape, *[1] * (values.ndim - 2)).expand(-1, -1, *values.shape[2:])
    return values.expand(rows.shape[0], *values.shape[1:]).gather(1, index)


def scattered(values: torch.Tensor, rows: torch.Tensor, mask: torch.Tensor, length: int) -> torch.Tensor:
    """[pictures, length, width]: the values of the chosen rows in their places, if the mask has a 1 for them; elsewhere zeros."""
    rows, mask = rows.to(values.device), mask.to(values.device)
    found = values.new_zeros(values.shape[0], length, values.shape[2])
    return found.scatter_add(1, rows[:, :, None].expand_as(values), values * mask[:, :, None].to(values.dtype))


def gathered_mask(mask: Any, rows: torch.Tensor) -> Any:
    """The part of an attention mask for the chosen rows.

    A mask is [pictures, patches], [pictures, heads, patches, patches] or None.
    """
    if mask is None:
        return None
    if mask.ndim == 2:
        return gathered(mask, rows)
    rows = rows.to(mask.device)
    count, (heads, chosen) = rows.shape[0], (mask.shape[1], rows.shape[1])
    keys = mask.expand(count, -1, -1, -1).gather(3, rows[:, None, None, :].expand(count, heads, mask.shape[2], chosen))
    return keys.gather(2, rows[:, None, :, None].expand(count, heads, chosen, chosen)) if mask.shape[2] > 1 else keys


def picked(features: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """The kept rows of [tokens, width]."""
    check_taken(len(features) == len(kept), f"the pictures' {len(kept)} tokens")
    return features[kept.to(features.device)]
