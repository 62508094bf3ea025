#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_pruned.py TVLM: Qwen2-VL's vision tower on the chosen tokens of an exported file: a full selection gives the unpruned
tower's output; a part of it what the tower's own blocks give with rotary angles from the exported positions, and so of the pictures
of the strategy budget. Needs transformers and torch (requirements.txt)."""
import os
import tempfile

from common import Checks, arguments, need, np, run

tool = arguments("TVLM")[0]
torch = need("torch")
need("PIL", "safetensors", "transformers")
from PIL import Image  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig  # noqa: E402
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VisionTransformerPretrainedModel  # noqa: E402

checks = Checks()


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


def tower_of(seed):
    torch.manual_seed(seed)
    config = Qwen2VLVisionConfig(depth=3, embed_dim=64, num_heads=4, hidden_size=32)
    return Qwen2VisionTransformerPretrainedModel._from_config(config, attn_implementation="eager").eval()


def export(*options, images=1):
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.png") for i in range(images)]
        for i, path in enumerate(paths):
            Image.fromarray(rng.integers(0, 256, (120 + 60 * i, 200 - 30 * i, 3), np.uint8)).save(path)
        output = os.path.join(folder, "t.safetensors")
        run(tool, "tensors", *paths, "--for", "qwen2-vl", *options, "-o", output)
        return load_file(output)


def angles_of(tower, positions):
    """Of each patch of each token, in order: h and w of the patch times the frequencies."""
    inner = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    places = (positions[:, None, 1:] * 2 + inner).reshape(-1, 2).float()
    frequencies = tower.rotary_pos_emb.inv_freq
    return torch.cat([places[:, :1] * frequencies, places[:, 1:] * frequencies], dim=1)


def by_hand(tower, t):
    """The tower's blocks, picture by picture."""
    states = []
    for image in t["selected_images"].unique():
        of = t["selected_images"] == image
        patches = t["selected_pixel_values"][of.repeat_interleave(4)]
        hidden = tower.patch_embed(patches)
        bounds = torch.tensor([0, len(patches)], dtype=torch.int32)
        for block in tower.blocks:
            hidden = block(hidden, cu_seqlens=bounds, rotary_pos_emb=angles_of(tower, t["selected_positions"][of]))
        states.append(tower.merger(hidden))
    return torch.cat(states)


with torch.no_grad():
    for images in (1, 2):
        tower = tower_of(images)
        t = export("--all", images=images)
        full = tower(t["pixel_values"], t["image_grid_thw"])
        checks.close(f"{images} images, all {len(full)} tokens: the unpruned tower", run_pruned(tower, t), full, 1e-6,
                     "the same sums, floats of about 1")
        t = export("--budget", "21", images=images)
        part = run_pruned(tower, t)
        checks.true(f"{images} images: {len(part)} tokens of a budget of 21", len(part) == 21)
        checks.close(f"{images} images, 21 tokens: blocks by hand", part, by_hand(tower, t), 1e-5, "sums in another order")
        chosen = full[t["selected_indices"]]
        checks.true(f"{images} images: attention among fewer is not the same", float((part - chosen).abs().max()) > 1e-4)
        again = tower(export("--all", images=images)["pixel_values"], t["image_grid_thw"])
        checks.true(f"{images} images: the tower is left as it was", torch.equal(again, full))
        t = export("--strategy", "budget", "--budget", "21", images=images)
        part = run_pruned(tower, t)
        checks.true(f"{images} images, budget: {len(part)} tokens in {len(t['picture_source'])} pictures",
                    len(part) == 21 and len(t["picture_source"]) > images)
        checks.close(f"{images} images, budget: blocks by hand", part, by_hand(tower, t), 1e-5, "sums in another order")
        of = t["selected_images"] == 0
        first = t["image_grid_thw"][:1]  # a thumbnail, whose tokens are chosen
        thumbnail = tower(t["pixel_values"][:int(first.prod())], first)
        if int(of.sum()) < len(thumbnail):
            continue  # but for empty cells, without which attention is another
        checks.close(f"{images} images, budget: the thumbnail as a picture of its own", part[of], thumbnail, 1e-6, "the same sums")
checks.done()
