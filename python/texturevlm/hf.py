# SPDX-License-Identifier: Apache-2.0
"""Prunes the images of a loaded Hugging Face model before its encoder, without a patched line of it.

    import texturevlm.hf

    pruner = texturevlm.hf.Pruner(model, processor, share=0.3)
    output = pruner.generate(batch, max_new_tokens=64)      # as model.generate(**batch, max_new_tokens=64) gives it

Below it: `select_tokens` says which tokens of a processor's tensors matter, and `prune_batch` makes the shorter batch.

The vision tower then runs on the chosen patches only, with the places that they have in the full picture, and attention among
them; the language model gets their embeddings at the positions that they have in the full prompt. Both are exact: what is
computed is what the model computes where the other patches are masked. Positions that are counted anew would not be.

Families: Qwen2-VL, Qwen2.5-VL and Qwen3-VL, with images and videos, several of them, in batches that are padded. Versions of
transformers: `SUPPORTED`; anything else is refused, and never answered wrongly.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import transformers

from ._arguments import integer, real, short
from ._core import ArgumentError, ArgumentTypeError, DeviceError
from ._device import Device
from ._functions import topk
from ._stack import SCORED, Stack

# The families by `config.model_type`.
FAMILIES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")
# The first of the versions below that has each.
_SINCE = {"qwen2_vl": 0, "qwen2_5_vl": 1, "qwen3_vl": 1}
# The versions of transformers that were run; those after the last one are taken to be like it.
SUPPORTED = ("4.47", "4.57", "5.23")

_KINDS = (("image_grid_thw", "pixel_values", "image_token_id"), ("video_grid_thw", "pixel_values_videos", "video_token_id"))


# ---- Which tokens matter ----

def _frames(rows: torch.Tensor, t: int, h: int, w: int, merge: int, temporal: int, mean: Any, std: Any) -> torch.Tensor:
    """uint8 [t, temporal, H, W, 3]: the pixels that the processor made patches of."""
    side = int(round((rows.shape[1] / (3 * temporal)) ** 0.5))
    blocks = rows.reshape(t, h // merge, w // merge, merge, merge, 3, temporal, side, side)
    planes = blocks.permute(0, 6, 1, 3, 7, 2, 4, 8, 5).reshape(t, temporal, h * side, w * side, 3)
    scale, shift = (torch.tensor(value, dtype=torch.float32, device=rows.device) for value in (std, mean))
    return ((planes.float() * scale + shift) * 255).round().clamp(0, 255).to(torch.uint8)


def _check_tensors(pixel_values: Any, grid_thw: Any, merge: int, temporal: int) -> list[tuple[int, int, int]]:
    """The grids, if they fit the patches."""
    if not isinstance(pixel_values, torch.Tensor) or pixel_values.ndim != 2 or not pixel_values.is_floating_point():
        raise ArgumentTypeError(f"pixel_values are {short(pixel_values)[:60]}, not a tensor of floats [patches, numbers of a patch]")
    if not isinstance(grid_thw, torch.Tensor) or grid_thw.ndim != 2 or grid_thw.shape[1] != 3 or grid_thw.is_floating_point():
        raise ArgumentTypeError(f"grid_thw is {short(grid_thw)[:60]}, not a tensor of whole numbers [pictures, 3]")
    side = int(round((pixel_values.shape[1] / (3 * temporal)) ** 0.5))
    if 3 * temporal * side * side != pixel_values.shape[1]:
        raise ArgumentError(f"a patch has {pixel_values.shape[1]} numbers, which are not {temporal} frames of 3 colours of a square")
    grids = [(int(t), int(h), int(w)) for t, h, w in grid_thw.tolist()]
    patches = sum(t * h * w for t, h, w in grids)
    if patches != pixel_values.shape[0] or any(min(g) < 1 or g[1] % merge or g[2] % merge for g in grids):
        raise ArgumentError(f"the grids {grids} have {patches} patches in blocks of {merge} x {merge}, pixel_values have "
                            f"{pixel_values.shape[0]}")
    return grids


def select_tokens(pixel_values: torch.Tensor, grid_thw: torch.Tensor, merge: int = 2, *, share: float | None = None,
                  k: int | None = None, preset: str | None = None, mean: Any = (0.5, 0.5, 0.5), std: Any = (0.5, 0.5, 0.5),
                  temporal: int = 2, weights: Any = None, scorer: Any = None, query: Any = None, features: Any = None,
                  device: Device | None = None) -> list[torch.Tensor]:
    """Chooses tokens of the tensors that a processor of Qwen-VL made: of what the model sees, whichever resizer made it.

    Parameters:
        pixel_values: float [patches, 3 * temporal * patch^2], normalised by mean and std. grid_thw: int [pictures, 3], in patches.
        merge: patches along a side of a token.
        share: of each picture's tokens, 0 .. 1 (default: 0.25); k: how many of each picture. At least one is chosen.
        preset: ``"general"``, ``"document"`` or ``"screen"``: tokens by what a small picture of the whole loses of each (the loss
            of the strategy ``budget``); None: by the score of the strategy ``grid``, which weights, a scorer, or a query do say.
        query, features: of each picture (lists), or None.
        device: a `Device`, on which the choice is made.

    Gives of each picture the numbers of the chosen tokens, rising: int64, on the device of pixel_values. A token of two frames
    has the better one's score; of a video the best tokens of the whole clip are chosen.
    """
    merge, temporal = integer("merge", merge, 1, 16), integer("temporal", temporal, 1, 16)
    grids = _check_tensors(pixel_values, grid_thw, merge, temporal)
    if share is not None and k is not None:
        raise ArgumentError("share and k exclude each other")
    part = real("share", 0.25 if share is None else share, 0.0, above=True)
    if part > 1:
        raise ArgumentError(f"share is {part}; it must be at most 1")
    if preset is not None and any(value is not None for value in (weights, scorer, query)):
        raise ArgumentError("a preset is not for weights, a scorer or a query, which a score has")
    chosen, first = [], 0
    for number, (t, h, w) in enumerate(grids):
        tokens = t * h * w // merge**2
        count = min(integer("k", k, 1), tokens) if k is not None else max(1, round(part * tokens))
        if count == tokens:
            best = torch.arange(tokens)
        else:
            frames = _frames(pixel_values[first:first + t * h * w], t, h, w, merge, temporal, mean, std)
            asked = {name: value[number] if value is not None else None for name, value in
                     (("query", query), ("features", features))}
            scores = torch.stack([_token_scores(frames[i], merge, h, count / tokens, preset, weights, scorer, asked, device)
                                  for i in range(t)])
            best = torch.from_numpy(topk(scores.numpy(), count, device=device)[0]).long().sort().values
        chosen.append(best.to(pixel_values.device))
        first += t * h * w
    return chosen


def _token_scores(frames: torch.Tensor, merge: int, rows: int, part: float, preset: str | None, weights: Any, scorer: Any,
                  asked: dict[str, Any], device: Device | None) -> torch.Tensor:
    """[rows, columns]: how much each token of one moment matters."""
    side = merge * frames.shape[1] // rows
    found: torch.Tensor | None = None
    for i in range(frames.shape[0]):
        if i > 0 and torch.equal(frames[i], frames[i - 1]):
            continue  # a still image fills all frames of its token
        with Stack(frames[i].cpu(), device=device, layout=SCORED) as stack:
            if asked["features"] is not None:
                stack.set_features(asked["features"])
            if preset is None:
                scores = stack.scores(asked["query"], stride=side, weights=weights, scorer=scorer)
            else:
                scores = stack.select(strategy="budget", share=part, patch=side, preset=preset, keep_scores=True).score_map
        here = torch.from_numpy(scores.copy())
        found = here if found is None else torch.maximum(found, here)
    assert found is not None
    return found


# ---- The shorter batch ----

def _supported(model: Any) -> str:
    """The family of a model that this module knows, with this transformers."""
    family = getattr(getattr(model, "config", None), "model_type", None)
    if family not in FAMILIES:
        raise ArgumentError(f"the model is of the family {family!r}; known are {', '.join(FAMILIES)}")
    version = ".".join(transformers.__version__.split(".")[:2])
    if version not in SUPPORTED[_SINCE[family]:] and not _takes_places():
        raise DeviceError(f"not supported: {family} needs transformers {', '.join(SUPPORTED[_SINCE[family]:])} or later, this is "
                          f"{transformers.__version__}")
    return str(family)


def _takes_places() -> bool:
    """Whether the models take the places of patches from the caller, and what their encoders gave."""
    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    return (major, minor) >= (5, 23)


class _Picture:
    """The tower's part of a batch: which of its rows are kept, in which grid they stand, and which attend to each other."""

    def __init__(self, tower: Any, pixels: torch.Tensor, grid: torch.Tensor, kept: torch.Tensor, merge: int) -> None:
        self.tower, self.full_grid, self.kept, self.unit = tower, grid, kept, merge**2
        self.rows = (kept.nonzero()[:, 0, None] * self.unit + torch.arange(self.unit, device=kept.device)).flatten()
        self.pixels = pixels[self.rows]
        counts, first = [], 0
        for t, h, w in grid.tolist():
            moment = h * w // self.unit
            for _ in range(t):
                counts.append(int(kept[first:first + moment].sum()))
                first += moment
        # The tower takes from a grid which patches attend to each other: those of one moment. A row each.
        self.grid = torch.tensor([[1, 1, count * self.unit] for count in counts if count], dtype=grid.dtype, device=grid.device)

    def windows(self, index: torch.Tensor, bounds: Any) -> tuple[torch.Tensor, list[int]]:
        """Of Qwen2.5-VL: the kept tokens window after window, and where each window's patches begin; from those of all."""
        kept = self.kept.to(index.device)
        number = torch.cumsum(kept.long(), 0) - 1
        stays = kept[index]
        edges = torch.as_tensor(bounds, device=index.device).long() // self.unit
        counts = torch.nn.functional.pad(torch.cumsum(stays.long(), 0), (1, 0))[edges]
        return number[index[stays]], (counts * self.unit).tolist()

    def places(self, modality: str) -> dict[str, torch.Tensor]:
        """What the tower takes from its caller in later versions: the places of the kept patches in the full grids."""
        from transformers import vision_utils as vision
        tower, merge = self.tower, int(self.tower.spatial_merge_size)
        found = {"position_ids": vision.get_vision_position_ids(self.full_grid, merge)[self.rows]}
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


