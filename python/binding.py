# SPDX-License-Identifier: Apache-2.0
"""binding.py COMPILER OUTPUT: writes the C of the extension module texturevlm._binding.

cffi takes its declarations from the public headers as the compiler's preprocessor leaves them, and from glue.h. They are
plain C11 on purpose, so that nothing has to be written down a second time here.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import cffi

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
CORE = ["texturevlm", "draw", "io", "io_basis", "io_scorer"]
LAB = ["attend", "backward", "codec", "explain", "fit", "footprint", "foveated", "io_codec", "io_network", "io_projection", "io_vocab", "logpolar", "merge", "network", "projection", "ridge", "trainer", "vocab"]
HEADERS = [*(f"texturevlm/{name}.h" for name in CORE), *(f"texturevlm/lab/{name}.h" for name in LAB), "glue.h"]


def preprocess(compiler: str, *options: str) -> str:
    """Returns what the compiler's preprocessor makes of the headers, without those of the system, whose types cffi knows."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h"):
            pathlib.Path(empty, name).touch()
        includes = "".join(f'#include "{header}"\n' for header in HEADERS)
        return subprocess.run(
            [compiler, "-x", "c", "-E", "-P", "-undef", "-nostdinc", "-DTVLM_STATIC=", "-DTVLM_DECLARATIONS=", *options,
             "-I", empty, "-I", str(ROOT / "include"), "-I", str(HERE), "-"],
            input=includes, capture_output=True, text=True, check=True).stdout


def constants(compiler: str) -> str:
    """Returns the macros that stand for whole numbers, and declares those that stand for other numbers."""
    lines = sorted(preprocess(compiler, "-dM").splitlines())
    others = [found.group(1) for found in (re.fullmatch(r"#define (TVLM_\w+) \d+\.\d+f?", line) for line in lines) if found]
    return "\n".join([line for line in lines if re.fullmatch(r"#define TVLM_\w+ \d+", line)] +
                     [f"static const double {name};" for name in others])


def main() -> None:
    compiler, output = sys.argv[1:]
    ffi = cffi.FFI()
    ffi.cdef(preprocess(compiler) + "\n" + constants(compiler))
    ffi.set_source("texturevlm._binding", "".join(f'#include "{header}"\n' for header in HEADERS))
    ffi.emit_c_code(output)


main()
