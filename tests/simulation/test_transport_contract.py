"""What asyncio promises of a connection, asked of real sockets and of simulated ones alike."""

from __future__ import annotations

import asyncio
import sys

import pytest

from tests.simulation.loops import on_asyncio, on_every_loop, on_loops, on_simulation, on_uvloop
from tests.simulation.recorder import Recorder, connected

PIECE = bytes(64 * 1024)


@on_every_loop
async def test_a_protocol_hears_of_its_connection_then_data_then_the_end() -> None:
    async with connected() as pair:
        pair.near.transport.write(b"hello")
        pair.near.transport.close()
        await pair.far.until_called("lost")
        assert pair.far.calls == ["made", "data", "eof", "lost"]
        assert pair.far.data == b"hello"
        assert pair.far.error is None
        assert pair.near.calls == ["made", "lost"]
        assert pair.near.error is None


@on_every_loop
async def test_bytes_arrive_in_order_whatever_they_came_in() -> None:
    async with connected() as pair:
        reused = bytearray(b"b")
        pair.near.transport.write(b"a")
        pair.near.transport.write(reused)
        reused[:] = b"x"
        pair.near.transport.write(memoryview(b"_c_")[1:2])
        pair.near.transport.writelines([b"d", bytearray(b"e"), memoryview(b"f")])
        pair.near.transport.write(b"")
        await pair.far.until_data(b"abcdef")


@on_every_loop
async def test_an_end_of_writing_leaves_the_other_way_open() -> None:
    async with connected(far=Recorder(keeps_open=True)) as pair:
        assert pair.near.transport.can_write_eof()
        pair.near.transport.write(b"question")
        pair.near.transport.write_eof()
        await pair.far.until_called("eof")
        pair.far.transport.write(b"answer")
        await pair.near.until_data(b"answer")
        with pytest.raises(RuntimeError):
            pair.near.transport.write(b"more")
    assert pair.far.calls == ["made", "data", "eof", "lost"]


@on_every_loop
async def test_a_writer_is_paused_while_nobody_reads_and_resumed_when_somebody_does() -> None:
    async with connected() as pair:
        pair.far.transport.pause_reading()
        sent = 0
        while "pause" not in pair.near.calls:
            pair.near.transport.write(PIECE)
            sent += len(PIECE)
            await asyncio.sleep(0)
        assert pair.near.transport.get_write_buffer_size() > 64 * 1024
        assert not pair.far.transport.is_reading()
        pair.far.transport.resume_reading()
        await pair.near.until_called("resume")
        await pair.far.until(lambda: len(pair.far.data) == sent)
        assert pair.near.transport.get_write_buffer_size() == 0
        assert pair.near.calls == ["made", "pause", "resume"]


@on_every_loop
async def test_the_limits_of_the_write_buffer_can_be_set() -> None:
    async with connected() as pair:
        transport = pair.near.transport
        # uvloop's low mark is its own.
        assert transport.get_write_buffer_limits()[1] == 64 * 1024
        transport.set_write_buffer_limits(high=1000)
        assert transport.get_write_buffer_limits() == (250, 1000)
        transport.set_write_buffer_limits(low=1000)
        assert transport.get_write_buffer_limits() == (1000, 4000)
        with pytest.raises(ValueError, match="high"):
            transport.set_write_buffer_limits(high=1, low=2)


@on_every_loop
async def test_data_waits_while_reading_is_paused() -> None:
    async with connected() as pair:
        pair.far.transport.pause_reading()
        pair.far.transport.pause_reading()
        pair.near.transport.write(b"early")
        # The other way round a byte makes the trip, so this one would have had the time.
        pair.far.transport.write(b"!")
        await pair.near.until_data(b"!")
        assert pair.far.calls == ["made"]
        pair.far.transport.resume_reading()
        pair.far.transport.resume_reading()
        await pair.far.until_data(b"early")


# uvloop starts to read only after this pause, which is then forgotten. So did asyncio: that of
# Python 3.11.2 forgets it, that of 3.11.7 does not.
@on_loops(*([on_asyncio] if sys.version_info >= (3, 11, 7) else []), on_simulation)
async def test_a_protocol_may_pause_reading_before_anything_came() -> None:
    class Shy(Recorder):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.transport.pause_reading()

    async with connected(far=Shy()) as pair:
        pair.near.transport.write(b"early")
        pair.far.transport.write(b"!")
        await pair.near.until_data(b"!")
        assert pair.far.calls == ["made"]


