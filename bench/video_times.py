#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a budget for a whole video takes, beside the frames of an ordinary stream, each chosen for by itself.

    bench/video_times.py [--device NAME] [--frames 48,1200] [--repetitions 3] [--json FILE]

offline   `texturevlm.video` on clips of 672x392, a tenth of the tokens of 28 pixels in slots of two frames: seconds
causal    `texturevlm.VideoTokenStream` on frames of 960x540, the same share: median ms a frame
stream    `texturevlm.VideoStream`, updated and asked for a tenth of each of these frames: median ms a frame

The clip moves like a hand-held camera over a photo that is drawn here, and needs NumPy alone. It runs to and fro.
"""
import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402
from shared import write_json  # noqa: E402

tv = need("texturevlm")
SHARE, PATCH, TURN = .1, 28, 48


def clip(width, height):
    """TURN frames: ground of waves of every length, with a few flat things on it, and a camera that moves."""
    random, wide, high = np.random.default_rng(4), width + 320, height + 200
    y, x = np.mgrid[0:high, 0:wide].astype(np.float32)
    ground = np.zeros((high, wide, 3), np.float32)
    for _ in range(24):
        length, turn = 4 * 2 ** random.uniform(0, 6), random.uniform(0, np.pi)
        wave = np.sin((x * np.cos(turn) + y * np.sin(turn)) * 2 * np.pi / length + random.uniform(0, 6))
        ground += wave[..., None] * random.uniform(-1, 1, 3) * length ** .5
    ground = (128 + 40 * ground / ground.std()).clip(0, 255)
    for _ in range(30):
        cx, cy, r = random.uniform(0, wide), random.uniform(0, high), random.uniform(8, 60)
        ground[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = random.uniform(0, 255, 3)
    ground = ground.astype(np.uint8)
    at = [(int(40 + 5 * n + 4 * np.sin(n * .9)), int(90 + 60 * np.sin(n / 9))) for n in range(TURN)]
    return [np.ascontiguousarray(ground[top:top + height, left:left + width]) for left, top in at]


def walk(frames, count):
    """So many frames, to and fro."""
    for number in range(count):
        turn, place = divmod(number, len(frames))
        yield frames[place if turn % 2 == 0 else -1 - place]


def offline(frames, count, device, repetitions):
    seconds, tokens = [], None
    for _ in range(repetitions if count <= 200 else 1):
        began = time.perf_counter()
        tokens = tv.video(walk(frames, count), share=SHARE, patch=PATCH, device=device)
        seconds.append(time.perf_counter() - began)
    return {"frames": count, "seconds": statistics.median(seconds), "tokens": len(tokens), "loss": tokens.loss,
            "downsampled": tokens.downsampled}


def of_frames(frames, count, take):
    """The median of milliseconds a frame, without the first eight, and of the slowest tenth."""
    times = []
    for frame in walk(frames, count):
        began = time.perf_counter()
        take(frame)
        times.append(1000 * (time.perf_counter() - began))
    times = sorted(times[8:])
    return {"ms": statistics.median(times), "mean": statistics.mean(times), "slow": times[len(times) * 9 // 10]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device")
    parser.add_argument("--frames", default="48,1200", help="lengths of the clips that are decided as a whole (default: 48,1200)")
    parser.add_argument("--repetitions", type=int, default=3, help="of clips of up to 200 frames (default: 3)")
    parser.add_argument("--json", metavar="FILE", help="also write what is measured there")
    options = parser.parse_args()
    device = tv.Device(options.device) if options.device else tv.Device()
    found = {"device": device.name, "offline": []}
    small = clip(672, 392)
    tv.video(small[:8], share=SHARE, patch=PATCH, device=device)  # compiles
    print(f"{device.name}; tokens of {PATCH} pixels, {SHARE:.0%}\noffline, 672x392")
    for count in (int(part) for part in options.frames.split(",") if part):
        row = offline(small, count, device, options.repetitions)
        found["offline"].append(row)
        print(f"  {count:5} frames  {row['seconds']:7.2f} s  {row['tokens']} tokens, loss {row['loss']:.4f}, "
              f"downsampling {row['downsampled']:.4f}", flush=True)
    large = clip(960, 540)
    with tv.VideoTokenStream(share=SHARE, patch=PATCH, device=device) as stream:
        found["causal"] = of_frames(large, 96, stream.push)
    with tv.VideoStream(device=device) as stream:
        cells = int(SHARE * (960 // PATCH) * (540 // PATCH))
        found["stream"] = of_frames(large, 96, lambda frame: (stream.update(frame), stream.select(cells)))
    print("960x540, ms a frame: median, mean, slowest tenth")
    for name in ("causal", "stream"):
        print(f"  {name:7} {found[name]['ms']:7.2f} {found[name]['mean']:7.2f} {found[name]['slow']:7.2f}")
    print(f"  causal / stream by means: {found['causal']['mean'] / found['stream']['mean']:.2f}")
    if options.json:
        write_json(options.json, found, indent=1)


if __name__ == "__main__":
    sys.exit(main())
