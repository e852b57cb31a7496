# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Work requests that change mkeys, as Linux's driver posts them for itself and for the kernel's users of RDMA. Rows and
bits are those of Linux's mlx5_ifc.h and qp.h."""

import os
import struct

import pytest

from harness.mlx5_driver import (
    BAD_PARAM,
    BAD_RES,
    CREATE_MKEY,
    DESTROY_MKEY,
    DESTROY_QP,
    LIMIT,
    LIST,
    PAGE,
    QUERY_HCA_CAP,
    command,
    get,
    put,
)
from harness.mlx5_keys import (
    ATOMIC,
    BSF,
    CHECK_QPN,
    DATA,
    ENABLE,
    FREE,
    IOVA,
    KEY,
    KLM,
    Key,
    LEN,
    LOCAL_OPERATION,
    LOCAL_PROTECTION,
    LR,
    MEMORY_WINDOW,
    MTT,
    MUST_BE_FREE,
    MUST_BE_VALID,
    OK,
    PAGE_SIZE,
    PD,
    QPN,
    Queue,
    READ,
    REGISTER,
    REG_UMR,
    REMOTE_ACCESS,
    REQUEST,
    REQUEST_ERROR,
    RESPONSE_ERROR,
    RIGHTS,
    SEND_INVALIDATE,
    SEND_INVALIDATED,
    START,
    TAG,
    WRITE,
    klms,
    mtts,
)


def scattered(card, count):
    """Pages that do not follow each other."""
    return [card.pages[(7 * i + 3) % len(card.pages)] for i in range(count)]


def contents(card, pages):
    return b"".join(card.driver.peek(page, PAGE) for page in pages)


def assert_reached(card, queue, key, pages, start=IOVA + 0x123, size=None):
    """Bytes that are written by the key are in the pages, and come back by it."""
    size = len(pages) * PAGE - start % PAGE if size is None else size
    assert queue.write((card.source, card.everything), (start, key), size) == OK
    assert contents(card, pages)[start % PAGE :][:size] == DATA[:size]
    back = card.driver.take(size)
    assert queue.read((back, card.everything), (start, key), size) == OK
    assert card.driver.peek(back, size) == DATA[:size]


def region(card, pages, **more):
    return Key(**{"length": len(pages) * PAGE - 0x123, "start": IOVA + 0x123, "pd": card.pd} | more)



# --- regions of programs, which the driver's own queue pair fills


def test_free_key_gets_pages_by_pointer(card, queue, umr_queue):
    pages, key = scattered(card, 5), card.cached_key()
    assert umr_queue.point(key, mtts(pages), ENABLE, region(card, pages, tag=0x77), MUST_BE_FREE) == OK
    assert_reached(card, queue, key & ~0xFF | 0x77, pages)
    untouched = [page for page in card.pages if page not in pages]
    assert not any(contents(card, untouched))


def test_long_list_comes_in_parts(card, queue, umr_queue):
    pages, key = scattered(card, 19), card.cached_key(12)
    assert umr_queue.point(key, mtts(pages[:8]), flags=MUST_BE_FREE) == OK
    assert umr_queue.point(key, mtts(pages[8:16]), flags=MUST_BE_FREE, offset=4) == OK
    assert umr_queue.point(key, mtts(pages[16:]), ENABLE, region(card, pages), MUST_BE_FREE, offset=8) == OK
    assert_reached(card, queue, key, pages, size=12 * PAGE)
    assert_reached(card, queue, key, pages[7:], IOVA + 7 * PAGE, 12 * PAGE)


