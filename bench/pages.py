# SPDX-License-Identifier: Apache-2.0
"""pages.py: pages for budget.py, drawn here so that every word on them, and its place, is known.

`draw_pages(seed)` returns a letter, a page of two columns, an invoice with a table, a form, a chart, a slide and a
screenshot, as they look at 150 dots an inch: text of 8 to 24 points in Debian's fonts (fonts-liberation, fonts-dejavu-core).
The same seed draws the same pages. As a program it writes them into a folder: `bench/pages.py FOLDER [SEED]`.
"""
import os
import random
import sys

from PIL import Image, ImageDraw, ImageFont

DPI = 150
WIDTH, HEIGHT = 1240, 1754  # A4
FONTS = "/usr/share/fonts/truetype"
SERIF = "liberation/LiberationSerif-Regular.ttf"
SANS = "liberation/LiberationSans-Regular.ttf"
SANS_BOLD = "liberation/LiberationSans-Bold.ttf"
DEJAVU = "dejavu/DejaVuSans.ttf"
MONO = "dejavu/DejaVuSansMono.ttf"
WORDS = """
about above across action after again against almost along already also always among amount animal another answer
appear area around autumn away bank basket because become before began behind believe below beside better between beyond
bird black blue board body book border both bottom bridge bright bring brother brown build business butter button
camera capital captain carry castle catch centre certain chair chance change chapter check cheese children circle city
clean clear climb clock close cloud coast cold colour column common company complete consider contain continue copper
corner cotton country course cover cross current dance danger dark daughter decide deep degree deliver desert design
different difficult dinner direct distance doctor dollar double drawing dream driver during early earth eastern effect eight
electric else engine enough entire equal evening every exact example except expect express family famous farm
father favour fear feather field fight figure final finger finish first flower follow foot forest forget forward found
fresh friend front fruit garden general gentle giant glass gold grand grass great green ground group grow guess
guide hammer happen harbour heart heavy height history hold hospital hour house however hundred hunter idea imagine
important inch include increase indicate industry insect inside instead instrument interest island join journey judge kitchen
knife known ladder language large laugh learn leather leave letter level library light listen little locate long
lower machine magnet manner market master material matter measure meeting melody member metal middle might mile million
mineral minute mirror modern moment money month morning mother motion mountain music narrow nation natural nature nearly
needle never night noise northern nothing notice number object observe ocean offer office often opposite orange order
organ original other paint paper parent party pattern people perhaps period person picture piece planet plant plate
please plenty pocket point position possible potato pound power practice prepare present pretty print probable problem process
produce proper protect provide purple quarter question quick quiet rather reach ready reason record region remember
repeat reply report require result return rhythm river road rocket rough round sail salt sample school science season second
section select sentence separate serious seven several shape share sharp shell shine shore short should shoulder silver
similar simple single sister size sleep small smoke snow soldier solution south special speech spell spend spring
square stand station steam steel still stone storm straight strange stream street string strong student subject success sudden
sugar suggest summer supply support surface surprise symbol system table teach temple thank their thick thing third
thought thousand through ticket together tomorrow toward train travel triangle trouble under until usual valley value various
village visit voice wagon watch water weather western wheel where whether while white window winter wonder wooden work
world write yellow yesterday young
""".split()


class Page:
    """A picture (RGB, PIL) and the words on it: (text, left, top, right, bottom) in pixels."""

    def __init__(self, name, size=(WIDTH, HEIGHT), paper=(255, 255, 255)):
        self.name, self.words = name, []
        self.picture = Image.new("RGB", size, paper)
        self.draw = ImageDraw.Draw(self.picture)

    def font(self, face, points):
        return ImageFont.truetype(os.path.join(FONTS, face), round(points * DPI / 72))

    def text(self, x, y, line, font, ink=(0, 0, 0)):
        """Writes a line from its left end, its top at y. Returns its right end."""
        space = font.getlength(" ")
        for word in line.split():
            self.draw.text((x, y), word, fill=ink, font=font)
            self.words.append((word, *self.draw.textbbox((x, y), word, font=font)))
            x += font.getlength(word) + space
        return x - space

    def right(self, x, y, line, font, ink=(0, 0, 0)):
        """The same from its right end."""
        self.text(x - font.getlength(line), y, line, font, ink)

    def paragraph(self, box, words, font, spacing=1.25, ink=(0, 0, 0)):
        """Fills a box with as many of the words as it takes, left aligned. Returns the y after it."""
        left, y, right, bottom = box
        step = round(font.size * spacing)
        line = []
        for word in words:
            if line and left + font.getlength(" ".join(line + [word])) > right:
                self.text(left, y, " ".join(line), font, ink)
                line, y = [], y + step
                if y + step > bottom:
                    return y
            line.append(word)
        self.text(left, y, " ".join(line), font, ink)
        return y + step


