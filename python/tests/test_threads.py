# SPDX-License-Identifier: Apache-2.0
"""Handles that several threads use: every class, every pair of what can be done with it, `close` and the device's among them.

A call gives what it gives alone, before or after what the other thread does, or is refused in one line, since something was closed.
By default on the reference; TVLM_TEST_THREADS=N: N rounds, on the default device, too.
"""
import gc
import inspect
import itertools
import os
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import texturevlm as tv
from conftest import draw
from texturevlm._core import Handle

ROUNDS = int(os.environ.get("TVLM_TEST_THREADS", 1))
IMAGE, OTHER = draw(64, 48), draw(64, 48, seed=1)
GRID = np.random.default_rng(0).random((3, 4)).astype("f4")
FEATURES, MORE = (np.random.default_rng(seed).random((rows, 4, 8)).astype("f4") for seed, rows in ((1, 3), (2, 6)))
BASIS = tv.Basis(np.eye(8, dtype="f4")[:4])
VOCAB = tv.Vocab(np.eye(8, dtype="f4"))
POINTS = [[10.5, 20.25], [60, 3]]


@pytest.fixture(autouse=True)
def often():
    """Threads change places after each call of the library, and garbage is collected in between."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


def stack(device):
    made = tv.Stack(IMAGE, device=device, layout="r,g,edges,saliency")
    made.set_features(FEATURES)
    return made


def stream(device):
    made = tv.VideoStream(device=device)
    made.update(IMAGE)
    made.set_features(FEATURES)
    return made


class Kind:
    """A class of handles: how one is made on a device, and what can be done with it, by the names of its public methods.
    `changes`: of those that change what the others give."""

    def __init__(self, name, make, reads, changes):
        self.name, self.make, self.reads, self.changes = name, make, reads, changes
        self.all = {**reads, **changes}


KINDS = [
    Kind("Device", lambda device: device, {
        "name": lambda d: d.name, "type": lambda d: d.type, "finish": lambda d: d.finish(),
        "select (a function)": lambda d: tv.select(IMAGE, 12, device=d), "topk (a function)": lambda d: tv.topk(GRID, 3, device=d),
        "channels (a function)": lambda d: tv.channels([IMAGE, OTHER[:20]], "r,g", device=d),
        "flow (a function)": lambda d: tv.flow(IMAGE, OTHER, device=d),
        "export (a function)": lambda d: tv.export(IMAGE, "clip", side=28, patch=14, device=d),
        "train (a function)": lambda d: (tv.Vocab.train([FEATURES.reshape(-1, 8)], 4, device=d),
                                         tv.Basis.train([FEATURES.reshape(-1, 8)], 4, device=d)) and None,
        "assign (a function)": lambda d: VOCAB.assign(FEATURES, device=d),
    }, {"close": lambda d: d.close()}),
    Kind("Stack", stack, {
        "size": lambda s: s.size, "image_size": lambda s: s.image_size, "levels": lambda s: s.levels, "layout": lambda s: s.layout,
        "bytes": lambda s: s.bytes and None, "has": lambda s: s.has("depth"), "features_shape": lambda s: s.features_shape,
        "select": lambda s: s.select(12, query=FEATURES[0, 0], strategy="grid"), "scores": lambda s: s.scores(),
        "predict": lambda s: s.predict([(4, 3)], patch=8).keep(0, 5)[0],
        "channels": lambda s: s.channels(), "read": lambda s: s.read("edges", 1), "sample": lambda s: s.sample(POINTS, "r,edges"),
        "patches": lambda s: s.patches([[20, 20, 16]], side=4), "similarity": lambda s: s.similarity(np.eye(8)[:2]),
        "merge_tokens": lambda s: s.merge_tokens(SELECTION).tokens, "labels": lambda s: s.labels(),
        "logpolar (a function)": lambda s: tv.logpolar(s, "r", rings=4).samples,
        "attention (a function)": lambda s: tv.hierarchical_attention(np.eye(8)[:2], s, details=True).map,
        "fit (a function)": lambda s: tv.fit([s], [GRID]).weights and None,
        "of_image (a function)": lambda s: tv.Basis.of_image(s, 3).components,
        "apply (a function)": lambda s: PROJECTION.apply(s, POINTS),
        "train (a function)": lambda s: tv.Codec.train([s], 2, channels=["r", "g", "edges"]).encode,
    }, {
        "set_image": lambda s: s.set_image(OTHER[:, :40]), "set_fixation": lambda s: s.set_fixation(3, 4),
        "set_reduce": lambda s: s.set_reduce("gaussian"), "set_rope": lambda s: s.set_rope(100.0, 8),
        "set_grid": lambda s: s.set_grid("depth", GRID), "set_plane": lambda s: s.set_plane("mine", GRID),
        "set_features": lambda s: s.set_features(MORE), "set_labels": lambda s: s.set_labels(GRID > 0.5),
        "clear": lambda s: s.clear("feature_0"), "embed": lambda s: s.embed(BASIS), "assign": lambda s: s.assign(VOCAB),
        "update_image": lambda s: s.update_image(OTHER), "advance": lambda s: s.advance(), "forget": lambda s: s.forget(),
        "close": lambda s: s.close(),
    }),
    Kind("Session", lambda device: tv.Session(device=device), {
        "select": lambda s: s.select(IMAGE, 12), "select with features": lambda s: s.select(OTHER, 5, features=FEATURES, query=FEATURES[0, 0]),
        "info": lambda s: s.info and None,
    }, {"close": lambda s: s.close()}),
    Kind("VideoStream", stream, {
        "select": lambda s: s.select(12, strategy="grid"), "channels": lambda s: s.channels("r,edges"),
        "needs": lambda s: s.needs().shape and None,
    }, {
        "update": lambda s: s.update(OTHER), "set_features": lambda s: s.set_features(MORE), "close": lambda s: s.close(),
    }),
    Kind("VideoStream, new", lambda device: tv.VideoStream(device=device), {"needs": lambda s: s.needs().shape and None}, {
        "select": lambda s: s.select(12) and None, "update": lambda s: s.update(OTHER), "close": lambda s: s.close()}),
    Kind("VideoTokenStream", lambda device: tv.VideoTokenStream(device=device), {}, {
        "push": lambda s: s.push(IMAGE) and None, "end": lambda s: s.end() and None, "close": lambda s: s.close()}),
    Kind("Texture", lambda device: tv.Texture(FEATURES, device=device), {
        "shape": lambda t: t.shape, "read": lambda t: t.read(1),
        "attention (a function)": lambda t: tv.hierarchical_attention(np.eye(8)[:2], t),
    }, {"close": lambda t: t.close()}),
]
PROJECTION = tv.Projection(np.ones((2, 2)), channels=["r", "edges"])
with tv.Device("reference") as _device:
    SELECTION = tv.select(IMAGE, 12, device=_device)


def same(one, other):
    if isinstance(one, tv.Selection):
        return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("xy", "size", "scores"))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict):
        return all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def asked(task, handle):
    """What it gives, or the error that it refuses with."""
    try:
        return task(handle)
    except tv.Error as error:
        assert str(error) and "\n" not in str(error)
        return error


def fits(found, expected):
    if isinstance(found, tv.Error):
        return any(isinstance(one, tv.Error) and str(one) == str(found) for one in expected)
    return any(not isinstance(one, tv.Error) and same(found, one) for one in expected)


def together(*tasks):
    """Runs each in a thread of its own, all at once; an exception of one is raised."""
    start, failures = threading.Barrier(len(tasks)), []

    def run(task):
        try:
            start.wait()
            task()
        except BaseException as error:  # noqa: BLE001 -- raised below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread waits for ever"
    if failures:
        raise failures[0]


def opened(kind, name):
    device = tv.Device(name)
    return device, kind.make(device)


def expected(kind, device_name, read, change):
    """What a read gives alone: before a change, and after it."""
    device, handle = opened(kind, device_name)
    found = [asked(kind.all[read], handle)]
    asked(kind.all[change], handle)
    found.append(asked(kind.all[read], handle))
    device.close()
    return found


def stress(kind, device_name, pair, rounds):
    """Two calls, each in a thread. What reads is asked again and again, and what changes it happens once."""
    device, handle = opened(kind, device_name)
    wanted = [expected(kind, device_name, name, other) for name, other in (pair, pair[::-1])]
    found = [[], []]

    def work(which):
        for _ in range(rounds if pair[which] in kind.reads else 1):
            found[which].append(asked(kind.all[pair[which]], handle))

    together(lambda: work(0), lambda: work(1))
    for name, ones, right in zip(pair, found, wanted):
        assert name not in kind.reads or all(fits(one, right) for one in ones), (kind.name, pair, name, ones, right)
    device.close()
    for task in kind.all.values():
        answer = asked(task, handle)
        assert not isinstance(answer, tv.Error) or "is closed" in str(answer)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_public_method_is_here(kind):
    """What is added to a class is added to the table above."""
    cls = getattr(tv, kind.name.split(",")[0])
    public = {name for name, what in inspect.getmembers(cls) if not name.startswith("_") and (callable(what) or isinstance(what, property))}
    if "," not in kind.name:
        assert public <= set(kind.all)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_pair_of_calls(kind):
    for name in ("reference", None)[:1 if ROUNDS == 1 else 2]:
        for pair in itertools.combinations_with_replacement(kind.all, 2):
            for _ in range(ROUNDS):
                stress(kind, name, pair, 3)


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.name)
def test_every_call_while_its_device_is_closed(kind):
    for first in kind.all:
        for _ in range(ROUNDS):
            device, handle = opened(kind, "reference")
            alone = asked(kind.all[first], handle) if first in kind.reads else None
            found = []
            together(lambda: found.extend(asked(kind.all[first], handle) for _ in range(3)), device.close)
            for one in found:
                assert first not in kind.reads or fits(one, [alone, tv.Error("the device is closed")]), (first, one)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_last_reference_goes_while_others_of_the_device_work(kind):
    with tv.Device("reference") as device:
        kept = tv.Stack(IMAGE, device=device)
        alone = kept.select(12)

        def drop():
            for _ in range(4 * ROUNDS):
                if kind.name != "Device":
                    kind.make(device).cycle = [kept]  # freed by the collector, in any thread

        def work():
            for _ in range(10 * ROUNDS):
                assert same(kept.select(12), alone)

        together(drop, work, work)
        gc.collect()
        kept.select(1)
        assert len(device._owner.alive) == 1 and not device._owner.dead


OBJECTS = {
    "Selection": lambda: tv.select(IMAGE, 12, strategy="grid"), "Basis": lambda: BASIS, "Vocab": lambda: VOCAB, "Projection": lambda: PROJECTION,
    "Codec": lambda: tv.Codec(["r", "g"], [[1, 0]], [[1], [0]]), "Scorer": lambda: tv.Scorer({"r": 1.0, "edges": 2.0}),
    "Query": lambda: tv.Query(np.ones(8)), "LogPolar": lambda: tv.logpolar(IMAGE, rings=8),
    "Network": lambda: tv.Network([{"weight": np.ones((1, 1, 3, 3))}], inputs=["r"], outputs=["soft"]),
}
ARGUMENTS = {
    "project": (FEATURES.reshape(-1, 8),), "assign": (FEATURES,), "ask": (np.ones(8),), "score": (np.zeros((2, 2), "u2"), np.ones(8)),
    "apply": (np.ones((3, 2)),), "restore": (np.ones((3, 1)),), "weight": (0,), "cells": ((5, 4),), "covered": (), "image": (), "to_dict": (),
}
NOT_HERE = {"load", "save", "train", "of_image", "tensor", "to_pandas", "to_arrow"}  # files, training, and what needs packages


@pytest.mark.parametrize("name", OBJECTS)
def test_what_never_changes_is_read_by_many(name):
    """And is released by whichever thread is the last."""
    thing = OBJECTS[name]()
    tasks = {}
    for member, what in inspect.getmembers(type(thing)):
        if member.startswith("_") or member in NOT_HERE or (name == "Projection" and member in ("apply", "r_squared")):
            continue
        if isinstance(what, property):
            tasks[member] = lambda of, member=member: getattr(of, member)
        elif member in ARGUMENTS:
            tasks[member] = lambda of, member=member: getattr(of, member)(*ARGUMENTS[member])
    alone = {member: task(thing) for member, task in tasks.items()}

    def read(of):
        for member, task in tasks.items():
            if not isinstance(alone[member], tv.Network):
                assert same(task(of), alone[member]), member

    for _ in range(3 * ROUNDS):
        shared = [OBJECTS[name]()]
        together(*[lambda of=shared[0]: read(of)] * 4, shared.clear)


def test_a_call_that_runs_is_not_cut_short(monkeypatch):
    """`close` comes in the middle of a long call, which gives its answer; the next one is refused."""
    check, runs = Handle.check, threading.Event()

    def checked(self):
        check(self)
        runs.set()

    monkeypatch.setattr(Handle, "check", checked)
    big = np.tile(IMAGE, (10, 10, 1))
    with tv.Device("reference") as device:
        with tv.Stack(big, device=device) as other:
            alone = other.select(40)
        made = {
            "the stack": tv.Stack(big, device=device), "the session": tv.Session(device=device),
            "the stream": tv.VideoStream(device=device), "the device": None}
        made["the stream"].update(big)
        for what, handle in made.items():
            found = []
            target = handle or tv.Stack(big, device=device)

            def select(*options):
                return target.select(*([big] if isinstance(target, tv.Session) else []), 40, **({} if what != "the stream" else {"strategy": "budget"}))

            runs.clear()
            thread = threading.Thread(target=lambda: found.append(select()))
            thread.start()
            assert runs.wait(60)
            (handle or device).close()
            thread.join()
            assert len(found) == 1 and (what == "the stream" or same(found[0], alone)), what
            with pytest.raises(tv.ArgumentError, match=f"{what} is closed"):
                select()


def test_nobody_asks_between_an_image_and_its_size(monkeypatch):
    """A change of several steps is one: here its last step is late."""
    note = tv.Stack._note

    def late(self, picture):
        time.sleep(0.005)
        note(self, picture)

    monkeypatch.setattr(tv.Stack, "_note", late)
    known = next(kind for kind in KINDS if kind.name == "Stack")
    reads = {"select": known.reads["select"], "logpolar": lambda s: tv.logpolar(s, "r", rings=4, fixation=(30, 20)).samples}
    kind = Kind("Stack", stack, reads, {"set_image": known.changes["set_image"]})
    for read in reads:
        stress(kind, "reference", (read, "set_image"), 60)


def test_closing_does_not_wait_for_ever():
    """Threads that ask again and again let `close` in."""
    with tv.Device("reference") as device:
        handle, other = tv.Stack(IMAGE, device=device), tv.Stack(IMAGE, device=device)
        ended, refused = threading.Event(), []

        def hammer(of):
            while not ended.is_set():
                try:
                    of.select(12)
                except tv.Error as error:
                    refused.append(str(error))
                    return

        threads = [threading.Thread(target=hammer, args=(one,)) for one in (handle, handle, other)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        started = time.monotonic()
        handle.close()
        took = time.monotonic() - started
        for thread in threads[:2]:  # they end, as they are refused
            thread.join(60)
        ended.set()
        threads[2].join()
    assert took < 5, took
    assert refused == ["the stack is closed"] * 2


def test_a_call_may_close_what_it_works_on(monkeypatch):
    """A warning's handler closes the stack, and the device, within their own call."""
    for close in (lambda device, stack: stack.close(), lambda device, stack: device.close()):
        device = tv.Device("reference")
        stack = tv.Stack(IMAGE, device=device)
        seen = []

        def handler(*_, **__):
            seen.append(len(device._owner.alive))
            close(device, stack)
            gc.collect()
            seen.append(len(device._owner.alive))

        monkeypatch.setattr(warnings, "showwarning", handler)
        with stack._handle:
            handler()
            assert seen == [1, 1]  # kept until the call ends
        assert not device._owner.alive
        with pytest.raises(tv.ArgumentError, match="is closed"):
            stack.select(3)
        device.close()


