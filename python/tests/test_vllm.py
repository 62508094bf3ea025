# SPDX-License-Identifier: Apache-2.0
"""texturevlm.vllm in a real vLLM on the CPU, without its compiled operations: registration, processor, positions and tower, which
need none. The language model needs them: it is built here, and not run."""
import importlib
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw, randomised

if importlib.util.find_spec("vllm") is None:
    pytest.skip("there is no vLLM (ci/python --vllm has it)", allow_module_level=True)
# What vLLM and transformers read when they are imported.
os.environ.update(VLLM_TARGET_DEVICE="cpu", VLLM_NO_USAGE_STATS="1", HF_HUB_OFFLINE="1", VLLM_LOGGING_LEVEL="ERROR")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import PIL.Image  # noqa: E402
import vllm  # noqa: E402

from texturevlm import vllm as plugin  # noqa: E402

if vllm.__version__.split("+")[0] not in plugin.SUPPORTED:
    pytest.skip(f"vLLM {vllm.__version__} is not one of texturevlm.vllm's", allow_module_level=True)
from texturevlm.hf import _families, _qwen  # noqa: E402
from texturevlm.vllm import _prompt  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_gradients")
SPECIAL = ["<|endoftext|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
PAD, END_OF_TURN, START, END, IMAGE, VIDEO = range(256, 256 + len(SPECIAL))
PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
CLIP = "<|vision_start|><|video_pad|><|vision_end|>"
SHARE = {"texturevlm": {"share": 0.3}}


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """A model's folder without weights: a small configuration, processors, and a tokenizer that knows bytes."""
    import tokenizers
    from transformers.models.qwen2_vl import Qwen2VLImageProcessor
    from transformers.models.qwen3_vl import Qwen3VLProcessor, Qwen3VLVideoProcessor
    folder = str(tmp_path_factory.mktemp("checkpoint"))
    os.environ.update(VLLM_CACHE_ROOT=f"{folder}/cache", VLLM_CONFIG_ROOT=f"{folder}/cache")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    bytes_only = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    bytes_only.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = tokenizers.decoders.ByteLevel()
    bytes_only.add_special_tokens(SPECIAL)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bytes_only, eos_token=SPECIAL[1], pad_token=SPECIAL[0])
    size = {"shortest_edge": 4096, "longest_edge": 1 << 20}
    images = Qwen2VLImageProcessor(patch_size=16, image_mean=[0.5] * 3, image_std=[0.5] * 3, size=size)
    Qwen3VLProcessor(images, tokenizer, Qwen3VLVideoProcessor(patch_size=16, size=size)).save_pretrained(folder)
    vision = {"depth": 4, "hidden_size": 64, "num_heads": 4, "out_hidden_size": 32, "intermediate_size": 96, "patch_size": 16,
              "deepstack_visual_indexes": [0, 2], "num_position_embeddings": 64}
    text = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
            "vocab_size": 320, "max_position_embeddings": 4096, "head_dim": 8,
            "rope_scaling": {"rope_type": "default", "mrope_section": [1, 1, 2], "mrope_interleaved": True}}
    transformers.Qwen3VLConfig(vision_config=vision, text_config=text, image_token_id=IMAGE, video_token_id=VIDEO,
                               vision_start_token_id=START, vision_end_token_id=END,
                               architectures=["Qwen3VLForConditionalGeneration"]).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def config(checkpoint):
    """A function: vLLM's configuration, of the plugin's architecture unless another is asked for."""
    from vllm.config import ModelConfig
    from vllm.plugins import load_general_plugins
    load_general_plugins()

    def make(kwargs=SHARE, architecture=plugin.ARCHITECTURE, **options):
        return ModelConfig(model=checkpoint, hf_overrides={"architectures": [architecture]}, mm_processor_kwargs=kwargs,
                           dtype="float32", max_model_len=4096, enforce_eager=True, **options)
    return make


@pytest.fixture(scope="session")
def processor(config):
    """A function: vLLM's processor."""
    from vllm.multimodal import MULTIMODAL_REGISTRY
    made = {}

    def make(kwargs=SHARE, **options):
        key = repr((kwargs, options))
        if key not in made:
            made[key] = MULTIMODAL_REGISTRY.create_processor(config(kwargs, **options))
        return made[key]
    return make


