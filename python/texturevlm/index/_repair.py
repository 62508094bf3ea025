# SPDX-License-Identifier: Apache-2.0
"""Repairs an index with broken files. What cannot be read is taken out, and the next `add` adds the images again that were lost.

- index.json is restored from its copy.
- If a table's manifest cannot be read, the newest older version that can be read takes its place.
- A fragment with a broken file is taken out. An image is kept only with all its regions, and a region only with its image.
- An index of Lance is dropped if one of its files is broken. `compact` makes it again.
- A broken basis or vocabulary cannot be repaired here. Its file came from the caller, who must copy it back.
"""
from __future__ import annotations

import os
from typing import Any

import lance

from .._core import Error, FileError, MissingFileError
from . import _check
from ._store import NETWORKS, TABLES, Store, locked, read_state, told


def problems_of(folder: str) -> tuple[list[str], int, int]:
    """What is wrong with an index, as a list of lines, and how many files and bytes were read."""
    try:
        store = Store(folder, compare=False)
    except Error as error:
        return [str(error)], 1, 0
    found = []
    for table in TABLES:
        if not store.versions[table]:
            continue
        try:
            store.open(table, whole=False)
        except Error as error:
            found.append(str(error))
    lines = [f"{os.path.join(folder, name)}: {words}" for name, words in _check.faults(folder, store.sums, whole=True).items()]
    named = [line for line in found if not any(line.split(": ")[0] == one.split(": ")[0] for one in lines)]
    named += _copy_problem(folder) if store.sums else []  # an older index, without checksums, may have none
    if not lines and not named and not store.sums and any(store.versions.values()):
        named.append(f"{folder}: the index was made before there were checksums; its next change makes them")
    return lines + named, len(store.sums), sum(size for size, _ in store.sums.values())


def _copy_problem(folder: str) -> list[str]:
    """A line if index.json.copy is not what index.json is, which it stands in for. A change that is killed may leave it so."""
    path = os.path.join(folder, "index.json")
    try:
        with open(path, "rb") as file, open(path + ".copy", "rb") as copy:
            return [] if file.read() == copy.read() else [f"{path}.copy: it is not the copy of index.json"]
    except OSError as error:
        return [f"{path}.copy: {error.strerror}"]


def repair(folder: str) -> int:
    """Takes out what is broken, and gives how many images were lost.

    Errors: `FileError` if there is nothing to repair the index from.
    """
    with locked(folder):
        _restore_state(folder)
        store = Store(folder, compare=False)  # read under the lock: another process may have written to the index meanwhile
        for name in NETWORKS:
            if name in store.sums and (words := _check.wrong(folder, name, store.sums[name], whole=True)):
                raise FileError(f"{store.folder}/{name}: {words}: copy the file that the index was made with to this place")
        before = store.count
        with told(folder):
            lost = {table: _mend(store, table) for table in TABLES if store.versions[table]}
            _join(store, lost)
            store.publish()
    return max(0, before - store.count)


def _restore_state(folder: str) -> None:
    path = os.path.join(folder, "index.json")
    try:
        read_state(path, folder)
        return
    except Error as error:
        try:
            read_state(path + ".copy", folder)
        except Error:
            raise error from None
    with open(path + ".copy", "rb") as file, open(path + ".tmp", "wb") as copy:
        copy.write(file.read())
        copy.flush()
        os.fsync(copy.fileno())
    os.replace(path + ".tmp", path)


