# SPDX-License-Identifier: Apache-2.0
"""Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3.5 and GLM-4.1V: images and videos as grids of patches, and positions of three dimensions.

They are pruned before the encoder.
"""
from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any, Callable

import torch

from .._core import ArgumentError
from ._batch import PrunedBatch
from ._families import takes_places
from ._held import held_tokens
from ._ways import QUARTER, Spending
from ._tokens import check_by_score, check_patches, check_unused, chosen_tokens, groups_of, kept_of

_KINDS = (("image_grid_thw", "pixel_values", "image_token_id"), ("video_grid_thw", "pixel_values_videos", "video_token_id"))


def _tokens_of(model: Any) -> list[int]:
    """The image token and the video token of a prompt. GLM has one token for both."""
    names = [name for _, _, name in _KINDS]
    return [getattr(model.config, names[0] if model.config.model_type.startswith("glm4v") else name) for name in names]


class Picture:
    """The tower's part of a batch: which rows of pixels are kept, in which grid they stand, and which attend to each other."""

    def __init__(self, tower: Any, pixels: torch.Tensor, grid: torch.Tensor, kept: torch.Tensor, merge: int) -> None:
        self.tower, self.full_grid, self.kept, self.unit = tower, grid, kept, merge**2
        self.rows = (kept.nonzero()[:, 0, None] * self.unit + torch.arange(self.unit, device=kept.device)).flatten()
        self.pixels = pixels[self.rows]
        counts, shapes, first = [], [], 0
        for t, h, w in grid.tolist():
            moment = h * w // self.unit
            for _ in range(t):
                counts.append(int(kept[first:first + moment].sum()))
                shapes.append([1, h, w] if hasattr(tower, "embeddings") else [1, 1, counts[-1] * self.unit])
                first += moment
        # The tower reads from the grid which patches attend to each other. These are the patches of one moment, so each moment is
        # a row of the grid. GLM also reads from it the size of the picture, from which it computes places.
        self.grid = torch.tensor([shape for shape, count in zip(shapes, counts) if count], dtype=grid.dtype, device=grid.device)
        self.edges = torch.tensor([0, *(count * self.unit for count in counts if count)], device=grid.device).cumsum(0, dtype=torch.int32)

    def windows(self, index: torch.Tensor, bounds: Any) -> tuple[torch.Tensor, list[int]]:
        """For Qwen2.5-VL: the kept tokens, window after window, and where the patches of each window begin.

        Both are computed from the same numbers for all tokens.
        """
        kept = self.kept.to(index.device)
        number = torch.cumsum(kept.long(), 0) - 1
        stays = kept[index]
        edges = torch.as_tensor(bounds, device=index.device).long() // self.unit
        counts = torch.nn.functional.pad(torch.cumsum(stays.long(), 0), (1, 0))[edges]
        return number[index[stays]], (counts * self.unit).tolist()

    def places(self, modality: str) -> dict[str, torch.Tensor]:
        """The places of the kept patches in the full grids, as arguments of the tower in transformers 5.23 and later."""
        vision: Any = importlib.import_module("transformers.vision_utils")
        tower, merge = self.tower, int(self.tower.spatial_merge_size)
        found = {"position_ids": vision.get_vision_position_ids(self.full_grid, merge)[self.rows]}
        if hasattr(tower, "embeddings"):
            found["cu_seqlens"] = self.edges
        if hasattr(tower, "interpolation_mode"):
            indices, weights = vision.get_vision_interpolation_indices_and_weights(
                self.full_grid, num_grid_per_side=tower.num_grid_per_side, mode=tower.interpolation_mode,
                align_corners=tower.interpolation_align_corners, spatial_merge_size=merge)
            found.update(interp_indices=indices[self.rows], interp_weights=weights[self.rows])
        if hasattr(tower, "window_size"):
            index, bounds = self.windows(*vision.get_vision_window_index(
                self.full_grid, spatial_merge_size=merge, window_size=tower.window_size, patch_size=tower.patch_size))
            edges = torch.unique_consecutive(torch.tensor(bounds, dtype=torch.int32, device=self.full_grid.device))
            found.update(window_index=index, cu_window_seqlens=edges)
        return {f"{modality}_{name}": value for name, value in found.items()}


