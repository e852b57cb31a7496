# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run the Python tests of rdma-core on the emulated device and check the results.

The suite is the unmodified suite of Debian's python3-pyverbs, copied and unpacked into a temporary
directory. Each selected module runs in its own process with `dpumap-emu run`. A test may skip only if
expected-skips.txt lists it with a reason, and a listed test must skip.

With --guest, the suite runs on the device mlx5_0 of this machine, a virtual one whose driver drives the card
(tests/lab/test-suites.sh). guest-differences.txt lists the tests with another result there.

With --survey, the suite comes from another rdma-core (see newest-rdma-core.sh). All its modules run,
and a test may fail only if newest-failures.txt lists it with a reason.

Exit status: 0 all results as expected, 3 a test failed, other: the suite could not run.
"""

import argparse
import concurrent.futures
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
DIFFERENCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest-differences.txt")
FAILURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "newest-failures.txt")
SURVEY_SKIPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "newest-skips.txt")
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/emu")
MODULE_TIMEOUT = 150
GUEST_TIMEOUT = 1200  # its processor is emulated

HUGE_PAGES = "/proc/sys/vm/nr_hugepages"
LEAST_HUGE_PAGES = 16

# Modules that must run, with their minimum number of tests: a smaller suite is a failure.
SELECTION = {
    "test_device": 22,
    "test_pd": 4,
    "test_shared_pd": 1,
    "test_parent_domain": 6,
    "test_mr": 27,
    "test_addr": 3,
    "test_cq": 4,
    "test_cqex": 5,
    "test_cq_events": 2,
    "test_qp": 26,
    "test_qpex": 20,
    "test_atomic": 9,
    "test_fork": 1,
    "test_relaxed_ordering": 3,
    "test_mlx5_uar": 1,
    "test_mlx5_var": 1,
    "test_mlx5_cq": 9,
    "test_mlx5_dc": 7,
    "test_mlx5_devx": 1,
    "test_mlx5_dm_ops": 2,
    "test_mlx5_dma_memcpy": 4,
    "test_mlx5_mkey": 11,
    "test_mlx5_raw_wqe": 1,
    "test_mlx5_huge_page": 2,
    "test_mlx5_query_port": 1,
    "test_odp": 17,
    "test_rdmacm": 10,
}

# Modules for features that the device lacks. They must end cleanly; their results are only counted.
OTHERS = {
    "test_flow": "flow steering",
    "test_mlx5_crypto": "encryption; needs credentials of a real card",
    "test_mlx5_dr": "flow steering",
    "test_mlx5_flow": "flow steering",
    "test_mlx5_lag_affinity": "link aggregation",
    "test_mlx5_pp": "packet pacing",
    "test_mlx5_rdmacm": "reserved queue pair numbers",
    "test_mlx5_sched": "transmit scheduling",
    "test_mlx5_timestamp": "time stamps of raw packets and of real time",
    "test_mlx5_udp_sport": "choice of the UDP source port",
    "test_rss_traffic": "receive side scaling",
    "test_tag_matching": "tag matching",
}

# Features that the machine lacks: such a skip is allowed, but the document is then not compared.
MACHINE_LACKS = ("There are no huge pages",)

PREAMBLE = """# Conformance

`tests/emu/conformance/pyverbs_suite.py --write-doc` writes this page, and the lane `conformance` fails if the
results differ from it. The suite is the unmodified Python suite of rdma-core from Debian's
`python3-pyverbs`. It runs on the default profile (bluefield-3).

"""


GUEST_PREAMBLE = """# Conformance in a virtual machine

