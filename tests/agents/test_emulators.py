# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Several emulators of one user: what tells them apart."""

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import sys
import threading

import pytest

from harness.machine import PATIENCE, await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]


class Shells:
    """Shells of one user in which the default directory of the emulator is not the same."""

    def __init__(self, machine, base):
        self.machine, self.base = machine, base

    def environment(self, name):
        place = self.base / name
        place.mkdir(exist_ok=True, mode=0o700)
        return {"XDG_RUNTIME_DIR": str(place), "DPUMAP_EMU_DIR": ""}

    def directory(self, name):
        return f"{self.base}/{name}/dpumap-emu-{os.getuid()}"

    def emu(self, name, *words):
        return self.machine.run(["dpumap-emu", *words], env=self.environment(name))

    def cards(self, name):
        """The GUIDs of the shell's emulator."""
        functions = json.loads(self.emu(name, "status", "--json").ok())["functions"]
        return {function["guid"] for function in functions}

    def listed(self, name):
        """{directory: what the list has of an emulator}, of those of the test."""
        emulators = json.loads(self.emu(name, "list", "--json").ok())["emulators"]
        ours = [one for one in emulators if one["directory"].startswith(f"{self.base}/")]
        found = {one["directory"]: one for one in ours}
        assert len(found) == len(ours)
        return found

    def responding(self, name):
        """The same; a busy machine may need more time until each emulator has responded."""
        found = {}

        def all_respond():
            found.clear()
            found.update(self.listed(name))
            return all(one["responds"] for one in found.values())

        assert await_true(all_respond), found
        return found


@pytest.fixture
def shells(here, work):
    made = Shells(here, work)
    yield made
    for name in ("a", "b"):
        made.emu(name, "stop")


def test_each_emulator_has_its_own_cards(shells):
    """The same directory has the same cards again."""
    shells.emu("a", "start", "--cards", "2").ok()
    shells.emu("b", "start").ok()
    first, second = shells.cards("a"), shells.cards("b")
    assert len(first) == 2 and len(second) == 1
    assert not first & second
    shells.emu("a", "stop").ok()
    shells.emu("a", "start", "--cards", "2").ok()
    assert shells.cards("a") == first


def test_list_has_all_emulators(shells):
    """In any directory, and none that has ended."""
    other = str(shells.base / 'c"d')
    shells.emu("a", "start").ok()
    shells.emu("b", "start", "--profile", "bluefield-2").ok()
    shells.emu("b", "start", "--dir", other).ok()
    a, b = shells.directory("a"), shells.directory("b")
    found = shells.responding("b")
    assert set(found) == {a, b, other}
    assert [found[path]["selected"] for path in (a, b, other)] == [False, True, False]
    assert {found[a]["guid"]} == shells.cards("a") and found[b]["profile"] == "bluefield-2"
    wanted = [str(found[b]["pid"]), "bluefield-2", found[b]["guid"], "1", "1", "0", b, "*"]
    lines = [line.split() for line in shells.emu("b", "list").ok().splitlines() if b in line]
    assert lines == [wanted] or "does not respond" in " ".join(lines[0])
    shells.emu("b", "stop", "--dir", other).ok()
    shells.emu("b", "stop").ok()
    assert set(shells.listed("b")) == {a}


def test_emulator_starts_without_standard_descriptors(shells):
    done = shells.machine.run("exec dpumap-emu start <&- >&- 2>&-", env=shells.environment("a"))
    done.ok()
    pid = shells.listed("a")[shells.directory("a")]["pid"]
    assert not os.readlink(f"/proc/{pid}/fd/2").startswith("socket:")
    assert shells.cards("a")


def test_second_emulator_of_a_default_directory_is_reported(shells):
    """Not one whose directory was chosen."""
    shells.emu("a", "start").ok()
    for words in (["start"], ["run", "--as", "dpu", "--", "true"]):
        done = shells.emu("b", *words)
        assert done.ok() == ""
        assert f"DPUMAP_EMU_DIR={shells.directory('a')}" in done.err
        shells.emu("b", "stop")
    done = shells.emu("b", "run", "--dir", f"{shells.base}/chosen", "--as", "dpu", "--", "true")
    assert (done.ok(), done.err) == ("", "")


