# SPDX-License-Identifier: Apache-2.0
"""What test_proxy.py runs: a server that keeps what it was asked, and the proxy before it, as a program of its own. On the loopback only."""
import contextlib
import http.client
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by what the path, or the field "test" of a body, says."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def say(self, status, body=b"", *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def handle_any(self):
        server = self.server
        body = self.body()
        server.asked.append((self.command, self.path, self.headers, body))
        name = self.path.partition("?")[0].lstrip("/")
        if name == "v1/chat/completions":
            with contextlib.suppress(ValueError, AttributeError):
                name = json.loads(body).get("test", name)
        getattr(self, "test_" + name.replace("/", "_").replace(".", "_"), self.plain)()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = handle_any

    def plain(self):
        self.say(200, json.dumps({"path": self.path, "method": self.command}).encode(), ("Content-Type", "application/json"))

    def test_stream(self):
        """Events, of which each but the first waits until the test says so; it notices when nobody listens any more."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.chunk(b"data: one\n\n")
            self.server.go.wait(20)
            for _ in range(self.server.events):
                self.chunk(b"data: two\n\n")
                time.sleep(0.01)
            self.chunk(b"")
        except OSError:
            self.server.gone.set()

    def test_slow(self):
        self.server.gone.wait(5)
        self.plain()

    def test_watched(self):
        """Answers nothing, and notices when nobody waits any more."""
        self.connection.settimeout(20)
        if self.connection.recv(1) == b"":
            self.server.gone.set()
        self.close_connection = True

    def test_stalls(self):
        """Begins an answer, and says no more."""
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"begun")
        self.wfile.flush()
        self.server.gone.wait(5)
        self.close_connection = True

    def test_cut(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.chunk(b"begun")
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def test_error(self):
        self.say(429, b'{"error": "too many"}', ("Retry-After", "7"), ("Content-Type", "application/json"))

    def test_hops(self):
        self.say(200, b"x", ("Connection", "X-Inner, close"), ("X-Inner", "1"), ("Keep-Alive", "timeout=3"), ("X-Outer", "2"),
                 ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))

    def test_packed(self):
        self.say(200, self.server.files["packed"], ("Content-Encoding", "gzip"))

    def test_empty(self):
        self.say(204)

    def test_moved(self):
        self.say(302, b"", ("Location", f"http://127.0.0.1:{self.server.port}/pictures/one.png"))

    test_pictures_moved = test_moved

    def file(self):
        self.say(200, self.server.files[self.path.partition("?")[0].rpartition("/")[2]], ("Content-Type", "image/png"))

    test_pictures_one_png = test_pictures_large_png = test_private_one_png = file


class Upstream(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self.files = {}
        self.clear()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def clear(self):
        self.asked, self.events = [], 3
        self.go, self.gone = threading.Event(), threading.Event()

    def handle_error(self, *_):
        """A connection that breaks is what some tests are about."""


class Running:
    """The proxy as a process."""

    def __init__(self, upstream, *options, **environment):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, "-m", "texturevlm.proxy", "--upstream", upstream, "--port", "0", *options],
                                        stderr=self.log, stdout=self.log, env={**os.environ, **environment})
        ends = time.monotonic() + 120
        while "hands on to" not in self.said():
            assert self.process.poll() is None and time.monotonic() < ends, self.said()
            time.sleep(0.05)
        self.host, self.port = re.match(r"texturevlm.proxy: http://([\d.]+):(\d+) hands", self.said()).groups()

    def said(self):
        self.log.flush()
        return os.pread(self.log.fileno(), 1 << 20, 0).decode()

    def waits_for(self, text):
        """What is written of a request is written when it has ended, which may be after the client has its answer."""
        ends = time.monotonic() + 20
        while text not in self.said():
            assert time.monotonic() < ends, self.said()
            time.sleep(0.02)

    def connection(self):
        return http.client.HTTPConnection(self.host, int(self.port), timeout=120)

    def ask(self, method, path, body=None, headers=None, **options):
        """Status, headers and body of an answer."""
        connection = self.connection()
        try:
            connection.request(method, path, body, headers or {}, **options)
            found = connection.getresponse()
            return found.status, found.headers, found.read()
        finally:
            connection.close()

    def chat(self, document, **headers):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return self.ask("POST", "/v1/chat/completions", body, {"Content-Type": "application/json", **headers})

    def wire(self, timeout):
        return socket.create_connection((self.host, int(self.port)), timeout=timeout)

    def raw(self, data):
        """All that comes back for bytes on the wire, until the connection ends or is silent."""
        with self.wire(10) as wire:
            wire.sendall(data)
            found = b""
            with contextlib.suppress(OSError):
                while more := wire.recv(1 << 16):
                    found += more
        return found

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)
