# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A client of a PCI function's vfio-user server, in place of QEMU. It can send what QEMU never sends."""

import array
import enum
import json
import mmap
import os
import select
import socket
import struct
from typing import NamedTuple

from harness.machine import PATIENCE

HEADER = struct.Struct("=HHIII")
REPLY, NO_REPLY, ERROR = 0x1, 0x10, 0x20
READABLE, WRITABLE, MAPPABLE, HAS_CAPS = 1, 2, 4, 8
DATA_NONE, DATA_BOOL, DATA_EVENTFD, MASK, UNMASK, TRIGGER = 1, 2, 4, 8, 16, 32
CAP_SPARSE_MMAP = 1
MAX_FDS = 253  # the kernel's limit of one message
# What QEMU 11 says of itself.
CAPABILITIES = {"max_msg_fds": 16, "max_dma_maps": 65535, "max_data_xfer_size": 1 << 20, "pgsizes": 4096,
                "write_multiple": True}


class Command(enum.IntEnum):
    VERSION = 1
    DMA_MAP = 2
    DMA_UNMAP = 3
    GET_INFO = 4
    GET_REGION_INFO = 5
    GET_REGION_IO_FDS = 6
    GET_IRQ_INFO = 7
    SET_IRQS = 8
    REGION_READ = 9
    REGION_WRITE = 10
    DMA_READ = 11
    DMA_WRITE = 12
    RESET = 13
    REGION_WRITE_MULTI = 15


class Irq(enum.IntEnum):
    INTX, MSI, MSIX, ERR, REQ = range(5)


CONFIG = 7  # the region with the configuration space; 0 to 5 are BARs


class Message(NamedTuple):
    """A message of the server. The errno of a success is None."""

    ident: int
    command: int
    flags: int
    errno: int | None
    payload: bytes
    fds: list


class Info(NamedTuple):
    flags: int
    regions: int
    irqs: int


class Region(NamedTuple):
    """areas: the parts that can be mapped, as (offset, size); fds belong to the caller."""

    flags: int
    size: int
    offset: int
    areas: list
    fds: list


def message(command, payload=b"", ident=1, flags=0, size=None):
    """The bytes of a message; size replaces that in the header."""
    return HEADER.pack(ident, command, HEADER.size + len(payload) if size is None else size, flags, 0) + payload


def sparse_areas(payload, at):
    """The areas of the list of capabilities at this offset of the information about a region."""
    areas = []
    while at:
        kind, _, following, count = struct.unpack_from("=HHII", payload, at)
        if kind == CAP_SPARSE_MMAP:
            areas += [struct.unpack_from("=QQ", payload, at + 16 + 16 * i) for i in range(count)]
        assert not following or following > at, f"the list of capabilities goes back to {following}"
        at = following
    return areas


class GuestMemory:
    """Memory that a guest shares with the server."""

    def __init__(self, address, size):
        self.address, self.size = address, size
        self.fd = os.memfd_create("guest")
        os.ftruncate(self.fd, size)
        self.bytes = mmap.mmap(self.fd, size)

    def close(self):
        self.bytes.close()
        os.close(self.fd)


