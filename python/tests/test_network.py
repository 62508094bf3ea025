# SPDX-License-Identifier: Apache-2.0
"""Networks whose outputs are channels."""
import pathlib

import numpy as np
import pytest

import texturevlm as tv


def layers(seed=1, inputs=3, hidden=6, outputs=2, stride=1):
    random = np.random.default_rng(seed)
    return [{"weight": random.normal(0, 0.3, (hidden, inputs, 3, 3)), "bias": random.normal(0, 0.1, hidden), "stride": stride,
             "activation": "relu"},
            {"weight": random.normal(0, 0.3, (outputs, hidden, 1, 1)), "activation": "sigmoid"}]


def run(layers, planes):
    """What a network makes of planes [c, h, w], as the sums of the definition."""
    for layer in layers:
        weight, stride, side = layer["weight"], layer.get("stride", 1), layer["weight"].shape[2]
        padded = np.pad(planes, ((0, 0), (side // 2,) * 2, (side // 2,) * 2))
        height, width = ((n - 1) // stride + 1 for n in planes.shape[1:])
        made = np.zeros((weight.shape[0], height, width)) + np.reshape(layer.get("bias", 0), (-1, 1, 1))
        for v in range(side):
            for u in range(side):
                part = padded[:, v:v + planes.shape[1]:stride, u:u + planes.shape[2]:stride]
                made += np.einsum("oc,chw->ohw", weight[:, :, v, u], part)
        made = np.maximum(made, 0) if layer.get("activation") == "relu" else made
        planes = 1 / (1 + np.exp(-made)) if layer.get("activation") == "sigmoid" else made
    return planes


def test_its_outputs_are_channels(photo):
    network = tv.Network(layers(), outputs=["thing", "stuff"])
    assert (network.inputs, network.outputs, network.level) == (["r", "g", "b"], ["thing", "stuff"], 0)
    expected = run(layers(), tv.channels(photo, "r,g,b", format="f32"))
    for form, off in (("f32", 1e-5), ("f16", 2e-3)):
        got = tv.channels(photo, ["stuff", "thing"], network=network, format=form)
        np.testing.assert_allclose(got, expected[::-1], atol=off)
    with tv.Stack(photo, layout="stuff,edges", network=network) as stack:
        assert stack.layout == ["stuff", "edges"]
        assert stack.has("thing") and stack.has("learned_1") and not stack.has("learned_2")
        np.testing.assert_array_equal(stack.read("learned_1"), stack.read("stuff"))
    assert "r,g,b -> thing,stuff" in repr(network)


def test_inputs_level_and_strides(photo):
    own = layers(2, stride=2)
    network = tv.Network(own, outputs=["one", "two"], inputs=["edges", "x", "laplacian"], level=1)
    expected = run(own, tv.channels(photo, "edges,x,laplacian", level=1, format="f32"))
    with tv.Stack(photo, network=network, format="f32") as stack:
        np.testing.assert_allclose(stack.read("one"), expected[0], atol=1e-5)


def test_it_is_saved_and_loaded(photo, tmp_path):
    network = tv.Network(layers(3, stride=2), outputs=["thing", "stuff"], inputs="low,edges,y", level=2)
    network.save(tmp_path / "n.safetensors")
    again = tv.Network.load(tmp_path / "n.safetensors")
    assert (again.inputs, again.outputs, again.level) == (network.inputs, network.outputs, network.level)
    for one in (again, str(tmp_path / "n.safetensors")):
        np.testing.assert_array_equal(tv.channels(photo, ["thing"], network=one), tv.channels(photo, ["thing"], network=network))


def test_it_scores(photo, tmp_path):
    network = tv.Network(layers(6), outputs=["what", "else"], inputs="r,edges,entropy")
    with tv.Stack(photo, format="f32") as stack:
        for level in (2, 4):
            got = stack.scores(scorer=tv.Scorer(network=network), level=level)
            expected = run(layers(6), stack.channels("r,edges,entropy", level=level))
            np.testing.assert_allclose(got, expected[0], atol=1e-4)
            np.testing.assert_allclose(stack.read("output_1"), expected[1], atol=1e-4)
    network.save(tmp_path / "n.safetensors")
    scorer = tv.Scorer.load(tmp_path / "n.safetensors")
    assert scorer.outputs == 2 and scorer.weights == {} and scorer.network.outputs == ["what", "else"] and "edges" in repr(scorer)
    np.testing.assert_array_equal(tv.scores(photo, scorer=scorer), tv.scores(photo, scorer=tmp_path / "n.safetensors"))
    with pytest.raises(tv.ArgumentError, match="stride of 2"):
        tv.scores(photo, scorer=tv.Scorer(network=tv.Network(layers(stride=2), outputs=["p", "q"])))


def test_a_single_module_is_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(tv.ArgumentTypeError, match="layers are a Conv2d, not an nn.Sequential"):
        tv.Network(torch.nn.Conv2d(3, 1, 3, padding=1), outputs=["a"])


def test_sessions_tell_networks_apart(photo):
    session = tv.Session()
    scorer = tv.Scorer({"learned_0": 1.0})
    found = [session.select(photo, 5, strategy="grid", scorer=scorer, stack={"network": tv.Network(layers(seed), outputs=["p", "q"])})
             for seed in (4, 5)]
    assert not np.array_equal(found[0].scores, found[1].scores)


def test_the_one_in_the_repository_finds_words():
    """Rows of strokes, as words look, beside a soft ball and a plain edge."""
    file = pathlib.Path(__file__).parents[2] / "networks" / "word.safetensors"
    if not file.exists():
        pytest.skip("there is no folder networks beside these tests")
    network = tv.Network.load(file)
    assert network.outputs == ["word"] and network.level == 2 and file.stat().st_size < 8192
    random, picture, mask = np.random.default_rng(3), np.full((240, 320, 3), 200, np.uint8), np.zeros((240, 320), bool)
    y, x = np.mgrid[:240, :320]
    picture[..., 0] -= np.uint8(120 * np.exp(-((x - 250)**2 + (y - 60)**2) / 900))
    picture[150:230, 200:300] = 90
    for top in (30, 60, 90):
        for left in np.cumsum(random.integers(4, 9, 20)) + 20:
            picture[top + random.integers(0, 4):top + 14, left:left + 2] = 20
        mask[top:top + 14, 20:left + 2] = True
    plane = tv.channels(picture, ["word"], network=network, format="f32")[0]
    assert 0 <= plane.min() and plane.max() <= 1
    assert plane[mask].mean() > 0.6 > 0.3 > plane[~mask].mean()


def test_streams_and_exports_have_it(photo, tmp_path):
    network = tv.Network([{"weight": np.array([[[[0.0]], [[0.0]], [[1.0]]]])}], outputs=["blue"])
    learned, blue = tv.Scorer({"learned_0": 1.0}), tv.Scorer({"b": 1.0})
    stream, other = tv.VideoStream(network=network, scorer=learned), tv.VideoStream(scorer=blue)
    stream.update(photo), other.update(photo)
    np.testing.assert_array_equal(stream.select(9, strategy="grid").xy, other.select(9, strategy="grid").xy)
    np.testing.assert_array_equal(stream.channels(["blue"]), tv.channels(photo, ["blue"], network=network))
    network.save(tmp_path / "n.safetensors")
    for way in (network, tmp_path / "n.safetensors"):
        np.testing.assert_array_equal(tv.export(photo, model="qwen2-vl", scorer=learned, network=way)["scores"],
                                      tv.export(photo, model="qwen2-vl", scorer=blue)["scores"])
    with pytest.raises(tv.ArgumentError, match="learned_0"):
        tv.export(photo, model="qwen2-vl", scorer=learned)
    with pytest.raises(tv.ArgumentTypeError, match="network is 3, neither"):
        tv.VideoStream(network=3)


@pytest.mark.parametrize("change, line", [
    (lambda own: own[1].update(weight=np.ones((2, 5, 1, 1))), "layer 1 of the network reads 5 channels, but there are 6"),
    (lambda own: own[0]["weight"].__setitem__((0, 0, 0, 0), np.nan), "layer 0 of the network: number 0 of its weights is not finite"),
    (lambda own: own[0].update(weight=np.ones((6, 3, 5, 5))), "a kernel of 5x5"),
    (lambda own: own[0].update(weight=np.ones((6, 3, 3, 1))), "not [outputs, inputs, side, side]"),
    (lambda own: own[0].update(weight=np.ones((6, 3))), "has 2 dimensions, not 4"),
    (lambda own: own[0].update(bias=np.ones(5)), "has 5 values, not 6"),
    (lambda own: own[0].update(stride=3), "it must be 1 .. 2"),
    (lambda own: own[0].update(activation="tanh"), "it is one of none, relu, sigmoid"),
    (lambda own: own[0].update(dilation=2), "layer 0 has the unknown 'dilation'"),
    (lambda own: own[0].pop("weight"), "layer 0 has no weight"),
    (lambda own: own.clear(), "a network of 0 convolutions"),
])
def test_what_is_wrong_is_named(change, line):
    own = layers()
    change(own)
    with pytest.raises(tv.ArgumentError, match="(?s)" + __import__("re").escape(line)):
        tv.Network(own, outputs=["thing", "stuff"])


def test_names_that_are_wrong(tmp_path, photo):
    for outputs, line in ((["one", "one"], "two outputs"), (["edges", "one"], "the library's own"), (["one"], "but 1 are named"),
                          (["o n e", "two"], "no name of an output")):
        with pytest.raises(tv.ArgumentError, match=line):
            tv.Network(layers(), outputs=outputs)
    with pytest.raises(tv.ArgumentTypeError, match="not a list of names"):
        tv.Network(layers(), outputs="ab")
    with pytest.raises(tv.ArgumentTypeError, match="neither an nn.Sequential nor a list of dicts"):
        tv.Network("n.safetensors", outputs=["a"])
    with pytest.raises(tv.ArgumentError, match="unknown channel 'blue'"):
        tv.Network(layers(), outputs=["one", "two"], inputs="r,g,blue")
    with pytest.raises(tv.ArgumentTypeError, match="network is 3, neither"):
        tv.channels(photo, network=3)
    with pytest.raises(tv.MissingFileError):
        tv.Network.load(tmp_path / "none.safetensors")
    (tmp_path / "text.safetensors").write_text("text")
    with pytest.raises(tv.ArgumentError, match="text.safetensors"):
        tv.channels(photo, network=tmp_path / "text.safetensors")


def test_of_pytorch(photo):
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.ReLU(),
                          nn.Conv2d(16, 3, 1), nn.Sigmoid())
    with tv.Stack(photo, network=tv.Network(model, outputs=["p", "q", "s"]), format="f32") as stack, torch.no_grad():
        expected = model(torch.from_numpy(stack.channels("r,g,b"))[None])[0].numpy()
        np.testing.assert_allclose(np.stack([stack.read(name) for name in "pqs"]), expected, atol=1e-4)
    for module, line in ((nn.Conv2d(3, 3, 3), "has the padding"), (nn.BatchNorm2d(3), "is a BatchNorm2d"),
                         (nn.Conv2d(3, 3, 3, padding=1, groups=3), "has the groups 3"), (nn.ReLU(), "that follows no convolution")):
        with pytest.raises(tv.ArgumentError, match=line):
            tv.Network(nn.Sequential(module), outputs=["p", "q", "s"])
