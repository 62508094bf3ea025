#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_features.py TVLM: tools/features.py on tiny randomly initialised models of transformers and open_clip (each where it
is installed; 77 where neither is): the value path against the model's own attention, made to look at nothing but itself;
plain tokens against the model's own forward pass; grids that are not square; files; and what `tvlm select` makes of them.

Ran with torch 1.13, transformers 4.47.1, open_clip_torch 2.24.0, timm 0.9.16 (requirements.txt) and torchvision 0.14.1; with torch
2.15 and transformers 4.57.1 and 5.23.0 (python/requirements-hf.txt).
"""
import json
import os
import subprocess
import sys
import tempfile

from common import HERE, SKIPPED, Checks, arguments, need, np, random_pixels, run, save_ppm

os.environ["HF_HUB_OFFLINE"] = "1"  # a name that there is not costs minutes otherwise, where nothing answers
tool = arguments("TVLM")[0]
torch = need("torch")
need("PIL")
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import features  # noqa: E402

checks = Checks()
folder = tempfile.mkdtemp()
picture = os.path.join(folder, "picture.ppm")
save_ppm(picture, random_pixels(150, 100, 1))
REASON = "the same sums in another order, in floats"
SIZES = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4)


def pixels(encoder, rows, columns):
    return torch.from_numpy(np.random.default_rng(2).normal(size=(1, 3, rows * encoder.patch, columns * encoder.patch)).astype(np.float32))


def shaken(model):
    """Random weights that leave no norm or bias at its first value: an omitted one would not be seen."""
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def itself_only(count):
    """An attention mask by which each token sees itself alone: what comes out is its value, projected."""
    return torch.full((count, count), -1e9).fill_diagonal_(0.0)


def input_of(module, call):
    """What `module` is given when `call` runs: the model's own way there."""
    seen = []
    hook = module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    call()
    hook.remove()
    return seen[0]


def check_grid(what, encoder, dimension):
    """Position embeddings that are stretched: the right shape, and an image twice as large is still the same image."""
    with torch.no_grad():
        wide = encoder.features(pixels(encoder, 5, 8))
        checks.true(f"{what}: a grid of 5 x 8", tuple(wide.shape) == (5, 8, dimension) and bool(torch.isfinite(wide).all()))
        position = torch.linspace(0, 1, 4).repeat_interleave(4)[:, None]  # a slope over the rows of a 4 x 4 grid
        slope = features.stretched(position, 8, 6).reshape(8, 6)
        checks.true(f"{what}: stretched positions keep their direction", bool((slope[1:] > slope[:-1]).all()) and float(slope.std(1).max()) < 1e-6)


# ---- transformers ----

def save_tokenizer(path):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    words = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "a", "photo", "of", "boat", "sky", "the"])}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(path)


def processor_of(transformers, name, **options):
    """The one that runs on Pillow: the other one of transformers 5 needs torchvision."""
    return (getattr(transformers, name + "Pil", None) or getattr(transformers, name))(**options)


def transformers_clip(transformers):
    config = transformers.CLIPConfig(
        vision_config={**SIZES, "image_size": 64, "patch_size": 16}, projection_dim=24,
        text_config={**SIZES, "vocab_size": 8, "max_position_embeddings": 12, "eos_token_id": 7, "bos_token_id": 2, "pad_token_id": 0})
    model = shaken(transformers.CLIPModel(config))
    encoder = features.Transformers(model)
    x, last = pixels(encoder, 4, 4), model.vision_model.encoder.layers[-1]
    with torch.no_grad():
        tokens = input_of(last, lambda: model.get_image_features(x))
        value = last.self_attn(last.layer_norm1(tokens), attention_mask=itself_only(17)[None, None])[0]
        expected = model.visual_projection(model.vision_model.post_layernorm(value))[0, 1:]
        got = encoder.features(x).reshape(16, -1)
        texts = torch.tensor([[2, 3, 4, 7]])
        known = model.text_projection(model.text_model(input_ids=texts).pooler_output)
        encoder.tokenizer = lambda *words, **options: {"input_ids": texts, "attention_mask": torch.ones_like(texts)}
        checks.close("transformers CLIP: a text", encoder.texts(["x"]).numpy(), known.numpy(), 1e-6, REASON)
    checks.close("transformers CLIP: the value path", got.numpy(), expected.numpy(), 2e-5, REASON)
    check_grid("transformers CLIP", encoder, 24)
    return model, processor_of(transformers, "CLIPImageProcessor")


