# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A small life of a driver: its objects, bytes from one buffer of the guest to another, and the end."""

import struct

import pytest

from harness.machine import await_true
from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_PARAM,
    BAD_RES,
    COMPLETION_EVENT,
    DEALLOC_PD,
    DEALLOC_UAR,
    DESTROY_CQ,
    DESTROY_EQ,
    DESTROY_MKEY,
    DESTROY_QP,
    INIT_HCA,
    PAGE,
    QP_2ERR,
    RES_BUSY,
    TEARDOWN_HCA,
    Driver,
    Refused,
)
from harness.vfio_user import READABLE, GuestMemory, await_irq

REQUEST, REQUEST_ERROR = 0x0, 0xD
REMOTE_ACCESS, LOCAL_PROTECTION, REMOTE_OPERATION = 0x13, 0x04, 0x14  # syndromes of completions
DATA = bytes(range(256)) * 40


class Life:
    """The objects that a transfer needs."""

    def __init__(self, driver):
        self.driver = driver
        self.irq = driver.enable_irqs()[1]
        self.uar = driver.call(ALLOC_UAR).number
        self.pd = driver.call(ALLOC_PD).number
        self.eq = driver.create_eq(self.uar, vector=1)
        self.cq = driver.create_cq(self.eq)
        self.qp = driver.connect_to_itself(driver.create_qp(self.pd, self.cq))
        self.everything = driver.create_mkey(self.pd)
        driver.tell_eq(self.eq, 0)
        self.index = 0

    def write(self, local, remote, size):
        """The completion of an RDMA write, which the interrupt reports."""
        driver, index = self.driver, self.index
        self.index += 1
        driver.arm_cq(self.cq, index, index & 3)
        driver.rdma_write(self.qp, index, local, remote, size)
        await_irq(self.irq)
        kind, data = driver.event(self.eq, index)
        assert (kind, struct.unpack(">I", data[24:28])[0]) == (COMPLETION_EVENT, self.cq.number)
        driver.tell_eq(self.eq, index + 1)
        return driver.completion(self.cq, index)

    def end(self):
        """Destroys all, in the order of a driver."""
        for opcode, number in (
            (DESTROY_QP, self.qp.number),
            (DESTROY_MKEY, self.everything >> 8),
            (DESTROY_CQ, self.cq.number),
            (DESTROY_EQ, self.eq.number),
            (DEALLOC_PD, self.pd),
            (DEALLOC_UAR, self.uar),
            (TEARDOWN_HCA, 0),
        ):
            self.driver.call(opcode, number)


@pytest.fixture
def life(running):
    return Life(running)


def buffers(driver):
    source, target = driver.take(len(DATA)), driver.take(len(DATA))
    driver.poke(source, DATA)
    return source, target


def test_rdma_write_moves_bytes_between_buffers_of_the_guest(life):
    source, target = buffers(life.driver)
    for part in range(3):
        at, size = part * 3000, 3000
        entry = life.write((source + at, life.everything), (target + at, life.everything), size)
        assert entry[63] >> 4 == REQUEST, f"syndrome {entry[55]:#x}"
        assert struct.unpack(">H", entry[60:62])[0] == part
        assert int.from_bytes(entry[57:60], "big") == life.qp.number
    assert life.driver.peek(target, 9000) == DATA[:9000]
    assert not any(life.driver.peek(target + 9000, 1000))


def test_scattered_pages_are_one_range_of_a_key(life):
    driver = life.driver
    source, pages = buffers(driver)[0], [driver.take(PAGE) for _ in range(5)]
    order = [pages[i] for i in (3, 0, 4)]
    start = 0x7000_0000_0123
    key = driver.create_mkey(life.pd, start, 2 * PAGE + 0x100, order)
    entry = life.write((source, life.everything), (start, key), 2 * PAGE + 0x100)
    assert entry[63] >> 4 == REQUEST, f"syndrome {entry[55]:#x}"
    seen = b"".join(driver.peek(page, PAGE) for page in order)
    assert seen == (bytes(0x123) + DATA[: 2 * PAGE + 0x100]).ljust(3 * PAGE, b"\0")
    assert not any(driver.peek(pages[1], PAGE) + driver.peek(pages[2], PAGE))
    back = driver.take(PAGE)
    assert life.write((start + PAGE, key), (back, life.everything), 100)[63] >> 4 == REQUEST
    assert driver.peek(back, 100) == DATA[PAGE : PAGE + 100]
    driver.call(DESTROY_MKEY, key >> 8)


