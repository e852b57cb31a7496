# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What /metrics gives is what docs/metrics.md says, and counts what clients do."""

import contextlib
import re
import socket

import pytest

from harness.agents import ABSENT, REFUSED
from harness.metrics import described, parse, scrape

pytestmark = pytest.mark.local
CONFIG = """listen = [ "unix:{dir}/socket" ];
admin = "{dir}/admin";
metrics = "{dir}/metrics";
exports = ( {{ name = "a"; kind = "dram"; size = 65536; allow = [ "*" ]; }},
	{{ name = "r"; kind = "dram"; size = 65536; via = "rdma"; allow = [ "*" ]; }} );
"""


@pytest.fixture
def agent(serve, dpu):
    dpu.put({"dpumapd.conf": CONFIG.format(dir=dpu.dir)})
    return serve("--config", f"{dpu.dir}/dpumapd.conf")


def test_page_is_what_dpumapd_gives(agent, dpu):
    """Without a registry and certificates; test_registry.py and test_reload.py have them."""
    metrics, samples = parse(scrape(f"{dpu.dir}/metrics"))
    page = {name: words for name, words in described().items() if not re.search("registry|_end_seconds", name)}
    assert metrics == page
    kinds = {name for name in samples if "{" in name}
    assert kinds == {
        f'{name}{{kind="{kind}"}}'
        for name in ("dpumapd_exports", "dpumapd_exported_bytes")
        for kind in ("dm", "dram", "file", "dmabuf")
    }
    assert samples['dpumapd_exports{kind="dram"}'] == 2 and samples['dpumapd_exported_bytes{kind="dram"}'] == 131072


def ask(path, request):
    """(status line, headers, body)"""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(request)
        head, _, body = b"".join(iter(lambda: s.recv(65536), b"")).decode().partition("\r\n\r\n")
    status, *headers = head.split("\r\n")
    return status, headers, body


@pytest.mark.parametrize(
    "line, status",
    [
        ("GET /metrics?collect%5B%5D=x HTTP/1.1", 200),
        ("GET http://localhost:9470/metrics HTTP/1.1", 200),
        ("HEAD /metrics HTTP/1.1", 200),
        ("POST /metrics HTTP/1.1", 405),
        ("GET / HTTP/1.1", 404),
        ("GET /metricsx HTTP/1.0", 404),
        ("GET http://localhost HTTP/1.1", 404),
        ("GET /metrics", 400),
        ("GET", 400),
        ("", 400),
        ("GET  /metrics HTTP/1.1", 400),
        ("GET /metrics HTTP/2", 400),
    ],
)
def test_requests_of_http(agent, dpu, line, status):
    got, headers, body = ask(f"{dpu.dir}/metrics", f"{line}\r\nHost: x\r\n\r\n".encode())
    assert int(got.split()[1]) == status
    length = next(int(header.split()[1]) for header in headers if header.startswith("Content-Length: "))
    assert (length > 1000) == (status == 200) and len(body) == (0 if line.startswith("HEAD") else length)
    assert ("Allow: GET, HEAD" in headers) == (status == 405)


@pytest.mark.parametrize("address", ["127.evil.example:80", "128.0.0.1:80", "::2:80", "localhost.example:80"])
def test_metrics_for_other_machines_are_refused(dpu, address):
    text = CONFIG.format(dir=dpu.dir).replace(f"{dpu.dir}/metrics", address)
    dpu.put({"evil.conf": text})
    done = dpu.run(["dpumapd", "--check", "--config", f"{dpu.dir}/evil.conf"])
    done.fails_with(REFUSED, "metrics must be an absolute path or a loopback address and port")


def test_idle_connections_keep_no_scraper_out(agent, dpu):
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.socket(socket.AF_UNIX)).connect(f"{dpu.dir}/metrics")
        assert "dpumapd_clients 0" in scrape(f"{dpu.dir}/metrics")


def test_counters_count_requests_and_bytes(agent, dpu, tool):
    _, before = parse(scrape(f"{dpu.dir}/metrics"))
    tool(agent)("write", "r", "/etc/hostname").ok()
    tool(agent)("read", "r", f"{dpu.dir}/out").ok()
    tool(agent)("info", "none").fails(ABSENT)
    _, after = parse(scrape(f"{dpu.dir}/metrics"))
    more = {name.removeprefix("dpumapd_"): after[name] - before[name] for name in after}
    for name in "connections requests gets errors hashed_bytes device_reads device_writes".split():
        assert more[f"{name}_total"] > 0, (name, more)
    assert more["device_received_bytes_total"] > 0 and more["device_sent_bytes_total"] > 65536
    assert more["device_access_errors_total"] == 0