@contextlib.contextmanager
def _places(tower: Any, pictures: list[_Picture]) -> Iterator[None]:
    """Within it, the tower takes the places of the kept patches from the full grids. Its methods are called as they are; the
    instance answers for the grids of the pictures, and only for them."""
    def of(grid: torch.Tensor) -> _Picture | None:
        return next((picture for picture in pictures if picture.grid is grid or torch.equal(picture.grid, grid)), None)

    def answered(name: str) -> Any:
        original = getattr(tower, name)

        def answer(grid: torch.Tensor, *rest: Any, **options: Any) -> Any:
            picture = of(grid)
            if picture is None:
                return original(grid, *rest, **options)
            if name == "get_window_index":
                return picture.windows(*original(picture.full_grid))
            return original(picture.full_grid, *rest, **options)[picture.rows]
        return answer

    names = [name for name in ("rot_pos_emb", "fast_pos_embed_interpolate", "get_window_index") if hasattr(tower, name)]
    answers = {name: answered(name) for name in names}
    for name, answer in answers.items():
        setattr(tower, name, answer)
    try:
        yield
    finally:
        for name in names:
            delattr(tower, name)


class PrunedBatch:
    """A batch of which the dropped tokens are gone: what `prune_batch` makes.

    Attributes:
        input_ids, attention_mask: [rows, length], padded on the left. position_ids: [3, rows, length], those of the full prompt.
        kept: bool [rows, length of the full prompt], the places of the full prompt that are left.
        tokens, all_tokens: how many tokens of pictures are left, and how many there were.
    """

    def __init__(self, model: Any, batch: Mapping[str, Any], keep: Mapping[str, list[torch.Tensor]]) -> None:
        _supported(model)
        self._model = model
        self._inner = model.model if hasattr(model.model, "visual") else model  # 4.47 has all of it in the outer one
        tower = self._tower = self._inner.visual
        ids = batch["input_ids"]
        mask = batch.get("attention_mask")
        mask = torch.ones_like(ids) if mask is None else mask
        merge = int(tower.spatial_merge_size)
        self._full = ids
        self.kept = mask.bool().clone()
        self._pictures: dict[str, _Picture] = {}
        self.tokens = self.all_tokens = 0
        for grid_name, pixel_name, token_name in _KINDS:
            if batch.get(pixel_name) is None:
                continue
            grid = batch[grid_name]
            _check_tensors(batch[pixel_name], grid, merge, int(model.config.vision_config.temporal_patch_size))
            places = (ids == getattr(model.config, token_name)) & mask.bool()
            kept = _kept(keep.get(grid_name), grid, merge, ids.device)
            if int(places.sum()) != len(kept):
                raise ArgumentError(f"the prompts have {int(places.sum())} places for tokens, {pixel_name} has {len(kept)}")
            self.kept[places] = kept
            self._pictures[pixel_name] = _Picture(tower, batch[pixel_name], grid, kept, merge)
            self.tokens += int(kept.sum())
            self.all_tokens += len(kept)
        positions = self._positions(batch, ids, mask)
        self.input_ids, self.attention_mask, self.position_ids = self._shorten(ids, positions)

    def _positions(self, batch: Mapping[str, Any], ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[3, rows, length]: those of the full prompt."""
        options = {name: batch[name] for name in ("image_grid_thw", "video_grid_thw", "second_per_grid_ts")
                   if batch.get(name) is not None}
        if _takes_places():
            kinds = torch.zeros_like(ids)
            for kind, (_, _, token_name) in enumerate(_KINDS, 1):
                kinds[ids == getattr(self._model.config, token_name)] = kind
            options["mm_token_type_ids"] = batch.get("mm_token_type_ids", kinds)
        positions, _ = self._inner.get_rope_index(ids, attention_mask=mask, **options)
        return positions.to(ids.device)

    def _shorten(self, ids: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        lengths = self.kept.sum(dim=1)
        length = int(lengths.max())
        rows = ids.shape[0]
        # What padding there is stands on the left, where generate wants it.
        new_ids = ids[:, :1].repeat(1, length)
        new_mask = torch.zeros((rows, length), dtype=torch.long, device=ids.device)
        new_positions = torch.ones((3, rows, length), dtype=positions.dtype, device=ids.device)
        for row in range(rows):
            stays, start = self.kept[row], length - int(lengths[row])
            new_ids[row, start:] = ids[row, stays]
            new_mask[row, start:] = 1
            new_positions[:, row, start:] = positions[:, row, stays]
        if (new_mask == 0).any():
            new_ids[new_mask == 0] = self._padding()
        return new_ids, new_mask, new_positions

    def _padding(self) -> int:
        """A token that stands for nothing: never one of a picture's."""
        config = self._model.config
        for source in (getattr(self._model, "generation_config", None), config, getattr(config, "text_config", None)):
            token = getattr(source, "pad_token_id", None)
            if token is not None:
                return int(token)
        return 0

    def _run(self, until: int | None, **options: Any) -> Any:
        """The model's own forward, of the tokens before `until`."""
        positions = self.position_ids
        if hasattr(self._model.model, "visual"):  # 4.57: the places in the text stand above the three of M-RoPE
            text = (self.attention_mask.cumsum(dim=1) - 1).clamp(min=0)
            positions = torch.cat([text[None], positions])
        given = {"input_ids": self.input_ids[:, :until], "attention_mask": self.attention_mask[:, :until],
                 "position_ids": positions[..., :until]}
        if _takes_places():
            return self._model(**given, mm_encoder_outputs=self._encoded(), **options)
        for pixel_name, grid_name in (("pixel_values", "image_grid_thw"), ("pixel_values_videos", "video_grid_thw")):
            if pixel_name in self._pictures:
                given[pixel_name], given[grid_name] = self._pictures[pixel_name].pixels, self._pictures[pixel_name].grid
        with _places(self._tower, list(self._pictures.values())):
            return self._model(**given, **options)

    def _encoded(self) -> dict[str, Any]:
        """What the encoder gives of the kept patches, once for all that is asked of this batch."""
        encode = {"pixel_values": ("image", self._inner.get_image_features),
                  "pixel_values_videos": ("video", self._inner.get_video_features)}
        found = {}
        for pixel_name, picture in self._pictures.items():
            modality, features = encode[pixel_name]
            found[modality] = features(picture.pixels, picture.grid, return_dict=True, **picture.places(modality))
        return found

    def forward(self, **options: Any) -> Any:
        """What the model answers: its own output, with logits [rows, length, words]."""
        return self._run(None, **options)

    def generate(self, **options: Any) -> torch.Tensor:
        """As model.generate: the full prompts, and what is generated. Its options are generate's, but for beams and several
        answers to a prompt."""
        for name in ("num_beams", "num_return_sequences"):
            if options.get(name) not in (None, 1):
                raise ArgumentError(f"{name}={options[name]} is not for a pruned batch")
        if not bool(self.attention_mask[:, -1].all()):
            raise ArgumentError("a prompt ends in padding: generate wants batches that are padded on the left")
        length = self.input_ids.shape[1]
        images = [getattr(self._model.config, name, None) for _, _, name in _KINDS]
        if any(bool((self.input_ids[:, -1] == token).any()) for token in images if token is not None):
            raise ArgumentError("a prompt ends in a picture: a text must follow it")
        cache = transformers.DynamicCache()
        with torch.no_grad():
            self._run(length - 1, past_key_values=cache, use_cache=True)
        # generate goes on with the last token, whose position differs by this from its place: in the cache, in later
        # versions in the prompt without its padding.
        place = self.attention_mask.sum(dim=1, keepdim=True) - 1 if _takes_places() else length - 1
        self._inner.rope_deltas = (self.position_ids[0, :, -1:] - place).to(self.input_ids.device)
        answer = self._model.generate(input_ids=self.input_ids, attention_mask=self.attention_mask, past_key_values=cache,
                                      **options)
        return torch.cat([self._full, answer[:, length:]], dim=1)


def _kept(keep: list[torch.Tensor] | None, grid: torch.Tensor, merge: int, device: Any) -> torch.Tensor:
    """bool [tokens of all pictures]."""
    sizes = (grid.prod(dim=1) // merge**2).tolist()
    kept = torch.zeros(sum(sizes), dtype=torch.bool, device=device)
    if keep is None:
        return ~kept
    if not isinstance(keep, (list, tuple)) or len(keep) != len(sizes):
        raise ArgumentError(f"there are {len(sizes)} pictures: keep must be a list of as many tensors")
    first = 0
    for number, (size, tokens) in enumerate(zip(sizes, keep)):
        tokens = torch.as_tensor(tokens, device=device)
        if tokens.dtype == torch.bool and tuple(tokens.shape) == (size,):
            tokens = tokens.nonzero()[:, 0]
        if tokens.is_floating_point() or tokens.ndim != 1 or tokens.numel() == 0:
            raise ArgumentError(f"keep of picture {number} is of the shape {tuple(tokens.shape)} and {tokens.dtype}; it must name at "
                                "least one token")
        if int(tokens.min()) < 0 or int(tokens.max()) >= size:
            raise ArgumentError(f"picture {number} has {size} tokens; keep names {int(tokens.min())} .. {int(tokens.max())}")
        kept[first + tokens.long()] = True
        first += size
    return kept


def prune_batch(model: Any, batch: Mapping[str, Any], keep: list[torch.Tensor] | None = None,
                keep_videos: list[torch.Tensor] | None = None) -> PrunedBatch:
    """Makes the batch without the tokens that are not kept.

    Parameters:
        model: a loaded model of a family in `FAMILIES`.
        batch: what its processor makes: input_ids, attention_mask, pixel_values, image_grid_thw, pixel_values_videos, ...
        keep, keep_videos: for each picture the numbers of its tokens, or a bool for each; None: all are kept.

    Errors: `ArgumentError` (another family; places in the prompt that are not as many as tokens; a token that there is not),
    `DeviceError` (a version of transformers that was not run).
    """
    if not isinstance(batch, Mapping) or "input_ids" not in batch:
        raise ArgumentTypeError(f"batch is {short(batch)}, not a mapping with input_ids")
    return PrunedBatch(model, batch, {"image_grid_thw": keep, "video_grid_thw": keep_videos})  # type: ignore[dict-item]


# ---- All together ----

class Pruner:
    """Prunes a loaded model's images and videos.

    Parameters:
        model: of a family in `FAMILIES`, on any device.
        processor: its processor.
        share, k, preset, weights, scorer: as in `select_tokens`.
        device: a `texturevlm.Device` for the choice.
    """

    def __init__(self, model: Any, processor: Any, *, share: float | None = None, k: int | None = None, preset: str | None = None,
                 weights: Any = None, scorer: Any = None, device: Device | None = None) -> None:
        _supported(model)
        self.model, self.processor = model, processor
        self._options = {"share": share, "k": k, "preset": preset, "weights": weights, "scorer": scorer, "device": device}

    def _keep(self, batch: Mapping[str, Any], pixels: str, grid: str, processor: Any, query: Any, features: Any) -> Any:
        if batch.get(pixels) is None:
            return None
        processor = processor if processor is not None else self.processor
        vision = self.model.config.vision_config
        return select_tokens(batch[pixels], batch[grid], int(vision.spatial_merge_size), mean=tuple(processor.image_mean),
                             std=tuple(processor.image_std), temporal=int(vision.temporal_patch_size), query=query,
                             features=features, **self._options)

    def prune(self, batch: Mapping[str, Any], *, query: Any = None, features: Any = None) -> PrunedBatch:
        """The shorter batch. query, features: lists, an entry for each image (`select_tokens`)."""
        images = getattr(self.processor, "image_processor", self.processor)
        videos = getattr(self.processor, "video_processor", None) or images
        return prune_batch(self.model, batch,
                           self._keep(batch, "pixel_values", "image_grid_thw", images, query, features),
                           self._keep(batch, "pixel_values_videos", "video_grid_thw", videos, None, None))

    def batch_of(self, messages: Any, question: str | None = None) -> Mapping[str, Any]:
        """What the processor makes of messages (of a chat, with their images), or of images and a question."""
        if question is not None:
            images = messages if isinstance(messages, (list, tuple)) else [messages]
            content = [{"type": "image", "image": image} for image in images] + [{"type": "text", "text": question}]
            messages = [{"role": "user", "content": content}]
        images = [part["image"] for message in messages for part in message["content"]
                  if isinstance(part, dict) and part.get("type") == "image"]
        text = self.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        made = self.processor(text=[text], images=images or None, padding=True, return_tensors="pt")
        device = next(self.model.parameters()).device
        return {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in made.items()}

    def generate(self, messages_or_batch: Any, *, question: str | None = None, query: Any = None, features: Any = None,
                 **options: Any) -> torch.Tensor:
        """Answers: as model.generate(**batch, **options), the prompts and what follows them.

        messages_or_batch: what the processor made (with input_ids); or the messages of a chat; or, with a question, an image or
        a list of images.
        """
        batch = messages_or_batch
        if not (isinstance(batch, Mapping) and "input_ids" in batch):
            batch = self.batch_of(batch, question)
        elif question is not None:
            raise ArgumentError("a question is for images; a batch has its text already")
        return self.prune(batch, query=query, features=features).generate(**options)
