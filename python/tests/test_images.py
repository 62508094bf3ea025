# SPDX-License-Identifier: Apache-2.0
"""Images in all the forms in which Python has them."""
import copy
import pickle
import types

import numpy as np
import pytest

import texturevlm as tv
from texturevlm import _each
from texturevlm._image import image_of, write_png


def positions(image, **options):
    selection = tv.select(image, 30, strategy="grid", **options)
    return np.column_stack([selection.xy, selection.scores])


def address(image):
    from texturevlm._binding import ffi
    return int(ffi.cast("uintptr_t", image.c.pixels))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_rows_of_any_stride_are_not_copied(dtype, channels):
    whole = np.zeros((40, 60, channels), dtype)
    for array in (whole, whole[3:30], whole[:, 5:50], whole[::2], whole[2:3, 7:9], whole[:1]):
        image = image_of(array)
        assert not image.copied and address(image) == array.__array_interface__["data"][0]
    if channels == 1:
        assert address(image_of(whole[:, :, 0])) == whole.__array_interface__["data"][0]


@pytest.mark.parametrize("change", [
    lambda a: a[:, ::-1], lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a[:, :, ::-1], lambda a: np.moveaxis(a, 2, 0),
    lambda a: np.asfortranarray(a), lambda a: a.astype("float64") / 255, lambda a: a.astype(">u2") * 257,
    lambda a: np.broadcast_to(a[:1], a.shape),
    lambda a: np.frombuffer(b"x" + (a.astype("u2") * 257).tobytes(), np.uint8)[1:].view("u2").reshape(a.shape)])
def test_all_else_is_copied_once_and_means_the_same(photo, change):
    array = change(photo)
    plain = np.ascontiguousarray(array if array.shape[-1] in (1, 2, 3, 4) else np.moveaxis(array, 0, 2))
    if plain.dtype.kind == "f":
        plain = plain.astype("float32")
    plain = plain.astype(plain.dtype.newbyteorder("="))
    np.testing.assert_array_equal(positions(array), positions(plain))


def test_unaligned_pixels_are_copied():
    bytes_of = np.zeros(2 * 20 * 30 * 3 + 1, np.uint8)
    array = bytes_of[1:].view(np.uint16).reshape(20, 30, 3)
    assert not array.flags.aligned and image_of(array).copied


def test_forms_of_one_image_give_one_answer(photo, tmp_path):
    path = tmp_path / "photo.png"
    write_png(str(path), np.ascontiguousarray(photo))
    expected = positions(photo)

    class Interface:
        __array_interface__ = photo.__array_interface__

    class Array:
        def __array__(self, dtype=None, copy=None):
            return photo

    class Tensor:
        def __dlpack__(self, **options):
            return photo.copy().__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    forms = [str(path), path, Interface(), Array(), Tensor(), np.moveaxis(photo, 2, 0), photo.astype("u2") * 257,
             photo.astype("f4") / np.float32(255)]
    for form in forms[:-1]:
        np.testing.assert_array_equal(positions(form), expected)
    np.testing.assert_allclose(positions(forms[-1])[:5, 2], expected[:5, 2], atol=1e-5)


def test_pil_images(photo):
    Image = pytest.importorskip("PIL.Image")
    picture = Image.fromarray(photo)
    np.testing.assert_array_equal(positions(picture), positions(photo))
    for mode in ("L", "LA", "RGBA", "P", "CMYK", "YCbCr", "1", "I;16", "F", "I"):
        try:
            converted = picture.convert("L").convert(mode) if mode in ("I;16", "F", "I") else picture.convert(mode)
        except ValueError:
            continue
        if mode in ("F", "I"):
            converted = Image.fromarray(np.asarray(converted) / np.float32(255)) if mode == "F" else converted
        assert tv.select(converted, 10, strategy="grid").width == 320


