# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the emulated card needs of a container. bubblewrap makes containers that lack something: either two
programs still exchange messages there, or one line says what is missing."""

import errno
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from harness.emulator import local_environment
from harness.machine import await_true

BWRAP = "bwrap --die-with-parent --unshare-all --cap-drop ALL --ro-bind / / --dev /dev --proc /proc".split()
EMU = "dpumap-emu run --as dpu --"
# The server is the first of the two, so the client repeats until it listens.
PINGPONG = f"""dpumap-emu start || exit
{EMU} ibv_rc_pingpong -d mlx5_0 -g 1 -n 20 >/dev/null &
for i in $(seq 50); do {EMU} ibv_rc_pingpong -d mlx5_0 -g 1 -n 20 localhost 2>/dev/null && break; sleep 0.1; done
wait $! && dpumap-emu stop"""
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs".split()


def missing():
    """Why there can be no such containers here, or None."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    done = subprocess.run([*BWRAP, "true"], capture_output=True, text=True, check=False)
    return f"bubblewrap makes no containers here: {done.stderr}" if done.returncode else None


pytestmark = [pytest.mark.local, pytest.mark.skipif(bool(missing()), reason=str(missing()))]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give capabilities and mount /proc")


@pytest.fixture
def place():
    """A directory that containers may write if it is bound."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="dpumap-box.", dir="/tmp"))
    yield path
    subprocess.run(["dpumap-emu", "stop"], env=local_environment(path), capture_output=True, check=False)
    shutil.rmtree(path)


def run(words, place, fds=(), **variables):
    environment = local_environment(place) | variables
    done = subprocess.run(
        words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=fds, timeout=60
    )
    return done.returncode, done.stdout


def in_box(options, script, place, fds=(), **variables):
    words = [*BWRAP, "--bind", str(place), str(place), *options, "sh", "-c", script]
    return run(words, place, fds, **variables)


def exchanges(result):
    status, out = result
    assert status == 0 and "20 iters" in out, out


def refuses(result, line):
    """The reason is one line, however often the program tries."""
    status, out = result
    assert status != 0, out
    assert [said for said in out.splitlines() if line in said and said.startswith("dpumap-emu: ")] != [], out
    assert out.count(line) == 1, out


@pytest.mark.parametrize(
    "options",
    [[], ["--uid", "12345", "--gid", "12345"], ["--tmpfs", "/sys"], ["--tmpfs", "/dev/shm", "--remount-ro", "/dev/shm"]],
    ids=["all-namespaces", "user-without-name", "no-sysfs", "no-dev-shm"],
)
def test_the_emulator_works_in_a_container_that_lacks_comforts(options, place):
    exchanges(in_box(options, PINGPONG, place))


def test_read_only_root_without_tmp(place):
    """The default directory is then in /dev/shm."""
    exchanges(in_box([], f"unset DPUMAP_EMU_DIR; {PINGPONG}", place))


def filter_of(calls, number):
    seccomp = pytest.importorskip("seccomp")
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for call in calls:
        rules.add_rule(seccomp.ERRNO(number), call)
    file = tempfile.TemporaryFile()
    rules.export_bpf(file)
    file.seek(0)
    return file


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
def test_seccomp_without_process_vm(number, place):
    """As in the profile of Docker before Linux 4.8."""
    with filter_of(["process_vm_readv", "process_vm_writev"], number) as rules:
        exchanges(in_box(["--seccomp", str(rules.fileno())], PINGPONG, place, (rules.fileno(),)))


def test_seccomp_without_process_vm_copies(place):
    script = f"""dpumap-emu start
    {EMU} dpumapd --listen {place}/sock --export name=bulk,kind=dram,size=1M --export name=fast,kind=dm,size=4K \\
        >{place}/log 2>&1 &
    for i in $(seq 200); do [ ! -S {place}/sock ] || break; sleep 0.05; done
    head -c 300000 /dev/urandom >{place}/sent
    for name in bulk fast; do
        dpumap-emu run --as host -- dpumap --connect {place}/sock cp {place}/sent $name {place}/got || exit
        cmp {place}/sent {place}/got || exit
    done
    dpumap-emu stop"""
    with filter_of(["process_vm_readv", "process_vm_writev"], errno.EPERM) as rules:
        status, out = in_box(["--seccomp", str(rules.fileno())], script, place, (rules.fileno(),))
    assert status == 0, out


def test_seccomp_without_userfaultfd(place):
    """As in the profiles of podman and Docker."""
    status = f"{EMU} ibv_rc_pingpong -d mlx5_0 -g 1 >/dev/null & sleep 1; dpumap-emu status; kill $!"
    with filter_of(["userfaultfd"], errno.ENOSYS) as rules:
        option = ["--seccomp", str(rules.fileno())]
        exchanges(in_box(option, PINGPONG, place, (rules.fileno(),)))
        rules.seek(0)
        _, out = in_box(option, f"dpumap-emu start; {status}", place, (rules.fileno(),))
    assert "doorbells naps, userfaultfd: Function not implemented" in out, out


@needs_root
@pytest.mark.parametrize("options", ["hidepid=2", "hidepid=4", "subset=pid"])
def test_proc_mounted_with(options, place):
    place.chmod(0o777)
    mount = f"mount -t proc -o {options} proc /proc && exec {' '.join(NOBODY)} sh -c '{PINGPONG}'"
    exchanges(run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mount], place))


def test_other_pid_namespace_is_refused(place):
    assert run(["dpumap-emu", "start"], place)[0] == 0
    refuses(in_box([], f"{EMU} ibv_devinfo", place), "is in another PID namespace than the emulator; share the namespace")


def test_pid_namespace_beside_the_emulators_is_refused(place):
    """As two containers that share a volume and nothing else: neither sees the other's processes."""
    box = [*BWRAP, "--bind", str(place), str(place), "dpumap-emu", "start", "--foreground"]
    with subprocess.Popen(box, env=local_environment(place), stderr=subprocess.DEVNULL) as emulator:
        try:
            assert await_true(lambda: run(["dpumap-emu", "status"], place)[0] == 0, pause=0.05)
            refuses(in_box([], f"{EMU} ibv_devinfo", place), "is in another PID namespace than the emulator")
        finally:
            emulator.terminate()


