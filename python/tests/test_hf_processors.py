# SPDX-License-Identifier: Apache-2.0
"""What texturevlm.hf reads of a processor, and what it refuses when a Pruner is made."""
import copy
import pickle

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("PIL.Image")
if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 57):
    pytest.skip("its processors are tested by test_hf.py", allow_module_level=True)
import test_hf  # noqa: E402
import test_hf_encoder  # noqa: E402
import test_hf_prompt  # noqa: E402

hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
MEAN, STD = [0.48, 0.46, 0.41], [0.27, 0.26, 0.28]
PICTURE = draw(84, 84, 5)
# How a processor may make values of pixels; pictures of floats, 0 .. 1, where it says so.
SETTINGS = {
    "its own mean": {},
    "another mean": {"image_mean": [0.1, 0.5, 0.7], "image_std": [0.2, 0.3, 0.6]},
    "one mean for all": {"image_mean": [0.5] * 3, "image_std": [0.5] * 3},
    "do_normalize=False": {"do_normalize": False},
    "do_rescale=False": {"do_rescale": False},
    "do_rescale=False, floats": {"do_rescale": False},
    "rescale_factor": {"rescale_factor": 1 / 127.5, "image_mean": [1.0] * 3, "image_std": [1.0] * 3},
    "neither": {"do_normalize": False, "do_rescale": False},
    "neither, floats": {"do_normalize": False, "do_rescale": False},
}


def made(kind, setting):
    """A model, its processor with this setting, and what the processor makes of the picture."""
    own = {"image_mean": MEAN, "image_std": STD, "do_resize": False, **SETTINGS[setting]}
    if kind == "qwen2_vl":
        model = test_hf.model_of("qwen2_vl")
        processor = transformers.Qwen2VLImageProcessor(patch_size=14, merge_size=2, temporal_patch_size=2, **own)
    elif kind == "siglip":
        model, processor = test_hf_encoder.encoder_of("siglip"), transformers.SiglipImageProcessor(**own)
    else:
        model, processor = test_hf_encoder.encoder_of("clip"), transformers.CLIPImageProcessor(do_center_crop=False, **own)
    picture = (PICTURE / np.float32(255)).astype(np.float32) if "floats" in setting else PICTURE
    return model, processor, processor(images=[picture.transpose(2, 0, 1).copy()], return_tensors="pt", input_data_format="channels_first")


def prompt_of(batch):
    """The prompt of Qwen's picture; encoders have none."""
    if "image_grid_thw" not in batch:
        return batch
    ids = torch.tensor([[1, test_hf.START] + [test_hf.IMAGE] * 9 + [test_hf.END, 5]])
    return {**batch, "input_ids": ids, "attention_mask": torch.ones_like(ids)}


def kept_of(pruned):
    return pruned.rows[0].tolist() if isinstance(pruned, hf.PrunedImages) else pruned.kept[0, 2:11].nonzero()[:, 0].tolist()


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["qwen2_vl", "siglip", "clip"])
def test_pruner_and_select_tokens_see_the_pixels_of_each_setting(kind, setting):
    model, processor, batch = made(kind, setting)
    stride = 28 if kind == "qwen2_vl" else 14
    expected = sorted(tv.select(PICTURE, 4, strategy="grid", stride=stride).indices.tolist())
    assert kept_of(hf.Pruner(model, processor, k=4).prune(prompt_of(batch))) == expected
    options = {} if kind == "qwen2_vl" else {"patch": 14}
    chosen = hf.select_tokens(batch["pixel_values"], batch.get("image_grid_thw"), processor=processor, k=4, **options)
    assert chosen[0].tolist() == expected


@pytest.mark.parametrize("kind", ["siglip", "clip"])
def test_the_budget_is_for_tokens_of_14_pixels_too(kind):
    model, processor, batch = made(kind, "its own mean")
    lost = tv.select(PICTURE, share=4 / 36, patch=14, keep_scores=True).score_map.reshape(-1)
    expected = sorted(np.argsort(-lost, kind="stable")[:4].tolist())
    chosen = hf.select_tokens(batch["pixel_values"], patch=14, processor=processor, k=4, strategy="budget")[0].tolist()
    assert chosen == expected == kept_of(hf.Pruner(model, processor, k=4, strategy="budget").prune(prompt_of(batch)))


