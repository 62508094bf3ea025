# SPDX-License-Identifier: Apache-2.0
"""peers_options.py: the options of peers.py, and the libraries that are compared, which get as many threads as the tool."""
import argparse
import os
import sys

parser = argparse.ArgumentParser()
parser.add_argument("tool")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--side", type=int, default=1024, help="of the image, a power of two from 512 on")
parser.add_argument("--device")
parser.add_argument("--json")
parser.add_argument("--only", action="append", help="stages with this in their name; several times: with one of them")
options = parser.parse_args()
os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", str(options.threads))  # the tool's

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
from common import SKIPPED, np  # noqa: E402
import shared  # noqa: E402,F401  what is measured is a device as nobody tuned it

try:
    import cv2
    cv2.setNumThreads(options.threads)
except ImportError:
    cv2 = None
try:
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
except ImportError:
    torch = F = None
try:
    from scipy import ndimage
except ImportError:
    ndimage = None
try:
    from skimage.segmentation import slic
except ImportError:
    slic = None
if cv2 is None or torch is None:
    print("note: OpenCV and PyTorch are both needed for a full table; missing:",
          ", ".join(name for name, module in (("OpenCV", cv2), ("PyTorch", torch)) if module is None))
if cv2 is None:
    sys.exit(SKIPPED)  # it prepares the data, too

SIDE, CELL, K = options.side, 16, 273
if SIDE < 512 or SIDE & (SIDE - 1):  # 273 cells are chosen
    sys.exit(f"--side is {SIDE}, not a power of two from 512 on")
LUMA = np.array([[0.299, 0.587, 0.114]], np.float32)
BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32) / 16
EDGE = cv2.BORDER_REPLICATE
