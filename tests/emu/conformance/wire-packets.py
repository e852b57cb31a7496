#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: wire-packets.py WIRE_PACKETS

Judge the codec of RoCEv2 by two that were not written for it. Wireshark's dissector (tshark) and scapy must parse
each packet that the codec made, with the same fields and none malformed, and scapy must compute the
same invariant CRC. The codec must accept what scapy made, and no falsified packet.
"""
import pathlib
import random
import sys
import tempfile

from scapy.contrib.roce import AETH, BTH, cnp
from scapy.layers.inet import IP, UDP
from scapy.packet import Raw
from scapy.utils import RawPcapReader, wrpcap

from roce import check, masked_crc, run, scapy_crc, tshark_fields

PORT = 4791
OPCODES = 61  # RC and XRC 23 each, UC 12, UD 2, and CNP
TSHARK_FIELDS = ("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.bth.a")


def judge_by_scapy(packet, opcode, psn, qpn, ack, size):
    ip = IP(packet)
    bth = ip[BTH]
    check((bth.opcode, bth.psn, bth.dqpn, bth.ackreq) == (opcode, psn, qpn, ack), "scapy reads", ip.summary())
    check(bth.version == 0 and bth.pkey == 0xffff and bth.migreq == 1 and bth.padcount == -size % 4,
          "scapy reads", repr(bth))
    if opcode == 0x11:
        check((bth[AETH].syndrome, bth[AETH].msn) == (0x1f, 77), "scapy reads", repr(bth[AETH]))
    check(scapy_crc(packet) == packet[-4:], "scapy computes another CRC for opcode", opcode)


def judge_by_tshark(file, expected):
    lines = tshark_fields(file, *TSHARK_FIELDS)
    check(len(lines) == len(expected), "tshark sees", len(lines), "of", len(expected), "packets")
    for line, (opcode, psn, qpn, ack, _) in zip(lines, expected):
        got = [int({"True": "1", "False": "0"}.get(word, word), 0) for word in line]
        check(got == [opcode, psn, qpn, ack], "tshark reads", line, "instead of", opcode, psn, qpn, ack)
    print(f"tshark: {len(lines)} packets, none malformed")


def judge_packets(program, folder):
    file = f"{folder}/ours.pcap"
    expected = [tuple(map(int, line.split())) for line in run(program, "write", file).splitlines()]
    packets = [bytes(data) for data, _ in RawPcapReader(file)]
    check(len(packets) == len(expected), "the file has", len(packets), "packets")
    check(len({row[0] for row in expected}) == OPCODES, "not all opcodes are there")
    for packet, fields in zip(packets, expected):
        check(packet[-4:] == masked_crc(packet), "the CRC is wrong for opcode", fields[0])
        if packet[0] >> 4 == 4:
            judge_by_scapy(packet, *fields)
    print(f"scapy: {sum(p[0] >> 4 == 4 for p in packets)} packets, each with the same CRC")
    judge_by_tshark(file, expected)


def scapy_packets(chance):
    """Packets as other senders make them: any identification, with and without "don't fragment"."""
    for number in range(300):
        ip = IP(src="192.0.2.1", dst="198.51.100.7", id=chance.randrange(65536),
                flags=chance.choice(["DF", 0]), tos=chance.randrange(256), ttl=chance.randrange(1, 256))
        udp = UDP(sport=chance.randrange(49152, 65536), dport=PORT, chksum=0)
        psn, qpn, ack = chance.randrange(1 << 24), chance.randrange(2, 1 << 24), chance.randrange(2)
        size = chance.randrange(0, 4097)
        pad = -size % 4
        data = Raw(chance.randbytes(size) + b"\0" * pad)
        if number % 10 == 0:
            yield ip / udp / cnp(qpn), (0x81, 0, qpn, 0, 16)
        elif number % 10 == 1:
            yield (ip / udp / BTH(opcode=0x11, psn=psn, dqpn=qpn, ackreq=ack) / AETH(syndrome=0x1f, msn=5),
                   (0x11, psn, qpn, ack, 0))
        else:
            opcode = chance.choice([0x04, 0x24])
            yield (ip / udp / BTH(opcode=opcode, psn=psn, dqpn=qpn, ackreq=ack, padcount=pad) / data,
                   (opcode, psn, qpn, ack, size))


def judge_codec(program, folder):
    chance = random.Random(22)
    packets, expected = zip(*scapy_packets(chance))
    file = f"{folder}/theirs.pcap"
    wrpcap(file, [bytes(packet) for packet in packets], linktype=101)
    lines = run(program, "read", file).splitlines()
    for line, fields in zip(lines, expected):
        check(line == " ".join(map(str, fields)), "the codec reads", line, "instead of", fields)
    check(len(lines) == len(expected), "the codec reads", len(lines), "packets")

    falsified = []
    for packet in packets:
        data = bytearray(bytes(packet))
        at = chance.choice([at for at in range(28, len(data)) if at != 28 + 4])
        data[at] ^= 1 << chance.randrange(8)
        falsified.append(bytes(data))
    wrpcap(file, falsified, linktype=101)
    lines = run(program, "read", file).splitlines()
    check(len(lines) == len(falsified) and all(line.startswith("dropped: ") for line in lines),
          "the codec accepts a falsified packet")
    print(f"codec: {len(packets)} packets of scapy accepted, and refused when one bit was wrong")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="dpumap-wire.") as folder:
        judge_packets(program, folder)
        judge_codec(program, folder)


if __name__ == "__main__":
    main()
