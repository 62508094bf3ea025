# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf with models in wrappers (torch.compile, PEFT, DataParallel, accelerate's hooks): three pictures have three answers,
those of the model that is within; what would go past the pictures is refused."""
import copy
import functools
import types

import pytest

import texturevlm as tv

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import test_hf  # noqa: E402

if test_hf.VERSION == "4.47":
    pytest.skip("there torch has no torch.compile, and generate does not import", allow_module_level=True)
import test_hf_encoder  # noqa: E402
import test_hf_prompt  # noqa: E402

hf = test_hf.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
OPTIONS = {"max_new_tokens": 3, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "suppress_tokens": [100, 101],
           "return_dict_in_generate": True, "output_logits": True}
FAMILIES = [(test_hf, family) for family in test_hf.FAMILIES] + [(test_hf_prompt, family) for family in test_hf_prompt.FAMILIES]
if test_hf.NEW:
    import hf_families
    FAMILIES += [(hf_families, family) for family in hf_families.FAMILIES]
families = pytest.mark.parametrize("tests, family", FAMILIES, ids=lambda value: value if isinstance(value, str) else "")


def compiled_method(model):
    model.forward = torch.compile(model.forward)
    return model


def compiled_in_place(model):
    model.compile()
    return model


def compiled_parts(model):
    parts = getattr(model, "model", model)
    for name, inner in parts.named_children():
        setattr(parts, name, torch.compile(inner))
    return model


def hooked(model):
    """As accelerate's dispatch_model and its hooks leave a model: add_hook_to_module of accelerate 1.15."""
    def new_forward(module, *arguments, **options):
        module.seen = getattr(module, "seen", 0) + 1
        return module._old_forward(*arguments, **options)

    for module in list(model.modules()):
        module._old_forward = module.forward
        module.forward = functools.update_wrapper(functools.partial(new_forward, module), module._old_forward)
    return model


def with_a_method(model):
    """As accelerate's prepare leaves a model where it mixes precisions."""
    model.forward = types.MethodType(model.forward.__func__, model)
    return model


def within_processes(model):
    import torch.distributed as distributed
    if not distributed.is_initialized():
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    return torch.nn.parallel.DistributedDataParallel(model)


WRAPPERS = {"torch.compile": torch.compile, "forward": compiled_method, "compile()": compiled_in_place, "compiled parts": compiled_parts,
            "DataParallel": torch.nn.DataParallel, "DistributedDataParallel": within_processes,
            "both": lambda model: torch.compile(torch.nn.DataParallel(model)), "accelerate": hooked, "a method": with_a_method}


def batches_of(tests, family, model):
    """Three pictures, each with the question and what is kept of it."""
    found = []
    for seed in (1, 2, 3):
        batch = (tests.batch_of(model, [1, 2, ("image", 1, 8, 6), 3, 4], seed=seed) if tests is test_hf
                 else tests.batch_of(family, [1, 5, 100, 6, 7], seed=seed))
        found.append((batch, tests.keep_of(batch) if tests is test_hf else [tests.keep_of(family, batch)]))
    return found


def answers(model, batches):
    """What is generated, and the logits of it and of forward."""
    found = []
    for batch, keep in batches:
        pruned = hf.prune_batch(model, batch, *keep)
        answer = pruned.generate(**OPTIONS)
        found.append((answer.sequences, torch.stack(answer.logits), pruned.forward().logits))
    return found


def check(own, expected):
    for mine, other in zip(own, expected):
        for a, b in zip(mine, other):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-4)
    for i in range(3):
        assert (own[i][1] - own[i - 1][1]).abs().max() > 1e-2  # the picture was seen
        assert (own[i][2] - own[i - 1][2]).abs().max() > 1e-2


@families
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_three_pictures_have_the_three_answers_of_the_model_within(tests, family, wrapper, monkeypatch):
    # What is compiled is computed as it is: only that the wrapper is one counts here.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    model = tests.model_of(family)
    batches = batches_of(tests, family, model)
    expected = answers(model, batches)
    check(answers(WRAPPERS[wrapper](model), batches), expected)


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("family", test_hf_encoder.FAMILIES)
def test_encoders_too(family, wrapper):
    model = test_hf_encoder.encoder_of(family, whole=True)
    batch = test_hf_encoder.batch_of(family)
    keep = test_hf_encoder.some(test_hf_encoder.counts_of(batch))

    def features(model):
        found = hf.prune_batch(model, batch, keep).image_features()
        return getattr(found, "pooler_output", found)

    expected = features(model)
    if wrapper != "compiled parts":
        torch.testing.assert_close(features(WRAPPERS[wrapper](model)), expected, rtol=0, atol=1e-5)
    model.vision_model = torch.compile(model.vision_model)
    torch.testing.assert_close(features(model), expected, rtol=0, atol=1e-5)


