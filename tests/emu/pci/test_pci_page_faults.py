# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Page faults: requests for pages that a key does not have yet. The driver gives the page and resumes the queue, as
Linux's odp.c does."""

import struct

import pytest

from harness.machine import await_true
from harness.mlx5_driver import ALLOC_UAR, BAD_RES, DESTROY_QP, PAGE, command, put
from harness.mlx5_keys import (
    DATA,
    ENABLE,
    IOVA,
    KLM,
    KSM,
    LOCAL_PROTECTION,
    MUST_BE_FREE,
    OK,
    PD,
    RDMA_READ,
    RDMA_WRITE,
    READ,
    REMOTE_ACCESS,
    REQUEST_ERROR,
    SEND,
    Key,
    klms,
    mtts,
)

PAGE_FAULT_RESUME, PAGE_FAULT = 0x204, 0x0C
OF_WQE, OF_RDMA = 0, 1
REQUEST_OUT, RECEIVE, REQUEST_IN, RDMA_OF_READ, RDMA_OF_WRITE = 1, 2, 3, 4, 6
NULL_KEY = 0x200
ALL = 4  # pages of the region


class Fault:
    """An event, by the layout of Linux's struct mlx5_eqe_page_fault."""

    def __init__(self, sub_type, data):
        self.sub_type = sub_type
        words = struct.unpack(">7I", data)
        self.committed, self.type = words[0], words[6] >> 24 & 7
        if sub_type == OF_WQE:
            self.index, self.token, self.queue = words[1] & 0xFFFF, words[3], words[6] & 0xFFFFFF
        else:
            self.key, self.length, self.token = words[1], words[3], words[6] & 0xFFFFFF
            self.address = words[4] << 32 | words[5]


class Pager:
    """The driver's part: an event queue, and a region of which no page is present."""

    def __init__(self, card, umr_queue):
        self.card, self.umr_queue, self.seen = card, umr_queue, 0
        self.eq = card.driver.create_eq(card.driver.call(ALLOC_UAR).number, events=[PAGE_FAULT])
        self.key = self.region()

    def region(self):
        key = self.card.cached_key()
        new = Key(length=ALL * PAGE, pd=self.card.pd)
        assert self.umr_queue.point(key, bytes(8 * 8), ENABLE, new, MUST_BE_FREE) == OK
        return key

    def fault(self):
        event = await_true(lambda: self.card.driver.event(self.eq, self.seen), pause=0.001)
        assert event, "no page fault is reported"
        sub_type = self.card.driver.peek(self.eq.ring + 64 * self.seen, 64)[3]
        self.seen += 1
        assert event[0] == PAGE_FAULT
        return Fault(sub_type, event[1])

    def has_another(self):
        return self.card.driver.event(self.eq, self.seen) is not None

    def give(self, pages=None, rights=READ | 2):
        pages = self.card.pages[:ALL] if pages is None else pages
        assert self.umr_queue.point(self.key, mtts(pages, rights)) == OK

    def resume(self, fault, error=0, **more):
        data = command(PAGE_FAULT_RESUME)
        put(data, 8, 31, 31, error)
        put(data, 8, 26, 24, fault.type)
        put(data, 8, 23, 0, fault.queue if fault.sub_type == OF_WQE else fault.token)
        put(data, 0xC, 23, 0, more.get("token", fault.token))
        return self.card.driver.submit(data).status


@pytest.fixture
def pager(card, umr_queue):
    return Pager(card, umr_queue)


def begin(queue, opcode, local, remote, size):
    """Posts a request without waiting for its completion."""
    body = struct.pack(">QII", *remote, 0) if remote else b""
    body += struct.pack(">IIQ", size, local[1], local[0])
    queue.index = queue.card.driver.post(queue.pair, queue.index, opcode, body)


def ends_with(queue):
    entry = queue.card.completion()
    return entry[55] if entry[63] >> 4 == REQUEST_ERROR else OK


def contents(card):
    return b"".join(card.driver.peek(page, PAGE) for page in card.pages[:ALL])


