#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: documents.py ROOT TREE
       documents.py --check

Runs all commands of the documents below, in order, as a reader would: in the root file system ROOT of a
minimal Debian, whose directory TREE contains the sources. Needs a network namespace of its own.

Each indented block of a document is run, unless a rule in RULES names another use. A rule belongs to one
command and must be used, so a document and its rules cannot diverge. Lines without "$ " in a block with
such lines are the expected output; "[...]" stands for anything. --check runs nothing: it only tests that each
rule has its command.
"""

import dataclasses
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time

LIMIT = 600  # seconds for one command
ADDRESSES = ("192.168.100.2/32", "192.0.2.1/32", "2001:db8::1/128")  # of the machine of the reader
SOURCES = pathlib.Path(__file__).resolve().parents[2]
# Each document, and the section of it that is run; None means all.
DOCUMENTS = (
    ("README.md", None),
    ("docs/hardware.md", "## Packages"),
    ("docs/tutorial.md", None),
    ("docs/packages.md", None),
    ("docs/emu/dpumap-emu.md", None),
    ("docs/emu/emulator.md", None),
)


@dataclasses.dataclass
class Rule:
    """What is special about the first command or line that matches. All texts are shell commands."""

    document: str
    pattern: str
    skip: str = ""  # why the command is not run
    picture: bool = False  # the block is not run
    home: str = ""  # the terminal of this command and the rest of the block
    write: str = ""  # the block is the content of this file
    terminals: tuple = ("",)  # "" is the terminal of the block
    before: str = ""  # what the text around the command tells the reader to do
    until: str = ""  # the command keeps running when it has printed this
    then: tuple = ()  # ("enter" or "interrupt", terminal): how a running command ends
    after: str = ""  # succeeds if the command had its effect
    status: int = 0  # of the command
    used: bool = False


README, HARDWARE, TUTORIAL, PACKAGES, EMULATOR, GUIDE = (name for name, _ in DOCUMENTS)
CARDS = "PATH=/test/cards:$PATH"  # where dpumap and dpumapd run on the emulated card
PKI = "~/.config/dpumap/pki"
PERFTEST_LISTENS = "until grep -q :4853 /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done"
RULES = (
    # -- README.md --
    Rule(README, r"scripts/test +# before", skip="this test is part of it"),
    Rule(README, r"scripts/test (quick|all)", skip="this test is part of it"),
    Rule(
        README,
        r"PATH=\$PWD",
        terminals=("", "dpu"),
        after="man -w dpumap && man -w dpumapd && man -w dpumapd.conf && man -w dpumap-emu",
    ),
    Rule(
        README,
        r"run --as dpu -- dpumapd --listen",
        terminals=("dpu",),
        until="dpumapd: ready on ",
    ),
    Rule(README, r"write bulk README.md", after="test -f README.md"),
    Rule(README, r"read bulk /tmp/copy", after="cmp -n 64 README.md /tmp/copy"),
    Rule(README, r"cp /bin/bash fast", after="cmp /bin/bash /tmp/bash", then=("interrupt", "dpu")),
    Rule(README, r"dpumap pki init", home="ca", before=f"PATH=$TREE/build/bin:$PATH; {CARDS}"),
    Rule(README, r"listen = ", write="/etc/dpumap/dpumapd.conf"),
    Rule(
        README,
        r"^dpumapd --config",
        terminals=("dpu",),
        before=CARDS,
        until="dpumapd: ready on ",
    ),
    Rule(
        README,
        r"connect = ",
        write="/etc/dpumap/dpumap.conf",
        before=CARDS,
        after="dpumap list | grep bulk && dpumap doctor",
    ),
    Rule(README, r"dpumap pki revoke", home="ca"),
    Rule(
        README,
        r"ctl reload",
        home="ca",
        after="dpumap list >/tmp/refusal 2>&1; test $? -ne 0 && grep -E 'revoked|reset|closed' /tmp/refusal",
    ),
    Rule(README, r"ibv_devinfo -v", then=("interrupt", "dpu")),
    Rule(README, r"list 'dpu\*:bulk'", skip="needs a registry; the tests of the lane fleet run it"),
    Rule(README, r"cp firmware.bin dpu7:bulk", skip="needs a registry; the tests of the lane fleet run it"),
    Rule(README, r"scripts/hil", skip="needs two machines; the lane hil runs it between namespaces"),
    Rule(README, r"make check", skip="builds the reader's own program"),
    Rule(README, r"meson setup", skip="builds the reader's own program"),
    Rule(README, r"build/program", skip="runs the reader's own program"),
    Rule(README, r"cc program.c", before="cd /tmp && cp $TREE/examples/umem/umem.c program.c"),
    # -- docs/hardware.md --
    Rule(
        HARDWARE,
        r"systemd-sysusers",
        after="getent passwd dpumap && env -u LD_LIBRARY_PATH /usr/local/sbin/dpumapd --version",
    ),
    Rule(
        HARDWARE,
        r"mkdir -p /etc/dpumap",
        after="systemd-analyze verify --man=no /usr/local/lib/systemd/system/dpumapd.service",
    ),
    # -- docs/tutorial.md --
    Rule(TUTORIAL, r"^PATH=", terminals=("", "second")),
    Rule(
        TUTORIAL,
        r"^cd ../../build",
        before="cd $TREE/examples/doca",
        terminals=("", "second"),
    ),
    Rule(TUTORIAL, r"^run\(\)", terminals=("", "second")),
    Rule(TUTORIAL, r"host_exports-host", until="Press Enter"),
    Rule(
        TUTORIAL,
        r"host_exports-dpu",
        terminals=("second",),
        after="cmp sent got && rm got",
        then=("enter", ""),
    ),
    Rule(TUTORIAL, r"dpu_exports-dpu", terminals=("second",), until="Press Enter"),
    Rule(
        TUTORIAL,
        r"dpu_exports-host",
        then=("enter", "second"),
        after="cmp sent got",
    ),
    Rule(TUTORIAL, r"comch_copy-dpu", terminals=("second",), until="Waiting for a client"),
    # The server ends with its client; it does not read the key.
    Rule(TUTORIAL, r"comch_copy-host", then=("enter", "second"), after="cmp sent got"),
    Rule(TUTORIAL, r"decompress-dpu", terminals=("second",), until="Waiting for a client"),
    Rule(TUTORIAL, r"decompress-host", then=("enter", "second")),
    Rule(TUTORIAL, r"sync_event-dpu", terminals=("second",), until="Waiting for the host"),
    Rule(TUTORIAL, r"sync_event-host", then=("enter", "second")),
    Rule(
        TUTORIAL,
        r"run dpu ./rdma",
        terminals=("second",),
        before="rm -f got",
        until="Waiting for a client",
    ),
    Rule(TUTORIAL, r"run host ./rdma", then=("enter", "second"), after="cmp sent got"),
    Rule(TUTORIAL, r"verbs_ping -p", terminals=("second",), until="Waiting for a client"),
    Rule(TUTORIAL, r"ibverbs_ping -a", then=("enter", "second")),
    # -- docs/packages.md --
    Rule(
        PACKAGES,
        r"^scripts/package +#",
        skip="the lane runs it",
    ),
    Rule(PACKAGES, r"scripts/package arm64", skip="the lane runs it"),
    Rule(PACKAGES, r"scripts/package --source", picture=True),  # the lane runs them
    Rule(PACKAGES, r"^autopkgtest", skip="the lane runs it"),
    Rule(PACKAGES, r"dpumap pki init", before=CARDS),
    Rule(
        PACKAGES,
        r"^chown dpumap",
        before=f"{CARDS}; cd {PKI} && cp dpu1.crt dpu1.key ca.crt ca.crl /etc/dpumap/",
    ),
    Rule(
        PACKAGES,
        r"^cp /usr/share/doc",
        after="sed -i -e '/^listen = /d; s/^# listen/listen/' -e '/^# tls = {/,/^# };/s/^# \\?//'"
        ' -e \'s/"uid:0"/"uid:0", "cert:host1"/\' /etc/dpumap/dpumapd.conf',
    ),
    Rule(PACKAGES, r"^dpumapd doctor", after="dpumapd doctor --json | grep -q '\"link.files\"'"),
    Rule(
        PACKAGES,
        r"^dpumap doctor",
        before=f"cp {PKI}/host1.crt {PKI}/host1.key /etc/dpumap/ && cp /test/dpumap.conf /etc/dpumap/",
    ),
    # Without a configuration, the tool finds the socket of the service.
    Rule(
        PACKAGES,
        r"^dpumap list",
        after="rm /etc/dpumap/dpumap.conf && dpumap list",
    ),
    Rule(PACKAGES, r"Overall exposure", picture=True),  # inside.sh prints it
    Rule(PACKAGES, r"^cd /etc/dpumap", picture=True),  # an editor does not end by itself
    Rule(PACKAGES, r"^# /etc/systemd/system/", picture=True),  # units.sh tests them
    Rule(PACKAGES, r"^setpriv", picture=True),
    # -- docs/emu/dpumap-emu.md --
    # A server that writes into a pipe says too late that it waits for a client.
    Rule(EMULATOR, r"run --as dpu -- ib_write_bw -x 3$", terminals=("server",), until="^"),
    Rule(EMULATOR, r"ib_write_bw -x 3 127.0.0.1", before=PERFTEST_LISTENS, then=("enter", "server")),
    Rule(EMULATOR, r"ibv_rc_pingpong", status=1),
    Rule(EMULATOR, r"make check", skip="builds the reader's own program"),
    Rule(EMULATOR, r"^dpumap-emu pci", picture=True),  # the lane guest boots virtual machines
    Rule(EMULATOR, r"--dir /tmp/one --as dpu -- ib_write_bw", terminals=("server",), until="^"),
    Rule(
        EMULATOR,
        r"ib_write_bw -x 3 127.0.0.2",
        before=PERFTEST_LISTENS,
        then=("enter", "server"),
        after="dpumap-emu stop --dir /tmp/one && dpumap-emu stop --dir /tmp/two",
    ),
    # -- docs/emu/emulator.md --
    Rule(GUIDE, r"my_server", skip="the reader's own program"),
    Rule(GUIDE, r"my_client", skip="the reader's own program"),
    Rule(GUIDE, r"^mpirun", skip="the reader's own program"),
    Rule(GUIDE, r"^profile = ", picture=True),  # parts of a file; tests/integration has such files
    Rule(GUIDE, r"^\[node\]", picture=True),
    Rule(GUIDE, r"start --gid", after="dpumap-emu stop"),
    Rule(GUIDE, r"gid del", after="dpumap-emu stop"),
    Rule(GUIDE, r"start (--cards 2 )?--wire", after="dpumap-emu stop"),
    Rule(GUIDE, r"^endpoint ", picture=True),
    Rule(GUIDE, r"ctest", skip="the reader's own tests"),
    Rule(GUIDE, r"^dpu c1 mr.create", picture=True),
    Rule(GUIDE, r"^host cm.resolve_addr", picture=True),
    Rule(GUIDE, r"wireshark", skip="needs a screen"),
    Rule(GUIDE, r"capture one", until="^", then=("interrupt", ""), after="test -s one.pcapng"),
    Rule(GUIDE, r"capture mine", until="^", then=("interrupt", "")),
    Rule(GUIDE, r"capture transfer", before="dpumap-emu start --nodes 2", until="^", then=("interrupt", "")),
    Rule(GUIDE, r"fault queue", status=1),  # there is no queue pair
    Rule(GUIDE, r"^#include", picture=True),
    Rule(GUIDE, r"^for ", picture=True),
    Rule(GUIDE, r"chaos --plan", skip="takes a minute; the tests of the lane integration run such plans"),
    Rule(GUIDE, r"^duration", picture=True),
    Rule(GUIDE, r"^pid_t", picture=True),
    Rule(GUIDE, r"^dpumap_emu_chaos\(", picture=True),
)

# Programs that stand for what the root lacks: a second machine, systemd as process 1, a card.
STAND_INS = {
    "bin/scp": 'for last; do :; done\nset -- "$@" --\nwhile [ "$2" != -- ]; do cp "$1" "${last#*:}" || exit; shift; done',
    "bin/ssh": 'shift\nexec sh -c "$*"',
    "bin/systemctl": """case $* in
