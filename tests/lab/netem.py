#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: netem.py [--curve] BIN

Two emulators in two network namespaces, and the kernel's netem between them: loss, reordering, duplication,
delay and corruption in both directions. All bytes of all transfers must be right, and each transfer must end
in time; on a network that delivers nothing, with the error and at the time that the attributes say. Prints a line
"pass NAME" or "fail NAME REASON" for each case. --curve measures the throughput over the rate of loss instead, beside
what go-back-N predicts. BIN is the folder of dpumap-emu. Needs root and sch_netem: tests/lab/vm has both.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

CASES = {
    "perfect": "",
    "loss-0.1": "loss 0.1%",
    "loss-1": "loss 1%",
    "loss-10": "loss 10%",
    "reordered": "delay 2ms reorder 25% 50%",
    "duplicated": "duplicate 10%",
    "delayed": "delay 5ms 1ms",
    "corrupted": "corrupt 1%",
    "all": "delay 1ms 1ms loss 1% duplicate 1% corrupt 0.5%",
}
MTU = 1024
TIMEOUT = 12  # 4.096 us * 2^12 = 16.8 ms
OPS = ("write", "read", "send")
# Name, netem, the attributes, the operation, the status; the times follow from the attributes.
EXHAUSTION = (
    ("timeout", "loss 100%", {"timeout": 12, "retry": 1}, "write", "IBV_WC_RETRY_EXC_ERR"),
    ("timeout-of-a-read", "loss 100%", {"timeout": 14, "retry": 3}, "read", "IBV_WC_RETRY_EXC_ERR"),
    ("most-retries", "loss 100%", {"timeout": 13, "retry": 7}, "send", "IBV_WC_RETRY_EXC_ERR"),
    ("no-retry", "loss 100%", {"timeout": 15, "retry": 0}, "write", "IBV_WC_RETRY_EXC_ERR"),
    ("link-down", "down", {"timeout": 14, "retry": 3}, "write", "IBV_WC_RETRY_EXC_ERR"),
    ("not-ready", "delay 5ms", {"timeout": 14, "rnr": 3, "min_rnr": 20}, "send", "IBV_WC_RNR_RETRY_EXC_ERR"),
    ("not-ready-with-loss", "delay 1ms loss 10%", {"timeout": 14, "rnr": 6, "min_rnr": 20}, "send",
     "IBV_WC_RNR_RETRY_EXC_ERR"),
)
RNR_TIMER = {20: 10.24e-3}  # seconds (IBA 9.7.5.2, table 45)
# The curve: the delay dominates what the processors do, so that the protocol alone decides.
CURVE = {0.03: 1, 0.1: 1, 0.3: 1, 1: 2, 3: 4, 10: 8}  # percent: divisor of the size, enough for many losses
CURVE_DELAY, CURVE_RTT, CURVE_TIMEOUT = "10ms", 0.02, 14
# Checksums off: the kernel refuses to cut datagrams (UDP_SEGMENT), of which netem would lose many packets as one.
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17
CHECKSUMS_OFF = f"""
import array, fcntl, socket, struct, sys
value = array.array("B", struct.pack("II", {ETHTOOL_STXCSUM}, 0))
request = struct.pack("16sP16x", sys.argv[1].encode(), value.buffer_info()[0])
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), {SIOCETHTOOL}, request)
"""
WINDOW_MIN, WINDOW = 4, 64  # packets, see emu/wire/window.h and WINDOW_MIN in emu/engine/net.c


def timer(code):
    return 4.096e-6 * 2**code


def sawtooth(loss, each):
    """The seconds between two losses, that is for 1 / loss packets: each loss halves the window, and each round sends
    a window and makes it larger by a packet. A round takes a round trip, or longer if the processors need more."""
    window, seconds = float(WINDOW), 0.0
    for _ in range(200):  # to the window at which growth and loss are in balance
        window, left, seconds = max(window / 2, WINDOW_MIN), 1 / loss, 0.0
        while left > 0:
            seconds += max(CURVE_RTT, window * each) * min(left / window, 1)
            left -= window
            window = min(window + 1, WINDOW) if left > 0 else window
    return seconds


def predicted(packets, loss, each, timeout):
    """Seconds for packets under go-back-N with the window of the emulator. Between two losses the window grows. A loss
    costs one more round trip, because the NAK takes as long as the packets that are sent in vain; and the timer, if
    the NAK or the packet that is sent again is lost too. The processors need `each` seconds for a packet."""
    return packets * loss * (sawtooth(loss, each) + CURVE_RTT + 2 * loss * timeout)


