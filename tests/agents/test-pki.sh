#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The authority of dpumap pki: what openssl thinks of it, and dpumapd and dpumap with it.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
for program in openssl python3; do
	command -v "$program" >/dev/null || { echo "$program is needed"; exit 77; }
done

export HOME=$work/home
dir=$HOME/.config/dpumap/pki
admin=$work/admin
mkdir -m 700 "$HOME"

# states: NAME:ROLE:STATE of all certificates
states()
{
	dpumap pki list --json | python3 -c '
import json, sys
print(" ".join("%(name)s:%(role)s:%(state)s" % c for c in json.load(sys.stdin)["certificates"]))'
}

# purpose NAME PURPOSE: does openssl, looking at the list, take the certificate for that?
purpose()
{
	openssl verify -x509_strict -crl_check -CAfile "$dir/ca.crt" -CRLfile "$dir/ca.crl" \
		-purpose "$2" "$dir/$1.crt" >/dev/null 2>&1
}

mode() { stat -c %a "$1"; }

# -- an authority
expect 3 "cannot open $dir: No such file" dpumap pki list
dpumap pki init >"$work/said" || fail "pki init"
grep -q "ca.key makes certificates: it stays here" "$work/said" || fail "init: $(cat "$work/said")"
[ "$(mode "$dir") $(mode "$dir/ca.key")" = "700 600" ] || fail "modes: $(ls -la "$dir")"
expect 4 "exists, and is not overwritten" dpumap pki init
openssl x509 -in "$dir/ca.crt" -noout -checkend $((3640 * 86400)) >/dev/null || fail "not 10 years"
openssl x509 -in "$dir/ca.crt" -noout -checkend $((3660 * 86400)) >/dev/null && fail "more than 10 years"
openssl verify -CAfile "$dir/ca.crt" "$dir/ca.crt" >/dev/null || fail "the authority's certificate"
openssl x509 -in "$dir/ca.crt" -noout -text >"$work/text"
grep -q 'CA:TRUE, pathlen:0' "$work/text" || fail "the authority may make authorities"
[ "$(openssl crl -in "$dir/ca.crl" -noout -crlnumber)" = crlNumber=0x01 ] || fail "the first list"

# -- certificates
dpumap pki issue --dpu dpu1 --san 127.0.0.1 --san dpu.example --san ::1 >/dev/null || fail "issue --dpu"
dpumap pki issue --host web >"$work/said" || fail "issue --host"
grep -q 'exports allow it as cert:web' "$work/said" || fail "issue: $(cat "$work/said")"
dpumap pki issue --host db --key-type ed25519 --days 2 >/dev/null || fail "issue of an Ed25519 key"
purpose dpu1 sslserver || fail "dpu1 is no server"
! purpose dpu1 sslclient || fail "dpu1 is a client"
purpose web sslclient || fail "web is no client"
! purpose web sslserver || fail "web is a server"
purpose db sslclient || fail "db is no client"
openssl x509 -in "$dir/dpu1.crt" -noout -ext subjectAltName |
	grep -q 'DNS:dpu1, IP Address:127.0.0.1, DNS:dpu.example, IP Address:0:0:0:0:0:0:0:1' ||
	fail "names: $(openssl x509 -in "$dir/dpu1.crt" -noout -ext subjectAltName)"
grep -q 'ASN1 OID: prime256v1' <(openssl pkey -in "$dir/web.key" -noout -text) || fail "not P-256"
grep -q 'ED25519' <(openssl pkey -in "$dir/db.key" -noout -text) || fail "not Ed25519"
openssl x509 -in "$dir/web.crt" -noout -checkend $((364 * 86400)) >/dev/null || fail "not a year"
openssl x509 -in "$dir/db.crt" -noout -checkend $((3 * 86400)) >/dev/null && fail "more than 2 days"
dpumap pki issue --host late --days 30000 >/dev/null || fail "issue for longer than the authority"
[ "$(openssl x509 -in "$dir/late.crt" -noout -enddate)" = "$(openssl x509 -in "$dir/ca.crt" -noout -enddate)" ] ||
	fail "a certificate that outlives the authority"
for name in dpu1 web db; do
	[ "$(mode "$dir/$name.key")" = 600 ] || fail "$name.key: mode $(mode "$dir/$name.key")"
done
before=$(sha256sum "$dir"/web.*)
expect 4 "web.key exists, and is not overwritten" dpumap pki issue --host web
[ "$(sha256sum "$dir"/web.*)" = "$before" ] || fail "a refused issue changed something"
rm "$dir/late.key"
expect 4 "late.crt exists, and is not overwritten" dpumap pki issue --host late
[ ! -e "$dir/late.key" ] || fail "a refused issue left a key"
rm "$dir/late.crt"
[ "$(states)" = "db:host:valid dpu1:dpu:valid web:host:valid" ] || fail "states: $(states)"

