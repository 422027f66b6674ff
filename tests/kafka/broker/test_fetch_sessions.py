"""Fetch sessions: what is remembered, what is told, and who must go."""

from __future__ import annotations

import asyncio
from random import Random

from odradek.kafka.broker.fetch_entries import LOOK_MS, Entry
from odradek.kafka.broker.fetch_sessions import IDLE_MS, Context, FetchSessions
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import (
    FetchRequest,
    FetchResponse,
    ForgottenTopic,
    PartitionData,
)
from tests.kafka.broker.asking import (
    FETCH_VERSION,
    NAMES_VERSION,
    fetch_of,
    get,
    put,
    told,
    values_of,
)
from tests.kafka.broker.served import TOPIC_ID, Served, with_broker
from tests.kafka.storage.logs import batch_of, marker_of


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


def sessions(count_max: int = 10) -> tuple[FetchSessions, Clock]:
    clock = Clock()
    return FetchSessions(count_max, Random(1), clock), clock


def begun(
    known: FetchSessions,
    message: FetchRequest,
    version: int = NAMES_VERSION,
    *,
    is_follower: bool = False,
) -> Context:
    context = known.begin(message, version, is_follower=is_follower)
    assert isinstance(context, Context)
    return context


def refused(known: FetchSessions, message: FetchRequest, version: int = NAMES_VERSION) -> int:
    refusal = known.begin(message, version, is_follower=False)
    assert isinstance(refusal, FetchResponse) and refusal.session_id == 0
    return refusal.error_code


def opened(known: FetchSessions, *offsets: int, is_follower: bool = False) -> int:
    message = fetch_of(*offsets, session=(0, 0))
    context = begun(known, message, is_follower=is_follower)
    return context.session.id if context.session else 0


def data_of(
    entry: Entry,
    *,
    records: bytes = b"",
    high_watermark: int = 0,
    start_offset: int = 0,
    error: int = 0,
) -> tuple[Entry, PartitionData]:
    return entry, PartitionData(
        partition_index=entry.index,
        error_code=error,
        high_watermark=high_watermark,
        log_start_offset=start_offset,
        records=records,
    )


def indexes(response: FetchResponse) -> list[int]:
    return [data.partition_index for data in told(response)]


def test_a_session_goes_on_with_what_was_named_before() -> None:
    known, _ = sessions()
    session_id = opened(known, 5, 6)
    context = begun(known, fetch_of(-1, 9, session=(session_id, 1)))
    assert [(each.index, each.fetch_offset) for each in context.entries] == [(0, 5), (1, 9)]
    context = begun(known, fetch_of(-1, -1, 3, session=(session_id, 2)))
    assert [each.index for each in context.entries] == [0, 1, 2]


def forgetting(session_id: int, epoch: int, *partitions: int) -> FetchRequest:
    forgotten = ForgottenTopic(topic="t", topic_id=TOPIC_ID, partitions=list(partitions))
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        session_id=session_id,
        session_epoch=epoch,
        topics=[],
        forgotten_topics_data=[forgotten],
    )


def test_partitions_can_be_forgotten_and_an_empty_session_ends() -> None:
    known, _ = sessions()
    session_id = opened(known, 5, 6)
    assert [each.index for each in begun(known, forgetting(session_id, 1, 0)).entries] == [1]
    assert begun(known, forgetting(session_id, 2, 1)).session is None
    assert len(known) == 0


def test_wrong_ids_epochs_and_kinds_of_names_are_refused() -> None:
    known, _ = sessions()
    session_id = opened(known, 0)
    assert refused(known, fetch_of(0, session=(session_id + 1, 1))) == (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    )
    assert refused(known, fetch_of(0, session=(session_id, 2))) == (
        ErrorCode.INVALID_FETCH_SESSION_EPOCH
    )
    assert refused(known, fetch_of(0, session=(session_id, 1)), FETCH_VERSION) == (
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    )
    begun(known, fetch_of(session=(session_id, 1)))
    assert refused(known, fetch_of(session=(session_id, 1))) == (
        ErrorCode.INVALID_FETCH_SESSION_EPOCH
    )


def test_a_session_is_closed_or_replaced_when_asked_to() -> None:
    known, _ = sessions()
    session_id = opened(known, 0)
    assert begun(known, fetch_of(0, session=(session_id, -1))).session is None
    assert len(known) == 0
    session_id = opened(known, 0)
    replaced = begun(known, fetch_of(0, session=(session_id, 0))).session
    assert replaced is not None and replaced.id != session_id and len(known) == 1