def answer_places(tower: Any, pictures: list[Picture]) -> Callable[[], bool]:
    """Lets a tower take the places of the kept patches from the full grids. The tower must be a view.

    The tower calls its own methods for places. They are replaced by functions that answer for the full grid of a picture. Returns
    a function that says whether the tower has asked for each picture.
    """
    asked: set[int] = set()

    def of(grid: torch.Tensor) -> Picture | None:
        # An image and a video of which as many tokens are kept have equal grids, but in two tensors. So the same tensor comes
        # first.
        return next((picture for picture in pictures if picture.grid is grid),
                    next((picture for picture in pictures if torch.equal(picture.grid, grid)), None))

    def answered(name: str) -> Any:
        original = getattr(tower, name)

        def answer(grid: torch.Tensor, *rest: Any, **options: Any) -> Any:
            picture = of(grid)
            if picture is None:
                return original(grid, *rest, **options)
            asked.add(id(picture))
            if name == "get_window_index":
                return picture.windows(*original(picture.full_grid))
            return original(picture.full_grid, *rest, **options)[picture.rows]
        return answer

    names = [name for name in ("rot_pos_emb", "fast_pos_embed_interpolate", "get_window_index") if hasattr(tower, name)]
    for name, answer in [(name, answered(name)) for name in names]:
        setattr(tower, name, answer)
    return lambda: asked == set(map(id, pictures))


class _Encoded(dict):  # type: ignore[type-arg]
    """The encoder's output by its kind (image, video). `taken` has the kinds that the model has read.

    Each call makes a class of its own, with `taken` on the class, since accelerate copies the objects that it hands on.
    """

    taken: set[str]

    def get(self, name: str, default: Any = None) -> Any:
        self.taken.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.taken.add(name)
        return super().__getitem__(name)


