# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumap doctor and dpumapd doctor: every profile, both sides, and all that can go wrong."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest

from harness import wire
from harness.agents import REFUSED, WRONG
from harness.doctor import IDS, Doctor
from harness.emulator import Emulator
from harness.machine import await_true
from harness.pki import Pki

pytestmark = pytest.mark.local
CARD = ("--cards", "2")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"host": "dpumap", "dpu": "dpumapd"}
NO_LINK = " ".join(
    f"link.{name}=unknown"
    for name in ("connect", "tls", "identity", "version", "exports", "card", "import", "round-trip")
)
# One in so many of the commands is made to fail, as the ways to the others are the same.
STEP = int(os.environ.get("DPUMAP_DOCTOR_STEP", "3"))
SPOIL = os.environ.get("DPUMAP_SPOIL")


def doctor_on(emulator, name):
    return Doctor(emulator.machine(name), PROGRAMS[name])


@pytest.fixture(params=PROGRAMS)
def doctor(request, emulator, nothing_left):
    """On each side."""
    return doctor_on(emulator, request.param)


@pytest.fixture
def on_host(emulator, nothing_left):
    return doctor_on(emulator, "host")


@pytest.fixture
def on_dpu(emulator, nothing_left):
    return doctor_on(emulator, "dpu")


@pytest.fixture
def fault(nothing_left, emulator):
    """fault(WORDS): until the end of the test."""
    yield lambda words: emulator.fault(*words.split())
    emulator.clear_faults()


@pytest.fixture
def leaks(emulator):
    """What cannot be destroyed is kept, by libmlx5 as by the library, which is no leak."""
    machines = [emulator.machine(name) for name in PROGRAMS]
    before = [machine.environment for machine in machines]
    options = os.environ.get("ASAN_OPTIONS", "")
    for machine in machines:
        machine.environment = {**machine.environment, "ASAN_OPTIONS": f"{options}:detect_leaks=0"}
    yield
    for machine, environment in zip(machines, before):
        machine.environment = environment


class Hanging(threading.Thread):
    """A doctor of the DPU with a library that hangs, on a card of its own, as it takes long."""

    def __init__(self):
        super().__init__(daemon=True)
        self.card, self.ended, self.error = Emulator(), False, None
        self.bare = self.card.objects()
        self.start()

    def run(self):
        doctor = doctor_on(self.card, "dpu")
        doctor.through = THROUGH_SPOIL
        try:
            doctor("exit==1 link.address=ok", "--timeout", "1", env={"SPOIL": "hang"})
            self.card.await_objects(self.bare)
        except Exception as error:
            self.error = error
        self.ended = True


@pytest.fixture(scope="module", autouse=True)
def hanging():
    """It runs beside the other tests."""
    if not SPOIL:
        yield None
        return
    one = Hanging()
    yield one
    one.join(200)
    one.card.close()


# -- every profile, both sides


@pytest.mark.parametrize(
    "options, expectations",
    [
        (
            "--profile bluefield-3",
            '*=ok cap.mmo:max_len=2097152 try.copy:engine="mmo" ready==true pci_import==true '
            "pci_export==true device_memory==true rdma==true dpumapd==false",
        ),
        ("--profile bluefield-2", "*=ok cap.mmo:max_len=2097152 ready==true"),
        (
            "--profile connectx-6-dx",
            '*=ok cap.mmo=warn try.copy:engine="rdma" device.mode=ok|warn ready==true',
        ),
        (
            "--profile connectx-5",
            "*=ok cap.sharing=warn cap.mmo=warn device.mode=ok|warn cap.pci-export=ok|fail "
            "cap.pci-import=ok|fail cap.pci-import:supported=false cap.pci-export:supported=false "
            "try.export=unknown try.import=unknown exit==15 ready==false pci_import==false pci_export==false "
            "copies==true rdma==true",
        ),
        (
            "--cap max-dm-size=0",
            "*=ok cap.device-memory=warn try.device-memory=unknown device_memory==false ready==true",
        ),
        ("--cap log-max-dma-mmo=0", "cap.mmo=warn try.copy=ok ready==true"),
        ("--cap cross-vhca-indirect=0", "*=ok pci_export==true pci_import==true ready==true"),
        ("--cap cross-vhca=0", "cap.sharing=warn ready==false exit==15"),
    ],
    ids=lambda value: value.split()[1] if value.startswith("--") else "",
)
def test_doctor_reports_what_a_profile_supports(options, expectations):
    card = Emulator(*options.split())
    try:
        bare = card.objects()
        for name in PROGRAMS:
            links = NO_LINK if "*=ok" in expectations else ""
            doctor_on(card, name)(f'{links} side=="{name}" {expectations}')
            card.await_objects(bare)
    finally:
        card.close()


