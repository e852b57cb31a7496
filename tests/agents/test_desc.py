# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`dpumap desc` and an independent reader print the same, byte for byte, for every descriptor of the
vectors, good or bad: as text and as JSON, on both outputs, with the same exit status. JSON can be
parsed, and has the key only on request. $DPUMAP_VECTOR_STRIDE=N takes every Nth vector, in each way
other ones."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import types

import pytest

from harness.agents import REFUSED

pytestmark = pytest.mark.local
VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors"
STRIDE = int(os.environ.get("DPUMAP_VECTOR_STRIDE", "1"))
# For each: whether only good descriptors are read.
WAYS = {
    "show": False,
    "show --json": True,
    "show --show-secret": True,
    "show --json --show-secret": True,
    "check": True,
    "check --json": False,
}


def load_reader():
    spec = importlib.util.spec_from_file_location("reader", VECTORS / "read-desc.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READER = load_reader()


def all_vectors():
    return [vector for name in ("v1.txt", "desc.txt") for vector in READER.vectors(VECTORS / name)]


def by_reader(way, data):
    """Status, stdout and stderr of the independent reader."""
    options = {"json": "--json" in way, "show_secret": "--show-secret" in way}
    args = types.SimpleNamespace(what=way[0], file="-", **options)
    out, err, stdin = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = types.SimpleNamespace(buffer=io.BytesIO(data))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = READER.run(args)
    finally:
        sys.stdin = stdin
    return status, out.getvalue(), err.getvalue()


def by_tool(way, data, environment):
    done = subprocess.run(
        ["dpumap", "desc", *way, "-"],
        **{"input": data, "capture_output": True, "check": False},
        env=environment,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def is_right(way, vector, printed):
    """What is printed fits what the vector says of itself."""
    status, out, err = printed
    good = vector["status"] == "OK"
    assert status == (0 if good else REFUSED) and bool(err) != good
    if "--json" in way:
        report = json.loads(out)
        assert report["valid"] == good
        assert good or (report["status"], report["byte"]) == (vector["status"], vector["byte"])
    key = vector.get("access_key")
    assert not key or (key.hex() in out) == ("--show-secret" in way)


@pytest.mark.parametrize("way", WAYS)
def test_tool_prints_what_the_reader_prints(here, way):
    words, compared = way.split(), 0
    for vector in all_vectors()[[*WAYS].index(way) % STRIDE :: STRIDE]:
        if "hex" not in vector or (WAYS[way] and vector["status"] != "OK"):
            continue
        printed = by_tool(words, vector["hex"], here.environment)
        assert printed == by_reader(words, vector["hex"]), vector["title"]
        is_right(words, vector, printed)
        compared += 1
    assert compared
