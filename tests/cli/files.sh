#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/files.sh TVLM TVLM_SCENE [DEVICE]: no output takes the place of an input, or of another output, whatever it is
# called. Which options name files is asked of the tools' own tables (tvlm --files), so that a new option is tried as well.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
"$scene" "$in/a.png" 64 48 && cp "$in/a.png" "$in/b.png" || exit 1
"$tvlm" --files >"$work/files" && "$lab" --files >>"$work/files" || exit 1

# operands COMMAND [OPTION]: operands of a command, so many files that it takes with that option.
operands() {
    case $1${2:-} in
    channels--picture | channels--confidence) echo "--flow $in/a.png $in/b.png" ;;
    compress*) echo "apply $in/a.png" ;;
    vocab*) echo "apply $in/a.png $in/b.png" ;;
    pca*) echo "validate $in/a.png $in/b.png" ;;
    *) echo "$in/a.png" ;;
    esac
}

# reading OPTION FILE: how the option names the file that it reads.
reading() {
    case $1 in
    --give) echo "--give=depth=$2" ;;
    '--set '*) echo "--set=${1#--set }=$2" ;;
    *) echo "$1=$2" ;;
    esac
}

# kept WHAT FILE ARGUMENTS...: the command refuses to write FILE, which is an input, and leaves it as it is.
kept() {
    local what=$1 file=$2 before
    shift 2
    before=$(cksum <"$file")
    refused 1 "is the input; it is not overwritten" "$(program "$1")" "$@"
    [ "$(cksum <"$file")" = "$before" ] || complain "$what: the input is lost"
}

# ways NAME...: which of several ways to call a file are tried, in names: all, or with TVLM_TEST_QUICK the last one.
ways() {
    names=("$@")
    [ "${TVLM_TEST_QUICK:-0}" != 1 ] || names=("${@: -1}")
}

echo "== inputs and outputs"
pairs=0
while read -r command kind output; do
    [[ $kind == output || $kind == pattern ]] || continue
    read -r -a given <<<"$(operands "$command")"
    for file in "${given[@]}"; do
        [ -f "$file" ] || continue
        ln -sf "$file" link.png
        ln -f "$file" "$in/hard.png"
        ways "$file" "$in/../in/${file##*/}" "$in/hard.png" link.png
        for name in "${names[@]}"; do
            kept "$command $output" "$file" "$command" "${given[@]}" "$output" "$name"
        done
        rm -f link.png "$in/hard.png"
    done
    while read -r other reads input; do
        [[ $other == "$command" && $reads =~ ^(inputs?|give)$ ]] || continue
        cp "$in/a.png" "$in/both"
        ways "$in/both" "$in/./both"
        for name in "${names[@]}"; do
            kept "$command $input $output" "$in/both" "$command" "${given[@]}" "$(reading "$input" "$in/both")" "$output" "$name"
        done
        pairs=$((pairs + 1))
    done <"$work/files"
done <"$work/files"
echo "$pairs pairs of options"
[ $pairs -ge 40 ] || complain "only $pairs pairs: the tables do not say what is read and written"

echo "== stdin"
checks=$((checks + 1))
before=$(cksum <"$in/a.png")
"$tvlm" select - -o "$in/a.png" <"$in/a.png" 2>"$work/stderr" && complain "stdin is overwritten"
grep -q 'is the input' "$work/stderr" || complain "stdin is not known to be the input"
[ "$(cksum <"$in/a.png")" = "$before" ] || complain "stdin is lost"

echo "== files that are found in folders"
mkdir "$in/yolo" "$in/masks" "$in/maps"
echo '0 0.5 0.5 0.2 0.2' >"$in/yolo/a.txt"
cp "$in/a.png" "$in/masks/a_mask.png"
cp "$in/a.png" "$in/maps/a.png"
echo '{"images": [], "annotations": []}' >"$in/maps/coco.json"
kept "fit --yolo" "$in/yolo/a.txt" fit "$in/a.png" --yolo "$in/yolo" -o "$in/yolo/a.txt"
kept "fit --masks" "$in/masks/a_mask.png" fit "$in/a.png" --masks "$in/masks" -o "$in/masks/a_mask.png"
kept "fit --coco" "$in/maps/a.png" fit "$in/a.png" --coco "$in/maps/coco.json" -o "$in/maps/a.png"
cp "$in/a.png" "$in/frame-000000.png"
kept "video --overlay" "$in/frame-000000.png" video "$in/frame-000000.png" ${device:+"$device"} --overlay "$in"

echo "== two outputs of one name"
# apart WHAT COMMAND OPTION OPTION: whatever the two call one file, they are refused.
ln -s one loose
apart() {
    local given
    read -r -a given <<<"$(operands "$2" "${3#--output}${4#--output}")"
    ways one ./one ../out/one "$work/out/one" loose
    for name in "${names[@]}"; do
        refused 2 'name the same file' "$(program "$2")" "$2" "${given[@]}" "$3" one "$4" "$name"
        : >one # the same once it exists
        refused 2 'name the same file' "$(program "$2")" "$2" "${given[@]}" "$3" one "$4" "$name"
        rm one
    done
}
while read -r command kind output; do
    while read -r other kind_of_other second; do
        [[ $other == "$command" && $second != "$output" && $kind =~ ^(output|pattern)$ && $kind_of_other =~ ^(output|pattern)$ ]] || continue
        [[ $command == video || $command == pca ]] && continue # these take no two
        apart "$command $output $second" "$command" "$output" "$second"
    done <"$work/files"
done <"$work/files"
cp "$in/a.png" "$in/yolo/a.png"
refused 2 'two images' "$tvlm" select "$in/a.png" "$in/yolo/a.png" --overlay o.png
succeeds "$tvlm" select "$in/a.png" ${device:+"$device"} -k 2 -o /dev/null --overlay /dev/null

finish
