# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: junit-results.py FILE BUILD SAID: prints a line "pass|fail|skip BUILD/NAME" for each test.

The end of what failed tests said is added to the file SAID.
"""

import sys
import xml.etree.ElementTree as ElementTree

LINES = 40


def result(case):
    if case.get("status") == "run":
        return "pass"
    skipped = case.find("skipped")
    # Only the test itself may skip; "Unable to find executable" is marked the same way.
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skip"
    return "fail"


def tell(said, name, text):
    said.write(f"-- {name}\n" + "".join(f"   {line}\n" for line in text.splitlines()[-LINES:]))


def main(path, build, said_path):
    with open(said_path, "a", encoding="utf-8") as said:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{build}/{case.get('name')}"
            print(result(case), name)
            if result(case) == "fail":
                tell(said, name, case.findtext("system-out") or "")


main(*sys.argv[1:])
