# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Memory that a virtual machine offers to a function, and withdraws."""

import errno
import os
import struct

import pytest

from harness.machine import await_true, open_links
from harness.mlx5_driver import ENABLE_HCA, PAGE, QUERY_ISSI, Driver, command
from harness.vfio_user import MAPPABLE, READABLE, WRITABLE, Command, GuestMemory, message

UNMAP_ALL = 2


def errno_of(call, *words, **more):
    try:
        call(*words, **more)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None


def descriptors(process):
    return sum(1 for _ in open_links(process.pid))


@pytest.fixture
def memory():
    made = GuestMemory(0, 16 * PAGE)
    yield made
    made.close()


def test_offers_may_not_overlap(client, memory):
    client.map(8 * PAGE, 4 * PAGE, memory.fd)
    for address, size in ((8, 4), (7, 2), (11, 1), (11, 5), (6, 10), (9, 1)):
        assert errno_of(client.map, address * PAGE, size * PAGE, memory.fd) == "EEXIST"
    client.map(7 * PAGE, PAGE, memory.fd)
    client.map(12 * PAGE, PAGE, memory.fd)


def test_only_whole_pages_are_offered(client, memory):
    for address, size, offset in ((1, PAGE, 0), (0, 1, 0), (0, PAGE + 1, 0), (0, PAGE, 1), (0, 0, 0), (2048, 2048, 0)):
        assert errno_of(client.map, address, size, memory.fd, offset) == "EINVAL"
    for address, size in ((2**64 - PAGE, 2 * PAGE), (2 * PAGE, 2**64 - PAGE), (2**63, 2**63 + PAGE)):
        assert errno_of(client.map, address, size & 2**64 - 1, memory.fd) == "EINVAL"


def test_offer_at_the_end_of_the_addresses_maps_nothing_elsewhere(client, function, memory):
    def mapped():
        with open(f"/proc/{function.pid}/maps", encoding="utf-8") as file:
            return sum("memfd:guest" in line for line in file)

    for address in (2**64 - PAGE, 2**64 - 16 * PAGE, 1 << 44, 1 << 63):
        client.map(address, PAGE, memory.fd)
        assert errno_of(client.map, address, PAGE, memory.fd) == "EEXIST"
        assert not mapped()
        client.unmap(address, PAGE)
    client.map((1 << 44) - PAGE, PAGE, memory.fd)
    assert mapped() == 1


def test_offer_that_is_longer_than_its_file_is_refused(client, memory):
    for size, offset in ((17, 0), (16, 1), (1, 16), (1, 1 << 40)):
        assert errno_of(client.map, 0, size * PAGE, memory.fd, offset * PAGE) == "EINVAL"
    assert errno_of(client.map, 0, PAGE, memory.fd, 2**64 - PAGE) == "EINVAL"
    client.map(0, 16 * PAGE, memory.fd)


def test_file_that_becomes_shorter_crashes_nothing(driver):
    short = driver.offer(1 << 32, PAGE)
    driver.attach(1 << 32)
    os.ftruncate(short.fd, 0)
    driver.ring()
    driver.attach()
    driver.call(ENABLE_HCA)


def test_what_is_not_offered_is_not_withdrawn(client, memory):
    client.map(8 * PAGE, 4 * PAGE, memory.fd)
    for address, size in ((0, 1), (8, 1), (9, 3), (8, 5), (7, 5), (8, 0)):
        assert errno_of(client.unmap, address * PAGE, size * PAGE) == "ENOENT"
    client.unmap(8 * PAGE, 4 * PAGE)
    assert errno_of(client.unmap, 8 * PAGE, 4 * PAGE) == "ENOENT"
    client.map(8 * PAGE, 4 * PAGE, memory.fd)


def test_all_offers_are_withdrawn_at_once(client, memory):
    for i in range(3):
        client.map(2 * i * PAGE, PAGE, memory.fd)
    client.request(Command.DMA_UNMAP, struct.pack("=II2Q", 24, UNMAP_ALL, 0, 0))
    for i in range(3):
        assert errno_of(client.unmap, 2 * i * PAGE, PAGE) == "ENOENT"


def test_flags_that_nobody_knows_are_refused(client, memory):
    client.map(0, PAGE, memory.fd)
    for flags in (1, 4, 1 << 31):
        payload = struct.pack("=II2Q", 24, flags, 0, PAGE)
        assert errno_of(client.request, Command.DMA_UNMAP, payload) == "EINVAL"
    for flags in (0, WRITABLE):
        assert errno_of(client.map, PAGE, PAGE, memory.fd, flags=flags) == "EINVAL"


