# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What other programs of the machine use up or hold does not stop dpumapd or the emulator."""

import fcntl
import os
import pathlib
import resource
import socket
import time

import pytest

from harness.agents import REFUSED
from harness.machine import PATIENCE, await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
EXPORT = ["--export", "name=a,kind=dram,size=64K"]


class Starved:
    """A process that cannot open another descriptor, until the end of the block."""

    def __init__(self, pid):
        self.pid = pid
        self.limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)

    def __enter__(self):
        used = {int(number) for number in os.listdir(f"/proc/{self.pid}/fd")}
        free = next(number for number in range(len(used) + 1) if number not in used)
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (free, self.limits[1]))

    def __exit__(self, *_):
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, self.limits)


def state(pid):
    """A letter; see proc(5)."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return stat.rpartition(")")[2].split()[0]


def sleeps(pid):
    """Whether the process is found asleep many times in a row. One that polls without a pause never
    is."""
    for _ in range(20):
        if state(pid) != "S":
            return False
        time.sleep(0.005)
    return True


class Locked:
    """A file or directory that another program has locked, until the end of the block."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY)
        fcntl.flock(self.fd, fcntl.LOCK_EX)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        os.close(self.fd)


def connect(kind, path):
    made = socket.socket(socket.AF_UNIX, kind)
    made.settimeout(PATIENCE)
    made.connect(str(path))
    return made


def ask(path, question):
    """The connection on which the question waits for its answer."""
    made = connect(socket.SOCK_STREAM, path)
    made.sendall(question)
    return made


@pytest.mark.parametrize("name", ["admin", "metrics", "socket"])
def test_dpumapd_without_descriptors_pauses(serve, emulator, work, name):
    """It neither spins nor loses the connection that waits."""
    (work / "c.conf").write_text(
        f'listen = [ "unix:{work}/socket" ]; admin = "{work}/admin"; metrics = "{work}/metrics";\n'
        'exports = ( { name = "a"; kind = "dram"; size = "64K"; } );\n',
        encoding="utf-8",
    )
    agent = serve("--config", work / "c.conf")
    pid = agent.daemon.pid
    with Starved(pid):
        made = ask(work / name, b"GET /metrics HTTP/1.0\r\n\r\n" if name == "metrics" else b"status\n")
        assert await_true(lambda: sleeps(pid)), "dpumapd spins"
        agent.daemon.await_log("^dpumapd: cannot accept a connection: Too many open files$")
    with made:
        assert made.recv(1 << 16) or name == "socket"
    agent.stop()


def test_emulator_without_descriptors_pauses(emulator):
    pid = emulator.pid()
    # The server has closed its end of that connection when it has answered another program.
    emulator.objects()
    with Starved(pid):
        with connect(socket.SOCK_SEQPACKET, emulator.emu_dir / "control"):
            assert await_true(lambda: sleeps(pid)), "the emulator spins"
    assert emulator.objects()


def test_lock_on_the_directory_does_not_block_the_start(serve, work):
    """Any user can lock a directory that they can read."""
    with Locked(work):
        agent = serve(*EXPORT, listen=f"{work}/socket")
        assert os.listdir(work) == ["socket"]
    agent.stop()


def test_lock_that_a_killed_start_left_is_taken(serve, work):
    (work / "socket.lock").touch(0o600)
    agent = serve(*EXPORT, listen=f"{work}/socket")
    assert os.listdir(work) == ["socket"]
    agent.stop()


def test_lock_that_other_users_can_open_is_refused(dpu, work):
    (work / "socket.lock").touch()
    (work / "socket.lock").chmod(0o644)
    done = dpu.run(["dpumapd", *EXPORT, "--listen", f"{work}/socket"])
    done.fails_with(REFUSED, "other users can open .*/socket.lock; remove it$")


def test_start_waits_for_another_start(dpu, agent_name, work):
    """Until the other one has ended, or until it is asked to stop itself."""
    (work / "socket.lock").touch(0o600)
    words = ["dpumapd", *EXPORT, "--listen", f"{work}/socket"]
    waiting = "^dpumapd: cannot listen on .*/socket: another server is starting there .*: waiting$"
    with Locked(work / "socket.lock"):
        first, second = (dpu.daemon(agent_name(), words) for _ in range(2))
        first.await_log(waiting)
        second.await_log(waiting)
        assert first.end("TERM") == 0, first.log()
        assert first.log().endswith("dpumapd: stopped during the start\n")
    second.await_output("^dpumapd: ready on ")
    assert second.end("TERM") == 0, second.log()
    assert not os.listdir(work)
