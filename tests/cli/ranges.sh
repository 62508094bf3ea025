#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/ranges.sh TVLM [--update]: the range of each option of each command that takes a number, as the tool names it to who is
# outside of it, is the one in ranges.txt. --update writes that file: read what it changes. Options come from the help of all commands.
set -uo pipefail
here=$(realpath -e "$(dirname "${BASH_SOURCE[0]}")") && tvlm=$(realpath -e "$1") || exit 1
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# options PROGRAM COMMAND: those that take a value, as they are written in front of it.
options() {
    "$1" help "$2" all | sed -nE 's/^ {2,6}(-[A-Za-z], )?(--set [a-z0-9-]+=|--[a-z0-9-]+ ).*/\2/p; s/^ {2}(-[A-Za-z]) [A-Z].*/\1/p' |
        grep -vE '^--(set|give) $' | sort -u
}
# range PROGRAM COMMAND OPTION: "LOW .. HIGH", or nothing where the option takes no number that could be outside.
range() {
    local words
    case $3 in
    *=) words=(--set "${3#--set }-99999999999999") ;;
    *) words=("${3% }" -99999999999999) ;;
    esac
    [[ $3 != --*' ' || $3 == *= ]] || words=("${3% }=-99999999999999")
    "$1" "$2" "${words[@]}" none.png 2>&1 >/dev/null </dev/null |
        sed -nE 's/^.*: -9+ is not in (.*) \(see: .*/\1/p'
}

for program in "$tvlm" "$tvlm-lab"; do
    [ -x "$program" ] || continue
    commands="select tensors video channels devices"
    [ "$program" = "$tvlm" ] || commands="fit pca vocab compress attend logpolar"
    for command in $commands; do
        while IFS= read -r option; do
            found=$(range "$program" "$command" "$option")
            [ ! "$found" ] || echo "${program##*/} $command ${option% } $found"
        done < <(options "$program" "$command")
    done
done >found.txt

if [ "${2:-}" = --update ]; then
    { echo '# SPDX-License-Identifier: Apache-2.0' && cat found.txt; } >"$here/ranges.txt"
    exit
fi
left_out='^#'
[ -x "$tvlm-lab" ] || left_out='^#|^tvlm-lab '
grep -vE "$left_out" "$here/ranges.txt" >wanted.txt
[ "$(wc -l <found.txt)" -ge 20 ] || { echo "FAILED: only $(wc -l <found.txt) ranges were found"; exit 1; }
diff wanted.txt found.txt || { echo "FAILED: ranges are not those of ranges.txt (tests/cli/ranges.sh TVLM --update)"; exit 1; }
echo "$(wc -l <found.txt) ranges"
