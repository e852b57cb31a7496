# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Event queues of a function, and the interrupts that they raise."""

import struct

import pytest

from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_PARAM,
    BAD_RES,
    COMMAND_EVENT,
    CREATE_EQ,
    DESTROY_EQ,
    LIST,
    PAGE,
    QUERY_EQ,
    Refused,
    command,
    put,
)
from harness.vfio_user import READABLE, GuestMemory, Irq, await_irq, is_pending


class Commands:
    """An event queue for commands, with vector 2."""

    def __init__(self, driver, **more):
        self.driver = driver
        self.irq = driver.enable_irqs()[2]
        self.eq = driver.create_eq(driver.call(ALLOC_UAR).number, vector=2, events=[COMMAND_EVENT], **more)

    def vectors(self, first, last):
        """What the events say of the queue's entries."""
        seen = [self.driver.event(self.eq, index) for index in range(first, last)]
        assert all(one and one[0] == COMMAND_EVENT for one in seen), seen
        return [struct.unpack(">I", data[:4])[0] for _, data in seen]


@pytest.fixture
def commands(running):
    return Commands(running)


def test_command_that_creates_the_queue_is_not_reported(commands, running):
    assert running.event(commands.eq, 0) is None
    running.call(ALLOC_PD)
    assert commands.vectors(0, 1) == [1]


def test_event_has_all_commands_of_a_doorbell(commands, running):
    for slot in (1, 4, 31):
        running.entry(command(ALLOC_PD), slot=slot)
    running.ring(0xFFFFFFFF)
    assert commands.vectors(0, 1) == [1 << 1 | 1 << 4 | 1 << 31]
    running.ring(0xFFFFFFFF)
    assert running.event(commands.eq, 1) is None


def test_vector_is_raised_only_if_the_queue_is_armed(commands, running):
    running.call(ALLOC_PD)
    assert not is_pending(commands.irq)
    running.tell_eq(commands.eq, 1)
    assert not is_pending(commands.irq)  # nothing is new
    running.call(ALLOC_PD)
    assert await_irq(commands.irq) == 1
    running.call(ALLOC_PD)
    assert not is_pending(commands.irq)  # not armed again
    running.tell_eq(commands.eq, 2)
    assert await_irq(commands.irq) == 1  # an event is there already
    running.tell_eq(commands.eq, 3, arm=False)
    running.call(ALLOC_PD)
    assert not is_pending(commands.irq)
    assert commands.vectors(0, 4) == [1] * 4
    assert not any(is_pending(fd) for fd in running.irqs)


def test_vector_without_a_descriptor_is_none(commands, running):
    running.client.disable_irqs(Irq.MSIX)
    running.tell_eq(commands.eq, 0)
    running.call(ALLOC_PD)
    assert commands.vectors(0, 1) == [1] and not is_pending(commands.irq)


def test_ring_is_written_again_from_its_start(running):
    commands = Commands(running, log_size=2)
    for index in range(10):
        running.call(ALLOC_PD)
        assert running.event(commands.eq, index), f"event {index} is not there"
        running.tell_eq(commands.eq, index + 1)
        assert running.event(commands.eq, index + 1) is None
    assert not is_pending(commands.irq) or await_irq(commands.irq)


def test_full_ring_loses_events_and_says_so_once(running, function):
    commands = Commands(running, log_size=2)
    lines = function.log().count("has no room for an event")
    for _ in range(4):
        running.call(ALLOC_PD)
    ring = running.peek(commands.eq.ring, 256)
    for _ in range(3):
        running.call(ALLOC_PD)
    assert running.peek(commands.eq.ring, 256) == ring
    assert function.log().count("has no room for an event") == lines + 1
    running.tell_eq(commands.eq, 4)
    running.call(ALLOC_PD)
    assert commands.vectors(4, 5) == [1]


def test_consumer_that_is_ahead_stops_nothing(commands, running):
    running.tell_eq(commands.eq, 0x800000)
    for _ in range(3):
        running.call(ALLOC_PD)
    running.tell_eq(commands.eq, 0xFFFFFF)
    running.call(ALLOC_PD)


def test_doorbell_of_no_queue_stops_nothing(commands, running):
    uar = commands.eq.uar * PAGE
    for offset in (0x40, 0x48):
        for number in (0, commands.eq.number + 1, 31, 32, 255):
            running.write(uar + offset, number << 24)
    running.write((commands.eq.uar + 1) * PAGE + 0x40, commands.eq.number << 24)
    running.call(ALLOC_PD)
    assert not is_pending(commands.irq)


