#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The work of scripts/hil: copies the packages to two machines, runs the suite between them, writes the
report, and leaves nothing on the machines."""

import argparse
import configparser
import contextlib
import ctypes
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import published
import relay
import report
from harness.machine import Lost
from harness.ssh import SshMachine

PACKAGES = ("libdpumap0", "libdpumap-channel0", "dpumap-dpu", "dpumap-host")
# In this order: first what a lab wants to know first, and last what resets the device.
TESTS = ("hil/test_first.py", "hil/test_doctor.py", "agents", "hil/test_performance.py",
         "hil/test_endurance.py", "hil/test_programs.py", "hil/test_examples.py", "hil/test_device.py")
BENCH_TESTS = ("hil/test_performance.py",)
BENCH_PROGRAMS = ("tests/hil_probe", "bin/bench_copy")
# Programs for both machines, and the integration tests that can run between them.
PROGRAMS = (HERE / "programs.txt").read_text(encoding="utf-8")
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
# Of the libraries that the programs need, those that a machine may lack and that are brought there.
SPARE = ("libcbor", "libconfig", "libjson-c", "libnuma", "librdmacm",
         "libcmocka", "liblz4", "libxxhash", "libz")
CANNOT = 3

FACTS = r"""
echo "machine $(uname -m)"
echo "kernel $(uname -sr)"
echo "system $(. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME-unknown}")"
echo "time $(date +%s)"
echo "user $(id -un)"
echo "locked_memory_kib $(ulimit -l)"
echo "cpus $(nproc)"
echo "free_kib $(df -Pk "${TMPDIR:-/tmp}" | awk 'NR == 2 { print $4 }')"
echo "huge_pages_free $(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)"
echo "devices $(cd /dev/infiniband 2>/dev/null && echo uverbs*)"
for tool in tar base64 sha256sum setsid mktemp; do
	command -v $tool >/dev/null || echo "lacks $tool"
