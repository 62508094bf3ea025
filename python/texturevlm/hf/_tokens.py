# SPDX-License-Identifier: Apache-2.0
"""Chooses the tokens of a processor's tensors that matter, and checks such a choice of the caller."""
from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch

from .._arguments import choice, integer, short
from .._core import ArgumentError, ArgumentTypeError, warn
from .._device import Device, device_of
from .._functions import topk
from .._options import Choosing, scorer_of
from .._stack import SCORED, Stack
from ._processors import BEYOND, bytes_or_floats, colours, normalisation_of
from ._ways import QUARTER, Best, Spending, shared, spending_of, without_least


class Bound:
    """The base of objects that depend on a loaded model. They can be neither pickled nor copied."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        name = next(kind.__name__ for kind in type(self).__mro__ if kind.__name__.startswith("Prune"))
        raise ArgumentTypeError(f"a {name} cannot be pickled or copied, as it hangs on its model: make it where it is needed")


def side_of(numbers: int, temporal: int = 1) -> int:
    """The side of a square patch that has so many numbers, for 3 colours and `temporal` frames."""
    side = int(round((numbers / (3 * temporal)) ** 0.5))
    if 3 * temporal * side * side != numbers:
        raise ArgumentError(f"a patch has {numbers} numbers, which are not {temporal} frames of 3 colours of a square")
    return side


def _has_values(pixel_values: torch.Tensor) -> bool:
    """Whether the values are floats or bytes. A processor that neither rescales nor normalises leaves bytes."""
    return bool(pixel_values.is_floating_point() or pixel_values.dtype == torch.uint8)


def check_patches(pixel_values: Any, grid: Any, merge: int, temporal: int) -> list[tuple[int, int, int]]:
    """The grids of Qwen-VL's pictures. Refuses grids that do not fit the patches."""
    if not isinstance(pixel_values, torch.Tensor) or pixel_values.ndim != 2 or not _has_values(pixel_values):
        raise ArgumentTypeError(f"pixel_values are {short(pixel_values)[:60]}, not a tensor of floats [patches, numbers of a patch]")
    if not isinstance(grid, torch.Tensor) or grid.ndim != 2 or grid.shape[1] != 3 or grid.is_floating_point():
        raise ArgumentTypeError(f"the grid is {short(grid)[:60]}, not a tensor of whole numbers [pictures, 3]")
    side_of(pixel_values.shape[1], temporal)
    grids = [(int(t), int(h), int(w)) for t, h, w in grid.tolist()]
    patches = sum(t * h * w for t, h, w in grids)
    if patches != pixel_values.shape[0] or any(min(g) < 1 or g[1] % merge or g[2] % merge for g in grids):
        raise ArgumentError(f"the grids {grids} have {patches} patches in blocks of {merge} x {merge}, pixel_values have "
                            f"{pixel_values.shape[0]}")
    return grids


def check_shapes(pixel_values: Any, shapes: Any) -> list[tuple[int, int]]:
    """The shapes of SigLIP2's pictures, in patches. Refuses shapes that do not fit the patches."""
    if not isinstance(pixel_values, torch.Tensor) or pixel_values.ndim != 3 or not _has_values(pixel_values):
        raise ArgumentTypeError(f"pixel_values are {short(pixel_values)[:60]}, not a tensor of floats [pictures, patches, numbers of a "
                                "patch]")
    if not isinstance(shapes, torch.Tensor) or shapes.ndim != 2 or shapes.shape[1] != 2 or shapes.is_floating_point():
        raise ArgumentTypeError(f"spatial_shapes are {short(shapes)[:60]}, not a tensor of whole numbers [pictures, 2]")
    if not len(pixel_values):
        raise ArgumentError("pixel_values have no pictures")
    side_of(pixel_values.shape[2])
    found = [(int(h), int(w)) for h, w in shapes.tolist()]
    if len(found) != pixel_values.shape[0] or any(min(shape) < 1 or shape[0] * shape[1] > pixel_values.shape[1] for shape in found):
        raise ArgumentError(f"spatial_shapes {found} do not fit pixel_values {tuple(pixel_values.shape)}")
    return found


