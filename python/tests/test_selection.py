# SPDX-License-Identifier: Apache-2.0
"""What was selected: the cells under it, as a sequence, in other forms, copied and sent elsewhere."""
import copy
import gc
import json
import math
import multiprocessing
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw

STRATEGIES = {"budget": {}, "grid": {}, "quadtree": {}, "foveated": {}, "cascade": {}, "exhaustive": {"level": 3}, "overview": {"overview": 0.3}}


def chosen(picture, name, **options):
    return tv.select(picture, 60, **STRATEGIES[name], **({} if name == "overview" else {"strategy": name}), **options)


@pytest.fixture(scope="module")
def odd():
    """Its sides are multiples of nothing."""
    return draw(331, 247)


# ---- The patches of an encoder ----

@pytest.mark.parametrize("size", [None, (200, 240)], ids=["as it is", "worked on in another shape"])
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("grid", [(24, 24), (20, 15), (7, 50)])
def test_cells_are_what_the_library_merges(odd, name, size, grid):
    """Of each position as many of an encoder's patches, and those in the same places."""
    columns, rows = grid
    with tv.Stack(odd, size=size) as stack:
        stack.set_features(np.random.default_rng(0).normal(size=(rows, columns, 3)).astype("f4"))
        selection = stack.select(60, **STRATEGIES[name], **({} if name == "overview" else {"strategy": name}))
        merged = stack.merge_tokens(selection, whole=True)
    cells = selection.cells(grid)
    np.testing.assert_array_equal([len(one) for one in cells], merged.counts)
    places = [[(one % columns).mean(), (one // columns).mean()] for one in cells]
    np.testing.assert_allclose(places, merged.xy, atol=1e-4)
    covered = selection.covered(grid)
    assert len(set(covered)) == len(covered) and set(covered) == {int(i) for one in cells[selection.first:] for i in one}


@pytest.mark.parametrize("name", STRATEGIES)
def test_nothing_names_a_cell_that_is_none(odd, name):
    """What selects rows of an encoder's patches is in range, whatever was chosen by; or is refused."""
    selection = chosen(odd, name)
    columns, rows = selection.grid
    features = np.arange(columns * rows)
    assert all(len(one) and 0 <= one.min() and one.max() < columns * rows for one in selection.cells())
    covered = selection.covered()
    np.testing.assert_array_equal(np.sort(covered), np.flatnonzero(selection.mask))
    np.testing.assert_array_equal(features[covered], covered)
    if name in ("grid", "cascade", "exhaustive"):
        np.testing.assert_array_equal(selection.indices, selection.cell @ [1, columns])
        np.testing.assert_array_equal(selection.indices, covered)
    else:
        with pytest.raises(tv.ArgumentError, match=r"of 60 positions stand for several cells each .* covered\(\)"):
            selection.indices  # noqa: B018


def test_a_tile_that_the_image_cuts_covers_what_is_left_of_it():
    picture = np.full((256, 330, 3), 128, np.uint8)
    picture[200:, 290:] = np.random.default_rng(0).integers(0, 255, (56, 40, 3))
    selection = tv.select(picture, 60, strategy="quadtree")
    at = next(i for i in range(60) if selection.size[i] >= 32 and selection.xy[i, 0] + selection.size[i] / 2 > 331)
    left = selection.xy[at, 0] // selection.size[at] * selection.size[at]
    assert (selection.cells()[at] % selection.grid[0]).min() == math.ceil(left / 16)


def test_tensors_index_an_encoders_patches(odd):
    torch = pytest.importorskip("torch")
    for picture in (odd, torch.from_numpy(odd)):
        selection = tv.select(picture, 60)
        kept = torch.arange(24 * 24)[selection.tensor(grid=(24, 24))]
        np.testing.assert_array_equal(kept.numpy(), selection.covered((24, 24)))
        cells = tv.select(picture, 60, strategy="grid").tensor()
        assert cells.dtype == torch.int64 and (cells >= 0).all() and len(cells)


def test_a_wrong_grid_is_refused(odd):
    selection = tv.select(odd, 60)
    for grid, message in ((24, "grid is 24, not columns and rows"), ((0, 4), "grid is 0"), ((4.5, 4), "grid is 4.5, not a whole number"),
                          ((4096, 4096), "grid is 4096 x 4096, more than 4194304 patches")):
        with pytest.raises(tv.Error, match=message):
            selection.cells(grid)


def test_what_is_missing_is_named(odd, monkeypatch):
    selection = tv.select(odd, 60)
    for name, task in (("pandas", selection.to_pandas), ("pyarrow", selection.to_arrow), ("torch", selection.tensor)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(tv.MissingPackageError, match=f"not installed: pip install {name}"):
            task()
        with pytest.raises(ImportError):
            task()


# ---- A sequence ----

@pytest.mark.parametrize("name", STRATEGIES)
def test_it_is_a_sequence(odd, name):
    selection = chosen(odd, name)
    positions = list(selection)
    assert len(positions) == len(selection) == 60 and positions[-1] == selection[-1] == selection[59]
    for i, one in enumerate(positions):
        assert (one.x, one.y) == tuple(selection.xy[i]) and one.size == selection.size[i] and one.score == selection.scores[i]
        assert one.height == selection.height[i] and one.level == selection.level[i]
        assert one.cell == (tuple(selection.cell[i]) if selection.cell[i, 0] >= 0 else None)
    for wrong in (60, -61):
        with pytest.raises(IndexError):
            selection[wrong]
    with pytest.raises(TypeError, match="an index is 'x'"):
        selection["x"]
    for index, kind in ((slice(None, None, 0), ValueError), (slice("x", None), TypeError)):
        with pytest.raises(kind, match="^a slice of a selection: slice ") as raised:
            selection[index]
        assert isinstance(raised.value, tv.Error)
    assert selection[0] in positions and list(reversed(selection)) == positions[::-1]


def test_a_slice_is_a_selection(odd):
    selection = tv.select(odd, tolerance=0.1)
    first, count = selection.first, len(selection)
    assert count >= first + 5
    part = selection[:first + 5]
    assert isinstance(part, tv.Selection) and len(part) == first + 5 and part.thumbnail == selection.thumbnail and part.first == first
    np.testing.assert_array_equal(part.xy, selection.xy[:first + 5])
    assert set(part.covered()) == {int(i) for one in selection.cells()[first:first + 5] for i in one}
    tiles = selection[first:]
    assert tiles.first == 0 and tiles.thumbnail == (0, 0) and len(tiles) == count - first and math.isnan(tiles.loss)
    np.testing.assert_array_equal(tiles.covered(), selection.covered())
    np.testing.assert_array_equal(selection[::-2].scores, selection.scores[::-2])
    for one in (part, tiles, selection[:0], tiles[3:5]):
        assert tv.show(odd, one).array.shape[2] == 3 and one == one[:] and len(one.to_dict()["positions"]) == len(one)
        assert tv.patches(odd, one).shape[0] == len(one)
    with tv.Stack(odd) as stack, pytest.raises(tv.ArgumentError, match="a part of another one, or was pickled"):
        stack.set_features(np.ones((4, 4, 2), "f4"))
        stack.merge_tokens(part)


def test_parts_of_an_overview_have_the_cells_of_the_whole(odd):
    whole = tv.select(odd, k=20, overview=0.5, strategy="grid")
    assert whole.first > 3
    for grid in (None, (16, 12)):
        cells = whole.cells(grid)
        for part in (slice(0, 3), slice(None, None, -1), slice(2, 9, 2), slice(whole.first, None)):
            for again in (whole[part], whole[part][:], pickle.loads(pickle.dumps(whole[part]))):
                assert [one.tolist() for one in again.cells(grid)] == [one.tolist() for one in cells[part]]
            assert [one.tolist() for one in whole[part][1:3].cells(grid)] == [one.tolist() for one in cells[part][1:3]]


# ---- Other forms ----

@pytest.mark.parametrize("name", STRATEGIES)
def test_to_dict_is_the_tools_json(odd, tmp_path, name):
    from texturevlm._image import write_png
    path = tmp_path / "odd.png"
    write_png(str(path), np.ascontiguousarray(odd))
    options = ["--overview", "0.3"] if name == "overview" else ["--strategy", name]
    options += ["--level", "3"] if name == "exhaustive" else []
    found = subprocess.run([sys.executable, "-m", "texturevlm", "select", str(path), "-k", "60", *options], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    tools, own = json.loads(found.stdout), chosen(path, name).to_dict()
    assert list(own) == list(tools) and own["image"] == tools["image"]
    assert json.loads(json.dumps(own)) == own
    for key in tools:
        if key in ("loss", "downsampled"):
            assert own[key] == pytest.approx(tools[key], rel=1e-4)
        elif key == "positions":
            for ours, theirs in zip(own[key], tools[key]):
                assert list(ours) == list(theirs)
                for field, value in theirs.items():
                    assert ours[field] == pytest.approx(value, rel=1e-4, abs=1e-6)
        elif key not in ("image", "layout"):  # the package's stacks begin with what is read
            assert own[key] == tools[key], key


def test_to_dict_of_an_array_has_no_path(odd):
    assert tv.select(odd, 60).to_dict()["image"] == {"width": 331, "height": 247}


def test_duplicates_are_in_it():
    picture = np.tile(np.random.default_rng(3).integers(0, 255, (16, 16, 3), np.uint8), (4, 4, 1))
    selection = tv.select(picture, tolerance=0, strategy="budget")
    again = pickle.loads(pickle.dumps(selection))
    assert len(selection.to_dict()["duplicates"]) == 15 and again.to_dict() == selection.to_dict()


# ---- Thumbnails with empty cells ----

def with_thumbnail(selection, columns, rows, empty=frozenset()):
    """The tiles of a selection behind a thumbnail of that grid, of which some cells are empty."""
    width, height = selection.image_size
    state = selection.__getstate__()
    tiles = selection._rows[selection.first:]
    kept = [(x, y) for y in range(rows) for x in range(columns) if (x, y) not in empty]
    cells = np.zeros(len(kept), tiles.dtype)
    for cell, (x, y) in zip(cells, kept):
        cell["x"], cell["y"], cell["size"], cell["height"] = (x + .5) * width / columns, (y + .5) * height / rows, width / columns, height / rows
        cell["score"], cell["column"], cell["row"] = 1, -1, -1
    state.update(rows=cells.tobytes() + tiles.tobytes(), thumbnail=(columns, rows),
                 _empty=np.array([(x, y) for y in range(rows) for x in range(columns) if (x, y) in empty], np.int32).reshape(-1, 2))
    made = tv.Selection.__new__(tv.Selection)
    made.__setstate__(state)
    return made


COLUMNS, ROWS = 5, 4
EMPTY = {(4, y) for y in range(ROWS)} | {(3, 0), (0, 3)}


def filled(picture, columns, rows, empty):
    """By the words of select.h; `picture` [C, height, width]."""
    channels, side = picture.shape[0], picture.shape[1] // rows
    cells = picture.reshape(channels, rows, side, columns, side).transpose(1, 3, 2, 4, 0).astype(np.float64)
    lines = {(0, -1): np.s_[:, -1], (0, 1): np.s_[:, 0], (-1, 0): np.s_[-1], (1, 0): np.s_[0]}
    left = {(y, x) for x, y in empty}
    while left:
        done = {}
        for y, x in left:
            around = [cells[y + down, x + right][line].mean(0) for (down, right), line in lines.items()
                      if 0 <= y + down < rows and 0 <= x + right < columns and (y + down, x + right) not in left]
            if around:
                done[y, x] = np.mean(around, 0)
        for place, color in done.items():
            cells[place] = color
        left -= set(done)
    return cells.transpose(4, 0, 2, 1, 3).reshape(picture.shape)


def test_cells_may_be_empty(odd):
    chosen_by_budget = tv.select(odd, 60)
    whole, holes = (with_thumbnail(chosen_by_budget, COLUMNS, ROWS, empty) for empty in (set(), EMPTY))
    assert whole.first == COLUMNS * ROWS and whole.empty.shape == (0, 2) and "empty" not in whole.to_dict()
    assert holes.first == whole.first - len(EMPTY) and holes.thumbnail == whole.thumbnail and len(holes) == len(whole) - len(EMPTY)
    assert {tuple(cell) for cell in holes.empty.tolist()} == EMPTY and not holes.empty.flags.writeable
    np.testing.assert_array_equal(holes.covered(), whole.covered())
    assert (holes.height[:holes.first] > 0).all() and (holes.height[holes.first:] == 0).all()
    said = holes.to_dict()
    assert list(said)[list(said).index("thumbnail") + 1] == "empty" and said["empty"] == holes.empty.tolist()
    json.dumps(said)
    for again in (pickle.loads(pickle.dumps(holes)), copy.deepcopy(holes), holes[:]):
        assert again == holes and again.first == holes.first and again.to_dict()["empty"] == said["empty"]
    assert holes != whole
    cut = holes[:holes.first + 3]
    assert cut.thumbnail == holes.thumbnail and cut.first == holes.first and len(cut.empty) == len(EMPTY)
    tiles = holes[holes.first:]
    assert tiles.thumbnail == (0, 0) and tiles.first == 0 and len(tiles.empty) == 0 and "empty" not in tiles.to_dict()
    np.testing.assert_array_equal(tiles.covered(), whole.covered())


def test_a_thumbnail_with_empty_cells_is_drawn(odd):
    chosen_by_budget = tv.select(odd, 60)
    whole, holes = (with_thumbnail(chosen_by_budget, COLUMNS, ROWS, empty) for empty in (set(), EMPTY))
    patches = tv.patches(odd, holes)
    picture = holes.draw_thumbnail(patches)
    assert picture.shape == (3, ROWS * 16, COLUMNS * 16) and picture.dtype == np.float32
    np.testing.assert_allclose(picture, filled(picture, COLUMNS, ROWS, EMPTY), atol=1e-6)
    before = whole.draw_thumbnail(tv.patches(odd, whole))
    there = np.ones((ROWS, COLUMNS), bool)
    for x, y in EMPTY:
        there[y, x] = False
    there = there.repeat(16, 0).repeat(16, 1)
    np.testing.assert_array_equal(picture[:, there], before[:, there])  # cut out of the same picture
    assert (before[:, ~there] != picture[:, ~there]).any()
    np.testing.assert_array_equal(holes.draw_thumbnail(patches[:holes.first, :1]), picture[:1])
    for wrong in (patches[:holes.first - 1], patches[..., :9], patches[0]):
        with pytest.raises(tv.ArgumentError):
            holes.draw_thumbnail(wrong)
    with pytest.raises(tv.ArgumentError, match="0 x 0 cells"):
        tv.select(odd, 9, strategy="grid").draw_thumbnail(patches)


def test_empty_cells_have_no_lines(odd):
    chosen_by_budget = tv.select(odd, 60)
    nothing = chosen_by_budget[chosen_by_budget.first:][:0]
    plain, whole, holes = (tv.show(odd, one, title="x").array for one in
                           (nothing, with_thumbnail(nothing, COLUMNS, ROWS), with_thumbnail(nothing, COLUMNS, ROWS, EMPTY)))
    lines, kept = (whole != plain).any(2), (holes != plain).any(2)
    assert kept.any() and not (kept & ~lines).any()
    assert abs(kept.sum() / lines.sum() - (1 - len(EMPTY) / (COLUMNS * ROWS))) < .05
    last = -(-lines.shape[1] * (COLUMNS - 1) // COLUMNS) + 1  # all of the last column is empty
    assert lines[:, last:].any() and not kept[:, last:].any()


def test_thirds_are_cut_out_of_the_image_at_a_third():
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(3).integers(0, 256, (144, 192, 3), np.uint8)
    at = [[72, 24, 48], [24, 120, 48], [8, 8, 16]]
    small = np.stack([image.fromarray((pixels[..., c] / 255).astype(np.float32)).resize((64, 48), image.LANCZOS) for c in range(3)])
    patches = tv.patches(pixels, np.array(at, np.float32))
    for patch, (x, y, _) in zip(patches[:2], at):
        np.testing.assert_allclose(patch, np.clip(small[:, y // 3 - 8:][:, :16, x // 3 - 8:][..., :16], 0, 1), atol=1e-3)
    np.testing.assert_array_equal(patches[2], np.float32(pixels[:16, :16].transpose(2, 0, 1)) / np.float32(255))


def test_tables(odd, monkeypatch):
    selection = tv.select(odd, 60)
    names = ["x", "y", "level", "score", "size", "height", "column", "row"]
    with monkeypatch.context() as patched:  # what a table is made of, also where there is none of the packages
        patched.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=dict))
        columns = selection.to_pandas()
        assert list(columns) == names and all(column.shape == (60,) for column in columns.values())
        np.testing.assert_array_equal(columns["column"], selection.cell[:, 0])
    try:
        import pyarrow
    except ImportError:
        pyarrow = None
    if pyarrow:
        table = selection.to_arrow()
        assert table.column_names == names and table.num_rows == 60
        np.testing.assert_array_equal(table["x"].to_numpy(), selection.xy[:, 0])
    pandas = pytest.importorskip("pandas")
    frame = selection.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == names
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(), selection.xy)


def of_worker(selection):
    """What a process of its own gets, and sends back."""
    return selection, selection.to_dict(), selection.xy.sum(), selection.covered((24, 24)), repr(selection)


def test_it_is_copied_pickled_and_compared(odd):
    for name in STRATEGIES:
        selection = chosen(odd, name, keep_scores=True)
        for again in (pickle.loads(pickle.dumps(selection)), copy.deepcopy(selection), copy.copy(selection), chosen(odd, name, keep_scores=True)):
            assert again == selection and hash(again) == hash(selection) and again.to_dict() == selection.to_dict()
            np.testing.assert_array_equal(again.score_map, selection.score_map)
            np.testing.assert_array_equal(again.duplicates, selection.duplicates)
            assert again.stages == selection.stages and not again.xy.flags.writeable
            assert np.array_equal(tv.show(odd, again).array, tv.show(odd, selection).array)
        assert selection != chosen(odd[:, :200], name) and selection != 3 and selection != selection[:5]
    with pytest.raises(ValueError):
        pickle.loads(pickle.dumps(selection)).score_map[0] = 1
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        selection = tv.select(odd, 60)
        again, as_dict, total, covered, said = pool.apply(of_worker, (selection,))
    assert again == selection and as_dict == selection.to_dict() and total == selection.xy.sum() and said == repr(selection)
    np.testing.assert_array_equal(covered, selection.covered((24, 24)))


def test_it_never_changes(odd):
    selection = tv.select(odd, 20)
    for one in (selection, selection[5:], pickle.loads(pickle.dumps(selection)), copy.deepcopy(selection)):
        for name in ("strategy", "image_size", "grid", "loss", "xy", "new"):
            with pytest.raises(AttributeError):
                setattr(one, name, (1, 1))
        for array in (one.xy, one.size, one.cell, one.scores, one.level, one.height, one.lost):
            with pytest.raises(ValueError):
                array.flags.writeable = True
        one.stages.append({})
        one.to_dict()["positions"].clear()
    assert selection == tv.select(odd, 20) and len(selection.stages) == len(tv.select(odd, 20).stages)


@pytest.mark.parametrize("make", [
    lambda odd: tv.Device("reference"), lambda odd: tv.Stack(odd), lambda odd: tv.Session(), lambda odd: tv.VideoStream(),
    lambda odd: tv.VideoTokenStream(), lambda odd: tv.Texture(np.ones((4, 4, 2)))])
def test_what_hangs_on_a_device_says_that_it_cannot_be_copied(odd, make):
    thing = make(odd)
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(tv.ArgumentTypeError, match=f"^a {type(thing).__name__} cannot be pickled or copied, as it hangs on its device: make"):
            way(thing)


@pytest.mark.parametrize("thing", [
    tv.Query(np.ones(4)), tv.Scorer({"r": 1.0}), tv.Basis(np.eye(3)), tv.Vocab(np.eye(3)), tv.Codec(["r", "g"], [[1, 0]], [[1], [0]]),
    tv.Projection(np.ones((2, 2)), channels=["r", "g"]), tv.Network([{"weight": np.ones((1, 1, 3, 3))}], inputs=["r"], outputs=["soft"])],
    ids=lambda thing: type(thing).__name__)
def test_what_never_changes_is_its_own_copy_and_says_how_it_travels(thing):
    assert copy.copy(thing) is thing and copy.deepcopy([thing])[0] is thing
    with pytest.raises(tv.ArgumentTypeError, match=f"^a {type(thing).__name__} cannot be pickled: " + (
            "make it" if isinstance(thing, tv.Query) else "save it, and load it where it is needed")):
        pickle.dumps(thing)


class Pictures:
    """A data set whose items are selections."""

    def __init__(self, pictures):
        self.pictures = pictures

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return tv.select(self.pictures[i], 20)


def test_a_spawned_data_loader_gives_selections(odd):
    torch = pytest.importorskip("torch")
    pictures = [np.roll(odd, 16 * i, 1) for i in range(4)]
    loader = torch.utils.data.DataLoader(Pictures(pictures), batch_size=2, collate_fn=list, num_workers=1, multiprocessing_context="spawn")
    found = [selection for batch in loader for selection in batch]
    assert found == [tv.select(picture, 20) for picture in pictures]


# ---- Notebooks ----

def test_a_notebook_shows_the_image_while_it_is_there(odd, tmp_path):
    from texturevlm._image import write_png
    picture = odd.copy()
    selection = tv.select(picture, 60)
    assert selection.image() is picture and selection._repr_png_() == tv.show(picture, selection)._repr_png_()
    assert selection._repr_html_() is None
    del picture
    gc.collect()
    assert selection.image() is None and selection._repr_png_() is None
    html = selection._repr_html_()
    assert html.count("<rect") == 60 and "The image is not kept with it" in html and "Selection of 60 by budget in 331 x 247" in html
    path = tmp_path / "odd.png"
    write_png(str(path), np.ascontiguousarray(odd))
    selection = tv.select(path, 60)
    assert selection.image() == str(path) and selection._repr_png_()[:4] == b"\x89PNG"
    again = pickle.loads(pickle.dumps(selection))
    assert again.image() is None and again._repr_png_() is None and "<svg" in again._repr_html_()
    write_png(str(path), np.ascontiguousarray(odd[::-1]))
    assert selection.image() is None and selection._repr_png_() is None  # another picture lies there now
    path.unlink()
    assert selection._repr_png_() is None
    many = tv.select(draw(1024, 1024), 3000, strategy="grid")
    assert many._repr_html_().count("<rect") == 2000 and "The last 1000 positions are left out" in many._repr_html_()


def test_pictures_are_arrays(odd):
    picture = tv.show(odd, tv.select(odd, 60))
    array = np.asarray(picture)
    assert array.dtype == np.uint8 and array.shape == (*picture.size[::-1], 3) and array is picture.array
    assert np.array(picture) is not picture.array and np.asarray(picture, dtype="f4").dtype == np.float32
    assert len(tv.select(picture, 20)) == 20
    image = pytest.importorskip("PIL.Image")
    assert image.fromarray(np.asarray(picture)).size == picture.size


def test_pairs_are_in_one_order(odd):
    """(width, height), (columns, rows)."""
    with tv.Stack(odd, size=(300, 200)) as stack:
        selection = stack.select(60)
    assert selection.image_size == stack.image_size == (331, 247) and selection.working_size == stack.size == (300, 200)
    assert selection.grid == (19, 13) and selection.mask.shape == (13, 19)
    assert (selection.width, selection.height_of_image) == selection.image_size
    prediction = tv.predict(odd, [(9, 6), (4, 3)])
    assert prediction.pictures == [(9, 6), (4, 3)] and prediction.keep(0, 20)[0].shape == (6, 9)
