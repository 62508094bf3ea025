# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of every kind, as their users' typing errors would be: an answer or one clear error, and never a crash."""
import contextlib
import os
import pathlib
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import texturevlm as tv

IMAGE = np.random.default_rng(0).integers(0, 255, (48, 64, 3), np.uint8)
PREDICTION = tv.predict(IMAGE, [(4, 3), (8, 6)], patch=8, device="reference")
FEATURES = np.random.default_rng(1).normal(size=(3, 4, 8)).astype("f4")
EXAMPLES = int(os.environ.get("TVLM_TEST_EXAMPLES", "12"))  # ci/full tries more
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


class Hostile:
    """What an object can do when it is asked for an array or a number."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")

    def __float__(self):
        raise RuntimeError("no float")

    def __index__(self):
        raise RuntimeError("no index")


dtypes = st.sampled_from(["u1", "i1", "u2", ">u2", "i4", "i8", "f2", "f4", ">f4", "f8", "c8", "O", "U2", "?", "M8[s]", "V3"])
shapes = st.lists(st.integers(0, 5), max_size=5).map(tuple)


@st.composite
def arrays(draw):
    array = np.zeros(draw(shapes), draw(dtypes))
    if array.dtype.kind == "f" and array.size and draw(st.booleans()):
        array.reshape(-1)[draw(st.integers(0, array.size - 1))] = draw(st.sampled_from([np.nan, np.inf, -1, 1e30]))
    for axis in range(array.ndim):
        array = array[(slice(None),) * axis + (draw(st.sampled_from([slice(None), slice(None, None, -1), slice(None, None, 2)])),)]
    return array


numbers = st.one_of(st.integers(-3, 20), st.sampled_from([2**31 - 1, 2**31, -2**31, 2**63, 2**64, 10**30]), st.floats(),
                    st.sampled_from([0.0, 0.5, 1.0, -1.0, 1e-30, 1e30, 1e300]), st.booleans(), st.just(1j),
                    st.sampled_from([np.float32(0.5), np.int64(3), np.bool_(True), np.array(3)]))
words = st.one_of(st.text(max_size=5), st.binary(max_size=3), st.sampled_from([
    "budget", "grid", "cascade", "exhaustive", "quadtree", "foveated", "default", "auto", "document", "edges", "r,g,b", "full40", "a\0b", "\ud800",
    "%s%n", "cpu", "f16"]))
anything = st.one_of(st.none(), numbers, words, arrays(), st.lists(numbers, max_size=4), st.tuples(numbers, numbers),
                     st.dictionaries(words, numbers, max_size=2), st.builds(object), st.builds(Hostile), st.just(IMAGE),
                     st.just(tv), st.just([[1, 2], [3]]), st.sets(st.integers(), max_size=2))
options = {name: st.one_of(anything, good) for name, good in {
    "k": st.integers(1, 12), "share": st.floats(0.1, 1), "tolerance": st.floats(0, 1),
    "query": st.just(FEATURES[0, 0]), "features": st.just(FEATURES), "overview": st.floats(0, 1),
    "strategy": st.sampled_from(["budget", "grid", "cascade", "exhaustive", "quadtree", "foveated"]), "stride": st.floats(4, 64),
    "patch": st.floats(4, 64), "level": st.integers(0, 6), "min_distance": st.floats(0, 50), "fixations": st.just([[3, 4]]),
    "e0": st.floats(0.01, 2), "arrangement": st.just("log-polar"), "keep_regions": st.integers(1, 5), "cover": st.booleans(),
    "cull_distance": st.floats(0.1, 2), "diversity": st.floats(0, 1), "emphasis": st.floats(0, 50),
    "emphasis_channel": st.just("text"), "weights": st.just([1, 0, 2]), "scores": st.just(np.ones((3, 4))),
    "scorer": st.just(tv.Scorer({"r": 1.0})), "keep_scores": st.booleans(), "layout": st.just("r,g"), "size": st.just((32, 32)),
    "max_side": st.integers(8, 64), "format": st.sampled_from(["f16", "f32", "u8"]), "fixation": st.just((3, 4)), "clusters": st.integers(1, 60),
    "compactness": st.floats(1, 50), "memory_max": st.integers(10**6, 10**9),
    "network": st.just(tv.Network([{"weight": np.ones((2, 3, 1, 1))}], outputs=["one", "two"])), "copy": st.booleans(), "device": st.none(),
    "feature_patch": st.floats(8, 32), "nonsense": anything}.items()}


def tried(function, *arguments, **keywords):
    """An answer, or None where the package refuses; a size that only a larger machine has is refused, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments, **keywords)
    except tv.Error as error:
        line = str(error)
        assert line and "\n" not in line and len(line) < 1200, line
        assert type(error) is not tv.Error  # Python has a class for it
        return None


