# SPDX-License-Identifier: Apache-2.0
"""drawing.py: what a model is shown, drawn as a picture of the image's own size, for the measures of budget.py.

Downsampling is the image resized to whole patches of 16x16 texels and enlarged as a whole. A thumbnail is drawn in the same
way. Squares lie on it from coarse to fine: those of one size that lie on the grid of that size are resampled together, so
that each continues into its neighbours, and where one is missing into the picture drawn so far; a square that lies
elsewhere (foveated ones) is resampled alone. Enlarging is by Lanczos over eight texels (OpenCV), reducing by area or by
Lanczos over six, whichever errs less. Pictures are float32 RGB of 0 to 255, at the end rounded as a file would be.
"""
import math

import cv2
import numpy as np
from PIL import Image

PATCH = 16
NINTHS = math.log2(4 / 3)  # the level of what is at three quarters
GRIDS = 6  # that downsampling is tried on


def enlarge(picture, size):
    """To (width, height)."""
    return np.clip(cv2.resize(picture, size, interpolation=cv2.INTER_LANCZOS4), 0, 255)


def reduce(picture, size, by):
    """To (width, height), by "area" or "lanczos"."""
    if by == "area":
        return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    planes = [Image.fromarray(np.ascontiguousarray(picture[..., c])).resize(size, Image.LANCZOS) for c in range(3)]
    return np.stack([np.asarray(plane) for plane in planes], -1)


