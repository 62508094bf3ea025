# SPDX-License-Identifier: Apache-2.0
"""vLLM's processor of Qwen3-VL, changed so that it keeps only the tokens of images and videos that matter.

It drops the patches of all other tokens, and shortens the places of the images and videos in the prompt accordingly.
"""
from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from .. import __version__
from .._core import ArgumentError
from ..hf._processors import VALUES, normalisation_of
from . import check_version
from ._prompt import (NAME, asked_of_video, flags_of, kept_of_video, kept_together, kept_tokens, least_of_video, of_images,
                      settings_of, share_of_videos, slots_of)

check_version()
from vllm.logger import init_logger  # noqa: E402
from vllm.model_executor.models.qwen3_vl import Qwen3VLMultiModalProcessor, Qwen3VLProcessingInfo  # noqa: E402
from vllm.multimodal.hasher import MultiModalHasher  # noqa: E402
from vllm.multimodal.inputs import MultiModalFieldConfig  # noqa: E402
from vllm.multimodal.processing.context import InputProcessingContext  # noqa: E402

LOG = init_logger("vllm.texturevlm")
# Of each modality the names of its patches, of its grids, and of the flags that say which tokens are kept.
FIELDS = {"image": ("pixel_values", "image_grid_thw", "image_keep"), "video": ("pixel_values_videos", "video_grid_thw", "video_keep")}


