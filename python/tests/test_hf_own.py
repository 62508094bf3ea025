# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf with each family's own processor, of the real classes: it is taken for the model's, what it makes of photos of any
size is a batch, and with all tokens kept the answers are the model's.

The tokenizers know bytes (examples/tiny_vlm.py), and the sides of pictures are those of the tiny models.
"""
import importlib.util

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
PIL = pytest.importorskip("PIL.Image")
if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 57):
    pytest.skip("its apply_chat_template makes text only (test_hf.py)", allow_module_level=True)
if importlib.util.find_spec("torchvision") is None:
    pytest.skip("the processors need torchvision (ci/hf-environment processors)", allow_module_level=True)
import test_hf  # noqa: E402
import test_hf_prompt  # noqa: E402
from test_hf_messages import tiny, user  # noqa: E402
from test_hf_threads import CALLS, PLAIN_MIXES, often, run  # noqa: E402, F401

NEW = test_hf.NEW
if NEW:
    import hf_families
hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
WHAT = {"type": "text", "text": "What is this?"}
ROWS = [f"<row_{i + 1}_col_{j + 1}>" for i in range(6) for j in range(6)]  # as Idefics 3 and SmolVLM name the parts of an image


def tokenizer_of(*words, **tokens):
    """A tokenizer that knows these words beside bytes. tokens: those that a processor asks it for by name."""
    named = {"extra_special_tokens": tokens} if tokens else {}
    return tiny.tokenizer_of(["<pad>", "<s>", "</s>", *words], transformers.LlamaTokenizerFast, bos_token="<s>", **named)


def template(image):
    return tiny.TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", image)


def sides(family):
    """How large a picture is, and how many tokens it has."""
    side, along = test_hf_prompt.SIZES[family]
    return {"height": side, "width": side}, along**2


def qwen2_5_vl():
    sizes = {"min_pixels": 4 * 28 * 28, "max_pixels": 36 * 28 * 28}
    tokenizer = tiny.tokenizer_of()
    return "<|image_pad|>", transformers.Qwen2_5_VLProcessor(transformers.Qwen2VLImageProcessor(**sizes), tokenizer,
                                                             transformers.Qwen2VLVideoProcessor(**sizes), chat_template=tiny.TEMPLATE)


def qwen3_vl():
    sizes = {"size": {"shortest_edge": 4 * 32 * 32, "longest_edge": 36 * 32 * 32}, "patch_size": 16}
    images = transformers.Qwen2VLImageProcessorFast if not NEW else transformers.Qwen2VLImageProcessor
    return "<|image_pad|>", transformers.Qwen3VLProcessor(images(**sizes), tiny.tokenizer_of(), transformers.Qwen3VLVideoProcessor(),
                                                          chat_template=tiny.TEMPLATE)


def qwen3_5():
    return qwen3_vl()


def glm4v():
    images = transformers.Glm4vImageProcessor(size={"shortest_edge": 4 * 28 * 28, "longest_edge": 64 * 28 * 28})
    tokenizer = tokenizer_of("<|image|>", "<|video|>", "<|begin_of_image|>", "<|end_of_image|>")
    return "<|image|>", transformers.Glm4vProcessor(images, tokenizer, transformers.Glm4vVideoProcessor(),
                                                    chat_template=template("<|begin_of_image|><|image|><|end_of_image|>"))


def gemma3():
    size, count = sides("gemma3")
    tokenizer = tokenizer_of("<image>", "<boi>", "<eoi>", image_token="<image>", boi_token="<boi>", eoi_token="<eoi>")
    return "<image>", transformers.Gemma3Processor(transformers.Gemma3ImageProcessor(size=size), tokenizer, chat_template=template("<boi>"),
                                                   image_seq_length=count)


def internvl():
    size, count = sides("internvl")
    tokenizer = tokenizer_of("<part>", "<img>", "</img>", "<video>", start_image_token="<img>", end_image_token="</img>",
                             context_image_token="<part>", video_token="<video>")
    images = transformers.GotOcr2ImageProcessor(size=size, crop_to_patches=True, max_patches=3)
    return "<part>", transformers.InternVLProcessor(images, tokenizer, transformers.InternVLVideoProcessor(size=size),
                                                    image_seq_length=count, chat_template=template("<part>\n"))


def smolvlm():
    pytest.importorskip("num2words")  # the processor's own need
    size, count = sides("smolvlm")
    images = transformers.SmolVLMImageProcessor(size={"longest_edge": 2 * size["width"]}, max_image_size={"longest_edge": size["width"]})
    tokenizer = tokenizer_of("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>", *ROWS)
    return "<image>", transformers.SmolVLMProcessor(images, tokenizer, transformers.SmolVLMVideoProcessor(), image_seq_len=count,
                                                    chat_template=template("<image>"))


def idefics3():
    images = transformers.Idefics3ImageProcessor(size={"longest_edge": 128}, max_image_size={"longest_edge": 64})
    tokenizer = tokenizer_of("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>", *ROWS)
    return "<image>", transformers.Idefics3Processor(images, tokenizer, image_seq_len=16, chat_template=template("<image>"))


def llava_next():
    size = {"size": {"shortest_edge": 56}, "crop_size": {"height": 56, "width": 56}, "image_grid_pinpoints": hf_families.POINTS}
    return "<image>", transformers.LlavaNextProcessor(
        transformers.LlavaNextImageProcessor(**size), tokenizer_of("<image>"), patch_size=14, vision_feature_select_strategy="default",
        num_additional_image_tokens=1, chat_template=template("<image>"))


def llava_onevision():
    size = {"size": {"height": 56, "width": 56}}
    return "<image>", transformers.LlavaOnevisionProcessor(
        transformers.LlavaOnevisionImageProcessor(**size, image_grid_pinpoints=hf_families.POINTS), tokenizer_of("<image>", "<video>"),
        transformers.LlavaOnevisionVideoProcessor(**size), num_image_tokens=16, vision_feature_select_strategy="full",
        chat_template=template("<image>"))


def mistral3():
    images = transformers.PixtralImageProcessor(size={"longest_edge": 140}, patch_size={"height": 14, "width": 14})
    return "[IMG]", transformers.PixtralProcessor(images, tokenizer_of("[IMG]", "[IMG_BREAK]", "[IMG_END]"), patch_size=14,
                                                  spatial_merge_size=2, chat_template=template("[IMG]"))


def llama4():
    images = transformers.Llama4ImageProcessor(size={"height": 112, "width": 112}, max_patches=4)
    tokenizer = tokenizer_of("<|image|>", "<|image_start|>", "<|image_end|>", "<|patch|>", "<|tile_x_separator|>", "<|tile_y_separator|>")
    return "<|patch|>", transformers.Llama4Processor(images, tokenizer, patch_size=14, chat_template=template("<|image|>"))


SOUNDS = {"audio_token": "<audio>", "boa_token": "<boa>", "eoa_token": "<eoa>", "boi_token": "<boi>", "eoi_token": "<eoi>",
          "image_token": "<image>"}


def gemma4():
    return "<image>", transformers.Gemma4Processor(
        transformers.Gemma4AudioFeatureExtractor(), transformers.Gemma4ImageProcessor(patch_size=8, pooling_kernel_size=2, max_soft_tokens=70),
        tokenizer_of(*SOUNDS.values(), "<|video|>", **SOUNDS), transformers.Gemma4VideoProcessor(), chat_template=template("<image>"),
        image_seq_length=70)


def gemma3n():
    return "<image>", transformers.Gemma3nProcessor(
        transformers.Gemma3nAudioFeatureExtractor(), transformers.SiglipImageProcessor(size={"height": 56, "width": 56}),
        tokenizer_of(*SOUNDS.values(), **SOUNDS), chat_template=template("<image>"), image_seq_length=16)


FAMILIES = [(test_hf, qwen2_5_vl), (test_hf, qwen3_vl), (test_hf_prompt, gemma3), (test_hf_prompt, internvl), (test_hf_prompt, smolvlm)]
if NEW:
    FAMILIES += [(test_hf, glm4v), (test_hf, qwen3_5)]
    FAMILIES += [(hf_families, own) for own in (idefics3, llava_next, llava_onevision, mistral3, llama4, gemma4, gemma3n)]


def made(tests, own):
    """A tiny model, and its own processor."""
    image, processor = own()
    number, count = processor.tokenizer.convert_tokens_to_ids, len(processor.tokenizer)

    def change(config):
        """Of as many words as the tokenizer has, and with its numbers of them."""
        text = config.get_text_config()
        text.vocab_size = count
        if own is gemma3n:  # which has words of its own for pictures and sounds, behind the others
            config.vision_config.vocab_offset, config.audio_config.vocab_offset, text.vocab_size = count, count + 16, count + 32
        if hasattr(text, "vocab_size_per_layer_input"):
            text.vocab_size_per_layer_input = count
        config.image_token_id = number(image)
        for name, word in (("video_token_id", getattr(processor, "video_token", None)), ("vision_start_token_id", "<|vision_start|>"),
                           ("vision_end_token_id", "<|vision_end|>"), ("audio_token_id", getattr(processor, "audio_token", None))):
            if hasattr(config, name) and isinstance(word, str):
                setattr(config, name, number(word))

    return tests.model_of(own.__name__, change=change), processor


@pytest.mark.parametrize("tests, own", FAMILIES, ids=[own.__name__ for _, own in FAMILIES])
def test_a_familys_own_processor_is_taken(tests, own):
    model, processor = made(tests, own)
    a, b = ({"type": "image", "image": PIL.fromarray(draw(width, height, width))} for width, height in ((150, 90), (80, 120)))
    everything, pruner = (hf.Pruner(model, processor, share=share, strategy=name) for share, name in ((1.0, None), (0.3, "budget")))
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0, "eos_token_id": None,
               "suppress_tokens": list(range(256, len(processor.tokenizer)))}
    for messages in (user(a, WHAT), user(b, WHAT, a), [user(b, WHAT), user(WHAT)], [user(a), user(WHAT, a, b)], user(WHAT)):
        batch = everything.batch_of(messages)  # pixels of float32, also where the processor makes bfloat16, as Llama 4's
        valid = batch["attention_mask"].bool()
        torch.testing.assert_close(everything.prune(batch).forward().logits[valid], model(**batch).logits[valid], rtol=0, atol=2e-5)
        assert torch.equal(everything.generate(batch, **options), model.generate(**batch, **options))
        pruned = pruner.prune(batch)
        assert pruned.tokens < 0.45 * pruned.all_tokens or messages == user(WHAT)
        found = pruned.generate(**options)
        assert torch.equal(found[:, :-3], batch["input_ids"])


@pytest.mark.parametrize("tests, own", FAMILIES, ids=[own.__name__ for _, own in FAMILIES])
def test_threads_choose_and_answer(often, tests, own):
    """Several threads share a pruner and its model: each chooses of a picture of its own, and answers; plain calls run beside."""
    model, processor = made(tests, own)
    pruner = hf.Pruner(model, processor, share=0.4)
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0, "eos_token_id": None,
               "suppress_tokens": list(range(256, len(processor.tokenizer)))}
    calls = []
    for seed, question in enumerate(("What?", "Which one is it?", "Where")):
        image = PIL.fromarray(draw(150 - 30 * seed, 90 + 20 * seed, seed))
        batch = pruner.batch_of(image, question)
        calls += [("prune", lambda image=image, question=question: pruner.prune(image, question=question).generate(**options)),
                  ("generate", lambda image=image, question=question: pruner.generate(image, question=question, **options)),
                  ("forward", lambda batch=batch: pruner.prune(batch).forward().logits)]
        if own.__name__ not in PLAIN_MIXES:
            calls.append(("plain", lambda batch=batch: model.generate(**batch, **options)))
    expected = [call() for _, call in calls]
    assert len({tuple(answer.flatten().tolist()) for (name, _), answer in zip(calls, expected) if name == "prune"}) == 3
    wrong = run(calls, max(6, CALLS // 10), expected)
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.skipif(not NEW, reason="it has no messages for Mistral 3")
def test_sizes_of_mistral_3_are_those_of_its_processor():
    """Of an image, and of a picture that has such a size already, which the processor leaves as it is."""
    from texturevlm.hf import _ways
    processor = mistral3()[1]
    rule = _ways.pixtral_rule(processor, 28)

    def size(width, height):
        batch = processor(images=[PIL.new("RGB", (width, height))], text="[IMG]", return_tensors="pt")
        return int(batch["image_sizes"][0][1]) // 28, int(batch["image_sizes"][0][0]) // 28

    for width, height in np.random.default_rng(4).integers(30, 400, (8, 2)).tolist():
        assert rule.size(width, height) == size(width, height)
        for tokens in (1, 4, 9, 20):
            columns, rows = rule.size(width, height, tokens)
            assert size(columns * 28, rows * 28) == (columns, rows)
            assert columns * rows <= tokens or min(columns, rows) == 1
    processor.image_processor.do_resize = False
    assert _ways.pixtral_rule(processor, 28) is None


@pytest.mark.skipif(not NEW, reason="it has no messages for Mistral 3")
def test_mistral_3_takes_a_smaller_picture():
    model, processor = made(hf_families, mistral3)
    image = PIL.fromarray(draw(200, 150, 3))
    full = hf.Pruner(model, processor, share=1.0).prune(image, question="what?").all_tokens
    for way in ("smaller", "pruned", "auto"):
        pruned = hf.Pruner(model, processor, budget=8, way=way).prune(image, question="what?")
        one = pruned.report.pictures[0]
        assert one.way == way or way == "auto" and one.loss == min(c.loss for c in pruned.report.candidates[0])
        assert one.tokens == pruned.tokens <= 8 and pruned.report.full == [full]
        assert pruned.generate(max_new_tokens=2, do_sample=False).shape[0] == 1
        if way == "smaller":  # is what the model makes of the smaller picture
            small = image.resize((28 * one.columns, 28 * one.rows), processor.image_processor.resample)
            batch = hf.Pruner(model, processor).batch_of(small, "what?")
            torch.testing.assert_close(pruned.forward().logits, model(**batch).logits, rtol=0, atol=2e-5)
    report = hf.Pruner(model, processor, tolerance=0.2).prune([image, PIL.fromarray(draw(90, 140, 5))], question="which?").report
    assert len(report.pictures) == 2 and all(one.loss <= 0.2 or one.way == "full" for one in report.pictures)
    with pytest.raises(tv.ArgumentError, match="it has no way pictures"):
        hf.Pruner(model, processor, budget=8, way="pictures")


@pytest.mark.parametrize("tests, own", FAMILIES, ids=[own.__name__ for _, own in FAMILIES])
@pytest.mark.parametrize("way", ["pruned", "cells"])
def test_a_budget_is_never_exceeded(tests, own, way):
    """By all places for pictures that the prompt has, with the ends of lines of LLaVA-NeXT and LLaVA-OneVision. Rows have one each."""
    model, processor = made(tests, own)
    photos = [PIL.fromarray(draw(width, height, width)) for width, height in ((150, 90), (80, 120))]
    plain = hf.Pruner(model, processor)
    one = plain.batch_of(photos[0], "what?")
    every = hf.prune_batch(model, one).all_tokens
    several = plain.batch_of(photos, "what?")
    for budget in (5, 6, 9, 14, every - 1, every, every + 1):
        pruned = hf.Pruner(model, processor, budget=budget, way=way).prune(one)
        report = pruned.report
        places = int((pruned.input_ids == model.config.image_token_id).sum())
        assert places == pruned.tokens == report.tokens <= budget and sum(report.full) == every
        assert pruned.tokens >= min(budget, every) - 1  # a token of another line brings the end of that line
        assert {chosen.way for chosen in report.pictures} <= {way, "full"}
    budget = 12 if every < 40 else 24
    together = hf.Pruner(model, processor, budget=budget, way=way).prune(several)
    assert budget - 1 <= together.tokens == together.report.tokens <= budget
    rows = plain.batch_of([user(photo_of(photo), WHAT) for photo in photos])
    pruned = hf.Pruner(model, processor, budget=budget, way=way).prune(rows)
    counts, full = ((ids == model.config.image_token_id).sum(dim=1).tolist() for ids in (pruned.input_ids, rows["input_ids"]))
    assert all(min(budget, most) - 1 <= count <= budget for count, most in zip(counts, full)) and pruned.tokens == pruned.report.tokens


def photo_of(image):
    return {"type": "image", "image": image}


@pytest.mark.skipif(not NEW, reason="it has no messages for LLaVA-NeXT")
def test_the_ends_of_lines_count():
    model, processor = made(hf_families, llava_next)
    image = PIL.fromarray(draw(150, 90, 7))
    with pytest.raises(tv.ArgumentError, match="a budget of 2 tokens for 2 pictures; with the ends of their lines these need at least 3"):
        hf.Pruner(model, processor, budget=2).prune(image, question="what?")
    assert hf.Pruner(model, processor, budget=3).prune(image, question="what?").tokens == 3
    for options in ({"share": 0.5}, {"share": 0.5, "way": "cells"}, {"tolerance": 0.2}):
        report = (pruned := hf.Pruner(model, processor, **options).prune(image, question="what?")).report
        assert report.tokens == pruned.tokens and sum(report.full) == pruned.all_tokens
        assert all(one.tokens <= round(0.5 * full) for one, full in zip(report.pictures, report.full)) or "share" not in options


@pytest.mark.skipif(not NEW, reason="it has no messages for these")
@pytest.mark.parametrize("own", ["llava_onevision", "llava_next", "idefics3", "gemma4"])
def test_rows_have_budgets_of_their_own(own):
    model, processor = made(hf_families, globals()[own])
    rows = [user(photo_of(PIL.fromarray(draw(150, 90, seed))), WHAT) for seed in (1, 2)]
    pruned = hf.Pruner(model, processor, budget=10).prune(rows)
    counts = (pruned.input_ids == model.config.image_token_id).sum(dim=1).tolist()
    assert all(9 <= count <= 10 for count in counts) and sum(counts) == pruned.report.tokens