def test_torch_tensors(photo):
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(photo.copy())
    np.testing.assert_array_equal(positions(tensor), positions(photo))
    np.testing.assert_array_equal(positions(tensor.permute(2, 0, 1)), positions(photo))
    assert address(image_of(tensor)) == tensor.data_ptr()
    wanted = tv.select(tensor.float().requires_grad_() / 255, 10, strategy="grid").tensor()
    assert wanted.dtype == torch.int64 and wanted.device == tensor.device


def test_a_tensor_elsewhere_says_what_is_done(photo):
    class Cuda:
        device = "cuda:0"

        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **options):
            raise AssertionError("nobody may ask for its memory")

        def detach(self):
            return self

        def cpu(self):
            return photo

    with pytest.raises(ValueError, match="cuda:0.*OpenCL does not share.*copy=True"):
        tv.select(Cuda())
    np.testing.assert_array_equal(positions(Cuda(), copy=True), positions(photo))


@pytest.mark.parametrize("image, line", [
    (np.zeros((0, 5, 3), "u1"), "5 x 0 pixels"), (np.zeros((5, 0, 3), "u1"), "0 x 5 pixels"),
    (np.array([[None]]), "object"), (np.zeros((5, 5, 5), "u1"), r"shape \(5, 5, 5\)"), (np.zeros((5,), "u1"), "shape"),
    (np.zeros((5, 5), "i4"), "int32"), (np.zeros((5, 5), bool), "bool"), (np.zeros((5, 5), "c8"), "complex64"),
    (np.zeros((5, 5), "U3"), "dtype <U3"), (np.float32(3), "shape"),
    (np.full((4, 4), 1.3, "f4"), r"floats of 1.3 .. 1.3; floats are taken from 0 to 1"), (b"", "an image in memory is empty"),
    (np.full((4, 4), -0.3, "f8"), "floats of -0.3 .. -0.3"), (np.full((4, 4), np.inf, "f4"), "floats of inf .. inf"),
    (np.zeros((4, 4), "M8[s]"), "datetime64"), (np.zeros((4, 4), [("r", "u1")]), "dtype"), (3, "image is 3"), (None, "image is None"),
    (b"photo.png", "an image in memory is not an image"), ({}, "image is"), ([[1, 2]], "image is"), (object(), "image is"), ("", "cannot open"),
    ("a\0b", "zero character")])
def test_what_is_no_image_is_named(image, line):
    with pytest.raises(tv.Error, match=line):
        tv.select(image)


@pytest.mark.parametrize("call", [tv.Stack, tv.scores, lambda image: tv.patches(image, np.zeros((1, 3)))])
def test_a_batch_is_refused_where_one_is_wanted(call):
    with pytest.raises(tv.Error, match=r"shape \(1, 5, 5, 3\): this call takes one, such as image\[0\]"):
        call(np.zeros((1, 5, 5, 3), "u1"))


# ---- Ranges ----

@pytest.mark.parametrize("name, change", [
    ("0 .. 255", lambda a: a.astype("f4")), ("0 .. 255 in halves", lambda a: a.astype("f2")),
    ("normalised", lambda a: (a / np.float32(255) - [0.48145466, 0.4578275, 0.40821073]) / [0.26862954, 0.26130258, 0.27577711]),
    ("-1 .. 1", lambda a: a / np.float32(127.5) - 1)])
def test_floats_of_another_range_are_refused(photo, name, change):
    with pytest.raises(ValueError, match=r"an image has floats of -?[0-9.]+ .. [0-9.]+; floats are taken from 0 to 1"):
        tv.select(change(photo))


def test_floats_that_overshoot_are_cut_off_with_a_warning(photo):
    plain = photo / np.float32(255)
    plain[3, 5], over = 1, plain.copy()
    over[3, 5] = 1.125
    with pytest.warns(tv.TexturevlmWarning, match="floats of 0 .. 1.125; what lies outside 0 .. 1 is cut off"):
        found = positions(over)
    np.testing.assert_array_equal(found, positions(plain))


