#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: differential.py [--seed N] READER CORPUS VECTORS COMMAND...

Compare the C codec (COMMAND, which is desc_judge) with the reader that was written from the specification
alone. The inputs are the fuzzer's corpus, the vectors, and random changes of both. Status and byte must be
the same for each input. Without --seed, every run makes the same changes.
"""

import argparse
import collections
import pathlib
import random
import re
import struct
import subprocess
import sys

import corpus

CHANGES = 12  # of each input
# Statuses that decoding a byte string cannot return.
NOT_OF_BYTES = {"NULL", "BUFFER", "OP", "DENIED", "ALIGNMENT", "OUTSIDE"}
SHOWN = 10
TABLE = []


def crc32c(data):
    if not TABLE:
        for n in range(256):
            for _ in range(8):
                n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
            TABLE.append(n)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def mend(data):
    """Correct the checksum, so that most changes are not refused for it."""
    if len(data) < 14:
        return data
    data[12:14] = struct.pack("<H", len(data) & 0xFFFF)
    data[4:8] = struct.pack("<I", crc32c(data[8:]))
    return data


def change(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(5)
        if what == 0:
            data[at:at] = rng.randbytes(rng.randint(1, 8))
        elif what == 1:
            del data[at:at + rng.randint(1, 8)]
        elif what == 2:
            data[at:at + 8] = rng.choice((b"\0", b"\xff")) * 8
        elif at < len(data):
            data[at] = rng.randrange(256) if what == 3 else data[at] ^ 1 << rng.randrange(8)
    return bytes(mend(data) if rng.randrange(8) else data)[:600]


def vectors(folder):
    texts = [path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(folder).glob("*.txt"))]
    for vector in "\n\n".join(texts).split("\n\n"):
        rows = re.findall(r"^hex: ?(.*)$", vector, re.M)
        if rows:
            yield bytes.fromhex("".join(rows))


def judge(command, lines):
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    for name in ("reader", "corpus", "vectors"):
        parser.add_argument(name)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()

    rng = random.Random(args.seed)
    inputs = corpus.read(args.corpus)
    if not inputs:
        sys.exit(f"{args.corpus} is empty")
    inputs += vectors(args.vectors)
    inputs += [change(data, rng) for data in inputs for _ in range(CHANGES)]
    lines = "".join(data.hex() + "\n" for data in inputs)
    ours = judge(args.command, lines)
    theirs = judge([sys.executable, args.reader, "judge"], lines)
    if not len(inputs) == len(ours) == len(theirs):
        sys.exit(f"{len(inputs)} inputs, {len(ours)} and {len(theirs)} answers")
    wrong = 0
    for data, our, their in zip(inputs, ours, theirs):
        if our != their:
            wrong += 1
            if wrong > SHOWN:
                continue
            print(f"{data.hex()}: codec {our}, reader {their}")
    seen = collections.Counter(line.split()[0] for line in ours)
    print(", ".join(f"{name} {n}" for name, n in sorted(seen.items())))
    print(f"{len(inputs)} inputs, {len(seen)} statuses, {wrong} judged differently")
    sys.exit(wrong != 0 or "OK" not in seen or bool(seen.keys() & NOT_OF_BYTES))


if __name__ == "__main__":
    main()
