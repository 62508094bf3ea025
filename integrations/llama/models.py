#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""models.py SOURCE FOLDER [NAME...]: makes small vision-language models of random weights (0.2 to 3 MB each), each once as transformers
reads it and once as llama.cpp does.

SOURCE is a source of llama.cpp (integrations/llama/fetch), whose own converter is used. Of each model FOLDER/NAME has `hf`, a folder for
from_pretrained, and `model.gguf` and `mmproj.gguf`, all in float32. By its name, qwen2-vl-2b is made as well, of the released size. Needs torch and transformers (ci/hf-environment). Their answers mean
nothing; but weights are large enough that what is attended to matters to them.
"""
import contextlib
import json
import logging
import sys
from pathlib import Path

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>",
           "<start_of_image>", "<end_of_image>", "<image_soft_token>"]
TEMPLATE = """{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}\
{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""
"""ChatML, as llama.cpp's own chat templates have it."""


def tokenizer_of():
    """A tokenizer that knows bytes, these words, and one merge, since llama.cpp takes no vocabulary without any."""
    import tokenizers
    import transformers
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: i for i, letter in enumerate([*letters, "th"])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[("t", "h")]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(SPECIAL)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token=SPECIAL[2], pad_token=SPECIAL[0], bos_token=SPECIAL[0],
                                                chat_template=TEMPLATE)


def text_of(tokenizer, **own):
    number = tokenizer.convert_tokens_to_ids
    return {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "vocab_size": len(tokenizer), "max_position_embeddings": 8192, "bos_token_id": number(SPECIAL[0]), "tie_word_embeddings": False,
            "eos_token_id": number(SPECIAL[2]), "pad_token_id": number(SPECIAL[0]), "initializer_range": 0.2, **own}


def places_of(tokenizer):
    words = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>", "vision_start_token_id": "<|vision_start|>",
             "vision_end_token_id": "<|vision_end|>"}
    return {name: tokenizer.convert_tokens_to_ids(word) for name, word in words.items()}


def qwen2_vl(tokenizer):
    import transformers
    vision = {"depth": 3, "embed_dim": 64, "num_heads": 4, "hidden_size": 64, "patch_size": 14, "initializer_range": 0.1}
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3]}
    config = transformers.Qwen2VLConfig(vision_config=vision, text_config=text_of(tokenizer, rope_scaling=rope), **places_of(tokenizer))
    return transformers.Qwen2VLForConditionalGeneration(config)


def qwen2_vl_2b(tokenizer):
    """As large as the released model of two billion weights (its config.json), but for the vocabulary: what times.py asks."""
    import torch
    import transformers
    vision = {"depth": 32, "embed_dim": 1280, "num_heads": 16, "mlp_ratio": 4, "hidden_size": 1536, "patch_size": 14}
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [16, 24, 24]}
    text = text_of(tokenizer, rope_scaling=rope, hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
                   num_key_value_heads=2, initializer_range=0.02)
    config = transformers.Qwen2VLConfig(vision_config=vision, text_config=text, **places_of(tokenizer))
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float16)  # half of the memory
    try:
        return transformers.Qwen2VLForConditionalGeneration(config)
    finally:
        torch.set_default_dtype(before)


def qwen2_5_vl(tokenizer):
    import transformers
    # Four layers, of which the second and the fourth attend to everything, and the others within windows of 4 x 4 tokens.
    vision = {"depth": 4, "hidden_size": 64, "num_heads": 4, "intermediate_size": 96, "out_hidden_size": 64, "patch_size": 14,
              "fullatt_block_indexes": [1, 3], "window_size": 112, "initializer_range": 0.1}
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3]}
    config = transformers.Qwen2_5_VLConfig(vision_config=vision, text_config=text_of(tokenizer, rope_scaling=rope), **places_of(tokenizer))
    return transformers.Qwen2_5_VLForConditionalGeneration(config)


def qwen3_vl(tokenizer):
    import transformers
    vision = {"depth": 3, "hidden_size": 64, "num_heads": 4, "intermediate_size": 96, "out_hidden_size": 64, "patch_size": 16,
              "num_position_embeddings": 256, "deepstack_visual_indexes": [0, 1], "initializer_range": 0.1}
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "mrope_interleaved": True}
    # Three layers, of which two add what the encoder's layers made: llama.cpp has no such addition behind the last layer.
    config = transformers.Qwen3VLConfig(vision_config=vision, text_config=text_of(tokenizer, rope_scaling=rope, head_dim=16,
                                                                                 num_hidden_layers=3),
                                        **places_of(tokenizer))
    return transformers.Qwen3VLForConditionalGeneration(config)


def gemma3(tokenizer):
    import transformers
    number = tokenizer.convert_tokens_to_ids
    vision = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 14,
              "image_size": 448}
    text = text_of(tokenizer, head_dim=16, sliding_window=512, query_pre_attn_scalar=16, rope_scaling=None)
    config = transformers.Gemma3Config(vision_config=vision, text_config=text, mm_tokens_per_image=64,
                                       image_token_index=number("<image_soft_token>"), boi_token_index=number("<start_of_image>"),
                                       eoi_token_index=number("<end_of_image>"))
    return transformers.Gemma3ForConditionalGeneration(config)


