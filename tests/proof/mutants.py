#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which changes of the decoders, of memory maps and of bufs does no test detect?

    tests/proof/mutants.py --scratch DIR --count 200            # of all
    tests/proof/mutants.py --scratch DIR --count 0 --pure       # all that need no emulated card

All mutants of a file are compiled at once: each is a copy of one function, which the function calls if the
environment variable DPUMAP_MUTANT has its number. So each mutant costs one run of the tests and no build. A
mutant for which the compiler generates the code of the original is equivalent and does not count. The
others that no test detects are in mutants.txt, each with the reason why it changes nothing that can be
observed. The same mutants are chosen each time; --count 0 means all.
"""
import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "scripts/lib"))
import mutation  # noqa: E402 pylint: disable=wrong-import-position

KNOWN = pathlib.Path("tests/proof/mutants.txt")
LIMIT = 95  # per cent
SECONDS = 20  # of a test that waits for ever
CPU_SECONDS = 5  # of a test that loops for ever
# Files, and the tests that detect their mutants: the fastest first. Tests run as the DPU, or @host, of two cards.
GROUPS = [
    (["src/desc/*.c", "src/desc/b*.h", "src/desc/crc32c_table.h", "src/desc/cursor.h"],
     ["test_crc32c", "test_desc_cursor", "test_desc_vectors", "test_desc"]),
    (["src/channel/decode.c", "src/channel/encode.c", "src/channel/message.c"], ["test_channel"]),
    (["src/comch/link/wire.c"], ["test_comch_wire"]),
    (["src/core/buf/*.[ch]"],
     ["test_buf", "test_buf_list", "test_buf_pool", "test_core_faults", "test_rules_bufs@host", "test_dma",
      "test_dma_memcpy", "test_rdma_tasks", "test_rules_faults@host"]),
    (["src/core/mmap/*.[ch]"],
     ["test_mmap", "test_rules_life@host", "test_rules_export@host", "test_rules_import@host", "test_dmabuf",
      "test_mmap_lock", "test_core_faults", "test_dm", "test_rules_properties@host", "test_cards@host",
      "test_rules_faults@host", "test_interface", "test_buf", "test_rdma_export", "test_rdma_memory",
      "test_rdma_tasks", "test_rules_states@host", "test_revoke", "test_key_faults", "test_dma_memcpy",
      "test_share", "test_sweep", "test_umem", "test_bridge", "test_comch_fast"]),
]
NEEDS_CARD = "src/core/"
# The instructions of a processor have no test of their own, and layout.h no statement.
SELECTOR = """
#ifndef DPUMAP_MUTANT
#define DPUMAP_MUTANT
extern __attribute__((weak, visibility("default"))) int dpumap_mutant;
__attribute__((weak)) int dpumap_mutant;
extern char *getenv(const char *name);
extern int atoi(const char *text);
static __attribute__((constructor)) void choose_mutant(void)
{
	const char *chosen = getenv("DPUMAP_MUTANT");
	dpumap_mutant = chosen ? atoi(chosen) : 0;
}
#endif
"""


class Function:
    """A definition in the kernel's style: { and } stand alone at the margin."""

    def __init__(self, lines, opening):
        self.opening = opening
        self.closing = lines.index("}", opening)
        self.start = opening
        while self.start and lines[self.start - 1] and not re.search(r"[;}/]$|^#", lines[self.start - 1]):
            self.start -= 1
        signature = " ".join(line.strip() for line in lines[self.start:opening])
        found = re.fullmatch(r"(.*?[\s*])(\w+)\((.*)\)", signature)
        self.type, self.name, self.parameters = found.groups() if found else (signature, None, "")
        self.returns = not re.search(r"\bvoid\s*$", self.type)

    def arguments(self):
        if self.parameters == "void":
            return ""
        names = [re.sub(r"\[.*\]", "", part).split()[-1].lstrip("*") for part in self.parameters.split(",")]
        return ", ".join(names)

    def copy(self, number, body):
        kind = self.type if "static" in self.type else f"static {self.type}"
        text = "\n".join(body).replace("__func__", f'"{self.name}"')
        return f"{kind}{self.name}__m{number}({self.parameters})\n{{\n{text}\n}}\n"

    def call(self, number):
        call = f"{self.name}__m{number}({self.arguments()})"
        return f"case {number}: return {call};" if self.returns else f"case {number}: {call}; return;"


