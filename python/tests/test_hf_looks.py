# SPDX-License-Identifier: Apache-2.0
"""Two looks: the model's own attention says which tokens of the full picture it sees, and nothing is computed twice."""
from concurrent import futures

import numpy as np
import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 57):
    pytest.skip("two looks need the attention functions of transformers 4.57", allow_module_level=True)
import test_hf  # noqa: E402
import test_hf_own as own  # noqa: E402  it skips without torchvision
import test_hf_prompt  # noqa: E402
if own.NEW:
    import hf_families
from test_hf_ways import photo  # noqa: E402

hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
QUESTION = "Which digit is in the red circle?"
# Of each family the module that makes its tiny model, the size of its photos in pixels and the side of a token.
FAMILIES = {"qwen2_vl": (None, (168, 168), 28), "qwen2_5_vl": (test_hf, (168, 168), 28), "qwen3_vl": (test_hf, (192, 192), 32),
            **({"qwen3_5": (test_hf, (192, 192), 32), "llava_onevision": (hf_families, (168, 60), 14)} if own.NEW else {}),
            "internvl": (test_hf_prompt, (400, 150), 28), "smolvlm": (test_hf_prompt, (256, 200), 32),
            "llava": (test_hf_prompt, (170, 90), 14)}
CUT = ("llava_onevision", "internvl", "smolvlm")  # whose processors show an image in parts
TILED = (*CUT, "llava")


def llava():
    images = transformers.CLIPImageProcessor(size={"shortest_edge": 84}, crop_size={"height": 84, "width": 84})
    return "<image>", transformers.LlavaProcessor(images, own.tokenizer_of("<image>"), patch_size=14, vision_feature_select_strategy="default",
                                                  num_additional_image_tokens=1, chat_template=own.template("<image>"))


class Tiny:
    """A tiny model and its processor, and photos that it cuts into 3 x 1 or 2 x 2 parts if it cuts any."""

    def __init__(self, name="qwen2_vl"):
        self.name, (tests, self.size, self.side) = name, FAMILIES[name]
        if tests is None:
            self.processor = own.tiny.processor_of()
            self.model = own.tiny.model_of(self.processor)
        else:
            self.model, self.processor = own.made(tests, llava if name == "llava" else getattr(own, name))
        self.tiled = name in TILED
        self.full = {"llava_onevision": (12, 4), "internvl": (12, 4), "smolvlm": (8, 8), "llava": (12, 6)}.get(name, (6, 6))
        self.along = 6 if name == "llava" else 4  # tokens along a side of one of several pictures
        self.one, self.budget = self.along**2, 56 if name == "llava" else 24
        self.every = int((self.plain()["input_ids"] == self.model.config.image_token_id).sum())  # tokens of a photo without us
        self.ends = name == "llava_onevision"  # whether a token stands at the end of each picture
        self.inner = self.model.model
        self.words = self.inner.text_model if name == "smolvlm" else self.inner.language_model

    def photo(self, seed=0):
        return photo(seed, *self.size)

    def looked(self, **options):
        return hf.Pruner(self.model, self.processor, budget=self.budget, looks=2).prune(self.photo(), question=QUESTION, **options)

    def plain(self):
        return hf.Pruner(self.model, self.processor, share=1.0).batch_of(self.photo(), QUESTION)

    def whole(self, image):
        """The processor's batch of an image as one picture."""
        options = {"internvl": {"crop_to_patches": False}, "smolvlm": {"size": {"longest_edge": 128}}}.get(self.name, {})
        named = {"processor_kwargs": options} if options and test_hf.NEW else options
        return hf.Pruner(self.model, self.processor, share=1.0).batch_of(image, QUESTION, **named)

    def around(self):
        """Tokens of the prompt around each further picture."""
        return self.length(3) - self.length(2) - self.one if self.tiled else 2

    def length(self, count):
        """How long a prompt with so many pictures is."""
        return self.whole([self.photo()] * count)["input_ids"].shape[1]


@pytest.fixture(params=FAMILIES)
def family(request):
    return Tiny(request.param)


