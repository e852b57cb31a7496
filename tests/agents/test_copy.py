# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Files of all sizes go through exports of both kinds and come back."""

import os
import re

import pytest

from harness.agents import LOST

pytestmark = pytest.mark.usefixtures("nothing_left")
SIZES = (0, 1, 3, 65535, 65536, 65537, 1000003)
ENGINE = os.environ.get("DPUMAP_TEST_ENGINE", "MMO DMA")
LARGE = int(os.environ.get("DPUMAP_COPY_BYTES", "50000000"))


def copies_there_and_back(dpumap, host, size):
    """A file of this size; dpumap reports three equal digests, those of sha256sum, the engine and the speed."""
    host.put({"sent": os.urandom(size)})
    host.remove("got")
    report = dpumap("cp", "sent", "e0", "got", "--sha256").ok()
    digest = host.sha256("sent")
    assert host.sha256("got") == digest
    assert report.count(digest) == 3, report
    assert re.search(r"^descriptor +[1-9]\d* bytes", report, re.M), report
    assert " MB/s " in report
    return report


@pytest.mark.parametrize("export", ["kind=dm,size=64K", "kind=dram,size=16M"])
def test_files_of_all_sizes_come_back(agent, tool, host, export):
    dpumap = tool(agent(export).must_serve())
    for size in SIZES:
        copies_there_and_back(dpumap, host, size)


@pytest.mark.local
@pytest.mark.parametrize("export", ["kind=dm,size=64K", "kind=dram,size=16M"])
def test_copy_reports_engine(agent, tool, host, export):
    dpumap = tool(agent(export).must_serve())
    assert ENGINE in copies_there_and_back(dpumap, host, 1)


def test_export_of_four_bytes_carries_a_file(agent, tool, host):
    copies_there_and_back(tool(agent("kind=dm,size=4,align=4K").must_serve()), host, 1003)


@pytest.mark.local
def test_large_file_comes_back(agent, tool, host):
    """Between two machines test_bulk_data_arrives_intact does it."""
    copies_there_and_back(tool(agent("kind=dram,size=16M").must_serve()), host, LARGE)


def test_write_and_read_at_odd_offsets(agent, tool, host):
    dpumap = tool(agent("kind=dram,size=16M", "kind=dm,size=64K").must_serve())
    host.put({"sent": os.urandom(300001)})
    host.remove("got", "part")
    dpumap("write", "e0", "sent", "--offset", "777777").ok()
    dpumap("read", "--offset=777777", "e0", "got", "--length", "300001").ok()
    assert host.get("got") == host.get("sent")
    dpumap("read", "e0", "part", "-o", "777787", "-n", "13").ok()
    assert host.get("part") == host.get("sent")[10:23]
    host.put({"sent": os.urandom(4099)})
    host.remove("got")
    dpumap("write", "e1", "sent", "-o", "1").ok()
    dpumap("read", "e1", "got", "-o", "1", "-n", "4099").ok()
    assert host.get("got") == host.get("sent")


def test_new_export_is_zero(agent, tool, host):
    dpumap = tool(agent("kind=dram,size=12345,perm=ro").must_serve())
    host.remove("got")
    dpumap("read", "e0", "got").ok()
    assert host.get("got") == bytes(12345)


@pytest.mark.local
def test_concurrent_writer_is_noticed(agent, tool, host, files):
    """Another client writes to the export during the copy: its digest or the copy differs, and no file
    stays. A copy that it does not hit is exact."""
    dpumap = tool(agent("kind=dm,size=64K").must_serve())
    host.put({"noise": os.urandom(65536), "sent": b""})
    os.truncate(f"{host.dir}/sent", LARGE + 18_000_000)
    loop = f"while :; do {dpumap.command('write', 'e0', 'noise')}; done"
    noise = host.daemon("noise", loop)
    for _ in range(30):
        done = dpumap("cp", "sent", "e0", f"{files}/got")
        if done.status:
            break
        host.run(["cmp", "sent", f"{files}/got"]).ok()
        host.remove(f"{files}/got")
    noise.end("KILL")
    done.fails_with(LOST, "the copy is corrupt")
    assert re.search("THE DIGESTS DIFFER|THE COPY DIFFERS FROM ITS SOURCE", done.out), done.out


