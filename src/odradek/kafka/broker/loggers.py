"""The loggers of this process, by the names of log4j's levels.

They can be turned up and down while the broker runs. `root` is the one above all others; a logger
without a level of its own has that of the one above it.
"""

from __future__ import annotations

import logging

from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.settings.alterations import Operation
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.incremental_alter_configs import AlterableConfig

ROOT = "root"
LEVELS = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def levels() -> dict[str, str]:
    """All loggers with the levels that count for them."""
    names = [ROOT, *sorted(logging.root.manager.loggerDict)]
    return {name: level_name(logger(name).getEffectiveLevel()) for name in names}


def level_name(level: int) -> str:
    """The most talkative of log4j's levels that says no more than this one."""
    return next((name for name, number in LEVELS.items() if number >= level), "FATAL")


def logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def refuse_level(change: AlterableConfig) -> Refusal | None:
    """Why a logger cannot be changed so."""
    if change.config_operation not in (Operation.SET, Operation.DELETE):
        reason = f"Operation {change.config_operation} is not allowed for a logger"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    if change.name not in levels():
        return Refusal(ErrorCode.INVALID_CONFIG, f"Logger {change.name} does not exist!")
    if change.config_operation == Operation.SET and change.value not in LEVELS:
        valid = ", ".join(sorted(LEVELS))
        reason = f"{change.value} is not a level for {change.name}. Valid log levels are {valid}"
        return Refusal(ErrorCode.INVALID_CONFIG, reason)
    if change.config_operation == Operation.DELETE and change.name == ROOT:
        reason = f"Removing the log level of the {ROOT} logger is not allowed"
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    return None


def set_level(change: AlterableConfig) -> None:
    """Change a logger that may be changed so."""
    is_set = change.config_operation == Operation.SET
    logger(change.name).setLevel(LEVELS[change.value or ""] if is_set else logging.NOTSET)
