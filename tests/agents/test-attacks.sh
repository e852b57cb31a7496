#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What must not work, one function for each attack. Those below TLS are in test_channel_tls.c, what
# is malformed is also in tests/fuzz/fuzz_channel.c.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/agents/pki.sh
. "$(dirname "$0")/pki.sh"
here=$(dirname "$0")
: "${DPUMAP_TESTS:?where the test programs are}"
for program in openssl python3; do
	command -v "$program" >/dev/null || { echo "$program is needed"; exit 77; }
done
export DPUMAP_LOG_LEVEL=off

admin=$work/admin
conf=$work/dpumapd.conf
open=$work/open # a directory that everybody can write to
probe=$DPUMAP_TESTS/agents_probe

ctl() { dpumapd ctl --admin "$admin" "$@"; }
on_host() { timeout -k 5 60 dpumap-emu run --as host -- "$@"; }
try() { python3 "$here/attacks.py" "$address" "$pki" "$1" || fail "$1"; }
# descriptor get|release|hold WHO NAME FILE
descriptor() { on_host "$probe" "$1" "$address" "$pki/$2" "$pki/ca.crt" "$3" "$4"; }
# useless FILE [NTH]: what it describes cannot be imported
useless()
{
	local said
	said=$(on_host "$probe" use "$1" "${2-0}") || fail "probe use"
	[[ $said == "import: DOCA_ERROR_"* ]] || fail "$1 on device ${2-0}: $said"
}
useful()
{
	local said
	said=$(on_host "$probe" use "$1" 0) || fail "probe use"
	[ "$said" = "read: DOCA_SUCCESS" ] || fail "$1: $said"
}
logged() { grep -qE "$1" "$log" || fail "the log does not say \"$1\""; }

# -- who is not let in

attack_no_certificate() { try no-certificate && logged 'leaves: .*peer did not return a certificate'; }
attack_wrong_authority() { try wrong-authority && logged 'leaves: .*(issuer|authority)'; }
attack_self_signed() { try self-signed && logged 'leaves: .*self.signed'; }
attack_expired() { try expired && logged 'leaves: .*expired'; }
attack_revoked() { try revoked && logged 'leaves: .*revoked'; }
attack_certificate_of_a_server() { try server-as-client && logged 'leaves: .*purpose'; }
attack_not_on_the_list() { try not-on-the-list && logged 'cert:nobody at .* refused: .*may not import'; }
attack_older_tls() { try older-tls && logged 'leaves: .*(version|protocol)'; }
attack_no_tls() { try no-tls; }

# Who serves TLS 1.2, or with a certificate of another authority, is not believed.
attack_server_of_older_tls() { posing dpu -tls1_2 'protocol version|UNSUPPORTED|version'; }
attack_server_of_another_authority() { posing foreign -tls1_3 'certificate|authority|verify'; }
attack_client_as_server() { posing web -tls1_3 'certificate|purpose|verify|mismatch'; }

# posing CERT OPTION PATTERN
posing()
{
	local port=$((20000 + RANDOM % 10000)) server
	openssl s_server -accept "127.0.0.1:$port" -cert "$pki/$1.crt" -key "$pki/$1.key" "$2" -quiet \
		>/dev/null 2>&1 </dev/null &
	server=$!
	await port_is_open "$port"
	address=tls:127.0.0.1:$port descriptor get web web "$work/none" >/dev/null 2>"$work/stderr" &&
		fail "a descriptor from one who poses"
	grep -q '^connect: DOCA_ERROR_\(AUTHENTICATION\|UNSUPPORTED_VERSION\)$' "$work/stderr" ||
		fail "posing as $1 with $2: $(cat "$work/stderr")"
	kill "$server"
	wait "$server" 2>/dev/null || true
}
port_is_open() { ss -Hltn "sport = $1" | grep -q LISTEN; }

# -- who does not behave

attack_malformed_frames() { python3 "$here/hostile.py" "$address" 8 "$pki/web" || fail hostile.py; }
attack_slow_loris() { try slow-loris; }

