# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What zsh and fish offer. test_completion.py and test_completion_emu.py test the engine, which all shells share, in bash."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from harness.completion import FILES, PROGRAMS, Bash, Fish, remember_help


pytestmark = pytest.mark.local
LIMIT = 30  # seconds
SETUP = """fpath=({files}/zsh $fpath); PS1='> '; unsetopt list_ambiguous; autoload -Uz compinit
compinit -u -D; LISTMAX=1000; bindkey '^I' complete-word; echo rea''dy
"""
# Keys of zsh's editor: erase the line, go to its beginning, to its end.
ERASE, BEGIN, END = "\025", "\001", "\005"
# (line, what a list of the candidates has)
CASES = [
    ("dpumap pki ", ["init", "issue", "list", "renew", "revoke"]),
    ("dpumap pki init --key-type ", ["ed25519", "p256"]),
    ("dpumap read --", ["--offset", "--length", "--connect"]),
    ("dpumapd ctl ", ["add", "disconnect", "list", "reload", "rekey", "remove", "sessions", "status", "top"]),
    ("dpumapd ctl top --", ["--admin", "--interval", "--json", "--once"]),
    ("dpumapd --", ["--allow-uid", "--listen", "--max-clients-per-identity"]),
    ("dpumap-emu fault ", ["clear", "command", "completion", "queue"]),
    ("dpumap-emu gid add --type ", ["v1", "v2"]),
    ("dpumap-emu run --dir /none --as ", ["dpu", "host"]),
    ("dpumapd --config ", ["one.conf", "two.conf"]),
]
# (line, what it becomes)
SINGLE = [
    ("dpumap wat", "watch"),
    ("dpumap help pki rev", "revoke"),
    ("dpumapd doc", "doctor"),
    ("dpumapd ctl sess", "sessions"),
    ("dpumapd ctl top --int", "--interval"),
    ("dpumapd --config on", "one.conf"),
    ("dpumapd --config=on", "--config=one.conf"),
    ("dpumap --connect unix:on", "unix:one.conf"),
    ("dpumap --conn", "--connect"),
    ("dpumap-emu sto", "stop"),
    ("dpumap-emu run --profile=connectx-6", "--profile=connectx-6-dx"),
    ("dpumap-emu run --as dpu -- cat on", "one.conf"),
    ("dpumap-emu run --as dpu cat on", "one.conf"),
]


@pytest.fixture(scope="module")
def quick(here):
    return remember_help(here)


@pytest.fixture(scope="module")
def place(here):
    made = pathlib.Path(here.dir, "place")
    made.mkdir()
    for name in ("one.conf", "two.conf"):
        (made / name).touch()
    return made


def need(shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")


class Zsh:
    """An interactive zsh. It is told to complete by the key Tab."""

    def __init__(self, here, place):
        self.master, slave = pty.openpty()
        environment = {**here.environment, "TERM": "dumb", "HOME": str(place), "ZDOTDIR": str(place), "COLUMNS": "120"}
        self.process = subprocess.Popen(
            ["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=place,
            start_new_session=True,
        )
        os.close(slave)
        self.output = ""
        self.type(SETUP.format(files=FILES))
        self.wait("\nready")

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self, pattern):
        deadline = time.monotonic() + LIMIT
        while not re.search(pattern, self.output):
            assert time.monotonic() < deadline, self.output
            if select.select([self.master], [], [], 0.1)[0]:
                self.output += os.read(self.master, 65536).decode(errors="replace").replace("\r", "")
        return self.output

    def list(self, line):
        """What Tab lists; the line is erased later."""
        self.output = ""
        self.type(f"{ERASE}{line}\t")

    def becomes(self, line):
        """The line after Tab: zsh prints its words."""
        self.output = ""
        self.type(f"{ERASE}{line}\t{BEGIN}print -rC1 -- {END} .\n")
        return self.wait(r"\n\.\n").rpartition("\n.\n")[0].splitlines()

    def close(self):
        self.process.kill()
        self.process.wait(LIMIT)
        os.close(self.master)


@pytest.fixture(scope="module")
def zsh(quick, place):
    need("zsh")
    made = Zsh(quick, place)
    yield made
    made.close()


@pytest.fixture(scope="module")
def fish(quick, place):
    need("fish")
    made = Fish(quick, env={"HOME": str(place), "XDG_CONFIG_HOME": f"{place}/none"}, cwd=str(place))
    yield made
    made.close()


@pytest.mark.parametrize("line, wanted", CASES)
def test_zsh_lists_candidates(zsh, line, wanted):
    zsh.list(line)
    for word in wanted:
        zsh.wait(rf"\n(.* )?{re.escape(word)}( |\n|$)")


@pytest.mark.parametrize("line, wanted", SINGLE)
def test_zsh_completes_the_only_candidate(zsh, line, wanted):
    assert zsh.becomes(line)[-1] == wanted


@pytest.mark.parametrize("line, wanted", CASES)
def test_fish_lists_candidates(fish, line, wanted):
    offered = [row.partition("\t")[0] for row in fish.offers(line)]
    assert set(wanted) <= set(offered), offered


@pytest.mark.parametrize("line, wanted", SINGLE)
def test_fish_completes_the_only_candidate(fish, line, wanted):
    assert [row.partition("\t")[0] for row in fish.offers(line)] == [wanted]


def test_candidates_have_descriptions(zsh, fish):
    assert "revoke\tRevoke a certificate" in fish.offers("dpumap pki ")
    zsh.list("dpumap pki ")
    zsh.wait("-- Revoke a certificate")


def test_bash_offers_dpumapd(quick):
    """The others are in test_completion.py and test_completion_emu.py."""
    bash = Bash(quick, "dpumapd")
    assert bash.offers(["ctl", "re"]) == "rekey reload remove"
    bash.close()


def test_engine_offers_each_command_and_option_of_help(quick):
    """And of each command; the shells only filter what the engine says."""
    engine = pathlib.Path(__file__).resolve().parents[2] / "completion/engine.sh"

    def offered(*words):
        return {row.partition("\t")[0] for row in quick.run(["sh", engine, *words]).ok().splitlines()}

    checked = 0
    for program in PROGRAMS:
        text, first = quick.run([program, "--help"]).ok(), offered(program, "")
        for line in re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)[1].splitlines():
            command = [word for word in line[2:30].split() if re.fullmatch("[a-z][a-z-]*", word)]
            assert command[0] in first
            assert len(command) == 1 or command[-1] in offered(program, *command[:-1], "")
            text = quick.run([program, *command, "--help"]).ok()
            options = set(re.findall(r"^ +(?:-., )? *(--[a-z0-9-]+)", text, re.M))
            assert options and options <= offered(program, *command, "--"), command
            checked += 1
    assert checked > 30
