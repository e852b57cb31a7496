# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd with a configuration: TLS, allow lists, and what changes while it runs."""

import json
import os
import pwd
import re
import socket

import pytest

from harness.agents import ABSENT, LOST, REFUSED, WRONG, Tool

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

CONFIG = """\
listen = [ "tls:127.0.0.1:0", "unix:{socket}" ];
tls = {{ cert = "{pki}/dpu.crt"; key = "{pki}/dpu.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
admin = "{dir}/admin";
metrics = "{dir}/metrics";
exports = ( {exports} );
"""
FOR_WEB = '{ name = "web"; kind = "dram"; size = "1M"; allow = [ "cert:web" ]; }'
FOR_ALL = (
    '{ name = "all"; kind = "dm"; size = 4096; perm = "ro"; allow = [ "cert:web", "cert:db" ]; }'
)


@pytest.fixture(scope="module")
def pki(openssl_pki):
    for name in ("web", "db", "nobody", "gone"):
        openssl_pki.issue(name, "clientAuth")
    return openssl_pki


class Configured:
    """dpumapd, its configuration and the tools of its clients."""

    def __init__(self, serve, host, dpu, pki):
        self.serve, self.host, self.dpu, self.pki = serve, host, dpu, pki
        self.path = f"{dpu.dir}/dpumapd.conf"
        self.agent = None

    def write(self, *exports, more=""):
        words = {"pki": self.pki.dir, "dir": self.dpu.dir, "socket": f"{self.dpu.dir}/socket"}
        self.dpu.put({"dpumapd.conf": CONFIG.format(exports=", ".join(exports), **words) + more})

    def start(self):
        self.agent = self.serve("--config", self.path)
        return self

    def tool(self, name):
        """dpumap over TLS with the certificate of this name."""
        certificate = ("--cert", self.pki.path(f"{name}.crt"), "--key", self.pki.path(f"{name}.key"))
        options = ("--connect", self.agent.address, *certificate, "--ca", self.pki.path("ca.crt"))
        return Tool(self.host, options)

    def reload(self):
        """By a signal."""
        self.agent.daemon.signal("HUP")
        self.agent.daemon.await_log("^dpumapd: configuration reloaded$")


@pytest.fixture
def configured(serve, host, dpu, pki):
    made = Configured(serve, host, dpu, pki)
    made.write(FOR_WEB, FOR_ALL)
    return made.start()


def names(dpumap):
    return {export["name"] for export in dpumap.json("list")["exports"]}


def test_clients_see_only_their_exports(configured):
    assert names(configured.tool("web")) == {"web", "all"}
    assert names(configured.tool("db")) == {"all"}


def test_data_crosses_over_tls(configured):
    web, data = configured.tool("web"), os.urandom(1000000)
    web("write", "web", data=data).ok()
    assert web("read", "web", "--length", "1000000").data == data
    configured.agent.daemon.await_log("cert:web at .* gets export web")


def test_clients_that_are_not_allowed_are_refused(configured, files):
    done = configured.tool("db")("read", "web", files / "none")
    done.fails_with(ABSENT, 'no export called "web" that cert:db may import')
    done = configured.tool("nobody")("list")
    done.fails_with(REFUSED, "cert:nobody may not import from this dpumapd")
    configured.agent.daemon.await_log(
        r"cert:db at 127.0.0.1:\d* refused: .* \"web\" .* its allow setting does not contain the client"
    )
    assert not re.search("BEGIN|PRIVATE", configured.agent.log(), re.I), "the log has a key"


def test_tool_without_dpumapd_fails(host, work):
    done = Tool(host, ["--connect", f"unix:{work}/nowhere"])("list")
    done.fails_with(ABSENT, "cannot connect|closed|not found|No such")


def test_example_of_a_host_agent_reads(configured, host):
    """With the same certificates."""
    configured.tool("web")("write", "web", data=b"an agent reads this".ljust(64)).ok()
    words = [configured.pki.path(name) for name in ("web.crt", "web.key", "ca.crt")]
    done = host.run(["example_host_agent", configured.agent.address, "web", *words])
    assert done.ok().startswith("an agent reads this")


def test_exports_are_added_and_removed(configured):
    agent, db = configured.agent, configured.tool("db")
    agent.ctl("add", "name=extra,kind=dram,size=64K,allow=cert:db").ok()
    assert "extra" in names(db)
    agent.ctl("add", "name=extra,kind=dram,size=64K").fails_with(REFUSED, "already")
    agent.ctl("add", "name=more,kind=dram").fails(WRONG)
    agent.ctl("remove", "extra").ok()
    agent.ctl("remove", "extra").fails_with(ABSENT, "no export called")
    db("read", "extra").fails_with(ABSENT, "no export called")
    assert len(json.loads(agent.ctl("--json", "list").ok())["exports"]) == 2
    assert agent.figure("exports") == 2


def test_file_is_exported(configured, work):
    source = work / "source"
    source.write_bytes(os.urandom(8192))
    web = configured.tool("web")
    configured.agent.ctl(
        "add", f"name=file,kind=file,path={source},size=max,perm=ro,allow=cert:web"
    ).ok()
    assert web("read", "file").data == source.read_bytes()
    web("write", "file", source).fails_with(REFUSED, "permitted|read-only")


