#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the small model that answers.py asks: a Qwen2-VL of 1.4 million weights, on drawn scenes over photos.

    bench/answers_train.py FOLDER [--seed 0] [--minutes 90] [--processes 2]
    bench/answers_train.py FOLDER --device cuda [--seed 0] [--minutes 10] [--drawers 6] [--steps N]

What has been trained is in FOLDER/seed-N.pt, from which the same command goes on after it was stopped. At the end the model and its
processor are in FOLDER/seed-N, as half floats. `--minutes` are those of each process's processor, of all that a seed is trained
for, those before a stop included. Each process has one thread and scenes of its own; every SHARE steps they take the mean of their
weights. On a GPU one process trains, with as many scenes a step as two have, minutes are the clock's, and drawers are the processes
that draw scenes. `--steps` says the length by steps, of which two cores do 10,300 in 74 minutes.

First the encoder learns alone what each token shows: colour, shape, sign, word (until TOWER of the time). That stays part of the loss
when questions are learnt: first mostly about small scenes in full (until EASY), where what is asked for is soon found. No way of
spending tokens is foreign to the model: it sees pictures in full, smaller, with tokens left out before the encoder (at random, or those
with little in them), and a small picture with crops. Runs in the environment of ci/hf-environment; exit 77 without its packages.
"""
import argparse
import math
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import need, np  # noqa: E402

need("torch", "transformers", "PIL")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import answers_model as am  # noqa: E402
import answers_scenes as scenes  # noqa: E402

TOWER, EASY = 0.25, 0.55
OF_STEPS = (.45, .72)  # that two cores have taken by then, for which a step of the encoder alone is short
IGNORED = -100  # where a part of a sign is seen
SHARE = 8
ROWS = 8
NAMES = {"colour": len(scenes.COLOURS), "shape": len(scenes.SHAPES), "sign": len(scenes.SIGNS), "word": len(scenes.WORDS), "centre": 1,
         "largest": 1}  # of each the last class is: none


# ---- What each token shows ----

def labels_of(scene, view):
    """For each kept token the numbers of what it shows, in the order of NAMES; a thing that is not there has the number behind the last."""
    x, y = view.centres[:, :1], view.centres[:, 1:]
    half = view.span / 2
    found = {name: np.full(len(view), count, np.int64) for name, count in NAMES.items()}
    at = np.array([(shape.x, shape.y, shape.radius) for shape in scene.shapes]).T[:, None]
    away = np.hypot(x - at[0], y - at[1]) - at[2]
    nearest = away.argmin(1)
    owned = away.min(1) < .3 * view.span
    inside = (abs(x - at[0]) < half) & (abs(y - at[1]) < half)
    for token in range(len(view)):
        shape = None
        if owned[token]:
            shape = scene.shapes[nearest[token]]
            away_by = max(abs(view.centres[token] - (shape.x, shape.y)))
            found["sign"][token] = shape.sign if away_by <= half else IGNORED if away_by < half + 8 else found["sign"][token]
        for other in scene.shapes if not owned[token] else ():
            box = other.word_box
            if box and box[0] - half < view.centres[token, 0] < box[2] + half and box[1] - half + 6 < view.centres[token, 1] < box[3] + half - 6:
                shape, found["word"][token] = other, other.word
        if shape is not None:
            found["colour"][token], found["shape"][token] = shape.colour, shape.shape
            found["largest"][token] = 0 if shape.largest else 1
        found["centre"][token] = 0 if inside[token].any() else 1
    return np.stack(list(found.values()), 1)


def there_of(said, wanted):
    """Where there is a thing to be named."""
    return (wanted >= 0) & (wanted < said.shape[1] - 1)


class Heads(torch.nn.Module):
    """What is said of each token, from its features alone."""

    def __init__(self, hidden=128):
        super().__init__()
        self.parts = [count + 1 for count in NAMES.values()]
        self.layer = torch.nn.Linear(hidden, sum(self.parts))

    def loss(self, features, labels):
        said = self.layer(features).split(self.parts, 1)
        losses = []
        for one, wanted in zip(said, labels.T):
            for part, weight in ((there_of(one, wanted), 1.0), (wanted == one.shape[1] - 1, 0.3)):
                if part.any():
                    losses.append(weight * torch.nn.functional.cross_entropy(one[part], wanted[part]))
        return sum(losses) / len(self.parts)

    def right(self, features, labels):
        """The share of things that are named rightly, by name."""
        shares = {}
        for name, one, wanted in zip(NAMES, self.layer(features).split(self.parts, 1), labels.T):
            there = there_of(one, wanted)
            shares[name] = float((one.argmax(1) == wanted)[there].float().mean()) if there.any() else math.nan
        return shares


# ---- How a scene is shown ----

class Shower:
    """Shows a scene in one of the ways that tokens are spent."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def views(self, scene):
        side = scene.picture.shape[0] // am.TOKEN
        whole = (0, 0, scene.picture.shape[1], scene.picture.shape[0])
        way = self.random.choices(("full", "smaller", "pruned", "pictures"), (2, 2, 3, 3))[0]
        if way == "full":
            return [am.View(scene.picture, whole)]
        tokens = round(math.exp(self.random.uniform(math.log(.05), math.log(.6))) * side * side)
        small = max(2, math.isqrt(tokens))
        if way == "smaller":
            return [am.View(am.resized(scene.picture, small, small), whole)]
        if way == "pruned":
            at = self.random.randint(small + 1, side) if self.random.random() < .5 and small < side else side
            picture = am.resized(scene.picture, at, at) if at != side else scene.picture
            return [am.View(picture, whole, self._kept(picture, min(tokens, at * at)))]
        thumbnail = max(2, math.isqrt(round(tokens * self.random.uniform(.4, .8))))
        rest = max(tokens - thumbnail * thumbnail, 4)
        views = [am.View(am.resized(scene.picture, thumbnail, thumbnail), whole)]
        for _ in range(self.random.randint(1, 4)):
            columns = self.random.randint(2, 6)
            rows = max(1, min(6, round(self.random.uniform(.6, 1.4) * columns), rest // columns))
            if columns * rows > rest:
                break
            rest -= columns * rows
            views.append(self._crop(scene, columns, rows))
        return views

    def _kept(self, picture, count):
        """Which tokens are kept: at random, or those with most in them, or both."""
        rows, columns = picture.shape[0] // am.TOKEN, picture.shape[1] // am.TOKEN
        chance = self.numbers.gumbel(size=rows * columns)
        tokens = picture.reshape(rows, am.TOKEN, columns, am.TOKEN, 3).transpose(0, 2, 1, 3, 4).reshape(rows * columns, -1)
        weight = self.random.choice((0, 1, 4))
        order = np.argsort(chance + weight * np.log(tokens.std(1) + 1))
        keep = np.zeros(rows * columns, bool)
        keep[order[-count:]] = True
        return keep

    def _crop(self, scene, columns, rows):
        """A crop, mostly about something that may be asked for, at the scene's own size or up to half of it."""
        scale = self.random.choice((1, 1, 1, 1.4, 2))
        wide, high = columns * am.TOKEN * scale, rows * am.TOKEN * scale
        high_most, wide_most = scene.picture.shape[:2]
        wide, high = min(wide, wide_most), min(high, high_most)
        if self.random.random() < .7:
            shapes = [shape for _, _, shape in scene.questions if shape] or scene.shapes
            shape = self.random.choice(shapes)
            x, y = shape.x + self.random.uniform(-.35, .35) * wide, shape.y + self.random.uniform(-.35, .35) * high
        else:
            x, y = self.random.uniform(0, wide_most), self.random.uniform(0, high_most)
        left, top = min(max(x - wide / 2, 0), wide_most - wide), min(max(y - high / 2, 0), high_most - high)
        box = (left, top, left + wide, top + high)
        return am.View(am.resized(scene.picture, columns, rows, box), box)


# ---- Training ----

def optimizers(model, heads):
    """Muon (arXiv 2502.16982) for the layers' matrices, AdamW for the rest."""
    matrices, rest = [], list(heads.parameters())
    for name, value in model.named_parameters():
        inner = value.ndim == 2 and "embed" not in name and "lm_head" not in name
        (matrices if inner else rest).append(value)
    return [torch.optim.Muon(matrices, lr=8e-3, weight_decay=.01, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(rest, lr=3e-3, betas=(.9, .98), weight_decay=0)]


class Drawing(torch.utils.data.IterableDataset):
    """Steps to come, without end: scenes, and how each is shown. part: a number in shared memory, how far the training is."""

    def __init__(self, seed, number, rows, part):
        self.processor = am.processor_of()
        self.seed, self.number, self.rows, self.part = seed, number, rows, part

    def __iter__(self):
        """Of what each process draws nothing was drawn before a stop, or is by another."""
        worker = torch.utils.data.get_worker_info()
        number = 1_000_000 * (self.seed + 1) + 1000 * (worker.id if worker else 0) + self.number
        self.source, self.shower = scenes.Source(scenes.TRAIN, number), Shower(number)
        while True:
            yield self.step(float(self.part))

    def step(self, part):
        """Views, the labels of their tokens, and rows of questions; None for these where the encoder learns alone."""
        made, several = self._shown(part)
        labels = torch.from_numpy(np.concatenate([labels_of(scene, view) for scene, views in zip(made, several) for view in views]))
        rows = None
        if part >= TOWER:
            rows = am.Rows(self.processor, [am.Row(self.processor, views, [asked[:2] for asked in scene.questions])
                                            for scene, views in zip(made, several)])
        return am.Views([view for views in several for view in views]), labels, rows

    def _shown(self, part):
        """At first most are small and shown in full; for the encoder alone, full of things to be named."""
        if part < EASY and self.shower.random.random() < .7:
            made = [self.source.scene("dense" if part < TOWER else None, side=9 * am.TOKEN) for _ in range(self.rows)]
            return made, [[am.View(scene.picture, (0, 0, *scene.picture.shape[1::-1]))] for scene in made]
        made = [self.source.scene(side=am.TOKEN * self.shower.random.choice((9, 9, 12, 12, 15, 18))) for _ in range(self.rows)]
        return made, [self.shower.views(scene) for scene in made]


class Training:
    """drawers: processes that draw scenes; 0: this one does."""

    def __init__(self, seed, rank, device="cpu", rows=ROWS, drawers=0):
        self.processor = am.processor_of()
        self.model = am.model_of(self.processor, seed).to(device)
        torch.manual_seed(seed)
        self.heads = Heads().to(device)
        self.optimizers = optimizers(self.model, self.heads)
        self.rates = [group["lr"] for one in self.optimizers for group in one.param_groups]
        self.step, self.seconds = 0, 0.0
        self.seed, self.rank, self.device, self.rows, self.drawers = seed, rank, device, rows, drawers
        self.part, self.steps = torch.zeros(()).share_memory_(), None

    def begin(self):
        """Draws the steps to come."""
        drawing = Drawing(self.seed, 1000 * self.rank + self.step, self.rows, self.part)
        self.steps = iter(torch.utils.data.DataLoader(drawing, batch_size=None, num_workers=self.drawers,
                                                      prefetch_factor=4 if self.drawers else None))

    def set_rate(self, part):
        """The rates at a part, 0 .. 1, of the time: they rise for a fiftieth, and fall over the last 60 %."""
        share = min(1, part * 50 + .02) * min(1, max(.02, (1 - part) / .6))
        for group, rate in zip((group for one in self.optimizers for group in one.param_groups), self.rates):
            group["lr"] = rate * share

    def one(self, part):
        """A step; gives the losses of the tokens and of the answers, and the share of the answers' bytes that are right."""
        self.part.fill_(part)
        if self.steps is None:
            self.begin()
        views, labels, rows = next(self.steps)
        features = am.encode(self.model, views)
        loss = of_tokens = self.heads.loss(features, labels.to(self.device, non_blocking=True))
        of_answers = right = torch.tensor(math.nan)
        if rows is not None:
            hidden, wanted = am.hidden_of(self.model, self.processor, rows, features)
            there = wanted != -100
            said = self.model.lm_head(hidden[there])
            of_answers = torch.nn.functional.cross_entropy(said, wanted[there])
            right = (said.argmax(1) == wanted[there]).float().mean()
            loss = of_answers + of_tokens
        for one in self.optimizers:
            one.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*self.model.parameters(), *self.heads.parameters()], 1.0)
        self.set_rate(part)
        for one in self.optimizers:
            one.step()
        self.step += 1
        return torch.stack([of_tokens.detach().cpu(), of_answers.detach().cpu(), right.cpu()]).tolist()

    def average(self):
        values = [*self.model.parameters(), *self.heads.parameters()]
        flat = torch.cat([value.detach().reshape(-1) for value in values])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        with torch.no_grad():
            for value, mean in zip(values, flat.split([value.numel() for value in values])):
                value.copy_(mean.view_as(value))

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "heads": self.heads.state_dict(), "step": self.step, "seconds": self.seconds,
                    "optimizers": [one.state_dict() for one in self.optimizers]}, path + ".part")
        os.replace(path + ".part", path)

    def load(self, path):
        kept = torch.load(path, weights_only=True, map_location=self.device)
        self.model.load_state_dict(kept["model"])
        self.heads.load_state_dict(kept["heads"])
        for one, state in zip(self.optimizers, kept["optimizers"]):
            one.load_state_dict(state)
        self.step, self.seconds = kept["step"], kept["seconds"]