def test_pages_of_a_key_may_be_larger(life):
    driver, size = life.driver, 1 << 16
    source, base = buffers(driver)[0], driver.take(4 * size)
    base = (base + size - 1) // size * size
    start = 0x5000_0000_0000 + 0xFF80
    key = driver.create_mkey(life.pd, start, 0x1000, [base + 2 * size, base], log_page=16)
    assert life.write((source, life.everything), (start, key), 0x1000)[63] >> 4 == REQUEST
    assert driver.peek(base + 2 * size + 0xFF80, 0x80) + driver.peek(base, 0xF80) == DATA[:0x1000]
    driver.call(DESTROY_MKEY, key >> 8)


def test_key_ends_where_it_ends(life):
    driver = life.driver
    source, target = buffers(driver)
    key = driver.create_mkey(life.pd, 0x10000, 0x1000, [target])
    entry = life.write((source, life.everything), (0x10F00, key), 0x101)
    assert (entry[63] >> 4, entry[55]) == (REQUEST_ERROR, REMOTE_ACCESS)
    assert not any(driver.peek(target, 2 * PAGE))


def test_page_list_outside_of_the_memory_is_refused(life, emulator):
    driver, before = life.driver, emulator.objects()
    outside = driver.memory.address + len(driver.memory.bytes)
    for pages in ([driver.take(PAGE), outside], [0], [1 << 50], [outside - PAGE, outside]):
        with pytest.raises(Refused) as refused:
            driver.create_mkey(life.pd, 0, PAGE * len(pages), pages)
        assert refused.value.status == BAD_PARAM
    with pytest.raises(Refused) as refused:  # fewer pages than the key is long
        driver.create_mkey(life.pd, 0, 2 * PAGE, [driver.take(PAGE)])
    assert refused.value.status == BAD_PARAM
    assert emulator.objects() == before


@pytest.mark.parametrize("scattered", [False, True])
def test_withdrawn_target_is_an_error_completion(life, scattered):
    driver, far = life.driver, 1 << 32
    source, more = buffers(driver)[0], driver.offer(far, 4 * PAGE)
    pages = [far + PAGE, far] if scattered else [far, far + PAGE]
    key = driver.create_mkey(life.pd, 0, 2 * PAGE, pages)
    assert life.write((source, life.everything), (0, key), 100)[63] >> 4 == REQUEST
    driver.client.unmap(far, 4 * PAGE)
    entry = life.write((source, life.everything), (100, key), 2 * PAGE - 100)
    assert entry[63] >> 4 == REQUEST_ERROR and entry[55] in (REMOTE_ACCESS, REMOTE_OPERATION), f"{entry[55]:#x}"
    assert more.bytes[pages[0] - far : pages[0] - far + 200] == DATA[:100] + bytes(100)
    assert not any(more.bytes[pages[1] - far : pages[1] - far + PAGE])
    life.end()


def test_withdrawn_source_is_an_error_completion(life):
    driver, far = life.driver, 1 << 32
    target, _ = driver.take(PAGE), driver.offer(far, PAGE)
    driver.client.unmap(far, PAGE)
    entry = life.write((far, life.everything), (target, life.everything), 100)
    assert (entry[63] >> 4, entry[55]) == (REQUEST_ERROR, LOCAL_PROTECTION)


def test_read_only_memory_is_not_written(life):
    driver, far = life.driver, 1 << 32
    source, more = buffers(driver)[0], GuestMemory(far, PAGE)
    more.bytes[:4] = b"ROM!"
    driver.client.map(far, PAGE, more.fd, flags=READABLE)
    entry = life.write((source, life.everything), (far, life.everything), 100)
    assert entry[63] >> 4 == REQUEST_ERROR and entry[55] in (REMOTE_ACCESS, REMOTE_OPERATION), f"{entry[55]:#x}"
    assert more.bytes[:8] == b"ROM!" + bytes(4)
    more.close()


