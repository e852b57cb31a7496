#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# [LAB_ALL=no] [LAB_WIRE=no] test-pair.sh HOST-BUILD DPU-BUILD: run the tests of the lab on the host, while `far serve` runs on the
# DPU. First the integration tests that need only RDMA, or with LAB_ALL=no three of them; then dpumapd on the DPU and
# dpumap on the host, over TLS; at last, without LAB_WIRE=no, test-wire.sh. Each test adds a line "pass NAME" or "fail NAME" to /lab/results; the output has the reasons.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/until.sh
. "$here/until.sh"
far=$here/far
host=$1 dpu=$2
results=/lab/results
work=/root/work
mkdir -p "$work/out"
export PATH=$host/bin:$PATH

record() { echo "$1 $2" | tee -a "$results"; }

# check NAME COMMAND...: run one test; its output is printed only if it fails
check()
{
	local name=$1
	shift
	if "$@" >"$work/check.log" 2>&1; then
		record pass "$name"
	else
		record fail "$name"
		sed 's/^/   /' "$work/check.log"
	fi
}

# expect STATUS REGEX COMMAND...: the command ends with STATUS, and a line of its output matches REGEX
expect()
{
	local status=0 wanted=$1 text=$2
	shift 2
	"$@" >"$work/expect.log" 2>&1 || status=$?
	cat "$work/expect.log"
	[ "$status" -eq "$wanted" ] || { echo "status $status, not $wanted"; return 1; }
	grep -qE "$text" "$work/expect.log" || { echo "no line matches: $text"; return 1; }
}

there() { "$far" sh "$1"; }

# --- the library ---------------------------------------------------------------------------------

# cmocka FILE WHERE: record the results in the output of a CMocka program, and check that it is complete. A
# test that skips has printed what is missing.
cmocka()
{
	awk -v where="$2" '
		/^lacks / {reason = $0}
		/^\[ RUN      \]/ {reason = ""}
		/^\[       OK \]/ {print "pass", where "-" $NF}
		/^\[  SKIPPED \] [a-z]/ && !seen[$NF]++ {print reason ? "skip" : "fail", where "-" $NF, reason}
		/^\[  (FAILED|ERROR)   ?\] [a-z]/ && !seen[$NF]++ {print "fail", where "-" $NF}
		/test\(s\) run\./ {ended = 1}
		END {print ended ? "pass" : "fail", where "-completes"}' "$1" |
		while read -r outcome name; do
			[[ $name != *-test\(s\)* ]] && record "$outcome" "$name"
		done
	grep -q '^\[  PASSED  \]' "$1" && ! grep -qE '^\[  (FAILED|ERROR)' "$1" && return
	grep -v 'dpumap: error: ' "$1"
}

options=(--emu "$far" --peer-as host --engine rdma)
run_test() { timeout 1200 "$host/tests/$1" "${options[@]}" >"$work/$1.log" 2>&1; }

# Both machines work at the same time; each runs a part of the tests that need one machine.
on_dpu=(test_rxe)
on_host=(test_rdma)
between=(test_rdma_nodes)
if [ "${LAB_ALL-yes}" = yes ]; then
	on_dpu+=(test_rdma_settings test_rdma_context test_rdma_bridge test_sync_event_net)
	on_host+=(test_rxe test_rdma_errors test_rdma_tasks test_rdma_bufs test_rdma_end test_rdma_address
		test_rdma_callbacks)
	between+=(test_rdma_peers)
fi
there "export LAB_OTHER=; cd /; for test in ${on_dpu[*]}; do
	timeout 1200 $dpu/tests/\$test ${options[*]} >/lab/dpu.\$test 2>&1
done; touch /lab/dpu.tests.done" >/dev/null 2>&1 &
for test in "${on_host[@]}"; do
	LAB_OTHER='' run_test "$test"
	cmocka "$work/$test.log" "${test#test_}-x86_64"
done
until_true test -e /lab/dpu.tests.done
for test in "${on_dpu[@]}"; do
	cmocka "/lab/dpu.$test" "${test#test_}-aarch64"
done
for test in "${between[@]}"; do
	run_test "$test"
	cmocka "$work/$test.log" "${test#test_}-between-machines"
done

# --- refused exports -----------------------------------------------------------------------------

idle=$("$far" status)
refuses() { expect 0 "$1" there "$dpu/bin/dpumapd --listen unix:/run/refused.sock $2 2>&1; echo status \$?"; }

