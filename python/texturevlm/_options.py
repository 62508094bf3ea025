# SPDX-License-Identifier: Apache-2.0
"""Queries, scorers and options, as parameters of the library."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _names
from ._arguments import Array, channel, channel_names, chars, choice, file_name, flag, floats, integer, known, pairs, real, short, values
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, LOG, Value, call, owned
from ._network import Network, network_of

if TYPE_CHECKING:
    from typing_extensions import TypedDict
    from ._basis import Basis
    from ._parameters import Parameters
    from ._types import Format, Strategy

    class SelectOptions(Parameters, total=False):
        """All options of texturevlm.select that say how positions are chosen."""

        query: Any
        strategy: Strategy | None

    class PredictOptions(TypedDict, total=False):
        """The options of texturevlm.predict that say what a loss is: how large a token is, and which parts of the image matter."""

        query: Any
        patch: int | None
        emphasis: float | None
        emphasis_channel: str | None
        weights: Any
        scorer: Scorer | str | os.PathLike[str] | None
        scores: Any

    class ChannelOptions(TypedDict, total=False):
        """The options of texturevlm.Stack that say how an image is worked on, without `size`."""

        layout: Any
        max_side: int | None
        format: Format | None
        fixation: tuple[float, float] | None
        clusters: int | None
        compactness: float | None
        memory_max: int | None
        network: Network | str | os.PathLike[str] | None

    class StackOptions(ChannelOptions, total=False):
        """All options of texturevlm.Stack that say how an image is worked on."""

        size: tuple[int, int] | None


# What a caller gives beside the parameters of the library's table. `dense` is set with the strategy.
SELECT = ["query", "strategy", *(name for name in _names.PARAMETERS if name != "dense")]
PREDICT = "query patch emphasis emphasis_channel weights scorer scores".split()
STACK = "layout size max_side format fixation clusters compactness memory_max network".split()


def _levels_of(weights: dict[str, Any], levels: dict[str, float] | None) -> Array | None:
    """One level for each weight; -1 for a channel that has no level of its own."""
    if levels is None:
        return None
    if not isinstance(levels, dict):
        raise ArgumentTypeError(f"levels are {short(levels)}, not a dict of channels and their levels")
    for name in levels:
        if name not in weights:
            raise ArgumentError(f"there is a level for {short(name)}, but no weight")
    return np.array([real(f"the level of {name}", levels[name], 0.0) if name in levels else -1.0 for name in weights], np.float32)


class Scorer(Value):
    """Scores cells by weights of any channels, or by a network that reads channels, in place of the score's three parts.

    ``Scorer(weights={"saliency": 1.0, "text": 2.0}, bias=0.0, similarity=0.0)`` makes a scorer, `Scorer.load` reads one from a
    file, and `texturevlm.fit` learns one.

    Parameters:
        weights: a dict from a channel's name to its weight. A weight is a number, or a 3 x 3 array for the neighbourhood of a
            cell. For several outputs it is an array [outputs, 3, 3] or [outputs, 1, 1].
        bias: a number that is added to every score.
        similarity: the weight of the similarity to the query.
        levels: a dict such as ``{"edges": 0}``: the level of the image at which a channel is read. Channels without an entry are
            read at the level of the cells.
        query_weights: a matrix M. M times the query's vector, of length 1, is added to the weights. The shape of M is
            [outputs, channels, 3, 3, D] or [outputs, channels, 1, 1, D]. For one output, and weights of the cell itself, it may
            also be [D, channels]. Channels have the order of `weights`.
        network: a `Network` in place of all the above. Its layers run over the grid of candidates.

    If there are several outputs, output 0 is the score. The others are planes of the `Stack` that is asked: ``output_1`` and so
    on, with one texel for each candidate (``stack.read("output_1")``).
    """

    def __init__(self, weights: dict[str, Any] | None = None, *, bias: float = 0.0, similarity: float = 0.0,
                 levels: dict[str, float] | None = None, query_weights: Any = None, network: Any = None) -> None:
        if network is not None:
            if weights is not None or query_weights is not None or levels is not None or bias or similarity:
                raise ArgumentError("a scorer of a network has no weights beside it")
            taken = network_of(network)
            self._keep: Any = taken
            self._pointer = ffi.new("struct tvlm_scorer *", {"network": taken._pointer})
            return
        if not isinstance(weights, dict) or not weights:
            raise ArgumentTypeError(f"weights are {short(weights)}, not a dict of channels and their weights")
        numbers = [channel(name) for name in weights]
        arrays = [_taps(name, values(f"the weight of {name}", weight, (0, 2, 3))) for name, weight in weights.items()]
        outputs, side = max(array.shape[0] for array in arrays), max(array.shape[1] for array in arrays)
        rows = np.zeros((outputs, len(arrays), side, side), np.float32)
        for row, array in enumerate(arrays):
            if array.shape[0] != outputs:
                raise ArgumentError(f"a weight is of {array.shape[0]} outputs, another one of {outputs}")
            middle = (side - array.shape[1]) // 2
            rows[:, row, middle:side - middle, middle:side - middle] = array
        depths = _levels_of(weights, levels)
        self._keep = [ffi.new("int32_t[]", numbers), rows, depths]
        self._pointer = ffi.new("struct tvlm_scorer *", {
            "channel_count": len(numbers), "channels": self._keep[0], "taps": side * side, "outputs": outputs,
            "weights": floats(rows), "bias": real("bias", bias), "similarity_weight": real("similarity", similarity),
            "levels": ffi.NULL if depths is None else floats(depths)})
        if query_weights is not None:
            self._ask(values("query_weights", query_weights, (2, 5)).copy(), rows.shape)

    def _ask(self, matrix: Array, shape: tuple[int, ...]) -> None:
        every = matrix.ndim == 5
        if (matrix.shape[:4] if every else (1, matrix.shape[1])) != (shape if every else shape[:2]):
            raise ArgumentError(f"query_weights have the shape {matrix.shape}, the weights {shape}")
        self._keep.append(matrix)
        self._pointer.query_weights = floats(matrix)
        self._pointer.dimension = matrix.shape[4 if every else 0]
        self._pointer.query_taps = self._pointer.taps if every else 0

    @classmethod
    def _of(cls, pointer: Any, keep: Any = None) -> Scorer:
        scorer = cls.__new__(cls)
        scorer._pointer, scorer._keep = pointer, keep
        return scorer

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scorer:
        """Reads the file of a scorer (.safetensors), written by `save` or by `tvlm-lab fit`."""
        box = ffi.new("tvlm_scorer **")
        name = file_name("path", path)
        call(lib.tvlm_scorer_load, chars("path", name), LOG, box, path=name)
        return cls._of(owned(box[0], "scorer"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scorer to a file, for `load` and for ``tvlm select --scorer``. The file appears whole or not at all."""
        call(lib.tvlm_scorer_save, chars("path", file_name("path", path)), self._pointer, LOG)

    @property
    def network(self) -> Network | None:
        """The network of the scorer, or None if the scorer has weights."""
        return Network._of(self._pointer.network, self) if self._pointer.network != ffi.NULL else None

    @property
    def outputs(self) -> int:
        """The number of outputs; the first one is the score."""
        network = self._pointer.network
        return int(network.output_count if network != ffi.NULL else max(self._pointer.outputs, 1))

    @property
    def weights(self) -> dict[str, Any]:
        """A dict from a channel's name to its weight: a float or float32 [3, 3].

        With several outputs a weight is float32 [outputs, 3, 3] or [outputs, 1, 1]. The scorer of a network has no weights here.
        """
        scorer = self._pointer
        count, side = scorer.channel_count, 3 if scorer.taps == 9 else 1
        all_weights = _copied(scorer.weights, (self.outputs, count, side, side)) if count else np.zeros((0, 0, 0, 0), np.float32)
        found: dict[str, Any] = {}
        for i, name in enumerate(channel_names(list(scorer.channels[0:count])) if count else []):
            array = all_weights[:, i]
            found[name] = array if self.outputs > 1 else array[0] if side == 3 else float(array[0, 0, 0])
        return found

    @property
    def levels(self) -> dict[str, float]:
        """A dict from a channel's name to its level, for the channels that are read at a level of their own."""
        scorer = self._pointer
        if scorer.levels == ffi.NULL:
            return {}
        return {name: float(scorer.levels[i]) for i, name in enumerate(self.weights) if scorer.levels[i] >= 0.0}

    @property
    def query_weights(self) -> Array | None:
        """The matrix that a query's vector is multiplied with, or None if there is none.

        It is float32 [outputs, channels, 3, 3, D], [outputs, channels, 1, 1, D] or [D, channels].
        """
        scorer = self._pointer
        if scorer.query_weights == ffi.NULL:
            return None
        side = 3 if scorer.taps == 9 else 1
        shape = ((self.outputs, scorer.channel_count, side, side, scorer.dimension) if scorer.query_taps
                 else (scorer.dimension, scorer.channel_count))
        return _copied(scorer.query_weights, shape)

    @property
    def bias(self) -> float:
        """The number that is added to every score."""
        return float(self._pointer.bias)

    @property
    def similarity(self) -> float:
        """The weight of the similarity to the query."""
        return float(self._pointer.similarity_weight)

    def __repr__(self) -> str:
        if self.network is not None:
            return f"<texturevlm.Scorer: {self.network!r}>"
        return f"<texturevlm.Scorer of {', '.join(self.weights)}>"


