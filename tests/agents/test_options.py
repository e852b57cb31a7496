# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Command lines: help that fits a screen; status 2 and a reason for what is not valid."""

import pathlib
import re

import pytest

from harness.agents import WRONG

pytestmark = pytest.mark.local
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCREEN = 24  # lines

# What dpumap refuses: the words, and what its first line matches.
TOOL = [
    ("", "missing command"),
    ("frobnicate", 'unknown command "frobnicate"'),
    ("cp a", "cp needs FILE :NAME or :NAME FILE or FILE NAME OUTFILE"),
    ("cp a b", "cp needs one export, written :NAME"),
    ("cp :a :b", "cp needs one export, written :NAME"),
    ("cp a b c d", "too many arguments for cp"),
    ("list a b", "too many arguments for list"),
    ("list --cached", "--cached needs --fleet"),
    ("info a b", "too many arguments for info"),
    ("info --descriptor x y", "info takes no arguments with --descriptor"),
    ("list --offset 1", "unrecognized option '--offset'"),
    ("read a b --offset=-1", '--offset must be a number of bytes, not "-1"'),
    ("read a b --length 1X", '--length must be a number of bytes, not "1X"'),
    ("list --timeout 0", "--timeout must be 1 to 3600 seconds"),
    ("desc", "desc needs one of show, check"),
    ("desc show", "desc show needs FILE"),
    ("desc print x", 'unknown command "print"; use one of show, check'),
    ("lst", 'unknown command "lst"; did you mean "list"'),
    ("pki revok a", 'unknown command "revok"; did you mean "revoke"'),
    ("init", 'unknown command "init"; did you mean "pki init"'),
    ("--offset 3 list", "list does not take --offset"),
    ("desc show a b c", "too many arguments for desc show"),
    ("info a --show-secret", "unrecognized option '--show-secret'"),
    ("cp a :b --sparse", "--sparse is valid only when a file is written"),
    ("read a --sparse", "--sparse needs a FILE"),
    ("read a --json", "--json needs a FILE"),
    ("cp :b a --file-offset 1", "--file-offset is valid only when a file is read"),
    ("fill a 123", "pairs of hexadecimal digits"),
    ("fill a 0x", "pairs of hexadecimal digits"),
    ("bench a --size 0", "--size must be at least 1"),
    ("bench a --count 1000001", "--count must be at most 1000000"),
    ("watch --count 0", "--count must be 1 to"),
    ("pki issue", "use either --dpu NAME or --host NAME"),
    ("pki issue --dpu a --host b", "use either --dpu NAME"),
    ("pki issue --host a --san b", "--san is valid only with --dpu"),
    ("pki issue --dpu a --san b,DNS:c", "--san must be a DNS name or an IP address"),
    ("pki issue --dpu ../a", "a name must be 1 to 63 of"),
    ("pki issue --host ca", "the name ca is"),
    ("pki init --key-type rsa", "--key-type must be p256 or ed25519"),
    ("pki init --days 0", '--days must be 1 to 36500, not "0"'),
    ("pki revoke", "pki revoke needs NAME"),
    (f"--connect {200 * '0'} list", "--connect: .*the path has more than"),
    ("list --connect tls:host", "--connect: invalid address tls:host"),
    ("--none", "unrecognized option"),
]

