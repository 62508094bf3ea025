# SPDX-License-Identifier: Apache-2.0
"""PyTorch's workers. Its tensors are in test_images.py."""
import numpy as np
import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")


class Selected(torch.utils.data.Dataset):
    """What a training loop has: an image, and the numbers of its cells that matter."""

    def __init__(self, pictures):
        self.pictures = pictures

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return torch.from_numpy(tv.select(self.pictures[i], 10, strategy="grid").indices.copy())


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_workers_of_a_data_loader_select(photo, context):
    pictures = [np.roll(photo, 16 * i, 1) for i in range(6)]
    alone = torch.stack([Selected(pictures)[i] for i in range(6)])
    loader = torch.utils.data.DataLoader(Selected(pictures), batch_size=3, num_workers=2, multiprocessing_context=context)
    assert torch.equal(torch.cat(list(loader)), alone)


def test_forked_workers_select_where_only_they_use_it(run):
    assert "torch.Size([4, 1])" in run("""
import numpy as np, torch, texturevlm as tv, warnings
class Selected(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.from_numpy(tv.select(np.full((32, 32, 3), 40 * i, np.uint8), 1, strategy="grid").indices.copy())
print(torch.cat(list(torch.utils.data.DataLoader(Selected(), batch_size=2, num_workers=2))).shape)
""")


def test_forked_workers_say_why_they_cannot(photo, run):
    assert "this process was forked" in run("""
import numpy as np, torch, texturevlm as tv
image = np.zeros((32, 32, 3), np.uint8)
tv.devices()  # asks OpenCL
class Selected(torch.utils.data.Dataset):
    def __len__(self):
        return 1
    def __getitem__(self, i):
        return len(tv.select(image, 1))
try:
    list(torch.utils.data.DataLoader(Selected(), num_workers=2))
except tv.Error as error:
    print(error)
""")