def test_pieces_of_a_doorbell_stop_nothing(commands, running):
    uar = commands.eq.uar * PAGE
    for offset, data in ((0x40, b"\1"), (0x41, bytes(4)), (0x40, bytes(64)), (0xFFC, bytes(8)), (0x7FF, bytes(3))):
        running.client.write(0, uar + offset, data)
    running.call(ALLOC_PD)
    assert commands.vectors(0, 1) == [1]


def test_queue_that_is_destroyed_reports_nothing(commands, running):
    running.call(DESTROY_EQ, commands.eq.number)
    ring = running.peek(commands.eq.ring, PAGE)
    running.call(ALLOC_PD)
    assert running.peek(commands.eq.ring, PAGE) == ring
    with pytest.raises(Refused) as refused:
        running.call(DESTROY_EQ, commands.eq.number)
    assert refused.value.status == BAD_RES


def test_queue_of_scattered_pages_is_one_ring(running):
    pages = [running.take(PAGE) for _ in range(4)]
    commands = Commands(running, log_size=7, ring=[pages[2], pages[0]])
    for index in range(66):
        running.call(ALLOC_PD)
        running.tell_eq(commands.eq, index + 1, arm=False)
    assert running.peek(pages[2] + 64 * 63, 64)[1] == running.peek(pages[0] + 64, 64)[1] == COMMAND_EVENT
    assert not any(running.peek(pages[1], PAGE))


def test_withdrawn_ring_loses_events_and_crashes_nothing(running, function):
    for scattered in (False, True):
        running.offer(1 << 32, 2 * PAGE)
        ring = [(1 << 32) + PAGE, 1 << 32] if scattered else [1 << 32, (1 << 32) + PAGE]
        commands = Commands(running, log_size=7, ring=ring)
        running.call(ALLOC_PD)
        assert commands.vectors(0, 1) == [1]
        running.client.unmap(1 << 32, 2 * PAGE)
        for _ in range(3):
            running.call(ALLOC_PD)
        running.call(DESTROY_EQ, commands.eq.number)
        running.memories.pop().close()
    assert function.status() is None


def test_ring_that_comes_back_is_written_again(running):
    memory = running.offer(1 << 32, 2 * PAGE)
    commands = Commands(running, log_size=7, ring=[(1 << 32) + PAGE, 1 << 32])
    running.client.unmap(memory.address, memory.size)
    running.call(ALLOC_PD)
    running.client.map(memory.address, memory.size, memory.fd)
    running.call(ALLOC_PD)
    assert [running.event(commands.eq, index) for index in (0, 1)].count(None) <= 1
    assert COMMAND_EVENT in (running.peek(commands.eq.ring, 128)[1], running.peek(commands.eq.ring, 128)[65])


def test_ring_in_read_only_memory_is_refused(running):
    rom = GuestMemory(1 << 32, PAGE)
    running.memories.append(rom)
    running.client.map(rom.address, PAGE, rom.fd, flags=READABLE)
    with pytest.raises(Refused) as refused:
        Commands(running, ring=[rom.address])
    assert refused.value.status == BAD_PARAM


@pytest.mark.parametrize(
    "row, high, low, value, status",
    [(0x0C, 28, 24, 23, BAD_PARAM), (0x0C, 23, 0, 1, BAD_RES), (0x0C, 23, 0, 0xFFFFFF, BAD_RES)]
    + [(0x08, 11, 6, 1, BAD_PARAM), (0x18, 28, 24, 31, BAD_PARAM)],
)
def test_context_that_is_wrong_is_refused(running, row, high, low, value, status):
    uar = running.call(ALLOC_UAR).number
    data = command(CREATE_EQ, LIST)
    put(data, 0x10 + 0x0C, 28, 24, 6)
    put(data, 0x10 + 0x0C, 23, 0, uar)
    put(data, 0x10 + row, high, low, 0)
    put(data, 0x10 + row, high, low, value)
    assert running.submit(running.pages(data, [running.take(PAGE)])).status in (status, BAD_PARAM)


def test_queues_have_a_limit_and_their_numbers_come_back(running):
    uar, queues = running.call(ALLOC_UAR).number, []
    with pytest.raises(Refused):
        for _ in range(40):
            queues.append(running.create_eq(uar).number)
    assert queues == [*range(1, 32)]
    running.call(DESTROY_EQ, 7)
    assert running.create_eq(uar).number == 7
    data = running.execute(command(QUERY_EQ, number=7 << 0), 16 + 0x40 + 0x80).data
    assert data[16 + 0x0C] & 0x1F == 6
