#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""times.py PROGRAM MODEL FOLDER [--threads 2] [--side 672] [--rounds 1]: how long an answer's first token takes in llama.cpp, and how much
memory, by tokens kept.

PROGRAM is tvlm-mtmd, MODEL a folder of models.py with `model.gguf` and `mmproj.gguf`, such as qwen2-vl-2b, which has the released size and
random weights: its answers mean nothing, but it takes as long. FOLDER takes the picture, of words and shapes on paper. For each way and
share of the tokens there is a line: tokens of the picture, those that went through the encoder, milliseconds of choosing, of the encoder and
of the prefill (the least of the rounds), how many times the full picture takes for encoder and prefill together, and the peak memory of the
process, in which the weights are. Two looks need more than a tenth of the tokens. Needs what check_llama.py needs.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

SHARES = (0.5, 0.25, 0.1)
WAYS = ("smaller", "pruned", "pictures")
LOOKS = ("--looks", "2")
LEAST = 0.11  # below, it is one look


def picture(folder, side):
    """The drawn picture of check_llama.py, as a file."""
    sys.path[:0] = [str(Path(__file__).resolve().parent)]
    import check_llama
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"times-{side}.png"
    check_llama.drawn(side, side).save(path)
    return path


def run(options, words):
    """(tokens of pictures, encoded, ms of choosing, of encoding, of prefill, peak MiB) of one call of the program."""
    command = [options.program, "-m", options.model / "model.gguf", "--mmproj", options.model / "mmproj.gguf", "-t", str(options.threads), "-c",
               "8192", "-p", "What is the total?", "-n", "1", "--image", options.picture, *words]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    used = re.search(r"(\d+) tokens of images \((\d+) of them around .* (\d+) encoded in (\d+) ms, prefill in (\d+) ms", said)
    if process.returncode != 0 or used is None or ("--looks" in words) != (": two looks, " in said):
        raise SystemExit(f"{' '.join(map(str, words))}: {said.strip() or process.returncode}")
    chosen = re.search(r"chosen in (\d+) ms", said)
    tokens, around, encoded, encode, prefill = map(int, used.groups())
    return tokens - around, encoded, int(chosen.group(1)) if chosen else None, encode, prefill, usage.ru_maxrss / 1024


def best(options, words):
    """The round whose encoder and prefill took the least."""
    return min((run(options, words) for _ in range(options.rounds)), key=lambda row: row[3] + row[4])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("program", "model", "folder"):
        parser.add_argument(name, type=lambda path: Path(path).resolve())
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--side", type=int, default=672, help="of the picture, in pixels")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    options.picture = picture(options.folder, options.side)
    rows = [("full", best(options, ["--budget", "100000"]))]
    for share in SHARES:
        for way in WAYS:
            rows.append((f"{100 * share:g} % {way}", best(options, ["--share", share, "--way", way])))
        if share > LEAST:
            rows.append((f"{100 * share:g} % two looks", best(options, ["--share", share, *LOOKS])))
    whole = rows[0][1][3] + rows[0][1][4]
    print("| | tokens | encoded | choosing, ms | encoder, ms | prefill, ms | both, of the full picture's | MiB |\n|---|---|---|---|---|---|---|---|")
    for what, (tokens, encoded, choosing, encode, prefill, memory) in rows:
        print(f"| {what} | {tokens} | {encoded} | {'' if choosing is None else choosing} | {encode} | {prefill} | {(encode + prefill) / whole:.2f} | {memory:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
