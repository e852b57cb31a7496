# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What each side says of itself before anything is shared."""

import json
import pathlib

import pytest


@pytest.mark.parametrize("name", ["dpu", "host"])
def test_doctor(sides, state, name):
    """It finds the device, and nothing that keeps it from working."""
    done = sides[name].run(["dpumap", "doctor", "--json"])
    (pathlib.Path(state["out"]) / f"doctor-{name}.json").write_text(done.out)
    json.loads(done.ok())


@pytest.mark.parametrize("name", ["dpu", "host"])
def test_devinfo(sides, state, name):
    """ibv_devinfo -v is kept with the report."""
    if sides[name].run("command -v ibv_devinfo").status:
        pytest.skip(f"there is no ibv_devinfo on the {name}: package ibverbs-utils")
    text = sides[name].run(["ibv_devinfo", "-v"]).ok()
    assert "hca_id" in text and "sys_image_guid" in text
    (pathlib.Path(state["out"]) / f"ibv_devinfo-{name}.txt").write_text(text)


@pytest.mark.question(11)
@pytest.mark.parametrize("name", ["dpu", "host"])
def test_privileges(sides, answer, name):
    """Which privileges the suite had; with those all of it ran."""
    user = sides[name].run("id -un; grep CapEff /proc/self/status").ok().split()
    answer(
        11,
        f"{name}: ran as {user[0]} with capabilities {user[-1]}",
        None if user[0] == "root" else True,
    )


@pytest.mark.question(26)
def test_representors(sides, answer):
    """The DPU's firmware knows the host's function; the host's knows none."""
    seen = {}
    for name, side in sides.items():
        lines = side.run("hil_probe devices").ok().splitlines()
        seen[name] = next(line for line in lines if line.startswith("representors"))
    host_pci = sides["host"].run("hil_probe devices").ok().split("pci=")[1].split()[0]
    known = host_pci in seen["dpu"] and "NOT_SUPPORTED" in seen["host"]
    answer(
        26, f"on the DPU: {seen['dpu']}; on the host, which is {host_pci}: {seen['host']}", known
    )
    assert known, seen


@pytest.mark.question(30)
def test_mode(sides, answer):
    """In which mode the card is, as the host sees it; the other tests say what works there."""
    done = sides["host"].run(["dpumap", "doctor", "--json"])
    checks = json.loads(done.out).get("checks", []) if done.out.strip() else []
    seen = [check["text"] for check in checks if check.get("id") == "device.mode"]
    answer(30, seen[0] if seen else "doctor does not tell the mode", None)


@pytest.mark.question(31)
def test_page_sizes(sides, answer):
    """The kernels' pages; the other tests say what works with them."""
    sizes = {name: side.run(["getconf", "PAGESIZE"]).ok().strip() for name, side in sides.items()}
    answer(31, ", ".join(f"{name}: {size}" for name, size in sizes.items()), None)