@on_every_loop
async def test_closing_sends_what_is_left() -> None:
    async with connected() as pair:
        for _ in range(100):
            pair.near.transport.write(PIECE)
        pair.near.transport.close()
        pair.near.transport.close()
        assert pair.near.transport.is_closing()
        assert pair.near.calls[-1] != "lost"
        await pair.far.until_called("lost")
        assert len(pair.far.data) == 100 * len(PIECE)
        assert pair.near.calls.count("lost") == 1
        assert pair.near.error is None


@on_every_loop
async def test_aborting_drops_what_is_left() -> None:
    async with connected() as pair:
        pair.far.transport.pause_reading()
        for _ in range(1000):
            pair.near.transport.write(PIECE)
        pair.near.transport.abort()
        assert pair.near.transport.is_closing()
        await pair.near.until_called("lost")
        assert pair.near.error is None
        pair.far.transport.resume_reading()
        await pair.far.until_called("lost")
        assert len(pair.far.data) < 1000 * len(PIECE)


@on_every_loop
async def test_closing_with_unread_data_resets_the_peer() -> None:
    async with connected() as pair:
        pair.far.transport.pause_reading()
        pair.near.transport.write(b"unread")
        pair.far.transport.write(b"!")
        await pair.near.until_data(b"!")
        pair.far.transport.abort()
        await pair.near.until_called("lost")
        assert isinstance(pair.near.error, ConnectionResetError)


@on_every_loop
async def test_writing_to_a_closed_peer_ends_in_an_error() -> None:
    async with connected(near=Recorder(keeps_open=True)) as pair, connected() as other:
        pair.far.transport.close()
        await pair.near.until_called("eof")
        pair.near.transport.write(b"anyone?")
        # A byte goes to and fro elsewhere, so the answer to that question had the time too.
        other.near.transport.write(b"!")
        await other.far.until_data(b"!")
        other.far.transport.write(b"!")
        await other.near.until_data(b"!")
        pair.near.transport.write(b"anyone at all?")
        await pair.near.until_called("lost")
        assert isinstance(pair.near.error, ConnectionError)


@on_every_loop
async def test_an_error_of_the_protocol_loses_the_connection_and_is_reported() -> None:
    class Faulty(Recorder):
        def data_received(self, data: bytes) -> None:
            raise ArithmeticError("a bug")

    reports: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reports.append(context["exception"]))
    async with connected(far=Faulty()) as pair:
        pair.near.transport.write(b"x")
        await pair.far.until_called("lost")
        assert isinstance(pair.far.error, ArithmeticError)
        assert reports == [pair.far.error]


@on_every_loop
async def test_both_ends_name_each_other() -> None:
    async with connected() as pair:
        near, far = pair.near.transport, pair.far.transport
        assert near.get_extra_info("peername") == far.get_extra_info("sockname")
        assert near.get_extra_info("sockname") == far.get_extra_info("peername")
        assert near.get_extra_info("peername")[0] == "127.0.0.1"
        assert near.get_extra_info("socket").getsockname() == near.get_extra_info("sockname")
        assert near.get_extra_info("sslcontext") is None
        assert near.get_extra_info("nothing", "else") == "else"


@on_every_loop
async def test_a_connection_can_change_its_protocol() -> None:
    async with connected() as pair:
        heir = Recorder()
        heir.calls.append("inherited")
        pair.far.transport.set_protocol(heir)
        assert pair.far.transport.get_protocol() is heir
        pair.near.transport.write(b"x")
        await heir.until_data(b"x")
        pair.near.transport.close()
        await heir.until_called("lost")
        assert pair.far.calls == ["made"]
        pair.far.calls.append("lost")


# asyncio ignores it. We learn of such a write where uvloop would tell us.
@on_loops(on_uvloop, on_simulation)
async def test_nothing_can_be_written_after_the_connection_was_lost() -> None:
    async with connected() as pair:
        pair.near.transport.close()
        pair.near.transport.write(b"into the void")
        await pair.near.until_called("lost")
        with pytest.raises(RuntimeError):
            pair.near.transport.write(b"x")


@on_every_loop
async def test_only_bytes_can_be_written() -> None:
    async with connected() as pair:
        with pytest.raises(TypeError):
            pair.near.transport.write("text")