@pytest.fixture(scope="session")
def models(config):
    """vLLM's model, and transformers', of the same random weights."""
    from vllm.config import DeviceConfig, VllmConfig, set_current_vllm_config
    from vllm.distributed import init_distributed_environment, initialize_model_parallel
    from vllm.model_executor.model_loader.utils import process_weights_after_loading
    model_config = config()
    whole = VllmConfig(model_config=model_config, device_config=DeviceConfig("cpu"))
    with set_current_vllm_config(whole), torch.no_grad():
        init_distributed_environment(1, 0, f"file://{model_config.model}/meeting", 0, backend="gloo")
        initialize_model_parallel(1, 1)
        torch.manual_seed(0)
        model_config.hf_config._attn_implementation = "eager"
        theirs = randomised(transformers.Qwen3VLForConditionalGeneration(model_config.hf_config))
        from texturevlm.vllm._model import PrunedQwen3VL
        ours = PrunedQwen3VL(vllm_config=whole)
        assert ours.load_weights(theirs.state_dict().items()) == {name for name, _ in ours.named_parameters()}
        process_weights_after_loading(ours, model_config, torch.device("cpu"))
    return ours, theirs


@pytest.fixture
def pruned(monkeypatch):
    """texturevlm.hf's prune_batch, also with the transformers that this vLLM has: its towers take places, but no whole model does,
    so that texturevlm.hf has it not among its own."""
    for module in (_families, _qwen):
        monkeypatch.setattr(module, "takes_places", lambda: True)
    return tv.hf.prune_batch


def pictures(*sizes):
    return [PIL.Image.fromarray(draw(width, height, seed)) for seed, (width, height) in enumerate(sizes)]


def process(processor, prompt, images, videos=(), **options):
    given = {"image": images} if images else {}
    if videos:
        given["video"] = [(frames, {"fps": 2.0, "duration": len(frames) / 2, "total_num_frames": len(frames), "video_backend": "opencv",
                                    "frames_indices": list(range(len(frames))), "do_sample_frames": False}) for frames in videos]
    return processor(prompt, processor.info.parse_mm_data(given), **options)


def features_of(made):
    """As vLLM's engine has what the processor made."""
    from vllm.multimodal.inputs import MultiModalFeatureSpec
    return [MultiModalFeatureSpec(data=item, modality=modality, identifier="", mm_position=place)
            for modality, places in made["mm_placeholders"].items() for item, place in zip(made["mm_kwargs"][modality], places)]


def keep_of(made, modality="image"):
    return [item[f"{modality}_keep"].data for item in made["mm_kwargs"][modality]]


def batch_of(made):
    """What vLLM's processor made, as a batch of transformers."""
    batch = {"input_ids": torch.tensor([made["prompt_token_ids"]])}
    for modality, pixels, grid in (("image", "pixel_values", "image_grid_thw"), ("video", "pixel_values_videos", "video_grid_thw")):
        if modality in made["mm_kwargs"]:
            items = made["mm_kwargs"][modality]
            batch[pixels] = torch.cat([item[pixels].data for item in items]).float()
            batch[grid] = torch.stack([item[grid].data for item in items])
    return batch


def clip_of(width, height, frames, moving=True):
    """A clip in which a square moves over a still picture, or of equal frames."""
    clip = np.stack([draw(width, height, 7)] * frames)
    for number in range(frames if moving else 0):
        clip[number, 32:64, 16 * number:16 * number + 32] = 255 * (number % 2)
    return clip


def test_vllm_finds_the_architecture(config):
    points = importlib.metadata.entry_points(group="vllm.general_plugins")
    assert [point.value for point in points if point.name == "texturevlm"] == ["texturevlm.vllm:register"]
    assert plugin.ARCHITECTURE in vllm.ModelRegistry.get_supported_archs()
    assert config().architecture == plugin.ARCHITECTURE
    # Whoever does not ask for it has vLLM's own.
    assert vllm.ModelRegistry.models["Qwen3VLForConditionalGeneration"].module_name == "vllm.model_executor.models.qwen3_vl"


def test_the_version_is_the_same_wherever_it_stands():
    top = pathlib.Path(__file__).resolve().parents[2]
    pins = [re.findall(r"vllm==([\d.]+)", (top / name).read_text()) for name in ("pyproject.toml", "python/requirements-vllm.txt")]
    assert pins == [list(plugin.SUPPORTED)] * 2
    document = (top / "doc" / "vllm.md").read_text()
    assert f"needs vLLM {plugin.SUPPORTED[0]}, this is" in document and f'["{plugin.ARCHITECTURE}"]' in document


def test_the_documents_block_asks_for_what_there_is(monkeypatch):
    """As it stands, but for the engine, which needs a GPU and a download."""
    import test_document
    asked = []
    monkeypatch.setattr(vllm, "LLM", lambda model, **options: asked.append(options))
    test_document.run_blocks("doc/vllm.md")
    assert asked[0]["hf_overrides"] == {"architectures": [plugin.ARCHITECTURE]}
    assert _prompt.settings_of(asked[0]["mm_processor_kwargs"]) == {"share": 0.3, "strategy": "budget"}


