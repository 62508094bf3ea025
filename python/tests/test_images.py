# SPDX-License-Identifier: Apache-2.0
"""Images in all the forms in which Python has them."""
import numpy as np
import pytest

import texturevlm as tv
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
    (np.zeros((5, 5), "U3"), "dtype <U3"), (np.zeros((1, 5, 5, 3), "u1"), r"image\[0\]"), (np.float32(3), "shape"),
    (np.zeros((4, 4), "M8[s]"), "datetime64"), (np.zeros((4, 4), [("r", "u1")]), "dtype"), (3, "image is 3"), (None, "image is None"),
    (b"photo.png", "image is"), ({}, "image is"), ([[1, 2]], "image is"), (object(), "image is"), ("", "cannot open"),
    ("a\0b", "zero character")])
def test_what_is_no_image_is_named(image, line):
    with pytest.raises(tv.Error, match=line):
        tv.select(image)


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
