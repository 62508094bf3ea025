# SPDX-License-Identifier: Apache-2.0
"""Budgets of tokens for whole videos."""
import types

import numpy as np
import pytest

import texturevlm as tv


def film(photo, count=12, step=2):
    """A still photo with a thing of 16 pixels that moves by its own side every `step` frames."""
    frames = np.stack([photo] * count)
    for number in range(count):
        left = number // step * 16
        frames[number, 64:80, left:left + 16] = np.tile([[0, 255], [255, 0]], (8, 8))[..., None]
    return frames


def test_what_moves_is_bought_again(photo):
    tokens = tv.video(film(photo), share=.4)
    assert tokens.slots == 6 and tokens.frames == 12 and tokens.tokens_of_slot == 20 * 15
    assert len(tokens) <= .4 * 6 * 300 and 0 <= tokens.loss <= tokens.downsampled < 1
    assert (np.diff(tokens.slot) >= 0).all() and (tokens.until >= tokens.slot).all() and (tokens.until <= 6).all()
    assert tokens.thumbnail[0, 0] > 0 and tokens.xy.shape == tokens.size.shape == tokens.thumbnail.shape == (len(tokens), 2)
    for slot in range(1, 6):
        x, y = (slot * 16 + 8, 72)
        near = np.abs(tokens.xy[tokens.of(slot)] - (x, y)).max(axis=1)
        assert len(tokens.of(slot)) < 60 and (near < 33).any()
        assert len(tokens.held(slot)) > 0 and (tokens.slot[tokens.held(slot)] < slot).all()
    assert f"{len(tokens)} of 1800 tokens" in repr(tokens)


def test_a_number_and_a_tolerance(photo):
    frames = film(photo)
    assert len(tv.video(frames, budget=90)) == 90
    assert len(tv.video(iter(frames), budget=90, count=12)) == 90
    for count in (6, 24):  # what is said of the frames is wrong
        with pytest.warns(tv.TexturevlmWarning, match=f"12 frames came, and the budget was spread over {count}: "):
            assert len(tv.video(iter(frames), budget=90, count=count)) in ((90,) if count < 12 else range(40, 46))
    few, more = tv.video(frames, tolerance=.3), tv.video(frames, tolerance=.05)
    assert few.loss <= .3 and more.loss <= .05 and len(few) < len(more)
    assert repr(tv.video(frames)) == repr(tv.video(frames, tolerance=.03)) == repr(tv.video(frames, tolerance="auto"))
    assert tv.video(frames, tolerance=0).loss < 1e-6


def test_forms_of_frames(photo):
    class Decoded:  # as decord and PyAV have them
        def __init__(self, array, name):
            setattr(self, name, (lambda format=None: array) if name == "to_ndarray" else lambda: array)

    frames = film(photo, 4)
    one = tv.video(frames, share=.2)
    for same in (list(frames), iter(frames), [Decoded(frame, "asnumpy") for frame in frames],
                 [Decoded(frame, "to_ndarray") for frame in frames], frames.transpose(0, 3, 1, 2)):
        other = tv.video(same, share=.2)
        np.testing.assert_array_equal(one.xy, other.xy)
    codec = [types.SimpleNamespace(data=frame.transpose(2, 0, 1), pts_seconds=number / 2, duration_seconds=.5)
             for number, frame in enumerate(frames)]  # as torchcodec has them
    np.testing.assert_array_equal(one.xy, tv.video(codec, share=.2).xy)
    np.testing.assert_array_equal(one.xy, tv.video(iter(codec), share=.2, fps=2).xy)
    half = tv.video(frames, share=.2, size=(160, 120))
    assert half.tokens_of_slot == 10 * 8 and half.xy.max() > 160


def test_frames_by_time(photo):
    """At a rate of its own a frame is taken as often as it is shown at these times, however uneven they are."""
    class Timed:  # as PyAV has them
        def __init__(self, array, time):
            self.time = time
            self.to_ndarray = lambda format: array

    frames = film(photo, 4)
    timed = [Timed(*both) for both in zip(frames, (2.0, 2.1, 2.1 + 1 / 3, 4.0))]
    for fps, numbers in ((2, [0, 2, 2, 2, 3]), (5, [0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3]), (.1, [0])):
        right, got = tv.video(frames[numbers], share=.3), tv.video(iter(timed), share=.3, fps=fps)
        assert got.frames == len(numbers)
        np.testing.assert_array_equal(got.xy, right.xy)
    assert len(tv.video(timed, budget=40, fps=2)) == 40
    with pytest.raises(tv.ArgumentError, match="frames have no length"):
        tv.video(iter(timed), budget=40, fps=2)
    with pytest.raises(tv.ArgumentError, match="frames: number 0 does not tell its time"):
        tv.video(frames, share=.3, fps=2)
    with pytest.raises(tv.ArgumentError, match="fps"):
        tv.video(timed, share=.3, fps=0)
    again = [Timed(frame, time) for frame, time in zip(frames, (7.0, 7.5, 3.0, 3.5))]  # whose clock begins anew
    np.testing.assert_array_equal(tv.video(again, share=.3, fps=2).xy, tv.video(frames, share=.3).xy)
    timed[1].time = float("inf")
    with pytest.raises(tv.ArgumentError, match="frames: number 1 has a time of inf"):
        tv.video(timed, share=.3, fps=2)


