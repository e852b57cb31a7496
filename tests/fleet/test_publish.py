# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A DPU keeps its records in etcd; etcdctl reads them."""

import json
import pathlib
import re

from harness.etcd import wait_until

ROOT = "/dpumap/v1/f"
SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema"


def check_schema(value, kind):
    """The record obeys the published schema: properties, types, enumerations and patterns."""
    schema = json.loads((SCHEMA / f"fleet-{kind}-1.json").read_text(encoding="utf-8"))
    record = json.loads(value)
    assert set(schema["required"]) <= set(record), record
    assert set(record) <= set(schema["properties"]), record
    for name, one in record.items():
        check_value(one, schema["properties"][name], name)
    return record


def check_value(value, rule, name):
    kinds = {"string": str, "integer": int, "array": list, "object": dict}
    if "type" in rule:
        assert isinstance(value, kinds[rule["type"]]), name
    if "const" in rule:
        assert value == rule["const"], name
    if "enum" in rule:
        assert value in rule["enum"], name
    if "pattern" in rule:
        assert re.search(rule["pattern"], value), (name, value)
    for one in value if isinstance(value, list) else ():
        check_value(one, rule.get("items", {}), name)
    for key, one in value.items() if isinstance(value, dict) else ():
        assert re.search(rule["propertyNames"]["pattern"], key), key
        check_value(one, rule["additionalProperties"], name)


def test_records_are_as_the_schema_says(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster).created()
    one.set("bulk,65536,3,gpu=yes,row=7", "small,64,1")
    one.published()
    records = cluster.records()
    assert set(records) == {f"{ROOT}/dpus/dpu1", f"{ROOT}/exports/dpu1/bulk", f"{ROOT}/exports/dpu1/small"}
    assert len({record["lease"] for record in records.values()}) == 1
    assert records[f"{ROOT}/dpus/dpu1"]["lease"] == one.state()["lease"] != 0
    me = check_schema(records[f"{ROOT}/dpus/dpu1"]["value"], "dpu")
    assert me == {
        "format": 1, "addresses": ["tls:127.0.0.1:7470"], "certificate": "dpu1",
        "card": "0x0000000000001234", "software": "1.2.3", "generation": 1,
    }
    bulk = check_schema(records[f"{ROOT}/exports/dpu1/bulk"]["value"], "export")
    assert bulk == {
        "format": 1, "kind": "dram", "size": 65536, "access": ["pci-read-write"], "via": "pci",
        "generation": 3, "labels": {"gpu": "yes", "row": "7"},
    }


def test_a_change_is_one_transaction(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster).created()
    one.set("a,1,1", "b,2,1", "c,3,1")
    one.published()
    before = cluster.revision()
    one.set("a,1,1", "b,9,2", "d,4,1")
    one.published()
    assert cluster.revision() == before + 1
    keys = {key.rpartition("/")[2] for key in cluster.records(f"{ROOT}/exports/")}
    assert keys == {"a", "b", "d"}


def test_many_exports_are_several_transactions(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster).created()
    one.say("many", 1000)
    one.published()
    assert len(cluster.records(f"{ROOT}/exports/dpu1/")) == 1000
    assert one.state()["transactions"] <= 12


def test_lease_is_renewed(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster, ttl=12).created()  # a busy machine may need seconds for a renewal
    one.set("a,1,1")
    one.published()
    lease = one.state()["lease"]
    for _ in range(2):
        wait_until(lambda: cluster.lease(lease)["ttl"] < 10)
        wait_until(lambda: cluster.lease(lease)["ttl"] >= 10)
    assert one.state()["lease"] == lease
    assert cluster.records()[f"{ROOT}/exports/dpu1/a"]["lease"] == lease
    assert one.state()["leases_lost"] == 0


def test_close_revokes_at_once(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster, ttl=600).created()
    one.set("a,1,1")
    one.published()
    one.say("close", 5000)
    one.expect("closed")
    assert cluster.records() == {}


def test_killed_dpu_is_gone_after_its_ttl(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster, ttl=2).created()
    one.set("a,1,1")
    one.published()
    one.kill()
    wait_until(lambda: not cluster.records())


