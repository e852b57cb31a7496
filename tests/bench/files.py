#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: files.py BIN DIRECTORY MIB ROUNDS: measures `dpumap cp` of a file through exports of dpumapd,
compared with the same without verification, with each of its parts alone, and with cp and sha256sum of the same file.

The parts are reading, copies in both directions, and writing to the disk.

A virtual machine that returns free memory to its host at once makes writing several times slower,
the more the longer a run takes; see docs/performance.md."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

MIB = 1 << 20
PARTS = ("read", "write", "copy")
WAYS = (
    ("dram", ("dram",)),
    ("dram --no-verify", ("dram", "--no-verify")),
    ("dram --sha256", ("dram", "--sha256")),
    ("dm 128 KiB", ("small",)),
    ("dm 128 KiB --no-verify", ("small", "--no-verify")),
)


class Bench:
    """A file, dpumapd with two exports, and the measured seconds of each name."""

    def __init__(self, programs, directory, size):
        self.programs, self.directory, self.size = programs, directory, size
        self.source, self.target = directory / "source", directory / "target"
        self.seconds, self.cpu = {}, {}
        emulator = str(programs / "dpumap-emu")
        self.host = [emulator, "run", "--as", "host", "--"]
        exports = ("name=dram,kind=dram,size=64M", "name=small,kind=dm,size=128K,align=4K")
        words = [word for export in exports for word in ("--export", f"{export},allow=uid:{os.getuid()}")]
        self.socket = f"unix:{directory}/socket"
        listen = ["--listen", str(directory / "socket")]
        self.agent = subprocess.Popen(
            [emulator, "run", "--as", "dpu", "--", str(programs / "dpumapd"), *listen, *words],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL},
        )
        assert b"ready" in self.agent.stdout.readline(), "dpumapd does not start"

    def make_source(self):
        block = os.urandom(64 * MIB)
        with open(self.source, "wb") as file:
            for at in range(0, self.size, len(block)):
                file.write(block[: min(len(block), self.size - at)])
            os.fsync(file.fileno())

    def agent_cpu(self):
        """Processor seconds of dpumapd."""
        fields = pathlib.Path(f"/proc/{self.agent.pid}/stat").read_text(encoding="utf-8")
        user, system = fields.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def measure(self, name, work):
        """One round: the target does not exist before."""
        self.target.unlink(missing_ok=True)
        os.sync()
        times, before, begin = os.times(), self.agent_cpu(), time.monotonic()
        seconds = work()
        elapsed = time.monotonic() - begin
        used = sum(os.times()[:4]) - sum(times[:4]) + self.agent_cpu() - before
        self.seconds.setdefault(name, []).append(elapsed if seconds is None else seconds)
        self.cpu.setdefault(name, []).append(used)

    def run(self, *words):
        return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout

    def tool(self, *words):
        return self.run(*self.host, str(self.programs / "dpumap"), *words, "--connect", self.socket)

    # The parts.

    def read(self):
        self.run("dd", f"if={self.source}", "of=/dev/null", "bs=1M", "status=none")

    def write(self):
        words = (f"count={self.size // MIB}", "conv=fsync", "status=none")
        self.run("dd", "if=/dev/zero", f"of={self.target}", "bs=1M", *words)

    def copy(self):
        """The copies alone, at the measured rates of both directions."""
        words = ("bench", "dram", "--size", "1M", "--count", "256", "--write", "--json")
        rates = [row["megabytes_per_second"] for row in json.loads(self.tool(*words))["results"]]
        return sum(self.size / 1e6 / rate for rate in rates)

    # The wholes.

    def compare(self):
        self.run("cp", str(self.source), str(self.target))
        self.run("sync", str(self.target))
        self.run("sha256sum", str(self.source), str(self.target))

    def round(self):
        for name in PARTS:
            self.measure(name, getattr(self, name))
        self.measure("cp, sync, sha256sum", self.compare)
        for name, (export, *options) in WAYS:
            words = ("cp", str(self.source), export, str(self.target), *options)
            self.measure(name, lambda words=words: self.tool(*words) and None)

    def median(self, name):
        return statistics.median(self.seconds[name])

    def record(self, name, ratio, goal=""):
        """Add a ratio to the report of scripts/bench --report, as bench_record() does."""
        if "DPUMAP_BENCH_RESULTS" in os.environ:
            with open(os.environ["DPUMAP_BENCH_RESULTS"], "a", encoding="utf-8") as file:
                print("file", name, *[f"{ratio:g}"] * 3, goal, sep="\t", file=file)

    def report(self):
        slowest = max(PARTS, key=self.median)
        print(f"{'':<24} {'seconds':>8} {'MB/s':>8} {'cpu s':>8} {'limit s':>8} {'x slowest part':>15}")
        for name, seconds in self.seconds.items():
            cpu = statistics.median(self.cpu[name])
            whole = statistics.median(seconds)
            print(
                f"{name:<24} {whole:>8.2f} {self.size / whole / 1e6:>8.0f} {cpu:>8.2f}"
                f" {cpu / os.cpu_count():>8.2f} {whole / self.median(slowest):>15.2f}"
            )
        ratio = self.median("dram") / self.median("dram --no-verify")
        print(f"slowest part: {slowest}")
        print(f"dram compared with dram --no-verify: {ratio:.2f}x (goal: at most 1.1x)")
        self.record("dram : dram --no-verify", ratio, "at most 1.1")
        ratio = self.median("dram") / self.median("dm 128 KiB")
        self.record("rate through 128 KiB : dram", ratio, "at least 0.5")
        print(f"rate through 128 KiB of device memory: {ratio:.2f} of DRAM (goal: at least 0.5)")
        print(f"dram compared with cp, sync, sha256sum: {self.median('dram') / self.median('cp, sync, sha256sum'):.2f}x")


def main():
    programs, directory, mib, rounds = sys.argv[1:]
    bench = Bench(pathlib.Path(programs), pathlib.Path(directory), int(mib) * MIB)
    bench.make_source()
    for _ in range(int(rounds)):
        bench.round()
    bench.report()
    bench.agent.terminate()
    bench.agent.wait()


main()
