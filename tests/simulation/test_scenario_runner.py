"""How stories are read and played."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.simulation.errors import OutOfTime, StoryError
from odradek.simulation.scenario import play
from odradek.simulation.stage import Stage
from odradek.simulation.world import World


class Choir(Stage):
    """A stage that tells what it is told to."""

    def sing(self, *words: str) -> None:
        self._world.narrate(" ".join(words))

    def add(self, one: int, other: int = 1, *, times: float = 1.0) -> None:
        self._world.narrate(f"{(one + other) * times:g}")

    def shout(self, data: bytes) -> None:
        self._world.narrate(repr(data))

    def wait_in_vain(self) -> None:
        self._world.after(100, lambda: None)
        self._world.run_until(lambda: False, limit_s=1)


@pytest.fixture
def stage() -> Iterator[Stage]:
    with World() as world:
        world.host("a")
        yield Choir(world)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "story.txt"


def test_a_story_passes_that_is_told_as_it_says(path: Path, stage: Stage) -> None:
    path.write_text(
        "# A comment; sing this is not sung\n"
        "sing one, two ; sing 'three;four'\n"
        "\n"
        "add 0x10; add 1, 2, times 1.5\n"
        "shout hello; wait 5; settle\n"
        "----\n"
        "one two\nthree;four\n17\n4.5\nb'hello'\n"
    )
    play(path, stage)


def test_a_story_that_goes_otherwise_shows_the_difference(path: Path, stage: Stage) -> None:
    path.write_text("sing one\nsing two\n----\none\nthree\n")
    with pytest.raises(StoryError, match=r"(?s)otherwise.* one\n-three\n\+two"):
        play(path, stage)


def test_a_story_can_be_rewritten(path: Path, stage: Stage) -> None:
    path.write_text("# Why.\nsing one\n\nsing two\n----\nwhatever\n")
    play(path, stage, rewrite=True)
    assert path.read_text() == "# Why.\nsing one\n\nsing two\n----\none\ntwo\n"


def test_the_environment_asks_for_a_rewrite(
    path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWRITE", "1")
    path.write_text("sing one\n----\n")
    play(path, stage)
    assert path.read_text() == "sing one\n----\none\n"


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("dance", r"story.txt:2: there is no verb dance, but add, cut, "),
        ("narration", r"story.txt:2: there is no verb narration"),
        ("_host a", r"story.txt:2: there is no verb _host"),
        ("add", r"story.txt:2: add: missing a required argument: 'one'"),
        ("add 1 2 3", r"story.txt:2: add: too many positional arguments"),
        ("add one", r"story.txt:2: add: invalid literal"),
        ("add 1, times", r"story.txt:2: add: could not convert string to float"),
        ("sing 'la", r"story.txt:2: No closing quotation"),
    ],
)
def test_a_command_that_cannot_be_performed_is_named_with_its_line(
    path: Path, stage: Stage, command: str, complaint: str
) -> None:
    path.write_text(f"sing one\n{command}\n----\n")
    with pytest.raises(StoryError, match=complaint):
        play(path, stage)


def test_a_story_needs_its_line(path: Path, stage: Stage) -> None:
    path.write_text("sing one\n")
    with pytest.raises(StoryError, match="no line with ----"):
        play(path, stage)


def test_an_error_of_the_world_names_the_command(path: Path, stage: Stage) -> None:
    path.write_text("sing one\nwait-in-vain\n----\none\n")
    with pytest.raises(OutOfTime) as caught:
        play(path, stage)
    assert caught.value.__notes__ == [f"{path}:2: wait_in_vain"]


def test_a_slip_of_the_pen_makes_no_host(path: Path, stage: Stage) -> None:
    path.write_text("kill b\n----\n")
    with pytest.raises(StoryError, match="there is no host b, but a"):
        play(path, stage)