daemon-reload) ;; # nothing is running
"start dpumapd")
	install -d -o dpumap -g dpumap /run/dpumapd
	command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/dpumapd.service)
	setsid /test/cards/dpumapd ${command#* } >/tmp/ready 2>/tmp/dpumapd.log </dev/null &
	exec timeout 300 sh -c 'until grep -q "ready on" /tmp/ready; do sleep 0.1; done'
	;;
*) exec /usr/bin/systemctl "$@" ;;
esac""",
    "cards/dpumap": 'PATH=${PATH#/test/cards:}\nexec $TREE/build/bin/dpumap-emu run --as host -- dpumap "$@"',
    "cards/dpumapd": 'PATH=${PATH#/test/cards:}\nexec $TREE/build/bin/dpumap-emu run --as dpu -- dpumapd "$@"',
}


class Wrong(Exception):
    pass


class Terminal:
    """A shell in the root. A command and what the reader types go to the same input."""

    def __init__(self, root, tree, name):
        self.name, self.text, self.count, self.begin = name, "", 0, 0
        self.running = False
        self.changed = threading.Condition()
        env = {
            "PATH": "/test/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "TREE": tree,
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        # pylint: disable-next=consider-using-with
        self.shell = subprocess.Popen(
            ["chroot", root, "bash", "--norc", "--noprofile"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        threading.Thread(target=self.read, daemon=True).start()
        self.run(f"cd {shlex.quote(tree)}")

    def read(self):
        while data := os.read(self.shell.stdout.fileno(), 65536):
            with self.changed:
                self.text += data.decode(errors="replace")
                self.changed.notify_all()
        with self.changed:
            self.shell = None
            self.changed.notify_all()

    def type(self, text):
        self.shell.stdin.write(text.encode())
        self.shell.stdin.flush()

    def start(self, command):
        assert not self.running, f"{self.name} still runs a command"
        self.count += 1
        self.begin, self.running = len(self.text), True
        self.type(f"eval {shlex.quote(command)}; printf '\\n<%d %d>\\n' {self.count} $?\n")

    def output(self):
        return self.text[self.begin :]

    def wait(self, pattern):
        """Waits until the command has printed this; fails if it has ended."""
        end = rf"\n<{self.count} (\d+)>\n"
        with self.changed:
            self.changed.wait_for(
                lambda: not self.shell or re.search(f"{pattern}|{end}", self.output()), LIMIT
            )
            if not (found := re.search(pattern, self.output())):
                raise Wrong(f"does not {'end' if pattern == end else 'print ' + pattern}")
            return found

    def has_ended(self):
        with self.changed:
            return not self.shell or re.search(rf"\n<{self.count} (\d+)>\n", self.output())

    def end(self):
        """Waits for the end of the command; returns its status."""
        status = int(self.wait(rf"\n<{self.count} (\d+)>\n")[1])
        self.running = False
        return status

    def run(self, command):
        self.start(command)
        if status := self.end():
            raise Wrong(f"exits with {status}: {command}")

    def press(self, key):
        """Enter or Ctrl-C, which goes to all processes of the command."""
        if key == "enter":
            self.type("\n")
        else:
            # A program may print nothing when it is ready, or may have ended.
            while not any(expects(pid, signal.SIGINT) for pid in descendants(self.shell.pid)):
                if self.has_ended():
                    break
                time.sleep(0.1)
            for pid in descendants(self.shell.pid):
                os.kill(pid, signal.SIGINT)
        if status := self.end():
            raise Wrong(f"exits with {status} after {key}")

    def close(self):
        if self.shell:
            self.shell.kill()


def expects(pid, number):
    """Whether a process catches a signal, or blocks it to read it."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    sets = re.findall(r"^Sig(?:Cgt|Blk):\t([0-9a-f]+)$", status, re.M)
    return any(int(bits, 16) >> (number - 1) & 1 for bits in sets)


