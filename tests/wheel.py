# SPDX-License-Identifier: Apache-2.0
"""wheel.py BUILD WHEEL: what of other projects is in a wheel that was built from copies in the folder BUILD, each with its licence.

Everything that its compilers read and its linkers took must belong to this project, to a row of python/licences.py, or to the compiler and
the system's C library. Each shared library or program in the wheel must be ours, or have a row in BESIDE. What these ask the system
for must be what every such system has. No licence is the GPL's without an exception, and the wheel has no more than 3 MB.
"""
from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "python"))
import licences  # noqa: E402

MOST = 3_000_000
OURS = re.compile(r"texturevlm/(_binding(\.abi3\.so|\.pyd)|tvlm(-lab)?(\.exe)?)$")
# Shared libraries that lie in a wheel beside what is ours, by a pattern of their names, with project and licence. There are none.
BESIDE: dict[str, tuple[str, str]] = {}
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread)\.so\.\d+|ld-linux-[\w-]+\.so\.\d|libc\.(so|musl-\w+\.so\.1)|python3\.dll|"
                    r"(kernel32|msvcrt|shell32|user32|advapi32|ws2_32|bcrypt|ntdll|api-ms-win-crt-[\w-]+)\.dll", re.IGNORECASE)
# Of Python its headers, and the library that its functions are linked by.
COMPILER = re.compile(r"/(usr/(lib|share|include|x86_64-w64-mingw32|aarch64-linux-gnu)/|.*/ziglang/|.*/cp311/(include/|python3\.dll$))")
# A name of the GPL, the LGPL or the AGPL, wherever it stands in a licence, that has no exception.
COPYLEFT = re.compile(r"\b[AL]?GPL[\w.+-]*(?![\w.+-])(?!\s+WITH\b)")
GENERATED = ("python", "lib", "include", "tools", "cmake", "cl")
TARGETS = ("texturevlm_binding", "tvlm", "tvlm-lab")


def ninja(build: Path, *words: str) -> str:
    return subprocess.run(["ninja", "-C", build, "-t", *words], check=True, text=True, stdout=subprocess.PIPE).stdout


def read_files(build: Path) -> set[Path]:
    """What the compilers have read: what ninja was told to give them, and the headers that they said they had read."""
    headers = [line.strip() for line in ninja(build, "deps").splitlines() if line.startswith("    ")]
    return {(build / line).resolve() for line in headers + ninja(build, "inputs", *TARGETS).splitlines()}


def linked(build: Path) -> set[str]:
    """What the linkers were given beside files of the build: libraries by name, and paths elsewhere."""
    found = set()
    for target in TARGETS:
        command = ninja(build, "commands", target).splitlines()[-1]
        for word in shlex.split(command):
            if word.startswith("-l"):
                found.add(word)
            elif re.search(r"\.(a|o|so|dll|lib)(\.[\d.]+)?$", word) and not (build / word).resolve().is_relative_to(build):
                found.add(word)
    return found


def owner(path: Path, build: Path) -> licences.Part | str | None:
    """Whose a file is: a part of the table, "ours", "the compiler's", or None where nobody knows."""
    if path.is_relative_to(TOP / "vendored"):
        inside = path.relative_to(TOP / "vendored").as_posix()
        rows = [key for key in licences.VENDORED if inside.startswith(key)]
        return licences.VENDORED[max(rows, key=len)] if rows else None
    if path.is_relative_to(build) or path.parent.name.endswith("-headers") or "-headers/" in path.as_posix():
        return "ours"
    if path.is_relative_to(TOP) and path.relative_to(TOP).parts[0] in GENERATED + ("CMakeLists.txt",):
        return "ours"
    return "the compiler's" if COMPILER.match(path.as_posix()) or "/CMakeFiles/" in path.as_posix() else None


def asked_of_system(data: bytes) -> set[str]:
    """The shared libraries that a program or a library names."""
    if data[:4] == b"\x7fELF":
        dynamic = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic")
        return {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"} if dynamic else set()
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        listed = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", file.name], check=True, text=True, stdout=subprocess.PIPE).stdout
    return set(re.findall(r"DLL Name: (\S+)", listed))


def main(build: Path, wheel: Path) -> int:
    wrong, parts = [], {licences.CFFI}
    for path in sorted(read_files(build)):
        whose = owner(path, build)
        if whose is None:
            wrong.append(f"{path} was read, and belongs to nothing in python/licences.py")
        elif isinstance(whose, licences.Part):
            parts.add(whose)
    for word in sorted(linked(build)):
        if word not in ("-lm", "-ldl", "-lpthread") and not re.search(r"python3\.dll$|-lkernel32|-luser32|-lgdi32|-lwinspool|-lshell32|-lole32|-loleaut32|-luuid|-lcomdlg32|-ladvapi32|-lws2_32|-lbcrypt|-lwinpthread", word):
            wrong.append(f"{word} was linked, and belongs to nothing in python/licences.py")
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    binaries = {name: data for name, data in contents.items() if data[:4] == b"\x7fELF" or data[:2] == b"MZ"}
    told = contents.get("texturevlm/THIRD-PARTY.txt", b"").decode()
    runtimes = [part for rows in licences.RUNTIMES.values() for part in rows if f"{part.name}: {part.what}" in told]
    rows = [(part.name, part.licence) for part in [*sorted(parts), *runtimes]]
    for name, data in binaries.items():
        beside = [row for pattern, row in BESIDE.items() if re.fullmatch(pattern, Path(name).name)]
        if not OURS.match(name) and not beside:
            wrong.append(f"{name} is in the wheel, and in no table")
        rows += beside
        wrong += [f"{name} asks for {needed}, which not every such system has" for needed in asked_of_system(data) if not SYSTEM.fullmatch(needed)]
    if len(binaries) < 3:
        wrong.append(f"the wheel has {len(binaries)} programs and libraries of 3")
    for name, licence in sorted(set(rows)):
        print(f"{name:20} {licence}")
        if COPYLEFT.search(licence):
            wrong.append(f"{name} is under {licence}")
        if f"SPDX-License-Identifier: {licence}" not in told:
            wrong.append(f"texturevlm/THIRD-PARTY.txt does not say that {name} is under {licence}")
    size = wheel.stat().st_size
    if size > MOST:
        wrong.append(f"the wheel has {size} bytes, and {MOST} are the most")
    print("\n".join(wrong) if wrong else f"wheel: {size} bytes, parts of {len(set(rows))} projects")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2])))
