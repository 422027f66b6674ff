"""When a server has surely heard of us."""

from __future__ import annotations

from odradek.zookeeper.client.proof import Proof


def test_an_answer_proves_that_we_were_heard_when_we_asked() -> None:
    proof = Proof(1.0)
    question = object()
    proof.ask(question, 5.0)
    assert proof.at == 1.0
    proof.answer(question)
    assert proof.at == 5.0


def test_the_answer_to_an_older_question_proves_nothing_about_a_later_one() -> None:
    proof = Proof(1.0)
    first, second = object(), object()
    proof.ask(first, 5.0)
    proof.answer(first)
    proof.ask(second, 7.0)
    proof.answer(first)
    assert proof.at == 5.0


def test_one_question_is_watched_at_a_time() -> None:
    proof = Proof(1.0)
    first, second = object(), object()
    proof.ask(first, 5.0)
    proof.ask(second, 6.0)
    proof.answer(second)
    assert proof.at == 1.0
    proof.answer(first)
    assert proof.at == 5.0