def test_emulator_that_does_not_respond_is_listed(shells):
    shells.emu("a", "start").ok()
    pid = shells.listed("a")[shells.directory("a")]["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert f"{pid}  does not respond" in shells.emu("a", "list").ok()
    finally:
        os.kill(pid, signal.SIGCONT)


def test_emulator_that_hangs_is_waited_for_and_killed(shells):
    """Its programs end by a signal, and say what they wait for, as does the command; stop ends it."""
    shells.emu("a", "start").ok()
    hung = next(iter(shells.listed("a").values()))["pid"]
    os.kill(hung, signal.SIGSTOP)
    program = shells.machine.run(
        ["timeout", "--foreground", "--kill-after", "30", "3", "dpumap-emu", "run", "--as", "host", "ibv_devinfo"],
        env=shells.environment("a"),
    )
    assert program.status == 124, program
    status = shells.machine.run(["timeout", "--kill-after", "30", "3", "dpumap-emu", "status"],
                                env=shells.environment("a"))
    assert status.status == 124 and f"process {hung}, which does not answer" in status.err
    stopped = shells.emu("a", "stop")
    assert stopped.status == 0 and f"killing process {hung}" in stopped.err
    assert not shells.listed("a")
    shells.emu("a", "start").ok()


# -- another build


class OtherBuild:
    """Between programs and a socket of an emulator: each takes the other for one of another build, whose packets begin
    with another number."""

    def __init__(self, path):
        self.path, self.own = str(path), f"{path}.own"
        self.ends, self.sockets = selectors.DefaultSelector(), []
        os.rename(self.path, self.own)
        self.listener = self.keep(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        self.listener.bind(self.path)
        self.listener.listen()
        self.ends.register(self.listener, selectors.EVENT_READ, self.accept)
        self.stop, wake = (self.keep(end) for end in socket.socketpair())
        self.ends.register(wake, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def keep(self, end):
        self.sockets.append(end)
        return end

    def work(self):
        while True:
            for key, _ in self.ends.select():
                if not key.data:
                    return
                key.data()

    def accept(self):
        client = self.keep(self.listener.accept()[0])
        server = self.keep(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        server.connect(self.own)
        self.join(client, server)

    def join(self, client, server):
        for one, other in ((client, server), (server, client)):
            self.ends.register(one, selectors.EVENT_READ, lambda one=one, other=other: self.forward(one, other))

    def forward(self, one, other):
        if one.fileno() < 0:
            return  # closed with the other end
        try:
            packet, passed, _, _ = socket.recv_fds(one, 65536, 4)
        except ConnectionResetError:
            packet, passed = b"", []
        if not packet:
            for end in (one, other):
                self.ends.unregister(end)
                end.close()
            return
        number = int.from_bytes(packet[:4], sys.byteorder) ^ 1
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in passed]
        for number_of_end, (ours, _) in zip(passed, pairs):
            self.join(self.keep(socket.socket(fileno=number_of_end)), self.keep(ours))
        with contextlib.suppress(BrokenPipeError):
            socket.send_fds(other, [number.to_bytes(4, sys.byteorder) + packet[4:]], [theirs.fileno() for _, theirs in pairs])
        for _, theirs in pairs:
            theirs.close()

    def close(self):
        self.stop.send(b"x")
        self.thread.join(PATIENCE)
        for end in self.sockets:
            end.close()
        self.ends.close()
        os.rename(self.own, self.path)


@pytest.fixture
def running(shells):
    """The environment of a program on the host of an emulator, and the emulator's directory."""
    shells.emu("a", "start").ok()
    lines = shells.emu("a", "run", "--as", "host", "--", "env", "-0").ok().split("\0")
    return dict(line.split("=", 1) for line in lines if line), shells.directory("a")


ASKING = "status", "top --once", "stop", "trace", "capture FILE", "fault clear", "gid list", "port down", "chaos --plan PLAN"
STARTING = "start", "run --as host -- true"


def test_emulator_of_another_build_is_told_from_one_that_ends(shells, running, work):
    _, place = running
    (work / "plan").write_text("duration 1s\nat 1ms: gid\n", encoding="ascii")
    other = OtherBuild(f"{place}/control")
    try:
        for words in ASKING + STARTING:
            done = shells.emu("a", *words.replace("PLAN", f"{work}/plan").replace("FILE", f"{work}/packets").split())
            assert done.status == (125 if words in STARTING else 1), done.err
            assert re.fullmatch(
                rf"dpumap-emu: .*{place}.*: the running emulator is of another build of dpumap-emu; stop it by the dpumap-emu "
                r"that started it, or end its process \('dpumap-emu list' shows the number\), and start it again\n",
                done.err,
            ), done.err
    finally:
        other.close()


def test_program_with_the_library_of_another_build_says_so(here, running):
    """Once in each process: doctor has one for each check of the device."""
    env, place = running
    other = OtherBuild(f"{place}/host/uverbs0")
    try:
        done = here.run(["dpumap", "doctor"], env=env)
    finally:
        other.close()
    said = re.findall(
        rf"^dpumap-emu: process (\d+) has a library of dpumap-emu of another build than the emulator in {place}, process "
        r"\d+; start the program by the `dpumap-emu run' that belongs to the emulator, or stop the emulator and start it again$",
        done.err,
        re.M,
    )
    assert done.status and said and len(set(said)) == done.err.count("dpumap-emu: "), done.err
