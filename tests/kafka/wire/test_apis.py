"""The tables are those of a live 3.9.2 broker."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.wire.kinds import DATA, PRODUCT


def rows(name: str) -> Iterator[list[str]]:
    for line in (DATA / name).read_text().splitlines():
        if not line.startswith("#"):
            yield line.split()


def test_the_advertised_apis_are_those_of_a_zookeeper_mode_broker() -> None:
    expected = [
        (int(key), name, int(least), int(greatest), flexible, "C" in flags, "F" in flags)
        for key, name, least, greatest, flexible, flags in rows("advertised-apis.txt")
    ]
    actual = []
    for key, api in APIS.items():
        first_flexible = api.request.__wire__.flexible.first
        is_ever_flexible = api.request.__wire__.flexible.covers(api.versions.last)
        flexible = str(first_flexible) if is_ever_flexible else "-"
        flags = (api.is_cluster_action, api.is_forwardable)
        if api.is_advertised:
            actual.append((key, api.name, *api.versions, flexible, *flags))
    assert actual == expected


def test_every_request_and_response_is_in_the_table_once() -> None:
    tabled = [kind for api in APIS.values() for kind in (api.request, api.response)]
    declared = [kind for kind in PRODUCT.values() if kind.__wire__.api_key is not None]
    assert sorted(kind.__name__ for kind in tabled) == sorted(kind.__name__ for kind in declared)
    assert len(APIS) == 66
    for key, api in APIS.items():
        assert api.request.__wire__.api_key == api.response.__wire__.api_key == key
        assert api.request.__wire__.versions == api.response.__wire__.versions


def test_header_versions_follow_flexibility_with_two_exceptions() -> None:
    produce, shutdown, api_versions = APIS[0], APIS[7], APIS[18]
    assert [produce.request_header_version(v) for v in (8, 9)] == [1, 2]
    assert [produce.response_header_version(v) for v in (8, 9)] == [0, 1]
    assert [shutdown.request_header_version(v) for v in (0, 1, 3)] == [0, 1, 2]
    assert [api_versions.request_header_version(v) for v in (2, 3)] == [1, 2]
    assert [api_versions.response_header_version(v) for v in (0, 4)] == [0, 0]


def test_error_codes_and_what_clients_do_about_them() -> None:
    expected = {
        (int(code), name, retriable == "yes", refresh == "yes")
        for code, name, retriable, refresh in rows("error-codes.txt")
    }
    actual = {(e.value, e.name, e.is_retriable, e.asks_for_metadata) for e in ErrorCode}
    assert actual == expected
