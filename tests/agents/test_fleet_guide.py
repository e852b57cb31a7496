# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The commands and files of docs/fleet.md, in their order. The three machines of etcd are addresses of the
loopback interface here, and directories of the system are in the test's own directory."""

import itertools
import os
import pathlib
import random
import re
import shlex
import textwrap

import pytest

from harness.etcd import free_ports
from harness.machine import await_true

pytestmark = pytest.mark.local
GUIDE = pathlib.Path(__file__).parents[2] / "docs/fleet.md"
MEMBERS = (1, 2, 3)
PATIENT = {"ETCDCTL_COMMAND_TIMEOUT": "60s", "ETCDCTL_DIAL_TIMEOUT": "60s"}  # a busy machine
# The commands of the guide that this test replaces, and why.
REPLACED = {
    "apt install": "scripts/install-deps did it",
    "systemctl restart etcd": "the test starts etcd with the same environment",
}
EXPORTS = """\
listen = [ "tls:127.0.0.1:{port}" ];
admin = "{dir}/admin";
tls = {{ cert = "{dir}/pki/{name}.crt"; key = "{dir}/pki/{name}.key"; ca = "{dir}/pki/ca.crt"; }};
exports = ( {{ name = "bulk"; kind = "dram"; size = "64K"; label = "gpu=yes"; allow = "cert:host"; }} );
"""


def blocks():
    """The indented blocks of the guide."""
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    for indented, group in itertools.groupby(lines, lambda line: line.startswith("    ")):
        if indented:
            yield textwrap.dedent("\n".join(group))


class Guide:
    """The reader, with a shell that keeps its variables, functions and directory."""

    def __init__(self, machine, root):
        self.machine, self.root = machine, root
        # An address of its own, so that the ports of etcd are free.
        self.network = f"127.{random.randrange(64, 128)}.{random.randrange(256)}."
        for place in ("etc/etcd", "etc/dpumap/etcd", "var/lib/etcd"):
            (root / place).mkdir(parents=True, mode=0o700)

    def here(self, text):
        """The text with the addresses and the paths of this test."""
        # Members see each other at 127.0.0.1, and compare that with the certificate.
        text = text.replace("=IP:192.168.100.1$n", "=IP:192.168.100.1$n,IP:127.0.0.1")
        text = text.replace("192.168.100.", self.network)
        return re.sub(r"/(etc|var/lib)/(?=etcd|dpumap)", rf"{self.root}/\1/", text)

    def run(self, text):
        """Runs commands in the reader's directory."""
        return self.machine.run(f"set -e; cd {self.root}\n{self.here(text)}", env=PATIENT).ok()

    def start_etcd(self, text):
        """Starts the members with the environment of the guide."""
        members = []
        for n in MEMBERS:
            own = re.sub(r"^(ETCD_(?!INITIAL_CLUSTER=).*)$", lambda m: self.of_member(m[1], n), text, flags=re.M)
            lines = (line.split("=", 1) for line in self.here(own).splitlines())
            members.append(self.machine.daemon(f"etcd{n}", ["etcd"], env=dict(lines)))
        return members

    @staticmethod
    def of_member(line, n):
        """A line of the first member's file in that of another one."""
        line = line.replace("192.168.100.11", f"192.168.100.1{n}").replace("etcd1", f"etcd{n}")
        return line.replace("/var/lib/etcd/dpumap", f"/var/lib/etcd/dpumap{n}")


@pytest.fixture(scope="module")
def guide(emulator, host):
    """The guide, followed to its end; the blocks of configuration files in order."""
    reader = Guide(host, emulator.dir / "guide")
    reader.files, daemons = [], []
    setup = ""
    for block in blocks():
        if block.startswith("dpumap"):
            continue  # once there are DPUs: the test below
        if block.startswith("registry = {"):
            reader.files.append(reader.here(block))
        elif block.startswith("ETCD_NAME"):
            etcd = block
        elif block.startswith("systemctl"):
            reader.run("cp etcd-pki/ca.crt etcd-pki/etcd?.* /etc/etcd/")
            reader.run("cp etcd-pki/ca.crt etcd-pki/client.* /etc/dpumap/etcd/")
            daemons += reader.start_etcd(etcd)
        elif not any(block.startswith(word) for word in REPLACED):
            # A variable or a function of one block is used in later ones.
            if block.startswith("export"):
                setup, block = block.partition("\n")[::2]
                await_healthy(reader, setup)
            reader.run(f"{setup}\n{block}")
    reader.setup = setup
    yield reader
    for daemon in daemons:
        daemon.end()


