"""The API reference, made from the code itself when the site is built: a hook of mkdocs.

What is public is what a module defines under a name without an underscore; where a package names
its own (`__all__`), those. Signatures and docstrings are taken as they are, so nothing can be out
of date. A docstring's list of parameters (a name, two spaces or more, a text) becomes a list.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

FOLDER = "api"
PAGES: dict[str, tuple[str, list[str]]] = {
    "testing": ("odradek.testing", ["odradek.testing"]),
    "kafka-client": (
        "odradek.kafka.client",
        [
            f"odradek.kafka.client.{name}"
            for name in (
                "settings", "brokers", "cluster", "offsets", "records_in", "fetcher", "recording",
                "producer_settings", "producer", "identity", "transactions", "topic_admin",
                "config_admin", "group_admin", "group_offsets", "transaction_admin", "errors",
            )
        ],
    ),
    "zookeeper-client": (
        "odradek.zookeeper.client",
        [
            f"odradek.zookeeper.client.{name}"
            for name in ("aio", "multi", "events", "states", "recipes", "errors")
        ],
    ),
    "spark": (
        "odradek.spark",
        [
            f"odradek.spark.{name}"
            for name in ("source", "log_source", "options", "sink_options", "java", "python")
        ],
    ),
    "pipelines": ("odradek.pipelines", ["odradek.pipelines"]),
}  # fmt: skip
PARAMETER = re.compile(r"(?P<names>\w+(?:, \w+)*) {2,}(?P<text>\S.*)")
FUNCTION = re.compile(r"<function (?:[\w.<>]*\.)?<?(\w+)>? at 0x[0-9a-f]+>")
INDENTED = "    "
INHERITED = (Exception, Enum)


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs: put the pages beside those that are written by hand."""
    generated = import_module("mkdocs.structure.files").File.generated  # Only sites need mkdocs.

    for name, text in pages().items():
        files.append(generated(config, f"{FOLDER}/{name}.md", content=text))
    return files


def pages() -> dict[str, str]:
    """All pages of the reference, as Markdown."""
    return {name: page(title, modules) for name, (title, modules) in PAGES.items()}


def page(title: str, modules: list[str]) -> str:
    blocks = [f"# `{title}`"]
    for name in modules:
        module = import_module(name)
        if name != title:
            blocks.append(f"## `{name}`")
        blocks.append(prose(inspect.getdoc(module) or ""))
        mark = "##" if name == title else "###"
        for its_name, thing in public(module):
            blocks += [f"{mark} `{its_name}`", *described(its_name, thing)]
    return "\n\n".join(blocks) + "\n"


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Names and things of a module, in the order in which they stand in it."""
    named = getattr(module, "__all__", None)
    for name in named or vars(module):
        thing = getattr(module, name)
        is_own = getattr(thing, "__module__", None) == module.__name__
        is_thing = inspect.isclass(thing) or inspect.isfunction(thing)
        if is_thing and not name.startswith("_") and (named or is_own):
            yield name, thing


def described(name: str, thing: Any) -> list[str]:
    """A function, or a class with what can be done with it."""
    blocks = [code(declaration(name, thing)), prose(own_doc(thing))]
    if inspect.isclass(thing):
        blocks += [block for member in members(thing) for block in member]
    return [it for it in blocks if it]


def members(kind: type) -> Iterator[list[str]]:
    """What a class of ours, or one of ours that it is made from, lets others do."""
    ours = [it for it in kind.__mro__ if it.__module__.startswith("odradek.")]
    found: dict[str, Any] = {}
    for each in ours:
        found = {**found, **{name: it for name, it in vars(each).items() if name not in found}}
    for name, member in found.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property | cached_property):
            getter = member.fget if isinstance(member, property) else member.func
            yield [code(f"{name}{returned(getter)}  # a property"), prose(own_doc(getter))]
            continue
        function = inspect.unwrap(getattr(member, "__func__", member))
        if inspect.isfunction(function):
            yield [code(declaration(name, function)), prose(own_doc(function))]


def declaration(name: str, thing: Any) -> str:
    """How it is called; what is not called is only named."""
    if inspect.isclass(thing):
        if issubclass(thing, INHERITED):
            return f"class {name}({', '.join(it.__name__ for it in thing.__bases__)})"
        head, signature = "class ", signature_of(thing)
    else:
        head = "async def " if inspect.iscoroutinefunction(thing) else "def "
        signature = signature_of(thing)
    one_line = f"{head}{name}({', '.join(signature)}){returned(thing)}"
    if len(one_line) <= 88:
        return one_line
    return f"{head}{name}(\n" + "".join(f"    {it},\n" for it in signature) + f"){returned(thing)}"


def signature_of(thing: Any) -> list[str]:
    """The parameters as they are written, with the marks between them."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    text = str(signature.replace(return_annotation=inspect.Signature.empty))
    text = FUNCTION.sub(r"\1", text).replace("<factory>", "…")
    shown = split_outside_brackets(text[1:-1].replace("'", '"'))
    plain = [re.sub(r': "([^"]*)"', r": \1", it) for it in shown]
    is_bound = bool(plain) and plain[0] in ("self", "cls")
    return plain[1:] if is_bound else plain


def split_outside_brackets(text: str) -> list[str]:
    """The parts between those commas that are not within something."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [it.strip() for it in parts if it.strip()]


def returned(thing: Any) -> str:
    if inspect.isclass(thing) or "return" not in getattr(thing, "__annotations__", {}):
        return ""
    said = thing.__annotations__["return"]
    return f" -> {said if isinstance(said, str) else getattr(said, '__name__', said)}"


def own_doc(thing: Any) -> str:
    """Its docstring, unless somebody else wrote it."""
    text = thing.__doc__ or ""
    is_made = is_dataclass(thing) and text.startswith(f"{getattr(thing, '__name__', '')}(")
    return "" if is_made else inspect.cleandoc(text)


def code(text: str) -> str:
    return f"```python\n{text}\n```"


def prose(text: str) -> str:
    """A docstring as Markdown."""
    return "\n\n".join(map(paragraph, re.split(r"\n\s*\n", text))) if text else ""


def paragraph(text: str) -> str:
    lines = text.splitlines()
    if text.startswith(INDENTED):
        return text
    if not PARAMETER.fullmatch(lines[0]):
        return escaped(text)
    found: list[str] = []
    for line in lines:
        if match := PARAMETER.fullmatch(line):
            names = ", ".join(f"`{it}`" for it in match["names"].split(", "))
            found.append(f"* {names}: {escaped(match['text'])}")
        else:
            found[-1] += f" {escaped(line.strip())}"
    return "\n".join(found)


def escaped(text: str) -> str:
    """Text that is not code means what it says."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"([*_\[\]])", r"\\\1", parts[index]).replace("<", "&lt;")
    return "`".join(parts)
