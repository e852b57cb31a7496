# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pages that the driver gives to the firmware, and that it takes back."""

import struct

import pytest

from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    BAD_INP_LEN,
    BAD_OP,
    BAD_OUTP_LEN,
    BAD_PARAM,
    BAD_SYS_STATE,
    BOOT,
    CANT_GIVE,
    COMMAND_EVENT,
    DEALLOC_PD,
    DISABLE_HCA,
    ENABLE_HCA,
    INIT,
    INIT_HCA,
    LIMIT,
    MANAGE_PAGES,
    NO_RES,
    OK,
    PAGE,
    PAGES_EVENT,
    SPARE_PAGES,
    QUERY_PAGES,
    REGULAR,
    TAKE,
    TEARDOWN_HCA,
    command,
    put,
)
from harness.vfio_user import READABLE, GuestMemory, await_irq

OBJECTS = 16  # for which there is room in a page


@pytest.fixture
def enabled(driver):
    driver.call(ENABLE_HCA)
    return driver


def test_driver_gives_pages_for_boot_and_start_and_takes_all_back(enabled):
    boot = enabled.give_pages(enabled.missing_pages(BOOT))
    assert boot and not enabled.missing_pages(BOOT)
    init = enabled.give_pages()
    assert init and not enabled.missing_pages(INIT)
    enabled.call(INIT_HCA)
    assert enabled.take_pages(400) == []  # all are needed
    more = enabled.give_pages(600)
    enabled.call(TEARDOWN_HCA)
    assert len(taken := enabled.take_pages(50)) == 50
    while part := enabled.take_pages(768):  # as many as Linux asks for
        taken += part
    assert sorted(taken) == sorted(boot + init + more)
    assert enabled.submit(command(INIT_HCA)).status == NO_RES
    assert enabled.missing_pages(BOOT) == len(boot)


def test_function_does_not_start_without_its_pages(enabled):
    enabled.give_pages(enabled.missing_pages() - 1)
    assert enabled.submit(command(INIT_HCA)).status == NO_RES
    assert enabled.missing_pages() == 1
    enabled.initialise()


def test_pages_that_are_not_needed_are_returned_while_the_function_runs(running):
    more = running.give_pages(10)
    assert running.missing_pages(REGULAR) == -10 - SPARE_PAGES
    taken = running.take_pages(4) + running.take_pages(100)
    assert len(taken) == 10 + SPARE_PAGES and set(more) < set(taken)
    assert running.missing_pages(REGULAR) == 0


def test_reset_and_disabling_forget_the_pages(enabled):
    pages = enabled.give_pages()
    enabled.call(DISABLE_HCA)
    enabled.call(ENABLE_HCA)
    assert enabled.missing_pages() == len(pages)
    enabled.execute(enabled.given(pages))
    enabled.client.reset()
    enabled.attach()
    enabled.call(ENABLE_HCA)
    assert enabled.missing_pages() == len(pages)


def test_disabled_function_has_no_pages(driver):
    assert driver.submit(command(QUERY_PAGES, op_mod=BOOT)).status == BAD_SYS_STATE
    assert driver.submit(driver.given([driver.take(PAGE)])).status == BAD_SYS_STATE


def test_pages_that_are_no_memory_of_the_guest_are_refused(enabled):
    page, rom = enabled.take(PAGE), GuestMemory(1 << 32, PAGE)
    enabled.memories.append(rom)
    enabled.client.map(rom.address, PAGE, rom.fd, flags=READABLE)
    before = enabled.missing_pages()
    for wrong in (0, 1 << 40, enabled.memory.address + enabled.memory.size, page + 8, page | 0x800, rom.address):
        for pages in ([wrong], [enabled.take(PAGE), wrong]):
            assert enabled.submit(enabled.given(pages)).status == BAD_PARAM, hex(wrong)
    assert enabled.submit(enabled.given([page, page])).status == BAD_PARAM
    assert enabled.missing_pages() == before  # all or none
    assert enabled.submit(enabled.given([page])).status == OK
    assert enabled.submit(enabled.given([page])).status == BAD_PARAM


def test_list_that_is_too_short_is_refused(enabled):
    page = enabled.take(PAGE)
    assert enabled.submit(enabled.given([page], count=2)).status == BAD_INP_LEN
    assert enabled.submit(enabled.given([page], count=0xFFFFFFFF)).status == BAD_INP_LEN
    enabled.give_pages(2)
    data = command(MANAGE_PAGES, op_mod=TAKE)
    put(data, 12, 31, 0, 2)
    assert enabled.submit(data, 16 + 8).status == BAD_OUTP_LEN
    put(data, 12, 31, 0, 0xFFFFFFFF)
    assert enabled.submit(data, 16 + 8).status == BAD_OUTP_LEN


@pytest.mark.parametrize("opcode", [QUERY_PAGES, MANAGE_PAGES])
@pytest.mark.parametrize("high, low", [(31, 31), (30, 16), (15, 0)])
def test_pages_of_another_function_are_refused(enabled, opcode, high, low):
    data = command(opcode, op_mod=1)
    put(data, 8, high, low, 1)
    assert enabled.submit(data).status == BAD_PARAM


def test_op_mod_that_does_not_exist_is_refused(enabled):
    for opcode, wrong in ((QUERY_PAGES, 0), (QUERY_PAGES, 4), (MANAGE_PAGES, 3), (MANAGE_PAGES, 0xFFFF)):
        assert enabled.submit(command(opcode, op_mod=wrong)).status == BAD_OP
    data = command(MANAGE_PAGES, op_mod=CANT_GIVE)
    assert enabled.submit(data).status == OK
    put(data, 12, 31, 0, 1)
    assert enabled.submit(data).status == BAD_PARAM