@pytest.mark.parametrize("settings", [{"share": 0.3}, {"k": 40}, {"share": 0.5, "strategy": "budget"}, {}, {"tolerance": 0.1},
                                      {"share": 0.3, "way": "cells"}, {"budget": 80}, {"budget": 60, "way": "cells"}])
@pytest.mark.parametrize("on_device", [True, False], ids=["bytes", "floats"])
def test_the_processor_selects_as_texturevlm_hf(processor, settings, on_device):
    images = pictures((480, 320), (256, 384))
    made = process(processor({"texturevlm": settings}, mm_device_do_normalize=on_device), f"one {PICTURE} two {PICTURE}.", images)
    theirs = processor({}, architecture="Qwen3VLForConditionalGeneration").info.get_image_processor(do_rescale=True, do_normalize=True)(
        images=images, return_tensors="pt", do_rescale=True, do_normalize=True)
    chosen = tv.hf.select_tokens(theirs["pixel_values"], theirs["image_grid_thw"], mean=0.5, std=0.5, **settings)
    full = theirs["pixel_values"].split(theirs["image_grid_thw"].prod(-1).tolist())
    for item, place, numbers, values in zip(made["mm_kwargs"]["image"], made["mm_placeholders"]["image"], chosen, full):
        flags = item["image_keep"].data
        assert len(flags) * 4 == len(values) and torch.equal(flags.nonzero()[:, 0], numbers) and 0 < len(numbers) < len(flags)
        assert place.length == len(numbers)
        assert made["prompt_token_ids"][place.offset - 1:place.offset + place.length + 1] == [START] + [IMAGE] * len(numbers) + [END]
        kept = values[flags.repeat_interleave(4)]
        found = item["pixel_values"].data
        assert (found.dtype == torch.uint8) == on_device
        torch.testing.assert_close(found.float() / 127.5 - 1 if on_device else found, kept, rtol=0, atol=1e-6)
    assert made["prompt_token_ids"].count(IMAGE) == sum(map(len, chosen))


def test_the_log_says_how_many_tokens_were_saved(processor, monkeypatch):
    from texturevlm.vllm import _processor
    lines = []
    monkeypatch.setattr(_processor.LOG, "info", lambda line, *values: lines.append(line % values))
    made = process(processor({"texturevlm": {"share": 0.25}}), PICTURE, pictures((256, 256)))
    kept = made["prompt_token_ids"].count(IMAGE)
    assert lines == [f"texturevlm: {kept} of 64 tokens of 1 images, {64 - kept} saved"]


def test_all_tokens_and_videos_are_vllms_own(processor):
    own = processor({}, architecture="Qwen3VLForConditionalGeneration")
    images, videos = pictures((200, 300)), [np.stack([draw(128, 96, seed) for seed in range(4)])]
    prompt = f"{CLIP} and {PICTURE}"
    whole, theirs = (process(one, prompt, images, videos) for one in (processor({"texturevlm": {"share": 1.0}}), own))
    assert whole["prompt_token_ids"] == theirs["prompt_token_ids"] and whole["mm_placeholders"] == theirs["mm_placeholders"]
    for modality in ("image", "video"):
        for ours, other in zip(whole["mm_kwargs"][modality], theirs["mm_kwargs"][modality]):
            for name, value in other.items():
                assert torch.equal(torch.as_tensor(ours[name].data), torch.as_tensor(value.data)), name
    shorter = process(processor(), prompt, images, videos)
    assert shorter["prompt_token_ids"].count(VIDEO) == theirs["prompt_token_ids"].count(VIDEO)
    assert shorter["prompt_token_ids"].count(IMAGE) < theirs["prompt_token_ids"].count(IMAGE)
    assert shorter["mm_hashes"]["video"] == theirs["mm_hashes"]["video"]


@pytest.mark.parametrize("on_device", [True, False], ids=["bytes", "floats"])
def test_videos_keep_what_is_not_held(processor, on_device):
    """The first slot, and in later ones what the square covers and uncovers."""
    clip, still = clip_of(256, 96, 8), clip_of(192, 128, 6, moving=False)
    made = process(processor({"texturevlm": {"video_share": 0.4}}, mm_device_do_normalize=on_device), f"{CLIP} and {CLIP}", [], [clip, still])
    whole = process(processor({}, architecture="Qwen3VLForConditionalGeneration", mm_device_do_normalize=on_device),
                    f"{CLIP} and {CLIP}", [], [clip, still])
    moving, standing = (flags.reshape(slots, -1) for flags, slots in zip(keep_of(made, "video"), (4, 3)))
    assert moving.sum() == round(0.4 * moving.numel()) and moving[0].all()
    # The square is in columns of tokens that follow one another: where it came to and went from differs from what was held.
    for slot in range(1, 4):
        assert moving[slot].reshape(3, 8)[1, slot - 1:slot + 2].all()
    # Nothing changes in the other, so that any tokens would do; the text behind it needs as many as the longer side of each slot.
    assert standing[0].all() and standing.sum() == max(24, 3 * 6, round(0.4 * 72))
    assert made["prompt_token_ids"].count(VIDEO) == int(moving.sum() + standing.sum())
    assert made["prompt_token_ids"].count(START) == whole["prompt_token_ids"].count(START)
    for ours, other in zip(made["mm_kwargs"]["video"], whole["mm_kwargs"]["video"]):
        kept = ours["video_keep"].data.repeat_interleave(4)
        assert torch.equal(ours["pixel_values_videos"].data, other["pixel_values_videos"].data[kept])
    text = [[token for token in one["prompt_token_ids"] if token != VIDEO] for one in (made, whole)]
    assert text[0] == text[1]


