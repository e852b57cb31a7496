# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""dpumapd serves on whatever happens to its registry, says so, and publishes again afterwards."""

import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import tempfile
import time

import pytest

from harness.agents import REFUSED, expect_no_growth, grows_by_nature
from harness.dumps import find
from harness.machine import PATIENCE, await_true
from harness.pki import FUTURE, Pki
from harness.registry import ALL, FAR, TTL, exports_of, leases_of, start, stop

pytestmark = [pytest.mark.local, pytest.mark.usefixtures("nothing_left")]


# -- faults of etcd


def serves(one, host):
    """Whether dpumapd does all that it does for hosts."""
    data = os.urandom(4096)
    one.tool(host)("write", "bulk", data=data).ok()
    assert one.tool(host)("read", "bulk", "--length", "4096").data == data


def test_etcd_that_is_down_at_start_is_found_later(publish, store, host):
    stop(store)
    one = publish(store).start()
    serves(one, host)
    assert await_true(lambda: one.status()["registry_problem"])
    assert one.status()["registry"] == "connecting" and one.metrics()["dpumapd_registry_published"] == 0
    one.agent.daemon.await_log("^dpumapd: registry: .*127.0.0.1")
    one.agent.ctl("add", "name=meanwhile,kind=dram,size=4K").ok()
    start(store)
    one.await_phase()
    assert one.names(store) == ALL | {"exports/dpu/meanwhile"}


def test_etcd_that_dies_and_returns_has_all_again(publish, store, host):
    """With its data: the lease may have been lost or not."""
    one = publish(store).start().await_phase()
    stop(store)
    one.await_phase("connecting")
    serves(one, host)
    one.agent.ctl("remove", "fast").ok()
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    start(store)
    one.await_phase()
    assert one.names(store) == exports_of("dpu", "bulk", "late")
    assert one.metrics()["dpumapd_registry_published"] == 1


def test_etcd_that_returns_empty_gets_all_again(publish, store):
    one = publish(store).start().await_phase()
    stop(store)
    one.await_phase("connecting")
    store.wipe(0)
    start(store)
    one.await_phase()
    assert one.names(store) == ALL


def test_member_that_hangs_stops_nothing(publish, store, host):
    """Neither the clients nor ctl, which the same thread serves."""
    one = publish(store).start().await_phase()
    store.freeze(0)
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    one.await_phase("connecting")
    serves(one, host)
    store.thaw(0)
    one.await_phase()
    assert await_true(lambda: one.names(store) == ALL | {"exports/dpu/late"})


def test_member_of_three_that_dies_is_replaced_by_another(publish, cluster):
    """One after the other; the lease survives."""
    store = cluster(3)
    one = publish(store).start().await_phase()
    leases = leases_of(store)
    for number in range(3):
        store.kill(number)
        one.agent.ctl("add", f"name=late{number},kind=dram,size=4K").ok()
        assert await_true(lambda name=f"exports/dpu/late{number}": name in one.names(store))
        one.await_phase()
        store.start(number)
        assert await_true(lambda: store.ctl("endpoint", "health", ok=None).returncode == 0)
    assert leases_of(store) == leases
    assert one.status()["registry_failovers"] > 0


def test_cluster_without_quorum_is_reported(publish, cluster, host):
    store = cluster(3)
    one = publish(store).start().await_phase()
    store.kill(0)
    store.kill(1)
    one.await_phase("connecting")
    serves(one, host)
    store.start(0)
    store.start(1)
    one.await_phase()
    assert one.names(store) == ALL


@pytest.mark.parametrize("how", ["lease", "keys"])
def test_what_another_removes_is_published_again(publish, store, how):
    one = publish(store).start().await_phase()
    lease = leases_of(store).pop()
    if how == "lease":
        store.ctl("lease", "revoke", f"{lease:x}")
    else:
        store.ctl("del", "--prefix", "/dpumap/")
    assert await_true(lambda: one.names(store) == ALL, 2 * TTL + 30)
    one.await_phase()
    if how == "lease":
        assert one.status()["registry_leases_lost"] >= 1  # a busy machine may lose the next one, too
        one.agent.daemon.await_log("^dpumapd: registry: .*lease")


# -- the process


def test_dpu_that_slept_longer_than_its_lease_publishes_again(publish, store):
    one = publish(store).start().await_phase()
    one.agent.daemon.signal("STOP")
    assert await_true(lambda: not store.records(), TTL + 30)
    one.agent.daemon.signal("CONT")
    assert await_true(lambda: one.names(store) == ALL)
    one.await_phase()


