# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf: pruned models of random weights are what the models compute where the dropped patches are masked."""
import inspect

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw, left_padded, randomised

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
VERSION = ".".join(transformers.__version__.split(".")[:2])
NEW = tuple(map(int, VERSION.split("."))) >= (5, 23)
if VERSION not in ("4.47", "4.57") and not NEW:
    pytest.skip(f"transformers {VERSION} is not one of texturevlm.hf's", allow_module_level=True)
hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
from texturevlm.hf import _families, _qwen, _tokens, _wrapped  # noqa: E402
generates = pytest.mark.skipif(VERSION == "4.47", reason="its generate does not import on torch 1.13 with Python 3.11")
FAMILIES = ["qwen2_vl"] if VERSION == "4.47" else ["qwen2_vl", "qwen2_5_vl", "qwen3_vl"]
FAMILIES += ["qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "glm4v", "glm4v_moe"] * NEW
IMAGE, VIDEO, START, END, PAD = 100, 101, 102, 103, 0
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 128, "max_position_embeddings": 4096}
MOE = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32}
TOKENS = {"image_token_id": IMAGE, "video_token_id": VIDEO, "vision_start_token_id": START, "vision_end_token_id": END}


def model_of(family, seed=0, change=None):
    """A model of the real classes, small and random. change: what is done to its configuration before."""
    torch.manual_seed(seed)
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [1, 1, 2]}
    if family == "qwen2_vl":
        vision = {"depth": 3, "embed_dim": 64, "num_heads": 4, "hidden_size": 32, "patch_size": 14}
        config = transformers.Qwen2VLConfig(vision_config=vision, rope_scaling=rope, **SIZES, **TOKENS)
        model = transformers.Qwen2VLForConditionalGeneration
    elif family == "qwen2_5_vl":
        vision = {"depth": 4, "hidden_size": 64, "num_heads": 4, "out_hidden_size": 32, "intermediate_size": 96, "patch_size": 14,
                  "fullatt_block_indexes": [1, 3], "window_size": 112}
        config = transformers.Qwen2_5_VLConfig(vision_config=vision, rope_scaling=rope, **SIZES, **TOKENS)
        model = transformers.Qwen2_5_VLForConditionalGeneration
    elif family.startswith("glm4v"):
        vision = {"depth": 3, "hidden_size": 64, "num_heads": 4, "out_hidden_size": 32, "intermediate_size": 96, "patch_size": 14,
                  "image_size": 112}
        text = {**SIZES, "head_dim": 8, "pad_token_id": PAD,
                "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2],
                                    "partial_rotary_factor": 1.0}}
        if family == "glm4v_moe":
            text.update(MOE, n_routed_experts=4, n_group=1, topk_group=1, first_k_dense_replace=1)
        name = "Glm4vMoe" if family == "glm4v_moe" else "Glm4v"
        config = getattr(transformers, f"{name}Config")(vision_config=vision, text_config=text, image_token_id=IMAGE, video_token_id=VIDEO)
        model = getattr(transformers, f"{name}ForConditionalGeneration")
    elif family.startswith("qwen3_5"):  # three layers of linear attention, one of full
        vision = {"depth": 3, "hidden_size": 64, "num_heads": 4, "out_hidden_size": 32, "intermediate_size": 96, "patch_size": 16,
                  "num_position_embeddings": 64}
        text = {**SIZES, "num_hidden_layers": 4, "head_dim": 16, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
                "linear_num_key_heads": 2, "linear_num_value_heads": 4,
                "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2], "mrope_interleaved": True,
                                    "partial_rotary_factor": 0.5}}
        name = "Qwen3_5Moe" if family == "qwen3_5_moe" else "Qwen3_5"
        text.update(MOE if family == "qwen3_5_moe" else {})
        config = getattr(transformers, f"{name}Config")(vision_config=vision, text_config=text, **TOKENS)
        model = getattr(transformers, f"{name}ForConditionalGeneration")
    else:
        vision = {"depth": 4, "hidden_size": 64, "num_heads": 4, "out_hidden_size": 32, "intermediate_size": 96, "patch_size": 16,
                  "deepstack_visual_indexes": [0, 2], "num_position_embeddings": 64}
        text = {**SIZES, "head_dim": 8, "rope_scaling": {"rope_type": "default", "mrope_section": [1, 1, 2], "mrope_interleaved": True}}
        name = "Qwen3VLMoe" if family == "qwen3_vl_moe" else "Qwen3VL"
        text.update(MOE if family == "qwen3_vl_moe" else {})
        config = getattr(transformers, f"{name}Config")(vision_config=vision, text_config=text, **TOKENS)
        model = getattr(transformers, f"{name}ForConditionalGeneration")
    config._attn_implementation = "eager"
    if change is not None:
        change(config)
    return randomised(model(config))


