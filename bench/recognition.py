# SPDX-License-Identifier: Apache-2.0
"""recognition.py: what can be recognised in a picture of a photo, for budget.py: the things that people outlined, the words of
street photos on their true boxes, and how much of a selection lies on texture that nobody asks about.

Things are COCO's, by the sides of their boxes: small (an area below 48 x 48), medium (below 128 x 128) and large. One counts

    seen    where the detail of the picture correlates with that of the image by at least 0.8 within the thing's mask; detail is
            luma less its Gaussian of sigma 5
    alike   where the descriptors of its box, resized to 64 x 64, have a cosine of at least 0.85: histograms of oriented
            gradients (Dalal & Triggs 2005), of which no loss of the tool knows. Two different things of one class and size reach
            .8 in 9 % of 239 pairs in the COCO photos, .85 in 0.8 %, .9 in none: .85 says "this thing", not "one like it"
    detail, shape    the means of that correlation (0 where it is less) and that cosine, in percent: they tell with fewer things
            which of two ways is ahead, yet not whether a thing can be recognised

Words are ICDAR's; each is cut out along its outline, enlarged to LETTERS pixels, and read by Tesseract as a single word. Those
that are read right in the full image count.

Texture is what COCO calls stuff and looks like noise: a tile is on it where its centre is. Downsampling, which has no
tiles, spends evenly: its figure is the share of the area.
"""
import functools
import json
import os
import subprocess
import tempfile

import cv2
import measures
import numpy as np
from images import COCO, labels
from shared import DATA

STREETS = os.path.join(DATA, "text", "icdar2015")
STREET = "street_"  # what images.py calls them
SIGMA, SEEN, ALIKE = 5, 0.8, 0.85
SIZES = {"small": 48 ** 2, "medium": 128 ** 2, "large": float("inf")}  # areas of boxes, below
LEAST = 8  # a side of a thing's box that is shorter says nothing
LETTERS, MARGIN = 48, 0.15  # of a word's height
TEXTURE = {"grass-merged", "gravel", "tree-merged", "dirt-merged", "sand", "sea", "river", "water-other", "rock-merged", "snow",
           "mountain-merged", "sky-other-merged", "pavement-merged", "road", "railroad", "playingfield", "wall-stone", "wall-brick"}
GRADED = [f"{kind}, {size}" for kind in ("detail", "shape") for size in SIZES]
THINGS = [f"{kind}, {size}" for kind in ("seen", "alike") for size in SIZES] + GRADED
TILES = ["tiles on texture", "tiles on things"]
MEASURES = [*THINGS, "street words", *TILES]


# ---- Things ----

class Thing:
    """Its class, its box (left, top, width, height), and its mask within that."""

    def __init__(self, category, box, mask):
        left, top, width, height = self.box = tuple(box)
        self.category, self.mask = category, mask
        self.size = next(name for name, most in SIZES.items() if width * height < most)
        self.of = np.s_[top:top + height, left:left + width]


@functools.lru_cache(None)
def described():
    """What COCO says of each photo: {stem: segments}, and its classes by number."""
    with open(os.path.join(COCO, "panoptic_val2017.json"), encoding="utf-8") as file:
        found = json.load(file)
    return ({os.path.splitext(entry["file_name"])[0]: entry["segments_info"] for entry in found["annotations"]},
            {category["id"]: category for category in found["categories"]})


def things_in(stem):
    """Each single thing of a photo; a crowd is none."""
    segments, classes = described()
    ids, found = labels(stem), []
    for segment in segments[stem]:
        left, top, width, height = segment["bbox"]
        if classes[segment["category_id"]]["isthing"] and not segment["iscrowd"] and min(width, height) >= LEAST:
            mask = ids[top:top + height, left:left + width] == segment["id"]
            found.append(Thing(classes[segment["category_id"]]["name"], segment["bbox"], mask))
    return found


def detail(luma):
    return luma - cv2.GaussianBlur(luma, (0, 0), SIGMA)


def correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / norm) if norm > 0 else 0.0


def descriptor(luma, thing):
    """Of what is in the thing's box; every box is brought to one size, for its shape to matter and not its scale."""
    box = np.uint8(np.clip(luma[thing.of], 0, 255))
    how = cv2.INTER_AREA if min(box.shape) > 64 else cv2.INTER_LINEAR
    return HOG.compute(cv2.resize(box, (64, 64), interpolation=how)).ravel()


HOG = cv2.HOGDescriptor((64, 64), (16, 16), (8, 8), (8, 8), 9)


def cosine(a, b):
    return float(a @ b / max(1e-9, np.linalg.norm(a) * np.linalg.norm(b)))


# ---- Words ----

def words_in(stem):
    """[(text, outline)] of a street photo; what nobody can read does not count."""
    with open(os.path.join(STREETS, f"gt_img_{stem}.txt"), encoding="utf-8-sig") as file:
        lines = [line.rstrip("\n").split(",", 8) for line in file if line.strip()]
    return [(line[8], np.float32(line[:8]).reshape(4, 2)) for line in lines if line[8] != "###"]


