# SPDX-License-Identifier: Apache-2.0
"""An image as the content of a message to a server that speaks OpenAI's interface: one smaller picture, or a small one and crops.

The server is asked for nothing that it does not have. What it takes of a picture, in tokens, is told by its patch.
"""
from __future__ import annotations

import base64
import dataclasses
import importlib
import io
import math
import os
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._arguments import Array, choice, flag, integer, reason, short
from ._core import ArgumentError, ArgumentTypeError, Error, FileError, MissingFileError, missing
from ._cut import Crop, Prompt
from ._image import image_of, read_of
from ._ways import Candidate, Report, Rule, Spending, decide, shared, spending_of

if TYPE_CHECKING:
    from ._device import Device
    from ._types import ImageLike

WAYS = ("auto", "smaller", "pictures")
ENCODINGS = ("auto", "png", "jpeg")
READ = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "PPM")
"""The formats that are read, by Pillow's names. It knows others, of which some run further programs."""
LONGEST = 199
"""How many times longer than wide a picture is at most. Servers of Qwen-VL refuse 200 and more."""
LARGE = 1 << 20
"""A picture whose PNG takes more bytes is sent as a JPEG, if it may be."""
QUALITY = 95
_PART = len("100 100 100 100;".replace(" ", ""))  # the most tokens of the line that one part takes


# ---- What is asked ----

