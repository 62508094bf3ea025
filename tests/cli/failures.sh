#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# failures.sh TVLM SCENE LAYER COMMAND: what a command does when the n-th call of OpenCL fails (layer/layer.h), once, and
# from then on, as of a device that is unplugged: it ends with the same results, or with exit code 1, one line and no
# file. With --fallback a device that is lost changes no result, and costs one warning. It tries every n, with
# TVLM_TEST_EVERY=N every N-th, or 60 where that were more (20 of the benchmark, which makes 30,000 calls and takes
# seconds each time), beginning with another one at each TVLM_TEST_TURN; with TVLM_TEST_QUICK some. A device that errs,
# and passes no self-test, is passed over with --fallback, too.
layer=$(realpath -e "$3") && command=$4 || exit 1
set -- "$1" "$2"
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
# Blobs and a square that goes to the right by 3 pixels a frame.
frame() { # FILE NUMBER
    awk -v n="$2" 'BEGIN { print "P2 64 48 255"; for (y = 0; y < 48; ++y) for (x = 0; x < 64; ++x)
        print (x >= 10 + 3 * n && x < 26 + 3 * n && y >= 20 && y < 36) ? 250 : int(100 + 50 * sin(x * 0.31 + y * 0.17) * sin(y * 0.23)) }' >"$1"
}
for i in 0 1 2; do frame "$in/frame$i.pgm" $i; done
one='\x00\x00\x80\x3f' zero='\x00\x00\x00\x00'
cells=
for i in 1 2 3 4 5 6; do cells+="$one$zero$zero$one$one$one"; done
npy "$in/features.npy" '<f4' '(3, 4, 3)' "$cells"
npy "$in/query.npy" '<f4' '(3,)' "$one$zero$one"
mkdir "$in/masks"
for i in 0 1; do
    awk -v n=$i 'BEGIN { print "P2 64 48 255"; for (i = 0; i < 3072; ++i) print (i % 64 >= 10 + 3 * n && i % 64 < 26 + 3 * n) ? 255 : 0 }' \
        >"$in/masks/frame$i.png"
done

asked=(--features "$in/features.npy" --query "$in/query.npy")
case $command in
select) run=(select "$in/frame0.pgm" -k 5 --strategy grid --overlay overlay.png --heatmap heat.png -o selection.json) ;;
budget) run=(select "$in/frame0.pgm" -k 5 "${asked[@]}" --overlay overlay.png --heatmap heat.png -o selection.json) ;;
features) run=(select "$in/frame0.pgm" -k 5 "${asked[@]}" --strategy cascade) ;;
basis) run=(select "$in/frame0.pgm" -k 5 --strategy grid "${asked[@]}" --basis image --components 2) ;;
batch) run=(select "$in/frame0.pgm" "$in/frame1.pgm" "$in/frame2.pgm" -k 5 --strategy grid) ;;
lines) run=(select "$in/frame0.pgm" "$in/frame1.pgm" "$in/frame2.pgm" -k 5 --strategy grid --jsonl) ;;
ragged) run=(channels --ragged "$in/frame0.pgm" -o "$PWD") ;;
each) run=(channels --each "$in/frame0.pgm" -o "$PWD" --channels r,edges,saliency) ;;
generate) run=(channels "$in/frame0.pgm" -o stack.npy --sheet sheet.png) ;;
flow) run=(channels --flow "$in/frame0.pgm" "$in/frame1.pgm" -o flow.flo) ;;
attend) run=(attend "$in/features.npy" --queries "$in/query.npy" --level 1 --fine 0.5 -o out.npy --map map.npy --picture map.png) ;;
export) run=(tensors "$in/frame0.pgm" "$in/frame1.pgm" --for qwen2-vl -o tensors.safetensors) ;;
pictures) run=(tensors "$in/frame0.pgm" "$in/frame1.pgm" --for qwen2-vl --strategy budget --budget 4 -o tensors.safetensors) ;;
crops) run=(tensors "$in/frame0.pgm" --for internvl --size 28 --budget 3 -o tensors.safetensors) ;;
video) run=(video "$in/frame0.pgm" "$in/frame1.pgm" "$in/frame2.pgm" -k 5) ;;
pca) run=(pca train "$in/features.npy" -k 2 -o basis.safetensors) ;;
vocab) run=(vocab train "$in/features.npy" -n 2 -o vocab.safetensors) ;;
bytes) run=(select "$in/frame0.pgm" "$in/frame1.pgm" -k 5 --format u8) ;;
compress) run=(compress train "$in/frame0.pgm" "$in/frame1.pgm" --channels r,edges,low,laplacian -k 2 -o codec.safetensors) ;;
codec)
    scorer "$in/scorer.safetensors" '"format":"texturevlm.scorer","channels":"edges,low"' '[2]' "$one$one"
    "$lab" compress train "$in/frame0.pgm" --channels edges,low,r -k 2 --device reference -o "$in/codec.safetensors" >/dev/null || exit 1
    run=(select "$in/frame0.pgm" -k 5 --strategy grid --scorer "$in/scorer.safetensors" --codec "$in/codec.safetensors") ;;
