# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The shipped unit: its sandbox lets dpumapd do what the manual page shows, and no more."""

import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys

import pytest

from harness import service
from harness.agents import ABSENT, CANNOT, LOST, REFUSED, WRONG
from harness.comch import Client
from harness.etcd import Etcd
from harness.machine import LocalMachine, await_true
from harness.pki import Pki

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

ROOT = pathlib.Path(__file__).resolve().parents[2]
HUGE = pathlib.Path("/sys/kernel/mm/hugepages")
NO_HUGE_PAGES = r"\d+ huge pages of \d+ bytes are not free: raise sysctl vm.nr_hugepages"


@pytest.fixture(scope="module")
def unit():
    """The unit as it was built."""
    if "DPUMAP_UNIT" not in os.environ:
        pytest.skip("DPUMAP_UNIT does not name the unit")
    return os.environ["DPUMAP_UNIT"]


def manual_examples():
    """The configurations of dpumapd.conf(5)."""
    page = (ROOT / "man/dpumapd.conf.5").read_text(encoding="utf-8")
    return re.findall(r"^\.Bd -literal\n(.*?)^\.Ed$", page, re.M | re.S)


EXAMPLES = [*manual_examples(), (ROOT / "dpu/dpumapd.conf").read_text(encoding="utf-8")]


class ServiceAgent:
    """A dpumapd in the sandbox. Its sockets are in "place" here."""

    def __init__(self, daemon, place):
        self.daemon, self.place = daemon, place
        self.ready = daemon.prints("^dpumapd: ready on ")

    def ctl(self, *words):
        return self.daemon.machine.run(["dpumapd", "ctl", "--admin", self.place / "admin.sock", *words])

    def file(self, path):
        """A file as dpumapd sees it."""
        return pathlib.Path(f"/proc/{self.daemon.pid}/root{path}")


class Service:
    """dpumapd as the unit runs it, with a configuration in /etc/dpumap."""

    def __init__(self, unit, emulator, work, agent_name):
        self.unit, self.emulator, self.work, self.agent_name = unit, emulator, work, agent_name
        self.etc, self.run = work / "etc", work / "run"
        (self.etc / "dpumap").mkdir(parents=True)
        self.run.mkdir()
        # Whoever runs the test stands for the unit's user: the emulator serves its own user only.
        me = pwd.getpwuid(os.geteuid())
        users = pathlib.Path("/etc/passwd").read_text(encoding="utf-8").rstrip("\n")
        users += f"\ndpumap:x:{me.pw_uid}:{me.pw_gid}::/:/usr/sbin/nologin\n"
        (self.etc / "passwd").write_text(users, encoding="utf-8")

    def certify(self, address):
        made = Pki(self.work / "pki")
        made.issue("dpu1", "serverAuth", f"DNS:dpu,IP:{address}")
        made.issue("host1", "clientAuth")
        for name in ("dpu1.crt", "dpu1.key", "ca.crt", "ca.crl"):
            shutil.copy(made.path(name), self.etc / "dpumap")
        return made

    def sandbox(self, config):
        """The words before the command of the unit."""
        words = ["unshare", "--mount", "--net", sys.executable, service.__file__, self.unit]
        words += ["--etc", self.etc, "--run", self.run]
        for address in sorted(set(re.findall(r"\d+\.\d+\.\d+\.\d+", config)) - {"127.0.0.1"}):
            words += ["--address", address]
        for path in re.findall(r'kind = "file".*?path = "(.*?)"', config, re.S):
            words += ["--file", path]
        # The emulator answers such sockets without the kernel.
        if "AF_NETLINK" not in service.last(service.read_unit(self.unit), "RestrictAddressFamilies"):
            words += ["--hide", self.emulator.emu_dir / "dpu/netlink"]
        return [*words, "--", *self.emulator.run_words("dpu")]

    def start(self, config, **environment):
        (self.etc / "dpumap/dpumapd.conf").write_text(config, encoding="utf-8")
        dpu = self.emulator.machine("dpu")
        bare = LocalMachine("dpu", dpu.dir, {**self.emulator.environment, **environment})
        command = ["dpumapd", "--config", "/etc/dpumap/dpumapd.conf"]
        daemon = bare.daemon(self.agent_name(), [*self.sandbox(config), *command])
        return ServiceAgent(daemon, self.run)


@pytest.fixture
def shipped(unit, emulator, work, agent_name):
    """The service; its agents end with the test."""
    reason = service.missing()
    if not reason and is_sanitized(shutil.which("dpumapd", path=emulator.environment["PATH"])):
        reason = "the leak check of a sanitizer traces the process, which the unit forbids"
    if reason:
        pytest.skip(reason)
    made, agents = Service(unit, emulator, work, agent_name), []

    def start(config, **environment):
        agents.append(made.start(config, **environment))
        return agents[-1]

    yield made, start
    for one in agents:
        if one.daemon.status() is None and one.daemon.end() is None:
            pytest.fail("dpumapd does not end")


