#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# units-guest.sh: in a virtual machine with systemd, install the packages in /lab, run dpumapd.service on the emulated
# card, and check its sandbox; then upgrade, downgrade, remove and install the package dpumap-dpu, of which
# /lab/older.deb is a lower version, with each combination of its units enabled.
set -euo pipefail

older=/lab/older.deb
newer=$(compgen -G "/lab/dpumap-dpu_*.deb")
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
wrong=0

say() { echo "$(cut -d. -f1 /proc/uptime) s: $*"; }

bad()
{
	say "wrong: $*"
	wrong=$((wrong + 1))
}

die()
{
	echo "units: $*"
	systemctl status --no-pager dpumapd.service dpumapd.socket || true
	journalctl --no-pager -u dpumapd.service | tail -n 30 || true
	exit 1
}

# With a database of its own, dpkg need not read that of this machine.
run_dpkg()
{
	dpkg --admindir=/var/lib/dpkg-test --no-triggers --force-unsafe-io --force-depends --force-downgrade "$@" >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; die "dpkg $*"; }
}

# Other services of this machine have nothing to do here.
quiet_machine()
{
	rm -f /usr/sbin/policy-rc.d
	mkdir -p /var/lib/dpkg-test/{info,updates}
	: >/var/lib/dpkg-test/status
	find /etc/systemd/system -path '*.wants/*' -delete
	systemctl daemon-reload
	systemctl start systemd-journald.service
	ip link set lo up
}

# use NUMBER FILE: the text of the page that goes to this file, of several texts the one with this number
use()
{
	mkdir -p "$(dirname "$2")"
	awk -v number="$1" -v file="    # $2" '
		$0 == file { seen++ }
		$0 == "" || $0 !~ /^    / { is_in = 0 }
		$0 == file && seen == number { is_in = 1 }
		is_in { print substr($0, 5) }' /lab/packages.md >"$2"
	[ -s "$2" ] || die "the page does not say what to write to $2"
	systemctl daemon-reload
}

set_up()
{
	quiet_machine
	use 1 /etc/systemd/system/dpumapd.service.d/emulated-card.conf
	use 1 /etc/systemd/system/dpumapd.service.d/table.conf
	run_dpkg -i /lab/{libdpumap0,dpumap-emu,dpumap-host}_*.deb "$newer"
	local table='{ name = "table"; kind = "file"; path = "/dev/shm/dpumap/table"; size = "max"; allow = [ "uid:0" ]; },'
	sed "s|^exports = (|&$table|; s/\"uid:0\"/&, \"uid:$(id -u dpumap)\"/" \
		/usr/share/doc/dpumap-dpu/examples/dpumapd.conf >/etc/dpumap/dpumapd.conf
	say installed
	systemctl start dpumapd.service || die "dpumapd.service does not start"
}

# on_host VARIABLE=VALUE: a program of the host reads exports of the service on the emulated card
on_host()
{
	local name
	for name in bulk table; do
		setpriv --reuid=dpumap --regid=dpumap --clear-groups env "$1" dpumap-emu run --as host -- \
			dpumap --connect unix:/run/dpumapd/dpumapd.sock read "$name" --length 4096 >/tmp/said 2>&1 ||
			{ cat /tmp/said; bad "the host cannot read $name ($1)"; }
		cmp -n 4096 /tmp/said /dev/zero || bad "the host reads other bytes of $name"
	done
}

# -- the sandbox, as docs/packages.md and dpumapd(8) describe it --

# inside COMMAND...: run a command as the service's user in the service's mount namespace and its control group
inside()
{
	sh -c 'echo $$ >"/sys/fs/cgroup$1/cgroup.procs"; pid=$2; shift 2
		exec nsenter -t "$pid" -m setpriv --reuid=dpumap --regid=dpumap --clear-groups "$@"' \
		sh "$(systemctl show --value -p ControlGroup dpumapd.service)" "$pid" "$@" 2>/tmp/inside
}

check_writable()
{
	local path
	for path in /run/dpumapd /dev/shm; do
		inside touch "$path/probe" || bad "$path cannot be written"
		inside rm -f "$path/probe"
	done
	for path in /run /run/lock /run/open /etc /usr /var/open /srv/open /dev/mqueue; do
		! inside touch "$path/probe" || bad "$path can be written"
		rm -f "$path/probe"
	done
}

check_hidden()
{
	local path
	for path in /home/probe /root/probe /tmp/probe /var/tmp/probe; do
		! inside cat "$path" >/dev/null || bad "$path is not hidden"
	done
	[ "$(inside ls /proc | grep -c '^[0-9]')" -lt 5 ] || bad "the service sees the processes of other users"
}

# The emulated card's own devices are files; of the kernel's, /dev/hwrng is one that the service does not need.
check_devices()
{
	chmod 666 /dev/hwrng
	[ -c /dev/hwrng ] || bad "there is no device to try"
	! inside dd if=/dev/hwrng of=/dev/null bs=1 count=1 || bad "/dev/hwrng can be opened"
	inside dd if=/dev/zero of=/dev/null bs=1 count=1 || bad "/dev/zero cannot be opened"
}

