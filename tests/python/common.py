# SPDX-License-Identifier: Apache-2.0
"""common.py: what these checks share: the tool, the library through ctypes, pictures, and comparisons that say what differs.

Each check is run as `python3 NAME.py TVLM [LIBRARY]` and exits 0 (all within tolerance), 1 (something is not), or 77
(a package is missing: skipped). They compare with other people's code, so they need Debian's python3-opencv,
python3-scipy and python3-torch, each only where it is used.
"""
import ctypes
import importlib
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))
PHOTOS = os.path.join(os.environ.get("TVLM_SHARED") or os.path.join(HERE, "..", "..", "..", "shared"), "data", "photos")


def need(*names):
    """Imports modules, or ends the check as skipped."""
    modules = []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError as error:
            print(f"SKIPPED: {error}")
            sys.exit(SKIPPED)
    return modules[0] if len(modules) == 1 else modules


np = need("numpy")


def photo(name):
    path = os.path.join(PHOTOS, name)
    return path if os.path.exists(path) else None


def require_photos():
    if not os.path.isdir(PHOTOS):
        print(f"SKIPPED: no photos in {PHOTOS}")
        sys.exit(SKIPPED)
    return PHOTOS


class Checks:
    """Comparisons: prints each, remembers failures; `done` is the exit status."""

    def __init__(self):
        self.failed = self.count = 0

    def _report(self, ok, line):
        self.count += 1
        self.failed += not ok
        print(("ok     " if ok else "FAILED ") + line, flush=True)

    def close(self, what, got, expected, maximum, reason, mean=None):
        """|got - expected| <= maximum everywhere, and <= mean on average (default: maximum / 4)."""
        got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
        mean = maximum / 4 if mean is None else mean
        if got.shape != expected.shape:
            return self._report(False, f"{what}: shape {got.shape}, expected {expected.shape}")
        if not np.isfinite(got).all() or not np.isfinite(expected).all():
            return self._report(False, f"{what}: not finite")
        error = np.abs(got - expected)
        largest, average = float(error.max()), float(error.mean())
        return self._report(largest <= maximum and average <= mean,
                            f"{what}: max {largest:.2e} (<= {maximum:.0e}), mean {average:.2e} (<= {mean:.0e}; {reason})")

    def true(self, what, ok):
        self._report(bool(ok), what)

    def done(self):
        print(f"{self.count - self.failed} of {self.count} comparisons within tolerance")
        if self.count == 0:
            print("nothing was compared")
        sys.exit(1 if self.failed or self.count == 0 else 0)


# ---- The tool ----

def arguments(usage="TVLM [LIBRARY]"):
    if len(sys.argv) < len([word for word in usage.split() if not word.startswith("[")]) + 1:
        print(f"usage: {sys.argv[0]} {usage}", file=sys.stderr)
        sys.exit(2)
    return sys.argv[1:]


def run(tool, *words, **environment):
    result = subprocess.run([tool, *words], capture_output=True, text=True, env={**os.environ, **environment})
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join([tool, *words])}: exit {result.returncode}: {result.stderr.strip()}")
    return result.stdout


_devices = {}


def devices(tool):
    """What is checked: the default OpenCL device where there is one, and the reference."""
    if tool not in _devices:
        import json
        found = json.loads(run(tool, "devices", "--json"))["devices"]
        has_opencl = any(device["type"] != "reference" for device in found)
        if not has_opencl:
            print("note   no OpenCL device: the reference only")
        _devices[tool] = [None, "reference"] if has_opencl else ["reference"]
    return _devices[tool]


def device_name(device):
    return device or "default device"


def generate(tool, image, channels, device=None, **options):
    """The channels of an image file as float32 arrays [channel][y][x]; options: level=, size="WxH"."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.npy")
        words = ["channels", image, "--channels", ",".join(channels), "--format", "f32", "-o", output]
        for name, value in options.items():
            words += [f"--{name}", str(value)]
        if device:
            words += ["--device", device]
        run(tool, *words)
        return np.load(output)


def save_ppm(path, pixels):
    """RGB uint8 pixels as a binary PPM: no library's encoder in between."""
    with open(path, "wb") as file:
        file.write(b"P6 %d %d 255\n" % (pixels.shape[1], pixels.shape[0]))
        file.write(np.ascontiguousarray(pixels, np.uint8).tobytes())


def load_ppm(path):
    with open(path, "rb") as file:
        assert file.read(2) == b"P6"
        fields = []
        while len(fields) < 3:
            field = b""
            byte = file.read(1)
            while byte.isspace():
                byte = file.read(1)
            while not byte.isspace():
                field += byte
                byte = file.read(1)
            fields.append(int(field))
        return np.frombuffer(file.read(), np.uint8).reshape(fields[1], fields[0], 3)


