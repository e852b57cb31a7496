#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: wire_packets.py EMU OWN PORT

Send RoCEv2 packets, made here by hand, from the address OWN to queue pair 1 of the emulated port with the address
PORT. Check the answers, and the reasons for which `EMU status` counts the others as dropped.
"""
import json
import re
import socket
import struct
import subprocess
import sys
import time
import zlib

ROCE = 4791
UD_SEND_ONLY = 0x64
QKEY = 0x80010000
SIDR_REQ, SIDR_REP, REQ, REJ, LAP, DREQ, DREP = 0x17, 0x18, 0x10, 0x12, 0x19, 0x15, 0x16
NOBODY = 0x0000000001069999  # a service ID of the TCP port space

emu, own, port = sys.argv[1:]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind((own, ROCE))
sock.settimeout(60)


def icrc(source, dest, sport, body, ident=0):
    """The invariant CRC of a UDP payload without its CRC (annex A17.3.2); fields that change count as ones."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xFF, 20 + 8 + len(body) + 4, ident, 0x4000, 0xFF, 17, 0xFFFF,
                     socket.inet_aton(source), socket.inet_aton(dest))
    udp = struct.pack(">HHHH", sport, ROCE, 8 + len(body) + 4, 0xFFFF)
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + body[:4] + b"\xff" + body[5:]))


def packet(payload, opcode=UD_SEND_ONLY, pad=0, version=0, pkey=0xFFFF, qpn=1, qkey=QKEY, crc=None):
    """A packet whose extended header is always that of a datagram."""
    body = struct.pack(">BBHII", opcode, pad << 4 | version, pkey, qpn, 7) + struct.pack(">II", qkey, 1) + payload
    return body + (crc or icrc(own, port, ROCE, body))


def mad(attribute, data, klass=7, tid=0x1122334455667788):
    """A management datagram."""
    return struct.pack(">BBBBHHQHHI", 1, klass, 2, 3, 0, 0, tid, attribute, 0, 0) + data.ljust(232, b"\0")


def sidr_req(request=5):
    return mad(SIDR_REQ, struct.pack(">IHHQ", request, 0xFFFF, 0, NOBODY))


def mapped(address):
    return b"\0" * 10 + b"\xff\xff" + socket.inet_aton(address)


def req(local_id=9):
    """A request to connect by a reliable queue pair."""
    data = bytearray(232)
    struct.pack_into(">IIQQ", data, 0, local_id, 0, NOBODY, 0x0200000000000001)
    struct.pack_into(">I", data, 32, 0x123 << 8 | 4)
    struct.pack_into(">I", data, 40, 20)
    struct.pack_into(">IHBB", data, 44, 0x55 << 8 | 20, 0xFFFF, 3, 15 << 4)
    data[56:72], data[72:88] = mapped(own), mapped(port)
    data[93] = 64
    return mad(REQ, bytes(data))


def ask(payload):
    """Send a management datagram; return what is answered, which must be complete and right."""
    sock.sendto(packet(payload), (port, ROCE))
    answer, (sender, sport) = sock.recvfrom(8192)
    assert sender == port and sport >= 0xC000, (sender, sport)
    assert answer[-4:] == icrc(port, own, sport, answer[:-4]), "the CRC of the answer"
    opcode, flags, pkey, qpn, _, qkey, source = struct.unpack(">BBHIIII", answer[:20])
    assert (opcode, flags & 0x3F, pkey, qpn & 0xFFFFFF, qkey, source) == (UD_SEND_ONLY, 0, 0xFFFF, 1, QKEY, 1)
    found = answer[20:-4]
    assert len(found) == 256, len(found)
    assert found[:4] == b"\x01\x07\x02\x03", found[:4]
    return struct.unpack(">Q", found[8:16])[0], struct.unpack(">H", found[16:18])[0], found[24:]


def endpoint():
    status = json.loads(subprocess.run([emu, "status", "--json"], check=True, capture_output=True).stdout)
    return next(e for e in status["endpoints"] if e["address"] == port)


def silence():
    sock.settimeout(0.2)
    try:
        raise AssertionError(sock.recvfrom(8192))
    except TimeoutError:
        sock.settimeout(60)


def check_answers():
    tid, attribute, data = ask(sidr_req())
    assert (tid, attribute) == (0x1122334455667788, SIDR_REP), (tid, attribute)
    assert struct.unpack(">IB", data[:5]) == (5, 1), data[:5]  # request ID, not supported
    tid, attribute, data = ask(req())
    assert (tid, attribute) == (0x1122334455667788, REJ), (tid, attribute)
    assert struct.unpack(">IIBBH", data[:12]) == (0, 9, 0, 0, 8), data[:12]  # no such service ID
    tid, attribute, data = ask(mad(DREQ, struct.pack(">III", 77, 88, 0)))
    assert (attribute, struct.unpack(">II", data[:8])) == (DREP, (88, 77)), data[:8]


def check_drops():
    good = packet(sidr_req())
    cases = {
        "shorter than its headers": [b"", b"x", good[:15]],
        "longer than a packet of the largest MTU": [b"\0" * 5000],
        "the invariant CRC is wrong": [good[:-1] + bytes([good[-1] ^ 1]), b"\xa5" * 300, good[:100]],
        "the transport header version is not 0": [packet(sidr_req(), version=1)],
        "the opcode is not defined": [packet(sidr_req(), opcode=0x7F)],
        "the pad count does not fit the length": [packet(b"abc")],
        "the packet is for another queue pair": [packet(sidr_req(), qpn=0x40), packet(b"", qpn=0xFFFFFF)],
        "the queue pair has another transport service": [packet(sidr_req(), opcode=0x04)],
        "the Q_Key does not match": [packet(sidr_req(), qkey=0x11111111)],
        "the P_Key does not match": [packet(sidr_req(), pkey=0x8001)],
        "the message does not fit the receive or the MTU": [packet(sidr_req()[:252])],
        "the request is not allowed": [packet(mad(0x11, b"", klass=4))],
    }
    before = endpoint()
    for packets in cases.values():
        for one in packets:
            sock.sendto(one, (port, ROCE))
    sock.sendto(packet(mad(LAP, b"\0" * 8)), (port, ROCE))  # accepted, and refused without an answer
    sent = sum(map(len, cases.values())) + 1
    for _ in range(100):
        after = endpoint()
        if after["received"] - before["received"] == sent:
            break
        time.sleep(0.05)
    found = {why: n - before["dropped"].get(why, 0) for why, n in after["dropped"].items()}
    wanted = {why: len(packets) for why, packets in cases.items()}
    assert found == wanted, f"dropped {found} and not {wanted}"
    silence()
    lines = subprocess.run([emu, "status"], check=True, capture_output=True, text=True).stdout
    assert re.search(rf"^endpoint dpu mlx5_0 {port} lo sockets \d+ engines 0 received \d+ dropped {sent - 1}$", lines,
                     re.M), lines
    assert f"endpoint_dropped dpu mlx5_0 {port} 3 the invariant CRC is wrong\n" in lines, lines


def check_port_down():
    subprocess.run([emu, "port", "down", "--as", "dpu"], check=True)
    sock.sendto(packet(sidr_req(6)), (port, ROCE))
    silence()
    subprocess.run([emu, "port", "up", "--as", "dpu"], check=True)
    assert ask(sidr_req(7))[1] == SIDR_REP
    assert endpoint()["dropped"]["the queue pair does not process packets in its state"] == 1


check_answers()
check_drops()
check_port_down()
