# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The integration tests of the library, the very same programs, on the real pair: they start their
other side by far/pair. Not among them are those that ask the emulated card for faults or for a
second card, and those of the emulated kernel itself."""

import re

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
# The program, where it runs, and the questions of docs/hardware.md that it answers.
PROGRAMS = [
    ("test_share", ("dpu", "host"), ()),
    ("test_denied", ("dpu", "host"), (4,)),
    ("test_revoke", ("dpu", "host"), (5, 6, 7, 17)),
    ("test_device", ("dpu", "host"), ()),
    ("test_mmap", ("dpu",), ()),
    ("test_dm", ("dpu",), (14, 22)),
    ("test_dma", ("dpu", "host"), (17,)),
    ("test_umem", ("dpu",), (23, 24, 25)),
    ("test_ctx", ("dpu",), (29,)),
    ("test_dma_memcpy", ("host",), ()),
    ("test_dma_batch", ("dpu", "host"), (27, 28)),
    ("test_rdma", ("dpu",), ()),
    ("test_rdma_export", ("dpu",), (21, 33)),
    ("test_buf", ("dpu",), ()),
]
# What exports memory by a direct mkey, as its type of card says.
BLUEFIELD_2 = "MT41686"
# One that gives a process of the other side a socket of its own, which only one machine can.
SKIP = {"test_umem": "test_foreign_and_stale_bytes"}
# Those that expect a number to change which nobody can tell of a device that others use too.
COUNTING = {
    "test_three_processes",
    "test_last_holder_ends_it",
    "test_export_again_is_the_same",
    "test_import_needs_no_device_object",
    "test_bufs_do_not_touch_their_memory",
}


def cases():
    for program, where, numbers in PROGRAMS:
        for side in where:
            marks = [pytest.mark.question(*numbers)] if numbers else []
            yield pytest.param(program, side, numbers, marks=marks, id=f"{program}-{side}")


def options_for(side, program):
    """What the program cannot find out by itself."""
    engine = re.search(r"engine=(\w+)", side.run("hil_probe devices").ok()).group(1)
    words = ["--engine", engine]
    if BLUEFIELD_2 in side.run(["dpumap", "doctor", "--json"]).out:
        words.append("--shares-direct")
    if program in SKIP:
        words += ["--skip", SKIP[program]]
    return words


@pytest.mark.parametrize("program, name, numbers", cases())
def test_program(sides, answer, counts, program, name, numbers):
    side = sides[name]
    other = "dpu" if name == "host" else "host"
    words = [f"{side.dir}/tests/{program}", "--emu", f"{side.dir}/pair", "--peer-as", other]
    done = side.run([*words, *options_for(side, program)], timeout=900)
    said = done.out + done.err
    passed = len(re.findall(r"^\[       OK \]", said, re.M))
    failed = set(re.findall(r"^\[  (?:FAILED |ERROR  ) \] (\w+)$", said, re.M))
    if "mkeys" not in (counts() or {}):
        failed -= COUNTING
        status = 0 if passed and not failed else done.status
    else:
        status = done.status
    for number in numbers:
        failures = ", failed: " + ", ".join(sorted(failed)) if failed else ""
        answer(number, f"{program} on the {name}: {passed} passed{failures}", status == 0)
    if status == 77:
        pytest.skip(said.strip().splitlines()[-1])
    assert status == 0, said[-4000:]
    assert passed > 0, said
