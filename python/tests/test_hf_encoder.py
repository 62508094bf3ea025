# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf: image encoders of random weights, pruned, are what they compute where the dropped patches are masked."""
from types import SimpleNamespace

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw, randomised

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
VERSION = ".".join(transformers.__version__.split(".")[:2])
if VERSION not in ("4.47", "4.57") and tuple(map(int, VERSION.split("."))) < (5, 23):
    pytest.skip(f"transformers {VERSION} is not one of texturevlm.hf's", allow_module_level=True)
hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
FAMILIES = ["clip", "siglip"] + ["siglip2"] * (VERSION != "4.47")
VISION = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "patch_size": 14, "image_size": 84}
SHAPES = [[6, 8], [9, 4]]  # of SigLIP2's pictures, in patches


def encoder_of(family, whole=False):
    """A vision model of the real classes, small and random; or the one with texts."""
    torch.manual_seed(0)
    vision = {**VISION, "num_patches": 49} if family == "siglip2" else VISION
    name = {"clip": "CLIP", "siglip": "Siglip", "siglip2": "Siglip2"}[family]
    if whole:
        text = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 64,
                "eos_token_id": 1, "bos_token_id": 0, "pad_token_id": 1, "projection_size": 32}
        model = getattr(transformers, name + "Model")(getattr(transformers, name + "Config")(vision_config=vision, text_config=text))
    else:
        config = getattr(transformers, name + "VisionConfig")(**vision)
        config._attn_implementation = "eager"
        model = getattr(transformers, name + "VisionModel")(config)
    return randomised(model)


def batch_of(family, pictures=2):
    generator = torch.Generator().manual_seed(1)
    if family != "siglip2":
        return {"pixel_values": torch.randn(pictures, 3, 84, 84, generator=generator)}
    shapes = torch.tensor(SHAPES[:pictures])
    mask = (torch.arange(50)[None] < shapes.prod(dim=1, keepdim=True)).long()
    return {"pixel_values": torch.randn(pictures, 50, 588, generator=generator), "spatial_shapes": shapes, "pixel_attention_mask": mask}


