# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The log of dpumapd: what others can write to it."""

import contextlib
import os
import threading
import time

import pytest

from harness.wire import HELLO, context, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

BULK = ("--export", "name=bulk,kind=dram,size=64K")
# What one source may cause at once, and each second; other lines of a log.
BURST, RATE, OTHERS = 500, 5, 20


def limit(began):
    """How many lines a log may have to which one source has written since then."""
    return BURST + RATE * (time.monotonic() - began + 1) + OTHERS


@contextlib.contextmanager
def connected(agent, tls):
    """A socket on which the client has said hello."""
    with reach(agent.address, tls) as s:
        s.sendall(HELLO)
        assert b"version" in receive(s)
        yield s


@pytest.fixture(params=["unix", "tls"])
def flooded(request, serve, dpu, agent, pki):
    """(dpumapd, how its clients authenticate, the name of the client)."""
    if request.param == "unix":
        return serve(*BULK, "--admin", f"{dpu.dir}/admin"), None, f"uid:{os.getuid()}"
    dpu.put({"pki/host.crt": pki.host.get("pki/host.crt"), "pki/host.key": pki.host.get("pki/host.key")})
    return agent("kind=dram,size=64K"), context(f"{dpu.dir}/pki/host"), "cert:host"


def test_client_that_is_refused_again_and_again_does_not_fill_the_log(flooded):
    """Six thousand requests, which arrive together. The log says how many lines it does not have."""
    serving, tls, name = flooded
    began, num = time.monotonic(), 6000
    with connected(serving, tls) as s:
        sender = threading.Thread(target=s.sendall, args=[request("get", name="none") * num])
        sender.start()
        for _ in range(num):
            assert b"no export called" in receive(s)
        sender.join()
        lines = serving.log().count("\n")
        assert lines < limit(began), f"{lines} lines"
        found = serving.daemon.await_log(f"^dpumapd: {name} caused (\\d+) more lines, which are not in the log$")
        refused = serving.log().count("refused: there is no export")
        assert num - refused <= int(found[1]) <= num + OTHERS
        # The source may write again.
        s.sendall(request("get", name="another"))
        assert b"no export called" in receive(s)
        serving.daemon.await_log('refused: there is no export called "another"')


def test_client_that_comes_and_goes_does_not_fill_the_log(flooded):
    """Nor one that gets and releases an export: no request fails."""
    serving, tls, _ = flooded
    began = time.monotonic()
    for _ in range(400):
        with connected(serving, tls):
            pass
    export = "e0" if tls else "bulk"
    with connected(serving, tls) as s:
        for _ in range(400):
            s.sendall(request("get", name=export) + request("release", name=export))
            assert receive(s) and receive(s)
    lines = serving.log().count("\n")
    assert lines < limit(began), f"{lines} lines"
