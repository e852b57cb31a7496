# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A turn of dpumapd's loop does little, whatever clients, files and reloads ask for. The tests count turns, not time."""

import contextlib
import os
import socket
import ssl
import time

import pytest

from harness.comch import MESSAGE, Raw, frame
from harness.machine import PATIENCE, await_true
from harness.wire import HELLO, cbor, context, details, is_closed, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

AT_ONCE = 64  # things that a source of events does in a turn
REGISTERED_FIRST = 256
LISTED_AT_ONCE = 256
TIMEOUT = 5  # seconds in which the rest of a request must arrive
ME = f"uid:{os.getuid()}"


class Turns:
    """dpumapd, and its configuration."""

    def __init__(self, serve, dpu, pki):
        self.serve, self.dpu, self.agent = serve, dpu, None
        self.path = f"{dpu.dir}/turns"
        self.tls = f'cert = "{pki.path("dpu.crt")}"; key = "{pki.path("dpu.key")}"; ca = "{pki.path("ca.crt")}";'
        self.crl, self.exports, self.more = "", [], ""

    def write(self):
        text = f'listen = [ "unix:{self.path}", "tls:127.0.0.1:0" ];\nadmin = "{self.dpu.dir}/admin";\n'
        text += f"tls = {{ {self.tls} {self.crl} }};\n{self.more}max_clients = 1000;\nmax_clients_per_identity = 1000;\n"
        self.dpu.put({"turns.conf": f"{text}exports = ( {', '.join(self.exports)} );\n"})

    def start(self):
        self.write()
        self.agent = self.serve("--config", f"{self.dpu.dir}/turns.conf")
        self.agent.address = self.agent.daemon.out().rpartition(", ")[2].strip()
        return self.agent

    def figure(self):
        return self.agent.figure("turns")

    @contextlib.contextmanager
    def clients(self, number):
        with contextlib.ExitStack() as stack:
            made = []
            for _ in range(number):
                made.append(stack.enter_context(reach(self.path)))
                made[-1].sendall(HELLO)
                assert b"version" in receive(made[-1])
            yield made

    @contextlib.contextmanager
    def stopped(self):
        """What clients send meanwhile arrives in one turn."""
        self.agent.daemon.signal("STOP")
        try:
            yield
        finally:
            self.agent.daemon.signal("CONT")


def dram(number, perm="ro", allow="*"):
    return f'{{ name = "e{number:04}"; kind = "dram"; size = 4096; perm = "{perm}"; allow = [ "{allow}" ]; }}'


@pytest.fixture
def turns(serve, dpu, openssl_pki):
    return Turns(serve, dpu, openssl_pki)


def ask_all(clients, *requests):
    for one in clients:
        one.sendall(b"".join(requests))
    return [[receive(one) for _ in requests] for one in clients]


def await_registered(emulator, number):
    """Asks dpumapd nothing, because this would take turns."""
    assert await_true(lambda: emulator.objects()["mrs"] >= number)


def test_many_exports_are_registered_one_in_a_turn(turns, emulator):
    number = 1500
    turns.exports = [dram(number) for number in range(number)]
    turns.start()
    await_registered(emulator, number)
    assert turns.figure() >= number - REGISTERED_FIRST


def test_a_change_is_announced_to_some_watchers_in_a_turn(turns):
    """None of them is disconnected, although they do not read meanwhile."""
    changed, number = 40, 250
    turns.exports = [dram(number) for number in range(changed)]
    agent = turns.start()
    with turns.clients(number) as watchers:
        ask_all(watchers, request("watch"))
        before = turns.figure()
        turns.exports = [dram(number, "rw") for number in range(changed)]
        turns.write()
        agent.ctl("reload").ok()
        for one in watchers:
            assert all(f"e{number:04}".encode() in receive(one) for number in range(changed))
        assert turns.figure() - before >= changed * number // AT_ONCE
        assert agent.figure("clients") == number


def test_administrator_disconnects_some_clients_in_a_turn(turns):
    turns.exports = [dram(0)]
    agent = turns.start()
    with turns.clients(800) as clients:
        before = turns.figure()
        agent.ctl("disconnect", ME).ok()
        assert turns.figure() - before >= 800 // AT_ONCE
        assert all(is_closed(one) for one in clients)


