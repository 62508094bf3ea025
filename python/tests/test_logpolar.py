# SPDX-License-Identifier: Apache-2.0
"""Rings and sectors: against the formula in NumPy, OpenCV's warpPolar where it is there, the tool, and what is refused."""
import subprocess
import sys

import numpy as np
import pytest

import texturevlm as tv
from texturevlm._image import write_png

FIXATION, INNER, OUTER, RINGS, SECTORS = (131.25, 87.5), 2.0, 90.0, 24, 40


def bilinear(image, x, y):
    """An image [h, w, c] at places in pixels, whose centres are at + 0.5; beyond the border it goes on."""
    height, width = image.shape[:2]
    x, y = np.clip(x - 0.5, 0, width - 1), np.clip(y - 0.5, 0, height - 1)
    u, v = np.minimum(x.astype(int), width - 2), np.minimum(y.astype(int), height - 2)
    a, b = (x - u)[..., None], (y - v)[..., None]
    return ((image[v, u] * (1 - a) + image[v, u + 1] * a) * (1 - b) + (image[v + 1, u] * (1 - a) + image[v + 1, u + 1] * a) * b)


def places():
    """x and y [sectors, rings] by the definition in lab/logpolar.h."""
    radius = INNER * ((OUTER / INNER) ** (np.arange(RINGS) / RINGS) - 1)
    angle = 2 * np.pi * np.arange(SECTORS)[:, None] / SECTORS
    return FIXATION[0] + radius * np.cos(angle), FIXATION[1] + radius * np.sin(angle)


def rings_of(image, *names, **options):
    return tv.logpolar(image, *names, **{"fixation": FIXATION, "inner": INNER, "outer": OUTER, "rings": RINGS, "sectors": SECTORS,
                                         **options})


@pytest.mark.parametrize("name", [None, "reference"])
def test_points_are_those_of_the_formula(photo, name):
    with tv.Device(name) as device:
        seen = rings_of(photo, plain=True, format="f32", device=device)
        assert seen.samples.shape == (SECTORS, RINGS, 3) and "40 sectors, 24 rings, 3 channels" in repr(seen)
        off = 5e-3 if device.type == "gpu" else 1e-4  # a GPU's filter has its weights in 256ths
        np.testing.assert_allclose(seen.samples, bilinear(photo / 255.0, *places()), atol=off)
    assert (seen.fixation, seen.inner, seen.outer) == (FIXATION, INNER, OUTER)
    x, y = places()
    np.testing.assert_allclose(np.broadcast_to(seen.radii, x.shape), np.hypot(x - FIXATION[0], y - FIXATION[1]), atol=1e-4)


def test_points_are_those_of_warp_polar(photo):
    cv2 = pytest.importorskip("cv2")
    smooth = cv2.GaussianBlur(photo, (0, 0), 4)
    seen = rings_of(smooth, plain=True, format="f32", inner=1.0)
    expected = cv2.warpPolar(smooth.astype(np.float32) / 255, (RINGS, SECTORS), (FIXATION[0] - 0.5, FIXATION[1] - 0.5), OUTER,
                             cv2.INTER_LINEAR | cv2.WARP_POLAR_LOG)
    # OpenCV rounds coordinates to a 32nd of a pixel in each direction.
    steepest = max(np.abs(np.diff(smooth / 255.0, axis=axis)).max() for axis in (0, 1))
    np.testing.assert_allclose(seen.samples, expected, atol=2 * steepest / 64 + 5e-3)


