# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Programs of the distribution, and dpumapd with dpumap, on two emulators that have
only a network in common."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

from harness.agents import Tool
from harness.machine import await_true
from harness.wired import GID

pytestmark = pytest.mark.local
PINGPONGS = (
    *("ibv_rc_pingpong -c -n 50", "ibv_rc_pingpong -c -e -n 200", "ibv_rc_pingpong -c -e -s 300001 -n 5 -m 256"),
    *("ibv_uc_pingpong -c -e -n 200", "ibv_ud_pingpong -c -e -n 200", "ibv_srq_pingpong -c -e -n 200"),
    "ibv_xsrq_pingpong",
)
PERFTESTS = (
    *("ib_write_bw -n 100", "ib_write_bw -n 20 -q 8 -b", "ib_write_bw -c UC -n 100"),
    *("ib_send_bw -e -n 100", "ib_send_bw -e -c UD -s 1024 -n 100", "ib_send_bw -e -r 64 --use-srq -q 4 -n 50"),
    *("ib_read_bw -n 100", "ib_read_bw -e -n 50 -q 4", "ib_atomic_bw -e -n 100", "ib_write_bw -c XRC -n 50"),
    *("ib_send_lat -e -n 100", "ib_write_lat -n 20", "ib_read_lat -e -n 100", "ib_atomic_lat -e -n 100"),
    *(f"ib_write_bw -n 30 -m {mtu}" for mtu in (256, 1024)),
)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listens(port):
    with open("/proc/net/tcp", encoding="ascii") as tcp, open("/proc/net/tcp6", encoding="ascii") as tcp6:
        return f":{port:04X} 0" in tcp.read() + tcp6.read()


def pair(wired, program, *words):
    """A server on b and a client on a; the client's output."""
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    port = free_port()
    command = [program, *words, "-p", port]
    server = wired.machine["b"].daemon(f"{program}-{port}", command)
    assert await_true(lambda: listens(port) or server.status() is not None)
    try:
        out = wired.machine["a"].run([*command, "127.0.0.1"], timeout=60).ok()
        assert server.end("0", 30) == 0, server.log() + server.out()
        return out
    except AssertionError as failure:
        raise AssertionError(f"{failure}; the server is {server.status()}: {server.log()}{server.out()}") from failure
    finally:
        server.end("KILL")


@pytest.mark.parametrize("line", PINGPONGS)
def test_pingpong_programs_run_over_the_wire(wired, line):
    program, *words = line.split()
    out = pair(wired, program, *words, "-g", GID)
    assert re.search(r"^[0-9]+ iters in |^ *success$", out, re.M), out
    assert "invalid data" not in out