def check_pictures(pixel_values: Any, side: int) -> tuple[int, int]:
    """How many rows and columns of tokens pictures of one size have. `side` is the side of a token in pixels."""
    if (not isinstance(pixel_values, torch.Tensor) or pixel_values.ndim != 4 or pixel_values.shape[1] != 3
            or not _has_values(pixel_values)):
        raise ArgumentTypeError(f"pixel_values are {short(pixel_values)[:60]}, not a tensor of floats [pictures, 3, height, width]")
    if not len(pixel_values):
        raise ArgumentError("pixel_values have no pictures")
    rows, columns = pixel_values.shape[2] // side, pixel_values.shape[3] // side
    if min(rows, columns) < 1:
        raise ArgumentError(f"pixel_values {tuple(pixel_values.shape)} are smaller than a token of {side} x {side} pixels")
    return rows, columns


# ---- Pixels ----

def frames_of(rows: torch.Tensor, t: int, h: int, w: int, merge: int, temporal: int) -> torch.Tensor:
    """[t, temporal, H, W, 3]: the values as frames, from the patches that Qwen-VL's processor made of them."""
    side = side_of(rows.shape[1], temporal)
    blocks = rows.reshape(t, h // merge, w // merge, merge, merge, 3, temporal, side, side)
    return blocks.permute(0, 6, 1, 3, 7, 2, 4, 8, 5).reshape(t, temporal, h * side, w * side, 3)


def pixels_of(values: torch.Tensor, mean: Any, std: Any, colours: int = -1) -> torch.Tensor:
    """uint8: the pixels of normalised values, of which one dimension are the colours. Refuses values that are far from pixels."""
    shape = [1] * values.ndim
    shape[colours] = 3
    scale, shift = (torch.tensor(value, dtype=torch.float32, device=values.device).view(shape) for value in (std, mean))
    found = (values.float() * scale).add_(shift)
    low, high = (float(end) for end in found.aminmax())
    if not (low >= -BEYOND and high <= 1 + BEYOND):
        raise ArgumentError(f"pixel_values are those of pixels {low:.3g} .. {high:.3g} by that mean and std, not 0 .. 1: give the "
                            "processor that made them, or its mean and std")
    return found.mul_(255).round_().clamp_(0, 255).to(torch.uint8)


def _pictures(pixel_values: Any, grid: Any, merge: int | None, patch: int | None, temporal: int) -> Iterator[tuple[torch.Tensor, int]]:
    """Yields for each picture its values [moments, frames, height, width, 3], and the side of a token in pixels."""
    if isinstance(pixel_values, list):  # pictures of any sizes, each with the side of its tokens
        for picture, side in pixel_values:
            rows, columns = check_pictures(picture[None], side)
            yield picture.permute(1, 2, 0)[None, None, :rows * side, :columns * side], side
    elif grid is None:
        if patch is None:
            raise ArgumentError("whole pictures (pixel_values [pictures, 3, height, width]) need patch, the side of a patch in pixels")
        side = integer("patch", patch, 1, 1024) * (1 if merge is None else merge)
        rows, columns = check_pictures(pixel_values, side)
        for picture in pixel_values:
            yield picture.permute(1, 2, 0)[None, None, :rows * side, :columns * side], side
    elif isinstance(pixel_values, torch.Tensor) and pixel_values.ndim == 3:
        side = side_of(pixel_values.shape[2])
        for picture, (h, w) in zip(pixel_values, check_shapes(pixel_values, grid)):
            blocks = picture[:h * w].reshape(h, w, side, side, 3).permute(0, 2, 1, 3, 4)
            yield blocks.reshape(1, 1, h * side, w * side, 3), side
    else:
        merge, first = 2 if merge is None else merge, 0
        for t, h, w in check_patches(pixel_values, grid, merge, temporal):
            yield (frames_of(pixel_values[first:first + t * h * w], t, h, w, merge, temporal),
                   merge * side_of(pixel_values.shape[1], temporal))
            first += t * h * w


# ---- The choice ----

STRATEGIES = ("grid", "budget")


def checked(*, share: Any = None, k: Any = None, strategy: Any = None, weights: Any = None, scorer: Any = None, device: Any = None,
            budget: Any = None, tolerance: Any = None, way: Any = None, query: Any = None) -> dict[str, Any]:
    """Checks the options of select_tokens, and reads the file of a scorer. Raises an `Error` for options that do not fit.

    ``"spending"`` is None where tokens are chosen by a score that is asked for.
    """
    own = {"k": k, "strategy": strategy, "weights": weights, "scorer": scorer}
    if share is not None and k is not None:
        raise ArgumentError("share and k exclude each other")
    if k is not None:
        k = integer("k", k, 1)
    if strategy is not None:
        choice("strategy", strategy, STRATEGIES)
    if strategy == "budget" and (weights is not None or scorer is not None):
        raise ArgumentError("weights and a scorer are for the strategy grid, not for budget")
    by_score = [name for name, value in (*own.items(), ("query", query)) if value is not None]
    other = [name for name, value in (("budget", budget), ("tolerance", tolerance), ("way", way)) if value is not None]
    if by_score and other:
        raise ArgumentError(f"{by_score[0]} is for tokens that are chosen by their score: {other[0]} is not for it")
    spending = spending_of(budget, share, tolerance, way)
    if device is not None:
        device = device_of(device)
        with device._owner:
            pass  # entering it refuses a device that is closed
    if scorer is not None:
        scorer = scorer_of(scorer)
    if weights is not None:
        Choosing({"weights": weights})
        with Device("reference") as reference, Stack(torch.zeros(16, 16, 3, dtype=torch.uint8), device=reference, layout=SCORED) as stack:
            stack.scores(weights=weights)  # so that the library itself checks the weights
    return {**own, "k": k, "scorer": scorer, "share": share, "device": device, "spending": None if by_score else spending}


def older(who: str, k: Any, preset: Any, strategy: Any, instead: str = "budget") -> Any:
    """Warns of options that go with version 0.4. Returns the strategy, which has taken the place of `preset`."""
    if k is not None:
        warn(f"k of {who} goes with version 0.4: {instead} says how many tokens there are, and way=\"cells\" chooses them by their score")
    if preset is None:
        return strategy
    warn(f"preset of {who} goes with version 0.4: strategy=\"budget\" takes its place, with one loss for all images")
    return "budget" if strategy is None else strategy


def select_tokens(pixel_values: torch.Tensor, grid: torch.Tensor | None = None, merge: int | None = None, *,
                  processor: Any = None, patch: int | None = None, budget: int | None = None, share: float | None = None,
                  tolerance: float | Literal["auto"] | None = None, way: Literal["auto", "pruned", "cells"] | None = None,
                  k: int | None = None, strategy: Literal["grid", "budget"] | None = None, mean: Any = None, std: Any = None,
                  temporal: int = 2, weights: Any = None, scorer: Any = None, query: Any = None, features: Any = None,
                  device: Device | str | None = None, preset: Any = None) -> list[torch.Tensor]:
    """Chooses tokens of the tensors that a processor made: from what the model sees, whichever resizer made it.

    Gives for each picture the numbers of the chosen tokens in ascending order: int64, on the device of pixel_values.

    Parameters:
        pixel_values, grid: what the processor made. There are three forms:

            - Qwen-VL: float [patches, 3 * temporal * patch^2], and its image_grid_thw or video_grid_thw, int [pictures, 3].
            - SigLIP2: float [pictures, patches, 3 * patch^2], and its spatial_shapes, int [pictures, 2].
            - All others: float [pictures, 3, height, width], without a grid. They need `patch`.
        patch: the side of a patch in pixels.
        processor: the processor that made the tensors; for videos its video_processor. Its attributes do_rescale, rescale_factor,
            do_normalize, image_mean and image_std say how values become pixels again.
        mean, std: three numbers each, in place of a processor: value * std + mean is the pixel, 0 .. 1. There is no default, as
            every family has its own numbers. Values that give numbers far from pixels are refused.
        merge: how many patches a token has along a side. None: 2 for Qwen-VL, else 1.
        budget, share, tolerance: how many tokens are chosen; at most one of the three. `budget`: so many of all pictures
            together, divided so that each loses about the same. `share`: this share of each picture's tokens, above 0 and at most
            1. `tolerance`: as few of each picture as lose at most this share, 0 .. 1, of what a picture of one token would lose;
            ``"auto"``: 0.03, which keeps what can be read. At least one token of each picture is chosen.

            If none is given, it is the tolerance ``"auto"``. It is a share of 0.25 of a video, of what is chosen by a score
            (way="cells", a strategy, weights, a scorer, a query), and of pictures without a grid if the processor writes no tokens
            of images into a prompt: they may be those of an encoder alone (CLIP, SigLIP), which needs as many of each.
        way: ``"pruned"``, ``"auto"`` or None leaves out the tokens that lose least (`texturevlm.predict`), such as blank paper or the rest of a line.
            ``"cells"`` chooses the best tokens by their score. Of a video, whose tokens are of several frames, the best of the
            whole clip are chosen by their score in any case.
        k: in place of `share`, how many tokens of each picture are chosen by their score. It goes with version 0.4.
        preset: is read as strategy="budget", with a warning, and goes with version 0.4.
        strategy: ``"budget"`` chooses the tokens of which a small picture of the whole image loses most. ``"grid"`` chooses by the
            score, which weights, a scorer or a query may change. A token of two frames has the better score of the two.
        query, features: lists with an entry for each picture, or None.
        temporal: how many frames a token of Qwen-VL has.
        device: a `Device`, or a device's name, on which the choice is made.
    """
    strategy = older("select_tokens", k, preset, strategy)
    return selected(pixel_values, grid, merge, processor=processor, patch=patch, budget=budget, share=share, tolerance=tolerance, way=way, k=k,
                    strategy=strategy, mean=mean, std=std, temporal=temporal, weights=weights, scorer=scorer, query=query, features=features,
                    device=device)


def selected(pixel_values: Any, grid: Any = None, merge: Any = None, *, processor: Any = None, patch: Any = None, mean: Any = None,
             std: Any = None, temporal: Any = 2, query: Any = None, features: Any = None, least: list[int] | None = None,
             **options: Any) -> list[torch.Tensor]:
    """What `select_tokens` gives, without its warnings. The options are those of `checked`; `least` is as in `chosen_tokens`."""
    if isinstance(pixel_values, (list, tuple)):
        raise ArgumentTypeError(f"pixel_values are {short(pixel_values)[:60]}, not a tensor: the processor's call needs return_tensors=\"pt\"")
    if grid is None and not _writes_prompts(processor) and all(options.get(name) is None for name in ("budget", "share", "tolerance", "k")):
        options["share"] = QUARTER
    keep: list[torch.Tensor] = chosen_tokens(pixel_values, grid, merge, processor=processor, patch=patch, mean=mean, std=std, temporal=temporal,
                                             query=query, features=features, least=least, **checked(query=query, **options))["keep"]
    return keep


def _writes_prompts(processor: Any) -> bool:
    """Whether a processor writes the tokens of images into prompts, as those of LLaVA do, and those of CLIP and of images alone do not."""
    return any(getattr(processor, name, None) is not None for name in ("image_token", "image_token_id"))


def chosen_tokens(pixel_values: Any, grid: Any = None, merge: Any = None, *, processor: Any = None, patch: Any = None, mean: Any = None,
                  std: Any = None, temporal: Any = 2, query: Any = None, features: Any = None, spending: Spending | None,
                  groups: list[int] | None = None, lines: list[int] | None = None, least: list[int] | None = None,
                  **options: Any) -> dict[str, Any]:
    """What select_tokens gives, as ``"keep"``, and for pictures that were measured a ``"report"``.

    `pixel_values` may also be a list of pictures [3, height, width], each with the side of its tokens. `options` and `spending` are
    what `checked` made. `groups`: how many of the pictures belong together, one after the other, and share a budget; None: all. `lines`: for each
    picture, how many tokens stand beside its own in the prompt; None: none. `least`: for each picture that is measured, how many of its
    tokens are chosen at least; None: one.
    """
    temporal = integer("temporal", temporal, 1, 16)
    if merge is not None:
        merge = integer("merge", merge, 1, 64)
    check_query(options["strategy"], query)
    mean, std = _scale(processor, mean, std, pixel_values)
    pictures = _pictures(pixel_values, grid, merge, patch, temporal)
    if query is None and features is not None:
        raise ArgumentError("features are what a query is compared with: give a query, too")
    measures = spending is not None and query is None
    first = pixel_values[0][0] if isinstance(pixel_values, list) else pixel_values
    if measures and spending is not None and _are_stills(pixel_values, grid, merge, temporal):
        stills = _stills(pixel_values, grid, merge, patch, temporal, mean, std)
        best = _best_of(list(pictures), mean, std, options["device"]) if spending.way == "cells" else None
        kept, report = without_least(((pixels.cpu().numpy(), side) for pixels, side in stills), spending, groups, options["device"], lines, best,
                                     least)
        return {"keep": [torch.from_numpy(flags.reshape(-1).nonzero()[0]).to(first.device) for flags in kept], "report": report}
    check_by_score(spending)
    k, share = options["k"], spending.share if spending is not None else options["share"]
    part = QUARTER if share is None else float(share)
    chosen = []
    for number, (values, side) in enumerate(pictures):
        tokens = values.shape[0] * (values.shape[2] // side) * (values.shape[3] // side)
        count = min(k, tokens) if k is not None else shared(part, tokens)
        if count == tokens:
            best = torch.arange(tokens)
        else:
            asked = {name: _of_picture(name, value, number, len(pixel_values if grid is None else grid))
                     for name, value in (("query", query), ("features", features))}
            scores = torch.stack([_token_scores(pixels_of(moment, mean, std), side, count / tokens, options["strategy"], options["weights"],
                                                options["scorer"], asked, options["device"]) for moment in values])
            best = torch.from_numpy(topk(scores.numpy(), count, device=options["device"])[0]).long().sort().values
        chosen.append(best.to(first.device))
    return {"keep": chosen}


def _best_of(pictures: list[tuple[torch.Tensor, int]], mean: Any, std: Any, device: Any) -> Best:
    """Finds the best tokens of still pictures by their score. Scores are made once, for the pictures that are asked for."""
    none = {"query": None, "features": None}

    @functools.lru_cache(maxsize=None)
    def scores(number: int) -> Any:
        values, side = pictures[number]
        return _token_scores(pixels_of(values[0], mean, std), side, 1.0, None, None, None, none, device).numpy()

    def best(number: int, count: int) -> Any:
        found = scores(number)
        flags = np.zeros(found.size, bool)
        flags[topk(found, count, device=device)[0]] = True
        return flags.reshape(found.shape)
    return best


def check_by_score(spending: Spending | None) -> None:
    """Refuses to choose by score what only a loss can decide."""
    if spending is not None and (spending.budget is not None or (spending.tolerance is not None and not spending.default)):
        raise ArgumentError("of videos, and with a query, tokens are chosen by share or k, not by budget or tolerance")


def _are_patches(pixel_values: Any, grid: Any) -> bool:
    """Whether they are Qwen-VL's patches, of which a grid tells the places."""
    return grid is not None and isinstance(pixel_values, torch.Tensor) and pixel_values.ndim != 3


def _are_stills(pixel_values: Any, grid: Any, merge: int | None, temporal: int) -> bool:
    """Whether no picture is a video: each has one moment, all frames of which are the same."""
    if not _are_patches(pixel_values, grid):
        return True
    if any(t > 1 for t, _, _ in check_patches(pixel_values, grid, 2 if merge is None else merge, temporal)):
        return False
    frames = pixel_values.view(len(pixel_values), 3, temporal, -1)
    return all(torch.equal(frames[:, :, 0], frames[:, :, i]) for i in range(1, temporal))


def _stills(pixel_values: Any, grid: Any, merge: int | None, patch: int | None, temporal: int, mean: Any,
            std: Any) -> Iterator[tuple[torch.Tensor, int]]:
    """Yields for each picture its pixels, uint8 [height, width, 3], and the side of a token in pixels."""
    if not _are_patches(pixel_values, grid):
        for values, side in _pictures(pixel_values, grid, merge, patch, temporal):
            yield pixels_of(values[0, 0], mean, std), side
        return
    # Of Qwen-VL's patches one frame becomes bytes before it is put in order: of large pictures that takes a fraction of the time.
    merge, side, first = 2 if merge is None else merge, side_of(pixel_values.shape[1], temporal), 0
    for _, h, w in grid.tolist():
        frame = pixel_values[first:first + h * w].view(h * w, 3, temporal, side, side)[:, :, 0]
        pixels = pixels_of(frame, mean, std, colours=1)
        blocks = pixels.reshape(h // merge, w // merge, merge, merge, 3, side, side)
        yield blocks.permute(0, 2, 5, 1, 3, 6, 4).reshape(h * side, w * side, 3), merge * side
        first += h * w


def groups_of(batch: Mapping[str, Any], token: int, sizes: Sequence[int]) -> list[int] | None:
    """How many of the pictures belong to each prompt of a batch, from the numbers of their tokens; None: all belong to one."""
    ids = batch["input_ids"]
    if len(ids) == 1 or not sizes:
        return None
    mask = batch.get("attention_mask")
    places = (ids == token) if mask is None else (ids == token) & mask.bool()
    groups, rest = [], list(sizes)
    for count in places.sum(dim=1).tolist():
        own = 0
        while count > 0 and rest:
            count -= rest.pop(0)
            own += 1
        if count:
            raise ArgumentError("which pictures belong to which prompt cannot be told by their tokens: give share or tolerance, or one prompt")
        groups.append(own)
    return groups


def check_query(strategy: Any, query: Any) -> None:
    if strategy == "budget" and query is not None:
        raise ArgumentError("a query is for the strategy grid, not for budget")


def _scale(processor: Any, mean: Any, std: Any, pixel_values: Any) -> tuple[list[float], list[float]]:
    """The mean and std, from the processor or as the caller gave them."""
    if processor is None:
        if mean is None or std is None:
            raise ArgumentError("how the values were made of pixels must be said: give the processor, or its mean and std")
        return colours("mean", mean), colours("std", std)
    if mean is not None or std is not None:
        raise ArgumentError("a processor has its own mean and std")
    found = normalisation_of(processor)
    tensors = [picture for picture, _ in pixel_values] if isinstance(pixel_values, list) else [pixel_values]
    if all(isinstance(one, torch.Tensor) and one.numel() and _has_values(one) for one in tensors):
        return bytes_or_floats(processor, *found, max(float(one.amax()) for one in tensors))
    return found


def _of_picture(name: str, value: Any, number: int, count: int) -> Any:
    """The entry of a list for a picture; None if there is no list."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise ArgumentError(f"there are {count} pictures: {name} must be a list of as many")
    return value[number]


def _token_scores(frames: torch.Tensor, side: int, part: float, strategy: str | None, weights: Any, scorer: Any,
                  asked: dict[str, Any], device: Device | str | None) -> torch.Tensor:
    """[rows, columns]: how much each token of one moment matters."""
    found: torch.Tensor | None = None
    for i in range(frames.shape[0]):
        if i > 0 and torch.equal(frames[i], frames[i - 1]):
            continue  # a token of a still image has the same frame several times
        with Stack(frames[i].cpu(), device=device, layout=SCORED) as stack:
            if asked["features"] is not None:
                stack.set_features(asked["features"])
            if strategy == "budget":
                kept = stack.select(strategy="budget", share=part, patch=side, keep_scores=True).score_map
                assert kept is not None
                scores = kept
            else:
                scores = stack.scores(asked["query"], stride=side, weights=weights, scorer=scorer)
        here = torch.from_numpy(scores.copy())
        found = here if found is None else torch.maximum(found, here)
    assert found is not None
    return found


def check_unused(name: str, keep: Any, pixel_name: str) -> None:
    """Refuses a choice of tokens of pictures that are not there: it would be passed over, and another one was meant."""
    if keep is not None and not (isinstance(keep, (list, tuple)) and not keep):
        raise ArgumentError(f"{name} is given, and the batch has no {pixel_name}")


def kept_of(keep: Any, sizes: Sequence[int], device: Any, least: int = 1) -> list[torch.Tensor]:
    """For each picture a bool for each of its tokens, from the caller's choice: numbers or bools per picture, or None for all.

    `least` is how many are chosen of a picture at least: 1 or 0.
    """
    if keep is None:
        return [torch.ones(size, dtype=torch.bool, device=device) for size in sizes]
    if not isinstance(keep, (list, tuple)) or len(keep) != len(sizes):
        raise ArgumentError(f"there are {len(sizes)} pictures: keep must be a list of as many tensors")
    kept = []
    for number, (size, tokens) in enumerate(zip(sizes, keep)):
        try:
            tokens = torch.as_tensor(tokens, device=device)
        except Exception as error:  # from PyTorch, or from the object that was handed in
            raise ArgumentTypeError(f"keep of picture {number} is {short(tokens)[:60]}, not numbers or bools of tokens") from error
        if tokens.dtype == torch.bool:
            if tuple(tokens.shape) != (size,):
                raise ArgumentError(f"keep of picture {number} has bools of the shape {tuple(tokens.shape)}; the picture has {size} tokens")
            tokens = tokens.nonzero()[:, 0]
        if tokens.is_floating_point() or tokens.is_complex() or tokens.ndim != 1 or tokens.numel() < least:
            raise ArgumentError(f"keep of picture {number} is of the shape {tuple(tokens.shape)} and {tokens.dtype}; it must name at "
                                "least one token")
        if tokens.numel() and (int(tokens.min()) < 0 or int(tokens.max()) >= size):
            raise ArgumentError(f"picture {number} has {size} tokens; keep names {int(tokens.min())} .. {int(tokens.max())}")
        flags = torch.zeros(size, dtype=torch.bool, device=device)
        flags[tokens.long()] = True
        kept.append(flags)
    return kept
