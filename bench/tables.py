# SPDX-License-Identifier: Apache-2.0
"""tables.py: the figures of budget.py as tables, as a plot, and its pictures on a sheet."""
import cv2
import intervals
import numpy as np
import recognition
from shared import replacing

MEASURES = ["all", "things", "ssim", "texels", "words", "faces", "people", *recognition.MEASURES]
COUNTED = ("words", "faces", "people", *recognition.THINGS, "street words")  # (found, of how many)
PERCENT = ("texels", *recognition.TILES)
TESTED = ("budget", "smaller")  # what the names of ways begin with whose differences get intervals
PLAIN = "downsampling"
CUT, ALONE, AS_MANY = "budget, cut at half", "its thumbnail alone", "a budget of as many"
HIDDEN = (CUT, ALONE, AS_MANY)  # of which only a line tells
TIE = {"all": 0.005, "things": 0.005, "ssim": 0.0005}
SHOWN = {"coco": ["all", "things", "ssim"], "photos": ["all", "ssim", "words"], "small": ["all", "ssim"], "further": ["all", "ssim"], "pages": ["words", "all"],
         "questions": ["things", "all"]}
NAMES = {"all": "PSNR over downsampling's, dB", "things": "the same within things, dB", "ssim": "SSIM over downsampling's",
         "words": "words read, %"}


