# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The authority of `dpumap pki`: openssl accepts its certificates, and dpumapd and dpumap work with
them."""

import json
import os
import pathlib
import shutil
import stat

import pytest

from harness.agents import ABSENT, CANNOT, LOST, REFUSED, WRONG, Tool
from harness.emulator import local_environment
from harness.machine import LocalMachine

pytestmark = pytest.mark.local
DAY = 86400


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Authority:
    """A directory of `dpumap pki`, by default the user's, and what openssl thinks of it."""

    def __init__(self, machine, directory=None):
        self.machine = machine
        home = pathlib.Path(machine.environment["HOME"])
        self.dir = pathlib.Path(directory or home / ".config/dpumap/pki")
        self.words = ["--dir", str(directory)] if directory else []

    def __call__(self, *words):
        return self.machine.run(["dpumap", "pki", *words, *self.words])

    def openssl(self, *words):
        return self.machine.run(["openssl", *map(str, words)])

    def path(self, name):
        return str(self.dir / name)

    def states(self):
        """NAME:ROLE:STATE of all certificates."""
        found = json.loads(self("list", "--json").ok())["certificates"]
        return " ".join("{name}:{role}:{state}".format(**one) for one in found)

    def is_good_for(self, name, purpose):
        """Whether openssl, with the revocation list, accepts the certificate for the purpose."""
        words = ["-x509_strict", "-crl_check", "-CAfile", self.path("ca.crt")]
        words += ["-CRLfile", self.path("ca.crl"), "-purpose", purpose, self.path(f"{name}.crt")]
        return self.openssl("verify", *words).status == 0

    def is_valid_after(self, name, days):
        words = ["-in", self.path(f"{name}.crt"), "-noout", "-checkend", days * DAY]
        return self.openssl("x509", *words).status == 0

    def show(self, name, *words):
        return self.openssl("x509", "-in", self.path(f"{name}.crt"), "-noout", *words).ok()

    def list_number(self):
        text = self.openssl("crl", "-in", self.path("ca.crl"), "-noout", "-crlnumber").ok()
        return int(text.strip().removeprefix("crlNumber="), 16)

    def revoked(self):
        """How many certificates the list has."""
        text = self.openssl("crl", "-in", self.path("ca.crl"), "-noout", "-text").ok()
        return text.count("Serial Number:")


def new_machine(directory):
    """This machine with a home in the directory."""
    place = directory / "machine"
    place.mkdir()
    return LocalMachine("here", place, local_environment(directory))


@pytest.fixture
def machine(work):
    return new_machine(work)


@pytest.fixture
def empty(machine):
    return Authority(machine)


@pytest.fixture(scope="module")
def template(here):
    """An authority with certificates for the DPU dpu1 and the hosts web and db."""
    made = Authority(here)
    made("init").ok()
    sans = ("--san", "127.0.0.1", "--san", "dpu.example", "--san", "::1")
    made("issue", "--dpu", "dpu1", *sans).ok()
    made("issue", "--host", "web").ok()
    made("issue", "--host", "db", "--key-type", "ed25519", "--days", "2").ok()
    return made


@pytest.fixture
def authority(empty, template):
    """A copy of the template."""
    empty.dir.parent.mkdir(mode=0o700, parents=True)
    shutil.copytree(template.dir, empty.dir)
    return empty


# -- an authority


def test_init_makes_an_authority(empty):
    empty("list").fails_with(ABSENT, f"cannot open {empty.dir}: No such file")
    assert "ca.key signs certificates: keep it secret" in empty("init").ok()
    assert (mode(empty.dir), mode(empty.path("ca.key"))) == (0o700, 0o600)
    empty("init").fails_with(REFUSED, "already exists")
    assert empty.is_valid_after("ca", 3640) and not empty.is_valid_after("ca", 3660)
    empty.openssl("verify", "-CAfile", empty.path("ca.crt"), empty.path("ca.crt")).ok()
    assert "CA:TRUE, pathlen:0" in empty.show("ca", "-text")
    assert empty.list_number() == 1


def test_init_overwrites_nothing(machine, work):
    other = Authority(machine, work / "third")
    other.dir.mkdir(mode=0o700)
    (other.dir / "ca.crl").touch()
    other("init").fails_with(REFUSED, "ca.crl already exists")
    assert os.listdir(other.dir) == ["ca.crl"]