# Nor does the log get full of them.
attack_knocking_crowd()
{
	local before after
	before=$(wc -l <"$log")
	try knocking-crowd
	await logged_summary
	after=$(grep -c '^dpumapd: somebody at ' "$log")
	[ $((after - before)) -lt 1000 ] || fail "$((after - before)) lines about nobody"
}
logged_summary() { grep -q '^dpumapd: [0-9]* more who were not known leave$' "$log"; }

# Nobody is kept out by those who wait, and nothing is left of them.
attack_ten_thousand_connections()
{
	try silent-crowd
	await nobody_is_there
}
nobody_is_there()
{
	[ "$(ctl status | awk '$1 == "clients" { print $2 }')" = 0 ] &&
		[ "$(find "/proc/$daemon/fd" -mindepth 1 | wc -l)" -eq "$descriptors" ]
}

# -- descriptors in the wrong hands

attack_replay_after_removal()
{
	descriptor get web web "$work/replay" >/dev/null || fail "get"
	useful "$work/replay"
	ctl remove web
	useless "$work/replay"
	ctl add name=web,kind=dram,size=4K,allow=cert:web
	useless "$work/replay"
}

attack_replay_after_another_permission()
{
	descriptor get db db "$work/replay" >/dev/null || fail "get"
	sed -i 's/\(name = "db".*\)allow = .*cert:db"/\1allow = [ "cert:db", "cert:web"/' "$conf"
	ctl reload || fail "reload"
	useless "$work/replay"
}

attack_replay_after_release()
{
	descriptor release web web "$work/replay" >/dev/null || fail "release"
	useless "$work/replay"
	# What somebody else has is not touched.
	descriptor get web web "$work/kept" >/dev/null || fail "get"
	descriptor release web web "$work/replay" >/dev/null || fail "release"
	useful "$work/kept"
}

# A revoked client is cut off, and so is what it holds.
attack_replay_after_revocation_of_the_certificate()
{
	mkfifo "$work/hold"
	descriptor hold guest guest "$work/replay" <"$work/hold" >"$work/told" &
	local holder=$!
	exec 9>"$work/hold"
	await grep -q got "$work/told"
	useful "$work/replay"
	revoke guest
	ctl reload || fail "reload"
	logged 'cert:guest at .* leaves: .*revoked'
	useless "$work/replay"
	exec 9>&-
	wait "$holder" || true
}

# The file is its owner's, and good on its own card only.
attack_descriptor_file_of_somebody_else()
{
	descriptor get web web "$work/mine" >/dev/null || fail "get"
	useful "$work/mine"
	useless "$work/mine" 1
	host_tls get web "$files/mine" >/dev/null ||
		fail "get of a descriptor"
	[ "$(stat -c %a "$files/mine")" = 600 ] || fail "mode $(stat -c %a "$files/mine") of a descriptor"
	if [ "$(id -u)" -eq 0 ]; then
		chmod 755 "$work" "$files"
		setpriv --reuid 65534 --clear-groups cat "$files/mine" >/dev/null 2>&1 &&
			fail "another user can read a descriptor"
		chmod 700 "$work" "$files"
	fi
	rm "$files/mine"
}
host_tls()
{
	on_host dpumap --connect "$address" --cert "$pki/web.crt" --key "$pki/web.key" --ca "$pki/ca.crt" "$@"
}

# -- files and places that others have a hand in

start_of() { on_dpu dpumapd --config "$work/other.conf" "$@"; }

# other_conf SED-EXPRESSION: the configuration, listening elsewhere, and changed
other_conf() { sed -e "s|$admin|$work/other|" -e "$1" "$conf" >"$work/other.conf"; }

attack_key_that_others_can_read()
{
	chmod 640 "$pki/dpu.key"
	other_conf ''
	expect 4 'dpu.key has mode 0640' start_of
	chmod 600 "$pki/dpu.key"
	chmod 644 "$pki/web.key"
	expect 4 'web.key has mode 0644' host_tls list
	chmod 600 "$pki/web.key"
	printf 'host:%064d\n' 1 >"$work/psk"
	chmod 644 "$work/psk"
	other_conf "s|^tls = .*|tls = { psk = \"$work/psk\"; };|"
	expect 4 'psk has mode 0644' start_of
}

