#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Install the packages beside this script, use them as the manual describes, remove them, and check that
# nothing remains. Runs with a separate network in a minimal Debian with the dependencies of the packages.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
conf=/etc/dpumap/dpumapd.conf
socket=/run/dpumapd/dpumapd.sock
unit=/usr/lib/systemd/system/dpumapd.service
tls=tls:127.0.0.1:7470
pki=/root/pki
host=/run/dpumapd/host
agent=

die()
{
	echo "inside: $*" >&2
	exit 1
}

clean_up()
{
	local status=$?
	[ -z "$agent" ] || kill -KILL "$agent" 2>/dev/null || true
	[ "$status" -eq 0 ] || [ ! -s /tmp/dpumapd.log ] || sed 's/^/dpumapd: /' /tmp/dpumapd.log >&2
	"${as_dpumap[@]}" dpumap-emu stop >/dev/null 2>&1 || true
}
trap clean_up EXIT

quietly()
{
	"$@" >/tmp/quietly.log 2>&1 || { cat /tmp/quietly.log >&2; die "$* failed"; }
}

# Run a command as the service does. This is an array, not a function: each command replaces itself by the
# next with exec, so that $! is the process id of the last one.
# shellcheck disable=SC2016
as_dpumap=(env DPUMAP_EMU_DIR=/run/dpumapd/emu HOME=/run/dpumapd
	setpriv --reuid=dpumap --regid=dpumap --clear-groups sh -c 'umask 0077; exec "$@"' sh)
on_host=("${as_dpumap[@]}" timeout -k 5 60 dpumap-emu run --as host --)

# List all files, except the databases of dpkg and apt, and the accounts. For dpkg and the linker's cache,
# list the output of their programs instead.
state()
{
	find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /dev -o -path /tmp -o -path "$here" \
		-o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \) \
		-prune -o -printf '%p %y %m %U %G %l\n' | grep -vE '^/etc/(passwd|group|g?shadow)- '
	cat /etc/passwd /etc/group /etc/shadow /etc/gshadow
	dpkg -l
	ldconfig -p | grep dpumap || true
	ls /var/lib/dpkg/info
}

installed()
{
	# shellcheck disable=SC2016 # words of dpkg
	dpkg-query -W -f '${Package}\n'
}

check_installed()
{
	local news
	news=$(comm -13 /tmp/before.list <(installed) | paste -sd ' ')
	[ "$news" = "$(names)" ] || die "installed: $news"
}

