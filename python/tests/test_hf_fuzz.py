# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments to texturevlm.hf: an answer or one clear error, as of the rest of the package (test_fuzz.py)."""
import pytest
from hypothesis import given, strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
import test_hf  # noqa: E402
import test_hf_encoder  # noqa: E402
from test_fuzz import FEATURES, SETTINGS, anything, numbers, tried  # noqa: E402

hf = test_hf.hf
PROCESSOR = test_hf.Processor()
MODEL, ENCODER = test_hf.model_of("qwen2_vl"), test_hf_encoder.encoder_of("siglip")
BATCH, IMAGES = test_hf.batch_of(MODEL, *test_hf.PROMPTS["two images"]), test_hf_encoder.batch_of("siglip")
PIXELS, GRID = BATCH["pixel_values"].clamp_(-1, 1), BATCH["image_grid_thw"]  # as of pixels
dtypes = st.sampled_from([torch.float32, torch.float16, torch.int64, torch.bool, torch.complex64])
tensors = st.builds(lambda shape, dtype: torch.zeros(shape, dtype=dtype), st.lists(st.integers(0, 5), max_size=5), dtypes)
wrong = st.one_of(anything, tensors)
keeps = st.one_of(wrong, st.lists(wrong, max_size=3), st.lists(st.lists(numbers, max_size=3), min_size=2, max_size=2))


@SETTINGS
@given(st.data())
def test_select_tokens(data):
    right = {"pixel_values": PIXELS, "grid": GRID, "merge": 2, "patch": None, "share": None, "k": None, "strategy": None,
             "mean": None, "std": None, "processor": PROCESSOR, "temporal": 2, "weights": None, "scorer": None, "query": None, "features": None,
             "device": None}
    names = data.draw(st.lists(st.sampled_from(sorted(right)), min_size=1, max_size=3, unique=True))
    found = tried(hf.select_tokens, **{**right, **{name: data.draw(wrong) for name in names}})
    assert found is None or all(tokens.dtype == torch.int64 and len(tokens) for tokens in found)
    tried(hf.select_tokens, IMAGES["pixel_values"].clamp(-1, 1), mean=0.5, std=0.5, patch=data.draw(wrong), features=[FEATURES, data.draw(wrong)],
          query=[FEATURES[0, 0], data.draw(wrong)])


@SETTINGS
@given(wrong, keeps, st.sampled_from(sorted(BATCH)))
def test_prune_batch(a, keep, name):
    tried(hf.prune_batch, a, BATCH)
    tried(hf.prune_batch, MODEL, a)
    tried(hf.prune_batch, MODEL, BATCH, keep)
    tried(hf.prune_batch, MODEL, BATCH, None, keep)
    tried(hf.prune_batch, ENCODER, IMAGES, keep)
    tried(hf.prune_batch, ENCODER, {"pixel_values": a})
    if name != "mm_token_type_ids":  # what a processor adds for the model alone
        tried(hf.prune_batch, MODEL, {**BATCH, name: a})


@SETTINGS
@given(wrong, wrong)
def test_pruner(a, b):
    tried(hf.Pruner, a, PROCESSOR)
    tried(hf.Pruner, MODEL, a)
    for name in ("share", "k", "strategy", "weights", "scorer", "device"):
        pruner = tried(hf.Pruner, MODEL, PROCESSOR, **{name: a})
        if pruner is not None:
            pruner.prune(BATCH)  # what was taken when it was made is taken here
    pruner = hf.Pruner(MODEL, PROCESSOR)
    tried(pruner.batch_of, a)
    tried(pruner.batch_of, a, "what?")
    tried(pruner.batch_of, [{"role": "user", "content": a}])
    tried(pruner.batch_of, [{"role": "user", "content": [{"type": "image", "image": a}, {"type": "text", "text": "what?"}]}])
    tried(pruner.prune, a)
    tried(pruner.prune, BATCH, query=a, features=b)
    tried(pruner.prune, BATCH, errors=a)
    tried(pruner.prune, [a, "nowhere.jpg"], query=b, errors="skip")
