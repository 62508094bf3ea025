# SPDX-License-Identifier: Apache-2.0
"""An index of an archive of images. It is made once, and then answers many questions: which images, and where in them.

    from texturevlm import Basis, index

    archive = index.Index.create("archive", basis=Basis.load("basis.safetensors"))
    archive.add(photos, features="features")         # each photo's vectors: features/STEM.npy [rows, columns, D]
    for found in archive.query(vector, top_images=20, positions=16):
        found.key, found.score, found.squares, found.scores

    python -m texturevlm.index add archive photos/ --features features --basis basis.safetensors
    python -m texturevlm.index query archive --vector question.npy --overlay-sheet best.png

An index is a folder. It has two Lance tables, which DuckDB and Polars can read, and ``index.json``, which names the valid version
of each table. `Index` makes, fills, asks and shrinks one index. `Shards` asks several as if they were one.

The module needs pyarrow and pylance: ``pip install texturevlm[index]``. doc/archive.md in the project's repository says what is
stored, and what it costs.
"""
import os as _os

from .. import _core

# Lance writes a warning to stderr for each empty cluster of vectors. It reads this variable when it is imported.
_os.environ.setdefault("LANCE_LOG", "error")
try:
    import lance as _lance
    import pyarrow as _pyarrow
except ImportError as _missing:
    _core.refuse("index", "pyarrow and pylance", "texturevlm[index]", _missing)

from ._index import Index
from ._query import Found, Shards
from ._sheet import sheet
from ._sources import Source

__all__ = ["Found", "Index", "Shards", "Source", "sheet"]
