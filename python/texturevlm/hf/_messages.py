# SPDX-License-Identifier: Apache-2.0
"""Turns messages of a chat, in all forms that the documents of transformers show, into a batch of the model's own processor.

Each picture is loaded first, by the processor's own loader, so that an error names a broken picture before anything is computed.
The rest is done by the processor's `apply_chat_template`. Before transformers 4.57 that method makes only text; there the
processor itself is called with the text.
"""
from __future__ import annotations

import base64
import binascii
import contextlib
import copy
import os
import threading
import urllib.parse
import urllib.request
import weakref
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

import numpy as np
import transformers

from .._arguments import short
from .._core import ArgumentError, ArgumentTypeError, Error, FileError, MissingFileError, logger, warn
from ._families import at_least
from ._processors import BEYOND, VALUES

# The names by which a part of a message may give its picture or video, as in transformers.
_SOURCES = {"image": ("image", "url", "path", "base64"), "video": ("video", "url", "path")}
_WEB = ("requests", "urllib3", "httpx", "httpx2", "httpcore", "httpcore2", "http", "ssl", "socket")


class Loaded:
    """Conversations whose pictures are loaded.

    conversations: lists of messages, whose content is a list of parts.
    batched: whether a list of conversations was given.
    counts: how many images and videos there are.
    skipped: by their number over all messages, the images that cannot be loaded, with their errors. They are in no conversation.
    numbers: the numbers of the images that are there.
    rows: the numbers of the conversations that are there. One that has lost all of its pictures is not: its question would be
        answered without them.

    skip: whether images that cannot be loaded are left out. If no conversation is left, the error of the first image is raised.
    """

    def __init__(self, processor: Any, messages: Any, question: str | None, skip: bool = False) -> None:
        conversations, self.batched = conversations_of(messages, question)
        self.counts = {"image": 0, "video": 0}
        self.skipped: dict[int, Error] = {}
        self.conversations, self.rows = [], []
        self.lost: dict[int, Error] = {}  # by the number of a conversation that is not there, the error of its first image
        for row, conversation in enumerate(conversations):
            first = self.counts["image"]
            loaded = [_loaded(message, processor, self.counts, self.skipped if skip else None) for message in conversation]
            if first in self.skipped and not any(part["type"] in _SOURCES for message in loaded for part in message["content"]):
                self.lost[row] = self.skipped[first]
            else:
                self.conversations.append(loaded)
                self.rows.append(row)
        if not self.rows:
            raise self.lost[0]
        for error in self.skipped.values():
            logger.warning("%s", error)
        self.numbers = [number for number in range(self.counts["image"]) if number not in self.skipped]
        self.counts["image"] = len(self.numbers)

    def check_rows(self) -> None:
        """Refuses conversations that have lost all of their pictures."""
        for row, error in self.lost.items():
            raise ArgumentError(f"conversation {row} has lost all of its pictures ({error}): generate gives a row for each conversation; "
                                "prune(...).conversations says which are left")

    def left(self, name: str, entries: Any, each: int) -> Any:
        """The entries of a list that belong to the images that are there. each: how many entries an image may have beside one."""
        if not self.skipped or not isinstance(entries, (list, tuple)):
            return entries
        count = len(self.numbers) + len(self.skipped)
        if len(entries) not in (count, each * count):
            raise ArgumentError(f"there are {count} images, of which {len(self.skipped)} are left out: {name} must be a list of as many entries, "
                                f"it has {len(entries)}")
        of_one = len(entries) // count
        return [entry for number in self.numbers for entry in entries[number * of_one:(number + 1) * of_one]]

    def replace(self, conversation: int, images: list[list[Any]]) -> None:
        """Puts one or several pictures in the place of each image of a conversation."""
        rest = iter(images)
        for message in self.conversations[conversation]:
            message["content"] = [part for old in message["content"] for part in
                                  ([{**old, "image": picture} for picture in next(rest)] if old["type"] == "image" else [old])]

    def images(self) -> list[list[dict[str, Any]]]:
        """For each conversation the parts that are images, each with its ``"image"``."""
        return [[part for message in conversation for part in message["content"] if part["type"] == "image"]
                for conversation in self.conversations]

    def has_text(self) -> bool:
        """Whether any message of a user has words."""
        return any(part["type"] == "text" and part["text"].strip() for conversation in self.conversations for message in conversation
                   if message["role"] == "user" for part in message["content"])


