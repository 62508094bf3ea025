#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_packaging.py: whether debian/ and packaging/ say of the project what holds.

The version is that of the header, the options of CMake that they name exist, the files that they copy exist, and what vcpkg's port hands on
is found by running it, with functions in the place of vcpkg's own. The tools themselves are not asked (ci/deb, ci/conan). And whether
what ci/release says that the project is built with is what CMake's files look for.
"""
import importlib.machinery
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# vcpkg's functions, as a port sees them: they say what they were called with.
STUBS = """
foreach(name vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_copy_tools vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${name})\\nmessage(STATUS \\"${name} \\${ARGN}\\")\\nendfunction()")
endforeach()
function(vcpkg_find_acquire_program name)
  set(${name} /usr/bin/pkg-config PARENT_SCOPE)
endfunction()
function(vcpkg_check_features)
  cmake_parse_arguments(asked "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
  list(GET asked_FEATURES 1 option)
  set(${asked_OUT_FEATURE_OPTIONS} -D${option}=ON PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(asked "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  message(STATUS "source ${asked_SOURCE_PATH}")
  message(STATUS "options ${asked_OPTIONS}")
endfunction()
"""


def options_there():
    """Options that CMake's files define or ask for."""
    text = "".join(path.read_text(encoding="utf-8") for pattern in ("CMakeLists.txt", "cmake/*.cmake", "lib/CMakeLists.txt", "python/CMakeLists.txt")
                   for path in TOP.glob(pattern))
    found = set(re.findall(r"(?:option\(|set\(|find_program\(|find_path\()(TVLM_\w+)", text))
    found |= {f"TVLM_{name}" for name in re.findall(r"tvlm_(?:loaded_)?decoder\((\w+) ", text) + re.findall(r"tvlm_part\((\w+) \w+ \"", text)}
    return found | {"TVLM_ZIG", "TVLM_TARGET", "TVLM_PROCESSOR"}


# What CMake's files look for that no release is built with: tools, what tests need, and the project itself.
BESIDE = {"PkgConfig", "cmocka", "gstreamer-check-1.0", "texturevlm", "stb_image.h"}


def looked_for():
    """Names of libraries by which CMake's files look for them: pkg-config's, CMake's, or a header's."""
    folders = ("lib", "tools", "bench", "cmake", "integrations/*", "python", "tests", "examples")
    paths = [TOP / "CMakeLists.txt", *(path for folder in folders for name in ("CMakeLists.txt", "*.cmake") for path in TOP.glob(f"{folder}/{name}"))]
    text = re.sub(r"#.*", "", "\n".join(path.read_text(encoding="utf-8") for path in paths))
    found = set(re.findall(r"find_package\((\w+)", text)) | set(re.findall(r"find_path\(\w+ ([\w-]+\.h)\b", text))
    for words in re.findall(r"pkg_check_modules\(\w+ ([^)$]*)\)", text) + re.findall(r"^tvlm_(?:loaded_)?decoder\(\w+ \w+ ([^)]*)\)", text, re.MULTILINE) + \
            re.findall(r"^tvlm_part\(\w+ \w+ \"([^\"]*)\"", text, re.MULTILINE):
        found |= set(re.split(r"[;\s]+", words))
    found |= set(re.findall(r"\b\w+=([\w.-]+)=lib[\w-]+-dev", text))
    return found - {"QUIET", "REQUIRED", "IMPORTED_TARGET", ""} - BESIDE


def wrong_needs():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("release", str(TOP / "ci/release"))
    release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
    loader.exec_module(release)
    named, found = {name for need in release.NEEDS for name in need[4].split()}, looked_for()
    return [f"ci/release does not name {name}, which CMake's files look for" for name in sorted(found - named)] + \
        [f"ci/release names {name}, which no CMake file looks for" for name in sorted(named - found)]


def wrong_port():
    port = TOP / "packaging/vcpkg/texturevlm"
    if not shutil.which("cmake"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "run.cmake")
        script.write_text(f'cmake_minimum_required(VERSION 3.20)\n{STUBS}\nset(CURRENT_PACKAGES_DIR {folder})\nset(FEATURES core tools)\ninclude("{port}/portfile.cmake")\n', encoding="utf-8")
        done = subprocess.run(["cmake", "-P", script], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode or f"source {TOP}\n" not in done.stdout or "vcpkg_copy_tools TOOL_NAMES;tvlm" not in done.stdout:
        return [f"packaging/vcpkg: the port does not run as it should:\n{done.stdout}"]
    return []


def main():
    if not (TOP / "debian").exists():  # an sdist has neither
        print("SKIPPED: there is no debian/")
        return 77
    wrong = []
    header = (TOP / "include/texturevlm/version.h").read_text(encoding="utf-8")
    version = ".".join(re.search(rf"TVLM_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    files = sorted(path for folder in ("debian", "packaging") for path in (TOP / folder).rglob("*") if path.is_file() and "build" not in path.parts)
    texts = {str(path.relative_to(TOP)): path.read_text(encoding="utf-8") for path in files}
    said = {"packaging/vcpkg/texturevlm/vcpkg.json": json.loads(texts["packaging/vcpkg/texturevlm/vcpkg.json"])["version"],
            "packaging/conda/recipe.yaml": re.search(r'version: "([\d.]+)"', texts["packaging/conda/recipe.yaml"])[1],
            "debian/changelog": re.match(r"texturevlm \(([\d.]+)-", texts["debian/changelog"])[1]}
    wrong += [f"{name} is of version {other}, and the header of {version}" for name, other in said.items() if other != version]
    soname = version.rsplit(".", 1)[0]
    wrong += [f"debian/control has no libtexturevlm{part}{soname}" for part in ("", "-video") if f"Package: libtexturevlm{part}{soname}\n" not in texts["debian/control"]]
    known = options_there()
    for name, text in texts.items():
        named = set(re.findall(r"TVLM_[A-Z]+(?:_[A-Z]+)*(?![A-Za-z_{])", text)) - {"TVLM_OK", "TVLM_VERSION"}
        wrong += [f"{name} names the option {option}, which CMake does not know" for option in sorted(named - known)]
    recipe = texts["packaging/conan/conanfile.py"]
    for pattern in re.findall(r'"([^"]+)"', re.search(r"SOURCES = \((.*?)\)", recipe, re.DOTALL)[1]):
        if pattern != "vendored/*" and not list(TOP.glob(pattern)):
            wrong.append(f"packaging/conan/conanfile.py copies {pattern}, of which there is nothing")
    for part in re.findall(r'"([A-Z]+)"', re.search(r"for part in \(([^)]*)\)\}", recipe.replace('"MAJOR", "MINOR", "PATCH"', ""))[1]):
        if f"TVLM_{part}" not in known:
            wrong.append(f"packaging/conan/conanfile.py names the option TVLM_{part}, which CMake does not know")
    wrong += wrong_port() + wrong_needs()
    print("\n".join(wrong) if wrong else f"{len(texts)} files of packages agree with the project")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
