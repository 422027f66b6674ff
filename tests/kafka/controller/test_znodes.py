"""What is in znodes: what Apache's brokers wrote is read, and what we write they can read."""

from __future__ import annotations

import json
from random import Random

import pytest

from odradek.kafka.controller import paths
from odradek.kafka.controller.config_nodes import (
    read_change,
    read_config,
    write_change,
    write_config,
)
from odradek.kafka.controller.image import Assignment
from odradek.kafka.controller.registration import (
    Registration,
    read_registration,
    write_registration,
)
from odradek.kafka.controller.znodes import (
    BadZnode,
    id_bytes,
    id_text,
    new_id,
    read_cluster_id,
    read_controller,
    read_features,
    read_log_dir_event,
    read_partitions,
    read_reassignments,
    read_state,
    read_topic,
    write_features,
    write_log_dir_event,
    write_partitions,
    write_reassignments,
    write_state,
    write_topic,
)
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.storage.names import TopicPartition
from tests.kafka.controller.images import state

# As a 3.9.2 broker wrote them.
BROKER = (
    b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
    b'"endpoints":["PLAINTEXT://127.0.0.1:39092"],"rack":"r1","jmx_port":-1,"port":39092,'
    b'"host":"127.0.0.1","version":5,"timestamp":"1794725551950"}'
)
CONTROLLER = b'{"version":2,"brokerid":7,"timestamp":"1794725552029","kraftControllerEpoch":-1}'
TOPIC = (
    b'{"partitions":{"0":[7],"1":[7]},"topic_id":"gw6UraX3R1SdjGyumuqWFw",'
    b'"adding_replicas":{},"removing_replicas":{},"version":3}'
)
STATE = b'{"controller_epoch":1,"leader":7,"version":1,"leader_epoch":0,"isr":[7]}'
FEATURE = b'{"features":{},"version":2,"status":1}'


def test_a_registration_of_apaches_is_read_and_written_the_same() -> None:
    endpoint = Endpoint("PLAINTEXT", "127.0.0.1", 39092, SecurityProtocol.PLAINTEXT)
    read = read_registration(7, BROKER)
    assert read == Registration(7, (endpoint,), "r1")
    assert json.loads(write_registration(read, 1794725551950)) == json.loads(BROKER)


@pytest.mark.parametrize(
    "text",
    [
        '{"version":1,"host":"h","port":9092}',
        '{"version":2,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"]}',
        '{"version":3,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],"rack":null}',
        '{"version":4,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],'
        '"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"}}',
    ],
)
def test_registrations_of_all_versions_are_understood(text: str) -> None:
    read = read_registration(7, text.encode())
    assert read.endpoints == (Endpoint("PLAINTEXT", "h", 9092, SecurityProtocol.PLAINTEXT),)
    assert read.rack is None


def test_a_listener_is_not_what_it_is_called() -> None:
    endpoints = (
        Endpoint("BROKERS", "::1", 1, SecurityProtocol.SSL),
        Endpoint("CLIENTS", "h", 2, SecurityProtocol.SASL_SSL),
    )
    registration = Registration(7, endpoints, features={"f": (1, 3)})
    data = write_registration(registration, 0)
    value = json.loads(data)
    assert (value["host"], value["port"]) == (None, -1)
    assert value["endpoints"] == ["BROKERS://[::1]:1", "CLIENTS://h:2"]
    assert value["features"] == {"f": {"min_version": 1, "max_version": 3}}
    assert read_registration(7, data) == registration
    assert registration.endpoint("CLIENTS") == endpoints[1]
    assert registration.endpoint("OTHERS") is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version":0}', '{"version":5}', '{"version":5,"endpoints":["nonsense"]}'],
)
def test_a_registration_that_makes_no_sense_is_told(text: str) -> None:
    with pytest.raises(BadZnode):
        read_registration(7, text.encode())


def test_the_controller_is_named_by_old_and_new_nodes() -> None:
    assert read_controller(CONTROLLER) == 7
    assert read_controller(b'{"version":1,"brokerid":3,"timestamp":"1"}') == 3


def test_the_cluster_has_its_id_as_text() -> None:
    data = b'{"version":"1","id":"crM9bSj6S7C5gioPTUvu_g"}'
    assert read_cluster_id(data) == "crM9bSj6S7C5gioPTUvu_g"


