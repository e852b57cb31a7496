# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports of every kind of memory are written and read; the host exports too."""

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
SIZE = 65536


@pytest.fixture
def exported(dpu):
    """The path of a file on the DPU: devices may write only to files in memory."""
    path = dpu.run("mktemp /dev/shm/dpumap-exported.XXXXXX").ok().strip()
    dpu.run(["truncate", "-s", SIZE, path]).ok()
    yield path
    dpu.run(["rm", path]).ok()


def kind_words(kind, dpu, exported):
    """The words of an export of this kind; skips the test where the DPU lacks such memory."""
    if kind == "huge":
        free = dpu.run("awk '/^HugePages_Free/ { print $2 }' /proc/meminfo").ok()
        if int(free) < 1:
            pytest.skip("the DPU has no free huge pages: sysctl vm.nr_hugepages=8")
        return "kind=dram,size=2M,pages=huge"
    if kind == "dmabuf":
        heap = "/dev/dma_heap/system"
        if dpu.run(["test", "-r", heap]).status:
            pytest.skip(f"the DPU's user cannot open {heap}")
        return f"kind=dmabuf,size=64K,path={heap}"
    if kind == "file":
        return f"kind=file,size=max,path={exported}"
    return f"kind={kind},size=64K"


def write_read(dpumap, host):
    """Writes and reads the whole export; the host compares the files. Returns the report."""
    host.run(f"head -c {SIZE} /dev/urandom >sent").ok()
    written = dpumap.json("write", "e0", "sent")
    assert written["verified"]
    host.run("rm -f got").ok()
    assert dpumap.json("read", "e0", "got", "--length", "64K")["verified"]
    assert host.sha256("got") == host.sha256("sent")
    return written


@pytest.mark.question(1, 15)
def test_main_memory_is_shared(agent, tool, host, answer):
    """Main memory of the DPU: an indirect mkey over it is shared."""
    serving = agent("kind=dram,size=64K")
    answer(1, "accepted" if serving.ready else serving.daemon.log().strip(), serving.ready)
    written = write_read(tool(serving.must_serve()), host)
    engine = written["engine"]
    answer(15, f"{engine} with an alias as the remote key and as the local one", "MMO" in engine)


@pytest.mark.question(2, 3)
def test_device_memory_is_shared(agent, tool, host, answer):
    """Memory on the card: an indirect mkey over device memory is shared."""
    serving = agent("kind=dm,size=64K")
    seen = "accepted" if serving.ready else serving.daemon.log().strip()
    answer(2, seen, serving.ready)
    answer(3, f"{seen} on this card (section Machines)", serving.ready)
    write_read(tool(serving.must_serve()), host)


@pytest.mark.parametrize("kind", ["huge", "file", "dmabuf"])
def test_other_kinds_of_memory_are_shared(agent, tool, host, dpu, exported, kind):
    write_read(tool(agent(kind_words(kind, dpu, exported)).must_serve()), host)
    if kind == "file":
        assert dpu.sha256(exported) == host.sha256("sent")


def test_the_host_exports_to_the_dpu(machines, host, dpu):
    """The DPU imports memory of the host and copies from it."""
    where = {}
    for name, machine in machines.items():
        line = machine.run("hil_probe devices").ok().split()
        where[name] = next(word[4:] for word in line if word.startswith("pci="))
    host.run(
        "rm -rf exporting && mkdir exporting && head -c 6300001 /dev/urandom >exporting/sent"
    ).ok()
    dpu.run("rm -rf importing && mkdir importing").ok()
    command = "cd exporting; sleep 600 | host_exports-host -p {} -f sent".format(where["host"])
    exporter = host.daemon("host_exports", f"bash -c '{command}'")
    files = "descriptor.bin", "buffer.txt"
    host.run(
        "for n in $(seq 1200); do [ ! -s exporting/buffer.txt ] || exit 0; sleep 0.05; done; exit 1"
    ).ok()
    dpu.put({f"importing/{name}": host.get(f"exporting/{name}") for name in files})
    dpu.run("cd importing && host_exports-dpu -p {} -f got".format(where["dpu"])).ok()
    assert dpu.sha256("importing/got") == host.sha256("exporting/sent")
    host.run("pkill -KILL -g $(ps -o pgid= {})".format(exporter.pid))
