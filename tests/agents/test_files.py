# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports of files and of memory passed as a dma-buf, which other processes change underneath."""

import os
import pathlib
import socket
import struct
import tempfile

import pytest

from harness.agents import REFUSED
from harness.wire import HELLO, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
SIZE = 65536


@pytest.fixture
def ram():
    """A directory in memory: devices may write to the pages of its files."""
    with tempfile.TemporaryDirectory(prefix="dpumap-agents.", dir="/dev/shm") as path:
        yield pathlib.Path(path)


def digest(s, name):
    """Asks for the hash of a whole export; the payload of the answer."""
    s.sendall(request("digest-start", 3, name=name))
    receive(s)
    s.sendall(request("digest-update", 4, digest=0, offset=0, length=SIZE))
    return receive(s)


@pytest.fixture
def agent(serve, ram):
    """Serves "whole", for this user as all exports of these tests."""
    serving = serve("--export", "name=whole,kind=dram,size=64K", "--admin", str(ram / "admin"))
    serving.admin = ram / "admin"
    return serving


def add(agent, spec, **more):
    agent.ctl("add", f"{spec},allow=uid:{os.getuid()}", **more).ok()


def ends_alone(serving, dpumap, host, cut, why):
    """A client reads "cut" while cut() truncates it; only this export may end."""
    with reach(serving.address) as s:
        s.sendall(HELLO + request("get", 2, name="cut"))
        assert b"version" in receive(s) and b"descriptor" in receive(s)
        cut()
        answer = digest(s, "cut")
    assert b"error" in answer, f"dpumapd answers {answer}: {serving.log()}"
    serving.daemon.await_log(f"export cut: {why} was truncated to 100 of {SIZE} bytes")
    serving.daemon.await_log("export cut removed")
    host.run(f"head -c {SIZE} /dev/urandom >sent").ok()
    assert dpumap.json("write", "whole", "sent")["verified"]
    assert "cut" not in dpumap("list").ok()


def test_truncated_file_ends_its_export_alone(agent, tool, host, ram):
    path = ram / "exported"
    path.write_bytes(os.urandom(SIZE))
    add(agent, f"name=cut,kind=file,size=max,path={path}")
    ends_alone(agent, tool(agent), host, lambda: os.truncate(path, 100), path)


def test_shrunk_dmabuf_ends_its_export_alone(agent, tool, host):
    fd = os.memfd_create("exported")
    os.truncate(fd, SIZE)
    add(agent, f"name=cut,kind=dmabuf,size=max,fd={fd}", pass_fds=[fd])
    ends_alone(agent, tool(agent), host, lambda: os.truncate(fd, 100), "its dma-buf")
    os.close(fd)


def test_truncated_file_ends_its_export_without_a_reader(agent, tool, ram):
    """The file is exported again once it has its size."""
    path = ram / "exported"
    spec = f"name=cut,kind=file,size=64K,path={path}"
    path.write_bytes(bytes(SIZE))
    add(agent, spec)
    os.truncate(path, 0)
    agent.daemon.await_log("export cut removed")
    agent.ctl("add", spec).fails_with(REFUSED, "cannot export 65536 bytes: the file or dma-buf has 0")
    os.truncate(path, SIZE)
    add(agent, spec)
    assert tool(agent)("read", "cut").data == bytes(SIZE)


def test_segments_of_the_emulator_cannot_be_truncated(emulator):
    """Clients map them, and get their descriptors."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(f"{emulator.dir}/emu/control")
        pid = struct.unpack("iII", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    links = pathlib.Path(f"/proc/{pid}/fd").iterdir()
    segments = [fd for fd in links if os.readlink(fd).startswith("/memfd:dpumap-emu-")]
    assert len(segments) >= 4
    for segment in segments:
        with pytest.raises(PermissionError):
            os.truncate(segment, 0)
