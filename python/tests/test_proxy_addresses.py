# SPDX-License-Identifier: Apache-2.0
"""Addresses of pictures in messages: what is fetched, and all that is not."""
import asyncio
import json

import pytest

import texturevlm as tv

pytest.importorskip("aiohttp")
pytest.importorskip("PIL.Image")
from proxy_servers import Running, Upstream  # noqa: E402
from test_pictures import page, saved  # noqa: E402
from test_proxy import PAGE, SMALL, TEXT, chat, message_of, part, sent, tokens, url  # noqa: E402
from texturevlm.proxy import _addresses  # noqa: E402


def prefixes(*texts):
    return [_addresses.prefix_of(text) for text in texts]


@pytest.mark.parametrize("text", [
    "https://a.example/pictures/one.png", "https://a.example/pictures/", "https://a.example:443/pictures/b/c.png?size=2&x=%20", "HTTPS://A.example/pictures/x",
    "https://a.example/pictures/a..b/.c"])
def test_what_begins_with_a_prefix(text):
    _addresses.check(text, prefixes("http://b.example", "https://a.example/pictures/"))


@pytest.mark.parametrize("text", [
    "http://a.example/pictures/x", "https://a.example:8443/pictures/x", "https://a.example/pictures", "https://a.example/pictures-private/x", "https://a.example/Pictures/x",
    "https://a.example.evil.example/pictures/x", "https://evil.example/?https://a.example/pictures/", "https://evil.example/https://a.example/pictures/",
    "https://a.example@evil.example/pictures/x", "https://a.example:x@evil.example/pictures/", "https://evil.example#@a.example/pictures/x",
    "https://evil.example\\@a.example/pictures/x", "https://a.example\\.evil.example/pictures/x", "https://a.example%2eevil.example/pictures/x",
    "https://a.example/pictures/../private", "https://a.example/pictures/..", "https://a.example/pictures/./x", "https://a.example/pictures/%2e%2e/private",
    "https://a.example/pictures/%2E./private", "https://a.example/pictures/..%2fprivate", "https://a.example/pictures/..%5cprivate", "https://a.example/pictures/..\\private",
    "https://a.example/pictures/%00x", "https://a.example/pictures/x\r\nHost: evil", "https://a.example/pictures/x y", " https://a.example/pictures/x",
    "https:a.example/pictures/x", "https:///a.example/pictures/x", "https:/a.example/pictures/x", "//a.example/pictures/x", "https://a.example./pictures/x",
    "https://ａ.example/pictures/x", "https://a.example:443x/pictures/x", "https://a.example:99999/pictures/", "https://[a.example/pictures/x", "https://",
    "ftp://a.example/pictures/x", "file:///pictures/x", "gopher://a.example/pictures/", "javascript:https://a.example/pictures/", "", "data", "https://a.example/pictures/x#y",
    "https://a.example?/pictures/x", "https://a.example;/pictures/x", "https://a.example,evil.example/pictures/"])
def test_what_does_not(text):
    with pytest.raises(tv.ArgumentError):
        _addresses.check(text, prefixes("https://a.example/pictures/"))


def test_a_prefix_is_checked_as_an_address_is():
    assert prefixes("https://a.example")[0] == prefixes("https://A.example:443/")[0]
    for text in ("https://a.example/pictures", "a.example", "https://user@a.example/", "https://a.example/../", "https://a.example/?/", "file:///", "https://", "*"):
        with pytest.raises(tv.ArgumentError, match="--allow-url"):
            prefixes(text)
    with pytest.raises(tv.ArgumentError, match="is not fetched: send it as a data URL"):
        _addresses.check("https://a.example/", [])


@pytest.mark.parametrize("address, public", [
    ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False), ("10.1.2.3", False), ("192.168.0.1", False), ("169.254.169.254", False),
    ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("::", False), ("fe80::1%eth0", False),
    ("fc00::1", False), ("ff02::1", False), ("::ffff:127.0.0.1", False), ("::ffff:93.184.216.34", True), ("64:ff9b::7f00:1", False), ("64:ff9b::5db8:d822", True),
    ("2002:7f00:1::", False), ("::127.0.0.1", False), ("a.example", False), ("", False)])
def test_public_addresses(address, public):
    assert _addresses.is_public(address) is public