def test_a_video_keeps_the_least_that_vllm_has_room_for(processor, monkeypatch):
    from texturevlm.vllm import _processor
    lines = []
    monkeypatch.setattr(_processor.LOG, "warning", lambda line, *values: lines.append(line % values))
    flags, = keep_of(process(processor({"texturevlm": {"video_share": 0.001}}), CLIP, [], [clip_of(640, 64, 20)]), "video")
    assert flags.sum() == 10 * 20  # ten slots, whose longer side has 20 tokens, which is more than the 40 of a slot
    flags, = keep_of(process(processor({"texturevlm": {"video_share": 0.001}}), CLIP, [], [clip_of(256, 256, 4)]), "video")
    assert flags.sum() == 64
    assert lines == [f"texturevlm: a video keeps {least} tokens, not 1: all of the first of its {slots} slots, and of each as many as its "
                     "longer side has" for least, slots in ((200, 10), (64, 2))]
    process(processor({"texturevlm": {"video_share": 0.9}}), CLIP, [], [clip_of(256, 256, 4)])
    assert len(lines) == 2


def test_the_held_tokens_are_those_of_a_search_by_hand():
    """Against a plain search over all thresholds, which are the differences that there are."""
    from texturevlm.hf._held import _means, _replenished, held_tokens
    random = np.random.default_rng(5)
    for slots, height, width, count in ((5, 4, 6, 9), (3, 2, 2, 1), (4, 4, 4, 7), (1, 4, 4, 4), (6, 2, 8, 24)):
        pixels = torch.from_numpy(random.integers(0, 4, (slots * height * width, 3 * 2 * 8 * 8)).astype(np.float32))
        flags = held_tokens(pixels, (slots, height, width), 2, 2, count)
        tokens = height * width // 4
        assert flags.dtype == torch.bool and int(flags.sum()) == min(count, slots * tokens) and flags[:tokens].all()
        shown = _means(pixels, slots, 8).reshape(slots, tokens, -1)
        differences = {float(d) for threshold in np.linspace(0, 40, 400) for d in _replenished(shown, float(threshold))[1].flatten()}
        fitting = [kept.reshape(-1) for kept, _ in (_replenished(shown, d) for d in sorted(differences)) if kept.sum() <= count]
        assert any(not (kept & ~flags).any() for kept in fitting if kept.sum() == fitting[0].sum())
    still = torch.ones(3 * 16, 3 * 2 * 8 * 8)
    assert held_tokens(still, (3, 4, 4), 2, 2, 4).tolist() == [True] * 4 + [False] * 8
    # What changed for one slot and then changed back is shown twice; a patch of 14 is compared by squares of 2 x 2, one of 9 by pixels.
    for side in (14, 9, 16):
        still = torch.ones(4, 4, 3 * 2 * side**2)
        still[1, 2, 5] = 9
        assert held_tokens(still.flatten(0, 1), (4, 2, 2), 2, 2, 3).tolist() == [True, True, True, False], side


@pytest.mark.parametrize("settings", [{"k": 20}, {"budget": 50}, {"tolerance": 0.1}, {"tolerance": "auto"}, {"share": 0.2, "video_share": 0.1}], ids=str)
def test_vllm_measures_its_memory_with_whole_images(processor, settings):
    made = processor({"texturevlm": settings}).get_dummy_mm_inputs({"image": 1, "video": 0})
    assert made["mm_placeholders"]["image"][0].length == processor().info.get_max_image_tokens() == (1 << 20) // 32**2


