# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command queue of a function: entries, mailboxes, and what the firmware says to commands."""

import struct

import pytest

from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_BLOCK,
    BAD_IN,
    BAD_IN_LEN,
    BAD_INP_LEN,
    BAD_OP,
    BAD_OUT,
    BAD_OUT_LEN,
    BAD_OUTP_LEN,
    BAD_PARAM,
    BAD_RES,
    BAD_RES_STATE,
    BAD_SYS_STATE,
    BAD_TOKEN,
    BAD_TYPE,
    BLOCK,
    CREATE_EQ,
    CREATE_MKEY,
    CREATE_SQ,
    DEALLOC_PD,
    DELIVERED,
    DESTROY_SQ,
    DISABLE_HCA,
    ENABLE_HCA,
    INIT_HCA,
    LIST,
    MODIFY_SQ,
    OK,
    PAGE,
    QUERY_ADAPTER,
    QUERY_HCA_CAP,
    QUERY_ISSI,
    RESERVED,
    SET_ISSI,
    TEARDOWN_HCA,
    Driver,
    command,
    get,
    put,
    put64,
)

CREATE_RQ, MODIFY_RQ, DESTROY_RQ, QUERY_RQ, QUERY_SQ = 0x908, 0x909, 0x90A, 0x90B, 0x907
RST, RDY, ERR = 0, 1, 3  # states of queues
CAPS = 16 + 4096
OUTSIDE = 1 << 40


def status(driver, opcode, **more):
    answer = driver.submit(command(opcode, **more))
    assert answer.delivery == DELIVERED
    return answer.status


# --- the life of a function


def test_function_starts_and_ends_in_order(driver):
    driver.call(ENABLE_HCA)
    driver.execute(command(QUERY_ISSI), 112)
    driver.initialise()
    assert get(driver.execute(command(QUERY_ADAPTER), 272).data, 0x28, 23) == 0x02C9
    for opcode in (TEARDOWN_HCA, DISABLE_HCA, ENABLE_HCA):
        driver.call(opcode)
    driver.initialise()


@pytest.mark.parametrize(
    "before, opcode",
    [([], INIT_HCA), ([], TEARDOWN_HCA), ([], DISABLE_HCA), ([ENABLE_HCA], ENABLE_HCA), ([ENABLE_HCA], TEARDOWN_HCA)]
    + [([ENABLE_HCA, INIT_HCA], wrong) for wrong in (ENABLE_HCA, INIT_HCA, DISABLE_HCA)]
    + [([ENABLE_HCA, INIT_HCA, TEARDOWN_HCA], TEARDOWN_HCA)],
)
def test_wrong_order_is_refused(driver, before, opcode):
    for one in before:
        if one == INIT_HCA:
            driver.give_pages()
        driver.call(one)
    assert status(driver, opcode) == BAD_SYS_STATE


@pytest.mark.parametrize("opcode", [ALLOC_PD, ALLOC_UAR])
def test_objects_need_an_initialised_function(driver, opcode):
    driver.call(ENABLE_HCA)
    assert status(driver, opcode) == BAD_SYS_STATE


def test_issi_of_another_kind_is_refused(driver):
    assert [status(driver, SET_ISSI, number=issi) for issi in (0, 1, 2)] == [BAD_PARAM, OK, BAD_PARAM]


def test_unknown_opcodes_are_bad_op(running):
    for opcode in (0, 1, 0xFF, 0x10C, 0x2FF, 0x999, 0xFFFF):
        assert status(running, opcode) == BAD_OP


def test_number_of_no_object_is_refused(running):
    for number in (0, 0x123456, 0xFFFFFF):
        assert status(running, DEALLOC_PD, number=number) == BAD_RES


def test_op_mod_that_a_command_has_not_is_refused(running):
    assert status(running, ALLOC_PD, op_mod=1) == BAD_OP


def test_refusal_has_a_syndrome_and_no_more(running):
    answer = running.submit(command(0x999), 64)
    assert answer.data[:4] == bytes([BAD_OP, 0, 0, 0]) and get(answer.data, 4) and not any(answer.data[8:])


@pytest.mark.parametrize("opcode, size", [(CREATE_EQ, LIST), (CREATE_MKEY, LIST), (0x400, LIST), (0x500, LIST)])
def test_command_that_is_too_short_is_refused(running, emulator, opcode, size):
    before = emulator.objects()
    for short in (16, 20, 0x40, size - 8, size - 1):
        assert running.submit(bytes(command(opcode, size))[:short]).status in (BAD_PARAM, BAD_INP_LEN, BAD_RES)
    assert emulator.objects() == before


