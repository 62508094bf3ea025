# SPDX-License-Identifier: Apache-2.0
"""qwen_pruned.py MODEL PHOTO QUESTION [SHARE]: what a vision-language model answers when its encoder sees a part of the photo.

    qwen_pruned.py Qwen/Qwen2.5-VL-3B-Instruct receipt.jpg "What is the total?" 0.3

Without SHARE it sees as few tokens as keep what can be read.

MODEL is one that texturevlm.hf prunes (doc/python.md), by its name or as a folder; transformers loads it. tiny_vlm.py makes one
without a download. PHOTO is a path or a URL.
"""
import sys

import transformers

import texturevlm as tv


def load(name):
    return transformers.AutoModelForImageTextToText.from_pretrained(name).eval(), transformers.AutoProcessor.from_pretrained(name)


def answer(model, processor, photo, question, share=None):
    """The words, and the pruned batch, which knows what the model saw of the photo."""
    pruned = tv.hf.Pruner(model, processor, share=share).prune(photo, question=question)
    words = pruned.generate(max_new_tokens=64)[:, pruned.kept.shape[1]:]  # behind the prompt
    return processor.batch_decode(words, skip_special_tokens=True)[0], pruned


def main(name, photo, question, share=None):
    model, processor = load(name)
    words, pruned = answer(model, processor, photo, question, None if share is None else float(share))
    print(f"{words}\n{pruned.report}")


if __name__ == "__main__":
    main(*sys.argv[1:])