class Fabric:
    """The namespaces, the emulators, and a probe in each."""

    def __init__(self, directory):
        # pylint: disable=import-outside-toplevel
        from harness.emulator import local_environment
        from harness.machine import LocalMachine
        from harness.network import ADDRESSES, Network
        from harness.wired import Probe, connect

        self.connect = connect
        self.network = Network(local_environment(directory))
        self.emulator = f"{os.environ['DPUMAP_BIN']}/dpumap-emu"
        self.places = {name: f"{directory}/{name}" for name in ADDRESSES}
        self.ends, self.last = [], -1
        for name, place in self.places.items():
            enter = self.network.enter(name)
            self.network.run(name, self.emulator, "start", "--dir", place, "--wire", ADDRESSES[name])
            run = [*enter, self.emulator, "run", "--dir", place, "--as", "dpu", "--"]
            machine = LocalMachine(name, f"{directory}/{name}.home", local_environment(directory), run)
            self.ends.append(Probe(machine))

    def impair(self, words):
        for name in self.places:
            change = ["root", "netem", "limit", "20000", *words.split()] if words else ["root"]
            verb = "replace" if words else "del"
            if words or "netem" in self.network.run(name, "tc", "qdisc", "show", "dev", f"{name}0"):
                self.network.run(name, "tc", "qdisc", verb, "dev", f"{name}0", *change)

    def transfer(self, op, size, number):
        """Seconds; the bytes on both sides are compared."""
        near, far = self.ends
        near("fill", number)
        far("fill", number + 1)
        if op == "send":
            far("receive", self.last, size)
        begin = time.monotonic()
        near("post", self.last, op, size)
        near.succeeds(patience=60)
        seconds = time.monotonic() - begin
        if op == "send":
            far.succeeds(patience=10)
        assert near("digest", size) == far("digest", size), f"{op}: the bytes differ"
        return seconds

    def begin(self, **attributes):
        self.connect(*self.ends, **{"mtu": MTU, "timeout": TIMEOUT, "retry": 7, **attributes})
        self.last += 1

    def fails(self, op, status, least, most):
        """An operation completes with this status, and in this time."""
        near, _ = self.ends
        near("post", self.last, op, 5000)
        found, _, _, seconds = near.completes(patience=most + 30)[0]
        assert found == status, found
        assert least <= seconds <= most, f"after {seconds:.3f} s, not between {least:.3f} and {most:.3f} s"
        return seconds

    def close(self):
        for end in self.ends:
            end.close()
        for place in self.places.values():
            os.system(f"{self.emulator} stop --dir {place}")
        self.network.close()


def run_case(fabric, name, words, size):
    fabric.impair(words)
    fabric.begin()
    found = {op: fabric.transfer(op, size, 10 * fabric.last) for op in OPS}
    line = ", ".join(f"{op} {size / seconds / 1e6:.1f} MB/s" for op, seconds in found.items())
    print(f"pass netem-{name}\n  {words or 'no netem'}: {line}", flush=True)


def limits(attributes):
    """How long the attributes let a request try. The timer expires after one to four times its value (IBA 9.7.6.1);
    the responder's timer is exact, and each of its NAKs takes a round."""
    if "rnr" in attributes:
        least = attributes["rnr"] * RNR_TIMER[attributes["min_rnr"]]
        return least, least + (attributes["rnr"] + 1) * 4 * timer(attributes["timeout"]) + 1
    least = (attributes["retry"] + 1) * timer(attributes["timeout"])
    return least, 4 * least + 1


def run_exhaustion(fabric, name, words, attributes, op, status):
    least, most = limits(attributes)
    fabric.impair("")
    fabric.begin(**attributes)
    if words == "down":
        fabric.network.pull()
    else:
        fabric.impair(words)
    seconds = fabric.fails(op, status, least, most)
    if words == "down":
        fabric.network.plug()
    print(f"pass netem-exhaustion-{name}\n  {words}: {op} {status} after {seconds:.3f} s, {least:.3f} to {most:.3f} s "
          "allowed", flush=True)


def run_curve(fabric, size):
    """A table: the rate of loss, measured and predicted throughput of RDMA WRITE."""
    def seconds(words, part=size):
        fabric.impair(words)
        fabric.begin(timeout=CURVE_TIMEOUT)
        return fabric.transfer("write", part, 10 * fabric.last)

    for name in fabric.places:
        fabric.network.run(name, sys.executable, "-c", CHECKSUMS_OFF, f"{name}0")
    seconds(f"delay {CURVE_DELAY}")  # so that the next one finds all memory present
    each = seconds(f"delay {CURVE_DELAY}") * MTU / size
    print(f"without loss a packet of {MTU} bytes takes {each * 1e6:.0f} us", flush=True)
    for percent, divisor in CURVE.items():
        part = size // divisor
        took = seconds(f"delay {CURVE_DELAY} loss {percent}%", part)
        model = predicted(part // MTU, percent / 100, each, timer(CURVE_TIMEOUT))
        print(f"  | {percent} % | {part / took / 1e6:.2f} MB/s | {part / model / 1e6:.2f} MB/s |", flush=True)
        assert 0.5 < took / model < 2, f"{percent} %: {took:.1f} s instead of {model:.1f} s"
    print("pass netem-curve", flush=True)


def run(fabric, args):
    if args.curve:
        run_curve(fabric, args.size)
        return
    for name, words in CASES.items():
        run_case(fabric, name, "" if args.no_netem else words, args.size)
    for one in () if args.no_netem else EXHAUSTION:
        run_exhaustion(fabric, *one)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curve", action="store_true", help="the throughput over the rate of loss")
    parser.add_argument("--no-netem", action="store_true", help="only the transfers, on a kernel without netem")
    parser.add_argument("--size", type=int, default=1 << 20, help="bytes of a transfer")
    parser.add_argument("bin")
    args = parser.parse_args()
    os.environ["DPUMAP_BIN"] = os.path.realpath(args.bin)
    failed = False
    with tempfile.TemporaryDirectory(prefix="dpumap-netem.", dir="/dev/shm") as directory:
        fabric = Fabric(directory)
        try:
            run(fabric, args)
        except AssertionError as wrong:
            print(f"fail netem {wrong}", flush=True)
            failed = True
        fabric.close()
    sys.exit(failed)


if __name__ == "__main__":
    main()
