# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the programs print for people and for scripts: errors, JSON, exit codes."""

import json
import os
import pathlib
import re
import socket

import pytest

from harness.agents import ABSENT, CANNOT, LOST, REFUSED, WRONG, Tool, tls_options
from harness.emulator import Emulator

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    done = dpumap("dump", "none", "--json")
    assert json.loads(done.out)["verified"] is False and done.status == ABSENT
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


def test_wrong_log_level_is_reported(here):
    """Even if the library has no message, and once; a right one is not."""
    for words in (["dpumap", "list", "-h"], ["dpumapd", "--version"], ["dpumap", "pki", "init", "--dir", "ca"]):
        done = here.run(words, env={"DPUMAP_LOG_LEVEL": "loud"})
        done.ok()
        assert done.err.count("DPUMAP_LOG_LEVEL must be off, error") == 1, done.err
        assert 'not "loud"' in done.err
    for level in ("debug", "off", ""):
        assert not here.run(["dpumapd", "--version"], env={"DPUMAP_LOG_LEVEL": level}).err


@pytest.mark.local
def test_commands_to_the_firmware_are_logged_at_level_debug(here, serve):
    """As docs/hardware.md says."""
    command = re.compile(r"debug: \w+: (CREATE_MKEY|QUERY_HCA_CAP) succeeded \(status 0x0, syndrome 0x0\)")
    words = ("--export", "name=web,kind=dram,size=64K")
    for level, commands in (("info", set()), ("debug", {"CREATE_MKEY", "QUERY_HCA_CAP"})):
        agent = serve(*words, env={"DPUMAP_LOG_LEVEL": level})
        agent.stop()
        assert set(command.findall(agent.log())) == commands


@pytest.mark.parametrize("address", ["http://a", "dpu:7470", "TLS:a:1", "[::1]:7470"])
def test_address_of_an_unknown_kind_is_not_a_path(here, address):
    """In every program and on every side."""
    pattern = "use unix:PATH or tls:HOST:PORT"
    for words in (
        ["dpumap", "list", "--connect", address],
        ["dpumapd", "--export", "name=a,kind=dram,size=4K", "--listen", address],
        ["dpumapd", "ctl", "status", "--admin", address],
    ):
        assert pattern in here.run(words).fails(WRONG, REFUSED)
    here.run(["dpumap", "list"], env={"DPUMAP_CONNECT": address}).fails_with(REFUSED, pattern)


def test_error_names_what_there_is_and_the_next_step(serving, tool, host, dpu):
    done = tool(serving)("import", NAME, "--device", "09:00.0")
    done.fails_with(ABSENT, r"09:00\.0 not found.* mlx5_0 \(0000:[0-9a-f:.]+\); see dpumap doctor$")
    done = dpu.run(["dpumapd", "--device", "none", "--export", "name=a,kind=dm,size=64"])
    done.fails_with(ABSENT, r"none not found.* mlx5_0 \(0000:[0-9a-f:.]+\); see dpumapd doctor$")
    for command in ("list", "watch"):
        done = host.run(["dpumap", command, "--connect", f"{host.dir}/none"])
        done.fails_with(ABSENT, "cannot connect to dpumapd at .*; see dpumap doctor$")


def limited(words):
    """The command with at most 64 KiB of locked memory, also for root."""
    drop = "" if os.geteuid() else "setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "
    return f"ulimit -l 64; exec {drop}{words}"


def test_limit_on_locked_memory_is_named():
    card = Emulator("--cap", "memlock=1")
    try:
        host, dpu = card.machine("host"), card.machine("dpu")
        pattern = "the limit on locked memory, 64 KiB, is too low; raise it with ulimit -l"
        export = "--export name=a,kind=dram,size=1M --listen socket"
        done = dpu.run(limited(f"dpumapd {export}"))
        assert re.search(f"^dpumapd: export a: .*: {pattern}", done.fails(REFUSED), re.M), done.err
        daemon = dpu.daemon("free", f"exec dpumapd {export}")
        assert daemon.prints("^dpumapd: ready on ")
        done = host.run(limited(f"dpumap fill a --connect {dpu.dir}/socket"))
        done.fails_with(REFUSED, pattern)
        assert daemon.end("TERM") == 0
    finally:
        card.close()


EXPORTS = [
    ("kind=tape,size=4K", WRONG),
    ("kind=dram,size=4K,allow=somebody", WRONG),
    ("kind=dm,size=1G", REFUSED),
    ("kind=file,size=4K,path={dir}/none", ABSENT),
    ("kind=dmabuf,size=4K,path=/dev/null", LOST),
]


@pytest.mark.parametrize("words, code", EXPORTS)
def test_exit_code_of_an_export_is_the_same_by_option_and_by_ctl(serving, dpu, words, code):
    export = "name=new," + words.format(dir=dpu.dir)
    alone = dpu.run(["dpumapd", "--listen", f"{dpu.dir}/alone", "--export", export])
    added = serving.ctl("add", export)
    assert (alone.status, added.status) == (code, code), f"{alone.err}{added.err}"


@pytest.mark.parametrize("program, page", [("dpumap", "dpumap.1"), ("dpumapd", "dpumapd.8")])
def test_exit_codes_are_documented(here, program, page):
    """The help and the manual page have the codes of the table in stability.md."""
    table = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
    manual = (ROOT / "man" / page).read_text(encoding="utf-8")
    section = re.search(r"^\.Sh EXIT STATUS\n(.*?)^\.El", manual, re.M | re.S)[1]
    help_text = re.search(r"Exit codes: (.*?)\.\n", here.run([program, "--help"]).ok(), re.S)[1]
    codes = ["0", *map(str, (LOST, WRONG, ABSENT, REFUSED, CANNOT))]
    assert re.findall(r"^\| (\d+) \|", table, re.M) == codes
    assert re.findall(r"^\.It (\d+)$", section, re.M) == codes
    assert re.findall(r"(?:^|,\s)(\d+)\s", help_text) == codes


def test_server_that_does_not_answer_cannot_be_connected_to(host, pki):
    """ABSENT, as the manual page says, not that of a lost connection."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tls:127.0.0.1:{silent.getsockname()[1]}"
        options = tls_options(host, "host", address) + ["--timeout", "1"]
        for command in ("list", "watch"):
            done = host.run(["dpumap", command, *options])
            done.fails_with(ABSENT, "see dpumap doctor$")


def test_watch_reports_a_name_that_does_not_exist(serving, tool):
    dpumap = tool(serving)
    watch = dpumap.daemon("watch", "watch", "--json", "--count", "1", "soon")
    watch.await_output('"absent"')
    serving.ctl("add", f"name=soon,kind=dram,size=4K,allow=uid:{os.getuid()}").ok()
    assert watch.end("0") == 0
    events = [json.loads(line) for line in watch.out().splitlines()]
    assert [event["event"] for event in events] == ["watching", "absent", "added"]
    assert events[1]["name"] == events[2]["name"] == "soon"
    watch = dpumap.daemon("known", "watch", "--count", "1", NAME)
    watch.await_output("watching")
    serving.ctl("remove", NAME).ok()
    assert watch.end("0") == 0
    assert "absent" not in watch.out()
