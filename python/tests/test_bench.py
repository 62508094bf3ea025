# SPDX-License-Identifier: Apache-2.0
"""bench/prune.py on tiny models of random weights."""
import dataclasses
import importlib.util
import pathlib
import re
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
if transformers.__version__.startswith("4.47"):
    pytest.skip("its generate does not import on torch 1.13 with Python 3.11", allow_module_level=True)

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def program(name):
    spec = importlib.util.spec_from_file_location("bench_" + name, BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for what a name in quotes means
    spec.loader.exec_module(module)
    return module


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


def test_views_that_cost_too_much_fail(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCH))
    views = program("views")
    assert views.over(1.04, 0.04) == pytest.approx(4)
    assert views.verdict({"a": 2.9, "b": 0.1}, {"a": 9.0, "b": 0.0}) == 0
    assert "forward: views cost at most 9.0 %" in capsys.readouterr().out
    assert views.verdict({"a": 2.9, "b": 3.1}, {"a": 0.0, "b": 0.0}) == 1
    assert "FAILED: b:" in capsys.readouterr().out