def test_emulator_that_ends_meanwhile():
    """Whatever the report says, it is complete."""
    card = Emulator()
    doctor = doctor_on(card, "host").machine.start(["dpumap", "doctor", "--json"])
    card.stop()
    out = doctor.communicate(timeout=100)[0].decode()
    card.close()
    assert doctor.returncode >= 125 or out.splitlines()[-1] == "}", doctor.returncode


# -- no device, and others than the first


@pytest.mark.skipif(os.path.exists("/sys/class/infiniband"), reason="there is a device")
def test_a_machine_without_a_device_is_not_ready(here):
    doctor = Doctor(here, "dpumap")
    doctor(
        "device.list=fail device.chosen=unknown device.open=unknown try.open=unknown "
        "system.kernel=ok exit==13 ready==false"
        + (" system.modules=ok" if os.path.exists("/sys/module/mlx5_ib") else "")
    )
    last = doctor.run().out.splitlines()[-1]
    assert last == "verdict: not ready to import memory over PCI: see device.list"


def test_device_is_chosen(on_host):
    on_host('device.chosen:name="mlx5_0"')
    other = 'device.chosen:name="mlx5_1"'
    on_host(f"{other} device.open=ok try.copy=ok ready==true", "--device", "mlx5_1")
    on_host(other, "--device", "3c:00.0")
    none = "device.chosen=fail device.open=unknown cap.mmo=unknown try.pd=unknown exit==13"
    on_host(none, "--device", "mlx5_9")


def test_mode_of_the_dpu(on_dpu):
    on_dpu('device.mode=ok device.mode:mode="embedded" device.function:type="PF"')


# -- for people


def test_report_for_people(on_host):
    """A line for every finding, in groups, no colours in a pipe, the verdict last."""
    out = on_host.run("--verbose").ok()
    ids = re.findall(r"^(?:ok|warn|fail|unknown) +([a-z]+\.[a-z-]+) ", out, re.M)
    assert sorted(ids) == sorted(IDS)
    titles = re.findall(r"^([A-Z].*)$", out, re.M)
    assert titles[-4:] == ["System", "Device", "Trials on the device", "Connection to dpumapd"]
    assert "\033" not in out
    assert out.splitlines()[-1].startswith("verdict: ready to ")
    assert "skipped checks not shown" in on_host.run().ok()
    with open("/dev/full", "wb") as full:
        assert on_host.run(stdout=full).status != 0


def test_report_begins_with_what_is_wrong():
    """Failures, then warnings, each only once; then the groups."""
    card = Emulator("--cap", "log-max-dma-mmo=0")
    try:
        done = doctor_on(card, "host").run("--connect", f"{card.dir}/none")
        blocks = done.out.split("\n\n")
        assert blocks[0].startswith("Problems\n"), done.out
        states = re.findall(r"^(ok|warn|fail|unknown) +([a-z]+\.[a-z-]+) ", blocks[0], re.M)
        assert states[0] == ("fail", "link.connect") and ("warn", "cap.mmo") in states
        assert [state for state, _ in states] == sorted(state for state, _ in states)
        assert not re.search("^(warn|fail)", "\n\n".join(blocks[1:]), re.M)
    finally:
        card.close()


