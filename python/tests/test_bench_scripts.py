# SPDX-License-Identifier: Apache-2.0
"""What the scripts of bench/ share, and what they do where there is nothing to measure."""
import importlib
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def script(monkeypatch):
    """Imports a script as it is imported by the others: beside them, and as nobody has tuned the device."""
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setenv("TVLM_UNTUNED", "1")
    return importlib.import_module


def said(*words):
    """A script's exit status and what it says; skips the test where a package is missing."""
    done = subprocess.run([sys.executable, str(BENCH / words[0]), *map(str, words[1:])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, "TVLM_SHARED": str(BENCH / "nothing")})
    if "No module named" in done.stdout:
        assert done.returncode == 77 and "Traceback" not in done.stdout
        pytest.skip(done.stdout.strip())
    return done.returncode, done.stdout


# ---- What grows ----

def test_a_line_has_no_part_below_zero(script):
    """A row that grows faster than its amounts has no constant, and its last time is above its line."""
    scale = script("scale")
    amounts = [1, 10, 100, 1000]
    assert scale.line_of(amounts, [5 + 2 * n for n in amounts]) == pytest.approx((5, 2))
    assert scale.line_of(amounts, [3.0] * 4) == pytest.approx((3, 0))
    a, b = scale.line_of(amounts, [n**1.2 for n in amounts])
    assert a == 0 and b > 1
    assert scale.above(amounts, [5 + 2 * n for n in amounts]) == pytest.approx(1)
    assert scale.above(amounts, [n**1.2 for n in amounts]) > 1.1


# ---- What is written ----

def test_a_result_takes_the_place_of_the_last_one(script, tmp_path):
    shared, path = script("shared"), tmp_path / "figures.json"
    shared.write_json(str(path), {"a": 1})
    shared.write_json(str(path), {"a": 2}, indent=1)
    assert json.loads(path.read_text()) == {"a": 2} and os.listdir(tmp_path) == ["figures.json"]


def test_a_result_that_fails_leaves_the_last_one(script, tmp_path):
    shared, path = script("shared"), tmp_path / "figures.json"
    path.write_text("before")
    with pytest.raises(TypeError):
        shared.write_json(str(path), {"a": object()})
    with pytest.raises(ZeroDivisionError), shared.replacing(str(path)) as part:
        pathlib.Path(part).write_text("half")
        assert part.endswith(".json") and path.read_text() == "before"
        raise ZeroDivisionError
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["figures.json"]


def test_what_is_no_file_is_written_as_it_is(script):
    with script("shared").replacing(os.devnull) as part:
        assert part == os.devnull


# ---- What is measured in one place ----

def test_auc_counts_ties_half(script):
    pytest.importorskip("cv2")
    auc = script("measures").auc
    assert auc([1, 2, 3, 4], [0, 0, 1, 1]) == 1 and auc([1, 1, 1], [1, 0, 1]) == 0.5 and auc([1, 2, 2], [0, 1, 0]) == 0.75
    assert math.isnan(auc([1, 2], [1, 1])) and math.isnan(auc([1, 2], [0, 0]))


def test_labels_are_numbers_of_three_bytes(script, tmp_path):
    cv2 = pytest.importorskip("cv2")
    import numpy as np
    cv2.imwrite(str(tmp_path / "x_panoptic.png"), np.array([[[3, 2, 1], [0, 0, 7]]], np.uint8))  # blue, green, red
    assert script("images").labels("x", str(tmp_path)).tolist() == [[1 + 256 * 2 + 65536 * 3, 7]]


# ---- earlier.py ----

