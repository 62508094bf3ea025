# SPDX-License-Identifier: Apache-2.0
"""The layout of LLaVA-NeXT and LLaVA-OneVision, which show an image as a whole, and again in crops.

The model puts the tokens of the crops together to a larger picture of the same image, and cuts it to the part that the image
covers. Each row of the larger picture is followed by a token for the end of a line.

Here the whole and the larger picture count as two pictures, each with a grid of tokens. An image that is shown only as a whole is
one picture, with one end of a line. The end of a line is kept if any token of its line is kept.

Both pictures are pruned before the encoder. There are two limits:

- Some patches of the crops lie outside the larger picture, so that they have no tokens. The encoder's layers see them all the
  same.
- LLaVA-OneVision shrinks larger pictures of more than about 9 crops, by interpolation. A token is then made of several patches,
  and the crops go through the encoder whole.
"""
from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutputWithPooling

from .._core import ArgumentError, ArgumentTypeError
from ._encoder import rows_of, show_rows
from ._layers import picked, stand_in
from ._layouts import Layout
from ._tokens import check_pictures
from ._wrapped import check_taken, unwrapped, view_of


class _Image:
    """Where the tokens of an image stand.

    crops: how many pictures of the image the encoder sees: the whole, and then the crops.
    larger: rows and columns of tokens in the larger picture. None: there is no larger picture.
    cells: int64 [rows, columns], for each token of the larger picture the number of its patch among the patches of the crops.
        None if a token is made of several patches.
    frame: int64, the same for the patches of the larger picture before it is shrunk.
    """

    def __init__(self, crops: int) -> None:
        self.crops = crops
        self.larger: tuple[int, int] | None = None
        self.cells: torch.Tensor | None = None
        self.frame: torch.Tensor | None = None
        self.shape = (0, 0)