class Query(Value):
    """A question to images: vectors of an encoder's text side, or a map of similarities that was made elsewhere.

    Parameters:
        vectors: float [D] or [N, D], of any lengths but 0. The similarity of a cell is the cosine of its features with the
            vector. The image needs ``features`` of D components.
        similarity: in place of vectors, a map float [rows, columns] over the whole image, clamped to -1 .. 1.
        mean: float [D], which is subtracted from each vector first.
        combine: which of several cosines counts for a cell: ``"max"``, the largest, or ``"mean"``, their mean.
        basis: a `Basis`. The answer then comes from the image's embedding in that basis (`Stack.embed`), not from its features.

    Errors: `ArgumentError` if a value is not finite or a vector is 0. It is raised by the call that asks the query.
    """

    def __init__(self, vectors: Any = None, *, similarity: Any = None, mean: Any = None, combine: str = "max",
                 basis: Basis | None = None) -> None:
        if (vectors is None) == (similarity is None):
            raise ArgumentError("a query has either vectors or a map of similarities")
        fields: dict[str, Any] = {"combine": choice("combine", combine, _names.COMBINATIONS)}
        keep: list[Any] = []
        if vectors is not None:
            array = values("query", vectors, (1, 2)).copy()  # the caller may change his own
            if array.size == 0:
                raise ArgumentError("query has no values")
            count, dimension = array.shape if array.ndim == 2 else (1, array.shape[0])
            fields.update(vectors=floats(array), count=count, dimension=dimension)
            keep.append(array)
        if similarity is not None:
            array = values("similarity", similarity, (2,)).copy()
            fields.update(similarity=floats(array), columns=array.shape[1], rows=array.shape[0])
            keep.append(array)
        if mean is not None:
            array = values("mean", mean, (1,)).copy()
            if array.shape[0] != fields.get("dimension", array.shape[0]):
                raise ArgumentError(f"mean has {array.shape[0]} components, the query {fields['dimension']}")
            fields["mean"] = floats(array)
            keep.append(array)
        if basis is not None:
            from ._basis import Basis
            if not isinstance(basis, Basis):
                raise ArgumentTypeError(f"basis is {short(basis)}, not a texturevlm.Basis")
            fields["basis"] = basis._pointer
            keep.append(basis)
        self._keep = keep
        self._pointer = ffi.new("struct tvlm_query *", fields)


