# SPDX-License-Identifier: Apache-2.0
"""pages_held.py: pages for budget.py that choose nothing.

Which pages choose constants of the library, and which stand in tables
    pages.py        the set `pages`, any seed: constants may be chosen by it; what it gives says nothing of other pages
    pages_held.py   the sets `held` and `variants`, seed 0: in tables, and in floors. No constant is chosen by them
The two share no layout, no family of fonts, and of text no words but function words, "invoice" and "position", which are drawn once or
twice. What they share is the reader.

held        nine pages at 150 dots an inch, of 7 to 24 points: a letter, a paper of two columns, a report with a table, a newspaper of four
            columns, a bill, a form, a dense page of 8 points, a slide, a window of a mail program
variants    some of them at 100 and at 300 dots an inch; with light and dark exchanged; scanned (turned by up to a degree, blurred, with
            noise, JPEG of quality 60); and a page each in Russian, Greek and simplified Chinese

Needs the Debian packages that ci/setup --full names. As a program it writes them into a folder: `bench/pages_held.py FOLDER [SEED]`.
"""
import os
import random
import sys

import text_held as text
from sheet_held import BLACK, WHITE, Sheet

GREY = (95, 95, 95)


def draw_letter(rng, dpi):
    """A letterhead in the middle, the address right, justified paragraphs with an indent, a footer."""
    page = Sheet("letter", dpi)
    page.line(297, 58, text.title(rng, 3), "biolinum bold", 17, (120, 30, 30), "centre")
    page.line(297, 74, f"{rng.randint(11, 99)} {rng.choice(text.PLACES)} Lane", "biolinum", 9, (120, 30, 30), "centre")
    page.rule(60, 84, 535, 84, (120, 30, 30), 1)
    y = 118
    for line in (rng.choice(text.PEOPLE), text.title(rng, 2), rng.choice(text.PLACES)):
        page.line(360, y, line, "gentium", 11)
        y += 15
    y = page.flow((72, y + 20, 523, 800), ["Dear", rng.choice(text.PEOPLE) + ","], "gentium", 11)[0]
    for _ in range(5):
        y, _ = page.flow((72, y + 8, 523, 730), text.paragraph(rng, 64), "gentium", 11, 1.32, justify=True, indent=18)
    page.line(330, y + 34, "with kind regards", "gentium", 11)
    page.line(330, y + 66, rng.choice(text.PEOPLE), "gentium", 11)
    page.line(297, 812, " ".join(rng.sample(text.NOUNS, 9)), "biolinum", 7.5, GREY, "centre")
    return page


def draw_paper(rng, dpi):
    """A title over both columns, authors, an abstract, numbered sections, footnotes."""
    page = Sheet("paper", dpi)
    page.line(297, 70, "The " + text.title(rng, 5), "garamond bold", 18, align="centre")
    page.line(297, 92, " and ".join(rng.sample(text.PEOPLE, 2)), "garamond", 11, align="centre")
    y, _ = page.flow((95, 104, 500, 180), ["Abstract:"] + text.paragraph(rng, 62), "garamond", 9, 1.15, justify=True)
    top = y + 22
    for left in (56, 306):
        y, number = top, 1 if left == 56 else 4
        while y < 640:
            page.line(left, y + 12, f"{number} " + text.title(rng, 3), "garamond bold", 11)
            y, _ = page.flow((left, y + 16, left + 233, 690), text.paragraph(rng, 88), "garamond", 10, 1.2, justify=True, indent=10)
            y, number = y + 14, number + 1
        page.rule(left, 722, left + 90, 722)
        page.flow((left, 726, left + 233, 790), text.paragraph(rng, 22), "garamond", 8, 1.15)
    page.line(297, 815, str(rng.randint(100, 900)), "garamond", 9, align="centre")
    return page


def draw_report(rng, dpi):
    """Headings in colour at the left, text beside them, a table with figures and shaded rows."""
    page = Sheet("report", dpi)
    page.box(0, 0, 595.3, 26, fill=(24, 84, 96))
    page.line(40, 18, text.title(rng, 4), "carlito", 10, WHITE)
    page.line(40, 72, text.title(rng, 4), "carlito bold", 22, (24, 84, 96))
    y = 92
    for _ in range(2):
        page.line(40, y + 14, rng.choice(text.NOUNS).capitalize(), "carlito bold", 12, (24, 84, 96))
        y, _ = page.flow((150, y + 2, 555, 800), text.paragraph(rng, 75), "carlito", 10.5, 1.3)
        y += 16
    for column, name in enumerate(rng.sample(text.NOUNS, 5)):
        page.line(44 + 102 * column + 92 * (column > 0), y + 12, name.capitalize(), "carlito bold", 9.5, align="right" if column else "left")
    page.rule(40, y + 18, 555, y + 18, width=1.2)
    for row in range(11):
        y += 19
        if row % 2:
            page.box(40, y, 555, y + 19, fill=(228, 238, 238))
        page.line(44, y + 13, " ".join(rng.sample(text.NOUNS, 2)), "carlito", 9.5)
        for column in range(1, 5):
            page.line(136 + 102 * column, y + 13, f"{rng.randint(10, 99)},{rng.randint(100, 999)}", "carlito", 9.5, align="right")
    y += 32
    while y < 680:
        page.line(40, y + 14, rng.choice(text.NOUNS).capitalize(), "carlito bold", 12, (24, 84, 96))
        y, _ = page.flow((150, y + 2, 555, 790), text.paragraph(rng, 60), "carlito", 10.5, 1.3)
        y += 16
    page.line(555, 822, f"page {rng.randint(11, 98)}", "carlito", 8, GREY, "right")
    return page