# -- at work
start_emulator --cards 1
cat >"$work/dpumapd.conf" <<END
listen = [ "tls:127.0.0.1:0", "unix:$socket" ];
tls = { cert = "$dir/dpu1.crt"; key = "$dir/dpu1.key"; ca = "$dir/ca.crt"; crl = "$dir/ca.crl"; };
admin = "$admin";
exports = ( { name = "web"; kind = "dram"; size = "64K"; allow = [ "cert:web" ]; },
	{ name = "both"; kind = "dram"; size = "64K"; allow = [ "cert:web", "cert:db" ]; } );
END
dpumap-emu run --as dpu -- dpumapd --config "$work/dpumapd.conf" >"$work/ready" 2>"$log" &
agent=$!
await grep -q '^dpumapd: ready on ' "$work/ready"
port=$(sed -n 's/^dpumapd: ready on tls:127\.0\.0\.1://p' "$work/ready")

# conf_of NAME: the client's configuration
conf_of()
{
	cat >"$HOME/.config/dpumap/dpumap.conf" <<-END
		connect = "tls:127.0.0.1:$port";
		tls = { cert = "$dir/$1.crt"; key = "$dir/$1.key"; ca = "$dir/ca.crt"; crl = "$dir/ca.crl"; };
	END
}

tool() { timeout -k 5 60 dpumap-emu run --as host -- dpumap "$@"; }
head -c 60000 /dev/urandom >"$work/in"
conf_of web
tool write web "$work/in" >/dev/null || fail "write with a certificate of pki"
tool read web --length 60000 | cmp - "$work/in" || fail "read with a certificate of pki"
conf_of db
[ "$(tool list | tail -n +2 | cut -d ' ' -f 1)" = both ] || fail "db's list: $(tool list)"
expect 4 'cert:db may not import export web' tool read web
expect 4 'not accepted: .*host' tool list --connect "tls:localhost:$port"
tool list --connect "tls:localhost:$port" --server dpu1 >/dev/null || fail "--server"
conf_of dpu1
expect 4 'certificate|TLS' tool list
conf_of web
chmod 640 "$dir/web.key"
expect 4 'web.key has mode 0640, which lets others use it' tool list
chmod 600 "$dir/web.key"
expect 4 'needs a certificate|needs a certificate or' tool list --psk-name x

# -- a certificate that is revoked
cp "$dir/web.crt" "$dir/web.key" "$work"
dpumap pki revoke web >"$work/said" || fail "pki revoke"
grep -q 'ca.crl is new, good until' "$work/said" || fail "revoke: $(cat "$work/said")"
[ "$(states)" = "db:host:valid dpu1:dpu:valid web:host:revoked" ] || fail "states: $(states)"
[ -z "$(find "$dir" -maxdepth 1 -name 'web.*')" ] || fail "revoke left the files where they were"
[ "$(openssl crl -in "$dir/ca.crl" -noout -crlnumber)" = crlNumber=0x02 ] || fail "the second list"
dpumapd ctl --admin "$admin" reload || fail "reload"
expect 4 'revoked' tool list --cert "$work/web.crt" --key "$work/web.key" --ca "$dir/ca.crt"
dpumap pki issue --host web >/dev/null || fail "issue again"
purpose web sslclient || fail "the second certificate of a name"
tool read web --length 60000 | cmp - "$work/in" || fail "the second certificate of a name is refused"
dpumap pki renew >/dev/null || fail "pki renew"
[ "$(openssl crl -in "$dir/ca.crl" -noout -text | grep -c 'Serial Number:')" -eq 1 ] ||
	fail "renew forgets who is revoked"
cp "$dir/web.crt" "$work/second.crt"
dpumap pki revoke web >/dev/null || fail "the second revocation"
[ "$(openssl crl -in "$dir/ca.crl" -noout -text | grep -c 'Serial Number:')" -eq 2 ] ||
	fail "the second revocation makes the first undone"
[ "$(openssl crl -in "$dir/ca.crl" -noout -crlnumber)" = crlNumber=0x04 ] || fail "the fourth list"
[ "$(states)" = "db:host:valid dpu1:dpu:valid web:host:revoked web:host:revoked" ] ||
	fail "states: $(states)"
expect 3 "cannot open $dir/web.crt" dpumap pki revoke web
expect 4 'a name is 1 to 63 of' dpumap pki revoke ../pki/db
expect 4 "the name ca is the authority's" dpumap pki revoke ca