def test_command_without_its_fields_is_refused(running):
    """A mailbox of 16 bytes for each opcode, for ASan."""
    for opcode in [*range(0x100, 0x110), *range(0x200, 0x204), *range(0x300, 0x304), *range(0x400, 0x404)] + [
        *range(0x500, 0x510), *range(0x700, 0x720), *range(0x740, 0x780), *range(0x800, 0x830), *range(0x900, 0x960)
    ] + [*range(0xA00, 0xA10), *range(0xB00, 0xB20)]:  # fmt: skip
        if opcode not in (ENABLE_HCA, DISABLE_HCA, INIT_HCA, TEARDOWN_HCA):
            assert running.submit(command(opcode)).delivery == DELIVERED


def create_sq(driver, record):
    """The answer to CREATE_SQ."""
    uar = driver.call(ALLOC_UAR).number
    cq = driver.create_cq(driver.create_eq(uar))
    data, context, queue = command(CREATE_SQ, LIST), 0x20, 0x50
    put(data, context + 0x08, 23, 0, cq.number)
    put(data, queue + 0x0C, 23, 0, uar)
    put64(data, queue + 0x10, record)
    put(data, queue + 0x20, 19, 16, 6)
    put(data, queue + 0x20, 4, 0, 6)
    return driver.submit(driver.pages(data, [driver.take(PAGE)]))


def test_change_of_a_send_queue_needs_its_context(running):
    answer = create_sq(running, running.take(PAGE))
    assert answer.status == OK
    assert running.submit(command(MODIFY_SQ, number=answer.number)).status == BAD_INP_LEN
    running.call(DESTROY_SQ, answer.number)


def changed_to(opcode, number, state, before=0):
    data = command(opcode, LIST, number=number)
    put(data, 0x08, 31, 28, before)
    put(data, 0x20, 23, 20, state)
    return data


def state_of(driver, opcode, number):
    return get(driver.call(opcode, number, out_len=LIST).data, 0x20, 23, 20)


def test_send_queue_has_the_state_to_which_it_is_changed(running):
    number = create_sq(running, running.take(PAGE)).number
    assert state_of(running, QUERY_SQ, number) == RST
    for state in (RDY, ERR, RST):
        assert running.submit(changed_to(MODIFY_SQ, number, state)).status == OK
        assert state_of(running, QUERY_SQ, number) == state
    running.call(DESTROY_SQ, number)
    assert status(running, QUERY_SQ, number=number) == BAD_RES


def test_receive_queue_has_the_state_to_which_it_is_changed(running):
    data = command(CREATE_RQ, LIST)
    put(data, 0x28, 23, 0, 0x1234)
    number = running.execute(data).number
    assert get(running.call(QUERY_RQ, number, out_len=LIST).data, 0x28, 23, 0) == 0x1234
    assert state_of(running, QUERY_RQ, number) == RST
    assert running.submit(changed_to(MODIFY_RQ, number, ERR, before=RDY)).status == BAD_RES_STATE
    for before, state in ((RST, RDY), (RDY, ERR), (ERR, RST)):
        assert running.submit(changed_to(MODIFY_RQ, number, state, before)).status == OK
        assert state_of(running, QUERY_RQ, number) == state
    running.call(DESTROY_RQ, number)
    assert status(running, QUERY_RQ, number=number) == BAD_RES


def test_doorbell_record_that_is_no_memory_is_refused(running):
    for place in (OUTSIDE, 0, 2**64 - 8, running.memory.address + running.memory.size):
        assert create_sq(running, place).status == BAD_PARAM


def test_answer_that_does_not_fit_is_refused(running):
    assert running.submit(command(QUERY_ADAPTER), 64).status == BAD_OUTP_LEN


def test_answer_comes_by_as_many_mailboxes_as_it_needs(driver):
    driver.call(ENABLE_HCA)
    whole = driver.execute(command(QUERY_HCA_CAP, op_mod=1), CAPS).data
    assert len(whole) == CAPS and any(whole[16:528]) and get(whole, 0) == 0
    assert driver.execute(command(QUERY_HCA_CAP, op_mod=1), CAPS).data == whole


# --- entries


@pytest.mark.parametrize(
    "fields, delivery",
    [
        ({"type": 0}, BAD_TYPE),
        ({"type": 6}, BAD_TYPE),
        ({"type": 0xFF}, BAD_TYPE),
        ({"reserved": 1}, RESERVED),
        ({"reserved": 0x800000}, RESERVED),
        ({"in_len": 0}, BAD_IN_LEN),
        ({"in_len": 15}, BAD_IN_LEN),
        ({"in_len": (1 << 20) + 1}, BAD_IN_LEN),
        ({"in_len": 0xFFFFFFFF}, BAD_IN_LEN),
        ({"out_len": 0}, BAD_OUT_LEN),
        ({"out_len": 7}, BAD_OUT_LEN),
        ({"out_len": 0xFFFFFFFF}, BAD_OUT_LEN),
        ({"in_len": 17}, BAD_IN),
        ({"in_len": 64, "in_pointer": OUTSIDE}, BAD_IN),
        ({"in_len": 64, "in_pointer": 2**64 - 512}, BAD_IN),
        ({"out_len": 17, "out_pointer": 0}, BAD_OUT),
        ({"out_len": 64, "out_pointer": OUTSIDE}, BAD_OUT),
        ({"out_len": 64, "out_pointer": 2**64 - 512}, BAD_OUT),
    ],
)
def test_entry_that_is_wrong_is_not_executed(driver, fields, delivery):
    out_len = fields.pop("out_len", 16)
    driver.entry(command(ENABLE_HCA), **fields)
    if out_len != 16:
        raw = bytearray(driver.peek(driver.queue, 64))
        struct.pack_into(">I", raw, 56, out_len)
        driver.poke(driver.queue, raw)
    driver.ring()
    answer = driver.answer()
    assert answer.delivery == delivery and not any(answer.data)
    driver.call(ENABLE_HCA)  # as it was not


