#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: fleet.py BIN [--dpus N] [--exports N] [--processes N] [--changes N]

Measure a fleet of N DPUs on three members of etcd: bench_fleet publishes by the code of dpumapd, many DPUs
in a few processes; dpumap watches. The reference in the same run is curl: plain puts of the same bytes,
and a bare watch of the same keys. Prints the figures; adds ratios to the file $DPUMAP_BENCH_RESULTS.
"""

import argparse
import base64
import contextlib
import json
import os
import pathlib
import queue
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

FLEET, PLAIN = "bench", "plain"
TTL = 10
TICKS = os.sysconf("SC_CLK_TCK")
ROOT = f"/dpumap/v1/{FLEET}/"


def say(text):
    print(text, flush=True)


def record(name, value, goal=""):
    """As bench_record() of tests/bench/stats.h."""
    path = os.environ.get("DPUMAP_BENCH_RESULTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"fleet\t{name}\t{value:.2f}\t{value:.2f}\t{value:.2f}\t{goal}\n")


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def own_memory(pid):
    """Resident bytes that belong to no file."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def only_child(pid):
    """The program that "dpumap-emu run" started, or that took its place."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return int(children[0]) if children else pid


def await_true(condition, patience=300):
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("bench_fleet: the fleet does not get ready")
        time.sleep(0.02)


# -- etcd


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Members with the default settings of etcd, and these options."""

    def __init__(self, directory, count=3, *options):
        ports = free_ports(2 * count)
        self.endpoints = [f"http://127.0.0.1:{port}" for port in ports[:count]]
        peers = [f"http://127.0.0.1:{port}" for port in ports[count:]]
        cluster = ",".join(f"m{n}={peer}" for n, peer in enumerate(peers))
        self.members = []
        for n, (client, peer) in enumerate(zip(self.endpoints, peers)):
            words = ["etcd", "--name", f"m{n}", "--data-dir", f"{directory}/m{n}", "--log-level", "error"]
            words += ["--listen-client-urls", client, "--advertise-client-urls", client]
            words += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
            words += ["--initial-cluster", cluster, *options]
            with open(f"{directory}/m{n}.log", "wb") as log:
                self.members.append(subprocess.Popen(words, stdout=log, stderr=log))
        await_true(lambda: self.answers("kv/range", key="eA=="))

    def answers(self, path, **body):
        with contextlib.suppress(OSError):
            return self.post(path, **body)
        return None

    def post(self, path, endpoint=0, **body):
        url = f"{self.endpoints[endpoint]}/v3/{path}"
        request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def records(self):
        """{key: value} of the fleet."""
        key, end = (base64.b64encode(text.encode()).decode() for text in (ROOT, ROOT[:-1] + "0"))
        found = self.post("kv/range", key=key, range_end=end).get("kvs", ())
        return {base64.b64decode(one["key"]): base64.b64decode(one["value"]) for one in found}

    def requests(self):
        """Requests so far, of all members; those of one member to another do not count."""
        total = 0
        for endpoint in self.endpoints:
            with urllib.request.urlopen(f"{endpoint}/metrics", timeout=60) as answer:
                for line in answer.read().decode().splitlines():
                    if line.startswith("grpc_server_started_total"):
                        total += float(line.rpartition(" ")[2])
        return int(total)

    def cpu(self):
        return sum(cpu_seconds(member.pid) for member in self.members)

    def close(self):
        for member in self.members:
            member.kill()
            member.wait()


# -- programs


class Lines:
    """A program whose lines of output are read when they arrive: (CLOCK_MONOTONIC in ns, line)."""

    def __init__(self, words, **more):
        self.process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **more
        )
        self.lines, self.pid = queue.Queue(), self.process.pid
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while True:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            now = time.monotonic_ns()
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.lines.put((now, line.decode()))

    def next(self, wanted, patience=300):
        """The next line that begins so; others are passed over."""
        while True:
            try:
                at, line = self.lines.get(timeout=patience)
            except queue.Empty:
                sys.exit(f"bench_fleet: {self.process.args[0]} does not print {wanted} within {patience} s")
            if line.startswith(wanted):
                return at, line

    def tell(self, line):
        self.process.stdin.write(f"{line}\n".encode())

    def kill(self):
        self.process.kill()
        self.process.wait()


