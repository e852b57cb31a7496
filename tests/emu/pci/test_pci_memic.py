# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Device memory: the driver allocates it, programs of the guest map it in the BAR, and keys are for it."""

import mmap
import os
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
    BAR0,
    CREATE_MKEY,
    DESTROY_MKEY,
    LIST,
    NO_RES,
    OK,
    PAGE,
    QUERY_HCA_CAP,
    RES_BUSY,
    command,
    get,
    put,
    put64,
)
from harness.vfio_user import MAPPABLE

ALLOC_MEMIC, DEALLOC_MEMIC, DEVICE_MEMORY, MEMIC = 0x205, 0x206, 0xF, 5
LENGTH = 5000
DATA = bytes(range(1, 251)) * 20


class Memory:
    """What the capabilities say, and the BAR as a virtual machine maps it."""

    def __init__(self, driver):
        self.driver = driver
        caps = driver.call(QUERY_HCA_CAP, out_len=16 + 4096, op_mod=DEVICE_MEMORY << 1 | 1).data[16:]
        self.start, self.bytes = struct.unpack(">Q", caps[8:16])[0], get(caps, 0x10)
        region = driver.client.region_info(BAR0)
        (at, size), = region.areas
        assert region.flags & MAPPABLE and (at, size) == (self.start, self.bytes)
        self.map = mmap.mmap(region.fds[0], size, offset=region.offset + at)
        os.close(region.fds[0])

    def request(self, size, start=None, span=None, log_align=0):
        data = command(ALLOC_MEMIC, 32)
        put(data, 0x0C, 7, 0, log_align)
        put64(data, 0x10, self.start if start is None else start)
        put(data, 0x18, 31, 0, self.bytes if span is None else span)
        put(data, 0x1C, 31, 0, size)
        return data

    def allocate(self, size, **more):
        """Where it is in the BAR."""
        return struct.unpack(">Q", self.driver.execute(self.request(size, **more)).data[8:16])[0]

    def free(self, at, size):
        data = command(DEALLOC_MEMIC, 32)
        put64(data, 0x10, at)
        put(data, 0x18, 31, 0, size)
        return self.driver.submit(data)

    def key(self, pd, at, size):
        data = command(CREATE_MKEY, LIST)
        put(data, 0x10, 13, 10, 0xF)
        put(data, 0x10, 9, 8, MEMIC & 3)
        put(data, 0x10, 28, 26, MEMIC >> 2)
        put(data, 0x14, 31, 8, 0xFFFFFF)
        put(data, 0x14, 7, 0, 0x42)
        put(data, 0x1C, 23, 0, pd)
        put64(data, 0x20, at)
        put64(data, 0x28, size)
        return self.driver.submit(data)


@pytest.fixture
def memory(running):
    one = Memory(running)
    yield one
    one.map.close()


def test_bytes_of_the_bar_are_those_of_the_key(running, memory):
    at = memory.allocate(LENGTH)
    place = at - memory.start
    assert memory.map[place : place + LENGTH] == bytes(LENGTH)
    pd = running.call(ALLOC_PD).number
    key = memory.key(pd, at + 8, LENGTH - 8).number << 8 | 0x42
    cq = running.create_cq(running.create_eq(running.call(ALLOC_UAR).number))
    qp = running.connect_to_itself(running.create_qp(pd, cq))
    everything, source, target = running.create_mkey(pd), running.take(2 * PAGE), running.take(2 * PAGE)
    running.poke(source, DATA[:LENGTH])
    running.rdma_write(qp, 0, (source, everything), (0, key), LENGTH - 8)  # addresses count from its start
    assert await_true(lambda: running.completion(cq, 0))[63] >> 4 == 0
    assert memory.map[place + 8 : place + LENGTH] == DATA[: LENGTH - 8]
    memory.map[place + 8 : place + 16] = b"written!"
    running.rdma_write(qp, 1, (0, key), (target, everything), 100)
    assert await_true(lambda: running.completion(cq, 1))[63] >> 4 == 0
    assert running.peek(target, 100) == b"written!" + DATA[8:100]
    running.rdma_write(qp, 2, (source, everything), (LENGTH - 16, key), 9)
    assert await_true(lambda: running.completion(cq, 2))[63] >> 4 == 0xD


