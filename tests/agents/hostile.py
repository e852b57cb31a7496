#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: hostile.py ADDRESS LIMIT [CERT]: what dpumapd says to clients that do not behave.

ADDRESS is the path of a Unix socket, or tls:HOST:PORT, for which CERT.crt and CERT.key are who we
are.
"""

import socket
import ssl
import struct
import sys
import time

from wire import HELLO, cbor, context, frame, is_closed, reach, receive, request

ADDRESS, LIMIT = sys.argv[1], int(sys.argv[2])
TLS = context(sys.argv[3]) if len(sys.argv) > 3 else None


def connect(greet=True):
    """A connection, past hello unless told otherwise."""
    s = reach(ADDRESS)
    if TLS:
        s = TLS.wrap_socket(s)
    if greet:
        s.sendall(HELLO)
        assert b"version" in receive(s)
    return s


def seat():
    """A connection past hello, as soon as those that have left make place for it."""
    deadline = time.monotonic() + 30
    while True:
        s = connect(greet=False)
        try:
            s.sendall(HELLO)
            if b"version" in receive(s):
                return s
        except OSError:
            pass
        s.close()
        assert time.monotonic() < deadline, "no place for another connection"
        time.sleep(0.1)


def answer(data, greet=True):
    """What the server says to data, and whether it then hangs up."""
    with connect(greet) as s:
        s.sendall(data)
        reply = receive(s)
        s.settimeout(0.3)
        try:
            return reply, is_closed(s)
        except socket.timeout:
            return reply, False


MALFORMED = {
    "no frame at all": (b"\0\0\0\0", b"malformed frame"),
    "an endless frame": (b"\xff\xff\xff\xff", b"malformed frame"),
    "a frame above the limit": (struct.pack("<I", 65537), b"malformed frame"),
    "no CBOR": (frame(b"\xff" * 9), b"malformed message"),
    "a deep nest": (frame(b"\x81" * 65536), b"malformed message"),
    "an endless map": (frame(b"\xbb" + b"\xff" * 8), b"malformed message"),
    "trailing bytes": (frame(cbor({"id": 1, "op": "list"}) + b"\0"), b"malformed message"),
    "no id": (frame(cbor({"op": "list"})), b"it has no id"),
    "no operation": (frame(cbor({"id": 1})), b"no known operation"),
    "an unknown operation": (request("format"), b"no known operation"),
    "hello twice": (HELLO, b"hello comes first, and once"),
    "a missing field": (request("get"), b"is missing"),
    "a field too many": (request("get", name="bulk", offset=0), b"not the operation's"),
    "a reply": (request("list", status=0), b"not the operation's"),
    "a connection without details": (request("connect", name="bulk"), b"is missing"),
    "details of no connection": (request("get", name="bulk", details=b""), b"not the operation's"),
    "details that are text": (
        request("connect", name="bulk", details="x"),
        b"malformed message",
    ),
    "details without end": (
        request("connect", name="bulk", details=bytes(513)),
        b"malformed message",
    ),
}

REFUSED = {
    "an unknown export": (request("get", name="none"), b"there is no export"),
    "release before get": (request("release", name="bulk"), b"get it first"),
    "a connection before get": (
        request("connect", name="bulk", details=bytes(48)),
        b"get it first",
    ),
    "a connection to nothing": (
        request("connect", name="none", details=bytes(48)),
        b"there is no export",
    ),
    "digest before get": (request("digest-start", name="bulk"), b"get it first"),
    "a digest that is none": (request("digest-final", digest=0), b"there is no digest 0"),
    "a digest out of range": (request("digest-final", digest=2**64 - 1), b"there is no digest"),
    "update without digest": (
        request("digest-update", digest=0, offset=0, length=1),
        b"there is no digest",
    ),
}


def check(title, ok, what):
    """One expectation; all are tried before the end."""
    if not ok:
        print(f"FAIL: {title}: {what!r}", file=sys.stderr)
        check.failed = True


check.failed = False


def malformed():
    """Nonsense is answered once and ends the connection."""
    for title, (data, why) in MALFORMED.items():
        reply, closed = answer(data)
        check(title, why in reply, reply)
        check(title, closed, "still connected")
    reply, closed = answer(request("list"), greet=False)
    check("list before hello", b"hello comes first" in reply and closed, reply)
    reply, closed = answer(request("hello", 0, version=99), greet=False)
    check("another version", b"version 99" in reply and closed, reply)


def refused():
    """A request that is only wrong leaves the connection usable."""
    for title, (data, why) in REFUSED.items():
        reply, closed = answer(data)
        check(title, why in reply, reply)
        check(title, not closed, "disconnected")


def digests():
    """Digest requests against ranges and numbers beyond what there is."""
    with connect() as s:
        s.sendall(request("get", name="bulk"))
        check("get", b"descriptor" in receive(s), "no descriptor")
        for i in range(4):
            s.sendall(request("digest-start", name="bulk"))
            check("digest-start", b"error" not in receive(s), i)
        s.sendall(request("digest-start", name="bulk"))
        check("a fifth digest", b"digests are running already" in receive(s), "started")
        for offset, length in ((0, 2**20 + 1), (2**20, 1), (2**64 - 1, 2), (1, 2**64 - 1)):
            s.sendall(request("digest-update", digest=0, offset=offset, length=length))
            check("a range outside", b"not all within" in receive(s), (offset, length))
        # Many requests at once come back in order, also behind one that takes long.
        s.sendall(request("digest-update", 7, digest=0, offset=0, length=2**20))
        s.sendall(b"".join(request("list", 100 + i) for i in range(20)))
        for ident in (7, *range(100, 120)):
            reply = receive(s)
            check("order", cbor({"id": ident})[1:] in reply, ident)


def crc32c(data):
    """The checksum of Castagnoli."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def details(qpn=0x123, psn=1, lid=0, mtu=12, reads=16, gid=bytes.fromhex("fe80") + bytes(13) + b"\1"):
    """Those of an end of an RDMA connection on Ethernet, by default of one that could be."""
    body = struct.pack("<IIHBB", qpn, psn, lid, mtu, reads) + gid + bytes(4)
    head = b"DPRC" + struct.pack("<BBHI", 1, 0, 2, 48)
    return head + struct.pack("<I", crc32c(head + bytes(4) + body)) + body


