# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two containers that have nothing in common but a network: namespaces of their own, an ordinary user without
any capability, and an emulator in each. They are made by unshare, and by podman with each of Debian's runtimes."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

from harness.emulator import local_environment
from harness.machine import own_lines
from harness.network import ADDRESSES, Network, missing

pytestmark = pytest.mark.local
NOBODY = 65534
CONTAINER = "unshare --mount --mount-proc --pid --ipc --uts --fork --kill-child".split()
USER = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --bounding-set=-all --no-new-privs".split()
START = "set -e; dpumap-emu start --wire {address}; trap 'dpumap-emu stop' EXIT; run='dpumap-emu run --as dpu --'\n"
HYBRID = "/sys/fs/cgroup/unified"
WITHOUT_HYBRID = ("unshare", "--mount", "sh", "-c", f'umount {HYBRID} && exec "$@"', "sh")
# The defaults are above the limits of some machines, which only CAP_SYS_RESOURCE may exceed.
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000")


class Started:
    """A container. Its output goes to a file, as a full pipe that nobody reads would stop it."""

    def __init__(self, words, home, **more):
        self.path = home.with_suffix(".out")
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more)

    def out(self):
        return own_lines(self.path.read_text(encoding="utf-8", errors="replace"))

    def ends(self):
        """What it has printed, when it has ended well."""
        self.process.wait(600)
        assert self.process.returncode == 0, self.out()
        return self.out()


class Unshared:
    """Containers of unshare, on a cable between two network namespaces."""

    def __init__(self, path):
        self.network = Network(local_environment(path))
        self.address = ADDRESSES
        self.started = []

    def start(self, name, home, script):
        words = [*self.network.enter(name), *CONTAINER, *USER, "bash", "-c", script]
        environment = {**self.network.environment, "DPUMAP_EMU_DIR": f"{home}/emu", "HOME": str(home)}
        self.started.append(Started(words, home, cwd=home, env=environment))
        return self.started[-1]

    def close(self):
        for started in self.started:
            end(started.process)
        self.network.close()


