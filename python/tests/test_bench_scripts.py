# SPDX-License-Identifier: Apache-2.0
"""What the scripts of bench/ share, and what they do where there is nothing to measure."""
import importlib
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def script(monkeypatch):
    """Imports a script as it is imported by the others: beside them, and as nobody has tuned the device."""
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setenv("TVLM_UNTUNED", "1")
    return importlib.import_module


def said(*words):
    """A script's exit status and what it says; skips the test where a package is missing."""
    done = subprocess.run([sys.executable, str(BENCH / words[0]), *map(str, words[1:])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, "TVLM_SHARED": str(BENCH / "nothing")})
    if "No module named" in done.stdout:
        assert done.returncode == 77 and "Traceback" not in done.stdout
        pytest.skip(done.stdout.strip())
    return done.returncode, done.stdout


# ---- What grows ----

def test_a_line_has_no_part_below_zero(script):
    """A row that grows faster than its amounts has no constant, and its last time is above its line."""
    scale = script("scale")
    amounts = [1, 10, 100, 1000]
    assert scale.line_of(amounts, [5 + 2 * n for n in amounts]) == pytest.approx((5, 2))
    assert scale.line_of(amounts, [3.0] * 4) == pytest.approx((3, 0))
    a, b = scale.line_of(amounts, [n**1.2 for n in amounts])
    assert a == 0 and b > 1
    assert scale.above(amounts, [5 + 2 * n for n in amounts]) == pytest.approx(1)
    assert scale.above(amounts, [n**1.2 for n in amounts]) > 1.1


# ---- What is written ----

def test_a_result_takes_the_place_of_the_last_one(script, tmp_path):
    shared, path = script("shared"), tmp_path / "figures.json"
    shared.write_json(str(path), {"a": 1})
    shared.write_json(str(path), {"a": 2}, indent=1)
    assert json.loads(path.read_text()) == {"a": 2} and os.listdir(tmp_path) == ["figures.json"]


def test_a_result_that_fails_leaves_the_last_one(script, tmp_path):
    shared, path = script("shared"), tmp_path / "figures.json"
    path.write_text("before")
    with pytest.raises(TypeError):
        shared.write_json(str(path), {"a": object()})
    with pytest.raises(ZeroDivisionError), shared.replacing(str(path)) as part:
        pathlib.Path(part).write_text("half")
        assert part.endswith(".json") and path.read_text() == "before"
        raise ZeroDivisionError
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["figures.json"]


def test_what_is_no_file_is_written_as_it_is(script):
    with script("shared").replacing(os.devnull) as part:
        assert part == os.devnull


# ---- What is measured in one place ----

def test_auc_counts_ties_half(script):
    pytest.importorskip("cv2")
    auc = script("measures").auc
    assert auc([1, 2, 3, 4], [0, 0, 1, 1]) == 1 and auc([1, 1, 1], [1, 0, 1]) == 0.5 and auc([1, 2, 2], [0, 1, 0]) == 0.75
    assert math.isnan(auc([1, 2], [1, 1])) and math.isnan(auc([1, 2], [0, 0]))


def test_labels_are_numbers_of_three_bytes(script, tmp_path):
    cv2 = pytest.importorskip("cv2")
    import numpy as np
    cv2.imwrite(str(tmp_path / "x_panoptic.png"), np.array([[[3, 2, 1], [0, 0, 7]]], np.uint8))  # blue, green, red
    assert script("images").labels("x", str(tmp_path)).tolist() == [[1 + 256 * 2 + 65536 * 3, 7]]


# ---- earlier.py ----

