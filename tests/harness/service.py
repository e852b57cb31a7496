#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: service.py UNIT [OPTION...] COMMAND...

Runs a command with the restrictions that a unit of systemd imposes on it, without systemd. The
restrictions are read from the unit: the file systems that are read-only, what /proc shows, the
capabilities, the limits, and the filter of system calls, whose groups systemd-analyze knows.

To be started by `unshare --mount --net`, so nothing changes outside. --etc lays a directory over
/etc, --run is the unit's runtime directory, --address is an address of this machine, --hide a
file that the command cannot use, and --file one that it finds on a tmpfs.

Not imposed: the user, and what hides files of this test (ProtectHome, PrivateTmp) or needs control
groups (DeviceAllow).
"""

import argparse
import ctypes
import errno
import os
import pathlib
import resource
import shutil
import subprocess

MS_PRIVATE_EVERYWHERE = ("mount", "--make-rprivate", "/")
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
PROT_WRITE, PROT_EXEC = 2, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}
API = ("/dev", "/proc", "/sys")


def missing():
    """Why no command can be run like this here, or None."""
    for program in ("unshare", "ip", "systemd-analyze"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"{program} is missing"
    try:
        import seccomp  # noqa: F401, PLC0415 # pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        return "python3-seccomp is missing"
    if os.getuid() != 0:
        return "only root can make mount namespaces without user namespaces"
    probe = "mount --make-rprivate / && mount -t overlay -o lowerdir=/mnt:/etc overlay /etc && "
    probe += "mount -t proc -o subset=pid,hidepid=invisible proc /proc"
    done = subprocess.run(
        ["unshare", "--mount", "--net", "sh", "-c", probe], capture_output=True, text=True, check=False
    )
    return f"namespaces cannot be created: {done.stderr.strip()}" if done.returncode else None


def read_unit(path):
    """{key: [value...]} of the section Service. An empty value, which removes earlier ones, stays."""
    found, section = {}, None
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line and not line.startswith("#") and section == "Service":
            key, value = line.split("=", 1)
            found.setdefault(key, []).append(value)
    return found


def last(unit, key, default=None):
    return unit.get(key, [default])[-1]


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


# -- files --


def is_below(path, places):
    return any(path == place or path.startswith(place + "/") for place in places)


def mount_points():
    """Without those that a later mount hides: containers have mounts below /etc and /run."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        found = [line.split()[4] for line in file]
    return [
        path
        for number, path in enumerate(found)
        if not any(path != later and is_below(path, [later]) for later in found[number + 1 :])
    ]


def protect_system(unit, writable):
    """The whole tree read-only, but not the kernel's file systems and what the unit names."""
    if last(unit, "ProtectSystem") != "strict":
        raise SystemExit("service.py knows only ProtectSystem=strict")
    for line in unit.get("ReadWritePaths", ()):
        for path in line.split():
            if path.startswith("-") and not os.path.exists(path[1:]):
                continue
            writable.append(path.lstrip("-"))
    for path in writable:
        run("mount", "--bind", path, path)
    for path in mount_points():
        if not is_below(path, (*API, *writable)):
            run("mount", "-o", "remount,bind,ro", path)


def mount_proc(unit):
    options = ["nosuid,nodev,noexec"]
    hidden = {"invisible": "invisible", "noaccess": "noaccess", "ptraceable": "ptraceable"}
    if last(unit, "ProtectProc") in hidden:
        options.append(f"hidepid={hidden[last(unit, 'ProtectProc')]}")
    if last(unit, "ProcSubset") == "pid":
        options.append("subset=pid")
    run("mount", "-t", "proc", "-o", ",".join(options), "proc", "/proc")


def arrange_files(unit, words):
    run(*MS_PRIVATE_EVERYWHERE)
    if words.etc:
        run("mount", "-t", "overlay", "-o", f"lowerdir={words.etc}:/etc", "overlay", "/etc")
    writable = []
    if words.run:
        place = f"/run/{last(unit, 'RuntimeDirectory')}"
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
        os.mkdir(place)
        run("mount", "--bind", words.run, place)
        writable.append(place)
    for path in words.hide:
        run("mount", "--bind", "/dev/null", path)
    for path in map(pathlib.Path, words.file):
        place = next(above for above in path.parents if above.is_dir())
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(65536))
    protect_system(unit, writable)


