# SPDX-License-Identifier: Apache-2.0
"""Models for lmms-eval: a task of ten questions (lmms/) run to its end, whose answers are those of a Pruner."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
lmms = pytest.importorskip("lmms_eval.models")
import texturevlm as tv  # noqa: E402
from test_hf_messages import tiny  # noqa: E402
from texturevlm import hf  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = ROOT / "python" / "tests" / "lmms"
SIZES = {"qwen2_5_vl": {"min_pixels": 4 * 28 * 28, "max_pixels": 64 * 28 * 28},
         "qwen3_vl": {"min_pixels": 4 * 32 * 32, "max_pixels": 64 * 32 * 32}}
sys.path.insert(0, str(TASK))
import utils as task  # noqa: E402


def save(kind, folder):
    """A tiny model of random weights and its processor, as from_pretrained loads them."""
    plain = tiny.processor_of()
    text = tiny.model_of(plain).config.text_config.to_dict()
    text.pop("model_type")
    tokens = {name: plain.tokenizer.convert_tokens_to_ids(word) for name, word in (
        ("image_token_id", "<|image_pad|>"), ("video_token_id", "<|video_pad|>"), ("vision_start_token_id", "<|vision_start|>"),
        ("vision_end_token_id", "<|vision_end|>"))}
    torch.manual_seed(1)
    if kind == "qwen2_5_vl":
        vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32, "patch_size": 14,
                  "fullatt_block_indexes": [1], "window_size": 112}
        config = transformers.Qwen2_5_VLConfig(vision_config=vision, text_config=text, **tokens)
        transformers.Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
        transformers.Qwen2_5_VLProcessor(plain.image_processor, plain.tokenizer, plain.video_processor,
                                         chat_template=tiny.TEMPLATE).save_pretrained(folder)
        return folder
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "out_hidden_size": 32, "patch_size": 16,
              "deepstack_visual_indexes": [0], "num_position_embeddings": 64}
    text["head_dim"] = 8
    config = transformers.Qwen3VLConfig(vision_config=vision, text_config=text, **tokens)
    transformers.Qwen3VLForConditionalGeneration(config).save_pretrained(folder)
    size = {"shortest_edge": 4 * 32 * 32, "longest_edge": 64 * 32 * 32}
    images = transformers.Qwen2VLImageProcessor(patch_size=16, size=size)
    videos = transformers.Qwen3VLVideoProcessor(patch_size=16, size=size)
    transformers.Qwen3VLProcessor(images, plain.tokenizer, videos, chat_template=tiny.TEMPLATE).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["qwen2_5_vl", "qwen3_vl"])
def model(request, tmp_path_factory):
    return request.param, save(request.param, tmp_path_factory.mktemp(request.param))


def evaluated(model, out, **asked):
    """Runs the task, as a user does; gives each answer and the figures that lmms-eval prints."""
    kind, folder = model
    words = ",".join(f"{name}={value}" for name, value in {"pretrained": folder, "device_map": "cpu", **SIZES[kind], **asked}.items())
    done = subprocess.run(
        [sys.executable, "-m", "lmms_eval", "--model", f"texturevlm_{kind}", "--model_args", words, "--tasks", "texturevlm_shapes",
         "--include_path", str(TASK), "--device", "cpu", "--batch_size", "2", "--output_path", str(out), "--log_samples"],
        cwd=ROOT, capture_output=True, text=True, timeout=600)
    samples = list(out.rglob("*samples*.jsonl"))
    if done.returncode or not samples:
        return None, done.stdout + done.stderr
    rows = sorted(map(json.loads, samples[0].read_text().splitlines()), key=lambda row: row["doc_id"])
    return [row["filtered_resps"] for row in rows], done.stdout + done.stderr


def questions():
    return [json.loads(line) for line in (TASK / "questions.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("asked", [{"share": 0.3}, {"budget": 24, "way": "pruned"}, {"tolerance": 0.2}, {"share": 0.5, "looks": 2}])
def test_a_task_is_answered_as_by_a_pruner(model, tmp_path, asked):
    answers, said = evaluated(model, tmp_path, **asked)
    assert answers is not None and len(answers) == 10, said[-3000:]
    kind, folder = model
    loaded = getattr(transformers, "Qwen2_5_VLForConditionalGeneration" if kind == "qwen2_5_vl" else "Qwen3VLForConditionalGeneration")
    processor = transformers.AutoProcessor.from_pretrained(folder, **SIZES[kind])
    pruner = hf.Pruner(loaded.from_pretrained(folder, dtype=torch.bfloat16).eval(), processor, **asked)
    tokens, expected = 0, []
    for doc in questions():
        messages = [{"role": "user", "content": [{"type": "image", "image": task.picture_of(doc)[0]}, {"type": "text", "text": doc["question"]}]}]
        if kind == "qwen3_vl":
            messages.insert(0, {"role": "system", "content": [{"type": "text", "text": "You are a helpful assistant."}]})
        pruned = pruner.prune([messages])
        tokens += pruned.tokens
        new = pruned.generate(max_new_tokens=4, do_sample=False)[:, pruned.kept.shape[1]:]
        expected += processor.batch_decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert re.search(rf"avg_image_tokens +\| *{tokens / 10:.4f}", said), (tokens, re.findall("avg_image.*", said))
    # Two questions at a time are padded, and of a random model in half floats a word may hang on that.
    assert sum(a == b for a, b in zip(answers, expected)) >= 8


@pytest.mark.parametrize("asked, line", [
    ({"budget": 9, "share": 0.5}, "budget and share exclude each other"), ({"way": "best"}, "there is no way 'best'"),
    ({"looks": 2, "tolerance": 0.1}, "looks=2 spends a budget or a share"),
    ({"tvlm_device": "none-such", "share": 0.5}, "none-such")])
def test_what_does_not_fit_is_told(model, tmp_path, asked, line):
    answers, said = evaluated(model, tmp_path, **asked)
    assert answers is None and line in said


def own_class(model, **options):
    kind, folder = model
    own = lmms.MODEL_REGISTRY_V2.get_model_class(f"texturevlm_{kind}")
    return own(**{"pretrained": str(folder), "device_map": "cpu", "device": "cpu", "share": 0.5, **options})


class Echo:
    """A pruner whose model says the number that stands in the question."""

    report = None
    tokens, all_tokens = 3, 9

    def __init__(self, tokenizer):
        self.tokenizer, self.asked, self.sizes = tokenizer, [], []

    def prune(self, conversations):
        self.sizes.append(len(conversations))
        self.said = [conversation[-1]["content"][-1]["text"].split()[-1] for conversation in conversations]
        self.kept = torch.ones(len(conversations), 5)
        return self

    def generate(self, **options):
        self.asked.append(options)
        return torch.tensor([[7] * 5 + self.tokenizer.encode(f"{int(number):02d}") for number in self.said])


@pytest.mark.parametrize("batch_size", [1, 3])
def test_each_question_gets_its_own_answer(model, batch_size):
    """In lmms-eval's order, whatever the order is in which they are asked, and with the settings of its task."""
    import types
    made = own_class(model, batch_size=batch_size)
    made.pruner = Echo(made.tokenizer)
    made.task_dict = {task: {"test": list(range(8))} for task in ("a", "b")}
    settings = {"a": {"max_new_tokens": 5}, "b": {"max_new_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 4}}
    messages_of = {"a": lambda doc: [{"role": "user", "content": [{"type": "text", "text": f"a {doc}"}]}],
                   "b": lambda doc: [{"role": "user", "content": [{"type": "text", "text": f"b {doc + 40}"}]}]}
    requests = [types.SimpleNamespace(args=("x" * (doc * 5 % 8), messages_of[name], settings[name], doc, name, "test"))
                for doc in (5, 2, 7, 0, 1, 6, 3, 4) for name in ("a", "b")]
    answers = [found.text for found in made.generate_until(requests)]
    assert answers == [f"{doc + 40 * (name == 'b'):02d}" for doc in (5, 2, 7, 0, 1, 6, 3, 4) for name in ("a", "b")]
    assert max(made.pruner.sizes) == batch_size
    for options in made.pruner.asked:
        own = {name: options[name] for name in ("do_sample", "temperature", "top_p", "top_k") if name in options}
        assert own == ({"do_sample": False} if options["max_new_tokens"] == 5 else
                       {"do_sample": True, "temperature": 0.5, "top_p": 0.9, "top_k": 4})
    assert made.tokens == 3 * len(made.pruner.sizes) and made.questions == 16


def test_a_device_by_its_number_and_pictures_on_white(model):
    from PIL import Image
    with pytest.raises(tv.Error, match="99"):
        own_class(model, tvlm_device=99)
    made = own_class(model)
    image = Image.new("RGBA", (60, 60), (0, 0, 0, 0))
    image.putpixel((3, 3), (0, 0, 0, 255))
    made.task_dict = {"t": {"test": [None]}}
    chunk = [("what?", lambda doc: [{"role": "user", "content": [{"type": "image", "url": image}]}], {}, 0, "t", "test")]
    shown = made._conversations(chunk)[0][-1]["content"][0]["image"]
    assert shown.mode == "RGB" and shown.getpixel((0, 0)) == (255, 255, 255) and shown.getpixel((3, 3)) == (0, 0, 0)
    with pytest.raises(tv.ArgumentError, match="of one round, not of several"):
        made.generate_until_multi_round([])


def test_videos_and_thinking_are_refused(model):
    if model[0] == "qwen3_vl":
        with pytest.raises(tv.ArgumentError, match="enable_thinking: "):
            own_class(model, enable_thinking=True)
    made = own_class(model)
    made.task_dict = {"clips": {"test": [None]}}
    chunk = [("what?", lambda doc: [{"role": "user", "content": [{"type": "video", "url": "a.mp4"}]}], {}, 0, "clips", "test")]
    with pytest.raises(tv.ArgumentError, match="clips: question 0 has a video or sound; .* answer images"):
        made._conversations(chunk)
