#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/prune.py [FAMILY...]: what pruning before the encoder saves: processor, selection, encoder and the language model's prefill,
with all tokens and with 50, 25 and 10 %, side by side; and the smallest photo for which a quarter pays.

The models have the widths of released ones and random weights. Of their layers a part is there (--part, default 1/16), and the time
of the model is multiplied by its inverse. --device takes a GPU where PyTorch sees one. The pictures are drawn, square, of --sizes.
"""
import argparse
import fractions
import sys
import time

import numpy as np

SHARES = (1.0, 0.5, 0.25, 0.1)
IMAGE = 151655
ROPE = {"rope_type": "default", "rope_theta": 1e6}


def text_of(hidden, inner, layers, heads, shared):
    return {"hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": shared, "vocab_size": IMAGE + 5, "max_position_embeddings": 32768}


# Of each family a released model's widths: its class, the vision's depth by its own name, vision, and text.
FAMILIES = {
    "qwen2_vl": ("Qwen2VL", "Qwen2-VL-2B", "depth", {"depth": 32, "embed_dim": 1280, "num_heads": 16, "hidden_size": 1536},
                 text_of(1536, 8960, 28, 12, 2)),
    "qwen2_5_vl": ("Qwen2_5_VL", "Qwen2.5-VL-3B", "depth",
                   {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420, "out_hidden_size": 2048,
                    "fullatt_block_indexes": [7, 15, 23, 31]}, text_of(2048, 11008, 36, 16, 2)),
    "qwen3_vl": ("Qwen3VL", "Qwen3-VL-2B", "depth",
                 {"depth": 24, "hidden_size": 1024, "num_heads": 16, "intermediate_size": 4096, "out_hidden_size": 2048,
                  "deepstack_visual_indexes": [0]}, {**text_of(2048, 6144, 28, 16, 8), "head_dim": 128}),
    "llava": ("Llava", "LLaVA-1.5-7B", "num_hidden_layers",
              {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096, "image_size": 336,
               "patch_size": 14, "model_type": "clip_vision_model"}, {**text_of(4096, 11008, 32, 32, 32), "model_type": "llama"}),
    "siglip2": ("Siglip2", "SigLIP2-base NaFlex", "num_hidden_layers",
                {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "patch_size": 16,
                 "num_patches": 256}, None),
}


def model_of(family, part):
    """A model with that part of its layers, and how many times that is of the whole."""
    import torch
    import transformers
    name, _, depth, vision, text = FAMILIES[family]
    layers = max(2 if family == "llava" else 1, round(vision[depth] * part))  # LLaVA takes the last layer but one
    times = vision[depth] / layers
    vision = {**vision, depth: layers}
    if "fullatt_block_indexes" in vision:  # one layer in eight sees all; of fewer than eight, one
        vision["fullatt_block_indexes"] = [layers - 1]
    torch.manual_seed(0)
    if text is None:
        return getattr(transformers, name + "VisionModel")(getattr(transformers, name + "VisionConfig")(**vision)).eval(), times
    text = {**text, "num_hidden_layers": max(1, round(text["num_hidden_layers"] / times))}
    if family == "llava":
        config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_index=IMAGE)
    else:
        heads = text.get("head_dim", text["hidden_size"] // text["num_attention_heads"])
        rope = {**ROPE, "type": "mrope", "mrope_section": [heads // 8, heads // 16 * 3, heads // 16 * 3], "mrope_interleaved": True}
        tokens = {"image_token_id": IMAGE, "video_token_id": IMAGE + 1, "vision_start_token_id": IMAGE + 2, "vision_end_token_id": IMAGE + 3}
        nested = {"text_config": {**text, "rope_scaling": rope}} if family == "qwen3_vl" else {**text, "rope_scaling": rope}
        config = getattr(transformers, name + "Config")(vision_config=vision, **nested, **tokens)
    return getattr(transformers, name + "ForConditionalGeneration")(config).eval(), times


def processor_of(family):
    """The processor that runs on Pillow; without a limit that a picture could meet."""
    import transformers
    name, options = {"llava": ("CLIPImageProcessor", {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}),
                     "siglip2": ("Siglip2ImageProcessor", {"max_num_patches": 4096})}.get(
                         family, ("Qwen2VLImageProcessor", {"min_pixels": 3136, "max_pixels": 12845056}))
    if family == "qwen3_vl":
        options.update(patch_size=16, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    return (getattr(transformers, name + "Pil", None) or getattr(transformers, name))(**options)


def picture_of(side):
    """Ground that changes slowly, things of random places and colours, and noise."""
    random = np.random.default_rng(side)
    y, x = np.mgrid[0:side, 0:side]
    picture = np.stack([128 + 60 * np.sin(x / 40 + i) + 40 * np.cos(y / 55 - i) for i in range(3)], axis=2)
    for _ in range(8):
        cx, cy, r = *random.uniform(0, side, 2), side * random.uniform(0.02, 0.1)
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = random.uniform(0, 255, 3)
    return np.clip(picture + random.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)


def batch_of(family, model, made):
    """A prompt of twenty words with the picture."""
    import torch
    import transformers
    if family == "siglip2":
        return made
    tokens = int(made["image_grid_thw"].prod()) // 4 if "image_grid_thw" in made else (336 // 14) ** 2
    ids = torch.tensor([[IMAGE + 2] + [IMAGE] * tokens + [IMAGE + 3] + list(range(10, 30))])
    batch = {**made, "input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if family != "llava" and int(transformers.__version__.split(".")[0]) >= 5:  # whose processors say what is a picture
        batch["mm_token_type_ids"] = (ids == IMAGE).long()
    return batch


def timed(task, device, repetitions):
    """The least seconds, and what the task gives."""
    import torch
    best, answer = float("inf"), None
    for _ in range(repetitions):
        started = time.perf_counter()
        answer = task()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - started)
    return best, answer


def measure(family, model, times, side, device, repetitions):
    """Of each share: tokens, and the seconds of the processor, the selection and the model."""
    import texturevlm as tv
    from PIL import Image
    import torch
    processor, picture = processor_of(family), Image.fromarray(picture_of(side))
    processing, made = timed(lambda: dict(processor(images=[picture], return_tensors="pt")), "cpu", repetitions)
    batch = {name: value.to(device) for name, value in batch_of(family, model, made).items()}
    options = {} if family == "siglip2" else {"logits_to_keep": 1}
    rows = []
    for share in SHARES:
        pruner = tv.hf.Pruner(model, processor, share=share)
        with torch.no_grad():
            if share == 1.0:
                selecting, tokens = 0.0, pruner.prune(batch).all_tokens
                running, _ = timed(lambda: model(**batch, **options), device, repetitions)
            else:
                selecting, pruned = timed(lambda: pruner.prune(batch), device, repetitions)
                tokens = pruned.tokens
                running, _ = timed(lambda: pruned.forward(**options), device, repetitions)
        rows.append((share, tokens, processing, selecting, running * times))
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0].partition(": ")[2])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)} (default: all)")
    parser.add_argument("--sizes", default="224,448,896,1344", help="sides of the pictures, rising (default: 224,448,896,1344)")
    parser.add_argument("--part", type=fractions.Fraction, default=fractions.Fraction(1, 16), help="of the layers (default: 1/16)")
    parser.add_argument("--device", default="cpu", help="where PyTorch runs the models (default: cpu)")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="of which the fastest counts (default: 3)")
    options = parser.parse_args(arguments)
    unknown = [family for family in options.families if family not in FAMILIES]
    if unknown:
        raise SystemExit(f"prune.py: there is no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    sizes = [int(size) for size in options.sizes.split(",")]
    for family in options.families or FAMILIES:
        model, times = model_of(family, float(options.part))
        model = model.to(options.device)
        print(f"{FAMILIES[family][1]}, one layer in {times:.3g}, {options.device}; milliseconds", flush=True)
        print("   side  share  tokens  processor  selection  model (all layers)   total")
        pays = None
        for side in sizes:
            rows = measure(family, model, times, side, options.device, options.repetitions)
            for share, tokens, *parts in rows:
                print(f"  {side:5}  {share:5.0%}  {tokens:6}  " + "  ".join(
                    f"{1000 * value:{width}.1f}" for value, width in zip((*parts, sum(parts)), (9, 9, 18, 6))), flush=True)
            if pays is None and sum(rows[2][2:]) < sum(rows[0][2:]):
                pays = side
        print(f"  a quarter pays from {pays} x {pays} pixels on" if pays else f"  a quarter pays for none of {options.sizes}", flush=True)
        del model


if __name__ == "__main__":
    sys.exit(main())
