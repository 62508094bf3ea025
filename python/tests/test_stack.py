# SPDX-License-Identifier: Apache-2.0
"""Channels, patches, scores, flow, the largest of many; stacks and sessions."""
import numpy as np
import pytest

import texturevlm as tv


def test_channels_are_the_pixels(photo):
    r, g, b = tv.channels(photo, "r,g,b")
    np.testing.assert_allclose(np.stack([r, g, b], axis=2), photo / 255, atol=1e-6)
    assert tv.channels(photo, ["r", "edges"], level=1).shape == (2, 120, 160)
    assert tv.channels(photo, "saliency", size=(32, 24)).shape == (1, 24, 32)
    assert tv.channels(photo, level=3).shape == (40, 30, 40)


def test_bytes_take_half_of_halfs_memory(photo):
    names = "r,g,b,edges,low,edge_x,saliency"
    exact, half, byte = (tv.Stack(photo, layout=names, format=form) for form in ("f32", "f16", "u8"))
    wanted, got = exact.channels(names), byte.channels(names)
    half.channels(names)
    np.testing.assert_allclose(got[:3], wanted[:3], atol=3e-4)  # bytes as they are; what is packed is half
    assert 0.001 < np.abs(got[3:] - wanted[3:]).max() < 0.05
    assert byte.bytes < 0.55 * half.bytes
    with pytest.raises(tv.Error, match="'depth' has the range"):
        tv.Stack(photo, layout="scene18", format="u8")


def test_patches_are_the_pixels_under_the_cells(photo):
    selection = tv.select(photo, 12, strategy="grid")
    cut = tv.patches(photo, selection)
    for (column, row), patch in zip(selection.cell, cut):
        pixels = photo[16 * row:16 * row + 16, 16 * column:16 * column + 16]
        np.testing.assert_allclose(patch, np.moveaxis(pixels, 2, 0) / np.float32(255), atol=1e-6)
    at = np.column_stack([selection.xy, selection.size])
    np.testing.assert_array_equal(tv.patches(photo, at), cut)
    normal = tv.patches(photo, at, mean=[0.5] * 3, deviation=[0.25] * 3, dtype="float16")
    np.testing.assert_allclose(normal, (cut - 0.5) / 0.25, atol=2e-3)
    assert tv.patches(photo, at, channels="edges,text", side=8, border="reflect").shape == (12, 2, 8, 8)


def test_scores_are_what_a_selection_chooses_by(photo):
    scores = tv.scores(photo)
    selection = tv.select(photo, 20, strategy="grid")
    best, values = tv.topk(scores, 20)
    np.testing.assert_array_equal(best, selection.indices)
    np.testing.assert_array_equal(values, selection.scores)
    assert tv.scores(photo, level=3).shape == (30, 40)
    scorer = tv.Scorer({"r": 2.0, "edges": -1.0}, bias=0.5)
    cells = tv.Stack(photo).sample(selection.xy, "r,edges", level=4)
    np.testing.assert_allclose(tv.scores(photo, scorer=scorer).reshape(-1)[selection.indices],
                               0.5 + 2 * cells[:, 0] - cells[:, 1], atol=1e-5)
    scorer = tv.Scorer({"r": 2.0, "edges": -1.0}, bias=0.5, levels={"edges": 1})
    detail = tv.Stack(photo).sample(selection.xy, "edges", level=1)
    np.testing.assert_allclose(tv.scores(photo, scorer=scorer).reshape(-1)[selection.indices],
                               0.5 + 2 * cells[:, 0] - detail[:, 0], atol=1e-5)
    with pytest.raises(tv.Error, match="there is a level for 'text', but no weight"):
        tv.Scorer({"r": 1.0}, levels={"text": 1})


def test_levels_may_be_gaussian(photo):
    def halved(level, axis):
        smooth = np.apply_along_axis(lambda row: np.convolve(np.pad(row, 1, "edge"), [0.25, 0.5, 0.25], "valid"), axis, level)
        return (smooth.take(range(0, smooth.shape[axis], 2), axis) + smooth.take(range(1, smooth.shape[axis], 2), axis)) / 2
    with tv.Stack(photo, format="f32") as stack:
        stack.set_reduce("gaussian")
        expected = halved(halved(stack.read("g").astype("f8"), 0), 1)
        np.testing.assert_allclose(stack.read("g", 1), expected, atol=1e-6)
        with pytest.raises(tv.Error, match="the mean or a Gaussian is possible"):
            stack.set_reduce("max")


def test_a_list_of_images_is_one_batch(photo):
    images = [photo, photo[:33, :47], photo[5:6, 3:4]]
    for level in (0, 2):
        together = tv.channels(images, "edges,entropy,x", level=level)
        for image, made in zip(images, together):
            np.testing.assert_array_equal(made, tv.channels(image, "edges,entropy,x", level=min(level, tv.Stack(image).levels - 1)))
    assert len(tv.channels(images)[1]) == 17 and tv.channels([]) == []
    with pytest.raises(tv.Error, match="a batch of images of different sizes has no 'saliency'"):
        tv.channels(images, "r,saliency")
    with pytest.raises(tv.Error, match="size is for one image"):
        tv.channels(images, "r", size=(8, 8))


