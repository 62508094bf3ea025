# SPDX-License-Identifier: Apache-2.0
"""texturevlm.ray on a local cluster of two workers: the same rows as in one process, where a worker is killed. Only by
ci/python --index, since a cluster takes a while to start."""
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.environ.get("TVLM_TEST_INDEX") != "all", reason="TVLM_TEST_INDEX=all runs it")
pytest.importorskip("lance")
pytest.importorskip("ray")


def test_the_example_survives_a_killed_worker():
    program = pathlib.Path(__file__).resolve().parents[2] / "examples" / "ray_index.py"
    found = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=550)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "24 images; 1 failed, as 1 did; a worker was killed: True; the same rows: True" in found.stdout
