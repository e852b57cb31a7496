# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""examples/fleet with etcd and a real dpumapd."""

import os
import subprocess


def test_example_lists_connects_and_watches(etcd, publisher, agent, host):
    cluster = etcd()
    running = agent("kind=dram,size=64K")
    one = publisher(cluster, "dpu").created()
    one.set("e0,1,1", address=running.address)
    one.published()
    files = [f"{host.dir}/pki/{name}" for name in ("host.crt", "host.key", "ca.crt")]
    command = [f"{os.environ['DPUMAP_BIN']}/example_fleet", cluster.urls[0], "f", "dpu:e0", *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as example:
        assert example.stdout.readline() == "dpu:e0  dram  1 bytes\n"
        assert example.stdout.readline() == "the DPU exports e0 with 65536 bytes\n"
        one.say("close", 5000)
        assert example.stdout.readline() == "dpu:e0 is gone\n"
        assert example.wait(60) == 0