def test_init_where_others_can_write_is_refused(machine, work):
    (work / "open").mkdir()
    (work / "open").chmod(0o777)
    other = Authority(machine, work / "open/pki")
    other("init").fails_with(REFUSED, "open has mode 0777, which lets others replace")
    assert not other.dir.exists() or not os.listdir(other.dir)


# -- certificates


def test_certificates_have_one_purpose(authority):
    purposes = {"dpu1": "sslserver", "web": "sslclient", "db": "sslclient"}
    for name, purpose in purposes.items():
        assert authority.is_good_for(name, purpose), name
        other = {"sslserver": "sslclient", "sslclient": "sslserver"}[purpose]
        assert not authority.is_good_for(name, other), name
        assert mode(authority.path(f"{name}.key")) == 0o600
    assert authority.states() == "db:host:valid dpu1:dpu:valid web:host:valid"


def test_certificates_have_names_keys_and_dates(authority):
    names = authority.show("dpu1", "-ext", "subjectAltName")
    wanted = "DNS:dpu1, IP Address:127.0.0.1, DNS:dpu.example, IP Address:0:0:0:0:0:0:0:1"
    assert wanted in names, names
    for name, kind in (("web", "ASN1 OID: prime256v1"), ("db", "ED25519")):
        words = ("pkey", "-in", authority.path(f"{name}.key"), "-noout", "-text")
        assert kind in authority.openssl(*words).ok()
    assert authority.is_valid_after("web", 364) and not authority.is_valid_after("db", 3)


def test_certificate_does_not_outlive_the_authority(authority):
    authority("issue", "--host", "late", "--days", "30000").ok()
    assert authority.show("late", "-enddate") == authority.show("ca", "-enddate")


def test_issue_names_the_identity(authority):
    assert "its name in the allow list of an export is cert:more" in authority("issue", "--host", "more").ok()


def test_issue_overwrites_nothing(authority):
    files = [authority.dir / f"web.{end}" for end in ("crt", "key")]
    before = [file.read_bytes() for file in files]
    done = authority("issue", "--host", "web")
    done.fails_with(REFUSED, "web.key already exists: for a new certificate use dpumap pki renew web")
    assert [file.read_bytes() for file in files] == before
    files[1].unlink()
    done = authority("issue", "--host", "web")
    done.fails_with(REFUSED, "web.crt already exists")
    assert not files[1].exists(), "a refused issue left a key"


@pytest.mark.parametrize("name", ["999.1.1.1", "010.0.0.1", "1.2.3", "7", "a.7.", "a..b", "-a.example", ".", "a b", "x" * 64])
def test_names_that_are_neither_addresses_nor_dns_names_are_refused(authority, name):
    assert "--san" in authority("issue", "--dpu", "dpu2", "--san", name).fails(WRONG)
    assert "dpu2" not in authority.states()


def test_dns_names_are_normalized(authority):
    authority("issue", "--dpu", "DPU2", "--san", "EXAMPLE.com.", "--san", "1a.Lab").ok()
    assert "DNS:dpu2, DNS:example.com, DNS:1a.lab" in authority.show("DPU2", "-ext", "subjectAltName")
    assert "--dpu must also be a valid DNS name" in authority("issue", "--dpu", "999.1.1.1").fails(WRONG)


# -- renewal


def public_key(authority, name):
    return authority.show(name, "-pubkey")


def test_renewed_certificate_has_the_same_names_and_key(authority):
    names, key = authority.show("dpu1", "-ext", "subjectAltName"), public_key(authority, "dpu1")
    old, serial = authority.show("dpu1", "-serial"), authority.show("dpu1", "-serial").strip().partition("=")[2]
    authority("renew", "dpu1", "--days", "20").ok()
    assert authority.show("dpu1", "-ext", "subjectAltName") == names and public_key(authority, "dpu1") == key
    assert authority.show("dpu1", "-serial") != old
    assert authority.is_valid_after("dpu1", 19) and not authority.is_valid_after("dpu1", 21)
    assert authority.is_good_for("dpu1", "sslserver") and authority.is_good_for(f"replaced/dpu1-{serial}", "sslserver")
    assert authority.states() == "db:host:valid dpu1:dpu:valid web:host:valid dpu1:dpu:replaced"
    assert not (authority.dir / f"replaced/dpu1-{serial}.key").exists()