def test_changes_and_reloads_leave_nothing_behind(publish, store):
    """Neither memory nor file descriptors."""
    one = publish(store).start().await_phase()
    daemon = one.agent.daemon

    def change():
        for _ in range(15):
            one.agent.ctl("add", "name=extra,kind=dram,size=4K,label=a=b").ok()
            one.agent.ctl("remove", "extra").ok()
            one.reload().ok()
        one.await_phase()

    change()
    files = daemon.settled_files()
    expect_no_growth(daemon, change)
    daemon.await_open_files(files)
    assert one.names(store) == ALL and one.status()["registry_leases_lost"] == 0


# -- authentication


USER = """\
	tls = {{ ca = "{pki}/ca.crt"; }};
	user = "{name}";
	password_file = "{dir}/password";
"""
PASSWORD = "correct-horse-battery-staple"


def secured(cluster):
    """etcd with TLS and users; dpu-user may write the records of "dpu" only."""
    store = cluster(tls=True, client_auth=False, options=("--bcrypt-cost", "4"))
    root = "/dpumap/v1/lab/"
    store.ctl("role", "add", "dpu")
    store.ctl("role", "grant-permission", "dpu", "readwrite", f"{root}dpus/dpu")
    store.ctl("role", "grant-permission", "dpu", "readwrite", f"{root}exports/dpu/", "--prefix=true")
    store.ctl("user", "add", f"dpu-user:{PASSWORD}")
    store.ctl("user", "grant-role", "dpu-user", "dpu")
    store.enable_auth()
    return store


def user_settings(one, dpu, store, password=PASSWORD):
    dpu.put({f"{one.name}/password": password + "\n"})
    one.ttl = 20  # a busy machine may need seconds for a login
    one.more = USER.format(pki=store.pki.dir, name="dpu-user", dir=one.place)


def test_user_publishes_with_its_password(publish, cluster, dpu):
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store)
    one.start().await_phase()
    assert one.names(store) == ALL
    one.agent.stop()
    assert not store.records()
    assert PASSWORD not in one.agent.log()


def test_certificate_is_enough_without_users(publish, cluster):
    store = cluster(tls=True)
    one = publish(store)
    files = " ".join(f'{name} = "{store.pki.path(f"client.{end}")}";' for name, end in (("cert", "crt"), ("key", "key")))
    one.more = f'	tls = {{ ca = "{store.pki.path("ca.crt")}"; {files} }};\n'
    one.start().await_phase()
    assert one.names(store) == ALL


def test_certificate_with_a_common_name_is_refused_with_users(publish, cluster, dpu):
    """Which etcd does for each client of its gateway."""
    store = cluster(tls=True)
    store.enable_auth()
    one = publish(store)
    user_settings(one, dpu, store)
    files = (("cert", "crt"), ("key", "key"))
    more = "".join(f'{name} = "{store.pki.path(f"client.{end}")}"; ' for name, end in files)
    one.more = one.more.replace("ca = ", f"{more}ca = ")
    one.start().await_phase("refused")
    assert "no client whose certificate has a common name" in one.status()["registry_problem"]


def test_wrong_password_is_reported_and_corrected_by_a_reload(publish, cluster, dpu, host):
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store, "wrong-password")
    one.start().await_phase("refused")
    serves(one, host)
    assert "wrong-password" not in one.agent.log() + json.dumps(one.status())
    user_settings(one, dpu, store)
    one.reload().ok()
    one.await_phase()
    assert one.names(store) == ALL


def test_permission_that_is_withdrawn_is_reported(publish, cluster, dpu, host):
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store)
    one.start().await_phase()
    store.ctl("user", "revoke-role", "dpu-user", "dpu")
    one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
    one.await_phase("refused")
    serves(one, host)
    store.ctl("user", "grant-role", "dpu-user", "dpu")
    one.await_phase()
    assert await_true(lambda: "exports/dpu/late" in one.names(store))


def test_password_is_left_out_of_dumps(publish, cluster, dpu):
    """As keys are (test_secrets.py)."""
    store = secured(cluster)
    one = publish(store)
    user_settings(one, dpu, store)
    one.start().await_phase()
    if grows_by_nature(one.agent.daemon):
        pytest.skip("the memory of a sanitizer or an emulator of the processor is dumped")
    dumped, _ = find(one.agent.daemon.pid, PASSWORD.encode())
    assert not dumped