def adapted(family):
    """The layers that have adapters. PEFT knows no layers of Gemma 4's encoder, but those within them."""
    if family.startswith("gemma4"):
        return r".*(language_model.*\.[qv]_proj|[qv]_proj\.linear)"
    return ["q_proj", "v_proj", "qkv"]


@families
def test_lora_by_peft(tests, family):
    """Against the model with the adapters merged into its weights, and with all tokens against PEFT's own model."""
    peft = pytest.importorskip("peft")
    model = tests.model_of(family)
    batches = batches_of(tests, family, model)
    plain = answers(model, batches)
    torch.manual_seed(5)
    wrapped = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=adapted(family), init_lora_weights=False))
    own = answers(wrapped, batches)
    assert (own[0][2] - plain[0][2]).abs().max() > 1e-2  # the adapters count
    for batch, _ in batches:
        assert torch.equal(hf.prune_batch(wrapped, batch).generate(**OPTIONS).sequences, wrapped.generate(**batch, **OPTIONS).sequences)
    check(answers(torch.compile(wrapped), batches), own)
    check(own, answers(copy.deepcopy(wrapped).merge_and_unload(), batches))


@families
def test_an_encoder_that_peft_trains_as_a_whole(tests, family):
    """modules_to_save puts a copy of it beside it, of which the one that is active counts."""
    peft = pytest.importorskip("peft")
    model = tests.model_of(family)
    batches = batches_of(tests, family, model)
    plain = answers(model, batches)
    config = peft.LoraConfig(r=2, target_modules=adapted(family), modules_to_save=["vision_tower", "visual", "vision_model"])
    wrapped = peft.get_peft_model(model, config).eval()
    torch.manual_seed(5)
    for name, parameter in wrapped.named_parameters():
        if "modules_to_save" in name:
            parameter.data += 0.05 * torch.randn_like(parameter)
    for batch, _ in batches:
        assert torch.equal(hf.prune_batch(wrapped, batch).generate(**OPTIONS).sequences, wrapped.generate(**batch, **OPTIONS).sequences)
        torch.testing.assert_close(hf.prune_batch(wrapped, batch).forward().logits, wrapped(**batch).logits, rtol=0, atol=1e-4)
    own = answers(wrapped, batches)
    check(own, own)
    assert (own[0][2] - plain[0][2]).abs().max() > 1e-2  # what was trained counts
    with wrapped.disable_adapter():
        check(answers(wrapped, batches), plain)


def test_adapters_of_a_call_are_refused():
    """PEFT's own forward would read them; the model's swallows them."""
    for pruned in (hf.prune_batch(test_hf_prompt.model_of("llava"), test_hf_prompt.batch_of("llava", [1, 5, 100, 6, 7])),
                   hf.prune_batch(test_hf_encoder.encoder_of("clip"), test_hf_encoder.batch_of("clip"))):
        with pytest.raises(tv.Error, match="adapter_names are read by PEFT's own forward"):
            pruned.forward(adapter_names=["a"])


def test_what_works_around_the_model_is_refused():
    peft = pytest.importorskip("peft")
    batch = test_hf_prompt.batch_of("llava", [1, 5, 100, 6, 7])
    for config in (peft.PromptTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM", token_dim=32, num_layers=3, num_attention_heads=4),
                   peft.AdaLoraConfig(target_modules=["q_proj"], total_step=3)):
        wrapped = peft.get_peft_model(test_hf_prompt.model_of("llava"), config)
        with pytest.raises(tv.Error, match="PEFT's [A-Z_]+ does more than change the model's layers"):
            hf.prune_batch(wrapped, batch)
        with pytest.raises(tv.Error, match="PEFT's"):
            hf.Pruner(wrapped, None)


def test_accelerates_own_hooks():
    accelerate = pytest.importorskip("accelerate")
    for tests, family in ((test_hf, "qwen2_5_vl"), (test_hf_prompt, "llava"), (test_hf_prompt, "internvl")):
        model = tests.model_of(family)
        batches = batches_of(tests, family, model)
        expected = answers(model, batches)
        check(answers(accelerate.cpu_offload(model, execution_device="cpu"), batches), expected)


class Wrapper(torch.nn.Module):
    """One that nobody knows, with a method that nobody calls."""

    def __init__(self, model):
        super().__init__()
        self.inner, self.config, self.generate = model, model.config, model.generate


def test_other_wrappers_are_refused():
    with pytest.raises(tv.Error, match="the model is a Wrapper, none of transformers; of wrappers torch.compile"):
        hf.Pruner(Wrapper(test_hf_prompt.model_of("llava")), None)
    model = within_processes(test_hf_prompt.model_of("llava"))
    pruned = hf.prune_batch(model, test_hf_prompt.batch_of("llava", [1, 5, 100, 6, 7]))
    with torch.enable_grad(), pytest.raises(tv.Error, match="DistributedDataParallel, which would not sum its gradients"):
        pruned.forward()


