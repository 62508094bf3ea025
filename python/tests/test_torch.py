# SPDX-License-Identifier: Apache-2.0
"""PyTorch's workers, its tensors on a GPU (those on the CPU are in test_images.py), and what the library computes beside the same
written in PyTorch: scorers, levels, codecs, merged tokens, rotary positions. Networks are compared in tests/python/check_learned.py,
sampling in test_torch_sample.py, attention in tests/python/check_attend.py."""
import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

torch = pytest.importorskip("torch")


class Elsewhere(torch.Tensor):
    """A tensor that says it is on a GPU, and what is brought from there."""

    brought = []

    def __dlpack_device__(self):
        return (2, 0)

    def cpu(self):
        self.brought.append(tuple(self.shape))
        return self.as_subclass(torch.Tensor)


def test_of_a_tensor_elsewhere_what_is_needed_is_brought():
    picture = draw(640, 480)
    options = {"strategy": "grid", "copy": True}
    for tensor in (torch.from_numpy(picture), torch.from_numpy(picture).permute(2, 0, 1).double() / 255):
        Elsewhere.brought.clear()
        tensor = tensor.as_subclass(Elsewhere)
        small = tv.select(tensor, 20, max_side=160, **options)
        assert Elsewhere.brought == [(120, 160, 3)] and (small.width, small.height_of_image) == (640, 480)
        expected = tv.select(picture, 20, strategy="grid", max_side=160)
        np.testing.assert_array_equal(small.xy, expected.xy)
        np.testing.assert_allclose(small.scores, expected.scores, atol=1e-4)
        whole = tv.select(tensor, 20, **options)
        assert Elsewhere.brought[1:] == [tuple(tensor.shape)]
        np.testing.assert_array_equal(whole.xy, tv.select(picture, 20, strategy="grid").xy)
        with tv.Stack(picture, size=(80, 60)) as stack:
            stack.set_image(tensor, copy=True)
            assert Elsewhere.brought[2:] == [(60, 80, 3)] and stack.image_size == (640, 480)


def test_ranges_are_checked_where_a_tensor_is_made_smaller_elsewhere():
    floats = torch.from_numpy(draw(640, 480)).float() / 255
    with pytest.raises(tv.Error, match=r"an image has floats of 0 .. 255; floats are taken from 0 to 1"):
        tv.select((floats * 255).as_subclass(Elsewhere), 20, max_side=160, copy=True)
    with pytest.raises(tv.Error, match=r"an image has floats of -1 .. 1; floats are taken from 0 to 1"):
        tv.select((floats * 2 - 1).permute(2, 0, 1).as_subclass(Elsewhere), 20, max_side=160, copy=True)
    with pytest.warns(tv.TexturevlmWarning, match="floats of 0 .. 1.125; what lies outside 0 .. 1 is cut off"):
        tv.select((floats * 1.125).as_subclass(Elsewhere), 20, max_side=160, copy=True)
    floats[:5] = torch.nan
    tv.select(floats.as_subclass(Elsewhere), 20, max_side=160, copy=True)


def test_everything_that_takes_images_brings_them_when_asked_to():
    picture = draw(640, 480)
    near = [picture, np.roll(picture, 3, 1)]
    far = [torch.from_numpy(image).as_subclass(Elsewhere) for image in near]
    share = np.zeros((30, 40), "f4")
    share[:, 20:] = 1
    session, stream = tv.Session(), tv.VideoStream(size=(160, 120))
    chosen = tv.select(picture, 5, strategy="grid")

    def streamed(image, **copy):
        stream.update(image, keyframe=True, **copy)
        return stream.channels("r")

    small, whole = (120, 160, 3), (480, 640, 3)
    for what, images, brought in (
            (lambda image, **copy: session.select(image, 5, strategy="grid", stack={"max_side": 160}, **copy).xy, far[:1], [small]),
            (lambda image, **copy: session.select(image, 5, strategy="grid", **copy).xy, far[:1], [whole]),
            (streamed, far[:1], [whole]),
            (lambda image, **copy: tv.show(image, chosen, **copy).array, far[:1], [whole]),
            (lambda image, **copy: tv.channels(image, "r", max_side=160, **copy), far[:1], [small]),
            (lambda image, **copy: tv.scores(image, max_side=160, **copy), far[:1], [small]),
            (lambda image, **copy: tv.patches(image, chosen, **copy), far[:1], [whole]),
            (lambda image, **copy: tv.export(image, "clip", budget=5, **copy)["selected_indices"], far[:1], [whole]),
            (lambda image, **copy: tv.fit([image], [share], channels="x,y", **copy).weights["x"], far[:1], [whole]),
            (tv.flow, far, [whole, whole])):
        with pytest.raises(tv.Error, match="OpenCL does not share: it must come to the CPU first. copy=True"):
            what(*images)
        Elsewhere.brought.clear()
        found = what(*images, copy=True)
        assert Elsewhere.brought == brought
        np.testing.assert_allclose(found, what(*near[:len(images)]), atol=1e-4 if brought[0] == small else 0)
    # A smaller version of another picture is another image, though its pixels are the same.
    even = torch.full((480, 640, 3), 128, dtype=torch.uint8)
    sizes = [session.select(image.as_subclass(Elsewhere), 1, strategy="grid", stack={"max_side": 80}, copy=True).width
             for image in (even, even[::2, ::2])]
    assert sizes == [640, 320]


