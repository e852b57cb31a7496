#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: capture.py DPUMAP_EMU

Packets in the files of `dpumap-emu capture` are those of the work requests: operations, sequence numbers, headers and
bytes. Wireshark's dissector (tshark) and scapy must find the same packets, none malformed, and each invariant
CRC right.
"""
import contextlib
import ipaddress
import json
import logging
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.utils import RawPcapNgReader

import pcapng
from pcapng import AETH, ATOMIC, ATOMIC_ACK, DETH, IETH, IMM, RETH, XRC, XRCETH
from roce import check, masked_crc, scapy_crc, tshark_fields

PEER = pathlib.Path(__file__).with_name("capture_peer.py")
PYTHON = "/usr/bin/python3"
BYTES = 1 << 21
MTU, MTU_CODE = 1024, 3
QKEY = 0x1234567
HIGH = 1 << 20  # from here on, nothing changes the memory of a peer
SHOWN = 16  # packets of a long local message, before the last one
PATIENCE = 30
NAMES = {"send": "SEND", "send_imm": "SEND with immediate", "send_inv": "SEND with invalidate", "write": "RDMA WRITE",
         "write_imm": "RDMA WRITE with immediate", "read": "RDMA READ", "swap": "compare and swap",
         "add": "fetch and add"}
OPERATIONS = [
    ("rc", "send", {"length": 100}), ("rc", "send", {"length": 0}), ("rc", "send", {"length": 3000, "flags": 4}),
    ("rc", "send_imm", {"length": 1024, "imm": 0x11223344}), ("rc", "send", {"length": 33, "inline": True}),
    ("rc", "send_inv", {"length": 5}), ("rc", "write", {"length": 4097}), ("rc", "write", {"length": 0}),
    ("rc", "write_imm", {"length": 2000, "imm": 0xdeadbeef}), ("rc", "read", {"length": 5000}),
    ("rc", "read", {"length": 1}), ("rc", "swap", {"length": 8, "operands": (7, 0x0102030405060708)}),
    ("rc", "add", {"length": 8, "operands": (1 << 60, 0)}), ("rc", "send", {"length": 1025}),
    ("uc", "send", {"length": 3000}), ("uc", "send_imm", {"length": 10, "imm": 5}), ("uc", "write", {"length": 1500}),
    ("uc", "write_imm", {"length": 1, "imm": 6}), ("ud", "send", {"length": 1000}),
    ("ud", "send_imm", {"length": 7, "imm": 8}), ("xrc_send", "send", {"length": 2000}),
    ("xrc_send", "send_imm", {"length": 12, "imm": 9}), ("xrc_send", "write", {"length": 3000}),
    ("xrc_send", "read", {"length": 2100}), ("xrc_send", "add", {"length": 8, "operands": (3, 0)}),
]


# -- emulators, captures and peers --


def await_true(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < end, what, "does not happen")
        time.sleep(0.01)


class Emulator:
    def __init__(self, program, folder, *options):
        self.program, self.folder = program, pathlib.Path(folder)
        self.environment = {**os.environ, "DPUMAP_EMU_DIR": f"{folder}/emu", "PYTHONDONTWRITEBYTECODE": "1"}
        self.ctl("start", *options)

    def command(self, *words, **more):
        return subprocess.Popen([self.program, *words], env=self.environment, **more)

    def ctl(self, *words, status=0):
        done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE)
        check(done.returncode == status, words, "ended with", done.returncode, done.stderr)
        return done.stdout + done.stderr

    def capture(self, name, *options, **more):
        return Capture(self, self.folder / name, options, **more)

    def close(self):
        self.ctl("stop")
        shutil.rmtree(self.folder)


class Capture:
    def __init__(self, emulator, file, options, **more):
        self.file = file
        self.process = emulator.command("capture", str(file), *options, stderr=subprocess.PIPE, text=True, **more)
        await_true(lambda: file.exists() and file.stat().st_size, "the capture")

    def end(self, number=signal.SIGTERM, status=0):
        """What it says, after all packets so far are in the file."""
        if number:
            self.process.send_signal(number)
        said = self.process.communicate(timeout=PATIENCE)[1]
        check(self.process.returncode == status, "capture ended with", self.process.returncode, said)
        return said

    def packets(self, number=signal.SIGTERM):
        said = self.end(number)
        found = pcapng.read(self.file)
        check(f"{len(found)} packets in " in said and "none lost" in said, "capture says", said, "not", len(found))
        return found


class Peer:
    """capture_peer.py on a function of an emulator."""

    def __init__(self, emulator, function, gid_index=3):
        self.function = function
        self.process = emulator.command("run", "--as", function, "--", PYTHON, str(PEER), function, str(gid_index),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.memory = random.Random(function).randbytes(BYTES)
        self.hello = self.answer()
        gid = ipaddress.ip_address(self.hello["gid"])
        self.address = gid.ipv4_mapped or gid

    def answer(self):
        line = self.process.stdout.readline()
        check(line, self.function, "has ended")
        return json.loads(line)

    def do(self, what, **words):
        self.process.stdin.write(json.dumps({"do": what, **words}) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def request(self, status=0, **words):
        got = self.do("request", **words)["status"]
        check(got and set(got) == {status}, self.function, words, "completed with", got)

    def close(self):
        self.process.stdin.close()
        check(self.process.wait(PATIENCE) == 0, self.function, "failed")


@contextlib.contextmanager
def connected(first, second, mtu=MTU_CODE, **more):
    """Two peers, each (emulator, function, gid_index)."""
    peers = Peer(*first), Peer(*second)
    for peer, other in (peers, peers[::-1]):
        peer.do("connect", peer=other.hello, mtu=mtu, **more)
    try:
        yield peers
        for peer in peers:
            peer.close()
    finally:
        for peer in peers:
            peer.process.kill()


# -- what the packets must be --


class Message:
    """A request and its answer, as the work request says."""

    def __init__(self, sender, receiver, service, op, number, words):
        self.service, self.op, self.length = service, op, words["length"]
        other = "xrc_recv" if service == "xrc_send" else service
        self.qpn, self.dest_qpn = sender.hello["qpn"][service], receiver.hello["qpn"][other]
        self.sender, self.receiver = sender, receiver
        self.at = HIGH + 4096 * number if op.startswith(("send", "write")) else 65536
        self.there = HIGH + 65536 + 4096 * number if op in ("read", "swap", "add") else 8192
        self.words = {**words, "service": service, "op": op, "at": self.at, "there": self.there}
        self.kind = op.partition("_")[0]

    def run(self):
        if self.op in ("send", "send_imm", "send_inv", "write_imm"):
            self.receiver.do("receive", service="xrc" if self.service == "xrc_send" else self.service, count=1)
        if self.op == "send_inv":
            self.words["rkey"] = self.words["imm"] = self.receiver.do("window", length=4096)["rkey"]
        self.sender.request(**self.words)
        if self.op in ("send", "send_imm", "send_inv", "write_imm"):
            status = self.receiver.do("wait", count=1)["status"]
            check(status == [0], self.op, "was received with", status)

    def payload(self):
        if self.kind in ("send", "write"):
            return self.sender.memory[self.at:self.at + self.length]
        return self.receiver.memory[self.there:self.there + self.length]


def take(flow, what):
    check(flow, "a packet is missing:", what)
    return flow.pop(0)


def check_request(message, flow, psn, mtu):
    """Take the packets of a request from a flow; returns the next PSN. A long READ may be several requests."""
    payload, op = b"", message.op
    bytes_asked = 0
    while True:
        p = take(flow, message.words)
        check(p.psn == psn, "PSN", p.psn, "instead of", psn, message.words)
        check(p.kind == message.kind, p.kind, "instead of", message.words)
        check(p.dport == 4791 and p.sport >= 0xc000 and p.pkey in (0xffff, 0x7fff), "headers of", message.words)
        payload += p.payload
        if p.first and p.kind in ("write", "read"):
            va, rkey, size = p.number(RETH, 0, 8), p.number(RETH, 8, 12), p.number(RETH, 12)
            check(va == message.receiver.hello["addr"] + message.there + bytes_asked, "RETH of", message.words)
            check(rkey == message.receiver.hello["rkey"], "R_Key of", message.words)
            check(p.kind == "read" or size == message.length, "DMA length", size, "of", message.words)
            bytes_asked += size
        psn = (psn + (max(1, -(-size // mtu)) if p.kind == "read" else 1)) & 0xffffff
        if p.service == XRC:
            check(p.number(XRCETH) == message.receiver.hello["srqn"], "XRCETH of", message.words)
        if p.last and (p.kind != "read" or bytes_asked == message.length):
            break
        check(p.kind == "read" or len(p.payload) == mtu, "a packet has", len(p.payload), "bytes")
    if p.kind in ("send", "write"):
        check(payload == message.payload(), "the bytes of", message.words)
    if op.endswith("_imm"):
        check(p.number(IMM) == message.words["imm"], "the immediate of", message.words)
    if op == "send_inv":
        check(p.number(IETH) == message.words["rkey"], "the key of", message.words)
    if p.service == pcapng.UD:
        check((p.number(DETH, 0, 4), p.number(DETH, 4)) == (QKEY, message.qpn), "DETH of", message.words)
    if p.kind in ("swap", "add"):
        first, second = message.words["operands"]
        want = (first, second) if p.kind == "add" else (second, first)
        check((p.number(ATOMIC, 12, 20), p.number(ATOMIC, 20)) == want, "operands of", message.words)
    check(p.solicited == (message.words.get("flags") == 4), "the solicited bit of", message.words)
    return psn


def check_answers(messages, flow, psn, exact):
    """The answers of a responder: bytes of reads, results of atomics, and an acknowledgement of the end."""
    data = b"".join(p.payload for p in flow if p.kind == "response")
    check(data == b"".join(m.payload() for m in messages if m.op == "read"), "the bytes of reads")
    results = [p.number(ATOMIC_ACK) for p in flow if p.kind == "atomic_ack"]
    wanted = [int.from_bytes(m.payload(), sys.byteorder) for m in messages if m.op in ("swap", "add")]
    check(results == wanted, "atomics return", results, "instead of", wanted)
    check(all(p.number(AETH, 0, 1) <= 0x1f for p in flow if AETH in p.header), "a NAK")
    check(flow and (flow[-1].psn + 1) & 0xffffff == psn, "the last answer is not that of the end")
    if exact:
        msns = [p.number(AETH, 1) for p in flow if p.last]
        check(msns == list(range(1, len(messages) + 1)), "message sequence numbers", msns)


def check_flows(packets, messages, exact, mtu=MTU):
    """The packets of each queue pair are those of its messages, in order. `exact`: one answer for each message."""
    rest = list(packets)
    for qpn in dict.fromkeys(m.qpn for m in messages):
        own = [m for m in messages if m.qpn == qpn]
        here, there = own[0].sender.address, own[0].receiver.address
        asked = [p for p in rest if (p.src, p.dst, p.dest_qpn) == (here, there, own[0].dest_qpn)
                 and p.kind in pcapng.REQUESTS]
        answered = [p for p in rest if (p.src, p.dst, p.dest_qpn) == (there, here, qpn)
                    and p.kind not in pcapng.REQUESTS]
        rest = [p for p in rest if p not in asked and p not in answered]
        psn = own[0].sender.hello["psn"][own[0].service]
        for message in own:
            if own[0].service == "ud" and not exact:
                psn = asked[0].psn  # all queue pairs of an engine have one count
            psn = check_request(message, asked, psn, mtu)
        check(not asked, len(asked), "more requests of", own[0].service)
        if own[0].service in ("rc", "xrc_send"):
            check_answers(own, answered, psn, exact)
        else:
            check(not answered, "an unreliable service has an answer")
    check(not rest, len(rest), "packets belong to nothing", rest and rest[0].comment)


def check_comments(packets, messages, captured_at, exact):
    """Each packet of a requester names its work request."""
    for message in messages:
        words = f"{message.sender.function}: QP {message.qpn:#x}, WQE "
        end = f": {NAMES[message.op]} {message.length} bytes"
        named = [p for p in packets if p.comment.startswith(words) and re.search(r"\d" + re.escape(end), p.comment)]
        check(named or message.sender.function not in captured_at, "no comment names", message.words)
    for p in packets:
        check(("; synthesized: the emulator copied the bytes in memory" in p.comment) == exact, "the comment", p.comment)
        check("dropped" not in p.comment and "lost" not in p.comment, "the comment", p.comment)
    times = [p.time for p in packets]
    check(abs(times[0] / 1e9 - time.time()) < 300 and max(times) - min(times) < 300e9, "the times", times[:3])


def judge(file, packets):
    """tshark and scapy, which were not written for this."""
    fields = ("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "frame.comment",
              "frame.interface_name", "infiniband.invariant.crc")
    rows = tshark_fields(str(file), *fields)
    check(len(rows) == len(packets), "tshark sees", len(rows), "of", len(packets), "packets")
    for row, p in zip(rows, packets):
        check(tuple(int(word, 0) for word in row[:3]) == (p.opcode, p.psn, p.dest_qpn), "tshark reads", row)
        check(row[3:5] == (p.comment, p.interface), "tshark reads", row)
        # Wireshark 4.0 does not look behind the base transport header of XRC.
        crc = f"0x{p.crc.hex()}" if p.service != XRC else ""
        check(row[5] == crc, "tshark reads the CRC", row[5], "instead of", crc)
    # scapy 2.5 takes only comments with a line feed for valid.
    logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
    read = [bytes(data) for data, _ in RawPcapNgReader(str(file))]
    check(read == [p.data for p in packets], "scapy reads other packets")
    for data in read:
        check(masked_crc(data) == data[-4:], "a wrong CRC:", data.hex())
        check(data[0] >> 4 != 4 or scapy_crc(data) == data[-4:], "scapy computes another CRC:", data.hex())


def exchange(peers, operations=OPERATIONS):
    """Every operation from the first peer to the second one, and some back."""
    messages = [Message(*peers, *words[:2], number, words[2]) for number, words in enumerate(operations)]
    messages += [Message(*peers[::-1], *words[:2], number, words[2]) for number, words in enumerate(operations[:4])]
    for message in messages:
        message.run()
    return messages


def check_traffic(first, second, captures, local):
    """All operations between two ends, each (emulator, function, gid_index), while these captures run: that of
    the first end and, if the ends are not in one emulator, that of the second one."""
    with connected(first, second) as peers:
        messages = exchange(peers)
    for capture, end in zip(captures, (first, second)):
        packets = capture.packets()
        check_flows(packets, messages, local)
        check_comments(packets, messages, (first[1], second[1]) if local else (end[1],), local)
        judge(capture.file, packets)
        print(f"{capture.file.name}: {len(packets)} packets")
    return messages


# -- cases --


def test_traffic(emulator, name, gid_index=3):
    captures = [emulator.capture(name)]
    check_traffic((emulator, "host", gid_index), (emulator, "dpu", gid_index), captures, True)


def test_filters(emulator):
    """Readers at the same time, each with a filter of its own."""
    with connected((emulator, "host"), (emulator, "dpu")) as peers:
        uc = peers[0].hello["qpn"]["uc"]
        captures = {
            "all": emulator.capture("all"),
            "dpu": emulator.capture("as-dpu", "--as", "dpu"),
            "qpn": emulator.capture("qpn", "--qpn", str(uc)),
            "peer": emulator.capture("peer", "--peer", str(peers[1].address)),
            "nobody": emulator.capture("nobody", "--peer", "192.0.2.77"),
            "wire": emulator.capture("wire", "--wire-only"),
            "local": emulator.capture("local", "--local-only"),
            "count": emulator.capture("count", "--count", "7"),
        }
        exchange(peers)
    found = {name: capture.packets(None if name == "count" else signal.SIGINT) for name, capture in captures.items()}
    data = {name: [p.data for p in packets] for name, packets in found.items()}
    check(data["all"] == data["local"] == data["dpu"] == data["peer"], "filters that select all packets do not")
    check(data["wire"] == data["nobody"] == [], "filters that select nothing do not")
    check(data["count"] == data["all"][:7], "--count")
    check(data["qpn"] == [p.data for p in found["all"] if f"QP {uc:#x}," in p.comment], "--qpn")
    for p, q in zip(found["all"], found["dpu"]):
        check(q.interface == "dpu:mlx5_0" and p.comment == q.comment, "the interface", q.interface)
        check(p.sent == (p.kind in pcapng.REQUESTS), "the direction")
        check(p.sent == q.sent if p.interface == q.interface else p.sent != q.sent, "the direction at the peer")


def test_long_message(emulator):
    capture = emulator.capture("long")
    size = 1 << 20
    with connected((emulator, "host"), (emulator, "dpu")) as peers:
        for op in ("write", "read"):
            peers[0].request(service="rc", op=op, length=size, there=0)
    packets = capture.packets()
    left_out = size // MTU - SHOWN - 1
    gap = f"; the next {left_out} packets of the message are left out"
    for kind in ("write", "response"):
        shown = [p for p in packets if p.kind == kind]
        check(len(shown) == SHOWN + 1 and [p for p in shown if gap in p.comment] == [shown[SHOWN - 1]], "the gap")
        check((shown[-1].psn - shown[0].psn) & 0xffffff == size // MTU - 1, "the PSN after the gap")


def test_refusals(emulator):
    """What the responder refuses is answered by a NAK."""
    capture = emulator.capture("refused")
    for words, status in (({"op": "write", "length": 64, "rkey": 0x77}, 10), ({"op": "send", "length": 3000}, 13)):
        with connected((emulator, "host"), (emulator, "dpu"), rnr_retry=0) as peers:
            peers[0].request(status, service="rc", **words)
    packets = capture.packets()
    check([p.kind for p in packets] == ["write", "ack", "send", "ack"], "refusals are", [p.kind for p in packets])
    check([p.number(AETH, 0, 1) for p in packets[1::2]] == [0x62, 0x20 + 12], "syndromes")
    judge(capture.file, packets)


def test_slow_reader(emulator):
    """A reader that stops loses packets, and gets their number; others lose nothing."""
    check(any(has_good_reader(emulator, attempt) for attempt in range(5)), "the good reader lost packets")


def has_good_reader(emulator, attempt):
    """Did it lose nothing? On a busy machine it may not have the processor when an engine waits for it: 50 ms."""
    with connected((emulator, "host"), (emulator, "dpu"), mtu=5) as peers:
        qpn = str(peers[0].hello["qpn"]["rc"])
        slow, dead, good = (emulator.capture(f"{name}{attempt}", "--qpn", qpn) for name in ("slow", "dead", "good"))
        slow.process.send_signal(signal.SIGSTOP)
        dead.process.send_signal(signal.SIGSTOP)
        for written in range(1, 261):  # as fast as the good one reads: the socket has room for each message
            peers[0].request(service="rc", op="write", length=BYTES)
            least = written * SHOWN * 4096
            await_true(lambda least=least: good.file.stat().st_size > least, "reading")
            if written == 130:
                dead.end(signal.SIGKILL, -signal.SIGKILL)
        slow.process.send_signal(signal.SIGCONT)
        await_true(lambda: slow.file.stat().st_size > 15 << 20, "reading on")
        peers[0].request(service="rc", op="write", length=100)
    total = 260 * (SHOWN + 2) + 2
    whole = "none lost" in good.end()
    check(not whole or len(pcapng.read(good.file)) == total, "the good reader lost packets without a word")
    said, packets = slow.end(), pcapng.read(slow.file)
    lost = [int(n) for p in packets for n in re.findall(r"; (\d+) packets before this one were lost", p.comment)]
    check(lost and len(packets) + sum(lost) == total, len(packets), "packets and", lost, "lost are not", total)
    check(f"{sum(lost)} packets were lost" in said, "capture says", said)
    return whole


def test_endings(emulator):
    """By the emulator, by a pipe into tshark, and by what makes a file impossible."""
    file = emulator.folder / "exists"
    file.write_bytes(b"mine")
    for words, wanted, status in (
            ((str(file),), "cannot write {}: File exists; remove it, or name another file", 1),
            (("/nonexistent/file",), "cannot write /nonexistent/file: No such file or directory", 1),
            (("/dev/full",), "cannot write /dev/full: No space left on device", 1),
            ((f"{file}2", "--as", "nobody"), "no function 'nobody'; its functions are: dpu, host", 1),
            ((f"{file}2", "--peer", "dpu"), "--peer of capture needs an IP address", 2),
            ((f"{file}2", "--local-only", "--wire-only"), "use either --wire-only or --local-only", 2),
            ((), "capture needs FILE", 2)):
        said = emulator.ctl("capture", *words, status=status)
        check(wanted.format(file) in said and (status == 2 or said.count("\n") == 1), words, "says", said)
    check(file.read_bytes() == b"mine" and not os.path.exists(f"{file}2"), "a refused capture wrote a file")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    full = emulator.capture("full", preexec_fn=limit)
    last = emulator.capture("last")
    tshark = subprocess.Popen(["tshark", "-l", "-n", "-r", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    piped = emulator.command("capture", "-", "--count", "6", stdout=tshark.stdin, stderr=subprocess.DEVNULL)
    tshark.stdin.close()
    with connected((emulator, "host"), (emulator, "dpu")) as peers:
        await_true(lambda: "RC RDMA Write Only" in tshark.stdout.readline()
                   if not peers[0].request(service="rc", op="write", length=4) else False, "a line of tshark")
        exchange(peers)
    check(piped.wait(PATIENCE) == 0, "a capture into a pipe failed")
    tshark.stdout.read()
    check(tshark.wait(PATIENCE) == 0, "tshark cannot read the pipe")
    check("File too large" in full.end(None, 1), "no error of a full disk")
    check(pcapng.read(full.file) and full.file.stat().st_size > 15000, "a full disk leaves a cut file")
    emulator.ctl("stop")
    packets = last.packets(None)
    check(len(packets) > 50, "a capture that ends with the emulator has", len(packets), "packets")
    check("no emulator is running" in emulator.ctl("capture", f"{file}2", status=1), "a capture of nothing")
    emulator.ctl("start")


def test_drops(end, other, third):
    """Packets that a queue pair does not accept say why."""
    capture = end[0].capture("drops")
    with connected(end, other) as peers:
        qpn, address = peers[0].hello["qpn"]["rc"], str(peers[0].address)
        bth = BTH(opcode=4, dqpn=qpn, psn=1)
        right = IP(src=f"127.77.{third}.9", dst=address) / UDP(sport=50000, dport=4791, chksum=0) / bth
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.bind((f"127.77.{third}.9", 0))
            right[UDP].sport = stranger.getsockname()[1]
            data = bytes(right)[28:]
            for payload in (data, data[:-1] + bytes([data[-1] ^ 1])):
                stranger.sendto(payload, (address, 4791))
        await_true(lambda: len(pcapng.read(capture.file)) == 2, "the record of dropped packets")
    comments = [p.comment for p in capture.packets()]
    check(comments == [f"{end[1]}: QP {qpn:#x}; dropped: the sender is not the queue pair's peer",
                       f"{end[1]}: no queue pair; dropped: the invariant CRC is wrong"], "dropped packets are", comments)


# Attributes of the class of the connection manager (IBA 16.7.2), as one connection of rping needs them.
MESSAGES = {0x10: "REQ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}


def connect_once(server, client, address):
    """rping from the second end to the first one."""
    port = str(7000 + os.getpid() % 1000)
    options = ("--", "rping", "-a", address, "-p", port, "-C", "1")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with server[0].command("run", "--as", server[1], *options, "-s", **quiet) as serving:
        await_true(lambda: '"LISTEN"' in server[0].ctl("status", "--json"), "listening")
        with client[0].command("run", "--as", client[1], *options, "-c", **quiet) as asking:
            check(asking.wait(PATIENCE) == 0, "rping failed")
        check(serving.wait(PATIENCE) == 0, "the server of rping failed")


def check_management(capture, names):
    """Each message of a connection is there once, as tshark counts them."""
    packets = capture.packets()
    judge(capture.file, packets)
    rows = tshark_fields(str(capture.file), "infiniband.mad.attributeid", "infiniband.bth.destqp", "frame.comment")
    seen = [(MESSAGES.get(int(number, 0)), comment) for number, qpn, comment in rows if int(qpn, 0) == 1]
    counted = {name: sum(what == name for what, _ in seen) for name in MESSAGES.values()}
    check(len(seen) == len(MESSAGES) and set(counted.values()) == {1}, "tshark counts", counted, "of", len(seen))
    check(all(re.match(f"({names}): QP 0x1(; synth|$)", comment) for _, comment in seen), "comments", seen)


def test_management_between_functions(emulator):
    capture = emulator.capture("managed")
    gids = json.loads(emulator.ctl("gid", "list", "--as", "host", "--json"))["gids"]
    connect_once((emulator, "host"), (emulator, "dpu"), next(g["gid"] for g in gids if "127." in g["gid"]).split(":")[-1])
    check_management(capture, "host|dpu")


def test_management_on_wire(ends, address):
    captures = [end[0].capture(f"managed-{end[1]}") for end in ends]
    connect_once(*ends, address)
    for capture, end in zip(captures, ends):
        check_management(capture, end[1])


def test_wire(program, place):
    """Between two emulators, each with a capture of its own: what one has sent the other has received."""
    third = os.getpid() % 250 + 1  # another test may have other addresses
    addresses = {"host": f"127.77.{third}.2", "dpu": f"127.77.{third}.3"}
    with contextlib.ExitStack() as stack:
        ends = []
        for function, address in addresses.items():
            folder = tempfile.mkdtemp(prefix="dpumap-capture.", dir=place)
            one = stack.enter_context(contextlib.closing(
                Emulator(program, folder, "--wire", f"{function}={address}")))
            table = json.loads(one.ctl("gid", "list", "--as", function, "--json"))
            index = next(gid["index"] for gid in table["gids"]
                         if gid["gid"].endswith(address) and gid["type"] in ("v2", "RoCE v2", 2))
            ends.append((one, function, index))
        captures = [end[0].capture(f"wire-{end[1]}") for end in ends]
        check_traffic(*ends, captures, False)
        first, second = (pcapng.read(capture.file) for capture in captures)
        for p in first + second:
            check(p.sent == (str(p.src) == addresses[p.interface.partition(":")[0]]), "the direction of", p.comment)
        check(sorted(p.data for p in first) == sorted(p.data for p in second), "the two ends differ")
        test_drops(*ends, third)
        test_management_on_wire(ends, addresses[ends[0][1]])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

    def emulator(*options):
        return contextlib.closing(Emulator(program, tempfile.mkdtemp(prefix="dpumap-capture.", dir=place), *options))

    with emulator() as one:
        for test in (test_filters, test_long_message, test_refusals, test_management_between_functions,
                     test_slow_reader, test_endings):
            start = time.monotonic()
            test(one)
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s", flush=True)
        test_traffic(one, "ipv4")
    gids = [f"--gid={function} {words}" for function in ("dpu", "host") for words in ("none", f"fd00::{function[0]}")]
    with emulator(*(word.replace("::h", "::a") for word in gids)) as one:
        test_traffic(one, "ipv6", 1)
        has_wire = "--wire=" in one.ctl("start", "--help")
    if has_wire:
        test_wire(program, place)


if __name__ == "__main__":
    main()