def test_rotary_positions(photo):
    with tv.Stack(photo) as stack:
        stack.set_rope(theta=100, dimension=8, patch=14)
        got = stack.sample([[70, 28]], "rope_x_cos_1,rope_x_sin_1,rope_y_cos_1,rope_y_sin_3")[0]
    angles = np.array([5 * 100 ** (-2 / 8)] * 2 + [2 * 100 ** (-2 / 8), 2 * 100 ** (-6 / 8)])
    turned = [np.cos(angles[0]), np.sin(angles[1]), np.cos(angles[2]), np.sin(angles[3])]
    np.testing.assert_allclose(got, 0.5 + 0.5 * np.array(turned), atol=2e-6)


def test_topk_is_numpys():
    values = np.random.default_rng(0).normal(size=(30, 40)).astype("f4")
    values[3, 4] = np.nan
    best, found = tv.topk(values, 1200)
    order = np.argsort(-values.reshape(-1), kind="stable")
    np.testing.assert_array_equal(best, order)
    np.testing.assert_array_equal(found, values.reshape(-1)[order])


def test_flow_finds_a_shift(photo):
    moved = np.roll(photo, (2, 4), (0, 1))
    flow = tv.flow(moved, photo)
    assert flow.shape == (120, 160, 3)
    inner = flow[20:-20, 20:-20]
    np.testing.assert_allclose(np.median(inner[..., 0]), -4, atol=0.3)
    np.testing.assert_allclose(np.median(inner[..., 1]), -2, atol=0.3)
    assert tv.flow(photo, photo, full=True).shape == (240, 320, 3)
    with pytest.raises(tv.Error, match="size"):
        tv.flow(photo, photo[:100])


def test_a_stack_answers_again_and_again(photo):
    with tv.Stack(photo, layout="full40") as stack:
        assert stack.size == stack.image_size == (320, 240) and stack.levels == 9 and len(stack.layout) == 40
        first = stack.select(30, strategy="grid")
        np.testing.assert_array_equal(first.xy, tv.select(photo, 30, strategy="grid").xy)
        np.testing.assert_array_equal(stack.read("saliency").shape, (stack.read("saliency").shape))
        assert stack.read("r", 2).shape == (60, 80) and stack.labels().shape == (240, 320)
        points = np.float32([[10.5, 20.5], [100.5, 50.5]])
        np.testing.assert_allclose(stack.sample(points, "r,g,b"), photo[[20, 50], [10, 100]] / 255, atol=1e-6)
        assert stack.bytes > 0 and stack.has("r") and not stack.has("depth")
        stack.set_image(photo[::-1])
        assert not np.array_equal(stack.select(30, strategy="grid").xy, first.xy)


def test_what_has_a_name_can_be_emphasised(photo):
    """A plane by its own name, and the output of a network; a question and a network keep what they were made of."""
    plane = np.zeros((24, 32), "f4")
    plane[:, :8] = 3
    with tv.Stack(photo) as stack:
        stack.set_plane("mine", plane, low=0, high=3)
        chosen = stack.select(60, emphasis_channel="mine", emphasis=200)
        left = chosen.xy[chosen.first:, 0] < photo.shape[1] / 4
        assert len(left) > 10 and left.mean() > 0.6
        assert stack.predict([(10, 8)], emphasis_channel="mine", emphasis=200, patch=16).loss(0) > 0
    weight = np.ones((1, 3, 1, 1), "f4")
    network = tv.Network([{"weight": weight, "activation": "relu"}], outputs=["bright"])
    options = {"network": network, "emphasis_channel": "bright", "emphasis": 50}
    first = tv.select(photo, 60, **options)
    weight[:] = -1
    assert tv.select(photo, 60, **options) == first == tv.select([photo], 60, **options)[0]
    assert tv.Session().select(photo, 60, stack={"network": network}, emphasis_channel="bright", emphasis=50) == first
    with pytest.raises(tv.ArgumentError, match="unknown channel 'bright'"):
        tv.select(photo, 60, emphasis_channel="bright", emphasis=50)
    vector, features = np.ones(8, "f4"), np.random.default_rng(1).normal(size=(15, 20, 8))
    query = tv.Query(vector)
    asked = tv.scores(photo, query, features=features)
    vector[::2] = -1
    np.testing.assert_array_equal(tv.scores(photo, query, features=features), asked)