@SETTINGS
@given(st.data())
def test_select(data):
    names = data.draw(st.lists(st.sampled_from(sorted(options)), max_size=4, unique=True))
    image = data.draw(st.one_of(st.just(IMAGE), st.just(IMAGE), arrays(), anything))
    found = tried(tv.select, image, **{name: data.draw(options[name]) for name in names})
    for selection in [found] if isinstance(found, tv.Selection) else found or []:
        assert len(selection) >= 1 and np.isfinite(selection.xy).all()
        assert selection.mask.shape == selection.grid[::-1] and pickle.loads(pickle.dumps(selection)) == selection
        assert all(len(cells) and cells.min() >= 0 and cells.max() < selection.mask.size for cells in selection.cells())
        grid = data.draw(anything)
        tried(selection.cells, grid)
        tried(selection.covered, (3, grid))
        with contextlib.suppress(IndexError):
            tried(selection.__getitem__, grid)


@SETTINGS
@given(anything, anything)
def test_what_takes_arrays(a, b):
    tried(tv.topk, a, b)
    tried(tv.topk, [3.0, 1.0], b)
    tried(tv.flow, a, b)
    tried(tv.flow, IMAGE, a, full=b)
    tried(tv.patches, IMAGE, a, side=b if isinstance(b, int) and not isinstance(b, bool) and 0 <= b < 20 else 4)
    tried(tv.patches, IMAGE, [[10, 10, 16]], mean=a, deviation=b)
    tried(tv.patches, IMAGE, [[10, 10, 16]], channels=a, dtype="float16", border=b)
    tried(tv.channels, IMAGE, a, level=b)
    tried(tv.channels, IMAGE, "r", size=a)
    tried(tv.channels, [IMAGE, a], b)
    tried(tv.channels, [IMAGE, IMAGE[:7, :9]], a, level=b)
    tried(tv.predict, IMAGE, a, patch=b)
    tried(tv.predict, IMAGE, [(3, 2)], scores=a, emphasis=b)
    tried(tv.pictures, a, budget=b)
    for name in ("budget", "share", "tolerance", "way", "patch", "extra", "least", "most", "encoding", "device", "copy"):
        tried(tv.pictures, IMAGE, **{name: a})
    tried(PREDICTION.loss, a, b)
    tried(PREDICTION.loss, 0, a)
    tried(PREDICTION.keep, a, b)
    tried(PREDICTION.shown, a, b)
    tried(PREDICTION.shown, 0, a)
    tried(PREDICTION.least, a, b)
    tried(PREDICTION.set_overview, a)
    tried(tv.scores, IMAGE, a, features=b)
    tried(tv.scores, IMAGE, stride=a, weights=b)
    tried(tv.Query, a, mean=b)
    tried(tv.Query, similarity=a, combine=b)
    tried(tv.Scorer, a, bias=b)
    tried(tv.Scorer, {"r": 1.0, "g": 2.0}, levels=a)
    tried(tv.Scorer, {"r": 1.0}, levels={"r": b})
    tried(tv.Scorer, {"r": a}, query_weights=b)
    tried(tv.Scorer, network=a)
    tried(tv.Basis, a, mean=b)
    tried(tv.Basis.train, a, b)
    tried(tv.Vocab, a)
    tried(tv.Vocab.train, a, b)
    for name in ("n", "seed", "rounds", "sample"):
        tried(tv.Vocab.train, np.eye(3), **{"n": 2, name: a})
    vocab = tv.Vocab(np.eye(2, 3))
    tried(vocab.assign, a)
    tried(vocab.ask, a)
    tried(vocab.score, a, b)
    tried(tv.Projection, a, b, channels="r,g")
    tried(tv.Projection, np.ones((4, 2)), channels=a, basis=b)
    tried(tv.Projection(np.ones((4, 2)), channels="r,g").apply, a, b)
    tried(tv.Projection(np.ones((4, 2)), channels="r,g").r_squared, a)
    tried(tv.Projection.train, a, b)
    tried(tv.fit, [IMAGE], [a], channels=b)
    tried(tv.Codec, a, b, np.ones((2, 1)))
    tried(tv.Codec, ["r", "g"], a, b, mean=a, level=b)
    for name in ("k", "channels", "level", "weights", "scorers"):
        tried(tv.Codec.train, [IMAGE], **{name: a})
    tried(tv.Codec.train, a, b)
    codec = tv.Codec(["r", "g"], np.ones((1, 2)), np.ones((2, 1)))
    tried(codec.apply, a)
    tried(codec.restore, a)
    tried(codec.fold, tv.Scorer({"r": 1.0}), a)
    tried(codec.fold, a, b)
    tried(tv.fit, [IMAGE], [np.eye(2)], queries=a, hidden=b if isinstance(b, str) else None)
    tried(tv.show, a, tv.select(IMAGE, 2))
    tried(tv.show, IMAGE, a)
    tried(tv.show, IMAGE, tv.select(IMAGE, 2), title=a, copy=b)
    tried(tv.export, a, b)
    tried(tv.export, [IMAGE], "clip", queries=a, features=b)
    for name in ("budget", "share", "tolerance", "emphasis", "min_pixels", "side", "patch", "pillow", "weights", "scorer",
                 "selected_only", "overview", "strategy", "format", "network", "device"):
        # A side of thousands of pixels is no typing error, and takes long.
        large = name in ("min_pixels", "side", "patch") and isinstance(a, (int, float, np.number)) and abs(a) > 1000
        tried(tv.export, IMAGE, "siglip" if name in ("side", "patch") else "qwen2-vl", **{name: 64 if large else a})


