# SPDX-License-Identifier: Apache-2.0
"""texturevlm.train: learns channels from what people marked in images, as a `texturevlm.Network`, with PyTorch.

    python -m texturevlm.train photos/*.jpg --masks masks --output thing -o thing.safetensors --folds 4 --sheet learned.png
    tvlm channels photo.jpg --network thing.safetensors --sheet channels.png

A mask is a picture or an .npy file in the folder --masks, with the name of its photo. It may have any size. It is 0 where nothing
is marked, and has its largest value where something is. In an .npy file, NaN says that this is unknown.

With --folds N the network is first learned N times, each time without some of the photos. Its outputs for these photos are then
compared with their masks. The measure is the area under the ROC curve (AUC): the share of pairs of a marked and an unmarked place
that the network puts in the right order. The network that is written is learned from all photos.

In a program:

    from texturevlm import train

    examples = [train.Example(image, mask) for image, mask in ...]
    network = train.learn(examples, outputs=["thing"], inputs="r,g,b,saliency", level=2)
    for network, held_out in train.folds(examples, 4, outputs=["thing"]): ...

Wrong arguments are refused before anything is learned. `train.projection` is `texturevlm.Projection.train`, which learns a map
from a few numbers of each cell to an encoder's tokens. `projection`, `apply`, `auc` and `sheet` do not need PyTorch.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _functions
from ._arguments import channel_names, channels as channel_numbers, flag, integer, real, values
from ._binding import lib
from ._core import ArgumentError, Error, FileError
from ._network import Network, _list
from ._projection import Projection
from ._stack import Stack

if TYPE_CHECKING:  # importing PyTorch takes seconds, and some functions below do not need it
    import torch
    from torch import nn

Array = Any


class Example(NamedTuple):
    """An image, and a mask that says what is marked in it.

    The image may have any form that texturevlm.select takes. The mask is [height, width] or [outputs, height, width]: numbers of
    0 .. 1, or NaN where it is unknown. From unknown places nothing is learned.
    """

    image: Any
    mask: Array


def generator(inputs: int, outputs: int, *, hidden: int = 64, deep: bool = False) -> nn.Sequential:
    """Makes a network with random weights: Conv2d(inputs, hidden, 3) - ReLU - Conv2d(hidden, outputs, 1) - Sigmoid.

    With `deep` there are two more convolutions of 3 x 3, and two convolutions have a stride of 2. An output then sees 19 texels
    along each axis, and the grid of outputs has a quarter of the sides.

    Errors: `ArgumentError` for numbers of channels that a `Network` cannot have.
    """
    from torch import nn
    integer("the number of inputs", inputs, 1, lib.TVLM_NETWORK_INPUTS_MAX)
    integer("the number of outputs", outputs, 1, lib.TVLM_NETWORK_OUTPUTS_MAX)
    integer("hidden", hidden, 1, lib.TVLM_NETWORK_HIDDEN_MAX)
    if not deep:
        return nn.Sequential(nn.Conv2d(inputs, hidden, 3, padding=1), nn.ReLU(), nn.Conv2d(hidden, outputs, 1), nn.Sigmoid())
    half = max(hidden // 2, 1)
    return nn.Sequential(nn.Conv2d(inputs, half, 3, 2, 1), nn.ReLU(), nn.Conv2d(half, hidden, 3, 2, 1), nn.ReLU(),
                         nn.Conv2d(hidden, hidden, 3, padding=1), nn.ReLU(), nn.Conv2d(hidden, outputs, 1), nn.Sigmoid())


class _Sample(NamedTuple):
    planes: torch.Tensor  # [1, inputs, h, w]
    target: torch.Tensor  # [1, outputs, H, W], of the size of the network's outputs for these planes
    known: torch.Tensor  # of the same shape: the share of each texel where the mask is known


def _mirrored(image: Any) -> Any:
    """The pixels of the image, mirrored from right to left.

    Channels are made from the mirrored pixels, and not mirrored themselves, since some have a direction.
    """
    planes = _functions.channels(image, "r,g,b", format="f32")
    return np.ascontiguousarray(planes.transpose(1, 2, 0)[:, ::-1])


def _sample(image: Any, mask: Array, network: Network, model: nn.Sequential) -> _Sample:
    import torch
    from torch import nn
    with Stack(image, layout=",".join(network.inputs), format="f32") as stack:
        empty = [name for name in network.inputs if not stack.has(name)]
        if empty:
            raise ArgumentError(f"the channel {empty[0]} has no input in a still image: there is nothing in it to learn from")
        planes = torch.from_numpy(stack.channels(network.inputs, level=network.level))[None]
    with torch.no_grad():
        size = model(planes).shape[-2:]
    marked = torch.from_numpy(np.array(mask, np.float32)).reshape((1, -1) + np.shape(mask)[-2:])
    known = nn.functional.adaptive_avg_pool2d((~marked.isnan()).float(), tuple(size))
    total = nn.functional.adaptive_avg_pool2d(marked.nan_to_num(0.0), tuple(size))
    return _Sample(planes, total / known.clamp_min(1e-6), known)


def _masks(examples: Sequence[Example], outputs: int | None = None) -> list[Array]:
    """The masks as arrays. Refuses masks in which nothing is marked, or everything, over all of them."""
    if not examples:
        raise ArgumentError("there are no examples")
    masks = [values("a mask", example.mask, (2, 3)) for example in examples]
    for mask in masks:
        if outputs is not None and (1 if mask.ndim == 2 else len(mask)) != outputs:
            raise ArgumentError(f"a mask has the shape {mask.shape}; there are {outputs} outputs")
        wrong = mask[(mask < 0) | (mask > 1)]
        if not mask.size or wrong.size:
            raise ArgumentError(f"a mask has the value {wrong[0]:g}; it must be 0 .. 1, or NaN" if wrong.size else
                                f"a mask has the shape {mask.shape}: there is nothing in it")
    for nothing, line in ((0, "nothing is marked"), (1, "everything is marked")):
        if not any((mask[~np.isnan(mask)] != nothing).any() for mask in masks):
            raise ArgumentError(line)
    return masks


def _prepared(examples: Sequence[Example], *, outputs: Sequence[str], inputs: Any = "r,g,b", level: int = 2, deep: bool = False,
              hidden: int = 64, steps: int = 600, rate: float = 2e-3, decay: float = 1e-3,
              seed: int = 0) -> tuple[nn.Sequential, Network, list[_Sample]]:
    """What `learn` begins with: a model with random weights, the same as a `Network`, and samples. Refuses wrong arguments."""
    import torch
    integer("steps", steps, 1)
    real("rate", rate, 0.0, above=True)
    real("decay", decay, 0.0)
    torch.manual_seed(integer("seed", seed, 0, 2**63 - 1))
    names, numbers = _list("outputs", outputs), channel_numbers(inputs)
    model = generator(len(numbers), len(names), hidden=hidden, deep=flag("deep", deep))
    network = Network(model, outputs=names, inputs=channel_names(numbers), level=level)
    samples = []
    for example, mask in zip(examples, _masks(examples, len(names))):
        samples.append(_sample(example.image, mask, network, model))
        samples.append(_sample(_mirrored(example.image), mask[..., ::-1].copy(), network, model))
    return model, network, samples


def learn(examples: Sequence[Example], *, outputs: Sequence[str], inputs: Any = "r,g,b", level: int = 2, deep: bool = False,
          hidden: int = 64, steps: int = 600, rate: float = 2e-3, decay: float = 1e-3, seed: int = 0) -> Network:
    """Learns a network from images in which something is marked. The same examples and seed give the same network.

    The loss is the binary cross-entropy of the network's outputs with the masks. Marked places together count as much as unmarked
    places together, and unknown places do not count. The optimiser is AdamW. Each step takes one image, or its mirror image.

    Parameters:
        examples: the images and their masks.
        outputs: the names of the channels that the network makes.
        inputs, level: as for `Network`. Each input must be a channel that has an input in a still image.
        deep, hidden: as for `generator`.
        steps, rate, decay: the number of steps, the learning rate and the weight decay of AdamW. The rate falls to 0 along half a
            cosine.
        seed: the seed of all random numbers.

    Errors, before anything is learned: `ArgumentError` for

    - no examples;
    - masks in which nothing or everything is marked, which have another number of outputs, or values beyond 0 .. 1;
    - an input that has no values in a still image;
    - layers that no `Network` can have.
    """
    model, network, samples = _prepared(examples, outputs=outputs, inputs=inputs, level=level, deep=deep, hidden=hidden,
                                        steps=steps, rate=rate, decay=decay, seed=seed)
    _optimise(model, samples, steps, rate, decay)
    return Network(model, outputs=network.outputs, inputs=network.inputs, level=level)


def _optimise(model: nn.Sequential, samples: Sequence[_Sample], steps: int, rate: float, decay: float) -> None:
    import torch
    from torch import nn
    marked = sum(float((sample.known * sample.target).sum()) for sample in samples)
    unmarked = sum(float((sample.known * (1 - sample.target)).sum()) for sample in samples)
    balance = torch.tensor(unmarked / max(marked, 1e-30))
    optimiser = torch.optim.AdamW(model.parameters(), rate, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        sample = samples[int(torch.randint(len(samples), ()))]
        optimiser.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(
            model[:-1](sample.planes), sample.target, sample.known, pos_weight=balance)  # no sigmoid: this loss applies it
        loss.backward()
        optimiser.step()
        schedule.step()


def folds(examples: Sequence[Example], count: int, **options: Any) -> Iterator[tuple[Network, list[int]]]:
    """Learns `count` networks, each without every count-th example.

    Yields pairs of a network and the numbers of the examples that were held out from it. The options are those of `learn`. With
    as many folds as examples, this is leave-one-out.
    """
    if not 2 <= integer("count", count, -2**31) <= len(examples):
        raise ArgumentError(f"{count} folds of {len(examples)} examples; 2 to {len(examples)} are possible")
    parts = [[example for i, example in enumerate(examples) if i % count != fold] for fold in range(count)]
    for part in parts:
        _masks(part)  # so that a wrong part is refused before the first network is learned
    for fold, part in enumerate(parts):
        yield learn(part, **options), list(range(fold, len(examples), count))


projection = Projection.train


def apply(network: Network, image: Any, size: tuple[int, int]) -> Array:
    """Applies a network to an image. Gives its outputs sampled at `size` (width, height): float32 [outputs, height, width]."""
    with Stack(image, layout=",".join(network.outputs), network=network, format="f32") as stack:
        return stack.channels(network.outputs, size=size)


def auc(values: Array, marked: Array) -> float:
    """The share of pairs of a marked and an unmarked place in which the marked place has the larger value. Ties count half."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse.ravel()]
    chosen = np.asarray(marked, bool).ravel()
    n = int(chosen.sum())
    return float((ranks[chosen].sum() - n * (n + 1) / 2) / (n * (chosen.size - n)))


