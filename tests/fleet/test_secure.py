# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""TLS with etcd, users and roles, and what happens when they are withdrawn."""

import os

import pytest

from harness.etcd import wait_until


def password(place, name, text=None):
    path = place / f"{name}.password"
    path.write_text((text or name) + "\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def files(cluster, name="client"):
    pki = cluster.pki
    return {"ca": pki.path("ca.crt"), "cert": pki.path(f"{name}.crt"), "key": pki.path(f"{name}.key")}


def test_tls_with_client_certificate(etcd, publisher, watcher):
    cluster = etcd(tls=True)
    one = publisher(cluster, **files(cluster)).created()
    one.set("a,1,1")
    one.published()
    seen = watcher(cluster, **files(cluster)).started()
    assert seen.names() == ["dpu1:a"]
    one.set("b,1,1")
    seen.expect("added", export="b")


def test_tls_without_certificate_or_authority_is_refused(etcd, publisher, watcher, place):
    cluster = etcd(tls=True)
    watcher(cluster, ca=cluster.pki.path("ca.crt")).started("DOCA_ERROR_AUTHENTICATION")
    other = etcd(tls=True)
    watcher(cluster, **{**files(cluster), "ca": other.pki.path("ca.crt")}).started("DOCA_ERROR_AUTHENTICATION")
    one = publisher(cluster, ca=cluster.pki.path("ca.crt")).created()
    one.set("a,1,1")
    assert "check ca, cert and key" in one.await_phase("refused")["problem"]
    key = place / "open.key"
    key.write_bytes(open(cluster.pki.path("client.key"), "rb").read())
    key.chmod(0o644)
    watcher(cluster, **{**files(cluster), "key": key}).started("DOCA_ERROR_NOT_PERMITTED")
    bad = place / "bad.pem"
    bad.write_text("nothing\n", encoding="utf-8")
    watcher(cluster, ca=bad).started("DOCA_ERROR_BAD_CONFIG")


def test_roles_let_a_dpu_write_its_own_records_only(etcd, publisher, watcher, place):
    cluster = etcd()
    cluster.enable_auth()
    mine = {"user": "dpu1", "password_file": password(place, "dpu1")}
    one = publisher(cluster, "dpu1", **mine).created()
    one.set("a,1,1")
    one.published()
    thief = publisher(cluster, "dpu2", **mine).created()
    thief.set("a,1,1")
    state = thief.await_phase("refused")
    assert "permission denied" in state["problem"] and "grant the user's role" in state["problem"]
    seen = watcher(cluster, user="host", password_file=password(place, "host")).started()
    assert seen.names() == ["dpu1:a"] and seen.ask("leases")["list"][0]["dpu"] == "dpu1"
    one.set("b,1,1")
    seen.expect("added", export="b")
    watcher(cluster, **mine).started("DOCA_ERROR_NOT_PERMITTED")


def test_wrong_or_missing_user(etcd, publisher, watcher, place):
    cluster = etcd()
    cluster.enable_auth()
    watcher(cluster).started("DOCA_ERROR_AUTHENTICATION")
    wrong = password(place, "host", "wrong")
    watcher(cluster, user="host", password_file=wrong).started("DOCA_ERROR_AUTHENTICATION")
    wrong.chmod(0o644)
    watcher(cluster, user="host", password_file=wrong).started("DOCA_ERROR_NOT_PERMITTED")
    empty = password(place, "empty", "\n")
    watcher(cluster, user="host", password_file=empty).started("DOCA_ERROR_BAD_CONFIG")
    odd = 'quote"backslash\\and%s'
    cluster.ctl("user", "passwd", "host", "--interactive=false", text=odd + "\n")
    watcher(cluster, user="host", password_file=password(place, "odd", odd)).started()


def test_tokens_are_renewed(etcd, publisher, watcher, place):
    cluster = etcd(options=["--auth-token-ttl", "1"])
    cluster.enable_auth()
    one = publisher(cluster, ttl=30, user="dpu1", password_file=password(place, "dpu1")).created()
    one.set("a,1,1")
    one.published()
    seen = watcher(cluster, user="host", password_file=password(place, "host")).started()
    for number in range(3):
        os.system("sleep 2.5")  # longer than a token lives
        one.set(f"t{number},1,1")
        seen.expect("added", export=f"t{number}")
    assert one.state()["leases_lost"] == 0


def test_authentication_withdrawn_and_granted_again(etcd, publisher, watcher, place):
    cluster = etcd()
    cluster.enable_auth()
    one = publisher(cluster, ttl=60, user="dpu1", password_file=password(place, "dpu1")).created()
    one.set("a,1,1")
    one.published()
    seen = watcher(cluster, user="host", password_file=password(place, "host")).started()
    for user in ("dpu1", "host"):
        cluster.ctl("user", "revoke-role", user, user)
    one.set("b,1,1")
    state = one.await_phase("refused")
    assert "permission denied" in state["problem"]
    seen.expect("stale")
    assert "permission denied" in seen.status()["problem"] and seen.names() == ["dpu1:a"]
    for user in ("dpu1", "host"):
        cluster.ctl("user", "grant-role", user, user)
    one.published()
    seen.expect("live")
    wait_until(lambda: seen.names() == ["dpu1:b"])


def test_authentication_switched_on_and_off(etcd, publisher, watcher, place):
    """With a user in the configuration both work."""
    cluster = etcd()
    one = publisher(cluster, ttl=60, user="dpu1", password_file=password(place, "dpu1")).created()
    one.set("a,1,1")
    one.published()
    assert any("does not authenticate users" in line for line in one.logged())
    cluster.enable_auth()
    one.set("b,1,1")
    one.published()
    cluster.disable_auth()
    one.set("c,1,1")
    one.published()
    seen = watcher(cluster, user="host", password_file=password(place, "host")).started()
    assert seen.names() == ["dpu1:c"]


@pytest.mark.parametrize("kind", ("password", "token"))
def test_secrets_are_not_in_the_log(etcd, publisher, place, kind):
    cluster = etcd()
    cluster.enable_auth()
    secret = "s3cret-word"
    cluster.ctl("user", "passwd", "dpu1", "--interactive=false", text=secret + "\n")
    path = password(place, "dpu1", secret if kind == "token" else secret + "x")
    one = publisher(cluster, user="dpu1", password_file=path).created()
    one.set("a,1,1")
    if kind == "token":
        one.published()
    else:
        one.await_phase("refused")
    assert secret not in str(one.seen)
