# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads what `dpumap-emu capture` writes: blocks of pcapng, and in them packets of RoCEv2 (IBA 9.2)."""
import ipaddress
import struct

SECTION, INTERFACE, PACKET = 0x0a0d0d0a, 1, 6
COMMENT, FLAGS, NAME = 1, 2, 2
DETH, XRCETH, RETH, ATOMIC, AETH, ATOMIC_ACK, IMM, IETH = range(8)
SIZES = {DETH: 8, XRCETH: 4, RETH: 16, ATOMIC: 28, AETH: 4, ATOMIC_ACK: 8, IMM: 4, IETH: 4}
RC, UC, UD, XRC = 0, 1, 3, 5
# The operation: what it is, whether its packet is the first and the last one, and the headers.
OPERATIONS = {
    0x00: ("send", True, False, ()), 0x01: ("send", False, False, ()), 0x02: ("send", False, True, ()),
    0x03: ("send", False, True, (IMM,)), 0x04: ("send", True, True, ()), 0x05: ("send", True, True, (IMM,)),
    0x06: ("write", True, False, (RETH,)), 0x07: ("write", False, False, ()), 0x08: ("write", False, True, ()),
    0x09: ("write", False, True, (IMM,)), 0x0a: ("write", True, True, (RETH,)),
    0x0b: ("write", True, True, (RETH, IMM)), 0x0c: ("read", True, True, (RETH,)),
    0x0d: ("response", True, False, (AETH,)), 0x0e: ("response", False, False, ()),
    0x0f: ("response", False, True, (AETH,)), 0x10: ("response", True, True, (AETH,)),
    0x11: ("ack", True, True, (AETH,)), 0x12: ("atomic_ack", True, True, (AETH, ATOMIC_ACK)),
    0x13: ("swap", True, True, (ATOMIC,)), 0x14: ("add", True, True, (ATOMIC,)),
    0x16: ("send", False, True, (IETH,)), 0x17: ("send", True, True, (IETH,)),
}
REQUESTS = ("send", "write", "read", "swap", "add")


class Packet:
    """What one block says, and the packet in it."""

    def __init__(self, interface, time, data, options):
        self.interface, self.time, self.data = interface, time, data
        self.comment = options.get(COMMENT, b"").decode()
        self.sent = struct.unpack("=I", options[FLAGS])[0] & 3 == 2
        if data[0] >> 4 == 4:
            self.src, self.dst, at = data[12:16], data[16:20], 20
        else:
            self.src, self.dst, at = data[8:24], data[24:40], 40
        self.src, self.dst = ipaddress.ip_address(self.src), ipaddress.ip_address(self.dst)
        self.sport, self.dport, self.udp_len = struct.unpack(">HHH", data[at:at + 6])
        self.parse(data[at + 8:])

    def parse(self, data):
        self.opcode, bits, self.pkey = struct.unpack(">BBH", data[:4])
        self.dest_qpn = int.from_bytes(data[5:8], "big")
        self.ack_req, self.psn = data[8] >> 7, int.from_bytes(data[9:12], "big")
        self.solicited, pad = bits >> 7, bits >> 4 & 3
        self.service = self.opcode >> 5
        self.kind, self.first, self.last, headers = OPERATIONS[self.opcode & 0x1f]
        headers = (*((DETH,) if self.service == UD else ()),
                   *((XRCETH,) if self.service == XRC and self.kind in REQUESTS else ()), *headers)
        at = 12
        self.header = {}
        for header in headers:
            self.header[header] = data[at:at + SIZES[header]]
            at += SIZES[header]
        self.payload, self.crc = data[at:len(data) - 4 - pad], data[-4:]
        assert data[len(data) - 4 - pad:-4] == bytes(pad), "the pad is not zeros"

    def number(self, header, at=0, end=None):
        return int.from_bytes(self.header[header][at:end], "big")


def options_of(data):
    found = {}
    while len(data) >= 4:
        code, size = struct.unpack("=HH", data[:4])
        if code:
            found[code] = data[4:4 + size]
        data = data[4 + (size + 3) // 4 * 4:]
    return found


def blocks(file):
    """(type, body) of each block; the file ends with a block."""
    with open(file, "rb") as stream:
        data = stream.read()
    at = 0
    while at < len(data):
        kind, size = struct.unpack("=II", data[at:at + 8])
        assert size % 4 == 0 and size >= 12 and data[at + size - 4:at + size] == data[at + 4:at + 8], "a block is cut"
        yield kind, data[at + 8:at + size - 4]
        at += size


def read(file):
    """The packets of a file."""
    names, packets = [], []
    for number, (kind, body) in enumerate(blocks(file)):
        assert (kind == SECTION) == (number == 0), "a section begins the file"
        if kind == INTERFACE:
            assert struct.unpack("=H", body[:2])[0] == 101
            names.append(options_of(body[8:])[NAME].decode())
        elif kind == PACKET:
            interface, high, low, size, length = struct.unpack("=IIIII", body[:20])
            assert size == length
            options = options_of(body[20 + (size + 3) // 4 * 4:])
            packets.append(Packet(names[interface], high << 32 | low, body[20:20 + size], options))
    return packets
