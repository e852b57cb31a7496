# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The objects that only the driver of a function has, and what it asks and tells the card. Rows and bits are those of
Linux's mlx5_ifc.h."""

import pytest

from harness.machine import await_true
from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_INP_LEN,
    BAD_OP,
    BAD_OUTP_LEN,
    BAD_PARAM,
    BAD_RES,
    BAD_SYS_STATE,
    CREATE_CQ,
    CREATE_MKEY,
    CREATE_QP,
    DEALLOC_PD,
    INIT2RTR,
    LIMIT,
    OK,
    PAGE,
    QUERY_EQ,
    RST2INIT,
    RTR2RTS,
    Refused,
    command,
    get,
    put,
)

SET_HCA_CAP, SET_DRIVER_VERSION, QUERY_SPECIAL_CONTEXTS = 0x109, 0x10D, 0x203
RTS2RTS, QUERY_QP, INIT2INIT, OPTPAR_Q_KEY = 0x505, 0x50B, 0x50E, 1 << 5
MAD_IFC, ACCESS_REG = 0x50D, 0x805
CREATE_XRC_SRQ, DESTROY_XRC_SRQ = 0x705, 0x706
QUERY_NIC_VPORT_CONTEXT, MODIFY_NIC_VPORT_CONTEXT, SET_ROCE_ADDRESS, QUERY_HCA_VPORT_PKEY = 0x754, 0x755, 0x761, 0x765
QUERY_VPORT_COUNTER, ALLOC_Q_COUNTER, DEALLOC_Q_COUNTER, QUERY_Q_COUNTER = 0x770, 0x771, 0x772, 0x773
ALLOC_XRCD, DEALLOC_XRCD, ALLOC_TRANSPORT_DOMAIN, DEALLOC_TRANSPORT_DOMAIN = 0x80E, 0x80F, 0x816, 0x817
SET_L2_TABLE_ENTRY, DELETE_L2_TABLE_ENTRY = 0x829, 0x82B
CREATE_TIR, MODIFY_TIR, DESTROY_TIR = 0x900, 0x901, 0x902
CREATE_RQ, MODIFY_RQ, DESTROY_RQ, DESTROY_RMP = 0x908, 0x909, 0x90A, 0x90E
CREATE_TIS, MODIFY_TIS, DESTROY_TIS = 0x912, 0x913, 0x914
CREATE_RQT, MODIFY_RQT, DESTROY_RQT = 0x916, 0x917, 0x918
SET_FLOW_TABLE_ROOT, CREATE_FLOW_TABLE, DESTROY_FLOW_TABLE = 0x92F, 0x930, 0x931
CREATE_FLOW_GROUP, DESTROY_FLOW_GROUP = 0x933, 0x934
SET_FLOW_TABLE_ENTRY, DELETE_FLOW_TABLE_ENTRY, MODIFY_FLOW_TABLE = 0x936, 0x938, 0x93C
CREATE_UCTX, DESTROY_UCTX, DESTROY_GENERAL_OBJECT = 0xA04, 0xA06, 0xA03
CREATE_UMEM, DESTROY_UMEM = 0xA08, 0xA0A

LONG = 1024  # bytes; as much as any of these commands has
PAIRS = [
    (ALLOC_XRCD, DEALLOC_XRCD),
    (ALLOC_TRANSPORT_DOMAIN, DEALLOC_TRANSPORT_DOMAIN),
    (ALLOC_Q_COUNTER, DEALLOC_Q_COUNTER),
    (CREATE_UCTX, DESTROY_UCTX),
    (CREATE_TIS, DESTROY_TIS),
    (CREATE_TIR, DESTROY_TIR),
    (CREATE_RQT, DESTROY_RQT),
    (CREATE_RQ, DESTROY_RQ),
]
CHANGES = [(CREATE_TIS, MODIFY_TIS), (CREATE_TIR, MODIFY_TIR), (CREATE_RQT, MODIFY_RQT), (CREATE_RQ, MODIFY_RQ)]
REGISTERS = {"PMTU": (0x5003, 16), "PTYS": (0x5004, 64), "PAOS": (0x5006, 16)}


