# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Chaos and captures, while a driver drives the function."""

import subprocess

import pytest

from harness.machine import PATIENCE, await_true
from harness.mlx5_driver import ALLOC_PD, ALLOC_UAR, PAGE, PORT_EVENT, Refused
from harness.vfio_user import await_irq

SYNDROME = 0x23C  # of the health buffer
REQUEST, REQUEST_ERROR, RETRIES_EXCEEDED = 0x0, 0xD, 0x15  # opcodes and syndrome of completions
DATA = b"bytes of a guest that a capture shows"


class Writer:
    """A queue pair that writes from one page of the guest to the next one."""

    def __init__(self, driver):
        self.driver, self.posted = driver, 0
        self.pd = driver.call(ALLOC_PD).number
        self.eq = driver.create_eq(driver.call(ALLOC_UAR).number, events=[PORT_EVENT], vector=1)
        self.cq = driver.create_cq(self.eq, log_size=6)
        self.qp = driver.connect_to_itself(driver.create_qp(self.pd, self.cq, log_size=6))
        self.key, self.at = driver.create_mkey(self.pd), driver.take(2 * PAGE)
        driver.poke(self.at, DATA)

    def write(self):
        """The opcode and the syndrome of the completion."""
        index, self.posted = self.posted, self.posted + 1
        self.driver.rdma_write(self.qp, index, (self.at, self.key), (self.at + PAGE, self.key), len(DATA))
        entry = await_true(lambda: self.driver.completion(self.cq, index))
        return entry[63] >> 4, entry[55]


@pytest.fixture
def chaos(emulator):
    """chaos(plan): the process that injects the faults of a plan."""
    running = []

    def start(*lines):
        words = [emulator.program, "chaos", "--plan", "-", "--seed", "1"]
        one = subprocess.Popen(words, env=emulator.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(one)
        one.stdin.write("\n".join(lines) + "\n")
        one.stdin.close()
        return one

    yield start
    for one in running:
        one.terminate()
        one.wait()
        one.stdout.close()


def test_plan_fails_completions_of_the_driver(running, chaos):
    writer = Writer(running)
    assert writer.write()[0] == REQUEST
    plan = chaos("duration 1m", "at 0s for 1m: completion --syndrome RETRY_EXC_ERR --count all")
    assert any("completion" in line for line in plan.stdout)  # it is injected
    assert writer.write() == (REQUEST_ERROR, RETRIES_EXCEEDED)


def test_plan_fails_the_device_and_repairs_it(running, chaos):
    plan = chaos("duration 1m", "at 0s for 100ms: device --as host")
    assert await_true(lambda: running.read(SYNDROME))
    with pytest.raises(Refused):
        running.call(ALLOC_PD)
    plan.terminate()  # all faults end with it
    assert plan.wait(PATIENCE) is not None
    running.client.reset()
    running.attach()
    assert await_true(lambda: not running.read(0x1FC) >> 31)
    assert Writer(running.start()).write()[0] == REQUEST


def test_plan_takes_the_link_down_and_up(running, chaos):
    irq, writer = running.enable_irqs()[1], Writer(running)
    running.tell_eq(writer.eq, 0)
    chaos("duration 1m", "at 0s for 50ms: port --as host")
    for index in range(2):
        await_irq(irq)
        assert running.event(writer.eq, index)[0] == PORT_EVENT
        running.tell_eq(writer.eq, index + 1)


def test_capture_shows_what_the_driver_sends(running, emulator):
    file, writer = emulator.dir / "capture", Writer(running)
    words = [emulator.program, "capture", "--as", "host", "--count", "2", str(file)]
    with subprocess.Popen(words, env=emulator.environment, stderr=subprocess.PIPE) as capture:
        try:
            assert await_true(lambda: file.exists() and file.stat().st_size)  # it has begun
            assert writer.write()[0] == REQUEST
            assert capture.wait(PATIENCE) == 0
        finally:
            capture.kill()
    assert DATA in file.read_bytes()