def test_what_is_handed_in_is_read(photo):
    random = np.random.default_rng(5)
    with tv.Stack(photo, layout="r,g,b") as stack:
        depth = random.uniform(1, 5, (24, 32)).astype("f4")
        stack.set_grid("depth", depth)
        np.testing.assert_array_equal(stack.read("depth"), depth)
        stack.set_plane("heat", depth, low=0, high=3)
        np.testing.assert_array_equal(stack.read("heat"), np.minimum(depth, 3))
        features = random.normal(size=(15, 20, 8)).astype("f2")
        stack.set_features(features, patch=16)
        vectors = random.normal(size=(2, 8)).astype("f4")
        cosines = stack.similarity(vectors)
        f = features.astype("f4") / np.linalg.norm(features.astype("f4"), axis=2, keepdims=True)
        v = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(cosines, np.einsum("rcd,nd->nrc", f, v), atol=2e-3)
        stack.clear("depth")
        assert not stack.has("depth")
        stack.set_labels(np.arange(12).reshape(3, 4))
        assert len(np.unique(stack.labels())) == 12
        assert stack.select(20, query=tv.Query(similarity=np.eye(6)), strategy="grid").strategy == "grid"


def test_delta_updates_give_what_a_whole_image_gives(photo):
    changed = photo.copy()
    changed[40:60, 100:140] = 0
    with tv.Stack(photo) as stack:
        stack.update_image(photo)
        stack.select(10, strategy="grid")
        stack.advance()
        report = stack.update_image(changed)
        assert 0 < report["changed"] < report["tiles"] and not report["whole"]
        np.testing.assert_array_equal(stack.channels("r,edges,text"), tv.channels(changed, "r,edges,text"))
        assert stack.read("motion").max() > 0
        stack.forget()
        assert stack.read("motion").max() == 0


def test_a_session_keeps_stacks(photo):
    with tv.Session(cache_bytes=1 << 30) as session:
        first = session.select(photo, 10, strategy="grid")
        again = session.select(photo.copy(), 20, strategy="grid")
        session.select(photo[:100], 10, strategy="grid")
        info = session.info
        assert (info["hits"], info["misses"], info["stacks"]) == (1, 2, 2) and info["cache_bytes"] == 1 << 30
        np.testing.assert_array_equal(again.xy[:10], first.xy)
    with pytest.raises(tv.Error, match="session is closed"):
        session.select(photo)


def test_a_scorer_is_kept_in_a_file(photo, tmp_path):
    weights = {"edges": 0.5, "saliency": np.arange(9).reshape(3, 3)}
    tv.Scorer(weights, bias=1, similarity=2, levels={"saliency": 2.5}).save(tmp_path / "s.safetensors")
    again = tv.Scorer.load(tmp_path / "s.safetensors")
    assert again.bias == 1 and again.similarity == 2 and again.weights["edges"][1, 1] == 0.5
    assert again.levels == {"saliency": 2.5} and tv.Scorer(weights).levels == {}
    np.testing.assert_array_equal(again.weights["saliency"], weights["saliency"])
    np.testing.assert_array_equal(tv.scores(photo, scorer=tmp_path / "s.safetensors"), tv.scores(photo, scorer=again))


def test_a_query_gives_the_weights_of_all_taps_and_outputs(photo, tmp_path):
    random = np.random.default_rng(5)
    features, query = random.normal(size=(15, 20, 6)).astype("f4"), random.normal(size=6)
    weights = {name: random.normal(size=(2, 3, 3)) for name in ("r", "edges", "query_similarity")}
    matrix = random.normal(size=(2, 3, 3, 3, 6)).astype("f4")
    scorer = tv.Scorer(weights, bias=0.5, query_weights=matrix)
    with tv.Stack(photo, format="f32") as stack:
        stack.set_features(features)
        score = stack.scores(query, scorer=scorer, level=2)
        planes = np.stack([stack.read(name, 2) if name == "r" else stack.channels(name, level=2)[0] for name in weights])
        kernel = np.stack(list(weights.values()), 1) + matrix @ (query / np.linalg.norm(query))
        around = np.pad(planes, ((0, 0), (1, 1), (1, 1)), mode="edge")
        expected = sum(np.einsum("oc,chw->ohw", kernel[:, :, v, u], around[:, v:v + 60, u:u + 80]) for v in range(3) for u in range(3))
        np.testing.assert_allclose(score, expected[0] + 0.5, atol=1e-5)
        np.testing.assert_allclose(stack.read("output_1"), expected[1], atol=1e-5)
        scorer.save(tmp_path / "m.safetensors")
        again = tv.Scorer.load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(stack.scores(query, scorer=again, level=2), score)
    assert scorer.outputs == again.outputs == 2
    np.testing.assert_array_equal(again.query_weights, matrix)
    np.testing.assert_array_equal(again.weights["edges"], weights["edges"].astype("f4"))
    one = tv.Scorer({"r": 1.0, "g": 2.0}, query_weights=matrix[0, 0, 0, :2].reshape(3, 4)[:, :2])
    assert one.query_weights.shape == (3, 2) and one.outputs == 1
    for wrong in ({"weights": {"r": np.zeros((2, 3, 3)), "g": 1.0}}, {"weights": {"r": np.zeros((2, 2))}},
                  {"weights": {"r": 1.0}, "query_weights": np.zeros((3, 2))}, {"weights": {"r": 1.0}, "network": "n.safetensors"}):
        with pytest.raises(tv.ArgumentError):
            tv.Scorer(**wrong)


def test_layouts_have_names():
    assert tv.layouts()["visual12"] and len(tv.layouts()["full40"]) == 40
