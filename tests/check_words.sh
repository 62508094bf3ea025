#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/check-words, in small projects: what can be read passes, and each kind of offence is named with its line.
set -euo pipefail
check=$(realpath "$(dirname "$0")/../ci/check-words")
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
fail() { echo "check_words: $1" >&2; exit 1; }

# times N WORD: the word so many times, with blanks between.
times() { seq "$1" | sed "s/.*/$2/" | paste -sd ' '; }
wide=$(times 26 four) # 129 characters
mkdir -p "$project"/{doc,bench}
cat >"$project/README.md" <<END
# A title
$(times 19 four)
$(times 6 four). $(times 12 four)
$(times 13 four)

Code is a word: \`$(times 9 x)\` $(times 20 w).

    $wide

\`\`\`
$wide
\`\`\`
| $wide |
- $(times 20 w)
- $(times 20 w)

![$wide](doc/a.jpg)
END
echo "    $wide" >"$project/doc/code.md"
echo "- [a link](https://example.org/$(times 90 x | tr ' ' /))" >"$project/doc/link.md"
"$check" "$project" >"$project/out" || fail "what can be read was refused: $(cat "$project/out")"
grep -qx '3 documents can be read' "$project/out" || fail "it said: $(cat "$project/out")"

# One file with one offence, and what is said of it.
offence() {
    local path=$1 text=$2 said=$3
    [ ! -e "$project/$path" ] || cp "$project/$path" "$project/kept"
    printf '%b' "$text" >"$project/$path"
    ! "$check" "$project" >"$project/out" || fail "$path may hold $text"
    [ "$(cat "$project/out")" = "$said" ] || fail "of $path it said: $(cat "$project/out")"
    if [ -e "$project/kept" ]; then mv "$project/kept" "$project/$path"; else rm "$project/$path"; fi
}
for path in CHANGELOG.md CONTRIBUTING.md SECURITY.md doc/wide.md bench/README.md; do
    offence "$path" "a\n\n$wide\n" "$path:3: 129 characters in a line, at most 100"
done
offence doc/list.md "- a\n\n    $wide\n" "doc/list.md:3: 133 characters in a line, at most 100"
offence doc/wrapped.md "a\n    $wide\n" "doc/wrapped.md:2: 133 characters in a line, at most 100"
offence doc/behind.md "\`\`\`\na\n\`\`\`\n$wide\n" "doc/behind.md:4: 129 characters in a line, at most 100"
offence README.md "$(printf 'a.\\n%.0s' {1..91})" "README.md: 91 lines, at most 90"
said="a sentence of 26 words, at most 25: w w w w w ..."
offence README.md "a\n\nNo. $(times 13 w)\n$(times 13 w)\n" "README.md:3: $said"
offence README.md "# $(times 26 w)\n" "README.md:1: $said"
offence README.md "- a\n- $(times 26 w)\n" "README.md:2: $said"
offence README.md "[$(times 13 w)](doc/code.md) $(times 13 w)? Yes.\n" "README.md:1: $said"
# Where there is no document, nothing was checked; and it takes no options.
mkdir "$project/empty"
! "$check" "$project/empty" >/dev/null || fail "an empty folder passes"
rc=0
"$check" --help >/dev/null 2>&1 || rc=$?
[ $rc -eq 2 ] || fail "an option ends with $rc"
echo "check_words: passed"