def sentences(rng, count):
    """That many words, with capitals and full stops."""
    out, start = [], True
    for n in range(count):
        word = rng.choice(WORDS)
        stop = n == count - 1 or (not start and rng.random() < 0.12)
        out.append((word.capitalize() if start else word) + ("." if stop else ""))
        start = stop
    return out


def amount(rng, most=900):
    return f"{rng.randint(1, most)}.{rng.randint(10, 99)}"


def draw_letter(rng):
    page = Page("letter")
    body, head = page.font(SERIF, 12), page.font(SERIF, 16)
    page.text(150, 130, " ".join(rng.choice(WORDS).capitalize() for _ in range(3)), head)
    y = 190
    for _ in range(3):
        page.text(150, y, " ".join(rng.choice(WORDS).capitalize() for _ in range(2)) + f" {rng.randint(10, 99)}", body)
        y += 32
    page.right(WIDTH - 150, y + 30, f"{rng.randint(10, 28)} March {rng.randint(1985, 2024)}", body)
    y += 110
    for _ in range(4):
        y = page.paragraph((150, y, WIDTH - 150, HEIGHT - 300), sentences(rng, rng.randint(55, 75)), body) + 28
    page.text(150, y + 20, "Yours sincerely", body)
    return page


def draw_columns(rng):
    page = Page("columns")
    title, body, small = page.font(SERIF, 20), page.font(SERIF, 10), page.font(SERIF, 8)
    page.text(110, 100, " ".join(rng.choice(WORDS).capitalize() for _ in range(5)), title)
    for column in range(2):
        left = 110 + column * 530
        y = 200
        while y < HEIGHT - 330:
            page.text(left, y, " ".join(rng.choice(WORDS).capitalize() for _ in range(2)), page.font(SANS_BOLD, 11))
            y = page.paragraph((left, y + 36, left + 490, HEIGHT - 300), sentences(rng, 95), body) + 22
        page.paragraph((left, HEIGHT - 240, left + 490, HEIGHT - 120), sentences(rng, 30), small)
    return page


