# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The configuration space of a function, its initialisation segment, and its resets."""

import struct

import pytest

from harness.machine import await_true
from harness.mlx5_driver import ALLOC_PD, ALLOC_UAR, BAD_SYS_STATE, BAR0, ENABLE_HCA, INIT_HCA, Refused
from harness.vfio_user import CONFIG

PM, EXPRESS, MSIX, VENDOR = 0x01, 0x10, 0x11, 0x09


def word(client, offset, size=2):
    return int.from_bytes(client.read(CONFIG, offset, size), "little")


def store(client, offset, value, size=2):
    client.write(CONFIG, offset, value.to_bytes(size, "little"))


def capabilities(client):
    """{identity: offset}; the list must end."""
    found, at = {}, word(client, 0x34, 1)
    while at:
        assert at % 4 == 0 and 0x40 <= at < 0x100 and len(found) < 10
        found[word(client, at, 1)], at = at, word(client, at + 1, 1)
    return found


def test_identity_is_that_of_the_card(client):
    assert (word(client, 0), word(client, 2)) == (0x15B3, 0xA2DC)
    assert word(client, 0x0A) == 0x0200  # an Ethernet controller
    assert word(client, 0x0E, 1) == 0  # one function
    assert word(client, 0x2C) == 0x15B3
    assert word(client, 6) & 0x10  # it has a list of capabilities


def test_capabilities_are_power_express_msix_and_the_vendors(client):
    found = capabilities(client)
    assert set(found) == {PM, EXPRESS, MSIX, VENDOR}
    assert word(client, found[EXPRESS] + 2) & 0xF0 == 0  # an endpoint
    assert word(client, found[EXPRESS] + 4, 4) & 1 << 28  # with FLR
    assert word(client, found[MSIX] + 2) & 0x7FF == 16 - 1
    assert word(client, found[MSIX] + 4, 4) == 0x002  # the table begins BAR 2,
    assert word(client, found[MSIX] + 8, 4) & 7 == 2  # and what is pending is there, too
    assert word(client, found[MSIX] + 8, 4) & ~7 >= 16 * 16
    assert word(client, 0x100, 4) == 0


def test_bars_have_their_sizes_and_kinds(client):
    for bar, kind, size in ((0x10, 0xC, 32 << 20), (0x18, 0, 4096)):
        store(client, bar, 0xFFFFFFFF, 4)
        assert word(client, bar, 4) == 2**32 - size | kind
    store(client, 0x14, 0xFFFFFFFF, 4)
    assert word(client, 0x14, 4) == 0xFFFFFFFF
    for bar in (0x1C, 0x20, 0x24, 0x30):
        store(client, bar, 0xFFFFFFFF, 4)
        assert word(client, bar, 4) == 0


def test_only_what_is_writable_is_written(client):
    before = client.read(CONFIG, 0, 4096)
    flr = capabilities(client)[EXPRESS] + 9
    for at in range(4096):
        client.write(CONFIG, at, b"\x7f" if at == flr else b"\xff")
    after = client.read(CONFIG, 0, 4096)
    changed = {at for at in range(4096) if before[at] != after[at]}
    assert changed & {4, 0x3C} == {4, 0x3C}
    assert not changed & {0, 1, 2, 3, 8, 9, 10, 11, 0x2C, 0x2D, 0x2E, 0x2F, 0x34, 0x3D}
    assert changed <= set(range(0xA8))
    for at in capabilities(client).values():
        assert before[at : at + 2] == after[at : at + 2]


def test_command_register_keeps_its_bits(client):
    store(client, 4, 0xFFFF)
    assert word(client, 4) == 0x0546
    store(client, 4, 0)
    assert word(client, 4) == 0


def reset_by_flr(driver):
    at = capabilities(driver.client)[EXPRESS] + 8
    store(driver.client, at, word(driver.client, at) | 0x8000)


def reset_by_message(driver):
    driver.client.reset()


@pytest.mark.parametrize("reset", [reset_by_flr, reset_by_message])
def test_reset_ends_all_objects_and_the_command_queue(running, emulator, reset):
    running.enable_irqs()
    uar, empty = running.call(ALLOC_UAR).number, {kind: count for kind, count in emulator.objects().items()}
    store(running.client, 4, 6)
    eq = running.create_eq(uar, events=[0x0A])
    running.call(ALLOC_PD)
    running.create_cq(eq)
    pages = [running.take(4096), running.take(8192) + 4096]
    running.create_mkey(running.call(ALLOC_PD).number, 0, 8192, pages)
    assert emulator.objects() != empty
    reset(running)
    left = emulator.objects()
    assert {kind for kind, count in left.items() if count} == {"umems", "channels"} and left["umems"] == 1
    assert running.client.read(BAR0, 0x10, 8) == struct.pack(">II", 0, 0x56)
    assert word(running.client, 4) == 0
    running.attach()
    assert running.start().call(ALLOC_UAR).number == uar


def test_reset_forgets_that_the_function_is_initialised(running):
    with pytest.raises(Refused) as refused:
        running.call(ENABLE_HCA)
    assert refused.value.status == BAD_SYS_STATE
    running.client.reset()
    running.attach()
    with pytest.raises(Refused) as refused:
        running.initialise()
    assert refused.value.status == BAD_SYS_STATE


