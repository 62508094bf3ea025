#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/check-citations, in small projects: what is there passes in every way of naming it, and each kind of offence is named
# with its line.
set -euo pipefail
check=$(realpath "$(dirname "$0")/../ci/check-citations")
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
fail() { echo "check_citations: $1" >&2; exit 1; }

mkdir -p "$project"/{doc,lib/core,include,ci}
cat >"$project/doc/words.md" <<'END'
A path from the top (lib/core/text.c), from here ([README](../README.md)), and the end of one: core/text.c, text.c.
Elsewhere: ../shared/data/README.md, https://example.org/none.md, <stdio.h>; any of them: tests/test_NAME.c, lib/*/te*.c.
END
echo 'See doc/words.md.' >"$project/README.md"
printf '/* text.c: as doc/words.md\n * says */\nconst char *const file = "no_comment.c"; // words.md\n' >"$project/lib/core/text.c"
echo '#include <stdint.h>' >"$project/include/text.h"
printf '#!/usr/bin/env bash\n# As text.c does.\ncat none.md\n' >"$project/ci/run"
printf '"""As text.c does."""\nopen("none.md")\n' >"$project/ci/run.py"
"$check" "$project" || fail "what is there was refused"

# One file at a time, with one offence: file, line, what it holds.
offence() {
    local path=$1 line=$2 cited=$3 text=$4 kept="" out
    [ ! -e "$project/$path" ] || kept=$(cat "$project/$path")
    printf '%b' "$text" >"$project/$path"
    out=$("$check" "$project") && fail "$path may cite $cited"
    [ "$out" = "$path:$line: cites $cited, which is not there" ] || fail "of $path it said: $out"
    if [ "$kept" ]; then echo "$kept" >"$project/$path"; else rm "$project/$path"; fi
}
offence lib/core/block.c 2 doc/gone.md '/*\n * As doc/gone.md says. */\n'
offence lib/core/line.h 1 gone.h 'int a; // see gone.h\n'
offence include/public.h 2 gone.h '/* */\n#include "gone.h"\n'
offence doc/other.md 3 ../core/text.c '\n\n[the text](../core/text.c)\n'
offence doc/shared.md 1 ../shared/plan.md '../shared/plan.md\n'
offence lib/core/kernel.cl 1 gone.clh '// gone.clh\n'
offence ci/build 2 gone.py '#!/bin/sh\necho \x23 gone.py\n'
offence ci/more.py 3 gone.cl 'a = 1\n\n"""gone.cl"""\n'
offence ci/less.py 2 gone.md '\n# gone.md\n'
# A file that another cites goes away.
rm "$project/README.md"
"$check" "$project" >"$project/out" && fail "a file that was removed may be cited"
grep -qx 'doc/words.md:1: cites ../README.md, which is not there' "$project/out" || fail "of a removed file it said: $(cat "$project/out")"
# Where nothing is cited, nothing was checked.
mkdir "$project/empty"
! "$check" "$project/empty" >/dev/null || fail "an empty folder passes"
echo "check_citations: passed"
