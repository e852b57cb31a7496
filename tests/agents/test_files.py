# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports of files and of memory passed as a dma-buf, which other processes change underneath."""

import os
import pathlib
import subprocess
import tempfile

import pytest

from harness.agents import CANNOT, LOST, REFUSED
from harness.machine import open_links
from harness.wire import HELLO, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
SIZE = 65536
SPOIL = os.environ.get("DPUMAP_SPOIL")


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


@pytest.fixture
def disk(work):
    """A directory that is not in memory: Linux writes changed pages of its files back."""
    for parent in (work, pathlib.Path(__file__).parent, "/var/tmp"):
        kind = subprocess.run(["stat", "-f", "-c", "%T", parent], capture_output=True, check=True)
        if kind.stdout.strip() in (b"tmpfs", b"ramfs") or not os.access(parent, os.W_OK):
            continue
        with tempfile.TemporaryDirectory(prefix="dpumap-agents.", dir=parent) as path:
            yield pathlib.Path(path)
        return
    pytest.skip("all file systems are in memory")


def test_writable_file_on_a_disk_is_refused(agent, tool, disk):
    """As Linux does from 6.5 on, with one line that says what works."""
    path = disk / "exported"
    path.write_bytes(os.urandom(SIZE))
    spec = f"name=kept,kind=file,size=max,path={path}"
    agent.ctl("add", spec).fails_with(
        CANNOT, f"cannot register {path} on mlx5_0: .* 6.5 .* tmpfs or hugetlbfs.* perm=ro"
    )
    add(agent, f"{spec},perm=ro")
    assert tool(agent)("read", "kept").data == path.read_bytes()


@pytest.mark.skipif(not SPOIL, reason="no library that spoils is given")
def test_failing_disk_is_reported(serve, tool, host, ram):
    """A file is written to its disk when a client releases it, and when its export ends."""
    path = ram / "exported"
    path.write_bytes(bytes(SIZE))
    spec = f"name=kept,kind=file,size=max,path={path}"
    prefix = f"LD_PRELOAD={SPOIL}:$LD_PRELOAD exec "
    serving = serve("--export", spec, prefix=prefix, env={"SPOIL": "disk"})
    host.run(f"head -c {SIZE} /dev/urandom >sent").ok()
    complaint = f"export kept: cannot write {path} to its disk: Input/output error"
    assert complaint in tool(serving)("write", "kept", "sent").fails(LOST)
    assert serving.log().count(complaint) == 1
    serving.stop()
    assert serving.log().count(complaint) == 2


def test_file_is_released_when_it_is_written(serve, tool, host, ram):
    """The release of a file of several pieces; its bytes are those that the client wrote."""
    path = ram / "exported"
    size = (16 << 20) + 5
    path.write_bytes(b"")
    os.truncate(path, size)
    serving = serve("--export", f"name=kept,kind=file,size=max,path={path}")
    host.run(f"head -c {size} /dev/urandom >sent").ok()
    assert tool(serving).json("write", "kept", "sent")["verified"]
    serving.daemon.await_log("releases export kept")
    serving.stop()
    assert host.get("sent") == path.read_bytes()


def test_segments_of_the_emulator_cannot_be_truncated(emulator):
    """Clients map them, and get their descriptors."""
    pid = emulator.pid()
    segments = [fd for fd, link in open_links(pid) if link.startswith("/memfd:dpumap-emu-")]
    assert len(segments) >= 4
    for segment in segments:
        with pytest.raises(PermissionError):
            os.truncate(segment, 0)
