# SPDX-License-Identifier: Apache-2.0
"""Encoders that add a row of a table of positions to each patch: CLIP, SigLIP and SigLIP2, alone and in models.

The first module of such an encoder gives each patch its vector, a single product, and its row of the table. Of what it gives the
chosen rows go on (torch's own forward hook takes them), and class tokens: the encoder's layers see nothing else. In them a patch
without its neighbours is what it is where its neighbours are masked.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NoReturn

import torch

from .._core import ArgumentError
from ._tokens import Bound, check_pictures, check_shapes, kept_of, select_tokens
from ._wrapped import asks_for_layers, check_adapters, check_gradients, check_taken, view_of


def show_rows(tower: Any, rows: torch.Tensor) -> Callable[[], bool]:
    """Lets the layers of a tower, which must be a view of one, see these patches only. rows: int64 [pictures, patches]. Returns what
    tells whether they were shown any."""
    embeddings = embeddings_of(tower)[1]
    first = 1 if hasattr(embeddings, "class_embedding") else 0
    shown = False

    def choose(module: Any, arguments: Any, output: torch.Tensor) -> torch.Tensor:
        nonlocal shown
        shown = True
        own = rows.to(output.device)
        patches = output[:, first:].gather(1, own[:, :, None].expand(-1, -1, output.shape[2]))
        return torch.cat([output[:, :first], patches], dim=1)

    embeddings.register_forward_hook(choose)
    return lambda: shown


def embeddings_of(tower: Any) -> tuple[str, Any]:
    """The module that gives each patch its vector and its row of the table, and its name."""
    for name, module in tower.named_modules():
        if name.split(".")[-1] == "embeddings" and hasattr(module, "patch_embedding") and hasattr(module, "position_embedding"):
            return name, module
    raise ArgumentError(f"the encoder, a {type(tower).__name__}, has no table of positions that is known here")


def rows_of(kept: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each picture the numbers of its kept patches, and a mask: where there are fewer than of another, 0 follows."""
    length = max(int(flags.sum()) for flags in kept)
    rows = torch.zeros((len(kept), length), dtype=torch.long, device=kept[0].device)
    mask = torch.zeros_like(rows)
    for i, flags in enumerate(kept):
        numbers = flags.nonzero()[:, 0]
        rows[i, :len(numbers)], mask[i, :len(numbers)] = numbers, 1
    return rows, mask


class PrunedImages(Bound):
    """A batch of an image encoder, of which the dropped patches are gone: what `prune_batch` makes of CLIP's, SigLIP's, SigLIP2's.

    Attributes:
        rows: int64 [pictures, patches], which patches the encoder's layers see. mask: int64 of the same shape, 1 where there is one:
            of SigLIP2, whose pictures differ in size, the others are padding.
        tokens, all_tokens: how many patches are left, and how many there were.
    """

    _sums_gradients = False  # whether the model came within DistributedDataParallel

    def __init__(self, model: Any, batch: Mapping[str, Any], keep: Any) -> None:
        self._model, self._given = model, dict(batch)
        pixels: Any = batch.get("pixel_values")
        config = getattr(model.config, "vision_config", model.config)
        if model.config.model_type.startswith("siglip2"):
            sizes = [h * w for h, w in check_shapes(pixels, batch.get("spatial_shapes"))]
        else:
            rows, columns = check_pictures(pixels, int(config.patch_size))
            sizes = [rows * columns] * len(pixels)
        kept = kept_of(keep, sizes, pixels.device)
        self.rows, self.mask = rows_of(kept)
        self.tokens, self.all_tokens = int(self.mask.sum()), sum(sizes)
        if "spatial_shapes" in self._given:
            self._given["pixel_attention_mask"] = self.mask
        elif self.tokens != self.mask.numel():
            raise ArgumentError("of all pictures of a batch as many patches must be kept; only SigLIP2 masks")

    def _view(self, options: Mapping[str, Any]) -> tuple[Any, Callable[[], bool]]:
        """A view of the model whose encoder sees the chosen patches, and what tells whether it did."""
        for name in self._given:
            if options.get(name) is not None:
                raise ArgumentError(f"{name} is the pruned batch's own: it cannot be given")
        check_adapters(options)
        check_gradients(self._sums_gradients)
        tower = "vision_model" if "vision_model" in self._model._modules else ""
        name = embeddings_of(getattr(self._model, tower) if tower else self._model)[0]
        views = view_of(self._model, ".".join(filter(None, (tower, name))), 0 if asks_for_layers(self._model, options) else None)
        return views[0], show_rows(getattr(views[0], tower) if tower else views[0], self.rows)

    def forward(self, **options: Any) -> Any:
        """What the model answers of its batch, with hidden states [pictures, patches (and class tokens), width]."""
        view, shown = self._view(options)
        answer = view(**self._given, **options)
        check_taken(shown(), "the chosen patches")
        return answer

    def generate(self, **options: Any) -> NoReturn:
        """Refused: an encoder generates nothing."""
        raise ArgumentError(f"a {self._model.config.model_type} is an encoder, which generates nothing: forward() gives its answer")

    def image_features(self, **options: Any) -> Any:
        """What the model's get_image_features answers."""
        names = ("pixel_values", "pixel_attention_mask", "spatial_shapes", "interpolate_pos_encoding")
        view, shown = self._view(options)
        answer = view.get_image_features(**{name: self._given[name] for name in names if name in self._given}, **options)
        check_taken(shown(), "the chosen patches")
        return answer


def choose(model: Any, processor: Any, batch: Mapping[str, Any], asked: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """prune_batch's keep, by the scores of the pictures."""
    config = getattr(model.config, "vision_config", model.config)
    return {"keep": select_tokens(batch["pixel_values"], batch.get("spatial_shapes"), patch=int(config.patch_size),
                                  processor=processor, **asked, **options)}