def test_function_has_a_limit_of_pages(enabled):
    step = 500  # as many as the mailboxes of this driver hold
    enabled.offer(1 << 32, 8192 * PAGE)
    given = enabled.given
    for at in range(1 << 32, (1 << 32) + (8192 - step) * PAGE, step * PAGE):
        assert enabled.submit(given([at + i * PAGE for i in range(step)])).status == OK
    assert enabled.submit(given([enabled.take(PAGE) for _ in range(step)])).status == LIMIT


class Requests:
    """An event queue for requests of pages, with vector 1; the function has no page to spare."""

    def __init__(self, driver):
        self.driver, self.seen = driver, 0
        driver.take_pages(SPARE_PAGES)
        self.irq = driver.enable_irqs()[1]
        self.eq = driver.create_eq(driver.call(ALLOC_UAR).number, vector=1, events=[PAGES_EVENT])
        driver.tell_eq(self.eq, 0)

    def next(self):
        """The number of pages that the function asks for."""
        await_irq(self.irq)
        kind, data = self.driver.event(self.eq, self.seen)
        assert kind == PAGES_EVENT and struct.unpack(">HH", data[:4]) == (0, 0)
        self.seen += 1
        self.driver.tell_eq(self.eq, self.seen)
        return struct.unpack(">i", data[4:8])[0]

    def none(self):
        return self.driver.event(self.eq, self.seen) is None


@pytest.fixture
def requests(running):
    return Requests(running)


@pytest.fixture
def pds(running, requests):
    """As many as there are pages for, with what the queue for requests needs."""
    return [running.call(ALLOC_PD).number for _ in range(OBJECTS - 3)]


def begin(driver, slot):
    """Sends a creation in an entry of its own, which is not answered yet."""
    assert driver.submit(command(ALLOC_PD), slot=slot) is None


def cannot_give(driver):
    driver.call(MANAGE_PAGES, op_mod=CANT_GIVE)


def test_creation_waits_for_the_page_that_it_needs(running, requests, pds):
    begin(running, slot=1)
    count = requests.next()
    begin(running, slot=2)
    running.call(DEALLOC_PD, pds.pop())  # other commands do not wait
    assert running.answer(slot=1).status == OK  # its place is free
    assert running.answer(slot=2) is None
    assert requests.none()  # it has asked already
    given = running.give_pages(count)
    assert running.answer(slot=2).status == OK
    assert running.missing_pages(REGULAR) < 0
    pds += [running.answer(slot).number for slot in (1, 2)]
    assert requests.none()
    for pd in pds:
        running.call(DEALLOC_PD, pd)
    assert len(running.take_pages(400)) <= len(given)


@pytest.mark.usefixtures("pds")
def test_creation_fails_if_the_driver_has_no_page(running, requests):
    begin(running, slot=1)
    begin(running, slot=2)
    count = requests.next()
    cannot_give(running)
    assert running.answer(slot=1).status == NO_RES
    assert running.answer(slot=2) is None and requests.next() == count  # each asks once
    cannot_give(running)
    assert running.answer(slot=2).status == NO_RES
    begin(running, slot=1)
    assert requests.next() == count
    running.give_pages(1)
    assert running.answer(slot=1).status == OK


def test_refusal_that_nobody_waits_for_changes_nothing(running, requests, pds):
    cannot_give(running)
    begin(running, slot=1)
    requests.next()
    running.call(DEALLOC_PD, pds[0])
    assert running.answer(slot=1).status == OK
    cannot_give(running)
    running.call(DEALLOC_PD, pds[1])
    running.call(ALLOC_PD)
    begin(running, slot=1)
    requests.next()


def test_command_that_waits_is_reported_when_it_ends(running, requests):
    commands = running.create_eq(running.call(ALLOC_UAR).number, vector=2, events=[COMMAND_EVENT])
    before = OBJECTS - 1 - 4
    for _ in range(before):
        running.call(ALLOC_PD)
    begin(running, slot=3)
    count = requests.next()
    assert running.event(commands, before) is None
    running.give_pages(count)
    kind, data = running.event(commands, before)
    assert kind == COMMAND_EVENT and struct.unpack(">I", data[:4])[0] == 1 << 0 | 1 << 3


@pytest.mark.usefixtures("pds", "requests")
@pytest.mark.parametrize("end", ["teardown", "reset", "taken back"])
def test_command_that_waits_ends_with_what_it_waits_for(running, end):
    begin(running, slot=1)
    if end == "teardown":
        running.call(TEARDOWN_HCA)
        assert running.answer(slot=1).status == BAD_SYS_STATE
        return
    if end == "reset":
        running.client.reset()
        running.attach()
        running.start()
    else:
        running.poke(running.queue + 64 + 63, b"\0")
    running.give_pages(10)
    running.call(ALLOC_PD)
    assert running.peek(running.queue + 64 + 32, 16) == bytes(16)  # nothing has answered


def test_creation_fails_if_the_driver_does_not_listen(running):
    running.take_pages(SPARE_PAGES)
    for _ in range(OBJECTS - 1):
        running.call(ALLOC_PD)
    assert running.submit(command(ALLOC_PD)).status == NO_RES


def test_function_returns_pages_that_it_no_longer_needs(running, requests, pds):
    running.give_pages(400)
    running.call(DEALLOC_PD, pds.pop())
    count = requests.next()
    assert count < 0
    running.call(DEALLOC_PD, pds.pop())
    assert requests.none()  # it has said so
    assert len(running.take_pages(-count)) == -count
    running.call(DEALLOC_PD, pds.pop())
    assert requests.next() == count
