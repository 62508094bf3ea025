# SPDX-License-Identifier: Apache-2.0
"""vLLM's Qwen3-VL with a tower that runs only on the kept patches of images and videos.

Its language model gets their tokens at the positions of the full prompt.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .._core import ArgumentError, DeviceError
from ._processor import ProcessingInfo, Processor
from ._prompt import full_prompt

from vllm.model_executor.layers.attention.mm_encoder_attention import MMEncoderAttention  # after _processor checked the version
from vllm.model_executor.models.qwen3_vl import Qwen3VLDummyInputsBuilder, Qwen3VLForConditionalGeneration
from vllm.multimodal import MULTIMODAL_REGISTRY


def check_engine(vllm_config: Any) -> None:
    """Raises a `DeviceError` for settings of the engine by which images would bypass the methods below."""
    images = vllm_config.model_config.multimodal_config
    refused = {"mm_encoder_tp_mode=data": images.mm_encoder_tp_mode == "data",
               "video_pruning_rate (video_share takes its place)": images.is_multimodal_pruning_enabled(),
               "cudagraph_mm_encoder": vllm_config.compilation_config.cudagraph_mm_encoder,
               "speculative decoding": vllm_config.speculative_config is not None}
    names = [name for name, asked in refused.items() if asked]
    if names:
        raise DeviceError(f"not supported: texturevlm.vllm does not go with {', '.join(names)}")


def encode_kept(tower: Any, pixels: torch.Tensor, grids: list[list[int]], keep: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Encodes the kept patches of each picture, at their places in the full grids.

    The patches of an image attend to each other, and so do those of each slot of a video.

    Parameters:
        pixels: the kept patches, picture after picture.
        grids: the grids of the full pictures.
        keep: bool, one value for each token of the full pictures.
    """
    unit = tower.spatial_merge_unit
    counts = [int(flags.sum()) for flags in keep.split([t * h * w // unit for t, h, w in grids])]
    slots = [int(flags.sum()) for flags in keep.split([h * w // unit for t, h, w in grids for _ in range(t)])]
    if sum(counts) * unit != len(pixels):
        raise ArgumentError(f"{sum(counts)} tokens of {unit} patches are kept, but there are {len(pixels)} patches")
    rows = keep.repeat_interleave(unit).nonzero()[:, 0].to(tower.device)
    cos, sin = tower.rot_pos_emb(grids)
    ends = np.cumsum([0, *(count * unit for count in slots if count)]).astype(np.int32)
    backend = tower.attn_backend
    metadata = {
        "pos_embeds": tower.fast_pos_embed_interpolate(grids)[rows],
        "rotary_pos_emb_cos": cos[rows], "rotary_pos_emb_sin": sin[rows],
        "sequence_lengths": MMEncoderAttention.maybe_compute_seq_lens(backend, ends, tower.device),
        "max_seqlen": torch.tensor(MMEncoderAttention.compute_max_seqlen(backend, ends), dtype=torch.int32),
        "cu_seqlens": MMEncoderAttention.maybe_recompute_cu_seqlens(backend, ends, tower.hidden_size, tower.tp_size, tower.device,
                                                                    fp8_padded_hidden_size=tower.fp8_padded_hidden_size)}
    encoded: tuple[torch.Tensor, ...] = tower(pixels, None, encoder_metadata=metadata).split(counts)
    return encoded


@MULTIMODAL_REGISTRY.register_processor(Processor, info=ProcessingInfo, dummy_inputs=Qwen3VLDummyInputsBuilder)
class PrunedQwen3VL(Qwen3VLForConditionalGeneration):  # type: ignore[misc]
    def __init__(self, *, vllm_config: Any, prefix: str = "model") -> None:
        check_engine(vllm_config)
        super().__init__(vllm_config=vllm_config, prefix=prefix)

    def _parse_and_validate_image_input(self, **given: Any) -> Any:
        keep = given.pop("image_keep", None)
        found = super()._parse_and_validate_image_input(**given)
        if found is None:
            return None
        if keep is None:
            raise ArgumentError("images have no image_keep: they did not come through texturevlm's processor")
        return {"pixel_values": found["pixel_values"], "image_grid_thw": found["image_grid_thw"], "image_keep": keep}

    def _process_image_input(self, image_input: Any) -> tuple[torch.Tensor, ...]:
        return encode_kept(self.visual, image_input["pixel_values"], image_input["image_grid_thw"].tolist(),
                           image_input["image_keep"])

    def _parse_and_validate_video_input(self, **given: Any) -> Any:
        keep = given.pop("video_keep", None)
        found = super()._parse_and_validate_video_input(**given)
        if found is None or keep is None:
            return found
        return {"pixel_values_videos": found["pixel_values_videos"], "video_grid_thw": found["video_grid_thw"], "video_keep": keep}

    def _process_video_input(self, video_input: Any) -> tuple[torch.Tensor, ...]:
        if "video_keep" not in video_input:
            whole: tuple[torch.Tensor, ...] = super()._process_video_input(video_input)
            return whole
        return encode_kept(self.visual, video_input["pixel_values_videos"], video_input["video_grid_thw"].tolist(),
                           video_input["video_keep"])

    def get_mrope_input_positions(self, input_tokens: list[int], mm_features: Sequence[Any]) -> tuple[torch.Tensor, int]:
        config = self.config
        full, features, kept = full_prompt(input_tokens, mm_features, config.image_token_id,
                                           (config.video_token_id, config.vision_start_token_id),
                                           config.vision_config.spatial_merge_size)
        positions, delta = super().get_mrope_input_positions(full, features)
        return positions[:, torch.tensor(kept)], delta + len(full) - len(input_tokens)
