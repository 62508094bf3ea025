# SPDX-License-Identifier: Apache-2.0
"""What lmms-eval asks of the task texturevlm_shapes: the pictures, the questions, and which answers are right."""
from PIL import Image, ImageDraw

SIDE = 336


def picture_of(doc):
    image = Image.new("RGB", (SIDE, SIDE), doc["paper"])
    drawing = ImageDraw.Draw(image)
    for i, (shape, colour) in enumerate(doc["shapes"]):
        left, top = 20 + 80 * (i % 4), 30 + 90 * (i // 4)
        (drawing.ellipse if shape == "circle" else drawing.rectangle)((left, top, left + 50, top + 50), fill=colour)
    return [image]


def question_of(doc):
    return doc["question"]


def messages_of(doc):
    return [{"role": "user", "content": [*({"type": "image", "url": image} for image in picture_of(doc)),
                                         {"type": "text", "text": question_of(doc)}]}]


def is_right(doc, results):
    return {"right": float(str(results[0]).strip().lower() == doc["answer"])}
