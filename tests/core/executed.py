#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/core/executed.py BUILD: a plain photo passes no line of the lab.

Callgrind notes each function that is executed while the tool does the core's jobs, with the reference device and with the first
device of OpenCL. None of them may be the lab's. A job of the lab shows that its functions are found. Functions whose names also
stand in other files are not told apart, and are left out; they are few.

Exit: 0 none is executed; 1 some are: they are named; 77 there is no valgrind or no nm.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

JOBS = {"select": ["select", "photo.png", "-k", "273", "--overlay", "look.png"],
        "tolerance": ["select", "photo.png", "--tolerance", "auto", "--crops", "."],
        "grid": ["select", "photo.png", "-k", "20", "--strategy", "grid"],
        "tensors": ["tensors", "photo.png", "--for", "qwen2-vl", "-o", "tensors.safetensors"],
        "channels": ["channels", "photo.png", "--channels", "saliency,edges", "-o", "channels.npy"]}
LABS = ["select", "photo.png", "-k", "20", "--strategy", "foveated"]


def functions(objects):
    """The names of the functions that object files define."""
    text = subprocess.run(["nm", "-P", "-A", *objects], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split(".o: ", 1)[1].split()[0] for line in text.splitlines() if line.split(".o: ", 1)[1].split()[1] in "Tt"}


def executed(tool, words, device, folder):
    """The names of the functions that are executed."""
    command = [str(tool), *words, "--device", device]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # which builds the kernels, if need be
    noted = folder / "noted"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={noted}", *command], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    names = re.findall(r"^c?fn=\(\d+\) ([^\s']+)", noted.read_text(), re.MULTILINE)
    return set(names)


def main():
    for need in ("valgrind", "nm"):
        if shutil.which(need) is None:
            print(f"SKIPPED: there is no {need}")
            return 77
    build = pathlib.Path(sys.argv[1]).resolve()
    objects = sorted((build / "lib").rglob("*.o")) + sorted((build / "tools").rglob("*.o"))
    labs = [path for path in objects if "lab" in path.parts[:-1] and "tools" not in path.parts]
    lab = functions(labs) - functions([path for path in objects if path not in labs])
    tool, failed = build / "tools/tvlm", 0
    devices = json.loads(subprocess.run([tool, "devices", "--json"], check=True, stdout=subprocess.PIPE).stdout)["devices"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([build / "tools/tvlm-scene", "photo.png", "200", "120"], cwd=folder, check=True)
        found = lab & executed(tool, LABS, "reference", folder)
        if not found:
            print("no function of the lab was seen where there are some")
            failed = 1
        for device in ["reference"] + ["0"] * (devices[0]["type"] != "reference"):
            for job, words in JOBS.items():
                wrong = sorted(lab & executed(tool, words, device, folder))
                failed |= len(wrong) > 0
                print(f"{job}, device {device}: {' '.join(wrong) if wrong else 'nothing'} of the lab")
    print(f"{len(lab)} functions of the lab, of which {len(found)} choose squares")
    return failed


if __name__ == "__main__":
    sys.exit(main())