def call(driver, opcode, out_len=16, **more):
    return driver.execute(command(opcode, size=LONG, **more), out_len)


def status(driver, opcode, out_len=16, **more):
    return driver.submit(command(opcode, size=LONG, **more), out_len).status



# --- objects


@pytest.mark.parametrize("create, destroy", PAIRS)
def test_objects_have_numbers_of_their_own_until_they_are_destroyed(running, create, destroy):
    numbers = [call(running, create).number for _ in range(3)]
    assert len(set(numbers)) == 3
    for number in numbers:
        assert status(running, destroy, number=number) == OK
        assert status(running, destroy, number=number) == BAD_RES


@pytest.mark.parametrize("create, destroy", PAIRS)
def test_object_of_one_kind_is_none_of_another(running, create, destroy):
    number = call(running, create).number
    for _, other in PAIRS:
        if other != destroy:
            assert status(running, other, number=number) == BAD_RES
    assert status(running, destroy, number=number) == OK


def of_user(opcode, uid, number=0):
    mailbox = command(opcode, size=LONG, number=number)
    put(mailbox, 0, 15, 0, uid)
    return mailbox


def test_commands_for_a_user_reach_its_own_objects_and_those_of_the_kernel(running):
    first, other, kernels, for_all = 7, 8, 0, 0xFFFF

    def key_in(pd, uid):
        mailbox = of_user(CREATE_MKEY, uid)
        put(mailbox, 0x10, 13, 10, 0xF)
        put(mailbox, 0x14, 31, 8, 0xFFFFFF)
        put(mailbox, 0x1C, 23, 0, pd)
        put(mailbox, 0x1C, 31, 31, 1)
        return running.submit(mailbox).status

    pd, *shared = (running.execute(of_user(ALLOC_PD, uid)).number for uid in (first, kernels, for_all))
    assert [key_in(pd, uid) for uid in (first, kernels, other)] == [OK, OK, BAD_RES]
    assert [key_in(one, uid) for one in shared for uid in (first, kernels, other)] == [OK] * 6
    assert running.submit(of_user(DEALLOC_PD, other, pd)).status == BAD_RES
    assert running.submit(of_user(DEALLOC_PD, first, pd)).status == OK


class Umems:
    """Commands of programs, which name memory by umems: the driver says which."""

    def __init__(self, driver):
        self.driver, self.uar = driver, driver.call(ALLOC_UAR).number
        self.eq = driver.create_eq(self.uar)
        self.pd = driver.call(ALLOC_PD).number
        self.cq = driver.create_cq(self.eq)

    def create(self, uid):
        mailbox = command(CREATE_UMEM, size=0x30)
        put(mailbox, 0, 15, 0, uid)
        put(mailbox, 0x2C, 31, 0, 1)
        return self.driver.execute(self.driver.pages(mailbox, [self.driver.take(PAGE)])).number

    def destroy(self, uid, umem):
        return self.driver.submit(of_user(DESTROY_UMEM, uid, umem)).status

    def mkey(self, uid, umem, _):
        mailbox = of_user(CREATE_MKEY, uid)
        put(mailbox, 0x0C, 30, 30, 1)
        put(mailbox, 0x10, 13, 8, 0x3D)  # of pages
        put(mailbox, 0x14, 31, 8, 0xFFFFFF)
        put(mailbox, 0x1C, 23, 0, self.pd)
        put(mailbox, 0x2C, 31, 0, PAGE)
        put(mailbox, 0x64, 31, 0, umem)
        return self.driver.submit(mailbox).status

    def cq_of(self, uid, ring, record):
        mailbox = of_user(CREATE_CQ, uid)
        put(mailbox, 0x10, 25, 25, 1)
        put(mailbox, 0x14, 31, 0, record)
        put(mailbox, 0x1C, 28, 24, 4)
        put(mailbox, 0x1C, 23, 0, self.uar)
        put(mailbox, 0x24, 7, 0, self.eq.number)
        put(mailbox, 0x58, 31, 0, ring)
        put(mailbox, 0x5C, 31, 31, 1)
        return self.driver.submit(mailbox).status

    def qp_of(self, uid, ring, record):
        mailbox, qpc = of_user(CREATE_QP, uid), 0x18
        put(mailbox, qpc + 0x04, 23, 0, self.pd)
        put(mailbox, qpc + 0x08, 14, 11, 4)
        put(mailbox, qpc + 0x0C, 23, 0, self.uar)
        for row in (0x7C, 0x9C):
            put(mailbox, qpc + row, 23, 0, self.cq.number)
        put(mailbox, qpc + 0xAC, 26, 24, 3)
        put(mailbox, qpc + 0xD0, 28, 28, 1)
        put(mailbox, qpc + 0xE4, 31, 0, record)
        put(mailbox, 0x108, 31, 0, ring)
        put(mailbox, 0x10C, 31, 31, 1)
        return self.driver.submit(mailbox).status


