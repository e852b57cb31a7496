#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-answers.sh BUILD SEED: in a virtual machine whose PCI device is a function of a card, ask Linux (linux-answers.sh).
set -euo pipefail
# shellcheck source=tests/lab/until.sh
. "$(dirname "$0")/until.sh"
modprobe -a mlx5_core mlx5_ib ib_uverbs rdma_ucm

has_ipv4_gid() { grep -q '^0000:0000:0000:0000:0000:ffff:' /sys/class/infiniband/mlx5_0/ports/1/gids/*; }

until_true test -d /sys/class/infiniband/mlx5_0/device/net
for net in /sys/class/infiniband/mlx5_0/device/net/*; do
	ip link set "${net##*/}" up
	ip addr add 10.44.1.1/24 dev "${net##*/}"
done
until_true grep -q ACTIVE /sys/class/infiniband/mlx5_0/ports/1/state
until_true has_ipv4_gid
"$1/tests/kernel_answers" "$2" >/lab/linux