@pytest.mark.parametrize("change, most", [(lambda a: a.astype("u2"), "255"), (lambda a: a.astype("u2") * 16, "4080")])
def test_uint16_that_is_nearly_black_is_warned_of(photo, change, most):
    with pytest.warns(tv.TexturevlmWarning, match=f"uint16 has no value above {most}, and is nearly black: 65535 is white"):
        tv.select(change(photo), 10, strategy="grid")


def test_what_is_in_its_range_is_silent(photo, recwarn):
    rounded = (photo / np.float32(255)) * np.float32(1.0001)
    for image in (photo, photo.astype("u2") * 257, photo.astype("u2") * 17, photo / np.float32(255), rounded, np.zeros((32, 32), "u2"),
                  np.full((32, 32), np.nan, "f4")):
        tv.select(image, 4, strategy="grid")
    assert [str(one.message) for one in recwarn] == []


def test_pils_mode_i(photo):
    Image = pytest.importorskip("PIL.Image")
    gray = photo[:, :, 0]
    found = Image.fromarray(gray.astype("i4") * 257)
    assert found.mode == "I"
    np.testing.assert_array_equal(positions(found), positions(gray))
    with pytest.warns(tv.TexturevlmWarning, match="no value above 25[0-5], and is nearly black"):
        positions(Image.fromarray(gray.astype("i4")))
    with pytest.raises(ValueError, match=r"mode I has values of 0 .. 16711680; they are taken from 0 to 65535"):
        positions(Image.fromarray(np.where(gray > 128, 255 * 65536, 0).astype("i4")))


def test_bfloat16_is_taken(photo):
    torch = pytest.importorskip("torch")
    tensor = (torch.from_numpy(photo.copy()).float() / 255).bfloat16()
    np.testing.assert_array_equal(positions(tensor), positions(tensor.float().numpy()))
    np.testing.assert_array_equal(positions(tensor.requires_grad_()), positions(tensor.detach().float().numpy()))
    features = torch.randn(4, 5, 8, generator=torch.Generator().manual_seed(1)).bfloat16()
    with tv.Stack(photo, layout="r,g,b") as stack:
        found = []
        for some in (features, features.float()):
            stack.set_features(some)
            found.append(stack.scores(some[1, 2]))
    np.testing.assert_array_equal(*found)


# ---- Files, and lists ----

def test_bytes_and_open_files(photo, tmp_path):
    import io
    path = tmp_path / "photo.png"
    write_png(str(path), np.ascontiguousarray(photo))
    data, expected = path.read_bytes(), positions(photo)
    apart = bytearray(2 * len(data))
    apart[::2] = data
    for form in (data, bytearray(data), memoryview(data), memoryview(apart)[::2], io.BytesIO(data)):
        np.testing.assert_array_equal(positions(form), expected)
    with open(path, "rb") as file:
        np.testing.assert_array_equal(positions(file), expected)
        with pytest.raises(tv.ArgumentError, match=str(path)):
            positions(file)  # nothing is left of it
    with open(path, encoding="latin-1") as file, pytest.raises(tv.ArgumentTypeError, match="photo.png.*open in the mode 'rb'"):
        positions(file)

    class Broken:
        def read(self):
            raise RuntimeError("the line is\ndead" + " and so on" * 50)

    with pytest.raises(tv.FileError, match=r"^an open file .Broken.: it cannot be read: the line is dead and so on .* \.\.\.$"):
        positions(Broken())
    with tv.Stack(photo, layout="r") as stack, pytest.raises(tv.ArgumentTypeError, match="an image is of type Stack: it must be an array"):
        positions(stack)  # has a read of its own, and is no file
    with pytest.raises(tv.ArgumentError, match="an image in memory is WebP, which is not supported") as caught:
        positions(b"RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0")
    assert caught.value.status == "unsupported"


