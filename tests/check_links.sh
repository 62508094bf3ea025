#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/check-links: it finds a circle of files that is too long, what the library asks of the tools, and a strategy whose files
# ask each other for too much, and names the files.
set -euo pipefail
cd "$(dirname "$0")/.."
check=$PWD/ci/check-links
command -v nm >/dev/null || { echo "SKIPPED: no nm"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "check_links: $1" >&2; exit 1; }

# File N of a circle of so many calls the next one.
circle() {
    local count=$1
    rm -rf "$folder/lib"
    mkdir -p "$folder/lib/room"
    for n in $(seq "$count"); do
        printf 'int f%d(int i);\nint f%d(int i);\nint f%d(int i) { return i > 0 ? f%d(i - 1) : 0; }\n' \
            "$n" $((n % count + 1)) "$n" $((n % count + 1)) >"$folder/f$n.c"
        "${CC:-cc}" -c "$folder/f$n.c" -o "$folder/lib/room/f$n.c.o"
    done
}

mkdir -p "$folder/tools"
printf 'int in_tools(void);\nint in_tools(void) { return 1; }\n' >"$folder/tool.c"
"${CC:-cc}" -c "$folder/tool.c" -o "$folder/tools/tool.c.o"

circle 5
"$check" "$folder/lib" "$folder/tools" >"$folder/out" || fail "a circle of five is refused: $(cat "$folder/out")"
circle 6
! "$check" "$folder/lib" "$folder/tools" >"$folder/out" || fail "a circle of six is let pass"
grep -qxF "6 files need each other, and at most 5 may: room/f1.c room/f2.c room/f3.c room/f4.c room/f5.c room/f6.c" "$folder/out" ||
    fail "of the circle it said: $(cat "$folder/out")"

circle 2
printf 'int in_tools(void);\nint asks(void);\nint asks(void) { return in_tools(); }\n' >"$folder/asks.c"
"${CC:-cc}" -c "$folder/asks.c" -o "$folder/lib/room/asks.c.o"
! "$check" "$folder/lib" "$folder/tools" >"$folder/out" || fail "the library may ask the tools"
grep -qxF "room/asks.c asks for in_tools, which tool.c defines" "$folder/out" || fail "it said: $(cat "$folder/out")"

mkdir "$folder/lab"
mv "$folder/lib/room/asks.c.o" "$folder/lab/"
! "$check" "$folder/lib" "$folder/lab" "$folder/tools" >"$folder/out" || fail "the lab may ask the tools"
grep -qxF "asks.c asks for in_tools, which tool.c defines" "$folder/out" || fail "of the lab it said: $(cat "$folder/out")"

# A file of the strategy budget defines 45 functions, and another one asks for COUNT of them.
strategy() {
    local count=$1
    rm -rf "$folder/lib" "$folder/lab"
    mkdir -p "$folder/lib/select"
    for n in $(seq 45); do printf 'int b%d(void);\nint b%d(void) { return %d; }\n' "$n" "$n" "$n"; done >"$folder/tree.c"
    for n in $(seq "$count"); do printf 'int b%d(void);\nint a%d(void);\nint a%d(void) { return b%d(); }\n' "$n" "$n" "$n" "$n"; done \
        >"$folder/solve.c"
    "${CC:-cc}" -c "$folder/tree.c" -o "$folder/lib/select/budget_tree.c.o"
    "${CC:-cc}" -c "$folder/solve.c" -o "$folder/lib/select/budget_solve.c.o"
}

strategy 44
"$check" "$folder/lib" >"$folder/out" || fail "a strategy that asks for 44 functions is refused: $(cat "$folder/out")"
strategy 45
! "$check" "$folder/lib" >"$folder/out" || fail "a strategy may ask for 45 functions"
grep -q "^the files of the strategy budget ask lib/select for 45 functions, and may for 44: b1 b10 " "$folder/out" ||
    fail "of the strategy it said: $(cat "$folder/out")"

rm -rf "$folder/lib"
mkdir "$folder/lib"
rc=0
"$check" "$folder/lib" 2>/dev/null || rc=$?
[ $rc -eq 2 ] || fail "without a file it ends with $rc"
echo "check_links: ok"
