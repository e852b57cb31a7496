# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd as a server of the control channel, and clients that use DOCA alone."""

import os
import pathlib
import socket
import time

import pytest

from harness.agents import ABSENT, REFUSED, Tool
from harness.comch import FAR, ME, OTHERS, WEB
from harness.machine import PATIENCE, await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

NO_SUCH_EXPORT = f'there is no export called "{{}}" that {ME} may import; see dpumap list'


def test_list_shows_what_the_client_may_import(served, connect):
    served.start()
    client = connect()
    assert client.state == "connected"
    assert client.ask("list") == "ok|ro dram 4096 ro|web dram 65536 rw"
    assert client.ask("list ro") == "ok|web dram 65536 rw"
    assert client.ask("list web") == "ok"
    assert client.ask("ping") == "ok"
    client.end()


def test_import_reads_the_bytes_of_the_export(served, connect, host):
    agent = served.start()
    host.put({"bytes": "contents"})
    Tool(host, ["--connect", agent.address])("write", "web", "bytes").ok()
    client = connect()
    assert client.ask("get web") == "ok 65536 rw"
    assert client.do("use") == "65536 contents"
    assert agent.figure("imports") == 1
    assert client.ask("release web") == "ok"
    assert agent.figure("imports") == 0
    # Nobody holds it: the descriptor is invalid.
    assert client.do("again").startswith("DOCA_ERROR_")
    client.end()


@pytest.mark.parametrize("name", ["others", "far", "missing"])
def test_get_does_not_tell_hidden_exports_from_missing_ones(served, connect, name):
    served.start()
    client = connect()
    wanted = f"error DOCA_ERROR_NOT_FOUND {NO_SUCH_EXPORT.format(name)}"
    assert client.ask(f"get {name}") == wanted
    assert client.ask(f"release {name}") == wanted
    assert client.ask("ping") == "ok"


def test_invalid_requests_are_answered_with_an_error(served, connect):
    agent = served.start()
    client = connect()
    requests = [b"get", b"get ", b"list ", b"release", b"ping web", b"GET web", b"get  web", b"get web ", b" "]
    requests += [b"get web\n", b"get we\0b", b"get web\0", b"get " + b"x" * 64, b"x" * 4080]
    requests += [b"list -web", b"hello\xff", b"\0"]
    for request in requests:
        answer = client.do(f"bytes {request.hex()}")
        assert answer.startswith("error DOCA_ERROR_INVALID_VALUE "), (request, answer)
    assert client.ask("release web").startswith("error DOCA_ERROR_NOT_PERMITTED export web: ")
    assert client.ask("get web") == "ok 65536 rw"
    assert agent.figure("errors") == len(requests) + 1


def test_every_byte_in_a_name_is_refused_or_unknown(served, connect):
    served.start()
    client = connect()
    for byte in range(256):
        answer = client.do(f"bytes {(b'get a' + bytes([byte]) + b'b').hex()}")
        known = bytes([byte]).isalnum() or byte in b"._-"
        code = "NOT_FOUND" if known and byte < 128 else "INVALID_VALUE"
        assert answer.startswith(f"error DOCA_ERROR_{code} "), (byte, answer)
    assert client.ask("ping") == "ok"


def test_client_that_may_import_nothing_is_refused(served, connect):
    served.exports = [OTHERS, FAR]
    agent = served.start()
    client = connect()
    assert client.do("next").startswith(f"error DOCA_ERROR_NOT_PERMITTED {ME} may not import")
    assert client.do("next") == "ended"
    assert await_true(lambda: agent.figure("clients") == 0)
    assert agent.figure("refused") == 1