class Context(InputProcessingContext):  # type: ignore[misc]
    """Removes texturevlm's settings from the options that transformers' processor gets."""

    def get_merged_mm_kwargs(self, kwargs: Mapping[str, Any], *, supported_mm_processor_kwargs: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_merged_mm_kwargs(kwargs, supported_mm_processor_kwargs=supported_mm_processor_kwargs)
        if supported_mm_processor_kwargs is None:  # in this way vLLM asks for the options that transformers gets
            found.pop(NAME, None)
        return found


class ProcessingInfo(Qwen3VLProcessingInfo):  # type: ignore[misc]
    def __init__(self, ctx: InputProcessingContext) -> None:
        super().__init__(Context(ctx.model_config, ctx.tokenizer))

    def settings(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a request, and those of the engine where the request has none."""
        return settings_of(self.ctx.get_mm_config().merge_mm_processor_kwargs(kwargs))

    def values(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The mean and deviation by which the processor's values become pixels of 0 .. 1, and the number of frames of a patch."""
        images = self.get_image_processor(**kwargs)
        merged = self._merge_and_resolve_mm_processor_kwargs(kwargs)
        merged = {**merged, **merged.get("images_kwargs", {})}

        def asked(name: str) -> Any:
            return getattr(images, name) if merged.get(name) is None else merged[name]

        # vLLM can leave the normalising to the model. Then the values are bytes.
        mean, std = normalisation_of(types.SimpleNamespace(**{name: asked(name) for name in VALUES}))
        return {"mean": mean, "std": std, "temporal": int(asked("temporal_patch_size"))}


class Together:
    """vLLM's cache of processed inputs, for a request whose images share a budget: it has all of them, or none.

    Otherwise only those that are not in the cache any more would be processed, and the budget would be divided over these alone.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache
        self.images: list[str] = []  # the hashes of the request's images

    def is_cached(self, mm_hashes: list[str]) -> list[bool]:
        found: list[bool] = self._cache.is_cached(mm_hashes)
        return [False] * len(found) if mm_hashes == self.images and not all(found) else found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


class Processor(Qwen3VLMultiModalProcessor):  # type: ignore[misc]
    def __init__(self, info: ProcessingInfo, *rest: Any, **options: Any) -> None:
        super().__init__(info, *rest, **options)
        self.info.settings({})  # so that a wrong setting is an error when the engine starts
        self._merge = int(self.info.get_hf_config().vision_config.spatial_merge_size)

    def get_dummy_inputs(self, *arguments: Any, **options: Any) -> Any:
        """The inputs by which vLLM measures its memory: whole images and videos, since a request may ask for these.

        They have as many rows as several short images.
        """
        inputs = super().get_dummy_inputs(*arguments, **options)
        inputs.hf_processor_mm_kwargs = {NAME: {"share": 1.0, "budget": None, "tolerance": None, "k": None, "video_share": None}}
        return inputs

    def _get_mm_hashes(self, inputs: Any) -> Any:
        hashes = dict(super()._get_mm_hashes(inputs))
        settings = self.info.settings(inputs.hf_processor_mm_kwargs)
        asked: dict[str, list[Any]] = {"image": list(of_images(settings).items())}
        if share_of_videos(settings) is not None:
            asked["video"] = [share_of_videos(settings)]
        algorithm = self.info.ctx.get_mm_config().mm_hasher_algorithm
        for modality in hashes.keys() & asked.keys():
            hashes[modality] = [MultiModalHasher.hash_kwargs(algorithm, mm_hash=mm_hash, texturevlm=[__version__, asked[modality]])
                                for mm_hash in hashes[modality]]
        if "budget" in settings and "image" in hashes:  # what is kept of an image depends on all of them, and on its place among them
            hashes["image"] = [MultiModalHasher.hash_kwargs(algorithm, together=hashes["image"], number=number)
                               for number in range(len(hashes["image"]))]
            if isinstance(inputs.cache, Together):
                inputs.cache.images = hashes["image"]
        return hashes

    def _cached_apply_hf_processor(self, inputs: Any, timing_ctx: Any) -> Any:
        if inputs.cache is not None and "budget" in self.info.settings(inputs.hf_processor_mm_kwargs):
            inputs = dataclasses.replace(inputs, cache=Together(inputs.cache))
        return super()._cached_apply_hf_processor(inputs, timing_ctx)

    def _apply_hf_processor_main(self, mm_items: Any, hf_kwargs: Mapping[str, Any]) -> Any:
        found = super()._apply_hf_processor_main(mm_items, hf_kwargs)
        settings = self.info.settings(hf_kwargs)
        if "image_embeds" in found:
            raise ArgumentError("embeddings of images cannot be pruned: give the images, or take vLLM's own Qwen3-VL")
        if "pixel_values" in found:
            asked, values = of_images(settings), self.info.values(hf_kwargs)
            pixels, grids = found["pixel_values"], found["image_grid_thw"]
            if "budget" in asked:
                kept = kept_together(pixels.float(), grids, self._merge, asked, **values)
            else:
                kept = [kept_tokens(part.float(), grid, self._merge, asked, **values) for part, grid in _split(pixels, grids)]
            self._drop(found, "image", kept)
        share = share_of_videos(settings)
        if share is not None and "video_embeds" in found:
            raise ArgumentError("embeddings of videos cannot be pruned: give the videos, or no video_share")
        if share is not None and "pixel_values_videos" in found:
            temporal = self.info.values(hf_kwargs)["temporal"]
            for grid in found["video_grid_thw"]:
                self._tell_least(grid, share)
            self._drop(found, "video", [kept_of_video(part, grid, self._merge, temporal, share)
                                        for part, grid in _split(found["pixel_values_videos"], found["video_grid_thw"])])
        return found

    def _tell_least(self, grid: torch.Tensor, share: float) -> None:
        """Says that a video keeps more tokens than asked for."""
        least, asked = least_of_video(grid, self._merge), asked_of_video(grid, self._merge, share)
        if asked < least:
            LOG.warning("texturevlm: a video keeps %d tokens, not %d: all of the first of its %d slots, and of each as many as its longer "
                        "side has", least, asked, int(grid[0]))

    def _drop(self, found: Any, modality: str, flags: list[torch.Tensor]) -> None:
        """Keeps of all pictures of a modality the tokens that the flags say, and notes which they are."""
        patches, _, keep = FIELDS[modality]
        chosen = torch.cat(flags)
        found[patches], found[keep] = found[patches][chosen.repeat_interleave(self._merge**2).to(found[patches].device)], chosen
        kept, there = int(chosen.sum()), len(chosen)
        LOG.info("texturevlm: %d of %d tokens of %d %ss, %d saved", kept, there, len(flags), modality, there - kept)

    def _get_mm_fields_config(self, hf_inputs: Any, hf_processor_mm_kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        fields = dict(super()._get_mm_fields_config(hf_inputs, hf_processor_mm_kwargs))
        for modality, (patches, grids, keep) in FIELDS.items():
            if keep in hf_inputs:
                tokens = hf_inputs[grids].prod(-1) // self._merge**2
                kept = torch.stack([flags.sum() for flags in hf_inputs[keep].split(tokens.tolist())])
                fields[patches] = MultiModalFieldConfig.flat_from_sizes(modality, kept * self._merge**2)
                fields[keep] = MultiModalFieldConfig.flat_from_sizes(modality, tokens, keep_on_cpu=True)
        return fields

    def _get_prompt_updates(self, mm_items: Any, hf_processor_mm_kwargs: Mapping[str, Any], out_mm_kwargs: Any) -> Any:
        config = self.info.get_hf_config()

        def image(number: int) -> Any:
            return [config.image_token_id] * sum(flags_of(out_mm_kwargs["image"][number]))

        def video(number: int) -> Any:
            item = out_mm_kwargs["video"][number]
            return Qwen3VLMultiModalProcessor.get_video_repl(
                tokens_per_frame=[sum(flags) for flags in slots_of(item, self._merge)], timestamps=item["timestamps"].data,
                tokenizer=self.info.get_tokenizer(), vision_start_token_id=config.vision_start_token_id,
                vision_end_token_id=config.vision_end_token_id, video_token_id=config.video_token_id, select_token_id=True)

        kept = {"image": image}
        if share_of_videos(self.info.settings(hf_processor_mm_kwargs)) is not None:
            kept["video"] = video
        return [dataclasses.replace(update, replacement=kept[update.modality]) if update.modality in kept else update
                for update in super()._get_prompt_updates(mm_items, hf_processor_mm_kwargs, out_mm_kwargs)]


def _split(pixels: torch.Tensor, grids: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Of each picture its patches, and its grid."""
    return zip(pixels.split(grids.prod(-1).tolist()), grids)