def test_write_to_a_missing_page_waits_for_it(card, queue, pager):
    begin(queue, RDMA_WRITE, (card.source, card.everything), (IOVA + 64, pager.key), 2 * PAGE)
    fault = pager.fault()
    assert (fault.sub_type, fault.type, fault.committed) == (OF_RDMA, RDMA_OF_WRITE, 0)
    assert (fault.key, fault.address, fault.length) == (pager.key, IOVA + 64, 2 * PAGE)
    pager.give()
    assert pager.resume(fault) == OK
    assert ends_with(queue) == OK
    assert contents(card)[64:][: 2 * PAGE] == DATA[: 2 * PAGE]
    assert not pager.has_another()


def test_nothing_goes_on_before_the_queue_is_resumed(card, queue, pager):
    begin(queue, RDMA_WRITE, (card.source, card.everything), (IOVA, pager.key), 64)
    fault = pager.fault()
    pager.give()
    assert contents(card)[:64] == bytes(64)
    assert pager.resume(fault) == OK
    assert ends_with(queue) == OK


def test_read_of_a_missing_page_waits_for_it(card, queue, pager):
    card.driver.poke(card.pages[0], DATA[:64])
    back = card.driver.take(PAGE)
    begin(queue, RDMA_READ, (back, card.everything), (IOVA, pager.key), 64)
    fault = pager.fault()
    assert (fault.sub_type, fault.type) == (OF_RDMA, RDMA_OF_READ)
    pager.give()
    assert pager.resume(fault) == OK
    assert ends_with(queue) == OK
    assert card.driver.peek(back, 64) == DATA[:64]


@pytest.mark.parametrize("opcode, kind", [(RDMA_WRITE, REQUEST_OUT), (RDMA_READ, REQUEST_IN)])
def test_local_page_is_that_of_the_work_request(card, queue, pager, opcode, kind):
    assert queue.write((card.source, card.everything), (card.pages[8], card.everything), 64) == OK
    index = queue.index
    begin(queue, opcode, (IOVA, pager.key), (card.pages[9], card.everything), 64)
    fault = pager.fault()
    assert (fault.sub_type, fault.type, fault.index, fault.queue) == (OF_WQE, kind, index, queue.pair.number)
    pager.give()
    assert pager.resume(fault) == OK
    assert ends_with(queue) == OK


def test_receive_waits_for_its_page(card, queue, pager):
    queue.receive(0, (IOVA, pager.key), PAGE)
    begin(queue, SEND, (card.source, card.everything), None, PAGE)
    fault = pager.fault()
    assert (fault.sub_type, fault.type, fault.index, fault.queue) == (OF_WQE, RECEIVE, 0, queue.pair.number)
    pager.give()
    assert pager.resume(fault) == OK
    for _ in range(2):
        assert card.completion()[63] >> 4 != REQUEST_ERROR
    assert contents(card)[:PAGE] == DATA[:PAGE]


def test_sent_page_is_that_of_the_sender(card, queue, pager):
    queue.receive(0, (card.pages[9], card.everything), PAGE)
    begin(queue, SEND, (IOVA, pager.key), None, PAGE)
    fault = pager.fault()
    assert (fault.sub_type, fault.type, fault.index, fault.queue) == (OF_WQE, REQUEST_OUT, 0, queue.pair.number)
    pager.give()
    assert pager.resume(fault) == OK
    for _ in range(2):
        assert card.completion()[63] >> 4 != REQUEST_ERROR


def test_page_that_may_only_be_read_is_asked_for_again(card, queue, pager):
    pager.give(rights=READ)
    begin(queue, RDMA_WRITE, (card.source, card.everything), (IOVA, pager.key), 64)
    fault = pager.fault()
    assert pager.resume(fault) == OK
    fault = pager.fault()
    pager.give()
    assert pager.resume(fault) == OK
    assert ends_with(queue) == OK


