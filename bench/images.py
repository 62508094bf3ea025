# SPDX-License-Identifier: Apache-2.0
"""images.py: the sets of images that budget.py measures on, from ../shared/data and from pages.py.

    coco     12 photos of 640x480, with masks of their things
    photos   15 photos of 0.4 to 8.4 megapixels: three Kodak photos, a deep field, eight street photos with text, a phone's photo, a
             panorama, puffins halved
    small    24 photos within 400x300
    further  up to 51 photos that chose nothing (images_further.py)
    pages    a letter, two columns, an invoice, a form, a chart, a slide, a screenshot; constants may be chosen by them
    held     nine pages by which nothing is chosen (pages_held.py)
    screens, signs  screens, and photos with signs, for ways.py (screens_held.py)
    variants of them: 100 and 300 dots an inch, inverted, scanned, other scripts
"""
import glob
import json
import os

import cv2
import numpy as np
from shared import DATA

COCO = os.path.join(DATA, "boxes", "coco_panoptic")
PAINTED = os.path.join(DATA, "clip", "painted")
MEDIUM = ["kodim05.png", "kodim19.png", "kodim23.png", "hubble_deep_field.jpg", "edge/exif_orientation90.jpg",
          "examplepano_4096x2048.jpg", "puffins_5568x2784.jpg"]
SMALL = ["astronaut.png", "camera.png", "chelsea.png", "coffee.png", "coins.png", "motorcycle_left.png", "rocket.jpg",
         "tulips_rgba.png"]
DRAWN = ["pages", "held", "variants"]
SETS = ["coco", "photos", "small", "further", *DRAWN]
FOLDERS = {"coco": ["boxes/coco_panoptic"], "photos": ["photos", "text/icdar2015"], "small": ["photos", "segments", "boxes/coco_panoptic"],
           "further": ["photos"], "questions": ["boxes/coco_panoptic", "clip/painted"]}  # of DATA, what sets are read from


class Item:
    """One image: its pixels (RGB), the file that the tool reads, and what is known of what is in it."""

    def __init__(self, group, name, path, pixels, mask=None, words=None, question=None, language="eng", dpi=150):
        self.group, self.name, self.path, self.pixels = group, name, path, np.ascontiguousarray(pixels)
        self.mask, self.words, self.question, self.language, self.dpi = mask, words, question, language, dpi


def read(path):
    """RGB as the tool reads it: upright, transparent on white."""
    pixels = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if pixels.ndim == 2 or path.lower().endswith((".jpg", ".jpeg")):
        return cv2.imread(path, cv2.IMREAD_COLOR)[..., ::-1]  # this way OpenCV turns it by its EXIF orientation
    if pixels.shape[2] == 4:
        alpha = pixels[..., 3:].astype(np.float32) / 255
        pixels = np.uint8(np.rint(pixels[..., :3] * alpha + 255 * (1 - alpha)))
    return pixels[..., ::-1]


