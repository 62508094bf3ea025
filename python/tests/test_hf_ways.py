# SPDX-License-Identifier: Apache-2.0
"""Which picture a model is given: a smaller one, a finer one without some of its tokens, or the best cells."""
from types import SimpleNamespace

import numpy as np
import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")
from test_hf_messages import example  # noqa: E402  it skips where transformers or torchvision do not do

hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")

tiny = example("tiny_vlm")
PROCESSOR = tiny.processor_of()  # 4 to 64 tokens of 28 pixels
MODEL = tiny.model_of(PROCESSOR)


def photo(seed=1, width=448, height=448):
    """Noise that fades to one side."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=(height, width, 3)) * np.linspace(80, 4, width)[None, :, None]
    return Image.fromarray((128 + noise).clip(0, 255).astype("uint8"))


def page(width=448, height=448):
    """White, with strokes in a column of a quarter of its width."""
    pixels = np.full((height, width, 3), 255, "uint8")
    pixels[:, 28:28 + width // 4 - 28:4] = 20
    pixels[::7] = 255
    return Image.fromarray(pixels)


def pruner(**options):
    return hf.Pruner(MODEL, PROCESSOR, **options)


def image_tokens(pruned):
    return int((pruned.input_ids == MODEL.config.image_token_id).sum())


# ---- The choice ----

@pytest.mark.parametrize("image", [photo(), page(), photo(2, 600, 300)], ids=["photo", "page", "wide"])
@pytest.mark.parametrize("budget", [8, 16, 40])
def test_no_choice_is_predicted_to_be_worse_than_a_smaller_picture(image, budget):
    pruned = pruner(budget=budget).prune(image, question="what?")
    report = pruned.report
    smaller = next(one for one in report.candidates[0] if one.way == "smaller")
    assert report.pictures[0].loss <= smaller.loss and report.pictures[0].loss == min(one.loss for one in report.candidates[0])
    extra = 2 * (len(pruned._pictures["pixel_values"].full_grid) - 1)
    assert report.tokens == pruned.tokens + extra <= budget and pruned.tokens == image_tokens(pruned)
    assert smaller.tokens <= budget and smaller.columns * smaller.rows == smaller.tokens
    if budget == 16:
        assert pruner(budget=16, way="smaller").prune(image, question="what?").report.pictures == [smaller]


def test_a_smaller_picture_is_the_processors_own():
    """Its rule rounds down, so that for 30 tokens it makes a picture of 24: with a budget of 24 it is made, too."""
    image = photo(3, 500, 400)
    pruned = pruner(budget=24, way="smaller").prune(image, question="what?")
    theirs = transformers.Qwen2VLImageProcessor(min_pixels=4 * 784, max_pixels=30 * 784)(image, return_tensors="pt")
    one = pruned.report.pictures[0]
    assert [[1, 2 * one.rows, 2 * one.columns]] == theirs["image_grid_thw"].tolist()
    assert torch.allclose(pruned._pictures["pixel_values"].pixels, theirs["pixel_values"], atol=0.05)
    assert pruned.tokens == pruned.all_tokens == one.tokens == one.columns * one.rows


def test_paper_costs_nothing():
    """A page at its full size, without its blank tokens, loses nothing; a smaller picture of as many tokens does."""
    report = pruner(budget=24).prune(page(), question="what?").report
    chosen = report.pictures[0]
    assert chosen.way == "pruned" and chosen.tokens == 24 and report.full == [64]
    assert chosen.loss < 0.5 * next(one.loss for one in report.candidates[0] if one.way == "smaller")
    few = pruner(tolerance=0.001).prune(page(), question="what?").report.pictures[0]
    assert few.loss <= 0.001 and few.tokens < 40


def test_the_tokens_are_those_of_the_prediction():
    image = photo(4)
    pruned = pruner(budget=20, way="pruned").prune(image, question="what?")
    one = pruned.report.pictures[0]
    kept = pruned._pictures["pixel_values"].kept.reshape(one.rows, one.columns)
    assert int(kept.sum()) == 20 and kept[:, 0].all() and not kept[:, -1].all()  # where there is most to see


def spots(seed=20, width=448, height=448):
    """Gray, with two small places of noise, which a small picture does not show."""
    random = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), 128, "uint8")
    pixels[::40] = 150
    for left, top in ((56, 112), (336, 280)):
        pixels[top:top + 56, left:left + 56] = random.integers(0, 256, (56, 56, 3))
    return Image.fromarray(pixels)


@pytest.mark.parametrize("budget", [24, 36])
def test_crops_show_what_a_small_picture_does_not(budget):
    """Where there is most to see, at the size of the full picture; the rest in a small one."""
    pruned = pruner(budget=budget, way="pictures").prune(spots(), question="what?")
    one = pruned.report.pictures[0]
    grids = pruned._pictures["pixel_values"].full_grid
    assert one.way == "pictures" and len(grids) > 1 and one.loss < next(c.loss for c in pruned.report.candidates[0] if c.way == "smaller")
    assert one.tokens == pruned.tokens + 2 * (len(grids) - 1) <= budget
    assert grids[0].tolist() == [1, 2 * one.rows, 2 * one.columns] and (grids[1:, 1] * grids[1:, 2] >= 16).all()
    with torch.no_grad():
        plain = pruned.forward().logits
    assert plain.shape[1] == pruned.input_ids.shape[1] and torch.isfinite(plain).all()


def test_a_crop_is_that_part_of_the_full_picture():
    from texturevlm import _cut
    full = spots().resize((224, 224), Image.BICUBIC)
    found = _cut.cut(np.asarray(full), 28, 4, None, tokens=24)
    assert found is not None and found.tokens <= 24
    for crop in found.crops:
        left, top, right, bottom = crop.box
        assert 0 <= left < right and 0 <= top < bottom and left < 224 and top < 224 and crop.columns * crop.rows >= 4
        shown = _cut.crop_of(full, crop, 28, Image.BICUBIC)
        assert shown.size == (28 * crop.columns, 28 * crop.rows)
        if shown.size == (right - left, bottom - top) and right <= 224 and bottom <= 224:
            assert np.array_equal(np.asarray(shown), np.asarray(full)[top:bottom, left:right])
    flat = np.full((224, 224, 3), 90, "uint8")
    assert _cut.cut(flat, 28, 4, None, tokens=24) is None


def test_rectangles_cover_cells_once():
    from texturevlm._cut import _grown, _rectangles
    cells = {(x, y) for x in range(3) for y in range(2)} | {(4, 0), (1, 2), (9, 9)}
    boxes = _rectangles(cells)
    covered = [(x, y) for left, top, right, bottom in boxes for x in range(left, right) for y in range(top, bottom)]
    assert sorted(covered) == sorted(cells) and (0, 0, 3, 2) in boxes
    assert _grown((9, 9, 10, 10), 4, 10, 10) == (8, 8, 10, 10) and _grown((0, 0, 1, 1), 4, 10, 10) == (0, 0, 2, 2)
    assert _grown((0, 0, 1, 1), 4, 8, 1) == (0, 0, 4, 1) and _grown((0, 0, 1, 1), 4, 3, 1) is None


def test_a_tolerance_takes_as_few_as_needed():
    counts = []
    for tolerance in (0.6, 0.2, 0.05, "auto", 0.001):
        report = pruner(tolerance=tolerance).prune(photo(5), question="what?").report
        limit = 0.03 if tolerance == "auto" else tolerance
        one = report.pictures[0]
        assert one.loss <= limit or one.way == "full"
        assert one.tokens == min(other.tokens for other in report.candidates[0])
        counts.append(one.tokens)
    assert counts == sorted(counts) and counts[0] < counts[-1]
    assert pruner().prune(photo(5), question="what?").tokens == pruner(tolerance="auto").prune(photo(5), question="what?").tokens == counts[3]


def test_a_share_is_of_each_pictures_own_tokens():
    report = pruner(share=0.25).prune([photo(6), photo(7, 300, 300)], question="which?").report
    assert all(0.2 * full < one.tokens <= 0.25 * full + 1 for one, full in zip(report.pictures, report.full))


def test_a_budget_is_shared_by_what_is_lost():
    """A page with little on it leaves its tokens to the photo; each conversation has a budget of its own."""
    flat = Image.fromarray(np.full((448, 448, 3), 200, "uint8"))
    report = pruner(budget=40).prune([photo(8), flat], question="which?").report
    assert report.tokens <= 40 and report.pictures[0].tokens > 3 * report.pictures[1].tokens
    alone = pruner(budget=40).prune(photo(8), question="which?").report.pictures[0].tokens
    chats = [[{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": "what?"}]}]
             for image in (photo(8), photo(9))]
    both = pruner(budget=40).prune(chats).report
    assert [one.tokens for one in both.pictures] == [alone, both.pictures[1].tokens] and both.tokens > 40
    with pytest.raises(tv.ArgumentError, match="a budget of 1 tokens for 2 pictures"):
        pruner(budget=1).prune([photo(8), flat], question="which?")


def test_more_tokens_than_there_are_change_nothing():
    image = photo(10)
    pruned = pruner(budget=64).prune(image, question="what?")
    plain = pruner().batch_of(image, "what?")
    assert pruned.report.pictures[0].way == "full" and torch.equal(pruned.input_ids, plain["input_ids"])
    with torch.no_grad():
        assert torch.allclose(pruned.forward().logits, MODEL(**plain).logits, atol=2e-4)


# ---- Exact, whatever was chosen ----

@pytest.mark.parametrize("way", ["smaller", "pruned", "cells"])
def test_the_model_computes_what_it_computes_of_the_masked_picture(way):
    """The logits are those of the chosen picture's full prompt with the dropped tokens masked (test_hf.py says what that is)."""
    image = photo(11)
    pruned = pruner(budget=20, way=way).prune(image, question="what?")
    one = pruned.report.pictures[0]
    assert one.way == way and one.tokens == image_tokens(pruned)
    again = hf.prune_batch(MODEL, pruner().batch_of(image.resize((28 * one.columns, 28 * one.rows), Image.BICUBIC), "what?"),
                           [pruned._pictures["pixel_values"].kept])
    with torch.no_grad():
        assert torch.equal(pruned.forward().logits, again.forward().logits)
    assert torch.equal(pruned.generate(max_new_tokens=3, do_sample=False), again.generate(max_new_tokens=3, do_sample=False))