class Dpus:
    """All DPUs, in some processes of bench_fleet."""

    def __init__(self, args, cluster, directory):
        self.args, self.cluster, self.processes = args, cluster, []
        self.log = open(f"{directory}/publishers.log", "ab")

    def start(self):
        """Starts all at the same time; seconds until everything is published."""
        share = self.args.dpus // self.args.processes
        endpoints = [word for one in self.cluster.endpoints for word in ("--endpoint", one)]
        for n in range(self.args.processes):
            words = ["--fleet", FLEET, "--first", n * share, "--dpus", share]
            words += ["--exports", self.args.exports, "--ttl", TTL, *endpoints]
            self.processes.append(Lines([f"{self.args.bin}/bench_fleet", *words], stderr=self.log))
        begun = min(int(one.next("begin")[1].split()[1]) for one in self.processes)
        done = max(int(one.next("published")[1].split()[1]) for one in self.processes)
        return (done - begun) / 1e9

    def of(self, dpu):
        return self.processes[dpu // (self.args.dpus // self.args.processes)]

    def stop(self):
        for one in self.processes:
            one.tell("stop")
        for one in self.processes:
            one.process.wait(120)
        self.processes = []

    def kill(self):
        for one in self.processes:
            one.kill()
        self.processes = []

    def state(self):
        """[published, requests, transactions, failures, leases lost]"""
        for one in self.processes:
            one.tell("state")
        rows = [map(int, one.next("state")[1].split()[1:]) for one in self.processes]
        return [sum(column) for column in zip(*rows)]

    def cpu(self):
        return sum(cpu_seconds(one.pid) for one in self.processes)

    def memory(self):
        return sum(own_memory(one.pid) for one in self.processes)


@contextlib.contextmanager
def rates(cluster, found, pause=0.25):
    """Requests to etcd per second while the body runs: (mean, peak of one pause) in found."""
    samples, end = [(time.monotonic(), cluster.requests())], threading.Event()

    def sample():
        while not end.wait(pause):
            samples.append((time.monotonic(), cluster.requests()))

    thread = threading.Thread(target=sample)
    thread.start()
    yield
    end.set()
    thread.join()
    samples.append((time.monotonic(), cluster.requests()))
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(samples, samples[1:]) if b[0] - a[0] > 0.05]
    total = samples[-1][1] - samples[0][1]
    found += [total / (samples[-1][0] - samples[0][0]), max(steps), total]


# -- measurements


def plain_puts(args, cluster, directory, sizes):
    """As many puts of as many bytes, by curl over 16 connections at a time."""
    keys = [f"/dpumap/v1/{PLAIN}/dpus/dpu{d:04}" for d in range(args.dpus)]
    keys += [f"/dpumap/v1/{PLAIN}/exports/dpu{d:04}/export{e:03}" for d in range(args.dpus) for e in range(args.exports)]
    config = pathlib.Path(directory, "puts")
    with open(config, "w", encoding="utf-8") as file:
        for n, key in enumerate(keys):
            size = sizes[0] if n < args.dpus else sizes[1]
            body = {"key": base64.b64encode(key.encode()).decode(), "value": base64.b64encode(b"x" * size).decode()}
            data = json.dumps(body).replace('"', '\\"')
            url = f"{cluster.endpoints[n % 3]}/v3/kv/put"
            separator = "next\n" if n else ""
            file.write(f'{separator}url = "{url}"\noutput = "/dev/null"\ndata = "{data}"\n')
    words = ["curl", "-sS", "--no-progress-meter", "--parallel", "--parallel-max", "16", "--config", config]
    begun = time.monotonic()
    subprocess.run([str(word) for word in words], check=True)
    return time.monotonic() - begun, len(keys)


def measure_publishing(args, cluster, dpus, directory):
    seconds = dpus.start()
    _, requests, transactions, _, _ = dpus.state()
    records = cluster.records()
    wanted = args.dpus * (args.exports + 1)
    if len(records) != wanted:
        sys.exit(f"bench_fleet: {len(records)} records in etcd instead of {wanted}")
    of_dpus = [len(key) + len(value) for key, value in records.items() if b"/dpus/" in key]
    of_exports = [len(key) + len(value) for key, value in records.items() if b"/exports/" in key]
    values = [statistics.mean(len(v) for k, v in records.items() if part in k) for part in (b"/dpus/", b"/exports/")]
    plain, puts = plain_puts(args, cluster, directory, [round(value) for value in values])
    say(f"publishing {args.dpus} DPUs with {args.exports} exports each, {wanted} records: {seconds:.1f} s "
        f"in {requests} requests, {transactions} of them transactions")
    say(f"  {puts} plain puts of the same size by curl: {plain:.1f} s; ratio {seconds / plain:.2f}")
    record("publishing : as many plain puts by curl", seconds / plain, "at most 1")
    say(f"  bytes of a record with its key: DPU {statistics.mean(of_dpus):.0f}, export {statistics.mean(of_exports):.0f}")
    return puts


