#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/manual.sh TVLM TVLM_SCENE [DEVICE]: what is made of the tables of options: the pages for man have every option of
# --help and are good roff; bash offers commands, options, and what an option takes. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"


manual=$work/in/manual
mkdir "$manual"
succeeds "$tvlm" --manual "$manual"
refused 1 'nowhere/tvlm.1' "$tvlm" --manual nowhere
succeeds "$lab" --manual "$manual"
[ ! -x "${tvlm%/*}/tvlm-bench" ] || succeeds "${tvlm%/*}/tvlm-bench" --manual "$manual"
# commands PROGRAM: what its --help names.
commands() { "$1" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'; }
is "the commands are not found in --help" test "$(commands "$tvlm" | wc -w)" -ge 6
is "the commands of the lab are not found in --help" test "$(commands "$lab" | wc -w)" -eq 6
# options PROGRAM COMMAND: all its options, and its settings as --set=NAME.
options() {
    "$1" "$2" --help all | grep -oE '^  (-[a-zA-Z]|   )(, | )?--(set )?[a-z0-9-]+' | sed 's/--set \([a-z]\)/--set=\1/' | grep -oE -- '-+[a-zA-Z][a-z0-9=-]*'
}

# What a first reader sees fits three screens (tensors has more to say), and all of it is there for those who ask.
is "select --help has more than 70 lines" test "$("$tvlm" select --help | wc -l)" -le 70
is "select --help all has no more than select --help" test "$("$tvlm" select --help all | wc -l)" -gt 150

echo "== pages"
for program in "$tvlm" "$lab"; do
    name=${program##*/}
    for command in $(commands "$program"); do
        page=$manual/$name-$command.1
        [[ $command != bench || -e $page ]] || continue
        for option in $(options "$program" "$command"); do
            option=${option/=/ }
            is "$page lacks $option" grep -qF -- "\\fB${option//-/\\-}\\fR" "$page"
        done
        is "$name.1 lacks $command" grep -qx ".B $command" "$manual/$name.1"
    done
done
if command -v groff >/dev/null; then
    for page in "$manual"/*.1; do
        warnings=$(groff -man -ww -Tascii "$page" 2>&1 >/dev/null)
        is "${page##*/}: $warnings" test -z "$warnings"
    done
fi

# Details are filled as any text: a page fits a terminal. What groff sets in bold or underlines is not counted.
if command -v groff >/dev/null; then
    for page in "$manual"/*.1; do
        wide=$(groff -man -Tascii -P-cbou "$page" 2>/dev/null | awk 'length > 80' | head -1)
        is "${page##*/} has a line that is wider than 80 columns: $wide" test -z "$wide"
    done
fi

echo "== programs that are not there"
mkdir "$work/in/alone" "$work/in/alone/manual"
cp "$tvlm" "$work/in/alone/tvlm"
alone() { LD_LIBRARY_PATH=${tvlm%/*}/../lib PATH=$work/in/alone "$work/in/alone/tvlm" "$@"; }
succeeds alone --manual "$work/in/alone/manual"
is "--help lists a program that is not there" test -z "$(alone --help | grep -E '^  (bench|lab) ')"
is "a page or completion lists a program that is not there" test -z "$(grep -E "^\.B (bench|lab)$| devices (bench|lab)|'(bench|lab):" "$work"/in/alone/manual/*tvlm{,.1})"
is "--help does not list what is there" test -n "$(touch "$work/in/alone/tvlm-lab" && chmod +x "$work/in/alone/tvlm-lab" && alone --help | grep '^  lab ')"

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
offered "channels" tvlm help ch
offered "all" tvlm help select ""
offered "" tvlm help select s
offered "" tvlm help select all ""
offered "--strategy" tvlm select photo.png --stra
offered "foveated" tvlm select photo.png --strategy fo
offered "foveated" tvlm select photo.png --strategy = fo
offered "grid foveated quadtree exhaustive cascade budget" tvlm select photo.png --strategy =
offered "image" tvlm channels --basis im
offered "saliency=" tvlm select photo.png --give sal
offered "keep-regions=" tvlm select photo.png --set keep
offered "cover" tvlm select photo.png --set cov
offered "" tvlm select photo.png -o x
offers tvlm select --stride 1 >/dev/null # in this shell: it sets `default`
COMP_WORDS=(tvlm select --stride 1) COMP_CWORD=3 default=yes
_tvlm
is "files are offered where a number is due" test "$default" = no
# each PROGRAM: for each of its commands bash offers all of its options.
each() {
    for command in $(commands "$1"); do
        [ "$command" != bench ] || continue
        is "bash does not offer the options of $command" test "$(offers "${1##*/}" "$command" -- | tr ' ' '\n' | sort)" = \
            "$(options "$1" "$command" | grep -v -- --set= | grep -oE -- '--[a-z0-9-]+' | sort)"
    done
}
each "$tvlm"
. "$manual/tvlm-lab"
_tvlm() { _tvlm_lab; }
each "$lab"

echo "== zsh"
for name in tvlm tvlm-lab; do is "zsh: the first line" grep -qx "#compdef $name" <(head -1 "$manual/_$name"); done
# What a value follows has no blank behind it.
is "zsh: a channel gets a blank" grep -qE -- "'\*--give=.*:\{.* compadd .* -S \"\" -- attention= .*\}'" "$manual/_tvlm"
is "zsh: a setting gets a blank" grep -qE -- "'\*--set=.*:\{.* compadd .* -S \"\" -- min-distance= .*\}'" "$manual/_tvlm"
is "zsh: what help takes" grep -qE 'CURRENT == 3 .* compadd all;' "$manual/_tvlm"
if command -v zsh >/dev/null; then is "zsh cannot read it" zsh -n "$manual/_tvlm"; fi

finish
