"""What the network does to connections."""

from __future__ import annotations

import asyncio

from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.simulation import echo
from tests.simulation.recorder import Recorder
from tests.simulation.two_hosts import PORT, call, listen, two_hosts


def cut_both_ways(world: World) -> None:
    world.network.cut("near", "far")
    world.network.cut("far", "near")


def test_a_stream_is_cut_and_joined_at_any_byte() -> None:
    sizes: list[int] = []

    class Pieces(Recorder):
        def data_received(self, data: bytes) -> None:
            sizes.append(len(data))

    with two_hosts() as (world, pair):
        pair.far.transport.set_protocol(Pieces())
        for _ in range(2000):
            pair.near.transport.write(bytes(10))
            world.run_for(0.0001)
        world.run_for(1)
    assert sum(sizes) == 20_000
    assert {size % 10 for size in sizes} == set(range(10))
    assert max(sizes) > 10


def test_frames_survive_any_cutting() -> None:
    questions = [bytes([number]) * number for number in range(1, 100)]

    async def serve(environment: Environment) -> None:
        await (await echo.serve("far", PORT)).serve_forever()

    async def ask(environment: Environment) -> list[bytes]:
        return await (await echo.connect("far", PORT)).ask(*questions)

    with World() as world:
        world.network.conditions.split_chance = 0.9
        world.host("far").start(serve)
        world.run_for(1)
        assert world.run_to_end(world.host("near").start(ask)) == questions


def test_a_byte_takes_as_long_as_the_link_is() -> None:
    with two_hosts() as (world, pair):
        link = world.network.link("near", "far")
        link.latency_ns, link.jitter_ns = 5_000_000_000, 0
        pair.near.transport.write(b"x")
        world.run_for(4.99)
        assert pair.far.data == b""
        world.run_for(0.02)
        assert pair.far.data == b"x"


def test_a_narrow_link_lets_only_so_much_through() -> None:
    with two_hosts() as (world, pair):
        world.network.link("near", "far").bytes_per_second = 100_000
        pair.near.transport.write(bytes(1_000_000))
        world.run_for(5)
        assert 200_000 < len(pair.far.data) < 510_000
        world.run_for(6)
        assert len(pair.far.data) == 1_000_000


def test_what_was_sent_into_a_cut_arrives_in_order_when_it_heals() -> None:
    with two_hosts() as (world, pair):
        pair.near.transport.write(b"before ")
        world.run_for(0.00005)
        cut_both_ways(world)
        pair.near.transport.write(b"during ")
        world.run_for(60)
        assert pair.far.data == b""
        world.network.heal_all()
        pair.near.transport.write(b"after")
        world.run_for(5)
        assert pair.far.data == b"before during after"
        assert pair.near.calls == ["made"]


def test_a_cut_that_lasts_too_long_breaks_the_connection_for_the_one_who_writes() -> None:
    with two_hosts() as (world, pair):
        cut_both_ways(world)
        pair.near.transport.write(b"anyone?")
        world.run_for(900)
        assert pair.near.calls == ["made"]
        world.run_for(60)
        assert isinstance(pair.near.error, TimeoutError)
        assert pair.far.calls == ["made"]
        world.network.heal_all()
        world.run_for(60)
        assert pair.far.calls == ["made"]
        pair.far.transport.write(b"still there?")
        world.run_for(1)
        assert isinstance(pair.far.error, ConnectionResetError)


def test_whoever_hears_no_answer_gives_up_though_all_he_sent_was_heard() -> None:
    with two_hosts() as (world, pair):
        world.network.cut("far", "near")
        pair.near.transport.write(b"hello")
        world.run_for(1)
        assert pair.far.data == b"hello"
        world.run_for(1000)
        assert isinstance(pair.near.error, TimeoutError)


def test_an_idle_connection_does_not_notice_a_cut() -> None:
    with two_hosts() as (world, pair):
        cut_both_ways(world)
        world.run_for(10_000)
        world.network.heal_all()
        pair.near.transport.write(b"good morning")
        world.run_for(1)
        assert pair.far.data == b"good morning"