def batch_of(processor: Any, messages: Any, question: str | None, options: Mapping[str, Any]) -> Any:
    """The processor's batch of conversations, or of images and a question. All rows are padded on the left."""
    _check_options(options)
    return made_of(processor, Loaded(processor, messages, question), options)


def made_of(processor: Any, given: Loaded, options: Mapping[str, Any]) -> Any:
    """The processor's batch of conversations that are loaded."""
    _check_options(options)
    loaded, batched, counts = given.conversations, given.batched, given.counts
    try:
        if _template_of(processor) is None:
            made = _without_template(processor, loaded, options)
        elif _whole():
            made = _by_template(processor, loaded if batched else loaded[0], options)
        else:
            made = _by_text(processor, loaded, options)
    except Error:
        raise
    except Exception as error:  # transformers raises errors of many classes
        _name_the_broken_video(processor, loaded)
        raise ArgumentError(f"the processor, a {type(processor).__name__}, does not take the messages: {_line(error)}") from error
    for kind in ("image", "video"):
        if counts[kind] and not any(name.startswith("pixel_values") for name in made):
            raise ArgumentError(f"the processor, a {type(processor).__name__}, made nothing of the {kind}s in the messages")
    return made


def _check_options(options: Mapping[str, Any]) -> None:
    for at in (options, options.get("processor_kwargs")):
        for name in ("processor_kwargs", "images_kwargs", "videos_kwargs", "text_kwargs"):
            if isinstance(at, Mapping) and at.get(name) is not None and not isinstance(at[name], Mapping):
                raise ArgumentTypeError(f"{name} is {short(at[name])}, not a dict of options")
    given = {**options, **(options.get("processor_kwargs") or {})}
    given.update({name: value for kind in ("images_kwargs", "videos_kwargs") for name, value in (given.get(kind) or {}).items()})
    for name in (*VALUES, "padding_side", "return_tensors", "return_dict", "tokenize"):
        if name in given:
            raise ArgumentError(f"{name} is not for a call: " + ("set it on the processor, of which the choice reads it"
                                                                 if name in VALUES else "batches are tensors, padded on the left"))


# ---- Conversations ----

def conversations_of(messages: Any, question: str | None) -> tuple[list[list[Any]], bool]:
    """A list of conversations, each a list of messages, from any of the forms; and whether a list of conversations was given."""
    if isinstance(messages, Mapping):
        messages = [messages]
    items = list(messages) if isinstance(messages, (list, tuple)) else [messages]
    if not items:
        raise ArgumentError("there are no messages")
    if question is not None and not isinstance(question, str):
        raise ArgumentTypeError(f"question is {short(question)}, not a text")
    chat = all(isinstance(item, Mapping) for item in items)
    several = all(isinstance(item, (list, tuple)) and item and all(isinstance(part, Mapping) for part in item) for item in items)
    if chat or several:
        if question is not None:
            raise ArgumentError("a question is for images; messages have their text already")
        return ([list(item) for item in items], True) if several else ([items], False)
    content = [{"type": "image", "image": image} for image in items]
    if question is not None:
        content.append({"type": "text", "text": question})
    return [[{"role": "user", "content": content}]], False


