#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What saliency that is learned (texturevlm.train) is worth beside the designed one: the AUC on the photos of
../shared/data/boxes/coco_panoptic (things are foreground; photos of up to 50 % foreground), each held out of what was learned.

    bench/learned.py [--steps N] [--keep FOLDER] [--time]

--keep: what does best, learned from all photos, goes there, with sheets of its kernels and of its channel. --time: only the time of
networks beside PyTorch's, on as many cores.

It needs the package texturevlm (pip install .), PyTorch and OpenCV. Exit: 0; 77 without them or the data.
"""
import argparse
import os
import sys
import time

try:
    import cv2
    import numpy as np
    import torch
    import texturevlm as tv
    from texturevlm import train
    from texturevlm._binding import lib
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

import saliency as salient

DATA = os.path.join(os.environ.get("TVLM_SHARED") or os.path.join(salient.ROOT, "..", "shared"), "data")
DESIGNED = "saliency,saliency_fine,saliency_mid,saliency_coarse,text,edges,distance,entropy,sharpness,x,y,eccentricity"
# A name, and how it is learned.
SALIENCY = {
    "of colours": {"inputs": "r,g,b", "level": 3},
    "of colours, deep": {"inputs": "r,g,b", "level": 2, "deep": True},
    "of designed channels": {"inputs": DESIGNED, "level": 3},
    "of designed channels, deep": {"inputs": DESIGNED, "level": 3, "deep": True},
}


def print_table(title, names, table):
    print(title.ljust(30) + "  ".join(name[-5:].rjust(5) for name in names) + "   mean")
    for label, row in table.items():
        print(label.ljust(30) + "  ".join(f"{value:5.3f}" for value in row) + f"  {np.mean(row):.3f}", flush=True)


# ---- Saliency ----

def learn_saliency(options):
    photos = list(salient.photos(os.path.join(DATA, "boxes", "coco_panoptic")))
    examples = [train.Example(np.ascontiguousarray(image[..., ::-1]), mask.astype(np.float32)) for _, image, mask in photos]
    table = {"saliency": [train.auc(tv.channels(e.image, "saliency", size=e.mask.shape[::-1])[0], e.mask > 0.5) for e in examples]}
    for title, how in SALIENCY.items():
        row = []
        for network, (i,) in train.folds(examples, len(examples), outputs=["thing"], steps=options.steps, **how):
            row.append(train.auc(train.apply(network, examples[i].image, examples[i].mask.shape[::-1])[0], examples[i].mask > 0.5))
        table["learned " + title] = row
    print_table("AUC of things, held out", [name for name, _, _ in photos], table)
    return examples, table


# ---- What is kept ----

def keep(options, examples, table):
    """What did best on what it was not learned from, learned from all."""
    title = max(SALIENCY, key=lambda way: np.mean(table["learned " + way]))
    network = train.learn(examples, outputs=["thing"], steps=options.steps, **SALIENCY[title])
    path = os.path.join(options.keep, "thing")
    network.save(path + ".safetensors")
    train.sheet(network, path + "_kernels.png")
    first = [train.apply(network, example.image, (320, 240))[0] for example in examples[:8]]
    shown = [cv2.resize(example.image, (320, 240), interpolation=cv2.INTER_AREA) for example in examples[:8]]
    rows = [np.concatenate([image, np.repeat(np.uint8(255 * plane)[..., None], 3, 2)], 1) for image, plane in zip(shown, first)]
    left, right = np.concatenate(rows[::2]), np.concatenate(rows[1::2])
    cv2.imwrite(path + "_channels.jpg", np.concatenate([left[:len(right)], right], 1)[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])
    print(f"{path}.safetensors: learned {title}, of {len(examples)} photos")


# ---- Time ----

def milliseconds(run, repetitions=9):
    found = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        run()
        found.append(1e3 * (time.perf_counter() - begin))
    return min(found)


def time_networks(side=1024):
    """A network on an image whose colours are there, until its channels are made, with their levels; beside PyTorch's own."""
    image = (np.random.default_rng(1).random((side, side, 3)) * 255).astype(np.uint8)
    planes = torch.from_numpy(image.transpose(2, 0, 1)[None].astype(np.float32) / 255)
    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    print(f"{side}x{side}, float, PyTorch {torch.__version__} on {threads} threads".ljust(60) + "tvlm ms  PyTorch ms")
    for hidden, outputs, deep in ((64, 1, False), (64, 8, False), (32, 4, False), (64, 1, True)):
        model = train.generator(3, outputs, hidden=hidden, deep=deep).eval()
        network = tv.Network(model, outputs=[f"n{i}" for i in range(outputs)])
        with tv.Stack(image, layout="r,n0", network=network, format="f32") as stack, torch.no_grad():
            def ours():
                stack._call(lib.tvlm_stack_invalidate, lib.TVLM_CHANNEL_LEARNED_0)
                stack.sample([[1.0, 1.0]], ["n0"])
            ours(), model(planes)
            title = f"{'deep, ' if deep else ''}{hidden} hidden, {outputs} outputs"
            print(title.ljust(60) + f"{milliseconds(ours):7.1f}  {milliseconds(lambda: model(planes)):10.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--keep", help="a folder")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        time_networks()
        return 0
    if not os.path.isdir(os.path.join(DATA, "boxes")):
        print(f"skipped: no {DATA}", file=sys.stderr)
        return 77
    learned = learn_saliency(options)
    if options.keep:
        keep(options, *learned)
    return 0


if __name__ == "__main__":
    sys.exit(main())
