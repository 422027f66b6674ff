"""What a follower sends is what it would have written anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.replication.fetch_request import Requests, Terms, request_of
from odradek.kafka.replication.fetch_session import Question, Wanted, forgotten_of
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.connection import ClientConnection, Written
from odradek.kafka.wire.messages.fetch import FetchRequest

A, B = TopicPartition("t", 0), TopicPartition("t", 70_000)
ID = bytes(range(16))
TERMS = Terms(17, 1, 2**40, 500, 1, 10_000_000)

terms = st.builds(
    Terms,
    version=st.sampled_from([4, 7, 11, 12, 13, 15, 17]),
    broker_id=st.just(1),
    broker_epoch=st.sampled_from([-1, 2**40]),
    wait_max_ms=st.sampled_from([500, 20]),
    bytes_min=st.just(1),
    bytes_max=st.just(10_000_000),
)
wanted = st.builds(
    Wanted,
    topic_id=st.sampled_from([ID, bytes(reversed(ID))]),
    leader_epoch=st.integers(0, 2),
    offset=st.integers(0, 2**63 - 1),
    last_fetched_epoch=st.integers(-1, 1),
    start_offset=st.sampled_from([0, 7]),
    bytes_max=st.sampled_from([1000, 2000]),
)
questions = st.builds(
    Question,
    session_id=st.sampled_from([0, 5]),
    session_epoch=st.sampled_from([-1, 0, 1, 2, 2**31 - 1]),
    asked=st.dictionaries(st.sampled_from([A, B]), wanted),
    forgotten=st.sampled_from([[], forgotten_of([(B, ID)])]),
)


def as_of(question: Question, version: int) -> Question:
    """What an older version can say of it."""
    if version < 12:
        asked = {where: it._replace(last_fetched_epoch=-1) for where, it in question.asked.items()}
        question = question._replace(asked=asked)
    return question if version >= 7 else question._replace(session_epoch=-1, forgotten=[])


@given(st.lists(st.tuples(questions, terms)))
def test_every_request_says_what_was_asked(
    line: list[tuple[Question, Terms]],
) -> None:
    requests = Requests()
    for question, its_terms in line:
        question = as_of(question, its_terms.version)
        anew = b"".join(encode(request_of(question, its_terms), its_terms.version))
        request = requests.write(question, its_terms)
        if isinstance(request, Written):
            assert request.body == anew
        else:
            assert b"".join(encode(request, its_terms.version)) == anew


def test_who_keeps_up_writes_two_numbers() -> None:
    requests, sent = Requests(), []
    for epoch, offset in ((1, 10), (2, 11), (3, 2**40)):
        question = Question(5, epoch, {A: Wanted(ID, 3, offset, 2, 0, 1000)}, [])
        sent.append(requests.write(question, TERMS))
    for request, epoch, offset in zip(sent, (1, 2, 3), (10, 11, 2**40), strict=True):
        assert isinstance(request, Written), "though another was written since"
        message = decode(FetchRequest, TERMS.version, request.body)
        assert message.session_epoch == epoch
        assert message.topics[0].partitions[0].fetch_offset == offset


def test_what_was_written_is_sent_like_a_message() -> None:
    question = Question(5, 1, {A: Wanted(ID, 3, 10, 2, 0, 1000)}, [])
    written, plain = ClientConnection("one"), ClientConnection("one")
    written.send(Requests().write(question, TERMS), TERMS.version)
    plain.send(request_of(question, TERMS), TERMS.version)
    assert b"".join(written.take_output()) == b"".join(plain.take_output())
