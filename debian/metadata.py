# SPDX-License-Identifier: Apache-2.0
"""metadata.py FOLDER: writes what Python and dh_python3 know of the package from pyproject.toml, as its wheel has it.

Debian 12 has no scikit-build-core, which writes it otherwise. The commands are not among it: texturevlm-tools has the tools.
"""
import re
import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def main(folder):
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    numbers = (TOP / "include/texturevlm/version.h").read_text(encoding="utf-8")
    version = ".".join(re.search(rf"TVLM_VERSION_{part} (\d+)", numbers)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    made = Path(folder, f"{project['name']}-{version}.dist-info")
    made.mkdir(exist_ok=True)
    fields = [("Metadata-Version", "2.1"), ("Name", project["name"]), ("Version", version), ("Summary", project["description"]),
              ("License", project["license"]["text"]), ("Requires-Python", project["requires-python"]),
              *(("Requires-Dist", need) for need in project["dependencies"])]
    (made / "METADATA").write_text("".join(f"{name}: {value}\n" for name, value in fields), encoding="utf-8")
    points = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
              for group, entries in project["entry-points"].items()]
    (made / "entry_points.txt").write_text("\n".join(points), encoding="utf-8")


main(sys.argv[1])
