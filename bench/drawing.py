# SPDX-License-Identifier: Apache-2.0
"""drawing.py: what a model is shown, drawn as a picture of the image's own size, for the measures of budget.py.

Downsampling is the image resized to whole patches of 16x16 texels and enlarged as a whole. A thumbnail is drawn in the same
way; its empty cells are filled from their neighbours before it is enlarged (fill_empty). Squares lie on it from coarse to fine:
those of one size that lie on the grid of that size are resampled together, so that each continues into its neighbours, and
where one is missing into the picture drawn so far; a square that lies elsewhere (foveated ones) is resampled alone. Enlarging is
by Lanczos over eight texels (OpenCV), reducing by area or by Lanczos over six (Pillow), whichever errs less for a thumbnail; squares
of 16, 32, 64 ... pixels by area, of other sizes by Lanczos. Pictures are float32 RGB of 0 to 255, at the end rounded as a file
would be.
"""
import math
from fractions import Fraction

import cv2
import numpy as np
from PIL import Image

PATCH = 16
GRIDS = 6  # that downsampling is tried on
DENOMINATOR = 16  # of a square's side in patches, at most
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
FLAT_FIRST = False  # how empty cells are filled
INK = 12  # a patch whose luma varies by no more is blank
ABOVE = 8  # grids above the one that bisection finds, which are tried, too


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