@pytest.mark.local
def test_info_counts_device_memory(agent, tool):
    """What is exported, 64 KiB and 4 bytes."""
    info = tool(agent("kind=dm,size=64K", "kind=dm,size=4,align=4K").must_serve())("info").ok()

    def figure(name):
        return int(re.search(rf"^  {name} .*\((\d+) bytes\)$", info, re.M)[1])

    assert figure("exported") == 65536 + 4 < figure("total"), info
    assert re.search(r"^device +mlx5_0 of the DPU$", info, re.M), info


def test_list_and_info_describe_exports(agent, tool):
    dpumap = tool(agent("kind=dm,size=64K", "kind=dram,size=12345,perm=ro").must_serve())
    table = dpumap("list").ok()
    assert re.search(r"^e0 +dm +64K +read-write +PCI$", table, re.M), table
    assert re.search(r"^e1 +dram +12345 +read-only +PCI$", table, re.M), table
    assert re.search("^kind .*device memory", dpumap("info", "e0").ok(), re.M)
    for pattern, names in (("e*", ["e0", "e1"]), ("?1", ["e1"]), ("e0", ["e0"]), ("0", [])):
        assert [one["name"] for one in dpumap.json("list", pattern)["exports"]] == names
        assert [line.split()[0] for line in dpumap("list", pattern).ok().splitlines()[1:]] == names


def test_both_agents_list_exports_alike(agent, tool):
    """The daemon adds columns and members of its own after those of the tool."""
    server = agent("kind=dm,size=64K", "kind=dram,size=12345,perm=ro").must_serve()
    dpumap = tool(server)
    ours, theirs = dpumap("list").ok().splitlines(), server.ctl("list").ok().splitlines()
    assert len(ours) == len(theirs) == 3
    for line, longer in zip(ours, theirs):
        assert longer.startswith(line + " "), theirs
    assert theirs[0].split()[5:] == ["IMPORTS", "OUTSTANDING", "ALLOW"]
    ours, theirs = dpumap("--json", "list").ok(), server.ctl("--json", "list").ok()
    members = [line for line in ours.splitlines() if re.match(' +"(name|kind|size|perm)"', line)]
    assert len(members) == 8 and not set(members) - set(theirs.splitlines()), theirs


def test_descriptor_file_is_private(agent, tool, host):
    dpumap = tool(agent("kind=dm,size=64K").must_serve())
    host.remove("e0.desc")
    host.run("umask 0; " + dpumap.command("get", "e0", "e0.desc")).ok()
    assert host.mode("e0.desc") == "600"
    assert "65536 bytes" in host.run(["dpumap", "info", "--descriptor", "e0.desc"]).ok()


def test_overwritten_file_keeps_its_mode(agent, tool, host):
    """A descriptor is a secret: other users lose their access."""
    dpumap = tool(agent("kind=dram,size=64K").must_serve())
    for words, mode in (
        (("read", "e0", "kept"), "600"),
        (("read", "e0", "kept"), "664"),
        (("cp", "/etc/passwd", "e0", "kept"), "600"),
        (("get", "e0", "kept"), "640"),
    ):
        host.run(f"rm -f kept; echo old >kept; chmod {mode} kept").ok()
        host.run("umask 022; " + dpumap.command(*words)).ok()
        assert host.mode("kept") == mode, words
    host.run("chmod 644 kept").ok()
    dpumap("get", "e0", "kept").ok()
    assert host.mode("kept") == "640"


def test_copy_into_a_pipe_is_silent(agent, tool, host):
    """No progress bar, and nothing else on stderr, where that is not a terminal."""
    host.remove("got")
    done = tool(agent("kind=dram,size=16M").must_serve())("cp", "/bin/sh", "e0", "got")
    done.ok()
    assert not done.err
