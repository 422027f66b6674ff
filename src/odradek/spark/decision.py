"""What was decided about the micro-batches of a query: which transactions are its output.

A decision is a record in a compacted topic. Drivers that believe to run the same query (one of
them a ghost) may both propose one for the same batch; the log has an order, and the first proposal
for the newest batch is the decision. Each run of a query writes under a key of its own, so that
compaction never takes a first proposal away while its batch is the newest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from odradek.kafka.client.identity import Identity
from odradek.kafka.wire.records import Record
from odradek.runtime.errors import ProtocolError

SEPARATOR = "/"


@dataclass(frozen=True, slots=True)
class Decision:
    """These transactions are the output of this batch."""

    query_id: str
    run_id: str
    batch_id: int
    transactions: tuple[Identity, ...]

    @property
    def key(self) -> bytes:
        return key_of(self.query_id, self.run_id)

    def to_json(self) -> bytes:
        value = {
            "batch_id": self.batch_id,
            "transactions": [asdict(one) for one in self.transactions],
        }
        return json.dumps(value, separators=(",", ":")).encode()


def key_of(query_id: str, run_id: str) -> bytes:
    return f"{query_id}{SEPARATOR}{run_id}".encode()


def read_key(record: Record) -> tuple[str, str]:
    """The query and the run that a record is about."""
    if record.key is None:
        raise ProtocolError(f"offset {record.offset}: a decision without a key")
    query_id, _, run_id = record.key.decode(errors="replace").partition(SEPARATOR)
    return query_id, run_id


def read_decision(record: Record) -> Decision:
    """The decision that a record holds."""
    query_id, run_id = read_key(record)
    try:
        value = json.loads(record.value or b"")
        transactions = tuple(Identity(**one) for one in value["transactions"])
        return Decision(query_id, run_id, int(value["batch_id"]), transactions)
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"offset {record.offset}: no decision: {error}") from error


@dataclass(slots=True)
class Decisions:
    """The state that the records of the topic make."""

    newest: dict[str, Decision] = field(default_factory=dict)  # By query.
    runs: dict[str, dict[str, int]] = field(default_factory=dict)  # The batches of a query's runs.

    def apply(self, record: Record) -> None:
        """Take a record into account; later ones for the same batch change nothing."""
        if record.value is None:
            query_id, run_id = read_key(record)
            self.runs.get(query_id, {}).pop(run_id, None)
            return
        decision = read_decision(record)
        query_id, batch_id = decision.query_id, decision.batch_id
        self.runs.setdefault(query_id, {})[decision.run_id] = batch_id
        known = self.newest.get(query_id)
        if known is None or batch_id > known.batch_id:
            self.newest[query_id] = decision

    def of(self, query_id: str, batch_id: int) -> Decision | None:
        """The decision about a batch, if there is one."""
        known = self.newest.get(query_id)
        return known if known is not None and known.batch_id == batch_id else None

    def is_over(self, query_id: str, batch_id: int) -> bool:
        """Whether a later batch was decided, which is done only when this one is carried out."""
        known = self.newest.get(query_id)
        return known is not None and known.batch_id > batch_id

    def stale_runs(self, proposal: Decision) -> list[str]:
        """Runs whose last word is about an older batch: it need not be kept any longer."""
        runs = self.runs.get(proposal.query_id, {})
        return sorted(
            run_id
            for run_id, batch_id in runs.items()
            if run_id != proposal.run_id and batch_id < proposal.batch_id - 1
        )


def transactional_id(
    prefix: str, query_id: str, batch_id: int, run_id: str, process: str, number: int
) -> str:
    """The id for one attempt of one task: nobody else uses it for the same batch.

    Batches take turns between two sets of ids, so whoever has seen that the next batch is not
    decided yet knows that an open transaction of the set belongs to this batch or an older one.
    """
    return f"{prefix_of(prefix, query_id, batch_id)}{run_id[:8]}-{process}-{number}"


def prefix_of(prefix: str, query_id: str, batch_id: int) -> str:
    """What the ids of a batch, and of each second one before it, have in common."""
    return f"{prefix}-{query_id}-{batch_id % 2}-"


def left_over(open_now: Iterable[Identity], decided: Sequence[Identity]) -> list[Identity]:
    """The open transactions that were not decided for."""
    return [identity for identity in open_now if identity not in decided]