def test_server_with_another_certificate_is_refused(publish, cluster, work):
    """Its CA is not the configured one."""
    other = Pki(work / "other")
    store = cluster(tls=True)
    one = publish(store)
    one.more = f'	tls = {{ ca = "{other.path("ca.crt")}"; }};\n'
    one.start().await_phase("refused")
    assert not store.records()


# -- files of the settings, which the library reads


def test_check_refuses_what_start_refuses(publish, store, dpu):
    one = publish(None)
    one.endpoints = ["https://127.0.0.1:1"]
    dpu.put({"dpu/bad-ca": "none\n"})
    one.more = f'	tls = {{ ca = "{one.place}/bad-ca"; }};\n'
    one.write()
    words = ["dpumapd", "--config", f"{one.place}/dpumapd.conf"]
    for more in (["--check"], []):
        err = dpu.run([*words, *more]).fails(REFUSED)
        assert re.search(r"^dpumapd: .*/dpumapd.conf:5: registry: .*bad-ca", err.splitlines()[-1]), err
    one.endpoints, one.more = store.urls, ""
    one.write()
    dpu.run([*words, "--check"]).ok()
    assert not store.records(), "--check has published"


@pytest.fixture(scope="module")
def etcd_pki(tmp_path_factory):
    """Files for etcd, most of which it would reject."""
    pki = Pki(tmp_path_factory.mktemp("etcd") / "pki")
    pki.issue("good", "clientAuth")
    pki.issue_expired("old", "clientAuth")
    pki.issue("early", "clientAuth")
    pki.sign_for(FUTURE, "early")
    pki.issue("server", "serverAuth")
    pki.issue("soon", "clientAuth", days=9)
    pki.self_sign_expired("oldca")
    return pki


def files_for_etcd(pki, name, key=None, ca="ca"):
    files = {"ca": f"{ca}.crt", "cert": f"{name}.crt", "key": f"{key or name}.key"}
    return "tls = { " + " ".join(f'{word} = "{pki.path(file)}";' for word, file in files.items()) + " };\n"


def examined(dpu, one):
    """What "dpumapd doctor" says of them."""
    done = dpu.run(["dpumapd", "doctor", "--config", f"{one.place}/dpumapd.conf", "--json"])
    return next(check for check in json.loads(done.data)["checks"] if check["id"] == "link.registry")


USELESS = {
    "old": "the certificate of old expired on 2020-01-02",
    "early": "the certificate of early is not valid before 2099-01-01",
    "server": "the certificate of server is not for a client of etcd, and every member of etcd rejects it",
    "oldca": "the CA certificate oldca expired on 2020-01-02",
}


def settings_of(pki, name):
    return files_for_etcd(pki, "good", ca="oldca") if name == "oldca" else files_for_etcd(pki, name)


@pytest.mark.parametrize("name", USELESS)
def test_certificate_that_etcd_would_reject_is_reported_everywhere(publish, dpu, etcd_pki, name):
    """Start and --check warn; a reload refuses it, unless it is in use."""
    one, why = publish(None), USELESS[name]
    one.endpoints, one.more = ["https://127.0.0.1:1"], settings_of(etcd_pki, name)
    one.write()
    line = f"registry: etcd cannot be reached over TLS: {why}"
    done = dpu.run(["dpumapd", "--config", f"{one.place}/dpumapd.conf", "--check"])
    assert done.status == 0 and line in done.err
    found = examined(dpu, one)
    assert found["state"] == "fail" and found["text"].startswith(why) and found["advice"]
    one.start()
    assert one.agent.log().count(line) == 1
    assert one.status()["registry_credentials_problem"].startswith(why)
    one.exports.append(FAR)
    one.reload().ok()
    one.more = files_for_etcd(etcd_pki, "good")
    one.reload().ok()
    assert "registry_credentials_problem" not in one.status() and examined(dpu, one)["state"] == "ok"
    one.more = settings_of(etcd_pki, name)
    one.reload().fails_with(REFUSED, f"registry: etcd could not be reached over TLS: {why}")


