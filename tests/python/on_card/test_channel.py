# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The channel to a dpumapd on the DPU."""

import asyncio
import gc
import os
import subprocess
import time

import pytest

import dpumap
from dpumap import Access, Channel, Event, EventKind, Map, errors


NEW = f"name=new,kind=dm,size=64,allow=uid:{os.getuid()}"


class Daemon:
    """dpumapd on the DPU's function."""

    def __init__(self, card, directory):
        self.socket, self.admin = f"{directory}/socket", f"{directory}/admin"
        self.dpu, self.process = card.side("dpu"), None
        self.start("--export", "name=bulk,kind=dram,size=1M,perm=rw", "--export", "name=fast,kind=dm,size=4K")

    def start(self, *words):
        command = ["dpumapd", "--listen", self.socket, "--admin", self.admin, *words]
        self.process = self.dpu.start(command, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def ctl(self, *words):
        self.dpu.run(["dpumapd", "ctl", "--admin", self.admin, *words], capture_output=True)

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def daemon(card, tmp_path):
    os.chmod(tmp_path, 0o700)
    made = Daemon(card, tmp_path)
    yield made
    made.end()


@pytest.fixture
def channel(daemon):
    with Channel(f"unix:{daemon.socket}") as made:
        yield made


def test_list_says_what_there_is(channel, daemon):
    bulk, fast = channel.list()
    assert (bulk.name, bulk.kind, bulk.size) == ("bulk", "dram", 1 << 20)
    assert (fast.name, fast.kind, fast.size) == ("fast", "dm", 4096)
    assert bulk.access & Access.PCI_READ_WRITE
    assert daemon.socket in repr(channel)


def test_export_is_imported_written_and_read(channel, device, copier):
    data = os.urandom(1 << 20)
    buffer = bytearray(data)
    with channel.import_map("bulk", device) as remote, Map(device, buffer) as local:
        copier.copy(remote, local)
        buffer[:] = bytes(len(buffer))
        copier.copy(local, remote)
    assert buffer == data
    with pytest.raises(errors.NotPermitted):
        channel.release("bulk")  # closing the map has done it


def test_descriptor_is_got_and_released(channel, device):
    descriptor = channel.get("fast")
    assert (descriptor.source, descriptor.length) == ("device memory", 4096)
    with Map.from_export(device, descriptor) as remote:
        assert len(remote) == 4096
    channel.release("fast")
    with pytest.raises(errors.NotPermitted):
        channel.release("fast")


def test_many_descriptors_are_got_and_each_name_has_its_error(channel, device):
    fast, none, wrong, bulk, again = channel.get_many(["fast", "nothing", "no name", "bulk", "fast"])
    assert (fast.length, bulk.length) == (4096, 1 << 20) and bytes(again) == bytes(fast)
    assert isinstance(none, errors.NotFound) and "nothing" in str(none)
    assert isinstance(wrong, errors.NotFound)
    with Map.from_export(device, bulk) as remote:
        assert len(remote) == 1 << 20
    for name in ("fast", "bulk", "fast"):
        channel.release(name)
    with pytest.raises(errors.NotPermitted):
        channel.release("fast")
    assert channel.get_many([]) == []


def test_dmabuf_is_of_device_memory(channel, device):
    with pytest.raises(errors.NotSupported):
        channel.get_dmabuf("bulk")  # main memory
    with pytest.raises(errors.NotFound):
        channel.get_dmabuf("nothing")
    try:
        fd, length = channel.get_dmabuf("fast")
    except (errors.NotSupported, errors.NotPermitted):
        return  # an older rdma-core
    with Map.of_dmabuf(device, fd, length) as remote:
        assert len(remote) == 4096
    os.close(fd)
    channel.release("fast")


def test_errors_have_the_channels_description(channel, device):
    with pytest.raises(errors.NotFound, match="nothing"):
        channel.get("nothing")
    with pytest.raises(errors.NotFound):
        channel.import_map("nothing", device)
    with pytest.raises(errors.NotFound):
        Channel("unix:/nonexistent/socket")
    with pytest.raises(errors.InvalidValue):
        Channel("tls:nowhere")
    with pytest.raises(errors.NotFound, match="no.such.file"):
        Channel("tls:127.0.0.1:1", cert="no-such-file", key="no-such-file", ca="no-such-file", server_name="dpu")
    with pytest.raises(errors.Error):
        Channel("tls:127.0.0.1:1", psk="no-such-file", psk_name="host", timeout=0.5)
    with pytest.raises(errors.InvalidValue):
        Channel("unix:/nonexistent/socket", timeout=-1)


def test_closed_channel_is_refused_and_its_maps_stay(daemon, device):
    channel = Channel(f"unix:{daemon.socket}")
    remote = channel.import_map("fast", device)
    channel.close()
    for call in (channel.list, channel.process, channel.watch, channel.fileno, lambda: channel.get("fast")):
        with pytest.raises(errors.BadState):
            call()
    assert "closed" in repr(channel) and len(remote) == 4096
    remote.close()


def test_forgotten_channel_is_destroyed(daemon, device):
    remote = Channel(f"unix:{daemon.socket}").import_map("fast", device)
    gc.collect()
    remote.close()


def test_changes_are_reported(channel, daemon):
    channel.watch()
    channel.watch()
    assert channel.wait(0) == []
    daemon.ctl("add", NEW)
    assert channel.wait(10) == [Event(EventKind.ADDED, "new")]
    daemon.ctl("rekey", "new")
    daemon.ctl("remove", "new")
    seen = []
    while len(seen) < 2:
        seen += channel.wait(10)
    assert seen == [Event(EventKind.CHANGED, "new"), Event(EventKind.REMOVED, "new")]


def test_changes_are_iterated(channel, daemon):
    async def run():
        seen = []
        async for event in channel.events():
            seen.append(event)
            if len(seen) == 3:
                return seen

    async def change():
        for words in (("add", NEW), ("rekey", "new"), ("remove", "new")):
            await asyncio.get_running_loop().run_in_executor(None, daemon.ctl, *words)

    async def both():
        seen, _ = await asyncio.gather(run(), change())
        return seen

    seen = asyncio.run(asyncio.wait_for(both(), 20))
    assert [event.kind for event in seen] == [EventKind.ADDED, EventKind.CHANGED, EventKind.REMOVED]


def test_lost_connection_comes_back(channel, daemon, device):
    channel.watch()
    remote = channel.import_map("bulk", device)
    daemon.end()
    assert Event(EventKind.LOST, None) in channel.wait(10)
    with pytest.raises(errors.NotConnected):
        channel.list()
    remote.close()
    daemon.start("--export", "name=bulk,kind=dram,size=1M")
    seen, deadline = [], time.monotonic() + 20
    while Event(EventKind.BACK, None) not in seen and time.monotonic() < deadline:
        seen += channel.wait(1)
    assert Event(EventKind.BACK, None) in seen
    assert [export.name for export in channel.list()] == ["bulk"]


def test_channel_has_no_device_of_its_own(channel):
    other = dpumap.open_device(own=True)
    remote = channel.import_map("fast", other)
    with pytest.raises(errors.InUse):
        other.close()
    remote.close()
    other.close()
