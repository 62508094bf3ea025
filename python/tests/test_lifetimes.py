# SPDX-License-Identifier: Apache-2.0
"""What is held, and for how long: DLPack, reference counts, memory."""
import gc
import os
import sys
import weakref

import numpy as np
import pytest

import texturevlm as tv
from texturevlm._image import image_of


def resident():
    """Bytes that this process has in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Tensor:
    """A tensor that tells when its memory is given back."""

    def __init__(self, array):
        self.array, self.lent = array, []

    def __dlpack__(self, **options):
        lent = self.array.copy()
        self.lent.append(weakref.ref(lent))
        return lent.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


def test_a_tensors_memory_is_given_back_when_the_call_ends():
    tensor = Tensor(np.zeros((32, 32, 3), np.uint8))
    selection = tv.select(tensor, 2, strategy="grid")
    gc.collect()
    assert len(tensor.lent) == 1 and tensor.lent[0]() is None and len(selection) == 2
    image = image_of(tensor)
    assert tensor.lent[1]() is not None  # held while the image is
    del image
    gc.collect()
    assert tensor.lent[1]() is None


def test_arguments_keep_their_reference_counts(photo):
    features, query = np.ones((3, 4, 8), "f4"), np.ones(8, "f4")
    fixations, weights = np.ones((2, 2), "f4"), np.ones(3, "f4")
    picture = photo.copy()
    counted = (picture, features, query, fixations, weights)
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(5):
        tv.select(picture, 5, query=query, features=features, weights=weights, strategy="grid")
        tv.select(picture, 5, fixations=fixations, strategy="foveated")
        with pytest.raises(tv.Error):
            tv.select(picture, 10**6, features=features, query=query, strategy="grid")
    gc.collect()
    assert [sys.getrefcount(each) for each in counted] == before


def test_nothing_grows_over_10_000_calls():
    """Neither memory nor objects, of three calls each round."""
    picture = np.random.default_rng(0).integers(0, 255, (32, 32, 3), np.uint8)
    scores = np.arange(16, dtype="f4")
    stack = tv.Stack(picture)

    def calls(rounds):
        for i in range(rounds):
            stack.select(2, strategy="grid", keep_scores=True).xy.sum()
            tv.topk(scores, 3)
            image_of(Tensor(picture))
            if i % 20 == 0:
                tv.select(picture, 2, strategy="grid")
                with pytest.raises(tv.Error):
                    stack.select(10**6, strategy="grid")

    calls(1000)
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    calls(3400)
    gc.collect()
    assert len(gc.get_objects()) - objects < 50
    assert resident() - before < 4 << 20, (resident() - before) / (1 << 20)
