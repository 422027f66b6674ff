"""The asking side of a fetch session, against the answering side that the broker has."""

from __future__ import annotations

from random import Random

from odradek.kafka.broker.fetch_sessions import Context, FetchSessions
from odradek.kafka.replication.fetch_session import FetchSession, Question, Wanted, topics_of
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

VERSION = 17
ID, OTHER_ID = bytes(range(16)), bytes(range(1, 17))
A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def wanted(offset: int, topic_id: bytes = ID) -> Wanted:
    return Wanted(topic_id, 3, offset, 2, 0, 1000)


class Asked:
    """A broker's sessions, and what is in the one that is used."""

    def __init__(self) -> None:
        self.sessions = FetchSessions(5, Random(1), lambda: 0)

    def ask(self, question: Question) -> FetchResponse:
        message = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            session_id=question.session_id,
            session_epoch=question.session_epoch,
            topics=topics_of(question.asked),
            forgotten_topics_data=question.forgotten,
        )
        context = self.sessions.begin(message, VERSION, is_follower=True)
        if not isinstance(context, Context):
            return context
        self.entries = {} if context.session is None else context.session.entries
        nothing = [
            (
                it,
                PartitionData(
                    partition_index=it.index, error_code=0, high_watermark=0, records=b""
                ),
            )
            for it in context.entries
        ]
        return context.answer(nothing)

    @property
    def offsets(self) -> dict[tuple[bytes, int], int]:
        return {(it.topic_id, it.index): it.fetch_offset for it in self.entries.values()}


def test_all_partitions_are_named_once_and_then_what_has_changed() -> None:
    session, asked = FetchSession(), Asked()
    session.want(A, wanted(0))
    session.want(B, wanted(7))
    first = session.ask(VERSION)
    assert list(first.asked) == [A, B]
    assert session.answered(asked.ask(first))
    session.want(A, wanted(5))
    session.want(B, wanted(7))
    second = session.ask(VERSION)
    assert list(second.asked) == [A]
    assert session.answered(asked.ask(second))
    assert asked.offsets == {(ID, 0): 5, (ID, 1): 7}
    assert not session.ask(VERSION).asked


def test_what_is_dropped_is_forgotten_by_the_other_side() -> None:
    session, asked = FetchSession(), Asked()
    for where in (A, B):
        session.want(where, wanted(0))
    session.answered(asked.ask(session.ask(VERSION)))
    session.drop(A)
    session.answered(asked.ask(session.ask(VERSION)))
    assert asked.offsets == {(ID, 1): 0}
    session.want(A, wanted(3))
    session.answered(asked.ask(session.ask(VERSION)))
    assert asked.offsets == {(ID, 0): 3, (ID, 1): 0}


def test_another_topic_of_the_same_name_takes_the_place_of_the_old_one() -> None:
    session, asked = FetchSession(), Asked()
    session.want(A, wanted(9))
    session.answered(asked.ask(session.ask(VERSION)))
    session.want(A, wanted(0, OTHER_ID))
    session.answered(asked.ask(session.ask(VERSION)))
    assert asked.offsets == {(OTHER_ID, 0): 0}


def test_after_a_lost_answer_everything_is_named_again() -> None:
    session, asked = FetchSession(), Asked()
    session.want(A, wanted(0))
    session.answered(asked.ask(session.ask(VERSION)))
    session.want(A, wanted(1))
    asked.ask(session.ask(VERSION))
    session.lost()
    again = session.ask(VERSION)
    assert list(again.asked) == [A]
    assert session.answered(asked.ask(again))
    assert asked.offsets == {(ID, 0): 1}
    assert len(asked.sessions) == 1


def test_a_broker_that_has_forgotten_the_session_gets_a_new_one() -> None:
    session, asked = FetchSession(), Asked()
    session.want(A, wanted(0))
    session.answered(asked.ask(session.ask(VERSION)))
    restarted = Asked()
    refused = restarted.ask(session.ask(VERSION))
    assert refused.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert not session.answered(refused)
    assert session.answered(restarted.ask(session.ask(VERSION)))
    assert restarted.offsets == {(ID, 0): 0}


def test_where_there_are_no_sessions_everything_is_named_every_time() -> None:
    session = FetchSession()
    session.want(A, wanted(0))
    for _ in range(2):
        question = session.ask(5)
        assert (question.session_epoch, list(question.asked)) == (-1, [A])
        session.answered(FetchResponse(session_id=0, responses=[]))
