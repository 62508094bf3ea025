# SPDX-License-Identifier: Apache-2.0
"""Types of the parameters of texturevlm.select. ci/parameters makes this file of the library's table."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

Strategy = Literal["default", "grid", "foveated", "quadtree", "exhaustive", "cascade", "budget"]
Arrangement = Literal["sunflower", "log-polar"]

if TYPE_CHECKING:
    from typing_extensions import TypedDict
    from ._options import Scorer

    class MoreParameters(TypedDict, total=False):
        """The parameters that the signature of texturevlm.select does not name."""

        patch: float | None
        emphasis: float | None
        emphasis_channel: str | None
        stride: float | None
        diversity: float | None
        level: int | None
        e0: float | None
        fixations: Any
        min_distance: float | None
        arrangement: Arrangement | None
        keep_regions: int | None
        cull_distance: float | None
        cover: bool
        weights: Any
        scorer: Scorer | str | os.PathLike[str] | None
        scores: Any
        keep_pass: bool
        keep_scores: bool

    class Parameters(MoreParameters, total=False):
        """All parameters but k."""

        overview: float | None
        share: float | None
        tolerance: float | Literal["auto"] | None