def test_taken_name_is_refused_with_a_clear_line(etcd, publisher):
    cluster = etcd()
    first = publisher(cluster).created()
    first.set("a,1,1", address="tls:10.9.8.7:7470")
    first.published()
    second = publisher(cluster).created()
    second.set("b,2,1")
    assert second.await_phase("name-taken")["published"] == 0
    (line,) = [line for line in second.logged() if "holds the name" in line]
    assert "tls:10.9.8.7:7470" in line and '"dpu1"' in line and "choose another name" in line
    assert set(cluster.records(f"{ROOT}/exports/")) == {f"{ROOT}/exports/dpu1/a"}
    first.say("close", 5000)
    second.published()
    assert set(cluster.records(f"{ROOT}/exports/")) == {f"{ROOT}/exports/dpu1/b"}


def test_lost_lease_publishes_again(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster, ttl=12).created()
    one.set("a,1,1", "b,2,1")
    one.published()
    lease = one.state()["lease"]
    cluster.ctl("lease", "revoke", f"{lease:x}")
    wait_until(lambda: len(cluster.records()) == 3)
    one.published()
    assert one.state()["leases_lost"] == 1 and one.state()["lease"] != lease


def test_deleted_and_foreign_keys_are_put_right(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster, ttl=2).created()
    one.set("a,1,1", "b,2,1")
    one.published()
    good = {key: record["value"] for key, record in cluster.records().items()}
    cluster.ctl("put", f"{ROOT}/exports/dpu1/stranger", "x")
    cluster.ctl("put", f"{ROOT}/exports/dpu1/a", "y")
    cluster.ctl("del", f"{ROOT}/exports/dpu1/b")

    def is_right():
        return {key: record["value"] for key, record in cluster.records().items()} == good

    wait_until(is_right)
    cluster.ctl("del", "--prefix", ROOT)
    wait_until(is_right)
    cluster.ctl("put", f"{ROOT}/dpus/dpu1", "z")  # without a lease: no live DPU wrote it
    wait_until(is_right)


def test_leftovers_of_an_earlier_run_are_removed(etcd, publisher):
    cluster = etcd()
    cluster.ctl("put", f"{ROOT}/exports/dpu1/old", "x")
    cluster.ctl("put", f"{ROOT}/exports/dpu10/other", "x")
    one = publisher(cluster).created()
    one.set("a,1,1")
    one.published()
    wait_until(lambda: f"{ROOT}/exports/dpu1/old" not in cluster.records())
    assert f"{ROOT}/exports/dpu10/other" in cluster.records()


def test_invalid_values_are_refused_and_change_nothing(etcd, publisher):
    cluster = etcd()
    one = publisher(cluster).created()
    one.set("a,1,1")
    one.published()
    for export in ("a/b,1,1", "-a,1,1", "x" * 64 + ",1,1", "a,1,1,nolabel", "a,1,1,k\x07=v", "a,9223372036854775808,1"):
        answer = one.set(export, result="DOCA_ERROR_INVALID_VALUE")
        assert "not valid" in answer["error"]
    for address in ("unix:/tmp/x", "tls:host", "tls:host:0", "tls:a/b:1", "tls:::1:7470"):
        one.set("a,1,1", address=address, result="DOCA_ERROR_INVALID_VALUE")
    assert set(cluster.records()) == {f"{ROOT}/dpus/dpu1", f"{ROOT}/exports/dpu1/a"}


def test_invalid_configuration_is_refused(etcd, publisher):
    for name in ("", "a/b", "..", "x" * 64):
        publisher(["http://127.0.0.1:1"], fleet=name or "''").created("DOCA_ERROR_INVALID_VALUE")
    for url in ("127.0.0.1:2379", "ftp://h:1", "http://h", "http://h:1/path", "http://u:p@h:1", "http://h:65536"):
        assert publisher([url]).expect("created")["result"] == "DOCA_ERROR_INVALID_VALUE"
    publisher(["http://127.0.0.1:1"], ttl=1).created("DOCA_ERROR_INVALID_VALUE")
    publisher(["http://127.0.0.1:1"], ca="/nonexistent.pem").created("DOCA_ERROR_NOT_FOUND")
