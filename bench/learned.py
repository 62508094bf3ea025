#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What saliency and text that are learned (texturevlm.train) are worth beside the designed ones, on photos that they were not learned
from: the AUC of things in ../shared/data/boxes/coco_panoptic (photos of up to 50 % foreground), leave-one-out; and the words of
../shared/data/text/icdar2015 that are covered, as bench/text.py counts them, by eight folds that each hold out a photo with words and
about one without.

    bench/learned.py [--only things|words] [--steps N] [--keep FOLDER] [--time]
    bench/learned.py --sheet NETWORK.safetensors FILE.jpg

--keep: what does best, learned from all photos, goes there (thing.safetensors, word.safetensors), each with pictures of it on the photos.
networks/word.safetensors is such a file. --sheet: its kernels, and what they and it make of a slide that is drawn here, as a picture.
--time: only the processor time of networks beside PyTorch's, each library on one thread, so that a busy machine disturbs it less.

It needs the package texturevlm (pip install .), PyTorch and OpenCV. Exit: 0; 77 without them or the data.
"""
import argparse
import os
import sys
import tempfile
import time

if "--time" in sys.argv:
    os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")  # before the library is loaded
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

import pages
import saliency as salient
import text as texts
from shared import DATA, replacing

DESIGNED = "saliency,saliency_fine,saliency_mid,saliency_coarse,text,edges,distance,entropy,sharpness,x,y,eccentricity"
STROKES = "text,edges,rgb_var,entropy,sharpness,saliency_fine,saliency_mid,distance,low"
# A name, and how it is learned.
SALIENCY = {
    "of colours": {"inputs": "r,g,b", "level": 3},
    "of colours, deep": {"inputs": "r,g,b", "level": 2, "deep": True},
    "of designed channels": {"inputs": DESIGNED, "level": 3},
    "of designed channels, deep": {"inputs": DESIGNED, "level": 3, "deep": True},
}
TEXT = {
    "of colours": {"inputs": "r,g,b", "level": 1, "hidden": 32},
    "of colours, deep": {"inputs": "r,g,b", "level": 1, "deep": True},
    "of designed channels": {"inputs": STROKES, "level": 2},
    "of designed channels, 16 hidden": {"inputs": STROKES, "level": 2, "hidden": 16},
    "of designed channels, deep": {"inputs": STROKES, "level": 2, "deep": True},
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
    return examples, SALIENCY[max(SALIENCY, key=lambda way: np.mean(table["learned " + way]))]


# ---- Text ----

def words_of(path, shape):
    """1 in words, 0 elsewhere, NaN in what nobody can read or is too small to count."""
    mask = np.zeros(shape, np.float32)
    for line in open(path, encoding="utf-8-sig"):
        fields = line.strip().split(",", 8)
        if len(fields) == 9:
            inside = cv2.fillPoly(np.zeros(shape, np.uint8), [np.array(fields[:8], float).round().astype(np.int32).reshape(4, 2)], 1)
            mask[inside > 0] = np.nan
    for corners in texts.read_words(path):
        mask[cv2.fillPoly(np.zeros(shape, np.uint8), [corners], 1) > 0] = 1
    return mask


def text_examples():
    """Photos with words, then as many without, which examples of folds take by turns."""
    images = [texts.Image(*found) for found in texts.find_images(DATA) if found[0] not in texts.LARGE]
    images.sort(key=lambda image: image.words is None)
    examples = []
    for image in images:
        folder, name = os.path.split(image.path)
        mask = np.zeros(image.luma.shape, np.float32)
        if image.words is not None:
            mask = words_of(os.path.join(folder, "gt_" + name[:-4] + ".txt"), image.luma.shape)
        examples.append(train.Example(image.path, mask))
    return images, examples


def auc_of(values, mask):
    """The AUC of the texels of the quarter-size grid, NaN where there are no words."""
    h, w = values.shape
    mask = cv2.resize(mask, (w, h), interpolation=cv2.INTER_NEAREST)
    known = ~np.isnan(mask)
    return train.auc(values[known], mask[known] > 0.5) if (mask[known] > 0.5).any() else np.nan


def found_words(images, marks):
    """The share of words that are covered, and the mean shares that are marked of photos with and without words."""
    hits = np.concatenate([i.covered(m) for i, m in zip(images, marks) if i.words is not None])
    return (hits.mean(), np.mean([m.mean() for i, m in zip(images, marks) if i.words is not None]),
            np.mean([m.mean() for i, m in zip(images, marks) if i.words is None]))


def mark(images, values):
    """Of each image the texels above the threshold that finds the most words of the others within bench/text.py's limits."""
    scores = texts.Scores(images, values)
    marks = []
    for image, plane in zip(images, values):
        at = scores.choose([other.name for other in images if other is not image], texts.MARGIN)[0]
        marks.append(plane > scores.thresholds[at])
    return marks


