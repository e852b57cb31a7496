# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two emulators of one machine that have nothing in common but a network: their ports exchange RoCEv2."""

import json
import os
import re
import select
import shutil
import time

from harness.emulator import Emulator
from harness.machine import await_true

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = f"{HERE}/../emu/wire/probe.py"
GID = 3  # the index of the address's GID of RoCEv2


def addresses():
    """Three of 127.0.0.0/8 that no other test has: processes have different numbers."""
    pid = os.getpid()
    return [f"127.{128 + (pid >> 14 & 63)}.{pid >> 6 & 255}.{(pid & 63) * 4 + n}" for n in range(1, 4)]


class Wired:
    """Emulators "a" and "b", each with its address; both functions of a have one."""

    def __init__(self, *options):
        first, second, third = addresses()
        self.address = {"a": first, "b": second, "c": third}
        self.emulator = {}
        self.emulator["a"] = Emulator("--wire", first, "--wire", f"host={third}", *options)
        self.emulator["b"] = Emulator("--wire", second, *options)
        self.machine = {name: one.machine("dpu") for name, one in self.emulator.items()}
        self.machine["c"] = self.emulator["a"].machine("host")

    def close(self):
        for one in self.emulator.values():
            one.close()


class Probe:
    """One end of connections; see tests/emu/wire/probe.py. Another program speaks as that one does."""

    def __init__(self, machine, program=PROBE):
        self.machine = machine
        self.process = machine.start(["/usr/bin/python3", str(program)], stdin=-1, text=True)
        self.pid = self.process.pid
        assert self.answer() == "ready"

    def ask(self, verb, *words):
        self.process.stdin.write(json.dumps([verb, *words]) + "\n")
        self.process.stdin.flush()

    def answer(self, patience=30):
        found, _, _ = select.select([self.process.stdout], [], [], patience)
        line = self.process.stdout.readline() if found else ""
        assert line, f"{self.machine.name}: the probe {'has ended' if found else 'does not answer'}"
        return json.loads(line)

    def __call__(self, verb, *words):
        self.ask(verb, *words)
        return self.answer()

    def completes(self, number=1, patience=10):
        found = self("wait", number, patience)
        assert len(found) == number, f"{number} completions wanted, found {found}"
        return found

    def succeeds(self, number=1, patience=10):
        found = self.completes(number, patience)
        assert all(one[0] == "IBV_WC_SUCCESS" for one in found), found
        return found

    def files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def switches(self):
        """Context switches of all threads."""
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/status", encoding="ascii") as file:
                total += sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)", file.read())))
        return total

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def connect(near, far, number=1, **options):
    """Queue pairs of both ends, connected with these attributes."""
    ends = near("open", number, options), far("open", number, options)
    near("connect", ends[1])
    far("connect", ends[0])
