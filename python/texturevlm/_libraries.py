# SPDX-License-Identifier: Apache-2.0
"""Imports the binding, before all other modules, and says what to install if the system lacks a library that it needs.

The wheels of ci/wheels have what they need inside. A wheel that pip or ci/wheel built in a checkout uses Debian's libraries.
"""
from __future__ import annotations

import re

# From the file that the dynamic loader looks for to the package of Debian that has it.
PACKAGES = {
    "libblas.so.3": "libblas3", "libcjson.so.1": "libcjson1", "libgfortran.so.5": "libgfortran5", "liblapack.so.3": "liblapack3",
    "liblapacke.so.3": "liblapacke", "libmd.so.0": "libmd0", "libquadmath.so.0": "libquadmath0", "libtmglib.so.3": "libtmglib3",
    # Decoders of pictures, which the binding needs only if it was built with them.
    "libjpeg.so.62": "libjpeg62-turbo", "libpng16.so.16": "libpng16-16", "libwebp.so.7": "libwebp7", "libwebpdemux.so.2": "libwebpdemux2",
}

try:
    from . import _binding as _binding
except ImportError as _error:
    _found = re.match(r"(\S+\.so[.\d]*): cannot open shared object file", str(_error))
    if _found is None:
        raise
    raise ImportError(f"texturevlm needs the system's {_found[1]}, which is not there (Debian: apt install "
                      f"{PACKAGES.get(_found[1], 'the package that has it')})") from None