@SETTINGS
@given(a=anything)
def test_files_and_what_is_kept_in_them(tmp_path_factory, a):
    folder = tmp_path_factory.mktemp("files")
    before = os.getcwd()
    os.chdir(folder)  # a word may be a file's name
    try:
        basis, scorer, picture = tv.Basis(np.eye(2, 3)), tv.Scorer({"r": 1.0}), tv.show(IMAGE, tv.select(IMAGE, 2))
        network = tv.Network([{"weight": np.ones((1, 3, 1, 1))}], outputs=["one"])
        for thing in (basis, scorer, picture, network, tv.Projection(np.ones((4, 2)), channels="r,g"), tv.Vocab(np.eye(2, 3))):
            tried(thing.save, a)
        tried(tv.Basis.load, a)
        tried(tv.Projection.load, a)
        tried(tv.Vocab.load, a)
        tried(tv.Network.load, a)
        tried(tv.Scorer.load, a)
        tried(basis.project, a)
    finally:
        os.chdir(before)


@SETTINGS
@given(anything, anything, anything)
def test_stacks(a, b, c):
    with tv.Stack(IMAGE) as stack:
        for name in ("depth", "embedding_0", "feature_0", "flow_u", "attention", "object_id", "vocab_id", a):
            tried(stack.set_grid, name, b, cell=c)
        tried(stack.set_grid, "depth", np.ones((3, 4)), camera=a)
        tried(stack.set_plane, a, b, reduce=c)
        tried(stack.set_plane, "own", np.ones((3, 4)), low=a, high=b)
        tried(stack.set_features, a, patch=b)
        tried(stack.set_labels, a)
        tried(stack.set_image, a)
        tried(stack.update_image, a, threshold=b)
        tried(stack.read, a, b)
        tried(stack.sample, a, b, level=c)
        tried(stack.sample, [[1, 2]], "r", level=a)
        tried(stack.similarity, a)
        tried(stack.merge_tokens, a, whole=b)
        tried(stack.scores, a, level=b)
        tried(stack.set_fixation, a, b)
        tried(stack.set_rope, a, b, c)
        tried(stack.set_reduce, a)
        tried(stack.has, a)
        tried(stack.clear, a)
        tried(stack.channels, a, level=b)
        tried(stack.channels, "r", size=a)
        tried(stack.patches, a, dtype=b, border=c)
        tried(stack.patches, [[3, 3, 16]], channels=a, mean=b, deviation=c)
        tried(stack.select, a, strategy=b)
        tried(stack.labels)
        tried(stack.advance)
        tried(stack.forget)
        tried(stack.embed, a)
        tried(stack.assign, a)
        tried(tv.Basis.of_image, stack, a, queries=b)
        assert len(stack.select(3, strategy="grid")) == 3


