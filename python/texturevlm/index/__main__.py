# SPDX-License-Identifier: Apache-2.0
"""python -m texturevlm.index add | info | query | delete | compact | check: an archive's index from the command line.

Each result is a line of JSON on stdout, and an error is one line on stderr. The exit status is

- 0 if all is done;
- 1 after an error: the index is as it was, or has what was added before the error;
- 2 for a wrong argument;
- 3 if some images failed with --skip-errors, or if check found problems that are still there.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from .._core import ArgumentError, Error, FileError
from .._device import Device
from ._build import FLUSH, features_by
from ._index import Index
from ._query import WAYS, Found, Shards
from ._rows import CELLS
from ._sheet import sheet
from ._sources import Source, vectors_of


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m texturevlm.index", description=(__doc__ or "").split("\n\n")[0],
                                     epilog="Manuals: help(texturevlm.index), and doc/archive.md.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    add = commands.add_parser("add", help="adds images, each once; goes on where it was killed; makes the index where there is none")
    add.add_argument("index", metavar="INDEX")
    add.add_argument("images", nargs="*", metavar="IMAGE", help="pictures, folders of them, tars in WebDataset layout")
    add.add_argument("--list", metavar="FILE", help="more of them, a line each; -: stdin")
    add.add_argument("--features", metavar="DIR", help="of each image DIR/STEM.npy, the encoder's vectors [rows, columns, D]")
    add.add_argument("--basis", metavar="FILE", help="of a new index: what the cells are kept in (tvlm-lab pca train)")
    add.add_argument("--vocab", metavar="FILE", help="of a new index: whose centres' numbers are kept of the cells (tvlm-lab vocab train)")
    add.add_argument("--cells", choices=CELLS, help="of a new index: how a cell's numbers are kept (int8)")
    add.add_argument("-k", type=int, help="of a new index: positions an image (273)")
    add.add_argument("--strategy", help="of a new index: how they are chosen (budget)")
    add.add_argument("--max-side", type=int, metavar="N", help="of a new index: the longest side to work on (1024; 0: any)")
    add.add_argument("--regions", type=int, metavar="N", help="of a new index: regions an image (50; 0: none, with --vocab)")
    add.add_argument("--skip-errors", action="store_true", help="goes on after an image that fails; exit 3 at the end")
    add.add_argument("--replace", action="store_true", help="an image that has changed takes the place of the old one")
    add.add_argument("--jobs", type=int, default=2, metavar="N", help="threads that decode (2)")
    add.add_argument("--flush", type=int, default=FLUSH, metavar="N", help=f"images that are kept at once ({FLUSH})")
    add.add_argument("--no-compact", action="store_true", help="leaves many small files as they are")

    info = commands.add_parser("info", help="what an index has, and what it takes")
    info.add_argument("index", nargs="+", metavar="INDEX")

    query = commands.add_parser("query", help="the images that answer a question, and where in them")
    query.add_argument("index", nargs="+", metavar="INDEX", help="one, or several that are asked as one")
    query.add_argument("--vector", required=True, metavar="Q.npy", help="[D], or [N, D]: a line for each")
    query.add_argument("--top-images", type=int, default=20, metavar="N")
    query.add_argument("--positions", type=int, default=16, metavar="N", help="squares an image (16)")
    query.add_argument("--by", choices=WAYS, help="what finds the images: regions, or the vocabulary, which looks at all cells")
    query.add_argument("--candidates", type=int, metavar="N", help="images that are looked into (4 times --top-images, at least 100)")
    query.add_argument("--features", metavar="DIR", help="of each candidate DIR/STEM.npy: exact cosines")
    query.add_argument("--exact", action="store_true", help="scans all regions, however many they are")
    query.add_argument("--verify", action="store_true", help="compares tables of more than 4 GiB with their checksums, too")
    query.add_argument("--overlay-sheet", metavar="FILE.png", help="a contact sheet of the images with their squares")

    delete = commands.add_parser("delete", help="deletes images")
    delete.add_argument("index", metavar="INDEX")
    delete.add_argument("key", nargs="+", metavar="KEY")

    compact = commands.add_parser("compact", help="joins small files, drops what was deleted, makes the approximate index")
    compact.add_argument("index", metavar="INDEX")
    check = commands.add_parser("check", help="compares all files with their checksums")
    check.add_argument("index", nargs="+", metavar="INDEX")
    check.add_argument("--repair", action="store_true", help="takes out what is broken; the next add brings those images back")
    for one in (add, query):
        one.add_argument("--device", metavar="NAME", help="as `tvlm --device`")
    return parser.parse_args(arguments)


def _print(thing: Any) -> None:
    print(json.dumps(thing), flush=True)


def _listed(name: str) -> Iterator[str]:
    try:
        with (sys.stdin if name == "-" else open(name, encoding="utf-8", errors="surrogateescape")) as file:
            yield from (line.rstrip("\n") for line in file if line.strip())
    except OSError as error:
        raise FileError(f"{name}: {error.strerror}") from None


def _add(options: argparse.Namespace, device: Device | None) -> int:
    given = {name: value for name, value in (("k", options.k), ("strategy", options.strategy), ("max_side", options.max_side),
                                             ("regions", options.regions), ("cells", options.cells), ("basis", options.basis), ("vocab", options.vocab))
             if value is not None}
    index = Index.open_or_create(options.index, **given)
    images = [*options.images, *(_listed(options.list) if options.list else ())]
    if not images:
        raise ArgumentError("there are no images to add")
    before, added = len(index), [0]

    def told_of(count: int) -> None:
        added[0] += count
        _print({"added": added[0]})
    failed = index.add(images, features=options.features, skip_errors=options.skip_errors, replace=options.replace, jobs=options.jobs,
                       flush=options.flush, compact=not options.no_compact, device=device, told_of=told_of)
    for key, error in failed:
        _print({"key": key, "error": error})
    _print({"images": len(index), "added": added[0], "before": before, "failed": len(failed)})
    return 3 if failed else 0


def _answer(found: Found) -> dict[str, Any]:
    squares = [{"x": float(x), "y": float(y), "width": float(width), "height": float(height), "score": round(float(score), 6)}
               for (x, y, width, height), score in zip(found.squares, found.scores)]
    return {"key": found.key, "path": found.path, "score": round(found.score, 6), "width": found.width, "height": found.height,
            "index": found.folder, "squares": squares}


def _query(options: argparse.Namespace, device: Device | None) -> int:
    index = Shards([Index(folder, verify=True if options.verify else None) for folder in options.index])
    questions = vectors_of(options.vector, options.vector)
    if questions.ndim not in (1, 2):
        raise ArgumentError(f"{options.vector}: a question is a vector [D], and several are [N, D]; this has the shape {questions.shape}")
    questions = questions[None] if questions.ndim == 1 else questions
    if options.overlay_sheet and len(questions) != 1:
        raise ArgumentError(f"{options.vector}: a sheet is of one question, and these are {len(questions)}")
    features = None
    if options.features:
        of_folder = features_by(options.features)

        def features(key: str) -> Any:
            return of_folder(Source(key))
    for question in questions:
        found = index.query(question, options.top_images, options.positions, by=options.by, candidates=options.candidates, features=features,
                            exact=options.exact, device=device)
        _print({"images": [_answer(one) for one in found]})
        if options.overlay_sheet and found:
            sheet(found).save(options.overlay_sheet)
    return 0


def _check(options: argparse.Namespace) -> int:
    reports = []
    for folder in options.index:
        reports.append(Index.check(folder, repair=options.repair))
        _print(reports[-1])
    return 3 if any(report["problems"] for report in reports) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        device = Device(options.device) if getattr(options, "device", None) else None
        if options.command == "add":
            return _add(options, device)
        if options.command == "query":
            return _query(options, device)
        if options.command == "delete":
            index = Index(options.index)
            _print({"deleted": index.delete(options.key), "images": len(index)})
        elif options.command == "check":
            return _check(options)
        elif options.command == "compact":
            index = Index(options.index)
            index.compact()
            _print(index.info())
        else:
            for folder in options.index:
                _print(Index(folder).info())
    except Error as error:
        print(f"texturevlm.index: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
