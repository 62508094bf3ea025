# SPDX-License-Identifier: Apache-2.0
"""Prunes the images of a loaded Hugging Face model before its encoder. No line of the model is patched.

    import texturevlm.hf

    pruner = texturevlm.hf.Pruner(model, processor, share=0.3)
    output = pruner.generate(batch, max_new_tokens=64)      # as model.generate(**batch, max_new_tokens=64) gives it

A `Pruner` is made of two functions: `select_tokens` says which tokens of a processor's tensors matter, and `prune_batch` makes
the shorter batch.

These families are pruned *before the encoder*:

- Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5, with or without experts: images and videos;
- GLM-4.1V and 4.5V: images or videos;
- LLaVA, LLaVA-NeXT, LLaVA-OneVision, Idefics 3, Mistral 3, Gemma 4 and Llama 4;
- the encoders CLIP, SigLIP and SigLIP2 (NaFlex) alone.

The layers of the encoder see only the chosen patches, which attend among each other. The patches keep the places that they have
in the full picture. The language model gets their embeddings at the positions that they have in the full prompt. Both are exact:
the result is what the model computes if the other patches are masked. With positions that are counted anew it would not be. There
is one exception: the linear attention of Qwen3.5 takes no mask, and doc/python.md says what is shown about it.

These families are pruned *after the encoder*: Gemma 3 and 3n, PaliGemma, InternVL and SmolVLM. Their encoder sees all patches,
and the language model gets the chosen tokens, at the positions that they have in the full prompt.

A batch may have several images, and is padded on the left. `FAMILIES` lists the families by `config.model_type`, and `SUPPORTED`
the versions of transformers. Anything else is refused, and never answered wrongly.
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
