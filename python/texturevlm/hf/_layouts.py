# SPDX-License-Identifier: Apache-2.0
"""Layouts: where the tokens of pictures stand in the prompts of a family, and what its encoder gives for the kept tokens.

The families here have one grid of tokens for each picture. _crops.py has the families that cut a picture into crops, and put the
crops together again.

Idefics 3, Llama 4, Mistral 3 and Gemma 4 are pruned before their encoder. Its layers see only the patches of the kept tokens. All
patches of a kept token are kept, and the step that makes a token of them (a shuffle, a product, a mean) reads no other patches.
The encoder of Gemma 3n is a network of convolutions, which has no tokens to leave out, so Gemma 3n is pruned after it.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutputWithPooling

from .._core import ArgumentError, ArgumentTypeError
from ._encoder import rows_of
from ._layers import gathered, gathered_mask, picked, scattered, stand_in
from ._tokens import check_pictures
from ._wrapped import check_taken, view_of


class Layout:
    """The pictures of a batch.

    grids: rows and columns of each picture's tokens.
    """

    grids: list[tuple[int, int]]

    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        self.model, self.batch = model, batch
        self.pixels: Any = batch["pixel_values"]

    def pictures(self) -> list[tuple[torch.Tensor, int]]:
        """For each picture its pixels [3, height, width], and the side of a token in pixels."""
        raise NotImplementedError

    def lines(self) -> list[int]:
        """For each picture how many places for pictures it has beside those of its tokens: the ends of its lines."""
        return [0] * len(self.grids)

    def places(self, kept: list[torch.Tensor]) -> torch.Tensor:
        """bool: which of the prompts' places for pictures are left. `kept` says for each picture which of its tokens are kept."""
        return torch.cat(kept)

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        """[places that are left, width]: the encoder's output for these places."""
        raise NotImplementedError

    def output(self, features: torch.Tensor) -> Any:
        """The features in the form in which the model takes them."""
        return BaseModelOutputWithPooling(pooler_output=(features,))

    def embedded(self, features: torch.Tensor) -> torch.Tensor:
        """The features in the form in which the language model takes them."""
        return features


def patches_of(kept: torch.Tensor, grid: tuple[int, int], merge: int) -> torch.Tensor:
    """bool for the patches of a picture, row by row: True for the patches of kept tokens. A token has merge x merge patches."""
    return kept.view(grid).repeat_interleave(merge, 0).repeat_interleave(merge, 1).flatten()


class SquareLayout(Layout):
    """Pictures of one size: float [pictures, 3, height, width], with tokens of `side` pixels."""

    side: int

    def _set(self, pixels: Any, patch: int, merge: int) -> None:
        self.side, self.merge = patch * merge, merge
        self.pixels = pixels
        self.grids = [check_pictures(pixels, self.side)] * len(pixels)

    def pictures(self) -> list[tuple[torch.Tensor, int]]:
        return [(picture, self.side) for picture in self.pixels]


