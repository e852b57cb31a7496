# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""More exports than dpumapd registers before it is ready."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import socket
import subprocess

import pytest

from harness.agents import ABSENT, REFUSED, Tool
from harness.machine import await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

NUMBER = 600


def export(number, size=4096):
    return f'{{ name = "e{number:03}"; kind = "dram"; size = {size}; allow = [ "*" ]; }}'


class Many:
    """dpumapd with many exports, in no order."""

    def __init__(self, serve, host, dpu):
        self.dpu = dpu
        self.address = f"unix:{dpu.dir}/many"
        self.exports = [export(number * 7 % NUMBER) for number in range(NUMBER)]
        self.write()
        self.agent = serve("--config", f"{dpu.dir}/many.conf")
        self.tool = Tool(host, ["--connect", self.address])

    def write(self):
        text = f'listen = [ "{self.address}" ];\nadmin = "{self.dpu.dir}/admin";\nmetrics = "{self.dpu.dir}/metrics";\n'
        self.dpu.put({"many.conf": f"{text}exports = ( {', '.join(self.exports)} );\n"})

    def reload(self):
        self.write()
        return self.agent.ctl("reload")

    def scrape(self):
        return ask_at_once(self.agent, f"{self.dpu.dir}/metrics", b"GET /metrics HTTP/1.1\r\n\r\n", 1)[0].decode()


@pytest.fixture
def many(serve, host, dpu):
    return Many(serve, host, dpu)


def crosses(many, host, name):
    host.run("head -c 4096 /dev/urandom >sent; rm -f got").ok()
    many.tool("cp", "sent", name, "got").ok()
    assert host.get("got") == host.get("sent")


def test_the_last_export_is_registered_for_its_first_client(many, host):
    created = re.findall(r"export (e\d+) created: .*, (.*), on ", many.agent.log())
    assert len(created) == NUMBER
    assert created[0][1].startswith("descriptor of "), "the first exports are registered"
    assert created[-1] == (f"e{NUMBER - 1}", "not yet registered")
    crosses(many, host, f"e{NUMBER - 1}")
    listed = many.tool.json("list")["exports"]
    assert len(listed) == NUMBER


def test_exports_that_are_not_registered_can_change(many, host):
    last = f"e{NUMBER - 1}"
    many.exports = [one for one in many.exports if last not in one] + [export(NUMBER - 1, 8192)]
    many.reload().ok()
    crosses(many, host, last)
    many.agent.ctl("rekey", last).ok()
    many.exports.pop()
    many.reload().ok()
    many.tool("cp", "sent", last, "got").fails(ABSENT)
    crosses(many, host, "e001")


