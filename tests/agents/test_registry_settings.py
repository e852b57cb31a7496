# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The group "registry" of the configuration: what is wrong with it is said with file and line."""

import os
import pathlib
import re

import pytest

from harness.agents import ABSENT, REFUSED

pytestmark = pytest.mark.local

TLS = '{{ cert = "{0}/dpu.crt"; key = "{0}/dpu.key"; ca = "{0}/ca.crt"; }}'
GROUP = {
    "endpoints": '[ "http://127.0.0.1:2379", "http://[::1]:2379" ]',
    "fleet": '"lab"',
    "name": '"dpu"',
}
URLS = "must be an array of 1 to 16 URLs"
URL = "must contain URLs of the form https://HOST:PORT"
NAME = "must be 1 to 63 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
ADDRESS = "must contain addresses that other machines can reach, tls:HOST:PORT"
SECURE = {"endpoints": '[ "https://etcd1:2379" ]', "tls": '{ ca = "/etc/passwd"; }'}

# What is changed in the group, the setting that the error names, and the rest of the line.
WRONG_VALUES = [
    ({"endpoints": '"http://a:1"'}, "endpoints", URLS),
    ({"endpoints": "[ ]"}, "endpoints", URLS),
    ({"endpoints": "[ 2379 ]"}, "endpoints", URLS),
    ({"endpoints": "[ {} ]".format(", ".join(17 * ['"http://a:1"']))}, "endpoints", URLS),
    ({"endpoints": '[ "etcd1:2379" ]'}, "endpoints", "must contain URLs that begin with https:// or"),
    *(
        ({"endpoints": f'[ "http://{rest}" ]'}, "endpoints", URL)
        for rest in ("a", "a:0", "a:65536", "a:b", ":2379", "a:1/v3", "u:p@a:1", "[::1:1", "[]:1", "a b:1")
    ),
    *(
        ({key: value}, key, NAME)
        for key in ("fleet", "name")
        for value in ('""', '"a/b"', '"../a"', '"-a"', '"a b"', '"' + 64 * "a" + '"', "7")
    ),
    ({"ttl": "1"}, "ttl", "must be a number of seconds from 2 to 3600"),
    ({"ttl": "3601"}, "ttl", "must be a number of seconds from 2 to 3600"),
    ({"ttl": '"10"'}, "ttl", "must be a number of seconds from 2 to 3600"),
    *(
        ({"addresses": f'[ "{text}" ]'}, "addresses", ADDRESS)
        for text in ("unix:/run/a", "tls:*:7470", "tls:a:0", "tls:a b:1", "tls:a/b:1", "a", "")
    ),
    ({"addresses": "[ ]"}, "addresses", "must be an array of 1 to 8 addresses"),
    ({"tls": '"/a"'}, "tls", "must be a group"),
    ({"tls": '{ ca = "a"; }'}, "ca", "must be an absolute path"),
    ({"tls": '{ crl = "/a"; }'}, "crl", "is not one of ca, cert and key"),
    ({"password_file": '"a"'}, "password_file", "must be an absolute path"),
    ({"colour": '"red"'}, "colour", r"is not a setting of registry; see dpumapd.conf\(5\)"),
]
# The same for the group as a whole; None removes the setting.
CONTRADICTIONS = [
    ({"endpoints": None}, "registry must have endpoints, fleet and name"),
    ({"fleet": None}, "registry must have endpoints, fleet and name"),
    ({"name": None}, "registry must have endpoints, fleet and name"),
    ({**SECURE, "tls": '{ ca = "/a"; cert = "/a"; }'}, "registry must have both tls.cert and tls.key"),
    ({**SECURE, "user": '"a"'}, "registry must have both user and password_file"),
    ({"tls": '{ ca = "/a"; }'}, "registry has tls, which needs https:// in each endpoint"),
    ({"user": '"a"', "password_file": '"/a"'}, "registry would send the password in clear"),
    ({**SECURE, "tls": None}, "registry needs tls.ca to verify the endpoints"),
    ({"name": '"other"'}, "registry has the name other, which is not a DNS name of the certificate "),
]


class Checked:
    """A configuration with a registry, which dpumapd checks."""

    def __init__(self, dpu, pki):
        self.dpu, self.pki = dpu, pki
        self.listen, self.tls = '"tls:127.0.0.1:7470"', TLS.format(pki.dir)

    def check(self, changes, group=None):
        """The result, and {setting: its line}."""
        wanted = {**GROUP, **changes}
        lines = [f"listen = [ {self.listen} ];", f"tls = {self.tls};", "registry = {"]
        lines += [f"{key} = {value};" for key, value in wanted.items() if value is not None]
        if group is not None:
            lines[2:] = [f"registry = {group};"]
        else:
            lines += ["};"]
        self.dpu.put({"registry.conf": "\n".join(lines) + "\n"})
        places = {re.split(r"\W", line)[0]: number for number, line in enumerate(lines, 1)}
        done = self.dpu.run(["dpumapd", "--config", f"{self.dpu.dir}/registry.conf", "--check"])
        return done, {**places, "ca": places["tls"], "crl": places["tls"]}


