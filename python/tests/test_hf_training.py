# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf: what generate's and forward's options mean for pruned prompts (lengths, streamers, outputs, labels), and learning on
them: a step is that on the full prompt where the dropped tokens are masked."""
import copy

import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import test_hf  # noqa: E402

if test_hf.VERSION == "4.47":
    pytest.skip("generate does not import there", allow_module_level=True)
import test_hf_prompt  # noqa: E402
from test_hf_wrapped import adapted  # noqa: E402

hf = test_hf.hf
OPTIONS = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None, "suppress_tokens": list(range(96, 128))}
FAMILIES = [(test_hf, family) for family in test_hf.FAMILIES] + [(test_hf_prompt, family) for family in test_hf_prompt.FAMILIES]
if test_hf.NEW:
    import test_hf_families
    FAMILIES += [(test_hf_families, family) for family in test_hf_families.FAMILIES]
families = pytest.mark.parametrize("tests, family", FAMILIES, ids=lambda value: value if isinstance(value, str) else "")


def made(tests, family, prompt="an image"):
    model = tests.model_of(family)
    batch = tests.batch_of(model if tests is test_hf else family, *tests.PROMPTS[prompt])
    keep = tests.keep_of(batch) if tests is test_hf else [tests.keep_of(family, batch)]
    return model, batch, keep


class Streamer:
    """One that keeps what it gets."""

    def __init__(self):
        self.got, self.ended = [], False

    def put(self, value):
        self.got.append(value.reshape(-1).tolist())

    def end(self):
        self.ended = True


@families
def test_options_of_generate_are_those_of_the_full_prompt(tests, family):
    model, batch, keep = made(tests, family)
    full = batch["input_ids"].shape[1]
    pruned = hf.prune_batch(model, batch, *keep)
    plain = pruned.generate(max_new_tokens=4, **OPTIONS)
    assert torch.equal(plain[:, :full], batch["input_ids"]) and plain.shape[1] == full + 4
    assert torch.equal(pruned.generate(max_length=full + 4, **OPTIONS), plain)
    config = transformers.GenerationConfig(max_length=full + 4, **OPTIONS)
    assert torch.equal(pruned.generate(generation_config=config), plain) and config.max_length == full + 4
    everything = hf.prune_batch(model, batch)  # max_length is the model's own; by default 20 tokens are new
    for options in ({"max_length": full + 3}, {}):
        assert torch.equal(everything.generate(**options, **OPTIONS), model.generate(**batch, **options, **OPTIONS))
    with pytest.raises(tv.Error, match=f"max_length={full} counts the full prompt, too, which has {full} places"):
        pruned.generate(max_length=full, **OPTIONS)

    answer = pruned.generate(max_new_tokens=4, return_dict_in_generate=True, output_scores=True, output_logits=True,
                             output_hidden_states=True, **OPTIONS)
    assert torch.equal(answer.sequences, plain) and len(answer.scores) == len(answer.logits) == len(answer.hidden_states) == 4
    assert [int(scores.argmax()) for scores in answer.scores] == plain[0, full:].tolist()
    assert answer.hidden_states[0][-1].shape[-2] == pruned.input_ids.shape[1]
    with torch.no_grad():
        torch.testing.assert_close(answer.logits[0], pruned.forward().logits[:, -1].float(), rtol=0, atol=1e-4)

    own, models = Streamer(), Streamer()
    pruned.generate(max_new_tokens=4, streamer=own, **OPTIONS)
    everything.generate(max_new_tokens=4, streamer=(all_own := Streamer()), **OPTIONS)
    model.generate(**batch, max_new_tokens=4, streamer=models, **OPTIONS)
    assert own.got[0] == batch["input_ids"][0].tolist() and sum(own.got[1:], []) == plain[0, full:].tolist() and own.ended
    assert all_own.got == models.got

    seen = []

    class Processor(transformers.LogitsProcessor):
        def __call__(self, input_ids, scores):
            seen.append(input_ids)
            return scores

    class Criterion(transformers.StoppingCriteria):
        def __call__(self, input_ids, scores, **options):
            seen.append(input_ids)
            return torch.full((len(input_ids),), input_ids.shape[1] >= full + 2)

    found = pruned.generate(max_new_tokens=4, logits_processor=transformers.LogitsProcessorList([Processor()]),
                            stopping_criteria=transformers.StoppingCriteriaList([Criterion()]), **OPTIONS)
    assert torch.equal(found, plain[:, :full + 2])
    assert [ids.shape[1] for ids in seen] == [full, full + 1, full + 1, full + 2] and torch.equal(seen[0], batch["input_ids"])


def test_what_a_pruned_batch_cannot_be_asked_is_one_line():
    model, batch, keep = made(test_hf_prompt, "internvl")
    pruned = hf.prune_batch(model, batch, *keep)
    for options in ({"num_beams": 2}, {"num_return_sequences": 2}, {"assistant_model": model}, {"guidance_scale": 2.0},
                    {"use_cache": False}, {"prompt_lookup_num_tokens": 3}, {"input_ids": batch["input_ids"]},
                    {"past_key_values": transformers.DynamicCache()}, {"position_ids": batch["input_ids"]},
                    {"generation_config": transformers.GenerationConfig(num_beams=3)}):
        with pytest.raises(tv.Error, match="|".join([*options, "num_beams"])):
            pruned.generate(**options)
    for labels in (batch["input_ids"][:, 1:], batch["input_ids"].float(), 3):
        with pytest.raises(tv.Error, match=r"labels are .*, not whole numbers of the full prompt's shape \[1, 20\]"):
            pruned.forward(labels=labels)
    with pytest.raises(tv.Error, match="position_ids is the pruned batch's own"):
        pruned.forward(position_ids=batch["input_ids"])


@families
@pytest.mark.parametrize("prompt", ["an image", "a padded batch"])
def test_a_step_of_lora_is_that_on_the_masked_full_prompt(tests, family, prompt):
    """Of adapters in the encoder and the language model; the loss is over the pairs of neighbours that are both kept."""
    if family.startswith("qwen3_5"):
        pytest.skip("its linear attention has no masked keys")
    peft = pytest.importorskip("peft")
    model, batch, keep = made(tests, family, prompt)
    torch.manual_seed(5)
    own = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=adapted(family), init_lora_weights=False))
    other = copy.deepcopy(own)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    labels[:, :2] = -100
    before = {name: value.clone() for name, value in own.named_parameters() if value.requires_grad}

    pruned = hf.prune_batch(own, {**batch, "labels": labels}, *keep)
    loss = pruned.forward().loss
    inner = other.get_base_model()
    masked = hf.prune_batch(inner, batch, *keep)
    logits = tests.masked_logits(*[family][:tests is not test_hf], inner, batch, masked)
    pairs = masked.kept[:, :-1] & masked.kept[:, 1:]
    expected = torch.nn.functional.cross_entropy(logits[:, :-1][pairs], labels[:, 1:][pairs])
    torch.testing.assert_close(loss, expected, rtol=0, atol=2e-5)

    for each, value in ((own, loss), (other, expected)):
        optimizer = torch.optim.SGD([part for part in each.parameters() if part.requires_grad], lr=0.1)
        value.backward()
        optimizer.step()
    after = dict(other.named_parameters())
    moved = 0
    for name, start in before.items():
        mine = dict(own.named_parameters())[name]
        torch.testing.assert_close(mine, after[name], rtol=1e-5, atol=2e-5)
        moved += int((mine - start).abs().max() > 1e-6)
    assert moved > len(before) / 2
