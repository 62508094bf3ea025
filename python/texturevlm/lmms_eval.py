# SPDX-License-Identifier: Apache-2.0
"""Models for lmms-eval that are given fewer image tokens: its own classes of Qwen2.5-VL and Qwen3-VL, behind a `hf.Pruner`.

    pip install 'texturevlm[hf]' lmms-eval
    lmms-eval --model texturevlm_qwen2_5_vl --model_args pretrained=Qwen/Qwen2.5-VL-3B-Instruct,budget=256 --tasks docvqa_val
    lmms-eval --model qwen2_5_vl            --model_args pretrained=Qwen/Qwen2.5-VL-3B-Instruct            --tasks docvqa_val

lmms-eval finds them by itself (entry point ``lmms_eval.models``). doc/evaluate.md in the project's repository has the commands for
usual benchmarks.

Of model_args, ``budget``, ``share``, ``tolerance``, ``way`` and ``looks`` are those of `texturevlm.hf.Pruner`, and ``tvlm_device`` is its
``device``. All others are those of lmms-eval's class. Pictures are resized by the model's processor, and no more by qwen_vl_utils.
Tasks with videos, with sound or of several rounds are refused. doc/evaluate.md says what else differs.
"""
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ._core import ArgumentError, missing

try:
    import lmms_eval.utils
    from lmms_eval.api.instance import GenerationResult, TokenCounts
    from lmms_eval.models.model_utils.gen_metrics import log_metrics
    from lmms_eval.models.registry_v2 import ModelManifest
    from lmms_eval.protocol import ChatMessages
except ImportError as _missing:
    raise missing("lmms_eval", "lmms-eval", "lmms-eval", _missing) from None

from . import hf

ASKED = ("budget", "share", "tolerance", "way", "looks")


def models() -> list[ModelManifest]:
    """What lmms-eval's entry point asks for."""
    return [ModelManifest(model_id=f"texturevlm_{name}", chat_class_path=f"texturevlm._lmms_models.{kind}")
            for name, kind in (("qwen2_5_vl", "Qwen25"), ("qwen3_vl", "Qwen3"))]


class Pruned:
    """What is the same of both models. It stands before lmms-eval's own class, which loads the model and the processor."""

    is_simple = False
    system_message = False
    sizes: dict[str, int] = {}
    """The fewest and the most pixels of a picture, where model_args do not say them: those of lmms-eval's own class."""

    def __init__(self, **options: Any) -> None:
        asked = {name: options.pop(name) for name in ASKED if name in options}
        device = options.pop("tvlm_device", None)
        for name, value in self.sizes.items():
            options.setdefault(name, value)
        if options.get("enable_thinking") is not None:
            raise ArgumentError("enable_thinking: texturevlm's models for lmms-eval take the chat template as it is")
        super().__init__(**options)
        own: Any = self
        self.pruner = hf.Pruner(own.model, own.processor, device=None if device is None else str(device), **asked)
        self.at_a_time = 1 if asked.get("looks") == 2 else own.batch_size  # two looks are for one conversation
        self.tokens = self.all_tokens = self.questions = 0
        """Image tokens that the model was given so far, those that its processor would have made without us, and the questions."""

    def _conversations(self, chunk: list[Any]) -> list[Any]:
        own: Any = self
        found = []
        for _, messages_of, _, number, task, split in chunk:
            messages = messages_of(own.task_dict[task][split][number])
            if self.system_message:
                messages.insert(0, {"role": "system", "content": [{"type": "text", "text": own.system_prompt}]})
            given = ChatMessages(messages=messages)
            _, videos, sounds = given.extract_media()
            if videos or sounds:
                raise ArgumentError(f"{task}: question {number} has a video or sound; texturevlm's models for lmms-eval answer images")
            found.append([{**message, "content": [_on_white(part) for part in message["content"]]} for message in given.to_hf_messages()])
        return found

    def _chunks(self, requests: list[Any]) -> tuple[Any, Iterator[list[Any]]]:
        """Questions that have the same settings, as many at a time as --batch_size says; with two looks one."""
        ordered = lmms_eval.utils.Collator([request.args for request in requests], lambda x: (x[0], x[0]), group_fn=lambda x: x[2], grouping=True)
        return ordered, ordered.get_batched(n=self.at_a_time, batch_fn=None)

    def _options(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The options of generate: those of the task, and what else lmms-eval's classes give."""
        own: Any = self
        asked = {"max_new_tokens": 128, "temperature": 0.0, "top_p": None, "num_beams": 1, **asked}
        samples = (asked["temperature"] or 0) > 0
        options = {"max_new_tokens": asked["max_new_tokens"], "do_sample": samples, "num_beams": asked["num_beams"],
                   "eos_token_id": own.tokenizer.eos_token_id, "pad_token_id": own.tokenizer.pad_token_id, "use_cache": own.use_cache}
        if samples:
            options.update((name, asked[name]) for name in ("temperature", "top_p", "top_k") if asked.get(name) is not None)
        return options

    def generate_until(self, requests: list[Any]) -> list[GenerationResult]:
        """Answers the questions, as lmms-eval asks for it."""
        own: Any = self
        ordered, chunks = self._chunks(requests)
        found, seconds, written = [], 0.0, 0
        for chunk in chunks:
            asked = chunk[0][2]
            pruned: Any = self.pruner.prune(self._conversations(chunk))
            began = time.perf_counter()
            sequences = pruned.generate(**self._options(asked))
            seconds += time.perf_counter() - began
            new = sequences[:, pruned.kept.shape[1]:]
            answers = own.processor.batch_decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            written += new.numel()
            self.questions += len(chunk)
            self.tokens += pruned.tokens
            self.all_tokens += pruned.all_tokens if pruned.report is None else sum(pruned.report.full)
            for request, answer, ids in zip(chunk, answers, new):
                found.append(GenerationResult(text=answer, token_counts=TokenCounts(output_tokens=len(ids))))
                own.cache_hook.add_partial("generate_until", (request[0], asked), answer)
        log_metrics(total_gen_tokens=written, total_elapsed_time=seconds, avg_speed=written / seconds if seconds else 0,
                    additional_metrics={"rank": own.rank, "image_tokens": self.tokens / max(self.questions, 1),
                                        "image_tokens_without_texturevlm": self.all_tokens / max(self.questions, 1)})
        return list(ordered.get_original(found))

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        """Is refused: lmms-eval's own would ask the model without us."""
        raise ArgumentError("texturevlm's models for lmms-eval answer tasks of one round, not of several")


def _on_white(part: dict[str, Any]) -> dict[str, Any]:
    """A picture with transparent places lies on white, as qwen_vl_utils puts it. Processors do so only since transformers 5."""
    image: Any = part.get("image")
    if not hasattr(image, "convert") or not (image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info):
        return part
    image = image.convert("RGBA")
    paper = image.copy()
    paper.paste((255, 255, 255, 255), (0, 0, *image.size))
    paper.alpha_composite(image)
    return {**part, "image": paper.convert("RGB")}


__all__ = ["ASKED", "Pruned", "models"]
