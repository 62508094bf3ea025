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
from ._features import FeatureBatch
from ._qwen import QwenBatch
from ._showing import Plan
from ._wrapped import cache_name, check_taken, unwrapped, view_of

_NAME = "texturevlm_last_row"
_KINDS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "llava_onevision", "internvl", "smolvlm", "llava")


def check_looks(model: Any, processor: Any, looks: int, options: dict[str, Any]) -> None:
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
    if getattr(processor, "tokenizer", None) is None:
        raise ArgumentError(f"looks=2 asks the model a question: the processor, a {type(processor).__name__}, has no tokenizer")
    if not at_least(4, 57):
        raise DeviceError(f"not supported: looks=2 needs transformers 4.57 or later, this is {transformers.__version__}")


# ---- The first look ----

@dataclasses.dataclass
class Look:
    """What a first look gave.

    attention: float32 [rows, columns], the share of the attention that each token of the small picture has, mean over heads.
    cache: keys and values of the prompt's tokens, or of the first ones.
    ids: the tokens of the prompt, [1, length].
    layer: of which layer the attention is, and of which heads; in words.
    places: of how many tokens the cache is, where it cannot be made shorter; 0: it is of all, and can be.
    """

    attention: Any
    cache: Any
    ids: torch.Tensor
    layer: str
    places: int = 0


def look_at(model: Any, batch: dict[str, Any], grid: tuple[int, int], pairs: bool = False) -> Look:
    """Runs a prompt with one picture of a grid (columns, rows) of tokens, and reads where its last token looks.

    pairs: the prompt has the picture twice. No token of the second one is shown.
    """
    inner = unwrapped(model)
    rows: list[torch.Tensor] = []
    path, number, count = _layer_of(inner)
    view = _watched(inner, f"{path}.{number}.self_attn", rows)
    text = inner.config.get_text_config()
    linear = "linear_attention" in _kinds_of(text)
    cache, ids, places = transformers.DynamicCache(**({"config": text} if linear else {})), batch["input_ids"], 0
    options = {cache_name(inner): cache, "use_cache": True, "logits_to_keep": 1}
    with torch.no_grad():
        if linear:
            cache, places = _in_two_parts(view, batch, options, cache)
        elif pairs:
            tokens = torch.ones(grid[0] * grid[1], dtype=torch.bool)
            alone = FeatureBatch(view, batch, [tokens, ~tokens], least=0)
            alone.forward(**options)
            ids = alone.input_ids
        else:
            view(**batch, **options)
    if len(rows) != 1 + linear:
        raise DeviceError(f"not supported: the language model of a {type(inner).__name__} asked {len(rows)} times for its attention")
    there = ids[0] == inner.config.image_token_id
    seen = rows[-1][0].float().mean(0)[there.to(rows[-1].device)][:grid[0] * grid[1]]
    layer = f"layer {number} of 0 .. {count - 1}, the mean of all {rows[-1].shape[1]} heads"
    return Look(seen.cpu().numpy().reshape(grid[1], grid[0]), cache, ids, layer, places)


def _in_two_parts(view: Any, batch: dict[str, Any], options: dict[str, Any], cache: Any) -> tuple[Any, int]:
    """Runs a prompt up to the end of its picture, and then the rest. Returns a cache of the first part, and how long that is.

    Layers of linear attention (Qwen3.5) keep the sum of what they have seen, from which nothing can be taken away.
    """
    whole = QwenBatch(view, batch, None, None)
    ids, mask, positions = whole.input_ids, whole.attention_mask, whole._placed()
    places = int((ids[0] == view.config.image_token_id).nonzero()[-1, 0]) + 1
    own, taken = whole._first([view])
    view(input_ids=ids[:, :places], attention_mask=mask[:, :places], position_ids=positions[..., :places], **own, **options)
    check_taken(taken(), "the picture")
    first = copy.deepcopy(cache)
    view(input_ids=ids[:, places:], attention_mask=mask, position_ids=positions[..., places:], **options)
    return first, places


def _layers_of(model: Any) -> tuple[str, Any]:
    """The path from a model to the layers of its language model, and these."""
    for path in ("model.language_model.layers", "model.text_model.layers", "model.layers"):
        found = model
        for name in path.split("."):
            found = getattr(found, name, None)
        if found is not None:
            return path, found
    raise DeviceError(f"not supported: a {type(model).__name__} of transformers {transformers.__version__} has no layers that are known")