@pytest.mark.parametrize(
    "create",
    [
        Umems.mkey,
        Umems.cq_of,
        lambda umems, uid, umem, own: umems.cq_of(uid, own, umem),
        Umems.qp_of,
        lambda umems, uid, umem, own: umems.qp_of(uid, own, umem),
    ],
    ids=["mkey", "ring of a cq", "record of a cq", "ring of a qp", "record of a qp"],
)
def test_program_names_only_umems_of_its_own(running, create):
    """None of another program, and none by which the function itself names the guest's memory."""
    first, other, umems = 7, 8, Umems(running)
    umem, foreign = umems.create(first), umems.create(other)
    assert create(umems, first, umem, umem) == OK
    for number in range(umem + 8):
        if number != umem:
            assert create(umems, first, number, umem) != OK, f"umem {number}, but {umem} is its own"
    assert create(umems, 0, foreign, foreign) == OK


def test_program_destroys_only_umems_of_its_own(running):
    umems = Umems(running)
    umem = umems.create(7)
    assert umems.destroy(8, umem) == BAD_RES
    assert umems.destroy(7, umem) == OK
    assert umems.destroy(7, umem) == BAD_RES


@pytest.mark.parametrize(
    "create, most", [(ALLOC_Q_COUNTER, 255), (CREATE_UCTX, 1023), (ALLOC_TRANSPORT_DOMAIN, 1023), (CREATE_TIS, 4096)]
)
def test_number_of_objects_is_limited(running, create, most):
    """Each object costs the card memory, and those that come after it time."""
    made = 0
    running.give_pages(300)
    while made <= most and status(running, create) == OK:
        made += 1
    assert most - 100 <= made <= most and status(running, create) == LIMIT


@pytest.mark.parametrize("create, change", CHANGES)
def test_object_that_exists_is_changed(running, create, change):
    number = call(running, create).number
    assert status(running, change, number=number) == OK
    assert status(running, change, number=number + 1) == BAD_RES


def test_flow_tables_and_groups_are_named_by_fields_of_their_own(running):
    table = call(running, CREATE_FLOW_TABLE).number
    group = call(running, CREATE_FLOW_GROUP).number
    for opcode in (SET_FLOW_TABLE_ROOT, SET_FLOW_TABLE_ENTRY, DELETE_FLOW_TABLE_ENTRY, MODIFY_FLOW_TABLE):
        assert status(running, opcode) == OK
    for opcode, row, number in ((DESTROY_FLOW_GROUP, 0x18, group), (DESTROY_FLOW_TABLE, 0x14, table)):
        data = command(opcode, size=64)
        put(data, row, 31 if row == 0x18 else 23, 0, number)
        assert [running.submit(data).status for _ in range(2)] == [OK, BAD_RES]


# General objects: mkeys of other functions (aliases), and data encryption keys.
ALIAS, DEK = 0xff01, 0xc


