#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: attacks.py ADDRESS PKI ATTACK: what strangers try at a dpumapd that others are served by.

PKI is a directory with NAME.crt and NAME.key. Succeeds when the attack does not, and prints what
became of it.
"""

import multiprocessing
import resource
import select
import socket
import ssl
import sys
import time

from wire import HELLO, context, exactly, is_closed, reach, receive, request

ADDRESS, PKI = sys.argv[1:3]
GOOD = f"{PKI}/web"


def ask(ctx):
    """What dpumapd says to somebody who greets and wants to know what there is."""
    with ctx.wrap_socket(reach(ADDRESS)) as s:
        s.sendall(HELLO + request("list"))
        return receive(s) + receive(s)


def must_be_served():
    """Somebody who is welcome."""
    reply = ask(context(GOOD))
    assert b"version" in reply and b"web" in reply, reply


def must_be_refused(ctx, why):
    """In the handshake: there is no answer at all."""
    try:
        reply = ask(ctx)
    except (ssl.SSLError, ConnectionError) as error:
        # Who is faster with what he wants to say than the server with its no hears less.
        assert why in str(error).lower() or not isinstance(error, ssl.SSLError) or "EOF" in str(
            error
        ), error
        return str(error)
    assert not reply, reply
    return "disconnected"


def no_certificate():
    """TLS, but nobody in particular."""
    return must_be_refused(context(), "certificate")


def older_tls():
    """What was good enough for years."""
    return must_be_refused(context(GOOD, ssl.TLSVersion.TLSv1_2), "version")


def no_tls():
    """The protocol itself, over TCP alone."""
    with reach(ADDRESS) as s:
        s.sendall(HELLO + request("get", name="web"))
        try:
            data = exactly(s, 65536)
        except ConnectionError:
            data = b""
    assert b"version" not in data and b"descriptor" not in data, data
    return "disconnected"


def of(name, why):
    """With a certificate that is not good."""
    return lambda: must_be_refused(context(f"{PKI}/{name}"), why)


def not_on_the_list():
    """A good certificate, and no export for it."""
    with context(f"{PKI}/nobody").wrap_socket(reach(ADDRESS)) as s:
        s.sendall(HELLO + request("get", name="web"))
        reply = receive(s)
        assert b"may not import" in reply and b"descriptor" not in reply, reply
        assert is_closed(s)
    with context(f"{PKI}/db").wrap_socket(reach(ADDRESS)) as s:
        s.sendall(HELLO + request("get", 1, name="web") + request("list", 2))
        assert b"version" in receive(s)
        reply = receive(s)
        assert b"may not import export web" in reply and b"descriptor" not in reply, reply
        reply = receive(s)
        assert b"db" in reply and b"web" not in reply, reply
    return "told so"


def client_hello():
    """The first bytes of a handshake."""
    out = ssl.MemoryBIO()
    try:
        context(GOOD).wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def slow_loris():
    """Two hundred who send a byte now and then, in the handshake."""
    hello = client_hello()
    slow = [reach(ADDRESS) for _ in range(200)]
    began, sent = time.monotonic(), 0
    while time.monotonic() - began < 9:
        for s in slow:
            try:
                s.send(hello[sent : sent + 1])
            except OSError:
                pass
        sent += 1
        must_be_served()
        time.sleep(0.5)
    left = [s for s in slow if not (select.select([s], [], [], 0)[0] and is_closed(s))]
    assert not left, f"{len(left)} are still connected"
    return f"{sent} bytes each, then disconnected"


def silent_crowd():
    """Ten thousand connections, opened and left open."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = min(10000, limit - 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted + 100, limit))
    crowd = []
    for i in range(wanted):
        crowd.append(reach(ADDRESS))
        if i % 500 == 0:
            must_be_served()
    must_be_served()
    return f"{len(crowd)} connections"


def knock(until):
    """Connects and leaves, over and over."""
    host, port = ADDRESS[4:].rsplit(":", 1)
    n = 0
    while time.monotonic() < until:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            # No TIME_WAIT: there are only so many ports.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            try:
                s.connect((host, int(port)))
                n += 1
            except OSError:
                pass
    return n


def knocking_crowd():
    """As many connections as two processes can make, opened and left at once."""
    until = time.monotonic() + 4
    served = turned_away = 0
    with multiprocessing.Pool(2) as pool:
        knocks = pool.map_async(knock, [until, until])
        while time.monotonic() < until:
            try:
                must_be_served()
                served += 1
            except (ssl.SSLError, OSError):
                turned_away += 1
        total = sum(knocks.get())
    must_be_served()
    assert served > turned_away, f"served {served} times, turned away {turned_away} times"
    return f"{total} connections beside {served} that were served"


ATTACKS = {
    "no-certificate": no_certificate,
    "wrong-authority": of("foreign", "unknown ca"),
    "self-signed": of("alone", "unknown ca"),
    "expired": of("expired", "expired"),
    "revoked": of("revoked", "revoked"),
    "server-as-client": of("dpu", "certificate"),
    "not-on-the-list": not_on_the_list,
    "older-tls": older_tls,
    "no-tls": no_tls,
    "slow-loris": slow_loris,
    "silent-crowd": silent_crowd,
    "knocking-crowd": knocking_crowd,
}

if __name__ == "__main__":
    print(f"{sys.argv[3]}: {ATTACKS[sys.argv[3]]()}")
