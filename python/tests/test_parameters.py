# SPDX-License-Identifier: Apache-2.0
"""The parameters of select: what is made of the library's table is up to date, and a value gets to its place."""
import importlib.machinery
import importlib.util
import inspect
import pathlib

import pytest

import texturevlm as tv
from texturevlm import _names
from texturevlm._options import Choosing

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "ci/parameters"


@pytest.fixture(scope="module")
def script():
    loader = importlib.machinery.SourceFileLoader("parameters", str(SCRIPT))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("parameters", loader))
    loader.exec_module(made)
    return made


def test_the_signature_has_the_types_of_the_table(script):
    signature = inspect.signature(tv.select)
    assert script.NAMED == ["k", "share", "tolerance", "overview"]
    for name in script.NAMED:
        said = signature.parameters[name].annotation.replace("'", '"')
        assert said == script.type_of(name, _names.PARAMETERS[name]), name


def test_what_is_made_of_the_table_is_up_to_date(script):
    old = [path.name for path, content in script.made().items() if path.read_text() != content]
    assert old == [], "run ci/parameters"


@pytest.mark.parametrize("name, value, read", [
    ("k", 7, lambda c: c.k), ("stride", 8.0, lambda c: c.score.stride), ("level", 3, lambda c: c.score.level),
    ("min_distance", 5.0, lambda c: c.best.min_distance), ("diversity", 0.5, lambda c: c.best.diversity),
    ("e0", 0.5, lambda c: c.foveated.e0), ("keep_regions", 3, lambda c: c.cascade.keep_regions),
    ("cover", True, lambda c: c.cascade.cover), ("keep_scores", True, lambda c: c.keep_scores),
    ("share", 0.5, lambda c: c.budget.share), ("keep_pass", True, lambda c: c.score.keep_pass)])
def test_a_value_gets_to_its_place(name, value, read):
    assert read(Choosing({name: value}).c) == value


def test_words_and_zero_have_values():
    assert Choosing({"arrangement": "log-polar"}).c.foveated.arrangement == 1
    assert Choosing({"tolerance": "auto"}).c.budget.tolerance == pytest.approx(0.03)
    assert Choosing({"tolerance": 0}).c.budget.tolerance == -1.0
    assert Choosing({"emphasis_channel": "edges"}).c.budget.emphasis_channel > 0
    for name in ("share", "stride", "e0"):
        with pytest.raises(tv.ArgumentError, match="it must be above 0"):
            Choosing({name: 0})


def test_every_parameter_is_a_keyword():
    assert {"k", "share", "cull_distance", "scorer"} < set(_names.PARAMETERS)
    with pytest.raises(tv.ArgumentTypeError, match="there is no option 'dense'"):
        tv.select("no.jpg", dense=True)