def run_on_a_terminal(doctor, **more):
    """The output of a doctor whose standard output is a terminal."""
    ours, theirs = os.openpty()
    pieces = []

    def read():
        # When the last writer closes a terminal, reading fails.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 4096):
                pieces.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        doctor.run(stdout=theirs, **more)
    finally:
        os.close(theirs)
        reader.join(30)
        os.close(ours)
    return b"".join(pieces).decode()


def test_report_has_colour_on_a_terminal_unless_unwanted(on_host):
    assert "\033[32mok" in run_on_a_terminal(on_host)
    out = run_on_a_terminal(on_host, env={"NO_COLOR": "1"})
    assert "verdict: " in out and "\033" not in out


def test_manual_lists_all_checks():
    manual = (ROOT / "man/dpumap.1").read_text(encoding="utf-8")
    for name in IDS:
        assert re.search(rf"^\.It Li (.* )?{re.escape(name)}( |$)", manual, re.M), name


def test_wrong_usage_is_refused(doctor):
    for words in (["--timeout", "0"], ["--frobnicate"], ["argument"]):
        assert doctor.run(*words).status == WRONG, words
    assert doctor.run("--help").ok().count("\n") <= 24


# -- limits


def limited(doctor, limit):
    doctor.through += ["bash", "-c", f'ulimit {limit} && exec "$@"', "limited"]


def test_a_low_limit_of_files_is_a_warning(on_host):
    limited(on_host, "-n 64")
    on_host("system.nofile=warn system.nofile:files=64")
    limited(on_host, "-n 40")
    on_host("system.nofile=warn")


def test_little_memory_to_lock(on_host):
    limited(on_host, "-l 64")
    privileged = "" if os.getuid() == 0 else "system.memlock=warn "
    on_host(privileged + "system.memlock:bytes=65536")


def test_little_memory_to_lock_without_the_privilege(on_host):
    drop = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
    if os.getuid() != 0 or subprocess.run([*drop, "true"], check=False).returncode:
        pytest.skip("no privilege that can be dropped")
    on_host.through = drop
    limited(on_host, "-l 64")
    on_host("system.memlock=warn")


# -- every fault that can be injected


def test_each_command_that_fails_is_reported(emulator, on_host, on_dpu, fault, leaks):
    """On the two sides by turns."""
    fault("--method * --nth 1000000")
    on_host("")
    commands = emulator.clear_faults()
    assert commands > 50
    for n in range(1, commands + 1, STEP):
        fault(f"--method * --nth {n} --errno {'ENOMEM' if n % 4 < 2 else 'EIO'}")
        (on_host if n % 2 == 0 else on_dpu)("")
        emulator.clear_faults()


ALWAYS = [
    ("context.create --errno EACCES", "device.open=fail exit==14 try.open=fail port.state=unknown"),
    ("context.create --errno EIO", "device.open=fail exit==15 cap.mmo=unknown"),
    ("context.create --errno ENOMEM", "device.open=fail exit==15"),
    ("port.query --errno EIO", "port.state=fail port.link=unknown try.copy=fail"),
    ("device.query --errno EIO", "device.firmware=fail exit==15"),
    ("gid.query --errno EIO", "port.gid=unknown|ok|fail ready==false"),
    ("pd.create --errno ENOMEM", "try.pd=fail try.register=unknown exit==15"),
    ("pd.create --errno EPERM", "try.open=fail try.pd=fail exit==15"),
    ("mr.create --errno ENOMEM", "try.register=fail try.copy=fail ready==false"),
    ("mr.create-dmabuf --errno EOPNOTSUPP", "cap.dma-buf=warn ready==true"),
    ("mr.create-dmabuf --errno EIO", "cap.dma-buf=unknown"),
    ("dm.create --errno ENOMEM", "try.device-memory=warn ready==true device_memory==false"),
    ("umem.create --errno ENOMEM", "try.umem=warn ready==true"),
    ("cq.create --errno ENOMEM", "try.copy=fail copies==false"),
    ("qp.create --errno ENOMEM", "try.copy=fail"),
    ("qp.modify --errno EIO", "try.copy=fail"),
    ("devx.query-caps --errno EIO", "ready==false"),
    ("devx.query-caps --status INT_ERR --syndrome 7", "ready==false"),
    ("devx.other --status BAD_OP", "device.mode=ok|warn"),
    ("file.mmap --errno ENOMEM", "ready==false"),
    ("*.destroy --errno EIO", "try.undo=warn"),
    ("* --errno EIO", "exit==15"),
]


