# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What bash offers for a command line of dpumap-emu that is half typed."""

import re

import pytest

from harness.completion import Bash, remember_help

pytestmark = pytest.mark.local
NOWHERE = ["--dir", "/nonexistent"]
CASES = [
    ([""], "caps capture chaos fault gid help list pci port run start status stop top trace"),
    (["sta"], "start status"),
    (["help", "po"], "port"),
    (["port", ""], "down lid pkey reregister sm speed up"),
    (["gid", ""], "add del list"),
    (["fault", ""], "clear command completion data device gid memory neighbour partition port queue"),
    (["fault", "completion", "--du"], "--duplicate"),
    (["fault", "--nth", "3", "pa"], "partition"),
    (["fault", "completion", "--syndrome", "REM_A"], "REM_ABORT_ERR REM_ACCESS_ERR"),
    (["fault", "--status", "BAD_S"], "BAD_SIZE BAD_SYS_STATE"),
    (["fault", "--method", "qp."], "qp.create qp.destroy qp.modify qp.open qp.query"),
    (["run", "--profile="], "bluefield-2 bluefield-3 connectx-5 connectx-6-dx"),
    (["start", "--cap", "max-p"], "max-pd= max-pkey="),
    (["run", *NOWHERE, "--as", ""], "dpu host"),
    (["gid", "add", "--type", ""], "v1 v2"),
    (["chaos", "--seed", ""], ""),
    (["capture", "--lo"], "--local-only"),
    (["run", "--as", "dpu", "sha256su"], "sha256sum"),
]
COMMANDS = "run start status list stop trace caps capture fault gid pci port chaos top".split()


@pytest.fixture(scope="module")
def bash(here):
    shell = Bash(remember_help(here), "dpumap-emu")
    yield shell
    shell.close()


@pytest.fixture
def offers(bash):
    """offers(WORDS): what is offered when the cursor is at the end of the last word, sorted."""
    return bash.offers


def test_completion_is_registered(bash):
    assert "-F _dpumap_emu dpumap-emu" in bash.registered()


@pytest.mark.parametrize("words, wanted", CASES, ids=lambda value: "-" if value == "" else None)
def test_completion_offers_words_of_the_place(offers, words, wanted):
    assert offers(words) == wanted


@pytest.mark.parametrize("command", COMMANDS)
def test_offers_each_option_of_help(here, offers, command):
    text = here.run(["dpumap-emu", command, "--help"]).ok()
    options = sorted(set(re.findall(r"^ +(?:-., )?(?:    )?(--[a-z0-9-]+)", text, re.M)))
    assert offers([command, "--"]) == " ".join(options)


def test_completion_offers_files_and_directories(offers, work):
    (work / "one.plan").touch()
    (work / "sub").mkdir()
    assert offers(["chaos", "--plan", "o"], cwd=work) == "one.plan"
    assert offers(["stop", "--dir", ""], cwd=work) == "sub"
    assert offers(["run", "--as", "dpu", "--", "cat", "on"], cwd=work) == "one.plan"


def test_offers_functions_of_the_running_emulator(here, offers, work):
    place = ["--dir", str(work / "emu")]
    here.run(["dpumap-emu", "start", "--cards", "2", *place]).ok()
    try:
        assert offers(["fault", "port", *place, "--as", ""]) == "dpu dpu1 host"
        assert offers(["run", f"--dir={work / 'emu'}", "--as="]) == "dpu dpu1 host"
    finally:
        here.run(["dpumap-emu", "stop", *place]).ok()
