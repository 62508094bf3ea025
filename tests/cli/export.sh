#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/export.sh TVLM TVLM_SCENE [DEVICE]: `tvlm tensors` as a user meets it: a file for every model, budgets, and one
# clear line for whatever is wrong. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shape FILE NAME TYPE SHAPE: what the file's header says of a tensor.
shape() {
    checks=$((checks + 1))
    head -c 4096 "$1" | tr -d '\n\0 ' | grep -qaF "\"$2\":{\"dtype\":\"$3\",\"shape\":[$4]" || complain "$1: $2 is not $3 [$4]"
}

export_() { "$tvlm" tensors $device "$@"; }

"$scene" "$work/in/scene.png" 300 200 2>/dev/null || { echo "FAILED: no scene"; exit 1; }
"$scene" "$work/in/small.png" 60 90 2>/dev/null
"$scene" "$work/in/tall.png" 230 400 2>/dev/null
scene=$work/in/scene.png small=$work/in/small.png tall=$work/in/tall.png
ppm() { printf 'P6\n%d %d\n255\n' "$1" "$2"; head -c $(($1 * $2 * 3)) /dev/zero; }
ppm 2850 14 >"$work/in/long.ppm"
ppm 13 100 >"$work/in/thin.ppm"

# ---- Files ----
says '300x200 -> 308x196, patches 1x14x22, 19 of 77 tokens' export_ "$scene" --for qwen2-vl -o a.safetensors
shape a.safetensors pixel_values F32 308,1176
shape a.safetensors image_grid_thw I64 1,3
shape a.safetensors selected_indices I64 19
shape a.safetensors selected_pixel_values F32 76,1176
shape a.safetensors selected_positions I64 19,3
shape a.safetensors selected_images I64 19
shape a.safetensors selected_scores F32 19
shape a.safetensors scores F32 77
says '300x200 -> 320x224, patches 1x14x20, 10 of 70' export_ "$scene" --for qwen3-vl --budget 10 -o b.safetensors
shape b.safetensors pixel_values F32 280,1536
says 'patches 1x4x6, 6 of 6 tokens' export_ "$scene" --for qwen2.5-vl --min-pixels 1 --max-pixels 5000 --all -o c.safetensors
says '336x336, patches 1x24x24, 144 of 576' export_ "$scene" --for llava -o d.safetensors
shape d.safetensors pixel_values F32 1,3,336,336
shape d.safetensors selected_pixel_values F32 144,588
says '384x384, patches 1x27x27, 5 of 729' export_ "$scene" --for siglip --size 384 --patch 14 --budget 5 -o e.safetensors
says '224x224, patches 1x7x7, 12 of 49' export_ "$small" --for clip --patch 32 -o f.safetensors
says 'small.png: 60x90 -> 56x84, .* 1 of 6' export_ "$scene" "$small" --for qwen2-vl --budget 14 -o g.safetensors
shape g.safetensors selected_indices I64 14
shape g.safetensors image_grid_thw I64 2,3
says 'patches 2x14x22, 20 of 154' export_ "$scene" "$scene" "$scene" --for qwen2-vl --video --budget 20 -o h.safetensors
shape h.safetensors pixel_values_videos F32 616,1176
shape h.safetensors video_grid_thw I64 1,3
says '300x200 -> 288x192, patches 2x12x18' export_ "$scene" "$scene" "$scene" --for qwen3-vl --video -o i.safetensors
says '300x200 -> 160x96, patches 3x6x10' export_ "$scene" "$scene" "$scene" "$scene" "$scene" --for qwen3-vl --video --max-pixels 100000 \
    -o i.safetensors