def smolvlm(tokenizer):
    """A model that cuts images into slices, which texturevlm-mtmd refuses."""
    import transformers
    vision = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 14, "image_size": 112}
    text = {"model_type": "llama", **text_of(tokenizer, head_dim=16)}
    config = transformers.SmolVLMConfig(vision_config=vision, text_config=text, scale_factor=2,
                                        image_token_id=tokenizer.convert_tokens_to_ids("<image_soft_token>"))
    return transformers.SmolVLMForConditionalGeneration(config)


def processor_of(name, tokenizer):
    """The processor of images, with libmtmd's own limits of sizes: 8 to 4096 tokens for Qwen-VL."""
    import transformers
    if name == "gemma3":
        return transformers.Gemma3ImageProcessor(size={"height": 448, "width": 448}, image_seq_length=64)
    if name == "smolvlm":
        return transformers.SmolVLMImageProcessor(size={"longest_edge": 448}, max_image_size={"longest_edge": 112})
    side = 32 if name == "qwen3-vl" else 28
    own = {"patch_size": 16, "image_mean": [0.5] * 3, "image_std": [0.5] * 3} if name == "qwen3-vl" else {}
    sizes = {"min_pixels": 8 * side**2, "max_pixels": 4096 * side**2}
    return transformers.Qwen2VLImageProcessor(**sizes, **own)


LARGE = {"qwen2-vl-2b": qwen2_vl_2b}
"""Made by their names only, and kept in halves."""
MODELS = {"qwen2-vl": qwen2_vl, "qwen2.5-vl": qwen2_5_vl, "qwen3-vl": qwen3_vl, "gemma3": gemma3, "smolvlm": smolvlm}


def save(name, folder):
    """Writes the model as transformers reads it."""
    import torch
    torch.manual_seed(0)
    tokenizer = tokenizer_of()
    model = {**MODELS, **LARGE}[name](tokenizer).eval()
    model = model if name in LARGE else model.float()
    with torch.no_grad():
        for key, tensor in model.named_parameters():
            if key.endswith("bias"):  # they begin as zeros, and a converter that loses them would go unnoticed
                tensor.normal_(0.0, 0.1)
            elif "position_embedding" in key or "pos_embed" in key or "mm_input_projection" in key:
                tensor.normal_(0.0, 0.2)
        # No answer has a special token, which would be taken for one of the prompt's.
        if not model.config.tie_word_embeddings:
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(SPECIAL)] = 0
    model.save_pretrained(folder)
    # Qwen-VL's configuration writes the class of the model beside its text only, where the converter does not look for the encoder.
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["architectures"] = ["LlamaForCausalLM"] if name == "smolvlm" else None
    (folder / "config.json").write_text(json.dumps({**config, "architectures": [type(model).__name__]}))
    tokenizer.save_pretrained(folder)
    processor_of(name, tokenizer).save_pretrained(folder)


def convert(source, folder, output, mmproj, kept="f32"):
    """Converts by llama.cpp's converter, in this process: it does not know the tiny vocabulary, and would refuse it."""
    sys.path[:0] = [str(source), str(source / "gguf-py")]
    import conversion
    import convert_hf_to_gguf
    from conversion.base import TextModel
    kind = conversion.ModelType.MMPROJ if mmproj else conversion.ModelType.TEXT
    hparams = conversion.ModelBase.load_hparams(folder, False)
    model = conversion.get_model_class(conversion.get_model_architecture(hparams, kind), mmproj=mmproj)
    TextModel.get_vocab_base_pre = lambda self, tokenizer: "qwen2"
    if not mmproj:
        model.set_vocab = TextModel._set_vocab_gpt2
    sys.argv = ["convert", str(folder), "--outtype", kept, "--outfile", str(output), *(["--mmproj"] if mmproj else [])]
    convert_hf_to_gguf.main()


def main():
    if len(sys.argv) < 3:
        print(__doc__.split("\n", maxsplit=1)[0], file=sys.stderr)
        return 2
    source, folder, names = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:] or list(MODELS)
    logging.disable(logging.INFO)
    for name in names:
        if (folder / name / "mmproj.gguf").exists():
            continue
        (folder / name).mkdir(parents=True, exist_ok=True)
        with contextlib.redirect_stdout(sys.stderr):
            save(name, folder / name / "hf")
            kept = "f16" if name in LARGE else "f32"
            convert(source, folder / name / "hf", folder / name / "model.gguf", False, kept)
            # Under a name of its own until it is whole: what is there is taken to be right.
            convert(source, folder / name / "hf", folder / name / "new.gguf", True, kept)
        made = next(path for path in (folder / name).glob("*new.gguf"))
        made.rename(folder / name / "mmproj.gguf")
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