def test_list_is_longer_than_a_request_can_hold(card, queue, umr_queue):
    """Of 65,532 entries of 16 bytes, as Linux has for regions of half a gigabyte."""
    pages = (scattered(card, 20) * 6554)[: 2 * 65532]
    key = card.cached_key(65532)
    huge = card.driver.offer(1 << 32, 16 * 65532 + 64)
    huge.bytes[: 16 * 65532] = mtts(pages)
    pointer = (huge.address, card.everything, 16 * 65532)
    new = Key(length=len(pages) * PAGE, pd=card.pd)
    assert umr_queue.change(key, ENABLE, new, MUST_BE_FREE, bytes(16 * 65532), pointer=pointer) == OK
    assert_reached(card, queue, key, pages[:6], IOVA)
    assert_reached(card, queue, key, pages[-6:], IOVA + (len(pages) - 6) * PAGE)


def test_revoked_key_reaches_nothing_until_it_has_pages_again(card, queue, umr_queue):
    pages, key = scattered(card, 3), card.cached_key()
    for turn in range(3):
        pages = pages[1:] + pages[:1]
        assert umr_queue.point(key, mtts(pages), ENABLE, region(card, pages, tag=turn), MUST_BE_FREE) == OK
        assert_reached(card, queue, key & ~0xFF | turn, pages)
        assert umr_queue.change(key, PD | FREE, Key(free=1, pd=card.other_pd)) == OK
        other = Queue(card)
        assert other.read((card.source, card.everything), (IOVA + 0x123, key & ~0xFF | turn), 8) == REMOTE_ACCESS


def test_thousands_of_keys_take_room_only_while_they_are_valid(card, queue, umr_queue):
    """The lists of 40 of them are as long as all that the card has room for."""
    keys = [card.cached_key(1 << 16) for _ in range(40)]
    pages = scattered(card, 4)
    for key in keys:
        assert umr_queue.point(key, mtts(pages), ENABLE, region(card, pages), MUST_BE_FREE) == OK
        assert umr_queue.change(key, PD | FREE, Key(free=1, pd=card.other_pd)) == OK
    assert umr_queue.point(keys[0], mtts(pages), ENABLE, region(card, pages), MUST_BE_FREE) == OK
    assert_reached(card, queue, keys[0], pages)
    for key in keys:
        card.driver.call(DESTROY_MKEY, key >> 8)


def test_rights_and_domain_of_a_valid_key_are_changed(card, queue, umr_queue):
    pages, key = scattered(card, 2), card.cached_key()
    assert umr_queue.point(key, mtts(pages), ENABLE, region(card, pages), MUST_BE_FREE) == OK
    new = Key(rights="lr rr", pd=card.pd)
    assert umr_queue.change(key, RIGHTS | ATOMIC | PD, new, MUST_BE_VALID) == OK
    assert queue.read((card.source, card.everything), (IOVA + 0x123, key), 8) == OK
    assert queue.write((card.source, card.everything), (IOVA + 0x123, key), 8) == REMOTE_ACCESS
    assert umr_queue.change(key, PD, Key(pd=card.other_pd), MUST_BE_VALID) == OK
    other = Queue(card)
    assert other.read((card.source, card.everything), (IOVA + 0x123, key), 8) == REMOTE_ACCESS


def test_program_names_no_pages_of_the_guest(card):
    program, key = Queue(card, uid=7), card.create_key(MTT, 8)
    assert program.change(key, REGISTER, region(card, card.pages[:8]), pages=mtts(card.pages[:8])) == LOCAL_OPERATION
    assert Queue(card).change(key, REGISTER, region(card, card.pages[:8]), pages=mtts(card.pages[:8])) == OK


@pytest.mark.parametrize("page, right", [(0, 0), (0, READ), (1 << 44, READ | WRITE)])
def test_page_that_is_not_there_is_not_written(card, queue, umr_queue, page, right):
    """A page that may only be read, is not present, or is no memory of a guest: there the card may have what it uses."""
    card.driver.create_mkey(card.pd, 0, 2 * PAGE, [card.pages[0], card.pages[5]])
    key = card.cached_key()
    tag = page or (card.pages[0] if right else 0)
    new = Key(length=2 * PAGE, pd=card.pd)
    assert umr_queue.point(key, mtts([card.pages[1] | 3, tag | right], 0), ENABLE, new, MUST_BE_FREE) == OK
    assert queue.write((card.source, card.everything), (IOVA, key), PAGE) == OK
    assert queue.write((card.source, card.everything), (IOVA, key), 2 * PAGE) != OK
    assert not any(card.driver.peek(card.pages[0], PAGE))