def test_the_best_cells_are_those_of_the_score():
    image = photo(12)
    kept = pruner(share=0.3, way="cells").prune(image, question="what?")._pictures["pixel_values"].kept
    batch = pruner().batch_of(image, "what?")
    expected = hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], processor=PROCESSOR, share=0.3, way="cells")[0]
    assert (kept.nonzero()[:, 0] == expected).float().mean() > 0.9  # of Pillow's pixels here, of torchvision's there


# ---- Images as the processor reads them ----

def seen_through():
    """Ink on transparent paper, whose hidden colour is black."""
    pixels = np.zeros((252, 308, 4), "uint8")
    pixels[60:200, 60:200] = (200, 30, 30, 255)
    pixels[100:120] = (10, 90, 200, 120)
    return Image.fromarray(pixels)


def with_transparency():
    """As a GIF or a PNG has it: one colour of the palette is transparent."""
    image = seen_through().convert("RGB").convert("P", palette=Image.ADAPTIVE)
    image.info["transparency"] = image.getpixel((0, 0))
    return image


IMAGES = {
    **{mode: lambda mode=mode: seen_through().convert(mode) for mode in ("RGBA", "LA", "L", "1", "CMYK", "I", "F")},
    "P": with_transparency,
    "RGB": lambda: (lambda image: image.info.update(transparency=(0, 0, 0)) or image)(seen_through().convert("RGB")),
    "floats": lambda: np.asarray(photo(21, 252, 308)).astype("float32"),
    "tenths": lambda: np.asarray(photo(21, 252, 308)) / np.float32(10),
    "to 1": lambda: np.asarray(photo(21, 252, 308)) / np.float32(255),
    "int64": lambda: np.asarray(photo(21, 252, 308)).astype("int64"),
    "gray": lambda: np.asarray(photo(21, 252, 308).convert("L")),
    "gray, one channel": lambda: np.asarray(photo(21, 252, 308).convert("L"))[:, :, None],
    "RGBA, array": lambda: np.asarray(seen_through()),
    "tensor": lambda: torch.from_numpy(np.asarray(photo(21, 252, 308)).copy()).permute(2, 0, 1),
    "uint16": lambda: np.asarray(photo(21, 252, 308)).astype("uint16") * 257,
}