def fitting_grids(count, width, height):
    """The GRIDS grids (columns, rows) of at most `count` patches that keep most of the image: of those that are as near to
    its shape as whole patches allow, the ones with most texels, less half of what columns and rows differ in scale."""
    most = -(-width // PATCH), -(-height // PATCH)
    found = set()
    for along, across, turned in ((width, height, False), (height, width, True)):
        ideal = int(math.sqrt(count * along / across))
        for a in range(max(1, ideal - 8), min(count, ideal + 9) + 1):
            grid = (count // a, a) if turned else (a, count // a)
            found.add((min(grid[0], most[0]), min(grid[1], most[1])))

    def loss(grid):
        x, y = (min(1.0, n * PATCH / side) for n, side in zip(grid, (width, height)))
        return -math.log(x * y) + 0.5 * abs(math.log(x / y)), grid
    return sorted(found, key=loss)[:GRIDS]


class Drawing:
    """An image, what can be drawn of it, and what has been drawn before."""

    def __init__(self, pixels):
        self.pixels = pixels.astype(np.float32)
        self.height, self.width = pixels.shape[:2]
        self.columns, self.rows = -(-self.width // PATCH), -(-self.height // PATCH)
        self.kept, self.sums = {}, None
        self.squares = []  # of the last picture that was shown

    def error(self, picture):
        return float(((picture - self.pixels) ** 2).mean())

    def thumbnail(self, grid):
        """The whole image as columns x rows patches, enlarged again."""
        if grid not in self.kept:
            size = min(grid[0] * PATCH, self.width), min(grid[1] * PATCH, self.height)
            tried = [enlarge(reduce(self.pixels, size, by), (self.width, self.height)) for by in ("area", "lanczos")]
            self.kept = {key: value for key, value in self.kept.items() if isinstance(key, str)}  # one is enough to keep
            self.kept[grid] = min(tried, key=self.error)
        return self.kept[grid]

    def downsampled(self, count):
        """The best picture by at most `count` patches, and its grid."""
        grid = min(fitting_grids(count, self.width, self.height), key=lambda grid: self.error(self.thumbnail(grid)))
        return self.thumbnail(grid), grid

    def padded(self, level):
        """The image on whole squares of that level, reduced by area to 16x16 texels each."""
        key = f"level {level}"
        if key not in self.kept:
            side = PATCH << level
            right, below = -self.width % side, -self.height % side
            whole = cv2.copyMakeBorder(self.pixels, 0, below, 0, right, cv2.BORDER_REPLICATE)
            size = whole.shape[1] >> level, whole.shape[0] >> level
            self.kept[key] = cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
        return self.kept[key]

    def three_quarters(self):
        """The image on whole squares of 64 pixels, reduced by Lanczos to 48x48 texels each."""
        if "three quarters" not in self.kept:
            whole = cv2.copyMakeBorder(self.pixels, 0, -self.height % 64, 0, -self.width % 64, cv2.BORDER_REPLICATE)
            self.kept["three quarters"] = np.clip(reduce(whole, (whole.shape[1] * 3 // 4, whole.shape[0] * 3 // 4), "lanczos"), 0, 255)
        return self.kept["three quarters"]

    def draw_ninths(self, picture, tiles):
        """Draws tiles (column, row) of the image at three quarters of its size into the picture."""
        texels = self.three_quarters()
        mask = np.zeros((texels.shape[0] // PATCH, texels.shape[1] // PATCH), np.uint8)
        mask[[row for _, row in tiles], [column for column, _ in tiles]] = 1
        of_texels = cv2.resize(mask, texels.shape[1::-1], interpolation=cv2.INTER_NEAREST) > 0
        high, wide = texels.shape[0] * 4 // 3, texels.shape[1] * 4 // 3
        rows, columns = (np.arange(n) * 3 // 64 for n in (high, wide))
        of_pixels = mask[rows][:, columns] > 0
        whole = cv2.copyMakeBorder(picture, 0, high - self.height, 0, wide - self.width, cv2.BORDER_REPLICATE)
        small = np.clip(reduce(whole, (texels.shape[1], texels.shape[0]), "area"), 0, 255)
        small[of_texels] = texels[of_texels]
        inside = of_pixels[:self.height, :self.width]
        picture[inside] = enlarge(small, (wide, high))[:self.height, :self.width][inside]

    def draw_tiles(self, picture, level, tiles):
        """Draws tiles (column, row) of a level into the picture."""
        if level == NINTHS:
            return self.draw_ninths(picture, tiles)
        texels, side = self.padded(level), PATCH << level
        mask = np.zeros((texels.shape[0] // PATCH, texels.shape[1] // PATCH), np.uint8)
        mask[[row for _, row in tiles], [column for column, _ in tiles]] = 1
        of_texels = cv2.resize(mask, texels.shape[1::-1], interpolation=cv2.INTER_NEAREST) > 0
        of_pixels = cv2.resize(mask, (mask.shape[1] * side, mask.shape[0] * side), interpolation=cv2.INTER_NEAREST) > 0
        whole = cv2.copyMakeBorder(picture, 0, of_pixels.shape[0] - self.height, 0, of_pixels.shape[1] - self.width,
                                   cv2.BORDER_REPLICATE)
        small = cv2.resize(whole, texels.shape[1::-1], interpolation=cv2.INTER_AREA) if level else whole
        small[of_texels] = texels[of_texels]
        drawn = enlarge(small, of_pixels.shape[1::-1]) if level else small
        inside = of_pixels[:self.height, :self.width]
        picture[inside] = drawn[:self.height, :self.width][inside]

    def texels_of(self, x, y, side):
        """The 16x16 texels of any square by its centre: exact averages over boxes."""
        if self.sums is None:
            self.sums = cv2.integral(self.pixels.astype(np.float64))
        lines = []
        for centre, size in ((x, self.width), (y, self.height)):
            at = np.clip(centre - side / 2 + side * np.arange(PATCH + 1) / PATCH, 0, size)
            flat = at[1:] - at[:-1] < 1e-6  # beyond the border: the last pixel again
            low, high = at[:-1].copy(), at[1:].copy()
            low[flat], high[flat] = np.clip(low[flat] - 1, 0, size - 1), np.clip(low[flat] - 1, 0, size - 1) + 1
            lines.append((low, high))

        def total(ys, xs):
            y0, x0 = np.minimum(ys.astype(int), self.height - 1), np.minimum(xs.astype(int), self.width - 1)
            fy, fx = (ys - y0)[:, None, None], (xs - x0)[None, :, None]
            upper = self.sums[y0][:, x0] * (1 - fx) + self.sums[y0][:, x0 + 1] * fx
            lower = self.sums[y0 + 1][:, x0] * (1 - fx) + self.sums[y0 + 1][:, x0 + 1] * fx
            return upper * (1 - fy) + lower * fy
        (x0, x1), (y0, y1) = lines
        area = (y1 - y0)[:, None, None] * (x1 - x0)[None, :, None]
        return ((total(y1, x1) - total(y1, x0) - total(y0, x1) + total(y0, x0)) / area).astype(np.float32)

    def draw_square(self, picture, x, y, side):
        """Draws one square by its centre, anywhere."""
        spans = [(max(0, math.ceil(c - side / 2 - 0.5)), min(size, math.ceil(c + side / 2 - 0.5)))
                 for c, size in ((x, self.width), (y, self.height))]
        (x0, x1), (y0, y1) = spans
        if x1 > x0 and y1 > y0:
            at = [(((np.arange(a, b) + 0.5 - c) / side + 0.5) * PATCH - 0.5).astype(np.float32)
                  for (a, b), c in zip(spans, (x, y))]
            drawn = cv2.remap(self.texels_of(x, y, side), *np.meshgrid(*at), cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_REPLICATE)
            picture[y0:y1, x0:x1] = np.clip(drawn, 0, 255)

    def tile(self, x, y, side):
        """(level, column, row) of a square that lies on the grid of its size, or None. One that is clipped by the image's
        border may stand at the centre of what remains."""
        if abs(side - PATCH * 4 / 3) < 1e-3:
            return NINTHS, int(x // side), int(y // side)
        level = round(math.log2(side / PATCH))
        if level < 0 or side != PATCH << level:
            return None
        place = []
        for centre, size in ((x, self.width), (y, self.height)):
            n = min(int(centre // side), -(-size // side) - 1)
            if min(abs(centre - (n + 0.5) * side), abs(centre - 0.5 * (n * side + min((n + 1) * side, size)))) > 0.01:
                return None
            place.append(n)
        return level, *place

    def shown(self, grid, squares):
        """The picture of a thumbnail of that grid with squares (x, y, side) on it, and the texels that each pixel gets."""
        picture, self.squares = self.thumbnail(grid).copy(), squares
        share = min(1.0, grid[0] * PATCH / self.width) * min(1.0, grid[1] * PATCH / self.height)
        texels = np.full((self.height, self.width), share, np.float32)
        for side in sorted({side for _, _, side in squares}, reverse=True):
            together = []
            for x, y, _ in (square for square in squares if square[2] == side):
                place = self.tile(x, y, side)
                if place:
                    together.append(place[1:])
                    left, top = place[1] * side, place[2] * side
                else:
                    self.draw_square(picture, x, y, side)
                    left, top = math.ceil(x - side / 2 - 0.5), math.ceil(y - side / 2 - 0.5)
                left, right, top, below = (max(0, int(v)) for v in (left, left + side, top, top + side))
                texels[top:below, left:right] = np.maximum(texels[top:below, left:right], min(1.0, (PATCH / side) ** 2))
            if together:
                self.draw_tiles(picture, place[0], together)
        return np.rint(picture), texels
