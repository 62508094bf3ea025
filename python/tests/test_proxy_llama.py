# SPDX-License-Identifier: Apache-2.0
"""The proxy before llama-cpp-python's own server with a Qwen-VL, where both are: on the loopback only.

TVLM_TEST_LLAMA is a folder with the model.gguf and the mmproj.gguf of a Qwen2-VL or Qwen2.5-VL; one of random weights will do.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest

import texturevlm as tv

pytest.importorskip("aiohttp")
pytest.importorskip("PIL.Image")
for package in ("llama_cpp", "uvicorn", "fastapi", "pydantic_settings", "sse_starlette", "starlette_context"):
    pytest.importorskip(package, exc_type=ImportError)
from proxy_servers import Running  # noqa: E402
from test_pictures import decoded, saved  # noqa: E402
from test_proxy import PAGE, SMALL, chat, part  # noqa: E402

MODEL = pathlib.Path(os.environ.get("TVLM_TEST_LLAMA", "/nonexistent"))
if not (MODEL / "model.gguf").is_file():
    pytest.skip("TVLM_TEST_LLAMA names no folder with a model.gguf", allow_module_level=True)
BUDGET = 120
TEXT = {"type": "text", "text": "a b"}
OTHERS = {"max_tokens": 4, "temperature": 0, "seed": 1}


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """The server's port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("llama") / "log"
    with log.open("w") as file:
        made = subprocess.Popen([sys.executable, "-m", "llama_cpp.server", "--model", str(MODEL / "model.gguf"), "--clip_model_path", str(MODEL / "mmproj.gguf"),
                                 "--chat_format", "qwen2.5-vl", "--n_ctx", "4096", "--n_threads", "1", "--host", "127.0.0.1", "--port", str(port)],
                                stdout=file, stderr=file)
    ends = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert made.poll() is None and time.monotonic() < ends, log.read_text(errors="replace")[-2000:]
            time.sleep(0.2)
    yield port
    made.terminate()
    made.wait(60)


@pytest.fixture(scope="module")
def proxy(llama):
    made = Running(f"http://127.0.0.1:{llama}", "--budget", str(BUDGET))
    yield made
    assert made.end() == 0


def used(proxy, *content):
    """How far the prompt reaches, as the server counts it."""
    status, _, body = proxy.chat(chat(*content, **OTHERS))
    assert status == 200, body
    return json.loads(body)["usage"]["prompt_tokens"]


def reach(parts):
    """How far pictures reach in the prompt of a Qwen-VL: by their longer side in tokens, and the two around each."""
    return sum(max(decoded(one).size) // 28 + 2 for one in parts if one["type"] == "image_url")


def test_the_server_makes_the_tokens_that_were_counted(proxy):
    """Its positions tell that it resized no picture: each reaches as far as its columns or rows."""
    expected = tv.pictures(saved(PAGE, format="PNG"), budget=BUDGET)
    assert len(expected) > 2 and expected.tokens <= BUDGET
    line = {"type": "text", "text": expected[0]["text"]}
    assert used(proxy, part(PAGE), TEXT) == used(proxy, line, TEXT) + reach(expected)
    smaller = tv.pictures(saved(PAGE, format="PNG"), budget=BUDGET, way="smaller")
    (low,) = (one for one in smaller)
    assert used(proxy, part(PAGE, detail="low"), TEXT) == used(proxy, TEXT) + reach([low])
    # 84 x 56 pixels would be 3 x 2 tokens. The server makes at least 8 of them, and is known to.
    assert used(proxy, part(SMALL), TEXT) == used(proxy, TEXT) + 4 + 2
    proxy.waits_for("pictures: 1, tokens: 14 of 14, ")


@pytest.fixture
def direct(llama):
    """The server without the proxy."""
    made = Running.__new__(Running)
    made.host, made.port = "127.0.0.1", str(llama)
    return made


def test_the_answer_is_that_of_the_same_pictures(proxy, direct):
    """Sent by hand, without the proxy."""
    expected = tv.pictures(saved(PAGE, format="PNG"), budget=BUDGET)
    answers = [json.loads(one.chat(chat(*content, TEXT, **OTHERS))[2])["choices"] for one, content in ((proxy, [part(PAGE)]), (direct, expected))]
    assert answers[0] == answers[1]


def test_it_streams(proxy):
    status, headers, body = proxy.chat(chat(part(PAGE), TEXT, stream=True, **OTHERS))
    assert status == 200 and headers["Content-Type"].startswith("text/event-stream") and body.rstrip().endswith(b"data: [DONE]")
    proxy.waits_for("POST /v1/chat/completions 200, pictures: 1, tokens: ")


def test_its_other_answers(proxy, direct):
    status, _, body = proxy.ask("GET", "/v1/models")
    assert status == 200 and json.loads(body)["data"]
    for one in (proxy, direct):
        assert one.ask("GET", "/nowhere")[0] == 404
    assert proxy.chat({"messages": 3})[0] == direct.chat({"messages": 3})[0] >= 400