DM = "name=a,kind=dm,size=4K"
DAEMON = [
    ("", "nothing to export"),
    ("--export kind=dm,size=4K", "an export has no name"),
    ("--export name=a,size=4K", "kind is missing"),
    ("--export name=a,kind=dm", "size is missing"),
    (f"--export {DM},colour=red", 'unknown export key "colour'),
    (f"--export {DM},size=8K", "size= is given twice"),
    ("--export name,kind=dm,size=4K", '"name" is not KEY=VALUE'),
    ("--export name=a,kind=tape,size=4K", "kind must be dm, dram, file or dmabuf"),
    ("--export name=a,kind=dm,size=0", "size must be a number"),
    ("--export name=a,kind=dm,size=4Q", "size must be a number"),
    ("--export name=a,kind=dram,size=max", 'size max is not valid for kind dram'),
    (f"--export {DM},perm=wo", "perm must be rw or ro"),
    (f"--export {DM},align=0", 'align must be a power of two, not "0"'),
    (f"--export {DM},align=96", 'align must be a power of two, not "96"'),
    ("--export name=a,align=x,kind=dm,size=4K", 'align must be a power of two, not "x"'),
    ("--export name=a,kind=dram,size=4K,align=4K", "align is valid only for kind dm"),
    (
        "--export name=a,kind=dram,size=4K,pages=big",
        'pages must be usual, huge or the size of huge pages, not "big"',
    ),
    (f"--export {DM},pages=huge", "pages and node are valid only for kind dram"),
    (f"--export {DM},node=0", "pages and node are valid only for kind dram"),
    ("--export name=a,kind=dram,size=4K,node=x", "node must be a number"),
    ("--export name=a,kind=dram,size=4K,node=0,pages=huge", "pages and node cannot be combined"),
    ("--export name=a/b,kind=dm,size=4K", '"a/b" is not a valid export name'),
    (f"--export {DM},label=gpu", 'export a: label must be KEY=VALUE, .* not "gpu"'),
    (f"--export {DM},label=gpu=", 'export a: label must be KEY=VALUE, .* not "gpu="'),
    (f"--export {DM},label=g/u=1", 'export a: label must be KEY=VALUE, .* not "g/u=1"'),
    (f"--export {DM},label={64 * 'k'}=1", "export a: label must be KEY=VALUE"),
    (f"--export {DM},label=gpu=yes,label=gpu=no", "export a: label gpu is given twice"),
    (f"--export {DM}{''.join(f',label=k{n}=v' for n in range(17))}", "export a: .* at most 16 labels"),
    (f"-e {DM} -e name=a,kind=dram,size=4K", "two exports called a"),
    (f"-e {DM} --allow-uid root", "--allow-uid must be a number"),
    (f"-e {DM} --max-clients 0", "--max-clients cannot be 0"),
    (f"-e {DM} --max-clients-per-identity 0", "--max-clients-per-identity cannot be 0"),
    (f"-e {DM} x", 'unknown command "x"'),
    ("frobnicate", 'unknown command "frobnicate"'),
    ("docter", 'unknown command "docter"; did you mean "doctor"'),
    ("--none", "unrecognized option"),
]
COMMANDS = [
    ("status", 'unknown command "status"; did you mean "ctl status"'),
    ("ctl", "ctl needs one of status, list"),
    ("ctl romove a", 'unknown command "romove"; did you mean "remove"'),
    ("ctl status a", "ctl status takes no arguments"),
    ("ctl remove", "ctl remove needs NAME"),
    ("ctl add name=a,kind=tape,size=4K", "kind must be dm, dram, file or dmabuf"),
    ("doctor --timeout 0", "--timeout must be 1 to 3600 seconds"),
]
EMU = [
    ("", "missing command"),
    ("stauts", 'unknown command "stauts"; did you mean "status"'),
    ("frobnicate", 'unknown command "frobnicate"'),
    ("run", "run needs --as FUNCTION COMMAND"),
    ("run true", "run needs --as FUNCTION"),
    ("start --profile bluefield-9", "unknown profile"),
    ("fault memry", "unknown kind of fault"),
    ("status --addresses", "unrecognized option"),
    ("--cards 2 status", "status does not take --cards"),
]
# Every way to ask for help: the words, and a line that only this help has.
HELP = [
    ("dpumap {}", "^  pki revoke NAME "),
    ("dpumap list {}", "^Usage: dpumap list "),
    ("dpumap pki {}", "^  pki revoke NAME "),
    ("dpumap pki init {}", "^Usage: dpumap pki init "),
    ("dpumapd {}", "^EXPORT is a list of "),
    ("dpumapd ctl {}", "^  ctl reload "),
    ("dpumapd ctl add {}", "^Usage: dpumapd ctl add "),
    ("dpumapd doctor {}", "^Usage: dpumapd doctor "),
    ("dpumap-emu {}", "^  start "),
    ("dpumap-emu start {}", "^Profiles:"),
    ("dpumap-emu fault {}", "^Commands, for --method:"),
]


