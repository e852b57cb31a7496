# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Packets of RoCEv2 that are made by hand, and sent in the name of a queue pair's peer."""

import socket
import struct
import zlib

ROCE = 4791
SEND_ONLY, WRITE_ONLY, READ_REQUEST, ACK, FETCH_ADD = 0x04, 0x0a, 0x0c, 0x11, 0x14


class Forger:
    """Sends packets to a queue pair in the name of its peer."""

    def __init__(self, address, to, qpn):
        self.to, self.qpn = (to, ROCE), qpn
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.own = self.socket.getsockname()

    def close(self):
        self.socket.close()

    def crc(self, body, ident=0, flags=0x4000):
        """Annex A17.3.2; fields that change on the way count as ones."""
        size = len(body) + 4
        addresses = socket.inet_aton(self.own[0]) + socket.inet_aton(self.to[0])
        ip = struct.pack(">BBHHHBBH", 0x45, 0xff, 28 + size, ident, flags, 0xff, 17, 0xffff) + addresses
        udp = struct.pack(">HHHH", self.own[1], ROCE, 8 + size, 0xffff)
        return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + body[:4] + b"\xff" + body[5:]))

    def seal(self, body):
        return body + self.crc(body)

    def packet(self, opcode, psn, rest=b"", qpn=None):
        head = struct.pack(">BBHII", opcode, 0x40, 0xffff, self.qpn if qpn is None else qpn, psn & 0xffffff)
        return self.seal(head + rest)

    def send_bytes(self, data):
        self.socket.sendto(data, self.to)

    def send(self, opcode, psn, rest=b"", qpn=None, wrong=False):
        packet = self.packet(opcode, psn, rest, qpn)
        self.send_bytes(packet[:-4] + bytes(4) if wrong else packet)

    def acknowledge(self, psn, syndrome=0x1f):
        self.send(ACK, psn, struct.pack(">I", syndrome << 24))

    def mark(self, tclass):
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tclass)