def arrange_network(addresses):
    run("ip", "link", "set", "lo", "up")
    for address in addresses:
        run("ip", "address", "add", f"{address}/32", "dev", "lo")


# -- the process --


def prctl(option, value):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def drop_capabilities(unit, highest):
    """Without a bounding set, the program that runs next has none, even as root."""
    if last(unit, "CapabilityBoundingSet") != "":
        raise SystemExit("service.py knows only an empty CapabilityBoundingSet")
    for number in range(highest + 1):
        prctl(PR_CAPBSET_DROP, number)


def set_limits(unit):
    for key, values in unit.items():
        if key.startswith("Limit"):
            number = resource.RLIM_INFINITY if values[-1] == "infinity" else int(values[-1])
            try:
                resource.setrlimit(getattr(resource, f"RLIMIT_{key[5:]}"), (number, number))
            except ValueError:
                pass  # a container may not be allowed to raise it


def expand(group):
    """The system calls of a group."""
    done = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", group],
        capture_output=True,
        text=True,
        check=True,
    )
    calls = set()
    for line in done.stdout.splitlines()[1:]:
        word = line.strip()
        if word and not word.startswith("#"):
            calls |= expand(word) if word.startswith("@") else {word}
    return calls


def allowed_calls(unit):
    """The lines of SystemCallFilter= in their order; the first one decides that it is a list of
    what is allowed."""
    allowed = expand("@default")
    lines = unit.get("SystemCallFilter", [])
    assert lines and not lines[0].startswith("~"), "SystemCallFilter must list what is allowed"
    for line in lines:
        calls = set()
        for word in line.lstrip("~").split():
            calls |= expand(word) if word.startswith("@") else {word}
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    return allowed


def make_filters(unit):
    """What seccomp must load. Made before /proc and the capabilities are gone."""
    import seccomp  # noqa: PLC0415 # pylint: disable=import-outside-toplevel,import-error

    number = last(unit, "SystemCallErrorNumber")
    refused = seccomp.ERRNO(getattr(errno, number)) if number else seccomp.KILL_PROCESS
    calls = seccomp.SyscallFilter(refused)
    for name in sorted(allowed_calls(unit)):
        try:
            calls.add_rule(seccomp.ALLOW, name)
        except (RuntimeError, ValueError):
            pass  # this processor does not have it
    more = seccomp.SyscallFilter(seccomp.ALLOW)
    families = {FAMILIES[word] for word in last(unit, "RestrictAddressFamilies").split()}
    for family in set(range(1, 64)) - families:
        refuse = seccomp.ERRNO(errno.EAFNOSUPPORT)
        more.add_rule(refuse, "socket", seccomp.Arg(0, seccomp.EQ, family))
    if last(unit, "MemoryDenyWriteExecute") == "yes":
        both = PROT_WRITE | PROT_EXEC
        refuse = seccomp.ERRNO(errno.EPERM)
        more.add_rule(refuse, "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, both))
        for name in ("mprotect", "pkey_mprotect"):
            more.add_rule(refuse, name, seccomp.Arg(2, seccomp.MASKED_EQ, PROT_EXEC, PROT_EXEC))
    return calls, more


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("unit")
    parser.add_argument("--etc")
    parser.add_argument("--run")
    parser.add_argument("--address", action="append", default=[])
    parser.add_argument("--hide", action="append", default=[])
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("command", nargs="+")
    words = parser.parse_args()
    unit = read_unit(words.unit)
    filters = make_filters(unit)
    highest = int(pathlib.Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="utf-8"))
    arrange_network(words.address)
    arrange_files(unit, words)
    mount_proc(unit)
    set_limits(unit)
    drop_capabilities(unit, highest)
    os.umask(int(last(unit, "UMask", "022"), 8))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    for one in filters[::-1]:
        one.load()
    os.execvp(words.command[0], words.command)


if __name__ == "__main__":
    main()
