# SPDX-License-Identifier: Apache-2.0
"""bench/vlm.py and bench/prune.py on tiny models of random weights."""
import dataclasses
import importlib.util
import json
import pathlib
import re
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")
if transformers.__version__.startswith("4.47"):
    pytest.skip("its generate does not import on torch 1.13 with Python 3.11", allow_module_level=True)
import test_hf  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def program(name):
    spec = importlib.util.spec_from_file_location("bench_" + name, BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for what a name in quotes means
    spec.loader.exec_module(module)
    return module


class Processor(test_hf.Processor):
    """Cuts what is no whole token, and says all words as "seven"."""

    patch = 14

    def __call__(self, text, images, **options):
        picture = np.asarray(images[0])
        rows, columns = (max(1, side // 28) * 28 for side in picture.shape[:2])
        return super().__call__(text, [picture[:rows, :columns]])

    def batch_decode(self, words, **options):
        return ["It is seven." for _ in words]


def test_questions_are_answered_with_all_and_with_fewer_tokens(tmp_path, monkeypatch, capsys):
    vlm = program("vlm")
    Image.fromarray(test_hf.picture_of(7, 280, 336)).save(tmp_path / "photo.png")
    questions = [{"image": "photo.png", "question": "How many?", "answers": ["seven", "7"]},
                 {"image": "photo.png", "question": "What?", "answers": ["seventeen"]}]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, questions)))
    monkeypatch.setattr(vlm, "load", lambda name, dtype, device: (test_hf.model_of("qwen2_vl"), Processor()))
    vlm.main(["tiny", "--questions", str(tmp_path / "q.jsonl"), "--max-new-tokens", "2", "--json", str(tmp_path / "out.json")])
    ways = {(row["way"], row["share"]): row for row in json.loads((tmp_path / "out.json").read_text())["ways"]}
    tokens = {name: row["tokens"] for name, row in ways.items()}
    assert tokens == {("all tokens", 1.0): 120, ("pruned", 0.5): 60, ("pruned", 0.25): 30, ("pruned", 0.1): 12,
                      ("smaller photo", 0.5): 56, ("smaller photo", 0.25): 30, ("smaller photo", 0.1): 9}
    assert all(row["accuracy"] == 0.5 and row["seconds"] > 0 for row in ways.values())
    assert len(re.findall(r"^(?:all tokens|pruned|smaller photo) .* 50.0%", capsys.readouterr().out, re.M)) == 7
    (tmp_path / "bad.jsonl").write_text('{"image": "photo.png"}')
    with pytest.raises(SystemExit, match="bad.jsonl:1: KeyError: 'answers'"):
        vlm.main(["tiny", "--questions", str(tmp_path / "bad.jsonl")])


def test_what_counts_as_right():
    is_right = program("vlm").is_right
    assert is_right("It is 4.50!", ["4.50"])
    assert is_right("A Red-Car", ["red-car"]) and not is_right("redden", ["red"]) and not is_right("anything", [""])


@pytest.mark.parametrize("family", program("prune").families())
def test_times_stand_side_by_side(family, monkeypatch, capsys):
    prune = program("prune")
    row = prune.FAMILIES[family]
    small = {"embed_dim": 64, "hidden_size": 64, "out_hidden_size": 64, "intermediate_size": 64, "num_heads": 4, "num_attention_heads": 4}
    row = dataclasses.replace(row, vision={key: small.get(key, value) for key, value in row.vision.items()})
    if row.text is not None:
        tiny = prune.text_of(64, 64, 4, 4, 2)
        text = {key: value if key == "num_hidden_layers" else tiny.get(key, value) for key, value in row.text.items()}
        if "rope_scaling" in text and "head_dim" not in text:
            text["rope_scaling"] = prune.rope_of(16)
        more = {key: 64 for key in ("projection_dim", "hidden_size") if key in row.config}
        row = dataclasses.replace(row, text=text, config={**row.config, **more})
    monkeypatch.setitem(prune.FAMILIES, family, row)
    prune.main([family, "--sizes", "224,252", "--repetitions", "1"])
    said = capsys.readouterr().out
    rows = re.findall(r"^ +(\d+) +(\d+)% +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", said, re.M)
    assert len(rows) == 8 and re.search(r"a quarter pays (from \d+ x \d+|for none)", said)
    for side in ("224", "252"):
        tokens = [int(row[2]) for row in rows if row[0] == side]
        assert tokens[1:] == [round(tokens[0] * share) for share in (0.5, 0.25, 0.1)]
    for *_, processor, selection, model, total in rows:
        assert abs(float(processor) + float(selection) + float(model) - float(total)) < 0.21
    with pytest.raises(SystemExit, match="there is no family x; there are qwen2_vl"):
        prune.main(["x"])