def await_healthy(reader, setup):
    last = []

    def healthy():
        last[:] = [reader.machine.run(reader.here(f"{setup}\netcdctl member list"))]
        return last[0].out.count("started") == len(MEMBERS)

    assert await_true(healthy), f"the members of the guide do not become a cluster: {last[0]}"


def etcdctl(guide, user, *words):
    """etcdctl as a user of the guide."""
    password = (guide.root / f"{user}.password").read_text(encoding="utf-8").strip()
    command = ["etcdctl", "--user", f"{user}:{password}", *words]
    return guide.machine.run(guide.here(guide.setup) + f"\n{shlex.join(command)}", env=PATIENT)


def test_roles_are_narrow(guide):
    """A DPU writes its own keys only, and hosts write nothing."""
    root = "/dpumap/v1/lab"
    allowed = [("dpu1", f"{root}/dpus/dpu1"), ("dpu1", f"{root}/exports/dpu1/bulk")]
    denied = [
        ("dpu1", f"{root}/dpus/dpu2"),
        ("dpu1", f"{root}/dpus/dpu10"),
        ("dpu1", f"{root}/exports/dpu10/bulk"),
        ("dpu1", "/dpumap/v1/other/dpus/dpu1"),
        ("hosts", f"{root}/dpus/dpu1"),
        ("hosts", f"{root}/exports/dpu1/bulk"),
    ]
    for user, key in allowed:
        etcdctl(guide, user, "put", key, "{}").ok()
        etcdctl(guide, user, "del", key).ok()
    for user, key in denied:
        assert "permission denied" in etcdctl(guide, user, "put", key, "{}").fails(1), (user, key)
    etcdctl(guide, "hosts", "get", "--prefix", f"{root}/").ok()
    assert "permission denied" in etcdctl(guide, "hosts", "get", "--prefix", "/dpumap/").fails(1)


def test_strangers_are_refused(guide):
    """Who has no certificate of the guide's CA cannot even list leases."""
    url = "https://192.168.100.11:2379/v3/lease/leases"
    words = guide.here(f"curl -sS --max-time 20 --cacert /etc/etcd/ca.crt -X POST -d '{{}}' {url}")
    member = guide.here(" --cert /etc/etcd/client.crt --key /etc/etcd/client.key".replace("/etc/etcd", "/etc/dpumap/etcd"))
    assert "cluster_id" in guide.machine.run(words + member).ok()
    stranger = guide.machine.run(words)
    assert stranger.status != 0 and "cluster_id" not in stranger.out


def test_fleet_of_the_guide_works(guide, host, dpu, pki, serve):
    """The files of the guide make a DPU that publishes and a host that finds it."""
    for name in ("password", "dpu1.password"):
        (guide.root / "etc/dpumap/etcd" / name).write_bytes((guide.root / "dpu1.password").read_bytes())
    pki.tool("issue", "--dpu", "dpu1", "--san", "127.0.0.1")
    for name in ("dpu1.crt", "dpu1.key"):
        dpu.put({f"pki/{name}": host.get(f"pki/{name}")})
    for path in (guide.root / "etc/dpumap/etcd").iterdir():
        path.chmod(0o600)
    dpu_part, host_part = guide.files
    dpu.put({"guide.conf": EXPORTS.format(dir=dpu.dir, name="dpu1", port=free_ports(1)[0]) + dpu_part})
    hosts_password = guide.root / "hosts.password"
    host_part = host_part.replace(f"{guide.root}/etc/dpumap/etcd/password", str(hosts_password))
    tls = " ".join(f'{key} = "{host.dir}/pki/{file}";' for key, file in (("cert", "host.crt"), ("key", "host.key"), ("ca", "ca.crt")))
    host.put({"home/.config/dpumap/dpumap.conf": f"tls = {{ {tls} }};\n{host_part}"})
    os.chmod(f"{host.dir}/home/.config/dpumap/dpumap.conf", 0o600)
    serve("--config", f"{dpu.dir}/guide.conf")
    assert await_true(lambda: "dpu1:bulk" in host.run("dpumap --fleet lab list").out)
    ran = [line for block in blocks() if block.startswith("dpumap") for line in block.splitlines()]
    assert "dpumap fleet status" in ran and len(ran) > 4
    for line in ran:
        if not line.endswith(("watch",)) and "firmware.bin" not in line:
            host.run(line).ok()
    host.run("head -c 5000 /dev/urandom >firmware.bin").ok()
    host.run("dpumap --fleet lab cp firmware.bin dpu1:bulk").ok()
    assert "dpu1:bulk" in host.run("dpumap --fleet lab list 'dpu*:bulk' --label gpu=yes").ok()
    assert len(re.findall("healthy|leader", host.run("dpumap fleet status").ok())) == len(MEMBERS)
