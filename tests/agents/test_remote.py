# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports that another machine reads and writes over RDMA: the two have a network and no card in
common. What ends during a copy is in test_endings.py."""

import os
import re

import pytest

from harness.agents import CANNOT, REFUSED, Tool, expect_no_growth, grows_by_nature
from harness.emulator import Emulator
from harness.machine import await_true

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
CARD = ("--nodes", "2")
EXPORTS = (
    *("name=far,kind=dram,size=64K,via=rdma", "name=other,kind=dram,size=64K,via=rdma"),
    *("name=bulk,kind=dram,size=8M,via=rdma", "name=fast,kind=dm,size=16K,via=rdma"),
    *("name=ro,kind=dram,size=4K,via=rdma,perm=ro", "name=near,kind=dram,size=64K"),
)


# Where clients connect; None: they exchange details.
LISTEN = os.environ.get("DPUMAP_TEST_RDMA_LISTEN")


def by_address(machine):
    """Options for dpumapd on the machine."""
    if not LISTEN:
        return ()
    machine.put({"rdma.conf": f'rdma = {{ listen = "{LISTEN}"; }};'})
    return ("--config", f"{machine.dir}/rdma.conf", "--listen", f"{machine.dir}/socket")


@pytest.fixture
def exported(ram):
    """The path of the file that the export "file" maps."""
    (ram / "file").write_bytes(os.urandom(100000))
    return ram / "file"


@pytest.fixture
def agent(serve, dpu, exported):
    exports = (*EXPORTS, f"name=file,kind=file,path={exported},size=max,via=rdma")
    words = [word for export in exports for word in ("--export", export)]
    limits = ("--max-clients", "32", "--max-clients-per-identity", "32")
    started = serve("--admin", f"{dpu.dir}/admin", *limits, *by_address(dpu), *words)
    yield started
    connected = re.findall("connects to export .*", started.log())
    assert all(("by address" in line) == bool(LISTEN) for line in connected), connected


@pytest.fixture
def peer(emulator):
    """The other machine."""
    return emulator.machine("node1.host")


@pytest.fixture
def far(agent, peer):
    """dpumap on the other machine."""
    return Tool(peer, ["--connect", agent.address])


def crosses(far, peer, name, data):
    """A file there and back."""
    peer.put({"sent": data})
    peer.remove("got")
    report = far("cp", "sent", name, "got").ok()
    assert peer.get("got") == data
    assert "by RDMA connection" in report and "all digests are equal" in report, report


def test_list_and_info_tell_the_way(agent, far):
    table = far("list").ok()
    assert re.search(r"^far +dram +64K +read-write +RDMA$", table, re.M), table
    assert re.search(r"^ro +dram +4K +read-only +RDMA$", table, re.M), table
    assert re.search(r"^near +dram +64K +read-write +PCI$", table, re.M), table
    found = {one["name"]: (one["via"], one["perm"]) for one in far.json("list")["exports"]}
    assert (found["far"], found["ro"], found["near"]) == (("rdma", "rw"), ("rdma", "ro"), ("pci", "rw"))
    info = far("info", "fast").ok()
    assert re.search("^via +RDMA$", info, re.M) and "RDMA export of device memory" in info, info
    assert '"via": "rdma"' in far("info", "ro", "--json").ok()
    assert re.search("^far +dram +64K +read-write +RDMA ", agent.ctl("list").ok(), re.M)


@pytest.mark.parametrize("name", ["far", "fast", "file"])
@pytest.mark.parametrize("size", [0, 1, 65537, 1000003])
def test_files_of_all_sizes_come_back(far, peer, name, size):
    crosses(far, peer, name, os.urandom(size))


def test_large_file_comes_back(far, peer):
    crosses(far, peer, "bulk", os.urandom(20000000))


def test_parts_at_odd_offsets(far, exported):
    """The file that is exported has what was written."""
    data = os.urandom(3001)
    far("write", "file", "--offset", "7777", data=data).ok()
    assert exported.read_bytes()[7777 : 7777 + 3001] == data
    assert far("read", "file", "-o", "7787", "-n", "13").data == data[10:23]


def test_other_commands_work(agent, far, host):
    """Also for the host on the same card."""
    far("fill", "far", "c0ffee", "--offset", "3", "--length", "6").ok()
    assert "c0 ff ee c0 ff ee" in far("dump", "far", "-o", "3", "-n", "6").ok()
    report = far.json("bench", "far", "--count", "10", "--size", "4K", "--write")
    assert report["engine"] == "RDMA connection" and len(report["results"]) == 2
    far("import", "far").ok()
    near = Tool(host, ["--connect", agent.address])
    assert near("read", "far").data == far("read", "far").data


def test_what_is_not_permitted_is_refused_before_connecting(agent, far, files):
    (files.parent / "small").write_bytes(bytes(3001))
    writes = (["write", "ro", files.parent / "small"], ["fill", "ro", "ff"], ["bench", "ro", "--write"])
    for words in writes:
        far(*words).fails_with(REFUSED, "export ro is read-only")
    far("write", "far", "/bin/bash").fails_with(REFUSED, "does not fit into export far")
    assert "connects to export" not in agent.log()
    far("read", "near", files / "out").fails_with(REFUSED, "it needs a function of card")


def test_failed_connection_is_reported_to_its_client(agent, far, files, emulator):
    """dpumapd cannot connect its queue pair: it says so and goes on."""
    before = far("read", "far").data
    serving = emulator.objects()
    emulator.fault("--as", "dpu", "--method", "qp.modify", "--nth", 2, "--errno", "ETIMEDOUT")
    done = far("read", "far", files / "out")
    emulator.clear_faults()
    done.fails_with(CANNOT, "export far: cannot connect to the client's queue pair")
    agent.daemon.await_log("refused: export far: cannot connect.*\n.*disconnected: the peer closed the connection")
    assert far("read", "far").data == before
    emulator.await_objects(serving, ignore=["uars"])


def test_saved_descriptor_is_not_enough(far, peer):
    peer.remove("far.desc")
    far("get", "far", "far.desc").ok()
    done = far("import", "--descriptor", "far.desc")
    done.fails_with(CANNOT, "import the export by name")
    assert "RDMA export of memory" in far("info", "--descriptor", "far.desc").ok()


def test_unknown_way_and_taken_name_are_refused(agent, dpu):
    words = ["dpumapd", "--listen", f"{dpu.dir}/other", "--export"]
    done = dpu.run([*words, "name=a,kind=dram,size=4K,via=air"])
    assert done.status and 'export a: via must be pci or rdma, not "air"' in done.err
    done = agent.ctl("add", "name=far,kind=dram,size=4K,via=rdma")
    done.fails_with(REFUSED, "export far already exists")


def run_peer(agent, peer, emulator, serving):
    """The test program of the library of host agents."""
    done = peer.run(["test_peer", agent.address, agent.admin], env={"DPUMAP_LOG_LEVEL": "off"})
    assert done.status == 0, done.out + done.err
    emulator.await_objects(serving, ignore=["uars"])
    assert await_true(lambda: agent.figure("clients") == 0)


def test_many_peers_cause_no_growth(agent, far, peer, emulator):
    """Agents of the library over RDMA; dpumapd is not larger after many connections."""
    far("read", "far").ok()
    serving = emulator.objects()
    several = 1 if grows_by_nature(agent.daemon) else 3

    def peers():
        for _ in range(several):
            run_peer(agent, peer, emulator, serving)

    def peers_again():
        peers()
        agent.daemon.await_open_files(files)

    peers()
    files = agent.daemon.settled_files()
    expect_no_growth(agent.daemon, peers_again)


def test_many_clients_at_once(far, peer, emulator):
    """Readers of one export beside writers of others, which may find each other's bytes."""
    wanted = far("read", "bulk").data
    serving = emulator.objects()
    readers = [peer.start(far.words("read", "bulk")) for _ in range(6)]
    names = ["far" if i % 2 else "other" for i in range(6)]
    fills = [peer.daemon(f"fill{i}", far.words("fill", name, f"0{i}")) for i, name in enumerate(names)]
    for reader in readers:
        assert reader.communicate()[0] == wanted and reader.returncode == 0
    for fill in fills:
        fill.end("0")
    emulator.await_objects(serving, ignore=["uars"])


@pytest.fixture
def connectx5():
    """Two machines whose cards cannot export over PCI."""
    card = Emulator("--nodes", "2", "--profile", "connectx-5")
    yield card
    card.close()


def test_card_without_pci_export_serves_over_rdma(connectx5, serve):
    dpu, peer = connectx5.machine("dpu"), connectx5.machine("node1.host")
    words = ["dpumapd", "--listen", f"{dpu.dir}/socket", "--export", "name=near,kind=dram,size=64K"]
    done = dpu.run(words)
    done.fails_with(CANNOT, "export near: device mlx5_0 cannot export memory over PCI")
    exports = ("name=far,kind=dram,size=64K,via=rdma", "name=fast,kind=dm,size=16K,via=rdma")
    words = [word for export in exports for word in ("--export", export)]
    agent = serve(*by_address(dpu), *words, machine=dpu)
    far = Tool(peer, ["--connect", agent.address])
    for name in ("far", "fast"):
        crosses(far, peer, name, os.urandom(100003))
    agent.stop()
