#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_llama.py [--patched] DUMP MODELS FOLDER: whether llama.cpp with texturevlm-mtmd computes what transformers does, on models of the same random
weights.

DUMP is the program test_dump, MODELS the folder of models.py, and FOLDER takes pictures. For each model and some budgets, transformers gets
the pictures that libmtmd got, and the dropped tokens are masked, at the positions of the full prompt. The logits of the first answered token
must be within .01 of each other. Each of the eight tokens that llama.cpp answers must be the likeliest in transformers, too, to .01.
Of two looks, the attention of the first one must be that of transformers, and the second one's logits those of the whole prompt, which is
computed at once there. Gemma 3 has its kept tokens one behind the other in llama.cpp: there, transformers is given the same. With --patched, where llama.cpp has
before-encoder.patch, Qwen-VL is compared with texturevlm.hf, which lets only the kept tokens through the encoder, too. Needs torch,
transformers and, with --patched, texturevlm (ci/llama).
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image, ImageDraw

APART = 0.01
PROMPT = "<|im_start|>user\n{}what is it?<|im_end|>\n<|im_start|>assistant\n"


def drawn(width, height):
    """An image with words and shapes on paper, of which about a half is blank."""
    random = np.random.default_rng(1)
    image = Image.new("RGB", (width, height), (244, 240, 232))
    draw = ImageDraw.Draw(image)
    for row in range(20, height * 2 // 3, 18):
        draw.text((12, row), "".join(random.choice(list("abcdefgh iklmno"), 24)), fill=(20, 20, 60))
    for _ in range(12):
        x, y = random.integers(width // 2, width), random.integers(height // 3, height)
        draw.ellipse((int(x), int(y), int(x) + 25, int(y) + 18), fill=tuple(int(value) for value in random.integers(0, 255, 3)))
    return image


def dumped(dump, model, photo, budget, way, name):
    """The pictures, which of their tokens are kept, how many the encoder saw, the logits, the answer, and a first look's attention with the sides of the pictures."""
    done = subprocess.run([dump, model, photo, str(budget), way, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model}, {way} {budget}: test_dump failed: {done.stderr[-500:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    kept = [np.array([letter == "1" for letter in line[3]]) for line in lines if line[0] == "picture"]
    numbers = {line[0]: line[1:] for line in lines}
    pictures = [Image.open(f"{name}.{i}").convert("RGB") for i in range(len(kept))]
    sides = [(int(line[1]), int(line[2])) for line in lines if line[0] == "picture"]
    looks = np.array(numbers.get("attention", []), np.float32), sides
    return pictures, kept, int(numbers["encoded"][0]), np.array(numbers["logits"], np.float32), [int(number) for number in numbers["answer"]], looks


# ---- The same in transformers ----

def of_qwen(folder, pictures, kept):
    """The model, and the batch of its processor."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    images = transformers.AutoImageProcessor.from_pretrained(folder, use_fast=False)(pictures, return_tensors="pt")
    grids = images["image_grid_thw"]
    counts = [int(grid.prod()) // 4 for grid in grids]
    if counts != [len(flags) for flags in kept]:
        raise SystemExit(f"{folder}: transformers makes pictures of {counts} tokens, libmtmd of {[len(flags) for flags in kept]}")
    text = PROMPT.format("".join("<|vision_start|>" + "<|image_pad|>" * count + "<|vision_end|>" for count in counts))
    ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
    return model, {"input_ids": ids, "image_grid_thw": grids, "pixel_values": images["pixel_values"]}


@torch.no_grad()
def logits_of_qwen(folder, pictures, kept, answer):
    """The logits before each token of an answer."""
    model, batch = of_qwen(folder, pictures, kept)
    ids, grids = batch["input_ids"], batch["image_grid_thw"]
    positions, _ = model.model.get_rope_index(ids, grids, attention_mask=torch.ones_like(ids))
    mask = torch.ones_like(ids)
    mask[0, ids[0] == model.config.image_token_id] = torch.from_numpy(np.concatenate(kept)).long()
    ids = torch.cat([ids, torch.tensor([answer])], 1)
    mask = torch.cat([mask, torch.ones(1, len(answer), dtype=torch.long)], 1)
    behind = positions[..., -1:].max() + 1 + torch.arange(len(answer)).expand(3, 1, -1)
    out = model(input_ids=ids, attention_mask=mask, position_ids=torch.cat([positions, behind], 2), image_grid_thw=grids,
                pixel_values=batch["pixel_values"])
    return out.logits[0, -len(answer) - 1:-1].numpy()


@torch.no_grad()
def attention_of_qwen(folder, picture, count):
    """The attention of the prompt's last token on a picture, in the layer in the middle, mean over heads."""
    model, batch = of_qwen(folder, [picture], [np.ones(count, bool)])
    layers = model(**batch, mm_token_type_ids=(batch["input_ids"] == model.config.image_token_id).int(), output_attentions=True).attentions
    return layers[len(layers) // 2][0, :, -1, batch["input_ids"][0] == model.config.image_token_id].mean(0).numpy()


@torch.no_grad()
def logits_of_hf(folder, pictures, kept, answer):
    """The same by texturevlm.hf."""
    import texturevlm as tv
    model, batch = of_qwen(folder, pictures, kept)
    ids = torch.cat([batch["input_ids"], torch.tensor([answer])], 1)
    pruned = tv.hf.prune_batch(model, {**batch, "input_ids": ids, "attention_mask": torch.ones_like(ids)},
                               [torch.from_numpy(np.flatnonzero(flags)) for flags in kept])
    return pruned.forward().logits[0, -len(answer) - 1:-1].numpy()


@torch.no_grad()
def logits_of_gemma(folder, pictures, kept, answer):
    """The same of Gemma 3, whose prompt is put together here, since the tokens stand closer than in its own."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    images = transformers.Gemma3ImageProcessor.from_pretrained(folder)(pictures, return_tensors="pt")
    features = model.get_image_features(images["pixel_values"])[0][torch.from_numpy(kept[0])]
    before, behind = PROMPT.format("<start_of_image>\n<end_of_image>").replace("\n<end", "\0<end").split("\0")
    first = [tokenizer.convert_tokens_to_ids("<|endoftext|>"), *tokenizer.encode(before, add_special_tokens=False)]
    last = [*tokenizer.encode(behind, add_special_tokens=False), *answer]
    look = model.get_input_embeddings()
    rows = torch.cat([look(torch.tensor(first)), features, look(torch.tensor(last))])
    place = torch.arange(len(rows))
    inside = (place >= len(first)) & (place < len(first) + len(features))
    seen = torch.ones(len(rows), len(rows)).tril().bool() | inside[:, None] & inside[None]  # the tokens of a picture see each other
    mask = torch.zeros(1, 1, *seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)
    hidden = model.model.language_model(inputs_embeds=rows[None], position_ids=place[None],
                                        attention_mask={"full_attention": mask, "sliding_attention": mask}).last_hidden_state
    return model.lm_head(hidden[0, -len(answer) - 1:-1]).numpy()


# ---- Both ----

def compare(what, theirs, ours, answer):
    """Prints how far apart the logits are, and whether that is near enough."""
    apart = float(np.abs(theirs[0] - ours).max())
    behind = max(float(row.max() - row[token]) for row, token in zip(theirs, answer))
    print(f"{what}: logits {apart:.5f} apart, of up to {float(np.abs(ours).max()):.1f}; the answer is at most {behind:.5f} behind the likeliest")
    return apart <= APART and behind <= APART


def compare_places(what, attention, sides, kept):
    """Whether the kept tokens of the second picture are those on which the first look rested most, as texturevlm.hf finds them."""
    small = torch.from_numpy(attention.reshape(sides[0][::-1]))[None, None]
    spread = torch.nn.functional.interpolate(small, sides[1][::-1], mode="bilinear")[0, 0].numpy().reshape(-1)
    count = int(kept.sum())
    wrong = int((kept & (spread < np.sort(spread)[-count] * (1 - 1e-5))).sum())
    print(f"{what}: {count - wrong} of the second look's {count} places are where the first one rested most")
    return wrong == 0


def compare_looks(what, theirs, ours):
    """Prints how far apart the attention of a first look is, and whether that is near enough."""
    apart = float(np.abs(theirs - ours).max() / theirs.max())
    print(f"{what}: the first look's attention is {apart:.5f} of its largest apart; the least is {float(theirs.min() / theirs.max()):.3f} of that")
    return apart <= APART


def main():
    patched = sys.argv[1:2] == ["--patched"]
    if patched:
        del sys.argv[1]
    if len(sys.argv) != 4:
        print(__doc__.split("\n", maxsplit=1)[0], file=sys.stderr)
        return 2
    dump, models, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    right = True
    # Images of whole tokens: libmtmd puts others into black borders, and transformers stretches them.
    for name, sizes in (("qwen2-vl", (504, 392)), ("qwen2.5-vl", (504, 392)), ("qwen3-vl", (512, 384)), ("gemma3", (448, 448))):
        photo = str(folder / f"{name}.png")
        drawn(*sizes).save(photo)
        for way, budget in (("auto", 5000), ("pruned", 50), ("pruned", 20), ("cells", 30), ("auto", 90), ("looks", 70), ("looks", 120)):
            if way == "looks" and name == "gemma3":
                continue
            pictures, kept, encoded, logits, answer, looks = dumped(dump, str(models / name), photo, budget, way, str(folder / name))
            few, all_tokens = sum(int(flags.sum()) for flags in kept), sum(len(flags) for flags in kept)
            early = patched and name != "gemma3"
            logits_of = logits_of_gemma if name == "gemma3" else logits_of_hf if early else logits_of_qwen
            text = f"{name}, {way}, {few} of {all_tokens} tokens, {encoded} encoded"
            right &= encoded == (few if early else all_tokens)
            right &= compare(text, logits_of(models / name / "hf", pictures, kept, answer), logits, answer)
            attention, sides = looks
            right &= (len(attention) > 0) == (way == "looks")
            if len(attention):
                right &= compare_looks(text, attention_of_qwen(models / name / "hf", pictures[0], len(attention)), attention)
                right &= compare_places(text, attention, sides, kept[1])
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
