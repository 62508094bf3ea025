#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/prune.py [FAMILY...]: what pruning before the encoder saves: processor, selection, encoder and the language model's prefill,
with all tokens and with 50, 25 and 10 %, side by side; and the smallest photo for which a quarter pays.

The models have the widths of released ones and random weights. Of their layers a part is there (--part, default 1/16), and the time
of the model is multiplied by its inverse. --device takes a GPU where PyTorch sees one, with --dtype bfloat16 and --part 1 say. The pictures are drawn, square, of --sizes.
Exit: 77 without PyTorch, transformers, Pillow or the package.
"""
from __future__ import annotations

import argparse
import dataclasses
import fractions
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import need, np  # noqa: E402

TENSORS = ("pixel_values", "image_grid_thw", "spatial_shapes", "pixel_attention_mask")
SHARES = (1.0, 0.5, 0.25, 0.1)
IMAGE = 151655
TOKENS = {"image_token_id": IMAGE, "video_token_id": IMAGE + 1, "vision_start_token_id": IMAGE + 2, "vision_end_token_id": IMAGE + 3}
SO400M = {"hidden_size": 1152, "num_hidden_layers": 27, "num_attention_heads": 16, "intermediate_size": 4304, "patch_size": 14}
VIT_L = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "patch_size": 14}


def text_of(hidden, inner, layers, heads, shared, **more):
    return {"hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": shared, "vocab_size": IMAGE + 5, "max_position_embeddings": 32768, **more}


def rope_of(heads):
    """Positions of three numbers, for heads of that width."""
    return {"rope_type": "default", "type": "mrope", "rope_theta": 1e6, "mrope_interleaved": True,
            "mrope_section": [heads // 8, heads // 16 * 3, heads // 16 * 3]}


def to(side, **more):
    """Options of a processor whose pictures all have that side."""
    return {"size": {"height": side, "width": side}, **more}


@dataclasses.dataclass(frozen=True)
class Family:
    """A released model's widths.

    name: how its classes in transformers begin. config: what its configuration has beside vision and text.
    processor, options: the class for pictures, and what it is made with.
    tokens: of a picture, where all have one size. least: layers of the vision that must be there.
    """

    name: str
    title: str
    vision: dict
    text: dict | None = None
    config: dict = dataclasses.field(default_factory=dict)
    processor: str = "Qwen2VLImageProcessor"
    options: dict = dataclasses.field(default_factory=lambda: {"min_pixels": 3136, "max_pixels": 12845056})  # no picture meets them
    tokens: int | None = None
    least: int = 1

    @property
    def depth(self):
        """The vision's name for its number of layers."""
        return "depth" if "depth" in self.vision else "num_hidden_layers"


