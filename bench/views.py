#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/views.py [ROUNDS]: what it costs that threads may share a model: processor time of making the view of the model that each
pruned call runs on, beside the call itself, of tiny models of random weights of all families (python/tests), whose calls are as short
as calls can be; of plain calls before the first pruned one and after it; and of the view alone of LLaVA 1.5's encoder, which takes
longer than its toy's. Run by a Python that has the package (`ci/hf-environment`, with the newest transformers).

The models are those of the tests, which need pytest. Exit: 0; 1 where views take more than 3 % of what `generate` of a family takes
without them (of `forward` it is told, and nothing is asked); 77 without the package, PyTorch, transformers or pytest.
"""
import pathlib
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PROJECT / "python" / "tests"), str(PROJECT / "tests" / "python")]
from common import need  # noqa: E402

torch, *_ = need("torch", "transformers", "pytest", "texturevlm.hf")
import test_hf  # noqa: E402
import test_hf_prompt  # noqa: E402
from texturevlm.hf import _batch, _crops, _encoder, _generate, _layouts, _prompt  # noqa: E402

MOST = 3.0  # percent of `generate`
OPTIONS = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "suppress_tokens": list(range(96, 128))}
FAMILIES = [(test_hf, family) for family in test_hf.FAMILIES] + [(test_hf_prompt, family) for family in test_hf_prompt.FAMILIES]
if test_hf.NEW:
    import hf_families
    FAMILIES += [(hf_families, family) for family in hf_families.FAMILIES]
spent = 0.0


def timed(view_of):
    """The same function, whose time is added up."""
    def view(*arguments, **options):
        global spent
        started = time.thread_time()
        try:
            return view_of(*arguments, **options)
        finally:
            spent += time.thread_time() - started
    return view


def least(call, rounds):
    """The processor time of a call, and that of making views in it: of the round that took least."""
    global spent
    found = []
    for _ in range(rounds):
        spent, started = 0.0, time.process_time()
        call()
        found.append((time.process_time() - started, spent))
    return min(found)


def tiny(tests, family):
    """A model of the tests, and a batch with what is kept of it."""
    model = tests.model_of(family)
    if tests is test_hf:
        batch = tests.batch_of(model, [1, 2, ("image", 1, 8, 6), 3, 4])
        return model, batch, tests.keep_of(batch)
    batch = tests.batch_of(family, [1, 5, tests.IMAGE, 6, 7])
    return model, batch, [tests.keep_of(family, batch)]


def whole(rounds):
    """The processor time of the view of the whole encoder of LLaVA 1.5, 24 layers; its weights need not be there for that."""
    import transformers
    from prune import VIT_L
    vision = {**VIT_L, "image_size": 336, "model_type": "clip_vision_model"}
    with torch.device("meta"):
        model = transformers.LlavaForConditionalGeneration(transformers.LlavaConfig(
            vision_config=vision, text_config={**test_hf_prompt.TEXT, "model_type": "llama"}))
    return least(lambda: _prompt.view_of(model, "model.vision_tower", below=-1), rounds)[1]


def over(whole, views):
    """What views cost over the call without them, in percent."""
    return 100 * views / (whole - views)


def verdict(generate, forward):
    """Of costs by family: prints the largest of each, and the exit status."""
    for name, costs in (("generate", generate), ("forward", forward)):
        worst = max(costs, key=costs.get)
        print(f"{name}: views cost at most {costs[worst]:.1f} % over the call without them ({worst})" +
              (f", where at most {MOST:g} % are asked for" if costs is generate else ""))
    failed = [family for family, cost in generate.items() if not cost <= MOST]
    for family in failed:
        print(f"FAILED: {family}: views cost {generate[family]:.1f} % over generate without them")
    return int(bool(failed))


def main(rounds=25):
    costs = {}, {}
    torch.set_num_threads(1)
    for module in (_batch, _crops, _encoder, _generate, _layouts, _prompt):
        module.view_of = timed(module.view_of)
    print("| | generate, ms | views, ms | share | forward, ms | views, ms | share | plain before, ms | after |\n" + "|---" * 9 + "|")
    for tests, family in FAMILIES:
        model, batch, keep = tiny(tests, family)
        with torch.no_grad():
            plain = [least(lambda: model(**batch), rounds)[0]]
            pruned = test_hf.hf.prune_batch(model, batch, *keep)
            own = [least(lambda: pruned.generate(**OPTIONS), rounds), least(pruned.forward, rounds)]
            plain.append(least(lambda: model(**batch), rounds)[0])
        for found, (total, views) in zip(costs, own):
            found[family] = over(total, views)
        cells = [f"{1000 * whole:.1f} | {1000 * views:.2f} | {100 * views / whole:.1f} %" for whole, views in own]
        print(f"| {family} | {' | '.join(cells)} | " + " | ".join(f"{1000 * value:.1f}" for value in plain) + " |", flush=True)
    print(f"\nthe view of LLaVA 1.5's encoder: {1000 * whole(rounds):.2f} ms")
    return verdict(*costs)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
