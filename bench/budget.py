#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model gets to see of an image for 2, 5, 10, 25 and 50 % of its patches, by each way of spending them.

    bench/budget.py [--tvlm TVLM] [--device NAME] [--set NAME]... [--way NAME]... [--plot FILE] [--sheet FILE] [--json FILE]
    bench/budget.py --from FILE.json [--from FILE.json]... [--plot FILE]
    bench/budget.py --floors

The sets `held` and `variants` are pages by which no constant was chosen (pages_held.py).

Plain downsampling to the same number of patches is what each way has to beat: the image resized to as many whole patches as
there may be, at the best of six grids, by area or Lanczos, whichever errs less, enlarged as a whole by Lanczos. Everything else is
drawn with the same means (drawing.py); what names no picture of the whole image gets one of one patch, free of charge.
Images are those of images.py; where the data is not there only the pages are measured.

What is measured
    all      PSNR over the image, dB; the mean over images, the mean of what it is above downsampling, the shares of images that are
             better and worse by more than 0.005 dB, and the worst
    things   the same within the things (COCO's masks)
    ssim     structural similarity of luma, and what it is above downsampling
    texels   share of the things' pixels that arrive as texels: a pixel under a square of side s counts (16 / s)^2
    words    of the words that Tesseract (or another of --readers) reads in the full image how many it reads in their place (pages:
             of those drawn; photos: whatever it reads). Of `pages` each page counts the same, of `held` and `variants` each word
    faces    of the faces that OpenCV's cascades find in the full image how many they find again; people: by its HOG detector
    seen, alike    of the things that are outlined, by size; street words; tiles on texture and on things: see recognition.py

Of budgets, and of a smaller picture, there are then the differences to downsampling with 95 % intervals (intervals.py), and the
worst image of each measure.

Below the tables stand what an emphasis costs, what a budget with a question shows beside the query alone, and what a list of a
budget loses that is cut at half.

--from: tables and a plot of figures that --json has written, of several runs together. --json is written after each image.
--floors: whether the main figures of the tables have fallen (ci/full): what FLOORS and WORST name, and no more, is measured. Exit: 0; 1
when one has, or where there is no image of a name that --image gives; 77 without OpenCV or Pillow, and where --floors has not looked at
all sets that were asked for, since their data or fonts are not there.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import SKIPPED, need, np  # noqa: E402

need("cv2", "PIL")
import measures  # noqa: E402
import recognition  # noqa: E402
from drawing import PATCH, Drawing  # noqa: E402
from images import DATA, FOLDERS, SETS, Images  # noqa: E402
from shared import write_json  # noqa: E402
from tables import ALONE, AS_MANY, CUT, HIDDEN, MEASURES, PLAIN, SHOWN, Table, plot, sheet  # noqa: E402

SHARES = [0.02, 0.05, 0.10, 0.25, 0.50]
# The whole image in a smaller picture, both sides scaled alike: (side of its patches, whether blank ones are left out). Measured where
# --way names them, but for the first.
SMALLER = {"smaller, blank left out": (PATCH, True), "smaller": (PATCH, False), "smaller, 28 pixels": (28, False),
           "28, blank left out": (28, True)}
# PixelPrune's rule (drawing.py), and its threshold.
RULES = {"pixelprune, T 0": 0.0, "pixelprune, T .02": 0.02}
SEEDS = 3  # of random selections
STRATEGIES = {
    "grid": ["--strategy", "grid"],
    "grid, overview .25": ["--overview", "0.25"],
    "quadtree": ["--strategy", "quadtree"],
    "quadtree 1,0,0": ["--strategy", "quadtree", "--weights", "1,0,0"],
    "foveated": ["--strategy", "foveated"],
    "budget": ["--strategy", "budget"],
    "budget, emphasis": ["--strategy", "budget", "--emphasis"],
}
# Measured where --way names them.
DIVERSITIES = ["0.1", "0.25", "0.5", "1"]
FURTHER = {**{f"grid, overview {share}": ["--overview", f"0{share}"] for share in (".1", ".5")},
           **{f"grid, diversity {d}": ["--strategy", "grid", "--diversity", d] for d in DIVERSITIES}}
QUESTIONS = {"query": ["--strategy", "grid"], "query, overview .25": ["--overview", "0.25"], "budget, query": ["--strategy", "budget"]}
FURTHER_QUESTIONS = {f"query, diversity {d}": ["--strategy", "grid", "--diversity", d] for d in DIVERSITIES}
# What --floors demands: {(set, way, measure, over which way): least mean margins at SHARES}; of words, least percentages, over
# None. And of how many images of a set, where not of all.
FEW = {"photos": 4}
ANY = -np.inf
FLOORS = {
    ("coco", "budget", "all", PLAIN): (0.12, 0.27, 0.35, 1.1, 3.4),
    ("coco", "budget", "things", PLAIN): (0.33, 0.43, 0.33, 0.9, 4.9),
    ("coco", "budget, emphasis", "things", PLAIN): (0.42, 0.53, 0.55, 1.3, 5.2),
    ("coco", "budget, emphasis", "all", "budget"): (-0.2, -0.2, -0.2, -0.2, -0.2),
    ("photos", "budget", "all", PLAIN): (0.4, 0.68, 0.78, 1.2, 2.0),
    ("small", "budget", "all", PLAIN): (0.24, 0.29, 0.34, 0.95, 2.7),
    ("pages", "budget", "words", None): (13, 55, 88, 98.5, 99.5),
    ("held", "budget", "words", None): (9, 38, 78, 97.5, ANY),
    ("questions", "budget, query", "things", PLAIN): (3.2, 3.5, 7, 6.7, 13),
    ("questions", "budget, query", "all", PLAIN): (-0.6, -0.6, -0.4, 0.2, 2.1),
}
# How much worse than downsampling any image may be, dB over the image.
WORST = {("coco", "budget"): -0.1, ("small", "budget"): -0.1, ("photos", "budget"): -0.1}


class Tool:
    def __init__(self, options):
        self.options = options

    def answer(self, item, count, words):
        asked = ["--features", item.question[0], "--feature-patch", "16", "--query", item.question[1]] if item.question else []
        device = ["--device", self.options.device] if self.options.device else []
        line = [self.options.tvlm, "select", item.path, "-k", str(count), *words, *asked, *device]
        return json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)

    def select(self, item, count, words):
        """The thumbnail's grid, (0, 0) where the strategy has none, the squares (x, y, side) on it, and its cells (column, row) that
        are left out."""
        found = self.answer(item, count, words)
        grid, empty = tuple(found.get("thumbnail", (0, 0))), [tuple(cell) for cell in found.get("empty", ())]
        positions, cells = found["positions"], grid[0] * grid[1] - len(empty)
        if not max(cells, 1) <= len(positions) <= count:
            raise SystemExit(f"{item.name}: {len(positions)} positions for {count} patches, {cells} of them the thumbnail's")
        return grid, [(p["x"], p["y"], p["size"]) for p in positions[cells:]], empty


