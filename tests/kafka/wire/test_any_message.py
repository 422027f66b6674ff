"""Any value of any message and version encodes and decodes to itself; kio agrees."""

from __future__ import annotations

import importlib
import io
import pkgutil
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.serial import entity_reader, entity_writer

from odradek.kafka.wire.codec import encode, read
from odradek.kafka.wire.schema import Message
from tests.kafka.wire.kinds import PRODUCT, all_versions, versions_of
from tests.kafka.wire.values import any_value

FEW = settings(
    max_examples=5,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def name_of(parameter: Any) -> str:
    return getattr(parameter, "__name__", str(parameter))


@pytest.mark.parametrize(("kind", "version"), all_versions(), ids=name_of)
@FEW
@given(data=st.data())
def test_any_value_encodes_and_decodes_to_itself(
    kind: type[Message], version: int, data: st.DataObject
) -> None:
    message = data.draw(any_value(kind, version))
    written = b"".join(encode(message, version))
    assert read(kind, version, written, 0) == (message, len(written))


def kio_kind(kind: type[Message], version: int) -> Any:
    """The same message in kio, or None where kio has no such message or version."""
    api = kind.__module__.rpartition(".")[2]
    own = re.sub(r"(?<!^)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
    for package in (api, own):
        try:
            found = importlib.import_module(f"kio.schema.{package}.v{version}")
        except ModuleNotFoundError:
            continue
        for part in pkgutil.iter_modules(found.__path__):
            module = importlib.import_module(f"{found.__name__}.{part.name}")
            if hasattr(module, kind.__name__):
                return getattr(module, kind.__name__)
    return None


KNOWN_TO_BOTH = [
    (kind, version)
    for kind in PRODUCT.values()
    for version in versions_of(kind)
    if kio_kind(kind, version) is not None
]


@pytest.mark.parametrize(("kind", "version"), KNOWN_TO_BOTH, ids=name_of)
@FEW
@given(data=st.data())
def test_kio_reads_what_we_write_and_writes_the_same(
    kind: type[Message], version: int, data: st.DataObject
) -> None:
    # kio turns some numbers into errors, times and durations, and knows small ones of each.
    message = data.draw(any_value(kind, version, integers_max=50))
    written = b"".join(encode(message, version))
    theirs = kio_kind(kind, version)
    value, size = entity_reader(theirs)(written, 0)
    assert size == len(written)
    buffer = io.BytesIO()
    entity_writer(theirs)(buffer, value)
    assert buffer.getvalue() == written


def test_kio_knows_most_of_what_clients_send_and_some_of_what_is_stored() -> None:
    known = {kind.__name__ for kind, _ in KNOWN_TO_BOTH}
    assert len(KNOWN_TO_BOTH) > 480
    assert known >= {"RequestHeader", "ResponseHeader", "ConsumerProtocolSubscription"}
    assert known >= {"DefaultPrincipalData", "VotersRecord", "KRaftVersionRecord"}
