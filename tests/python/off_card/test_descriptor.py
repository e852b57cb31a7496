# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Descriptors are read as every vector says, without the library."""

import pathlib
import pickle
import re

import pytest

from dpumap import Descriptor, DescriptorError

VECTORS = pathlib.Path(__file__).parents[2] / "vectors"
KINDS = {1: "PCI", 2: "RDMA", 3: "umem"}
SOURCES = {1: "memory", 2: "device memory", 3: "dma-buf"}


def vectors():
    for name in ("v1.txt", "desc.txt"):
        for text in (VECTORS / name).read_text(encoding="utf-8").split("\n\n"):
            rows = re.findall(r"^hex: ?(.*)$", text, re.M)
            if rows:
                fields = dict(re.findall(r"^(\w+): (.*)$", text, re.M))
                yield fields, bytes.fromhex("".join(rows))


def test_every_vector_has_its_status_and_fields():
    seen = set()
    for fields, data in vectors():
        descriptor = Descriptor(data)
        seen.add(fields["status"])
        if fields["status"] != "OK":
            with pytest.raises(DescriptorError) as raised:
                descriptor.check()
            assert raised.value.status == fields["status"], fields["title"]
            continue
        assert descriptor.kind == KINDS[int(fields["kind"], 16)], fields["title"]
        assert descriptor.source == SOURCES[int(fields["source"], 16)]
        for name, theirs in (("card_guid", "device_guid"), ("address", "addr"), ("length", "len")):
            assert getattr(descriptor, name) == int(fields[theirs], 16), fields["title"]
        for name in ("vhca_id", "access", "mkey"):
            assert getattr(descriptor, name) == int(fields[name], 16), fields["title"]
    assert len(seen) >= 32


def test_descriptor_is_a_value():
    data = next(data for fields, data in vectors() if fields["status"] == "OK")
    one = Descriptor(data)
    assert one == Descriptor(data) and one != data and hash(one) == hash(Descriptor(data))
    assert bytes(one) == data and len(one) == len(data) and pickle.loads(pickle.dumps(one)) == one