def some(counts, seed=0):
    """About a third of the patches of each picture."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randperm(count, generator=generator)[:count // 3].sort().values for count in counts]


def counts_of(batch):
    return batch["spatial_shapes"].prod(dim=1).tolist() if "spatial_shapes" in batch else [36] * len(batch["pixel_values"])


def tower_of(model):
    return next(module for module in model.modules() if hasattr(module, "embeddings") and hasattr(module, "encoder"))


@pytest.mark.parametrize("family", FAMILIES)
def test_all_patches_kept_is_the_model(family):
    model, batch = encoder_of(family), batch_of(family)
    pruned, full = hf.prune_batch(model, batch), model(**batch)
    assert pruned.tokens == pruned.all_tokens == sum(counts_of(batch))
    answer = pruned.forward()
    valid = torch.ones(full.last_hidden_state.shape[:2], dtype=torch.bool)
    if family == "siglip2":
        valid = batch["pixel_attention_mask"].bool()
    torch.testing.assert_close(answer.last_hidden_state[pruned.mask.bool() if family == "siglip2" else valid],
                               full.last_hidden_state[valid], rtol=0, atol=1e-5)
    torch.testing.assert_close(answer.pooler_output, full.pooler_output, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_encoder_is_that_with_masked_patches(family):
    model, batch = encoder_of(family), batch_of(family)
    keep = some(counts_of(batch))
    pruned = hf.prune_batch(model, batch, keep)
    tower, first = tower_of(model), 1 if family == "clip" else 0
    embedded = tower.embeddings(*[batch[name] for name in ("pixel_values", "spatial_shapes") if name in batch])
    stays = torch.zeros(embedded.shape[:2], dtype=torch.bool)
    stays[:, :first] = True
    for row, numbers in zip(stays, keep):
        row[first + numbers] = True
    mask = torch.where(stays, 0.0, -1e30)[:, None, None, :].expand(-1, -1, embedded.shape[1], -1)
    hidden = tower.pre_layrnorm(embedded) if first else embedded
    masked = tower.encoder(inputs_embeds=hidden, attention_mask=mask)[0]
    masked = masked if first else tower.post_layernorm(masked)
    own = pruned.forward()
    valid = torch.cat([torch.ones(len(stays), first), pruned.mask], dim=1).bool()
    torch.testing.assert_close(own.last_hidden_state[valid], masked[stays], rtol=0, atol=1e-5)
    everything = model(**batch).last_hidden_state
    assert (everything[stays] - masked[stays]).abs().max() > 1e-3  # the dropped ones were seen
    if family == "siglip2":
        torch.testing.assert_close(own.pooler_output, tower.head(masked, stays.long()), rtol=0, atol=1e-5)
    assert torch.equal(model(**batch).last_hidden_state, everything)  # the model is left as it was


@pytest.mark.parametrize("family", FAMILIES)
def test_models_with_texts_compare_what_is_left(family):
    model, batch = encoder_of(family, whole=True), batch_of(family)
    keep = some(counts_of(batch))
    pruned = hf.prune_batch(model, {**batch, "input_ids": torch.tensor([[0, 3, 4, 1], [0, 5, 6, 1]])}, keep)
    features = pruned.image_features()
    features = getattr(features, "pooler_output", features)
    own = pruned.forward().image_embeds
    torch.testing.assert_close(own, features / features.norm(dim=-1, keepdim=True), rtol=0, atol=1e-5)
    assert (hf.prune_batch(model, batch).image_features() if isinstance(pruned.image_features(), torch.Tensor)
            else hf.prune_batch(model, batch).image_features().pooler_output).sub(features).abs().max() > 1e-3


def processed(family, picture):
    """What the processor makes of a picture of whole patches of 14 pixels, by its own formula."""
    values = torch.from_numpy(picture.copy()).float() / 255 * 2 - 1
    if family != "siglip2":
        return {"pixel_values": values.permute(2, 0, 1)[None]}
    rows, columns = picture.shape[0] // 14, picture.shape[1] // 14
    patches = values.reshape(rows, 14, columns, 14, 3).transpose(1, 2).reshape(1, rows * columns, -1)
    return {"pixel_values": torch.nn.functional.pad(patches, (0, 0, 0, 5)), "spatial_shapes": torch.tensor([[rows, columns]])}


@pytest.mark.parametrize("family", FAMILIES)
def test_patches_are_those_that_select_finds_in_the_picture(family):
    picture = draw(112 if family == "siglip2" else 84, 84, 3)

    class Processor:
        image_mean = image_std = (0.5, 0.5, 0.5)

    batch = processed(family, picture)
    pruned = hf.Pruner(encoder_of(family), Processor(), share=0.5, strategy="grid").prune(batch)
    count = pruned.all_tokens // 2
    expected = tv.select(picture, count, strategy="grid", stride=14).indices
    assert pruned.rows[0].tolist() == sorted(expected.tolist()) and pruned.tokens == count
    assert pruned.forward().last_hidden_state.shape[1] == count + (family == "clip")


@pytest.mark.parametrize("family", FAMILIES)
def test_what_needs_as_many_patches_of_each_picture_keeps_a_quarter(family):
    class Processor:
        image_mean = image_std = (0.5, 0.5, 0.5)

    batch = processed(family, draw(112 if family == "siglip2" else 84, 84, 3))
    counts = [hf.Pruner(encoder_of(family), Processor(), **asked).prune(batch).tokens for asked in ({}, {"share": 0.25}, {"tolerance": "auto"})]
    assert counts[1] != counts[2] and counts[0] == counts[2 if family == "siglip2" else 1]


def test_siglip2s_patches_are_its_processors():
    Image = pytest.importorskip("PIL.Image")
    processor = getattr(transformers, "Siglip2ImageProcessorPil", None) or getattr(transformers, "Siglip2ImageProcessor", None)
    if VERSION == "4.47":
        pytest.skip("it has no SigLIP2")
    picture = draw(112, 84, 3)
    made = processor(patch_size=14, max_num_patches=53, do_resize=False)(images=[Image.fromarray(picture)], return_tensors="pt")
    own = processed("siglip2", picture)
    assert made["spatial_shapes"].tolist() == own["spatial_shapes"].tolist()
    torch.testing.assert_close(made["pixel_values"].float(), own["pixel_values"], rtol=0, atol=1e-5)


def test_what_does_not_fit_is_one_clear_line():
    model, batch = encoder_of("clip"), batch_of("clip")
    with pytest.raises(tv.Error, match="as many patches must be kept"):
        hf.prune_batch(model, batch, [torch.tensor([1]), torch.tensor([1, 2])])
    with pytest.raises(tv.Error, match="picture 0 has 36 tokens; keep names 36"):
        hf.prune_batch(model, batch, [torch.tensor([36]), torch.tensor([1])])
    with pytest.raises(tv.Error, match="mapping with pixel_values"):
        hf.prune_batch(model, {})
    with pytest.raises(tv.Error, match="keep_videos is for Qwen-VL"):
        hf.prune_batch(model, batch, None, [torch.tensor([1])])
    with pytest.raises(tv.Error, match="generates nothing"):
        hf.Pruner(model, SimpleNamespace(image_mean=(0.5,) * 3, image_std=(0.5,) * 3)).generate(batch)
    with pytest.raises(tv.Error, match="need patch"):
        hf.select_tokens(batch["pixel_values"], mean=0.5, std=0.5)
    with pytest.raises(tv.Error, match=r"smaller than a token of 98 x 98"):
        hf.select_tokens(batch["pixel_values"], patch=98, mean=0.5, std=0.5)
    if "siglip2" in FAMILIES:
        with pytest.raises(tv.Error, match="spatial_shapes .* do not fit"):
            hf.prune_batch(encoder_of("siglip2"), {**batch_of("siglip2"), "spatial_shapes": torch.tensor([[6, 8], [9, 8]])})
