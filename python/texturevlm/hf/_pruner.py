# SPDX-License-Identifier: Apache-2.0
"""The whole way from a batch, or from a question about an image, to an answer."""
from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import torch

from .._arguments import integer, short
from .._core import ArgumentError, ArgumentTypeError
from .._device import Device
from .._each import on_error
from . import _encoder, _features, _films, _looks, _messages, _prompt, _qwen, _showing, _tiles, _ways
from ._batch import PrunedBatch
from ._encoder import PrunedImages
from ._families import Family, family_of
from ._processors import check_processor
from ._tokens import Bound, check_query, checked, older
from ._wrapped import check_model, sums_gradients, unwrapped


def prune_batch(model: Any, batch: Mapping[str, Any], keep: list[torch.Tensor] | None = None,
                keep_videos: list[torch.Tensor] | None = None) -> PrunedBatch | PrunedImages:
    """Makes a batch without the tokens that are not kept: a `PrunedBatch`, or for an image encoder `PrunedImages`.

    Parameters:
        model: a loaded model of a family in `FAMILIES`. It may be wrapped in torch.compile (a pruned call is not compiled),
            PEFT's adapters, DataParallel or DistributedDataParallel. Nothing is set on the model, so any number of threads may
            use it meanwhile.
        batch: what the model's processor makes: input_ids, attention_mask, pixel_values, image_grid_thw, pixel_values_videos, ...
        keep: for each picture the numbers of the tokens that are kept, or a bool for each token. None: all are kept. For SmolVLM
            and InternVL, the pictures are the parts into which they cut an image.
        keep_videos: the same for videos, for Qwen-VL only. Of Qwen3, a slot of which nothing is kept goes without its text, but for
            the first slot of a video.

    Errors:

    - `ArgumentError`: another family, a number of places in the prompt that is not the number of tokens, or a token that a
      picture does not have.
    - `DeviceError`: a version of transformers that is not supported.
    """
    return _batch_without(model, batch, keep, keep_videos, 1)


def _batch_without(model: Any, batch: Mapping[str, Any], keep: list[torch.Tensor] | None, keep_videos: list[torch.Tensor] | None,
                   least: int) -> PrunedBatch | PrunedImages:
    """What `prune_batch` makes. least: of each picture so many tokens are kept at least; 0 where its model takes none of a picture."""
    inner = unwrapped(model)
    family = family_of(inner)
    check_model(inner, family.kind != "encoder")
    _check_batch(inner, family, batch)
    if keep_videos is not None and family.kind != "qwen":
        raise ArgumentError(f"keep_videos is for Qwen-VL, not for {inner.config.model_type}")
    pruned: PrunedBatch | PrunedImages
    if family.kind == "qwen":
        pruned = _qwen.QwenBatch(inner, batch, keep, keep_videos)
    elif family.kind == "encoder":
        pruned = _encoder.PrunedImages(inner, batch, keep)
    elif family.kind == "features":
        pruned = _features.FeatureBatch(inner, batch, keep, least)
    else:
        pruned = _prompt.PromptBatch(inner, batch, keep, family)
    pruned._sums_gradients = sums_gradients(model)
    return pruned


# Entries of a batch that are refused, as they would be left out in silence: a pruned batch makes those of the first list itself,
# and knows nothing about those of the second.
_MADE = ("position_ids", "inputs_embeds", "past_key_values", "cache_position", "mm_encoder_outputs")
_OTHERS = ("pixel_values_videos", "input_features")
# Families of which an image is two pictures, with an entry of a query each.
_TWICE = ("llava_next", "llava_onevision")


def _check_batch(model: Any, family: Family, batch: Any) -> None:
    wanted = "pixel_values" if family.kind == "encoder" else "input_ids"
    if not isinstance(batch, Mapping) or wanted not in batch:
        raise ArgumentTypeError(f"batch is {short(batch)}, not a mapping with {wanted}")
    if family.kind == "encoder":
        return
    for name in _MADE:
        if batch.get(name) is not None:
            raise ArgumentError(f"the batch has {name}, which a pruned batch makes of input_ids: it cannot be given")
    for name in _OTHERS if family.kind != "qwen" else ():
        if batch.get(name) is not None:
            raise ArgumentError(f"the batch has {name}: of a {model.config.model_type} only images are pruned")


