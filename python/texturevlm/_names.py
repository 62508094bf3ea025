# SPDX-License-Identifier: Apache-2.0
"""The names of the library's enumerations. Most of them are asked of the library itself."""
from __future__ import annotations

from typing import Any

from ._arguments import names_of
from ._binding import lib


def _find(find: Any, name: str) -> int:
    return int(find(name.encode()))


# The first value, the default, has the same name as the strategy that it stands for, so it is left out here.
STRATEGIES = names_of(lib.tvlm_strategy_name, first=1)
ARRANGEMENTS = ["sunflower", "log-polar"]
COMBINATIONS = ["max", "mean"]
REDUCTIONS = ["mean", "max", "min", "mode", "gaussian"]
BORDERS = ["clamp", "reflect"]
USES = names_of(lib.tvlm_stream_use_name)
MODELS = names_of(lib.tvlm_export_model_name)
LAYOUTS = names_of(lib.tvlm_layout_name)


def strategy(name: str) -> int:
    """The library's number of a strategy. `name` must be one of STRATEGIES."""
    return _find(lib.tvlm_strategy_find, name)
