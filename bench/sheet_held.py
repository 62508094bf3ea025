# SPDX-License-Identifier: Apache-2.0
"""sheet_held.py: a sheet that pages_held.py writes on, measured in points, at any number of dots an inch, and what a scanner does to it.

Every word is kept with its place in pixels, also after the sheet was turned.
"""
import functools
import io
import os

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts"
FACES = {  # of other families than those of pages.py, and of none that imitates one of them
    "gentium": "truetype/gentiumplus/GentiumPlus-Regular.ttf", "gentium bold": "truetype/gentiumplus/GentiumPlus-Bold.ttf",
    "carlito": "truetype/crosextra/Carlito-Regular.ttf", "carlito bold": "truetype/crosextra/Carlito-Bold.ttf",
    "caladea": "truetype/crosextra/Caladea-Regular.ttf", "caladea bold": "truetype/crosextra/Caladea-Bold.ttf",
    "schoolbook": "opentype/urw-base35/C059-Roman.otf", "schoolbook bold": "opentype/urw-base35/C059-Bold.otf",
    "palladio": "opentype/urw-base35/P052-Roman.otf", "palladio bold": "opentype/urw-base35/P052-Bold.otf",
    "garamond": "opentype/ebgaramond/EBGaramond12-Regular.otf", "garamond bold": "opentype/ebgaramond/EBGaramond12-Bold.otf",
    "libertine": "opentype/linux-libertine/LinLibertine_R.otf", "libertine bold": "opentype/linux-libertine/LinLibertine_RB.otf",
    "biolinum": "opentype/linux-libertine/LinBiolinum_R.otf", "biolinum bold": "opentype/linux-libertine/LinBiolinum_RB.otf",
    "lato": "truetype/lato/Lato-Regular.ttf", "lato bold": "truetype/lato/Lato-Bold.ttf",
    "cantarell": "opentype/cantarell/Cantarell-Regular.otf", "cantarell bold": "opentype/cantarell/Cantarell-Bold.otf",
    "open": "truetype/open-sans/OpenSans-Regular.ttf", "open bold": "truetype/open-sans/OpenSans-Bold.ttf",
    "inconsolata": "truetype/inconsolata/Inconsolata.otf",
    "old": "truetype/fonts-oldstandard/OldStandard-Regular.ttf", "old bold": "truetype/fonts-oldstandard/OldStandard-Bold.ttf",
    "didot": "opentype/didot/GFSDidot.otf", "didot bold": "opentype/didot/GFSDidotBold.otf",
    "chinese": "truetype/wqy/wqy-microhei.ttc",
}
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


@functools.lru_cache(None)
def font_of(face, pixels):
    return ImageFont.truetype(os.path.join(FONTS, FACES[face]), pixels)


class Sheet:
    """A picture (RGB, PIL) and the words on it: (text, left, top, right, bottom) in pixels. `language`: Tesseract's name of it."""

    def __init__(self, name, dpi=150, size=(595.3, 841.9), paper=WHITE, language="eng"):
        self.name, self.dpi, self.language, self.words = name, dpi, language, []
        self.width, self.height = size
        self.picture = Image.new("RGB", (round(self.px(size[0])), round(self.px(size[1]))), paper)
        self.draw = ImageDraw.Draw(self.picture)

    def px(self, points):
        return points * self.dpi / 72

    def font(self, face, points):
        return font_of(face, round(self.px(points)))

    def length(self, text, font):
        return font.getlength(text) * 72 / self.dpi

    def word(self, x, y, text, font, ink):
        at = round(self.px(x)), round(self.px(y))
        self.draw.text(at, text, fill=ink, font=font, anchor="ls")
        self.words.append((text, *self.draw.textbbox(at, text, font=font, anchor="ls")))

    def line(self, x, y, text, face, points, ink=BLACK, align="left", gap=None):
        """Writes words with their baseline at y. Returns where they end. `gap`: between words, where not a space of the font."""
        font = self.font(face, points)
        gap = self.length(" ", font) if gap is None else gap
        words = text.split() if isinstance(text, str) else text
        lengths = [self.length(word, font) for word in words]
        whole = sum(lengths) + gap * (len(words) - 1)
        x -= {"left": 0, "right": whole, "centre": whole / 2}[align]
        for word, length in zip(words, lengths):
            self.word(x, y, word, font, ink)
            x += length + gap
        return x - gap

    def flow(self, box, words, face, points, leading=1.25, ink=BLACK, justify=False, indent=0.0):
        """Fills a box (left, top, right, bottom) with the words. Returns (y of the last baseline, the words that had no place)."""
        left, y, right, bottom = box
        y += points
        font = self.font(face, points)
        space, line, used, start = self.length(" ", font), [], 0.0, left + indent
        for n, word in enumerate(words):
            length = self.length(word, font)
            if line and start + used + length > right:
                gap = (right - start - used + space * len(line)) / (len(line) - 1) if justify and len(line) > 1 else None
                self.line(start, y, line, face, points, ink, gap=gap)
                line, used, start = [], 0.0, left
                y += points * leading
                if y > bottom:
                    return y - points * leading, words[n:]
            line.append(word)
            used += length + space
        if line:
            self.line(start, y, line, face, points, ink)
        return y, []

    def glyphs(self, box, text, face, points, leading, ink=BLACK):
        """The same of text without spaces: each character is a word, and punctuation stands at no line's start. Returns y."""
        left, y, right, _ = box
        x, y, font = left, y + points, self.font(face, points)
        for glyph in text:
            if x + points > right and glyph not in "，。、；：！？":
                x, y = left, y + points * leading
            self.word(x, y, glyph, font, ink)
            x += self.length(glyph, font)
        return y

    def box(self, x0, y0, x1, y1, fill=None, outline=None, width=0.7):
        self.draw.rectangle([round(self.px(v)) for v in (x0, y0, x1, y1)], fill=fill, outline=outline,
                            width=max(1, round(self.px(width))))

    def rule(self, x0, y0, x1, y1, ink=BLACK, width=0.5):
        self.draw.line([round(self.px(v)) for v in (x0, y0, x1, y1)], fill=ink, width=max(1, round(self.px(width))))

    # ---- Variants ----

    def called(self, name):
        self.name = name
        return self

    def inverted(self):
        self.picture = Image.fromarray(255 - np.asarray(self.picture))
        return self

    def scanned(self, degrees, seed, blur=0.7, noise=5.0, quality=60):
        """Turned, blurred (sigma in pixels), on paper that is not quite white, with noise (sigma), as a JPEG."""
        high, wide = np.asarray(self.picture).shape[:2]
        turn = cv2.getRotationMatrix2D((wide / 2, high / 2), degrees, 1)
        pixels = cv2.warpAffine(np.asarray(self.picture), turn, (wide, high), flags=cv2.INTER_CUBIC, borderValue=WHITE)
        pixels = cv2.GaussianBlur(pixels.astype(np.float32), (0, 0), blur) * np.float32([0.93, 0.92, 0.89]) + 12
        pixels += np.random.default_rng(seed).normal(0, noise, pixels.shape[:2])[..., None]
        file = io.BytesIO()
        Image.fromarray(np.uint8(np.clip(np.rint(pixels), 0, 255))).save(file, "JPEG", quality=quality)
        self.picture = Image.open(file).convert("RGB")
        self.words = [(text, *turned(turn, box)) for text, *box in self.words]
        return self


def turned(turn, box):
    """The box that holds a turned box."""
    left, top, right, bottom = box
    corners = np.array([(x, y, 1) for x in (left, right) for y in (top, bottom)]) @ turn.T
    return *map(float, corners.min(0)), *map(float, corners.max(0))