class Images:
    """The sets. What is not read from a file as it is gets written into `folder`, for the tool to read."""

    def __init__(self, folder):
        self.folder = folder

    def item(self, group, name, pixels, **known):
        path = os.path.join(self.folder, f"{group}-{name}.png".replace(" ", "_"))
        cv2.imwrite(path, np.ascontiguousarray(pixels[..., ::-1]), [cv2.IMWRITE_PNG_COMPRESSION, 1])
        return Item(group, name, path, pixels, **known)

    def of(self, group):
        return getattr(self, group)()

    def coco(self):
        with open(os.path.join(COCO, "panoptic_val2017.json"), encoding="utf-8") as file:
            described = json.load(file)
        things = {category["id"] for category in described["categories"] if category["isthing"]}
        for entry in described["annotations"]:
            stem = os.path.splitext(entry["file_name"])[0]
            path = os.path.join(COCO, stem + ".jpg")
            if os.path.exists(path):
                mask = np.isin(labels(stem), [s["id"] for s in entry["segments_info"] if s["category_id"] in things])
                yield self.item("coco", stem, read(path), mask=mask if mask.any() else None)

    def photos(self):
        for name in MEDIUM:
            pixels = read(os.path.join(DATA, "photos", name))
            if name.startswith("puffins"):
                pixels = cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
            yield self.item("photos", os.path.splitext(os.path.basename(name))[0], pixels)
        for path in sorted(glob.glob(os.path.join(DATA, "text", "icdar2015", "*.jpg"))):
            yield self.item("photos", "street_" + os.path.basename(path)[4:-4], read(path))

    def small(self):
        paths = [os.path.join(DATA, "photos", name) for name in SMALL]
        paths += sorted(glob.glob(os.path.join(DATA, "segments", "*.jpg"))) + sorted(glob.glob(os.path.join(COCO, "*.jpg")))
        for path in paths:
            pixels = read(path)
            height, width = pixels.shape[:2]
            scale = min(1, max(400 / max(width, height), 300 / min(width, height)))
            pixels = cv2.resize(pixels, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
            yield self.item("small", os.path.splitext(os.path.basename(path))[0], pixels)

    def further(self):
        from images_further import further
        return further(self)

    def pages(self):
        from pages import draw_pages
        for page in draw_pages():
            yield self.item("pages", page.name, np.asarray(page.picture), words=page.words)

    def held(self):
        from pages_held import draw_held
        if fonts_there("held"):
            yield from (self.page("held", page) for page in draw_held())

    def screens(self):
        from screens_held import draw_screens
        if fonts_there("screens"):
            yield from (self.page("screens", page) for page in draw_screens())

    def signs(self):
        from screens_held import draw_photos
        if fonts_there("signs"):
            yield from (self.page("signs", page) for page in draw_photos())

    def variants(self):
        from pages_held import draw_variants
        if fonts_there("variants"):
            yield from (self.page("variants", page) for page in draw_variants())

    def page(self, group, page):
        return self.item(group, page.name, np.asarray(page.picture), words=page.words, language=page.language, dpi=page.dpi)

    def questions(self):
        """A question for each class of things in the photos that have features: (features, vector of the query), and the mask of
        that class."""
        with open(os.path.join(COCO, "panoptic_val2017.json"), encoding="utf-8") as file:
            described = json.load(file)
        with open(os.path.join(PAINTED, "coco_rows.json"), encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        vectors = np.load(os.path.join(DATA, "clip", "detic_coco_clip_a+cname.npy")).astype(np.float32)
        names = {category["id"]: category["name"] for category in described["categories"] if category["isthing"]}
        for entry in described["annotations"]:
            stem = os.path.splitext(entry["file_name"])[0]
            features = os.path.join(PAINTED, stem + ".npy")
            if not os.path.exists(features):
                continue
            pixels, ids = read(os.path.join(COCO, stem + ".jpg")), labels(stem)
            for category in sorted({s["category_id"] for s in entry["segments_info"]}):
                mask = np.isin(ids, [s["id"] for s in entry["segments_info"] if s["category_id"] == category])
                if names.get(category) in rows and mask.any():
                    query = os.path.join(self.folder, f"query-{category}.npy")
                    np.save(query, vectors[rows.index(names[category])])
                    name = f"{stem}-{names[category].replace(' ', '_')}"
                    yield self.item("questions", name, pixels, mask=mask, question=(features, query))


def fonts_there(group):
    from sheet_held import FACES, FONTS
    missing = [path for path in FACES.values() if not os.path.exists(os.path.join(FONTS, path))]
    if missing:
        print(f"no {group}: {missing[0]} and perhaps other fonts are not there (ci/setup --full)")
    return not missing


def labels(stem, folder=COCO):
    """The segment of each pixel of a COCO photo."""
    colours = cv2.imread(os.path.join(folder, stem + "_panoptic.png"), cv2.IMREAD_COLOR).astype(np.int64)
    return colours[..., 2] + 256 * colours[..., 1] + 65536 * colours[..., 0]
