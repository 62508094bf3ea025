# SPDX-License-Identifier: Apache-2.0
"""check_patches.py TVLM: the patches and patch scores that `tvlm select` writes, against PyTorch's unfold (bit for bit)."""
import json
import os
import tempfile

import common
from common import np

torch = common.need("torch")
tool = common.arguments("TVLM")[0]
checks = common.Checks()
for device in common.devices(tool):
    for width, height, side in ((96, 64, 16), (84, 56, 14)):
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            pixels = common.random_pixels(width, height, side)
            common.save_ppm(path("in.ppm"), pixels)
            cells = (width // side) * (height // side)
            words = ["select", path("in.ppm"), "--strategy", "grid", "-k", str(cells), "--stride", str(side), "--patch", str(side), "--format", "f32",
                     "--patches", path("p.npy"), "--patch-scores", path("s.npy"), "-o", path("o.json")]
            common.run(tool, *words, *(["--device", device] if device else []))
            got, scores = np.load(path("p.npy")), np.load(path("s.npy"))
            positions = json.load(open(path("o.json")))["positions"]
            image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float() / 255
            unfolded = torch.nn.functional.unfold(image, side, stride=side)[0].T.reshape(-1, 3, side, side).numpy()
            order = [p["cell"][1] * (width // side) + p["cell"][0] for p in positions]
            what = f"{width}x{height}, {common.device_name(device)}"
            checks.true(f"{what}: all {cells} cells once", sorted(order) == list(range(cells)))
            checks.true(f"{what}: patches equal unfold's to the bit", got.dtype == np.float32 and got.tobytes() == unfolded[order].tobytes())
            checks.true(f"{what}: scores in the encoder's order", scores.shape == (cells,) and
                        np.array_equal(scores[order], np.array([p["score"] for p in positions], np.float32)))
checks.done()
