#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/vocab.sh TVLM TVLM_SCENE [DEVICE]: `tvlm-lab vocab` as a user meets it. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# array FILE TYPE SHAPE BYTES: an .npy file; BYTES as printf takes them.
array() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" >"$1"
    printf "$4" >>"$1"
}
# body FILE: the numbers of an .npy file, as hexadecimal bytes.
body() { tail -c +129 "$1" | od -An -v -tx1 | tr -d ' \n'; }

in=$work/in
one='\0\0\x80\x3f' two='\0\0\0\x40' zero='\0\0\0\0' half='\0\0\0\x3f' nan='\0\0\xc0\x7f'
x="$two$zero$zero" y="$zero$one$zero" z="$zero$zero$half"
array "$in/f.npy" '<f4' '2, 3, 3' "$x$y$z$z$y$x"
array "$in/g.npy" '<f4' '4, 3' "$x$x$y$z"
array "$in/other.npy" '<f4' '3, 2' "$one$two$one$one$zero$one"
array "$in/nan.npy" '<f4' '2, 3' "$x$one$nan$zero"
array "$in/zero.npy" '<f4' '4, 3' "$zero$zero$zero$zero$zero$zero$zero$zero$zero$zero$zero$zero"
array "$in/x.npy" '<f4' '3,' "$x"
array "$in/xy.npy" '<f4' '2, 3' "$x$y"
array "$in/none.npy" '<f4' '3,' "$zero$zero$zero"
array "$in/q2.npy" '<f4' '2,' "$one$one"

vocab=("$lab" vocab)
echo "== what it does"
says 'v.safetensors: 3 centres of 3 dimensions, from 10 vectors, residual 0.000' \
    "${vocab[@]}" train "$in/f.npy" "$in/g.npy" -n 3 -o v.safetensors $device
says '"count": 3' "${vocab[@]}" info v.safetensors --json
says '"vectors": 6' "${vocab[@]}" train "$in/f.npy" -n 2 --rounds 2 --sample 5 --seed 7 -o w.safetensors --json $device
says 'ids.npy: 6 cells, 3 of 3 centres, residual 0.000' "${vocab[@]}" apply v.safetensors "$in/f.npy" -o ids.npy --residuals r.npy $device
grep -qa "'<u2'.*(2, 3)" ids.npy || complain "ids.npy is not uint16 of 2 x 3: $(head -c 128 ids.npy | tail -c +11)"
grep -qa "'<f4'.*(2, 3)" r.npy || complain "r.npy is not float32 of 2 x 3"
ids=$(body ids.npy)
[ "${#ids}" = 24 ] && [ "${ids:0:12}" = "${ids:20:4}${ids:16:4}${ids:12:4}" ] && [ "${ids:0:4}" != "${ids:4:4}" ] ||
    complain "the numbers of x, y, z, z, y, x are $ids"
says '"centres": 3' "${vocab[@]}" apply v.safetensors "$in/g.npy" -o g.npy --json $device
# The query is x of any length: its cells have 1, all others 0.
succeeds "${vocab[@]}" score v.safetensors ids.npy --query "$in/x.npy" -o s.npy
[ "$(body s.npy)" = 0000803f000000000000000000000000000000000000803f ] || complain "scores of x: $(body s.npy)"
grep -qa '(2, 3)' s.npy || complain "scores of one query have another shape"
succeeds "${vocab[@]}" score v.safetensors ids.npy --query "$in/xy.npy" -o two.npy
grep -qa '(2, 2, 3)' two.npy || complain "scores of two queries have another shape"
[ "$(body two.npy)" = "$(body s.npy)000000000000803f00000000000000000000803f00000000" ] || complain "scores of x and y: $(body two.npy)"
# The same again, from another device, and with another seed of vectors that are not as plain.
"${vocab[@]}" train "$in/f.npy" "$in/g.npy" -n 3 -o again.safetensors --device reference >/dev/null || complain "train on the reference"
same "centres of two devices" v.safetensors again.safetensors

echo "== what it refuses"
refused 1 '10 vectors with a length are too few for 11 centres' "${vocab[@]}" train "$in/f.npy" "$in/g.npy" -n 11 -o n.safetensors $device
refused 1 '0 vectors with a length are too few' "${vocab[@]}" train "$in/zero.npy" -n 2 -o n.safetensors $device
refused 1 'nan.npy: .*not finite' "${vocab[@]}" train "$in/f.npy" "$in/nan.npy" -n 2 -o n.safetensors $device
refused 1 'nan.npy: .*not finite' "${vocab[@]}" apply v.safetensors "$in/nan.npy" -o n.npy $device
refused 1 'other.npy: vectors of 2 dimensions; those of the first file have 3' "${vocab[@]}" train "$in/g.npy" "$in/other.npy" -n 2 -o n.safetensors $device
refused 1 'other.npy: vectors of 2 dimensions; the vocabulary has 3' "${vocab[@]}" apply v.safetensors "$in/other.npy" -o n.npy $device
refused 1 'q2.npy: vectors of 2 dimensions; the vocabulary has 3' "${vocab[@]}" score v.safetensors ids.npy --query "$in/q2.npy" -o n.npy
refused 1 'none.npy: question 0 is a zero vector' "${vocab[@]}" score v.safetensors ids.npy --query "$in/none.npy" -o n.npy
refused 1 'ids.npy: cell [0-9]+ has centre 2; the vocabulary has 2' "${vocab[@]}" score w.safetensors ids.npy --query "$in/x.npy" -o n.npy
refused 1 'r.npy: numbers of centres are uint16; this is float32' "${vocab[@]}" score v.safetensors r.npy --query "$in/x.npy" -o n.npy
refused 1 'f.npy' "${vocab[@]}" info "$in/f.npy"
head -c 200 v.safetensors >"$in/cut.safetensors"
refused 1 'cut.safetensors' "${vocab[@]}" info "$in/cut.safetensors"
"$lab" pca train "$in/f.npy" -k 2 -o "$in/basis.safetensors" --device reference >/dev/null
refused 1 'basis.safetensors: is not a vocabulary' "${vocab[@]}" apply "$in/basis.safetensors" "$in/f.npy" -o n.npy $device
refused 1 'nothere' "${vocab[@]}" apply nothere.safetensors "$in/f.npy" -o n.npy $device
refused 2 'none of train' "${vocab[@]}" teach "$in/f.npy"
refused 2 '-o V.safetensors is missing' "${vocab[@]}" train "$in/f.npy"
refused 2 '--query Q.npy is missing' "${vocab[@]}" score v.safetensors ids.npy -o n.npy
refused 2 'info writes nothing' "${vocab[@]}" info v.safetensors -o n.npy
refused 2 'are of train' "${vocab[@]}" apply v.safetensors "$in/f.npy" -o n.npy -n 3
refused 2 '--residuals is of apply' "${vocab[@]}" train "$in/f.npy" -o n.safetensors --residuals n.npy
refused 2 '--query is of score' "${vocab[@]}" apply v.safetensors "$in/f.npy" -o n.npy --query "$in/x.npy"
refused 2 'takes V.safetensors IDS.npy' "${vocab[@]}" score v.safetensors -o n.npy --query "$in/x.npy"

finish
