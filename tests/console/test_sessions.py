"""What servers say of their clients is put together, whatever they keep to themselves."""

from __future__ import annotations

from odradek.console.sessions import Said, by_heading, read_sessions

CONS = """ /127.0.0.1:46120[1](queued=0,recved=115,sid=0x1a,lop=PING,est=1,to=2000,lcxid=0x1)
 /127.0.0.1:46121[0](queued=0,recved=1,sent=0)

"""
OTHER_CONS = " /10.0.0.2:5[1](queued=0,recved=1,sent=1,sid=0x2b,lop=SESS,to=6000)\n"
WCHC = "0x1a\n\t/brokers/ids\n\t/controller\n\n"
DUMP = """SessionTracker dump:
Session Sets (1)/(1):
1 expire at Thu Jan 01 00:00:09 UTC 1970:
\t0x1a
ephemeral nodes dump:
Sessions with Ephemerals (2):
0x1a:
\t/brokers/ids/1
\t/controller
0x2b:
\t/lock 1
Connections dump:
Connections Sets (1)/(1):
1 expire at Thu Jan 01 00:00:09 UTC 1970:
\tip: /127.0.0.1:46120 sessionId: 0x1a
"""
REFUSED = "{} is not executed because it is not in the whitelist.\n"


def test_a_session_has_its_connection_its_watches_and_its_ephemerals() -> None:
    sessions = read_sessions([Said("z:1", CONS, WCHC, DUMP), Said("z:2", OTHER_CONS, "\n", "")])
    assert list(sessions.by_id) == ["0x1a", "0x2b"]
    one, other = sessions.by_id.values()
    assert (one.peer, one.server, one.timeout, one.last) == (
        "127.0.0.1:46120", "z:1", "2000 ms", "PING",
    )  # fmt: skip
    assert one.watches == ("/brokers/ids", "/controller")
    assert one.ephemerals == ("/brokers/ids/1", "/controller")
    assert (other.server, other.watches, other.ephemerals) == ("z:2", (), ("/lock 1",))
    assert sessions.tells_watches
    assert sessions.watching("/controller") == [one]
    assert sessions.watching("/") == []


def test_words_that_are_not_allowed_tell_nothing() -> None:
    refused = Said("z:1", *(REFUSED.format(it) for it in ("cons", "wchc", "dump")))
    assert not read_sessions([refused]).by_id
    assert not read_sessions([refused]).tells_watches
    partly = read_sessions([Said("z:1", CONS, REFUSED.format("wchc"), "")])
    assert partly.by_id["0x1a"].watches == () and not partly.tells_watches
    assert not read_sessions([Said("z:1")]).tells_watches


def test_lines_under_no_session_belong_to_nobody() -> None:
    lines = ["\t/lost", "0x1:", "\t/a", "words", "\t/lost too", "0x1", "\t/b"]
    assert by_heading(lines) == {"0x1": ["/a", "/b"]}
