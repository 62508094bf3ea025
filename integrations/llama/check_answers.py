#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_answers.py [--patched] ASK SOURCE FOLDER [--questions 500] [--share 25] [--ways W,...]: whether a trained model answers in llama.cpp as in PyTorch.

The model is bench/answers-model, which was trained to answer questions about drawn scenes. It is converted by llama.cpp's converter.
ASK is the program test_answers, SOURCE a source of llama.cpp (integrations/llama/fetch), and FOLDER takes the model and the scenes.
The scenes are those of bench/answers.py, which no model saw. Each question is asked with the whole picture and in each way, with
a share of its tokens in per cent:

- in PyTorch with the pictures of texturevlm.hf's `Pruner`, but in the ways pictures and auto with those of texturevlm-mtmd: it joins
  crops, and tries more of them;
- in llama.cpp with those of texturevlm-mtmd. Dropped tokens go through the encoder there, and in PyTorch then, too; with --patched,
  where llama.cpp has before-encoder.patch, they do not.

The shares of right answers must be within 2 points of each other, way by way, and so many of them the same. Needs torch, transformers, Pillow and texturevlm.
"""
import argparse
import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "integrations/llama"), str(ROOT / "tests/python")]
import answers  # noqa: E402
import answers_model as am  # noqa: E402
import answers_scenes as scenes  # noqa: E402
import models  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402
from texturevlm import hf  # noqa: E402

POINTS = 2.0
AROUND = 2  # <|vision_start|> and <|vision_end|>, which texturevlm.hf does not count for the first picture
OTHERS = ("pictures", "auto")  # of which texturevlm.hf makes other pictures
WAYS = ("smaller", "pruned", "pictures", "cells", "auto", "looks")


def converted(source, folder):
    """The model as llama.cpp reads it."""
    if (folder / "mmproj.gguf").exists():
        return
    made = folder / "hf"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    for path in (ROOT / "bench/answers-model").iterdir():
        shutil.copy(path, made)
    config = json.loads((made / "config.json").read_text())
    config["text_config"]["architectures"] = None
    (made / "config.json").write_text(json.dumps({**config, "architectures": ["Qwen2VLForConditionalGeneration"]}))
    _merge_something(source)
    models.convert(source, made, folder / "model.gguf", False)
    models.convert(source, made, folder / "new.gguf", True)
    next(folder.glob("*new.gguf")).rename(folder / "mmproj.gguf")


def _merge_something(source):
    """llama.cpp takes no vocabulary without a merge, and the model's knows bytes alone: it is given one of two bytes that are in no text."""
    sys.path[:0] = [str(source / "gguf-py")]
    import gguf
    write = gguf.SpecialVocab.add_to_gguf

    def with_merge(self, *arguments, **options):
        self.merges = self.merges or ["\u0100 \u0101"]  # the bytes 0 and 1
        return write(self, *arguments, **options)

    gguf.SpecialVocab.add_to_gguf = with_merge


def drawn(count, folder):
    """Scenes with so many questions, each as a file: [(path, scene, questions)]."""
    source, found = scenes.Source(scenes.HELD, answers.SEED), []
    for kind in itertools.cycle(("few", "crowd", "text")):
        if count <= 0:
            return found
        scene, path = source.scene(kind), folder / f"{len(found)}.png"
        Image.fromarray(scene.picture).save(path)
        asked = [one[:2] for one in scene.questions][:count]
        found.append((path, scene, asked))
        count -= len(asked)
    return found


class Whole(answers.Model):
    """A model whose encoder sees all tokens of a picture; the language model gets those that are kept."""

    def right(self, shown):
        with torch.no_grad():
            rows, features = [], []
            for views, asked in shown:
                rows.append(am.Row(self.processor, views, asked))
                for view in views:
                    features.append(am.encode(self.model, [view.whole])[torch.from_numpy(view.keep)])
            hidden, _ = am.hidden_of(self.model, self.processor, rows, torch.cat(features))
            return [self.model.lm_head(states[first:first + len(said)]).argmax(-1).tolist() == said
                    for row, states in zip(rows, hidden) for first, said in row.asked]


