# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What clients may do, and what those are told that may not do it."""

import re
import struct

import pytest

from harness.agents import ABSENT, REFUSED, WRONG
from harness.wire import crc32c

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_a_read_only_export_refuses_writes(agent, tool, host):
    dpumap = tool(agent("kind=dram,size=4K,perm=ro").must_serve())
    host.run("head -c 4096 /dev/urandom >sent; rm -f got").ok()
    assert "read-only" in dpumap("write", "e0", "sent").fails(REFUSED)
    dpumap("read", "e0", "got").ok()


def test_peer_that_is_not_named(agent, tool):
    """A certificate of the same authority that no export allows gets nothing."""
    serving = agent("kind=dram,size=4K").must_serve()
    other = tool(serving, "other")
    for words in (["list"], ["import", "e0"]):
        assert "may not import" in other(*words).fails(REFUSED)
    tool(serving)("import", "e0").ok()


def test_a_client_without_a_certificate_is_refused(agent, host):
    serving = agent("kind=dram,size=4K").must_serve()
    host.run(["dpumap", "list", "--connect", serving.address]).fails(WRONG, ABSENT, REFUSED)


def test_a_client_with_a_revoked_certificate_is_disconnected(agent, tool, pki):
    """A reload disconnects a client whose certificate was revoked, and rejects it from then on."""
    serving = agent("kind=dram,size=4K").must_serve()
    held = tool(serving, "revoked").daemon("revoked", "import", "e0", "--hold")
    held.await_output()
    pki.revoke("revoked")
    serving.ctl("reload").ok()
    assert held.end("0") in (1, REFUSED), held.log()
    tool(serving, "revoked")("list").fails(REFUSED)
    tool(serving)("import", "e0").ok()


def altered(descriptor, offset, data):
    """The descriptor with other bytes and the right checksum (docs/wire-format.md)."""
    text = bytearray(descriptor)
    text[offset : offset + len(data)] = data
    text[4:8] = struct.pack("<I", crc32c(text[8:]))
    return bytes(text)


@pytest.mark.question(4)
def test_a_forged_descriptor_is_refused(agent, tool, host, answer):
    """Another key, another function, another mkey: refused with a reason; holders do not notice."""
    dpumap = tool(agent("kind=dram,size=4K").must_serve())
    holder = dpumap.daemon("holder", "import", "e0", "--hold")
    holder.await_output()
    host.run("rm -f e0.desc").ok()
    dpumap("get", "e0", "e0.desc").ok()
    descriptor = host.get("e0.desc")
    assert altered(descriptor, 4, descriptor[4:8]) == descriptor
    vhca_id = struct.unpack_from("<H", descriptor, 16)[0]
    mkey = struct.unpack_from("<I", descriptor, 20)[0]
    forged = {
        "wrong key": altered(descriptor, 48, bytes(32 * [0x5A])),
        "unknown function": altered(descriptor, 16, struct.pack("<H", vhca_id ^ 0x3FF)),
        "unknown mkey": altered(descriptor, 20, struct.pack("<I", mkey ^ 0x5A5A00)),
    }
    seen = {}
    for what, data in forged.items():
        host.put({"forged.desc": data})
        complaint = host.run("dpumap import --descriptor forged.desc -v").fails(REFUSED)
        reason = re.search(r"failed: (.*)", complaint)
        seen[what] = reason[1] if reason else " / ".join(complaint.splitlines())
        assert bytes(32 * [0x5A]).hex() not in complaint
    text = "; ".join(f"{what}: {words}" for what, words in seen.items())
    answer(4, text, all("(status" in words for words in seen.values()))
    dpumap("import", "e0").ok()
    holder.end("TERM")
