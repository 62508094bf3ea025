# SPDX-License-Identifier: Apache-2.0
"""model.generate for a shorter prompt. To its caller it looks like generate for the full prompt.

generate runs on a view of the model (_wrapped.py), with a hook before the view's forward. In the first call the hook adds the
pictures. In each call it adds the positions, which go on after those of the full prompt.
"""
from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
import transformers

from .._core import ArgumentError, DeviceError
from ._wrapped import asks_for_layers, cache_name, check_adapters, check_taken, view_of

if TYPE_CHECKING:
    from ._batch import PrunedBatch

# Arguments that the pruned batch itself gives to the model.
_OWN = ("inputs", "input_ids", "attention_mask", "position_ids", "inputs_embeds", "cache_position", "pixel_values", "pixel_values_videos",
        "image_grid_thw", "video_grid_thw", "token_type_ids", "mm_token_type_ids", "mm_encoder_outputs")
# Options of generate that are refused: several rows for a prompt, a second model, other ways to run. The values beside each name
# are harmless, as they ask for none of this.
_REFUSED: dict[str, tuple[Any, ...]] = {
    "num_beams": (1,), "num_return_sequences": (1,), "guidance_scale": (1,), "use_cache": (True,), "assistant_model": (),
    "prompt_lookup_num_tokens": (), "penalty_alpha": (0,), "dola_layers": (), "custom_generate": (), "prefill_chunk_size": (),
    "negative_prompt_ids": (), "past_key_values": (), "cache": ()}


def check_own(options: Mapping[str, Any]) -> None:
    """Refuses options that the pruned batch itself gives to the model."""
    for name in _OWN:
        if options.get(name) is not None:
            raise ArgumentError(f"{name} is the pruned batch's own: it cannot be given")
    check_adapters(options)


def _asked(batch: PrunedBatch, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of generate, changed for the shorter prompt."""
    config = options.get("generation_config") or batch._model.generation_config

    def value_of(name: str) -> Any:
        return options[name] if options.get(name) is not None else getattr(config, name, None)

    check_own(options)
    for name, harmless in _REFUSED.items():
        value = value_of(name)
        if value is not None and value not in harmless:
            raise ArgumentError(f"{name}={value!r:.40} is not for a pruned batch")
    asked = dict(options)
    full, short = batch._full.shape[1], batch.input_ids.shape[1]
    default = transformers.GenerationConfig()
    for name, new in (("max_length", "max_new_tokens"), ("min_length", "min_new_tokens")):
        length = value_of(name)
        if length is None or value_of(new) is not None or (options.get(name) is None and length == getattr(default, name)):
            continue  # the limit is not of the whole prompt: generate counts the new tokens
        if name == "max_length" and length <= full:
            raise ArgumentError(f"max_length={length} counts the full prompt, too, which has {full} places")
        asked[name] = max(length - full + short, 0)
    if hasattr(default, "disable_compile"):  # compiling does not pay: the view and its compiled code are gone after the call
        asked.setdefault("disable_compile", True)
    return {**asked, **_callers(batch, options)}


class _Streamer:
    """Gives a streamer the full prompts in place of the shorter ones, and then what is generated."""

    def __init__(self, streamer: Any, full: torch.Tensor) -> None:
        self._streamer, self._full = streamer, full.cpu()
        self._started = False

    def put(self, value: Any) -> None:
        self._streamer.put(value if self._started else self._full)
        self._started = True

    def end(self) -> None:
        self._streamer.end()


def _callers(batch: PrunedBatch, options: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's functions that generate calls while it runs, wrapped so that they get the full prompts."""
    full, short = batch._full, batch.input_ids.shape[1]

    def whole(ids: torch.Tensor) -> torch.Tensor:
        return torch.cat([full.to(ids.device), ids[:, short:]], dim=1)

    class Processor(transformers.LogitsProcessor):  # type: ignore[misc]
        def __init__(self, called: Any) -> None:
            self._called = called

        def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> Any:
            return self._called(whole(input_ids), scores)

    class Criterion(transformers.StoppingCriteria):  # type: ignore[misc]
        def __init__(self, called: Any) -> None:
            self._called = called

        def __call__(self, input_ids: torch.Tensor, scores: Any, **others: Any) -> Any:
            return self._called(whole(input_ids), scores, **others)

    found: dict[str, Any] = {}
    if options.get("streamer") is not None:
        found["streamer"] = _Streamer(options["streamer"], full)
    if options.get("logits_processor"):
        found["logits_processor"] = transformers.LogitsProcessorList(map(Processor, options["logits_processor"]))
    if options.get("stopping_criteria"):
        found["stopping_criteria"] = transformers.StoppingCriteriaList(map(Criterion, options["stopping_criteria"]))
    allowed = options.get("prefix_allowed_tokens_fn")
    if allowed is not None:
        found["prefix_allowed_tokens_fn"] = lambda row, ids: allowed(row, torch.cat([full[row].to(ids.device), ids[short:]]))
    return found


def generate(batch: PrunedBatch, options: Mapping[str, Any]) -> Any:
    """Does the work of PrunedBatch.generate."""
    asked = _asked(batch, options)
    if not bool(batch.attention_mask.any(dim=1).all()):
        raise ArgumentError("a prompt is empty")
    views = view_of(batch._model, batch._path, 0 if asks_for_layers(batch._model, options) else None)
    cache, before = batch._prefix or (None, 0)
    if cache is not None:
        asked[cache_name(batch._model)] = copy.deepcopy(cache)
        batch._begin_later(views)
    done, taken = before, None

    def give(module: Any, arguments: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        nonlocal done, taken
        ids = given.get("input_ids")
        if ids is None or arguments:
            raise DeviceError(f"not supported: generate of transformers {transformers.__version__} calls the model otherwise")
        if done > before:
            steps = torch.arange(1, 1 + ids.shape[1], device=ids.device) + (done - batch.input_ids.shape[1])
            given = {**given, "position_ids": batch._placed()[..., -1:] + steps}
        elif ids.shape[1] != batch.input_ids.shape[1] - before:
            raise ArgumentError("a pruned batch is not for prompts that are computed in parts")
        else:
            own, taken = batch._rest(views) if before else batch._first(views)
            given = {**given, "position_ids": batch._placed()[..., before:], **own}
        done += ids.shape[1]
        return arguments, given

    views[0].register_forward_pre_hook(give, with_kwargs=True)
    with torch.no_grad():
        answer = views[0].generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask, **batch._types, **asked)
    check_taken(taken is not None and taken(), "the pictures")
    sequences = answer if isinstance(answer, torch.Tensor) else answer.sequences
    sequences = torch.cat([batch._full.to(sequences.device), sequences[:, batch.input_ids.shape[1]:]], dim=1)
    if isinstance(answer, torch.Tensor):
        return sequences
    answer.sequences = sequences
    return answer
