# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf: LLaVA pruned before its encoder, and Gemma 3, PaliGemma, InternVL, SmolVLM after it, with random weights: the language
model computes what it computes of the full prompt where the dropped tokens are masked."""
import numpy as np
import pytest

import texturevlm as tv
from conftest import draw, left_padded, randomised

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
VERSION = ".".join(transformers.__version__.split(".")[:2])
NEW = tuple(map(int, VERSION.split("."))) >= (5, 23)
if VERSION != "4.57" and not NEW:
    pytest.skip(f"transformers {VERSION} is not one that these families are pruned with", allow_module_level=True)
hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
IMAGE, PAD = 100, 0
TEXT = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
        "vocab_size": 128, "max_position_embeddings": 512, "pad_token_id": PAD, "bos_token_id": 1, "eos_token_id": 2}
VISION = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
# Of each the side of its pictures, and how many tokens it has along a side of one.
SIZES = {"llava": (84, 6), "llava-full": (84, 6), "llava-siglip": (84, 6), "gemma3": (112, 4), "paligemma": (84, 6), "internvl": (112, 4),
         "smolvlm": (128, 4)}
FAMILIES = list(SIZES)


def model_of(family, seed=0, change=None):
    """A model of the real classes, small and random. change: what is done to its configuration before."""
    torch.manual_seed(seed)
    side = SIZES[family][0]
    vision = {**VISION, "image_size": side, "patch_size": 16 if family == "smolvlm" else 14}
    if family.startswith("llava"):
        kind = "siglip_vision_model" if family == "llava-siglip" else "clip_vision_model"
        strategy = "default" if family == "llava" else "full"
        config = transformers.LlavaConfig(vision_config={**vision, "model_type": kind}, text_config={**TEXT, "model_type": "llama"},
                                          image_token_index=IMAGE, vision_feature_select_strategy=strategy)
        model = transformers.LlavaForConditionalGeneration
    elif family == "gemma3":  # whose windows are wider than the prompts
        text = {**TEXT, "head_dim": 8, "sliding_window": 256, "query_pre_attn_scalar": 8,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
        config = transformers.Gemma3Config(vision_config=vision, text_config=text, image_token_index=IMAGE, mm_tokens_per_image=16)
        model = transformers.Gemma3ForConditionalGeneration
    elif family == "paligemma":
        config = transformers.PaliGemmaConfig(vision_config={**vision, "model_type": "siglip_vision_model", "vision_use_head": False},
                                              text_config={**TEXT, "head_dim": 8, "model_type": "gemma"}, image_token_index=IMAGE,
                                              projection_dim=32, hidden_size=32)
        model = transformers.PaliGemmaForConditionalGeneration
    elif family == "internvl":
        vision = {**vision, "image_size": [side, side], "patch_size": [14, 14]}
        config = transformers.InternVLConfig(vision_config=vision, text_config={**TEXT, "model_type": "qwen2"}, image_token_id=IMAGE,
                                             image_seq_length=16)
        model = transformers.InternVLForConditionalGeneration
    else:
        config = transformers.SmolVLMConfig(vision_config=vision, text_config={**TEXT, "model_type": "llama"}, image_token_id=IMAGE,
                                            scale_factor=2, pad_token_id=PAD)
        model = transformers.SmolVLMForConditionalGeneration
    config._attn_implementation = "eager"
    if change is not None:
        change(config)
    return randomised(model(config))


def batch_of(family, *prompts, seed=0):
    """Prompts: lists of numbers, in which IMAGE stands for a picture."""
    side, along = SIZES[family]
    count = along**2 + (family == "llava-full")
    rows = [sum([[part] * (count if part == IMAGE else 1) for part in prompt], []) for prompt in prompts]
    batch = left_padded(rows, PAD)
    ids = batch["input_ids"]
    pictures = [prompt.count(IMAGE) for prompt in prompts]
    generator = torch.Generator().manual_seed(seed)
    if family == "smolvlm":  # a row of pictures for each prompt, filled up with black ones
        pixels = torch.zeros(len(prompts), max(pictures), 3, side, side)
        for row, own in zip(pixels, pictures):
            row[:own] = torch.randn(own, 3, side, side, generator=generator)
        batch["pixel_values"] = pixels
        batch["pixel_attention_mask"] = torch.ones(len(prompts), max(pictures), side, side, dtype=torch.long)
    else:
        batch["pixel_values"] = torch.randn(sum(pictures), 3, side, side, generator=generator)
    if family == "gemma3":
        batch["token_type_ids"] = (ids == IMAGE).long()
    if family == "paligemma" and NEW:
        batch["token_type_ids"] = torch.zeros_like(ids)
    return batch


PROMPTS = {"an image": [[1, 5, IMAGE, 6, 7]], "two images": [[1, IMAGE, 5, 6, IMAGE, 7]],
           "a padded batch": [[1, IMAGE, 5, 6], [1, 7, 8, 9, IMAGE, 10, 11, 12, IMAGE, 13]]}


def keep_of(family, batch, uneven=True):
    """About a third of the tokens of each picture, and of the later ones more."""
    pictures = [picture for picture in batch["pixel_values"].flatten(0, -4) if picture.any()]
    tokens = SIZES[family][1] ** 2
    generator = torch.Generator().manual_seed(3)
    return [torch.randperm(tokens, generator=generator)[:tokens // 3 + i * uneven].sort().values for i in range(len(pictures))]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_all_tokens_kept_is_the_model(family, prompt):
    model, batch = model_of(family), batch_of(family, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch)
    valid = batch["attention_mask"].bool()
    assert torch.equal(pruned.input_ids, batch["input_ids"])
    assert pruned.tokens == pruned.all_tokens == int((batch["input_ids"] == IMAGE).sum())
    torch.testing.assert_close(pruned.forward().logits[valid], model(**batch).logits[valid], rtol=0, atol=2e-5)


def masked_logits(family, model, batch, pruned):
    """Those of the full prompt, with the kept tokens' embeddings in their places and all dropped tokens masked."""
    where = pruned.kept & (batch["input_ids"] == IMAGE)
    embedded = model.get_input_embeddings()(batch["input_ids"])
    embedded[where] = pruned._features()
    mask = batch["attention_mask"]
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0) + (family == "paligemma")
    types = {"token_type_ids": batch["token_type_ids"]} if "token_type_ids" in batch else {}
    return model(inputs_embeds=embedded, attention_mask=pruned.kept.long(), position_ids=positions, **types).logits


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_language_model_sees_the_positions_of_the_full_prompt(family, prompt):
    model, batch = model_of(family), batch_of(family, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, keep_of(family, batch))
    assert pruned.tokens < pruned.all_tokens / 2
    full = masked_logits(family, model, batch, pruned)
    own = pruned.forward().logits[pruned.attention_mask.bool()]
    torch.testing.assert_close(own, full[pruned.kept], rtol=0, atol=2e-5)
    anew = (pruned.attention_mask.cumsum(dim=1) - 1).clamp(min=0) + (family == "paligemma")
    pruned.position_ids = anew
    assert (pruned.forward().logits[pruned.attention_mask.bool()] - own).abs().max() > 1e-3  # renumbered ones would not be the same


