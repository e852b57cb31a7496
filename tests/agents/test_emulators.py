# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Several emulators of one user: what tells them apart."""

import json
import os
import signal

import pytest

from harness.machine import await_true

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
