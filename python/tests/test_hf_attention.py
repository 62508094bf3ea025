# SPDX-License-Identifier: Apache-2.0
"""texturevlm.hf with each of transformers' ways to attend: what is computed does not hang on it.

Flash attention has no kernel for CPUs. Two functions stand in for its library, which compute by its manual (sequences one behind the
other, told apart by cu_seqlens); all that transformers does around them, down to their arguments, is its own.
"""
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
if transformers.__version__.startswith("4.47"):
    pytest.skip("its ways to attend are classes, chosen when a model is made", allow_module_level=True)
import test_hf  # noqa: E402
import test_hf_encoder  # noqa: E402
import test_hf_prompt  # noqa: E402
from transformers import modeling_flash_attention_utils as flash  # noqa: E402

hf = test_hf.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
QWEN = [(test_hf, family) for family in test_hf.FAMILIES]
PROMPT = [(test_hf_prompt, family) for family in test_hf_prompt.FAMILIES]
ENCODER = [(test_hf_encoder, family) for family in test_hf_encoder.FAMILIES]
# In their language models a picture's tokens see those behind them, which flash attention has no mask for.
BOTH_WAYS = ("gemma3",) if test_hf.NEW else ("gemma3", "paligemma")


def attended(query, key, value, causal, scale):
    """[queries, heads, width]: as flash attention has it, the last query stands beside the last key."""
    repeats = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    weights = torch.einsum("qhd,khd->hqk", query, key) * scale
    if causal:
        later = torch.ones(weights.shape[1:], dtype=torch.bool).triu(1 + len(key) - len(query))
        weights = weights.masked_fill(later, -torch.inf)
    return torch.einsum("hqk,khd->qhd", weights.softmax(dim=-1), value)


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1)):
    return torch.stack([attended(*row, causal, softmax_scale or q.shape[-1]**-0.5) for row in zip(q, k, v)])


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p=0.0, softmax_scale=None, causal=False,
                           window_size=(-1, -1)):
    for edges, rows, longest in ((cu_seqlens_q, q, max_seqlen_q), (cu_seqlens_k, k, max_seqlen_k)):
        assert edges.dtype == torch.int32 and edges[0] == 0 and edges[-1] == len(rows) and int(edges.diff().max()) <= int(longest)
    parts = zip(*(rows.split(edges.diff().tolist()) for rows, edges in ((q, cu_seqlens_q), (k, cu_seqlens_k), (v, cu_seqlens_k))))
    return torch.cat([attended(*part, causal, softmax_scale or q.shape[-1]**-0.5) for part in parts])


@pytest.fixture
def attending(monkeypatch):
    """Lets a model attend in one of the ways."""
    process = flash._lazy_define_process_function(flash_attn_varlen_func)
    functions, of_keyword = (flash_attn_func, flash_attn_varlen_func, flash._pad_input, flash._unpad_input), process
    if test_hf.NEW:
        functions, of_keyword = (*functions[:2], None, *functions[2:]), (process, process)
    monkeypatch.setattr(flash, "lazy_import_flash_attention", lambda *_, **__: (functions, of_keyword))

    def attend(model, way):
        for module in model.modules():
            if hasattr(module, "config"):
                module.config._attn_implementation = way
        return model
    return attend


def made(tests, family, way="sdpa"):
    """A model, and batches for it with the tokens that are kept."""
    if tests is test_hf:
        model = tests.model_of(family)
        # GLM answers images or videos. Of a prompt that is not padded transformers 5.24 takes the places of a GLM-4.5V, which has
        # three for each token, for those of three sequences, and fails by itself with flash attention.
        first = "two images" if family.startswith("glm4v") else "a video and an image"
        names = [first, "a padded batch"][family == "glm4v_moe" and way == "flash_attention_2":]
        batches = [tests.batch_of(model, *tests.PROMPTS[name]) for name in names]
        return model, [(batch, tests.keep_of(batch)) for batch in batches]
    if tests is test_hf_prompt:
        batches = [tests.batch_of(family, *tests.PROMPTS[name]) for name in ("two images", "a padded batch")]
        return tests.model_of(family), [(batch, [tests.keep_of(family, batch)]) for batch in batches]
    batch = tests.batch_of(family)
    return tests.encoder_of(family), [(batch, [tests.some(tests.counts_of(batch))])]


def values_of(answer):
    return answer.last_hidden_state if hasattr(answer, "last_hidden_state") else answer.logits


def shown(pruned):
    """Which of the values stand for something."""
    if hasattr(pruned, "attention_mask"):
        return pruned.attention_mask.bool()
    first = values_of(pruned.forward()).shape[1] - pruned.mask.shape[1]  # class tokens
    return torch.nn.functional.pad(pruned.mask, (first, 0), value=1).bool()


@pytest.mark.parametrize("way", ["sdpa", "flash_attention_2"])
@pytest.mark.parametrize("tests, family", QWEN + PROMPT + ENCODER, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_computed_does_not_hang_on_how_it_attends(attending, way, tests, family):
    model, batches = made(tests, family, way)
    for batch, keep in batches:
        attending(model, "eager")
        pruned = hf.prune_batch(model, batch, *keep)
        expected, valid = values_of(pruned.forward()), shown(pruned)
        attending(model, way)
        if way == "sdpa" or family not in BOTH_WAYS:
            torch.testing.assert_close(values_of(pruned.forward())[valid], expected[valid], rtol=0, atol=1e-4)
        everything = hf.prune_batch(model, batch)
        valid = shown(everything)
        torch.testing.assert_close(values_of(everything.forward())[valid], values_of(model(**batch))[:, :valid.shape[1]][valid], rtol=0,
                                   atol=1e-4)


@pytest.mark.parametrize("way", ["sdpa", "flash_attention_2"])
@pytest.mark.parametrize("tests, family", QWEN + [pair for pair in PROMPT if pair[1] not in BOTH_WAYS],
                         ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_generated_does_not_hang_on_how_it_attends(attending, way, tests, family):
    model, batches = made(tests, family, way)
    options = {"max_new_tokens": 4, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "suppress_tokens": [100, 101]}
    for batch, keep in batches:
        found = [hf.prune_batch(attending(model, each), batch, *keep).generate(**options) for each in ("eager", way)]
        assert torch.equal(*found)