@pytest.mark.parametrize("family", FAMILIES)
def test_where_the_encoder_is_pruned(family):
    """LLaVA's encoder sees the kept patches only; those of the others see all: what they give is the model's own."""
    model, batch = model_of(family), batch_of(family, *PROMPTS["two images"])
    pruned = hf.prune_batch(model, batch, keep_of(family, batch))
    everything = hf.prune_batch(model, batch)
    chosen = torch.cat([flags for flags in pruned._chosen])
    if family == "llava-full":
        chosen = torch.cat([torch.nn.functional.pad(flags, (1, 0), value=True) for flags in pruned._chosen])
    difference = (pruned._features() - everything._features()[chosen]).abs().max()
    assert difference > 1e-3 if family.startswith("llava") else difference == 0


@pytest.mark.parametrize("family", ["llava", "llava-full", "llava-siglip"])
def test_llavas_encoder_is_that_with_masked_patches(family):
    model, batch = model_of(family), batch_of(family, *PROMPTS["two images"])
    keep = keep_of(family, batch)
    tower = next(module for module in model.modules() if hasattr(module, "embeddings") and hasattr(module, "encoder"))
    embedded, first = tower.embeddings(batch["pixel_values"]), int(family != "llava-siglip")
    stays = torch.zeros(embedded.shape[:2], dtype=torch.bool)
    stays[:, :first] = True
    for row, numbers in zip(stays, keep):
        row[first + numbers] = True
    hidden = tower.pre_layrnorm(embedded) if first else embedded
    mask = torch.where(stays, 0.0, -1e30)[:, None, None, :].expand(-1, -1, embedded.shape[1], -1)
    for layer in tower.encoder.layers[:-1]:  # vision_feature_layer is -2
        hidden = layer(hidden, attention_mask=mask) if NEW else layer(hidden, mask, **({"causal_attention_mask": None} if first else {}))
        hidden = hidden[0] if isinstance(hidden, tuple) else hidden
    shown = stays if family != "llava" else stays & (torch.arange(stays.shape[1]) > 0)
    expected = model.model.multi_modal_projector(hidden)[shown]
    torch.testing.assert_close(hf.prune_batch(model, batch, keep)._features(), expected, rtol=0, atol=1e-5)