def test_the_settings_are_in_the_key_of_the_caches(processor):
    prompt, images = f"a {PICTURE}", pictures((320, 320))

    def key(kwargs, request=None, **options):
        return process(processor(kwargs, **options), prompt, images, hf_processor_mm_kwargs=request)["mm_hashes"]["image"][0]

    engine = [key({"texturevlm": settings}) for settings in
              ({"share": 0.3}, {"share": 0.4}, {"k": 30}, {"share": 0.3, "strategy": "budget"}, {"share": 0.3, "strategy": "grid"})]
    request = [key(SHARE, {"texturevlm": settings}) for settings in ({"share": 0.2}, {"strategy": "budget"})]
    own = key({}, architecture="Qwen3VLForConditionalGeneration")
    assert len({*engine, *request, own}) == 8
    clip = [clip_of(64, 64, 4)]
    videos = [process(processor({"texturevlm": settings}), CLIP, [], clip)["mm_hashes"]["video"][0]
              for settings in ({"share": 0.3}, {"share": 0.4}, {"video_share": 0.5}, {"video_share": 0.6}, {"video_share": 0.5, "share": 0.4})]
    assert videos[0] == videos[1] and videos[2] == videos[4] and len(set(videos)) == 3
    assert key({"texturevlm": {"share": 0.3, "video_share": 0.5}}) == engine[0]
    assert key({"texturevlm": {"strategy": "budget", "share": 0.3}}) == engine[3]
    assert key({"texturevlm": {"share": 0.3, "k": None}}) == engine[0]


def test_with_a_budget_the_key_depends_on_all_images(processor):
    first, second, third = pictures((320, 320), (320, 192), (192, 192))
    one = processor({"texturevlm": {"budget": 60}})

    def keys(*images):
        return process(one, PICTURE * len(images), images)["mm_hashes"]["image"]

    found = [keys(first), keys(first, second), keys(second, first), keys(first, third), keys(first, first)]
    assert len({key for some in found for key in some}) == 9 and keys(first, second) == found[1]
    by_share = [process(processor(), PICTURE * len(images), images)["mm_hashes"]["image"][0] for images in ((first,), (first, second))]
    assert by_share[0] == by_share[1]


def test_a_budget_is_that_of_all_images_whatever_the_cache_still_has(processor):
    from vllm.multimodal.cache import LruKeyReplicatedSenderCache, MultiModalProcessorOnlyCache
    one, prompt = processor({"texturevlm": {"budget": 60}}), f"{PICTURE} and {PICTURE} and {PICTURE}"
    images = pictures((320, 320), (256, 320), (320, 192))
    alone = process(one, prompt, images)
    counts = [place.length for place in alone["mm_placeholders"]["image"]]
    assert sum(counts) == 60 and min(counts) >= 10
    for kind in (MultiModalProcessorOnlyCache, LruKeyReplicatedSenderCache):
        cache = kind(one.info.ctx.model_config)
        for lost in ([], [0, 1, 2], [1], [0, 2], []):
            for number in lost:  # as if it had made room for others
                cache._cache.pop(alone["mm_hashes"]["image"][number], None)
            made = process(one, prompt, images, cache=cache)
            assert made["prompt_token_ids"] == alone["prompt_token_ids"] and made["mm_hashes"] == alone["mm_hashes"]
            for item, same in zip(made["mm_kwargs"]["image"], alone["mm_kwargs"]["image"]):
                assert item is None or torch.equal(item["image_keep"].data, same["image_keep"].data)  # None: the engine has it
        # The images of another request are no part of it, though some of them are the same.
        made = process(one, PICTURE * 2, images[:2], cache=cache)
        assert sum(place.length for place in made["mm_placeholders"]["image"]) == 60


def test_a_budget_is_enough_for_the_longer_sides(processor):
    images = pictures((640, 96), (320, 320))
    made = process(processor({"texturevlm": {"budget": 30}}), PICTURE * 2, images)
    assert [place.length for place in made["mm_placeholders"]["image"]] == [20, 10]
    line = "^a budget of 29 tokens for 2 images; with as many of each as its longer side has, these need at least 30$"
    with pytest.raises(tv.ArgumentError, match=line):
        process(processor({"texturevlm": {"budget": 29}}), PICTURE * 2, images)
    # A request may have another word than the engine.
    made = process(processor({"texturevlm": {"budget": 29}}), PICTURE * 2, images, hf_processor_mm_kwargs={"texturevlm": {"budget": None, "share": 1.0}})
    assert [place.length for place in made["mm_placeholders"]["image"]] == [60, 100]


def test_a_request_has_its_own_settings_and_the_cache_keeps_them_apart(processor):
    from vllm.multimodal.cache import MultiModalProcessorOnlyCache
    one, prompt, images = processor(), f"a {PICTURE}", pictures((320, 320))
    cache = MultiModalProcessorOnlyCache(one.info.ctx.model_config)
    counts = []
    for settings in (None, {"share": 0.6}, {"share": None, "k": 12}, None, {"share": 0.6}):
        made = process(one, prompt, images, cache=cache, hf_processor_mm_kwargs={"texturevlm": settings} if settings else None)
        counts.append(made["mm_placeholders"]["image"][0].length)
        assert int(keep_of(made)[0].sum()) == counts[-1] == made["prompt_token_ids"].count(IMAGE)
    assert counts == [30, 60, 12, 30, 60]
    # A request whose videos have settings of their own goes through vLLM's other way of merging them.
    clip = [np.stack([draw(64, 64, seed) for seed in range(4)])]
    made = process(one, prompt + CLIP, pictures((352, 320)), clip, cache=cache,
                   hf_processor_mm_kwargs={"texturevlm": {"share": 0.5}, "fps": [2.0]})
    assert made["mm_placeholders"]["image"][0].length == 55