def is_sanitized(program):
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def in_service(agent, words, emulator):
    """The command on the host, in the network of the service."""
    enter = ["nsenter", f"--net=/proc/{agent.daemon.pid}/ns/net"]
    host = emulator.machine("host")
    return LocalMachine("host", host.dir, host.environment, enter).run(words)


def start_example(start, config):
    """Starts the example, without its huge pages if this machine has too few of them."""
    agent = start(config)
    if 'pages = "huge"' not in config or not re.search(NO_HUGE_PAGES, agent.daemon.log()):
        return agent
    agent.daemon.end()
    return start(config.replace('pages = "huge"; ', ""))


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs_in_the_service(shipped, emulator, number):
    made, start = shipped
    # This machine may not have gigabytes to spare.
    config = re.sub(r'"(\d+)G"', r'"\1M"', EXAMPLES[number])
    listening = re.search(r'^listen = .*"tls:(.*?):(\d+)"', config, re.M)
    if listening:
        pki = made.certify(listening[1])
    if not HUGE.is_dir() or not list(HUGE.iterdir()):
        config = config.replace('pages = "huge"; ', "")
    agent = start_example(start, config)
    assert agent.ready, f"dpumapd does not get ready: {agent.daemon.status()}: {agent.daemon.log()}"
    names = set(re.findall(r'^[^#\n]*\{ name = "(\w+)"', config, re.M))
    listed = json.loads(agent.ctl("--json", "list").ok())["exports"]
    assert names and {export["name"] for export in listed} == names
    agent.ctl("reload").ok()
    if not listening:
        return
    tls = ["--connect", f"tls:{listening[1]}:{listening[2]}", "--ca", pki.path("ca.crt")]
    tls += ["--cert", pki.path("host1.crt"), "--key", pki.path("host1.key")]
    data = os.urandom(65536)
    (made.work / "data").write_bytes(data)
    for export in listed:
        if "cert:host1" in export["allow"] and export["perm"] == "rw":
            words = ["dpumap", *tls, "write", export["name"], made.work / "data"]
            in_service(agent, words, emulator).ok()
    for path in re.findall(r'kind = "file".*?path = "(.*?)"', config, re.S):
        assert agent.file(path).read_bytes() == data


INTRODUCTIONS = """\
listen = [ "tls:192.168.100.2:7470" ];
admin = "/run/dpumapd/admin.sock";
tls = { cert = "/etc/dpumap/dpu1.crt"; key = "/etc/dpumap/dpu1.key"; ca = "/etc/dpumap/ca.crt"; };
comch = { introduce = ( { server = "copy"; allow = [ "cert:host1" ]; } ); };
"""
CLIENT = """\
connect = "tls:192.168.100.2:7470";
tls = {{ cert = "{pki}/host1.crt"; key = "{pki}/host1.key"; ca = "{pki}/ca.crt"; }};
"""


def test_service_introduces_clients_to_servers(shipped, emulator, work):
    """The sandbox lets dpumapd connect to the sockets of servers, and pass connections to them."""
    made, start = shipped
    pki = made.certify("192.168.100.2")
    agent = start(INTRODUCTIONS)
    assert agent.ready, agent.daemon.log()
    server = emulator.machine("dpu").daemon("introduced", ["link_peer", "server", "copy"])
    server.await_output("^ready")
    (work / "dpumap").mkdir()
    (work / "dpumap/dpumap.conf").write_text(CLIENT.format(pki=pki.dir), encoding="utf-8")
    elsewhere = {"DPUMAP_COMCH_DIR": work / "none", "XDG_CONFIG_HOME": work}
    settings = [f"{key}={value}" for key, value in elsewhere.items()]
    words = ["env", *settings, "timeout", "-s", "KILL", "60", "link_peer", "client", "copy", "30000"]
    enter = ["nsenter", f"--net=/proc/{agent.daemon.pid}/ns/net"]
    host = emulator.machine("host")
    there = LocalMachine("host", host.dir, emulator.environment, enter)
    client = there.daemon("introduced-client", [*words, "hello"])
    client.await_output("^got hello")
    server.await_output("^peer cert:host1$")
    client.end("KILL")
    server.end("KILL")


BY_ADDRESS = """\
listen = [ "unix:/run/dpumapd/dpumapd.sock" ];
admin = "/run/dpumapd/admin.sock";
rdma = { listen = "127.100.0.1:0"; };
exports = ( { name = "far"; kind = "dram"; size = 4096; via = "rdma"; allow = [ "*" ]; } );
"""