def test_what_a_revoked_client_held_is_revoked_by_and_by(turns, openssl_pki):
    """The reload ends when all has been revoked."""
    openssl_pki.issue("greedy", "clientAuth")
    number = 1000
    turns.crl = f'crl = "{openssl_pki.path("ca.crl")}";'
    turns.exports = [dram(number) for number in range(number)]
    agent = turns.start()
    with reach(agent.address, context(openssl_pki.path("greedy"))) as client:
        client.sendall(HELLO)
        assert b"version" in receive(client)
        for one in range(number):
            client.sendall(request("get", name=f"e{one:04}"))
            assert b"descriptor" in receive(client)
        assert agent.figure("imports") == number
        openssl_pki.revoke("greedy")
        before = turns.figure()
        agent.ctl("reload").ok()
        assert turns.figure() - before >= number // AT_ONCE
        assert agent.figure("imports") == agent.figure("outstanding") == 0
        assert is_closed(client)


def test_files_of_exports_are_checked_some_in_a_turn(turns, dpu, emulator):
    """Twice a second, from the last name to the first one: between the two that are removed, all others are checked."""
    number, removed = 1000, ("aa", "ab")
    for name in (*removed, "kept"):
        dpu.run(["truncate", "-s", "4K", f"{dpu.dir}/{name}"]).ok()
    files = {name: name for name in removed} | {f"e{one:04}": "kept" for one in range(number)}
    turns.exports = [
        f'{{ name = "{name}"; kind = "file"; path = "{dpu.dir}/{file}"; size = "max"; perm = "ro"; allow = [ "*" ]; }}'
        for name, file in files.items()
    ]
    agent = turns.start()
    await_registered(emulator, len(files))
    counted = []
    for name in removed:
        dpu.run(["truncate", "-s", "0", f"{dpu.dir}/{name}"]).ok()
        agent.daemon.await_log(f"export {name} removed")
        counted.append(turns.figure())
    assert counted[1] - counted[0] >= number // AT_ONCE


def greeting(pki):
    """The first bytes of a client over TLS."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context(pki.path("host")).wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


def test_handshakes_that_begin_at_once_let_others_have_their_turn(turns, openssl_pki):
    openssl_pki.issue("host", "clientAuth")
    turns.exports = [dram(0)]
    agent = turns.start()
    with contextlib.ExitStack() as stack:
        before, hello = turns.figure(), greeting(openssl_pki)
        with turns.stopped():
            for _ in range(200):
                stack.enter_context(reach(agent.address)).sendall(hello)
        with turns.clients(1) as others:
            assert ask_all(others, request("list"))
        assert await_true(lambda: agent.figure("connections") >= 201)
        assert turns.figure() - before >= 200 // 16


def test_comch_clients_that_ask_much_let_others_have_their_turn(emulator, turns):
    """dpumapd's log shows the order of its answers. Each message and each reply is one thing."""
    pairs, number = 50, 10
    turns.more = 'comch = { serve = "dpumapd"; };\n'
    turns.exports = [dram(0), dram(1)]
    agent = turns.start()
    with contextlib.ExitStack() as stack:
        *hostile, other = (stack.enter_context(Raw(emulator.dir / "comch")).open() for _ in range(number + 1))
        begin, before = len(agent.log()), turns.figure()
        with turns.stopped():
            for one in hostile:
                one.send((frame(MESSAGE, b"get e0000") + frame(MESSAGE, b"release e0000")) * pairs)
            other.send(frame(MESSAGE, b"get e0001"))
        assert other.message().startswith("ok")
        for one in hostile:
            assert all(one.message().startswith("ok") for _ in range(2 * pairs))
        first, _, rest = agent.log()[begin:].partition("gets export e0001")
        assert first.count("gets export e0000") < 5 * number < rest.count("gets export e0000")
        # The service works twice in a turn.
        assert turns.figure() - before >= 2 * number * 2 * pairs // (2 * AT_ONCE)