def _mend(store: Store, table: str) -> list[tuple[int, int]]:
    """Takes broken fragments and indexes out of a table. Gives the numbers of the images that they may have held, as ranges."""
    bad = set(_check.faults(store.folder, {name: pair for name, pair in store.sums.items() if name.startswith(f"{table}.lance/")}, whole=True))
    uri = os.path.join(store.folder, f"{table}.lance")
    dataset = _readable(store, table, bad)
    if dataset.version != lance.dataset(uri).version:
        dataset.restore()
        dataset = lance.dataset(uri)
    for index in dataset.describe_indices():
        inside = tuple(f"{table}.lance/_indices/{segment.uuid}/" for segment in index.segments)
        if any(name.startswith(inside) for name in bad) or not all(os.path.isdir(os.path.join(store.folder, one)) for one in inside):
            dataset.drop_index(index.name)
            dataset = lance.dataset(uri)
    ranges = _broken_ranges(dataset, table, bad, store.folder)
    if ranges:
        gone = [number for number, _ in ranges]
        lance.LanceDataset.commit(uri, lance.LanceOperation.Delete([], gone, "broken"), read_version=dataset.version)
    store.versions[table] = lance.dataset(uri).version
    return [span for _, span in ranges]


def _readable(store: Store, table: str, bad: set[str]) -> Any:
    """A table at its valid version, or, if that cannot be read, at the newest older version that can be."""
    counted = store.versions[table]
    for version in [counted] + [one for one in _check.versions_of(store.folder, table) if one < counted]:
        if _check.manifest_of(store.folder, table, version) in bad:
            continue
        try:
            dataset = lance.dataset(os.path.join(store.folder, f"{table}.lance"), version=version)
        except BaseException:  # a panic of Lance is not an Exception
            continue
        store.versions[table] = version
        store.drop_unreadable(table)
        return dataset
    raise FileError(f"{store.folder}/{table}.lance: no version of the table can be read; make the index anew")


def _broken_ranges(dataset: Any, table: str, bad: set[str], folder: str) -> list[tuple[int, tuple[int, int]]]:
    """For each fragment that cannot be read: its number, and the first and last number of the images that it may hold.

    Fragments are in the order of their images' numbers, so these numbers lie between those of the neighbouring fragments.
    """
    column = "id" if table == "images" else "image"
    found: list[tuple[int, tuple[int, int]]] = []
    last, waiting = 0, list[int]()
    for fragment in dataset.get_fragments():
        names = _check.fragment_files(table, fragment)
        spoilt = any(name in bad or not os.path.exists(os.path.join(folder, name)) for name in names)
        numbers = None
        if not spoilt:
            try:
                numbers = fragment.to_table(columns=[column]).column(column).to_pylist()
            except BaseException:
                spoilt = True
        if spoilt:
            waiting.append(fragment.fragment_id)
        elif numbers:
            found += [(number, (last, min(numbers))) for number in waiting]
            last, waiting = max(last, *numbers), []
    return found + [(number, (last, 2**63 - 1)) for number in waiting]


def _join(store: Store, lost: dict[str, list[tuple[int, int]]]) -> None:
    """Takes out regions without an image, and images that lack some of their regions."""
    if not store.versions["images"]:
        return
    images = lance.dataset(os.path.join(store.folder, "images.lance"))
    kept = images.to_table(columns=["id", "rows"]).to_pylist()
    featured = {row["id"] for row in kept if row["rows"]}
    there = {row["id"] for row in kept}
    gone = {number for number in featured for first, last in lost.get("regions", ()) if first <= number <= last}
    if store.versions["regions"]:
        regions = lance.dataset(os.path.join(store.folder, "regions.lance"))
        having = set(regions.to_table(columns=["image"]).column("image").to_pylist())
        if store.settings.regions:
            gone |= featured - having
        store.drop("regions", sorted((having - there) | (having & gone)))
    store.drop("images", sorted(gone))


def check(folder: str | os.PathLike[str], mend: bool) -> dict[str, Any]:
    """Does the work of `Index.check`."""
    name = os.fspath(folder)
    if not any(os.path.exists(os.path.join(name, f"index.json{end}")) for end in ("", ".copy")):
        raise MissingFileError(f"{name}: there is no index")
    problems, files, size = problems_of(name)
    report: dict[str, Any] = {"folder": name, "files": files, "bytes": size, "problems": problems}
    if mend and problems:
        report["lost"] = repair(name)
        report["problems"], report["files"], report["bytes"] = problems_of(name)
        report["repaired"] = problems
    return report
