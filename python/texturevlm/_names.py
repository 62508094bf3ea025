# SPDX-License-Identifier: Apache-2.0
"""The names of the library's enumerations. Most of them are asked of the library itself."""
from __future__ import annotations

from typing import Any

from ._arguments import names_of
from ._binding import ffi, lib
from ._core import text


def _find(find: Any, name: str) -> int:
    return int(find(name.encode()))


def _parameters() -> dict[str, Any]:
    found = [lib.tvlm_parameter_at(0)]
    while found[-1] != ffi.NULL:
        found.append(lib.tvlm_parameter_at(len(found)))
    return {text(parameter.name): parameter for parameter in found[:-1]}


def words_of(parameter: Any) -> list[str]:
    """The words that stand for values of a parameter."""
    words: list[str] = []
    while parameter.words != ffi.NULL and parameter.words[len(words)] != ffi.NULL:
        words.append(text(parameter.words[len(words)]))
    return words


# The library's table of parameters: a tvlm_parameter for each name.
PARAMETERS = _parameters()

# The first value, the default, has the same name as the strategy that it stands for, so it is left out here.
STRATEGIES = names_of(lib.tvlm_strategy_name, first=1)
COMBINATIONS = ["max", "mean"]
REDUCTIONS = ["mean", "max", "min", "mode", "gaussian"]
BORDERS = ["clamp", "reflect"]
USES = names_of(lib.tvlm_stream_use_name)
MODELS = names_of(lib.tvlm_export_model_name)
LAYOUTS = names_of(lib.tvlm_layout_name)


def strategy(name: str) -> int:
    """The library's number of a strategy. `name` must be one of STRATEGIES."""
    return _find(lib.tvlm_strategy_find, name)
