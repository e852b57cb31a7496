#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: desc-tool.py DPUMAP READER VECTORS...

`dpumap desc` and the independent reader print the same, byte for byte, for every descriptor of the
vectors, good or bad: as text and as JSON, on both outputs, with the same exit status. What is JSON
can be parsed, and no key is in it that was not asked for. With DPUMAP_VECTOR_STRIDE=N for every Nth.
"""

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import types

WAYS = (["show"], ["show", "--json"], ["show", "--show-secret"],
        ["show", "--json", "--show-secret"], ["check"], ["check", "--json"])


BRIEF = (["show"], ["check", "--json"])


def load(path):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("reader", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_reader(reader, way, data):
    args = types.SimpleNamespace(what=way[0], file="-", json="--json" in way,
                                 show_secret="--show-secret" in way)
    out, err, stdin = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = types.SimpleNamespace(buffer=io.BytesIO(data))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = reader.run(args)
    finally:
        sys.stdin = stdin
    return status, out.getvalue(), err.getvalue()


def by_tool(tool, way, data):
    done = subprocess.run([tool, "desc", *way, "-"], input=data, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def faults(way, vector, said):
    status, out, err = said
    good = vector["status"] == "OK"
    if status != (0 if good else 4) or bool(err) == good:
        yield f"exits with {status} and says {err!r}"
    if "--json" in way:
        shown = json.loads(out)
        if shown["valid"] != good:
            yield "takes a bad one for good, or a good one for bad"
        if not good and (shown["status"], shown["byte"]) != (vector["status"], vector["byte"]):
            yield f"blames {shown}"
    key = vector.get("access_key")
    if key and (key.hex() in out) != ("--show-secret" in way):
        yield "shows the key, or does not show it"


def main():
    tool, reader = sys.argv[1], load(sys.argv[2])
    stride = int(os.environ.get("DPUMAP_VECTOR_STRIDE", "1"))
    compared = wrong = 0
    for path in sys.argv[3:]:
        for vector in list(reader.vectors(path))[::stride]:
            if "hex" not in vector:
                continue
            for way in WAYS if vector["status"] == "OK" else BRIEF:
                compared += 1
                said = by_tool(tool, way, vector["hex"])
                wanted = by_reader(reader, way, vector["hex"])
                complaints = list(faults(way, vector, said))
                if said != wanted:
                    complaints.append(f"says {said}, the reader {wanted}")
                for complaint in complaints:
                    wrong += 1
                    print(f"{vector['title']}: {' '.join(way)}: {complaint}")
    print(f"{compared} outputs compared, {wrong} wrong")
    return 0 if compared and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
