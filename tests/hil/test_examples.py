# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Examples of docs/tutorial.md that need both machines, as a user starts them."""

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")


def pci(machine):
    line = machine.run("hil_probe devices").ok().split()
    return next(word[4:] for word in line if word.startswith("pci="))


def in_new_directory(machine, name, command):
    machine.run(f"rm -rf {name} && mkdir {name}").ok()
    return f"bash -c 'cd {name} && exec {command}'"


@pytest.mark.question(44)
def test_the_rdma_example_sends_a_file(host, dpu, properties, answer):
    """A file goes to the DPU: a connection by address, messages, writes, reads and a sync event."""
    listen = properties.get("rdma", "listen", fallback="")
    if not listen:
        pytest.skip("the properties name no address for RDMA connections")
    server = dpu.daemon("rdma", in_new_directory(dpu, "server", f"rdma -p {pci(dpu)} -f got"))
    server.await_output("Waiting for a client")
    host.run("head -c 6300001 /dev/urandom >sent").ok()
    done = host.run(["rdma", "-p", pci(host), "-f", "sent", "-a", listen.rsplit(":", 1)[0]])
    answer(44, f"example rdma: {done.out.strip().splitlines()[-1:]}", done.status == 0)
    done.ok()
    server.await_output("The client has written 6300001 bytes")
    assert dpu.sha256("server/got") == host.sha256("sent")


@pytest.mark.question(41, 44)
def test_sync_event_example(host, dpu, answer):
    """The host counts in an event of the DPU, which waits for it, over PCI."""
    command = f"sync_event-dpu -p {pci(dpu)}"
    exporter = dpu.daemon("sync_event", in_new_directory(dpu, "exporter", command))
    dpu.run(
        "for n in $(seq 1200); do [ ! -s exporter/event.bin ] || exit 0; sleep 0.05; done; exit 1"
    ).ok()
    command = in_new_directory(host, "importer", f"sync_event-host -p {pci(host)}")
    host.put({"importer/event.bin": dpu.get("exporter/event.bin")})
    done = host.run(command)
    for number in (41, 44):
        answer(number, f"example sync_event: {done.out.strip().splitlines()[-1:]}", done.status == 0)
    done.ok()
    exporter.await_output("The host has counted to 3")


@pytest.mark.question(38)
def test_queue_pairs_of_doca_verbs_meet_those_of_libibverbs(host, dpu, state, answer):
    """1000 messages and answers, from a program of libibverbs on the host to one of doca_verbs on the DPU."""
    server = dpu.daemon("verbs_ping", f"verbs_ping -p {pci(dpu)} -o 0")
    server.await_output("Waiting for a client")
    port = server.out().split("at port ")[1].split()[0]
    device = host.run("hil_probe devices").ok().split()[0]
    done = host.run(["ibverbs_ping", "-d", device, "-a", state["address"], "-o", port])
    answer(38, f"example verbs_ping: {(done.out + done.err).strip()}", done.status == 0)
    done.ok()
    server.await_output("1000 rounds of 4096 bytes")
