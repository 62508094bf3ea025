# SPDX-License-Identifier: Apache-2.0
"""licences.py VENDORED RUNTIME OUTPUT [TEXT]: writes what a wheel that is built from copies has in it of other projects, with their licences.

VENDORED is the folder that ci/vendor fetches, RUNTIME the name in RUNTIMES of what the compiler adds, and TEXT the file with its licence. The
tables are what tests/wheel.py compares with what a build has read and linked: what is not in them fails there.
"""
from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import NamedTuple


class Part(NamedTuple):
    """A project, the SPDX expression of its licence, what of it is in the wheel, and where the text is: a file of the folder that ci/vendor
    fetches, and a pattern whose first group is the text where that is a part of the file."""

    name: str
    licence: str
    what: str
    text: str = ""
    pattern: str = ""


# The folders of VENDORED whose files the wheel is compiled from.
VENDORED = {
    "cjson": Part("cJSON", "MIT", "JSON", "cjson/LICENSE"),
    "libmd": Part("libmd", "BSD-3-Clause", "SHA-256", "libmd/src/sha2.c", r"(/\*\s*\* FILE:.*?\*/)"),
    "lapack": Part("LAPACK", "BSD-3-Clause", "eigenvectors and linear equations of the lab", "lapack/LICENSE"),
    "lapack/LAPACKE": Part("LAPACKE", "BSD-3-Clause", "LAPACK's functions for C", "lapack/LAPACKE/LICENSE"),
    "include/stb": Part("stb", "MIT OR Unlicense", "pictures", "include/stb/stb_image.h", r"(This software is available under 2 licenses.*?)\*/\s*\Z"),
    "include/ut": Part("uthash", "BSD-1-Clause", "tables of hashes", "include/uthash.h", r"\A/\*(.*?)\*/"),
    "include/clblast_c.h": Part("CLBlast", "Apache-2.0", "the header by which it is loaded where it is installed"),
    "include/CL": Part("OpenCL-Headers", "Apache-2.0", "the headers by which OpenCL is loaded"),
}
# What generates the module's C leaves of itself in it.
CFFI = Part("cffi", "MIT-0", "the frame of the module's C")
# What the compilers add of themselves.
GCC = Part("GCC", "GPL-3.0-or-later WITH GCC-exception-3.1", "arithmetic that processors lack (libgcc)")
GLIBC = Part("glibc", "LGPL-2.1-or-later WITH GCC-exception-2.0", "the few lines that start a program")
RUNTIMES = {
    "zig": [Part("zig", "MIT", "arithmetic that processors lack (compiler-rt), and of musl the few lines that start a program"), GLIBC],
    "mingw": [Part("mingw-w64", "ZPL-2.1 AND MIT", "the start of a program, functions of C, threads (winpthreads)"), GCC],
    "gcc": [GCC, GLIBC],
}


def text_of(part: Part, folder: Path) -> str:
    """The licence's text, or nothing where its name says all (Apache-2.0, which the wheel has, and what asks for no notice)."""
    if part is CFFI:
        return "\n".join(file.read_text() for file in metadata.distribution("cffi").files or [] if re.search(r"licenses/LICENSE$", str(file)))
    if not part.text:
        return ""
    text = (folder / part.text).read_text(encoding="utf-8", errors="replace")
    if not part.pattern:
        return text
    found = re.search(part.pattern, text, re.DOTALL)
    if found is None:
        sys.exit(f"licences.py: {part.text} has no licence where it is looked for")
    return found[1]


def main(vendored: str, runtime: str, output: str, further: str = "") -> None:
    blocks = ["What this package has in it of other projects, and their licences."]
    for part in [*VENDORED.values(), CFFI, *RUNTIMES[runtime]]:
        text = Path(further).read_text(encoding="utf-8") if further and part is RUNTIMES[runtime][0] else text_of(part, Path(vendored))
        blocks.append(f"{'-' * 80}\n{part.name}: {part.what}\nSPDX-License-Identifier: {part.licence}\n\n{text.strip()}".strip())
    Path(output).write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
