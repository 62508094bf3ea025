# SPDX-License-Identifier: Apache-2.0
"""tiny_vlm.py FOLDER: writes a vision-language model of random weights, a Qwen2-VL as small as it can be, with its processor (0.5 MB).

    tiny_vlm.py tiny && qwen_pruned.py tiny photo.jpg "What is the total?"

transformers loads it as it loads any other, so that whatever is written for a model can be tried without a download. Its answers mean
nothing.
"""
import sys

import tokenizers
import torch
import transformers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
TEMPLATE = """{% for message in messages %}<|im_start|>{{ message['role'] }}
{% for part in message['content'] %}{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% elif \
part['type'] == 'video' %}<|vision_start|><|video_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def tokenizer_of(special=SPECIAL, kind=transformers.Qwen2TokenizerFast, **tokens):
    """A tokenizer that knows bytes, and these words."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(special)
    return kind(tokenizer_object=made, **{"eos_token": special[2], "pad_token": special[0], **tokens})


def processor_of():
    """Its processor, of the real classes: 4 to 64 tokens an image."""
    sizes = {"min_pixels": 4 * 28 * 28, "max_pixels": 64 * 28 * 28}
    images, videos = transformers.Qwen2VLImageProcessor(**sizes), transformers.Qwen2VLVideoProcessor(**sizes)
    return transformers.Qwen2VLProcessor(images, tokenizer_of(), videos, chat_template=TEMPLATE)


def model_of(processor):
    """A model for it: three layers in the encoder, two in the language model."""
    number = processor.tokenizer.convert_tokens_to_ids
    vision = {"depth": 3, "embed_dim": 64, "num_heads": 4, "hidden_size": 32, "patch_size": 14}
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [1, 1, 2]}
    text = {"rope_scaling": rope, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "vocab_size": len(processor.tokenizer), "max_position_embeddings": 4096,
            "pad_token_id": number(SPECIAL[0]), "bos_token_id": number(SPECIAL[0]), "eos_token_id": number(SPECIAL[2])}
    places = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>", "vision_start_token_id": "<|vision_start|>",
              "vision_end_token_id": "<|vision_end|>"}
    config = transformers.Qwen2VLConfig(vision_config=vision, text_config=text, **{name: number(word) for name, word in places.items()})
    torch.manual_seed(0)
    return transformers.Qwen2VLForConditionalGeneration(config).eval()


def save(folder):
    """Writes both into the folder, and gives its name: for from_pretrained."""
    processor = processor_of()
    model_of(processor).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    save(*sys.argv[1:])