# Print the names of the packages, in dpkg's order.
names()
{
	local deb
	for deb in ./*.deb; do
		deb=${deb#./}
		echo "${deb%%_*}"
	done | sort | paste -sd ' '
}

check_service()
{
	quietly systemd-analyze verify --man=no "$unit" "${unit%.service}.socket"
	[ "$(systemctl is-enabled dpumapd.service)" = enabled ] || die "dpumapd.service is not enabled"
	[ "$(systemctl is-enabled dpumapd.socket)" = disabled ] || die "dpumapd.socket is not disabled"
	getent passwd dpumap >/dev/null || die "the user dpumap was not created"
	systemd-analyze security --offline=true "$unit" | tail -n 1
}

# Create a CA and certificates of the DPU and the host. The host's files belong to user dpumap too, because
# each user has an emulated card of its own.
make_certificates()
{
	install -d -m 755 -o dpumap -g dpumap /run/dpumapd
	quietly dpumap pki init --dir "$pki"
	quietly dpumap pki issue --dir "$pki" --dpu dpu --san 127.0.0.1
	quietly dpumap pki issue --dir "$pki" --host host1
	install -m 644 "$pki"/dpu.crt "$pki"/ca.crt "$pki"/ca.crl /etc/dpumap/
	install -m 600 -o dpumap -g dpumap "$pki/dpu.key" /etc/dpumap/
	install -d -m 700 -o dpumap -g dpumap "$host"
	install -m 600 -o dpumap -g dpumap "$pki"/host1.crt "$pki"/host1.key "$pki"/ca.crt "$host/"
}

# Use the example configuration with all commented settings enabled.
configure()
{
	sed -e '/^listen = /d; s/^# listen/listen/; s/192.168.100.2/127.0.0.1/' \
		-e '/^# tls = {/,/^# };/s/^# \?//' \
		-e "s/uid:0/uid:$(id -u dpumap)\", \"cert:host1/" \
		/usr/share/doc/dpumap-dpu/examples/dpumapd.conf >"$conf"
	grep -q '^tls = {' "$conf" || die "the example configuration lacks the section tls"
}

start_agent()
{
	local command
	command=$(sed -n 's/^ExecStart=//p' "$unit")
	configure
	"${as_dpumap[@]}" dpumapd --config "$conf" --check
	"${as_dpumap[@]}" dpumap-emu start >/dev/null
	mkfifo /tmp/ready
	# shellcheck disable=SC2086
	"${as_dpumap[@]}" dpumap-emu run --as dpu -- $command >/tmp/ready 2>/tmp/dpumapd.log &
	agent=$!
	timeout 30 grep -q '^dpumapd: ready on ' /tmp/ready || die "dpumapd is not ready after 30 s"
	rm /tmp/ready
}

stop_agent()
{
	local status=0
	kill -TERM "$agent"
	wait "$agent" || status=$?
	agent=
	[ "$status" -eq 0 ] || die "dpumapd ended with $status"
	"${as_dpumap[@]}" dpumap-emu stop
	rm -rf /run/dpumapd /tmp/dpumapd.log
}

demo()
{
	local name out=/run/dpumapd/out
	"${on_host[@]}" dpumap --connect "$socket" list
	for name in fast bulk; do
		quietly "${on_host[@]}" dpumap --connect "$socket" cp /bin/bash "$name" "$out"
		cmp /bin/bash "$out" || die "the file that came back through $name differs"
		rm -f "$out"
		echo "$name: the same bytes came back"
	done
	quietly "${as_dpumap[@]}" dpumapd ctl reload
}

# Build a host agent with pkg-config alone, as the manual describes. It must get what the DPU exports.
check_development()
{
	local flags text="what a host agent reads of it, as many bytes as it asks for: 64......"
	flags=$(pkg-config --cflags --libs dpumap-channel)
	# shellcheck disable=SC2086
	quietly gcc -Wall -Wextra -DDOCA_ALLOW_EXPERIMENTAL_API -o /tmp/agent host_agent.c $flags
	echo "$text" >/run/dpumapd/text
	quietly "${on_host[@]}" dpumap --connect "$socket" write bulk /run/dpumapd/text
	"${on_host[@]}" /tmp/agent "$tls" bulk "$host"/host1.crt "$host"/host1.key "$host"/ca.crt \
		>/tmp/said || die "the host agent failed"
	[ "$(cat /tmp/said)" = "${text:0:64}" ] || die "the host agent got: $(cat /tmp/said)"
	rm /tmp/agent /tmp/said
	echo "host agent: got bulk over TLS"
}

# refused AUTHORITY NAME WHY: check that a client with this certificate is refused with WHY
refused()
{
	quietly dpumap pki issue --dir "$1" --host "$2"
	install -m 600 -o dpumap -g dpumap "$1/$2.crt" "$1/$2.key" "$host/"
	! "${on_host[@]}" dpumap --connect "$tls" --ca "$host/ca.crt" --cert "$host/$2.crt" \
		--key "$host/$2.key" list >/tmp/said 2>&1 || die "$2 is not refused: $(cat /tmp/said)"
	grep -q "$3" /tmp/said || die "$2: no \"$3\" in: $(cat /tmp/said)"
	rm /tmp/said
}

# dpumapd refuses a client that no export allows, and a client with a certificate of another CA.
check_refusals()
{
	refused "$pki" host2 "cert:host2 may not import"
	quietly dpumap pki init --dir "$pki-of-others"
	refused "$pki-of-others" host1 "unknown ca"
	rm -r "$pki" "$pki-of-others"
}

# The administrator's files and their owner remain.
check_purge_with_configuration()
{
	quietly apt-get purge -y dpumap-dpu
	[ -f "$conf" ] || die "purging removed $conf"
	getent passwd dpumap >/dev/null || die "purging removed the owner of keys that are still there"
	rm -r /etc/dpumap
	quietly apt-get install -y "$(compgen -G './dpumap-dpu_*.deb')"
}

ip link set lo up
installed >/tmp/before.list
state >/tmp/before
quietly apt-get install -y ./*.deb
check_installed
check_service
make_certificates
start_agent
demo
check_development
check_refusals
stop_agent
quietly apt-get install -y --reinstall ./*.deb
check_purge_with_configuration
# shellcheck disable=SC2046
quietly apt-get purge -y $(names)
state >/tmp/after
diff /tmp/before /tmp/after || die "files remain after the packages were removed"
echo "installed, used and removed: $(names)"