class Gemma3nLayout(SquareLayout):
    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        super().__init__(model, batch)
        along = round(model.config.vision_soft_tokens_per_image**0.5)
        check_pictures(self.pixels, along)
        self._set(self.pixels, int(self.pixels.shape[3]) // along, 1)

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        found: torch.Tensor = self.model.model.get_image_features(self.pixels, return_dict=True).pooler_output
        return picked(found.flatten(0, 1), torch.cat(kept))

    def output(self, features: torch.Tensor) -> Any:
        return BaseModelOutputWithPooling(pooler_output=features)


class Idefics3Layout(SquareLayout):
    """A row of pictures for each prompt, which are the parts of its images. Shorter rows are filled up with black pictures."""

    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        super().__init__(model, batch)
        if not isinstance(self.pixels, torch.Tensor) or self.pixels.ndim != 5:
            raise ArgumentTypeError("pixel_values are not a tensor of floats [prompts, pictures, 3, height, width]")
        flat = self.pixels.flatten(0, 1)
        self._real = flat.flatten(1).any(dim=1)
        self._set(flat[self._real], int(model.config.vision_config.patch_size), int(model.config.scale_factor))

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        given = self.batch.get("pixel_attention_mask")
        seen = torch.ones_like(self.pixels[:, 0], dtype=torch.bool) if given is None else given.flatten(0, 1)[self._real]
        patches = [patches_of(flags, grid, self.merge) for flags, grid in zip(kept, self.grids)]
        counts = [int(flags.sum()) for flags in patches]
        found: dict[int, torch.Tensor] = {}
        for count in set(counts):  # pictures of which as many patches are kept make one batch
            group = [i for i, own in enumerate(counts) if own == count]
            answers = self._encoded(self.pixels[group], seen[group], rows_of([patches[i] for i in group])[0])
            found.update((i, picked(answer, kept[i])) for i, answer in zip(group, answers))
        return torch.cat([found[i] for i in range(len(counts))])

    def _encoded(self, pixels: torch.Tensor, seen: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """[pictures, tokens, width]: the encoder's output for pictures of which the same number of patches is kept."""
        def layers(own: Any, inputs_embeds: torch.Tensor, attention_mask: Any = None, **options: Any) -> Any:
            found = own(inputs_embeds=gathered(inputs_embeds, rows), attention_mask=gathered_mask(attention_mask, rows), **options)
            found.last_hidden_state = scattered(found.last_hidden_state, rows, torch.ones_like(rows), inputs_embeds.shape[1])
            return found

        model, tower = view_of(self.model.model, "vision_model", below=-1)
        shown = stand_in(tower, "encoder", layers)
        found: Any = model.get_image_features(pixels[None], seen[None], return_dict=True).pooler_output
        check_taken(shown(), "the chosen patches")
        features: torch.Tensor = torch.cat(list(found))
        return features.view(len(pixels), -1, features.shape[-1])


class Llama4Layout(SquareLayout):
    """Each crop of an image is a picture. An image with several crops is followed by the whole image, which is a picture, too."""

    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        super().__init__(model, batch)
        vision = model.config.vision_config
        self._set(self.pixels, int(vision.patch_size), round(1 / vision.pixel_shuffle_ratio))

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat([picked(self._encoded(picture[None], patches_of(flags, grid, self.merge)), flags)
                          for picture, flags, grid in zip(self.pixels, kept, self.grids)])

    def _encoded(self, picture: torch.Tensor, patches: torch.Tensor) -> torch.Tensor:
        """[tokens, width] of one picture. One at a time, since the layers use the same places for all pictures of a call."""
        rows = torch.nn.functional.pad(patches, (0, 1), value=True).nonzero()[:, 0]  # the class token comes last

        def layers(own: Any, hidden_states: torch.Tensor, freqs_ci: torch.Tensor, **options: Any) -> Any:
            places = rows.to(hidden_states.device)
            found = own(hidden_states[:, places], freqs_ci=freqs_ci[places], **options)
            found.last_hidden_state = scattered(found.last_hidden_state, rows[None], torch.ones_like(rows[None]), hidden_states.shape[1])
            return found

        _, tower = view_of(self.model, "vision_model", below=-1)
        shown = stand_in(tower, "model", layers)
        found: torch.Tensor = tower(picture, return_dict=True).last_hidden_state
        check_taken(shown(), "the chosen patches")
        return found[0]

    def output(self, features: torch.Tensor) -> Any:
        return BaseModelOutputWithPooling(last_hidden_state=features)

    def embedded(self, features: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.model.multi_modal_projector(features)
        return found


class Mistral3Layout(Layout):
    """Pictures of any size, each in the upper left corner of its place in pixel_values.

    In the prompt, other tokens stand between the rows of a picture's tokens, and after the last row. These count as text.
    """

    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        super().__init__(model, batch)
        vision = model.config.vision_config
        if vision.model_type != "pixtral":
            raise ArgumentError(f"the encoder of this mistral3 is a {vision.model_type}, not a pixtral")
        self.merge = int(model.config.spatial_merge_size)
        self.side = int(vision.patch_size) * self.merge
        most = check_pictures(self.pixels, self.side)
        sizes: Any = batch.get("image_sizes")
        if sizes is None or len(sizes) != len(self.pixels):
            raise ArgumentError(f"pixel_values have {len(self.pixels)} pictures; image_sizes must have a height and a width of each")
        self.sizes = [(int(height), int(width)) for height, width in sizes]
        self.grids = [(height // self.side, width // self.side) for height, width in self.sizes]
        for size, grid in zip(self.sizes, self.grids):
            if min(size) < 1 or size[0] % self.side or size[1] % self.side or grid[0] > most[0] or grid[1] > most[1]:
                raise ArgumentError(f"image_sizes has {size}: not whole tokens of {self.side} pixels, within pixel_values "
                                    f"{tuple(self.pixels.shape)}")

    def pictures(self) -> list[tuple[torch.Tensor, int]]:
        return [(picture[:, :height, :width], self.side) for picture, (height, width) in zip(self.pixels, self.sizes)]

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        patches = [patches_of(flags, grid, self.merge) for flags, grid in zip(kept, self.grids)]
        rows = torch.cat(patches).nonzero()[:, 0]

        def layers(own: Any, inputs_embeds: torch.Tensor, attention_mask: Any = None, position_embeddings: Any = None,
                   **options: Any) -> Any:
            places = rows.to(inputs_embeds.device)
            if options.get("cu_seq_lens_q") is not None:
                counts = [int(flags.sum()) for flags in patches]
                edges = torch.tensor([0, *counts], device=places.device).cumsum(0, dtype=torch.int32)
                options.update(cu_seq_lens_q=edges, cu_seq_lens_k=edges, max_length_q=max(counts), max_length_k=max(counts))
            return own(inputs_embeds[:, places], attention_mask=gathered_mask(attention_mask, rows[None]),
                       position_embeddings=tuple(part[places] for part in position_embeddings), **options)

        def projector(own: Any, features: torch.Tensor, sizes: Any) -> Any:
            return own(scattered(features[None], rows[None], torch.ones_like(rows[None]), len(torch.cat(patches)))[0], sizes)

        model, tower = view_of(self.model.model, "vision_tower", below=-1)
        shown = stand_in(tower, "transformer", layers)
        projected = stand_in(model, "multi_modal_projector", projector)
        sizes = torch.tensor(self.sizes, device=self.pixels.device)
        found: Any = model.get_image_features(self.pixels, sizes, return_dict=True).pooler_output
        check_taken(shown() and projected(), "the chosen patches")
        return picked(torch.cat(list(found)), torch.cat(kept))


class Gemma4Layout(Layout):
    """Patches in rows, float [pictures, patches, 3 * patch^2], with the place of each. Patches at the place -1 are padding."""

    def __init__(self, model: Any, batch: Mapping[str, Any]) -> None:
        super().__init__(model, batch)
        vision = model.config.vision_config
        self.patch, self.merge = int(vision.patch_size), int(vision.pooling_kernel_size)
        pixels, places, numbers = self.pixels, batch.get("image_position_ids"), 3 * self.patch**2
        if not isinstance(pixels, torch.Tensor) or pixels.ndim != 3 or pixels.shape[2] != numbers or not pixels.is_floating_point():
            raise ArgumentTypeError(f"pixel_values are not a tensor of floats [pictures, patches, {numbers}]")
        if not isinstance(places, torch.Tensor) or places.shape != (*pixels.shape[:2], 2) or places.is_floating_point():
            raise ArgumentTypeError("image_position_ids are not a tensor of whole numbers [pictures, patches, 2], as pixel_values have "
                                    "patches")
        self.spots = places
        self.grids = []
        for own in places:
            columns, rows = (int(side) + 1 for side in own.max(dim=0).values)
            x, y = torch.arange(columns, device=own.device), torch.arange(rows, device=own.device)
            inside = own[:rows * columns]
            if (min(rows, columns) < 1 or rows % self.merge or columns % self.merge or len(inside) != rows * columns
                    or not torch.equal(inside, torch.stack([x.repeat(rows), y.repeat_interleave(columns)], dim=1))):
                raise ArgumentError(f"image_position_ids are not those of {rows} rows of {columns} patches, in blocks of {self.merge} x "
                                    f"{self.merge}")
            self.grids.append((rows // self.merge, columns // self.merge))

    def pictures(self) -> list[tuple[torch.Tensor, int]]:
        found = []
        for values, grid in zip(self.pixels, self.grids):
            rows, columns = grid[0] * self.merge, grid[1] * self.merge
            blocks = values[:rows * columns].reshape(rows, columns, self.patch, self.patch, 3).permute(4, 0, 2, 1, 3)
            found.append((blocks.reshape(3, rows * self.patch, columns * self.patch), self.patch * self.merge))
        return found

    def features(self, kept: list[torch.Tensor]) -> torch.Tensor:
        rows, mask = rows_of([patches_of(flags, grid, self.merge) for flags, grid in zip(kept, self.grids)])

        def layers(own: Any, inputs_embeds: torch.Tensor, attention_mask: torch.Tensor, pixel_position_ids: torch.Tensor,
                   **options: Any) -> Any:
            found = own(inputs_embeds=gathered(inputs_embeds, rows), attention_mask=mask.bool().to(inputs_embeds.device),
                        pixel_position_ids=gathered(pixel_position_ids, rows), **options)
            found.last_hidden_state = scattered(found.last_hidden_state, rows, mask, inputs_embeds.shape[1])
            return found

        model, tower = view_of(self.model.model, "vision_tower", below=-1)
        shown = stand_in(tower, "encoder", layers)
        found: Any = model.get_image_features(self.pixels, self.spots, return_dict=True).pooler_output
        check_taken(shown(), "the chosen patches")
        return picked(torch.cat(list(found)), torch.cat(kept))
