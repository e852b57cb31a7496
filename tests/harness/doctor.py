# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`dpumap doctor` and `dpumapd doctor`, and what is expected of their reports.

Expectations are words: ID=STATE, ID:FACT=JSON, KEY==JSON. STATE may be several, with | between them;
with *=STATE every check that is not named has this state. KEY is of the report or of its "works".
"""

import json
import re

IDS = """config.file system.kernel system.modules system.rdma-core system.memlock system.nofile
system.huge-pages system.numa system.cgroup system.rdma-cm device.list device.chosen device.file
device.open device.driver device.function device.firmware device.mode port.state port.link port.gid
cap.devx cap.sharing cap.pci-export cap.pci-import cap.rdma cap.mmo cap.device-memory cap.odp
try.open try.pd try.register cap.dma-buf try.device-memory try.umem try.export try.import
try.copy try.undo
link.address link.files link.certificate link.crl link.registry link.connect link.tls link.identity link.version
link.exports link.card link.import link.round-trip""".split()
# What the machine under the test decides.
ANY = {"system.modules", "system.memlock", "system.nofile", "system.rdma-core"}
WORKS = ["pci_export", "pci_import", "rdma", "device_memory", "copies", "dpumapd"]
STATES = {"ok", "warn", "fail", "unknown"}
EXITS = {1, 13, 14, 15}
MEMBERS = ["advice", "exit", "facts", "follows", "id", "state", "text", "title"]


def check_shape(report):
    """Complaints about the form, whatever was found."""
    checks = report["checks"]
    ids = [check["id"] for check in checks]
    if ids != IDS:
        yield f"ids {sorted(set(ids) ^ set(IDS))} or their order"
    for check in checks:
        name, state = check["id"], check["state"]
        if sorted(check) != MEMBERS or state not in STATES:
            yield f"{name}: members {sorted(check)}, state {state}"
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
    """Complaints about the conclusion."""
    failed = [check for check in report["checks"] if check["state"] == "fail"]
    expected = failed[0]["exit"] if failed else 0
    if report["exit"] != expected or status != expected or report["ready"] != (not failed):
        yield f"status {status}, exit {report['exit']}, ready {report['ready']}: {expected} expected"
    if failed and failed[0]["id"] not in report["verdict"]:
        yield f"verdict {report['verdict']}"
    # A check that follows from another names one that follows from none.
    by_id = {check["id"]: check for check in report["checks"]}
    for check in report["checks"]:
        if check["follows"] and by_id.get(check["advice"][4:], check)["follows"]:
            yield f"{check['id']} follows from what follows itself, {check['advice'][4:]}"


def check_expected(report, expectations):
    """Complaints about what differs from the expectations."""
    found = {check["id"]: check for check in report["checks"]}
    named, others = set(), None
    for word in expectations.split():
        if "==" in word:
            key, value = word.split("==", 1)
            value_found = json.dumps(report["works"].get(key, report.get(key)))
            if value_found != value:
                yield f"{key} is {value_found}, not {value}"
            continue
        name, value = word.split("=", 1)
        if name == "*":
            others = value
        elif ":" in name:
            name, fact = name.split(":")
            if json.dumps(found[name]["facts"].get(fact), separators=(",", ":")) != value:
                yield f"{name}: fact {fact} is {found[name]['facts'].get(fact)!r}, not {value}"
        else:
            named.add(name)
            if found[name]["state"] not in value.split("|"):
                yield f"{name} is {found[name]['state']} ({found[name]['text']}), not {value}"
    for name, check in found.items():
        if others and name not in named | ANY and check["state"] not in others.split("|"):
            yield f"{name} is {check['state']} ({check['text']}), not {others}"


class Doctor:
    """The doctor of a machine; "through" is a command that starts it."""

    def __init__(self, machine, program):
        self.machine, self.words, self.through = machine, [program, "doctor"], []

    def run(self, *options, **more):
        return self.machine.run([*self.through, *self.words, *options], **more)

    def __call__(self, expectations, *options, **more):
        """The output of --json, which must be as expected."""
        done = self.run("--json", *options, **more)
        if done.status:
            assert len(re.findall("^dpumapd?: ", done.err, re.M)) == 1, f"not one line: {done.err}"
        report = json.loads(done.out)
        wrong = [*check_shape(report), *check_verdict(report, done.status)]
        wrong += check_expected(report, expectations)
        assert not wrong, f"{done.command}: " + "; ".join(wrong)
        return done.out