def draw_newspaper(rng, dpi):
    """A name over all, four narrow columns with rules between them, headlines of two sizes, a picture."""
    page = Sheet("newspaper", dpi)
    page.line(297, 56, f"{rng.choice(text.PLACES)} Chronicle", "old bold", 30, align="centre")
    page.rule(36, 66, 559, 66, width=1.5)
    page.line(36, 76, f"{rng.randint(11, 28)} October {rng.randint(1950, 1999)}", "schoolbook", 7.5)
    page.line(559, 76, f"{rng.choice(text.PLACES)} edition", "schoolbook", 7.5, align="right")
    page.rule(36, 81, 559, 81)
    page.line(36, 112, text.title(rng, 4), "schoolbook bold", 21)
    for n in range(120):  # the picture: stripes of several greys, no words
        page.rule(302, 260 + n, 559, 260 + n, tuple([60 + (n * n // 7 + 37 * (n // 9)) % 170] * 3), 1.2)
    for column in range(4):
        left, y = 36 + 133 * column, 122
        if column:
            page.rule(left - 6, 124, left - 6, 800, GREY)
        while y < 770:
            if column > 1 and 180 < y < 392:
                y = 392
            limit = 250 if column > 1 and y < 250 else 796
            if y > 130:
                page.flow((left, y, left + 121, y + 30), text.title(rng, 3).split(), "schoolbook bold", 11, 1.1)
                y += 28
            y, _ = page.flow((left, y, left + 121, limit), text.paragraph(rng, 52), "schoolbook", 9, 1.18, justify=True, indent=8)
            y += 14
    return page


def draw_bill(rng, dpi):
    """A band of colour, the payer right, positions without vertical lines, sums in a box below, a strip to cut off."""
    page = Sheet("bill", dpi)
    page.box(0, 30, 210, 96, fill=(200, 86, 30))
    page.line(24, 72, rng.choice(text.PLACES) + " " + rng.choice(text.NOUNS).capitalize(), "lato bold", 14, WHITE)
    for n, line in enumerate((rng.choice(text.PEOPLE), text.title(rng, 2), f"{rng.randint(11, 99)} {rng.choice(text.PLACES)}")):
        page.line(571, 50 + 14 * n, line, "lato", 9.5, align="right")
    page.line(24, 140, f"Bill {rng.randint(1000, 9999)} dated {rng.randint(11, 28)} October {rng.randint(2001, 2025)}", "lato bold", 12)
    page.flow((24, 150, 420, 200), text.paragraph(rng, 20), "lato", 8.5, 1.3, GREY)
    y = 216
    for x, name, align in ((24, "Position", "left"), (90, "Service", "left"), (440, "Units", "right"), (571, "Cost", "right")):
        page.line(x, y, name, "lato bold", 9, (200, 86, 30), align)
    page.rule(24, y + 6, 571, y + 6, (200, 86, 30), 1)
    for n in range(20):
        y += 20
        page.line(24, y, f"{rng.choice('ABCDEFGH')}{rng.randint(100, 999)}", "lato", 9)
        page.line(90, y, " ".join(rng.sample(text.ADJECTIVES, 1) + rng.sample(text.NOUNS, 3)), "lato", 9)
        page.line(440, y, str(rng.randint(2, 60)), "lato", 9, align="right")
        page.line(571, y, f"{rng.randint(1, 9)},{rng.randint(100, 999)}.{rng.randint(10, 99)}", "lato", 9, align="right")
        page.rule(24, y + 6, 571, y + 6, (225, 225, 225))
    page.box(380, y + 18, 571, y + 70, outline=(200, 86, 30), width=1)
    for n, name in enumerate(("Sum", "Tax", "Payable")):
        page.line(390, y + 33 + 15 * n, name, "lato bold", 9)
        page.line(563, y + 33 + 15 * n, f"{rng.randint(10, 99)},{rng.randint(100, 999)}.{rng.randint(10, 99)}", "lato", 9, align="right")
    for x in range(24, 571, 8):
        page.rule(x, 748, x + 4, 748, GREY)
    page.flow((24, 758, 571, 830), text.paragraph(rng, 48), "lato", 7.5, 1.3)
    return page


def draw_form(rng, dpi):
    """Numbered questions beside lines to write on, entries as typed, boxes to tick."""
    page = Sheet("form", dpi, paper=(252, 250, 238))
    page.line(40, 56, "Claim " + str(rng.randint(100, 999)), "open bold", 19, (30, 30, 90))
    page.line(555, 56, text.title(rng, 3), "open", 9, align="right")
    page.flow((40, 66, 555, 110), text.paragraph(rng, 30), "open", 7.5, 1.35, GREY)
    y = 132
    for part in range(3):
        page.box(40, y, 555, y + 17, fill=(205, 210, 232))
        page.line(46, y + 12, f"{'ABC'[part]} {text.title(rng, 3)}", "open bold", 9.5, (30, 30, 90))
        y += 17
        for _ in range(6):
            y += 25
            page.line(46, y, f"{rng.randint(11, 99)} {rng.choice(text.ADJECTIVES)} {rng.choice(text.NOUNS)} {rng.choice(text.NOUNS)}", "open", 8)
            page.rule(250, y + 3, 555, y + 3, (60, 60, 60))
            if rng.random() < 0.85:
                page.line(258, y, " ".join(rng.sample(text.NOUNS, rng.randint(2, 4))), "inconsolata", 11, (20, 20, 60))
        for n in range(4):
            x = 46 + 130 * n
            page.box(x, y + 15, x + 9, y + 24, outline=BLACK)
            if rng.random() < 0.4:
                page.rule(x + 1, y + 16, x + 8, y + 23, width=1.2)
                page.rule(x + 8, y + 16, x + 1, y + 23, width=1.2)
            page.line(x + 15, y + 23, rng.choice(text.ADJECTIVES) + " " + rng.choice(text.NOUNS), "open", 8)
        y += 40
    page.flow((40, y, 555, 830), text.paragraph(rng, 40), "open", 7, 1.35, GREY)
    return page


def draw_dense(rng, dpi):
    """Terms in 8 points with little leading, clauses with numbers."""
    page = Sheet("dense", dpi)
    page.line(50, 62, f"Statute of the {text.title(rng, 3)}", "palladio bold", 11)
    y, number = 70, 1
    while y < 610:
        y, _ = page.flow((50, y, 545, 640), [f"{number}."] + text.paragraph(rng, 54), "palladio", 8, 1.12, justify=True)
        y, number = y + 2.5, number + 1
    return page


def draw_slide(rng, dpi):
    """Light; a heading with a bar beside it, two columns of points, a box in colour, a foot."""
    page = Sheet("slide", dpi, (800, 450), (250, 248, 243))
    page.box(36, 34, 42, 84, fill=(180, 40, 70))
    page.line(56, 70, text.title(rng, 4), "cantarell bold", 26, (40, 40, 48))
    for column in range(2):
        left, y = 56 + 370 * column, 124
        page.line(left, y, text.title(rng, 2), "cantarell bold", 15, (180, 40, 70))
        for _ in range(4):
            y, _ = page.flow((left, y + 8, left + 310, 400), [rng.choice(("–", "+"))] + text.clause(rng).split(), "cantarell", 13, 1.25,
                             (40, 40, 48))
    page.box(56, 356, 744, 408, fill=(58, 70, 100))
    page.flow((72, 364, 728, 404), text.sentence(rng).split(), "cantarell", 14, 1.25, WHITE)
    page.line(744, 436, f"{rng.choice(text.PLACES)} {rng.randint(2001, 2025)}", "cantarell", 8.5, GREY, "right")
    return page


def draw_window(rng, dpi):
    """A mail program: a dark list of folders, a list of messages with the chosen one in colour, the message with quoted lines."""
    page = Sheet("window", dpi, (768, 470), WHITE)
    page.box(0, 0, 768, 22, fill=(64, 64, 70))
    x = 12
    for _ in range(6):
        x = page.line(x, 15, rng.choice(text.NOUNS).capitalize(), "carlito", 8.5, (235, 235, 235)) + 16
    page.box(0, 22, 120, 470, fill=(38, 42, 54))
    for n in range(15):
        page.line(14, 44 + 19 * n, rng.choice(text.NOUNS).capitalize(), "carlito", 8.5, (200, 205, 220))
        if n % 3 == 0:
            page.line(108, 44 + 19 * n, str(rng.randint(11, 99)), "carlito", 8, (240, 180, 90), "right")
    for n in range(11):
        y = 24 + 40 * n
        if n == 2:
            page.box(121, y, 330, y + 39, fill=(36, 110, 190))
        ink, pale = (WHITE, (215, 230, 250)) if n == 2 else ((20, 20, 20), (110, 110, 110))
        page.line(130, y + 14, rng.choice(text.PEOPLE), "carlito bold", 9, ink)
        page.line(322, y + 14, f"{rng.randint(10, 23)}:{rng.randint(10, 59)}", "carlito", 7.5, pale, "right")
        page.line(130, y + 28, " ".join(rng.sample(text.ADJECTIVES, 2) + rng.sample(text.NOUNS, 3)), "carlito", 8, pale)
        page.rule(121, y + 39.5, 330, y + 39.5, (222, 222, 222))
    page.rule(330, 22, 330, 470, (190, 190, 190))
    page.line(346, 46, text.title(rng, 4), "carlito bold", 13)
    page.line(346, 60, f"from {rng.choice(text.PEOPLE)} to {rng.choice(text.PEOPLE)}", "carlito", 8, GREY)
    y = 70
    for _ in range(3):
        y, _ = page.flow((346, y, 750, 400), text.paragraph(rng, 46), "carlito", 9.5, 1.35, (25, 25, 25))
        y += 8
    page.rule(348, y + 2, 348, 448, (36, 110, 190), 1.5)
    page.flow((358, y, 750, 446), text.paragraph(rng, 90), "inconsolata", 8.5, 1.3, (80, 80, 80))
    return page


def draw_script(rng, dpi, language, lines, face, points):
    """A leaflet in another language: a line above all, two paragraphs over the width, then two columns."""
    page = Sheet(language, dpi, language=language)
    words = lambda count: " ".join(text.sentences_of(lines, rng, count)).split()
    page.flow((70, 50, 525, 100), words(1)[:4], face + " bold", 20, 1.2)
    y = 100
    for _ in range(2):
        y, _ = page.flow((70, y, 525, 380), words(4), face, points + 1, 1.35)
        y += 12
    for left in (70, 308):
        below = y
        for _ in range(3):
            below, _ = page.flow((left, below, left + 217, 800), words(4), face, points, 1.25, justify=True, indent=9)
            below += 9
    return page


def draw_chinese(rng, dpi):
    page = Sheet("chi_sim", dpi, language="chi_sim")
    sentences = lambda count: "".join(text.sentences_of(text.CHINESE, rng, count))
    page.glyphs((70, 50, 525, 100), text.CHINESE[0][6:14], "chinese", 18, 1.4)
    y = 90
    for points in (12, 10.5, 9, 10.5):
        y = page.glyphs((70, y, 525, 800), sentences(8), "chinese", points, 1.55) + 16
    return page


DRAWN = (draw_letter, draw_paper, draw_report, draw_newspaper, draw_bill, draw_form, draw_dense, draw_slide, draw_window)


def drawn(draw, dpi=150, seed=0, *further):
    """The same page, but for what rounding does to where lines end, at any number of dots an inch."""
    return draw(random.Random(f"held {seed} {draw.__name__} {further[:1]}"), dpi, *further)


def draw_held(seed=0):
    return [drawn(draw, 150, seed) for draw in DRAWN]


def draw_variants(seed=0):
    """Generates them, each when it is asked for: those of 300 dots an inch are large."""
    for draw, dpi in ((draw_letter, 100), (draw_report, 100), (draw_paper, 300), (draw_dense, 300)):
        page = drawn(draw, dpi, seed)
        yield page.called(f"{page.name} at {dpi}")
    for draw in (draw_letter, draw_slide, draw_window):
        page = drawn(draw, 150, seed).inverted()
        yield page.called(f"{page.name}, inverted")
    for draw, degrees in ((draw_letter, 0.6), (draw_paper, -0.4), (draw_report, 1.0), (draw_bill, -0.8)):
        page = drawn(draw, 150, seed).scanned(degrees, seed)
        yield page.called(f"{page.name}, scanned")
    yield drawn(draw_script, 150, seed, "rus", text.RUSSIAN, "libertine", 9.5).called("Russian")
    yield drawn(draw_script, 150, seed, "ell", text.GREEK, "didot", 10).called("Greek")
    yield drawn(draw_chinese, 150, seed).called("Chinese")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: bench/pages_held.py FOLDER [SEED]")
    os.makedirs(sys.argv[1], exist_ok=True)
    chosen = int(sys.argv[2]) if len(sys.argv) == 3 else 0
    for group, pages in (("held", draw_held(chosen)), ("variants", draw_variants(chosen))):
        for sheet in pages:
            sheet.picture.save(os.path.join(sys.argv[1], f"{group}-{sheet.name}.png".replace(" ", "_").replace(",", "")))
            print(f"{group}: {sheet.name}: {sheet.picture.width}x{sheet.picture.height}, {len(sheet.words)} words")
