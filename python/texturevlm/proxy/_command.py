# SPDX-License-Identifier: Apache-2.0
"""python -m texturevlm.proxy: the pictures in messages reach a server that speaks OpenAI's interface with fewer tokens.

The exit status is 0 after SIGINT or SIGTERM, 1 if it cannot begin, and 2 for a wrong argument.
"""
from __future__ import annotations

import argparse
import asyncio
import math
import os
import signal
import sys
import warnings
from collections.abc import Sequence

import PIL.Image

from .._arguments import integer, reason
from .._core import ArgumentError, Error
from .._device import Device
from .._pictures import ENCODINGS, WAYS, Serving, serving_of
from ._addresses import Address, address_of, prefix_of
from ._choose import Chooser
from ._server import Limits, Proxy, upstream_of

_MIB = 1 << 20


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m texturevlm.proxy", description=(__doc__ or "").split("\n\n")[0], allow_abbrev=False,
                                     epilog="Manual: doc/server.md.")
    parser.add_argument("--upstream", required=True, metavar="URL", help="the server, without /v1: http://127.0.0.1:8080")
    parser.add_argument("--budget", type=int, metavar="N", help="the most tokens of each picture")
    parser.add_argument("--share", type=float, metavar="S", help="the share of each picture's tokens, above 0 and at most 1")
    parser.add_argument("--tolerance", metavar="T", help="as few tokens of each picture as lose at most this, 0 .. 1; auto (the default): can be read")
    parser.add_argument("--way", choices=WAYS, help="one smaller picture, or several (auto: the better one)")
    parser.add_argument("--patch", type=int, default=28, metavar="N", help="the side of a token in pixels (28; 32 for Qwen3-VL)")
    parser.add_argument("--extra", type=int, default=2, metavar="N", help="tokens of the prompt around each picture (2)")
    parser.add_argument("--least", type=int, default=8, metavar="N", help="tokens that the server makes of a picture at least (8; 64 for Qwen3-VL)")
    parser.add_argument("--most", type=int, default=16384, metavar="N", help="and at most (16384)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="auto", help="of pictures (auto: PNG up to 1 MiB, else JPEG)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8081, metavar="N", help="where to listen (8081; 0: any that is free)")
    parser.add_argument("--allow-url", action="append", default=[], metavar="PREFIX",
                        help="pictures may be fetched from addresses that begin so; may be given several times (none)")
    parser.add_argument("--max-body", type=int, default=64, metavar="MIB", help="the most of a request with messages, and of a fetched picture (64)")
    parser.add_argument("--max-pixels", type=float, default=64, metavar="MILLIONS", help="the most pixels of a picture (64)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="the longest silence of the server or the client (600)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="threads that choose pictures (2)")
    parser.add_argument("--keep", type=int, default=64, metavar="MIB", help="pictures that are kept, since a chat sends them again (64; 0: none)")
    parser.add_argument("--device", metavar="NAME", help="as `tvlm --device`")
    return parser.parse_args(arguments)


def _serving(options: argparse.Namespace) -> Serving:
    tolerance = options.tolerance
    if tolerance not in (None, "auto"):
        try:
            tolerance = float(tolerance)
        except ValueError:
            raise ArgumentError(f"--tolerance {tolerance!r} is no number") from None
    device = Device(options.device) if options.device else None
    return serving_of(options.budget, options.share, tolerance, options.way, options.patch, options.extra, options.least, options.most,
                      options.encoding, device)


def _positive(name: str, value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise ArgumentError(f"{name} is {value:g}; it must be above 0")
    return value


def _proxy(options: argparse.Namespace) -> Proxy:
    upstream = upstream_of(options.upstream)
    if options.port and _same(address_of(upstream), options.host, integer("--port", options.port, 0, 65535)):
        raise ArgumentError(f"--upstream {upstream} is where the proxy itself listens")
    prefixes = [prefix_of(text) for text in options.allow_url]
    limits = Limits(integer("--max-body", options.max_body, 1, 4096) * _MIB, _positive("--timeout", options.timeout))
    chooser = Chooser(_serving(options), prefixes, pixels=int(1e6 * _positive("--max-pixels", options.max_pixels)), body=limits.body,
                      timeout=limits.timeout, jobs=integer("--jobs", options.jobs, 1, 256), kept=integer("--keep", options.keep, 0, 65536) * _MIB)
    return Proxy(upstream, chooser, limits)


def _same(upstream: Address, host: str, port: int) -> bool:
    here = {"127.0.0.1", "::1", "localhost"}
    return upstream.port == port and (upstream.host == host or (upstream.host in here and host in {*here, "0.0.0.0", "::"}))


async def _serve(proxy: Proxy, options: argparse.Namespace) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    try:
        port = await proxy.start(options.host, options.port)
        host = f"[{options.host}]" if ":" in options.host else options.host
        print(f"texturevlm.proxy: http://{host}:{port} hands on to {options.upstream}", file=sys.stderr, flush=True)
        await ended.wait()
    finally:
        await proxy.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the proxy until SIGINT or SIGTERM, and gives the exit status. `arguments`: those of the command line, or None: its own."""
    options = _parse(arguments)
    warnings.filterwarnings("ignore", category=PIL.Image.DecompressionBombWarning)  # there is a limit of its own
    PIL.Image.MAX_IMAGE_PIXELS = None
    try:
        proxy = _proxy(options)
    except Error as error:
        print(f"texturevlm.proxy: {error}", file=sys.stderr)
        return 2 if isinstance(error, (ArgumentError, TypeError)) else 1
    try:
        asyncio.run(_serve(proxy, options))
    except (OSError, OverflowError) as error:
        print(f"texturevlm.proxy: it cannot listen at {options.host}, port {options.port}: {reason(error)}", file=sys.stderr)
        return 1
    if proxy.choosing:
        os._exit(0)  # all is closed; Python would wait for pictures that nobody waits for any more
    return 0
