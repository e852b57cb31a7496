#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# dpumap doctor and dpumapd doctor: every profile, both sides, and all that can go wrong.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/agents/pki.sh
. "$(dirname "$0")/pki.sh"

# The machine's own configuration is none of this test's business.
export HOME=$work XDG_CONFIG_HOME=$work/config
unset DPUMAP_CONNECT
here=$(dirname "$0")
mkdir "$work/found"
cases=0
no_link="link.connect=unknown link.tls=unknown link.identity=unknown link.version=unknown
	link.exports=unknown link.card=unknown link.round-trip=unknown"

# on SIDE: the command that says what is wrong there, in $doctor
on()
{
	case $1 in
	host) doctor=(dpumap-emu run --as host -- "${through[@]}" dpumap doctor) ;;
	dpu) doctor=(dpumap-emu run --as dpu -- "${through[@]}" dpumapd doctor) ;;
	none) doctor=("${through[@]}" dpumap doctor) ;;
	esac
}
through=()

# sees WHAT EXPECTATION... [-- OPTION...]: the doctor's findings, in $found. What is expected of them is
# compared at the end, by doctor-json.py.
sees()
{
	local what=$1 status=0 wanted=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		wanted+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	cases=$((cases + 1))
	found=$work/found/$cases.json
	timeout -k 5 100 "${doctor[@]}" --json "$@" >"$found" 2>"$work/stderr" || status=$?
	(IFS=$'\t' && echo "$what"$'\t'"$found"$'\t'"$status"$'\t'"${wanted[*]}") >>"$work/cases"
	[ "$status" -eq 0 ] || [ "$(grep -c '^dpumapd\?: ' "$work/stderr")" -eq 1 ] ||
		fail "$what: not one line: $(cat "$work/stderr")"
}

# nothing_left WHEN
nothing_left() { expect_objects "$1" "$bare"; }

# fault WORD... and then sees WHAT ...; all is well afterwards
fault() { dpumap-emu fault "$@" >/dev/null; }
well_again()
{
	fault clear
	nothing_left "$1"
}

# -- every profile, both sides --

# expect_profile PROFILE EXPECTATION...: of both sides
expect_profile()
{
	local profile=$1 side
	shift
	start_emulator --profile "$profile"
	bare=$(objects)
	for side in host dpu; do
		on $side
		# shellcheck disable=SC2086 # words
		sees "$profile, $side" '*=ok' $no_link "side==\"$side\"" "$@"
		nothing_left "$profile, $side"
	done
	dpumap-emu stop >/dev/null
}
expect_profile bluefield-3 cap.mmo:max_len=2097152 try.copy:engine='"mmo"' ready==true \
	pci_import==true pci_export==true device_memory==true rdma==true dpumapd==false
expect_profile bluefield-2 cap.mmo:max_len=2097152 ready==true
expect_profile connectx-6-dx cap.mmo=warn try.copy:engine='"rdma"' device.mode='ok|warn' ready==true
expect_profile connectx-5 cap.sharing=warn cap.mmo=warn device.mode='ok|warn' \
	cap.pci-export='ok|fail' cap.pci-import='ok|fail' cap.pci-import:supported=false \
	cap.pci-export:supported=false try.export=unknown exit==5 ready==false pci_import==false \
	pci_export==false copies==true rdma==true
for cap in max-dm-size=0 log-max-dma-mmo=0 cross-vhca=0; do
	start_emulator --cap $cap
	bare=$(objects)
	for side in host dpu; do
		on $side
		case $cap in
		max-dm-size=0)
			# shellcheck disable=SC2086
			sees "$cap" '*=ok' $no_link cap.device-memory=warn try.device-memory=unknown \
				device_memory==false ready==true
			;;
		log-max-dma-mmo=0) sees "$cap" cap.mmo=warn try.copy=ok ready==true ;;
		cross-vhca=0) sees "$cap" cap.sharing=warn ready==false exit==5 ;;
		esac
		nothing_left "$cap"
	done
	dpumap-emu stop >/dev/null
done

# -- no device, and those that are not as they should be --