OPTIONS = {"max_new_tokens": 5, "do_sample": False, "pad_token_id": PAD, "eos_token_id": None, "suppress_tokens": [IMAGE]}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_generate_with_cache_is_generate_without(family, prompt):
    if family == "paligemma" and not NEW:
        pytest.skip("there the model itself gives something else without a cache")
    model, batch = model_of(family), batch_of(family, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, keep_of(family, batch))
    found = pruned.generate(**OPTIONS)
    assert torch.equal(found[:, :-5], batch["input_ids"])
    for _ in range(5):
        logits = pruned.forward().logits[:, -1]
        logits[:, IMAGE] = -np.inf
        word = logits.argmax(dim=-1, keepdim=True)
        pruned.input_ids = torch.cat([pruned.input_ids, word], dim=1)
        pruned.attention_mask = torch.cat([pruned.attention_mask, torch.ones_like(word)], dim=1)
        pruned.position_ids = torch.cat([pruned.position_ids, pruned.position_ids[:, -1:] + 1], dim=1)
        for name, types in pruned._types.items():
            pruned._types[name] = torch.cat([types, torch.full_like(word, family == "paligemma")], dim=1)
    assert torch.equal(found[:, -5:], pruned.input_ids[:, -5:])


@pytest.mark.parametrize("family", FAMILIES)
def test_generate_of_all_tokens_is_the_models(family):
    model, batch = model_of(family, seed=1), batch_of(family, *PROMPTS["a padded batch"])
    assert torch.equal(hf.prune_batch(model, batch).generate(**OPTIONS), model.generate(**batch, **OPTIONS))


class Processor:
    """What Pruner asks of a processor."""

    image_mean = image_std = (0.5, 0.5, 0.5)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pruner_takes_the_tokens_that_select_finds(family):
    side, along = SIZES[family]
    picture = draw(side, side, 5)
    batch = batch_of(family, *PROMPTS["an image"])
    values = (torch.from_numpy(picture.copy()).float() / 255 * 2 - 1).permute(2, 0, 1)
    batch["pixel_values"] = values.reshape(batch["pixel_values"].shape)
    model = model_of(family)
    pruner = hf.Pruner(model, Processor(), k=5)
    kept = pruner.prune(batch)._chosen[0].nonzero()[:, 0].tolist()
    assert kept == sorted(tv.select(picture, 5, strategy="grid", stride=side / along).indices.tolist())
    assert pruner.generate(batch, **OPTIONS).shape[1] == batch["input_ids"].shape[1] + 5


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("way", ["pruned", "cells"])
def test_a_budget_is_never_exceeded(family, way):
    """Of all places for pictures, of which a class token is one: with it the prompts of a batch have a budget each."""
    model, budget = model_of(family), 7
    for prompt in ("an image", "two images", "a padded batch"):
        batch = batch_of(family, *PROMPTS[prompt])
        shown = batch["pixel_values"] != 0  # a row of SmolVLM is filled up with black
        batch["pixel_values"] = (torch.rand(shown.shape, generator=torch.Generator().manual_seed(1)) * 2 - 1) * shown
        pruned = hf.Pruner(model, Processor(), budget=budget, way=way).prune(batch)
        counts = (pruned.input_ids == model.config.image_token_id).sum(dim=1).tolist()
        assert counts == [budget] * len(counts) and pruned.tokens == pruned.report.tokens == sum(counts)
        assert {one.way for one in pruned.report.pictures} == {way} and sum(pruned.report.full) == pruned.all_tokens


def test_what_does_not_fit_is_one_clear_line():
    model, batch = model_of("llava"), batch_of("llava", *PROMPTS["an image"])
    with pytest.raises(tv.Error, match="the prompts have 35 places for tokens, pixel_values has 36"):
        hf.prune_batch(model, {**batch, "input_ids": torch.cat([batch["input_ids"][:, :3], batch["input_ids"][:, 4:]], dim=1),
                               "attention_mask": batch["attention_mask"][:, 1:]})
    with pytest.raises(tv.Error, match="2 pictures: keep must be a list"):
        hf.prune_batch(model, batch_of("llava", *PROMPTS["two images"]), [torch.tensor([1])])
    with pytest.raises(tv.Error, match="num_beams=2"):
        hf.prune_batch(model, batch).generate(num_beams=2)
    with pytest.raises(tv.Error, match=r"floats \[pictures, 3, height, width\]"):
        hf.prune_batch(model, {**batch, "pixel_values": batch["pixel_values"][0]})
    with pytest.raises(tv.Error, match="pixel_values_videos: of a llava only images are pruned"):
        hf.prune_batch(model, {**batch, "pixel_values_videos": batch["pixel_values"]})
    with pytest.raises(tv.Error, match="the prompts have 36 places for tokens, and the batch has no pixel_values"):
        hf.Pruner(model, Processor()).prune({"input_ids": batch["input_ids"]})
    with pytest.raises(tv.Error, match="the model is a LlavaModel, which generates nothing: load it by AutoModelForImageTextToText"):
        hf.Pruner(model.model, Processor())
    text = {"input_ids": torch.tensor([[1, 5, 6]])}  # without a picture all stays
    assert torch.equal(hf.Pruner(model, Processor()).prune(text).input_ids, text["input_ids"])