def random_pixels(width, height, seed):
    """Noise, flats, steps and slopes: every filter sees all of them."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    smooth = np.stack([127 + 120 * np.sin(x / (3.0 + c) + y / (7.0 - c)) for c in range(3)], 2)
    noise = rng.integers(0, 256, (height, width, 3))
    flat = np.broadcast_to(rng.integers(0, 256, 3), (height, width, 3))
    choose = ((x // 9 + y // 7) % 3)[..., None]
    return np.where(choose == 0, smooth, np.where(choose == 1, noise, flat)).clip(0, 255).astype(np.uint8)


class Pictures:
    """Files to check on: (name, path, RGB uint8 array)."""

    def __init__(self, sizes, photos=()):
        self.folder = tempfile.TemporaryDirectory()
        self.list = []
        for i, (width, height) in enumerate(sizes):
            path = os.path.join(self.folder.name, f"random_{width}x{height}.ppm")
            pixels = random_pixels(width, height, i)
            save_ppm(path, pixels)
            self.list.append((f"{width}x{height}", path, pixels))
        for name in photos:
            if photo(name) is None:
                print(f"note   no photo {name}")
                continue
            cv2 = need("cv2")
            pixels = cv2.imread(photo(name), cv2.IMREAD_COLOR)[..., ::-1]
            self.list.append((name, photo(name), np.ascontiguousarray(pixels)))

    def __iter__(self):
        yield from self.list  # keeps self, and so the folder, alive


def luma(rgb):
    """Y of RGB in [0, 1] (doc/channels.md), in float64."""
    return rgb @ np.array([0.299, 0.587, 0.114])


def edge_pixels(edges):
    """Where `distance` is 0: a ridge of `edges` (float32, as stored) above 0.25. A pixel is on one when it is largest across
    the direction in which `edges` falls off faster: the axis whose two neighbours have the smaller sum (x when they are
    equal); not smaller than the neighbour before, larger than the one behind."""
    p = np.pad(edges, 1, mode="edge")
    here, left, right, up, down = p[1:-1, 1:-1], p[1:-1, :-2], p[1:-1, 2:], p[:-2, 1:-1], p[2:, 1:-1]
    across_x = left + right <= up + down
    before, behind = np.where(across_x, left, up), np.where(across_x, right, down)
    return (here > 0.25) & (here >= before) & (here > behind)


def level_size(width, height, level):
    return max(1, width >> level), max(1, height >> level)


# ---- The library ----

class _Log(ctypes.Structure):
    CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
    _fields_ = [("write", CALLBACK), ("user", ctypes.c_void_p)]


class _DeviceParams(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("storage", ctypes.c_int), ("kernel_dir", ctypes.c_char_p),
                ("cache_dir", ctypes.c_char_p), ("test_all", ctypes.c_bool), ("log", ctypes.POINTER(_Log)),
                ("reserved", ctypes.c_uint64 * 4)]


class _Image(ctypes.Structure):
    _fields_ = [("pixels", ctypes.c_void_p), ("width", ctypes.c_int32), ("height", ctypes.c_int32),
                ("channels", ctypes.c_int32), ("type", ctypes.c_int), ("row_stride", ctypes.c_size_t),
                ("reserved", ctypes.c_uint64 * 4)]


class _StackParams(ctypes.Structure):
    _fields_ = [("layout", ctypes.c_char_p), ("width", ctypes.c_int32), ("height", ctypes.c_int32),
                ("images", ctypes.c_int32), ("format", ctypes.c_int), ("fixation", ctypes.POINTER(ctypes.c_float)),
                ("clusters", ctypes.c_int32), ("compactness", ctypes.c_float), ("reserved", ctypes.c_uint64 * 4)]


class _GridInput(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("columns", ctypes.c_int32), ("rows", ctypes.c_int32), ("channels", ctypes.c_int32),
                ("type", ctypes.c_int), ("row_stride", ctypes.c_size_t), ("cell", ctypes.c_float), ("replace_nonfinite", ctypes.c_bool),
                ("camera", ctypes.c_float * 4), ("reserved", ctypes.c_uint64 * 4)]


class _Query(ctypes.Structure):
    _fields_ = [("similarity", ctypes.c_void_p), ("columns", ctypes.c_int32), ("rows", ctypes.c_int32),
                ("vectors", ctypes.c_void_p), ("count", ctypes.c_int32), ("dimension", ctypes.c_int32),
                ("combine", ctypes.c_int), ("mean", ctypes.c_void_p), ("basis", ctypes.c_void_p),
                ("reserved", ctypes.c_uint64 * 4)]


class _ScoreParams(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int32), ("stride", ctypes.c_float), ("level", ctypes.c_int32), ("dense", ctypes.c_bool),
                ("weights", ctypes.POINTER(ctypes.c_float)), ("scorer", ctypes.c_void_p), ("keep_pass", ctypes.c_bool),
                ("reserved", ctypes.c_uint64 * 4)]


FORMATS = {"auto": 0, "f16": 1, "f32": 2, "u8": 3}


class Library:
    """The few functions used here, as device.h, stack.h and score.h declare them."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.tvlm_status_string.restype = ctypes.c_char_p
        self.lines = []
        self._write = _Log.CALLBACK(lambda _, level, text: self.lines.append(text.decode()) if level == 0 else None)
        self._log = _Log(self._write, None)

    def call(self, name, *words):
        status = getattr(self.c, name)(*words)
        if status != 0:
            said = self.c.tvlm_status_string(status).decode()
            raise RuntimeError(f"{name}: {said}: {self.lines[-1] if self.lines else ''}")

    def open(self, device=None):
        handle = ctypes.c_void_p()
        params = _DeviceParams(device.encode() if device else None, 0, None, None, False, ctypes.pointer(self._log))
        self.call("tvlm_device_open", ctypes.byref(params), ctypes.byref(handle))
        return handle

    def close(self, device):
        self.c.tvlm_device_destroy(ctypes.byref(device))

    def channel(self, name):
        return self.c.tvlm_channel_find(name.encode())

    @staticmethod
    def _image(pixels):
        height, width, count = pixels.shape
        kind = {"uint8": 0, "uint16": 1, "float32": 2}[pixels.dtype.name]
        return _Image(pixels.ctypes.data, width, height, count, kind, 0)

    def set_image(self, stack, pixels):
        """Another image of the same size."""
        pixels = np.ascontiguousarray(pixels)
        self.call("tvlm_stack_set_image", stack, 0, ctypes.byref(self._image(pixels)))

    def set_grid(self, stack, channel, values):
        """A grid over the whole image, float32 [row][column][channel], from that channel on."""
        values = np.ascontiguousarray(values, np.float32)
        grid = _GridInput(values.ctypes.data, values.shape[1], values.shape[0], values.shape[2])
        self.call("tvlm_stack_set_grid", stack, 0, self.channel(channel), ctypes.byref(grid))

    def stack(self, device, pixels, channels, form="f32"):
        """A stack with an image (uint8 or float32, [y][x][c]) in it."""
        pixels = np.ascontiguousarray(pixels)
        image = self._image(pixels)
        params = _StackParams(",".join(channels).encode(), 0, 0, 0, FORMATS[form], None)
        handle = ctypes.c_void_p()
        self.call("tvlm_stack_create_for_image", device, ctypes.byref(image), ctypes.byref(params),
                  ctypes.byref(handle))
        return handle

    def need(self, device, layout, width, height, form):
        """The bytes that a stack takes."""
        count = ctypes.c_uint64()
        params = _StackParams(layout.encode(), width, height, 0, FORMATS[form], None)
        self.call("tvlm_stack_need", device, ctypes.byref(params), ctypes.byref(count))
        return count.value

    def destroy_stack(self, stack):
        self.c.tvlm_stack_destroy(ctypes.byref(stack))

    def read(self, stack, channel, level):
        """A channel's own texels at its own level, [y][x]."""
        number, width, height = self.channel(channel), ctypes.c_int32(), ctypes.c_int32()
        self.call("tvlm_stack_channel_size", stack, number, level, ctypes.byref(width), ctypes.byref(height))
        out = np.zeros((height.value, width.value), np.float32)
        self.call("tvlm_stack_read", stack, 0, number, level, ctypes.c_size_t(out.size),
                  out.ctypes.data_as(ctypes.c_void_p))
        return out

    def sample(self, stack, points, channels):
        """points: [n][3] of x, y, level. Returns [n][channel]."""
        record = np.zeros(len(points), [("x", "f4"), ("y", "f4"), ("level", "f4"), ("index", "i4")])
        record["x"], record["y"], record["level"] = np.asarray(points).T
        numbers = np.array([self.channel(name) for name in channels], np.int32)
        out = np.zeros((len(points), len(channels)), np.float32)
        self.call("tvlm_stack_sample", stack, record.ctypes.data_as(ctypes.c_void_p), len(points),
                  numbers.ctypes.data_as(ctypes.c_void_p), len(channels), out.ctypes.data_as(ctypes.c_void_p))
        return out

    def score(self, stack, weights, stride=16.0, similarity=None, dense=False):
        """The score of every cell, [row][column], or with `dense` of every pixel; weights of information, perspective and participation;
        similarity: a map [row][column] that is asked about."""
        query = None
        if similarity is not None:
            similarity = np.ascontiguousarray(similarity, np.float32)
            query = ctypes.byref(_Query(similarity.ctypes.data, similarity.shape[1], similarity.shape[0]))
        array = (ctypes.c_float * 3)(*weights)
        params = _ScoreParams(0, 0.0 if dense else stride, 0, dense, array, None)
        columns, rows = ctypes.c_int32(), ctypes.c_int32()
        self.call("tvlm_score_size", stack, ctypes.byref(params), ctypes.byref(columns), ctypes.byref(rows))
        out = np.zeros((rows.value, columns.value), np.float32)
        self.call("tvlm_score", stack, query, ctypes.byref(params), ctypes.c_size_t(out.size),
                  out.ctypes.data_as(ctypes.c_void_p))
        return out

    def topk(self, device, scores, k):
        scores = np.ascontiguousarray(scores, np.float32)
        indices, values = np.full(k, -1, np.int32), np.zeros(k, np.float32)
        self.call("tvlm_topk", device, scores.ctypes.data_as(ctypes.c_void_p), len(scores), k,
                  indices.ctypes.data_as(ctypes.c_void_p), values.ctypes.data_as(ctypes.c_void_p))
        return indices, values
