# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""An attacker that speaks etcd's JSON gateway and says what a test wants. It never stands in for etcd."""

import base64
import contextlib
import http.server
import json
import threading

from harness.etcd import serve

HEADER = {"cluster_id": "7", "member_id": "1", "revision": "10", "raft_term": "2"}


def b64(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def kv(key, value, lease=5, revision=3):
    return {"key": b64(key), "value": b64(value), "lease": str(lease), "mod_revision": str(revision)}


def dpu_record(name, address="tls:127.0.0.1:9", **more):
    record = {
        "format": 1, "addresses": [address], "certificate": name, "software": "1", "generation": 1, **more,
    }
    return json.dumps(record)


def export_record(**more):
    record = {"format": 1, "kind": "dram", "size": 1, "access": [], "via": "pci", "generation": 1, **more}
    return json.dumps(record)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802 # pylint: disable=invalid-name
        attacker = self.server.attacker
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        attacker.requests.append(self.path)
        answer = attacker.answer(self.path, json.loads(body or b"{}"))
        with contextlib.suppress(OSError):
            if isinstance(answer, (dict, bytes)):
                raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
                return
            if isinstance(answer, tuple):
                status, headers, raw = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
                return
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            for line in answer:
                if attacker.is_closed:
                    return
                self.wfile.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
                self.wfile.flush()

    def log_message(self, *_):
        pass


class Attacker:
    """range_answer(request) and watch_answer(request) can be replaced; the latter yields lines."""

    def __init__(self, kvs=()):
        self.kvs = list(kvs)
        self.requests = []
        self.is_closed = False
        self.idle = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.daemon_threads = True
        self.server.attacker = self
        self.urls = [f"http://127.0.0.1:{self.server.server_port}"]
        serve(self.server)

    def answer(self, path, request):
        if path == "/v3/kv/range":
            return self.range_answer(request)
        if path == "/v3/watch":
            return self.watch_answer(request)
        return {"header": HEADER}

    def range_answer(self, request):
        begin, end = (base64.b64decode(request.get(name, "")) for name in ("key", "range_end"))
        kvs = [one for one in self.kvs if begin <= base64.b64decode(one["key"]) < end]
        return {"header": HEADER, "kvs": kvs, "count": str(len(kvs))}

    def created(self):
        return {"result": {"header": HEADER, "created": True}}

    def events(self, *kvs, **more):
        return {"result": {"header": HEADER, "events": [{"kv": one} for one in kvs], **more}}

    def watch_answer(self, _):
        yield self.created()
        self.idle.wait()

    def close(self):
        self.is_closed = True
        self.idle.set()
        self.server.shutdown()
        self.server.server_close()