def rows_or_error(call):
    try:
        return call(), None
    except tv.ArgumentError as error:
        assert "\n" not in str(error)
        return None, error


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_seen_as_the_model_sees_it_without_us(name):
    """To the bit where it stays as it is; else it is resized from the same pixels. What the processor refuses is refused."""
    image = IMAGES[name]()
    plain, refused = rows_or_error(lambda: pruner().batch_of(image, "what?")["pixel_values"])
    pruned, error = rows_or_error(lambda: pruner(share=1.0).prune(image, question="what?"))
    assert (refused is None) == (error is None), (refused, error)
    if pruned is None:
        return
    assert torch.equal(pruned._pictures["pixel_values"].pixels, plain)
    from texturevlm.hf import _tokens
    shown = pruner(share=0.98, way="pruned").prune(image, question="what?").report.seen[0][0]
    images = PROCESSOR.image_processor
    theirs = next(iter(_tokens._stills(plain, pruned._pictures["pixel_values"].full_grid, 2, None, 2, images.image_mean, images.image_std)))[0]
    apart = np.abs(shown.astype(int) - theirs.numpy().astype(int))
    assert apart.max() <= 16 and apart.mean() <= 0.5  # Pillow's resizer here; torchvision's there, which does not round floats between


def test_floats_that_the_processor_does_not_rescale():
    import copy
    processor = copy.deepcopy(PROCESSOR)
    processor.image_processor.do_rescale = False
    image = np.asarray(photo(22)) / np.float32(255)
    plain = hf.Pruner(MODEL, processor).batch_of(image, "what?")["pixel_values"]
    for share in (1.0, 0.98):
        pruned = hf.Pruner(MODEL, processor, share=share, way="pruned").prune(image, question="what?")
        picture = pruned._pictures["pixel_values"]
        rows = plain[picture.kept.repeat_interleave(4)]
        assert (picture.pixels - rows).abs().mean() < 0.01 and (share < 1 or torch.equal(picture.pixels, plain))


