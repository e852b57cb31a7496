# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The metrics of dpumapd, and the page that describes them."""

import pathlib
import re
import socket

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/metrics.md"
ROW = re.compile(r"^\| `(dpumapd_\w+)` \| (\w+) \| [^|]+ \| ([^|]*)\| ([^|]+) \|$", re.M)


def described():
    """{name: (type, help)} of the page."""
    return {name: (kind, words) for name, kind, _, words in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def scrape(path):
    """What dpumapd answers to Prometheus at a Unix socket."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        data = b"".join(iter(lambda: s.recv(65536), b""))
    head, body = data.decode().split("\r\n\r\n", 1)
    assert head.startswith("HTTP/1.0 200"), head
    return body


def parse(body):
    """({name: (type, help)}, {name and labels: value})"""
    helps = dict(re.findall(r"^# HELP (\S+) (.+)$", body, re.M))
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", body, re.M))
    samples = dict(re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", body, re.M))
    assert len(body.splitlines()) == len(helps) + len(types) + len(samples), body
    assert {name.partition("{")[0] for name in samples} == helps.keys() == types.keys()
    return {name: (types[name], helps[name]) for name in helps}, {k: float(v) for k, v in samples.items()}
