# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A host of today and dpumapd of version 1 of the channel protocol."""

import contextlib
import socket
import threading

import pytest

from harness.agents import REFUSED, Tool
from harness.wire import cbor, frame, reach, receive

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
UNSUPPORTED_VERSION = 19


def pump(source, target):
    """What source sends, until it ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class OldDaemon:
    """Refuses each later version, as dpumapd of version 1 does, and leaves the rest to a dpumapd of today."""

    def __init__(self, path, behind):
        self.behind, self.refused, self.served = behind, 0, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.meet, args=(client,), daemon=True).start()

    def meet(self, client):
        with client:
            hello = receive(client)
            if cbor({"version": 1})[1:] not in hello:
                self.refused += 1
                text = "the client speaks version 2 of the channel protocol, dpumapd version 1"
                fields = {"id": 1, "status": UNSUPPORTED_VERSION, "error": text, "version": 1}
                client.sendall(frame(cbor(fields)))
                return
            self.served += 1
            with reach(self.behind) as server:
                server.sendall(frame(hello))
                thread = threading.Thread(target=pump, args=(client, server), daemon=True)
                thread.start()
                pump(server, client)
                thread.join()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@pytest.fixture
def old(serve, work):
    made = OldDaemon(work / "old", serve("--export", "name=bulk,kind=dram,size=1M").address)
    yield made
    made.close()


def test_copy_through_an_old_dpumapd_is_verified_by_sha256(host, old, work):
    dpumap = Tool(host, ["--connect", f"{work}/old"])
    host.put({"sent": b"abc" * 500000})
    report = dpumap.json("cp", "sent", "bulk", "got")
    assert host.get("got") == host.get("sent")
    assert report["verified"] and len(report["digests"]) == 3
    expected = {"hash": "sha256", "digest": host.sha256("sent")}
    assert all(one.items() >= expected.items() for one in report["digests"])
    assert (old.refused, old.served) == (1, 1)


def test_doctor_tells_the_version_of_both(host, old, work):
    text = host.run(["dpumap", "doctor", "--verbose", "--connect", f"{work}/old"]).out
    assert "host and DPU use version 1 of the channel protocol" in text
    assert old.served


def test_version_that_neither_speaks_is_an_error(host, work):
    """It is offered once more, as version 1, and not for ever."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{work}/none")
    listener.listen()

    def refuse():
        for _ in range(2):
            client = listener.accept()[0]
            with client:
                receive(client)
                client.sendall(frame(cbor({"id": 1, "status": UNSUPPORTED_VERSION, "error": "not this version"})))

    thread = threading.Thread(target=refuse, daemon=True)
    thread.start()
    done = host.run(["dpumap", "list", "--connect", f"{work}/none"])
    thread.join(5)
    listener.close()
    assert not thread.is_alive()
    done.fails_with(REFUSED, "not this version")