def test_list_looks_at_some_exports_in_a_turn(turns, emulator):
    """A client that may see few of many exports sees each of them once."""
    number, seen, lists = 2000, range(7, 2000, 300), 20
    turns.exports = [dram(one, allow="*" if one in seen else "uid:65533") for one in range(number)]
    turns.start()
    await_registered(emulator, number)
    with turns.clients(20) as clients:
        before = turns.figure()
        for replies in ask_all(clients, *[request("list")] * lists):
            for reply in replies:
                assert [reply.count(f"e{one:04}".encode()) for one in range(number)] == [
                    one in seen for one in range(number)
                ]
                assert b"next" not in reply
        assert turns.figure() - before >= len(clients) * lists * (number // LISTED_AT_ONCE) // AT_ONCE


def test_clients_that_time_out_at_once_end_some_in_a_turn(turns):
    """Each has sent a part of a request. Time passes while dpumapd is stopped, so that it finds all late at once."""
    number, part = 800, request("list")[:7]
    turns.exports, turns.more = [dram(0)], f"client_timeout = {TIMEOUT};\n"
    turns.start()
    with turns.clients(number) as late:
        with turns.stopped():
            for one in late:
                one.sendall(request("list") + part)
        assert all(b"e0000" in receive(one) for one in late)
        before = turns.figure()
        with turns.stopped():
            time.sleep(TIMEOUT)
        assert all(is_closed(one) for one in late)
        assert turns.figure() - before >= number // AT_ONCE


def test_clients_that_look_for_servers_let_others_have_their_turn(turns, openssl_pki):
    openssl_pki.issue("host", "clientAuth")
    number, asked = 8, 100
    turns.more = 'comch = { introduce = ( { server = "copy"; allow = [ "cert:host" ]; } ); };\n'
    turns.exports = [dram(0)]
    agent = turns.start()
    ask = request("comch", card=1, function=3, server=b"copy")
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(reach(agent.address, context(openssl_pki.path("host")))) for _ in range(number)
        ]
        for one in clients:
            one.sendall(HELLO)
            assert b"version" in receive(one)
        before = turns.figure()
        for replies in ask_all(clients, *[ask] * asked):
            assert all(b"there is no server" in reply for reply in replies)
        assert turns.figure() - before >= number * asked // AT_ONCE


# -- connections over RDMA


def far(number, perm="ro"):
    return f'{{ name = "far{number}"; kind = "dram"; size = 4096; perm = "{perm}"; via = "rdma"; allow = [ "*" ]; }}'


def mapped(address):
    """The GID of an IPv4 address."""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


HOST = mapped("127.100.0.2")  # the host's function of the card


def connecting(number=0, gid=HOST):
    return request("connect", 7, name=f"far{number}", details=details(gid=gid))


def has_nothing(client):
    """dpumapd has sent nothing to the client."""
    client.setblocking(False)
    try:
        return not client.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    finally:
        client.settimeout(PATIENCE)


@pytest.fixture
def silence(emulator):
    """No neighbour of the DPU answers."""
    words = ("neighbour", "--as", "dpu")
    emulator.fault(*words)
    yield lambda: emulator.fault(*words, "--off")
    emulator.fault(*words, "--off")


def await_searches(emulator, number):
    assert await_true(lambda: emulator.objects()["cm_ids"] == number)


def begin_to_connect(emulator, client):
    """The search for the client's address is the only one."""
    assert b"descriptor" in ask_all([client], request("get", name="far0"))[0][0]
    client.sendall(connecting())
    await_searches(emulator, 1)


def test_client_whose_address_is_searched_lets_others_be_served(turns, emulator, silence):
    """Its own requests are answered in their order, once the address is found."""
    turns.exports = [far(0)]
    turns.start()
    with turns.clients(2) as (one, other):
        begin_to_connect(emulator, one)
        one.sendall(request("list", 8))
        for _ in range(20):
            assert b"far0" in ask_all([other], request("list"))[0][0]
        assert b"descriptor" in ask_all([other], request("get", name="far0"))[0][0]
        assert has_nothing(one)
        silence()
        assert b"details" in receive(one)
        assert b"far0" in receive(one)
        await_searches(emulator, 0)


def test_searches_of_many_clients_run_at_once(turns, emulator, silence):
    number = 100
    turns.exports = [far(0)]
    agent = turns.start()
    with turns.clients(number) as clients:
        ask_all(clients, request("get", name="far0"))
        for one in clients:
            one.sendall(connecting())
        await_searches(emulator, number)
        silence()
        assert all(b"details" in receive(one) for one in clients)
        assert sum(one["connections"] for one in agent.ask("sessions")["sessions"]) == number


def test_client_without_an_answering_address_may_go_on(turns, emulator):
    turns.exports = [far(0)]
    agent = turns.start()
    with turns.clients(1) as (one,):
        ask_all([one], request("get", name="far0"))
        for address in ("192.0.2.7", "10.9.8.7"):
            (reply,), = ask_all([one], connecting(gid=mapped(address)))
            assert b"error" in reply and b"address" in reply, reply
        assert b"details" in ask_all([one], connecting())[0][0]
        assert [one["connections"] for one in agent.ask("sessions")["sessions"]] == [1]
    await_searches(emulator, 0)