def test_an_image_keeps_as_many_tokens_as_its_longer_side_has(processor):
    made = process(processor({"texturevlm": {"k": 1}}), PICTURE, pictures((640, 96)))
    assert made["mm_placeholders"]["image"][0].length == 20


PROMPTS = {
    "an image": (f"one {PICTURE} two", [(480, 320)], 0),
    "two images": (f"one {PICTURE} two {PICTURE} three", [(320, 480), (256, 256)], 0),
    "images around a video": (f"{PICTURE}{CLIP} two {PICTURE}.", [(320, 160), (96, 640)], 1),
    "no image": ("one two", [], 0),
    "two videos": (f"{CLIP} one {CLIP}", [], 2),
    "an image at the end": (f"one {PICTURE[:-len('<|vision_end|>')]}", [(640, 64)], 0),
}


@pytest.mark.parametrize("videos", [None, 0.3], ids=["whole videos", "pruned videos"])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_positions_are_those_of_texturevlm_hf(processor, models, pruned, prompt, videos):
    text, sizes, clips = PROMPTS[prompt]
    ours, theirs = models
    clip = [clip_of(128, 96, 10)] * clips
    made = process(processor({"texturevlm": {"share": 0.3, "video_share": videos}}), text, pictures(*sizes), clip)
    whole = process(processor({"texturevlm": {"share": 1.0}}), text, pictures(*sizes), clip)
    batch = batch_of(whole)
    ids = batch["input_ids"]
    expected = pruned(theirs, batch, keep_of(made) if sizes else None, keep_of(made, "video") if clips and videos else None)
    positions, delta = ours.get_mrope_input_positions(made["prompt_token_ids"], features_of(made))
    assert made["prompt_token_ids"] == expected.input_ids[0].tolist()
    assert torch.equal(positions, expected.position_ids[:, 0])
    # The next token's position is what it is behind the full prompt; and never beyond its place, for which vLLM has room.
    all_positions, all_delta = ours.get_mrope_input_positions(whole["prompt_token_ids"], features_of(whole))
    assert len(made["prompt_token_ids"]) + delta == ids.shape[1] + all_delta == int(all_positions.max()) + 1
    assert delta <= 0


def compare_towers(models, made, expected, modality):
    """The tower's output for the pictures of a modality with that of texturevlm.hf's pruned tower, which is `expected`'s."""
    from vllm.multimodal.utils import group_and_batch_mm_kwargs
    ours, items = models[0], made["mm_kwargs"][modality]
    picture = expected._pictures["pixel_values" if modality == "image" else "pixel_values_videos"]
    places = {name.split("_", 1)[1]: value for name, value in picture.places(modality).items()}
    answer = expected._tower(picture.pixels, grid_thw=picture.grid, **places)
    wanted = torch.cat([answer.pooler_output, *answer.deepstack_features], dim=1)
    ((_, count, given),) = group_and_batch_mm_kwargs([(modality, item) for item in items], device="cpu")
    found = ours.embed_multimodal(**given)
    assert count == len(items) and [len(part) for part in found] == [int(flags.sum()) for flags in keep_of(made, modality)]
    torch.testing.assert_close(torch.cat(found), wanted, rtol=0, atol=2e-5)
    # Without the places of the full grid it would be something else.
    shuffled = {**given, f"{modality}_keep": torch.cat([flags.flip(0) for flags in keep_of(made, modality)])}
    assert (torch.cat(ours.embed_multimodal(**shuffled)) - wanted).abs().max() > 1e-2


@pytest.mark.parametrize("sizes", [[(320, 192)], [(160, 224), (320, 96), (64, 64)]], ids=["an image", "three images"])
def test_the_tower_gives_what_that_of_texturevlm_hf_gives(processor, models, pruned, sizes):
    prompt, images = PICTURE * len(sizes), pictures(*sizes)
    made = process(processor(), prompt, images)
    whole = process(processor({"texturevlm": {"share": 1.0}}, mm_device_do_normalize=False), prompt, images)
    assert len(keep_of(made)) == len(sizes)
    assert [int(flags.sum()) for flags in keep_of(made)] == [place.length for place in made["mm_placeholders"]["image"]]
    compare_towers(models, made, pruned(models[1], batch_of(whole), keep_of(made)), "image")


