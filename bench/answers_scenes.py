# SPDX-License-Identifier: Apache-2.0
"""answers_scenes.py: drawn scenes over photos, with questions that have one right answer, for answers_train.py and answers.py.

A scene is a part of a photo with coloured shapes on it, and in each a digit or a letter, some 18 pixels high, which is two thirds of
a token. There are three kinds of them:

- `few`: four to six shapes. Each of them is salient, and may be asked for.
- `crowd`: 24 shapes, as salient as each other, of which two are asked for; in training up to eight of which there is
  one each.
- `text`: three to five shapes with a word of twenty below each.

A fourth one is for training alone: `dense`, shapes wherever there is room, half of them with words, and nothing is asked.

Photos, fonts and seeds of training (TRAIN) and of the tables (HELD) have nothing in common.
"""
import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from shared import DATA

SIDE = 504
COLOURS = {"red": (214, 40, 40), "green": (40, 160, 60), "blue": (45, 80, 215), "yellow": (240, 210, 40), "purple": (140, 50, 170),
           "orange": (240, 130, 30)}
SHAPES = ("circle", "square", "triangle", "star", "diamond")
DIGITS, LETTERS = "0123456789", "ACEHKLRTXZ"
SIGNS = DIGITS + LETTERS
WORDS = ("apple bread chair dance eagle flame grape house ivory juice knife lemon mango nurse ocean piano queen river stone tiger").split()

FONTS = "/usr/share/fonts/truetype"
TRAIN = {"fonts": ("dejavu/DejaVuSans-Bold", "dejavu/DejaVuSerif-Bold", "liberation/LiberationSans-Regular",
                   "liberation/LiberationSerif-Bold", "open-sans/OpenSans-Semibold", "lato/Lato-Bold"),
         "photos": ("photos/coffee.png", "photos/chelsea.png", "photos/kodim05.png", "photos/kodim19.png", "photos/rocket.jpg",
                    "photos/motorcycle_left.png", "photos/examplepano_4096x2048.jpg", "photos/astronaut.png")}
HELD = {"fonts": ("liberation/LiberationSans-Bold", "crosextra/Carlito-Bold", "lato/Lato-Heavy"),
        "photos": ("photos/kodim23.png", "photos/hubble_deep_field.jpg", "photos/puffins_5568x2784.jpg", "photos/tulips_rgba.png")}


class Shape:
    """A shape: centre and radius in pixels, numbers of colour, shape and sign, and of a word below it, or None."""

    def __init__(self, x, y, radius, colour, shape, sign):
        self.x, self.y, self.radius, self.colour, self.shape, self.sign = x, y, radius, colour, shape, sign
        self.word, self.word_box, self.largest = None, None, False

    def name(self):
        return f"{list(COLOURS)[self.colour]} {SHAPES[self.shape]}"


class Scene:
    """A picture, its shapes, and its questions: (question, answer, the shape that the answer is read at, or None)."""

    def __init__(self, kind, picture, shapes, questions):
        self.kind, self.picture, self.shapes, self.questions = kind, picture, shapes, questions