`tests/emu/conformance/pyverbs_suite.py --guest --write-doc` writes this page, and the night's lane `guest` fails if
the results differ from it. The suite is that of [conformance.md](conformance.md), in a virtual machine whose Linux
drives the card by its own driver (Debian's Linux 6.1, QEMU without KVM).

## Required modules

| module | passed | skipped | failed | passed in user mode | skipped in user mode |
| --- | ---: | ---: | ---: | ---: | ---: |
"""


SURVEY_PREAMBLE = """# Conformance of the newest rdma-core

The lane `newest` (`tests/emu/conformance/pyverbs_suite.py --survey`) writes this page. It runs the libraries
and the Python suite of rdma-core %s, from Debian's unstable distribution, on the default profile
(bluefield-3). The suite skips tests of features that this device, or a machine without a GPU, lacks.

| module | passed | skipped | failed |
| --- | ---: | ---: | ---: |
"""


def unpack_suite(target, source=SUITE):
    """Find the suite: Debian compresses documentation files, and may not install them at all."""
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


def read_reasons(path):
    reasons = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, separator, reason = line.partition(":")
            if not separator or not reason.strip():
                sys.exit(f"{path}: no reason given for '{name}'")
            reasons[name.strip()] = reason.strip()
    return reasons


def read_differences(path):
    """{name: (result, reason)} of the tests that have another result in a virtual machine."""
    return {name.split()[1]: (name.split()[0], reason) for name, reason in read_reasons(path).items()}


def use_address_of_port():
    """The suite takes the address of the port's interface, but `lo` lacks the addresses of GIDs."""
    from tests.base import RDMATestCase

    with open("/sys/class/infiniband/mlx5_0/ports/1/gids/3", encoding="ascii") as file:
        address = bytes.fromhex(file.read().replace(":", ""))[-4:]
    interface = (".".join(map(str, address)), "00:00:00:00:00:00")
    RDMATestCase.get_ip_mac_address = staticmethod(lambda name: interface)


def run_inside(suite, module, report):
    """Run one module in the process on the emulated function; print one JSON line per test."""
    import multiprocessing
    import time
    import unittest

    # The suite passes open devices to its children, so they must be forked; Python 3.14 does not by default.
    multiprocessing.set_start_method("fork")

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
    if os.environ.get("DPUMAP_EMU"):
        use_address_of_port()
    loader = unittest.defaultTestLoader
    with open(report, "w", encoding="utf-8") as out:
        loader.loadTestsFromName(f"tests.{module}").run(Recorder())


def run_module(emu, suite, module, tmp, output=None, python=PYTHON):
    report = os.path.join(tmp, module + ".json")
    command = [*([emu, "run", "--as", "dpu", "--"] if emu else []), python, os.path.abspath(__file__),
               "--inside", suite, module, report]
    timeout = MODULE_TIMEOUT if emu else GUEST_TIMEOUT
    environment = dict(os.environ, DPUMAP_EMU_DIR=os.path.join(tmp, "emu-" + module),
                       PYTHONDONTWRITEBYTECODE="1")
    process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=output,
                               stderr=output)
    try:
        ended = f"ended with status {process.wait(timeout)}"
    except subprocess.TimeoutExpired:
        ended = f"took more than {timeout} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    tests = []
    if os.path.exists(report):
        with open(report, encoding="utf-8") as lines:
            tests = [json.loads(line) for line in lines if line.endswith("\n")]
    least = SELECTION.get(module, 1)
    if len(tests) < least or ended != "ended with status 0":
        tests.append({"name": module + ".complete", "outcome": "fail", "seconds": 0,
                      "detail": f"{len(tests)} of at least {least} tests reported, "
                                f"the process {ended}"})
    return tests


def run_modules(emu, suite, modules, tmp, output=None, python=PYTHON):
    """(module, tests) for each module, in order; several run at once, each on its own emulator, if there is one."""
    modules = list(modules)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1 if emu else 1) as pool:
        yield from zip(modules, pool.map(
            lambda module: run_module(emu, suite, module, tmp, output, python), modules))


def judge_difference(test, expected):
    """Return the verdict of a test that has another result in a virtual machine, and the reason."""
    result, reason = expected
    if test["outcome"] != result:
        return "fail", f"{test['outcome']}, but guest-differences.txt says {result}: {test['detail']}"
    return ("known" if result == "fail" else result), reason


def judge(test, skips, differences):
    """Return the verdict of a test, and the reason."""
    if test["name"] in differences:
        return judge_difference(test, differences[test["name"]])
    reason = skips.get(test["name"])
    if test["outcome"] == "skip":
        if test["detail"].startswith(MACHINE_LACKS):
            return "skip", test["detail"]
        if reason is None:
            return "fail", "unexpected skip: " + test["detail"]
        return "skip", reason
    if reason is not None and test["outcome"] == "pass":
        return "fail", "ran, but expected-skips.txt lists it"
    return test["outcome"], test["detail"]


def reserve_huge_pages():
    """Reserve 2 MiB pages for some tests, if root. Return the previous number of pages, or None."""
    try:
        with open(HUGE_PAGES, encoding="ascii") as file:
            before = int(file.read())
        if before >= LEAST_HUGE_PAGES:
            return None
        with open(HUGE_PAGES, "w", encoding="ascii") as file:
            file.write(str(LEAST_HUGE_PAGES))
    except OSError:
        return None
    return before


def release_huge_pages(before):
    if before is not None:
        with open(HUGE_PAGES, "w", encoding="ascii") as file:
            file.write(str(before))


def run_selection(emu, suite, tmp, skips, differences):
    """Return (module, name, verdict, detail, outcome) for each test that must run."""
    results = []
    for module, tests in run_modules(emu, suite, SELECTION, tmp):
        for test in tests:
            verdict, detail = judge(test, skips, differences)
            results.append((module, test["name"], verdict, detail, test["detail"]))
            print(f"   {verdict:4} {test['seconds']:6.2f} s  {test['name']}", flush=True)
            for line in detail.splitlines():
                print("          " + line)
    return results