def test_renewal_with_a_new_key_keeps_the_old_one(authority):
    old = (authority.dir / "db.key").read_bytes()
    authority("renew", "db", "--new-key").ok()
    assert mode(authority.path("db.key")) == 0o600 and (authority.dir / "db.key").read_bytes() != old
    assert "ED25519" in authority.openssl("pkey", "-in", authority.path("db.key"), "-noout", "-text").ok()
    (kept,) = (authority.dir / "replaced").glob("db-*.key")
    assert kept.read_bytes() == old and mode(kept) == 0o600
    assert authority.openssl("pkey", "-in", authority.path("db.key"), "-pubout").ok() == public_key(authority, "db")
    authority("renew", "db", "--new-key", "--key-type", "p256").ok()
    assert "prime256v1" in authority.openssl("pkey", "-in", authority.path("db.key"), "-noout", "-text").ok()


def test_renewal_without_the_key(authority):
    """It may be on its machine alone."""
    (authority.dir / "web.key").unlink()
    authority("renew", "web").ok()
    assert authority.is_good_for("web", "sslclient") and not (authority.dir / "web.key").exists()


def test_renewal_that_fails_changes_nothing(authority):
    """The new key fits into the limit, the certificate does not."""
    before = {path.name: path.read_bytes() for path in authority.dir.iterdir() if path.is_file()}
    done = authority.machine.run("trap '' XFSZ; exec prlimit --fsize=300 dpumap pki renew db --new-key")
    assert "db.crt" in done.fails(LOST, ABSENT, REFUSED, CANNOT)
    assert {path.name: path.read_bytes() for path in authority.dir.iterdir() if path.is_file()} == before
    assert not list((authority.dir / "replaced").iterdir())


def test_revocation_includes_replaced_certificates(authority):
    authority("renew", "web").ok()
    authority("renew", "web", "--new-key").ok()
    authority("renew", "db").ok()
    authority("revoke", "web").ok()
    assert authority.revoked() == 3
    states = "db:host:valid dpu1:dpu:valid db:host:replaced" + 3 * " web:host:revoked"
    assert authority.states() == states
    assert len(list((authority.dir / "revoked").glob("web-*.key"))) == 2


def test_renewal_that_is_refused(authority):
    authority("renew", "nobody").fails_with(ABSENT, f"cannot open {authority.dir}/nobody.crt")
    assert "the name ca is reserved" in authority("renew", "ca").fails(WRONG)
    assert "need the NAME" in authority("renew", "--new-key").fails(WRONG)
    assert "only with --new-key" in authority("renew", "web", "--key-type", "p256").fails(WRONG)
    assert authority.states() == "db:host:valid dpu1:dpu:valid web:host:valid"


def test_an_authority_may_have_an_ed25519_key(machine, work):
    other = Authority(machine, work / "other")
    other("init", "--key-type", "ed25519").ok()
    other("issue", "--dpu", "dpu2", "--key-type", "ed25519").ok()
    assert other.is_good_for("dpu2", "sslserver")


# -- revocation


def test_revoke_moves_the_certificate_and_makes_a_list(authority):
    assert "ca.crl renewed, valid until" in authority("revoke", "web").ok()
    assert authority.states() == "db:host:valid dpu1:dpu:valid web:host:revoked"
    assert not [name for name in os.listdir(authority.dir) if name.startswith("web.")]
    assert (authority.list_number(), authority.revoked()) == (2, 1)


def test_renewed_list_keeps_its_mode(authority):
    path = authority.dir / "ca.crl"
    os.chmod(path, 0o640)
    authority("renew").ok()
    assert path.stat().st_mode & 0o777 == 0o640
    os.chmod(path, 0o644)


def test_revoked_name_gets_another_certificate(authority):
    authority("revoke", "web").ok()
    authority("issue", "--host", "web").ok()
    assert authority.is_good_for("web", "sslclient")
    authority("renew").ok()
    assert (authority.list_number(), authority.revoked()) == (3, 1), "renew forgets a revocation"
    authority("revoke", "web").ok()
    assert (authority.list_number(), authority.revoked()) == (4, 2)
    states = "db:host:valid dpu1:dpu:valid web:host:revoked web:host:revoked"
    assert authority.states() == states
    authority("revoke", "web").fails_with(ABSENT, f"cannot open {authority.dir}/web.crt")


def test_revoke_refuses_names_of_others(authority):
    authority("revoke", "../pki/db").fails_with(REFUSED, "a name must be 1 to 63 of")
    authority("revoke", "ca").fails_with(REFUSED, "the name ca is reserved")


def test_commands_at_once_lose_no_revocation(authority):
    def start(i):
        script = f"dpumap pki issue --host host{i} && dpumap pki revoke host{i}"
        return authority.machine.start(script)

    jobs = [start(i) for i in range(8)]
    assert not any(job.communicate() and job.returncode for job in jobs)
    assert authority.revoked() == 8


