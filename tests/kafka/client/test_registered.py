"""From the znodes of brokers to addresses that a client can use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.registered import Entry, Registered, usable_brokers

# As Apache's 3.9.2 wrote it.
SEEN = (
    b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":'
    b'["PLAINTEXT://127.0.0.1:39092"],"rack":"r1","jmx_port":-1,"port":39092,"host":"127.0.0.1",'
    b'"version":5,"timestamp":"1794725551950"}'
)


def entry(*endpoints: str, protocols: dict[str, str] | None = None, version: int = 5) -> Entry:
    value: dict[str, Any] = {"version": version, "endpoints": list(endpoints)}
    if protocols is not None:
        value["listener_security_protocol_map"] = protocols
    return Entry(json.dumps(value).encode(), 1)


def address_of(one: Entry, listener: str | None = None) -> Address:
    found = usable_brokers({"0": one}, listener)
    assert not found.problems, found.problems
    return found.brokers[0].address


def problem_of(one: Entry, listener: str | None = None) -> str:
    found = usable_brokers({"0": one}, listener)
    assert not found.brokers
    (problem,) = found.problems
    return problem


def test_a_broker_is_where_its_znode_says() -> None:
    found = usable_brokers({"7": Entry(SEEN, 42)})
    assert found.brokers == {7: Registered(Address("127.0.0.1", 39092), 42)}
    assert found.problems == []


def test_old_registrations_are_understood() -> None:
    old = Entry(b'{"version":1,"host":"old","port":9092,"jmx_port":-1}', 1)
    assert address_of(old) == Address("old", 9092)
    assert address_of(entry("PLAINTEXT://a:1", version=2)) == Address("a", 1)


TWO = {"INSIDE": "PLAINTEXT", "CLIENTS": "PLAINTEXT", "OUTSIDE": "SASL_SSL"}


def test_a_listener_is_chosen_by_its_protocol_and_not_by_its_name() -> None:
    one = entry("OUTSIDE://o:1", "INSIDE://[fe80::1]:2", "CLIENTS://c:3", protocols=TWO)
    assert address_of(one) == Address("fe80::1", 2)
    assert address_of(one, "CLIENTS") == Address("c", 3)


def test_the_listener_named_plaintext_goes_first() -> None:
    both = {"INSIDE": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"}
    assert address_of(entry("INSIDE://i:1", "PLAINTEXT://p:2", protocols=both)) == Address("p", 2)


@pytest.mark.parametrize(
    ("one", "listener", "words"),
    [
        (
            entry("OUTSIDE://o:1", protocols=TWO),
            None,
            "no plain text listener among OUTSIDE (SASL_SSL)",
        ),
        (
            entry("INSIDE://i:1", protocols=TWO),
            "CLIENTS",
            "no plain text listener named CLIENTS among",
        ),
        (entry("OUTSIDE://o:1", protocols=TWO), "OUTSIDE", "no plain text listener named OUTSIDE"),
        (entry("INSIDE://:1", protocols=TWO), None, "INSIDE://:1 is no address"),
        (
            entry("OTHER://o:1", protocols=TWO),
            None,
            "the registration of broker 0: KeyError 'OTHER'",
        ),
        (entry("nonsense", protocols=TWO), None, "must be a list of NAME://host:port"),
        (Entry(b"", 1), None, "no JSON"),
        (Entry(b"[1]", 1), None, "no JSON object"),
        (Entry(b"\xff\xfe{", 1), None, "no JSON"),
        (Entry(b'{"version":"five"}', 1), None, "the registration of broker 0: TypeError"),
    ],
)
def test_a_broker_that_cannot_be_used_is_left_out_with_a_reason(
    one: Entry, listener: str | None, words: str
) -> None:
    said = problem_of(one, listener)
    assert said.startswith("/brokers/ids/0: ")
    assert words in said


def test_one_bad_znode_hides_no_other() -> None:
    found = usable_brokers({"1": Entry(SEEN, 5), "2": Entry(b"{", 6), "x": Entry(SEEN, 7)})
    assert list(found.brokers) == [1]
    assert [it.partition(":")[0] for it in found.problems] == ["/brokers/ids/2", "/brokers/ids/x"]