def like_grids(width, height, side):
    """The grids (columns, rows) of patches of that side that scale both sides of the image alike, as near as whole patches allow,
    from one patch to the image's own size."""
    most = -(-width // side), -(-height // side)
    found = {most}
    for columns in range(1, most[0] + 1):
        found.add((columns, min(most[1], max(1, round(columns * height / width)))))
    for rows in range(1, most[1] + 1):
        found.add((min(most[0], max(1, round(rows * width / height))), rows))
    return sorted(found, key=lambda grid: (grid[0] * grid[1], grid))


def last_that_fits(count, fits):
    """The last of so many grids, from small to large, that fits, if those before one that fits do, too: by bisection, and a few above,
    since that is nearly so. The first one counts as fitting."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return max([n for n in range(low + 1, min(low + 1 + ABOVE, count)) if fits(n)], default=low)


def blank_cells(luma, grid, side=PATCH):
    """Of luma resized to that grid: which cells [row, column] have no ink."""
    size = [min(n * side, whole) for n, whole in zip(grid, luma.shape[::-1])]
    small = np.clip(np.asarray(Image.fromarray(luma).resize(size, Image.LANCZOS)), 0, 255)
    small = cv2.copyMakeBorder(small, 0, grid[1] * side - size[1], 0, grid[0] * side - size[0], cv2.BORDER_REPLICATE)
    cells = small.reshape(grid[1], side, grid[0], side)
    return cells.max((1, 3)) - cells.min((1, 3)) <= INK


def fill_empty(small, empty, side=PATCH, flat_first=None):
    """Fills the cells (column, row) of a thumbnail's picture that were left out: all of those at once that have at least one known
    4-neighbour take the mean, over these, of the line of texels that faces them; and again, until all are known.

    `flat_first` (FLAT_FIRST where it is None): neighbours count only where the two lines that face are flat, as long as there are
    such. Without that a rule or a line of text that ends at a cell's border runs on over the page."""
    flat_first = FLAT_FIRST if flat_first is None else flat_first
    rows, columns = -(-small.shape[0] // side), -(-small.shape[1] // side)
    waiting = {tuple(cell) for cell in empty}
    known = {(c, r) for r in range(rows) for c in range(columns)} - waiting
    if not known:
        raise ValueError("a thumbnail of which nothing is kept")

    def facing(column, row):
        """(colour, whether it is flat) of each known neighbour."""
        y, x = row * side, column * side
        along, down = slice(x, x + side), slice(y, y + side)
        for c, r, line, lines in ((column, row - 1, (y - 1, along), (slice(y - 2, y), along)),
                                  (column, row + 1, (y + side, along), (slice(y + side, y + side + 2), along)),
                                  (column - 1, row, (down, x - 1), (down, slice(x - 2, x))),
                                  (column + 1, row, (down, x + side), (down, slice(x + side, x + side + 2)))):
            if (c, r) in known:
                yield small[line].mean(0), flat_first and np.ptp(small[lines] @ LUMA) <= INK
    while waiting:
        seen = {cell: found for cell in waiting if (found := list(facing(*cell)))}
        flat = {cell: [colour for colour, is_flat in found if is_flat] for cell, found in seen.items()}
        taken = {cell: colours for cell, colours in flat.items() if colours} or {
            cell: [colour for colour, _ in found] for cell, found in seen.items()}
        for (column, row), colours in taken.items():
            small[row * side:(row + 1) * side, column * side:(column + 1) * side] = np.mean(colours, 0)
        known |= taken.keys()
        waiting -= taken.keys()


def repeated(pixels, side, threshold):
    """The rule of PixelPrune (arXiv 2604.00886) on a picture, uint8 [rows * side, columns * side, 3]: which patches are kept, bool
    [rows, columns], and the picture in which each of the others shows the one to its left or above. A patch is left out if its pixels
    equal those of that one, or differ from them by at most `threshold` of 255."""
    rows, columns = pixels.shape[0] // side, pixels.shape[1] // side
    blocks = pixels.astype(np.int16).reshape(rows, side, columns, side, 3).swapaxes(1, 2)
    left, above = np.zeros((2, rows, columns), bool)
    left[:, 1:] = np.abs(blocks[:, 1:] - blocks[:, :-1]).max((2, 3, 4)) <= 255 * threshold
    above[1:] = np.abs(blocks[1:] - blocks[:-1]).max((2, 3, 4)) <= 255 * threshold
    shown = blocks.copy()
    for row, column in np.argwhere(left | above):
        shown[row, column] = shown[row, column - 1] if left[row, column] else shown[row - 1, column]
    return ~(left | above), np.uint8(shown.swapaxes(1, 2).reshape(pixels.shape))


class Drawing:
    """An image, what can be drawn of it, and what has been drawn before."""

    def __init__(self, pixels):
        self.pixels = pixels.astype(np.float32)
        self.height, self.width = pixels.shape[:2]
        self.columns, self.rows = -(-self.width // PATCH), -(-self.height // PATCH)
        self.kept, self.sums, self.luma = {}, None, None
        self.squares = []  # of the last picture that was shown

    def error(self, picture):
        return float(((picture - self.pixels) ** 2).mean())

    def thumbnail(self, grid, empty=(), side=PATCH):
        """The whole image as columns x rows patches, but for those that are left out, enlarged again."""
        key = "thumbnail", grid, tuple(map(tuple, empty)), side
        if key not in self.kept:
            size = min(grid[0] * side, self.width), min(grid[1] * side, self.height)
            tried = []
            for by in ("area", "lanczos"):
                small = np.array(reduce(self.pixels, size, by))
                fill_empty(small, empty, side)
                tried.append(enlarge(small, (self.width, self.height)))
            self.kept = {key: value for key, value in self.kept.items() if key[0] != "thumbnail"}  # one is enough to keep
            self.kept[key] = min(tried, key=self.error)
        return self.kept[key]

    def downsampled(self, count):
        """The best picture by at most `count` patches, and its grid."""
        grid = min(fitting_grids(count, self.width, self.height), key=lambda grid: self.error(self.thumbnail(grid)))
        return self.thumbnail(grid), grid

    def smaller(self, count, side=PATCH):
        """The grid of the largest picture, both sides scaled alike, of at most `count` patches."""
        return [grid for grid in like_grids(self.width, self.height, side) if grid[0] * grid[1] <= count][-1]

    def smaller_without_blank(self, count, side=PATCH):
        """The grid of the largest picture, both sides scaled alike, of which at most `count` patches have ink, and the others
        (column, row). Of a picture without any ink the first patch is kept."""
        if self.luma is None:
            self.luma = np.ascontiguousarray(self.pixels @ LUMA)
        grids = like_grids(self.width, self.height, side)
        low = last_that_fits(len(grids), lambda n: (~blank_cells(self.luma, grids[n], side)).sum() <= count)
        empty = [(int(column), int(row)) for row, column in np.argwhere(blank_cells(self.luma, grids[low], side))]
        return grids[low], empty[len(empty) == grids[low][0] * grids[low][1]:]

    def without_repeated(self, count, threshold, side=PATCH):
        """The largest picture, both sides scaled alike by the filter of processors, of which PixelPrune keeps at most `count` patches:
        enlarged, and the texels that each pixel gets."""
        grids = like_grids(self.width, self.height, side)
        image = Image.fromarray(np.uint8(np.rint(self.pixels)))

        def pruned(n):
            return repeated(np.asarray(image.resize((grids[n][0] * side, grids[n][1] * side), Image.BICUBIC)), side, threshold)
        grid = last_that_fits(len(grids), lambda n: pruned(n)[0].sum() <= count)
        kept, picture = pruned(grid)
        empty = [(int(column), int(row)) for row, column in np.argwhere(~kept)]
        picture = enlarge(picture.astype(np.float32), (self.width, self.height))
        return np.rint(picture), self.spread(grids[grid], empty, side)

    def reduced(self, scale):
        """The image on whole squares of `scale` patches (a Fraction), reduced to 16x16 texels each."""
        key = "reduced", scale
        if key not in self.kept:
            side = PATCH * scale.numerator
            whole = cv2.copyMakeBorder(self.pixels, 0, -self.height % side, 0, -self.width % side, cv2.BORDER_REPLICATE)
            size = tuple(n * scale.denominator // scale.numerator for n in whole.shape[1::-1])
            by = "area" if scale.denominator == 1 and scale.numerator & (scale.numerator - 1) == 0 else "lanczos"
            self.kept[key] = np.clip(reduce(whole, size, by), 0, 255) if scale != 1 else whole
        return self.kept[key]

    def draw_tiles(self, picture, scale, tiles):
        """Draws tiles (column, row), squares of `scale` patches (a Fraction) on the grid of that size, into the picture."""
        texels = self.reduced(scale)
        mask = np.zeros((texels.shape[0] // PATCH, texels.shape[1] // PATCH), np.uint8)
        mask[[row for _, row in tiles], [column for column, _ in tiles]] = 1
        of_texels = cv2.resize(mask, texels.shape[1::-1], interpolation=cv2.INTER_NEAREST) > 0
        high, wide = (n * scale.numerator // scale.denominator for n in texels.shape[:2])
        rows, columns = (np.arange(n) * scale.denominator // (PATCH * scale.numerator) for n in (self.height, self.width))
        inside = mask[rows][:, columns] > 0
        whole = cv2.copyMakeBorder(picture, 0, high - self.height, 0, wide - self.width, cv2.BORDER_REPLICATE)
        small = reduce(whole, texels.shape[1::-1], "area") if scale != 1 else whole
        small[of_texels] = texels[of_texels]
        drawn = enlarge(small, (wide, high)) if scale != 1 else small
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
        """(scale, column, row) of a square that lies on the grid of its size, or None. One that is clipped by the image's border may
        stand at the centre of what remains."""
        scale = Fraction(side / PATCH).limit_denominator(DENOMINATOR)
        if scale < 1 or abs(side - PATCH * scale) > 1e-3:
            return None
        side, place = float(PATCH * scale), []
        for centre, size in ((x, self.width), (y, self.height)):
            n = min(int(centre // side), math.ceil(size / side) - 1)
            if min(abs(centre - (n + 0.5) * side), abs(centre - 0.5 * (n * side + min((n + 1) * side, size)))) > 0.01:
                return None
            place.append(n)
        return scale, *place

    def spread(self, grid, empty, side):
        """The texels that each pixel gets of a picture of that grid without its empty cells."""
        share = min(1.0, grid[0] * side / self.width) * min(1.0, grid[1] * side / self.height)
        texels = np.full((self.height, self.width), share, np.float32)
        for column, row in empty:
            left, right = (min(self.width, n * self.width // grid[0]) for n in (column, column + 1))
            top, below = (min(self.height, n * self.height // grid[1]) for n in (row, row + 1))
            texels[top:below, left:right] = 0
        return texels

    def shown(self, grid, squares, empty=(), side=PATCH):
        """The picture of a thumbnail of that grid without its empty cells (column, row), with squares (x, y, size) on it, and the
        texels that each pixel gets. `side`: of the thumbnail's patches."""
        picture, self.squares = self.thumbnail(grid, empty, side).copy(), squares
        texels = self.spread(grid, empty, side)
        for size in sorted({size for _, _, size in squares}, reverse=True):
            together = []
            for x, y, _ in (square for square in squares if square[2] == size):
                place = self.tile(x, y, size)
                if place:
                    scale = place[0]
                    together.append(place[1:])
                    left, top = place[1] * size, place[2] * size
                else:
                    self.draw_square(picture, x, y, size)
                    left, top = math.ceil(x - size / 2 - 0.5), math.ceil(y - size / 2 - 0.5)
                left, right, top, below = (max(0, int(v)) for v in (left, left + size, top, top + size))
                texels[top:below, left:right] = np.maximum(texels[top:below, left:right], min(1.0, (PATCH / size) ** 2))
            if together:
                self.draw_tiles(picture, scale, together)
        return np.rint(picture), texels