@pytest.mark.parametrize("how, expectations", ALWAYS, ids=[how for how, _ in ALWAYS])
def test_commands_of_a_kind_that_all_fail(doctor, fault, leaks, how, expectations):
    fault(f"--count all --method {how}")
    doctor(expectations)


@pytest.mark.parametrize(
    "how",
    [
        "mkey.create --status LIM --syndrome 0x123456",
        "mkey.create --errno ENOMEM",
        "devx.allow-access --status BAD_RES",
    ],
)
def test_export_that_fails(on_host, on_dpu, fault, how):
    """It fails what the DPU is for; on the host it is worth a warning."""
    fault(f"--method {how} --count all")
    on_host("try.export=warn ready==true")
    text = on_dpu("try.export=fail ready==false")
    if "syndrome" in how:
        assert "0x123456" in text


def test_completions_that_are_lost_or_late(doctor, fault, emulator):
    fault("completion --lose --count all")
    doctor("try.copy=fail exit==1 try.undo=ok", "--timeout", "1")
    emulator.clear_faults()
    fault("completion --delay 60000 --count all")
    doctor("try.copy=fail exit==1", "--timeout", "1")
    emulator.clear_faults()
    fault("completion --delay 100 --count all")
    doctor("try.copy=ok ready==true", "--timeout", "60")


@pytest.mark.parametrize(
    "syndrome",
    ["LOC_PROT_ERR", "REM_ACCESS_ERR", "RETRY_EXC_ERR", "LOC_QP_OP_ERR", "WR_FLUSH_ERR"],
)
def test_completions_with_errors(doctor, fault, syndrome):
    fault(f"completion --syndrome {syndrome} --count all")
    doctor("try.copy=fail ready==false")


def test_device_memory_of_others(doctor, fault, emulator):
    """All of it, or nearly."""
    fault("memory --left 0")
    doctor("try.device-memory=warn ready==true")
    emulator.clear_faults()
    fault("memory --left 4096")
    doctor("try.device-memory=ok")


def test_a_dead_device_is_missing_until_it_returns(doctor, fault, emulator):
    """It is well again afterwards."""
    fault("device")
    doctor("device.list=fail exit==13")
    emulator.clear_faults()
    doctor("ready==true")


# -- what the emulated card cannot do wrong: a library between does


