# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The JSON of each command is as its published schema says, and docs/json.md lists all of them."""

import json
import os
import pathlib
import re

import jsonschema
import pytest

from harness.agents import ABSENT, REFUSED
from harness.machine import PATIENCE
from harness.schema import DIRECTORY, check_schema, load

pytestmark = pytest.mark.local
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/json.md"
ROWS = dict(re.findall(r"^\| `(.+?)` \| \[(.+?)\]\(schema/\2\.json\)", PAGE.read_text(encoding="utf-8"), re.M))
EXPORTS = ("a,kind=dram,size=64K", "d,kind=dm,size=4K", "r,kind=dram,size=64K,via=rdma")
# A fleet needs a registry: test_fleet.py checks these.
FLEET = {"dpumap --fleet FLEET list", "dpumap --fleet FLEET watch", "dpumap fleet status"}
checked = set()


def check(command, text):
    checked.add(command)
    return check_schema(ROWS[command], json.loads(text))


@pytest.fixture(scope="module")
def saved(host):
    return f"{host.dir}/a.desc"


@pytest.fixture
def agent(serve, dpu):
    words = [word for name in EXPORTS for word in ("--export", f"name={name}")]
    return serve(*words, "--admin", f"{dpu.dir}/admin")


def test_output_of_dpumap(agent, tool, saved, host):
    dpumap = tool(agent)
    for line in (
        "list",
        "info",
        "info a",
        "info r",
        "info d",
        f"get a {saved}",
        f"info --descriptor {saved}",
        f"read a {host.dir}/out",
        f"write a {host.dir}/out",
        f"write r {host.dir}/out",
        f"cp :a {host.dir}/out2",
        f"cp {host.dir}/out a {host.dir}/out2",
        "fill a",
        "dump a --length 16",
        "bench a --count 1 --size 64",
        "doctor",
        f"desc show {saved}",
        f"desc show --show-secret {saved}",
        f"desc check {saved}",
    ):
        words = line.split()
        command = " ".join(["dpumap", *(words[:2] if words[0] == "desc" else words[:1])])
        words = host.run(["dpumap", *words, "--json"]) if words[0] == "desc" else dpumap(*words, "--json")
        check(command, words.ok())
    dpumap("get", "r", f"{host.dir}/r.desc").ok()
    check("dpumap desc show", host.run(["dpumap", "desc", "show", "--json", f"{host.dir}/r.desc"]).ok())


def test_descriptor_that_is_not_valid(host):
    host.put({"bad.desc": b"x" * 80})
    for command in ("show", "check"):
        done = host.run(["dpumap", "desc", command, "--json", f"{host.dir}/bad.desc"])
        done.fails(REFUSED)
        assert check(f"dpumap desc {command}", done.out)["valid"] is False


def test_output_of_pki(here):
    for words in ("init", "issue --host web", "issue --dpu d --san 127.0.0.1", "renew d", "revoke web", "renew", "list"):
        command = f"dpumap pki {words.split()[0]}"
        check(command, here.run(["dpumap", "pki", *words.split(), "--dir", "pki", "--json"]).ok())


def test_lines_of_watch_and_import(agent, host):
    watch = host.start(["dpumap", "--connect", agent.address, "watch", "--json", "--count", "2"])
    held = host.start(["dpumap", "--connect", agent.address, "import", "a", "--json", "--hold"])
    try:
        lines = [watch.stdout.readline()]
        check("dpumap import", held.stdout.readline())
        agent.ctl("rekey", "a").ok()
        agent.ctl("remove", "a").ok()
        lines += watch.stdout.readlines()
        for line in lines:
            check("dpumap watch", line)
        assert len(lines) == 3
        left, _ = held.communicate(timeout=PATIENCE)
        assert check("dpumap import", left.splitlines()[0])["event"] == "changed"
    finally:
        for process in (watch, held):
            process.kill()
            process.wait(PATIENCE)
            process.stdout.close()


def test_output_of_dpumapd(agent, host, dpu):
    watch = host.start(["dpumap", "--connect", agent.address, "watch"])
    watch.stdout.readline()
    try:
        for words in (
            "status",
            "list",
            "sessions",
            "top --once --interval 0.1",
            "add name=b,kind=dram,size=4K,label=k=v",
            "list",
            "rekey b",
            "remove b",
            f"disconnect uid:{os.getuid()}",
        ):
            check(f"dpumapd ctl {words.split()[0]}", agent.ctl(*words.split(), "--json").ok())
    finally:
        watch.kill()
        watch.wait(PATIENCE)
        watch.stdout.close()
    check("dpumapd doctor", dpu.run(["dpumapd", "doctor", "--json", "--connect", agent.address]).out)


def test_output_of_reload(serve, dpu):
    place = dpu.dir
    text = f'listen = [ "unix:{place}/socket" ]; admin = "{place}/admin"; exports = ( );'
    dpu.put({"dpumapd.conf": text})
    check("dpumapd ctl reload", serve("--config", f"{place}/dpumapd.conf").ctl("reload", "--json").ok())


def test_output_of_the_emulator(agent, emulator, tool):
    tool(agent)("write", "r", "/etc/hostname").ok()
    for words in ("status", "list", "gid list", "top --once --interval 0.1"):
        command = words.partition(" --")[0]
        check(f"dpumap-emu {command}", emulator.ctl(*words.split(), "--json"))


def test_errors_follow_their_schema(here, agent, tool, emulator):
    for done in (
        tool(agent)("info", "none", "--json"),
        agent.ctl("remove", "none", "--json"),
        here.run(["dpumap-emu", "status", "--dir", f"{here.dir}/none", "--json"]),
        here.run(["dpumap-emu", "top", "--dir", f"{here.dir}/none", "--json"]),
    ):
        assert check_schema("dpumap-error-1", json.loads(done.out))["exit"] == done.status in (1, ABSENT)


def commands_of(here, program, group=""):
    """Commands with --json, by the help of the program."""
    text = here.run([program, *group.split(), "--help"]).ok()
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)[1]
    for line in listed.splitlines():
        words = re.match(r"  ([a-z-]+(?: [a-z]+)?)", re.sub(r" [A-Z\[.].*|   .*", "", line))[1]
        text = here.run([program, *words.split(), "--help"])
        if text.status == 0 and "--json" in text.out:
            yield f"{program} {words}"


def test_page_lists_each_command(here):
    """By the help of the programs. gid of the emulator has JSON for its list alone."""
    found = {one for program in ("dpumap", "dpumapd", "dpumap-emu") for one in commands_of(here, program)}
    found = found - {"dpumap-emu gid"} | {"dpumap-emu gid list"}
    assert found == set(ROWS) - {one for one in FLEET if "--fleet" in one}
    others = {"dpumap-error-1", "fleet-dpu-1", "fleet-export-1"}
    assert {path.stem for path in DIRECTORY.glob("*.json")} == set(ROWS.values()) | others


def test_schemas_are_valid():
    for path in DIRECTORY.glob("*.json"):
        jsonschema.Draft202012Validator.check_schema(load(path.stem))
        assert path.stem in load(path.stem)["properties"].get("schema", {"const": path.stem})["const"]


def test_undeclared_property_is_found():
    with pytest.raises(jsonschema.ValidationError):
        check_schema("dpumap-list-1", {"schema": "dpumap-list-1", "exports": [], "more": 1})


def test_each_schema_was_used(request):
    """Last: no command was forgotten above."""
    if len(request.session.items) < 10:
        pytest.skip("only some tests of this module run")
    assert set(ROWS) - checked == FLEET
