# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The doctor on each machine, before anything is exported."""

import json
import pathlib

import pytest


@pytest.mark.parametrize("name", ["dpu", "host"])
def test_doctor_finds_no_problem(machines, state, name):
    """It finds the device, and no problem."""
    done = machines[name].run(["dpumap", "doctor", "--json"])
    (pathlib.Path(state["out"]) / f"doctor-{name}.json").write_text(done.out)
    json.loads(done.ok())


@pytest.mark.parametrize("name", ["dpu", "host"])
def test_ibv_devinfo_finds_the_device(machines, state, name):
    """ibv_devinfo -v is kept with the report."""
    if machines[name].run("command -v ibv_devinfo").status:
        pytest.skip(f"there is no ibv_devinfo on the {name}: package ibverbs-utils")
    text = machines[name].run(["ibv_devinfo", "-v"]).ok()
    assert "hca_id" in text and "sys_image_guid" in text
    (pathlib.Path(state["out"]) / f"ibv_devinfo-{name}.txt").write_text(text)


@pytest.mark.question(11)
@pytest.mark.parametrize("name", ["dpu", "host"])
def test_privileges_of_the_suite_are_reported(machines, answer, name):
    """The privileges with which the suite ran."""
    user = machines[name].run("id -un; grep CapEff /proc/self/status").ok().split()
    answer(
        11,
        f"{name}: ran as {user[0]} with capabilities {user[-1]}",
        None if user[0] == "root" else True,
    )


@pytest.mark.question(26)
def test_the_dpu_alone_knows_the_hosts_function(machines, answer):
    """The DPU's firmware knows the host's function; the host's knows no other."""
    seen = {}
    for name, machine in machines.items():
        lines = machine.run("hil_probe devices").ok().splitlines()
        seen[name] = next(line for line in lines if line.startswith("representors"))
    host_pci = machines["host"].run("hil_probe devices").ok().split("pci=")[1].split()[0]
    known = host_pci in seen["dpu"] and "NOT_SUPPORTED" in seen["host"]
    answer(
        26, f"on the DPU: {seen['dpu']}; on the host, which is {host_pci}: {seen['host']}", known
    )
    assert known, seen


@pytest.mark.question(30)
def test_the_mode_of_the_card_is_reported(machines, answer):
    """The mode of the card as the host sees it; other tests show what works in it."""
    done = machines["host"].run(["dpumap", "doctor", "--json"])
    checks = json.loads(done.out).get("checks", []) if done.out.strip() else []
    seen = [check["text"] for check in checks if check.get("id") == "device.mode"]
    answer(30, seen[0] if seen else "doctor does not report the mode", None)


@pytest.mark.question(34)
@pytest.mark.parametrize("name", ["dpu", "host"])
def test_a_function_imports_its_own_export(machines, answer, name):
    """Whether a function imports its own export; other tests import that of another function."""
    done = machines[name].run(["dpumap", "doctor", "--json"])
    seen = [check for check in json.loads(done.out)["checks"] if check["id"] == "try.import"]
    answer(34, f"{name}: {seen[0]['text']}", seen[0]["state"] == "ok")


@pytest.mark.question(31)
def test_page_sizes_of_the_kernels_are_reported(machines, answer):
    """The page sizes of the kernels; other tests show what works with them."""
    sizes = {name: machine.run(["getconf", "PAGESIZE"]).ok().strip() for name, machine in machines.items()}
    answer(31, ", ".join(f"{name}: {size}" for name, size in sizes.items()), None)