THROUGH_SPOIL = ["sh", "-c", 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"', SPOIL]
needs_spoil = pytest.mark.skipif(not SPOIL, reason="no library that spoils is given")


@needs_spoil
@pytest.mark.parametrize(
    "what, expectations",
    [
        ("nothing", "ready==true"),
        ("file", "device.file=fail device.open=fail exit==14 cap.mmo=unknown try.pd=unknown"),
        ("port", "port.state=fail port.link=ok try.copy=fail ready==false"),
        ("devx", "cap.devx=fail cap.sharing=unknown try.export=unknown exit==15"),
        (
            "driver",
            "device.driver=warn cap.mmo=warn cap.devx=warn cap.pci-import:supported=false ready==false",
        ),
        ("crash", "device.open=ok cap.mmo=ok|unknown exit==1 link.address=ok"),
    ],
)
def test_a_spoilt_library_fails_the_checks_that_need_it(doctor, what, expectations):
    doctor.through = THROUGH_SPOIL
    doctor(expectations, env={"SPOIL": what})


# -- the way to dpumapd


def test_a_missing_dpumapd_fails_the_link_alone(on_host, work):
    nowhere = "link.connect=fail link.version=unknown exit==13"
    on_host(nowhere, "--connect", work / "none")
    verdict = json.loads(on_host.run("--json", "--connect", work / "none").out)["verdict"]
    assert verdict.endswith("see link.connect; the device supports exports over RDMA")
    on_host("link.connect=unknown ready==true")
    on_host("link.address=fail exit==13", "--connect", "tls:no-such-host.invalid:7470")
    nonsense = "config.file=fail link.address=unknown exit==14"
    on_host(nonsense, env={"DPUMAP_CONNECT": "tls:nonsense"})


@pytest.fixture
def served(serve, dpu):
    """A dpumapd with exports over both ways."""
    exports = ("name=bulk,kind=dram,size=64K", "name=a,kind=dram,size=64K,via=rdma")
    words = [word for export in exports for word in ("--export", export)]
    return serve(*words, "--admin", f"{dpu.dir}/admin")


def test_dpumapd_is_examined(on_host, on_dpu, served):
    """The card is that of an export over PCI, where there is one."""
    connect = ("--connect", served.address)
    text = on_host(
        '*=ok link.exports:names=["a","bulk"] link.card:device="mlx5_0" ready==true dpumapd==true',
        *connect,
    )
    assert "access.key" not in text.lower() and "access_key" not in text
    on_host("link.card=fail link.import=unknown exit==14", *connect, "--device", "mlx5_1")
    on_dpu("link.connect=ok link.exports=ok link.card=ok link.import=unknown ready==true", *connect)
    assert await_true(lambda: served.figure("imports") == 0)


def test_import_that_fails_is_reported(on_host, served, fault):
    """Though the card is the same, and the capabilities say that it works."""
    connect = ("--connect", served.address)
    fault("--method alias.create --count all --status BAD_PARAM")
    refused = "link.card=ok link.import=fail try.import=warn exit==14 ready==false"
    on_host(refused, *connect)
    assert await_true(lambda: served.figure("imports") == 0)


def test_dpumapd_on_another_emulator_is_not_ready(on_host, serve):
    """The emulators of two sessions of one user are not one card."""
    other = Emulator()
    try:
        machine = other.machine("dpu")
        words = ("--export", "name=far,kind=dram,size=4K", "--admin", f"{machine.dir}/admin")
        agent = serve(*words, machine=machine)
        on_host(
            "link.exports=ok link.card=fail link.import=unknown exit==14 ready==false",
            *("--connect", agent.address),
        )
        agent.stop()
    finally:
        other.close()


def test_dpumapd_that_does_not_answer(on_host, served):
    served.daemon.signal("STOP")
    try:
        stopped = "link.connect=ok link.version=fail|unknown ready==false"
        on_host(stopped, "--connect", served.address, "--timeout", "1")
    finally:
        served.daemon.signal("CONT")


class WrongPeer(threading.Thread):
    """A server that is not the dpumapd that is wanted."""

    ANSWERS = {
        "version": wire.frame(wire.cbor({"id": 1, "status": 0, "version": 7})),
        "rubbish": b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "close": b"",
        "silent": None,
    }

    def __init__(self, path, manner):
        super().__init__(daemon=True)
        self.answer = self.ANSWERS[manner]
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.start()

    def run(self):
        kept = []
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            if self.answer is None:
                kept.append(peer)
                continue
            with peer:
                # A client that only looks whether there is a server says nothing.
                peer.settimeout(5)
                try:
                    if wire.receive(peer):
                        peer.sendall(self.answer)
                        time.sleep(0.1)
                except OSError:
                    pass


@pytest.mark.parametrize("manner", WrongPeer.ANSWERS)
def test_peer_that_is_not_dpumapd(on_host, work, manner):
    peer = WrongPeer(work / "peer", manner)
    wrong = "link.connect=ok link.version=fail link.exports=unknown ready==false"
    on_host(wrong, "--connect", work / "peer", "--timeout", "1")
    peer.listener.shutdown(socket.SHUT_RDWR)
    peer.listener.close()


# -- TLS

CONFIG = """\
listen = [ "tls:127.0.0.1:0" ];
tls = {{ cert = "{pki}/dpu1.crt"; key = "{pki}/dpu1.key"; ca = "{pki}/ca.crt"; crl = "{pki}/ca.crl"; }};
exports = ( {{ name = "bulk"; kind = "dram"; size = "64K"; allow = [ "cert:host1" ]; }} );
"""


@pytest.fixture(scope="module")
def pki(openssl_pki):
    openssl_pki.issue("dpu1", "serverAuth", "DNS:localhost,IP:127.0.0.1")
    for name in ("host1", "gone", "soon"):
        openssl_pki.issue(name, "clientAuth")
    openssl_pki.revoke("gone")
    openssl_pki.self_signed("stranger", "-addext", "extendedKeyUsage=clientAuth")
    openssl_pki.issue_expired("old", "clientAuth")
    Pki(openssl_pki.dir / "other")
    return openssl_pki


@pytest.fixture
def config(dpu, pki):
    dpu.put({"doctor.conf": CONFIG.format(pki=pki.dir)})
    return f"{dpu.dir}/doctor.conf"


@pytest.fixture
def agent(serve, config):
    return serve("--config", config)


@pytest.fixture
def as_name(on_host, agent, pki):
    """as_name(NAME, EXPECTATIONS, OPTIONS): with the certificate of this name."""

    def see(name, expectations, *options):
        words = ("--cert", pki.path(f"{name}.crt"), "--key", pki.path(f"{name}.key"))
        address = ("--connect", agent.address)
        return on_host(expectations, *address, *words, "--ca", pki.path("ca.crt"), *options)

    return see


def test_tls_is_examined(as_name, pki):
    well = (
        'link.certificate=ok|warn link.crl=ok link.tls=ok|warn link.tls:peer="cert:dpu1" '
        "link.identity=ok link.card=ok link.round-trip=ok ready==true"
    )
    as_name("host1", well, "--crl", pki.path("ca.crl"))
    as_name("host1", "link.crl=warn link.version=ok")
    as_name("host1", "link.tls=fail link.identity=unknown exit==14", "--server", "elsewhere")


@pytest.mark.parametrize(
    "name, expectations",
    [
        ("old", "link.certificate=fail link.identity=fail|unknown exit==14"),
        ("gone", "link.identity=fail link.version=unknown exit==14"),
        ("stranger", "link.identity=fail exit==14"),
        ("soon", "link.identity=fail link.exports=unknown exit==14"),
        ("none", "link.files=fail exit==13"),
    ],
)
def test_client_that_is_rejected(as_name, name, expectations):
    as_name(name, expectations)


def test_certificate_files_are_examined(as_name, on_host, agent, pki, emulator):
    """Modes, another's authority, a list that has expired, no certificate at all."""
    os.chmod(pki.path("host1.key"), 0o644)
    as_name("host1", "link.files=fail exit==14")
    os.chmod(pki.path("host1.key"), 0o600)
    on_host("link.files=fail exit==14", "--connect", agent.address)
    other = Pki(emulator.dir / "other-authority")
    as_name("host1", "link.tls=fail exit==14", "--ca", other.path("ca.crt"))
    shutil.copy(pki.path("ca.crl"), pki.path("current.crl"))
    pki.make_crl("-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z")
    os.rename(pki.path("ca.crl"), pki.path("expired.crl"))
    os.rename(pki.path("current.crl"), pki.path("ca.crl"))
    as_name("host1", "link.crl=fail link.tls=fail exit==14", "--crl", pki.path("expired.crl"))


def test_configuration_of_the_client(on_host, agent, pki):
    words = (("cert", "host1.crt"), ("key", "host1.key"), ("ca", "ca.crt"), ("crl", "ca.crl"))
    tls = " ".join(f'{key} = "{pki.path(name)}";' for key, name in words)
    text = f'connect = "{agent.address}";\ntls = {{ {tls} }};\n'
    path = "home/.config/dpumap/dpumap.conf"
    on_host.machine.put({path: text})
    try:
        on_host("config.file=ok link.identity=ok link.card=ok ready==true")
        on_host.machine.put({path: text + "colour = 1;\n"})
        on_host("config.file=fail device.open=ok try.copy=ok link.address=unknown exit==14")
    finally:
        os.remove(f"{on_host.machine.dir}/{path}")


def test_configuration_of_dpumapd(on_dpu, agent, config, work):
    text = pathlib.Path(config).read_text().replace("tls:127.0.0.1:0", agent.address)

    def examine(expectations, *changes):
        changed = text
        for old, new in changes:
            changed = changed.replace(old, new)
        (work / "conf").write_text(changed)
        (work / "conf").chmod(0o644)
        on_dpu(expectations, "--config", work / "conf")

    examine(
        "config.file=ok link.files=ok link.certificate=ok|warn link.crl=ok link.connect=ok "
        "link.tls=unknown ready==true"
    )
    expired = (("dpu1.crt", "old.crt"), ("dpu1.key", "old.key"))
    examine("link.certificate=fail exit==14", *expired)
    examine("link.certificate=fail exit==14", ("dpu1.crt", "host1.crt"), ("dpu1.key", "host1.key"))
    examine("link.certificate=fail exit==14", ("/ca.crt", "/dpu1.crt"))
    examine("link.certificate=ok link.crl=fail exit==14", ("/ca.crl", "/other/ca.crl"))
    examine("link.files=fail link.crl=unknown exit==13", ("ca.crl", "none.crl"))
    examine("config.file=fail device.open=ok", (text, "nonsense\n"))
    on_dpu("config.file=fail", "--config", work / "no.conf")


@pytest.mark.local
def test_key_of_the_service_is_accepted_for_root(on_dpu, dpu, serve, config, pki, work):
    """Root examines and starts a service that runs as another user, whose keys belong to it."""
    if os.getuid() != 0:
        pytest.skip("needs root, to change the owner of a key")
    user = pwd.getpwnam("nobody")
    key = work / "service.key"
    key.write_bytes(pathlib.Path(pki.path("dpu1.key")).read_bytes())
    key.chmod(0o600)
    os.chown(key, user.pw_uid, user.pw_gid)
    text = pathlib.Path(config).read_text().replace(pki.path("dpu1.key"), str(key))
    (work / "conf").write_text(text)
    on_dpu("link.files=fail", "--config", work / "conf")
    done = dpu.run(["dpumapd", "--config", work / "conf"])
    done.fails_with(REFUSED, f"service.key belongs to user {user.pw_uid}")
    (work / "conf").write_text(text + 'user = "nobody";\n')
    on_dpu("link.files=ok config.file=fail exit==14", "--config", work / "conf")
    check = ["dpumapd", "--config", work / "conf", "--check"]
    dpu.run(check).fails_with(REFUSED, "cannot read .*/conf: use chmod a.r .checked for user nobody")
    places = {path: path.stat().st_mode for path in (work, work.parent, pathlib.Path(pki.path("x")).parent)}
    for path in places:
        path.chmod(0o755)
    dpu.run(check).ok()
    on_dpu("link.files=ok config.file=ok", "--config", work / "conf")
    os.chown(key, 0, 0)
    said = on_dpu("link.files=ok config.file=fail", "--config", work / "conf")
    assert "service.key: use chown (dpumapd runs as user nobody)" in said
    os.chown(key, user.pw_uid, user.pw_gid)
    for path, mode in places.items():
        path.chmod(mode)
    serve("--config", work / "conf").stop()


def test_dpumapd_that_has_ended(as_name, agent):
    agent.stop()
    as_name("host1", "link.connect=fail exit==13")


@needs_spoil
def test_library_that_hangs(hanging):
    hanging.join(200)
    assert hanging.ended and not hanging.error, hanging.error
