# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the tests of dpumapd and dpumap. They run on an emulated card of this machine, or, when
started by scripts/hil, between the two machines that $DPUMAP_HIL_STATE describes."""

import configparser
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import tempfile

import pytest

from harness.agents import Agent, ConfiguredAgent, Tool, tls_options
from harness.comch import Client, Served
from harness.emulator import Emulator, local_environment
from harness.machine import LocalMachine, Lost, await_true
from harness.pki import Pki
from harness.ssh import SshMachine

STATE = os.environ.get("DPUMAP_HIL_STATE")
# What tests read of the state of scripts/hil.
LOCAL_STATE = {
    "address": "127.0.0.1",
    "profile": "quick",
    "bytes": 1 << 20,
    "endurance": 0,
    "properties": {"device": {"exclusive": "yes"}, "rdma": {"listen": "127.100.0.1:0"}},
}
CERTIFICATES = ("host", "other", "revoked")


def pytest_configure():
    if not STATE and "DPUMAP_BIN" not in os.environ:
        raise pytest.UsageError("DPUMAP_BIN must name the folder of the programs, or use scripts/hil")
    os.environ["DPUMAP_BIN"] = os.path.abspath(os.environ.get("DPUMAP_BIN", "."))


def pytest_collection_modifyitems(config, items):
    """Between two machines not what needs this one, and on this one not what needs two."""
    unwanted = "local" if STATE else "pair"
    kept = [item for item in items if not item.get_closest_marker(unwanted)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_runtest_logreport(report):
    """A line for tests/cross/account.py, as CMocka writes it."""
    if report.skipped and not STATE:
        print(f"\n[  SKIPPED ] {report.nodeid.rpartition('::')[2].partition('[')[0]}")


def pytest_exception_interact(call):
    """Without the machines there is nothing more to test."""
    if isinstance(call.excinfo.value, Lost):
        pytest.exit(str(call.excinfo.value), 3)


@pytest.fixture(scope="session")
def state():
    if STATE:
        return json.loads(pathlib.Path(STATE).read_text(encoding="utf-8"))
    return LOCAL_STATE


@pytest.fixture(scope="session")
def properties(state):
    """What is declared of the two machines; see docs/hil.md."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_dict(state["properties"])
    return parser


@pytest.fixture(scope="session")
def ssh_machines(state):
    """The two machines of scripts/hil."""
    return {
        name: SshMachine(name, *(words[key] for key in ("target", "control", "ssh_options", "directory")))
        for name, words in state.get("machines", {}).items()
    }


@pytest.fixture(scope="module")
def emulator(request):
    """An emulated card for the module, which may say in CARD what kind."""
    options = os.environ.get("DPUMAP_TEST_CARD", "").split()
    card = Emulator(*(options or getattr(request.module, "CARD", ())))
    yield card
    card.close()


@pytest.fixture(scope="module")
def machines(request, ssh_machines):
    """{"host": machine, "dpu": machine}"""
    if ssh_machines:
        return ssh_machines
    card = request.getfixturevalue("emulator")
    return {name: card.machine(name) for name in ("host", "dpu")}


@pytest.fixture(scope="module")
def host(machines):
    return machines["host"]


@pytest.fixture(scope="module")
def dpu(machines):
    return machines["dpu"]


@pytest.fixture(scope="module")
def here():
    """This machine, without a device."""
    with tempfile.TemporaryDirectory(prefix="dpumap-agents.", dir="/tmp") as path:
        yield LocalMachine("here", path, local_environment(path))


class ToolPki:
    """Certificates by `dpumap pki`. The authority is on the host; both machines have their own
    certificates in "pki"."""

    def __init__(self, host, dpu, address):
        self.host, self.dpu = host, dpu
        host.run("rm -rf pki").ok()
        self.tool("init")
        self.tool("issue", "--dpu", "dpu", "--san", address)
        for name in CERTIFICATES:
            self.tool("issue", "--host", name)
        names = ("dpu.crt", "dpu.key", "ca.crt", "ca.crl")
        dpu.put({f"pki/{name}": host.get(f"pki/{name}") for name in names})

    def tool(self, *words):
        return self.host.run(["dpumap", "pki", *words, "--dir", "pki"]).ok()

    def revoke(self, name):
        """Revokes a certificate, keeps the host's copy in "pki", and sends the list to the DPU."""
        self.host.run(f"cp pki/{name}.* home/")
        self.tool("revoke", name)
        self.host.run(f"mv home/{name}.* pki/").ok()
        self.dpu.put({"pki/ca.crl": self.host.get("pki/ca.crl")})


@pytest.fixture(scope="session")
def made_pki():
    """The one pki of a session between two machines."""
    return []


@pytest.fixture(scope="module")
def pki(host, dpu, state, made_pki):
    """An authority on the host; the DPU gets its own certificate."""
    if not STATE or not made_pki:
        made_pki[:] = [ToolPki(host, dpu, state["address"])]
    return made_pki[0]


@pytest.fixture(scope="module")
def openssl_pki(emulator):
    """An authority that openssl made, with a certificate for the DPU here."""
    made = Pki(emulator.dir / "openssl")
    made.issue("dpu", "serverAuth", "DNS:dpu,IP:127.0.0.1")
    return made


