#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/pca.sh TVLM TVLM_SCENE [DEVICE]: `tvlm-lab pca` and --basis as a user meets them. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# numbers FILE SHAPE COUNT [LAST]: float32 of that shape, numbers that repeat after 11, the last one LAST (4 bytes, escaped).
numbers() {
    local header n=$(($3 - 1))
    header="{'descr': '<f4', 'fortran_order': False, 'shape': ($2), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
    local bytes=('\0\0\x80\x3f' '\0\0\0\x40' '\0\0\x40\x40' '\0\0\x80\xc0' '\0\0\0\x3f' '\0\0\xa0\x40' '\0\0\0\0' '\0\0\xc0\xbf' '\0\0\x10\x41' '\0\0\x20\xc1' '\0\0\x80\x3e')
    for ((i = 0; i < n; ++i)); do printf "${bytes[(i * i / 3 + i) % 11]}"; done >>"$1"
    printf "${4:-\\0\\0\\x80\\x3f}" >>"$1"
}

in=$work/in
"$scene" "$in/scene.png" 80 48 || exit 1
numbers "$in/f.npy" "6, 10, 8" 480
numbers "$in/g.npy" "40, 8" 320
numbers "$in/other.npy" "40, 7" 280
numbers "$in/q.npy" "8," 8
numbers "$in/q7.npy" "7," 7
numbers "$in/nan.npy" "40, 8" 320 '\0\0\xc0\x7f'
numbers "$in/one.npy" "8," 8

pca=("$lab" pca)
says '3 components of 8 dimensions, not centred, from 100 vectors' "${pca[@]}" train "$in/f.npy" "$in/g.npy" -k 3 -o basis.safetensors $device
says '"method": "range finder"' "${pca[@]}" train "$in/f.npy" -k 3 --centred --method range-finder -o c.safetensors --json $device
says '"centred": true' "${pca[@]}" info c.safetensors --json
says 'pass  variance kept' "${pca[@]}" validate basis.safetensors "$in/f.npy" --queries "$in/q.npy" --min-variance 0.01 --max-error 1 --min-neighbours 0 --min-rank 0 --min-top 0 --max-largest 1 --plot curve.png
[ -s curve.png ] || complain "no plot"
rm -f curve.png
says '"passed": true' "${pca[@]}" validate basis.safetensors "$in/f.npy" --json --min-variance 0.01 --max-error 1 --min-neighbours 0 --max-largest 1
rc=0
"${pca[@]}" validate basis.safetensors "$in/f.npy" --min-variance 1 >"$work/stdout" 2>"$work/stderr" || rc=$?
[ $rc -eq 1 ] && grep -q 'FAIL  variance kept' "$work/stdout" && grep -q 'thresholds' "$work/stderr" || complain "a threshold that fails"

refused 1 'f.npy.*|9 components of vectors of 8' "${pca[@]}" train "$in/f.npy" -k 9 -o x.safetensors $device
refused 1 '1 vectors are too few for 2' "${pca[@]}" train "$in/one.npy" -k 2 -o x.safetensors $device
refused 1 'nan.npy: .*not finite' "${pca[@]}" train "$in/g.npy" "$in/nan.npy" -k 2 -o x.safetensors $device
zeros() { # FILE SHAPE COUNT
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($2), }" >"$1"
    head -c $((4 * $3)) /dev/zero >>"$1"
}
zeros "$in/zero.npy" "40, 8" 320
zeros "$in/zero-query.npy" "8," 8
refused 1 '40 vectors, all of them 0' "${pca[@]}" train "$in/zero.npy" -k 2 -o x.safetensors $device
refused 1 'zero.npy: 40 vectors, all of them 0' "${pca[@]}" validate basis.safetensors "$in/zero.npy" --plot x.png
refused 1 'zero-query.npy: query 0 is a zero vector' "${pca[@]}" validate basis.safetensors "$in/f.npy" --queries "$in/zero-query.npy"
refused 1 'other.npy: vectors of 7 dimensions' "${pca[@]}" train "$in/g.npy" "$in/other.npy" -k 2 -o x.safetensors $device
refused 1 'other.npy: vectors of 7 dimensions; the basis has 8' "${pca[@]}" validate basis.safetensors "$in/other.npy"
refused 1 'q.npy' "${pca[@]}" info "$in/q.npy"
refused 2 'none of train' "${pca[@]}" teach "$in/q.npy"
refused 2 'is missing' "${pca[@]}" train "$in/f.npy"
refused 2 'are of validate' "${pca[@]}" info basis.safetensors --plot p.png
refused 2 'takes BASIS' "${pca[@]}" validate basis.safetensors

select=("$tvlm" select "$in/scene.png" -k 5 $device --strategy grid --weights 0,0,1)
for basis in image query basis.safetensors c.safetensors; do
    says '"positions"' "${select[@]}" --features "$in/f.npy" --query "$in/q.npy" --basis $basis
done
# The span of the query is in the basis: its answer is the exact one.
"${select[@]}" --features "$in/f.npy" --query "$in/q.npy" | grep -o '"cell": \[[^]]*\]' >"$work/exact"
"${select[@]}" --features "$in/f.npy" --query "$in/q.npy" --basis query | grep -o '"cell": \[[^]]*\]' >"$work/close"
[ -s "$work/exact" ] && cmp -s "$work/exact" "$work/close" || complain "--basis query chooses other cells than the features"
refused 2 'needs --features' "${select[@]}" --basis image
refused 2 'needs --query' "$tvlm" select "$in/scene.png" --features "$in/f.npy" --basis query --scorer x
refused 1 'nothere' "${select[@]}" --features "$in/f.npy" --query "$in/q.npy" --basis nothere
refused 1 'q7.npy have 7' "${select[@]}" --features "$in/f.npy" --query "$in/q7.npy" --basis image
refused 1 'components' "${select[@]}" --features "$in/f.npy" --query "$in/q.npy" --basis image --components 9
"$tvlm" channels "$in/scene.png" --features "$in/f.npy" --channels embedding_0,embedding_1 -o e.npy $device || complain "generate"
[ "$(tail -c +129 e.npy | od -An -tf4 | grep -c '[1-9]')" -gt 0 ] || complain "embedding_0 is 0 everywhere"

finish
