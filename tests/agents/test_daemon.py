# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd with a configuration: TLS, allow lists, and what changes while it runs."""

import json
import os
import pathlib
import pwd
import re

import pytest

from harness.agents import ABSENT, LOST, REFUSED, WRONG, Tool
from harness.metrics import parse, scrape
from harness.pki import Pki

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


@pytest.mark.parametrize("how, reason", [("revoked", "is revoked"), ("foreign", "was not issued by a CA")])
def test_watch_ends_when_its_certificate_is_refused(configured, work, how, reason):
    """It says why, also as JSON. A server that is only gone is waited for."""
    name = f"{how}-watch"
    configured.pki.issue(name, "clientAuth")
    configured.write(FOR_WEB, FOR_ALL.replace("cert:db", f"cert:{name}"))
    configured.reload()
    watches = [configured.tool(name).daemon(f"{name}{json}", "watch", *json) for json in ((), ("--json",))]
    for watch in watches:
        watch.await_output("watching")
    if how == "revoked":
        configured.pki.revoke(name)
    else:
        other = Pki(work / "other")
        text = pathlib.Path(configured.path).read_text(encoding="utf-8")
        ca, crl = (f"{configured.pki.dir}/{file}" for file in ("ca.crt", "ca.crl"))
        configured.dpu.put(
            {"dpumapd.conf": text.replace(ca, other.path("ca.crt")).replace(crl, other.path("ca.crl"))}
        )
    configured.agent.ctl("reload").ok()
    for watch in watches:
        assert watch.end("0") == REFUSED, watch.log()
        assert re.search(f"dpumapd refuses this host: its certificate {reason}", watch.log()), watch.log()
    assert re.search("^lost .*closed the connection", watches[0].out(), re.M), watches[0].out()
    lost = [json.loads(line) for line in watches[1].out().splitlines()][-1]
    assert lost["event"] == "lost" and "closed the connection" in lost["problem"]


def test_metrics_count_exports_and_gets(configured):
    configured.tool("web")("import", "web").ok()
    _, samples = parse(scrape(f"{configured.dpu.dir}/metrics"))
    assert samples['dpumapd_exports{kind="dram"}'] == 1 and samples["dpumapd_gets_total"] >= 1


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


DEFECTS = {
    "key that others can read": (lambda c: os.chmod(c.own["dpu.key"], 0o640), "mode 0640"),
    "key of another certificate": (lambda c: c.swap("dpu.key", "web.key"), "dpu.key"),
    "certificate that is none": (lambda c: c.dpu.put({"own/dpu.crt": "none"}), "dpu.crt"),
    "list that is missing": (lambda c: os.remove(c.own["ca.crl"]), "ca.crl"),
    "NUL in the configuration": (lambda c: c.add("\0 max_clients = 0;"), "NUL"),
    "no clients": (lambda c: c.add("max_clients_per_identity = 0;"), "from 1 to 4096"),
    "no time for clients": (lambda c: c.add("client_timeout = 0;"), "seconds from 1 to 3600"),
    "more than an hour": (lambda c: c.add("client_timeout = 3601;"), "seconds from 1 to 3600"),
    "time in words": (lambda c: c.add('client_timeout = "10s";'), "seconds from 1 to 3600"),
    "metrics for all": (lambda c: c.add('metrics = "0.0.0.0:0";'), "loopback"),
    "unknown user": (lambda c: c.add('user = "no-such-user";'), "no-such-user does not exist"),
    "unknown group": (lambda c: c.add('user = "root"; group = "no-such-group";'), "no-such-group"),
    "missing file": (lambda c: c.export('kind = "file"; path = "/no/such"; size = "max";'), "/no/such"),
    "short file": (lambda c: c.export('kind = "file"; path = "/etc/passwd"; size = "1T";'), "1099511627776"),
}


class Defective:
    """A configuration with files of its own, to be spoiled."""

    text = """\
listen = [ "tls:127.0.0.1:0", "unix:{dir}/socket" ];
tls = {{ cert = "{own}/dpu.crt"; key = "{own}/dpu.key"; ca = "{own}/ca.crt"; crl = "{own}/ca.crl"; }};
exports = ( {{ name = "e"; size = 4096; perm = "ro"; allow = [ "*" ]; {export} }} );
"""

    def __init__(self, dpu, pki):
        self.dpu, self.pki, self.more, self.memory = dpu, pki, "", 'kind = "dram";'
        names = ("dpu.crt", "dpu.key", "ca.crt", "ca.crl")
        self.own = {name: f"{dpu.dir}/own/{name}" for name in names}
        for name in names:
            self.swap(name, name)
        self.write()

    def swap(self, name, other):
        self.dpu.put({f"own/{name}": pathlib.Path(self.pki.path(other))})
        os.chmod(self.own[name], 0o600)

    def write(self):
        text = self.text.format(dir=self.dpu.dir, own=f"{self.dpu.dir}/own", export=self.memory)
        if "size" in self.memory:
            text = text.replace("size = 4096; ", "")
        self.dpu.put({"defective.conf": text + self.more})

    def add(self, text):
        self.more = text
        self.write()

    def export(self, text):
        self.memory = text
        self.write()

    def run(self, *words):
        return self.dpu.run(["dpumapd", "--config", f"{self.dpu.dir}/defective.conf", *words])