def run_others(emu, suite, tmp):
    """Return the counts of passed, skipped and failed tests by module; None for a module that crashed."""
    counts = {}
    for module, tests in run_modules(emu, suite, OTHERS, tmp, subprocess.DEVNULL):
        outcomes = [test["outcome"] for test in tests]
        ended = not any(test["name"].endswith(".complete") for test in tests)
        counts[module] = tuple(outcomes.count(kind) for kind in ("pass", "skip", "fail"))
        print(f"   {'note' if ended else 'fail'}           {module}: "
              "%d passed, %d skipped, %d failed" % counts[module], flush=True)
        if not ended:
            counts[module] = None
    return counts


def document(results, others):
    """Return the page for the results of this run."""
    rows = ["| module | passed | skipped | failed |", "| --- | ---: | ---: | ---: |"]
    totals = [0, 0, 0]
    reasons = {}
    for module in SELECTION:
        verdicts = [verdict for of, _, verdict, _, _ in results if of == module]
        counts = [verdicts.count(kind) for kind in ("pass", "skip", "fail")]
        totals = [a + b for a, b in zip(totals, counts)]
        rows.append(f"| {module} | {counts[0]} | {counts[1]} | {counts[2]} |")
    rows.append("| **all** | **%d** | **%d** | **%d** |" % tuple(totals))
    for _, name, verdict, detail, _ in results:
        if verdict == "skip":
            reasons.setdefault(detail, []).append(name)
    lines = ["## Required modules", ""] + rows + ["", "## Skipped tests", ""]
    for reason in sorted(reasons):
        lines.append(f"- {reason}:")
        lines += [f"  - `{name}`" for name in sorted(reasons[reason])]
    lines += ["", "## Other modules", "",
              "These modules test features that the device lacks. They must end cleanly. A test that",
              "fails here does not detect that the feature is missing.", "",
              "| module | passed | skipped | failed | missing feature |",
              "| --- | ---: | ---: | ---: | --- |"]
    lines += ["| %s | %d | %d | %d | %s |" % ((module,) + others[module] + (OTHERS[module],))
              for module in OTHERS if others[module]]
    return PREAMBLE + "\n".join(lines) + "\n"


def guest_document(results, skips, differences):
    """Return the page for the results in a virtual machine."""
    rows, totals = [], [0] * 5
    for module in SELECTION:
        names = [(name, verdict) for of, name, verdict, _, _ in results if of == module]
        skipped = sum(name in skips for name, _ in names)
        counts = [sum(verdict == kind for _, verdict in names) for kind in ("pass", "skip", "known")]
        counts += [len(names) - skipped, skipped]
        totals = [a + b for a, b in zip(totals, counts)]
        rows.append(f"| {module} | " + " | ".join(map(str, counts)) + " |")
    rows.append("| **all** | " + " | ".join(f"**{total}**" for total in totals) + " |")
    rows += ["", "## Differences from user mode", ""]
    words = {"pass": "pass", "skip": "are skipped", "fail": "fail"}
    reasons = {}
    for name, (result, reason) in differences.items():
        reasons.setdefault(f"{words[result]}: {reason}", []).append(name)
    for reason in sorted(reasons):
        rows += [f"- {reason}:"] + [f"  - `{name}`" for name in sorted(reasons[reason])]
    return GUEST_PREAMBLE + "\n".join(rows) + "\n"


def check_document(path, text, write):
    """Return True if the file contains the results of this run."""
    if write:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return True
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return True
    except OSError:
        pass
    print(f"   fail           {path} differs from the results of this run; update it with --write-doc")
    return False


