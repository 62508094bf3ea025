# SPDX-License-Identifier: Apache-2.0
"""Devices, processes, threads, and what is released when."""
import concurrent.futures
import gc
import re

import numpy as np
import pytest

import texturevlm as tv

NO_OPENCL = {"OCL_ICD_VENDORS": "/nonexistent", "TVLM_DEVICE": ""}


def test_devices_end_with_the_reference():
    found = tv.devices()
    assert found[-1]["type"] == "reference" and [one["index"] for one in found] == list(range(len(found)))


@pytest.mark.parametrize("loader", ["with a loader of drivers", "without"])
def test_without_opencl_the_reference_answers_with_one_warning(run, tmp_path, loader):
    there = dict(NO_OPENCL)
    if loader == "without":  # what is called so is no library
        for name in ("libOpenCL.so.1", "libOpenCL.so"):
            (tmp_path / name).write_text("no library")
        there["LD_LIBRARY_PATH"] = str(tmp_path)
    told = run("""
import os; os.environ.pop("TVLM_DEVICE", None)
import numpy as np, texturevlm as tv
image = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
for _ in range(3):
    print(len(tv.select(image, 4, strategy="grid")), tv.Stack(image)._device.type)
""", **there)
    assert told.count("4 reference") == 3
    assert told.count("TexturevlmWarning") == 1 and "pocl-opencl-icd" in told and "<string>:6" in told


def test_a_device_is_named_and_closed(photo):
    with tv.Device("reference") as device:
        assert device.type == "reference" and "reference" in repr(device)
        stack = tv.Stack(photo, device=device, max_side=64)
        selection = stack.select(5, strategy="grid")
    with pytest.raises(tv.Error, match="device is closed"):
        stack.select(5)
    with pytest.raises(tv.Error, match="device is closed"):
        tv.select(photo, device=device)
    assert selection.xy.shape == (5, 2) and np.isfinite(selection.scores).all()
    stack.close()
    with pytest.raises(tv.NoDeviceError, match="no such card"):
        tv.Device("no such card")
    with pytest.raises(ValueError, match="format"):
        tv.Device("reference", format="s8")
    with tv.Device("reference", format="u8") as device, tv.Stack(photo, device=device, max_side=64, format="u8") as stack:
        assert stack.select(5, strategy="grid").xy.shape == (5, 2)
    with pytest.raises(TypeError, match="device is 3"):
        tv.select(photo, device=3)
    with pytest.raises(TypeError, match="keep_memory"):
        tv.Device("reference", keep_memory=1)
    with tv.Device(fallback=True, keep_memory=True) as device:
        chosen = [tv.select(photo[:side, :side], 20, device=device).xy for side in (64, 96, 64)]
    assert np.array_equal(chosen[0], chosen[2])


def test_a_closed_stack_is_named(photo):
    stack = tv.Stack(photo)
    stack.close()
    stack.close()
    with pytest.raises(tv.Error, match="stack is closed"):
        stack.select()


def test_fork_after_use_is_one_clear_line(run):
    told = run("""
import os, warnings, numpy as np, texturevlm as tv
warnings.simplefilter("ignore")
image = np.zeros((64, 64, 3), np.uint8)
stack = tv.Stack(image)
tv.devices()
child = os.fork()
if child == 0:
    for task in (lambda: stack.select(1), lambda: tv.select(image, 1), tv.devices):
        try:
            task()
        except tv.Error as error:
            print("REFUSED", type(error).__name__, error, flush=True)
    del stack
    os._exit(0)
os.waitpid(child, 0)
print("parent", len(stack.select(1)))
""")
    assert len(re.findall("REFUSED DeviceError this process was forked.*spawn", told)) == 3 and "parent 1" in told


def test_fork_before_use_is_fine(run):
    assert "child 1" in run("""
import os, warnings, numpy as np, texturevlm as tv
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    print("child", len(tv.select(np.zeros((64, 64, 3), np.uint8), 1)), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""")


def test_threads_share_a_device(photo):
    pictures = [np.roll(photo, 16 * i, 1) for i in range(12)]
    alone = [tv.select(picture, 20, strategy="grid").xy.copy() for picture in pictures]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda picture: tv.select(picture, 20, strategy="grid").xy, pictures * 3))
    for i, found in enumerate(together):
        np.testing.assert_array_equal(found, alone[i % 12])


def test_threads_share_a_stack(photo):
    with tv.Stack(photo) as stack:
        alone = stack.select(20, strategy="grid").xy
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda _: stack.select(20, strategy="grid").xy, range(40)):
                np.testing.assert_array_equal(found, alone)


def test_errors_stay_with_their_thread(photo):
    def fail(i):
        with pytest.raises(tv.Error, match=f"k is {10000 + i}"):
            tv.select(photo, 10000 + i, strategy="grid")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(fail, range(40)))


def test_the_gil_is_released_during_work(photo):
    """Another thread counts on while this one is in the library. With the GIL it would count to 1 at most."""
    import threading
    import time
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    with tv.Device("reference") as device:
        stack = tv.Stack(np.tile(photo, (6, 6, 1)), device=device)
        thread.start()
        before = counts[0]
        stack.read("saliency")  # one call
        counted = counts[0] - before
        done.set()
    thread.join()
    assert counted > 3


def test_nothing_stays_behind(photo):
    """What was made from a device is released with its last reference."""
    owner = tv.Stack(photo)._device._owner
    gc.collect()
    before = len(owner.alive)
    for _ in range(20):
        tv.select(photo, 5, strategy="grid")
        tv.channels(photo, "r", level=3)
        stack = tv.Stack(photo)
        with pytest.raises(tv.Error):
            stack.read("r", 30)
        del stack
    gc.collect()
    assert len(owner.alive) == before and not owner.dead


def test_the_tool_comes_with_the_package(run):
    import subprocess
    import sys
    found = subprocess.run([sys.executable, "-m", "texturevlm", "--version"], capture_output=True, text=True)
    assert found.returncode == 0 and tv.__version__ in found.stdout
    assert subprocess.run([sys.executable, "-m", "texturevlm", "select"], capture_output=True).returncode == 2


def test_a_call_takes_few_calls_more_than_the_librarys(photo):
    """What a call costs beside the library's is the functions of Python that it calls: a clock would tell how busy the machine is."""
    import sys

    def calls(task):
        count = 0

        def event(frame, kind, argument):
            nonlocal count
            count += kind in ("call", "c_call")
        task()  # what is looked up once
        sys.setprofile(event)
        try:
            task()
        finally:
            sys.setprofile(None)
        return count

    scores = np.zeros(64, "f4")
    with tv.Stack(photo[:64, :64]) as stack:
        assert calls(lambda: stack.select(4, strategy="grid")) <= 150
    assert calls(lambda: tv.topk(scores, 4)) <= 65