class Bench:
    """Takes the place of both builds. `ms` and `commands` are by build and stage; `noise` is asked for the factor of each round."""

    def __init__(self, earlier, monkeypatch, ms, counts=None, commands=None):
        self.ms, self.counts, self.commands, self.noise = ms, counts, commands or {}, lambda build, stage, at: 1
        self.rounds, self.counted = {}, []
        monkeypatch.setattr(earlier, "bench_of", lambda build: [build])
        monkeypatch.setattr(earlier, "earlier_build", lambda commit: commit)
        monkeypatch.setattr(earlier, "commits", lambda: [name for name in ms if name != "now"])
        monkeypatch.setattr(earlier, "measure", self.measure)
        monkeypatch.setattr(earlier, "instructions", self.instructions)

    def measure(self, build, device, repeat, stages=()):
        found = {}
        for stage in stages or self.ms[build]:
            at = self.rounds[build, stage] = self.rounds.get((build, stage), 0) + 1
            found[stage] = (self.ms[build][stage] * self.noise(build, stage, at), self.commands.get((build, stage)))
        return found

    def instructions(self, builds, stages):
        self.counted.append(list(stages))
        return self.counts


@pytest.fixture
def compared(script, monkeypatch, capsys):
    """Compares made-up builds: the exit status, what is said by stage, and the builds."""
    earlier = script("earlier")

    def compare(ms, *words, device="pocl", noise=None, **more):
        bench = Bench(earlier, monkeypatch, ms, **more)
        bench.noise = noise or bench.noise
        monkeypatch.setattr(sys, "argv", ["earlier.py", "now", "--device", device, *words])
        with pytest.raises(SystemExit) as ended:
            earlier.main()
        return ended.value.code, capsys.readouterr().out, bench
    compare.earlier = earlier
    return compare


def test_a_stage_that_is_gone_fails(compared, monkeypatch):
    ms = {"5df4ce8": {"visual": 1.0, "text": 2.0}, "now": {"visual": 1.0, "ink": 3.0}}
    code, out, _ = compared(ms)
    assert code == 1 and "GONE" in out and "to compare: ink" in out and "1 passed, 1 failed" in out
    monkeypatch.setitem(compared.earlier.KNOWN, "5df4ce8", {"text": "it is part of visual"})
    code, out, _ = compared(ms)
    assert code == 0 and "GONE" not in out


@pytest.mark.parametrize("ratio, fails", [(0.5, False), (1.0, False), (1.079, False), (1.081, True), (1.16, True), (3.0, True)])
def test_a_slower_stage_fails(compared, ratio, fails):
    code, out, _ = compared({"5df4ce8": {"visual": 1.0, "text": 2.0}, "now": {"visual": 1.0, "text": 2.0 * ratio}})
    assert code == fails and ("SLOWER" in out) == fails and f"{2 - fails} passed, {int(fails)} failed" in out
    assert not any("visual" in line and "SLOWER" in line for line in out.splitlines())


def test_a_slower_stage_fails_beside_every_other_one(compared, monkeypatch):
    """Whichever commit it is slower than; and what is known of one commit is not known of the next."""
    ms = {"5df4ce8": {"text": 2.0}, "v1.0.0": {"text": 1.0}, "now": {"text": 2.0}}
    code, out, _ = compared(ms)
    assert code == 1 and "1 passed, 1 failed" in out
    monkeypatch.setitem(compared.earlier.KNOWN, "5df4ce8", {"text": "it finds more"})
    assert compared(ms)[0] == 1
    monkeypatch.setitem(compared.earlier.KNOWN, "v1.0.0", {"text": "it finds more"})
    assert compared(ms)[0] == 0


def test_luck_lets_no_stage_pass(compared):
    """As many rounds as there are, however early one of them is fast; and one that is slow by chance fails nothing."""
    again = compared.earlier.AGAIN

    def lucky(build, stage, at):
        return 0.9 if build == "now" and at in (3, 5, 8) else 1
    code, out, bench = compared({"5df4ce8": {"text": 1.0}, "now": {"text": 1.12}}, noise=lucky)
    assert code == 1 and "SLOWER" in out and set(bench.rounds.values()) == {2 + again}

    def unlucky(build, stage, at):
        return 1.5 if build == "now" and (at <= 2 or at % 3 == 0) else 1
    code, out, bench = compared({"5df4ce8": {"text": 1.0}, "now": {"text": 1.0}}, noise=unlucky)
    assert code == 0 and "SLOWER" not in out and set(bench.rounds.values()) == {2 + again}