def test_read_only_memory_is_a_source(life):
    driver, far = life.driver, 1 << 32
    target, more = driver.take(PAGE), GuestMemory(far, PAGE)
    more.bytes[:4] = b"ROM!"
    driver.client.map(far, PAGE, more.fd, flags=READABLE)
    assert life.write((far, life.everything), (target, life.everything), 8)[63] >> 4 == REQUEST
    assert driver.peek(target, 8) == b"ROM!" + bytes(4)
    more.close()


def test_faults_of_the_card_reach_the_driver(running, emulator):
    life = Life(running)
    source, target = buffers(running)
    words = (source, life.everything), (target, life.everything), 100
    emulator.fault("completion", "--syndrome", "4")
    entry = life.write(*words)
    assert (entry[63] >> 4, entry[55]) == (REQUEST_ERROR, LOCAL_PROTECTION)
    emulator.fault("command", "--method", "function.command", "--status", "BAD_RES")
    with pytest.raises(Refused) as refused:
        running.call(ALLOC_PD)
    assert refused.value.status == BAD_RES
    emulator.fault("device", "--as", "host")
    with pytest.raises(Refused):
        running.call(ALLOC_PD)
    emulator.clear_faults()
    running.client.reset()
    running.attach()
    assert running.start().call(ALLOC_PD).number


class Far:
    """A queue pair one of whose rings is in memory of its own, which the guest withdraws."""

    def __init__(self, driver):
        self.driver, self.at = driver, 1 << 32
        driver.offer(self.at, PAGE)
        self.uar, self.pd = driver.call(ALLOC_UAR).number, driver.call(ALLOC_PD).number
        self.eq = driver.create_eq(self.uar)
        self.key = driver.create_mkey(self.pd)
        self.source, self.target = buffers(driver)

    def withdraw(self):
        self.driver.client.unmap(self.at, PAGE)

    def end(self, qp):
        """The function still carries out commands."""
        self.driver.call(QP_2ERR, qp.number)
        self.driver.call(DESTROY_QP, qp.number)


def test_ring_of_completions_that_is_withdrawn_crashes_nothing(running, function):
    far = Far(running)
    cq = running.create_cq(far.eq, ring=far.at)
    qp = running.connect_to_itself(running.create_qp(far.pd, cq))
    far.withdraw()
    running.rdma_write(qp, 0, (far.source, far.key), (far.target, far.key), 100)
    await_true(lambda: running.peek(far.target, 100) == DATA[:100] or function.status() is not None)
    far.end(qp)


def test_ring_of_work_that_is_withdrawn_crashes_nothing(running):
    far = Far(running)
    cq = running.create_cq(far.eq)
    qp = running.connect_to_itself(running.create_qp(far.pd, cq, ring=far.at))
    far.withdraw()
    running.rdma_write(qp, 0, (far.source, far.key), (far.target, far.key), 100)
    far.end(qp)


def test_doorbell_record_that_is_withdrawn_crashes_nothing(running):
    far = Far(running)
    cq = running.create_cq(far.eq)
    qp = running.connect_to_itself(running.create_qp(far.pd, cq, record=far.at))
    far.withdraw()
    running.write(far.uar * PAGE + 0x800, 0x08, qp.number << 8 | 3)
    far.end(qp)


@pytest.mark.usefixtures("client")  # the virtual machine of the test before has left
def test_engine_that_has_copied_nothing_yet_survives_a_withdrawn_doorbell_record(offer, emulator):
    before, fresh = emulator.objects(), offer("dpu", "fresh")
    with Driver(fresh.path) as driver:
        far = Far(driver.start())
        cq = driver.create_cq(far.eq)
        qp = driver.connect_to_itself(driver.create_qp(far.pd, cq, record=far.at))
        far.withdraw()
        driver.write(far.uar * PAGE + 0x800, 0x08, qp.number << 8 | 3)
        other = driver.connect_to_itself(driver.create_qp(far.pd, cq))
        driver.rdma_write(other, 0, (far.source, far.key), (far.target, far.key), 100)
        assert await_true(lambda: driver.peek(far.target, 100) == DATA[:100])
        far.end(qp)
    fresh.end()
    emulator.await_objects(before)