class Mutant:
    def __init__(self, path, function, before, change):
        self.path, self.function = path, function
        self.operator, self.line, self.changed = change
        self.key = f"{path}: {function.name}: {before.strip()} => {self.changed.strip()}"
        self.number = None

    def rank(self):
        return hashlib.sha256(self.key.encode()).digest()


def find_mutants(path, text):
    lines = text.splitlines()
    functions = [Function(lines, n) for n, line in enumerate(lines) if line == "{"]
    mutants = []
    seen = set()
    for change in mutation.candidates(TREE / path):
        function = next(f for f in functions if f.opening < change[1] < f.closing)
        if function.name and "..." not in function.parameters and change[1:] not in seen:
            seen.add(change[1:])
            mutants.append(Mutant(path, function, lines[change[1]], change))
    # Equal lines of one function are told apart by their order.
    counts = {}
    for mutant in mutants:
        counts[mutant.key] = counts.get(mutant.key, 0) + 1
        if counts[mutant.key] > 1:
            mutant.key += f" ({counts[mutant.key]})"
    return mutants


def write_mutants(tree, path, text, mutants):
    """Write the file with all mutants. Return the mutant of each line of it."""
    lines, out, owner = text.splitlines(), [], {}
    by_start = {}
    for mutant in mutants:
        by_start.setdefault(mutant.function.start, []).append(mutant)
    first = min((mutant.function.start for mutant in mutants), default=0)
    number = 0
    while number < len(lines):
        if number == first:
            out += SELECTOR.splitlines()
        here = by_start.get(number, [])
        if here:
            function = here[0].function
            body = lines[function.opening + 1:function.closing]
            out += function.copy(0, body).splitlines()
            for mutant in here:
                changed = list(body)
                changed[mutant.line - function.opening - 1] = mutant.changed
                for line in function.copy(mutant.number, changed).splitlines():
                    owner[len(out)] = mutant
                    out.append(line)
            out += lines[number:function.opening + 1]
            out.append("switch (dpumap_mutant) {" + function.call(0).replace("case 0", "case -1") + "".join(
                function.call(mutant.number) for mutant in here) + "}")
            number = function.opening + 1
            continue
        out.append(lines[number])
        number += 1
    (tree / path).write_text("\n".join(out) + "\n")
    return owner


def compile_command(commands, tree, path):
    """A compiler command for the file; headers are compiled as part of a file that includes them."""
    for entry in commands:
        if entry["file"] == str(tree / path):
            return entry["command"].split(), entry["directory"]
    return next((entry["command"].split(), entry["directory"]) for entry in commands
                if entry["file"].startswith(str(tree / path.parent)))


