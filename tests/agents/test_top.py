# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd ctl top and dpumap-emu top: the figures, and what happens to the terminal."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios

import pytest

from harness.agents import ABSENT, WRONG, Agent
from harness.machine import PATIENCE, LocalMachine, await_true
from harness.metrics import scrape
from harness.schema import check_schema

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
EXPORTS = ("--export", "name=a,kind=dram,size=1M", "--export", "name=r,kind=dram,size=1M,via=rdma")
FAST = ("--interval", "0.1")
LEAVE = "\033[?25h\033[?1049l"
ESCAPE = re.compile(r"\033\[[?0-9;]*[A-Za-z]")


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, machine, command, rows=24, columns=80, term="xterm"):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.master)
        environment = machine.options(env={"TERM": term})["env"]

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            machine.words(command), stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=machine.dir,
            preexec_fn=own_terminal,
        )
        os.close(slave)
        self.output = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wait=0.05):
        if select.select([self.master], [], [], wait)[0]:
            with contextlib.suppress(OSError):  # the other end is closed
                self.output += os.read(self.master, 65536).decode()
        return self.output

    def shows(self, pattern):
        assert await_true(lambda: re.search(pattern, self.read()), pause=0), self.output
        return self

    def last_view(self):
        """The lines of the last view that is complete."""
        self.read(0.3)
        return ESCAPE.sub("", self.output.split("\033[H")[-2]).replace("\r", "").split("\n")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def ends(self, status=0):
        assert await_true(lambda: [self.read(0)] and self.process.poll() is not None), self.output
        while self.output != self.read(0.1):
            pass
        assert self.process.returncode == status, self.output
        assert termios.tcgetattr(self.master) == self.before
        return self.output

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.master)


@pytest.fixture
def terminal():
    with contextlib.ExitStack() as stack:

        def start(*words, **more):
            made = Terminal(*words, **more)
            stack.callback(made.close)
            return made

        yield start


@pytest.fixture(scope="module")
def screen(emulator):
    """This machine, with the environment of the emulator."""
    return LocalMachine("screen", emulator.dir / "screen", emulator.environment)


@pytest.fixture(scope="module")
def idle(screen, dpu):
    """A dpumapd without clients, for the tests that only look at it."""
    agent = Agent(dpu, "idle", ["--listen", f"{screen.dir}/socket", *EXPORTS, "--admin", f"{screen.dir}/admin"])
    agent.admin = f"{screen.dir}/admin"
    yield agent.must_serve()
    agent.stop()


@pytest.fixture(params=["ctl", "emu"])
def top(request, emulator, idle):
    """The words of top of each program. Its server is that of all these tests."""
    if request.param == "emu":
        return ["dpumap-emu", "top", "--dir", str(emulator.emu_dir)]
    return ["dpumapd", "ctl", "top", "--admin", idle.admin]


@pytest.fixture(params=["ctl", "emu"])
def ending(request, screen, serve, dpu):
    """The words of top of each program, and what ends its server."""
    if request.param == "ctl":
        agent = serve(*EXPORTS, "--admin", f"{dpu.dir}/admin")
        yield ["dpumapd", "ctl", "top", "--admin", agent.admin], agent.stop
    else:
        screen.run(["dpumap-emu", "start", "--dir", f"{screen.dir}/emu"]).ok()
        words = ["--dir", f"{screen.dir}/emu"]
        yield ["dpumap-emu", "top", *words], lambda: screen.run(["dpumap-emu", "stop", *words]).ok()
        screen.run(["dpumap-emu", "stop", *words])


