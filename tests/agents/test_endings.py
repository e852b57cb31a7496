# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Either side ends during a copy, over PCI and over RDMA: the other one neither hangs nor keeps
anything."""

import os
import re

import pytest

from harness.agents import ABSENT, LOST, REFUSED, has_written
from harness.machine import await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CARD = ("--nodes", "2")
WAYS = {
    "pci": ("host", "kind=dm,size=64K"),
    "rdma": ("node1.host", "kind=dram,size=64K,via=rdma"),
    "address": ("node1.host", "kind=dram,size=64K,via=rdma"),
}
CONNECTION_ENDS = "far failed: |closed the connection|cannot connect"
EXPORT_ENDS = (
    "far failed: the export was revoked|far failed: the DPU does not respond|"
    "far failed: the DPU ended the connection|the export changed or ended|no export called"
)


class Pair:
    """dpumapd with the export "far", and dpumap on a machine that reaches it."""

    def __init__(self, serve, tool, emulator, files, way):
        function, words = WAYS[way]
        self.machine, self.files, self.words = emulator.machine(function), files, words
        options = ["--export", f"name=far,{words}", "--admin", f"{emulator.dir}/admin"]
        if way == "address":
            (emulator.dir / "rdma.conf").write_text('rdma = { listen = "127.100.0.1:0"; };')
            options += ["--config", f"{emulator.dir}/rdma.conf", "--listen", f"{emulator.dir}/socket"]
        self.agent = serve(*options)
        self.agent.admin = f"{emulator.dir}/admin"
        self.tool = tool(self.agent, machine=self.machine)
        self.tool("read", "far").ok()  # from then on librdmacm keeps a context of the device
        self.serving = emulator.objects()
        self.emulator = emulator

    def begin_copy(self):
        """A copy that lasts long, takes no room on the disk, and has written something."""
        self.machine.run("truncate -s 8G long").ok()
        words = ("cp", "long", "far", f"{self.files}/out", "--timeout", "120")
        copy = self.tool.daemon("copy", *words)
        assert await_true(lambda: copy.status() is not None or has_written(copy, self.files))
        assert copy.status() is None, copy.log()
        return copy

    def fails(self, copy, statuses, pattern):
        """The copy ends by itself, with one line of what it lost, and removes its file."""
        status = copy.end("0")
        assert status in statuses, f"status {status}: {copy.log()}"
        assert copy.log().count("\n") == 1 and any(
            word in copy.log() for word in pattern.split("|")
        ), copy.log()
        assert not os.listdir(self.files)

    def settled(self):
        """Nothing is left but what dpumapd has."""
        self.emulator.await_objects(self.serving, ignore=["uars"])


@pytest.fixture(params=WAYS)
def pair(request, serve, tool, emulator, files):
    return Pair(serve, tool, emulator, files, request.param)


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_end_of_dpumapd_ends_the_copy(pair, signal):
    """Whichever of memory, connection and channel is missed first."""
    copy = pair.begin_copy()
    if signal == "TERM":
        pair.agent.stop()
    else:
        pair.agent.daemon.end("KILL")
        os.remove(pair.agent.admin)
    pair.fails(copy, (LOST, ABSENT) if "rdma" in pair.words else (LOST,), CONNECTION_ENDS)


def test_socket_of_a_killed_dpumapd_is_taken_over(serve, tool):
    words = ("--export", "name=far,kind=dm,size=64K")
    serve(*words).daemon.end("KILL")
    tool(serve(*words))("list").ok()


@pytest.mark.parametrize("signal", ["INT", "TERM", "HUP"])
def test_interrupted_copy_removes_its_file(pair, signal):
    copy = pair.begin_copy()
    status = copy.end(signal)
    assert status is not None and status > 128, f"status {status}: {copy.log()}"
    assert not os.listdir(pair.files)
    pair.settled()


def has_nameless_files(directory):
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError:
        return False
    return True


def test_killed_copy_leaves_nothing(pair):
    """Neither on the card and in dpumapd, nor a file, where a file needs no name before its end."""
    pair.begin_copy().end("KILL")
    if not has_nameless_files(pair.files):
        for name in os.listdir(pair.files):
            os.remove(pair.files / name)
    assert not os.listdir(pair.files)
    pair.settled()
    pair.machine.run("head -c 100000 /dev/urandom >small; rm -f got").ok()
    pair.tool("cp", "small", "far", "got").ok()
    assert pair.machine.get("small") == pair.machine.get("got")


def test_removed_export_ends_the_copy(pair):
    """The memory is out of reach before its clients are told."""
    holder = pair.tool.daemon("holder", "import", "far", "--hold")
    holder.await_output("^imported")
    (session,) = pair.agent.ask("sessions")["sessions"]
    assert session["imports"] == 1, session
    assert session["connections"] == (1 if "rdma" in pair.words else 0), session
    copy = pair.begin_copy()
    pair.agent.ctl("remove", "far").ok()
    pair.fails(copy, (LOST, ABSENT, REFUSED), EXPORT_ENDS)
    assert holder.end("0") == REFUSED
    assert "export far was removed" in holder.log()
    pair.agent.ctl("add", f"name=far,{pair.words},allow=uid:{os.getuid()}").ok()
    pair.settled()


@pytest.fixture
def fault(emulator):
    """The faults of the test, which end with it."""
    yield emulator.fault
    emulator.clear_faults()


def watches(agent):
    return [session["watches"] for session in agent.ask("sessions")["sessions"]].count(True)


def test_failure_of_the_device_ends_dpumapd(serve, tool, emulator, fault):
    """Its importers are notified; a new dpumapd serves them after the reset of the device."""
    words = ["--export", "name=far,kind=dram,size=64K,via=rdma", "--export", "name=near,kind=dm,size=4K"]
    admin = f"{emulator.dir}/admin"
    agent = serve(*words, "--admin", admin)
    agent.admin = admin
    dpumap = tool(agent)
    watch, hold = dpumap.daemon("watch", "watch"), dpumap.daemon("hold", "import", "--hold", "near")
    hold.await_output("^imported")
    assert await_true(lambda: watches(agent) == 2), agent.log()
    fault("device", "--as", "dpu")
    assert agent.daemon.end("0") == LOST, agent.log()
    told = r"^dpumapd: device mlx5_0 has failed or was removed .*: all exports have ended"
    assert len(re.findall(told, agent.log(), re.M)) == 1, agent.log()
    assert "error" not in agent.log(), "commands to a failed device"
    assert hold.end("0") == REFUSED and "export near was removed" in hold.log()
    watch.await_output("^lost ")
    assert set(re.findall(r"^removed +(\w+)", watch.out(), re.M)) == {"far", "near"}, watch.out()
    fault("clear")
    assert serve(*words).ready
    watch.await_output("^back ")
    dpumap("write", "near", data=os.urandom(4096)).ok()
    watch.end()


def test_failure_of_the_device_ends_a_held_import(serve, tool, fault):
    hold = tool(serve("--export", "name=near,kind=dm,size=4K")).daemon("hold", "import", "--hold", "near")
    hold.await_output("^imported")
    fault("device", "--as", "host")
    assert hold.end("0") == LOST
    assert re.search("^dpumap: device mlx5_0 has failed or was removed .*: the import of export near", hold.log())


def test_removal_of_the_device_ends_dpumapd(serve, emulator):
    """The files of the device end without an event."""
    agent = serve("--export", "name=near,kind=dm,size=4K")
    emulator.stop()
    try:
        assert agent.daemon.end("0") == LOST, agent.log()
        assert "device mlx5_0 has failed or was removed" in agent.log()
    finally:
        emulator.start(*CARD)


def test_port_that_goes_down_and_up_is_logged(serve, fault):
    agent = serve("--export", "name=far,kind=dram,size=64K,via=rdma")
    fault("port", "--as", "dpu")
    agent.daemon.await_log("^dpumapd: device mlx5_0: its port is down: .*check the cable and the switch$")
    fault("clear")
    agent.daemon.await_log("^dpumapd: device mlx5_0: its port is up$")


@pytest.mark.parametrize("when", ["created", "changed", "removed"])
def test_failure_of_the_device_ends_a_reload(serve, work, fault, when):
    """Wherever the reload is, which replaces hundreds of exports."""
    config = work / "c.conf"

    def write(perm, size, first):
        exports = [
            f'{{ name = "e{number}"; kind = "dram"; size = "{size}"; perm = "{perm}"; }}'
            for number in range(first, first + 500)
        ]
        config.write_text(
            f'listen = [ "unix:{work}/socket" ];\nexports = ( {", ".join(exports)} );\n',
            encoding="utf-8",
        )

    write("rw", "4K", 0)
    # Maps whose destruction fails before the event arrives are lost; the process ends in any case.
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    agent = serve("--config", config, env={"ASAN_OPTIONS": options.lstrip(":")})
    write(*{"created": ("rw", "8K", 0), "changed": ("ro", "4K", 0), "removed": ("rw", "4K", 2000)}[when])
    started = agent.log().count(f" {when}")
    agent.daemon.signal("HUP")
    assert await_true(lambda: agent.log().count(f" {when}") > started)
    fault("device", "--as", "dpu")
    assert agent.daemon.end("0") == LOST, agent.log()[-2000:]
    assert "dpumapd: ended because device mlx5_0 failed" in agent.log()