def test_only_suspects_are_measured_again(compared):
    code, _, bench = compared({"5df4ce8": {"text": 1.0, "visual": 1.0}, "now": {"text": 1.2, "visual": 1.0}})
    assert code == 1 and bench.rounds["now", "visual"] == 2 and bench.rounds["now", "text"] == 2 + compared.earlier.AGAIN


def test_with_too_little_time_there_are_fewer_rounds(compared, monkeypatch):
    monkeypatch.setattr(compared.earlier, "AGAIN_SECONDS", 0)
    code, _, bench = compared({"5df4ce8": {"text": 1.0}, "now": {"text": 1.2}})
    assert code == 1 and bench.rounds["now", "text"] == 2 + compared.earlier.AGAIN_LEAST


def test_noise_fails_few_and_hides_few(compared):
    """What the number of rounds was chosen for: exponential noise of 10 %, the least of three."""
    drawn = random.Random(1)

    def noise(build, stage, at):
        return 1 + min(drawn.expovariate(10) for _ in range(3))
    same = {f"same {i}": 1.0 for i in range(300)}
    worse = {f"worse {i}": 1.0 for i in range(100)}
    code, out, _ = compared({"5df4ce8": {**same, **worse}, "now": {**same, **{name: 1.15 for name in worse}}}, noise=noise)
    failed = [line.split()[0] for line in out.splitlines() if "SLOWER" in line]
    assert code == 1 and failed.count("same") == 0 and failed.count("worse") >= 90


def test_short_stages_are_judged_by_counts(compared):
    ms = {"5df4ce8": {"score": 0.01, "text": 1.0}, "now": {"score": 0.03, "text": 1.0}}
    counts = {"5df4ce8": {"score": 10000.0}, "now": {"score": 10700.0}}
    code, out, bench = compared(ms, counts=counts)
    assert code == 0 and bench.counted == [["score"]] and "1.07" in out
    counts["now"]["score"] = 10900.0
    code, out, _ = compared(ms, counts=counts)
    assert code == 1 and "SLOWER, by instructions" in out
    counts["5df4ce8"]["score"], counts["now"]["score"] = 20.0, 40.0  # of which no ratio is made
    assert compared(ms, counts=counts)[0] == 0
    code, out, _ = compared(ms)
    assert code == 0 and "too short to tell" in out and "1 passed, 0 failed" in out
    code, out, _ = compared(ms, commands={("5df4ce8", "score"): 3, ("now", "score"): 4})
    assert code == 1 and "SLOWER, by commands" in out


def test_on_the_reference_counts_decide(compared):
    """One round of the clock makes suspects; where nothing counts, the second phase judges them."""
    ms = {"5df4ce8": {"text": 1.0}, "now": {"text": 1.3}}
    code, out, bench = compared(ms, device="reference", counts={"5df4ce8": {"text": 1e6}, "now": {"text": 1e6}})
    assert code == 0 and bench.counted == [["text"]] and set(bench.rounds.values()) == {1}
    code, out, _ = compared(ms, device="reference", counts={"5df4ce8": {"text": 1e6}, "now": {"text": 1.09e6}})
    assert code == 1 and "SLOWER, by instructions" in out
    code, out, bench = compared(ms, device="reference")
    assert code == 1 and "SLOWER" in out and set(bench.rounds.values()) == {1 + compared.earlier.AGAIN}


