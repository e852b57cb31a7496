# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The control channel across a card, where nothing but TLS connects the host and the DPU."""

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
SERVER = """\
listen = [ "tls:{address}:0" ];
tls = {{ cert = "{dir}/pki/dpu.crt"; key = "{dir}/pki/dpu.key"; ca = "{dir}/pki/ca.crt"; }};
admin = "{dir}/admin";
comch = {{ serve = "card"; introduce = ( {{ server = "card"; allow = [ "cert:host" ]; }} ); }};
exports = ( {{ name = "web"; kind = "dram"; size = 65536; allow = [ "cert:host" ]; }} );
"""
CLIENT = """\
connect = "{address}";
timeout = 60;
tls = {{ cert = "{dir}/pki/host.crt"; key = "{dir}/pki/host.key"; ca = "{dir}/pki/ca.crt"; }};
"""


@pytest.fixture
def server(serve, dpu, pki, state):
    """dpumapd, whose server on the control channel is found by the card and the host's function."""
    assert pki
    dpu.put({"card.conf": SERVER.format(address=state["address"], dir=dpu.dir)})
    words = f"DPUMAP_COMCH_DIR={dpu.dir}/comch "
    return serve("--config", f"{dpu.dir}/card.conf", machine=dpu, prefix=words)


@pytest.mark.question(36, 37)
def test_host_finds_the_server_of_its_card(server, host, state, answer):
    """The DPU derives the server's place from the representor, the host from its own function. The
    client imports what the server offers: the way is open both for messages and for memory."""
    host.put({"config/dpumap/dpumap.conf": CLIENT.format(address=server.address, dir=host.dir)})
    pci = host.run("hil_probe devices").ok().split("pci=")[1].split()[0]
    words = f"env XDG_CONFIG_HOME={host.dir}/config DPUMAP_COMCH_DIR={host.dir}/comch "
    requests = "ask list\\nask get web\\nuse\\nask release web\\n"
    done = host.run(f"printf '{requests}' | {words} agents_comch {pci} card")
    lines = done.out.splitlines()
    answer(36, f"{lines[0] if lines else 'nothing'}, {done.err.strip()[-300:]}", lines[:1] == ["connected"])
    answer(37, f"address {state['address']}: {done.err.strip()[-300:]}", done.status == 0)
    assert lines[:3] == ["connected", "ok|web dram 65536 rw", "ok 65536 rw"], done.err
    assert lines[3].startswith("65536 ") and lines[4] == "ok", lines


@pytest.mark.question(38)
def test_queue_pairs_across_the_card(agent, tool, host, answer):
    """An RC queue pair of the host's function, connected to one of the DPU's."""
    dpumap = tool(agent("kind=dram,size=64K,via=rdma").must_serve())
    host.run("head -c 65536 /dev/urandom >sent").ok()
    done = dpumap("write", "e0", "sent")
    answer(38, done.err.strip()[-300:] or "write and read", done.status == 0)
    done.ok()
    dpumap("read", "e0", "got").ok()
    host.run("cmp sent got").ok()


@pytest.mark.question(43)
def test_connection_by_address_across_the_card(agent, tool, properties, answer):
    """The same by the connection manager, with a ticket in the private data."""
    listen = properties.get("rdma", "listen", fallback="")
    if not listen:
        pytest.skip("the properties name no address for RDMA connections")
    serving = agent("kind=dram,size=64K,via=rdma", listen=listen).must_serve()
    done = tool(serving)("fill", "e0", "a5")
    by_address = "connects to export e0 by address" in serving.log()
    answer(43, done.err.strip()[-300:] or "a write", done.status == 0 and by_address)
    done.ok()
    assert by_address, serving.log()
