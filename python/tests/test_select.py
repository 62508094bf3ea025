# SPDX-License-Identifier: Apache-2.0
"""tv.select: what it answers, and that it is what the tool answers."""
import json
import subprocess
import sys

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw


def of_tool(path, *options):
    """The tool's positions: x, y, level, score and size of each, as floats."""
    found = subprocess.run([sys.executable, "-m", "texturevlm", "select", str(path), *options], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    positions = json.loads(found.stdout)["positions"]
    return np.array([[p["x"], p["y"], p["level"], p["score"], p["size"]] for p in positions], np.float32)


def of_python(selection):
    return np.column_stack([selection.xy, selection.level, selection.scores, selection.size])


def test_equals_the_tool_to_the_bit_on_ten_photos(ten_photos):
    for path in ten_photos:  # smaller than they are, but for the first: this is not about time
        smaller = ({"max_side": 400}, ["--max-side", "400"]) if path != ten_photos[0] else ({}, [])
        np.testing.assert_array_equal(of_python(tv.select(path, **smaller[0])), of_tool(path, *smaller[1]), err_msg=str(path))


@pytest.mark.parametrize("options, arguments", [
    ({"k": 40, "strategy": "budget"}, ["-k", "40", "--strategy", "budget"]),
    ({"share": 0.25, "strategy": "budget"}, ["--share", "0.25", "--strategy", "budget"]),
    ({"k": 40, "patch": 14}, ["-k", "40", "--patch", "14"]),
    ({"share": 0.2, "patch": 63}, ["--share", "0.2", "--patch", "63"]),
    ({"tolerance": 0.5, "strategy": "budget"}, ["--tolerance", "0.5", "--strategy", "budget"]),
    ({"tolerance": "auto", "strategy": "budget"}, ["--tolerance", "auto", "--strategy", "budget"]),
    ({"tolerance": 0, "strategy": "budget"}, ["--tolerance", "0", "--strategy", "budget"]),
    ({"emphasis": 8, "emphasis_channel": "text", "strategy": "budget", "k": 50},
     ["--emphasis", "8:text", "--strategy", "budget", "-k", "50"]),
    ({"k": 60, "overview": 0.25, "strategy": "grid"}, ["-k", "60", "--overview", "0.25", "--strategy", "grid"]),
    ({"k": 30, "strategy": "foveated", "fixations": [[100, 50]], "e0": 0.3},
     ["-k", "30", "--strategy", "foveated", "--fixation", "100,50", "--e0", "0.3"]),
    ({"k": 64, "strategy": "quadtree"}, ["-k", "64", "--strategy", "quadtree"]),
    ({"k": 20, "strategy": "exhaustive", "level": 2, "min_distance": 9},
     ["-k", "20", "--strategy", "exhaustive", "--level", "2", "--set", "min-distance=9"]),
    ({"k": 20, "strategy": "cascade", "keep_regions": 5}, ["-k", "20", "--strategy", "cascade", "--set", "keep-regions=5"]),
    ({"k": 25, "weights": [1, 0, 0], "stride": 20, "strategy": "grid"}, ["-k", "25", "--weights", "1,0,0", "--stride", "20", "--strategy", "grid"]),
    ({"k": 25, "diversity": 0.5, "max_side": 150, "strategy": "grid"},
     ["-k", "25", "--diversity", "0.5", "--max-side", "150", "--strategy", "grid"]),
])
def test_every_option_means_what_it_means_to_the_tool(ten_photos, options, arguments):
    path = ten_photos[0]
    np.testing.assert_array_equal(of_python(tv.select(path, **options)), of_tool(path, *arguments))


def test_scores_and_features_are_those_of_the_tool(ten_photos, tmp_path):
    path, random = ten_photos[1], np.random.default_rng(1)
    features = random.normal(size=(9, 11, 24)).astype(np.float32)
    query = random.normal(size=24).astype(np.float32)
    np.save(tmp_path / "F.npy", features)
    np.save(tmp_path / "Q.npy", query)
    options = ["--features", str(tmp_path / "F.npy"), "--query", str(tmp_path / "Q.npy"), "--strategy", "grid"]
    asked = tv.select(path, 50, features=features, query=query, strategy="grid")
    np.testing.assert_array_equal(of_python(asked), of_tool(path, "-k", "50", *options))
    assert not np.array_equal(asked.xy, tv.select(path, 50, strategy="grid").xy)
    with tv.Session() as session:
        for hits in range(2):
            again = session.select(path, 50, features=features, query=query, strategy="grid")
            np.testing.assert_array_equal(of_python(again), of_python(asked))
            assert session.info["hits"] == hits
    map_of = tv.scores(path)
    own = tv.select(path, 50, scores=map_of, strategy="grid")
    np.testing.assert_array_equal(own.xy, tv.select(path, 50, strategy="grid").xy)


def test_scores_of_ones_own_are_for_the_candidates_of_the_default(photo):
    own = np.zeros((12, 16), "f4")  # tiles of 20 pixels
    own[3, 4] = 1
    selection = tv.select(photo, 30, scores=own, patch=20)
    assert selection.strategy == "budget" and selection.grid == (16, 12) and selection.mask[3, 4]
    assert tv.select(photo, 30, overview=0.25, scores=np.ones((15, 20))).strategy == "grid"
    with pytest.raises(tv.Error, match="there are 15 x 20 candidates"):
        tv.select(photo, 30, scores=own)


def test_views_are_of_the_library_and_outlive_it(photo):
    selection = tv.select(photo, 30, strategy="grid", keep_scores=True)
    xy, scores = selection.xy, selection.score_map
    assert xy.shape == (30, 2) and xy.dtype == np.float32 and not xy.flags.owndata and not xy.flags.writeable
    kept = xy.copy(), scores.copy()
    del selection
    assert np.array_equal(xy, kept[0]) and np.array_equal(scores, kept[1])


def test_indices_and_mask_name_the_cells(photo):
    selection = tv.select(photo, 30, strategy="grid", keep_scores=True)
    columns, rows = selection.grid
    assert (rows, columns) == (15, 20) == selection.score_map.shape
    np.testing.assert_array_equal(selection.indices, selection.cell[:, 1] * columns + selection.cell[:, 0])
    np.testing.assert_array_equal(selection.score_map.reshape(-1)[selection.indices], selection.scores)
    np.testing.assert_array_equal(np.flatnonzero(selection.mask), np.sort(selection.indices))
    assert selection.mask.sum() == len(selection) == 30


def test_a_budget_covers_what_its_tiles_say(photo):
    selection = tv.select(photo, 90, strategy="budget")
    columns, rows = selection.thumbnail
    assert columns * rows == selection.first + len(selection.empty) and selection.first > 0
    assert selection.loss <= selection.loss_downsampled
    covered = np.zeros(selection.mask.shape, bool)
    for (x, y), size in zip(selection.xy[selection.first:], selection.size[selection.first:]):
        left, top, cells = int(x // size * size) // 16, int(y // size * size) // 16, int(size // 16)
        covered[top:top + cells, left:left + cells] = True
    np.testing.assert_array_equal(selection.mask, covered)


@pytest.mark.parametrize("side", [4, 5, 6, 7, 9, 14, 15, 18, 21, 28, 42, 63, 64])
def test_a_budget_takes_tokens_of_any_side(photo, reference, side):
    rows, columns = -(-photo.shape[0] // side), -(-photo.shape[1] // side)
    selection = tv.select(photo, share=0.5, patch=side, device=reference, keep_scores=True)
    assert len(selection) == int(0.5 * rows * columns)
    assert selection.grid == (columns, rows) and selection.score_map.shape == (rows, columns)
    assert selection.loss <= selection.loss_downsampled
    assert selection.mask.any() == (len(selection) > selection.first)  # where nothing is better it is downsampling
    patches = tv.patches(photo, selection, side=side, device=reference)
    assert patches.shape == (len(selection), 3, side, side) and 0 <= patches.min() < patches.max() <= 1


@pytest.mark.parametrize("side", [3, 65, 14.5])
def test_a_side_that_is_none_is_refused(photo, side):
    with pytest.raises(tv.Error, match=f"a patch of {side} pixels; for budget it is a whole number from 4 to 64"):
        tv.select(photo, 10, patch=side)


def test_a_quadtree_covers_everything(photo):
    assert tv.select(photo, 60, strategy="quadtree").mask.all()


def test_duplicates_are_tiles_that_are_equal():
    picture = np.tile(np.random.default_rng(3).integers(0, 255, (16, 16, 3), np.uint8), (4, 4, 1))
    selection = tv.select(picture, tolerance=0, strategy="budget")
    assert len(selection) == 1 and len(selection.duplicates) == 15


def test_lists_give_lists(photo):
    found = tv.select([photo, photo[:100]], 10, strategy="grid")
    assert [len(one) for one in found] == [10, 10] and found[1].height_of_image == 100
    assert tv.select([]) == []


def test_a_plain_call_takes_the_default(photo):
    assert tv.select(photo, 40).strategy == tv.select(photo, 40, strategy="default").strategy


def test_stages_say_what_was_looked_at(photo):
    stages = tv.select(photo, 10, strategy="cascade").stages
    assert [stage["name"] for stage in stages] == ["regions", "cells"] and stages[1]["kept"] == 10


def test_nines_are_cut_out_of_the_image_at_three_quarters(tmp_path):
    image = pytest.importorskip("PIL.Image")
    y, x = np.mgrid[0:128, 0:192]
    waves = np.uint8(128 + np.where(x < 64, 100 * np.sin(1.6 * x) * np.sin(1.6 * y), 20 * np.sin(x / 4) * np.sin(y / 4)))
    pixels, path = np.stack([waves, 255 - waves, waves], -1), tmp_path / "waves.png"
    image.fromarray(pixels).save(path)
    selection = tv.select(pixels, k=24)
    nines = np.flatnonzero((np.abs(selection.size - 64 / 3) < 1e-3) & (selection.height == 0))  # and no cell of the thumbnail
    assert len(nines) >= 9 and len(nines) % 9 == 0
    np.testing.assert_allclose(selection.level[nines], np.log2(4 / 3), atol=1e-6)
    small = np.stack([image.fromarray((pixels[..., c] / 255).astype(np.float32)).resize((144, 96), image.LANCZOS) for c in range(3)])
    patches = tv.patches(pixels, selection)
    for i in nines:
        column, row = (selection.xy[i] * 0.75 / 16).astype(int)
        np.testing.assert_allclose(patches[i], np.clip(small[:, row * 16:][:, :16, column * 16:][..., :16], 0, 1), atol=1e-3)
    found = subprocess.run([sys.executable, "-m", "texturevlm", "select", str(path), "-k", "24", "--crops", str(tmp_path)],
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    crops = [crop for crop in json.loads((tmp_path / "waves.json").read_text())["crops"] if abs(crop["level"] - 0.415) < 1e-3]
    assert sum(crop["width"] * crop["height"] for crop in crops) == len(nines) // 9 * 64 * 64
    for crop in crops:
        left, top, wide, high = (crop[key] * 3 // 4 for key in ("x", "y", "width", "height"))
        shown = np.asarray(image.open(tmp_path / crop["file"])) / 255
        np.testing.assert_allclose(shown, np.clip(small[:, top:top + high, left:left + wide].transpose(1, 2, 0), 0, 1), atol=3e-3)


def test_a_thumbnail_is_handed_out_as_it_is_priced(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = draw(320, 90)  # so low that no level is fine enough to be reduced: the image itself is
    path = tmp_path / "drawn.png"
    image.fromarray(pixels).save(path)
    selection = tv.select(pixels, share=0.25)
    columns, rows = selection.thumbnail
    picture = selection.draw_thumbnail(tv.patches(pixels, selection)).transpose(1, 2, 0)
    planes = [image.fromarray((pixels[..., c] / 255).astype(np.float32)).resize((columns * 16, rows * 16), image.LANCZOS) for c in range(3)]
    np.testing.assert_allclose(picture, np.clip(np.stack(planes, -1), 0, 1), atol=1e-3)
    found = subprocess.run([sys.executable, "-m", "texturevlm", "select", str(path), "--share", "0.25", "--crops", str(tmp_path)],
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    np.testing.assert_array_equal(np.asarray(image.open(tmp_path / "drawn-thumbnail.png")), np.uint8(picture * 255 + 0.5))