@pytest.mark.parametrize("is_remote, syndrome", [(True, REMOTE_ACCESS), (False, LOCAL_PROTECTION)])
def test_page_that_the_driver_cannot_give_is_an_error(card, queue, pager, is_remote, syndrome):
    missing, present = (IOVA, pager.key), (card.pages[9], card.everything)
    local, remote = (present, missing) if is_remote else (missing, present)
    begin(queue, RDMA_WRITE, local, remote, 64)
    assert pager.resume(pager.fault(), error=1) == OK
    assert ends_with(queue) == syndrome


def test_late_or_wrong_answer_resumes_nothing(card, queue, pager):
    begin(queue, RDMA_WRITE, (card.source, card.everything), (IOVA, pager.key), 64)
    fault = pager.fault()
    assert pager.resume(fault, token=fault.token ^ 1) == OK
    assert pager.resume(fault, token=0xFFFFFF) == BAD_RES
    assert not pager.has_another()
    pager.give()
    assert pager.resume(fault) == OK
    assert pager.resume(fault, error=1) == OK
    assert ends_with(queue) == OK
    assert queue.write((card.source, card.everything), (IOVA, pager.key), 64) == OK


def test_queue_that_waits_can_be_destroyed(card, queue, pager):
    begin(queue, RDMA_WRITE, (card.source, card.everything), (IOVA, pager.key), 64)
    fault = pager.fault()
    card.driver.call(DESTROY_QP, queue.pair.number)
    assert pager.resume(fault) == BAD_RES


def test_without_an_event_queue_it_is_an_error_at_once(card, queue, umr_queue):
    key = card.cached_key()
    new = Key(length=ALL * PAGE, pd=card.pd)
    assert umr_queue.point(key, bytes(64), ENABLE, new, MUST_BE_FREE) == OK
    assert queue.write((card.source, card.everything), (IOVA, key), 64) == REMOTE_ACCESS


def test_null_key_in_a_list_of_the_driver_stands_for_a_missing_part(card, queue, umr_queue, pager):
    """As Linux has it in the list of a region that is a whole address space: the part comes when it is needed."""
    whole = card.create_key(KSM, 4, Key(start=0, free=1))
    part = PAGE * ALL
    missing = klms([(part, NULL_KEY, 0)] * 4)
    new = Key(start=0, length=4 * part, pd=card.pd, log_page=14)
    assert umr_queue.point(whole, missing, ENABLE, new, MUST_BE_FREE) == OK
    begin(queue, RDMA_WRITE, (card.source, card.everything), (part + 64, whole), 64)
    fault = pager.fault()
    assert (fault.key, fault.address, fault.length) == (whole, part + 64, 64)
    pager.give()
    assert umr_queue.point(whole, klms([(part, NULL_KEY, 0), (part, pager.key, IOVA)] + [(part, NULL_KEY, 0)] * 2)) == OK
    assert pager.resume(fault) == OK
    assert ends_with(queue) == OK
    assert contents(card)[64:128] == DATA[:64]
    assert umr_queue.point(whole, missing) == OK
    begin(queue, RDMA_WRITE, (card.source, card.everything), (part, whole), 64)
    assert pager.resume(pager.fault(), error=1) == OK
    assert ends_with(queue) == REMOTE_ACCESS


def test_null_key_in_a_list_of_pieces_is_no_memory(card, queue, pager):
    whole = card.create_key(KLM, 4, Key(start=0, free=1, log_page=0))
    new = Key(start=0, length=PAGE, pd=card.pd, log_page=0)
    assert queue.change(whole, ENABLE & ~PD, new, MUST_BE_FREE, klms([(PAGE, NULL_KEY, 0)])) == OK
    assert queue.write((card.source, card.everything), (0, whole), 64) == OK
    assert not pager.has_another()


def test_list_that_has_not_been_written_lacks_its_pages(card, queue, umr_queue, pager):
    key = card.cached_key()
    assert umr_queue.change(key, ENABLE, Key(length=PAGE, pd=card.pd), MUST_BE_FREE) == OK
    begin(queue, RDMA_WRITE, (card.source, card.everything), (IOVA, key), 64)
    fault = pager.fault()
    assert fault.key == key
    assert pager.resume(fault, error=1) == OK
    assert ends_with(queue) == REMOTE_ACCESS
