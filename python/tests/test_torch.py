# SPDX-License-Identifier: Apache-2.0
"""PyTorch's workers, and its tensors on a GPU. Those on the CPU are in test_images.py."""
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