def train(rank, options):
    torch.set_num_threads(1)
    gpu = options.device != "cpu"
    if options.processes > 1:
        dist.init_process_group("gloo", f"file://{options.folder}/meet-{options.seed}-{options.run}", rank=rank, world_size=options.processes)
    path = os.path.join(options.folder, f"seed-{options.seed}.pt")
    training = Training(options.seed, rank, options.device, 2 * ROWS if gpu else ROWS, options.drawers if gpu else 0)
    if os.path.exists(path):
        training.load(path)
    clock = time.monotonic if gpu else time.process_time
    saved, began = time.time(), clock()
    before, said = training.seconds, []
    part = torch.tensor([0.0])

    def far():
        if options.steps:
            return float(np.interp(training.step / options.steps, (0, *OF_STEPS, 1), (0, TOWER, EASY, 1)))
        return training.seconds / (60 * options.minutes)

    while True:
        training.seconds = before + clock() - began
        part[0] = far()
        if training.step % SHARE == 0 and options.processes > 1:
            dist.broadcast(part, 0)
            training.average()
        if training.step % SHARE == 0 and part >= 1:
            break
        said.append(training.one(min(float(part), 1)))
        if training.step % 100 == 0 and rank == 0:
            of_tokens, of_answers, right = np.mean(said[-100:], 0)
            print(f"{training.seconds / 60:6.1f} min  step {training.step:6d}  tokens {of_tokens:.3f}  answers {of_answers:.3f}  right {right:.3f}",
                  flush=True)
        if rank == 0 and training.step % SHARE == 0 and time.time() - saved > 60:
            training.save(path)
            saved = time.time()
    if rank == 0:
        training.save(path)
        folder = os.path.join(options.folder, f"seed-{options.seed}")
        training.model.cpu().half().save_pretrained(folder)
        training.processor.save_pretrained(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--drawers", type=int, default=6)
    options = parser.parse_args()
    options.run = os.getpid()
    options.folder = os.path.abspath(options.folder)
    os.makedirs(options.folder, exist_ok=True)
    if options.device != "cpu":
        options.processes = 1
    if options.processes == 1:
        train(0, options)
    else:
        torch.multiprocessing.spawn(train, (options,), options.processes)


if __name__ == "__main__":
    main()