def views_of(pruner, scene, question="?"):
    """The pictures that a Pruner makes of a scene, or without one the scene itself. `whole` is the view of all tokens of a picture."""
    box = answers.whole_of(scene)
    seen = pruner.prune(Image.fromarray(scene.picture), question=question).report.seen if pruner else [(scene.picture, None)]
    for picture, keep in seen:
        view = am.View(np.asarray(picture), box, None if keep is None else np.asarray(keep))
        view.whole = am.View(np.asarray(picture), box)
        yield view


def views_in(seen, number, scene):
    """The pictures of a scene that test_answers wrote."""
    for i, line in enumerate(Path(f"{seen}.{number}").read_text().splitlines()):
        _, columns, rows, kept = line.split()
        with Image.open(f"{seen}.{number}.{i}") as image:
            picture = np.asarray(image.convert("RGB"))
        keep = np.array([one == "1" for one in kept]).reshape(int(rows), int(columns))
        view = am.View(picture, answers.whole_of(scene), keep)
        view.whole = am.View(picture, answers.whole_of(scene))
        yield view


def in_pytorch(model, pruner, asked_of, looks, seen):
    if seen:
        return [right for number, (_, scene, asked) in enumerate(asked_of) for right in model.right([(list(views_in(seen, number, scene)), asked)])]
    if looks:  # each question has pictures of its own
        return [right for _, scene, asked in asked_of for one in asked for right in model.right([(list(views_of(pruner, scene, one[0])), [one])])]
    return [right for _, scene, asked in asked_of for right in model.right([(list(views_of(pruner, scene)), asked)])]


def in_llama(ask, folder, budget, way, asked_of, seen):
    """Whether each answer is right, and the most tokens that a picture took. `seen`: where the pictures become files."""
    lines = [f"{path}\t{question}\n" for path, _, asked in asked_of for question, _ in asked]
    done = subprocess.run([ask, folder, str(budget), way, *seen], input="".join(lines), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{way} {budget}: {ask} failed: {done.stderr[-500:]}")
    said = [line.split("\t", 1) for line in done.stdout.splitlines()]
    wanted = [answer for _, _, asked in asked_of for _, answer in asked]
    if len(said) != len(wanted):
        raise SystemExit(f"{way}: {len(said)} answers to {len(wanted)} questions")
    return [one[1] == answer for one, answer in zip(said, wanted)], max(int(one[0]) for one in said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("ask", "source", "folder"):
        parser.add_argument(name, type=lambda path: Path(path).resolve())
    parser.add_argument("--patched", action="store_true")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--share", type=float, default=25)
    parser.add_argument("--ways", default=",".join(("full", *WAYS)), help="a list of them; default: all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    converted(options.source, options.folder)
    asked_of = drawn(options.questions, options.folder)
    model = (answers.Model if options.patched else Whole)(ROOT / "bench/answers-model")
    full = answers.SIDE**2
    images, least = model.processor.image_processor, 8 * am.TOKEN**2  # libmtmd makes 8 tokens of a picture at least
    images.min_pixels, images.size = least, {**images.size, "shortest_edge": least}
    tokens, failed = round(options.share / 100 * full), 0
    print(f"{options.questions} questions; {tokens} of {full} tokens\n\n| way | PyTorch | llama.cpp | the same | most tokens |\n|---|---|---|---|---|")
    for way in options.ways.split(","):
        own = {"looks": 2} if way == "looks" else {"way": way}
        pruner = None if way == "full" else hf.Pruner(model.model, model.processor, budget=tokens, **own)
        seen = [options.folder / f"seen-{way}"] if way in OTHERS else []
        ours, most = in_llama(options.ask, options.folder, AROUND + (full if way == "full" else tokens), "smaller" if way == "full" else way, asked_of,
                              seen)
        theirs = in_pytorch(model, pruner, asked_of, way == "looks", *(seen or [None]))
        shares = [100 * sum(right) / len(right) for right in (theirs, ours)]
        same = 100 * sum(a == b for a, b in zip(theirs, ours)) / len(ours)
        print("| %s | %.1f | %.1f | %.1f | %d |" % (way, *shares, same, most), flush=True)
        failed |= same < 100 - POINTS or abs(shares[0] - shares[1]) > POINTS or most > AROUND + (full if way == "full" else tokens)
    if failed:
        print(f"check_answers: a way's answers are more than {POINTS:g} points apart, or others, or took too many tokens")
    return failed


if __name__ == "__main__":
    sys.exit(main())