@contextlib.contextmanager
def copying(host, tool, agent, name):
    """Someone copies from the export until the end."""
    loop = f"while :; do dpumap --connect {agent.address} bench {name} --size 64K --count 2000 >bench.log; done"
    process = host.start(loop, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        process.stdout.close()


def figures(screen, words, accept):
    """The first object of `top --json` that is accepted."""
    found = []

    def look():
        found[:] = [json.loads(screen.run([*words, "--json", "--once", *FAST]).ok())]
        return accept(found[0])

    assert await_true(look), found
    return found[0]


def test_emulator_shows_what_a_process_copies(screen, host, tool, serve):
    """Each bench is a process: a new one may begin in any interval, and one that has ended has no name any more."""

    def is_bench(process):
        return re.match("dpumap|qemu", process["command"]) and process["copies_per_second"] > 0

    agent = serve(*EXPORTS)
    row = re.compile(r"^ *\d+ (dpumap|qemu\S*) .* [1-9][0-9.]*[KMG ] ", re.M)
    with copying(host, tool, agent, "a"):
        now = figures(
            screen,
            ["dpumap-emu", "top"],
            lambda now: any(map(is_bench, now["processes"])),
        )
        view = await_true(lambda: row.search(screen.run(["dpumap-emu", "top", "--once", *FAST]).ok()))
    assert view
    check_schema("dpumap-emu-top-1", now)
    assert now["copies_per_second"] > 0 and now["bytes_per_second"] >= now["copies_per_second"]
    assert now["errors_per_second"] == 0 and now["clients"] >= 2


def test_dpumapd_shows_what_clients_do(screen, host, tool, serve, dpu):
    """Copies by RDMA are work of its device; by PCI they are not."""
    agent = serve(*EXPORTS, "--admin", f"{dpu.dir}/admin")
    words = ["dpumapd", "ctl", "top", "--admin", agent.admin]
    with copying(host, tool, agent, "r"):
        now = figures(
            screen, words, lambda now: now["device_copies_per_second"] > 0 and now["requests_per_second"] > 0
        )
    check_schema("dpumapd-ctl-top-1", now)
    assert now["device_bytes_per_second"] > now["device_copies_per_second"]
    assert now["exports"] == 2
    tool(agent)("write", "a", "/etc/hostname").ok()
    assert agent.figure("hashed_bytes") > 0
    tool(agent)("info", "none").fails(ABSENT)
    assert agent.figure("errors") > 0


def test_questions_allocate_no_device_memory(screen, serve, dpu, tool):
    """Allocating all of it would tell how much is free, and the allocations of others would fail meanwhile."""
    text = 'listen = [ "unix:{0}/socket" ];\nadmin = "{0}/admin";\nmetrics = "{0}/metrics";\n'.format(dpu.dir)
    dpu.put({"asked.conf": text + 'exports = ( { name = "a"; kind = "dram"; size = 4096; allow = [ "*" ]; } );\n'})
    agent = serve("--config", f"{dpu.dir}/asked.conf")

    def commands():
        return json.loads(screen.run(["dpumap-emu", "status", "--json"]).ok())["commands"]

    before = commands()
    screen.run(["dpumapd", "ctl", "top", "--admin", agent.admin, "--once", *FAST]).ok()
    status = json.loads(agent.ctl("status", "--json").ok())
    tool(agent)("info").ok()
    samples = scrape(f"{dpu.dir}/metrics")
    assert commands() == before
    assert "dpumapd_device_memory_exported_bytes 0" in samples
    assert status["device_memory_exported"] == 0 < status["device_memory"]


def test_errors_are_counted_per_session(screen, host, serve, dpu, tool):
    agent = serve(*EXPORTS, "--admin", f"{dpu.dir}/admin")
    watch = host.start(["dpumap", "--connect", agent.address, "watch"])
    try:
        assert await_true(lambda: any(session["requests"] for session in agent.ask("sessions")["sessions"]))
        (session,) = agent.ask("sessions")["sessions"]
        assert session["errors"] == 0 and session["id"] > 0
        view = screen.run(["dpumapd", "ctl", "top", "--admin", agent.admin, "--once", *FAST]).ok()
        assert re.search(rf"^uid:{os.getuid()} .* 0 ", view, re.M), view
    finally:
        watch.kill()
        watch.wait(PATIENCE)
        watch.stdout.close()


def test_without_a_terminal_views_follow_each_other(screen, top):
    process = screen.start([*top, *FAST])
    try:
        text = "".join(process.stdout.readline().decode() for _ in range(40))
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        process.stdout.close()
    assert text.count(" top  ") >= 2 and "\033" not in text


def test_json_is_an_object_in_each_line(screen, top):
    process = screen.start([*top, "--json", *FAST])
    try:
        lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0
        process.stdout.close()
    for line in lines:
        check_schema(line["schema"], line)
        assert 0 < line["seconds"] < 60


def test_reader_that_ends_ends_top(screen, top):
    process = screen.start([*top, *FAST], stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 1
    assert b"cannot show the figures: Broken pipe" in process.stderr.read()
    process.stderr.close()


@pytest.mark.parametrize("keys", ["q", "Q", "\003"])
def test_key_ends_the_view_and_restores_the_terminal(screen, top, terminal, keys):
    shown = terminal(screen, [*top, *FAST]).shows(" top  ")
    shown.type("x" + keys)
    assert shown.ends().endswith(LEAVE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_restores_the_terminal(screen, top, terminal, number):
    shown = terminal(screen, [*top, "--interval", "60"]).shows(" top  ")
    shown.process.send_signal(number)
    assert shown.ends().endswith(LEAVE)


def test_stop_and_continue(screen, top, terminal):
    """Ctrl-Z restores the terminal until the program continues."""
    shown = terminal(screen, [*top, *FAST]).shows(" top  ")
    shown.type("\032")
    assert await_true(lambda: os.waitid(os.P_PID, shown.process.pid, os.WSTOPPED | os.WNOWAIT | os.WNOHANG))
    assert shown.shows(re.escape(LEAVE)) and termios.tcgetattr(shown.master) == shown.before
    shown.output = ""
    shown.process.send_signal(signal.SIGCONT)
    shown.shows(r"\?1049h(?s:.)* top  ").type("q")
    shown.ends()


@pytest.mark.parametrize("rows, columns", [(24, 80), (3, 20), (1, 1), (100, 300)])
def test_view_fits_the_terminal(screen, top, terminal, rows, columns):
    """Also after the size has changed."""
    shown = terminal(screen, [*top, *FAST], rows=50, columns=200).shows(" top  ")
    shown.resize(rows, columns)
    shown.output = ""
    shown.shows(r"(?s)\033\[H.*\033\[H.*\033\[H.*\033\[H")
    view = shown.last_view()
    assert len(view) <= rows and max(map(len, view)) <= columns, view
    assert (rows > 3) or view[-1].startswith("... "[:columns]), view
    shown.type("q")
    shown.ends()


def test_many_clients_fit_the_terminal(screen, host, serve, dpu, terminal):
    agent = serve(*EXPORTS, "--admin", f"{dpu.dir}/admin")
    watches = [host.start(["dpumap", "--connect", agent.address, "watch"]) for _ in range(12)]
    try:
        assert await_true(lambda: agent.figure("clients") == 12)
        words = ["dpumapd", "ctl", "top", "--admin", agent.admin, *FAST]
        shown = terminal(screen, words, rows=16).shows(r"clients 12")
        shown.shows(r"\.\.\. \d+ more lines").type("q")
        shown.ends()
    finally:
        for watch in watches:
            watch.kill()
            watch.wait(PATIENCE)
            watch.stdout.close()


@pytest.mark.parametrize("term", ["dumb", ""])
def test_dumb_terminal_gets_no_escapes(screen, top, terminal, term):
    shown = terminal(screen, [*top, *FAST], term=term).shows(r"(?s) top  .* top  ")
    shown.type("\003")
    assert "\033" not in shown.ends()


def test_end_of_the_server_is_one_line(screen, ending, terminal):
    words, stop = ending
    shown = terminal(screen, [*words, *FAST]).shows(" top  ")
    stop()
    last = shown.ends(ABSENT if words[0] == "dpumapd" else 1).partition(LEAVE)[2]
    assert last.count("\n") == 1 and re.search("has ended|cannot connect|without a reply", last), last
    done = screen.run([*words, "--once"])
    assert done.status and done.err.count("\n") == 1
    assert json.loads(screen.run([*words, "--json"]).out)["exit"] == done.status


def server_of(words):
    """The process that listens for these words of top."""
    kind, path = socket.SOCK_STREAM, words[-1]
    if words[0] == "dpumap-emu":
        kind, path = socket.SOCK_SEQPACKET, f"{words[-1]}/control"
    with socket.socket(socket.AF_UNIX, kind) as connection:
        connection.connect(path)
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return struct.unpack("iII", credentials)[0]


def test_server_that_is_stopped_does_not_stop_top(screen, top, terminal):
    server = server_of(top)
    shown = terminal(screen, [*top, *FAST]).shows(" top  ")
    os.kill(server, signal.SIGSTOP)
    try:
        assert "did not answer in time" in shown.ends(1)
    finally:
        os.kill(server, signal.SIGCONT)


@pytest.mark.parametrize("interval", ["0", "0.01", "-1", "1e3", "x", "", "nan", "3601", "1 "])
def test_wrong_interval_is_refused(screen, interval):
    for words in (["dpumapd", "ctl", "top"], ["dpumap-emu", "top"]):
        err = screen.run([*words, f"--interval={interval}"]).fails(WRONG)
        assert "3600" in err.splitlines()[0], err
