#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The inputs that fuzzers start from: corpus/FUZZER.txt, one input per line, in hexadecimal.

usage: corpus.py unpack FILE DIR          one file for each input
       corpus.py pack FILE DIR...         write the inputs in the folders to FILE
       corpus.py merge BUILD FUZZER...    add the inputs that the fuzzers of BUILD found, except
                                          those that do not increase the coverage (-merge=1)
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
MAX_LEN = 600  # as in CMakeLists.txt


def read(path):
    return [bytes.fromhex(line) for line in pathlib.Path(path).read_text().splitlines()
            if not line.startswith("#")]


def unpack(path, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {hashlib.sha1(data).hexdigest(): data for data in read(path)}
    for file in folder.iterdir():
        if file.name not in wanted:
            file.unlink()
    for name, data in wanted.items():
        (folder / name).write_bytes(data)


def pack(path, *folders):
    inputs = {file.read_bytes() for folder in folders for file in pathlib.Path(folder).iterdir()}
    lines = [data.hex() for data in sorted(inputs, key=lambda data: (len(data), data))]
    pathlib.Path(path).write_text("\n".join(["# Made by tests/fuzz/corpus.py.", *lines]) + "\n")
    print(f"{path}: {len(lines)} inputs")


def merge(build, *fuzzers):
    build = pathlib.Path(build)
    for fuzzer in fuzzers:
        folder = next(folder for folder in ("fuzz", "emu/fuzz") if (TESTS / folder / f"{fuzzer}.c").exists())
        packed = TESTS / folder / "corpus" / f"{fuzzer}.txt"
        with tempfile.TemporaryDirectory(prefix="dpumap-corpus.") as tmp:
            before, after = pathlib.Path(tmp) / "before", pathlib.Path(tmp) / "after"
            after.mkdir()
            before.mkdir()
            if packed.exists():
                unpack(packed, before)
            subprocess.run([build / "tests" / fuzzer, "-merge=1", f"-max_len={MAX_LEN}", after,
                            before, build / "tests" / folder / "found" / fuzzer], check=True)
            pack(packed, after)


COMMANDS = {"unpack": unpack, "pack": pack, "merge": merge}

if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
