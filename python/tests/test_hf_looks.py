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
from test_hf_ways import photo  # noqa: E402

hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
FAMILIES = [own.qwen2_5_vl, own.qwen3_vl]
QUESTION = "Which digit is in the red circle?"


def tiny(family="qwen2_vl"):
    """A model, its processor, and the side of a token in pixels."""
    if family == "qwen2_vl":
        processor = own.tiny.processor_of()
        return own.tiny.model_of(processor), processor, 28
    model, processor = own.made(test_hf, family)
    return model, processor, 32 if family is own.qwen3_vl else 28


@pytest.fixture(params=["qwen2_vl", *FAMILIES], ids=["qwen2_vl", "qwen2_5_vl", "qwen3_vl"])
def family(request):
    return tiny(request.param)


class Rows:
    """Counts what a model computes: rows of the encoder, and positions of the language model."""

    def __init__(self, model):
        self.encoder, self.positions = [], []
        model.model.visual.patch_embed.register_forward_hook(lambda module, given, made: self.encoder.append(len(given[0])))
        model.model.language_model.layers[0].mlp.register_forward_hook(lambda module, given, made: self.positions.append(given[0].shape[1]))


def looked(family, budget=24, **options):
    model, processor, side = family
    return hf.Pruner(model, processor, budget=budget, looks=2).prune(photo(width=6 * side, height=6 * side), question=QUESTION, **options)


# ---- What is shown ----

def test_a_small_picture_and_what_the_model_looks_at(family):
    model, _, _ = family
    pruned = looked(family)
    one, = pruned.report.pictures
    (small, whole), (_, kept) = pruned.report.seen
    assert one.way == "looks" and np.isnan(one.loss) and "loss" not in repr(pruned.report)
    assert whole.all() and small.shape[:2] != kept.shape and kept.shape == (6, 6)
    count = int(whole.sum()) + int(kept.sum())
    assert one.tokens == count + 2 == pruned.report.tokens == 24 and pruned.tokens == count
    assert int((pruned.input_ids == model.config.image_token_id).sum()) == count
    look = pruned.report.look
    assert look.shape == whole.shape and (look >= 0).all() and 0 < look.sum() < 1


def test_the_tokens_are_those_of_most_attention(family):
    """Of attention that a test makes up, the tokens under its peak are kept."""
    from texturevlm.hf import _looks
    plan = _looks.Plan((4, 4), (8, 8), 4)
    attention = np.zeros((4, 4), np.float32)
    attention[2, 1] = 1
    assert np.argwhere(_looks.places_of(attention, plan)).tolist() == [[4, 2], [4, 3], [5, 2], [5, 3]]


def test_attention_is_that_of_the_eager_model(family):
    model, processor, side = family
    pruned = looked(family)
    small = pruned.report.seen[0][0]
    batch = hf.Pruner(model, processor, share=1.0).batch_of(own.PIL.fromarray(small), QUESTION)
    model.set_attn_implementation("eager")
    layers = model(**batch, output_attentions=True).attentions
    there = batch["input_ids"][0] == model.config.image_token_id
    eager = layers[len(layers) // 2][0, :, -1][:, there].mean(0).reshape(pruned.report.look.shape)
    np.testing.assert_allclose(pruned.report.look, eager.numpy(), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(looked(family).report.look.shape, eager.shape)  # of an eager model, too


# ---- What is computed ----

def test_the_second_look_is_the_whole_prompt(family):
    """Its first logits, which begin with the first look's keys and values, are those of the whole prompt without a cache."""
    pruned = looked(family)
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


def test_nothing_is_computed_twice(family):
    model, _, _ = family
    merged = model.model.visual.spatial_merge_size**2
    rows = Rows(model)
    pruned = looked(family)
    first, second = (int(kept.sum()) for _, kept in pruned.report.seen)
    assert rows.encoder == [first * merged]
    length, = rows.positions
    pruned.generate(max_new_tokens=1, pad_token_id=0, eos_token_id=None)
    assert rows.encoder == [first * merged, second * merged]
    # The second prompt has the second picture's tokens more, and two beside them; of it the first picture's are not computed again.
    before = pruned._prefix[1]
    assert before > first and rows.positions == [length, length + second + 2 - before]
    assert pruned.input_ids.shape[1] == length + second + 2


def test_nothing_is_set_on_the_model(family):
    model, processor, side = family
    model.set_attn_implementation("sdpa")
    before = {name: dict(vars(module)) for name, module in model.named_modules() if name}
    batch = hf.Pruner(model, processor, share=1.0).batch_of(photo(width=4 * side, height=4 * side), QUESTION)
    plain = model(**batch).logits
    model.model.rope_deltas = None
    looked(family).generate(max_new_tokens=2, pad_token_id=0)
    assert model.model.rope_deltas is None and model.model.language_model.config._attn_implementation == "sdpa"
    assert all(vars(module).keys() == before[name].keys() for name, module in model.named_modules() if name)
    assert torch.equal(model(**batch).logits, plain)


def test_threads_do_not_mix(family):
    """Four threads look twice at pictures of their own, and a fifth asks the plain model."""
    model, processor, side = family
    pruner = hf.Pruner(model, processor, budget=24, looks=2)
    images = [photo(seed, 6 * side, 6 * side) for seed in range(4)]
    batch = hf.Pruner(model, processor, share=1.0).batch_of(images[0], QUESTION)
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

def test_where_the_tokens_are_too_few_or_enough_its_way_decides():
    model, processor, _ = tiny()
    image = photo(width=224, height=224)
    for budget, ways in ((4, {"smaller", "pruned", "pictures"}), (64, {"full"})):
        report = hf.Pruner(model, processor, budget=budget, looks=2).prune(image, question=QUESTION).report
        assert report.pictures[0].way in ways and report.look is None


def test_refusals_come_in_one_line_and_first():
    model, processor, _ = tiny()
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


def test_other_families_are_refused():
    model, processor = own.made(own.test_hf_prompt, own.gemma3)
    with pytest.raises(tv.ArgumentError, match="looks=2 is for qwen2_vl, .*, not for a gemma3"):
        hf.Pruner(model, processor, share=0.4, looks=2)


# ---- What can be done with the attention ----

def test_attention_is_drawn_and_steers_a_selection():
    pruned = looked(tiny())
    drawn = np.asarray(tv.show(pruned))
    sides = [picture.shape[1] for picture, _ in pruned.report.seen]
    assert drawn.shape[1] == sides[0] + sum(sides) + 16
