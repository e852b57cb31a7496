# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shared receive queues of a driver: what a query returns, and the event when few receives are left."""

import pytest

from harness.mlx5_driver import ALLOC_PD, ALLOC_UAR, BAD_PARAM, BAD_RES, LIST, OK, PAGE, command, get, put, put64
from harness.vfio_user import await_irq

ALLOC_XRCD, CREATE_XRC_SRQ, QUERY_XRC_SRQ, ARM_XRC_SRQ = 0x80E, 0x705, 0x707, 0x708
MODIFY_RMP, QUERY_RMP = 0x90D, 0x90F
SRQ_LIMIT = 0x14
WQ = 0x50  # in commands on an RMP
QUERY_BYTES = 0x110


class Bench:
    def __init__(self, driver):
        self.driver = driver
        self.irq = driver.enable_irqs()[1]
        self.eq = driver.create_eq(driver.call(ALLOC_UAR).number, vector=1, events=[SRQ_LIMIT])
        self.pd = driver.call(ALLOC_PD).number

    def create(self, data):
        return self.driver.execute(self.driver.pages(data, [self.driver.take(PAGE)])).number

    def event(self, index):
        """The queue that an event is about."""
        kind, data = self.driver.event(self.eq, index)
        assert kind == SRQ_LIMIT
        return int.from_bytes(data[0x19:0x1C], "big")

    def number_of_rmp(self):
        return self.driver.create_rmp(self.pd)

    def modify_rmp(self, number, limit, state=1, sets=1):
        data = command(MODIFY_RMP, LIST, number=number)
        put(data, 0x08, 31, 28, state)
        put(data, 0x14, 0, 0, sets)
        put(data, WQ + 0x04, 15, 0, limit)
        return self.driver.submit(data).status

    def limit_of_rmp(self, number):
        answer = self.driver.call(QUERY_RMP, number, out_len=QUERY_BYTES).data
        assert get(answer, WQ + 0x20, 4, 0) == 4 and get(answer, WQ + 0x08, 23, 0) == self.pd
        return get(answer, WQ + 0x04, 15, 0)

    def number_of_xrc_srq(self):
        cq = self.driver.create_cq(self.eq)
        data = command(CREATE_XRC_SRQ, LIST)
        put(data, 0x10, 27, 24, 4)
        put(data, 0x14, 26, 24, 1)
        put(data, 0x14, 23, 0, self.driver.call(ALLOC_XRCD).number)
        put(data, 0x18, 23, 0, cq.number)
        put(data, 0x28, 23, 0, self.pd)
        put64(data, 0x38, self.driver.take(PAGE))
        return self.create(data)

    def arm_xrc_srq(self, number, limit):
        data = command(ARM_XRC_SRQ, number=number, op_mod=1)
        put(data, 0x0C, 15, 0, limit)
        return self.driver.submit(data).status

    def limit_of_xrc_srq(self, number):
        answer = self.driver.call(QUERY_XRC_SRQ, number, out_len=QUERY_BYTES).data
        assert get(answer, 0x10, 27, 24) == 4 and get(answer, 0x28, 23, 0) == self.pd
        return get(answer, 0x2C, 31, 16)


@pytest.fixture
def bench(running):
    return Bench(running)


def test_event_says_that_few_receives_are_left(bench):
    number = bench.number_of_rmp()
    assert bench.limit_of_rmp(number) == 0
    bench.driver.tell_eq(bench.eq, 0)
    assert bench.modify_rmp(number, 4) == OK
    assert await_irq(bench.irq) == 1  # none was posted
    assert bench.event(0) == number
    assert bench.limit_of_rmp(number) == 0  # an event is sent once


def test_modification_without_a_limit_changes_nothing(bench):
    number = bench.number_of_rmp()
    assert bench.modify_rmp(number, 4, sets=0) == OK
    assert bench.modify_rmp(number, 4, state=0) == BAD_PARAM
    assert bench.limit_of_rmp(number) == 0
    assert bench.modify_rmp(number + 1, 4) == BAD_RES


def test_event_of_an_xrc_queue(bench):
    number = bench.number_of_xrc_srq()
    assert bench.limit_of_xrc_srq(number) == 0
    bench.driver.tell_eq(bench.eq, 0)
    assert bench.arm_xrc_srq(number, 4) == OK
    assert await_irq(bench.irq) == 1
    assert bench.event(0) == number
    assert bench.arm_xrc_srq(number + 1, 4) == BAD_RES