def query_of(query: Any) -> Any:
    """The query as the library takes it, and the object that must live as long as it is used."""
    if query is None:
        return ffi.NULL, None
    if not isinstance(query, Query):
        query = Query(query)
    return query._pointer, query


def _copied(data: Any, shape: tuple[int, ...]) -> Array:
    return np.frombuffer(ffi.buffer(data, 4 * int(np.prod(shape))), np.float32).reshape(shape).copy()


def _taps(name: str, array: Array) -> Array:
    """The weight of a channel as [outputs, side, side]."""
    shape = {0: (1, 1, 1), 2: (1, *array.shape), 3: array.shape}[array.ndim]
    if shape[0] < 1 or shape[1:] not in ((1, 1), (3, 3)) or (array.ndim == 2 and shape[1] != 3):
        raise ArgumentError(f"the weight of {name} has the shape {array.shape}; it must be a number, 3 x 3, or of several outputs")
    return array.reshape(shape)


def scorer_of(value: Any) -> Scorer:
    if isinstance(value, Scorer):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Scorer.load(value)
    raise ArgumentTypeError(f"scorer is {short(value)}, neither a texturevlm.Scorer nor a path")


def strategy_number(name: Any) -> int:
    if name is None or (isinstance(name, str) and name == "default"):
        return int(lib.TVLM_STRATEGY_DEFAULT)
    return 1 + choice("strategy", name, _names.STRATEGIES)