class CropLayout(Layout):
    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        super().__init__(model, batch)
        config = model.config
        self._functions: Any = sys.modules[type(model.model).__module__]
        self.patch = int(config.vision_config.patch_size)
        self.size = int(config.vision_config.image_size)
        self.along = self.size // self.patch
        sizes: Any = batch.get("image_sizes")
        if not isinstance(self.pixels, torch.Tensor) or self.pixels.ndim != 5:
            raise ArgumentTypeError("pixel_values are not a tensor of floats [images, crops, 3, height, width]")
        check_pictures(self.pixels.flatten(0, 1), self.patch)
        if tuple(self.pixels.shape[3:]) != (self.size, self.size):
            raise ArgumentError(f"pixel_values {tuple(self.pixels.shape)} are not crops of {self.size} x {self.size} pixels")
        if not isinstance(sizes, torch.Tensor) or sizes.shape != (len(self.pixels), 2):
            raise ArgumentError(f"pixel_values have {len(self.pixels)} images; image_sizes must be a tensor of their heights and widths")
        self.sizes = sizes
        self.images = [self._image(size, cut) for size, cut in zip(sizes, self._cut())]
        if any(image.crops > self.pixels.shape[1] for image in self.images):
            raise ArgumentError(f"pixel_values {tuple(self.pixels.shape)} have fewer crops than image_sizes ask for")
        whole = (self.along, self.along)
        self.grids = [grid for image in self.images for grid in ((whole,) if image.larger is None else (whole, image.larger))]

    def _cut(self) -> list[bool]:
        """For each image, whether it is shown in crops, too. LLaVA-OneVision does not cut the images of a prompt with several."""
        counts = self.batch.get("batch_num_images")
        if counts is None:
            return [True] * len(self.pixels)
        cut = [int(count) == 1 for count in counts for _ in range(int(count))]
        if len(cut) != len(self.pixels):
            raise ArgumentError(f"batch_num_images are of {len(cut)} images, pixel_values of {len(self.pixels)}")
        return cut

    def _options(self) -> dict[str, Any]:
        counts = self.batch.get("batch_num_images")
        return {} if counts is None else {"batch_num_images": counts}

    def _image(self, size: torch.Tensor, cut: bool) -> _Image:
        """The layout of an image of that size, found by the model's own functions."""
        points = self.model.config.image_grid_pinpoints
        image = _Image(self._functions.image_size_to_num_patches(size, points, self.size) if cut else 1)
        if image.crops == 1:
            return image
        image.shape = self._functions.get_anyres_image_grid_shape(size, points, self.size)
        rows, columns = image.shape
        numbers = torch.arange(rows * columns * self.along**2, device=size.device)
        crops = numbers.view(rows, columns, self.along, self.along).transpose(1, 2).reshape(1, rows * self.along, columns * self.along)
        frame: torch.Tensor = self._functions.unpad_image(crops, size)[0]
        if not frame.numel():
            raise ArgumentError(f"an image of {int(size[1])} x {int(size[0])} pixels is so long that its crops have no tokens: show a part of it")
        # The function packs features that are all 0, with ends of lines that are 1: the places of the ones tell how long the
        # lines are.
        pack = self.model.model.pack_image_features
        own = {"vision_feature_select_strategy": "full", "vision_aspect_ratio": getattr(self.model.config, "vision_aspect_ratio", None)}
        packed, _ = pack([torch.zeros(image.crops, self.along**2, 1, device=size.device)], size[None],
                         image_newline=torch.ones(1, device=size.device),
                         **{name: value for name, value in own.items() if name in inspect.signature(pack).parameters})
        ends = packed[0][self.along**2:, 0].nonzero()[:, 0]
        image.larger = (len(ends), int(ends[0]))
        image.frame = frame
        image.cells = frame if frame.shape == image.larger else None
        return image

    def pictures(self) -> list[tuple[torch.Tensor, int]]:
        found = []
        seen = self.along * self.patch
        for crops, image in zip(self.pixels, self.images):
            found.append((crops[0, :, :seen, :seen], self.patch))
            if image.larger is not None and image.frame is not None:
                rows, columns = image.shape
                blocks = crops[1:image.crops, :, :seen, :seen].reshape(rows, columns, 3, seen, seen)
                larger = blocks.permute(2, 0, 3, 1, 4).reshape(3, rows * seen, columns * seen)
                first = int(image.frame[0, 0])
                crop, patch = divmod(first, self.along**2)
                top = (crop // columns * self.along + patch // self.along) * self.patch
                left = (crop % columns * self.along + patch % self.along) * self.patch
                height, width = (side * self.patch for side in image.frame.shape)
                larger = larger[:, top:top + height, left:left + width]
                if image.cells is None:
                    wanted = (image.larger[0] * self.patch, image.larger[1] * self.patch)
                    larger = torch.nn.functional.interpolate(larger[None].float(), wanted, mode="bilinear", antialias=True)[0]
                found.append((larger, self.patch))
        return found

    def _of_images(self, kept: list[torch.Tensor]) -> list[tuple[_Image, torch.Tensor, torch.Tensor | None]]:
        """Each image, with the kept tokens of the whole and those of the larger picture."""
        rest = iter(kept)
        return [(image, next(rest), None if image.larger is None else next(rest)) for image in self.images]

    def lines(self) -> list[int]:
        return [count for image in self.images for count in ((1,) if image.larger is None else (0, image.larger[0]))]

    def places(self, kept: list[torch.Tensor]) -> torch.Tensor:
        found = []
        for image, whole, larger in self._of_images(kept):
            found.append(whole)
            lines = whole[None] if larger is None else larger.view(image.larger)
            ends = torch.nn.functional.pad(lines, (0, 1))
            ends[:, -1] = lines.any(dim=1)
            found.append(ends[:, -1] if larger is None else ends.flatten())
        return torch.cat(found)

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        seen = []  # for each crop, which of its patches the encoder's layers see
        for image, whole, larger in self._of_images(kept):
            patches = torch.ones((image.crops - 1) * self.along**2, dtype=torch.bool, device=whole.device)
            if larger is not None and image.cells is not None:
                patches[image.cells.flatten()[~larger]] = False
            seen += [whole, *patches.view(image.crops - 1, self.along**2)]
        model = view_of(self.model.model)[0]
        shown = stand_in(model, "vision_tower", lambda tower, pixels, **options: _encoded(tower, pixels, seen, options))
        found = model.get_image_features(self.pixels, self.sizes, return_dict=True, **self._options()).pooler_output
        check_taken(shown(), "the chosen patches")
        return picked(torch.cat(list(found)), self.places(kept))


def _encoded(tower: Any, pixels: torch.Tensor, seen: list[torch.Tensor], options: dict[str, Any]) -> Any:
    """The tower's output for crops, if its layers see only some of the patches. The other patches get zeros."""
    counts = [int(flags.sum()) for flags in seen]
    states: list[torch.Tensor | None] = []
    for count in set(counts) - {0}:  # crops of which as many patches are seen make one batch
        group = [i for i, own in enumerate(counts) if own == count]
        rows = rows_of([seen[i] for i in group])[0]
        view = view_of(unwrapped(tower), below=-1)[0]
        shown = show_rows(view, rows)
        answer = view(pixels[group], **options).hidden_states
        check_taken(shown(), "the chosen patches")
        states = states or [None] * len(answer)
        for i, state in enumerate(answer):
            if state is None:
                continue
            first = state.shape[1] - count  # the number of class tokens
            whole = states[i]
            if whole is None:
                whole = states[i] = state.new_zeros(len(seen), first + len(seen[0]), state.shape[2])
            places = torch.nn.functional.pad(rows.to(state.device) + first, (first, 0))
            whole[torch.tensor(group, device=state.device)[:, None], places] = state
    return BaseModelOutputWithPooling(hidden_states=tuple(states))
