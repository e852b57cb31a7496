# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""RDMA connections to the address of dpumapd, with tickets that it gives to clients. That they expire is
in tests/unit/test_tickets.c; copies are in test_remote.py, and their ends in test_endings.py."""

import os
import re
import socket
import struct
import threading

import pytest

from harness.agents import LOST, REFUSED, Tool
from harness.emulator import Emulator
from harness.machine import await_true
from harness.wire import HELLO, cbor, exactly, frame, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CARD = ("--nodes", "2")
ADDRESS = "127.100.0.1"  # of the DPU's function
HOST = "127.100.0.2"  # of the host's, which dpumapd does not use
CONFIG = """\
listen = [ "unix:{socket}" ];
admin = "{admin}";
{rdma}
exports = (
	{{ name = "far"; kind = "dram"; size = "64K"; via = "rdma"; allow = [ "*" ]; }},
	{{ name = "other"; kind = "dram"; size = "4K"; via = "rdma"; allow = [ "*" ]; }},
	{{ name = "near"; kind = "dram"; size = "4K"; allow = [ "*" ]; }} );
"""
ASK = {"name": "far", "details": b""}
TICKETS = 4  # that a client may have
INVALID_VALUE = 6
WRONG = "its ticket is not valid, was used before or has expired"


def setting(address):
    return f'rdma = {{ listen = "{address}"; }};' if address else ""


class Door:
    """dpumapd with an address for RDMA connections."""

    def __init__(self, serve, emulator):
        self.dpu, self.peer = emulator.machine("dpu"), emulator.machine("node1.host")
        self.path = f"{self.dpu.dir}/door.conf"
        self.socket = f"{self.dpu.dir}/socket"
        self.programs = []
        self.write(f"{ADDRESS}:0")
        self.agent = serve("--config", self.path)
        self.far = Tool(self.peer, ["--connect", self.socket])

    def write(self, address):
        words = {"socket": self.socket, "admin": f"{self.dpu.dir}/admin", "rdma": setting(address)}
        self.dpu.put({"door.conf": CONFIG.format(**words)})

    def reload(self, address):
        self.write(address)
        return self.agent.ctl("reload")

    def log(self):
        return self.agent.log()

    def port(self):
        return int(re.findall(r"connect to address \S+ port (\d+)", self.log())[-1])

    def client(self, *names):
        """A connection over the channel that holds these exports."""
        s = reach(self.socket)
        s.sendall(HELLO)
        assert b"version" in receive(s)
        for name in names:
            s.sendall(request("get", name=name))
            assert b"descriptor" in receive(s)
        return s

    def ask(self, s, name="far"):
        """A ticket, as hexadecimal digits."""
        s.sendall(request("connect", **{**ASK, "name": name}))
        reply = receive(s)
        assert cbor("address") + cbor(ADDRESS) in reply, reply
        assert cbor("port") + cbor(self.port()) in reply, reply
        return reply.partition(cbor("ticket") + b"\x48")[2][:8].hex()

    def connect(self, data, *words):
        """A program on the other machine that requests a connection with this private data."""
        name = f"cm{len(self.programs)}"
        command = ["agents_cm_client", ADDRESS, self.port(), data, *words]
        self.programs.append(self.peer.daemon(name, command))
        return self.programs[-1]

    def is_rejected(self, data):
        program = self.connect(data)
        assert program.end("0") == 1 and program.out() == "rejected\n", program.out() + program.log()

    def connections(self):
        """How many dpumapd has."""
        return sum(session["connections"] for session in self.agent.ask("sessions")["sessions"])

    def close(self):
        for program in self.programs:
            program.end("KILL")


@pytest.fixture
def door(serve, emulator):
    made = Door(serve, emulator)
    yield made
    made.close()


def test_copies_connect_by_address(door):
    data = os.urandom(65536)
    door.far("write", "far", data=data).ok()
    assert door.far("read", "far").data == data
    lines = re.findall("connects to export .*", door.log())
    assert len(lines) == 2 and all("far by address, from 127.101.0.2" in line for line in lines), lines
    door.far("read", "near").fails_with(REFUSED, "it needs a function of card")


def test_ticket_is_valid_once(door):
    with door.client("far") as s:
        ticket = door.ask(s)
        program = door.connect(ticket)
        program.await_output("^established")
        assert door.connections() == 1
        door.is_rejected(ticket)
        assert door.log().count(WRONG) == 1, door.log()
        assert door.connections() == 1
        program.end("KILL")
        assert await_true(lambda: door.connections() == 0)


def test_wrong_tickets_are_rejected(door):
    """Each bit counts, and so does the length: what is missing is zero."""
    with door.client("far") as s:
        ticket = door.ask(s)
        number = int(ticket, 16)
        wrong = [f"{number ^ 1 << bit:016x}" for bit in (0, 7, 31, 63)]
        wrong += ["", "00", "00" * 56, "ff" * 56, ticket[:14], "00" + ticket]
        for data in wrong:
            if not (data == ticket[:14] and ticket.endswith("00")):
                door.is_rejected(data)
        program = door.connect(ticket)
        program.await_output("^established")


def test_ticket_of_a_client_that_left_is_rejected(door):
    s = door.client("far")
    ticket = door.ask(s)
    s.close()
    assert await_true(lambda: door.agent.figure("clients") == 0)
    door.is_rejected(ticket)


def test_ticket_ends_with_the_release(door):
    with door.client("far", "other") as s:
        tickets = [door.ask(s), door.ask(s), door.ask(s, "other")]
        s.sendall(request("release", name="far"))
        receive(s)
        for ticket in tickets[:2]:
            door.is_rejected(ticket)
        door.connect(tickets[2]).await_output("^established")


@pytest.mark.parametrize("command", ["rekey", "remove"])
def test_ticket_ends_with_the_export(door, command):
    with door.client("far") as s:
        ticket, spare = door.ask(s), door.ask(s)
        program = door.connect(spare)
        program.await_output("^established")
        door.agent.ctl(command, "far").ok()
        door.is_rejected(ticket)
        program.await_output("^disconnected")
        assert door.connections() == 0


def test_connection_ends_with_the_client_of_its_ticket(door):
    """Whoever used the ticket: the connection is that client's, who was authenticated."""
    with door.client("far") as other:
        s = door.client("far")
        program = door.connect(door.ask(s))
        program.await_output("^established")
        s.close()
        program.await_output("^disconnected")
        assert door.connections() == 0
        door.ask(other)