def test_a_topic_of_apaches_is_read_and_written_the_same() -> None:
    node = read_topic(TOPIC)
    assert node.partitions == {0: Assignment((7,)), 1: Assignment((7,))}
    assert node.topic_id is not None and id_text(node.topic_id) == "gw6UraX3R1SdjGyumuqWFw"
    assert json.loads(write_topic(node.topic_id, node.partitions)) == json.loads(TOPIC)


def test_topics_of_all_versions_are_understood() -> None:
    first = read_topic(b'{"version":1,"partitions":{"0":[1,2]}}')
    assert first == (None, {0: Assignment((1, 2))})
    second = read_topic(
        b'{"version":2,"partitions":{"0":[3,1,2]},"adding_replicas":{"0":[3]},'
        b'"removing_replicas":{"0":[2]}}'
    )
    partitions = {0: Assignment((3, 1, 2), (3,), (2,))}
    assert second == (None, partitions)
    assert read_topic(write_topic(None, partitions)) == second


def test_a_state_of_apaches_is_read_and_written_the_same() -> None:
    read = read_state(STATE, 4)
    assert read == state(7, [7], leader_epoch=0, version=4, controller_epoch=1)
    assert json.loads(write_state(read)) == json.loads(STATE)


def test_a_leader_that_recovers_says_so() -> None:
    recovering = state(1, [1], recovery=1)
    assert json.loads(write_state(recovering))["leader_recovery_state"] == 1
    assert read_state(write_state(recovering), 7) == recovering


def test_features_are_written_as_the_protocol_wants_them() -> None:
    assert json.loads(write_features({}, version=2, status=1)) == json.loads(FEATURE)
    assert read_features(FEATURE) == (2, 1, {})
    for version in (1, 2):
        data = write_features({"f": 3}, version=version, status=1)
        assert read_features(data) == (version, 1, {"f": 3})


def test_lists_of_partitions_are_told_in_one_form() -> None:
    listed = [TopicPartition("t", 0), TopicPartition("u", 3)]
    data = write_partitions(listed)
    assert json.loads(data) == {
        "version": 1,
        "partitions": [{"topic": "t", "partition": 0}, {"topic": "u", "partition": 3}],
    }
    assert read_partitions(data) == listed
    moves = {TopicPartition("t", 0): (1, 2)}
    assert read_reassignments(write_reassignments(moves)) == moves


def test_an_event_of_a_disk_names_its_broker() -> None:
    assert json.loads(write_log_dir_event(7)) == {"version": 1, "broker": 7, "event": 1}
    assert read_log_dir_event(write_log_dir_event(7)) == 7


def test_configs_and_their_notifications() -> None:
    assert read_config(b'{"version":1,"config":{"retention.ms":"12345"}}') == {
        "retention.ms": "12345"
    }
    assert read_config(b"") == {}
    assert read_config(write_config({"a": "b"})) == {"a": "b"}
    assert read_change(write_change("ips/10.0.0.1")) == "ips/10.0.0.1"
    assert read_change(b'{"version":2,"entity_path":"users/u%201/clients/<default>"}') == (
        "users/u%201/clients/<default>"
    )
    old = b'{"version":1,"entity_type":"clients","entity_name":"x"}'
    assert read_change(old) == "clients/x"
    for bad in (b"", b"{}", b'{"version":1,"entity_type":"users","entity_name":"x"}'):
        with pytest.raises(BadZnode):
            read_change(bad)


def test_the_number_of_a_sequential_node_is_read() -> None:
    assert paths.sequence_number("config_change_0000000012", "config_change_") == 12
    assert paths.sequence_number("another_0000000012", "config_change_") == -1
    assert paths.sequence_number("config_change_x", "config_change_") == -1


def test_ids_are_random_but_never_one_with_a_meaning() -> None:
    draws = iter([b"\xf8" + bytes(15), bytes(range(16))])
    # The first begins with a dash as text.
    assert id_text(b"\xf8" + bytes(15)).startswith("-")
    found = new_id(lambda _: next(draws))
    assert found[0] == 0 and found[6] >> 4 == 4 and found[8] >> 6 == 2
    random = Random(1)
    made = {new_id(random.randbytes) for _ in range(100)}
    assert len(made) == 100
    assert all(id_bytes(id_text(it)) == it for it in made)
    with pytest.raises(ValueError):
        id_bytes("short")
