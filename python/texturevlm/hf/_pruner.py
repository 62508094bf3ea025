# SPDX-License-Identifier: Apache-2.0
"""The whole way from a batch, or from a question about an image, to an answer."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch

from .._arguments import short
from .._core import ArgumentError, ArgumentTypeError
from .._device import Device
from . import _encoder, _features, _messages, _prompt, _qwen
from ._batch import PrunedBatch
from ._encoder import PrunedImages
from ._families import Family, family_of
from ._processors import check_processor
from ._tokens import Bound, check_query, checked
from ._wrapped import check_model, sums_gradients, unwrapped


def prune_batch(model: Any, batch: Mapping[str, Any], keep: list[torch.Tensor] | None = None,
                keep_videos: list[torch.Tensor] | None = None) -> PrunedBatch | PrunedImages:
    """Makes a batch without the tokens that are not kept: a `PrunedBatch`, or for an image encoder `PrunedImages`.

    Parameters:
        model: a loaded model of a family in `FAMILIES`. It may be wrapped in torch.compile (a pruned call is not compiled),
            PEFT's adapters, DataParallel or DistributedDataParallel. Nothing is set on the model, so any number of threads may
            use it meanwhile.
        batch: what the model's processor makes: input_ids, attention_mask, pixel_values, image_grid_thw, pixel_values_videos, ...
        keep: for each picture the numbers of the tokens that are kept, or a bool for each token. None: all are kept. For SmolVLM
            and InternVL, the pictures are the parts into which they cut an image.
        keep_videos: the same for videos, for Qwen-VL only.

    Errors:

    - `ArgumentError`: another family, a number of places in the prompt that is not the number of tokens, or a token that a
      picture does not have.
    - `DeviceError`: a version of transformers that is not supported.
    """
    inner = unwrapped(model)
    family = family_of(inner)
    check_model(inner, family.kind != "encoder")
    _check_batch(inner, family, batch)
    if keep_videos is not None and family.kind != "qwen":
        raise ArgumentError(f"keep_videos is for Qwen-VL, not for {inner.config.model_type}")
    pruned: PrunedBatch | PrunedImages
    if family.kind == "qwen":
        pruned = _qwen.QwenBatch(inner, batch, keep, keep_videos)
    elif family.kind == "encoder":
        pruned = _encoder.PrunedImages(inner, batch, keep)
    elif family.kind == "features":
        pruned = _features.FeatureBatch(inner, batch, keep)
    else:
        pruned = _prompt.PromptBatch(inner, batch, keep, family)
    pruned._sums_gradients = sums_gradients(model)
    return pruned


# Entries of a batch that are refused, as they would be left out in silence: a pruned batch makes those of the first list itself,
# and knows nothing about those of the second.
_MADE = ("position_ids", "inputs_embeds", "past_key_values", "cache_position", "mm_encoder_outputs")
_OTHERS = ("pixel_values_videos", "input_features")


def _check_batch(model: Any, family: Family, batch: Any) -> None:
    wanted = "pixel_values" if family.kind == "encoder" else "input_ids"
    if not isinstance(batch, Mapping) or wanted not in batch:
        raise ArgumentTypeError(f"batch is {short(batch)}, not a mapping with {wanted}")
    if family.kind == "encoder":
        return
    for name in _MADE:
        if batch.get(name) is not None:
            raise ArgumentError(f"the batch has {name}, which a pruned batch makes of input_ids: it cannot be given")
    for name in _OTHERS if family.kind != "qwen" else ():
        if batch.get(name) is not None:
            raise ArgumentError(f"the batch has {name}: of a {model.config.model_type} only images are pruned")


class Pruner(Bound):
    """Prunes a loaded model's images and videos.

    Parameters:
        model: a model of a family in `FAMILIES`, on any device. It may be in one of the wrappers that `prune_batch` knows.
        processor: the model's processor.
        share, k, strategy, weights, scorer: as in `select_tokens`.
        device: a `texturevlm.Device`, or a device's name, on which tokens are chosen.

    A pruner cannot be pickled or copied: make one in each process.

    Errors: all parameters are checked here, before the first image. `ArgumentError` is also raised for a processor of another
    family, or one that makes other patches than the model takes; `MissingFileError` if the file of a scorer is not there.
    """

    def __init__(self, model: Any, processor: Any, *, share: float | None = None, k: int | None = None,
                 strategy: Literal["grid", "budget"] | None = None, weights: Any = None, scorer: Any = None,
                 device: Device | str | None = None) -> None:
        inner = unwrapped(model)
        self._family = family_of(inner)
        check_model(inner, self._family.kind != "encoder")
        check_processor(inner, self._family, processor)
        self.model, self.processor = model, processor
        self._options = checked(share=share, k=k, strategy=strategy, weights=weights, scorer=scorer, device=device)

    def prune(self, batch: Mapping[str, Any], *, query: Any = None, features: Any = None) -> PrunedBatch | PrunedImages:
        """Makes the shorter batch: a `PrunedBatch`, or for an image encoder `PrunedImages`.

        `query` and `features` are lists with an entry for each image (`select_tokens`).
        """
        model = unwrapped(self.model)
        _check_batch(model, self._family, batch)
        check_query(self._options["strategy"], query)
        asked = {"query": query, "features": features}
        if self._family.kind == "qwen":
            keep = _qwen.choose(model, self.processor, batch, asked, self._options)
        elif self._family.kind == "encoder":
            keep = _encoder.choose(model, self.processor, batch, asked, self._options)
        elif self._family.kind == "features":
            keep = _features.choose(model, self.processor, batch, asked, self._options)
        else:
            keep = _prompt.choose(model, self.processor, batch, asked, self._options, self._family)
        return prune_batch(self.model, batch, **keep)

    def batch_of(self, messages: Any, question: str | None = None, **options: Any) -> Mapping[str, Any]:
        """Makes the processor's batch of a chat, on the model's device. `prune` and `generate` take such a batch.

        Parameters:
            messages: one of these:

                - A conversation, which is a list of messages ``{"role": "user", "content": ...}``. The content is a text or a
                  list of parts; the parts are listed below.
                - A list of conversations, which gives a batch that is padded on the left.
                - An image or a list of images, in any of the forms of a part. They go into one prompt.
            question: the text after the images, if `messages` are images.
            options: further options of the processor's ``apply_chat_template``: ``num_frames``, ``tools``, ``processor_kwargs``,
                ...

        A part is one of these:

        - ``{"type": "text", "text": ...}``;
        - ``{"type": "image", ...}`` with one of ``image`` (PIL, array, tensor, path, URL), ``url`` (also ``data:`` and
          ``file://``), ``path`` and ``base64``;
        - ``{"type": "image_url", "image_url": {"url": ...}}``;
        - ``{"type": "video", ...}`` with one of ``video`` (frames, path, URL), ``url`` and ``path``.

        The batch is what ``processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True,
        return_tensors="pt", padding=True)`` makes. A processor without a template (PaliGemma, encoders) is called with the texts
        and images instead.

        Errors, which name an image by its number over all messages, from 0:

        - `MissingFileError`: there is no such file.
        - `FileError`: a URL cannot be fetched.
        - `ArgumentError`: a file is no picture (status ``format``), or messages have another form.
        """
        made = _messages.batch_of(self.processor, messages, question, options)
        device = next(self.model.parameters()).device
        return {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in made.items()}

    def generate(self, messages_or_batch: Any, *, question: str | None = None, query: Any = None, features: Any = None,
                 **options: Any) -> Any:
        """Generates an answer, like model.generate(**batch, **options): gives the prompts, followed by what is generated.

        `messages_or_batch` is a batch of the processor (with input_ids), or anything that `batch_of` takes.
        """
        batch = messages_or_batch
        if self._family.kind == "encoder":
            name = unwrapped(self.model).config.model_type
            raise ArgumentError(f"a {name} is an encoder, which generates nothing: prune(batch).forward()")
        if not (isinstance(batch, Mapping) and "input_ids" in batch):
            batch = self.batch_of(batch, question)
        elif question is not None:
            raise ArgumentError("a question is for images; a batch has its text already")
        return self.prune(batch, query=query, features=features).generate(**options)


__all__ = ["PrunedBatch", "PrunedImages", "Pruner", "prune_batch"]
