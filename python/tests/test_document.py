# SPDX-License-Identifier: Apache-2.0
"""The examples of doc/python.md and README.md run, in their order, as they stand there."""
import pathlib
import re

import numpy as np

from texturevlm._image import write_png

ROOT = pathlib.Path(__file__).resolve().parents[2]


def examples(path):
    """The Python blocks of a document, with blank lines before them so that errors name its own lines."""
    text = path.read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield "\n" * text.count("\n", 0, block.start(1)) + block[1]


def test_the_examples_run(photo, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_png("photo.png", np.ascontiguousarray(np.tile(photo, (2, 2, 1))))
    (tmp_path / "photo.png").rename(tmp_path / "photo.jpg")  # files are told apart by their content
    blocks, names = list(examples(ROOT / "doc" / "python.md")), {}
    for block in blocks:
        if "tv.hf" in block or "tv.torch" in block:
            continue  # needs PyTorch
        exec(compile(block, "doc/python.md", "exec"), names)
    said = capsys.readouterr().out
    assert (tmp_path / "look.png").stat().st_size > 1000
    assert "nowhere.jpg" in said and "k is 0; it must be 1 .. " in said
    assert len(names["patches"]) == 50 and names["patches"].shape[2:] == (14, 14)
    names = {}
    for block in examples(ROOT / "README.md"):
        if "tv.hf" not in block:
            exec(compile(block, "README.md", "exec"), names)
    assert len(names["selection"]) == 273
