# SPDX-License-Identifier: Apache-2.0
"""`python -m texturevlm.proxy`."""
import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main())