def _kinds_of(text: Any) -> list[str]:
    """The kind of attention of each layer of a language model, by its configuration. Empty: all layers have attention to all places."""
    return list(getattr(text, "layer_types", None) or [])


def _layer_of(model: Any) -> tuple[str, int, int]:
    """The path to a model's layers, the number of the one in the middle that has attention to all places, and how many there are."""
    path, layers = _layers_of(model)
    kinds = _kinds_of(model.config.get_text_config()) or ["full_attention"] * len(layers)
    full = [i for i, layer in enumerate(layers) if kinds[i] == "full_attention" and hasattr(layer, "self_attn")]
    if not full:
        raise DeviceError(f"not supported: no layer of a {type(model).__name__} has attention to all places")
    return path, min(full, key=lambda i: abs(i - len(layers) // 2)), len(layers)


def _watched(model: Any, path: str, rows: list[torch.Tensor]) -> Any:
    """A view of the model that appends the last row of one layer's attention: [1, heads, length]. path: that of its attention."""
    views = view_of(model, path)
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
    scores = ((last * scaling) @ key.transpose(2, 3)).flatten(1, 2).float()
    sinks = options.get("s_aux")  # of gpt-oss: a score for nothing, which takes its share
    if sinks is not None:
        scores = torch.cat([scores, sinks.float().reshape(1, -1, 1).expand(len(scores), -1, 1)], -1)
    module._texturevlm_rows.append(torch.softmax(scores, -1)[..., :key.shape[2]])
    return _own_function(module)(module, query, key, value, attention_mask, **options)


def _own_function(module: Any) -> Any:
    own = module._texturevlm_own
    if own is None or own == "eager":
        return sys.modules[type(module).__module__].eager_attention_forward
    return transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS[own]


# ---- The second look ----

def places_of(attention: Any, plan: Plan) -> Any:
    """Which tokens of the full picture are seen in the second look: bool [rows, columns].

    They are those that the first look rested on most. The first one of a part takes the tokens around that part's picture, too.
    """
    columns, rows = plan.full
    spread = torch.nn.functional.interpolate(torch.from_numpy(attention)[None, None], (rows, columns), mode="bilinear")[0, 0].numpy()
    kept, begun, left = np.zeros((rows, columns), bool), set(), plan.tokens
    for number in np.argsort(-spread.reshape(-1), kind="stable").tolist():
        row, column = divmod(number, columns)
        part = (row // plan.part[1], column // plan.part[0])
        cost = 1 if part in begun else 1 + plan.around
        if cost <= left:
            kept[row, column], left = True, left - cost
            begun.add(part)
        if left == 0:
            break
    return kept


def parts_of(full: Any, kept: Any, plan: Plan, side: int, beyond: int = 0) -> list[tuple[Any, Any]]:
    """The pictures of a second look, and which of their tokens are seen.

    `full` is an image of PIL. A picture has so many pixels `beyond` its tokens.
    """
    columns, rows = plan.part
    found = []
    for top in range(0, plan.full[1], rows):
        for left in range(0, plan.full[0], columns):
            mask = kept[top:top + rows, left:left + columns]
            if mask.any():
                found.append((full.crop((left * side, top * side, (left + columns) * side + beyond, (top + rows) * side + beyond)), mask))
    return found


def continue_from(pruned: Any, batch: dict[str, Any], look: Look) -> None:
    """Lets a second look begin where its prompt differs from that of the first one. Checks that the small picture lies before it."""
    first, second = look.ids[0], pruned.input_ids[0]
    length = min(len(first), len(second))
    same = (first[:length] == second[:length]).long().cumprod(0).sum()
    picture = (first == pruned._model.config.image_token_id).nonzero()[:, 0]
    places = min(int(same), length - 1)
    if places <= int(picture[-1]):
        raise ArgumentError("the prompts of two looks differ before the end of the small picture: the processor's template is not for them")
    if look.places:
        places = look.places
    else:
        look.cache.crop(places - len(first))
    pruned._resume(batch, look.cache, places, len(picture))


__all__ = ["Look", "check_looks", "continue_from", "look_at", "parts_of", "places_of"]
