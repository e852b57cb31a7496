# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The channel by hand, for clients that do not behave: frames of CBOR over a Unix socket or TLS."""

import socket
import ssl
import struct

from harness.machine import PATIENCE


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
    """A TLS client that accepts every server; cert is the path of a certificate without its .crt."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if cert:
        made.load_cert_chain(f"{cert}.crt", f"{cert}.key")
    if newest:
        made.maximum_version = newest
    return made


def reach(address, tls=None):
    """A socket to tls:HOST:PORT, where a context starts TLS on it, or to a Unix socket's path."""
    if not address.startswith("tls:"):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(PATIENCE)
        s.connect(address)
        return s
    host, port = address[4:].rsplit(":", 1)
    s = socket.create_connection((host, int(port)), PATIENCE)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls.wrap_socket(s) if tls else s


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
    """Whether the stream ends here."""
    try:
        return s.recv(1) == b""
    except (ConnectionResetError, ssl.SSLError):
        return True


def crc32c(data):
    """The checksum of descriptors and connection details."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


LINK_LOCAL = bytes.fromhex("fe80") + bytes(13) + b"\1"


def details(qpn=0x123, psn=1, lid=0, mtu=12, reads=16, gid=LINK_LOCAL):
    """The details of a peer of an RDMA connection on Ethernet; valid by default."""
    body = struct.pack("<IIHBB", qpn, psn, lid, mtu, reads) + gid + bytes(4)
    start = b"DPRC" + struct.pack("<BBHI", 1, 0, 2, 48)
    return start + struct.pack("<I", crc32c(start + bytes(4) + body)) + body
