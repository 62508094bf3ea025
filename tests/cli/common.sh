# SPDX-License-Identifier: Apache-2.0
# common.sh: what the scripts beside it share. They source it with their own arguments: TVLM TVLM_SCENE [DEVICE].
# DEVICE: what --device gets; without it the default device, and the test is skipped (77) where there is none. From here
# on they are in $work/out, an empty folder that `refused` watches; what they read goes into $work/in.
set -uo pipefail
here=$(realpath -e "$(dirname "${BASH_SOURCE[0]}")") || exit 1 # the folder of the scripts
tvlm=$(realpath -e "$1") && scene=$(realpath -e "$2") || exit 1
lab=$tvlm-lab # the program of the lab, where it is built
device=${3:+--device=$3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in" "$work/out"
cd "$work/out"
failures=0 checks=0
unset TVLM_DEVICE
export TVLM_UNTUNED=1 # the default device is the first one, whatever was built or tuned on this machine before

devices=$("$tvlm" devices --json 2>/dev/null) || { echo "FAILED: $tvlm devices: exit $?"; exit 1; }
if [ ! "$device" ] && ! grep -q '"type": "[^r]' <<<"$devices"; then
    echo "SKIPPED: no OpenCL device"
    exit 77
fi

# The tool runs in the locale that there is. What reads its numbers here does not: it would look for commas in them.
awk() { LC_ALL=C command awk "$@"; }
od() { LC_ALL=C command od "$@"; }

complain() {
    echo "FAILED: $1"
    [ ! -s "$work/stdout" ] || { echo "  stdout:"; head -3 "$work/stdout"; }
    [ ! -s "$work/stderr" ] || { echo "  stderr:"; head -3 "$work/stderr"; }
    failures=$((failures + 1))
}

# The last line of every script.
finish() {
    echo "$checks checks, $failures failures"
    [ $failures -eq 0 ]
}

listing() { find "$work/out" -mindepth 1 | sort; }

# refused EXIT PATTERN COMMAND...: exits so, with one line that fits, nothing on stdout, no file.
refused() {
    local code=$1 pattern=$2 rc=0 before
    shift 2
    before=$(listing)
    "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq "$code" ] || complain "exit $rc, not $code: $*"
    [ "$(wc -l <"$work/stderr")" -eq 1 ] || complain "not one line of error: $*"
    grep -qE "^tvlm(-lab)?: .*($pattern)" "$work/stderr" || complain "the line does not fit '$pattern': $*"
    [ ! -s "$work/stdout" ] || complain "something on stdout: $*"
    [ "$(listing)" = "$before" ] || complain "files are left: $*"
}

# succeeds COMMAND...: exit 0 and nothing but warnings on stderr.
succeeds() {
    local rc=0
    "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq 0 ] || complain "exit $rc: $*"
    ! grep -vqE '^tvlm(-lab)?: warning: ' "$work/stderr" || complain "something on stderr: $*"
}

# says PATTERN COMMAND...: exit 0, silent on stderr, and prints a line that fits.
says() {
    local pattern=$1 rc=0
    shift
    "$@" >"$work/stdout" 2>"$work/stderr" || rc=$?
    checks=$((checks + 1))
    [ $rc -eq 0 ] || complain "exit $rc: $*"
    [ ! -s "$work/stderr" ] || complain "something on stderr: $*"
    grep -qE "$pattern" "$work/stdout" || complain "'$(head -1 "$work/stdout")' does not fit '$pattern': $*"
}

# same WHAT A B: the same bytes.
same() {
    checks=$((checks + 1))
    cmp -s "$2" "$3" || complain "$1: $2 and $3 differ"
}

# differ WHAT A B: other bytes.
differ() {
    checks=$((checks + 1))
    ! cmp -s "$2" "$3" || complain "$1: $2 and $3 are alike"
}

# is WHAT CONDITION...: the condition, a command, holds.
is() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" || complain "$what"
}

# has FILE PATTERN: a line of the file fits.
has() {
    checks=$((checks + 1))
    grep -qE "$2" "$1" || complain "$1: no $2"
}

# counts WHAT NUMBER FILE PATTERN: so many lines of the file fit.
counts() {
    checks=$((checks + 1))
    [ "$(grep -cE "$4" "$3")" -eq "$2" ] || complain "$1: $(grep -cE "$4" "$3"), not $2"
}

# npy FILE DESCR SHAPE BYTES [ORDER]: an array; BYTES as printf takes them.
npy() {
    local header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': $3, }"
    header=$(printf '%-117s' "$header")
    printf "\\x93NUMPY\\x01\\x00\\x76\\x00%s\n$4" "$header" >"$1"
}

# scorer FILE METADATA SHAPE BYTES: a .safetensors with the tensor "weights".
scorer() {
    local header bytes=$4 length
    length=$(printf "$bytes" | wc -c)
    header="{\"__metadata__\":{$2},\"weights\":{\"dtype\":\"F32\",\"shape\":$3,\"data_offsets\":[0,$length]}}"
    printf "\\x$(printf %02x $((${#header} & 255)))\\x$(printf %02x $((${#header} >> 8)))\0\0\0\0\0\0%s$bytes" "$header" >"$1"
}

# program COMMAND: whose command it is.
program() {
    case $1 in
    fit | pca | vocab | compress | attend | logpolar) echo "$lab" ;;
    *) echo "$tvlm" ;;
    esac
}

# named OPTION: the name of an option or a setting without its value.
named() { sed -E 's/^(--set [a-z-]+|[^ ]+).*/\1/' <<<"$1"; }

# values FILE FIRST COUNT: floats of an array from its FIRST on, one a line.
values() { tail -c +$((129 + 4 * $2)) "$1" | head -c $((4 * $3)) | od -An -v -tf4 -w4 | tr -d ' '; }

# holds WHAT FILE FIRST VALUE...: the array holds these, as od prints them.
holds() {
    local what=$1 file=$2 first=$3
    shift 3
    checks=$((checks + 1))
    [ "$(values "$file" "$first" $#)" = "$(printf '%s\n' "$@")" ] ||
        complain "$what: $(values "$file" "$first" $# | tr '\n' ' ')"
}