def test_messages_access_the_same_bytes(running, memory):
    at = memory.allocate(PAGE)
    place = at - memory.start
    running.client.write(BAR0, at + 3, b"by a message")
    assert memory.map[place : place + 16] == bytes(3) + b"by a message" + bytes(1)
    assert running.client.read(BAR0, at + 3, 12) == b"by a message"
    beyond = memory.start + memory.bytes
    running.client.write(BAR0, beyond - 4, b"12345678")  # not all of it is device memory
    assert running.client.read(BAR0, beyond - 4, 8) == bytes(8)


def test_next_owner_finds_zeros(running, memory):
    at = memory.allocate(LENGTH)
    memory.map[at - memory.start] = 1
    assert memory.free(at, LENGTH).status == OK
    assert memory.allocate(LENGTH) == at
    assert memory.map[at - memory.start] == 0


def test_memory_is_taken_in_the_range_alone(running, memory, emulator):
    before = emulator.objects()
    second = memory.start + PAGE
    assert memory.allocate(64, start=second, span=PAGE) == second
    assert running.submit(memory.request(64, start=second, span=PAGE)).status == NO_RES
    assert memory.allocate(64, start=memory.start, span=2 * PAGE) == memory.start
    assert running.submit(memory.request(PAGE + 1, start=second + PAGE, span=PAGE)).status == NO_RES
    assert running.submit(memory.request(64, span=0)).status == NO_RES
    running.client.reset()
    assert emulator.objects() == before


def test_fault_of_memory_is_seen(running, memory, emulator):
    emulator.fault("memory", "--left", "0")
    assert running.submit(memory.request(64)).status == NO_RES
    emulator.clear_faults()
    assert running.submit(memory.request(64)).status == OK


def test_wrong_requests_are_refused(running, memory):
    wrong = [memory.request(0), memory.request(64, log_align=40), memory.request(64, start=memory.start + 64)]
    wrong += [memory.request(64, start=0), memory.request(64, start=memory.start - PAGE), memory.request(64, span=100)]
    wrong += [memory.request(64, span=memory.bytes + PAGE), memory.request(64, start=1 << 63)]
    for row, high in ((0x08, 31), (0x0C, 31), (0x0C, 8)):
        wrong.append(memory.request(64))
        put(wrong[-1], row, high, high, 1)
    for data in wrong:
        assert running.submit(data).status == BAD_PARAM, data.hex()
    data = memory.request(64)
    assert running.submit(data[:24]).status == BAD_INP_LEN
    put(data, 4, 15, 0, 1)
    assert running.submit(data).status == BAD_OP


def test_wrong_ends_are_refused(memory):
    at = memory.allocate(LENGTH)
    for place, size in ((at, LENGTH - 1), (at, LENGTH + 1), (at + PAGE, LENGTH - PAGE), (0, 0), (at - 1, 1), (at, 0)):
        assert memory.free(place, size).status == BAD_RES
    assert memory.free(at, LENGTH).status == OK
    assert memory.free(at, LENGTH).status == BAD_RES


def test_key_is_for_memory_that_is_allocated(running, memory):
    pd, at = running.call(ALLOC_PD).number, memory.allocate(LENGTH)
    for place, size in ((at - 1, 2), (at, LENGTH + 1), (at + LENGTH, 1), (0, 1), (at + PAGE, PAGE)):
        assert memory.key(pd, place, size).status == BAD_RES, (place, size)
    running.call(DESTROY_MKEY, memory.key(pd, at, 0).number)  # rdma-core's test_create_dm_mr registers no bytes
    key = memory.key(pd, at, LENGTH)
    assert key.status == OK
    assert memory.free(at, LENGTH).status == RES_BUSY
    running.call(DESTROY_MKEY, key.number)
    assert memory.free(at, LENGTH).status == OK


def test_room_that_is_too_small_for_the_area_is_told(client):
    region = client.region_info(BAR0, room=32)
    assert not region.areas and not region.fds and region.flags & MAPPABLE