def test_a_stage_that_is_gone_fails(script, monkeypatch, capsys):
    earlier = script("earlier")
    options = earlier.argparse.Namespace(limit=1.08, commit="5df4ce8", json=None)
    before, now = {"visual": 1.0, "text": 2.0}, {"visual": 1.0, "ink": 3.0}
    with pytest.raises(SystemExit) as ended:
        earlier.report(before, now, options)
    out = capsys.readouterr().out
    assert ended.value.code == 1 and "GONE" in out and "to compare: ink" in out and "1 passed, 1 failed" in out
    monkeypatch.setitem(earlier.KNOWN, "text", "it is part of visual")
    with pytest.raises(SystemExit) as ended:
        earlier.report(before, now, options)
    assert ended.value.code == 0 and "GONE" not in capsys.readouterr().out


# ---- Where something is missing ----

@pytest.mark.parametrize("name", ["ablation", "attention", "bases", "batch", "budget", "cluster", "codec", "drift", "export", "flow", "footprint",
                                  "foveated", "prune", "projection", "saliency", "scorer", "text", "video", "video_times", "views", "vocab", "ways"])
def test_without_packages_it_is_skipped(name):
    done = subprocess.run([sys.executable, "-S", "-E", str(BENCH / f"{name}.py")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 77 and "No module named" in done.stdout and "Traceback" not in done.stdout


# ---- startup.sh ----

@pytest.mark.skipif(not shutil.which("bash") or not shutil.which("pgrep"), reason="no bash or no pgrep")
@pytest.mark.parametrize("fails_at", [0, 1, 4, 14])
def test_a_run_that_crashes_fails(fails_at, tmp_path):
    tool, photo, calls = tmp_path / "tvlm", tmp_path / "photo.ppm", tmp_path / "calls"
    photo.write_text("")
    tool.write_text(f"""#!/bin/sh
[ "$1" = select ] || {{ echo a device; exit 0; }}
case "$*" in *"-k 1"*) echo '{{"width": 1024, "height": 1024}}'; exit 0 ;; esac
echo x >>{calls}
[ "$(wc -l <{calls})" -ne {fails_at} ] || {{ echo "tvlm: out of memory" >&2; exit 134; }}
""")
    tool.chmod(0o755)
    done = subprocess.run(["bash", str(BENCH / "startup.sh"), str(tool), str(photo), "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = [line.split()[0] for line in done.stdout.splitlines() if " ms (" in line]
    if fails_at:
        assert done.returncode == 1 and not rows and "tvlm: out of memory" in done.stderr and "failed: run" in done.stderr
    else:
        assert rows == ["reference", "first", "next", "cold"] and len(calls.read_text().split()) == 14


# ---- What was not looked at is not passed ----

@pytest.mark.parametrize("words", [
    ["saliency.py", "--floors"], ["cluster.py", "--floors"], ["text.py", "--floors"], ["flow.py", "--floors"], ["budget.py", "--floors", "--set", "coco"],
    ["budget.py", "--floors", "--set", "questions", "--set", "photos"], ["video.py", "--shares", "2", "--clips", "bedroom,mover"]])
def test_floors_without_data_are_skipped(words):
    code, text = said(*words, "--tvlm", sys.executable)  # which is there, and is not asked
    assert code == 77 and "Traceback" not in text


@pytest.mark.parametrize("name, folder", [("saliency", "."), ("cluster", "."), ("text", "text/icdar2015"), ("flow", "flow")])
def test_floors_with_empty_data_are_skipped(name, folder, tmp_path):
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "panoptic_val2017.json").write_text('{"categories": [], "annotations": []}')
    code, text = said(f"{name}.py", "--floors", "--data", tmp_path, "--tvlm", sys.executable)
    assert code == 77 and "Traceback" not in text


def test_an_image_that_is_not_there_is_an_error():
    code, text = said("budget.py", "--set", "pages", "--image", "nosuch", "--jobs", "1")
    assert code == 1 and "is called nosuch" in text and "Traceback" not in text


@pytest.mark.parametrize("words", [["--ways", "nosuch"], ["--clips", "nosuch"], ["--floors", "--shares", "3"]])
def test_what_video_does_not_know_is_refused(words):
    code, text = said("video.py", *words)
    assert code == 2 and "there is no" in text and "Traceback" not in text
