# SPDX-License-Identifier: Apache-2.0
"""`python -m texturevlm` is the tool `tvlm`, which the package brings, and `lab` is `tvlm-lab`."""
import os
import subprocess
import sys


def _become(name: str) -> None:
    """Becomes the tool, so that its signals, output and exit status are its own."""
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    try:
        if os.name == "nt":  # where a program that becomes another one seems to end at once
            sys.exit(subprocess.call([tool + ".exe", *sys.argv[1:]]))
        os.execv(tool, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {tool}: {error.strerror}")


def main() -> None:
    _become("tvlm")


def lab() -> None:
    _become("tvlm-lab")


if __name__ == "__main__":
    main()