class Pruner(Bound):
    """Prunes a loaded model's images and videos.

    Parameters:
        model: a model of a family in `FAMILIES`, on any device. It may be in one of the wrappers that `prune_batch` knows.
        processor: the model's processor.
        budget, share, tolerance: how many tokens of pictures the model gets; at most one of the three.

            - `budget`: so many for all images of a conversation. They are divided so that each image loses about the same.
            - `share`: this share, above 0 and at most 1, of the tokens that each image would have.
            - `tolerance`: as few for each image as lose at most this share, 0 .. 1, of what a picture of one token would lose.
              None, if nothing else is given, and ``"auto"``: 0.03, which keeps what can be read. Of CLIP and SigLIP alone, which
              need as many patches of each picture of a batch, None is a share of 0.25.
        way: which picture the model is given. ``"auto"`` or None: that of the next three with the least predicted loss, or, with
            a tolerance, the fewest tokens.

            - ``"smaller"``: the image at a smaller size, by the processor's own rule of sizes.
            - ``"pruned"``: the image at this or a larger size, without the tokens that lose least: blank paper, the rest of a line.
            - ``"pictures"``: several pictures, a small one of the whole and crops where that loses most. Each further picture
              takes two more tokens, which are counted.
            - ``"cells"``: the best cells of the full picture by their score, for small details, and for models that were trained
              with so few tokens. A smaller picture loses less.
        looks: 2 lets the question decide, at the same number of tokens. The model first sees a small picture of the whole and the
            question; then, beside that, the tokens of the full picture that its attention rested on. It is for questions about a
            detail, of one image, with a `budget` or a `share`, for Qwen2-VL, Qwen2.5-VL, Qwen3-VL, Qwen3.5, LLaVA-OneVision,
            InternVL, SmolVLM, and LLaVA 1.5 with a `budget` above its 576 tokens. Where the tokens are too few for a first look that shows anything, or enough for the full picture,
            `way` decides as without it, and `report.once` says why.
        k, strategy, weights, scorer: as in `select_tokens`. With one of them, tokens of the full picture are chosen by it, and
            `way` is not asked. `k` goes with version 0.4.
        preset: is read as strategy="budget", with a warning, and goes with version 0.4.
        device: a `texturevlm.Device`, or a device's name, on which tokens are chosen.

    Videos of Qwen-VL (2 to 3.5), given as messages, get a `share` or a `tolerance` each, a quarter if nothing is asked for; without
    images also a `budget`, which those of a conversation share. Smaller frames (``"smaller"``), fewer of them (``"frames"``), and at
    several sizes what has changed since it was last shown (``"pruned"``) are compared by their squared error on the frames that the
    processor has made; the least is taken. `way` may be ``"smaller"``, for the first two, or ``"pruned"``. For Qwen3 the text of a slot,
    which is its time, counts as tokens, too. Videos of a batch keep their size, and take a `share`.

    The size of a picture can be chosen where images are given as messages, and the processor is of Qwen-VL's or Pixtral's (Mistral 3)
    kind. InternVL, SmolVLM and LLaVA-OneVision show a small picture of the whole and parts of a larger one, all of one size: for them
    ``"smaller"`` is fewer parts, ``"pictures"`` some whole parts, and ``"pruned"`` some of their tokens. A batch has its pictures at one
    size already; of them tokens are left out (``"pruned"``). `PrunedBatch.report` says what was decided.

    A pruner cannot be pickled or copied: make one in each process.

    Errors: all parameters are checked here, before the first image. `ArgumentError` is also raised for a processor of another
    family, or one that makes other patches than the model takes; `MissingFileError` if the file of a scorer is not there.
    """

    def __init__(self, model: Any, processor: Any, *, budget: int | None = None, share: float | None = None,
                 tolerance: float | Literal["auto"] | None = None, way: Literal["auto", "smaller", "pruned", "pictures", "cells"] | None = None,
                 looks: Literal[1, 2] = 1, k: int | None = None, strategy: Literal["grid", "budget"] | None = None, weights: Any = None,
                 scorer: Any = None, device: Device | str | None = None, preset: Any = None) -> None:
        inner = unwrapped(model)
        self._family = family_of(inner)
        check_model(inner, self._family.kind != "encoder")
        check_processor(inner, self._family, processor)
        self.model, self.processor = model, processor
        if (self._family.kind == "encoder" and not inner.config.model_type.startswith("siglip2")
                and budget is None and share is None and tolerance is None and k is None):
            share = _ways.QUARTER  # of all pictures of a batch as many patches are kept
        strategy = older("a Pruner", k, preset, strategy)
        if way == "pictures" and _has_sizes(inner, self._family) and self._family.kind != "qwen":
            raise ArgumentError(f"a {inner.config.model_type} has tokens between the rows of a picture: it has no way pictures")
        if way in ("smaller", "pictures") and not _has_sizes(inner, self._family) and not self._cutting():
            raise ArgumentError(f"a {inner.config.model_type} has pictures of one size, or of sizes that are not known: it has no way {way}")
        self._options = checked(budget=budget, share=share, tolerance=tolerance, way=way, k=k, strategy=strategy, weights=weights,
                                scorer=scorer, device=device)
        self._looks = integer("looks", looks, 1, 2)
        self._around: int | None = None  # tokens of the prompt beside those of a further picture, once they are counted
        _looks.check_looks(inner, processor, self._looks, self._options)

    def prune(self, messages_or_batch: Any, *, question: str | None = None, query: Any = None, features: Any = None,
              errors: Literal["raise", "skip"] = "raise") -> PrunedBatch | PrunedImages:
        """Makes the shorter batch: a `PrunedBatch`, or for an image encoder `PrunedImages`.

        `messages_or_batch` is a batch of the processor, or anything that `batch_of` takes. Of messages and images the size of the
        pictures can be chosen, too. `query` and `features` are lists with an entry for each image (`select_tokens`).

        errors: what becomes of an image that cannot be loaded: there is no such file, it is no picture, its URL fails. ``"raise"``
        raises its error. ``"skip"`` writes the error to the logger ``texturevlm``, and leaves out the image with its entries of
        `query` and `features`. `skipped` of what is made has the numbers and errors of these images; other images keep their numbers.

        - A conversation of which neither an image nor a video is left is left out, too: its question would be answered without any.
          `conversations` of what is made says which are left, one for each row. If none is left, the error of the first image is
          raised.
        - A broken video raises its error in any case. A batch has its pictures already: "skip" is refused for it.
        """
        return self._pruned(messages_or_batch, question, query, features, errors, False)

    def _pruned(self, messages_or_batch: Any, question: str | None, query: Any, features: Any, errors: Any, each: bool) -> PrunedBatch | PrunedImages:
        """What `prune` makes. each: every conversation must be left."""
        skip = on_error(errors)
        wanted = "pixel_values" if self._family.kind == "encoder" else "input_ids"
        if isinstance(messages_or_batch, Mapping) and wanted in messages_or_batch:
            if self._looks == 2:
                raise ArgumentError("a batch has its pictures at one size already: give the image and the question for looks=2")
            if question is not None:
                raise ArgumentError("a question is for images; a batch has its text already")
            if skip:
                raise ArgumentError('a batch has its pictures already: errors="skip" is for images and messages')
            return self._prune(messages_or_batch, query, features)
        given = _messages.Loaded(self.processor, messages_or_batch, question, skip)
        if each:
            given.check_rows()
        several = 2 if unwrapped(self.model).config.model_type in _TWICE else 1
        query, features = given.left("query", query, several), given.left("features", features, several)
        pruned = self._made(given, query, features)
        pruned.skipped, pruned.conversations = given.skipped, given.rows
        if pruned.report is not None:
            pruned.report = pruned.report.of_images(given.numbers, given.counts["video"], given.skipped)
        return pruned

    def _made(self, given: _messages.Loaded, query: Any, features: Any) -> PrunedBatch | PrunedImages:
        """What is made of messages that are loaded."""
        if given.counts["video"] and self._family.kind == "qwen":
            self._check_videos(given)
        asked = query is not None or features is not None
        if self._looks == 2:
            return self._look_twice(given, asked)
        return self._look_once(given, None if asked else self._rule(), query, features)

    def _length_of(self, showing: _showing.Sized | _showing.Tiled) -> Callable[[Any, int], int]:
        """A function that says how long a prompt is in which a picture stands so many times."""
        def length_of(picture: Any, count: int) -> int:
            several = _messages.Loaded(self.processor, [picture] * count, "?")
            return int(_messages.made_of(self.processor, several, showing.options)["input_ids"].shape[1])
        return length_of

    def _look_once(self, given: _messages.Loaded, rule: _ways.Rule | None, query: Any = None, features: Any = None) -> PrunedBatch | PrunedImages:
        tiles = self._cutting() if rule is None and query is None and features is None and self._chooses_tiles(given) else None
        if tiles is not None:
            return self._choose_tiles(given, tiles)
        if rule is None or not any(given.images()):
            batch = self._moved(_messages.made_of(self.processor, given, {}))
            if given.counts["video"] and not given.counts["image"] and self._sizes_videos() and query is None and features is None:
                return self._choose_videos(batch)
            return self._prune(batch, query, features)
        return self._choose_pictures(given, rule)

    def _cutting(self) -> _showing.Tiled | None:
        """How the family cuts an image into pictures of one size. None: it does not, or by a rule that is not known."""
        found = _showing.showing_of(unwrapped(self.model), self.processor, self._family, None)
        return found if isinstance(found, _showing.Tiled) and found.cuts else None

    def _check_videos(self, given: _messages.Loaded) -> None:
        """Refuses what cannot be asked of the videos of a conversation, before anything is decided."""
        spending = self._options["spending"]
        if not self._sizes_videos():
            _qwen.check_videos(spending)
        elif given.counts["image"] and spending.budget is not None:
            raise ArgumentError("a budget is for images or for videos; both are here: give a share or a tolerance, which is that of each")

    def _sizes_videos(self) -> bool:
        """Whether the sizes of videos are chosen: not by scores."""
        by_score = any(self._options[name] is not None for name in ("strategy", "weights", "scorer"))
        return (self._family.kind == "qwen" and not by_score and hasattr(self.processor, "tokenizer")
                and _films.chosen_here(self._options["spending"], unwrapped(self.model).config.model_type))

    def _choose_videos(self, batch: Mapping[str, Any], keep: list[torch.Tensor] | None = None) -> PrunedBatch | PrunedImages:
        """Chooses the sizes of the videos of a batch, and the tokens of them. keep: those of its images."""
        config, tokenizer = unwrapped(self.model).config, self.processor.tokenizer
        padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
        made, of_videos, report = _films.spend(batch, config.video_token_id, padding, self._options["spending"], config.vision_config)
        pruned = prune_batch(self.model, made, keep, keep_videos=of_videos)
        pruned.report = report
        return pruned

    def _rule(self) -> _ways.Rule | None:
        """The rule by which the size of a picture can be chosen; None: it cannot be."""
        inner = unwrapped(self.model)
        if not _has_sizes(inner, self._family) or self._options["spending"] is None:
            return None
        if self._family.kind == "qwen":
            vision = inner.config.vision_config
            return _ways.rule_of(self.processor, int(vision.patch_size) * int(vision.spatial_merge_size))
        return _ways.pixtral_rule(self.processor, int(inner.config.vision_config.patch_size) * int(inner.config.spatial_merge_size))

    def _look_twice(self, given: _messages.Loaded, asked: bool) -> PrunedBatch | PrunedImages:
        """Lets a first look with the question decide what the second one sees. asked: whether there is a query, or features."""
        showing = _showing.showing_of(unwrapped(self.model), self.processor, self._family, self._rule())
        if showing is None or asked:
            raise ArgumentError("looks=2 chooses the size of pictures: it is for a processor whose rule of sizes is known, without a query")
        images = getattr(self.processor, "image_processor", self.processor)
        original, spending, began = _image_of(given), self._options["spending"], time.perf_counter()
        image = _ways.picture_of(original, images, f"image {given.numbers[0]}")
        plan = showing.plan(image.size, spending, self._length_of(showing))
        if isinstance(plan, str):
            once = self._look_once(given, self._rule())
            once.report = None if once.report is None else dataclasses.replace(once.report, once=plan)
            return once
        resample, side, beyond = images.resample, showing.side, showing.beyond
        small, full = (image.resize((size[0] * side + beyond, size[1] * side + beyond), resample) for size in (plan.small, plan.full))
        seen = [(small, np.ones(plan.small[::-1], bool))]
        look = _looks.look_at(self.model, self._shown(given, seen * (1 + showing.pairs), showing, original), plan.small, showing.pairs)
        seen += _looks.parts_of(full, _looks.places_of(look.attention, plan), plan, side, beyond)
        batch = self._shown(given, seen, showing, original)
        pruned = prune_batch(self.model, batch, [torch.from_numpy(mask.reshape(-1)) for _, mask in seen])
        _looks.continue_from(pruned, batch, look)
        spent = sum(int(mask.sum()) for _, mask in seen) + plan.around * (len(seen) - 1) + showing.pairs
        pruned.report = _ways.Report([_ways.Candidate("looks", *plan.full, spent, math.nan)], [[]], [plan.every],
                                     1000 * (time.perf_counter() - began), "the question decides",
                                     [(_under(picture, mask, side), mask) for picture, mask in seen], look.attention, look.layer)
        return pruned

    def _shown(self, given: _messages.Loaded, seen: list[tuple[Any, Any]], showing: _showing.Sized | _showing.Tiled,
               original: Any) -> dict[str, Any]:
        """The batch in which these pictures stand in the place of those that a conversation has. They are made of `original`."""
        images = getattr(self.processor, "image_processor", self.processor)
        given.replace(0, [[_ways.given_as(picture, original, images) for picture, _ in seen], *([] for _ in given.images()[0][1:])])
        batch = self._moved(_messages.made_of(self.processor, given, showing.options))
        _check_grids(_grids_of(batch, unwrapped(self.model), showing.side), [mask.shape for _, mask in seen])
        return batch

    def _choose_pictures(self, given: _messages.Loaded, rule: _ways.Rule) -> PrunedBatch | PrunedImages:
        """Chooses the size of each picture and the tokens of it, and makes the batch of these pictures."""
        began = time.perf_counter()
        images = getattr(self.processor, "image_processor", self.processor)
        chosen: list[_ways.Candidate] = []
        among, full, seen = [], [], []
        for conversation, parts in enumerate(given.images()):
            shown = [_ways.picture_of(part["image"], images, f"image {given.numbers[len(chosen) + i]}") for i, part in enumerate(parts)]
            pictures, found, candidates = _ways.decide(shown, rule, self._options["spending"], images.resample, self._options["device"])
            made = [picture.shown(one) for picture, one in zip(pictures, found)]
            # Of an image that stays as it is, the processor gets what it would get without us, to the bit.
            given.replace(conversation, [[part["image"] if one.way == "full" else _ways.given_as(picture, part["image"], images)
                                          for picture, _ in several] for several, one, part in zip(made, found, parts)])
            seen += [(np.asarray(picture), mask) for several in made for picture, mask in several]
            full += [picture.all for picture in pictures]
            chosen += found
            among += candidates
        keep = [torch.from_numpy(mask.reshape(-1)) for _, mask in seen]
        report = _ways.Report(chosen, among, full, 1000 * (time.perf_counter() - began), _ways.uncompared(among, given.numbers), seen)
        batch = self._moved(_messages.made_of(self.processor, given, {}))
        _check_grids(_grids_of(batch, unwrapped(self.model), rule.side), [mask.shape for _, mask in seen])
        if given.counts["video"] and self._sizes_videos():
            pruned = self._choose_videos(batch, keep)
            of_videos = pruned.report
            pruned.report = report if of_videos is None else report.with_videos(of_videos)
            return pruned
        videos = {}
        if batch.get("pixel_values_videos") is not None:
            only = {name: value for name, value in batch.items() if name not in ("pixel_values", "image_grid_thw")}
            videos = _qwen.choose(unwrapped(self.model), self.processor, only, {"query": None, "features": None}, self._options)
            videos.pop("report", None)
        pruned = prune_batch(self.model, batch, keep, **videos)
        pruned.report = report
        return pruned

    def _chooses_tiles(self, given: _messages.Loaded) -> bool:
        """Whether the pictures of a conversation can be chosen if they have all one size: not by their score, and not beside videos."""
        spending = self._options["spending"]
        return spending is not None and spending.way != "cells" and any(given.images()) and not given.counts["video"]

    def _choose_tiles(self, given: _messages.Loaded, showing: _showing.Tiled) -> PrunedBatch | PrunedImages:
        """Chooses into how many pictures each image is cut, and the tokens of them, and makes the batch of these pictures."""
        began = time.perf_counter()
        images = getattr(self.processor, "image_processor", self.processor)
        if self._around is None:
            self._around = showing.around(self._length_of(showing))
        numbers = iter(given.numbers)
        shown = [[_ways.picture_of(part["image"], images, f"image {next(numbers)}") for part in parts] for parts in given.images()]
        measured, chosen, among = _tiles.decide_tiles(shown, showing, self._around, self._options["spending"], images.resample, self._options["device"])
        pictures = [one for several in measured for one in several]
        ways, full = [one.candidate for found in chosen for one in found], [one.every for one in pictures]
        candidates = [[one.candidate for one in several] for several in among]
        if all(one.way == "full" for one in ways):
            batch = self._moved(_messages.made_of(self.processor, given, {}))
            made = int((batch["input_ids"] == unwrapped(self.model).config.image_token_id).sum())
            if made != sum(full):
                raise ArgumentError(f"the processor made {made} tokens of pictures, where {sum(full)} were counted: its rule is not the one that is known")
            pruned = prune_batch(self.model, batch)
            pruned.report = _ways.Report(ways, candidates, full, _ways.since(began), None,
                                         [(np.asarray(one.image), np.ones((1, 1), bool)) for one in pictures])
            return pruned
        seen = self._put_tiles(given, showing, pictures, chosen)
        batch = self._moved(_messages.made_of(self.processor, given, showing.options))
        _check_grids(_grids_of(batch, unwrapped(self.model), showing.side), [mask.shape for _, mask in seen])
        pruned = _batch_without(self.model, batch, [torch.from_numpy(mask.reshape(-1).copy()) for _, mask in seen], None, 0)
        pruned.report = _ways.Report(ways, candidates, full, _ways.since(began), _ways.uncompared(candidates, given.numbers),
                                     [(_under(picture, mask, showing.side), mask) for picture, mask in seen if mask.any()])
        return pruned

    def _put_tiles(self, given: _messages.Loaded, showing: _showing.Tiled, pictures: list[_tiles.MeasuredTiles],
                   chosen: list[list[_tiles.Choice]]) -> list[tuple[Any, Any]]:
        """Puts the chosen pictures in the places of images. Returns all of them, and of each which of its tokens the model gets."""
        images, rest, seen = getattr(self.processor, "image_processor", self.processor), iter(pictures), []
        for conversation, (found, parts) in enumerate(zip(chosen, given.images())):
            several = [next(rest).shown(one) for one in found]
            if showing.pairs and len(several) == 1 and len(several[0]) == 1:  # a picture of which nothing is shown makes it one of two
                picture, mask = several[0][0]
                several[0].append((picture, np.zeros_like(mask)))
            given.replace(conversation, [[_ways.given_as(picture, part["image"], images) for picture, _ in made]
                                         for made, part in zip(several, parts)])
            seen += [one for made in several for one in made]
        return seen

    def _moved(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The batch on the model's device. Pixels of half precision, which Llama 4's processor makes, get the model's own type."""
        device = _device_of(self.model)
        own = next((one.dtype for one in self.model.parameters() if one.is_floating_point()), torch.float32)

        def moved(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return value.to(value.device if device is None else device, own if value.dtype in (torch.bfloat16, torch.float16) else value.dtype)

        return {name: moved(value) for name, value in batch.items()}

    def _prune(self, batch: Mapping[str, Any], query: Any, features: Any) -> PrunedBatch | PrunedImages:
        model = unwrapped(self.model)
        _check_batch(model, self._family, batch)
        check_query(self._options["strategy"], query)
        asked = {"query": query, "features": features}
        if self._family.kind == "qwen":
            keep = _qwen.choose(model, self.processor, batch, asked, self._options)
        elif self._family.kind == "encoder":
            keep = _encoder.choose(model, self.processor, batch, asked, self._options)
        elif self._family.kind == "features":
            keep = _features.choose(model, self.processor, batch, asked, self._options)
        else:
            keep = _prompt.choose(model, self.processor, batch, asked, self._options, self._family)
        report = keep.pop("report", None)
        pruned = prune_batch(self.model, batch, **keep)
        pruned.report = report
        return pruned

    def batch_of(self, messages: Any, question: str | None = None, **options: Any) -> Mapping[str, Any]:
        """Makes the processor's batch of a chat, on the model's device. `prune` and `generate` take such a batch.

        Parameters:
            messages: one of these:

                - A conversation, which is a list of messages ``{"role": "user", "content": ...}``. The content is a text or a
                  list of parts; the parts are listed below.
                - A list of conversations, which gives a batch that is padded on the left.
                - An image or a list of images, in any of the forms of a part. They go into one prompt.
            question: the text after the images, if `messages` are images.
            options: further options of the processor's ``apply_chat_template``: ``num_frames``, ``tools``, ``processor_kwargs``,
                ...

        A part is one of these:

        - ``{"type": "text", "text": ...}``;
        - ``{"type": "image", ...}`` with one of ``image`` (PIL, array, tensor, path, URL), ``url`` (also ``data:`` and
          ``file://``), ``path`` and ``base64``;
        - ``{"type": "image_url", "image_url": {"url": ...}}``;
        - ``{"type": "video", ...}`` with one of ``video`` (frames, path, URL), ``url`` and ``path``.

        The batch is what ``processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True,
        return_tensors="pt", padding=True)`` makes, with pixels of half precision in the model's own type. A processor without a
        template (PaliGemma, encoders) is called with the texts and images instead.

        Errors, which name an image by its number over all messages, from 0:

        - `MissingFileError`: there is no such file.
        - `FileError`: a URL cannot be fetched.
        - `ArgumentError`: a file is no picture (status ``format``), or messages have another form.
        """
        return self._moved(_messages.batch_of(self.processor, messages, question, options))

    def generate(self, messages_or_batch: Any, *, question: str | None = None, query: Any = None, features: Any = None,
                 errors: Literal["raise", "skip"] = "raise", **options: Any) -> Any:
        """Generates an answer, like model.generate(**batch, **options): gives the prompts, followed by what is generated.

        `messages_or_batch` is a batch of the processor (with input_ids), or anything that `batch_of` takes. `errors` is as in `prune`,
        but every conversation has its row here: one of which no picture is left is refused, by its number.
        """
        if self._family.kind == "encoder":
            name = unwrapped(self.model).config.model_type
            raise ArgumentError(f"a {name} is an encoder, which generates nothing: prune(batch).forward()")
        return self._pruned(messages_or_batch, question, query, features, errors, True).generate(**options)


def _device_of(model: Any) -> Any:
    """The device that a model takes its input on; None if it is not told. accelerate keeps offloaded weights on the device "meta"."""
    device = next(model.parameters()).device
    if device.type != "meta":
        return device
    for module in model.modules():
        hook = getattr(module, "_hf_hook", None)
        for one in (hook, *getattr(hook, "hooks", ())):
            if getattr(one, "execution_device", None) is not None:
                return torch.device(one.execution_device)
    return None


def _has_sizes(model: Any, family: Family) -> bool:
    """Whether the size of a family's pictures can be chosen: it follows the image, by a rule of the processor that is known."""
    return family.kind == "qwen" or model.config.model_type == "mistral3"


def _grids_of(batch: Mapping[str, Any], model: Any, side: int) -> list[tuple[int, int]]:
    """Rows and columns of the tokens of each picture that the processor made."""
    if "image_grid_thw" in batch:
        merge = int(model.config.vision_config.spatial_merge_size)
        return [(int(h) // merge, int(w) // merge) for _, h, w in batch["image_grid_thw"].tolist()]
    if "image_sizes" in batch:
        return [(int(h) // side, int(w) // side) for h, w in batch["image_sizes"].tolist()]
    return [(picture.shape[-2] // side, picture.shape[-1] // side) for picture in _prompt.pictures_of(batch["pixel_values"])]


def _image_of(given: _messages.Loaded) -> Any:
    """The image of a conversation that has one image and a question, as it was given. Refuses any other."""
    shown = given.images()
    if len(shown) != 1 or len(shown[0]) != 1 or given.counts["video"]:
        raise ArgumentError(f"looks=2 is for one image and a question; there are {sum(map(len, shown))} images and "
                            f"{given.counts['video']} videos in {len(shown)} conversations")
    if not given.has_text():
        raise ArgumentError("looks=2 needs a question: there is no text beside the image")
    return shown[0][0]["image"]


def _under(picture: Any, mask: Any, side: int) -> Any:
    """The pixels of a picture under its tokens."""
    return np.asarray(picture)[:mask.shape[0] * side, :mask.shape[1] * side]


def _check_grids(made: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    """Refuses pictures that the processor has made of another size than was decided: nothing would be kept where it was meant."""
    if made != wanted:
        raise ArgumentError(f"the processor made pictures of {made} rows and columns of tokens, where {wanted} were decided")


__all__ = ["PrunedBatch", "PrunedImages", "Pruner", "prune_batch"]
