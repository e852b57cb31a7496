# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Targets of the dynamically connected transport as a driver has them: it drains them before it destroys them."""

import pytest

from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_INP_LEN,
    BAD_OUTP_LEN,
    BAD_PARAM,
    BAD_RES,
    BAD_RES_STATE,
    OK,
    command,
    get,
    put,
    put64,
)
from harness.vfio_user import await_irq

CREATE_DCT, DESTROY_DCT, DRAIN_DCT, QUERY_DCT, ARM_DCT = range(0x710, 0x715)
DRAINED = 0x1C  # the event
CONTEXT, BYTES = 0x10, 0x80  # of the longest mailboxes
ACTIVE, EMPTY = 0, 2  # states
KEY = 0x1122334455667788


class Bench:
    def __init__(self, driver):
        self.driver = driver
        self.irq = driver.enable_irqs()[1]
        self.eq = driver.create_eq(driver.call(ALLOC_UAR).number, vector=1, events=[DRAINED])
        self.pd = driver.call(ALLOC_PD).number
        self.cq = driver.create_cq(self.eq).number
        self.rmp = driver.create_rmp(self.pd)

    # pylint: disable-next=too-many-arguments
    def mailbox(self, pd=None, cq=None, rmp=None, mtu=3, port=1, size=BYTES):
        data = command(CREATE_DCT, size)
        if size == BYTES:
            put(data, CONTEXT + 0x04, 23, 0, 0xFFFFFF)
            put(data, CONTEXT + 0x08, 23, 0, self.cq if cq is None else cq)
            put(data, CONTEXT + 0x14, 23, 0, self.rmp if rmp is None else rmp)
            put(data, CONTEXT + 0x18, 23, 0, self.pd if pd is None else pd)
            put64(data, CONTEXT + 0x20, KEY)
            put(data, CONTEXT + 0x28, 26, 24, mtu)
            put(data, CONTEXT + 0x28, 23, 16, port)
        return data

    def create(self):
        return self.driver.execute(self.mailbox()).number

    def status(self, opcode, number, out_len=16):
        return self.driver.submit(command(opcode, number=number), out_len).status

    def state(self, number):
        answer = self.driver.call(QUERY_DCT, number, out_len=BYTES).data
        assert get(answer, CONTEXT + 0x20) == KEY >> 32 and get(answer, CONTEXT + 0x24) == KEY & 0xFFFFFFFF
        assert get(answer, CONTEXT + 0x14, 23, 0) == self.rmp
        return get(answer, CONTEXT, 27, 24)


@pytest.fixture
def bench(running):
    return Bench(running)


def test_drained_target_is_reported_and_destroyed(bench):
    number = bench.create()
    assert bench.state(number) == ACTIVE
    bench.driver.tell_eq(bench.eq, 0)
    assert bench.status(DRAIN_DCT, number) == OK
    assert await_irq(bench.irq) == 1
    kind, data = bench.driver.event(bench.eq, 0)
    assert kind == DRAINED and int.from_bytes(data[0x19:0x1C], "big") == number
    assert bench.state(number) == EMPTY
    assert bench.status(DRAIN_DCT, number) == BAD_RES_STATE
    assert bench.status(DESTROY_DCT, number) == OK
    assert bench.status(DESTROY_DCT, number) == BAD_RES


def test_commands_name_a_target(bench):
    number = bench.create()
    for opcode in (DRAIN_DCT, QUERY_DCT, ARM_DCT, DESTROY_DCT):
        assert bench.status(opcode, number + 1, BYTES) == BAD_RES
    assert bench.status(QUERY_DCT, number) == BAD_OUTP_LEN
    assert bench.status(ARM_DCT, number) == OK
    assert bench.status(DESTROY_DCT, number) == OK


@pytest.mark.parametrize(
    "wrong, status",
    [
        ({"pd": 0xFFFF}, BAD_RES),
        ({"cq": 0xFFFF}, BAD_RES),
        ({"rmp": 0}, BAD_RES),
        ({"mtu": 6}, BAD_PARAM),
        ({"port": 2}, BAD_PARAM),
        ({"size": 0x40}, BAD_INP_LEN),
    ],
)
def test_creation_with_a_wrong_field_is_refused(bench, wrong, status):
    assert bench.driver.submit(bench.mailbox(**wrong)).status == status
