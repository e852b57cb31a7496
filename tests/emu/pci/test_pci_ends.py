# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is left when the virtual machine, the process of a function or the emulator ends."""

import os
import signal

import pytest

from harness.emulator import Emulator
from harness.machine import LocalMachine
from harness.mlx5_driver import ALLOC_PD, ALLOC_UAR, PAGE, Driver
from harness.vfio_user import await_irq


@pytest.fixture
def emulator():
    """An own one, which ends in the test."""
    card = Emulator()
    yield card
    card.close()


@pytest.fixture
def place(emulator):
    return LocalMachine("here", emulator.dir / "here", emulator.environment)


@pytest.fixture
def process(emulator, place):
    words = [emulator.program, "pci", "--as", "host", "--socket", f"{place.dir}/socket"]
    one = place.daemon("pci", words)
    one.path = f"{place.dir}/socket"
    one.await_output()
    yield one
    one.end()


def live(driver):
    """Objects of several kinds, some with memory of their own."""
    driver.enable_irqs()
    uar = driver.call(ALLOC_UAR).number
    eq = driver.create_eq(uar, vector=1, events=[0x0A])
    driver.tell_eq(eq, 0)
    cq = driver.create_cq(eq)
    pd = driver.call(ALLOC_PD).number
    driver.connect_to_itself(driver.create_qp(pd, cq))
    driver.create_mkey(pd, 0, 2 * PAGE, [driver.take(2 * PAGE) + PAGE, driver.take(PAGE)])
    await_irq(driver.irqs[1])
    return driver


def test_virtual_machine_that_is_killed_leaves_nothing(process, emulator):
    before = emulator.objects()
    child = os.fork()
    if not child:
        live(Driver(process.path).start())
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    with Driver(process.path) as driver:
        assert emulator.objects() == before
        live(driver.start())
    emulator.await_objects(before)
    assert process.status() is None and not process.log()


def test_killed_process_leaves_nothing_and_its_guest_is_told(process, emulator, place):
    with Driver(process.path) as driver:
        live(driver.start())
        process.end("KILL")
        assert driver.client.receive() is None
    emulator.await_objects({kind: 0 for kind in emulator.objects()})
    again = place.daemon("again", [emulator.program, "pci", "--as", "host", "--socket", process.path])
    again.await_output()
    with Driver(process.path) as driver:
        live(driver.start())
    again.end()


@pytest.mark.parametrize("busy", [False, True])
def test_killed_emulator_ends_the_function_with_one_line(process, emulator, busy):
    with Driver(process.path) as driver:
        if busy:
            live(driver.start())
        os.kill(emulator.pid(), signal.SIGKILL)
        assert process.process.wait(60) == 1
        assert driver.client.receive() is None
    assert process.log().count("\n") == 1 and "the function is gone" in process.log(), process.log()
    assert not os.path.exists(process.path)


def test_stopped_emulator_ends_the_function(process, emulator):
    emulator.stop()
    assert process.process.wait(60) == 1
    assert "the function is gone" in process.log() and not os.path.exists(process.path)


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_function_that_a_signal_ends_leaves_no_socket(process, emulator, name):
    before = emulator.objects()
    with Driver(process.path) as driver:
        live(driver.start())
        assert process.end(name) == 0
    assert not os.path.exists(process.path)
    emulator.await_objects(dict.fromkeys(before, 0))
