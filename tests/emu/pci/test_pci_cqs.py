# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""MODIFY_CQ: completion queues that get another ring, and the moderation of their events."""

import struct

import pytest

from harness.machine import await_true
from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_INP_LEN,
    BAD_OP,
    BAD_PARAM,
    BAD_RES,
    BAD_SIZE,
    CREATE_CQ,
    DESTROY_CQ,
    DESTROY_QP,
    LIST,
    MODIFY_CQ,
    OK,
    PAGE,
    QUERY_CQ,
    command,
    get,
    put,
    put64,
)
from harness.vfio_user import await_irq

CONTEXT, UMEM, UMEM_VALID = 0x10, 0x58, 0x5C
FIELDS, RESIZE = 0, 1  # op_mod
PERIOD, COUNT, OVERRUN, ALL_OF_RESIZE = 1, 2, 4, 7  # field_select
RESIZE_CQE = 5


class Queue:
    """A completion queue, and a queue pair whose work completes there."""

    def __init__(self, driver):
        self.driver, self.posted = driver, 0
        self.irq = driver.enable_irqs()[1]
        self.pd, uar = driver.call(ALLOC_PD).number, driver.call(ALLOC_UAR).number
        self.eq = driver.create_eq(uar, vector=1)
        self.cq = driver.create_cq(self.eq, log_size=2)
        self.qp = driver.connect_to_itself(driver.create_qp(self.pd, self.cq, log_size=6))
        self.key, self.at = driver.create_mkey(self.pd), driver.take(PAGE)
        self.unread = self.qp._replace(record=driver.take(PAGE))

    def work(self, count=1):
        """The card sees all of them at once: the doorbell record counts them with the last one."""
        for left in reversed(range(count)):
            qp = self.unread if left else self.qp
            self.driver.rdma_write(qp, self.posted, (self.at, self.key), (self.at + 2048, self.key), 8)
            self.posted += 1

    def entry(self, index, log_size, ring=None):
        """The counter of a completion at a place of the ring, or its opcode; None if it is none of the turn."""
        entry = self.driver.peek((ring or self.cq.ring) + 64 * (index % (1 << log_size)), 64)
        if entry[63] >> 4 == 0xF or entry[63] & 1 != index >> log_size & 1:
            return None
        return struct.unpack(">H", entry[60:62])[0] if entry[63] >> 4 == 0 else f"opcode {entry[63] >> 4}"

    def polled(self, count):
        self.driver.poke(self.cq.record, struct.pack(">I", count))

    def request(self, op_mod, select, **fields):
        data = command(MODIFY_CQ, LIST, self.cq.number, op_mod)
        put(data, 0x0C, 31, 0, select)
        put(data, CONTEXT + 0x00, 23, 21, fields.get("cqe_size", 0))
        put(data, CONTEXT + 0x00, 17, 17, fields.get("overrun", 0))
        put(data, CONTEXT + 0x08, 11, 6, fields.get("page_offset", 0))
        put(data, CONTEXT + 0x0C, 28, 24, fields.get("log_size", 0))
        put(data, CONTEXT + 0x10, 27, 16, fields.get("period", 0))
        put(data, CONTEXT + 0x10, 15, 0, fields.get("count", 0))
        return data

    def resize(self, log_size, ring=None, **fields):
        """The new ring, and the status."""
        driver = self.driver
        ring = ring or [driver.take(PAGE) for _ in range(((64 << log_size) + PAGE - 1) // PAGE)]
        for page in ring:
            driver.poke(page, (bytes(63) + b"\xf1") * 64)
        data = driver.pages(self.request(RESIZE, ALL_OF_RESIZE, log_size=log_size, **fields), ring)
        return ring, driver.submit(data).status

    def context(self):
        return self.driver.call(QUERY_CQ, self.cq.number, 0x110).data[0x10:0x50]


@pytest.fixture
def queue(running):
    return Queue(running)


def test_completions_go_on_in_the_new_ring(queue):
    queue.work(3)
    assert await_true(lambda: queue.entry(2, 2) == 2)
    queue.polled(1)
    ring, status = queue.resize(4)
    assert status == OK
    assert queue.entry(3, 2) == f"opcode {RESIZE_CQE}"  # the last one of the old ring
    queue.work(2)
    assert await_true(lambda: queue.entry(5, 4, ring[0]) == 4)
    assert queue.entry(4, 4, ring[0]) == 3
    assert get(queue.context(), 0x0C, 28, 24) == 4


def test_ring_of_scattered_pages_is_one_ring(queue, emulator):
    driver, before = queue.driver, emulator.objects()
    pages = [driver.take(PAGE) for _ in range(4)]
    assert queue.resize(7, [pages[2], pages[0]])[1] == OK
    for index in range(1, 66):
        queue.work()
        queue.polled(index)
        at = pages[2] + 64 * index if index < 64 else pages[0] + 64 * (index - 64)
        assert await_true(lambda at=at: driver.peek(at + 63, 1)[0] >> 4 == 0), index
    assert queue.resize(2)[1] == OK
    assert emulator.objects() == before  # the memory of the scattered ring is released
    driver.call(DESTROY_QP, queue.qp.number)
    driver.call(DESTROY_CQ, queue.cq.number)


def test_ring_that_begins_within_a_page(queue):
    page = queue.driver.take(PAGE)
    assert queue.resize(2, [page], page_offset=8)[1] == OK
    queue.work()
    assert await_true(lambda: queue.entry(1, 2, page + 8 * 64) == 0)


def test_completions_that_do_not_fit_are_kept(queue):
    queue.work(3)
    assert await_true(lambda: queue.entry(2, 2) == 2)
    assert queue.resize(1)[1] == BAD_SIZE
    queue.work()
    assert await_true(lambda: queue.entry(3, 2) == 3)  # the old ring is still the ring
    assert queue.resize(4)[1] == BAD_SIZE  # it has no room for its last entry
    queue.polled(2)
    assert queue.resize(1)[1] == OK


def test_ring_that_is_no_memory_of_the_guest_is_refused(queue):
    driver = queue.driver
    outside = driver.memory.address + driver.memory.size
    data = queue.request(RESIZE, ALL_OF_RESIZE, log_size=7)
    for ring in ([driver.take(PAGE), outside], [driver.take(PAGE)], []):
        assert driver.submit(driver.pages(data, ring)).status == BAD_PARAM
    put(data, UMEM_VALID, 31, 31, 1)
    put(data, UMEM, 31, 0, 0xABCDEF)
    assert driver.submit(data).status == BAD_RES
    assert get(queue.context(), 0x0C, 28, 24) == 2


def test_wrong_requests_are_refused(queue):
    driver, number = queue.driver, queue.cq.number
    ring = [driver.take(PAGE)]

    def status(data):
        return driver.submit(driver.pages(data, ring)).status

    for select in (0, 1, 3, 5, 6, 8, 0xF, 0x80000007):
        assert status(queue.request(RESIZE, select, log_size=4)) == BAD_PARAM, select
    for select in (0, 8, 0xF, 0x80000001):
        assert status(queue.request(FIELDS, select)) == BAD_PARAM, select
    assert status(queue.request(RESIZE, ALL_OF_RESIZE, log_size=23)) == BAD_PARAM
    assert status(queue.request(RESIZE, ALL_OF_RESIZE, log_size=4, cqe_size=1)) == BAD_PARAM
    for op_mod in (2, 0xFFFF):
        assert status(queue.request(op_mod, 1)) == BAD_OP
    for row, high, low in ((0x08, 31, 24), (0x5C, 30, 0), (0x60, 31, 0), (0x10C, 31, 0)):
        data = queue.request(FIELDS, PERIOD)
        put(data, row, high, low, 1)
        assert status(data) == BAD_PARAM, hex(row)
    assert driver.submit(queue.request(FIELDS, PERIOD)[: LIST - 16]).status == BAD_INP_LEN
    assert driver.submit(command(MODIFY_CQ, LIST, number + 1)).status == BAD_RES


def test_moderation_is_changed_field_by_field(queue):
    driver = queue.driver
    for select, expected in ((PERIOD, (100, 0)), (COUNT, (100, 4)), (PERIOD | COUNT, (100, 4))):
        data = queue.request(FIELDS, select, period=100, count=4)
        assert driver.submit(data).status == OK
        context = queue.context()
        assert (get(context, 0x10, 27, 16), get(context, 0x10, 15, 0)) == expected
    assert driver.submit(queue.request(FIELDS, OVERRUN, overrun=1)).status == OK
    assert get(queue.context(), 0, 17, 17) == 1


def test_moderated_queue_reports_its_completions(queue):
    driver = queue.driver
    driver.tell_eq(queue.eq, 0)
    assert driver.submit(queue.request(FIELDS, PERIOD | COUNT, period=0xFFF, count=3)).status == OK
    driver.arm_cq(queue.cq)
    queue.work(3)
    await_irq(queue.irq)
    assert queue.entry(2, 2) == 2  # the event came after the third
    driver.tell_eq(queue.eq, 1)
    queue.polled(3)
    driver.arm_cq(queue.cq, 3, 1)
    queue.work()
    await_irq(queue.irq)  # the period has passed


def test_queue_is_created_with_its_moderation(running):
    uar = running.call(ALLOC_UAR).number
    eq = running.create_eq(uar)
    data = command(CREATE_CQ, LIST)
    put(data, 0x10 + 0x0C, 28, 24, 4)
    put(data, 0x10 + 0x0C, 23, 0, uar)
    put(data, 0x10 + 0x10, 27, 16, 8)
    put(data, 0x10 + 0x10, 15, 0, 128)
    put(data, 0x10 + 0x14, 7, 0, eq.number)
    put64(data, 0x10 + 0x38, running.take(PAGE))
    number = running.execute(running.pages(data, [running.take(PAGE)])).number
    context = running.call(QUERY_CQ, number, 0x110).data[0x10:0x50]
    assert (get(context, 0x10, 27, 16), get(context, 0x10, 15, 0)) == (8, 128)
    put(data, 0x10, 16, 15, 1)  # periods that begin with a completion
    assert running.submit(running.pages(data, [running.take(PAGE)])).status == BAD_PARAM