class Rows:
    """Counts what a model computes: pictures or rows of the encoder, and positions of the language model."""

    def __init__(self, family):
        self.encoder, self.positions = [], []
        towers = {"llava_onevision": "vision_tower", "internvl": "vision_tower", "smolvlm": "vision_model", "llava": "vision_tower"}
        first = f"{towers[family.name]}.embeddings" if family.tiled else "visual.patch_embed"
        if family.name == "llava" and hasattr(family.inner.vision_tower, "vision_model"):  # before transformers 5
            first = "vision_tower.vision_model.embeddings"
        module = family.inner.get_submodule(first)
        module.register_forward_hook(lambda module, given, made: self.encoder.append(len(given[0] if given else made)))
        family.words.layers[0].mlp.register_forward_hook(lambda module, given, made: self.positions.append(given[0].shape[1]))


# ---- What is shown ----

def test_a_small_picture_and_what_the_model_looks_at(family):
    pruned = family.looked()
    one, = pruned.report.pictures
    (small, whole), *others = pruned.report.seen
    assert one.way == "looks" and np.isnan(one.loss) and "loss" not in repr(pruned.report)
    assert (one.columns, one.rows) == family.full and pruned.report.full == [family.every]
    shape = (family.along, family.along) if family.tiled else family.full[::-1]
    assert whole.all() and all(kept.shape == shape and kept.any() for _, kept in others)
    assert all(picture.shape[:2] == tuple(side * family.side for side in kept.shape) for picture, kept in pruned.report.seen)
    count = sum(int(kept.sum()) for _, kept in pruned.report.seen)
    spent = count + family.around() * len(others) + family.ends
    assert one.tokens == spent == pruned.report.tokens and pruned.tokens == count + family.ends * len(pruned.report.seen)
    assert family.budget - family.around() <= spent <= family.budget and (family.tiled or spent == family.budget)
    assert int((pruned.input_ids == family.model.config.image_token_id).sum()) == pruned.tokens
    text = family.length(2) - 2 * (family.one if family.tiled else 36) - family.around() - family.ends
    assert pruned.input_ids.shape[1] == text + spent
    look = pruned.report.look
    assert look.shape == whole.shape and (look >= 0).all() and 0 < look.sum() < 1


def test_the_tokens_are_those_of_most_attention():
    """Of attention that a test makes up, the tokens under its peak are kept."""
    from texturevlm.hf import _looks, _showing
    attention = np.zeros((4, 4), np.float32)
    attention[2, 1] = 1
    plan = _showing.Plan((4, 4), (8, 8), (8, 8), 6, 2, 64)
    assert np.argwhere(_looks.places_of(attention, plan)).tolist() == [[4, 2], [4, 3], [5, 2], [5, 3]]


def test_each_part_costs_its_place_in_the_prompt():
    """The peak lies where four parts meet: tokens for one more picture must be left before it is begun."""
    from texturevlm.hf import _looks, _showing
    attention = np.zeros((8, 8), np.float32)
    attention[3, 3], attention[3, 4], attention[2, 3], attention[4, 3], attention[2, 2] = 9, 8, 7, 6, 5
    for tokens, seen in ((8, [[3, 3], [3, 4]]), (9, [[2, 3], [3, 3], [3, 4]]), (10, [[2, 2], [2, 3], [3, 3], [3, 4]]),
                         (13, [[2, 3], [3, 3], [3, 4], [4, 3]])):
        plan = _showing.Plan((8, 8), (8, 8), (4, 4), tokens, 3, 80)
        kept = _looks.places_of(attention, plan)
        assert np.argwhere(kept).tolist() == seen
    image = own.PIL.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8).repeat(8, 0).repeat(8, 1)).convert("RGB")
    parts = _looks.parts_of(image, kept, plan, 8)
    assert [int(mask.sum()) for _, mask in parts] == [2, 1, 1] and parts[0][1][2, 3] and parts[1][1][3, 0] and parts[2][1][0, 3]
    assert [int(np.asarray(picture)[0, 0, 0]) for picture, _ in parts] == [0, 4, 32]