def _loaded(message: Mapping[str, Any], processor: Any, counts: dict[str, int], skipped: dict[int, Error] | None) -> dict[str, Any]:
    """The message with its content as a list of parts, in which pictures are loaded. Adds to `counts` the pictures and videos.

    Images that cannot be loaded are left out, and added to `skipped`. None: they raise their errors.
    """
    if not isinstance(message.get("role"), str):
        raise ArgumentError(f"a message has no role: {short(dict(message))[:60]}")
    content = message.get("content")
    if content is None:
        content = []
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, (list, tuple)):
        raise ArgumentTypeError(f"the content of a message is {short(content)[:60]}, neither a text nor a list of parts")
    parts = []
    for part in content:
        number = counts["image"]
        try:
            parts.append(_part(part, processor, counts))
        except Error as error:
            if skipped is None or counts["image"] == number:  # not of an image
                raise
            skipped[number] = error.with_traceback(None)  # a traceback would keep the image alive
    return {**message, "content": parts}


def _part(part: Any, processor: Any, counts: dict[str, int]) -> dict[str, Any]:
    if isinstance(part, str):
        part = {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        raise ArgumentTypeError(f"a part of a message is {short(part)[:60]}, neither a text nor a mapping with a type")
    found: dict[str, Any] = {name: value for name, value in part.items() if value is not None}  # data sets fill up with None
    kind = found.get("type")
    if kind == "image_url":  # OpenAI's form
        given = found.pop("image_url", None)
        found.update(type="image", url=given.get("url") if isinstance(given, Mapping) else given)
        kind = "image"
    if kind == "text":
        if not isinstance(found.get("text"), str):
            raise ArgumentTypeError(f"a part of the type text has {short(found.get('text'))[:60]}, not a text")
        return found
    if kind not in _SOURCES:
        raise ArgumentError(f"a part of a message is of the type {short(kind)[:60]}; taken are text, image, image_url, video")
    where = f"{kind} {counts[kind]}"
    counts[kind] += 1
    named = [name for name in _SOURCES[kind] if found.get(name) is not None]
    if len(named) != 1:
        raise ArgumentError(f"{where} has {'none' if not named else 'several'} of {', '.join(_SOURCES[kind])}; it must have one of them")
    source = found.pop(named[0])
    if kind == "image":
        return {**found, "image": _image(processor, source, where, named[0])}
    if getattr(processor, "video_processor", None) is None and _whole():
        raise ArgumentError(f"{where}: the processor, a {type(processor).__name__}, takes no videos")
    if isinstance(source, (str, os.PathLike)):
        source = _file(source, f"{where}, {_shown(source)}")
    return {**found, "video": source}


# ---- Pictures ----

def _image(processor: Any, source: Any, where: str, name: str) -> Any:
    """Loads a picture as the processor loads it."""
    images = getattr(processor, "image_processor", None) or processor
    fetch = getattr(images, "fetch_images", None) or transformers.image_utils.load_image
    if isinstance(source, (str, os.PathLike)):
        shown = f"{where}, {_shown(source)}"
        source = _address(source, name, shown)
    else:
        shown = where
        if not transformers.image_utils.is_valid_image(source):
            raise ArgumentTypeError(f"{where} is {short(source)[:80]}, not a picture, a path, a URL, or base64")
        if not hasattr(source, "convert") and getattr(images, "do_rescale", None) is not False:
            _check_values(source, where)
    try:
        if hasattr(source, "load"):
            source.load()  # an image of PIL reads its file now
            return source
        return fetch(source) if isinstance(source, str) else source
    except MemoryError:
        raise
    except Exception as error:  # from PIL, torchvision, torchcodec, requests or httpx
        if type(error).__module__.split(".")[0] in _WEB or isinstance(error, (ConnectionError, TimeoutError)):
            raise FileError(f"{shown} cannot be fetched: {_line(error)}") from error
        if isinstance(error, PermissionError):
            raise FileError(f"{shown} cannot be read: {_line(error)}") from error
        refused = ArgumentError(f"{shown} cannot be read as a picture: {_line(error)}")
        refused.status = "format"
        raise refused from error


def _check_values(source: Any, where: str) -> None:
    """Refuses an array or tensor whose values are not those of bytes, by which the processor takes them."""
    if not source.size if isinstance(source, np.ndarray) else not source.numel():
        return  # the processor refuses it
    low, high = float(source.min()), float(source.max())
    if not (low >= -255 * BEYOND and high <= 255 + 255 * BEYOND):
        raise ArgumentError(f"{where} has values {low:.4g} .. {high:.4g}; the processor takes 0 .. 255")
    if 0 < high <= 1 and str(source.dtype).rpartition(".")[2].startswith("float"):
        warn(f"{where} has floats up to {high:.3g}, which the processor takes for 0 .. 255: it is nearly black. Its do_rescale=False takes 0 .. 1")


def _address(source: str | os.PathLike[str], name: str, shown: str) -> str:
    """The source in a form that the loaders of transformers take: a URL of the web, the path of an existing file, or base64."""
    text = os.fspath(source)
    if not isinstance(text, str):
        raise ArgumentTypeError(f"{shown} is no text")
    if name != "base64":
        if text.startswith(("http://", "https://")):
            return text
        if not text.startswith("data:"):
            if isinstance(source, os.PathLike) or name == "path" or text.startswith("file://") or not _is_base64(text):
                return _file(source, shown)
            return text
    data = text.partition(",")[2] if text.startswith("data:") else text
    if not _is_base64(data):
        refused = ArgumentError(f"{shown} is no base64 of a picture")
        refused.status = "format"
        raise refused
    return data


def _file(source: str | os.PathLike[str], shown: str) -> str:
    """The path of an existing file, or a URL of the web."""
    path = os.fspath(source)
    if path.startswith(("http://", "https://")):
        return path
    if path.startswith("file://"):
        path = urllib.request.url2pathname(urllib.parse.urlparse(path).path)
    if os.path.isdir(path):
        raise FileError(f"{shown} is a folder")
    if not os.path.isfile(path):
        raise MissingFileError(f"{shown}: there is no such file")
    return path


def _shown(source: str | os.PathLike[str]) -> str:
    """A source as the text of an error names it: paths in full, long texts such as base64 by their beginning."""
    text = ascii(str(os.fspath(source)))
    return text if len(text) <= 200 else f"{text[:40]}...'"


def _is_base64(text: str) -> bool:
    """Whether the text is base64 of at least 24 bytes. A path with a dot never is, and a path without one only rarely."""
    if os.path.isfile(text):
        return False
    try:
        return len(base64.b64decode("".join(text.split()), validate=True)) >= 24
    except (binascii.Error, ValueError):
        return False


def _name_the_broken_video(processor: Any, conversations: list[list[dict[str, Any]]]) -> None:
    """After an error of the processor: raises an error for the first video that cannot be loaded, if there is one."""
    fetch = getattr(getattr(processor, "video_processor", None), "fetch_videos", None)
    videos = [part["video"] for conversation in conversations for message in conversation for part in message["content"]
              if part.get("type") == "video"]
    for number, video in enumerate(videos):
        if fetch is None or not isinstance(video, str):
            continue
        try:
            fetch(video)
        except Exception as error:  # from any decoder of videos
            web = type(error).__module__.split(".")[0] in _WEB or isinstance(error, (ConnectionError, TimeoutError))
            kind = FileError if web else ArgumentError
            raise kind(f"video {number}, {_shown(video)}, cannot be loaded: {_line(error)}") from error


def _line(error: Exception) -> str:
    """The first line of an error's text."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:240]


# ---- The processor ----

def _whole() -> bool:
    """Whether apply_chat_template makes the whole batch. It does so from transformers 4.57 on."""
    return at_least(4, 57)


def _template_of(processor: Any) -> Any:
    tokenizer = getattr(processor, "tokenizer", None)
    if not hasattr(processor, "apply_chat_template"):
        return None
    if not hasattr(processor, "chat_template"):
        return True  # a processor of another make: the method alone says that it has a template
    return processor.chat_template or (None if _whole() else getattr(tokenizer, "chat_template", None))


def _by_template(processor: Any, conversations: Any, options: Mapping[str, Any]) -> Any:
    given: dict[str, Any] = {"add_generation_prompt": not options.get("continue_final_message"), **options}
    several = isinstance(conversations[0], list)
    with _padding(processor, len(conversations) if several else 1) as (made_by, padding):
        if at_least(5, 0):
            given["processor_kwargs"] = {**padding, **(options.get("processor_kwargs") or {})}
        else:
            given = {**padding, **given}
        return made_by.apply_chat_template(conversations, tokenize=True, return_dict=True, return_tensors="pt", **given)


_padded: weakref.WeakKeyDictionary[Any, tuple[threading.Lock, Any]] = weakref.WeakKeyDictionary()  # by the tokenizer, our own copy of it
_padded_lock = threading.Lock()


@contextlib.contextmanager
def _padding(processor: Any, rows: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The processor that makes so many rows, and how it pads them.

    A fast tokenizer notes on itself how it pads: a call that pads beside one that does not, of another thread, breaks both. One row
    needs no padding. Several are padded by a copy of the tokenizer, in one thread at a time.
    """
    tokenizer = getattr(processor, "tokenizer", None)
    if rows == 1 or tokenizer is None:
        yield processor, {}
        return
    with _padded_lock:
        lock, own = _padded.get(tokenizer) or (threading.Lock(), None)
        if own is None or len(own) != len(tokenizer):  # words may have been added
            own = copy.deepcopy(tokenizer)
        _padded[tokenizer] = (lock, own)
    made_by = copy.copy(processor)
    made_by.tokenizer = own
    with lock:
        yield made_by, {"padding": True, "padding_side": "left"}


def for_processor(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a processor's own call as options of `batch_of`."""
    return {"processor_kwargs": dict(options)} if options and at_least(5, 0) else dict(options)


def _pictures(conversations: list[list[dict[str, Any]]], kind: str) -> list[Any]:
    return [part[kind] for conversation in conversations for message in conversation for part in message["content"]
            if part.get("type") == kind]


def _by_text(processor: Any, conversations: list[list[dict[str, Any]]], options: Mapping[str, Any]) -> Any:
    given: dict[str, Any] = {"add_generation_prompt": True, **options}
    texts = [processor.apply_chat_template(conversation, tokenize=False, **given) for conversation in conversations]
    images, videos = (_pictures(conversations, kind) or None for kind in ("image", "video"))
    found = {} if videos is None else {"videos": videos}
    with _padding(processor, len(texts)) as (made_by, padding):
        return made_by(text=texts, images=images, return_tensors="pt", **padding, **found)


def _without_template(processor: Any, conversations: list[list[dict[str, Any]]], options: Mapping[str, Any]) -> Any:
    """The batch of a processor without a template: it is called with text that has the image token for each image."""
    if any(len(conversation) != 1 for conversation in conversations) or _pictures(conversations, "video"):
        raise ArgumentError(f"the processor, a {type(processor).__name__}, has no chat template: give one message of images and text each")
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None:
        if any(part.get("text") for conversation in conversations for part in conversation[0]["content"]):
            raise ArgumentError(f"the processor, a {type(processor).__name__}, has no tokenizer: it takes images without text")
        return processor(images=_pictures(conversations, "image"), return_tensors="pt", **options)
    # An encoder's tokenizer, such as CLIP's, has no token for images: the name of one would become words.
    token = str(getattr(processor, "image_token", None) or ("<image>" if "<image>" in tokenizer.get_vocab() else ""))
    texts = ["".join(token if part["type"] == "image" else part["text"] for part in conversation[0]["content"])
             for conversation in conversations]
    images = [_pictures([conversation], "image") for conversation in conversations]
    with _padding(processor, len(texts)) as (made_by, padding):
        return made_by(text=texts, images=images if any(images) else None, return_tensors="pt", **padding, **options)