class Table:
    """rows[way][share][image]: figures, a list for several draws."""

    def __init__(self, group):
        self.group, self.rows = group, {}

    def add(self, way, share, image, figures):
        self.rows.setdefault(way, {}).setdefault(share, {}).setdefault(image, []).append(figures)

    def each(self, way, share, measure):
        """{image: figure}, a share in percent for what is counted."""
        out = {}
        for image, draws in self.rows[way][share].items():
            values = [draw[measure] for draw in draws if measure in draw]
            if values and measure in COUNTED:
                values = [100 * found / of for found, of in values]
            if values:
                out[image] = float(np.mean(values))
        return out

    def mean(self, way, share, measure):
        """Over images; of what is counted the images are pooled, but for the words of pages, each of which counts the same."""
        if measure in COUNTED and self.group != "pages":
            pairs = [draw[measure] for draws in self.rows[way][share].values() for draw in draws if measure in draw]
            return 100 * sum(found for found, _ in pairs) / sum(of for _, of in pairs) if pairs else np.nan
        each = list(self.each(way, share, measure).values())
        return float(np.mean(each)) if each else np.nan

    def margins(self, way, share, measure, over=PLAIN):
        mine, plain = self.each(way, share, measure), self.each(over, share, measure)
        return {image: mine[image] - plain[image] for image in mine}

    def margin(self, way, share, measure, over=PLAIN):
        """The mean margin over another way; over None the mean itself."""
        return self.mean(way, share, measure) if over is None else float(np.mean(list(self.margins(way, share, measure, over).values())))

    def counts(self, way, share, measure):
        """{image: (found, of how many)}, all draws together."""
        out = {}
        for image, draws in self.rows[way][share].items():
            pairs = [draw[measure] for draw in draws if measure in draw]
            if pairs:
                out[image] = tuple(np.sum(pairs, 0))
        return out

    def difference(self, way, share, measure, over=PLAIN):
        """The margin over another way and how sure it is (intervals.py), or None where nothing is to be compared. Each page counts
        the same, whatever its words."""
        if measure in COUNTED and self.group != "pages":
            mine, other = (self.counts(name, share, measure) for name in (way, over))
            found = intervals.of_counts(mine, other) if mine and other else None
            if found:
                found.graded = measure in recognition.GRADED
            return found
        mine, other = (self.each(name, share, measure) for name in (way, over))
        less = measure == recognition.TILES[0]  # of which less is better
        found = intervals.of_means(mine, other, less) if mine and other else None
        if found and measure in COUNTED:
            found.count = sum(of for _, of in self.counts(over, share, measure).values())
        return found

    def shown(self):
        return [way for way in self.rows if way not in HIDDEN]

    def there(self, way, share):
        return share in self.rows.get(way, {})

    def print(self, shares):
        shares = [share for share in shares if self.there(PLAIN, share)]
        images = len(next(iter(self.rows[PLAIN].values())))
        print(f"\n==== {self.group}: {images} images")
        there = [m for m in MEASURES if any(m in draw for draws in self.rows[PLAIN][shares[0]].values() for draw in draws)]
        for measure in there:
            counted = measure in COUNTED + PERCENT
            digits = 4 if measure == "ssim" else 1 if counted else 2
            print(f"\n{self.group}: {measure}" + (", %" if counted else ": mean, over downsampling (better/worse %, worst)"))
            print(" " * 22 + "".join(f"{100 * share:.0f} %".rjust(9 if counted else 33) for share in shares))
            for way in self.shown():
                cells = []
                for share in shares:
                    if not self.there(way, share):
                        cells.append(" " * (9 if counted else 33))
                        continue
                    mean = self.mean(way, share, measure)
                    margins = np.array(list(self.margins(way, share, measure).values()))
                    if counted or way == PLAIN:
                        cells.append(f"{mean:.{digits}f}".rjust(9) + " " * (0 if counted else 24))
                    else:
                        better, worse = (100 * np.mean(sign * margins > TIE[measure]) for sign in (1, -1))
                        cells.append(f"{mean:9.{digits}f} {margins.mean():+8.{digits}f} ({better:3.0f}/{worse:2.0f}, {margins.min():+.{max(2, digits - 1)}f})"
                                     .rjust(33))
                print(f"{way:22s}" + "".join(cells))
        self.print_differences(shares, there)
        self.print_between("what the emphasis brings", "budget, emphasis", "budget", shares, there)
        self.print_between("a budget with the question over the query alone", "budget, query", "query", shares, there)
        self.print_cuts(shares)

    def print_differences(self, shares, measures):
        """What the ways that are asked for have above downsampling, with 95 % intervals, and the worst image of each."""
        tested = [way for way in self.shown() if way.startswith(TESTED)]
        found = {(way, measure, share): self.difference(way, share, measure)
                 for way in tested for measure in measures for share in shares if self.there(way, share)}
        found = {key: difference for key, difference in found.items() if difference}
        if not found:
            return
        print(f"\n{self.group}: above downsampling [95 % interval over images], of how many, and the worst image of all shares;\n"
              f'points of what is counted; "few": too few to tell whether they are {intervals.ENOUGH} points worse')
        for measure in measures:
            for way in tested:
                of = {share: found[way, measure, share] for share in shares if (way, measure, share) in found}
                if of:
                    print(f"{measure + ', ' + way:36s}" + "".join(cell(of.get(share), measure).rjust(29) for share in shares) +
                          f"   {max(d.count for d in of.values())}; {worst_of(of)}")

    def print_between(self, what, way, over, shares, measures):
        """The mean margins of a way over one that is not downsampling."""
        shares = [share for share in shares if self.there(way, share) and self.there(over, share)]
        for measure in (m for m in ("all", "things", "ssim") if m in measures and shares):
            found = " ".join(f"{self.margin(way, share, measure, over):+.{4 if measure == 'ssim' else 2}f}" for share in shares)
            print(f"{what}, {measure}, at {', '.join(f'{100 * share:.0f}' for share in shares)} %: {found}")

    def print_cuts(self, shares):
        """What a list that is cut at half loses beside one made for as many patches, and whether it is ever worse than the
        thumbnail alone."""
        shares = [share for share in shares if self.there(CUT, share)]
        if shares:
            lost = [np.mean(list(self.margins(AS_MANY, share, "all", CUT).values())) for share in shares]
            gained = [min(self.margins(CUT, share, "all", ALONE).values()) for share in shares]
            print("\na budget's list cut at half: dB below one made for as many, mean: " + " ".join(f"{v:.2f}" for v in lost) +
                  "; above its thumbnail alone, least: " + " ".join(f"{v:.2f}" for v in gained))