def things_of(item, picture):
    return float(((picture - item.pixels) ** 2).mean(2)[item.mask].mean())


class Measured:
    """One image: what is known of it in full, and the figures of a picture of it."""

    def __init__(self, item, floors, readers):
        self.item, self.drawing, full = item, Drawing(item.pixels), item.pixels
        wanted_here = {measure for group, _, measure, _ in FLOORS if group == item.group} if floors else set(MEASURES)
        photo = item.group in ("coco", "photos", "further")
        self.words = self.faces = self.people = None
        self.reading = {"language": item.language, "dpi": item.dpi, "readers": readers}
        if "words" in wanted_here and measures.can_read(readers, item.language) and (item.words or item.group == "photos"):
            known = item.words or [(text, x - 20, y - 10, x + 20, y + 10) for reader in readers
                                   for text, x, y in measures.read_words(full, reader=reader) if len(text) > 2 and text.isalnum()]
            read = measures.words_read(known, full, **self.reading)
            self.words = [word for word, there in zip(known, read) if there] or None
        if "faces" in wanted_here and photo and max(full.shape) <= 2048:  # the detectors take minutes on larger ones
            self.faces, self.people = measures.find_faces(full) or None, measures.find_people(full) or None
        self.recognised = recognition.Known(item, wanted_here)

    def figures(self, picture, texels):
        item = self.item
        out = {"all": measures.decibels(self.drawing.error(picture)), "ssim": measures.ssim(picture, item.pixels),
               **self.recognised.figures(picture, self.drawing.squares)}
        if item.mask is not None:
            out["things"] = measures.decibels(things_of(item, picture))
            out["texels"] = 100 * float(texels[item.mask].mean())
        if self.words:
            out["words"] = int(measures.words_read(self.words, picture, **self.reading).sum()), len(self.words)
        if self.faces:
            out["faces"] = measures.found_again(self.faces, measures.find_faces(picture)), len(self.faces)
        if self.people:
            out["people"] = measures.found_again(self.people, measures.find_people(picture)), len(self.people)
        return out