def test_tickets_of_a_client_are_limited(door):
    with door.client("far", "other") as s, door.client("far") as other:
        tickets = [door.ask(s) for _ in range(TICKETS)]
        for _ in range(100):
            s.sendall(request("connect", **{**ASK, "name": "other"}))
            assert b"unused tickets" in receive(s)
        door.ask(other)
        door.connect(tickets[0]).await_output("^established")
        door.ask(s)
        for ticket in tickets[1:]:
            door.connect(ticket).await_output("^established")


def test_flood_of_requests_keeps_no_client_waiting(door):
    with door.client("far") as s:
        flood = [door.connect(f"{i:016x}") for i in range(30)]
        door.connect(door.ask(s)).await_output("^established")
        for program in flood:
            assert program.end("0") == 1 and program.out() == "rejected\n", program.out()
    assert await_true(lambda: door.log().count(WRONG) == 30), door.log()


def test_requests_for_an_address_are_checked(door):
    with door.client() as s:
        s.sendall(request("connect", **ASK))
        assert b"send get first" in receive(s)
        for name, why in (("none", b"there is no export"), ("near", b"takes no RDMA connections")):
            if name == "near":
                s.sendall(request("get", name=name))
                receive(s)
            s.sendall(request("connect", name=name, details=b""))
            assert why in receive(s)


@pytest.mark.parametrize("stage", ["response", "established"])
def test_death_of_the_peer_frees_its_connection(door, stage):
    """Before and after it has completed the connection, while its channel stays."""
    with door.client("far") as s:
        program = door.connect(door.ask(s), *([stage] if stage == "response" else []))
        program.await_output(f"^{stage}")
        assert door.connections() == 1
        program.end("KILL")
        assert await_true(lambda: door.connections() == 0), door.log()
        door.connect(door.ask(s)).await_output("^established")


def test_request_that_the_device_refuses_is_rejected(door, emulator):
    """dpumapd says so, and the client may try again."""
    with door.client("far") as s:
        emulator.fault("--as", "dpu", "--method", "qp.modify", "--nth", 2, "--errno", "ETIMEDOUT")
        door.is_rejected(door.ask(s))
        emulator.clear_faults()
        why = "rejected its RDMA connection from 127.101.0.2: export far: cannot connect"
        door.agent.daemon.await_log(why)
        assert door.connections() == 0
        door.connect(door.ask(s)).await_output("^established")


def test_client_reports_a_rejected_connection(door, emulator):
    emulator.fault("--as", "dpu", "--method", "qp.modify", "--nth", 2, "--errno", "ETIMEDOUT")
    done = door.far("read", "far")
    emulator.clear_faults()
    err = done.fails(1)
    assert f"address {ADDRESS} port {door.port()} of dpumapd cannot be reached or refuses" in err, err


@pytest.fixture
def partition(emulator):
    words = ("partition", "--as", "node0", "--peer", "node1")
    emulator.fault(*words)
    yield
    emulator.fault(*words, "--off")


def test_address_that_does_not_answer_ends_the_client(door, partition):
    err = door.far("read", "far", "--timeout", "1").fails(1)
    assert f"address {ADDRESS} port {door.port()} of dpumapd does not answer" in err, err
    assert door.connections() == 0