def test_the_tower_gives_of_videos_what_that_of_texturevlm_hf_gives(processor, models, pruned):
    clips = [clip_of(128, 96, 10), clip_of(64, 128, 4)]
    made = process(processor({"texturevlm": {"video_share": 0.3}}), CLIP * 2, [], clips)
    whole = process(processor({}, mm_device_do_normalize=False), CLIP * 2, [], clips)
    # Some slots have no token, which is a case of its own.
    assert any(not any(flags) for item in made["mm_kwargs"]["video"] for flags in _prompt.slots_of(item, 2))
    assert len(keep_of(made, "video")) == 2
    compare_towers(models, made, pruned(models[1], batch_of(whole), None, keep_of(made, "video")), "video")


def test_all_rows_are_vllms_tower(models):
    from texturevlm.vllm._model import encode_kept
    tower, grids = models[0].visual, [[1, 8, 12], [1, 6, 4]]
    pixels = torch.randn(120, 1536, generator=torch.Generator().manual_seed(0))
    found = encode_kept(tower, pixels, grids, torch.ones(30, dtype=torch.bool))
    assert torch.equal(torch.cat(found), tower(pixels, grids)) and [len(part) for part in found] == [24, 6]
    grids = [[3, 4, 8], [2, 6, 2]]  # videos
    found = encode_kept(tower, pixels, grids, torch.ones(30, dtype=torch.bool))
    assert torch.equal(torch.cat(found), tower(pixels, grids)) and [len(part) for part in found] == [24, 6]


def test_what_the_processor_made_survives_the_way_to_the_engine(processor, models):
    from vllm.v1.serial_utils import MsgpackDecoder, MsgpackEncoder
    made = process(processor(), f"{PICTURE} {PICTURE}", pictures((200, 300), (320, 160)))
    kwargs = made["mm_kwargs"]
    there = MsgpackDecoder(type(kwargs)).decode(MsgpackEncoder().encode(kwargs))
    for before, after in zip(kwargs["image"], there["image"]):
        assert {name: value.data.tolist() for name, value in before.items()} == {name: value.data.tolist() for name, value in after.items()}
        assert after["image_keep"].data.dtype == torch.bool


def test_older_settings_work_with_a_warning():
    from texturevlm.vllm import _prompt
    for settings, line, found in (({"k": 9}, "k of texturevlm in mm_processor_kwargs goes with version 0.4: share says", {"k": 9}),
                                  ({"preset": "document"}, "preset of .*: strategy=\"budget\" takes its place", {"strategy": "budget"})):
        _prompt._warn_once.cache_clear()
        with pytest.warns(tv.TexturevlmWarning, match=line) as caught:
            assert _prompt.settings_of({"texturevlm": settings}) == _prompt.settings_of({"texturevlm": settings}) == found
        assert len(caught) == 1


BAD = [({"share": 0}, "share is 0.0; it must be above 0"), ({"share": 1.5}, "share is 1.5; it must be at most 1"),
       ({"share": "much"}, "share is 'much', not a number"), ({"k": 0}, "k is 0; it must be 1 .."), ({"k": 2.5}, "k is 2.5, not a whole"),
       ({"share": 0.5, "k": 9}, "share and k exclude each other"), ({"strategy": "buget"}, "do you mean budget?"),
       ({"budget": 0}, "budget is 0; it must be 1 .."), ({"budget": 9, "share": 0.5}, "budget and share exclude each other"),
       ({"budget": 9, "k": 3}, "k is for tokens that are chosen by their score: budget is not for it"), ({"way": "smaller"}, "a batch has its pictures at one size"),
       ({"way": "pictures"}, "for the way pictures"), ({"looks": 2}, "vLLM hands no attention out"),
       ({"tolerance": 0.1, "k": 3}, "k is for tokens that are chosen by their score: tolerance is not for it"),
       ({"shar": 0.5}, "do you mean 'share'?"), ({"video_share": 0}, "video_share is 0.0; it must be above 0"),
       ({"video_share": 2}, "video_share is 2; it must be at most 1"), ({"video_share": "all"}, "video_share is 'all', not a number"), (0.3, "texturevlm in mm_processor_kwargs is 0.3, not a mapping")]


@pytest.mark.parametrize("settings, line", BAD, ids=[line for _, line in BAD])
def test_bad_settings_are_one_line(processor, settings, line):
    with pytest.raises(tv.Error, match="^[^\n]*$") as caught:
        processor({"texturevlm": settings})  # when the engine starts
    assert line in str(caught.value)
    if isinstance(settings, dict):
        settings = {"share": None, **settings}
    with pytest.raises(tv.Error) as caught:
        process(processor(), PICTURE, pictures((64, 64)), hf_processor_mm_kwargs={"texturevlm": settings})
    assert line in str(caught.value)


