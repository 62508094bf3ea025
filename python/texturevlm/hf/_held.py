# SPDX-License-Identifier: Apache-2.0
"""Chooses the tokens of a video by what is held: a token is shown until another one takes its place (conditional replenishment)."""
from __future__ import annotations

from typing import Any

import torch

from ._tokens import side_of

_STEPS = 40  # halvings of the threshold: far below the least difference that 32-bit floats have


def held_tokens(pixels: torch.Tensor, grid: Any, merge: int, temporal: int, count: int) -> torch.Tensor:
    """For one video a bool for each of its tokens, slot after slot, on the CPU: whether the token is kept. `count` are kept, or all.

    A slot is the frames that become one grid of tokens. All tokens of the first slot are kept, so that there is something to hold at
    each place. A later token is kept where the squared difference of its pixels from those that are held there is above a
    threshold, which is lowered until `count` are kept, or the next lower one would keep too many. What is left of `count` is spent where the difference is largest.
    Pixels are compared by the means of squares of 4 x 4 (of 2 x 2, or one by one, where the side of a patch is no multiple of 4).

    Parameters:
        pixels: the processor's patches, [t * h * w, 3 * temporal * side^2]. Their scale does not matter.
        grid: the grid of patches, t, h, w.
        merge: how many patches a token has along a side.
        temporal: how many frames a patch has.
        count: at least the tokens of a slot.
    """
    return held_of(shown_by(pixels, grid, merge, temporal), count)


def shown_by(pixels: torch.Tensor, grid: Any, merge: int, temporal: int) -> torch.Tensor:
    """What the tokens of a video show, by which they are compared: [slots, tokens, means]. The parameters are those of `held_tokens`."""
    t, h, w = (int(side) for side in grid)
    means = _means(pixels, t, side_of(pixels.shape[1], temporal))
    return means.reshape(t, h * w // merge**2, -1)  # the patches of a token stand together


def held_of(shown: torch.Tensor, count: int) -> torch.Tensor:
    """The same as `held_tokens`, of what `shown_by` gives."""
    low, high = 0.0, float((shown.amax() - shown.amin()) ** 2) * shown.shape[2]
    kept, left = _replenished(shown, low)
    if int(kept.sum()) > count:
        kept, left = _replenished(shown, high)  # the first slot alone
        for _ in range(_STEPS):
            middle = (low + high) / 2
            tried = _replenished(shown, middle)
            if int(tried[0].sum()) > count:
                low = middle
                continue
            high, (kept, left) = middle, tried
            if int(kept.sum()) == count:
                break
    flags = kept.reshape(-1)
    rest = min(count, len(flags)) - int(flags.sum())
    if rest > 0:
        best = left.reshape(-1).masked_fill(flags, -1.0).sort(descending=True, stable=True).indices
        flags[best[:rest]] = True
    return flags


def _means(pixels: torch.Tensor, slots: int, side: int) -> torch.Tensor:
    """The means of small squares of pixels: float32 [patches, means], on the CPU."""
    block = next(block for block in (4, 2, 1) if side % block == 0)
    found = []
    for part in pixels.cpu().chunk(slots):  # one at a time, since bytes take four times as much as floats
        squares = part.float().reshape(len(part), -1, side // block, block, side // block, block)
        found.append(squares.mean((3, 5)).flatten(1))
    return torch.cat(found)


def _replenished(shown: torch.Tensor, threshold: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Which tokens are kept by a threshold, and how much each differs from what is held at its place: both [slots, tokens]."""
    kept, left = torch.zeros(shown.shape[:2], dtype=torch.bool), torch.zeros(shown.shape[:2])
    kept[0] = True
    held = shown[0].clone()
    for slot in range(1, len(shown)):
        left[slot] = (shown[slot] - held).square().sum(dim=1)
        kept[slot] = left[slot] > threshold
        held[kept[slot]] = shown[slot][kept[slot]]
    return kept, left