def connections():
    """Details of connections that cannot be, and more connections than there may be."""
    with connect() as s:
        s.sendall(request("list"))
        if b"far" not in receive(s):
            return
        s.sendall(request("get", name="bulk") + request("connect", name="bulk", details=details()))
        receive(s)
        check("a connection over PCI", b"is reached over PCI" in receive(s), "connected")
        s.sendall(request("get", name="far"))
        check("get", b"descriptor" in receive(s), "no descriptor")
        whole = details()
        for bad in (
            b"",
            b"\0",
            bytes(48),
            b"\xff" * 512,
            whole[:-1],
            whole + b"\0",
            *(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in range(0, 48, 5) if i != 5),
            details(qpn=0),
            details(qpn=1 << 24),
            details(psn=1 << 24),
            details(lid=1),
            details(mtu=7),
            details(mtu=13),
            details(reads=0),
            details(gid=bytes(16)),
        ):
            s.sendall(request("connect", name="far", details=bad))
            check("details", b"connection's details are none" in receive(s), bad)
        for i in range(64):
            s.sendall(request("connect", name="far", details=whole))
            reply = receive(s)
            check("a connection to nowhere", b"error" not in reply, (i, reply))
        s.sendall(request("connect", name="far", details=whole))
        check("a connection too many", b"release some exports" in receive(s), "connected")
        s.sendall(request("release", name="far") + request("get", name="far"))
        receive(s), receive(s)
        s.sendall(request("connect", name="far", details=whole))
        check("a connection after release", b"error" not in receive(s), "refused")


def slow():
    """A client that sends a byte now and then is dropped; others do not notice."""
    with connect() as loris, connect(greet=False) as mute:
        loris.sendall(HELLO[:3])
        began = time.monotonic()
        while time.monotonic() - began < 2:
            reply, _ = answer(request("list"))
            check("beside a slow client", b"bulk" in reply, reply)
        check("a slow client", is_closed(loris), "still connected")
        check("a client that never greets", is_closed(mute), "still connected")


def flood():
    """One who asks without reading the answers keeps only himself waiting."""
    with connect() as s:
        s.setblocking(False)
        try:
            while True:
                s.send(request("list") * 100)
        except (BlockingIOError, ssl.SSLWantWriteError):
            pass
        reply, _ = answer(request("list"))
        check("beside a flood", b"bulk" in reply, reply)


def limit():
    """Above the limit there is a reason; a place is free again when somebody leaves."""
    clients = [seat() for _ in range(LIMIT)]
    with connect(greet=False) as s:
        s_reply = receive(s)
        check("above the limit", b"which is its limit" in s_reply and is_closed(s), s_reply)
    clients.pop().close()
    clients.append(seat())
    for client in clients:
        client.close()


def settle():
    """Waits until somebody may come in again."""
    seat().close()


for part in (malformed, refused, digests, connections, slow, flood, limit):
    part()
    settle()
sys.exit(check.failed)