def tokens_of(grid):
    return int(np.prod(grid)) // 4


def batch_of(model, *prompts, seed=0):
    """Prompts of text, images and videos: lists of numbers (text) and grids ("image" or "video", t, h, w)."""
    generator = torch.Generator().manual_seed(seed)
    patch = model.config.vision_config.patch_size
    glm = model.config.model_type.startswith("glm4v")
    three = glm or model.config.model_type.startswith("qwen3")
    rows, pixels, grids = [], {"image": [], "video": []}, {"image": [], "video": []}
    for prompt in prompts:
        ids = []
        for part in prompt:
            if isinstance(part, int):
                ids.append(part)
                continue
            kind, *grid = part
            token = IMAGE if kind == "image" or glm else VIDEO
            if kind == "video" and three:  # each moment stands for itself, behind its time
                for _ in range(grid[0]):
                    ids += [7, START] + [token] * tokens_of([1, *grid[1:]]) + [END]
            else:
                ids += [START] + [token] * tokens_of(grid) + [END]
            grids[kind].append(grid)
            pixels[kind].append(torch.randn(int(np.prod(grid)), 6 * patch * patch, generator=generator))
        rows.append(ids)
    batch = left_padded(rows, PAD)
    for kind, pixel_name, grid_name in (("image", "pixel_values", "image_grid_thw"), ("video", "pixel_values_videos", "video_grid_thw")):
        if grids[kind]:
            batch[pixel_name], batch[grid_name] = torch.cat(pixels[kind]), torch.tensor(grids[kind])
    if NEW:  # as processors do
        own = 2 if glm and grids["video"] else 1
        batch["mm_token_type_ids"] = own * (batch["input_ids"] == IMAGE).long() + 2 * (batch["input_ids"] == VIDEO).long()
    if grids["video"] and model.config.model_type == "qwen2_5_vl":
        batch["second_per_grid_ts"] = [1.0] * len(grids["video"])
    return batch


def some(grids, seed=0):
    """About a third of each picture's tokens."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randperm(tokens_of(grid), generator=generator)[:max(1, tokens_of(grid) // 3)].sort().values for grid in grids.tolist()]


PROMPTS = {
    "an image": [[1, 2, ("image", 1, 12, 16), 3, 4, 5]],
    "two images": [[1, ("image", 1, 8, 12), 2, 3, ("image", 1, 14, 6), 4]],
    "a video": [[1, ("video", 3, 8, 10), 2, 3]],
    "a video and an image": [[1, ("image", 1, 6, 10), 2, ("video", 2, 8, 12), 3, 4]],
    "a padded batch": [[1, ("image", 1, 12, 10), 2], [3, 4, 5, 6, ("image", 1, 6, 8), 7, 8], [9, 10]],
}
# GLM answers images or videos.
CASES = [(family, prompt) for family in FAMILIES for prompt in PROMPTS
         if prompt != "a video and an image" or not family.startswith("glm4v")]


def keep_of(batch, seed=0):
    return [some(batch[name], seed) if name in batch else None for name in ("image_grid_thw", "video_grid_thw")]


@pytest.mark.parametrize("family, prompt", CASES)
def test_all_tokens_kept_is_the_model(family, prompt):
    model = model_of(family)
    batch = batch_of(model, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch)
    assert torch.equal(pruned.input_ids, batch["input_ids"]) and pruned.tokens == pruned.all_tokens
    full = model(**batch).logits
    valid = batch["attention_mask"].bool()
    torch.testing.assert_close(pruned.forward().logits[valid], full[valid], rtol=0, atol=2e-5)


def parts(answer):
    """A tower's embeddings, and those of deepstack, as each version gives them."""
    if isinstance(answer, torch.Tensor):
        return answer, []
    if NEW:
        return answer.pooler_output, list(getattr(answer, "deepstack_features", None) or [])
    return answer[0], list(answer[1])