def cell(difference, measure):
    counted = measure in COUNTED
    return intervals.line(difference, counted, 3 if measure == "ssim" else 1 if measure in COUNTED + PERCENT else 2) if difference else ""


def worst_of(differences):
    """{share: difference}: where an image has least above downsampling."""
    share = min(differences, key=lambda share: differences[share].least)
    return f"{differences[share].worst} at {100 * share:.0f} % {differences[share].least:+.3g}"


# The colour of each way, the same in each part of the plot; of other ways the colours that follow.
COLOURS = ["budget", "grid", "random", "quadtree", "foveated", "grid, overview .25", "budget, emphasis", "quadtree 1,0,0"]
ALIKE = {"budget, query": "budget", "query": "grid", "query, overview .25": "grid, overview .25"}


def colour_of(way, others):
    way = ALIKE.get(way, way)
    if way not in COLOURS and way not in others:
        others.append(way)
    return f"C{COLOURS.index(way) if way in COLOURS else len(COLOURS) + others.index(way)}"


def plot(tables, shares, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no plot: python3-matplotlib is not installed")
        return
    shown = [(group, measure) for group in tables for measure in SHOWN[group] if measure in ("all", "things", "words")
             and (group != "photos" or measure == "all")]
    figure, axes = plt.subplots(2, -(-len(shown) // 2), figsize=(5.2 * -(-len(shown) // 2), 8.4), squeeze=False)
    others, named = [], set()
    for axis, (group, measure) in zip(axes.flat, shown):
        for way in tables[group].shown():
            at = [share for share in shares if tables[group].there(way, share)]
            figures = [tables[group].margin(way, share, measure, None if measure == "words" else PLAIN) for share in at]
            style = dict(color="black", linewidth=2) if way == PLAIN else dict(color=colour_of(way, others), marker="o", markersize=4,
                                                                             linewidth=2.5 if way.startswith("budget") else 1)
            axis.plot([100 * share for share in at], figures, label=way, **style)
        axis.set_xscale("log")
        axis.set_xticks([100 * share for share in shares], [f"{100 * share:g}" for share in shares])
        axis.set_xlabel("patches, % of all")
        axis.set_title(f"{group}: {NAMES[measure]}", fontsize=10)
        if measure != "words":
            axis.set_ylim(max(-5, axis.get_ylim()[0]), None)
        axis.grid(alpha=0.3)
        if not set(tables[group].shown()) <= named:
            axis.legend(fontsize=8)
            named.update(tables[group].shown())
    for axis in list(axes.flat)[len(shown):]:
        axis.set_visible(False)
    figure.tight_layout()
    with replacing(path) as part:
        figure.savefig(part, dpi=80)
    print(f"plot: {path}")


def part(picture, width):
    """A picture of that width in the shape 4 : 3: all of it, of a page a part as large as it is."""
    height = 3 * width // 4
    if picture.shape[0] > 2 * height or picture.shape[1] > 2 * width:
        top, left = picture.shape[0] // 6, picture.shape[1] // 12
        return np.ascontiguousarray(picture[top:top + height, left:left + width, ::-1])
    return cv2.resize(np.ascontiguousarray(picture[..., ::-1]), (width, height), interpolation=cv2.INTER_AREA)


def sheet(pictures, path, width=320, across=5):
    """What is seen of each image by each way, with the way's name."""
    lines = []
    for seen in pictures.values():
        tiles = []
        for name, picture in seen:
            tile = part(picture, width)
            for ink, thick in (((0, 0, 0), 4), ((255, 255, 255), 1)):
                cv2.putText(tile, name, (8, 22), cv2.FONT_HERSHEY_SIMPLEX, 0.6, ink, thick, cv2.LINE_AA)
            tiles.append(tile)
        tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % across)
        lines += [np.hstack(tiles[i:i + across]) for i in range(0, len(tiles), across)]
    if lines:
        with replacing(path) as beside:
            cv2.imwrite(beside, np.vstack(lines), [cv2.IMWRITE_JPEG_QUALITY, 88])
        print(f"sheet: {path}")