def test_key_ends_with_its_list(card, queue, umr_queue):
    """The card may keep the list of another key behind it."""
    key, new = card.cached_key(4), Key(length=1 << 40, pd=card.pd)
    for one in (key, card.cached_key(4)):
        assert umr_queue.point(one, mtts(card.pages[:8]), ENABLE, new, MUST_BE_FREE) == OK
    assert queue.write((card.source, card.everything), (IOVA + 7 * PAGE, key), PAGE) == OK
    assert queue.write((card.source, card.everything), (IOVA + 7 * PAGE, key), PAGE + 1) != OK


def test_pages_may_be_large(card, queue, umr_queue):
    at = (card.driver.take(1 << 16) + 0x7FFF) & ~0x7FFF
    key = card.cached_key()
    new = Key(length=1 << 15, pd=card.pd, log_page=15)
    assert umr_queue.point(key, mtts([at]), ENABLE, new, MUST_BE_FREE) == OK
    assert queue.write((card.source, card.everything), (IOVA + 100, key), 30000) == OK
    assert card.driver.peek(at + 100, 30000) == DATA[:30000]


def test_populated_key_can_be_revoked(card, queue, umr_queue):
    data = card.request_key(MTT, 1, Key(length=2 * PAGE), actual=1)
    key = card.driver.execute(card.driver.pages(data, [page | 3 for page in card.pages[:2]])).number << 8 | TAG
    assert_reached(card, queue, key, card.pages[:2], IOVA)
    assert umr_queue.point(key, mtts(card.pages[2:4])) == MEMORY_WINDOW  # as documented: its pages stay
    umr_queue = Queue(card, REG_UMR)
    assert umr_queue.change(key, LEN, Key(length=3 * PAGE)) == MEMORY_WINDOW
    umr_queue = Queue(card, REG_UMR)
    assert umr_queue.change(key, PD | FREE, Key(free=1, pd=card.other_pd)) == OK
    assert queue.read((card.source, card.everything), (IOVA, key), 8) == REMOTE_ACCESS



# --- users of the kernel: REG_MR, LOCAL_INV, SEND_WITH_INV


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_registration_is_used_and_invalidated(card, queue, count):
    """Up to 8 pages are in the request; its last block has what was there before."""
    pages, key = scattered(card, count), card.create_key(MTT, 20)
    for tag in (1, 2):
        new = region(card, pages, tag=tag, rinval=1, pd=0)
        pages_list = mtts(pages) if count > 8 else mtts(pages)[: 8 * count].ljust(64, b"\xee")
        post = queue.point if count > 8 else lambda k, l, *w: queue.change(k, *w, pages=l)
        assert post(key, pages_list, REGISTER, new, MUST_BE_FREE) == OK
        assert_reached(card, queue, key & ~0xFF | tag, pages, size=min(count * PAGE - 0x123, 12 * PAGE))
        assert queue.invalidate(key & ~0xFF | tag) == OK
    assert queue.read((card.source, card.everything), (IOVA + 0x123, key & ~0xFF | 2), 8) == REMOTE_ACCESS


def test_valid_key_is_not_registered_again(card, queue):
    pages, key = scattered(card, 2), card.create_key(MTT, 8)
    assert queue.change(key, REGISTER, region(card, pages, pd=0), MUST_BE_FREE, mtts(pages)) == OK
    assert queue.change(key, REGISTER, region(card, pages, pd=0), MUST_BE_FREE, mtts(pages)) == MEMORY_WINDOW