def test_certificate_for_etcd_that_expires_soon_is_reported(publish, dpu, etcd_pki):
    one, why = publish(None), "the certificate of soon expires in "
    one.endpoints, one.more = ["https://127.0.0.1:1"], files_for_etcd(etcd_pki, "good")
    one.start()
    assert "registry_credentials_problem" not in one.status()
    one.more = files_for_etcd(etcd_pki, "soon")
    one.reload().ok()
    assert one.agent.log().count(f"registry: {why}") == 1
    assert one.status()["registry_credentials_problem"].startswith(why)
    assert examined(dpu, one)["state"] == "warn"
    end, other = (one.metrics()[f"dpumapd_registry_{name}_end_seconds"] for name in ("certificate", "authority"))
    assert time.time() < end < other


def test_key_that_does_not_match_the_certificate_for_etcd_is_refused(publish, dpu, etcd_pki):
    one = publish(None)
    one.endpoints, one.more = ["https://127.0.0.1:1"], files_for_etcd(etcd_pki, "good", key="old")
    one.write()
    dpu.run(["dpumapd", "--config", f"{one.place}/dpumapd.conf", "--check"]).fails_with(
        REFUSED, "registry: .*old.key: key values mismatch"
    )
    assert examined(dpu, one)["state"] == "fail"


@pytest.mark.skipif(os.getuid() != 0, reason="only root starts a service as another user")
def test_root_checks_secrets_of_the_user_of_the_service(publish, cluster, dpu):
    store = cluster(tls=True)
    one = publish(store)
    nobody = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(prefix="dpumap-agents.", dir="/tmp") as place:
        for path in ("dpu.crt", "dpu.key", "ca.crt"):
            shutil.copy(one.pki.path(path), place)
        for path, name in (("ca.crt", "etcd-ca.crt"), ("client.crt", "etcd.crt"), ("client.key", "etcd.key")):
            shutil.copy(store.pki.path(path), f"{place}/{name}")
        pathlib.Path(place, "password").write_text("x\n", encoding="utf-8")
        files = f'ca = "{place}/etcd-ca.crt"; cert = "{place}/etcd.crt"; key = "{place}/etcd.key";'
        one.more = f'	tls = {{ {files} }}; user = "a"; password_file = "{place}/password";\n'
        one.exports = []
        one.write()
        text = pathlib.Path(one.place, "dpumapd.conf").read_text(encoding="utf-8")
        config = pathlib.Path(place, "dpumapd.conf")
        config.write_text(text.replace(f"{one.pki.dir}/", f"{place}/"), encoding="utf-8")
        for path in (place, *pathlib.Path(place).iterdir()):
            os.chmod(path, 0o755)
        for name in ("dpu.key", "etcd.key", "password"):
            os.chmod(f"{place}/{name}", 0o600)
        for name in ("etcd.key", "password"):
            os.chown(f"{place}/{name}", nobody.pw_uid, nobody.pw_gid)
        words = ["dpumapd", "--config", str(config), "--check"]
        dpu.run(words).fails_with(REFUSED, "etcd.key belongs to user")
        with open(config, "a", encoding="utf-8") as file:
            file.write('user = "nobody";\n')
        dpu.run(words).fails_with(REFUSED, "cannot read .*dpu.key: use chown")
        os.chown(f"{place}/dpu.key", nobody.pw_uid, nobody.pw_gid)
        dpu.run(words).ok()


# -- the service manager


def test_service_manager_is_told_the_state(publish, store, work):
    place = str(work / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(place)
        s.settimeout(PATIENCE)

        def told(pattern):
            while True:
                if re.search(pattern, s.recv(4096).decode(), re.M):
                    return

        one = publish(store).start(env={"NOTIFY_SOCKET": place})
        told("^STATUS=.*; published as dpu in fleet lab$")
        stop(store)
        told(r"^STATUS=.*; not published in fleet lab \(connecting\): .")
        start(store)
        told("^STATUS=.*; published as dpu in fleet lab$")
        one.agent.stop()


def test_watchdog_is_fed_while_etcd_hangs(publish, store, work):
    """Each second, as the service manager asks for, until the end of a request that hangs."""
    place = str(work / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(place)
        s.settimeout(PATIENCE)
        environment = {"NOTIFY_SOCKET": place, "WATCHDOG_USEC": "2000000"}
        one = publish(store).start(env=environment)
        one.await_phase()
        store.freeze(0)
        one.agent.ctl("add", "name=late,kind=dram,size=4K").ok()
        while s.recv(4096) and one.status()["registry"] != "connecting":
            pass
        fed = 0
        while fed < 3:
            fed += b"WATCHDOG=1" in s.recv(4096)
        store.thaw(0)
        one.await_phase()
