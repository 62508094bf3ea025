# SPDX-License-Identifier: Apache-2.0
"""fixation.py PHOTO OUT.png [CHANNEL]: fixations that find by gradient descent where a channel (saliency) is large.

Each begins in a corner and goes up the slope of one sample. At level 0 that slope tells of the next pixel alone, and a fixation
stays on the nearest small peak; at a coarse level it tells of the whole photo. So the level falls from step to step. OUT.png
shows the ways: squares as large as what was sampled, and in blue where the same steps at level 0 end.
"""
import sys

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageOps

import texturevlm as tv


def learn(texture, levels):
    """The places of four fixations at each step, as shares of the sides, and what each samples at level 0 in the end."""
    sides = torch.tensor([texture.shape[1], texture.shape[0]])
    places = torch.tensor([[0.15, 0.15], [0.85, 0.15], [0.15, 0.85], [0.85, 0.85]], requires_grad=True)
    optimiser = torch.optim.Adam([places], lr=0.01)
    path = []
    for level in levels:
        path.append(places.detach().clone())
        points = torch.cat([places * sides, torch.full((4, 1), float(level))], 1)
        optimiser.zero_grad()
        (-tv.torch.sample(texture, points)).sum().backward()
        optimiser.step()
    return path, tv.torch.sample(texture, places.detach() * sides)[:, 0]


def main(photo, out, channel="saliency", steps=200):
    image = ImageOps.exif_transpose(Image.open(photo)).convert("RGB")
    texture = torch.from_numpy(tv.channels(np.asarray(image), channel, level=2, format="f32")[0])[..., None]
    levels = np.linspace(np.log2(max(texture.shape)) - 2, 0, steps)
    path, found = learn(texture, levels)
    stuck, there = learn(texture, 0 * levels)
    print(f"through the levels {found.mean():.2f}, at level 0 alone {there.mean():.2f}; the largest is {texture.max():.2f}")
    draw, pixels = ImageDraw.Draw(image), max(image.size) / max(texture.shape)
    for i in [*range(0, steps, 8), steps - 1]:
        half, colour = pixels * 2.0 ** levels[i] / 2, (255, 255 * i // steps, 0)
        for x, y in path[i].numpy() * image.size:
            draw.rectangle([x - half, y - half, x + half, y + half], outline=colour, width=2)
    for x, y in stuck[-1].numpy() * image.size:
        draw.ellipse([x - 6, y - 6, x + 6, y + 6], fill=(40, 120, 255), outline="white", width=2)
    image.save(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
