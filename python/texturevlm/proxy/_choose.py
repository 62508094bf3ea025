# SPDX-License-Identifier: Apache-2.0
"""The pictures of a request, chosen by threads beside the event loop."""
from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import dataclasses
import hashlib
import threading
from collections.abc import Sequence
from typing import Any, Callable, TypeVar

import aiohttp

from .._core import ArgumentError, Error
from .._pictures import Serving, opened, shown_of, url_of
from . import _addresses, _messages

Made = TypeVar("Made")


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What takes the place of a picture.

    line: the line of text before several pictures, or nothing.
    urls: data URLs of the pictures. None: the picture stays as it is.
    tokens, full: how many tokens these take, and the picture as it came.
    """

    line: str
    urls: tuple[str, ...] | None
    tokens: int
    full: int

    @property
    def bytes(self) -> int:
        return 200 + len(self.line) + sum(map(len, self.urls or ()))


class Kept:
    """What was chosen for the newest pictures: a chat sends its pictures again with each question."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes, self._lock = most, 0, threading.Lock()
        self._found: collections.OrderedDict[bytes, Chosen] = collections.OrderedDict()

    def get(self, key: bytes) -> Chosen | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: bytes, chosen: Chosen) -> None:
        if chosen.bytes > self._most:
            return  # it would empty the rest, and go then itself
        with self._lock:
            if key not in self._found:
                self._found[key] = chosen
                self._bytes += chosen.bytes
            while self._bytes > self._most:
                self._bytes -= self._found.popitem(last=False)[1].bytes


class Chooser:
    """Chooses pictures in so many threads. Each picture has a stack of its own, and the device lets one thread in at a time."""

    def __init__(self, serving: Serving, prefixes: Sequence[_addresses.Address], *, pixels: int, body: int, timeout: float, jobs: int,
                 kept: int) -> None:
        self._serving = serving
        self._low = dataclasses.replace(serving, spending=dataclasses.replace(serving.spending, way="smaller"))
        self._prefixes, self._pixels, self._body, self._timeout = prefixes, pixels, body, timeout
        self._threads = concurrent.futures.ThreadPoolExecutor(jobs, thread_name_prefix="pictures")
        self._kept, self._lock = Kept(kept), threading.Lock()
        self.running = 0  # how many threads are choosing
        self._web: aiohttp.ClientSession | None = None
        self._jobs = jobs
        self._fetching: asyncio.Semaphore | None = None  # made in the loop that it is for

    async def start(self) -> None:
        self._fetching = asyncio.Semaphore(2 * self._jobs)
        self._web = _addresses.session(self._timeout)

    async def close(self) -> None:
        if self._web is not None:
            await self._web.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, function: Callable[..., Made], *arguments: Any) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._counted, function, *arguments)

    def _counted(self, function: Callable[..., Made], *arguments: Any) -> Made:
        with self._lock:
            self.running += 1
        try:
            return function(*arguments)
        finally:
            with self._lock:
                self.running -= 1

    async def inflated(self, body: bytes, encoding: str) -> bytes | None:
        return await self._run(_messages.inflated, body, encoding, self._body)

    async def replaced(self, body: bytes) -> tuple[bytes | None, list[Chosen]]:
        """The body with other pictures, and what was chosen. None: all that it has stays as it is."""
        document, places = await self._run(_read, body)
        if not places:
            return None, []
        tasks = [asyncio.ensure_future(self._chosen(place)) for place in places]
        try:
            chosen = await asyncio.gather(*tasks)
        finally:
            for task in tasks:  # one has failed, or the client is gone: the others are for nothing
                task.cancel()
        instead = {(place.message, place.number): _parts(place, one) for place, one in zip(places, chosen) if one.urls is not None}
        return (await self._run(_messages.written, document, instead) if instead else None), list(chosen)

    async def _chosen(self, place: _messages.Place) -> Chosen:
        try:
            if _messages.is_data(place.url):
                return await self._run(self._choose, place.url, place.low)
            _addresses.check(place.url, self._prefixes)
            assert self._web is not None and self._fetching is not None
            async with self._fetching:  # so that no more pictures wait in memory than threads can soon take
                return await self._run(self._choose, await _addresses.fetched(self._web, place.url, self._body), place.low)
        except ArgumentError as error:
            raise ArgumentError(f"{place.name}: {error}") from None

    def _choose(self, source: str | bytes, low: bool) -> Chosen:
        """What becomes of a data URL, or of the bytes of a picture that was fetched."""
        data = _messages.data_of(source) if isinstance(source, str) else source
        fetched = not isinstance(source, str)
        key = hashlib.sha256(bytes([low, fetched]) + data).digest()
        found = self._kept.get(key)
        if found is None:
            found = self._made(data, self._low if low else self._serving, fetched)
            self._kept.put(key, found)
        return found

    def _made(self, data: bytes, serving: Serving, fetched: bool) -> Chosen:
        try:
            shown = shown_of(opened(data, pixels=self._pixels), serving)
            tokens, full = shown.report.tokens, sum(shown.report.full)
            if shown.same and not fetched:  # of what was fetched the server gets what was looked at, and not what is there later
                return Chosen("", None, tokens, full)
            return Chosen(shown.line, tuple(url_of(picture, serving.encoding) for picture in shown.pictures), tokens, full)
        except MemoryError:
            raise Error("there is no memory for a picture") from None


def _read(body: bytes) -> tuple[Any, list[_messages.Place]]:
    document = _messages.read(body)
    return document, _messages.places_of(document)


def _parts(place: _messages.Place, chosen: Chosen) -> list[dict[str, Any]]:
    line = [{"type": "text", "text": chosen.line}] if chosen.line else []
    return [*line, *(place.with_url(url) for url in chosen.urls or ())]
