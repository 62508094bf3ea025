# SPDX-License-Identifier: Apache-2.0
"""tv.export beside the Pillow and the transformers that are there: the order of a resize's passes, and short sides."""
import numpy as np
import pytest

import texturevlm as tv

from conftest import draw


def test_a_resize_is_that_of_the_pillow_that_is_there():
    """From 13 on the passes are in the other order where the height shrinks by more than twice what the width does."""
    PIL = pytest.importorskip("PIL")
    from PIL import Image
    version = int(PIL.__version__.split(".")[0])
    other = 12 if version >= 13 else 13
    differed = 0
    random = np.random.default_rng(0)
    sizes = [tuple(random.integers(40, 200, 2)) for _ in range(12)]
    # One pixel to either side of the bound, and on it, of a width that grows, stays and shrinks.
    sizes += [(96 + d, 96 + 2 * d + e) for d in (-6, 0, 7, 20) for e in (-1, 0, 1) if 96 + 2 * d + e > 1]
    for width, height in sizes:
        picture = random.integers(0, 256, (height, width, 3), np.uint8)
        resized = np.asarray(Image.fromarray(picture).resize((96, 96), Image.BICUBIC))
        own, otherwise = (np.rint((tv.export(picture, "siglip", side=96, all=True, pillow=pillow)["pixel_values"][0] * 0.5 + 0.5) * 255)
                          .astype(np.uint8).transpose(1, 2, 0) for pillow in (version, other))
        np.testing.assert_array_equal(own, resized, f"{width} x {height}")
        differed += not np.array_equal(own, otherwise)
    assert 0 < differed < len(sizes)


@pytest.mark.parametrize("model, factor, least, most", [("qwen2-vl", 28, 3136, 12845056), ("qwen3-vl", 32, 65536, 16777216)])
def test_short_sides_are_taken_as_current_processors_take_them(model, factor, least, most):
    transformers = pytest.importorskip("transformers")
    try:  # of transformers 5 the one that needs no torchvision
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize
    except ImportError:
        from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize
    if transformers.__version__.startswith("4.47"):
        pytest.skip("this one refuses them")
    for width, height in ((1, 1), (1, 200), (5, 90), (27, 28), (13, 100), (31, 31), (400, 9), (2000, 15)):
        grid = tv.export(draw(width, height), model, all=True, selected_only=True)["image_grid_thw"][0]
        assert tuple(grid[1:] * (factor // 2)) == smart_resize(height, width, factor, least, most), (width, height)
    with pytest.raises(tv.Error, match="aspect ratio of 201"):
        tv.export(draw(1, 201), model)


def test_selected_only_leaves_out_the_rest():
    picture = draw(200, 140)
    whole, few = (tv.export(picture, "qwen2-vl", budget=5, selected_only=only) for only in (False, True))
    assert set(whole) - set(few) == {"pixel_values"}
    for name, values in few.items():
        np.testing.assert_array_equal(values, whole[name])


def test_an_overview_is_a_picture_of_its_own():
    made = tv.export(draw(336, 224), "qwen2-vl", budget=24, overview=0.5)
    (_, rows, columns), (_, full_rows, full_columns) = made["image_grid_thw"]
    cells = rows * columns // 4
    assert 6 <= cells <= 12 and (full_rows, full_columns) == (16, 24) and len(made["selected_indices"]) == 24
    np.testing.assert_array_equal(made["selected_indices"][:cells], np.arange(cells))
    assert made["picture_source"].tolist() == [0, 0] and made["picture_scale"][1].tolist() == [1, 1]
    with pytest.raises(tv.Error, match="overview of 2"):
        tv.export(draw(336, 224), "qwen2-vl", overview=2)