@pytest.mark.parametrize("how", ["remove", "rekey", "reload"])
def test_client_is_told_what_it_lost(served, connect, how):
    agent = served.start()
    client = connect()
    assert client.ask("get web") == "ok 65536 rw"
    assert client.do("use").startswith("65536")
    if how == "reload":
        served.exports[0] = WEB.replace("64K", "128K")
        served.reload().ok()
    else:
        agent.ctl(how, "web").ok()
    assert client.do("next") == "gone web"
    assert client.do("again").startswith("DOCA_ERROR_")
    assert agent.figure("imports") == 0
    size = {"remove": None, "rekey": 65536, "reload": 131072}[how]
    answer = client.ask("get web")
    assert answer == f"ok {size} rw" if size else answer.startswith("error DOCA_ERROR_NOT_FOUND ")


def test_client_loses_exports_that_no_longer_allow_it(served, connect):
    served.start()
    client = connect()
    assert client.ask("get web") == "ok 65536 rw"
    served.exports[0] = WEB.replace(ME, "uid:54321")
    served.reload().ok()
    assert client.do("next") == "gone web"
    assert client.ask("list") == "ok|ro dram 4096 ro"


@pytest.mark.parametrize("how", ["end", "kill"])
def test_holds_end_with_the_connection(served, connect, how):
    agent = served.start()
    client = connect()
    for name in ("web", "web", "ro"):
        assert client.ask(f"get {name}").startswith("ok ")
    assert agent.figure("imports") == 3
    getattr(client, how)()
    assert await_true(lambda: agent.figure("imports") == 0 and agent.figure("clients") == 0)


def test_limits_of_clients_apply(served, connect, host):
    served.more = "max_clients = 3;\nmax_clients_per_identity = 2;\n"
    agent = served.start()
    first, second = connect(), connect()
    assert first.ask("ping") == second.ask("ping") == "ok"
    third = connect()
    assert third.do("next").startswith("error DOCA_ERROR_FULL ")
    assert third.do("next") == "ended"
    # The same identity on a Unix socket counts as well.
    refused = Tool(host, ["--connect", agent.address])("list")
    assert "the limit of one identity" in refused.err
    first.end()
    assert await_true(lambda: agent.figure("clients") == 1)
    assert connect().ask("ping") == "ok"


def test_sessions_and_metrics_show_the_client(served, connect):
    served.more = f'metrics = "{served.dpu.dir}/metrics";\n'
    agent = served.start()
    client = connect()
    assert client.ask("get ro") == "ok 4096 ro"
    session = agent.ask("sessions")["sessions"][0]
    assert (session["who"], session["from"], session["imports"]) == (ME, "comch", 1)
    with socket.socket(socket.AF_UNIX) as scraper:
        scraper.settimeout(PATIENCE)
        scraper.connect(f"{served.dpu.dir}/metrics")
        scraper.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        with scraper.makefile(encoding="utf-8") as reply:
            scraped = reply.read()
    assert "\ndpumapd_clients 1\n" in scraped and "\ndpumapd_gets_total 1\n" in scraped


def test_client_that_does_not_read_harms_no_other(served, connect):
    agent = served.start()
    other = connect()
    slow = connect()
    # Its receive queue takes fewer messages, and dpumapd keeps 4 more.
    assert slow.do("flood 1000") == "flooded"
    agent.daemon.await_log("disconnected: the client does not read its replies")
    for _ in range(20):
        assert other.ask("ping") == "ok"
    assert await_true(lambda: agent.figure("clients") == 1)


def test_long_lists_continue(served, connect):
    names = [f"{'x' * 50}-{number:03}" for number in range(150)]
    served.exports = [WEB.replace("web", name).replace("64K", "4K") for name in names]
    served.start()
    client = connect()
    seen, request, parts = [], "list", 0
    while True:
        head, *lines = client.ask(request).split("|")
        assert head in ("ok", "ok more") and lines
        seen += [line.split()[0] for line in lines]
        parts += 1
        if head == "ok":
            break
        request = f"list {seen[-1]}"
    assert seen == names and parts > 1


def test_idle_server_costs_no_processor_time(served, connect):
    agent = served.start()
    client = connect()
    assert client.ask("ping") == "ok"
    before = agent.daemon.processor_time()
    time.sleep(1)
    assert agent.daemon.processor_time() - before < 50  # of 100; a busy loop uses all


