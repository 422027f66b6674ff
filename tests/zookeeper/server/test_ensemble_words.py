"""What members tell operators: four-letter words, admin commands, and the story in their logs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.server.admin_commands import COMMANDS
from odradek.zookeeper.server.monitor import ServerMetrics
from tests.zookeeper.server.ensemble import Ensemble, write


@pytest.fixture
def ensemble() -> Iterator[Ensemble]:
    """Three voters and an observer that serve; server 3 leads."""
    with World(seed=7) as world:
        it = Ensemble(world, 3, 1, more="4lw.commands.whitelist=*")
        it.settle()
        yield it


def say(ensemble: Ensemble, id_: int, word: str) -> str:
    async def main(environment: Environment) -> str:
        reader, writer = await asyncio.open_connection(f"zk{id_}", 2181)
        writer.write(word.encode())
        answer = await reader.read()
        writer.close()
        return answer.decode()

    host = ensemble.world.host(f"operator {len(ensemble.world.hosts)}")
    answer = ensemble.world.run_to_end(host.start(main))
    assert isinstance(answer, str)
    return answer


def figures(ensemble: Ensemble, id_: int) -> dict[str, str]:
    lines = say(ensemble, id_, "mntr").splitlines()
    return dict(line.removeprefix("zk_").split("\t") for line in lines)


def test_a_leader_says_who_follows_it(ensemble: Ensemble) -> None:
    ensemble.do(write(3))
    told = figures(ensemble, 3)
    assert told["server_state"] == "leader"
    assert told["peer_state"] == "leading - broadcast"
    assert told["quorum_size"] == "3"
    assert told["learners"] == "3"
    assert told["synced_followers"] == "2"
    assert told["synced_observers"] == "1"
    assert told["synced_non_voting_followers"] == "0"
    assert told["pending_syncs"] == "0"
    assert int(told["proposal_count"]) == int(told["commit_count"]) > 3
    assert told["looking_count"] == "1"
    assert int(told["max_proposal_size"]) >= int(told["min_proposal_size"]) > 0


def test_prometheus_hears_the_same_and_of_a_leader_only_while_it_leads(
    ensemble: Ensemble,
) -> None:
    say(ensemble, 1, "srvr")
    say(ensemble, 3, "srvr")
    of_follower, of_leader = (
        ServerMetrics(ensemble.nodes[id_].operators.overview).text().decode() for id_ in (1, 3)
    )
    assert "\nsynced_followers 2.0\n" in of_leader
    assert "\nquorum_size 3.0\n" in of_follower
    assert "\nsynced_followers " not in of_follower


def test_followers_and_observers_say_what_they_are(ensemble: Ensemble) -> None:
    follower, observer = figures(ensemble, 1), figures(ensemble, 4)
    assert (follower["server_state"], observer["server_state"]) == ("follower", "observer")
    assert follower["peer_state"] == "following - broadcast"
    assert "learners" not in follower


@pytest.mark.parametrize(("id_", "mode"), [(1, "follower"), (3, "leader"), (4, "observer")])
def test_srvr_and_stat_say_the_mode(ensemble: Ensemble, id_: int, mode: str) -> None:
    for word in ("srvr", "stat"):
        answer = say(ensemble, id_, word)
        assert f"Mode: {mode}\n" in answer
        assert ("Proposal sizes" in answer) == (mode == "leader")


def test_conf_names_the_members(ensemble: Ensemble) -> None:
    lines = say(ensemble, 4, "conf").splitlines()
    wanted = ["initLimit=6", "syncLimit=3", "electionPort=3888", "quorumPort=2888", "peerType=1"]
    assert set(wanted) <= set(lines)
    members = lines[lines.index("membership: ") + 1 :]
    assert members[0] == "server.1=zk1:2888:3888:participant"
    assert members[-1] == "version=0"


def test_a_member_without_a_leader_says_that_it_does_not_serve(ensemble: Ensemble) -> None:
    for id_ in (2, 3):
        ensemble.host(id_).kill()
    ensemble.world.run_until(lambda: not ensemble.is_serving(1))
    for word in ("srvr", "stat", "mntr", "cons"):
        assert "not currently serving" in say(ensemble, 1, word)
    assert say(ensemble, 1, "ruok") == "imok"


def test_admin_commands_know_the_leader_and_the_voters(ensemble: Ensemble) -> None:
    say(ensemble, 1, "srvr")
    overview = ensemble.nodes[1].operators.overview
    told = COMMANDS["leader"](overview, {})
    assert told == {"is_leader": False, "leader_id": 3, "leader_ip": "zk3"}
    assert sorted(COMMANDS["voting_view"](overview, {})["current_config"]) == [1, 2, 3]
    assert COMMANDS["zabstate"](overview, {})["zabstate"] == "broadcast"


def test_the_log_tells_the_story_of_an_election_in_a_few_lines(
    ensemble: Ensemble, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    ensemble.host(3).kill()
    ensemble.until_another_leads(3)
    ensemble.world.run_until(lambda: ensemble.is_serving(1))
    told = [
        it.getMessage()
        for it in caplog.records
        if getattr(it, "place", "").startswith("[zookeeper 1]")
    ]
    assert told == [
        "looks for a leader: the connection to leader 3 is gone",
        "elects 2 at 0x0",
        "follows leader 2 by DIFF 0x0",
        "serves, following in epoch 2 under server 2",
    ]