def handed(encoded: dict[str, Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
    """The argument by which a model gets the output of its encoder, and a function that says whether it has read all of it."""
    found = type("Encoded", (_Encoded,), {"taken": set()})(encoded)
    return {"mm_encoder_outputs": found}, lambda: found.taken.issuperset(found)


class QwenBatch(PrunedBatch):
    """Prompts with images and videos for Qwen-VL, or with images or videos for GLM-4.1V."""

    def __init__(self, model: Any, batch: Mapping[str, Any], keep: Any, keep_videos: Any) -> None:
        super().__init__(model, batch)
        self._inner = model.model if hasattr(model.model, "visual") else model  # 4.47 has the tower in the outer model
        self._tower = self._inner.visual
        # A call has its own view of the modules that it changes: the model, which keeps positions, and before transformers 5.23
        # the tower, whose methods are replaced.
        self._path = ".".join(["model"] * (self._inner is not model) + ["visual"] * (not takes_places()))
        self._sets_to_run = not takes_places()
        merge = int(self._tower.spatial_merge_size)
        self._pictures: dict[str, Picture] = {}
        tokens = _tokens_of(model)
        if len(set(tokens)) == 1 and all(batch.get(pixel_name) is not None for _, pixel_name, _ in _KINDS):
            raise ArgumentError(f"a {model.config.model_type} answers images or videos, not both together: it has one token for them")
        for (grid_name, pixel_name, _), token, name, wanted in zip(_KINDS, tokens, ("keep", "keep_videos"), (keep, keep_videos)):
            if batch.get(pixel_name) is None:
                check_unused(name, wanted, pixel_name)
                if tokens.count(token) == 1 or not any(batch.get(name) is not None for _, name, _ in _KINDS):
                    self._check_without(token, pixel_name)
                continue
            check_patches(batch[pixel_name], batch.get(grid_name), merge, int(model.config.vision_config.temporal_patch_size))
            grid = batch[grid_name]
            kept = torch.cat(kept_of(wanted, (grid.prod(dim=1) // merge**2).tolist(), self._full.device))
            self._drop(token, kept, pixel_name)
            if name == "keep_videos" and model.config.model_type.startswith("qwen3"):
                self._leave_out_slots(token, kept, grid // torch.tensor([1, merge, merge], device=grid.device))
            self._pictures[pixel_name] = Picture(self._tower, batch[pixel_name], grid, kept, merge)
        self._shorten(self._positions(batch, self._full, self._full_mask))

    def _leave_out_slots(self, token: int, kept: torch.Tensor, grid: torch.Tensor) -> None:
        """Drops the text of each slot of which nothing is kept: its time, and the tokens at its beginning and its end.

        Not of a video's first slot, before which any text may stand. grid: tokens of videos, [videos, 3].
        """
        row, column = ((self._full == token) & self._full_mask.bool()).nonzero(as_tuple=True)
        end = 0
        for slot, tokens in [(slot, h * w) for t, h, w in grid.tolist() for slot in range(t)]:
            first, end = end, end + tokens
            if slot == 0 or bool(kept[first:end].any()):
                continue
            own, before, begins, ends = self._full[int(row[first])], *(int(column[at]) for at in (first - 1, first, end - 1))
            if before + 2 < begins and ends + 1 < len(own) and own[before + 1] == own[ends + 1]:  # as the slot before ends
                self.kept[int(row[first]), before + 2:ends + 2] = False

    def _positions(self, batch: Mapping[str, Any], ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[3, rows, length]: the positions of the full prompt."""
        options = {name: batch[name] for name in ("image_grid_thw", "video_grid_thw", "second_per_grid_ts")
                   if batch.get(name) is not None}
        if takes_places():
            kinds = torch.zeros_like(ids)
            for kind, ((_, pixel_name, _), token) in enumerate(zip(_KINDS, _tokens_of(self._model)), 1):
                if pixel_name in self._pictures:
                    kinds[ids == token] = kind
            options["mm_token_type_ids"] = batch.get("mm_token_type_ids", kinds)
        positions, _ = self._inner.get_rope_index(ids, attention_mask=mask, **options)
        found: torch.Tensor = positions.to(ids.device)
        return found

    def _placed(self) -> torch.Tensor:
        if self._inner is self._model:
            return self.position_ids
        # From transformers 4.57 on, the positions in the text come before the three rows of M-RoPE.
        text = (self.attention_mask.cumsum(dim=1) - 1).clamp(min=0)
        return torch.cat([text[None], self.position_ids])

    def _first(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        return self._given(views, self._pictures)

    def _resume(self, batch: Mapping[str, Any], cache: Any, places: int, tokens: int) -> None:
        super()._resume(batch, cache, places, tokens)
        merge = int(self._tower.spatial_merge_size)
        patches = tokens * merge**2
        kept = self._pictures["pixel_values"].kept[tokens:]
        later = Picture(self._tower, batch["pixel_values"][patches:], batch["image_grid_thw"][1:], kept, merge)
        self._later = {"pixel_values": later}

    def _begin_later(self, views: list[Any]) -> None:
        # The model would compute it of the prompt's beginning, which generate leaves out.
        views[1].rope_deltas = self.position_ids.max().reshape(1, 1) + 1 - self.input_ids.shape[1]

    def _rest(self, views: list[Any]) -> tuple[dict[str, Any], Callable[[], bool]]:
        return self._given(views, self._later)

    def _given(self, views: list[Any], pictures: dict[str, Picture]) -> tuple[dict[str, Any], Callable[[], bool]]:
        if takes_places():
            return handed(self._encoded(pictures))
        given = {}
        for pixel_name, grid_name in (("pixel_values", "image_grid_thw"), ("pixel_values_videos", "video_grid_thw")):
            if pixel_name in pictures:
                given[pixel_name], given[grid_name] = pictures[pixel_name].pixels, pictures[pixel_name].grid
        return given, answer_places(views[-1], list(pictures.values()))

    def _encoded(self, pictures: dict[str, Picture]) -> dict[str, Any]:
        """The encoder's output for the kept patches of pictures."""
        encode = {"pixel_values": ("image", self._inner.get_image_features),
                  "pixel_values_videos": ("video", self._inner.get_video_features)}
        found = {}
        for pixel_name, picture in pictures.items():
            modality, features = encode[pixel_name]
            places = picture.places(modality)
            # GLM's get_image_features would split the output by the grid, as if it had all patches.
            if hasattr(self._tower, "embeddings"):
                own = {name.split("_", 1)[1]: value for name, value in places.items()}
                answer = self._tower(picture.pixels.type(self._tower.dtype), grid_thw=picture.grid, return_dict=True, **own)
                answer.pooler_output = (answer.pooler_output,)
                found[modality] = answer
            else:
                found[modality] = features(picture.pixels, picture.grid, return_dict=True, **places)
        return found


def choose(model: Any, processor: Any, batch: Mapping[str, Any], asked: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments `keep` and `keep_videos` of prune_batch, chosen by the scores of the pictures. A query is for images only."""
    images = getattr(processor, "image_processor", processor)
    videos = getattr(processor, "video_processor", None) or images
    vision = model.config.vision_config
    found = {}
    if batch.get("pixel_values_videos") is not None:
        check_videos(options["spending"])
    for (grid_name, pixel_name, _), name, source, own in zip(_KINDS, ("keep", "keep_videos"), (images, videos), (asked, {})):
        if batch.get(pixel_name) is not None:
            merge, temporal, grid = int(vision.spatial_merge_size), int(vision.temporal_patch_size), batch.get(grid_name)
            grids = check_patches(batch[pixel_name], grid, merge, temporal)
            given = dict(options)
            if name == "keep_videos":
                given["spending"] = _for_videos(options["spending"])
            groups = None
            if name == "keep" and given["spending"] is not None and given["spending"].budget is not None:
                groups = groups_of(batch, _tokens_of(model)[0], [h * w // merge**2 for _, h, w in grids])
            chosen = chosen_tokens(batch[pixel_name], grid, merge, processor=source, temporal=temporal, groups=groups, **own, **given)
            found[name] = chosen["keep"]
            if name == "keep_videos" and given["spending"] is not None and given["spending"].share is not None:
                if all(given[other] is None for other in ("strategy", "weights", "scorer")):
                    found[name] = _held(batch[pixel_name], grids, merge, temporal, given["spending"].share, chosen["keep"])
            if name == "keep" and "report" in chosen:
                found["report"] = chosen["report"]
    return found


def _held(pixels: torch.Tensor, grids: list[tuple[int, int, int]], merge: int, temporal: int, share: float,
          by_score: list[torch.Tensor]) -> list[torch.Tensor]:
    """Of each video the tokens that are shown anew, as many as the share says; those of the best score if that is less than one slot."""
    found, first = [], 0
    for (t, h, w), scored in zip(grids, by_score):
        moment = h * w // merge**2
        count = max(1, int(share * t * moment + 1e-6))
        found.append(held_tokens(pixels[first:first + t * h * w], (t, h, w), merge, temporal, count) if count >= moment else scored)
        first += t * h * w
    return found


def check_videos(spending: Spending | None) -> None:
    """Refuses what cannot be asked of videos that keep their size, before anything is decided."""
    if spending is not None and spending.way in ("smaller", "pictures"):
        why = "; a chat of videos alone may have it" if spending.way == "smaller" else ""
        raise ArgumentError(f"videos keep their size, so that the way {spending.way} is not for them{why}")
    check_by_score(_for_videos(spending))


def _for_videos(spending: Spending | None) -> Spending | None:
    """Of videos, also of still ones, tokens are chosen by their score: a share of them, a quarter if nothing is asked for."""
    if spending is None:
        return None
    if spending.default:
        return dataclasses.replace(spending, tolerance=None, share=QUARTER, way="cells", default=False)
    return dataclasses.replace(spending, way="cells")
