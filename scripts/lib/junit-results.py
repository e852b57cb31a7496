# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: junit-results.py FILE BUILD: prints a line "pass|fail|skip BUILD/NAME" for each test."""

import sys
import xml.etree.ElementTree as ElementTree


def result(case):
    if case.get("status") == "run":
        return "pass"
    skipped = case.find("skipped")
    # Only the test itself may skip; "Unable to find executable" is marked the same way.
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skip"
    return "fail"


for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    print(f"{result(case)} {sys.argv[2]}/{case.get('name')}")