def test_values_that_are_no_bytes_are_named():
    for values, line in (((photo_of := np.asarray(photo(23))).astype("int32") * 257, "image 1 has values .* the processor takes 0 .. 255"),
                         (photo_of - np.float32(128), "image 1 has values -.*; the processor takes")):
        for call in (pruner().batch_of, lambda images, text: pruner(budget=9).prune(images, question=text)):
            with pytest.raises(tv.ArgumentError, match=line):
                call([photo(), values], "what?")
    with pytest.warns(tv.TexturevlmWarning, match="image 0 has floats up to 1, .*: it is nearly black"):
        pruner().batch_of(photo_of / np.float32(photo_of.max()), "what?")
    for images, number in (([photo(), np.zeros((60, 60, 2), "uint8")], 1), ([np.zeros((2, 3, 4, 5, 6), "uint8")], 0)):
        with pytest.raises(tv.ArgumentError, match=f"image {number} is no picture"):
            pruner(budget=9).prune(images, question="what?")
        with pytest.raises(tv.ArgumentError, match="image 0 is no picture"):
            pruner(budget=40, looks=2).prune(images[-1:], question="what?")


# ---- Tensors at hand ----

def test_of_a_batch_the_tokens_that_lose_least_are_left_out():
    batch = pruner().batch_of(page(), "what?")
    pruned = pruner(budget=24).prune(batch)
    one = pruned.report.pictures[0]
    assert (one.way, one.tokens, one.columns, one.rows) == ("pruned", 24, 8, 8) and pruned.tokens == 24
    assert "24 of 64 tokens" in repr(pruned) and one.loss < 0.02
    keep = hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], processor=PROCESSOR, budget=24)[0]
    assert torch.equal(pruned._pictures["pixel_values"].kept.nonzero()[:, 0], keep)
    least = hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], processor=PROCESSOR, tolerance=0.001)[0]
    assert len(least) < 40


