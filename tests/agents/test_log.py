# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The log of dpumapd: what others can write to it, and what happens if nobody reads it."""

import contextlib
import fcntl
import os
import re
import socket
import threading
import time

import pytest

from harness.agents import Tool
from harness.machine import PATIENCE, await_true
from harness.wire import HELLO, context, reach, receive, request

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

BULK = ("--export", "name=bulk,kind=dram,size=64K")
# What one source may cause at once, and each second; other lines of a log.
BURST, RATE, OTHERS = 500, 5, 20


def limit(began):
    """How many lines a log may have to which one source has written since then."""
    return BURST + RATE * (time.monotonic() - began + 1) + OTHERS


@contextlib.contextmanager
def connected(agent, tls):
    """A socket on which the client has said hello."""
    with reach(agent.address, tls) as s:
        s.sendall(HELLO)
        assert b"version" in receive(s)
        yield s


@pytest.fixture(params=["unix", "tls"])
def flooded(request, serve, dpu, agent, pki):
    """(dpumapd, how its clients authenticate, the name of the client)."""
    if request.param == "unix":
        return serve(*BULK, "--admin", f"{dpu.dir}/admin"), None, f"uid:{os.getuid()}"
    dpu.put({"pki/host.crt": pki.host.get("pki/host.crt"), "pki/host.key": pki.host.get("pki/host.key")})
    return agent("kind=dram,size=64K"), context(f"{dpu.dir}/pki/host"), "cert:host"


def test_client_that_is_refused_again_and_again_does_not_fill_the_log(flooded):
    """Six thousand requests, which arrive together. The log says how many lines it does not have."""
    serving, tls, name = flooded
    began, num = time.monotonic(), 6000
    with connected(serving, tls) as s:
        sender = threading.Thread(target=s.sendall, args=[request("get", name="none") * num])
        sender.start()
        for _ in range(num):
            assert b"no export called" in receive(s)
        sender.join()
        lines = serving.log().count("\n")
        assert lines < limit(began), f"{lines} lines"
        found = serving.daemon.await_log(f"^dpumapd: {name} caused (\\d+) more lines, which are not in the log$")
        refused = serving.log().count("refused: there is no export")
        assert num - refused <= int(found[1]) <= num + OTHERS
        # The source may write again.
        s.sendall(request("get", name="another"))
        assert b"no export called" in receive(s)
        serving.daemon.await_log('refused: there is no export called "another"')


def test_client_that_comes_and_goes_does_not_fill_the_log(flooded):
    """Nor one that gets and releases an export: no request fails."""
    serving, tls, _ = flooded
    began = time.monotonic()
    for _ in range(400):
        with connected(serving, tls):
            pass
    export = "e0" if tls else "bulk"
    with connected(serving, tls) as s:
        for _ in range(400):
            s.sendall(request("get", name=export) + request("release", name=export))
            assert receive(s) and receive(s)
    lines = serving.log().count("\n")
    assert lines < limit(began), f"{lines} lines"


# -- readers


class Pipe:
    """A pipe as the log of a program, whose reader reads when it is told to."""

    def __init__(self, path):
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        # Two files, because a program shares the flags of the one that it inherits.
        self.filler = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        self.log = os.open(path, os.O_WRONLY)
        fcntl.fcntl(self.reader, fcntl.F_SETPIPE_SZ, 8192)

    def fill(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(self.filler, b"\n" * 4096)

    def read(self):
        text = b""
        with contextlib.suppress(BlockingIOError):
            while True:
                text += os.read(self.reader, 4096)
        return text.decode()

    def close(self):
        for file in (self.reader, self.filler, self.log):
            os.close(file)


@pytest.fixture
def pipe(work):
    made = Pipe(work / "log")
    yield made
    made.close()


DROPPED = r"\S+ dpumapd: \d+ lines were dropped here: nothing read the log\n\S+ dpumapd: uid "


def test_log_that_nobody_reads_stops_nothing(dpu, host, work, pipe):
    """dpumapd starts, serves, counts what it does not write, and ends on SIGTERM. Its output is the same pipe."""
    pipe.fill()
    words = ["dpumapd", "--listen", work / "socket", *BULK]
    daemon = dpu.daemon("unread", words, stdout=pipe.log, stderr=pipe.log)
    dpumap = Tool(host, ["--connect", work / "socket"])
    try:
        assert await_true(lambda: dpumap("list").status == 0), "dpumapd does not start"
        dpumap("write", "bulk", data=b"x" * 65536).ok()
        assert dpumap("read", "bulk").ok() == "x" * 65536
        assert not pipe.read().strip()
        dpumap("list").ok()
        text = pipe.read()
        assert re.match(DROPPED, text), text
        pipe.fill()
        assert daemon.end("TERM") == 0
    finally:
        daemon.end("KILL")


def test_lines_have_their_time(serve):
    """In UTC; the harness removes it elsewhere."""
    before = time.time()
    serving = serve(*BULK)
    serving.stop()
    lines = serving.daemon.log_path.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 1
    for line in lines:
        found = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z dpumapd: \S", line)
        assert found, line
        seconds = time.mktime(time.strptime(found[1], "%Y-%m-%dT%H:%M:%S")) - time.timezone
        assert before - 1 <= seconds <= time.time() + 1, line


def read_until(reader, last):
    text = ""
    reader.settimeout(PATIENCE)
    while last not in text:
        text += reader.recv(65536).decode()
    return text


JOURNAL = [
    "<6>dpumapd: export bulk created",
    "<4>dpumapd: uid .* refused: there is no export",
    "<3>dpumap: error: connection details refused",
    "<3>dpumapd: cannot reload",
]


def test_lines_have_their_priority_in_the_journal(dpu, work):
    """What systemd passes as standard error is named in the environment, and has the time itself."""
    path, config = str(work / "socket"), work / "d.conf"
    export = '{ name = "bulk"; kind = "dram"; size = "64K"; via = "rdma"; allow = [ "*" ]; }'
    config.write_text(f'listen = [ "unix:{path}" ];\nexports = ( {export} );\n', encoding="utf-8")
    reader, writer = socket.socketpair()
    st = os.fstat(writer.fileno())
    environment = {"JOURNAL_STREAM": f"{st.st_dev}:{st.st_ino}"}
    daemon = dpu.daemon("journal", ["dpumapd", "--config", config], stderr=writer, env=environment)
    with reader, writer:
        try:
            daemon.await_output("^dpumapd: ready on ")
            with reach(path) as s:
                s.sendall(HELLO + request("get", name="none") + request("get", name="bulk"))
                s.sendall(request("connect", name="bulk", details=b"x" * 48))
                assert all(receive(s) for _ in range(4))
            config.write_text("listen = ;\n", encoding="utf-8")
            daemon.signal("HUP")
            text = read_until(reader, "cannot reload")
        finally:
            daemon.end("TERM")
    for line in JOURNAL:
        assert re.search(f"^{line}", text, re.M), f"no {line}: {text}"
    assert all(re.match("<[346]>dpumapd?: ", line) for line in text.splitlines()), text


def test_other_standard_error_than_the_journal_has_no_priorities(dpu, work):
    """A program that systemd started passed another one."""
    words = ["dpumapd", "--listen", work / "socket", *BULK]
    daemon = dpu.daemon("redirected", words, env={"JOURNAL_STREAM": "1:2"})
    daemon.await_output("^dpumapd: ready on ")
    assert daemon.end("TERM") == 0
    assert re.match("dpumapd: export bulk", daemon.log()), daemon.log()
