# SPDX-License-Identifier: Apache-2.0
"""shared.py: where the data lie that the benchmarks measure on: in the folder that TVLM_SHARED names, else in ../shared beside
the project. And what is measured: a device as nobody tuned it, and of `tvlm select` the OpenCL device, also for the first image."""
import os

os.environ.setdefault("TVLM_UNTUNED", "1")

DATA = os.path.join(os.environ.get("TVLM_SHARED") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared"),
                    "data")