attack_configuration_that_others_can_replace()
{
	other_conf ''
	cp "$work/other.conf" "$open/conf"
	expect 4 "directory $open has mode 0777" on_dpu dpumapd --config "$open/conf"
	ln -s "$work/other.conf" "$open/link"
	expect 4 "directory $open has mode 0777" on_dpu dpumapd --config "$open/link"
	chmod 666 "$work/other.conf"
	expect 4 'other.conf has mode 0666' start_of
	chmod 644 "$work/other.conf"
}

attack_certificates_that_others_can_replace()
{
	ln -s "$pki/ca.crt" "$open/ca.crt"
	other_conf "s|$pki/ca.crt|$open/ca.crt|"
	expect 4 "directory $open has mode 0777" start_of
	expect 4 "directory $open has mode 0777" host_tls list --ca "$open/ca.crt"
	# The way there is a link that anybody could turn.
	ln -s "$work" "$open/there"
	other_conf "s|$pki/ca.crt|$open/there/pki/ca.crt|"
	expect 4 "directory $open has mode 0777" start_of
	other_conf "s|$pki/ca.crt|$work/pki/../open/../pki/ca.crt|"
	expect 4 "directory $open has mode 0777" start_of
}

attack_sockets_that_others_can_replace()
{
	other_conf "s|$work/other|$open/admin|"
	expect 4 "directory $open has mode 0777" start_of
	expect 4 "directory $open has mode 0777" env "XDG_RUNTIME_DIR=$open" \
		dpumap-emu run --as dpu -- dpumapd --export name=a,kind=dram,size=4K
	expect 4 "directory $open has mode 0777" env "XDG_RUNTIME_DIR=$open" dpumap list
	[ "$(id -u)" -eq 0 ] || return 0
	chmod 1777 "$open"
	python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$open/dpumapd.sock"
	chown 65534 "$open/dpumapd.sock"
	expect 4 "belongs to user 65534" env "XDG_RUNTIME_DIR=$open" dpumap list
}

# -- all

mkdir -m 777 "$open"
chmod 777 "$open"
make_ca
issue dpu serverAuth DNS:dpu,IP:127.0.0.1
for name in web db guest nobody revoked; do
	issue "$name" clientAuth
done
revoke revoked
issue_expired expired clientAuth
issue_alone alone
(
	pki=$work/pki2
	make_ca
	issue foreign clientAuth,serverAuth DNS:dpu,IP:127.0.0.1
)
cp -p "$work"/pki2/foreign.* "$pki"
cat >"$conf" <<END
listen = [ "tls:127.0.0.1:0" ];
tls = { cert = "$pki/dpu.crt"; key = "$pki/dpu.key"; ca = "$pki/ca.crt"; crl = "$pki/ca.crl"; };
admin = "$admin";
max_clients = 8;
exports = (
	{ name = "web"; kind = "dram"; size = 4096; allow = [ "cert:web" ]; },
	{ name = "bulk"; kind = "dram"; size = "1M"; allow = [ "cert:web" ]; },
	{ name = "guest"; kind = "dram"; size = 4096; allow = [ "cert:guest" ]; },
	{ name = "db"; kind = "dm"; size = 4096; allow = [ "cert:db" ]; } );
END
start_emulator --cards 2
start_configured "$conf"
daemon=$(daemon_pid)
descriptors=$(find "/proc/$daemon/fd" -mindepth 1 | wc -l)

attacks=("$@")
[ ${#attacks[@]} -gt 0 ] || mapfile -t attacks < <(sed -n 's/^attack_\([a-z_]*\)().*/\1/p' "$0")
for attack in "${attacks[@]}"; do
	before=$failures
	"attack_$attack"
	[ "$failures" -eq "$before" ] && echo "withstood: ${attack//_/ }"
done

descriptor get web web "$work/last" >/dev/null || fail "dpumapd does not serve any more"
useful "$work/last"
! grep -qi 'BEGIN\|PRIVATE' "$log" || fail "the log has a key"
stop_agent
expect_no_files
finish
