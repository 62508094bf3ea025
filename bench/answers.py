#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many questions a small model answers rightly, by the way in which the tokens of its pictures are spent.

    bench/answers.py [FOLDER...] [--scenes 100] [--shares 6,12,25,50] [--json FILE] [--read FILE...]

Each FOLDER is a model of answers_train.py; without one it is bench/answers-model, which is seed 0. The table of one model has 95 %
intervals; that of several has the mean over them and its standard error. `--json` writes what was found, which `--read` takes
in place of asking a model again. The scenes are held back
(answers_scenes.py): no model saw their photos, fonts and seeds.
An answer is right if each of its letters is the likeliest one. Rows of the table:

- `full`: the picture in full, 324 tokens.
- `smaller`, `pruned`, `pictures`, `cells`, `auto`: what `texturevlm.hf.Pruner` makes of it; nobody tells it what is asked.
- `equal`, `alike`: PixelPrune's rule (arXiv 2604.00886) at the largest size of which so few tokens are left: a token is left out whose
  pixels equal, or differ by at most .02 from, those of the one to the left or above.
- `random`: tokens of the full picture, drawn at random. `thumb+random`: a small picture and a random place of the full one.
- `looks`: a small picture first; then, beside it, the tokens of the full one that the question's last token attends to. Where the
  small picture would show nothing (6 %) it is `auto`, as with a Pruner.
- `true`: the same at the place of what is asked, which only we know.

Runs in the environment of ci/hf-environment, with the package; exit 77 without. It is a toy of a model: what helps it may not help
others, and what does not help it is not claimed to help.
"""
import argparse
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402

need("torch", "transformers", "PIL", "texturevlm")
import torch  # noqa: E402
import transformers  # noqa: E402
from PIL import Image  # noqa: E402
import answers_model as am  # noqa: E402
import answers_scenes as scenes  # noqa: E402
from shared import write_json  # noqa: E402
from texturevlm import hf  # noqa: E402
from texturevlm._cut import EXTRA  # noqa: E402
from texturevlm.hf import _looks, _showing  # noqa: E402

SIDE = scenes.SIDE // am.TOKEN
BLIND = ("smaller", "pruned", "pictures", "cells", "auto")
RULES = {"equal": 0.0, "alike": 0.02}
KINDS = ("few", "crowd", "text", "whole")
SEED = 777


class Model:
    """A trained model, asked many questions at once."""

    def __init__(self, folder):
        self.model = transformers.Qwen2VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        self.processor = transformers.AutoProcessor.from_pretrained(folder)
        self.layers = len(self.model.model.language_model.layers)

    def right(self, shown):
        """Of (views, [(question, answer), ...]) for each question whether the answer is right."""
        with torch.no_grad():
            rows = [am.Row(self.processor, views, asked) for views, asked in shown]
            features = am.encode(self.model, [view for views, _ in shown for view in views])
            hidden, _ = am.hidden_of(self.model, self.processor, rows, features)
            found = []
            for row, states in zip(rows, hidden):
                for first, said in row.asked:
                    likeliest = self.model.lm_head(states[first:first + len(said)]).argmax(-1).tolist()
                    found.append(likeliest == said)
        return found

    def attention(self, view, questions):
        """Where the last token of each question looks in a picture, in the middle layer: [questions, rows, columns]."""
        with torch.no_grad():
            row = am.Row(self.processor, [view], [(question, "") for question in questions])
            features = am.encode(self.model, [view])
            maps = am.attention_of(self.model, self.processor, row, features, self.layers // 2)
        last = [first for first, _ in row.asked]
        return maps[:, last, 1:1 + len(view)].mean(0).reshape(len(questions), *view.grid).numpy()


# ---- Ways ----

def whole_of(scene):
    return 0, 0, scene.picture.shape[1], scene.picture.shape[0]


def view_of(scene, tokens, keep=None):
    """The scene as a picture of at most so many tokens."""
    side = min(SIDE, max(1, math.isqrt(tokens)))
    return am.View(am.resized(scene.picture, side, side), whole_of(scene), keep)


def by_pruner(pruner, scene):
    """The pictures that a Pruner makes of a scene, as views."""
    seen = pruner.prune(Image.fromarray(scene.picture), question="?").report.seen
    return [am.View(np.asarray(picture), whole_of(scene), np.asarray(keep)) for picture, keep in seen]


def by_rule(scene, tokens, threshold):
    """PixelPrune's: the largest size of which at most so many tokens are left."""
    for side in range(SIDE, 0, -1):
        picture = am.resized(scene.picture, side, side)
        of = picture.reshape(side, am.TOKEN, side, am.TOKEN, 3).transpose(0, 2, 1, 3, 4).reshape(side, side, -1) / 255
        same = np.zeros((side, side), bool)
        same[:, 1:] |= abs(of[:, 1:] - of[:, :-1]).max(-1) <= threshold
        same[1:] |= abs(of[1:] - of[:-1]).max(-1) <= threshold
        if (~same).sum() <= tokens:
            return [am.View(picture, whole_of(scene), ~same)]
    return [view_of(scene, 1)]


