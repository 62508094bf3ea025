# SPDX-License-Identifier: Apache-2.0
"""Families whose pictures have all one size: fewer parts of an image, whole or without some tokens, never worse than a smaller picture."""
import numpy as np
import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 57):
    pytest.skip("before transformers 4.57 these processors have other rules", allow_module_level=True)
import test_hf_looks as looks  # noqa: E402  it skips without torchvision
from test_hf_looks import own, photo  # noqa: E402

hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
QUESTION = "What is there?"
ONE = 16  # tokens of a picture


@pytest.fixture(params=[name for name in looks.CUT if name in looks.FAMILIES])
def family(request):
    return looks.Tiny(request.param)


def pruned_of(family, images, question=QUESTION, **options):
    return hf.Pruner(family.model, family.processor, **options).prune(images, question=question)


def white(family):
    return own.PIL.new("RGB", family.size, "white")


def uneven(family):
    """A photo of which only the right end has anything in it."""
    pixels = np.full((*family.size[::-1], 3), 255, np.uint8)
    pixels[:, -family.size[0] // 4:] = np.asarray(family.photo())[:, -family.size[0] // 4:]
    return own.PIL.fromarray(pixels)


def count_of(family, pruned):
    return int((pruned.input_ids == family.model.config.image_token_id).sum())


def test_a_choice_is_never_predicted_to_be_worse_than_a_smaller_picture(family):
    for budget in range(1 + family.ends, family.every):
        report = pruned_of(family, family.photo(), budget=budget).report
        one, = report.pictures
        assert one in report.candidates[0] and one.loss == min(other.loss for other in report.candidates[0])
        assert one.tokens <= budget and report.full == [family.every]
        smaller = [other for other in report.candidates[0] if other.way == "smaller"]
        assert bool(smaller) == (budget >= ONE + family.ends) == (report.without is None)


def test_the_tokens_that_are_counted_are_those_of_the_prompt(family):
    text = family.length(2) - 2 * ONE - family.around() - family.ends
    for budget in (3, ONE + 1, 2 * ONE, 40, family.every - 1):
        pruned = pruned_of(family, family.photo(), looks.QUESTION, budget=budget)
        assert pruned.input_ids.shape[1] - text == pruned.report.tokens
        kept = sum(int(mask.sum()) for _, mask in pruned.report.seen)
        assert count_of(family, pruned) == pruned.tokens == kept + family.ends * len(pruned.report.seen)
        pruned.forward()


def test_what_fits_is_shown_as_without_us(family):
    plain = family.plain()
    for options in ({"budget": family.every}, {"share": 1.0}, {"tolerance": 0.0}):
        pruned = pruned_of(family, family.photo(), looks.QUESTION, **options)
        one, = pruned.report.pictures
        assert (one.way, one.tokens, one.loss) == ("full", family.every, 0.0) and torch.equal(pruned.input_ids, plain["input_ids"])
        torch.testing.assert_close(pruned.forward().logits, family.model(**plain).logits, rtol=0, atol=1e-5)


def test_the_pictures_are_those_of_the_image(family):
    """What the model computes of whole parts is what it computes of these pictures, given by hand."""
    pruned = pruned_of(family, family.photo(), looks.QUESTION, budget=2 * ONE + family.around() + family.ends, way="pictures")
    one, = pruned.report.pictures
    assert one.way == "pictures" and len(pruned.report.seen) == 2 and all(mask.all() for _, mask in pruned.report.seen)
    side = 4 * family.side
    small = np.asarray(family.photo().resize((side, side), family.processor.image_processor.resample))
    assert np.array_equal(pruned.report.seen[0][0], small)
    edge = getattr(family.processor.image_processor, "size", {}).get("height", side) if family.name == "internvl" else side
    assert edge == side  # parts of these models have no pixels beyond their tokens
    batch = family.whole([own.PIL.fromarray(np.ascontiguousarray(pixels)) for pixels, _ in pruned.report.seen])
    assert torch.equal(pruned.input_ids, batch["input_ids"])
    torch.testing.assert_close(pruned.forward().logits, family.model(**batch).logits, rtol=0, atol=1e-5)


def test_parts_with_something_in_them_are_shown(family):
    report = pruned_of(family, uneven(family), share=0.6, way="pictures").report
    _, *parts = report.seen
    assert report.pictures[0].way == "pictures" and all(np.asarray(pixels).std() > 10 for pixels, _ in parts)
    _, *parts = pruned_of(family, uneven(family), budget=ONE + 8 + family.around() + family.ends, way="pruned").report.seen
    shown = [pixels.reshape(4, family.side, 4, family.side, 3).transpose(0, 2, 1, 3, 4)[mask] for pixels, mask in parts]
    assert shown and all(np.ptp(token) > 10 for tokens in shown for token in tokens)


def test_as_few_as_are_needed(family):
    blank = pruned_of(family, white(family), tolerance="auto").report
    assert blank.tokens == 1 + family.ends and blank.pictures[0].loss <= 0.03
    before = 0
    for tolerance in (0.7, 0.4, 0.1, 0.03, 0.001):
        report = pruned_of(family, family.photo(), tolerance=tolerance).report
        assert before <= report.tokens <= family.every and report.pictures[0].loss <= tolerance
        assert report.tokens == min(one.tokens for one in report.candidates[0])
        before = report.tokens
    assert pruned_of(family, family.photo()).report.tokens == pruned_of(family, family.photo(), tolerance=0.03).report.tokens


def test_ways_by_name(family):
    for way in ("smaller", "pruned", "pictures"):
        report = pruned_of(family, family.photo(), share=0.7, way=way).report
        assert report.pictures[0].way == way and report.tokens <= round(0.7 * family.every)
    assert {one.way for one in pruned_of(family, family.photo(), share=0.7, way="cells").report.pictures} == {"cells"}


def test_a_budget_is_of_all_images_and_each_row_has_its_own(family):
    images = [family.photo(), white(family), family.photo(2)]
    for budget in (8, 50, 90, 3 * family.every):
        pruned = pruned_of(family, images, budget=budget)
        assert pruned.report.tokens <= budget and len(pruned.report.pictures) == 3
        pruned.forward()
    shared = pruned_of(family, images, budget=30).report.pictures
    assert shared[1].tokens <= 2 + family.ends < min(shared[0].tokens, shared[2].tokens)
    rows = [own.user({"type": "image", "image": image}, {"type": "text", "text": QUESTION}) for image in images[:2]]
    both = hf.Pruner(family.model, family.processor, budget=40).prune(rows)
    assert [one.tokens <= 40 for one in both.report.pictures] == [True] * 2
    alone = [pruned_of(family, image, budget=40) for image in images[:2]]
    assert [one.way for one in both.report.pictures] == [one.report.pictures[0].way for one in alone]
    logits = both.forward().logits[:, -1]
    for row, one in zip(logits, alone):
        torch.testing.assert_close(row, one.forward().logits[0, -1], rtol=0, atol=2e-5)


def test_a_blank_picture_leaves_its_tokens_to_the_others(family):
    for budget in (ONE // 2, ONE + 4, 2 * ONE):
        page, blank = pruned_of(family, [family.photo(), white(family)], budget=budget).report.pictures
        assert blank.tokens <= 3 and page.tokens >= budget - 3 - family.around() - family.ends or page.loss == 0


def test_what_is_reported_is_what_the_processor_makes_without_us(family):
    """Of one image and of several, whatever their shapes, and in rows: a share of it, and no token more than it."""
    sizes = ((56, 56), (60, 60), family.size, family.size[::-1], (40, 300), (300, 90))
    cases = [[photo(seed, *size)] for seed, size in enumerate(sizes)] + [[photo(1, *sizes[0]), photo(2, *sizes[2])], [family.photo()] * 3]
    for images in cases:
        plain = hf.Pruner(family.model, family.processor, share=1.0).batch_of(images, QUESTION)["input_ids"]
        every = int((plain == family.model.config.image_token_id).sum())
        for options in ({"share": 0.5}, {"share": 0.25}, {"share": 1.0}, {"budget": every}, {"budget": max(every // 3, 2 * len(images))},
                        {"tolerance": 0.0}, {"tolerance": 0.3}):
            pruned = pruned_of(family, images, **options)
            assert sum(pruned.report.full) == every, (options, images)
            most = options.get("budget", sum(max(round(options.get("share", 1.0) * full), 1 + family.ends) for full in pruned.report.full))
            assert count_of(family, pruned) <= pruned.report.tokens <= most, (options, images, pruned.report)
        for one in pruned.report.pictures:
            assert one.loss <= 0.3


def test_rows_of_which_one_would_fit_keep_their_budgets(family):
    images = [photo(1, 112, 56), photo(2, *family.size)]
    rows = [own.user({"type": "image", "image": image}, {"type": "text", "text": QUESTION}) for image in images]
    for budget in range(30, family.every + 12, 3):
        report = hf.Pruner(family.model, family.processor, budget=budget).prune(rows).report
        assert all(one.tokens <= budget for one in report.pictures), (budget, report)


def test_images_that_are_not_cut():
    family = looks.Tiny("smolvlm")
    family.processor.image_processor.do_image_splitting = False
    for options, tokens in (({"budget": 4}, 4), ({"share": 0.25}, 4), ({"share": 1.0}, ONE)):
        pruned = pruned_of(family, family.photo(), **options)
        assert pruned.report.full == [ONE] and pruned.report.tokens == tokens == count_of(family, pruned)


def test_a_rule_that_is_not_the_processors_is_refused(family, monkeypatch):
    from texturevlm.hf import _showing
    monkeypatch.setattr(_showing.Tiled, "grids", lambda self, width, height, several: ([(1, 1)], 999))
    with pytest.raises(tv.ArgumentError, match="the processor made .* tokens of pictures, where 999 were counted"):
        pruned_of(family, family.photo(), share=1.0)


def test_no_picture_is_smaller_than_one(family):
    with pytest.raises(tv.ArgumentError, match=f"a budget of {ONE - 1} tokens for 1 pictures; these need at least {ONE + family.ends}"):
        pruned_of(family, family.photo(), budget=ONE - 1, way="smaller")
    with pytest.raises(tv.ArgumentError, match="the processor makes no picture of at most . tokens"):
        pruned_of(family, family.photo(), share=0.06, way="smaller")


def test_a_budget_without_room_is_refused(family):
    least = 3 * (1 + family.ends)
    with pytest.raises(tv.ArgumentError, match=f"a budget of {least - 1} tokens for 3 pictures"):
        pruned_of(family, [family.photo()] * 3, budget=least - 1)
    assert pruned_of(family, [family.photo()] * 3, budget=least).report.tokens == least


def test_tokens_by_their_score_are_those_of_the_processors_own_pictures(family):
    for options in ({"strategy": "grid"}, {"way": "cells"}):
        pruned = pruned_of(family, family.photo(), share=0.5, **options)
        assert torch.equal(pruned._full, family_ids(family))


def family_ids(family):
    return hf.Pruner(family.model, family.processor, share=1.0).batch_of(family.photo(), QUESTION)["input_ids"]


@pytest.mark.skipif("llava_onevision" not in looks.FAMILIES, reason="it takes transformers 5.23")
def test_an_image_too_long_for_crops_is_refused():
    family = looks.Tiny("llava_onevision")
    for options in ({"share": 1.0}, {"way": "cells", "share": 0.5}):
        with pytest.raises(tv.ArgumentError, match="an image of 2000 x 20 pixels is so long that its crops have no tokens"):
            pruned_of(family, photo(0, 2000, 20), **options)