def test_nothing_opens_a_device_before_an_image_is_pruned(checkpoint):
    """vLLM forks after it made its processor, and no device outlives that."""
    program = (f"from texturevlm import _device\ndef refuse(*rest, **options): raise SystemExit('a device was opened')\n"
               f"_device.Device.__init__ = refuse\nfrom texturevlm.vllm._prompt import settings_of\n"
               f"settings_of({{'texturevlm': {{'share': .3, 'strategy': 'budget'}}}})\n")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_another_vllm_is_refused_by_name(monkeypatch, caplog):
    monkeypatch.setattr(vllm, "__version__", "0.34.0")
    with pytest.raises(tv.DeviceError, match=r"texturevlm.vllm needs vLLM 0\.33\.0, this is 0\.34\.0$"):
        plugin.check_version()
    monkeypatch.delitem(sys.modules, "texturevlm.vllm._processor", raising=False)
    with pytest.raises(tv.DeviceError, match="this is 0.34.0"):
        importlib.import_module("texturevlm.vllm._processor")
    said = []
    from vllm import logger
    monkeypatch.setattr(logger, "init_logger", lambda name: type("Log", (), {"warning": lambda self, *line: said.append(line[0] % line[1:])})())
    plugin.register()
    assert len(said) == 1 and "this is 0.34.0" in said[0]


def test_engines_that_go_another_way_are_refused(config):
    from types import SimpleNamespace as Of
    from texturevlm.vllm._model import PrunedQwen3VL

    def refused(images=Of(mm_encoder_tp_mode="weights", is_multimodal_pruning_enabled=lambda: False), graph=False, drafts=None):
        with pytest.raises(tv.DeviceError, match="^not supported: [^\n]*$") as caught:
            PrunedQwen3VL(vllm_config=Of(model_config=Of(multimodal_config=images), speculative_config=drafts,
                                         compilation_config=Of(cudagraph_mm_encoder=graph)))
        return str(caught.value)

    assert "mm_encoder_tp_mode=data" in refused(config(mm_encoder_tp_mode="data").multimodal_config)
    assert "video_pruning_rate" in refused(config(video_pruning_rate=0.5).multimodal_config)
    assert "cudagraph_mm_encoder" in refused(graph=True)
    assert "speculative decoding" in refused(drafts=object())


def test_what_does_not_fit_is_refused(processor, models):
    ours, _ = models
    one = processor({"texturevlm": {"share": 0.3}}, enable_mm_embeds=True)
    of_videos = {"video_embeds": torch.zeros(4, 96), "video_grid_thw": torch.tensor([[1, 4, 4]]), "timestamps": [[0.0]]}
    with pytest.raises(tv.ArgumentError, match="embeddings of videos cannot be pruned"):
        one(CLIP, one.info.parse_mm_data({"video": of_videos}), hf_processor_mm_kwargs={"texturevlm": {"video_share": 0.5}})
    embeddings = {"image_embeds": torch.zeros(4, 96), "image_grid_thw": torch.tensor([[1, 4, 4]])}
    with pytest.raises(tv.ArgumentError, match="embeddings of images cannot be pruned"):
        one(PICTURE, one.info.parse_mm_data({"image": embeddings}))
    pixels, grid, flags = torch.zeros(8, 1536), torch.tensor([[1, 4, 4]]), torch.tensor([True, True, False, False])
    with pytest.raises(tv.ArgumentError, match="images have no image_keep"):
        ours.embed_multimodal(pixel_values=pixels, image_grid_thw=grid)
    with pytest.raises(tv.ArgumentError, match="2 tokens of 4 patches are kept, but there are 12 patches"):
        ours.embed_multimodal(pixel_values=torch.zeros(12, 1536), image_grid_thw=grid, image_keep=flags)
    theirs = process(processor({}, architecture="Qwen3VLForConditionalGeneration"), PICTURE, pictures((64, 64)))
    with pytest.raises(tv.ArgumentError, match="an image has no image_keep"):
        ours.get_mrope_input_positions(theirs["prompt_token_ids"], features_of(theirs))
    made = process(processor(), PICTURE, pictures((256, 256)))
    features = features_of(made)
    features[0].data["image_keep"].data[:] = True
    with pytest.raises(tv.ArgumentError, match="places in the prompt, image_keep has 64"):
        _prompt.full_prompt(made["prompt_token_ids"], features, IMAGE)
    made = process(processor({"texturevlm": {"video_share": 0.5}}), CLIP, [], [clip_of(128, 96, 4)])
    features = features_of(made)
    features[0].data["video_keep"].data[:] = True
    with pytest.raises(tv.ArgumentError, match="a video has 12 places in 2 slots of the prompt, video_keep has 24 in 2"):
        ours.get_mrope_input_positions(made["prompt_token_ids"], features)
