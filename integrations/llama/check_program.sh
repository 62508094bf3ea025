#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_program.sh TVLM_MTMD LLAMA_MTMD_CLI MODELS FOLDER: the program tvlm-mtmd on models of random weights (models.py). With all tokens
# kept it answers what llama-mtmd-cli does, to the letter; and bad input gives one line and an error status. FOLDER has PHOTO.png
# of check_llama.py, and takes files.
set -uo pipefail
export LC_ALL=C # answers of random weights are no UTF-8
[ $# -eq 4 ] || { echo "usage: check_program.sh TVLM_MTMD LLAMA_MTMD_CLI MODELS FOLDER" >&2; exit 2; }
program=$1 theirs=$2 models=$3 folder=$4 failed=0
fail() { echo "FAILED: $*"; failed=1; }
photo=$folder/qwen2-vl.png
one=$models/qwen2-vl
files=(-m "$one/model.gguf" --mmproj "$one/mmproj.gguf" -t 1)

# ---- All tokens kept ----
for model in qwen2-vl qwen2.5-vl qwen3-vl gemma3; do
    words=(-m "$models/$model/model.gguf" --mmproj "$models/$model/mmproj.gguf" --image "$photo" -p "what is it?" -n 24 --temp 0 -t 1)
    "$program" "${words[@]}" --budget 4000 >"$folder/ours" 2>"$folder/said" || fail "$model: tvlm-mtmd: $(cat "$folder/said")"
    # llama-mtmd-cli has an empty line before the answer, and two behind it. Its logger is a thread, and now and then the
    # program ends before all is written: then it is asked again.
    for _ in 1 2 3 4 5; do
        "$theirs" "${words[@]}" >"$folder/theirs" 2>/dev/null || fail "$model: llama-mtmd-cli"
        same=$([ "$(sed '/^$/d' "$folder/theirs")" = "$(sed '/^$/d' "$folder/ours")" ] && echo yes)
        [ ! "$same" ] || break
    done
    [ "$same" ] || fail "$model: another answer than llama-mtmd-cli's"
    [ -s "$folder/ours" ] || fail "$model: no answer"
    echo "$model: the answer of llama-mtmd-cli, $(wc -c <"$folder/ours") bytes"
done

# ---- Fewer tokens, a report and a picture ----
"$program" "${files[@]}" --image "$photo" -p "what?" -n 4 --budget 40 --report --overlay "$folder/overlay.png" >"$folder/ours" 2>"$folder/said" ||
    fail "a budget of 40: $(cat "$folder/said")"
[ "$(head -c 4 "$folder/overlay.png" | tail -c 3)" = PNG ] || fail "no overlay"
[ "$(grep -c ': loss\|, loss' "$folder/said")" -ge 3 ] || fail "no report: $(cat "$folder/said")"
kept=$(sed -n 's/.*: \([0-9]*\) tokens of images.*/\1/p' "$folder/said")
[ "${kept:-99}" -le 40 ] || fail "a budget of 40 gave $kept tokens"

# Pictures that were asked for are never predicted worse than a smaller picture, and never leave tokens out of one.
for budget in 12 30 60 100 160; do
    "$program" "${files[@]}" --image "$photo" -p "what?" -n 0 --budget $budget --way pictures --report >"$folder/ours" 2>"$folder/said" ||
        fail "pictures of $budget: $(cat "$folder/said")"
    read -r way loss < <(sed -n '1s/.*: \([a-z]*\), [0-9]* tokens of [0-9]*, loss \([.0-9]*\),.*/\1 \2/p' "$folder/said")
    smaller=$(sed -n 's/.* smaller: .* loss \([.0-9]*\)$/\1/p' "$folder/said")
    [[ $way = pictures || $way = smaller ]] && awk "BEGIN { exit !($loss <= $smaller) }" || fail "pictures of $budget: $(cat "$folder/said")"
done

# ---- The options of llama-mtmd-cli by all their names ----
"$program" -m "$one/model.gguf" -mm "$one/mmproj.gguf" --threads 1 --image "$photo" --prompt "what?" --n-predict 4 --temperature 0 --n-gpu-layers auto \
    --ctx-size 0 --batch-size 2048 --seed -1 --budget 40 >"$folder/theirs" 2>"$folder/said" || fail "other names: $(cat "$folder/said")"
"$program" "${files[@]}" --image "$photo" -p "what?" -n 4 --temp 0 -ngl all -c 0 -b 2048 -s 0 --budget 40 >"$folder/ours" 2>"$folder/said" ||
    fail "short names: $(cat "$folder/said")"
[ -s "$folder/ours" ] && cmp -s "$folder/ours" "$folder/theirs" || fail "other names give another answer"

# ---- Two looks: the question decides ----
"$program" "${files[@]}" --image "$photo" -p "what?" -n 4 --budget 60 --looks 2 --report --overlay "$folder/overlay.png" >"$folder/ours" \
    2>"$folder/said" || fail "two looks: $(cat "$folder/said")"
grep -q ': two looks, [0-9]* tokens of .*, chosen in ' "$folder/said" && [ "$(grep -c ' look: [0-9]* tokens of [0-9]* x [0-9]*$' "$folder/said")" -eq 2 ] ||
    fail "no two looks: $(cat "$folder/said")"
[ "$(sed -n 's/.*: two looks, \([0-9]*\) .*/\1/p' "$folder/said")" = "$(sed -n 's/.*: \([0-9]*\) tokens of images (4 of them around.*/\1/p' "$folder/said")" ] ||
    fail "two looks: two counts: $(cat "$folder/said")"
grep -q 'of text ([0-9]* of them once more for the first look)' "$folder/said" || fail "two looks: not what was computed twice: $(cat "$folder/said")"
[ -s "$folder/ours" ] && [ "$(head -c 4 "$folder/overlay.png" | tail -c 3)" = PNG ] || fail "two looks: no answer, or no overlay"
printf '/image %s\nwhat?\nand?\n/image %s\nwhere?\n/image %s\n/image %s\n/quit\n' "$photo" "$photo" "$photo" "$photo" |
    "$program" "${files[@]}" -n 6 --share 0.4 --looks 2 >"$folder/ours" 2>"$folder/said" || fail "a chat of two looks: $(cat "$folder/said")"
[ "$(grep -c prefill "$folder/said")" -eq 3 ] && [ "$(grep -c 'two looks, ' "$folder/said")" -eq 2 ] || fail "a chat of two looks: $(cat "$folder/said")"
grep -q 'two looks are for one image' "$folder/said" || fail "a second image for two looks: $(cat "$folder/said")"

# ---- A chat: the second question goes on where the first ended, and /clear forgets it ----
printf '/image %s\nwhat?\nand?\n/clear\n/image %s\nwhat?\n/quit\n' "$photo" "$photo" |
    "$program" "${files[@]}" -n 6 --budget 40 >"$folder/ours" 2>"$folder/said" || fail "chat: $(cat "$folder/said")"
[ "$(grep -c prefill "$folder/said")" -eq 3 ] || fail "chat: $(cat "$folder/said")"
[ "$(sed -n 1p "$folder/ours")" = "$(tail -n 1 "$folder/ours")" ] || fail "chat: /clear leaves something"
[ "$(sed -n 1p "$folder/ours")" != "$(sed -n 2p "$folder/ours")" ] || fail "chat: the second answer is the first"

# Lines are taken as llama-mtmd-cli takes them: without blanks around them and the CR of Windows. An image without a name, or
# that cannot be opened, is told, and that the question is asked without it.
printf '/image %s\nwhat?\n' "$photo" | "$program" "${files[@]}" -n 6 --budget 40 >"$folder/theirs" 2>"$folder/said" || fail "chat: $(cat "$folder/said")"
printf ' \t\r\n/image\n/image  \r\n  /image   %s \r\n\twhat? \r\n /exit\r\nwhat?\n' "$photo" |
    "$program" "${files[@]}" -n 6 --budget 40 >"$folder/ours" 2>"$folder/said" || fail "chat: blanks: $(cat "$folder/said")"
cmp -s "$folder/ours" "$folder/theirs" || fail "chat: blanks give another answer: $(cat "$folder/said")"
[ "$(grep -c 'without the name of a file' "$folder/said")" -eq 2 ] || fail "chat: an image without a name: $(cat "$folder/said")"
printf '/image %s\nwhat?\n/quit \nwhat?\n' "$folder/none.png" | "$program" "${files[@]}" -n 6 >"$folder/ours" 2>"$folder/said" || fail "chat: $(cat "$folder/said")"
[ "$(grep -c 'asked without this image' "$folder/said")" -eq 1 ] && [ "$(grep -c prefill "$folder/said")" -eq 1 ] ||
    fail "chat: an image that is not there: $(cat "$folder/said")"

# A question that cannot be asked changes nothing of what was said; half an answer does, and is told.
printf 'what?\nand?\n' | "$program" "${files[@]}" -n 6 >"$folder/theirs" 2>"$folder/said" || fail "chat: $(cat "$folder/said")"
printf 'what?\n<__media__>?\nand?\n' | "$program" "${files[@]}" -n 6 >"$folder/ours" 2>"$folder/said" || fail "chat: $(cat "$folder/said")"
cmp -s "$folder/ours" "$folder/theirs" || fail "chat: a question that could not be asked changed the next answer"
printf 'what?\nand?\n' | "$program" "${files[@]}" -n 400 -c 256 >"$folder/ours" 2>"$folder/said" || fail "chat: $(cat "$folder/said")"
[ "$(grep -c 'cache is full' "$folder/said")" -eq 2 ] && [ "$(grep -c 'is forgotten' "$folder/said")" -eq 2 ] ||
    fail "chat: half an answer: $(cat "$folder/said")"

# ---- What cannot be written ----
"$program" --help >/dev/full 2>"$folder/said" && fail "help that cannot be written"
[ "$(wc -l <"$folder/said")" -eq 1 ] || fail "help that cannot be written: $(cat "$folder/said")"
printf 'what?\nand?\n' | "$program" "${files[@]}" -n 6 >/dev/full 2>"$folder/said" && fail "a chat that cannot be written"
[ "$(grep -c 'cannot be written' "$folder/said")" -eq 1 ] || fail "a chat that cannot be written: $(cat "$folder/said")"

# ---- Bad input ----
# refuse STATUS WORDS...: exits with that status and one line, before any answer. refuse_planned: and what was planned stands in a
# line before that one.
refuse() { refuse_in 1 "$@"; }
refuse_planned() {
    refuse_in 2 "$@"
    sed -n 1p "$folder/said" | grep -q ' tokens of .*, chosen in ' || fail "${*: -4}: no plan: $(cat "$folder/said")"
}
refuse_in() {
    local lines=$1 status=$2 answer
    shift 2
    "$program" "$@" >"$folder/ours" 2>"$folder/said" </dev/null
    answer=$?
    [ $answer -eq "$status" ] && [ ! -s "$folder/ours" ] && [ "$(wc -l <"$folder/said")" -eq "$lines" ] ||
        fail "${*: -4}: status $answer, $(wc -l <"$folder/said") lines: $(cat "$folder/said")"
}
echo "no picture" >"$folder/broken.png"
head -c 2000 "$photo" >"$folder/cut.png"
{ printf 'P6 20000 2 255\n'; printf '%120000s' '' | tr ' ' 'x'; } >"$folder/long.ppm"
ask=(--image "$photo" -p what -n 2)
refuse 2
refuse 2 -m "$one/model.gguf"
refuse 2 "${files[@]}" "${ask[@]}" --budget 0
refuse 2 "${files[@]}" "${ask[@]}" --budget many
refuse 2 "${files[@]}" "${ask[@]}" --way full
refuse 2 "${files[@]}" "${ask[@]}" --way looks
refuse 2 "${files[@]}" "${ask[@]}" --share 1.5
refuse 2 "${files[@]}" "${ask[@]}" --nothing 1
refuse 2 "${files[@]}" "${ask[@]}" --gpu-layers some
refuse 2 "${files[@]}" "${ask[@]}" --seed -2
# What llama.cpp complained of before is no reason.
GGML_BACKEND_PATH=$folder/none.so refuse 1 -m "$one/model.gguf" --mmproj "$folder/none.gguf" "${ask[@]}"
grep -q 'none\.so' "$folder/said" && fail "another complaint than the encoder's: $(cat "$folder/said")"
for option in -m --mmproj --image -p -n --budget --share --way --overlay --device --temp; do
    refuse 2 "${files[@]}" "${ask[@]}" $option # without its value
done
refuse 2 "${files[@]}" "${ask[@]}" --looks 2
refuse 2 "${files[@]}" "${ask[@]}" --looks 3 --budget 60
refuse 2 "${files[@]}" "${ask[@]}" --looks 2 --budget 60 --way pruned
refuse 2 "${files[@]}" "${ask[@]}" --looks 2 --budget 60 --image "$photo"
refuse 1 -m "$models/gemma3/model.gguf" --mmproj "$models/gemma3/mmproj.gguf" "${ask[@]}" --looks 2 --budget 60
refuse 2 "${files[@]}" --overlay "$folder/overlay.png"
refuse 1 "${files[@]}" "${ask[@]}" --budget 2   # nothing beside what stands around a picture
grep -q 'a budget of 2 tokens' "$folder/said" || fail "a budget of 2: $(cat "$folder/said")"
refuse 1 "${files[@]}" "${ask[@]}" --budget 1
refuse 1 "${files[@]}" "${ask[@]}" --budget 6 --way smaller
refuse 1 "${files[@]}" "${ask[@]}" --budget 6 --way pictures # which would be a smaller picture
refuse 1 "${files[@]}" --image "$folder/long.ppm" -p what --budget 6 --way smaller
refuse 1 -m "$models/gemma3/model.gguf" --mmproj "$models/gemma3/mmproj.gguf" "${ask[@]}" --way smaller
refuse 1 "${files[@]}" "${ask[@]}" --budget 60 --looks 2 --overlay "$folder/none/overlay.png" # before anything is encoded
refuse_planned 1 "${files[@]}" "${ask[@]}" --overlay "$folder/none/overlay.png"
refuse 1 "${files[@]}" "${ask[@]}" --budget 40 --share 0.5
refuse 1 "${files[@]}" "${ask[@]}" --way cells
refuse_planned 1 "${files[@]}" "${ask[@]}" -c 256 --budget 4000 # above the context
refuse 1 "${files[@]}" --image "$folder/broken.png" -p what
refuse 1 "${files[@]}" --image "$folder/cut.png" -p what
refuse 1 "${files[@]}" --image "$folder/none.png" -p what
refuse 1 -m "$folder/none.gguf" --mmproj "$one/mmproj.gguf" "${ask[@]}"
refuse 1 -m "$photo" --mmproj "$one/mmproj.gguf" "${ask[@]}"
refuse 1 -m "$one/model.gguf" --mmproj "$folder/none.gguf" "${ask[@]}"
refuse 1 -m "$one/model.gguf" --mmproj "$one/model.gguf" "${ask[@]}"
refuse 1 -m "$one/model.gguf" --mmproj "$models/qwen3-vl/mmproj.gguf" "${ask[@]}" # it does not fit
refuse 1 -m "$one/model.gguf" --mmproj "$models/gemma3/mmproj.gguf" "${ask[@]}" # its rows do, and its pictures do not
[ "$(grep -c '' "$folder/said")" -eq 1 ] && grep -q 'does not fit' "$folder/said" || fail "an encoder of another kind: $(cat "$folder/said")"
refuse_planned 1 "${files[@]}" "${ask[@]}" --chat-template none
refuse 1 -m "$models/smolvlm/model.gguf" --mmproj "$models/smolvlm/mmproj.gguf" "${ask[@]}" # it cuts images into slices
grep -q slices "$folder/said" || fail "a model of slices: $(cat "$folder/said")"
[ $failed -eq 1 ] || echo "tvlm-mtmd: right"
exit $failed