def test_after_the_largest_epoch_comes_one() -> None:
    known, _ = sessions()
    context = begun(known, fetch_of(0, session=(0, 0)))
    assert context.session is not None
    context.session.epoch = 2**31 - 1
    begun(known, fetch_of(session=(context.session.id, 2**31 - 1)))
    assert context.session.epoch == 1


def test_only_news_is_told() -> None:
    known, _ = sessions()
    context = begun(known, fetch_of(0, 0, 0, 0, 0, session=(0, 0)))
    session = context.session
    assert session is not None
    first = context.answer([data_of(each) for each in context.entries])
    assert (first.session_id, indexes(first)) == (session.id, [0, 1, 2, 3, 4])
    context = begun(known, fetch_of(session=(session.id, 1)))
    same, more, moved, started, wrong = context.entries
    answer = context.answer(
        [
            data_of(same),
            data_of(more, records=b"x"),
            data_of(moved, high_watermark=1),
            data_of(started, start_offset=1),
            data_of(wrong, error=6, high_watermark=-1),
        ]
    )
    assert indexes(answer) == [1, 2, 3, 4]
    context = begun(known, fetch_of(session=(session.id, 2)))
    assert [each.index for each in context.entries] == [0, 2, 3, 4, 1], "who was served is last"


def test_what_follows_an_error_is_news() -> None:
    known, _ = sessions()
    context = begun(known, fetch_of(0, session=(0, 0)))
    assert context.session is not None
    for epoch, error, expected in ((1, 0, []), (2, 6, [0]), (3, 0, [0]), (4, 0, [])):
        if epoch == 1:
            context.answer([data_of(context.entries[0])])
        context = begun(known, fetch_of(session=(context.session.id, epoch)))
        assert context.session is not None
        high_watermark = -1 if error else 0
        answer = context.answer(
            [data_of(context.entries[0], error=error, high_watermark=high_watermark)]
        )
        assert indexes(answer) == expected


def test_an_answer_that_comes_too_late_for_its_session_is_refused() -> None:
    known, _ = sessions()
    session_id = opened(known, 0)
    late = begun(known, fetch_of(session=(session_id, 1)))
    begun(known, fetch_of(session=(session_id, 2)))
    assert late.answer([]).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_there_are_so_many_sessions_and_no_more() -> None:
    known, clock = sessions(2)
    first, second = opened(known, 0), opened(known, 0)
    assert first and second
    assert opened(known, 0) == 0, "none is old enough to go"
    clock.now_ms += IDLE_MS + 1
    begun(known, fetch_of(session=(first, 1)))
    assert opened(known, 0) != 0, "one was not used for two minutes"
    assert refused(known, fetch_of(session=(second, 1))) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert known.evicted_count == 1


def test_a_larger_session_takes_the_place_of_a_smaller_one_that_had_its_time() -> None:
    known, clock = sessions(1)
    small = opened(known, 0)
    clock.now_ms += IDLE_MS
    begun(known, fetch_of(session=(small, 1)))
    clock.now_ms += 1
    assert opened(known, 0) == 0, "it is no larger"
    assert opened(known, 0, 0) != 0


def test_followers_go_before_clients() -> None:
    known, _ = sessions(1)
    assert opened(known, 0, 0, 0)
    assert opened(known, 0, is_follower=True)
    assert opened(known, 0, 0, 0) == 0


@with_broker()
async def test_a_session_s_fetch_tells_what_is_new_and_nothing_else(served: Served) -> None:
    served.lead(index=0)
    served.lead(index=1)
    answer = await served.ask(fetch_of(0, 0, session=(0, 0)), FETCH_VERSION, FetchResponse)
    assert indexes(answer) == [0, 1] and answer.session_id
    await put(served, b"x")
    message = fetch_of(session=(answer.session_id, 1))
    second = await served.ask(message, FETCH_VERSION, FetchResponse)
    assert indexes(second) == [0] and second.session_id == answer.session_id
    message = fetch_of(1, session=(answer.session_id, 2))
    assert await get(served, message, FETCH_VERSION) == []


