# SPDX-License-Identifier: Apache-2.0
"""Prunes the images of a loaded Hugging Face model before its encoder, without a patched line of it.

    import texturevlm.hf

    pruner = texturevlm.hf.Pruner(model, processor, share=0.3)
    output = pruner.generate(batch, max_new_tokens=64)      # as model.generate(**batch, max_new_tokens=64) gives it

Below it: `select_tokens` says which tokens of a processor's tensors matter, and `prune_batch` makes the shorter batch.

*Before the encoder*: Qwen2-VL, 2.5, 3 and Qwen3.5, with or without experts (images and videos), GLM-4.1V and 4.5V (images or videos),
LLaVA, LLaVA-NeXT, LLaVA-OneVision, Idefics 3, Mistral 3, Gemma 4, Llama 4, and the encoders CLIP, SigLIP and SigLIP2 (NaFlex) alone. The layers of the encoder see the chosen patches only, with the places that they have in the full picture, and attend among
them; the language model gets their embeddings at the positions that they have in the full prompt. Both are exact: what is computed
is what the model computes where the other patches are masked (Qwen3.5's linear attention takes no mask: doc/python.md says what is
shown of it). Positions that are counted anew would not be.

*After the encoder*: Gemma 3 and 3n, PaliGemma, InternVL and SmolVLM. The encoder sees all patches; the language model gets the chosen
tokens, at the positions that they have in the full prompt.

Several images, in batches that are padded on the left. `FAMILIES` has the families by `config.model_type`, `SUPPORTED` the versions
of transformers; anything else is refused, and never answered wrongly.
"""
from .. import _core

try:
    import torch as _torch
    import transformers as _transformers
except ImportError as _missing:
    raise _core.missing("hf", "PyTorch and transformers", "texturevlm[hf]", _missing) from None

from ._batch import PrunedBatch
from ._encoder import PrunedImages
from ._families import FAMILIES, SUPPORTED
from ._pruner import Pruner, prune_batch
from ._tokens import select_tokens

__all__ = ["FAMILIES", "PrunedBatch", "PrunedImages", "Pruner", "SUPPORTED", "prune_batch", "select_tokens"]