def test_shared_pid_namespace_connects_containers(place):
    """Two containers with mounts, networks and IPC of their own."""
    apart = "bwrap --unshare-net --unshare-ipc --unshare-uts --ro-bind / / --dev /dev --proc /proc".split()
    apart += ["--bind", str(place), str(place), "sh", "-c"]
    assert run(["dpumap-emu", "start"], place)[0] == 0
    serve = f"{EMU} dpumapd --listen {place}/sock --export name=bulk,kind=dram,size=64K 2>/dev/null"
    with subprocess.Popen([*apart, serve], env=local_environment(place), stdout=subprocess.DEVNULL) as agent:
        try:
            assert await_true((place / "sock").exists, pause=0.05)
            copy = f"dpumap-emu run --as host -- dpumap --connect {place}/sock cp /bin/sh bulk {place}/got"
            status, out = run([*apart, f"{copy} && cmp /bin/sh {place}/got"], place)
        finally:
            run(["dpumap-emu", "stop"], place)
            agent.terminate()
    assert status == 0, out


@needs_root
def test_program_with_more_capabilities_is_refused(place):
    place.chmod(0o777)
    start = [*NOBODY, "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "dpumap-emu", "start"]
    assert run(start, place)[0] == 0
    more = [*NOBODY, "--inh-caps=+net_raw", "--ambient-caps=+net_raw", *EMU.split(), "ibv_devinfo"]
    refuses(run(more, place), "which has capabilities that the emulator lacks")
    assert run([*NOBODY, *EMU.split(), "ibv_devinfo"], place)[0] == 0
    run([*NOBODY, "dpumap-emu", "stop"], place)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--tmpfs", "/proc"], "the emulator needs /proc"),
        (["--tmpfs", "/dev"], "cannot open /dev/null: No such file or directory; the emulator needs it"),
    ],
    ids=["proc", "dev"],
)
def test_the_emulator_names_what_a_container_lacks(options, line, place):
    refuses(in_box(options, f"{EMU} ibv_devinfo", place), line)


def test_read_only_container_is_refused(place):
    options = ["--tmpfs", "/dev/shm", "--remount-ro", "/dev/shm", "--remount-ro", str(place)]
    for variables in ({}, {"DPUMAP_EMU_DIR": ""}):
        refuses(in_box(options, "dpumap-emu start", place, **variables), "; choose a directory that can be written: ")


def test_foreground_start_ends_by_signal(place):
    """As the first process of a container, where signals without a handler do nothing."""
    box = ["bwrap", "--unshare-all", "--as-pid-1", *"--ro-bind / / --dev /dev --proc /proc --info-fd 1".split()]
    box += ["--bind", str(place), str(place), "dpumap-emu", "start", "--foreground"]
    with subprocess.Popen(
        box, env=local_environment(place), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr.readline() == f"dpumap-emu: ready in {place}/emu\n"
        first = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()[0]
        os.kill(int(first), 15)
        assert process.wait(30) == 0
    assert not (place / "emu").exists()


def test_foreground_start_says_why_it_failed(place):
    refuses(run(["dpumap-emu", "start", "--foreground", "--dir", "/proc/none"], place), "cannot start an emulator")
