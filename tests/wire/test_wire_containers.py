# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Two containers that have nothing in common but a network: namespaces of their own, an ordinary user without
any capability, and an emulator in each."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

from harness.emulator import local_environment
from harness.network import ADDRESSES, Network, missing

pytestmark = [pytest.mark.local, pytest.mark.skipif(bool(missing()), reason=str(missing()))]
NOBODY = 65534
CONTAINER = "unshare --mount --mount-proc --pid --ipc --uts --fork --kill-child".split()
USER = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --bounding-set=-all --no-new-privs".split()
START = "set -e; dpumap-emu start --wire {address}; trap 'dpumap-emu stop' EXIT; run='dpumap-emu run --as dpu --'\n"


def end(process):
    """All processes of a container end with its first one, which forgets --kill-child when it changes the user."""
    try:
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    except FileNotFoundError:
        children = ""
    for child in children.split():
        os.kill(int(child), signal.SIGKILL)
    process.kill()
    process.communicate()


@pytest.fixture
def containers():
    """containers(NAME, SCRIPT): starts a script in a container; the emulator's command is in $run."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-wire.", dir="/tmp"))
    network = Network(local_environment(path))
    started = []

    def start(name, script):
        home = path / name
        home.mkdir(exist_ok=True)
        os.chown(home, NOBODY, NOBODY)
        words = [*network.enter(name), *CONTAINER, *USER, "bash", "-c"]
        words.append(START.format(address=ADDRESSES[name]) + script)
        environment = {**network.environment, "DPUMAP_EMU_DIR": f"{home}/emu", "HOME": str(home)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        process = subprocess.Popen(words, cwd=home, env=environment, text=True, **pipes)
        started.append(process)
        return process

    path.chmod(0o755)
    start.path = path
    yield start
    for process in started:
        end(process)
    network.close()
    shutil.rmtree(path)


def ends(process):
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return out


RETRY = "for i in $(seq 20); do {} && exit; sleep 0.2; done; exit 1"


def test_perftest_between_containers(containers):
    command = "$run ib_write_bw -d mlx5_0 -x 3 -F -n 100 -s 4096"
    server = containers("dpu", command)
    out = ends(containers("host", RETRY.format(f"{command} {ADDRESSES['dpu']}")))
    assert " 4096 " in out, out
    ends(server)


def test_dpumap_between_containers(containers):
    """dpumapd listens on TLS, with a certificate; the client connects by address."""
    path = containers.path
    (path / "pki").mkdir(mode=0o700)
    pki = ["dpumap", "pki"]
    options = {"check": True, "env": local_environment(path), "cwd": path, "capture_output": True}
    subprocess.run([*pki, "init", "--dir", "pki"], **options)
    subprocess.run([*pki, "issue", "--dpu", "dpu", "--san", ADDRESSES["dpu"], "--dir", "pki"], **options)
    subprocess.run([*pki, "issue", "--host", "host", "--dir", "pki"], **options)
    for name in ("dpu", "host"):
        home = path / name
        home.mkdir()
        for file in (f"{name}.crt", f"{name}.key", "ca.crt"):
            shutil.copy(path / "pki" / file, home / file)
            os.chown(home / file, NOBODY, NOBODY)
    (path / "dpu/dpumapd.conf").write_text(
        f'listen = [ "tls:{ADDRESSES["dpu"]}:7470" ];\n'
        f'rdma = {{ listen = "{ADDRESSES["dpu"]}:0"; }};\n'
        f'tls = {{ cert = "{path}/dpu/dpu.crt"; key = "{path}/dpu/dpu.key"; ca = "{path}/dpu/ca.crt"; }};\n'
        'exports = ( { name = "far"; kind = "dram"; size = "64K"; via = "rdma"; allow = [ "cert:host" ]; } );\n',
        encoding="utf-8",
    )
    (path / "dpu/dpumapd.conf").chmod(0o644)
    containers("dpu", "$run dpumapd --config dpumapd.conf >log 2>&1")
    tool = f"$run dpumap cp sent far got --connect tls:{ADDRESSES['dpu']}:7470"
    tool += " --ca ca.crt --cert host.crt --key host.key"
    script = f"head -c 1000001 /dev/urandom >sent\n{RETRY.format(tool + ' 2>&1 && cmp sent got')}"
    try:
        out = ends(containers("host", script))
    finally:
        print((path / "dpu/log").read_text(encoding="utf-8"))
    assert "by RDMA connection" in out, out