def compiler(commands, tree, path, options):
    command, directory = compile_command(commands, tree, path)
    at = command.index("-c")
    command = [word for word in command[:at] if word != "-o"]
    command = command[:command.index("-o")] if "-o" in command else command
    objects = [word for word in command if not word.endswith(".o")]
    return subprocess.run([*objects, "-w", "-x", "c", *options, str(tree / path)], cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def drop_invalid(commands, tree, path, text, mutants):
    """Leave out the mutants that do not compile."""
    while mutants:
        owner = write_mutants(tree, path, text, mutants)
        done = compiler(commands, tree, path, ["-fsyntax-only", "-fmax-errors=0"])
        if done.returncode == 0:
            return mutants
        wrong = {owner.get(int(line) - 1) for line in re.findall(r":(\d+):\d+: error:", done.stderr)} - {None}
        if not wrong:
            sys.exit(f"{path} with its mutants does not compile:\n{done.stderr}")
        mutants = [mutant for mutant in mutants if mutant not in wrong]
    write_mutants(tree, path, text, [])
    return mutants


PLAIN = ["-O2", "-g0", "-DNDEBUG", "-fno-inline", "-fno-ipa-icf", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-ra",
         "-fno-ipa-pure-const", "-fno-partial-inlining", "-fno-reorder-blocks-and-partition", "-S", "-o", "-"]


def code_of_copies(assembler):
    """The code of each copy, without the numbers of labels and copies."""
    strings = dict(re.findall(r"^(\.LC\d+):\n((?:\t\..*\n)+)", assembler, re.M))
    copies = {}
    for name, code in re.findall(r"^(\w+__m\d+):\n(.*?)\t\.size\t\1,", assembler, re.M | re.S):
        code = re.sub(r"\.LC\d+", lambda found: strings.get(found.group(), found.group()), code)
        code = re.sub(r"(\w+__m)\d+", r"\1", code)
        code = re.sub(r"\b([a-zA-Z_]\w*)\.\d+\b", r"\1", code)
        labels = {}
        copies[name] = re.sub(r"\.L\w*\d+", lambda found: labels.setdefault(found.group(), f".L<{len(labels)}>"), code)
    return copies


def drop_equivalent(commands, tree, path, mutants):
    done = compiler(commands, tree, path, PLAIN)
    copies = code_of_copies(done.stdout)
    different = [mutant for mutant in mutants
                 if copies.get(f"{mutant.function.name}__m{mutant.number}", "") !=
                 copies.get(f"{mutant.function.name}__m0")]
    return different, len(mutants) - len(different)


class Emulators:
    """Emulators with two cards each, one for each test that runs at the same time: tests count objects."""

    def __init__(self, build, scratch, number):
        self.emu = build / "bin/dpumap-emu"
        self.folders = [scratch / f"emu-{n}" for n in range(number)]
        self.idle = queue.SimpleQueue()

    def __enter__(self):
        for folder in self.folders:
            subprocess.run([self.emu, "start", "--dir", folder, "--cards", "2"], check=True,
                           stdout=subprocess.DEVNULL)
            self.idle.put(folder)
        return self

    def __exit__(self, *_):
        for folder in self.folders:
            subprocess.run([self.emu, "stop", "--dir", folder], check=False, stdout=subprocess.DEVNULL)

    def command(self, folder, test, program):
        as_host = test.endswith("@host")
        return [str(self.emu), "run", "--dir", str(folder), "--as", "host" if as_host else "dpu", "--", *program,
                "--emu", str(self.emu), "--peer-as", "dpu" if as_host else "host", "--engine", "mmo"]


def limit_cpu():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def passes(command, number, scratch):
    environment = dict(os.environ, DPUMAP_MUTANT=str(number), DPUMAP_SWEEP_STRIDE="16", TMPDIR=str(scratch),
                       CMOCKA_TEST_ABORT="1", DPUMAP_TEST_PATIENCE_MS="5000")  # the first failure suffices
    with subprocess.Popen(command, env=environment, preexec_fn=limit_cpu, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(SECONDS) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def needs_card(path):
    return str(path).startswith(NEEDS_CARD)


class Judge:
    def __init__(self, args, build, emulators):
        self.scratch, self.build, self.emulators = args.scratch, build, emulators

    def passes(self, test, path, number):
        name = test.partition("@")[0]
        program = [str(self.build / "tests" / name)]
        if name == "test_desc_vectors":
            program += [str(TREE / "tests/vectors/v1.txt"), str(TREE / "tests/vectors/desc.txt")]
        if not needs_card(path):
            return passes(program, number, self.scratch)
        folder = self.emulators.idle.get()
        try:
            return passes(self.emulators.command(folder, test, program), number, self.scratch)
        finally:
            self.emulators.idle.put(folder)

    def detect(self, mutant, tests):
        """The test that detects the mutant, or None."""
        return next((test for test in tests if not self.passes(test, mutant.path, mutant.number)), None)

    def check_originals(self, tests, paths):
        for path in paths:
            for test in tests[path]:
                for number in (0, -1):
                    if not self.passes(test, path, number):
                        sys.exit(f"{test} fails without a mutant")


class Journal:
    """The verdicts of earlier runs, so that a run that was stopped goes on where it was."""

    def __init__(self, path):
        self.path, self.verdicts = path, {}
        if path and path.exists():
            lines = (line.split("\t") for line in path.read_text().splitlines())
            self.verdicts = {key: test for test, key in lines}

    def add(self, mutant, test):
        self.verdicts[mutant.key] = test or "none"
        if self.path:
            with self.path.open("a") as file:
                print(test or "none", mutant.key, sep="\t", file=file)

    def knows(self, mutant):
        return mutant.key in self.verdicts

    def detected(self, mutant):
        return self.verdicts[mutant.key] != "none"


def judge_all(args, build, mutants, tests, journal):
    todo = [mutant for mutant in mutants if not journal.knows(mutant)]
    paths = {tuple(tests[mutant.path]): mutant.path for mutant in todo}.values()
    number = args.jobs if any(needs_card(path) for path in paths) else 0
    with Emulators(build, args.scratch, number) as emulators, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        judge = Judge(args, build, emulators)
        judge.check_originals(tests, paths)
        runs = {pool.submit(judge.detect, mutant, tests[mutant.path]): mutant for mutant in todo}
        for run in concurrent.futures.as_completed(runs):
            mutant, test = runs[run], run.result()
            journal.add(mutant, test)
            if not test:
                print(f"survives: {mutant.key}", flush=True)
        judge.check_originals(tests, paths)  # no mutant has left anything that others notice


def known_survivors():
    """The mutants of mutants.txt, each with its reason."""
    known, key = {}, None
    for line in (TREE / KNOWN).read_text().splitlines():
        if line.startswith("\t"):
            known[key] = f"{known[key]} {line.strip()}".strip()
        elif line and not line.startswith("#"):
            key = line
            known[key] = ""
    return known


def refuse_stale():
    """Each line of mutants.txt is that of a mutant: under the old name of a function, it would not count."""
    paths = {path for patterns, _ in GROUPS for pattern in patterns for path in TREE.glob(pattern)}
    keys = {mutant.key for path in paths for mutant in find_mutants(path.relative_to(TREE), path.read_text())}
    stale = [key for key in known_survivors() if key not in keys]
    if stale:
        sys.exit("\n".join(f"{KNOWN}: is no mutant (any more): {key}" for key in stale))


def prepare(args, tree):
    """A copy of the tree with the mutants of all files, built. Yield the mutants and their tests."""
    shutil.copytree(TREE, tree, ignore=shutil.ignore_patterns(".git", "build", "build-*"), dirs_exist_ok=True)
    build = tree / "build"
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                    "-DCMAKE_C_FLAGS=-O1 -w", "-DDPUMAP_TESTS=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                   check=True, stdout=subprocess.DEVNULL)
    commands = json.loads((build / "compile_commands.json").read_text())
    mutants, tests, equivalent, number = [], {}, 0, 0
    for patterns, names in GROUPS:
        for path in sorted({path.relative_to(TREE) for pattern in patterns for path in TREE.glob(pattern)}):
            if args.only not in str(path) or (needs_card(path) and args.pure):
                continue
            text = (TREE / path).read_text()
            found = find_mutants(path, text)
            for mutant in found:
                number += 1
                mutant.number = number
            found = drop_invalid(commands, tree, path, text, found)
            if found:
                found, same = drop_equivalent(commands, tree, path, found)
                equivalent += same
            mutants += found
            tests[path] = names
    return build, mutants, tests, equivalent


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pure", action="store_true", help="Only mutants whose tests need no emulated card")
    parser.add_argument("--count", type=int, default=200, help="Number of mutants; 0: all")
    parser.add_argument("--only", default="", help="Only mutants of files whose names contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="Tests at the same time")
    parser.add_argument("--journal", type=pathlib.Path, help="Verdicts: those in the file count, new ones are added")
    parser.add_argument("--scratch", type=pathlib.Path, required=True, help="Folder for the copy and its build")
    args = parser.parse_args()
    args.scratch = args.scratch.resolve()
    return args


def main():
    args = parse()
    refuse_stale()
    tree = args.scratch / "tree"
    build, mutants, tests, equivalent = prepare(args, tree)
    print(f"{len(mutants)} mutants; {equivalent} more have the code of the original", flush=True)
    targets = sorted({name.partition("@")[0] for names in tests.values() for name in names})
    if not args.pure:
        targets.append("emu/all")
    subprocess.run(["ninja", "-C", build, *targets], check=True, stdout=subprocess.DEVNULL)
    mutants.sort(key=Mutant.rank)
    mutants = mutants[:args.count or None]
    known = known_survivors()
    journal = Journal(args.journal)
    judge_all(args, build, mutants, tests, journal)
    survivors = [mutant for mutant in mutants if not journal.detected(mutant)]
    stale = [mutant for mutant in mutants if journal.detected(mutant) and mutant.key in known]
    missing = [mutant for mutant in survivors if mutant.key not in known]
    killed = len(mutants) - len(survivors)
    print(f"{killed} of {len(mutants)} mutants are detected, {100 * killed / len(mutants):.1f} %")
    for mutant in missing:
        print(f"neither detected nor in {KNOWN}: {mutant.key}")
    for mutant in stale:
        print(f"in {KNOWN}, but detected: {mutant.key}")
    sys.exit(bool(missing or stale or killed * 100 < LIMIT * len(mutants)))


if __name__ == "__main__":
    main()
