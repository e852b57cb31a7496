# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A function that fails, what its driver sees of it, and the resets after which it works again."""

import struct

import pytest

from harness.machine import await_true
from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    CMDQ_HIGH,
    CMDQ_LOW,
    ENABLE_HCA,
    INTERNAL_ERROR_EVENT,
    PAGE,
    Driver,
    Refused,
)
from harness.vfio_user import CONFIG, await_irq

INITIALIZING, SEVERITY, SYNDROME, COUNTER = 0x1FC, 0x238, 0x23C, 0x1010  # in the initialisation segment
FULL, DISABLED, RESET = 0, 1, 7  # bits 10:8 of CMDQ_LOW
DEVCTL = 0x48 + 8  # in the configuration space
FLR = 1 << 15
INT_ERR = 1


def nic_state(driver):
    return driver.read(CMDQ_LOW) >> 8 & 7


def has_failed(driver):
    """What the driver's health poll reads: a syndrome, and that a reset is required."""
    syndrome, severity = driver.read(SYNDROME) >> 16 & 0xFF, driver.read(SEVERITY) >> 24
    assert (syndrome, severity) in ((0, 0), (1, 0x8A)), (syndrome, severity)
    return syndrome == 1


def is_initializing(driver):
    return driver.read(INITIALIZING) >> 31 == 1


def status(driver, opcode=ALLOC_PD):
    try:
        driver.call(opcode)
    except Refused as refused:
        return refused.status
    return 0


@pytest.fixture
def faults(emulator):
    yield emulator
    emulator.clear_faults()


@pytest.fixture
def failed(running, faults):
    """A driver whose device has failed, and works again after a reset."""
    faults.fault("device", "--as", "host")
    assert await_true(lambda: has_failed(running))
    faults.clear_faults()
    return running


def test_function_that_works_has_no_syndrome_and_a_counter_that_moves(running):
    before = running.read(COUNTER)
    assert await_true(lambda: running.read(COUNTER) != before)
    assert not has_failed(running) and not is_initializing(running) and nic_state(running) == FULL
    assert running.read(0x230) == running.read(0)  # the firmware's version
    assert running.read(INITIALIZING) == 1 << 30  # the driver may reset the function


def test_device_that_fails_says_so_and_stops_its_counter(running, faults):
    irq, uar = running.enable_irqs()[1], running.call(ALLOC_UAR).number
    eq = running.create_eq(uar, vector=1, events=[INTERNAL_ERROR_EVENT])
    running.tell_eq(eq, 0)
    faults.fault("device", "--as", "host")
    await_irq(irq)
    assert running.event(eq, 0)[0] == INTERNAL_ERROR_EVENT
    assert await_true(lambda: has_failed(running))
    counter = running.read(COUNTER)
    assert not await_true(lambda: running.read(COUNTER) != counter, 0.1)
    assert status(running) == INT_ERR


def test_device_that_is_repaired_still_needs_a_reset(failed):
    assert status(failed) == INT_ERR
    assert has_failed(failed) and not is_initializing(failed)


def soft_reset(driver):
    driver.write(CMDQ_LOW, driver.queue | RESET << 8)
    assert nic_state(driver) == DISABLED


def function_level_reset(driver):
    driver.client.write(CONFIG, DEVCTL, struct.pack("<H", FLR))


def device_reset(driver):
    driver.client.reset()


RESETS = (soft_reset, function_level_reset, device_reset)


@pytest.mark.parametrize("reset", RESETS)
def test_reset_ends_the_failure(failed, reset):
    counter = failed.read(COUNTER)
    reset(failed)
    assert not has_failed(failed) and not is_initializing(failed)
    assert await_true(lambda: failed.read(COUNTER) != counter)
    failed.attach()
    assert nic_state(failed) == FULL
    failed.start()
    assert status(failed) == 0


@pytest.mark.parametrize("reset", RESETS)
def test_reset_before_the_repair_leaves_the_function_initializing(running, faults, reset):
    faults.fault("device", "--as", "host")
    assert await_true(lambda: has_failed(running))
    reset(running)
    assert is_initializing(running) and not has_failed(running)
    running.attach()
    assert status(running, ENABLE_HCA) == INT_ERR
    faults.clear_faults()
    assert await_true(lambda: not is_initializing(running))
    running.start()


def test_reset_of_a_device_that_has_failed_leaves_no_object(running, faults):
    before = faults.objects()
    running.create_eq(running.call(ALLOC_UAR).number)
    assert faults.objects() != before
    faults.fault("device", "--as", "host")
    assert await_true(lambda: has_failed(running))
    running.client.reset()
    assert faults.objects() == before


class Work:
    """A queue pair with work that reports its completion."""

    def __init__(self, driver):
        self.uar, self.pd = driver.call(ALLOC_UAR).number, driver.call(ALLOC_PD).number
        self.eq = driver.create_eq(self.uar)
        self.cq = driver.create_cq(self.eq, log_size=6)
        self.qp = driver.connect_to_itself(driver.create_qp(self.pd, self.cq, log_size=6))
        self.key, self.at = driver.create_mkey(self.pd), driver.take(PAGE)
        driver.arm_cq(self.cq)
        for index in range(32):
            driver.rdma_write(self.qp, index, (self.at, self.key), (self.at + 2048, self.key), 1024)


@pytest.mark.parametrize("reset", RESETS)
def test_reset_with_work_under_way_leaves_nothing_of_it(running, faults, reset):
    before = faults.objects()
    Work(running)
    reset(running)
    assert faults.objects() == before
    running.attach()
    uar = running.start().call(ALLOC_UAR).number
    eq = running.create_eq(uar)
    assert status(running) == 0
    assert running.event(eq, 0) is None


def test_function_that_is_disabled_executes_nothing(running):
    running.write(CMDQ_LOW, running.queue | DISABLED << 8)
    assert nic_state(running) == DISABLED
    with pytest.raises(AssertionError, match="has no answer"):
        running.call(ALLOC_PD)
    running.attach()
    running.start()


@pytest.mark.parametrize("state", [2, 3, 4, 5, 6])
def test_state_that_the_function_does_not_have_changes_nothing(running, state):
    running.write(CMDQ_HIGH, 0xFFFF)
    running.write(CMDQ_LOW, 0x1000 | state << 8)
    assert nic_state(running) == FULL
    assert status(running) == 0


def test_failure_without_a_driver_is_seen_by_the_next_one(function, faults):
    with Driver(function.path) as driver:
        faults.fault("device", "--as", "host")
        assert await_true(lambda: has_failed(driver))
    with Driver(function.path) as driver:  # the end of the one before was a reset
        assert is_initializing(driver)
        faults.clear_faults()
        assert await_true(lambda: not is_initializing(driver))
        driver.start()
