#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/edges.sh TVLM TVLM_SCENE [DEVICE]: what is refused just beyond a limit, and done at it; and each option that is refused
# where it has no effect, one by one. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
"$scene" "$in/photo.png" 64 48 && "$scene" "$in/other.png" 64 48 || exit 1
photo=$in/photo.png
select=("$tvlm" select ${device:+"$device"} "$photo" -k 2)
grid=("${select[@]}" --strategy grid)
channels=("$tvlm" channels ${device:+"$device"} --channels r "$photo")
video=("$tvlm" video ${device:+"$device"} "$photo" "$in/other.png" -k 2)
one='\0\0\200\077' zero='\0\0\0\0'
npy "$in/f.npy" '<f4' '(1, 2, 2)' "$one$zero$zero$one"
npy "$in/q.npy" '<f4' '(2, 2)' "$one$zero$one$one"
npy "$in/q1.npy" '<f4' '(2,)' "$one$zero"
mkdir "$in/folder"

# dots LENGTH: this folder, by a path of that length.
dots() {
    local path=.
    [ $(($1 % 2)) -eq 1 ] || path=.//.
    printf '%s' "$path"
    printf '/.%.0s' $(seq $((($1 - ${#path}) / 2)))
}
# x LENGTH: a name of so many letters.
x() { printf 'x%.0s' $(seq "$1"); }

echo "== what goes with what"
refused 2 '--resume is for a file, not for stdout' "${select[@]}" --resume -
refused 2 'an archive needs --jsonl' "$tvlm" select -k 2 "$in/photos.tar"
refused 2 '--ragged needs -o DIR' "${channels[@]}" --ragged
refused 2 '--each needs -o DIR' "${channels[@]}" --each
refused 2 'IMAGE... is missing' "$tvlm" channels -o o.npy
for option in --jsonl "--resume r.jsonl" --skip-errors "--list l.txt" --null --recursive "--jobs 2" "--memory 9"; do
    refused 2 "${option%% *} needs --each" "${channels[@]}" -o o.npy $option
done
for option in --ragged "--sheet s.png" --json; do refused 2 "${option%% *} is not for --each" "${channels[@]}" --each -o . $option; done
refused 2 '--give gaze is not for --each' "${channels[@]}" --each -o . --give gaze="$in/f.npy"
for option in "--sheet s.png" "--size 9" "--max-side 9" "--clusters 9"; do
    refused 2 "${option%% *} is not for --ragged" "${channels[@]}" --ragged -o . $option
done
"$scene" "$work/in/small.png" 40 24
refused 1 '--level 6: 40 x 24 pixels have levels 0 .. 5' "${channels[@]}" --ragged "$work/in/small.png" --channels r -o . --level 6
refused 2 '--give gaze is not for --ragged' "${channels[@]}" --ragged -o . --give gaze="$in/f.npy"
for way in --each --ragged; do
    refused 1 "$way: there is no folder nowhere" "${channels[@]}" $way -o nowhere
    refused 1 "$way: there is no folder .*f.npy" "${channels[@]}" $way -o "$in/f.npy"
done
refused 2 'an empty file name' "${select[@]}" ''
refused 2 '-q and -v exclude each other' "${select[@]}" -q -v
refused 2 'only one output can go to stdout' "${channels[@]}" -o - --sheet -
refused 2 'only one picture or array can go to stdout' "${grid[@]}" "$in/other.png" --overlay -
refused 2 'only one picture or array can go to stdout' "${grid[@]}" --features "$in/f.npy" --query "$in/q.npy" --overlay -
refused 2 '--components needs --basis' "${grid[@]}" --features "$in/f.npy" --query "$in/q1.npy" --components 1
refused 2 '--every is for --video and a video file' "$tvlm" tensors "$photo" --for siglip --every 2 -o o.safetensors
refused 2 '--fps is for --video and a video file' "$tvlm" tensors "$photo" --for siglip --fps 2 -o o.safetensors
refused 2 '--every is for --video and a video file' "$tvlm" tensors "$photo" "$in/other.png" --for qwen2-vl --video --every 2 -o o.safetensors
refused 2 '--frames is for a --scorer that looks back' "${video[@]}" --frames 2
refused 1 "$in/none: No such file or directory" "${video[@]}" --features "$in/none" --query "$in/q1.npy"
refused 1 "f.npy: is not a folder" "${video[@]}" --features "$in/f.npy" --query "$in/q1.npy"
refused 1 "f.npy: is not a folder" "${video[@]}" --flow "$in/f.npy"
for option in "--fine .5" "--mix .5" --steps; do
    refused 2 "${option%% *} needs --level" "$lab" attend "$in/f.npy" --queries "$in/q.npy" -o o.npy $option
done
refused 2 '--mix and --steps exclude each other' "$lab" attend "$in/f.npy" --queries "$in/q.npy" -o o.npy --level 1 --mix .5 --steps
for option in "-n 2" "--rounds 3" "--sample 4" "--seed 5"; do
    refused 2 '-n, --rounds, --sample and --seed are of train' "$lab" vocab info v.safetensors $option
done
for option in "-o c.safetensors" "-k 1" --centred "--method range-finder"; do
    refused 2 '-o, -k, --centred and --method are of train' "$lab" pca info b.safetensors $option
done
for option in "--min-variance .1" "--max-error .1" "--min-neighbours .1" "--min-rank .1" "--min-top .1" "--max-largest .1" "--plot p.png" "--queries q"; do
    refused 2 '--queries, --plot and thresholds are of validate' "$lab" pca info b.safetensors $option
done
for option in "--min-rank .1" "--min-top .1"; do
    refused 2 '--min-rank and --min-top need --queries' "$lab" pca validate b.safetensors "$in/f.npy" $option
done
refused 1 'nothing|no OpenCL device' "$tvlm" devices --device nothing-of-this-name

echo "== paths at their longest"
is "what dots is for" test "$(dots 4090 | wc -c)" -eq 4090 -a "$(dots 4091 | wc -c)" -eq 4091 -a "$(dots 6)" = .//./.
# longest END COMMAND...: an argument FOLDER of the command may be so long that FOLDER/END has 4095 letters, and no longer. What is
# written has another name until it is done, for which there may be no room then: that is another error.
longest() {
    local length=$((4095 - 1 - ${#1})) fits=() beyond=() word
    for word in "${@:2}"; do
        fits+=("${word//FOLDER/$(dots $length)}")
        beyond+=("${word//FOLDER/$(dots $((length + 1)))}")
    done
    refused 1 'path( of its output)? is too long' "${beyond[@]}"
    local rc=0
    "${fits[@]}" >"$work/stdout" 2>"$work/stderr" || rc=$?
    is "a path of 4095 letters: exit $rc: ${*:2}" test $rc -eq 0 -a ! -s "$work/stderr" -o "$(grep -c 'cannot write' "$work/stderr")" -eq 1
    rm -f -- ./*
}
longest photo.npy "${channels[@]}" --each -o FOLDER
longest photo.npy "${channels[@]}" --ragged -o FOLDER
longest out-photo.png "${grid[@]}" "$in/other.png" --overlay FOLDER/out.png
longest r.npy "${channels[@]}" -o FOLDER/r.npy
mkdir "$in/features"
cp "$in/f.npy" "$in/features/photo.npy"
longest other.npy "${video[@]}" --features "$in/features" --query "$in/q1.npy" --needs FOLDER
longest frame-000000.png "${video[@]}" --overlay FOLDER
refused 1 "xxx: cannot be made: File name too long" "${video[@]}" --features "$in/features" --query "$in/q1.npy" --needs "$(x 256)"
refused 1 'o.npy: there is no folder nowhere' "${channels[@]}" -o nowhere/o.npy
refused 1 'folder: is a folder, not a file to write' "${channels[@]}" -o "$in/folder"
refused 1 'nowhere/: is a folder, not a file to write' "${channels[@]}" -o nowhere/
refused 1 'photo.png is not a folder' "${channels[@]}" -o "$photo/o.npy"
for end in .png _mask.png; do # the mask may have its photo's name alone
    mkdir m && cp "$photo" "m/photo$end" && cd m
    folder=$(dots $((4095 - 1 - 14)))
    succeeds "${grid[@]}" --masks "$folder"
    refused 1 'path is too long' "${grid[@]}" --masks "$folder/"
    cd .. && rm -r m
done

echo "== numbers at their limits"
for fixation in 1 1, ,1 '1;2' 1,2,3 "$(printf '%064d' 1),2" a,2 2,a; do
    refused 2 "'$fixation' is not a point such as 320,240" "${select[@]}" --strategy foveated --fixation "$fixation"
done
succeeds "${select[@]}" --strategy foveated --fixation "$(printf '%063d' 1),2"
succeeds "${select[@]}" --strategy foveated --fixation 64,48 --fixation 0,0
for fixation in 64.1,48 64,48.1 -0.1,0 0,-0.1; do
    refused 1 "--fixation $fixation lies outside its 64x48 pixels" "${select[@]}" --strategy foveated --fixation=$fixation
done
points=()
for _ in {1..64}; do points+=(--fixation 9,9); done
succeeds "${select[@]}" --strategy foveated "${points[@]}"
refused 2 'more than 64 points' "${select[@]}" --strategy foveated "${points[@]}" --fixation 1,1
patches=("${grid[@]}" --patches p.npy)
for mean in 1,2,x 1,2, ,1,2 1,2,1.1e30 -1.1e30,1,2 "$(printf '%064d' 1),1,2" 1,2,nan; do
    refused 2 '--set patch-mean: .* is no number for it' "${patches[@]}" --set patch-mean=$mean
done
for mean in 1,2 1,2,3,4 1; do refused 2 '--set patch-mean takes a number for each of the 3 channels' "${patches[@]}" --set patch-mean=$mean; done
for deviation in 0,1,1 1,1,1e-31 1,-1e-31,1; do
    refused 2 '--set patch-std: .* is no number for it' "${patches[@]}" --set patch-std=$deviation
done
succeeds "${patches[@]}" --set patch-mean=1e30,-1e30,"$(printf '%063d' 1)" --set patch-std=1e-30,-1e-30,1
refused 2 'patch-norm excludes' "${patches[@]}" --patch-norm clip --set patch-mean=0,0,0
refused 2 'patch-norm excludes' "${patches[@]}" --patch-norm clip --set patch-std=1,1,1
refused 2 'patch-norm excludes' "${patches[@]}" --patch-norm clip --set patch-channels=r,g,b
rm p.npy
for option in "--set patch-size=8" "--set patch-channels=r" "--set patch-mean=1,1,1" "--set patch-std=1,1,1" "--patch-norm clip" "--set patch-format=f16" "--set patch-border=clamp"; do
    refused 2 'are for --patches' "${grid[@]}" $option
done
refused 1 '--level 7: 64 x 48 pixels have levels 0 .. 6' "${channels[@]}" --level 7 -o o.npy
succeeds "${channels[@]}" --level 6 -o o.npy
rm o.npy
gaze() { printf "$1" >"$in/gaze.csv"; }
gazing=("${video[@]}" --preset gaze --gaze "$in/gaze.csv")
gaze '0,1000000,-1000000\n0.04;1 2 # a remark\n\n0.04\t3,4\r\n'
succeeds "${gazing[@]}"
gaze ''
refused 1 'gaze.csv: no line "time,x,y" in it' "${gazing[@]}"
gaze '# nothing\n'
refused 1 'gaze.csv: no line "time,x,y" in it' "${gazing[@]}"
gaze '0,1,2\n\n0,1000001,2\n'
refused 1 'gaze.csv: line 3: a position is beyond a million pixels' "${gazing[@]}"
gaze '0,1,-1000001\n'
refused 1 'gaze.csv: line 1: a position is beyond a million pixels' "${gazing[@]}"
gaze '0,1,2\n1,2\n'
refused 1 'gaze.csv: line 2: is not "time,x,y"' "${gazing[@]}"
gaze '0,1,2,3\n'
refused 1 'gaze.csv: line 1: is not "time,x,y"' "${gazing[@]}"
gaze '0,1,two\n'
refused 1 'gaze.csv: line 1: is not three numbers' "${gazing[@]}"
gaze 'zero,1,2\n'
refused 1 'gaze.csv: line 1: is not three numbers' "${gazing[@]}"
gaze 'inf,1,2\n'
refused 1 'gaze.csv: line 1: the time is not finite' "${gazing[@]}"
gaze '0.5,1,2\n0.49,1,2\n'
refused 1 'gaze.csv: line 2: the time goes back' "${gazing[@]}"

echo "== a panoptic map"
echo '{"categories": [{"id": 5, "name": "cat", "isthing": 1}], "annotations": [{"file_name": "photo.png", "segments_info": [{"id": 1, "category_id": 5}]}]}' \
    >"$in/panoptic.json"
{ printf 'P5\n64 48\n255\n'; head -c 3072 /dev/zero; } >"$in/photo_panoptic.png"
refused 1 'photo_panoptic.png: is no panoptic map: 8-bit RGB' "${grid[@]}" --coco "$in/panoptic.json"
{ printf 'P6\n64 48\n65535\n'; head -c $((3072 * 6)) /dev/zero; } >"$in/photo_panoptic.png"
refused 1 'photo_panoptic.png: is no panoptic map: 8-bit RGB' "${grid[@]}" --coco "$in/panoptic.json"
{ printf 'P6\n64 48\n255\n'; head -c $((3072 * 3)) /dev/zero | tr '\0' '\1'; } >"$in/photo_panoptic.png"
succeeds "${grid[@]}" --coco "$in/panoptic.json"

echo "== a program that cannot be started"
export LD_LIBRARY_PATH=${tvlm%/*}/../lib # of the copy
mkdir "$in/bin" && cp "$tvlm" "$in/bin/tvlm" && : >"$in/bin/tvlm-lab"
refused 1 'tvlm-lab cannot be started: Permission denied' "$in/bin/tvlm" fit -q --help
rm "$in/bin/tvlm-lab"
refused 1 'tvlm-lab is not installed: it is neither beside tvlm nor on the PATH' env PATH=/nowhere "$in/bin/tvlm" fit -q --help
finish
