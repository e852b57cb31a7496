#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Clients that are strangers, many, slow or hostile.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
[ -x /usr/bin/python3 ] || { echo "python3 is needed"; exit 1; }

start_emulator --cards 1
start_agent --export name=bulk,kind=dram,size=1M --export name=fast,kind=dm,size=4K \
	--export name=far,kind=dram,size=4K,via=rdma --max-clients 8
serving=$(objects)
/usr/bin/python3 "$here/hostile.py" "$socket" 8 || fail hostile.py
# Pages for doorbells that were in use once stay with the driver.
uars_apart() { grep -v '^uars '; }
nothing_stays() { [ "$(objects | uars_apart)" = "$(uars_apart <<<"$serving")" ]; }
await nothing_stays
host cp /bin/sh bulk "$files/out" >/dev/null || fail "cp after hostile clients"
rm "$files/out"

# Eight at once, all served.
head -c 3000000 /dev/urandom >"$work/in"
copies=()
for i in 1 2 3 4; do
	host read bulk "$files/$i" >/dev/null &
	copies+=($!)
done
for copy in "${copies[@]}"; do
	wait "$copy" || fail "one of several clients"
done
for i in 1 2 3 4; do
	cmp "$files/1" "$files/$i" || fail "client $i got other bytes"
done
rm "$files"/*
grep -q 'gets export bulk' "$log" || fail "the log does not say who got what"
stop_agent

# Whoever starts it may want to hear of its readiness elsewhere than on stdout.
dpumap-emu run --as dpu -- dpumapd --listen "$socket" --export name=a,kind=dram,size=4K \
	--ready-fd 7 7>"$work/told" >"$work/stdout" 2>"$log" &
agent=$!
await grep -q "^dpumapd: ready on $socket\$" "$work/told"
[ ! -s "$work/stdout" ] || fail "--ready-fd: stdout says $(cat "$work/stdout")"
stop_agent

# Another user: the socket is closed to him, or open and he is turned away, or he is welcome.
if [ "$(id -u)" -eq 0 ]; then
	# GCOV_PREFIX: where an instrumented program may write as that user.
	stranger() { setpriv --reuid=65534 --regid=65534 --clear-groups \
		env GCOV_PREFIX="$work/counts" timeout 30 "$DPUMAP_BIN/dpumap" --connect "$socket" "$@"; }
	chmod 755 "$work"
	install -d -m 777 "$work/counts"
	if ! stranger --version >/dev/null 2>&1; then
		echo "another user cannot reach $DPUMAP_BIN: strangers are not tried"
		finish
		exit 0
	fi
	start_agent --export name=bulk,kind=dram,size=1M
	expect 4 "cannot connect to dpumapd at $socket: Permission denied" stranger list
	stop_agent
	start_agent --export name=bulk,kind=dram,size=1M --allow-uid 12345
	expect 4 "uid:65534 may not import from this dpumapd" stranger list
	expect 4 "uid:65534 may not import from this dpumapd" stranger info bulk
	grep -q 'uid 65534 .* refused: uid:65534 may not import' "$log" || fail "the log does not tell of the stranger"
	stop_agent
	start_agent --export name=bulk,kind=dram,size=1M --allow-uid 12345 --allow-uid 65534
	stranger list >/dev/null || fail "a user who is allowed"
	stop_agent
fi
expect_no_files
finish