@SETTINGS
@given(anything, anything, anything)
def test_networks(a, b, c):
    kernel = np.ones((2, 3, 1, 1), np.float32)
    tried(tv.Network, a, outputs=b, inputs=c)
    tried(tv.Network, [{"weight": kernel}], outputs=a, inputs=b, level=c)
    tried(tv.Network, [{"weight": a, "bias": b, "stride": c}], outputs=["one", "two"])
    tried(tv.Network, [{"weight": kernel, "bias": a, "stride": b, "activation": c}], outputs=["one", "two"])
    network = tv.Network([{"weight": kernel}], outputs=["one", "two"])
    tried(network.weight, a)
    np.testing.assert_array_equal(network.weight(0), kernel)


@SETTINGS
@given(anything, anything, anything)
def test_attention(a, b, c):
    tried(tv.Texture, a, b, format=c)
    tried(tv.Texture, FEATURES, layout=a)
    with tv.Texture(FEATURES) as texture:
        tried(texture.read, a)
        tried(tv.hierarchical_attention, a, texture, b, c)
        tried(tv.hierarchical_attention, FEATURES[0], texture, a, details=b)
        tried(tv.hierarchical_attention, FEATURES[0], texture, None, a, b, scale=c)
        for name in ("heads", "steps", "mix", "keep"):
            tried(tv.hierarchical_attention, FEATURES[0], texture, **{name: a})
        assert tv.hierarchical_attention(FEATURES[0], texture).shape == (4, 8)


@SETTINGS
@given(anything, anything, anything)
def test_rings(a, b, c):
    tried(tv.logpolar, a, b, fixation=c)
    for name in ("names", "fixation", "inner", "outer", "plain", "rings", "sectors", "max_side", "format", "network", "device", "copy"):
        tried(tv.logpolar, IMAGE, **{name: a})
    tried(tv.logpolar, IMAGE, inner=a, outer=b, rings=8)
    with tv.Stack(IMAGE) as stack:
        tried(tv.logpolar, stack, a, rings=b, sectors=c)
        seen = tv.logpolar(stack, rings=8, sectors=12)
    tried(seen.back, a)
    tried(seen.back, size=a)
    tried(seen.back, np.zeros((12, 8, 2)), size=(b, c))
    assert seen.back().shape == IMAGE.shape