fit) run=(fit "$in/frame0.pgm" "$in/frame1.pgm" --masks "$in/masks" -o scorer.safetensors) ;;
hidden) run=(fit "$in/frame0.pgm" "$in/frame1.pgm" --masks "$in/masks" --hidden 2 --l2 1 -o scorer.safetensors) ;;
questions)
    for i in 0 1; do printf '0 0.3 0.6 0.25 0.33\n1 0.8 0.2 0.3 0.3\n' >"$in/masks/frame$i.txt"; done
    npy "$in/asked.npy" '<f4' '(2, 3)' "$one$zero$one$zero$one$zero"
    run=(fit "$in/frame0.pgm" "$in/frame1.pgm" --yolo "$in/masks" --features "$in/features.npy" --features "$in/features.npy" --classes 0,1
        --query-weights "$in/asked.npy" --channels edges,query_similarity --held-out 0 -o scorer.safetensors)
    ;;
network)
    "$lab" fit "$in/frame0.pgm" --masks "$in/masks" --taps 3x3 --hidden 2 --l2 1 --held-out 0 --device reference -o "$in/scorer.safetensors" \
        >/dev/null || exit 1
    run=(select "$in/frame0.pgm" -k 5 --strategy grid --scorer "$in/scorer.safetensors")
    ;;
bench) run=(bench --json --size 64x48 --repeat 1 --stage visual) ;;
tune)
    # What was tuned is kept, also where the home cannot be written. PoCL's kernels stay where they are.
    export POCL_CACHE_DIR=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache}
    export XDG_CACHE_HOME=$work/cache
    mkdir "$work/cache"
    run=(devices --tune --json --storage buffer --seconds 0.5)
    ;;
devices) run=(devices --json) ;;
*) echo "there is no command $command"; exit 1 ;;
esac

# with VARIABLE VALUE [OPTION...]: runs the command on the layer.
with() {
    local setting=TVLM_LAYER_$1=$2
    shift 2
    rm -rf "${work:?}/out/"*
    env OPENCL_LAYERS="$layer" "$setting" "$(program "${run[0]}")" "${run[@]}" "$@" >"$work/stdout" 2>"$work/stderr"
}
# What a run gave, without what may differ: which device it was, and how long it took.
keep() {
    rm -rf "$work/$1" && mkdir "$work/$1"
    cp -r "$work/out/." "$work/$1"
    sed -E 's/"device": "[^"]*"//' "$work/stdout" >"$work/$1/stdout"
    [ ! -f "$work/$1/selection.json" ] || sed -i -E 's/"device": "[^"]*"//' "$work/$1/selection.json"
}

with COUNTS "$work/counts"
if [ ! -s "$work/counts" ]; then
    echo "SKIPPED: the loader of OpenCL takes no layer"
    exit 77