check pci-export-is-refused refuses 'status 15' '--export name=a,kind=dram,size=64K'
check refused-pci-export-has-a-reason grep -qE 'cannot export|not supported|can export' "$work/expect.log"
check device-memory-is-refused refuses 'status 15' '--export name=a,kind=dm,size=4K,via=rdma'
check refused-device-memory-has-a-reason grep -qE 'device memory' "$work/expect.log"

# --- the agents over TLS -------------------------------------------------------------------------

pki=$work/pki
mkdir -m 700 "$pki"
check pki-init dpumap pki init --dir "$pki/ca"
check pki-of-the-dpu dpumap pki issue --dir "$pki/ca" --dpu dpu --san 10.9.0.2
check pki-of-the-host dpumap pki issue --dir "$pki/ca" --host host
check pki-of-another dpumap pki issue --dir "$pki/ca" --host stranger
cp "$pki/ca/"*.crt "$pki/ca/"*.key "$pki/" # dpumap pki revoke removes the files of a certificate
# The files that an administrator copies to the DPU.
mkdir -p /lab/carried
cp "$pki/ca/dpu.crt" "$pki/ca/dpu.key" "$pki/ca/ca.crt" "$pki/ca/ca.crl" /lab/carried/
there 'mkdir -p -m 700 /etc/dpumap && cp /lab/carried/* /etc/dpumap/ && chmod 600 /etc/dpumap/dpu.key'
rm -r /lab/carried