done
"""


def say(text):
    print(f"hil: {text}", flush=True)


def make_tmp():
    """A directory that is removed when this process ends, even by SIGKILL: its keeper reads a pipe."""
    tmp = tempfile.mkdtemp(prefix="dpumap-hil.")
    script = "trap '' HUP INT TERM; cat >/dev/null; rm -rf \"$1\""
    words = ["sh", "-c", script, "keeper", tmp]
    make_tmp.keeper = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    return pathlib.Path(tmp)


class Run:
    """Two machines, from the first connection to the report."""

    def __init__(self, options):
        self.options = options
        self.tmp = make_tmp()
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.properties = configparser.ConfigParser(interpolation=None)
        if options.properties and not self.properties.read(options.properties):
            raise Lost(f"cannot read {options.properties}")
        self.facts = {}
        self.relay = None
        ssh = ["-F", options.ssh_config] if options.ssh_config else []
        self.machines = {
            name: SshMachine(name, target, self.tmp / f"{name}.ssh", ssh)
            for name, target in (("host", options.host), ("dpu", options.dpu))
        }

    def open(self):
        for name, machine in self.machines.items():
            machine.open()
            self.ask(machine)
        skew = abs(self.facts["host"]["skew"] - self.facts["dpu"]["skew"])
        if skew > 300:
            raise Lost(
                f"the clocks of the machines differ by {skew} s, certificates would be refused"
            )

    def ask(self, machine):
        """Asks a machine for its architecture, its tools and its disk."""
        begin = time.time()
        done = machine.bare(shlex.join(["bash", "-c", FACTS]))
        facts = dict(line.split(" ", 1) for line in done.ok().splitlines() if " " in line)
        if "lacks" in facts:
            raise Lost(f"{machine.name}: there is no {facts['lacks']} on {machine.target}")
        architectures = {"x86_64": "amd64", "aarch64": "arm64"}
        facts["architecture"] = architectures.get(facts["machine"])
        if not facts["architecture"]:
            raise Lost(f"{machine.name}: no packages for {facts['machine']}")
        facts["skew"] = int(facts.pop("time")) - int((begin + time.time()) / 2)
        if int(facts["free_kib"]) < 128 * 1024:
            raise Lost(f"{machine.name}: {facts['free_kib']} KiB of disk are not enough")
        self.facts[machine.name] = facts
        say(f"{machine.name}: {machine.target}, {facts['machine']}, {facts['system']}, {facts['kernel']}")

    def build(self):
        """Builds the packages and test programs for each architecture; returns where they are."""
        where = {}
        tests = dict(word.split("=", 1) for word in self.options.tests)
        for architecture in sorted({facts["architecture"] for facts in self.facts.values()}):
            packages = pathlib.Path(self.options.packages) / architecture
            if not self.options.no_build:
                say(f"packages for {architecture}")
                words = [
                    ROOT / "scripts/package",
                    "--no-install",
                    "--out",
                    packages.parent,
                    architecture,
                ]
                self.must(words)
            build = tests.get(architecture)
            if not build:
                build = pathlib.Path(self.options.packages).parent / f"tests-{architecture}"
                self.build_tests(architecture, build)
            where[architecture] = (packages, pathlib.Path(build))
        return where

    def programs(self):
        if self.options.bench:
            return BENCH_PROGRAMS
        lines = [line.split("#")[0].split() for line in PROGRAMS.splitlines()]
        return [words[0] for words in lines if words]

    def build_tests(self, architecture, build):
        say(f"test programs for {architecture}")
        words = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"]
        native = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
        if architecture != native:
            toolchain = ROOT / f"cmake/toolchains/{TRIPLETS[architecture]}.cmake"
            words.append(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
        self.must(words)
        targets = [name.replace("examples/doca/", "example_doca_") for name in self.programs()]
        targets = [name.rsplit("/", 1)[-1] for name in targets]
        self.must(["cmake", "--build", build, "--target", *targets])

    def must(self, words):
        with open(self.out / "build.log", "a", encoding="utf-8") as log:
            if subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, check=False).returncode:
                raise Lost(f"{shlex.join(map(str, words))} failed: see {self.out}/build.log")

    def deploy(self, machine, packages, tests):
        stage = self.tmp / "stage" / machine.name
        stage.mkdir(parents=True)
        for package in PACKAGES:
            found = sorted(packages.glob(f"{package}_*.deb"))
            if len(found) != 1:
                raise Lost(f"{packages} has {len(found)} packages {package}")
            subprocess.run(["dpkg-deb", "-x", found[0], stage], check=True)
        shutil.rmtree(stage / "usr/share", ignore_errors=True)
        triplet = TRIPLETS[self.facts[machine.name]["architecture"]]
        files = {"root": stage, "env": environment(triplet), "side": machine.name + "\n"}
        for name in ("do", "pair"):
            files[name] = HERE / "far" / name
        for name in ("tmp/.keep", "home/.keep", "lib/.keep", "daemons/.keep"):
            files[name] = b""
        for name in self.programs():
            files[f"tests/{name.rsplit('/', 1)[-1]}"] = tests / name
        count = self.properties.get("device", "count", fallback="")
        if count and self.properties.getboolean("device", "exclusive", fallback=False):
            files["count"] = count + "\n"
        machine.put(files)
        self.lend_libraries(machine, triplet)

    def lend_libraries(self, machine, triplet):
        """Copies libraries there that the machine lacks."""
        missing = machine.run(
            "ldd root/usr/*bin/* tests/* | awk '/not found/ { print $1 }' | sort -u"
        ).out
        files = {}
        for name in missing.split():
            local = pathlib.Path("/usr/lib") / triplet / name
            if not name.startswith(SPARE) or not local.exists():
                raise Lost(f"{machine.name}: {machine.target} has no {name}")
            files[f"lib/{name}"] = local.resolve()
        if files:
            machine.put(files)
        for program in ("dpumap", "dpumapd"):
            done = machine.run([program, "--version"])
            if done.status:
                raise Lost(f"{machine.name}: {program} does not start there: {done.err.strip()}")

    def check_device(self, machine):
        done = machine.run("hil_probe devices")
        self.facts[machine.name]["functions"] = done.out.strip()
        if done.status or not done.out.strip():
            facts = self.facts[machine.name]
            raise Lost(
                f"{machine.name}: {facts['user']} has no RDMA device that the library finds "
                f"(in /dev/infiniband: {facts['devices'] or 'nothing'}): {done.err.strip()}"
            )

    def state(self):
        """What the tests read as $DPUMAP_HIL_STATE."""
        address = self.properties.get("channel", "address", fallback="")
        if not address:
            words = ["ssh", *self.machines["dpu"].ssh_options, "-G", "--", self.options.dpu]
            lines = subprocess.check_output(words, text=True).splitlines()
            address = next(line.split()[1] for line in lines if line.startswith("hostname "))
        return {
            "address": address,
            "out": str(self.out.resolve()),
            "profile": self.options.profile,
            "bytes": self.options.bytes,
            "endurance": self.options.endurance,
            "properties": {
                name: dict(self.properties[name]) for name in self.properties.sections()
            },
            "facts": self.facts,
            "machines": {
                name: {
                    "target": machine.target,
                    "control": str(machine.control),
                    "ssh_options": machine.ssh_options,
                    "directory": machine.dir,
                }
                for name, machine in self.machines.items()
            },
        }

    def test(self):
        state = self.tmp / "state.json"
        state.write_text(json.dumps(self.state()))
        words = [sys.executable, "-m", "pytest", "-rs", "-v"]
        words += ["--junitxml", self.out / "junit.xml", "-o", "junit_family=xunit2"]
        words += [ROOT / "tests" / name for name in (BENCH_TESTS if self.options.bench else TESTS)]
        words += ["-k", self.options.select] if self.options.select else []
        environ = {**os.environ, "DPUMAP_HIL_STATE": str(state), "PYTHONDONTWRITEBYTECODE": "1"}
        with open(self.out / "pytest.log", "w", encoding="utf-8") as log:
            pytest = subprocess.Popen(
                words,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                cwd=ROOT / "tests",
                preexec_fn=die_with_parent,
            )
            try:
                for line in pytest.stdout:
                    print(line, end="", flush=True)
                    log.write(line)
                    log.flush()
                return pytest.wait()
            except BaseException:
                for number in (signal.SIGINT, signal.SIGKILL):
                    with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
                        os.killpg(pytest.pid, number)
                        pytest.wait(10)
                raise

    def must_be_there(self):
        """Fails unless both machines are still connected."""
        for machine in self.machines.values():
            if machine.watch.poll() is not None:
                raise Lost(f"{machine.name}: the connection to {machine.target} was lost")

    def collect(self):
        """Copies the logs of background programs here."""
        for machine in self.machines.values():
            with contextlib.suppress(OSError, subprocess.SubprocessError, AssertionError):
                target = self.out / machine.name
                target.mkdir(exist_ok=True)
                tar = machine.start("cd daemons && tar -c .", stderr=subprocess.DEVNULL)
                words = ["tar", "-x", "-C", target]
                subprocess.run(words, stdin=tar.stdout, stderr=subprocess.DEVNULL, check=False)

    def close(self):
        """Ends and removes everything; returns whether that worked."""
        if self.relay:
            self.relay.close()
        removed = [machine.close() for machine in self.machines.values()]
        shutil.rmtree(self.tmp, ignore_errors=True)
        return all(removed)

    def beside(self):
        """What was measured beside what is published, with a heading; "" if nothing was measured."""
        card = self.options.emulated
        heading = f"on the emulated card {card}, which says nothing about a card" if card else "and published"
        text = published.beside(*published.load(HERE / "published.txt"), report.read_lines(self.out / "figures.jsonl"))
        return text and f"## Measured {heading}\n\n{text}"


def die_with_parent():
    """In the child: prctl(PR_SET_PDEATHSIG, SIGKILL)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def environment(triplet):
    return f"""\
export LD_LIBRARY_PATH="$DPUMAP_HIL/root/usr/lib/{triplet}:$DPUMAP_HIL/lib"
export PATH="$DPUMAP_HIL/root/usr/bin:$DPUMAP_HIL/root/usr/sbin:$DPUMAP_HIL/tests:$PATH"
export PATH="$PATH:/usr/sbin:/sbin"
export TMPDIR="$DPUMAP_HIL/tmp" HOME="$DPUMAP_HIL/home" LC_ALL=C
unset DPUMAP_LOG_LEVEL DPUMAP_CONNECT XDG_CONFIG_HOME XDG_RUNTIME_DIR
"""