def test_instructions_of_a_run(script):
    """The first run prepares something, a second sample is followed by what is nobody's; `a` takes 100, `b` 7. A compiler may have put
    the first run's call into its caller, and its part is then that before."""
    counts_of = script("earlier").counts_of
    rows = [{"name": "a", "runs": 1, "samples": 2}, {"name": "b", "runs": 4, "samples": 2}]
    assert counts_of(rows, [900, 100, 100, 5000, 80, 7, 14, 28, 28, 3000]) == {"a": 100, "b": 7}
    assert counts_of(rows, [100, 100, 5080, 7, 14, 28, 28, 3000]) == {"a": 100, "b": 7}
    with pytest.raises(ValueError):
        counts_of(rows[:1], [100, 100])


@pytest.mark.skipif(not shutil.which("sh"), reason="no sh")
def test_instructions_are_asked_of_callgrind(script, monkeypatch, tmp_path, capsys):
    """A program in place of valgrind: a build that is called `now` takes twice as many; and one that fails counts nothing."""
    earlier, valgrind = script("earlier"), tmp_path / "valgrind"
    valgrind.write_text("""#!/bin/sh
out=${2#--callgrind-out-file=} factor=1
case "$*" in *now/tools*) factor=2 ;; *failing/tools*) exit 1 ;; esac
[ "$1 $3" = "--tool=callgrind --dump-before=time_runs*" ] || exit 1
for i in 1 2 3 4; do echo "totals: $((factor * 1000 * i))" >"$out.$i"; done
echo "totals: 7" >"$out"
echo '{"stages": [{"name": "pick", "runs": 1, "samples": 2}]}'
""")
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(earlier, "bench_of", lambda build: [build + "/tools/tvlm-bench"])
    assert earlier.instructions({"5df4ce8": "before", "now": "now"}, ["pick"]) == {"5df4ce8": {"pick": 4000}, "now": {"pick": 8000}}
    assert capsys.readouterr().out == ""
    assert earlier.instructions({"5df4ce8": "failing", "now": "now"}, ["pick"]) is None
    assert "the clock alone decides" in capsys.readouterr().out


def test_the_newest_release_is_compared_with_too(script, monkeypatch, tmp_path):
    earlier = script("earlier")
    monkeypatch.setattr(earlier, "ROOT", str(tmp_path))

    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, stdout=subprocess.DEVNULL)

    def commit(*tags):
        git("commit", "-q", "--allow-empty", "-m", f"before {tags}")  # two of one text, parent and second would be one commit
        for tag in tags:
            git("tag", tag)
    git("init", "-q", "-b", "main")
    commit()
    assert earlier.commits() == ["5df4ce8"]
    commit("v0.9.0")
    commit("v0.10.0", "v0.10.1-rc1", "nightly")
    git("checkout", "-q", "-b", "beside")
    commit("v0.11.0")
    git("checkout", "-q", "main")
    commit()
    assert earlier.commits() == ["5df4ce8", "v0.10.0"]
    with pytest.raises(earlier.Skip, match="5df4ce8 is not in the history"):
        earlier.earlier_build("5df4ce8")


def test_a_commit_that_is_not_built_fails_unless_it_says_what_it_lacks(script, monkeypatch, tmp_path, capsys):
    earlier, log = script("earlier"), tmp_path / "log"
    log.write_text("x.c:1:1: error: unknown type name\nninja: build stopped: subcommand failed.\n")
    with pytest.raises(SystemExit, match="cannot be built"):
        earlier.why_not_built("5df4ce8", log)
    log.write_text("CMake Error at FindPackageHandleStandardArgs.cmake:230 (message):\n  Could NOT find OpenCL (missing: OpenCL_LIBRARY)\n")
    with pytest.raises(earlier.Skip, match="there is no OpenCL"):
        earlier.why_not_built("5df4ce8", log)
    log.write_text("ninja: error: unknown target 'tvlm-bench'\n")
    earlier.why_not_built("5df4ce8", log)

    def shallow(commit):
        raise earlier.Skip("the commit is not in the history")
    monkeypatch.setattr(earlier, "bench_of", lambda build: [build])
    monkeypatch.setattr(earlier, "earlier_build", shallow)
    monkeypatch.setattr(sys, "argv", ["earlier.py", "now"])
    with pytest.raises(SystemExit) as ended:
        earlier.main()
    assert ended.value.code == 77 and "SKIPPED: the commit is not in the history" in capsys.readouterr().out


