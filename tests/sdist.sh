#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/sdist.sh [--wheel]: `python -m build --sdist` in a folder with builds packs the files that git has, and nothing of the builds.
# --wheel: and of that archive alone, in a folder where git knows nothing and cannot be asked, a wheel is built, which takes some
# minutes. Exit 77 where there is no git to compare with, or PyPI has not been reached yet.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v git >/dev/null && [ -e .git ] || { echo "SKIPPED: there is no git"; exit 77; }
tools=$(ci/python-tools) || exit $?
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() { PATH=$tools/venv/bin:$PATH "$tools/venv/bin/python3" -m build --no-isolation "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; return 1; }; }

# A copy of what git has, with what is not to be packed: builds, their folders' names inside others, and what Python leaves.
mkdir "$work/source"
git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'cp --parents -t "$0" "$@" 2>/dev/null || true' "$work/source"
for made in build/lib/a.o build-python/CMakeCache.txt out/full/gcc.log vendored/complete python/texturevlm/__pycache__/_core.cpython-311.pyc \
    notes.txt debs/a.deb; do
    mkdir -p "$work/source/$(dirname "$made")"
    echo "not to be packed" >"$work/source/$made"
done
(cd "$work/source" && build --sdist --outdir "$work/made" .)
archive=$(echo "$work"/made/*.tar.gz)
tar tzf "$archive" | grep -v '/$' | sed 's|^[^/]*/||' | grep -v '^PKG-INFO$' | LC_ALL=C sort >"$work/packed"
# What belongs to other ways of packing, or to who works on the project, is in git alone.
git ls-files --cached --others --exclude-standard | grep -vE '^(\.|debian/|packaging/)' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done | LC_ALL=C sort |
    diff - "$work/packed" || { echo "FAILED: the archive (right) has other files than git (left)"; exit 1; }
echo "$(wc -l <"$work/packed") files, $(stat -c %s "$archive") bytes"
[ "${1:-}" = --wheel ] || exit 0

mkdir "$work/alone" "$work/shim"
tar xzf "$archive" -C "$work/alone" --strip-components=1
printf '#!/bin/sh\necho "$@" >>"%s/asked"\nexit 99\n' "$work" >"$work/shim/git"
chmod +x "$work/shim/git"
(cd "$work/alone" && PATH=$work/shim:$PATH build --wheel --outdir "$work/wheels" .)
[ ! -e "$work/asked" ] || { echo "FAILED: git was asked: $(cat "$work/asked")"; exit 1; }
python3 - "$work"/wheels/texturevlm-*.whl <<'END'
import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
for wanted in ("texturevlm/_binding.abi3.so", "texturevlm/tvlm", "texturevlm/tvlm-lab", "texturevlm/__init__.py"):
    assert wanted in names, f"the wheel has no {wanted}"
print(f"a wheel of {len(names)} files")
END
