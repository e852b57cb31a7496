# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: results-junit.py FILE LANE SECONDS: the results of a lane as JUnit's XML.

FILE has a line "pass|fail|skip NAME [REASON]" for each test. What a failed one said is in the log
of the lane, beside.
"""

import sys
import xml.etree.ElementTree as ElementTree


def read(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, name, *reason = line.split(maxsplit=2)
            yield kind, name, "".join(reason).strip()


def main(path, lane, seconds):
    results = list(read(path))
    kinds = [kind for kind, _, _ in results]
    suite = ElementTree.Element("testsuite", name=lane, time=seconds, tests=str(len(results)),
                                failures=str(kinds.count("fail")), skipped=str(kinds.count("skip")))
    for kind, name, reason in results:
        case = ElementTree.SubElement(suite, "testcase", classname=lane, name=name)
        if kind == "fail":
            ElementTree.SubElement(case, "failure", message=reason or f"see {lane}.log")
        elif kind == "skip":
            ElementTree.SubElement(case, "skipped", message=reason)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.ElementTree(suites).write(sys.stdout.buffer, "utf-8", xml_declaration=True)


main(*sys.argv[1:])