def test_pieces_with_gaps_are_one_region(card, queue):
    """Linux names them by its key for all memory, which gives peers no right."""
    pieces = [(100, card.pages[4] + 7), (3000, card.pages[2] + 500), (1, card.pages[9])]
    key = card.create_key(KLM, 4, Key(start=0, free=1, log_page=0))
    local = card.driver.execute(lkey_of_domain(card)).number << 8 | TAG
    new = Key(length=3101, start=pieces[0][1], rights="lr lw rr rw", rinval=1, log_page=0)
    entries = klms([(size, local, at) for size, at in pieces])
    assert queue.change(key, REGISTER, new, MUST_BE_FREE, entries) == OK
    assert queue.write((card.source, card.everything), (pieces[0][1], key), 3101) == OK
    seen = b"".join(card.driver.peek(at, size) for size, at in pieces)
    assert seen == DATA[:3101]
    assert queue.read((card.source, card.everything), (IOVA, local), 8) == REMOTE_ACCESS


def lkey_of_domain(card):
    data = command(CREATE_MKEY, LIST)
    Key(rights="lr lw", length64=1, start=0, pd=card.pd, log_page=0).put(data, 0x10)
    return data


def test_list_grants_no_writing_that_its_entries_do_not(card, queue):
    data = command(CREATE_MKEY, LIST)
    Key(rights="lr", length64=1, start=0, pd=card.pd, log_page=0).put(data, 0x10)
    local = card.driver.execute(data).number << 8 | TAG
    key = card.create_key(KLM, 4, Key(start=0, free=1, log_page=0))
    new = Key(length=64, log_page=0)
    assert queue.change(key, REGISTER, new, MUST_BE_FREE, klms([(64, local, card.pages[0])])) == OK
    assert queue.read((card.source, card.everything), (IOVA, key), 8) == OK
    assert queue.write((card.source, card.everything), (IOVA, key), 8) == REMOTE_ACCESS
    assert not any(card.driver.peek(card.pages[0], 8))


@pytest.mark.parametrize("rinval", [1, 0])
def test_peer_invalidates_a_key(card, queue, rinval):
    pages, key = scattered(card, 2), card.create_key(MTT, 8)
    new = region(card, pages, rinval=rinval, pd=0)
    assert queue.change(key, REGISTER, new, MUST_BE_FREE, mtts(pages)) == OK
    queue.receive(0, (card.pages[0], card.everything), 100)
    body = struct.pack(">IIQ", 60, card.everything, card.source)
    card.driver.post(queue.pair, queue.index, SEND_INVALIDATE, body, key)
    queue.index += 1
    entries = {card.completion()[63] >> 4: None}
    if not rinval:
        assert entries.keys() <= {REQUEST_ERROR, RESPONSE_ERROR}
        return
    last = card.completion()
    entries[last[63] >> 4] = last
    assert entries.keys() == {REQUEST, SEND_INVALIDATED}
    assert card.driver.peek(card.pages[0], 60) == DATA[:60]
    assert queue.read((card.source, card.everything), (IOVA + 0x123, key), 8) == REMOTE_ACCESS


def test_window_belongs_to_the_queue_pair_that_bound_it(card, queue):
    """A window of type 2, as a program binds it."""
    key = card.create_key(KLM, 4, Key(start=0, free=1, rights="lr", rinval=1, log_page=0))
    new = Key(length=100, qpn=queue.pair.number, log_page=0, tag=9)
    mask = LEN | START | RIGHTS & ~LR | KEY | QPN | FREE
    entry = klms([(100, card.everything, card.pages[3])])
    assert queue.change(key, mask, new, MUST_BE_FREE, entry) == OK
    window = key & ~0xFF | 9
    assert queue.write((card.source, card.everything), (IOVA, window), 100) == OK
    assert card.driver.peek(card.pages[3], 100) == DATA[:100]
    other = Queue(card)
    assert other.write((card.source, card.everything), (IOVA, window), 8) == REMOTE_ACCESS
    assert Queue(card).change(window, QPN | FREE, Key(free=1), CHECK_QPN) == MEMORY_WINDOW
    assert queue.change(window, QPN | FREE, Key(free=1), CHECK_QPN) == OK
    assert queue.write((card.source, card.everything), (IOVA, window), 8) == REMOTE_ACCESS


