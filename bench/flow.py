#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good `tvlm channels --flow` is: mean endpoint error in pixels on the pairs of ../shared/data/flow, at half and full size,
beside OpenCV's DIS (fast, medium) and Farneback; and what each takes on the first pair, at its own size and at 1024x1024.

    bench/flow.py [--tvlm TVLM] [--library FILE] [--data FOLDER] [--device NAME] [--no-times | --floors]

--floors: the tool alone at half size, and whether its mean error has grown (ci/full).

Times: the least of several calls on the same pair and cores, in turn. OpenCV's are from two pictures in gray to a flow of full size, by a
DIS that was made before; they include the pyramids of both. Ours are to a flow of half size, by tvlm_flow_compute and one wait:
"levels there", as a stream has those of the frame before, from stacks whose levels are made; "from pixels", with both pictures in colour
brought to the device and their levels made.
Exit: 0; 1 when the mean error is above OpenCV's DIS medium, or above what it was; 77 without the data or OpenCV.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import Library, need, np  # noqa: E402
from shared import DATA  # noqa: E402

cv2 = need("cv2")
MOST = 0.39  # of the mean endpoint error at half size: it was 0.382 (PoCL 3.1)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read_flo(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == b"PIEH", path
    width, height = np.frombuffer(data, "<i4", 2, 4)
    return np.frombuffer(data, "<f4", 2 * width * height, 12).reshape(height, width, 2)


def endpoint_error(flow, truth):
    known = (np.abs(truth) < 1e9).all(2)
    return float(np.linalg.norm(flow - truth, axis=2)[known].mean())


def dis(preset):
    made = cv2.DISOpticalFlow_create(preset)
    return lambda a, b: made.calc(a, b, None)


def farneback(a, b):
    return cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 5, 15, 3, 5, 1.2, 0)


PEERS = {"DIS fast": dis(cv2.DISOPTICAL_FLOW_PRESET_FAST), "DIS medium": dis(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM),
         "Farneback": farneback}


def least_times(calls, rounds=7):
    """Milliseconds of each, which take turns: a machine that slows down does so for all. The first round does not count."""
    found = {name: [] for name in calls}
    for _ in range(1 + rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            found[name].append(1e3 * (time.perf_counter() - start))
    return {name: min(times[1:]) for name, times in found.items()}


def run_tvlm(tvlm, device, pair, *options):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "f.flo")
        command = [tvlm, "channels", "--flow", *pair, "-o", out, *options]
        subprocess.run(command + (["--device", device] if device else []), check=True, timeout=600)
        return read_flo(out)


class Ours:
    """The library's flow between two pictures, [y][x][RGB]."""

    def __init__(self, path, device, pair):
        self.library, self.flow = Library(path), ctypes.c_void_p()
        self.device, self.pair = self.library.open(device), [np.ascontiguousarray(picture) for picture in pair]
        self.stacks = [self.library.stack(self.device, picture, ["r"], "auto") for picture in self.pair]

    def levels_there(self):
        self.library.call("tvlm_flow_compute", self.stacks[0], 0, self.stacks[1], 0, None, ctypes.byref(self.flow))
        self.library.call("tvlm_device_finish", self.device)

    def from_pixels(self):
        for stack, picture in zip(self.stacks, self.pair):
            self.library.set_image(stack, picture)
        self.levels_there()

    def close(self):
        self.library.c.tvlm_flow_destroy(ctypes.byref(self.flow))
        for stack in self.stacks:
            self.library.destroy_stack(stack)
        self.library.close(self.device)


def times_of(options, pair):
    gray = [cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in pair]
    ours = Ours(options.library, options.device, [picture[..., ::-1] for picture in pair])
    found = least_times({**{peer: lambda call=call: call(*gray) for peer, call in PEERS.items()}, "tvlm, from pixels": ours.from_pixels,
                         "tvlm, levels there": ours.levels_there})  # after the other, which makes them
    ours.close()
    return found


def print_times(options, paths):
    own = [cv2.imread(path) for path in paths]
    pairs = [own, [cv2.resize(picture, (1024, 1024), interpolation=cv2.INTER_CUBIC) for picture in own]]
    found = [times_of(options, pair) for pair in pairs]
    print(f"\nmilliseconds, {cv2.getNumThreads()} threads")
    print(f"{'':20}" + "".join(f"{f'{pair[0].shape[1]}x{pair[0].shape[0]}':>14}" for pair in pairs))
    for who in found[0]:
        print(f"{who:20}" + "".join(f"{times[who]:14.1f}" for times in found))


def read_pair(folder, name):
    """The paths of the two frames, and the true flow."""
    return [os.path.join(folder, name, f"frame1{i}.png") for i in (0, 1)], read_flo(os.path.join(folder, name, "flow10.flo"))


def check_most(options, folder, names):
    errors = []
    for name in names:
        pair, truth = read_pair(folder, name)
        errors.append(endpoint_error(run_tvlm(options.tvlm, options.device, pair), truth))
    print(f"flow: mean endpoint error {np.mean(errors):.4f} pixels over {len(errors)} pairs (at most {MOST})")
    return 0 if np.mean(errors) <= MOST else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tvlm", default=os.path.join(ROOT, "build/tools/tvlm"))
    parser.add_argument("--library", help="of the same build (default: lib/libtexturevlm.so beside the folder of TVLM)")
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--device")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--floors", action="store_true", help="only whether the tool is as good as it was")
    options = parser.parse_args()
    options.library = options.library or os.path.join(os.path.dirname(os.path.abspath(options.tvlm)), "..", "lib", "libtexturevlm.so")
    folder = os.path.join(options.data, "flow")
    if not os.path.isdir(folder):
        print(f"skipped: {folder} is not there", file=sys.stderr)
        return 77
    names = sorted(name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, "flow10.flo")))
    if not names:
        print(f"skipped: no pairs in {folder}", file=sys.stderr)
        return 77
    if options.floors:
        return check_most(options, folder, names)
    errors = {}
    for name in names:
        pair, truth = read_pair(folder, name)
        gray = [cv2.imread(path, cv2.IMREAD_GRAYSCALE) for path in pair]
        for peer, call in PEERS.items():
            errors.setdefault(peer, []).append(endpoint_error(call(*gray), truth))
        errors.setdefault("tvlm", []).append(endpoint_error(run_tvlm(options.tvlm, options.device, pair), truth))
        errors.setdefault("tvlm --full", []).append(
            endpoint_error(run_tvlm(options.tvlm, options.device, pair, "--full"), truth))
    print("endpoint error, pixels")
    print(f"{'':14}" + "".join(f"{name:>14}" for name in names) + f"{'mean':>10}")
    for who, values in errors.items():
        print(f"{who:14}" + "".join(f"{value:14.3f}" for value in values) + f"{np.mean(values):10.3f}")
    if not options.no_times:
        print_times(options, [os.path.join(folder, names[0], f"frame1{i}.png") for i in (0, 1)])
    return 0 if np.mean(errors["tvlm"]) <= np.mean(errors["DIS medium"]) else 1


if __name__ == "__main__":
    sys.exit(main())
