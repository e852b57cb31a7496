#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""library_suite.py BUILD [PROGRAM...]: run the library's tests for real machines (tests/hil/test_programs.py), or some of
them, on the functions of a card that this machine's kernel drives. They are two machines, as tests/lab/function makes
them.

Tests that need the emulated card's faults are skipped. library-differences.txt lists those that fail, and why. Exit
status: 0 all results as expected, 1 others."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "hil")]
from test_programs import PROGRAMS, SKIP  # pylint: disable=wrong-import-position

FUNCTION = os.path.join(HERE, "function")
OTHER = {"dpu": "host", "host": "dpu"}
TIMEOUT = 1200  # of a program; the processor is emulated
# One of these registers more than the machine's memory.
TOO_LARGE = {"test_mmap": "import_larger_than_an_mkey_entry_copies_across_entries"}
LINE = re.compile(r"^\[ +(OK|SKIPPED|FAILED|ERROR) +\] (\w+)$", re.M)


def read_differences():
    """{(program, side, test): reason} of the tests that fail; a side of * is both."""
    differences = {}
    with open(os.path.join(HERE, "library-differences.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, reason = line.rstrip("\n").split(": ", 1)
                program, sides, test = name.split()
                for side in OTHER if sides == "*" else [sides]:
                    differences[program, side, test] = reason
    return differences


def run(build, program, side):
    """{test: result}, and what the program printed."""
    words = [FUNCTION, "run", "--as", side, "--", f"{build}/tests/{program}", "--emu", FUNCTION]
    words += ["--peer-as", OTHER[side], "--engine", "mmo"]
    skip = SKIP.get(program) or TOO_LARGE.get(program)
    words += ["--skip", skip] if skip else []
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
        text, status = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        text, status = (late.stdout or b"").decode(errors="replace"), "too late"
    words = {"OK": "pass", "SKIPPED": "skip"}
    results = {}
    for outcome, test in LINE.findall(text):  # a summary at the end names failed tests again
        results[test] = "fail" if outcome in ("FAILED", "ERROR") else results.get(test, words[outcome])
    if not results or (status != 0 and "fail" not in results.values()):
        results["end"] = f"fail: status {status}"
    return results, text


def main():
    build, wanted = sys.argv[1], sys.argv[2:]
    differences, bad, seen = read_differences(), 0, set()
    os.environ["DPUMAP_TEST_PATIENCE_MS"] = "10000"
    for program, sides, _ in PROGRAMS:
        for side in sides if program in wanted or not wanted else ():
            results, text = run(build, program, side)
            counts = [sum(result.startswith(kind) for result in results.values()) for kind in ("pass", "skip", "fail")]
            print(f"   {program} {side}: %d passed, %d skipped, %d failed" % tuple(counts), flush=True)
            before = bad
            for test, result in results.items():
                seen.add((program, side, test))
                if (result.split(":")[0] == "fail") != ((program, side, test) in differences):
                    bad += 1
                    print(f"   unexpected {result} {program} {side} {test}", flush=True)
            if bad != before:
                print(text[-20000:], flush=True)
    for missing in sorted(set(differences) - seen) if not wanted else ():
        bad += 1
        print("   not run, but library-differences.txt lists it:", *missing)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
