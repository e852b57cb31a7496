# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumap.emulator: cards, sides, calls on them, faults."""

import multiprocessing
import os
import pathlib
import subprocess
import threading

import pytest

import dpumap
import sides
from dpumap import _worker
from dpumap.emulator import Emulator, EmulatorError, RemoteError, WorkerEnded, _options, find_program


@pytest.fixture(scope="module")
def card():
    with Emulator(cap=["max-dm-size=64K"]) as made:
        yield made
    assert not made.directory.exists()


def test_programs_run_on_each_side(card):
    for name, address in (("dpu", "0000:03:00.0"), ("host", "0000:3b:00.0")):
        side = card.side(name)
        assert side is card.side(name) and name in repr(side)
        out = side.run(["ls", "/sys/bus/pci/devices"], capture_output=True).stdout
        assert out.split() == [address]
        with pytest.raises(subprocess.CalledProcessError):
            side.run(["false"])
        assert side.run(["false"], check=False).returncode == 1
        process = side.start(["sh", "-c", "exit 3"])
        assert process.wait() == 3
    assert "emu" in repr(card)


def test_functions_run_in_one_process_of_a_side(card):
    dpu, host = card.side("dpu"), card.side("host")
    assert dpu.call(sides.add, 1, 2, scale=10) == 30
    assert dpu.call(os.getpid) == dpu.call(os.getpid) != host.call(os.getpid)
    descriptor = host.call(sides.export, b"hello")
    assert host.call(sides.content) == b"hello" and descriptor.length == 5
    assert card.objects("host")["mrs"] > 0 and card.objects()["pds"] >= 1 and card.objects("dpu")["mrs"] == 0
    host.call(sides.forget)
    assert card.objects("host")["mrs"] == 0


def test_exceptions_cross_the_border(card):
    dpu = card.side("dpu")
    with pytest.raises(dpumap.errors.InvalidValue, match="not a descriptor|fewer bytes") as raised:
        dpu.call(sides.raise_error)
    assert raised.value.line and "in raise_error" in str(raised.value.__cause__)
    with pytest.raises(RemoteError, match="cannot be pickled"):
        dpu.call(sides.raise_odd)
    with pytest.raises(AttributeError):
        dpu.call(Missing().call)
    with pytest.raises(TypeError, match="define it in a module"):
        dpu.call(lambda: None)


class Missing:
    def call(self):
        """A method of an instance, which is not what the name leads to."""

    call.__qualname__ = "Missing.other"


def test_process_that_ends_or_hangs_is_replaced(card):
    dpu = card.side("dpu")
    with pytest.raises(WorkerEnded, match="status 5"):
        dpu.call(sides.end, 5)
    first = dpu.call(os.getpid)
    dpu.kill()
    dpu.kill()
    assert dpu.call(os.getpid) != first
    with pytest.raises(WorkerEnded, match="not ended after 0.2 s"):
        dpu.call(sleep, 60, timeout=0.2)
    assert dpu.call(sides.add, 1) == 1
    dpu.close()


def sleep(seconds):
    threading.Event().wait(seconds)


def test_faults_are_injected_and_end(card):
    host = card.side("host")
    with card.faults(method="mr.create", errno="ENOMEM", count="all"):
        with pytest.raises(dpumap.errors.Driver, match="Cannot allocate memory"):
            host.call(sides.export, b"hello")
    host.call(sides.export, b"hello")
    card.fault("memory", left=0, as_="host")
    card.clear_faults()
    with pytest.raises(EmulatorError, match="no-such-kind"):
        card.fault("no-such-kind")
    host.call(sides.forget)


def test_dying_device_ends_awaited_copies():
    with Emulator() as card:
        name = card.side("host").call(sides.copy_until_the_device_dies)
        card.side("host").kill()
    # The copy in flight fails, or the next one finds a device that does not answer.
    assert name in ("DOCA_ERROR_IO_FAILED", "DOCA_ERROR_DRIVER", "DOCA_ERROR_NOT_CONNECTED", "DOCA_ERROR_SHUTDOWN")


def test_other_commands_change_ports_and_gids(card):
    assert card.status()["cards"] == 1
    card.command("port", "down", as_="dpu")
    assert [one["port"] for one in card.status()["functions"] if one["name"] == "dpu"] == ["DOWN"]
    card.command("port", "up", as_="dpu")
    assert "10.0.0.9" not in card.command("gid", "list")
    card.command("gid", "add", "10.0.0.9", as_="host")
    assert "10.0.0.9" in card.command("gid", "list")


def test_keywords_become_options():
    assert _options({"as_": "dpu", "lose": True, "off": False, "left": 0, "cap": ["a=1", "b=2"], "profile": None}) == [
        "--as=dpu",
        "--lose",
        "--left=0",
        "--cap=a=1",
        "--cap=b=2",
    ]


def test_attached_emulator_stays(card, monkeypatch):
    monkeypatch.setenv("DPUMAP_EMU_DIR", card.environment["DPUMAP_EMU_DIR"])
    with Emulator.attach() as other:
        assert other.side("dpu").call(sides.add, 2) == 2
    assert card.status()


def test_missing_program_and_wrong_options_are_clear(monkeypatch, tmp_path):
    with pytest.raises(EmulatorError, match="no-such-profile"):
        Emulator(profile="no-such-profile")
    monkeypatch.setenv("DPUMAP_EMU_DIR", str(tmp_path / "none"))
    with pytest.raises(EmulatorError):
        Emulator.attach()
    program = find_program()
    monkeypatch.setenv("DPUMAP_EMU", program)
    assert find_program() == program
    monkeypatch.delenv("DPUMAP_EMU")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(EmulatorError, match="not installed"):
        Emulator()


def test_worker_in_this_process():
    """What the process of a side does, where its lines are counted."""
    ours, theirs = multiprocessing.Pipe()
    thread = threading.Thread(target=_worker.serve, args=(theirs,))
    thread.start()
    file = str(pathlib.Path(sides.__file__))
    ours.send(([], ("sides", file, "add"), (1, 2), {}))
    assert ours.recv() == ("returned", 3, "")
    ours.send((["/nonexistent"], ("under.another.name", file, "add"), (4,), {"scale": 2}))
    assert ours.recv() == ("returned", 8, "")
    ours.send(([], ("__main__", file, "raise_odd"), (), {}))
    kind, error, text = ours.recv()
    assert (kind, error) == ("raised", None) and "cannot be pickled" in text
    ours.send(([], ("nothing.at.all", "/nonexistent", "add"), (), {}))
    assert ours.recv()[0] == "raised"
    ours.send(([], ("sides", file, "missing"), (), {}))
    assert isinstance(ours.recv()[1], AttributeError)
    ours.close()
    thread.join()
