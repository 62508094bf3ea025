# SPDX-License-Identifier: Apache-2.0
"""Encoders that add a row of a table of positions to each patch: CLIP, SigLIP and SigLIP2, alone and in models.

The first module of such an encoder makes a vector of each patch, by a single product, and adds the patch's row of the table. A
forward hook of torch on that module keeps only the chosen rows of its output, and class tokens. The encoder's layers see nothing
else. In these layers a patch without its neighbours gets the same values as with neighbours that are masked.
"""
from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Callable, NoReturn

import torch

from .._core import ArgumentError, Error
from ._tokens import Bound, check_pictures, check_shapes, chosen_tokens, kept_of
from ._ways import Report
from ._wrapped import asks_for_layers, check_adapters, check_gradients, check_taken, view_of


def show_rows(tower: Any, rows: torch.Tensor) -> Callable[[], bool]:
    """Lets the layers of a tower see only some patches: `rows`, int64 [pictures, patches]. The tower must be a view.

    Returns a function that says whether the layers were shown any.
    """
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
    """The name of the module that makes a patch's vector and adds its row of the table, and that module."""
    for name, module in tower.named_modules():
        if name.split(".")[-1] == "embeddings" and hasattr(module, "patch_embedding") and hasattr(module, "position_embedding"):
            return name, module
    raise ArgumentError(f"the encoder, a {type(tower).__name__}, has no table of positions that is known here")


def rows_of(kept: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers of each picture's kept patches, and a mask that is 1 for each of them.

    Where a picture has fewer patches than another, both are filled up with 0.
    """
    length = max(int(flags.sum()) for flags in kept)
    rows = torch.zeros((len(kept), length), dtype=torch.long, device=kept[0].device)
    mask = torch.zeros_like(rows)
    for i, flags in enumerate(kept):
        numbers = flags.nonzero()[:, 0]
        rows[i, :len(numbers)], mask[i, :len(numbers)] = numbers, 1
    return rows, mask


class PrunedImages(Bound):
    """A batch of an image encoder (CLIP, SigLIP, SigLIP2) without the dropped patches. `prune_batch` makes it.

    Attributes:
        rows: int64 [pictures, patches], the numbers of the patches that the encoder's layers see.
        mask: int64 of the same shape, 1 where there is a patch. The pictures of SigLIP2 differ in size, and are filled up with
            padding.
        tokens: how many patches are left.
        all_tokens: how many patches there were.
        report: what was decided for the pictures, where a `Pruner` decided by what they lose; else None.
        skipped: the images that a `Pruner` left out, by their number from 0, with the error of each.
        conversations: as of a `PrunedBatch`. All images of a list are one.
    """

    report: Report | None = None
    skipped: Mapping[int, Error] = MappingProxyType({})
    conversations: list[int] | None = None
    _sums_gradients = False  # whether the model was wrapped in DistributedDataParallel

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
        """A view of the model whose encoder sees only the chosen patches, and a function that says whether it saw them."""
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
        """Calls the model with the pruned batch. Its hidden states are [pictures, patches (and class tokens), width]."""
        view, shown = self._view(options)
        answer = view(**self._given, **options)
        check_taken(shown(), "the chosen patches")
        return answer

    def generate(self, **options: Any) -> NoReturn:
        """Raises an `ArgumentError`: an encoder generates nothing."""
        raise ArgumentError(f"a {self._model.config.model_type} is an encoder, which generates nothing: forward() gives its answer")

    def image_features(self, **options: Any) -> Any:
        """Calls the model's get_image_features with the pruned batch."""
        names = ("pixel_values", "pixel_attention_mask", "spatial_shapes", "interpolate_pos_encoding")
        view, shown = self._view(options)
        answer = view.get_image_features(**{name: self._given[name] for name in names if name in self._given}, **options)
        check_taken(shown(), "the chosen patches")
        return answer


def choose(model: Any, processor: Any, batch: Mapping[str, Any], asked: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The argument `keep` of prune_batch, chosen by the scores of the pictures."""
    config = getattr(model.config, "vision_config", model.config)
    return chosen_tokens(batch["pixel_values"], batch.get("spatial_shapes"), patch=int(config.patch_size), processor=processor, **asked,
                         **options)