def test_rows_of_a_batch_have_budgets_of_their_own():
    chats = [[{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": "what?"}]}]
             for image in (photo(13), photo(14), page())]
    report = pruner(budget=16).prune(pruner().batch_of(chats)).report
    assert [one.tokens for one in report.pictures] == [16, 16, 16]


def test_a_budget_of_cells_takes_those_of_the_best_score():
    """Of one picture as many as it says; several share them by what they lose, and rows have one each."""
    batch = pruner().batch_of(photo(15), "what?")
    options = {"processor": PROCESSOR, "way": "cells"}
    keep = hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], budget=16, **options)[0]
    assert torch.equal(keep, hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], share=0.25, **options)[0])
    assert torch.equal(keep, hf.select_tokens(batch["pixel_values"], batch["image_grid_thw"], processor=PROCESSOR, k=16)[0])
    pruned = pruner(budget=16, way="cells").prune(batch)
    one = pruned.report.pictures[0]
    assert (one.way, one.tokens) == ("cells", 16) and torch.equal(pruned._pictures["pixel_values"].kept.nonzero()[:, 0], keep)
    assert 0 < hf.Pruner(MODEL, PROCESSOR, budget=16, way="pruned").prune(batch).report.pictures[0].loss <= one.loss
    both = pruner().batch_of([photo(16), Image.fromarray(np.full((448, 448, 3), 200, "uint8"))], "which?")
    counts = [len(tokens) for tokens in hf.select_tokens(both["pixel_values"], both["image_grid_thw"], budget=40, **options)]
    assert sum(counts) == 40 and counts[0] > 3 * counts[1]
    chats = [[{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": "what?"}]}] for image in (photo(17), page())]
    assert [one.tokens for one in pruner(budget=16, way="cells").prune(pruner().batch_of(chats)).report.pictures] == [16, 16]


def test_tokens_that_cannot_be_measured_share_a_budget_by_their_number():
    values = torch.rand(2, 3, 240, 240, generator=torch.Generator().manual_seed(2))
    found = hf.select_tokens(values, patch=80, mean=[0] * 3, std=[1] * 3, budget=6, way="cells")
    assert [len(tokens) for tokens in found] == [3, 3]
    with pytest.raises(tv.ArgumentError, match="80 x 80 pixels cannot be measured, .*: give way=\"cells\""):
        hf.select_tokens(values, patch=80, mean=[0] * 3, std=[1] * 3, budget=6)


def test_of_as_few_tokens_the_choice_loses_least():
    from texturevlm._ways import Candidate, Measured, Rule

    class Prediction:
        """A smaller picture of 4 tokens, and 4 of a larger one, which lose less."""
        pictures = [(2, 2), (4, 4)]
        loss = staticmethod(lambda index, kept=None: (0.1, 0.0)[index])
        least = staticmethod(lambda index, tolerance: (None, 4)[index])
        keep = staticmethod(lambda index, count: (None, 0.05))

    one = Measured.__new__(Measured)
    one.rule, one.sizes, one.prediction = Rule(28, 784, 784 * 16, None, several=False), Prediction.pictures, Prediction()
    one.full = (4, 4)
    assert one.within(0.1, "auto")[0] == Candidate("pruned", 4, 4, 4, 0.05)


# ---- Refusals ----

@pytest.mark.parametrize("options, line", [
    ({"budget": 3, "share": 0.3}, "budget and share exclude each other"),
    ({"budget": 3, "share": 0.3, "tolerance": 0.1}, "budget and share and tolerance exclude each other"),
    ({"budget": 0}, "budget is 0"),
    ({"budget": "many"}, "budget is 'many', not a whole number"),
    ({"share": 1.5}, "share is 1.5; it must be at most 1"),
    ({"share": 0}, "share is 0.0; it must be above 0"),
    ({"tolerance": 2}, "tolerance is 2; it must be at most 1"),
    ({"tolerance": -1}, "tolerance is -1"),
    ({"tolerance": "some"}, "tolerance is 'some', not a number"),
    ({"way": "best"}, "there is no way 'best'; it is one of auto, smaller, pruned, pictures, cells"),
    ({"tolerance": 0.1, "way": "cells"}, "a tolerance is for pictures, not for the way cells"),
    ({"k": 5, "budget": 3}, "k is for tokens that are chosen by their score: budget is not for it"),
    ({"strategy": "budget", "tolerance": 0.1}, "strategy is for tokens that are chosen by their score: tolerance is not for it"),
])
def test_what_does_not_fit_is_refused_before_any_image(options, line):
    with pytest.raises(tv.Error, match=line):
        pruner(**options)


def test_a_batch_has_its_pictures_at_one_size():
    batch = pruner().batch_of(photo(), "what?")
    for way in ("smaller", "pictures"):
        with pytest.raises(tv.ArgumentError, match=f"at one size already: .* for the way {way}"):
            pruner(budget=9, way=way).prune(batch)
    with pytest.raises(tv.ArgumentError, match="a question is for images"):
        pruner(budget=9).prune(batch, question="what?")


def test_a_picture_smaller_than_the_processor_makes_is_refused_by_name():
    with pytest.raises(tv.ArgumentError, match="makes no picture of at most 3 tokens"):
        pruner(budget=3, way="smaller").prune(photo(), question="what?")
    report = pruner(budget=3).prune(photo(), question="what?").report
    assert report.pictures[0].way == "pruned" and "the processor makes none of so few tokens of picture 0" in repr(report)
    assert pruner(budget=20).prune(photo(), question="what?").report.without is None
    with pytest.raises(tv.MissingFileError, match="image 0, 'nowhere.jpg'"):
        pruner(budget=3).prune("nowhere.jpg", question="what?")


def test_features_need_a_query():
    with pytest.raises(tv.ArgumentError, match="features are what a query is compared with"):
        pruner(share=0.5).prune(pruner().batch_of(photo(), "what?"), features=[np.ones((4, 4, 8), "float32")])


def test_an_image_of_another_shape_is_refused():
    with pytest.raises(tv.ArgumentError, match="image 0 is no picture"):
        pruner(budget=9).prune(np.zeros((2, 3, 4, 5, 6), "uint8"), question="what?")


def test_limits_are_those_that_the_processor_resizes_by():
    from texturevlm.hf import _ways
    class Both:
        min_pixels, max_pixels, size = 3136, 50176, {"shortest_edge": 1, "longest_edge": 2}
    class Entries:
        min_pixels, max_pixels, size = None, None, {"shortest_edge": 3136, "longest_edge": 12845056}
    assert _ways._limits(Both()) == (3136, 50176) and _ways._limits(Entries()) == (3136, 12845056) and _ways._limits(object()) is None


def test_families_of_one_size_say_so():
    import test_hf_prompt
    model = test_hf_prompt.model_of("llava")
    for way in ("smaller", "pictures"):
        with pytest.raises(tv.ArgumentError, match=f"a llava has pictures of one size, .*: it has no way {way}"):
            hf.Pruner(model, test_hf_prompt.Processor(), share=0.3, way=way)
    batch = test_hf_prompt.batch_of("llava", *test_hf_prompt.PROMPTS["an image"])
    batch["pixel_values"] = batch["pixel_values"].clamp(-1, 1)
    report = hf.Pruner(model, test_hf_prompt.Processor(), share=0.3).prune(batch).report
    assert "not compared with a smaller picture" in repr(report)


def test_what_the_model_sees_is_drawn():
    pruned = pruner(budget=24).prune(page(), question="what?")
    drawn = np.asarray(tv.show(pruned))
    one = pruned.report.pictures[0]
    assert drawn.shape == (28 * one.rows, 28 * one.columns, 3) and drawn.min() < 200
    kept = pruned._pictures["pixel_values"].kept.reshape(one.rows, one.columns).numpy()
    faded = drawn.reshape(one.rows, 28, one.columns, 28, 3)[~kept.astype(bool)[:, None, :, None].repeat(28, 1).repeat(28, 3)]
    assert faded.min() >= 255 - 255 // 8
    several = pruner(budget=36, way="pictures").prune(spots(), question="what?")
    wide = np.asarray(tv.show(several)).shape[1]
    assert wide == sum(pixels.shape[1] + 8 for pixels, _ in several.report.seen) - 8
    batch = pruner(budget=24).prune(pruner().batch_of(page(), "what?"))
    assert np.asarray(tv.show(batch)).shape == (224, 224, 3)
    with pytest.raises(tv.ArgumentError, match="it has no report to draw"):
        tv.show(pruner(share=0.2, strategy="grid").prune(pruner().batch_of(page(), "what?")))
    with pytest.raises(tv.ArgumentTypeError, match="not a texturevlm.Selection"):
        tv.show(page())


@pytest.mark.parametrize("name, side, options", [
    ("Qwen2VLImageProcessor", 28, {}),
    ("Qwen2VLImageProcessor", 32, {"patch_size": 16, "min_pixels": 65536, "max_pixels": 4194304}),  # Qwen3-VL's
    ("Glm4vImageProcessor", 28, {})])
def test_sizes_are_those_that_processors_make(name, side, options):
    """Of an image, and of a picture that has such a size already, which the processor leaves as it is."""
    from texturevlm.hf import _ways
    processor = getattr(transformers, name, None)
    if processor is None:
        pytest.skip(f"transformers {transformers.__version__} has no {name}")
    images, random = processor(**options), np.random.default_rng(3)
    rule = _ways.rule_of(images, side)

    def made(width, height):
        grid = images(images=Image.new("RGB", (width, height)), return_tensors="pt")["image_grid_thw"][0].tolist()
        return grid[2] // images.merge_size, grid[1] // images.merge_size

    for width, height in random.integers(40, 700, (8, 2)).tolist():
        assert rule.size(width, height) == made(width, height)
        for tokens in (1, 9, 30, 100):
            columns, rows = rule.size(width, height, tokens)
            assert made(columns * side, rows * side) == (columns, rows)
            assert columns * rows <= max(tokens, -(-rule.least // side**2) * 2)
    images.do_resize = False
    assert _ways.rule_of(images, side) is None


def test_sizes_of_pictures_for_a_server_are_those_that_processors_make():
    """tv.pictures counts the tokens of a picture that stays as it is, and sends others at sizes that stay as they are."""
    from texturevlm import _pictures
    rule = _pictures.serving_of(least=8, most=300).rule
    images, random = transformers.Qwen2VLImageProcessor(min_pixels=8 * 784, max_pixels=300 * 784), np.random.default_rng(4)

    def made(width, height):
        grid = images(images=Image.new("RGB", (width, height)), return_tensors="pt")["image_grid_thw"][0].tolist()
        return grid[2] // 2, grid[1] // 2

    for width, height in [(5, 7), (84, 56), *random.integers(20, 900, (12, 2)).tolist()]:
        assert rule.size(width, height) == made(width, height)
        for tokens in (8, 30, 100):
            columns, rows = rule.size(width, height, tokens)
            assert made(columns * 28, rows * 28) == (columns, rows)


def test_k_works_with_a_warning():
    with pytest.warns(tv.TexturevlmWarning, match="k of a Pruner goes with version 0.4: budget says"):
        assert pruner(k=7).prune(pruner().batch_of(page(), "what?")).tokens == 7
    batch = pruner().batch_of(page(), "what?")
    given = {"pixel_values": batch["pixel_values"], "grid": batch["image_grid_thw"], "processor": PROCESSOR}
    with pytest.warns(tv.TexturevlmWarning, match="k of select_tokens goes with version 0.4: budget says"):
        assert [len(tokens) for tokens in hf.select_tokens(**given, k=7)] == [7]


def test_a_preset_is_the_strategy_budget_with_a_warning():
    batch = pruner().batch_of(photo(), "what?")
    given = {"pixel_values": batch["pixel_values"], "grid": batch["image_grid_thw"], "processor": PROCESSOR, "share": 0.3}
    wanted = hf.select_tokens(**given, strategy="budget")[0]
    with pytest.warns(tv.TexturevlmWarning, match="preset of select_tokens goes with version 0.4: strategy=\"budget\" takes its place"):
        assert torch.equal(hf.select_tokens(**given, preset="document")[0], wanted)
    with pytest.warns(tv.TexturevlmWarning, match="preset of a Pruner goes with version 0.4"):
        old = pruner(share=0.3, preset="document")
    assert torch.equal(old.prune(batch)._pictures["pixel_values"].kept.nonzero()[:, 0], wanted)


# ---- What was meant otherwise ----

def test_a_choice_that_fits_no_picture_is_refused():
    batch, text = pruner().batch_of(page(), "what?"), pruner().batch_of([{"role": "user", "content": "what?"}])
    tokens = int((batch["input_ids"] == MODEL.config.image_token_id).sum())
    for given, keep in ((batch, {"keep_videos": [torch.tensor([1])]}), (text, {"keep": [torch.tensor([1])]})):
        with pytest.raises(tv.ArgumentError, match=f"{next(iter(keep))} is given, and the batch has no pixel_values"):
            hf.prune_batch(MODEL, given, **keep)
    for wrong in (tokens - 1, tokens + 1):
        with pytest.raises(tv.ArgumentError, match=f"bools of the shape .{wrong},.; the picture has {tokens} tokens"):
            hf.prune_batch(MODEL, batch, [torch.ones(wrong, dtype=torch.bool)])
    assert hf.prune_batch(MODEL, batch, [torch.ones(tokens, dtype=torch.bool)]).tokens == tokens
    assert hf.prune_batch(MODEL, text, []).tokens == 0
    with pytest.raises(tv.ArgumentTypeError, match="not a tensor: the processor's call needs return_tensors"):
        hf.select_tokens([batch["pixel_values"]], patch=14)
    with pytest.raises(tv.ArgumentError, match="pixel_values have no pictures"):
        hf.select_tokens(torch.zeros(0, 3, 56, 56), patch=14, mean=[0.5] * 3, std=[0.5] * 3)


def test_the_tolerance_is_auto_where_nothing_is_asked():
    batch = pruner().batch_of([page(), photo()], "what?")
    values, grid = batch["pixel_values"], batch["image_grid_thw"]

    def counts(**asked):
        return [len(tokens) for tokens in hf.select_tokens(values, grid, processor=PROCESSOR, **asked)]

    assert counts() == counts(tolerance="auto") == counts(way="pruned") != counts(share=0.25)
    quarter = [round(h * w / 16) for _, h, w in grid.tolist()]
    for by_score in ({"way": "cells"}, {"strategy": "budget"}, {"strategy": "grid"}, {"weights": [1, 0, 0]}):
        assert counts(**by_score) == quarter
    slots = grid * grid.new_tensor([2, 1, 1])
    assert [len(tokens) for tokens in hf.select_tokens(values.repeat(2, 1), slots, processor=PROCESSOR)] == [2 * count for count in quarter]


@pytest.mark.parametrize("writes", [{}, {"image_token": "<image>"}, {"image_token_id": 3}], ids=str)
def test_pictures_without_a_grid_may_be_an_encoders(writes):
    """Who must have as many of each, unless the processor is one of prompts."""
    processor = SimpleNamespace(image_processor=SimpleNamespace(image_mean=[0.5] * 3, image_std=[0.5] * 3), **writes)
    values = torch.stack([torch.from_numpy(np.asarray(picture.resize((112, 112))).copy()) for picture in (page(), photo())])
    values = values.permute(0, 3, 1, 2).float() / 127.5 - 1
    found = [len(tokens) for tokens in hf.select_tokens(values, patch=14, processor=processor)]
    asked = {"tolerance": "auto"} if writes else {"share": 0.25}
    assert found == [len(tokens) for tokens in hf.select_tokens(values, patch=14, processor=processor, **asked)]
    assert (found[0] == found[1] == 16) != bool(writes)


def test_the_best_cells_are_a_quarter_where_nothing_is_asked():
    of_cells = pruner(way="cells")
    for image in (photo(), page()):
        shown = of_cells.prune(image, question="what?")
        all_tokens = shown.report.full[0]
        assert shown.report.pictures[0].way == "cells" and shown.tokens == round(all_tokens / 4)
        assert of_cells.prune(of_cells.batch_of(image, "what?")).tokens == shown.tokens


def test_text_goes_to_who_reads_it():
    from texturevlm.hf import _messages

    class Encoder:
        """A processor of an encoder: with a tokenizer that knows no token for images, or with none."""

        def __init__(self, words):
            if words is not None:
                self.tokenizer = type("Tokenizer", (), {"get_vocab": lambda self: dict.fromkeys(words, 0)})()

        def __call__(self, **given):
            return {"pixel_values": 0, **given}

    for words, text in (([], "a cat"), (["<image>"], "<image>a cat")):
        assert _messages.batch_of(Encoder(words), photo(), "a cat", {})["text"] == [text]
    assert "text" not in _messages.batch_of(Encoder(None), photo(), None, {})
    with pytest.raises(tv.ArgumentError, match="a Encoder, has no tokenizer: it takes images without text"):
        _messages.batch_of(Encoder(None), photo(), "a cat", {})
    for options in ({"processor_kwargs": 5}, {"images_kwargs": [1]}, {"processor_kwargs": {"images_kwargs": 3}}):
        with pytest.raises(tv.ArgumentTypeError, match="_kwargs is .*, not a dict of options"):
            pruner().batch_of(photo(), "what?", **options)


def test_threads_share_a_processor():
    """Batches of several chats, which are padded, beside plain calls, which are not."""
    import sys
    import threading
    chat = [{"role": "user", "content": [{"type": "text", "text": "what is this, and where? " * 20}]}]
    several, wrong = [chat, [{"role": "user", "content": "no"}]], []
    right = pruner().batch_of(several)
    plain = PROCESSOR.apply_chat_template(chat, tokenize=True, return_dict=True, return_tensors="pt", add_generation_prompt=True)

    def work(call, expected):
        try:
            for _ in range(40):
                assert torch.equal(call()["input_ids"], expected["input_ids"])
        except Exception as error:
            wrong.append(repr(error)[:200])

    calls = [(lambda: pruner().batch_of(several), right), (lambda: pruner().batch_of(chat), plain),
             (lambda: PROCESSOR.apply_chat_template(chat, tokenize=True, return_dict=True, return_tensors="pt", add_generation_prompt=True), plain)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=call) for call in calls + calls[2:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong, wrong[:3]


def test_where_an_offloaded_model_takes_its_input():
    from texturevlm.hf import _pruner
    model = torch.nn.Sequential(torch.nn.Linear(2, 2, device="meta"))
    assert _pruner._device_of(model) is None
    model[0]._hf_hook = type("Hook", (), {"execution_device": "cpu"})()
    assert _pruner._device_of(model) == torch.device("cpu")
    assert _pruner._device_of(torch.nn.Linear(2, 2)) == torch.device("cpu")
