"""What a disk does when the power goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.disk import Disk
from tests.simulation.storages import LooseStorage, content, make_file

SEEDS = range(200)


def test_what_was_synced_survives() -> None:
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"safe")
        assert content(host.lose_power()) == b"safe"


def test_what_was_not_synced_is_kept_lost_or_torn() -> None:
    after = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"safe")
        host.disk().open("/file").append(b"unsafe")
        after.add(content(host.lose_power()))
    assert {b"safe", b"safeunsafe", b"safeun", b"safe\0\0\0\0\0\0"} <= after
    assert all(each.startswith(b"safe") for each in after)


def test_later_writes_may_survive_earlier_ones() -> None:
    after = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"____")
        file = host.disk().open("/file")
        file.write(0, b"a")
        file.write(3, b"b")
        after.add(content(host.lose_power()))
    assert after == {b"____", b"a___", b"___b", b"a__b"}


def test_a_large_write_survives_by_sectors() -> None:
    after = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"_" * 2000)
        host.disk().open("/file").write(100, b"x" * 1800)
        after.add(content(host.lose_power()))
    lost_in_between = b"_" * 100 + b"x" * 412 + b"_" * 512 + b"x" * 512
    assert any(each.startswith(lost_in_between) for each in after)


def test_the_death_of_a_process_loses_nothing() -> None:
    host = LooseStorage()
    dying = host.disk()
    dying.open("/file", create=True).append(b"unsafe")
    dying.die()
    assert content(host.disk()) == b"unsafe"


def test_a_name_is_lost_unless_its_directory_was_synced() -> None:
    found = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        with host.disk().open("/file", create=True) as file:
            file.append(b"safe")
            file.sync()
        disk = host.lose_power()
        found.add(content(disk) if disk.exists("/file") else None)
    assert found == {b"safe", None}


def test_a_rename_is_whole_or_not_at_all() -> None:
    found = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        disk = host.disk()
        make_file(disk, b"old")
        disk.make_directories("/new")
        with disk.open("/new/file", create=True) as file:
            file.append(b"new")
            file.sync()
        disk.sync_directory("/")
        disk.sync_directory("/new")
        disk.rename("/new/file", "/file")
        disk = host.lose_power()
        found.add((content(disk), tuple(disk.list_directory("/new"))))
    assert found == {(b"old", ("file",)), (b"new", ())}


def test_syncing_a_directory_keeps_what_its_names_build_upon() -> None:
    for seed in SEEDS:
        host = LooseStorage(seed)
        disk = host.disk()
        disk.make_directories("/a")
        disk.make_directories("/b")
        disk.sync_directory("/")
        disk.open("/a/one", create=True).close()
        disk.sync_directory("/a")
        disk.rename("/a/one", "/a/two")
        disk.rename("/a/two", "/b/three")
        disk.sync_directory("/b")
        disk = host.lose_power()
        assert (disk.list_directory("/a"), disk.list_directory("/b")) == ([], ["three"])


def test_a_removed_file_may_be_back() -> None:
    found = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"safe")
        host.disk().remove("/file")
        disk = host.lose_power()
        found.add(content(disk) if disk.exists("/file") else None)
    assert found == {b"safe", None}


def test_what_was_written_long_ago_is_on_the_device() -> None:
    for seed in SEEDS:
        host = LooseStorage(seed)
        host.disk().open("/file", create=True).append(b"old")
        host.wait(40)
        host.disk().open("/file").append(b"new")
        assert content(host.lose_power()).startswith(b"old")


def test_what_survived_one_loss_of_power_survives_the_next() -> None:
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"safe")
        host.disk().open("/file").append(b"unsafe")
        survived = content(host.lose_power())
        host.disk().open("/file").append(b"again")
        assert content(host.lose_power()).startswith(survived)


Step = tuple[str, int, bytes]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "append", "truncate", "sync"]),
        st.integers(0, 1500),
        st.binary(max_size=700),
    ),
    max_size=12,
)


@given(STEPS, STEPS, st.integers(0, 1000))
def test_a_synced_file_survives_whatever_was_done_to_it_before(
    before: list[Step], after: list[Step], seed: int
) -> None:
    host = LooseStorage(seed)
    make_file(host.disk(), b"")
    expected = perform(host.disk(), before)
    host.disk().open("/file").sync()
    assert content(host.disk()) == expected
    touched = perform(host.disk(), [step for step in after if step[0] != "sync"])
    assert content(host.disk()) == touched
    survived = content(host.lose_power())
    # Every byte is one that was there before, was written since, or never was.
    written = [step[2] for step in after]
    assert set(survived) <= {0, *expected, *b"".join(written)}
    shortest = min([len(expected), *(step[1] for step in after if step[0] == "truncate")])
    assert len(survived) >= shortest


def perform(disk: Disk, steps: list[Step]) -> bytes:
    """Do this to the file, and to a model of it; what the model then holds."""
    with disk.open("/file") as file:
        model = bytearray(file.pread(0, file.size()))
        for verb, position, data in steps:
            if verb == "write" and data:
                file.write(position, data)
                model.extend(bytes(max(0, position - len(model))))
                model[position : position + len(data)] = data
            elif verb == "append":
                file.append(data)
                model += data
            elif verb == "truncate":
                file.truncate(position)
                model = model[:position].ljust(position, b"\0")
            elif verb == "sync":
                file.sync()
    return bytes(model)