def test_a_file(photo, tmp_path):
    cv2 = pytest.importorskip("cv2")
    path = str(tmp_path / "film.avi")
    writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 10, (320, 240))
    for frame in film(photo, 7):
        writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    writer.release()
    tokens = tv.video(path, budget=100)
    assert tokens.frames == 7 and tokens.slots == 4 and len(tokens) == 100
    assert tv.video(path, share=.1, fps=5).frames == 4 and tv.video(path, budget=50, fps=20).frames == 13
    (tmp_path / "none.avi").write_text("nothing")
    with pytest.raises(tv.FileError, match="none.avi: is no video"):
        tv.video(tmp_path / "none.avi", share=.1)
    with pytest.raises(tv.MissingFileError, match="gone.avi: there is no such file"):
        tv.video(tmp_path / "gone.avi", share=.1)


def test_holding_and_memory(photo):
    frames = film(photo, 40, 40)
    tokens = tv.video(frames, share=.2, hold=3, slot=1)
    assert (tokens.until - tokens.slot).max() <= 3
    short = tv.video(frames, share=.2, memory=16 << 20)
    assert short.slots == 20 and short.loss <= short.downsampled


def test_a_camera_that_moves():
    """A pan of 6 pixels a slot over a wide picture: what is held moves along, and less is lost."""
    rng = np.random.default_rng(2)
    wide = sum(np.kron(rng.uniform(0, 60, (side, side)), np.ones((256 // side, 256 // side))) for side in (4, 16, 64, 128)).astype("uint8")
    lost = {}
    for motion in (False, True):
        with tv.VideoTokenStream(share=.15, motion=motion, patch=8) as stream:
            for number in range(20):
                tokens = stream.push(np.ascontiguousarray(wide[40:136, 3 * number:3 * number + 128]))
            lost[motion] = tokens.loss
            expected = [[1, 0, 6 * motion], [0, 1, 0]]
            assert tokens.motion.dtype == np.float32 and np.abs(tokens.motion - expected).max() < .1
    assert lost[True] < .7 * lost[False]


def test_a_stream(photo):
    frames, slots, spent = film(photo, 24), [], 0
    with tv.VideoTokenStream(share=.3, latency=1) as stream:
        for number, frame in enumerate(frames):
            tokens = stream.push(frame)
            slots += tokens.slot.tolist()
            spent += len(tokens)
            assert tokens.decided == max(0, (number + 1) // 2 - 1) and (tokens.until == 0).all()
            assert spent <= .3 * 300 * (tokens.decided + 1)
        last = stream.end()
        assert set(slots) <= set(range(11)) and slots == sorted(slots) and set(last.slot) <= {11} and last.decided == 12
        assert last.loss < .2
        for tokens in (last, stream.end()):
            with pytest.raises(tv.ArgumentError, match="held is not known of a stream"):
                tokens.held(11)
    with pytest.raises(tv.ArgumentError, match="closed"):
        stream.push(frames[0])
    with pytest.raises(tv.ArgumentError, match="there is no frame"):
        tv.VideoTokenStream(share=.3).end()
    for options in (dict(latency=9), dict(share=.1, tolerance=.1), dict(share=0), dict(slot=0), dict(motion=True, latency=1)):
        with pytest.raises(tv.ArgumentError):
            tv.VideoTokenStream(**options)


@pytest.mark.parametrize("options, words", [
    (dict(budget=5, share=.1), "exclude each other"), (dict(share=0), "share"), (dict(share=1.5), "share of 1.5"),
    (dict(budget=0), "budget"), (dict(tolerance=2), "tolerance of 2"), (dict(patch=3), "patch"), (dict(slot=17), "slot"),
    (dict(hold=0), "hold"), (dict(emphasis=-1), "emphasis"), (dict(emphasis=2000), "emphasis of 2000"), (dict(memory=0), "memory"), (dict(budget=4, count=0), "count"), (dict(size=(0, 4)), "size")])
def test_refusals(photo, options, words):
    with pytest.raises(tv.ArgumentError, match=words):
        tv.video([photo], **options)


def test_frames_that_are_none(photo):
    with pytest.raises(tv.ArgumentError, match="there is no frame"):
        tv.video([], share=.1)
    with pytest.raises(tv.ArgumentError, match="no length"):
        tv.video(iter([photo]), budget=4)
    for frames in (7, None, photo[0], b"abc"):
        with pytest.raises(tv.ArgumentTypeError, match="frames are"):
            tv.video(frames, share=.1)
    with pytest.raises(tv.ArgumentError, match="frame 1 has 160x240"):
        tv.video([photo, photo[:, :160]], share=.1)
    with pytest.raises(tv.ArgumentTypeError, match="frame 1"):
        tv.video([photo, 7], share=.1)
    with pytest.raises(tv.OutOfMemoryError, match="MiB"):
        tv.video([photo], share=.1, memory=1 << 20)
