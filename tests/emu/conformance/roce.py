# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Packets of RoCEv2 as those see them that were not written for dpumap: Wireshark's dissector (tshark) and scapy."""
import subprocess
import sys
import zlib

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP

# Both guess what a payload is, and read behind the end of one that is shorter than what they look for.
GUESSERS = ("--disable-protocol", "rpcordma", "--disable-protocol", "infiniband.eoib")
VERDICTS = ("_ws.malformed", "_ws.expert.severity")
WARNING = 0x600000


def check(condition, *words):
    if not condition:
        sys.exit(f"{sys.argv[0].rpartition('/')[2]}: " + " ".join(map(str, words)))


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check(result.returncode == 0, " ".join(command), "failed:", result.stderr)
    return result.stdout


def masked_crc(packet):
    """The invariant CRC as the annex of RoCEv2 defines it, over the bytes of an IP packet."""
    data = bytearray(packet)
    if data[0] >> 4 == 4:
        udp = 20
        data[1] = data[8] = data[10] = data[11] = 0xff
    else:
        udp = 40
        data[0] |= 0x0f
        data[1:4] = b"\xff\xff\xff"
        data[7] = 0xff
    data[udp + 6:udp + 8] = b"\xff\xff"
    data[udp + 8 + 4] = 0xff
    return zlib.crc32(b"\xff" * 8 + data[:-4]).to_bytes(4, "little")


def scapy_crc(packet):
    """The invariant CRC that scapy computes for an IPv4 packet."""
    ip = IP(packet)
    ip[BTH].icrc = None
    return bytes(ip)[-4:]


def tshark_fields(file, *fields):
    """A tuple of the fields for each packet, after a check that the dissector finds none malformed or doubtful."""
    words = [word for field in (*fields, *VERDICTS) for word in ("-e", field)]
    lines = run("tshark", "-n", "-r", file, *GUESSERS, "-T", "fields", *words).splitlines()
    rows = [tuple(line.split("\t")) for line in lines]
    for row in rows:
        malformed, severities = row[-2:]
        worst = max((int(word, 0) for word in severities.split(",") if word), default=0)
        check(not malformed and worst < WARNING, "tshark finds fault with", row)
    return [row[:-2] for row in rows]