def test_attention_is_that_of_the_eager_model(family):
    pruned = family.looked()
    small = own.PIL.fromarray(pruned.report.seen[0][0])
    family.model.set_attn_implementation("eager")
    if family.ends:  # which shows an image as one picture only where there are two
        from texturevlm.hf._features import FeatureBatch
        flags = torch.ones(16, dtype=torch.bool)
        batch = FeatureBatch(family.model, family.whole([small, small]), [flags, ~flags], 0)
        layers, ids = batch.forward(output_attentions=True).attentions, batch.input_ids
    else:
        batch = family.whole(small)
        layers, ids = family.model(**batch, output_attentions=True).attentions, batch["input_ids"]
    if family.name == "qwen3_5":  # of whose four layers one has attention
        layers = [layer for layer in layers if layer is not None]
        assert len(layers) == 1
    there = ids[0] == family.model.config.image_token_id
    eager = layers[len(layers) // 2][0, :, -1][:, there].mean(0)[:pruned.report.look.size].reshape(pruned.report.look.shape)
    np.testing.assert_allclose(pruned.report.look, eager.numpy(), rtol=0, atol=1e-6)
    np.testing.assert_allclose(family.looked().report.look, eager.numpy(), rtol=0, atol=1e-6)  # of an eager model, too


def test_where_a_part_has_pixels_beyond_its_tokens_the_next_one_has_them_too():
    from texturevlm.hf import _looks, _showing
    plan = _showing.Plan((2, 2), (4, 2), (2, 2), 4, 2, 12)
    image = own.PIL.fromarray(np.arange(22, dtype=np.uint8)[None].repeat(14, 0)).convert("RGB")
    parts = _looks.parts_of(image, np.ones((2, 4), bool), plan, 4, 6)
    assert [np.asarray(picture).shape for picture, _ in parts] == [(14, 14, 3)] * 2
    assert [np.asarray(picture)[0, ::13, 0].tolist() for picture, _ in parts] == [[0, 13], [8, 21]]


def test_when_pictures_of_one_size_are_looked_at_twice():
    """InternVL's sizes: a part has 16 x 16 tokens of 28 pixels. The first look takes at most 80 %, and shows 8 pixels of 28."""
    from texturevlm.hf import _showing, _ways

    def plan(budget, columns=4, rows=3, pairs=False):
        showing = _showing.Tiled(28, 16, 448, lambda width, height: (columns, rows, (columns * rows + 1) * 256), {}, pairs,
                                 lambda width, height: [])
        spending = _ways.spending_of(budget, None, None, None)
        return showing.plan((1024, 768), spending, lambda picture, count: 30 + count * (256 + 3))

    assert plan(319) == "a first look takes 256 tokens, which is more than 80% of 319" and plan(320) == _showing.Plan((16, 16), (64, 48), (16, 16), 64, 3, 13 * 256)
    assert plan(320, pairs=True).tokens == 63
    assert plan(13 * 256) == "the tokens are enough for the full picture" and plan(13 * 256 - 1).tokens == 12 * 256 - 1
    assert plan(1000, 13, 1) == "a first look of 256 tokens is too small for 13 x 1 parts"  # 28 pixels are 7.8 there
    assert plan(300, 1, 1) == "the processor makes one part of the image, which a first look would show already"
    rule = _ways.Rule(28, 784, 784 * 64, lambda height, width, least, most: tuple(min(side, int(most**0.5) // 28 * 28) for side in (height, width)))
    sized = [_showing.Sized(rule).plan((224, 224), _ways.spending_of(budget, None, None, None), None) for budget in (5, 8, 64)]
    assert sized == ["a first look needs 6 tokens to show anything, which is more than 80% of 5",
                     _showing.Plan((2, 2), (8, 8), (8, 8), 4, 2, 64), "the tokens are enough for the full picture"]


def test_onevisions_parts_have_the_images_shape():
    """Of the processor's numbers of parts up to 6 x 6; the model makes fewer tokens of more than nine."""
    from texturevlm.hf import _showing

    class Processor:
        vision_aspect_ratio = "anyres_max_9"

        class image_processor:
            image_grid_pinpoints = [[384 * rows, 384 * columns] for rows in range(1, 7) for columns in range(1, 7)]

        def _get_num_multimodal_tokens(self, image_sizes):
            return {"num_image_tokens": [image_sizes[0][0]]}

    tiles, fewer = _showing._onevision(Processor(), 384, 729)
    assert set(fewer(800, 800)) == {(1, 1), (2, 2)} and (2, 1) in fewer(1160, 390)
    for size, parts in (((1160, 390), (3, 1)), ((384, 384), (1, 1)), ((800, 800), (2, 2)), ((3000, 3000), (3, 3)), ((400, 1300), (1, 3))):
        assert tiles(*size) == (*parts, size[1])


# ---- What is computed ----

def test_the_second_look_is_the_whole_prompt(family):
    """Its first logits, which begin with the first look's keys and values, are those of the whole prompt without a cache."""
    pruned = family.looked()
    assert pruned._prefix is not None
    options = {"max_new_tokens": 4, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "return_dict_in_generate": True,
               "output_logits": True}
    found = pruned.generate(**options)
    torch.testing.assert_close(found.logits[0], pruned.forward().logits[:, -1].float(), rtol=0, atol=5e-6)
    again = pruned.generate(**options)  # what was cached is still that of the first look
    assert torch.equal(again.sequences, found.sequences)
    pruned._prefix = None
    whole = pruned.generate(**options)
    assert torch.equal(whole.sequences, found.sequences)
    for one, other in zip(found.logits, whole.logits):
        torch.testing.assert_close(one, other, rtol=0, atol=5e-6)


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_text_may_stand_before_the_image(family, share):
    """After a system's message and text before the image, generate still gives what the whole prompt gives; and a share is kept."""
    messages = [{"role": "system", "content": [{"type": "text", "text": "You see photos."}]},
                *own.user({"type": "text", "text": "Here is one:"}, {"type": "image", "image": family.photo()},
                          {"type": "text", "text": QUESTION})]
    # Of the one picture that LLaVA's processor makes, a share leaves no room for a second look.
    asked = {"budget": family.budget} if family.name == "llava" else {"share": share}
    pruned = hf.Pruner(family.model, family.processor, **asked, looks=2).prune(messages)
    assert pruned.report.tokens <= asked.get("budget", round(share * family.every)) and pruned.report.full == [family.every]
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "return_dict_in_generate": True,
               "output_logits": True}
    found = pruned.generate(**options)
    assert pruned._prefix[1] > 20
    pruned._prefix = None
    for one, other in zip(found.logits, pruned.generate(**options).logits):
        torch.testing.assert_close(one, other, rtol=0, atol=2e-5)


def test_the_layer_that_is_watched_sees_all_places():
    from texturevlm.hf import _looks
    family = Tiny("internvl")
    text = family.model.config.get_text_config()
    for kinds, wanted in ((["full_attention"] * 3, 1), (["sliding_attention", "sliding_attention", "full_attention"], 2)):
        text.layer_types = kinds
        path, *numbers = _looks._layer_of(family.model)
        layers = _looks._watched(family.model, f"{path}.{wanted}.self_attn", []).model.language_model.layers
        assert numbers == [wanted, 3] and [i for i, layer in enumerate(layers) if hasattr(layer.self_attn, "_texturevlm_rows")] == [wanted]
    text.layer_types = ["sliding_attention"] * 3
    with pytest.raises(tv.DeviceError, match="no layer of a InternVLForConditionalGeneration has attention to all places"):
        family.looked()


def test_the_report_names_the_layer_and_its_heads(family):
    from texturevlm.hf import _looks
    report = family.looked().report
    path, number, count = _looks._layer_of(family.model)
    layers, heads = family.model.get_submodule(path), family.model.config.get_text_config().num_attention_heads
    assert count == len(layers) and hasattr(layers[number], "self_attn")
    assert number == (3 if family.name == "qwen3_5" else count // 2)  # of whose four layers one has attention
    assert report.layer == f"layer {number} of 0 .. {count - 1}, the mean of all {heads} heads" and report.candidates == [[]]
    assert f"; looked by {report.layer}\n" in repr(report)


def test_a_sink_takes_its_share():
    """As in gpt-oss, a score for each head beside those of the places."""
    from texturevlm.hf import _looks
    query, key, value = torch.randn(3, 1, 4, 5, 8, generator=torch.Generator().manual_seed(3)).unbind(0)
    module, sinks = torch.nn.Module(), torch.tensor([0.0, 1.0, -1.0, 2.0])
    module._texturevlm_rows, module._texturevlm_own = [], "sdpa"
    _looks._last_row(module, query, key, value, None, s_aux=sinks, scaling=0.5)
    scores = torch.cat([query[:, :, -1:] @ key.transpose(2, 3) * 0.5, sinks.reshape(1, 4, 1, 1)], -1)
    torch.testing.assert_close(module._texturevlm_rows[0], scores.softmax(-1)[:, :, 0, :-1])


def test_nothing_is_computed_twice(family):
    rows = Rows(family)
    pruned = family.looked()
    first, *second = (int(kept.sum()) for _, kept in pruned.report.seen)
    merged = 1 if family.tiled else family.inner.visual.spatial_merge_size**2
    # A part's encoder sees all of it: its tokens are chosen afterwards.
    shown = [1, len(second)] if family.tiled else [first * merged, sum(second) * merged]
    assert rows.encoder == shown[:1]
    length, calls = sum(rows.positions), len(rows.positions)
    assert calls == 1 + (family.name == "qwen3_5")  # whose prompt is run in two parts
    pruned.generate(max_new_tokens=1, pad_token_id=0, eos_token_id=None)
    assert [rows.encoder[0], sum(rows.encoder[1:])] == shown
    # The second prompt has the other pictures' tokens more, and those around them; of it the first picture's are not computed again.
    before, more = pruned._prefix[1], sum(second) + family.around() * len(second)
    assert before > first and rows.positions[calls:] == [length + more - before]
    assert pruned.input_ids.shape[1] == length + more


def peak_of(call):
    """How many bytes of tensors a call has at once, at most, beyond those that were there."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        call()
    steps = [(event.start_ns(), event.nbytes()) for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    return int(np.cumsum([size for _, size in sorted(steps, key=lambda step: step[0])]).max())


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_first_look_takes_the_memory_of_a_plain_call_and_of_a_row(attention):
    """Keeping the attention of all rows would take as many times more as the prompt is long."""
    from texturevlm.hf import _looks
    family = Tiny()
    family.model.set_attn_implementation(attention)
    batch = hf.Pruner(family.model, family.processor, share=1.0).batch_of(family.photo(), QUESTION * 40)
    heads, length = family.model.config.get_text_config().num_attention_heads, batch["input_ids"].shape[1]

    def plain(**options):
        family.model(**batch, past_key_values=transformers.DynamicCache(), use_cache=True, logits_to_keep=1, **options)

    def look():
        _looks.look_at(family.model, batch, family.full)

    plain(), look()
    row, without = 4 * heads * length, peak_of(plain)
    assert length > 1000 and row <= peak_of(look) - without <= 4 * row
    if attention == "eager":  # what the measure would see
        assert peak_of(lambda: plain(output_attentions=True)) - without >= 0.9 * row * length


def test_nothing_is_set_on_the_model(family):
    model = family.model
    model.set_attn_implementation("sdpa")
    batch = family.whole(family.photo())
    plain = model(**batch).logits
    before = {name: dict(vars(module)) for name, module in model.named_modules() if name}
    if hasattr(family.inner, "rope_deltas"):
        family.inner.rope_deltas = None
    family.looked().generate(max_new_tokens=2, pad_token_id=0)
    assert getattr(family.inner, "rope_deltas", None) is None and family.words.config._attn_implementation == "sdpa"
    assert all(vars(module).keys() == before[name].keys() for name, module in model.named_modules() if name)
    assert torch.equal(model(**batch).logits, plain)


def test_threads_do_not_mix(family):
    """Four threads look twice at pictures of their own, and a fifth asks the plain model."""
    model = family.model
    pruner = hf.Pruner(model, family.processor, budget=family.budget, looks=2)
    images = [family.photo(seed) for seed in range(4)]
    batch = family.whole(images[0])
    options = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}

    def twice(image):
        return pruner.prune(image, question=QUESTION).generate(**options).tolist()

    alone, plain = [twice(image) for image in images], model(**batch).logits
    with futures.ThreadPoolExecutor(5) as threads:
        beside = threads.submit(lambda: [model(**batch).logits for _ in range(12)])
        for _ in range(3):
            assert list(threads.map(twice, images)) == alone
        assert all(torch.equal(one, plain) for one in beside.result())


# ---- Where it is not for ----

def test_where_the_tokens_are_too_few_or_enough_its_way_decides(family):
    # What LLaVA's budget has beyond its one picture goes to parts, until all are shown.
    most = family.one + 2 * (family.one + family.around())
    enough = () if family.name == "llava" else ((family.every, {"full"}),)
    for budget in (most, most + 1000) if family.name == "llava" else ():
        pruned = hf.Pruner(family.model, family.processor, budget=budget, looks=2).prune(family.photo(), question=QUESTION)
        assert pruned.report.tokens == most and all(mask.all() for _, mask in pruned.report.seen)
    for budget, ways in ((5, {"smaller", "pruned", "pictures"}), *enough):
        pruned = hf.Pruner(family.model, family.processor, budget=budget, looks=2).prune(family.photo(), question=QUESTION)
        once = hf.Pruner(family.model, family.processor, budget=budget).prune(family.photo(), question=QUESTION)
        assert pruned.report.look is pruned.report.layer is pruned._prefix is None and torch.equal(pruned.input_ids, once.input_ids)
        assert family.tiled or pruned.report.pictures[0].way in ways
        assert pruned.report.tokens <= budget
        why = "a first look" if budget == 5 else "the tokens are enough for the full picture"
        assert pruned.report.once.startswith(why) and f"; one look: {why}" in repr(pruned.report) and once.report.once is None
    if family.name == "internvl":  # an image that is shown as one part has nothing more to see
        alone = hf.Pruner(family.model, family.processor, budget=12, looks=2).prune(photo(1, 40, 40), question=QUESTION)
        assert alone.report.look is None and "one part of the image" in alone.report.once


def test_refusals_come_in_one_line_and_first():
    family = Tiny()
    model, processor = family.model, family.processor
    with pytest.raises(tv.ArgumentError, match="looks is 3; it must be at most 2|looks is 3"):
        hf.Pruner(model, processor, budget=24, looks=3)
    for options in ({}, {"tolerance": 0.1}, {"strategy": "budget"}):
        with pytest.raises(tv.ArgumentError, match="looks=2 spends a budget or a share"):
            hf.Pruner(model, processor, looks=2, **options)
    with pytest.raises(tv.ArgumentError, match="it is not for way='smaller'"):
        hf.Pruner(model, processor, budget=24, way="smaller", looks=2)
    pruner = hf.Pruner(model, processor, share=0.4, looks=2)
    image = photo()
    with pytest.raises(tv.ArgumentError, match="there are 2 images and 0 videos in 1 conversations"):
        pruner.prune([image, image], question=QUESTION)
    with pytest.raises(tv.ArgumentError, match="there are 2 images and 0 videos in 2 conversations"):
        pruner.prune([own.user({"type": "image", "image": image}, own.WHAT)] * 2)
    with pytest.raises(tv.ArgumentError, match="needs a question"):
        pruner.prune(image)
    with pytest.raises(tv.ArgumentError, match="a batch has its pictures at one size already"):
        pruner.prune(pruner.batch_of(image, QUESTION))
    with pytest.raises(tv.ArgumentError, match="without a query"):
        pruner.prune(image, question=QUESTION, query=["words"])


def test_a_processor_may_change_meanwhile():
    family = Tiny()
    pruner = hf.Pruner(family.model, family.processor, budget=24, looks=2)
    pruner.prune(family.photo(), question=QUESTION)
    images = family.processor.image_processor
    smaller = {"shortest_edge": 28**2, "longest_edge": 30 * 28**2}
    images.max_pixels, images.size = smaller["longest_edge"], type(images.size)(**smaller)
    assert pruner.prune(family.photo(), question=QUESTION).report.full == [25]


def test_a_processor_of_images_alone_is_refused(family):
    with pytest.raises(tv.ArgumentError, match="looks=2 asks the model a question: the processor, a .*, has no tokenizer"):
        hf.Pruner(family.model, family.processor.image_processor, budget=24, looks=2)


def test_other_families_are_refused():
    model, processor = own.made(own.test_hf_prompt, own.gemma3)
    with pytest.raises(tv.ArgumentError, match="looks=2 is for qwen2_vl, .*, not for a gemma3"):
        hf.Pruner(model, processor, share=0.4, looks=2)


# ---- What can be done with the attention ----

def test_attention_is_drawn_and_steers_a_selection():
    pruned = Tiny().looked()
    drawn = np.asarray(tv.show(pruned))
    sides = [picture.shape[1] for picture, _ in pruned.report.seen]
    assert drawn.shape[1] == sides[0] + sum(sides) + 16