def test_batches_are_lists(photo):
    other = np.ascontiguousarray(photo[::-1])
    expected = [positions(photo), positions(other)]
    for batch in (np.stack([photo, other]), np.moveaxis(np.stack([photo, other]), 3, 1), [photo, other]):
        found = tv.select(batch, 30, strategy="grid")
        assert len(found) == 2
        for one, right in zip(found, expected):
            np.testing.assert_array_equal(np.column_stack([one.xy, one.scores]), right)
    assert [one.shape for one in tv.channels(np.stack([photo, other]), "edges")] == [(1, *photo.shape[:2])] * 2
    assert len(tv.select(photo[None], 5, strategy="grid")) == 1 and tv.select([], 5) == []


def test_a_broken_picture_loses_none_of_the_others(photo, tmp_path, caplog):
    (tmp_path / "text.png").write_text("no picture")
    images = [photo, tmp_path / "text.png", photo.astype("f4"), photo]
    with pytest.raises(tv.ArgumentError, match="image 1 of 4: .*text.png"):
        tv.select(images, 5)
    seen = []
    with caplog.at_level("WARNING", "texturevlm"):
        found = tv.select(images, 5, strategy="grid", errors="skip", progress=lambda done, count: seen.append((done, count)))
    np.testing.assert_array_equal(found[0].xy, found[3].xy)
    assert isinstance(found[1], tv.Error) and "text.png" in str(found[1]) and isinstance(found[2], ValueError)
    assert seen == [(i, 4) for i in range(1, 5)]
    assert [record.message for record in caplog.records] == [str(found[1]), str(found[2])]
    assert all(one.__traceback__ is None for one in found[1:3])  # which would hold the pictures
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again[0] == found[0] and [(type(one), str(one), one.status) for one in again[1:3]] == [
            (type(one), str(one), one.status) for one in found[1:3]]
    for call, name in ((tv.channels, "r"), (tv.export, "clip")):
        with pytest.raises(tv.ArgumentError, match="^image 1 of 4: .*text.png"):
            call(images, name)
    for call, about in ((tv.select, 5), (tv.channels, "r"), (tv.export, "clip")):
        with pytest.raises(tv.ArgumentError, match="there is no errors 'ignore'; it is one of raise, skip"):
            call(images, about, errors="ignore")
        with pytest.raises(tv.ArgumentError, match="errors is for a list"):
            call(photo, about, errors="skip")
    with pytest.raises(tv.ArgumentTypeError, match="progress is 3"):
        tv.select(images, 5, progress=3)


def test_channels_and_tensors_of_the_images_that_can_be_read(photo, tmp_path, caplog):
    (tmp_path / "text.png").write_text("no picture")
    images = [tmp_path / "text.png", photo, photo.astype("f4"), photo[:40]]
    with caplog.at_level("WARNING", "texturevlm"):
        made = tv.channels(images, "r,edges", errors="skip")
    assert [str(one) for one in made if isinstance(one, tv.Error)] == [record.message for record in caplog.records]
    assert len(made) == 4 and "image 0 of 4: " in str(made[0]) and isinstance(made[2], ValueError)
    for array, image in ((made[1], photo), (made[3], photo[:40])):
        np.testing.assert_array_equal(array, tv.channels([image], "r,edges")[0])
    assert all(isinstance(one, tv.Error) for one in tv.channels(images[:1] * 2, "r", errors="skip"))
    queries = [None, np.ones(3), None, np.arange(3.0)]
    features = [None, np.ones((4, 4, 3)), None, np.ones((4, 4, 3)) + np.eye(4)[..., None]]
    found = tv.export(images, "clip", features=features, queries=queries, errors="skip")
    assert found.pop("images").tolist() == [1, 3]
    right = tv.export(images[1::2], "clip", features=features[1::2], queries=queries[1::2])
    assert found.keys() == right.keys() and all(np.array_equal(found[name], right[name]) for name in right)
    with pytest.raises(tv.ArgumentError, match="^none of the 2 images can be read; image 0 of 2: .*text.png"):
        tv.export(images[:1] * 2, "clip", errors="skip")
    with pytest.raises(tv.ArgumentError, match="not for the frames of a video"):
        tv.export(images, "qwen2-vl", video=True, errors="skip")