check_process()
{
	local line
	for line in "CapInh:0000000000000000" "CapEff:0000000000000000" "CapBnd:0000000000000000" "CapAmb:0000000000000000" \
		"NoNewPrivs:1" "Seccomp:2"; do
		grep -qx "$line" <(tr -d ' \t' <"/proc/$pid/status") || bad "not in its status: $line"
	done
	grep -q '^Max core file size *0 *0 ' "/proc/$pid/limits" || bad "it may dump core"
	grep -q '^Max locked memory *unlimited' "/proc/$pid/limits" || bad "its locked memory is limited"
}

check_sandbox()
{
	local pid path
	pid=$(systemctl show --value -p MainPID dpumapd.service)
	# What every user may write or read outside.
	mkdir -p /run/open /srv/open /var/open /run/lock
	chmod 1777 /run/open /srv/open /var/open /run/lock
	for path in /home /root /tmp /var/tmp; do
		echo secret >"$path/probe"
	done
	chmod 755 /root
	check_writable
	check_hidden
	check_devices
	check_process
	say "the sandbox is checked"
}

# -- the package's scripts --

is() { systemctl "$1" "$2" 2>/dev/null || true; }

state()
{
	local unit
	for unit in service socket; do
		echo "$unit is $(is is-enabled "dpumapd.$unit"), $(is is-active "dpumapd.$unit")"
	done
}

# request: a client lists the exports, which starts a service that only its socket listens for
request()
{
	dpumap --connect "$1" list >/tmp/said 2>&1 || { cat /tmp/said; bad "$cell: no answer on $1"; }
}

answers()
{
	[ "$(is is-active dpumapd.socket)" != active ] || request unix:/run/dpumapd.sock
	[ "$(is is-active dpumapd.service)" != active ] || [ "$(is is-active dpumapd.socket)" = active ] ||
		request unix:/run/dpumapd/dpumapd.sock
}

# after WHAT: the state is as before, and clients get answers
after()
{
	local now
	now=$(state)
	[ "$now" = "$before" ] || bad "$cell, after the $1: ${now//$'\n'/; } instead of ${before//$'\n'/; }"
	answers
}

check_removed()
{
	[ "$(is is-active dpumapd.service)" != active ] || bad "$cell: the service runs without its package"
	[ "$(is is-active dpumapd.socket)" != active ] || bad "$cell: the socket is open without its package"
	[ ! -e /run/dpumapd.sock ] || bad "$cell: /run/dpumapd.sock stays"
	[ -f /etc/dpumap/dpumapd.conf ] || bad "$cell: the configuration is gone"
}

# begin UNITS: stop all, and enable these alone
begin()
{
	local unit
	systemctl unmask dpumapd.service dpumapd.socket 2>/dev/null
	systemctl disable --now dpumapd.socket dpumapd.service 2>/dev/null
	for unit in $1; do
		if [ "$unit" = masked ]; then
			systemctl mask dpumapd.service 2>/dev/null
		else
			systemctl enable --now "dpumapd.$unit" 2>/dev/null
		fi
	done
}

check_cell()
{
	local cell=${1:-neither} before
	begin "$1"
	answers
	before=$(state)
	say "$cell: ${before//$'\n'/; }"
	run_dpkg -i "$older"
	after downgrade
	run_dpkg -i "$newer"
	after upgrade
	run_dpkg -r dpumap-dpu
	check_removed
	run_dpkg -i "$newer"
	answers
	after "removal and installation"
}

# As after the first installation.
check_purge()
{
	local cell=purge
	begin "socket service"
	run_dpkg -P dpumap-dpu
	check_removed
	run_dpkg -i "$newer"
	[ "$(state)" = $'service is enabled, active\nsocket is disabled, inactive' ] || bad "after a purge: $(state)"
}

# The emulator in a unit of its own: the same card after a restart.
check_own_unit()
{
	local card unit=/etc/systemd/system/dpumapd.service.d/emulated-card.conf
	use 1 /etc/systemd/system/dpumap-emu.service
	use 2 "$unit"
	begin service
	on_host DPUMAP_EMU_DIR=/run/dpumap-emu/card
	card=$(systemctl show --value -p MainPID dpumap-emu.service)
	systemctl restart dpumapd.service || die "dpumapd.service does not start again"
	on_host DPUMAP_EMU_DIR=/run/dpumap-emu/card
	[ "$(systemctl show --value -p MainPID dpumap-emu.service)" = "$card" ] || bad "the emulator did not stay"
	systemctl stop dpumap-emu.service
	[ "$(is is-active dpumapd.service)" = inactive ] || bad "the service runs without its card"
	use 1 "$unit"
}

# The service says nothing wrong when it is stopped, so its card ends after it.
check_stop()
{
	systemctl stop dpumapd.service
	! journalctl -q --no-pager -u dpumapd.service -p err | grep . || bad "errors in the log of the service"
}

set_up
on_host XDG_RUNTIME_DIR=/run/dpumapd
check_sandbox
check_stop
check_own_unit
for units in "" service socket "socket service" masked; do
	check_cell "$units"
done
check_purge
say end
[ "$wrong" -eq 0 ]
