# SPDX-License-Identifier: Apache-2.0
"""tools/features.py with the transformers that is there (ctest runs the same check with the old pair)."""
import os
import pathlib
import subprocess
import sys

import pytest

import texturevlm as tv

pytest.importorskip("torch")
pytest.importorskip("PIL")
transformers = pytest.importorskip("transformers")
ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.skipif(transformers.__version__.startswith("4.47"), reason="ctest looks at the old pair")
def test_features_are_those_of_the_models():
    tool = pathlib.Path(tv.__file__).parent / "tvlm"
    found = subprocess.run([sys.executable, str(ROOT / "tests" / "python" / "check_features.py"), str(tool)], capture_output=True, text=True,
                           timeout=600, env={**os.environ, "TVLM_TEST_QUICK": "1"})
    assert found.returncode == 0 and "transformers siglip2" in found.stdout, found.stdout + found.stderr
