#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: doctor-json.py CASES

What `dpumap doctor --json` printed, case by case: is it as its schema says, with this exit status,
and with the states and facts that are expected? CASES has a line for each, with tabs between what it
is, the file, the status, and expectations: ID=STATE, ID:FACT=VALUE, KEY==VALUE. STATE may be several,
with | between them. With *=STATE, every check that is not named has this state.
"""
import json
import sys

IDS = """config.file system.kernel system.modules system.rdma-core system.memlock system.nofile
system.huge-pages system.numa system.cgroup system.rdma-cm device.list device.chosen device.file
device.open device.driver device.function device.firmware device.mode port.state port.link port.gid
cap.devx cap.sharing cap.pci-export cap.pci-import cap.rdma cap.mmo cap.device-memory cap.odp
try.open try.pd try.register cap.dma-buf try.device-memory try.umem try.export try.copy try.undo
link.address link.files link.certificate link.crl link.connect link.tls link.identity link.version
link.exports link.card link.round-trip""".split()
# What the machine under the test decides.
ANY = {"system.modules", "system.memlock", "system.nofile", "system.rdma-core"}
WORKS = ["pci_export", "pci_import", "rdma", "device_memory", "copies", "dpumapd"]
EXITS = {1, 3, 4, 5}


def check_shape(report):
    """Complaints about the form, whatever was found."""
    checks = report["checks"]
    ids = [check["id"] for check in checks]
    if ids != IDS:
        yield f"ids {sorted(set(ids) ^ set(IDS))} or their order"
    for check in checks:
        name, state = check["id"], check["state"]
        if sorted(check) != ["advice", "exit", "facts", "follows", "id", "state", "text", "title"]:
            yield f"{name}: members {sorted(check)}"
        if state not in ("ok", "warn", "fail", "unknown"):
            yield f"{name}: state {state}"
        if not check["text"] or not check["title"] or (state != "ok" and not check["advice"]):
            yield f"{name}: {state} without text or advice"
        if (check["exit"] in EXITS) != (state == "fail") or (state != "fail" and check["exit"]):
            yield f"{name}: {state} with exit {check['exit']}"
        if check["follows"] and (state != "unknown" or check["advice"][4:] not in IDS):
            yield f"{name}: follows from \"{check['advice']}\""
        if not isinstance(check["facts"], dict):
            yield f"{name}: facts {check['facts']}"
    for state, number in report["counts"].items():
        if number != sum(check["state"] == state for check in checks):
            yield f"counts {report['counts']}"
    if report["schema"] != "dpumap-doctor-1" or sum(report["counts"].values()) != len(checks):
        yield "schema or counts"
    if list(report["works"]) != WORKS or report["side"] not in ("host", "dpu"):
        yield f"works {report['works']} side {report['side']}"


def check_verdict(report, status):
    failed = [check for check in report["checks"] if check["state"] == "fail"]
    expected = failed[0]["exit"] if failed else 0
    if report["exit"] != expected or status != expected or report["ready"] != (not failed):
        yield f"status {status}, exit {report['exit']}, ready {report['ready']}: {expected} expected"
    if failed and failed[0]["id"] not in report["verdict"]:
        yield f"verdict {report['verdict']}"
    # What follows from something can be followed to what is no consequence itself.
    by_id = {check["id"]: check for check in report["checks"]}
    for check in report["checks"]:
        if check["follows"] and by_id.get(check["advice"][4:], check)["follows"]:
            yield f"{check['id']} follows from what follows itself, {check['advice'][4:]}"


def check_expected(report, wanted):
    found = {check["id"]: check for check in report["checks"]}
    named, others = set(), None
    for item in filter(None, wanted):
        if "==" in item:
            key, value = item.split("==", 1)
            value_found = report["works"].get(key, report.get(key))
            if json.dumps(value_found) != value:
                yield f"{key} is {json.dumps(value_found)}, not {value}"
            continue
        name, value = item.split("=", 1)
        if name == "*":
            others = value
        elif ":" in name:
            name, fact = name.split(":")
            if json.dumps(found[name]["facts"].get(fact)) != value:
                yield f"{name}: fact {fact} is {found[name]['facts'].get(fact)!r}, not {value}"
        else:
            named.add(name)
            if found[name]["state"] not in value.split("|"):
                yield f"{name} is {found[name]['state']} ({found[name]['text']}), not {value}"
    for name, check in found.items():
        if others and name not in named | ANY and check["state"] not in others.split("|"):
            yield f"{name} is {check['state']} ({check['text']}), not {others}"


def complaints_about(path, status, *wanted):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    yield from check_shape(report)
    yield from check_verdict(report, int(status))
    yield from check_expected(report, wanted)


def main(path):
    failures = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            what, *case = line.rstrip("\n").split("\t")
            for complaint in complaints_about(*case):
                print(f"FAIL: {what}: status {case[1]}: {complaint}", file=sys.stderr)
                failures += 1
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
