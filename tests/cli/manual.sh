#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/manual.sh TVLM TVLM_SCENE [DEVICE]: what is made of the tables of options: the pages for man have every option of
# --help and are good roff; bash offers commands, options, and what an option takes. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"


manual=$work/in/manual
mkdir "$manual"
succeeds "$tvlm" --manual "$manual"
refused 1 'nowhere/tvlm.1' "$tvlm" --manual nowhere
[ ! -x "${tvlm%/*}/tvlm-bench" ] || succeeds "${tvlm%/*}/tvlm-bench" --manual "$manual"
commands=$("$tvlm" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
is "the commands are not found in --help" test "$(wc -w <<<"$commands")" -ge 9

echo "== pages"
for command in $commands; do
    page=$manual/tvlm-$command.1
    [[ $command != bench || -e $page ]] || continue
    for option in $("$tvlm" "$command" --help | grep -oE '^  (-[a-zA-Z]|   )(, | )?--[a-z0-9-]+' | grep -oE -- '-+[a-zA-Z][a-z0-9-]*'); do
        is "$page lacks $option" grep -qF -- "\\fB${option//-/\\-}\\fR" "$page"
    done
    is "tvlm.1 lacks $command" grep -qx ".B $command" "$manual/tvlm.1"
done
if command -v groff >/dev/null; then
    for page in "$manual"/*.1; do
        warnings=$(groff -man -ww -Tascii "$page" 2>&1 >/dev/null)
        is "${page##*/}: $warnings" test -z "$warnings"
    done
fi

echo "== bash"
. "$manual/tvlm"
# offers WORD...: what the last word may become, in one line. (compopt works in a real completion only.)
compopt() { default=no; }
offers() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=() default=yes
    _tvlm
    echo "${COMPREPLY[*]}"
}
offered() { # EXPECTED WORD...
    local expected=$1 found
    shift
    found=$(offers "$@")
    is "behind '$*' bash offers '$found', not '$expected'" test "$found" = "$expected"
}
offered "select" tvlm se
offered "generate" tvlm help gen
offered "--strategy" tvlm select photo.png --stra
offered "foveated" tvlm select photo.png --strategy fo
offered "foveated" tvlm select photo.png --strategy = fo
offered "grid foveated quadtree exhaustive cascade budget" tvlm select photo.png --strategy =
offered "image" tvlm generate --basis im
offered "" tvlm select photo.png -o x
offers tvlm select --stride 1 >/dev/null # in this shell: it sets `default`
COMP_WORDS=(tvlm select --stride 1) COMP_CWORD=3 default=yes
_tvlm
is "files are offered where a number is due" test "$default" = no
for command in $commands; do
    [ "$command" != bench ] || continue
    offered "$("$tvlm" "$command" --help | grep -oE '^  (-[a-zA-Z]|   )(, | )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' |
        tr '\n' ' ' | sed 's/ $//')" tvlm "$command" --
done

echo "== zsh"
is "zsh: the first line" grep -qx '#compdef tvlm' <(head -1 "$manual/_tvlm")
if command -v zsh >/dev/null; then is "zsh cannot read it" zsh -n "$manual/_tvlm"; fi

finish
