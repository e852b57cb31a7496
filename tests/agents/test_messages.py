# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the programs print for people and for scripts: errors, JSON, exit codes."""

import json
import re

import pytest

from harness.agents import ABSENT, Tool

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

NAME = "e0"
FAILING = [
    ("dpumap list --connect unix:{dir}/none", "DOCA_ERROR_NOT_FOUND", ABSENT),
    ("dpumap read x {dir}/file --connect {dir}/none", "DOCA_ERROR_NOT_FOUND", ABSENT),
    ("dpumap desc show {dir}/none", "DOCA_ERROR_NOT_FOUND", ABSENT),
    ("dpumap pki list --dir {dir}/none", "DOCA_ERROR_NOT_FOUND", ABSENT),
    ("dpumapd ctl status --admin {dir}/none", "DOCA_ERROR_NOT_FOUND", ABSENT),
    ('dpumap-emu status --dir {dir}/no"ne', "ENOENT", 1),
]


@pytest.fixture
def serving(serve, dpu):
    return serve("--export", f"name={NAME},kind=dram,size=64K", "--admin", f"{dpu.dir}/admin")


def keys_of(value):
    """All keys of a JSON value, at any depth."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from keys_of(member)
    elif isinstance(value, list):
        for member in value:
            yield from keys_of(member)


@pytest.mark.parametrize("words, status, code", FAILING)
def test_error_with_json_is_json(here, words, status, code):
    """One object on standard output, with the line of standard error and the exit code."""
    done = here.run([*words.format(dir=here.dir).split(), "--json"])
    error = json.loads(done.out)
    assert list(error) == ["status", "error", "exit"]
    assert (error["status"], error["exit"], done.status) == (status, code, code)
    assert error["error"] in done.err, done.err


def test_failed_command_prints_one_json_object(serving, tool):
    dpumap = tool(serving)
    done = dpumap("info", "none", "--json")
    assert json.loads(done.out)["exit"] == done.status == ABSENT
    done = serving.ctl("--json", "remove", "none")
    assert json.loads(done.out)["exit"] == done.status == ABSENT
    done = dpumap("doctor", "--json", "--device", "mlx5_77")
    assert json.loads(done.out)["exit"] == done.status == ABSENT


def test_json_keys_are_in_snake_case(serving, tool, emulator):
    dpumap = tool(serving)
    reports = [dpumap.json(*words.split()) for words in ("list", "info", f"info {NAME}", f"fill {NAME}")]
    reports += [dpumap.json("doctor"), dpumap.json("bench", NAME, "--count", "1", "--size", "64")]
    reports += [
        json.loads(serving.ctl("--json", command).ok()) for command in ("status", "list", "sessions")
    ]
    reports.append(json.loads(emulator.ctl("status", "--json")))
    keys = set(keys_of(reports))
    assert len(keys) > 50, keys
    assert not [key for key in keys if not re.fullmatch("[a-z][a-z0-9_]*", key)]


def test_options_may_precede_the_command(serving, host):
    """Any option, not only those of the connection."""
    before = host.run(["dpumap", "--json", "--connect", serving.address, "list"]).ok()
    assert before == Tool(host, ["--connect", serving.address])("list", "--json").ok()
    before = host.run(["dpumap", "--json", "desc", "--show-secret", "show", "none"])
    before.fails(ABSENT)
    status = json.loads(serving.dpu.run(["dpumapd", "--json", "--admin", serving.admin, "ctl", "status"]).ok())
    assert status["exports"] == 1
