#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""uverbs_table.py HEADERS: compare docs/emu/uverbs.md with the kernel's headers in this directory, which name each method
of uverbs, and with the rows of the emulated kernel. Prints what differs."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../../.."
TABLE = ROOT + "/docs/emu/uverbs.md"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def methods(headers):
    text = "".join(read(f"{headers}/{name}") for name in ("ib_user_ioctl_cmds.h", "mlx5_user_ioctl_cmds.h"))
    bodies = re.findall(r"\benum\s+\w+\s*{([^}]*)}", text)
    return {name for body in bodies for name in re.findall(r"\b(?:UVERBS|MLX5_IB)_METHOD_\w+", body)}


def rows():
    """{method: whether it works}"""
    found = re.findall(r"^\|[^|]*\| `(\w+)` \| (works|missing)\b", read(TABLE), re.MULTILINE)
    assert len(found) == len(dict(found)), "a method has two rows"
    return {name: state == "works" for name, state in found}


def emulated():
    text = "".join(read(path) for path in glob.glob(ROOT + "/emu/server/**/*.c", recursive=True))
    return set(re.findall(r"\.method = (?:EMU_)?((?:UVERBS|MLX5_IB)_METHOD_\w+)", text))


def main():
    headers, table, here = methods(sys.argv[1]), rows(), emulated()
    wrong = [f"{name}: the table has no row" for name in headers - table.keys()]
    wrong += [f"{name}: not in the headers" for name in table.keys() - headers]
    wrong += [f"{name}: the emulated kernel has no row" for name, works in table.items() if works and name not in here]
    wrong += [f"{name}: it is emulated" for name, works in table.items() if not works and name in here]
    print("".join(line + "\n" for line in sorted(wrong)), end="")
    return 1 if wrong or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
