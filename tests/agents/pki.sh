# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Certificates for tests, in $pki, made with the openssl command.

pki=${work:?where temporary files go}/pki

# make_ca: ca.crt, ca.key, and ca.crl with nothing in it
make_ca()
{
	mkdir -p "$pki/db"
	chmod 700 "$pki" "$pki/db"
	: >"$pki/db/index.txt"
	echo 1000 >"$pki/db/crlnumber"
	echo 1000 >"$pki/db/serial"
	cat >"$pki/ca.cnf" <<-END
		[ca]
		default_ca = here
		[here]
		database = $pki/db/index.txt
		crlnumber = $pki/db/crlnumber
		serial = $pki/db/serial
		certificate = $pki/ca.crt
		private_key = $pki/ca.key
		default_md = sha256
		default_crl_days = 30
		policy = anybody
		[anybody]
		commonName = supplied
	END
	(
		umask 077
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
			-subj /CN=ca -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
	)
	make_crl
}

make_crl() { openssl ca -config "$pki/ca.cnf" -gencrl -out "$pki/ca.crl" 2>/dev/null; }

# issue NAME serverAuth|clientAuth [SAN]
issue()
{
	(
		umask 077
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
			-keyout "$pki/$1.key" -out "$pki/$1.csr" 2>/dev/null
		{
			echo "extendedKeyUsage = $2"
			[ -z "${3-}" ] || echo "subjectAltName = $3"
		} >"$pki/$1.ext"
		openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -days 30 \
			-extfile "$pki/$1.ext" -out "$pki/$1.crt" 2>/dev/null
	)
}

# issue_expired NAME PURPOSE: good for one day of the past
issue_expired()
{
	issue "$1" "$2"
	mkdir -p "$pki/new"
	openssl ca -config "$pki/ca.cnf" -batch -outdir "$pki/new" -notext \
		-startdate 20200101000000Z -enddate 20200102000000Z -extfile "$pki/$1.ext" \
		-in "$pki/$1.csr" -out "$pki/$1.crt" 2>/dev/null
}

# issue_alone NAME: by nobody but itself
issue_alone()
{
	(
		umask 077
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
			-subj "/CN=$1" -addext extendedKeyUsage=clientAuth -keyout "$pki/$1.key" \
			-out "$pki/$1.crt" 2>/dev/null
	)
}

# revoke NAME
revoke()
{
	openssl ca -config "$pki/ca.cnf" -revoke "$pki/$1.crt" 2>/dev/null
	make_crl
}