# ---- What was learned, as a picture ----

def sheet(network: Network, path: str | os.PathLike[str], *, image: Any = None, scale: int = 12) -> None:
    """Writes the kernels of the first layer as a picture.

    Each kernel has a column, and each input a row. Colours go from blue (the smallest value) over white (0) to red. Each kernel
    has a scale of its own, the same for all its inputs.

    With an image, in any form that texturevlm.select takes, there are more panels below the kernels, row by row: the image, the
    network's outputs from 0 (black) to 1, and the result of each kernel for the image, in the order of the kernels. Each of these
    results is divided by its largest value.

    Errors: `ArgumentError` for an image that lacks an input of the network, `Error` if the file cannot be written.
    """
    from ._image import write_png
    picture = _kernels(network, scale)
    if image is not None:
        maps = _maps(network, image, picture.shape[1])
        width = max(picture.shape[1], maps.shape[1])
        picture = np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]), (0, 0)), constant_values=40)
                                  for part in (picture, maps)])
    write_png(os.fspath(path), np.ascontiguousarray(picture))


def _kernels(network: Network, scale: int) -> Array:
    weight = network.weight(0)
    hidden, inputs, side = weight.shape[:3]
    panel = side * scale + 2
    picture = np.full((inputs * panel + 2, hidden * panel + 2, 3), 40, np.uint8)
    for o in range(hidden):
        most = max(float(np.abs(weight[o]).max()), 1e-12)
        for i in range(inputs):
            value = np.kron(weight[o, i] / most, np.ones((scale, scale)))
            colour = np.stack([1 + np.minimum(value, 0), 1 - np.abs(value), 1 - np.maximum(value, 0)], -1)
            y, x = i * panel + 2, o * panel + 2
            picture[y:y + side * scale, x:x + side * scale] = np.round(255 * colour)
    return picture