def test_select_tokens_asks_how_values_were_made():
    model, processor, batch = made("siglip", "its own mean")
    pixels = batch["pixel_values"]
    with pytest.raises(tv.Error, match="how the values were made of pixels must be said: give the processor"):
        hf.select_tokens(pixels, patch=14, share=0.3)
    with pytest.raises(tv.Error, match="give the processor"):
        hf.select_tokens(pixels, patch=14, share=0.3, mean=MEAN)
    with pytest.raises(tv.Error, match="a processor has its own mean and std"):
        hf.select_tokens(pixels, patch=14, share=0.3, mean=MEAN, std=STD, processor=processor)
    said = hf.select_tokens(pixels, patch=14, share=0.3, mean=MEAN, std=STD)
    assert torch.equal(said[0], hf.select_tokens(pixels, patch=14, share=0.3, processor=processor)[0])
    for values in (pixels * 255, pixels / 255 + 3, pixels * float("nan"), torch.full_like(pixels, float("inf"))):
        with pytest.raises(tv.Error, match=r"pixel_values are those of pixels .* by that mean and std, not 0 \.\. 1"):
            hf.select_tokens(values, patch=14, share=0.3, processor=processor)
    with pytest.raises(tv.Error, match="has no image processor that says its image_mean"):
        hf.select_tokens(pixels, patch=14, processor=3)
    with pytest.raises(tv.Error, match="mean are 2 numbers, not 3"):
        hf.select_tokens(pixels, patch=14, mean=[1, 2], std=1)


@pytest.mark.parametrize("wrong, line", [
    ({"share": 0}, "share is 0.0; it must be above 0"), ({"share": 1.5}, "share is 1.5; it must be at most 1"),
    ({"share": "a"}, "share is 'a', not a number"), ({"k": 0}, "k is 0; it must be 1 .."), ({"k": 2.5}, "k is 2.5, not a whole number"),
    ({"share": 0.5, "k": 3}, "share and k exclude each other"), ({"strategy": "budgets"}, "there is no strategy 'budgets'.*do you mean budget"),
    ({"strategy": "budget", "weights": (1, 1, 1)}, "weights and a scorer are for the strategy grid, not for budget"), ({"weights": (1, 2)}, "weights are 2 numbers, not 3"),
    ({"weights": (-1, 0, float("nan"))}, "weights"), ({"scorer": 3}, "scorer is 3, neither a texturevlm.Scorer nor a path"),
    ({"scorer": "nowhere.safetensors"}, "nowhere.safetensors"), ({"device": 3}, "device is 3, neither a texturevlm.Device nor a device's name"),
    ({"device": "nowhere"}, "nowhere"),
])
def test_arguments_are_checked_when_a_pruner_is_made(wrong, line):
    model, processor, _ = made("siglip", "its own mean")
    with pytest.raises(tv.Error, match=line) as caught:
        hf.Pruner(model, processor, **wrong)
    assert "\n" not in str(caught.value)
    assert not isinstance(caught.value, OSError) or isinstance(caught.value, FileNotFoundError)


def test_a_closed_device_and_a_query_beside_the_budget_are_refused():
    model, processor, batch = made("siglip", "its own mean")
    device = tv.Device("reference")
    device.close()
    with pytest.raises(tv.Error, match="the device is closed"):
        hf.Pruner(model, processor, device=device)
    with pytest.raises(tv.Error, match="a query is for the strategy grid, not for budget"):
        hf.Pruner(model, processor, strategy="budget").prune(batch, query=[np.ones(3)])


def test_a_scorer_is_read_once(tmp_path):
    model, processor, batch = made("siglip", "its own mean")
    scorer = tv.Scorer({"edges": 1.0, "saliency": -0.5})
    scorer.save(tmp_path / "s.safetensors")
    pruner = hf.Pruner(model, processor, k=4, scorer=tmp_path / "s.safetensors")
    (tmp_path / "s.safetensors").unlink()
    expected = tv.select(PICTURE, 4, strategy="grid", stride=14, scorer=scorer).indices.tolist()
    assert kept_of(pruner.prune(batch)) == sorted(expected)