def encoded(pruned, picture):
    """What the tower gives of the kept patches."""
    if NEW:
        places = {name.split("_", 1)[1]: value for name, value in picture.places("image").items()}
        return parts(pruned._tower(picture.pixels, grid_thw=picture.grid, **places))
    tower = _wrapped.view_of(pruned._tower)[0]
    _qwen.answer_places(tower, [picture])
    return parts(tower(picture.pixels, grid_thw=picture.grid))


def windows_of(tower, grid):
    """The tokens window after window, and where the windows begin; None where there are none."""
    if NEW and hasattr(tower, "window_size"):
        from transformers.vision_utils import get_vision_window_index
        return get_vision_window_index(grid, spatial_merge_size=2, window_size=tower.window_size, patch_size=tower.patch_size)
    return tower.get_window_index(grid) if hasattr(tower, "get_window_index") else None


def masked_tower(model, pixels, grid, kept):
    """What the tower gives for all patches where the dropped ones are masked as keys: by an attention of the test's own."""
    tower = (model.model if hasattr(model.model, "visual") else model).visual
    keys = []

    def attention(module, query, key, value, attention_mask, scaling=1.0, **options):
        dropped = keys.pop(0)
        assert len(dropped) == key.shape[2]
        weights = (query @ key.transpose(2, 3)) * scaling
        weights = weights.masked_fill(dropped[None, None, None, :], -1e30).softmax(dim=-1)
        return (weights @ value).transpose(1, 2).contiguous(), None

    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    ALL_ATTENTION_FUNCTIONS["masked_by_test"] = attention
    dropped = ~kept.repeat_interleave(4)
    moments = [int(h * w) for t, h, w in grid.tolist() for _ in range(t)]
    windows = None
    if windows_of(tower, grid) is not None:
        index, bounds = windows_of(tower, grid)
        dropped = dropped[(index[:, None] * 4 + torch.arange(4)).flatten()]
        windows = [length for length in np.diff(np.asarray(bounds)).tolist() if length]
    for layer in range(len(tower.blocks)):
        keys += dropped.split(moments if windows is None or layer in tower.fullatt_block_indexes else windows)
    before, tower.config._attn_implementation = tower.config._attn_implementation, "masked_by_test"
    try:
        answer = parts(tower(pixels, grid_thw=grid))
    finally:
        tower.config._attn_implementation = before
    assert not keys
    return answer


@pytest.mark.skipif(VERSION == "4.47", reason="its attention cannot be replaced")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prompt", ["an image", "two images", "a video"])
def test_the_tower_is_that_with_masked_patches(family, prompt):
    model = model_of(family)
    batch = batch_of(model, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, *keep_of(batch))
    for name, picture in pruned._pictures.items():
        grid = batch["image_grid_thw" if name == "pixel_values" else "video_grid_thw"]
        if family.startswith("glm4v"):  # whose tower takes each moment by itself
            grid = torch.tensor([[1, h, w] for t, h, w in grid.tolist() for _ in range(t)])
        masked, answer = masked_tower(model, batch[name], grid, picture.kept), encoded(pruned, picture)
        assert len(masked[1]) == len(answer[1])
        for own, other in ((answer[0], masked[0]), *zip(answer[1], masked[1])):
            torch.testing.assert_close(own, other[picture.kept], rtol=0, atol=2e-5)  # of values of about 10
        everything, _ = parts(pruned._tower(batch[name], grid_thw=grid))
        assert (everything[picture.kept] - answer[0]).abs().max() > 1e-3  # the dropped ones were seen