if [ ! -e /sys/class/infiniband ]; then
	on none
	sees "no device" device.list=fail device.chosen=unknown device.open=unknown try.open=unknown \
		system.kernel=ok exit==3 ready==false
	[ ! -e /sys/module/mlx5_ib ] || sees "no device" system.modules=ok
	dpumap doctor >"$work/stdout" 2>/dev/null || true
	grep -q '^verdict: not ready to use what a DPU exports over PCI: see device.list$' \
		"$work/stdout" || fail "verdict for people: $(tail -n 1 "$work/stdout")"
fi

start_emulator --cards 2
bare=$(objects)
on host
sees "two cards" device.chosen:name='"mlx5_0"'
sees "the other card" device.chosen:name='"mlx5_1"' device.open=ok try.copy=ok ready==true -- --device mlx5_1
sees "by its address" device.chosen:name='"mlx5_1"' -- --device 3c:00.0
sees "none of that name" device.chosen=fail device.open=unknown cap.mmo=unknown try.pd=unknown \
	exit==3 -- --device mlx5_9
on dpu
sees "the DPU's mode" device.mode=ok device.mode:mode='"embedded"' device.function:type='"PF"'

# For people: every finding is a line, no colours in a pipe, advice below what is not well.
on host
"${doctor[@]}" --verbose >"$work/stdout" 2>/dev/null || fail "for people: status $?"
grep -E '^(ok|warn|fail|unknown) ' "$work/stdout" >"$work/ids"
[ "$(grep -cE '^(ok|warn|fail|unknown) +[a-z]+\.[a-z-]+ ' "$work/stdout")" -eq 49 ] ||
	fail "for people: $(grep -cE '^(ok|warn|fail|unknown) ' "$work/stdout") lines"
! grep -q $'\033' "$work/stdout" || fail "colours without a terminal"
tail -n 1 "$work/stdout" | grep -q '^verdict: ready to ' || fail "$(tail -n 1 "$work/stdout")"
grep -q 'follow from others are not shown' <("${doctor[@]}" 2>/dev/null) || fail "nothing is hidden"
"${doctor[@]}" >/dev/full 2>"$work/stderr" && fail "could write to a full device"

# The manual has all ids.
while read -r id; do
	grep -qE "^\.It Li (.* )?${id//./\\.}( |\$)" "$here/../../man/dpumap.1" || fail "dpumap(1) does not have $id"
done < <(awk '{print $2}' "$work/ids")

# Wrong usage
for bad in "--timeout 0" "--frobnicate" "argument"; do
	for side in host dpu; do
		on $side
		status=0
		# shellcheck disable=SC2086
		"${doctor[@]}" $bad >/dev/null 2>&1 || status=$?
		[ "$status" -eq 2 ] || fail "$side doctor $bad: status $status"
	done
done
dpumapd doctor --help >"$work/stdout" || fail "dpumapd doctor --help"
[ "$(wc -l <"$work/stdout")" -le 24 ] || fail "dpumapd doctor --help: more than a screen"

# -- limits --

limited() { bash -c "ulimit $1"' && shift && exec "$@"' limited "$@"; }
export -f limited
on host
through=(bash -c 'limited "$@"' limited '-n 64')
on host
sees "few files" system.nofile=warn system.nofile:files=64
through=(bash -c 'limited "$@"' limited '-n 40')
on host
sees "hardly a file" system.nofile=warn
through=(bash -c 'limited "$@"' limited '-l 64')
on host
sees "little memory to lock" system.memlock:bytes=65536
if [ "$(id -u)" -eq 0 ]; then
	if setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock true 2>/dev/null; then
		through=(setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock bash -c 'limited "$@"' limited '-l 64')
		on host
		sees "little memory to lock, without the privilege" system.memlock=warn
	fi
else
	sees "little memory to lock" system.memlock=warn
fi
through=()
nothing_left "after limits"

# -- every fault that can be played --

