# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports of main memory on huge pages and on a NUMA node, as far as this machine has them."""

import pathlib
import re

import pytest

from harness.agents import ABSENT, CANNOT

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]
QUIET = {"DPUMAP_LOG_LEVEL": "off"}


def free_huge_pages():
    text = pathlib.Path("/proc/meminfo").read_text(encoding="utf-8")
    found = dict(re.findall(r"^HugePages_(Free|Rsvd): +(\d+)", text, re.M))
    return int(found.get("Free", 0)) - int(found.get("Rsvd", 0))


def refused(dpu, words):
    return dpu.run(
        ["dpumapd", "--listen", f"{dpu.dir}/other", "--export", f"name=x,{words}"], env=QUIET
    )


def crosses(dpumap, host):
    host.run("head -c 300001 /dev/urandom >sent; rm -f got").ok()
    dpumap("cp", "sent", "near", "got").ok()
    assert host.get("got") == host.get("sent")


def test_memory_comes_from_the_given_node(serve, tool, host, dpu):
    """A kernel may have none, and user-mode emulation of a processor has none."""
    absent = refused(dpu, "kind=dram,size=1M,node=65535")
    if "on NUMA node 65535: operation not supported" in absent.err:
        pytest.skip("the kernel has no NUMA nodes")
    absent.fails_with(ABSENT, "on NUMA node 65535: not found")
    crosses(tool(serve("--export", "name=near,kind=dram,size=1M,node=0")), host)


def test_memory_comes_from_huge_pages(serve, tool, host):
    before = free_huge_pages()
    if before < 1:
        pytest.skip("no free huge pages")
    serving = serve("--export", "name=near,kind=dram,size=1M,pages=huge")
    assert free_huge_pages() < before, "no huge page was taken"
    crosses(tool(serving), host)


def test_too_many_huge_pages_are_refused(dpu):
    done = refused(dpu, "kind=dram,size=900G,pages=huge")
    done.fails_with(CANNOT, "bytes of huge pages .*: (out of memory|operation not supported)")