def learn_text(options):
    images, examples = text_examples()
    count = sum(image.words is not None for image in images)
    rows = {}
    values = [tv.channels(i.path, "text", size=i.size[::-1])[0] for i in images]
    rows["text"] = values, [plane >= 0.5 for plane in values]
    for title, how in TEXT.items():
        begin, values = time.perf_counter(), [None] * len(images)
        for network, held_out in train.folds(examples, count, outputs=["word"], steps=options.steps, **how):
            for i in held_out:
                values[i] = train.apply(network, examples[i].image, images[i].size[::-1])[0]
        rows["learned " + title] = values, mark(images, values)
        print(f"{title}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    print(f"\n{count} photos with words, {len(images) - count} without".ljust(32) + "words covered  marked  without words  AUC (least .. most)")
    found = {}
    for title, (values, marks) in rows.items():
        share, text, photo = found_words(images, marks)
        areas = np.array([auc_of(v, e.mask) for v, e in zip(values[:count], examples)])
        found[title] = areas
        print(f"{title:32}{100 * share:12.1f} %{100 * text:6.1f} %{100 * photo:13.1f} %   {areas.mean():.3f} "
              f"({areas.min():.3f} .. {areas.max():.3f}), better than text in {(areas > found['text']).sum()}", flush=True)
    return examples, TEXT[max(TEXT, key=lambda way: found["learned " + way].mean())]


# ---- What is kept ----

def keep(options, name, examples, how):
    """What did best on what it was not learned from, learned from all."""
    network = train.learn(examples, outputs=[name], steps=options.steps, **how)
    path = os.path.join(options.keep, name)
    network.save(path + ".safetensors")
    train.sheet(network, path + "_kernels.png", image=examples[0].image)
    rows = []
    for example in examples[:8]:
        shown = tv.channels(example.image, "r,g,b", size=(320, 240)).transpose(1, 2, 0)
        plane = train.apply(network, example.image, (320, 240))[0]
        rows.append(np.concatenate([shown, np.repeat(plane[..., None], 3, 2)], 1))
    left, right = np.concatenate(rows[::2]), np.concatenate(rows[1::2])
    picture = np.round(255 * np.concatenate([left[:len(right)], right], 1)[..., ::-1])
    with replacing(path + "_channels.jpg") as part:
        cv2.imwrite(part, picture, [cv2.IMWRITE_JPEG_QUALITY, 80])
    print(f"{path}.safetensors: {how}, of {len(examples)} photos")


def write_sheet(file, path):
    slide = next(page for page in pages.draw_pages(1) if page.name == "slide").picture
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "sheet.png")
        train.sheet(tv.Network.load(file), made, image=slide)
        with replacing(path) as part:
            cv2.imwrite(part, cv2.imread(made), [cv2.IMWRITE_JPEG_QUALITY, 75])


# ---- Time ----

def milliseconds(runs, repetitions=12):
    """The least processor time of each, which take turns."""
    found = [[] for _ in runs]
    for _ in range(repetitions):
        for run, row in zip(runs, found):
            begin = time.process_time()
            run()
            row.append(1e3 * (time.process_time() - begin))
    return [min(row) for row in found]


def time_networks(side=1024):
    """A network on an image whose colours are there, until its channels are made, with their levels; beside PyTorch's own."""
    image = (np.random.default_rng(1).random((side, side, 3)) * 255).astype(np.uint8)
    planes = torch.from_numpy(image.transpose(2, 0, 1)[None].astype(np.float32) / 255)
    torch.set_num_threads(1)
    print(f"{side}x{side}, float, PyTorch {torch.__version__}, processor time".ljust(60) + "tvlm ms  PyTorch ms  ratio")
    for hidden, outputs, deep in ((64, 1, False), (64, 8, False), (32, 4, False), (64, 1, True)):
        model = train.generator(3, outputs, hidden=hidden, deep=deep).eval()
        network = tv.Network(model, outputs=[f"n{i}" for i in range(outputs)])
        with tv.Stack(image, layout="r,n0", network=network, format="f32") as stack, torch.no_grad():
            def ours():
                stack._call(lib.tvlm_stack_invalidate, lib.TVLM_CHANNEL_LEARNED_0)
                stack.sample([[1.0, 1.0]], ["n0"])
            ours(), model(planes)
            title = f"{'deep, ' if deep else ''}{hidden} hidden, {outputs} outputs"
            own, peer = milliseconds([ours, lambda: model(planes)])
            print(title.ljust(60) + f"{own:7.1f}  {peer:10.1f}  {own / peer:5.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", choices=["things", "words"])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--keep", help="a folder")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--sheet", nargs=2, metavar=("NETWORK.safetensors", "FILE.jpg"))
    options = parser.parse_args()
    if options.sheet:
        write_sheet(*options.sheet)
        return 0
    if options.time:
        time_networks()
        return 0
    if not os.path.isdir(os.path.join(DATA, "boxes")):
        print(f"skipped: no {DATA}", file=sys.stderr)
        return 77
    for name, kind, learn in (("thing", "things", learn_saliency), ("word", "words", learn_text)):
        if options.only in (None, kind):
            learned = learn(options)
            if options.keep:
                keep(options, name, *learned)
    return 0


if __name__ == "__main__":
    sys.exit(main())