def run_suite(arguments):
    skips = read_reasons(SKIPS)
    differences = read_differences(DIFFERENCES) if arguments.guest else {}
    huge_pages = reserve_huge_pages()
    try:
        with tempfile.TemporaryDirectory(prefix="dpumap-pyverbs.") as tmp:
            suite = unpack_suite(tmp)
            results = run_selection(arguments.emu, suite, tmp, skips, differences)
            others = run_others(arguments.emu, suite, tmp)
    finally:
        release_huge_pages(huge_pages)
    if arguments.results:
        with open(arguments.results, "a", encoding="utf-8") as out:
            out.writelines(f"{verdict} pyverbs.{name}\n" for _, name, verdict, _, _ in results)
    counts = {kind: sum(verdict == kind for _, _, verdict, _, _ in results)
              for kind in ("pass", "fail", "skip")}
    good = not counts["fail"] and None not in others.values()
    if any(detail.startswith(MACHINE_LACKS) for *_, detail in results):
        print("   note           this machine lacks a feature: the document is not compared")
    elif good:
        text = guest_document(results, skips, differences) if arguments.guest else document(results, others)
        good = check_document(arguments.doc, text, arguments.write_doc)
    print(f"   pyverbs: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
    return 0 if good else 3


def judge_survey(test, failures):
    expected = failures.get(test["name"])
    if test["outcome"] != "fail":
        return ("fail", "did not fail, but newest-failures.txt lists it") if expected else \
            (test["outcome"], test["detail"])
    return ("known", expected) if expected else ("fail", test["detail"])


def reason_of_skip(test, skips):
    """Ours, or that of the suite if newest-skips.txt has none."""
    for begin, reason in skips.items():
        if test["detail"].startswith(begin) or test["name"].startswith(begin):
            return reason
    print(f"   note {test['name']}: skipped, and newest-skips.txt has no reason: {test['detail']}")
    return test["detail"]


def survey_document(version, counts, failures, skipped):
    rows = ["| %s | %d | %d | %d |" % ((module,) + count) for module, count in counts.items()]
    totals = tuple(sum(count[i] for count in counts.values()) for i in range(3))
    rows += ["| **all** | **%d** | **%d** | **%d** |" % totals, "", "## Failed tests", ""]
    reasons = {}
    for name, reason in failures.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        rows += [f"- {reason}:"] + [f"  - `{name}`" for name in names]
    rows += ["", "## Skipped tests", "", "| why | tests |", "| --- | --- |"]
    for reason in sorted(skipped):
        modules = skipped[reason]
        rows.append(f"| {reason} | " + ", ".join(f"`{one}` {modules[one]}" for one in sorted(modules)) + " |")
    return SURVEY_PREAMBLE % version + "\n".join(rows) + "\n"


def run_survey(arguments):
    failures, skips = read_reasons(FAILURES), read_reasons(SURVEY_SKIPS)
    counts, verdicts, skipped = {}, [], {}
    huge_pages = reserve_huge_pages()
    try:
        with tempfile.TemporaryDirectory(prefix="dpumap-pyverbs.") as tmp:
            suite = unpack_suite(tmp, arguments.suite)
            modules = [os.path.basename(path)[:-3]
                       for path in sorted(glob.glob(os.path.join(suite, "test_*.py")))]
            if arguments.guest:  # whose tests do not find out that the card lacks a feature
                modules = [module for module in modules if module not in OTHERS]
            for module, tests in run_modules(arguments.emu, suite, modules, tmp,
                                             subprocess.DEVNULL, arguments.python):
                outcomes = [test["outcome"] for test in tests]
                counts[module] = tuple(outcomes.count(kind) for kind in ("pass", "skip", "fail"))
                print("        %s: %d passed, %d skipped, %d failed" % ((module,) + counts[module]),
                      flush=True)
                for test in tests:
                    verdict, detail = judge_survey(test, failures)
                    verdicts.append((verdict, test["name"]))
                    if verdict == "skip":
                        modules = skipped.setdefault(reason_of_skip(test, skips), {})
                        modules[module] = modules.get(module, 0) + 1
                    if verdict == "fail":
                        print(f"   fail {test['name']}\n          "
                              + detail.replace("\n", "\n          "))
    finally:
        release_huge_pages(huge_pages)
    if arguments.results:
        with open(arguments.results, "a", encoding="utf-8") as out:
            out.writelines(f"{verdict} newest.{name}\n" for verdict, name in verdicts
                           if verdict != "known")
    bad = sum(verdict == "fail" for verdict, _ in verdicts)
    if arguments.write_doc and not bad:
        with open(arguments.doc, "w", encoding="utf-8") as out:
            out.write(survey_document(arguments.survey, counts, failures, skipped))
    return 3 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--emu", help="the dpumap-emu program")
    parser.add_argument("--results", help="file to add one line per test to")
    parser.add_argument("--doc", help="the page about the results")
    parser.add_argument("--write-doc", action="store_true", help="write the page instead of comparing it")
    parser.add_argument("--guest", action="store_true", help="run on this machine's own device")
    parser.add_argument("--survey", metavar="VERSION", help="run all of another rdma-core's suite")
    parser.add_argument("--suite", help="directory of the suite for --survey")
    parser.add_argument("--python", default=PYTHON, help="interpreter with pyverbs for the suite")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        run_inside(*arguments.inside)
        return 0
    if bool(arguments.emu) == arguments.guest:
        parser.error("either --emu or --guest is needed")
    page = "conformance-guest.md" if arguments.guest else "conformance.md"
    arguments.doc = arguments.doc or os.path.join(DOCS, page)
    arguments.emu = os.path.abspath(arguments.emu) if arguments.emu else None
    # SIGTERM raises an exception, so that children are ended and files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return run_survey(arguments) if arguments.survey else run_suite(arguments)


if __name__ == "__main__":
    sys.exit(main())