says '"selected": 19' export_ "$scene" --for qwen2-vl --json -o again.safetensors
checks=$((checks + 1))
cmp -s a.safetensors again.safetensors || complain "the same export twice differs"
says '19 of 77 tokens' export_ "$scene" --for qwen2-vl --selected-only -o few.safetensors
shape few.safetensors selected_pixel_values F32 76,1176
checks=$((checks + 1))
head -c 4096 few.safetensors | grep -qa '"pixel_values"' && complain "--selected-only writes pixel_values"
says '"name": "selected_indices"' export_ "$scene" --for qwen2-vl --selected-only --json -o few.safetensors
# The passes of a resize in another order: where the height shrinks more, other bytes.
says '224x224' export_ "$scene" --for siglip --pillow 13 -o same.safetensors
says '224x224' export_ "$scene" --for siglip -o e.safetensors
checks=$((checks + 1))
cmp -s same.safetensors e.safetensors || complain "300 x 200 to 224 x 224 hangs on the version of Pillow"
says '224x224' export_ "$tall" --for siglip --pillow 13 -o same.safetensors
says '224x224' export_ "$tall" --for siglip -o e.safetensors
checks=$((checks + 1))
cmp -s same.safetensors e.safetensors && complain "230 x 400 to 224 x 224 does not hang on the version of Pillow"
rm -f ./*.safetensors

# ---- A projection ----
# 2 numbers of each token: its red, and 1 - its red.
safetensors() { { printf '\x90\x01\0\0\0\0\0\0%-400s' "$2" && printf '%b' "$3"; } >"$1"; } # FILE HEADER DATA
one='\x00\x00\x80\x3f' minus='\x00\x00\x80\xbf' zero='\x00\x00\x00\x00'
weights='"weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}'
kind='"__metadata__":{"format":"texturevlm.projection","channels":"r"}'
safetensors "$work/in/p.safetensors" "{$kind,$weights}" "$one$minus$zero$one"
says '19 of 77 tokens' export_ "$scene" --for qwen2-vl --projection "$work/in/p.safetensors" -o p.safetensors
shape p.safetensors visual_tokens F32 19,2
says '77 of 77' export_ "$scene" --for qwen2-vl --strategy budget --all --projection "$work/in/p.safetensors" -o p.safetensors
shape p.safetensors visual_tokens F32 77,2
rm -f ./*.safetensors
refused 1 'none.safetensors' export_ "$scene" --for qwen2-vl --projection none.safetensors -o x.safetensors
refused 2 'internvl takes no projection: a crop is many tokens' export_ "$scene" --for internvl --projection "$work/in/p.safetensors" -o x.safetensors
refused 2 'takes no projection: a token of a video is of several frames' \
    export_ "$scene" "$scene" --for qwen2-vl --video --projection "$work/in/p.safetensors" -o x.safetensors
safetensors "$work/in/q.safetensors" "{${kind/\"r\"/\"r,g\"},$weights}" "$one$minus$zero$one"
refused 1 "2 channels are named, 'weight' has 1" export_ "$scene" --for qwen2-vl --projection "$work/in/q.safetensors" -o x.safetensors
safetensors "$work/in/q.safetensors" "{${kind/\"r\"/\"rr\"},$weights}" "$one$minus$zero$one"
refused 1 "there is no channel 'rr'" export_ "$scene" --for qwen2-vl --projection "$work/in/q.safetensors" -o x.safetensors
safetensors "$work/in/q.safetensors" "{${kind/projection/network},$weights}" "$one$minus$zero$one"
refused 1 'is not a projection' export_ "$scene" --for qwen2-vl --projection "$work/in/q.safetensors" -o x.safetensors
safetensors "$work/in/q.safetensors" "{$kind,$weights}" '\x00\x00\xc0\x7f'"$minus$zero$one"
refused 1 'weight 0 of a projection is not finite' export_ "$scene" --for qwen2-vl --projection "$work/in/q.safetensors" -o x.safetensors
basis='"components":{"dtype":"F32","shape":[1,1],"data_offsets":[16,20]}'
safetensors "$work/in/q.safetensors" "{${kind/\"r\"/\"embedding_0\"},$weights,$basis}" "$one$minus$zero$one$one"
refused 2 'reads an embedding, which needs --features' export_ "$scene" --for qwen2-vl --projection "$work/in/q.safetensors" -o x.safetensors

# ---- The strategy budget ----
# 11 x 7 tokens; whatever the pictures are, all tokens together are the budget, the thumbnail has all of its own, and comes first.
says '300x200 -> 308x196, patches 1x14x22, ' export_ "$scene" --for qwen2-vl --strategy budget --budget 30 -o a.safetensors
shape a.safetensors selected_indices I64 30
shape a.safetensors selected_pixel_values F32 120,1176
checks=$((checks + 1))
awk '{sum += $(NF - 3); if (NR == 1 && $(NF - 3) != $(NF - 1)) exit 1} END {exit sum != 30 || NR < 2}' "$work/stdout" ||
    complain "the tokens: $(cat "$work/stdout")"
pictures=$(wc -l <"$work/stdout")
shape a.safetensors image_grid_thw I64 "$pictures,3"
shape a.safetensors picture_source I64 "$pictures"
shape a.safetensors picture_scale F32 "$pictures,2"
says '"grid_thw": \[1, 14, 22\], "scale": \[1, 1\]' export_ "$scene" --for qwen2-vl --strategy budget --budget 30 --json -o again.safetensors
checks=$((checks + 1))
cmp -s a.safetensors again.safetensors || complain "the same export twice differs"
says '^[^:]*: 300x200 -> 308x196, patches 1x14x22, 77 of 77 tokens$' export_ "$scene" --for qwen2-vl --strategy budget --all -o a.safetensors
says 'small.png: 60x90 -> 56x84, patches 1x6x4, ' export_ "$scene" "$small" --for qwen2.5-vl --strategy budget --budget 14 -o a.safetensors
shape a.safetensors selected_indices I64 14
says '300x200 -> 384x384, crops 1x1x1, 1 of 1 crops' export_ "$scene" --for llava-onevision --budget 1458 -o a.safetensors
shape a.safetensors pixel_values F32 2,3,384,384
shape a.safetensors image_sizes I64 1,2
says '300x200 -> 1344x896, crops 1x2x3, 2 of 6 crops' export_ "$scene" --for internvl --budget 1000 -o a.safetensors
shape a.safetensors pixel_values F32 7,3,448,448
shape a.safetensors selected_pixel_values F32 3,3,448,448
shape a.safetensors crop_grids I64 2,3
shape a.safetensors selected_indices I64 3
says '300x200 -> 168x112, crops 1x2x3, 0 of 6' export_ "$scene" --for internvl --size 56 --strategy budget -o a.safetensors
rm -f ./*.safetensors
says '300x200 -> 308x196, patches 1x14x22, 1[0-9] of 77 tokens' export_ "$scene" --for qwen2-vl --budget 20 --overview .3 -o a.safetensors
is "no overview of at most 6 tokens before the full picture" \
    awk 'NR == 1 { n = $(NF - 1) + 0; if ($(NF - 3) + 0 != n || n < 4 || n > 6) exit 1 } END { exit $(NF - 3) + n != 20 || NR != 2 }' "$work/stdout"
shape a.safetensors selected_indices I64 20
shape a.safetensors picture_scale F32 2,2
rm -f ./*.safetensors
refused 2 'llava takes no overview' export_ "$scene" --for llava --overview .3 -o x.safetensors
refused 2 'an overview is for the grid' export_ "$scene" --for qwen2-vl --strategy budget --overview .3 -o x.safetensors
refused 2 'an overview is for the grid' export_ "$scene" --for qwen2-vl --all --overview .3 -o x.safetensors
refused 1 'an overview of 0.01 of k = 20 is no position' export_ "$scene" --for qwen2-vl --budget 20 --overview .01 -o x.safetensors
for model in clip siglip llava; do
    refused 2 "$model takes one picture of [0-9]*x[0-9]* pixels: no strategy budget" export_ "$scene" --for $model --strategy budget -o x.safetensors
done
refused 2 'internvl takes crops: they are chosen by budget, not by grid' export_ "$scene" --for internvl --strategy grid -o x.safetensors
refused 2 'strategy budget is for pictures, not for a video' export_ "$scene" "$scene" --for qwen2-vl --video --strategy budget -o x.safetensors
refused 2 'weights would change nothing' export_ "$scene" --for qwen2-vl --strategy budget --weights 1,0,0 -o x.safetensors
refused 2 'strategy: ' export_ "$scene" --for qwen2-vl --strategy foveated -o x.safetensors

# ---- Its options, which are those of tvlm select ----
spend=(export_ "$scene" --for qwen2-vl --strategy budget)
# tokens FILE: how many are selected.
tokens() { head -c 4096 "$1" | tr -d '\n\0 ' | grep -aoE '"selected_indices":\{"dtype":"I64","shape":\[[0-9]+' | grep -oE '[0-9]+$'; }
succeeds "${spend[@]}" --share .3 -o share.safetensors # of 77 tokens
shape share.safetensors selected_indices I64 23
succeeds "${spend[@]}" --budget 23 -o plain.safetensors
same "a share is so many tokens" share.safetensors plain.safetensors
for option in "--emphasis 50" "--emphasis 50:edges"; do
    succeeds "${spend[@]}" --budget 23 $option -o other.safetensors
    shape other.safetensors selected_indices I64 23
    checks=$((checks + 1))
    ! cmp -s plain.safetensors other.safetensors || complain "$option changes nothing"
done
succeeds "${spend[@]}" --tolerance .5 -o half.safetensors
succeeds "${spend[@]}" --tolerance .1 -o tenth.safetensors
is "tokens for a tenth of the loss" test "$(tokens half.safetensors)" -lt "$(tokens tenth.safetensors)"
printf 'P5 112 84 255\n' >"$work/in/white.pgm" && head -c $((112 * 84)) /dev/zero | tr '\0' '\377' >>"$work/in/white.pgm"
says '112x84 -> 112x84, patches 1x6x8, 1 of 12 tokens$' export_ "$work/in/white.pgm" --for qwen2-vl --strategy budget --tolerance 0 -o white.safetensors
says ' 0 of 6 crops' export_ "$scene" --for internvl --tolerance 1 -o crops.safetensors
says ' 6 of 6 crops' export_ "$scene" --for internvl --share 1 -o crops.safetensors
rm -f ./*.safetensors
for option in "--share .5" "--tolerance .1" "--emphasis 2"; do
    succeeds export_ "$scene" --for qwen2-vl $option -o asked.safetensors
    cp asked.safetensors "$work/asked"
    succeeds export_ "$scene" --for qwen2-vl $option --strategy budget -o asked.safetensors
    same "what $option chooses without its strategy" asked.safetensors "$work/asked"
    rm asked.safetensors
done
refused 2 "clip takes one picture" export_ "$scene" --for clip --emphasis 2 -o x.safetensors
refused 2 "tokens of clip are chosen by their score here: give a budget or a share" export_ "$scene" --for clip --tolerance .1 -o x.safetensors
for option in --tolerance --emphasis; do
    refused 2 "$option is for --strategy budget, not for grid \\(see" export_ "$scene" --for llava --strategy grid $option .1 -o x.safetensors
done
for model in clip siglip "qwen2-vl --strategy grid" "qwen2-vl --video"; do # which have 256, 196, 77 and 77 tokens
    succeeds export_ "$scene" --for $model --share .25 -o share.safetensors
    cp share.safetensors "$work/asked"
    case $model in clip) count=64 ;; siglip) count=49 ;; *) count=19 ;; esac
    succeeds export_ "$scene" --for $model --budget $count -o share.safetensors
    same "a share of $model's tokens" share.safetensors "$work/asked"
    rm share.safetensors
done
refused 2 '--budget, --share and --tolerance exclude each other' "${spend[@]}" --budget 4 --share .5 -o x.safetensors
refused 2 '--budget, --share and --tolerance exclude each other' "${spend[@]}" --tolerance .1 --share .5 -o x.safetensors
refused 2 '--all and --share exclude each other' "${spend[@]}" --all --share .5 -o x.safetensors
refused 2 '--all and --tolerance exclude each other' "${spend[@]}" --all --tolerance .5 -o x.safetensors
refused 2 '--share: 0 is not in' "${spend[@]}" --share 0 -o x.safetensors
refused 1 'scene.png: a share of 0.001 of 77 tokens is less than one' "${spend[@]}" --share .001 -o x.safetensors
refused 1 'scene.png: a share of 0.1 of 7 crops is less than one' export_ "$scene" "$small" --for internvl --size 28 --share .1 -o x.safetensors
refused 2 '--tolerance: -1 is not in' "${spend[@]}" --tolerance -1 -o x.safetensors
refused 2 '--emphasis x: a number' "${spend[@]}" --emphasis x -o x.safetensors
refused 1 'scene.png: .*depth.*has no input' "${spend[@]}" --emphasis 2:depth -o x.safetensors
refused 2 'emphasis 2:text and --scorer exclude each other' "${spend[@]}" --emphasis 2:text --scorer none.safetensors -o x.safetensors
refused 2 "unknown option '--preset'" "${spend[@]}" --preset document -o x.safetensors
refused 2 'a budget of 700 tokens; each crop of llava-onevision has 729' export_ "$scene" --for llava-onevision --budget 700 -o x.safetensors
refused 1 'a budget of 1 crops for 2 pictures' export_ "$scene" "$small" --for internvl --budget 300 -o x.safetensors
refused 1 'budget of 1 tokens for 2 pictures' export_ "$scene" "$small" --for qwen2-vl --strategy budget --budget 1 -o x.safetensors

# ---- A question ----
# 4 x 2 cells; what is asked for is in the last one: the tokens are there, of 11 x 7 the lower right ones.
in=$work/in zero='\0\0\0\0' one='\0\0\200\077'
npy "$in/features.npy" '<f4' '(2, 4, 2)' "$(for i in {1..7}; do printf '%s' "$one$zero"; done)$zero$one"
npy "$in/query.npy" '<f4' '(2,)' "$zero$one"
npy "$in/two.npy" '<f4' '(2, 2)' "$zero$one$one$zero"
npy "$in/wide.npy" '<f4' '(3,)' "$one$one$one"
ask=(export_ "$scene" --for qwen2-vl --budget 1 --weights 0,0,1)
asked=("${ask[@]}" --features "$in/features.npy")
says ' 1 of 77' "${asked[@]}" --query "$in/query.npy" -o q.safetensors
checks=$((checks + 1))
places() { # FILE: the three numbers of selected_positions
    local head begin
    head=$(head -c 8 "$1" | od -An -t u8 | tr -d ' ')
    begin=$(head -c $((8 + head)) "$1" | tail -c "$head" | grep -aoE '"selected_positions":\{[^}]*\}' | grep -oE '\[[0-9]+,[0-9]+\]\}' | grep -oE '[0-9]+' | head -1)
    tail -c +$((8 + head + begin + 1)) "$1" | head -c 24 | od -An -v -t d8 -w24 | xargs
}
[ "$(places q.safetensors)" = "0 6 10" ] || [ "$(places q.safetensors)" = "0 5 10" ] || complain "the token is at $(places q.safetensors)"
says ' 1 of 77' "${asked[@]}" --query "$in/two.npy" --combine mean -o m.safetensors
says 'small.png: .* 1 of 6' export_ "$scene" "$small" --for qwen2-vl --budget 2 --features "$in/features.npy" --features "$in/features.npy" \
    --query "$in/query.npy" -o two.safetensors
rm -f ./*.safetensors

# token WHAT PLACE COMMAND...: the one token that is chosen is at t h w.
token() {
    local what=$1 place=$2
    shift 2
    says ' 1 of 77' "$@" -o t.safetensors
    checks=$((checks + 1))
    [ "$(places t.safetensors)" = "$place" ] || complain "$what: the token is at $(places t.safetensors)"
    rm -f t.safetensors
}

# Of 308 x 196 pixels column 2 of 4 has its middle at 192.5, in column 6 of tokens of 28; in cells of 98 at 245, in column 8. Row
# 1 of 2 has it at 115.5 in cells of 77, at 147 in cells of 98; the tokens from there on, rows 4 and 5, are as near as any.
third=("${ask[@]}" --features "$in/third.npy" --query "$in/query.npy")
npy "$in/third.npy" '<f4' '(1, 4, 2)' "$one$zero$one$zero$zero$one$one$zero"
npy "$in/rows.npy" '<f4' '(2, 4, 2)' "$one$zero$one$zero$one$zero$one$zero$one$zero$one$zero$zero$one$one$zero"
token 'cells over the whole picture' '0 0 6' "${third[@]}"
token 'cells of 77 pixels' '0 4 6' "${ask[@]}" --features "$in/rows.npy" --query "$in/query.npy" --feature-patch 77
token 'cells of 98 pixels' '0 5 8' "${ask[@]}" --features "$in/rows.npy" --query "$in/query.npy" --feature-patch 98
refused 1 'more than a cell off' "${third[@]}" --feature-patch 14 -o x.safetensors
refused 2 'feature-patch needs --features' "${ask[@]}" --feature-patch 14 -o x.safetensors
refused 2 "feature-patch: 0 is not in" "${third[@]}" --feature-patch 0 -o x.safetensors

# ---- A scorer ----
# One that wants the features' second number, one that shuns it.
format='"format":"texturevlm.scorer"' minus='\0\0\200\277'
ranked=(export_ "$scene" --for qwen2-vl --budget 1)
scorer "$in/wants.safetensors" "$format,\"channels\":\"feature_1\"" '[1]' "$one"
scorer "$in/wrong.safetensors" "$format,\"channels\":\"edgse\"" '[1]' "$one"
scorer "$in/shuns.safetensors" "$format,\"channels\":\"edges,feature_1\"" '[2]' "$zero$minus"
npy "$in/deep.npy" '<f4' '(2, 4, 2)' "$one$one$one$one$one$minus$one$one$one$one$zero$zero$one$one$zero$zero"
token 'the most of feature_1' '0 5 8' "${ranked[@]}" --features "$in/rows.npy" --feature-patch 98 --scorer "$in/wants.safetensors"
token 'the least of feature_1' '0 0 6' "${ranked[@]}" --features "$in/deep.npy" --scorer "$in/shuns.safetensors"
refused 1 "'edgse'" "${ranked[@]}" --scorer "$in/wrong.safetensors" -o x.safetensors
most='\377\377\177\177' # 3.4e38
scorer "$in/steep.safetensors" "$format,\"channels\":\"r,g,b\"" '[3]' "$most$most$most"
refused 1 "steep.safetensors: number 0 of 'weights' is beyond 1e15" export_ "$scene" --for qwen2-vl --scorer "$in/steep.safetensors" -o x.safetensors
refused 1 'none.safetensors' "${ranked[@]}" --scorer none.safetensors -o x.safetensors
refused 2 'weight 0 is 3e\+38; weights are from 0 to 1e15' export_ "$scene" --for qwen2-vl --budget 2 --weights 3e38,3e38,3e38 -o x.safetensors
refused 2 'exclude each other' "${ranked[@]}" --scorer "$in/wants.safetensors" --weights 1,0,0 -o x.safetensors
refused 1 'is the input' "${ranked[@]}" --features "$in/rows.npy" --scorer "$in/wants.safetensors" -o "$in/wants.safetensors"
refused 2 'query needs --features' "${ask[@]}" --query "$in/query.npy" -o x.safetensors
refused 2 'features needs --query' "${asked[@]}" -o x.safetensors
refused 2 'combine needs --query' "${ask[@]}" --combine mean -o x.safetensors
refused 2 'combine needs --query' "${ask[@]}" --combine max -o x.safetensors
refused 2 'features is given for 2 of 1' "${asked[@]}" --features "$in/features.npy" --query "$in/query.npy" -o x.safetensors
refused 1 'vectors of 2 dimensions; those of .*wide.npy have 3' "${asked[@]}" --query "$in/wide.npy" -o x.safetensors
refused 1 'zero vector, less the mean' "${asked[@]}" --query "$in/query.npy" --set query-mean="$in/query.npy" -o x.safetensors
refused 1 'h x w x D' "${ask[@]}" --features "$in/two.npy" --query "$in/query.npy" -o x.safetensors
refused 1 'is the input' "${asked[@]}" --query "$in/query.npy" -o "$in/query.npy"
refused 1 'is the input' "${asked[@]}" --query "$in/query.npy" -o "$in/features.npy"

# ---- A video file ----
# Six frames, drawn on by the tool itself. Without FFmpeg's libraries it can write none, and says so.
if "$tvlm" video $device "$scene" "$scene" "$scene" "$small" "$scene" "$scene" "$scene" -k 1 --overlay "$work/in/v.mp4" >/dev/null 2>&1; then
    says 'patches 3x[0-9]+x[0-9]+, 12 of' export_ "$work/in/v.mp4" --for qwen2-vl --video --budget 12 -o v.safetensors
    shape v.safetensors video_grid_thw I64 1,3
    says 'patches 1x' export_ "$work/in/v.mp4" --for qwen2-vl --video --every 4 -o e.safetensors
    says 'patches 1x' export_ "$work/in/v.mp4" --for qwen2-vl --video --fps 0.5 -o e.safetensors
    rm -f v.safetensors e.safetensors
    refused 1 'v.mp4 is a video: --video takes its frames' export_ "$work/in/v.mp4" --for qwen2-vl -o x.safetensors
    refused 1 'v.mp4 is a video: with --video it is the only file' export_ "$scene" "$work/in/v.mp4" --for qwen2-vl --video -o x.safetensors
    refused 2 'clip takes no video' export_ "$work/in/v.mp4" --for clip --video -o x.safetensors
    refused 2 'features is for images' export_ "$work/in/v.mp4" --for qwen2-vl --video --features "$in/features.npy" --query "$in/query.npy" -o x.safetensors
    refused 1 'is the input' export_ "$work/in/v.mp4" --for qwen2-vl --video -o "$work/in/v.mp4"
fi
refused 2 'every is for' export_ "$scene" --for qwen2-vl --video --every 2 -o x.safetensors
refused 2 'every is for' export_ "$scene" --for qwen2-vl --every 2 -o x.safetensors
head -c 5000 /dev/zero >"$work/in/none.mp4"
refused 1 'none.mp4' export_ "$work/in/none.mp4" --for qwen2-vl --video -o x.safetensors

# ---- Wrong usage, bad input ----
refused 2 '--for is missing: one of qwen3-vl, .*, clip, llava-onevision, internvl' export_ "$scene" -o x.safetensors
refused 2 'gpt: there is no such model; there are qwen3-vl, qwen2.5-vl, qwen2-vl, llava, siglip, clip, llava-onevision, internvl' export_ "$scene" --for gpt -o x.safetensors
refused 2 '-o FILE.safetensors is missing' export_ "$scene" --for clip
refused 2 'exclude each other' export_ "$scene" --for clip --all --budget 3 -o x.safetensors
refused 2 'IMAGE' export_ --for clip -o x.safetensors
refused 2 'budget: 0 is not in' export_ "$scene" --for qwen2-vl --budget 0 -o x.safetensors
refused 2 'budget: -4 is not in' export_ "$scene" --for qwen2-vl --budget=-4 -o x.safetensors
refused 1 'budget of 1 tokens for 2 pictures' export_ "$scene" "$small" --for qwen2-vl --budget 1 -o x.safetensors
refused 1 'long.ppm: .*aspect ratio of 203.6; the model takes up to 200' export_ "$work/in/long.ppm" --for qwen2-vl -o x.safetensors
says 'thin.ppm: 13x100 -> 28x168' export_ "$work/in/thin.ppm" --for qwen2-vl -o thin.safetensors # as current processors do
rm thin.safetensors
refused 2 'no range' export_ "$scene" --for qwen2-vl --min-pixels 5000 --max-pixels 4000 -o x.safetensors
refused 1 'one token has 784' export_ "$scene" --for qwen2-vl --max-pixels 700 -o x.safetensors
refused 2 'clip has one size' export_ "$scene" --for clip --max-pixels 5000 -o x.safetensors
refused 2 'llava takes no video' export_ "$scene" --for llava --video -o x.safetensors
refused 2 'own size and patch' export_ "$scene" --for qwen3-vl --patch 14 -o x.safetensors
refused 1 'frame 1 has 60x90' export_ "$scene" "$small" --for qwen2-vl --video -o x.safetensors
refused 1 'long.ppm: .*aspect ratio' export_ "$scene" "$work/in/long.ppm" "$small" --for qwen2-vl -o x.safetensors
refused 1 'small.png: 2 x [0-9]+ x [0-9]+ pixels when processed: [0-9]+ bytes of pixel_values; one allocation has at most [0-9]+$' \
    export_ "$small" "$scene" --for qwen2-vl --min-pixels 1000000000 -o x.safetensors
refused 1 'frames: 1; one token of a video has 2' export_ "$scene" --for qwen3-vl --video -o x.safetensors
refused 1 'none.png' export_ "$scene" none.png --for qwen2-vl -o x.safetensors
refused 1 'no folder' export_ "$scene" --for qwen2-vl -o none/x.safetensors
refused 1 'is the input' export_ "$scene" --for qwen2-vl -o "$scene"
printf '\0\0\0\x18ftypheic\0\0\0\0' >"$work/in/photo.heic"
refused 1 'photo.heic is (HEIF|a damaged HEIF or AVIF)' export_ "$work/in/photo.heic" --for qwen2-vl -o x.safetensors
printf '\0\0\0\x18ftypisom\0\0\0\0' >"$work/in/isom"
refused 1 'isom is a video: --video' export_ "$scene" "$work/in/isom" --for qwen2-vl -o x.safetensors
printf '\x89PNG\r\n\x1a\nbroken' >"$work/in/broken.png"
refused 1 'broken.png' export_ "$work/in/broken.png" --for clip -o x.safetensors

finish
