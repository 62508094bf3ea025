# SPDX-License-Identifier: Apache-2.0
"""Streams of frames."""
import numpy as np
import pytest

import texturevlm as tv


def moving(photo, count=5):
    return [np.roll(photo, 3 * i, axis=1) for i in range(count)]


def test_a_stream_takes_frames_and_selects(photo):
    with tv.VideoStream("moving") as stream:
        for number, frame in enumerate(moving(photo)):
            report = stream.update(frame)
            selection = stream.select(20, strategy="grid")
            assert report["frame"] == number and report["keyframe"] == (number == 0) and not report["cut"]
            assert report["flow"] == (number > 0) and len(selection) == 20 and selection.xy.max() <= 320
        assert stream.channels("motion", level=4).max() > 0
        assert stream.update(255 - photo)["cut"]


def test_what_did_not_change_is_not_taken_again(photo):
    changed = photo.copy()
    changed[100:120, 50:70] = 255
    with tv.VideoStream("screen", keyframe_interval=100) as stream:
        stream.update(photo)
        stream.select(10, strategy="grid")
        report = stream.update(changed)
        assert 0 < report["changed"] < report["tiles"]
        assert stream.update(changed)["changed"] == 0
        np.testing.assert_array_equal(stream.channels("r,edges"), tv.channels(changed, "r,edges"))


def test_features_are_carried_along(photo):
    features = np.random.default_rng(0).normal(size=(15, 20, 8)).astype("f4")
    with tv.VideoStream() as stream:
        stream.update(photo)
        assert stream.needs().shape == (0, 0)
        stream.set_features(features)
        frame = np.roll(photo, 4, axis=1)
        frame[100:200, 200:300] = np.random.default_rng(1).integers(0, 255, (100, 100, 3))
        report = stream.update(frame)
        mask = stream.needs()
        assert mask.shape == (15, 20) and mask.mean() == pytest.approx(report["needs"]) and 0 < mask.mean() < 0.8
        stream.set_features(features, mask)
        assert len(stream.select(10, query=features[3, 4], strategy="grid")) == 10


def test_a_stream_refuses_what_does_not_fit(photo):
    with tv.VideoStream() as stream:
        with pytest.raises(tv.Error, match="update"):
            stream.select(10)
        stream.update(photo)
        with pytest.raises(tv.Error, match="320x50 pixels in a stream of 320x240"):
            stream.update(photo[:50])
        with pytest.raises(tv.Error, match="mask has the shape"):
            stream.set_features(np.zeros((3, 4, 5)), np.zeros((2, 2), bool))
        with pytest.raises(TypeError, match="mask has the dtype"):
            stream.set_features(np.zeros((3, 4, 5)), "")
        assert stream.update(photo)["frame"] == 1
        assert stream.update(photo, fixations=[[10, 20]], keyframe=True)["keyframe"]
    with pytest.raises(tv.Error, match="stream is closed"):
        stream.update(photo)
    with pytest.raises(tv.Error, match="there is no use 'stil'.*do you mean still"):
        tv.VideoStream("stil")
