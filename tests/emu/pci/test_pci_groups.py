# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Multicast groups of queue pairs that a driver creates."""

import ipaddress

import pytest

from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    ATTACH_TO_MCG,
    BAD_INP_LEN,
    BAD_OP,
    BAD_PARAM,
    BAD_RES,
    DESTROY_QP,
    DETACH_FROM_MCG,
    LIMIT,
    OK,
    QUERY_HCA_CAP,
    RC,
    UD,
    command,
    get,
    put,
)

GROUP = ipaddress.IPv6Address("ff0e::1234")


@pytest.fixture
def create(running):
    """create(service): the number of a new queue pair."""
    pd = running.call(ALLOC_PD).number
    cq = running.create_cq(running.create_eq(running.call(ALLOC_UAR).number))
    ring, record = running.take(4096), running.take(4096)
    return lambda service=UD: running.create_qp(pd, cq, ring=ring, record=record, service=service).number


def request(opcode, qpn, group=GROUP):
    data = command(opcode, 32, qpn)
    data[16:32] = ipaddress.IPv6Address(group).packed
    return data


def change(driver, opcode, qpn, group=GROUP):
    return driver.submit(request(opcode, qpn, group)).status


def attachments(emulator):
    return emulator.objects()["attachments"]


def test_queue_pair_is_attached_once_and_detached(running, create, emulator):
    qpn, before = create(), attachments(emulator)
    for _ in range(2):
        assert change(running, ATTACH_TO_MCG, qpn) == OK
        assert attachments(emulator) == before + 1
    assert change(running, ATTACH_TO_MCG, qpn, "ff0e::1235") == OK
    assert attachments(emulator) == before + 2
    for expected in (OK, BAD_PARAM):
        assert change(running, DETACH_FROM_MCG, qpn) == expected
        assert attachments(emulator) == before + 1
    running.call(DESTROY_QP, qpn)
    assert attachments(emulator) == before


def test_reset_ends_the_attachments(running, create, emulator):
    before = attachments(emulator)
    assert change(running, ATTACH_TO_MCG, create()) == OK
    assert attachments(emulator) == before + 1
    running.client.reset()
    assert attachments(emulator) == before


def test_limit_of_a_group_is_what_the_capabilities_say(running, create):
    caps = running.call(QUERY_HCA_CAP, out_len=16 + 4096, op_mod=1).data[16:]
    limit = get(caps, 0x5C, 24)
    assert get(caps, 0x60, 7) == 10
    assert get(caps, 0x44, 23, 23) == 1  # a queue pair may refuse copies of its own datagrams
    for _ in range(limit):
        assert change(running, ATTACH_TO_MCG, create()) == OK
    assert change(running, ATTACH_TO_MCG, create()) == LIMIT


def test_wrong_attachments_are_refused(running, create):
    qpn = create()
    for opcode in (ATTACH_TO_MCG, DETACH_FROM_MCG):
        assert change(running, opcode, qpn, "fe80::1") == BAD_PARAM
        assert change(running, opcode, qpn, "::") == BAD_PARAM
        assert change(running, opcode, create(RC)) == BAD_PARAM
        assert change(running, opcode, 0xABCDEF) == BAD_RES
        for row, high in ((0x08, 31), (0x0C, 31)):
            data = request(opcode, qpn)
            put(data, row, high, high, 1)
            assert running.submit(data).status == BAD_PARAM
        data = request(opcode, qpn)
        put(data, 4, 15, 0, 1)
        assert running.submit(data).status == BAD_OP
        assert running.submit(request(opcode, qpn)[:24]).status == BAD_INP_LEN
