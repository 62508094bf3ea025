#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""integrations/web/check_page.py SITE TOOLS [SCREENSHOT]: the page web.html of a built site (ci/docs) in headless Chromium.

TOOLS is the folder with tvlm and tvlm-scene. Pictures are dropped, the slider is moved, bad input is given, and checked is:

  - positions and tiles are those of `tvlm select --device reference` for the same pixels and budget, to the bit;
  - a picture of 1024 x 1024 has its tiles within a second, the best of three. On a machine that is busy with other things, so much
    processor time of the page counts;
  - what the page loads is at most 1.5 MB, compressed; it asks for its own files alone, and sends nothing. All that Chromium asks
    for goes through a proxy here, which knows no other site;
  - bad input gets one line, and nothing is lost; the page fits a small screen.

Exit: 0; 1 something is wrong, and said; 77 Chromium, its driver or Selenium is missing.
"""
import contextlib
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

import cv2
import numpy as np

CHROMIUM = "chromium-headless-shell"  # a browser that asks for nothing of its own accord
SECOND, LARGEST = 1000.0, 1_500_000
BUDGETS = (273, 64, 1000, 4096)

for needed in (CHROMIUM, "chromedriver"):
    if shutil.which(needed) is None:
        print(f"SKIPPED: there is no {needed} (ci/setup --web)")
        sys.exit(77)
try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("SKIPPED: there is no Selenium (ci/setup --web)")
    sys.exit(77)


def check(holds, what):
    if not holds:
        raise SystemExit(f"check_page: {what}")


# ---- The site, and a proxy that knows nothing else ----

class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers Chromium, whose proxy it is, and keeps what it asks for: (method, URL, bytes that were sent). `missing` is a file that it
    does not have."""
    asked, missing = [], None

    def log_message(self, *_):
        pass

    def note(self):
        sent = int(self.headers.get("Content-Length") or 0) + (1 if self.headers.get("Transfer-Encoding") else 0)
        self.asked.append((self.command, self.path, sent))
        own = f"http://127.0.0.1:{self.server.server_port}/"
        if not self.path.startswith(own):
            self.send_error(403)
            return False
        self.path = "/" + self.path[len(own):]
        return True

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def do_GET(self):
        if not self.note():
            return
        if self.path == self.missing:
            self.send_error(404)
        else:
            super().do_GET()

    def refuse(self):
        if self.note():
            self.send_error(405)

    do_POST = do_PUT = do_CONNECT = do_OPTIONS = do_DELETE = do_PATCH = do_HEAD = refuse