QWEN3 = {"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 16, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
FAMILIES = {
    "qwen2_vl": Family("Qwen2VL", "Qwen2-VL-2B", {"depth": 32, "embed_dim": 1280, "num_heads": 16, "hidden_size": 1536},
                       text_of(1536, 8960, 28, 12, 2, rope_scaling=rope_of(128)), TOKENS),
    "qwen2_5_vl": Family("Qwen2_5_VL", "Qwen2.5-VL-3B",
                         {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420, "out_hidden_size": 2048,
                          "fullatt_block_indexes": [7, 15, 23, 31]}, text_of(2048, 11008, 36, 16, 2, rope_scaling=rope_of(128)), TOKENS),
    "qwen3_vl": Family("Qwen3VL", "Qwen3-VL-2B",
                       {"depth": 24, "hidden_size": 1024, "num_heads": 16, "intermediate_size": 4096, "out_hidden_size": 2048,
                        "deepstack_visual_indexes": [0]},
                       text_of(2048, 6144, 28, 16, 8, head_dim=128, rope_scaling=rope_of(128)), TOKENS, options=QWEN3),
    # Three layers of four are linear: of fewer than four there would be none that sees all.
    "qwen3_5": Family("Qwen3_5", "Qwen3.5, of the sizes that its class has",
                      {"depth": 27, "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "out_hidden_size": 4096,
                       "patch_size": 16},
                      text_of(4096, 12288, 32, 16, 4, head_dim=256, linear_num_key_heads=16, linear_num_value_heads=32,
                              rope_parameters={**rope_of(256), "mrope_section": [11, 11, 10], "partial_rotary_factor": 0.25}),
                      TOKENS, options=QWEN3, least=3),
    # LLaVA takes the last layer but one.
    "llava": Family("Llava", "LLaVA-1.5-7B", {**VIT_L, "image_size": 336, "model_type": "clip_vision_model"},
                    text_of(4096, 11008, 32, 32, 32, model_type="llama"), {"image_token_index": IMAGE}, "CLIPImageProcessor",
                    {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}, 576, 2),
    "clip": Family("CLIP", "CLIP ViT-L/14, 336 pixels", {**VIT_L, "image_size": 336}, processor="CLIPImageProcessor",
                   options={"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}),
    "siglip": Family("Siglip", "SigLIP so400m, 384 pixels", {**SO400M, "image_size": 384}, processor="SiglipImageProcessor",
                     options=to(384)),
    "siglip2": Family("Siglip2", "SigLIP2-base NaFlex",
                      {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
                       "patch_size": 16, "num_patches": 256}, processor="Siglip2ImageProcessor", options={"max_num_patches": 4096}),
    "gemma3": Family("Gemma3", "Gemma-3-4B", {**SO400M, "image_size": 896},
                     text_of(2560, 10240, 34, 8, 4, head_dim=256, sliding_window=1024),
                     {"image_token_index": IMAGE, "mm_tokens_per_image": 256}, "Gemma3ImageProcessor", to(896), 256),
    "paligemma": Family("PaliGemma", "PaliGemma-3B, 448 pixels",
                        {**SO400M, "image_size": 448, "model_type": "siglip_vision_model", "vision_use_head": False},
                        text_of(2048, 16384, 18, 8, 1, head_dim=256, model_type="gemma"),
                        {"image_token_index": IMAGE, "projection_dim": 2048, "hidden_size": 2048}, "SiglipImageProcessor",
                        to(448, image_mean=[0.5] * 3, image_std=[0.5] * 3), 1024),
    "internvl": Family("InternVL", "InternVL3-2B", {**VIT_L, "image_size": [448, 448], "patch_size": [14, 14]},
                       text_of(1536, 8960, 28, 12, 2, model_type="qwen2"), {"image_token_id": IMAGE, "image_seq_length": 256},
                       "GotOcr2ImageProcessor", to(448), 256),
    "smolvlm": Family("SmolVLM", "SmolVLM-2.2B", {**SO400M, "image_size": 384}, text_of(2048, 8192, 24, 32, 32, model_type="llama"),
                      {"image_token_id": IMAGE, "scale_factor": 3}, "SmolVLMImageProcessor",
                      {"size": {"longest_edge": 384}, "max_image_size": {"longest_edge": 384}, "do_image_splitting": False}, 81),
}


def model_of(family, part, device="cpu", dtype="float32"):
    """A model with that part of its layers, and how many times that is of the whole."""
    import torch
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            return _model_of(family, part)
    finally:
        torch.set_default_dtype(torch.float32)


def _model_of(family, part):
    import torch
    import transformers
    depth, vision, text = family.depth, dict(family.vision), family.text
    layers = max(family.least, round(vision[depth] * part))
    times = vision[depth] / layers
    vision[depth] = layers
    if "fullatt_block_indexes" in vision:  # one layer in eight sees all; of fewer than eight, one
        vision["fullatt_block_indexes"] = [layers - 1]
    torch.manual_seed(0)
    if text is None:
        config = getattr(transformers, family.name + "VisionConfig")(**vision)
        return getattr(transformers, family.name + "VisionModel")(config).eval(), times
    text = {**text, "num_hidden_layers": max(1, round(text["num_hidden_layers"] / times))}
    nested = text if family.name in ("Qwen2VL", "Qwen2_5_VL") else {"text_config": text}
    config = getattr(transformers, family.name + "Config")(vision_config=vision, **nested, **family.config)
    return getattr(transformers, family.name + "ForConditionalGeneration")(config).eval(), times


def processor_of(family):
    """The processor that runs on Pillow."""
    import transformers
    return (getattr(transformers, family.processor + "Pil", None) or getattr(transformers, family.processor))(**family.options)


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
    if family.text is None:
        return made
    tokens = family.tokens or int(made["image_grid_thw"].prod()) // 4
    ids = torch.tensor([[IMAGE + 2] + [IMAGE] * tokens + [IMAGE + 3] + list(range(10, 30))])
    batch = {**made, "input_ids": ids, "attention_mask": torch.ones_like(ids)}
    new = int(transformers.__version__.split(".")[0]) >= 5
    if "image_grid_thw" in made and new:  # whose processors say what is a picture
        batch["mm_token_type_ids"] = (ids == IMAGE).long()
    if family.name == "Gemma3":
        batch["token_type_ids"] = (ids == IMAGE).long()
    if family.name == "PaliGemma" and new:
        batch["token_type_ids"] = torch.zeros_like(ids)
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
    made = {name: value for name, value in made.items() if name in TENSORS}
    batch = {name: value.to(device, model.dtype if value.is_floating_point() else None)
             for name, value in batch_of(family, model, made).items()}
    options = {} if family.text is None else {"logits_to_keep": 1}
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


def families():
    """Those that this transformers has."""
    import transformers
    return [name for name, family in FAMILIES.items() if hasattr(transformers, family.name + "Config")]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0].partition(": ")[2])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)} (default: all that this transformers has)")
    parser.add_argument("--sizes", default="224,448,896,1344", help="sides of the pictures, rising (default: 224,448,896,1344)")
    parser.add_argument("--part", type=fractions.Fraction, default=fractions.Fraction(1, 16), help="of the layers (default: 1/16)")
    parser.add_argument("--device", default="cpu", help="where PyTorch runs the models (default: cpu)")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "float16"), help="the models' numbers (default: float32)")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="of which the fastest counts (default: 3)")
    options = parser.parse_args(arguments)
    unknown = [family for family in options.families if family not in FAMILIES]
    if unknown:
        raise SystemExit(f"prune.py: there is no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    need("torch", "transformers", "PIL.Image", "texturevlm.hf")
    sizes = [int(size) for size in options.sizes.split(",")]
    for name in options.families or families():
        family = FAMILIES[name]
        model, times = model_of(family, float(options.part), options.device, options.dtype)
        print(f"{family.title}, one layer in {times:.3g}, {options.device}, {options.dtype}; milliseconds", flush=True)
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