def parse():
    parser = argparse.ArgumentParser()
    for name in ("host", "dpu", "out", "packages"):
        parser.add_argument("--" + name, required=True)
    for name in ("emulated", "properties", "ssh-config", "select"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--profile", choices=("quick", "lab"), default="lab")
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--endurance", type=int, required=True)
    parser.add_argument("--tests", action="append", default=[])
    for name in ("bench", "no-build"):
        parser.add_argument("--" + name, action="store_true")
    return parser.parse_args()


def work(run):
    """Connects, deploys and tests; returns pytest's exit status."""
    run.open()
    where = run.build()
    for name, machine in run.machines.items():
        say(f"{name}: packages and tests go to {machine.dir}")
        run.deploy(machine, *where[run.facts[name]["architecture"]])
        run.check_device(machine)
    run.relay = relay.Relay(run.machines, run.tmp, run.out / "pair.log")
    return run.test()


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it was ignored
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    options = parse()
    begin = time.time()
    status, verdict, run = CANNOT, "", None
    try:
        run = Run(options)
        ended = work(run)
        run.must_be_there()
        status = ended if ended in (0, 1) else CANNOT
    except Lost as lost:
        verdict = str(lost)
        print(f"hil: {lost}", file=sys.stderr)
    except KeyboardInterrupt:
        status, verdict = 130, "interrupted"
    except SystemExit as ended:
        status, verdict = ended.code, "ended by a signal"
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if run:
            run.collect()
            if not run.close():
                print(
                    "hil: a machine was lost: what is there goes within two minutes",
                    file=sys.stderr,
                )
            beside = run.beside()
            report.write(run.out, options, run.facts, status, verdict, time.time() - begin, beside)
            if options.bench:
                print(f"\n{beside or 'Nothing was measured.'}\n", flush=True)
            say(f"report: {run.out}/report.md")
    sys.exit(status)


if __name__ == "__main__":
    main()
