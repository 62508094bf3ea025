# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf: the families that take what their encoder gave (transformers 5.23), with random weights: their encoder gives what it
gives where the other patches are masked, and the language model computes what it computes where the dropped places are masked."""
import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
if tuple(map(int, transformers.__version__.split(".")[:2])) < (5, 23):
    pytest.skip(f"transformers {transformers.__version__} does not have these families as they are here", allow_module_level=True)
from hf_families import FAMILIES, IMAGE, PAD, batch_of, keep_of, model_of  # noqa: E402
hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
BEFORE = [family for family in FAMILIES if family != "gemma3n"]
PROMPTS = {"an image": [[1, 5, IMAGE, 6, 7]], "two images": [[1, IMAGE, 5, 6, IMAGE, 7]],
           "a padded batch": [[1, IMAGE, 5, 6], [1, 7, 8, 9, IMAGE, 10, 11, 12, IMAGE, 13]]}
OPTIONS = {"max_new_tokens": 5, "do_sample": False, "pad_token_id": PAD, "eos_token_id": None,
           "suppress_tokens": [IMAGE, 101, 102, *range(96, 128)]}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_all_tokens_kept_is_the_model(family, prompt):
    model = model_of(family)
    batch = batch_of(family, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch)
    valid = batch["attention_mask"].bool()
    assert torch.equal(pruned.input_ids, batch["input_ids"])
    assert pruned.tokens == pruned.all_tokens == int((batch["input_ids"] == IMAGE).sum())
    torch.testing.assert_close(pruned.forward().logits[valid], model(**batch).logits[valid], rtol=0, atol=2e-5)


def masked_logits(family, model, batch, pruned):
    """Those of the full prompt, with the kept tokens' features in their places and all dropped places masked."""
    places = batch["input_ids"] == IMAGE
    given = pruned._layout.features(pruned._chosen)
    features = torch.zeros(int(places.sum()), given.shape[1])
    features[pruned.kept[places]] = given
    positions = (batch["attention_mask"].cumsum(dim=1) - 1).clamp(min=0)
    types = {name: batch[name] for name in ("mm_token_type_ids",) if name in batch}
    return model(input_ids=batch["input_ids"], attention_mask=pruned.kept.long(), position_ids=positions,
                 mm_encoder_outputs={"image": pruned._layout.output(features)}, **types).logits


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_language_model_sees_the_positions_of_the_full_prompt(family, prompt):
    model = model_of(family)
    batch = batch_of(family, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, keep_of(family, batch))
    assert pruned.tokens < pruned.all_tokens * 0.8
    full = masked_logits(family, model, batch, pruned)
    own = pruned.forward().logits[pruned.attention_mask.bool()]
    torch.testing.assert_close(own, full[pruned.kept], rtol=0, atol=2e-5)
    pruned.position_ids = (pruned.attention_mask.cumsum(dim=1) - 1).clamp(min=0)
    assert (pruned.forward().logits[pruned.attention_mask.bool()] - own).abs().max() > 1e-3  # renumbered ones would not be the same


