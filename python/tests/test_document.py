# SPDX-License-Identifier: Apache-2.0
"""The examples of doc/python.md, doc/recipes.md and README.md run, in their order, as they stand there."""
import os
import pathlib
import re
import sys

import numpy as np
import pytest

from texturevlm._image import write_png

ROOT = pathlib.Path(__file__).resolve().parents[2]


def examples(path):
    """The Python blocks of a document, with blank lines before them so that errors name its own lines."""
    text = path.read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield "\n" * text.count("\n", 0, block.start(1)) + block[1]


@pytest.fixture
def checkout(photo, tmp_path, monkeypatch):
    """A folder to run them in: the examples of the checkout, photo.jpg, and the tool by its name."""
    monkeypatch.chdir(tmp_path)
    write_png("photo.png", np.ascontiguousarray(np.tile(photo, (2, 2, 1))))
    (tmp_path / "photo.png").rename(tmp_path / "photo.jpg")  # files are told apart by their content
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tvlm").write_text(f'#!/bin/sh\nexec {sys.executable} -m texturevlm "$@"\n')
    (tmp_path / "bin" / "tvlm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return tmp_path


def run_blocks(name, wanted=lambda block: True):
    """Runs the wanted blocks of a document one after the other, and gives what they leave behind."""
    names = {}
    for block in examples(ROOT / name):
        if wanted(block):
            exec(compile(block, name, "exec"), names)
    return names


def alone(block):
    """Whether it needs neither PyTorch nor transformers."""
    return not re.search("tv.hf|tv.torch|pruner|transformers", block)


def test_the_examples_run(checkout, capsys):
    names = run_blocks("doc/python.md", alone)
    said = capsys.readouterr().out
    assert (checkout / "look.png").stat().st_size > 1000
    assert "nowhere.jpg" in said and "k is 0; it must be 1 .. " in said
    assert len(names["patches"]) == 50 and names["patches"].shape[2:] == (14, 14)
    assert len(run_blocks("README.md", alone)["selection"]) == 273
    tool = run_blocks("doc/recipes.md")["tool"]
    tool.stdin.close()
    assert '"size"' not in capsys.readouterr().out and tool.wait(60) == 0
    tool.stdout.close()