@pytest.mark.parametrize("opcode, kind", [(DESTROY_XRC_SRQ, 0), (DESTROY_RMP, 0), (QUERY_EQ, 0),
                                          (DESTROY_GENERAL_OBJECT, ALIAS), (DESTROY_GENERAL_OBJECT, DEK)])
def test_object_that_does_not_exist_is_told(running, opcode, kind):
    assert status(running, opcode, out_len=LONG, number=77, op_mod=kind) == BAD_RES


def test_general_object_of_an_unknown_type_is_told(running):
    assert status(running, DESTROY_GENERAL_OBJECT, number=77, op_mod=1) == BAD_OP


def test_shared_receive_queue_of_nothing_is_refused(running):
    assert status(running, CREATE_XRC_SRQ) in (BAD_PARAM, BAD_RES)


# --- what the driver asks and tells


@pytest.mark.parametrize("opcode", [SET_DRIVER_VERSION, SET_L2_TABLE_ENTRY, DELETE_L2_TABLE_ENTRY, MODIFY_NIC_VPORT_CONTEXT])
def test_what_changes_nothing_is_taken(running, opcode):
    assert status(running, opcode) == OK


def test_capabilities_are_set_before_the_function_is_initialised(driver):
    driver.call(0x104)
    data = command(SET_HCA_CAP, size=16 + 4096)
    assert driver.submit(data).status == OK
    driver.initialise()
    assert driver.submit(data).status == BAD_SYS_STATE
    assert driver.submit(command(SET_HCA_CAP)).status == BAD_INP_LEN


def test_special_contexts_have_the_null_key(running):
    assert get(call(running, QUERY_SPECIAL_CONTEXTS, 32).data, 0x10) != 0
    assert status(running, QUERY_SPECIAL_CONTEXTS, 16) == BAD_OUTP_LEN


def test_roce_is_on_when_the_driver_wants_it(running):
    def roce():
        return get(call(running, QUERY_NIC_VPORT_CONTEXT, 16 + 256).data, 0x10, 0, 0)

    data = command(MODIFY_NIC_VPORT_CONTEXT, size=512)
    before = roce()
    put(data, 0x0C, 1, 1, 1)  # what to change
    put(data, 0x100, 0, 0, not before)
    assert running.submit(data).status == OK
    assert roce() != before


def test_addresses_of_other_functions_are_not_told(running):
    assert status(running, QUERY_NIC_VPORT_CONTEXT, 16 + 256, op_mod=0) == OK
    data = command(QUERY_NIC_VPORT_CONTEXT, size=64)
    put(data, 0x08, 31, 31, 1)
    assert running.submit(data, 16 + 256).status == BAD_PARAM


def test_address_is_an_entry_of_the_gid_table(running):
    data = command(SET_ROCE_ADDRESS, size=48, number=0)
    for row, word in zip(range(0x10, 0x20, 4), (0, 0, 0xFFFF, 0x0A2C0001)):
        put(data, row, 31, 0, word)
    for index in (3, 5):  # Linux puts the same one into entries of its own and of the interface
        put(data, 0x08, 31, 16, index)
        assert running.submit(data).status == OK
    assert running.submit(command(SET_ROCE_ADDRESS, size=48)).status == OK  # none: removed
    put(data, 0x08, 31, 16, 0xFFFF)
    assert running.submit(data).status == BAD_PARAM


def test_default_partition_is_the_first_key(running):
    assert get(call(running, QUERY_HCA_VPORT_PKEY, 16 + 4).data, 0x10, 15, 0) == 0xFFFF
    data = command(QUERY_HCA_VPORT_PKEY, size=16)
    put(data, 0x0C, 15, 0, 0x7FFF)
    assert running.submit(data, 16 + 4).status == BAD_PARAM


def counters(driver, counter_set, clear=0):
    data = command(QUERY_Q_COUNTER, size=0x20)
    put(data, 0x18, 31, 31, clear)
    put(data, 0x1C, 7, 0, counter_set)
    return driver.execute(data, 0x100).data