def patches_of_tokens(model, batch, kept):
    """bool: the patches of each picture that the encoder sees where these tokens are kept, counted by the test itself."""
    name, found = model.config.model_type, []
    if name in ("llava_next", "llava_onevision"):
        return patches_of_crops(model, batch, kept)
    rest = iter(kept)
    for number, picture in enumerate(batch["pixel_values"].flatten(0, -4) if name != "gemma4" else batch["pixel_values"]):
        if name == "idefics3" and not picture.any():
            continue
        if name == "mistral3":
            rows, columns = (batch["image_sizes"][number] // 14).tolist()
        elif name == "gemma4":
            columns, rows = (batch["image_position_ids"][number].max(dim=0).values + 1).tolist()
        else:
            rows = columns = 8
        seen = torch.zeros(rows, columns, dtype=torch.bool)
        for token in next(rest).tolist():
            row, column = divmod(token, columns // 2)
            seen[2 * row:2 * row + 2, 2 * column:2 * column + 2] = True
        found.append(seen.flatten())
    return found


def patches_of_crops(model, batch, kept):
    """By the model's own packing, of a vector for each patch in which it alone is 1."""
    found, rest = [], iter(kept)
    for size in batch["image_sizes"]:
        height, width = transformers.image_processing_utils.select_best_resolution(size.tolist(), model.config.image_grid_pinpoints)
        crops = 1 + height * width // 56**2
        ones = torch.eye(crops * 16).view(crops, 16, crops * 16)
        options = {"vision_aspect_ratio": model.config.vision_aspect_ratio} if model.config.model_type == "llava_onevision" else {
            "vision_feature_select_strategy": "default"}
        packed = model.model.pack_image_features([ones], size[None], image_newline=torch.zeros(crops * 16), **options)[0][0]
        whole, larger = (part[part.any(dim=1)] for part in (packed[:16], packed[16:]))
        seen = torch.ones(crops * 16, dtype=torch.bool)
        for tokens, kept_here in ((whole, next(rest)), (larger, next(rest))):
            if bool(((tokens == 0) | (tokens == 1)).all()):  # else a token is of several patches, and the crops are seen whole
                dropped = torch.ones(len(tokens), dtype=torch.bool)
                dropped[kept_here] = False
                seen &= ~tokens[dropped].bool().any(dim=0)
        found += list(seen.view(crops, 16))
    return found


def masked_features(model, batch, seen):
    """What get_image_features gives where the patches that are not seen are masked as keys."""
    own = getattr(model, "model", model)
    tower = getattr(own, "vision_tower", None) or own.vision_model
    name = model.config.model_type
    if name == "mistral3":
        seen = [torch.cat(seen)]
    longest = batch["pixel_values"].shape[1] if name == "gemma4" else max(map(len, seen))
    masks = torch.stack([torch.nn.functional.pad(flags, (0, longest - len(flags))) for flags in seen])
    if name == "llava_next":
        masks = torch.nn.functional.pad(masks, (1, 0), value=True)
    if name == "llama4":
        masks = torch.nn.functional.pad(masks, (0, 1), value=True)
    calls = []

    def attention(module, query, key, value, attention_mask, scaling=None, **options):
        calls.append(key.shape)
        weights = (query @ key.transpose(2, 3)) * (scaling or query.shape[-1]**-0.5)
        weights = weights if attention_mask is None else weights + attention_mask
        weights = weights.masked_fill(~masks[:, None, None, :], -1e30).softmax(dim=-1)
        return (weights @ value).transpose(1, 2).contiguous(), None

    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    ALL_ATTENTION_FUNCTIONS["masked_by_test"] = attention
    before, tower.config._attn_implementation = tower.config._attn_implementation, "masked_by_test"
    try:
        names = ("pixel_values", "pixel_attention_mask", "image_sizes", "image_position_ids")
        answer = own.get_image_features(**{name: batch[name] for name in names if name in batch}, return_dict=True)
    finally:
        tower.config._attn_implementation = before
    assert len(calls) == 3
    if name == "llama4":
        return model.multi_modal_projector(answer.last_hidden_state.flatten(0, 1))
    return torch.cat(list(answer.pooler_output))


@pytest.mark.parametrize("family", BEFORE)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_encoder_is_that_with_masked_patches(family, prompt):
    model = model_of(family)
    batch = batch_of(family, *PROMPTS[prompt])
    keep = keep_of(family, batch)
    pruned = hf.prune_batch(model, batch, keep)
    left = pruned.kept[batch["input_ids"] == IMAGE]
    expected = masked_features(model, batch, patches_of_tokens(model, batch, keep))[left]
    torch.testing.assert_close(pruned._features(), expected, rtol=0, atol=2e-5)
    everything = hf.prune_batch(model, batch)._features()[left]
    assert (everything - expected).abs().max() > 1e-3  # the others were seen


def test_gemma_3ns_encoder_sees_all():
    model = model_of("gemma3n")
    batch = batch_of("gemma3n", *PROMPTS["two images"])
    pruned = hf.prune_batch(model, batch, keep_of("gemma3n", batch))
    assert torch.equal(pruned._features(), hf.prune_batch(model, batch)._features()[torch.cat(pruned._chosen)])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_generate_with_cache_is_generate_without(family, prompt):
    model = model_of(family)
    batch = batch_of(family, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, keep_of(family, batch))
    found = pruned.generate(**OPTIONS)
    assert torch.equal(found[:, :-5], batch["input_ids"])
    for _ in range(5):
        logits = pruned.forward().logits[:, -1]
        logits[:, OPTIONS["suppress_tokens"]] = -np.inf
        word = logits.argmax(dim=-1, keepdim=True)
        pruned.input_ids = torch.cat([pruned.input_ids, word], dim=1)
        pruned.attention_mask = torch.cat([pruned.attention_mask, torch.ones_like(word)], dim=1)
        pruned.position_ids = torch.cat([pruned.position_ids, pruned.position_ids[:, -1:] + 1], dim=1)
        for name, types in pruned._types.items():
            pruned._types[name] = torch.cat([types, torch.zeros_like(word)], dim=1)
    assert torch.equal(found[:, -5:], pruned.input_ids[:, -5:])


@pytest.mark.parametrize("family", FAMILIES)
def test_generate_of_all_tokens_is_the_models(family):
    model = model_of(family, seed=1)
    batch = batch_of(family, *PROMPTS["a padded batch"])
    assert torch.equal(hf.prune_batch(model, batch).generate(**OPTIONS), model.generate(**batch, **OPTIONS))


class Processor:
    """What Pruner asks of a processor."""

    image_mean = image_std = (0.5, 0.5, 0.5)


def in_parts(family, picture):
    """A picture as the first image of a batch, and what its pictures are: the pixels that each shows, and the side of a token."""
    name, values = family.split("-")[0], (torch.from_numpy(picture.copy()).float() / 255 * 2 - 1).permute(2, 0, 1)
    batch = batch_of(family, [1, 5, IMAGE, 6, 7])
    pixels = batch["pixel_values"]
    if name == "gemma4":
        values = values / 2 + 0.5  # its processor takes no mean
        patches = values[:, :32, :48].reshape(3, 4, 8, 6, 8).permute(1, 3, 2, 4, 0).reshape(24, 192)
        pixels[0, :24] = patches
        return batch, [(picture[:32, :48], 16)]
    if name == "mistral3":
        pixels[0, :, :56, :84] = values[:, :56, :84]
        return batch, [(picture[:56, :84], 28)]
    if name == "llama4":  # two tiles, and the whole
        corners = ((0, 0), (0, 16), (56, 8))
        for tile, (top, left) in zip(pixels, corners):
            tile[...] = values[:, top:top + 112, left:left + 112]
        return batch, [(picture[top:top + 112, left:left + 112], 28) for top, left in corners]
    side = pixels.shape[-1]
    if not name.startswith("llava"):
        pixels[...] = values[:, :side, :side].reshape(pixels.shape)
        return batch, [(picture[:side, :side], 14 if name == "gemma3n" else 16)]
    # 60 x 100 pixels in four crops of 56 x 56, of which 4 of 8 lines of patches show it.
    for i, (top, left) in enumerate(((112, 72), (0, 0), (0, 56), (56, 0), (56, 56))):
        pixels[0, i] = values[:, top:top + 56, left:left + 56]
    found, larger = [(picture[112:168, 72:128], 14)], picture[28:84, :112]
    if family == "llava_onevision-smaller":
        smaller = torch.nn.functional.interpolate(torch.from_numpy(larger.copy()).permute(2, 0, 1)[None].float(), (28, 70), mode="bilinear",
                                                  antialias=True)[0].permute(1, 2, 0)
        return batch, [*found, (smaller.round().to(torch.uint8).numpy(), 14)]
    return batch, [*found, (larger, 14)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pruner_takes_the_tokens_that_select_finds(family):
    model = model_of(family)
    batch, pictures = in_parts(family, draw(128, 168, 5))
    processor = Processor()
    if family.startswith("gemma4"):
        processor.image_mean, processor.image_std = (0.0,) * 3, (1.0,) * 3
    pruner = hf.Pruner(model, processor, k=5)
    chosen = pruner.prune(batch)._chosen
    assert len(chosen) == len(pictures)
    for flags, (picture, side) in zip(chosen, pictures):
        wanted = tv.select(picture, min(5, len(flags)), strategy="grid", stride=side).indices
        assert flags.nonzero()[:, 0].tolist() == sorted(wanted.tolist())
    assert pruner.generate(batch, **OPTIONS).shape[1] == batch["input_ids"].shape[1] + 5
    text = {"input_ids": torch.tensor([[1, 5, 6]])}  # without a picture all stays
    assert torch.equal(pruner.prune(text).input_ids, text["input_ids"])


def test_the_end_of_a_line_stays_with_its_line():
    model = model_of("llava_next")
    batch = batch_of("llava_next", *PROMPTS["an image"])  # 4 x 4 tokens, and 4 x 8 with an end behind each line
    pruned = hf.prune_batch(model, batch, [torch.tensor([3]), torch.tensor([0, 7, 17])])
    left = pruned.kept[0, 2:-2].nonzero()[:, 0].tolist()
    assert left == [3, 16, 16 + 7, 16 + 8, 16 + 2 * 9 + 1, 16 + 2 * 9 + 8]
    ends = [3, 5]
    assert torch.equal(pruned._features()[ends], model.model.image_newline.expand(2, -1))


def test_of_several_images_onevision_shows_no_crops():
    model = model_of("llava_onevision")
    generator = torch.Generator().manual_seed(0)
    batch = {"input_ids": torch.tensor([[1] + [IMAGE] * 17 + [5] + [IMAGE] * 17 + [6]]), "image_sizes": torch.tensor([[60, 100], [50, 50]]),
             "pixel_values": torch.randn(2, 3, 3, 56, 56, generator=generator), "batch_num_images": torch.tensor([2])}
    pruned = hf.prune_batch(model, batch)
    torch.testing.assert_close(pruned.forward().logits, model(**batch).logits, rtol=0, atol=2e-5)
    assert [len(flags) for flags in pruned._chosen] == [16, 16]


@pytest.mark.parametrize("family", BEFORE)
def test_sdpa_computes_what_eager_does(family):
    model = model_of(family)
    batch = batch_of(family, *PROMPTS["a padded batch"])
    keep = keep_of(family, batch)
    eager = hf.prune_batch(model, batch, keep)
    valid = eager.attention_mask.bool()
    expected = eager.forward().logits[valid]
    model.set_attn_implementation("sdpa")
    torch.testing.assert_close(hf.prune_batch(model, batch, keep).forward().logits[valid], expected, rtol=0, atol=1e-4)


def test_what_does_not_fit_is_one_clear_line(monkeypatch):
    def refused(model, batch, line, **changes):
        with pytest.raises(tv.Error, match=line) as found:
            hf.prune_batch(model, {**batch, **changes})
        assert "\n" not in str(found.value)

    model = model_of("mistral3")
    batch = batch_of("mistral3", *PROMPTS["an image"])
    refused(model, batch, "image_sizes must have a height and a width of each", image_sizes=None)
    refused(model, batch, "not whole tokens of 28 pixels", image_sizes=torch.tensor([[56, 70]]))
    refused(model, batch, "not whole tokens of 28 pixels, within", image_sizes=torch.tensor([[112, 84]]))
    refused(model, batch, "pixel_values_videos: of a mistral3 only images", pixel_values_videos=batch["pixel_values"])
    refused(model, batch, "the prompts have 6 places for tokens, and the batch has no pixel_values", pixel_values=None)
    refused(model, batch, "the prompts have 5 places", input_ids=batch["input_ids"].scatter(1, torch.tensor([[2]]), 5))
    model = model_of("gemma4")
    batch = batch_of("gemma4", *PROMPTS["an image"])
    refused(model, batch, "input_features: of a gemma4 only images", input_features=torch.zeros(1, 4, 128))
    refused(model, batch, "image_position_ids are not a tensor", image_position_ids=None)
    refused(model, batch, "not those of 4 rows of 6 patches", image_position_ids=batch["image_position_ids"].roll(1, 1))
    refused(model, batch, r"\[pictures, patches, 192\]", pixel_values=batch["pixel_values"][0])
    model = model_of("llava_next")
    batch = batch_of("llava_next", *PROMPTS["an image"])
    refused(model, batch, "must be a tensor of their heights and widths", image_sizes=None)
    refused(model, batch, "fewer crops than image_sizes", pixel_values=batch["pixel_values"][:, :2])
    refused(model, batch, "not crops of 56 x 56", pixel_values=batch["pixel_values"][..., :42])
    refused(model, batch, r"\[images, crops, 3, height, width\]", pixel_values=batch["pixel_values"][0])
    with pytest.raises(tv.Error, match="2 pictures: query must be a list of as many"):
        hf.Pruner(model, Processor()).prune(batch, query=["words"])
    with pytest.raises(tv.Error, match="2 pictures: keep must be a list"):
        hf.prune_batch(model, batch, [torch.tensor([1])])
    model = model_of("idefics3")
    batch = batch_of("idefics3", *PROMPTS["an image"])
    refused(model, batch, r"\[prompts, pictures, 3, height, width\]", pixel_values=torch.zeros(1, 3, 64, 64))
    processor = Processor()
    processor.image_token_id = IMAGE + 1  # <|image|> is another token than <|patch|>
    assert hf.Pruner(model_of("llama4"), processor).model
    with monkeypatch.context() as patched:
        patched.delattr(transformers.modeling_outputs.MoeCausalLMOutputWithPast, "image_outputs")
        if "image_outputs" in str(type(model_of("llama4")).forward.__wrapped__.__code__.co_names):
            with pytest.raises(tv.Error, match="Llama4ForConditionalGeneration fails on every prompt"):
                hf.Pruner(model_of("llama4"), None)
    monkeypatch.setattr(hf._families.transformers, "__version__", "4.57.1")  # a later part of transformers may have loaded it anew
    with pytest.raises(tv.Error, match="not supported: idefics3 needs transformers 5.23 or later, this is 4.57.1"):
        hf.Pruner(model, None)