@pytest.fixture
def agent_name(request):
    """agent_name(): of the next dpumapd, for its log."""

    def name():
        number = getattr(request.config, "agents_started", 0)
        request.config.agents_started = number + 1
        test = request.node.name.replace("/", "_").replace(" ", "_")
        return f"dpumapd-{number:03}-{test[:48]}"

    return name


@pytest.fixture
def started():
    """The agents of the test, which end with it."""
    agents = []
    yield agents
    for one in agents:
        with contextlib.suppress(Lost):
            if one.daemon.status() is None and one.daemon.end() is None:
                pytest.fail("dpumapd does not end")


@pytest.fixture
def agent(dpu, pki, state, agent_name, started):
    """Starts dpumapd on the DPU: agent("kind=dm,size=64K") exports "e0" and so on over TLS."""

    def start(*exports, **more):
        started.append(ConfiguredAgent(dpu, agent_name(), pki, state["address"], exports, **more))
        return started[-1]

    return start


@pytest.fixture
def serve(dpu, agent_name, started):
    """serve(WORDS...): dpumapd with these options, listening on the Unix socket $machine/socket."""

    def start(*words, machine=None, listen=None, ready=True, **more):
        machine = machine or dpu
        place = [] if "--config" in words else ["--listen", listen or f"{machine.dir}/socket"]
        started.append(Agent(machine, agent_name(), [*place, *words], **more))
        return started[-1].must_serve() if ready else started[-1]

    return start


@pytest.fixture
def served(serve, dpu):
    """dpumapd with a server of the control channel, which the test starts."""
    return Served(serve, dpu)


@pytest.fixture
def connect(host):
    """connect(): a client on the host, which ends with the test."""
    clients = []

    def start(name="dpumapd"):
        clients.append(Client(host, name, "3b:00.0"))
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


@pytest.fixture
def tool(host):
    """tool(agent): dpumap on the host, over TLS with the host's certificate or the Unix socket."""

    def make(agent, name="host", machine=None, prefix=""):
        machine = machine or host
        if not agent.address.startswith("tls:"):
            return Tool(machine, ["--connect", agent.address], prefix)
        return Tool(machine, tls_options(machine, name, agent.address), prefix, agent)

    return make


@pytest.fixture
def files(emulator):
    """A directory in which nothing may be left when the test ends."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="files.", dir=emulator.dir))
    yield path
    left = os.listdir(path)
    shutil.rmtree(path)
    assert not left, f"files were left behind: {left}"


@pytest.fixture
def work(emulator):
    """A directory of the test's own, for its configurations and other input."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="work.", dir=emulator.dir))
    yield path
    while path.exists():  # an emulator that just ended may be removing its own files
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path)


@pytest.fixture
def ram():
    """A directory in memory: devices may write to the pages of its files."""
    with tempfile.TemporaryDirectory(prefix="dpumap-agents.", dir="/dev/shm") as path:
        yield pathlib.Path(path)


@pytest.fixture(scope="session")
def profile(state):
    return state["profile"]


def record_line(state, name, line):
    if "out" in state:
        with open(pathlib.Path(state["out"], name), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


@pytest.fixture
def answer(request, state):
    """answer(number, seen, as_assumed): what was seen of a question of docs/hardware.md."""
    asked = {n for mark in request.node.iter_markers("question") for n in mark.args}
    test = request.node.name

    def record(number, seen, as_assumed):
        assert number in asked, f"question {number} is not in the test's marks"
        line = {"question": number, "test": test, "seen": seen, "as_assumed": as_assumed}
        record_line(state, "answers.jsonl", line)

    return record


@pytest.fixture
def figure(request, state):
    """figure(name, value, unit, **what): a number for figures.json."""

    def record(name, value, unit, **what):
        line = {"name": name, "value": value, "unit": unit, "test": request.node.name, **what}
        record_line(state, "figures.jsonl", line)

    return record


@pytest.fixture(scope="module")
def counts(request, machines, properties):
    """counts(): how many objects live on the device, where that is known and all are ours; else None."""
    if not STATE:
        return request.getfixturevalue("emulator").objects
    command = properties.get("device", "count", fallback="")
    if not command or not properties.getboolean("device", "exclusive", fallback=False):
        return lambda: None
    changing = {"clients", "channels", "commands", "command_errors", "copies", "bytes", "errors"}
    dpu = machines["dpu"]

    def read():
        lines = dpu.run(f"bash {shlex.quote(dpu.dir)}/count").ok().splitlines()
        words = (line.split() for line in lines)  # lines of more words are no counts
        return {word[0]: word[1] for word in words if len(word) == 2 and word[0] not in changing}

    return read


@pytest.fixture
def nothing_left(counts):
    """After the test and the end of its agents the same objects live on the device as before."""
    before = counts()
    yield
    last = []

    def same():
        last[:] = [counts()]
        return last[0] == before

    with contextlib.suppress(Lost):
        assert await_true(same), f"objects before {before}, after {last[0]}"
