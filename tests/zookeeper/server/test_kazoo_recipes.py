"""kazoo's recipes, unchanged, against our server: what people build on ZooKeeper holds here."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from queue import Queue
from threading import Event

from tests.waiting import PATIENCE_S, wait_until
from tests.zookeeper.server.conftest import Connect


def test_a_lock_has_one_holder_at_a_time(connect: Connect) -> None:
    first, second = connect().Lock("/lock", "first"), connect().Lock("/lock", "second")
    assert first.acquire()
    assert not second.acquire(blocking=False)
    assert second.contenders() == ["first"]
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(second.acquire, timeout=PATIENCE_S)
        wait_until(lambda: len(first.contenders()) == 2)
        first.release()
        assert waiting.result(PATIENCE_S)
    second.release()


def test_many_clients_take_turns_at_a_lock(connect: Connect) -> None:
    clients = [connect() for _ in range(4)]
    inside: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            with clients[number].Lock("/turns"):
                inside.append(number)
                assert inside == [number]
                inside.clear()

    in_parallel(work, 4)


def test_readers_share_and_a_writer_does_not(connect: Connect) -> None:
    one, other = connect(), connect()
    reading, also_reading = one.ReadLock("/shared"), other.ReadLock("/shared")
    assert reading.acquire()
    assert also_reading.acquire(blocking=False)
    assert not other.WriteLock("/shared").acquire(blocking=False)


def test_a_semaphore_lets_so_many_in_and_no_more(connect: Connect) -> None:
    semaphores = [connect().Semaphore("/semaphore", max_leases=2) for _ in range(3)]
    assert semaphores[0].acquire()
    assert semaphores[1].acquire()
    assert not semaphores[2].acquire(blocking=False)
    semaphores[0].release()
    assert semaphores[2].acquire(timeout=PATIENCE_S)


def test_when_a_leader_leaves_another_is_elected(connect: Connect) -> None:
    clients = [connect() for _ in range(2)]
    leaders: Queue[int] = Queue()
    may_leave = [Event(), Event()]

    def lead(number: int) -> None:
        leaders.put(number)
        may_leave[number].wait(PATIENCE_S)

    elections = [client.Election("/election", str(i)) for i, client in enumerate(clients)]
    with ThreadPoolExecutor() as pool:
        running = [pool.submit(elections[i].run, lead, i) for i in range(2)]
        first = leaders.get(timeout=PATIENCE_S)
        may_leave[first].set()
        assert leaders.get(timeout=PATIENCE_S) == 1 - first
        may_leave[1 - first].set()
        for each in running:
            each.result(PATIENCE_S)


def test_a_party_knows_who_is_there(connect: Connect) -> None:
    one, other = connect().Party("/party", "one"), connect().Party("/party", "other")
    one.join()
    other.join()
    assert sorted(one) == ["one", "other"]
    other.leave()
    assert list(one) == ["one"]


def test_a_shallow_party_knows_who_is_there(connect: Connect) -> None:
    one = connect().ShallowParty("/shallow", "one")
    other = connect().ShallowParty("/shallow", "other")
    one.join()
    other.join()
    assert sorted(other) == ["one", "other"]
    one.leave()
    assert list(other) == ["other"]


def test_a_barrier_holds_until_it_is_removed(connect: Connect) -> None:
    barrier, waiter = connect().Barrier("/barrier"), connect().Barrier("/barrier")
    barrier.create()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(waiter.wait, PATIENCE_S)
        assert not waiting.done()
        barrier.remove()
        assert waiting.result(PATIENCE_S)


def test_a_double_barrier_is_entered_and_left_together(connect: Connect) -> None:
    barriers = [connect().DoubleBarrier("/double", 3) for _ in range(3)]
    entered: list[int] = []

    def take_part(number: int) -> None:
        barriers[number].enter()
        entered.append(number)
        barriers[number].leave()
        assert len(entered) == 3

    in_parallel(take_part, 3)


def test_a_queue_gives_back_what_was_put_in_order(connect: Connect) -> None:
    queue = connect().Queue("/queue")
    for item in (b"1", b"2", b"3"):
        queue.put(item)
    assert [queue.get() for _ in range(4)] == [b"1", b"2", b"3", None]


def test_a_locking_queue_gives_an_item_to_one_alone(connect: Connect) -> None:
    one, other = connect().LockingQueue("/locking"), connect().LockingQueue("/locking")
    one.put_all([b"1", b"2"])
    assert one.get(PATIENCE_S) == b"1"
    assert other.get(PATIENCE_S) == b"2"
    assert one.consume()
    assert other.consume()
    assert len(one) == 0


def test_a_counter_counts_for_all(connect: Connect) -> None:
    counters = [connect().Counter("/counter") for _ in range(3)]

    def count(number: int) -> None:
        for _ in range(5):
            counters[number] += 1

    in_parallel(count, 3)
    assert counters[0].value == 15


def test_a_lease_is_held_by_one(connect: Connect) -> None:
    long = timedelta(minutes=1)
    assert connect().NonBlockingLease("/lease", long, identifier="one")
    assert not connect().NonBlockingLease("/lease", long, identifier="other")


def in_parallel(work: Callable[[int], None], count: int) -> None:
    """Do the same with each number, all at once; what goes wrong in one goes wrong here.

    Who hangs is left hanging: the client it waits in is closed when the test has failed.
    """
    pool = ThreadPoolExecutor(count)
    try:
        for done in [pool.submit(work, number) for number in range(count)]:
            done.result(PATIENCE_S)
    finally:
        pool.shutdown(wait=False)