def draw_invoice(rng):
    page = Page("invoice")
    body, bold, head = page.font(SANS, 10), page.font(SANS_BOLD, 10), page.font(SANS_BOLD, 22)
    page.text(120, 110, "Invoice", head, (20, 60, 120))
    for n, label in enumerate(("Number", "Date", "Customer")):
        page.text(780, 120 + 32 * n, label, bold)
        page.text(950, 120 + 32 * n, str(rng.randint(10000, 99999)), body)
    for n in range(4):
        page.text(120, 230 + 30 * n, " ".join(rng.choice(WORDS).capitalize() for _ in range(2)), body)
    columns, top, step = (120, 220, 720, 880, WIDTH - 120), 430, 46
    page.draw.rectangle((columns[0], top, columns[-1], top + step), fill=(220, 228, 240))
    for x, label in zip((130, 235, 735, 895), ("Item", "Description", "Count", "Price")):
        page.text(x, top + 12, label, bold)
    rows = 18
    for n in range(1, rows + 1):
        y = top + n * step
        page.draw.line((columns[0], y, columns[-1], y), fill=(150, 150, 150), width=1)
        page.text(130, y + 12, str(n + 100), body)
        page.text(235, y + 12, " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 4))), body)
        page.right(850, y + 12, str(rng.randint(2, 48)), body)
        page.right(WIDTH - 135, y + 12, amount(rng), body)
    bottom = top + (rows + 1) * step
    for x in columns:
        page.draw.line((x, top, x, bottom), fill=(90, 90, 90), width=2)
    for y in (top, bottom):
        page.draw.line((columns[0], y, columns[-1], y), fill=(90, 90, 90), width=2)
    page.text(735, bottom + 24, "Total", bold)
    page.right(WIDTH - 135, bottom + 24, amount(rng, 9000), bold)
    page.paragraph((120, bottom + 110, WIDTH - 120, HEIGHT - 60), sentences(rng, 40), page.font(SANS, 8))
    return page


def draw_form(rng):
    page = Page("form")
    head, label, entry = page.font(SANS_BOLD, 18), page.font(SANS, 9), page.font(MONO, 11)
    page.text(120, 110, "Application for " + rng.choice(WORDS) + " " + rng.choice(WORDS), head)
    for row in range(14):
        y = 220 + row * 98
        for column in range(1 + (row % 3 != 0)):
            left = 120 + column * 520
            right = WIDTH - 120 if row % 3 == 0 else left + 480
            page.text(left, y, " ".join(rng.choice(WORDS).capitalize() for _ in range(2)), label, (60, 60, 60))
            page.draw.rectangle((left, y + 26, right, y + 72), outline=(110, 110, 110), width=2)
            if rng.random() < 0.8:
                page.text(left + 14, y + 34, " ".join(rng.choice(WORDS) for _ in range(4 if row % 3 == 0 else 2)), entry,
                          (10, 20, 110))
    page.paragraph((120, HEIGHT - 140, WIDTH - 120, HEIGHT - 50), sentences(rng, 26), label)
    return page


def draw_chart(rng):
    page = Page("chart", (1400, 900))
    head, label = page.font(SANS_BOLD, 16), page.font(SANS, 10)
    page.text(110, 50, " ".join(rng.choice(WORDS).capitalize() for _ in range(4)), head)
    left, top, right, bottom = 150, 150, 1050, 780
    for n in range(7):
        y = bottom - n * (bottom - top) // 6
        page.draw.line((left, y, right, y), fill=(215, 215, 215), width=1)
        page.right(left - 14, y - 12, str(n * 250), label)
    colours = [(31, 119, 180), (255, 127, 14), (44, 160, 44)]
    for n in range(7):
        x = left + 25 + n * 128
        for s, colour in enumerate(colours):
            page.draw.rectangle((x + s * 30, bottom - rng.randint(60, bottom - top), x + s * 30 + 26, bottom), fill=colour)
        page.text(x, bottom + 16, rng.choice([word for word in WORDS if len(word) < 7]).capitalize(), label)
    page.draw.line((left, bottom, right, bottom), fill=(0, 0, 0), width=2)
    for s, colour in enumerate(colours):
        page.draw.rectangle((1090, 190 + 46 * s, 1116, 216 + 46 * s), fill=colour)
        page.text(1128, 190 + 46 * s, rng.choice(WORDS) + " " + rng.choice(WORDS), label)
    page.paragraph((1090, 400, 1370, 700), sentences(rng, 26), page.font(SANS, 9))
    return page


def draw_slide(rng):
    page = Page("slide", (1600, 900), (18, 42, 84))
    page.draw.rectangle((0, 0, 1600, 130), fill=(12, 28, 60))
    page.text(80, 36, " ".join(rng.choice(WORDS).capitalize() for _ in range(4)), page.font(SANS_BOLD, 24), (255, 255, 255))
    for n in range(5):
        y = 200 + n * 116
        page.draw.ellipse((90, y + 14, 106, y + 30), fill=(250, 190, 60))
        page.paragraph((136, y, 1040, y + 116), [rng.choice(WORDS) for _ in range(9)], page.font(SANS, 18), ink=(235, 240, 250))
    for n in range(90):  # a picture beside the words: a glow with speckles
        page.draw.ellipse((1150 + n, 260 + n, 1510 - n, 620 - n), fill=(60 + n, 110 + n, 150 + n // 2))
    page.text(80, 830, " ".join(rng.choice(WORDS) for _ in range(5)), page.font(SANS, 10), (160, 180, 210))
    return page


def draw_screenshot(rng):
    page = Page("screenshot", (1440, 900), (246, 247, 249))
    small, body, bold = page.font(DEJAVU, 8), page.font(DEJAVU, 9), page.font("dejavu/DejaVuSans-Bold.ttf", 12)
    page.draw.rectangle((0, 0, 1440, 44), fill=(45, 52, 64))
    x = 24
    for _ in range(6):
        x = page.text(x, 13, rng.choice(WORDS).capitalize(), small, (230, 233, 238)) + 36
    page.draw.rectangle((0, 44, 250, 900), fill=(230, 233, 238))
    for n in range(17):
        page.draw.rectangle((20, 76 + 46 * n, 34, 90 + 46 * n), fill=tuple(rng.randint(40, 220) for _ in range(3)))
        page.text(46, 74 + 46 * n, rng.choice(WORDS) + " " + rng.choice([w for w in WORDS if len(w) < 7]), small, (40, 44, 52))
    page.text(290, 76, " ".join(rng.choice(WORDS).capitalize() for _ in range(4)), bold, (20, 24, 30))
    for n in range(3):
        left = 290 + n * 375
        page.draw.rectangle((left, 130, left + 345, 420), fill=(255, 255, 255), outline=(205, 210, 217), width=1)
        page.draw.rectangle((left + 20, 150, left + 90, 176), fill=[(210, 70, 60), (60, 150, 90), (70, 110, 200)][n])
        page.paragraph((left + 20, 200, left + 325, 410), sentences(rng, 24), small, 1.5, (50, 54, 60))
    page.paragraph((290, 460, 1390, 870), sentences(rng, 150), body, 1.6, (30, 34, 40))
    return page


DRAWN = (draw_letter, draw_columns, draw_invoice, draw_form, draw_chart, draw_slide, draw_screenshot)


def draw_pages(seed=0):
    """Each of the pages, its words chosen by the seed."""
    return [draw(random.Random(f"{seed} {draw.__name__}")) for draw in DRAWN]


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: bench/pages.py FOLDER [SEED]")
    os.makedirs(sys.argv[1], exist_ok=True)
    for drawn in draw_pages(int(sys.argv[2]) if len(sys.argv) == 3 else 0):
        drawn.picture.save(os.path.join(sys.argv[1], drawn.name + ".png"))
        print(f"{drawn.name}: {drawn.picture.width}x{drawn.picture.height}, {len(drawn.words)} words")
