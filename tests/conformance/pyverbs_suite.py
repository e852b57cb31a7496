# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs rdma-core's own Python tests on the emulated device and judges the result.

The suite is the unmodified one of Debian's python3-pyverbs, copied and unpacked into a temporary
directory. Each module of the selection runs in a process of its own below `dpumap-emu run`. A test
may skip only if expected-skips.txt names it with a reason, and one named there must skip.

Exit status: 0 all as expected, 3 something failed, other: the suite could not be run.
"""

import argparse
import glob
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"
SUITE = "/usr/share/doc/rdma-core/tests"
SKIPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected-skips.txt")
MODULE_TIMEOUT = 150

# What must run, and how many tests that is at least: a suite that shrank is no success.
SELECTION = {
    "test_device": (["DeviceTest", "DMTest", "SharedDMTest"], 22),
    "test_pd": (["PDTest"], 4),
    "test_shared_pd": (["SharedPDTestCase"], 1),
    "test_mr": (["MRTest", "DeviceMemoryAPITest", "DeviceMemoryTest"], 10),
    "test_mlx5_dma_memcpy": (["DmaGgaMemcpy"], 4),
}


def unpack_suite(target):
    """Debian compresses documentation files, and machines may leave them out altogether."""
    source = SUITE
    if not os.path.isdir(source):
        subprocess.run(["apt-get", "-q", "download", "python3-pyverbs"], cwd=target, check=True)
        package = glob.glob(os.path.join(target, "python3-pyverbs_*.deb"))[0]
        subprocess.run(["dpkg-deb", "-x", package, os.path.join(target, "deb")], check=True)
        source = os.path.join(target, "deb") + SUITE
    suite = os.path.join(target, "tests")
    os.mkdir(suite)
    for path in glob.glob(os.path.join(source, "*.py*")):
        name = os.path.basename(path)
        if name.endswith(".gz"):
            with gzip.open(path, "rb") as packed, open(os.path.join(suite, name[:-3]), "wb") as out:
                shutil.copyfileobj(packed, out)
        else:
            shutil.copy(path, suite)
    return suite


def read_skips():
    skips = {}
    with open(SKIPS, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, separator, reason = line.partition(":")
            if not separator or not reason.strip():
                sys.exit(f"{SKIPS}: no reason given for '{name}'")
            skips[name.strip()] = reason.strip()
    return skips


def run_inside(suite, module, report):
    """In the emulated function's process: runs one module, one JSON line per test."""
    import time
    import unittest

    class Recorder(unittest.TestResult):
        def startTest(self, test):
            super().startTest(test)
            self.begin = time.monotonic()
            self.outcome = None

        def note(self, outcome, detail=""):
            if self.outcome is None or outcome == "fail":
                self.outcome = (outcome, detail)

        def addSuccess(self, test):
            self.note("pass")

        def addFailure(self, test, err):
            self.note("fail", self._exc_info_to_string(err, test))

        addError = addFailure

        def addSubTest(self, test, subtest, err):
            if err is not None:
                self.note("fail", self._exc_info_to_string(err, test))

        def addSkip(self, test, reason):
            self.note("skip", reason)

        def addUnexpectedSuccess(self, test):
            self.note("fail", "unexpected success")

        def stopTest(self, test):
            outcome, detail = self.outcome or ("fail", "no outcome")
            print(json.dumps({"name": test.id().replace("tests.", "", 1), "outcome": outcome,
                              "detail": detail, "seconds": time.monotonic() - self.begin}),
                  file=out, flush=True)
            super().stopTest(test)

    sys.argv = ["run_tests.py", "--dev", "mlx5_0"]
    sys.path[:0] = [suite, os.path.dirname(suite)]
    from args_parser import parser
    parser.parse_args()
    loader = unittest.defaultTestLoader
    with open(report, "w", encoding="utf-8") as out:
        for group in SELECTION[module][0]:
            loader.loadTestsFromName(f"tests.{module}.{group}").run(Recorder())


def run_module(emu, suite, module, tmp):
    report = os.path.join(tmp, module + ".json")
    command = [emu, "run", "--as", "dpu", "--", PYTHON, os.path.abspath(__file__),
               "--inside", suite, module, report]
    environment = dict(os.environ, DPUMAP_EMU_DIR=os.path.join(tmp, "emu"),
                       PYTHONDONTWRITEBYTECODE="1")
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        ended = f"ended with status {process.wait(MODULE_TIMEOUT)}"
    except subprocess.TimeoutExpired:
        ended = f"took more than {MODULE_TIMEOUT} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    tests = []
    if os.path.exists(report):
        with open(report, encoding="utf-8") as lines:
            tests = [json.loads(line) for line in lines if line.endswith("\n")]
    if len(tests) < SELECTION[module][1] or ended != "ended with status 0":
        tests.append({"name": module + ".complete", "outcome": "fail", "seconds": 0,
                      "detail": f"{len(tests)} of at least {SELECTION[module][1]} tests reported, "
                                f"the process {ended}"})
    return tests


def judge(test, skips):
    """The verdict of a test, and what there is to say about it."""
    reason = skips.get(test["name"])
    if test["outcome"] == "skip":
        if reason is None:
            return "fail", "unexpected skip: " + test["detail"]
        return "skip", reason
    if reason is not None and test["outcome"] == "pass":
        return "fail", "ran, but expected-skips.txt lists it"
    return test["outcome"], test["detail"]


def run_suite(arguments):
    skips = read_skips()
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="dpumap-pyverbs.") as tmp:
        suite = unpack_suite(tmp)
        for module in SELECTION:
            for test in run_module(arguments.emu, suite, module, tmp):
                verdict, detail = judge(test, skips)
                verdicts.append((verdict, test["name"]))
                print(f"   {verdict:4} {test['seconds']:6.2f} s  {test['name']}", flush=True)
                for line in detail.splitlines():
                    print("          " + line)
    if arguments.results:
        with open(arguments.results, "a", encoding="utf-8") as out:
            out.writelines(f"{verdict} pyverbs.{name}\n" for verdict, name in verdicts)
    counts = {kind: sum(verdict == kind for verdict, _ in verdicts)
              for kind in ("pass", "fail", "skip")}
    print(f"   pyverbs: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
    return 3 if counts["fail"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--emu", help="the dpumap-emu program")
    parser.add_argument("--results", help="file to add one line per test to")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        run_inside(*arguments.inside)
        return 0
    if not arguments.emu:
        parser.error("--emu is needed")
    arguments.emu = os.path.abspath(arguments.emu)
    # Ends by an exception, so that children and files go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return run_suite(arguments)


if __name__ == "__main__":
    sys.exit(main())
