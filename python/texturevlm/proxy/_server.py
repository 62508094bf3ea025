# SPDX-License-Identifier: Apache-2.0
"""The proxy: takes requests, hands them on with fewer tokens in their pictures, and hands the answers back as they come.

What it writes of a request is its method, path, status and counts: no header, no query, and nothing of the body.
"""
from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import sys
import time
import urllib.parse
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import multidict
import yarl
from aiohttp import web

from .._arguments import short
from .._core import ArgumentError, Error
from . import _addresses
from ._choose import Chooser, Chosen
from ._messages import EncodingError

# llama.cpp's server answers the second path as it does the first.
PATHS = ("/v1/chat/completions", "/chat/completions")
CONNECT = 10.0
"""The most seconds until a server takes a connection."""
HEADER = 1 << 16
"""The most bytes of a header, either way. Keys and policies may be long."""
# Headers that are about a connection, and not about what goes over it (RFC 9110, 7.6.1). Those of Connection are added.
_HOPS = {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
# What is not true any more of a body that has changed.
_OF_BODY = {"content-length", "content-encoding", "content-md5", "content-digest", "digest"}
_SILENT = logging.getLogger("texturevlm.proxy.http")
# aiohttp writes into its errors what it could not read of a request, which may be a key.
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class Refused(Exception):
    """An answer of the proxy itself: a status, and a line."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status

    def answer(self) -> web.Response:
        kind = "invalid_request_error" if self.status < 500 else "proxy_error"
        text = json.dumps({"error": {"message": str(self), "type": kind, "param": None, "code": self.status}})
        answer = web.Response(status=self.status, text=text, content_type="application/json")
        answer.force_close()  # there may be more of the request, which nobody reads
        return answer


def upstream_of(text: str) -> str:
    """The address of a server, without a slash at its end."""
    try:
        found = _addresses.address_of(text)
    except ArgumentError as error:
        raise ArgumentError(f"--upstream {short(text)}: {error}") from None
    if "?" in text:
        raise ArgumentError(f"--upstream {short(text)}: it has a query")
    if found.path.rstrip("/").endswith("/v1"):
        raise ArgumentError(f"--upstream {short(text)}: give it without /v1, which is in what is asked")
    return text.rstrip("/")


def headers_of(given: multidict.CIMultiDictProxy[str], without: set[str]) -> multidict.CIMultiDict[str]:
    """The headers that go on, each as often as it came."""
    named = {name.strip().lower() for value in given.getall("Connection", []) for name in value.split(",")}
    return multidict.CIMultiDict((name, value) for name, value in given.items() if name.lower() not in _HOPS | named | without)


@dataclasses.dataclass(frozen=True)
class Limits:
    """body: the most bytes of a request with messages. timeout: the most seconds of silence, or of choosing pictures."""

    body: int
    timeout: float


class Proxy:
    def __init__(self, upstream: str, chooser: Chooser, limits: Limits) -> None:
        self._upstream, self._chooser, self._limits = upstream, chooser, limits
        self._server: aiohttp.ClientSession | None = None
        self._runner: web.ServerRunner | None = None

    async def start(self, host: str, port: int) -> int:
        """Begins to listen, and says at which port."""
        # A connection that is kept may be closed by the server just when a request goes out on it, which would fail for nothing.
        self._server = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True), cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT, self._limits.timeout), sock_read=self._limits.timeout),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"), max_line_size=HEADER, max_field_size=HEADER)
        await self._chooser.start()
        server = web.Server(self._handle, handler_cancellation=True, auto_decompress=False, access_log=None, logger=_SILENT,
                            lingering_time=2.0, max_line_size=HEADER, max_field_size=HEADER)
        self._runner = web.ServerRunner(server, shutdown_timeout=2.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        return int(self._runner.addresses[0][1])

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        await self._chooser.close()
        if self._server is not None:
            await self._server.close()

    @property
    def choosing(self) -> bool:
        """Whether a picture is being chosen, which nothing can stop."""
        return self._chooser.running > 0

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        began, said = time.perf_counter(), ""
        path = request.raw_path.partition("?")[0]
        status: Any = "the client is gone"
        try:
            if not path.startswith("/"):
                raise Refused(400, "what is asked for does not begin with a slash")
            body: Any = request.content if request.can_read_body else None
            headers = headers_of(request.headers, {"host", "expect"})
            if request.method == "POST" and urllib.parse.unquote(path) in PATHS:
                body, headers, chosen = await self._with_pictures(request, headers)
                said = _said(chosen)
            else:
                await _welcome(request)
            answer = await self._forward(request, headers, body)
            status = answer.status
            return answer
        except Refused as refused:
            status = refused.status
            return refused.answer()
        except Exception as error:  # a defect of the proxy; what it says of itself may have something of the request
            status = f"500 {type(error).__name__}"
            return Refused(500, f"the proxy failed: {type(error).__name__}").answer()
        finally:
            _log(f"{ascii(request.method)[1:-1][:20]} {ascii(path)[1:-1][:80]} {status}{said}, {1000 * (time.perf_counter() - began):.0f} ms")

    # ---- In ----

    async def _with_pictures(self, request: web.BaseRequest, headers: Any) -> tuple[bytes, Any, list[Chosen]]:
        """The body with fewer tokens in its pictures, and the headers for it."""
        if (request.content_length or 0) > self._limits.body:
            raise Refused(413, f"the body has more than {self._limits.body} bytes")
        await _welcome(request)
        body = await self._in_time(self._body(request), 408, "the body did not come in time")
        try:
            plain = await self._chooser.inflated(body, request.headers.get("Content-Encoding", ""))
            if plain is None:
                raise Refused(413, f"the body has more than {self._limits.body} bytes")
            found, chosen = await self._in_time(self._chooser.replaced(plain), 503, "the pictures were not chosen in time")
        except EncodingError as error:
            raise Refused(415, str(error)) from None
        except ArgumentError as error:
            raise Refused(400, str(error)) from None
        except Error as error:
            raise Refused(503, str(error)) from None
        if found is None:
            return body, headers, chosen
        headers = multidict.CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _OF_BODY)
        headers["Content-Length"] = str(len(found))
        return found, headers, chosen

    async def _in_time(self, awaited: Any, status: int, line: str) -> Any:
        try:
            return await asyncio.wait_for(awaited, self._limits.timeout)
        except asyncio.TimeoutError:
            raise Refused(status, line) from None

    async def _body(self, request: web.BaseRequest) -> bytes:
        most = self._limits.body
        found = bytearray()
        async for chunk in request.content.iter_any():
            found += chunk
            if len(found) > most:
                raise Refused(413, f"the body has more than {most} bytes")
        return bytes(found)

    # ---- Out ----

    async def _forward(self, request: web.BaseRequest, headers: Any, body: Any) -> web.StreamResponse:
        assert self._server is not None
        url = yarl.URL(self._upstream + request.raw_path, encoded=True)
        data = body if body is None or isinstance(body, bytes) else _streamed(body)
        answer: web.StreamResponse | None = None
        try:
            async with self._server.request(request.method, url, headers=headers, data=data, allow_redirects=False) as found:
                answer = web.StreamResponse(status=found.status, reason=found.reason, headers=headers_of(found.headers, set()))
                await answer.prepare(request)
                async for chunk in found.content.iter_any():
                    await answer.write(chunk)
                await answer.write_eof()
                return answer
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            if answer is not None and answer.prepared:
                if request.transport is not None:
                    request.transport.abort()  # the client sees that the answer is not whole
                return answer
            if isinstance(error, asyncio.TimeoutError):
                raise Refused(504, "the server does not answer in time") from None
            raise Refused(502, f"the server cannot be asked: {type(error).__name__}") from None


async def _welcome(request: web.BaseRequest) -> None:
    """Tells a client that waits before it sends the body to send it."""
    if request.headers.get("Expect", "").lower() == "100-continue" and request.version >= aiohttp.HttpVersion11:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer has not begun by that


async def _streamed(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    async for chunk in content.iter_any():
        yield chunk


def _said(chosen: list[Chosen]) -> str:
    if not chosen:
        return ""
    return f", pictures: {len(chosen)}, tokens: {sum(one.tokens for one in chosen)} of {sum(one.full for one in chosen)}"


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