def test_files_that_do_not_fit_are_refused(authority, machine, work):
    other = Authority(machine, work / "other")
    other("init").ok()
    (other.dir / "db.crt").write_bytes((authority.dir / "db.crt").read_bytes())
    other("revoke", "db").fails_with(REFUSED, "the certificate of db was not issued by this CA")
    assert other.list_number() == 1
    (other.dir / "ca.crl").write_bytes((authority.dir / "ca.crl").read_bytes())
    other("renew").fails_with(REFUSED, "ca.crl is not signed by this CA")
    (other.dir / "ca.key").write_bytes((authority.dir / "ca.key").read_bytes())
    other("renew").fails_with(REFUSED, "ca.key is not the private key of the CA certificate")
    (other.dir / "ca.key").chmod(0o644)
    other("renew").fails_with(REFUSED, "ca.key has mode 0644")
    other.dir.chmod(0o750)
    pattern = "has mode 0750, must be 0700"
    other("list").fails_with(REFUSED, pattern)


def test_commands_report_as_json(machine, work):
    other = Authority(machine, work / "json")
    commands = [
        ("list_ends", ["init"]),
        ("serial", ["issue", "--host", "a"]),
        ("list", ["revoke", "a"]),
        ("list_ends", ["renew"]),
    ]
    for key, words in commands:
        assert key in json.loads(other(*words, "--json").ok()), words


# -- dpumapd and dpumap with them

CERTIFICATES = """\
listen = [ "tls:127.0.0.1:0" ];
tls = {{ cert = "{pki}/dpu1.crt"; key = "{pki}/dpu1.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
admin = "{dir}/admin";
exports = ( {{ name = "web"; kind = "dram"; size = "64K"; allow = [ "cert:web" ]; }},
	{{ name = "both"; kind = "dram"; size = "64K"; allow = [ "cert:web", "cert:db" ]; }} );
"""
CLIENT = """\
connect = "{address}";
tls = {{ cert = "{pki}/{name}.crt"; key = "{pki}/{name}.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
"""
SHARED_KEYS = """\
listen = [ "tls:127.0.0.1:0", "unix:{dir}/socket" ];
tls = {{ psk = "{psk}"; }};
exports = ( {{ name = "two"; kind = "dram"; size = "64K"; allow = [ "psk:two" ]; }},
	{{ name = "both"; kind = "dram"; size = "64K"; allow = [ {both} ]; }} );
"""


class Client:
    """dpumap on the host, with the machine's home and a configuration there."""

    def __init__(self, host, machine):
        self.machine = LocalMachine("host", machine.dir, host.environment)
        self.tool = Tool(self.machine)

    def configure(self, text):
        self.machine.put({"home/.config/dpumap/dpumap.conf": text})

    def names(self, *words):
        return [export["name"] for export in self.tool.json("list", *words)["exports"]]


@pytest.fixture
def client(host, machine):
    return Client(host, machine)


@pytest.fixture
def as_name(client, authority):
    """as_name(agent, name): the client with the certificate of this name."""

    def configure(agent, name):
        text = CLIENT.format(address=agent.address, pki=authority.dir, name=name)
        client.configure(text)
        return client

    return configure


@pytest.fixture
def certified(serve, dpu, authority):
    dpu.put({"dpumapd.conf": CERTIFICATES.format(pki=authority.dir, dir=dpu.dir)})
    return serve("--config", f"{dpu.dir}/dpumapd.conf")


def test_certificates_open_their_exports(certified, as_name):
    web = as_name(certified, "web").tool
    data = os.urandom(60000)
    web("write", "web", data=data).ok()
    assert web("read", "web", "--length", "60000").data == data
    client = as_name(certified, "db")
    assert client.names() == ["both"]
    done = client.tool("read", "web")
    done.fails_with(ABSENT, 'no export called "web" that cert:db may import')
    as_name(certified, "dpu1").tool("list").fails_with(REFUSED, "certificate|TLS")