def is_refused(done, pattern):
    """As wrong usage, with the reason in the first of at most two lines of stderr."""
    assert done.err.count("\n") <= 2, f"{done.command}: more than two lines: {done.err}"
    assert done.status == WRONG, f"{done.command}: status {done.status}"
    assert re.search(pattern, done.err.split("\n")[0]), f"{done.command}: {done.err}"
    assert not done.out, f"{done.command}: wrote to stdout"


@pytest.mark.parametrize("words, pattern", TOOL)
def test_dpumap_refuses_wrong_usage(here, words, pattern):
    is_refused(here.run(["dpumap", *words.split()]), pattern)


@pytest.mark.parametrize("words, pattern", DAEMON)
def test_dpumapd_refuses_wrong_usage(here, words, pattern):
    is_refused(here.run(["dpumapd", "--listen", f"{here.dir}/socket", *words.split()]), pattern)


@pytest.mark.parametrize("words, pattern", COMMANDS)
def test_commands_of_dpumapd_refuse_wrong_usage(here, words, pattern):
    is_refused(here.run(["dpumapd", *words.split()]), pattern)


@pytest.mark.parametrize("words, pattern", EMU)
def test_emulator_refuses_wrong_usage(here, words, pattern):
    is_refused(here.run(["dpumap-emu", *words.split()]), pattern)


@pytest.mark.parametrize("words, pattern", HELP)
def test_help_is_printed_for_every_way_to_ask(here, words, pattern):
    """By --help, by -h, by the command help, and on standard output alone."""
    text = here.run(words.format("--help").split()).ok()
    assert re.search(pattern, text, re.M), text
    program, _, rest = words.partition(" ")
    for other in (words.format("-h"), f"{program} help {rest.format('')}"):
        done = here.run(other.split())
        assert done.ok() == text, f"{other}: differs from --help"
        assert not done.err, done.err


@pytest.mark.parametrize("program", ["dpumap", "dpumapd", "dpumap-emu"])
def test_help_lists_each_command_in_one_line(here, program):
    part = here.run([program, "-h"]).ok().split("\nCommands:\n")[1].split("\n\n")[0]
    assert all(re.match("  [a-z]", line) for line in part.splitlines()), part


def test_every_script_has_help(here):
    scripts = [path for path in (ROOT / "scripts").iterdir() if path.is_file()]
    assert len(scripts) > 8, scripts
    for script in scripts:
        for option in ("-h", "--help"):
            assert here.run([script, option]).ok().startswith("usage: "), script
        here.run([script, "--frobnicate"]).fails(WRONG)


def test_help_of_an_unknown_command_is_refused(here):
    for program in ("dpumap", "dpumapd", "dpumap-emu"):
        is_refused(here.run([program, "help", "frobnicate"]), 'unknown command "frobnicate"')


def test_help_says_whose_each_file_is(here):
    for program in ("dpumap", "dpumapd", "dpumap-emu"):
        assert not re.search(r"^ +(-., )?--\S+ +(Its|The) ", here.run([program, "-h"]).ok(), re.M)


@pytest.mark.parametrize("program", ["dpumap", "dpumapd", "dpumap-emu"])
def test_program_tells_help_and_version(here, program):
    assert "Exit codes: " in here.run([program, "--help"]).ok()
    assert re.fullmatch(rf"{program} \d+\.\d+\.\d+\n", here.run([program, "--version"]).ok())


def commands(text):
    """The commands that --help lists; some are two words."""
    part = text.split("\nCommands:\n")[1].split("\n\n")[0]
    return [match[1] for match in re.finditer(r"^  ([a-z]+( [a-z]{4,})?) ", part, re.M)]


def test_help_of_each_command_fits_a_screen(here):
    found = commands(here.run(["dpumap", "--help"]).ok())
    assert len(found) > 15, found
    for command in found:
        text = here.run(["dpumap", *command.split(), "--help"]).ok()
        assert text.count("\n") <= SCREEN, f"{command} --help: more than a screen"
    assert re.search("^  pki revoke NAME ", here.run(["dpumap", "pki", "--help"]).ok(), re.M)
