"""Transactions as the log keeps them and proposals carry them."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.txn import (
    CheckVersionTxn,
    CloseSessionTxn,
    CreateSessionTxn,
    CreateTxn,
    CreateTxnV0,
    DeleteTxn,
    ErrorTxn,
    MultiTxn,
    Txn,
    TxnDigest,
    TxnHeader,
)
from odradek.zookeeper.wire.operations import OPERATIONS
from odradek.zookeeper.wire.transactions import TxnEntry, TypedMultiTxn
from tests.zookeeper.wire.golden import golden_bytes
from tests.zookeeper.wire.values import any_record

DIGEST = TxnDigest(2, 0x28AC0AE885)
LOGGED = [op for op, operation in OPERATIONS.items() if operation.txn and op != Op.MULTI]


def header(op: int) -> TxnHeader:
    return TxnHeader(client_id=7, cxid=1, zxid=0x100000001, time=1794725551131, type=op)


@st.composite
def any_entry(draw: st.DrawFn) -> TxnEntry:
    op = draw(st.sampled_from(LOGGED))
    kind = OPERATIONS[op].txn
    assert kind
    return TxnEntry(header(op), draw(any_record(kind)), draw(st.none() | any_record(TxnDigest)))


@given(any_entry())
def test_any_transaction_survives(entry: TxnEntry) -> None:
    assume(entry.record != CloseSessionTxn(["", ""]))  # No such paths; else a digest of zero.
    assert TxnEntry.decode(entry.encode()) == entry


def test_a_proposal_holds_what_goes_to_the_log() -> None:
    data = golden_bytes("PROPOSAL data")
    entry = TxnEntry.decode(data)
    assert entry.header.zxid == 0x100000001
    assert entry.record == CreateSessionTxn(10_000)
    assert entry.digest and entry.digest.version == 2
    assert entry.encode() == data


def test_a_multi_is_opened() -> None:
    parts = TypedMultiTxn(
        [
            (Op.CREATE, CreateTxn("/a", None, None, ephemeral=False, parent_cversion=1)),
            (Op.CHECK, CheckVersionTxn("/b", 2)),
            (Op.ERROR, ErrorTxn(-2)),
        ]
    )
    entry = TxnEntry(header(Op.MULTI), parts, DIGEST)
    assert TxnEntry.decode(entry.encode()) == entry


@pytest.mark.parametrize("op", [Op.MULTI, Op.CREATE_SESSION, Op.GET_DATA, 99])
def test_a_multi_holds_nothing_but_writes_checks_and_errors(op: int) -> None:
    with pytest.raises(ProtocolError, match=f"type {int(op)} in a multi"):
        TypedMultiTxn.read(MultiTxn([Txn(op, b"\0" * 40)]).encode())


def test_a_create_of_old_is_read_as_one_of_today() -> None:
    old = CreateTxnV0("/a", b"x", [], ephemeral=True)
    entry = TxnEntry.decode(header(Op.CREATE).encode() + old.encode())
    assert entry.record == CreateTxn("/a", b"x", [], ephemeral=True, parent_cversion=-1)
    assert entry.digest is None


@pytest.mark.parametrize("digest", [None, DIGEST])
@pytest.mark.parametrize("record", [None, CloseSessionTxn([]), CloseSessionTxn(["/a", "/b"])])
def test_a_closing_session_may_name_no_paths(
    record: CloseSessionTxn | None, digest: TxnDigest | None
) -> None:
    entry = TxnEntry(header(Op.CLOSE_SESSION), record, digest)
    assert TxnEntry.decode(entry.encode()) == entry


@pytest.mark.parametrize("op", [Op.NOTIFICATION, Op.GET_DATA, Op.PING, 99, -99])
def test_what_is_never_logged_is_refused(op: int) -> None:
    with pytest.raises(ProtocolError, match=f"type {int(op)}"):
        TxnEntry.decode(header(op).encode() + bytes(100))


def test_bytes_after_the_digest_are_refused() -> None:
    entry = TxnEntry(header(Op.DELETE), DeleteTxn("/a"), DIGEST)
    with pytest.raises(ProtocolError, match="1 bytes follow"):
        TxnEntry.decode(entry.encode() + b"\0")
