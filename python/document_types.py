# SPDX-License-Identifier: Apache-2.0
"""document_types.py FOLDER: writes the Python blocks of README.md and doc/*.md as programs into FOLDER, for ci/python-types.

A document becomes one program, in which each line stands where it stands in the document, so that a message names its place.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def program(path: pathlib.Path) -> str:
    """The blocks of a document, with blank lines for all that is not in one."""
    text = path.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        begin = text.count("\n", 0, block.start(1))
        found = block[1].splitlines()
        lines[begin:begin + len(found)] = found
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "doc").glob("*.md"))]:
        text = program(path)
        if text.strip():
            (folder / f"{path.stem}_md.py").write_text(text, encoding="utf-8")
            written += 1
    assert written, "no document has a block"
    print(written, "documents")


main()
