# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Print the path of each RDMA device from its host bridge, as hwloc, NCCL and UCX read it below /sys."""

import os
import sys


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read().strip()


def processors(mask):
    """The set that a mask of sysfs stands for."""
    bits = int(mask.replace(",", ""), 16)
    return {i for i in range(bits.bit_length()) if bits >> i & 1}


def check(true, what):
    if not true:
        sys.exit(f"FAIL: {what}")


def buses(device):
    """Primary, secondary and subordinate bus of a bridge."""
    with open(f"{device}/config", "rb") as config:
        head = config.read(0x1B)
    check(head[0x0E] & 0x7F == 1, f"{device} is not a bridge")
    return head[0x18:0x1B]


def show(device, near):
    """One line for a device on the bus; `near` are the processors of its NUMA node."""
    address = os.path.basename(device)
    check(processors(read(device, "local_cpus")) == near, f"{device} has other processors")
    check(os.path.realpath(f"/sys/bus/pci/devices/{address}") == device, f"{device} is not on the bus")
    check(os.path.realpath(f"/sys/class/pci_bus/{address[:7]}/../../{address}") == device, f"{device} has another bus")
    check(os.path.realpath(f"{device}/subsystem") == "/sys/bus/pci", f"{device} has another subsystem")
    check(read(device, "max_link_speed") == read(device, "current_link_speed"), f"{device} is slow")
    return " ".join((address, read(device, "class"), read(device, "numa_node"), read(device, "current_link_speed"),
                     "x" + read(device, "current_link_width")))


def show_card(name, nodes):
    path = os.path.realpath(f"/sys/class/infiniband/{name}/device")
    node = int(read(path, "numa_node"))
    near = nodes.get(node, set().union(*nodes.values()))
    parts = path.split("/")
    lines = [parts[3]]
    for i in range(4, len(parts)):
        device = "/".join(parts[:i + 1])
        lines.append(show(device, near))
        if i + 1 < len(parts):
            bus = int(parts[i + 1][5:7], 16)
            primary, secondary, subordinate = buses(device)
            check(primary == int(parts[i][5:7], 16) and secondary == bus <= subordinate, f"{device} has other buses")
    print(" - ".join(lines), "-", name, read(f"/sys/class/infiniband/{name}/ports/1/rate"))


def main():
    root = "/sys/devices/system/node"
    nodes = {int(name[4:]): processors(read(root, name, "cpumap"))
             for name in os.listdir(root) if name.startswith("node")}
    together = set().union(*nodes.values())
    check(together == set(range(os.sysconf("SC_NPROCESSORS_CONF"))), "a processor is in no node")
    check(sum(map(len, nodes.values())) == len(together), "a processor is in two nodes")
    print("nodes", read(root, "online"), read(root, f"node{max(nodes)}", "distance"))
    for name in sorted(os.listdir("/sys/class/infiniband")):
        show_card(name, nodes)


main()
