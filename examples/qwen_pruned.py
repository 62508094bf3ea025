# SPDX-License-Identifier: Apache-2.0
"""qwen_pruned.py MODEL PHOTO QUESTION [budget=N | share=S | tolerance=T]: a model's answer, when its encoder sees a part of the photo.

    qwen_pruned.py Qwen/Qwen2.5-VL-3B-Instruct receipt.jpg "What is the total?" share=0.3

It sees N tokens, or the share S of all, or as few as lose at most T of what a picture of one token would lose. A number alone is a
share. Without one of these it is the tolerance that keeps what can be read (tolerance=auto).

MODEL is one that texturevlm.hf prunes (doc/python.md), by its name or as a folder; transformers loads it. tiny_vlm.py makes one
without a download. PHOTO is a path or a URL.
"""
import sys

import transformers

import texturevlm as tv

WORDS = {"budget": int, "share": float, "tolerance": float}


def load(name):
    return transformers.AutoModelForImageTextToText.from_pretrained(name).eval(), transformers.AutoProcessor.from_pretrained(name)


def asked(word):
    """The option of a Pruner that a word of the command line means."""
    name, value = word.split("=", 1) if "=" in word else ("share", word)
    if name not in WORDS:
        raise SystemExit(f"qwen_pruned.py: {word}: there is no {name}, but budget=N, share=S and tolerance=T")
    if (name, value) == ("tolerance", "auto"):
        return {name: value}
    try:
        return {name: WORDS[name](value)}
    except ValueError:
        raise SystemExit(f"qwen_pruned.py: {word}: {value!r} is not a {'whole ' if name == 'budget' else ''}number") from None


def answer(model, processor, photo, question, **options):
    """The words, and the pruned batch, which knows what the model saw of the photo."""
    pruned = tv.hf.Pruner(model, processor, **options).prune(photo, question=question)
    words = pruned.generate(max_new_tokens=64)[:, pruned.kept.shape[1]:]  # behind the prompt
    return processor.batch_decode(words, skip_special_tokens=True)[0], pruned


def main(*arguments):
    if not 3 <= len(arguments) <= 4:
        raise SystemExit(f"usage: {__doc__.partition(': ')[0]}")
    options = asked(arguments[3]) if len(arguments) == 4 else {}
    try:
        words, pruned = answer(*load(arguments[0]), *arguments[1:3], **options)
    except tv.Error as error:
        raise SystemExit(f"qwen_pruned.py: {error}") from error
    print(f"{words}\n{pruned.report}")


if __name__ == "__main__":
    main(*sys.argv[1:])
