# SPDX-License-Identifier: Apache-2.0
"""The classes that lmms-eval loads (lmms_eval.py beside this says more). They stand in a module of their own, since importing
lmms-eval's classes takes long, and lmms-eval itself does so for the chosen model only."""
from __future__ import annotations

import lmms_eval.models.chat.qwen2_5_vl
import lmms_eval.models.chat.qwen3_vl

from .lmms_eval import Pruned


class Qwen25(Pruned, lmms_eval.models.chat.qwen2_5_vl.Qwen2_5_VL):  # type: ignore[misc]
    """lmms-eval's ``qwen2_5_vl``, pruned."""


class Qwen3(Pruned, lmms_eval.models.chat.qwen3_vl.Qwen3_VL):  # type: ignore[misc]
    """lmms-eval's ``qwen3_vl``, pruned. That one hands its pictures to qwen_vl_utils, which has these limits of its own."""

    system_message = True
    sizes = {"min_pixels": 4 * 32 * 32, "max_pixels": 16384 * 32 * 32}