there "head -c 300000 /dev/urandom >/root/file; echo 16 >/proc/sys/vm/nr_hugepages
cat >/etc/dpumap/dpumapd.conf <<'CONF'
listen = [ \"tls:0.0.0.0:7470\" ];
admin = \"/run/dpumapd.ctl\";
tls = {
	cert = \"/etc/dpumap/dpu.crt\"; key = \"/etc/dpumap/dpu.key\";
	ca = \"/etc/dpumap/ca.crt\"; crl = \"/etc/dpumap/ca.crl\";
};
exports = (
	{ name = \"bulk\"; kind = \"dram\"; size = \"4M\"; via = \"rdma\"; allow = [ \"cert:host\" ]; },
	{ name = \"small\"; kind = \"dram\"; size = \"64K\"; via = \"rdma\"; allow = [ \"cert:host\" ]; },
	{ name = \"huge\"; kind = \"dram\"; size = \"4M\"; pages = \"huge\"; via = \"rdma\"; allow = [ \"cert:host\" ]; },
	{ name = \"file\"; kind = \"file\"; path = \"/root/file\"; size = \"max\"; via = \"rdma\"; allow = [ \"cert:host\" ]; },
	{ name = \"ro\"; kind = \"dram\"; size = \"64K\"; perm = \"ro\"; via = \"rdma\"; allow = [ \"cert:host\" ]; }
);
CONF"
start_daemon()
{
	there "rm -f /lab/daemon.ready; $dpu/bin/dpumapd --config /etc/dpumap/dpumapd.conf \
		>/lab/daemon.ready 2>>/lab/dpu.dpumapd </dev/null &" >/dev/null
	until_true grep -q ready /lab/daemon.ready || { cat /lab/dpu.dpumapd; return 1; }
}
check dpumapd-starts start_daemon
serving=$("$far" status)

# as WHO ARGUMENT...
as()
{
	local who=$1
	shift
	timeout 1200 dpumap --connect tls:dpu:7470 --ca "$pki/ca/ca.crt" --crl "$pki/ca/ca.crl" \
		--cert "$pki/$who.crt" --key "$pki/$who.key" --timeout 30 "$@"
}

check list expect 0 '^ro +dram +64K +read-only +RDMA' as host list
check info expect 0 'RDMA export of memory' as host info bulk
check client-that-is-not-allowed-is-refused expect 14 'may not import' as stranger list
check read-by-a-client-that-is-not-allowed-is-refused expect 14 'may not import' as stranger read bulk "$work/out/x"
check client-without-a-certificate-is-rejected expect 14 '.' \
	timeout 1200 dpumap --connect tls:dpu:7470 --ca "$pki/ca/ca.crt" list

crosses()
{
	head -c "$2" /dev/urandom >"$work/in"
	as host cp "$work/in" "$1" "$work/out/copy" && cmp "$work/in" "$work/out/copy" &&
		rm "$work/out/copy"
}
for size in 0 1 4095 65537 300000; do
	check "copy-of-$size-bytes" crosses small $size
done
check copy-through-a-large-export crosses bulk 5000001
check copy-through-huge-pages crosses huge 200003
check copy-through-a-file crosses file 100001

part()
{
	head -c 3001 /dev/urandom >"$work/in"
	as host write file "$work/in" --offset 7777 && there "cat /root/file" >"$work/file" &&
		cmp -n 3001 -i 0:7777 "$work/in" "$work/file" &&
		as host read file "$work/out/part" -o 7787 -n 13 &&
		cmp -n 13 -i 10:0 "$work/in" "$work/out/part"
}
check part-of-a-file part
check fill as host fill small c0ffee --offset 3 --length 6
check dump expect 0 'c0 ff ee c0 ff ee' as host dump small -o 3 -n 6
check bench expect 0 'RDMA' as host bench small --count 20 --size 4K --write
check read-of-a-read-only-export expect 0 '' as host read ro "$work/out/ro"
check write-to-a-read-only-export-is-refused expect 14 'read-only' as host fill ro ff
# librdmacm keeps a context of the device from dpumapd's first search for an address on.
gone() { [ "$("$far" status | grep -v contexts)" = "$(grep -v contexts <<<"$serving")" ]; }
check no-rdma-object-remains until_true gone

# --- doctor --------------------------------------------------------------------------------------

# diagnosed FILE WRONG DPUMAPD: check the report of `doctor` in FILE. WRONG is the check that must fail,
# because the device does not support memory over PCI; DPUMAPD is "yes" if doctor examined dpumapd.
diagnosed()
{
	/usr/bin/python3 - "$@" <<-'END'
		import json, sys
		file, wrong, daemon = sys.argv[1:]
		told = json.load(open(file))
		checks = {check["id"]: check for check in told["checks"]}
		wanted = {wrong: "fail", "device.open": "ok", "device.driver": "warn", "port.state": "ok",
		          "cap.devx": "warn", "cap.rdma": "ok", "cap.mmo": "warn",
		          "cap.device-memory": "warn", "cap.dma-buf": "warn", "try.pd": "ok",
		          "try.register": "ok", "try.undo": "ok"}
		works = {"pci_export": False, "pci_import": False, "rdma": True, "device_memory": False,
		         "copies": False, "dpumapd": daemon == "yes"}
		bad = [f"{name}: {checks[name]}" for name, state in wanted.items()
		       if checks[name]["state"] != state]
		bad += [f"{check['id']}: no advice" for check in told["checks"]
		        if check["state"] in ("warn", "fail") and not check["advice"]]
		bad += [f"works: {name}: {told['works'][name]}" for name in works
		        if told["works"][name] != works[name]]
		bad += [f"exit {told['exit']}"] if told["exit"] != 15 else []
		print("\n".join(bad))
		sys.exit(bool(bad))
	END
}
as host doctor --json >/lab/host.doctor
check doctor-on-the-host diagnosed /lab/host.doctor cap.pci-import yes
there "timeout 1200 $dpu/bin/dpumapd doctor --json" >/lab/dpu.doctor
check doctor-on-the-dpu diagnosed /lab/dpu.doctor cap.pci-export no

# --- the control channel -------------------------------------------------------------------------

# rdma_rxe has no functions of one card, so each machine has an emulated card, with the same GUID. A host
# and its DPU see one card in the same way, but these two cards share no memory.
card=/root/card
start_card() { echo "unshare --uts sh -c 'hostname card && exec $1/bin/dpumap-emu start --dir $card'"; }
start_cards() { sh -c "$(start_card "$host")" && there "$(start_card "$dpu") && echo started" | grep started; }
check emulated-cards-start start_cards
guid() { sed -n 's/^guid //p'; }
same_guid()
{
	[ -n "$(dpumap-emu status --dir $card | guid)" ] &&
		[ "$(dpumap-emu status --dir $card | guid)" = "$(there "$dpu/bin/dpumap-emu status --dir $card" | guid)" ]
}
check emulated-cards-have-one-guid same_guid

there "cat >/etc/dpumap/comch.conf <<'CONF'
listen = [ \"tls:0.0.0.0:7471\" ];
tls = {
	cert = \"/etc/dpumap/dpu.crt\"; key = \"/etc/dpumap/dpu.key\";
	ca = \"/etc/dpumap/ca.crt\"; crl = \"/etc/dpumap/ca.crl\";
};
comch = { serve = \"dpumapd\"; introduce = ( { server = \"*\"; allow = [ \"cert:host\" ]; } ); };
exports = ( { name = \"near\"; kind = \"dram\"; size = \"64K\"; allow = [ \"cert:host\" ]; } );
CONF"
start_server()
{
	there "rm -f /lab/comch.ready; export DPUMAP_EMU_DIR=$card;
		$dpu/bin/dpumap-emu run --as dpu -- $dpu/bin/dpumapd --config /etc/dpumap/comch.conf \
		>/lab/comch.ready 2>/lab/dpu.comch </dev/null &" >/dev/null
	until_true grep -q ready /lab/comch.ready || { cat /lab/dpu.comch; return 1; }
}
check server-of-the-control-channel-starts start_server
mkdir -p "$work/config/dpumap"
cat >"$work/config/dpumap/dpumap.conf" <<-CONF
	connect = "tls:dpu:7471";
	timeout = 60;
	tls = { cert = "$pki/host.crt"; key = "$pki/host.key"; ca = "$pki/ca/ca.crt"; };
CONF
# What a program of the host sees that uses DOCA alone.
printf '%s\n' 'ask list' 'ask get near' use 'ask release near' 'ask ping' |
	XDG_CONFIG_HOME=$work/config DPUMAP_EMU_DIR=$card timeout 1200 dpumap-emu run --as host -- \
		"$host/tests/agents_comch" 3b:00.0 dpumapd >"$work/comch.out" 2>"$work/comch.log"
answers()
{
	cat "$work/comch.out" "$work/comch.log"
	diff - <(sed 's/^DOCA_ERROR_.*/refused/' "$work/comch.out") <<-'END'
		connected
		ok|near dram 65536 rw
		ok 65536 rw
		refused
		ok
		ok
	END
}
check messages-cross-and-the-memory-of-the-other-card-is-refused answers
there "DPUMAP_EMU_DIR=$card $dpu/bin/dpumap-emu stop"
DPUMAP_EMU_DIR=$card dpumap-emu stop

# --- processes that end during a copy ------------------------------------------------------------

# The file of a copy has no name before the copy ends, or that of a temporary file.
under_way()
{
	local fd
	for fd in /proc/[0-9]*/fd/*; do
		case $(readlink "$fd") in "$work/out/"*) [ ! -s "$fd" ] || return 0 ;; esac
	done
	return 1
}
begin()
{
	truncate -s 400M "$work/in"
	as host cp "$work/in" small "$work/out/copy" >"$work/copy.log" 2>&1 &
	copy=$!
	until_true under_way
}

# ends: the copy ends by itself, prints the reason, and leaves no file
ends()
{
	local status=0
	wait "$copy" || status=$?
	cat "$work/copy.log"
	[ "$status" -eq 1 ] || [ "$status" -eq 13 ] || [ "$status" -eq 14 ] ||
		{ echo "status $status"; return 1; }
	grep -q 'small failed: \|export\|connection\|cannot connect' "$work/copy.log" || return 1
	! under_way && [ -z "$(find "$work/out" -name '.dpumap-*' -o -name copy)" ]
}
ctl() { there "$dpu/bin/dpumapd ctl --admin /run/dpumapd.ctl $* 2>&1; echo status \$?" | grep 'status 0'; }

check copy-begins begin
check export-is-removed ctl remove small
check copy-of-the-removed-export-ends ends
check removed-export-is-not-found expect 13 'no export' as host info small
check export-is-added ctl add name=small,kind=dram,size=64K,via=rdma,allow=cert:host
check copy-through-the-added-export crosses small 70000
check second-copy-begins begin
there 'killall -9 dpumapd'
check copy-ends-with-dpumapd ends
check dpumapd-restarts start_daemon
check copy-after-the-restart crosses bulk 70000
stopped() { ! grep -q . <(there 'pidof dpumapd'); }
revoke()
{
	dpumap pki revoke --dir "$pki/ca" host && cp "$pki/ca/ca.crl" /lab/ca.crl &&
		there 'cp /lab/ca.crl /etc/dpumap/ca.crl; killall -HUP dpumapd'
}
check certificate-is-revoked revoke
check revoked-client-is-rejected until_true expect 14 '.' as host list

there 'killall dpumapd'
check dpumapd-ends until_true stopped
all_gone() { [ "$("$far" status)" = "$idle" ]; }
check no-rdma-object-remains-at-the-end until_true all_gone

# shellcheck source=tests/lab/test-wire.sh
[ "${LAB_WIRE-yes}" != yes ] || . "$here/test-wire.sh"
echo end >>"$results"
touch /lab/done
! grep -q '^fail' "$results"