def masked_logits(model, batch, pruned):
    """Those of the full prompt, with the kept tokens' embeddings in their places and all dropped tokens masked."""
    inner = model.model if hasattr(model.model, "visual") else model
    embeddings = model.get_input_embeddings()(batch["input_ids"])
    shown = torch.zeros_like(pruned.kept)
    deepstack = []
    for pixel_name, token in (("pixel_values", IMAGE), ("pixel_values_videos", VIDEO)):
        if pixel_name not in pruned._pictures:
            continue
        token = IMAGE if model.config.model_type.startswith("glm4v") else token
        answer, levels = encoded(pruned, pruned._pictures[pixel_name])
        where = pruned.kept & (batch["input_ids"] == token)
        layers = [torch.zeros_like(embeddings) for _ in levels]
        for layer, values in zip(layers, levels):
            layer[where] = values
        deepstack = [a + b for a, b in zip(deepstack, layers)] if deepstack else layers
        embeddings[where] = answer
        shown |= where
    positions = pruned._positions(batch, batch["input_ids"], batch["attention_mask"])
    language = inner.language_model if hasattr(inner, "language_model") else inner.model
    options = {"visual_pos_masks": shown, "deepstack_visual_embeds": [layer[shown] for layer in deepstack]} if deepstack else {}
    return model.lm_head(language(inputs_embeds=embeddings, attention_mask=pruned.kept.long(), position_ids=positions, **options)[0])


@pytest.mark.parametrize("family, prompt", [case for case in CASES if not case[0].startswith("qwen3_5")])  # has no masked keys
def test_the_language_model_sees_the_positions_of_the_full_prompt(family, prompt):
    model = model_of(family)
    batch = batch_of(model, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, *keep_of(batch))
    own = pruned.forward().logits[pruned.attention_mask.bool()]
    torch.testing.assert_close(own, masked_logits(model, batch, pruned)[pruned.kept], rtol=0, atol=2e-5)


@pytest.mark.parametrize("family", [family for family in FAMILIES if not family.startswith(("qwen3_5", "glm"))])
def test_an_image_and_a_video_of_as_many_tokens(family):
    """Whose grids are equal: each has its own places."""
    model = model_of(family)
    batch = batch_of(model, [1, 2, ("image", 1, 8, 6), 3, ("video", 1, 6, 8), 4])
    pruned = hf.prune_batch(model, batch, [torch.tensor([1, 5, 7, 9])], [torch.tensor([0, 2, 3, 11])])
    own = pruned.forward().logits[pruned.attention_mask.bool()]
    torch.testing.assert_close(own, masked_logits(model, batch, pruned)[pruned.kept], rtol=0, atol=2e-5)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family.startswith("qwen3")])
def test_a_slot_without_tokens_goes_without_its_text(family):
    """But for the first slot of a video, whose text may be anybody's."""
    model = model_of(family)
    batch = batch_of(model, [1, ("video", 3, 6, 8), 4, ("video", 2, 4, 4), 5], [2, ("video", 4, 4, 6), 9])
    pruned = hf.prune_batch(model, batch, keep_videos=[torch.tensor([0, 5, 24, 35]), torch.tensor([6]), torch.tensor([1, 2])])
    first, second = (ids[stays.bool()].tolist() for ids, stays in zip(pruned.input_ids, pruned.attention_mask))
    slot = [7, START, VIDEO, VIDEO, END]
    assert first == [1, *slot, *slot, 4, 7, START, END, 7, START, VIDEO, END, 5] and second == [2, *slot, 9]
    assert pruned.tokens == 7 and int(pruned.kept.sum()) == len(first) + len(second)
    own = pruned.forward().logits[pruned.attention_mask.bool()]
    assert bool(torch.isfinite(own).all())
    if not family.startswith("qwen3_5"):  # which has no masked keys
        torch.testing.assert_close(own, masked_logits(model, batch, pruned)[pruned.kept], rtol=0, atol=2e-5)


