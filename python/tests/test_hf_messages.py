# SPDX-License-Identifier: Apache-2.0
"""Pruner.batch_of: messages in each form that transformers' documents show are what the model's own processor makes of them; and what
cannot be had is one line that names it. The processors are the real classes, with a tokenizer that knows bytes (examples/tiny_vlm.py)."""
import base64
import functools
import http.server
import importlib.util
import pathlib
import re
import threading

import numpy as np
import pytest

import texturevlm as tv
import test_document
from conftest import draw
from test_document import checkout  # noqa: F401

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
PIL = pytest.importorskip("PIL.Image")
if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 57):
    pytest.skip("its apply_chat_template makes text only (test_hf.py)", allow_module_level=True)
if importlib.util.find_spec("torchvision") is None:
    pytest.skip("Qwen-VL's processor needs torchvision (ci/hf-environment processors)", allow_module_level=True)
hf = tv.hf
pytestmark = pytest.mark.usefixtures("no_gradients")
ROOT = pathlib.Path(__file__).resolve().parents[2]
NEW = transformers.__version__.startswith("5")
WHAT = {"type": "text", "text": "What is this?"}


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tiny = example("tiny_vlm")


@pytest.fixture(scope="module")
def pruner():
    processor = tiny.processor_of()
    return hf.Pruner(tiny.model_of(processor), processor, share=0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two pictures, one of which lies on its side by EXIF, as a camera writes it; and what is none."""
    path = tmp_path_factory.mktemp("pictures")
    PIL.fromarray(draw(200, 150, 1)).save(path / "a.jpg", quality=95)
    exif = PIL.Exif()
    exif[0x0112] = 6
    PIL.fromarray(draw(160, 240, 2)).save(path / "b b.jpg", exif=exif)
    (path / "cut.jpg").write_bytes((path / "a.jpg").read_bytes()[:3000])
    (path / "none.jpg").write_text("no picture at all\n" * 40)
    return path


@pytest.fixture(scope="module")
def server(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def user(*content):
    return [{"role": "user", "content": list(content)}]


def own(processor, messages, **options):
    """What the processor itself makes of messages that it takes."""
    padding = {"padding": True, "padding_side": "left", **options}
    options = {"processor_kwargs": padding} if NEW else padding
    return processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt",
                                         **options)


def assert_same(found, expected):
    assert set(found) == set(expected)
    for name, value in expected.items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(found[name], value), name
        else:
            assert list(found[name]) == list(value), name


def encoded(path):
    return base64.b64encode(path.read_bytes()).decode()


FORMS = {
    "path": lambda path, url: {"type": "image", "path": str(path)},
    "path, pathlib": lambda path, url: {"type": "image", "path": path},
    "image, a path": lambda path, url: {"type": "image", "image": str(path)},
    "image, PIL": lambda path, url: {"type": "image", "image": PIL.open(path)},
    "image, array": lambda path, url: {"type": "image", "image": np.asarray(PIL.open(path))},
    "image, tensor": lambda path, url: {"type": "image", "image": torch.from_numpy(np.array(PIL.open(path))).permute(2, 0, 1)},
    "image, a URL": lambda path, url: {"type": "image", "image": url},
    "url": lambda path, url: {"type": "image", "url": url},
    "url, a path": lambda path, url: {"type": "image", "url": str(path)},
    "url, data": lambda path, url: {"type": "image", "url": f"data:image/jpeg;base64,{encoded(path)}"},
    "url, file": lambda path, url: {"type": "image", "url": path.as_uri()},
    "base64": lambda path, url: {"type": "image", "base64": encoded(path)},
    "image, base64": lambda path, url: {"type": "image", "image": encoded(path)},
    "base64, data": lambda path, url: {"type": "image", "base64": f"data:image/jpeg;base64,{encoded(path)}"},
    "image_url": lambda path, url: {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
    "image_url, a text": lambda path, url: {"type": "image_url", "image_url": url},
    "image_url, data": lambda path, url: {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded(path)}"}},
    "filled up with None": lambda path, url: {"type": "image", "image": None, "url": url, "text": None},
}


@pytest.mark.parametrize("name", ["a.jpg", "b b.jpg"])
@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_what_the_processor_makes(pruner, folder, server, form, name):
    part = FORMS[form](folder / name, f"{server}/{name.replace(' ', '%20')}")
    known = {"type": "image", "path": str(folder / name)}
    if form.startswith("image, ") and form.split()[1] in ("PIL", "array", "tensor"):
        known = part  # already decoded: not turned by EXIF, as transformers has it
    assert_same(pruner.batch_of(user(part, WHAT)), own(pruner.processor, user(known, WHAT)))


def test_conversations_are_a_batch_padded_on_the_left(pruner, folder):
    a, b = ({"type": "image", "path": str(folder / name)} for name in ("a.jpg", "b b.jpg"))
    one = user(a, WHAT)
    two = [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, *user(a, {"type": "text", "text": "and"}, b),
           {"role": "assistant", "content": [{"type": "text", "text": "Two."}]}, *user({"type": "text", "text": "Sure?"})]
    text = user({"type": "text", "text": "Hello"})
    for conversations in ([one, two, text], [one], [two, one], [text, text], [text]):
        assert_same(pruner.batch_of(conversations), own(pruner.processor, conversations))
    found = pruner.batch_of([one, text])
    assert found["attention_mask"][:, -1].all() and not found["attention_mask"][1, 0]
    assert_same(pruner.batch_of(two), own(pruner.processor, two))
    # Plain strings as content, beside parts.
    plain = [{"role": "system", "content": "Be brief."}, two[1], {"role": "assistant", "content": "Two."}, {"role": "user", "content": "Sure?"}]
    assert_same(pruner.batch_of(plain), own(pruner.processor, two))
    assert_same(pruner.batch_of([plain, text]), own(pruner.processor, [two, text]))


def test_images_with_a_question_and_without(pruner, folder):
    paths = [str(folder / name) for name in ("a.jpg", "b b.jpg")]
    parts = [{"type": "image", "path": path} for path in paths]
    assert_same(pruner.batch_of(paths[0], "What is this?"), own(pruner.processor, user(parts[0], WHAT)))
    assert_same(pruner.batch_of(paths, "What is this?"), own(pruner.processor, user(*parts, WHAT)))
    assert_same(pruner.batch_of(paths[0]), own(pruner.processor, user(parts[0])))
    assert_same(pruner.batch_of(paths), own(pruner.processor, user(*parts)))
    assert_same(pruner.batch_of(user(parts[0])), own(pruner.processor, user(parts[0])))


def test_videos_are_those_of_the_processor(pruner, folder):
    frames = [PIL.fromarray(draw(120, 90, seed)) for seed in range(4)]
    for video in (frames, np.stack([np.asarray(frame) for frame in frames])):
        messages = user({"type": "video", "video": video}, {"type": "image", "path": str(folder / "a.jpg")}, WHAT)
        found = pruner.batch_of(messages, processor_kwargs={"do_sample_frames": False}) if NEW else pruner.batch_of(messages, do_sample_frames=False)
        assert_same(found, own(pruner.processor, messages, do_sample_frames=False))
        assert "pixel_values_videos" in found and pruner.prune(found).tokens < pruner.prune(found).all_tokens


def test_a_still_video_beside_an_image(pruner, folder):
    frame = np.random.default_rng(5).integers(0, 256, (112, 112, 3), np.uint8)
    messages = user({"type": "image", "path": str(folder / "a.jpg")}, {"type": "video", "video": np.stack([frame] * 4)}, WHAT)
    pruned = pruner.prune(messages)
    assert pruned.tokens < pruned.all_tokens and [one.way for one in pruned.report.pictures][1] == "frames"
    of_batch = pruner.prune(pruner.batch_of(messages))
    assert len(of_batch.report.pictures) == 1


@pytest.mark.parametrize("asked", [{"budget": 8}, {"tolerance": 0.1}])
def test_what_videos_cannot_be_asked_is_refused_before_any_image(pruner, folder, monkeypatch, asked):
    monkeypatch.setattr("texturevlm.hf._ways.decide", lambda *_: pytest.fail("an image was decided"))
    of_few = hf.Pruner(pruner.model, pruner.processor, **asked)
    frames = np.random.default_rng(6).integers(0, 256, (4, 112, 112, 3), np.uint8)
    messages = user({"type": "image", "path": str(folder / "a.jpg")}, {"type": "video", "video": frames}, WHAT)
    with pytest.raises(tv.ArgumentError, match="of videos, .* tokens are chosen by share or k, not by budget or tolerance"):
        of_few.prune(pruner.batch_of(messages))
    if "budget" in asked:
        with pytest.raises(tv.ArgumentError, match="a budget is for images or for videos; both are here"):
            of_few.prune(messages)
        with pytest.raises(tv.ArgumentError, match="of videos, "):
            hf.Pruner(pruner.model, pruner.processor, way="cells", **asked).prune(messages)


def test_a_video_file_is_what_the_processor_makes(pruner, folder, server):
    try:
        from torchcodec.encoders import VideoEncoder
    except (ImportError, OSError, RuntimeError) as missing:  # where FFmpeg's libraries are not all there
        pytest.skip(f"torchcodec: {str(missing).splitlines()[0]}")
    frames = torch.from_numpy(np.stack([draw(128, 96, seed // 4) for seed in range(8)])).permute(0, 3, 1, 2)
    VideoEncoder(frames, frame_rate=4).to_file(str(folder / "clip.mp4"))
    expected = own(pruner.processor, user({"type": "video", "path": str(folder / "clip.mp4")}, WHAT))
    for name, value in (("path", folder / "clip.mp4"), ("video", str(folder / "clip.mp4")), ("url", f"{server}/clip.mp4")):
        assert_same(pruner.batch_of(user({"type": "video", name: value}, WHAT)), expected)
    (folder / "cut.mp4").write_bytes((folder / "clip.mp4").read_bytes()[:700])
    with pytest.raises(ValueError, match="video 1, '.*cut.mp4', cannot be loaded: "):
        pruner.batch_of(user({"type": "video", "path": folder / "clip.mp4"}, {"type": "video", "path": folder / "cut.mp4"}))


def test_generate_takes_them_all(pruner, folder):
    options = {"max_new_tokens": 3, "do_sample": False}
    messages = user({"type": "image", "path": folder / "a.jpg"}, WHAT)
    batch = pruner.batch_of(messages)
    found = pruner.generate(batch, **options)
    assert found.shape[1] <= batch["input_ids"].shape[1] + 3
    expected = pruner.generate(messages, **options)  # of the picture of a size of its own
    assert expected.shape[1] <= batch["input_ids"].shape[1] + 3
    assert torch.equal(pruner.generate(folder / "a.jpg", question=WHAT["text"], **options), expected)
    assert pruner.generate([messages, user({"type": "text", "text": "Hello"})], **options).shape[0] == 2


def test_what_cannot_be_had_is_named(pruner, folder, server, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("the processor was asked")

    monkeypatch.setattr(type(pruner.processor), "__call__", never)
    good = {"type": "image", "path": str(folder / "a.jpg")}
    cases = [
        ({"path": folder / "nowhere.jpg"}, FileNotFoundError, "image 1, '.*nowhere.jpg': there is no such file"),
        ({"image": "nowhere.jpg"}, FileNotFoundError, "image 1, 'nowhere.jpg': there is no such file"),
        ({"url": "file:///nowhere.jpg"}, FileNotFoundError, "image 1, 'file:///nowhere.jpg': there is no such file"),
        ({"path": folder}, OSError, "image 1, .* is a folder"),
        ({"url": "http://127.0.0.1:9/a.jpg"}, OSError, "image 1, 'http://127.0.0.1:9/a.jpg' cannot be fetched"),
        ({"url": f"{server}/nowhere.jpg"}, ValueError, "image 1, 'http.*' cannot be read as a picture"),
        ({"path": folder / "cut.jpg"}, ValueError, "image 1, '.*cut.jpg' cannot be read as a picture"),
        ({"path": folder / "none.jpg"}, ValueError, "image 1, '.*none.jpg' cannot be read as a picture"),
        ({"image": PIL.open(folder / "cut.jpg")}, ValueError, "image 1 cannot be read as a picture: .*truncated"),
        ({"base64": "not base64!"}, ValueError, "image 1, 'not base64!' is no base64"),
        ({"url": "data:image/png;base64,AAAA"}, ValueError, "image 1, 'data:image/png;base64,AAAA' is no base64"),
        ({"base64": base64.b64encode(b"no picture at all " * 40).decode()}, ValueError, r"image 1, '.*\.\.\.' cannot be read as a picture"),
        ({"image": 3}, TypeError, "image 1 is 3, not a picture"),
        ({}, ValueError, "image 1 has none of image, url, path, base64"),
        ({"url": "x", "path": "y"}, ValueError, "image 1 has several of image, url, path, base64"),
    ]
    for source, kind, line in cases:
        with pytest.raises(kind, match=line) as caught:
            pruner.batch_of([user(good, WHAT), user({"type": "image", **source}, WHAT)])
        assert isinstance(caught.value, tv.Error) and "\n" not in str(caught.value)
    for source, kind, line in (({"path": "nowhere.mp4"}, FileNotFoundError, "video 0, 'nowhere.mp4': there is no such file"),
                               ({}, ValueError, "video 0 has none of video, url, path")):
        with pytest.raises(kind, match=line):
            pruner.generate(user(good, {"type": "video", **source}, WHAT))


def test_what_is_no_message_is_one_line(pruner):
    for messages, line in (([], "there are no messages"), ([{"role": "user", "content": 3}], "content of a message is 3"),
                           ([{"content": "x"}], "no role"), (user({"type": "audio", "audio": "x"}), "type 'audio'; taken are text, image"),
                           (user({"type": "text"}), "type text has None"), (user(3), "part of a message is 3"), (3, "image 0 is 3")):
        with pytest.raises(tv.Error, match=line):
            pruner.batch_of(messages)
    with pytest.raises(tv.Error, match="messages have their text already"):
        pruner.batch_of(user(WHAT), "What?")
    for name in ("do_normalize", "image_mean"):
        with pytest.raises(tv.Error, match=f"{name} is not for a call: set it on the processor"):
            pruner.batch_of(user(WHAT), **({"processor_kwargs": {name: False}} if NEW else {name: False}))
    with pytest.raises(tv.Error, match="the processor, a Qwen2VLProcessor, does not take the messages: "):
        pruner.batch_of(user(WHAT), chat_template="{% nonsense %}")


# ---- Documents and examples ----

def test_the_examples_of_the_documents_run(checkout):
    """All blocks, unchanged, from the first to the last."""
    with torch.enable_grad():  # that of a user's own program
        names = test_document.run_blocks("doc/python.md")
    assert names["output"].shape[0] == 1 and 0 < names["pruned"].tokens < names["pruned"].all_tokens and names["hidden"].shape[:2] == (1, 49)
    names = test_document.run_blocks("doc/evaluate.md")
    assert names["pruned"].tokens <= 32 and isinstance(names["answer"], str)
    names = test_document.run_blocks("README.md")
    assert names["output"].shape[0] == 1 and len(names["selection"]) == 273


def test_the_example_program_answers(checkout, capsys):
    program = example("qwen_pruned")
    program.main(tiny.save("tiny"), "photo.jpg", "What is the total?")
    assert re.search(r"\n\d+ of \d+ tokens, decided in \d+ ms\n  picture 0: \w+, \d+ tokens of ", capsys.readouterr().out)


def test_the_example_program_answers_with_llava(checkout, capsys):
    """Whose tokens have a side of 14 pixels."""
    pruner = llava()
    for part in (pruner.model, pruner.processor):
        part.save_pretrained("llava")
    program = example("qwen_pruned")
    for word, tokens in (("0.3", 11), ("share=0.3", 11), ("budget=20", 20), ("tolerance=0", 36)):
        program.main("llava", "photo.jpg", "What is the total?", word)
        assert f"\n{tokens} of 36 tokens, decided in " in capsys.readouterr().out
    with pytest.raises(SystemExit, match="^qwen_pruned.py: share is 2.0; it must be at most 1$"):
        program.main("llava", "photo.jpg", "What is the total?", "share=2")


@pytest.mark.parametrize("word, line", [("shar=0.3", "shar=0.3: there is no shar, but budget=N, share=S and tolerance=T"),
                                        ("budget=0.3", "budget=0.3: '0.3' is not a whole number"), ("tolerance=", "tolerance=: '' is not a number"),
                                        ("much", "much: 'much' is not a number"), ("share=auto", "share=auto: 'auto' is not a number")])
def test_the_example_program_names_a_wrong_word_before_it_loads_a_model(word, line):
    with pytest.raises(SystemExit) as caught:
        example("qwen_pruned").main("nowhere", "photo.jpg", "What is the total?", word)
    assert str(caught.value) == f"qwen_pruned.py: {line}"


def test_the_example_program_says_what_it_takes():
    program = example("qwen_pruned")
    for arguments in ((), ("model", "photo.jpg"), ("model", "photo.jpg", "What?", "0.3", "0.4")):
        with pytest.raises(SystemExit) as caught:
            program.main(*arguments)
        assert str(caught.value) == "usage: qwen_pruned.py MODEL PHOTO QUESTION [budget=N | share=S | tolerance=T]"
    assert program.asked("tolerance=auto") == {"tolerance": "auto"}


# ---- Broken pictures ----

BROKEN = {"type": "image", "path": "nowhere.jpg"}
GONE = "image 1, 'nowhere.jpg': there is no such file"


def assert_same_prompts(found, expected):
    assert torch.equal(found.input_ids, expected.input_ids) and torch.equal(found.kept, expected.kept)
    assert torch.equal(found.forward().logits, expected.forward().logits)


def test_a_broken_image_loses_none_of_the_others(pruner, folder, server, caplog):
    paths = [folder / "a.jpg", folder / "b b.jpg"]
    expected = pruner.prune(paths, question=WHAT["text"])
    for broken in ("nowhere.jpg", folder / "cut.jpg", folder / "none.jpg", f"{server}/nowhere.jpg", "http://127.0.0.1:9/a.jpg", None):
        with pytest.raises(tv.Error, match="^image 1"):
            pruner.prune([paths[0], broken, paths[1]], question=WHAT["text"])
        caplog.clear()
        found = pruner.prune([paths[0], broken, paths[1]], question=WHAT["text"], errors="skip")
        assert_same_prompts(found, expected)
        line, = map(str, found.skipped.values())
        assert list(found.skipped) == [1] and found.conversations == [0] and [record.getMessage() for record in caplog.records] == [line]
        # The others keep their numbers.
        assert found.report.images == [0, 2] and found.report.skipped == found.skipped
        assert re.findall(r"\n  (picture \d|left out: .*)", repr(found.report)) == ["picture 0", "picture 2", f"left out: {line}"]
    assert expected.skipped == {} and expected.report.images == [0, 1] and "picture 1" in repr(expected.report)
    options = {"max_new_tokens": 3, "do_sample": False}
    generated = pruner.generate([paths[0], "nowhere.jpg", paths[1]], question=WHAT["text"], errors="skip", **options)
    assert torch.equal(generated, pruner.generate(paths, question=WHAT["text"], **options))


def test_a_conversation_without_its_pictures_is_left_out(pruner, folder):
    a, b = ({"type": "image", "path": folder / name} for name in ("a.jpg", "b b.jpg"))
    text = user({"type": "text", "text": "Hello"})
    conversations = [user(a, WHAT), user(BROKEN, BROKEN, WHAT), text, user(BROKEN, b, WHAT)]
    found = pruner.prune(conversations, errors="skip")
    assert found.conversations == [0, 2, 3] and list(found.skipped) == [1, 2, 3] and found.report.images == [0, 4]
    assert_same_prompts(found, pruner.prune([user(a, WHAT), text, user(b, WHAT)]))
    with pytest.raises(tv.ArgumentError, match=r"conversation 1 has lost all of its pictures \(image 1, 'nowhere.jpg': there is no such file\)"):
        pruner.generate(conversations, errors="skip", max_new_tokens=1)
    assert pruner.generate([conversations[3], text], errors="skip", max_new_tokens=1).shape[0] == 2
    for alone in (conversations[1], [conversations[1]] * 2):
        for call in (pruner.prune, pruner.generate):
            with pytest.raises(FileNotFoundError, match="image 0, 'nowhere.jpg'"):
                call(alone, errors="skip")


def test_later_errors_have_the_numbers_of_the_images_as_given(pruner, folder):
    few = hf.Pruner(pruner.model, pruner.processor, budget=4)
    images = ["nowhere.jpg", folder / "a.jpg", np.zeros((40, 40, 2), np.uint8)]
    with pytest.raises(tv.ArgumentError, match="image 2 is no picture"):
        few.prune(images, question=WHAT["text"], errors="skip")
    report = few.prune(images[:2] + [folder / "b b.jpg"], question=WHAT["text"], errors="skip").report
    assert report.without == "the processor makes none of so few tokens of pictures 1, 2"


def test_a_broken_image_takes_its_query_along(pruner, folder):
    paths = [folder / "a.jpg", folder / "b b.jpg"]
    features = [np.random.default_rng(seed).normal(size=(6, 8, 4)).astype(np.float32) for seed in range(3)]
    query = [one[seed, seed] for seed, one in enumerate(features)]
    found = pruner.prune([paths[0], "nowhere.jpg", paths[1]], query=query, features=features, errors="skip")
    assert_same_prompts(found, pruner.prune(paths, query=query[::2], features=features[::2]))
    assert found.report is None and list(found.skipped) == [1]
    with pytest.raises(tv.ArgumentError, match="there are 3 images, of which 1 are left out: query must be a list of as many entries, it has 2"):
        pruner.prune([paths[0], "nowhere.jpg", paths[1]], query=query[:2], features=features, errors="skip")
    given = hf._messages.Loaded(pruner.processor, [paths[0], "nowhere.jpg", paths[1]], None, skip=True)
    assert given.left("query", list("abcdef"), 2) == list("abef")  # of LLaVA-NeXT, whose images are two pictures


def test_videos_and_two_looks_beside_a_broken_image(pruner, folder):
    frames = np.stack([draw(112, 112, seed) for seed in range(4)])
    a, video = {"type": "image", "path": folder / "a.jpg"}, {"type": "video", "video": frames}
    for parts, images, numbers in (([video, a], [1], "12"), ([video], [], "0")):  # a video is a picture that is left
        found = pruner.prune(user(BROKEN, *parts, WHAT), errors="skip")
        assert_same_prompts(found, pruner.prune(user(*parts, WHAT)))
        assert found.report.images == images and "".join(re.findall(r"\n  picture (\d)", repr(found.report))) == numbers
    with pytest.raises(FileNotFoundError, match="video 0, 'nowhere.mp4'"):
        pruner.prune(user(BROKEN, a, {"type": "video", "path": "nowhere.mp4"}, WHAT), errors="skip")
    twice = hf.Pruner(pruner.model, pruner.processor, budget=24, looks=2)
    found = twice.prune(["nowhere.jpg", folder / "a.jpg"], question=WHAT["text"], errors="skip")
    assert_same_prompts(found, twice.prune(folder / "a.jpg", question=WHAT["text"]))
    assert found.report.look is not None and found.report.images == [1] and list(found.skipped) == [0]
    with pytest.raises(FileNotFoundError, match="image 0, 'nowhere.jpg'"):
        twice.prune("nowhere.jpg", question=WHAT["text"], errors="skip")


def test_what_cannot_be_skipped_is_refused(pruner, folder):
    with pytest.raises(tv.ArgumentError, match='a batch has its pictures already: errors="skip" is for images and messages'):
        pruner.prune(pruner.batch_of(folder / "a.jpg"), errors="skip")
    for call in (pruner.prune, pruner.generate):
        with pytest.raises(tv.ArgumentError, match="errors"):
            call(folder / "a.jpg", errors="never")
    with pytest.raises(tv.ArgumentError, match="a part of a message is of the type 'audio'"):
        pruner.prune(user({"type": "audio", "audio": "x"}, {"type": "image", "path": folder / "a.jpg"}), errors="skip")


# ---- Processors without videos, without a template, without a tokenizer ----

def llava():
    tokenizer = tiny.tokenizer_of(["<pad>", "<s>", "</s>", "<image>"], transformers.LlamaTokenizerFast, bos_token="<s>")
    images = transformers.CLIPImageProcessor(size={"shortest_edge": 84}, crop_size={"height": 84, "width": 84})
    template = tiny.TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", "<image>")
    processor = transformers.LlavaProcessor(images, tokenizer, patch_size=14, vision_feature_select_strategy="default",
                                            num_additional_image_tokens=1, chat_template=template)
    import test_hf_prompt
    model = test_hf_prompt.model_of("llava")
    model.config.image_token_id = processor.image_token_id
    model.resize_token_embeddings(len(tokenizer))
    return hf.Pruner(model, processor, share=0.3)


def test_llavas_messages(folder):
    pruner = llava()
    part = {"type": "image", "path": str(folder / "a.jpg")}
    conversations = [user(part, WHAT), user({"type": "text", "text": "Hello"})]
    assert_same(pruner.batch_of(conversations), own(pruner.processor, conversations))
    assert_same(pruner.batch_of(folder / "a.jpg", "What is this?"), own(pruner.processor, conversations[0]))
    assert pruner.prune(pruner.batch_of(conversations)).tokens == 11
    with pytest.raises(tv.Error, match="video 0: the processor, a LlavaProcessor, takes no videos"):
        pruner.batch_of(user({"type": "video", "path": folder / "a.jpg"}))


def test_paligemma_has_no_template(folder):
    import test_hf_prompt
    tokenizer = tiny.tokenizer_of(["<pad>", "<bos>", "<eos>", "<image>"], transformers.GemmaTokenizerFast, bos_token="<bos>")
    images = transformers.SiglipImageProcessor(size={"height": 84, "width": 84})
    images.image_seq_length = 36
    processor = transformers.PaliGemmaProcessor(images, tokenizer)
    model = test_hf_prompt.model_of("paligemma")
    model.config.image_token_id = processor.image_token_id
    pruner = hf.Pruner(model, processor, k=5)
    image = PIL.open(folder / "a.jpg")
    assert_same(pruner.batch_of(image, "caption en"),
                processor(text=["<image>caption en"], images=[[image]], padding=True, return_tensors="pt"))
    with pytest.raises(tv.Error, match="a PaliGemmaProcessor, has no chat template: give one message"):
        pruner.batch_of([*user(WHAT), *user(WHAT)])


def test_an_encoders_images(folder):
    import test_hf_encoder
    processor = transformers.SiglipImageProcessor(size={"height": 84, "width": 84})
    pruner = hf.Pruner(test_hf_encoder.encoder_of("siglip"), processor, share=0.25)
    images = [PIL.open(folder / name) for name in ("a.jpg", "b b.jpg")]
    assert_same(pruner.batch_of([folder / "a.jpg", images[1]]), processor(images=[transformers.image_utils.load_image(str(folder / "a.jpg")),
                                                                                  images[1]], return_tensors="pt"))
    assert pruner.prune(pruner.batch_of(images)).forward().last_hidden_state.shape[:2] == (2, 9)
    left = pruner.prune([images[0], "nowhere.jpg", images[1]], errors="skip")
    assert torch.equal(left.rows, pruner.prune(images).rows) and str(left.skipped[1]) == GONE and left.report.images == [0, 2]
