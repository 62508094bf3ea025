# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf: the sizes of videos, and what is kept of them."""
import numpy as np
import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from test_hf_messages import NEW, PIL, own, pruner, tiny, user  # noqa: E402,F401  it skips where transformers does not do
from texturevlm import hf  # noqa: E402
from texturevlm.hf import _films  # noqa: E402

pytestmark = pytest.mark.usefixtures("no_gradients")
WHAT = {"type": "text", "text": "What is this?"}
SHAPE = _films._Shape(14, 2, 2)


def scene(slots=8, size=168, moving=28, seed=3):
    """Frames of a still texture with a thing that moves; moving None: all of it is new in each slot."""
    random = np.random.default_rng(seed)
    ground = np.kron(random.integers(0, 256, (size // 4, size // 4, 3)), np.ones((4, 4, 1))).astype(np.uint8)
    frames = []
    for slot in range(slots):
        frame = ground.copy()
        if moving is None:
            frame = np.kron(random.integers(0, 256, (size // 28, size // 28, 3)), np.ones((28, 28, 1))).astype(np.uint8)
        elif moving:
            left = slot * moving % size
            frame[moving:2 * moving, left:left + moving] = random.integers(0, 256, (moving, min(moving, size - left), 3))
        frames += [frame, frame]
    return np.stack(frames)


def said(frames):
    return user({"type": "video", "video": frames}, WHAT)


def test_frames_and_patches_are_each_others_inverse():
    pixels = torch.rand(2 * 6 * 8, 3 * 2 * 14 * 14)
    frames = SHAPE.frames(pixels, (2, 6, 8))
    assert frames.shape == (2, 2, 3, 84, 112) and torch.equal(SHAPE.patches(frames), pixels)


def test_frames_are_those_of_the_processor(pruner):
    frames = scene()
    batch = own(pruner.processor, said(frames), do_sample_frames=False)
    found = SHAPE.frames(batch["pixel_values_videos"], tuple(batch["video_grid_thw"][0].tolist()))
    videos = pruner.processor.video_processor
    mean, std = (torch.tensor(value).view(3, 1, 1) for value in (videos.image_mean, videos.image_std))
    expected = (torch.from_numpy(frames[5]).permute(2, 0, 1) / 255 - mean) / std
    height, width = found.shape[-2:]
    if (height, width) == frames.shape[1:3]:
        torch.testing.assert_close(found[2, 1], expected, rtol=0, atol=1e-3)
    assert found.shape[:3] == (8, 2, 3)


def pruned_of(pruner, frames, **asked):
    chooser = hf.Pruner(pruner.model, pruner.processor, **asked)
    return chooser.prune(said(frames))


@pytest.mark.parametrize("frames, way", [(scene(), "pruned"), (scene(moving=None), "smaller"), (scene(moving=0), "frames")])
def test_the_best_way_is_taken(pruner, frames, way):
    for share in (.2, .4):
        pruned = pruned_of(pruner, frames, share=share)
        report = pruned.report
        best, among = report.pictures[0], report.candidates[0]
        assert best.way == way and best.loss == min(one.loss for one in among)
        assert pruned.tokens == best.tokens == report.tokens <= round(share * report.full[0])
        assert {one.way for one in among} >= {"smaller", "frames", "pruned"}
        assert pruned.generate(max_new_tokens=2).shape[1] == pruned.kept.shape[1] + 2


def test_ways_and_budgets(pruner):
    frames = scene()
    smaller = pruned_of(pruner, frames, share=.3, way="smaller").report
    assert {one.way for one in smaller.candidates[0]} == {"smaller", "frames"}
    only = pruned_of(pruner, frames, share=.3, way="pruned").report
    assert {one.way for one in only.candidates[0]} == {"pruned"} and only.pictures[0].loss < smaller.pictures[0].loss
    assert pruned_of(pruner, frames, budget=20).tokens <= 20
    assert pruned_of(pruner, frames, budget=10**6).report.pictures[0].way == "full"
    assert pruned_of(pruner, frames).tokens <= .25 * only.full[0]  # a quarter, if nothing is asked for
    for way in ("auto", "smaller", "pruned"):
        assert pruned_of(pruner, frames, budget=1, way=way).tokens == 1
    with pytest.raises(tv.ArgumentError, match="a budget of 1 tokens for 2 videos"):
        hf.Pruner(pruner.model, pruner.processor, budget=1).prune(user(*[{"type": "video", "video": frames}] * 2, WHAT))


def test_as_few_as_a_tolerance_allows(pruner):
    """No fewer tokens, to a fiftieth, lose as little by any way; and nothing may be lost where that is asked."""
    for frames in (scene(), scene(moving=None), scene(moving=0)):
        for tolerance in (.3, .05):
            report = pruned_of(pruner, frames, tolerance=tolerance).report
            best = report.pictures[0]
            assert best.loss <= tolerance and best.tokens == report.tokens
            fewer = pruned_of(pruner, frames, budget=max(1, best.tokens - max(2, best.tokens // 25))).report.pictures[0]
            assert fewer.loss > tolerance or best.tokens <= 2
        assert pruned_of(pruner, frames, tolerance=0).report.pictures[0].loss == 0
    assert pruned_of(pruner, scene(), tolerance=.1, way="smaller").report.pictures[0].way in ("smaller", "frames", "full")
    assert pruned_of(pruner, scene(), tolerance=1).tokens < 10
    assert pruned_of(pruner, scene(slots=1), tolerance=0).report.pictures[0].way == "full"


def test_videos_beside_images(pruner):
    """Each is decided as it is alone, and the answer is that of the model for both."""
    image, frames = PIL.fromarray(scene(seed=5, size=224)[0]), scene()
    both = user({"type": "image", "image": image}, {"type": "video", "video": frames}, WHAT)
    for asked in ({"share": .3}, {"tolerance": .1}, {}):
        chooser = hf.Pruner(pruner.model, pruner.processor, **asked)
        report = chooser.prune(both).report
        alone = [chooser.prune(messages).report for messages in (user({"type": "image", "image": image}, WHAT), said(frames))]
        assert report.pictures == [alone[0].pictures[0], alone[1].pictures[0]] and report.full == alone[0].full + alone[1].full
        around = report.tokens - chooser.prune(both).tokens  # what stands around further pictures
        assert (around > 0) == (report.pictures[0].way == "pictures") and around >= 0
        assert chooser.generate(both, max_new_tokens=2).shape[0] == 1
    with pytest.raises(tv.ArgumentError, match="a budget is for images or for videos; both are here"):
        hf.Pruner(pruner.model, pruner.processor, budget=50).prune(both)


def test_a_budget_is_that_of_a_conversation(pruner):
    """Two videos in one share it by their sizes; and two conversations have it each."""
    long, short = scene(slots=8), scene(slots=4)
    chooser = hf.Pruner(pruner.model, pruner.processor, budget=60)
    one = chooser.prune(user({"type": "video", "video": long}, {"type": "video", "video": short}, WHAT)).report.pictures
    assert 30 < one[0].tokens <= 40 and 15 < one[1].tokens <= 20
    two = chooser.prune([said(long), said(short)]).report.pictures
    assert 50 < two[0].tokens <= 60 and 50 < two[1].tokens <= 60


def test_a_smaller_video_is_what_the_processor_makes_of_smaller_frames(pruner):
    """The prompt is the same, and so are the positions; the pixels are as near as two ways of resizing."""
    frames = scene(moving=None)
    pruned = pruned_of(pruner, frames, share=.3)
    best = pruned.report.pictures[0]
    assert best.way == "smaller"
    side = 28 * best.columns, 28 * best.rows
    small = np.stack([np.asarray(PIL.fromarray(frame).resize(side, PIL.BICUBIC)) for frame in frames])
    videos = pruner.processor.video_processor
    if videos.size.get("shortest_edge", 0) > side[0] * side[1] * len(frames):
        pytest.skip("the processor makes such small frames larger")
    batch = own(pruner.processor, said(small), do_sample_frames=False)
    if batch["video_grid_thw"][0].tolist() != [8, 2 * best.rows, 2 * best.columns]:
        pytest.skip("the processor makes frames of another size")
    made = hf.prune_batch(pruner.model, batch)
    assert torch.equal(made.input_ids, pruned.input_ids) and torch.equal(made.position_ids, pruned.position_ids)


def test_rows_of_several_conversations(pruner):
    """Of rows of different lengths each becomes shorter by its own video, and they are padded anew."""
    texts = ["Why?", "What is to be seen here, and where does it go from there?"]
    videos = [scene(moving=None), scene(slots=4, size=112)]
    both = [user({"type": "video", "video": video}, {"type": "text", "text": text}) for video, text in zip(videos, texts)]
    chooser = hf.Pruner(pruner.model, pruner.processor, share=.3)
    together = chooser.prune(both)
    assert len(together.report.pictures) == 2
    for row, messages in enumerate(both):
        alone = chooser.prune(messages)
        assert alone.report.pictures[0] == together.report.pictures[row]
        length = alone.input_ids.shape[1]
        assert torch.equal(together.input_ids[row, -length:], alone.input_ids[0])
        assert together.attention_mask[row].sum() == length
        torch.testing.assert_close(together.forward().logits[row, -1], alone.forward().logits[0, -1], rtol=0, atol=1e-4)


def test_slots_that_stand_apart_in_the_prompt():
    """As in Qwen3-VL, where each slot follows its time."""
    film = _films._Film(torch.rand(2 * 8 * 8, 3 * 2 * 14 * 14), (2, 8, 8), SHAPE)
    ids = torch.tensor([[0, 0, 1, 7, *[9] * 16, 2, 7, *[9] * 16, 3]])
    batch = {"input_ids": ids, "attention_mask": (ids != 0).long(), "mm_token_type_ids": (ids == 9) * 2,
             "pixel_values_videos": film.pixels, "video_grid_thw": torch.tensor([[2, 8, 8]]), "second_per_grid_ts": [1.0]}
    made = _films._smaller(batch, 9, 5, [film], [(4, 6)])
    assert made["input_ids"].tolist() == [[1, 7, *[9] * 6, 2, 7, *[9] * 6, 3]]
    assert made["attention_mask"].all() and made["mm_token_type_ids"].tolist() == [[0, 0, *[2] * 6, 0, 0, *[2] * 6, 0]]
    assert made["video_grid_thw"].tolist() == [[2, 4, 6]] and made["pixel_values_videos"].shape == (48, 1176)
    assert made["second_per_grid_ts"] == [1.0]


def test_what_is_not_shown_is_what_was_before():
    """The loss of frames left out is that of the frames that stand in their place."""
    frames = torch.rand(4, 2, 3, 56, 56)
    film = _films._Film(SHAPE.patches(frames), (4, 4, 4), SHAPE)
    grey = frames[:, 1].mean(1)
    kept = torch.tensor([[True] * 4, [False] * 4, [True] * 4, [False] * 4])
    expected = ((grey[1] - grey[0]).square().mean() + (grey[3] - grey[2]).square().mean()) / 4
    colours = (grey - grey.mean((1, 2), keepdim=True)).square().mean()
    assert film.loss((4, 4), kept) == pytest.approx(float(expected / colours), rel=1e-4)
    assert film.loss((4, 4), torch.ones(4, 4, dtype=torch.bool)) == 0
    half = kept.clone()
    half[1, :2] = True  # the upper tokens
    better = expected - (grey[1] - grey[0])[:28].square().sum() / (56 * 56 * 4)
    assert film.loss((4, 4), half) == pytest.approx(float(better / colours), rel=1e-4)


def other(kind, share=.3):
    """A pruner of a tiny model of another kind. Its prompt of a video has each slot behind its time, if it is a Qwen3-VL."""
    plain = tiny.processor_of()
    text = {**tiny.model_of(plain).config.text_config.to_dict(), "head_dim": 8}
    number = plain.tokenizer.convert_tokens_to_ids
    tokens = {"image_token_id": number("<|image_pad|>"), "video_token_id": number("<|video_pad|>"),
              "vision_start_token_id": number("<|vision_start|>"), "vision_end_token_id": number("<|vision_end|>")}
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32}
    text.pop("model_type")
    torch.manual_seed(1)
    if kind == "qwen2_5_vl":
        config = transformers.Qwen2_5_VLConfig(vision_config={**vision, "patch_size": 14, "fullatt_block_indexes": [1], "window_size": 112},
                                               text_config=text, **tokens)
        processor = transformers.Qwen2_5_VLProcessor(plain.image_processor, plain.tokenizer, plain.video_processor, chat_template=tiny.TEMPLATE)
        return hf.Pruner(transformers.Qwen2_5_VLForConditionalGeneration(config).eval(), processor, share=share)
    config = transformers.Qwen3VLConfig(vision_config={**vision, "patch_size": 16, "deepstack_visual_indexes": [0], "num_position_embeddings": 64},
                                        text_config=text, **tokens)
    images = transformers.Qwen2VLImageProcessorFast if not NEW else transformers.Qwen2VLImageProcessor
    size = {"shortest_edge": 4 * 32 * 32, "longest_edge": 1024 * 32 * 32}
    processor = transformers.Qwen3VLProcessor(images(patch_size=16, size=size), plain.tokenizer,
                                              transformers.Qwen3VLVideoProcessor(patch_size=16, size=size, do_sample_frames=False), chat_template=tiny.TEMPLATE)
    return hf.Pruner(transformers.Qwen3VLForConditionalGeneration(config).eval(), processor, share=share)


@pytest.mark.parametrize("kind, share", [("qwen2_5_vl", .3), ("qwen3_vl", .6)])
def test_other_kinds(kind, share):
    """All ways answer, and a smaller video is asked as the model itself is asked with the batch of that size.

    Of a Qwen3-VL's prompt, more is text: of each slot its time, which all slots of a smaller video have.
    """
    if not hasattr(transformers, "Qwen3VLProcessor"):
        pytest.skip("this transformers has no Qwen3-VL")
    chooser = other(kind, share)
    for frames, way in ((scene(size=192, moving=32), "pruned"), (scene(size=192, moving=None), "smaller"), (scene(size=192, moving=0), "frames")):
        pruned = chooser.prune(said(frames))
        assert pruned.report.pictures[0].way == way and pruned.report.tokens <= round(share * pruned.report.full[0])
        assert pruned.generate(max_new_tokens=2).shape[1] == pruned.kept.shape[1] + 2
        if way == "smaller":
            batch = chooser.batch_of(said(frames))
            made, keep, _ = _films.spend(batch, chooser.model.config.video_token_id, 0, chooser._options["spending"],
                                         chooser.model.config.vision_config)
            assert all(len(one) == pruned.tokens for one in keep)
            torch.testing.assert_close(pruned.forward().logits[:, -1], chooser.model(**made).logits[:, -1], rtol=0, atol=2e-5)


@pytest.mark.parametrize("way", ["auto", "smaller", "pruned"])
def test_the_text_of_slots_counts(way):
    """A Qwen3-VL's times fill its prompt: the prompt is shorter by what the report says, and slots that show nothing have no text."""
    if not hasattr(transformers, "Qwen3VLProcessor"):
        pytest.skip("this transformers has no Qwen3-VL")
    pruner = other("qwen3_vl")
    frames = scene(size=192, moving=0)
    frames[10:] = scene(size=192, moving=0, seed=4)[10:]  # another scene from the sixth slot on
    whole = pruner.batch_of(said(frames))["input_ids"].shape[1]
    for asked in ({"budget": 60}, {"budget": 160}, {"share": .3}, {"tolerance": .1}):
        pruned = pruned_of(pruner, frames, way=way, **asked)
        report = pruned.report
        best = report.pictures[0]
        assert whole - pruned.input_ids.shape[1] == report.full[0] - best.tokens and best.tokens > pruned.tokens
        most = asked.get("budget", round(asked.get("share", 1) * report.full[0]))
        assert all(one.tokens <= most for one in report.candidates[0])
        if asked == {"share": .3} and way != "smaller":
            assert best.loss < 1e-6 and best.tokens < .3 * report.full[0]  # two slots are all that there is to see
    with pytest.raises(tv.ArgumentError, match="a budget of 5 tokens for 1 videos; one of each and the text before it are "):
        pruned_of(pruner, frames, budget=5, way=way)


def test_a_budget_is_divided_to_the_last_token():
    for tokens in ([4, 4, 256], [1, 1], [7, 300, 2, 40], [5]):
        for budget in range(len(tokens), sum(tokens) + 2):
            own = _films._divided(budget, tokens, [1] * len(tokens))
            assert all(1 <= part <= whole for part, whole in zip(own, tokens)) and sum(own) <= budget
            assert sum(own) >= min(budget, sum(tokens)) - len(tokens)
    assert _films._divided(30, [100, 100], [8, 9]) == [15, 15] and _films._divided(17, [100, 9], [8, 9]) == [8, 9]


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("asked", [{"share": 0.3}, {"budget": 3}, {"tolerance": 0.2}], ids=str)
def test_a_short_video_has_an_answer_too(pruner, slots, asked):
    pruned = pruned_of(pruner, scene(slots), way="pruned", **asked)
    assert 1 <= pruned.tokens <= pruned.report.full[0]
    if "budget" in asked:
        assert pruned.tokens <= 3


@pytest.mark.parametrize("way", ["smaller", "pictures"])
def test_ways_that_videos_do_not_have_are_refused(pruner, way):
    chooser = hf.Pruner(pruner.model, pruner.processor, way=way, share=0.3)
    with pytest.raises(tv.ArgumentError, match=f"videos keep their size, so that the way {way} is not for them"):
        chooser.prune(chooser.batch_of(said(scene(2))))
    if way == "pictures":
        with pytest.raises(tv.ArgumentError, match="the way pictures is not for them"):
            chooser.prune(said(scene(2)))