def test_what_was_lost_in_a_withdrawn_ring_is_read_by_nobody(running, function):
    far = Far(running)
    cq = running.create_cq(far.eq, ring=far.at)
    qp = running.connect_to_itself(running.create_qp(far.pd, cq))
    far.withdraw()
    running.rdma_write(qp, 0, (far.source, far.key), (far.target, far.key), 100)
    await_true(lambda: running.peek(far.target, 100) == DATA[:100])
    running.client.close()
    with Driver(function.path) as driver:
        life = Life(driver.start())
        entry = life.write((far.at, life.everything), (driver.take(PAGE), life.everything), 64)
        assert (entry[63] >> 4, entry[55]) == (REQUEST_ERROR, LOCAL_PROTECTION)


def test_what_is_in_use_is_not_destroyed(life):
    for opcode, number in (
        (DEALLOC_PD, life.pd),
        (DESTROY_CQ, life.cq.number),
    ):
        with pytest.raises(Refused) as refused:
            life.driver.call(opcode, number)
        assert refused.value.status == RES_BUSY
    source, target = buffers(life.driver)
    assert life.write((source, life.everything), (target, life.everything), 64)[63] >> 4 == REQUEST


def test_event_queue_and_doorbell_page_in_use_are_not_destroyed(life):
    for opcode, number in ((DESTROY_EQ, life.eq.number), (DEALLOC_UAR, life.uar)):
        with pytest.raises(Refused) as refused:
            life.driver.call(opcode, number)
        assert refused.value.status == RES_BUSY


def test_destroyed_twice_is_refused(life):
    life.end()
    for opcode, number in ((DESTROY_QP, life.qp.number), (DESTROY_EQ, life.eq.number), (DEALLOC_PD, life.pd)):
        with pytest.raises(Refused) as refused:
            life.driver.call(opcode, number)
        assert refused.value.status == BAD_RES


def test_teardown_ends_what_is_left(life, emulator, function):
    """Queues, keys and doorbell pages, and the mappings of the memory that they used."""
    life.driver.create_mkey(life.pd, 0, 2 * PAGE, [life.driver.take(PAGE) + PAGE, life.driver.take(PAGE)])
    maps = mappings(function)
    life.driver.call(TEARDOWN_HCA)
    assert {kind for kind, count in emulator.objects().items() if count} == {"umems", "channels"}
    assert emulator.objects()["umems"] == 1 and mappings(function) < maps
    life.driver.call(INIT_HCA)
    for opcode, number in ((DESTROY_QP, life.qp.number), (DEALLOC_PD, life.pd), (DEALLOC_UAR, life.uar)):
        with pytest.raises(Refused) as refused:
            life.driver.call(opcode, number)
        assert refused.value.status == BAD_RES
    uar = life.driver.call(ALLOC_UAR).number
    life.driver.create_cq(life.driver.create_eq(uar))


def test_nothing_is_left_of_a_life(life, emulator, function):
    before = emulator.objects()
    maps = mappings(function)
    key = life.driver.create_mkey(life.pd, 0, 2 * PAGE, [life.driver.take(PAGE) + PAGE, life.driver.take(PAGE)])
    assert (emulator.objects()["mkeys"], emulator.objects()["umems"]) == (before["mkeys"] + 1, before["umems"] + 1)
    life.driver.call(DESTROY_MKEY, key >> 8)
    assert emulator.objects() == before and mappings(function) == maps
    life.end()
    left = emulator.objects()
    assert {kind for kind, count in left.items() if count} == {"umems", "channels"}
    assert (left["umems"], left["channels"]) == (1, before["channels"])


def mappings(function):
    with open(f"/proc/{function.pid}/maps", encoding="utf-8") as file:
        return len(file.readlines())
