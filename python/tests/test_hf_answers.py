# SPDX-License-Identifier: Apache-2.0
"""bench/answers*.py: the model that answers is transformers' own, whichever way it is trained and asked in."""
import importlib.util
import pathlib
import sys

import numpy as np
import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")
from test_hf_messages import tiny  # noqa: E402,F401  it skips where transformers or torchvision do not do

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import shared  # noqa: E402

if not pathlib.Path(shared.DATA, "photos").is_dir():
    pytest.skip("the scenes lie on photos of the shared data", allow_module_level=True)


def program(name):
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scenes, am = program("answers_scenes"), program("answers_model")
answers, train = program("answers"), program("answers_train")
PROCESSOR = am.processor_of()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of random weights, as answers_train.py writes one."""
    path = tmp_path_factory.mktemp("answers") / "seed-0"
    am.model_of(PROCESSOR).save_pretrained(path)
    PROCESSOR.save_pretrained(path)
    return path


def test_scenes_are_the_same_again_and_have_one_right_answer():
    for kind in ("few", "crowd", "text"):
        one, other = (scenes.Source(scenes.HELD, 5).scene(kind) for _ in range(2))
        assert np.array_equal(one.picture, other.picture) and [q[:2] for q in one.questions] == [q[:2] for q in other.questions]
        assert one.picture.shape == (scenes.SIDE, scenes.SIDE, 3) and one.questions
        names = [shape.name() for shape in one.shapes]
        for question, answer, shape in one.questions:
            if kind != "text" and shape is not None:
                assert names.count(shape.name()) == 1 and shape.name() in question and scenes.SIGNS[shape.sign] == answer
    assert not set(scenes.TRAIN["photos"]) & set(scenes.HELD["photos"]) and not set(scenes.TRAIN["fonts"]) & set(scenes.HELD["fonts"])


def test_packed_questions_are_asked_as_by_a_pruner(folder):
    """Pictures of which tokens are left out, and many questions in one row: the logits are those of the pruned batch."""
    model = answers.Model(folder)
    scene = scenes.Source(scenes.HELD, 3).scene("few")
    pruner = tv.hf.Pruner(model.model, model.processor, budget=60, way="pruned")
    views = answers.by_pruner(pruner, scene)
    asked = [one[:2] for one in scene.questions]
    row = am.Row(model.processor, views, asked)
    with torch.no_grad():
        hidden, _ = am.hidden_of(model.model, model.processor, [row], am.encode(model.model, views))
    for (question, _), (first, _) in zip(asked, row.asked):
        pruned = pruner.prune(Image.fromarray(scene.picture), question=question)
        with torch.no_grad():
            expected = pruned.forward().logits[0, -1]
        torch.testing.assert_close(model.model.lm_head(hidden[0, first]), expected, rtol=0, atol=2e-5)


def test_looks_of_the_bench_are_those_of_a_pruner(folder):
    model = answers.Model(folder)
    scene = scenes.Source(scenes.HELD, 3).scene("crowd")
    question = scene.questions[0][0]
    report = tv.hf.Pruner(model.model, model.processor, share=0.25, looks=2).prune(Image.fromarray(scene.picture), question=question).report
    small = am.View(np.asarray(report.seen[0][0]), answers.whole_of(scene))
    np.testing.assert_allclose(model.attention(small, [question])[0], report.look, rtol=0, atol=1e-5)


@pytest.mark.parametrize("tokens", [19, 30, 39, 81])
def test_the_bench_looks_twice_where_a_pruner_does(folder, tokens):
    """At 6 and 12 % of the tokens, and beside them: with too few both take the way auto."""
    model = answers.Model(folder)
    scene = scenes.Source(scenes.HELD, 3).scene("crowd")
    question, image = scene.questions[0][0], Image.fromarray(scene.picture)
    pruner = tv.hf.Pruner(model.model, model.processor, budget=tokens)
    twice = tv.hf.Pruner(model.model, model.processor, budget=tokens, looks=2).prune(image, question=question).report.look is not None
    assert answers.looks_twice(tokens) == twice
    views, = answers.by_looks(model, pruner, scene, tokens, [question])
    if not twice:
        assert [view.grid for view in views] == [view.grid for view in answers.by_pruner(pruner, scene)]
    assert sum(len(view) for view in views) <= tokens


def test_training_learns_and_goes_on_after_a_stop(tmp_path):
    torch.manual_seed(0)
    first = train.Training(0, 0)
    before = [first.one(0.1)[0] for _ in range(2)]
    for _ in range(12):
        after = first.one(0.1)[0]
    assert after < before[0]
    said = first.one(0.5)
    assert np.isfinite(said).all() and said[1] < 7  # a random guess of 263 tokens has 5.6
    first.save(str(tmp_path / "kept.pt"))
    second = train.Training(0, 0)
    second.load(str(tmp_path / "kept.pt"))
    assert second.step == first.step
    for one, other in zip(first.model.state_dict().values(), second.model.state_dict().values()):
        assert torch.equal(one, other)


def test_a_table_has_each_way(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["answers.py", str(folder), "--scenes", "1", "--shares", "12"])
    answers.main()
    said = capsys.readouterr().out
    for way in (*answers.BLIND, *answers.RULES, "random", "thumb+random", "looks", "true"):
        assert f"| 12 | {way} |" in said
    assert "| 100 | full |" in said


def test_tables_of_several_models_have_their_mean_and_its_error(capsys, monkeypatch, tmp_path):
    """Also of what an earlier run wrote."""
    def found(right):
        return {("full", 100): {"few": [True, True]}, ("smaller", 12): {"few": right}}
    paths = [tmp_path / f"{seed}.json" for seed in range(3)]
    for path, right in zip(paths, ([True] * 4, [True, False] * 2, [False] * 4)):
        monkeypatch.setattr(answers, "ask", lambda *given, right=right: found(right))
        monkeypatch.setattr(answers, "Model", lambda given: None)
        monkeypatch.setattr(sys, "argv", ["answers.py", f"/a/{path.stem}", "--scenes", "1", "--shares", "12", "--json", str(path)])
        answers.main()
    alone = capsys.readouterr().out
    assert "| 12 | smaller | 50 ± 49 |" in alone and "mean of" not in alone
    monkeypatch.setattr(answers, "ask", None)  # nothing is asked again
    monkeypatch.setattr(sys, "argv", ["answers.py", "--shares", "12", "--read", *map(str, paths)])
    answers.main()
    said = capsys.readouterr().out
    assert "mean of 3 models" in said and f"| 12 | smaller | 50 ± {50 / 3**.5:.0f} |" in said and "| 100 | full | 100 ± 0 |" in said
