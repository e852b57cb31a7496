#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: exports.py BIN DIRECTORY PKI COUNT: measures dpumapd with COUNT exports, a thousand in each file
of exports_dir: its start, a list, a reload that changes one export, and memory; then how long a client waits
for an import while others open connections, register memory, and reload."""

import contextlib
import os
import pathlib
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time

IN_FILE = 1000
ROUNDS = 9
SECONDS = 5
EXPORT = '\t{{ name = "e{0:06}"; kind = "dram"; size = {1}; allow = [ "cert:host" ]; }}'
CONFIG = """\
listen = [ "tls:127.0.0.1:0" ];
tls = {{ cert = "{1}/dpu.crt"; key = "{1}/dpu.key"; ca = "{1}/ca.crt"; }};
admin = "{0}/admin";
max_clients = 100;
max_clients_per_identity = 100;
exports_dir = "{0}/exports.d";
"""


class Bench:
    """dpumapd with its exports."""

    def __init__(self, programs, directory, pki, count):
        self.programs, self.directory, self.pki, self.count = programs, directory, pki, count
        self.emulator = [str(programs / "dpumap-emu"), "run", "--as"]
        self.files = directory / "exports.d"
        self.agent = self.address = None
        self.size = 4096

    def write(self, number, first_size=4096):
        names = range(number * IN_FILE, min(self.count, (number + 1) * IN_FILE))
        exports = [EXPORT.format(name, first_size if name % IN_FILE == 0 else 4096) for name in names]
        (self.files / f"{number:04}.conf").write_text("exports = (\n" + ",\n".join(exports) + "\n);\n", "utf-8")

    def start(self):
        """The seconds until it is ready."""
        (self.directory / "conf").write_text(CONFIG.format(self.directory, self.pki), "utf-8")
        words = [*self.emulator, "dpu", "--", str(self.programs / "dpumapd"), "--config", str(self.directory / "conf")]
        begin = time.monotonic()
        self.agent = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.agent.stdout.readline().rpartition("ready on ")[2].strip()
        assert self.address, "dpumapd does not start"
        return time.monotonic() - begin

    def stop(self):
        self.agent.terminate()
        self.agent.wait()

    def status(self, key):
        text = pathlib.Path(f"/proc/{self.agent.pid}/status").read_text(encoding="utf-8")
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith(key)))

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.agent.pid}/stat").read_text(encoding="utf-8")
        user, system = fields.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def settle(self):
        """Until all exports are registered."""
        before = -1.0
        while self.cpu() - before > 0.05:
            before = self.cpu()
            time.sleep(1)

    def ctl(self, *words):
        command = [str(self.programs / "dpumapd"), "ctl", "--admin", str(self.directory / "admin"), *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def reload(self):
        """The seconds of a reload that changes one export."""
        self.size = 12288 - self.size
        self.write(self.count // IN_FILE // 2, self.size)
        begin = time.monotonic()
        self.ctl("reload")
        return time.monotonic() - begin

    def list(self):
        files = ["--cert", f"{self.pki}/host.crt", "--key", f"{self.pki}/host.key", "--ca", f"{self.pki}/ca.crt"]
        words = [str(self.programs / "dpumap"), "list", "--connect", self.address, *files]
        begin = time.monotonic()
        subprocess.run([*self.emulator, "host", "--", *words], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begin

    def waits(self):
        """How long a client waits for an import, in milliseconds: median, 99th percentile, longest."""
        bench, host = str(self.programs / "bench_channel"), f"{self.pki}/host"
        words = [bench, self.address, host, f"{self.pki}/ca.crt", "e000000", "wait", str(SECONDS)]
        done = subprocess.run([*self.emulator, "host", "--", *words], check=True, stdout=subprocess.PIPE)
        return [float(word) for word in done.stdout.split()]

    # The neighbours: each works until it is told to stop.

    def connect(self, stop):
        """Handshakes, one after the other."""
        context = ssl.create_default_context(cafile=f"{self.pki}/ca.crt")
        context.load_cert_chain(f"{self.pki}/host.crt", f"{self.pki}/host.key")
        host, port = self.address.removeprefix("tls:").rsplit(":", 1)
        while not stop.is_set():
            with socket.create_connection((host, int(port))) as stream, contextlib.suppress(OSError):
                context.wrap_socket(stream, server_hostname=host).close()

    def stall(self, stop):
        """Clients that begin a handshake and do not go on."""
        host, port = self.address.removeprefix("tls:").rsplit(":", 1)
        with contextlib.ExitStack() as stack:
            for _ in range(50):
                stream = stack.enter_context(socket.create_connection((host, int(port))))
                stream.sendall(b"\x16\x03\x01\x02\x00\x01")
            stop.wait()

    def register(self, stop):
        """An export of 256 MiB that comes and goes."""
        while not stop.is_set():
            self.ctl("add", "name=large,kind=dram,size=256M,allow=cert:host")
            self.ctl("remove", "large")

    def reload_all_the_time(self, stop):
        while not stop.is_set():
            self.reload()


def beside(bench, neighbour):
    """The waits while a neighbour works."""
    stop = threading.Event()
    thread = threading.Thread(target=neighbour, args=(stop,))
    thread.start()
    time.sleep(0.5)
    waits = bench.waits()
    stop.set()
    thread.join()
    return waits


def record(name, value, goal):
    """Add a row to the report of scripts/bench --report, as bench_record() does."""
    if "DPUMAP_BENCH_RESULTS" in os.environ:
        with open(os.environ["DPUMAP_BENCH_RESULTS"], "a", encoding="utf-8") as file:
            print("exports", name, *[f"{value:g}"] * 3, goal, sep="\t", file=file)


def report(what, values, unit, scale, goal):
    """A row of the report is a part of the goal: it ends at 1."""
    values = [value * scale for value in values]
    middle = statistics.median(values)
    print(f"{what:<46} {middle:>8.3g} {unit} ({min(values):.3g} to {max(values):.3g}), goal at most {goal}")
    record(f"{what} : goal", middle / goal, "at most 1")


def main():
    programs, directory, pki = (pathlib.Path(word) for word in sys.argv[1:4])
    bench = Bench(programs, directory, pki, int(sys.argv[4]))
    bench.files.mkdir()
    bench.start()
    time.sleep(1)
    empty = bench.status("VmRSS")
    bench.stop()
    for number in range((bench.count + IN_FILE - 1) // IN_FILE):
        bench.write(number)
    print(f"dpumapd with {bench.count} exports, median (range)")
    starts = []
    for _ in range(3):
        starts.append(bench.start())
        if len(starts) < 3:
            bench.stop()
    bench.settle()
    report("start until it is ready", starts, "s", 1, 5)
    report("memory of an export", [(bench.status("VmRSS") - empty) * 1024 / bench.count], "bytes", 1, 600)
    report("list by dpumap", [bench.list() for _ in range(ROUNDS)], "s", 1, 0.3)
    used = bench.cpu()
    report("reload of one changed export", [bench.reload() for _ in range(ROUNDS)], "s", 1, 0.1)
    print(f"{'its processor time':<46} {(bench.cpu() - used) / ROUNDS:>8.3g} s")
    print(f"a client imports for {SECONDS} s, ms: {'median':>17} {'99 %':>8} {'longest':>8}")
    neighbours = {
        "alone": lambda stop: None,
        "handshakes beside it": bench.connect,
        "50 handshakes that stall": bench.stall,
        "256 MiB registered and freed": bench.register,
        "reloads": bench.reload_all_the_time,
    }
    for name, neighbour in neighbours.items():
        median, most, longest = beside(bench, neighbour)
        print(f"    {name:<42} {median:>8.3f} {most:>8.2f} {longest:>8.2f}")
        record(f"import, 99 %, {name} : 50 ms", most / 50, "at most 1")
    bench.stop()


if __name__ == "__main__":
    main()