def test_far_rings_are_averages(photo):
    board = np.repeat((np.indices(photo.shape[:2]).sum(0) % 2 * 255).astype(np.uint8)[..., None], 3, 2)
    far = slice(RINGS * 3 // 4, None)
    off = [np.abs(rings_of(board, plain=plain).samples[:, far] - 0.5).mean() for plain in (False, True)]
    assert off[0] < 0.25 * off[1]


def test_it_is_the_tool(photo, tmp_path):
    write_png(str(tmp_path / "photo.png"), np.ascontiguousarray(photo))
    subprocess.run([sys.executable, "-m", "texturevlm", "logpolar", tmp_path / "photo.png", "-o", tmp_path / "rings.npy", "--fixation",
                    "131.25,87.5", "--inner", "2", "--outer", "90", "--rings", "24", "--sectors", "40"], check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(tmp_path / "rings.npy"), rings_of(tmp_path / "photo.png").samples)


def test_defaults_and_channels(photo):
    seen = tv.logpolar(photo)
    assert seen.fixation == (160, 120) and seen.inner == 1 and seen.outer == 201 and seen.samples.shape[1:] == (128, 3)
    assert seen.samples.shape[0] == round(2 * np.pi * 128 / np.log(201))
    with tv.Stack(photo, layout="edges,x", format="f32") as stack:
        stack.set_grid("attention", np.full((4, 4), 0.25))
        both = rings_of(stack, ["x", "attention"], plain=True)
    np.testing.assert_allclose(both.samples[..., 0], np.clip(places()[0] / 320, 0, 1), atol=1e-5)
    np.testing.assert_allclose(both.samples[..., 1], 0.25, atol=1e-6)
    np.testing.assert_array_equal(rings_of(photo, "x", plain=True, format="f32").samples[..., 0], both.samples[..., 0])


def test_lengths_are_in_pixels_of_the_image(photo):
    small = rings_of(photo, max_side=160)
    whole = rings_of(photo)
    assert small.fixation == FIXATION and small.outer == OUTER and small.back().shape == photo.shape
    assert np.abs(small.samples - whole.samples).mean() < 0.03
    assert np.abs(rings_of(photo, fixation=(66, 44)).samples - whole.samples).mean() > 0.1  # another place


def test_back_is_bilinear_between_the_samples(photo):
    seen = rings_of(photo, format="f32")
    for size in (None, (50, 70)):
        width, height = size or (320, 240)
        x = (np.arange(width) + 0.5) * 320 / width - FIXATION[0]
        y = (np.arange(height)[:, None] + 0.5) * 240 / height - FIXATION[1]
        ring = np.minimum(np.log1p(np.hypot(x, y) / INNER) / np.log(OUTER / INNER) * RINGS, RINGS - 1)
        sector = np.arctan2(y, x) % (2 * np.pi) / (2 * np.pi) * SECTORS
        i, j = np.minimum(ring.astype(int), RINGS - 2), sector.astype(int) % SECTORS
        a, b = (ring - i)[..., None], (sector - np.floor(sector))[..., None]
        row, other = (seen.samples[k, i] * (1 - a) + seen.samples[k, i + 1] * a for k in (j, (j + 1) % SECTORS))
        np.testing.assert_allclose(seen.back(size=size), row * (1 - b) + other * b, atol=2e-4)
    one = seen.back(np.full((SECTORS, RINGS, 1), 0.5))
    assert one.shape == (240, 320, 1) and (one == 0.5).all()


@pytest.mark.parametrize("change, line", [
    ({"inner": 9, "outer": 3}, "an inner length of 9 and an outer one of 3 pixels"),
    ({"inner": 0}, "inner is 0"),
    ({"outer": float("nan")}, "outer is nan"),
    ({"rings": 0}, "rings is 0"),
    ({"sectors": 2}, "sectors is 2; it must be 3"),
    ({"rings": 2**20, "sectors": 2**20}, "are too many"),
    ({"fixation": [[1, 2], [3, 4]]}, "fixation is one x and one y"),
    ({"fixation": (np.nan, 1)}, "a fixation that is not finite"),
    ({"plain": 1}, "plain is 1"),
    ({"names": "edge"}, "edges"),
    ({"format": "f64"}, "there is no format 'f64'"),
])
def test_refusals(photo, change, line):
    with pytest.raises(tv.Error, match=line):
        rings_of(photo, **change)


def test_refusals_of_a_stack_and_of_the_way_back(photo):
    with tv.Stack(photo) as stack:
        with pytest.raises(tv.ArgumentError, match="has its max_side"):
            rings_of(stack, max_side=100)
        seen = rings_of(stack)
    for given, size, line in ((np.zeros((3, 3, 3)), None, "samples have the shape"), (None, (0, 3), "size is 0"),
                              (None, 5, "size is not"), (None, (2**20, 2**20), "too large")):
        with pytest.raises(tv.ArgumentError, match=line):
            seen.back(given, size=size)