def ask_at_once(agent, path, question, number=32):
    """The answers to this many connections, which dpumapd sees in the same turn."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(number)]
        agent.daemon.signal("STOP")
        for one in sockets:
            one.connect(path)
            one.sendall(question)
        agent.daemon.signal("CONT")
        return [b"".join(iter(lambda one=one: one.recv(65536), b"")) for one in sockets]


def test_turns_do_little_whatever_is_asked(many, dpu):
    """Counts, not times: a turn registers one export, and answers one question, of a list 64 exports."""

    def turns_of(work):
        before = many.agent.figure("turns")
        return work(), many.agent.figure("turns") - before

    assert many.agent.figure("turns") >= 1
    lists, turns = turns_of(lambda: ask_at_once(many.agent, f"{dpu.dir}/admin", b"list\n"))
    for text in lists:
        names = [one["name"] for one in json.loads(text)["exports"]]
        assert names == sorted(names) and len(names) == NUMBER
    assert turns >= 32 * (NUMBER // 64)
    scrapes, turns = turns_of(lambda: ask_at_once(many.agent, f"{dpu.dir}/metrics", b"GET /metrics HTTP/1.1\r\n\r\n"))
    assert all(b"dpumapd_longest_turn_microseconds" in text for text in scrapes) and turns >= 32
    keys, turns = turns_of(lambda: ask_at_once(many.agent, f"{dpu.dir}/admin", b"rekey e001\n"))
    assert all(json.loads(text)["status"] == "DOCA_SUCCESS" for text in keys) and turns >= 32
    registered = many.agent.log().count("not yet registered")
    assert await_true(lambda: many.agent.figure("turns") >= registered)


def test_sums_are_those_of_the_exports(many, host):
    """They are kept, not computed for each who asks."""

    def sums_are_right():
        listed = json.loads(many.agent.ctl("--json", "list").ok())["exports"]
        metrics = many.scrape()
        assert many.agent.figure("outstanding") == sum(one["outstanding"] for one in listed)
        for kind in ("dram", "dm"):
            sizes = [one["size"] for one in listed if one["kind"] == kind]
            assert f'dpumapd_exports{{kind="{kind}"}} {len(sizes)}\n' in metrics
            assert f'dpumapd_exported_bytes{{kind="{kind}"}} {sum(sizes)}\n' in metrics
        assert many.agent.figure("device_memory_exported") == sum(one["size"] for one in listed if one["kind"] == "dm")
        return sum(one["outstanding"] for one in listed)

    assert sums_are_right() == 0
    many.agent.ctl("add", "name=on-card,kind=dm,size=4096,allow=*").ok()
    holder = many.tool.daemon("holder", "import", "e001", "--hold")
    holder.await_output("^imported")
    assert sums_are_right() == 1
    holder.end("KILL")
    assert await_true(lambda: many.agent.figure("imports") == 0)
    assert sums_are_right() == 1, "the client has not released its descriptor"
    crosses(many, host, "e002")
    sums_are_right()
    many.exports = [export(number, 8192) for number in range(2, NUMBER)]
    many.reload().ok()
    sums_are_right()
    many.agent.ctl("rekey", "e002").ok()
    many.agent.ctl("remove", "on-card").ok()
    assert sums_are_right() == 0


def test_json_list_is_printed_as_it_comes(many, host):
    """dpumap has no more than a page of a list: it does not ask for the next one while nobody reads this one."""
    before = many.agent.figure("requests")
    with host.start(many.tool.words("list", "--json"), stdout=subprocess.PIPE, bufsize=0) as listing:
        fcntl.fcntl(listing.stdout, fcntl.F_SETPIPE_SZ, 4096)
        text = listing.stdout.read(1)
        assert many.agent.figure("requests") - before < NUMBER // 64
        text += b"".join(iter(lambda: listing.stdout.read(65536), b""))
    listed = json.loads(text)
    assert [one["name"] for one in listed["exports"]] == [f"e{number:03}" for number in range(NUMBER)]
    assert listed["schema"] == "dpumap-list-1"


def test_list_goes_on_while_exports_change(many, dpu):
    """Between its parts, after the last name of the one before."""
    with socket.socket(socket.AF_UNIX) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(f"{dpu.dir}/admin")
        slow.sendall(b"list\n")
        text = slow.recv(2000)
        many.agent.ctl("remove", "e100").ok()
        many.agent.ctl("add", "name=zz,kind=dram,size=4096").ok()
        text += b"".join(iter(lambda: slow.recv(65536), b""))
    names = [one["name"] for one in json.loads(text)["exports"]]
    kept = {f"e{number:03}" for number in range(NUMBER)} - {"e100"}
    assert names == sorted(set(names)) and kept <= set(names) <= kept | {"e100", "zz"}


def test_small_exports_share_mappings_of_pages_that_others_can_map(many):
    """A process has a limited number of mappings, and the importer's device maps only shared ones."""
    maps = pathlib.Path(f"/proc/{many.agent.daemon.pid}/maps").read_text(encoding="utf-8")
    shared = [line for line in maps.splitlines() if "/memfd:dpumapd-dram" in line and "rw-s" in line]
    assert 1 <= len(shared) < 10


def test_configuration_that_names_an_export_twice_is_refused(many):
    many.exports.append(export(0))
    many.reload().fails_with(REFUSED, "two exports called e000")
    assert os.path.exists(many.address.removeprefix("unix:"))