def test_service_takes_connections_by_address(shipped, emulator, unit):
    """The sandbox lets dpumapd use the connection manager, which the unit allows as a device."""
    text = pathlib.Path(unit).read_text(encoding="utf-8")
    assert "\nDeviceAllow=/dev/infiniband/rdma_cm rw\n" in text
    _, start = shipped
    agent = start(BY_ADDRESS)
    assert agent.ready, agent.daemon.log()
    words = ["dpumap", "--connect", f"unix:{agent.place}/dpumapd.sock", "fill", "far", "a5"]
    in_service(agent, words, emulator).ok()
    agent.daemon.await_log("connects to export far by address")


def test_service_serves_the_control_channel(shipped, emulator, work, unit):
    """A host's program imports over TLS from the server of the sandbox."""
    made, start = shipped
    pki = made.certify("192.168.100.2")
    text = pathlib.Path(unit).read_text(encoding="utf-8")
    assert "\nEnvironment=XDG_RUNTIME_DIR=%t/dpumapd\n" in text
    config = INTRODUCTIONS.replace("introduce", 'serve = "copy"; introduce')
    config += 'exports = ( { name = "web"; kind = "dram"; size = 4096; allow = [ "cert:host1" ]; } );\n'
    # The directory of the unit's user; root, which may run this test, has another one.
    agent = start(config, DPUMAP_COMCH_DIR="/run/dpumapd/dpumap-comch")
    assert agent.ready, agent.daemon.log()
    assert list((agent.place / "dpumap-comch").glob("*.sock"))
    (work / "dpumap").mkdir()
    (work / "dpumap/dpumap.conf").write_text(CLIENT.format(pki=pki.dir), encoding="utf-8")
    enter = ["nsenter", f"--net=/proc/{agent.daemon.pid}/ns/net"]
    host = emulator.machine("host")
    environment = {**host.environment, "XDG_CONFIG_HOME": str(work)}
    there = LocalMachine("host", host.dir, environment, enter)
    client = Client(there, "copy", "3b:00.0")
    assert client.ask("get web") == "ok 4096 rw"
    assert client.do("use").startswith("4096")
    client.end()


REGISTRY = """\
listen = [ "tls:192.168.100.2:7470" ];
admin = "/run/dpumapd/admin.sock";
tls = { cert = "/etc/dpumap/dpu1.crt"; key = "/etc/dpumap/dpu1.key"; ca = "/etc/dpumap/ca.crt"; };
registry = { endpoints = [ "http://etcd1.example:2379" ]; fleet = "lab"; name = "dpu"; ttl = 2; };
exports = ( { name = "web"; kind = "dram"; size = 4096; } );
"""
# A name server on 127.0.0.1 that says nothing until a byte comes on its standard input; every name is
# 127.0.0.1 then.
NAME_SERVER = """\
import select, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
print("ready", flush=True)
asked = []
while not select.select([sys.stdin], [], [], 0)[0]:
    if select.select([s, sys.stdin], [], [])[0] == [s]:
        asked.append(s.recvfrom(512))
        print("asked", flush=True)
while True:
    for query, peer in asked or [s.recvfrom(512)]:
        end = 12
        while query[end]:
            end += 1 + query[end]
        question = query[12:end + 5]
        is_a = question[-4:] == bytes([0, 1, 0, 1])
        answer = bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]) if is_a else b""
        s.sendto(query[:2] + bytes([0x84, 0, 0, 1, 0, is_a, 0, 0, 0, 0]) + question + answer, peer)
    asked = []
"""