def words_of(item):
    if item.group == "photos" and item.name.startswith(STREET):
        return words_in(item.name[len(STREET):])
    return getattr(item, "outlined", [])


def cut_out(picture, outline):
    """The word upright, with a margin, its letters LETTERS high."""
    wide = max(np.linalg.norm(outline[1] - outline[0]), np.linalg.norm(outline[2] - outline[3]))
    high = max(np.linalg.norm(outline[3] - outline[0]), np.linalg.norm(outline[2] - outline[1]), 1)
    margin, width = round(MARGIN * LETTERS), round(LETTERS * wide / high)
    to = np.float32([[0, 0], [width, 0], [width, LETTERS], [0, LETTERS]]) + margin
    seen = cv2.warpPerspective(picture, cv2.getPerspectiveTransform(outline, to), (width + 2 * margin, LETTERS + 2 * margin),
                               flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.uint8(np.clip(seen, 0, 255))


def read_each(pictures):
    """What Tesseract reads in each picture of one word: one call for all of them."""
    if not pictures:
        return []
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, f"{n}.png") for n in range(len(pictures))]
        for name, picture in zip(names, pictures):
            cv2.imwrite(name, picture[..., ::-1])
        with open(os.path.join(folder, "list.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(names) + "\n")
        line = ["tesseract", file.name, "-", "--psm", "8", "--dpi", "150", "-l", "eng"]
        text = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                              env=dict(os.environ, OMP_THREAD_LIMIT="1")).stdout.decode()
    return [" ".join(page.split()) for page in text.split("\f")[:len(pictures)]]


def letters(word):
    return "".join(letter for letter in word.casefold() if letter.isalnum())


def read_right(words, picture):
    """Those of the words whose letters and digits are read in the picture; small and capital letters are the same."""
    found = read_each([cut_out(picture, outline) for _, outline in words])
    return [word for word, seen in zip(words, found) if letters(seen) == letters(word[0])]


# ---- Texture ----

def maps_of(stem):
    """{measure of TILES: mask} of a COCO photo."""
    segments, classes = described()
    ids = labels(stem)
    kinds = {name: [] for name in TILES}
    for segment in segments[stem]:
        category = classes[segment["category_id"]]
        for name, belongs in zip(TILES, (category["name"] in TEXTURE, category["isthing"])):
            kinds[name] += [segment["id"]] * belongs
    return {name: np.isin(ids, of) for name, of in kinds.items()}


def share_on(mask, squares):
    """The share of the squares (x, y, side) that have their centre on the mask, in percent; without any that of the area, for
    all of it is shown alike."""
    if not squares:
        return 100 * float(mask.mean())
    centres = np.array([(y, x) for x, y, _ in squares]).astype(int)
    rows, columns = np.clip(centres, 0, np.array(mask.shape) - 1).T
    return 100 * float(mask[rows, columns].mean())


# ---- All of it ----

class Known:
    """What there is to recognise in an image (of images.py), and what of it is in a picture."""

    def __init__(self, item, wanted=MEASURES):
        coco = item.group == "coco"
        self.things = self.words = []
        if set(THINGS) & set(wanted):
            self.things = things_in(item.name) if coco else getattr(item, "things", [])
        self.maps = maps_of(item.name) if coco and set(TILES) & set(wanted) else {}
        if "street words" in wanted and measures.can_read():
            self.words = read_right(words_of(item), item.pixels)
        luma = measures.luma(item.pixels)
        self.detail, self.descriptors = detail(luma), [descriptor(luma, thing) for thing in self.things]

    def figures(self, picture, squares):
        """{measure: (found, of how many), of tiles percent} of a picture in which these squares lie on the thumbnail."""
        out = self.of_things(picture) if self.things else {}
        for name, mask in self.maps.items():
            out[name] = share_on(mask, squares)
        if self.words:
            out["street words"] = len(read_right(self.words, picture)), len(self.words)
        return out

    def likenesses(self, picture):
        """(correlation of detail, cosine of descriptors) of each thing."""
        luma = measures.luma(picture)
        found = detail(luma)
        return [(correlation(found[thing.of][thing.mask], self.detail[thing.of][thing.mask]), cosine(descriptor(luma, thing), before))
                for thing, before in zip(self.things, self.descriptors)]

    def of_things(self, picture):
        out, found = {}, self.likenesses(picture)
        for size in SIZES:
            there = [both for thing, both in zip(self.things, found) if thing.size == size]
            if there:
                out[f"seen, {size}"] = sum(seen >= SEEN for seen, _ in there), len(there)
                out[f"alike, {size}"] = sum(alike >= ALIKE for _, alike in there), len(there)
                out[f"detail, {size}"] = sum(max(0, seen) for seen, _ in there), len(there)
                out[f"shape, {size}"] = sum(alike for _, alike in there), len(there)
        return out
