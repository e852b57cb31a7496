# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read and write test results. No other program of the project reads or writes JUnit files.

usage: results.py record JUNIT PREFIX [SAID [TIMES]]
       results.py junit RESULTS LANE SECONDS
       results.py slowest COUNT TIMES...

record   prints a line "pass|fail|skip PREFIX/NAME" for each test in the file JUNIT, which ctest or
         pytest wrote. The last lines of output of each failed test are added to the file SAID, and
         the duration of each test to the file TIMES.
junit    prints the results of a lane as JUnit XML. RESULTS has a line "pass|fail|skip NAME [REASON]"
         for each test.
slowest  prints the COUNT longest entries of the files TIMES, which have lines "SECONDS KIND NAME".
"""

import dataclasses
import sys
import xml.etree.ElementTree as ElementTree

SAID_LINES = 40  # the number of lines of output that a failed test adds to SAID


@dataclasses.dataclass
class Test:
    name: str
    outcome: str  # pass, fail or skip
    reason: str = ""
    seconds: float = 0.0
    output: str = ""


def ctest_outcome(case):
    if case.get("status") == "run":
        return "pass"
    skipped = case.find("skipped")
    # Only the test itself may skip; "Unable to find executable" is marked the same way.
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skip"
    return "fail"


def pytest_outcome(case):
    for word, outcome in (("failure", "fail"), ("error", "fail"), ("skipped", "skip")):
        if case.find(word) is not None:
            return outcome
    return "pass"


def reason_of(case):
    for word in ("failure", "error", "skipped"):
        element = case.find(word)
        if element is not None:
            return (element.get("message", "").splitlines() or [""])[0]
    return ""


def read_junit(path):
    """Return the tests in a JUnit file. Only in a file that ctest wrote, each test has a status."""
    tests = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, outcome = case.get("name"), pytest_outcome(case)
        if case.get("status"):
            outcome = ctest_outcome(case)
        elif case.get("classname"):
            name = f"{case.get('classname')}.{name}"
        # pytest lists a test twice if its teardown fails too.
        if name not in tests or tests[name].outcome != "fail":
            tests[name] = Test(name, outcome, reason_of(case), float(case.get("time") or 0),
                               case.findtext("system-out") or "")
    return list(tests.values())


def read_lines(path):
    """Yield the tests in the results file of a lane."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            outcome, name, *reason = line.split(maxsplit=2)
            yield Test(name, outcome, "".join(reason).strip())


def record(path, prefix, said_path="/dev/null", times_path="/dev/null"):
    with open(said_path, "a", encoding="utf-8") as said, \
            open(times_path, "a", encoding="utf-8") as times:
        for test in read_junit(path):
            name = f"{prefix}/{test.name}".replace(" ", "_")
            print(test.outcome, name)
            print(f"{test.seconds:.2f} test {name}", file=times)
            if test.outcome == "fail":
                said.write(f"-- {name}\n" + "".join(
                    f"   {line}\n" for line in test.output.splitlines()[-SAID_LINES:]))


def write_junit(path, lane, seconds):
    tests = list(read_lines(path))
    count = [test.outcome for test in tests].count
    suite = ElementTree.Element("testsuite", name=lane, time=seconds, tests=str(len(tests)),
                                failures=str(count("fail")), skipped=str(count("skip")))
    for test in tests:
        case = ElementTree.SubElement(suite, "testcase", classname=lane, name=test.name)
        if test.outcome == "fail":
            ElementTree.SubElement(case, "failure", message=test.reason or f"see {lane}.log")
        elif test.outcome == "skip":
            ElementTree.SubElement(case, "skipped", message=test.reason)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.ElementTree(suites).write(sys.stdout.buffer, "utf-8", xml_declaration=True)


def print_slowest(limit, *paths):
    entries = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                seconds, kind, name = line.split(maxsplit=2)
                entries.append((float(seconds), kind, name.strip()))
    for seconds, kind, name in sorted(entries, reverse=True)[:int(limit)]:
        print(f"{seconds:8.1f} s  {kind:5}  {name}")


COMMANDS = {"record": record, "junit": write_junit, "slowest": print_slowest}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
