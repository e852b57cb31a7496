# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Work requests that change mkeys, and what they need, for a stand-in of Linux's driver. Rows and bits are those of
Linux's mlx5_ifc.h and qp.h."""

import struct
from typing import NamedTuple

from harness.machine import await_true
from harness.mlx5_driver import (
    ALLOC_PD,
    ALLOC_UAR,
    CREATE_MKEY,
    LIST,
    PAGE,
    command,
    put,
    put64,
)

UMR, SEND, SEND_INVALIDATE, RDMA_WRITE, RDMA_READ = 0x25, 0x0A, 0x01, 0x08, 0x10
REQUEST, SEND_INVALIDATED, REQUEST_ERROR, RESPONSE_ERROR = 0x0, 0x4, 0xD, 0xE
OK, LOCAL_OPERATION, LOCAL_PROTECTION, MEMORY_WINDOW, REMOTE_ACCESS = 0, 0x02, 0x04, 0x06, 0x13
REG_UMR = 0xC  # service of a queue pair
PA, MTT, KLM, KSM = 0, 1, 2, 3
READ, WRITE = 1, 2  # of a page
CHECK_QPN, AT_OFFSET, MUST_BE_FREE, MUST_BE_VALID, INLINE = 0x08, 0x10, 0x20, 0x40, 0x80
LEN, PAGE_SIZE, START, PD, RINVAL, BSF, KEY, QPN = (1 << bit for bit in (0, 1, 6, 7, 8, 12, 13, 14))
LR, LW, RR, RW, ATOMIC, SMALL_FENCE, RELAXED, FREE = (1 << bit for bit in (17, 18, 19, 20, 21, 23, 25, 29))
RANGE, RIGHTS = LEN | PAGE_SIZE | START, LR | LW | RR | RW
ENABLE = KEY | FREE | RIGHTS | ATOMIC | PD | RANGE  # the last request for a region of a program
REGISTER = RANGE | RINVAL | KEY | RIGHTS | SMALL_FENCE | FREE  # IB_WR_REG_MR
DATA = bytes(range(1, 252)) * 200
IOVA, TAG = 0x7000_0000_0000, 0x42


class Key(NamedTuple):
    """The fields of an mkey context."""

    length: int = 0
    start: int = IOVA
    rights: str = "lr lw rr rw"
    free: int = 0
    tag: int = TAG
    pd: int = 0
    qpn: int = 0xFFFFFF
    log_page: int = 12
    rinval: int = 0
    length64: int = 0

    def put(self, data, at=0):
        put(data, at, 30, 30, self.free)
        for bit, name in enumerate(("lr", "lw", "rr", "rw", "a"), 10):
            put(data, at, bit, bit, name in self.rights.split())
        put(data, at + 0x04, 31, 8, self.qpn)
        put(data, at + 0x04, 7, 0, self.tag)
        put(data, at + 0x0C, 31, 31, self.length64)
        put(data, at + 0x0C, 24, 24, self.rinval)
        put(data, at + 0x0C, 23, 0, self.pd)
        put64(data, at + 0x10, self.start)
        put64(data, at + 0x18, self.length)
        put(data, at + 0x38, 4, 0, self.log_page)


def segments(octwords, flags, mask, key, offset=0):
    """The control segment and the mkey context of a request."""
    control, context = bytearray(48), bytearray(64)
    put(control, 0, 31, 24, flags | (AT_OFFSET if offset else 0))
    put(control, 4, 31, 16, octwords)
    put(control, 4, 15, 0, offset & 0xFFFF)
    put64(control, 8, mask)
    put(control, 0x10, 31, 0, offset >> 16)
    key.put(context)
    return bytes(control + context)


def mtts(pages, rights=READ | WRITE):
    data = b"".join(struct.pack(">Q", page | rights) for page in pages)
    return data + bytes(-len(data) % 64)


def klms(entries):
    """(length, key, address) each."""
    data = b"".join(struct.pack(">IIQ", *entry) for entry in entries)
    return data + bytes(-len(data) % 64)