def descendants(parent):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            pid = int(stat.parent.name)
            found += [*descendants(pid), pid]
    return found


def blocks(text, section):
    """(line number, lines) of each indented block. Blocks of C code between fences are not commands."""
    lines, found, wanted, fenced = text.splitlines(), [], section is None, False
    for number, line in enumerate(lines, 1):
        fenced ^= line.startswith("```")
        if section and line.startswith("## "):
            wanted = line == section
        if not wanted or fenced or not line.startswith("    "):
            continue
        if found and found[-1][0] + len(found[-1][1]) == number:
            found[-1][1].append(line)
        else:
            found.append((number, [line]))
    return [(number, textwrap.dedent("\n".join(body)).splitlines()) for number, body in found]


def commands(lines):
    """(command, expected output) of each command, and ("# comment", []) of each comment."""
    prompted = any(line.startswith("$ ") for line in lines)
    found, open_line = [], False
    for line in lines:
        if open_line:
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif prompted and not line.startswith("$ "):
            found[-1][1].append(line)
            continue
        else:
            found.append((line.removeprefix("$ "), []))
        open_line = line.endswith("\\")
    return found


class Reader:
    def __init__(self, root, tree):
        self.root, self.tree, self.terminals = root, tree, {}

    def terminal(self, name):
        if name not in self.terminals:
            self.terminals[name] = Terminal(self.root, self.tree, name)
        return self.terminals[name]

    def write(self, path, lines):
        path = pathlib.Path(self.root + path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        path.chmod(0o644)

    def follow(self, command, expected, rule, home):
        """Does what the document says in one command."""
        for name in rule.terminals:
            terminal = self.terminal(name or home)
            if rule.before:
                terminal.run(rule.before)
            if command:
                terminal.start(command)
            if rule.until:
                terminal.wait(rule.until)
            elif command and (status := terminal.end()) != rule.status:
                raise Wrong(f"exits with {status}")
            for line in expected:
                pattern = re.escape(line).replace(re.escape("[...]"), ".*")
                if not re.search(f"^{pattern}$", terminal.output(), re.M):
                    raise Wrong(f"does not print {line}")
        if rule.then:
            self.terminal(rule.then[1] or home).press(rule.then[0])
        if rule.after:
            self.terminal(rule.terminals[0] or home).run(rule.after)

    def read_block(self, document, number, lines):
        home = "first"
        block = rule_of(document, lines[0])
        if block and block.picture:
            return
        if block and block.write:
            self.write(block.write, lines)
            self.write("/test/" + os.path.basename(block.write), lines)
            self.follow("", [], block, home)
            return
        for command, expected in commands(lines):
            if machine := re.match(r"# the (server|DPU)", command):
                home = machine[1]
            if command.startswith("#"):
                continue
            rule = rule_of(document, command) or Rule(document, "")
            if rule.skip:
                continue
            home = rule.home or home
            print(f"{document}:{number}: {command}", flush=True)
            self.follow(command, expected, rule, home)

    def read_document(self, document, section):
        text = (SOURCES / document).read_text(encoding="utf-8")
        for number, lines in blocks(text, section):
            try:
                self.read_block(document, number, lines)
            except Wrong as wrong:
                for terminal in self.terminals.values():
                    print(f"-- terminal {terminal.name}:\n{terminal.output()[-3000:]}")
                sys.exit(f"{document}:{number}: {wrong}")
        self.close()

    def close(self):
        """Ends all that the document started."""
        for terminal in self.terminals.values():
            terminal.close()
        self.terminals = {}
        for link in pathlib.Path("/proc").glob("[0-9]*/root"):
            try:
                if os.readlink(link) == self.root:
                    os.kill(int(link.parent.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended


def rule_of(document, line):
    for rule in RULES:
        if rule.document == document and re.search(rule.pattern, line):
            rule.used = True
            return rule
    return None


def prepare(root):
    for name, text in STAND_INS.items():
        path = pathlib.Path(root) / "test" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    answers = pathlib.Path(root) / "etc/apt/apt.conf.d/99yes"  # the reader says yes
    answers.write_text('APT::Get::Assume-Yes "true";\n', encoding="utf-8")
    for words in ("link set lo up", *(f"address add {address} dev lo" for address in ADDRESSES)):
        subprocess.run(["ip", *words.split()], check=True)


class Nobody(Reader):
    """Reads the documents and does nothing."""

    def write(self, path, lines):
        pass

    def follow(self, command, expected, rule, home):
        pass


def check_rules():
    unused = [f"{rule.document}: {rule.pattern}" for rule in RULES if not rule.used]
    if unused:
        sys.exit(f"no command matches these rules: {', '.join(unused)}")


def main():
    if sys.argv[1:] == ["--check"]:
        for document, section in DOCUMENTS:
            Nobody("", "").read_document(document, section)
        check_rules()
        return
    root, tree = os.path.realpath(sys.argv[1]), sys.argv[2]
    prepare(root)
    reader = Reader(root, tree)
    try:
        for document, section in DOCUMENTS:
            if document == PACKAGES:
                # The packages are read about on machines without an earlier installation.
                reader.terminal("first").run(
                    "xargs rm -f <build/install_manifest.txt && ldconfig && rm -rf ~/.config/dpumap /etc/dpumap"
                )
            reader.read_document(document, section)
    finally:
        reader.close()
    check_rules()


if __name__ == "__main__":
    main()
