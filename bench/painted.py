# SPDX-License-Identifier: Apache-2.0
"""painted.py: an archive of pictures with an encoder's features, as many as are wanted, from twelve photos.

Pictures of 256x256, each composed of one, two or four crops of COCO photos (../shared/data/boxes), and features of 16 x 16 cells painted
as those of ../shared/data/clip/painted are: the CLIP vectors of the classes that a cell shows, by how much of it they cover, something
common to all, and noise; only that each segment of a picture gets one of 1203 classes at random, so that an archive of ten thousand
has things to find.
"""
import glob
import os

import numpy as np
from PIL import Image

SIDE, CELL = 256, 16
CELLS = SIDE // CELL
LAYOUTS = [[(0, 0, 256, 256)], [(0, 0, 128, 256), (128, 0, 128, 256)], [(0, 0, 256, 128), (0, 128, 256, 128)],
           [(x, y, 128, 128) for y in (0, 128) for x in (0, 128)]]


class Archive:
    """`photos`: those of the twelve of which pictures are composed, numbers; None: all."""

    def __init__(self, data, photos=None):
        paths = sorted(glob.glob(os.path.join(data, "boxes", "coco_panoptic", "*.jpg")))
        paths = paths if photos is None else [paths[i] for i in photos]
        self.classes = np.load(glob.glob(os.path.join(data, "clip", "detic_lvis*.npy"))[0]).astype(np.float32)
        self.classes /= np.linalg.norm(self.classes, axis=1, keepdims=True)
        self.common = self.classes.mean(0) / np.linalg.norm(self.classes.mean(0))
        self.dimension = self.classes.shape[1]
        self.noise = np.random.default_rng(1).normal(size=1 << 22).astype(np.float32) * np.float32(0.63 / self.dimension ** 0.5)
        self.pixels = [np.asarray(Image.open(path).convert("RGB")) for path in paths]
        self.segments = []
        for path in paths:
            colours = np.asarray(Image.open(path[:-4] + "_panoptic.png").convert("RGB")).astype(np.int64)
            self.segments.append(np.unique(colours @ [1, 256, 65536], return_inverse=True)[1].reshape(colours.shape[:2]))

    def composed(self, number):
        """A picture, and its features, float16 [16, 16, D]: always the same of a number."""
        random = np.random.default_rng(number)
        picture, classes = np.zeros((SIDE, SIDE, 3), np.uint8), np.zeros((SIDE, SIDE), np.int64)
        for x, y, width, height in LAYOUTS[random.integers(len(LAYOUTS))]:
            photo = random.integers(len(self.pixels))
            high, wide = self.segments[photo].shape
            scale = random.uniform(1, min(high / height, wide / width))
            top, left = random.uniform(0, high - height * scale), random.uniform(0, wide - width * scale)
            rows = (top + (np.arange(height) + .5) * scale).astype(int)[:, None]
            columns = (left + (np.arange(width) + .5) * scale).astype(int)[None, :]
            names = random.integers(0, len(self.classes), self.segments[photo].max() + 1)
            picture[y:y + height, x:x + width] = self.pixels[photo][rows, columns]
            classes[y:y + height, x:x + width] = names[self.segments[photo][rows, columns]]
        there, place = np.unique(classes, return_inverse=True)
        cell = (np.arange(SIDE) // CELL)[:, None] * CELLS + (np.arange(SIDE) // CELL)[None, :]
        shares = np.bincount((cell * len(there) + place.reshape(SIDE, SIDE)).ravel(), minlength=CELLS * CELLS * len(there))
        mixed = (shares.reshape(-1, len(there)) / CELL ** 2).astype(np.float32) @ self.classes[there]
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        noise = self.noise[(at := random.integers(0, len(self.noise) - mixed.size)):at + mixed.size].reshape(mixed.shape)
        features = (mixed + np.float32(0.8) * self.common + noise).reshape(CELLS, CELLS, self.dimension)
        return picture, features.astype(np.float16)