def test_a_killed_process_is_heard_to_end() -> None:
    with two_hosts() as (world, pair):
        pair.far.transport.write(b"last words")
        world.host("far").kill()
        world.run_for(1)
        assert pair.near.data == b"last words"
        assert pair.near.calls == ["made", "data", "eof", "lost"]


def test_a_host_without_power_is_not_heard_of_until_it_is_back_and_written_to() -> None:
    with two_hosts() as (world, pair):
        world.host("far").power_off()
        world.run_for(10)
        pair.near.transport.write(b"are you there?")
        world.run_for(10)
        assert pair.near.calls == ["made"]
        world.host("far").start()
        world.run_for(5)
        assert isinstance(pair.near.error, ConnectionResetError)
        assert pair.far.calls == ["made"]


def test_a_host_that_stays_without_power_is_missed_only_by_those_who_write() -> None:
    with two_hosts() as (world, pair):
        world.host("far").power_off()
        world.run_for(100_000)
        assert pair.near.calls == ["made"]
        pair.near.transport.write(b"are you there?")
        world.run_for(1000)
        assert isinstance(pair.near.error, TimeoutError)


def test_a_connection_can_be_reset_under_both_ends() -> None:
    with two_hosts() as (world, pair):
        world.network.reset("near", "far")
        world.run_for(1)
        assert isinstance(pair.near.error, ConnectionResetError)
        assert isinstance(pair.far.error, ConnectionResetError)


def test_a_paused_process_still_has_a_kernel() -> None:
    late: list[Recorder] = []
    with two_hosts() as (world, pair):
        world.host("far").pause()
        world.host("late").start(call("far", late))
        pair.near.transport.write(bytes(10_000_000))
        world.run_for(60)
        assert late[0].calls == ["made"]
        assert pair.near.calls == ["made", "pause"]
        assert pair.far.calls == ["made"]
        world.host("far").resume()
        world.run_for(60)
        assert pair.near.calls == ["made", "pause", "resume"]
        assert len(pair.far.data) == 10_000_000


async def connect_to_far(environment: Environment) -> str:
    loop = asyncio.get_running_loop()
    started = loop.time()
    try:
        await loop.create_connection(Recorder, "far", PORT)
    except OSError as error:
        return f"{type(error).__name__} after {loop.time() - started:.0f} s"
    return f"connected after {loop.time() - started:.0f} s"


def test_a_host_without_power_answers_no_call() -> None:
    with World() as world:
        world.host("far").power_off()
        caller = world.host("near").start(connect_to_far)
        world.run_until(lambda: caller.is_dead)
    assert caller.result == "TimeoutError after 127 s"


def test_a_call_is_repeated_until_the_host_is_there() -> None:
    with World() as world:
        far = world.host("far")
        far.power_off()
        caller = world.host("near").start(connect_to_far)
        world.run_for(60)
        far.start(listen([]))
        far.pause()
        world.run_until(lambda: caller.is_dead)
    assert caller.result == "ConnectionRefusedError after 60 s"


def test_hosts_have_names_and_addresses_and_their_own_ports() -> None:
    ends: list[Recorder] = []
    far: list[Recorder] = []
    with World() as world:
        for name in ("a", "b"):
            world.host(name).start(listen(far))
        world.run_for(1)
        for target in ("a", "b", "10.0.0.2"):
            world.host(f"caller of {target}").start(call(target, ends))
            world.run_for(1)
    peers = [end.transport.get_extra_info("peername") for end in ends]
    assert peers == [("10.0.0.1", PORT), ("10.0.0.2", PORT), ("10.0.0.2", PORT)]
    assert far[0].transport.get_extra_info("peername")[0] == "10.0.0.3"


def test_nobody_can_listen_under_the_address_of_another() -> None:
    async def usurp(environment: Environment) -> None:
        await asyncio.get_running_loop().create_server(Recorder, "a", PORT)

    with World(is_traced=True) as world:
        world.host("a")
        world.host("b").start(usurp, may_die_of=(OSError,))
        world.run_for(1)
        assert not world.host("b").is_running
    assert "Cannot assign requested address" in world.trace.lines[-1]
