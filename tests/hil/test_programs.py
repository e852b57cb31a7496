# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The integration tests of the library, the very same programs, on the real pair: they start their
other machine by far/pair. Not among them are those that ask the emulated card for faults or for a
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
    ("test_clock", ("dpu", "host"), (47,)),
    ("test_mmap", ("dpu",), ()),
    ("test_rules_bufs", ("dpu",), ()),
    ("test_rules_life", ("dpu",), ()),
    ("test_rules_states", ("dpu",), ()),
    ("test_dm", ("dpu",), (14, 22, 46)),
    ("test_dma", ("dpu", "host"), (17,)),
    ("test_umem", ("dpu",), (23, 24, 25)),
    ("test_ctx", ("dpu",), (29,)),
    ("test_dma_memcpy", ("host",), ()),
    ("test_dma_batch", ("dpu", "host"), (27, 28)),
    ("test_compress", ("dpu", "host"), (48, 49, 50)),
    ("test_aes_gcm", ("dpu", "host"), (55, 56, 57)),
    ("test_rdma", ("dpu",), ()),
    ("test_message_queue", ("dpu", "host"), (39, 40)),
    ("test_sync_event_access", ("dpu", "host"), (41, 42)),
    ("test_rdma_export", ("dpu",), (21, 33)),
    ("test_rdma_settings", ("dpu", "host"), ()),
    ("test_rdma_context", ("dpu",), (44,)),
    ("test_rdma_tasks", ("dpu", "host"), (44,)),
    ("test_rdma_errors", ("dpu",), (44,)),
    ("test_rdma_end", ("dpu",), ()),
    ("test_rdma_batch", ("dpu", "host"), (28,)),
    ("test_rdma_address", ("dpu", "host"), (44,)),
    ("test_rdma_bufs", ("dpu", "host"), ()),
    ("test_rdma_callbacks", ("dpu",), (44,)),
    ("test_rdma_bridge", ("dpu",), (44,)),
    ("test_rdma_memory", ("dpu", "host"), (44,)),
    ("test_rdma_many", ("dpu",), ()),
    ("test_sync_event_config", ("dpu", "host"), ()),
    ("test_sync_event_tasks", ("dpu", "host"), (44,)),
    ("test_sync_event_net", ("dpu",), (44,)),
    ("test_buf", ("dpu",), ()),
    ("test_verbs_attr", ("dpu", "host"), ()),
    ("test_verbs_objects", ("dpu", "host"), (52,)),
    ("test_verbs_states", ("dpu", "host"), ()),
    ("test_verbs_data", ("dpu", "host"), (53, 54)),
    ("test_verbs_wait", ("dpu", "host"), (51,)),
]
# What exports memory by a direct mkey, as its type of card says.
BLUEFIELD_2 = "MT41686"
# These need a peer of their own, or kill it, and the suite starts it on the other machine.
SKIP = {
    "test_umem": "foreign_and_stale_exports_are_refused",
    "test_message_queue": "message_crosses_functions",
    "test_sync_event_access": "*_killed_*",
}
# These count objects, which is not possible on a device that others use too.
COUNTING = {
    "a_umem_is_shared_by_three_processes",
    "last_holder_ends_the_registration",
    "second_export_returns_the_first_descriptor",
    "import_needs_no_device_object",
    "bufs_do_not_touch_their_memory",
}


def cases():
    for program, where, numbers in PROGRAMS:
        for machine in where:
            marks = [pytest.mark.question(*numbers)] if numbers else []
            yield pytest.param(program, machine, numbers, marks=marks, id=f"{program}-{machine}")


def options_for(machine, program):
    """Options for what the program cannot find out itself."""
    engine = re.search(r"engine=(\w+)", machine.run("hil_probe devices").ok()).group(1)
    words = ["--engine", engine]
    if BLUEFIELD_2 in machine.run(["dpumap", "doctor", "--json"]).out:
        words.append("--shares-direct")
    if program in SKIP:
        words += ["--skip", SKIP[program]]
    return words


@pytest.mark.parametrize("program, name, numbers", cases())
def test_each_program_passes_on_its_machine(machines, answer, counts, program, name, numbers):
    machine = machines[name]
    other = "dpu" if name == "host" else "host"
    words = [f"{machine.dir}/tests/{program}", "--emu", f"{machine.dir}/pair", "--peer-as", other]
    done = machine.run([*words, *options_for(machine, program)], timeout=900)
    text = done.out + done.err
    passed = len(re.findall(r"^\[       OK \]", text, re.M))
    failed = set(re.findall(r"^\[  (?:FAILED |ERROR  ) \] (\w+)$", text, re.M))
    if "mkeys" not in (counts() or {}):
        failed -= COUNTING
        status = 0 if passed and not failed else done.status
    else:
        status = done.status
    for number in numbers:
        failures = ", failed: " + ", ".join(sorted(failed)) if failed else ""
        answer(number, f"{program} on the {name}: {passed} passed{failures}", status == 0)
    if status == 77:
        pytest.skip(text.strip().splitlines()[-1])
    assert status == 0, text[-4000:]
    assert passed > 0, text