def transformers_siglip(transformers):
    config = transformers.SiglipConfig(
        vision_config={**SIZES, "image_size": 64, "patch_size": 16},
        text_config={**SIZES, "vocab_size": 8, "max_position_embeddings": 12, "pad_token_id": 0})
    model = shaken(transformers.SiglipModel(config))
    encoder = features.Transformers(model)
    x = pixels(encoder, 4, 4)
    with torch.no_grad():
        expected = model.vision_model(x).last_hidden_state[0]
        got = encoder.features(x).reshape(16, -1)
        checks.close("transformers SigLIP: its tokens", got.numpy(), expected.numpy(), 2e-5, REASON)
    check_grid("transformers SigLIP", encoder, 32)
    return model, processor_of(transformers, "SiglipImageProcessor")


def transformers_siglip2(transformers):
    config = transformers.Siglip2Config(
        vision_config={**SIZES, "num_patches": 16, "patch_size": 16},
        text_config={**SIZES, "vocab_size": 8, "max_position_embeddings": 12, "pad_token_id": 0, "projection_size": 32})
    model = shaken(transformers.Siglip2Model(config))
    encoder = features.Transformers(model)
    processor = processor_of(transformers, "Siglip2ImageProcessor", patch_size=16, max_num_patches=25, do_resize=False)
    from PIL import Image
    image = Image.fromarray(np.random.default_rng(4).integers(0, 256, (64, 96, 3), np.uint8))
    with torch.no_grad():
        made = processor(images=[image], return_tensors="pt")
        masks = (made["pixel_values"], made["pixel_attention_mask"], made["spatial_shapes"])
        expected = model.vision_model(*masks).last_hidden_state[0, :24]
        encoder.mean, encoder.std = tuple(processor.image_mean), tuple(processor.image_std)
        got = encoder.features(features.prepare(image, encoder, 64)).reshape(24, -1)
        checks.close("transformers SigLIP2: its tokens, from its processor's patches", got.numpy(), expected.numpy(), 1e-4, REASON)
    check_grid("transformers SigLIP2", encoder, 32)
    return model, processor


# ---- open_clip ----