def serve(site):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *rest: Handler(*rest, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def processes_of(driver):
    """The processes that a driver has started: {id: (processor time in ticks, command line)}."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
            stats[int(path.parent.name)] = (int(fields[1]), int(fields[11]) + int(fields[12]), (path.parent / "cmdline").read_bytes())
        except OSError:  # it has ended
            pass
    found, new = set(), {driver.service.process.pid}
    while new:
        new = {pid for pid, (parent, _, _) in stats.items() if parent in new}
        found |= new
    return {pid: stats[pid][1:] for pid in found}


@contextlib.contextmanager
def browse(server, work):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which(CHROMIUM)
    for argument in ("--window-size=1280,1600", f"--proxy-server=127.0.0.1:{server.server_port}", "--proxy-bypass-list=<-loopback>"):
        options.add_argument(argument)
    if os.geteuid() == 0:  # for whom Chromium has no sandbox
        options.add_argument("--no-sandbox")
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"), env=os.environ | {"TMPDIR": str(work)})
    driver = webdriver.Chrome(service=service, options=options)
    try:
        yield driver
    finally:
        left = processes_of(driver)
        driver.quit()
        for pid in left:  # the driver forgets to end them
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


# ---- What a user does ----

LISTEN = """
window.answers = [];
document.getElementById("tvlm").addEventListener("tvlm-answer", async ({detail}) => {
  const {k, time, cells, columns, rows, positions, tiles} = detail;
  const digest = Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", tiles.data)));
  window.answers.push({k, time, cells, columns, rows, positions: Array.from(positions), tiles: digest});
});
"""


class Page:
    def __init__(self, driver, url):
        self.driver, self.url = driver, url
        self.open()

    def load(self):
        self.driver.get(self.url)
        self.driver.execute_script(LISTEN)

    def open(self):
        self.load()
        self.until(lambda: self.part("status").text.startswith("The drawn picture:"), "tiles of the drawn picture")

    def part(self, name):
        return self.driver.find_element(By.CSS_SELECTOR, f".tvlm-{name}")

    def until(self, holds, what, longest=60):
        end = time.monotonic() + longest
        while not holds():
            check(time.monotonic() < end, f"no {what} after {longest} s; the page says: {self.part('error').text or self.part('status').text}")
            time.sleep(0.02)

    def drop(self, file):
        """Drops a file onto the page as a mouse does."""
        place = self.part("drop").rect
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.driver.execute_cdp_cmd("Input.dispatchDragEvent", {"type": kind, "x": place["x"] + 300, "y": place["y"] + 10, "data": data})

    def answer(self, action, budget=None):
        """The first answer after an action; with a budget, the first one to that."""
        self.driver.execute_script("window.answers = []")
        action()
        find = "return window.answers.find(a => arguments[0] === null || a.k === arguments[0]) ?? null"
        found = []
        self.until(lambda: found.append(self.driver.execute_script(find, budget)) or found[-1] is not None, "answer")
        return found[-1]

    def set_budget(self, k):
        number = self.part("number")
        number.send_keys(Keys.CONTROL, "a")
        number.send_keys(str(k), Keys.ENTER)


# ---- What the tool says ----

def of_tool(tools, picture, k, work):
    """The positions, as the page has them, and the patches of tvlm select."""
    done = subprocess.run([tools / "tvlm", "select", picture, "-k", str(k), "--device", "reference", "--patches", work / "patches.npy"],
                          check=True, stdout=subprocess.PIPE, text=True)
    made = json.loads(done.stdout)
    positions = np.array([[p["x"], p["y"], p["level"], p["score"], p["size"], p.get("height", 0)] for p in made["positions"]], np.float32)
    return positions, np.load(work / "patches.npy"), made


def compare(answer, tools, picture, work):
    """The page's answer and the tool's, which must be the same."""
    k = answer["k"]
    positions, patches, made = of_tool(tools, picture, k, work)
    own = np.array(answer["positions"], np.float32).reshape(-1, 12)[:, [0, 1, 2, 3, 4, 7]]
    name = f"{picture.name}, {k} tokens"
    check(len(own) == len(positions), f"{name}: {len(own)} positions, and the tool has {len(positions)}")
    differ = np.flatnonzero((own != positions).any(axis=1))
    check(differ.size == 0, f"{name}: {differ.size} of {len(own)} positions differ from the tool's; the first is {differ[:1]}: "
          f"{own[differ[:1]].tolist()} and {positions[differ[:1]].tolist()}")
    check([answer["columns"], answer["rows"]] == made.get("thumbnail", [0, 0]), f"{name}: a thumbnail of another grid than {made.get('thumbnail')}")
    tiles = np.floor(np.clip(patches[answer["cells"]:], 0, 1) * np.float32(255) + np.float32(0.5)).astype(np.uint8).transpose(0, 2, 3, 1)
    opaque = np.concatenate([tiles, np.full_like(tiles[..., :1], 255)], axis=3)
    check(bytes(answer["tiles"]) == hashlib.sha256(opaque.tobytes()).digest(), f"{name}: the tiles' pixels differ from the tool's patches")
    return len(own)


# ---- Time ----

def page_time(driver):
    """The processor time, in ms, of the processes in which pages run."""
    ticks = sum(used for used, line in processes_of(driver).values() if b"--type=renderer" in line)
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def words(milliseconds):
    return ", ".join(f"{one:.0f}" for one in milliseconds)


# ---- The checks ----

def check_tiles(page, tools, work):
    """Pictures and budgets, and how long they take."""
    square, odd = work / "square.png", work / "odd.png"
    for picture, width, height in ((square, 1024, 1024), (odd, 1000, 707)):
        subprocess.run([tools / "tvlm-scene", picture, str(width), str(height)], check=True)
    page.set_budget(BUDGETS[0])
    first, used = [], []
    for _ in range(3):
        before = page_time(page.driver)
        first.append(page.answer(lambda: page.drop(square)))
        used.append(page_time(page.driver) - before)
    compared = compare(first[0], tools, square, work)
    moves = []
    for k in BUDGETS[1:]:
        moves.append(page.answer(lambda k=k: page.set_budget(k), k))
        compared += compare(moves[-1], tools, square, work)
    slider = page.part("slider")
    for key in (Keys.ARROW_LEFT, Keys.PAGE_DOWN, Keys.HOME, Keys.ARROW_RIGHT):
        moves.append(page.answer(lambda key=key: slider.send_keys(key)))
        compared += compare(moves[-1], tools, square, work)
    compared += compare(page.answer(lambda: page.part("file").send_keys(str(odd))), tools, odd, work)
    compared += compare(page.answer(lambda: page.set_budget(500), 500), tools, odd, work)
    print(f"{compared} positions and their tiles are the tool's, of 2 pictures and {len(moves) + 3} budgets")
    print(f"tiles of a picture of 1024 x 1024: {words([a['time'] for a in first])} ms from drop to drawn, {words(used)} ms of processor time")
    print(f"a movement of the slider, to {', '.join(str(a['k']) for a in moves)} tokens: {words([a['time'] for a in moves])} ms")
    check(min(used) > 0, "no processor time of the page was counted: its process was not found")
    best = min([answer["time"] for answer in first] + used)
    check(best <= SECOND, f"the first tiles take {best:.0f} ms, more than {SECOND:.0f}")


def check_bad_input(page, work):
    before = page.part("count").text
    for name, content in (("words.png", b"no picture"), ("empty.jpg", b""), ("notes.txt", b"some words")):
        (work / name).write_bytes(content)
        page.drop(work / name)
        page.until(lambda: page.part("error").text != "", "error")
        check(page.part("error").text == f"{name}: this browser cannot read it as an image", f"{name}: {page.part('error').text!r}")
    cv2.imwrite(str(work / "large.png"), np.zeros((10001, 10000), np.uint8))
    page.drop(work / "large.png")
    page.until(lambda: "too many" in page.part("error").text, "refusal of a picture of 10000 x 10001")
    page.set_budget(0)
    page.until(lambda: page.part("error").text.startswith("A budget is a whole number"), "refusal of a budget of 0")
    check(page.part("count").text == before, "bad input has changed what is shown")
    error = page.driver.execute_async_script("""
        const [done] = arguments, worker = new Worker("web/worker.js", {type: "module"}), said = [];
        worker.onmessage = ({data}) => { said.push(data.error ?? data.count); if (said.length === 3) done(said); };
        worker.postMessage({picture: 1, width: 30000, height: 30000, pixels: new ArrayBuffer(0)});
        worker.postMessage({picture: 2, k: 4});
        worker.postMessage({picture: 3, width: 64, height: 64, pixels: new ArrayBuffer(4 * 64 * 64)});
        worker.postMessage({picture: 3, k: 4});""")
    check(error == ["there is not enough memory for a picture of this size", "there is no picture", 4], f"a picture that no memory holds: {error}")
    for missing, error in (("tvlm-web.wasm", "the module tvlm-web.wasm cannot be loaded"), ("worker.js", "the page's worker.js cannot be loaded")):
        Handler.missing = f"/web/{missing}"
        page.load()
        page.until(lambda: page.part("error").text != "", f"error without {missing}")
        check(page.part("error").text == f"The drawn picture: {error}", f"without {missing} it says {page.part('error').text!r}")
        Handler.missing = None
        page.answer(lambda: page.drop(work / "odd.png"))
        check(page.part("error").text == "", "an error stays after a photo that went well")
    print("bad input, and files that are missing: a line each, and the page goes on")


def check_choices(page, work):
    """What a user chose holds for what comes next."""
    cv2.imwrite(str(work / "icon.png"), np.zeros((16, 16, 3), np.uint8))
    page.answer(lambda: page.set_budget(300), 300)
    check(page.answer(lambda: page.drop(work / "icon.png"))["k"] == 1, "an icon of one patch has a budget of more")
    after = page.answer(lambda: page.drop(work / "odd.png"))["k"]
    check(after == 300, f"after an icon a photo has a budget of {after}, where 300 were chosen")
    print("what was chosen holds for what comes next")


def check_long(page, work):
    """Pictures with longer sides than any canvas has."""
    for width, height in ((60000, 1), (10, 200000)):
        picture = work / f"{width}x{height}.png"
        cv2.imwrite(str(picture), np.zeros((height, width), np.uint8))
        page.answer(lambda: page.drop(picture))
        said = page.part("status").text
        check(re.search(rf"{width} x {height} pixels, looked at as (16384 x 1|1 x 16384)\.", said), f"{picture.name}: {page.part('error').text or said!r}")
    print("long pictures are looked at smaller")


# Files whose names begin with "slow" are decoded when window.go is called.
SLOW = """
const decode = window.createImageBitmap, gone = new Promise((go) => { window.go = go; });
window.createImageBitmap = async (file) => {
  if (file.name.startsWith("slow")) await gone;
  return decode(file);
};"""
GO = "const [done] = arguments; window.go(); setTimeout(done, 500);"


def check_order(page, work):
    """Files that are ready in another order than they were given in."""
    shutil.copy(work / "odd.png", work / "slow.png")
    for name in ("slow.txt", "words.txt"):
        (work / name).write_bytes(b"no picture")
    page.open()
    page.driver.execute_script(SLOW)
    page.drop(work / "slow.png")
    page.drop(work / "words.txt")
    page.until(lambda: page.part("error").text.startswith("words.txt: "), "error of the later file")
    page.answer(lambda: page.driver.execute_script("window.go()"))
    check(page.part("status").text.startswith("slow.png: 1000 x 707"), "a photo is lost where a later one cannot be read")
    check(page.part("error").text.startswith("words.txt: "), "an earlier photo takes away the error of a later one")
    page.open()
    page.driver.execute_script(SLOW)
    page.drop(work / "slow.txt")
    page.answer(lambda: page.drop(work / "odd.png"))
    page.driver.execute_async_script(GO)
    check(page.part("error").text == "", f"an earlier file's error stands at a later photo: {page.part('error').text!r}")
    page.open()
    page.driver.execute_script(SLOW)
    page.drop(work / "slow.png")
    page.answer(lambda: page.drop(work / "odd.png"))
    page.driver.execute_async_script(GO)
    check(page.part("status").text.startswith("odd.png: "), "an earlier photo takes the place of a later one")
    print("files that are ready in another order: the last one that can be read is shown")


def check_screens(page, screenshot):
    """A dark scheme where the reader has one, and a small screen."""
    driver = page.driver
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    driver.execute_script("localStorage.clear()")  # as a reader comes for the first time
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    page.open()
    paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    check(max(map(int, re.findall(r"\d+", paper)[:3])) < 80, f"in a dark scheme the page is {paper}")
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    check(wide <= 360, f"on a screen of 360 pixels the page is {wide} wide")
    if screenshot:
        driver.save_screenshot(str(screenshot))


def check_requests(own, site, page_files):
    foreign = [f"{method} {url}" for method, url, _ in Handler.asked if not url.startswith(own)]
    check(not foreign, f"asked for elsewhere: {', '.join(foreign)}")
    check(all(method == "GET" and sent == 0 for method, _, sent in Handler.asked), "something was sent")
    check(all("?" not in url for _, url, _ in Handler.asked), "a question was sent")
    sizes = {file: len(gzip.compress((site / file).read_bytes(), 9)) for file in page_files}
    total, of_page = sum(sizes.values()), sum(size for file, size in sizes.items() if file.startswith("web/"))
    print(f"nothing was sent; {len(sizes)} files, {total} bytes by gzip -9, {of_page} of them of the page and {total - of_page} of the site's theme")
    check("web/tvlm-web.wasm" in page_files, "the module was not loaded")
    check(total <= LARGEST, f"the page loads {total} bytes, more than {LARGEST}")


def main(site, tools, screenshot=None):
    site, tools = Path(site).resolve(), Path(tools).resolve()
    server = serve(str(site))
    own = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, browse(server, Path(folder)) as driver:
        page, work = Page(driver, own + "web.html"), Path(folder)
        loaded = sorted({urllib.parse.urlparse(url).path[1:] for _, url, _ in Handler.asked if url.startswith(own)})
        check_tiles(page, tools, work)
        check_bad_input(page, work)
        check_choices(page, work)
        check_long(page, work)
        check_order(page, work)
        check_screens(page, screenshot)
        check_requests(own, site, [file for file in loaded if (site / file).is_file()])
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: integrations/web/check_page.py SITE TOOLS [SCREENSHOT]")
    sys.exit(main(*sys.argv[1:]))
