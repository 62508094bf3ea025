# SPDX-License-Identifier: Apache-2.0
"""qwen_pruned.py T.safetensors: a Qwen2-VL vision tower on the chosen tokens only, from
`tvlm export photo.jpg --for qwen2-vl --budget 64 -o T.safetensors`. Random weights; a loaded model's `visual` fits as well."""
import sys

import torch
from safetensors.torch import load_file
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VisionTransformerPretrainedModel


def run_pruned(tower, t):
    """[chosen tokens, hidden size]: attention among the chosen patches of each picture and moment only."""
    block = tower.spatial_merge_size**2                          # patches a token
    rotary = tower.rot_pos_emb(t["image_grid_thw"])              # from the h, w of every patch of the full picture
    rows = (t["selected_indices"][:, None] * block + torch.arange(block)).flatten()
    moment = torch.stack([t["selected_images"], t["selected_positions"][:, 0]], dim=1)
    counts = torch.unique_consecutive(moment, dim=0, return_counts=True)[1] * block
    one_row_each = torch.stack([torch.ones_like(counts), torch.ones_like(counts), counts], dim=1)
    tower.rot_pos_emb = lambda grid: rotary[rows]                # the places that the chosen have in the full picture
    try:
        return tower(t["selected_pixel_values"], one_row_each)   # the grid only says which patches attend to each other
    finally:
        del tower.rot_pos_emb


if __name__ == "__main__":
    config = Qwen2VLVisionConfig(depth=2, embed_dim=64, num_heads=4, hidden_size=32)
    tower = Qwen2VisionTransformerPretrainedModel._from_config(config, attn_implementation="eager").eval()
    tensors = load_file(sys.argv[1])
    with torch.no_grad():
        embeddings = run_pruned(tower, tensors)  # in place of the image's; M-RoPE: text offset + selected_positions
    print(tuple(embeddings.shape), "of", len(tensors["scores"]), "tokens")
