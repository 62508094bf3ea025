# SPDX-License-Identifier: Apache-2.0
"""shared.py: where the data lie that the benchmarks measure on: in the folder that TVLM_SHARED names, else in ../shared beside
the project. And what is measured: a device as nobody tuned it, and of `tvlm select` the OpenCL device, also for the first image.
Then how results are written, and how calls are timed that a device works on later."""
import contextlib
import json
import os
import time

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


def torch_levels(first):
    """All levels of planes of PyTorch [1, channels, n, n] but the first, each averaged from the one before."""
    from torch.nn.functional import avg_pool2d
    made = []
    while first.shape[-1] > 1:
        first = avg_pool2d(first, 2)
        made.append(first)
    return made


def sampled(work, wait, samples, least, most):
    """Milliseconds of a call, in so many samples. A sample is the mean of as many calls as take `least` seconds, at most `most`, one
    after the other, with one wait at the end. The first call is not counted."""
    def sample(runs):
        wait()
        start = time.perf_counter()
        for _ in range(runs):
            work()
        wait()
        return (time.perf_counter() - start) / runs
    runs = 1
    sample(1)
    while sample(runs) * runs < least and runs < most:
        runs *= 2
    return [1e3 * sample(runs) for _ in range(samples)]