@generates
@pytest.mark.parametrize("family, prompt", CASES)
def test_generate_with_cache_is_generate_without(family, prompt):
    model = model_of(family)
    batch = batch_of(model, *PROMPTS[prompt])
    pruned = hf.prune_batch(model, batch, *keep_of(batch))
    found = pruned.generate(max_new_tokens=5, do_sample=False, pad_token_id=PAD, eos_token_id=None, suppress_tokens=[IMAGE, VIDEO])
    assert torch.equal(found[:, :-5], batch["input_ids"])
    for _ in range(5):
        logits = pruned.forward().logits[:, -1]
        logits[:, [IMAGE, VIDEO]] = -np.inf  # random weights would say them
        word = logits.argmax(dim=-1, keepdim=True)
        pruned.input_ids = torch.cat([pruned.input_ids, word], dim=1)
        pruned.attention_mask = torch.cat([pruned.attention_mask, torch.ones_like(word)], dim=1)
        pruned.position_ids = torch.cat([pruned.position_ids, pruned.position_ids[..., -1:] + 1], dim=2)
    assert torch.equal(found[:, -5:], pruned.input_ids[:, -5:])


@generates
@pytest.mark.parametrize("family", FAMILIES)
def test_generate_of_all_tokens_is_the_models(family):
    model = model_of(family, seed=1)
    batch = batch_of(model, *PROMPTS["a padded batch"][:2])
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": PAD, "eos_token_id": None}
    assert torch.equal(hf.prune_batch(model, batch).generate(**options), model.generate(**batch, **options))


def picture_of(seed, height, width):
    return draw(width, height, seed)


def processed(picture, patch):
    """What Qwen-VL's processor makes of a picture of whole tokens, by its own formula."""
    picture = np.array(picture)  # a copy, also of PIL's
    rows, columns = picture.shape[0] // patch, picture.shape[1] // patch
    planes = torch.from_numpy(picture).float() / 255 * 2 - 1
    blocks = planes.reshape(rows // 2, 2, patch, columns // 2, 2, patch, 3).permute(0, 3, 1, 4, 6, 2, 5)
    values = blocks.reshape(rows * columns, 3, 1, patch * patch).repeat(1, 1, 2, 1).reshape(rows * columns, -1)
    return values, torch.tensor([[1, rows, columns]])


@pytest.mark.parametrize("strategy", ["grid", "budget", None])
def test_tokens_are_those_that_select_finds_in_the_picture(strategy):
    picture = picture_of(4, 224, 288)
    values, grid = processed(picture, 16)
    kept = hf.select_tokens(values, grid, share=0.3, strategy=strategy, processor=Processor())[0]
    if strategy == "budget":
        scores = tv.select(picture, share=19 / 63, strategy="budget", patch=32, keep_scores=True).score_map
        expected = tv.topk(scores, 19)[0]
    elif strategy is None:
        expected = tv.predict(picture, [(9, 7)], patch=32).keep(0, 19)[0].reshape(-1).nonzero()[0]
    else:
        expected = tv.select(picture, 19, strategy="grid", stride=32).indices
    assert kept.tolist() == sorted(expected.tolist())
    shown = _tokens.pixels_of(_tokens.frames_of(values, 1, 14, 18, 2, 2)[0, 0], (0.5,) * 3, (0.5,) * 3)
    np.testing.assert_array_equal(shown.numpy(), picture)


def test_tokens_of_videos_take_the_better_frame_of_the_clip():
    pictures = [picture_of(i, 128, 160) for i in range(4)]
    rows = [processed(picture, 16)[0].reshape(80, 3, 2, 256) for picture in pictures]
    values = torch.cat([torch.stack([rows[2 * t][:, :, 0], rows[2 * t + 1][:, :, 1]], dim=2).reshape(80, -1) for t in range(2)])
    kept = hf.select_tokens(values, torch.tensor([[2, 8, 10]]), k=9, processor=Processor())[0]
    scores = [tv.scores(picture, stride=32) for picture in pictures]
    best = np.stack([np.maximum(scores[0], scores[1]), np.maximum(scores[2], scores[3])])
    assert kept.tolist() == sorted(tv.topk(best, 9)[0].tolist())


def test_what_has_changed_of_a_video_is_kept():
    """All of the first moment, and of the others what differs from what is held; by score where that is more than the share."""
    from texturevlm.hf import _qwen

    frames = np.stack([picture_of(1, 128, 160)] * 6)
    frames[2:, 32:64, 32:64] = 255 - frames[0, 32:64, 32:64]
    rows = [processed(frame, 16)[0].reshape(80, 3, 2, 256) for frame in frames]
    values = torch.cat([torch.stack([rows[2 * t][:, :, 0], rows[2 * t + 1][:, :, 1]], dim=2).reshape(80, -1) for t in range(3)])
    scored = [torch.arange(60) < 9]
    kept = _qwen._held(values, [(3, 8, 10)], 2, 2, 21 / 60, scored)[0].reshape(3, 20)
    assert kept[0].all() and kept[1].sum() == 1 and kept[2].sum() == 0
    assert kept[1].reshape(4, 5)[1, 1]
    assert _qwen._held(values, [(3, 8, 10)], 2, 2, 19 / 60, scored)[0] is scored[0]


class Processor:
    """What Pruner asks of a processor."""

    image_mean = image_std = (0.5, 0.5, 0.5)
    image_processor = property(lambda self: self)

    def apply_chat_template(self, messages, tokenize=False, **options):
        *images, text = messages[0]["content"]
        return self([text["text"]], [part["image"] for part in images]) if tokenize else text["text"]

    def __call__(self, text, images, **options):
        values, grid = processed(images[0], self.patch)
        ids = [1, START] + [IMAGE] * (len(values) // 4) + [END] + [5] * len(text[0])
        made = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long), "pixel_values": values,
                "image_grid_thw": grid}
        if NEW:  # by which it finds the positions of pictures
            made["mm_token_type_ids"] = (made["input_ids"] == IMAGE).long()
        return made