@pytest.mark.parametrize("end", ["leaves", "is disconnected"])
def test_search_ends_with_its_client(turns, emulator, silence, end):
    turns.exports = [far(0)]
    agent = turns.start()
    with turns.clients(1) as (one,):
        begin_to_connect(emulator, one)
        if end == "leaves":
            one.close()
        else:
            agent.ctl("disconnect", ME).ok()
            assert is_closed(one)
        await_searches(emulator, 0)
    silence()
    with turns.clients(1) as (other,):
        ask_all([other], request("get", name="far0"))
        assert b"details" in ask_all([other], connecting())[0][0]


def test_search_ends_with_dpumapd(turns, emulator, silence):
    turns.exports = [far(0)]
    agent = turns.start()
    with turns.clients(1) as (one,):
        begin_to_connect(emulator, one)
        agent.stop()
        assert is_closed(one)
    await_searches(emulator, 0)


def test_search_ends_with_its_export(turns, emulator, silence):
    """A reload that does not change the export keeps the search."""
    turns.exports = [far(0), far(1)]
    agent = turns.start()
    with turns.clients(1) as (one,):
        begin_to_connect(emulator, one)
        turns.exports[1] = far(1, "rw")
        turns.write()
        agent.ctl("reload").ok()
        await_searches(emulator, 1)
        assert has_nothing(one)
        turns.exports[0] = far(0, "rw")
        turns.write()
        agent.ctl("reload").ok()
        assert b"changed or ended while the client connected" in receive(one)
        await_searches(emulator, 0)
        silence()
        ask_all([one], request("get", name="far0"))
        assert b"details" in ask_all([one], connecting())[0][0]


ADDRESS = "127.100.0.1"  # of the DPU's function


def ticket_of(client):
    """As hexadecimal digits."""
    reply = ask_all([client], request("connect", name="far0", details=b""))[0][0]
    return reply.partition(cbor("ticket") + b"\x48")[2][:8].hex()


def port_of(agent):
    return agent.log().partition(f"connect to address {ADDRESS} port ")[2].split()[0]


def received(emulator, kind):
    """Messages of connection managers."""
    return sum(machine["received"].get(kind, 0) for machine in emulator.status()["connection_managers"])


def test_requests_for_connections_at_once_let_others_have_their_turn(turns, emulator):
    """dpumapd's log shows the order of its answers."""
    number, wrong = 250, "its ticket is not valid"
    turns.more = f'rdma = {{ listen = "{ADDRESS}:0"; }};\n'
    turns.exports = [far(0)]
    agent = turns.start()
    with turns.clients(1) as (other,):
        begin, before = len(agent.log()), received(emulator, "REQ")
        with turns.stopped():
            words = ["agents_cm_client", ADDRESS, port_of(agent), "00", "many", number]
            flood = emulator.machine("host").daemon("flood", words)
            flood.await_output("^requested")
            assert await_true(lambda: received(emulator, "REQ") >= before + number)
            other.sendall(request("get", name="far0"))
        assert b"descriptor" in receive(other)
        flood.await_output("^rejected")
        first, _, rest = agent.log()[begin:].partition("gets export far0")
        assert first.count(wrong) <= 2 * AT_ONCE and rest.count(wrong) >= number - 2 * AT_ONCE


def test_request_whose_address_is_searched_lets_others_be_served(turns, emulator, silence):
    """With a ticket. It is rejected if its client leaves before."""
    turns.more = f'rdma = {{ listen = "{ADDRESS}:0"; }};\n'
    turns.exports = [far(0)]
    agent = turns.start()
    port = port_of(agent)
    with turns.clients(3) as (one, other, third):
        ask_all([one, other], request("get", name="far0"))
        idle = emulator.objects()["cm_ids"]
        programs = []
        for ticket in (ticket_of(one), ticket_of(other)):
            words = ["agents_cm_client", ADDRESS, port, ticket]
            programs.append(emulator.machine("host").daemon(f"cm{len(programs)}", words))
            # Its own id, that of the request, and that of the search.
            await_searches(emulator, idle + 3 * len(programs))
        assert b"far0" in ask_all([third], request("list"))[0][0]
        assert not any(program.out() for program in programs)
        other.close()
        assert programs[1].end("0") == 1 and programs[1].out() == "rejected\n"
        silence()
        programs[0].await_output("^established")
        agent.daemon.await_log("connects to export far0 by address")
        one.close()
        programs[0].await_output("^disconnected")
        assert programs[0].end("0") == 0
