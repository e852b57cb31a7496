# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A driver of a PCI function, as small as it can be: it has the memory of a guest, a command queue, event queues and
queue pairs there, and reaches the function by a VfioUserClient. Rows and bits are those of Linux's mlx5_ifc.h."""

import os
import struct
from typing import NamedTuple

from harness.vfio_user import Irq, VfioUserClient

PAGE = 4096
BAR0 = 0
CMDQ_HIGH, CMDQ_LOW, DOORBELL = 0x10, 0x14, 0x18  # in the initialisation segment
CQ_ARM, EQ_ARM, EQ_CI, BLUEFLAME = 0x20, 0x40, 0x48, 0x800  # in a doorbell page
COMMAND_EVENT, COMPLETION_EVENT, CQ_ERROR_EVENT = 0x0A, 0x00, 0x04
INTERNAL_ERROR_EVENT, PORT_EVENT, PAGES_EVENT = 0x08, 0x09, 0x0B
DELIVERED, BAD_TOKEN, BAD_BLOCK, BAD_OUT, BAD_IN, BAD_IN_LEN, BAD_OUT_LEN, RESERVED, BAD_TYPE = (
    0, 2, 3, 4, 5, 7, 8, 9, 0x10)  # fmt: skip
BLOCK, DATA, STEP, BLOCKS = 576, 512, 1024, 16  # of mailboxes: each has a step, each entry two rows of blocks
LIST = 0x110  # where page lists begin
SPARE_PAGES = 40  # so that no test waits for pages that is about something else

ENABLE_HCA, DISABLE_HCA, INIT_HCA, TEARDOWN_HCA = 0x104, 0x105, 0x102, 0x103
QUERY_HCA_CAP, SET_ISSI, QUERY_ISSI, QUERY_ADAPTER = 0x100, 0x10B, 0x10A, 0x101
QUERY_PAGES, MANAGE_PAGES = 0x107, 0x108
BOOT, INIT, REGULAR = 1, 2, 3  # op_mod of QUERY_PAGES
CANT_GIVE, GIVE, TAKE = 0, 1, 2  # op_mod of MANAGE_PAGES
CREATE_MKEY, DESTROY_MKEY = 0x200, 0x202
CREATE_EQ, DESTROY_EQ, QUERY_EQ = 0x301, 0x302, 0x303
CREATE_CQ, DESTROY_CQ, QUERY_CQ, MODIFY_CQ = 0x400, 0x401, 0x402, 0x403
CREATE_QP, DESTROY_QP, RST2INIT, INIT2RTR, RTR2RTS, QP_2ERR = 0x500, 0x501, 0x502, 0x503, 0x504, 0x507
RC, UD = 0, 2  # services of queue pairs
ATTACH_TO_MCG, DETACH_FROM_MCG = 0x806, 0x807
ALLOC_PD, DEALLOC_PD, ALLOC_UAR, DEALLOC_UAR = 0x800, 0x801, 0x802, 0x803
CREATE_SQ, MODIFY_SQ, DESTROY_SQ = 0x904, 0x905, 0x906
CREATE_RMP = 0x90C
OK, BAD_OP, BAD_PARAM, BAD_SYS_STATE, BAD_RES, RES_BUSY, LIMIT, BAD_RES_STATE, NO_RES = 0, 2, 3, 4, 5, 6, 8, 9, 15
BAD_SIZE, BAD_INP_LEN, BAD_OUTP_LEN = 0x40, 0x50, 0x51


def put(data, row, high, low, value):
    """Sets bits of a row of 32; data is a bytearray."""
    old = struct.unpack_from(">I", data, row)[0]
    mask = (1 << high + 1) - (1 << low)
    assert not value << low & ~mask, f"{value:#x} is too wide for {row:#x}, {high}:{low}"
    struct.pack_into(">I", data, row, old & ~mask | value << low)


def put64(data, row, value):
    struct.pack_into(">Q", data, row, value)


def get(data, row, high=31, low=0):
    return struct.unpack_from(">I", data, row)[0] >> low & (1 << high - low + 1) - 1


def command(opcode, size=16, number=0, op_mod=0):
    """The mailbox of a command that names an object."""
    data = bytearray(size)
    put(data, 0, 31, 16, opcode)
    put(data, 4, 15, 0, op_mod)
    put(data, 8, 23, 0, number)
    return data


class Refused(Exception):
    """The firmware refuses a command."""

    def __init__(self, opcode, status, syndrome):
        super().__init__(f"command {opcode:#x}: status {status:#x}, syndrome {syndrome:#x}")
        self.status = status


class Answer(NamedTuple):
    delivery: int
    data: bytes

    @property
    def status(self):
        return self.data[0]

    @property
    def number(self):
        return get(self.data, 8, 23)