@dataclasses.dataclass(frozen=True)
class Serving:
    """How pictures are made for a server; `serving_of` checks it. `pictures` documents the fields."""

    spending: Spending
    patch: int
    extra: int
    least: int
    most: int
    encoding: str
    device: Any

    @property
    def rule(self) -> Rule:
        """The sizes of pictures that the server takes as they are."""
        def resize(height: int, width: int, least: int, most: int) -> tuple[int, int]:
            columns, rows = _grid(width, height, self.patch, least // self.patch**2, most // self.patch**2)
            return rows * self.patch, columns * self.patch

        def around(size: tuple[int, int], crops: Sequence[Crop]) -> int:
            return self.extra * len(crops) + tokens_of(line_of(size, crops))

        prompt = Prompt(whole=True, around=around, join=self.extra + _PART)
        return Rule(self.patch, self.least * self.patch**2, self.most * self.patch**2, resize, prompt=prompt)


def serving_of(budget: Any = None, share: Any = None, tolerance: Any = None, way: Any = None, patch: Any = 28, extra: Any = 2,
               least: Any = 8, most: Any = 16384, encoding: Any = "auto", device: Any = None) -> Serving:
    """Refuses what no image could fit."""
    way = WAYS[choice("way", "auto" if way is None else way, WAYS)]
    spending = spending_of(budget, share, tolerance, way)
    patch, extra = integer("patch", patch, 4, 64), integer("extra", extra, 0, 1000)
    least, most = integer("least", least, 1, 1000), integer("most", most, 1, 65536)
    if 4 * least > most:  # a picture of any shape lies between
        raise ArgumentError(f"least is {least} tokens, and most is {most}; it must be at least four times as many")
    if spending.budget is not None and spending.budget < least + extra:
        raise ArgumentError(f"a budget of {spending.budget} tokens; a picture takes at least {least + extra}: {least}, and {extra} around it")
    return Serving(spending, patch, extra, least, most, ENCODINGS[choice("encoding", encoding, ENCODINGS)], device)


def _grid(width: int, height: int, patch: int, least: int, most: int) -> tuple[int, int]:
    """Columns and rows of a picture of least .. most tokens, about as wide as high as the image."""
    columns, rows = max(1, round(width / patch)), max(1, round(height / patch))
    large = columns * rows > most
    if large or columns * rows < least:
        scale = ((most if large else least) / (width * height))**0.5
        rounded = int if large else _up
        columns, rows = max(1, rounded(width * scale)), max(1, rounded(height * scale))
        fewer = min(columns, max(most // rows, 1))
        lower = min(rows, max(most // fewer, 1))
        if fewer * lower >= least:  # what the server would enlarge again is of no use, though it is of fewer tokens
            columns, rows = fewer, lower
    return min(columns, LONGEST * rows), min(rows, LONGEST * columns)


def _up(value: float) -> int:
    return -int(-value // 1)


# ---- What is given ----

class Pictures(list[dict[str, Any]]):
    """The content of a message: a list of parts, which `json.dumps` writes. `texturevlm.pictures` makes it.

    An image that becomes one picture is one part. One that becomes several has a line of text before them, which says where each of
    them lies.

    report: what was decided, and what each candidate would have lost. `texturevlm.show` draws what the model sees.
    """

    def __init__(self, parts: list[dict[str, Any]], report: Report) -> None:
        super().__init__(parts)
        self.report = report

    @property
    def tokens(self) -> int:
        """How many tokens they take: those of all pictures, those around each, and those of the line."""
        return self.report.tokens


@dataclasses.dataclass(frozen=True)
class Shown:
    """What a server is shown of an image.

    line: where the crops lie. Empty: there are none.
    pictures: images of PIL.
    same: the one picture is the whole image, which the server takes as it is.
    """

    line: str
    pictures: list[Any]
    report: Report
    same: bool


def pictures(image: ImageLike, *, budget: int | None = None, share: float | None = None, tolerance: float | Literal["auto"] | None = None,
             way: Literal["auto", "smaller", "pictures"] | None = None, patch: int = 28, extra: int = 2, least: int = 8, most: int = 16384,
             encoding: Literal["auto", "png", "jpeg"] = "auto", device: Device | str | None = None, copy: bool = False) -> Pictures:
    """Makes of an image the content of a message to any server that speaks OpenAI's interface.

        content = tv.pictures("receipt.jpg", budget=256)
        content += [{"type": "text", "text": "What is the total?"}]
        messages = [{"role": "user", "content": content}]

    The image becomes a smaller picture, or a small picture of the whole and crops where that loses most: whichever is predicted to
    lose less. So what is sent is never predicted to be worse than a smaller picture of as many tokens. Before several pictures stands
    one line of text, which says where each lies.

    Parameters:
        image: one image, as in `select`. Files may be JPEG, PNG, GIF, WebP, BMP or PPM, and are turned by their EXIF orientation. An
            animated picture is its first frame. Alpha is composited on white.
        budget: so many tokens at most. All count: those of the pictures, those around each, and those of the line.
        share: in place of budget, the share of the tokens that the whole image would take, above 0 and at most 1.
        tolerance: in place of both, as few tokens as lose at most this share, 0 .. 1, of what a picture of one token would lose.
            ``"auto"``, the default where nothing is given, keeps what can be read.
        way: ``"smaller"``: one picture; ``"pictures"``: several, if there are crops; ``"auto"``: the better one.
        patch: the side of the square, in pixels, of which the served model makes a token: 28 for Qwen2-VL and Qwen2.5-VL, 32 for
            Qwen3-VL; 4 to 64. All pictures that are made have sides that are multiples of it, so that the server need not resize
            them. An image that stays whole keeps its own size, which the server rounds in the same way.
        extra: how many tokens the prompt has around each picture: 2 for Qwen-VL.
        least, most: how many tokens a picture has at least and at most. The server enlarges a picture of less than its own least, and
            shrinks one of more than its most. 8 is llama.cpp's least for Qwen2.5-VL, and more than that of transformers and vLLM (4);
            for Qwen3-VL theirs is 64.
        encoding: ``"png"``, ``"jpeg"`` (of quality 95), or ``"auto"``: PNG, which loses nothing, but JPEG where a PNG takes more than
            1 MiB and the JPEG takes less.
        device, copy: as in `select`.

    Tokens of the line are counted as one for each word, digit and sign. Tokenizers of large vocabularies should need no more.

    Gives a `Pictures`, a list of parts. Errors are those of `select`; `MissingPackageError` without Pillow.
    """
    serving = serving_of(budget, share, tolerance, way, patch, extra, least, most, encoding, device)
    return content_of(shown_of(opened(image, flag("copy", copy)), serving), serving)


def content_of(shown: Shown, serving: Serving) -> Pictures:
    parts: list[dict[str, Any]] = [{"type": "text", "text": shown.line}] if shown.line else []
    parts += [{"type": "image_url", "image_url": {"url": url_of(one, serving.encoding)}} for one in shown.pictures]
    return Pictures(parts, shown.report)


def shown_of(image: Any, serving: Serving) -> Shown:
    """Decides what a server is shown of an image of PIL in RGB."""
    began, rule = time.perf_counter(), serving.rule
    resample = _pillow().Resampling.LANCZOS
    long = max(image.size) > LONGEST * min(image.size)
    if long:  # the server would refuse it
        image = image.resize(tuple(serving.patch * side for side in rule.size(*image.size)), resample)
    columns, rows = rule.size(*image.size)
    (measured,), (chosen,), (among,) = decide([image], rule, _spending(serving, rule, image.size), resample, serving.device)
    seen = measured.shown(chosen)
    crops = measured.crops if chosen.way == "pictures" else ()
    line = line_of(measured.resized(measured.full).size, crops) if crops else ""
    candidates = [_with(one, serving.extra) for one in among]
    found = [(np.asarray(picture), kept) for picture, kept in seen]
    report = Report([_with(chosen, serving.extra)], [candidates], [columns * rows + serving.extra], 1000 * (time.perf_counter() - began),
                    seen=found)
    return Shown(line, [picture for picture, _ in seen], report, chosen.way == "full" and not long)


def _spending(serving: Serving, rule: Rule, size: tuple[int, int]) -> Spending:
    """What may be spent on the tokens of an image's pictures but for those around the first: a budget or a tolerance."""
    spending, full, least = serving.spending, math.prod(rule.size(*size)), math.prod(rule.size(*size, serving.least))
    if spending.share is not None:
        return dataclasses.replace(spending, share=None, budget=max(shared(spending.share, full), least))
    if spending.budget is None:
        return spending
    if spending.budget < least + serving.extra:
        raise ArgumentError(f"a budget of {spending.budget} tokens; the least picture of an image of {size[0]} x {size[1]} pixels takes "
                            f"{least + serving.extra}")
    return dataclasses.replace(spending, budget=spending.budget - serving.extra)


def _with(one: Candidate, extra: int) -> Candidate:
    """The candidate with the tokens around its first picture, too."""
    return dataclasses.replace(one, tokens=one.tokens + extra)


# ---- The line ----

def line_of(size: tuple[int, int], crops: Sequence[Crop]) -> str:
    """Says where crops of an image of that size lie. In percent, which takes the fewest digits."""
    def percent(value: int, whole: int, up: bool) -> int:
        return min(-(-100 * value // whole) if up else 100 * value // whole, 100)

    width, height = size
    boxes = [(percent(left, width, False), percent(top, height, False), percent(right, width, True), percent(bottom, height, True))
             for left, top, right, bottom in (crop.box for crop in crops)]
    where = "; ".join(" ".join(map(str, box)) for box in boxes)
    return f"The next {len(crops) + 1} pictures are one image: the whole, then parts in detail. Left, top, right, bottom of each part in %: {where}."


def tokens_of(line: str) -> int:
    """How many tokens a line takes: one for each word, digit and sign."""
    return len(re.findall(r"[A-Za-z]+|[^A-Za-z\s]", line))


# ---- Pictures in and out ----

def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise missing("pictures", "Pillow", "texturevlm[proxy]", error) from None


def opened(image: Any, copy: bool = False, pixels: int | None = None) -> Any:
    """An image of any form as an image of PIL in RGB. `pixels`: how many a file may have at most."""
    pillow = _pillow()
    if isinstance(image, (str, os.PathLike)):
        name = os.fsdecode(image)
        image = _file(_bytes_of(image, name), name, pixels)
    elif isinstance(image, (bytes, bytearray, memoryview)):
        image = _file(bytes(image), "an image in memory", pixels)
    elif callable(getattr(image, "read", None)) and not hasattr(image, "getbands"):
        image = _file(read_of(image)[0], "an open file", pixels)
    array = image_of(image, copy).array
    if array is None:
        raise ArgumentTypeError(f"an image is {short(image)}: it must be an array, a PIL image, a path, a file, its bytes, or a tensor")
    return pillow.fromarray(_rgb(array))


def _bytes_of(path: Any, name: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError if isinstance(error, OSError) else ArgumentError
        raise kind(f"{short(name)}: {getattr(error, 'strerror', None) or reason(error)}") from None


def _file(data: bytes, name: str, pixels: int | None) -> Any:
    """The image of PIL that is in a file, turned by its EXIF orientation."""
    try:
        image = _pillow().open(io.BytesIO(data), formats=READ)
    except Exception as error:  # each of PIL's formats raises its own kind
        large = type(error).__name__ == "DecompressionBombError"
        said = reason(error) if large else f"it is no picture of the formats {', '.join(READ)}"
        refused = ArgumentError(f"{name}: {said}")
        refused.status = "format"
        raise refused from None
    if pixels is not None and image.size[0] * image.size[1] > pixels:
        raise ArgumentError(f"{name}: {image.size[0]} x {image.size[1]} pixels are more than {pixels}")
    try:
        image.load()
    except MemoryError:
        raise
    except Exception as error:
        refused = ArgumentError(f"{name}: it cannot be read: {reason(error)}")
        refused.status = "format"
        raise refused from None
    try:
        return importlib.import_module("PIL.ImageOps").exif_transpose(image)
    except Exception:  # what EXIF says cannot be read: the picture is taken as it lies
        return image


def _rgb(array: Array) -> Array:
    """Pixels [height, width, 1 .. 4] as bytes of RGB, with alpha on white."""
    if array.dtype == np.uint16:
        array = ((array.astype(np.uint32) + 128) // 257).astype(np.uint8)
    elif array.dtype != np.uint8:
        array = np.rint(255 * np.clip(np.nan_to_num(array.astype(np.float32)), 0, 1)).astype(np.uint8)
    colours = array[:, :, :array.shape[2] - (array.shape[2] % 2 == 0)]
    if array.shape[2] % 2 == 0:
        alpha = array[:, :, -1:].astype(np.uint32)
        colours = ((colours * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(colours, (*array.shape[:2], 3)))


def url_of(picture: Any, encoding: str) -> str:
    """A picture of PIL as a data URL."""
    kind, data = encoded(picture, encoding)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def encoded(picture: Any, encoding: str) -> tuple[str, bytes]:
    """A picture of PIL as a file, and its kind."""
    png = b"" if encoding == "jpeg" else _saved(picture, format="PNG")
    if encoding == "png" or (encoding == "auto" and len(png) <= LARGE):
        return "png", png
    jpeg = _saved(picture, format="JPEG", quality=QUALITY, subsampling=0)
    return ("png", png) if encoding == "auto" and len(png) <= len(jpeg) else ("jpeg", jpeg)


def _saved(picture: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    try:
        picture.save(file, **options)
    except (OSError, ValueError) as error:
        raise Error(f"a picture of {picture.size[0]} x {picture.size[1]} pixels cannot be written: {reason(error)}") from None
    return file.getvalue()
