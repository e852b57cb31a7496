#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# dpumapd and dpumap as they are used: on two machines that have a network and a card between them.
# shellcheck source=tests/agents/net.sh
. "$(dirname "$0")/net.sh"
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/agents/pki.sh
. "$(dirname "$0")/pki.sh"
here=$(dirname "$0")
: "${DPUMAP_TESTS:?where the test programs are}"
for program in openssl python3 ss; do
	command -v "$program" >/dev/null || { echo "$program is needed"; exit 77; }
done

admin=$work/admin
ctl() { dpumapd ctl --admin "$admin" "$@"; }

# on_host COMMAND...: a program on the host's function, in the host's network
on_host() { over_there timeout -k 5 60 dpumap-emu run --as host -- "$@"; }

# as NAME ARGUMENT...: the tool with the certificate of that name
as()
{
	local name=$1
	shift
	on_host dpumap --connect "$address" --cert "$pki/$name.crt" --key "$pki/$name.key" \
		--ca "$pki/ca.crt" "$@"
}

make_net
make_ca
issue dpu serverAuth DNS:dpu.example,IP:192.0.2.1
issue host clientAuth
issue other clientAuth
printf 'host:%s\n' "$(openssl rand -hex 32)" >"$work/psk"
chmod 600 "$work/psk"
cat >"$work/conf" <<END
listen = [ "tls:192.0.2.1:0" ];
tls = { cert = "$pki/dpu.crt"; key = "$pki/dpu.key"; ca = "$pki/ca.crt"; crl = "$pki/ca.crl"; };
admin = "$admin";
exports = (
	{ name = "fast"; kind = "dm"; size = "64K"; allow = [ "cert:host", "psk:host" ]; },
	{ name = "bulk"; kind = "dram"; size = "4M"; allow = [ "cert:host" ]; },
	{ name = "other"; kind = "dram"; size = 4096; allow = [ "cert:other" ]; } );
END
start_emulator --cards 1
idle=$(objects)
start_configured "$work/conf"
serving=$(objects)

# A file there and back, through both kinds of memory.
head -c 9000000 /dev/urandom >"$work/in"
for name in fast bulk; do
	as host cp "$work/in" "$name" "$files/out" >/dev/null || fail "cp through $name"
	cmp "$work/in" "$files/out" || fail "other bytes came back through $name"
	rm -f "$files/out"
done
as host list >"$work/list" || fail list
[ "$(grep -cE '^(fast|bulk) ' "$work/list")" -eq 2 ] || fail "the list: $(cat "$work/list")"
! grep -q '^other ' "$work/list" || fail "the list has what is another host's"
expect 4 'may not import export bulk' as other cp "$work/in" bulk "$files/out"

# There is no other way than the network, and the name in the certificate counts.
port=${address##*:}
expect 3 'cannot connect' as host list --connect "tls:127.0.0.1:$port"
expect 4 'mismatch' as host list --server dpu.elsewhere
as host list --server dpu.example >/dev/null || fail "the certificate's other name"

# Who listens on the way learns nothing, and who changes nothing is not noticed.
mkfifo "$work/port"
over_there python3 "$here/relay.py" "192.0.2.1:$port" "$work/heard" >"$work/port" &
relay=$!
read -r relay_port <"$work/port"
on_host "$DPUMAP_TESTS/agents_probe" get "tls:127.0.0.1:$relay_port" "$pki/host" "$pki/ca.crt" bulk \
	"$work/descriptor" >/dev/null 2>"$work/stderr" &&
	fail "127.0.0.1 is not what the certificate says"
wait "$relay" || fail relay.py
over_there python3 "$here/relay.py" "192.0.2.1:$port" "$work/heard" >"$work/port" &
relay=$!
read -r relay_port <"$work/port"
as host get bulk "$work/descriptor" --connect "tls:127.0.0.1:$relay_port" --server dpu.example \
	>/dev/null || fail "get through a relay"
wait "$relay" || fail relay.py
python3 - "$work/descriptor" "$work/heard" <<'END' || fail "the wire tells secrets"
import sys
descriptor, heard = (open(path, "rb").read() for path in sys.argv[1:])
assert len(descriptor) >= 64 and len(heard) > 1000
for secret in (b"bulk", b"descriptor", b"version", descriptor[:16], descriptor[-16:]):
    assert secret not in heard, secret
assert not any(descriptor[i : i + 8] in heard for i in range(0, len(descriptor) - 8, 8))
END

# Many agents over there, while exports come and go.
timeout -k 5 60 nsenter --net="/proc/$far/ns/net" dpumap-emu run --as host -- env DPUMAP_LOG_LEVEL=off \
	"$DPUMAP_TESTS/agents_stress" "$address" "$pki/host" "$pki/ca.crt" "$admin" "$files" 2 \
	>"$work/figures" || fail "agents while exports come and go"
for nth in $(seq 0 15); do
	ctl remove "e$nth" || fail "e$nth is not there"
done

# The cable is pulled: who waits is told in time, who vanished will be noticed, and all is well
# when it is back.
mkfifo "$work/hold"
on_host "$DPUMAP_TESTS/agents_probe" hold "$address" "$pki/host" "$pki/ca.crt" bulk "$work/descriptor" \
	<"$work/hold" >"$work/told" &
holder=$!
exec 9>"$work/hold"
await grep -q got "$work/told"
# There is another timer while something is on its way.
would_notice() { ss -Htno "sport = :$port" | grep -q 'timer:(keepalive'; }
await would_notice
ip link set dpu0 down
expect 1 'no answer from 192.0.2.1' as host list --timeout 2
ip link set dpu0 up
await as host list --timeout 30 >"$work/list" 2>/dev/null
grep -q '^bulk ' "$work/list" || fail "the list when the cable is back"
exec 9>&-
wait "$holder" || fail "a connection did not live through a pulled cable"
expect_objects "after all hosts" "$serving"
stop_agent

# The same with a key that the DPU and its own host share.
sed -i "s|^tls = .*|tls = { psk = \"$work/psk\"; };|" "$work/conf"
start_configured "$work/conf"
on_host dpumap --connect "$address" --psk "$work/psk" cp "$work/in" fast "$files/out" >/dev/null ||
	fail "cp with a shared key"
cmp "$work/in" "$files/out" || fail "other bytes came back with a shared key"
rm "$files/out"
printf 'host:%s\n' "$(openssl rand -hex 32)" >"$work/psk"
expect 4 'handshake: ' on_host dpumap \
	--connect "$address" --psk "$work/psk" list
stop_agent
expect_objects "after dpumapd" "$idle"
expect_no_files
kill "$far"
wait "$far" 2>/dev/null || true
finish
