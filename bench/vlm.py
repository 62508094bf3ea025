#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/vlm.py MODEL --questions FILE.jsonl: how well a model answers questions about photos, of how many tokens, and how fast:
with all tokens, with the photo made smaller, and pruned by texturevlm.hf to 50, 25 and 10 %.

    bench/vlm.py Qwen/Qwen2.5-VL-3B-Instruct --questions docvqa.jsonl --strategy budget --device cuda --dtype bfloat16

A line of the file is {"image": PATH, "question": TEXT, "answers": [TEXT, ...]}; paths are beside the file. An answer is right if, in
small letters and without punctuation, it holds one of the answers as words of its own. MODEL is one that texturevlm.hf prunes, by
its name or as a folder. Smaller photos are only for Qwen-VL, whose tokens follow the photo's size: each is resized (Pillow, bicubic)
to the share of what the processor makes of it.
"""
import argparse
import json
import pathlib
import re
import sys
import time


def words_of(text):
    return " " + " ".join(re.sub(r"[^\w\s.,%$-]|[.,](?!\d)", " ", text.lower()).split()) + " "


def is_right(reply, answers):
    return any(words_of(answer).strip() and words_of(answer) in words_of(reply) for answer in answers)


def read_questions(path, limit):
    """Dicts with an absolute path, a question and its answers; what does not fit is named with its line."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or len(found) == limit:
            continue
        try:
            item = json.loads(line)
            answers = [item["answers"]] if isinstance(item["answers"], str) else list(item["answers"])
            found.append({"image": path.parent / item["image"], "question": str(item["question"]), "answers": list(map(str, answers))})
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"{path}:{number}: {type(error).__name__}: {error}; a line has image, question and answers")
    if not found:
        raise SystemExit(f"{path}: no questions")
    return found


def smaller(image, batch, model, share):
    """The photo at that share of the pixels that the processor makes of it."""
    _, rows, columns = batch["image_grid_thw"][0].tolist()
    side = model.config.vision_config.patch_size * share**0.5
    from PIL import Image
    return image.resize((max(1, round(columns * side)), max(1, round(rows * side))), Image.BICUBIC)


def load(name, dtype, device):
    import torch
    import transformers
    model = transformers.AutoModelForImageTextToText.from_pretrained(name, torch_dtype=getattr(torch, dtype))
    return model.eval().to(device), transformers.AutoProcessor.from_pretrained(name)


def answer(pruner, batch, options):
    """The reply, how many tokens the model saw of the photo, and the seconds that it took."""
    import torch
    started = time.perf_counter()
    pruned = pruner.prune(batch)
    reply = pruned.generate(**options)[:, batch["input_ids"].shape[1]:]
    if reply.is_cuda:
        torch.cuda.synchronize()
    return pruner.processor.batch_decode(reply, skip_special_tokens=True)[0], pruned.tokens, time.perf_counter() - started


def measure(model, processor, questions, strategy, options, tell=lambda line: None):
    """Of each way its name, and the shares of right answers, tokens and seconds of a question."""
    import texturevlm as tv
    from PIL import Image, ImageOps
    sizes = model.config.model_type.startswith("qwen")
    ways = [("all tokens", 1.0, False)] + [("smaller photo", share, True) for share in (0.5, 0.25, 0.1) if sizes]
    ways += [("pruned", share, False) for share in (0.5, 0.25, 0.1)]
    sums = {way: [0, 0, 0.0] for way in ways}
    for number, item in enumerate(questions, 1):
        with Image.open(item["image"]) as file:
            image = ImageOps.exif_transpose(file).convert("RGB")
        full = None
        for way in ways:
            _, share, shrunk = way
            pruner = tv.hf.Pruner(model, processor, share=1.0 if shrunk else share, strategy=strategy)
            full = pruner.batch_of(image, item["question"]) if full is None else full
            batch = pruner.batch_of(smaller(image, full, model, share), item["question"]) if shrunk else full
            reply, tokens, seconds = answer(pruner, batch, options)
            for i, value in enumerate((is_right(reply, item["answers"]), tokens, seconds)):
                sums[way][i] += value
        tell(f"{number} of {len(questions)}")
    return [{"way": name, "share": share, "accuracy": right / len(questions), "tokens": tokens / len(questions),
             "seconds": seconds / len(questions)} for (name, share, _), (right, tokens, seconds) in sums.items()]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0].partition(": ")[2])
    parser.add_argument("model", help="a model of a family that texturevlm.hf prunes: its name, or a folder")
    parser.add_argument("--questions", type=pathlib.Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N questions only")
    parser.add_argument("--strategy", choices=["grid", "budget"], help="how tokens are chosen (default: grid, by score)")
    parser.add_argument("--device", default="cpu", help="where PyTorch runs the model (default: cpu)")
    parser.add_argument("--dtype", default="float32", help="float32 (default), bfloat16 or float16")
    parser.add_argument("--max-new-tokens", type=int, default=32, metavar="N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the results, too")
    options = parser.parse_args(arguments)
    questions = read_questions(options.questions, options.limit)
    model, processor = load(options.model, options.dtype, options.device)
    found = measure(model, processor, questions, options.strategy, {"max_new_tokens": options.max_new_tokens, "do_sample": False},
                    lambda line: print(line, end="\r", file=sys.stderr))
    print(f"{options.model}, {len(questions)} questions, {options.device}, {options.dtype}")
    print(f"{'':14}  share  right  tokens  seconds")
    for row in found:
        print(f"{row['way']:14}  {row['share']:5.0%}  {row['accuracy']:5.1%}  {row['tokens']:6.0f}  {row['seconds']:7.2f}")
    if options.json:
        options.json.write_text(json.dumps({"model": options.model, "questions": len(questions), "ways": found}, indent=1))


if __name__ == "__main__":
    main()
