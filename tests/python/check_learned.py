#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_learned.py TVLM: networks of the family `learned`, saved from PyTorch, against PyTorch itself."""
import json
import os
import tempfile

from common import Checks, Pictures, arguments, device_name, devices, generate, need

torch, safetensors = need("torch", "safetensors.torch")
tool = arguments("TVLM")[0]
checks = Checks()
torch.manual_seed(3)
# What the issue asks for. Inputs are colours in [0, 1], and PyTorch's own first weights keep values about as large.
TOLERANCES = {"f32": 1e-4, "f16": 2e-3}
REASON = "float sums in another order; half: inputs and outputs rounded once each"


def conv(inputs, outputs, side, stride=1):
    return torch.nn.Conv2d(inputs, outputs, side, stride, side // 2)


NETWORKS = {
    "Conv2d(3, 64, 3) - ReLU - Conv2d(64, 4, 1) - Sigmoid": ("r,g,b", 0, torch.nn.Sequential(
        conv(3, 64, 3), torch.nn.ReLU(), conv(64, 4, 1), torch.nn.Sigmoid())),
    "with strides, at level 1": ("r,g,b", 1, torch.nn.Sequential(
        conv(3, 24, 3, 2), torch.nn.ReLU(), conv(24, 48, 3, 2), torch.nn.ReLU(), conv(48, 48, 3), torch.nn.ReLU(), conv(48, 5, 1))),
    "of designed channels, 8 layers": ("edges,low,laplacian,rgb_var,x", 0, torch.nn.Sequential(
        *(layer for i in range(7) for layer in (conv(5 if i == 0 else 12, 12, 3 if i % 2 else 1), torch.nn.ReLU())),
        conv(12, 32, 3), torch.nn.Sigmoid())),
}


def save(path, inputs, level, model):
    layers = []
    for name, layer in model.named_children():
        if isinstance(layer, torch.nn.Conv2d):
            layers.append({"type": "conv", "name": name, "stride": layer.stride[0], "padding": layer.padding[0]})
        else:
            layers.append({"type": "relu" if isinstance(layer, torch.nn.ReLU) else "sigmoid"})
    outputs = [f"out{i}" for i in range(list(model.parameters())[-1].shape[0])]
    safetensors.save_file(model.state_dict(), path, {
        "format": "texturevlm.network", "inputs": inputs, "outputs": ",".join(outputs), "level": str(level),
        "layers": json.dumps(layers)})
    return outputs


def check(name, path, device, network, what):
    """The network's own size: what `generate` samples there is each texel itself."""
    inputs, level, model = what
    outputs = save(network, inputs, level, model)
    read = torch.from_numpy(generate(tool, path, inputs.split(","), device, level=level, format="f32"))
    with torch.no_grad():
        expected = model(read[None])[0].numpy()
    height, width = expected.shape[1:]
    for form in ("f32", "f16"):
        got = generate(tool, path, outputs, device, network=network, format=form, size=f"{width}x{height}")
        checks.close(f"{name}, {device_name(device)}, {form}", got, expected, TOLERANCES[form], REASON)


with tempfile.TemporaryDirectory() as folder:
    # The sides at level 1 are multiples of the strides, so that no texel reaches beyond the image.
    for picture, path, _ in Pictures([(208, 152)]):
        for device in devices(tool):
            for title, what in NETWORKS.items():
                check(f"{picture}: {title}", path, device, os.path.join(folder, "n.safetensors"), what)
raise SystemExit(checks.done())
