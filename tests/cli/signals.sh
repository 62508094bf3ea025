#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/signals.sh TVLM TVLM_SCENE [DEVICE]: what a signal leaves of each command: no temporary file, and of its outputs
# those that are complete. DEVICE as in common.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

in=$work/in
for name in a b c; do "$scene" "$in/$name.png" 160 120 || exit 1; done
mkfifo "$in/wait.png" "$in/wait.npy"
# What is started in the background ignores SIGINT unless it is told otherwise.
plain=(env --default-signal=INT,TERM,HUP,PIPE,XFSZ)


# until_there PATTERN: a file of that name is in this folder.
until_there() {
    for _ in $(seq 300); do
        compgen -G "$1" >/dev/null && return
        sleep 0.1
    done
    complain "no $1 within 30 s"
}

# ended PID: its exit status; one that does not end within a minute is complained of, with what its threads wait in.
ended() {
    local thread
    for _ in $(seq 600); do
        kill -0 $1 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 $1 2>/dev/null; then
        for thread in /proc/$1/task/*; do
            echo "$(<"$thread/comm"): $(<"$thread/wchan") $(grep -E '^(SigPnd|SigBlk|SigIgn|SigCgt)' "$thread/status" | tr '\n\t' '  ')"
        done
        kill -KILL $1
        complain "it does not end"
    fi
    wait $1 2>/dev/null
}

echo "== a signal while an output is being written"
# The second image is a FIFO that nobody writes to, so that the command waits with its output half written.
for signal in INT TERM HUP; do
    "${plain[@]}" "$tvlm" channels ${device:+"$device"} --channels r "$in/a.png" "$in/wait.png" -o stack.npy \
        >/dev/null 2>"$work/stderr" &
    pid=$!
    until_there '.tvlm-*.tmp'
    kill -$signal $pid
    ended $pid
    is "channels: not ended by SIG$signal" test $? -eq $((128 + $(kill -l $signal)))
    is "channels: SIG$signal leaves $(listing)" test -z "$(listing)"
done
checks=$((checks + 1))
nohup "$tvlm" channels ${device:+"$device"} --channels r "$in/a.png" "$in/wait.png" -o stack.npy >/dev/null 2>&1 &
pid=$!
until_there '.tvlm-*.tmp'
kill -HUP $pid
timeout 60 sh -c 'cat "$1" >"$2"' - "$in/b.png" "$in/wait.png" || complain "the second image is not read"
ended $pid || complain "nohup does not keep SIGHUP away"
rm -f stack.npy

echo "== twice"
if "$tvlm" video "$in/a.png" ${device:+"$device"} -k 1 --overlay one.mp4 >/dev/null 2>&1; then
    rm one.mp4
    for signal in INT TERM HUP; do
        "${plain[@]}" "$tvlm" video ${device:+"$device"} -k 1 "$in/a.png" "$in/b.png" "$in/wait.png" --overlay o.mp4 \
            >/dev/null 2>"$work/stderr" &
        pid=$!
        exec 3>"$in/wait.png" # waits until the third image is opened: two frames are sent then, and one is written
        until_there '.tvlm-*.tmp'
        kill -$signal $pid
        sleep 0.3
        is "video: the first SIG$signal ends it at once" kill -0 $pid
        kill -$signal $pid
        ended $pid
        is "video: not ended by the second SIG$signal" test $? -eq $((128 + $(kill -l $signal)))
        exec 3>&-
        is "video: two of SIG$signal leave $(listing)" test -z "$(listing)"
    done
fi

echo "== files that may not grow, and readers that go away"
npy "$in/f.npy" '<f4' '(4, 4, 64)' "$(printf '\\0\\0\\200\\077%.0s' $(seq 1024))"
for n in $(seq 40); do "$scene" "$in/v$n.png" 16 16; done
# small COMMAND...: fails with one line where no file may be larger than 1 KiB.
small() { refused 1 "$1" bash -c 'ulimit -f 1; exec "$@"' - "${plain[@]}" "$(program "$2")" "${@:2}"; }
reference=--device=reference # drivers write caches
small 'File too large' select $reference "$in/a.png" -o o.json
small 'File too large' select $reference "$in/a.png" -o /dev/null --overlay o.png
small 'File too large' select $reference "$in/a.png" -o /dev/null --patches o.npy
small 'File too large' channels $reference "$in/a.png" -o o.npy
small 'File too large' channels $reference "$in/a.png" --sheet o.png
small 'File too large' channels --flow $reference "$in/a.png" "$in/b.png" -o o.flo
small 'File too large' tensors $reference "$in/a.png" --for clip -o o.safetensors
small 'File too large' pca $reference train "$in/f.npy" -k 16 -o o.safetensors
small 'File too large' vocab $reference train "$in/f.npy" -n 16 -o o.safetensors
for command in "select $in/a.png" "select $in/a.png --overlay -" "channels $in/a.png -o -" "channels --flow $in/a.png $in/b.png -o -"; do
    rc=$("${plain[@]}" "$tvlm" $command $reference 2>"$work/stderr" | true; echo "${PIPESTATUS[0]}")
    is "exit $rc where nobody reads: $command" test "$rc" -eq 1
    is "not told where nobody reads: $command" grep -q 'cannot write' "$work/stderr"
    is "$(listing) is left where nobody reads: $command" test -z "$(listing)"
done

finish
