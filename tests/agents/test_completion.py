# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What bash offers for a command line of dpumap that is half typed."""

import re

import pytest

from harness.completion import Bash, remember_help

pytestmark = pytest.mark.local
WORD_BREAKS = " \t\n\"'><=;|&(:"
COMMANDS = "bench cp desc doca-pkgconfig-dir doctor dump fill fleet get help import info list pki read watch write"
CASES = [
    ([""], COMMANDS),
    (["re"], "read"),
    (["help", "re"], "read"),
    (["help", "pki", "i"], "init issue"),
    (["pki", ""], "init issue list renew revoke"),
    (["desc", ""], "check show"),
    (["pki", "frobnicate", ""], ""),
    (["--timeout", "3", "--verbose", "re"], "read"),
    (["read", "--sp"], "--sparse"),
    (["cp", "--fi"], "--file-offset"),
    (["fill", "--no"], "--no-verify"),
    (["list", "--sp"], ""),
    (["watch", "--co"], "--config --connect --count"),
    (["list", "--co"], "--config --connect"),
    (["desc", "show", "--co"], ""),
    (["desc", "show", "--sh"], "--show-secret"),
    (["pki", "init", "--ke"], "--key-type"),
    (["pki", "init", "--key-type", ""], "ed25519 p256"),
    (["--connect", ""], "tls: unix:"),
    (["bench", "x", "--size", ""], ""),
    (["pki", "init", "--key-type="], "ed25519 p256"),
    (["list", "--timeout="], ""),
]
FILES = [
    (["write", "x", "on"], "one.bin"),
    (["--cert", ""], "one.bin sub two.bin"),
    (["desc", "show", "t"], "two.bin"),
    (["--connect", "unix:t"], "two.bin"),
    (["cp", "o"], "one.bin"),
    (["pki", "init", "--dir", ""], "sub"),
]
# Options that end the program.
ENDING = {"--help", "--usage", "--version"}
WITH_OPTIONS = "list info get import read write cp fill dump watch bench doctor".split()


@pytest.fixture(scope="module")
def bash(here):
    shell = Bash(remember_help(here), "dpumap")
    yield shell
    shell.close()


@pytest.fixture
def offers(bash):
    """offers(WORDS): what is offered when the cursor is at the end of the last word, sorted."""
    return lambda words, breaks=WORD_BREAKS, **more: bash.offers(words, COMP_WORDBREAKS=breaks, **more)


def test_completion_is_registered(bash):
    assert "-F _dpumap dpumap" in bash.registered()


@pytest.mark.parametrize("words, wanted", CASES, ids=lambda value: "-" if value == "" else None)
def test_offers_commands_and_options(offers, words, wanted):
    assert offers(words) == wanted


@pytest.fixture(scope="module")
def general_help(here):
    return here.run(["dpumap", "--help"]).ok()


@pytest.mark.parametrize("command", WITH_OPTIONS)
def test_offers_each_option_of_help(here, offers, general_help, command):
    """And none that the command does not take: it accepts all of them at once, up to one that ends it."""
    text = here.run(["dpumap", command, "--help"]).ok() + general_help
    takes = dict(re.findall(r"^ +(?:-., )?(?:    )?(--[a-z0-9-]+)(=?)", text, re.M))
    assert offers([command, "--"]) == " ".join(sorted(takes))
    words = [f"{option}=1" if argument else option for option, argument in takes.items() if option not in ENDING]
    assert here.run(["dpumap", command, *words, "--help"]).ok().startswith(f"Usage: dpumap {command}")
    for option in ENDING & {*takes} - {"--help"}:
        here.run(["dpumap", command, option]).ok()


@pytest.mark.parametrize("words, wanted", FILES)
def test_completion_offers_files_and_directories(offers, work, words, wanted):
    for name in ("one.bin", "two.bin"):
        (work / name).touch()
    (work / "sub").mkdir()
    assert offers(words, cwd=work) == wanted


def test_offers_names_of_exports(offers, serve, work):
    """Of the dpumapd that the words or the environment name."""
    exports = ("bulk,kind=dram,size=64K", "boot,kind=dram,size=64K", "fast,kind=dm,size=4K")
    socket = serve(*(word for name in exports for word in ("--export", f"name={name}"))).address
    (work / "one.bin").touch()
    file = str(work / "one.bin")
    assert offers(["--connect", socket, "read", "b"]) == "boot bulk"
    assert offers(["-c", socket, "info", ""]) == "boot bulk fast"
    assert offers(["dump", "--connect", socket, "f"]) == "fast"
    assert offers(["--connect", f"unix:{socket}", "cp", ":b"]) == "boot bulk"
    assert offers([f"--connect=unix:{socket}", "cp", file, ":b"]) == "boot bulk"
    assert offers(["--connect", socket, "cp", ":b"], breaks=" ") == ":boot :bulk"
    assert offers(["--connect", socket, "cp", file, ":"]) == "boot bulk fast"
    assert offers(["get", "f"], DPUMAP_CONNECT=socket) == "fast"
    assert offers(["--connect", f"{work}/none", "get", "f"]) == ""


def test_offers_names_of_certificates(here, offers):
    """Of the authority that the words name, and only those that are valid."""
    for words in (["init"], ["issue", "--host", "web"], ["issue", "--host", "db"], ["revoke", "web"]):
        here.run(["dpumap", "pki", *words, "--dir", "pki"]).ok()
    assert offers(["pki", "revoke", "--dir", "pki", ""]) == "db"
    assert offers(["pki", "renew", "--dir", "pki", ""]) == "db"