def test_withdrawal_answers_with_its_place(client, memory):
    client.map(PAGE, PAGE, memory.fd)
    payload = struct.pack("=II2Q", 24, 0, PAGE, PAGE)
    assert client.request(Command.DMA_UNMAP, payload).payload == payload


def test_descriptors_do_not_leak(client, function, memory):
    before = descriptors(function)
    for i in range(1000):
        client.map(i % 16 * PAGE, PAGE, memory.fd, i % 16 * PAGE)
        client.unmap(i % 16 * PAGE, PAGE)
    for i in range(10):  # refused, with descriptors
        client.map(0, PAGE, memory.fd)
        assert errno_of(client.map, 0, PAGE, memory.fd) == "EEXIST"
        assert errno_of(client.map, 1, PAGE, memory.fd) == "EINVAL"
        client.unmap(0, PAGE)
    assert await_true(lambda: descriptors(function) == before)
    for i in range(100):
        client.map(2 * i * PAGE, PAGE, memory.fd)
    assert await_true(lambda: descriptors(function) == before + 100)
    client.close()
    assert await_true(lambda: descriptors(function) < before)


@pytest.mark.parametrize("count", [2, 16, 17, 64, 200])
@pytest.mark.parametrize("kind", [Command.DMA_MAP, Command.GET_INFO, 99])
def test_descriptors_that_are_too_many_do_not_leak(client, function, memory, count, kind):
    before = descriptors(function)
    payload = struct.pack("=II3Q", 32, READABLE, 0, 0, PAGE)
    for _ in range(5):
        client.send_bytes(message(kind, payload), [memory.fd] * count)
        reply = client.receive()
        assert reply is not None and (reply.errno is None) == (kind == Command.GET_INFO)
    assert await_true(lambda: descriptors(function) == before)


def test_descriptors_in_the_middle_of_a_message_do_not_leak(client, function, memory):
    before = descriptors(function)
    whole = message(Command.DMA_MAP, struct.pack("=II3Q", 32, READABLE, 0, 0, PAGE))
    for at in (1, 16, 20, len(whole) - 1):
        client.send_bytes(whole[:at], [memory.fd])
        client.send_bytes(whole[at:], [memory.fd] * 3)
        assert client.receive().errno == errno.EINVAL
    assert await_true(lambda: descriptors(function) == before)


def test_descriptor_that_cannot_be_mapped_is_refused_and_does_not_leak(client, function, memory):
    before, (end, other) = descriptors(function), os.pipe()
    read_only = os.open(f"/proc/self/fd/{memory.fd}", os.O_RDONLY)
    assert errno_of(client.map, 0, PAGE, end)
    assert errno_of(client.map, 0, PAGE, read_only) == "EACCES"
    client.map(0, PAGE, read_only, flags=READABLE)
    client.unmap(0, PAGE)
    assert await_true(lambda: descriptors(function) == before)
    for fd in (end, other, read_only):
        os.close(fd)


def test_memory_that_is_not_shared_is_said_once(driver, function):
    driver.client.map(1 << 32, PAGE)
    for _ in range(3):
        driver.attach(1 << 32)
        driver.ring()
    driver.client.unmap(1 << 32, PAGE)
    driver.attach()
    driver.call(ENABLE_HCA)
    lines = [line for line in function.log().splitlines() if "share=on" in line]
    assert len(lines) == 1 and "0x100000000" in lines[0]


def test_command_queue_in_read_only_memory_is_not_written(driver):
    rom = GuestMemory(1 << 32, PAGE)
    driver.memories.append(rom)
    driver.client.map(rom.address, PAGE, rom.fd, flags=READABLE | MAPPABLE)
    driver.queue = rom.address
    driver.attach()
    driver.entry(command(ENABLE_HCA))
    before = rom.bytes[:]
    driver.ring()
    assert rom.bytes[:] == before and driver.answer() is None


def test_mailbox_that_crosses_two_offers_is_no_memory(driver):
    """As documented: one access is in one offer."""
    driver.offer(1 << 32, PAGE)
    answer = driver.submit(command(QUERY_ISSI), 112, out_pointer=(1 << 32) + PAGE - 512)
    assert answer.delivery


def test_memory_that_is_offered_again_is_used_again(driver):
    driver.client.unmap(driver.memory.address, driver.memory.size)
    driver.entry(command(ENABLE_HCA))
    driver.ring()
    assert driver.answer() is None
    driver.client.map(driver.memory.address, driver.memory.size, driver.memory.fd)
    driver.ring()
    assert driver.answer().status == 0


def test_memory_goes_with_its_virtual_machine(function):
    for _ in range(3):
        with Driver(function.path) as driver:
            driver.call(ENABLE_HCA)