# How a parameter of a type lies in the memory of a tvlm_select_params.
_KINDS = {lib.TVLM_PARAMETER_NUMBER: "float *", lib.TVLM_PARAMETER_INTEGER: "int32_t *", lib.TVLM_PARAMETER_FLAG: "bool *",
          lib.TVLM_PARAMETER_CHOICE: "int32_t *", lib.TVLM_PARAMETER_CHANNEL: "int32_t *"}


def _value(parameter: Any, name: str, value: Any, stack: Any) -> float:
    """A caller's value as the library takes it. What is beyond the upper end of a number's range is refused by the library."""
    words = _names.words_of(parameter)
    if parameter.type == lib.TVLM_PARAMETER_FLAG:
        return flag(name, value)
    if parameter.type == lib.TVLM_PARAMETER_CHOICE:
        return choice(name, value, words)
    if parameter.type == lib.TVLM_PARAMETER_CHANNEL:
        return channel(value, stack)
    if parameter.type == lib.TVLM_PARAMETER_INTEGER:
        return integer(name, value, int(parameter.low), int(parameter.high))
    if isinstance(value, str) and value in words:
        return float(parameter.word)
    number = real(name, value, 0.0, above=parameter.above or parameter.low > 0.0)
    return number or -1.0 if parameter.zero else number  # TVLM_EXPLICIT_ZERO stands for 0