@pytest.mark.parametrize("defect", DEFECTS)
def test_check_refuses_what_the_start_refuses(dpu, pki, defect):
    spoil, pattern = DEFECTS[defect]
    configuration = Defective(dpu, pki)
    configuration.run("--check").ok()
    spoil(configuration)
    checked, started = configuration.run("--check"), configuration.run()
    assert checked.status == started.status > 0, checked.err + started.err
    assert checked.err.splitlines() == started.err.splitlines()[:1]
    assert pattern in checked.err


AS_SERVICE = """\
grep -v ^dpumap: /etc/passwd > {dir}/passwd && echo dpumap:x:65533:65533::/:/bin/false >> {dir}/passwd &&
mount --bind {dir}/passwd /etc/passwd && exec dpumapd --config {dir}/defective.conf --check"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("setting", ["", 'user = "nobody";'], ids=["service", "setting"])
def test_check_by_root_is_for_the_user_that_reads_the_files(dpu, pki, setting):
    """The user of the service, if there is no setting. Its key may have been copied by root."""
    for path in (dpu.dir, os.path.dirname(dpu.dir)):
        os.chmod(path, 0o755)
    configuration = Defective(dpu, pki)
    configuration.add(setting)
    os.chmod(f"{dpu.dir}/own", 0o755)
    os.chmod(f"{dpu.dir}/defective.conf", 0o644)
    for name in ("dpu.crt", "ca.crt", "ca.crl"):
        os.chmod(configuration.own[name], 0o644)
    user, uid = ("nobody", 65534) if setting else ("dpumap", 65533)
    where = "setting user" if setting else "the user of dpumapd.service"

    def check():
        return dpu.run(["unshare", "--mount", "sh", "-c", AS_SERVICE.format(dir=dpu.dir)])

    key = configuration.own["dpu.key"]
    message = f"user {uid} cannot read {key}: use chown .checked for user {user}, {where}."
    check().fails_with(REFUSED, message)
    os.chown(key, uid, uid)
    assert f"dpumapd: valid for user {user}" in check().ok()
    os.chmod(configuration.own["ca.crl"], 0o600)
    check().fails_with(REFUSED, f"user {uid} cannot read .*ca.crl: use chmod")
    os.chmod(os.path.dirname(dpu.dir), 0o700)


def test_check_says_whose_files_it_has_read(dpu, pki):
    told = Defective(dpu, pki).run("--check").ok()
    assert re.fullmatch(r"dpumapd: valid for (root; there is no user dpumap, .*|user \w+.*)\n", told)


def test_user_of_the_service_is_that_of_the_unit():
    root = pathlib.Path(__file__).resolve().parents[2]
    unit = (root / "dpu/dpumapd.service.in").read_text(encoding="utf-8")
    header = (root / "dpu/base/privileges.h").read_text(encoding="utf-8")
    name = re.search('#define PRIVILEGES_SERVICE_USER "(.*)"', header)[1]
    assert re.search("^User=(.*)$", unit, re.M)[1] == name
    assert f"\nu {name} " in (root / "dpu/dpumap.sysusers").read_text(encoding="utf-8")


def test_admin_socket_is_only_for_its_owner(dpu):
    """Its clients do not authenticate, so it is never an address that others can reach."""
    words = ["dpumapd", "--export", "name=a,kind=dram,size=4K", "--listen", f"unix:{dpu.dir}/socket"]
    dpu.run([*words, "--admin", "tls:127.0.0.1:0", "--check"]).fails_with(REFUSED, "admin socket must be")
    dpu.run([*words, "--admin", "tls:127.0.0.1:0"]).fails_with(REFUSED, "admin socket must be")


def test_nul_in_a_key_file_hides_nothing(dpu, work):
    """The rest of the line would not count."""
    key = "00" * 32
    dpu.put({"keys": f"one:{key}\ntwo:{key}\0\nthree:{key}\n"})
    os.chmod(f"{dpu.dir}/keys", 0o600)
    words = ["dpumapd", "--export", "name=a,kind=dram,size=4K", "--psk", f"{dpu.dir}/keys"]
    done = dpu.run([*words, "--listen", "tls:127.0.0.1:0", "--check"])
    done.fails_with(REFUSED, "keys:2: not NAME:KEY")


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
