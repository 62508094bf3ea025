# SPDX-License-Identifier: Apache-2.0
"""A small proxy before any server that speaks OpenAI's interface: the pictures in messages reach it with fewer tokens.

    python -m texturevlm.proxy --upstream http://127.0.0.1:8080 --budget 256

Each picture in the messages of ``/v1/chat/completions``, and of llama.cpp's ``/chat/completions``, becomes what `texturevlm.pictures`
makes of it: a smaller picture, or a small one and crops, with a line of text that says where each lies. A picture that takes no more
tokens than it may stays as it is. All else is handed on unchanged, both ways, and answers are handed on as they come.

The module needs aiohttp and Pillow: ``pip install texturevlm[proxy]``. doc/server.md in the project's repository is its manual.
"""
from .. import _core

try:
    import aiohttp as _aiohttp
    import PIL as _pil
except ImportError as _missing:
    _core.refuse("proxy", "aiohttp and Pillow", "texturevlm[proxy]", _missing)

from ._command import main

__all__ = ["main"]
