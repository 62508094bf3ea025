#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_export.py TVLM LIBRARY: `tvlm tensors` against the processors of transformers (requirements.txt): smart_resize and
crops on 10,000 sizes, pixel_values of all photos for every model, videos, what is selected of them, and the pictures
of the strategy budget."""
import ctypes
import json
import os
import tempfile

from common import Checks, PHOTOS, arguments, device_name, devices, need, np, require_photos, run

tool, library = arguments("TVLM LIBRARY")[:2]
need("PIL", "safetensors", "transformers")
from PIL import Image, ImageOps  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from transformers import CLIPImageProcessor, LlavaOnevisionImageProcessor, Qwen2VLImageProcessor, SiglipImageProcessor  # noqa: E402
from transformers.image_processing_utils import select_best_resolution  # noqa: E402
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize  # noqa: E402

try:
    import cv2
except ImportError:
    cv2 = None  # no video files

checks = Checks()
HALVES = [0.5, 0.5, 0.5]
CLASS_MOST = 28 * 28 * 1280  # the class Qwen2VLImageProcessor's own limit


class Processor(ctypes.Structure):  # tvlm_export_processor
    _fields_ = [("patch", ctypes.c_int32), ("temporal", ctypes.c_int32), ("merge", ctypes.c_int32), ("side", ctypes.c_int32),
                ("centre", ctypes.c_bool), ("min_pixels", ctypes.c_int64), ("max_pixels", ctypes.c_int64),
                ("video_min_pixels", ctypes.c_int64), ("video_max_pixels", ctypes.c_int64),
                ("mean", ctypes.c_float * 3), ("std", ctypes.c_float * 3),
                ("crops", ctypes.c_int32), ("padded", ctypes.c_bool), ("reserved", ctypes.c_uint64 * 3)]


# ---- smart_resize ----

def check_sizes():
    c = ctypes.CDLL(library)
    rng = np.random.default_rng(6)
    wrong, refused, tried = [], 0, 0
    for model in range(3):
        processor = Processor()
        assert c.tvlm_export_processor_get(model, ctypes.byref(processor)) == 0
        factor = processor.patch * processor.merge
        for limits in [(processor.min_pixels, processor.max_pixels), (3136, CLASS_MOST)]:
            processor.min_pixels, processor.max_pixels = limits
            for _ in range(1700):
                sides = np.exp(rng.uniform(np.log(factor), np.log(12000), 2)).astype(int)
                if rng.random() < 0.3:  # ties: an odd number of half factors
                    sides = sides // factor * factor + factor // 2 + factor
                height, width = (max(int(side), factor) for side in sides)
                w, h = ctypes.c_int32(), ctypes.c_int32()
                got = c.tvlm_smart_resize(ctypes.byref(processor), width, height, None, ctypes.byref(w), ctypes.byref(h))
                try:
                    expected = smart_resize(height, width, factor, *limits)
                except ValueError:
                    expected = None
                    refused += 1
                tried += 1
                if (None if got else (h.value, w.value)) != expected:
                    wrong.append((height, width, expected, h.value, w.value))
    checks.true(f"smart_resize: {tried} sizes ({refused} refused by both), {len(wrong)} differ {wrong[:3]}",
                not wrong and tried >= 10000 and refused > 0)


try:  # from 4.57 on; the version that requirements.txt pins has no Qwen3-VL: test_export.c has known answers
    from transformers.models.qwen3_vl.video_processing_qwen3_vl import smart_resize as video_smart_resize
except ImportError:
    video_smart_resize = None


def check_video_sizes():
    c = ctypes.CDLL(library)
    rng = np.random.default_rng(7)
    wrong, refused, tried, reached = [], 0, 0, set()
    processor = Processor()
    assert c.tvlm_export_processor_get(0, ctypes.byref(processor)) == 0
    for limits in [(processor.video_min_pixels, processor.video_max_pixels), (131072, 786432)]:
        processor.video_min_pixels, processor.video_max_pixels = limits
        for _ in range(5000):
            frames = int(np.exp(rng.uniform(0, np.log(769))))
            height, width = (int(side) for side in np.exp(rng.uniform(np.log(28), np.log(4000), 2)))
            if rng.random() < 0.3:  # ties
                height, width = height // 32 * 32 + 16 + 32, width // 32 * 32 + 16 + 32
            w, h = ctypes.c_int32(), ctypes.c_int32()
            got = c.tvlm_smart_resize_video(ctypes.byref(processor), frames, width, height, None, ctypes.byref(w), ctypes.byref(h))
            try:
                expected = video_smart_resize(frames, height, width, 2, 32, *limits)
                volume = frames * height * width
                reached.add("least" if volume < limits[0] else "most" if volume > limits[1] else "between")
            except ValueError:
                expected = None
                refused += 1
            tried += 1
            if (None if got else (h.value, w.value)) != expected:
                wrong.append((frames, height, width, expected, h.value, w.value))
    checks.true(f"smart_resize of Qwen3-VL's videos: {tried} sizes ({refused} refused by both), {len(wrong)} differ {wrong[:3]}",
                not wrong and tried >= 10000 and refused > 0 and len(reached) == 3)


# ---- Crops ----

ONEVISION = [[384 * rows, 384 * columns] for rows in range(1, 7) for columns in range(1, 7)]  # its image_grid_pinpoints

try:  # of 4.57.1; not yet in the version that requirements.txt pins
    from transformers.models.got_ocr2.image_processing_got_ocr2 import GotOcr2ImageProcessor, get_optimal_tiled_canvas
except ImportError:
    GotOcr2ImageProcessor = None

    def get_optimal_tiled_canvas(size, tile, least, most):
        """As InternVL's model card describes its dynamic preprocessing: the nearest shape; of equal ones more crops, while the
        picture has more than half of their pixels."""
        grids = sorted(((w, h) for w in range(1, most + 1) for h in range(1, most + 1) if least <= w * h <= most), key=lambda g: g[0] * g[1])
        away = [abs(size[1] / size[0] - w / h) for w, h in grids]
        equal = [grid for grid, far in zip(grids, away) if far == min(away)]
        return [equal[0], *(grid for grid in equal[1:] if size[0] * size[1] > 0.5 * tile[0] * tile[1] * grid[0] * grid[1])][-1]


def check_crop_sizes():
    c = ctypes.CDLL(library)
    rng = np.random.default_rng(11)
    for name, model in (("llava-onevision", 6), ("internvl", 7)):
        wrong, grids, tried = [], set(), 5000
        processor = Processor()
        assert c.tvlm_export_processor_get(model, ctypes.byref(processor)) == 0
        for _ in range(tried):
            height, width = (max(1, int(side)) for side in np.exp(rng.uniform(0, np.log(6000), 2)))
            if rng.random() < 0.5:  # shapes of crops, where two grids are equally good
                height, width = (int(n) * int(rng.choice([56, 100, 192, 224, 384, 448])) for n in rng.integers(1, 9, 2))
            columns, rows = ctypes.c_int32(), ctypes.c_int32()
            assert c.tvlm_crop_grid(ctypes.byref(processor), width, height, None, ctypes.byref(columns), ctypes.byref(rows)) == 0
            if name == "internvl":
                expected = get_optimal_tiled_canvas((height, width), (448, 448), 1, 12)
            else:
                best = select_best_resolution((height, width), ONEVISION)
                expected = (best[1] // 384, best[0] // 384)
            grids.add(expected)
            if (columns.value, rows.value) != expected:
                wrong.append((height, width, expected, columns.value, rows.value))
        checks.true(f"{name}: crops of {tried} sizes, {len(grids)} grids, {len(wrong)} differ {wrong[:3]}", not wrong and len(grids) > 30)


# ---- Processors ----

def qwen(**options):
    return Qwen2VLImageProcessor(**options)


def qwen3(most):
    return qwen(patch_size=16, image_mean=HALVES, image_std=HALVES, min_pixels=65536, max_pixels=most)


def clip(side):
    return CLIPImageProcessor(size={"shortest_edge": side}, crop_size={"height": side, "width": side})


def siglip(side):
    return SiglipImageProcessor(size={"height": side, "width": side})


CASES = [  # model, options, processor, std
    ("qwen2-vl", ["--max-pixels", str(CLASS_MOST)], qwen()),
    ("qwen2.5-vl", ["--min-pixels", "200704", "--max-pixels", "602112"], qwen(min_pixels=200704, max_pixels=602112)),
    ("qwen3-vl", ["--max-pixels", "2097152"], qwen3(2097152)),
    ("llava", [], clip(336)),
    ("siglip", [], siglip(224)),
    ("siglip", ["--size", "384", "--patch", "14"], siglip(384)),
    ("clip", [], CLIPImageProcessor()),
    ("clip", ["--patch", "32"], CLIPImageProcessor()),
]


class Onevision(LlavaOnevisionImageProcessor):
    """With the padding of 4.57.1: that of 4.47.1 is a column or row of pixels short where the rest is odd, and the last crops are
    enlarged by one."""

    def _pad_for_patching(self, image, target_resolution, input_data_format):
        rest = [target - size for target, size in zip(target_resolution, image.shape[:2])]
        return np.pad(image, [(n // 2, n - n // 2) for n in rest] + [(0, 0)])


def onevision(pictures):
    """[[crops, 3, 384, 384], ...] of RGB pictures, and image_sizes."""
    made = [Onevision(image_mean=HALVES, image_std=HALVES)(images=picture, return_tensors="np") for picture in pictures]
    return [one["pixel_values"][0] for one in made], np.concatenate([one["image_sizes"] for one in made])


IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}


def internvl(picture):
    """[crops, 3, 448, 448]"""
    if GotOcr2ImageProcessor is not None:
        processor = GotOcr2ImageProcessor(size={"height": 448, "width": 448}, crop_to_patches=True, **IMAGENET)
        return np.array(processor(images=picture, return_tensors="np")["pixel_values"])
    columns, rows = get_optimal_tiled_canvas(picture.size[::-1], (448, 448), 1, 12)
    whole = picture.resize((448 * columns, 448 * rows), Image.BICUBIC)
    crops = [whole.crop((448 * x, 448 * y, 448 * x + 448, 448 * y + 448)) for y in range(rows) for x in range(columns)]
    if len(crops) > 1:
        crops.append(picture.resize((448, 448), Image.BICUBIC))
    plain = SiglipImageProcessor(do_resize=False, **IMAGENET)
    return plain(images=crops, return_tensors="np")["pixel_values"]


def export(words, images, device):
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "t.safetensors")
        report = json.loads(run(tool, "tensors", *images, *words, "-o", output, "--json", *(["--device", device] if device else [])))
        return load_file(output), report


def upright(path):
    """As the tool has it: transformers leaves the EXIF rotation to its caller."""
    return ImageOps.exif_transpose(Image.open(path))


def compare(what, got, expected, processor, share):
    """At most one uint8 step, in `share` of the values."""
    if got.shape != expected.shape:
        return checks.true(f"{what}: shape {got.shape}, expected {expected.shape}", False)
    step = 1 / 255 / min(np.atleast_1d(processor.image_std))
    error = np.abs(got - expected)
    near, equal = np.mean(error <= step * 1.001), np.mean(error == 0)
    return checks.true(f"{what}: {100 * equal:.3f} % equal, {100 * near:.3f} % within a step (>= {100 * share} %), "
                       f"max {error.max() / step:.2f} steps", near >= share)


def patches_of(values, patch):
    """[1, 3, H, W] -> [patches, 3 * patch^2], row-major."""
    rows, columns = values.shape[2] // patch, values.shape[3] // patch
    cut = values[0, :, :rows * patch, :columns * patch].reshape(3, rows, patch, columns, patch)
    return cut.transpose(1, 3, 0, 2, 4).reshape(rows * columns, -1)


def check_selection(what, tensors, report, budget):
    """Of one image: the subset is a subset, in order, within the budget, and of the best scores."""
    chosen, scores = tensors["selected_indices"], tensors["scores"]
    tokens = report["images"][0]["tokens"]
    full = tensors.get("pixel_values")
    if "image_grid_thw" in tensors:
        t, h, w = tensors["image_grid_thw"][0] // [1, 2, 2]
        rows = full.reshape(tokens, -1)
    else:
        side = full.shape[2]
        patch = int(round((tensors["selected_pixel_values"].shape[1] / 3) ** 0.5))
        t, h, w = 1, side // patch, side // patch
        rows = patches_of(full, patch)
    order = np.argsort(-scores, kind="stable")[:len(chosen)]
    ok = (len(chosen) == min(budget, tokens) and (np.diff(chosen) > 0).all() and t * h * w == tokens == len(scores)
          and np.array_equal(rows[chosen], tensors["selected_pixel_values"].reshape(len(chosen), -1))
          and np.array_equal(np.stack(np.unravel_index(chosen, (t, h, w)), 1), tensors["selected_positions"])
          and np.array_equal(scores[chosen], tensors["selected_scores"]) and np.array_equal(np.sort(order), chosen)
          and np.isfinite(scores).all() and not tensors["selected_images"].any())
    checks.true(f"{what}: {len(chosen)} of {tokens} tokens, their rows, places and scores", ok)


def check_photos(device):
    names = sorted(name for name in os.listdir(PHOTOS) if name.lower().endswith((".png", ".jpg")))
    for name in names:
        path = os.path.join(PHOTOS, name)
        picture = upright(path)
        small = picture.width * picture.height < 1000000
        for number, (model, options, processor) in enumerate(CASES):
            if device == "reference" and (not small or number > 4):
                continue
            budget = 16 + 7 * number
            tensors, report = export(["--for", model, "--budget", str(budget), *options], [path], device)
            # SigLIP's class converts nothing by default, and refuses what is not RGB.
            expected = processor(images=picture.convert("RGB") if model == "siglip" else picture, return_tensors="np")
            what = f"{device_name(device)}, {name}, {model} {' '.join(options)}"
            if "image_grid_thw" in expected:
                checks.true(f"{what}: grid {tensors['image_grid_thw'].tolist()}",
                            np.array_equal(tensors["image_grid_thw"], expected["image_grid_thw"]))
            compare(what, tensors["pixel_values"], expected["pixel_values"], processor,
                    0.999 if name.endswith(".png") else 0.99)
            check_selection(what, tensors, report, budget)


# ---- Modes, several images, videos ----

def check_modes(device):
    """Alpha is dropped, gray repeated, palettes looked up: as convert("RGB") does."""
    rng = np.random.default_rng(7)
    noise = rng.integers(0, 256, (61, 83, 4), np.uint8)
    wide = rng.integers(0, 65536, (40, 50), np.uint16)
    pictures = {
        "RGBA": Image.fromarray(noise), "RGB": Image.fromarray(noise[..., :3].copy()),
        "LA": Image.fromarray(noise[..., :2].copy(), "LA"), "L": Image.fromarray(noise[..., 0].copy()),
        "P": Image.fromarray(noise[..., :3].copy()).convert("P", palette=Image.Palette.ADAPTIVE),
        "1": Image.fromarray(noise[..., 0].copy()).convert("1"), "16-bit gray": Image.fromarray(wide),
        "16-bit gray, dark": Image.fromarray((wide >> 7).astype(np.uint16)),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, picture in pictures.items():
            path = os.path.join(folder, "p.png")
            picture.save(path)
            for model, options, processor in CASES[:4]:
                tensors, _ = export(["--for", model, *options], [path], device)
                expected = processor(images=Image.open(path).convert("RGB"), return_tensors="np")
                what = f"{device_name(device)}, mode {name}, {model}"
                checks.true(f"{what}: equal", np.array_equal(tensors["pixel_values"], expected["pixel_values"]))


def check_several(device):
    """Images after one another, as the processor has them, and a budget shared among them."""
    paths = [os.path.join(PHOTOS, name) for name in ("coffee.png", "chelsea.png", "camera.png")]
    tensors, report = export(["--for", "qwen2-vl", "--max-pixels", "100000", "--budget", "50"], paths, device)
    expected = qwen(max_pixels=100000)(images=[Image.open(path) for path in paths], return_tensors="np")
    what = f"{device_name(device)}, three images"
    checks.true(f"{what}: grids", np.array_equal(tensors["image_grid_thw"], expected["image_grid_thw"]))
    compare(what, tensors["pixel_values"], expected["pixel_values"], qwen(), 0.999)
    first = [image["first_token"] for image in report["images"]]
    chosen, of = tensors["selected_indices"], tensors["selected_images"]
    rows = tensors["pixel_values"].reshape(len(tensors["scores"]), -1)
    checks.true(f"{what}: 50 tokens, rising, in their images, with their rows", len(chosen) == 50 and (np.diff(chosen) > 0).all()
                and np.array_equal(np.searchsorted(first, chosen, "right") - 1, of) and len(set(of)) == 3
                and np.array_equal(rows[chosen], tensors["selected_pixel_values"].reshape(50, -1)))


def check_video(device):
    rng = np.random.default_rng(8)
    for count in (4, 3, 1):
        frames = [rng.integers(0, 256, (90, 130, 3), np.uint8) for _ in range(count)]
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.png") for i in range(count)]
            for frame, path in zip(frames, paths):
                Image.fromarray(frame).save(path)
            tensors, _ = export(["--for", "qwen2-vl", "--video", "--budget", "9"], paths, device)
        even = frames + frames[-1:] * (count % 2)  # 4.47 itself takes even numbers; later ones repeat the last frame
        expected = qwen(max_pixels=12845056)(images=None, videos=[even], return_tensors="np")
        what = f"{device_name(device)}, video of {count}"
        checks.true(f"{what}: equal", np.array_equal(tensors["pixel_values_videos"], expected["pixel_values_videos"])
                    and np.array_equal(tensors["video_grid_thw"], expected["video_grid_thw"]))
        t, h, w = tensors["video_grid_thw"][0] // [1, 2, 2]
        checks.true(f"{what}: positions", np.array_equal(tensors["selected_positions"], np.stack(
            np.unravel_index(tensors["selected_indices"], (t, h, w)), 1)) and len(tensors["selected_indices"]) == 9)


def check_video_qwen3(device):
    """Limits that count all frames: 130 x 90 pixels, and the size that 4.57.1 gives so many such frames."""
    rng = np.random.default_rng(10)
    for count, options, (width, height) in [(2, [], (128, 96)), (5, ["--max-pixels", "40000"], (96, 64)),
                                            (8, ["--min-pixels", "131072"], (160, 128))]:
        frames = [Image.fromarray(rng.integers(0, 256, (90, 130, 3), np.uint8)) for _ in range(count)]
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.png") for i in range(count)]
            for frame, path in zip(frames, paths):
                frame.save(path)
            tensors, _ = export(["--for", "qwen3-vl", "--video", *options], paths, device)
        if video_smart_resize is not None:
            limits = {"--min-pixels": 4096, "--max-pixels": 25165824, **({options[0]: int(options[1])} if options else {})}
            assert video_smart_resize(count, 90, 130, 2, 32, *limits.values()) == (height, width)
        even = [frame.resize((width, height), Image.BICUBIC) for frame in frames + frames[-1:] * (count % 2)]
        plain = qwen(patch_size=16, image_mean=HALVES, image_std=HALVES, do_resize=False)
        expected = plain(images=None, videos=[even], return_tensors="np")
        checks.true(f"{device_name(device)}, qwen3-vl, video of {count} {' '.join(options)}: {tensors['video_grid_thw'].tolist()}, equal",
                    np.array_equal(tensors["video_grid_thw"], expected["video_grid_thw"])
                    and np.array_equal(tensors["pixel_values_videos"], expected["pixel_values_videos"]))


def check_video_file(device):
    """A video file is its frames: as OpenCV decodes them, but for how either turns YUV to RGB."""
    rng = np.random.default_rng(9)
    with tempfile.TemporaryDirectory() as folder:
        video = os.path.join(folder, "v.avi")
        writer = cv2.VideoWriter(video, cv2.VideoWriter_fourcc(*"MJPG"), 10, (144, 96))
        for _ in range(6):  # a colour, lighter and darker: its chroma is the same everywhere, however it is enlarged
            light = cv2.resize(rng.uniform(-50, 50, (6, 9)), (144, 96))
            writer.write((rng.integers(60, 196, 3) + light[..., None]).astype(np.uint8))
        writer.release()
        reader = cv2.VideoCapture(video)
        paths = [os.path.join(folder, f"{i}.png") for i in range(6)]
        for path in paths:
            cv2.imwrite(path, reader.read()[1])
        for every in (1, 2):
            words = ["--for", "qwen2-vl", "--video", "--all"]
            got, _ = export([*words, "--every", str(every)], [video], device)
            expected, _ = export(words, paths[::every], device)
            error = np.abs(got["pixel_values_videos"] - expected["pixel_values_videos"])
            steps = error * 255 * 0.2686
            checks.true(f"{device_name(device)}, video file, every {every}: mean {steps.mean():.2f} steps, max {steps.max():.1f} "
                        f"(<= 1.5, <= 4), {got['video_grid_thw'].tolist()}",
                        np.array_equal(got["video_grid_thw"], expected["video_grid_thw"]) and steps.mean() <= 1.5 and steps.max() <= 4)


# ---- The strategy budget ----

def squeeze(picture, size):
    return np.asarray(picture.resize(size, Image.BICUBIC))


def rows_of(processor, pixels):
    """pixel_values and grid of a picture that has its size already."""
    made = processor(images=Image.fromarray(pixels), return_tensors="np", do_resize=False)
    return made["pixel_values"], made["image_grid_thw"][0]


def select(pixels, side, budget, device):
    """What `tvlm select` chooses of a processed picture: its thumbnail, the cells of it that are empty, and (level, row, column) of
    the tiles."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "processed.png")
        Image.fromarray(pixels).save(path)
        answer = json.loads(run(tool, "select", path, "--strategy", "budget", "--patch", str(side), "-k", str(budget),
                                *(["--device", device] if device else [])))
    thumbnail, empty = answer.get("thumbnail", [0, 0]), answer.get("empty", [])
    cells = thumbnail[0] * thumbnail[1] - len(empty)
    tiles = [(round(p["level"], 1), int(p["y"] // p["size"]), int(p["x"] // p["size"])) for p in answer["positions"][cells:]]
    return thumbnail, sorted(empty), sorted(tiles)


def levels_of(tensors):
    """Of each picture: 0, 1 or 2, or 0.4 at three quarters, 1.6 at a third, or -1 of a thumbnail, which is its image's first where that has several."""
    sources, scales = tensors["picture_source"], tensors["picture_scale"]
    first = np.concatenate([[True], sources[1:] != sources[:-1]])
    several = np.bincount(sources)[sources] > 1
    return np.where(first & several, -1, np.round(-np.log2(scales[:, 0].astype(np.float64)), 1))  # 0.4 of a float is another number


def pixels_of(picture, level, grid, full, side):
    """A picture of that many patches as Pillow makes it; its scale."""
    height, width = (int(n) * side // 2 for n in grid[1:])
    whole_h, whole_w = (int(n) * side // 2 for n in full[1:])
    if level <= 0:
        return squeeze(picture, (width, height)), (height / whole_h, width / whole_w)
    scale = 0.75 if level == 0.4 else 1 / 3 if level == 1.6 else 0.5**level
    size = round(whole_w * scale), round(whole_h * scale)  # of a third the nearest
    shrunk = squeeze(picture, size)
    padded = np.pad(shrunk, ((0, height - shrunk.shape[0]), (0, width - shrunk.shape[1]), (0, 0)), mode="edge")
    return padded, (size[1] / whole_h, size[0] / whole_w)


def check_budget(what, device, tensors, paths, processor, side, budget):
    """Each picture is the processor's of the resized image; rows, numbers and places go together; of one image the tokens are
    those that `tvlm select` finds."""
    levels, sources, grids = levels_of(tensors), tensors["picture_source"], tensors["image_grid_thw"]
    begins = np.concatenate([[0], np.cumsum(grids.prod(1))])
    chosen, of = tensors["selected_indices"], tensors["selected_images"]
    tokens = tensors["pixel_values"].reshape(len(tensors["scores"]), -1)
    pictures = [upright(path).convert("RGB") for path in paths]
    fulls = [int(np.flatnonzero((sources == i) & (levels == 0))[0]) for i in range(len(paths))]
    made = processor(images=pictures, return_tensors="np")
    rows = np.concatenate([tensors["pixel_values"][begins[i]:begins[i + 1]] for i in fulls])
    ok = (np.array_equal(rows, made["pixel_values"]) and np.array_equal(grids[fulls], made["image_grid_thw"]) and (np.diff(sources) >= 0).all()
          and (np.diff(chosen) > 0).all() and np.array_equal(tokens[chosen], tensors["selected_pixel_values"].reshape(len(chosen), -1))
          and np.array_equal(np.searchsorted(begins // 4, chosen, "right") - 1, of) and np.array_equal(tensors["scores"][chosen], tensors["selected_scores"]))
    for i, (level, source) in enumerate(zip(levels, sources)):
        pixels, scale = pixels_of(pictures[source], level, grids[i], grids[fulls[source]], side)
        expected, grid = rows_of(processor, pixels)
        places = np.unravel_index(chosen[of == i] - begins[i] // 4, tuple(grids[i] // [1, 2, 2]))
        ok = (ok and np.array_equal(tensors["pixel_values"][begins[i]:begins[i + 1]], expected) and np.array_equal(grid, grids[i])
              and np.allclose(tensors["picture_scale"][i], scale, rtol=1e-6) and np.array_equal(np.stack(places, 1), tensors["selected_positions"][of == i])
              and (level >= 0 or (of == i).sum() == (tensors["scores"][begins[i] // 4:begins[i + 1] // 4] == 1).sum()))
    checks.true(f"{what}: pictures of levels {levels.tolist()} are the processor's, {len(chosen)} tokens", ok and len(chosen) == min(budget, len(tokens)))
    if len(paths) == 1:
        thumbnail, empty, tiles = select(pixels_of(pictures[0], 0, grids[fulls[0]], grids[fulls[0]], side)[0], side, budget, device)
        got = sorted((levels[i], int(y), int(x)) for i, (_, y, x) in zip(of, tensors["selected_positions"]) if levels[i] >= 0)
        grid = (grids[0][:0:-1] // 2).tolist() if levels[0] < 0 else [0, 0]
        kept = {(int(x), int(y)) for i, (_, y, x) in zip(of, tensors["selected_positions"]) if levels[i] < 0}
        out = sorted([x, y] for y in range(grid[1]) for x in range(grid[0]) if (x, y) not in kept)
        checks.true(f"{what}: thumbnail {grid} without {len(out)} cells, and {len(tiles)} tiles, as select",
                    grid == thumbnail and out == empty and got == tiles)
    return levels.tolist()


def corner(width, height):
    """Gray, with a texture in the lower right corner that tiles of all levels are good for; 21 x 15 tokens end within a tile of
    level 1 and of level 2."""
    rng = np.random.default_rng(12)
    noise = Image.fromarray(rng.integers(0, 256, (height // 5 + 1, width // 5 + 1, 3), np.uint8))
    pixels = np.full((height, width, 3), 128, np.uint8)
    pixels[height // 2:, width * 2 // 3:] = np.asarray(noise.resize((width, height), Image.BICUBIC))[height // 2:, width * 2 // 3:]
    return Image.fromarray(pixels)


def check_budgets(device):
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        made = [os.path.join(folder, f"{i}.png") for i in range(2)]
        corner(588, 420).save(made[0])
        corner(56, 28).save(made[1])
        coffee, kodim = (os.path.join(PHOTOS, name) for name in ("coffee.png", "kodim05.png"))
        for paths, model, options, processor, side, budgets in (
                ([made[0]], "qwen2-vl", [], qwen(max_pixels=12845056), 28, (10, 20)),
                (made, "qwen2-vl", [], qwen(max_pixels=12845056), 28, (2, 21, 316)),
                ([coffee], "qwen2-vl", [], qwen(max_pixels=12845056), 28, (1, 60, 1000)),
                ([kodim], "qwen2.5-vl", ["--max-pixels", "200000"], qwen(max_pixels=200000), 28, (30, 90)),
                ([coffee], "qwen3-vl", [], qwen3(16777216), 32, (20, 60))):
            for budget in budgets if device != "reference" else budgets[:1]:
                words = ["--for", model, "--strategy", "budget", "--budget", str(budget), *options]
                what = f"{device_name(device)}, {' '.join(os.path.basename(path) for path in paths)}, {model}, budget {budget}"
                seen.update(check_budget(what, device, export(words, paths, device)[0], paths, processor, side, budget))
    wanted = {-1, 0, 1} if device == "reference" else {-1, 0, 1, 2}  # the reference gets the first of the budgets
    checks.true(f"{device_name(device)}: levels {sorted(seen)} were among them", wanted <= seen)


def check_crops(device):
    """All pixel_values; the thumbnail is always chosen, and the best crops."""
    names = ["coffee.png", "camera.png", "kodim05.png", "tulips_rgba.png"]
    paths = [os.path.join(PHOTOS, name) for name in names]
    pictures = [upright(path).convert("RGB") for path in paths]
    rng = np.random.default_rng(13)
    with tempfile.TemporaryDirectory() as folder:
        for height, width in ((300, 701), (1201, 333), (90, 91), (7, 900)):  # with odd rests, and one crop
            paths.append(os.path.join(folder, f"{height}.png"))
            pictures.append(Image.fromarray(rng.integers(0, 256, (height, width, 3), np.uint8)))
            pictures[-1].save(paths[-1])
        if device == "reference":
            paths, pictures = paths[-2:], pictures[-2:]
        values, image_sizes = onevision(pictures)
        for model, tokens, expected in (("llava-onevision", 729, values), ("internvl", 256, [internvl(picture) for picture in pictures])):
            what = f"{device_name(device)}, {model}"
            tensors, _ = export(["--for", model, "--all"], paths, device)
            joined = np.concatenate(expected)
            checks.true(f"{what}: {len(joined)} crops of {len(paths)} images, equal", np.array_equal(tensors["pixel_values"], joined)
                        and np.array_equal(tensors["selected_pixel_values"], joined))
            if model == "llava-onevision":
                checks.true(f"{what}: image_sizes", np.array_equal(tensors["image_sizes"], image_sizes))
            for path, crops in zip(paths, expected):
                for count in sorted({1, 2, 4, len(crops)} & set(range(1, len(crops) + 1))):
                    few, _ = export(["--for", model, "--budget", str(count * tokens + tokens - 1)], [path], device)
                    check_crop_choice(f"{what}, {os.path.basename(path)}, {count} of {len(crops)} crops", few, crops, count, model)


def check_crop_choice(what, tensors, crops, count, model):
    chosen, scores = tensors["selected_indices"], tensors["scores"]
    thumbnail = 0 if model == "llava-onevision" else len(crops) - 1
    own = np.delete(np.arange(len(crops)), thumbnail)
    best = own[np.argsort(-scores[own], kind="stable")[:count - 1]]
    picture = tensors["selected_images"]
    places = [np.unravel_index(n - (model == "llava-onevision"), tensors["crop_grids"][i]) if n != thumbnail else (0, 0, 0)
              for n, i in zip(chosen, picture)]
    gains = scores[own].sum()
    checks.true(f"{what}: the thumbnail and the best, with their values and places",
                np.array_equal(chosen, np.sort(np.append(best, thumbnail))) and np.array_equal(tensors["selected_pixel_values"], crops[chosen])
                and np.array_equal(tensors["selected_positions"], np.array(places)) and np.array_equal(tensors["selected_scores"], scores[chosen])
                and (abs(gains - 1) < 1e-5 or gains == 0) and scores[thumbnail] == 1 and (tensors["picture_source"] == 0).all())


check_sizes()
check_crop_sizes()
if video_smart_resize is not None:
    check_video_sizes()
for device in devices(tool):
    check_modes(device)
    check_video(device)
    check_video_qwen3(device)
    if cv2 is not None:
        check_video_file(device)
require_photos()
for device in devices(tool):
    check_several(device)
    check_budgets(device)
    check_crops(device)
    check_photos(device)
checks.done()
