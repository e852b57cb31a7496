# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the kernel's packet socket sees of the traffic between two emulators, judged by those who know the protocol:
Wireshark's dissector finds nothing malformed, and every invariant CRC is right."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
from scapy.layers.inet import IP, UDP
from scapy.utils import RawPcapReader

from harness.emulator import local_environment
from harness.machine import LocalMachine, await_true
from harness.network import ADDRESSES, Network, missing
from harness.wired import Probe, connect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
from roce import masked_crc, scapy_crc, tshark_fields  # noqa: E402 pylint: disable=wrong-import-position

REASON = missing() or (None if shutil.which("tcpdump") or shutil.which("dumpcap") else "tcpdump is missing")
pytestmark = [pytest.mark.local, pytest.mark.skipif(bool(REASON), reason=str(REASON))]
ETHERNET, ROCE = 14, 4791
SIZES = (0, 1, 2, 3, 4, 255, 256, 257, 1025, 70001)


class Cable:
    """An emulator in each of two network namespaces, and a sniffer on the cable between them."""

    def __init__(self, path):
        self.path, self.network, self.started = path, Network(local_environment(path)), []
        self.emulator = f"{os.environ['DPUMAP_BIN']}/dpumap-emu"
        for name, address in ADDRESSES.items():
            # Without this, several packets pass as one, which a card would cut.
            self.network.run(name, "ip", "link", "set", f"{name}0", "gso_max_segs", "1")
            self.network.run(name, self.emulator, "start", "--dir", f"{path}/{name}", "--wire", address)

    def machine(self, name):
        run = [self.emulator, "run", "--dir", f"{self.path}/{name}", "--as", "dpu", "--"]
        return LocalMachine(name, f"{self.path}/{name}.home", self.network.environment, [*self.network.enter(name), *run])

    def sniff(self, file):
        words = [*self.network.enter("dpu"), "dumpcap", "-q", "-i", "dpu0", "-f", f"udp port {ROCE}", "-w", str(file)]
        if shutil.which("tcpdump"):
            words = [*self.network.enter("dpu"), "tcpdump", "-U", "-i", "dpu0", "-w", str(file), "udp", "port", str(ROCE)]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        for name in ADDRESSES:
            subprocess.run([self.emulator, "stop", "--dir", f"{self.path}/{name}"], check=False)
        self.network.close()


@pytest.fixture
def cable():
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-sniffed.", dir="/tmp"))
    one = Cable(path)
    yield one
    one.close()
    shutil.rmtree(path)


def exchange(near, far):
    for mtu in (256, 1024):
        connect(near, far, mtu=mtu)
    for number in (0, 1):
        for size in SIZES:
            far("receive", number, 1 << 20)
            near("post", number, "send", size)
            near.succeeds()
            far.succeeds()
            for op in ("write", "read"):
                near("post", number, op, size)
                near.succeeds()
        near("post", number, "add", 8)
        near.succeeds()
        near("post", number, "write", 8, 0x12345600)  # a NAK
        near.completes()


def programs(cable):
    """Unreliable services, and connections by management datagrams."""
    here, there = cable.machine("host"), cable.machine("dpu")
    lines = ["ib_write_bw -c UC -n 20 -s 5000 -d mlx5_0 -x 3 -F", "ib_send_bw -c UD -n 20 -s 1024 -d mlx5_0 -x 3 -F"]
    for line in [*lines, f"rping -C 3 -a {ADDRESSES['dpu']}"]:
        rping = line.startswith("rping")
        server = there.daemon(line.split()[0] + str(len(line)), [*line.split(), *(["-s"] if rping else [])])
        client = [*line.split(), *(["-c"] if rping else [ADDRESSES["dpu"]])]
        assert await_true(lambda: here.run(client, timeout=30).status == 0), server.log()  # pylint: disable=W0640
        assert server.end("0", 30) == 0, server.log()


def test_the_kernel_sees_right_packets(cable):
    file = cable.path / "sniffed.pcap"
    sniffer = cable.sniff(file)
    assert await_true(lambda: file.exists() and file.stat().st_size)
    near, far = Probe(cable.machine("host")), Probe(cable.machine("dpu"))
    exchange(near, far)
    programs(cable)
    near.close()
    far.close()
    assert await_true(lambda: settled(file))
    sniffer.terminate()
    sniffer.wait(30)
    rows = tshark_fields(str(file), "infiniband.bth.opcode", "infiniband.mad.attributeid")
    opcodes = {int(opcode, 0) for opcode, _ in rows}
    assert {0x00, 0x04, 0x0a, 0x0c, 0x0d, 0x11, 0x12, 0x14, 0x26, 0x64} <= opcodes, opcodes
    assert {"0x0010", "0x0013", "0x0014"} <= {number for _, number in rows}, "no messages of the connection manager"
    packets = [IP(bytes(data)[ETHERNET:]) for data, _ in RawPcapReader(str(file))]
    assert len(packets) == len(rows) > 500
    for packet in packets:
        data = bytes(packet)[: packet.len]
        assert packet[UDP].dport == ROCE
        assert masked_crc(data) == data[-4:] == scapy_crc(data), data.hex()
    print(f"{len(rows)} packets with {len(opcodes)} operations: none malformed, all CRCs right")


def settled(file):
    """The sniffer has written everything: the file does not grow for a second."""
    before = file.stat().st_size
    return not await_true(lambda: file.stat().st_size != before, 1)