class BareWatch(Lines):
    """curl on the watch of etcd's JSON interface."""

    def __init__(self, cluster):
        key, end = (base64.b64encode(text.encode()).decode() for text in (ROOT, ROOT[:-1] + "0"))
        body = json.dumps({"create_request": {"key": key, "range_end": end}})
        super().__init__(["curl", "-sSN", "-X", "POST", "-d", body, f"{cluster.endpoints[0]}/v3/watch"])
        self.next('{"result"')


def start_watch(args, cluster, directory):
    """dpumap as a watching host; its configuration is in the directory."""
    urls = ", ".join(f'"{url}"' for url in cluster.endpoints)
    config = pathlib.Path(directory, "dpumap.conf")
    config.write_text(f'registry = {{ fleet = "{FLEET}"; endpoints = [ {urls} ]; }};\n', encoding="utf-8")
    config.chmod(0o600)
    words = [f"{args.bin}/dpumap", "--config", config, "--fleet", FLEET, "--timeout", 600, "watch", "--json"]
    return Lines(words, env={**os.environ, "XDG_CACHE_HOME": str(directory)})


def event(name):
    """How its line begins."""
    return f'{{ "schema": "dpumap-fleet-watch-1", "event": "{name}"'


def measure_events(args, dpus, watch, bare):
    """From the call that states a change to the event."""
    of_watch, of_bare = [], []
    for n in range(args.changes):
        dpu, export = n * 7 % args.dpus, n * 13 % args.exports
        one = dpus.of(dpu)
        one.tell(f"change {dpu} {export}")
        begun = int(one.next("changed")[1].split()[1])
        of_watch.append((watch.next(event("changed"))[0] - begun) / 1e6)
        of_bare.append((bare.next('{"result"')[0] - begun) / 1e6)
        time.sleep(0.01)
    for part, name in ((0.5, "median"), (0.99, "p99")):
        a, b = percentile(of_watch, part), percentile(of_bare, part)
        say(f"from a change to the event, {name} of {args.changes}: dpumap watch {a:.2f} ms, "
            f"bare watch by curl {b:.2f} ms; ratio {a / b:.2f}")
        record(f"change to event, {name} : bare watch by curl", a / b, "at most 1.5")


def per_10000(value, args):
    return value * 10000 / (args.dpus * args.exports)


def measure_rest(args, cluster, dpus, watch):
    """What it costs when nothing changes."""
    seconds, before = 20, (dpus.cpu(), cpu_seconds(watch.pid), cluster.cpu())
    found = []
    with rates(cluster, found, 1):
        time.sleep(seconds)
    publish, host, etcd = (b - a for a, b in zip(before, (dpus.cpu(), cpu_seconds(watch.pid), cluster.cpu())))
    say(f"nothing changes, {seconds} s: {found[0]:.0f} requests/s ({args.dpus} leases of {TTL} s)")
    say(f"  publishing: {publish / seconds * 100:.2f} % of a processor, "
        f"{per_10000(dpus.memory(), args) / 1048576:.1f} MiB per 10,000 exports")
    say(f"  watching host: {host / seconds * 100:.2f} % of a processor, "
        f"{per_10000(own_memory(watch.pid), args) / 1048576:.1f} MiB per 10,000 exports")
    say(f"  three members of etcd: {etcd / seconds * 100:.1f} % of a processor, "
        f"{sum(own_memory(one.pid) for one in cluster.members) / 3 / 1048576:.0f} MiB each")


def measure_restart(cluster, dpus, how, end):
    """All DPUs at once."""
    end()
    found = []
    with rates(cluster, found):
        seconds = dpus.start()
    failures = dpus.state()[3]
    say(f"all DPUs {how} and start at once: published after {seconds:.1f} s, {found[2]} requests, "
        f"{found[0]:.0f}/s, at most {found[1]:.0f}/s in 0.25 s; {failures} failed")


def measure_deaths(args, dpus, watch):
    """As by kill -9: until the watching host has heard of the end of each export."""
    watch.lines.queue.clear()
    begun = time.monotonic_ns()
    dpus.kill()
    for _ in range(args.dpus * args.exports):
        at, _ = watch.next(event("removed"))
    say(f"all DPUs are killed: the watching host has heard of the last export after {(at - begun) / 1e9:.1f} s")