def nearest(x, y, count):
    """The tokens of the full picture that are nearest to a point, in tokens: bool [SIDE, SIDE]."""
    row, column = np.mgrid[:SIDE, :SIDE] + .5
    return best(-np.hypot(row - y, column - x), count)


def best(values, count):
    """The so many largest of values [SIDE, SIDE]: bool [SIDE, SIDE]."""
    keep = np.zeros(SIDE * SIDE, bool)
    keep[np.argsort(-values.reshape(-1), kind="stable")[:count]] = True
    return keep.reshape(SIDE, SIDE)


def first_look(scene, tokens):
    """The small picture of the whole, and how many tokens are then left for another one."""
    small = view_of(scene, round(tokens * _showing.FIRST))
    return small, max(1, tokens - len(small) - EXTRA)


def looks_twice(tokens):
    """Whether a Pruner takes two looks with so many tokens; with fewer it takes the way auto."""
    return max(_showing.FIRST * tokens, _showing._least(am.TOKEN, SIDE * SIDE)) <= _showing.MOST * tokens


def by_looks(model, pruner, scene, tokens, questions):
    if not looks_twice(tokens):
        return [by_pruner(pruner, scene)] * len(questions)
    small, rest = first_look(scene, tokens)
    full = (SIDE, SIDE)
    plan = _showing.Plan(small.grid[::-1], full, full, rest + EXTRA, EXTRA, SIDE * SIDE)
    maps = model.attention(small, questions)
    return [[small, am.View(scene.picture, whole_of(scene), _looks.places_of(one, plan))] for one in maps]


def by_truth(scene, tokens, places):
    small, rest = first_look(scene, tokens)
    return [[small, am.View(scene.picture, whole_of(scene), nearest(*place, rest))] for place in places]


# ---- Asking ----

def kind_of(scene, asked):
    """Questions whose answer is at no one place are a kind of their own."""
    return scene.kind if asked[2] else "whole"


def place_of(asked, numbers):
    """Where the answer stands, in tokens of the full picture."""
    shape = asked[2]
    if shape is None:
        return numbers.uniform(0, SIDE, 2)
    y = shape.y if shape.word_box is None else (shape.word_box[1] + shape.word_box[3]) / 2
    return shape.x / am.TOKEN, y / am.TOKEN