def test_no_program_makes_a_key_for_all_memory(card, queue):
    """The driver alone does. When libmlx5 binds a window, it leaves there what was in the ring."""
    key, pages = card.create_key(MTT, 16), scattered(card, 2)
    new = region(card, pages, pd=0, length=PAGE, length64=1)
    assert queue.change(key, REGISTER, new, MUST_BE_FREE, mtts(pages)) == OK
    assert_reached(card, queue, key, pages, size=PAGE)
    assert queue.write((card.source, card.everything), (IOVA + 0x123 + PAGE, key), 1) == REMOTE_ACCESS


def test_null_key_reads_zeros(card, queue):
    answer = card.driver.execute(command(0x203), 32)
    null = get(answer.data, 0x10)
    card.driver.poke(card.pages[0], DATA[:64])
    assert queue.write((0, null), (card.pages[0], card.everything), 32) == OK
    assert card.driver.peek(card.pages[0], 64) == bytes(32) + DATA[32:64]



# --- what a card refuses


CASES = {
    "valid key that must be free": ({"flags": MUST_BE_FREE}, MEMORY_WINDOW),
    "free key that must be valid": ({"free": True, "flags": MUST_BE_VALID}, MEMORY_WINDOW),
    "both": ({"flags": MUST_BE_FREE | MUST_BE_VALID}, LOCAL_OPERATION),
    "flag that does not exist": ({"flags": 1}, LOCAL_OPERATION),
    "field that does not exist": ({"mask": 1 << 63}, LOCAL_OPERATION),
    "signature": ({"mask": BSF}, LOCAL_OPERATION),
    "another domain by a user": ({"mask": PD}, LOCAL_OPERATION),
    "domain that does not exist": ({"umr": True, "mask": PD, "new": {"pd": 0x7777}}, MEMORY_WINDOW),
    "small pages": ({"mask": PAGE_SIZE, "new": {"log_page": 11}}, MEMORY_WINDOW),
    "another queue pair": ({"mask": QPN, "new": {"qpn": 0x77}}, MEMORY_WINDOW),
    "part of a block": ({"pages": bytes(16)}, LOCAL_OPERATION),
    "offset in a block": ({"pages": bytes(64), "offset": 1}, LOCAL_OPERATION),
    "list that is too long": ({"pages": bytes(64), "offset": 16}, MEMORY_WINDOW),
    "offset far away": ({"pages": bytes(64), "offset": 1 << 32}, MEMORY_WINDOW),
    "pointer with another length": ({"pages": bytes(64), "pointer": (0, None, 128)}, LOCAL_OPERATION),
    "pointer by a key that does not exist": ({"pages": bytes(64), "pointer": (0, 0x777700, 64)}, LOCAL_PROTECTION),
    "pointer to no memory": ({"pages": bytes(64), "pointer": (1 << 40, None, 64)}, LOCAL_PROTECTION),
    "pointer beyond all memory": ({"pages": bytes(64), "pointer": (1 << 44, None, 64)}, LOCAL_PROTECTION),
}


@pytest.mark.parametrize("case", CASES)
def test_change_is_refused(card, case):
    """The key stays as it is."""
    fields, syndrome = dict(CASES[case][0]), CASES[case][1]
    key, pages = card.create_key(MTT, 16), scattered(card, 2)
    if not fields.pop("free", False):
        assert Queue(card).change(key, REGISTER, region(card, pages, pd=0), MUST_BE_FREE, mtts(pages)) == OK
    queue = Queue(card, REG_UMR if fields.pop("umr", False) else 0)
    fields["new"] = Key(**fields.get("new", {}))
    if "pointer" in fields:
        at, name, size = fields["pointer"]
        fields["pointer"] = (at, card.everything if name is None else name, size)
    assert queue.change(key, **fields) == syndrome
    if "must be valid" not in case:
        assert_reached(card, Queue(card), key, pages)


