#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_model.py BENCH.json [--measured BENCH.json] [--stages NAME...]

What stages would take at least on GPUs that we do not have: a launch for each command, and each byte once at the speed at
which the GPU copies. BENCH.json is of `tvlm bench --json`, for a GPU's launches and bytes on a machine without one of PoCL
that says it is a GPU (tests/layer; the times of that are not read):

    OPENCL_LAYERS=build/tests/layer/libtvlm_layer.so TVLM_LAYER_GPU=1 build/tools/tvlm-bench --device pocl --format f16 --json --repeat 1

It is a bound, not a forecast: what a kernel computes, and the latency of groups that wait for each other, are not in it.
--measured is of a real GPU: the last column says how many times its bound each stage takes there.

Where the numbers come from:
  - NVIDIA H200: 4.1 TB/s, measured by us (bench/README.md, `copy`; 4.8 by its data sheet), and 5 us, which `tvlm bench` had for `launch`.
  - Intel Arc A770: 421 GB/s, the best read by clpeak (github.com/krrishnarraj/clpeak, issue 99; 560 by its data sheet); no copy was
    found. 8 us, which one of its driver's authors calls usual of the A770M (github.com/intel/compute-runtime, issue 600).
  - AMD RX 7900 XTX: 825 GB/s, .86 of the 960 of its data sheet, as the H200 reaches of its own; 13 us, measured by clpeak on an RX 5500 XT
    (its repository, results/AMD_Accelerated_Parallel_Processing/RX_5500XT.log): of a newer card none was found.
  - Qualcomm Adreno 830: 73 GB/s, .86 of the 84.8 of four channels of LPDDR5X-10600, which it shares with the processor; 296 us, measured by
    clpeak on an Adreno 530 of 2016, which is more than half of each of its figures (results/Qualcomm_Snapdragon/OnePlus_3T.log): of a newer one none was found.
"""
import argparse
import json

GPUS = {  # bytes a second, seconds a command
    "H200": (4.1e12, 5e-6),
    "Arc A770": (421e9, 8e-6),
    "RX 7900 XTX": (825e9, 13e-6),
    "Adreno 830": (73e9, 296e-6),
}
STAGES = ("source", "source levels", "visual", "visual levels", "saliency", "entropy", "gradient", "distance", "cluster", "text",
          "score of cells", "top 273 of 4096", "sample 273", "pack", "select, uploaded", "select, again", "budget, uploaded", "flow",
          "delta frame, 1 %", "delta frame, in full", "100 queries", "export qwen", "a slot of a video", "a slot of a stream")


def commands(stage):
    return stage["kernels"] + stage["transfers"]


def bound(stage, gpu):
    speed, launch = GPUS[gpu]
    return 1e3 * (commands(stage) * launch + stage["bytes"] / speed)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--stages", nargs="+", default=STAGES, metavar="NAME", help="or 'all'")
    parser.add_argument("--measured")
    options = parser.parse_args()
    with open(options.bench) as file:
        bench = json.load(file)
    stages = {stage["name"]: stage for stage in bench["stages"]}
    names = list(stages) if options.stages == ["all"] else options.stages
    missing = [name for name in names if name not in stages]
    if missing:
        parser.error(f"{options.bench} has no stage '{missing[0]}'")
    measured = {}
    if options.measured:
        with open(options.measured) as file:
            found = json.load(file)
        measured = {stage["name"]: stage["over_bound"] for stage in found["stages"] if "over_bound" in stage}
    print(f"{bench['width']}x{bench['height']}, {bench['format']}, {bench['storage']}: at least so many milliseconds")
    print(f"{'':24} {'commands':>8} {'waits':>5} {'MB':>7}" + "".join(f"{gpu:>13}" for gpu in GPUS) + (f"{'times the bound':>17}" if measured else ""))
    for name in names:
        stage = stages[name]
        over = f"{measured[name]:17.1f}" if name in measured else ""
        print(f"{name:24} {commands(stage):8} {stage['waits']:5} {stage['bytes'] / 1e6:7.2f}" +
              "".join(f"{bound(stage, gpu):13.3f}" for gpu in GPUS) + over)


if __name__ == "__main__":
    main()
