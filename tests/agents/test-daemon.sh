#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# dpumapd with a configuration: TLS, who may import what, and what changes while it runs.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/agents/pki.sh
. "$(dirname "$0")/pki.sh"
for program in openssl python3; do
	command -v "$program" >/dev/null || { echo "$program is needed"; exit 77; }
done

conf=$work/dpumapd.conf
admin=$work/admin
metrics=$work/metrics
address=

ctl() { dpumapd ctl --admin "$admin" "$@"; }

# write_conf EXPORT...
write_conf()
{
	cat >"$conf" <<-END
		listen = [ "tls:127.0.0.1:0", "unix:$socket" ];
		tls = { cert = "$pki/dpu.crt"; key = "$pki/dpu.key"; ca = "$pki/ca.crt"; crl = "$pki/ca.crl"; };
		admin = "$admin";
		metrics = "$metrics";
		exports = ( $(printf '%s,' "$@" | sed 's/,$//') );
	END
}

start_daemon()
{
	mkfifo "$work/ready"
	dpumap-emu run --as dpu -- dpumapd --config "$conf" >"$work/ready" 2>"$log" &
	agent=$!
	address=$(timeout 30 sed -n '/^dpumapd: ready on /{s///;p;q}' "$work/ready")
	[ -n "$address" ] || { cat "$log"; exit 1; }
	rm -f "$work/ready"
}

# as NAME COMMAND...: the tool over TLS with the certificate of that name
as()
{
	local name=$1
	shift
	timeout -k 5 60 dpumap-emu run --as host -- dpumap --connect "$address" \
		--cert "$pki/$name.crt" --key "$pki/$name.key" --ca "$pki/ca.crt" "$@"
}

make_ca
issue dpu serverAuth DNS:dpu,IP:127.0.0.1
issue web clientAuth
issue db clientAuth
issue nobody clientAuth
for_web='{ name = "web"; kind = "dram"; size = "1M"; allow = [ "cert:web" ]; }'
for_all='{ name = "all"; kind = "dm"; size = 4096; perm = "ro"; allow = [ "cert:web", "cert:db" ]; }'
write_conf "$for_web" "$for_all"
start_emulator --cards 1
start_daemon

# Who sees and gets what.
as web list >"$work/list"
[ "$(grep -cE '^(web|all) ' "$work/list")" -eq 2 ] || fail "web's list: $(cat "$work/list")"
as db list >"$work/list"
! grep -q '^web ' "$work/list" || fail "db sees what is web's"
head -c 1000000 /dev/urandom >"$files/data"
as web put "$files/data" web >/dev/null || fail "put over TLS"
as web read web "$files/back" --length 1000000 >/dev/null || fail "read over TLS"
cmp "$files/data" "$files/back" || fail "what came back"
expect 4 'cert:db may not import export web' as db read web "$files/none"
expect 4 'cert:nobody may not import from this dpumapd' as nobody list
expect 3 'cannot connect|closed|not found|No such' host list --connect "unix:$work/nowhere"
grep -q 'cert:db at 127.0.0.1:[0-9]* refused: cert:db may not import export web' "$log" ||
	fail "the log does not say who was refused"
grep -q 'cert:web at .* gets export web' "$log" || fail "the log does not say who got what"
! grep -qi 'BEGIN\|PRIVATE' "$log" || fail "the log has a key"

# The example of a host agent, with the same certificates.
example=$DPUMAP_BIN/example_host_agent
printf '%-64s' "an agent reads this" >"$files/hello"
as web put "$files/hello" web >/dev/null || fail "write"
timeout -k 5 60 dpumap-emu run --as host -- "$example" "$address" web \
	"$pki/web.crt" "$pki/web.key" "$pki/ca.crt" | grep -q '^an agent reads this' ||
	fail "the example of a host agent"
as web put "$files/data" web >/dev/null

# Exports that come and go by hand.
ctl add name=extra,kind=dram,size=64K,allow=cert:db || fail "ctl add"
as db list | grep -q '^extra ' || fail "what was added is not there"
expect 4 'already' ctl add name=extra,kind=dram,size=64K
expect 4 'size' ctl add name=more,kind=dram
ctl remove extra || fail "ctl remove"
expect 3 'no export called' ctl remove extra
expect 3 'no export called' as db read extra "$files/none"
head -c 8192 /dev/urandom >"$files/source"
ctl add "name=file,kind=file,path=$files/source,size=max,perm=ro,allow=cert:web" || fail "a file"
as web read file "$files/copy" >/dev/null || fail "read of a file"
cmp "$files/source" "$files/copy" || fail "what came of a file"
expect 4 'permitted|read-only' as web put "$files/source" file
# A dma-buf that the administrator has: the emulated card takes a memfd for one.
python3 - "$admin" <<-'END' || fail "a dma-buf"
	import os, subprocess, sys
	fd = os.memfd_create("buffer")
	os.write(fd, b"b" * 65536)
	export = "name=buffer,kind=dmabuf,fd=%d,size=max,allow=cert:web" % fd
	subprocess.run(["dpumapd", "ctl", "--admin", sys.argv[1], "add", export], pass_fds=[fd], check=True)
