#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/release.sh: what ci/release makes is whole: the sums hold, all files of the archive are in the list of what is in it, and a
# second run makes the same bytes; so are the copies of ci/vendor, where they are there. Exit 77 where there is no git, or the tree has changes.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v git >/dev/null && [ -e .git ] || { echo "SKIPPED: there is no git"; exit 77; }
[ -z "$(git status --porcelain)" ] || { echo "SKIPPED: the tree has changes"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copies=()
! ci/vendor --check 2>/dev/null || copies=(--vendored)
ci/release "${copies[@]}" "$work/a" >/dev/null
TZ=Asia/Tokyo LC_ALL=C ci/release "${copies[@]}" "$work/b" >/dev/null
diff -r "$work/a" "$work/b"
(cd "$work/a" && sha256sum --quiet -c SHA256SUMS)
if [ "${copies[*]}" ]; then
    mkdir "$work/unpacked"
    tar xzf "$work"/a/*-vendored.tar.gz -C "$work/unpacked" --strip-components=1
    diff -r vendored "$work/unpacked/vendored"
    rm "$work"/a/*-vendored.tar.gz
fi
tar tzf "$work"/a/*.tar.gz | grep -v '/$' | sed 's|^[^/]*/|./|' | LC_ALL=C sort >"$work/archived"
python3 - "$work"/a/*.spdx.json >"$work/listed" <<'EOF'
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
known = {"SPDXRef-DOCUMENT", *(part["SPDXID"] for part in document["packages"] + document["files"])}
assert all(r["spdxElementId"] in known and r["relatedSpdxElement"] in known for r in document["relationships"])
print("\n".join(file["fileName"] for file in document["files"]))
EOF
LC_ALL=C sort "$work/listed" | diff "$work/archived" -
echo "$(wc -l <"$work/archived") files"