def test_dma_buf_of_the_administrator_is_exported(configured):
    """The emulated card takes a memfd for one."""
    fd = os.memfd_create("buffer")
    try:
        os.write(fd, b"b" * 65536)
        export = f"name=buffer,kind=dmabuf,fd={fd},size=max,allow=cert:web"
        configured.agent.ctl("add", export, pass_fds=[fd]).ok()
    finally:
        os.close(fd)
    assert configured.tool("web")("read", "buffer").data == b"b" * 65536
    configured.agent.ctl("remove", "buffer").ok()
    done = configured.agent.ctl("add", "name=buffer,kind=dmabuf,fd=9,size=4K")
    done.fails_with(LOST, "Bad file descriptor")


def test_reload_keeps_what_is_the_same(configured):
    """Exports with their bytes, and those that an administrator has added; the rest changes."""
    web, data = configured.tool("web"), os.urandom(100000)
    web("write", "web", data=data).ok()
    configured.agent.ctl("add", "name=extra,kind=dram,size=64K,allow=cert:web").ok()
    configured.write(FOR_WEB, FOR_ALL.replace('"ro"', '"rw"').replace(', "cert:db"', ""))
    configured.reload()
    assert web("read", "web", "--length", str(len(data))).data == data
    assert web("write", "all", data=data[:8192]).status != 0, "a write that does not fit"
    web("write", "all", data=data[:4096]).ok()
    done = configured.tool("db")("read", "all")
    done.fails(ABSENT, REFUSED)
    assert "extra" in names(web)


def test_reload_of_an_invalid_configuration_changes_nothing(configured):
    configured.write(FOR_WEB, FOR_ALL, more="nonsense = 1;\n")
    done = configured.agent.ctl("reload")
    done.fails_with(REFUSED, r"dpumapd.conf:\d+: nonsense is not a setting")
    assert names(configured.tool("web")) == {"web", "all"}


def test_revoked_certificate_is_refused_after_reload(configured):
    configured.write(FOR_ALL.replace("cert:db", "cert:gone"))
    configured.reload()
    gone = configured.tool("gone")
    gone("list").ok()
    configured.pki.revoke("gone")
    configured.agent.ctl("reload").ok()
    gone("list").fails_with(REFUSED, "revoked")


def test_metrics_count(configured):
    configured.tool("web")("import", "web").ok()
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{configured.dpu.dir}/metrics")
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        data = b"".join(iter(lambda: s.recv(65536), b""))
    head, body = data.decode().split("\r\n\r\n", 1)
    assert head.startswith("HTTP/1.0 200"), head
    assert re.search(r'^dpumapd_exports{kind="dram"} 1$', body, re.M), body
    assert re.search("^dpumapd_gets_total [1-9]", body, re.M), body


def test_files_with_wrong_modes_are_refused(configured, dpu, work):
    os.chmod(configured.path, 0o666)
    done = dpu.run(["dpumapd", "--config", configured.path, "--check"])
    done.fails_with(REFUSED, "dpumapd.conf has mode 0666")
    os.chmod(configured.path, 0o644)
    key = configured.pki.path("dpu.key")
    os.chmod(key, 0o644)
    try:
        done = dpu.run(["dpumapd", "--config", configured.path, "--listen", f"unix:{work}/other"])
        done.fails_with(REFUSED, "dpu.key has mode 0644")
    finally:
        os.chmod(key, 0o600)
    dpu.run(["dpumapd", "--config", configured.path, "--check"]).ok()


def test_end_removes_all_sockets(configured):
    configured.agent.stop()
    for name in ("admin", "metrics", "socket"):
        assert not os.path.exists(f"{configured.dpu.dir}/{name}"), name


def test_privileges_are_dropped_after_the_start(emulator, serve, dpu, host):
    """Exports and a reload work without them."""
    if os.getuid() != 0:
        pytest.skip("only root has privileges to drop")
    user = pwd.getpwnam("nobody")
    place = emulator.dir / "run"
    place.mkdir(exist_ok=True)
    for path in (emulator.dir, emulator.dir / "dpu"):
        path.chmod(0o755)
    os.chown(place, user.pw_uid, user.pw_gid)
    dpu.put(
        {
            "nobody.conf": f'listen = [ "unix:{place}/socket" ];\nuser = "nobody";\n'
            'exports = ( { name = "a"; kind = "dram"; size = "64K"; allow = [ "uid:0" ]; } );\n'
        }
    )
    os.chmod(f"{dpu.dir}/nobody.conf", 0o644)
    agent = serve("--config", f"{dpu.dir}/nobody.conf")
    with open(f"/proc/{agent.daemon.pid}/status", encoding="utf-8") as file:
        status = file.read()
    assert re.search(rf"^Uid:(\s{user.pw_uid}){{4}}$", status, re.M), status
    assert re.search(r"^NoNewPrivs:\s1$", status, re.M), status
    dpumap, data = Tool(host, ["--connect", agent.address]), os.urandom(4096)
    dpumap("write", "a", data=data).ok()
    agent.daemon.signal("HUP")
    agent.daemon.await_log("^dpumapd: configuration reloaded$")
    assert dpumap("read", "a", "--length", "4096").data == data