def test_a_name_that_stands_for_this_machine_is_refused():
    """Whoever owns a name may let it stand for any address, and for another one each time."""
    class Names:
        async def resolve(self, host, port, family):
            answers = {"evil.example": ["127.0.0.1", "169.254.169.254"], "both.example": ["10.0.0.1", "93.184.216.34"], "localhost": ["127.0.0.1"]}
            return [{"host": one} for one in answers[host]]

    async def asked(host):
        resolver = _addresses.Resolver()
        resolver._inner = Names()
        return [one["host"] for one in await resolver.resolve(host)]

    with pytest.raises(OSError, match="none of the internet"):
        asyncio.run(asked("evil.example"))
    assert asyncio.run(asked("both.example")) == ["93.184.216.34"] and asyncio.run(asked("localhost")) == ["127.0.0.1"]


@pytest.fixture(scope="module")
def server():
    made = Upstream()
    made.files.update({"one.png": saved(PAGE, format="PNG"), "large.png": b"\x89PNG" + b"x" * (1 << 20)})
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module")
def proxy(server):
    made = Running(f"http://127.0.0.1:{server.port}", "--budget", "120", "--max-body", "1", "--timeout", "30",
                   "--allow-url", f"http://127.0.0.1:{server.port}/pictures/", "--allow-url", "http://numbers.invalid/")
    yield made
    assert made.end() == 0


def test_an_allowed_picture_is_fetched(proxy, server):
    server.clear()
    link = f"http://127.0.0.1:{server.port}/pictures/one.png?key=sk-secret"
    status, _, _ = proxy.chat(chat(TEXT, part(link)), Authorization="Bearer sk-1", Cookie="a=b")
    assert status == 200 and [one[:2] for one in server.asked] == [("GET", "/pictures/one.png?key=sk-secret"), ("POST", "/v1/chat/completions")]
    assert server.asked[0][2]["Authorization"] is None and server.asked[0][2]["Cookie"] is None
    assert sent(server)["messages"][0]["content"] == [TEXT, *tv.pictures(server.files["one.png"], budget=120)]
    proxy.waits_for("pictures: 1")
    assert "sk-secret" not in proxy.said()


def test_a_small_picture_that_was_fetched_is_sent_itself(proxy, server):
    """The server is not sent to fetch what may be something else by then."""
    server.clear()
    before, server.files["one.png"] = server.files["one.png"], saved(SMALL, format="PNG")
    try:
        assert proxy.chat(chat(part(f"http://127.0.0.1:{server.port}/pictures/one.png")))[0] == 200
    finally:
        server.files["one.png"] = before
    (found,) = sent(server)["messages"][0]["content"]
    assert found["image_url"]["url"].startswith("data:image/png;base64,") and tokens([found]) == 3 * 2 + 2


@pytest.mark.parametrize("path, said", [
    ("pictures/moved", "its server says 302"), ("pictures/large.png", "more than 1048576 bytes"), ("private/one.png", "none of the prefixes"),
    ("pictures/../private/one.png", "not plain"), ("pictures/%2e%2e/private/one.png", "not plain"), ("pictures/nothing", "no picture")])
def test_what_is_not_fetched(proxy, server, path, said):
    server.clear()
    status, _, body = proxy.chat(chat(part(f"http://127.0.0.1:{server.port}/{path}")))
    assert status == 400 and said in message_of(body) and message_of(body).startswith("messages[0].content[0]: ")
    assert [one[1] for one in server.asked] == ([f"/{path}"] if path.startswith("pictures/") and "not plain" not in said else [])


def test_a_host_that_is_not_there(proxy, server):
    status, _, body = proxy.chat(chat(part("http://numbers.invalid/x.png")))
    assert status == 400 and "cannot be fetched" in message_of(body)
    status, _, body = proxy.chat(chat(part(f"http://localhost:{server.port}/pictures/one.png")))
    assert status == 400 and "none of the prefixes" in message_of(body)


def test_nothing_is_fetched_where_nothing_is_allowed(server):
    server.clear()
    made = Running(f"http://127.0.0.1:{server.port}")
    link = f"http://127.0.0.1:{server.port}/pictures/one.png"
    try:
        status, _, body = made.chat(chat(part(url(page(60, 40))), part(link)))
        assert status == 400 and message_of(body) == "messages[0].content[1]: a picture by its address is not fetched: send it as a data URL"
        assert not server.asked
        # In a text it is no picture.
        assert made.chat({"messages": [{"role": "user", "content": f"see {link}"}]})[0] == 200
        assert json.loads(server.asked[0][3])["messages"][0]["content"] == f"see {link}" and len(server.asked) == 1
    finally:
        assert made.end() == 0