def open_clip_clip(open_clip):
    config = {"embed_dim": 24, "vision_cfg": {"image_size": 64, "layers": 3, "width": 32, "head_width": 8, "patch_size": 16},
              "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 4, "layers": 2}}
    path = os.path.join(folder, "tiny-clip.json")
    with open(path, "w") as file:
        json.dump(config, file)
    open_clip.add_model_config(path)
    model = shaken(open_clip.create_model("tiny-clip"))
    encoder = features.OpenClip(model)
    x, v = pixels(encoder, 4, 4), model.visual
    last = v.transformer.resblocks[-1]
    with torch.no_grad():
        tokens = last.ln_1(input_of(last, lambda: model.encode_image(x)))
        value = last.ls_1(last.attn(tokens, tokens, tokens, need_weights=False, attn_mask=itself_only(17))[0])
        value = value[1:, 0] if value.shape[0] == 17 else value[0, 1:]  # tokens came first in older versions
        expected = v.ln_post(value) @ v.proj
        got = encoder.features(x).reshape(16, -1)
    checks.close("open_clip CLIP: the value path", got.numpy(), expected.numpy(), 2e-5, REASON)
    check_grid("open_clip CLIP", encoder, 24)
    return model


def open_clip_siglip(open_clip):
    """timm's tower as open_clip takes it, made smaller."""
    import timm
    from types import SimpleNamespace
    trunk = shaken(timm.create_model("vit_base_patch16_siglip_224", num_classes=0, global_pool="map", embed_dim=48, depth=2, num_heads=4, img_size=64))
    model = torch.nn.Module()
    model.visual = torch.nn.Module()
    model.visual.trunk = trunk
    encoder = features.OpenClip(model)
    x = pixels(encoder, 4, 4)
    with torch.no_grad():
        checks.close("open_clip SigLIP: its tokens", encoder.features(x).reshape(16, -1).numpy(), trunk.forward_features(x)[0].numpy(), 2e-5, REASON)
    check_grid("open_clip SigLIP", encoder, 48)
    # The rest of the model as it is configured.
    name = next(iter(n for n in open_clip.list_models() if n == "ViT-B-16-SigLIP"), None)
    if name:
        whole = features.OpenClip(open_clip.create_model(name))
        checks.true("open_clip SigLIP: of its own size", whole.timm and (whole.patch, whole.side) == (16, 224))
    wrong = SimpleNamespace(eval=lambda: SimpleNamespace(), visual=SimpleNamespace(proj=None))
    try:
        features.OpenClip(wrong)
        checks.true("a ResNet is refused", False)
    except features.Failure:
        checks.true("a ResNet is refused", True)


# ---- Files, and the tool behind them ----

def check_files(what, model):
    """The command from end to end: F.npy and Q.npy, and the best cell of `tvlm select` is the one whose cosine is largest."""
    out, query = os.path.join(folder, "F.npy"), os.path.join(folder, "Q.npy")
    words = ["--model", model, picture, "-o", out, "--text", "a photo of a boat", "--text", "the sky", "--query", query]
    checks.true(f"{what}: features.py succeeds", features.main([*words, "--size", "96"]) == 0)
    f, q = np.load(out), np.load(query)
    checks.true(f"{what}: F is float16 of 6 x 9 cells, Q of two questions, both of {q.shape[1]}",
                f.dtype == np.float16 and f.shape == (6, 9, q.shape[1]) and q.shape[0] == 2 and q.dtype == np.float32)
    checks.true(f"{what}: two questions are two vectors", np.abs(q[0] - q[1]).max() > 1e-6)
    one = os.path.join(folder, "one.npy")
    np.save(one, q[0])
    best = json.loads(run(tool, "select", picture, "--strategy", "grid", "--features", out, "--query", one, "--weights", "0,0,1", "--stride", "1", "-k", "1"))["positions"][0]
    rows = f.reshape(54, -1).astype(np.float64)
    cosine = rows @ q[0] / np.linalg.norm(rows, axis=1) / np.linalg.norm(q[0])
    row, column = divmod(int(cosine.argmax()), 9)
    there = (int(best["y"] * 6 / 100), int(best["x"] * 9 / 150))
    checks.true(f"{what}: tvlm looks where the cosine is largest ({there} and {(row, column)})", there == (row, column))
    again = os.path.join(folder, "again.npy")
    features.main(["--model", model, picture, "-o", again, "--size", "96", "--float32"])
    checks.close(f"{what}: float32", np.load(again), f, 2e-3 * np.abs(f).max(), "half floats keep 11 bits")


def check_errors(model):
    """One line, exit 1, and nothing written."""
    bad = os.path.join(folder, "bad.jpg")
    with open(bad, "w") as file:
        file.write("no picture")
    out = os.path.join(folder, "never.npy")
    script = os.path.join(HERE, "..", "..", "tools", "features.py")
    for what, words in {"a file that is no picture": [bad, "-o", out], "no output": [picture], "a question without a file": [picture, "-o", out, "--text", "x"],
                        "nothing": [], "two images into a file": [picture, bad, "-o", out], "a folder that is not there": [picture, "-o", os.path.join(folder, "no", "F.npy")],
                        "no size": [picture, "-o", out, "--size", "0"],
                        "a device that is not there": [picture, "-o", out, "--device", "cuda:7"], "no device": [picture, "-o", out, "--device", "x"]}.items():
        result = subprocess.run([sys.executable, script, "--model", model, *words], capture_output=True, text=True)
        lines = [line for line in result.stderr.splitlines() if line.startswith("features.py: ")]
        checks.true(f"{what}: exit 1, one line", result.returncode == 1 and len(lines) == 1 and "Traceback" not in result.stderr and not os.path.exists(out))
    for name in ("transformers:" + os.path.join(folder, "none"), "clip", "open_clip:ViT-B-16", "open_clip:none:none"):
        result = subprocess.run([sys.executable, script, "--model", name, picture, "-o", out], capture_output=True, text=True)
        checks.true(f"model {name}: exit 1, a line", result.returncode == 1 and "Traceback" not in result.stderr and result.stderr.splitlines()[-1].startswith("features.py: "))


found = 0
try:
    import transformers
    found += 1
    print("note   transformers", transformers.__version__, "on torch", torch.__version__)
    kinds = {"clip": transformers_clip, "siglip": transformers_siglip}
    if hasattr(transformers, "Siglip2Model"):
        kinds["siglip2"] = transformers_siglip2
    for kind, make in kinds.items():
        made, processor = make(transformers)
        path = os.path.join(folder, kind)
        made.save_pretrained(path)
        processor.save_pretrained(path)
        save_tokenizer(path)
        check_files("transformers " + kind, "transformers:" + path)
    if os.environ.get("TVLM_TEST_QUICK") != "1":  # thirteen processes that import PyTorch
        check_errors("transformers:" + os.path.join(folder, "clip"))
except ImportError as error:
    print("note   transformers is not looked at:", error)
try:
    import open_clip
    found += 1
    print("note   open_clip", getattr(getattr(open_clip, "version", None), "__version__", "of unknown version"))
    made = open_clip_clip(open_clip)
    path = os.path.join(folder, "tiny-clip.pt")
    torch.save(made.state_dict(), path)
    check_files("open_clip clip", "open_clip:tiny-clip:" + path)
    open_clip_siglip(open_clip)
except ImportError as error:
    print("note   open_clip is not looked at:", error)
if not found:
    print("SKIPPED: neither transformers nor open_clip")
    sys.exit(SKIPPED)
checks.done()
