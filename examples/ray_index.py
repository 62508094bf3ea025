#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ray_index.py [IMAGE|FOLDER|TAR...]: indexes images by two workers of a local Ray cluster, one of which is killed in the middle, and
again in this process alone: the two indexes are the same, row for row.

Without images it draws 24. The features are made up: what an encoder would say of each cell is a few numbers of its pixels. Needs
texturevlm[ray]. Exit 0: the same; 1: not; 77: something is missing.
"""
import os
import signal
import sys
import tempfile

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is told to anybody
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray's processes listen on 127.0.0.1, not on all addresses (doc/scale.md)
try:
    import numpy as np
    import ray
    import texturevlm as tv
    from texturevlm import index, ray as tvr
except ImportError as missing:
    print("SKIPPED:", missing)
    sys.exit(77)


class Encoder:
    """Stands for an encoder: of each of 4 x 6 cells eight numbers. Where `once` is a path that is not there yet, the fifth image kills
    the worker, as a machine that fails would."""

    def __init__(self, once=None):
        self.once, self.seen = once, 0

    def __call__(self, source):
        self.seen += 1
        if self.once and self.seen == 5 and not os.path.exists(self.once):
            open(self.once, "w", encoding="utf-8").close()
            os.kill(os.getpid(), signal.SIGKILL)
        key = np.frombuffer(source.key.encode(), np.uint8)
        return np.random.default_rng(key.astype(np.uint32)).normal(size=(4, 6, 8)).astype(np.float32)


def drawn(folder):
    from texturevlm._image import write_png
    for i in range(24):
        random = np.random.default_rng(i)
        picture = np.kron(random.integers(0, 255, (4, 6, 3), np.uint8), np.ones((16, 16, 1), np.uint8))
        write_png(os.path.join(folder, f"{i:02}.png"), np.ascontiguousarray(picture))
    with open(os.path.join(folder, "broken.png"), "wb") as file:
        file.write(b"no picture")
    return [folder]


def rows(folder):
    """All rows of an index."""
    opened = index.Index(folder)
    return [opened.table(name).to_table().to_pylist() for name in ("images", "regions")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "drawn"))
        images = sys.argv[1:] or drawn(os.path.join(folder, "drawn"))
        basis = os.path.join(folder, "basis.safetensors")
        tv.Basis(np.eye(4, 8)).save(basis)

        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
                 object_store_memory=200_000_000)
        ray.data.DataContext.get_current().execution_options.preserve_order = True  # so that rows are numbered alike
        killed = os.path.join(folder, "killed")
        described = tvr.describe(tvr.read_images(images, rows_a_block=4), k=20, basis=basis, features=Encoder(killed), workers=2, batch=4)
        failed = tvr.write_index(described, os.path.join(folder, "many"), k=20, basis=basis)
        ray.shutdown()

        alone = index.Index.create(os.path.join(folder, "alone"), k=20, basis=basis)
        failed_alone = alone.add(images, features=Encoder(), skip_errors=True)
        same = rows(os.path.join(folder, "many")) == rows(alone.folder)
        print(f"{len(alone)} images; {len(failed)} failed, as {len(failed_alone)} did; a worker was killed: {os.path.exists(killed)}; "
              f"the same rows: {same}")
        return 0 if same and [key for key, _ in failed] == [key for key, _ in failed_alone] and os.path.exists(killed) else 1


if __name__ == "__main__":
    sys.exit(main())