fi
[ ! -s "$work/stderr" ] || complain "without a failure: ${run[*]}"
keep expected
calls=$(sed -n 's/^calls //p' "$work/counts")
case $command in bench | tune | devices) compared='' ;; *) compared=1 ;; esac
quick=${TVLM_TEST_QUICK:-0}
[ "${TVLM_TEST_SMALL:-0}" != 1 ] || quick=1

# check WHAT EXIT: the result of the last run.
check() {
    checks=$((checks + 1))
    if [ "$2" -eq 0 ]; then
        keep got
        [ ! "$compared" ] || diff -r "$work/expected" "$work/got" >/dev/null || complain "$1: other results"
        if [ "$command" = devices ] && ! grep -q '"index": 1' "$work/stdout"; then
            # The reference is all that is left, which is an answer; one line says why.
            [ "$(grep -c '^tvlm: ' "$work/stderr")" -le 1 ] && [ "$(wc -l <"$work/stderr")" -le 1 ] ||
                complain "$1: more than one line"
        else
            [ ! -s "$work/stderr" ] || complain "$1: exit 0, and something on stderr"
        fi
    elif [ "$command" = devices ]; then
        [ "$2" -eq 1 ] || complain "$1: exit $2"
    else
        [ "$2" -eq 1 ] || complain "$1: exit $2"
        [ "$(wc -l <"$work/stderr")" -eq 1 ] && grep -q '^tvlm' "$work/stderr" || complain "$1: not one line of error"
        [[ $command = video || $command = lines ]] || [ ! -s "$work/stdout" ] || complain "$1: something on stdout"
        [ ! "$(listing)" ] || complain "$1: files are left: $(listing)"
    fi
}

# numbers OFFSET: the n that are tried.
numbers() {
    if [ "$quick" = 1 ]; then
        echo $((1 + (${#command} * 37 + $1) * calls / 400 % calls))
    else
        local step=${TVLM_TEST_EVERY:-1}
        local most=60
        [ "$command" != bench ] || most=20
        [ "$step" -eq 1 ] || [ $((calls / step)) -le $most ] || step=$((calls / most))
        seq $((1 + ${TVLM_TEST_TURN:-0} % step)) "$step" "$calls"
    fi
}

for n in $(numbers 150); do
    with FAIL "$n"
    check "call $n fails" $?
done
for n in $(numbers 90); do
    with LOSE "$n"
    check "from call $n on all fail" $?
done

# goes_on WHAT EXIT: with --fallback nothing is lost. The positions are the reference's from the image on that was lost.
places() { cat "$work/$1/stdout" "$work/$1/selection.json" 2>/dev/null | sed -E 's/"(score|difference|loss|downsampled)": [^,}]*//g'; }
goes_on() {
    keep got
    checks=$((checks + 1))
    [ "$2" -eq 0 ] || complain "--fallback, $1: exit $2"
    [ "$(wc -l <"$work/stderr")" -le 1 ] && ! grep -v 'warning: .*the reference device works instead' "$work/stderr" ||
        complain "--fallback, $1: more than one line"
    diff <(places reference) <(places got) >/dev/null || diff <(places expected) <(places got) >/dev/null ||
        complain "--fallback, $1: other results"
    [ "$(cd "$work/got" && find . | sort)" = "$(cd "$work/reference" && find . | sort)" ] ||
        complain "--fallback, $1: other files"
}

# The other commands begin anew: one is as the others.
[ "$quick" = 0 ] || case $command in batch | lines | video | export | pictures | crops) ;; *) finish && exit; exit 1 ;; esac
if [ "$compared" ]; then
    compared=
    rm -rf "${work:?}/out/"*
    "$(program "${run[0]}")" "${run[@]}" --device=reference >"$work/stdout" 2>/dev/null
    keep reference
    for n in 3 7 $(numbers 270); do # 3 and 7: while the device is looked for
        with LOSE "$n" --fallback
        goes_on "from call $n on all fail" $?
    done
    with SPOIL 1 --fallback
    goes_on "the device errs" $?
    grep -q 'no storage passes the self-test' "$work/stderr" || complain "--fallback, the device errs: no line says so"
fi
finish
