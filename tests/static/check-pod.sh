#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The pod in docs/emu/containers.md is one that Kubernetes accepts, and asks for no privilege and no device.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# Debian's own interpreter has the required modules.
PYTHON=/usr/bin/python3

run_check()
{
	local line said
	said=$("$PYTHON" "$(dirname "${BASH_SOURCE[0]}")/pod.py" "$TREE") || bad "pod.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

make_scratch()
{
	mkdir -p "$1/docs/emu"
	cp "$TREE/docs/emu/containers.md" "$1/docs/emu/"
}

PLANTS=12
plant()
{
	local file=$1/docs/emu/containers.md
	case $2 in
	1) edit "$file" 's/containerPort/containerport/' ;;
	2) edit "$file" 's/containerPort: 4791/containerPort: "4791"/' ;;
	3) edit "$file" 's/protocol: UDP/protocol: TCP/' ;;
	4) edit "$file" 's/^kind: Pod/kind: Pot/' ;;
	5) edit "$file" 's/allowPrivilegeEscalation: false/privileged: true/' ;;
	6) edit "$file" 's/drop: \["ALL"\]/add: ["NET_RAW"]/' ;;
	7) edit "$file" 's/^  securityContext:/  hostNetwork: true\n&/' ;;
	8) edit "$file" 's/^      ports:/      resources: {limits: {"vendor.example\/rdma": "1"}}\n&/' ;;
	9) edit "$file" 's/name: POD_ADDRESS/name: ADDRESS/' ;;
	10) edit "$file" 's/runAsUser: 1000/runAsUser: 0/' ;;
	11) edit "$file" 's/^  containers:/ containers:/' ;;
	12) edit "$file" 's/^apiVersion: v1$/version: v1/' ;;
	esac
}

main "$@"
