# SPDX-License-Identifier: Apache-2.0
"""Addresses of pictures in messages: which may be fetched, and how.

A message comes from anybody, and what is fetched for it is fetched from where this process stands. So nothing is, unless an address
begins with a prefix that was allowed. An address that two readers could take differently is refused.
"""
from __future__ import annotations

import asyncio
import dataclasses
import ipaddress
import re
import socket
import urllib.parse
from collections.abc import Sequence
from typing import Any

import aiohttp
import aiohttp.abc
import yarl

from .._arguments import reason, short
from .._core import ArgumentError

_PORTS = {"http": 80, "https": 443}
_ODD = re.compile(r"%(2e|2f|5c|0[0-9a-f]|1[0-9a-f]|7f)", re.IGNORECASE)  # dots, slashes and control characters in disguise
_V4_IN_V6 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))


@dataclasses.dataclass(frozen=True)
class Address:
    """An address of the web, taken apart. `path` has the query, too."""

    scheme: str
    host: str
    port: int
    path: str

    def begins_with(self, prefix: Address) -> bool:
        return (self.scheme, self.host, self.port) == (prefix.scheme, prefix.host, prefix.port) and self.path.startswith(prefix.path)


def address_of(text: str) -> Address:
    """Takes an address apart, if all readers take it for the same."""
    if not re.fullmatch(r"[!-~]+", text) or "\\" in text or "#" in text:
        raise ArgumentError("an address has a character that it must not have")
    try:
        parts, other = urllib.parse.urlsplit(text), yarl.URL(text, encoded=True)
        port, again = parts.port, other.port
    except ValueError as error:
        raise ArgumentError(f"an address cannot be read: {reason(error)}") from None
    if parts.scheme not in _PORTS:
        raise ArgumentError(f"an address begins with {short(parts.scheme)}: taken are http and https")
    if "@" in parts.netloc or "%" in parts.netloc or not parts.hostname:
        raise ArgumentError("an address has no plain host")
    port = _PORTS[parts.scheme] if port is None else port
    if (other.scheme, (other.host or "").lower(), again) != (parts.scheme, parts.hostname, port):
        raise ArgumentError("an address has no plain host")
    path = parts.path or "/"
    if _ODD.search(path) or any(part in (".", "..") for part in path.split("/")):
        raise ArgumentError("an address has a path that is not plain")
    return Address(parts.scheme, parts.hostname, port, path + (f"?{parts.query}" if parts.query else ""))


def prefix_of(text: str) -> Address:
    """A prefix of addresses. It ends with a slash, so that a folder does not stand for others whose names begin like its own."""
    try:
        found = address_of(text)
    except ArgumentError as error:
        raise ArgumentError(f"--allow-url {short(text)}: {error}") from None
    if "?" in text or not found.path.endswith("/"):
        raise ArgumentError(f"--allow-url {short(text)}: a prefix ends with a slash")
    return found


def check(text: str, prefixes: Sequence[Address]) -> None:
    """Refuses an address that does not begin with an allowed prefix."""
    if not prefixes:
        raise ArgumentError("a picture by its address is not fetched: send it as a data URL")
    found = address_of(text)
    if not any(found.begins_with(prefix) for prefix in prefixes):
        raise ArgumentError("a picture's address begins with none of the prefixes that are allowed")


def is_public(text: str) -> bool:
    """Whether an IP address is one of the internet, and not one of this machine or network, in any writing."""
    try:
        address: Any = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if address.version == 6:
        inner = [one for one in (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())) if one is not None]
        if any(address in network for network in _V4_IN_V6):
            inner.append(ipaddress.IPv4Address(int(address) & 0xffffffff))
        if any(not is_public(str(one)) for one in inner):
            return False
        address = address.ipv4_mapped or address
    return bool(address.is_global) and not address.is_multicast


class Resolver(aiohttp.abc.AbstractResolver):  # type: ignore[misc]
    """Finds the addresses of a name, of which only public ones are taken: whoever owns a name may let it stand for this machine.

    The connection goes to the address that was looked at. A prefix that says ``localhost``, or an IP address, means that.
    """

    def __init__(self) -> None:
        self._inner = aiohttp.ThreadedResolver()

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[Any]:
        found = await self._inner.resolve(host, port, family)
        kept = [one for one in found if host == "localhost" or is_public(one["host"])]
        if not kept:
            raise OSError("its host is none of the internet")
        return kept

    async def close(self) -> None:
        await self._inner.close()


def session(timeout: float) -> aiohttp.ClientSession:
    """What fetches pictures. It keeps no cookies, and tells nothing of the request that named the address."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=Resolver(), force_close=True), cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=timeout), auto_decompress=False, trust_env=False,
        headers={"Accept": "image/*", "Accept-Encoding": "identity", "User-Agent": "texturevlm"})


async def fetched(web: aiohttp.ClientSession, text: str, most: int) -> bytes:
    """The bytes behind an allowed address. Redirects are not followed: they could lead anywhere."""
    data = bytearray()
    try:
        async with web.get(yarl.URL(text, encoded=True), allow_redirects=False) as answer:
            if answer.status != 200:
                raise ArgumentError(f"a picture cannot be fetched: its server says {answer.status}")
            async for chunk in answer.content.iter_any():
                data += chunk
                if len(data) > most:
                    raise ArgumentError(f"a picture cannot be fetched: it has more than {most} bytes")
    except asyncio.TimeoutError:
        raise ArgumentError("a picture cannot be fetched in time") from None
    except (aiohttp.ClientError, OSError) as error:
        raise ArgumentError(f"a picture cannot be fetched: {type(error).__name__}") from None
    return bytes(data)