def test_write_beside_the_bit_resets_nothing(running):
    at = capabilities(running.client)[EXPRESS] + 8
    for offset, data in ((at, b"\x10"), (at + 1, b"\x7f"), (at + 2, b"\x80\x80"), (at - 2, b"\xff\xff")):
        running.client.write(CONFIG, offset, data)
    running.call(ALLOC_PD)


def test_reset_in_a_longer_write_is_one(running):
    at = capabilities(running.client)[EXPRESS]
    running.client.write(CONFIG, at + 4, bytes(5) + b"\x80" + bytes(6))
    assert running.read(0x14) == 0x56


# --- the initialisation segment


def test_initialisation_segment_is_that_of_firmware(driver):
    assert driver.read(4) >> 16 == 5  # cmdif_rev
    assert driver.read(0) and not driver.read(0x1FC) >> 31  # a version, and it is not initialising
    assert driver.read(0x10) == driver.memory.address >> 32
    assert driver.read(0x14) == driver.queue | 5 << 4 | 6  # 32 entries of 64 bytes
    assert not any(driver.client.read(BAR0, 0x20000, 64))


def test_address_of_the_command_queue_is_taken_with_its_lower_half(driver):
    driver.write(0x10, 0x123)
    assert driver.read(0x10) == 0
    driver.write(0x14, 0x456788FF)
    assert (driver.read(0x10), driver.read(0x14)) == (0x123, 0x45678056)
    driver.write(0x10, 0x7, 0x8000)
    assert (driver.read(0x10), driver.read(0x14)) == (0x7, 0x8056)


def test_health_counter_moves(driver):
    before = driver.read(0x1010)
    assert await_true(lambda: driver.read(0x1010) != before)


def test_two_functions_are_apart(driver, offer, emulator):
    other = offer("dpu", "dpu")
    with type(driver)(other.path) as second:
        second.start()
        second.call(ALLOC_PD)
        with pytest.raises(Refused):
            driver.initialise()
        driver.client.reset()
        assert emulator.objects()["pds"] == 1
    assert await_true(lambda: emulator.objects()["pds"] == 0)
    other.end()


# --- the vendor's gateway, as Linux's pci_vsc.c uses it

CONTROL, COUNTER, OWNER, ADDRESS, DATA = 0x04, 0x08, 0x0C, 0x10, 0x14
SEMAPHORES, SW_RESET, FLAG = 0xA, 0x20, 1 << 31


class Gateway:
    def __init__(self, client):
        self.client, self.at = client, capabilities(client)[VENDOR]

    def get(self, word_at):
        return word(self.client, self.at + word_at, 4)

    def set(self, word_at, value):
        store(self.client, self.at + word_at, value, 4)

    def lock(self):
        """Whether the counter's number is the owner now."""
        number = self.get(COUNTER)
        self.set(OWNER, number)
        return self.get(OWNER) == number

    def write(self, address, data):
        self.set(DATA, data)
        self.set(ADDRESS, address | FLAG)
        assert not self.get(ADDRESS) & FLAG

    def read(self, address):
        self.set(ADDRESS, address)
        assert self.get(ADDRESS) & FLAG
        return self.get(DATA)


@pytest.fixture
def gateway(client):
    one = Gateway(client)
    assert word(client, one.at + 2, 1) == 0x18
    return one


def test_gateway_has_one_owner(gateway):
    assert gateway.get(OWNER) == 0
    assert gateway.lock()
    owner = gateway.get(OWNER)
    assert not gateway.lock()
    assert gateway.get(OWNER) == owner
    gateway.set(OWNER, 0)
    assert gateway.lock() and gateway.get(OWNER) != owner


def test_semaphore_has_one_owner(gateway):
    gateway.set(CONTROL, SEMAPHORES)
    assert gateway.get(CONTROL) >> 29
    gateway.write(SW_RESET, 5)
    assert gateway.read(SW_RESET) == 5
    gateway.write(SW_RESET, 6)
    assert gateway.read(SW_RESET) == 5
    assert gateway.read(SW_RESET + 1) == 0
    gateway.write(SW_RESET, 0)
    gateway.write(SW_RESET, 6)
    assert gateway.read(SW_RESET) == 6
    gateway.client.reset()
    gateway.set(CONTROL, SEMAPHORES)
    assert gateway.read(SW_RESET) == 0


def test_gateway_has_no_other_space_and_no_further_semaphore(gateway):
    for space in (0, 2, 7, 0xFFFF):
        gateway.set(CONTROL, space)
        assert gateway.get(CONTROL) == space  # its status says that it does not exist
        gateway.write(SW_RESET, 5)
        assert gateway.read(SW_RESET) == 0
    gateway.set(CONTROL, SEMAPHORES)
    for address in (64, 0x3FFFFFFF):
        gateway.write(address, 5)
        assert gateway.read(address) == 0
    before = gateway.get(COUNTER)
    gateway.set(COUNTER, 0xFFFF)
    assert gateway.get(COUNTER) == before
