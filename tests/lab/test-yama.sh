#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-yama.sh BUILD: in a virtual machine with Debian's kernel, two programs of an ordinary user on the emulated
# card exchange messages, or say what to change, for each value of kernel.yama.ptrace_scope.
set -eu
PATH=$1/bin:$PATH
export DPUMAP_EMU_DIR=/tmp/yama-emu
chmod 1777 /tmp

# exchange OPTION...: as user 65534, with options of setpriv; what it prints is in /tmp/said
# shellcheck disable=SC2016 # expanded by the inner shell
exchange()
{
	/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups "$@" sh -c '
		emu="dpumap-emu run --as dpu --"
		dpumap-emu start || exit
		$emu ibv_rc_pingpong -d mlx5_0 -g 1 -n 20 >/dev/null 2>&1 &
		for i in 1 2 3 4 5 6 7 8; do
			$emu ibv_rc_pingpong -d mlx5_0 -g 1 -n 20 localhost && break
			sleep 1
		done
		kill $! 2>/dev/null
		dpumap-emu stop' >/tmp/said 2>&1
}

scope()
{
	echo "$1" >/proc/sys/kernel/yama/ptrace_scope
	echo "kernel.yama.ptrace_scope=$1"
}

says()
{
	grep -q -- "$1" /tmp/said || { cat /tmp/said; exit 1; }
}

for value in 0 1; do
	scope "$value"
	exchange --bounding-set=-all
	says "20 iters"
done
scope 2
exchange --bounding-set=-all
says "kernel.yama.ptrace_scope is 2; run the emulator and the program with CAP_SYS_PTRACE"
exchange --inh-caps=+sys_ptrace --ambient-caps=+sys_ptrace
says "20 iters"
scope 3
exchange --bounding-set=-all
says "kernel.yama.ptrace_scope is 3; only a restart of the machine lowers it"
