# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf in several threads on one model, pruned calls beside plain ones: every call gets its own answer.

200 calls in each of four threads with PyPI's PyTorch (ci/python --hf, --newest); a part of that with Debian's, or where
TVLM_TEST_QUICK is set.
"""
import itertools
import os
import sys
import threading

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
import test_hf  # noqa: E402
import test_hf_encoder  # noqa: E402

hf = test_hf.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
OLD = test_hf.VERSION == "4.47"
if not OLD:
    import test_hf_prompt
THREADS, CALLS = 4, 20 if OLD or os.environ.get("TVLM_TEST_QUICK") else 200
OPTIONS = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "suppress_tokens": [100, 101]}
# 4.57's own models note on themselves what a call needs: Qwen-VL its rope_deltas, SigLIP in LLaVA the layers that are watched. Two plain
# calls with pictures mix there, without any pruning, so that they are left out.
PLAIN_MIXES = () if test_hf.NEW else ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "llava-siglip")
FAMILIES = [(test_hf, family) for family in test_hf.FAMILIES] + [(test_hf_encoder, family) for family in test_hf_encoder.FAMILIES]
if not OLD:
    FAMILIES += [(test_hf_prompt, family) for family in test_hf_prompt.FAMILIES]
if test_hf.NEW:
    import hf_families
    FAMILIES += [(hf_families, family) for family in hf_families.FAMILIES]


def requests_of(tests, family):
    """Calls of several kinds and lengths on one model, each with a name."""
    if tests is test_hf_encoder:
        model, found = tests.encoder_of(family, whole=True), []
        for pictures in (1, 2):
            batch = tests.batch_of(family, pictures)
            pruned = hf.prune_batch(model, batch, tests.some(tests.counts_of(batch), seed=pictures))
            found += [("pruned", pruned.image_features), ("plain", lambda batch=batch: model.get_image_features(**batch))]
        return found
    model = tests.model_of(family)
    found = []
    for seed, prompt in enumerate(([[1, 2, "first", 3, 4, 5]], [[1, 2, 3, 4, 5, 6, "second", 7]])):
        if tests is test_hf:
            pictures = {"first": ("image", 1, 4, 6), "second": ("image", 1, 8, 4)}
            batch = tests.batch_of(model, *[[pictures.get(part, part) for part in row] for row in prompt], seed=seed)
            keep = tests.keep_of(batch, seed)
        else:
            batch = tests.batch_of(family, *[[tests.IMAGE if isinstance(part, str) else part for part in row] for row in prompt], seed=seed)
            keep = [tests.keep_of(family, batch)]
        pruned = hf.prune_batch(model, batch, *keep)
        found.append(("pruned forward", lambda pruned=pruned: pruned.forward().logits))
        if OLD:
            continue
        found.append(("pruned generate", lambda pruned=pruned: pruned.generate(**OPTIONS)))
        if family not in PLAIN_MIXES:
            found.append(("plain generate", lambda batch=batch: model.generate(**batch, **OPTIONS)))
    if OLD:
        return found
    for words in ([1, 5, 6], [1, 7, 8, 9, 10, 11]):
        text = {"input_ids": torch.tensor([words]), "attention_mask": torch.ones(1, len(words), dtype=torch.long)}
        if family == "paligemma":
            text["token_type_ids"] = torch.zeros_like(text["input_ids"])
        found.append(("plain text", lambda text=text: model.generate(**text, **OPTIONS)))
    return found


def values_of(answer):
    return getattr(answer, "pooler_output", answer)


@pytest.fixture
def often():
    """Lets threads change places often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run(calls, count, expected):
    """Those that went wrong, of so many calls in each of the threads."""
    wrong = []

    def work(number):
        with torch.no_grad():  # which is a thread's own
            for i in itertools.islice(itertools.cycle(range(len(calls))), number, number + count):
                name, call = calls[i]
                try:
                    torch.testing.assert_close(values_of(call()), expected[i], rtol=0, atol=1e-4)
                except Exception as error:  # an exception is as wrong as another answer
                    wrong.append((name, type(error).__name__, str(error)[:200]))

    threads = [threading.Thread(target=work, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


@pytest.mark.parametrize("tests, family", FAMILIES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_call_gets_its_own_answer(often, tests, family):
    calls = requests_of(tests, family)
    expected = [values_of(call()) for _, call in calls]
    wrong = run(calls, CALLS, expected)
    assert not wrong, (len(wrong), wrong[:5])