def random_squares(drawing, count, seed):
    order = np.random.default_rng(seed).permutation(drawing.columns * drawing.rows)[:count]
    row, column = np.divmod(order, drawing.columns)
    return [(PATCH * (c + 0.5), PATCH * (r + 0.5), float(PATCH)) for c, r in zip(column, row)]


def cut_at_half(grid, squares, empty):
    """The first half of the positions, but never less than the thumbnail, and how many those are."""
    cells = grid[0] * grid[1] - len(empty)
    count = max((cells + len(squares)) // 2, cells)
    return squares[:count - cells], count


def with_floors(groups):
    return [group for group in groups if any(where == group for where, *_ in FLOORS)]


def wanted(way, options, group):
    """Whether a way is measured on that set. --floors takes those that it looks at."""
    if options.floors:
        return any(way in (of, over) for where, of, _, over in FLOORS if where == group)
    return options.way is None or way in options.way


def smaller(drawing, share, side, without_blank):
    """A picture of so many patches of that side as are that share of the image's."""
    count = max(1, round(share * -(-drawing.width // side) * -(-drawing.height // side)))
    grid, empty = drawing.smaller_without_blank(count, side) if without_blank else (drawing.smaller(count, side), ())
    return drawing.shown(grid, [], empty, side)


def ways(measured, tool, share, options):
    """(name, patches, picture, texels) of every way."""
    drawing, item = measured.drawing, measured.item
    count = max(1, round(share * drawing.columns * drawing.rows))
    picture, grid = drawing.downsampled(count)
    yield PLAIN, *drawing.shown(grid, [])
    for name, (side, without_blank) in list(SMALLER.items())[:None if options.way else 1]:
        if wanted(name, options, item.group):
            yield name, *smaller(drawing, share, side, without_blank)
    for name, threshold in RULES.items():
        if wanted(name, options, item.group):
            yield name, *drawing.without_repeated(count, threshold)
    usual, further = (QUESTIONS, FURTHER_QUESTIONS) if item.question else (STRATEGIES, FURTHER)
    strategies = {**usual, **(further if options.way else {})}
    for seed in range(1 if item.words else SEEDS) if wanted("random", options, item.group) else ():
        yield "random", *drawing.shown((1, 1), random_squares(drawing, count, seed))
    for name, words in strategies.items():
        if not wanted(name, options, item.group):
            continue
        grid, squares, empty = tool.select(item, count, words + [options.emphasis] * (words[-1] == "--emphasis"))
        grid = grid if grid[0] else (1, 1)
        yield name, *drawing.shown(grid, squares, empty)
        if name == "budget" and wanted(CUT, options, item.group) and not item.words:
            kept, count_cut = cut_at_half(grid, squares, empty)
            yield CUT, *drawing.shown(grid, kept, empty)
            yield ALONE, *drawing.shown(grid, [], empty)
            again, squares, empty = tool.select(item, count_cut, words)
            yield AS_MANY, *drawing.shown(again, squares, empty)


def measure(item, options):
    """[(way, share, figures)], and the pictures of the image that the sheet shows."""
    measured, tool, rows = Measured(item, options.floors, options.readers), Tool(options), []
    pictures = [("full image", item.pixels)] if options.sheet and item.name in options.sheet_images else []
    for share in options.share:
        for name, picture, texels in ways(measured, tool, share, options):
            rows.append((name, share, measured.figures(picture, texels)))
            if pictures and share == options.sheet_share and name not in HIDDEN and name not in [n for n, _ in pictures]:
                pictures.append((name, picture.astype(np.uint8)))
    return item.group, item.name, rows, pictures


def gather(options, folder):
    """A table for each set, and the sheet's pictures."""
    tables, pictures, images = {}, {}, Images(folder)
    groups = []
    for group in options.set:
        lacking = [folder for folder in FOLDERS.get(group, ()) if not os.path.isdir(os.path.join(DATA, folder))]
        groups += [] if lacking else [group]
        if lacking:
            print(f"no {group}: there is no {os.path.join(DATA, lacking[0])}")
    if options.floors:
        groups = with_floors(groups)
    unknown = set(options.image or ())
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        waiting = []
        for group in groups:
            items = images.questions() if group == "questions" else images.of(group)
            few = FEW.get(group, options.images) if options.floors else options.images
            items = [item for item in items if options.image is None or item.name in options.image]
            unknown -= {item.name for item in items}
            waiting += [pool.submit(measure, item, options) for item in items[:few]]
        if unknown:
            pool.shutdown(cancel_futures=True)
            raise SystemExit(f"budget.py: no image of these sets is called {', '.join(sorted(unknown))}")
        for job in concurrent.futures.as_completed(waiting):
            group, name, rows, seen = job.result()
            table = tables.setdefault(group, Table(group))
            for way, share, figures in rows:
                table.add(way, share, name, figures)
            pictures.update({name: seen} if seen else {})
            write(tables, options.json)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {group: tables[group] for group in groups if group in tables}, {name: pictures[name] for name in sorted(pictures)}


def write(tables, path):
    if path:
        write_json(path, {group: table.rows for group, table in tables.items()})


def read(paths):
    """The tables that `write` has written, put together."""
    tables = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            groups = json.load(file)
        for group, ways_there in groups.items():
            table = tables.setdefault(group, Table(group))
            for way, shares in ways_there.items():
                for share, images in shares.items():
                    table.rows.setdefault(way, {}).setdefault(float(share), {}).update(images)
    return {group: tables[group] for group in SETS + ["questions"] if group in tables}


def fallen(tables):
    """Lines that say which figure fell."""
    for (group, way, measured, over), floors in FLOORS.items():
        for share, floor in zip(SHARES, floors) if group in tables else ():
            found = tables[group].margin(way, share, measured, over)
            if not found >= floor:
                yield f"{group}, {way}, {measured} at {100 * share:.0f} %: {found:.4f}, which was at least {floor}"
    for (group, way), floor in WORST.items():
        for share in SHARES if group in tables else ():
            margins = tables[group].margins(way, share, "all")
            worst = min(margins, key=margins.get)
            if not margins[worst] >= floor:
                yield f"{group}, {way} at {100 * share:.0f} %: {worst} is {-margins[worst]:.3f} dB worse than downsampling"


def readers_of(text):
    readers = text.split(",")
    if not set(readers) <= set(measures.READERS):
        raise argparse.ArgumentTypeError(f"readers are {', '.join(measures.READERS)}")
    return readers


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tvlm", default=os.path.join(HERE, "..", "build", "tools", "tvlm"))
    parser.add_argument("--device")
    parser.add_argument("--set", action="append", choices=SETS + ["questions"], help="default: all")
    parser.add_argument("--share", action="append", type=float, help="of the patches; default: 0.02, 0.05, 0.1, 0.25, 0.5")
    parser.add_argument("--way", action="append", choices=["random", *SMALLER, *RULES, CUT, *STRATEGIES, *FURTHER, *QUESTIONS, *FURTHER_QUESTIONS],
                        help="beside downsampling; default: all but further shares of an overview, and diversity")
    parser.add_argument("--images", type=int, help="at most so many of each set")
    parser.add_argument("--image", action="append", metavar="NAME", help="only those")
    parser.add_argument("--emphasis", default="4", help="of the row \"budget, emphasis\", as --emphasis takes it (default: 4)")
    parser.add_argument("--readers", default=["tesseract"], type=readers_of, metavar="READER,...",
                        help="a word is read if any of these reads it in its place: tesseract (the default), twice (Tesseract, "
                             "the picture enlarged twice), ocrad (English only)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--plot", metavar="FILE.png")
    parser.add_argument("--sheet", metavar="FILE.png", help="what is seen of --sheet-images at --sheet-share, by each way; or .jpg")
    parser.add_argument("--sheet-images", default="000000000785,letter", type=lambda text: text.split(","))
    parser.add_argument("--sheet-share", default=0.10, type=float)
    parser.add_argument("--json", metavar="FILE", help="writes all figures of all images")
    parser.add_argument("--from", dest="figures", action="append", metavar="FILE.json", help="only tables and a plot of these figures")
    parser.add_argument("--floors", action="store_true", help="only whether the budget is as good as it was")
    options = parser.parse_args()
    options.set = options.set or SETS + ["questions"]
    options.share = SHARES if options.floors else options.share or SHARES
    return options


def main():
    options = parse()
    if options.figures:
        tables, pictures = read(options.figures), {}
    else:
        with tempfile.TemporaryDirectory() as folder:
            tables, pictures = gather(options, folder)
    for table in tables.values():
        table.print(options.share)
    if options.plot:
        plot({group: table for group, table in tables.items() if group in SHOWN}, options.share, options.plot)
    if options.sheet:
        sheet(pictures, options.sheet)
    fell = list(fallen(tables)) if options.floors else []
    print("\n".join(fell))
    unseen = [group for group in with_floors(options.set) if group not in tables] if options.floors else []
    if unseen:
        print(f"not looked at: {', '.join(unseen)}")
    return 1 if fell else SKIPPED if unseen else 0


if __name__ == "__main__":
    sys.exit(main())