class EventQueue(NamedTuple):
    number: int
    uar: int
    ring: int
    log_size: int


class CompletionQueue(NamedTuple):
    number: int
    uar: int
    ring: int
    record: int


class QueuePair(NamedTuple):
    number: int
    uar: int
    ring: int
    record: int
    log_size: int  # of the ring, in blocks of 64 bytes


class Driver:  # pylint: disable=too-many-public-methods
    """The guest has its memory at `address`; `at` is what is not given out of it."""

    def __init__(self, path, address=1 << 20, size=8 << 20):
        self.client = VfioUserClient(path)
        self.client.negotiate()
        self.irqs = []
        self.memories = []
        self.memory = self.offer(address, size)
        self.queue = self.at = address
        self.take(PAGE)
        self.boxes = self.take(32 * 2 * BLOCKS * STEP)
        self.attach()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        for memory in self.memories:
            memory.close()
        for fd in self.irqs:
            os.close(fd)

    # --- memory and registers

    def offer(self, address, size):
        """More memory of the guest."""
        self.memories.append(self.client.offer(address, size))
        return self.memories[-1]

    def take(self, size):
        """Whole pages of zeros that nothing else uses."""
        at, self.at = self.at, self.at + (size + PAGE - 1) // PAGE * PAGE
        assert self.at <= self.memory.address + len(self.memory.bytes), "the guest has no more memory"
        return at

    def part(self, address):
        """The memory that has the address."""
        return next(one for one in self.memories if one.address <= address < one.address + one.size)

    def poke(self, address, data):
        memory = self.part(address)
        at = address - memory.address
        memory.bytes[at : at + len(data)] = bytes(data)

    def peek(self, address, size):
        memory = self.part(address)
        at = address - memory.address
        return memory.bytes[at : at + size]

    def write(self, offset, *words):
        self.client.write(BAR0, offset, struct.pack(f">{len(words)}I", *words))

    def read(self, offset):
        return struct.unpack(">I", self.client.read(BAR0, offset, 4))[0]

    def attach(self, address=None):
        """Tells the function where the command queue is."""
        address = self.queue if address is None else address
        self.write(CMDQ_HIGH, address >> 32)
        self.write(CMDQ_LOW, address & 0xFFFFFFFF)

    def enable_irqs(self, count=4):
        self.irqs = self.client.enable_irqs(Irq.MSIX, count)
        return self.irqs

    # --- commands

    def box(self, slot, out, number):
        return self.boxes + ((slot * 2 + out) * BLOCKS + number) * STEP

    def fill_chain(self, slot, out, data, token):
        """Puts bytes into mailboxes; returns the address of the first one, or 0."""
        count = (len(data) + DATA - 1) // DATA
        assert count <= BLOCKS, "the command is too long for this driver"
        for i in range(count):
            following = self.box(slot, out, i + 1) if i + 1 < count else 0
            part = bytes(data[i * DATA : (i + 1) * DATA]).ljust(DATA, b"\0")
            self.poke(self.box(slot, out, i), part + bytes(48) + struct.pack(">QIBBBB", following, i, 0, token, 0, 0))
        return self.box(slot, out, 0) if count else 0

    # pylint: disable-next=too-many-arguments
    def entry(self, data, out_len=16, slot=0, token=0x5A, **fields):
        """Puts a command into the queue, without telling the function; fields replace those of the entry."""
        field = {
            "type": 7,
            "in_len": len(data),
            "in_pointer": self.fill_chain(slot, 0, data[16:], token),
            "out_pointer": self.fill_chain(slot, 1, bytes(max(out_len - 16, 0)), token),
            "out_len": out_len,
            "token": token,
            "reserved": 0,
            "owner": 1,
        } | fields
        head = struct.pack(">IIQ", field["type"] << 24 | field["reserved"], field["in_len"], field["in_pointer"])
        tail = struct.pack(">QIBBBB", field["out_pointer"], field["out_len"], field["token"], 0, 0, field["owner"])
        self.poke(self.queue + 64 * slot, head + bytes(data[:16]).ljust(16, b"\0") + bytes(16) + tail)

    def answer(self, slot=0, out_len=16):
        """The answer in an entry, None if the function has not given it back."""
        entry = self.peek(self.queue + 64 * slot, 64)
        if entry[63] & 1:
            return None
        data = entry[32:48]
        for i in range((max(out_len - 16, 0) + DATA - 1) // DATA):
            data += self.peek(self.box(slot, 1, i), DATA)
        return Answer(entry[63] >> 1, data[: max(out_len, 16)])

    def ring(self, vector=1):
        self.write(DOORBELL, vector)

    def submit(self, data, out_len=16, slot=0, **fields):
        """The answer to a command that may fail to be delivered, or be refused."""
        self.entry(data, out_len, slot, **fields)
        self.ring(1 << slot)
        return self.answer(slot, out_len)

    def execute(self, data, out_len=16, slot=0):
        """The answer to a command that is delivered and succeeds."""
        answer = self.submit(data, out_len, slot)
        assert answer is not None, f"command {get(data, 0, 31, 16):#x} has no answer"
        assert answer.delivery == DELIVERED, f"command {get(data, 0, 31, 16):#x}: delivery status {answer.delivery:#x}"
        if answer.status:
            raise Refused(get(data, 0, 31, 16), answer.status, get(answer.data, 4))
        return answer

    def call(self, opcode, number=0, out_len=16, op_mod=0):
        return self.execute(command(opcode, 16, number, op_mod), out_len)

    def start(self):
        """Until the function is initialised."""
        self.call(ENABLE_HCA)
        self.execute(command(SET_ISSI, number=1))
        self.initialise()
        return self

    def initialise(self, spare=SPARE_PAGES):
        self.give_pages(self.missing_pages() + spare)
        self.call(INIT_HCA)

    def missing_pages(self, op_mod=INIT):
        """How many pages the function asks for; less than 0: how many it does not need."""
        return struct.unpack(">i", self.call(QUERY_PAGES, op_mod=op_mod).data[12:16])[0]

    def give_pages(self, count=None):
        """Gives the pages that the function asks for."""
        count = self.missing_pages() if count is None else count
        at = self.take(count * PAGE)
        pages = [at + i * PAGE for i in range(count)]
        self.execute(self.given(pages))
        return pages

    def given(self, pages, count=None):
        data = command(MANAGE_PAGES, op_mod=GIVE)
        put(data, 12, 31, 0, len(pages) if count is None else count)
        return self.pages(data, pages)

    def take_pages(self, count):
        """The pages that the function returns."""
        data = command(MANAGE_PAGES, op_mod=TAKE)
        put(data, 12, 31, 0, count)
        answer = self.execute(data, 16 + 8 * count).data
        return list(struct.unpack(f">{get(answer, 8)}Q", answer[16 : 16 + 8 * get(answer, 8)]))

    # --- objects

    def pages(self, data, addresses):
        return bytes(data) + b"".join(struct.pack(">Q", address) for address in addresses)

    # pylint: disable-next=too-many-arguments
    def create_eq(self, uar, log_size=6, vector=0, events=(), ring=None, log_page=12):
        size = 64 << log_size
        ring = ring or [self.take(size) + i for i in range(0, max(size, PAGE), 1 << log_page)]
        for address in ring:
            self.poke(address, (bytes(63) + b"\1") * (1 << log_page - 6))
        data = command(CREATE_EQ, LIST)
        put(data, 0x10 + 0x0C, 28, 24, log_size)
        put(data, 0x10 + 0x0C, 23, 0, uar)
        put(data, 0x10 + 0x14, 11, 0, vector)
        put(data, 0x10 + 0x18, 28, 24, log_page - 12)
        put64(data, 0x58, sum(1 << event for event in events))
        return EventQueue(self.execute(self.pages(data, ring)).data[11], uar, ring[0], log_size)

    def event(self, eq, index):
        """(type, data) of an event, None if the function has not written it."""
        at = self.peek(eq.ring + 64 * (index % (1 << eq.log_size)), 64)
        return None if at[63] & 1 != index >> eq.log_size & 1 else (at[1], at[32:60])

    def tell_eq(self, eq, consumer, arm=True):
        self.write(eq.uar * PAGE + (EQ_ARM if arm else EQ_CI), eq.number << 24 | consumer & 0xFFFFFF)

    def create_cq(self, eq, log_size=4, ring=None):
        ring = ring or self.take(64 << log_size)
        record = self.take(PAGE)
        self.poke(ring, (bytes(63) + b"\xf1") * (1 << log_size))
        data = command(CREATE_CQ, LIST)
        put(data, 0x10 + 0x0C, 28, 24, log_size)
        put(data, 0x10 + 0x0C, 23, 0, eq.uar)
        put(data, 0x10 + 0x14, 7, 0, eq.number)
        put64(data, 0x10 + 0x38, record)
        pages = range(ring, ring + max(64 << log_size, PAGE), PAGE)
        return CompletionQueue(self.execute(self.pages(data, pages)).number, eq.uar, ring, record)

    def arm_cq(self, cq, consumer=0, serial=0):
        word = serial << 28 | consumer
        self.poke(cq.record + 4, struct.pack(">I", word))
        self.write(cq.uar * PAGE + CQ_ARM, word, cq.number)

    def completion(self, cq, index):
        """The entry, None if the function has not written it."""
        entry = self.peek(cq.ring + 64 * index, 64)
        return None if entry[63] >> 4 == 0xF else entry

    def create_rmp(self, pd):
        """A shared receive queue of 16 receives of 32 bytes. Its number."""
        data = command(CREATE_RMP, LIST)
        put(data, 0x20, 23, 20, 1)
        put(data, 0x50 + 0x08, 23, 0, pd)
        put64(data, 0x50 + 0x10, self.take(PAGE))
        put(data, 0x50 + 0x20, 19, 16, 5)
        put(data, 0x50 + 0x20, 4, 0, 4)
        return self.execute(self.pages(data, [self.take(PAGE)])).number

    def create_mkey(self, pd, start=0, size=None, pages=None, log_page=12):
        """A key for all memory by its physical addresses; or for pages at an address of the key's own. Its number."""
        data = command(CREATE_MKEY, LIST)
        put(data, 0x10, 13, 10, 0xF)
        put(data, 0x14, 31, 8, 0xFFFFFF)
        put(data, 0x14, 7, 0, 0x42)
        put(data, 0x1C, 23, 0, pd)
        if pages is None:
            put(data, 0x1C, 31, 31, 1)
        else:
            put(data, 0x10, 9, 8, 1)
            put64(data, 0x20, start)
            put64(data, 0x28, size)
            put(data, 0x44, 31, 0, (len(pages) + 1) // 2)
            put(data, 0x48, 4, 0, log_page)
            put(data, 0x60, 31, 0, (len(pages) + 1) // 2)
            pages = [page | 3 for page in pages]
        return self.execute(self.pages(data, pages or ())).number << 8 | 0x42

    # pylint: disable-next=too-many-arguments
    def create_qp(self, pd, cq, log_size=4, ring=None, record=None, service=RC, log_receives=None, uid=0):
        """A queue pair in RESET, of the service RC, which only sends, or has 2**log_receives receives of 16 bytes. These
        are first in the ring. uid: of the program for which the driver creates it."""
        receives = 16 << log_receives if log_receives is not None else 0
        size = receives + (64 << log_size)
        ring, record = ring or self.take(size), record or self.take(PAGE)
        data = command(CREATE_QP, LIST)
        put(data, 0, 15, 0, uid)
        qpc = 0x18
        put(data, qpc, 23, 16, service)
        put(data, qpc + 0x04, 23, 0, pd)
        put(data, qpc + 0x08, 14, 11, log_size)
        put(data, qpc + 0x0C, 23, 0, cq.uar)
        put(data, qpc + 0x7C, 23, 0, cq.number)
        put(data, qpc + 0x9C, 23, 0, cq.number)
        put64(data, qpc + 0xA0, record)
        put(data, qpc + 0xAC, 26, 24, 0 if receives else 3)
        if receives:
            put(data, qpc + 0x08, 22, 19, log_receives)
        pages = range(ring, ring + max(size, PAGE), PAGE)
        return QueuePair(self.execute(self.pages(data, pages)).number, cq.uar, ring + receives, record, log_size)

    def connect_to_itself(self, qp):
        init, rtr, rts = (command(opcode, LIST, qp.number) for opcode in (RST2INIT, INIT2RTR, RTR2RTS))
        qpc, path = 0x18, 0x18 + 0x18
        put(init, qpc + 0x90, 15, 14, 3)
        put(init, path + 0x24, 23, 16, 1)
        self.execute(init)
        put(rtr, qpc + 0x08, 31, 29, 3)
        put(rtr, qpc + 0x08, 28, 24, 30)
        put(rtr, qpc + 0x14, 23, 0, qp.number)
        put(rtr, path, 31, 31, 1)
        self.execute(rtr)
        put(rts, qpc + 0x70, 18, 16, 7)
        self.execute(rts)
        return qp

    # pylint: disable-next=too-many-arguments
    def rdma_write(self, qp, index, local, remote, size):
        """local and remote: (address, key)."""
        self.post(qp, index, 0x08, struct.pack(">QII", *remote, 0) + struct.pack(">IIQ", size, local[1], local[0]))

    # pylint: disable-next=too-many-arguments
    def post(self, qp, index, opcode, body, imm=0):
        """A work request from block `index` on; it returns the index of the next one."""
        control = struct.pack(">IIII", (index & 0xFFFF) << 8 | opcode, qp.number << 8 | (16 + len(body)) // 16, 0x08, imm)
        wqe, following = control + body, index + (len(body) + 16 + 63) // 64
        for at in range(0, len(wqe), 64):
            block = index + at // 64
            self.poke(qp.ring + 64 * (block % (1 << qp.log_size)), wqe[at : at + 64])
        self.poke(qp.record + 4, struct.pack(">I", following & 0xFFFF))
        self.client.write(BAR0, qp.uar * PAGE + BLUEFLAME, control[:8])
        return following
