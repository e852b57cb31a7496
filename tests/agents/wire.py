# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The channel by hand, for those who mean no good: frames of CBOR over a Unix socket or TLS."""

import socket
import ssl
import struct


def head(major, n):
    """The first bytes of a CBOR item."""
    if n < 24:
        return bytes([major << 5 | n])
    for code, fmt in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if n < 1 << 8 * struct.calcsize(fmt):
            return bytes([major << 5 | code]) + struct.pack(fmt, n)
    raise ValueError(n)


def cbor(value):
    """The few types of the channel."""
    if isinstance(value, int):
        return head(0, value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value)) + value.encode()
    return head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())


def frame(payload):
    """A payload with its length."""
    return struct.pack("<I", len(payload)) + payload


def request(op, ident=1, **fields):
    """A request's frame."""
    return frame(cbor({"id": ident, "op": op, **fields}))


HELLO = request("hello", 0, version=1)


def context(cert=None, newest=None):
    """A TLS client that believes anybody; cert is the path of a certificate without its .crt."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if cert:
        made.load_cert_chain(f"{cert}.crt", f"{cert}.key")
    if newest:
        made.maximum_version = newest
    return made


def reach(address):
    """A socket to tls:HOST:PORT, without TLS so far, or to the path of a Unix socket."""
    if not address.startswith("tls:"):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(30)
        s.connect(address)
        return s
    host, port = address[4:].rsplit(":", 1)
    s = socket.create_connection((host, int(port)), 30)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def exactly(s, n):
    """n bytes, or fewer at the end of the stream."""
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        if not part:
            break
        data += part
    return data


def receive(s):
    """One frame's payload; empty when the server has closed."""
    size = exactly(s, 4)
    return exactly(s, struct.unpack("<I", size)[0]) if len(size) == 4 else b""


def is_closed(s):
    """Whether nothing more comes."""
    try:
        return s.recv(1) == b""
    except (ConnectionResetError, ssl.SSLError):
        return True