@pytest.mark.parametrize("device", [None, "reference"])
@pytest.mark.parametrize("side", [1, 3])
def test_a_query_gives_the_kernel_of_a_convolution(photo, device, side):
    random, names = np.random.default_rng(7), ["r", "edges", "entropy", "query_similarity"]
    weights = random.normal(size=(5, len(names), side, side)).astype("f4")
    matrix = random.normal(size=(5, len(names), side, side, 32)).astype("f4")
    query = random.normal(size=32)
    scorer = tv.Scorer({name: weights[:, i] for i, name in enumerate(names)}, query_weights=matrix)
    with tv.Stack(photo, format="f32", device=tv.Device(device)) as stack:
        stack.set_features(random.normal(size=(15, 20, 32)).astype("f4"))
        for level in (2, 3):
            score = stack.scores(query, scorer=scorer, level=level)
            got = np.stack([score, *(stack.read(f"output_{i}") for i in range(1, 5))])
            kernel = torch.from_numpy(weights + matrix @ (query / np.linalg.norm(query)).astype("f4"))
            values = torch.from_numpy(stack.channels(names, level=level))
            border = side // 2
            around = torch.nn.functional.pad(values[None], (border, border, border, border), mode="replicate")
            np.testing.assert_allclose(got, torch.nn.functional.conv2d(around, kernel)[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("device", [None, "reference"])
@pytest.mark.parametrize("side", [1, 3])
def test_a_scorer_that_is_a_network_is_the_sequential(photo, device, side):
    torch.manual_seed(3 + side)
    model = torch.nn.Sequential(torch.nn.Conv2d(4, 12, side, padding=side // 2), torch.nn.ReLU(),
                                torch.nn.Conv2d(12, 2, side, padding=side // 2))
    names = ["r", "edges", "entropy", "saliency"]
    scorer = tv.Scorer(network=tv.Network(model, inputs=names, outputs=["score", "beside"]))
    with tv.Stack(photo, format="f32", device=tv.Device(device)) as stack:
        for cells in ({"level": 2}, {"level": 3}, {"stride": 16}):
            score = stack.scores(scorer=scorer, **cells)
            values = torch.from_numpy(stack.channels(names, level=cells.get("level", 4)))  # a cell of 16 pixels is a texel of level 4
            with torch.no_grad():
                expected = model(values[None])[0]
            np.testing.assert_allclose(score, expected[0], atol=1e-5)
            np.testing.assert_allclose(stack.read("output_1"), expected[1], atol=1e-5)


@pytest.mark.parametrize("device", [None, "reference"])
def test_gaussian_levels_are_strided_convolutions(photo, device):
    binomial = torch.tensor([1.0, 3.0, 3.0, 1.0]) / 8
    kernel = torch.outer(binomial, binomial).expand(3, 1, 4, 4)
    with tv.Stack(photo, layout="r,g,b", format="f32", device=tv.Device(device)) as stack:
        stack.set_reduce("gaussian")
        level = torch.from_numpy(photo.copy()).permute(2, 0, 1)[None].float() / 255
        for depth in range(1, 5):  # to 20 x 15 texels, all sides even before
            around = torch.nn.functional.pad(level, (1, 1, 1, 1), mode="replicate")
            level = torch.nn.functional.conv2d(around, kernel, stride=2, groups=3)
            np.testing.assert_allclose(stack.channels("r,g,b", level=depth), level[0], atol=1e-6)


def test_a_codec_is_two_products_of_matrices(photo):
    names = ["r", "g", "b", "edges", "entropy"]
    codec = tv.Codec.train([photo], 3, channels=names)
    encode, decode, mean = (torch.from_numpy(part) for part in (codec.encode, codec.decode, codec.mean))
    values = torch.from_numpy(np.random.default_rng(5).normal(size=(50, 5)).astype("f4"))
    codes = (values - mean) @ encode.T
    np.testing.assert_allclose(codec.apply(values), codes, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(codec.restore(codes), codes @ decode.T + mean, atol=1e-5, rtol=1e-5)
    weights = torch.tensor([0.5, -1.0, 0.25, 2.0, 1.0])
    scorer = tv.Scorer(dict(zip(names, weights.tolist())))
    with tv.Stack(photo, network=codec.network, format="f32") as stack:
        for level in (0, 3):
            given = torch.from_numpy(stack.channels(names, level=level))
            codes = torch.einsum("kn,nhw->khw", encode, given - mean[:, None, None])
            np.testing.assert_allclose(stack.channels("code_0,code_1,code_2", level=level), codes, atol=2e-5)
        folded = torch.einsum("k,khw->hw", decode.T @ weights, codes) + mean @ weights  # of level 3
        np.testing.assert_allclose(stack.scores(scorer=codec.fold(scorer), level=3), folded, atol=2e-5)


@pytest.mark.parametrize("choice", [{"k": 10, "strategy": "quadtree"}, {"k": 40, "overview": 0.4, "strategy": "grid"}])
@pytest.mark.parametrize("whole", [False, True])
def test_merged_tokens_are_means_by_index_add(photo, choice, whole):
    tokens = torch.randn(15, 20, 7, generator=torch.Generator().manual_seed(1))
    with tv.Stack(photo, format="f32") as stack:
        stack.set_features(tokens)
        selection = stack.select(**choice)
        merged = stack.merge_tokens(selection, whole=whole)
    x, y, side = (torch.from_numpy(part.copy()) for part in (*selection.xy.T, selection.size))
    if choice["strategy"] == "quadtree":  # a leaf begins at multiples of its side, and x, y is the centre of what the image has of it
        x, y = ((place / side).floor() * side + side / 2 for place in (x, y))
    v, u = torch.meshgrid(torch.arange(15.0), torch.arange(20.0), indexing="ij")
    inside = ((16 * u.reshape(-1, 1) + 8 - x).abs() < side / 2) & ((16 * v.reshape(-1, 1) + 8 - y).abs() < side / 2)
    if not whole:  # the smallest square, the first of equal ones
        smallest = torch.where(inside, side, side.new_tensor(torch.inf)).argmin(1)
        inside &= torch.nn.functional.one_hot(smallest, len(side)).bool()
    token, position = inside.nonzero(as_tuple=True)
    counts = torch.zeros(len(side)).index_add_(0, position, torch.ones(len(position)))
    assert (counts > 1).any()
    if choice["strategy"] == "quadtree" or not whole:
        assert len(position) == 300  # each token once; the cells of an overview lie below other squares
    else:
        assert len(position) > 300
    given = torch.cat([tokens, u[..., None], v[..., None]], -1).reshape(300, 9)
    means = torch.zeros(len(side), 9).index_add_(0, position, given[token]) / counts.clamp_min(1)[:, None]
    np.testing.assert_array_equal(merged.counts, counts)
    np.testing.assert_allclose(merged.tokens, means[:, :7], atol=1e-6)
    np.testing.assert_allclose(merged.xy[merged.counts > 0], means[counts > 0, 7:], atol=1e-5)


@pytest.mark.parametrize("device", [None, "reference"])
def test_rotary_channels_are_those_of_the_models(photo, device):
    theta, dimension, patch = 100.0, 8, 14.0
    frequencies = 1 / theta ** (torch.arange(0, dimension, 2) / dimension)
    with tv.Stack(photo, format="f32", device=tv.Device(device)) as stack:
        stack.set_rope(theta, dimension, patch)
        for level in (0, 2, 4):
            for axis, count in (("x", 320 >> level), ("y", 240 >> level)):
                angles = torch.outer(frequencies, (torch.arange(count) + 0.5) * 2**level / patch)
                for part in (torch.cos, torch.sin):
                    got = stack.channels([f"rope_{axis}_{part.__name__}_{k}" for k in range(4)], level=level)
                    expected = 0.5 + 0.5 * part(angles)
                    expected = expected[:, None] if axis == "x" else expected[..., None]
                    np.testing.assert_allclose(got, np.broadcast_to(expected, got.shape), atol=1e-5)


class Selected(torch.utils.data.Dataset):
    """What a training loop has: an image, and the numbers of its cells that matter."""

    def __init__(self, pictures):
        self.pictures = pictures

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return torch.from_numpy(tv.select(self.pictures[i], 10, strategy="grid").indices.copy())


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_workers_of_a_data_loader_select(photo, context):
    pictures = [np.roll(photo, 16 * i, 1) for i in range(6)]
    alone = torch.stack([Selected(pictures)[i] for i in range(6)])
    loader = torch.utils.data.DataLoader(Selected(pictures), batch_size=3, num_workers=2, multiprocessing_context=context)
    assert torch.equal(torch.cat(list(loader)), alone)


def test_forked_workers_select_where_only_they_use_it(run):
    assert "torch.Size([4, 1])" in run("""
import numpy as np, torch, texturevlm as tv, warnings
class Selected(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.from_numpy(tv.select(np.full((32, 32, 3), 40 * i, np.uint8), 1, strategy="grid").indices.copy())
print(torch.cat(list(torch.utils.data.DataLoader(Selected(), batch_size=2, num_workers=2))).shape)
""")


def test_forked_workers_say_why_they_cannot(photo, run):
    assert "this process was forked" in run("""
import numpy as np, torch, texturevlm as tv
image = np.zeros((32, 32, 3), np.uint8)
tv.devices()  # asks OpenCL
class Selected(torch.utils.data.Dataset):
    def __len__(self):
        return 1
    def __getitem__(self, i):
        return len(tv.select(image, 1))
try:
    list(torch.utils.data.DataLoader(Selected(), num_workers=2))
except tv.Error as error:
    print(error)
""")
