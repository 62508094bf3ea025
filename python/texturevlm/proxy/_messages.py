# SPDX-License-Identifier: Apache-2.0
"""The body of a request to ``/v1/chat/completions``: the pictures in it, and what takes their places."""
from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import math
import re
import urllib.parse
import zlib
from collections.abc import Iterator
from typing import Any

from .._arguments import reason, short
from .._core import ArgumentError

PICTURES = 256
"""The most pictures of a request."""
MEMBERS = 100
"""The most members of a gzip: each takes the time of copying what is behind it."""


class EncodingError(ArgumentError):
    """A body has an encoding that is not known."""


@dataclasses.dataclass(frozen=True)
class Place:
    """A picture of a request: where it stands, its part, and its URL. `low`: the client asks for little of it."""

    message: int
    number: int
    part: dict[str, Any]
    url: str

    @property
    def name(self) -> str:
        return f"messages[{self.message}].content[{self.number}]"

    @property
    def low(self) -> bool:
        given = self.part["image_url"]
        return isinstance(given, dict) and given.get("detail") == "low"

    def with_url(self, url: str) -> dict[str, Any]:
        """The part with another picture, and all else that it says."""
        given = self.part["image_url"]
        return {**self.part, "image_url": {**given, "url": url} if isinstance(given, dict) else url}


# ---- In ----

def inflated(body: bytes, encoding: str, most: int) -> bytes | None:
    """A body without its compression; None: it becomes longer than allowed."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return body
    if name not in ("gzip", "x-gzip", "deflate"):
        raise EncodingError(f"the body's encoding is {short(name)}: taken are gzip and deflate")
    found, rest, members = bytearray(), body, 0
    try:
        while rest:  # a gzip may have several members
            members += 1
            if members > MEMBERS:
                raise ArgumentError(f"the body cannot be read: its {name} has more than {MEMBERS} members")
            member = zlib.decompressobj(47 if name != "deflate" or rest[:1] == b"\x78" else -15)
            found += member.decompress(rest, most + 1 - len(found))
            if len(found) > most:
                return None
            if not member.eof:
                raise ArgumentError(f"the body cannot be read: its {name} ends too early")
            rest = member.unused_data
    except zlib.error as error:
        raise ArgumentError(f"the body cannot be read: it is no {name}: {reason(error)}") from None
    return bytes(found)


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def _number(word: str) -> float:
    found = float(word)
    if math.isinf(found):
        raise ValueError(f"{word[:40]} is too large a number")
    return found


def read(body: bytes) -> Any:
    """The document of a body."""
    try:
        return json.loads(body, parse_constant=_constant, parse_float=_number)
    except RecursionError:
        raise ArgumentError("the body is no JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ArgumentError(f"the body is no JSON: {reason(error)}") from None


def places_of(document: Any) -> list[Place]:
    """The pictures of a request. What is not of OpenAI's form is left to the server, which knows better what to say of it."""
    found = list(_places(document))
    if len(found) > PICTURES:
        raise ArgumentError(f"the messages have {len(found)} pictures, at most {PICTURES}")
    return found


def _places(document: Any) -> Iterator[Place]:
    messages = document.get("messages") if isinstance(document, dict) else None
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        for place, part in enumerate(content if isinstance(content, list) else ()):
            given = part.get("image_url") if isinstance(part, dict) and part.get("type") == "image_url" else None
            url = given.get("url") if isinstance(given, dict) else given
            if isinstance(url, str):
                yield Place(number, place, part, url)


def is_data(url: str) -> bool:
    return url[:5].lower() == "data:"


def data_of(url: str) -> bytes:
    """The bytes of a data URL."""
    head, comma, text = url.partition(",")
    if not comma:
        raise ArgumentError("a data URL has no comma")
    if not head.lower().endswith(";base64"):
        return urllib.parse.unquote_to_bytes(text)
    text = re.sub(r"\s+", "", urllib.parse.unquote(text) if "%" in text else text).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ArgumentError("a data URL is no base64") from None


# ---- Out ----

def written(document: Any, instead: dict[tuple[int, int], list[dict[str, Any]]]) -> bytes:
    """The body of a document in which some parts, by message and number, are others."""
    messages = list(document["messages"])
    for number in {message for message, _ in instead}:
        parts: list[Any] = []
        for place, part in enumerate(messages[number]["content"]):
            parts += instead.get((number, place), [part])
        messages[number] = {**messages[number], "content": parts}
    return json.dumps({**document, "messages": messages}, separators=(",", ":"), allow_nan=False).encode()
