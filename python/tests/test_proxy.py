# SPDX-License-Identifier: Apache-2.0
"""The proxy before a server of OpenAI's interface: what becomes of requests, and of all that can go wrong."""
import base64
import concurrent.futures
import gzip
import http.client
import io
import json
import signal
import socket
import time
import tracemalloc
import zlib

import numpy as np
import pytest

import texturevlm as tv

pytest.importorskip("aiohttp")
Image = pytest.importorskip("PIL.Image")
from proxy_servers import Running, Upstream  # noqa: E402
from test_pictures import decoded, page, saved  # noqa: E402
from texturevlm import _pictures  # noqa: E402

BUDGET = 120
PAGE, SMALL = page(560, 420), Image.fromarray(np.random.default_rng(0).integers(0, 255, (56, 84, 3), "uint8"))


def url(image, kind="PNG"):
    return f"data:image/{kind.lower()};base64," + base64.b64encode(saved(image, format=kind)).decode()


def part(image, **more):
    return {"type": "image_url", "image_url": {"url": image if isinstance(image, str) else url(image), **more}}


def chat(*content, **more):
    return {"model": "any", "messages": [{"role": "user", "content": list(content)}], **more}


TEXT = {"type": "text", "text": "What is the total?"}


@pytest.fixture(scope="module")
def server():
    made = Upstream()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(autouse=True)
def fresh(server):
    server.clear()


@pytest.fixture(scope="module")
def proxy(server):
    # By its name, since a client keeps no cookies of an IP address in any case.
    made = Running(f"http://localhost:{server.port}", "--budget", str(BUDGET), "--max-body", "2", "--timeout", "60")
    yield made
    assert made.end() == 0
    assert "Traceback" not in made.said()


def sent(server):
    """The document that the server got last."""
    return json.loads(server.asked[-1][3])