def shown_ways(model, pruners, scene, tokens, numbers):
    """By way: pictures and the questions that are asked of them."""
    asked = [one[:2] for one in scene.questions]
    for way in BLIND:
        yield way, [(by_pruner(pruners[way], scene), asked)]
    for way, threshold in RULES.items():
        yield way, [(by_rule(scene, tokens, threshold), asked)]
    yield "random", [([am.View(scene.picture, whole_of(scene), best(numbers.uniform(size=(SIDE, SIDE)), tokens))], asked)]
    single = [[one] for one in asked]
    yield "thumb+random", list(zip(by_truth(scene, tokens, numbers.uniform(0, SIDE, (len(asked), 2))), single))
    yield "looks", list(zip(by_looks(model, pruners["auto"], scene, tokens, [one[0] for one in asked]), single))
    yield "true", list(zip(by_truth(scene, tokens, [place_of(one, numbers) for one in scene.questions]), single))


def ask(model, scenes_of, shares):
    """{(way, share): {kind: [right, ...]}}"""
    found = {}
    numbers = np.random.default_rng(SEED)

    def add(way, share, scene, right):
        for asked, one in zip(scene.questions, right):
            found.setdefault((way, share), {}).setdefault(kind_of(scene, asked), []).append(bool(one))
    for scene in scenes_of:
        add("full", 100, scene, model.right([([view_of(scene, SIDE * SIDE)], [one[:2] for one in scene.questions])]))
    for share in shares:
        tokens = round(share / 100 * SIDE * SIDE)
        pruners = {way: hf.Pruner(model.model, model.processor, budget=tokens, way=way) for way in BLIND}
        for scene in scenes_of:
            for way, shown in shown_ways(model, pruners, scene, tokens, numbers):
                add(way, share, scene, model.right(shown))
    return found


def interval(right):
    """The share in per cent, and half of its 95 % interval (Wilson's is not needed at these counts)."""
    mean = float(np.mean(right))
    return 100 * mean, 196 * math.sqrt(mean * (1 - mean) / len(right))


def over_models(several):
    """The mean over models in per cent, and its standard error."""
    means = [100 * float(np.mean(right)) for right in several]
    return float(np.mean(means)), float(np.std(means, ddof=1)) / math.sqrt(len(means))


def table(models, shares):
    """models: of each what `ask` found."""
    ways = list(dict.fromkeys(way for found in models for way, _ in found))
    lines = ["| % of the tokens | way | " + " | ".join(KINDS) + " |", "|---|---|" + "---|" * len(KINDS)]
    for share in (100, *shares):
        for way in ways:
            several = [found[way, share] for found in models if (way, share) in found]
            if several:
                cells = ["%.0f ± %.0f" % (over_models([of[kind] for of in several]) if len(several) > 1 else interval(several[0][kind]))
                         if all(kind in of for of in several) else "" for kind in KINDS]
                lines.append(f"| {share} | {way} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def read(path):
    """What --json wrote: {model: {(way, share): {kind: [right, ...]}}}"""
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    return {name: {(row["way"], row["share"]): row["right"] for row in rows} for name, rows in kept.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--scenes", type=int, default=100, help="of each kind")
    parser.add_argument("--shares", default="6,12,25,50")
    parser.add_argument("--json")
    parser.add_argument("--read", nargs="+", default=[])
    options = parser.parse_args()
    shares = [float(one) if "." in one else int(one) for one in options.shares.split(",")]
    torch.set_num_threads(1)
    models = {name: found for path in options.read for name, found in read(path).items()}
    source = scenes.Source(scenes.HELD, SEED)
    folders = options.folders or ([] if options.read else [os.path.join(HERE, "answers-model")])
    held = [source.scene(kind) for kind in ("few", "crowd", "text") for _ in range(options.scenes)] if folders else []
    for folder in folders:
        models[os.path.basename(os.path.normpath(folder))] = ask(Model(folder), held, shares)
    for name, found in models.items():
        print(f"{name}\n{table([found], shares)}\n", flush=True)
    if len(models) > 1:
        print(f"mean of {len(models)} models, and its standard error\n{table([*models.values()], shares)}")
    if options.json:
        write_json(options.json, {name: [{"way": way, "share": share, "right": kinds} for (way, share), kinds in found.items()]
                                  for name, found in models.items()})


if __name__ == "__main__":
    main()