def test_service_publishes_in_etcd(shipped, tmp_path):
    """The sandbox lets the library be loaded, resolve names in a thread of its own and connect. A name
    server that does not answer delays neither clients nor the end."""
    made, start = shipped
    made.certify("192.168.100.2")
    (made.etc / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:30\n", encoding="utf-8")
    (made.etc / "nsswitch.conf").write_text("passwd: files\nhosts: files dns\n", encoding="utf-8")
    agent = start(REGISTRY)
    assert agent.ready, agent.daemon.log()
    network = os.open(f"/proc/{agent.daemon.pid}/ns/net", os.O_RDONLY)  # stays when dpumapd ends
    enter = ["nsenter", f"--net=/proc/{os.getpid()}/fd/{network}"]
    script = [*enter, sys.executable, "-c", NAME_SERVER]
    store = Etcd(tmp_path / "etcd", prefix=enter, ports=(2379, 2380))
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as names:
        try:
            for line in ("ready", "asked"):
                assert names.stdout.readline() == f"{line}\n"
            # A request that waited for the end of its resolving thread would delay all that dpumapd does, and
            # there would be one such thread.
            threads = pathlib.Path(f"/proc/{agent.daemon.pid}/task")
            assert await_true(lambda: len(os.listdir(threads)) > 2), "a request waits for its thread"
            agent.ctl("add", "name=late,kind=dram,size=4096").ok()
            assert json.loads(agent.ctl("--json", "status").ok())["registry"] == "connecting"
            names.stdin.write("\n")
            names.stdin.flush()
            wanted = [f"/dpumap/v1/lab/{name}" for name in ("dpus/dpu", "exports/dpu/late", "exports/dpu/web")]
            assert await_true(lambda: sorted(store.records()) == wanted), agent.daemon.log()
            agent.ctl("reload").ok()
            assert sorted(store.records()) == wanted
            assert agent.daemon.end() == 0 and not store.records()
        finally:
            names.kill()
            store.close()
            os.close(network)


def test_sandbox_refuses_the_rest(shipped, work):
    """The test's sandbox is one: what the unit forbids fails, and nothing outside changes."""
    made, _ = shipped
    script = work / "forbidden.py"
    script.write_text(FORBIDDEN, encoding="utf-8")
    words = [str(word) for word in made.sandbox("")]
    words = [*words[: words.index("--")], "--", sys.executable, str(script)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


FORBIDDEN = """\
import errno
import os
import resource
import socket
import sys


def refused(wanted, what, *words):
    try:
        what(*words)
    except OSError as error:
        assert error.errno in wanted, f"{what}: {error}"
        return
    sys.exit(f"{what} is not refused")


refused([errno.EROFS], open, "/etc/dpumap/new", "w")
refused([errno.EROFS], open, "/new", "w")
refused([errno.ENOENT], open, "/proc/meminfo")
refused([errno.EPERM], os.setgroups, [])
refused([errno.EPERM], os.nice, 1)
refused([errno.EAFNOSUPPORT], socket.socket, socket.AF_PACKET, socket.SOCK_RAW)
refused([errno.EAFNOSUPPORT], socket.socket, socket.AF_NETLINK, socket.SOCK_RAW)
open("/run/dpumapd/new", "w").close()
os.unlink("/run/dpumapd/new")
assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
print("refused")
"""


def test_service_starts_again_after_failures_that_pass(unit):
    """Not after a wrong option or configuration, whose status does not change."""
    words = service.read_unit(unit)
    assert service.last(words, "Restart") == "on-failure"
    prevented = {int(status) for status in service.last(words, "RestartPreventExitStatus").split()}
    assert prevented == {WRONG, REFUSED} and not prevented & {LOST, ABSENT, CANNOT}
    assert "\nStartLimitIntervalSec=0\n" in pathlib.Path(unit).read_text(encoding="utf-8")


def test_failed_reload_is_logged_once(shipped, unit):
    """By dpumapd: the journal of the service has what the command of the unit prints, too."""
    made, start = shipped
    agent = start(BY_ADDRESS)
    assert agent.ready, agent.daemon.log()
    (made.etc / "dpumap/dpumapd.conf").write_text("nonsense = 1;\n", encoding="utf-8")
    words = service.last(service.read_unit(unit), "ExecReload").split()[1:]
    at = words.index("--admin") + 1
    words[at] = words[at].replace("/run/dpumapd", str(agent.place))
    done = agent.daemon.machine.run(["dpumapd", *words])
    assert (done.status, done.out, done.err) == (REFUSED, "", "")
    agent.daemon.await_log("nothing has changed: .*nonsense is not a setting")
    assert agent.daemon.log().count("nonsense") == 1
    agent.daemon.end()
    assert agent.daemon.machine.run(["dpumapd", *words]).fails_with(ABSENT, "cannot connect")


def test_exit_codes_have_no_other_name_in_systemd():
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is missing")
    words = ["systemd-analyze", "exit-status"]
    named = {int(line.split()[1]) for line in subprocess.check_output(words, text=True).splitlines()[1:]}
    assert named & {LOST, WRONG, ABSENT, REFUSED, CANNOT} == {LOST, WRONG}  # FAILURE, INVALIDARGUMENT


def test_score_is_as_documented(unit):
    """systemd-analyze rates the sandbox as docs/packages.md says, and that can only become better."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is missing")
    document = (ROOT / "docs/packages.md").read_text(encoding="utf-8")
    score = float(re.search(r"exposure level for dpumapd.service: (\d\.\d)", document)[1])
    assert score <= 1.5
    words = ["--offline=true", "--no-pager", f"--threshold={round(score * 10)}", unit]
    done = subprocess.run(
        ["systemd-analyze", "security", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and f"dpumapd.service: {score} " in done.stdout, done.stdout[-200:]


def conditions(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("Condition")]


def test_socket_has_the_conditions_of_the_service(unit):
    """Otherwise systemd starts the service for each client, in vain, until it gives the socket up."""
    assert conditions(unit)
    assert conditions(ROOT / "dpu/dpumapd.socket") == conditions(unit)