def _maps(network: Network, image: Any, width: int) -> Array:
    """The image, the outputs, and the values of the first layer as panels, at least four side by side in the width."""
    layer = network._layer(0)
    hidden = len(layer["weight"])
    across = min(max(width // 200, 4), hidden)
    with Stack(image, layout="r,g,b", format="f32") as stack:
        w, h = stack.size
    side = max(width // across - 2, 32), max(round((width // across - 2) * h / w), 1)
    names = [f"kernel_{i}" for i in range(hidden)]
    planes = []
    for first in range(0, hidden, 32):  # a network has at most 32 outputs
        some = slice(first, first + 32)
        part = {name: value[some] if name in ("weight", "bias") else value for name, value in layer.items()}
        planes.extend(apply(Network([part], outputs=names[some], inputs=network.inputs, level=network.level), image, side))
    shown = [_functions.channels(image, "r,g,b", size=side, format="f32").transpose(1, 2, 0)]
    shown += [np.repeat(np.clip(plane, 0, 1)[..., None], 3, 2) for plane in apply(network, image, side)]
    shown += [np.repeat((np.maximum(plane, 0) / max(float(plane.max()), 1e-12))[..., None], 3, 2) for plane in planes]
    rows = -(-len(shown) // across)
    picture = np.full((rows * (side[1] + 2), across * (side[0] + 2), 3), 40, np.uint8)
    for i, plane in enumerate(shown):
        y, x = i // across * (side[1] + 2), i % across * (side[0] + 2) + 2
        picture[y:y + side[1], x:x + side[0]] = np.round(255 * plane)
    return picture


# ---- The program ----

def _mask_path(photo: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    for suffix in (".npy", ".png", ".jpg", ".pgm", ".bmp"):
        if (folder / (photo.stem + suffix)).exists():
            return folder / (photo.stem + suffix)
    raise ArgumentError(f"{folder}: there is no mask for {photo.name}")


def _mask_of(path: pathlib.Path) -> Array:
    if path.suffix == ".npy":
        try:
            array = np.load(path, mmap_mode="r")  # mapped, so that a header with a wrong, huge size takes no memory
            mask = values(f"{path}:", array if isinstance(array, np.ndarray) else None, (2,))
        except Error:
            raise
        except Exception:  # NumPy raises many kinds of exceptions for a file that is no .npy
            raise ArgumentError(f"{path}: is no .npy of numbers") from None
    else:
        mask = _functions.channels(path, "r", format="f32")[0]
    known = mask[~np.isnan(mask)]
    if not mask.size or (known < 0).any() or np.isinf(known).any():
        raise ArgumentError(f"{path}: is no mask, whose numbers are 0 and more, or NaN")
    return mask / max(float(known.max(initial=0)), 1e-12)


def _check_output(path: pathlib.Path | None, inputs: Sequence[pathlib.Path]) -> None:
    """Refuses an output file that could not be written after the learning, or that would overwrite an input."""
    if path is None:
        return
    if path.is_dir():
        raise FileError(f"{path}: is a folder")
    if path.exists() and any(other.exists() and path.samefile(other) for other in inputs):
        raise ArgumentError(f"{path}: is an input")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m texturevlm.train", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("photos", nargs="+", type=pathlib.Path)
    parser.add_argument("--masks", type=pathlib.Path, required=True, help="the folder of the masks")
    parser.add_argument("-o", dest="file", type=pathlib.Path, required=True, help="FILE.safetensors")
    parser.add_argument("--output", default="learned", help="the name of the channel")
    parser.add_argument("--inputs", default="r,g,b", help="the channels that are read")
    parser.add_argument("--level", type=int, default=2, help="the level at which they are read")
    parser.add_argument("--deep", action="store_true", help="four convolutions with two strides in place of two without")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=0, help="how many parts of the photos are held out in turn; 0: none is")
    parser.add_argument("--sheet", type=pathlib.Path, help="a picture of the first layer's kernels, and of what "
                        "they and the network make of the first photo")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    how = {"outputs": [options.output], "inputs": options.inputs, "level": options.level, "deep": options.deep,
           "hidden": options.hidden, "steps": options.steps, "seed": options.seed}
    try:
        masks = [_mask_path(photo, options.masks) for photo in options.photos]
        for path in (options.file, options.sheet):
            _check_output(path, [*options.photos, *masks])
        if options.sheet and options.sheet.resolve() == options.file.resolve():
            raise ArgumentError(f"{options.sheet}: is the network's file, too")
        examples = [Example(photo, _mask_of(mask)) for photo, mask in zip(options.photos, masks)]
        if options.folds:
            _prepared(examples, **how)  # checks all photos: the first fold would not read those that it holds out
        found = []
        for network, held_out in folds(examples, options.folds, **how) if options.folds else ():
            for i in held_out:
                known = ~np.isnan(examples[i].mask)
                mask = examples[i].mask[known] > 0.5
                if mask.any() and not mask.all():
                    found.append(auc(apply(network, examples[i].image, known.shape[::-1])[0][known], mask))
                    print(f"{options.photos[i].name}: AUC {found[-1]:.3f}, held out", flush=True)
        if found:
            print(f"mean AUC {np.mean(found):.3f} of {len(found)} photos, each held out")
        network = learn(examples, **how)
        network.save(options.file)
        if options.sheet:
            sheet(network, options.sheet, image=options.photos[0])
    except (Error, ImportError) as error:  # ImportError: PyTorch may not be installed
        print(f"texturevlm.train: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