class Source:
    """Draws scenes. `of` is TRAIN or HELD; the same seed gives the same scenes."""

    def __init__(self, of, seed):
        self.random, self.training = random.Random(seed), of is TRAIN
        self.photos = [Image.open(os.path.join(DATA, name)).convert("RGB") for name in of["photos"]]
        self.photos = [photo.reduce(2) if photo.width > 2000 else photo for photo in self.photos]
        self.fonts = [os.path.join(FONTS, name + ".ttf") for name in of["fonts"]]
        self._loaded = {}

    def font(self, name, size):
        if (name, size) not in self._loaded:
            self._loaded[name, size] = ImageFont.truetype(name, size)
        return self._loaded[name, size]

    def scene(self, kind=None, side=SIDE):
        """A scene of side x side pixels. A smaller one has fewer shapes in a crowd."""
        kind = kind or self.random.choice(("few", "few", "crowd", "text"))
        picture = self._background(side)
        shapes = {"few": self._few, "crowd": self._crowd, "text": self._text, "dense": self._dense}[kind](side)
        name = self.random.choice(self.fonts)
        draw = ImageDraw.Draw(picture)
        for shape in shapes:
            _draw_shape(draw, shape, self._shade(shape.colour))
            self._write_sign(draw, shape, name)
            if shape.word is not None:
                self._write_word(draw, shape, name, side)
        return Scene(kind, np.asarray(picture), shapes, self._questions(kind, shapes))

    def _background(self, side):
        photo = self.random.choice(self.photos)
        span = self.random.randint(min(side, *photo.size) * 3 // 4, min(*photo.size))
        left, top = self.random.randint(0, photo.width - span), self.random.randint(0, photo.height - span)
        part = photo.resize((side, side), Image.BICUBIC, (left, top, left + span, top + span))
        return part.transpose(Image.FLIP_LEFT_RIGHT) if self.random.random() < .5 else part

    def _shade(self, colour):
        return tuple(max(0, min(255, value + self.random.randint(-18, 18))) for value in list(COLOURS.values())[colour])

    # ---- Where shapes are, and of which kind ----

    def _places(self, side, count, radius, room, below=0):
        """Up to `count` centres, each anywhere in a cell of room x room pixels where a shape of the radius fits, and `below` under it."""
        across, down = max(1, side // room), max(1, side // (room + below))
        cells = self.random.sample([(i, j) for j in range(down) for i in range(across)], min(count, across * down))
        wide, high, edge = side / across, side / down, radius * 1.1 + 1
        return [(i * wide + self.random.uniform(edge, wide - edge), j * high + self.random.uniform(edge, high - edge - below))
                for i, j in cells]

    def _shape(self, x, y, radius, colour, shape):
        return Shape(x, y, radius, colour, shape, self.random.randrange(len(SIGNS)))

    def _few(self, side):
        places = self._places(side, self.random.randint(4, 6), 45, 104)
        shapes = [self._shape(x, y, self.random.randint(24, 29), self.random.randrange(len(COLOURS)), self.random.randrange(len(SHAPES)))
                  for x, y in places]
        shapes[0].radius, shapes[0].largest = self.random.randint(40, 45), True
        return shapes

    def _crowd(self, side):
        places = self._places(side, 24 * side * side // SIDE**2, 28, 72)
        kinds = [(colour, shape) for colour in range(len(COLOURS)) for shape in range(len(SHAPES))]
        self.random.shuffle(kinds)
        kinds[2:] = self.random.choices(kinds[2:], k=max(len(places) - 2, 0))
        return [self._shape(x, y, self.random.randint(24, 28), *kind) for (x, y), kind in zip(places, kinds)]

    def _text(self, side):
        places = self._places(side, self.random.randint(3, 5), 29, 80, below=28)
        kinds = self.random.sample(range(len(SHAPES)), len(places))
        shapes = [self._shape(x, y, self.random.randint(24, 29), self.random.randrange(len(COLOURS)), kind)
                  for (x, y), kind in zip(places, kinds)]
        for shape in shapes:
            shape.word = self.random.randrange(len(WORDS))
        return shapes

    def _dense(self, side):
        below = self.random.choice((0, 28))
        places = self._places(side, 1000, 26, self.random.randint(62, 76), below)
        shapes = [self._shape(x, y, self.random.randint(21, 26), self.random.randrange(len(COLOURS)), self.random.randrange(len(SHAPES)))
                  for x, y in places]
        for shape in shapes if below else ():
            shape.word = self.random.randrange(len(WORDS))
        return shapes

    # ---- What is written ----

    def _write_sign(self, draw, shape, name):
        ink = (0, 0, 0) if shape.colour in (3, 5) else (255, 255, 255)
        drop = shape.radius * .2 if SHAPES[shape.shape] == "triangle" else 0
        draw.text((shape.x, shape.y + drop), SIGNS[shape.sign], ink, self.font(name, self.random.randint(23, 26)), anchor="mm")

    def _write_word(self, draw, shape, name, side):
        font = self.font(name, self.random.randint(19, 21))
        wide = font.getlength(WORDS[shape.word]) / 2 + 3
        x = min(max(shape.x, wide + 1), side - wide - 1)
        y = shape.y + shape.radius + 14
        shape.word_box = (x - wide, y - 11, x + wide, y + 11)
        draw.rectangle(shape.word_box, (235, 235, 228))
        draw.text((x, y), WORDS[shape.word], (15, 15, 15), font, anchor="mm")

    # ---- What is asked ----

    def _questions(self, kind, shapes):
        if kind == "dense":
            return []
        if kind == "text":
            return [(f"word below the {SHAPES[shape.shape]}?", WORDS[shape.word], shape) for shape in shapes]
        named = [shape.name() for shape in shapes]
        among = shapes[:2] if kind == "crowd" and not self.training else shapes
        asked = [shape for shape in among if named.count(shape.name()) == 1][:8]
        questions = [(f"{'digit' if SIGNS[shape.sign] in DIGITS else 'letter'} in the {shape.name()}?", SIGNS[shape.sign], shape)
                     for shape in asked]
        if kind == "few":
            largest = next(shape for shape in shapes if shape.largest)
            questions.append(("colour of the largest?", list(COLOURS)[largest.colour], None))
            some = self.random.choice(shapes).shape if self.random.random() < .8 else self.random.randrange(len(SHAPES))
            questions.append((f"how many {SHAPES[some]}s?", str(sum(shape.shape == some for shape in shapes)), None))
        return questions


def _draw_shape(draw, shape, colour):
    x, y, r = shape.x, shape.y, shape.radius
    edge = tuple(value // 2 for value in colour)
    kind = SHAPES[shape.shape]
    if kind == "circle":
        draw.ellipse((x - r, y - r, x + r, y + r), colour, edge, 2)
    elif kind == "square":
        s = r * .88
        draw.rectangle((x - s, y - s, x + s, y + s), colour, edge, 2)
    else:
        draw.polygon(_corners(kind, x, y, r), colour, edge, 2)


def _corners(kind, x, y, r):
    count = {"triangle": 3, "diamond": 4, "star": 10}[kind]
    turns = np.arange(count) * 2 * np.pi / count - np.pi / 2
    reach = np.where(np.arange(count) % 2 == 1, r * .55, r * 1.1) if kind == "star" else np.full(count, r * 1.1)
    lower = r * .15 if kind == "triangle" else 0
    return [(x + a * np.cos(turn), y + lower + a * np.sin(turn)) for a, turn in zip(reach, turns)]