def tokens(parts):
    shown = [decoded({"type": "image_url", "image_url": {"url": one["image_url"]["url"]}}) for one in parts if one["type"] == "image_url"]
    return sum(one.size[0] * one.size[1] // 784 + 2 for one in shown) + sum(_pictures.tokens_of(one["text"]) for one in parts if one["type"] == "text")


def message_of(body):
    return json.loads(body)["error"]["message"]


# ---- Pictures ----

def test_a_picture_becomes_what_pictures_makes_of_it(proxy, server):
    status, _, body = proxy.chat(chat(part(PAGE), TEXT, temperature=0.5))
    assert status == 200 and json.loads(body) == {"path": "/v1/chat/completions", "method": "POST"}
    found = sent(server)
    expected = tv.pictures(saved(PAGE, format="PNG"), budget=BUDGET)
    assert found["messages"][0]["content"] == [*expected, TEXT] and found["temperature"] == 0.5 and found["model"] == "any"
    assert len(expected) > 2 and tokens(expected) == expected.tokens <= BUDGET
    proxy.waits_for(f"POST /v1/chat/completions 200, pictures: 1, tokens: {expected.tokens} of 302, ")


@pytest.mark.parametrize("path", ["/chat/completions", "/chat%2Fcompletions?key=1"])
def test_the_path_without_v1_is_taken_too(proxy, server, path):
    status, _, _ = proxy.ask("POST", path, json.dumps(chat(part(PAGE), TEXT)))
    assert status == 200 and server.asked[-1][:2] == ("POST", path)
    assert sent(server)["messages"][0]["content"] == [*tv.pictures(saved(PAGE, format="PNG"), budget=BUDGET), TEXT]


def test_several_pictures_and_messages(proxy, server):
    photo = Image.fromarray(np.kron(np.random.default_rng(1).integers(0, 255, (15, 20, 3)), np.ones((28, 28, 1))).astype("uint8"))
    document = {"messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [TEXT, part(PAGE), part(photo, detail="high"), {"type": "other", "x": [1.5, None, "ä\ud83d"]}], "name": "me"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "user", "content": [part(SMALL), {**part(url(photo, "JPEG")), "cache_control": {"type": "ephemeral"}}]}]}
    assert proxy.chat(document)[0] == 200
    found = sent(server)["messages"]
    assert found[0] == document["messages"][0] and found[2] == document["messages"][2] and found[1]["name"] == "me"
    first, last = found[1]["content"], found[3]["content"]
    assert first[0] == TEXT and first[-1] == document["messages"][1]["content"][3]
    assert tokens(first[1:-2]) <= BUDGET and tokens([first[-2]]) <= BUDGET and first[-2]["image_url"]["detail"] == "high"
    assert last[0] == part(SMALL) and len(last) == 2 and last[1]["cache_control"] == {"type": "ephemeral"}
    assert decoded({"type": "image_url", "image_url": last[1]["image_url"]}).size < photo.size


def test_detail_low_is_one_smaller_picture(proxy, server):
    assert proxy.chat(chat(part(PAGE, detail="low"), part(PAGE, detail="auto")))[0] == 200
    low, *auto = sent(server)["messages"][0]["content"]
    assert low["image_url"]["detail"] == "low" and tokens([low]) <= BUDGET
    assert len(auto) > 2 and all(one["image_url"]["detail"] == "auto" for one in auto[1:])


def test_a_url_alone(proxy, server):
    """Some clients give the URL where OpenAI's form has a mapping with it."""
    assert proxy.chat(chat({"type": "image_url", "image_url": url(PAGE)}))[0] == 200
    assert all(isinstance(one["image_url"], str) for one in sent(server)["messages"][0]["content"][1:])


@pytest.mark.parametrize("document", [
    {"messages": [{"role": "user", "content": "Hello"}]}, chat(part(SMALL), TEXT), chat(part(SMALL), part(SMALL, detail="low")), {"messages": 3}, [1, 2], {},
    chat({"type": "image_url"}, {"type": "image_url", "image_url": {"url": 3}}, "text", None), {"messages": [None, {"content": {}}]}],
    ids=["text", "small", "both small", "no messages", "a list", "empty", "no url", "no parts"])
def test_what_needs_no_change_is_handed_on_to_the_byte(proxy, server, document):
    body = json.dumps(document, indent=3).encode() + b"\n"
    assert proxy.chat(body)[0] == 200
    assert server.asked[-1][3] == body and server.asked[-1][2]["Content-Length"] == str(len(body))


@pytest.mark.parametrize("form", [lambda text: text.replace("base64,", "base64,\n "), lambda text: text.rstrip("="),
                                  lambda text: text.replace("data:image/png;base64", "DATA:;Base64"), lambda text: text.replace("+", "%2B")])
def test_data_urls_of_all_forms(proxy, server, form):
    assert proxy.chat(chat(part(form(url(PAGE)))))[0] == 200
    assert len(sent(server)["messages"][0]["content"]) > 2


def test_a_picture_that_comes_again_is_known(proxy, server):
    image = page(700, 500, seed=3)
    taken = []
    for _ in range(2):
        began = time.monotonic()
        assert proxy.chat(chat(part(image)))[0] == 200
        taken.append(time.monotonic() - began)
    assert server.asked[0][3] == server.asked[1][3] and taken[1] < taken[0] / 2


def test_of_what_was_chosen_the_newest_is_kept():
    from texturevlm.proxy._choose import Chosen, Kept
    one, kept = Chosen("", ("x" * 800,), 3, 9), Kept(2500)
    for key in (b"a", b"b", b"a", b"c"):
        if kept.get(key) is None:
            kept.put(key, one)
    assert kept.get(b"a") is one and kept.get(b"c") is one and kept.get(b"b") is None
    nothing = Kept(0)
    nothing.put(b"a", one)
    assert nothing.get(b"a") is None


@pytest.mark.parametrize("options", [
    {"share": 0.25, "patch": 16, "extra": 5, "encoding": "jpeg"}, {"tolerance": 0.2, "way": "smaller", "least": 9, "most": 100, "device": "reference"},
    {"tolerance": "auto", "patch": 32}])
def test_options_are_those_of_pictures(server, options):
    given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    made = Running(f"http://127.0.0.1:{server.port}", "--host", "127.0.0.2", "--max-pixels", "0.2352", "--keep", "0", "--jobs", "1", *given)
    try:
        assert made.host == "127.0.0.2" and made.chat(chat(part(PAGE)))[0] == 200
        assert sent(server)["messages"][0]["content"] == list(tv.pictures(saved(PAGE, format="PNG"), **options))
        status, _, body = made.chat(chat(part(page(561, 420))))
        assert status == 400 and "561 x 420 pixels are more than 235200" in message_of(body)
    finally:
        assert made.end() == 0


# ---- Bodies ----

@pytest.mark.parametrize("body, said", [
    (b"", "the body is no JSON"), (b"{", "the body is no JSON"), (b'{"messages": NaN}', "NaN is no number"), (b'{"x": 1e999}', "1e999 is too large"),
    (b"[" * 100000, "nested too deeply"), (b"\xff\xfe{", "the body is no JSON"), (b'{"x": ' + b"9" * 9000 + b"}", "the body is no JSON")])
def test_malformed_json(proxy, server, body, said):
    status, headers, answer = proxy.chat(body)
    assert status == 400 and said in message_of(answer) and headers["Content-Type"].startswith("application/json")
    assert not server.asked and json.loads(answer)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("link, said", [
    ("data:image/png;base64,AAAA", "an image in memory: it is no picture"), ("data:image/png;base64,*", "a data URL is no base64"),
    ("data:image/png;base64", "a data URL has no comma"), ("data:text/plain,hello", "it is no picture"), ("data:,", "it is no picture"),
    (url(PAGE)[:2000], "it cannot be read"), ("http://127.0.0.1/one.png", "by its address is not fetched"), ("file:///etc/passwd", "by its address"),
    ("", "by its address"), ("/etc/passwd", "by its address")])
def test_what_is_no_picture(proxy, server, link, said):
    status, _, body = proxy.chat(chat(TEXT, part(link)))
    assert status == 400 and message_of(body).startswith("messages[0].content[1]: ") and said in message_of(body) and not server.asked
    assert "\n" not in message_of(body)


def test_too_many_pixels_and_pictures(proxy, server):
    status, _, body = proxy.chat(chat(part(Image.new("L", (8001, 8000)))))
    assert status == 400 and "8001 x 8000 pixels are more than 64000000" in message_of(body)
    tiny = part(Image.new("L", (1, 1)))
    assert proxy.chat(chat(*[tiny] * 256))[0] == 200
    status, _, body = proxy.chat(chat(*[tiny] * 257))
    assert status == 400 and "257 pictures, at most 256" in message_of(body) and len(server.asked) == 1


def test_a_body_over_the_limit(proxy, server):
    large = json.dumps(chat(TEXT, pad="x" * (2 << 20))).encode()
    assert proxy.chat(large)[0] == 413
    # Without a length, and one that becomes large when it is unpacked.
    status, _, body = proxy.ask("POST", "/v1/chat/completions", iter([large[:1 << 20], large[1 << 20:]]), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert status == 413 and "more than 2097152 bytes" in message_of(body)
    assert proxy.chat(gzip.compress(b" " * (50 << 20)), **{"Content-Encoding": "gzip"})[0] == 413
    assert not server.asked
    # Other requests have no limit.
    assert proxy.ask("POST", "/v1/files", large)[0] == 200 and server.asked[-1][3] == large


@pytest.mark.parametrize("name, pack", [("gzip", gzip.compress), ("GZIP", gzip.compress), ("deflate", zlib.compress), ("deflate", lambda data: zlib.compress(data)[2:-4]),
                                        ("gzip", lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])), ("identity", bytes)])
def test_compressed_bodies(proxy, server, name, pack):
    packed = pack(json.dumps(chat(part(PAGE), TEXT)).encode())
    assert proxy.chat(packed, **{"Content-Encoding": name})[0] == 200
    assert tokens(sent(server)["messages"][0]["content"][:-1]) <= BUDGET and server.asked[-1][2]["Content-Encoding"] is None
    packed = pack(json.dumps(chat(TEXT)).encode())  # what stays as it is stays packed
    assert proxy.chat(packed, **{"Content-Encoding": name})[0] == 200
    assert server.asked[-1][3] == packed and server.asked[-1][2]["Content-Encoding"] == name


def test_a_body_that_becomes_large_takes_little_memory():
    from texturevlm.proxy._messages import inflated
    packed = gzip.compress(b" " * (64 << 20))
    tracemalloc.start()
    try:
        assert inflated(packed, "gzip", 1 << 20) is None
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert len(inflated(gzip.compress(b" " * 1000), "gzip", 1000)) == 1000


def test_a_body_of_too_many_members_is_refused():
    from texturevlm.proxy._messages import MEMBERS, inflated
    empty = gzip.compress(b"", mtime=0)
    assert inflated(empty * (MEMBERS - 1) + gzip.compress(b"x"), "gzip", 1000) == b"x"
    with pytest.raises(tv.ArgumentError, match="more than 100 members"):  # of 64 MiB of them the work is copying for hours
        inflated(empty * 1000, "gzip", 1000)


@pytest.mark.parametrize("name, body, status", [("br", b"x", 415), ("gzip, gzip", b"x", 415), ("gzip", b"no gzip", 400), ("gzip", gzip.compress(b"{}" * 99)[:30], 400)])
def test_bodies_that_cannot_be_unpacked(proxy, server, name, body, status):
    found = proxy.chat(body, **{"Content-Encoding": name})
    assert found[0] == status and message_of(found[2]) and not server.asked


# ---- Other requests, and headers ----

def test_other_requests_are_untouched(proxy, server):
    body = json.dumps(chat(part(PAGE))).encode()
    for method, path, data in [("GET", "/v1/models?a=%2F&b=ü%20".encode().decode("latin-1"), None), ("PUT", "/x//y/../z", b"\0\1"), ("DELETE", "/v1/files/1", None),
                               ("POST", "/v1/embeddings", body), ("GET", "/v1/chat/completions", None), ("OPTIONS", "/", None), ("POST", "/empty?x", b"")]:
        path = path.encode("ascii", "ignore").decode()
        status, _, answer = proxy.ask(method, path, data)
        asked = server.asked[-1]
        assert status == (204 if path.startswith("/empty") else 200) and asked[:2] == (method, path) and asked[3] == (data or b"")
        assert status == 204 or json.loads(answer)["path"] == path
    status, headers, answer = proxy.ask("HEAD", "/v1/models")
    assert status == 200 and answer == b"" and int(headers["Content-Length"]) > 20
    proxy.ask("PUT", "/x", iter([b"one", b"two"]), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert server.asked[-1][3] == b"onetwo"


def test_headers(proxy, server):
    status, headers, _ = proxy.ask("GET", "/hops", None, {
        "Authorization": "Bearer sk-1", "X-Own": "1", "Connection": "close, X-Mine", "X-Mine": "1", "Keep-Alive": "3", "TE": "trailers", "Upgrade": "h2c",
        "X-Long": "x" * 60000, "Proxy-Authorization": "Basic eA==", "Accept-Encoding": "br", "User-Agent": "own", "Cookie": "a=b"})
    asked = server.asked[-1][2]
    assert asked["Authorization"] == "Bearer sk-1" and asked["X-Own"] == "1" and asked["Accept-Encoding"] == "br" and asked["User-Agent"] == "own"
    assert asked["X-Long"] == "x" * 60000 and asked["Host"] == f"localhost:{server.port}" and asked.get_all("Cookie") == ["a=b"] and asked["Accept"] is None
    assert not {"x-mine", "keep-alive", "te", "upgrade", "proxy-authorization"} & {name.lower() for name in asked}
    assert status == 200 and headers["X-Outer"] == "2" and headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    assert "X-Inner" not in headers and "Keep-Alive" not in headers
    proxy.ask("GET", "/v1/models")  # what the server gave one client is not sent for the next
    assert server.asked[-1][2]["Cookie"] is None and server.asked[-1][2]["User-Agent"] is None


def test_compressed_answers_pass_as_they_are(proxy, server):
    server.files["packed"] = gzip.compress(b"answer" * 100)
    _, headers, body = proxy.ask("GET", "/packed")
    assert headers["Content-Encoding"] == "gzip" and body == server.files["packed"]


@pytest.mark.parametrize("target", [b"@127.0.0.1:9/x", b"http://127.0.0.1:9/x", b"*", b"x"])
def test_what_is_asked_for_cannot_name_another_server(proxy, server, target):
    found = proxy.raw(b"GET " + target + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 400") or found.startswith(b"HTTP/1.0 400")
    assert not server.asked


def test_a_client_that_waits_to_send_is_welcomed(proxy, server):
    body = json.dumps(chat(TEXT)).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: "
    with proxy.wire(20) as wire:
        wire.sendall(head + b"%d\r\n\r\n" % len(body))
        assert wire.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        wire.sendall(body)
        assert b" 200 OK" in wire.recv(1000)
    assert server.asked[-1][3] == body and server.asked[-1][2]["Expect"] is None
    assert b"100 Continue" not in proxy.raw(head + b"9999999999\r\n\r\n")


def test_keys_are_never_written(proxy, server):
    secret = "sk-very-secret"
    for _ in range(2):
        assert proxy.chat(chat(part(PAGE)), Authorization=f"Bearer {secret}", **{"Api-Key": secret})[0] == 200
    assert server.asked[-1][2]["Authorization"] == f"Bearer {secret}" and server.asked[-1][2]["Api-Key"] == secret
    proxy.ask("GET", f"/v1/models?key={secret}")
    proxy.chat(f'{{"key": "{secret}", '.encode())
    proxy.raw(f"GET / HTTP/1.1\r\nHost: a\r\nAuthori zation: {secret}\r\n\r\n".encode())
    proxy.raw(f"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: {secret}\0\r\n\r\n".encode())
    proxy.raw(f"{secret} {secret} {secret}\r\n\r\n".encode())
    proxy.ask("GET", "/last-one")
    proxy.waits_for("GET /last-one 200")
    assert secret not in proxy.said()


# ---- Streams ----

def streaming(proxy, connection):
    connection.request("POST", "/v1/chat/completions", json.dumps(chat(part(PAGE), test="stream", stream=True)))
    answer = connection.getresponse()
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
    assert answer.read1(100) == b"data: one\n\n"  # the server has not sent the second one
    return answer


def test_streams_are_passed_on_as_they_come(proxy, server):
    connection = proxy.connection()
    answer = streaming(proxy, connection)
    server.go.set()
    assert answer.read() == b"data: two\n\n" * 3
    connection.close()


def test_a_client_that_goes_ends_the_servers_work(proxy, server):
    connection, server.events = proxy.connection(), 100000
    answer = streaming(proxy, connection)
    answer.close()
    connection.close()
    server.go.set()
    assert server.gone.wait(20)
    proxy.waits_for("POST /v1/chat/completions the client is gone, pictures: 1")


def test_a_client_that_goes_before_the_answer(proxy, server):
    for method, path, body in [("GET", "/watched", None), ("POST", "/v1/chat/completions", json.dumps(chat(part(PAGE), test="watched")))]:
        server.clear()
        connection = proxy.connection()
        connection.request(method, path, body)
        ends = time.monotonic() + 60
        while not server.asked:
            assert time.monotonic() < ends
            time.sleep(0.02)
        connection.close()
        assert server.gone.wait(10)


def test_an_answer_that_breaks_off_is_seen_to(proxy, server):
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        proxy.chat(chat(TEXT, test="cut"))


# ---- The server ----

def test_statuses_are_passed_on(proxy):
    status, headers, body = proxy.chat(chat(part(PAGE), test="error"))
    assert status == 429 and headers["Retry-After"] == "7" and body == b'{"error": "too many"}'
    status, headers, _ = proxy.ask("GET", "/moved")
    assert status == 302 and headers["Location"].endswith("/pictures/one.png")


def test_a_server_that_is_down_or_slow():
    with socket.socket() as bound:  # nobody listens there
        bound.bind(("127.0.0.1", 0))
        down = Running(f"http://127.0.0.1:{bound.getsockname()[1]}")
        status, _, body = down.chat(chat(TEXT))
        assert status == 502 and json.loads(body)["error"]["type"] == "proxy_error" and "the server cannot be asked" in message_of(body)
        assert down.end(signal.SIGTERM) == 0
    server = Upstream()
    slow = Running(f"http://127.0.0.1:{server.port}", "--timeout", "0.5")
    try:
        status, _, body = slow.ask("GET", "/slow")
        assert status == 504 and "in time" in message_of(body)
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            slow.ask("GET", "/stalls")
        # A client that does not send its body.
        found = slow.raw(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        assert found.startswith(b"HTTP/1.1 408")
        status, _, body = slow.chat(chat(*[part(page(1120, 840, seed)) for seed in range(3)]))
        assert status == 503 and "not chosen in time" in message_of(body)
    finally:
        assert slow.end() == 0
        server.gone.set()
        server.shutdown()


def test_many_at_once(proxy, server):
    """Each request gets its own pictures, and requests without pictures are answered meanwhile."""
    images = [page(600 + 10 * seed, 500, seed) for seed in range(6)]
    expected = {seed: list(tv.pictures(saved(image, format="PNG"), budget=BUDGET)) for seed, image in enumerate(images)}
    with concurrent.futures.ThreadPoolExecutor(12) as threads:
        asked = [threads.submit(proxy.chat, chat(part(images[seed % 6]), part(images[(seed + 1) % 6]), seed=seed)) for seed in range(12)]
        taken = []
        while not all(one.done() for one in asked):
            began = time.monotonic()
            assert proxy.ask("GET", "/v1/models")[0] == 200
            taken.append(time.monotonic() - began)
        assert all(one.result()[0] == 200 for one in asked)
    found = {document["seed"]: document["messages"][0]["content"] for document in (json.loads(one[3]) for one in server.asked if one[0] == "POST")}
    assert sorted(found) == list(range(12))
    assert all(content == expected[seed % 6] + expected[(seed + 1) % 6] for seed, content in found.items())
    assert len(taken) > 30  # one for each picture would be 24


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(server, number):
    """Also in the midst of an answer, and of choosing, which goes on for long."""
    made = Running(f"http://127.0.0.1:{server.port}", "--device", "reference", "--keep", "0")
    connection, busy = made.connection(), made.connection()
    streaming(made, connection)
    busy.request("POST", "/v1/chat/completions", json.dumps(chat(*[part(page(2000, 1500, seed)) for seed in range(4)])))
    time.sleep(1)
    began = time.monotonic()
    assert made.end(number) == 0 and time.monotonic() - began < 12
    connection.close()
    busy.close()
    assert "Traceback" not in made.said() and "Error" not in made.said()


# ---- Arguments ----

@pytest.mark.parametrize("options, said", [
    (["--upstream", "ftp://a"], "--upstream 'ftp://a': an address begins with 'ftp'"), (["--upstream", "127.0.0.1:80"], "--upstream"),
    (["--upstream", "http://me:sk-1@a"], "an address has no plain host"), (["--upstream", "http://a/v1/"], "give it without /v1"),
    (["--upstream", "http://a/?x"], "it has a query"), (["--upstream", "http://a:99999"], "cannot be read"),
    (["--upstream", "http://localhost:8081"], "is where the proxy itself listens"), (["--budget", "2"], "a budget of 2 tokens"),
    (["--budget", "9", "--share", "0.5"], "exclude each other"), (["--tolerance", "x"], "--tolerance 'x' is no number"), (["--tolerance", "2"], "at most 1"),
    (["--patch", "2"], "patch is 2"), (["--allow-url", "http://a/b"], "a prefix ends with a slash"), (["--allow-url", "http://a/?x=/"], "ends with a slash"),
    (["--max-body", "0"], "--max-body is 0"), (["--max-pixels", "0"], "--max-pixels is 0"), (["--timeout", "nan"], "--timeout is nan"), (["--jobs", "0"], "--jobs is 0"),
    (["--keep", "-1"], "--keep is -1"), (["--port", "70000"], "--port is 70000"), (["--device", "no such"], "no such")])
def test_wrong_arguments_get_a_line(options, said, capsys):
    from texturevlm import proxy
    given = options if "--upstream" in options else ["--upstream", "http://127.0.0.1:8080", *options]
    assert proxy.main(given) == (1 if "--device" in given else 2)
    line = capsys.readouterr().err
    assert line.startswith("texturevlm.proxy: ") and said in line and line.count("\n") == 1 and "sk-1" not in line.replace(repr(given[1]), "")


def test_a_place_where_it_cannot_listen(capsys):
    from texturevlm import proxy
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert proxy.main(["--upstream", "http://127.0.0.1:9", "--port", str(taken.getsockname()[1])]) == 1
    assert "it cannot listen at 127.0.0.1, port" in capsys.readouterr().err
    assert proxy.main(["--upstream", "http://127.0.0.1:9", "--host", "no.such.host.invalid", "--port", "0"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_without_its_packages_one_line(run):
    said = run("import subprocess, sys\nfound = subprocess.run([sys.executable, '-c', 'import sys; sys.modules[\"aiohttp\"] = None; import texturevlm.proxy'], "
               "capture_output=True, text=True)\nassert found.returncode == 1\nprint(found.stderr.splitlines()[-1])")
    assert "MissingPackageError: texturevlm.proxy needs aiohttp and Pillow (pip install 'texturevlm[proxy]')" in said
