# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Two machines as far as the network goes: the DPU here, with 192.0.2.1, and the host in another
# network namespace, with 192.0.2.2. To be sourced before anything else, with the test's arguments:
# it starts the test again in namespaces of its own.

# own_root: a root directory that is ours, with everything of the machine in it but /tmp. In a user
# namespace the machine's own belongs to nobody, and who trusts files looks at the way to them.
own_root()
{
	local root entry
	root=$(mktemp -d)
	mount -t tmpfs -o mode=755 none "$root"
	for entry in /*; do
		if [ -L "$entry" ]; then
			cp -P "$entry" "$root$entry"
		elif [ -d "$entry" ]; then
			mkdir "$root$entry"
			[ "$entry" = /tmp ] || mount --rbind "$entry" "$root$entry"
		fi
	done
	chmod 1777 "$root/tmp"
	for entry in "$DPUMAP_BIN/.." "$(dirname "$0")/../.."; do
		entry=$(realpath "$entry")
		[[ $entry == /tmp/* ]] || continue
		mkdir -p "$root$entry"
		mount --rbind "$entry" "$root$entry"
	done
	DPUMAP_NET=inside exec chroot "$root" bash "$(realpath "$0")" "$@"
}

PATH=$PATH:/usr/sbin:/sbin
case ${DPUMAP_NET-} in
inside) ;;
root) own_root "$@" ;;
*)
	for program in unshare nsenter ip; do
		command -v $program >/dev/null || { echo "$program is needed"; exit 77; }
	done
	if [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then
		DPUMAP_NET=inside exec unshare -n bash "$0" "$@"
	elif unshare -r -n -m true 2>/dev/null; then
		DPUMAP_NET=root exec unshare -r -n -m bash "$0" "$@"
	fi
	echo "no network namespaces here"
	exit 77
	;;
esac

far=

# make_net: afterwards $far is a process over there
make_net()
{
	ip link set lo up
	ip link add dpu0 type veth peer name host0
	unshare -n sleep infinity &
	far=$!
	await other_namespace
	ip link set host0 netns "$far"
	ip address add 192.0.2.1/24 dev dpu0
	ip link set dpu0 up
	over_there ip link set lo up
	over_there ip address add 192.0.2.2/24 dev host0
	over_there ip link set host0 up
}

other_namespace() { [ "$(readlink "/proc/$far/ns/net")" != "$(readlink /proc/$$/ns/net)" ]; }

# over_there COMMAND...: on the host, as far as the network goes
over_there() { nsenter --net="/proc/$far/ns/net" "$@"; }
