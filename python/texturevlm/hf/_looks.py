# SPDX-License-Identifier: Apache-2.0
"""Two looks: the model sees a small picture and the question, and what its attention rests on it then sees in full.

Models know where to look before they can see what is there (arXiv 2502.17422). The first look is a prompt with a small picture of
the whole. Of one layer in the middle of the language model, the attention of the prompt's last token says which places of the
picture the answer hangs on. The second look is the same prompt, in which the full picture's tokens at these places follow the small
picture. Its keys and values up to there are those of the first look, and are not computed again.
"""
from __future__ import annotations

import copy
import dataclasses
import sys
from typing import Any

import numpy as np
import torch
import transformers

from .._core import ArgumentError, DeviceError
from ._families import at_least, model_type_of
from ._pictures import EXTRA
from ._ways import Rule, Spending, shared
from ._wrapped import cache_name, unwrapped, view_of

FIRST = 0.65
"""The share of the tokens that the first look takes."""
SHOWS = 8
"""So many pixels of the first look, at least, show what one token of the full picture shows: with fewer nothing is found."""
MOST = 0.8
"""The share of the tokens above which a first look leaves too few for the second."""

_NAME = "texturevlm_last_row"
_KINDS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe")


def check_looks(model: Any, looks: int, options: dict[str, Any]) -> None:
    """Refuses two looks where they cannot be, before the first picture."""
    if looks == 1:
        return
    name, spending = model_type_of(unwrapped(model)), options["spending"]
    if name not in _KINDS:
        raise ArgumentError(f"looks=2 is for {', '.join(_KINDS)}, not for a {name}")
    if spending is None or spending.tolerance is not None:
        raise ArgumentError("looks=2 spends a budget or a share: give one of them")
    if spending.way != "auto":
        raise ArgumentError(f"looks=2 chooses the pictures by itself: it is not for way={spending.way!r}")
    if not at_least(4, 57):
        raise DeviceError(f"not supported: looks=2 needs transformers 4.57 or later, this is {transformers.__version__}")


# ---- Sizes ----

@dataclasses.dataclass(frozen=True)
class Plan:
    """How the tokens of a picture are spent: columns and rows of the small picture and the full one, and tokens of the full one."""

    small: tuple[int, int]
    full: tuple[int, int]
    tokens: int


def plan_of(size: tuple[int, int], rule: Rule, spending: Spending) -> Plan | None:
    """None: there are too few tokens for a first look that shows anything, or enough for the full picture."""
    full = rule.size(*size)
    every = full[0] * full[1]
    wanted = spending.budget if spending.budget is not None else shared(spending.share or 1.0, every)
    least = (SHOWS / rule.side)**2 * every
    first = max(FIRST * wanted, least)
    if wanted >= every or first > MOST * wanted:
        return None
    small = rule.size(*size, round(first))
    rest = wanted - small[0] * small[1] - EXTRA
    return Plan(small, full, rest) if rest > 0 else None


# ---- The first look ----

@dataclasses.dataclass
class Look:
    """What a first look gave.

    attention: float32 [rows, columns], the share of the attention that each token of the small picture has, mean over heads.
    cache: keys and values of the prompt's first tokens.
    ids: the tokens of the prompt, [1, length].
    """

    attention: Any
    cache: Any
    ids: torch.Tensor


def look_at(model: Any, batch: dict[str, Any], grid: tuple[int, int]) -> Look:
    """Runs a prompt with one picture of a grid (columns, rows) of tokens, and reads where its last token looks."""
    inner = unwrapped(model)
    rows: list[torch.Tensor] = []
    view = _watched(inner, rows)
    cache = transformers.DynamicCache()
    with torch.no_grad():
        view(**batch, **{cache_name(inner): cache}, use_cache=True, logits_to_keep=1)
    if len(rows) != 1:
        raise DeviceError(f"not supported: the language model of a {type(inner).__name__} asked {len(rows)} times for its attention")
    places = batch["input_ids"][0] == inner.config.image_token_id
    seen = rows[0][0].float().mean(0)[places.to(rows[0].device)]
    return Look(seen.cpu().numpy().reshape(grid[1], grid[0]), cache, batch["input_ids"])


def _layers_of(model: Any) -> tuple[str, Any]:
    """The path from a model to the layers of its language model, and these."""
    for path in ("model.language_model.layers", "model.layers"):
        found = model
        for name in path.split("."):
            found = getattr(found, name, None)
        if found is not None:
            return path, found
    raise DeviceError(f"not supported: a {type(model).__name__} of transformers {transformers.__version__} has no layers that are known")


def _watched(model: Any, rows: list[torch.Tensor]) -> Any:
    """A view of the model that appends the last row of one layer's attention: [1, heads, length]."""
    path, layers = _layers_of(model)
    middle = len(layers) // 2
    views = view_of(model, f"{path}.{middle}.self_attn")
    attention = views[-1]
    attention.config = copy.copy(attention.config)
    attention._texturevlm_rows, attention._texturevlm_own = rows, attention.config._attn_implementation
    _register()
    attention.config._attn_implementation = _NAME
    return views[0]


def _register() -> None:
    functions = transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS
    if _NAME not in functions:
        functions.register(_NAME, _last_row)


def _last_row(module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **options: Any) -> Any:
    """Keeps the attention of the last query, and lets the model's own function do the work."""
    scaling = options.get("scaling")
    if scaling is None:
        scaling = query.shape[-1]**-0.5
    groups = query.shape[1] // key.shape[1]
    last = query[:, :, -1:].reshape(query.shape[0], key.shape[1], groups, query.shape[-1])
    scores = (last @ key.transpose(2, 3) * scaling).flatten(1, 2)
    module._texturevlm_rows.append(torch.softmax(scores.float(), -1))
    return _own_function(module)(module, query, key, value, attention_mask, **options)


def _own_function(module: Any) -> Any:
    own = module._texturevlm_own
    if own is None or own == "eager":
        return sys.modules[type(module).__module__].eager_attention_forward
    return transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS[own]


# ---- The second look ----

def places_of(attention: Any, plan: Plan) -> Any:
    """Which tokens of the full picture are seen in the second look: those that the first one looked at most: bool [rows, columns]."""
    columns, rows = plan.full
    spread = torch.nn.functional.interpolate(torch.from_numpy(attention)[None, None], (rows, columns), mode="bilinear")[0, 0].numpy()
    kept = np.zeros(rows * columns, bool)
    kept[np.argsort(-spread.reshape(-1), kind="stable")[:plan.tokens]] = True
    return kept.reshape(rows, columns)


def continue_from(pruned: Any, batch: dict[str, Any], look: Look) -> None:
    """Lets a second look begin where its prompt differs from that of the first one. Checks that the small picture lies before it."""
    first, second = look.ids[0], pruned.input_ids[0]
    length = min(len(first), len(second))
    same = (first[:length] == second[:length]).long().cumprod(0).sum()
    picture = (first == pruned._model.config.image_token_id).nonzero()[:, 0]
    places = min(int(same), length - 1)
    if places <= int(picture[-1]):
        raise ArgumentError("the prompts of two looks differ before the end of the small picture: the processor's template is not for them")
    look.cache.crop(places - len(first))
    pruned._resume(batch, look.cache, places, len(picture))


__all__ = ["Look", "Plan", "check_looks", "continue_from", "look_at", "places_of", "plan_of"]