class VfioUserClient:
    """A connection to a server. Its methods raise an OSError if the server refuses a command."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self.ident = 0
        self.max_fds = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send_bytes(self, data, fds=()):
        """Sends bytes that need not be a message."""
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        sent = self.socket.sendmsg([data], ancillary)
        self.socket.sendall(data[sent:])

    def receive_bytes(self, size, fds):
        """Bytes of the stream, of which there are fewer at its end; fds gets the descriptors that come with them."""
        data = b""
        while len(data) < size:
            try:
                part, ancillary, flags, _ = self.socket.recvmsg(
                    size - len(data), socket.CMSG_SPACE(4 * MAX_FDS), socket.MSG_CMSG_CLOEXEC
                )
            except ConnectionResetError:  # the server has closed it with bytes unread
                break
            assert not flags & socket.MSG_CTRUNC, "too many descriptors"
            for _, _, raw in ancillary:
                fds += array.array("i", raw)
            if not part:
                break
            data += part
        return data

    def receive(self):
        """The next message, or None if the server has closed the connection."""
        fds = []
        header = self.receive_bytes(HEADER.size, fds)
        if not header:
            return None
        ident, command, size, flags, errno = HEADER.unpack(header)
        payload = self.receive_bytes(size - HEADER.size, fds)
        assert len(payload) == size - HEADER.size, f"the stream ends in a message of {size} bytes"
        return Message(ident, command, flags, errno if flags & ERROR else None, payload, fds)

    def exchange(self, command, payload=b"", fds=(), flags=0, size=None):
        """Sends a command and returns the reply, which may be an error."""
        self.ident = self.ident + 1 & 0xffff
        self.send_bytes(message(command, payload, self.ident, flags, size), fds)
        reply = self.receive()
        if reply is None:
            raise ConnectionResetError(f"the server has closed the connection after command {command}")
        assert (reply.ident, reply.command, reply.flags & 0xf) == (self.ident, command, REPLY), reply
        assert reply.errno is None or not reply.payload, f"an error with a payload: {reply}"
        return reply

    def request(self, command, payload=b"", fds=()):
        """The reply to a command that the server carries out."""
        reply = self.exchange(command, payload, fds)
        if reply.errno is not None:
            raise OSError(reply.errno, f"the server refuses command {command}: {os.strerror(reply.errno)}")
        return reply

    def negotiate(self, major=0, minor=0, capabilities=None):
        """The version and the capabilities of the server."""
        data = json.dumps({"capabilities": CAPABILITIES if capabilities is None else capabilities})
        reply = self.request(Command.VERSION, struct.pack("=HH", major, minor) + data.encode() + b"\0")
        text = reply.payload[4:].rstrip(b"\0") or b"{}"
        theirs = json.loads(text).get("capabilities", {})
        self.max_fds = theirs.get("max_msg_fds", 1)
        return struct.unpack_from("=HH", reply.payload), theirs

    def info(self):
        reply = self.request(Command.GET_INFO, struct.pack("=4I", 16, 0, 0, 0))
        return Info(*struct.unpack("=3I", reply.payload[4:16]))

    def region_info(self, index, room=4096):
        """room: the size of the longest reply that the client accepts."""
        reply = self.request(Command.GET_REGION_INFO, struct.pack("=4I2Q", room, 0, index, 0, 0, 0))
        argsz, flags, _, at, size, offset = struct.unpack_from("=4I2Q", reply.payload)
        if flags & HAS_CAPS:  # as QEMU checks it, also if its room is too small
            assert 32 <= at <= argsz, f"the list of capabilities is at {at} of {argsz}"
        areas = sparse_areas(reply.payload, at) if flags & HAS_CAPS and argsz <= room else []
        return Region(flags, size, offset, areas, reply.fds)

    def irq_info(self, index):
        """The flags and the number of interrupts of an index."""
        reply = self.request(Command.GET_IRQ_INFO, struct.pack("=4I", 16, 0, index, 0))
        _, flags, _, count = struct.unpack("=4I", reply.payload)
        return flags, count

    def set_irqs(self, index, flags, start=0, count=0, data=b"", fds=()):
        self.request(Command.SET_IRQS, struct.pack("=5I", 20 + len(data), flags, index, start, count) + data, fds)

    def enable_irqs(self, index, count, start=0):
        """New event descriptors of interrupts; they belong to the caller."""
        fds = [os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK) for _ in range(count)]
        for i in range(0, count, self.max_fds):
            part = fds[i : i + self.max_fds]
            self.set_irqs(index, DATA_EVENTFD | TRIGGER, start + i, len(part), fds=part)
        return fds

    def disable_irqs(self, index):
        self.set_irqs(index, DATA_NONE | TRIGGER)

    def read(self, region, offset, count):
        reply = self.request(Command.REGION_READ, struct.pack("=QII", offset, region, count))
        assert struct.unpack_from("=QII", reply.payload) == (offset, region, count), reply
        return reply.payload[16:]

    def write(self, region, offset, data):
        self.request(Command.REGION_WRITE, struct.pack("=QII", offset, region, len(data)) + data)

    def post(self, region, offset, data):
        """Writes without a reply."""
        payload = struct.pack("=QII", offset, region, len(data)) + data
        self.send_bytes(message(Command.REGION_WRITE, payload, flags=NO_REPLY))

    # pylint: disable-next=too-many-arguments
    def map(self, address, size, fd=None, offset=0, flags=READABLE | WRITABLE):
        """Offers memory of the guest; without a descriptor, as QEMU offers its ROMs, the server cannot map it."""
        payload = struct.pack("=II3Q", 32, flags, offset, address, size)
        self.request(Command.DMA_MAP, payload, [] if fd is None else [fd])

    def unmap(self, address, size):
        self.request(Command.DMA_UNMAP, struct.pack("=II2Q", 24, 0, address, size))

    def offer(self, address, size):
        """New memory of the guest."""
        memory = GuestMemory(address, size)
        self.map(address, size, memory.fd)
        return memory

    def reset(self):
        self.request(Command.RESET)


def await_irq(fd):
    """How often an interrupt came since the last call, at least once."""
    assert select.select([fd], [], [], PATIENCE)[0], "no interrupt came"
    return os.eventfd_read(fd)


def is_pending(fd):
    """Whether an interrupt came since the last call of await_irq()."""
    return bool(select.select([fd], [], [], 0)[0])