def test_keys_that_cannot_be_changed(card):
    plain = card.driver.create_mkey(card.pd, IOVA, PAGE, card.pages[:1])
    foreign = card.cached_key()
    for key in (plain, foreign, card.everything, 0x777700):
        assert Queue(card).change(key, FREE, Key(free=1)) == MEMORY_WINDOW
    card.driver.call(DESTROY_MKEY, foreign >> 8)
    assert Queue(card, REG_UMR).change(foreign, FREE, Key(free=1)) == MEMORY_WINDOW


def test_withdrawn_list_is_a_local_error(card, umr_queue):
    key, far = card.cached_key(), card.driver.offer(1 << 32, PAGE)
    far.bytes[:64] = mtts(card.pages[:8])
    card.driver.client.unmap(far.address, PAGE)
    pointer = (far.address, card.everything, 64)
    new = region(card, card.pages[:8])
    assert umr_queue.change(key, ENABLE, new, MUST_BE_FREE, bytes(64), pointer=pointer) == LOCAL_PROTECTION


def test_withdrawn_page_faults(card, queue, umr_queue):
    key, far = card.cached_key(), card.driver.offer(1 << 32, PAGE)
    new = Key(length=PAGE, pd=card.pd)
    assert umr_queue.point(key, mtts([far.address]), ENABLE, new, MUST_BE_FREE) == OK
    card.driver.client.unmap(far.address, PAGE)
    assert queue.write((card.source, card.everything), (IOVA, key), 64) != OK


@pytest.mark.parametrize(
    "fields, status",
    [
        ({"umr": 0}, BAD_PARAM),  # nothing could ever fill it
        ({"actual": 1}, BAD_PARAM),  # it has no list yet
        ({"octwords": 0}, BAD_PARAM),
        ({"octwords": 1 << 24}, LIMIT),
        ({"key": Key(start=0, free=1, log_page=11)}, BAD_PARAM),
        ({"pd": 0x7777}, BAD_RES),
    ],
)
def test_free_key_is_refused(card, fields, status):
    words = {"octwords": 4} | fields
    assert card.driver.submit(card.request_key(MTT, **words)).status == status


def test_all_that_works_is_announced(running):
    """And nothing else."""
    data = running.execute(command(QUERY_HCA_CAP, op_mod=1), 16 + 4096).data[16:]
    announced = {
        "imaicl": (0x44, 14, 1),
        "pg": (0x44, 24, int(not os.environ.get("DPUMAP_EMU_WIRE"))),  # packets do not wait for pages
        "fixed_buffer_size": (0x20, 23, 1),
        "sho": (0x40, 8, 0),
        "umr_modify_entity_size_disabled": (0x40, 24, 0),
        "umr_modify_atomic_disabled": (0x40, 23, 0),
        "umr_indirect_mkey_disabled": (0x40, 22, 0),
        "relaxed_ordering_write_umr": (0x18, 15, 1),
        "relaxed_ordering_read_umr": (0x18, 14, 1),
        "umr_extended_translation_offset": (0x20, 7, 1),
        "null_mkey": (0x20, 6, 1),
    }
    assert {name: get(data, row, bit, bit) for name, (row, bit, _) in announced.items()} == {
        name: value for name, (_, _, value) in announced.items()
    }


def test_nothing_is_left(card, queue, umr_queue, emulator):
    before = emulator.objects()["mkeys"]
    keys = [card.cached_key() for _ in range(3)]
    assert umr_queue.point(keys[0], mtts(card.pages[:8]), ENABLE, region(card, card.pages[:8]), MUST_BE_FREE) == OK
    assert emulator.objects()["mkeys"] == before + 3
    for key in keys:
        card.driver.call(DESTROY_MKEY, key >> 8)
    assert emulator.objects()["mkeys"] == before
    card.driver.call(DESTROY_QP, queue.pair.number)