def measure_strangers(args, cluster, directory, number=100000):
    """Keys below the same root that belong to no live DPU."""
    words = [f"{args.bin}/dpumap", "--config", f"{directory}/dpumap.conf", "--fleet", FLEET, "list", "--json"]
    value = base64.b64encode(b"x" * 100).decode()
    seconds = []
    for _ in range(2):
        begun = time.monotonic()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": str(directory)})
        seconds.append(time.monotonic() - begun)
        for first in range(0, 0 if len(seconds) == 2 else number, 100):
            keys = [base64.b64encode(f"{ROOT}exports/stranger/e{n}".encode()).decode() for n in range(first, first + 100)]
            cluster.post("kv/txn", success=[{"requestPut": {"key": key, "value": value}} for key in keys])
    say(f"dpumap list: {seconds[0]:.2f} s; with {number} keys of strangers: {seconds[1]:.2f} s")


def measure_dpumapd(args, cluster, directory):
    """A real dpumapd with 10,000 exports, with and without a registry."""
    emu = f"{args.bin}/dpumap-emu"
    figures = {}
    for kind in ("without", "with"):
        registry = ""
        if kind == "with":
            urls = ", ".join(f'"{url}"' for url in cluster.endpoints)
            registry = f'registry = {{ fleet = "real"; name = "dpu"; endpoints = [ {urls} ]; }};'
        place = pathlib.Path(directory, kind)
        place.mkdir(mode=0o700)
        exports = ",\n".join(
            f'{{ name = "e{n}"; kind = "dram"; size = 4096; allow = "cert:host"; }}' for n in range(10000)
        )
        config = place / "dpumapd.conf"
        tls = f'tls = {{ cert = "{directory}/pki/dpu.crt"; key = "{directory}/pki/dpu.key"; ca = "{directory}/pki/ca.crt"; }};'
        config.write_text(
            f'listen = [ "tls:127.0.0.1:{free_ports(1)[0]}" ];\nadmin = "{place}/admin";\n{tls}\n{registry}\nexports = ( {exports} );\n',
            encoding="utf-8",
        )
        config.chmod(0o600)
        with open(place / "log", "wb") as log:
            daemon = Lines([emu, "run", "--as", "dpu", "--", f"{args.bin}/dpumapd", "--config", config], stderr=log)
        daemon.next("dpumapd: ready")
        pid = only_child(daemon.pid)
        if kind == "with":
            key, end = (base64.b64encode(t.encode()).decode() for t in ("/dpumap/v1/real/exports/", "/dpumap/v1/real/exports0"))
            await_true(lambda: int(cluster.post("kv/range", key=key, range_end=end, count_only=True).get("count", 0)) == 10000)
        time.sleep(2)
        before = cpu_seconds(pid)
        time.sleep(10)
        figures[kind] = (own_memory(pid), cpu_seconds(pid) - before, before)
        os.kill(pid, signal.SIGTERM)
        daemon.process.wait(60)
    memory, rest, start = (figures["with"][n] - figures["without"][n] for n in range(3))
    say(f"dpumapd with 10,000 exports, the registry adds: {memory / 1048576:.1f} MiB to "
        f"{figures['without'][0] / 1048576:.1f}, {start:.2f} s of processor time to publish them, then "
        f"{rest / 10 * 100:.2f} % of a processor")


def make_pki(args, directory):
    for words in (("init",), ("issue", "--dpu", "dpu", "--san", "127.0.0.1")):
        command = [f"{args.bin}/dpumap", "pki", *words, "--dir", f"{directory}/pki"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run(args, directory):
    cluster = Cluster(directory)
    dpus = Dpus(args, cluster, directory)
    watchers = []
    try:
        puts = measure_publishing(args, cluster, dpus, directory)
        say(f"  database of etcd after these {2 * puts} puts: "
            f"{int(cluster.post('maintenance/status')['dbSize']) / 1048576:.1f} MiB")
        watch, bare = start_watch(args, cluster, directory), BareWatch(cluster)
        watchers += [watch, bare]
        watch.next(event("watching"))
        measure_events(args, dpus, watch, bare)
        measure_rest(args, cluster, dpus, watch)
        measure_restart(cluster, dpus, "stop", dpus.stop)
        measure_restart(cluster, dpus, "are killed", dpus.kill)
        measure_deaths(args, dpus, watch)
        measure_strangers(args, cluster, directory)
        make_pki(args, directory)
        measure_dpumapd(args, cluster, directory)
    finally:
        for one in watchers:
            one.kill()
        dpus.kill()
        cluster.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin")
    parser.add_argument("--dpus", type=int, default=300)
    parser.add_argument("--exports", type=int, default=100)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--changes", type=int, default=500)
    args = parser.parse_args()
    # In memory: the disk of a machine that does other work says nothing about etcd or dpumap.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = tempfile.mkdtemp(prefix="dpumap-fleet.", dir=memory)
    try:
        run(args, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