class Podman:
    """Containers of podman on a bridge; the files of the machine are their image."""

    def __init__(self, path, runtime):
        self.environment, self.name = local_environment(path), f"dpumap-{os.getpid()}"
        self.path, self.runtime, self.started = path, runtime, []
        net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self.address = {"dpu": f"{net}.2", "host": f"{net}.3"}
        self.control("network", "create", "--subnet", f"{net}.0/24", self.name)

    def control(self, *words):
        done = subprocess.run(["podman", *words], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            pytest.skip(f"podman {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def command(self, name, home):
        bins = pathlib.Path(os.environ["DPUMAP_BIN"]).resolve().parent
        words, cgroups = [], []
        if self.runtime.endswith("/crun") and os.path.ismount(HYBRID):  # crun refuses both versions of cgroups at once
            words, cgroups = [*WITHOUT_HYBRID], ["--cgroups=disabled"]
        words += ["podman", "--runtime", self.runtime, "run", "--rm", "--network", self.name, *cgroups]
        words += ["--ip", self.address[name]]
        words += ["--name", f"{self.name}-{name}", "--user", str(NOBODY), "--cap-drop", "all", *LIMITS]
        words += ["--security-opt", "no-new-privileges", "--volume", f"{self.path}:{self.path}"]
        words += ["--volume", f"{bins}:{bins}:ro", "--workdir", str(home)]
        for key, value in {**self.environment, "DPUMAP_EMU_DIR": f"{home}/emu", "HOME": str(home)}.items():
            words += ["--env", f"{key}={value}"]
        return [*words, "--rootfs", "/:O"]

    def start(self, name, home, script):
        self.started.append(Started([*self.command(name, home), "bash", "-c", script], home))
        return self.started[-1]

    def is_possible(self):
        """Why no such container runs here, or an empty string."""
        done = subprocess.run([*self.command("dpu", self.path), "true"], capture_output=True, text=True, check=False,
                              timeout=60)
        return done.stderr.strip() if done.returncode else ""

    def close(self):
        for name in self.address:
            subprocess.run(["podman", "rm", "--force", "--time", "0", f"{self.name}-{name}"], capture_output=True,
                           check=False, timeout=60)
        for started in self.started:
            started.process.wait(60)
        subprocess.run(["podman", "network", "rm", self.name], capture_output=True, check=False, timeout=60)


def end(process):
    """All processes of a container end with its first one, which forgets --kill-child when it changes the user."""
    try:
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    except FileNotFoundError:
        children = ""
    for child in children.split():
        os.kill(int(child), signal.SIGKILL)
    process.kill()
    process.wait()


def make(path, kind):
    """The maker of containers; skips if this machine has none of this kind."""
    if kind == "unshare":
        reason = missing()
        if reason:
            pytest.skip(reason)
        return Unshared(path)
    for program in ("podman", kind):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            pytest.skip(f"{program} is not installed")
    podman = Podman(path, shutil.which(kind, path=os.environ["PATH"] + ":/usr/sbin:/sbin"))
    reason = podman.is_possible()
    if reason:
        podman.close()
        pytest.skip(f"podman with {kind}: {reason}")
    return podman


@pytest.fixture(params=["unshare", "crun", "runc"])
def containers(request):
    """containers(NAME, SCRIPT): starts a script in a container; the emulator's command is in $run."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-wire.", dir="/tmp"))
    path.chmod(0o755)
    try:
        with contextlib.closing(make(path, request.param)) as maker:

            def start(name, script):
                home = path / name
                home.mkdir(exist_ok=True)
                os.chown(home, NOBODY, NOBODY)
                return maker.start(name, home, START.format(address=maker.address[name]) + script)

            start.path, start.address = path, maker.address
            yield start
    finally:
        shutil.rmtree(path)


RETRY = "for i in $(seq 1000); do {} && exit; sleep 0.2; done; exit 1"


def test_perftest_between_containers(containers):
    """Each side begins again until its interface has all its addresses, and so the GIDs."""
    command = "$run ib_write_bw -d mlx5_0 -x 3 -F -n 100 -s 4096"
    server = containers("dpu", RETRY.format(command))
    client = containers("host", RETRY.format(f"{command} {containers.address['dpu']}"))
    try:
        assert " 4096 " in client.ends(), client.out()
        server.ends()
    finally:
        print(server.out())


def test_dpumap_between_containers(containers):
    """dpumapd listens on TLS, with a certificate; the client connects by address."""
    path = containers.path
    (path / "pki").mkdir(mode=0o700)
    pki = ["dpumap", "pki"]
    options = {"check": True, "env": local_environment(path), "cwd": path, "capture_output": True}
    subprocess.run([*pki, "init", "--dir", "pki"], **options)
    subprocess.run([*pki, "issue", "--dpu", "dpu", "--san", containers.address["dpu"], "--dir", "pki"], **options)
    subprocess.run([*pki, "issue", "--host", "host", "--dir", "pki"], **options)
    for name in ("dpu", "host"):
        home = path / name
        home.mkdir()
        for file in (f"{name}.crt", f"{name}.key", "ca.crt"):
            shutil.copy(path / "pki" / file, home / file)
            os.chown(home / file, NOBODY, NOBODY)
    (path / "dpu/dpumapd.conf").write_text(
        f'listen = [ "tls:{containers.address["dpu"]}:7470" ];\n'
        f'rdma = {{ listen = "{containers.address["dpu"]}:0"; }};\n'
        f'tls = {{ cert = "{path}/dpu/dpu.crt"; key = "{path}/dpu/dpu.key"; ca = "{path}/dpu/ca.crt"; }};\n'
        'exports = ( { name = "far"; kind = "dram"; size = "64K"; via = "rdma"; allow = [ "cert:host" ]; } );\n',
        encoding="utf-8",
    )
    (path / "dpu/dpumapd.conf").chmod(0o644)
    containers("dpu", "$run dpumapd --config dpumapd.conf >log 2>&1")
    tool = f"$run dpumap cp sent far got --connect tls:{containers.address['dpu']}:7470"
    tool += " --ca ca.crt --cert host.crt --key host.key"
    script = f"head -c 1000001 /dev/urandom >sent\n{RETRY.format(tool + ' 2>&1 && cmp sent got')}"
    try:
        out = containers("host", script).ends()
    finally:
        print((path / "dpu/log").read_text(encoding="utf-8"))
    assert "by RDMA connection" in out, out