def test_failure_of_the_device_ends_dpumapd_with_its_connections(door, emulator):
    with door.client("far") as s:
        door.connect(door.ask(s)).await_output("^established")
        emulator.fault("device", "--as", "dpu")
        assert door.agent.daemon.end("0") == LOST, door.log()
        emulator.clear_faults()


def test_address_may_be_ipv6(serve):
    card = Emulator(*CARD, "--gid", "dpu fd00::1", "--gid", "node1.host fd00::2")
    try:
        dpu = card.machine("dpu")
        dpu.put({"six.conf": setting("[fd00::1]:0")})
        agent = serve("--config", f"{dpu.dir}/six.conf", "--listen", f"{dpu.dir}/socket",
                      "--export", "name=far,kind=dram,size=4K,via=rdma", machine=dpu)  # fmt: skip
        Tool(card.machine("node1.host"), ["--connect", agent.address])("fill", "far", "a5").ok()
        assert "far by address, from fd00::2" in agent.log()
        agent.stop()
    finally:
        card.close()


# -- reloads


def test_reload_that_removes_the_address_keeps_connections(door):
    """New clients exchange details, and the next reload opens an address again."""
    with door.client("far") as s:
        ticket = door.ask(s)
        program = door.connect(door.ask(s))
        program.await_output("^established")
        door.reload(None).ok()
        assert "RDMA clients no longer connect by address" in door.log()
        door.is_rejected(ticket)
        s.sendall(request("connect", **ASK))
        assert b"has no address for RDMA connections" in receive(s)
        assert door.connections() == 1 and program.status() is None
        door.far("read", "far").ok()
        assert re.search("connects to export far$", door.log(), re.M), door.log()
        door.reload(f"{ADDRESS}:0").ok()
        door.connect(ticket).await_output("^established")
        assert door.connections() == 2
        door.agent.ctl("remove", "far").ok()
        program.await_output("^disconnected")


def test_reload_to_the_same_address_keeps_its_port(door):
    port = door.port()
    door.reload(f"{ADDRESS}:0").ok()
    assert door.port() == port and door.log().count("RDMA clients connect to") == 1
    door.reload(f"{ADDRESS}:{port + 1}").ok()
    assert door.port() == port + 1
    door.far("read", "far").ok()


@pytest.mark.parametrize(
    "address, why",
    [
        (f"{HOST}:0", f"{HOST}:0 is not an address of device mlx5_0"),
        ("192.0.2.1:0", "192.0.2.1:0 is not an address of device mlx5_0"),
        ("far.example:1", "listen must be an IP address of the device and a port"),
        (ADDRESS, "listen must be an IP address of the device and a port"),
        (f"{ADDRESS}:65536", "listen must be an IP address of the device and a port"),
        ("::1:7", "listen must be an IP address of the device and a port"),
        ("x" * 400, "listen must be an IP address of the device and a port"),
    ],
)
def test_reload_with_a_wrong_address_changes_nothing(door, address, why):
    done = door.reload(address)
    assert done.status and why in done.err, done.err
    assert "nothing has changed" in door.log()
    door.far("read", "far").ok()
    assert "far by address" in door.log()


def test_taken_port_is_refused(door, serve):
    door.dpu.put({"second.conf": setting(f"{ADDRESS}:{door.port()}")})
    second = serve("--config", f"{door.dpu.dir}/second.conf", "--listen", f"{door.dpu.dir}/second", ready=False)
    assert second.daemon.end("0") not in (None, 0)
    assert f"rdma.listen: cannot listen at {ADDRESS}:{door.port()}" in second.log(), second.log()


# -- peers of other versions


class OldServer(threading.Thread):
    """Passes one client's frames to dpumapd, and answers the request for an address as a dpumapd does
    that does not know it: its empty details are malformed."""

    def __init__(self, path, target):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.target, self.asked = target, 0
        self.start()

    def run(self):
        client, _ = self.listener.accept()
        with client, reach(self.target) as server:
            while len(size := exactly(client, 4)) == 4:
                payload = exactly(client, struct.unpack("<I", size)[0])
                if cbor("details") + cbor(b"") in payload:
                    self.asked += 1
                    ident = payload.partition(cbor("id"))[2][0]
                    reply = {"id": ident, "status": INVALID_VALUE, "error": "the details are malformed"}
                    client.sendall(frame(cbor(reply)))
                    continue
                server.sendall(size + payload)
                reply = receive(server)
                client.sendall(frame(reply))


def test_client_of_an_older_dpumapd_sends_details(door):
    old = OldServer(f"{door.dpu.dir}/old", door.socket)
    data = os.urandom(4096)
    door.far("write", "far", data=data).ok()
    assert Tool(door.peer, ["--connect", f"{door.dpu.dir}/old"])("read", "far", "-n", "4096").data == data
    assert old.asked == 1
    assert re.search("connects to export far$", door.log(), re.M), door.log()