@generates
@pytest.mark.parametrize("family", FAMILIES)
def test_a_pruner_answers_a_question(family):
    model, processor = model_of(family), Processor()
    processor.patch = model.config.vision_config.patch_size
    picture = picture_of(7, 10 * processor.patch, 12 * processor.patch)
    pruner = hf.Pruner(model, processor, share=0.3, strategy="budget")
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": PAD, "eos_token_id": None}
    found = pruner.generate(picture, question="what?", **options)
    batch = processor(["what?"], [picture])
    assert torch.equal(found, pruner.generate(batch, **options)) and found.shape[1] == batch["input_ids"].shape[1] + 3
    pruned = pruner.prune(batch)
    assert (pruned.tokens, pruned.all_tokens) == (9, 30) and pruned.input_ids.shape[1] == batch["input_ids"].shape[1] - 21
    everything = hf.Pruner(model, processor, share=1.0).generate(batch, **options)
    assert torch.equal(everything, model.generate(**batch, **options))


def test_a_question_is_what_the_processor_makes_of_it(tmp_path):
    """In 4.47, too, whose apply_chat_template makes the text alone."""
    model, processor = model_of("qwen2_vl"), Processor()
    processor.patch = 14
    picture = picture_of(7, 140, 168)
    pruner = hf.Pruner(model, processor, share=0.3)
    expected = processor(["what?"], [picture])
    messages = [{"role": "user", "content": [{"type": "image", "image": picture}, {"type": "text", "text": "what?"}]}]
    for found in (pruner.batch_of(picture, "what?"), pruner.batch_of([picture], "what?"), pruner.batch_of(messages)):
        assert set(found) == set(expected) and all(torch.equal(found[name], value) for name, value in expected.items())
    with pytest.raises(FileNotFoundError, match="image 0, 'nowhere.jpg': there is no such file"):
        pruner.batch_of("nowhere.jpg", "what?")
    (tmp_path / "none.jpg").write_text("no picture at all")
    with pytest.raises(ValueError, match="image 0, .*none.jpg' cannot be read as a picture"):
        pruner.batch_of(tmp_path / "none.jpg", "what?")