class Choosing:
    """How positions are chosen: a tvlm_select_params, and the arrays that it points to.

    In the library, 0 stands for the default of a parameter that cannot be 0. Here None stands for the default, and 0 is refused.
    """

    def __init__(self, options: dict[str, Any], stack: Any = None, later: tuple[str, ...] = ()) -> None:
        """Reads options. Those of the names `later` are read by `finish`, by the stack that knows their channels."""
        self.keep: list[Any] = []
        self.fixations: Array | None = None
        self.scores: Array | None = None
        given = {name: value for name, value in options.items() if value is not None}
        self.query, kept = query_of(given.pop("query", None))
        self.keep.append(kept)
        self.c = ffi.new("struct tvlm_select_params *")
        self._later = {name: given.pop(name) for name in later if name in given}
        for name, value in given.items():
            self._set(name, value, stack)
        self.c.strategy = strategy_number(given.get("strategy"))
        if self.c.strategy == lib.TVLM_STRATEGY_EXHAUSTIVE:
            self.c.score.dense = True

    def _set(self, name: str, value: Any, stack: Any) -> None:
        """Writes a parameter to its place, as the library's table describes it."""
        if name == "strategy":
            return
        parameter = _names.PARAMETERS[name]
        if parameter.type == lib.TVLM_PARAMETER_POINTS:
            self.fixations = pairs(name, value)
        elif parameter.type == lib.TVLM_PARAMETER_OBJECT:
            self._set_object(name, value)
        else:
            kind = _KINDS[parameter.type]
            ffi.cast(kind, ffi.cast("char *", self.c) + parameter.offset)[0] = _value(parameter, name, value, stack)

    def _set_object(self, name: str, value: Any) -> None:
        if name == "scores":
            self.scores = values(name, value, (1, 2))
        elif name == "scorer":
            self.keep.append(scorer_of(value))
            self.c.score.scorer = self.keep[-1]._pointer
        else:
            array = values(name, value, (1,))
            if array.shape[0] != 3:
                raise ArgumentError(f"weights are {array.shape[0]} numbers, not 3: information, perspective, participation")
            self.keep.append(array)
            self.c.score.weights = floats(array)

    def finish(self, stack: Any) -> Choosing:
        """Reads what only the library's stack can tell."""
        while self._later:
            self._set(*self._later.popitem(), stack)
        return self

    def check(self) -> Choosing:
        """Refuses options that no image could fit. It is called before an image is read."""
        call(lib.tvlm_select_check, LOG, self.query, self.c)
        return self

    def place(self, image: tuple[int, int], working: tuple[int, int]) -> None:
        """Converts fixations from pixels of the image to pixels of the working image."""
        if self.fixations is None:
            return
        inside = (self.fixations >= 0) & (self.fixations <= np.array(image, np.float32))
        if not inside.all():
            x, y = self.fixations[~inside.all(axis=1)][0]
            raise ArgumentError(f"the fixation {x:g}, {y:g} lies outside the image's {image[0]} x {image[1]} pixels")
        scaled = np.minimum(self.fixations * np.array(working, np.float32) / np.array(image, np.float32), np.array(working, np.float32))
        scaled = np.ascontiguousarray(scaled, dtype=np.float32)
        self.keep.append(scaled)
        self.c.foveated.fixations, self.c.foveated.fixation_count = floats(scaled), scaled.shape[0]

    def hand_in(self, rows: int, columns: int) -> None:
        """Hands in the caller's own scores, if there are any: one for each of the rows * columns candidates."""
        if self.scores is None:
            return
        if self.scores.shape not in ((rows, columns), (rows * columns,)):
            raise ArgumentError(f"scores have the shape {self.scores.shape}; there are {rows} x {columns} candidates")
        own = ffi.new("struct tvlm_scores *", {"values": floats(self.scores), "columns": columns, "rows": rows})
        self.keep.append(own)
        self.c.scores = own


def choosing(options: dict[str, Any], stack: Any = None) -> Choosing:
    """Options of a choice, of which each must be known. `stack` is the library's, which knows the names of its own channels."""
    known(options, SELECT)
    return Choosing(options, stack)


def early(options: dict[str, Any], stack: dict[str, Any]) -> Choosing:
    """Options of a choice, as far as they can be read before there is a stack. Outputs of a network have names that it alone knows."""
    known(options, SELECT)
    return Choosing(options, later=("emphasis_channel",) if stack.get("network") is not None else ())


class StackParams:
    """How an image is worked on: a tvlm_stack_params, and the objects that it points to."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.keep: list[Any] = []
        self.c = ffi.new("struct tvlm_stack_params *")
        for name, value in options.items():
            if value is None:
                continue
            if name == "layout":
                if not isinstance(value, (str, list, tuple)):
                    raise ArgumentTypeError(f"layout is {short(value)}, not a layout's name or names of channels")
                names = value if isinstance(value, str) else ",".join(map(str, value))
                self.keep.append(ffi.new("char[]", chars(name, names)))
                self.c.layout = self.keep[-1]
            elif name == "size":
                if not isinstance(value, (list, tuple)) or len(value) != 2:
                    raise ArgumentTypeError(f"size is {short(value)}, not width and height")
                self.c.width, self.c.height = (integer(name, side, 1) for side in value)
            elif name == "max_side":
                self.c.max_side = integer(name, value, 1)
            elif name == "format":
                from ._device import FORMATS
                self.c.format = choice(name, value, FORMATS)
            elif name == "fixation":
                self.keep.append(pairs(name, value))
                if self.keep[-1].shape[0] != 1:
                    raise ArgumentError("fixation is one x and one y")
                self.c.fixation = floats(self.keep[-1])
            elif name == "clusters":
                self.c.clusters = integer(name, value, 1, 2048)
            elif name == "compactness":
                self.c.compactness = real(name, value, 0.0, above=True)
            elif name == "memory_max":
                self.c.memory_max = integer(name, value, 1, 2**63)
            elif name == "network":
                self.keep.append(network_of(value))
                self.c.network = self.keep[-1]._pointer