@pytest.fixture
def checked(dpu, openssl_pki):
    return Checked(dpu, openssl_pki)


@pytest.mark.parametrize("number", range(len(WRONG_VALUES)))
def test_wrong_value_is_refused_with_its_line(checked, number):
    changes, setting, what = WRONG_VALUES[number]
    done, lines = checked.check(changes)
    done.fails_with(REFUSED, rf"^dpumapd: .*/registry.conf:{lines[setting]}: {setting} {what}")


@pytest.mark.parametrize("number", range(len(CONTRADICTIONS)))
def test_contradiction_is_refused_with_the_line_of_the_group(checked, number):
    changes, what = CONTRADICTIONS[number]
    done, lines = checked.check(changes)
    done.fails_with(REFUSED, rf"^dpumapd: .*/registry.conf:{lines['registry']}: {what}")


SHARED = {"endpoints", "fleet", "tls", "user", "password_file"}


@pytest.mark.parametrize(
    "changes, setting, what",
    [one for one in WRONG_VALUES if one[0].keys() <= SHARED]
    + [(changes, "registry", what.removeprefix("registry "))
       for changes, what in CONTRADICTIONS
       if changes.keys() <= SHARED and "fleet and name" not in what]
    + [({"endpoints": None}, "registry", "must have endpoints")],
)
def test_dpumap_refuses_what_dpumapd_refuses(host, changes, setting, what):
    """Both have these settings."""
    wanted = {**GROUP, **changes}
    lines = [f"{key} = {value};" for key, value in wanted.items() if value is not None and key != "name"]
    host.put({"dpumap.conf": "\n".join(["registry = {", *lines, "};", ""])})
    places = {line.split(" ")[0]: number for number, line in enumerate(lines, 2)}
    line = {"registry": 1, **places, "ca": places.get("tls"), "crl": places.get("tls")}[setting]
    done = host.run(["dpumap", "fleet", "status", "--config", f"{host.dir}/dpumap.conf"])
    done.fails_with(REFUSED, rf"^dpumap: .*/dpumap.conf:{line}: {setting} {what}")


def test_value_that_is_no_group_is_refused(checked):
    done, lines = checked.check({}, "7")
    done.fails_with(REFUSED, rf"registry.conf:{lines['registry']}: registry must be a group")


def test_registry_needs_a_certificate(checked, dpu):
    """With a shared key, hosts could not tell one DPU from another."""
    dpu.put({"keys": f"one:{32 * '11'}\n"})
    checked.tls = f'{{ psk = "{dpu.dir}/keys"; }}'
    done, lines = checked.check({})
    done.fails_with(REFUSED, rf"registry.conf:{lines['registry']}: registry needs tls with cert, key and ca")


@pytest.mark.parametrize("listen", ['"unix:/run/a"', '"tls:*:7470"', '"tls:127.0.0.1:0"'])
def test_registry_needs_an_address_that_hosts_reach(checked, listen):
    checked.listen = listen
    done, lines = checked.check({})
    done.fails_with(REFUSED, rf"registry.conf:{lines['registry']}: registry needs addresses")


def test_files_that_others_can_use_are_refused(checked, dpu):
    """Others must not read the password and the key, nor write any of the files."""
    dpu.put({"password": "secret\n", "etcd-ca": pathlib.Path(checked.pki.path("ca.crt"))})
    ca = f'{{ ca = "{dpu.dir}/etcd-ca"; }}'
    changes = {**SECURE, "tls": ca, "user": '"a"', "password_file": f'"{dpu.dir}/password"'}
    os.chmod(f"{dpu.dir}/password", 0o640)
    done, lines = checked.check(changes)
    place = rf"registry.conf:{lines['registry']}: registry: "
    done.fails_with(REFUSED, place + ".*/password has mode 0640, which lets others use it")
    assert "secret" not in done.err
    os.chmod(f"{dpu.dir}/password", 0o600)
    os.chmod(f"{dpu.dir}/etcd-ca", 0o666)
    checked.check(changes)[0].fails_with(REFUSED, place + ".*/etcd-ca has mode 0666")
    os.remove(f"{dpu.dir}/etcd-ca")
    checked.check(changes)[0].fails_with(ABSENT, place + ".*/etcd-ca")
