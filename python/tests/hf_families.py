# SPDX-License-Identifier: Apache-2.0
"""Small random models of the families that take what their encoder gave, and batches as their processors make them."""
import importlib

import torch
import transformers

import texturevlm as tv
from conftest import left_padded, randomised

# In 5.24 a Llama 4 asks for this of its language model's answer, and fails.
transformers.modeling_outputs.MoeCausalLMOutputWithPast.image_outputs = None

IMAGE, END, PAD = 100, 103, 0
TEXT = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
        "vocab_size": 128, "max_position_embeddings": 512, "pad_token_id": PAD, "bos_token_id": 1, "eos_token_id": 2}
VISION = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
POINTS = [[56, 112], [112, 56], [112, 112], [56, 168]]
FAMILIES = ["idefics3", "llama4", "mistral3", "gemma4", "gemma4-vision", "gemma3n", "llava_next", "llava_onevision",
            "llava_onevision-smaller"]


class Convolutions(torch.nn.Module):
    """In the place of Gemma 3n's encoder, which is another package's (timm)."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 32, 28, 14, 7)

    def forward(self, pixel_values, **options):
        return transformers.modeling_outputs.BaseModelOutputWithPooling(last_hidden_state=2 * self.layer(pixel_values).tanh())  # scaled by the model in place


def _config(family):
    name = family.split("-")[0]
    if name == "idefics3":
        return transformers.Idefics3Config(vision_config={**VISION, "image_size": 64, "patch_size": 8}, scale_factor=2,
                                           text_config={**TEXT, "model_type": "llama"}, image_token_id=IMAGE, pad_token_id=PAD)
    if name == "llama4":
        text = {**TEXT, "head_dim": 8, "intermediate_size_mlp": 64, "num_local_experts": 4, "interleave_moe_layer_step": 2}
        vision = {**VISION, "intermediate_size": 128, "image_size": 112, "patch_size": 14, "vision_output_dim": 48,
                  "projector_input_dim": 48, "projector_output_dim": 48}
        return transformers.Llama4Config(vision_config=vision, text_config=text, image_token_index=IMAGE)
    if name == "mistral3":
        vision = {**VISION, "model_type": "pixtral", "patch_size": 14, "image_size": 140, "head_dim": 8}
        return transformers.Mistral3Config(vision_config=vision,
                                           text_config={**TEXT, "model_type": "mistral", "head_dim": 8}, image_token_index=IMAGE)
    if name == "gemma4":
        text = {**TEXT, "head_dim": 8, "global_head_dim": 8, "sliding_window": 256, "hidden_size_per_layer_input": 8,
                "vocab_size_per_layer_input": 128, "num_kv_shared_layers": 2,
                "layer_types": ["sliding_attention", "full_attention"] * 2,
                "use_bidirectional_attention": "vision" if family == "gemma4-vision" else None}
        vision = {**VISION, "num_key_value_heads": 4, "head_dim": 8, "patch_size": 8, "pooling_kernel_size": 2,
                  "position_embedding_size": 64}
        return transformers.Gemma4Config(vision_config=vision, text_config=text, audio_config=None, image_token_id=IMAGE,
                                         video_token_id=101, audio_token_id=102)
    if name == "gemma3n":
        text = {**TEXT, "head_dim": 8, "sliding_window": 256, "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 96,
                "num_kv_shared_layers": 2, "laurel_rank": 8, "layer_types": ["sliding_attention", "full_attention"] * 2,
                "activation_sparsity_pattern": [0.0] * 4}
        audio = {"hidden_size": 32, "conf_num_attention_heads": 4, "conf_num_hidden_layers": 1, "vocab_size": 16, "vocab_offset": 112}
        return transformers.Gemma3nConfig(vision_config={"hidden_size": 32, "vocab_size": 16, "vocab_offset": 96}, text_config=text,
                                          audio_config=audio, image_token_id=IMAGE, audio_token_id=112, vision_soft_tokens_per_image=16)
    vision = {**VISION, "image_size": 56, "patch_size": 14}
    if name == "llava_next":
        return transformers.LlavaNextConfig(vision_config={**vision, "model_type": "clip_vision_model"}, image_grid_pinpoints=POINTS,
                                            text_config={**TEXT, "model_type": "llama"}, image_token_index=IMAGE,
                                            vision_feature_layer=-2)
    return transformers.LlavaOnevisionConfig(vision_config={**vision, "model_type": "siglip_vision_model"}, image_grid_pinpoints=POINTS,
                                             text_config={**TEXT, "model_type": "qwen2"}, image_token_index=IMAGE,
                                             vision_aspect_ratio="anyres_max_1" if family.endswith("smaller") else "anyres_max_9")


def model_of(family, seed=0, change=None):
    """A model of the real classes, small and random. change: what is done to its configuration before."""
    torch.manual_seed(seed)
    config = _config(family)
    if change is not None:
        change(config)
    config._attn_implementation = "eager"
    if family == "gemma3n":
        module = importlib.import_module("transformers.models.gemma3n.modeling_gemma3n")
        made = module.AutoModel.from_config
        module.AutoModel.from_config = lambda own, **options: (Convolutions() if own.model_type == "gemma3n_vision"
                                                               else made(own, **options))
    name = next(name for name in dir(transformers) if name.lower() == family.split("-")[0].replace("_", "") + "forconditionalgeneration")
    try:
        return randomised(getattr(transformers, name)(config))
    finally:
        if family == "gemma3n":
            module.AutoModel.from_config = made


# Of each family three images: what the processor makes of each, and its places in the prompt.
# crops: of LLaVA's images height, width, and crops.
SIZES = {"llava": [(60, 100), (50, 50), (130, 60)], "mistral3": [(56, 84), (84, 112), (84, 28)], "gemma4": [(32, 48), (48, 32), (16, 32)]}


def places_of(config, number):
    """The places in the prompt that an image has, by its number."""
    name = config.model_type
    if name == "mistral3":
        rows, columns = (side // 28 for side in SIZES[name][number])
        return (([IMAGE] * columns + [104]) * rows)[:-1] + [END]
    if name == "gemma4":
        height, width = SIZES[name][number]
        return [104] + [IMAGE] * (height * width // 256) + [END]
    if name == "llama4" and number != 1:  # two tiles, and the whole
        return [104] + [IMAGE] * 16 + [105] + [IMAGE] * 16 + [106] + [107] + [IMAGE] * 16 + [END]
    if name in ("idefics3", "gemma3n", "llama4"):
        return [104] + [IMAGE] * 16 + [END]
    size = torch.tensor(SIZES["llava"][number])
    rows, columns = grid_of(size)
    if name == "llava_onevision":
        rows, columns = smaller(config, rows, columns)
    return [IMAGE] * (16 + rows * (columns + 1))


def grid_of(size):
    """What is left of the larger picture: as processors of LLaVA-NeXT count it."""
    height, width = (side // 14 for side in transformers.image_processing_utils.select_best_resolution(size.tolist(), POINTS))
    if int(size[1]) / int(size[0]) > width / height:
        left = int(round(int(size[0]) * (width / int(size[1])), 7))
        return height - 2 * ((height - left) // 2), width
    left = int(round(int(size[1]) * (height / int(size[0])), 7))
    return height, width - 2 * ((width - left) // 2)


def smaller(config, rows, columns):
    """What LLaVA-OneVision makes of too large a picture."""
    ratio = (rows * columns / (int(config.vision_aspect_ratio.removeprefix("anyres_max_")) * 16)) ** 0.5
    return (int(rows // ratio), int(columns // ratio)) if ratio > 1.1 else (rows, columns)


def pixels_of(name, images, generator):
    """What the processor makes of images, each of a prompt: lists of their numbers."""
    def random(*shape):
        return torch.randn(*shape, generator=generator)

    flat = sum(images, [])
    if name == "idefics3":
        found = torch.zeros(len(images), max(map(len, images)), 3, 64, 64)
        for row, own in zip(found, images):
            row[:len(own)] = random(len(own), 3, 64, 64)
        return {"pixel_values": found, "pixel_attention_mask": torch.ones(*found.shape[:2], 64, 64, dtype=torch.long)}
    if name == "llama4":
        return {"pixel_values": random(sum(1 if number == 1 else 3 for number in flat), 3, 112, 112)}
    if name == "gemma3n":
        return {"pixel_values": random(len(flat), 3, 56, 56)}
    if name == "mistral3":
        sizes = [SIZES[name][number] for number in flat]
        found = torch.zeros(len(flat), 3, *(max(sides) for sides in zip(*sizes)))
        for picture, (height, width) in zip(found, sizes):
            picture[:, :height, :width] = random(3, height, width)
        return {"pixel_values": found, "image_sizes": torch.tensor(sizes)}
    if name == "gemma4":
        found, places = torch.zeros(len(flat), 24 + 4, 192), torch.full((len(flat), 24 + 4, 2), -1)
        for row, place, number in zip(found, places, flat):
            rows, columns = (side // 8 for side in SIZES[name][number])
            row[:rows * columns] = torch.rand(rows * columns, 192, generator=generator)
            place[:rows * columns, 0] = torch.arange(columns).repeat(rows)
            place[:rows * columns, 1] = torch.arange(rows).repeat_interleave(columns)
        return {"pixel_values": found, "image_position_ids": places}
    sizes = torch.tensor([SIZES["llava"][number] for number in flat])
    found = torch.zeros(len(flat), 5, 3, 56, 56)
    for crops, size in zip(found, sizes):
        height, width = transformers.image_processing_utils.select_best_resolution(size.tolist(), POINTS)
        count = 1 + height * width // 56**2
        crops[:count] = random(count, 3, 56, 56)
    return {"pixel_values": found, "image_sizes": sizes}


def batch_of(family, *prompts, seed=0):
    """Prompts: lists of words' numbers, in which IMAGE stands for the next of the three images."""
    config, generator = _config(family), torch.Generator().manual_seed(seed)
    rows, images = [], []
    for prompt in prompts:
        first = len(sum(images, [])) % 3
        images.append([(first + i) % 3 for i in range(prompt.count(IMAGE))])
        places = [places_of(config, number) for number in images[-1]]
        rows.append(sum([places.pop(0) if part == IMAGE else [part] for part in prompt], []))
    batch = left_padded(rows, PAD)
    batch.update(pixels_of(config.model_type, images, generator))
    if config.model_type == "gemma4":
        batch["mm_token_type_ids"] = (batch["input_ids"] == IMAGE).long()
    return batch


def keep_of(family, batch):
    """About a third of the tokens of each picture, and of the later ones more."""
    generator = torch.Generator().manual_seed(3)
    sizes = [len(flags) for flags in tv.hf.prune_batch(model_of(family), batch)._chosen]
    return [torch.randperm(size, generator=generator)[:min(size, size // 3 + i % 2 + 1)].sort().values for i, size in enumerate(sizes)]
