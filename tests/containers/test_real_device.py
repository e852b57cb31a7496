# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A machine with a device of mlx5, as its files in /sys and /dev show it: the first step of other projects' CI says
so, and programs below the emulator see the emulated device alone."""

import pathlib
import shutil
import subprocess
import tempfile

import pytest

from harness.emulator import local_environment

STEP = pathlib.Path(__file__).resolve().parents[2] / "packaging/ci/dpumap-emu/emulator"
GUID = "b83f:d203:0012:3456"
BWRAP = "bwrap --die-with-parent --unshare-all --ro-bind / / --dev /dev --proc /proc".split()
# /sys/class/infiniband, /sys/class/infiniband_verbs and what libibverbs reads there.
SYSFS = {
    "class/infiniband/mlx5_0/node_guid": GUID,
    "class/infiniband/mlx5_0/node_type": "1: CA",
    "class/infiniband/mlx5_0/fw_ver": "32.43.1014",
    "class/infiniband/mlx5_0/ports/1/gids/0": "0000:0000:0000:0000:0000:0000:0000:0000",
    "class/infiniband_verbs/abi_version": "6",
    "class/infiniband_verbs/uverbs0/ibdev": "mlx5_0",
    "class/infiniband_verbs/uverbs0/abi_version": "1",
    "class/infiniband_verbs/uverbs0/dev": "231:192",
    "class/infiniband/mlx5_0/device/modalias": "pci:v000015B3d0000A2DCsv000015B3sd00000051bc02sc00i00",
}


def bubblewrap_works():
    return shutil.which("bwrap") and not subprocess.run([*BWRAP, "true"], capture_output=True, check=False).returncode


pytestmark = [pytest.mark.local, pytest.mark.skipif(not bubblewrap_works(), reason="bubblewrap makes no containers here")]


@pytest.fixture
def machine():
    """machine(SCRIPT): runs it on the machine with the device."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-real.", dir="/tmp"))
    for name, text in SYSFS.items():
        file = path / "sys" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="ascii")
    (path / "uverbs0").touch()

    def run(script):
        box = [*BWRAP, "--bind", str(path), str(path), "--ro-bind", f"{path}/sys", "/sys"]
        box += ["--dir", "/dev/infiniband", "--ro-bind", f"{path}/uverbs0", "/dev/infiniband/uverbs0"]
        environment = local_environment(path) | {"RUNNER_TEMP": str(path)}
        del environment["DPUMAP_EMU_DIR"]
        words = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "check": False, "timeout": 60}
        done = subprocess.run([*box, "bash", "-ec", script], env=environment, **words)
        print(done.stdout)
        assert done.returncode == 0, done.stdout
        return done.stdout

    yield run
    shutil.rmtree(path)


def test_step_names_the_device_and_programs_do_not_see_it(machine):
    script = f"""export GITHUB_ENV=$RUNNER_TEMP/variables
    echo outside:; ibv_devices
    {STEP} start
    . $GITHUB_ENV; export DPUMAP_EMU_DIR
    echo below:; dpumap-emu run --as host -- ibv_devices
    echo again:; ibv_devices
    {STEP} stop"""
    outside, rest = machine(script).split("below:")
    below, again = rest.split("again:")
    guid = GUID.replace(":", "")
    assert "mlx5_0" in outside and guid in outside
    assert outside.count("This machine has RDMA devices: mlx5_0. Programs below dpumap-emu see the emulated ones alone") == 1
    assert below.count("mlx5_") == 1 and "0c42a1" in below and guid not in below
    assert guid in again
