# SPDX-License-Identifier: Apache-2.0
"""Checks by checksums whether the files of an index are what was written.

index.json has the length and the CRC-32 of every file that a valid version consists of. They are compared before Lance reads a
file, since with a damaged file Lance may fail, or give a wrong answer.
"""
from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._core import ArgumentError, FileError

Sums = dict[str, tuple[int, int]]
"""Of files, by their path in the folder of the index with ``/`` between its parts: bytes, and CRC-32."""

AT_ONCE = 4 << 30
"""Tables of at most so many bytes are compared when they are opened, which takes about a second; larger ones by `Index.check`."""


def sum_of(path: str) -> tuple[int, int]:
    """The length in bytes and the CRC-32 of a file."""
    size = crc = 0
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            size, crc = size + len(part), zlib.crc32(part, crc)
    return size, crc


def sums_of(folder: str, paths: Iterable[str], known: Mapping[str, tuple[int, int]]) -> Sums:
    """The sums of files. A sum that is known already is taken as it is, since files never change."""
    names = list(paths)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = threads.map(lambda name: known.get(name) or sum_of(os.path.join(folder, name)), names)
        return dict(zip(names, found))


def wrong(folder: str, name: str, expected: tuple[int, int], whole: bool) -> str | None:
    """What is wrong with a file in a few words, or None. With `whole` the file is read, else only its length is compared."""
    path = os.path.join(folder, name)
    try:
        size, crc = sum_of(path) if whole else (os.path.getsize(path), expected[1])
    except FileNotFoundError:
        return "the file is missing"
    except OSError as error:
        return str(error.strerror)
    if size != expected[0]:
        return f"{size} bytes, not {expected[0]}"
    return "its bytes are not those that were written" if crc != expected[1] else None


def faults(folder: str, sums: Mapping[str, tuple[int, int]], whole: bool) -> dict[str, str]:
    """For each file that is not as it was written, what is wrong with it."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = threads.map(lambda name: wrong(folder, name, sums[name], whole), sums)
        return {name: words for name, words in zip(sums, found) if words is not None}


def refuse(folder: str, sums: Mapping[str, tuple[int, int]], whole: bool) -> None:
    """Raises a `FileError` for the first file that is not as it was written."""
    for name, words in faults(folder, sums, whole).items():
        raise FileError(f"{os.path.join(folder, name)}: the index is broken: {words} (python -m texturevlm.index check --repair)")


# ---- The files of a version ----

def manifest_of(folder: str, table: str, version: int) -> str | None:
    """The path of a version's manifest in the index. Lance numbers manifests downwards from the largest number.

    Older versions of Lance numbered them upwards.
    """
    for number in (f"{2**64 - 1 - version:020d}", str(version)):
        name = f"{table}.lance/_versions/{number}.manifest"
        if os.path.exists(os.path.join(folder, name)):
            return name
    return None


def versions_of(folder: str, table: str) -> list[int]:
    """The versions of a table that have a manifest, the newest first."""
    try:
        names = os.listdir(os.path.join(folder, f"{table}.lance", "_versions"))
    except OSError:
        return []
    numbers = [int(stem) for stem, end in map(os.path.splitext, names) if end == ".manifest" and stem.isdigit()]
    return sorted((2**64 - 1 - number if number >= 2**63 else number for number in numbers), reverse=True)


def fragment_files(table: str, fragment: Any) -> list[str]:
    """The files of a fragment: its data, and the list of its deleted rows."""
    names = [f"data/{file.path}" for file in fragment.data_files()]
    deleted = fragment.deletion_file()
    return [f"{table}.lance/{name}" for name in (*names, *([deleted] if deleted else []))]


def files_of(folder: str, table: str, dataset: Any) -> list[str]:
    """The files that a version of a table consists of."""
    manifest = manifest_of(folder, table, dataset.version)
    names = [manifest] if manifest else []
    for fragment in dataset.get_fragments():
        names += fragment_files(table, fragment)
    for index in dataset.describe_indices():
        for segment in index.segments:
            inside = f"{table}.lance/_indices/{segment.uuid}"
            names += [f"{inside}/{name}" for name in sorted(os.listdir(os.path.join(folder, inside)))]
    return names


# ---- index.json ----

def sealed(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state with a checksum of everything else in it."""
    return {**state, "checksum": _checksum(state)}


def unsealed(state: dict[str, Any], path: str) -> dict[str, Any]:
    """The state, if its checksum fits, else an `ArgumentError`. A state of an older index has no checksum, and is taken."""
    if "checksum" in state and state["checksum"] != _checksum(state):
        raise ArgumentError(f"{path}: the index is broken: its bytes are not those that were written "
                            "(python -m texturevlm.index check --repair)")
    return state


def _checksum(state: Mapping[str, Any]) -> int:
    rest = {name: value for name, value in state.items() if name != "checksum"}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode())


def sums_in(state: Mapping[str, Any]) -> Sums:
    """The sums of files in the state of an index.json. Errors: TypeError and ValueError for a broken state."""
    files = state.get("files", {})
    if not isinstance(files, dict):
        raise TypeError
    found: Sums = {}
    for name, pair in files.items():
        size, crc = pair
        if type(size) is not int or type(crc) is not int or size < 0 or os.path.isabs(name) or ".." in name.split("/"):
            raise ValueError
        found[name] = (size, crc)
    return found
