# SPDX-License-Identifier: Apache-2.0
"""An image as the content of a message: what is sent, what it takes, and pictures of all kinds."""
import base64
import io
import json

import numpy as np
import pytest

import texturevlm as tv

Image = pytest.importorskip("PIL.Image")
from conftest import draw  # noqa: E402
from test_document import checkout, run_blocks  # noqa: E402,F401  a fixture
from texturevlm import _cut, _pictures  # noqa: E402


def page(width=1120, height=840, seed=0):
    """White, with lines of strokes in its upper left third."""
    random = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), 255, "uint8")
    for top in range(60, height // 3, 16):
        for left in range(60, width // 2, 4):
            if random.random() < 0.6:
                pixels[top:top + random.integers(4, 11), left:left + 2] = 20
    return Image.fromarray(pixels)


def decoded(part):
    assert set(part) == {"type", "image_url"} and set(part["image_url"]) == {"url"}
    head, data = part["image_url"]["url"].split(",")
    assert head in ("data:image/png;base64", "data:image/jpeg;base64")
    found = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
    assert found.mode == "RGB" and f"image/{found.format.lower()}" in head
    return found


def saved(image, **options):
    file = io.BytesIO()
    image.save(file, **options)
    return file.getvalue()


def one_of(data, **options):
    """The pixels of the one picture that an image becomes whose tokens all fit."""
    found = tv.pictures(data, **{"budget": 2000, "encoding": "png", **options})
    assert [part["type"] for part in found] == ["image_url"] and found.report.pictures[0].way == "full"
    return np.asarray(decoded(found[0]))


# ---- What is chosen ----

@pytest.mark.parametrize("patch, extra", [(28, 2), (16, 0)])
@pytest.mark.parametrize("budget", [40, 120, 256, 700])
@pytest.mark.parametrize("image", [page(560, 420), Image.fromarray(draw(600, 400))], ids=["page", "photo"])
def test_nothing_is_predicted_to_be_worse_than_a_smaller_picture(image, budget, patch, extra):
    found = tv.pictures(image, budget=budget, patch=patch, extra=extra)
    (chosen,), (among,) = found.report.pictures, found.report.candidates
    texts = [part["text"] for part in found if part["type"] == "text"]
    shown = [decoded(part) for part in found if part["type"] == "image_url"]
    assert json.loads(json.dumps(found)) == found and len(texts) + len(shown) == len(found)
    if chosen.way != "full":
        assert chosen.loss <= next(one.loss for one in among if one.way == "smaller")
        assert all(side % patch == 0 for one in shown for side in one.size)
        # Counted anew, from what is sent.
        tokens = sum(one.size[0] * one.size[1] // patch**2 + extra for one in shown) + sum(map(_pictures.tokens_of, texts))
        assert tokens == found.tokens == chosen.tokens <= budget
    assert (chosen.way == "pictures") == (len(shown) > 1) == bool(texts) == (found[0]["type"] == "text")
    assert found.report.full == [round(image.size[0] / patch) * round(image.size[1] / patch) + extra]


def test_crops_of_a_page_are_sent_with_their_places():
    image = page()
    found = tv.pictures(image, budget=256)
    (chosen,), (among,) = found.report.pictures, found.report.candidates
    assert chosen.way == "pictures" and chosen.loss < 0.3 * next(one.loss for one in among if one.way == "smaller")
    head, *boxes = found[0]["text"].replace("%: ", "; ").rstrip(".").split("; ")
    assert head.startswith(f"The next {len(found) - 1} pictures are one image: the whole, then parts") and len(boxes) == len(found) - 2
    whole = np.asarray(image)
    for box, part in zip(boxes, found[2:]):
        left, top, right, bottom = (int(number) / 100 for number in box.split())
        assert 0 <= left < right <= 1 and 0 <= top < bottom <= 1
        area = whole[int(top * 840):round(bottom * 840), int(left * 1120):round(right * 1120)]
        shown = np.asarray(decoded(part))
        # What is dark there is dark here: the share of ink, from which the rounding of places takes little.
        assert abs((area < 128).mean() - (shown < 128).mean()) < 0.05 and (shown < 128).any()
    sizes = [decoded(part).size for part in found[1:]]
    assert found.tokens == sum(width * height // 784 + 2 for width, height in sizes) + _pictures.tokens_of(found[0]["text"]) <= 256
    drawn = np.asarray(tv.show(found))
    assert drawn.shape[1] == sum(decoded(part).size[0] + 8 for part in found[1:]) - 8


def test_one_picture_where_crops_are_worth_nothing():
    found = tv.pictures(draw(600, 400), budget=100)
    assert found.report.pictures[0].way == "smaller" and len(found) == 1
    plain = tv.pictures(page(), budget=256, way="smaller")
    assert len(plain) == 1 and plain.report.pictures[0].way == "smaller"
    assert tv.pictures(page(), budget=256, way="pictures").report.pictures[0].way == "pictures"
    flat = tv.pictures(np.full((448, 448, 3), 90, "uint8"), budget=100)
    assert len(flat) == 1 and flat.report.pictures[0].way == "smaller"
    few = tv.pictures(page(), budget=16, way="pictures")  # of so few tokens there are no crops
    assert len(few) == 1 and few.report.pictures[0].way == "smaller"


def test_a_share_and_a_tolerance():
    full = 40 * 30 + 2
    shared = tv.pictures(page(), share=0.2)
    assert shared.tokens <= 0.2 * 1200 + 2 and shared.report.full == [full]
    counts = []
    for tolerance in (0.3, 0.1, "auto"):
        found = tv.pictures(page(), tolerance=tolerance)
        chosen = found.report.pictures[0]
        assert chosen.loss <= (0.03 if tolerance == "auto" else tolerance) and found.tokens < full
        assert found.tokens == min(one.tokens for one in found.report.candidates[0])
        counts.append(found.tokens)
    assert max(counts[:2]) < counts[2]
    assert tv.pictures(page()) == found
    # Of a share that is less than the server's least picture, there is the least picture.
    assert tv.pictures(page(), share=0.001, least=16).report.pictures[0].tokens == 5 * 4 + 2
    with pytest.raises(tv.ArgumentError, match="a budget of 20 tokens; the least picture of an image of 1120 x 840 pixels takes 22"):
        tv.pictures(page(), budget=20, least=16)


def test_sizes_hold_the_servers_limits():
    random = np.random.default_rng(0)
    for width, height in [(1, 1), (20000, 2), (2, 20000), (300, 301), *random.integers(1, 3000, (40, 2)).tolist()]:
        for least, most in [(1, 1), (1, 7), (4, 300), (16, 16384)]:
            columns, rows = _pictures._grid(width, height, 28, least, most)
            assert columns >= 1 and rows >= 1 and columns * rows <= most and max(columns, rows) <= 199 * min(columns, rows)
            if 1 / 3 < width / height < 3:
                assert columns * rows >= least
    assert _pictures._grid(840, 560, 28, 1, 16384) == (30, 20) and _pictures._grid(30, 30, 28, 4, 100) == (2, 2)
    assert tv.pictures(page(), budget=100, most=50).report.full == [50] or tv.pictures(page(), budget=100, most=50).report.full[0] <= 52


def test_joined_rectangles_take_fewer_tokens():
    boxes = [(0, 0, 4, 1), (0, 1, 5, 2), (9, 9, 10, 10)]
    assert _cut._joined(boxes, 0) == boxes
    assert sorted(_cut._joined(boxes, 3)) == [(0, 0, 5, 2), (9, 9, 10, 10)]
    assert _cut._joined(boxes, 200) == [(0, 0, 10, 10)]


def test_the_line_is_counted_by_words_digits_and_signs():
    assert _pictures.tokens_of("The next 12 parts: 5 100.") == 3 + 2 + 1 + 1 + 3 + 1
    crops = [_cut.Crop((0, 0, 28, 56), 1, 2), _cut.Crop((555, 400, 600, 401), 1, 1)]
    assert _pictures.line_of((600, 400), crops).endswith(" in %: 0 0 5 14; 92 100 100 100.")


# ---- Pictures of all kinds ----

def test_exif_turns_a_file():
    pixels = draw(60, 40)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = one_of(saved(Image.fromarray(pixels), format="PNG", exif=exif))
    assert np.array_equal(turned, np.rot90(pixels, 3))
    exif[0x0112] = 77  # there is no such orientation
    assert np.array_equal(one_of(saved(Image.fromarray(pixels), format="PNG", exif=exif)), pixels)


def test_broken_exif_turns_nothing():
    data = saved(Image.fromarray(draw(60, 40)), format="JPEG", exif=b"Exif\0\0MM\0*\0\0\0\xff")
    assert one_of(data).shape == (40, 60, 3)


def test_alpha_lies_on_white():
    pixels = np.zeros((30, 40, 4), "uint8")
    pixels[:, :20] = (10, 200, 30, 255)
    pixels[:, 20:30, 3] = 128
    found = one_of(saved(Image.fromarray(pixels), format="PNG"))
    assert found[0, 0].tolist() == [10, 200, 30] and found[0, 25].tolist() == [127] * 3 and found[0, 35].tolist() == [255] * 3
    assert np.array_equal(one_of(pixels), found)
    gray = one_of(np.dstack([np.full((30, 40), 80, "uint8"), np.full((30, 40), 255, "uint8")]))
    assert (gray == 80).all()


@pytest.mark.parametrize("clear", [None, 0])
def test_a_palette(clear):
    image = Image.new("P", (40, 30), 1)
    image.putpalette([0, 0, 0, 200, 10, 10])
    image.paste(0, (0, 0, 20, 30))
    found = one_of(saved(image, format="PNG", **({} if clear is None else {"transparency": clear})))
    assert found[0, 30].tolist() == [200, 10, 10] and found[0, 0].tolist() == ([0] * 3 if clear is None else [255] * 3)


def test_sixteen_bits():
    ramp = np.linspace(0, 65535, 40 * 30).astype("uint16").reshape(30, 40)
    found = one_of(saved(Image.fromarray(ramp), format="PNG"))
    assert np.abs(found[:, :, 0] - ramp / 257).max() <= 0.5 and (found[..., 0] == found[..., 2]).all()
    assert np.array_equal(one_of(ramp), found)
    assert np.abs(one_of((ramp / 65535).astype("f4"))[:, :, 0] - ramp / 257).max() <= 0.51


@pytest.mark.parametrize("mode", ["1", "L", "CMYK", "YCbCr"])
def test_other_modes(mode):
    assert one_of(Image.new("RGB", (40, 30), "white").convert(mode)).mean() > 250


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame(kind):
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "lime", "blue")]
    found = one_of(saved(frames[0], format=kind, save_all=True, append_images=frames[1:]))
    assert np.abs(found[5, 5].astype(int) - (255, 0, 0)).max() < 8


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "PPM"])
def test_files_of_all_forms(kind, tmp_path):
    pixels = np.full((30, 40, 3), (200, 100, 50), "uint8")
    path = tmp_path / "picture"
    path.write_bytes(saved(Image.fromarray(pixels), format=kind))
    with path.open("rb") as file:
        for form in (path, str(path), path.read_bytes(), bytearray(path.read_bytes()), file):
            assert np.abs(one_of(form).astype(int) - pixels).max() < 8