def test_set_counts_the_requests_of_the_function_from_its_allocation(running):
    first = call(running, ALLOC_Q_COUNTER).number
    before = call(running, QUERY_VPORT_COUNTER, 0x210).data
    uar, pd = running.call(ALLOC_UAR).number, running.call(ALLOC_PD).number
    cq = running.create_cq(running.create_eq(uar))
    qp = running.connect_to_itself(running.create_qp(pd, cq))
    key, at = running.create_mkey(pd), running.take(PAGE)
    for i in range(3):
        running.rdma_write(qp, i, (at, key), (at + 64, key), 64)
    await_true(lambda: running.completion(cq, 2))
    after = call(running, QUERY_VPORT_COUNTER, 0x210).data
    assert get(counters(running, first), 0x10) == 3
    for packets in (0x34, 0x44):  # received and transmitted
        assert get(after, packets) - get(before, packets) >= 3
        assert get(after, packets + 8) - get(before, packets + 8) >= 3 * 64
    second = call(running, ALLOC_Q_COUNTER).number
    assert get(counters(running, second), 0x10) == 0
    assert [get(counters(running, first, clear=1), 0x10), get(counters(running, first), 0x10)] == [3, 0]


def test_counters_of_no_set_are_not_told(running):
    counter_set = call(running, ALLOC_Q_COUNTER).number
    assert status(running, DEALLOC_Q_COUNTER, number=counter_set) == OK
    with pytest.raises(Refused) as refused:
        counters(running, counter_set)
    assert refused.value.status == BAD_RES
    assert status(running, QUERY_VPORT_COUNTER, 16) == BAD_OUTP_LEN


@pytest.mark.parametrize("register", REGISTERS)
def test_registers_of_the_port_are_read(running, register):
    number, size = REGISTERS[register]
    data = command(ACCESS_REG, size=16 + size, number=number, op_mod=1)
    assert any(running.execute(data, 16 + size).data[16:])
    assert running.submit(data, 16).status == BAD_OUTP_LEN


def test_register_that_is_unknown_is_refused(running):
    assert status(running, ACCESS_REG, LONG, number=0x1234, op_mod=1) in (BAD_OP, BAD_PARAM)


def test_port_of_ethernet_has_no_subnet(running):
    answer = call(running, MAD_IFC, 16 + 256).data
    assert get(answer, 0x10 + 4, 31, 16) == 0x0C  # no such attribute
    assert running.submit(command(MAD_IFC), 16 + 256).status == BAD_INP_LEN


def test_transition_sets_an_optional_parameter_if_its_mask_says_so(running):
    """The Q_Key: INIT sets it in any case, the later transitions only by the mask."""
    pd = running.call(ALLOC_PD).number
    qp = running.create_qp(pd, running.create_cq(running.create_eq(running.call(ALLOC_UAR).number, vector=1)))

    def transit(opcode, q_key, mask):
        mailbox = command(opcode, size=LONG, number=qp.number)
        put(mailbox, 0x10, 31, 0, mask)
        put(mailbox, 0x18 + 0xA8, 31, 0, q_key)
        put(mailbox, 0x18 + 0x3C, 23, 16, 1)
        put(mailbox, 0x18 + 0x08, 31, 29, 3)
        put(mailbox, 0x18 + 0x18, 31, 31, 1)
        running.execute(mailbox)
        return get(call(running, QUERY_QP, 0x118, number=qp.number).data, 0x18 + 0xA8)

    assert transit(RST2INIT, 0x11, 0) == 0x11
    assert [transit(INIT2INIT, 0x22, 0), transit(INIT2INIT, 0x22, OPTPAR_Q_KEY)] == [0x11, 0x22]
    assert transit(INIT2RTR, 0x33, OPTPAR_Q_KEY) == 0x33
    assert transit(RTR2RTS, 0x44, 0) == 0x33
    assert [transit(RTS2RTS, 0x44, 0), transit(RTS2RTS, 0x44, OPTPAR_Q_KEY)] == [0x33, 0x44]