def test_the_interpreter_ends_while_threads_are_in_calls(run):
    """Daemons' threads go on until the end: they are refused, nothing crashes, nothing is said."""
    said = run("""
import threading, time, warnings, numpy as np, texturevlm as tv
warnings.simplefilter("ignore")
image = np.random.default_rng(0).integers(0, 255, (96, 96, 3), np.uint8)
stack, session, ends = tv.Stack(image), tv.Session(), []
def work(task):
    try:
        while True:
            task()
    except tv.Error:
        pass
for task in (lambda: stack.select(9), lambda: session.select(image, 9), lambda: tv.select(image, 9), tv.devices,
             lambda: tv.Device("reference").close()):
    threading.Thread(target=work, args=(task,), daemon=True).start()
time.sleep(0.3)
print("over")
""")
    assert said == "over\n"


def test_a_fork_during_a_call_is_refused_at_once(run):
    """The lock that a thread of the parent has is not waited for."""
    said = run("""
import os, threading, time, numpy as np, texturevlm as tv
image = np.zeros((1500, 1500, 3), np.uint8)
device = tv.Device("reference")
stack = tv.Stack(image, device=device)
thread = threading.Thread(target=lambda: stack.read("saliency"))
thread.start()
time.sleep(0.05)
child = os.fork()
if child == 0:
    for task in (lambda: stack.select(1), lambda: tv.select(image, 1, device=device), device.finish):
        try:
            task()
        except tv.Error as error:
            print("REFUSED" if "forked" in str(error) else error, flush=True)
    stack.close()
    device.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
""")
    assert said.count("REFUSED") == 3
