#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""help.py [--build BUILD] [--device NAME] [--plot out/help.png] [--sheet FILE.png]: does choosing help?

For budgets of 5, 10, 25 and 50 % of an image's 16x16 patches, on the 12 photos of ../shared/data/boxes/coco_panoptic: what
the encoder gets to see of the things in them, and what of the image, from the patches of each way of choosing. Plain
downsampling to the same number of patches is what each has to beat.

What is measured
    area       share of the area of things that chosen squares cover, whatever their level (photos up to 50 % foreground)
    texels     share of the things' pixels that arrive as texels: a pixel under a square of side s counts (16 / s)^2, under
               several the finest, elsewhere 0. Downsampling to 10 % keeps 10 % of them, and covers 100 %.
    touched    share of small things (COCO's: less than 32^2 pixels; no crowds; of all photos together) of which squares cover
               at least half
    small      share of the small things' pixels that arrive as texels, mean over those things
    all        PSNR of the image painted from the patches, dB, of the squared error's mean over photos
    things     the same within the things: of the mean, so that photos whose things are seen to the bit do not outweigh the rest

Painting: each square from the 16x16 texels that `tvlm_patches_extract` returns for it, bilinearly, the finest on top. Under all of
them, where no square lies, is the whole image as one patch of 16x16 texels, free for everybody. "uniform" is the image
resized (area average) to as many whole patches as the budget allows, enlarged bilinearly as a whole, which is better than
patch by patch: a baseline gets its best.

"fitted" learns from the 11 other photos (tvlm fit). "overview .25" spends a quarter of the budget on large squares over the
whole image (tvlm select --overview), and the rest on the best cells by the default score, the fitted one or a question. The
second table asks for a class on the four photos of clip/painted, whose features were made from the true map: it shows what
perfect features would give, and its "things" are of that class.
"""
import argparse
import ctypes
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import Library, SKIPPED, need, np  # noqa: E402

cv2 = need("cv2")
DATA = os.path.join(os.environ.get("TVLM_SHARED") or os.path.join(HERE, "..", "..", "shared"), "data")
FOLDER = os.path.join(DATA, "boxes", "coco_panoptic")
PAINTED = os.path.join(DATA, "clip", "painted")
BUDGETS = [0.05, 0.10, 0.25, 0.50]
PATCH, SMALL, SEEDS = 16, 32 ** 2, 5
SHARES = ["0.1", "0.25", "0.5"]  # of an overview
DIVERSITIES = ["0.1", "0.25", "0.5", "1"]
MEASURES = ["area", "texels", "touched", "small", "all", "things"]
ERRORS = 4  # of those, from here on


class Record(ctypes.Structure):  # tvlm_position
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float), ("level", ctypes.c_float), ("score", ctypes.c_float),
                ("size", ctypes.c_float), ("column", ctypes.c_int32), ("row", ctypes.c_int32), ("reserved", ctypes.c_uint32 * 5)]


class Photo:
    """Pixels, what is where, and the library's stack of it."""

    def __init__(self, library, device, name, segments, things):
        self.name, self.library = name, library
        self.path = os.path.join(FOLDER, name + ".jpg")
        self.pixels = np.ascontiguousarray(cv2.imread(self.path)[..., ::-1])
        self.height, self.width = self.pixels.shape[:2]
        labels = cv2.imread(os.path.join(FOLDER, name + "_panoptic.png"), cv2.IMREAD_COLOR).astype(np.int64)
        self.ids = labels[..., 2] + 256 * labels[..., 1] + 65536 * labels[..., 0]
        self.segments = segments
        self.mask = np.isin(self.ids, [s["id"] for s in segments if things[s["category_id"]]["isthing"]])
        small = [s["id"] for s in segments if things[s["category_id"]]["isthing"] and not s["iscrowd"]]
        self.small = [mask for mask in (self.ids == number for number in small) if 0 < mask.sum() < SMALL]
        self.columns, self.rows = -(-self.width // PATCH), -(-self.height // PATCH)
        self.stack = library.stack(device, self.pixels, ["r", "g", "b"])
        self.gist = cv2.resize(cv2.resize(self.pixels.astype(np.float32), (PATCH, PATCH), interpolation=cv2.INTER_AREA),
                               (self.width, self.height), interpolation=cv2.INTER_LINEAR)

    def budget(self, share):
        return max(1, round(share * self.columns * self.rows))

    def cells(self, order, count):
        """Squares of cells by their number, as `tvlm select` places them."""
        row, column = np.divmod(np.asarray(order[:count]), self.columns)
        x = 0.5 * (column * PATCH + np.minimum((column + 1) * PATCH, self.width))
        y = 0.5 * (row * PATCH + np.minimum((row + 1) * PATCH, self.height))
        return np.stack([x, y, np.full(len(x), float(PATCH))], 1)

    def patches(self, squares):
        """[n][16][16][3] of squares x, y, side."""
        records = (Record * len(squares))(*[Record(x, y, 0, 0, side, -1, -1) for x, y, side in squares])
        out = np.zeros((len(squares), 3, PATCH, PATCH), np.float32)
        self.library.call("tvlm_patches_extract", self.stack, records, len(squares), None, ctypes.c_size_t(out.nbytes),
                          out.ctypes.data_as(ctypes.c_void_p))
        return np.ascontiguousarray(255 * out.transpose(0, 2, 3, 1))


class Seen:
    """What is left of a photo: texels for each pixel, and the picture painted."""

    def __init__(self, photo):
        self.photo = photo
        self.texels = np.zeros((photo.height, photo.width), np.float32)
        self.picture = photo.gist.copy()

    def uniform(self, count):
        """Resized to as many whole patches as there may be, at the photo's shape as nearly as they allow."""
        p = self.photo
        shapes = [(columns, max(1, int(columns * p.height / p.width + 0.5))) for columns in range(1, count + 1)]
        columns, rows = max((s for s in shapes if s[0] * s[1] <= count), key=lambda s: s[0] * s[1])
        size = min(columns * PATCH, p.width), min(rows * PATCH, p.height)
        small = cv2.resize(p.pixels.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        self.picture = cv2.resize(small, (p.width, p.height), interpolation=cv2.INTER_LINEAR)
        self.texels[:] = size[0] * size[1] / (p.width * p.height)
        return self

    def squares(self, squares):
        order = np.argsort(-squares[:, 2], kind="stable")
        patches = self.photo.patches(squares)
        for n in order:
            x, y, side = squares[n]
            # Pixels whose centres lie inside.
            x0, y0 = (max(0, int(np.ceil(v - side / 2 - 0.5))) for v in (x, y))
            x1 = min(self.photo.width, int(np.ceil(x + side / 2 - 0.5)))
            y1 = min(self.photo.height, int(np.ceil(y + side / 2 - 0.5)))
            if x1 <= x0 or y1 <= y0:
                continue
            at = [((np.arange(a, b) + 0.5 - c) / side + 0.5) * PATCH - 0.5 for a, b, c in ((x0, x1, x), (y0, y1, y))]
            grid = np.meshgrid(at[0].astype(np.float32), at[1].astype(np.float32))
            self.picture[y0:y1, x0:x1] = cv2.remap(patches[n], *grid, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            self.texels[y0:y1, x0:x1] = np.maximum(self.texels[y0:y1, x0:x1], min(1.0, (PATCH / side) ** 2))
        return self

    def figures(self, mask, small):
        """MEASURES; touched and small are lists, one entry for each small thing; the last two squared errors still; NaN where
        there is nothing to measure."""
        covered = self.texels > 0
        error = ((self.picture - self.photo.pixels) ** 2).mean(2)
        share = mask.mean()
        counts = 0 < share <= 0.5
        return [covered[mask].mean() if counts else np.nan, self.texels[mask].mean() if counts else np.nan,
                [float(covered[s].mean() >= 0.5) for s in small], [float(self.texels[s].mean()) for s in small],
                error.mean(), error[mask].mean() if mask.any() else np.nan]


# ---- Ways of choosing ----

def save_scorer(path, channels, weights):
    data = np.asarray(weights, "<f4").tobytes()
    header = json.dumps({"__metadata__": {"format": "texturevlm.scorer", "channels": ",".join(channels)},
                         "weights": {"dtype": "F32", "shape": [len(channels)], "data_offsets": [0, len(data)]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


class Tool:
    def __init__(self, options, folder):
        self.tvlm = os.path.join(options.build, "tools", "tvlm")
        self.device = ["--device", options.device] if options.device else []
        self.folder = folder
        save_scorer(self.saliency, ["saliency"], [1.0])

    @property
    def saliency(self):
        return os.path.join(self.folder, "saliency.safetensors")

    def scorer(self, photo):
        return os.path.join(self.folder, photo + ".safetensors")

    def run(self, *words):
        return subprocess.run([self.tvlm, *words, *self.device], check=True, stdout=subprocess.PIPE).stdout

    def fit(self, photo, others):
        self.run("fit", *others, "--coco", os.path.join(FOLDER, "panoptic_val2017.json"), "--held-out", "0", "--json", "-o",
                 self.scorer(photo))

    def select(self, photo, count, *words):
        """The squares of the positions that `tvlm select` prints."""
        found = json.loads(self.run("select", photo.path, "-k", str(count), *words))["positions"]
        assert 0 < len(found) <= count
        return np.array([[p["x"], p["y"], p["size"]] for p in found])


def from_centre(photo):
    squares = photo.cells(np.arange(photo.columns * photo.rows), photo.columns * photo.rows)
    return np.argsort(np.hypot(squares[:, 0] - photo.width / 2, squares[:, 1] - photo.height / 2), kind="stable")


def ways(tool, photo, count):
    """Name and what is seen; random in several draws."""
    select = lambda *words: Seen(photo).squares(tool.select(photo, count, *words))
    fitted = ["--scorer", tool.scorer(photo.name)]
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(photo.columns * photo.rows)
        yield "random", Seen(photo).squares(photo.cells(order, count))
    yield "uniform", Seen(photo).uniform(count)
    yield "centre", Seen(photo).squares(photo.cells(from_centre(photo), count))
    yield "saliency", select("--scorer", tool.saliency)
    yield "default", select()
    yield "fitted", select(*fitted)
    yield "foveated", select("--strategy", "foveated")
    yield "quadtree", select("--strategy", "quadtree")
    yield "quadtree fitted", select("--strategy", "quadtree", *fitted)
    yield "quadtree 1,0,0", select("--strategy", "quadtree", "--weights", "1,0,0")
    for share in SHARES:
        yield f"overview {share[1:]}", select("--overview", share)
    yield "overview .25 fitted", select("--overview", "0.25", *fitted)
    for diversity in DIVERSITIES:
        yield f"diversity {diversity}", select("--diversity", diversity)
    yield "div. .25 overview .25", select("--diversity", "0.25", "--overview", "0.25")


def questions(tool, photo, count, query):
    """The same for a question about a class."""
    asked = ["--features", os.path.join(PAINTED, photo.name + ".npy"), "--feature-patch", "16", "--query", query]
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(photo.columns * photo.rows)
        yield "random", Seen(photo).squares(photo.cells(order, count))
    yield "uniform", Seen(photo).uniform(count)
    yield "default, not asked", Seen(photo).squares(tool.select(photo, count))
    for name, words in (("query", []), ("query foveated", ["--strategy", "foveated"]),
                        ("query quadtree", ["--strategy", "quadtree"])):
        yield name, Seen(photo).squares(tool.select(photo, count, *asked, *words))
    for share in SHARES:
        yield f"overview {share[1:]} query", Seen(photo).squares(tool.select(photo, count, *asked, "--overview", share))
    for diversity in DIVERSITIES:
        yield f"diversity {diversity}", Seen(photo).squares(tool.select(photo, count, *asked, "--diversity", diversity))


# ---- Figures ----

class Table:
    """Per way and budget, rows of figures; their mean: small things pooled, all else over photos."""

    def __init__(self):
        self.rows = {}

    def add(self, name, budget, photo, figures):
        self.rows.setdefault(name, {}).setdefault(budget, {}).setdefault(photo, []).append(figures)

    def mean(self, name, budget):
        """Shares in percent, errors in decibels."""
        photos = self.rows[name][budget].values()
        out = []
        for m, measure in enumerate(MEASURES):
            if measure in ("touched", "small"):
                each = [value for rows in photos for figures in rows for value in figures[m]]
            else:
                each = [np.mean([figures[m] for figures in rows]) for rows in photos]
            mean = np.nanmean(each) if np.isfinite(each).any() else np.nan
            out.append(10 * np.log10(255 ** 2 / mean) if m >= ERRORS else 100 * mean)
        return out

    def wins(self, name, budget, m):
        """Photos in which it is better than uniform, of how many."""
        mine, plain = self.rows[name][budget], self.rows["uniform"][budget]
        pairs = [(np.mean([f[m] for f in mine[photo]]), plain[photo][0][m]) for photo in mine]
        pairs = [pair for pair in pairs if np.isfinite(pair).all()]
        return f"{sum((a < b) if m >= ERRORS else (a > b) for a, b in pairs)} of {len(pairs)}"

    def print(self, unit):
        for budget in BUDGETS:
            print(f"\n{100 * budget:.0f} % of the patches".ljust(22) + "".join(f"{name:>9s}" for name in MEASURES) +
                  f"   {unit} better than uniform in texels, all, things")
            for name in self.rows:
                mean = self.mean(name, budget)
                line = f"{name:20s}" + "".join(f"{v:8.1f}%" for v in mean[:ERRORS]) + "".join(f"{v:9.2f}" for v in mean[ERRORS:])
                if name != "uniform":
                    line += "  " + "".join(f"{self.wins(name, budget, m):>11s}" for m in (1, 4, 5))
                print(line)


def plot(tables, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no plot: python3-matplotlib is not installed")
        return
    figure, axes = plt.subplots(2, 4, figsize=(19, 9.5))
    shown = [(0, "area covered, %"), (1, "pixels that arrive as texels, %"), (4, "PSNR of the image, dB"), (5, "PSNR within, dB")]
    for line, (title, table) in zip(axes, tables):
        for axis, (m, label) in zip(line, shown):
            for n, name in enumerate(table.rows):
                style = dict(color="black", linewidth=3) if name == "uniform" else dict(
                    color=plt.get_cmap("tab20")(n % 20), linestyle="--" if name.startswith("overview") else "-", marker="o", markersize=4)
                axis.plot([100 * b for b in BUDGETS], [table.mean(name, b)[m] for b in BUDGETS], label=name, **style)
            axis.set_xlabel("patches, % of all")
            axis.set_title(f"{title}: {label}", fontsize=9)
            axis.grid(alpha=0.3)
        line[-1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    print(f"plot: {path}")


def sheet(seen, path):
    """What is seen of one photo by each way, with its name."""
    tiles = []
    for name, s in seen.items():
        tile = np.clip(s.picture[..., ::-1], 0, 255).astype(np.uint8).copy()
        tile = cv2.resize(tile, (480, round(480 * tile.shape[0] / tile.shape[1])), interpolation=cv2.INTER_AREA)
        cv2.putText(tile, name, (8, 24), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 0, 0), 4, cv2.LINE_AA)
        cv2.putText(tile, name, (8, 24), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (255, 255, 255), 1, cv2.LINE_AA)
        tiles.append(tile)
    tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % 4)
    cv2.imwrite(path, np.vstack([np.hstack(tiles[i:i + 4]) for i in range(0, len(tiles), 4)]))
    print(f"sheet: {path}")


def measure_things(tool, photos, options):
    table = Table()
    for photo in photos:
        tool.fit(photo.name, [other.path for other in photos if other is not photo])
        for budget in BUDGETS:
            seen = {}
            for name, s in ways(tool, photo, photo.budget(budget)):
                table.add(name, budget, photo.name, s.figures(photo.mask, photo.small))
                seen[name] = s
            if options.sheet and budget == 0.10 and photo.name == options.photo:
                sheet(seen, options.sheet)
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return table


def measure_questions(tool, photos, names):
    with open(os.path.join(PAINTED, "coco_rows.json")) as file:
        rows = json.load(file)["rows"]
    words = np.load(os.path.join(PAINTED, "..", "detic_coco_clip_a+cname.npy"))
    query, table, asked = os.path.join(tool.folder, "query.npy"), Table(), 0
    for photo in photos:
        if not os.path.exists(os.path.join(PAINTED, photo.name + ".npy")):
            continue
        for category in sorted({s["category_id"] for s in photo.segments}):
            mask = np.isin(photo.ids, [s["id"] for s in photo.segments if s["category_id"] == category])
            if names[category] not in rows or not mask.any():
                continue
            np.save(query, words[rows.index(names[category])].astype(np.float32))
            small = [s for s in photo.small if mask[s].all()]
            asked += 1
            for budget in BUDGETS:
                for name, s in questions(tool, photo, photo.budget(budget), query):
                    table.add(name, budget, f"{photo.name} {category}", s.figures(mask, small))
    return table, asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--device")
    parser.add_argument("--plot", metavar="FILE.png", default=os.path.join(HERE, "..", "out", "help.png"))
    parser.add_argument("--sheet", metavar="FILE.png", help="what is seen of one photo at 10 %%, by each way")
    parser.add_argument("--photo", default="000000001268", help="of the sheet")
    options = parser.parse_args()
    if not os.path.isdir(FOLDER):
        print(f"SKIPPED: no {FOLDER}")
        sys.exit(SKIPPED)
    with open(os.path.join(FOLDER, "panoptic_val2017.json")) as file:
        described = json.load(file)
    things = {category["id"]: category for category in described["categories"]}
    segments = {os.path.splitext(entry["file_name"])[0]: entry["segments_info"] for entry in described["annotations"]}
    library = Library(os.path.join(options.build, "lib", "libtexturevlm.so"))
    device = library.open(options.device)
    stems = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(FOLDER, "*.jpg")))
    photos = [Photo(library, device, stem, segments[stem], things) for stem in stems]
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(options, folder)
        table = measure_things(tool, photos, options)
        counted = sum(0 < photo.mask.mean() <= 0.5 for photo in photos)
        print(f"{len(photos)} photos ({counted} for area and texels), {sum(len(photo.small) for photo in photos)} small things")
        table.print("photos")
        asked, count = measure_questions(tool, photos, {number: entry["name"] for number, entry in things.items()})
    if count:
        print(f"\nasked for a class: {count} questions; things are those of the class; means over questions")
        asked.print("questions")
    for photo in photos:
        library.destroy_stack(photo.stack)
    library.close(device)
    os.makedirs(os.path.dirname(os.path.abspath(options.plot)), exist_ok=True)
    plot([("things", table)] + ([("a class", asked)] if count else []), options.plot)


main()