# -- directories and files that are not as they should be
dpumap pki init --dir "$work/other" --key-type ed25519 >/dev/null || fail "another authority"
dpumap pki issue --dir "$work/other" --dpu dpu2 --key-type ed25519 >/dev/null || fail "issue by it"
dir=$work/other purpose dpu2 sslserver || fail "dpu2 of an authority with an Ed25519 key"
cp "$dir/db.crt" "$work/other/"
expect 4 'the certificate of db is not from this authority' dpumap pki revoke db --dir "$work/other"
[ "$(openssl crl -in "$work/other/ca.crl" -noout -crlnumber)" = crlNumber=0x01 ] || fail "a list was made"
cp "$dir/ca.crl" "$work/other/ca.crl"
expect 4 'ca.crl is not signed by the authority' dpumap pki renew --dir "$work/other"
cp "$dir/ca.key" "$work/other/ca.key"
expect 4 "ca.key is not the key of the authority's certificate" dpumap pki renew --dir "$work/other"
chmod 644 "$work/other/ca.key"
expect 4 'ca.key has mode 0644' dpumap pki renew --dir "$work/other"
chmod 750 "$work/other"
expect 4 "has mode 0750: an authority's directory is for its owner alone" dpumap pki list --dir "$work/other"
# has KEY COMMAND...: is what it says JSON with that key?
has()
{
	local key=$1
	shift
	"$@" --json | python3 -c 'import json,sys; json.load(sys.stdin)[sys.argv[1]]' "$key" ||
		fail "$*: no JSON with $key"
}
has list_ends dpumap pki init --dir "$work/json"
has serial dpumap pki issue --dir "$work/json" --host a
has list dpumap pki revoke --dir "$work/json" a
has list_ends dpumap pki renew --dir "$work/json"
mkdir -m 700 "$work/third"
: >"$work/third/ca.crl"
expect 4 'ca.crl exists, and is not overwritten' dpumap pki init --dir "$work/third"
[ "$(ls "$work/third")" = ca.crl ] || fail "a refused init left $(ls "$work/third")"
# -- a key that both have instead
stop_agent
(umask 077 && printf 'one:%s\ntwo:%s\n' "$(openssl rand -hex 32)" "$(openssl rand -hex 32)" >"$work/psk")
(umask 077 && sed -n 's/^two:/one:/p' "$work/psk" >"$work/wrong")
cat >"$work/dpumapd.conf" <<END
listen = [ "unix:$socket", "tls:127.0.0.1:$port" ];
tls = { psk = "$work/psk"; };
exports = ( { name = "two"; kind = "dram"; size = "64K"; allow = [ "psk:two" ]; },
	{ name = "both"; kind = "dram"; size = "64K"; allow = [ "psk:one", "psk:two" ]; } );
END
dpumap-emu run --as dpu -- dpumapd --config "$work/dpumapd.conf" >"$work/ready" 2>"$log" &
agent=$!
await grep -q '^dpumapd: ready on ' "$work/ready"
printf 'connect = "tls:127.0.0.1:%s";\ntls = { psk = "%s"; psk_name = "two"; };\n' "$port" "$work/psk" \
	>"$HOME/.config/dpumap/dpumap.conf"
[ "$(tool list | tail -n +2 | cut -d ' ' -f 1 | xargs)" = "both two" ] || fail "a shared key"
tool cp "$work/in" :two >/dev/null || fail "cp with a shared key"
tool cp :two - --length 60000 | cmp - "$work/in" || fail "cp back with a shared key"
[ "$(tool list --psk "$work/psk" | tail -n +2 | cut -d ' ' -f 1)" = both ] || fail "the first key"
expect 4 'TLS' tool list --psk "$work/wrong"
expect 4 'certificates or shared keys, not both' tool list --psk "$work/psk" --ca "$dir/ca.crt"
timeout 30 dpumap watch --json >"$work/heard" 2>"$work/stderr" &
watcher=$!
await grep -q watching "$work/heard"
kill -HUP -- "-$watcher"
status=0
wait "$watcher" || status=$?
[ "$status" -gt 128 ] || fail "watch is not ended by SIGHUP, but with $status"

# -- an export that others may use from now on: those who hold it are told
timeout 60 dpumap-emu run --as host -- dpumap import --hold both >"$work/held" 2>"$work/stderr" &
holder=$!
await grep -q imported "$work/held"
sed -i 's/"psk:one", "psk:two"/"psk:two"/' "$work/dpumapd.conf"
kill -HUP -- "-$agent"
status=0
wait "$holder" || status=$?
[ "$status" -eq 4 ] || fail "import --hold of what changed ends with $status"
grep -q 'export both was changed' "$work/stderr" || fail "import --hold says $(cat "$work/stderr")"

# -- many at once, of which none gets lost
jobs=()
for i in 1 2 3 4 5 6 7 8; do
	dpumap pki issue --host "host$i" >/dev/null && dpumap pki revoke "host$i" >/dev/null &
	jobs+=($!)
done
for job in "${jobs[@]}"; do
	wait "$job" || fail "one of many at once"
done
[ "$(openssl crl -in "$dir/ca.crl" -noout -text | grep -c 'Serial Number:')" -eq 10 ] ||
	fail "a revocation got lost among others"

mkdir "$work/open"
chmod 777 "$work/open"
expect 4 "open has mode 0777, which lets others replace" dpumap pki init --dir "$work/open/pki"
[ -z "$(ls "$work/open/pki")" ] || fail "an init where others can write left $(ls "$work/open/pki")"

stop_agent
finish
