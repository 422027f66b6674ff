"""Stories of a cluster, told in text and played in a simulated world.

    # A follower cut off during a commit learns of it when it returns.
    ensemble 3, leader 1
    cut 3; write /a
    heal; settle
    ----
    1 commits 0x100000001 with 1, 2
    3 syncs by DIFF to 0x100000001

Above the line are the commands, one a line or more with `;` between them; below it what the
world is to tell. With REWRITE=1 in the environment the lower part is written anew.
"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, get_type_hints

from odradek.simulation.errors import StoryError
from odradek.simulation.stage import Stage

BORDER = "----"
CONVERSIONS: dict[object, Callable[[str], Any]] = {
    int: lambda word: int(word, 0),
    float: float,
    bytes: str.encode,
}


@dataclass(frozen=True, slots=True)
class Command:
    """A verb and its words, and where they stand."""

    where: str
    verb: str
    words: list[str]


def play(path: Path, stage: Stage, *, rewrite: bool | None = None) -> None:
    """Play a story on a stage. Raises `StoryError` if it cannot be played or is told otherwise."""
    text = path.read_text()
    above, border, below = text.partition(f"\n{BORDER}\n")
    if not border:
        raise StoryError(f"{path}: no line with {BORDER} between what is done and what is told")
    for command in read_commands(path, above):
        perform(command, stage)
    if os.environ.get("REWRITE") if rewrite is None else rewrite:
        path.write_text("\n".join([above, BORDER, *stage.narration, ""]))
    else:
        compare(path, below.splitlines(), stage.narration)


def read_commands(path: Path, text: str) -> Iterator[Command]:
    for number, line in enumerate(text.splitlines(), start=1):
        where = f"{path}:{number}"
        if line.startswith("#"):
            continue
        try:
            commands = split(line)
        except ValueError as error:
            raise StoryError(f"{where}: {error}") from error
        for verb, *words in commands:
            yield Command(where, verb.replace("-", "_"), words)


def split(line: str) -> list[list[str]]:
    """The words of each command. Spaces or commas part words, unless quotes hold them together."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";")
    lexer.whitespace += ","
    lexer.whitespace_split = True
    lexer.commenters = ""
    commands: list[list[str]] = [[]]
    for word in lexer:
        if word == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    return [words for words in commands if words]


def perform(command: Command, stage: Stage) -> None:
    method = find_verb(command, stage)
    try:
        arguments = bind(method, command.words)
    except (TypeError, ValueError) as error:
        raise StoryError(f"{command.where}: {command.verb}: {error}") from error
    try:
        method(*arguments.args, **arguments.kwargs)
    except Exception as error:
        error.add_note(f"{command.where}: {' '.join([command.verb, *command.words])}")
        raise


def find_verb(command: Command, stage: Stage) -> Callable[..., object]:
    verbs = [
        name
        for name, _ in inspect.getmembers(type(stage), inspect.isfunction)
        if not name.startswith("_")
    ]
    if command.verb not in verbs:
        known = ", ".join(verbs)
        raise StoryError(f"{command.where}: there is no verb {command.verb}, but {known}")
    verb: Callable[..., object] = getattr(stage, command.verb)
    return verb


def bind(method: Callable[..., object], words: list[str]) -> inspect.BoundArguments:
    """Make arguments of words, as the method's signature says."""
    signature = inspect.signature(method)
    kinds = get_type_hints(method)
    positional, named = part_named(signature, words)
    arguments = signature.bind(*positional, **named)
    for name, value in arguments.arguments.items():
        convert = CONVERSIONS.get(kinds.get(name), str)
        is_many = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        arguments.arguments[name] = tuple(map(convert, value)) if is_many else convert(value)
    return arguments


def part_named(signature: inspect.Signature, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Part the words that are given by name from the others."""
    positional: list[str] = []
    named: dict[str, str] = {}
    left = iter(words)
    for word in left:
        parameter = signature.parameters.get(word)
        if parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[word] = next(left, "")
        else:
            positional.append(word)
    return positional, named


def compare(path: Path, expected: list[str], told: list[str]) -> None:
    if expected != told:
        difference = unified_diff(expected, told, f"{path} says", "the world told", lineterm="")
        raise StoryError("\n".join(["the story went otherwise", *difference]))