def test_modes_of_pil(photo, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    ramp = (np.arange(1024, dtype=np.uint16) * 60).reshape(32, 32)
    right = tv.channels(ramp, "r", format="f32")
    for mode, kind in (("I;16", "<u2"), ("I;16B", ">u2"), ("I;16L", "<u2")):
        image = Image.frombytes(mode, (32, 32), ramp.astype(kind).tobytes())
        np.testing.assert_array_equal(tv.channels(image, "r", format="f32"), right)
    for array, clear in ((photo, tuple(photo[0, 0].tolist())), (photo[:, :, 0], int(photo[0, 0, 0]))):
        Image.fromarray(np.ascontiguousarray(array)).save(tmp_path / "clear.png", transparency=clear)
        seen = tv.channels(tmp_path / "clear.png", "r", format="f32")
        assert seen[0, 0, 0] == 1  # on white
        np.testing.assert_array_equal(tv.channels(Image.open(tmp_path / "clear.png"), "r", format="f32"), seen)


def test_a_broken_pil_image_loses_none_of_the_others(photo, tmp_path):
    """PIL reads a file when its pixels are asked for, and raises what its reader raises."""
    import io
    Image = pytest.importorskip("PIL.Image")
    Image.fromarray(photo).save(tmp_path / "photo.png")
    data = (tmp_path / "photo.png").read_bytes()
    cut, closed = Image.open(io.BytesIO(data[:len(data) // 2])), Image.open(tmp_path / "photo.png")
    closed.close()

    class Failing(Image.Image):
        def getdata(self, *_, **__):
            raise MemoryError

        tobytes = getdata
        __array_interface__ = property(getdata)

    small = Failing()
    small._size, small._mode = (4, 4), "RGB"
    # Before Pillow 10 such an image fails earlier, as it has no pixels to convert.
    kind = tv.ArgumentError if int(pytest.importorskip("PIL").__version__.split(".")[0]) < 10 else tv.OutOfMemoryError
    found = tv.select([cut, photo, closed, small], 5, errors="skip")
    assert isinstance(found[1], tv.Selection) and [type(one) for one in (found[0], *found[2:])] == [
        tv.ArgumentError, tv.ArgumentError, kind]
    assert found[0].status == "format" and "image 0 of 4: a PIL image cannot be read: " in str(found[0])
    assert f"image 2 of 4: {tmp_path / 'photo.png'}: a PIL image cannot be read: " in str(found[2])
    with pytest.raises(tv.ArgumentError, match="^a PIL image cannot be read: [^\n]*$"):
        tv.Stack(Image.open(io.BytesIO(data[:len(data) // 2])))


@pytest.mark.parametrize("errors", ["raise", "skip"])
@pytest.mark.parametrize("options, line", [
    ({"k": -1}, "^k is -1"), ({"strategy": "x"}, "^there is no strategy 'x'"), ({"k": 5, "share": 0.5}, "^k, share and tolerance exclude"),
    ({"share": 2.0}, "^a share of 2"), ({"patch": 3.5}, "^a patch of 3.5 pixels"), ({"strategy": "grid", "share": 0.5}, "^the parameter share"),
    ({"layout": "nope"}, "^unknown channel 'nope'"), ({"max_side": 0}, "^max_side is 0"), ({"scorer": "nowhere"}, "^cannot open nowhere"),
    ({"network": "nowhere"}, "^cannot open nowhere"), ({"device": "nothing"}, "^no device 'nothing'"), ({"weights": [1, 2]}, "^weights are 2 numbers"),
    ({"query": "what"}, "^query has the dtype"), ({"preset": "document"}, "^there is no option .preset.")], ids=lambda value: "-".join(value) if isinstance(value, dict) else "")
def test_options_that_fit_no_image_are_refused_before_the_first(photo, errors, options, line):
    class Untouched:
        def read(self):
            raise AssertionError("no image is read")

    with pytest.raises(tv.Error, match=line):
        tv.select([Untouched(), photo], errors=errors, **options)
    if "device" not in options:
        with pytest.raises(tv.Error, match=line):
            tv.select([], errors=errors, **options)
    device = tv.Device("reference")
    device.close()
    with pytest.raises(tv.ArgumentError, match="^the device is closed"):
        tv.select([Untouched()], device=device, errors=errors)


def test_files_that_all_images_need_are_read_once(photo, tmp_path, monkeypatch):
    tv.Scorer({"r": 1.0}).save(tmp_path / "scorer.safetensors")
    read, load = [], tv.Scorer.load
    monkeypatch.setattr(tv.Scorer, "load", lambda path: read.append(path) or load(path))
    found = tv.select([photo, photo], 5, strategy="grid", scorer=tmp_path / "scorer.safetensors")
    assert len(read) == 1 and found[0] == found[1] == tv.select(photo, 5, strategy="grid", scorer=tv.Scorer({"r": 1.0}))


def test_progress_is_shown(photo, capsys, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    tv.select([photo] * 3, 5, strategy="grid")
    assert capsys.readouterr().err == ""
    tv.select([photo] * 3, 5, strategy="grid", progress=True)
    assert "texturevlm: 3 of 3 images" in capsys.readouterr().err
    # On a terminal a long list shows it unasked.
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    tv.select([photo] * 3, 5, strategy="grid")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_each, "_PATIENCE", 0.0)
    tv.select([photo] * 3, 5, strategy="grid")
    assert "texturevlm: 3 of 3 images" in capsys.readouterr().err
    tv.select([photo] * 3, 5, strategy="grid", progress=False)
    assert capsys.readouterr().err == ""
    told = []
    bar = types.ModuleType("tqdm.auto")
    bar.tqdm = lambda places, **options: told.append((len(places), options)) or iter(places)
    monkeypatch.setitem(sys.modules, "tqdm.auto", bar)
    assert len(tv.select([photo] * 3, 5, strategy="grid")) == 3
    assert told == [(3, {"desc": "texturevlm", "unit": "image", "delay": 0.0, "leave": False})]


def test_a_device_by_its_name(photo):
    found = tv.select(photo, 20, strategy="grid", device="reference")
    with tv.Stack(photo, device=tv.Device("reference")) as stack:
        np.testing.assert_array_equal(stack.select(20, strategy="grid").xy, found.xy)
    with pytest.raises(tv.NoDeviceError, match="no device 'nothing'"):
        tv.select(photo, device="nothing")
    with pytest.raises(tv.ArgumentTypeError, match="device is 3"):
        tv.select(photo, device=3)


def test_messages_go_to_the_logger(photo, caplog):
    with caplog.at_level("WARNING", "texturevlm"), pytest.warns(tv.TexturevlmWarning):
        tv.select(photo.astype("u2"), 5, strategy="grid")
    assert [(record.name, record.levelname) for record in caplog.records] == [("texturevlm", "WARNING")]
    assert "nearly black" in caplog.records[0].message


def test_nan_is_black():
    picture = np.full((32, 32, 3), np.nan, "f4")
    assert (tv.channels(picture, "r,g,b") == 0).all()
    picture[:, :20] = 0.5
    black = np.nan_to_num(picture)
    np.testing.assert_array_equal(tv.channels(picture, "edges,saliency"), tv.channels(black, "edges,saliency"))


def test_a_missing_file_is_one_of_pythons(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.png"):
        tv.select(tmp_path / "nowhere.png")
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(ValueError, match="text.png"):
        tv.select(tmp_path / "text.png")
    with pytest.raises(OSError, match=str(tmp_path)):
        tv.select(tmp_path)