on host
fault --method '*' --nth 1000000
sees "no fault"
commands=$(dpumap-emu fault clear | sed -n 's/^seen //p')
[ "$commands" -gt 50 ] || fail "only $commands commands were seen"
# Each third of them, as the ways to the others are the same; all of them with 1.
step=${DPUMAP_DOCTOR_STEP:-3}
# What could not be destroyed is kept, by libmlx5 as by us: no leak
keeps=(env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0")
through=("${keeps[@]}")
for ((n = 1; n <= commands; n += step)); do
	# Each on one side, by turns
	on "$([ $((n % 2)) -eq 0 ] && echo host || echo dpu)"
	fault --method '*' --nth "$n" --errno "$([ $((n % 4)) -lt 2 ] && echo ENOMEM || echo EIO)"
	sees "command $n fails"
	fault clear
done
through=()
nothing_left "commands that failed"

# always METHOD EXPECTATION...: all of a kind fail, on both sides
always()
{
	local method=$1 how=$2 side
	shift 2
	for side in host dpu; do
		on $side
		# shellcheck disable=SC2086
		fault --method "$method" --count all $how
		sees "$side, $method $how" "$@"
		well_again "$side, $method $how"
	done
}
always context.create "--errno EACCES" device.open=fail exit==4 try.open=fail port.state=unknown
always context.create "--errno EIO" device.open=fail exit==5 cap.mmo=unknown
always context.create "--errno ENOMEM" device.open=fail exit==5
always port.query "--errno EIO" port.state=fail port.link=unknown try.copy=fail
always device.query "--errno EIO" device.firmware=fail exit==5
always gid.query "--errno EIO" port.gid='unknown|ok|fail' ready==false
always pd.create "--errno ENOMEM" try.pd=fail try.register=unknown exit==5
always pd.create "--errno EPERM" try.open=fail try.pd=fail exit==5
always mr.create "--errno ENOMEM" try.register=fail try.copy=fail ready==false
always mr.create-dmabuf "--errno EOPNOTSUPP" cap.dma-buf=warn ready==true
always mr.create-dmabuf "--errno EIO" cap.dma-buf=unknown
always dm.create "--errno ENOMEM" try.device-memory=warn ready==true device_memory==false
always umem.create "--errno ENOMEM" try.umem=warn ready==true
always cq.create "--errno ENOMEM" try.copy=fail copies==false
always qp.create "--errno ENOMEM" try.copy=fail
always qp.modify "--errno EIO" try.copy=fail
always devx.query-caps "--errno EIO" ready==false
always devx.query-caps "--status INT_ERR --syndrome 7" ready==false
always devx.other "--status BAD_OP" device.mode='ok|warn'
always file.mmap "--errno ENOMEM" ready==false
through=("${keeps[@]}")
always '*.destroy' "--errno EIO" try.undo=warn
through=()
always '*' "--errno EIO" exit==5
# An export fails what the DPU is for, and on the host is worth a warning.
for how in "--method mkey.create --status LIM --syndrome 0x123456" "--method mkey.create --errno ENOMEM" \
	"--method devx.allow-access --status BAD_RES"; do
	# shellcheck disable=SC2086
	fault $how --count all
	on host
	sees "host, $how" try.export=warn ready==true
	on dpu
	sees "dpu, $how" try.export=fail ready==false
	well_again "$how"
done
fault --method mkey.create --count all --status LIM --syndrome 0x123456
sees "the syndrome" try.export=fail
grep -q '0x123456' "$found" || fail "no syndrome is told"
well_again "the syndrome"

# Completions
for side in host dpu; do
	on $side
	fault completion --lose --count all
	sees "$side, completions get lost" try.copy=fail exit==1 try.undo=ok -- --timeout 1
	well_again "$side, lost"
	fault completion --delay 60000 --count all
	sees "$side, completions come too late" try.copy=fail exit==1 -- --timeout 1
	well_again "$side, too late"
	fault completion --delay 100 --count all
	sees "$side, completions come late" try.copy=ok ready==true -- --timeout 60
	well_again "$side, late"
	for syndrome in LOC_PROT_ERR REM_ACCESS_ERR RETRY_EXC_ERR LOC_QP_OP_ERR WR_FLUSH_ERR; do
		fault completion --syndrome $syndrome --count all
		sees "$side, $syndrome" try.copy=fail ready==false
		well_again "$side, $syndrome"
	done
done

# Device memory that others have, all or nearly
for left in 0 4096; do
	for side in host dpu; do
		on $side
		fault memory --left $left
		if [ $left -eq 0 ]; then
			sees "$side, no device memory is left" try.device-memory=warn ready==true
		else
			sees "$side, little is left" try.device-memory=ok
		fi
		well_again "$side, device memory"
	done
done

# A dead device, from the beginning; and an emulator that goes away
for side in host dpu; do
	on $side
	fault device
	sees "$side, the device is dead" device.open=fail try.open=fail exit==5
	well_again "$side, dead"
done
on dpu
sees "well again" ready==true

# -- what the emulated card cannot play --

if [ -n "${DPUMAP_SPOIL-}" ]; then
	# spoilt WHAT EXPECTATION...
	spoilt()
	{
		local what=$1 side
		shift
		# shellcheck disable=SC2016
		through=(env "SPOIL=$what" sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$DPUMAP_SPOIL")
		for side in ${sides:-host dpu}; do
			on "$side"
			sees "$side, spoilt: $what" "$@"
			nothing_left "$side, spoilt: $what"
		done
		through=()
	}
	spoilt nothing ready==true
	spoilt file device.file=fail device.open=fail exit==4 cap.mmo=unknown try.pd=unknown
	spoilt port port.state=fail port.link=ok try.copy=fail ready==false
	spoilt devx cap.devx=fail cap.sharing=unknown try.export=unknown exit==5
	spoilt driver device.driver=warn cap.mmo=warn cap.devx=warn cap.pci-import:supported=false ready==false
	spoilt crash device.open=ok cap.mmo='ok|unknown' exit==1 link.address=ok
	sides=dpu spoilt hang exit==1 link.address=ok -- --timeout 1
fi

# -- the way to dpumapd --

chosen="device.chosen=ok try.copy=ok"
on host
sees "nobody where it was said" link.connect=fail link.version=unknown exit==3 -- --connect "$work/none"
sees "nobody in the usual place" link.connect=unknown ready==true
sees "no address" link.address=fail exit==3 -- --connect tls:no-such-host.invalid:7470
DPUMAP_CONNECT=tls:nonsense sees "no address at all" config.file=fail link.address=unknown exit==4
# The card is that of an export over PCI, where there is one
start_agent --export name=bulk,kind=dram,size=64K --export name=a,kind=dram,size=64K,via=rdma
# shellcheck disable=SC2086
sees "all is well" '*=ok' $chosen link.exports:names='["a", "bulk"]' link.card:device='"mlx5_0"' ready==true \
	dpumapd==true -- --connect "$socket"
bare=$(objects)
sees "the other card's function" link.card=fail exit==4 -- --connect "$socket" --device mlx5_1
! grep -qi 'access.key' "$found" || fail "a key is told"
nothing_left "a look at dpumapd"
on dpu
sees "the DPU's own" link.connect=ok link.exports=ok link.card=ok ready==true -- --connect "$socket"
on host
# dpumapd ends as we look
kill -STOP -- "-$agent"
sees "dpumapd does not answer" link.connect=ok link.version='fail|unknown' ready==false -- \
	--connect "$socket" --timeout 1
kill -CONT -- "-$agent"
stop_agent
bare=$(objects)

# By TLS
if ! command -v openssl >/dev/null; then
	fail "openssl is missing"
	finish
fi
make_ca
issue dpu1 serverAuth DNS:localhost,IP:127.0.0.1
issue host1 clientAuth
issue gone clientAuth
revoke gone
issue_alone stranger
issue_expired old clientAuth
issue soon clientAuth
cat >"$work/dpumapd.conf" <<END
listen = [ "tls:127.0.0.1:0" ];
tls = { cert = "$pki/dpu1.crt"; key = "$pki/dpu1.key"; ca = "$pki/ca.crt"; crl = "$pki/ca.crl"; };
exports = ( { name = "bulk"; kind = "dram"; size = "64K"; allow = [ "cert:host1" ]; } );
END
start_configured "$work/dpumapd.conf"
# by NAME EXPECTATION... [-- OPTION...]
as()
{
	local name=$1 wanted=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		wanted+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	sees "as $name" "${wanted[@]}" -- --connect "$address" --cert "$pki/$name.crt" \
		--key "$pki/$name.key" --ca "$pki/ca.crt" "$@"
}
on host
as host1 link.certificate='ok|warn' link.crl=ok link.tls='ok|warn' link.tls:peer='"cert:dpu1"' \
	link.identity=ok link.card=ok link.round-trip=ok ready==true -- --crl "$pki/ca.crl"
as host1 link.crl=warn link.version=ok
as old link.certificate=fail link.identity='fail|unknown' exit==4
as gone link.identity=fail link.version=unknown exit==4
as stranger link.identity=fail exit==4
as soon link.identity=fail link.exports=unknown exit==4
as host1 link.tls=fail link.identity=unknown exit==4 -- --server elsewhere
chmod 644 "$pki/host1.key"
as host1 link.files=fail exit==4
chmod 600 "$pki/host1.key"
as none link.files=fail exit==3
sees "no certificate" link.files=fail exit==4 -- --connect "$address"
# An authority that is another's
mkdir "$work/other"
pki=$work/other make_ca
as host1 link.tls=fail exit==4 -- --ca "$work/other/ca.crt"
# A list that has expired
openssl ca -config "$pki/ca.cnf" -gencrl -crl_lastupdate 20200101000000Z -crl_nextupdate 20200201000000Z \
	-out "$work/old.crl" 2>/dev/null
as host1 link.crl=fail link.tls=fail exit==4 -- --crl "$work/old.crl"
# From a configuration
mkdir -p "$XDG_CONFIG_HOME/dpumap"
cat >"$XDG_CONFIG_HOME/dpumap/dpumap.conf" <<END
connect = "$address";
tls = { cert = "$pki/host1.crt"; key = "$pki/host1.key"; ca = "$pki/ca.crt"; crl = "$pki/ca.crl"; };
END
sees "configured" config.file=ok link.identity=ok link.card=ok ready==true
echo "colour = 1;" >>"$XDG_CONFIG_HOME/dpumap/dpumap.conf"
sees "configured wrongly" config.file=fail device.open=ok try.copy=ok link.address=unknown exit==4
rm "$XDG_CONFIG_HOME/dpumap/dpumap.conf"
# The DPU's own configuration
on dpu
sed "s|tls:127.0.0.1:0|$address|" "$work/dpumapd.conf" >"$work/real.conf"
sees "the daemon's configuration" config.file=ok link.files=ok link.certificate='ok|warn' link.crl=ok \
	link.connect=ok link.tls=unknown ready==true -- --config "$work/real.conf"
sed "s|dpu1.crt|old.crt|; s|dpu1.key|old.key|" "$work/real.conf" >"$work/old.conf"
sees "its certificate has expired" link.certificate=fail exit==4 -- --config "$work/old.conf"
sed "s|ca.crl|none.crl|" "$work/real.conf" >"$work/none.conf"
sees "its list is not there" link.files=fail link.crl=unknown exit==3 -- --config "$work/none.conf"
echo nonsense >"$work/bad.conf"
sees "its configuration is wrong" config.file=fail device.open=ok -- --config "$work/bad.conf"
sees "there is no configuration" config.file=fail -- --config "$work/no.conf"
on host
stop_agent
as host1 link.connect=fail exit==3
well_again "after TLS"

# Others that listen: of another version, that say nothing, that are no dpumapd
on host
for manner in version silent rubbish close; do
	python3 "$here/doctor-peer.py" "$work/peer" $manner &
	peer=$!
	await test -S "$work/peer"
	sees "a peer: $manner" link.connect=ok link.version=fail link.exports=unknown ready==false -- \
		--connect "$work/peer" --timeout 1
	kill "$peer"
	wait "$peer" 2>/dev/null || true
	rm -f "$work/peer"
done

# The emulator goes while we look: whatever is said, it is said
"${doctor[@]}" --json >"$work/stdout" 2>/dev/null &
pid=$!
dpumap-emu stop >/dev/null
status=0
wait "$pid" || status=$?
[ "$status" -ge 125 ] || tail -n 1 "$work/stdout" | grep -qx '}' || fail "status $status, and no end"

python3 "$here/doctor-json.py" "$work/cases" || failures=$((failures + 1))
finish
