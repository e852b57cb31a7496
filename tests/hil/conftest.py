# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fixtures of the suite: the two machines, certificates, dpumapd on one and dpumap on the other."""

import configparser
import contextlib
import json
import os
import pathlib
import shlex

import pytest

from agents import Agent, Tool, make_pki
from side import Lost, Side, await_true


def pytest_configure(config):
    config.addinivalue_line("markers", "question(n, ...): answers these of docs/hardware.md")
    if "DPUMAP_HIL_STATE" not in os.environ:
        raise pytest.UsageError("these tests are started by scripts/hil")


def pytest_exception_interact(call):
    """Without the machines there is nothing more to test."""
    if isinstance(call.excinfo.value, Lost):
        pytest.exit(str(call.excinfo.value), 3)


def load_state():
    return json.loads(pathlib.Path(os.environ["DPUMAP_HIL_STATE"]).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def state():
    return load_state()


@pytest.fixture(scope="session")
def properties(state):
    """What is declared of the two machines; see docs/hil.md."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_dict(state["properties"])
    return parser


def make_side(state, name):
    words = state["sides"][name]
    return Side(name, words["target"], words["control"], words["ssh_options"], words["directory"])


@pytest.fixture(scope="session")
def host(state):
    return make_side(state, "host")


@pytest.fixture(scope="session")
def dpu(state):
    return make_side(state, "dpu")


@pytest.fixture(scope="session")
def sides(host, dpu):
    return {"host": host, "dpu": dpu}


@pytest.fixture(scope="session")
def pki(host, dpu, state):
    """An authority on the host; the DPU gets what is its own."""
    return make_pki(host, dpu, state["address"])


@pytest.fixture
def agent(request, dpu, pki, state):
    """Starts dpumapd on the DPU: agent("kind=dm,size=64K") exports "e0" and so on."""
    started = []

    def start(*exports, **more):
        number = getattr(request.config, "hil_agents", 0)
        request.config.hil_agents = number + 1
        name = f"dpumapd-{number:03}-{request.node.name.replace('/', '_')[:48]}"
        started.append(Agent(dpu, name, pki, state["address"], exports, **more))
        return started[-1]

    yield start
    for one in started:
        with contextlib.suppress(Lost):
            if one.daemon.status() is None and one.daemon.end() is None:
                pytest.fail("dpumapd does not end")


@pytest.fixture
def tool(host, pki):
    """tool(agent): dpumap on the host with the host's certificate."""
    return lambda agent, name="host", **more: Tool(host, pki, agent.address, name, **more)


@pytest.fixture(scope="session")
def profile(state):
    return state["profile"]


@pytest.fixture
def answer(request, state):
    """answer(number, seen, ok): what was seen of a question of docs/hardware.md."""
    asked = {n for mark in request.node.iter_markers("question") for n in mark.args}

    def record(number, seen, as_assumed):
        assert number in asked, f"question {number} is not in the test's marks"
        line = {
            "question": number,
            "test": request.node.name,
            "seen": seen,
            "as_assumed": as_assumed,
        }
        with open(pathlib.Path(state["out"]) / "answers.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    return record


@pytest.fixture
def figure(request, state):
    """figure(name, value, unit, **what): a number for figures.json."""

    def record(name, value, unit, **what):
        line = {"name": name, "value": value, "unit": unit, "test": request.node.name, **what}
        with open(pathlib.Path(state["out"]) / "figures.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    return record


@pytest.fixture(scope="session")
def counts(sides, properties):
    """counts(): what lives on the device, where that can be told and is ours alone; else None."""
    command = properties.get("device", "count", fallback="")
    if not command or not properties.getboolean("device", "exclusive", fallback=False):
        return lambda: None
    changing = {"clients", "channels", "commands", "command_errors", "copies", "bytes", "errors"}

    def read():
        lines = sides["dpu"].run(f"bash {shlex.quote(sides['dpu'].dir)}/count").ok().splitlines()
        words = (line.split(None, 1) for line in lines)
        return {word[0]: word[1] for word in words if len(word) == 2 and word[0] not in changing}

    return read


@pytest.fixture
def nothing_left(counts):
    """After the test lives on the device what did before."""
    before = counts()
    yield
    last = []

    def same():
        last[:] = [counts()]
        return last[0] == before

    with contextlib.suppress(Lost):
        assert await_true(same, 30), f"objects before {before}, after {last[0]}"
