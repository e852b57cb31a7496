#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: records.py BIN [--dpus N] [--exports N]

Measure a host of a large fleet: N DPUs that are only records, put into one etcd in transactions of 128. How long
dpumap takes until it watches all of them, and its memory; a list of all, and of one. The reference in the same run is
a client that reads the same records from etcd and does nothing with them.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from fleet import FLEET, ROOT, Cluster, cpu_seconds, event, own_memory, record, say, start_watch

PER_TRANSACTION = 128  # the limit of etcd by default
DPUS_PER_PAGE = 8
QUOTA = 8 << 30
FIRST_ANSWER = 2
MEMORY = 100 << 20


def encode(text):
    return base64.b64encode(text.encode()).decode()


def dpu_record(name):
    about = {"format": 1, "addresses": ["tls:192.0.2.1:7000"], "certificate": name, "software": "1.0", "generation": 1}
    return encode(json.dumps(about, separators=(",", ":")))


def records(args):
    """(key, value) of the fleet, in base64: the DPUs first, as each export belongs to one."""
    value = {"format": 1, "kind": "dram", "size": 1 << 30, "access": ["pci-read-write"], "via": "pci", "generation": 1}
    value = encode(json.dumps(value, separators=(",", ":")))
    for dpu in range(args.dpus):
        yield encode(f"{ROOT}dpus/dpu{dpu:05}"), dpu_record(f"dpu{dpu:05}")
    for dpu in range(args.dpus):
        for export in range(args.exports):
            yield encode(f"{ROOT}exports/dpu{dpu:05}/export{export:03}"), value


def put_all(args, cluster):
    """All records have the same lease, which does not end meanwhile. Seconds."""
    begun = time.monotonic()
    lease = cluster.post("lease/grant", TTL=86400)["ID"]
    puts = []

    def flush():
        body = f'{{"success":[{",".join(puts)}]}}'.encode()
        with urllib.request.urlopen(f"{cluster.endpoints[0]}/v3/kv/txn", body, timeout=60) as answer:
            answer.read()
        puts.clear()

    for key, value in records(args):
        puts.append(f'{{"requestPut":{{"key":"{key}","value":"{value}","lease":"{lease}"}}}}')
        if len(puts) == PER_TRANSACTION:
            flush()
    if puts:
        flush()
    return time.monotonic() - begun


def read_ranges(args, cluster):
    """The exports of some DPUs at a time, as dpumap reads them: seconds, bytes."""
    begun, size = time.monotonic(), 0
    for first in range(0, args.dpus, DPUS_PER_PAGE):
        key, end = (encode(f"{ROOT}exports/dpu{dpu:05}/") for dpu in (first, first + DPUS_PER_PAGE))
        body = json.dumps({"key": key, "range_end": end}).encode()
        with urllib.request.urlopen(f"{cluster.endpoints[0]}/v3/kv/range", body, timeout=60) as answer:
            size += len(answer.read())
    return time.monotonic() - begun, size


def measure_list(args, directory, *pattern):
    """Seconds, bytes of memory at most, exports."""
    words = [f"{args.bin}/dpumap", "--config", f"{directory}/dpumap.conf", "--fleet", FLEET, "--timeout", "600"]
    words += ["list", *pattern]
    begun = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": str(directory)}) as one:
        lines = sum(1 for _ in one.stdout)
        _, status, usage = os.wait4(one.pid, 0)
        one.returncode = os.waitstatus_to_exitcode(status)
    if one.returncode:
        sys.exit(f"bench_records: dpumap list ended with status {one.returncode}")
    return time.monotonic() - begun, usage.ru_maxrss * 1024, lines - 1


def run(args, directory):
    cluster = Cluster(directory, 1, "--quota-backend-bytes", str(QUOTA))
    watch = None
    wanted = args.dpus * args.exports
    try:
        say(f"{args.dpus} DPUs with {args.exports} exports each: put into etcd in {put_all(args, cluster):.1f} s, database "
            f"{int(cluster.post('maintenance/status')['dbSize']) / 1048576:.0f} MiB")
        plain, size = read_ranges(args, cluster)
        say(f"all exports, read and thrown away: {plain:.2f} s, {size / 1048576:.0f} MiB")
        before = cluster.cpu()
        begun = time.monotonic_ns()
        watch = start_watch(args, cluster, directory)
        seconds = (watch.next(event("watching"), 600)[0] - begun) / 1e9
        memory = own_memory(watch.pid)
        say(f"dpumap watches all of them after {seconds:.2f} s (goal {FIRST_ANSWER} s), {seconds / plain:.2f} times as long; "
            f"processor time {cpu_seconds(watch.pid):.2f} s, of etcd {cluster.cpu() - before:.2f} s")
        say(f"  its memory: {memory / 1048576:.1f} MiB (goal {MEMORY >> 20} MiB), "
            f"{memory / (wanted + args.dpus):.0f} bytes a record")
        record("watching a large fleet : reading its records", seconds / plain)
        watch.kill()
        for what, pattern in (("all", ()), ("one", ("dpu00000:export000",))):
            seconds, peak, found = measure_list(args, directory, *pattern)
            if found != (1 if pattern else wanted):
                sys.exit(f"bench_records: dpumap list has printed {found} exports")
            say(f"dpumap list of {what}: {seconds:.2f} s, at most {peak / 1048576:.1f} MiB")
    finally:
        if watch:
            watch.kill()
        cluster.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin")
    parser.add_argument("--dpus", type=int, default=1000)
    parser.add_argument("--exports", type=int, default=100)
    args = parser.parse_args()
    # In memory: the disk of a machine that does other work says nothing about etcd or dpumap.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-records.", dir=memory))
    try:
        run(args, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