def test_what_does_not_fit_is_one_clear_line():
    model = model_of("qwen2_vl")
    batch = batch_of(model, *PROMPTS["an image"])
    with pytest.raises(tv.Error, match="family 'llama'; known are qwen2_vl, qwen2_5_vl, qwen3_vl, "):
        hf.Pruner(transformers.LlamaForCausalLM(transformers.LlamaConfig(hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                                                                          num_attention_heads=1, vocab_size=8)), None)
    with pytest.raises(tv.Error, match="family None"):
        hf.Pruner(3, None)
    for keep, line in ((torch.tensor([1]), "list of as many"), ([torch.tensor([48])], "picture 0 has 48 tokens; keep names 48"),
                       ([torch.tensor([])], "at least one"), ([torch.tensor([1]), torch.tensor([1])], "1 pictures")):
        with pytest.raises(tv.Error, match=line):
            hf.prune_batch(model, batch, keep)
    with pytest.raises(tv.Error, match="the prompts have 47 places for tokens, pixel_values has 48"):
        hf.prune_batch(model, {**batch, "input_ids": torch.cat([batch["input_ids"][:, :3], batch["input_ids"][:, 4:]], dim=1),
                               "attention_mask": batch["attention_mask"][:, 1:]})
    with pytest.raises(tv.Error, match="mapping with input_ids"):
        hf.prune_batch(model, [1, 2])
    for name, line in (("image_grid_thw", "the grid is None, not a tensor"), ("pixel_values", "48 places for tokens, and the batch has no pixel")):
        part = {key: value for key, value in batch.items() if key != name}
        for call in (hf.Pruner(model, Processor()).prune, lambda part: hf.prune_batch(model, part)):
            with pytest.raises(tv.Error, match=line):
                call(part)
    for name in ("position_ids", "inputs_embeds"):
        with pytest.raises(tv.Error, match=f"the batch has {name}, which a pruned batch makes of input_ids"):
            hf.prune_batch(model, {**batch, name: batch["input_ids"]})
    with pytest.raises(tv.Error, match="num_beams=2"):
        hf.prune_batch(model, batch).generate(num_beams=2)
    with pytest.raises(tv.Error, match="192 patches.*191"):
        hf.select_tokens(batch["pixel_values"][1:], batch["image_grid_thw"], processor=Processor())
    with pytest.raises(tv.Error, match="not a tensor of floats"):
        hf.select_tokens(np.zeros((3, 4)), batch["image_grid_thw"], processor=Processor())
    with pytest.raises(tv.Error, match="exclude each other"):
        hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], share=0.1, k=3)
    if NEW:
        model = model_of("glm4v")
        with pytest.raises(tv.Error, match="a glm4v answers images or videos, not both together"):
            hf.prune_batch(model, batch_of(model, *PROMPTS["a video and an image"]))
        with pytest.raises(tv.Error, match="places for tokens, and the batch has no pixel_values"):
            hf.prune_batch(model, {"input_ids": batch_of(model, *PROMPTS["an image"])["input_ids"]})


def test_another_version_is_refused(monkeypatch):
    model = model_of("qwen2_vl")
    monkeypatch.setattr(_families.transformers, "__version__", "4.99.1")
    with pytest.raises(tv.Error, match="not supported: qwen2_vl needs transformers 4.47, 4.57, 5.23 or later, this is 4.99.1"):
        hf.Pruner(model, None)


def test_every_public_name_has_its_manual():
    for name in ("select_tokens", "prune_batch", "Pruner", "PrunedBatch", "PrunedImages"):
        assert len(inspect.getdoc(getattr(hf, name))) > 60
    for function in (hf.prune_batch, hf.Pruner.prune, hf.select_tokens):
        said = inspect.signature(function).return_annotation
        assert said is not inspect.Signature.empty and "Any" not in str(said), function
