# SPDX-License-Identifier: Apache-2.0
"""Networks whose outputs are channels."""
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._arguments import Array, channel_names, channels, chars, file_name, floats, host, integer, short, values
from ._binding import ffi, lib
from ._core import ArgumentError, ArgumentTypeError, LOG, Value, call, owned, text

ACTIVATIONS = ["none", "relu", "sigmoid"]


class Network(Value):
    """A small convolutional network. Its outputs are channels of every `Stack` that gets it (doc/channels.md, learned).

        model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(64, 1, 1),
                                    torch.nn.Sigmoid())
        network = tv.Network(model, outputs=["thing"])
        tv.channels("photo.jpg", ["thing"], network=network)
        network.save("thing.safetensors")          # tvlm channels photo.jpg --network thing.safetensors --sheet s.png

    Parameters:
        layers: an nn.Sequential of Conv2d, ReLU and Sigmoid; or a list of dicts, one for each convolution. Kernels are 1 x 1 or
            3 x 3, with a padding of half their side. A dict has these entries:

            - ``weight``: [outputs, inputs, side, side].
            - ``bias``: [outputs]; may be left out.
            - ``stride``: 1, the default, or 2.
            - ``activation``: ``"relu"``, ``"sigmoid"`` or the default ``"none"``.
        outputs: the names of the outputs. The outputs also have the names ``learned_0``, ``learned_1`` and so on.
        inputs: the channels that the network reads.
        level: the level of the image at which the channels are read.

    Errors: `ArgumentError` for a layer of another kind, shapes that do not chain, weights that are not finite, or a name that is
    taken already.
    """

    def __init__(self, layers: Any, *, outputs: Sequence[str], inputs: Any = "r,g,b", level: int = 0) -> None:
        rows = _rows(layers)
        numbers = channels(inputs)
        names = [ffi.new("char[]", chars("outputs", name)) for name in _list("outputs", outputs)]
        made = ffi.new("tvlm_network_layer[]", len(rows))
        self._keep: list[Any] = [rows, names, made]
        for layer, (weight, bias, stride, activation) in zip(made, rows):
            layer.outputs, layer.inputs, layer.side = weight.shape[:3]
            layer.stride, layer.activation, layer.weights = stride, activation, floats(weight)
            if bias is not None:
                layer.bias = floats(bias)
        self._keep += [ffi.new("int32_t[]", numbers), ffi.new("char *[]", names)]
        self._pointer = ffi.new("tvlm_network *", {
            "inputs": self._keep[-2], "input_count": len(numbers), "level": integer("level", level), "outputs": self._keep[-1],
            "output_count": len(names), "layers": made, "layer_count": len(rows)})
        call(lib.tvlm_network_check, self._pointer, LOG)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network:
        """Reads the file of a network (.safetensors). texturevlm/lab/io_network.h says what such a file holds."""
        box, name = ffi.new("tvlm_network **"), file_name("path", path)
        call(lib.tvlm_network_load, chars("path", name), LOG, box, path=name)
        return cls._of(owned(box[0], "network"), None)

    @classmethod
    def _of(cls, pointer: Any, keep: Any) -> Network:
        """A network whose memory belongs to `keep`, which must live as long as it."""
        network = cls.__new__(cls)
        network._pointer, network._keep = pointer, [keep]
        return network

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the network to a file. The file appears whole or not at all.

        The tensors have the names that PyTorch gives to those of an nn.Sequential.
        """
        call(lib.tvlm_network_save, chars("path", file_name("path", path)), self._pointer, LOG)

    @property
    def inputs(self) -> list[str]:
        """The names of the channels that the network reads."""
        return channel_names(list(self._pointer.inputs[0:self._pointer.input_count]))

    @property
    def outputs(self) -> list[str]:
        """The names of the channels that the network makes."""
        return [text(self._pointer.outputs[i]) for i in range(self._pointer.output_count)]

    @property
    def level(self) -> int:
        """The level of the image at which the network reads its channels."""
        return int(self._pointer.level)

    def weight(self, layer: int) -> Array:
        """float32 [outputs, inputs, side, side]: the weights of a convolution. `layer` counts from 0."""
        found = self._pointer.layers[integer("layer", layer, 0, self._pointer.layer_count - 1)]
        shape = (found.outputs, found.inputs, found.side, found.side)
        return np.frombuffer(ffi.buffer(found.weights, 4 * int(np.prod(shape))), np.float32).reshape(shape).copy()

    def _layer(self, number: int) -> dict[str, Any]:
        """A convolution as a dict, as the constructor takes it."""
        found = self._pointer.layers[number]
        bias = np.zeros(found.outputs, np.float32)
        if found.bias != ffi.NULL:
            bias[:] = np.frombuffer(ffi.buffer(found.bias, 4 * found.outputs), np.float32)
        return {"weight": self.weight(number), "bias": bias, "stride": int(found.stride), "activation": ACTIVATIONS[found.activation]}

    def __repr__(self) -> str:
        return f"<texturevlm.Network of {self._pointer.layer_count} layers: {','.join(self.inputs)} -> {','.join(self.outputs)}>"


def network_of(network: Any) -> Network:
    """The network that an argument names: a `Network`, or the path of its file."""
    if isinstance(network, Network):
        return network
    if isinstance(network, (str, os.PathLike)):
        return Network.load(network)
    raise ArgumentTypeError(f"network is {short(network)}, neither a texturevlm.Network nor a path")


def _list(name: str, value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{name} is {short(value)}, not a list of names")
    return list(value)


def _rows(layers: Any) -> list[tuple[Array, Array | None, int, int]]:
    """Weight, bias, stride and activation of each convolution."""
    if hasattr(layers, "state_dict"):
        if not isinstance(layers, Iterable):
            raise ArgumentTypeError(f"layers are a {type(layers).__name__}, not an nn.Sequential: nn.Sequential({type(layers).__name__}(...)) is one")
        return _of_modules(list(layers))
    if not isinstance(layers, (list, tuple)) or not all(isinstance(layer, dict) for layer in layers):
        raise ArgumentTypeError(f"layers are {short(layers)}, neither an nn.Sequential nor a list of dicts")
    rows = []
    for number, layer in enumerate(layers):
        unknown = set(layer) - {"weight", "bias", "stride", "activation"}
        if unknown or "weight" not in layer:
            raise ArgumentError(f"layer {number} has " + (f"the unknown {sorted(unknown)[0]!r}" if unknown else "no weight"))
        rows.append(_row(number, layer["weight"], layer.get("bias"), layer.get("stride", 1), layer.get("activation", "none")))
    return rows


def _row(number: int, weight: Any, bias: Any, stride: Any, activation: Any) -> tuple[Array, Array | None, int, int]:
    array = values(f"the weight of layer {number}", weight, (4,))
    if array.shape[2] != array.shape[3]:
        raise ArgumentError(f"the weight of layer {number} has the shape {array.shape}, not [outputs, inputs, side, side]")
    if bias is not None:
        bias = values(f"the bias of layer {number}", bias, (1,))
        if bias.shape[0] != array.shape[0]:
            raise ArgumentError(f"the bias of layer {number} has {bias.shape[0]} values, not {array.shape[0]}")
    if activation not in ACTIVATIONS:
        raise ArgumentError(f"the activation of layer {number} is {short(activation)}; it is one of {', '.join(ACTIVATIONS)}")
    array, bias = array.copy(), None if bias is None else bias.copy()  # the caller may change his own
    return array, bias, integer(f"the stride of layer {number}", stride, 1, 2), ACTIVATIONS.index(activation)


def _of_modules(modules: list[Any]) -> list[tuple[Array, Array | None, int, int]]:
    rows: list[tuple[Array, Array | None, int, int]] = []
    follows = False
    for number, module in enumerate(modules):
        kind = type(module).__name__
        if kind in ("ReLU", "Sigmoid") and follows:
            rows[-1] = (*rows[-1][:3], ACTIVATIONS.index(kind.lower()))
        elif kind == "Conv2d":
            rows.append(_of_convolution(number, module))
        else:
            raise ArgumentError(f"module {number} is a {kind}" + (" that follows no convolution" if kind in ("ReLU", "Sigmoid") else
                                                                  "; Conv2d, ReLU and Sigmoid are known"))
        follows = kind == "Conv2d"
    return rows


def _of_convolution(number: int, module: Any) -> tuple[Array, Array | None, int, int]:
    side = module.kernel_size[0]
    plain = {"kernel_size": (side, side), "padding": (side // 2, side // 2), "stride": (module.stride[0],) * 2, "dilation": (1, 1),
             "groups": 1, "padding_mode": "zeros"}
    for name, expected in plain.items():
        if getattr(module, name) != expected:
            raise ArgumentError(f"module {number}, a Conv2d, has the {name} {short(getattr(module, name))}, not {expected}")

    def array(parameter: Any) -> Array:
        return np.array(host("a parameter", parameter.detach().cpu()), np.float32)

    return _row(number, array(module.weight), None if module.bias is None else array(module.bias), module.stride[0], "none")