class Queue:
    """A queue pair that is connected to itself."""

    def __init__(self, card, service=0, uid=0):
        self.card, self.index = card, 0
        receives = None if service else 4
        driver = card.driver
        self.pair = driver.create_qp(
            0 if service else card.pd, card.cq, log_size=6, service=service, log_receives=receives, uid=uid
        )
        driver.connect_to_itself(self.pair)

    def post(self, opcode, body, imm=0):
        """The syndrome of the completion."""
        self.index = self.card.driver.post(self.pair, self.index, opcode, body, imm)
        entry = self.card.completion()
        assert entry[63] >> 4 == REQUEST or entry[55]
        return entry[55] if entry[63] >> 4 == REQUEST_ERROR else OK

    # pylint: disable-next=too-many-arguments
    def change(self, key, mask=0, new=Key(), flags=0, pages=b"", offset=0, pointer=None):
        """A request with its list in it; or with (address, key, length) of the list."""
        body = segments(len(pages) // 16, flags | (0 if pointer else INLINE), mask, new, offset)
        tail = struct.pack(">IIQ", pointer[2], pointer[1], pointer[0]) if pointer else pages
        return self.post(UMR, body + tail, key)

    def point(self, key, pages, *words, **more):
        """The same with the list in memory of the guest."""
        at = self.card.driver.take(len(pages))
        self.card.driver.poke(at, pages)
        return self.change(key, *words, pages=pages, pointer=(at, self.card.everything, len(pages)), **more)

    def invalidate(self, key):
        """IB_WR_LOCAL_INV"""
        return self.change(key, FREE, Key(free=1, start=0, rights="", tag=0, qpn=0, log_page=0))

    def write(self, local, remote, size):
        return self.post(RDMA_WRITE, struct.pack(">QII", *remote, 0) + struct.pack(">IIQ", size, local[1], local[0]))

    def read(self, local, remote, size):
        return self.post(RDMA_READ, struct.pack(">QII", *remote, 0) + struct.pack(">IIQ", size, local[1], local[0]))

    def receive(self, number, local, size):
        """Gives the receive `number` to the card."""
        driver, ring = self.card.driver, self.pair.ring - (16 << 4)
        driver.poke(ring + 16 * number, struct.pack(">IIQ", size, local[1], local[0]))
        driver.poke(self.pair.record, struct.pack(">I", number + 1))


class Card:
    """What all requests need."""

    LOG_CQ = 4

    def __init__(self, driver):
        self.driver = driver
        uar = driver.call(ALLOC_UAR).number
        self.pd, self.other_pd = (driver.call(ALLOC_PD).number for _ in range(2))
        self.cq = driver.create_cq(driver.create_eq(uar), self.LOG_CQ)
        self.seen = 0
        self.everything = driver.create_mkey(self.pd)
        self.source, self.pages = driver.take(len(DATA)), [driver.take(PAGE) for _ in range(20)]
        driver.poke(self.source, DATA)

    def completion(self):
        at, turn = divmod(self.seen, 1 << self.LOG_CQ)[::-1]

        def entry():
            one = self.driver.peek(self.cq.ring + 64 * at, 64)
            return one if one[63] >> 4 != 0xF and one[63] & 1 == turn & 1 else None

        one = await_true(entry, pause=0.001)
        assert one, "there is no completion"
        self.seen += 1
        self.driver.poke(self.cq.record, struct.pack(">I", self.seen))
        return one

    # pylint: disable-next=too-many-arguments
    def request_key(self, mode, octwords, key=Key(start=0, free=1), umr=1, actual=0, pd=None):
        """The command that creates a key which requests fill."""
        data = command(CREATE_MKEY, LIST)
        key._replace(pd=self.pd if pd is None else pd).put(data, 0x10)
        put(data, 0x10, 15, 15, umr)
        put(data, 0x10, 9, 8, mode)
        put(data, 0x44, 31, 0, octwords)
        put(data, 0x60, 31, 0, actual)
        return data

    def create_key(self, *words, **more):
        return self.driver.execute(self.request_key(*words, **more)).number << 8 | TAG

    def cached_key(self, octwords=16):
        """A key as the driver keeps many, in a domain of its own."""
        return self.create_key(MTT, octwords, Key(start=0, free=1, rights="lr"), pd=self.other_pd)
