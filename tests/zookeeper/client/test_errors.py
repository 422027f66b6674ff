"""Every code has an exception with a name."""

from __future__ import annotations

import pytest

from odradek.zookeeper.client.errors import (
    BY_CODE,
    BadVersion,
    MultiFailed,
    NoNode,
    RuntimeInconsistency,
    ZooKeeperError,
    error_of,
)
from odradek.zookeeper.wire.errors import Error


@pytest.mark.parametrize("code", [code for code in Error if code is not Error.OK])
def test_a_code_stands_for_one_class(code: Error) -> None:
    error = error_of(code, "/a")
    assert type(error) is BY_CODE[code] is not ZooKeeperError
    assert (error.code, error.path) == (code, "/a")
    assert str(error) == f"{type(error).__name__}: /a"


def test_a_code_that_nobody_knows_is_told_as_a_number() -> None:
    error = error_of(-999)
    assert type(error) is ZooKeeperError
    assert str(error) == "ZooKeeperError -999"


def test_a_failed_multi_names_the_culprit() -> None:
    failed = MultiFailed([None, BadVersion("/b"), RuntimeInconsistency("/c")])
    assert (failed.code, failed.path) == (Error.BAD_VERSION, "/b")
    assert str(failed) == "part 1: BadVersion: /b"
    assert isinstance(failed.__cause__, BadVersion)
    assert not isinstance(failed, NoNode)
