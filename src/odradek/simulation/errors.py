"""What can go wrong with a simulated world, told apart from what goes wrong inside it."""

from __future__ import annotations

from odradek.runtime.errors import OdradekError


class SimulationError(OdradekError):
    """The world could not go on as it was asked to."""


class Deadlock(SimulationError):
    """Nothing will ever happen again, and what we wait for has not happened."""


class OutOfTime(SimulationError):
    """What we wait for has not happened within its virtual time."""


class Spinning(SimulationError):
    """Nodes keep each other busy without time passing."""


class NodeFailed(SimulationError):
    """A node's code raised what nobody caught; the cause tells what."""


class StoryError(SimulationError):
    """A story cannot be played, or was told otherwise than it says."""


class Killed(BaseException):
    """Raised into code of a process that no longer exists, so that it can do no harm.

    Not an `Exception`: code that carries on after errors must not carry on after its death.
    """