WITHOUT_EPOLL = """
import errno, os, seccomp, sys
rules = seccomp.SyscallFilter(seccomp.ALLOW)
rules.add_rule(seccomp.ERRNO(errno.ENOSPC), "epoll_ctl")
rules.load()
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_packet_wakes_engine_without_epoll(wired):
    """The user has no watches left: the engine of an idle server takes naps, and does not wait for epoll."""
    pytest.importorskip("seccomp")
    command = ["ibv_rc_pingpong", "-c", "-e", "-n", "20", "-g", GID, "-p", free_port()]
    server = wired.machine["b"].daemon("no-epoll", [sys.executable, "-c", WITHOUT_EPOLL, *command])
    assert await_true(lambda: listens(command[-1]) or server.status() is not None)
    try:
        time.sleep(0.5)
        out = wired.machine["a"].run([*command, "127.0.0.1"], timeout=60).ok()
        assert re.search(r"^20 iters in ", out, re.M), out
        assert server.end("0", 30) == 0, server.log() + server.out()
    finally:
        server.end("KILL")


# Processes of a busy machine do not run for longer than perftest gives a network time: 0.5 s.
PATIENT = ("-u", "19")


@pytest.mark.parametrize("line", PERFTESTS)
def test_perftest_measures_over_the_wire(wired, line):
    program, *words = line.split()
    out = pair(wired, program, *words, "-d", "mlx5_0", "-x", GID, "-F", *PATIENT)
    assert re.search(r"^ *[0-9]+ +[0-9]+ +([0-9.]+|-?inf|-?nan)", out, re.M), out


# Of librdmacm: the server's options, the client's, and what the client prints.
MANAGED = {
    "rping": (["-s", "-a", "{to}", "-C", "10", "-V"], ["-c", "-a", "{to}", "-C", "10", "-v", "-V"], "^ping data: "),
    "ucmatose": (["-b", "{to}", "-c", "8", "-C", "10"], ["-s", "{to}", "-c", "8", "-C", "10"], "^return status 0$"),
    "udaddy": (["-b", "{to}", "-c", "4", "-C", "10"], ["-s", "{to}", "-c", "4", "-C", "10"], "^return status 0$"),
    "cmtime": (["-c", "40"], ["-s", "{to}", "-c", "40"], "^destroy"),
}


def may_hang(program):
    """A newer rping polls for an event in one thread and then waits for it, while the other thread destroys the connection
    and with it the event: with any device, it may hang after its last ping."""
    with open(shutil.which(program), "rb") as file:
        return program == "rping" and b"eventfd" in file.read()


def managed(wired, program, to, by):
    """A program's server on one machine, and its client on another."""
    server_words, client_words, proof = MANAGED[program]
    at = {"to": wired.address[to]}
    words = [[word.format(**at) for word in part] for part in (server_words, client_words)]
    emulator = wired.emulator["b" if to == "b" else "a"]
    server = wired.machine[to].daemon(f"{program}-{to}", [program, *words[0]])

    def is_ready():
        return server.status() is not None or '"LISTEN"' in emulator.ctl("status", "--json")

    ready = await_true(is_ready)
    try:
        assert ready and server.status() is None, server.log()
        if may_hang(program):
            out = wired.machine[by].run(["timeout", "60", program, *words[1]]).out
            assert len(re.findall(proof, out, re.M)) == 10, out
            return
        out = wired.machine[by].run([program, *words[1]], timeout=60).ok()
        assert re.search(proof, out, re.M), out
        if program != "cmtime":
            assert server.end("0", 30) == 0, server.log() + server.out()
    finally:
        server.end("KILL")


@pytest.mark.parametrize("program", MANAGED)
@pytest.mark.parametrize("to, by", [("b", "a"), ("a", "b")])
def test_programs_of_the_connection_manager_run_over_the_wire(wired, program, to, by):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    usage = subprocess.run([program, "-?"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if "-C controller_address" in usage.stdout:
        pytest.skip(f"this {program} needs a controller, which the one of older rdma-core does not have")
    managed(wired, program, to, by)


def agent_config(machine, listen):
    rdma = f'rdma = {{ listen = "{listen}:0"; }};\n' if listen else ""
    export = '{ name = "far"; kind = "dram"; size = "256K"; via = "rdma"; allow = [ "*" ]; }'
    text = f'listen = [ "unix:{machine.dir}/socket" ];\n{rdma}exports = ( {export} );\n'
    machine.put({"dpumapd.conf": text})


@pytest.mark.parametrize("by_address", [False, True])
def test_dpumap_copies_over_the_wire(wired, by_address):
    dpu, host = wired.machine["b"], wired.machine["a"]
    agent_config(dpu, wired.address["b"] if by_address else "")
    agent = dpu.daemon(f"dpumapd-{by_address}", ["dpumapd", "--config", f"{dpu.dir}/dpumapd.conf"])
    try:
        agent.await_output("ready on ")
        data = os.urandom(5_000_001)
        host.put({"sent": data})
        report = Tool(host, ["--connect", f"unix:{dpu.dir}/socket"])("cp", "sent", "far", "got").ok()
        assert "by RDMA connection" in report and "all digests are equal" in report, report
        assert host.get("got") == data
        host.run("rm got").ok()
    finally:
        assert agent.end() == 0, agent.log()