async def open_session(served: Served, *offsets: int) -> int:
    """A session that has heard of everything there is."""
    message = fetch_of(*offsets, session=(0, 0))
    answer = await served.ask(message, FETCH_VERSION, FetchResponse)
    return answer.session_id


def watchers(served: Served) -> int:
    return sum(len(each.watchers) for each in served.broker.partitions.all())


@with_broker()
async def test_a_fetch_looks_only_at_what_may_be_new(served: Served) -> None:
    partitions = [served.lead(index=index) for index in range(5)]
    session_id = await open_session(served, *(0 for _ in partitions))
    known = served.broker.fetch_sessions._sessions[session_id]
    assert not known.stale and watchers(served) == 5
    partitions[3].append(batch_of([b"x"]), 0)
    assert [entry.index for entry in known.stale] == [3]
    (data,) = await get(served, fetch_of(session=(session_id, 1)), FETCH_VERSION)
    assert values_of(data) == [b"x"]
    assert [entry.index for entry in known.stale] == [3], "there may be more"
    message = fetch_of(-1, -1, -1, 1, session=(session_id, 2))
    assert await get(served, message, FETCH_VERSION) == []
    assert not known.stale


@with_broker()
async def test_a_session_that_rests_is_woken_by_any_of_its_partitions(served: Served) -> None:
    partitions = [served.lead(index=index) for index in range(3)]
    session_id = await open_session(served, 0, 0, 0)
    size = len(batch_of([b"x"]))
    message = fetch_of(session=(session_id, 1), wait_ms=60_000, bytes_min=2 * size)
    task = asyncio.create_task(get(served, message, FETCH_VERSION))
    await asyncio.sleep(0)
    partitions[1].append(batch_of([b"x"]), 0)
    await asyncio.sleep(0)
    assert not task.done()
    partitions[2].append(batch_of([b"y"]), 0)
    assert [values_of(each) for each in await task] == [[b"x"], [b"y"]]


@with_broker(**{"transaction.partition.verification.enable": "false"})
async def test_the_end_of_a_transaction_wakes_a_committed_session(served: Served) -> None:
    partition = served.lead()
    data = batch_of([b"open" * 100], producer_id=8, is_transactional=True)
    partition.append(data, 0, Origin.COORDINATOR)
    message = fetch_of(0, session=(0, 0), isolation_level=1)
    session_id = (await served.ask(message, FETCH_VERSION, FetchResponse)).session_id
    message = fetch_of(session=(session_id, 1), isolation_level=1, bytes_min=200, wait_ms=60_000)
    task = asyncio.create_task(get(served, message, FETCH_VERSION))
    await asyncio.sleep(0)
    partition.append(marker_of(8, MarkerType.COMMIT), 0, Origin.COORDINATOR)
    assert [values_of(each)[0] for each in await task] == [b"open" * 100]


@with_broker()
async def test_a_session_hears_that_a_partition_is_gone_and_is_back(served: Served) -> None:
    partition = served.lead()
    session_id = await open_session(served, 0)
    served.broker.partitions.stop(partition.where, delete=True)
    (data,) = await get(served, fetch_of(session=(session_id, 1)), FETCH_VERSION)
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_ID and not partition.watchers
    served.lead(epoch=1).append(batch_of([b"new"]), 0)
    (data,) = await get(served, fetch_of(session=(session_id, 2)), FETCH_VERSION)
    assert values_of(data) == [b"new"]


@with_broker()
async def test_a_session_that_ends_watches_nobody(served: Served) -> None:
    for index in range(2):
        served.lead(index=index)
    session_id = await open_session(served, 0, 0)
    await get(served, forgetting(session_id, 1, 0), FETCH_VERSION)
    assert watchers(served) == 1
    await get(served, fetch_of(session=(session_id, -1)), FETCH_VERSION)
    assert watchers(served) == 0 and len(served.broker.fetch_sessions) == 0


@with_broker()
async def test_a_log_that_starts_later_is_news(served: Served) -> None:
    partition = served.lead()
    partition.append(batch_of([b"x"]), 0)
    session_id = await open_session(served, 1)
    assert await get(served, fetch_of(session=(session_id, 1)), FETCH_VERSION) == []
    partition.log.start_offset = 1
    known = served.broker.fetch_sessions._sessions[session_id]
    known.looked_ms -= LOOK_MS + 1
    (data,) = await get(served, fetch_of(session=(session_id, 2)), FETCH_VERSION)
    assert data.log_start_offset == 1