@pytest.mark.parametrize("size", [(1, 1), (3, 1), (20000, 2), (2, 20000), (29, 27)])
@pytest.mark.parametrize("budget", [12, 20, 300])
def test_sizes_at_the_edge(size, budget):
    found = tv.pictures(np.zeros((size[1], size[0], 3), "uint8"), budget=budget)
    assert found.tokens <= budget and len(found) == 1
    shown = decoded(found[0]).size
    assert max(shown) <= 199 * min(shown)


@pytest.mark.parametrize("data, said", [
    (b"", "it is no picture of the formats"), (b"<svg/>", "it is no picture of the formats"), (b"%!PS-Adobe-3.0 EPSF-3.0\n", "it is no picture"),
    (saved(Image.fromarray(draw(90, 80)), format="PNG")[:3000], "it cannot be read"),
    (saved(Image.fromarray(draw(90, 80)), format="JPEG")[:1500], "it cannot be read"),
    (saved(Image.fromarray(draw(90, 80)), format="TIFF"), "it is no picture of the formats")])
def test_what_is_no_picture_gets_a_line(data, said, tmp_path):
    with pytest.raises(tv.ArgumentError, match=f"an image in memory: {said}") as told:
        tv.pictures(data, budget=64)
    assert "\n" not in str(told.value) and told.value.status == "format"
    (tmp_path / "one.png").write_bytes(data)
    with pytest.raises(tv.ArgumentError, match=f"one.png: {said}"):
        tv.pictures(tmp_path / "one.png", budget=64)