@SETTINGS
@given(anything, anything, anything)
def test_streams_and_sessions(a, b, c):
    with tv.VideoStream() as stream:
        tried(stream.update, a)
        stream = tv.VideoStream()
        stream.update(IMAGE)
        tried(stream.update, IMAGE, fixations=a, flow=b, keyframe=c)
        tried(stream.update, a)
        tried(stream.set_features, a, b)
        stream.update(IMAGE)
        tried(stream.channels, a, level=b)
        tried(stream.select, a, strategy=b)
        tried(stream.needs)
        assert len(stream.select(3, strategy="grid")) == 3
        stream.close()
    for name in ("use", "size", "keyframe_interval", "cut", "flow", "threshold", "saliency_share", "steadiness", "scorer", "network", "device"):
        tried(tv.VideoStream, **{name: a})
    tried(tv.video, a)
    for name in ("budget", "share", "tolerance", "patch", "slot", "hold", "emphasis", "size", "count", "memory", "device", "copy"):
        tried(tv.video, [IMAGE], **{name: a})
    for name in ("share", "tolerance", "latency", "motion", "patch", "slot", "hold", "emphasis", "size", "memory", "device", "copy"):
        tried(tv.VideoTokenStream, **{name: a})
    with tv.VideoTokenStream(share=.1) as tokens:
        tried(tokens.push, a)
        tried(tokens.end)
    with tv.VideoTokenStream(share=.1) as tokens:
        tokens.push(IMAGE)
        tried(tokens.push, a)
        assert tokens.push(IMAGE).frames >= 2  # what was refused has changed nothing
        tokens.end()
    found = tv.video([IMAGE, IMAGE], share=.1)
    tried(found.of, a)
    tried(found.held, a)
    tried(tv.Session, cache_bytes=a)
    with tv.Session() as session:
        tried(session.select, a, b)
        tried(session.select, IMAGE, features=a, feature_patch=b, stack=c)


@SETTINGS
@given(anything)
def test_thumbnails(a):
    selection = tv.select(IMAGE, 3, patch=4, strategy="budget")
    tried(selection.draw_thumbnail, a)
    assert selection.draw_thumbnail(tv.patches(IMAGE, selection, side=4)).ndim == 3


def test_every_public_callable_is_tried():
    """Here, by its name; but for those that take nothing, and what only tells."""
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    harmless = {"close", "finish", "tensor", "devices", "layouts", "Picture", "Pictures", "Position", "Prediction", "Selection", "VideoTokens", "to_dict", "to_pandas", "to_arrow", "image"}
    for name in tv.__all__:
        thing = getattr(tv, name)
        if isinstance(thing, type) and issubclass(thing, (Exception, Warning)):
            continue
        assert name in harmless or f"tv.{name}" in text, name
        for method, value in vars(thing).items() if isinstance(thing, type) else ():
            if not method.startswith("_") and not isinstance(value, property) and callable(getattr(thing, method)):
                assert method in harmless or re.search(rf"\.{method}\b", text), (name, method)


def test_every_public_name_has_its_manual():
    for name in tv.__all__:
        thing = getattr(tv, name)
        for one in [thing, *(value for word, value in vars(thing).items() if isinstance(thing, type) and word[0] != "_")]:
            told = one.fget if isinstance(one, property) else getattr(one, "__func__", one)
            if callable(told) and not isinstance(told, str):
                assert len(told.__doc__ or "") > 10, (name, told)


def test_an_object_whose_repr_fails_is_named_by_its_type():
    class Nameless(Hostile):
        def __repr__(self):
            raise RuntimeError("no name")

    with pytest.raises(TypeError, match="k is of type Nameless"):
        tv.select(IMAGE, Nameless())


@pytest.mark.parametrize("name", [3.5, "no such", "", "\0", b"x", [], 2**70, -1, True])
def test_devices(name):
    tried(tv.Device, name)
    tried(tv.Device, "reference", storage=name)
    tried(tv.Device, "reference", cache_dir=name)
    tried(tv.Device, "reference", fallback=name)
    tried(tv.Device, "reference", format=name)
    tried(tv.select, IMAGE, device=name)