def test_shutdown_ends_the_connections(served, connect):
    agent = served.start()
    client = connect()
    assert client.ask("get web") == "ok 65536 rw"
    assert agent.daemon.end("TERM") == 0, agent.log()
    assert client.do("next") == "ended"
    # A server of the same name starts at once, also after a kill.
    agent = served.start()
    assert connect().ask("ping") == "ok"
    agent.daemon.end("KILL")
    served.start()
    assert connect().ask("ping") == "ok"


def sockets(served):
    return sorted(path.name for path in pathlib.Path(served.dpu.environment["DPUMAP_COMCH_DIR"]).glob("*.sock"))


@pytest.mark.parametrize("serves", [True, False], ids=["server", "dpumapd"])
def test_sockets_of_killed_servers_are_removed(served, connect, serves):
    """By any server, and by a dpumapd that is none. One that lives, and files of others, stay."""
    served.comch = 'serve = "killed";'
    served.start().daemon.end("KILL")
    dead = sockets(served)
    assert len(dead) == 1
    directory = pathlib.Path(served.dpu.environment["DPUMAP_COMCH_DIR"])
    with socket.socket(socket.AF_UNIX) as live, socket.socket(socket.AF_UNIX) as other:
        live.bind(str(directory / f"{15 * 'f'}1-0001-{16 * '0'}.sock"))
        other.bind(str(directory / "other.sock"))
        other.close()
        served.comch = 'serve = "third";' if serves else ""
        agent = served.start()
        if serves:
            assert connect("third").ask("ping") == "ok"
        left = set(sockets(served))
        assert dead[0] not in left and len(left) == 2 + serves and "other.sock" in left, left
        agent.stop()
    for path in directory.glob("*.sock"):
        path.unlink()


def test_second_server_of_a_name_is_refused(served, connect):
    served.start()
    path = served.path("second.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("/socket", "/socket2").replace("/admin", "/admin2")
    served.dpu.put({"second.conf": text})
    second = served.serve("--config", path, ready=False)
    assert not second.ready and second.daemon.status() == ABSENT, second.log()
    assert 'cannot serve the control channel as "dpumapd"' in second.log()
    assert "another program has this name" in second.log()
    assert connect().ask("ping") == "ok"


def test_server_is_found_by_its_exact_name(served, connect):
    served.start()
    assert connect(name="dpumapd ").state == "ended"


def test_reload_cannot_change_the_name(served, connect):
    agent = served.start()
    served.comch = 'serve = "other";'
    refused = served.reload()
    assert refused.status != 0
    assert "comch.serve has changed" in refused.err
    assert connect().ask("ping") == "ok"
    assert "configuration reloaded" not in agent.log()


@pytest.mark.parametrize(
    "comch,words",
    [
        ('serve = "";', "must have 1 to 119 bytes"),
        (f'serve = "{"x" * 120}";', "must have 1 to 119 bytes"),
        ("serve = 7;", "must be a string"),
        ("server = 7;", "is not a setting of comch"),
    ],
)
def test_wrong_settings_are_refused(served, dpu, comch, words):
    served.comch = comch
    done = dpu.run(["dpumapd", "--check", "--config", served.path()])
    assert done.status == REFUSED and words in done.err, done.err


def test_program_with_its_own_server_works_beside(served, connect, host, dpu):
    served.start()
    client = connect()
    dpu.remove("got")
    dpu.put({"sent": os.urandom(70000)})
    words = ["comch_copy-dpu", "-p", "03:00.0", "-r", "3b:00.0", "-f", "got"]
    program = dpu.daemon("comch_copy", words)
    program.await_output("Waiting for a client")
    assert client.ask("get web") == "ok 65536 rw"
    host.put({"sent": dpu.get("sent")})
    host.run(["comch_copy-host", "-p", "3b:00.0", "-f", "sent"]).ok()
    assert program.end("0") == 0, program.log()
    assert dpu.get("got") == host.get("sent")
    assert client.ask("release web") == "ok"
