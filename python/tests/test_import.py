# SPDX-License-Identifier: Apache-2.0
"""test_import.py: what `import texturevlm` costs beside NumPy's import, which it begins with: time of the user's, and modules."""
import os
import subprocess
import sys

MOST = 0.1  # seconds
# What takes a tenth of a second or more, or is for a module that is imported when it is asked for.
NOT_NEEDED = {"PIL", "aiohttp", "asyncio", "concurrent.futures", "http.client", "multiprocessing", "pandas", "pyarrow", "ray", "torch", "transformers",
              "urllib.request"}


def user_time(statement: str) -> float:
    """What a new interpreter takes of a processor in the user's mode."""
    before = os.times().children_user
    subprocess.run([sys.executable, "-c", statement], check=True)
    return os.times().children_user - before


def test_import_is_soon_done() -> None:
    # Of each the least of as many, by turns: what else the machine does takes more, and never less. The first one writes .pyc files.
    user_time("import texturevlm")
    times = [(user_time("import numpy"), user_time("import texturevlm")) for _ in range(7)]
    more = min(ours for _, ours in times) - min(alone for alone, _ in times)
    assert more <= MOST, f"import texturevlm takes {more:.3f} s more than NumPy alone: {times}"


def test_import_has_no_more_modules() -> None:
    """Those that NumPy does not import itself."""
    new = "import sys, numpy; before = set(sys.modules); import texturevlm; print(*sorted(set(sys.modules) - before))"
    said = subprocess.run([sys.executable, "-c", new], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    assert "texturevlm._stack" in said
    assert not NOT_NEEDED & set(said)
