# SPDX-License-Identifier: Apache-2.0
"""The types that signatures name: the library's own names, and an answer of a type. ci/python-types checks them."""
import inspect
import re
import typing

import pytest

import texturevlm as tv
from texturevlm import _device, _names, _parameters, _types


@pytest.mark.parametrize("kind, names", [
    (_types.Strategy, ["default", *_names.STRATEGIES]), (_parameters.Arrangement, _names.words_of(_names.PARAMETERS["arrangement"])),
    (_types.Reduction, _names.REDUCTIONS), (_types.Border, _names.BORDERS), (_types.Use, _names.USES), (_types.Model, _names.MODELS),
    (_types.Format, _device.FORMATS), (_types.Storage, _device.STORAGES), (_types.DeviceType, _device.TYPES)], ids=lambda kind: "")
def test_literal_names_are_the_librarys(kind, names):
    assert list(typing.get_args(kind)) == list(names)


def answers():
    for name in tv.__all__:
        thing = getattr(tv, name)
        if not isinstance(thing, type):
            yield name, thing
            continue
        for method, value in vars(thing).items():
            found = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if inspect.isfunction(found) and not method.startswith("_"):
                yield f"{name}.{method}", found


# The image that was handed in, of whatever type it was.
UNKNOWN = {"Selection.image"}


def test_every_answer_has_a_type():
    found = dict(answers())
    assert len(found) > 100
    for name, function in found.items():
        said = inspect.signature(function).return_annotation
        assert said is not inspect.Signature.empty, name
        assert not re.fullmatch(r"Any( \| None)?", str(said)) or name in UNKNOWN, (name, said)
