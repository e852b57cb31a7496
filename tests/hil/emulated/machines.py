#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""machines.py EMULATOR DIR PROFILE COMMAND...: two machines with one emulated card between them.

Each is a network namespace with /tmp and /run of its own and a real sshd, whose commands run on its
side of the card that the program EMULATOR plays. They have a cable between them, as a DPU and its
host have, and each a line of its own to where COMMAND runs. COMMAND finds in DIR ssh_config,
for the names "host" and "dpu", and properties.ini.

To be started as root by `unshare --net --mount --pid --fork --kill-child --mount-proc`: so that
nothing of it survives it, however it ends.
"""

import os
import pathlib
import pwd
import shlex
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PORT = 2222
SIDES = {
    "host": {"line": "198.51.100.2", "driver": "198.51.100.1", "cable": "192.0.2.2"},
    "dpu": {"line": "203.0.113.2", "driver": "203.0.113.1", "cable": "192.0.2.1"},
}

SSHD_CONFIG = """\
Port {port}
ListenAddress {line}
HostKey {dir}/{name}-host-key
AuthorizedKeysFile /run/hil/authorized_keys
PidFile none
StrictModes yes
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
ForceCommand {dir}/{name}-shell
"""

# The environment of a command is what its ssh gives it, and the card.
SHELL = """\
#!/bin/bash
exec {emulator} run --dir {dir}/card --as {name} -- \\
	/bin/bash -c "${{SSH_ORIGINAL_COMMAND:?commands only}}"
"""

SSH_CONFIG = """\
Host {name}
  HostName {line}
  Port {port}
  User root
  IdentityFile {dir}/key
  IdentitiesOnly yes
  UserKnownHostsFile {dir}/known_hosts
  StrictHostKeyChecking yes
"""

# The machine's own /tmp, /run and home; what both have of the outside is DIR. (A shell that sshd
# starts reads ~/.bashrc.)
MACHINE = """\
mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd /run/hil /run/outside || exit
mount --bind {dir} /run/outside && mount -t tmpfs -o mode=1777 none /tmp || exit
mount -t tmpfs -o mode=700 none {home} || exit
mkdir -p {dir} && mount --move /run/outside {dir} || exit
install -m 600 {dir}/key.pub /run/hil/authorized_keys
read -r _ || exit
exec "$(command -v sshd)" -D -e -f {dir}/{name}-sshd
"""


def sh(*words):
    """Runs a command that must succeed."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def make_key(path):
    sh("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "dpumap-hil", "-f", str(path))


def write(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)


def start_machine(name, directory):
    """A process in namespaces of its own that becomes sshd on request."""
    home = shlex.quote(pwd.getpwuid(0).pw_dir)
    script = MACHINE.format(dir=shlex.quote(str(directory)), name=name, home=home)
    with open(directory / f"{name}-sshd.log", "w", encoding="utf-8") as log:
        return subprocess.Popen(
            ["unshare", "--net", "--mount", "bash", "-c", script],
            stdin=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def inside(machine, *words):
    sh("nsenter", f"--net=/proc/{machine.pid}/ns/net", *words)


def check(name, directory, machine):
    """That it lives; between two looks at something."""
    time.sleep(0.02)
    if machine.poll() is not None:
        log = (directory / f"{name}-sshd.log").read_text()
        sys.exit(f"machines: the {name} ended with {machine.returncode}: {log}")


def await_namespace(name, directory, machine):
    mine = os.readlink("/proc/self/ns/net")
    check(name, directory, machine)
    while os.readlink(f"/proc/{machine.pid}/ns/net") == mine:
        check(name, directory, machine)


def plug(name, machine, side):
    """The line between this namespace and the machine's."""
    here = f"hil-{name}"
    sh(
        "ip",
        "link",
        "add",
        "name",
        here,
        "type",
        "veth",
        "peer",
        "name",
        "line",
        "netns",
        str(machine.pid),
    )
    sh("ip", "address", "add", side["driver"] + "/24", "dev", here)
    sh("ip", "link", "set", here, "up")
    inside(machine, "ip", "address", "add", side["line"] + "/24", "dev", "line")
    for link in ("lo", "line"):
        inside(machine, "ip", "link", "set", link, "up")


def lay_cable(machines):
    """What the channel goes over, named as the driver of a DPU names it."""
    # fmt: off
    sh("ip", "link", "add", "name", "cable", "type", "veth", "peer", "name", "tmfifo_net0",
       "netns", str(machines["dpu"].pid))
    sh("ip", "link", "set", "cable", "netns", str(machines["host"].pid), "name", "tmfifo_net0")
    # fmt: on
    for name, side in SIDES.items():
        inside(machines[name], "ip", "address", "add", side["cable"] + "/24", "dev", "tmfifo_net0")
        inside(machines[name], "ip", "link", "set", "tmfifo_net0", "up")


def configure(directory, emulator):
    make_key(directory / "key")
    ssh_config, known = "", ""
    for name, side in SIDES.items():
        words = {"dir": directory, "name": name, "port": PORT, "emulator": shlex.quote(emulator)}
        make_key(directory / f"{name}-host-key")
        write(directory / f"{name}-sshd", SSHD_CONFIG.format(**words, **side))
        write(directory / f"{name}-shell", SHELL.format(**words), 0o700)
        ssh_config += SSH_CONFIG.format(**words, **side)
        key = (directory / f"{name}-host-key.pub").read_text()
        known += f"[{side['line']}]:{PORT} {key}"
    write(directory / "ssh_config", ssh_config)
    write(directory / "known_hosts", known)
    shutil.copy(HERE / "properties.ini", directory)


def await_sshd(name, directory, machine):
    """Until it listens, as its log says."""
    log = directory / f"{name}-sshd.log"
    while "Server listening on" not in log.read_text():
        check(name, directory, machine)


def reap_until(pid):
    """The status of a child; orphans are ours as well."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def main():
    emulator, directory, profile = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    command = sys.argv[4:]
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    sh("ip", "link", "set", "lo", "up")
    configure(directory, emulator)
    machines = {name: start_machine(name, directory) for name in SIDES}
    for name, machine in machines.items():
        await_namespace(name, directory, machine)
        plug(name, machine, SIDES[name])
    lay_cable(machines)
    sh(emulator, "start", "--dir", str(directory / "card"), "--profile", profile)
    for name, machine in machines.items():
        machine.stdin.write("go\n")
        machine.stdin.flush()
        await_sshd(name, directory, machine)
    child = None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # As the first process of its namespace it has none but those that it asks for.
        signal.signal(number, lambda number, _: child and child.send_signal(number))
    child = subprocess.Popen(command)
    status = reap_until(child.pid)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
