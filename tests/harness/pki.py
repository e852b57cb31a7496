#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""usage: pki.py DIR NAME:PURPOSE[:SAN]...: a certificate authority in DIR, and certificates of it.

PURPOSE is serverAuth or clientAuth; SAN as openssl writes it ("IP:127.0.0.1"). Tests of the
authority of `dpumap pki` itself use that; others use this one, which can also issue what that cannot.
"""

import os
import pathlib
import subprocess
import sys

CONFIG = """\
[ca]
default_ca = here
[here]
database = {dir}/db/index.txt
crlnumber = {dir}/db/crlnumber
serial = {dir}/db/serial
certificate = {dir}/ca.crt
private_key = {dir}/ca.key
default_md = sha256
default_crl_days = 30
policy = any_name
[any_name]
commonName = supplied
"""
DAYS = 90  # longer than what is warned of
PAST = ("20200101", "20200102")
FUTURE = ("20990101", "20990102")
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"openssl {words}: {done.stderr}"
    return done.stdout


class Pki:
    """An authority: ca.crt, ca.key, ca.crl, and NAME.crt and NAME.key of what it issued."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        (self.dir / "db").mkdir(parents=True, mode=0o700)
        self.dir.chmod(0o700)
        for name, text in (("index.txt", ""), ("crlnumber", "1000\n"), ("serial", "1000\n")):
            (self.dir / "db" / name).write_text(text, encoding="utf-8")
        (self.dir / "ca.cnf").write_text(CONFIG.format(dir=self.dir), encoding="utf-8")
        self.self_signed("ca")
        self.make_crl()

    def path(self, name):
        return str(self.dir / name)

    def private(self, name):
        """The key's path, as a file that only its owner reads."""
        path = self.dir / f"{name}.key"
        path.touch(0o600)
        os.chmod(path, 0o600)
        return path

    def make_crl(self, *words):
        openssl("ca", "-config", self.path("ca.cnf"), "-gencrl", "-out", self.path("ca.crl"), *words)

    def issue(self, name, purpose, names="", days=DAYS):
        key, request, crt = self.private(name), self.path(f"{name}.csr"), self.path(f"{name}.crt")
        openssl("req", *NEW_KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        text = f"extendedKeyUsage = {purpose}\n" + (f"subjectAltName = {names}\n" if names else "")
        (self.dir / f"{name}.ext").write_text(text, encoding="utf-8")
        signer = ("-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"), "-days", days)
        extensions = ("-extfile", self.path(f"{name}.ext"))
        openssl("x509", "-req", "-in", request, *signer, *extensions, "-out", crt)

    def sign_for(self, days, name, *words):
        """Signs the request again, for the days (START, END) as openssl writes them, "20200101"."""
        (self.dir / "new").mkdir(exist_ok=True)
        dates = ("-startdate", f"{days[0]}000000Z", "-enddate", f"{days[1]}000000Z")
        files = ("-in", self.path(f"{name}.csr"), "-out", self.path(f"{name}.crt"))
        words = ("-batch", "-outdir", self.path("new"), "-notext", *dates, *files, *words)
        openssl("ca", "-config", self.path("ca.cnf"), "-extfile", self.path(f"{name}.ext"), *words)

    def issue_expired(self, name, purpose, names=""):
        """Valid for one day of the past."""
        self.issue(name, purpose, names)
        self.sign_for(PAST, name)

    def self_sign_expired(self, name):
        """An authority that was valid for one day of the past."""
        self.issue(name, "clientAuth")
        (self.dir / f"{name}.ext").write_text("basicConstraints = CA:TRUE\n", encoding="utf-8")
        self.sign_for(PAST, name, "-selfsign", "-keyfile", self.path(f"{name}.key"))

    def self_signed(self, name, *words):
        """A certificate that only itself vouches for."""
        files = ("-keyout", self.private(name), "-out", self.path(f"{name}.crt"))
        openssl("req", "-x509", *NEW_KEY, "-days", DAYS, "-subj", f"/CN={name}", *words, *files)

    def revoke(self, name):
        openssl("ca", "-config", self.path("ca.cnf"), "-revoke", self.path(f"{name}.crt"))
        self.make_crl()


def main():
    pki = Pki(sys.argv[1])
    for word in sys.argv[2:]:
        pki.issue(*word.split(":", 2))


if __name__ == "__main__":
    main()