def test_old_and_renewed_certificate_open_their_exports(certified, as_name, authority, work):
    """Also during the change of dpumapd's own."""
    for end in ("crt", "key"):
        (work / f"web.{end}").write_bytes((authority.dir / f"web.{end}").read_bytes())
        (work / f"web.{end}").chmod(0o600)
    for name in ("web", "dpu1"):
        authority("renew", name, "--new-key").ok()
    old = ("--cert", work / "web.crt", "--key", work / "web.key", "--ca", authority.path("ca.crt"))
    for reload in (False, True):
        if reload:
            certified.ctl("reload").ok()
        as_name(certified, "web").tool("list").ok()
        as_name(certified, "web").tool("list", *old).ok()
    authority("revoke", "web").ok()
    certified.ctl("reload").ok()
    as_name(certified, "db").tool("list", *old).fails_with(REFUSED, "revoked")


def test_name_of_the_dpu_counts(certified, as_name):
    db = as_name(certified, "db").tool
    address = certified.address.replace("127.0.0.1", "localhost")
    db("list", "--connect", address).fails_with(REFUSED, "was rejected: .*host")
    db("list", "--connect", address, "--server", "dpu1").ok()


def test_key_that_others_can_use_is_refused(certified, as_name, authority):
    web = as_name(certified, "web").tool
    web("list", "--psk-name", "x").fails_with(REFUSED, "requires TLS: use --cert|needs a certificate")
    os.chmod(authority.path("web.key"), 0o640)
    web("list").fails_with(REFUSED, "web.key has mode 0640, which lets others use it")


def test_revoked_certificate_is_rejected(certified, as_name, authority, work):
    words = []
    for option, end in (("--cert", "crt"), ("--key", "key")):
        copy = work / f"web.{end}"
        copy.write_bytes((authority.dir / f"web.{end}").read_bytes())
        copy.chmod(0o600)
        words += [option, str(copy)]
    authority("revoke", "web").ok()
    certified.ctl("reload").ok()
    done = as_name(certified, "db").tool("list", *words, "--ca", authority.path("ca.crt"))
    done.fails_with(REFUSED, "revoked")
    authority("issue", "--host", "web").ok()
    as_name(certified, "web").tool("read", "web", "--length", "4096").ok()


@pytest.fixture
def psk(work):
    """The path of a file with the keys "one" and "two", and of one where "one" is wrong."""
    lines = [f"{name}:{os.urandom(32).hex()}\n" for name in ("one", "two")]
    for name, text in (("psk", "".join(lines)), ("wrong", lines[1].replace("two", "one"))):
        (work / name).touch(0o600)
        (work / name).write_text(text)
    return work / "psk"


class Shared:
    """dpumapd and a client with shared keys; the client is "two"."""

    def __init__(self, serve, dpu, client, psk):
        self.dpu, self.client, self.psk = dpu, client, psk
        self.write('"psk:one", "psk:two"')
        self.agent = serve("--config", f"{dpu.dir}/dpumapd.conf")

    def write(self, both):
        text = SHARED_KEYS.format(dir=self.dpu.dir, psk=self.psk, both=both)
        self.dpu.put({"dpumapd.conf": text})

    def connect(self):
        address = self.agent.address
        self.client.configure(
            f'connect = "{address}";\ntls = {{ psk = "{self.psk}"; psk_name = "two"; }};\n'
        )
        return self.client


@pytest.fixture
def shared(serve, dpu, client, psk):
    return Shared(serve, dpu, client, psk)


def test_shared_keys_open_their_exports(shared):
    client, data = shared.connect(), os.urandom(60000)
    assert sorted(client.names()) == ["both", "two"]
    client.tool("cp", "-", ":two", data=data).ok()
    assert client.tool("cp", ":two", "-", "--length", "60000").data == data
    assert client.names("--psk", str(shared.psk)) == ["both"], "the first key counts"
    wrong = shared.psk.with_name("wrong")
    client.tool("list", "--psk", wrong).fails_with(REFUSED, "TLS")


def test_certificates_and_shared_keys_exclude_each_other(shared, authority):
    done = shared.connect().tool("list", "--psk", shared.psk, "--ca", authority.path("ca.crt"))
    done.fails_with(REFUSED, "certificates or pre-shared keys, not both")


def test_hangup_ends_watch(shared):
    watch = shared.connect().tool.daemon("watch", "watch", "--json")
    watch.await_output("watching")
    assert watch.end("HUP") > 128


def test_hold_of_a_changed_export_ends(shared):
    """Another client may use it from now on: the holders are told."""
    holder = shared.connect().tool.daemon("holder", "import", "--hold", "both")
    holder.await_output("imported")
    shared.write('"psk:two"')
    shared.agent.daemon.signal("HUP")
    assert holder.end("0") == REFUSED
    assert "export both was changed" in holder.log()
