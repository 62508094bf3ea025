# SPDX-License-Identifier: Apache-2.0
"""The examples of doc/python.md, doc/recipes.md and README.md run, in their order, as they stand there; those that need PyTorch in
test_hf_messages.py and test_torch_sample.py, those of doc/archive.md, doc/scale.md and doc/vllm.md in test_index.py, test_index_ray.py
and test_vllm.py."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import numpy as np
import pytest

from conftest import draw
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
    (tmp_path / "bin" / "tvlm-lab").write_text(f'#!/bin/sh\nexec {sys.executable} -c "from texturevlm.__main__ import lab; lab()" "$@"\n')
    for name in ("tvlm", "tvlm-lab"):
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return tmp_path


def archive_files():
    """What the blocks of doc/archive.md and doc/scale.md read, in this folder: photos, a tar, and the basis that the first one's commands
    train."""
    for folder in ("photos", "shards", "features"):
        os.mkdir(folder)
    random = np.random.default_rng(3)
    for i in range(4):
        write_png(f"photos/{i}.png", np.ascontiguousarray(draw(96, 64, i)))
        np.save(f"features/{i}.npy", random.normal(size=(24, 32, 64)).astype("f4"))
    with tarfile.open("shards/0001.tar", "w") as tar:
        tar.add("photos/3.png", "inside.png")
    os.remove("photos/3.png")
    subprocess.run([sys.executable, "-m", "texturevlm", "pca", "train", *(f"features/{i}.npy" for i in range(4)), "-k", "16", "-o",
                    "basis.safetensors"], check=True)


def run_blocks(name, wanted=lambda block: True):
    """Runs the wanted blocks of a document one after the other, and gives what they leave behind."""
    names = {}
    for block in examples(ROOT / name):
        if wanted(block):
            exec(compile(block, name, "exec"), names)
    return names


def blocks_of(name):
    """All blocks of a document as one program."""
    return "\n".join(block.lstrip("\n") for block in examples(ROOT / name))


def alone(block):
    """Whether it needs neither PyTorch nor transformers."""
    return not re.search("tv.hf|tv.torch|pruner|transformers", block)


def test_every_document_with_blocks_is_run_by_a_test():
    """By the name that the test gives, in one of the files that are named above."""
    tests = "".join(path.read_text(encoding="utf-8") for path in pathlib.Path(__file__).parent.glob("test_*.py"))
    for path in [ROOT / "README.md", *(ROOT / "doc").glob("*.md")]:
        name = path.relative_to(ROOT).as_posix()
        assert not list(examples(path)) or f'run_blocks("{name}"' in tests or f'blocks_of("{name}")' in tests, name


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