END
as web read buffer "$files/buffer" >/dev/null || fail "read of a dma-buf"
head -c 65536 /dev/zero | tr '\0' b | cmp - "$files/buffer" || fail "what came of a dma-buf"
ctl remove buffer || fail "remove of a dma-buf"
expect 1 'Bad file descriptor' ctl add name=buffer,kind=dmabuf,fd=9,size=4K 9<&-
[ "$(ctl --json list | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["exports"]))')" = 3 ] ||
	fail "ctl --json list"
ctl status | grep -q '^exports *3$' || fail "ctl status: $(ctl status)"

# Reload: what is the same stays, with its bytes and importers; the rest changes.
as web get all "$files/old" >/dev/null || fail get
for_all='{ name = "all"; kind = "dm"; size = 4096; perm = "rw"; allow = [ "cert:web" ]; }'
write_conf "$for_web" "$for_all"
kill -HUP -- "-$agent"
await grep -q '^dpumapd: reloaded$' "$log"
as web read web "$files/again" --length 1000000 >/dev/null || fail "read after a reload"
cmp "$files/data" "$files/again" || fail "a reload changed an export that is the same"
as web put "$files/source" all --offset 0 2>/dev/null && fail "a put that does not fit"
head -c 4096 "$files/source" >"$files/small"
as web put "$files/small" all >/dev/null || fail "put into what became writable"
expect 4 'may not import export all|may not import from' as db read all "$files/none"
as web list | grep -q '^file ' || fail "a reload removed what an administrator added"
cp "$conf" "$work/good"
echo 'nonsense = 1;' >>"$conf"
expect 4 "dpumapd.conf:[0-9]+: nonsense is no setting" ctl reload
cp "$work/good" "$conf"
as web list >/dev/null || fail "a reload of nonsense did harm"

# A certificate that is revoked is refused from the next reload on.
revoke web
ctl reload || fail "reload of a revocation"
expect 4 'revoked' as web list

# Figures.
python3 - "$metrics" <<-'END' >"$work/figures" || fail "metrics"
	import socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
	data = b""
	while True:
	    more = s.recv(65536)
	    if not more:
	        break
	    data += more
	head, body = data.split(b"\r\n\r\n", 1)
	assert head.startswith(b"HTTP/1.0 200"), head
	sys.stdout.write(body.decode())
END
grep -q '^dpumapd_exports{kind="dram"} 1$' "$work/figures" || fail "figures: $(cat "$work/figures")"
grep -q '^dpumapd_gets_total [1-9]' "$work/figures" || fail "figures of gets"

# Configurations that are wrong.
chmod 666 "$conf"
expect 4 'dpumapd.conf has mode 0666' dpumapd --config "$conf" --check
chmod 644 "$conf"
chmod 644 "$pki/dpu.key"
expect 4 'dpu.key has mode 0644' on_dpu dpumapd --config "$conf" --listen "unix:$work/other"
chmod 600 "$pki/dpu.key"
dpumapd --config "$conf" --check || fail "--check of a good configuration"
stop_agent
[ ! -e "$admin" ] || fail "the socket of the administrator was left"
[ ! -e "$metrics" ] || fail "the socket of the figures was left"

# Privileges are given up after the start; exports and a reload go on without.
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$work"
	mkdir "$work/run"
	chown nobody "$work/run"
	cat >"$conf" <<-END
		listen = [ "unix:$work/run/socket" ];
		user = "nobody";
		exports = ( { name = "a"; kind = "dram"; size = "64K"; allow = [ "uid:0" ]; } );
	END
	start_daemon
	pid=$(daemon_pid)
	grep -qE "^Uid:([[:space:]]$(id -u nobody)){4}" "/proc/$pid/status" || fail "still its old user"
	grep -qE '^NoNewPrivs:[[:space:]]1' "/proc/$pid/status" || fail "it can have new privileges"
	host --connect "$address" write a "$files/small" >/dev/null || fail "write without privileges"
	kill -HUP "$pid"
	await grep -q '^dpumapd: reloaded$' "$log"
	host --connect "$address" read a "$files/small.back" --length 4096 >/dev/null ||
		fail "read without privileges"
	cmp "$files/small" "$files/small.back" || fail "what came back without privileges"
	stop_agent
fi
rm "$files"/*
expect_no_files
finish
