# SPDX-License-Identifier: Apache-2.0
"""shared.py: where the data lie that the benchmarks measure on: in the folder that TVLM_SHARED names, else in ../shared beside
the project. And what is measured: a device as nobody tuned it, and of `tvlm select` the OpenCL device, also for the first image.
Then how results are written."""
import contextlib
import json
import os

os.environ.setdefault("TVLM_UNTUNED", "1")

DATA = os.path.join(os.environ.get("TVLM_SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared"),
                    "data")


@contextlib.contextmanager
def replacing(path):
    """A name beside `path`, with its ending, to write to. What is there takes the place of `path` at the end: a run that is stopped
    leaves the result of the run before, and nothing else. What is no file, such as /dev/stdout, is written as it is."""
    if os.path.exists(path) and not os.path.isfile(path):
        yield path
        return
    stem, ending = os.path.splitext(os.path.realpath(path))
    part = f"{stem}.{os.getpid()}.part{ending}"
    try:
        yield part
        os.replace(part, stem + ending)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(part)


def write_json(path, value, **how):
    with replacing(path) as part, open(part, "w", encoding="utf-8") as file:
        json.dump(value, file, **how)
