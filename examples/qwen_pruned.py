# SPDX-License-Identifier: Apache-2.0
"""qwen_pruned.py MODEL PHOTO QUESTION [SHARE]: what a vision-language model answers when its encoder sees a part of the photo.

    qwen_pruned.py Qwen/Qwen2.5-VL-3B-Instruct receipt.jpg "What is the total?" 0.3

MODEL is one that texturevlm.hf prunes (doc/python.md), by its name or as a folder; transformers loads it. tiny_vlm.py makes one
without a download. PHOTO is a path or a URL.
"""
import sys

import transformers

import texturevlm as tv


def load(name):
    return transformers.AutoModelForImageTextToText.from_pretrained(name).eval(), transformers.AutoProcessor.from_pretrained(name)


def answer(model, processor, photo, question, share):
    """The words, the tokens that the model saw of the photo, and those that there are."""
    pruner = tv.hf.Pruner(model, processor, share=share, strategy="budget")
    batch = pruner.batch_of(photo, question)
    pruned = pruner.prune(batch)
    words = pruned.generate(max_new_tokens=64)[:, batch["input_ids"].shape[1]:]
    return processor.batch_decode(words, skip_special_tokens=True)[0], pruned.tokens, pruned.all_tokens


def main(name, photo, question, share="0.3"):
    model, processor = load(name)
    words, tokens, all_tokens = answer(model, processor, photo, question, float(share))
    print(f"{words}\n({tokens} of {all_tokens} tokens of the photo)")


if __name__ == "__main__":
    main(*sys.argv[1:])
