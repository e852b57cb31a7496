#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: netem.py [--long] BIN

Two emulators in two network namespaces, and the kernel's netem between them: loss, reordering, duplication,
delay and corruption in both directions. All bytes of all transfers must be right, and each transfer must end
in time. Prints a line "pass NAME" or "fail NAME REASON" for each case, and the throughput beside what
go-back-N predicts. BIN is the folder of dpumap-emu. Needs root and sch_netem: tests/lab/vm has both.
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
LONG = {
    **{f"loss-{percent}": f"loss {percent}%" for percent in (0.01, 0.03, 0.1, 0.3, 1, 3, 10)},
    **{f"loss-{percent}-delayed": f"delay 1ms loss {percent}%" for percent in (0.01, 0.1, 1, 10)},
}
MTU = 1024
TIMEOUT = 12  # 4.096 us * 2^12 = 16.8 ms
WINDOW = 64  # packets in flight that go-back-N sends again, see src/emu/wire/window.h
OPS = ("write", "read", "send")


def predicted(packets, message, seconds, loss):
    """Go-back-N: each lost packet costs a window, and that of a message's end costs the timer."""
    again = loss * min(WINDOW, message) / (1 - loss)
    timers = packets / message * loss * 4.096e-6 * 2**TIMEOUT
    return seconds * (1 + again) + timers


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
        self.ends = []
        for name, place in self.places.items():
            enter = self.network.enter(name)
            self.network.run(name, self.emulator, "start", "--dir", place, "--wire", ADDRESSES[name])
            run = [*enter, self.emulator, "run", "--dir", place, "--as", "dpu", "--"]
            machine = LocalMachine(name, f"{directory}/{name}.home", local_environment(directory), run)
            self.ends.append(Probe(machine))

    def weather(self, words):
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

    def begin(self, case):
        self.connect(*self.ends, mtu=MTU, timeout=TIMEOUT, retry=7)
        self.last = case

    def close(self):
        for end in self.ends:
            end.close()
        for place in self.places.values():
            os.system(f"{self.emulator} stop --dir {place}")
        self.network.close()


def loss_of(words):
    words = words.split()
    return float(words[words.index("loss") + 1].rstrip("%")) / 100 if "loss" in words else None


def run_case(fabric, number, name, words, size, base):
    """The seconds of a write."""
    fabric.weather(words)
    fabric.begin(number)
    found = {op: fabric.transfer(op, size, 10 * number) for op in OPS}
    line = ", ".join(f"{op} {size / seconds / 1e6:.1f} MB/s" for op, seconds in found.items())
    loss = loss_of(words)
    if base and loss is not None:
        packets = size // MTU
        model = predicted(packets, packets, base["write"], loss)
        line += f"; go-back-N predicts {size / model / 1e6:.1f} MB/s"
    print(f"pass netem-{name}", flush=True)
    print(f"  {words or 'no netem'}: {line}", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="also the curve over the rate of loss")
    parser.add_argument("--no-netem", action="store_true", help="only the transfers, on a kernel without netem")
    parser.add_argument("--size", type=int, default=1 << 20, help="bytes of a transfer")
    parser.add_argument("bin")
    args = parser.parse_args()
    os.environ["DPUMAP_BIN"] = os.path.realpath(args.bin)
    cases = {**CASES, **LONG} if args.long else CASES
    failed, base = False, None
    with tempfile.TemporaryDirectory(prefix="dpumap-netem.", dir="/dev/shm") as directory:
        fabric = Fabric(directory)
        for number, (name, words) in enumerate(cases.items()):
            try:
                found = run_case(fabric, number, name, "" if args.no_netem else words, args.size, base)
                base = base or found
            except AssertionError as wrong:
                print(f"fail netem-{name} {wrong}", flush=True)
                failed = True
                break
        fabric.close()
    sys.exit(failed)


if __name__ == "__main__":
    main()