def test_a_model_that_goes_past_the_picture_fails():
    model, batch = test_hf_prompt.model_of("llava"), test_hf_prompt.batch_of("llava", [1, 5, 100, 6, 7])
    tower = model.model.vision_tower
    remembered = tower(batch["pixel_values"], output_hidden_states=True)
    tower.forward = types.MethodType(lambda self, *arguments, **options: remembered, tower)
    with pytest.raises(tv.Error, match="the model answered without the chosen patches"):
        hf.prune_batch(model, batch, test_hf_prompt.keep_of("llava", batch)).generate(**OPTIONS)
    with pytest.raises(tv.Error, match="without the chosen patches"):
        hf.prune_batch(model, batch, test_hf_prompt.keep_of("llava", batch)).forward()

    model = test_hf_prompt.model_of("gemma3")
    before, batch = model.forward, test_hf_prompt.batch_of("gemma3", [1, 5, 100, 6, 7])
    model.forward = lambda *arguments, **options: before(*arguments, **options)
    with pytest.raises(tv.Error, match="the forward of the model's Gemma3ForConditionalGeneration was replaced by a function"):
        hf.prune_batch(model, batch, test_hf_prompt.keep_of("gemma3", batch)).generate(**OPTIONS)

    model = test_hf.model_of("qwen2_vl")
    batch = test_hf.batch_of(model, *test_hf.PROMPTS["an image"])

    @functools.wraps(type(model).forward)
    def without_pictures(self, *arguments, **options):
        for name in ("mm_encoder_outputs", "pixel_values", "image_grid_thw"):
            options.pop(name, None)
        return type(self).forward(self, *arguments, **options)

    model.forward = types.MethodType(without_pictures, model)
    pruned = hf.prune_batch(model, batch, *test_hf.keep_of(batch))
    for call in (pruned.forward, functools.partial(pruned.generate, **OPTIONS)):
        with pytest.raises(tv.Error, match="the model answered without the pictures"):
            call()
    model = test_hf_encoder.encoder_of("siglip")
    remembered = model(**test_hf_encoder.batch_of("siglip"))
    (model if "embeddings" in model._modules else model.vision_model).forward = types.MethodType(lambda *_, **__: remembered, (
        model if "embeddings" in model._modules else model.vision_model))
    with pytest.raises(tv.Error, match="the model answered without the chosen patches"):
        hf.prune_batch(model, test_hf_encoder.batch_of("siglip")).forward()


PICTURES = ("mm_encoder_outputs", "pixel_values", "image_grid_thw", "pixel_attention_mask", "image_sizes", "image_position_ids",
            "image_features", "image_outputs", "vision_outputs", "image_hidden_states")


@families
def test_a_forward_without_the_picture_fails_or_is_not_asked(tests, family):
    """A forward that hands on nothing of the picture: what is answered is what is answered with the picture, or an error."""
    model = tests.model_of(family)
    batch, keep = batches_of(tests, family, model)[0]
    right = hf.prune_batch(model, batch, *keep).forward().logits
    dropped = set()

    @functools.wraps(type(model).forward)
    def without_pictures(self, *arguments, **options):
        handed = {name: options.pop(name, None) for name in PICTURES}
        dropped.update(name for name, value in handed.items() if value is not None and value != {})  # transformers 5.24 hands {}
        return type(self).forward(self, *arguments, **options)

    model.forward = types.MethodType(without_pictures, model)
    pruned = hf.prune_batch(model, batch, *keep)
    for call in (lambda: pruned.forward().logits, lambda: pruned.generate(**OPTIONS).logits[0]):
        try:
            answer = call()
        except tv.Error as error:
            assert "without the" in str(error)
        else:
            assert not dropped
            assert answer.shape != right.shape or torch.equal(answer, right)


@families
def test_nothing_stays_on_the_model(tests, family):
    """What a model and its modules have is after pruned calls what it was before."""
    model = tests.model_of(family)
    batches = batches_of(tests, family, model)
    pruned = [hf.prune_batch(model, batch, *keep) for batch, keep in batches]

    def state():
        return {(name, key): (value if not isinstance(value, dict) else tuple(value)) for name, module in model.named_modules()
                for key, value in vars(module).items()}

    for batch, _ in batches:  # what the model's own calls leave, hooks that look at its layers
        model(**batch, output_hidden_states=True)
        model.generate(**batch, **OPTIONS)
    before = state()
    for one in pruned:
        one.generate(**OPTIONS, output_hidden_states=True)
        one.generate(**OPTIONS)
        one.forward()
    after = state()
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert value is after[key] or value == after[key], key
