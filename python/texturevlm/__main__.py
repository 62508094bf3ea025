# SPDX-License-Identifier: Apache-2.0
"""`python -m texturevlm` is the tool `tvlm`, which the package brings."""
import os
import sys


def main() -> None:
    """Becomes the tool, so that its signals, output and exit status are its own."""
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tvlm")
    try:
        os.execv(tool, ["tvlm", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tvlm: {tool}: {error.strerror}")


if __name__ == "__main__":
    main()
