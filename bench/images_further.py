# SPDX-License-Identifier: Apache-2.0
"""images_further.py: the set `further` of budget.py: photos that chose no constant, from Debian's packages, where these are
installed, and from ../shared/data.

    opencv-doc              28 photos of OpenCV's examples (Apache-2.0 with the source; of single pictures it says no more): people,
                            animals, houses, things, six streets with words (of ICDAR 2003), and 8 frames of a camera
                            above a path, in which whoever walks there is outlined
    mate-backgrounds        6 photos of grass, flowers and a storm (GPL-2+), halved
    python-matplotlib-data  a portrait (a work of the US Navy, public domain)
    python3-sklearn         a temple and a flower (CC BY 2.0)
    ../shared/data          4 photos that belong to CLIP vectors, 2 frames of two children on a bed

The outlines of the words were drawn by hand for this file. Who walks is what differs from the median of the frames: nobody
stands still there. Frames are ten seconds apart; they are of the same place, so as evidence they are less than as many photos.
"""
import os

import cv2
import numpy as np
from images import read
from recognition import LEAST, Thing
from shared import DATA

EXAMPLES = "/usr/share/doc/opencv-doc/examples"
PLAIN = [*(f"data/{name}" for name in (
    "home.jpg", "basketball1.png", "messi5.jpg", "fruits.jpg", "building.jpg", "butterfly.jpg", "baboon.jpg", "aloeL.jpg", "left01.jpg",
    "leuvenA.jpg", "stuff.jpg", "box_in_scene.png", "squirrel_cls.jpg", "board.jpg", "rubberwhale1.png", "aero1.jpg", "left.jpg",
    "chicky_512.png")), "alphamat/input_images/plant.jpg", "hfs/data/000.jpg", "hfs/data/001.jpg", "hfs/data/002.jpg"]
STREETS = {  # words and their outlines, clockwise from the left top corner
    "scenetext01": [("NOTICE", (281, 41), (425, 41), (425, 75), (281, 75)), ("DOUBLE", (279, 88), (421, 88), (421, 120), (279, 120)),
                    ("PARKING", (277, 130), (422, 130), (422, 163), (277, 163)), ("AT", (286, 217), (306, 217), (306, 249), (286, 249)),
                    ("PROHIBITED", (276, 173), (422, 173), (422, 206), (276, 206)), ("ALL", (313, 217), (342, 217), (342, 249), (313, 249)),
                    ("TIMES", (351, 217), (403, 217), (403, 249), (351, 249))],
    "scenetext02": [("Sports", (432, 620), (605, 628), (605, 686), (432, 678)), ("Centre", (614, 628), (780, 640), (780, 698), (614, 685)),
                    ("Wivenhoe", (430, 684), (674, 698), (674, 758), (430, 746)), ("Car", (432, 827), (527, 834), (527, 892), (432, 890)),
                    ("Conference", (429, 752), (723, 772), (723, 833), (429, 815)), ("Parks", (537, 834), (681, 845), (681, 901), (537, 894)),
                    ("Centre", (733, 774), (893, 786), (893, 844), (733, 834))],
    "scenetext03": [("copy", (200, 560), (367, 556), (367, 622), (200, 626)), ("centre", (404, 546), (618, 541), (618, 600), (404, 603))],
    "scenetext04": [("GM", (422, 420), (479, 419), (479, 456), (422, 457))],
    "scenetext05": [("NO", (479, 318), (528, 322), (527, 378), (477, 374)), ("PARKING", (533, 321), (688, 334), (686, 388), (531, 378))],
    "scenetext06": [("priory", (240, 284), (318, 287), (318, 318), (240, 314)), ("galleries", (323, 287), (453, 288), (453, 316), (323, 318)),
                    ("at", (462, 302), (485, 302), (485, 317), (462, 317)), ("the", (487, 293), (538, 293), (538, 318), (487, 318))]}
WALKERS, FRAMES, EVERY = "data/vtest.avi", 8, 100
NATURE = "/usr/share/backgrounds/mate/nature"
HALVED = ["Dune.jpg", "Garden.jpg", "GreenMeadow.jpg", "LadyBird.jpg", "Storm.jpg", "TwoWings.jpg"]
OTHERS = ["/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg",
          *(f"/usr/lib/python3/dist-packages/sklearn/datasets/images/{name}.jpg" for name in ("china", "flower")),
          *(os.path.join(DATA, "clip", "clip_retrieval", f"{name}.jpg") for name in ("321_421", "389_535", "416_264", "524_316")),
          *(os.path.join(DATA, "video", "bedroom", f"000{number}.jpg") for number in ("00", "20"))]


def further(images):
    """The items, for images.py's Images; first those of which it is known what is in them."""
    def item(path, scale=1):
        pixels = read(path)
        if scale != 1:
            pixels = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        return images.item("further", os.path.splitext(os.path.basename(path))[0], pixels)
    for path in there([os.path.join(EXAMPLES, "text", f"{name}.jpg") for name in STREETS]):
        street = item(path)
        street.outlined = [(text, np.float32(outline)) for text, *outline in STREETS[street.name]]
        yield street
    yield from walkers(images)
    for path in there([*(os.path.join(EXAMPLES, name) for name in PLAIN), *OTHERS]):
        yield item(path)
    for path in there([os.path.join(NATURE, name) for name in HALVED]):
        yield item(path, 0.5)


def there(paths):
    return [path for path in paths if os.path.exists(path)]


def walkers(images):
    """Frames of people who walk; each of them, or a group that is one to the eye, is a thing."""
    for path in there([os.path.join(EXAMPLES, WALKERS)]):
        frames, video, number = {}, cv2.VideoCapture(path), 0
        while video.grab():
            if number % (EVERY // 10) == 0:
                frames[number] = video.retrieve()[1][..., ::-1]
            number += 1
        empty = np.median(list(frames.values()), 0)
        for number in range(EVERY // 2, number, EVERY)[:FRAMES]:
            found = images.item("further", f"walkers{number}", frames[number])
            found.things = moving(frames[number], empty)
            yield found


def moving(frame, empty):
    """What differs from the empty place, in one piece, as things."""
    differs = np.uint8(cv2.GaussianBlur(np.abs(frame - empty).max(2).astype(np.float32), (0, 0), 1.5) > 25)
    differs = cv2.morphologyEx(differs, cv2.MORPH_CLOSE, np.ones((9, 5), np.uint8))  # a belt does not part a walker
    _, pieces, boxes, _ = cv2.connectedComponentsWithStats(differs)
    return [Thing("person", (left, top, width, height), pieces[top:top + height, left:left + width] == piece)
            for piece, (left, top, width, height, area) in enumerate(boxes.tolist())
            if piece and area >= 200 and height >= width >= LEAST]