@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize(
    "wrong, delivery", [("token", BAD_TOKEN), ("number", BAD_BLOCK), ("pointer", None), ("align", None)]
)
def test_mailbox_that_is_wrong_is_not_executed(running, emulator, out, which, wrong, delivery):
    size = 16 + 3 * 512
    data = bytes(command(ALLOC_PD)).ljust(16 if out else size, b"\0")
    out_len = size if out else 16
    running.entry(data, out_len)
    box = running.box(0, out, which)
    if wrong == "token":
        running.poke(box + 573, b"\x77")
    elif wrong == "number":
        running.poke(box + 568, struct.pack(">I", which + 1))
    else:
        place = OUTSIDE if wrong == "pointer" else box + 8
        if which:
            running.poke(running.box(0, out, which - 1) + 560, struct.pack(">Q", place))
        else:
            entry = bytearray(running.peek(running.queue, 64))
            struct.pack_into(">Q", entry, 48 if out else 8, place)
            running.poke(running.queue, entry)
    running.ring()
    answer = running.answer()
    assert answer.delivery == (delivery or (BAD_OUT if out else BAD_IN))
    assert emulator.objects()["pds"] == 0


def test_chain_that_leads_back_is_refused(running):
    running.entry(bytes(command(ALLOC_PD)).ljust(1 << 12, b"\0"))
    running.poke(running.box(0, 0, 2) + 560, struct.pack(">Q", running.box(0, 0, 0)))
    running.ring()
    assert running.answer().delivery == BAD_BLOCK


def test_rest_of_a_mailbox_is_not_written(running):
    size = 16 + 100
    running.entry(command(QUERY_ADAPTER), size)
    running.poke(running.box(0, 1, 0), b"\xaa" * 512)
    running.ring()
    assert running.peek(running.box(0, 1, 0), 512)[100:] == b"\xaa" * 412
    assert running.peek(running.box(0, 1, 0), BLOCK)[512:560] == bytes(48)


def test_entry_of_the_driver_is_left_alone(driver):
    driver.entry(command(ENABLE_HCA), owner=0)
    before = driver.peek(driver.queue, PAGE)
    driver.ring(0xFFFFFFFF)
    assert driver.peek(driver.queue, PAGE) == before


def test_command_is_executed_once(driver):
    driver.call(ENABLE_HCA)
    driver.ring()
    assert driver.answer().status == OK
    assert driver.submit(command(ENABLE_HCA)).status == BAD_SYS_STATE


def test_same_entry_takes_a_second_command(driver):
    for number in range(3):
        assert driver.submit(command(SET_ISSI, number=1), slot=7, token=number).status == OK


def test_all_32_entries_are_served_by_one_doorbell(running, emulator):
    for slot in range(32):
        running.entry(command(ALLOC_PD), slot=slot, token=slot)
    running.ring(0xFFFFFFFF)
    answers = [running.answer(slot) for slot in range(32)]
    assert all(answer.delivery == answer.status == 0 for answer in answers)
    assert len({answer.number for answer in answers}) == 32 and emulator.objects()["pds"] == 32


def test_only_entries_of_the_vector_are_served(running):
    for slot in (0, 5, 31):
        running.entry(command(ALLOC_PD), slot=slot)
    running.ring(1 << 5)
    assert [running.answer(slot) is not None for slot in (0, 5, 31)] == [False, True, False]
    running.ring(1 << 31 | 1)
    assert running.answer(0).status == running.answer(31).status == OK


def test_command_queue_that_is_no_memory_stops_nothing(driver):
    for place in (OUTSIDE, 2**64 - PAGE, 0, driver.memory.address + driver.memory.size):
        driver.attach(place)
        driver.ring(0xFFFFFFFF)
    driver.attach()
    driver.call(ENABLE_HCA)


def test_without_a_command_queue_memory_at_0_is_no_command(function):
    with Driver(function.path, address=0) as driver:
        driver.attach(0)
        driver.client.reset()
        driver.entry(command(ENABLE_HCA))
        driver.ring()
        assert driver.answer() is None