def test_more_pixels_than_are_allowed():
    data = saved(Image.new("RGB", (400, 300)), format="PNG")
    assert _pictures.opened(data, pixels=120000).size == (400, 300)
    with pytest.raises(tv.ArgumentError, match="400 x 300 pixels are more than 119999"):
        _pictures.opened(data, pixels=119999)


def test_a_png_unless_it_is_large():
    found = tv.pictures(np.random.default_rng(0).integers(0, 255, (700, 700, 3), "uint8"), budget=2000)
    assert found[0]["image_url"]["url"].startswith("data:image/jpeg")
    assert tv.pictures(page(), budget=3000)[0]["image_url"]["url"].startswith("data:image/png")
    assert tv.pictures(page(), budget=3000, encoding="jpeg")[0]["image_url"]["url"].startswith("data:image/jpeg")
    noise = tv.pictures(np.random.default_rng(0).integers(0, 255, (700, 700, 3), "uint8"), budget=2000, encoding="png")
    assert noise[0]["image_url"]["url"].startswith("data:image/png")


@pytest.mark.parametrize("options, said", [
    ({"budget": 8, "share": 0.5}, "budget and share exclude each other"), ({"budget": 0}, "budget is 0"),
    ({"budget": 2}, "a budget of 2 tokens; a picture takes at least 10: 8, and 2 around it"),
    ({"budget": 9, "least": 8}, "a picture takes at least 10"), ({"share": 1.5}, "share is 1.5; it must be at most 1"),
    ({"tolerance": -1}, "tolerance is -1"), ({"patch": 3}, "patch is 3; it must be 4 .. 64"), ({"extra": -1}, "extra is -1"),
    ({"least": 9, "most": 35}, "least is 9 tokens, and most is 35; it must be at least four times"), ({"way": "pruned"}, "there is no way 'pruned'"),
    ({"encoding": "gif"}, "there is no encoding 'gif'"), ({"encoding": None}, "encoding is None"), ({"copy": 3}, "copy is 3")])
def test_options_that_no_image_fits(options, said):
    with pytest.raises((tv.ArgumentError, tv.ArgumentTypeError), match=said):
        tv.pictures(draw(40, 30), **options)


def test_the_examples_of_the_document_run(checkout, capsys):
    names = run_blocks("doc/server.md")
    assert json.loads(names["body"])["messages"][0]["content"][-1] == names["question"] and "tokens, decided in" in capsys.readouterr().out
    assert (checkout / "seen.png").stat().st_size > 100 and names["content"].tokens <= 256


def test_without_pillow_one_line(run):
    said = run("import sys; sys.modules['PIL'] = None\nimport texturevlm as tv, numpy as np\n"
               "try: tv.pictures(np.zeros((9, 9, 3), 'u1'), budget=10)\nexcept tv.MissingPackageError as error: print(error)")
    assert said.startswith("texturevlm.pictures needs Pillow (pip install 'texturevlm[proxy]')") and said.count("\n") == 1
