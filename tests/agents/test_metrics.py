# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What /metrics gives is what docs/metrics.md says, and counts what clients do."""

import re

import pytest

from harness.agents import ABSENT
from harness.metrics import described, parse, scrape

pytestmark = pytest.mark.local
CONFIG = """listen = [ "unix:{dir}/socket" ];
admin = "{dir}/admin";
metrics = "{dir}/metrics";
exports = ( {{ name = "a"; kind = "dram"; size = 65536; allow = [ "*" ]; }},
	{{ name = "r"; kind = "dram"; size = 65536; via = "rdma"; allow = [ "*" ]; }} );
"""


@pytest.fixture
def agent(serve, dpu):
    dpu.put({"dpumapd.conf": CONFIG.format(dir=dpu.dir)})
    return serve("--config", f"{dpu.dir}/dpumapd.conf")


def test_page_is_what_dpumapd_gives(agent, dpu):
    """Without a registry and certificates; test_registry.py and test_reload.py have them."""
    metrics, samples = parse(scrape(f"{dpu.dir}/metrics"))
    page = {name: words for name, words in described().items() if not re.search("registry|_end_seconds", name)}
    assert metrics == page
    kinds = {name for name in samples if "{" in name}
    assert kinds == {
        f'{name}{{kind="{kind}"}}'
        for name in ("dpumapd_exports", "dpumapd_exported_bytes")
        for kind in ("dm", "dram", "file", "dmabuf")
    }
    assert samples['dpumapd_exports{kind="dram"}'] == 2 and samples['dpumapd_exported_bytes{kind="dram"}'] == 131072


def test_counters_count(agent, dpu, tool):
    _, before = parse(scrape(f"{dpu.dir}/metrics"))
    tool(agent)("write", "r", "/etc/hostname").ok()
    tool(agent)("read", "r", f"{dpu.dir}/out").ok()
    tool(agent)("info", "none").fails(ABSENT)
    _, after = parse(scrape(f"{dpu.dir}/metrics"))
    more = {name.removeprefix("dpumapd_"): after[name] - before[name] for name in after}
    for name in "connections requests gets errors hashed_bytes device_reads device_writes".split():
        assert more[f"{name}_total"] > 0, (name, more)
    assert more["device_received_bytes_total"] > 0 and more["device_sent_bytes_total"] > 65536
    assert more["device_access_errors_total"] == 0