# ---- Where something is missing ----

@pytest.mark.parametrize("name", ["ablation", "attention", "bases", "batch", "budget", "cluster", "codec", "drift", "export", "flow", "footprint",
                                  "foveated", "prune", "projection", "saliency", "scorer", "text", "video", "video_times", "views", "vocab", "ways"])
def test_without_packages_it_is_skipped(name):
    done = subprocess.run([sys.executable, "-S", "-E", str(BENCH / f"{name}.py")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 77 and "No module named" in done.stdout and "Traceback" not in done.stdout


# ---- startup.sh ----

@pytest.mark.skipif(not shutil.which("bash") or not shutil.which("pgrep"), reason="no bash or no pgrep")
@pytest.mark.parametrize("fails_at", [0, 1, 4, 14])
def test_a_run_that_crashes_fails(fails_at, tmp_path):
    tool, photo, calls = tmp_path / "tvlm", tmp_path / "photo.ppm", tmp_path / "calls"
    photo.write_text("")
    tool.write_text(f"""#!/bin/sh
[ "$1" = select ] || {{ echo a device; exit 0; }}
case "$*" in *"-k 1"*) echo '{{"width": 1024, "height": 1024}}'; exit 0 ;; esac
echo x >>{calls}
[ "$(wc -l <{calls})" -ne {fails_at} ] || {{ echo "tvlm: out of memory" >&2; exit 134; }}
""")
    tool.chmod(0o755)
    done = subprocess.run(["bash", str(BENCH / "startup.sh"), str(tool), str(photo), "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = [line.split()[0] for line in done.stdout.splitlines() if " ms (" in line]
    if fails_at:
        assert done.returncode == 1 and not rows and "tvlm: out of memory" in done.stderr and "failed: run" in done.stderr
    else:
        assert rows == ["reference", "first", "next", "cold"] and len(calls.read_text().split()) == 14


# ---- What was not looked at is not passed ----

@pytest.mark.parametrize("words", [
    ["saliency.py", "--floors"], ["cluster.py", "--floors"], ["text.py", "--floors"], ["flow.py", "--floors"], ["budget.py", "--floors", "--set", "coco"],
    ["budget.py", "--floors", "--set", "questions", "--set", "photos"], ["video.py", "--shares", "2", "--clips", "bedroom,mover"]])
def test_floors_without_data_are_skipped(words):
    code, text = said(*words, "--tvlm", sys.executable)  # which is there, and is not asked
    assert code == 77 and "Traceback" not in text


@pytest.mark.parametrize("name, folder", [("saliency", "."), ("cluster", "."), ("text", "text/icdar2015"), ("flow", "flow")])
def test_floors_with_empty_data_are_skipped(name, folder, tmp_path):
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "panoptic_val2017.json").write_text('{"categories": [], "annotations": []}')
    code, text = said(f"{name}.py", "--floors", "--data", tmp_path, "--tvlm", sys.executable)
    assert code == 77 and "Traceback" not in text


def test_an_image_that_is_not_there_is_an_error():
    code, text = said("budget.py", "--set", "pages", "--image", "nosuch", "--jobs", "1")
    assert code == 1 and "is called nosuch" in text and "Traceback" not in text


@pytest.mark.parametrize("words", [["--ways", "nosuch"], ["--clips", "nosuch"], ["--floors", "--shares", "3"]])
def test_what_video_does_not_know_is_refused(words):
    code, text = said("video.py", *words)
    assert code == 2 and "there is no" in text and "Traceback" not in text