def test_a_processor_of_another_family_is_refused():
    qwen, images, _ = made("qwen2_vl", "its own mean")
    for processor, line in (
            (None, "processor is None, which has no image processor"), (3, "processor is 3"),
            (transformers.Qwen2VLImageProcessor(patch_size=16), "is not the model's: its patch_size is 16, the model's 14"),
            (transformers.Qwen2VLImageProcessor(merge_size=4), "its merge_size is 4, the model's 2")):
        with pytest.raises(tv.Error, match=line):
            hf.Pruner(qwen, processor)
    if transformers.utils.is_torchvision_available():
        import test_hf_messages
        llava = test_hf_messages.llava().processor
        with pytest.raises(tv.Error, match="the processor is a LlavaProcessor; a qwen2_vl has a Qwen2VLProcessor"):
            hf.Pruner(qwen, llava)
        with pytest.raises(tv.Error, match="the processor is a LlavaProcessor; a siglip_vision_model has a SiglipProcessor"):
            hf.Pruner(made("siglip", "its own mean")[0], llava)
        with pytest.raises(tv.Error, match="its image_token_id is 259, the model's 100"):
            hf.Pruner(test_hf_prompt.model_of("llava"), llava)


def test_what_hangs_on_a_model_is_not_copied():
    model, processor, batch = made("siglip", "its own mean")
    pruner = hf.Pruner(model, processor)
    qwen, images, tensors = made("qwen2_vl", "its own mean")
    for name, thing in (("Pruner", pruner), ("PrunedImages", pruner.prune(batch)),
                        ("PrunedBatch", hf.prune_batch(qwen, prompt_of(tensors)))):
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"a {name} cannot be pickled or copied, as it hangs on its model") as caught:
                copied(thing)
            assert isinstance(caught.value, tv.Error)


def with_tokens_of(side):
    """A model whose tokens have that side in pixels, and how many it has along a side of a picture: of LLaVA 1.5 and PaliGemma 14, of
    Gemma 3 and InternVL 28, of SmolVLM 32, of SmolVLM2 42."""
    if side != 42:
        family = {14: "llava", 28: "internvl", 32: "smolvlm"}[side]
        return test_hf_prompt.model_of(family), test_hf_prompt.SIZES[family][1]
    config = transformers.SmolVLMConfig(vision_config={**test_hf_prompt.VISION, "image_size": 168, "patch_size": 14}, scale_factor=3,
                                        text_config={**test_hf_prompt.TEXT, "model_type": "llama"}, image_token_id=test_hf_prompt.IMAGE,
                                        pad_token_id=test_hf_prompt.PAD)
    return test_hf_prompt.randomised(transformers.SmolVLMForConditionalGeneration(config)), 4


@pytest.mark.parametrize("side", [14, 28, 32, 42])
def test_the_budget_is_for_tokens_of_any_side(side):
    model, along = with_tokens_of(side)
    picture = draw(side * along, side * along, 5)
    values = (torch.from_numpy(picture.copy()).float() / 255 * 2 - 1).permute(2, 0, 1)[None]
    ids = torch.tensor([[1] + [test_hf_prompt.IMAGE] * along**2 + [5]])
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": values}
    if model.config.model_type == "smolvlm":
        batch["pixel_values"] = values[None]
        batch["pixel_attention_mask"] = torch.ones(1, 1, *values.shape[2:], dtype=torch.long)
    pruned = hf.Pruner(model, test_hf_prompt.Processor(), k=5, strategy="budget").prune(batch)
    kept = pruned.kept[0, 1:1 + along**2].nonzero()[:, 0].tolist()
    scores = tv.select(picture, share=5 / along**2, strategy="budget", patch=side, keep_scores=True).score_map
    assert scores.shape == (along, along) and kept == sorted(tv.topk(scores, 5)[0].tolist())
    assert pruned.forward().logits.shape[1] == 7


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_without_a_package_the_import_is_one_line(run, missing):
    said = run(f"""
import sys
sys.modules[{missing!r}] = None
import texturevlm as tv
try:
    tv.hf
except ImportError as error:
    print(error)
""")
    assert said.strip().startswith("texturevlm.hf needs PyTorch and transformers (pip install 'texturevlm[hf]'): ") and said.count("\n") == 1
